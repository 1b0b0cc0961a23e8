//! The paper's first experiment: non-private heterogeneous logistic regression on a 32-node ring, with full
//! gradients (left) and with minibatches (right).

mod contestant;
mod costs;
mod page;
mod results;

pub use contestant::Contestant;
pub use results::Results;

use super::error::Error;
use prdo::prelude::*;
use rayon::prelude::*;
use results::{FullBatch, Minibatch};
use std::time::Instant;

/// The paper's setting (Appendix "Experimental settings").
#[derive(Clone, Copy)]
struct Setting {
    nodes: usize,
    records: usize,
    dimension: usize,
    rounds: u32,
    batch: usize,
    streams: u64,
    /// Rows of the minibatch panel: every so many rounds.
    minibatch_every: u32,
}

const PAPER: Setting = Setting {
    nodes: 32,
    records: 2000,
    dimension: 20,
    rounds: 600,
    batch: 16,
    streams: 5,
    minibatch_every: 5,
};
const QUICK: Setting = Setting { nodes: 16, records: 200, rounds: 300, streams: 2, ..PAPER };
const HETEROGENEITY: f64 = 0.2;
const REGULARIZATION: f64 = 0.001;
const STEP: f64 = 1.0;
const GAMMA: f64 = 0.1;
const BETA: f64 = 0.9;
const DATA_SEED: u64 = 1;

struct Curve {
    of: Contestant,
    rows: Vec<Row>,
}

pub struct Figure1 {
    setting: Setting,
    quick: bool,
    contestants: Vec<Contestant>,
    full: Vec<Curve>,
    minibatch: Vec<Curve>,
    pub results: Results,
}

fn setting(quick: bool) -> Setting {
    if quick { QUICK } else { PAPER }
}

pub fn runs(quick: bool, contestants: &[Contestant]) -> u64 {
    1 + contestants.len() as u64 * (1 + setting(quick).streams)
}

/// Runs these, in full or in a smaller version; `tick` is told what was run.
pub fn measure(
    quick: bool,
    contestants: &[Contestant],
    tick: &(dyn Fn(&str) + Sync),
) -> Result<Figure1, Error> {
    let (setting, started) = (setting(quick), Instant::now());
    let full = full_batch(&setting, contestants, tick)?;
    let agreement = prdo_against_ed(&setting)?;
    tick("PRDO against ED");
    let minibatch = minibatch(&setting, contestants, tick)?;
    let results = Results {
        full_batch: FullBatch::of(&full, agreement),
        minibatch: Minibatch::of(contestants, &minibatch, setting.streams),
        quick,
        seconds: started.elapsed().as_secs_f64(),
    };
    Ok(Figure1 { setting, quick, contestants: contestants.to_vec(), full, minibatch, results })
}

fn problem(setting: &Setting, of: Contestant) -> Result<Run<Logistic>, RunError> {
    let Setting { nodes, records, dimension, .. } = *setting;
    let data = prdo::data::generate::logistic(nodes, records, dimension, HETEROGENEITY, DATA_SEED)?;
    let ring = Mixing::new(&Graph::ring(nodes)?, Weights::Paper, false)?;
    let settings = of.settings(Settings::new(STEP).gamma(GAMMA).beta(BETA));
    let model = Logistic::new(dimension, REGULARIZATION)?;
    Ok(Run::new(model, data, ring, of.method, settings).rounds(setting.rounds))
}

fn full_batch(
    setting: &Setting,
    contestants: &[Contestant],
    tick: &(dyn Fn(&str) + Sync),
) -> Result<Vec<Curve>, Error> {
    let curve = |of: &Contestant| {
        let outcome = problem(setting, *of)?.record_every(1).train()?;
        tick(&of.title());
        Ok(Curve { of: *of, rows: outcome.rows })
    };
    contestants.iter().map(curve).collect()
}

/// Five paired streams: stream s draws the same batches for every method. PRDO starts from the full gradient.
fn minibatch(
    setting: &Setting,
    contestants: &[Contestant],
    tick: &(dyn Fn(&str) + Sync),
) -> Result<Vec<Curve>, Error> {
    let jobs: Vec<(Contestant, u64)> =
        contestants.iter().flat_map(|m| (1..=setting.streams).map(move |s| (*m, s))).collect();
    let curve = |(of, stream): &(Contestant, u64)| {
        let outcome = problem(setting, *of)?
            .batch(setting.batch, Sampling::WithoutReplacement)
            .first_batch(setting.records)
            .seed(*stream)
            .record_every(setting.minibatch_every)
            .train()?;
        tick(&of.title());
        Ok(Curve { of: *of, rows: outcome.rows })
    };
    jobs.par_iter().map(curve).collect()
}

/// The largest relative difference ‖X_PRDO − X_ED‖_F / ‖X_ED‖_F over all rounds, full batch.
fn prdo_against_ed(setting: &Setting) -> Result<f64, Error> {
    let mut ed = problem(setting, Contestant::plain(Method::Ed))?.prepare()?.training;
    let mut prdo = problem(setting, Contestant::plain(Method::Prdo))?.prepare()?.training;
    let mut largest = 0.0_f64;
    for _ in 0..setting.rounds {
        ed.step(false).map_err(RunError::from)?;
        prdo.step(false).map_err(RunError::from)?;
        let (mut difference, mut size) = (0.0, 0.0);
        for (a, b) in ed.models().iter().zip(prdo.models()) {
            for (a, b) in a.iter().zip(b) {
                difference += (a - b) * (a - b);
                size += a * a;
            }
        }
        largest = largest.max((difference / size).sqrt());
    }
    Ok(largest)
}
