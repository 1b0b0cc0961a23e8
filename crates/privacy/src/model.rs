//! What the gate asks of a model: the loss of one record, and its gradient.
//!
//! This is the trait to implement for a model of your own. `loss` and `gradient` are enough; the sums are
//! there for models that can do a whole batch faster than one record at a time.

use crate::engine::Engine;
use crate::linear::Linear;

/// A node's records, by number. `Vec<R>` is one; [`Model::Data`] says which kind a model reads.
pub trait Data: Send + Sync {
    fn len(&self) -> usize;
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<R: Send + Sync> Data for Vec<R> {
    fn len(&self) -> usize {
        self.len()
    }
}

#[derive(Clone, Copy, Debug)]
pub enum Records<'a> {
    Run(usize, usize),
    /// These records, in this order.
    List(&'a [u32]),
}

impl Records<'_> {
    pub fn each(self, mut visit: impl FnMut(usize)) {
        match self {
            Records::Run(start, end) => (start..end).for_each(visit),
            Records::List(list) => list.iter().for_each(|r| visit(*r as usize)),
        }
    }

    pub fn len(self) -> usize {
        match self {
            Records::Run(start, end) => end - start,
            Records::List(list) => list.len(),
        }
    }

    pub fn is_empty(self) -> bool {
        self.len() == 0
    }
}

/// A model with `dimension()` parameters `x` and a loss ℓ(x; record), summed over records.
///
/// Implementations must be pure: the same `x` and record give the same bits. `gradient` must depend on no other
/// record than the one asked for (no batch normalisation: clipping one record bounds that record's influence
/// only), and must keep no copy of what it reads: privacy rests on both, and on the owner of the records
/// choosing the model. Sampling, clipping and noise are the gate's.
pub trait Model: Send + Sync {
    type Data: Data;

    fn dimension(&self) -> usize;

    /// Whether the model can read these records, and if not, why: asked once, before they are used.
    ///
    /// # Errors
    /// What does not fit, in words.
    fn check(&self, _data: &Self::Data) -> Result<(), String> {
        Ok(())
    }

    /// Why what was computed since the model was made cannot be used, for models that call on something that may fail.
    /// The gate asks after every sum and before it draws noise: nothing is released then.
    fn failure(&self) -> Option<String> {
        None
    }

    /// ℓ(x; record).
    fn loss(&self, x: &[f64], data: &Self::Data, record: usize) -> f64;

    /// ∇ℓ(x; record), written over `gradient` (whose length is `dimension()`).
    fn gradient(&self, x: &[f64], data: &Self::Data, record: usize, gradient: &mut [f64]);

    /// Whether the model's prediction for `record` is right; `None` where that has no meaning.
    fn correct(&self, _x: &[f64], _data: &Self::Data, _record: usize) -> Option<bool> {
        None
    }

    /// How many of `records` the model predicts right; `None` where that has no meaning. Override it when a batch
    /// can be done faster than record by record.
    fn count_correct(&self, x: &[f64], data: &Self::Data, records: Records<'_>) -> Option<u64> {
        let mut right = Some(0);
        records.each(|r| right = right.zip(self.correct(x, data, r)).map(|(n, c)| n + u64::from(c)));
        right
    }

    /// For each of `records` how strongly the model takes it for one of the second of two classes, and whether it is
    /// one: what the area under the ROC curve is computed from. `None` where there are not two classes.
    fn ranked(&self, _x: &[f64], _data: &Self::Data, _records: Records<'_>) -> Option<Vec<(f64, bool)>> {
        None
    }

    /// Gradients in single precision, streamed: for models whose gradients are too large to be passed around one
    /// `f64` vector per record. The gate clips those instead of [`Model::gradient`]'s.
    fn engine(&self) -> Option<&dyn Engine<Self::Data>> {
        None
    }

    /// The model as one whose gradients have rank one. The gate then clips and adds those, which is much faster,
    /// instead of [`Model::gradient`]'s; they must be the same gradients.
    fn linear(&self) -> Option<&dyn Linear<Self::Data>> {
        None
    }

    /// Adds Σ ∇ℓ(x; record) to `sum`. Override it when a batch can be done faster than record by record.
    fn add_gradients(&self, x: &[f64], data: &Self::Data, records: Records<'_>, sum: &mut [f64]) {
        let mut gradient = vec![0.0; self.dimension()];
        records.each(|r| {
            self.gradient(x, data, r, &mut gradient);
            sum.iter_mut().zip(&gradient).for_each(|(s, g)| *s += g);
        });
    }

    /// Σ ℓ(x; record). Override it when a batch can be done faster than record by record.
    fn sum_losses(&self, x: &[f64], data: &Self::Data, records: Records<'_>) -> f64 {
        let mut sum = 0.0;
        records.each(|r| sum += self.loss(x, data, r));
        sum
    }

    /// Both at once: adds Σ ∇ℓ(x; record) to `sum` and returns Σ ℓ(x; record). Override it when they share work.
    fn evaluate(&self, x: &[f64], data: &Self::Data, records: Records<'_>, sum: &mut [f64]) -> f64 {
        self.add_gradients(x, data, records, sum);
        self.sum_losses(x, data, records)
    }
}

impl<D: Data> Model for Box<dyn Model<Data = D>> {
    type Data = D;
    fn dimension(&self) -> usize {
        (**self).dimension()
    }
    fn check(&self, data: &D) -> Result<(), String> {
        (**self).check(data)
    }
    fn failure(&self) -> Option<String> {
        (**self).failure()
    }
    fn loss(&self, x: &[f64], data: &D, record: usize) -> f64 {
        (**self).loss(x, data, record)
    }
    fn gradient(&self, x: &[f64], data: &D, record: usize, gradient: &mut [f64]) {
        (**self).gradient(x, data, record, gradient);
    }
    fn correct(&self, x: &[f64], data: &D, record: usize) -> Option<bool> {
        (**self).correct(x, data, record)
    }
    fn count_correct(&self, x: &[f64], data: &D, records: Records<'_>) -> Option<u64> {
        (**self).count_correct(x, data, records)
    }
    fn ranked(&self, x: &[f64], data: &D, records: Records<'_>) -> Option<Vec<(f64, bool)>> {
        (**self).ranked(x, data, records)
    }
    fn engine(&self) -> Option<&dyn Engine<D>> {
        (**self).engine()
    }
    fn linear(&self) -> Option<&dyn Linear<D>> {
        (**self).linear()
    }
    fn add_gradients(&self, x: &[f64], data: &D, records: Records<'_>, sum: &mut [f64]) {
        (**self).add_gradients(x, data, records, sum);
    }
    fn sum_losses(&self, x: &[f64], data: &D, records: Records<'_>) -> f64 {
        (**self).sum_losses(x, data, records)
    }
    fn evaluate(&self, x: &[f64], data: &D, records: Records<'_>, sum: &mut [f64]) -> f64 {
        (**self).evaluate(x, data, records, sum)
    }
}
