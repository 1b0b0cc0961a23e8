//! Logistic regression on features that a public map made of records.

use super::blocks::input;
use super::{Logistic, ModelError, non_negative};
use prdo_data::{Feature, Table};
use prdo_kernels::linear as kernels;
use prdo_privacy::{Model, Records};
use std::marker::PhantomData;

/// [`Logistic`] on records of any kind of features, behind which a constant stands for the intercept if the model has one
/// parameter more than they have. Labels are 0 and 1, or −1 and 1. Beside features of norm 1, an intercept of 1 would
/// have half of every gradient's square, which clipping takes away from the features: the constant is small instead.
#[derive(Clone, Copy, Debug)]
pub struct FeatureLogistic<F: Feature> {
    model: Logistic,
    constant: f64,
    records: PhantomData<fn(F)>,
}

impl<F: Feature> FeatureLogistic<F> {
    /// The model on such records, its intercept multiplied by `constant`.
    pub fn new(model: Logistic, constant: f64) -> Result<Self, ModelError> {
        Ok(Self { model, constant: non_negative("constant", constant)?, records: PhantomData })
    }

    /// Calls `work` with a few records at a time: their inputs side by side, and their labels as ±1.
    fn blocks(&self, data: &Table<F>, records: Records<'_>, mut work: impl FnMut(&[f64], &[f64])) {
        let width = self.dimension();
        let most = (16_384 / width.max(1)).clamp(4, 256).min(records.len().max(1));
        let (mut lines, mut labels) = (vec![0.0; most * width], Vec::with_capacity(most));
        records.each(|r| {
            let line = labels.len() * width;
            input(data, r, self.constant, &mut lines[line..line + width]);
            labels.push(sign(data.label(r)));
            if labels.len() == most {
                work(&lines, &labels);
                labels.clear();
            }
        });
        if !labels.is_empty() {
            work(&lines[..labels.len() * width], &labels);
        }
    }

    fn one(&self, data: &Table<F>, record: usize) -> (Vec<f64>, f64) {
        let mut line = vec![0.0; self.dimension()];
        input(data, record, self.constant, &mut line);
        (line, sign(data.label(record)))
    }
}

fn sign(label: f64) -> f64 {
    if label > 0.0 { 1.0 } else { -1.0 }
}

impl<F: Feature> Model for FeatureLogistic<F> {
    type Data = Table<F>;

    fn dimension(&self) -> usize {
        self.model.dimension()
    }

    fn check(&self, data: &Table<F>) -> Result<(), String> {
        if data.width() + 1 == self.dimension() { Ok(()) } else { super::check_width(self.dimension(), data) }
    }

    fn loss(&self, x: &[f64], data: &Table<F>, record: usize) -> f64 {
        let (line, y) = self.one(data, record);
        kernels::logistic_loss(x, &line, y) + self.model.regularizer(x)
    }

    fn gradient(&self, x: &[f64], data: &Table<F>, record: usize, gradient: &mut [f64]) {
        let (line, y) = self.one(data, record);
        kernels::logistic_gradient(x, &line, y, gradient);
        self.model.add_regularizer(x, 1.0, gradient);
    }

    fn correct(&self, x: &[f64], data: &Table<F>, record: usize) -> Option<bool> {
        let (line, y) = self.one(data, record);
        Some((kernels::margin(&line, x) >= 0.0) == (y > 0.0))
    }

    fn ranked(&self, x: &[f64], data: &Table<F>, records: Records<'_>) -> Option<Vec<(f64, bool)>> {
        let mut ranked = Vec::with_capacity(records.len());
        self.blocks(data, records, |lines, labels| {
            let rows = lines.chunks_exact(self.dimension()).zip(labels);
            ranked.extend(rows.map(|(row, y)| (kernels::margin(row, x), *y > 0.0)));
        });
        Some(ranked)
    }

    fn add_gradients(&self, x: &[f64], data: &Table<F>, records: Records<'_>, sum: &mut [f64]) {
        self.blocks(data, records, |lines, labels| kernels::add_logistic_gradients(x, lines, labels, sum));
        self.model.add_regularizer(x, records.len() as f64, sum);
    }

    fn sum_losses(&self, x: &[f64], data: &Table<F>, records: Records<'_>) -> f64 {
        let mut unused = vec![0.0; self.dimension()];
        self.evaluate(x, data, records, &mut unused)
    }

    fn evaluate(&self, x: &[f64], data: &Table<F>, records: Records<'_>, sum: &mut [f64]) -> f64 {
        let mut losses = 0.0;
        self.blocks(data, records, |lines, labels| {
            losses += kernels::evaluate_logistic(x, lines, labels, sum);
        });
        self.model.add_regularizer(x, records.len() as f64, sum);
        losses + records.len() as f64 * self.model.regularizer(x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_logistic_regression_with_a_small_intercept() {
        let width = 5;
        let features: Vec<f64> = (0..width * 90).map(|i| ((i * 53 % 101) as f64 - 50.0) / 25.0).collect();
        let labels: Vec<f64> = (0..90).map(|r| f64::from(r % 4 == 0)).collect();
        let data = Table::new(width, features, labels).unwrap();
        let plain = Logistic::new(width + 1, 0.01).unwrap();
        let model = FeatureLogistic::<f64>::new(plain, 0.1).unwrap();
        super::super::tests::check(&model, &data, 1.0);
        assert!(model.check(&data).is_ok() && FeatureLogistic::<f64>::new(plain, -1.0).is_err());
        // The same records written out for the plain model.
        let rows = (0..90).flat_map(|r| data.row(r).iter().copied().chain([0.1]).collect::<Vec<_>>());
        let signs = data.labels().iter().map(|y| sign(*y)).collect();
        let written = Table::new(width + 1, rows.collect(), signs).unwrap();
        let x = [0.3, -0.2, 0.9, 0.1, -1.4, 2.0];
        let all = Records::Run(0, 90);
        assert_eq!(model.count_correct(&x, &data, all), plain.count_correct(&x, &written, all));
        assert_eq!(model.ranked(&x, &data, all), plain.ranked(&x, &written, all));
        assert_eq!(model.loss(&x, &data, 7), plain.loss(&x, &written, 7));
        let narrow = Table::new(3, vec![0.0; 3], vec![1.0]).unwrap();
        assert!(model.check(&narrow).is_err());
    }
}
