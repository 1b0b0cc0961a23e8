//! Who has a secret with whom.

use super::PairsError;

/// The pairs of nodes that share a secret: all of them, or those of a list. Nodes are numbered from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Secrets {
    nodes: usize,
    /// Every pair once, smaller end first, in rising order; nothing if all pairs share one.
    listed: Option<Vec<(usize, usize)>>,
    degrees: Vec<usize>,
}

impl Secrets {
    /// For secrets between all pairs, where there is a closed form.
    pub const MOST_COMPLETE: usize = 1_000_000;
    /// For listed secrets, where matrices are factorised.
    pub const MOST_LISTED: usize = 1024;

    pub fn complete(nodes: usize) -> Result<Self, PairsError> {
        within(nodes, Self::MOST_COMPLETE)?;
        Ok(Self { nodes, listed: None, degrees: Vec::new() })
    }

    /// Secrets between these pairs, in any order and direction; repeats are merged.
    pub fn between(
        nodes: usize,
        pairs: impl IntoIterator<Item = (usize, usize)>,
    ) -> Result<Self, PairsError> {
        within(nodes, Self::MOST_LISTED)?;
        let mut listed = Vec::new();
        for (from, to) in pairs {
            check_ends(from, to, nodes)?;
            listed.push((from.min(to), from.max(to)));
        }
        listed.sort_unstable();
        listed.dedup();
        if listed.len() == nodes * (nodes - 1) / 2 {
            return Self::complete(nodes);
        }
        let mut degrees = vec![0; nodes];
        for &(i, j) in &listed {
            degrees[i] += 1;
            degrees[j] += 1;
        }
        Ok(Self { nodes, listed: Some(listed), degrees })
    }

    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// Whether all pairs share one.
    pub fn is_complete(&self) -> bool {
        self.listed.is_none()
    }

    /// With how many others a node shares one.
    pub fn degree(&self, node: usize) -> usize {
        self.degrees.get(node).copied().unwrap_or(self.nodes - 1)
    }

    /// The first node of those that share the fewest, and how many these are.
    pub fn weakest(&self) -> (usize, usize) {
        let degrees = self.degrees.iter().copied().enumerate();
        degrees.min_by_key(|&(node, degree)| (degree, node)).unwrap_or((0, self.nodes - 1))
    }

    /// Every pair once, smaller end first.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let all = self
            .is_complete()
            .then(|| (0..self.nodes).flat_map(|i| (i + 1..self.nodes).map(move |j| (i, j))));
        all.into_iter().flatten().chain(self.listed.iter().flatten().copied())
    }

    /// The nodes outside a coalition, `node` among them.
    pub(super) fn outside(&self, node: usize, coalition: &[usize]) -> Result<Vec<usize>, PairsError> {
        outside(self.nodes, node, coalition)
    }
}

fn within(nodes: usize, most: usize) -> Result<(), PairsError> {
    if (1..=most).contains(&nodes) { Ok(()) } else { Err(PairsError::Nodes { nodes, most }) }
}

pub(super) fn check_ends(from: usize, to: usize, nodes: usize) -> Result<(), PairsError> {
    if from.max(to) < nodes && from != to {
        return Ok(());
    }
    Err(PairsError::Ends { from, to, last: nodes.saturating_sub(1) })
}

/// The nodes outside a coalition, in rising order, if `node` is one of them and all numbers are nodes.
pub(super) fn outside(nodes: usize, node: usize, coalition: &[usize]) -> Result<Vec<usize>, PairsError> {
    if let Some(&wrong) = coalition.iter().chain([&node]).find(|&&i| i >= nodes) {
        return Err(PairsError::Node { node: wrong, last: nodes.saturating_sub(1) });
    }
    if coalition.contains(&node) {
        return Err(PairsError::Inside { node });
    }
    let mut left = vec![true; nodes];
    coalition.iter().for_each(|&i| left[i] = false);
    Ok((0..nodes).filter(|&i| left[i]).collect())
}
