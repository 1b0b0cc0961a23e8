//! Gradients of a convolution whose outputs were max-pooled: one value in four of them has a gradient, and only
//! those are visited.

use super::{Cursor, Geometry, Layout, MOST_HALO, TAPS, Tile};
use crate::activation::{self, Activation};
use crate::level::leveled;
use crate::simd::{LANES, Simd};

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

#[inline(always)]
fn pooled_weight_gradient_body<S: Simd>(
    g: &Geometry,
    x: &[f32],
    dy: &[f32],
    places: &[f32],
    gradient: &mut [f32],
) {
    let windows = g.height / 2 * (g.width / 2);
    assert!(g.fits(Tile::F2) && x.len() >= g.input_len() && gradient.len() == g.gradient());
    assert!(dy.len() >= g.outputs * windows * LANES && places.len() >= g.outputs * windows * LANES);
    let layout = Layout::new(g, g.tiles(Tile::F2));
    check_places(&layout, &places[..g.outputs * windows * LANES]);
    // SAFETY: the lengths and the places were checked.
    unsafe {
        for block in (0..g.inputs).step_by(blocks::<S>()) {
            match blocks::<S>().min(g.inputs - block) {
                1 => sparse_blocks::<S, 1>(&layout, block, x, dy, places, gradient),
                _ => sparse_blocks::<S, 2>(&layout, block, x, dy, places, gradient),
            }
        }
    }
}

/// Input blocks done together: as many as there are registers for.
const fn blocks<S: Simd>() -> usize {
    if S::ROWS >= 8 { 2 } else { 1 }
}

/// # Panics
/// When a patch of 3×3 would begin where it does not lie within the plane.
#[inline(always)]
fn check_places(layout: &Layout, places: &[f32]) {
    let limit = (layout.block - 2 * layout.row - 3 * LANES) as u32;
    // Lane by lane: the compiler makes vectors of it.
    let mut most = [0; LANES];
    for places in places.chunks_exact(LANES) {
        for (most, place) in most.iter_mut().zip(places) {
            *most = place.to_bits().max(*most);
        }
    }
    assert!(most.iter().all(|most| *most <= limit), "a place beyond its plane");
}

/// The gradient of every output channel and `B` input blocks from number `block` on.
///
/// # Safety
/// The lengths fit the layout, and so do the places; called with S's instructions.
#[inline(always)]
unsafe fn sparse_blocks<S: Simd, const B: usize>(
    layout: &Layout,
    block: usize,
    x: &[f32],
    dy: &[f32],
    places: &[f32],
    gradient: &mut [f32],
) {
    let g = &layout.g;
    let (across, windows) = (g.width / 2, g.height / 2 * (g.width / 2));
    // Rows of windows at a time: their patches stay in the first-level cache.
    let rows = (PATCHES / (layout.row * 2)).saturating_sub(1).clamp(1, (g.height / 2).max(1));
    // SAFETY: the caller's.
    unsafe {
        let x = x.as_ptr().add(block * layout.block);
        for first in (0..windows).step_by(rows * across) {
            let band = (first, (first + rows * across).min(windows));
            for output in 0..g.outputs * LANES {
                let at = output / LANES * windows * LANES + output % LANES;
                let from = (dy.as_ptr().add(at), places.as_ptr().add(at));
                let out = gradient.as_mut_ptr().add((output * g.inputs + block) * TAPS * LANES);
                for lane in (0..LANES).step_by(S::Register::WIDTH) {
                    sparse::<S::Register, B>(layout, x.add(lane), from, band, out.add(lane));
                }
            }
        }
    }
}

/// Values of an input block whose patches are visited together: two blocks of them fit into a first-level cache.
const PATCHES: usize = 5120;

/// Adds Σ_window dy·(patch of x) to the taps of an output channel and `B` input blocks, as many lanes as a register of
/// S has; the first band begins. Two blocks share the reading of gradients and places: loads are what bounds this.
#[inline(always)]
unsafe fn sparse<S: Simd, const B: usize>(
    layout: &Layout,
    x: *const f32,
    (dy, places): (*const f32, *const f32),
    (first, last): (usize, usize),
    out: *mut f32,
) {
    // SAFETY: the caller's; the taps of a channel's blocks follow one another.
    unsafe {
        let mut sums = [[S::zero(); TAPS]; B];
        if first > 0 {
            for (n, taps) in sums.iter_mut().enumerate() {
                for (t, sum) in taps.iter_mut().enumerate() {
                    *sum = S::load(out.add((n * TAPS + t) * LANES));
                }
            }
        }
        for window in first..last {
            let value = S::splat(*dy.add(window * LANES));
            let patch = x.add((*places.add(window * LANES)).to_bits() as usize);
            for (n, taps) in sums.iter_mut().enumerate() {
                let patch = patch.add(n * layout.block);
                for (t, sum) in taps.iter_mut().enumerate() {
                    *sum = S::fma(value, S::load(patch.add(t / 3 * layout.row + t % 3 * LANES)), *sum);
                }
            }
        }
        for (n, taps) in sums.iter().enumerate() {
            for (t, sum) in taps.iter().enumerate() {
                S::store(out.add((n * TAPS + t) * LANES), *sum);
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
        2 * (self.height + 2) * (self.width + 2) * LANES + lists + counts
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
    assert!(g.fits(Tile::F2) && halo <= MOST_HALO);
    let windows = g.height / 2 * (g.width / 2);
    let layout = Layout::new(g, g.tiles(Tile::F2));
    let out_row = (g.width + 2 * halo) * LANES;
    let out_block = (g.height + 2 * halo) * out_row;
    assert!(g.fits(Tile::F2) && x.len() >= g.input_len() && out.len() >= g.inputs * out_block);
    assert!(dy.len() >= g.outputs * windows * LANES && places.len() >= g.outputs * windows * LANES);
    assert!(weights.len() == g.gradient() && scratch.len() >= g.sparse_scratch());
    let groups = g.outputs.div_ceil(2);
    let (planes, lists) = scratch.split_at_mut(2 * layout.block);
    let (values, rest) = lists.split_at_mut(groups * windows * SOME + LANES);
    let (numbers, counts) = rest.split_at_mut(groups * windows * SOME + LANES);
    let lists =
        Lists { values: values.as_mut_ptr(), numbers: numbers.as_mut_ptr(), counts: counts.as_mut_ptr() };
    // SAFETY: all offsets lie within what was checked above; called with S's instructions.
    unsafe {
        sort::<S>(&layout, dy.as_ptr(), places.as_ptr(), lists);
        for block in (0..g.inputs).step_by(blocks::<S>()) {
            let count = blocks::<S>().min(g.inputs - block);
            let planes = &mut planes[..count * layout.block];
            // What keeps all sums of a window in registers begins with zeros there.
            if S::ROWS < 8 {
                planes.fill(0.0);
            }
            for group in 0..groups {
                let first = (block * g.outputs * LANES + group * SOME) * TAPS * LANES;
                let weights = weights.as_ptr().add(first);
                match (count, S::ROWS >= 8) {
                    (2, true) => scatter::<S, 2>(&layout, weights, lists, group, planes.as_mut_ptr()),
                    (_, true) => scatter::<S, 1>(&layout, weights, lists, group, planes.as_mut_ptr()),
                    _ => scatter_parts::<S::Register>(&layout, weights, lists, group, planes.as_mut_ptr()),
                }
            }
            for (n, plane) in planes.chunks_exact(layout.block).enumerate() {
                for y in 0..g.height {
                    for column in 0..g.width {
                        let from = (y + 1) * layout.row + (column + 1) * LANES;
                        let value = S::load(plane.as_ptr().add(from));
                        let a = S::load(x.as_ptr().add((block + n) * layout.block + from));
                        let to = (block + n) * out_block + (y + halo) * out_row + (column + halo) * LANES;
                        S::store(out.as_mut_ptr().add(to), activation::backward::<S>(activation, a, value));
                    }
                }
            }
        }
    }
}

/// Sorts the gradients of each window and group of outputs by their place in the window.
#[inline(always)]
unsafe fn sort<S: Simd>(layout: &Layout, dy: *const f32, places: *const f32, lists: Lists) {
    let g = &layout.g;
    let windows = g.height / 2 * (g.width / 2);
    let step = (TAPS * LANES) as i32;
    // SAFETY: the caller's: each window's list has room for all its outputs, and sixteen more at the end.
    unsafe {
        for group in 0..g.outputs.div_ceil(2) {
            let mut window = Cursor::START;
            for w in 0..windows {
                let corner = (window.y * layout.row + window.x * LANES) as i32;
                let (row, lane) = (layout.row as i32, LANES as i32);
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
                window.advance(g, (2, 2));
            }
        }
    }
}

/// Adds, for every window, gradient times weights to the 4×4 inputs, of `B` blocks, that the window saw. The columns
/// that a window shares with the next one stay in registers. The first group finds nothing to add to: it begins what no
/// window above has reached with zeros.
#[inline(always)]
unsafe fn scatter<S: Simd, const B: usize>(
    layout: &Layout,
    weights: *const f32,
    lists: Lists,
    group: usize,
    planes: *mut f32,
) {
    let g = &layout.g;
    let (down, across) = (g.height / 2, g.width / 2);
    let next = g.outputs * LANES * TAPS * LANES;
    // SAFETY: the caller's: with a halo of 1 the 4×4 inputs of every window lie in the plane.
    unsafe {
        let mut counts = lists.counts.add(group * down * across * 4);
        let mut list = group * down * across * SOME;
        for y in 0..down {
            let mut at = planes.add(2 * y * layout.row);
            let mut sums = [[[S::zero(); B]; 4]; 4];
            let reached = if group > 0 {
                4
            } else if y > 0 {
                2
            } else {
                0
            };
            load_columns::<S, B, 0>(layout, at, &mut sums, reached);
            for _ in 0..across {
                load_columns::<S, B, 2>(layout, at, &mut sums, reached);
                let (mut values, mut numbers) = (lists.values.add(list), lists.numbers.add(list));
                macro_rules! place {
                    ($k:literal) => {
                        let count = (*counts.add($k)).to_bits() as usize;
                        for e in 0..count {
                            let value = S::splat(*values.add(e));
                            let taps = weights.add((*numbers.add(e)).to_bits() as usize);
                            for t in 0..TAPS {
                                let sums = &mut sums[$k / 2 + t / 3][$k % 2 + t % 3];
                                for (n, sum) in sums.iter_mut().enumerate() {
                                    *sum = S::fma(value, S::load(taps.add(n * next + t * LANES)), *sum);
                                }
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
                store_columns::<S, B>(layout, at, &sums);
                for line in &mut sums {
                    (line[0], line[1]) = (line[2], line[3]);
                }
                at = at.add(2 * LANES);
                counts = counts.add(4);
                list += SOME;
            }
            store_columns::<S, B>(layout, at, &sums);
        }
    }
}

/// The same with fewer registers: of one block, as many lanes at a time as a register of R has, and only the nine sums
/// that a place of the window reaches are kept.
#[inline(always)]
unsafe fn scatter_parts<R: Simd>(
    layout: &Layout,
    weights: *const f32,
    lists: Lists,
    group: usize,
    plane: *mut f32,
) {
    let g = &layout.g;
    let windows = g.height / 2 * (g.width / 2);
    let mut window = Cursor::START;
    // SAFETY: the caller's: with a halo of 1 the 4×4 inputs of every window lie in the plane.
    unsafe {
        for w in group * windows..(group + 1) * windows {
            let corner = plane.add(window.y * layout.row + window.x * LANES);
            let mut first = w * SOME;
            for place in 0..4 {
                let count = (*lists.counts.add(w * 4 + place)).to_bits() as usize;
                let at = corner.add(place / 2 * layout.row + place % 2 * LANES);
                for lane in (0..LANES).step_by(R::WIDTH) {
                    let at = at.add(lane);
                    let mut sums = [R::zero(); TAPS];
                    for (t, sum) in sums.iter_mut().enumerate() {
                        *sum = R::load(at.add(t / 3 * layout.row + t % 3 * LANES));
                    }
                    for e in first..first + count {
                        let value = R::splat(*lists.values.add(e));
                        let taps = weights.add((*lists.numbers.add(e)).to_bits() as usize + lane);
                        for (t, sum) in sums.iter_mut().enumerate() {
                            *sum = R::fma(value, R::load(taps.add(t * LANES)), *sum);
                        }
                    }
                    for (t, sum) in sums.into_iter().enumerate() {
                        R::store(at.add(t / 3 * layout.row + t % 3 * LANES), sum);
                    }
                }
                first += count;
            }
            window.advance(g, (2, 2));
        }
    }
}

/// Reads two columns, from number `FROM` on, of the first `reached` rows of the 4×4 inputs at `at`; zeros below.
#[inline(always)]
unsafe fn load_columns<S: Simd, const B: usize, const FROM: usize>(
    layout: &Layout,
    at: *const f32,
    sums: &mut [[[S::V; B]; 4]; 4],
    reached: usize,
) {
    // SAFETY: the caller's.
    unsafe {
        for (i, line) in sums.iter_mut().enumerate() {
            for (j, sums) in line.iter_mut().enumerate().skip(FROM).take(2) {
                for (n, sum) in sums.iter_mut().enumerate() {
                    *sum = if i < reached {
                        S::load(at.add(n * layout.block + i * layout.row + j * LANES))
                    } else {
                        S::zero()
                    };
                }
            }
        }
    }
}

#[inline(always)]
unsafe fn store_columns<S: Simd, const B: usize>(layout: &Layout, at: *mut f32, sums: &[[[S::V; B]; 4]; 4]) {
    // SAFETY: the caller's.
    unsafe {
        for (i, line) in sums.iter().enumerate() {
            for (j, sums) in line.iter().enumerate().take(2) {
                for (n, sum) in sums.iter().enumerate() {
                    S::store(at.add(n * layout.block + i * layout.row + j * LANES), *sum);
                }
            }
        }
    }
}
