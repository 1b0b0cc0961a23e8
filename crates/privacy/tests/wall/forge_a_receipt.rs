// expect: E0451
//! Noise cannot be drawn without the ledger's receipt, and only the ledger makes receipts.
use prdo_privacy::ledger::Receipt;

fn main() {
    let event = prdo_accounting_event();
    let _ = Receipt { event };
}

fn prdo_accounting_event<T>() -> T {
    loop {}
}
