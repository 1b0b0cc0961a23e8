//! One cell of the experiment: a problem on a network over a horizon, private or not, with the paper's schedule.

use super::modes::{Direction, disagreement};
use super::problem::{AnyModel, NODES, Problem, RECORDS};
use crate::error::Error;
use prdo::accounting::{Accountant, Event, History, Method as Accounting, Target};
use prdo::prelude::*;
use prdo::privacy::{
    Batch, Batches, Clip, Exposed, Gate, Ledger, Noised, OpenRules, PrivateRules, Secret, Shard,
};
use prdo::simulator::Simulation;
use prdo::theory::noise::{self, Variances};
use prdo::theory::sensitivity::Sensitivity;
use prdo::theory::{Schedule, Setting, Setup};
use std::fmt;
use std::sync::Arc;

pub const BATCH: usize = 8;
pub const C_GAMMA: f64 = 1.0;
/// z of the private cells: deviation over sensitivity.
pub const NOISE: f64 = 1.0;
pub const DELTA: f64 = 1e-5;

pub struct Network {
    pub name: &'static str,
    pub mixing: Mixing,
    pub lambda: f64,
    pub modes: Vec<Direction>,
}

impl Network {
    /// The paper's lazy ring, a lazy torus and the complete graph, slowest first.
    pub fn all() -> Result<Vec<Self>, RunError> {
        let ring = Mixing::new(&Graph::ring(NODES)?, Weights::Paper, false)?;
        let torus = Mixing::new(&Graph::torus_of(NODES)?, Weights::Metropolis, true)?;
        let complete = Mixing::new(&Graph::complete(NODES)?, Weights::Metropolis, false)?;
        [("ring", ring), ("torus", torus), ("complete", complete)].into_iter().map(Self::new).collect()
    }

    fn new((name, mixing): (&'static str, Mixing)) -> Result<Self, RunError> {
        let lambda = mixing.check(false)?.lambda;
        // The complete graph's is zero: what is computed is rounding.
        let lambda = if lambda < 1e-12 { 0.0 } else { lambda };
        let modes = disagreement(&mixing);
        Ok(Self { name, mixing, lambda, modes })
    }
}

pub struct Protection {
    pub sensitivity: Sensitivity,
    /// ν₀² and ν²_dp.
    pub variances: Variances,
    /// ε of the whole run at [`DELTA`].
    pub epsilon: f64,
    accountant: Arc<Accountant>,
}

pub struct Case<'a> {
    pub problem: &'a Problem,
    pub network: &'a Network,
    pub schedule: Schedule,
    pub protection: Option<Protection>,
}

impl fmt::Display for Case<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let private = if self.protection.is_some() { ", private" } else { "" };
        let rounds = self.setting().setup().rounds;
        write!(f, "{}, {}, T = {rounds}{private}", self.problem.name, self.network.name)
    }
}

/// What the paper's schedule finds of a problem on a network.
pub fn setup(problem: &Problem, network: &Network, rounds: u32) -> Setup {
    Setup {
        nodes: NODES as u64,
        rounds: u64::from(rounds),
        batch: BATCH as u64,
        lambda: network.lambda,
        smoothness: problem.smoothness,
    }
}

impl<'a> Case<'a> {
    /// With the largest feasible step.
    pub fn new(
        problem: &'a Problem,
        network: &'a Network,
        rounds: u32,
        private: bool,
    ) -> Result<Self, Error> {
        let schedule = Schedule::largest(&setup(problem, network, rounds), C_GAMMA)?;
        let mut case = Self { problem, network, schedule, protection: None };
        if private {
            case.protection = Some(case.protection()?);
        }
        Ok(case)
    }

    pub fn setting(&self) -> &Setting {
        self.schedule.setting()
    }

    /// 1 − b/N: what is left of a sampled sum's variance.
    pub fn left_out(&self) -> f64 {
        1.0 - BATCH as f64 / RECORDS as f64
    }

    /// 1 − b₀/N.
    pub fn first_left_out(&self) -> f64 {
        1.0 - self.setting().first_batch() as f64 / RECORDS as f64
    }

    /// dν²_dp and dν₀²; zero without noise.
    pub fn noise_powers(&self) -> (f64, f64) {
        let d = self.problem.dimension() as f64;
        self.protection.as_ref().map_or((0.0, 0.0), |p| (d * p.variances.recursive, d * p.variances.first))
    }

    fn batches(&self) -> Batches {
        Batches::new(self.setting().first_batch() as usize, BATCH)
    }

    /// The paper's noise (`pv:main-noise-orders`), and what it costs.
    fn protection(&self) -> Result<Protection, Error> {
        let setting = self.setting();
        let (c_g, c_d) = self.problem.clip;
        let sensitivity = Sensitivity::new(c_g, c_d, setting.gamma())?;
        let variances = noise::variances(NOISE, &sensitivity, BATCH as u64, setting.first_batch())?;
        let accountant = Arc::new(Accountant::new(Accounting::default()));
        let history = self.history().map_err(RunError::from)?;
        let epsilon = accountant.epsilon(&history, DELTA).map_err(RunError::from)?.upper;
        let budget = Target::new(epsilon, DELTA).map_err(RunError::from)?;
        accountant.prove(&history, &budget).map_err(RunError::from)?;
        Ok(Protection { sensitivity, variances, epsilon, accountant })
    }

    fn history(&self) -> Result<History, prdo::accounting::AccountingError> {
        let rate = |batch| self.batches().rate(batch, RECORDS);
        let first = Event::sampled_gaussian(rate(Batch::First), NOISE)?;
        let later = Event::sampled_gaussian(rate(Batch::Later), NOISE)?;
        Ok(History::new().and(first, 1).and(later, self.setting().setup().rounds - 1))
    }

    pub fn private(&self, seed: u64, of: &Protection) -> Result<Simulation<AnyModel, Noised>, RunError> {
        let budget = Target::new(of.epsilon, DELTA)?;
        self.simulation(seed, |node, model, shard, secret, clip| {
            let ledger = Ledger::new(Arc::clone(&of.accountant), budget);
            let rules = PrivateRules { batches: self.batches(), clip, noise_multiplier: NOISE, ledger };
            Ok(Gate::private(node, model, shard, secret, rules)?)
        })
    }

    /// The nodes behind gates that sample and clip the same way, without noise.
    pub fn open(&self, seed: u64) -> Result<Simulation<AnyModel, Exposed>, RunError> {
        self.simulation(seed, |node, model, shard, secret, clip| {
            let rules = OpenRules { batches: self.batches(), sampling: Sampling::Poisson, clip: Some(clip) };
            Ok(Gate::exposed(node, model, shard, secret, rules)?)
        })
    }

    fn simulation<P: prdo::algorithm::Startable>(
        &self,
        seed: u64,
        gate: impl Fn(u32, Arc<AnyModel>, Shard<Table>, Arc<Secret>, Clip) -> Result<Gate<AnyModel, P>, RunError>,
    ) -> Result<Simulation<AnyModel, P>, RunError> {
        let clip = Clip::new(self.problem.clip.0, self.problem.clip.1)?;
        let secret = Arc::new(Secret::from_seed(seed));
        let gate = |(node, table): (usize, &Table)| {
            let model = Arc::clone(&self.problem.model);
            gate(node as u32, model, Shard::seal(table.clone())?, Arc::clone(&secret), clip)
        };
        let gates = self.problem.data.iter().enumerate().map(gate).collect::<Result<_, RunError>>()?;
        let settings = Settings::new(self.setting().step_size()).gamma(self.setting().gamma());
        let start = Start::declared_public(self.problem.start.clone())?;
        let (model, mixing) = (Arc::clone(&self.problem.model), self.network.mixing.clone());
        Ok(Simulation::new(model, gates, mixing, (Method::Prdo, &settings), &start, None)?)
    }
}
