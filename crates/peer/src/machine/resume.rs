//! A machine from what was saved, or from nothing.

use super::{KeptPayload, Machine, Patience, PeerError, Phase, Place, hash};
use crate::home::{Outgoing, Saved, StateRecord};
use crate::machine::links::Neighbour;
use crate::wire::Mark;
use prdo_algorithm::{Message, Node};
use prdo_privacy::{DecodeError, Noised, Released};
use std::collections::VecDeque;

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ResumeError {
    #[error("cannot resume from the saved state: {0}")]
    Vector(#[from] DecodeError),
    #[error("cannot resume from the saved state: it has {0} bytes too many")]
    TooLong(usize),
    #[error("cannot resume from a saved state of round {round}: the run has {rounds}")]
    Round { round: u32, rounds: u32 },
    #[error(
        "what was kept to be sent (exchanges {found}) does not belong to the saved state of round {round}"
    )]
    Outgoing { found: String, round: u32 },
    #[error("the saved state of round {round} does not say what was received from {peer} last")]
    Received { peer: String, round: u32 },
    #[error(transparent)]
    Conflict(#[from] PeerError),
}

impl Machine {
    /// A node at its start, or where `saved` left it. `node` is at its public start.
    pub fn new(
        place: Place,
        node: Box<dyn Node<Noised>>,
        saved: &Saved,
        patience: Patience,
    ) -> Result<Self, ResumeError> {
        let round = saved.state.as_ref().map_or(0, |state| state.round);
        if round > place.rounds {
            return Err(ResumeError::Round { round, rounds: place.rounds });
        }
        let neighbours = neighbours(&place, round, saved.state.as_ref())?;
        let exchange = place.first_exchange(round);
        let mut machine = Self {
            patience,
            node,
            phase: Phase::New,
            round,
            exchange,
            own: None,
            outgoing: VecDeque::new(),
            neighbours,
            now: 0,
            idle_since: 0,
            say_at: 0,
            has_worked: false,
            effects: Vec::new(),
            place,
        };
        if let Some(state) = &saved.state {
            machine.load(state)?;
        }
        machine.keep(&saved.outgoing)?;
        Ok(machine)
    }

    fn load(&mut self, state: &StateRecord) -> Result<(), ResumeError> {
        let mut rest = state.vectors.as_slice();
        for vector in self.node.restore(state.round) {
            *vector = Released::load(&mut rest, vector.dimension())?;
        }
        if rest.is_empty() { Ok(()) } else { Err(ResumeError::TooLong(rest.len())) }
    }

    /// Takes over the payloads that were kept; the one of the current exchange is made again and compared.
    fn keep(&mut self, outgoing: &[Outgoing]) -> Result<(), ResumeError> {
        let (first, round) = (self.exchange, self.round);
        // One that is damaged parts those before it from the rest: neighbours need the last ones only.
        let follows = |pair: &[Outgoing]| pair[0].exchange.checked_add(1) == Some(pair[1].exchange);
        let gap = outgoing.windows(2).rposition(|pair| !follows(pair));
        let outgoing = outgoing.get(gap.map_or(0, |at| at + 1)..).unwrap_or_default();
        let last = outgoing.last().map_or(first, |kept| kept.exchange.saturating_add(1));
        let belongs = last >= first && last <= first + u64::from(self.place.exchanges.per_round);
        if !belongs || (outgoing.is_empty() && first > 0) {
            let found: Vec<_> = outgoing.iter().map(|kept| kept.exchange.to_string()).collect();
            return Err(ResumeError::Outgoing { found: found.join(", "), round });
        }
        for kept in outgoing {
            let mark = Mark { exchange: kept.exchange, hash: hash(&kept.payload) };
            self.outgoing.push_back(KeptPayload { mark, payload: kept.payload.clone() });
        }
        let Some(kept) = outgoing.iter().find(|kept| kept.exchange == first) else { return Ok(()) };
        let Some(answer) = &kept.answer else {
            return Err(ResumeError::Outgoing { found: format!("{first} without its answer"), round });
        };
        let mut rest = answer.as_slice();
        let answer = Released::load(&mut rest, self.place.dimension)?;
        let message = self.node.adapt(answer).unwrap_or_else(Message::nothing);
        if let Some(failure) = self.node.failure() {
            return Err(PeerError::Method { round, failure }.into());
        }
        let (made, kept) = (hash(&message.to_wire()), hash(&kept.payload));
        if made != kept {
            return Err(PeerError::Conflict { exchange: first, kept, made }.into());
        }
        self.own = Some(message);
        Ok(())
    }
}

/// The neighbours, with what was mixed of each last.
fn neighbours(place: &Place, round: u32, state: Option<&StateRecord>) -> Result<Vec<Neighbour>, ResumeError> {
    let last = place.first_exchange(round).checked_sub(1);
    let neighbour = |expected: &crate::wire::Expected| {
        let received = state.and_then(|s| s.received.iter().find(|(peer, _)| *peer == expected.peer));
        let mixed = received.map(|(_, mark)| *mark);
        if mixed.map(|mark| mark.exchange) != last {
            let peer = place.name(expected.peer as usize);
            return Err(ResumeError::Received { peer, round });
        }
        Ok(Neighbour::new(expected.clone(), mixed))
    };
    place.neighbours.iter().map(neighbour).collect()
}
