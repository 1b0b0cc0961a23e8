//! Neighbours: reaching them, saying where one is, sending what they lack, judging what they send.

use super::{Action, Ended, KeptPayload, Machine, Millis, Note, Patience, PeerError, Phase, hash};
use crate::transport::Reason;
use crate::wire::{Expected, Frame, FrameKind, Hello, Mark};
use prdo_algorithm::Message;
use prdo_privacy::{DecodeError, Noised};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Link {
    Down,
    Dialling,
    /// Up since then, and whether a hello came.
    Up {
        since: Millis,
        greeted: bool,
    },
}

/// What a neighbour is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkState {
    NotReached,
    /// The link is up, and it has not said where it is.
    Connecting,
    /// Its message of this exchange is missing.
    WaitedFor,
    /// It has sent what it should have.
    InStep,
}

impl fmt::Display for LinkState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotReached => "not reached",
            Self::Connecting => "connecting",
            Self::WaitedFor => "waited for",
            Self::InStep => "in step",
        })
    }
}

#[derive(Debug)]
pub(super) struct Neighbour {
    expected: Expected,
    dials: bool,
    link: Link,
    attempts: u32,
    /// When to dial next, if the link is down and it is ours to dial.
    dial_at: Millis,
    question_at: Millis,
    questions: u32,
    /// Whether it has said hello to this process before: then it cannot know more of us than we do.
    known: bool,
    /// The latest exchange of ours that it says it has.
    confirmed: Option<u64>,
    /// Whether all its rounds are done.
    pub(super) finished: bool,
    /// The latest exchange that was sent on this link.
    sent: Option<u64>,
    /// What was mixed last.
    pub(super) mixed: Option<Mark>,
    /// What has come for the current exchange and those after it.
    pub(super) arrived: BTreeMap<u64, (Mark, Message<Noised>)>,
}

impl Neighbour {
    pub(super) fn new(expected: Expected, mixed: Option<Mark>) -> Self {
        Self {
            dials: expected.me < expected.peer,
            expected,
            link: Link::Down,
            attempts: 0,
            dial_at: 0,
            question_at: Millis::MAX,
            questions: 0,
            known: false,
            confirmed: None,
            finished: false,
            sent: None,
            mixed,
            arrived: BTreeMap::new(),
        }
    }

    pub(super) fn peer(&self) -> usize {
        self.expected.peer as usize
    }

    /// Takes an exchange's message out, to be mixed.
    pub(super) fn take(&mut self, exchange: u64) -> Option<Message<Noised>> {
        let (mark, message) = self.arrived.remove(&exchange)?;
        self.mixed = Some(mark);
        Some(message)
    }

    /// The latest exchange of its up to which everything is here.
    fn received(&self) -> Option<Mark> {
        let mut last = self.mixed;
        for (mark, _) in self.arrived.values() {
            if mark.exchange != last.map_or(0, |m| m.exchange + 1) {
                break;
            }
            last = Some(*mark);
        }
        last
    }

    /// A hello that came while this node was busy is not late.
    pub(super) fn excuse_delay(&mut self, now: Millis) {
        if let Link::Up { since, greeted: false } = &mut self.link {
            *since = now;
        }
    }

    pub(super) fn is_known(&self) -> bool {
        self.known
    }

    /// What this neighbour is sent of a kept payload: nothing where it mixes none of it.
    fn part_of(&self, kept: &KeptPayload) -> (Mark, Arc<[u8]>) {
        match self.expected.goes_in(kept.mark.exchange) {
            true => (kept.mark, Arc::clone(&kept.payload)),
            false => (Mark { exchange: kept.mark.exchange, hash: hash(&[]) }, Arc::new([])),
        }
    }

    fn is_up(&self) -> bool {
        matches!(self.link, Link::Up { .. })
    }

    fn is_greeted(&self) -> bool {
        matches!(self.link, Link::Up { greeted: true, .. })
    }

    pub(super) fn next_deadline(&self, patience: &Patience) -> Option<Millis> {
        match self.link {
            Link::Down if self.dials => Some(self.dial_at),
            Link::Up { since, greeted: false } => Some(since.saturating_add(patience.greeting)),
            Link::Up { .. } => Some(self.question_at),
            _ => None,
        }
    }

    pub(super) fn state(&self, exchange: u64, exchanging: bool) -> LinkState {
        match self.link {
            Link::Down | Link::Dialling => LinkState::NotReached,
            Link::Up { greeted: false, .. } => LinkState::Connecting,
            Link::Up { .. } if exchanging && !self.arrived.contains_key(&exchange) => LinkState::WaitedFor,
            Link::Up { .. } => LinkState::InStep,
        }
    }
}

impl Machine {
    fn find(&self, peer: usize) -> Option<usize> {
        self.neighbours.iter().position(|n| n.peer() == peer)
    }

    pub(super) fn dial_if_due(&mut self, at: usize) {
        let Some(n) = self.neighbours.get_mut(at) else { return };
        if n.dials && n.link == Link::Down && n.dial_at <= self.now {
            n.link = Link::Dialling;
            let peer = n.peer();
            self.act(Action::Dial(peer));
        }
    }

    pub(super) fn up(&mut self, peer: usize) {
        let Some(at) = self.find(peer) else { return };
        let (now, question) = (self.now, self.patience.question);
        let n = &mut self.neighbours[at];
        n.link = Link::Up { since: now, greeted: false };
        (n.sent, n.questions, n.question_at) = (None, 0, now.saturating_add(question));
        self.greet(at, false);
    }

    pub(super) fn down(&mut self, peer: usize, why: Reason) {
        let Some(at) = self.find(peer) else { return };
        let (now, patience, me) = (self.now, self.patience, self.place.me);
        let n = &mut self.neighbours[at];
        n.link = Link::Down;
        let wait = back_off(&patience, n.attempts, u64::from(me) << 32 | peer as u64);
        n.attempts = n.attempts.saturating_add(1);
        n.dial_at = now.saturating_add(wait);
        let retry = n.dials.then_some(wait);
        let peer = self.name(peer);
        self.note(Note::Lost { peer, why, retry });
    }

    /// Says where this node is.
    pub(super) fn greet(&mut self, at: usize, question: bool) {
        let Some(n) = self.neighbours.get(at).filter(|n| n.is_up()) else { return };
        let sent = self.outgoing.back().map(|kept| n.part_of(kept).0);
        let hello = Hello { sent, received: n.received(), question };
        let (to, frame) = (n.peer(), Frame::hello(&n.expected, self.exchange, &hello));
        self.act(Action::Send { to, frame });
    }

    /// Sends what the neighbour lacks of what was kept; what this link has already carried only `again`.
    pub(super) fn send_lacking(&mut self, at: usize, again: bool) {
        let Some(n) = self.neighbours.get(at).filter(|n| n.is_greeted()) else { return };
        let (to, confirmed, sent, known) = (n.peer(), n.confirmed, n.sent, n.expected.clone());
        let lacks = |e: u64| confirmed.is_none_or(|c| e > c) && (again || sent.is_none_or(|s| e > s));
        let frames: Vec<_> = self
            .outgoing
            .iter()
            .filter(|kept| lacks(kept.mark.exchange))
            .map(|kept| {
                let (mark, payload) = n.part_of(kept);
                (mark.exchange, Frame::stored(&known, mark, payload))
            })
            .collect();
        for (exchange, frame) in frames {
            if exchange < self.exchange || again {
                let peer = self.name(to);
                self.note(Note::Resent { peer, exchange });
            }
            self.act(Action::Send { to, frame });
            let n = &mut self.neighbours[at];
            n.sent = n.sent.max(Some(exchange));
        }
    }

    pub(super) fn frame(&mut self, peer: usize, frame: &Frame) {
        let Some(at) = self.find(peer) else { return };
        match frame.header.kind {
            FrameKind::Hello => match Hello::decode(&frame.payload) {
                Ok(hello) => self.hello(at, frame.header.exchange, &hello),
                Err(error) => self.refuse(at, &error.to_string()),
            },
            FrameKind::Vector => self.vector(at, frame),
            FrameKind::Refusal => {
                let (peer, why) = (self.name(peer), clean(&frame.payload));
                self.note(Note::RefusedBy { peer, why });
            }
        }
    }

    /// A neighbour says where it is. What it says of this node is compared with what this node kept.
    fn hello(&mut self, at: usize, exchange: u64, hello: &Hello) {
        let exchanges = self.place.all_exchanges();
        if [hello.sent, hello.received].into_iter().flatten().any(|mark| mark.exchange >= exchanges) {
            return self.refuse(at, &format!("you speak of an exchange beyond the run's {exchanges}"));
        }
        if !self.agrees_about_us(at, hello.received) || !self.agrees_about_itself(at, hello.sent) {
            return;
        }
        let n = &mut self.neighbours[at];
        n.known = true;
        n.confirmed = hello.received.map(|mark| mark.exchange);
        // It says so after its last state was kept: it will never need this node again.
        n.finished = n.finished || exchange == self.place.all_exchanges();
        if let Link::Up { since, greeted: false } = n.link {
            n.link = Link::Up { since, greeted: true };
            n.attempts = 0;
            let peer = self.name(self.neighbours[at].peer());
            self.note(Note::Connected { peer });
        }
        if hello.question {
            self.greet(at, false);
        }
        self.send_lacking(at, hello.question);
        self.ask_if_met();
        self.end_if_confirmed();
    }

    /// Whether what the neighbour has of this node is what this node sent. If not, and it is the first time that this
    /// process hears of it, this node's own memory is at fault and it stops; later it can only be the neighbour's.
    fn agrees_about_us(&mut self, at: usize, received: Option<Mark>) -> bool {
        let n = &self.neighbours[at];
        let (peer, known) = (self.name(n.peer()), n.known);
        let next = received.map_or(0, |mark| mark.exchange.saturating_add(1));
        let oldest = self.outgoing.front().map(|kept| kept.mark.exchange);
        let newest = self.outgoing.back().map(|kept| kept.mark.exchange);
        let beyond = received.filter(|mark| newest.is_none_or(|newest| mark.exchange > newest));
        let kept = received.and_then(|r| self.outgoing.iter().find(|kept| kept.mark.exchange == r.exchange));
        let kept = kept.map(|kept| n.part_of(kept).0);
        let other = received.zip(kept).filter(|(theirs, kept)| kept != theirs);
        let error = match (beyond, other) {
            (Some(mark), _) => {
                let ours = newest.map_or_else(|| "nothing".to_string(), |e| format!("exchange {e}"));
                PeerError::RolledBack { peer, theirs: mark.exchange, ours }
            }
            (_, Some((theirs, kept))) => {
                let (exchange, ours) = (theirs.exchange, kept.hash);
                PeerError::Forked { peer, exchange, theirs: theirs.hash, ours }
            }
            _ if oldest.is_some_and(|oldest| next < oldest) => {
                self.refuse(at, &format!(
                    "you have our exchanges up to {next} (not included) but we can send again from {} on only: your \
                     folder was restored from an older copy, or our copies of those before are damaged",
                    oldest.unwrap_or(0)
                ));
                return false;
            }
            _ => return true,
        };
        match known {
            true => self.refuse(at, &format!("you speak of something we never sent: {error}")),
            false => self.end(Err(error)),
        }
        false
    }

    /// Whether the neighbour still knows what it sent to this node.
    fn agrees_about_itself(&mut self, at: usize, sent: Option<Mark>) -> bool {
        let n = &self.neighbours[at];
        let latest = n.arrived.values().next_back().map(|(mark, _)| *mark).or(n.mixed);
        let same = |mark: &Mark| sent.is_none_or(|s| s.exchange != mark.exchange || s == *mark);
        let why = match latest {
            Some(mark) if sent.is_none_or(|s| s.exchange < mark.exchange) => format!(
                "we have your exchange {}, but you say that you sent nothing after {}: your folder or ledger was restored \
                 from an older copy; restore the newest",
                mark.exchange,
                sent.map_or_else(|| "the start".to_string(), |s| s.exchange.to_string())
            ),
            _ if n.arrived.values().map(|(mark, _)| mark).chain(&n.mixed).all(same) => return true,
            _ => {
                "you sent us other bytes for the same exchange before: your folder was copied and used twice"
                    .into()
            }
        };
        self.refuse(at, &why);
        false
    }

    fn vector(&mut self, at: usize, frame: &Frame) {
        let mark = Mark { exchange: frame.header.exchange, hash: frame.header.hash };
        let n = &self.neighbours[at];
        let before = n.arrived.get(&mark.exchange).map(|(mark, _)| *mark);
        let before = before.or(n.mixed.filter(|mixed| mixed.exchange == mark.exchange));
        if let Some(before) = before {
            if before != mark {
                self.refuse(at, &format!("exchange {} a second time, with other bytes", mark.exchange));
            }
            return;
        }
        if n.mixed.is_some_and(|mixed| mark.exchange < mixed.exchange) || mark.exchange < self.exchange {
            return;
        }
        let ahead = self.exchange + u64::from(self.place.exchanges.per_round);
        if mark.exchange > ahead {
            self.refuse(at, &format!("exchange {} while we are at {}", mark.exchange, self.exchange));
            return;
        }
        match self.message(at, frame) {
            Err(error) => self.refuse(at, &format!("exchange {}: {error}", mark.exchange)),
            Ok(message) => {
                let (now, question) = (self.now, self.patience.question);
                let n = &mut self.neighbours[at];
                n.arrived.insert(mark.exchange, (mark, message));
                (n.questions, n.question_at) = (0, now.saturating_add(question));
                if self.phase == Phase::Exchanging {
                    self.mix_if_complete();
                }
            }
        }
    }

    fn message(&self, at: usize, frame: &Frame) -> Result<Message<Noised>, DecodeError> {
        let shape = self.place.exchanges.shape_of(frame.header.exchange, self.place.rounds);
        match self.neighbours[at].expected.comes_in(frame.header.round) {
            true => Message::from_wire(&frame.payload, self.place.dimension, &shape),
            false => Ok(Message::nothing()),
        }
    }

    /// Tells a neighbour why, takes its link down, and lets it wait before the next attempt.
    fn refuse(&mut self, at: usize, why: &str) {
        let most = self.patience.dial_most;
        let n = &mut self.neighbours[at];
        let (to, frame) = (n.peer(), Frame::refusal(&n.expected, self.exchange, why));
        let was_up = n.is_up();
        n.link = Link::Down;
        n.attempts = n.attempts.saturating_add(1);
        n.dial_at = self.now.saturating_add(most);
        let peer = self.name(to);
        self.note(Note::Refused { peer, why: why.to_string() });
        if was_up {
            self.act(Action::Send { to, frame });
            self.act(Action::HangUp(to, why.to_string()));
        }
    }

    /// What is due by the clock: dialling, giving up on a greeting, asking, saying whom it waits for, stopping.
    pub(super) fn check_deadlines(&mut self) {
        for at in 0..self.neighbours.len() {
            self.dial_if_due(at);
            self.ask_if_due(at);
        }
        let since = self.now.saturating_sub(self.idle_since);
        match self.phase {
            Phase::Lingering if since >= self.patience.linger => {
                let unconfirmed = self.unconfirmed();
                self.end(Ok(Ended::Finished { unconfirmed }));
            }
            Phase::Meeting if since >= self.patience.give_up && self.outgoing.is_empty() => {
                let (peers, seconds) = (self.missing(), since / 1000);
                self.end(Err(PeerError::NotMet { peers, seconds }));
            }
            Phase::Meeting | Phase::Exchanging if since >= self.patience.give_up => {
                let (peers, seconds) = (self.missing(), since / 1000);
                self.end(Err(PeerError::GaveUp { peers, seconds }));
            }
            Phase::Meeting | Phase::Exchanging if self.now >= self.say_at => {
                self.say_at = self.now.saturating_add(since.max(self.patience.say_after));
                let peers = self.missing();
                self.note(Note::Waiting { peers, since });
            }
            _ if self.now >= self.say_at => self.say_at = self.now.saturating_add(self.patience.say_after),
            _ => {}
        }
    }

    fn ask_if_due(&mut self, at: usize) {
        let (now, patience) = (self.now, self.patience);
        let Some(n) = self.neighbours.get_mut(at) else { return };
        match n.link {
            Link::Up { since, greeted: false } if now.saturating_sub(since) >= patience.greeting => {
                let peer = n.peer();
                self.act(Action::HangUp(peer, "no hello".into()));
                self.down(peer, "it did not say hello".into());
            }
            Link::Up { .. } if now >= n.question_at => {
                n.questions = n.questions.saturating_add(1);
                let wait = patience.question.saturating_mul(1 << n.questions.min(6));
                n.question_at = now.saturating_add(wait);
                let lacks = !n.arrived.contains_key(&self.exchange);
                let waits = match self.phase {
                    Phase::Exchanging => lacks,
                    Phase::Lingering => !n.finished,
                    _ => false,
                };
                if waits {
                    self.greet(at, true);
                }
            }
            _ => {}
        }
    }

    /// Neighbours whose message of the current exchange, or first hello, is not here.
    fn missing(&self) -> Vec<String> {
        let meeting = self.phase == Phase::Meeting;
        let lacks = |n: &&Neighbour| if meeting { !n.known } else { !n.arrived.contains_key(&self.exchange) };
        self.neighbours.iter().filter(lacks).map(|n| self.name(n.peer())).collect()
    }
}

/// Doubling waits, spread by a fixed amount for each pair so that many nodes do not call at once.
fn back_off(patience: &Patience, attempts: u32, pair: u64) -> Millis {
    let wait = patience.dial_first.saturating_mul(1 << attempts.min(20)).min(patience.dial_most);
    let spread = pair.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(u64::from(attempts)) >> 48;
    wait / 2 + wait.saturating_mul(spread) / (2 << 16) + 1
}

/// A neighbour's words, without anything that could disturb a terminal.
fn clean(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
