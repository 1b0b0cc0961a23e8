//! The page itself: one HTML file whose script and style are in it.

const HTML: &str = include_str!("../../assets/dashboard.html");
const STYLE: &str = include_str!("../../assets/dashboard.css");
const SCRIPT: &str = include_str!("../../assets/dashboard.js");
const NETWORK: &str = include_str!("../../assets/dashboard-network.js");
const CHART: &str = include_str!("../../assets/chart.js");
const CHART_STYLE: &str = include_str!("../../assets/chart.css");

/// What a report may do: run its own script in an origin of its own, and nothing from outside.
pub const REPORT_POLICY: &str = "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:";

/// The page; its script runs because it has the nonce.
pub fn html(nonce: &str) -> String {
    HTML.replace("/*style*/", &format!("{STYLE}\n{CHART_STYLE}"))
        .replace("{nonce}", nonce)
        .replace("/*script*/", &format!("{CHART}\n{NETWORK}\n{SCRIPT}"))
        .replace("/*metrics*/ { axes: [], panels: [] }", &crate::chart::of_metrics().to_string())
}

/// What the page may do: run that script, and ask the server it came from.
pub fn policy(nonce: &str) -> String {
    format!(
        "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'unsafe-inline'; connect-src 'self'; img-src data:; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_page_has_every_metric() {
        let html = super::html("nonce");
        assert!(!html.contains("/*metrics*/"));
        for column in prdo_store::COLUMNS {
            assert!(html.contains(&format!("\"key\":\"{}\"", column.name)), "{}", column.name);
        }
    }
}
