//! 3×3 convolutions by Winograd's F(2×2, 3×3): sixteen products where the definition has thirty-six.
//!
//! A tile of 2×2 outputs is Y = Aᵀ[(G g Gᵀ) ⊙ (Bᵀ d B)]A of its 4×4 inputs d and the 3×3 weights g (Lavin and
//! Gray, 2016). Summed over input channels, each of the sixteen places ξ of a tile is a matrix product.
//! The gradient with respect to the weights is the same bilinear form read the other way: Gᵀ[Σ (A dY Aᵀ) ⊙
//! (Bᵀ d B)]G.
//!
//! Images are planes of blocks of sixteen channels, `[block][height + 2·halo][width + 2·halo][16]`, with a halo of
//! zeros; inputs here have a halo of 1. Heights and widths are even.

use crate::activation::{self, Activation};
use crate::gemm::{self, Strides};
use crate::level::leveled;
use crate::records::Records;
use crate::simd::{LANES, Simd};

/// Places of a tile.
const PLACES: usize = 16;
/// Taps of a kernel.
pub const TAPS: usize = 9;
/// Values added to a plane of scratch memory so that the planes of a tile do not share a cache set.
const PAD: usize = 48;
/// Tiles done at a time.
const TILES: usize = 32;

/// The size of a convolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Blocks of sixteen input channels.
    pub inputs: usize,
    /// Blocks of sixteen output channels.
    pub outputs: usize,
    /// Of the image, even.
    pub height: usize,
    /// Of the image, even.
    pub width: usize,
}

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

impl Geometry {
    /// Whether this size can be done: even, and small enough that a place in a plane is exact in `f32`.
    pub fn fits(&self) -> bool {
        let even = self.height.is_multiple_of(2) && self.width.is_multiple_of(2);
        let place = (self.height + 2).saturating_mul(self.width + 2).saturating_mul(LANES);
        even && self.inputs > 0 && self.outputs > 0 && self.height > 0 && self.width > 0 && place < 1 << 24
    }

    fn tiles(&self) -> usize {
        self.height * self.width / 4
    }

    /// Values of the input plane, halo included.
    fn input_len(&self) -> usize {
        self.inputs * (self.height + 2) * (self.width + 2) * LANES
    }

    fn scratch_planes(&self, tiles: usize) -> (usize, usize) {
        (tiles * self.inputs * LANES + PAD, tiles * self.outputs * LANES + PAD)
    }

    /// Values of scratch memory that [`convolve`] and [`weight_gradient`] need for up to `records` records.
    pub fn scratch(&self, records: usize) -> usize {
        let (v, m) =
            self.scratch_planes(TILES.min(self.tiles() * records.max(1)).max(self.tiles().min(TILES)));
        let (all_v, all_m) = self.scratch_planes(self.tiles());
        PLACES * (v + m).max(all_v + all_m)
    }

    /// Values of the transformed weights.
    pub fn weights(&self) -> usize {
        PLACES * self.inputs * self.outputs * LANES * LANES
    }

    /// Values of a weight gradient: `[output][input block][tap][16]`.
    pub fn gradient(&self) -> usize {
        self.outputs * LANES * self.inputs * TAPS * LANES
    }
}

/// Transforms weights into the form [`convolve`] reads: `[place][pair of output blocks][input][32]` (a last odd
/// block is a panel of 16). `weights(block, input)` gives, for each tap, the weights of sixteen output channels.
pub fn transform_weights(
    g: &Geometry,
    weights: impl Fn(usize, usize) -> [[f32; LANES]; TAPS],
    out: &mut [f32],
) {
    let (inputs, outputs) = (g.inputs * LANES, g.outputs * LANES);
    assert!(out.len() == g.weights());
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

leveled!(
    /// Writes the gradient with respect to the weights over `gradient`, for an input plane `x` and the gradient
    /// `dy` of the outputs (with a halo of 1).
    weight_gradient = weight_gradient_body (
        g: &Geometry, x: &[f32], dy: &[f32], gradient: &mut [f32], scratch: &mut [f32],
    )
);

leveled!(
    /// The same for a convolution whose outputs were pooled: only the largest of each window has a gradient `dy`
    /// (`[block][height/2][width/2][16]`), and `places`, the bits of integers, says where its patch of `x` begins.
    pooled_weight_gradient = pooled_weight_gradient_body (
        g: &Geometry, x: &[f32], dy: &[f32], places: &[f32], gradient: &mut [f32],
    )
);

leveled!(
    /// The gradient with respect to the inputs of a pooled convolution, times the derivative of the activation whose
    /// values the inputs `x` are, written to the interior of the plane `out` of the given halo. `weights` are
    /// `[input block][output][tap][16]`.
    pooled_input_gradient = pooled_input_gradient_body (
        g: &Geometry, dy: &[f32], places: &[f32], weights: &[f32], x: &[f32], activation: Activation,
        out: &mut [f32], halo: usize, scratch: &mut [f32],
    )
);

/// Where things are in one convolution.
#[derive(Clone, Copy)]
struct Plan {
    g: Geometry,
    tiles: usize,
    /// Values of a row, and of a block, of the input plane.
    row: usize,
    block: usize,
    /// Values of a plane of transformed inputs, and of products.
    v_plane: usize,
    m_plane: usize,
}

impl Plan {
    fn new(g: &Geometry, tiles: usize) -> Self {
        let row = (g.width + 2) * LANES;
        let (v_plane, m_plane) = g.scratch_planes(tiles);
        Self { g: *g, tiles, row, block: (g.height + 2) * row, v_plane, m_plane }
    }
}

/// Goes through the tiles of one record after another: divisions would take longer than the tiles.
#[derive(Clone, Copy)]
struct Cursor {
    record: usize,
    /// The top left corner, in pixels, of the tile's outputs.
    y: usize,
    x: usize,
}

impl Cursor {
    const START: Cursor = Cursor { record: 0, y: 0, x: 0 };

    #[inline(always)]
    fn advance(&mut self, g: &Geometry) {
        self.x += 2;
        if self.x == g.width {
            (self.x, self.y) = (0, self.y + 2);
            if self.y == g.height {
                (self.y, self.record) = (0, self.record + 1);
            }
        }
    }
}

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
    let shrink = if finish.pool.is_some() { 2 } else { 1 };
    let (h, w) = (g.height / shrink, g.width / shrink);
    let written = g.outputs * (h + 2 * finish.halo) * (w + 2 * finish.halo) * LANES;
    let places = finish.pool.map_or(0, |at| at + g.outputs * h * w * LANES);
    let plane = g.outputs * (g.height + 2) * (g.width + 2) * LANES;
    let values = finish.derivative.map_or(0, |(_, at)| at + plane);
    let end = (input + g.input_len()).max(output + written).max(places).max(values);
    assert!(g.fits());
    records.check(memory.len(), end);
    assert!(weights.len() == g.weights() && scratch.len() >= g.scratch(records.count));
    assert!(finish.bias.is_none_or(|bias| bias.len() == g.outputs * LANES));

    let all = g.tiles() * records.count;
    let plan = Plan::new(g, TILES.min(all));
    let (mut first, mut read, mut write) = (0, Cursor::START, Cursor::START);
    while first < all {
        let count = TILES.min(all - first);
        let (v, m) = scratch.split_at_mut(PLACES * plan.v_plane);
        // SAFETY: all offsets lie within what was checked above; called with S's instructions.
        unsafe {
            for t in 0..count {
                let x = memory.as_ptr().add(read.record * records.stride + input);
                input_tile::<S>(&plan, x, read, v.as_mut_ptr().add(t * g.inputs * LANES));
                read.advance(g);
            }
            products::<S>(&plan, v.as_ptr(), weights.as_ptr(), m.as_mut_ptr(), count);
            for t in 0..count {
                let base = memory.as_mut_ptr().add(write.record * records.stride);
                let m = m.as_ptr().add(t * g.outputs * LANES);
                match finish.pool {
                    Some(places) => {
                        pooled_tile::<S>(&plan, m, write, base.add(output), base.add(places), &finish)
                    }
                    None => output_tile::<S>(&plan, m, write, base, output, &finish),
                }
                write.advance(g);
            }
        }
        first += count;
    }
}

/// Bᵀ d B of one tile, all input channels: place ξ goes to plane ξ of `v`.
#[inline(always)]
unsafe fn input_tile<S: Simd>(plan: &Plan, x: *const f32, tile: Cursor, v: *mut f32) {
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

/// For each place: M[tile][output] = Σ_input V[tile][input]·U[input][output].
#[inline(always)]
unsafe fn products<S: Simd>(plan: &Plan, v: *const f32, u: *const f32, m: *mut f32, tiles: usize) {
    let (inputs, outputs) = (plan.g.inputs * LANES, plan.g.outputs * LANES);
    debug_assert!(tiles <= plan.tiles);
    // SAFETY: the caller's.
    unsafe {
        for place in 0..PLACES {
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

/// Aᵀ m A of one block of a tile: the 2×2 outputs.
#[inline(always)]
unsafe fn output_block<S: Simd>(m: *const f32, plane: usize) -> [[S::V; 2]; 2] {
    // SAFETY: the caller's.
    unsafe {
        let mut rows = [[S::zero(); 4]; 2];
        for j in 0..4 {
            let [m0, m1, m2, m3] = four::<S>(m.add(j * plane), 4 * plane);
            rows[0][j] = S::add(m0, S::add(m1, m2));
            rows[1][j] = S::sub(S::sub(m1, m2), m3);
        }
        let mut out = [[S::zero(); 2]; 2];
        for (line, [r0, r1, r2, r3]) in out.iter_mut().zip(rows) {
            *line = [S::add(r0, S::add(r1, r2)), S::sub(S::sub(r1, r2), r3)];
        }
        out
    }
}

/// Four vectors, so far apart. (Closures are not compiled for the instructions of S; functions like this are.)
#[inline(always)]
unsafe fn four<S: Simd>(p: *const f32, apart: usize) -> [S::V; 4] {
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
    m: *const f32,
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
            let y = output_block::<S>(m.add(block * LANES), plan.m_plane);
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
    m: *const f32,
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
            let [[a, b], [c, d]] = output_block::<S>(m.add(block * LANES), plan.m_plane);
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

#[inline(always)]
fn weight_gradient_body<S: Simd>(
    g: &Geometry,
    x: &[f32],
    dy: &[f32],
    gradient: &mut [f32],
    scratch: &mut [f32],
) {
    let dy_len = g.outputs * (g.height + 2) * (g.width + 2) * LANES;
    assert!(g.fits() && x.len() >= g.input_len() && dy.len() >= dy_len);
    assert!(gradient.len() == g.gradient() && scratch.len() >= g.scratch(1));
    let plan = Plan::new(g, g.tiles());
    let (v, d) = scratch.split_at_mut(PLACES * plan.v_plane);
    let (inputs, outputs) = (g.inputs * LANES, g.outputs * LANES);
    // SAFETY: all offsets lie within what was checked above; called with S's instructions.
    unsafe {
        let mut tile = Cursor::START;
        for t in 0..plan.tiles {
            input_tile::<S>(&plan, x.as_ptr(), tile, v.as_mut_ptr().add(t * inputs));
            gradient_tile::<S>(&plan, dy.as_ptr(), tile, d.as_mut_ptr().add(t * outputs));
            tile.advance(g);
        }
        let mut sums = [0.0_f32; PLACES * 8 * 2 * LANES];
        for first in (0..outputs).step_by(8) {
            for block in (0..g.inputs).step_by(2) {
                let pair = (g.inputs - block).min(2);
                let s = Strides { row: 1, step: outputs, next: inputs, out: 2 * LANES };
                for place in 0..PLACES {
                    let a = d.as_ptr().add(place * plan.m_plane + first);
                    let b = v.as_ptr().add(place * plan.v_plane + block * LANES);
                    let c = sums.as_mut_ptr().add(place * 8 * 2 * LANES);
                    match pair {
                        2 => gemm::rows::<S, 2>(a, b, c, (8, plan.tiles), s),
                        _ => gemm::rows::<S, 1>(a, b, c, (8, plan.tiles), s),
                    }
                }
                for row in 0..8 {
                    for k in 0..pair {
                        let from = sums.as_ptr().add((row * 2 + k) * LANES);
                        let to = ((first + row) * g.inputs + block + k) * TAPS * LANES;
                        taps::<S>(from, gradient.as_mut_ptr().add(to));
                    }
                }
            }
        }
    }
}

/// A dy Aᵀ of one tile, all output channels.
#[inline(always)]
unsafe fn gradient_tile<S: Simd>(plan: &Plan, dy: *const f32, tile: Cursor, d: *mut f32) {
    let (y0, x0) = (tile.y, tile.x);
    // SAFETY: the caller's.
    unsafe {
        for block in 0..plan.g.outputs {
            let at = dy.add(block * plan.block + (y0 + 1) * plan.row + (x0 + 1) * LANES);
            let below = at.add(plan.row);
            let left = spread_line::<S>(S::load(at), S::load(below));
            let right = spread_line::<S>(S::load(at.add(LANES)), S::load(below.add(LANES)));
            for (i, (a, b)) in left.into_iter().zip(right).enumerate() {
                for (j, value) in spread_line::<S>(a, b).into_iter().enumerate() {
                    S::store(d.add(block * LANES + (4 * i + j) * plan.m_plane), value);
                }
            }
        }
    }
}

/// A applied to two values.
#[inline(always)]
unsafe fn spread_line<S: Simd>(a: S::V, b: S::V) -> [S::V; 4] {
    // SAFETY: the caller's.
    unsafe { [a, S::add(a, b), S::sub(a, b), S::sub(S::zero(), b)] }
}

/// Gᵀ applied to four values.
#[inline(always)]
unsafe fn tap_line<S: Simd>([u0, u1, u2, u3]: [S::V; 4]) -> [S::V; 3] {
    // SAFETY: the caller's.
    unsafe {
        let half = S::splat(0.5);
        let (sum, difference) = (S::mul(half, S::add(u1, u2)), S::mul(half, S::sub(u1, u2)));
        [S::add(u0, sum), difference, S::add(sum, u3)]
    }
}

/// Gᵀ u G of one output channel and one block of input channels.
#[inline(always)]
unsafe fn taps<S: Simd>(u: *const f32, out: *mut f32) {
    // SAFETY: the caller's.
    unsafe {
        let apart = 8 * 2 * LANES;
        let mut rows = [[S::zero(); 4]; 3];
        for j in 0..4 {
            let column = tap_line::<S>(four::<S>(u.add(j * apart), 4 * apart));
            for (row, value) in rows.iter_mut().zip(column) {
                row[j] = value;
            }
        }
        for (i, row) in rows.into_iter().enumerate() {
            for (j, value) in tap_line::<S>(row).into_iter().enumerate() {
                S::store(out.add((3 * i + j) * LANES), value);
            }
        }
    }
}

#[inline(always)]
fn pooled_weight_gradient_body<S: Simd>(
    g: &Geometry,
    x: &[f32],
    dy: &[f32],
    places: &[f32],
    gradient: &mut [f32],
) {
    let windows = g.height / 2 * (g.width / 2);
    assert!(g.fits() && x.len() >= g.input_len() && gradient.len() == g.gradient());
    assert!(dy.len() >= g.outputs * windows * LANES && places.len() >= g.outputs * windows * LANES);
    let plan = Plan::new(g, g.tiles());
    // Rows of windows at a time: their patches of one input block stay in the first-level cache.
    let across = g.width / 2;
    let rows = (PATCHES / (plan.row * 2)).saturating_sub(1).clamp(1, (g.height / 2).max(1));
    // SAFETY: places were written by `convolve` for this geometry and are clamped to it.
    unsafe {
        for block in 0..g.inputs {
            let x = x.as_ptr().add(block * plan.block);
            for first in (0..windows).step_by(rows * across) {
                let band = (first, (first + rows * across).min(windows));
                for output in (0..g.outputs * LANES).step_by(2) {
                    let at = output / LANES * windows * LANES + output % LANES;
                    let from = (dy.as_ptr().add(at), places.as_ptr().add(at));
                    let out = gradient.as_mut_ptr().add((output * g.inputs + block) * TAPS * LANES);
                    sparse::<S>(&plan, x, from, band, out);
                }
            }
        }
    }
}

/// Values of an input block whose patches are visited together: half of a first-level cache.
const PATCHES: usize = 6144;

/// Adds Σ_window dy·(patch of x) to the taps of two output channels and one input block; the first band begins.
#[inline(always)]
unsafe fn sparse<S: Simd>(
    plan: &Plan,
    x: *const f32,
    (dy, places): (*const f32, *const f32),
    (first, last): (usize, usize),
    out: *mut f32,
) {
    // The last place at which a patch of 3×3 can begin.
    let limit = (plan.block - 2 * plan.row - 3 * LANES) as i32;
    let next = plan.g.inputs * TAPS * LANES;
    // SAFETY: the caller's; patches lie within the plane because places are clamped.
    unsafe {
        let mut sums = [[S::zero(); TAPS]; 2];
        if first > 0 {
            for (n, taps) in sums.iter_mut().enumerate() {
                for (t, sum) in taps.iter_mut().enumerate() {
                    *sum = S::load(out.add(n * next + t * LANES));
                }
            }
        }
        for window in first..last {
            for (n, taps) in sums.iter_mut().enumerate() {
                let value = S::splat(*dy.add(window * LANES + n));
                let place = ((*places.add(window * LANES + n)).to_bits() as i32).clamp(0, limit);
                let patch = x.add(place as usize);
                for (t, sum) in taps.iter_mut().enumerate() {
                    *sum = S::fma(value, S::load(patch.add(t / 3 * plan.row + t % 3 * LANES)), *sum);
                }
            }
        }
        for (n, taps) in sums.iter().enumerate() {
            for (t, sum) in taps.iter().enumerate() {
                S::store(out.add(n * next + t * LANES), *sum);
            }
        }
    }
}

/// Output channels whose weights for one input block stay in the first-level cache.
const SOME: usize = 32;

impl Geometry {
    /// Values of scratch memory that [`pooled_input_gradient`] needs.
    pub fn sparse_scratch(&self) -> usize {
        let windows = self.height / 2 * (self.width / 2);
        let lists = 2 * (windows * self.outputs.next_multiple_of(2) * LANES + LANES);
        let counts = windows * self.outputs.div_ceil(2) * 4;
        (self.height + 2) * (self.width + 2) * LANES + lists + counts
    }
}

/// The gradients of every window, sorted by where in the window they belong.
#[derive(Clone, Copy)]
struct Lists {
    /// Windows of `SOME` outputs each: values, and where their weights begin.
    values: *mut f32,
    numbers: *mut f32,
    /// How many belong to each of the four places of a window.
    counts: *mut f32,
}

#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn pooled_input_gradient_body<S: Simd>(
    g: &Geometry,
    dy: &[f32],
    places: &[f32],
    weights: &[f32],
    x: &[f32],
    activation: Activation,
    out: &mut [f32],
    halo: usize,
    scratch: &mut [f32],
) {
    let windows = g.height / 2 * (g.width / 2);
    let plan = Plan::new(g, g.tiles());
    let out_row = (g.width + 2 * halo) * LANES;
    let out_block = (g.height + 2 * halo) * out_row;
    assert!(g.fits() && x.len() >= g.input_len() && out.len() >= g.inputs * out_block);
    assert!(dy.len() >= g.outputs * windows * LANES && places.len() >= g.outputs * windows * LANES);
    assert!(weights.len() == g.gradient() && scratch.len() >= g.sparse_scratch());
    let groups = g.outputs.div_ceil(2);
    let (plane, lists) = scratch.split_at_mut(plan.block);
    let (values, rest) = lists.split_at_mut(groups * windows * SOME + LANES);
    let (numbers, counts) = rest.split_at_mut(groups * windows * SOME + LANES);
    let lists =
        Lists { values: values.as_mut_ptr(), numbers: numbers.as_mut_ptr(), counts: counts.as_mut_ptr() };
    // SAFETY: all offsets lie within what was checked above; called with S's instructions.
    unsafe {
        sort::<S>(&plan, dy.as_ptr(), places.as_ptr(), lists);
        for block in 0..g.inputs {
            plane.fill(0.0);
            for group in 0..groups {
                let first = (block * g.outputs * LANES + group * SOME) * TAPS * LANES;
                scatter::<S>(&plan, weights.as_ptr().add(first), lists, group, plane.as_mut_ptr());
            }
            for y in 0..g.height {
                for column in 0..g.width {
                    let from = (y + 1) * plan.row + (column + 1) * LANES;
                    let value = S::load(plane.as_ptr().add(from));
                    let a = S::load(x.as_ptr().add(block * plan.block + from));
                    let to = block * out_block + (y + halo) * out_row + (column + halo) * LANES;
                    S::store(out.as_mut_ptr().add(to), activation::backward::<S>(activation, a, value));
                }
            }
        }
    }
}

/// Sorts the gradients of each window and group of outputs by their place in the window.
#[inline(always)]
unsafe fn sort<S: Simd>(plan: &Plan, dy: *const f32, places: *const f32, lists: Lists) {
    let g = &plan.g;
    let windows = g.height / 2 * (g.width / 2);
    let step = (TAPS * LANES) as i32;
    // SAFETY: the caller's: each window's list has room for all its outputs, and sixteen more at the end.
    unsafe {
        for group in 0..g.outputs.div_ceil(2) {
            let mut window = Cursor::START;
            for w in 0..windows {
                let corner = (window.y * plan.row + window.x * LANES) as i32;
                let (row, lane) = (plan.row as i32, LANES as i32);
                let at = (group * windows + w) * SOME;
                let mut found = 0;
                for (k, key) in
                    [corner, corner + lane, corner + row, corner + row + lane].into_iter().enumerate()
                {
                    let before = found;
                    for half in 0..(g.outputs - 2 * group).min(2) {
                        let from = ((2 * group + half) * windows + w) * LANES;
                        let first = (half * LANES) as i32 * step;
                        found += S::pick(
                            (places.add(from), key),
                            dy.add(from),
                            (first, step),
                            (lists.values.add(at + found), lists.numbers.add(at + found)),
                        );
                    }
                    let count = f32::from_bits((found - before) as u32);
                    *lists.counts.add((group * windows + w) * 4 + k) = count;
                }
                window.advance(g);
            }
        }
    }
}

/// Adds, for every window, gradient times weights to the 4×4 inputs that the window saw.
#[inline(always)]
unsafe fn scatter<S: Simd>(plan: &Plan, weights: *const f32, lists: Lists, group: usize, plane: *mut f32) {
    let g = &plan.g;
    let windows = g.height / 2 * (g.width / 2);
    // SAFETY: the caller's: with a halo of 1 the 4×4 inputs of every window lie in the plane.
    unsafe {
        let mut window = Cursor::START;
        for w in 0..windows {
            let at = plane.add(window.y * plan.row + window.x * LANES);
            let mut sums = [[S::zero(); 4]; 4];
            for (i, line) in sums.iter_mut().enumerate() {
                for (j, sum) in line.iter_mut().enumerate() {
                    *sum = S::load(at.add(i * plan.row + j * LANES));
                }
            }
            let list = (group * windows + w) * SOME;
            let (mut values, mut numbers) = (lists.values.add(list), lists.numbers.add(list));
            macro_rules! place {
                ($k:literal) => {
                    let count = (*lists.counts.add((group * windows + w) * 4 + $k)).to_bits() as usize;
                    for e in 0..count {
                        let value = S::splat(*values.add(e));
                        let taps = weights.add((*numbers.add(e)).to_bits() as usize);
                        for t in 0..TAPS {
                            let sum = &mut sums[$k / 2 + t / 3][$k % 2 + t % 3];
                            *sum = S::fma(value, S::load(taps.add(t * LANES)), *sum);
                        }
                    }
                    (values, numbers) = (values.add(count), numbers.add(count));
                };
            }
            place!(0);
            place!(1);
            place!(2);
            place!(3);
            let _ = (values, numbers);
            for (i, line) in sums.iter().enumerate() {
                for (j, sum) in line.iter().enumerate() {
                    S::store(at.add(i * plan.row + j * LANES), *sum);
                }
            }
            window.advance(g);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Level;

    /// A plane with a halo, from a function of channel, row and column.
    fn plane(
        blocks: usize,
        h: usize,
        w: usize,
        halo: usize,
        f: impl Fn(usize, usize, usize) -> f32,
    ) -> Vec<f32> {
        let mut out = vec![0.0; blocks * (h + 2 * halo) * (w + 2 * halo) * LANES];
        for c in 0..blocks * LANES {
            for y in 0..h {
                for x in 0..w {
                    out[at(c, y, x, h, w, halo)] = f(c, y, x);
                }
            }
        }
        out
    }

    fn at(c: usize, y: usize, x: usize, h: usize, w: usize, halo: usize) -> usize {
        (((c / LANES) * (h + 2 * halo) + y + halo) * (w + 2 * halo) + x + halo) * LANES + c % LANES
    }

    fn noise(i: usize) -> f32 {
        let z = (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        ((z ^ (z >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 40) as f32 / (1 << 23) as f32 - 1.0
    }

    struct Case {
        g: Geometry,
        x: Vec<f32>,
        weights: Vec<f32>,
        dy: Vec<f32>,
    }

    impl Case {
        fn new(g: Geometry) -> Self {
            let (h, w) = (g.height, g.width);
            let x = plane(g.inputs, h, w, 1, |c, y, x| noise((c * h + y) * w + x));
            let dy = plane(g.outputs, h, w, 1, |c, y, x| noise(77_777 + (c * h + y) * w + x));
            let weights = (0..g.inputs * g.outputs * LANES * LANES * 9).map(|i| noise(999 + i)).collect();
            Self { g, x, weights, dy }
        }

        fn weight(&self, o: usize, i: usize, t: usize) -> f32 {
            self.weights[(o * self.g.inputs * LANES + i) * 9 + t]
        }

        fn exact(&self, o: usize, y: usize, x: usize) -> f64 {
            let (h, w) = (self.g.height, self.g.width);
            let mut sum = 0.0;
            for i in 0..self.g.inputs * LANES {
                for t in 0..9 {
                    let base = at(i, y, x, h, w, 1) as isize;
                    let row = ((w + 2) * LANES) as isize;
                    let place = base + (t as isize / 3 - 1) * row + (t as isize % 3 - 1) * LANES as isize;
                    sum += f64::from(self.weight(o, i, t)) * f64::from(self.x[place as usize]);
                }
            }
            sum
        }
    }

    const CASES: [Geometry; 4] = [
        Geometry { inputs: 1, outputs: 1, height: 2, width: 2 },
        Geometry { inputs: 2, outputs: 2, height: 4, width: 6 },
        Geometry { inputs: 1, outputs: 3, height: 8, width: 4 },
        Geometry { inputs: 3, outputs: 2, height: 6, width: 6 },
    ];

    #[test]
    fn convolutions_are_their_definition_for_several_records() {
        for level in Level::available() {
            for g in CASES {
                let case = Case::new(g);
                let mut u = vec![0.0; g.weights()];
                let lanes = |block: usize, i: usize| {
                    std::array::from_fn(|t| std::array::from_fn(|k| case.weight(block * LANES + k, i, t)))
                };
                transform_weights(&g, lanes, &mut u);
                let bias: Vec<f32> = (0..g.outputs * LANES).map(|o| o as f32 / 10.0).collect();
                let stride = case.x.len() + g.outputs * g.height * g.width * LANES;
                let count = 3;
                let mut memory = vec![0.0; stride * count];
                for r in 0..count {
                    let scaled: Vec<f32> = case.x.iter().map(|v| v * (r + 1) as f32).collect();
                    memory[r * stride..r * stride + scaled.len()].copy_from_slice(&scaled);
                }
                let mut scratch = vec![0.0; g.scratch(count)];
                let finish = Finish {
                    bias: Some(&bias),
                    pool: None,
                    activation: Activation::None,
                    halo: 0,
                    derivative: None,
                };
                let records = Records { stride, count };
                convolve(level, &g, &mut memory, records, 0, case.x.len(), &u, finish, &mut scratch);
                for r in 0..count {
                    for o in 0..g.outputs * LANES {
                        for y in 0..g.height {
                            for x in 0..g.width {
                                let exact = (r + 1) as f64 * case.exact(o, y, x) + f64::from(bias[o]);
                                let place = r * stride + case.x.len() + at(o, y, x, g.height, g.width, 0);
                                assert!((f64::from(memory[place]) - exact).abs() < 1e-4, "{}", level.name());
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn weight_gradients_are_their_definition_dense_and_pooled() {
        for level in Level::available() {
            for g in CASES {
                let case = Case::new(g);
                let (h, w) = (g.height, g.width);
                let mut gradient = vec![0.0; g.gradient()];
                let mut scratch = vec![0.0; g.scratch(1)];
                weight_gradient(level, &g, &case.x, &case.dy, &mut gradient, &mut scratch);
                check(&case, &case.dy, &gradient);

                // Pooled: gradients at one place of each window, found back by its patch's place.
                let (ph, pw) = (h / 2, w / 2);
                let place = |c: usize, y: usize, x: usize| {
                    let k = (c * 7 + y * 3 + x) % 4;
                    ((2 * y + k / 2) * (w + 2) + 2 * x + k % 2) * LANES
                };
                let dy = plane(g.outputs, ph, pw, 0, |c, y, x| noise(55 + (c * ph + y) * pw + x));
                let places = plane(g.outputs, ph, pw, 0, |c, y, x| f32::from_bits(place(c, y, x) as u32));
                let spread = plane(g.outputs, h, w, 1, |c, y, x| {
                    let k = (c * 7 + (y / 2) * 3 + x / 2) % 4;
                    if (y % 2, x % 2) == (k / 2, k % 2) { dy[at(c, y / 2, x / 2, ph, pw, 0)] } else { 0.0 }
                });
                pooled_weight_gradient(level, &g, &case.x, &dy, &places, &mut gradient);
                check(&case, &spread, &gradient);
                check_inputs(level, &case, &dy, &places, &spread);
            }
        }
    }

    /// The gradient with respect to the inputs, through tanh, against its definition.
    fn check_inputs(level: Level, case: &Case, dy: &[f32], places: &[f32], spread: &[f32]) {
        let g = &case.g;
        let (h, w) = (g.height, g.width);
        let mut weights = vec![0.0; g.gradient()];
        for (n, slot) in weights.iter_mut().enumerate() {
            let (lane, t, o) = (n % LANES, n / LANES % 9, n / LANES / 9 % (g.outputs * LANES));
            let block = n / LANES / 9 / (g.outputs * LANES);
            *slot = case.weight(o, block * LANES + lane, t);
        }
        for halo in [0, 1] {
            let mut out = plane(g.inputs, h, w, halo, |_, _, _| 5.0);
            let mut scratch = vec![3.0; g.sparse_scratch()];
            let tanh = Activation::Tanh;
            pooled_input_gradient(
                level,
                g,
                dy,
                places,
                &weights,
                &case.x,
                tanh,
                &mut out,
                halo,
                &mut scratch,
            );
            for i in 0..g.inputs * LANES {
                for y in 0..h {
                    for x in 0..w {
                        let mut exact = 0.0;
                        for o in 0..g.outputs * LANES {
                            for t in 0..9 {
                                let (oy, ox) = (y + 1, x + 1);
                                let inside = oy >= t / 3 && ox >= t % 3 && oy - t / 3 < h && ox - t % 3 < w;
                                if inside {
                                    let d = spread[at(o, oy - t / 3, ox - t % 3, h, w, 1)];
                                    exact += f64::from(d) * f64::from(case.weight(o, i, t));
                                }
                            }
                        }
                        let a = f64::from(case.x[at(i, y, x, h, w, 1)]);
                        let found = f64::from(out[at(i, y, x, h, w, halo)]);
                        assert!((found - exact * (1.0 - a * a)).abs() < 1e-4, "{i} {y} {x}: {found} {exact}");
                    }
                }
            }
        }
    }

    fn check(case: &Case, dy: &[f32], gradient: &[f32]) {
        let g = &case.g;
        let (h, w) = (g.height, g.width);
        for o in 0..g.outputs * LANES {
            for i in 0..g.inputs * LANES {
                for t in 0..9 {
                    let mut exact = 0.0;
                    for y in 0..h {
                        for x in 0..w {
                            // Tap (ky, kx) of the pixel's patch, which begins one up and one left of it.
                            let patch = at(i, y, x, h, w, 1) - (w + 3) * LANES;
                            let place = patch + t / 3 * (w + 2) * LANES + t % 3 * LANES;
                            exact += f64::from(dy[at(o, y, x, h, w, 1)]) * f64::from(case.x[place]);
                        }
                    }
                    let found = gradient[((o * g.inputs + i / LANES) * 9 + t) * LANES + i % LANES];
                    assert!((f64::from(found) - exact).abs() < 1e-4, "{o} {i} {t}: {found} {exact}");
                }
            }
        }
    }
}
