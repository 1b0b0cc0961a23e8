//! 3×3 convolutions by Winograd's F(2×2, 3×3): sixteen products where the definition has thirty-six.
//!
//! A tile of 2×2 outputs is Y = Aᵀ[(G g Gᵀ) ⊙ (Bᵀ d B)]A of its 4×4 inputs d and the 3×3 weights g (Lavin and
//! Gray, 2016). Summed over input channels, each of the sixteen places ξ of a tile is a matrix product.
//! The gradient with respect to the weights is the same bilinear form read the other way: Gᵀ[Σ (A dY Aᵀ) ⊙
//! (Bᵀ d B)]G.
//!
//! Images are planes of blocks of sixteen channels, `[block][height + 2·halo][width + 2·halo][16]`, with a halo of
//! zeros; inputs here have a halo of 1. Heights and widths are even.

mod convolve;
mod pooled;
mod weight_gradient;

#[cfg(test)]
mod tests;

pub use convolve::{Finish, convolve, transform_weights};
pub use pooled::{pooled_input_gradient, pooled_weight_gradient};
pub use weight_gradient::weight_gradient;

use crate::simd::LANES;

/// Places of a tile.
const PLACES: usize = 16;
/// Taps of a kernel.
pub const TAPS: usize = 9;
/// Values added to a plane of scratch memory so that the planes of a tile do not share a cache set.
const PAD: usize = 48;
/// Sides and numbers of blocks up to which no length overflows.
const MOST_SIDE: usize = 1 << 16;
const MOST_BLOCKS: usize = 1 << 16;
/// The widest halo of a plane that is written.
const MOST_HALO: usize = 16;
/// Tiles done at a time.
const TILES: usize = 16;

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

impl Geometry {
    /// Whether this size can be done: even, and small enough that a place in a plane is exact in `f32`.
    pub fn fits(&self) -> bool {
        let even = self.height.is_multiple_of(2) && self.width.is_multiple_of(2);
        let sides = 1..=MOST_SIDE;
        let blocks = 1..=MOST_BLOCKS;
        even && sides.contains(&self.height)
            && sides.contains(&self.width)
            && blocks.contains(&self.inputs)
            && blocks.contains(&self.outputs)
            && (self.height + 2) * (self.width + 2) * LANES < 1 << 24
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
