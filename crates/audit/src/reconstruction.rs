//! A record rebuilt from what its owner's neighbour sees in one round, if there is no noise.
//!
//! The gradient of a linear classifier at one record is an outer product: what the scores are off by, times the record.
//! So when a batch has one record, the first message of its node *is* the record, up to a factor; clipping changes only
//! the factor. The adversary undoes the message as always, writes the query as a matrix of classes by features, and takes
//! its leading singular vector, which is also the best that can be done under Gaussian noise.

use crate::error::{AuditError, refused};
use prdo_accounting::{Accountant, Target};
use prdo_algorithm::{Method, Node, Settings, Startable};
use prdo_privacy::{
    Batches, Clip, Exposed, Gate, Ledger, Model, Noised, OpenRules, PrivateRules, Sampling, Secret, Shard,
    Start,
};
use std::sync::Arc;

#[derive(Clone, Debug)]
pub struct Attempt {
    /// The record, as the adversary sees it: one value per feature, up to a factor.
    pub picture: Vec<f64>,
}

impl Attempt {
    pub fn correlation(&self, truth: &[f64]) -> f64 {
        correlation(&self.picture, truth)
    }

    /// The picture with the brightness and contrast that fit the truth best: the adversary is given those.
    pub fn fitted(&self, truth: &[f64]) -> Vec<f64> {
        let n = truth.len().max(1) as f64;
        let (mean, mean_truth) = (self.picture.iter().sum::<f64>() / n, truth.iter().sum::<f64>() / n);
        let centred = self.picture.iter().map(|v| v - mean);
        let square: f64 = centred.clone().map(|v| v * v).sum();
        let product: f64 = centred.clone().zip(truth).map(|(v, t)| v * (t - mean_truth)).sum();
        let factor = if square > 0.0 { product / square } else { 0.0 };
        centred.map(|v| mean_truth + factor * v).collect()
    }

    /// Peak signal to noise ratio in decibels of the fitted picture, for values from 0 to 1.
    pub fn psnr(&self, truth: &[f64]) -> f64 {
        let errors = self.fitted(truth).into_iter().zip(truth).map(|(a, b)| (a - b) * (a - b));
        let mean = errors.sum::<f64>() / truth.len().max(1) as f64;
        -10.0 * libm::log10(mean.max(1e-30))
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Noise {
    /// Not at all: clipping alone.
    Off,
    On(f64),
}

/// The attack on a node that holds one record and has it in its batch.
pub struct Attack<'a, M: Model> {
    pub model: &'a Arc<M>,
    /// How many classes, and features without the intercept; parameters are class by class.
    pub shape: (usize, usize),
    pub clip: f64,
    pub seed: u64,
}

impl<M: Model> Attack<'_, M> {
    /// Runs the first round of Exact Diffusion at the victim and rebuilds the record from its message.
    pub fn run(&self, record: M::Data, noise: Noise) -> Result<Attempt, AuditError> {
        let (model, secret) = (Arc::clone(self.model), Arc::new(Secret::from_seed(self.seed)));
        let shard = Shard::seal(record).map_err(refused("record"))?;
        let clip = Clip::new(self.clip, self.clip).map_err(refused("clip"))?;
        let batches = Batches::new(1, 1);
        match noise {
            Noise::Off => {
                let rules = OpenRules { batches, sampling: Sampling::Full, clip: Some(clip) };
                let gate = Gate::exposed(0, model, shard, secret, rules).map_err(refused("batch"))?;
                self.first_message::<Exposed>(gate)
            }
            Noise::On(noise_multiplier) => {
                let ledger = Ledger::new(Arc::new(Accountant::default()), Target::new(1e9, 1e-5)?);
                let rules = PrivateRules { batches, clip, noise_multiplier, ledger };
                let gate = Gate::private(0, model, shard, secret, rules).map_err(refused("batch"))?;
                self.first_message::<Noised>(gate)
            }
        }
    }

    fn first_message<P: Startable>(&self, mut gate: Gate<M, P>) -> Result<Attempt, AuditError> {
        let start = Start::zeros(self.model.dimension());
        let settings = Settings::new(0.1);
        let mut node: Box<dyn Node<P>> = Method::Ed.start(&start, &settings).map_err(refused("method"))?;
        let answer = gate.answer(0, &node.query());
        let answer = answer.map_err(|why| AuditError::Stopped { round: 0, why: why.to_string() })?;
        let message = node.adapt(answer.released);
        // φ⁰ = x⁰ − αv, and x⁰ = 0.
        let phi = message
            .iter()
            .flat_map(prdo_algorithm::Message::vectors)
            .next()
            .map_or(&[][..], prdo_privacy::Released::as_slice);
        let query: Vec<f64> = phi.iter().map(|v| -v / settings.step_size.at(0)).collect();
        Ok(Attempt { picture: self.leading(&query) })
    }

    /// The leading right singular vector of the query as a matrix of classes by features, with its sign: a true class
    /// pulls its own scores up and all others down, so most rows are positive multiples of the record.
    fn leading(&self, query: &[f64]) -> Vec<f64> {
        let (classes, features) = self.shape;
        let stride = query.len() / classes.max(1);
        let rows: Vec<&[f64]> =
            query.chunks(stride.max(1)).map(|row| row.get(..features).unwrap_or(row)).collect();
        let longest = rows.iter().max_by(|a, b| dot(a, a).total_cmp(&dot(b, b)));
        let mut vector = longest.map_or(vec![0.0; features], |row| row.to_vec());
        for _ in 0..200 {
            let weights: Vec<f64> = rows.iter().map(|row| dot(row, &vector)).collect();
            let mut next = vec![0.0; vector.len()];
            for (row, weight) in rows.iter().zip(&weights) {
                next.iter_mut().zip(*row).for_each(|(n, v)| *n += weight * v);
            }
            let norm = dot(&next, &next).sqrt();
            if norm > 0.0 {
                vector = next.into_iter().map(|v| v / norm).collect();
            }
        }
        let down = rows.iter().filter(|row| dot(row, &vector) < 0.0).count();
        if 2 * down > rows.len() {
            vector.iter_mut().for_each(|v| *v = -*v);
        }
        vector
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The correlation of two vectors; 0 where one of them is constant.
pub fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let centred = |v: &[f64]| {
        let mean = v.iter().sum::<f64>() / v.len().max(1) as f64;
        v.iter().map(|x| x - mean).collect::<Vec<f64>>()
    };
    let (a, b) = (centred(a), centred(b));
    let scale = (dot(&a, &a) * dot(&b, &b)).sqrt();
    if scale > 0.0 { dot(&a, &b) / scale } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLASSES: usize = 3;
    const FEATURES: usize = 12;

    /// Softmax regression at zero: every class is as probable as any other.
    struct Linear;

    impl Model for Linear {
        type Data = Vec<(Vec<f64>, usize)>;
        fn dimension(&self) -> usize {
            CLASSES * (FEATURES + 1)
        }
        fn loss(&self, _: &[f64], _: &Self::Data, _: usize) -> f64 {
            0.0
        }
        fn gradient(&self, _: &[f64], data: &Self::Data, record: usize, gradient: &mut [f64]) {
            let (features, class) = &data[record];
            for (k, row) in gradient.chunks_mut(FEATURES + 1).enumerate() {
                let off = 1.0 / CLASSES as f64 - f64::from(u8::from(k == *class));
                row.iter_mut().zip(features.iter().chain([&1.0])).for_each(|(g, a)| *g = off * a);
            }
        }
    }

    #[test]
    fn a_record_is_rebuilt_without_noise_and_not_with_it() {
        let model = Arc::new(Linear);
        let (mut off, mut on) = (1.0_f64, 0.0);
        for seed in 0..40 {
            let truth: Vec<f64> =
                (0..FEATURES as u64).map(|j| ((seed * 7 + j * j * 5) % 11) as f64 / 11.0).collect();
            let attack = Attack { model: &model, shape: (CLASSES, FEATURES), clip: 1.0, seed };
            let record = || vec![(truth.clone(), seed as usize % CLASSES)];
            let rebuilt = attack.run(record(), Noise::Off).unwrap();
            off = off.min(rebuilt.correlation(&truth));
            assert!(rebuilt.psnr(&truth) > 100.0);
            on += attack.run(record(), Noise::On(4.0)).unwrap().correlation(&truth) / 40.0;
        }
        assert!(off > 0.999_999, "{off}");
        // The mean of 40 correlations of noise has deviation 1/√(40·11).
        assert!(on.abs() < 0.3, "{on}");
    }
}
