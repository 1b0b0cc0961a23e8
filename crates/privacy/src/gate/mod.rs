//! The gate of one node: batch → per-record gradient → clip → exact sum → charge → noise → release.

mod contribution;
mod measure;
mod rank_one;
mod shard;
mod single;

pub use measure::Measurement;
pub use shard::{Shard, ShardError};

use crate::answer::{Answer, Answerer, Diagnostics, GateError};
use crate::clip::{self, Clip, relative_error};
use crate::engine::Engine;
use crate::grid::Grid;
use crate::ledger::{Ledger, LedgerError};
use crate::linear::Linear;
use crate::model::{Data, Model, Records};
use crate::noise::add_gaussian;
use crate::pairs::NodeShares;
use crate::planted::Planted;
use crate::protection::{Cases, Exposed, Noised, Protection};
use crate::query::{Clips, Query};
use crate::released::Released;
use crate::rules::{OpenRules, PrivateRules};
use crate::sampling::{self, Sampling};
use crate::streams::{Hidden, Secret};
use contribution::Contribution;
use prdo_accounting::{Event, History, Target};
use prdo_kernels::{Level, clip as kernel};
use rayon::prelude::*;
use std::marker::PhantomData;
use std::sync::Arc;

/// The sole reader of one node's sealed records, through the one model that its owner chose.
pub struct Gate<M: Model, P: Protection> {
    model: Arc<M>,
    shard: Shard<M::Data>,
    node: u32,
    secret: Arc<Secret>,
    rules: P::Rules,
    next_round: u64,
    /// What cancels between nodes, for a private node that has any.
    shares: Option<NodeShares>,
    planted: Planted,
}

/// Batches of more coordinates than this are spread over threads.
const PARALLEL_WORK: usize = 1 << 17;
/// Coordinates of an average that a thread takes at a time.
const PART: usize = 1 << 14;
/// Records a thread takes at a time. Fixed, so that floating-point sums do not depend on the thread count.
const CHUNK: usize = 2048;

/// What computes contributions: the model's engine, its slopes and inputs, or its gradients one by one.
enum Path<'a, D> {
    Single(&'a dyn Engine<D>),
    RankOne(&'a dyn Linear<D>),
    Plain,
}

/// A batch's clipped contributions in steps of the grid, added up, with their counts.
type Sum = (Vec<i64>, Diagnostics);

fn join((mut sum, mut counts): Sum, (other, more): Sum) -> Sum {
    sum.iter_mut().zip(&other).for_each(|(s, o)| *s += o);
    counts.add(&more);
    (sum, counts)
}

impl<M: Model, P: Protection> Gate<M, P> {
    /// Answers the method's query of `round`.
    ///
    /// # Guarantee
    /// For `Noised`, the answer is a Poisson-sampled Gaussian release with sensitivity derived from the
    /// query, and was charged to the ledger before its noise was drawn. Rounds only go up: a second answer
    /// for the same round, which would share its random streams, is refused.
    pub fn answer(&mut self, round: u32, query: &Query<'_, P>) -> Result<Answer<P>, GateError> {
        self.check(query)?;
        if u64::from(round) < self.next_round {
            return Err(GateError::RoundGoneBy { round, next: self.next_round });
        }
        self.next_round = u64::from(round) + 1;
        P::case::<Mechanism<M>>((self, round, query))
    }

    /// Both points have the model's size and the weights are weights: checked before any record is read.
    fn check(&self, query: &Query<'_, P>) -> Result<(), GateError> {
        let model = self.model.dimension();
        let sizes = [
            Some(query.at.dimension()),
            query.difference.map(|d| d.previous.dimension()),
            query.scaled.map(|s| s.by.dimension()),
        ];
        if let Some(query) = sizes.into_iter().flatten().find(|size| *size != model) {
            return Err(GateError::Dimension { query, model });
        }
        let (gradient, difference) = (query.gradient_weight, query.difference.map_or(0.0, |d| d.weight));
        let weight = |w: f64| (0.0..=1.0).contains(&w);
        if !(weight(gradient) && weight(difference) && gradient + difference > 0.0) {
            return Err(GateError::Weights { gradient, difference });
        }
        if let Clips::Movement { kappa } = query.clips
            && !(kappa.is_finite() && kappa > 0.0)
        {
            return Err(GateError::Movement { kappa });
        }
        let Some(scaled) = query.scaled else { return Ok(()) };
        if !clip::is_allowed(scaled.clip) {
            return Err(GateError::ScaledClip { clip: scaled.clip });
        }
        match scaled.by.as_slice().iter().position(|by| !(by.is_finite() && *by > 0.0)) {
            Some(index) => Err(GateError::Scale { index, value: scaled.by.as_slice()[index] }),
            None => Ok(()),
        }
    }

    /// How contributions to this query are computed. In scaled coordinates no gradient has rank one, and an engine's are not
    /// clipped piece by piece there; nor are weighted sums of gradient and difference.
    fn path<Q: Protection>(&self, query: &Query<'_, Q>) -> Path<'_, M::Data> {
        match (self.model.engine(), self.model.linear()) {
            _ if query.scaled.is_some() => Path::Plain,
            (Some(_), _) if query.clips == Clips::Combined => Path::Plain,
            (Some(engine), _) => Path::Single(engine),
            (None, Some(linear)) => Path::RankOne(linear),
            (None, None) => Path::Plain,
        }
    }

    pub fn slots(&self) -> usize {
        self.shard.slots()
    }

    pub fn rules(&self) -> &P::Rules {
        &self.rules
    }

    /// ε spent so far; `None` where nothing is protected (ε = ∞).
    pub fn epsilon_spent(&self) -> Option<f64> {
        P::epsilon_spent(&self.rules)
    }

    /// What this node's records have been charged for; `None` where nothing is charged.
    pub fn charged(&self) -> Option<History> {
        P::charged(&self.rules)
    }

    /// Continues after `rounds` answered rounds with the charges they cost.
    ///
    /// # Guarantee
    /// Only forward: a checkpoint with fewer rounds or fewer charges than this gate has seen, or (for a
    /// private node) with fewer charges than rounds, is refused. That the charges are the true ones is for
    /// whoever keeps the checkpoint to see to.
    pub fn restore(&mut self, rounds: u32, history: &History) -> Result<(), GateError> {
        let (charges, spent) = (history.len(), self.charged().map_or(0, |charged| charged.len()));
        let enough = self.charged().is_none() || charges >= u64::from(rounds);
        if u64::from(rounds) < self.next_round || charges < spent || !enough {
            return Err(GateError::Rewind { rounds, charges, answered: self.next_round, spent });
        }
        if let Some(shares) = &mut self.shares {
            shares.advance_to(u64::from(rounds))?;
        }
        self.next_round = u64::from(rounds);
        P::restore_charges(&mut self.rules, history);
        Ok(())
    }

    /// Nothing is released of a sum that the model could not compute.
    fn check_model(&self) -> Result<(), GateError> {
        self.model.failure().map_or(Ok(()), |why| Err(GateError::Model(why)))
    }

    fn open(
        node: u32,
        model: Arc<M>,
        shard: Shard<M::Data>,
        secret: Arc<Secret>,
        rules: P::Rules,
    ) -> Result<Self, GateError> {
        model.check(shard.data()).map_err(GateError::Records)?;
        check_places(&*model)?;
        Ok(Self {
            model,
            shard,
            node,
            secret,
            rules,
            next_round: 0,
            shares: None,
            planted: Planted::default(),
        })
    }

    /// The sampled records (empty slots left out).
    fn batch(&self, sampling: Sampling, size: usize, round: u32) -> Vec<u32> {
        let mut stream = self.secret.hidden(Hidden::Sampling, self.node, round);
        let mut slots = sampling::draw(sampling, self.shard.slots(), size, &mut stream);
        slots.retain(|slot| (*slot as usize) < self.shard.data().len());
        slots
    }

    /// The grid for contributions to this query under noise of multiplier `z`, and by how much a computed contribution may
    /// exceed its bound.
    fn arithmetic<Q: Protection>(&self, query: &Query<'_, Q>, clip: &Clip, z: f64) -> (Grid, f64) {
        let scale = query.scale(clip);
        match self.path(query) {
            // 2²⁵ steps and 53-bit normals: rounding hides the lattice of the drawn doubles up to the largest z.
            Path::Single(_) => (Grid::for_single(scale), single::RELATIVE_ERROR),
            // A grid in proportion to the noise: rounding then hides the lattice of the drawn doubles at any z.
            Path::RankOne(_) | Path::Plain => {
                (Grid::for_scale(scale * z.max(1.0)), relative_error(self.model.dimension()))
            }
        }
    }

    /// Exact sum, on the grid, of the batch's clipped contributions.
    fn clipped_sum<Q: Protection>(
        &self,
        query: &Query<'_, Q>,
        clip: &Clip,
        grid: Grid,
        batch: &[u32],
    ) -> Sum {
        match self.path(query) {
            Path::Single(engine) => {
                return single::clipped_sum(engine, self.shard.data(), query, (clip, grid), batch);
            }
            Path::RankOne(model) => {
                return rank_one::clipped_sum(model, self.shard.data(), query, (clip, grid), batch);
            }
            Path::Plain => {}
        }
        let dimension = self.model.dimension();
        let part = |records: &[u32]| {
            let mut sum = vec![0_i64; dimension];
            let mut worker = Contribution::new(&*self.model, self.shard.data(), query, clip, grid);
            records.iter().for_each(|r| worker.add(*r as usize, &mut sum));
            (sum, worker.counts)
        };
        if batch.len() * dimension < PARALLEL_WORK {
            return part(batch);
        }
        let chunk = batch.len().div_ceil(rayon::current_num_threads()).clamp(1, CHUNK);
        batch.par_chunks(chunk).map(part).reduce(|| (vec![0; dimension], Diagnostics::default()), join)
    }
}

/// How a checked query of a round is answered: with noise, or exposed.
struct Mechanism<M>(PhantomData<M>);

impl<M: Model> Cases for Mechanism<M> {
    type Input<'a, P: Protection>
        = (&'a mut Gate<M, P>, u32, &'a Query<'a, P>)
    where
        M: 'a;
    type Output<P: Protection> = Result<Answer<P>, GateError>;

    fn noised((gate, round, query): Self::Input<'_, Noised>) -> Self::Output<Noised> {
        gate.answer_noised(round, query)
    }

    fn exposed((gate, round, query): Self::Input<'_, Exposed>) -> Self::Output<Exposed> {
        gate.answer_exposed(round, query)
    }
}

impl<M: Model> Gate<M, Noised> {
    pub fn private(
        node: u32,
        model: Arc<M>,
        shard: Shard<M::Data>,
        secret: Arc<Secret>,
        rules: PrivateRules,
    ) -> Result<Self, GateError> {
        rules.batches.check(shard.slots())?;
        check_single(&*model, Some(&rules.clip))?;
        Self::open(node, model, shard, secret, rules)
    }

    /// The same gate with noise in two parts, its own and what cancels between nodes.
    ///
    /// # Guarantee
    /// Refused unless own noise and shares together are worth the multiplier that is charged, against the coalitions that the
    /// mechanism names: every charge stands for a release at least as private.
    pub fn with_shares(self, shares: NodeShares) -> Result<Self, GateError> {
        let (declared, worth) = (self.rules.noise_multiplier, shares.mechanism().multiplier());
        if worth.is_nan() || declared.is_nan() || worth < declared {
            return Err(GateError::SharesWorth { declared, worth });
        }
        if shares.node() != self.node {
            return Err(GateError::SharesOfAnother { shares: shares.node(), gate: self.node });
        }
        Ok(Self { shares: Some(shares), ..self })
    }

    /// Moves shares on to this round, and refuses queries whose shares would not cancel: before anything is charged.
    fn ready_shares(&mut self, round: u32, query: &Query<'_, Noised>) -> Result<(), GateError> {
        let Some(shares) = &mut self.shares else { return Ok(()) };
        if query.difference.is_some() && matches!(query.clips, Clips::Movement { .. }) {
            return Err(GateError::SharesUnequal);
        }
        Ok(shares.advance_to(self.planted.keys_of(u64::from(round)))?)
    }

    /// What was used is forgotten at once.
    fn forget_shares(&mut self, round: u32) -> Result<(), GateError> {
        let next = self.planted.keys_of(u64::from(round) + 1);
        Ok(self.shares.as_mut().map_or(Ok(()), |shares| shares.advance_to(next))?)
    }

    #[cfg(all(feature = "planted-bugs", debug_assertions))]
    pub fn plant(&mut self, bug: crate::planted::Bug) {
        self.planted.bug = Some(bug);
        if bug == crate::planted::Bug::FixedSeed {
            self.secret = Arc::new(Secret::from_seed(0));
        }
        if bug == crate::planted::Bug::SharesOfAnotherRun
            && let Some(shares) = &mut self.shares
        {
            shares.plant_another_run();
        }
    }

    pub fn ledger(&self) -> &Ledger {
        &self.rules.ledger
    }

    fn answer_noised(&mut self, round: u32, query: &Query<'_, Noised>) -> Result<Answer<Noised>, GateError> {
        self.ready_shares(round, query)?;
        let (clip, size) = (query.clip(&self.rules.clip), self.rules.batches.size(query.batch));
        let z = self.rules.noise_multiplier;
        let rate = self.rules.batches.rate(query.batch, self.shard.slots());
        let event = Event::sampled_gaussian(rate, z).map_err(LedgerError::from)?;
        let (grid, relative_error) = self.arithmetic(query, &clip, z);
        let sensitivity = query.sensitivity(&clip, grid.spacing(), relative_error);
        let receipt = self.planted.charge(&mut self.rules.ledger, round, event)?;

        // `planted` gives back what it is given, except in the audit's own tests.
        let planted = self.planted;
        let (sampling, drawn) = planted.sampling(Sampling::Poisson, size, self.shard.slots());
        let batch = self.batch(sampling, drawn, round);
        let drawn = batch.len() as f64 / size as f64;
        let (mut sum, diagnostics) = self.clipped_sum(query, &planted.clip(clip, query, drawn), grid, &batch);
        self.check_model()?;
        planted.sum(&mut sum, grid, query, (&clip, size));
        let (node, stream_round) = planted.stream(self.node, round);
        let stream = |part| self.secret.part(Hidden::Noise, node, stream_round, part);
        let sensitivity = planted.sensitivity(sensitivity, query, &clip, round, drawn);
        add_gaussian(
            receipt,
            &mut sum,
            sensitivity,
            grid,
            (stream, self.shares.as_ref().map(|shares| (shares, planted))),
        );
        self.forget_shares(round)?;
        planted.noised(&mut sum, query);
        let divisor = planted.divisor(size, batch.len(), rate * self.shard.data().len() as f64);
        Ok(Answer { released: average(sum, grid, divisor), diagnostics })
    }
}

impl<M: Model> Answerer for Gate<M, Noised> {
    fn answer(&mut self, round: u32, query: &Query<'_, Noised>) -> Result<Answer<Noised>, GateError> {
        Gate::answer(self, round, query)
    }

    fn spent(&self) -> f64 {
        self.ledger().spent()
    }

    fn budget(&self) -> Target {
        self.ledger().budget()
    }
}

impl<M: Model> Gate<M, Exposed> {
    pub fn exposed(
        node: u32,
        model: Arc<M>,
        shard: Shard<M::Data>,
        secret: Arc<Secret>,
        rules: OpenRules,
    ) -> Result<Self, GateError> {
        if rules.sampling != Sampling::Full {
            rules.batches.check(shard.slots())?;
        }
        check_single(&*model, rules.clip.as_ref())?;
        Self::open(node, model, shard, secret, rules)
    }

    fn answer_exposed(
        &mut self,
        round: u32,
        query: &Query<'_, Exposed>,
    ) -> Result<Answer<Exposed>, GateError> {
        let size = match self.rules.sampling {
            Sampling::Full => self.shard.slots(),
            _ => self.rules.batches.size(query.batch),
        };
        let whole = size >= self.shard.slots();
        let batch = if whole { Vec::new() } else { self.batch(self.rules.sampling, size, round) };
        if let Some(clip) = self.rules.clip.map(|rules| query.clip(&rules)) {
            let all: Vec<u32> = if whole { (0..self.shard.data().len() as u32).collect() } else { batch };
            let (grid, _) = self.arithmetic(query, &clip, 0.0);
            let (sum, diagnostics) = self.clipped_sum(query, &clip, grid, &all);
            self.check_model()?;
            return Ok(Answer { released: average(sum, grid, size as f64), diagnostics });
        }
        let records = if whole { Records::Run(0, self.shard.data().len()) } else { Records::List(&batch) };
        let released = self.plain_average(query, records, size);
        self.check_model()?;
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
    fn plain_average(
        &self,
        query: &Query<'_, Exposed>,
        records: Records<'_>,
        size: usize,
    ) -> Released<Exposed> {
        let (model, data) = (&*self.model, self.shard.data());
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
        if let Some(scaled) = query.scaled {
            at.iter_mut().zip(scaled.by.as_slice()).for_each(|(g, by)| *g /= by);
        }
        Released::from_gate(at)
    }
}

/// Σ ∇ℓ(x; r), in chunks of fixed size added in order: the same bits for any thread count.
fn sum_of_gradients<M: Model>(model: &M, x: &[f64], data: &M::Data, records: Records<'_>) -> Vec<f64> {
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

/// Refuses an engine that does not give every parameter a coordinate of its own: one released twice would count once.
fn check_places<M: Model>(model: &M) -> Result<(), GateError> {
    if let Some(linear) = model.linear()
        && (linear.inputs() == 0 || linear.outputs() * linear.inputs() != model.dimension())
    {
        return Err(GateError::Places);
    }
    let Some(engine) = model.engine() else { return Ok(()) };
    let mut taken = vec![false; engine.coordinates()];
    let own = |place: &u32| taken.get_mut(*place as usize).is_some_and(|t| !std::mem::replace(t, true));
    if engine.places().len() != model.dimension() || !engine.places().iter().all(own) {
        return Err(GateError::Places);
    }
    Ok(())
}

/// Refuses clipping norms at which single precision loses its digits, for a model that computes in it.
fn check_single<M: Model>(model: &M, clip: Option<&Clip>) -> Result<(), GateError> {
    let Some(clip) = clip.filter(|_| model.engine().is_some()) else { return Ok(()) };
    for (field, value) in [("gradient", clip.gradient()), ("difference", clip.difference())] {
        if !clip::SINGLE_RANGE.contains(&value) {
            return Err(GateError::SingleClip { field, value });
        }
    }
    Ok(())
}

/// Steps on the grid divided by the public batch size.
fn average<P: Protection>(mut sum: Vec<i64>, grid: Grid, size: f64) -> Released<P> {
    let part = |sum: &mut [i64]| kernel::average(Level::best(), sum, grid.spacing(), size);
    match sum.len() {
        0..PARALLEL_WORK => part(&mut sum),
        _ => sum.par_chunks_mut(PART).for_each(part),
    }
    Released::from_gate(kernel::doubles(sum))
}
