//! 3×3 convolutions by Winograd's F(2×2, 3×3), F(2×4, 3×3) and F(4×4, 3×3): 16 products where the definition has 36,
//! 24 where it has 72, and 36 where it has 144.
//!
//! A tile of m×n outputs is Y = Aᵀ[(G g Gᵀ) ⊙ (Bᵀ d B)]A of its (m+2)×(n+2) inputs d and the 3×3 weights g (Lavin
//! and Gray, 2016), where the matrices on the left are those of m and those on the right those of n. Summed over input
//! channels, each of the (m+2)(n+2) places ξ of a tile is a matrix product.
//! The gradient with respect to the weights is the same bilinear form read the other way: Gᵀ[Σ (A dY Aᵀ) ⊙
//! (Bᵀ d B)]G.
//!
//! Images are planes of blocks of sixteen channels, `[block][height + 2·halo][width + 2·halo][16]`, with a halo of
//! zeros; inputs here have a halo of 1. Heights and widths are multiples of a tile's.

mod convolve;
mod finish;
mod pooled;
mod transform;
mod weight_gradient;
mod weights;

#[cfg(test)]
mod tests;

pub use convolve::convolve;
pub use finish::Finish;
pub use pooled::{pooled_input_gradient, pooled_weight_gradient};
pub use weight_gradient::weight_gradient;
pub use weights::transform_weights;

use crate::simd::LANES;

pub const TAPS: usize = 9;
/// Values added to a plane of scratch memory so that the planes of a tile do not share a cache set.
const PAD: usize = 48;
/// Sides and numbers of blocks up to which no length overflows.
const MOST_SIDE: usize = 1 << 16;
const MOST_BLOCKS: usize = 1 << 16;
/// The widest halo of a plane that is written.
const MOST_HALO: usize = 16;
/// Output channels, and blocks of input channels, of a weight gradient that are done at a time.
const ROWS: usize = 8;
const PAIR: usize = 2;

/// How many outputs are made at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tile {
    /// 2×2: more accurate than the definition.
    F2,
    /// 2×4, a wide one: three quarters of the multiplications, and about the error of the definition.
    F2x4,
    /// 4×4: fewer multiplications still, and three times the error of 2×2.
    F4,
}

impl Tile {
    /// Its outputs, down and across.
    const fn sides(self) -> (usize, usize) {
        match self {
            Tile::F2 => (2, 2),
            Tile::F2x4 => (2, 4),
            Tile::F4 => (4, 4),
        }
    }

    const fn places(self) -> usize {
        let (down, across) = self.sides();
        (down + 2) * (across + 2)
    }

    /// Tiles done at a time: whole register tiles of rows, and so few that a row of places, its products and the sums
    /// of all rows (8 vectors per block and tile for F(2×2), 16 for F(2×4), 24 for F(4×4)) stay near.
    const fn at_once(self) -> usize {
        match self {
            Tile::F2 => 16,
            Tile::F2x4 | Tile::F4 => 8,
        }
    }
}

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

impl Geometry {
    /// Whether this size can be done by such tiles: whole ones, and small enough that a place in a plane is exact in
    /// `f32`.
    pub fn fits(&self, tile: Tile) -> bool {
        let (down, across) = tile.sides();
        let whole = self.height.is_multiple_of(down) && self.width.is_multiple_of(across);
        let sides = 1..=MOST_SIDE;
        let blocks = 1..=MOST_BLOCKS;
        whole
            && sides.contains(&self.height)
            && sides.contains(&self.width)
            && blocks.contains(&self.inputs)
            && blocks.contains(&self.outputs)
            && (self.height + 2) * (self.width + 2) * LANES < 1 << 24
    }

    fn tiles(&self, tile: Tile) -> usize {
        let (down, across) = tile.sides();
        self.height * self.width / (down * across)
    }

    /// Values of the input plane, halo included.
    fn input_len(&self) -> usize {
        self.inputs * (self.height + 2) * (self.width + 2) * LANES
    }

    fn scratch_planes(&self, tiles: usize) -> (usize, usize) {
        (tiles * self.inputs * LANES + PAD, tiles * self.outputs * LANES + PAD)
    }

    /// Values of scratch memory that [`convolve`] and [`weight_gradient`] need for up to `records` records.
    pub fn scratch(&self, tile: Tile, records: usize) -> usize {
        let (down, across) = tile.sides();
        let tiles = tile.at_once().min(self.tiles(tile) * records.max(1));
        let (v, m) = self.scratch_planes(tiles);
        let convolution = (across + 2) * (v + m) + tiles * self.outputs * (down + 2) * across * LANES;
        let (v, m) = self.scratch_planes(self.tiles(tile));
        let gradient = tile.places() * (v + m + ROWS * PAIR * LANES);
        convolution.max(gradient)
    }

    /// Values of the transformed weights.
    pub fn weights(&self, tile: Tile) -> usize {
        tile.places() * self.inputs * self.outputs * LANES * LANES
    }

    /// Values of a weight gradient: `[output][input block][tap][16]`.
    pub fn gradient(&self) -> usize {
        self.outputs * LANES * self.inputs * TAPS * LANES
    }
}

/// Where things are in one convolution.
#[derive(Clone, Copy)]
struct Layout {
    g: Geometry,
    tiles: usize,
    /// Values of a row, and of a block, of the input plane.
    row: usize,
    block: usize,
    /// Values of a plane of transformed inputs, and of products.
    v_plane: usize,
    m_plane: usize,
}

impl Layout {
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
    fn advance(&mut self, g: &Geometry, (down, across): (usize, usize)) {
        self.x += across;
        if self.x == g.width {
            (self.x, self.y) = (0, self.y + down);
            if self.y == g.height {
                (self.y, self.record) = (0, self.record + 1);
            }
        }
    }
}
