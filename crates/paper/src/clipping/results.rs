//! What came out, as it stands in `results.json`.

use super::differences;
use super::fixed_points::FixedPoint;
use super::floor::Floor;
use super::minibatch::Minibatch;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Results {
    pub fixed_points: Vec<FixedPoint>,
    pub floors: Vec<Floor>,
    pub differences: Vec<differences::Point>,
    pub minibatch: Minibatch,
    pub quick: bool,
    pub seconds: f64,
}

impl Results {
    /// The largest distance of a run's end from its predicted fixed point.
    pub fn largest_error(&self) -> f64 {
        self.fixed_points.iter().map(FixedPoint::error).fold(0.0, f64::max)
    }
}
