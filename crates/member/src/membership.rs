//! Who this is in an agreement, and what the agreement means.

use crate::NodeError;
use crate::agreed::agreed;
use prdo::build::Planned;
use prdo::run::Guarantee;
use prdo_peer::agreement::{Agreement, Member};
use prdo_peer::identity::Identity;
use prdo_peer::machine::Place;
use prdo_privacy::{Batch, Batches};
use prdo_runfile::Document;
use std::path::Path;

/// Who this is in a run: the agreement is signed by all, its settings mean what its terms say, and the key is this
/// member's.
pub struct Membership {
    pub agreement: Agreement,
    pub number: usize,
    pub member: Member,
    pub document: Document,
    /// What the agreement's settings mean.
    pub planned: Planned,
}

impl Membership {
    /// The membership of whoever has this key in the agreement that was read from `file`.
    pub fn of(agreement: Agreement, file: &Path, identity: &Identity) -> Result<Self, NodeError> {
        let wrong = |error| NodeError::Agreement { file: file.display().to_string(), error: Box::new(error) };
        let (number, member) = agreement.member_with(&identity.public()).map_err(wrong)?;
        let member = member.clone();
        agreement.signed_by_all().map_err(wrong)?;
        let (document, planned) = agreed(&agreement)?;
        Ok(Self { agreement, number, member, document, planned })
    }

    pub fn place(&self) -> Place {
        let terms = self.agreement.terms();
        let neighbours = self.agreement.neighbours(self.number);
        Place {
            me: self.number as u32,
            rows: self.agreement.rows(self.number),
            neighbours: neighbours.iter().map(|peer| self.agreement.expected(self.number, *peer)).collect(),
            names: terms.members.iter().map(|member| member.name.clone()).collect(),
            dimension: self.planned.model.dimension,
            rounds: terms.rounds,
            exchanges: terms.exchanges,
        }
    }

    pub fn slots(&self) -> usize {
        self.member.records as usize
    }

    /// b₀ and b.
    pub fn batches(&self) -> Batches {
        Batches::new(self.planned.recipe.batch.0, self.planned.recipe.batch.1)
    }

    /// What the run promises about this member's records: the agreement's noise, at this member's own sampling rates.
    pub fn guarantee(&self) -> Guarantee {
        let (batches, slots) = (self.batches(), self.slots());
        let rate = batches.rate(Batch::Later, slots);
        let first = self.planned.recipe.method.card().first_batch;
        let first_rate = if first { batches.rate(Batch::First, slots) } else { rate };
        Guarantee { first_rate, rate, ..self.planned.guarantee }
    }

    /// Against how many members together the run's ε holds, where noise is in pairs; otherwise it holds against any number.
    pub fn colluders(&self) -> Option<u32> {
        let mechanism = self.planned.pairs.as_ref();
        mechanism.map(|pairs| u32::try_from(pairs.colluders()).unwrap_or(u32::MAX))
    }

    /// The members it exchanges messages with: number and what the agreement says of them.
    pub fn neighbours(&self) -> Vec<(usize, &Member)> {
        let members = &self.agreement.terms().members;
        let numbers = self.agreement.neighbours(self.number).into_iter();
        numbers.filter_map(|n| Some((n, members.get(n)?))).collect()
    }
}
