//! The rounds: answer, adapt, keep, send, mix, keep.

use super::links::Neighbour;
use super::{Effect, Ended, KeptPayload, Machine, Note, PeerError, Phase, hash};
use crate::home::{Outgoing, StateRecord};
use crate::wire::Mark;
use prdo_algorithm::{Inbox, Message};
use prdo_privacy::{Noised, Released};
use std::sync::Arc;

impl Machine {
    pub(super) fn start(&mut self) {
        if self.phase != Phase::New {
            return;
        }
        self.progress();
        for at in 0..self.neighbours.len() {
            self.dial_if_due(at);
        }
        match &self.own {
            _ if self.round >= self.place.rounds => self.linger(),
            Some(_) => self.mix_if_complete(),
            // Nothing is drawn before all neighbours agree about what was sent so far: they are the only ones who notice that
            // folder and ledger were restored from an older copy together.
            None if self.patience.meet_first => {
                self.phase = Phase::Meeting;
                self.ask_if_met();
            }
            None => self.ask(),
        }
    }

    /// Begins when every neighbour has said hello.
    pub(super) fn ask_if_met(&mut self) {
        if self.phase == Phase::Meeting && self.neighbours.iter().all(Neighbour::is_known) {
            self.progress();
            self.ask();
        }
    }

    /// Ends the run if the node of a program's own method cannot go on.
    fn is_sound(&mut self) -> bool {
        let Some(failure) = self.node.failure() else { return true };
        self.end(Err(PeerError::Method { round: self.round, failure }));
        false
    }

    fn ask(&mut self) {
        // What cannot be asked is not charged either.
        self.node.query();
        if !self.is_sound() {
            return;
        }
        self.phase = Phase::Asking;
        self.effects.push(Effect::Ask { round: self.round });
    }

    pub(super) fn answered(&mut self, answer: Released<Noised>) {
        if self.phase != Phase::Asking {
            return self.end(Err(PeerError::Unasked));
        }
        self.has_worked = true;
        let mut kept = Vec::new();
        answer.save(&mut kept);
        let message = self.node.adapt(answer).unwrap_or_else(Message::nothing);
        if self.is_sound() {
            self.send_message(message, Some(kept));
        }
    }

    /// This node's message of the current exchange is made: it is kept (unless it was before) and sent.
    fn send_message(&mut self, message: Message<Noised>, answer: Option<Vec<u8>>) {
        let payload: Arc<[u8]> = message.to_wire().into();
        let mark = Mark { exchange: self.exchange, hash: hash(&payload) };
        match self.outgoing.iter().find(|kept| kept.mark.exchange == self.exchange) {
            Some(kept) if kept.mark != mark => {
                let (exchange, kept, made) = (self.exchange, kept.mark.hash, mark.hash);
                return self.end(Err(PeerError::Conflict { exchange, kept, made }));
            }
            Some(_) => {}
            None => {
                let outgoing = Outgoing { exchange: self.exchange, answer, payload: Arc::clone(&payload) };
                self.effects.push(Effect::KeepOutgoing(outgoing));
                self.outgoing.push_back(KeptPayload { mark, payload });
                while self.outgoing.len() > self.place.kept_payloads() {
                    self.outgoing.pop_front();
                }
            }
        }
        self.own = Some(message);
        self.progress();
        for at in 0..self.neighbours.len() {
            self.send_lacking(at, false);
        }
        self.mix_if_complete();
    }

    /// Mixes as soon as all of the exchange is here.
    pub(super) fn mix_if_complete(&mut self) {
        self.phase = Phase::Exchanging;
        while self.phase == Phase::Exchanging && self.own.is_some() {
            if !self.neighbours.iter().all(|n| n.arrived.contains_key(&self.exchange)) {
                return;
            }
            self.mix();
        }
    }

    fn mix(&mut self) {
        let Some(own) = self.own.take() else { return };
        let (exchange, me) = (self.exchange, self.place.me);
        let row = self.place.row(self.round);
        let weights: Vec<f64> = row.iter().map(|(_, w)| *w).collect();
        let arrived: Vec<_> = self.neighbours.iter_mut().map(|n| (n.peer(), n.take(exchange))).collect();
        let of = |member: u32| match member == me {
            true => Some(&own),
            false => {
                let from = arrived.iter().find(|(peer, _)| *peer == member as usize);
                from.and_then(|(_, message)| message.as_ref())
            }
        };
        let messages: Vec<_> = row.iter().filter_map(|(member, _)| of(*member)).collect();
        let next = match self.place.exchanges.is_silent(self.round) {
            true => None,
            false => self.node.mix(&Inbox::new(&weights, messages)),
        };
        if !self.is_sound() {
            return;
        }
        let finite = |message: &Message<Noised>| message.vectors().iter().all(Released::is_finite);
        if !self.node.model().is_finite() || !next.as_ref().is_none_or(finite) {
            let all = arrived.iter().filter_map(|(peer, message)| Some((*peer, message.as_ref()?)));
            let (from, largest) = largest(all.chain([(me as usize, &own)]));
            let from = self.name(from);
            return self.end(Err(PeerError::Diverged { round: self.round, largest, from }));
        }
        self.exchange += 1;
        self.progress();
        match next {
            Some(message) => self.send_message(message, None),
            None => self.end_of_round(),
        }
    }

    fn end_of_round(&mut self) {
        self.round += 1;
        let mut vectors = Vec::new();
        self.node.vectors().iter().for_each(|vector| vector.save(&mut vectors));
        let received = self.neighbours.iter().filter_map(|n| Some((n.peer() as u32, n.mixed?))).collect();
        self.effects.push(Effect::KeepState(StateRecord { round: self.round, vectors, received }));
        self.note(Note::Round { rounds: self.round });
        if self.round >= self.place.rounds { self.linger() } else { self.ask() }
    }

    /// All rounds are done: neighbours hear of it, and are served until they have the last message.
    fn linger(&mut self) {
        self.phase = Phase::Lingering;
        self.note(Note::Lingering);
        for at in 0..self.neighbours.len() {
            self.greet(at, false);
        }
        self.end_if_confirmed();
    }

    pub(super) fn end_if_confirmed(&mut self) {
        if self.phase == Phase::Lingering && self.unconfirmed().is_empty() {
            self.end(Ok(Ended::Finished { unconfirmed: Vec::new() }));
        }
    }

    /// Neighbours that are not known to have done all their rounds.
    pub(super) fn unconfirmed(&self) -> Vec<String> {
        self.neighbours.iter().filter(|n| !n.finished).map(|n| self.name(n.peer())).collect()
    }
}

/// Whose message has the largest value, and that value without its sign.
fn largest<'a>(messages: impl Iterator<Item = (usize, &'a Message<Noised>)>) -> (usize, f64) {
    let most = |message: &Message<Noised>| {
        let values = message.vectors().iter().flat_map(|vector| vector.as_slice());
        values.fold(0.0, |most: f64, value| most.max(value.abs()))
    };
    let sizes = messages.map(|(from, message)| (from, most(message)));
    sizes.max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or_default()
}
