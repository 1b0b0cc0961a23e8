//! What fits into a budget: the least noise, the most rounds, the largest rate.

use crate::accountant::{Accountant, Method};
use crate::error::{AccountingError, require};
use crate::event::{Event, History};
use crate::numerical::{self, Bounds};
use crate::target::Target;
use std::sync::{Mutex, PoisonError};

pub const MOST_ROUNDS: u64 = 1_000_000_000_000;

/// How near to the best value the answers are, relative, beyond what the accountant itself is off by.
const NEAR: f64 = 1e-9;

/// The least noise multiplier z for which releases at `rates` (rate, count), all with noise z, cost at most `target`.
/// PRDO's plan is `[(b0/N, 1), (b/N, T − 1)]` (equation `pv:accountant-test`).
///
/// # Guarantee
/// Never under-noised: the returned z, evaluated again, costs at most ε. It is within a relative 1e-8 of the least such z
/// (the cost falls as z grows).
pub fn noise_multiplier(
    accountant: &Accountant,
    target: &Target,
    rates: &[(f64, u64)],
) -> Result<f64, AccountingError> {
    noise_multiplier_after(accountant, target, &History::new(), rates)
}

/// The same for records that have already been charged for `spent`.
///
/// # Guarantee
/// `spent` and the planned releases together cost at most ε.
pub fn noise_multiplier_after(
    accountant: &Accountant,
    target: &Target,
    spent: &History,
    rates: &[(f64, u64)],
) -> Result<f64, AccountingError> {
    calibrated(accountant, target, spent, rates).map(|(z, _)| z)
}

fn calibrated(
    accountant: &Accountant,
    target: &Target,
    spent: &History,
    rates: &[(f64, u64)],
) -> Result<(f64, History), AccountingError> {
    let count: u64 = rates.iter().fold(0, |sum, (_, n)| sum.saturating_add(*n));
    require("rounds", count as f64, "at least 1", |n| n >= 1.0)?;
    let (least, most) = Event::NOISE_MULTIPLIER_RANGE;
    let plan = |ln_z: f64| -> Result<History, AccountingError> {
        let mut history = spent.clone();
        for (rate, count) in rates {
            history.add(Event::sampled_gaussian(*rate, ln_z.exp().clamp(least, most))?, *count);
        }
        Ok(history)
    };
    let Some(ln_z) = least_meeting(accountant, target, plan, (least.ln(), most.ln()))? else {
        let (epsilon, delta) = (target.epsilon(), target.delta());
        return Err(AccountingError::Unreachable { epsilon, delta, largest: most });
    };
    Ok((ln_z.exp().clamp(least, most), plan(ln_z)?))
}

/// What was asked for, the multiplier that was found, the plan with it, and what that costs.
type Known = ((Method, Target, History, Vec<(f64, u64)>), f64, History, Bounds);

const MOST_KNOWN: usize = 64;

/// The last answers, for callers that prepare many runs: comparisons ask the same for every run, and for few rounds an answer
/// takes seconds.
#[derive(Debug, Default)]
pub struct Calibrations(Mutex<Vec<Known>>);

impl Calibrations {
    /// [`noise_multiplier_after`], computed once.
    ///
    /// # Guarantee
    /// As [`noise_multiplier_after`].
    pub fn noise_multiplier_after(
        &self,
        accountant: &Accountant,
        target: &Target,
        spent: &History,
        rates: &[(f64, u64)],
    ) -> Result<f64, AccountingError> {
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let question = (accountant.method(), *target, spent.clone(), rates.to_vec());
        if let Some((_, z, history, bounds)) = known().iter().find(|(asked, ..)| *asked == question) {
            accountant.remember(history, target.delta(), *bounds);
            return Ok(*z);
        }
        let (z, history) = calibrated(accountant, target, spent, rates)?;
        let bounds = accountant.epsilon(&history, target.delta())?;
        let mut known = known();
        let excess = (known.len() + 1).saturating_sub(MOST_KNOWN);
        known.drain(..excess);
        known.push((question, z, history, bounds));
        Ok(z)
    }
}

/// The largest rate at which `rounds` releases with this multiplier cost at most `target`.
///
/// # Guarantee
/// The returned rate, evaluated again, costs at most ε; it is within a relative 1e-8 of the largest such rate.
pub fn rate(
    accountant: &Accountant,
    target: &Target,
    noise_multiplier: f64,
    rounds: u64,
) -> Result<f64, AccountingError> {
    require("rounds", rounds as f64, "at least 1", |n| n >= 1.0)?;
    let plan = |minus_ln_rate: f64| -> Result<History, AccountingError> {
        let rate = (-minus_ln_rate).exp().clamp(Event::LEAST_RATE, 1.0);
        Ok(History::new().and(Event::sampled_gaussian(rate, noise_multiplier)?, rounds))
    };
    let found = least_meeting(accountant, target, plan, (0.0, -Event::LEAST_RATE.ln()))?;
    let found =
        found.ok_or(AccountingError::NothingFits { epsilon: target.epsilon(), delta: target.delta() })?;
    Ok((-found).exp().clamp(Event::LEAST_RATE, 1.0))
}

/// The most releases of this kind that fit into the budget after `spent`; at most [`MOST_ROUNDS`].
///
/// # Guarantee
/// `spent` and that many releases together cost at most ε; one more would cost more than ε (by the accountant's upper
/// bound), unless [`MOST_ROUNDS`] is returned.
pub fn rounds(
    accountant: &Accountant,
    target: &Target,
    spent: &History,
    event: Event,
) -> Result<u64, AccountingError> {
    let plan = |count: u64| spent.clone().and(event, count);
    let within = |count: u64| -> Result<bool, AccountingError> {
        Ok(accountant.epsilon(&plan(count), target.delta())?.upper <= target.epsilon())
    };
    if !within(1)? {
        return Err(AccountingError::NothingFits { epsilon: target.epsilon(), delta: target.delta() });
    }
    // A cheap estimate first, then proof around it.
    let (mut fits, mut too_many) = (1, MOST_ROUNDS + 1);
    while too_many - fits > 1 + fits / 256 && accountant.method() == Method::Numerical {
        let middle = ((fits as f64) * (too_many as f64)).sqrt() as u64;
        let middle = middle.clamp(fits + 1, too_many - 1);
        if numerical::estimate(&plan(middle), target.delta()) <= target.epsilon() {
            fits = middle;
        } else {
            too_many = middle;
        }
    }
    let guess = fits;
    let (mut fits, mut too_many, mut stride) = (1, MOST_ROUNDS + 1, 1 + guess / 512);
    let mut at = guess.min(MOST_ROUNDS);
    while fits == 1 || too_many == MOST_ROUNDS + 1 {
        if within(at)? {
            fits = fits.max(at);
            if at == MOST_ROUNDS {
                return Ok(MOST_ROUNDS);
            }
            at = at.saturating_add(stride).min(MOST_ROUNDS);
        } else {
            too_many = too_many.min(at);
            if at <= 2 {
                break;
            }
            at = at.saturating_sub(stride).max(2);
        }
        stride = stride.saturating_mul(2);
    }
    while too_many - fits > 1 {
        let middle = fits + (too_many - fits) / 2;
        if within(middle)? {
            fits = middle;
        } else {
            too_many = middle;
        }
    }
    Ok(fits)
}

/// The least x of a range for which the history `plan(x)`, whose cost falls in x, meets the target; nothing if none does.
fn least_meeting(
    accountant: &Accountant,
    target: &Target,
    plan: impl Fn(f64) -> Result<History, AccountingError>,
    (least, most): (f64, f64),
) -> Result<Option<f64>, AccountingError> {
    // Positive where the cost is above the target; about a logarithm near it.
    let miss = |x: f64| -> Result<f64, AccountingError> {
        let cost = accountant.epsilon(&plan(x)?, target.delta())?.upper;
        // By the comparison itself, not by a rounded quotient; what is not a number does not meet the target.
        let size = (cost / target.epsilon()).max(1e-3).ln().min(1e3);
        Ok(if cost <= target.epsilon() { size.min(0.0) } else { size.max(f64::MIN_POSITIVE) })
    };
    let guess = match accountant.method() {
        Method::Numerical => estimated(target, &plan, (least, most))?,
        Method::Renyi | Method::Paper => 0.5 * (least + most),
    };
    let mut stride = if accountant.method() == Method::Numerical { 1e-4 } else { 1.0 };
    let (mut low, mut at_low, mut high, mut at_high) = (least, f64::NAN, most, f64::NAN);
    let mut x = guess;
    while at_low.is_nan() || at_high.is_nan() {
        let value = miss(x)?;
        if value > 0.0 {
            (low, at_low) = (x, value);
            if x >= most {
                return Ok(None);
            }
            x = if at_high.is_nan() { (x + stride).min(most) } else { high };
        } else {
            (high, at_high) = (x, value);
            if x <= least {
                return Ok(Some(least));
            }
            x = if at_low.is_nan() { (x - stride).max(least) } else { low };
        }
        stride *= 4.0;
    }
    // Regula falsi with the Illinois weights; `high` always meets the target.
    let mut last_side = 0;
    for _ in 0..200 {
        if high - low <= NEAR {
            break;
        }
        let share = (at_low / (at_low - at_high)).clamp(0.01, 0.99);
        // Aim a little to the side that meets the target, so that the last step is the answer.
        let middle = low + share * (high - low) + 0.4 * NEAR;
        let middle = middle.clamp(low + 0.25 * NEAR, high - 0.25 * NEAR);
        let value = miss(middle)?;
        if value > 0.0 {
            (low, at_low) = (middle, value);
            if last_side == 1 {
                at_high *= 0.5;
            }
            last_side = 1;
        } else {
            (high, at_high) = (middle, value);
            if last_side == -1 {
                at_low *= 0.5;
            }
            last_side = -1;
        }
    }
    Ok(Some(high))
}

/// Where [`least_meeting`] should begin, by cheap estimates of the cost.
fn estimated(
    target: &Target,
    plan: &impl Fn(f64) -> Result<History, AccountingError>,
    (least, most): (f64, f64),
) -> Result<f64, AccountingError> {
    // Where even the least will do there is nothing to look for, and little noise is what takes longest to account for.
    if numerical::estimate(&plan(least)?, target.delta()) <= target.epsilon() {
        return Ok(least);
    }
    let (mut low, mut high) = (least, most);
    while high - low > 1e-5 {
        let middle = 0.5 * (low + high);
        if numerical::estimate(&plan(middle)?, target.delta()) > target.epsilon() {
            low = middle;
        } else {
            high = middle;
        }
    }
    Ok(high)
}
