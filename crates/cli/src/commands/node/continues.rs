//! `prdo node init --continues`: the remaining members continue, and the budget is for both runs.

use super::against::whom;
use super::{in_file, read_agreement};
use crate::commands::Failure;
use crate::progress::tell;
use prdo::accounting::History;
use prdo::build::Planned;
use prdo::runfile::{Document, Key, Section, Value, earlier_texts};
use prdo_member::agreed::agreed;
use prdo_peer::agreement::{Agreement, Member, Terms};
use prdo_peer::wire::{Hash, hex};
use std::path::{Path, PathBuf};

/// An agreement that a new one continues.
pub struct OldAgreement {
    path: PathBuf,
    agreement: Agreement,
    document: Document,
    planned: Planned,
    rounds_done: u32,
}

impl OldAgreement {
    /// Reads the old agreement, of which so many rounds were released.
    pub fn read(path: &Path, rounds_done: u32) -> Result<Self, Failure> {
        let agreement = read_agreement(path)?;
        agreement.signed_by_all().map_err(in_file(path))?;
        let (document, planned) = agreed(&agreement)?;
        let rounds = agreement.terms().rounds;
        if rounds_done > rounds {
            return Err(Failure::Input(format!(
                "--rounds-done {rounds_done} is not allowed: {} has {rounds} rounds",
                path.display()
            )));
        }
        Ok(Self { path: path.to_path_buf(), agreement, document, planned, rounds_done })
    }

    pub fn hash(&self) -> Hash {
        self.agreement.run_hash()
    }

    /// Everything released about a record of the smallest old member: by the old run, and by those before it.
    fn released(&self) -> Result<History, Failure> {
        let plan = self.planned.guarantee.releases(self.rounds_done);
        let mut released = self.planned.recipe.earlier.clone();
        released.append(&plan.map_err(|e| Failure::Input(format!("{}: {e}", self.path.display())))?);
        Ok(released)
    }

    /// Charges the new run file with what was released.
    pub fn charge(&self, document: &mut Document) -> Result<(), Failure> {
        if document.has(Key::PrivacyEarlier) {
            let message =
                "privacy.earlier and --continues are both given: the old agreement says what was released";
            return Err(document.error(Key::PrivacyEarlier, message).into());
        }
        Ok(document.set_value(Key::PrivacyEarlier, earlier_texts(&self.released()?))?)
    }

    /// What the old run released holds against so many members together as it says, and so must the ε of both.
    pub fn check_colluders(&self, new: &Planned) -> Result<(), Failure> {
        let Some(old) = self.planned.pairs.as_ref().map(|pairs| pairs.colluders()) else { return Ok(()) };
        let shown = self.path.display();
        match new.pairs.as_ref().map(|pairs| pairs.colluders()) {
            Some(new) if new > old => Err(Failure::Input(format!(
                "{} = {new} is not allowed: it must be at most {old}, as in {shown}, whose noise in pairs holds against no more",
                Key::PrivacyColluders
            ))),
            Some(_) => Ok(()),
            None => {
                tell(&format!(
                    "warning: the noise in {shown} was in pairs: ε for both runs together holds against {} only",
                    whom(u32::try_from(old).unwrap_or(u32::MAX))
                ));
                Ok(())
            }
        }
    }

    /// Members stay who they were, with the slots they had; new ones are said to be new.
    pub fn check_members(&self, members: &[Member]) -> Result<(), Failure> {
        let before = &self.agreement.terms().members;
        let mut kept = 0;
        for member in members {
            let Some(old) = self.agreement.member_of(&member.key).and_then(|i| before.get(i)) else {
                tell(&format!(
                    "warning: {} was not in the agreement {}: it starts from the public starting point, the others \
                     from their saved models",
                    member.name,
                    hex(&self.hash()[..6])
                ));
                continue;
            };
            kept += 1;
            if old.records != member.records {
                return Err(Failure::Input(format!(
                    "records = {} of {} is not allowed: it must be {}, as in {}, or what was released could not be added up",
                    member.records,
                    member.name,
                    old.records,
                    self.path.display()
                )));
            }
        }
        match kept {
            0 => Err(Failure::Input(format!(
                "none of the members is in {}: nobody continues",
                self.path.display()
            ))),
            _ => Ok(()),
        }
    }

    /// Records and model must be what they were: training continues from saved models.
    pub fn check_model(&self, new: &Terms, document: &Document) -> Result<(), Failure> {
        let old = self.agreement.terms();
        let shown = self.path.display();
        if old.facts != new.facts {
            return Err(Failure::Input(format!(
                "the records' shape or names are not those of {shown}: it has {:?}, this one {:?}",
                old.facts, new.facts
            )));
        }
        let starts = [Key::ModelStart, Key::ModelStartDeviation, Key::ModelStartSeed];
        let model = Section::Model.keys().filter(|key| !starts.contains(key));
        for key in [Key::DataMean, Key::DataDeviation].into_iter().chain(model) {
            let (before, now) = (self.document.get(key), document.get(key));
            if before != now {
                let words = |value: Option<Value>| value.map_or("not given".to_string(), |v| v.to_string());
                return Err(Failure::Input(format!(
                    "{key} is {} but was {} in {shown}: the model must be the same",
                    words(now),
                    words(before)
                )));
            }
        }
        Ok(())
    }
}
