//! How neighbours are reached. A link is mutually authenticated and encrypted; frames on it arrive whole and in order
//! or the link goes down.

use crate::wire::{Expected, Frame, WireError};
use std::fmt;
use std::time::Duration;
use zeroize::Zeroizing;

/// Links to neighbours, by member number. The implementation reads and checks frames on its own threads, holds at most
/// a few of them for each neighbour, and refuses whoever is not a neighbour.
pub trait Transport: Send {
    /// Tries to reach a neighbour; [`Incoming::Up`] or [`Incoming::Down`] follows. Of two neighbours the one with the
    /// lower number dials.
    fn dial(&mut self, peer: usize);

    /// Queues a frame for a neighbour whose link is up; dropped if it is not.
    fn send(&mut self, peer: usize, frame: Frame);

    /// Takes the link down; the reason is for the logs of both sides.
    fn hang_up(&mut self, peer: usize, reason: &str);

    /// What happened next, if anything does within `wait`.
    fn next(&mut self, wait: Duration) -> Option<Incoming>;

    /// Ends all links when everything queued is sent, or when `wait` is over.
    fn close(&mut self, wait: Duration);
}

/// A transport as a member opens it. Whoever runs a node names one implementation and nothing else of it.
pub trait Open: Transport + Sized {
    /// Where a node is reached. Agreements hold IP addresses with a port.
    type Address;
    type Error: std::error::Error;

    /// Listens, and waits to be told whom to dial.
    fn open(setup: LinkSetup<Self::Address>) -> Result<Self, Self::Error>;

    /// Where it listens.
    fn local_address(&self) -> Self::Address;
}

/// What links are made from.
pub struct LinkSetup<A> {
    pub member: usize,
    /// The 32 secret bytes of this node's ed25519 key.
    pub secret: Zeroizing<[u8; 32]>,
    /// Where to listen. Port 0 takes a free one, see [`Open::local_address`].
    pub listen: A,
    /// The neighbours. Nobody else may connect.
    pub neighbours: Vec<Neighbour<A>>,
    /// The address of an own relay, for neighbours that cannot reach each other directly. It sees who talks to whom
    /// and how much, not what. `None`: no relay.
    pub relay: Option<String>,
    /// Whether this side only looks: neighbours with another agreement are told so, and carry on.
    pub looks: bool,
}

#[derive(Clone, Debug)]
pub struct Neighbour<A> {
    pub member: usize,
    pub name: String,
    /// Its ed25519 public key.
    pub key: [u8; 32],
    /// Where it listens. Only used if this node dials it, that is, if its number is the higher one.
    pub addresses: Vec<A>,
    pub expected: Expected,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Incoming {
    /// The link to this neighbour is up: its identity is proven.
    Up { peer: usize },
    /// The link is down, or could not be made.
    Down { peer: usize, why: Reason },
    /// A whole frame that passed [`crate::wire::Expected::check`] and whose payload has the hash it says.
    Frame { peer: usize, frame: Frame },
    /// Somebody was turned away, or a neighbour sent something that is not a frame for us (its link went down).
    /// `who` is a member's name, or a public key that is not a member's.
    Refused { who: String, why: Reason },
}

/// Why there is no link, or why somebody was turned away. Whoever decides something by it looks at the variant: the
/// words are for people, and may be a neighbour's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// This node's own finding about what the other side sent, and what else is to be said (may be empty).
    Wire {
        error: WireError,
        aside: String,
    },
    Words(String),
}

impl Reason {
    /// Whether the two sides signed different texts.
    pub fn is_other_agreement(&self) -> bool {
        matches!(self, Self::Wire { error: WireError::Agreement { .. }, .. })
    }

    /// The same with something more to say.
    #[must_use]
    pub fn with(mut self, more: &str) -> Self {
        match &mut self {
            Self::Wire { aside: text, .. } | Self::Words(text) => text.push_str(more),
        }
        self
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wire { error, aside } => write!(f, "{error}{aside}"),
            Self::Words(words) => f.write_str(words),
        }
    }
}

impl From<WireError> for Reason {
    fn from(error: WireError) -> Self {
        Self::Wire { error, aside: String::new() }
    }
}

impl From<String> for Reason {
    fn from(words: String) -> Self {
        Self::Words(words)
    }
}

impl From<&str> for Reason {
    fn from(words: &str) -> Self {
        Self::Words(words.to_owned())
    }
}
