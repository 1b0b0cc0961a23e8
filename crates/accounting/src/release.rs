//! Frozen descriptions of what was released.

use crate::error::{AccountingError, require};

/// One release: Gaussian noise on a sum over a Poisson sample of the records.
///
/// `noise_multiplier` is the noise's standard deviation divided by the query's sensitivity (the paper's z);
/// `rate` is the probability with which each record is in the sample (the paper's q; 1 is no sampling).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Release {
    rate: f64,
    noise_multiplier: f64,
}

impl Release {
    /// The smallest and the largest noise multiplier that can be accounted for.
    pub const NOISE_MULTIPLIER_RANGE: (f64, f64) = (0.01, 1e6);

    /// A Poisson-sampled Gaussian release.
    ///
    /// # Errors
    /// A rate outside (0, 1] or a noise multiplier outside [0.01, 1e6], NaN included.
    pub fn new(rate: f64, noise_multiplier: f64) -> Result<Self, AccountingError> {
        let (least, most) = Self::NOISE_MULTIPLIER_RANGE;
        Ok(Self {
            rate: require("rate", rate, "above 0 and at most 1", |q| q > 0.0 && q <= 1.0)?,
            noise_multiplier: require("noise_multiplier", noise_multiplier, "from 0.01 to 1e6", |z| {
                (least..=most).contains(&z)
            })?,
        })
    }

    /// The probability with which each record is sampled.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// Noise standard deviation over sensitivity.
    pub fn noise_multiplier(&self) -> f64 {
        self.noise_multiplier
    }
}

/// Everything released so far: kinds of release, each with its count. Order does not matter to the cost.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    entries: Vec<(Release, u64)>,
}

impl History {
    /// Nothing released yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same history with `count` more releases of this kind.
    #[must_use]
    pub fn and(mut self, release: Release, count: u64) -> Self {
        self.add(release, count);
        self
    }

    /// Adds `count` releases of this kind.
    pub fn add(&mut self, release: Release, count: u64) {
        if count == 0 {
            return;
        }
        match self.entries.iter_mut().find(|(kind, _)| *kind == release) {
            Some((_, n)) => *n = n.saturating_add(count),
            None => self.entries.push((release, count)),
        }
    }

    /// The kinds of release and their counts.
    pub fn entries(&self) -> &[(Release, u64)] {
        &self.entries
    }

    /// How many releases in all.
    pub fn len(&self) -> u64 {
        self.entries.iter().fold(0, |sum, (_, n)| sum.saturating_add(*n))
    }

    /// Whether nothing was released.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}
