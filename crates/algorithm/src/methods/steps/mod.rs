//! How a node steps along its direction and mixes with its neighbours. To add one: its file here.

mod compressed;
mod diffusion;
mod exchanges;
mod gossip;
mod local;
mod polynomial;
mod push;
mod tracking;

pub use compressed::{BITS, KEEP, MEMORY, MIXED, WIRE, Wire};
pub use diffusion::Diffusion;
pub use exchanges::{EXCHANGES, Mixer, POLYNOMIAL, PolynomialKind, polynomial};
pub use gossip::{Gossip, ManyGossip, OMEGA};
pub use local::LOCAL_STEPS;
pub use polynomial::{Ends, Polynomial};
pub use push::Push;
pub use tracking::{SplitTracking, Tracking};

use super::{Exchanges, Parameter, Settings, SettingsError};
use crate::graph::Needs;
use crate::message::{Inbox, Message};
use prdo_privacy::{Protection, Released, Start};

/// A network step, one half of a method; the other is a [`Direction`](super::Direction).
pub trait NetworkStep: Send + Sync + 'static {
    /// What it needs of the network.
    const NEEDS: Needs = Needs::Symmetric;
    /// Whether it is exact for steps of one size only.
    const CONSTANT_STEP: bool = false;
    /// What it reads of the settings.
    const PARAMETERS: &'static [Parameter];

    type State<P: Protection>: StepState<P>;

    fn start<P: Protection>(x0: &Start, settings: &Settings) -> Self::State<P>;

    /// How many messages it sends, and how they look.
    fn exchanges(_settings: &Settings) -> Exchanges {
        Exchanges::ONE
    }

    /// Whether what it reads fits together, and the network where that is known.
    fn check(_settings: &Settings) -> Result<(), SettingsError> {
        Ok(())
    }
}

/// A node's side of a network step, between two rounds. Rounds t count from 0.
pub trait StepState<P: Protection>: Send + Sync {
    /// Whether it needs the direction of the round before, which then belongs in checkpoints.
    fn needs_last_direction(&self) -> bool {
        false
    }

    /// x, the node's model.
    fn x(&self) -> &Released<P>;

    /// The direction of the round before, just before it is replaced.
    fn leave(&mut self, _v: &Released<P>) {}

    /// Steps along −v in round t, and gives what is sent to every neighbour; `None` if nothing is sent in this round.
    fn adapt(&mut self, t: u32, v: &Released<P>) -> Option<Message<P>>;

    /// Takes the neighbourhood's messages. `Some` asks for one more exchange in the same round.
    fn mix(&mut self, t: u32, v: &Released<P>, inbox: &Inbox<'_, P>) -> Option<Message<P>>;

    /// Every vector of the state between two rounds, x first.
    fn vectors(&self) -> Vec<&Released<P>>;

    /// The same vectors, to be overwritten.
    fn restore(&mut self) -> Vec<&mut Released<P>>;
}

impl<P: Protection> StepState<P> for Box<dyn StepState<P>> {
    fn needs_last_direction(&self) -> bool {
        (**self).needs_last_direction()
    }

    fn x(&self) -> &Released<P> {
        (**self).x()
    }

    fn leave(&mut self, v: &Released<P>) {
        (**self).leave(v);
    }

    fn adapt(&mut self, t: u32, v: &Released<P>) -> Option<Message<P>> {
        (**self).adapt(t, v)
    }

    fn mix(&mut self, t: u32, v: &Released<P>, inbox: &Inbox<'_, P>) -> Option<Message<P>> {
        (**self).mix(t, v, inbox)
    }

    fn vectors(&self) -> Vec<&Released<P>> {
        (**self).vectors()
    }

    fn restore(&mut self) -> Vec<&mut Released<P>> {
        (**self).restore()
    }
}
