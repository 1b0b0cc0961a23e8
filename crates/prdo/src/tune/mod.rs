//! Settings for a budget, found by training on records that need no protection: which method, how many rounds, which
//! rate, step, momentum and clips.
//!
//! What never happens here: a look at protected records, unless it is asked for and entered in their statement first.

mod search;
mod space;
mod trial;

pub use space::{Axis, Edge, Settings, numbers};
pub use trial::{Budget, Scorer, TuneError};

use prdo_accounting::{Accountant, History, Method as Accounting};
use prdo_algorithm::Method;
use prdo_runfile::{Document, Key};
use rayon::prelude::*;
use search::Search;
use space::Space;

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

/// Looks for settings. `on_trial` may stop the search by returning `false`.
pub fn tune(
    scorer: &mut Scorer,
    effort: &Effort,
    mut on_trial: impl FnMut(&Trial) -> bool,
) -> Result<Answer, TuneError> {
    let (mut trials, mut best) = (Vec::new(), Vec::new());
    let mut spent = History::new();
    let together = 2 * rayon::current_num_threads();
    for method in &effort.methods {
        let space = Space::new(scorer.document(), *method, scorer.records(), &effort.keep);
        let mut search = Search::new(space, effort.trials);
        let mut own: Vec<Trial> = Vec::new();
        loop {
            let settings = search.next(together);
            if settings.is_empty() {
                break;
            }
            let tried = try_all(scorer, &settings, &[1], false, &mut spent)?;
            search.record(&tried.iter().map(Trial::mean).collect::<Vec<_>>());
            let continues = tried.iter().all(&mut on_trial);
            own.extend(tried);
            if !continues {
                break;
            }
        }
        own.sort_by(|a, b| b.mean().total_cmp(&a.mean()));
        let finalists: Vec<Settings> =
            own.iter().take(FINALISTS).map(|trial| trial.settings.clone()).collect();
        // Not the seed that they were chosen with: its luck would count twice.
        let seeds: Vec<u64> = (2..=effort.seeds.max(1) as u64 + 1).collect();
        let mut last = try_all(scorer, &finalists, &seeds, true, &mut spent)?;
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

/// Trains all settings with all seeds, several at a time, with the noise of the budget's accountant or a quick one. What they would release is added to `spent`.
fn try_all(
    scorer: &mut Scorer,
    settings: &[Settings],
    seeds: &[u64],
    exact: bool,
    spent: &mut History,
) -> Result<Vec<Trial>, TuneError> {
    let noises = settings.iter().map(|s| scorer.noise(s, exact)).collect::<Result<Vec<_>, _>>()?;
    for (settings, noise) in settings.iter().zip(&noises) {
        for seed in seeds {
            if let Some(release) = scorer.release(settings, *noise)? {
                scorer.charge(settings, *seed, &release)?;
                spent.append(&release);
            }
        }
    }
    let scorer = &*scorer;
    let pairs: Vec<(&Settings, &Option<f64>)> = settings.iter().zip(&noises).collect();
    let train = |(settings, noise): &(&Settings, &Option<f64>)| {
        let began = std::time::Instant::now();
        let scores = seeds.par_iter().map(|seed| scorer.score(settings, **noise, *seed));
        let scores = scores.collect::<Result<Vec<f64>, TuneError>>()?;
        let seconds = began.elapsed().as_secs_f64();
        Ok(Trial { settings: (*settings).clone(), noise_multiplier: **noise, scores, seconds })
    };
    pairs.par_iter().map(train).collect()
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
