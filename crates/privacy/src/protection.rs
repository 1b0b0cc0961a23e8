//! The two kinds of released value: protected by noise, or exposed.

use crate::gate::{Answer, Gate, GateError, OpenRules, PrivateRules};
use crate::model::{Data, Model};
use crate::query::Query;

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Noised {}
    impl Sealed for super::Exposed {}
}

/// How a value left the gate. Sealed: [`Noised`] and [`Exposed`] are all there is.
pub trait Protection: sealed::Sealed + Copy + Send + Sync + std::fmt::Debug + 'static {
    /// What the gate of such a node must know.
    type Rules: Send + Sync;

    /// The name in reports and checkpoints.
    const NAME: &'static str;

    /// The tag in saved vectors, so that an exposed one cannot be loaded as a noised one.
    #[doc(hidden)]
    const TAG: u8;

    /// Answers a query under these rules; called through [`Gate::answer`].
    #[doc(hidden)]
    fn answer<D: Data, M: Model<Data = D>>(
        gate: &mut Gate<D, Self>,
        model: &M,
        round: u32,
        query: &Query<'_, Self>,
    ) -> Result<Answer<Self>, GateError>;
}

/// Went through the Gaussian mechanism and was charged to the ledger (or never depended on a record).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Noised;

/// Computed from records without noise: ε = ∞. Cannot be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exposed;

impl Protection for Noised {
    type Rules = PrivateRules;
    const NAME: &'static str = "noised";
    const TAG: u8 = b'N';

    fn answer<D: Data, M: Model<Data = D>>(
        gate: &mut Gate<D, Self>,
        model: &M,
        round: u32,
        query: &Query<'_, Self>,
    ) -> Result<Answer<Self>, GateError> {
        gate.answer_noised(model, round, query)
    }
}

impl Protection for Exposed {
    type Rules = OpenRules;
    const NAME: &'static str = "exposed";
    const TAG: u8 = b'E';

    fn answer<D: Data, M: Model<Data = D>>(
        gate: &mut Gate<D, Self>,
        model: &M,
        round: u32,
        query: &Query<'_, Self>,
    ) -> Result<Answer<Self>, GateError> {
        gate.answer_exposed(model, round, query)
    }
}
