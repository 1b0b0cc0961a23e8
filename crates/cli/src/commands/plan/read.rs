//! What is asked, from a run file or from options.

use crate::cli::plan::{LevelArgs, PlanArgs, ScheduleArgs};
use crate::commands::{Failure, graph, read_run_file};
use prdo::accounting::{History, Method as Accounting};
use prdo::algorithm::Method;
use prdo::algorithm::graph::{NetworkError, Parameters, Spectrum};
use prdo::build::{AnyHoldings, Outline, Wiring, outline};
use prdo::plan::other::lambda;
use prdo::plan::{
    Account, Case, Choice, Family, Level, Multiplier, Noise, Problem, PublicRecords, Question, Sampled,
    Strength,
};
use prdo::privacy::Sampling;
use prdo::run::Privacy;
use prdo::runfile::{DataSource, RunFile};
use std::path::Path;

/// A question with what its answer shows besides.
pub struct Asked {
    pub question: Question,
    /// The graph and its weights, in words.
    pub graph: String,
    pub spectrum: Spectrum,
    /// The most neighbours that a node has.
    pub degree: u64,
    pub method: Option<Method>,
    /// δ, where there is a budget or a price.
    pub delta: Option<f64>,
    /// Why the theorem does not cover the run, if it does not.
    pub uncovered: Option<String>,
    /// What is not known, as options.
    pub missing: Vec<&'static str>,
    pub unestimated: Option<String>,
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
    let spectrum = wiring.mixing.check(false).map_err(|e| match e {
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
        degree: wiring.graph.max_degree() as u64,
        method: None,
        delta,
        uncovered: None,
        missing,
        unestimated: None,
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
    let (outline, run) = (outline(&document)?, document.run_file());
    let (recipe, wiring) = (&outline.recipe, &outline.wiring);
    let (first, size, sampling) = recipe.batch;
    let gamma = recipe.method.asks(&recipe.settings, 1).gamma();
    let first = if recipe.method.card().first_batch { first } else { size };
    let known = Problem { dimension: Some(outline.model.dimension as u64), ..Problem::default() };
    let (problem, unestimated) = constants(&run, &outline, with_given(known, &args.levels), args);
    let case = Case {
        nodes: wiring.graph.nodes() as u64,
        rounds: u64::from(recipe.rounds),
        batch: size as u64,
        slots: Some(recipe.least as u64),
        lambda: lambda(&outline.spectrum),
        problem,
        noise: noise_of_recipe(&run, &outline),
    };
    let mut notes = recipe.warnings.clone();
    if sampling == Sampling::WithoutReplacement {
        notes.push("the paper samples by Poisson; without replacement the variance is no larger".into());
    }
    let delta = recipe.privacy.map(|(Privacy::Budget { delta, .. } | Privacy::Noise { delta, .. })| delta);
    Ok(Asked {
        graph: title(wiring.kind.map_or("graph from a file", |kind| kind.name()), wiring),
        spectrum: outline.spectrum,
        degree: wiring.graph.max_degree() as u64,
        method: Some(recipe.method),
        delta,
        uncovered: uncovered(&outline),
        missing: missing_levels(&case.problem),
        unestimated,
        notes,
        question: Question {
            case,
            own: Some(Choice::fixed(recipe.settings.step_size, gamma, first as u64)),
            schedule: scheduled(&args.schedule),
            family: family(wiring, run.graph.parameters),
        },
    })
}

/// Why the theorem does not speak of this run.
fn uncovered(outline: &Outline) -> Option<String> {
    let smallest = outline.spectrum.smallest;
    if smallest < -1e-9 {
        return Some(format!("W has the negative eigenvalue {smallest:.3}, which the theorem excludes"));
    }
    let method = outline.recipe.method;
    (![Method::Prdo, Method::Ed].contains(&method))
        .then(|| format!("it is about PRDO and Exact Diffusion (γ = 1), not about {}", method.card().title))
}

fn noise_of_recipe(run: &RunFile, outline: &Outline) -> Noise {
    let recipe = &outline.recipe;
    let account = |delta| Account { delta, accounting: recipe.accounting, spent: outline.spent.clone() };
    let strength = match recipe.privacy {
        Some(Privacy::Budget { epsilon, delta }) => Strength::Budget { epsilon, account: account(delta) },
        Some(Privacy::Noise { multiplier, delta }) => {
            Strength::Multiplier { z: multiplier, account: Some(account(delta)) }
        }
        None => return Noise::Absent,
    };
    let gradient_clip = recipe.clip.map_or(1.0, |(gradient, _)| gradient);
    Noise::Scaled { gradient_clip, difference_clip: run.clip.difference, strength }
}

/// The constants that were not given, from generated or public records; or why not.
fn constants(run: &RunFile, outline: &Outline, given: Problem, args: &PlanArgs) -> (Problem, Option<String>) {
    if missing_levels(&given).is_empty() {
        return (given, None);
    }
    if run.data.source == Some(DataSource::File) && !args.public_data {
        let why = "the data is a file, which is not read for this: constants computed from private records reveal \
                   something that is not in the budget. Give them as options, or --public-data if these records \
                   are public";
        return (given, Some(why.into()));
    }
    let (first, size, sampling) = outline.recipe.batch;
    let rate = match sampling {
        Sampling::Full => 1.0,
        _ => first.min(size) as f64 / outline.recipe.least.max(1) as f64,
    };
    let sampled = Sampled { rate, gradient_clip: outline.recipe.clip.map(|(gradient, _)| gradient) };
    let (form, start) = (&outline.model.form, outline.model.start.values());
    let found = match (&outline.records, outline.model.images()) {
        (AnyHoldings::Images(holdings), Some(model)) => {
            PublicRecords { form, model: &*model, nodes: &holdings.nodes, start }.constants(sampled)
        }
        (AnyHoldings::Features(holdings), _) => match outline.model.mapped() {
            Some(model) => {
                PublicRecords { form, model: &*model, nodes: &holdings.nodes, start }.constants(sampled)
            }
            None => return (given, None),
        },
        (AnyHoldings::Numbers(holdings), _) => {
            let model = outline.model.numbers();
            PublicRecords { form, model: &*model, nodes: &holdings.nodes, start }.constants(sampled)
        }
        (AnyHoldings::Images(_), None) => return (given, None),
    };
    let why = found
        .initial_gap
        .is_none()
        .then(|| "f has no lower bound on these records, so Δ_f is infinite".into());
    let problem = Problem {
        smoothness: given.smoothness.or(found.smoothness),
        initial_gap: given.initial_gap.or(found.initial_gap),
        heterogeneity: given.heterogeneity.or(found.heterogeneity),
        sampling_variance: given.sampling_variance.or(found.sampling_variance),
        ..found
    };
    (problem, why)
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

fn family(wiring: &Wiring, parameters: Parameters) -> Option<Family> {
    let (kind, (weights, lazy)) = wiring.kind.zip(wiring.rule)?;
    Some(Family { kind, parameters, weights, lazy })
}

fn title(kind: &str, wiring: &Wiring) -> String {
    format!("{kind}, {} nodes, weights {}", wiring.graph.nodes(), wiring.weights)
}
