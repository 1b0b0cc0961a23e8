//! One node of a method, as a state machine.

use crate::message::{Inbox, Message};
use prdo_privacy::{Protection, Query, Released};

/// The state of one node. A round is: [`Node::query`], the gate's answer, [`Node::adapt`], an exchange of
/// messages, [`Node::mix`]; and a further exchange for as long as `mix` returns one more message. A round in which `adapt`
/// returns none ends there: nothing is sent, and nothing is mixed.
pub trait Node<P: Protection>: Send + Sync {
    fn query(&self) -> Query<'_, P>;

    /// Takes the answer and gives what is sent to every neighbour; `None` in a round without an exchange.
    fn adapt(&mut self, answer: Released<P>) -> Option<Message<P>>;

    /// Takes the neighbourhood's messages. `Some` asks for one more exchange in the same round.
    fn mix(&mut self, inbox: &Inbox<'_, P>) -> Option<Message<P>>;

    fn model(&self) -> &Released<P>;

    /// v, the direction of the last [`Node::adapt`]: what the paper's error moments speak of.
    fn direction(&self) -> &Released<P>;

    /// Every vector of the state between two rounds, in a fixed order, for checkpoints.
    fn vectors(&self) -> Vec<&Released<P>>;

    /// The same vectors, to be overwritten when `rounds` rounds are already done.
    fn restore(&mut self, rounds: u32) -> Vec<&mut Released<P>>;

    /// Why this node cannot go on: for methods whose code may fail, such as a program's. Asked before a query is answered
    /// and after a round.
    fn failure(&self) -> Option<String> {
        None
    }
}
