//! The log-cosh example of the paper's sensitivity appendix (equation `eq:logcosh-example`).

use super::{Bound, Intercept, Labels, LinearModel, ModelCard, ModelError, Parameter};
use prdo_data::Table;
use prdo_privacy::Model;

/// ℓ(x; a) = a·x + κ·log cosh x in one dimension; a record's single feature is its coefficient a. The paper
/// writes α for κ, because it is also the step size there.
///
/// Gradients a + κ·tanh x lie within A + κ when |a| ≤ A, and differences within 2κ, at any point: clipping at
/// C_g = A + κ and C_Δ = 2κ is never active (Proposition `prop:sparse-sensitivity`).
#[derive(Clone, Copy, Debug)]
pub struct LogCosh {
    curvature: f64,
}

impl LogCosh {
    pub const CARD: ModelCard = ModelCard {
        name: "log-cosh",
        sources: &["coefficients"],
        labels: Labels::Unread,
        intercept: Intercept::None,
        parameter: Parameter {
            name: "curvature",
            default: 0.5,
            allowed: "above 0 and below 1",
            fits: |x| x > 0.0 && x < 1.0,
        },
        make: |_, curvature| Ok(Box::new(LogCosh::new(curvature)?)),
    };

    /// The example with κ = `curvature`.
    pub fn new(curvature: f64) -> Result<Self, ModelError> {
        Ok(Self { curvature: Self::CARD.parameter.checked(curvature)? })
    }
}

impl LinearModel for LogCosh {
    fn smoothness(&self, _largest: f64) -> Bound {
        Bound { value: self.curvature, how: "the curvature κ" }
    }

    fn gradient_square(&self, square: f64) -> Option<Bound> {
        Some(Bound { value: (square.sqrt() + self.curvature).powi(2), how: "a node's mean (|a| + κ)²" })
    }

    /// f(x) = āx + κ·log cosh x is least where tanh x = −ā/κ.
    fn gap(&self, x: &[f64], _loss: f64, gradient: &[f64]) -> Option<Bound> {
        let x = x.first().copied().unwrap_or(0.0);
        let slope = gradient.first()? - self.curvature * x.tanh();
        let lean = -slope / self.curvature;
        let at = (lean.abs() < 1.0).then(|| lean.atanh())?;
        let value = |x: f64| slope * x + self.curvature * (x.cosh().ln());
        Some(Bound { value: value(x) - value(at), how: "f(x⁰) − min f, in closed form" })
    }
}

impl Model for LogCosh {
    type Data = Table;

    fn dimension(&self) -> usize {
        1
    }

    fn check(&self, data: &Table) -> Result<(), String> {
        super::check_width(1, data)
    }

    fn loss(&self, x: &[f64], data: &Table, record: usize) -> f64 {
        // log cosh x = |x| + log(1 + e^{−2|x|}) − log 2, which cannot overflow.
        let log_cosh = x[0].abs() + (-2.0 * x[0].abs()).exp().ln_1p() - std::f64::consts::LN_2;
        data.row(record)[0] * x[0] + self.curvature * log_cosh
    }

    fn gradient(&self, x: &[f64], data: &Table, record: usize, gradient: &mut [f64]) {
        gradient[0] = data.row(record)[0] + self.curvature * x[0].tanh();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gradients_and_sums() {
        let data = Table::new(1, vec![0.4, -0.9, 0.5], vec![0.0; 3]).unwrap();
        super::super::tests::check(&LogCosh::new(0.3).unwrap(), &data, 2.0);
        assert!(LogCosh::new(1.0).is_err() && LogCosh::new(f64::NAN).is_err());
        assert!(LogCosh::new(0.5).unwrap().loss(&[1e5], &data, 0).is_finite());
    }
}
