//! The shape of what flows between layers.

use std::fmt;

/// An image of some channels; a flat vector is `channels` x 1 x 1. Values are in the order channel, y, x.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub channels: usize,
    pub height: usize,
    pub width: usize,
}

impl Shape {
    pub fn new(channels: usize, height: usize, width: usize) -> Self {
        Self { channels, height, width }
    }

    pub fn flat(length: usize) -> Self {
        Self::new(length, 1, 1)
    }

    /// How many values it holds; `None` when there are more than can be counted.
    pub fn checked_size(self) -> Option<usize> {
        self.channels.checked_mul(self.height)?.checked_mul(self.width)
    }

    /// How many values it holds (at most `usize::MAX`; the shapes of a [`Spec`](super::Spec) are far below).
    pub fn size(self) -> usize {
        self.checked_size().unwrap_or(usize::MAX)
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}x{}", self.channels, self.height, self.width)
    }
}
