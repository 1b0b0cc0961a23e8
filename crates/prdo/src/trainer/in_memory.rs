//! Training that leaves nothing on disk and is never stopped.

use super::subject::Subject;
use super::{Identity, Options, TrainError, Trainer};
use crate::run::{Outcome, Prepared, Run};
use prdo_privacy::Model;

impl<M: Model + 'static> Run<M> {
    pub fn train(self) -> Result<Outcome, TrainError> {
        self.prepare()?.train()
    }
}

impl Prepared {
    pub fn train(mut self) -> Result<Outcome, TrainError> {
        let subject = Subject::Made { prepared: &mut self, identity: Identity::default() };
        let trained = Trainer::of(subject, None).train(&Options::quiet(&|| false), &mut ())?;
        Ok(self.outcome(trained.rows, trained.moments))
    }
}
