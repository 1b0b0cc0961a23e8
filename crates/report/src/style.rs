//! One look for each method in every figure.

use prdo_algorithm::Method;

/// The style number of a method: the same colour, dash and marker everywhere.
pub fn method_style(method: Method) -> usize {
    method.place()
}

/// What to say of a run that measured loss and gradient norm on a part of the records; `None` when it was all.
pub fn measured_note(part: u64, all: u64) -> Option<String> {
    (part < all).then(|| {
        format!(
            "loss and gradient norm: of the first records of each node only, {part} of {all} (an estimate; \
             metrics.records)"
        )
    })
}

/// A number for people: a few digits, powers of ten where they help.
pub(crate) fn figure(x: f64) -> String {
    match x.abs() {
        0.0 => "0".into(),
        a if !a.is_finite() => "∞".into(),
        a if (1e-3..1e5).contains(&a) => {
            let digits = (3 - a.log10().floor() as i32).clamp(0, 6) as usize;
            format!("{x:.digits$}")
        }
        _ => format!("{x:.2e}"),
    }
}

pub(crate) fn bytes(count: u64) -> String {
    let units = ["B", "kB", "MB", "GB", "TB"];
    let mut value = count as f64;
    let mut unit = 0;
    while value >= 1000.0 && unit + 1 < units.len() {
        value /= 1000.0;
        unit += 1;
    }
    if unit == 0 { format!("{count} B") } else { format!("{value:.1} {}", units[unit]) }
}

pub(crate) fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}
