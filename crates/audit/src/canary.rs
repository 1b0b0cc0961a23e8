//! The adversary's model and records: every record pushes along one axis as hard as clipping lets it.
//!
//! A record *is* its axis. Its gradient at a round's point is longer than at the point before, both far beyond the
//! clipping norms, so gradient and difference clip in the same direction and the record moves the query by exactly its
//! sensitivity. The gradient is a pure function of the point; which value it has where is decided when the point becomes
//! public, as an adversary that follows the run may do.

use prdo_privacy::Model;
use std::sync::atomic::{AtomicU64, Ordering};

/// The axis of the canary, along which nobody else pushes.
pub const SIGNAL: usize = 0;
/// The axis of all other records: their number in a batch can be read off it.
pub const COUNT: usize = 1;
/// Axes along which nobody pushes: nothing but noise.
pub const SILENT: [usize; 2] = [2, 3];
pub const DIMENSION: usize = 4;

/// The record that is there or not.
pub const CANARY: u8 = SIGNAL as u8;
pub const OTHER: u8 = COUNT as u8;
/// A record whose gradient is not a number.
pub const BROKEN: u8 = u8::MAX;

/// The current round and its point, as they become known.
#[derive(Debug, Default)]
pub struct CurrentPoint {
    /// The first coordinate, as bits: it tells the point from the one before.
    first: AtomicU64,
    round: AtomicU64,
}

impl CurrentPoint {
    pub fn set(&self, round: u32, point: &[f64]) {
        self.first.store(point.first().map_or(0, |x| x.to_bits()), Ordering::Relaxed);
        self.round.store(u64::from(round), Ordering::Relaxed);
    }

    /// How long a gradient is at `x`, in units: longer at a round's point than at the one before.
    pub fn level(&self, x: &[f64]) -> f64 {
        let now = x.first().is_some_and(|x| x.to_bits() == self.first.load(Ordering::Relaxed));
        (self.round.load(Ordering::Relaxed) + u64::from(now)) as f64
    }
}

/// A norm beyond all at which gradients and differences are clipped: the longest of the rules, or whatever a movement allows.
pub fn beyond(longest_clip: f64) -> f64 {
    4.0 * longest_clip.max(1e10)
}

#[derive(Debug)]
pub struct CanaryModel {
    pub current: CurrentPoint,
    length: f64,
}

impl CanaryModel {
    /// A model whose gradients are longer than any of the clipping norms.
    pub fn new(longest_clip: f64) -> Self {
        Self { current: CurrentPoint::default(), length: beyond(longest_clip) }
    }
}

impl Model for CanaryModel {
    type Data = Vec<u8>;

    fn dimension(&self) -> usize {
        DIMENSION
    }

    fn loss(&self, _: &[f64], _: &Vec<u8>, _: usize) -> f64 {
        0.0
    }

    fn gradient(&self, x: &[f64], data: &Vec<u8>, record: usize, gradient: &mut [f64]) {
        let Some(axis) = data.get(record) else { return };
        match gradient.get_mut(usize::from(*axis)) {
            Some(g) => *g = self.length * self.current.level(x),
            None => gradient.fill(f64::NAN),
        }
    }
}
