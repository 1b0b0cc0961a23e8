//! Values of options. What is not allowed is refused while the command line is read, so that the message
//! names the option and the value as they were typed.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use prdo::accounting::Method;
use prdo::budget::{Against, Allowed, RATE, ratio};
use prdo::network;
use prdo_kernels::Level;
use std::fmt;

pub use prdo::budget::{BUDGET, DELTA, EPSILON, NOISE, POINTS, ROUNDS};

pub const THREADS: Allowed = Allowed {
    words: "a whole number from 1 to 1024",
    holds: |k| k.fract() == 0.0 && (1.0..=1024.0).contains(&k),
};
pub const BATCH: Allowed = Allowed {
    words: "a whole number from 1 to 100000",
    holds: |b| b.fract() == 0.0 && (1.0..=1e5).contains(&b),
};
pub const COUNT: Allowed = Allowed {
    words: "a whole number from 1 to 1e12",
    holds: |n| n.fract() == 0.0 && (1.0..=1e12).contains(&n),
};
/// Nodes with shared noise.
pub const NODES: Allowed = Allowed {
    words: "a whole number from 2 to 1000",
    holds: |n| n.fract() == 0.0 && (2.0..=1e3).contains(&n),
};
/// Members who put together what they know.
pub const COLLUDERS: Allowed = Allowed {
    words: "a whole number from 0 to two below the nodes",
    holds: |c| c.fract() == 0.0 && (0.0..=1e3).contains(&c),
};
/// Judged where it is used.
pub const ANY: Allowed = Allowed { words: "a number", holds: |_| true };
/// To measure for.
pub const SECONDS: Allowed =
    Allowed { words: "a number from 0.01 to 3600", holds: |s| (0.01..=3600.0).contains(&s) };
/// To wait for others.
pub const PATIENCE: Allowed =
    Allowed { words: "a number of seconds from 0 to 10000000", holds: |s| (0.0..=1e7).contains(&s) };

pub fn number(allowed: &'static Allowed) -> impl Fn(&str) -> Result<f64, String> + Clone {
    move |text| allowed.check(text.trim().parse().ok())
}

/// 1e4 is a whole number too.
pub fn whole<T: TryFrom<u64>>(allowed: &'static Allowed) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |text| T::try_from(number(allowed)(text)? as u64).map_err(|_| allowed.words.to_string())
}

/// One of these, by name, each with its line of help.
pub fn one_of<T: Clone + Send + Sync + 'static>(
    choices: impl IntoIterator<Item = (T, &'static str)>,
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    let choices: Vec<(T, &str)> = choices.into_iter().collect();
    let names: Vec<_> =
        choices.iter().map(|(choice, help)| PossibleValue::new(name(choice.clone())).help(help)).collect();
    PossibleValuesParser::new(names).try_map(move |typed| {
        let chosen = choices.iter().find(|(choice, _)| name(choice.clone()) == typed);
        chosen.map(|(choice, _)| choice.clone()).ok_or("unknown value")
    })
}

pub fn against() -> impl TypedValueParser<Value = Against> {
    let axes = [
        (Against::Rounds, "The number of releases"),
        (Against::Noise, "The noise multiplier"),
        (Against::Rate, "The sampling rate"),
        (Against::Delta, "δ"),
    ];
    one_of(axes, Against::argument)
}

/// A sampling rate, remembered as it was typed: people think in batch over records.
#[derive(Clone, Debug, PartialEq)]
pub struct Rate {
    pub value: f64,
    typed: String,
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.typed)
    }
}

pub fn rate(text: &str) -> Result<Rate, String> {
    Ok(Rate { value: RATE.check(ratio(text))?, typed: text.trim().to_string() })
}

/// An end of a curve's range; what is allowed there depends on the axis.
pub fn end(text: &str) -> Result<f64, String> {
    let words = "it must be a number above 0, or a fraction such as 1/4500";
    ratio(text).filter(|x| x.is_finite() && *x > 0.0).ok_or_else(|| words.to_string())
}

pub fn method(text: &str) -> Result<prdo::algorithm::Method, String> {
    text.trim().parse()
}

pub fn image(text: &str) -> Result<[u64; 3], String> {
    let sides: Option<Vec<u64>> =
        text.split('x').map(|side| side.trim().parse().ok().filter(|n| (1..=100_000).contains(n))).collect();
    let words = "it must be channels, height and width, such as 3x32x32";
    sides.and_then(|sides| sides.try_into().ok()).ok_or_else(|| words.to_string())
}

pub fn network(text: &str) -> Result<String, String> {
    let known = network::NAMES.contains(&text);
    known.then(|| text.to_string()).ok_or_else(|| format!("it must be one of {}", network::NAMES.join(", ")))
}

/// Of those that this processor has.
pub fn level(text: &str) -> Result<Level, String> {
    Level::named(text).ok_or_else(|| {
        let names: Vec<&str> = Level::available().into_iter().map(Level::name).collect();
        format!("this processor has {}", names.join(", "))
    })
}

pub fn accountant(text: &str) -> Result<Method, String> {
    Method::named(text).ok_or_else(|| {
        let names: Vec<&str> = Method::NAMES.iter().map(|(name, _)| *name).collect();
        format!("it must be one of {}", names.join(", "))
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use prdo::accounting::Event;

    #[test]
    fn rates_are_numbers_or_fractions() {
        assert_eq!(rate("100/4500").unwrap().value, 100.0 / 4500.0);
        assert_eq!(rate(" 100 / 4500 ").unwrap().to_string(), "100 / 4500");
        assert_eq!(rate("0.5").unwrap().value, 0.5);
        assert_eq!(rate("1").unwrap().value, 1.0);
        for wrong in ["0", "1.1", "-0.1", "nan", "inf", "abc", "", "/", "1/0", "0/0", "1/2/3", "5/4", "1/"] {
            assert!(rate(wrong).unwrap_err().contains("100/4500"), "{wrong}");
        }
    }

    #[test]
    fn rounds_are_whole() {
        let rounds = whole::<u64>(&ROUNDS);
        assert_eq!(rounds("9500"), Ok(9500));
        assert_eq!(rounds("1e4"), Ok(10_000));
        assert_eq!(rounds("1000000000000"), Ok(1_000_000_000_000));
        for wrong in ["0", "-1", "1.5", "1e13", "nan", "inf", "ten", "99999999999999999999"] {
            assert!(rounds(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn ends_of_the_ranges_are_where_the_accountant_has_them() {
        let (least, most) = Event::NOISE_MULTIPLIER_RANGE;
        let (noise, delta, budget, epsilon) =
            (number(&NOISE), number(&DELTA), number(&BUDGET), number(&EPSILON));
        assert_eq!((noise("0.01"), noise("1e6")), (Ok(least), Ok(most)));
        assert!(noise("0.0099").is_err() && noise("1000001").is_err());
        assert_eq!(rate("1e-12").unwrap().value, Event::LEAST_RATE);
        assert!(delta("0").is_err() && delta("1").is_err() && delta("1e-300").is_ok());
        assert!(budget("0").is_err() && epsilon("0").is_ok() && epsilon("-1").is_err());
    }
}
