//! The loop over rounds, without type parameters and without any output of its own.

use crate::checkpoint::{self, CheckpointError};
use crate::metrics::{Moments, Row};
use crate::simulation::{Simulation, SimulationError};
use prdo_privacy::{Model, Protection};
use std::ops::ControlFlow;

/// A run in progress, whatever its model and protection.
pub trait Training: Send {
    /// Whether every node is ready to ask in the next round: nodes of a program's own method may fail as they start.
    fn check(&self) -> Result<(), SimulationError>;
    fn step(&mut self, moments: bool) -> Result<Option<Moments>, SimulationError>;
    fn measure(&mut self) -> Row;
    fn round(&self) -> u32;
    fn models(&self) -> Vec<&[f64]>;
    fn average(&self) -> Vec<f64>;
    fn disagreement(&self) -> Vec<f64>;
    fn accuracy(&self, x: &[f64]) -> Option<f64>;
    /// The area under the ROC curve of `x` on the held-out records; `None` where there are not two classes.
    fn auc(&self, x: &[f64]) -> Option<f64>;
    fn epsilon_spent(&self) -> Option<f64>;
    fn non_finite(&self) -> u64;
    /// Everything that is needed to resume with the same bits. `fingerprint` names the run's settings.
    fn save(&self, fingerprint: &[u8; 32]) -> Vec<u8>;
    fn restore(&mut self, fingerprint: &[u8; 32], bytes: &[u8]) -> Result<(), CheckpointError>;
}

impl<M: Model, P: Protection> Training for Simulation<M, P> {
    fn check(&self) -> Result<(), SimulationError> {
        self.check_queries()
    }
    fn step(&mut self, moments: bool) -> Result<Option<Moments>, SimulationError> {
        Simulation::step(self, moments)
    }
    fn measure(&mut self) -> Row {
        Simulation::measure(self)
    }
    fn round(&self) -> u32 {
        Simulation::round(self)
    }
    fn models(&self) -> Vec<&[f64]> {
        Simulation::models(self).collect()
    }
    fn average(&self) -> Vec<f64> {
        Simulation::average(self)
    }
    fn disagreement(&self) -> Vec<f64> {
        Simulation::disagreement(self)
    }
    fn accuracy(&self, x: &[f64]) -> Option<f64> {
        Simulation::accuracy(self, x)
    }
    fn auc(&self, x: &[f64]) -> Option<f64> {
        Simulation::auc(self, x)
    }
    fn epsilon_spent(&self) -> Option<f64> {
        Simulation::epsilon_spent(self)
    }
    fn non_finite(&self) -> u64 {
        Simulation::non_finite(self)
    }
    fn save(&self, fingerprint: &[u8; 32]) -> Vec<u8> {
        checkpoint::save(self, fingerprint)
    }
    fn restore(&mut self, fingerprint: &[u8; 32], bytes: &[u8]) -> Result<(), CheckpointError> {
        checkpoint::restore(self, fingerprint, bytes)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    pub rounds: u32,
    /// Rounds from one row to the next; the start and the end always have one.
    pub every: u32,
    pub moments: bool,
}

/// Watches a run, keeps what it wants of it, and may stop it.
pub trait Observer {
    /// A row was measured. Breaking stops the run as it is.
    fn row(&mut self, row: &Row) -> ControlFlow<()>;
    fn moments(&mut self, _: &Moments) {}
    /// A round is done (called after its row). Breaking stops the run as it is.
    fn round(&mut self, _: &dyn Training) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Finished,
    Stopped,
}

/// Trains until the schedule is done or the observer stops it. A restored run resumes where it was.
pub fn train(
    training: &mut dyn Training,
    schedule: &Schedule,
    observer: &mut dyn Observer,
) -> Result<End, SimulationError> {
    if training.round() == 0 && observer.row(&training.measure()).is_break() {
        return Ok(End::Stopped);
    }
    while training.round() < schedule.rounds {
        if let Some(moments) = training.step(schedule.moments)? {
            observer.moments(&moments);
        }
        let round = training.round();
        let due = round.is_multiple_of(schedule.every.max(1)) || round == schedule.rounds;
        let stopped_at_row = due && observer.row(&training.measure()).is_break();
        if observer.round(&*training).is_break() || stopped_at_row {
            return Ok(if round == schedule.rounds { End::Finished } else { End::Stopped });
        }
    }
    Ok(End::Finished)
}
