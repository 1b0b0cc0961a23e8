//! Memory whose first value, and every sixteenth after it, begins a cache line: a vector that straddles two lines
//! takes twice as long to load.

use crate::simd::LANES;
use std::ops::{Deref, DerefMut};

#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([f32; LANES]);

/// A fixed number of values, aligned to cache lines, zero at first.
#[derive(Clone)]
pub struct Memory {
    lines: Vec<Line>,
    len: usize,
}

impl Memory {
    /// `len` zeros.
    pub fn zeros(len: usize) -> Self {
        Self { lines: vec![Line([0.0; LANES]); len.div_ceil(LANES)], len }
    }
}

impl Deref for Memory {
    type Target = [f32];
    fn deref(&self) -> &[f32] {
        // SAFETY: lines are sixteen values each without padding, and there are enough of them.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), self.len) }
    }
}

impl DerefMut for Memory {
    fn deref_mut(&mut self) -> &mut [f32] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.len) }
    }
}

impl std::fmt::Debug for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Memory({} values)", self.len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aligned_zeros_of_any_length() {
        for len in [0, 1, 16, 17, 1000] {
            let mut memory = Memory::zeros(len);
            assert_eq!(memory.len(), len);
            assert!(memory.iter().all(|v| *v == 0.0));
            assert_eq!(memory.as_ptr() as usize % 64, 0);
            memory.iter_mut().for_each(|v| *v = 1.0);
        }
    }
}
