//! What tables and pages of all grids have in common.

use super::{Grid, Results as _};
use prdo::algorithm::Method;
use prdo::report::{Page, Spread};

/// What every page of seeded private runs has to say.
pub const SIMULATED: &str = "Seeded simulations: not private against anyone who knows the seed. ε is what the same runs \
    with secret draws would promise for every record (add/remove, complete transcript).";

pub fn paper_name(method: Method) -> String {
    match method == Method::Prdo {
        true => "PRDO".to_string(),
        false => format!("DP-{}", method.card().name.to_uppercase()),
    }
}

/// A whole number with a comma between thousands.
pub fn thousands(number: u32) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (k, digit) in digits.chars().enumerate() {
        if k > 0 && (digits.len() - k).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Each value once, the least first.
pub fn ascending(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values.dedup();
    values
}

/// Who has the highest accuracy of these, given in percent and the highest first, and whether that may be chance.
pub fn leader(ranked: &[(Method, Spread)]) -> Option<String> {
    let [(first, top), (second, next), ..] = ranked else { return None };
    let noise = ((top.deviation.powi(2) + next.deviation.powi(2)) / top.count as f64).sqrt();
    let doubt = match top.count {
        1 => "one seed: this may be chance".to_string(),
        n if top.mean - next.mean < 2.0 * noise => format!("within the spread over {n} seeds"),
        n => format!("{n} seeds"),
    };
    Some(format!(
        "{} has the highest accuracy, {:.2} %, before {} with {:.2} % ({doubt}).",
        paper_name(*first),
        top.mean,
        paper_name(*second),
        next.mean
    ))
}

pub fn markdown<S: AsRef<str>>(head: &[S], rows: &[Vec<String>]) -> String {
    let head: Vec<&str> = head.iter().map(S::as_ref).collect();
    let rule = vec!["---"; head.len()];
    let mut text = format!("| {} |\n| {} |\n", head.join(" | "), rule.join(" | "));
    rows.iter().for_each(|row| text += &format!("| {} |\n", row.join(" | ")));
    text
}

/// The end of a page: how to resume.
pub fn add_resume<G: Grid>(page: &mut Page, grid: &G) {
    let cell = G::Results::CELL;
    page.heading("Resume");
    page.paragraph(&format!(
        "Rerun the command to resume from the last checkpoint; finished {cell}s are kept. Each {cell} has a folder of its \
         own, with its run file:"
    ));
    page.code(&grid.command());
    page.code(&format!("prdo run {cell}s/NAME/run.toml --out again"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_set_apart() {
        let shown = [0, 999, 1000, 9500, 1_234_567].map(thousands);
        assert_eq!(shown, ["0", "999", "1,000", "9,500", "1,234,567"]);
    }
}
