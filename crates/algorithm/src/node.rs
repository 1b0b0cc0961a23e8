//! One node of a method, as a state machine.

use crate::message::{Inbox, Message};
use prdo_privacy::{Protection, Query, Released};
use std::error::Error;
use std::fmt;
use std::sync::Arc;

/// The state of one node. A round is: [`Node::query`], the gate's answer, [`Node::adapt`], an exchange of
/// messages, [`Node::mix`]; and a further exchange for as long as `mix` returns one more message. A round in which `adapt`
/// returns none ends there: nothing is sent, and nothing is mixed.
pub trait Node<P: Protection>: Send + Sync {
    /// What this round asks. Of a node that has a [`Node::failure`] it means nothing, and must not be answered.
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

    /// Why this node cannot go on: for methods whose code may fail, such as a program's. Whoever drives a node asks after
    /// each of the calls above, and after [`Node::query`] before it is answered.
    fn failure(&self) -> Option<Failure> {
        None
    }
}

/// Why a node of a program's own method cannot go on: the program's own error, for whoever knows its type.
#[derive(Clone)]
pub struct Failure(Arc<dyn Error + Send + Sync>);

impl Failure {
    pub fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(error.into().into())
    }

    /// The error, if it is of this type.
    pub fn downcast_ref<E: Error + 'static>(&self) -> Option<&E> {
        self.0.downcast_ref()
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Failure({:?})", self.0)
    }
}

/// Of the same occasion.
impl PartialEq for Failure {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Error for Failure {}
