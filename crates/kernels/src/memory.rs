//! Memory whose first value, and every sixteenth after it, begins a cache line: a vector that straddles two lines
//! takes twice as long to load.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

const LINE: usize = 64;

/// Asks the C library to keep freed memory for the next allocation instead of giving it back: training allocates
/// the same tens of megabytes every round, and faulting their pages in again takes a few percent of the time. To be
/// called once, when a program starts; does nothing where the C library is another one.
pub fn keep_freed_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        unsafe extern "C" {
            fn mallopt(parameter: i32, value: i32) -> i32;
        }
        const TRIM_THRESHOLD: i32 = -1;
        const MMAP_THRESHOLD: i32 = -3;
        // SAFETY: a documented function of the C library that this platform links, with documented parameters.
        unsafe {
            mallopt(MMAP_THRESHOLD, 1 << 28);
            mallopt(TRIM_THRESHOLD, 1 << 29);
        }
    }
}

/// Numbers of four bytes that are zero if all their bits are.
pub trait Number: Copy + Send + Sync + private::Sealed {}
impl Number for f32 {}
impl Number for i32 {}

mod private {
    /// The layout and the zeros of [`super::Memory`] rest on which numbers there are.
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for i32 {}
}

/// A fixed number of values, aligned to cache lines, zero at first. Pages that are never written cost nothing.
pub struct Memory<T: Number = f32> {
    start: NonNull<T>,
    len: usize,
}

// SAFETY: it owns its values, as a vector does.
unsafe impl<T: Number> Send for Memory<T> {}
// SAFETY: shared references only read.
unsafe impl<T: Number> Sync for Memory<T> {}

impl<T: Number> Memory<T> {
    /// `len` zeros.
    ///
    /// # Panics
    /// When there is no such amount of memory.
    pub fn zeros(len: usize) -> Self {
        if len == 0 {
            return Self { start: NonNull::dangling(), len };
        }
        let layout = Self::layout(len);
        // SAFETY: the layout's size is not zero.
        let start = unsafe { alloc_zeroed(layout) };
        match NonNull::new(start.cast()) {
            Some(start) => Self { start, len },
            None => handle_alloc_error(layout),
        }
    }

    #[allow(clippy::expect_used)] // as a vector of that length would
    fn layout(len: usize) -> Layout {
        let bytes = len.checked_mul(size_of::<T>()).and_then(|b| b.checked_next_multiple_of(LINE));
        Layout::from_size_align(bytes.unwrap_or(usize::MAX), LINE).expect("a length that memory can have")
    }
}

impl<T: Number> Drop for Memory<T> {
    fn drop(&mut self) {
        if self.len > 0 {
            // SAFETY: allocated with this layout, and freed once.
            unsafe { dealloc(self.start.as_ptr().cast(), Self::layout(self.len)) };
        }
    }
}

impl<T: Number> Clone for Memory<T> {
    fn clone(&self) -> Self {
        let mut copy = Self::zeros(self.len);
        copy.copy_from_slice(self);
        copy
    }
}

impl<T: Number> Deref for Memory<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        // SAFETY: `len` initialised values begin there (or none, at a dangling pointer).
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl<T: Number> DerefMut for Memory<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl<T: Number> std::fmt::Debug for Memory<T> {
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
            let mut memory: Memory = Memory::zeros(len);
            assert_eq!(memory.len(), len);
            assert!(memory.iter().all(|v| *v == 0.0));
            assert!(len == 0 || (memory.as_ptr() as usize).is_multiple_of(LINE));
            memory.iter_mut().for_each(|v| *v = 1.0);
            assert_eq!(memory.clone().iter().sum::<f32>(), len as f32);
        }
    }
}
