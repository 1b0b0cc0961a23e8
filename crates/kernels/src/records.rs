//! Several records in one piece of memory.

/// Records whose values lie `stride` apart in one piece of memory.
#[derive(Clone, Copy, Debug)]
pub struct Records {
    /// From a record to the next.
    pub stride: usize,
    pub count: usize,
}

impl Records {
    /// Stops unless each record's first `used` values lie within `len` and within its own stretch.
    pub(crate) fn check(self, len: usize, used: usize) {
        assert!(
            self.count > 0 && (self.count == 1 || used <= self.stride),
            "{self:?} of {used} values overlap"
        );
        let end = (self.count - 1).checked_mul(self.stride).and_then(|start| start.checked_add(used));
        assert!(end.is_some_and(|end| end <= len), "{self:?} of {used} values exceed {len}");
    }
}
