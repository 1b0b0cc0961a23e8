//! The gate of one node: batch → per-record gradient → clip → exact sum → charge → noise → release.

use crate::clip::{self, Clip};
use crate::grid::Grid;
use crate::ledger::{Ledger, LedgerError};
use crate::model::{Data, Model, Records};
use crate::noise::add_gaussian;
use crate::protection::{Exposed, Noised, Protection};
use crate::query::Query;
use crate::released::Released;
use crate::sampling::{self, Batches, Sampling};
use crate::shard::Shard;
use crate::streams::{Purpose, Secret};
use prdo_accounting::{History, Release};
use rayon::prelude::*;
use std::sync::Arc;

/// How a private node answers: Poisson sampling, clipping and noise are not optional.
#[derive(Clone, Debug)]
pub struct PrivateRules {
    /// b₀, b and N.
    pub batches: Batches,
    /// C_g and C_Δ.
    pub clip: Clip,
    /// z: noise standard deviation over sensitivity. Checked when the release is charged.
    pub noise_multiplier: f64,
    /// What has been spent and what may be.
    pub ledger: Ledger,
}

/// How a non-private node answers. Its answers are [`Exposed`].
#[derive(Clone, Debug)]
pub struct OpenRules {
    /// b₀, b and N.
    pub batches: Batches,
    /// How a batch is drawn.
    pub sampling: Sampling,
    /// Clipping without noise, to see what clipping alone does.
    pub clip: Option<Clip>,
}

/// The sole reader of one node's sealed records.
pub struct Gate<D: Data, P: Protection> {
    shard: Shard<D>,
    node: u32,
    secret: Arc<Secret>,
    rules: P::Rules,
    next_round: u32,
}

/// What the gate lets out in one round.
#[derive(Debug)]
pub struct Answer<P: Protection> {
    /// The answer to the query.
    pub released: Released<P>,
    /// Counts that depend on the records and were *not* noised: for the node's own eyes and for simulations.
    pub diagnostics: Diagnostics,
}

/// Unprotected counts of one answer (or, added up, of many).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics {
    /// Records in the batch.
    pub records: u64,
    /// Per-record gradients evaluated.
    pub evaluations: u64,
    /// Records whose gradient was clipped.
    pub clipped_gradients: u64,
    /// Records whose gradient difference was clipped.
    pub clipped_differences: u64,
    /// Records for which a difference was evaluated.
    pub differences: u64,
    /// Records that contributed zero because a gradient was NaN or infinite.
    pub non_finite: u64,
}

impl Diagnostics {
    /// Adds another answer's counts.
    pub fn add(&mut self, other: &Self) {
        self.records += other.records;
        self.evaluations += other.evaluations;
        self.clipped_gradients += other.clipped_gradients;
        self.clipped_differences += other.clipped_differences;
        self.differences += other.differences;
        self.non_finite += other.non_finite;
    }
}

/// A query that was not answered. Nothing was released.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum GateError {
    /// The ledger refused the charge.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The model and the query's points have different sizes.
    #[error("the query's points have {query} values but the model has {model} parameters")]
    Dimension {
        /// Of the query.
        query: usize,
        /// Of the model.
        model: usize,
    },
    /// This round, or a later one, was answered already.
    #[error("round {round} was answered already; the next one is {next}")]
    RoundGoneBy {
        /// The round asked for.
        round: u32,
        /// The earliest that can be.
        next: u32,
    },
    /// An exact sum without a clip: the non-private average itself is not finite any more.
    #[error("the gradients of round {round} are not finite: the step size is too large for this problem")]
    Diverged {
        /// The round.
        round: u32,
    },
}

/// Batches of more coordinates than this are spread over threads.
const PARALLEL_WORK: usize = 1 << 17;
/// Records a thread takes at a time. Fixed, so that floating-point sums do not depend on the thread count.
const CHUNK: usize = 2048;

impl<D: Data, P: Protection> Gate<D, P> {
    /// The gate of `node` over its sealed records.
    pub fn new(node: u32, shard: Shard<D>, secret: Arc<Secret>, rules: P::Rules) -> Self {
        Self { shard, node, secret, rules, next_round: 0 }
    }

    /// Answers the method's query of `round`.
    ///
    /// # Guarantee
    /// For `Noised`, the answer is a Poisson-sampled Gaussian release with sensitivity derived from the
    /// query, and was charged to the ledger before its noise was drawn. Rounds only go up: a second answer
    /// for the same round, which would share its random streams, is refused.
    ///
    /// # Errors
    /// An exhausted budget, a round gone by, a model of another size, or (non-private) a diverged sum.
    pub fn answer<M: Model<Data = D>>(
        &mut self,
        model: &M,
        round: u32,
        query: &Query<'_, P>,
    ) -> Result<Answer<P>, GateError> {
        let (size, dimension) = (query.at.dimension(), model.dimension());
        if size != dimension {
            return Err(GateError::Dimension { query: size, model: dimension });
        }
        if round < self.next_round {
            return Err(GateError::RoundGoneBy { round, next: self.next_round });
        }
        self.next_round = round + 1;
        P::answer(self, model, round, query)
    }

    /// N, the public number of slots.
    pub fn slots(&self) -> usize {
        self.shard.slots()
    }

    /// The rules, the ledger among them.
    pub fn rules(&self) -> &P::Rules {
        &self.rules
    }

    /// ε spent so far; `None` where nothing is protected (ε = ∞).
    pub fn epsilon_spent(&self) -> Option<f64> {
        P::epsilon_spent(&self.rules)
    }

    /// What this node's records have been charged for.
    pub fn charged(&self) -> History {
        P::charged(&self.rules)
    }

    /// Continues after `rounds` answered rounds with the charges they cost.
    pub fn restore(&mut self, rounds: u32, history: &History) {
        self.next_round = rounds;
        P::restore_charges(&mut self.rules, history);
    }

    pub(crate) fn shard(&self) -> &Shard<D> {
        &self.shard
    }

    /// The sampled records (empty slots left out).
    fn batch(&self, sampling: Sampling, size: usize, round: u32) -> Vec<u32> {
        let mut stream = self.secret.stream(Purpose::Sampling, self.node, round);
        let mut slots = sampling::draw(sampling, self.shard.slots(), size, &mut stream);
        slots.retain(|slot| (*slot as usize) < self.shard.data().len());
        slots
    }

    /// Exact sum, on the grid, of the batch's clipped contributions.
    fn clipped_sum<M: Model<Data = D>>(
        &self,
        model: &M,
        query: &Query<'_, P>,
        clip: &Clip,
        grid: Grid,
        batch: &[u32],
    ) -> (Vec<i64>, Diagnostics) {
        let dimension = model.dimension();
        let part = |records: &[u32]| {
            let mut sum = vec![0_i64; dimension];
            let mut worker = Contribution::new(model, self.shard.data(), query, clip, grid);
            records.iter().for_each(|r| worker.add(*r as usize, &mut sum));
            (sum, worker.counts)
        };
        if batch.len() * dimension < PARALLEL_WORK {
            return part(batch);
        }
        let chunk = batch.len().div_ceil(rayon::current_num_threads()).clamp(1, CHUNK);
        let join = |(mut sum, mut counts): (Vec<i64>, Diagnostics),
                    (other, more): (Vec<i64>, Diagnostics)| {
            sum.iter_mut().zip(&other).for_each(|(s, o)| *s += o);
            counts.add(&more);
            (sum, counts)
        };
        batch.par_chunks(chunk).map(part).reduce(|| (vec![0; dimension], Diagnostics::default()), join)
    }
}

impl<D: Data> Gate<D, Noised> {
    /// The ledger of this node.
    pub fn ledger(&self) -> &Ledger {
        &self.rules.ledger
    }

    pub(crate) fn answer_noised<M: Model<Data = D>>(
        &mut self,
        model: &M,
        round: u32,
        query: &Query<'_, Noised>,
    ) -> Result<Answer<Noised>, GateError> {
        let (clip, size) = (self.rules.clip, self.rules.batches.size(query.batch));
        let grid = Grid::for_scale(query.scale(&clip));
        let sensitivity = query.sensitivity(&clip, grid.spacing());
        let release = Release::new(self.rules.batches.rate(query.batch), self.rules.noise_multiplier)
            .map_err(LedgerError::from)?;
        let receipt = self.rules.ledger.charge(release)?;

        let batch = self.batch(Sampling::Poisson, size, round);
        let (mut sum, diagnostics) = self.clipped_sum(model, query, &clip, grid, &batch);
        let mut stream = self.secret.stream(Purpose::Noise, self.node, round);
        add_gaussian(receipt, &mut sum, sensitivity, grid, &mut stream);
        Ok(Answer { released: average(&sum, grid, size), diagnostics })
    }
}

impl<D: Data> Gate<D, Exposed> {
    pub(crate) fn answer_exposed<M: Model<Data = D>>(
        &mut self,
        model: &M,
        round: u32,
        query: &Query<'_, Exposed>,
    ) -> Result<Answer<Exposed>, GateError> {
        let size = match self.rules.sampling {
            Sampling::Full => self.shard.slots(),
            _ => self.rules.batches.size(query.batch),
        };
        let whole = size >= self.shard.slots();
        let batch = if whole { Vec::new() } else { self.batch(self.rules.sampling, size, round) };
        if let Some(clip) = self.rules.clip {
            let all: Vec<u32> = if whole { (0..self.shard.data().len() as u32).collect() } else { batch };
            let grid = Grid::for_scale(query.scale(&clip));
            let (sum, diagnostics) = self.clipped_sum(model, query, &clip, grid, &all);
            return Ok(Answer { released: average(&sum, grid, size), diagnostics });
        }
        let records = if whole { Records::Run(0, self.shard.data().len()) } else { Records::List(&batch) };
        let released = self.plain_average(model, query, records, size);
        if !released.is_finite() {
            return Err(GateError::Diverged { round });
        }
        let count = records.len() as u64;
        let differences = if query.difference.is_some() { count } else { 0 };
        let evaluations = count * query.evaluations();
        let diagnostics = Diagnostics { records: count, evaluations, differences, ..Diagnostics::default() };
        Ok(Answer { released, diagnostics })
    }

    /// The unclipped query: sums of gradients at one or two points over the same records.
    fn plain_average<M: Model<Data = D>>(
        &self,
        model: &M,
        query: &Query<'_, Exposed>,
        records: Records<'_>,
        size: usize,
    ) -> Released<Exposed> {
        let data = self.shard.data();
        let mut at = sum_of_gradients(model, query.at.as_slice(), data, records);
        let scale = 1.0 / size as f64;
        if let Some(difference) = query.difference {
            let previous = sum_of_gradients(model, difference.previous.as_slice(), data, records);
            for (g, p) in at.iter_mut().zip(previous) {
                *g = query.gradient_weight * *g + difference.weight * (*g - p);
            }
        } else {
            at.iter_mut().for_each(|g| *g *= query.gradient_weight);
        }
        at.iter_mut().for_each(|g| *g *= scale);
        Released::from_gate(at)
    }
}

/// Σ ∇ℓ(x; r), in chunks of fixed size added in order: the same bits for any thread count.
pub(crate) fn sum_of_gradients<D: Data, M: Model<Data = D>>(
    model: &M,
    x: &[f64],
    data: &D,
    records: Records<'_>,
) -> Vec<f64> {
    let part = |chunk: Records<'_>| {
        let mut sum = vec![0.0; model.dimension()];
        model.add_gradients(x, data, chunk, &mut sum);
        sum
    };
    let Records::Run(start, end) = records else { return part(records) };
    if end - start <= CHUNK {
        return part(records);
    }
    let parts: Vec<Vec<f64>> = (0..(end - start).div_ceil(CHUNK))
        .into_par_iter()
        .map(|i| part(Records::Run(start + i * CHUNK, (start + (i + 1) * CHUNK).min(end))))
        .collect();
    let add = |mut sum: Vec<f64>, other: Vec<f64>| {
        sum.iter_mut().zip(other).for_each(|(s, o)| *s += o);
        sum
    };
    parts.into_iter().reduce(add).unwrap_or_default()
}

/// Steps on the grid divided by the public batch size.
fn average<P: Protection>(sum: &[i64], grid: Grid, size: usize) -> Released<P> {
    let b = size as f64;
    Released::from_gate(sum.iter().map(|steps| grid.value(*steps) / b).collect())
}

/// Computes one record's clipped contribution after another and adds it to a sum on the grid.
struct Contribution<'a, D: Data, M: Model<Data = D>, P: Protection> {
    model: &'a M,
    data: &'a D,
    query: &'a Query<'a, P>,
    clip: &'a Clip,
    grid: Grid,
    at: Vec<f64>,
    difference: Vec<f64>,
    counts: Diagnostics,
}

impl<'a, D: Data, M: Model<Data = D>, P: Protection> Contribution<'a, D, M, P> {
    fn new(model: &'a M, data: &'a D, query: &'a Query<'a, P>, clip: &'a Clip, grid: Grid) -> Self {
        let d = model.dimension();
        let second = if query.difference.is_some() { d } else { 0 };
        let (at, difference) = (vec![0.0; d], vec![0.0; second]);
        Self { model, data, query, clip, grid, at, difference, counts: Diagnostics::default() }
    }

    fn add(&mut self, record: usize, sum: &mut [i64]) {
        self.counts.records += 1;
        self.counts.evaluations += self.query.evaluations();
        self.model.gradient(self.query.at.as_slice(), self.data, record, &mut self.at);
        let Some(norm) = clip::norm(&self.at) else {
            self.counts.non_finite += 1;
            return;
        };
        let bound = self.clip.gradient();
        let gradient = self.query.gradient_weight * clip::factor(norm, bound);
        let Some(term) = self.query.difference else {
            self.counts.clipped_gradients += u64::from(norm > bound);
            for (s, g) in sum.iter_mut().zip(&self.at) {
                *s += self.grid.round(gradient * g);
            }
            return;
        };
        self.model.gradient(term.previous.as_slice(), self.data, record, &mut self.difference);
        self.difference.iter_mut().zip(&self.at).for_each(|(d, g)| *d = g - *d);
        let Some(difference_norm) = clip::norm(&self.difference) else {
            self.counts.non_finite += 1;
            return;
        };
        let difference_bound = self.clip.difference();
        let difference = term.weight * clip::factor(difference_norm, difference_bound);
        self.counts.differences += 1;
        self.counts.clipped_gradients += u64::from(norm > bound);
        self.counts.clipped_differences += u64::from(difference_norm > difference_bound);
        for ((s, g), d) in sum.iter_mut().zip(&self.at).zip(&self.difference) {
            *s += self.grid.round(gradient * g + difference * d);
        }
    }
}
