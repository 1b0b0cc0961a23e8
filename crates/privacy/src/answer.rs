//! What comes out of the gate: an answer with its unprotected counts, or why there is none.

use crate::ledger::LedgerError;
use crate::pairs::SharesError;
use crate::protection::{Noised, Protection};
use crate::query::Query;
use crate::released::Released;
use crate::sampling::SamplingError;
use prdo_accounting::Target;

#[derive(Debug)]
pub struct Answer<P: Protection> {
    pub released: Released<P>,
    /// Counts that depend on the records and were *not* noised: for the node's own eyes and for simulations.
    pub diagnostics: Diagnostics,
}

/// A private node's gate, whatever its model: what a real peer needs of it. A gate is restored before it is boxed.
pub trait Answerer: Send {
    /// Answers the query of `round`; see [`Gate::answer`](crate::Gate::answer).
    ///
    /// # Errors
    /// As there. Nothing was released then.
    fn answer(&mut self, round: u32, query: &Query<'_, Noised>) -> Result<Answer<Noised>, GateError>;

    /// ε spent so far at the budget's δ: a proven upper bound.
    fn spent(&self) -> f64;

    fn budget(&self) -> Target;
}

/// Unprotected counts of one answer (or, added up, of many).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics {
    pub records: u64,
    pub evaluations: u64,
    pub clipped_gradients: u64,
    pub clipped_differences: u64,
    pub differences: u64,
    /// Records that contributed zero because a gradient was NaN or infinite.
    pub non_finite: u64,
}

impl Diagnostics {
    pub fn add(&mut self, other: &Self) {
        self.records += other.records;
        self.evaluations += other.evaluations;
        self.clipped_gradients += other.clipped_gradients;
        self.clipped_differences += other.clipped_differences;
        self.differences += other.differences;
        self.non_finite += other.non_finite;
    }
}

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum GateError {
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    #[error(transparent)]
    Sampling(#[from] SamplingError),
    #[error("{0}")]
    Records(String),
    #[error("the query's weights {gradient} and {difference} are not allowed: they must lie between 0 and 1")]
    Weights { gradient: f64, difference: f64 },
    #[error("a bound of {kappa} per movement is not allowed: it must be a number above 0")]
    Movement { kappa: f64 },
    #[error("gradients cannot be divided by the value {value} at {index}: it must be a number above 0")]
    Scale { index: usize, value: f64 },
    #[error("a clip of {clip} in scaled coordinates is not allowed: it must be from 1e-100 to 1e100")]
    ScaledClip { clip: f64 },
    #[error("the model's engine does not give every parameter a coordinate of its own")]
    Places,
    #[error("clip.{field} = {value} is not allowed for a network: it must be from 1e-10 to 1e10")]
    SingleClip {
        /// `gradient` or `difference`.
        field: &'static str,
        value: f64,
    },
    #[error(
        "a checkpoint of {rounds} rounds with {charges} charges cannot follow {answered} rounds with {spent} charges"
    )]
    Rewind { rounds: u32, charges: u64, answered: u64, spent: u64 },
    #[error(transparent)]
    Shares(#[from] SharesError),
    #[error(
        "noise of multiplier {declared} is charged, but own noise and shares are worth {worth} against the agreed coalitions"
    )]
    SharesWorth { declared: f64, worth: f64 },
    #[error("shares are those of node {shares}, the gate is that of node {gate}")]
    SharesOfAnother { shares: u32, gate: u32 },
    #[error(
        "differences clipped at a multiple of the movement have a sensitivity of their own at each node: shares would not cancel"
    )]
    SharesUnequal,
    #[error("the query's points have {query} values but the model has {model} parameters")]
    Dimension { query: usize, model: usize },
    #[error("round {round} was answered already; the next one is {next}")]
    RoundGoneBy { round: u32, next: u64 },
    #[error("the model failed: {0}")]
    Model(String),
    #[error(
        "training diverged at round {round} (the gradients are not finite): the step size is too large for this problem"
    )]
    Diverged { round: u32 },
}
