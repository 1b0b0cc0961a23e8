//! The two protections of a released value: noised, or exposed.

use crate::clip::Clip;
use crate::rules::{OpenRules, PrivateRules};
use prdo_accounting::History;

mod sealed {
    use super::{Exposed, History, Noised, Protection};

    /// What is done differently under each protection. A case sees and gives values of its own protection alone, so no
    /// case of exposed values can make a noised one. The gate's answer is such a case (`gate`): declared here, it need
    /// not be known here.
    pub trait Cases {
        type Input<'a, P: Protection>
        where
            Self: 'a;
        type Output<P: Protection>;
        fn noised(input: Self::Input<'_, Noised>) -> Self::Output<Noised>;
        fn exposed(input: Self::Input<'_, Exposed>) -> Self::Output<Exposed>;
    }

    /// What only this crate may call: nobody outside it can name this trait.
    pub trait Sealed: Sized {
        fn case<C: Cases>(input: C::Input<'_, Self>) -> C::Output<Self>
        where
            Self: Protection;

        fn restore_charges(rules: &mut Self::Rules, history: &History)
        where
            Self: Protection;
    }
}

pub(crate) use sealed::{Cases, Sealed};

/// How a value left the gate. Sealed: [`Noised`] and [`Exposed`] are all there is.
pub trait Protection: Sealed + Copy + Send + Sync + std::fmt::Debug + 'static {
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

    /// At what they are clipped where that alone is done to them; `None` where they are protected or not clipped.
    fn open_clip(rules: &Self::Rules) -> Option<Clip>;

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

    fn open_clip(_: &PrivateRules) -> Option<Clip> {
        None
    }

    fn charged(rules: &PrivateRules) -> Option<History> {
        Some(rules.ledger.history().clone())
    }
}

impl Sealed for Noised {
    fn case<C: Cases>(input: C::Input<'_, Self>) -> C::Output<Self> {
        C::noised(input)
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

    fn open_clip(rules: &OpenRules) -> Option<Clip> {
        rules.clip
    }

    fn charged(_: &OpenRules) -> Option<History> {
        None
    }
}

impl Sealed for Exposed {
    fn case<C: Cases>(input: C::Input<'_, Self>) -> C::Output<Self> {
        C::exposed(input)
    }

    fn restore_charges(_: &mut OpenRules, _: &History) {}
}
