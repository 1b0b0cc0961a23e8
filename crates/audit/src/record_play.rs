//! Layer 1: the same random tape on two data sets that differ in one record.
//!
//! Two gates with the same secret draw the same batch and the same noise, so the difference of what they release *is* the
//! difference of their queries. It must not be longer than the sensitivity that was declared: what the ledger's z was
//! multiplied by to give the noise. The gradients are as bad as they can be: huge, NaN, infinite, subnormal, of opposite
//! sign at the two points, exactly at the clipping norm. No chance is involved in that half: one pair too far apart is a
//! proof. Where the second data set is empty its release is noise alone, and its deviation is compared with z times the
//! declared sensitivity.

use crate::chosen_gradients::{ChosenGradients, Record, SingleChosenGradients};
use crate::control;
use crate::error::{AuditError, refused, sound};
use crate::likelihood::mixed;
use crate::setting::Setting;
use crate::subject::Subject;
use prdo_accounting::{Accountant, Method as Accounting, Target};
use prdo_algorithm::Node;
use prdo_privacy::{Clip, Gate, Ledger, Model, Noised, Purpose, Released, Secret, Shard, Start, Stream};
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;
use std::sync::Arc;

/// How much more than declared a record may move a query, relative: rounding of what is compared.
pub const SLACK: f64 = 1e-6;
const MOST_DIMENSIONS: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// Double, one vector per record: linear models, and models of one's own.
    Double,
    /// Single, in pieces: networks.
    Single,
}

impl Precision {
    /// The declared sensitivity of a sum: the paper's, and what the arithmetic may add to it.
    pub(crate) fn declared(self, scale: f64, z: f64, dimension: usize) -> f64 {
        let half_steps = (dimension as f64).sqrt() / 2.0;
        match self {
            Precision::Double => scale + control::grid(scale, z) * half_steps,
            // 2²⁵ steps, and norms that are off by at most 52 units in the last place.
            Precision::Single => {
                let grid = f64::powi(2.0, scale.log2().ceil() as i32 - 25);
                scale * (1.0 + 52.0 * f64::from(f32::EPSILON)) + grid * half_steps
            }
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Play {
    pub pairs: usize,
    /// The largest change of a query over the declared sensitivity.
    pub ratio: f64,
    /// Squares of noise over (z × declared sensitivity)², at round 0 and later: sum and count.
    noise: [(f64, f64); 2],
    pub not_finite: usize,
}

impl Play {
    /// How many standard errors the noise's variance is off z × sensitivity, squared.
    pub fn noise_score(&self) -> f64 {
        let score = |(sum, n): (f64, f64)| if n > 0.0 { (sum - n) / (2.0 * n).sqrt() } else { 0.0 };
        let scores = self.noise.map(score);
        if scores[0].abs() > scores[1].abs() { scores[0] } else { scores[1] }
    }

    fn merge(mut self, other: Self) -> Self {
        self.pairs += other.pairs;
        // Not `max`, which would lose a NaN.
        if other.ratio.is_nan() || other.ratio > self.ratio {
            self.ratio = other.ratio;
        }
        for (mine, theirs) in self.noise.iter_mut().zip(other.noise) {
            *mine = (mine.0 + theirs.0, mine.1 + theirs.1);
        }
        self.not_finite += other.not_finite;
        self
    }
}

pub fn play<S: Subject>(
    subject: &S,
    setting: &Setting,
    precision: Precision,
    pairs: usize,
    seed: u64,
) -> Result<Play, AuditError> {
    // One release each: any generous budget does, and it is proven once.
    let (accountant, budget) =
        (Arc::new(Accountant::new(Accounting::Renyi)), Target::new(1e12, setting.delta)?);
    accountant.prove(&setting.history(setting.noise_multiplier)?, &budget)?;
    let ledger = || Ledger::new(Arc::clone(&accountant), budget);
    let one = |number: usize| Pair::draw(setting, precision, seed, number as u64)?.play(subject, &ledger);
    let found: Vec<Play> = (0..pairs).into_par_iter().map(one).collect::<Result<_, AuditError>>()?;
    Ok(found.into_iter().fold(Play::default(), Play::merge))
}

/// One pair of neighbouring data sets at one query.
struct Pair {
    setting: Setting,
    precision: Precision,
    round: u32,
    node: Box<dyn Node<Noised>>,
    records: Vec<Record>,
    /// Of a record, and of its gradient.
    values: usize,
    dimension: usize,
    secret: Arc<Secret>,
}

impl Pair {
    fn draw(setting: &Setting, precision: Precision, seed: u64, number: u64) -> Result<Self, AuditError> {
        let mut stream = Secret::from_seed(mixed(seed, number)).stream(Purpose::Data, 0, 0);
        let values = 1 + (number as usize) % MOST_DIMENSIONS;
        let dimension = match precision {
            Precision::Double => values,
            Precision::Single => SingleChosenGradients::new(values).dimension(),
        };
        // The same settings at clipping norms of any size.
        let size = f64::powf(10.0, 6.0 * uniform(&mut stream) - 3.0);
        let clip = Clip::new(setting.clip.gradient() * size, setting.clip.difference() * size);
        let setting = Setting { clip: clip.map_err(refused("clip"))?, ..setting.clone() };
        let round = (stream.next_u32() % 3).min(setting.rounds.saturating_sub(1));
        let node = walk(&setting, dimension, round, &mut stream)?;
        // Every second pair is a single record against none.
        let count = if number.is_multiple_of(2) { 1 } else { 1 + stream.next_u32() as usize % setting.slots };
        let record = |_| draw_record(&setting.clip, values, &mut stream);
        let records = (0..count).map(record).collect();
        let secret = Arc::new(Secret::from_seed(mixed(seed ^ 1, number)));
        Ok(Self { setting, precision, round, node, records, values, dimension, secret })
    }

    fn play<S: Subject>(&self, subject: &S, ledger: &dyn Fn() -> Ledger) -> Result<Play, AuditError> {
        let release = |records| self.release(subject, ledger(), records);
        let with = release(self.records.clone())?;
        let without = release(self.records.split_last().map_or(vec![], |(_, rest)| rest.to_vec()))?;
        let size = self.setting.batch_size(self.round) as f64;
        let scale = self.setting.scale(self.round, &self.node.query());
        let z = self.setting.noise_multiplier;
        let declared = self.precision.declared(scale, z, self.dimension);
        let change = with.iter().zip(&without).map(|(a, b)| ((a - b) * size).powi(2)).sum::<f64>().sqrt();
        let mut noise = [(0.0, 0.0); 2];
        if self.records.len() == 1 {
            let deviation = self.setting.answer_multiplier(0) * declared;
            let squares = without.iter().map(|v| (v * size / deviation).powi(2)).sum();
            noise[usize::from(self.round > 0)] = (squares, without.len() as f64);
        }
        let not_finite = usize::from(!with.iter().chain(&without).all(|v| v.is_finite()));
        Ok(Play { pairs: 1, ratio: change / declared, noise, not_finite })
    }

    /// What a fresh gate over these records releases.
    fn release<S: Subject>(
        &self,
        subject: &S,
        ledger: Ledger,
        records: Vec<Record>,
    ) -> Result<Vec<f64>, AuditError> {
        let now = self.node.model().as_slice().first().map_or(0, |x| x.to_bits());
        match self.precision {
            Precision::Double => {
                self.ask(subject, ledger, records, ChosenGradients { dimension: self.dimension, now })
            }
            Precision::Single => self.ask(subject, ledger, records, SingleChosenGradients::new(self.values)),
        }
    }

    fn ask<S: Subject, M: Model<Data = Vec<Record>>>(
        &self,
        subject: &S,
        ledger: Ledger,
        records: Vec<Record>,
        model: M,
    ) -> Result<Vec<f64>, AuditError> {
        let round = self.round;
        let shard = Shard::seal_in_slots(records, self.setting.slots).map_err(refused("slots"))?;
        let rules = self.setting.rules(ledger);
        let gate = Gate::private(0, Arc::new(model), shard, Arc::clone(&self.secret), rules);
        let gate = self.setting.with_shares(gate.map_err(refused("batch"))?, 0, &self.secret)?;
        let mut gate = subject.gate(gate);
        let answer = gate.answer(round, &self.node.query());
        let answer = answer.map_err(|why| AuditError::Stopped { round, why: why.to_string() })?;
        Ok(answer.released.as_slice().to_vec())
    }
}

/// A node of the method before a round, at points that chance has led it to.
pub(crate) fn walk(
    setting: &Setting,
    dimension: usize,
    rounds: u32,
    stream: &mut Stream,
) -> Result<Box<dyn Node<Noised>>, AuditError> {
    let mut point = || {
        let values = (0..dimension).map(|_| StandardNormal.sample(stream)).collect();
        Start::declared_public(values).map_err(refused("start"))
    };
    let mut node = setting.method.start(&point()?, &setting.settings).map_err(refused("method"))?;
    for round in 0..rounds {
        control::alone(&mut *node, Released::start(&point()?), round)?;
    }
    node.query();
    sound(&*node, rounds).map(|()| node)
}

/// A record as bad as can be.
fn draw_record(clip: &Clip, dimension: usize, stream: &mut Stream) -> Record {
    let direction: Vec<f64> = (0..dimension).map(|_| StandardNormal.sample(stream)).collect();
    let norm = direction.iter().map(|v| v * v).sum::<f64>().sqrt();
    let along = |length: f64| direction.iter().map(|v| v * (length / norm)).collect::<Vec<f64>>();
    let (c_g, c_d) = (clip.gradient(), clip.difference());
    match stream.next_u32() % 8 {
        // Both terms as long as they may be, in the same direction: the worst there is.
        0 => (along(1e3 * c_g.max(c_d)), along(-1e3 * c_g.max(c_d))),
        1 => (along(1e200 * c_g), along(1e190 * c_g)),
        // Exactly at the norms, and one step beside them.
        2 => (along(c_g), along(c_g - c_d)),
        3 => (along(c_g.next_up()), along(c_g - c_d.next_up())),
        4 => (along(1e-310), along(-1e-320)),
        5 => (along(3.0 * uniform(stream) * c_g), along(3.0 * uniform(stream) * c_g)),
        _ => (nasty(dimension, c_g, stream), nasty(dimension, c_g, stream)),
    }
}

/// Values that real gradients should never have, among ordinary ones.
fn nasty(dimension: usize, unit: f64, stream: &mut Stream) -> Vec<f64> {
    let one = |_| match stream.next_u32() % 64 {
        0 => f64::NAN,
        1 => f64::INFINITY,
        2 => f64::NEG_INFINITY,
        3 => f64::MAX,
        4 => -1e200,
        5 => 5e-324,
        6 => -0.0,
        _ => unit * Distribution::<f64>::sample(&StandardNormal, stream),
    };
    (0..dimension).map(one).collect()
}

fn uniform(stream: &mut Stream) -> f64 {
    f64::from(stream.next_u32()) / 4_294_967_296.0
}
