//! The theorem's conditions (`cv:stability`), one by one.

use crate::constants::Constants;
use crate::setting::Setting;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Condition {
    pub name: &'static str,
    /// The inequality, in the paper's symbols.
    pub formula: &'static str,
    pub left: f64,
    pub limit: f64,
}

impl Condition {
    pub fn holds(&self) -> bool {
        self.left <= self.limit
    }

    /// How much room is left; negative where the condition fails.
    pub fn slack(&self) -> f64 {
        self.limit - self.left
    }

    /// The share of the limit that is used: above one where the condition fails.
    pub fn used(&self) -> f64 {
        self.left / self.limit
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Conditions {
    /// α ≤ 1/(2L_s): descent of the average (`cv:descent`).
    pub descent_step: Condition,
    /// α ≤ (1−√λ)/(4L_s): the network energy absorbs disagreement (`cv:network-sum`).
    pub network_step: Condition,
    /// A_C ≤ 1/2: disagreement's feedback on itself.
    pub disagreement_feedback: Condition,
    /// 2L_s²α²/(bnγ) + 2QA_U ≤ 1/8: the average movement's feedback.
    pub direction_feedback: Condition,
}

impl Conditions {
    pub fn of(setting: &Setting) -> Self {
        let (alpha, smoothness) = (setting.step_size(), setting.smoothness());
        let constants = Constants::of(setting);
        let condition = |name, formula, left, limit| Condition { name, formula, left, limit };
        Self {
            descent_step: condition("descent_step", "α ≤ 1/(2L_s)", alpha, 0.5 / smoothness),
            network_step: condition(
                "network_step",
                "α ≤ (1−√λ)/(4L_s)",
                alpha,
                0.25 * setting.setup().root_gap() / smoothness,
            ),
            disagreement_feedback: condition("disagreement_feedback", "A_C ≤ 1/2", constants.a_c, 0.5),
            direction_feedback: condition(
                "direction_feedback",
                "2L_s²α²/(bnγ) + 2QA_U ≤ 1/8",
                constants.direction_feedback(setting),
                0.125,
            ),
        }
    }

    pub fn all(&self) -> [Condition; 4] {
        [self.descent_step, self.network_step, self.disagreement_feedback, self.direction_feedback]
    }

    /// Whether all hold: then the theorem's bounds hold.
    pub fn hold(&self) -> bool {
        self.all().iter().all(Condition::holds)
    }

    /// The one that uses most of its limit: the one that fails first as α grows.
    pub fn binding(&self) -> Condition {
        let [first, rest @ ..] = self.all();
        rest.into_iter().fold(first, |most, next| if next.used() > most.used() { next } else { most })
    }
}
