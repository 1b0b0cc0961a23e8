//! A model's public starting point x⁰, the same at every node.

use crate::streams::{Purpose, Secret};
use rand_distr::{Distribution, StandardNormal};

/// A vector that depends on no record.
#[derive(Clone, Debug, PartialEq)]
pub struct Start(Vec<f64>);

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StartError {
    #[error("starting point: value {index} is {value}, it must be finite")]
    NotFinite { index: usize, value: f64 },
    #[error("starting point: it has no values")]
    Empty,
}

impl Start {
    pub fn zeros(dimension: usize) -> Self {
        Self(vec![0.0; dimension])
    }

    pub fn ones(dimension: usize) -> Self {
        Self(vec![1.0; dimension])
    }

    /// Independent normals of the given deviation from a public seed.
    pub fn normal(dimension: usize, deviation: f64, seed: u64) -> Self {
        let mut stream = Secret::from_seed(seed).stream(Purpose::Start, 0, 0);
        let draw = |_| deviation * Distribution::<f64>::sample(&StandardNormal, &mut stream);
        Self((0..dimension).map(draw).collect())
    }

    /// Values that the caller declares to be public: a model trained on public data, say. Whoever calls this
    /// vouches that no protected record went into them; the privacy statement rests on it.
    pub fn declared_public(values: Vec<f64>) -> Result<Self, StartError> {
        match values.iter().position(|v| !v.is_finite()) {
            Some(index) => Err(StartError::NotFinite { index, value: values[index] }),
            None if values.is_empty() => Err(StartError::Empty),
            None => Ok(Self(values)),
        }
    }

    pub fn values(&self) -> &[f64] {
        &self.0
    }

    pub fn dimension(&self) -> usize {
        self.0.len()
    }
}
