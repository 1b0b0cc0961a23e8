//! The two kinds of released value: protected by noise, or exposed.

use crate::answer::{Answer, GateError};
use crate::gate::{Gate, OpenRules, PrivateRules};
use crate::model::Model;
use crate::query::Query;
use prdo_accounting::History;

mod sealed {
    use super::{Answer, Gate, GateError, History, Model, Query};

    /// What only the gate may call: nobody outside this crate can name this trait.
    pub trait Sealed: Sized {
        /// Answers a query under the kind's rules.
        fn answer<M: Model>(
            gate: &mut Gate<M, Self>,
            round: u32,
            query: &Query<'_, Self>,
        ) -> Result<Answer<Self>, GateError>
        where
            Self: super::Protection;

        /// Puts a checkpoint's charges back.
        fn restore_charges(rules: &mut Self::Rules, history: &History)
        where
            Self: super::Protection;
    }
}

pub(crate) use sealed::Sealed;

/// How a value left the gate. Sealed: [`Noised`] and [`Exposed`] are all there is.
pub trait Protection: sealed::Sealed + Copy + Send + Sync + std::fmt::Debug + 'static {
    /// What the gate of such a node must know.
    type Rules: Send + Sync;

    /// The name in reports and checkpoints.
    const NAME: &'static str;

    /// The tag in saved vectors, so that an exposed one is not loaded as a noised one by mistake.
    #[doc(hidden)]
    const TAG: u8;

    /// ε spent so far under these rules; `None` where nothing is protected (ε = ∞).
    fn epsilon_spent(rules: &Self::Rules) -> Option<f64>;

    /// Whether contributions are clipped under these rules.
    fn clips(rules: &Self::Rules) -> bool;

    /// What has been charged so far; `None` where nothing is charged.
    fn charged(rules: &Self::Rules) -> Option<History>;
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

    fn epsilon_spent(rules: &PrivateRules) -> Option<f64> {
        Some(rules.ledger.spent())
    }

    fn clips(_: &PrivateRules) -> bool {
        true
    }

    fn charged(rules: &PrivateRules) -> Option<History> {
        Some(rules.ledger.history().clone())
    }
}

impl Sealed for Noised {
    fn answer<M: Model>(
        gate: &mut Gate<M, Self>,
        round: u32,
        query: &Query<'_, Self>,
    ) -> Result<Answer<Self>, GateError> {
        gate.answer_noised(round, query)
    }

    fn restore_charges(rules: &mut PrivateRules, history: &History) {
        rules.ledger.restore(history);
    }
}

impl Protection for Exposed {
    type Rules = OpenRules;
    const NAME: &'static str = "exposed";
    const TAG: u8 = b'E';

    fn epsilon_spent(_: &OpenRules) -> Option<f64> {
        None
    }

    fn clips(rules: &OpenRules) -> bool {
        rules.clip.is_some()
    }

    fn charged(_: &OpenRules) -> Option<History> {
        None
    }
}

impl Sealed for Exposed {
    fn answer<M: Model>(
        gate: &mut Gate<M, Self>,
        round: u32,
        query: &Query<'_, Self>,
    ) -> Result<Answer<Self>, GateError> {
        gate.answer_exposed(round, query)
    }

    fn restore_charges(_: &mut OpenRules, _: &History) {}
}
