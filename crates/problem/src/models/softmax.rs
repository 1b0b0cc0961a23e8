//! Softmax (multinomial logistic) regression.

use super::{ModelError, non_negative};
use crate::data::Table;
use prdo_kernels::linear as kernels;
use prdo_privacy::Model;

/// ℓ(x; a, y) = −log p_y + ρ/2·‖x‖², p = softmax of one score w_kᵀa + c_k a class. x holds, class after class,
/// w_k and then c_k. Labels are 0 … K−1.
#[derive(Clone, Copy, Debug)]
pub struct Softmax {
    width: usize,
    classes: usize,
    regularization: f64,
}

impl Softmax {
    /// Softmax regression on `width` features and `classes` classes with ridge ρ = `regularization`.
    ///
    /// # Errors
    /// Fewer than two classes, or a negative or non-finite ρ.
    pub fn new(width: usize, classes: usize, regularization: f64) -> Result<Self, ModelError> {
        if classes < 2 {
            return Err(ModelError { field: "classes", value: classes as f64, allowed: "at least 2" });
        }
        Ok(Self { width, classes, regularization: non_negative("regularization", regularization)? })
    }

    /// ρ.
    pub fn regularization(&self) -> f64 {
        self.regularization
    }

    /// Scores less their largest: exponentials of these cannot overflow.
    fn scores(&self, x: &[f64], a: &[f64]) -> Vec<f64> {
        let mut scores = vec![0.0; self.classes];
        kernels::softmax_scores(x, a, &mut scores);
        scores
    }
}

impl Model for Softmax {
    type Data = Table;

    fn dimension(&self) -> usize {
        (self.width + 1) * self.classes
    }

    fn check(&self, data: &Table) -> Result<(), String> {
        super::check_width(self.width, data)?;
        let outside = |y: &&f64| !(**y >= 0.0 && **y < self.classes as f64 && y.fract() == 0.0);
        match data.labels().iter().find(outside) {
            Some(y) => Err(format!("label {y} is not one of the classes 0 to {}", self.classes - 1)),
            None => Ok(()),
        }
    }

    fn loss(&self, x: &[f64], data: &Table, record: usize) -> f64 {
        let scores = self.scores(x, data.row(record));
        let total: f64 = scores.iter().map(|s| s.exp()).sum();
        let own = scores.get(data.label(record) as usize).copied().unwrap_or(f64::NAN);
        total.ln() - own + 0.5 * self.regularization * kernels::margin(x, x)
    }

    fn gradient(&self, x: &[f64], data: &Table, record: usize, gradient: &mut [f64]) {
        let mut scratch = vec![0.0; self.classes];
        let (a, y) = (data.row(record), data.label(record) as usize);
        kernels::softmax_gradient(x, a, y, &mut scratch, gradient);
        if self.regularization > 0.0 {
            gradient.iter_mut().zip(x).for_each(|(g, x)| *g += self.regularization * x);
        }
    }

    fn correct(&self, x: &[f64], data: &Table, record: usize) -> Option<bool> {
        let scores = self.scores(x, data.row(record));
        let best = scores.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).map(|(k, _)| k)?;
        Some(best == data.label(record) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gradients_and_sums() {
        let (width, classes) = (4, 3);
        let features = (0..width * 30).map(|i| ((i * 53 % 101) as f64 - 50.0) / 25.0).collect();
        let labels = (0..30).map(|r| (r % 3) as f64).collect();
        let data = Table::new(width, features, labels).unwrap();
        super::super::tests::check(&Softmax::new(width, classes, 0.1).unwrap(), &data, 0.7);
        assert!(Softmax::new(3, 1, 0.0).is_err());
    }

    #[test]
    fn huge_scores_do_not_overflow() {
        let data = Table::new(1, vec![1e6], vec![1.0]).unwrap();
        let model = Softmax::new(1, 2, 0.0).unwrap();
        let mut gradient = vec![0.0; 4];
        let x = [1e6, 0.0, -1e6, 0.0];
        model.gradient(&x, &data, 0, &mut gradient);
        assert!(gradient.iter().all(|g| g.is_finite()) && model.loss(&x, &data, 0).is_finite());
    }
}
