//! What comes out of the gate: an answer with its unprotected counts, or why there is none.

use crate::ledger::LedgerError;
use crate::protection::{Noised, Protection};
use crate::query::Query;
use crate::released::Released;
use crate::sampling::SamplingError;
use prdo_accounting::Target;

/// What the gate lets out in one round.
#[derive(Debug)]
pub struct Answer<P: Protection> {
    /// The answer to the query.
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

    /// The budget.
    fn budget(&self) -> Target;
}

/// Unprotected counts of one answer (or, added up, of many).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics {
    /// Records in the batch.
    pub records: u64,
    /// Per-record gradients evaluated.
    pub evaluations: u64,
    /// Records whose gradient was clipped.
    pub clipped_gradients: u64,
    /// Records whose gradient difference was clipped.
    pub clipped_differences: u64,
    /// Records for which a difference was evaluated.
    pub differences: u64,
    /// Records that contributed zero because a gradient was NaN or infinite.
    pub non_finite: u64,
}

impl Diagnostics {
    /// Adds another answer's counts.
    pub fn add(&mut self, other: &Self) {
        self.records += other.records;
        self.evaluations += other.evaluations;
        self.clipped_gradients += other.clipped_gradients;
        self.clipped_differences += other.clipped_differences;
        self.differences += other.differences;
        self.non_finite += other.non_finite;
    }
}

/// A query that was not answered. Nothing was released.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum GateError {
    /// The ledger refused the charge.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// A batch size that does not fit the node.
    #[error(transparent)]
    Sampling(#[from] SamplingError),
    /// Records that the model cannot read.
    #[error("{0}")]
    Records(String),
    /// A query whose weights are not numbers between 0 and 1.
    #[error("the query's weights {gradient} and {difference} are not allowed: they must lie between 0 and 1")]
    Weights {
        /// Of the gradient.
        gradient: f64,
        /// Of the difference.
        difference: f64,
    },
    /// An engine whose coordinates are not the model's parameters.
    #[error("the model's engine does not give every parameter a coordinate of its own")]
    Places,
    /// A clipping norm that single precision cannot do.
    #[error("clip.{field} = {value} is not allowed for a network: it must be from 1e-10 to 1e10")]
    SingleClip {
        /// `gradient` or `difference`.
        field: &'static str,
        /// What was given.
        value: f64,
    },
    /// A checkpoint that would take back what has been spent.
    #[error(
        "a checkpoint of {rounds} rounds with {charges} charges cannot follow {answered} rounds with {spent} charges"
    )]
    Rewind {
        /// Rounds of the checkpoint.
        rounds: u32,
        /// Charges of the checkpoint.
        charges: u64,
        /// Rounds already answered.
        answered: u64,
        /// Charges already made.
        spent: u64,
    },
    /// The model and the query's points have different sizes.
    #[error("the query's points have {query} values but the model has {model} parameters")]
    Dimension {
        /// Of the query.
        query: usize,
        /// Of the model.
        model: usize,
    },
    /// This round, or a later one, was answered already.
    #[error("round {round} was answered already; the next one is {next}")]
    RoundGoneBy {
        /// The round asked for.
        round: u32,
        /// The earliest that can be.
        next: u64,
    },
    /// A model that could not compute what was asked of it.
    #[error("the model failed: {0}")]
    Model(String),
    /// An exact sum without a clip: the non-private average itself is not finite any more.
    #[error("the gradients of round {round} are not finite: the step size is too large for this problem")]
    Diverged {
        /// The round.
        round: u32,
    },
}
