//! The frame of a report: one HTML file that needs nothing else, and that a browser lets reach nothing else.

use prdo_plot::{Figure, Theme};
use serde_json::Value as Json;
use std::fmt::Write;

/// The interactive charts, shared with the live dashboard.
const CHART_SCRIPT: &str = include_str!("../assets/chart.js");
const CHART_STYLE: &str = include_str!("../assets/chart.css");

/// Puts the charts into the page. If anything goes wrong the drawn figure beneath stays.
const START: &str = r#"
document.querySelectorAll("figure.chart-figure").forEach((figure) => {
  const live = figure.querySelector(".chart-live");
  try {
    const spec = JSON.parse(figure.querySelector("script").textContent);
    figure.classList.add("is-live");
    prdoChart(live, spec);
  } catch (error) {
    figure.classList.remove("is-live");
    live.replaceChildren();
  }
});
// What is folded is printed too.
window.addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((d) => { d.open = true; }));
"#;

/// SHA-256 of both in base 64, by which the page's policy knows them. A test says what it has to be.
const SCRIPT_DIGEST: &str = "FyUeqNGYm516cZZRsC2ZRCM+oSjCSBqsppVhmPQ53lg=";

pub struct Page {
    title: String,
    body: String,
    charts: bool,
}

const STYLE: &str = "
:root { color-scheme: light dark; --ground: #ffffff; --text: #1d232b; --soft: #5b6673; --line: #d9dee5; --card: #f5f7fa; --mark: #0b6e4f; --warn: #9a4a00; }
@media (prefers-color-scheme: dark) { :root { --ground: #14181d; --text: #e6eaef; --soft: #9aa7b5; --line: #2e3742; --card: #1c222a; --mark: #58c99b; --warn: #f0a35e; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text); font: 16px/1.55 system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif; }
main { max-width: 72rem; overflow-wrap: anywhere; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .4rem; }
h2 { font-size: 1.15rem; margin: 2.2rem 0 .6rem; border-bottom: 1px solid var(--line); padding-bottom: .25rem; }
p.lead { font-size: 1.1rem; margin: .2rem 0 1rem; }
.soft { color: var(--soft); }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(10rem, 1fr)); gap: .7rem; margin: 1rem 0; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .7rem .9rem; }
.card b { display: block; font-size: 1.35rem; line-height: 1.3; }
.card span { color: var(--soft); font-size: .88rem; }
.card[title] { cursor: help; } .card[title] span { text-decoration: underline dotted 1px; text-underline-offset: .25em; }
.note { border-left: 4px solid var(--mark); background: var(--card); padding: .6rem .9rem; margin: .8rem 0; border-radius: 0 .4rem .4rem 0; }
.warn { border-left-color: var(--warn); }
figure { margin: 1rem 0; overflow-x: auto; }
figure.chart-figure { overflow: visible; }
.chart-live { display: none; }
.is-live > .chart-live { display: block; }
.is-live > .chart-drawn { display: none; }
figure > svg, .chart-drawn > svg { max-width: 100%; height: auto; display: block; margin: 0 auto; }
.plot-back { fill: var(--ground); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; min-width: 50%; }
table { font-size: .86rem; overflow-wrap: normal; }
th, td { text-align: right; padding: .3rem .45rem; border-bottom: 1px solid var(--line); white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
th { color: var(--soft); font-weight: 600; font-size: .88rem; white-space: normal; vertical-align: bottom; }
tr.best td { font-weight: 650; color: var(--mark); }
pre { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .8rem; overflow-x: auto; font-size: .86rem; line-height: 1.45; }
details { margin: .6rem 0; } summary { cursor: pointer; color: var(--soft); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; margin: .6rem 0; }
dt { color: var(--soft); } dd { margin: 0; }
ul.gaps { margin: .3rem 0 0; padding-left: 1.2rem; }
a { color: var(--mark); }
@media (max-width: 30rem) { main { padding: 1rem .8rem 3rem; } h1 { font-size: 1.3rem; } .cards { grid-template-columns: 1fr 1fr; } .card { padding: .5rem .7rem; } .card b { font-size: 1.15rem; } dl { grid-template-columns: 1fr; } dd { margin-bottom: .4rem; } }
@media print {
  :root { --ground: #ffffff; --text: #000000; --soft: #444444; --line: #bbbbbb; --card: #ffffff; --mark: #0b6e4f; --warn: #9a4a00; }
  body { font-size: 11pt; } main { max-width: none; padding: 0; }
  figure, .card, .note, tr, svg { break-inside: avoid; } h2 { break-after: avoid; }
  .is-live > .chart-live { display: none; } .is-live > .chart-drawn { display: block; }
  details::details-content { content-visibility: visible; display: block; }
  pre { white-space: pre-wrap; } .scroll, figure { overflow: visible; }
}
";

impl Page {
    pub fn new(title: &str, lead: &str) -> Self {
        let mut page = Self { title: title.to_string(), body: String::new(), charts: false };
        page.add(&format!(
            "<h1>{}</h1>\n<p class=\"lead\">{}</p>\n",
            escape(title),
            escape(lead).replace('\n', "<br>")
        ));
        page
    }

    /// HTML that is known to be well formed.
    pub fn add(&mut self, html: &str) {
        self.body.push_str(html);
    }

    pub fn heading(&mut self, text: &str) {
        let _ = writeln!(self.body, "<h2>{}</h2>", escape(text));
    }

    pub fn paragraph(&mut self, text: &str) {
        let _ = writeln!(self.body, "<p>{}</p>", escape(text));
    }

    /// A note; `warning` gives it the colour of warnings.
    pub fn note(&mut self, text: &str, warning: bool) {
        let class = if warning { "note warn" } else { "note" };
        let _ = writeln!(self.body, "<div class=\"{class}\">{}</div>", escape(text));
    }

    /// Figures at a glance: value and caption.
    pub fn cards(&mut self, cards: &[(String, &str)]) {
        let bare: Vec<_> = cards.iter().map(|(value, caption)| (value.clone(), *caption, None)).collect();
        self.explained_cards(&bare);
    }

    /// The same, with what a figure means for whoever points at it.
    pub fn explained_cards(&mut self, cards: &[(String, &str, Option<&str>)]) {
        self.body.push_str("<div class=\"cards\">");
        for (value, caption, meaning) in cards {
            let (value, caption) = (escape(value), escape(caption));
            let title = meaning.map_or(String::new(), |meaning| format!(" title=\"{}\"", escape(meaning)));
            let _ =
                write!(self.body, "<div class=\"card\"{title}><b>{value}</b><span>{caption}</span></div>");
        }
        self.body.push_str("</div>\n");
    }

    /// A figure, drawn to follow the page's light or dark ground.
    pub fn figure(&mut self, figure: Figure) {
        let svg = drawn(figure);
        let _ = writeln!(self.body, "<figure>{svg}</figure>");
    }

    /// Charts to explore (`assets/chart.js` says what a specification is), and the same figure as it is drawn for
    /// paper and for browsers that run no scripts.
    pub fn charts(&mut self, specification: &Json, figure: Figure) {
        self.charts = true;
        let _ = writeln!(
            self.body,
            "<figure class=\"chart-figure\"><script type=\"application/json\">{}</script>\n\
             <div class=\"chart-live\"></div>\n<div class=\"chart-drawn\">{}</div></figure>",
            embedded(specification),
            drawn(figure)
        );
    }

    /// A part that is folded until it is asked for.
    pub fn folded(&mut self, summary: &str, write: impl FnOnce(&mut Self)) {
        let _ = writeln!(self.body, "<details><summary>{}</summary>", escape(summary));
        write(self);
        self.body.push_str("</details>\n");
    }

    pub fn terms(&mut self, terms: &[(&str, String)]) {
        self.body.push_str("<dl>");
        for (name, value) in terms {
            let _ = write!(self.body, "<dt>{}</dt><dd>{}</dd>", escape(name), escape(value));
        }
        self.body.push_str("</dl>\n");
    }

    /// Text as it stands, such as a run file or a command.
    pub fn code(&mut self, text: &str) {
        let _ = writeln!(self.body, "<pre>{}</pre>", escape(text.trim_end()));
    }

    /// The whole file. Its policy allows no address outside, and no script but the one written here.
    pub fn finish(self) -> String {
        let (style, allowed, script) = match self.charts {
            true => {
                let script = format!("<script>{CHART_SCRIPT}{START}</script>\n");
                (CHART_STYLE, format!("'sha256-{SCRIPT_DIGEST}'"), script)
            }
            false => ("", "'none'".to_string(), String::new()),
        };
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
             script-src {allowed}; base-uri 'none'; form-action 'none'\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>{}</title>\n<style>{STYLE}{style}</style>\n</head>\n<body>\n<main>\n{}\n\
             <p class=\"soft\">Made by prdo {}.</p>\n</main>\n{script}</body>\n</html>\n",
            escape(&self.title),
            self.body,
            env!("CARGO_PKG_VERSION")
        )
    }
}

fn drawn(figure: Figure) -> String {
    let svg = figure.theme(Theme::Page).to_svg();
    svg.find("<svg").map_or(svg.clone(), |start| svg[start..].to_string())
}

/// JSON that cannot end the element it stands in.
fn embedded(json: &Json) -> String {
    json.to_string().replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A table; the rows numbered in `best` are marked.
pub fn table(head: &[&str], rows: &[Vec<String>], best: &[usize]) -> String {
    let cells = |tag: &str, row: &mut dyn Iterator<Item = String>| {
        row.map(|cell| format!("<{tag}>{}</{tag}>", escape(&cell))).collect::<String>()
    };
    let mut html = format!(
        "<div class=\"scroll\"><table>\n<tr>{}</tr>\n",
        cells("th", &mut head.iter().map(|h| h.to_string()))
    );
    for (number, row) in rows.iter().enumerate() {
        let class = if best.contains(&number) { " class=\"best\"" } else { "" };
        let _ = writeln!(html, "<tr{class}>{}</tr>", cells("td", &mut row.iter().cloned()));
    }
    html + "</table></div>\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use data_encoding::BASE64;
    use serde_json::json;
    use sha2::{Digest, Sha256};

    /// SHA-256 in base 64, as a content security policy names a script.
    fn digest(text: &str) -> String {
        BASE64.encode(&Sha256::digest(text))
    }

    #[test]
    fn embedded_data_cannot_leave_its_element() {
        let text = embedded(&json!({ "name": "</script><script>alert(1)</script>&<!--" }));
        assert!(!text.contains('<') && !text.contains('>') && !text.contains('&'));
        let back: Json = serde_json::from_str(&text).unwrap();
        assert_eq!(back["name"], "</script><script>alert(1)</script>&<!--");
    }

    #[test]
    fn the_policy_knows_the_script() {
        assert_eq!(SCRIPT_DIGEST, digest(&format!("{CHART_SCRIPT}{START}")));
    }

    #[test]
    fn digests_are_those_of_openssl() {
        // printf abc | openssl dgst -sha256 -binary | base64
        assert_eq!(digest("abc"), "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
        assert_eq!(digest(""), "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
    }

    #[test]
    fn only_pages_with_charts_allow_a_script() {
        let plain = Page::new("<a>", "b").finish();
        assert!(plain.contains("script-src 'none'") && !plain.contains("<script"));
        let mut page = Page::new("a", "b");
        page.charts(&json!({}), Figure::new(""));
        let html = page.finish();
        assert!(html.contains("script-src 'sha256-") && html.contains("function prdoChart"));
    }
}
