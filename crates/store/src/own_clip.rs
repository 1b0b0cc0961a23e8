//! What a method clips at where that is not the run file's two norms.

use prdo_algorithm::{Asks, Method, Settings};
use prdo_privacy::Clips;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OwnClip {
    /// Differences at κ times how far the node moved.
    Movement { kappa: f64 },
    /// Gradient and difference as one, at S_γ.
    Combined,
    /// Gradients of some rounds in scaled coordinates, at this norm.
    Scaled { clip: f64 },
}

/// Beyond this no method begins to ask something else.
const MOST_ROUNDS: u32 = 10_000;

impl OwnClip {
    /// That of a run of so many rounds.
    pub fn of(method: Method, settings: &Settings, rounds: u32) -> Option<Self> {
        let own = |asks| match asks {
            Asks::Recursive { gamma, clips: Clips::Movement { kappa } } if gamma < 1.0 => {
                Some(Self::Movement { kappa })
            }
            Asks::Recursive { gamma, clips: Clips::Combined } if gamma < 1.0 => Some(Self::Combined),
            Asks::Scaled { clip } => Some(Self::Scaled { clip }),
            Asks::Gradient | Asks::Recursive { .. } => None,
        };
        (0..rounds.min(MOST_ROUNDS)).find_map(|round| own(method.asks(settings, round)))
    }
}
