//! Noise that cancels between nodes: shares that two nodes draw from a key that only they have. The smaller number adds what
//! the larger takes away, so shares are gone from the sum of all answers, and hide what each node adds to it.
//!
//! `docs/pairs.md` has the theorem. What carries it here: own noise, shares and the exact sum are added before anything is
//! rounded, once; a share serves one answer, for the keys of a round are gone when the next round begins.

use crate::streams::{Secret, pair_root};
use chacha20::ChaCha12Rng;
use prdo_accounting::pairs::{Pairs, PairsError, Secrets, choose, default_ratio};
use rand::SeedableRng;
use std::sync::Arc;
use zeroize::{Zeroize, Zeroizing};

/// Key-derivation contexts.
const BETWEEN: &str = "prdo 2026-11 pairs v1: key of two members";
const NEXT: &str = "prdo 2026-11 pairs v1: key of the next round";
const PART: &str = "prdo 2026-11 pairs v1: part of a share";

/// The generator of shares: many are drawn for each normal of a node's own noise. Twelve rounds are what nobody has come near to
/// breaking.
pub(crate) type ShareStream = ChaCha12Rng;

/// What two nodes know and nobody else: the key of their share in one round. Never printed, wiped when dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct PairKey([u8; 32]);

impl PairKey {
    /// That of two nodes of a simulation, for its first round. Anyone who knows the seed knows it.
    pub fn simulated(secret: &Secret, a: u32, b: u32) -> Self {
        Self::between(&pair_root(secret), &[], a, b)
    }

    /// That of two members of a run, for its first round: from what they agreed on in secret, and from `run`, which names this
    /// run and no other.
    pub fn agreed(shared: &[u8; 32], run: &[u8; 32], a: u32, b: u32) -> Self {
        Self::between(shared, run, a, b)
    }

    fn between(shared: &[u8; 32], run: &[u8], a: u32, b: u32) -> Self {
        let mut material = Vec::with_capacity(72);
        material.extend_from_slice(shared);
        material.extend_from_slice(run);
        material.extend_from_slice(&a.min(b).to_le_bytes());
        material.extend_from_slice(&a.max(b).to_le_bytes());
        let key = Self(blake3::derive_key(BETWEEN, &material));
        material.zeroize();
        key
    }

    /// The key of the next round, from which this one cannot be found.
    pub(crate) fn advance(&mut self) {
        let next = blake3::derive_key(NEXT, &self.0);
        self.0.zeroize();
        self.0 = next;
    }

    /// The stream of part number `part` of the share, from its beginning.
    pub(crate) fn part(&self, part: u64) -> ShareStream {
        let mut material = [0u8; 40];
        material[..32].copy_from_slice(&self.0);
        material[32..].copy_from_slice(&part.to_le_bytes());
        let mut key = blake3::derive_key(PART, &material);
        let stream = ChaCha12Rng::from_seed(key);
        material.zeroize();
        key.zeroize();
        stream
    }
}

impl Drop for PairKey {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl std::fmt::Debug for PairKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PairKey")
    }
}

/// How noise in pairs is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairSettings {
    /// Against outsiders and any so many members together.
    pub colluders: usize,
    /// r = (z_pair/z_own)²; `None`: [`default_ratio`].
    pub ratio: Option<f64>,
    pub secrets: SecretsOf,
}

/// Who has a secret with whom.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SecretsOf {
    /// All pairs of nodes, whoever talks to whom.
    #[default]
    Complete,
    /// Nodes that are linked.
    Graph,
}

impl PairSettings {
    /// r of a method with so many exchanges per round.
    pub fn ratio(&self, exchanges: u32) -> f64 {
        self.ratio.unwrap_or_else(|| default_ratio(exchanges))
    }

    /// The two parts that replace independent noise of multiplier `z` at nodes that have these links and so many exchanges
    /// per round.
    pub fn mechanism(
        &self,
        z: f64,
        (nodes, links): (usize, impl IntoIterator<Item = (usize, usize)>),
        exchanges: u32,
    ) -> Result<PairMechanism, PairsError> {
        let secrets = match self.secrets {
            SecretsOf::Complete => Secrets::complete(nodes)?,
            SecretsOf::Graph => Secrets::between(nodes, links)?,
        };
        let choice = choose(z, &secrets, self.colluders, self.ratio(exchanges))?;
        PairMechanism::new(choice.pairs, secrets, self.colluders)
    }
}

/// Noise in two parts, the same at every node, and what it is worth against the coalitions that are reckoned with.
#[derive(Clone, Debug, PartialEq)]
pub struct PairMechanism {
    pairs: Pairs,
    secrets: Secrets,
    colluders: usize,
    multiplier: f64,
}

impl PairMechanism {
    /// # Guarantee
    /// Its multiplier is computed, never typed: at most the least z_i(A) over all coalitions A of `colluders` nodes and all
    /// nodes outside. Against whoever sees every message and knows what A knows, a release of any other node is as private as a
    /// sampled Gaussian release with this multiplier.
    pub fn new(pairs: Pairs, secrets: Secrets, colluders: usize) -> Result<Self, PairsError> {
        let multiplier = pairs.worst(&secrets, colluders)?.multiplier;
        Ok(Self { pairs, secrets, colluders, multiplier })
    }

    pub fn multiplier(&self) -> f64 {
        self.multiplier
    }

    pub fn pairs(&self) -> Pairs {
        self.pairs
    }

    pub fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    pub fn colluders(&self) -> usize {
        self.colluders
    }

    /// With whom a node has secrets, in rising order.
    pub fn partners(&self, node: u32) -> Vec<u32> {
        let other = |(a, b): (usize, usize)| match node as usize {
            node if node == a => Some(b as u32),
            node if node == b => Some(a as u32),
            _ => None,
        };
        if self.secrets.is_complete() {
            return (0..self.secrets.nodes() as u32).filter(|other| *other != node).collect();
        }
        let mut partners: Vec<u32> = self.secrets.pairs().filter_map(other).collect();
        partners.sort_unstable();
        partners
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SharesError {
    #[error(
        "node {node} must have a key with each of {expected:?} and with nobody else; it has them with {found:?}"
    )]
    Partners { node: u32, expected: Vec<u32>, found: Vec<u32> },
    #[error("the keys are those of round {at}: round {round} has gone by")]
    GoneBy { at: u64, round: u64 },
}

/// The keys of one round that a node has with its partners, in rising order of partners: what is kept of its shares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShareKeys {
    /// The round whose keys these are.
    round: u64,
    keys: Vec<(u32, PairKey)>,
}

/// Bytes of a partner's number and of the key with it.
const KEPT_KEY: usize = 36;

impl ShareKeys {
    /// Keys of `round` with these partners, in any order.
    pub fn new(round: u64, keys: impl IntoIterator<Item = (u32, PairKey)>) -> Self {
        let mut keys: Vec<(u32, PairKey)> = keys.into_iter().collect();
        keys.sort_by_key(|(partner, _)| *partner);
        Self { round, keys }
    }

    /// Those of a node in a simulation, for its first round.
    pub fn simulated(mechanism: &PairMechanism, node: u32, secret: &Secret) -> Self {
        let key = |partner: u32| (partner, PairKey::simulated(secret, node, partner));
        Self::new(0, mechanism.partners(node).into_iter().map(key))
    }

    pub fn round(&self) -> u64 {
        self.round
    }

    /// Moves on to the keys of `round` and forgets those before it.
    ///
    /// # Guarantee
    /// Never back: from the keys of a round those of earlier rounds cannot be found.
    pub fn advance_to(&mut self, round: u64) -> Result<(), SharesError> {
        if round < self.round {
            return Err(SharesError::GoneBy { at: self.round, round });
        }
        for _ in self.round..round {
            self.keys.iter_mut().for_each(|(_, key)| key.advance());
        }
        self.round = round;
        Ok(())
    }

    /// The keys as bytes, for a node's own disk and nothing else. The round stands beside them.
    pub fn save(&self) -> Zeroizing<Vec<u8>> {
        let mut bytes = Zeroizing::new(Vec::with_capacity(KEPT_KEY * self.keys.len()));
        for (partner, key) in &self.keys {
            bytes.extend_from_slice(&partner.to_le_bytes());
            bytes.extend_from_slice(&key.0);
        }
        bytes
    }

    /// The keys of `round` from bytes that `save` made; `None` for others.
    pub fn load(round: u64, bytes: &[u8]) -> Option<Self> {
        let key = |part: &[u8]| {
            let (partner, key) = part.split_first_chunk::<4>()?;
            Some((u32::from_le_bytes(*partner), PairKey(*key.first_chunk::<32>()?)))
        };
        let keys = bytes.chunks(KEPT_KEY).map(|part| key(part).filter(|_| part.len() == KEPT_KEY));
        let keys: Vec<_> = keys.collect::<Option<_>>()?;
        keys.is_sorted_by(|(a, _), (b, _)| a < b).then_some(Self { round, keys })
    }
}

/// What one node draws its shares from.
#[derive(Debug)]
pub struct NodeShares {
    mechanism: Arc<PairMechanism>,
    node: u32,
    keys: ShareKeys,
}

impl NodeShares {
    /// Keys with every partner of the node.
    pub fn new(mechanism: Arc<PairMechanism>, node: u32, keys: ShareKeys) -> Result<Self, SharesError> {
        let found: Vec<u32> = keys.keys.iter().map(|(partner, _)| *partner).collect();
        let expected = mechanism.partners(node);
        if found != expected {
            return Err(SharesError::Partners { node, expected, found });
        }
        Ok(Self { mechanism, node, keys })
    }

    /// Those of a node in a simulation.
    pub fn simulated(mechanism: Arc<PairMechanism>, node: u32, secret: &Secret) -> Result<Self, SharesError> {
        let keys = ShareKeys::simulated(&mechanism, node, secret);
        Self::new(mechanism, node, keys)
    }

    /// The shares of a run with a fixed seed.
    #[cfg(all(feature = "planted-bugs", debug_assertions))]
    pub(crate) fn plant_another_run(&mut self) {
        self.keys = ShareKeys::simulated(&self.mechanism, self.node, &Secret::from_seed(0));
    }

    pub fn node(&self) -> u32 {
        self.node
    }

    pub fn mechanism(&self) -> &PairMechanism {
        &self.mechanism
    }

    /// Moves on to the keys of `round` and forgets those before it.
    ///
    /// # Guarantee
    /// Never back: a share that was drawn cannot be drawn again from what is left.
    pub(crate) fn advance_to(&mut self, round: u64) -> Result<(), SharesError> {
        self.keys.advance_to(round)
    }

    /// Each partner's key with the sign of the share at this node, in rising order of partners.
    pub(crate) fn signed(&self) -> impl Iterator<Item = (f64, &PairKey)> {
        self.keys.keys.iter().map(|(partner, key)| (if self.node < *partner { 1.0 } else { -1.0 }, key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng;

    fn mechanism(nodes: usize) -> Arc<PairMechanism> {
        let pairs = Pairs::new(0.5, 1.5).unwrap();
        Arc::new(PairMechanism::new(pairs, Secrets::complete(nodes).unwrap(), 1).unwrap())
    }

    fn first_words(shares: &NodeShares) -> Vec<(f64, u64)> {
        shares.signed().map(|(sign, key)| (sign, key.part(0).next_u64())).collect()
    }

    #[test]
    fn both_ends_draw_the_same_with_opposite_signs_and_every_round_anew() {
        let secret = Secret::from_seed(5);
        let shares = |node| NodeShares::simulated(mechanism(3), node, &secret).unwrap();
        let (mut a, mut b) = (shares(0), shares(1));
        let mut seen = Vec::new();
        for round in 0..4 {
            a.advance_to(round).unwrap();
            b.advance_to(round).unwrap();
            let (of_a, of_b) = (first_words(&a), first_words(&b));
            assert_eq!((of_a[0].0, of_b[0].0), (1.0, -1.0));
            assert_eq!(of_a[0].1, of_b[0].1);
            seen.extend([of_a[0].1, of_a[1].1, of_b[1].1]);
        }
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 12);
        assert_eq!(a.advance_to(2), Err(SharesError::GoneBy { at: 3, round: 2 }));
    }

    #[test]
    fn another_run_another_part_or_another_pair_has_other_shares() {
        let key = |shared: u8, run: u8, a, b| PairKey::agreed(&[shared; 32], &[run; 32], a, b);
        let base = key(1, 2, 3, 4);
        assert_eq!(base, key(1, 2, 4, 3));
        for other in [key(0, 2, 3, 4), key(1, 0, 3, 4), key(1, 2, 3, 5), key(1, 2, 2, 4)] {
            assert!(base != other);
        }
        assert!(base.part(0).next_u64() != base.part(1).next_u64());
        assert_eq!(format!("{base:?}"), "PairKey");
    }

    #[test]
    fn a_node_needs_a_key_with_each_partner_and_with_nobody_else() {
        let key = || PairKey::agreed(&[1; 32], &[2; 32], 0, 1);
        let of = |partners: &[u32]| {
            NodeShares::new(mechanism(3), 1, ShareKeys::new(0, partners.iter().map(|p| (*p, key()))))
        };
        assert!(of(&[2, 0]).is_ok());
        for wrong in [&[0][..], &[0, 1, 2], &[0, 3], &[0, 0]] {
            assert!(matches!(of(wrong), Err(SharesError::Partners { node: 1, .. })), "{wrong:?}");
        }
    }

    #[test]
    fn kept_keys_are_the_same_keys_and_damaged_ones_are_none() {
        let secret = Secret::from_seed(5);
        let mut keys = ShareKeys::simulated(&mechanism(4), 2, &secret);
        keys.advance_to(7).unwrap();
        let bytes = keys.save();
        assert_eq!(ShareKeys::load(7, &bytes), Some(keys.clone()));
        let mut later = ShareKeys::load(7, &bytes).unwrap();
        later.advance_to(9).unwrap();
        keys.advance_to(9).unwrap();
        assert_eq!(later, keys);
        assert_eq!(later.advance_to(8), Err(SharesError::GoneBy { at: 9, round: 8 }));
        let swapped = [&bytes[36..], &bytes[..36]].concat();
        for bad in [&bytes[1..], &bytes[..70], &swapped, &[&bytes[..36], &bytes[..36]].concat()] {
            assert_eq!(ShareKeys::load(7, bad), None);
        }
        // Nothing of an earlier key is in what is kept later.
        let later = later.save();
        assert!(bytes.chunks(36).zip(later.chunks(36)).all(|(a, b)| a[..4] == b[..4] && a[4..] != b[4..]));
    }

    #[test]
    fn the_multiplier_is_the_worst_of_any_coalition() {
        let secrets = Secrets::between(4, [(0, 1), (1, 2), (2, 3), (3, 0)]).unwrap();
        let pairs = Pairs::new(0.5, 1.5).unwrap();
        let one = PairMechanism::new(pairs, secrets.clone(), 1).unwrap();
        let least = (0..4).flat_map(|i| (0..4).filter(move |a| *a != i).map(move |a| (i, a)));
        let least = least.map(|(i, a)| pairs.multiplier(&secrets, i, &[a]).unwrap());
        assert!((one.multiplier() / least.fold(f64::INFINITY, f64::min) - 1.0).abs() < 1e-12);
        // Both neighbours of a node know all its shares.
        assert_eq!(PairMechanism::new(pairs, secrets, 2).unwrap().multiplier(), 0.5);
    }
}
