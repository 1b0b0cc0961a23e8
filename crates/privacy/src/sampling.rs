//! Which slots are in a round's batch.

use crate::streams::Stream;
use rand::Rng;

/// How the non-private setting draws a batch. Private nodes always sample by Poisson.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampling {
    /// Each slot independently with probability b/N.
    Poisson,
    /// Exactly b slots, uniformly without replacement.
    WithoutReplacement,
    Full,
}

/// Which of the two batch sizes a query uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Batch {
    /// b₀, of a method's special first round.
    First,
    /// b, of every other round.
    Later,
}

/// The public batch sizes: b₀ for a method's first round, b for the others; expected sizes under Poisson
/// sampling. Sums are divided by these numbers, never by how many records were really drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batches {
    first: usize,
    later: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "batch.{field} = {value} is not allowed: it must be from 1 to {slots}, the records (slots) of the node"
)]
pub struct SamplingError {
    /// `first` or `size`.
    pub field: &'static str,
    pub value: usize,
    pub slots: usize,
}

impl Batches {
    pub fn new(first: usize, later: usize) -> Self {
        Self { first, later }
    }

    /// Checks that both sizes are possible with `slots` slots.
    pub fn check(&self, slots: usize) -> Result<(), SamplingError> {
        for (field, value) in [("size", self.later), ("first", self.first)] {
            if value == 0 || value > slots {
                return Err(SamplingError { field, value, slots });
            }
        }
        Ok(())
    }

    pub fn size(&self, batch: Batch) -> usize {
        match batch {
            Batch::First => self.first,
            Batch::Later => self.later,
        }
    }

    /// b₀/N or b/N with N = `slots`, rounded up so that it is never below the probability really used.
    pub fn rate(&self, batch: Batch, slots: usize) -> f64 {
        let (b, n) = (self.size(batch), slots);
        if b == n { 1.0 } else { (b as f64 / n as f64).next_up() }
    }
}

/// The slots of this round's batch, ascending. An empty batch is a normal outcome of Poisson sampling.
pub(crate) fn draw(sampling: Sampling, slots: usize, size: usize, stream: &mut Stream) -> Vec<u32> {
    match sampling {
        Sampling::Full => (0..slots as u32).collect(),
        _ if size >= slots => (0..slots as u32).collect(),
        Sampling::Poisson => poisson(slots, size, stream),
        Sampling::WithoutReplacement => without_replacement(slots, size, stream),
    }
}

/// Each slot independently with probability ⌊2⁶⁴·b/N⌋/2⁶⁴ ≤ b/N, exactly: a 64-bit draw is compared with an
/// integer threshold, its lower half drawn only when the upper half ties.
fn poisson(slots: usize, size: usize, stream: &mut Stream) -> Vec<u32> {
    let threshold = (((size as u128) << 64) / slots as u128) as u64;
    let (high, low) = ((threshold >> 32) as u32, threshold as u32);
    let mut batch = Vec::with_capacity(size + size / 4 + 8);
    for slot in 0..slots as u32 {
        let word = stream.next_u32();
        if word < high || (word == high && stream.next_u32() < low) {
            batch.push(slot);
        }
    }
    batch
}

/// Floyd's algorithm: b draws, each subset of size b equally likely.
fn without_replacement(slots: usize, size: usize, stream: &mut Stream) -> Vec<u32> {
    let mut batch: Vec<u32> = Vec::with_capacity(size);
    for last in (slots - size) as u32..slots as u32 {
        let candidate = below(last + 1, stream);
        let (slot, at) = match batch.binary_search(&candidate) {
            Ok(_) => (last, batch.len()),
            Err(at) => (candidate, at),
        };
        batch.insert(at, slot);
    }
    batch
}

/// A uniform number below `bound`, by rejection: no bias.
fn below(bound: u32, stream: &mut Stream) -> u32 {
    let bound = u64::from(bound);
    let rejected_below = (1_u64 << 32) % bound;
    loop {
        let product = u64::from(stream.next_u32()) * bound;
        if product & 0xFFFF_FFFF >= rejected_below {
            return (product >> 32) as u32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::streams::{Hidden, Secret};

    fn stream(round: u32) -> Stream {
        Secret::from_seed(3).hidden(Hidden::Sampling, 0, round)
    }

    #[test]
    fn poisson_has_the_binomial_mean_and_variance_and_every_slot_its_rate() {
        let (slots, size, rounds) = (200, 10, 20_000);
        let mut hits = vec![0u32; slots];
        let (mut sum, mut squares) = (0.0, 0.0);
        for round in 0..rounds {
            let batch = draw(Sampling::Poisson, slots, size, &mut stream(round));
            assert!(batch.windows(2).all(|w| w[0] < w[1]));
            batch.iter().for_each(|s| hits[*s as usize] += 1);
            sum += batch.len() as f64;
            squares += (batch.len() as f64).powi(2);
        }
        let n = f64::from(rounds);
        let (mean, variance) = (sum / n, squares / n - (sum / n).powi(2));
        let expected = 10.0 * 0.95;
        assert!((mean - 10.0).abs() < 6.0 * (expected / n).sqrt(), "mean {mean}");
        assert!((variance - expected).abs() < 6.0 * expected * (2.0 / n).sqrt() * 1.1, "variance {variance}");
        let deviation = (n * 0.05 * 0.95).sqrt();
        assert!(hits.iter().all(|h| (f64::from(*h) - n * 0.05).abs() < 6.0 * deviation));
    }

    #[test]
    fn empty_poisson_batches_occur() {
        assert!((0..200).any(|round| draw(Sampling::Poisson, 50, 1, &mut stream(round)).is_empty()));
    }

    #[test]
    fn without_replacement_gives_distinct_sorted_slots_uniformly() {
        let (slots, size, rounds) = (12, 5, 24_000);
        let mut hits = vec![0u32; slots];
        let mut pairs = 0u32;
        for round in 0..rounds {
            let batch = draw(Sampling::WithoutReplacement, slots, size, &mut stream(round));
            assert_eq!(batch.len(), size);
            assert!(batch.windows(2).all(|w| w[0] < w[1]) && batch[size - 1] < slots as u32);
            batch.iter().for_each(|s| hits[*s as usize] += 1);
            pairs += u32::from(batch.contains(&0) && batch.contains(&11));
        }
        let n = f64::from(rounds);
        let (p, pair) = (5.0 / 12.0, 5.0 * 4.0 / (12.0 * 11.0));
        assert!(hits.iter().all(|h| (f64::from(*h) - n * p).abs() < 6.0 * (n * p * (1.0 - p)).sqrt()));
        assert!((f64::from(pairs) - n * pair).abs() < 6.0 * (n * pair).sqrt());
    }

    #[test]
    fn a_batch_of_all_slots_is_the_full_batch_and_sizes_are_checked() {
        for sampling in [Sampling::Poisson, Sampling::WithoutReplacement, Sampling::Full] {
            assert_eq!(draw(sampling, 4, 4, &mut stream(0)), [0, 1, 2, 3]);
        }
        assert!(Batches::new(5, 4).check(4).is_err() && Batches::new(4, 0).check(4).is_err());
        let batches = Batches::new(4, 1);
        assert!(batches.rate(Batch::First, 12) >= 1.0 / 3.0 && batches.rate(Batch::Later, 12) >= 1.0 / 12.0);
        assert_eq!(Batches::new(7, 7).rate(Batch::Later, 7), 1.0);
    }
}
