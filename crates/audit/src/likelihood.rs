//! Layer 3: the optimal test of "is the record there?", and what it proves about ε.
//!
//! In units of the sensitivity the victim's noisy query along the canary's axis is y = 1{canary drawn} + z·normal (with noise
//! in pairs, what [`crate::view`] makes of all answers), so the logarithm of the likelihood ratio of a run is Σ log(1 − q + q·exp((2y − 1)/2z²)) over its rounds. No test does better
//! (Neyman, Pearson). Thresholds are chosen on a first part of the runs and judged on the rest, so that the confidence of
//! the bounds is the stated one.

use crate::canary::{CANARY, OTHER};
use crate::error::AuditError;
use crate::moments::Moments;
use crate::network::Network;
use crate::setting::Setting;
use crate::statistics::upper_bound;
use crate::subject::Subject;
use crate::tradeoff::{Curve, least_miss_rate};
use crate::view::Viewer;
use prdo_accounting::{Accountant, Event};
use prdo_privacy::Secret;
use rayon::prelude::*;
use std::sync::Arc;

pub const THRESHOLDS: usize = 20;
/// The probability with which the bounds of one setting's curve may be wrong, all thresholds together.
pub const CURVE_FAILURE: f64 = 1e-7;
/// The same of the bound on ε. (Both error rates would have to be off together: by chance it happens far less often.)
pub const EPSILON_FAILURE: f64 = 1e-4;
/// The share of runs on which thresholds are chosen.
const PILOT: usize = 8;
/// Runs that a thread does at a time.
const CHUNK: usize = 256;

#[derive(Clone, Debug, Default)]
pub struct Sample {
    /// The logarithm of the likelihood ratio of each run.
    pub scores: Vec<f64>,
    pub moments: Moments,
}

/// Runs the network `runs` times, with the canary or without it. The same for any number of threads.
pub fn sample<S: Subject>(
    network: &Network<'_, S>,
    runs: usize,
    seed: u64,
    canary: bool,
) -> Result<Sample, AuditError> {
    let setting = network.setting();
    let mut records = vec![OTHER; setting.slots - 1];
    records.extend(canary.then_some(CANARY));
    let viewer = Viewer::new(setting)?;
    let part = |chunk: usize| -> Result<Sample, AuditError> {
        let mut sample = Sample::default();
        for run in chunk * CHUNK..runs.min((chunk + 1) * CHUNK) {
            let secret = Arc::new(Secret::from_seed(mixed(seed, 2 * run as u64 + u64::from(canary))));
            let view = viewer.view(&secret, &network.run(&secret, &records)?.queries());
            sample.scores.push(log_ratio(setting, &view.signal));
            sample.moments.add(setting, &view, canary);
        }
        Ok(sample)
    };
    let parts: Vec<Sample> =
        (0..runs.div_ceil(CHUNK)).into_par_iter().map(part).collect::<Result<_, AuditError>>()?;
    let mut whole = Sample::default();
    for part in parts {
        whole.scores.extend(part.scores);
        whole.moments.merge(&part.moments);
    }
    Ok(whole)
}

/// A seed of its own for each number.
pub(crate) fn mixed(seed: u64, number: u64) -> u64 {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    bytes[8..].copy_from_slice(&number.to_le_bytes());
    let hash = blake3::hash(&bytes);
    hash.as_bytes().iter().take(8).fold(0, |word, byte| word << 8 | u64::from(*byte))
}

/// Σ log(1 − q + q·exp((2y − 1)/2z²)) of one run's y by round.
pub fn log_ratio(setting: &Setting, signal: &[f64]) -> f64 {
    (0..).zip(signal).map(|(round, y)| log_ratio_of(setting, round, *y)).sum()
}

fn log_ratio_of(setting: &Setting, round: u32, y: f64) -> f64 {
    let z = setting.noise_multiplier;
    let (q, exponent) = (setting.rate(round), (2.0 * y - 1.0) / (2.0 * z * z));
    match () {
        () if q >= 1.0 => exponent,
        () if exponent > 500.0 => exponent + libm::log(q),
        () => libm::log1p(q * libm::expm1(exponent)),
    }
}

/// One threshold: what was seen, and what must be.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    /// Share of runs without the record that are taken for runs with it.
    pub false_alarms: f64,
    /// Share of runs with the record that are taken for runs without it.
    pub misses: f64,
    /// Upper bounds on the true rates, all thresholds together wrong with probability at most [`CURVE_FAILURE`].
    pub bounds: (f64, f64),
    /// The least miss rate that the claim allows at the bound on false alarms.
    pub claimed: f64,
}

#[derive(Clone, Debug)]
pub struct Outcome {
    pub points: Vec<Point>,
    /// The ε that was proven, with confidence 1 − [`EPSILON_FAILURE`]: if the mechanism has the claimed rates and rounds and
    /// *some* noise multiplier, its ε at δ is at least this. At rate 1 it is the bound of Gaussian differential privacy.
    pub epsilon: f64,
    /// The ε that is proven without assuming anything, by Clopper–Pearson: weak at small δ.
    pub epsilon_plain: f64,
}

impl Outcome {
    /// How far the curve stays on its side of the claim; negative: it is violated.
    pub fn margin(&self) -> f64 {
        self.points.iter().map(|p| p.bounds.1 - p.claimed).fold(f64::INFINITY, f64::min)
    }
}

pub fn judge(setting: &Setting, without: &[f64], with: &[f64]) -> Result<Outcome, AuditError> {
    let (pilot_without, without) = without.split_at(without.len() / PILOT);
    let (pilot_with, with) = with.split_at(with.len() / PILOT);
    let mut pooled: Vec<f64> = pilot_without.iter().chain(pilot_with).copied().collect();
    pooled.sort_by(f64::total_cmp);
    let quantile = |k: usize| pooled.get(k * pooled.len() / (THRESHOLDS + 1)).copied().unwrap_or(0.0);
    let thresholds: Vec<f64> = (1..=THRESHOLDS).map(quantile).collect();

    let curve = Curve::of(&setting.history(setting.noise_multiplier)?)?;
    let each = CURVE_FAILURE / (2 * THRESHOLDS) as f64;
    let (mut points, mut plain) = (Vec::new(), 0.0_f64);
    for threshold in &thresholds {
        let counts = Counts::of(*threshold, without, with);
        let bounds = counts.bounds(each);
        let claimed = curve.least_miss_rate(bounds.0);
        let (false_alarms, misses) = counts.rates();
        points.push(Point { false_alarms, misses, bounds, claimed });
        let (alpha, beta) = counts.bounds(EPSILON_FAILURE / (2 * THRESHOLDS) as f64);
        for (a, b) in [(alpha, beta), (beta, alpha)] {
            plain = plain.max(libm::log((1.0 - setting.delta - b).max(1e-300) / a));
        }
    }
    // ε is bounded where the first part of the runs has as many false alarms as misses, which is at its median.
    let middle = pooled.get(pooled.len() / 2).copied().unwrap_or(0.0);
    let bounds = Counts::of(middle, without, with).bounds(EPSILON_FAILURE / 2.0);
    let epsilon = proven(setting, bounds)?;
    Ok(Outcome { points, epsilon, epsilon_plain: plain })
}

struct Counts {
    false_alarms: u64,
    without: u64,
    misses: u64,
    with: u64,
}

impl Counts {
    fn of(threshold: f64, without: &[f64], with: &[f64]) -> Self {
        let above = |scores: &[f64]| scores.iter().filter(|s| **s > threshold).count() as u64;
        Self {
            false_alarms: above(without),
            without: without.len() as u64,
            misses: with.len() as u64 - above(with),
            with: with.len() as u64,
        }
    }

    fn rates(&self) -> (f64, f64) {
        let share = |k: u64, n: u64| k as f64 / n.max(1) as f64;
        (share(self.false_alarms, self.without), share(self.misses, self.with))
    }

    /// Upper bounds on both rates, each wrong with probability at most `failure`.
    fn bounds(&self, failure: f64) -> (f64, f64) {
        (upper_bound(self.false_alarms, self.without, failure), upper_bound(self.misses, self.with, failure))
    }
}

/// The least ε of a mechanism with this setting's rates and rounds that allows such error rates: the noise multiplier is
/// lowered until it does, to half of the claimed one at most (which is damning enough). 0 if 32 times the claimed noise
/// does.
fn proven(setting: &Setting, (alpha, beta): (f64, f64)) -> Result<f64, AuditError> {
    let allowed =
        |z: f64| -> Result<bool, AuditError> { Ok(least_miss_rate(&setting.history(z)?, alpha)? <= beta) };
    if alpha + beta >= 1.0 {
        return Ok(0.0);
    }
    let (least, most) = Event::NOISE_MULTIPLIER_RANGE;
    let (mut low, mut high) = (setting.noise_multiplier, setting.noise_multiplier);
    let floor = least.max(low / 2.0);
    while low > floor && !allowed(low)? {
        (low, high) = (floor, low);
    }
    let ceiling = most.min(32.0 * high);
    while allowed(high)? {
        if high >= ceiling {
            return Ok(0.0);
        }
        (low, high) = (high, ceiling.min(2.0 * high));
    }
    // `low` allows them (or is the least that is tried), `high` does not.
    while high / low > 1.0 + 1e-3 {
        let middle = (low * high).sqrt();
        if allowed(middle)? { low = middle } else { high = middle }
    }
    Ok(Accountant::default().epsilon(&setting.history(high)?, setting.delta)?.lower)
}

#[cfg(test)]
mod tests {
    use super::*;
    use prdo_algorithm::Method;
    use rand_distr::{Distribution, StandardNormal};

    /// Scores as they are under the claim, with the noise multiplied by `noise`.
    fn scores(setting: &Setting, n: usize, noise: f64, canary: bool, seed: u64) -> Vec<f64> {
        let mut stream = Secret::from_seed(seed).stream(prdo_privacy::Purpose::Data, 0, 0);
        let draw = |_| {
            let mut y = || {
                let normal: f64 = StandardNormal.sample(&mut stream);
                f64::from(u8::from(canary)) + setting.noise_multiplier * noise * normal
            };
            log_ratio(setting, &(0..setting.rounds).map(|_| y()).collect::<Vec<f64>>())
        };
        (0..n).map(draw).collect()
    }

    #[test]
    fn the_judge_knows_a_true_claim_from_a_false_one_and_nothing_from_something() {
        let setting = Setting::every_record(Method::Prdo).unwrap();
        let claimed = setting.claimed().unwrap().upper;
        let world = |noise, canary, seed| scores(&setting, 20_000, noise, canary, seed);
        let honest = judge(&setting, &world(1.0, false, 1), &world(1.0, true, 2)).unwrap();
        assert!(honest.margin() >= 0.0);
        assert!(honest.epsilon < claimed && honest.epsilon > 0.85 * claimed, "{}", honest.epsilon);
        assert!(honest.epsilon_plain < honest.epsilon);
        let false_claim = judge(&setting, &world(0.7, false, 3), &world(0.7, true, 4)).unwrap();
        assert!(false_claim.margin() < 0.0 && false_claim.epsilon > claimed, "{}", false_claim.epsilon);
        let null = judge(&setting, &world(1.0, false, 5), &world(1.0, false, 6)).unwrap();
        assert!(null.epsilon == 0.0 && null.margin() > 0.0, "{}", null.epsilon);
    }
}
