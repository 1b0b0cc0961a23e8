//! Where an image's values lie in a record's memory.

use prdo_kernels::LANES;

/// Which values lie next to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// Blocks of sixteen channels, `[block][y][x][16]`: what kernels read. A vector is an image of one pixel.
    Blocks,
    /// One channel after another, `[channel][y][x]`: images of few channels, as they come.
    Planar,
}

/// A stretch of a record's memory that holds an image, with a halo of zeros around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Image {
    pub offset: usize,
    pub channels: usize,
    pub height: usize,
    pub width: usize,
    pub halo: usize,
    pub layout: Layout,
}

impl Image {
    /// Values from one pixel to the next.
    pub fn pixel(&self) -> usize {
        match self.layout {
            Layout::Blocks => LANES,
            Layout::Planar => 1,
        }
    }

    /// Values of a row, halo included.
    pub fn row(&self) -> usize {
        (self.width + 2 * self.halo) * self.pixel()
    }

    /// Values of a block (or of a channel, if planar), halo included.
    pub fn plane(&self) -> usize {
        (self.height + 2 * self.halo) * self.row()
    }

    /// How many blocks (or channels, if planar).
    pub fn planes(&self) -> usize {
        match self.layout {
            Layout::Blocks => self.channels.div_ceil(LANES),
            Layout::Planar => self.channels,
        }
    }

    /// All values, halo included.
    pub fn len(&self) -> usize {
        self.planes() * self.plane()
    }

    pub fn range(&self) -> std::ops::Range<usize> {
        self.offset..self.offset + self.len()
    }

    /// Where channel `c` begins, from the image's offset, halo included.
    pub fn channel(&self, c: usize) -> usize {
        match self.layout {
            Layout::Blocks => c / LANES * self.plane() + c % LANES,
            Layout::Planar => c * self.plane(),
        }
    }

    /// Where the pixel (y, x) lies, from where its plane begins.
    pub fn at(&self, y: usize, x: usize) -> usize {
        (y + self.halo) * self.row() + (x + self.halo) * self.pixel()
    }

    /// The rows of all planes without their halo, as stretches of memory.
    pub fn rows(&self) -> impl Iterator<Item = std::ops::Range<usize>> + use<> {
        let image = *self;
        (0..image.planes()).flat_map(move |plane| {
            (0..image.height).map(move |y| {
                let start = image.offset + plane * image.plane() + image.at(y, 0);
                start..start + image.width * image.pixel()
            })
        })
    }
}

/// Two stretches of one memory that do not overlap: one to read, one to write.
pub(super) fn two(
    memory: &mut [f32],
    read: std::ops::Range<usize>,
    write: std::ops::Range<usize>,
) -> (&[f32], &mut [f32]) {
    if read.end <= write.start {
        let (low, high) = memory.split_at_mut(write.start);
        (&low[read], &mut high[..write.end - write.start])
    } else {
        let (low, high) = memory.split_at_mut(read.start);
        (&high[..read.end - read.start], &mut low[write])
    }
}
