//! Keyed random streams: one independent ChaCha20 stream per (secret, purpose, node, round).
//!
//! No generator is ever carried from round to round, so there is no hidden state to save, lose or reuse:
//! what a node draws in a round is a function of its secret, its name and the round's number alone.
//!
//! # Guarantee
//! Two streams with a different purpose, node or round share no key-stream block: the purpose selects the
//! ChaCha20 key (a BLAKE3 key derivation from the secret), node and round select the 64-bit nonce. Where a stream has
//! parts, each but the first has a key of its own, derived from the purpose's.

use chacha20::ChaCha20Rng;
use rand::SeedableRng;
use zeroize::Zeroize;

/// The generator behind every draw in prdo.
pub type Stream = ChaCha20Rng;

/// What a stream is for. Each purpose has its own key. The secret ones can be drawn from by the gate alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hidden {
    /// Which slots are in a round's batch: amplification by sampling rests on it.
    Sampling,
    Noise,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Generated example data. Public.
    Data,
    /// Who holds which record in a simulation. Public.
    Partition,
    Graph,
    Start,
    /// Of packed vectors. Public.
    Dither,
}

/// Key-derivation contexts, in the order of the variants above: [`Hidden`], then [`Purpose`].
const CONTEXTS: [&str; 7] = [
    "prdo 2026-11 stream v1: batch sampling",
    "prdo 2026-11 stream v1: release noise",
    "prdo 2026-11 stream v1: generated data",
    "prdo 2026-11 stream v1: data partition",
    "prdo 2026-11 stream v1: random graph",
    "prdo 2026-11 stream v1: starting point",
    "prdo 2026-11 stream v1: dither of packed vectors",
];

/// For the root of a simulation's pair keys.
const PAIRS_CONTEXT: &str = "prdo 2026-11 stream v1: keys of pairs in a simulation";

/// For the keys of a stream's parts: from the stream's key and the part's number.
const PART_CONTEXT: &str = "prdo 2026-11 stream v1: part of a stream";

/// Where a secret came from. A seeded secret can be guessed, so what it protects is a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Drawn from the operating system: nobody else knows it.
    OperatingSystem,
    /// Derived from a number in a run file: reproducible, **not private**.
    Seed(u64),
}

/// The root of one node's (or one simulation's) randomness. Never printed, wiped when dropped.
#[derive(Clone)]
pub struct Secret {
    keys: [[u8; 32]; CONTEXTS.len()],
    origin: Origin,
}

impl Secret {
    pub fn from_operating_system() -> Result<Self, getrandom::Error> {
        let mut root = [0u8; 32];
        getrandom::fill(&mut root)?;
        let secret = Self::derive(&root, Origin::OperatingSystem);
        root.zeroize();
        Ok(secret)
    }

    /// A reproducible secret for simulations and public draws. Anyone who knows the seed knows all of it.
    pub fn from_seed(seed: u64) -> Self {
        let mut root = [0u8; 32];
        root[..8].copy_from_slice(&seed.to_le_bytes());
        Self::derive(&root, Origin::Seed(seed))
    }

    fn derive(root: &[u8; 32], origin: Origin) -> Self {
        let keys = CONTEXTS.map(|context| blake3::derive_key(context, root));
        Self { keys, origin }
    }

    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// The public stream of `purpose` for `node` and `round`, from its beginning.
    pub fn stream(&self, purpose: Purpose, node: u32, round: u32) -> Stream {
        self.keyed(2 + purpose as usize, node, round)
    }

    /// The secret stream of `purpose` for `node` in `round`, from its beginning: for the gate alone.
    pub(crate) fn hidden(&self, purpose: Hidden, node: u32, round: u32) -> Stream {
        self.keyed(purpose as usize, node, round)
    }

    /// Part number `part` of such a stream, from its beginning; part 0 is the stream itself. Parts can be drawn from at
    /// once, and none ever runs into the next.
    pub(crate) fn part(&self, purpose: Hidden, node: u32, round: u32, part: u64) -> Stream {
        if part == 0 {
            return self.hidden(purpose, node, round);
        }
        let mut material = [0u8; 40];
        material[..32].copy_from_slice(&self.keys[purpose as usize]);
        material[32..].copy_from_slice(&part.to_le_bytes());
        let mut key = blake3::derive_key(PART_CONTEXT, &material);
        let stream = named(key, node, round);
        material.zeroize();
        key.zeroize();
        stream
    }

    fn keyed(&self, key: usize, node: u32, round: u32) -> Stream {
        named(self.keys[key], node, round)
    }
}

/// What the pair keys of a simulation are derived from.
pub(crate) fn pair_root(secret: &Secret) -> [u8; 32] {
    blake3::derive_key(PAIRS_CONTEXT, &secret.keys[Hidden::Noise as usize])
}

fn named(key: [u8; 32], node: u32, round: u32) -> Stream {
    let mut stream = ChaCha20Rng::from_seed(key);
    stream.set_stream(u64::from(node) << 32 | u64::from(round));
    stream
}

impl Drop for Secret {
    fn drop(&mut self) {
        self.keys.zeroize();
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Secret({:?})", self.origin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng;

    fn words(secret: &Secret, purpose: Hidden, node: u32, round: u32) -> [u64; 8] {
        let mut stream = secret.hidden(purpose, node, round);
        std::array::from_fn(|_| stream.next_u64())
    }

    #[test]
    fn same_name_same_bits_other_name_other_bits() {
        let secret = Secret::from_seed(7);
        let base = words(&secret, Hidden::Noise, 3, 5);
        assert_eq!(base, words(&Secret::from_seed(7), Hidden::Noise, 3, 5));
        let others = [
            words(&Secret::from_seed(8), Hidden::Noise, 3, 5),
            words(&secret, Hidden::Sampling, 3, 5),
            words(&secret, Hidden::Noise, 5, 3),
            words(&secret, Hidden::Noise, 3, 6),
        ];
        let mut public = secret.stream(Purpose::Data, 3, 5);
        let public = std::array::from_fn(|_| public.next_u64());
        for other in others.into_iter().chain([public]) {
            assert!(base.iter().zip(other).all(|(a, b)| *a != b));
        }
    }

    #[test]
    fn parts_are_streams_of_their_own_and_the_first_is_the_stream() {
        let secret = Secret::from_seed(7);
        let part = |purpose, node, round, part| {
            let mut stream = secret.part(purpose, node, round, part);
            std::array::from_fn::<u64, 8, _>(|_| stream.next_u64())
        };
        assert_eq!(part(Hidden::Noise, 3, 5, 0), words(&secret, Hidden::Noise, 3, 5));
        let base = part(Hidden::Noise, 3, 5, 1);
        assert_eq!(base, part(Hidden::Noise, 3, 5, 1));
        let others = [
            part(Hidden::Noise, 3, 5, 0),
            part(Hidden::Noise, 3, 5, 2),
            part(Hidden::Noise, 3, 5, 1 << 32),
            part(Hidden::Sampling, 3, 5, 1),
            part(Hidden::Noise, 5, 3, 1),
            part(Hidden::Noise, 3, 6, 1),
        ];
        for other in others {
            assert!(base.iter().zip(other).all(|(a, b)| *a != b));
        }
    }

    #[test]
    fn operating_system_secrets_differ_and_are_not_printed() {
        let (a, b) = (Secret::from_operating_system().unwrap(), Secret::from_operating_system().unwrap());
        assert_ne!(a.keys, b.keys);
        assert_eq!(format!("{a:?}"), "Secret(OperatingSystem)");
    }
}
