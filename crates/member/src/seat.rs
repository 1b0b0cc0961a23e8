//! Who this is in an agreement, and what the agreement means.

use crate::NodeError;
use crate::agreed::agreed;
use prdo::build::Planned;
use prdo::run::Guarantee;
use prdo_peer::agreement::{Agreement, AgreementError, Member};
use prdo_peer::identity::Identity;
use prdo_peer::machine::Place;
use prdo_privacy::{Batch, Batches};
use prdo_runfile::Document;
use std::path::Path;

/// A member's seat in a run: the agreement is signed by all, its settings mean what its terms say, and the key is this
/// member's.
pub struct Seat {
    /// The agreement.
    pub agreement: Agreement,
    /// This member's number.
    pub number: usize,
    /// This member, as the agreement has it.
    pub member: Member,
    /// The agreement's settings.
    pub document: Document,
    /// What they mean.
    pub planned: Planned,
}

impl Seat {
    /// The seat of whoever has this key in the agreement that was read from `file`.
    ///
    /// # Errors
    /// An agreement that is not signed by all or contradicts itself, or a key that is no member's.
    pub fn take(agreement: Agreement, file: &Path, identity: &Identity) -> Result<Self, NodeError> {
        let wrong = |error| NodeError::Agreement { file: file.display().to_string(), error: Box::new(error) };
        let key = identity.public();
        let terms = agreement.terms();
        let number = agreement.member_of(&key);
        let Some((number, member)) = number.and_then(|n| Some((n, terms.members.get(n)?.clone()))) else {
            let names = terms.members.iter().map(|m| format!("{} ({})", m.name, m.key.short()));
            let members = names.collect::<Vec<_>>().join(", ");
            return Err(wrong(AgreementError::NotAMember { key: key.to_string(), members }));
        };
        agreement.signed_by_all().map_err(wrong)?;
        let (document, planned) = agreed(&agreement)?;
        Ok(Self { agreement, number, member, document, planned })
    }

    /// Where this node stands in the run.
    pub fn place(&self) -> Place {
        let terms = self.agreement.terms();
        let neighbours = self.agreement.neighbours(self.number);
        Place {
            me: self.number as u32,
            weights: terms.weights.get(self.number).cloned().unwrap_or_default(),
            neighbours: neighbours.iter().map(|peer| self.agreement.expected(self.number, *peer)).collect(),
            names: terms.members.iter().map(|member| member.name.clone()).collect(),
            dimension: self.planned.model.dimension,
            vectors: terms.vectors as usize,
            rounds: terms.rounds,
            exchanges_per_round: terms.exchanges_per_round,
        }
    }

    /// This member's public slots.
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

    /// The members it exchanges messages with: number and what the agreement says of them.
    pub fn neighbours(&self) -> Vec<(usize, &Member)> {
        let members = &self.agreement.terms().members;
        let numbers = self.agreement.neighbours(self.number).into_iter();
        numbers.filter_map(|n| Some((n, members.get(n)?))).collect()
    }
}
