//! What to expect of a run before it is trained: the paper's theorem with this run's numbers.
//!
//! A [`Case`] is what a network, a problem and a budget fix; a [`Choice`] is how α, γ and b₀ are chosen;
//! [`judge`] holds the two against the theorem. [`best`] looks for better choices, [`other`] asks what another budget,
//! size or topology would change, [`vacuous`] whether the bound says anything at all. Constants of the problem come
//! from whoever asks or, on public or generated records only, from [`PublicRecords`].
//!
//! Here nothing is trained, and nothing is released.

mod answer;
pub mod best;
pub mod calibrate;
mod case;
mod choice;
mod clip;
mod judge;
mod levels;
mod measure;
pub mod other;
pub mod vacuous;

pub use answer::{Answer, Question, answer};
pub use best::Candidate;
pub use calibrate::Calibrator;
pub use case::{Account, Case, Noise, Problem, Strength};
pub use choice::{Choice, Multiplier, choose, largest_step};
pub use clip::difference_clip;
pub use judge::{Judged, NoiseFacts, judge};
pub use levels::{Level, Source};
pub use measure::{PublicRecords, Sampled};
pub use other::{Change, Family};
pub use vacuous::Verdict;

use prdo_accounting::AccountingError;
use prdo_theory::TheoryError;

/// A question that has no answer.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// A number outside its range.
    #[error(transparent)]
    Theory(#[from] TheoryError),
    /// A budget that cannot be kept, or a rate or noise out of range.
    #[error("privacy: {0}")]
    Accounting(#[from] AccountingError),
    /// A batch larger than what a node has.
    #[error("{field} = {value} is not allowed: it must be at most {slots}, the records of a node")]
    TooLarge {
        /// `batch` or `first_batch`.
        field: &'static str,
        /// What was given.
        value: u64,
        /// N.
        slots: u64,
    },
    /// A budget without N.
    #[error("records is missing: the noise for a budget depends on how many records a node has")]
    SlotsMissing,
}

#[cfg(test)]
mod tests;
