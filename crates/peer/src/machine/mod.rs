//! The rounds of one node as a sans-I/O machine: events in, effects out.
//!
//! The machine owns the method's state and knows which exchange it works on, what its neighbours have and what they
//! lack. It never reads a clock (the time comes in), never touches a file or a socket, and never draws anything. Whoever
//! drives it carries out the effects **in order**, and keeps one promise: a `Keep…` is durable before a later `Send`
//! begins.
//!
//! ```text
//! Ask → Answered → adapt → KeepOutgoing → Send … Frame × neighbours → mix → KeepState → Ask → …
//! ```
//!
//! Rounds are synchronous: a missing message is waited for, never replaced, because Exact Diffusion does not survive a
//! substitute. A frame may be lost, late, doubled, out of order or from a liar; what is mixed is exactly one payload of
//! each neighbour for each exchange.
//!
//! # Guarantee
//! For one exchange this node sends one payload and no other, through any number of restarts: a payload is sent only
//! after it was kept, and one that was kept is sent again instead of being made anew.

mod links;
mod note;
mod place;
mod resume;
mod rounds;

pub use links::LinkState;
pub use note::{Ended, Note, PeerError};
pub use place::{Patience, Place, Row, kept_payloads};
pub use resume::ResumeError;

use crate::home::{Outgoing, StateRecord};
use crate::transport::Reason;
use crate::wire::{Frame, Hash, Mark};
use links::Neighbour;
use prdo_algorithm::{Message, Node};
use prdo_privacy::{Noised, Query, Released};
use std::collections::VecDeque;
use std::sync::Arc;

/// Milliseconds since some moment that does not matter.
pub type Millis = u64;

/// What happens to a node. Peers are given by their member numbers.
#[derive(Debug)]
pub enum Event {
    /// The machine may begin. Once, and first.
    Start,
    /// The gate answered what [`Effect::Ask`] asked.
    Answered(Released<Noised>),
    Up(usize),
    /// A link is down, or could not be made.
    Down(usize, Reason),
    /// A frame that was checked against what is expected of its sender.
    Frame(usize, Frame),
    Tick,
    Stop,
}

/// What is to be done, in order.
#[derive(Debug)]
pub enum Effect {
    /// Ask the gate [`Machine::query`] for this round, and report [`Event::Answered`].
    Ask {
        round: u32,
    },
    /// Keep the state between two rounds, durably before the next `Send`.
    KeepState(StateRecord),
    /// Keep what is about to be sent, durably before the next `Send`.
    KeepOutgoing(Outgoing),
    Outside(Action),
    /// The machine is at its end and takes no more events.
    End(Result<Ended, PeerError>),
}

/// What is left to the network and the log. Peers are given by their member numbers.
#[derive(Debug)]
pub enum Action {
    Send { to: usize, frame: Frame },
    Dial(usize),
    HangUp(usize, String),
    Note(Note),
}

/// What the machine waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// For [`Event::Start`].
    New,
    /// For the first hello of every neighbour, before anything is released.
    Meeting,
    /// For the gate.
    Asking,
    /// For neighbours' messages.
    Exchanging,
    /// For neighbours to have this node's last message.
    Lingering,
    /// For nothing.
    Over,
}

/// A payload that was kept, to be sent again when asked for.
#[derive(Clone, Debug)]
struct KeptPayload {
    mark: Mark,
    payload: Arc<[u8]>,
}

pub struct Machine {
    place: Place,
    patience: Patience,
    node: Box<dyn Node<Noised>>,
    phase: Phase,
    /// Rounds done.
    round: u32,
    /// The exchange that is worked on.
    exchange: u64,
    /// This node's message of that exchange, once it is made.
    own: Option<Message<Noised>>,
    /// The payloads of the last exchanges, ascending.
    outgoing: VecDeque<KeptPayload>,
    neighbours: Vec<Neighbour>,
    now: Millis,
    /// Since when nothing has happened.
    idle_since: Millis,
    /// When to say again whom it waits for, and after how long then.
    say_at: Millis,
    /// The gate has worked since the last event, for nobody knows how long: patience begins with the next one.
    has_worked: bool,
    effects: Vec<Effect>,
}

impl Machine {
    /// Takes an event at a time and gives what is to be done about it.
    pub fn handle(&mut self, now: Millis, event: Event) -> Vec<Effect> {
        // A clock that jumps back is taken to stand still.
        self.now = self.now.max(now);
        if std::mem::take(&mut self.has_worked) {
            self.progress();
            self.neighbours.iter_mut().for_each(|n| n.excuse_delay(self.now));
        }
        if self.phase != Phase::Over {
            match event {
                Event::Start => self.start(),
                Event::Answered(answer) => self.answered(answer),
                Event::Up(peer) => self.up(peer),
                Event::Down(peer, why) => self.down(peer, why),
                Event::Frame(peer, frame) => self.frame(peer, &frame),
                Event::Tick => {}
                Event::Stop => self.end(Ok(Ended::Stopped { round: self.round })),
            }
            self.check_deadlines();
        }
        std::mem::take(&mut self.effects)
    }

    /// What the gate is to be asked, after [`Effect::Ask`].
    pub fn query(&self) -> Query<'_, Noised> {
        self.node.query()
    }

    pub fn round(&self) -> u32 {
        self.round
    }

    pub fn model(&self) -> &[f64] {
        self.node.model().as_slice()
    }

    /// Whether nothing of the run has been asked of the gate yet: it waits for its neighbours' first hello.
    pub fn is_meeting(&self) -> bool {
        matches!(self.phase, Phase::New | Phase::Meeting) && self.outgoing.is_empty()
    }

    pub fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }

    /// What each neighbour is doing: (member number, what).
    pub fn neighbours(&self) -> Vec<(usize, LinkState)> {
        self.neighbours
            .iter()
            .map(|n| (n.peer(), n.state(self.exchange, self.phase == Phase::Exchanging)))
            .collect()
    }

    /// When it wants an [`Event::Tick`] at the latest, unless something else happens before.
    pub fn wake_at(&self) -> Millis {
        let dials = self.neighbours.iter().filter_map(|n| n.next_deadline(&self.patience));
        dials.chain([self.say_at]).min().unwrap_or(self.now).max(self.now.saturating_add(1))
    }

    fn act(&mut self, action: Action) {
        self.effects.push(Effect::Outside(action));
    }

    fn note(&mut self, note: Note) {
        self.act(Action::Note(note));
    }

    fn end(&mut self, how: Result<Ended, PeerError>) {
        if self.phase != Phase::Over {
            self.phase = Phase::Over;
            self.effects.push(Effect::End(how));
        }
    }

    /// Something went on: patience begins anew.
    fn progress(&mut self) {
        self.idle_since = self.now;
        self.say_at = self.now.saturating_add(self.patience.say_after);
    }

    fn name(&self, peer: usize) -> String {
        self.place.name(peer)
    }
}

fn hash(payload: &[u8]) -> Hash {
    *blake3::hash(payload).as_bytes()
}
