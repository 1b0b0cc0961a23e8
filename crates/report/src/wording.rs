//! Figures and sentences for people. A bound is rounded to the side on which it stays a bound.

use prdo_accounting::{Bounds, Method};

const DIGITS: usize = 9;

/// A number at least `x`, to nine digits; ∞ where there is none.
pub fn up(x: f64) -> String {
    rounded(x, |nearest| i64::from(nearest < x))
}

/// A number at most `x`, to nine digits.
pub fn down(x: f64) -> String {
    rounded(x, |nearest| -i64::from(nearest > x))
}

/// The nearest number of nine digits, moved by so many units of its last digit.
fn rounded(x: f64, units: impl Fn(f64) -> i64) -> String {
    if !x.is_finite() {
        return "∞".into();
    }
    let nearest = format!("{x:.*e}", DIGITS - 1);
    let read = || {
        let (digits, exponent) = nearest.split_once('e')?;
        let digits = digits.replace('.', "").parse::<i64>().ok()? + units(nearest.parse().ok()?);
        format!("{digits}e{}", exponent.parse::<i32>().ok()? + 1 - DIGITS as i32).parse().ok()
    };
    read().map_or_else(|| nearest.clone(), plain)
}

/// A number to so many places, or to three digits where these would show none of it.
pub fn short(x: f64, places: usize) -> String {
    let least = 10f64.powi(1 - i32::try_from(places).unwrap_or(0));
    if x != 0.0 && x.abs() < least { format!("{x:.2e}") } else { format!("{x:.places$}") }
}

/// A number as short as it can be written exactly.
pub fn plain(x: f64) -> String {
    if x != 0.0 && !(1e-4..1e12).contains(&x.abs()) { format!("{x:e}") } else { format!("{x}") }
}

/// Settings that people can read and type again.
pub fn six_digits(x: f64) -> f64 {
    format!("{x:.5e}").parse().unwrap_or(x)
}

/// What an ε means, in a line.
pub fn meaning(epsilon: f64) -> String {
    if !epsilon.is_finite() {
        return "Meaning: nothing is proven here; more noise, a lower rate or fewer rounds would help."
            .into();
    }
    // Far beyond this the factor itself says no more than ε does.
    let factor =
        if epsilon < 14.0 { format!("e^ε = {}", plain(ceil(epsilon.exp()))) } else { "e^ε".to_string() };
    format!(
        "Meaning: with or without any one record, the probability of anything an observer computes differs by a factor \
         of at most {factor}, except with probability δ."
    )
}

fn ceil(x: f64) -> f64 {
    let unit = 10f64.powi(2 - x.log10().floor() as i32);
    (x * unit).ceil() / unit
}

/// The interval that was proven, or that there is none.
pub fn proof(method: Method, symbol: &str, bounds: &Bounds) -> String {
    match method {
        Method::Numerical => {
            format!("proven: {} ≤ {symbol} ≤ {}", down(bounds.lower), up(bounds.upper))
        }
        Method::Renyi => "Rényi accountant: an upper bound only".into(),
        Method::Paper => "the paper's Rényi accountant: an upper bound only".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_rounded_outwards() {
        for x in
            [3.987_714_152_3, 3.987_714_158_9, 1.0 / 3.0, 9.999_999_999_9, 123_456.789_012_3, 2.5e-7, 7e20]
        {
            let (low, high) = (down(x).parse::<f64>().unwrap(), up(x).parse::<f64>().unwrap());
            assert!(low <= x && x <= high && high - low <= 2.1e-8 * x, "{x}: {low} {high}");
        }
        assert_eq!((down(3.987_714_158_9), up(3.987_714_152_3)), ("3.98771415".into(), "3.98771416".into()));
        assert_eq!(
            (down(4.0), up(4.0), down(0.0), up(0.0)),
            ("4".into(), "4".into(), "0".into(), "0".into())
        );
        assert_eq!(up(9.999_999_999_9), "10");
        assert_eq!(up(f64::INFINITY), "∞");
        assert_eq!((plain(1e-5), plain(0.001), plain(4.0)), ("1e-5".into(), "0.001".into(), "4".into()));
    }

    #[test]
    fn small_numbers_keep_digits() {
        assert_eq!(
            (short(3.98, 4), short(0.0, 4), short(0.0123, 4)),
            ("3.9800".into(), "0.0000".into(), "0.0123".into())
        );
        assert_eq!(
            (short(1e-9, 4), short(4.5e-4, 4), short(-2e-5, 3)),
            ("1.00e-9".into(), "4.50e-4".into(), "-2.00e-5".into())
        );
    }

    #[test]
    fn the_meaning_never_promises_more_than_epsilon_does() {
        assert!(meaning(1.0).contains("e^ε = 2.72,"), "{}", meaning(1.0));
        assert!(meaning(4.0).contains("e^ε = 54.6,"));
        assert!(meaning(0.0).contains("e^ε = 1,"));
        assert!(meaning(800.0).contains("at most e^ε,"));
        assert!(meaning(f64::INFINITY).contains("nothing is proven"));
    }
}
