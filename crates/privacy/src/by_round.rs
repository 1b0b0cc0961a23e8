//! A number that may change from round to round: of the round alone, so that every node, peer and resumed run has the same.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// A number of each round, counted from 0.
///
/// As text, and in run files:
///
/// | text | in round t |
/// |---|---|
/// | `0.1` | 0.1 |
/// | `0.1, 0.05 from 100, 0.01 from 200` | steps |
/// | `list 0.3 0.2 0.1` | one number per round |
/// | `power 0.1 -0.5` | 0.1·(1 + t)^−0.5 |
/// | `cosine 0.1 0.01 over 500` | from 0.1 in round 0 to 0.01 in round 499, along half a cosine, and 0.01 from there on |
#[derive(Clone, Debug, PartialEq)]
pub enum ByRound {
    Constant(f64),
    /// From which round on which value: ascending, the first from round 0.
    Steps(Arc<[(u32, f64)]>),
    /// One per round.
    List(Arc<[f64]>),
    /// first·(1 + t)^exponent.
    Power {
        first: f64,
        exponent: f64,
    },
    /// Half a cosine over so many rounds.
    Cosine {
        first: f64,
        last: f64,
        rounds: u32,
    },
}

/// A text that is no number by round.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ByRoundError(pub String);

impl ByRound {
    /// The value in round t; beyond a list's end its last one.
    pub fn at(&self, t: u32) -> f64 {
        match self {
            ByRound::Constant(value) => *value,
            ByRound::Steps(steps) => {
                let begun = steps.partition_point(|(from, _)| *from <= t);
                steps.get(begun.max(1) - 1).map_or(f64::NAN, |(_, value)| *value)
            }
            ByRound::List(values) => values.get(t as usize).or(values.last()).copied().unwrap_or(f64::NAN),
            ByRound::Power { first, exponent } => first * (1.0 + f64::from(t)).powf(*exponent),
            ByRound::Cosine { first, last, rounds } => {
                let share = f64::from(t) / f64::from(rounds.saturating_sub(1).max(1));
                last + (first - last) * (1.0 + (std::f64::consts::PI * share.min(1.0)).cos()) / 2.0
            }
        }
    }

    /// The value that never changes, if it does not.
    pub fn constant(&self) -> Option<f64> {
        match self {
            ByRound::Constant(value) => Some(*value),
            _ => None,
        }
    }

    pub fn varies(&self) -> bool {
        self.constant().is_none()
    }

    /// How many rounds it is known for; `None`: for all.
    pub fn length(&self) -> Option<u32> {
        match self {
            ByRound::List(values) => Some(values.len() as u32),
            _ => None,
        }
    }

    /// The first value of those in `rounds` rounds that is not allowed.
    pub fn refused(&self, rounds: u32, is_allowed: impl Fn(f64) -> bool) -> Option<f64> {
        let bad = |value: &f64| !is_allowed(*value);
        match self {
            ByRound::Constant(value) => Some(*value).filter(bad),
            ByRound::Steps(steps) => steps.iter().map(|(_, value)| *value).find(bad),
            ByRound::List(values) => values.iter().copied().find(bad),
            // Monotone.
            ByRound::Power { .. } => [self.at(0), self.at(rounds.saturating_sub(1))].into_iter().find(bad),
            ByRound::Cosine { first, last, .. } => [*first, *last].into_iter().find(bad),
        }
    }

    /// Whether the value ever falls in `rounds` rounds.
    pub fn falls(&self, rounds: u32) -> bool {
        match self {
            ByRound::Constant(_) => false,
            ByRound::Steps(steps) => steps.windows(2).any(|pair| pair[1].0 < rounds && pair[1].1 < pair[0].1),
            ByRound::List(values) => {
                values.windows(2).take(rounds.saturating_sub(1) as usize).any(|pair| pair[1] < pair[0])
            }
            ByRound::Power { first, exponent } => first * exponent < 0.0 && rounds > 1,
            ByRound::Cosine { first, last, .. } => last < first && rounds > 1,
        }
    }

    /// The same law with what was left to the length of the run: a cosine's rounds.
    #[must_use]
    pub fn over(self, rounds: u32) -> Self {
        match self {
            ByRound::Cosine { first, last, rounds: 0 } => ByRound::Cosine { first, last, rounds },
            other => other,
        }
    }
}

impl From<f64> for ByRound {
    fn from(value: f64) -> Self {
        ByRound::Constant(value)
    }
}

impl From<Vec<f64>> for ByRound {
    fn from(values: Vec<f64>) -> Self {
        ByRound::List(values.into())
    }
}

impl fmt::Display for ByRound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ByRound::Constant(value) => write!(f, "{value:?}"),
            ByRound::Steps(steps) => {
                for (k, (from, value)) in steps.iter().enumerate() {
                    match k {
                        0 => write!(f, "{value:?}")?,
                        _ => write!(f, ", {value:?} from {from}")?,
                    }
                }
                Ok(())
            }
            ByRound::List(values) => {
                f.write_str("list")?;
                values.iter().try_for_each(|value| write!(f, " {value:?}"))
            }
            ByRound::Power { first, exponent } => write!(f, "power {first:?} {exponent:?}"),
            ByRound::Cosine { first, last, rounds: 0 } => write!(f, "cosine {first:?} {last:?}"),
            ByRound::Cosine { first, last, rounds } => write!(f, "cosine {first:?} {last:?} over {rounds}"),
        }
    }
}

impl FromStr for ByRound {
    type Err = ByRoundError;

    fn from_str(text: &str) -> Result<Self, ByRoundError> {
        let words: Vec<&str> = text.split_whitespace().collect();
        match words[..] {
            ["list", ref values @ ..] if !values.is_empty() => {
                Ok(ByRound::List(values.iter().map(|word| number(word)).collect::<Result<_, _>>()?))
            }
            ["power", first, exponent] => {
                Ok(ByRound::Power { first: number(first)?, exponent: number(exponent)? })
            }
            ["cosine", first, last] => {
                Ok(ByRound::Cosine { first: number(first)?, last: number(last)?, rounds: 0 })
            }
            ["cosine", first, last, "over", rounds] => {
                let rounds = round(rounds)?;
                Ok(ByRound::Cosine { first: number(first)?, last: number(last)?, rounds: rounds.max(1) })
            }
            ["list" | "power" | "cosine", ..] => Err(unknown(text)),
            _ => steps(text),
        }
    }
}

/// `0.1, 0.05 from 100, …`.
fn steps(text: &str) -> Result<ByRound, ByRoundError> {
    let mut steps: Vec<(u32, f64)> = Vec::new();
    for part in text.split(',') {
        let words: Vec<&str> = part.split_whitespace().collect();
        let (value, from) = match (&words[..], steps.last()) {
            ([value], None) => (number(value)?, 0),
            ([value, "from", from], Some((before, _))) => match round(from)? {
                from if from > *before => (number(value)?, from),
                from => {
                    return Err(ByRoundError(format!(
                        "round {from} does not come after round {before}: steps are listed in the order of their rounds"
                    )));
                }
            },
            _ => return Err(unknown(text)),
        };
        steps.push((from, value));
    }
    match steps[..] {
        [(_, value)] => Ok(ByRound::Constant(value)),
        _ => Ok(ByRound::Steps(steps.into())),
    }
}

fn number(word: &str) -> Result<f64, ByRoundError> {
    let refuse = || ByRoundError(format!("{word:?} is not a finite number"));
    word.parse().ok().filter(|value: &f64| value.is_finite()).ok_or_else(refuse)
}

fn round(word: &str) -> Result<u32, ByRoundError> {
    word.parse().map_err(|_| ByRoundError(format!("{word:?} is not a number of rounds")))
}

fn unknown(text: &str) -> ByRoundError {
    ByRoundError(format!(
        "{text:?} is no number by round; expected a number, \"0.1, 0.05 from 100\", \"list 0.3 0.2 0.1\", \"power 0.1 -0.5\" or \
         \"cosine 0.1 0.01\""
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn law(text: &str) -> ByRound {
        text.parse().unwrap()
    }

    #[test]
    fn laws_have_their_values() {
        let values = |text: &str, rounds: &[u32]| -> Vec<f64> {
            let law = law(text);
            rounds.iter().map(|t| law.at(*t)).collect()
        };
        assert_eq!(values("0.5", &[0, 7]), [0.5, 0.5]);
        assert_eq!(
            values("0.5, 0.25 from 3, 1 from 5", &[0, 2, 3, 4, 5, 900]),
            [0.5, 0.5, 0.25, 0.25, 1.0, 1.0]
        );
        assert_eq!(values("list 3 2 1", &[0, 1, 2, 3]), [3.0, 2.0, 1.0, 1.0]);
        assert_eq!(values("power 2 -0.5", &[0, 3, 15]), [2.0, 1.0, 0.5]);
        let cosine = values("cosine 1 0.5 over 11", &[0, 5, 10, 11]);
        assert!(cosine.iter().zip([1.0, 0.75, 0.5, 0.5]).all(|(a, b)| (a - b).abs() < 1e-15), "{cosine:?}");
        assert_eq!(law("cosine 1 0.5").over(11), law("cosine 1 0.5 over 11"));
        assert_eq!((law("list 1 2").length(), law("power 1 0").length()), (Some(2), None));
    }

    #[test]
    fn bad_texts_and_values_are_shown() {
        for (text, part) in [
            ("", "is no number by round"),
            ("0.1 0.2", "expected a number"),
            ("0.1, 0.2", "is no number by round"),
            ("0.1, 0.2 from x", "\"x\" is not a number of rounds"),
            ("0.1, 0.2 from 5, 0.1 from 5", "round 5 does not come after round 5"),
            ("list", "is no number by round"),
            ("list 1 inf", "\"inf\" is not a finite number"),
            ("power 1", "is no number by round"),
            ("cosine 1 2 over", "is no number by round"),
            ("nan", "is not a finite number"),
        ] {
            let error = text.parse::<ByRound>().unwrap_err().to_string();
            assert!(error.contains(part), "{text:?}: {error}");
        }
        let positive = |x: f64| x > 0.0;
        assert_eq!(law("1, 0 from 4").refused(10, positive), Some(0.0));
        assert_eq!(law("cosine 1 -1").refused(10, positive), Some(-1.0));
        assert_eq!(law("power 1 -9").refused(10, |x| x > 1e-3), Some(1e-9));
        assert_eq!(law("list 1 2").refused(10, positive), None);
    }

    #[test]
    fn falling_is_seen() {
        for text in ["1, 0.5 from 3", "list 1 2 1", "power 1 -0.1", "cosine 1 0"] {
            assert!(law(text).falls(10), "{text}");
            assert!(!law(text).falls(1), "{text}");
        }
        for text in ["1", "1, 2 from 3", "list 1 1", "power 1 0.5", "1, 0.5 from 10"] {
            assert!(!law(text).falls(10), "{text}");
        }
    }

    fn laws() -> impl Strategy<Value = ByRound> {
        let value = -1e6..1e6_f64;
        prop_oneof![
            value.clone().prop_map(ByRound::Constant),
            prop::collection::vec(value.clone(), 1..5).prop_map(ByRound::from),
            (value.clone(), -2.0..2.0_f64).prop_map(|(first, exponent)| ByRound::Power { first, exponent }),
            (value.clone(), value.clone(), 0..1000_u32).prop_map(|(first, last, rounds)| ByRound::Cosine {
                first,
                last,
                rounds
            }),
            prop::collection::vec((1..100_u32, value), 2..5).prop_map(|steps| {
                let mut from = 0;
                let mut next = |(step, value)| {
                    let at = from;
                    from += step;
                    (at, value)
                };
                ByRound::Steps(steps.into_iter().map(&mut next).collect())
            }),
        ]
    }

    proptest! {
        #[test]
        fn texts_go_there_and_back(law in laws()) {
            prop_assert_eq!(law.to_string().parse::<ByRound>(), Ok(law));
        }

        #[test]
        fn no_text_panics(text in ".{0,40}") {
            let _ = text.parse::<ByRound>();
        }
    }
}
