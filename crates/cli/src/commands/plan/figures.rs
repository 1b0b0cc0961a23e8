//! Figures, bars and sentences for people.

use crate::progress::say;

const BAR: usize = 40;

const LINE: usize = 98;

pub fn section(title: &str) {
    say("");
    say(title);
}

/// A sentence in lines, indented.
pub fn sentence(text: &str) {
    folded(text, "  ", "  ");
}

pub fn item(text: &str) {
    folded(text, "  - ", "    ");
}

pub fn folded(text: &str, first: &str, then: &str) {
    let mut line = first.to_string();
    let mut empty = true;
    for word in text.split_whitespace() {
        if !empty && line.chars().count() + 1 + word.chars().count() > LINE {
            say(&line);
            (line, empty) = (then.to_string(), true);
        }
        if !empty {
            line.push(' ');
        }
        line += word;
        empty = false;
    }
    say(&line);
}

pub fn figure(x: f64) -> String {
    digits(x, 4)
}

/// So many digits, without zeros at the end.
pub fn digits(x: f64, count: usize) -> String {
    match x.abs() {
        _ if x == 0.0 => "0".into(),
        _ if x.is_infinite() => "∞".into(),
        size if (1e-3..1e6).contains(&size) => {
            let decimals = (count as i32 - 1 - size.log10().floor() as i32).max(0) as usize;
            let text = format!("{x:.decimals$}");
            if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
        }
        _ => format!("{x:.*e}", count - 1),
    }
}

pub fn bytes(count: u128) -> String {
    let units = ["bytes", "kB", "MB", "GB", "TB", "PB"];
    let mut size = count as f64;
    let mut unit = 0;
    while size >= 1000.0 && unit + 1 < units.len() {
        size /= 1000.0;
        unit += 1;
    }
    format!("{} {}", figure(size), units[unit])
}

/// A share of a limit: in per cent, or how many times.
pub fn share(used: f64) -> String {
    if used < 10.0 { format!("{:.1} %", 100.0 * used) } else { format!("{} times", figure(used)) }
}

/// A bar in eighths.
pub fn bar(part: f64, most: f64) -> String {
    let share = if part.is_infinite() { 1.0 } else { part / most };
    if share.is_nan() || share <= 0.0 {
        return String::new();
    }
    let eighths = ((share * 8.0 * BAR as f64).round() as usize).max(1);
    let rest = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8];
    format!("{}{rest}", "█".repeat(eighths / 8))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_four_digits() {
        let cases = [
            (0.0, "0"),
            (1.0, "1"),
            (0.990_392_64, "0.9904"),
            (161.0, "161"),
            (12345.6, "12346"),
            (1.5e-7, "1.500e-7"),
            (0.001, "0.001"),
            (9_999_999.0, "1.000e7"),
            (f64::INFINITY, "∞"),
            (-0.25, "-0.25"),
        ];
        for (x, text) in cases {
            assert_eq!(figure(x), text);
        }
        assert_eq!((bytes(999), bytes(160_000)), ("999 bytes".into(), "160 kB".into()));
    }

    #[test]
    fn bars_are_never_longer_than_the_longest() {
        assert_eq!(bar(2.0, 2.0).chars().count(), BAR);
        assert_eq!(bar(1.0, 2.0).chars().count(), BAR / 2);
        assert_eq!((bar(0.0, 2.0), bar(1e-9, 2.0)), (String::new(), "▏".into()));
        assert_eq!(bar(f64::INFINITY, f64::INFINITY).chars().count(), BAR);
    }
}
