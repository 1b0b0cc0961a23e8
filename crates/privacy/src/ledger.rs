//! The ledger of one node: every release is charged before its noise is drawn, or it does not happen.

use prdo_accounting::{Accountant, AccountingError, Event, History, Target};
use std::fmt;
use std::sync::Arc;

/// What a node's records have been charged for, and how much they may be. Not cloneable: two copies would each spend
/// the budget.
pub struct Ledger {
    accountant: Arc<Accountant>,
    budget: Target,
    charged: History,
    book: Option<Box<dyn Book>>,
}

/// Keeps charges beyond this process's life.
pub trait Book: Send + Sync {
    /// Enters the charge of `round` durably. Called before the receipt exists. Entering the same charge of the same
    /// round again, after a crash before its release was kept, changes nothing.
    ///
    /// # Errors
    /// Why the charge is not kept. Nothing may then be released.
    fn enter(&mut self, round: u32, event: &Event) -> Result<(), BookError>;
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the charge could not be recorded, so nothing is released: {0}")]
pub struct BookError(pub String);

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LedgerError {
    #[error(
        "privacy budget exhausted: release {release} would bring ε to {would_be:.6} at δ = {delta:e}, \
         the budget is ε = {budget}"
    )]
    Exhausted {
        /// Number of the refused release, from 1.
        release: u64,
        would_be: f64,
        budget: f64,
        delta: f64,
    },
    #[error(transparent)]
    Accounting(#[from] AccountingError),
    #[error(transparent)]
    Book(#[from] BookError),
}

/// Proof that a release was charged. Not cloneable, used up by the noise it pays for.
#[derive(Debug)]
pub struct Receipt {
    event: Event,
}

impl Receipt {
    pub(crate) fn into_event(self) -> Event {
        self.event
    }
}

impl Ledger {
    /// An empty ledger with a hard budget. The accountant is shared, so that many nodes compute the same cost once.
    pub fn new(accountant: Arc<Accountant>, budget: Target) -> Self {
        Self::after(accountant, budget, History::new())
    }

    /// A ledger of records that have been charged before, by other runs: the budget is for all of it.
    pub fn after(accountant: Arc<Accountant>, budget: Target, charged: History) -> Self {
        Self { accountant, budget, charged, book: None }
    }

    /// The same ledger, with every further charge entered in `book` before its receipt is given.
    #[must_use]
    pub fn kept_by(self, book: Box<dyn Book>) -> Self {
        Self { book: Some(book), ..self }
    }

    /// Charges the release of one round and gives the receipt that its noise needs.
    ///
    /// # Guarantee
    /// After any sequence of successful charges, everything released is (ε, δ)-differentially private with
    /// the budget's ε and δ; a charge that would break this is refused and changes nothing. (The kinds of release must
    /// not depend on what was released before: they are fixed by the run's settings.)
    pub(crate) fn charge(&mut self, round: u32, event: Event) -> Result<Receipt, LedgerError> {
        if !self.accountant.allows(&self.charged, event, &self.budget)? {
            let next = self.charged.clone().and(event, 1);
            let (budget, delta) = (self.budget.epsilon(), self.budget.delta());
            let would_be = self.accountant.epsilon(&next, delta)?.upper;
            return Err(LedgerError::Exhausted { release: next.len(), would_be, budget, delta });
        }
        if let Some(book) = &mut self.book {
            book.enter(round, &event)?;
        }
        self.charged.add(event, 1);
        Ok(Receipt { event })
    }

    /// ε spent so far at the budget's δ: a proven upper bound.
    pub fn spent(&self) -> f64 {
        self.accountant
            .epsilon(&self.charged, self.budget.delta())
            .map_or(f64::INFINITY, |bounds| bounds.upper)
    }

    pub fn releases(&self) -> u64 {
        self.charged.len()
    }

    pub fn budget(&self) -> Target {
        self.budget
    }

    pub fn history(&self) -> &History {
        &self.charged
    }

    /// Puts an earlier run's charges back, when a run is resumed from its checkpoint.
    pub fn restore(&mut self, history: &History) {
        self.charged = history.clone();
    }
}

impl fmt::Debug for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { accountant, budget, charged, book } = self;
        let mut shown = f.debug_struct("Ledger");
        shown.field("accountant", &accountant.method()).field("budget", budget).field("charged", charged);
        shown.field("kept", &book.is_some()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prdo_accounting::Method;

    fn ledger(epsilon: f64, method: Method) -> Ledger {
        Ledger::new(Arc::new(Accountant::new(method)), Target::new(epsilon, 1e-5).unwrap())
    }

    #[test]
    fn refuses_the_charge_that_would_exceed_the_budget_and_changes_nothing() {
        let event = Event::sampled_gaussian(0.1, 1.0).unwrap();
        for method in [Method::Numerical, Method::Renyi, Method::Paper] {
            let mut ledger = ledger(2.0, method);
            let mut granted = 0;
            let refusal = loop {
                match ledger.charge(granted as u32, event) {
                    Ok(_) => granted += 1,
                    Err(error) => break error,
                }
                assert!(ledger.spent() <= 2.0);
            };
            let LedgerError::Exhausted { release: refused, would_be, .. } = refusal else {
                panic!("{refusal}")
            };
            assert!(would_be > 2.0);
            assert_eq!((refused, ledger.releases()), (granted + 1, granted));
            let history = History::new().and(event, granted);
            assert_eq!(ledger.spent(), Accountant::new(method).epsilon(&history, 1e-5).unwrap().upper);
            // The most that fits, by the calibration, is what the ledger granted.
            if method == Method::Numerical || granted > 0 {
                let most = prdo_accounting::calibrate::rounds(
                    &Accountant::new(method),
                    &ledger.budget(),
                    &History::new(),
                    event,
                );
                assert_eq!(most.unwrap(), granted);
            }
        }
    }

    #[test]
    fn restored_charges_count_and_so_do_those_of_earlier_runs() {
        let event = Event::sampled_gaussian(0.1, 2.0).unwrap();
        let mut first = ledger(5.0, Method::Numerical);
        for round in 0..7 {
            first.charge(round, event).unwrap();
        }
        let mut again = ledger(5.0, Method::Numerical);
        again.restore(first.history());
        assert_eq!((again.spent(), again.releases()), (first.spent(), 7));
        let later = Ledger::after(Arc::new(Accountant::default()), first.budget(), first.history().clone());
        assert_eq!((later.spent(), later.releases()), (first.spent(), 7));
    }

    /// Remembers what it was asked to keep, and refuses from a round on.
    struct Paper(Arc<std::sync::Mutex<Vec<(u32, Event)>>>, u32);

    impl Book for Paper {
        fn enter(&mut self, round: u32, event: &Event) -> Result<(), BookError> {
            if round >= self.1 {
                return Err(BookError("the page is full".into()));
            }
            self.0.lock().unwrap().push((round, *event));
            Ok(())
        }
    }

    #[test]
    fn what_the_book_refuses_is_not_charged_and_what_the_budget_refuses_is_not_entered() {
        let event = Event::sampled_gaussian(0.1, 2.0).unwrap();
        let entered = Arc::default();
        let mut ledger = ledger(5.0, Method::Renyi).kept_by(Box::new(Paper(Arc::clone(&entered), 2)));
        ledger.charge(0, event).unwrap();
        ledger.charge(1, event).unwrap();
        let spent = ledger.spent();
        let refusal = ledger.charge(2, event).unwrap_err();
        assert_eq!(refusal, LedgerError::Book(BookError("the page is full".into())));
        assert_eq!((ledger.releases(), ledger.spent()), (2, spent));
        assert_eq!(*entered.lock().unwrap(), [(0, event), (1, event)]);

        let costly = Event::sampled_gaussian(1.0, 0.1).unwrap();
        let entered = Arc::default();
        let mut ledger = Ledger::new(Arc::default(), ledger.budget());
        ledger = ledger.kept_by(Box::new(Paper(Arc::clone(&entered), 2)));
        assert!(matches!(ledger.charge(0, costly), Err(LedgerError::Exhausted { .. })));
        assert!(entered.lock().unwrap().is_empty());
    }
}
