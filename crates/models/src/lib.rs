//! Models: each gives the loss of one record and its gradient. Linear models compute in doubles, [`network`]s in
//! their engine's single precision.
//!
//! What never happens here: sampling, clipping, noise (the gate does those), a look at a neighbour, or a file opened.
#![deny(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod network;

mod blocks;
mod card;
mod feature_logistic;
mod log_cosh;
mod logistic;
mod quadratic;
mod softmax;

pub use card::{Bound, Duplicate, Intercept, Labels, LinearModel, MappedModel, ModelCard, Parameter, Sizes};
pub use feature_logistic::FeatureLogistic;
pub use log_cosh::LogCosh;
pub use logistic::Logistic;
pub use quadratic::Quadratic;
pub use softmax::Softmax;

use prdo_data::{Feature, Table};

/// The linear models, in the order in which run files list them.
pub const LINEAR: &[&ModelCard] = &[&Logistic::CARD, &Softmax::CARD, &Quadratic::CARD, &LogCosh::CARD];

#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("model.{field} = {value} is not allowed: it must be {allowed}")]
pub struct ModelError {
    pub field: &'static str,
    pub value: f64,
    pub allowed: &'static str,
}

fn non_negative(field: &'static str, value: f64) -> Result<f64, ModelError> {
    if value.is_finite() && value >= 0.0 {
        Ok(value)
    } else {
        Err(ModelError { field, value, allowed: "at least 0" })
    }
}

/// Refuses records of another width than the model's.
fn check_width<F: Feature>(width: usize, data: &Table<F>) -> Result<(), String> {
    match data.width() {
        found if found == width => Ok(()),
        found => Err(format!("the model reads records of {width} features but these have {found}")),
    }
}

/// Refuses labels that are not 0 to `classes` − 1.
fn check_classes<F: Feature>(classes: usize, data: &Table<F>) -> Result<(), String> {
    let outside = |y: &&f64| !(**y >= 0.0 && **y < classes as f64 && y.fract() == 0.0);
    match data.labels().iter().find(outside) {
        Some(y) => Err(format!("label {y} is not one of the classes 0 to {}", classes - 1)),
        None => Ok(()),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use prdo_data::Table;
    use prdo_privacy::{Model, Records};

    /// Every model must have gradients that match differences of its loss, and sums that match its records.
    pub(crate) fn check<M: Model<Data = Table>>(model: &M, data: &Table, scale: f64) {
        let d = model.dimension();
        let x: Vec<f64> = (0..d).map(|j| scale * ((j * 37 % 11) as f64 - 5.0) / 5.0).collect();
        let mut gradient = vec![f64::NAN; d];
        let mut total = vec![0.0; d];
        let mut losses = 0.0;
        for r in 0..data.len() {
            model.gradient(&x, data, r, &mut gradient);
            total.iter_mut().zip(&gradient).for_each(|(t, g)| *t += g);
            losses += model.loss(&x, data, r);
            for j in 0..d {
                let h = 1e-5;
                let at = |shift: f64| {
                    let mut y = x.clone();
                    y[j] += shift;
                    model.loss(&y, data, r)
                };
                let slope = (at(-2.0 * h) - 8.0 * at(-h) + 8.0 * at(h) - at(2.0 * h)) / (12.0 * h);
                assert!(
                    (slope - gradient[j]).abs() < 1e-7 * (1.0 + slope.abs()),
                    "record {r}, coordinate {j}"
                );
            }
        }
        let everything =
            [Records::Run(0, data.len()), Records::List(&(0..data.len() as u32).collect::<Vec<_>>())];
        for records in everything {
            let mut sum = vec![0.0; d];
            model.add_gradients(&x, data, records, &mut sum);
            for (s, t) in sum.iter().zip(&total) {
                assert!((s - t).abs() < 1e-10 * (1.0 + t.abs()));
            }
            assert!((model.sum_losses(&x, data, records) - losses).abs() < 1e-10 * (1.0 + losses.abs()));
            let mut both = vec![0.0; d];
            assert!(
                (model.evaluate(&x, data, records, &mut both) - losses).abs() < 1e-10 * (1.0 + losses.abs())
            );
            assert!(both.iter().zip(&total).all(|(s, t)| (s - t).abs() < 1e-10 * (1.0 + t.abs())));
        }
    }
}
