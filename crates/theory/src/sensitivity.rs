//! How much one record can change the fresh query.

use crate::error::{TheoryError, between};

const CLIP: (f64, f64) = (0.0, 1e60);
const CLIP_WORDS: &str = "from 0 to 1e60";

/// The two clipping thresholds and the weight between them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sensitivity {
    gradient_clip: f64,
    difference_clip: f64,
    gamma: f64,
}

impl Sensitivity {
    pub fn new(gradient_clip: f64, difference_clip: f64, gamma: f64) -> Result<Self, TheoryError> {
        between("gradient_clip", gradient_clip, CLIP, CLIP_WORDS)?;
        between("difference_clip", difference_clip, CLIP, CLIP_WORDS)?;
        between("gamma", gamma, (1e-30, 1.0), "from 1e-30 to 1")?;
        Ok(Self { gradient_clip, difference_clip, gamma })
    }

    /// Of the paper's log-cosh example (`prop:sparse-sensitivity`): C_g = A + a and C_Δ = 2a for coefficients within
    /// ±A = `bound` and a = `curvature`, so that S_γ = γA + (2−γ)a (`eq:example-sensitivity`).
    pub fn log_cosh(bound: f64, curvature: f64, gamma: f64) -> Result<Self, TheoryError> {
        Self::new(bound + curvature, 2.0 * curvature, gamma)
    }

    pub fn gradient_clip(&self) -> f64 {
        self.gradient_clip
    }

    pub fn difference_clip(&self) -> f64 {
        self.difference_clip
    }

    pub fn gamma(&self) -> f64 {
        self.gamma
    }

    /// S_γ = γC_g + (1−γ)C_Δ (`eq:sensitivity`); C_g at γ = 1.
    pub fn scale(&self) -> f64 {
        self.gamma * self.gradient_clip + (1.0 - self.gamma) * self.difference_clip
    }

    /// S_γ/b, the sensitivity of a later round's averaged query.
    pub fn query(&self, batch: u64) -> f64 {
        self.scale() / batch.max(1) as f64
    }

    /// Whether S_γ < C_g (`eq-sens`): exactly where γ < 1 and C_Δ < C_g.
    pub fn is_reduced(&self) -> bool {
        self.gamma < 1.0 && self.difference_clip < self.gradient_clip
    }

    /// S_γ/C_g: what the sensitivity falls to against γ = 1. One where both are zero.
    pub fn ratio(&self) -> f64 {
        if self.gradient_clip > 0.0 {
            self.scale() / self.gradient_clip
        } else if self.scale() > 0.0 {
            f64::INFINITY
        } else {
            1.0
        }
    }
}
