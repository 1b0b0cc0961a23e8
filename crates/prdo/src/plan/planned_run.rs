//! The question that a run file asks.

use super::pairs::{Drift, PlannedPairs, drift};
use super::{
    Account, Case, Choice, Family, Noise, Problem, PublicRecords, Question, Sampled, Strength, other,
};
use crate::build::{AnyHoldings, Outline, Wiring};
use crate::error::RunError;
use crate::run::Privacy;
use prdo_algorithm::graph::Parameters;
use prdo_algorithm::methods::key;
use prdo_algorithm::{Asks, Method};
use prdo_privacy::Sampling;
use prdo_runfile::{DataSource, RunFile};
use std::fmt;

/// Why the theorem does not speak of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Uncovered {
    /// W has this negative eigenvalue.
    Indefinite(f64),
    OtherMethod(Method),
}

impl fmt::Display for Uncovered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Indefinite(smallest) => {
                write!(f, "W has the negative eigenvalue {smallest:.3}, which the theorem excludes")
            }
            Self::OtherMethod(method) => {
                let title = method.card().title;
                write!(f, "it is about PRDO and Exact Diffusion (γ = 1), not about {title}")
            }
        }
    }
}

/// Why constants of the problem were not computed from its records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unestimated {
    /// The records are a file's that nobody declared public.
    Protected,
    /// f has no lower bound.
    Unbounded,
}

impl fmt::Display for Unestimated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Protected => {
                "the data is a file, which is not read for this: constants computed from private records reveal something \
                 that is not in the budget. Give them as options, or --public-data if these records are public"
            }
            Self::Unbounded => "f has no lower bound on these records, so Δ_f is infinite",
        })
    }
}

/// What a run file and its data say, for the theorem.
pub struct PlannedRun {
    pub question: Question,
    /// δ, where there is a budget or a price.
    pub delta: Option<f64>,
    pub uncovered: Option<Uncovered>,
    pub unestimated: Option<Unestimated>,
    /// How far nodes drift apart, with noise in pairs.
    pub drift: Option<Drift>,
    /// What should be thought about.
    pub notes: Vec<String>,
}

/// What the theorem has to do with noise in pairs.
const PAIRS: &str = "the paper's theorem is stated for noise that is independent between nodes; with noise in pairs the bound here has \
     own noise where the mean of all nodes counts and all noise of an answer where the nodes' disagreement does, by the paper's own \
     steps, which use independence for nothing else: the paper does not state it";

/// The question of a run, where `given` are the constants that are known and `schedule` is how others would be chosen.
/// Records that are generated or bundled, or that the caller declares public, are asked for the missing constants.
pub fn planned_run(
    run: &RunFile,
    outline: &Outline,
    (given, schedule): (Problem, Choice),
    public: bool,
) -> Result<PlannedRun, RunError> {
    let pairs = PlannedPairs::of(outline)?;
    let drift = pairs.as_ref().and_then(|pairs| drift(outline, pairs));
    let (recipe, wiring, lambda) = (&outline.recipe, &outline.wiring, other::lambda(&outline.spectrum));
    let mixed = recipe.method.mixed(&recipe.settings, lambda);
    let (first, size, sampling) = recipe.batch;
    // The theorem's γ, for what is not of its kind: Exact Diffusion's.
    let gamma = match recipe.method.asks(&recipe.settings, 1) {
        Asks::Recursive { gamma, .. } if gamma > 0.0 => gamma,
        Asks::Gradient | Asks::Recursive { .. } | Asks::Scaled { .. } => 1.0,
    };
    let first = if recipe.method.card().first_batch { first } else { size };
    let given = Problem { dimension: Some(outline.model.dimension as u64), ..given };
    let (problem, unestimated) = constants(run, outline, given, public);
    let case = Case {
        nodes: wiring.graph.nodes() as u64,
        rounds: u64::from(recipe.rounds),
        batch: size as u64,
        slots: Some(recipe.least as u64),
        lambda: mixed,
        problem,
        noise: noise(run, outline),
        pairs,
    };
    let mut notes = recipe.warnings.clone();
    notes.extend(case.pairs.is_some().then(|| PAIRS.to_string()));
    if sampling == Sampling::WithoutReplacement {
        notes.push("the paper samples by Poisson; without replacement the variance is no larger".into());
    }
    let laws = recipe.settings.laws(recipe.method.card());
    notes.extend(laws.iter().filter(|(_, law)| law.varies()).map(|(name, law)| {
        format!(
            "{} = {:?} changes from round to round: the theory here is for its first number, {}",
            key(name),
            law.to_string(),
            law.at(0)
        )
    }));
    let own = Some(Choice::fixed(recipe.settings.step_size.at(0), gamma, first as u64));
    // Other sizes would have other polynomials.
    let family = family(wiring, run.graph.parameters).filter(|_| mixed == lambda);
    Ok(PlannedRun {
        question: Question { case, own, schedule, family },
        delta: recipe.privacy.map(|(Privacy::Budget { delta, .. } | Privacy::Noise { delta, .. })| delta),
        uncovered: uncovered(outline),
        unestimated,
        drift,
        notes,
    })
}

/// The graphs that a network is one of, where other sizes can be asked about.
pub fn family(wiring: &Wiring, parameters: Parameters) -> Option<Family> {
    let (kind, (weights, lazy)) = wiring.kind.zip(wiring.rule)?;
    Some(Family { kind, parameters, weights, lazy })
}

fn uncovered(outline: &Outline) -> Option<Uncovered> {
    let (smallest, method) = (outline.spectrum.smallest, outline.recipe.method);
    if smallest < -1e-9 {
        return Some(Uncovered::Indefinite(smallest));
    }
    (![Method::Prdo, Method::Ed].contains(&method)).then_some(Uncovered::OtherMethod(method))
}

fn noise(run: &RunFile, outline: &Outline) -> Noise {
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
fn constants(
    run: &RunFile,
    outline: &Outline,
    given: Problem,
    public: bool,
) -> (Problem, Option<Unestimated>) {
    if given.is_known() {
        return (given, None);
    }
    if run.data.source == Some(DataSource::File) && !public {
        return (given, Some(Unestimated::Protected));
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
    let unestimated = found.initial_gap.is_none().then_some(Unestimated::Unbounded);
    let problem = Problem {
        smoothness: given.smoothness.or(found.smoothness),
        initial_gap: given.initial_gap.or(found.initial_gap),
        heterogeneity: given.heterogeneity.or(found.heterogeneity),
        sampling_variance: given.sampling_variance.or(found.sampling_variance),
        ..found
    };
    (problem, unestimated)
}
