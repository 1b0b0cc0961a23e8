//! A machine from what was saved, or from nothing.

use super::{Kept, Machine, Patience, PeerError, Phase, Place, hash};
use crate::home::{Outgoing, Saved, StateRecord};
use crate::machine::links::Neighbour;
use crate::wire::Mark;
use prdo_algorithm::Node;
use prdo_privacy::{DecodeError, Noised, Released};
use std::collections::VecDeque;

/// A saved state that cannot be gone on from.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ResumeError {
    /// A vector of another size, or damaged.
    #[error("the saved state does not fit: {0}")]
    Vector(#[from] DecodeError),
    /// Bytes left over.
    #[error("the saved state has {0} bytes too many")]
    TooLong(usize),
    /// More rounds than the run has.
    #[error("the saved state is of round {round}, the run has {rounds}")]
    Round {
        /// Of the state.
        round: u32,
        /// Of the run.
        rounds: u32,
    },
    /// The payloads that were kept do not belong to the state.
    #[error(
        "what was kept to be sent (exchanges {found}) does not belong to the saved state of round {round}"
    )]
    Outgoing {
        /// What is there.
        found: String,
        /// The state's round.
        round: u32,
    },
    /// A received exchange that does not belong to the state.
    #[error("the saved state of round {round} does not say what was received from {peer} last")]
    Received {
        /// From whom.
        peer: String,
        /// The state's round.
        round: u32,
    },
    /// What was kept cannot be made again.
    #[error(transparent)]
    Conflict(#[from] PeerError),
}

impl Machine {
    /// A node at its start, or where `saved` left it. `node` is at its public start.
    ///
    /// # Errors
    /// What was saved does not fit this run or itself.
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
            still_since: 0,
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
            *vector = Released::load(&mut rest, self.place.dimension)?;
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
        let belongs = last >= first && last <= first + u64::from(self.place.exchanges_per_round);
        if !belongs || (outgoing.is_empty() && first > 0) {
            let found: Vec<_> = outgoing.iter().map(|kept| kept.exchange.to_string()).collect();
            return Err(ResumeError::Outgoing { found: found.join(", "), round });
        }
        for kept in outgoing {
            let mark = Mark { exchange: kept.exchange, hash: hash(&kept.payload) };
            self.outgoing.push_back(Kept { mark, payload: kept.payload.clone() });
        }
        let Some(kept) = outgoing.iter().find(|kept| kept.exchange == first) else { return Ok(()) };
        let Some(answer) = &kept.answer else {
            return Err(ResumeError::Outgoing { found: format!("{first} without its answer"), round });
        };
        let mut rest = answer.as_slice();
        let message = self.node.adapt(Released::load(&mut rest, self.place.dimension)?);
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
