//! Text that fits: escaping for XML, wrapping, shortening, and numbers as people write them.

use super::font::{Weight, width};

/// A short text with an optional raised end, as in 10⁻³.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Label {
    pub(super) base: String,
    /// What is raised after it; may be empty.
    pub(super) power: String,
}

/// The size of raised text, as a share of the text it follows.
pub(super) const POWER_SIZE: f64 = 0.72;

impl Label {
    pub(super) fn plain(text: impl Into<String>) -> Self {
        Self { base: text.into(), power: String::new() }
    }

    /// Ten to the power `exponent`, after a factor unless that is empty.
    pub(super) fn power_of_ten(factor: &str, exponent: i32) -> Self {
        let base = if factor.is_empty() { "10".to_owned() } else { format!("{factor}·10") };
        Self { base, power: exponent.to_string().replace('-', "−") }
    }

    pub(super) fn width(&self, size: f64) -> f64 {
        width(&self.base, size, Weight::Regular) + width(&self.power, size * POWER_SIZE, Weight::Regular)
    }
}

/// The text with XML's special characters escaped and what XML forbids left out; line ends become spaces.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\r' | '\t' => out.push(' '),
            '\u{fffe}' | '\u{ffff}' => {}
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}

/// The text, cut with an ellipsis if it is wider than `room`.
pub(super) fn shorten(text: &str, size: f64, weight: Weight, room: f64) -> String {
    if width(text, size, weight) <= room {
        return text.to_owned();
    }
    let room = room - width("…", size, weight);
    let mut kept = String::new();
    let mut used = 0.0;
    for c in text.chars() {
        used += width(c.encode_utf8(&mut [0; 4]), size, weight);
        if used > room {
            break;
        }
        kept.push(c);
    }
    kept.truncate(kept.trim_end().len());
    kept + "…"
}

/// The text broken at spaces into at most `lines` lines no wider than `room`, the last one cut if need be.
pub(super) fn wrap(text: &str, size: f64, weight: Weight, room: f64, lines: usize) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        if let Some(line) = out.last_mut() {
            let joined = format!("{line} {word}");
            if out.len() >= lines || width(&joined, size, weight) <= room {
                if let Some(last) = out.last_mut() {
                    *last = joined;
                }
                continue;
            }
        }
        out.push(word.to_owned());
    }
    out.iter().map(|line| shorten(line, size, weight, room)).collect()
}

/// A number with `decimals` digits after the point, a real minus sign and thin spaces between thousands.
pub(super) fn decimal(value: f64, decimals: usize) -> String {
    let digits = format!("{:.*}", decimals, value.abs());
    let (whole, rest) = digits.split_once('.').map_or((digits.as_str(), ""), |(w, r)| (w, r));
    let mut out = String::new();
    if value < 0.0 && digits.chars().any(|c| ('1'..='9').contains(&c)) {
        out.push('−');
    }
    for (k, c) in whole.chars().enumerate() {
        if k > 0 && whole.len() > 4 && (whole.len() - k) % 3 == 0 {
            out.push('\u{2009}');
        }
        out.push(c);
    }
    if !rest.is_empty() {
        out.push('.');
        out.push_str(rest);
    }
    out
}

/// A value in about three digits, as a caption or a bar shows it.
pub(super) fn value(value: f64) -> Label {
    if !value.is_finite() {
        return Label::plain(if value.is_nan() {
            "n/a"
        } else if value > 0.0 {
            "∞"
        } else {
            "−∞"
        });
    }
    if value == 0.0 {
        return Label::plain("0");
    }
    let mut exponent = value.abs().log10().floor() as i32;
    if (-3..6).contains(&exponent) {
        let decimals = (2 - exponent).max(0) as usize;
        return Label::plain(trim(decimal(value, decimals)));
    }
    let mut factor = value / 10f64.powi(exponent);
    if !factor.is_finite() {
        return Label::plain(format!("{value:.1e}"));
    }
    if factor.abs() >= 9.95 {
        (factor, exponent) = (factor / 10.0, exponent + 1);
    }
    Label::power_of_ten(&trim(decimal(factor, 1)), exponent)
}

/// The number without zeros that end its decimals.
pub(super) fn trim(number: String) -> String {
    if !number.contains('.') {
        return number;
    }
    number.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaping_leaves_no_markup() {
        assert_eq!(escape("a<b> & \"c\" 'd'\n\u{0}\u{b}"), "a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39; ");
    }

    #[test]
    fn shortened_text_fits() {
        let text = "a very long name of a method indeed";
        let short = shorten(text, 12.0, Weight::Regular, 80.0);
        assert!(short.ends_with('…') && width(&short, 12.0, Weight::Regular) <= 80.0);
        assert_eq!(shorten("ab", 12.0, Weight::Regular, 80.0), "ab");
        assert_eq!(shorten("ab", 12.0, Weight::Regular, -5.0), "…");
    }

    #[test]
    fn wrapping_keeps_words_and_room() {
        let lines = wrap("one two three four five six seven", 12.0, Weight::Bold, 70.0, 3);
        assert_eq!(lines.len(), 3);
        assert!(lines.iter().all(|line| width(line, 12.0, Weight::Bold) <= 70.0));
        assert!(wrap("", 12.0, Weight::Bold, 70.0, 3).is_empty());
    }

    #[test]
    fn numbers_read_well() {
        assert_eq!(decimal(-1234567.5, 1), "−1\u{2009}234\u{2009}567.5");
        assert_eq!(decimal(-0.001, 1), "0.0");
        assert_eq!(decimal(2000.0, 0), "2000");
        assert_eq!(value(0.25).base, "0.25");
        assert_eq!(value(97.31).base, "97.3");
        assert_eq!(value(3.2e-7), Label::power_of_ten("3.2", -7));
        assert_eq!(value(9.99e-7), Label::power_of_ten("1", -6));
        assert_eq!(value(f64::NAN).base, "n/a");
        assert_eq!(value(f64::NEG_INFINITY).base, "−∞");
        assert!(!value(5e-324).base.is_empty());
    }
}
