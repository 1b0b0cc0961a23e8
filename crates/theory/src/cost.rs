//! What a run costs a node: gradients and bytes.

use crate::error::{TheoryError, count};

/// b₀ + 2b(T−1): the per-record gradients that a node evaluates, in expectation under Poisson sampling (after
/// `cv:scheduled-AU`). At γ = 1 half of the later ones are not needed.
pub fn gradients(first_batch: u64, batch: u64, rounds: u64) -> Result<u128, TheoryError> {
    count("first_batch", first_batch, 1_000_000_000_000_000, "from 1 to 1e15")?;
    count("batch", batch, 100_000_000, "from 1 to 1e8")?;
    count("rounds", rounds, 1_000_000_000_000, "from 1 to 1e12")?;
    Ok(u128::from(first_batch) + 2 * u128::from(batch) * u128::from(rounds - 1))
}

/// Bytes that a node with `neighbours` neighbours sends in T rounds: one vector of d numbers of 8 bytes to each, each
/// round.
pub fn bytes(dimension: u64, neighbours: u64, rounds: u64) -> Result<u128, TheoryError> {
    count("dimension", dimension, 1_000_000_000_000, "from 1 to 1e12")?;
    count("neighbours", neighbours.max(1), 1_000_000_000, "from 0 to 1e9")?;
    count("rounds", rounds, 1_000_000_000_000, "from 1 to 1e12")?;
    Ok(8 * u128::from(dimension) * u128::from(neighbours) * u128::from(rounds))
}
