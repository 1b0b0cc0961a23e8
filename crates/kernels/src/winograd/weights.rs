//! Weights, transformed once for many records.

use super::transform::{F2, F4, Transform};
use super::{Geometry, TAPS, Tile};
use crate::level::leveled;
use crate::simd::{LANES, Simd};

/// The weights of sixteen output channels and one input channel, tap by tap.
type Taps = [[f32; LANES]; TAPS];

/// Transforms weights into the form [`super::convolve`] reads: `[place][pair of output blocks][input][32]` (a last odd
/// block is a panel of 16). `weights(block, input)` gives, for each tap, the weights of sixteen output channels.
pub fn transform_weights(
    level: crate::Level,
    tile: Tile,
    g: &Geometry,
    weights: impl Fn(usize, usize) -> Taps,
    out: &mut [f32],
) {
    let (inputs, outputs) = (g.inputs * LANES, g.outputs * LANES);
    assert!(g.fits(tile) && out.len() == g.weights(tile));
    for block in 0..g.outputs {
        let panel = block / 2;
        let columns = (outputs - panel * 32).min(32);
        for i in 0..inputs {
            let at = panel * 32 * inputs + i * columns + block % 2 * LANES;
            one_input(level, tile, &weights(block, i), &mut out[at..], inputs * outputs);
        }
    }
}

leveled!(
    /// Writes each place of G g Gᵀ `apart` values after the one before.
    one_input = one_input_body (tile: Tile, taps: &Taps, out: &mut [f32], apart: usize)
);

#[inline(always)]
fn one_input_body<S: Simd>(tile: Tile, taps: &Taps, out: &mut [f32], apart: usize) {
    let last = (tile.places() - 1).checked_mul(apart).and_then(|at| at.checked_add(LANES));
    assert!(last.is_some_and(|last| last <= out.len()));
    // SAFETY: the length was checked; called with S's instructions.
    unsafe {
        match tile {
            Tile::F2 => places::<S, F2, F2, 2, 4, 2, 4>(taps, out.as_mut_ptr(), apart),
            Tile::F2x4 => places::<S, F2, F4, 2, 4, 4, 6>(taps, out.as_mut_ptr(), apart),
            Tile::F4 => places::<S, F4, F4, 4, 6, 4, 6>(taps, out.as_mut_ptr(), apart),
        }
    }
}

/// `V` is done down a tile, `H` across it.
#[inline(always)]
unsafe fn places<
    S: Simd,
    V: Transform<M, P>,
    H: Transform<N, Q>,
    const M: usize,
    const P: usize,
    const N: usize,
    const Q: usize,
>(
    taps: &Taps,
    out: *mut f32,
    apart: usize,
) {
    // SAFETY: the caller's.
    unsafe {
        let mut rows = [[S::zero(); 3]; P];
        for x in 0..3 {
            let [a, b, c] = [taps[x].as_ptr(), taps[3 + x].as_ptr(), taps[6 + x].as_ptr()];
            let column = V::weights::<S>([S::load(a), S::load(b), S::load(c)]);
            for (row, value) in rows.iter_mut().zip(column) {
                row[x] = value;
            }
        }
        for (i, row) in rows.into_iter().enumerate() {
            for (j, value) in H::weights::<S>(row).into_iter().enumerate() {
                S::store(out.add((Q * i + j) * apart), value);
            }
        }
    }
}
