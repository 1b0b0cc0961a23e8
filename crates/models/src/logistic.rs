//! Logistic regression with the paper's non-convex regulariser.

use super::{
    Bound, FeatureLogistic, Intercept, Labels, LinearModel, MappedModel, ModelCard, ModelError, Parameter,
};
use prdo_data::Table;
use prdo_kernels::linear as kernels;
use prdo_privacy::{Model, Records};

/// ℓ(x; a, y) = log(1 + exp(−y·aᵀx)) + ρ Σ_j x_j²/(1 + x_j²), labels y = ±1 (the paper's first experiment).
#[derive(Clone, Copy, Debug)]
pub struct Logistic {
    width: usize,
    regularization: f64,
}

/// sup |2x/(1+x²)²|, the slope of the regulariser, at x = 1/√3.
const REGULARIZER_SLOPE: f64 = 0.649_519_052_838_329;
/// sup |2(1−3x²)/(1+x²)³|, its curvature, at x = 0.
const REGULARIZER_CURVATURE: f64 = 2.0;

impl Logistic {
    pub const CARD: ModelCard = ModelCard {
        name: "logistic",
        sources: &["logistic", "file", "memory"],
        labels: Labels::Two,
        intercept: Intercept::Optional,
        parameter: Parameter::regularization(0.001),
        make: |sizes, regularization| Ok(Box::new(Logistic::new(sizes.width, regularization)?)),
    };

    /// Logistic regression on `width` features with ρ = `regularization` (0.001 in the paper).
    pub fn new(width: usize, regularization: f64) -> Result<Self, ModelError> {
        Ok(Self { width, regularization: Self::CARD.parameter.checked(regularization)? })
    }

    /// Adds `count`·∇ρΣx²/(1+x²) = `count`·2ρx/(1+x²)².
    pub(super) fn add_regularizer(&self, x: &[f64], count: f64, sum: &mut [f64]) {
        for (s, x) in sum.iter_mut().zip(x) {
            let q = 1.0 + x * x;
            *s += count * (2.0 * self.regularization * x / (q * q));
        }
    }

    /// ρ Σ_j x_j²/(1 + x_j²).
    pub(super) fn regularizer(&self, x: &[f64]) -> f64 {
        self.regularization * x.iter().map(|x| x * x / (1.0 + x * x)).sum::<f64>()
    }
}

impl LinearModel for Logistic {
    fn smoothness(&self, largest: f64) -> Bound {
        let value = 0.25 * largest + REGULARIZER_CURVATURE * self.regularization;
        Bound { value, how: "largest ‖a‖²/4 + 2ρ of all records" }
    }

    fn gradient_square(&self, square: f64) -> Option<Bound> {
        let pull = REGULARIZER_SLOPE * self.regularization * (self.width as f64).sqrt();
        Some(Bound { value: (square.sqrt() + pull).powi(2), how: "a node's mean (‖a‖ + 0.65ρ√d)²" })
    }

    fn gap(&self, _x: &[f64], loss: f64, _gradient: &[f64]) -> Option<Bound> {
        Some(Bound::of_positive_loss(loss))
    }

    fn on_features(&self, constant: f64) -> Result<Option<MappedModel>, ModelError> {
        Ok(Some(Box::new(FeatureLogistic::<f32>::new(*self, constant)?)))
    }
}

impl Model for Logistic {
    type Data = Table;

    fn dimension(&self) -> usize {
        self.width
    }

    fn check(&self, data: &Table) -> Result<(), String> {
        super::check_width(self.width, data)
    }

    fn loss(&self, x: &[f64], data: &Table, record: usize) -> f64 {
        kernels::logistic_loss(x, data.row(record), data.label(record)) + self.regularizer(x)
    }

    fn gradient(&self, x: &[f64], data: &Table, record: usize, gradient: &mut [f64]) {
        kernels::logistic_gradient(x, data.row(record), data.label(record), gradient);
        self.add_regularizer(x, 1.0, gradient);
    }

    fn correct(&self, x: &[f64], data: &Table, record: usize) -> Option<bool> {
        Some((kernels::margin(data.row(record), x) >= 0.0) == (data.label(record) > 0.0))
    }

    fn ranked(&self, x: &[f64], data: &Table, records: Records<'_>) -> Option<Vec<(f64, bool)>> {
        let mut ranked = Vec::with_capacity(records.len());
        records.each(|r| ranked.push((kernels::margin(data.row(r), x), data.label(r) > 0.0)));
        Some(ranked)
    }

    fn add_gradients(&self, x: &[f64], data: &Table, records: Records<'_>, sum: &mut [f64]) {
        match records {
            Records::Run(start, end) => {
                let rows = &data.features()[start * self.width..end * self.width];
                kernels::add_logistic_gradients(x, rows, &data.labels()[start..end], sum);
            }
            Records::List(list) => gathered(data, list, |rows, labels| {
                kernels::add_logistic_gradients(x, rows, labels, sum);
            }),
        }
        self.add_regularizer(x, records.len() as f64, sum);
    }

    fn evaluate(&self, x: &[f64], data: &Table, records: Records<'_>, sum: &mut [f64]) -> f64 {
        let count = records.len() as f64;
        let mut losses = 0.0;
        match records {
            Records::Run(start, end) => {
                let rows = &data.features()[start * self.width..end * self.width];
                losses = kernels::evaluate_logistic(x, rows, &data.labels()[start..end], sum);
            }
            Records::List(list) => gathered(data, list, |rows, labels| {
                losses += kernels::evaluate_logistic(x, rows, labels, sum);
            }),
        }
        self.add_regularizer(x, count, sum);
        losses + count * self.regularizer(x)
    }
}

/// Calls `work` with the listed records copied side by side, some at a time: reading far-apart records first lets
/// their cache misses overlap, and the kernels then run on rows that lie together.
fn gathered(data: &Table, list: &[u32], mut work: impl FnMut(&[f64], &[f64])) {
    let width = data.width();
    let group = (16_384 / width.max(1)).clamp(4, 256);
    let (mut rows, mut labels) = (Vec::with_capacity(group.min(list.len()) * width), Vec::new());
    for group in list.chunks(group) {
        rows.clear();
        labels.clear();
        for r in group {
            rows.extend_from_slice(data.row(*r as usize));
            labels.push(data.label(*r as usize));
        }
        work(&rows, &labels);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gradients_and_sums() {
        let width = 5;
        let features = (0..width * 90).map(|i| ((i * 53 % 101) as f64 - 50.0) / 25.0).collect();
        let labels = (0..90).map(|r| if r % 4 == 0 { -1.0 } else { 1.0 }).collect();
        let data = Table::new(width, features, labels).unwrap();
        super::super::tests::check(&Logistic::new(width, 0.01).unwrap(), &data, 1.0);
        assert!(Logistic::new(3, -1.0).is_err() && Logistic::new(3, f64::NAN).is_err());
    }
}
