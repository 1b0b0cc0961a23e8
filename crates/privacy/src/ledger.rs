//! The ledger of one node: every release is charged before its noise is drawn, or it does not happen.

use prdo_accounting::renyi::epsilon_of_curves;
use prdo_accounting::{AccountingError, Curve, History, Release, RenyiAccountant, Target};
use std::sync::Arc;

/// What a node's records have been charged for, and how much they may be.
#[derive(Clone, Debug)]
pub struct Ledger {
    accountant: Arc<RenyiAccountant>,
    budget: Target,
    charges: Vec<(Release, Arc<Curve>, u64)>,
}

/// A charge that is refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LedgerError {
    /// The release would cost more than is left. Nothing was charged and nothing may be released.
    #[error(
        "privacy budget exhausted: release {release} would bring ε to {would_be:.6} at δ = {delta:e}, \
         the budget is ε = {budget}"
    )]
    Exhausted {
        /// Number of the refused release, from 1.
        release: u64,
        /// ε after it.
        would_be: f64,
        /// The budget's ε.
        budget: f64,
        /// The budget's δ.
        delta: f64,
    },
    /// A release that cannot be accounted for.
    #[error(transparent)]
    Accounting(#[from] AccountingError),
}

/// Proof that a release was charged. Not cloneable, used up by the noise it pays for.
#[derive(Debug)]
pub struct Receipt {
    release: Release,
}

impl Receipt {
    pub(crate) fn into_release(self) -> Release {
        self.release
    }
}

impl Ledger {
    /// An empty ledger with a hard budget. The accountant is shared so that many nodes compute a curve once.
    pub fn new(accountant: Arc<RenyiAccountant>, budget: Target) -> Self {
        Self { accountant, budget, charges: Vec::new() }
    }

    /// Charges one release and gives the receipt that its noise needs.
    ///
    /// # Guarantee
    /// After any sequence of successful charges, everything released is (ε, δ)-differentially private with
    /// the budget's ε and δ; a charge that would break this is refused and changes nothing.
    ///
    /// # Errors
    /// [`LedgerError::Exhausted`] when the budget does not allow it.
    pub(crate) fn charge(&mut self, release: Release) -> Result<Receipt, LedgerError> {
        let at = match self.charges.iter().position(|(kind, _, _)| *kind == release) {
            Some(at) => at,
            None => {
                self.charges.push((release, self.accountant.curve(&release), 0));
                self.charges.len() - 1
            }
        };
        self.charges[at].2 += 1;
        let would_be = self.spent();
        if would_be > self.budget.epsilon() {
            let release = self.releases();
            self.charges[at].2 -= 1;
            let (budget, delta) = (self.budget.epsilon(), self.budget.delta());
            return Err(LedgerError::Exhausted { release, would_be, budget, delta });
        }
        Ok(Receipt { release })
    }

    /// ε spent so far at the budget's δ.
    pub fn spent(&self) -> f64 {
        let curves = self.charges.iter().map(|(_, curve, n)| (&**curve, *n));
        epsilon_of_curves(curves, self.budget.delta()).unwrap_or(f64::INFINITY)
    }

    /// How many releases were charged.
    pub fn releases(&self) -> u64 {
        self.charges.iter().map(|(_, _, n)| n).sum()
    }

    /// The budget.
    pub fn budget(&self) -> Target {
        self.budget
    }

    /// Everything charged so far.
    pub fn history(&self) -> History {
        self.charges.iter().fold(History::new(), |history, (kind, _, n)| history.and(*kind, *n))
    }

    /// Puts an earlier run's charges back, when a run is resumed from its checkpoint.
    pub fn restore(&mut self, history: &History) {
        let entry = |(kind, n): &(Release, u64)| (*kind, self.accountant.curve(kind), *n);
        self.charges = history.entries().iter().map(entry).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_the_charge_that_would_exceed_the_budget_and_changes_nothing() {
        let target = Target::new(2.0, 1e-5).unwrap();
        let release = Release::new(0.1, 1.0).unwrap();
        let mut ledger = Ledger::new(Arc::new(RenyiAccountant::new()), target);
        let mut granted = 0;
        let refusal = loop {
            match ledger.charge(release) {
                Ok(_) => granted += 1,
                Err(error) => break error,
            }
            assert!(ledger.spent() <= 2.0);
        };
        let LedgerError::Exhausted { release: refused, would_be, .. } = refusal else { panic!("{refusal}") };
        assert!(would_be > 2.0);
        assert_eq!((refused, ledger.releases()), (granted + 1, granted));
        let exact = RenyiAccountant::new().epsilon(&History::new().and(release, granted), 1e-5).unwrap();
        assert_eq!(ledger.spent(), exact);
    }

    #[test]
    fn restored_charges_count() {
        let target = Target::new(5.0, 1e-5).unwrap();
        let release = Release::new(0.1, 2.0).unwrap();
        let mut ledger = Ledger::new(Arc::new(RenyiAccountant::new()), target);
        for _ in 0..7 {
            ledger.charge(release).unwrap();
        }
        let mut again = Ledger::new(Arc::new(RenyiAccountant::new()), target);
        again.restore(&ledger.history());
        assert_eq!((again.spent(), again.releases()), (ledger.spent(), 7));
    }
}
