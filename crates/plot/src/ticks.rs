//! Where an axis is marked and what the marks say: steps of 1, 2 or 5 on a linear scale, decades on a
//! logarithmic one.

use super::scale::{Scale, nice_step};
use super::text::{Label, decimal, trim};

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    /// Of the scale.
    pub(super) place: f64,
    /// What it says; a minor tick says nothing.
    pub(super) label: Option<Label>,
}

/// The ticks of a range of places, with labels at no more than about `most` of them.
pub(super) fn ticks(scale: Scale, low: f64, high: f64, most: usize) -> Vec<Tick> {
    match scale {
        Scale::Linear => linear(low, high, most),
        Scale::Log => logarithmic(low, high, most),
    }
}

/// As many ticks as fit: the most for which `fits` holds for the labelled ones, down to two.
pub(super) fn fitting(
    scale: Scale,
    (low, high): (f64, f64),
    most: usize,
    fits: impl Fn(&[Tick]) -> bool,
) -> Vec<Tick> {
    let all = |count| ticks(scale, low, high, count);
    let labelled = |all: &[Tick]| all.iter().filter(|tick| tick.label.is_some()).cloned().collect::<Vec<_>>();
    (2..=most.max(2)).rev().map(all).find(|found| fits(&labelled(found))).unwrap_or_else(|| all(1))
}

fn linear(low: f64, high: f64, most: usize) -> Vec<Tick> {
    let Some(step) = nice_step(high - low, most) else { return Vec::new() };
    let (first, last) = ((low / step - 1e-9).ceil(), (high / step + 1e-9).floor());
    if !(first <= last && first.abs().max(last.abs()) < 1e14) {
        return Vec::new();
    }
    let values: Vec<f64> = (0..=(last - first) as usize).map(|k| (first + k as f64) * step).collect();
    let labels = labels(&values, step);
    values.into_iter().zip(labels).map(|(place, label)| Tick { place, label: Some(label) }).collect()
}

/// The labels of equally spaced values, all with the same decimals or the same power of ten.
fn labels(values: &[f64], step: f64) -> Vec<Label> {
    let largest = values.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
    let digits = |step: f64| (-(step * (1.0 + 1e-9)).log10().floor()).clamp(0.0, 300.0) as usize;
    let exponent = largest.log10().floor();
    if largest == 0.0 || (-4.0..6.0).contains(&exponent) {
        return values.iter().map(|&v| Label::plain(decimal(v, digits(step)))).collect();
    }
    let exponent = exponent as i32;
    let unit = 10f64.powi(exponent);
    let decimals = digits(step / unit).min(12);
    let label = |&v: &f64| match v {
        0.0 => Label::plain("0"),
        _ => Label::power_of_ten(&decimal(v / unit, decimals), exponent),
    };
    values.iter().map(label).collect()
}

fn logarithmic(low: f64, high: f64, most: usize) -> Vec<Tick> {
    let decades = high - low;
    if !(decades > 0.0 && decades < 1000.0) {
        return Vec::new();
    }
    if decades < 1.0 {
        return within_a_decade(low, high, most);
    }
    let many = (decades < 2.0 && most >= 4) || 3.0 * decades <= most as f64;
    let mantissas: &[i32] = if many { &[1, 2, 5] } else { &[1] };
    // Few decades near 1 read better as plain numbers: 0.5, 1, 2 rather than powers of ten.
    let plainly = many && low > -3.0 && high < 5.0;
    let step = decade_step(decades, most);
    let minors = step == 1 && decades <= 12.0;
    let mut out = Vec::new();
    for exponent in low.floor() as i32..=high.ceil() as i32 {
        for m in 1..=if minors { 9 } else { 1 } {
            let place = f64::from(exponent) + f64::from(m).log10();
            if place < low - 1e-9 || place > high + 1e-9 {
                continue;
            }
            let named = mantissas.contains(&m) && exponent.rem_euclid(step) == 0;
            let factor = if m == 1 { String::new() } else { m.to_string() };
            let label = named.then(|| match plainly {
                true => {
                    Label::plain(decimal(f64::from(m) * 10f64.powi(exponent), (-exponent).max(0) as usize))
                }
                false => Label::power_of_ten(&factor, exponent),
            });
            out.push(Tick { place, label });
        }
    }
    out
}

fn decade_step(decades: f64, most: usize) -> i32 {
    let steps = [1, 2, 3, 5, 10, 20, 50, 100, 200];
    steps.into_iter().find(|&step| decades / f64::from(step) <= most as f64).unwrap_or(500)
}

/// Less than a decade holds too few powers of ten: the ticks are those of the values themselves.
fn within_a_decade(low: f64, high: f64, most: usize) -> Vec<Tick> {
    let (from, to) = (Scale::Log.value(low), Scale::Log.value(high));
    let found = linear(from, to, most);
    let place = |tick: Tick| Scale::Log.place(tick.place).map(|place| Tick { place, ..tick });
    found.into_iter().filter_map(place).map(shorten_decimals).collect()
}

fn shorten_decimals(tick: Tick) -> Tick {
    let label = tick.label.map(|label| match label.power.is_empty() {
        true => Label::plain(trim(label.base)),
        false => label,
    });
    Tick { label, ..tick }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(ticks: &[Tick]) -> Vec<String> {
        let say = |label: &Label| match label.power.is_empty() {
            true => label.base.clone(),
            false => format!("{}^{}", label.base, label.power),
        };
        ticks.iter().filter_map(|tick| tick.label.as_ref().map(say)).collect()
    }

    #[test]
    fn linear_ticks_are_nice() {
        assert_eq!(said(&ticks(Scale::Linear, 0.0, 1.0, 5)), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(said(&ticks(Scale::Linear, -7.0, 11.0, 4)), ["−5", "0", "5", "10"]);
        assert_eq!(said(&ticks(Scale::Linear, 0.0, 3e6, 3)), ["0", "1·10^6", "2·10^6", "3·10^6"]);
        assert_eq!(said(&ticks(Scale::Linear, 0.0, 3e-6, 2)), ["0", "2·10^−6"]);
        assert_eq!(said(&ticks(Scale::Linear, 0.0, 0.07, 4)), ["0.00", "0.02", "0.04", "0.06"]);
    }

    #[test]
    fn log_ticks_are_decades_with_minors() {
        let found = ticks(Scale::Log, -3.0, 0.0, 8);
        assert_eq!(said(&found), ["10^−3", "10^−2", "10^−1", "10^0"]);
        assert_eq!(found.len(), 28);
        assert_eq!(
            said(&ticks(Scale::Log, -10.0, 0.0, 5)),
            ["10^−10", "10^−8", "10^−6", "10^−4", "10^−2", "10^0"]
        );
    }

    #[test]
    fn short_log_ranges_still_have_labels() {
        assert!(said(&ticks(Scale::Log, -0.6, -0.4, 4)).len() >= 2);
        assert_eq!(said(&ticks(Scale::Log, 0.1, 1.3, 6)), ["2", "5", "10"]);
        assert_eq!(said(&ticks(Scale::Log, -0.4, 1.35, 6)), ["0.5", "1", "2", "5", "10", "20"]);
        assert_eq!(said(&ticks(Scale::Log, 4.0, 5.4, 6)), ["10^4", "2·10^4", "5·10^4", "10^5", "2·10^5"]);
    }

    #[test]
    fn no_range_is_too_odd() {
        for (low, high) in [
            (0.0, 0.0),
            (1e299, 1e300),
            (-1e300, 1e300),
            (0.0, 5e-324),
            (1.0, 0.0),
            (f64::NAN, 1.0),
            (1e15, 1e15 + 2.0),
            (-323.0, 300.0),
        ] {
            for scale in [Scale::Linear, Scale::Log] {
                assert!(ticks(scale, low, high, 6).len() < 700, "{low} {high}");
            }
        }
    }

    #[test]
    fn fewer_ticks_when_they_do_not_fit() {
        let few = fitting(Scale::Linear, (0.0, 100.0), 10, |ticks| ticks.len() <= 3);
        assert_eq!(said(&few), ["0", "50", "100"]);
    }
}
