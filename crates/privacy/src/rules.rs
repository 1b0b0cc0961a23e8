//! How a node answers queries: what its gate must know, private or not.

use crate::clip::Clip;
use crate::ledger::Ledger;
use crate::sampling::{Batches, Sampling};

/// How a private node answers: Poisson sampling, clipping and noise are not optional.
#[derive(Debug)]
pub struct PrivateRules {
    pub batches: Batches,
    pub clip: Clip,
    /// z: noise standard deviation over sensitivity. Checked when the release is charged.
    pub noise_multiplier: f64,
    pub ledger: Ledger,
}

/// How a non-private node answers. Its answers are [`Exposed`](crate::Exposed).
#[derive(Clone, Debug)]
pub struct OpenRules {
    /// b₀ and b; ignored when every record is used.
    pub batches: Batches,
    pub sampling: Sampling,
    /// Clipping without noise, to see what clipping alone does.
    pub clip: Option<Clip>,
}
