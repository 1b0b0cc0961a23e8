//! Settings for a budget, found by training on records that need no protection: which method, how many rounds, which
//! rate, step, momentum and clips.
//!
//! What never happens here: a look at protected records, unless it is asked for and entered in their statement first.

mod drawn_table;
mod records;
mod search;
mod space;
mod trial;

pub use records::{TuneOn, TuningData};
pub use space::{Axis, Edge, Settings, numbers};
pub use trial::{Budget, Scorer, TuneError};

use crate::parts::Parts;
use prdo_accounting::{Accountant, History, Method as Accounting};
use prdo_algorithm::Method;
use prdo_runfile::{Document, Key};
use rayon::prelude::*;
use search::Search;
use space::Space;
use trial::{Named, Scored};

#[derive(Clone, Debug)]
pub struct Effort {
    pub methods: Vec<Method>,
    pub trials: usize,
    /// Seeds with which each method's best settings are tried again.
    pub seeds: usize,
    /// What stays as the run file says.
    pub keep: Vec<Axis>,
}

#[derive(Clone, Debug)]
pub struct Trial {
    pub settings: Settings,
    /// The noise multiplier that the budget asks for, on the records that are meant; `None` without a budget.
    pub noise_multiplier: Option<f64>,
    /// The score with each seed: accuracy, or minus the late gradient norm. Minus infinity where training diverged.
    pub scores: Vec<f64>,
    /// Of training with all seeds, one after the other.
    pub seconds: f64,
}

impl Trial {
    pub fn mean(&self) -> f64 {
        self.scores.iter().sum::<f64>() / self.scores.len().max(1) as f64
    }
}

#[derive(Clone, Debug)]
pub struct Answer {
    /// Every trial in the order in which they ended, method by method.
    pub trials: Vec<Trial>,
    /// Each method's best, with all seeds, best first.
    pub best: Vec<Trial>,
    /// ε at the budget's δ that as many releases about protected records would have cost together (an upper bound).
    pub cost: Option<f64>,
    /// What the best of all has at an end of its range.
    pub edges: Vec<Edge>,
}

/// How many of a method's settings are tried again with all seeds.
const FINALISTS: usize = 3;
/// How many settings are tried at a time: the same on every machine, since the next ones depend on their scores.
const TOGETHER: usize = 4;

impl Effort {
    /// How many runs that is.
    pub fn runs(&self) -> usize {
        self.methods.len() * (self.trials + self.trials.min(FINALISTS) * self.seeds.max(1))
    }
}

/// Looks for settings. Trials are kept as `parts`, until they are removed: those that were finished before are not trained
/// again, nor paid for.
pub fn tune(
    scorer: &mut Scorer,
    effort: &Effort,
    parts: &Parts<'_>,
    mut on_trial: impl FnMut(&Trial),
) -> Result<Answer, TuneError> {
    constants_only(scorer.document())?;
    scorer.spent_before(parts)?;
    let (mut trials, mut best) = (Vec::new(), Vec::new());
    let mut spent = History::new();
    for method in &effort.methods {
        let space = Space::new(scorer.document(), *method, scorer.records(), &effort.keep);
        let mut search = Search::new(space, effort.trials);
        let mut own: Vec<Trial> = Vec::new();
        loop {
            let settings = search.next(TOGETHER);
            if settings.is_empty() {
                break;
            }
            let named = (method.card().name, own.len());
            let tried = try_all(scorer, parts, named, &settings, (&[1], false), &mut spent)?;
            search.record(&tried.iter().map(Trial::mean).collect::<Vec<_>>());
            tried.iter().for_each(&mut on_trial);
            own.extend(tried);
        }
        own.sort_by(|a, b| b.mean().total_cmp(&a.mean()));
        let finalists: Vec<Settings> =
            own.iter().take(FINALISTS).map(|trial| trial.settings.clone()).collect();
        // Not the seed that they were chosen with: its luck would count twice.
        let seeds: Vec<u64> = (2..=effort.seeds.max(1) as u64 + 1).collect();
        let named = (method.card().name, own.len());
        let mut last = try_all(scorer, parts, named, &finalists, (&seeds, true), &mut spent)?;
        last.sort_by(|a, b| b.mean().total_cmp(&a.mean()));
        best.extend(last.into_iter().next());
        trials.extend(own);
    }
    best.sort_by(|a, b| b.mean().total_cmp(&a.mean()));
    let cost = scorer.budget().and_then(|budget| {
        let accountant = Accountant::new(Accounting::Renyi);
        accountant.epsilon(&spent, budget.delta).ok().map(|bounds| bounds.upper)
    });
    let edges = best.first().map_or_else(Vec::new, |best| {
        let method = best.settings.method;
        Space::new(scorer.document(), method, scorer.records(), &effort.keep).edges(&best.settings)
    });
    Ok(Answer { trials, best, cost, edges })
}

/// The search is for constants: a law would silently become one.
fn constants_only(document: &Document) -> Result<(), TuneError> {
    let keys = Key::parameters().map(|(key, _)| key).chain([Key::MethodStepSize]);
    let mut laws = keys.filter_map(|key| Some((key, document.by_round(key)?)));
    match laws.find(|(_, law)| law.varies()) {
        Some((key, law)) => Err(TuneError::ByRound { key: key.path(), law: law.to_string() }),
        None => Ok(()),
    }
}

/// Trains all settings with all seeds, several at a time, with the noise of the budget's accountant (exact) or a quick one.
/// What they would release is added to `spent`. Trials are numbered from the one given.
fn try_all(
    scorer: &mut Scorer,
    parts: &Parts<'_>,
    (method, first): (&str, usize),
    settings: &[Settings],
    (seeds, exact): (&[u64], bool),
    spent: &mut History,
) -> Result<Vec<Trial>, TuneError> {
    let noises = settings.iter().map(|s| scorer.noise(s, exact)).collect::<Result<Vec<_>, _>>()?;
    let scorer = &*scorer;
    let releases = settings.iter().zip(&noises).map(|(settings, noise)| scorer.release(settings, *noise));
    let releases = releases.collect::<Result<Vec<Option<History>>, _>>()?;
    for release in releases.iter().flatten() {
        seeds.iter().for_each(|_| spent.append(release));
    }
    let train = |k: usize| {
        let (settings, noise, release) = (&settings[k], noises[k], releases[k].as_ref());
        let trial = Named { name: format!("{method}-{}", first + k), settings, noise, release };
        let scored = seeds.par_iter().map(|seed| scorer.score(&trial, *seed, parts));
        let scored = scored.collect::<Result<Vec<Scored>, TuneError>>()?;
        Ok(Trial {
            settings: settings.clone(),
            noise_multiplier: noise,
            scores: scored.iter().map(|one| one.score()).collect(),
            seconds: scored.iter().map(|one| one.seconds).sum(),
        })
    };
    (0..settings.len()).into_par_iter().map(train).collect()
}

/// A number with four digits, as run files have it.
pub fn number(x: f64) -> String {
    let digits = format!("{x:.3e}").parse::<f64>().unwrap_or(x);
    format!("{digits:?}")
}

/// The run file with these settings, as assignments that `--set` takes: `batch.size` for nodes of so many records.
pub fn assignments(settings: &Settings, records: usize) -> Vec<(Key, String)> {
    let card = settings.method.card();
    let mut all = vec![
        (Key::MethodName, card.name.to_string()),
        (Key::MethodStepSize, number(settings.step_size)),
        (Key::Rounds, settings.rounds.to_string()),
        (Key::BatchSize, batch(settings.rate, records).to_string()),
    ];
    if card.first_batch {
        all.push((Key::BatchFirst, batch(settings.rate, records).to_string()));
    }
    if let Some(clip) = settings.clip {
        all.push((Key::ClipGradient, number(clip)));
        if card.differences {
            all.push((Key::ClipDifference, number(settings.difference * clip)));
        }
    }
    all.extend(settings.parameters.iter().map(|(key, value)| (*key, number(*value))));
    all
}

fn batch(rate: f64, records: usize) -> usize {
    ((rate * records as f64).round() as usize).clamp(1, records.max(1))
}

fn assigned(document: &Document, assignments: &[(Key, String)]) -> Result<Document, TuneError> {
    let mut document = document.clone();
    for (key, value) in assignments {
        document.set(&format!("{key}={value}"))?;
    }
    Ok(document)
}
