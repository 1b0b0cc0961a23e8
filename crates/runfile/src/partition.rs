//! `[partition]`: who holds which record.

use crate::document::Document;
use crate::names::PARTITIONS;
use crate::schema::{Key, Section};

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PartitionKind {
    Iid,
    /// By class, unevenly.
    Dirichlet {
        /// Smaller is more heterogeneous.
        concentration: f64,
    },
    Shards {
        per_node: usize,
    },
    /// As a column of the file says.
    Column,
}

impl PartitionKind {
    fn of(document: &Document) -> Option<Self> {
        let name = document.text(Key::PartitionKind)?;
        let all = [
            Self::Iid,
            Self::Dirichlet {
                concentration: document.float(Key::PartitionConcentration).unwrap_or_default(),
            },
            Self::Shards { per_node: document.count(Key::PartitionShards).unwrap_or_default() },
            Self::Column,
        ];
        all.into_iter().find(|kind| kind.name() == name)
    }

    pub fn name(&self) -> &'static str {
        let [iid, dirichlet, shards, column] = PARTITIONS;
        match self {
            Self::Iid => iid,
            Self::Dirichlet { .. } => dirichlet,
            Self::Shards { .. } => shards,
            Self::Column => column,
        }
    }
}

#[derive(Clone, Debug)]
pub struct PartitionSection {
    /// Whether there is one.
    pub given: bool,
    /// How records are dealt out; otherwise by the file's column, or at random where it has none.
    pub kind: Option<PartitionKind>,
    /// Nodes with fewer records do not take part.
    pub least: Option<usize>,
    /// The public seed, also of what is set aside.
    pub seed: u64,
}

impl PartitionSection {
    pub(crate) fn of(document: &Document) -> Self {
        Self {
            given: document.has_section(Section::Partition),
            kind: PartitionKind::of(document),
            least: document.count(Key::PartitionLeast),
            seed: document.integer(Key::PartitionSeed).unwrap_or_default(),
        }
    }

    /// Whether the file's own column may say who holds what.
    pub fn by_column(&self) -> bool {
        self.kind.is_none_or(|kind| kind == PartitionKind::Column)
    }
}
