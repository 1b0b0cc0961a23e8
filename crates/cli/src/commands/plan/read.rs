//! What is asked, from a run file or from options.

use crate::cli::plan::{LevelArgs, PlanArgs, ScheduleArgs};
use crate::commands::{Failure, graph, read_run_file};
use prdo::accounting::{History, Method as Accounting};
use prdo::algorithm::graph::{Needs, NetworkError, Parameters, Spectrum};
use prdo::algorithm::{Exchanges, Method};
use prdo::build::{Wiring, outline};
use prdo::plan::other::lambda;
use prdo::plan::{
    Account, Case, Choice, Drift, Level, Multiplier, Noise, PlannedRun, Problem, Question, Strength,
    Uncovered, Unestimated, family, planned_run,
};
use prdo::theory::cost;
use std::path::Path;

impl Asked {
    /// The most bytes that a node sends, where the model is known.
    pub fn bytes(&self, rounds: u64) -> Option<u128> {
        let d = self.question.case.problem.dimension?;
        let plain = cost::bytes(d, self.neighbours, rounds).ok()?;
        let (d, rounds) = (usize::try_from(d).ok()?, u32::try_from(rounds).ok());
        match self.exchanges == Exchanges::ONE {
            true => Some(plain),
            false => Some(u128::from(self.neighbours) * u128::from(self.exchanges.bytes(d, rounds?))),
        }
    }
}

/// A question with what its answer shows besides.
pub struct Asked {
    pub question: Question,
    /// The graph and its weights, in words.
    pub graph: String,
    pub spectrum: Spectrum,
    /// The most neighbours that a node has, and what it sends to each.
    pub neighbours: u64,
    pub exchanges: Exchanges,
    pub method: Option<Method>,
    /// δ, where there is a budget or a price.
    pub delta: Option<f64>,
    /// Why the theorem does not cover the run, if it does not.
    pub uncovered: Option<Uncovered>,
    /// What is not known, as options.
    pub missing: Vec<&'static str>,
    pub unestimated: Option<Unestimated>,
    /// How far nodes drift apart, with noise in pairs.
    pub drift: Option<Drift>,
    /// What should be thought about.
    pub notes: Vec<String>,
}

impl Asked {
    /// Whether L_s is not known: then α is in units of 1/L_s.
    pub fn in_units(&self) -> bool {
        self.question.case.problem.smoothness.is_none()
    }
}

pub fn from_flags(args: &PlanArgs) -> Result<Asked, Failure> {
    let kind = args.graph.as_deref().unwrap_or_default();
    let wiring = graph::wire(kind, &args.shape)?;
    let spectrum = wiring.mixing.check(Needs::Symmetric, false).map_err(|e| match e {
        NetworkError::Indefinite { .. } => Failure::Input(format!(
            "graph: {e}\n  = help: add --lazy to use (I+W)/2, which is positive semidefinite"
        )),
        e => Failure::Input(format!("graph: {e}")),
    })?;
    let parameters = Parameters {
        probability: args.shape.probability,
        degree: args.shape.degree.map(|k| k as usize),
        seed: args.shape.seed.unwrap_or(1),
    };
    let (noise, delta) = noise_of_flags(args);
    let case = Case {
        nodes: wiring.graph.nodes() as u64,
        rounds: args.rounds.unwrap_or(1),
        batch: args.batch.unwrap_or(1),
        slots: args.noise.records,
        lambda: lambda(&spectrum),
        problem: with_given(Problem { dimension: args.dimension, ..Problem::default() }, &args.levels),
        noise,
        pairs: None,
    };
    let schedule = Choice {
        step_size: args.step,
        gamma: args.momentum,
        first_batch: args.first_batch,
        ..scheduled(&args.schedule)
    };
    let mut missing = missing_levels(&case.problem);
    if matches!(case.noise, Noise::Unknown) {
        missing.push("--noise-variance (0 for none; or --epsilon, --delta, --records, --clip-gradient)");
    }
    let mut notes = Vec::new();
    if let Some(slots) = case.slots.filter(|slots| delta.is_some_and(|d| d >= 1.0 / *slots as f64)) {
        notes.push(format!("δ is not below 1/N = {:.1e}: choose it well below", 1.0 / slots as f64));
    }
    let family = family(&wiring, parameters);
    Ok(Asked {
        question: Question { case, own: None, schedule, family },
        graph: title(kind, &wiring),
        spectrum,
        neighbours: wiring.graph.max_degree() as u64,
        exchanges: Exchanges::ONE,
        method: None,
        delta,
        uncovered: None,
        missing,
        unestimated: None,
        drift: None,
        notes,
    })
}

fn noise_of_flags(args: &PlanArgs) -> (Noise, Option<f64>) {
    let given = &args.noise;
    let account =
        given.delta.map(|delta| Account { delta, accounting: Accounting::default(), spent: History::new() });
    let strength = match (given.epsilon, given.noise, account) {
        (Some(epsilon), _, Some(account)) => Strength::Budget { epsilon, account },
        (_, Some(z), account) => Strength::Multiplier { z, account },
        _ => {
            let noise = match given.noise_variance {
                Some(0.0) => Noise::Absent,
                Some(variance) => Noise::Variance(variance),
                None => Noise::Unknown,
            };
            return (noise, None);
        }
    };
    let gradient_clip = given.clip_gradient.unwrap_or(1.0);
    (Noise::Scaled { gradient_clip, difference_clip: given.clip_difference, strength }, given.delta)
}

pub fn from_file(path: &Path, args: &PlanArgs) -> Result<Asked, Failure> {
    let document = read_run_file(path, &args.set)?;
    let outline = outline(&document)?;
    let given = (with_given(Problem::default(), &args.levels), scheduled(&args.schedule));
    let planned = planned_run(&document.run_file(), &outline, given, args.public_data);
    let planned = planned.map_err(|error| Failure::Input(error.to_string()))?;
    let PlannedRun { question, delta, uncovered, unestimated, drift, notes } = planned;
    let wiring = &outline.wiring;
    Ok(Asked {
        graph: title(wiring.kind.map_or("graph from a file", |kind| kind.name()), wiring),
        spectrum: outline.spectrum,
        neighbours: wiring.graph.max_degree() as u64,
        exchanges: outline.recipe.method.exchanges(&outline.recipe.settings),
        method: Some(outline.recipe.method),
        delta,
        uncovered,
        missing: missing_levels(&question.case.problem),
        unestimated,
        drift,
        notes,
        question,
    })
}

fn with_given(problem: Problem, args: &LevelArgs) -> Problem {
    Problem {
        smoothness: args.smoothness.map(Level::given),
        initial_gap: args.initial_gap.map(Level::given),
        heterogeneity: args.heterogeneity.map(Level::given),
        sampling_variance: args.sampling_variance.map(Level::given),
        ..problem
    }
}

fn missing_levels(problem: &Problem) -> Vec<&'static str> {
    let all = [
        ("--smoothness", problem.smoothness.is_some()),
        ("--initial-gap", problem.initial_gap.is_some()),
        ("--heterogeneity", problem.heterogeneity.is_some()),
        ("--sampling-variance", problem.sampling_variance.is_some()),
        ("--dimension", problem.dimension.is_some()),
    ];
    all.into_iter().filter(|(_, known)| !known).map(|(name, _)| name).collect()
}

fn scheduled(args: &ScheduleArgs) -> Choice {
    let c_alpha = match (args.c_alpha, args.sufficient) {
        (Some(c_alpha), _) => Multiplier::Given(c_alpha),
        (None, true) => Multiplier::Sufficient,
        (None, false) => Multiplier::Largest,
    };
    Choice { c_gamma: args.c_gamma, c_alpha, ..Choice::default() }
}

fn title(kind: &str, wiring: &Wiring) -> String {
    format!("{kind}, {} nodes, weights {}", wiring.graph.nodes(), wiring.weights)
}
