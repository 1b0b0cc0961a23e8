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
mod pairs;
mod planned_run;
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
pub use pairs::{Drift, PlannedPairs};
pub use planned_run::{PlannedRun, Uncovered, Unestimated, family, planned_run};
pub use vacuous::Verdict;

use prdo_accounting::AccountingError;
use prdo_theory::TheoryError;

#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    #[error(transparent)]
    Theory(#[from] TheoryError),
    #[error("privacy: {0}")]
    Accounting(#[from] AccountingError),
    #[error("{field} = {value} is not allowed: it must be at most {slots}, the records of a node")]
    TooLarge {
        /// `batch` or `first_batch`.
        field: &'static str,
        value: u64,
        slots: u64,
    },
    #[error("records is missing: the noise for a budget depends on how many records a node has")]
    SlotsMissing,
}

#[cfg(test)]
mod tests;
