//! The last step of a convolution: a tile's outputs from the sums of its rows of places, finished and stored.

use super::transform::Transform;
use super::{Cursor, Layout};
use crate::activation::{self, Activation};
use crate::simd::{LANES, Simd};

/// What is done with a convolution's outputs before they are stored.
#[derive(Clone, Copy, Debug)]
pub struct Finish<'a> {
    /// Added to each output channel, if there is any.
    pub bias: Option<&'a [f32]>,
    /// Keep the largest of each 2×2 window only, and where in the input plane its patch begins, at this offset.
    pub pool: Option<usize>,
    /// Applied to what is kept.
    pub activation: Activation,
    /// The halo of the plane that is written.
    pub halo: usize,
    /// Multiply by the derivative of an activation, given its values: a plane with a halo of 1 at this offset.
    pub derivative: Option<(Activation, usize)>,
}

/// The outputs of as many channels of a tile as S has lanes, from the sums of its rows of places.
#[inline(always)]
unsafe fn output_block<S: Simd, V: Transform<M, P>, const M: usize, const P: usize, const N: usize>(
    sums: *const f32,
) -> [[S::V; N]; M] {
    // SAFETY: the caller's.
    unsafe {
        let mut out = [[S::zero(); N]; M];
        for j in 0..N {
            let column = V::outputs::<S>(line::<S, P>(sums.add(j * LANES), N * LANES));
            for i in 0..M {
                out[i][j] = column[i];
            }
        }
        out
    }
}

/// Vectors, so far apart. (Closures are not compiled for the instructions of S; functions like this are.)
#[inline(always)]
pub(super) unsafe fn line<S: Simd, const N: usize>(p: *const f32, apart: usize) -> [S::V; N] {
    // SAFETY: the caller's.
    unsafe {
        let mut line = [S::zero(); N];
        for (k, value) in line.iter_mut().enumerate() {
            *value = S::load(p.add(k * apart));
        }
        line
    }
}

#[inline(always)]
unsafe fn bias<S: Simd>(finish: &Finish<'_>, channel: usize) -> S::V {
    // SAFETY: the caller's; the bias has a value for each output channel.
    unsafe {
        match finish.bias {
            Some(bias) => S::load(bias.as_ptr().add(channel)),
            None => S::zero(),
        }
    }
}

/// All of a tile's outputs, from its `sums` to the plane at `output`.
#[inline(always)]
pub(super) unsafe fn output_tile<
    S: Simd,
    V: Transform<M, P>,
    const M: usize,
    const P: usize,
    const N: usize,
>(
    layout: &Layout,
    sums: *const f32,
    tile: Cursor,
    base: *mut f32,
    output: usize,
    finish: &Finish<'_>,
) {
    let (y0, x0) = (tile.y, tile.x);
    let row = (layout.g.width + 2 * finish.halo) * LANES;
    let block_len = (layout.g.height + 2 * finish.halo) * row;
    // SAFETY: the caller's.
    unsafe {
        for channel in (0..layout.g.outputs * LANES).step_by(S::WIDTH) {
            let (block, lane) = (channel / LANES, channel % LANES);
            let bias = bias::<S>(finish, channel);
            let y = output_block::<S, V, M, P, N>(sums.add(block * P * N * LANES + lane));
            let at = block * block_len + (y0 + finish.halo) * row + (x0 + finish.halo) * LANES + lane;
            let out = base.add(output + at);
            for (i, line) in y.into_iter().enumerate() {
                for (j, value) in line.into_iter().enumerate() {
                    let mut value = activation::forward::<S>(finish.activation, S::add(value, bias));
                    if let Some((activation, values)) = finish.derivative {
                        let pixel = block * layout.block + (y0 + i + 1) * layout.row + (x0 + j + 1) * LANES;
                        let a = S::load(base.add(values + pixel + lane));
                        value = activation::backward::<S>(activation, a, value);
                    }
                    S::store(out.add(i * row + j * LANES), value);
                }
            }
        }
    }
}

/// The largest of each of a tile's 2×2 windows, and its place.
#[inline(always)]
pub(super) unsafe fn pooled_tile<
    S: Simd,
    V: Transform<M, P>,
    const M: usize,
    const P: usize,
    const N: usize,
>(
    layout: &Layout,
    sums: *const f32,
    tile: Cursor,
    out: *mut f32,
    places: *mut f32,
    finish: &Finish<'_>,
) {
    let (h, w) = (layout.g.height / 2, layout.g.width / 2);
    let row = (w + 2 * finish.halo) * LANES;
    let block_len = (h + 2 * finish.halo) * row;
    // SAFETY: the caller's.
    unsafe {
        for channel in (0..layout.g.outputs * LANES).step_by(S::WIDTH) {
            let (block, lane) = (channel / LANES, channel % LANES);
            let bias = bias::<S>(finish, channel);
            let values = output_block::<S, V, M, P, N>(sums.add(block * P * N * LANES + lane));
            for i in 0..M / 2 {
                for j in 0..N / 2 {
                    let [above, below] = [values[2 * i], values[2 * i + 1]];
                    let window = [above[2 * j], above[2 * j + 1], below[2 * j], below[2 * j + 1]];
                    let corner = (tile.y + 2 * i) * layout.row + (tile.x + 2 * j) * LANES;
                    let (best, place) = largest::<S>(window, corner, layout.row);
                    let value = activation::forward::<S>(finish.activation, S::add(best, bias));
                    let (y, x) = (tile.y / 2 + i, tile.x / 2 + j);
                    let at = block * block_len + (y + finish.halo) * row + (x + finish.halo) * LANES;
                    S::store(out.add(at + lane), value);
                    S::store_integers(places.add(((block * h + y) * w + x) * LANES + lane), place);
                }
            }
        }
    }
}

/// The largest of a window's four values, the first of equal ones, and where its patch begins.
#[inline(always)]
unsafe fn largest<S: Simd>([a, b, c, d]: [S::V; 4], corner: usize, row: usize) -> (S::V, S::V) {
    let candidates = [corner + LANES, corner + row, corner + row + LANES];
    // SAFETY: the caller's.
    unsafe {
        let (mut best, mut place) = (a, S::splat(corner as f32));
        for (value, candidate) in [b, c, d].into_iter().zip(candidates) {
            place = S::where_greater(value, best, S::splat(candidate as f32), place);
            best = S::where_greater(value, best, value, best);
        }
        (best, place)
    }
}
