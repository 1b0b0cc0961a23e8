//! z for a budget, each asked for once.

use super::PlanError;
use super::case::{Account, Case, Strength};
use prdo_accounting::{Accountant, Event, History, Method as Accounting, Target, calibrate};
use prdo_privacy::{Batch, Batches};
use std::collections::HashMap;

/// What z depends on besides what stays the same in one question: ε, N, b, b₀, T (and ε on z).
type Key = (u64, u64, u64, u64, u64);

/// Finds noise multipliers and remembers them.
#[derive(Debug, Default)]
pub struct Calibrator {
    known: HashMap<Key, f64>,
    rough: HashMap<Key, f64>,
    /// ε by z.
    costs: HashMap<Key, f64>,
    /// Whether the exact accountant is not to be asked at all.
    only_renyi: bool,
}

/// How near a rough z is to the one it stands for, in logarithm.
const ROUGH: f64 = 0.01;

impl Calibrator {
    /// One that asks the Rényi accountant only: its z can be compared with each other whatever the rates.
    pub fn by_renyi() -> Self {
        Self { only_renyi: true, ..Self::default() }
    }

    /// The z of a strength when T rounds use b₀ once and b after it. Where the exact accountant would take long
    /// ([`is_exact`]) it is the Rényi accountant's, which is somewhat larger.
    ///
    /// # Guarantee
    /// For a budget: everything spent and all T rounds with noise z together cost at most ε at δ.
    pub fn multiplier(
        &mut self,
        case: &Case,
        strength: &Strength,
        first_batch: u64,
    ) -> Result<f64, PlanError> {
        let (epsilon, account) = match strength {
            Strength::Multiplier { z, .. } => return Ok(*z),
            Strength::Budget { epsilon, account } => (*epsilon, account),
        };
        let key = key(case, epsilon, first_batch)?;
        if let Some(z) = self.known.get(&key) {
            return Ok(*z);
        }
        let accounting = match account.accounting {
            Accounting::Numerical if self.only_renyi || !is_exact(case, first_batch) => Accounting::Renyi,
            other => other,
        };
        let z = calibrate::noise_multiplier_after(
            &Accountant::new(accounting),
            &Target::new(epsilon, account.delta)?,
            &account.spent,
            &rates(case, first_batch)?,
        )?;
        self.known.insert(key, z);
        Ok(z)
    }

    /// About the same, at least the Rényi accountant's z: for searches, where many are asked for.
    pub fn rough(&mut self, case: &Case, strength: &Strength, first_batch: u64) -> Result<f64, PlanError> {
        let Strength::Budget { epsilon, account } = strength else {
            return self.multiplier(case, strength, first_batch);
        };
        let key = key(case, *epsilon, first_batch)?;
        if let Some(z) = self.rough.get(&key) {
            return Ok(*z);
        }
        let by_renyi = Account { accounting: Accounting::Renyi, ..account.clone() };
        let (least, most) = Event::NOISE_MULTIPLIER_RANGE;
        let (mut low, mut high) = (least.ln(), most.ln());
        while high - low > ROUGH {
            let middle = 0.5 * (low + high);
            let keeps = cost(case, first_batch, middle.exp(), &by_renyi)? <= *epsilon;
            if keeps { high = middle } else { low = middle }
        }
        let z = high.exp().min(most);
        self.rough.insert(key, z);
        Ok(z)
    }

    /// ε of everything spent and T rounds with noise z.
    pub fn cost(
        &mut self,
        case: &Case,
        first_batch: u64,
        z: f64,
        account: &Account,
    ) -> Result<f64, PlanError> {
        let key = key(case, z, first_batch)?;
        if let Some(epsilon) = self.costs.get(&key) {
            return Ok(*epsilon);
        }
        let epsilon = cost(case, first_batch, z, account)?;
        self.costs.insert(key, epsilon);
        Ok(epsilon)
    }
}

/// Below this Σ of squared rates losses are so nearly atomic that the exact accountant takes seconds to minutes.
const LEAST_SQUARES: f64 = 1e-3;

/// Whether the exact accountant answers within a second or so: where (b₀/N)² + (T−1)(b/N)² is not tiny, or there is
/// one round only.
pub fn is_exact(case: &Case, first_batch: u64) -> bool {
    let square = |batch: u64, slots: u64| (batch as f64 / slots as f64).powi(2);
    let squares = |slots| square(first_batch, slots) + square(case.batch, slots) * (case.rounds - 1) as f64;
    case.rounds == 1 || case.slots.is_some_and(|slots| squares(slots) >= LEAST_SQUARES)
}

fn cost(case: &Case, first_batch: u64, z: f64, account: &Account) -> Result<f64, PlanError> {
    let mut history: History = account.spent.clone();
    for (rate, count) in rates(case, first_batch)? {
        history.add(Event::sampled_gaussian(rate, z)?, count);
    }
    Ok(Accountant::new(account.accounting).epsilon(&history, account.delta)?.upper)
}

/// `strength` is ε, or z.
fn key(case: &Case, strength: f64, first_batch: u64) -> Result<Key, PlanError> {
    let slots = case.slots.ok_or(PlanError::SlotsMissing)?;
    Ok((strength.to_bits(), slots, case.batch, first_batch, case.rounds))
}

fn rates(case: &Case, first_batch: u64) -> Result<[(f64, u64); 2], PlanError> {
    let slots = case.slots.ok_or(PlanError::SlotsMissing)? as usize;
    let batches = Batches::new(first_batch as usize, case.batch as usize);
    Ok([(batches.rate(Batch::First, slots), 1), (batches.rate(Batch::Later, slots), case.rounds - 1)])
}
