//! A run built in code: your records, your model, any method, private or not.

use crate::error::RunError;
use crate::pairs;
use prdo_accounting::{Accountant, AccountingError, Calibrations, History, Method as Accounting, Target};
use prdo_algorithm::graph::{Mixings, Spectrum};
use prdo_algorithm::{Method, Settings, Startable};
use prdo_privacy::{
    Batches, Clip, Data, Exposed, Gate, GateError, Ledger, Model, NodeShares, Noised, OpenRules,
    PairMechanism, PairSettings, PrivateRules, Sampling, Secret, Shard, Start,
};
use prdo_runfile::Key;
use prdo_simulator::{Moments, Row, Schedule, Simulation, Training};
use std::sync::Arc;

pub use prdo_store::{Guarantee, PairFacts};

/// What a run promises about its records.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Privacy {
    /// At most ε at δ for the whole transcript; the noise is calibrated to it.
    Budget { epsilon: f64, delta: f64 },
    /// A given noise multiplier; ε at δ follows from it.
    Noise {
        /// z: noise standard deviation over sensitivity.
        multiplier: f64,
        delta: f64,
    },
}

/// What the noise of a private run follows from: public facts, no record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PrivacySettings {
    pub privacy: Privacy,
    pub accounting: Accounting,
    /// Whether the first round uses b₀.
    pub first_batch: bool,
    /// b₀ and b.
    pub batch: (usize, usize),
    pub least: usize,
    pub rounds: u32,
}

impl PrivacySettings {
    /// The noise and what all rounds will cost, after `spent` was released about the same records.
    ///
    /// # Guarantee
    /// ε of the result is for `spent` and all rounds together; it is at most the budget, if there is one.
    pub fn guarantee(&self, spent: &History) -> Result<Guarantee, RunError> {
        self.guarantee_among(&Calibrations::default(), spent)
    }

    /// The same, calibrated only if these do not know it.
    pub fn guarantee_among(&self, known: &Calibrations, spent: &History) -> Result<Guarantee, RunError> {
        use prdo_privacy::Batch;
        let batches = Batches::new(self.batch.0, self.batch.1);
        let rate = batches.rate(Batch::Later, self.least);
        let first_rate = if self.first_batch { batches.rate(Batch::First, self.least) } else { rate };
        let rates = [(first_rate, 1), (rate, u64::from(self.rounds).saturating_sub(1))];
        let accountant = Accountant::new(self.accounting);
        let (z, delta) = match self.privacy {
            Privacy::Budget { epsilon, delta } => {
                let target = Target::new(epsilon, delta)?;
                (known.noise_multiplier_after(&accountant, &target, spent, &rates)?, delta)
            }
            Privacy::Noise { multiplier, delta } => (multiplier, delta),
        };
        let mut guarantee = Guarantee {
            epsilon: 0.0,
            delta,
            noise_multiplier: z,
            first_rate,
            rate,
            accounting: self.accounting,
        };
        let mut history = spent.clone();
        history.append(&guarantee.releases(self.rounds)?);
        let cost = accountant.epsilon(&history, delta)?.upper;
        if let (Privacy::Budget { epsilon, .. }, true) = (&self.privacy, cost == 0.0) {
            return Err(nothing_to_keep(*epsilon, delta).into());
        }
        // Where even ε = 0 holds, so does any other: a budget is positive.
        guarantee.epsilon = cost.max(f64::MIN_POSITIVE);
        Ok(guarantee)
    }
}

/// What is wrong with a budget at which even ε = 0 holds: usually δ.
fn nothing_to_keep(epsilon: f64, delta: f64) -> AccountingError {
    let (field, value, allowed) = if epsilon < 1e-6 {
        ("epsilon", epsilon, "large enough to be told from 0 at this δ")
    } else {
        (
            "delta",
            delta,
            "small: with this one even ε = 0 holds with hardly any noise, and one over the records is much",
        )
    };
    AccountingError::OutOfRange { field, value, allowed }
}

/// A run to be: settings that can still be changed. See the [crate] for an example.
#[must_use]
pub struct Run<M: Model> {
    model: M,
    records: Vec<M::Data>,
    mixing: Mixings,
    allow_indefinite: bool,
    method: Method,
    settings: Settings,
    rounds: u32,
    every: u32,
    measured_records: Option<usize>,
    moments: bool,
    seed: u64,
    unseeded: bool,
    batch: Option<usize>,
    first_batch: Option<usize>,
    sampling: Sampling,
    clip: Option<(f64, f64)>,
    privacy: Option<Privacy>,
    pairs: Option<PairSettings>,
    accounting: Accounting,
    spent: History,
    calibrations: Arc<Calibrations>,
    held_out: Option<M::Data>,
    start: Option<Start>,
}

/// A method for each setting, which gives the run with that changed.
macro_rules! settings {
    ($($(#[$doc:meta])* $name:ident($($value:ident: $type:ty),*) { $($field:ident: $new:expr),* })*) => {
        $($(#[$doc])* pub fn $name(self, $($value: $type),*) -> Self {
            Self { $($field: $new,)* ..self }
        })*
    };
}

impl<M: Model + 'static> Run<M> {
    /// A run of `method` in which node i holds `records[i]` and mixes by row i of `mixing`: one matrix, or several in turns.
    ///
    /// Until told otherwise: full batches, no clipping, no privacy, 100 rounds, seed 1, start at zero.
    pub fn new(
        model: M,
        records: Vec<M::Data>,
        mixing: impl Into<Mixings>,
        method: Method,
        settings: Settings,
    ) -> Self {
        Self {
            model,
            records,
            mixing: mixing.into(),
            allow_indefinite: false,
            method,
            settings,
            rounds: 100,
            every: 10,
            measured_records: None,
            moments: false,
            seed: 1,
            unseeded: false,
            batch: None,
            first_batch: None,
            sampling: Sampling::Full,
            clip: None,
            privacy: None,
            pairs: None,
            accounting: Accounting::default(),
            spent: History::new(),
            calibrations: Arc::default(),
            held_out: None,
            start: None,
        }
    }

    settings! {
        rounds(rounds: u32) { rounds: rounds }
        /// A row of metrics every so many rounds.
        record_every(every: u32) { every: every }
        /// Measures loss and gradient norm on the first so many records of each node only, for models whose whole
        /// objective takes too long. It is an estimate, and a fair one only if the order of a node's records has nothing
        /// to do with what they hold. Training, accuracy and moments do not depend on it.
        measure_on(records: usize) { measured_records: Some(records) }
        /// Also compute the paper's moments in every round (slow: a full gradient at each node's own point).
        moments(moments: bool) { moments: moments }
        /// The seed of all secret draws. A seeded run is a simulation: anyone who knows the seed knows the noise.
        seed(seed: u64) { seed: seed }
        /// Draws batches and noise from a secret of the operating system that is kept nowhere, instead of a seed: the run
        /// cannot be repeated, and nobody can work out its noise. It still happens in one process that reads all records.
        unseeded(unseeded: bool) { unseeded: unseeded }
        /// b, drawn by `sampling`. Private runs sample by Poisson, with b the expected size.
        batch(size: usize, sampling: Sampling) { batch: Some(size), sampling: sampling }
        /// b₀, for methods whose first round is special. Until told otherwise it is b.
        first_batch(size: usize) { first_batch: Some(size) }
        /// C_g and C_Δ.
        clip(gradient: f64, difference: f64) { clip: Some((gradient, difference)) }
        private(privacy: Privacy) { privacy: Some(privacy) }
        /// Noise that cancels between nodes, for a private run; without it every node has noise of its own alone.
        in_pairs(pairs: PairSettings) { pairs: Some(pairs) }
        /// How privacy losses are added up. Until told otherwise: exactly, with proven bounds.
        accounting(accounting: Accounting) { accounting: accounting }
        /// Calibrations that other runs have found, and that others find of this one.
        calibrations(calibrations: Arc<Calibrations>) { calibrations: calibrations }
        /// What earlier runs have already released about the same records: the budget is for all of it together.
        after(spent: History) { spent: spent }
        /// Public records on which the average model's accuracy is measured.
        held_out(records: M::Data) { held_out: Some(records) }
        /// The public starting point of every node.
        start(start: Start) { start: Some(start) }
        /// Runs on a mixing matrix with negative eigenvalues, outside the paper's assumption.
        allow_indefinite(allow: bool) { allow_indefinite: allow }
    }

    /// Checks everything and seals the records. Nothing has been trained or released yet.
    pub fn prepare(mut self) -> Result<Prepared, RunError> {
        if self.rounds == 0 {
            return Err(RunError::range(Key::Rounds, 0, "at least 1"));
        }
        if self.measured_records == Some(0) {
            return Err(RunError::range(Key::MetricsRecords, 0, "at least 1"));
        }
        if self.privacy.is_some() && self.batch.is_some() && self.sampling != Sampling::Poisson {
            let allowed = "Poisson in a private run: the accounting rests on it";
            return Err(RunError::range(Key::BatchSampling, format!("{:?}", self.sampling), allowed));
        }
        let spectrum = self.method.check_network(&self.mixing, self.allow_indefinite)?;
        self.settings = self.settings.for_network(self.method, &spectrum).over(self.rounds);
        let least = self.records.iter().map(Data::len).min().unwrap_or(0);
        if let Some(node) = self.records.iter().position(Data::is_empty) {
            return Err(RunError::EmptyNode { node });
        }
        let batches = self.batches(least)?;
        let clip = self.clip.map(|(g, d)| Clip::new(g, d)).transpose()?;
        let start = self.start.clone().unwrap_or_else(|| Start::zeros(self.model.dimension()));
        let schedule = Schedule { rounds: self.rounds, every: self.every.max(1), moments: self.moments };
        let facts = Facts {
            spectrum,
            nodes: self.records.len(),
            links: self.mixing.support().edges(),
            least_records: least,
            records: self.records.iter().map(Data::len).sum(),
            measured_records: self.records.iter().map(|r| r.len().min(self.measured_most())).sum(),
            parameters: self.model.dimension(),
        };
        let node_records = self.records.iter().map(Data::len).collect();
        let guarantee = self.guarantee(least, batches)?;
        let batches = Batches::new(batches.0, batches.1);
        let Some(guarantee) = guarantee else {
            let training = Box::new(self.open_simulation(batches, clip, &start)?);
            return Ok(Prepared { training, schedule, guarantee: None, pairs: None, facts, node_records });
        };
        let clip = clip.ok_or(RunError::ClipMissing)?;
        let mechanism = self.mechanism(&guarantee)?;
        let pairs = mechanism.as_deref().map(|m| pairs::facts(m, &guarantee, self.rounds, &self.spent));
        let pairs = pairs.transpose()?;
        let training = Box::new(self.private_simulation((batches, clip), guarantee, mechanism, &start)?);
        Ok(Prepared { training, schedule, guarantee: Some(guarantee), pairs, facts, node_records })
    }

    /// The two parts of the noise, where it is in pairs.
    fn mechanism(&self, guarantee: &Guarantee) -> Result<Option<Arc<PairMechanism>>, RunError> {
        let Some(asked) = &self.pairs else { return Ok(None) };
        let method = (self.method, &self.settings, self.rounds);
        let mechanism = pairs::mechanism(asked, guarantee.noise_multiplier, method, &self.mixing)?;
        Ok(Some(Arc::new(mechanism)))
    }

    /// On how many records of each node at most loss and gradient norm are measured.
    fn measured_most(&self) -> usize {
        self.measured_records.unwrap_or(usize::MAX)
    }

    /// (b₀, b), checked against the smallest node.
    fn batches(&self, least: usize) -> Result<(usize, usize), RunError> {
        let whole = self.batch.is_none() || self.sampling == Sampling::Full;
        let size = if whole { least } else { self.batch.unwrap_or(least) };
        let first = self.first_batch.unwrap_or(size);
        Batches::new(first, size).check(least)?;
        Ok((first, size))
    }

    fn guarantee(&self, least: usize, batch: (usize, usize)) -> Result<Option<Guarantee>, RunError> {
        let Some(privacy) = self.privacy else { return Ok(None) };
        let (accounting, rounds) = (self.accounting, self.rounds);
        let first_batch = self.method.card().first_batch;
        let settings = PrivacySettings { privacy, accounting, first_batch, batch, least, rounds };
        settings.guarantee_among(&self.calibrations, &self.spent).map(Some)
    }

    fn secret(&self) -> Result<Arc<Secret>, RunError> {
        let secret = match self.unseeded {
            true => Secret::from_operating_system().map_err(|e| RunError::Entropy(e.to_string()))?,
            false => Secret::from_seed(self.seed),
        };
        Ok(Arc::new(secret))
    }

    fn private_simulation(
        self,
        (batches, clip): (Batches, Clip),
        guarantee: Guarantee,
        pairs: Option<Arc<PairMechanism>>,
        start: &Start,
    ) -> Result<Simulation<M, Noised>, RunError> {
        let accountant = Arc::new(Accountant::new(guarantee.accounting));
        let budget = Target::new(guarantee.epsilon, guarantee.delta)?;
        // No node costs more than the releases of the smallest one: proven once, for all charges of all nodes.
        let spent = self.spent.clone();
        let mut all = spent.clone();
        all.append(&guarantee.releases(self.rounds)?);
        accountant.prove(&all, &budget)?;
        let noise_multiplier = guarantee.noise_multiplier;
        self.simulation(start, |node, model, shard, secret| {
            let ledger = Ledger::after(Arc::clone(&accountant), budget, spent.clone());
            let rules = PrivateRules { batches, clip, noise_multiplier, ledger };
            let gate = Gate::private(node, model, shard, Arc::clone(&secret), rules)?;
            match &pairs {
                None => Ok(gate),
                Some(pairs) => gate.with_shares(NodeShares::simulated(Arc::clone(pairs), node, &secret)?),
            }
        })
    }

    fn open_simulation(
        self,
        batches: Batches,
        clip: Option<Clip>,
        start: &Start,
    ) -> Result<Simulation<M, Exposed>, RunError> {
        let rules = OpenRules { batches, sampling: self.sampling, clip };
        self.simulation(start, |node, model, shard, secret| {
            Gate::exposed(node, model, shard, secret, rules.clone())
        })
    }

    /// The nodes behind their gates.
    fn simulation<P: Startable>(
        self,
        start: &Start,
        gate: impl Fn(u32, Arc<M>, Shard<M::Data>, Arc<Secret>) -> Result<Gate<M, P>, GateError>,
    ) -> Result<Simulation<M, P>, RunError> {
        let most = self.measured_most();
        let (secret, model) = (self.secret()?, Arc::new(self.model));
        let seal = |(node, records): (usize, M::Data)| {
            Ok(gate(node as u32, Arc::clone(&model), Shard::seal(records)?, Arc::clone(&secret))?)
        };
        let gates = self.records.into_iter().enumerate().map(seal).collect::<Result<Vec<_>, RunError>>()?;
        let method = (self.method, &self.settings);
        Ok(Simulation::new(model, gates, self.mixing, method, start, self.held_out)?.measure_on(most))
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Facts {
    pub spectrum: Spectrum,
    pub nodes: usize,
    pub links: usize,
    pub least_records: usize,
    pub records: usize,
    /// Those on which loss and gradient norm are measured: all of them unless the run says otherwise.
    pub measured_records: usize,
    pub parameters: usize,
}

pub struct Prepared {
    pub training: Box<dyn Training>,
    pub schedule: Schedule,
    /// What it promises; `None` is ε = ∞.
    pub guarantee: Option<Guarantee>,
    /// Against whom, where noise is in pairs.
    pub pairs: Option<PairFacts>,
    pub facts: Facts,
    pub node_records: Vec<usize>,
}

impl Prepared {
    /// What a finished training holds, with the rows measured on the way.
    pub fn outcome(&self, rows: Vec<Row>, moments: Vec<Moments>) -> Outcome {
        Outcome {
            rows,
            moments,
            average: self.training.average(),
            node_accuracy: self.node_accuracy(),
            test_auc: self.training.auc(&self.training.average()),
            models: self.training.models().into_iter().map(<[f64]>::to_vec).collect(),
            guarantee: self.guarantee,
        }
    }

    /// Held-out accuracy of each node's own model (of the first thousand nodes): what an organisation that
    /// uses its own model gets. Empty where accuracy has no meaning.
    pub fn node_accuracy(&self) -> Vec<f64> {
        self.training.models().iter().take(1000).filter_map(|x| self.training.accuracy(x)).collect()
    }
}

#[derive(Clone, Debug)]
pub struct Outcome {
    /// Metrics, first row at the start, last at the end.
    pub rows: Vec<Row>,
    pub moments: Vec<Moments>,
    /// x̄.
    pub average: Vec<f64>,
    pub models: Vec<Vec<f64>>,
    /// Held-out accuracy of each node's own model (of the first thousand nodes).
    pub node_accuracy: Vec<f64>,
    /// The area under the ROC curve of x̄ on the held-out records; `None` where there are not two classes.
    pub test_auc: Option<f64>,
    /// What was promised and kept; `None` is ε = ∞.
    pub guarantee: Option<Guarantee>,
}

impl Outcome {
    /// The last row. A run always has one: the start is measured too.
    pub fn last(&self) -> Option<&Row> {
        self.rows.last()
    }
}
