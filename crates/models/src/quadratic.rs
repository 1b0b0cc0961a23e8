//! Quadratics with known minimiser: for tests, theory and teaching.

use super::{Bound, Intercept, Labels, LinearModel, ModelCard, ModelError, Parameter};
use prdo_data::Table;
use prdo_privacy::Model;

/// ℓ(x; c) = ½ Σ_j h_j (x_j − c_j)², with curvatures h_j spread evenly in logarithm from 1 to `condition`
/// (all 1 when `condition` = 1). A record's features are its target c. Since every record has the same
/// curvatures, the minimiser of f is the mean of the node means, and L_s = `condition`.
#[derive(Clone, Debug)]
pub struct Quadratic {
    curvatures: Vec<f64>,
}

impl Quadratic {
    pub const CARD: ModelCard = ModelCard {
        name: "quadratic",
        sources: &["quadratic", "file", "memory"],
        labels: Labels::Unread,
        intercept: Intercept::None,
        parameter: Parameter {
            name: "condition",
            default: 10.0,
            allowed: "at least 1",
            fits: |x| x.is_finite() && x >= 1.0,
        },
        make: |sizes, condition| Ok(Box::new(Quadratic::new(sizes.width, condition)?)),
    };

    /// Quadratics in `width` dimensions.
    pub fn new(width: usize, condition: f64) -> Result<Self, ModelError> {
        let condition = Self::CARD.parameter.checked(condition)?;
        let power = |j: usize| if width > 1 { j as f64 / (width - 1) as f64 } else { 0.0 };
        Ok(Self { curvatures: (0..width).map(|j| condition.powf(power(j))).collect() })
    }
}

impl LinearModel for Quadratic {
    fn smoothness(&self, _largest: f64) -> Bound {
        Bound { value: self.curvatures.iter().copied().fold(0.0, f64::max), how: "largest curvature" }
    }

    /// f has curvatures h: f(x) − min f = ½Σ(∂_j f(x))²/h_j.
    fn gap(&self, _x: &[f64], _loss: f64, gradient: &[f64]) -> Option<Bound> {
        let terms = self.curvatures.iter().zip(gradient).map(|(h, g)| g * g / h);
        Some(Bound { value: 0.5 * terms.sum::<f64>(), how: "f(x⁰) − min f, in closed form" })
    }
}

impl Model for Quadratic {
    type Data = Table;

    fn dimension(&self) -> usize {
        self.curvatures.len()
    }

    fn check(&self, data: &Table) -> Result<(), String> {
        super::check_width(self.curvatures.len(), data)
    }

    fn loss(&self, x: &[f64], data: &Table, record: usize) -> f64 {
        let terms = self.curvatures.iter().zip(x).zip(data.row(record));
        0.5 * terms.map(|((h, x), c)| h * (x - c) * (x - c)).sum::<f64>()
    }

    fn gradient(&self, x: &[f64], data: &Table, record: usize, gradient: &mut [f64]) {
        let terms = self.curvatures.iter().zip(x).zip(data.row(record));
        gradient.iter_mut().zip(terms).for_each(|(g, ((h, x), c))| *g = h * (x - c));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gradients_and_sums() {
        let features = (0..3 * 20).map(|i| (i as f64 * 0.37).sin()).collect();
        let data = Table::new(3, features, vec![0.0; 20]).unwrap();
        super::super::tests::check(&Quadratic::new(3, 50.0).unwrap(), &data, 1.0);
        assert_eq!(Quadratic::new(3, 100.0).unwrap().curvatures, [1.0, 10.0, 100.0]);
        assert!(Quadratic::new(3, 0.5).is_err());
    }
}
