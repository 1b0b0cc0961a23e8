//! From which probability on one of two classes is predicted.

use super::PredictError;

/// From which probability on one of two classes is predicted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Threshold {
    pub class: usize,
    pub probability: f64,
}

impl Default for Threshold {
    /// The second class from ½ on: the more probable one.
    fn default() -> Self {
        Self { class: 1, probability: 0.5 }
    }
}

impl Threshold {
    /// As typed: `0.3` is for the second class, `ill=0.3` for the one of that name.
    pub(super) fn parse(typed: &str, classes: &[String]) -> Result<Self, PredictError> {
        let refused = |allowed: String| PredictError::Threshold { typed: typed.to_string(), allowed };
        if classes.len() != 2 {
            return Err(refused(format!(
                "left out: the model has {} classes, and a threshold is for two",
                classes.len()
            )));
        }
        let (name, number) = typed.rsplit_once('=').map_or((None, typed), |(name, p)| (Some(name), p));
        let known = || classes.iter().map(|class| format!("{class:?}")).collect::<Vec<_>>().join(" or ");
        let class = match name {
            None => 1,
            Some(name) => {
                let found = classes.iter().position(|class| class == name.trim());
                found.ok_or_else(|| refused(format!("for a class of the model: {}", known())))?
            }
        };
        let probability = number.trim().parse().ok().filter(|p| (0.0..=1.0).contains(p));
        let probability = probability.ok_or_else(|| {
            refused("a probability from 0 to 1, or CLASS=P for another class than the second".into())
        })?;
        Ok(Self { class, probability })
    }

    pub(super) fn class_of(&self, probabilities: &[f64]) -> usize {
        let reached = probabilities.get(self.class).is_some_and(|p| *p >= self.probability);
        if reached { self.class } else { 1 - self.class.min(1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_are_of_the_second_class_or_of_a_named_one() {
        let classes = ["a=b".to_string(), "well".to_string()];
        let parsed = |typed: &str| Threshold::parse(typed, &classes).map_err(|e| e.to_string());
        assert_eq!(parsed("0.3"), Ok(Threshold { class: 1, probability: 0.3 }));
        assert_eq!(parsed("a=b=0.3"), Ok(Threshold { class: 0, probability: 0.3 }));
        for wrong in ["1.01", "-0.1", "NaN", "", "x", "ill=0.5", "a=0.5", "well="] {
            assert!(parsed(wrong).is_err(), "{wrong}");
        }
        assert!(parsed("ill=0.5").unwrap_err().contains("\"a=b\" or \"well\""));
        let three = ["a", "b", "c"].map(String::from);
        assert!(Threshold::parse("0.5", &three).unwrap_err().to_string().contains("3 classes"));
        let low = Threshold { class: 0, probability: 0.2 };
        assert_eq!((low.class_of(&[0.2, 0.8]), low.class_of(&[0.1, 0.9])), (0, 1));
        assert_eq!(Threshold::default().class_of(&[0.5, 0.5]), 1);
    }
}
