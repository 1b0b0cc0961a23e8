//! The log-cosh example of the paper's sensitivity appendix (equation `eq:logcosh-example`).

use super::ModelError;
use crate::data::Table;
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
    /// The example with κ = `curvature`.
    ///
    /// # Errors
    /// κ outside (0, 1).
    pub fn new(curvature: f64) -> Result<Self, ModelError> {
        if curvature > 0.0 && curvature < 1.0 {
            Ok(Self { curvature })
        } else {
            Err(ModelError { field: "curvature", value: curvature, allowed: "above 0 and below 1" })
        }
    }

    /// κ.
    pub fn curvature(&self) -> f64 {
        self.curvature
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
