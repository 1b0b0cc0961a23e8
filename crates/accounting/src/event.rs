//! Frozen descriptions of what was released.

use crate::error::{AccountingError, require};

/// One release, as the accountant sees it. A value that cannot change; adjacency is add/remove of one record.
///
/// * [`Event::sampled_gaussian`]: Gaussian noise on a sum over a Poisson sample of the records. Each record is in
///   the sample with probability `rate` (the paper's q), on its own; the noise's standard deviation is
///   `noise_multiplier` (the paper's z) times the most that one record can move the sum.
/// * [`Event::gaussian`]: the same without sampling, rate 1.
/// * [`Event::not_private`]: something was released with no protection. Its ε is ∞, and so is that of every history
///   that holds it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event(Mechanism);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Mechanism {
    SampledGaussian { rate: f64, noise_multiplier: f64 },
    NotPrivate,
}

impl Event {
    /// The smallest and the largest noise multiplier that can be accounted for.
    pub const NOISE_MULTIPLIER_RANGE: (f64, f64) = (0.01, 1e6);
    /// The smallest sampling rate that can be accounted for; the largest is 1.
    pub const LEAST_RATE: f64 = 1e-12;

    pub fn sampled_gaussian(rate: f64, noise_multiplier: f64) -> Result<Self, AccountingError> {
        let (least, most) = Self::NOISE_MULTIPLIER_RANGE;
        let allowed = "above 0 and at most 1 (and at least 1e-12)";
        Ok(Self(Mechanism::SampledGaussian {
            rate: require("rate", rate, allowed, |q| (Self::LEAST_RATE..=1.0).contains(&q))?,
            noise_multiplier: require("noise_multiplier", noise_multiplier, "from 0.01 to 1e6", |z| {
                (least..=most).contains(&z)
            })?,
        }))
    }

    /// A Gaussian release of a sum over all records.
    pub fn gaussian(noise_multiplier: f64) -> Result<Self, AccountingError> {
        Self::sampled_gaussian(1.0, noise_multiplier)
    }

    pub fn not_private() -> Self {
        Self(Mechanism::NotPrivate)
    }

    pub fn is_private(&self) -> bool {
        self.0 != Mechanism::NotPrivate
    }

    /// Whether `other` costs at least as much: sampled at least as often, with at most as much noise.
    pub fn is_covered_by(&self, other: &Event) -> bool {
        !other.is_private()
            || (self.is_private()
                && self.rate() <= other.rate()
                && self.noise_multiplier() >= other.noise_multiplier())
    }

    pub fn rate(&self) -> f64 {
        match self.0 {
            Mechanism::SampledGaussian { rate, .. } => rate,
            Mechanism::NotPrivate => 1.0,
        }
    }

    /// Noise standard deviation over sensitivity; 0 for a release with no protection.
    pub fn noise_multiplier(&self) -> f64 {
        match self.0 {
            Mechanism::SampledGaussian { noise_multiplier, .. } => noise_multiplier,
            Mechanism::NotPrivate => 0.0,
        }
    }
}

/// Everything released so far: kinds of release, each with its count. Order does not matter to the cost.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    entries: Vec<(Event, u64)>,
}

impl History {
    pub fn new() -> Self {
        Self::default()
    }

    #[must_use]
    pub fn and(mut self, event: Event, count: u64) -> Self {
        self.add(event, count);
        self
    }

    pub fn add(&mut self, event: Event, count: u64) {
        if count == 0 {
            return;
        }
        match self.entries.iter_mut().find(|(kind, _)| *kind == event) {
            Some((_, n)) => *n = n.saturating_add(count),
            None => self.entries.push((event, count)),
        }
    }

    /// Adds everything of another history: two runs on the same records.
    pub fn append(&mut self, other: &History) {
        for (event, count) in &other.entries {
            self.add(*event, *count);
        }
    }

    pub fn entries(&self) -> &[(Event, u64)] {
        &self.entries
    }

    pub fn len(&self) -> u64 {
        self.entries.iter().fold(0, |sum, (_, n)| sum.saturating_add(*n))
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn is_private(&self) -> bool {
        self.entries.iter().all(|(event, _)| event.is_private())
    }

    /// Whether everything here is covered by `other`: each release by another one there that is at least as costly (a
    /// rate at least as high, noise at most as large). The cost of `other` is then at least as large.
    ///
    /// # Guarantee
    /// `true` only if every ε of `other` is one of this history too. Leaving releases out is post-processing; so is adding
    /// more noise, and so is replacing the release, with probability 1 − q′/q, by one made without the record, which
    /// turns the rate q into q′.
    pub fn is_within(&self, other: &History) -> bool {
        let mut left: Vec<(Event, u64)> = other.entries.clone();
        // Costlier events have fewer that cover them, so they choose first.
        let mut wanted = self.entries.clone();
        wanted.sort_by(|(a, _), (b, _)| b.rate().total_cmp(&a.rate()));
        wanted.into_iter().all(|(event, mut count)| {
            for (cover, available) in &mut left {
                if event.is_covered_by(cover) {
                    let used = count.min(*available);
                    (count, *available) = (count - used, *available - used);
                }
            }
            count == 0
        })
    }
}
