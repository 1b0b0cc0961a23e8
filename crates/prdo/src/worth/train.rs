//! The runs behind an answer: everyone together and each alone, with and without privacy, with every seed.

use super::{Organisation, Question, Trained, Worth, WorthError};
use crate::build::{BoxedModel, Holdings, Recipe, common_class, hash_network, hash_records};
use crate::error::RunError;
use crate::parts::{Fate, MadeRun, Parts};
use crate::run::{Guarantee, Prepared, Privacy, PrivacySettings, Run};
use crate::trainer::{Identity, TrainError};
use prdo_algorithm::graph::{Graph, Mixing, Mixings, Weights};
use prdo_data::{Feature, Table};
use prdo_privacy::{Model, Records, Sampling};
use prdo_runfile::Key;
use prdo_simulator::{Row, auc_values};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

pub(super) struct Trainer<'a, F: Feature> {
    pub(super) question: &'a Question,
    pub(super) holdings: &'a Holdings<F>,
    pub(super) parts: &'a Parts<'a>,
    pub(super) model: &'a (dyn Fn() -> Option<BoxedModel<F>> + Sync),
}

struct Task<'a> {
    /// What its files are called, before the seed.
    name: String,
    who: String,
    /// Whether it is without privacy, for what privacy costs.
    open: bool,
    /// Everyone, or one organisation.
    nodes: Vec<usize>,
    mixing: &'a Mixings,
    recipe: &'a Recipe,
    /// b₀, b, and how batches are drawn.
    batch: (usize, usize, Sampling),
    guarantee: Option<Guarantee>,
}

/// How good one model is on the held-out records: as a whole, and record by record ([`Trained`] says what that is).
#[derive(Serialize, Deserialize)]
struct Score {
    accuracy: Option<f64>,
    auc: Option<f64>,
    falling: Option<f64>,
    right: Vec<f32>,
    ranks: Vec<f32>,
}

impl Task<'_> {
    /// Whether the model of all had learned what there is to learn without noise, its loss tells.
    fn watched(&self) -> bool {
        self.guarantee.is_none() && self.nodes.len() > 1 && self.recipe.rounds >= PARTS
    }
}

fn needed(key: Key) -> RunError {
    RunError::missing(key, "accuracy is measured")
}

impl<F: Feature> Trainer<'_, F> {
    pub(super) fn answer(&self, seeds: &[u64], on_run: &(dyn Fn(&str) + Sync)) -> Result<Worth, WorthError> {
        let alone = single().map_err(WorthError::of("an organisation alone", false))?.into();
        let tasks = self.tasks(&alone)?;
        let jobs: Vec<(&Task<'_>, u64)> =
            tasks.iter().flat_map(|task| seeds.iter().map(move |seed| (task, *seed))).collect();
        let records = self.records();
        let train = |(task, seed): &(&Task<'_>, u64)| {
            let score = self.once(task, *seed, &records)?;
            on_run(&task.who);
            Ok(score)
        };
        let scores = jobs.par_iter().map(train).collect::<Result<Vec<Score>, WorthError>>()?;
        let mut trained = tasks.iter().zip(scores.chunks(seeds.len().max(1))).map(|(task, scores)| Trained {
            accuracy: scores.iter().filter_map(|score| score.accuracy).collect(),
            auc: scores.iter().filter_map(|score| score.auc).collect(),
            right: means(scores.iter().map(|score| &score.right)),
            ranks: means(scores.iter().map(|score| &score.ranks)),
            falling: scores
                .iter()
                .map(|score| score.falling)
                .sum::<Option<f64>>()
                .map(|sum| sum / scores.len() as f64),
            guarantee: task.guarantee,
            batch: task.batch.1,
        });
        // Tasks come in pairs, with privacy and without: first everyone's, then each organisation's.
        let mut pair = || trained.next().zip(trained.next());
        let missing = || RunError::missing(Key::Seed, "at least one run is needed");
        let nothing = || WorthError::of("everyone together", false)(missing());
        let (together, open) = pair().ok_or_else(nothing)?;
        let mut organisations = Vec::with_capacity(self.holdings.nodes.len());
        for (node, table) in self.holdings.nodes.iter().enumerate() {
            let (alone, open) = pair().ok_or_else(nothing)?;
            organisations.push(Organisation { name: self.name(node), records: table.len(), alone, open });
        }
        let held_out = self.holdings.held_out.as_ref();
        Ok(Worth {
            together,
            open,
            organisations,
            most_common_class: held_out.and_then(common_class),
            test_records: held_out.map_or(0, Table::len),
            open_rounds: self.question.open.rounds,
        })
    }

    fn name(&self, node: usize) -> String {
        let named = self.holdings.node_names.as_ref().and_then(|names| names.get(node)).cloned();
        named.unwrap_or_else(|| node.to_string())
    }

    fn tasks<'a>(&'a self, alone: &'a Mixings) -> Result<Vec<Task<'a>>, WorthError> {
        let (outline, open) = (&self.question.outline, &self.question.open);
        let everyone = (0..self.holdings.nodes.len()).collect();
        let mut groups = vec![("everyone together".to_string(), everyone, &outline.wiring.mixing)];
        for node in 0..self.holdings.nodes.len() {
            groups.push((format!("{} alone", self.name(node)), vec![node], alone));
        }
        let mut tasks: Vec<Task<'a>> = Vec::with_capacity(2 * groups.len());
        for (who, nodes, mixing) in groups {
            let records = nodes.iter().filter_map(|n| self.holdings.nodes.get(*n)).map(Table::len);
            let least = records.min().unwrap_or(0);
            let batch = batch(&outline.recipe, least);
            let guarantee = self.guarantee(batch, least, &tasks);
            let guarantee = guarantee.map_err(WorthError::of(&who, false))?;
            let name =
                if nodes.len() == 1 { format!("alone-{}", tasks.len() / 2 - 1) } else { "together".into() };
            let recipe = &outline.recipe;
            let private = Task { name, who, open: false, nodes, mixing, recipe, batch, guarantee };
            let without = Task {
                name: format!("{}-open", private.name),
                who: format!("{}, without privacy", private.who),
                open: true,
                nodes: private.nodes.clone(),
                recipe: open,
                batch: self::batch(open, least),
                guarantee: None,
                ..private
            };
            tasks.extend([private, without]);
        }
        Ok(tasks)
    }

    /// The noise of a run on so many records: what another run with the same rates has, or else calibrated to the budget.
    fn guarantee(
        &self,
        (first, size, _): (usize, usize, Sampling),
        least: usize,
        known: &[Task<'_>],
    ) -> Result<Option<Guarantee>, RunError> {
        let (outline, records) = (&self.question.outline, least.max(1) as f64);
        let recipe = &outline.recipe;
        let Some(privacy) = recipe.privacy else { return Ok(None) };
        let first_batch = recipe.method.card().first_batch;
        let rate = size as f64 / records;
        let first_rate = if first_batch { first as f64 / records } else { rate };
        let mut found = self.question.joint.into_iter().chain(known.iter().filter_map(|task| task.guarantee));
        if let Some(same) = found.find(|g| g.rate == rate && g.first_rate == first_rate) {
            return Ok(Some(same));
        }
        let (accounting, rounds) = (recipe.accounting, recipe.rounds);
        let settings =
            PrivacySettings { privacy, accounting, first_batch, batch: (first, size), least, rounds };
        settings.guarantee(&outline.spent).map(Some)
    }

    /// What tells these records from others.
    fn records(&self) -> blake3::Hasher {
        let mut hasher = blake3::Hasher::new();
        hash_records(&mut hasher, self.holdings);
        hash_network(&mut hasher, &self.question.outline.wiring);
        hasher
    }

    /// A task with one seed, unless it was finished before.
    fn once(&self, task: &Task<'_>, seed: u64, records: &blake3::Hasher) -> Result<Score, WorthError> {
        let settings =
            format!("{}\n{}\nseed = {seed}\n", self.question.settings[usize::from(task.open)], task.who);
        let mut hasher = records.clone();
        hasher.update(settings.as_bytes());
        let identity = Identity { fingerprint: *hasher.finalize().as_bytes(), settings };
        let failed = |error: RunError| WorthError::of(&task.who, task.open)(error);
        let run = || {
            let prepared = self.prepare(task, seed).map_err(TrainError::from)?;
            Ok(MadeRun { prepared, identity: identity.clone() })
        };
        let name = format!("{}-{seed}", task.name);
        let first =
            MadeRun { prepared: self.prepare(task, seed).map_err(failed)?, identity: identity.clone() };
        let fate = self.parts.part(&name, first, run, |run, trained| {
            let outcome = run.prepared.outcome(trained.rows, trained.moments);
            let (right, ranks) = self.by_record(&outcome.average);
            let falling = if task.watched() { falling(&outcome.rows) } else { None };
            let accuracy = outcome.last().and_then(|row| row.test_accuracy);
            Score { accuracy, auc: outcome.test_auc, falling, right, ranks }
        });
        match fate? {
            Fate::Finished(Score { accuracy: None, .. }) => Err(failed(needed(Key::ModelKind))),
            Fate::Finished(score) => Ok(score),
            Fate::Failed(error) => Err(failed(error)),
            Fate::Stopped => Err(WorthError::Interrupted),
        }
    }

    fn prepare(&self, task: &Task<'_>, seed: u64) -> Result<Prepared, RunError> {
        let model = (self.model)().ok_or_else(|| needed(Key::ModelKind))?;
        let held_out = self.holdings.held_out.clone().ok_or_else(|| needed(Key::DataTest))?;
        let tables = task.nodes.iter().filter_map(|n| self.holdings.nodes.get(*n).cloned()).collect();
        let (recipe, outline) = (task.recipe, &self.question.outline);
        // Organisations that train alone must not have the same noise, only because each is the first of one.
        let seed = match task.nodes[..] {
            [node] => seed ^ ((node as u64 + 1) << 32),
            _ => seed,
        };
        let (every, measured) =
            if task.watched() { (recipe.rounds / PARTS, MEASURED) } else { (recipe.rounds, 1) };
        let mut run = Run::new(model, tables, task.mixing.clone(), recipe.method, recipe.settings.clone())
            .rounds(recipe.rounds)
            .record_every(every)
            .measure_on(measured)
            .seed(seed)
            .allow_indefinite(self.question.allow_indefinite)
            .batch(task.batch.1, task.batch.2)
            .first_batch(task.batch.0)
            .start(outline.model.start.clone())
            .held_out(held_out);
        if let Some((gradient, difference)) = recipe.clip {
            run = run.clip(gradient, difference);
        }
        if let Some(g) = task.guarantee {
            let privacy = Privacy::Noise { multiplier: g.noise_multiplier, delta: g.delta };
            run = run.private(privacy).accounting(g.accounting).after(outline.spent.clone());
        }
        run.prepare()
    }

    /// Which held-out records a model gets right, and each one's part in the area under the ROC curve, as far as that
    /// can be told.
    fn by_record(&self, x: &[f64]) -> (Vec<f32>, Vec<f32>) {
        let (Some(model), Some(table)) = ((self.model)(), &self.holdings.held_out) else {
            return (Vec::new(), Vec::new());
        };
        let one = |r: usize| model.correct(x, table, r).map(f32::from);
        let right = if model.engine().is_none() { (0..table.len()).map(one).collect() } else { None };
        let ranked = model.ranked(x, table, Records::Run(0, table.len()));
        let ranks = ranked.and_then(|ranked| auc_values(&ranked));
        let ranks = ranks.map(|values| values.into_iter().map(|value| value as f32).collect());
        (right.unwrap_or_default(), ranks.unwrap_or_default())
    }
}

/// Into so many parts the rounds are divided, to see whether the loss still falls over the last.
const PARTS: u32 = 5;
/// On so many records of each organisation the loss is measured for that.
const MEASURED: usize = 500;

/// How much of all that the loss fell it fell in the last part of the rounds.
fn falling(rows: &[Row]) -> Option<f64> {
    let (first, last) = (rows.first()?, rows.last()?);
    let part = last.round / PARTS;
    let before = rows.iter().rev().find(|row| row.round + part <= last.round)?;
    let share = (before.loss - last.loss) / (first.loss - last.loss);
    (first.loss > last.loss && share.is_finite()).then_some(share)
}

/// The means of values at the same place; nothing where some lists are of another length.
fn means<'a>(lists: impl ExactSizeIterator<Item = &'a Vec<f32>>) -> Vec<f32> {
    let count = lists.len() as f32;
    let mut sums: Option<Vec<f32>> = None;
    for list in lists {
        let sums = sums.get_or_insert_with(|| vec![0.0; list.len()]);
        if sums.len() != list.len() {
            return Vec::new();
        }
        sums.iter_mut().zip(list).for_each(|(sum, value)| *sum += value);
    }
    sums.unwrap_or_default().into_iter().map(|sum| sum / count).collect()
}

fn single() -> Result<Mixing, RunError> {
    Ok(Mixing::new(&Graph::complete(1)?, Weights::Metropolis, false)?)
}

/// The batch with which records of a node of `least` are drawn as often as those of the smallest node of all.
fn batch(recipe: &Recipe, least: usize) -> (usize, usize, Sampling) {
    let (first, size, sampling) = recipe.batch;
    let share = |b: usize| {
        let own = b as u128 * least as u128 / recipe.least.max(1) as u128;
        usize::try_from(own).unwrap_or(least).clamp(1, least.max(1))
    };
    match sampling {
        Sampling::Full => (least, least, sampling),
        _ => (share(first), share(size), sampling),
    }
}
