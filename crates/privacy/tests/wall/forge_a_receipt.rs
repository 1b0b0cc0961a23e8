// expect: E0451
//! Noise cannot be drawn without the ledger's receipt, and only the ledger makes receipts.
use prdo_privacy::ledger::Receipt;

fn main() {
    let release = prdo_accounting_release();
    let _ = Receipt { release };
}

fn prdo_accounting_release<T>() -> T {
    loop {}
}
