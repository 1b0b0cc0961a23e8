//! From the multiplier that independent noise needs to the two parts that replace it.

use super::{LEAST, MOST, Pairs, PairsError, Secrets, Worst};
use crate::error::require;
use crate::rounding::U;

/// r = (z_pair/z_own)² for secrets between all pairs: 3, and 10 with three exchanges per round or more, which bring the nodes'
/// models together as fast as shares drive them apart. More gains little.
pub fn default_ratio(exchanges: u32) -> f64 {
    if exchanges < 3 { 3.0 } else { 10.0 }
}

/// The two parts of the noise, and what they replace.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    pub pairs: Pairs,
    /// The weakest node against the worst coalition of the agreed size.
    pub worst: Worst,
    /// z, the multiplier of the independent noise that protects as well.
    pub independent: f64,
}

impl Choice {
    /// How many times smaller the noise in the mean of all nodes is than with independent noise: √(ratio of variances), z/z_own.
    pub fn gain(&self) -> f64 {
        self.independent / self.pairs.own()
    }
}

/// Own and pair multipliers with (z_pair/z_own)² = `ratio` for which the weakest node has the multiplier `z` against
/// outsiders and any `colluders` members together.
///
/// Refused where nothing is gained: fewer than two honest members, or a node all of whose secrets are with so many others that
/// the colluders can be all of them.
///
/// # Guarantee
/// The least z_i(A) over |A| ≤ `colluders` is at least `z`: [`Pairs::worst`] of the result, a lower bound, says so. It exceeds
/// `z` by no more than rounding where it is known exactly, and where it is a bound, by what the bound gives away.
pub fn choose(z: f64, secrets: &Secrets, colluders: usize, ratio: f64) -> Result<Choice, PairsError> {
    require("noise_multiplier", z, "from 1e-50 to 1e50", |z| (LEAST.sqrt()..=MOST.sqrt()).contains(&z))?;
    check(secrets, colluders, ratio)?;
    // All multipliers scale alike: solve for z_own = 1, then scale, up to rounding.
    let root = ratio.sqrt();
    let of_one = Pairs::new(1.0, root)?.worst(secrets, colluders)?;
    let (start, mut above) = (z / of_one.multiplier, 4.0 * U);
    loop {
        let own = start * (1.0 + above);
        let pairs = Pairs::new(own, own * root)?;
        let worst = pairs.worst(secrets, colluders)?;
        if worst.multiplier >= z {
            return Ok(Choice { pairs, worst, independent: z });
        }
        above *= 2.0;
    }
}

/// Refuses what gains nothing, and ratios that are none.
pub(super) fn check(secrets: &Secrets, colluders: usize, ratio: f64) -> Result<(), PairsError> {
    require("ratio", ratio, "a number from 1e-12 to 1e12", |r| (1e-12..=1e12).contains(&r))?;
    let nodes = secrets.nodes();
    if colluders >= nodes {
        return Err(PairsError::TooManyColluders { nodes, colluders });
    }
    if nodes - colluders < 2 {
        return Err(PairsError::TooFewHonest { nodes, colluders });
    }
    let (node, neighbours) = secrets.weakest();
    if neighbours <= colluders {
        return Err(PairsError::OwnNoiseOnly { node, neighbours, colluders });
    }
    Ok(())
}
