//! Where a node stands in a run, and how patient it is.

use super::Millis;
use crate::wire::Expected;
use prdo_algorithm::graph::{Mixing, Mixings};
use prdo_algorithm::{Exchanges, Neighbourhood};

/// Members and the weights of their messages.
pub type Row = Vec<(u32, f64)>;

/// What a node knows of its run: all of it from the agreement.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    pub me: u32,
    /// Its row of W in each turn of the network, its own weight among them, ascending by member number.
    pub rows: Vec<Row>,
    /// What is expected of each neighbour's frames, ascending by member number.
    pub neighbours: Vec<Expected>,
    pub names: Vec<String>,
    pub dimension: usize,
    pub rounds: u32,
    pub exchanges: Exchanges,
}

impl Place {
    /// Exchanges of the whole run.
    pub fn all_exchanges(&self) -> u64 {
        self.first_exchange(self.rounds)
    }

    pub(super) fn first_exchange(&self, round: u32) -> u64 {
        self.exchanges.before(round, self.rounds)
    }

    /// How many of its last payloads a node keeps: enough for a neighbour that restarts from its last durable state.
    pub fn kept_payloads(&self) -> usize {
        kept_payloads(&self.exchanges)
    }

    /// A node's row in each turn.
    pub fn rows(mixing: &Mixings, me: usize) -> Vec<Row> {
        let row = |w: &Mixing| w.row_entries(me).map(|(j, weight)| (j as u32, weight)).collect();
        mixing.turns().iter().map(row).collect()
    }

    /// The row of a round.
    pub fn row(&self, round: u32) -> &[(u32, f64)] {
        self.rows.get(round as usize % self.rows.len().max(1)).map_or(&[], Vec::as_slice)
    }

    /// Whose messages a node's method mixes in the first round, which is every round where methods remember them.
    pub fn neighbourhood(&self) -> Neighbourhood {
        Neighbourhood::new(self.me, self.row(0).iter().map(|(member, _)| *member))
    }

    pub(super) fn name(&self, peer: usize) -> String {
        self.names.get(peer).cloned().unwrap_or_else(|| format!("member {peer}"))
    }
}

/// How many payloads are kept of such exchanges: those of the longest round, and one before.
pub fn kept_payloads(exchanges: &Exchanges) -> usize {
    exchanges.per_round as usize + exchanges.final_mixings as usize + 1
}

/// How long a node waits for what, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// Between the first two attempts to reach a neighbour; doubles from then on.
    pub dial_first: Millis,
    /// The most between two attempts.
    pub dial_most: Millis,
    /// For a neighbour's first hello on a new link.
    pub greeting: Millis,
    /// Before a neighbour whose link is up is asked where it is; doubles with each question.
    pub question: Millis,
    /// Before it is said for whom the node waits; doubles each time.
    pub say_after: Millis,
    /// Without anything happening, before the node stops with everything saved.
    pub give_up: Millis,
    /// Whether a run begins only when every neighbour has said hello once: until then nothing is charged or released,
    /// so that a wrong address or another agreement costs nothing.
    pub meet_first: bool,
    /// After the last round, for neighbours to confirm that they have the last message.
    pub linger: Millis,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            dial_first: 200,
            dial_most: 10_000,
            greeting: 120_000,
            question: 60_000,
            say_after: 5_000,
            give_up: 3_600_000,
            meet_first: false,
            linger: 60_000,
        }
    }
}
