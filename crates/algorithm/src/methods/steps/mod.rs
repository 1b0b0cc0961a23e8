//! How a node steps along its direction and mixes with its neighbours. To add one: its file here.

mod diffusion;
mod gossip;
mod tracking;

pub use diffusion::Diffusion;
pub use gossip::{EXCHANGES, Gossip, ManyGossip, OMEGA};
pub use tracking::{SplitTracking, Tracking};

use super::{Parameter, Settings};
use crate::message::{Inbox, Message};
use prdo_privacy::{Protection, Released, Start};

/// A network step, one half of a method; the other is a [`Direction`](super::Direction).
pub trait NetworkStep: Send + Sync + 'static {
    /// What it reads of the settings.
    const PARAMETERS: &'static [Parameter];

    type State<P: Protection>: StepState<P>;

    fn start<P: Protection>(x0: &Start, settings: &Settings) -> Self::State<P>;

    /// How many exchanges of messages a round has, and how many model-sized vectors a message has.
    fn exchanges(_settings: &Settings) -> (u32, u32) {
        (1, 1)
    }
}

/// A node's side of a network step, between two rounds.
pub trait StepState<P: Protection>: Send + Sync {
    /// Whether it needs the direction of the round before, which then belongs in checkpoints.
    const NEEDS_LAST_DIRECTION: bool = false;

    /// x, the node's model.
    fn x(&self) -> &Released<P>;

    /// The direction of the round before, just before it is replaced.
    fn leave(&mut self, _v: &Released<P>) {}

    /// Steps along −v, and gives what is sent to every neighbour.
    fn adapt(&mut self, v: &Released<P>) -> Message<P>;

    /// Takes the neighbourhood's messages. `Some` asks for one more exchange in the same round.
    fn mix(&mut self, v: &Released<P>, inbox: &Inbox<'_, P>) -> Option<Message<P>>;

    /// Every vector of the state between two rounds, x first.
    fn vectors(&self) -> Vec<&Released<P>>;

    /// The same vectors, to be overwritten.
    fn restore(&mut self) -> Vec<&mut Released<P>>;
}
