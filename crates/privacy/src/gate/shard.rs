//! One node's records, sealed.

use crate::model::Data;

/// A node's records in N public slots. Only the gate reads them, and only through the model its owner chose.
///
/// The number of slots is public and fixed, so that adding or removing one record changes no public number:
/// an empty slot is sampled like any other and contributes zero.
pub struct Shard<D: Data> {
    data: D,
    slots: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShardError {
    #[error("{records} records do not fit in {slots} public slots")]
    TooManyRecords { records: usize, slots: usize },
    #[error("a node must have from 1 to 2^28 public slots, not {slots}")]
    Slots { slots: usize },
}

/// Sums of this many clipped records still fit in the exact sum's integers.
const MOST_SLOTS: usize = 1 << 28;

impl<D: Data> Shard<D> {
    /// Seals `data` with one slot per record.
    pub fn seal(data: D) -> Result<Self, ShardError> {
        let slots = data.len();
        Self::seal_in_slots(data, slots)
    }

    /// Seals `data` in `slots` public slots, of which some may stay empty.
    pub fn seal_in_slots(data: D, slots: usize) -> Result<Self, ShardError> {
        if slots == 0 || slots > MOST_SLOTS {
            return Err(ShardError::Slots { slots });
        }
        if data.len() > slots {
            return Err(ShardError::TooManyRecords { records: data.len(), slots });
        }
        Ok(Self { data, slots })
    }

    pub fn slots(&self) -> usize {
        self.slots
    }

    /// The records: for the gate alone.
    pub(super) fn data(&self) -> &D {
        &self.data
    }
}

impl<D: Data> std::fmt::Debug for Shard<D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Shard({} slots, sealed)", self.slots)
    }
}
