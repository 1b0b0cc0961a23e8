// expect: E0599
//! One charge pays for one draw of noise.
use prdo_privacy::ledger::Receipt;

fn twice(receipt: Receipt) -> (Receipt, Receipt) {
    (receipt.clone(), receipt)
}

fn main() {}
