//! Softmax (multinomial logistic) regression.

use super::blocks::{self, Gradients};
use super::{
    Bound, Intercept, Labels, LinearModel, MappedModel, ModelCard, ModelError, Parameter, non_negative,
};
use prdo_data::{Feature, Table};
use prdo_kernels::linear as kernels;
use prdo_privacy::{Linear, Model, Records};
use std::marker::PhantomData;

/// ℓ(x; a, y) = −log p_y + ρ/2·‖x‖², p = softmax of one score w_kᵀa + c_k a class. x holds, class after class,
/// w_k and then c_k. Labels are 0 … K−1. With [`Softmax::with_constant`] the intercept is h·c_k. Records are numbers unless said otherwise; computing is in doubles.
#[derive(Clone, Copy, Debug)]
pub struct Softmax<F: Feature = f64> {
    width: usize,
    classes: usize,
    regularization: f64,
    constant: f64,
    records: PhantomData<fn(F)>,
}

impl Softmax {
    pub const CARD: ModelCard = ModelCard {
        name: "softmax",
        sources: &["blobs", "digits", "file", "memory"],
        labels: Labels::Classes,
        intercept: Intercept::Own,
        parameter: Parameter::regularization(0.0),
        make: |sizes, regularization| Ok(Box::new(Softmax::new(sizes.width, sizes.classes, regularization)?)),
    };

    /// Softmax regression on `width` features and `classes` classes with ridge ρ = `regularization`.
    pub fn new(width: usize, classes: usize, regularization: f64) -> Result<Self, ModelError> {
        Self::reading(width, classes, regularization)
    }
}

impl LinearModel for Softmax {
    fn smoothness(&self, largest: f64) -> Bound {
        let value = 0.5 * largest + self.regularization;
        Bound { value, how: "largest (‖a‖²+1)/2 + ρ of all records" }
    }

    fn gradient_square(&self, square: f64) -> Option<Bound> {
        let unbounded = self.regularization != 0.0;
        (!unbounded).then_some(Bound { value: 2.0 * square, how: "a node's mean 2(‖a‖²+1)" })
    }

    fn gap(&self, _x: &[f64], loss: f64, _gradient: &[f64]) -> Option<Bound> {
        Some(Bound::of_positive_loss(loss))
    }

    fn on_features(&self, constant: f64) -> Result<Option<MappedModel>, ModelError> {
        let model = Softmax::<f32>::reading(self.width, self.classes, self.regularization)?;
        Ok(Some(Box::new(model.with_constant(constant)?)))
    }
}

impl<F: Feature> Softmax<F> {
    /// The same on records of any kind of features.
    pub fn reading(width: usize, classes: usize, regularization: f64) -> Result<Self, ModelError> {
        if classes < 2 {
            return Err(ModelError { field: "classes", value: classes as f64, allowed: "at least 2" });
        }
        let regularization = Softmax::CARD.parameter.checked(regularization)?;
        Ok(Self { width, classes, regularization, constant: 1.0, records: PhantomData })
    }

    /// The same with `constant` in place of the 1 that intercepts are multiplied by. Beside features of norm 1, a 1 has
    /// half of every gradient's square, which clipping then takes away from the features: a small constant leaves it
    /// to them.
    pub fn with_constant(self, constant: f64) -> Result<Self, ModelError> {
        Ok(Self { constant: non_negative("constant", constant)?, ..self })
    }

    /// Calls `visit` with each record and its scores, and adds up what slopes it leaves there if gradients are asked for.
    fn look(
        &self,
        x: &[f64],
        data: &Table<F>,
        records: Records<'_>,
        mut gradients: Option<&mut Gradients>,
        mut visit: impl FnMut(usize, &mut [f64]),
    ) {
        blocks::each(x, (self.width + 1, self.constant), data, records, |block, scores| {
            for (record, scores) in block.records.iter().zip(scores.chunks_exact_mut(self.classes)) {
                visit(*record as usize, scores);
            }
            if let Some(gradients) = gradients.as_deref_mut() {
                gradients.add(block, scores);
            }
        });
    }

    /// −log p_y.
    fn cross_entropy(&self, data: &Table<F>, record: usize, scores: &[f64]) -> f64 {
        // Exponentials of scores less their largest cannot overflow.
        let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let total: f64 = scores.iter().map(|s| (s - largest).exp()).sum();
        let own = scores.get(data.label(record) as usize).copied().unwrap_or(f64::NAN);
        total.ln() - (own - largest)
    }

    /// Adds `count`·∇(ρ/2·‖x‖²).
    fn add_ridge(&self, x: &[f64], count: f64, sum: &mut [f64]) {
        if self.regularization > 0.0 {
            sum.iter_mut().zip(x).for_each(|(s, x)| *s += count * (self.regularization * x));
        }
    }

    fn ridge(&self, x: &[f64]) -> f64 {
        0.5 * self.regularization * kernels::margin(x, x)
    }
}

impl<F: Feature> Model for Softmax<F> {
    type Data = Table<F>;

    fn dimension(&self) -> usize {
        (self.width + 1) * self.classes
    }

    fn check(&self, data: &Table<F>) -> Result<(), String> {
        super::check_width(self.width, data)?;
        super::check_classes(self.classes, data)
    }

    fn loss(&self, x: &[f64], data: &Table<F>, record: usize) -> f64 {
        self.sum_losses(x, data, Records::Run(record, record + 1))
    }

    fn gradient(&self, x: &[f64], data: &Table<F>, record: usize, gradient: &mut [f64]) {
        gradient.fill(0.0);
        self.add_gradients(x, data, Records::Run(record, record + 1), gradient);
    }

    fn correct(&self, x: &[f64], data: &Table<F>, record: usize) -> Option<bool> {
        self.count_correct(x, data, Records::Run(record, record + 1)).map(|right| right == 1)
    }

    fn count_correct(&self, x: &[f64], data: &Table<F>, records: Records<'_>) -> Option<u64> {
        let mut right = 0;
        self.look(x, data, records, None, |record, scores| {
            let best = scores.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).map(|(k, _)| k);
            right += u64::from(best == Some(data.label(record) as usize));
        });
        Some(right)
    }

    fn ranked(&self, x: &[f64], data: &Table<F>, records: Records<'_>) -> Option<Vec<(f64, bool)>> {
        if self.classes != 2 {
            return None;
        }
        let mut ranked = Vec::with_capacity(records.len());
        self.look(x, data, records, None, |record, scores| {
            if let [first, second] = scores {
                ranked.push((*second - *first, data.label(record) > 0.0));
            }
        });
        Some(ranked)
    }

    fn linear(&self) -> Option<&dyn Linear<Table<F>>> {
        // With a ridge, a gradient has rank one no more.
        (self.regularization == 0.0).then_some(self as &dyn Linear<Table<F>>)
    }

    fn add_gradients(&self, x: &[f64], data: &Table<F>, records: Records<'_>, sum: &mut [f64]) {
        let mut gradients = Gradients::new(self.classes, self.width + 1);
        let slopes = |record: usize, scores: &mut [f64]| self.slopes(data, record, scores);
        self.look(x, data, records, Some(&mut gradients), slopes);
        gradients.add_to(sum);
        self.add_ridge(x, records.len() as f64, sum);
    }

    fn sum_losses(&self, x: &[f64], data: &Table<F>, records: Records<'_>) -> f64 {
        let mut losses = 0.0;
        self.look(x, data, records, None, |record, scores| {
            losses += self.cross_entropy(data, record, scores)
        });
        losses + records.len() as f64 * self.ridge(x)
    }

    fn evaluate(&self, x: &[f64], data: &Table<F>, records: Records<'_>, sum: &mut [f64]) -> f64 {
        let (mut losses, mut gradients) = (0.0, Gradients::new(self.classes, self.width + 1));
        self.look(x, data, records, Some(&mut gradients), |record, scores| {
            losses += self.cross_entropy(data, record, scores);
            self.slopes(data, record, scores);
        });
        gradients.add_to(sum);
        self.add_ridge(x, records.len() as f64, sum);
        losses + records.len() as f64 * self.ridge(x)
    }
}

impl<F: Feature> Linear<Table<F>> for Softmax<F> {
    fn outputs(&self) -> usize {
        self.classes
    }

    fn inputs(&self) -> usize {
        self.width + 1
    }

    fn input(&self, data: &Table<F>, record: usize, out: &mut [f64]) {
        blocks::input(data, record, self.constant, out);
    }

    fn slopes(&self, data: &Table<F>, record: usize, scores: &mut [f64]) {
        kernels::softmax_slopes(data.label(record) as usize, scores);
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
        let small = Softmax::new(width, classes, 0.0).unwrap().with_constant(0.1).unwrap();
        super::super::tests::check(&small, &data, 0.7);
        assert!(small.with_constant(f64::NAN).is_err());
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
