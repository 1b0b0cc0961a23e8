//! A history sorted into what the integrals need: one Gaussian part and the sampled laws.

use crate::event::History;
use crate::law::{Direction, Law};

/// A history seen from one direction of adjacency.
///
/// Releases at rate 1 have Gaussian losses, and those add up to one: only the sum of count/σ² matters.
#[derive(Clone, Debug)]
pub(crate) struct Parts {
    /// Σ count/σ² over the releases at rate 1: the variance of their summed loss.
    pub gaussian: f64,
    pub laws: Vec<(Law, f64)>,
}

impl Parts {
    pub fn of(history: &History, direction: Direction) -> Self {
        let mut parts = Self { gaussian: 0.0, laws: Vec::new() };
        for (event, count) in history.entries() {
            let (rate, slope, count) = (event.rate(), 1.0 / event.noise_multiplier(), *count as f64);
            if rate == 1.0 {
                parts.gaussian += count * slope * slope;
            } else {
                parts.laws.push((Law { rate, slope, direction }, count));
            }
        }
        parts
    }

    pub fn count(&self) -> f64 {
        self.laws.iter().map(|(_, count)| count).sum()
    }
}
