//! Outputs from inputs: transform tiles, multiply place by place, transform back and finish.

use super::{Cursor, Geometry, MOST_HALO, PLACES, Plan, TAPS, TILES};
use crate::activation::{self, Activation};
use crate::gemm::{self, Strides};
use crate::level::leveled;
use crate::records::Records;
use crate::simd::{LANES, Simd};

/// Vectors that a block of a tile has before its last step: two a row of places.
pub(super) const SUMS: usize = 8;

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

/// Transforms weights into the form [`convolve`] reads: `[place][pair of output blocks][input][32]` (a last odd
/// block is a panel of 16). `weights(block, input)` gives, for each tap, the weights of sixteen output channels.
pub fn transform_weights(
    g: &Geometry,
    weights: impl Fn(usize, usize) -> [[f32; LANES]; TAPS],
    out: &mut [f32],
) {
    let (inputs, outputs) = (g.inputs * LANES, g.outputs * LANES);
    assert!(g.fits() && out.len() == g.weights());
    for block in 0..g.outputs {
        let panel = block / 2;
        let columns = (outputs - panel * 32).min(32);
        for i in 0..inputs {
            let at = panel * 32 * inputs + i * columns + block % 2 * LANES;
            for (place, u) in kernel_transform(&weights(block, i)).into_iter().enumerate() {
                let start = place * inputs * outputs + at;
                out[start..start + LANES].copy_from_slice(&u);
            }
        }
    }
}

/// G g Gᵀ, lane by lane.
fn kernel_transform(g: &[[f32; LANES]; TAPS]) -> [[f32; LANES]; PLACES] {
    type Lanes = [f32; LANES];
    let line = |a: &Lanes, b: &Lanes, c: &Lanes| -> [Lanes; 4] {
        let mut out = [*a, [0.0; LANES], [0.0; LANES], *c];
        for k in 0..LANES {
            out[1][k] = 0.5 * (a[k] + b[k] + c[k]);
            out[2][k] = 0.5 * (a[k] - b[k] + c[k]);
        }
        out
    };
    let mut rows = [[[0.0; LANES]; 3]; 4];
    for x in 0..3 {
        let column = line(&g[x], &g[3 + x], &g[6 + x]);
        (0..4).for_each(|y| rows[y][x] = column[y]);
    }
    let mut out = [[0.0; LANES]; PLACES];
    for (y, [a, b, c]) in rows.iter().enumerate() {
        out[4 * y..4 * y + 4].copy_from_slice(&line(a, b, c));
    }
    out
}

leveled!(
    /// Convolves each record's plane at `input` and writes what `finish` makes of it at `output`. A record's
    /// result does not depend on the others.
    convolve = convolve_body (
        g: &Geometry, memory: &mut [f32], records: Records, input: usize, output: usize,
        weights: &[f32], finish: Finish<'_>, scratch: &mut [f32],
    )
);

#[inline(always)]
fn convolve_body<S: Simd>(
    g: &Geometry,
    memory: &mut [f32],
    records: Records,
    input: usize,
    output: usize,
    weights: &[f32],
    finish: Finish<'_>,
    scratch: &mut [f32],
) {
    assert!(g.fits() && finish.halo <= MOST_HALO);
    let shrink = if finish.pool.is_some() { 2 } else { 1 };
    let (h, w) = (g.height / shrink, g.width / shrink);
    let written = g.outputs * (h + 2 * finish.halo) * (w + 2 * finish.halo) * LANES;
    let places = finish.pool.map_or(0, |at| at.saturating_add(g.outputs * h * w * LANES));
    let plane = g.outputs * (g.height + 2) * (g.width + 2) * LANES;
    let values = finish.derivative.map_or(0, |(_, at)| at.saturating_add(plane));
    let end = input.saturating_add(g.input_len()).max(output.saturating_add(written)).max(places).max(values);
    records.check(memory.len(), end);
    assert!(weights.len() == g.weights() && scratch.len() >= g.scratch(records.count));
    assert!(finish.bias.is_none_or(|bias| bias.len() == g.outputs * LANES));

    let all = g.tiles() * records.count;
    let plan = Plan::new(g, TILES.min(all));
    let (mut first, mut read) = (0, Cursor::START);
    while first < all {
        let count = TILES.min(all - first);
        let (v, rest) = scratch.split_at_mut(4 * plan.v_plane);
        let (m, sums) = rest.split_at_mut(4 * plan.m_plane);
        // SAFETY: all offsets lie within what was checked above; called with S's instructions.
        unsafe {
            let from = (memory.as_ptr().add(input), records.stride);
            let (v, m, sums) = (v.as_mut_ptr(), m.as_mut_ptr(), sums.as_mut_ptr());
            row_of_places::<S, 0>(&plan, from, read, weights.as_ptr(), (v, m, sums), count);
            row_of_places::<S, 1>(&plan, from, read, weights.as_ptr(), (v, m, sums), count);
            row_of_places::<S, 2>(&plan, from, read, weights.as_ptr(), (v, m, sums), count);
            row_of_places::<S, 3>(&plan, from, read, weights.as_ptr(), (v, m, sums), count);
            for t in 0..count {
                let base = memory.as_mut_ptr().add(read.record * records.stride);
                let sums = sums.add(t * g.outputs * SUMS * LANES).cast_const();
                match finish.pool {
                    Some(places) => {
                        pooled_tile::<S>(&plan, sums, read, base.add(output), base.add(places), &finish)
                    }
                    None => output_tile::<S>(&plan, sums, read, base, output, &finish),
                }
                read.advance(g);
            }
        }
        first += count;
    }
}

/// Bᵀ d B of one tile, all input channels: place ξ goes to plane ξ of `v`.
#[inline(always)]
pub(super) unsafe fn input_tile<S: Simd>(plan: &Plan, x: *const f32, tile: Cursor, v: *mut f32) {
    let (y0, x0) = (tile.y, tile.x);
    // SAFETY: the caller's: a halo of 1 makes every tile whole.
    unsafe {
        for block in 0..plan.g.inputs {
            let d = x.add(block * plan.block + y0 * plan.row + x0 * LANES);
            let v = v.add(block * LANES);
            let mut rows = [[S::zero(); 4]; 4];
            for j in 0..4 {
                let [d0, d1, d2, d3] = four::<S>(d.add(j * LANES), plan.row);
                rows[0][j] = S::sub(d0, d2);
                rows[1][j] = S::add(d1, d2);
                rows[2][j] = S::sub(d2, d1);
                rows[3][j] = S::sub(d1, d3);
            }
            for (i, [r0, r1, r2, r3]) in rows.into_iter().enumerate() {
                let v = v.add(4 * i * plan.v_plane);
                S::store(v, S::sub(r0, r2));
                S::store(v.add(plan.v_plane), S::add(r1, r2));
                S::store(v.add(2 * plan.v_plane), S::sub(r2, r1));
                S::store(v.add(3 * plan.v_plane), S::sub(r1, r3));
            }
        }
    }
}

/// Row `ROW` of the 4×4 places of so many tiles: what the rows of Aᵀ m A are made of goes to `sums`. A row at a time,
/// what is read and written here stays in the first-level cache.
#[inline(always)]
unsafe fn row_of_places<S: Simd, const ROW: usize>(
    plan: &Plan,
    (x, stride): (*const f32, usize),
    mut tile: Cursor,
    weights: *const f32,
    (v, m, sums): (*mut f32, *mut f32, *mut f32),
    count: usize,
) {
    let (inputs, outputs) = (plan.g.inputs * LANES, plan.g.outputs * LANES);
    // SAFETY: the caller's.
    unsafe {
        for t in 0..count {
            input_row::<S, ROW>(plan, x.add(tile.record * stride), tile, v.add(t * inputs));
            tile.advance(&plan.g);
        }
        products::<S>(plan, v, weights.add(4 * ROW * inputs * outputs), m, count);
        for n in 0..count * plan.g.outputs {
            let [m0, m1, m2, m3] = four::<S>(m.add(n * LANES), plan.m_plane);
            let to = sums.add((n * SUMS + 2 * ROW) * LANES);
            S::store(to, S::add(m0, S::add(m1, m2)));
            S::store(to.add(LANES), S::sub(S::sub(m1, m2), m3));
        }
    }
}

/// Row `ROW` of Bᵀ d B of one tile, all input channels: its four places go to four planes of `v`.
#[inline(always)]
unsafe fn input_row<S: Simd, const ROW: usize>(plan: &Plan, x: *const f32, tile: Cursor, v: *mut f32) {
    // SAFETY: the caller's: a halo of 1 makes every tile whole.
    unsafe {
        for block in 0..plan.g.inputs {
            let d = x.add(block * plan.block + tile.y * plan.row + tile.x * LANES);
            let v = v.add(block * LANES);
            let (first, second) = match ROW {
                0 => (d, d.add(2 * plan.row)),
                2 => (d.add(2 * plan.row), d.add(plan.row)),
                _ => (d.add(plan.row), d.add((if ROW == 1 { 2 } else { 3 }) * plan.row)),
            };
            let mut row = [S::zero(); 4];
            for (j, value) in row.iter_mut().enumerate() {
                let (a, b) = (S::load(first.add(j * LANES)), S::load(second.add(j * LANES)));
                *value = if ROW == 1 { S::add(a, b) } else { S::sub(a, b) };
            }
            let [r0, r1, r2, r3] = row;
            S::store(v, S::sub(r0, r2));
            S::store(v.add(plan.v_plane), S::add(r1, r2));
            S::store(v.add(2 * plan.v_plane), S::sub(r2, r1));
            S::store(v.add(3 * plan.v_plane), S::sub(r1, r3));
        }
    }
}

/// For each of four places: M[tile][output] = Σ_input V[tile][input]·U[input][output].
#[inline(always)]
unsafe fn products<S: Simd>(plan: &Plan, v: *const f32, u: *const f32, m: *mut f32, tiles: usize) {
    let (inputs, outputs) = (plan.g.inputs * LANES, plan.g.outputs * LANES);
    debug_assert!(tiles <= plan.tiles);
    // SAFETY: the caller's.
    unsafe {
        for place in 0..4 {
            let v = v.add(place * plan.v_plane);
            let (u, m) = (u.add(place * inputs * outputs), m.add(place * plan.m_plane));
            for pair in 0..plan.g.outputs / 2 {
                let s = Strides { row: inputs, step: 1, next: 32, out: outputs };
                gemm::rows::<S, 2>(v, u.add(pair * 32 * inputs), m.add(pair * 32), (tiles, inputs), s);
            }
            if plan.g.outputs % 2 == 1 {
                let at = outputs - LANES;
                let s = Strides { row: inputs, step: 1, next: LANES, out: outputs };
                gemm::rows::<S, 1>(v, u.add(at * inputs), m.add(at), (tiles, inputs), s);
            }
        }
    }
}

/// The 2×2 outputs of one block of a tile from the sums of its rows of places.
#[inline(always)]
unsafe fn output_block<S: Simd>(sums: *const f32) -> [[S::V; 2]; 2] {
    // SAFETY: the caller's.
    unsafe {
        let mut out = [[S::zero(); 2]; 2];
        for j in 0..2 {
            let [q0, q1, q2, q3] = four::<S>(sums.add(j * LANES), 2 * LANES);
            out[0][j] = S::add(q0, S::add(q1, q2));
            out[1][j] = S::sub(S::sub(q1, q2), q3);
        }
        out
    }
}

/// Four vectors, so far apart. (Closures are not compiled for the instructions of S; functions like this are.)
#[inline(always)]
pub(super) unsafe fn four<S: Simd>(p: *const f32, apart: usize) -> [S::V; 4] {
    // SAFETY: the caller's.
    unsafe { [S::load(p), S::load(p.add(apart)), S::load(p.add(2 * apart)), S::load(p.add(3 * apart))] }
}

#[inline(always)]
unsafe fn bias<S: Simd>(finish: &Finish<'_>, block: usize) -> S::V {
    // SAFETY: the caller's; the bias has a value for each output channel.
    unsafe {
        match finish.bias {
            Some(bias) => S::load(bias.as_ptr().add(block * LANES)),
            None => S::zero(),
        }
    }
}

#[inline(always)]
unsafe fn output_tile<S: Simd>(
    plan: &Plan,
    sums: *const f32,
    tile: Cursor,
    base: *mut f32,
    output: usize,
    finish: &Finish<'_>,
) {
    let (y0, x0) = (tile.y, tile.x);
    let row = (plan.g.width + 2 * finish.halo) * LANES;
    let block_len = (plan.g.height + 2 * finish.halo) * row;
    // SAFETY: the caller's.
    unsafe {
        for block in 0..plan.g.outputs {
            let bias = bias::<S>(finish, block);
            let y = output_block::<S>(sums.add(block * SUMS * LANES));
            let at = block * block_len + (y0 + finish.halo) * row + (x0 + finish.halo) * LANES;
            let out = base.add(output + at);
            for (i, line) in y.into_iter().enumerate() {
                for (j, value) in line.into_iter().enumerate() {
                    let mut value = activation::forward::<S>(finish.activation, S::add(value, bias));
                    if let Some((activation, values)) = finish.derivative {
                        let pixel = block * plan.block + (y0 + i + 1) * plan.row + (x0 + j + 1) * LANES;
                        value =
                            activation::backward::<S>(activation, S::load(base.add(values + pixel)), value);
                    }
                    S::store(out.add(i * row + j * LANES), value);
                }
            }
        }
    }
}

#[inline(always)]
unsafe fn pooled_tile<S: Simd>(
    plan: &Plan,
    sums: *const f32,
    tile: Cursor,
    out: *mut f32,
    places: *mut f32,
    finish: &Finish<'_>,
) {
    let (y0, x0) = (tile.y, tile.x);
    let (h, w) = (plan.g.height / 2, plan.g.width / 2);
    let row = (w + 2 * finish.halo) * LANES;
    let block_len = (h + 2 * finish.halo) * row;
    let corner = y0 * plan.row + x0 * LANES;
    let candidates = [corner, corner + LANES, corner + plan.row, corner + plan.row + LANES];
    // SAFETY: the caller's.
    unsafe {
        for block in 0..plan.g.outputs {
            let [[a, b], [c, d]] = output_block::<S>(sums.add(block * SUMS * LANES));
            let (mut best, mut place) = (a, S::splat(candidates[0] as f32));
            for (value, candidate) in [b, c, d].into_iter().zip(&candidates[1..]) {
                place = S::where_greater(value, best, S::splat(*candidate as f32), place);
                best = S::where_greater(value, best, value, best);
            }
            let value = activation::forward::<S>(finish.activation, S::add(best, bias::<S>(finish, block)));
            let (y, x) = (y0 / 2, x0 / 2);
            S::store(out.add(block * block_len + (y + finish.halo) * row + (x + finish.halo) * LANES), value);
            S::store_integers(places.add(((block * h + y) * w + x) * LANES), place);
        }
    }
}
