//! What is known of a linear model before there are records: its card, and the bounds that follow from its formula.

use super::ModelError;
use prdo_data::Table;
use prdo_privacy::Model;
use std::fmt::Debug;

/// What a linear model reads and is made of.
#[derive(Debug)]
pub struct ModelCard {
    /// Its `kind` in run files.
    pub name: &'static str,
    /// The sources of data that it fits, as run files name them.
    pub sources: &'static [&'static str],
    /// What it makes of labels: a model that reads none predicts nothing, and takes no feature map.
    pub labels: Labels,
    pub intercept: Intercept,
    /// The one number that it is made with.
    pub parameter: Parameter,
    /// Makes it for records of this shape with this value of the parameter.
    pub make: fn(Sizes, f64) -> Result<Box<dyn LinearModel>, ModelError>,
}

/// By name, of which each model has its own.
impl PartialEq for ModelCard {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for ModelCard {}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Labels {
    Two,
    /// Two classes or more.
    Classes,
    /// It does not read them.
    Unread,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Intercept {
    /// If asked for: one feature more, always 1.
    Optional,
    /// Of its own, for every class.
    Own,
    None,
}

/// A number that a model is made with.
#[derive(Debug)]
pub struct Parameter {
    /// Its name in the run file's `[model]`.
    pub name: &'static str,
    pub default: f64,
    pub allowed: &'static str,
    pub fits: fn(f64) -> bool,
}

/// The shape of the records a model is made for.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// Features per record, with an optional intercept.
    pub width: usize,
    pub classes: usize,
}

/// A bound, and how it comes about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    pub value: f64,
    pub how: &'static str,
}

/// A linear model: its formula says how steep and how curved its losses are.
pub trait LinearModel: Model<Data = Table> + Debug + Duplicate {
    /// L_s, for records whose features have ‖a‖² of at most `largest`, the 1 of the model's own intercept included.
    fn smoothness(&self, largest: f64) -> Bound;

    /// A bound on ‖∇ℓ‖² at every x for a record with this ‖a‖², counted in the same way, where there is one; `how` is
    /// about its mean over a node's records.
    fn gradient_square(&self, _square: f64) -> Option<Bound> {
        None
    }

    /// f(x) − min f, from the loss and the gradient of f at x; `None` where f has no lower bound.
    fn gap(&self, x: &[f64], loss: f64, gradient: &[f64]) -> Option<Bound>;

    /// The same model on the features that a map makes, its intercept multiplied by this constant; `None` if it takes no map.
    fn on_features(&self, _constant: f64) -> Result<Option<MappedModel>, ModelError> {
        Ok(None)
    }
}

/// How a boxed model is cloned: every model that is `Clone` has it.
pub trait Duplicate {
    fn duplicate(&self) -> Box<dyn LinearModel>;
}

impl<M: LinearModel + Clone + 'static> Duplicate for M {
    fn duplicate(&self) -> Box<dyn LinearModel> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn LinearModel> {
    fn clone(&self) -> Self {
        (**self).duplicate()
    }
}

/// A model of features that a map made.
pub type MappedModel = Box<dyn Model<Data = Table<f32>>>;

impl Parameter {
    pub(crate) fn checked(&self, value: f64) -> Result<f64, ModelError> {
        match (self.fits)(value) {
            true => Ok(value),
            false => Err(ModelError { field: self.name, value, allowed: self.allowed }),
        }
    }

    pub(crate) const fn regularization(default: f64) -> Self {
        Self { name: "regularization", default, allowed: "at least 0", fits: |x| x.is_finite() && x >= 0.0 }
    }
}

impl Bound {
    /// A bound on f(x) − min f for losses that are never negative.
    pub fn of_positive_loss(value: f64) -> Self {
        Self { value, how: "at most f(x⁰), for no loss is negative" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LINEAR;
    use prdo_privacy::Records;

    const SIZES: Sizes = Sizes { width: 1, classes: 2 };

    /// One feature suits every model.
    fn data() -> Table {
        let features: Vec<f64> = (0..24).map(|i| (i as f64 * 0.37).sin()).collect();
        let labels = (0..24).map(|i| f64::from(u8::from(i % 3 == 0))).collect();
        Table::new(1, features, labels).unwrap()
    }

    #[test]
    fn defaults_fit_their_ranges_and_names_differ() {
        for (k, card) in LINEAR.iter().enumerate() {
            assert!((card.parameter.fits)(card.parameter.default), "{}", card.name);
            assert!((card.make)(SIZES, f64::NAN).is_err(), "{}", card.name);
            assert!(LINEAR[..k].iter().all(|other| other.name != card.name));
            let model = (card.make)(SIZES, card.parameter.default).unwrap();
            let mapped = model.on_features(0.1).unwrap();
            assert_eq!(mapped.is_some(), card.labels != Labels::Unread, "{}", card.name);
        }
    }

    #[test]
    fn bounds_hold_along_a_line() {
        let data = data();
        let largest = data.features().iter().map(|a| a * a).fold(0.0, f64::max);
        for card in LINEAR {
            let model = (card.make)(SIZES, card.parameter.default).unwrap();
            let d = model.dimension();
            // The 1 of an intercept that is the model's own.
            let own = if d > data.width() { 1.0 } else { 0.0 };
            let smoothness = model.smoothness(largest + own).value;
            let (mut here, mut there) = (vec![0.0; d], vec![0.0; d]);
            for step in -20..20 {
                let [x, y] = [step, step + 1].map(|k| vec![f64::from(k) * 0.15; d]);
                for r in 0..data.len() {
                    model.gradient(&x, &data, r, &mut here);
                    model.gradient(&y, &data, r, &mut there);
                    let square: f64 = here.iter().map(|g| g * g).sum();
                    let bound = model.gradient_square(data.row(r)[0].powi(2) + own);
                    assert!(bound.is_none_or(|bound| square <= bound.value), "{}", card.name);
                    let apart = here.iter().zip(&there).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
                    let moved = 0.15 * (d as f64).sqrt();
                    assert!(apart <= 1.0001 * smoothness * moved, "{}", card.name);
                }
            }
        }
    }

    #[test]
    fn the_loss_falls_by_no_more_than_the_gap() {
        let data = data();
        let all = Records::Run(0, data.len());
        let count = data.len() as f64;
        for card in LINEAR {
            let model = (card.make)(SIZES, card.parameter.default).unwrap();
            let mut gradient = vec![0.0; model.dimension()];
            let x = vec![0.3; model.dimension()];
            let loss = model.evaluate(&x, &data, all, &mut gradient) / count;
            gradient.iter_mut().for_each(|g| *g /= count);
            let gap = model.gap(&x, loss, &gradient).unwrap().value;
            let least = (-200..200).map(|k| vec![f64::from(k) * 0.02; x.len()]);
            let least = least.map(|y| model.sum_losses(&y, &data, all) / count).fold(f64::INFINITY, f64::min);
            assert!(loss - least <= gap + 1e-12, "{}: {} above {gap}", card.name, loss - least);
        }
    }
}
