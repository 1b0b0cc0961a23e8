//! Gaussian noise on the grid. The only way to draw it is to hand in a ledger's receipt.

use crate::grid::Grid;
use crate::ledger::Receipt;
use crate::streams::Stream;
use rand_distr::{Distribution, StandardNormal};

/// Adds N(0, (z·sensitivity)²), rounded to the grid, to every coordinate of an exact sum.
///
/// # Guarantee
/// The sum lies on the grid, so adding rounded noise is the same as rounding (sum + noise): a function of the
/// Gaussian mechanism's output, hence no less private. z comes from the receipt, that is, it is the z that
/// the ledger was charged for; the receipt is used up. Normals are drawn in double precision from ChaCha20;
/// what their finite precision could leak in the low bits is removed by the rounding, not proven away.
pub(crate) fn add_gaussian(
    receipt: Receipt,
    sum: &mut [i64],
    sensitivity: f64,
    grid: Grid,
    stream: &mut Stream,
) {
    let noise_std = receipt.into_event().noise_multiplier() * sensitivity;
    for steps in sum {
        let noise: f64 = StandardNormal.sample(stream);
        *steps = steps.saturating_add(grid.round(noise_std * noise));
    }
}
