//! The paper's schedule (`cv:schedule`, `cv:scheduled-batch`) and its constant c_α.
//!
//! ```text
//! α = c_α(1−√λ)/(L_s(T+1)^{1/3}),   γ = c_γ/(T+1)^{2/3},   b₀ = ⌈b(T+1)^{1/3}⌉
//! ```
//!
//! Substituted into `cv:stability` (`cv:scheduled-small-gains`, `cv:scheduled-feedback`) the conditions on c_α are
//!
//! ```text
//! c_α ≤ (T+1)^{1/3}/4,   128λc_α²/(bc_γ) ≤ 1/2,   g·c_α² + 2q·c_α⁴ ≤ 1/8
//! ```
//!
//! with g and q in [`Gains`]: each has a largest solution in closed form.

use crate::conditions::Conditions;
use crate::error::{TheoryError, between, count};
use crate::setting::{Parameters, Setting, Setup};

/// The paper's (0, 1], without numbers so small that their squares are lost.
const C_GAMMA: (f64, f64) = (1e-20, 1.0);

/// Parameters chosen by the paper's schedule, and the constants that they were chosen with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schedule {
    c_alpha: f64,
    c_gamma: f64,
    setting: Setting,
}

impl Schedule {
    /// The schedule with given constants, feasible or not ([`Conditions`] tells).
    pub fn new(setup: &Setup, c_alpha: f64, c_gamma: f64) -> Result<Self, TheoryError> {
        let setup = setup.checked()?;
        between("c_alpha", c_alpha, (f64::MIN_POSITIVE, f64::MAX), "above 0 and finite")?;
        between("c_gamma", c_gamma, C_GAMMA, "from 1e-20 to 1")?;
        let root = setup.horizon_root();
        let parameters = Parameters {
            step_size: c_alpha * setup.root_gap() / (setup.smoothness * root),
            gamma: c_gamma / (root * root),
            first_batch: first_batch(setup.batch, setup.rounds)?,
        };
        Ok(Self { c_alpha, c_gamma, setting: Setting::new(setup, parameters)? })
    }

    /// The schedule with the largest c_α that satisfies `cv:stability` at this T and λ, in doubles too.
    pub fn largest(setup: &Setup, c_gamma: f64) -> Result<Self, TheoryError> {
        Self::shrunk(setup, largest_c_alpha(&setup.checked()?, c_gamma)?, c_gamma)
    }

    /// The schedule with the c_α of the paper's proof, at most 1/4: feasible for every T and λ at once.
    pub fn sufficient(setup: &Setup, c_gamma: f64) -> Result<Self, TheoryError> {
        Self::shrunk(setup, sufficient_c_alpha(setup.nodes, setup.batch, c_gamma)?, c_gamma)
    }

    /// With `c_alpha` or a value below it by as little as rounding asks for.
    fn shrunk(setup: &Setup, c_alpha: f64, c_gamma: f64) -> Result<Self, TheoryError> {
        let mut less = 0.0;
        loop {
            let schedule = Self::new(setup, c_alpha * (1.0 - less), c_gamma)?;
            if Conditions::of(&schedule.setting).hold() {
                return Ok(schedule);
            }
            // One, two, four … units in the last place; at the latest α falls below its range.
            less = if less == 0.0 { f64::EPSILON } else { (2.0 * less).min(0.5 + 0.5 * less) };
        }
    }

    pub fn c_alpha(&self) -> f64 {
        self.c_alpha
    }

    pub fn c_gamma(&self) -> f64 {
        self.c_gamma
    }

    pub fn setting(&self) -> &Setting {
        &self.setting
    }
}

/// The coefficients of c_α² and c_α⁴ in the last condition: 2L_s²α²/(bnγ) = g·c_α² (`cv:scheduled-small-gains`) and
/// QA_U = q·c_α⁴ (`cv:scheduled-feedback`); and 128λ/(bc_γ), of c_α² in A_C.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gains {
    /// A_C = d·c_α².
    pub disagreement: f64,
    pub movement: f64,
    pub feedback: f64,
}

impl Gains {
    fn of(setup: &Setup, c_gamma: f64) -> Self {
        let (lambda, s) = (setup.lambda, setup.root_gap());
        let k = setup.horizon_root().powi(2);
        let o = 1.0 + lambda.sqrt();
        let (b, n) = (setup.batch as f64 * c_gamma, setup.nodes as f64);
        Self {
            disagreement: 128.0 * lambda / b,
            movement: 2.0 * s * s / (b * n),
            feedback: lambda
                * (32.0 * s * s / (b * k)
                    + 8.0 * s / (o * k * k)
                    + 256.0 * s * s / (b * b * n)
                    + 64.0 * s / (b * n * o * k)),
        }
    }

    /// With the topology and horizon factors bounded by one.
    fn bounded(nodes: u64, batch: u64, c_gamma: f64) -> Self {
        let (b, n) = (batch as f64 * c_gamma, nodes as f64);
        Self {
            disagreement: 128.0 / b,
            movement: 2.0 / (b * n),
            feedback: 32.0 / b + 8.0 + 256.0 / (b * b * n) + 64.0 / (b * n),
        }
    }

    /// The largest c_α with d·c² ≤ 1/2 and g·c² + 2q·c⁴ ≤ 1/8: the positive root of the quadratic in c², written
    /// without a difference.
    fn largest(&self) -> f64 {
        let own = (0.5 / self.disagreement).sqrt();
        let square = 0.25 / (self.movement + (self.movement * self.movement + self.feedback).sqrt());
        own.min(square.sqrt())
    }
}

/// The largest c_α that satisfies `cv:stability` under the schedule, before rounding.
fn largest_c_alpha(setup: &Setup, c_gamma: f64) -> Result<f64, TheoryError> {
    between("c_gamma", c_gamma, C_GAMMA, "from 1e-20 to 1")?;
    Ok(Gains::of(setup, c_gamma).largest().min(0.25 * setup.horizon_root()))
}

/// The c_α of the paper's proof (below `cv:scheduled-feedback`): at most 1/4, for every T and λ.
pub fn sufficient_c_alpha(nodes: u64, batch: u64, c_gamma: f64) -> Result<f64, TheoryError> {
    Setup { nodes, rounds: 1, batch, lambda: 0.0, smoothness: 1.0 }.checked()?;
    between("c_gamma", c_gamma, C_GAMMA, "from 1e-20 to 1")?;
    Ok(Gains::bounded(nodes, batch, c_gamma).largest().min(0.25))
}

/// b₀ = ⌈b(T+1)^{1/3}⌉ (`cv:scheduled-batch`), exactly: the least m with m³ ≥ b³(T+1).
pub fn first_batch(batch: u64, rounds: u64) -> Result<u64, TheoryError> {
    Setup { nodes: 1, rounds, batch, lambda: 0.0, smoothness: 1.0 }.checked()?;
    let cube = |m: u128| m * m * m;
    let goal = cube(u128::from(batch)) * (u128::from(rounds) + 1);
    let mut m = (batch as f64 * (rounds as f64 + 1.0).cbrt()) as u128;
    while cube(m) < goal {
        m += 1;
    }
    while m > 1 && cube(m - 1) >= goal {
        m -= 1;
    }
    Ok(m as u64)
}

/// The largest T whose first batch fits `slots` records of a node, b₀ ≤ N; `None` where not even T = 1 does.
pub fn largest_rounds(batch: u64, slots: u64) -> Result<Option<u64>, TheoryError> {
    count("batch", batch, 100_000_000, "from 1 to 1e8")?;
    count("slots", slots, 1_000_000_000_000, "from 1 to 1e12")?;
    let cube = |m: u64| u128::from(m) * u128::from(m) * u128::from(m);
    // b₀ ≤ N is b³(T+1) ≤ N³.
    let rounds = (cube(slots) / cube(batch)).saturating_sub(1).min(1_000_000_000_000);
    Ok((rounds > 0).then_some(rounds as u64))
}
