//! The numbers that the theory's functions take, and their ranges.
//!
//! The ranges are wider than any run needs and keep every product below inside the doubles or at infinity: a factor of
//! zero never meets an infinite one.

use crate::error::{TheoryError, between, count};

/// What a run finds: the network, the horizon, the batch, the smoothness of the losses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setup {
    /// n, the nodes: 1 to 10⁹.
    pub nodes: u64,
    /// T, the rounds: 1 to 10¹².
    pub rounds: u64,
    /// b, the expected batch size of a round but the first: 1 to 10⁸.
    pub batch: u64,
    /// λ, the second largest eigenvalue of the mixing matrix: 0 ≤ λ < 1 (`ass:network`).
    pub lambda: f64,
    /// L_s, the Lipschitz constant of each record's gradient (`ass:objectives`): 10⁻³⁰ to 10³⁰.
    pub smoothness: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters {
    /// α: 10⁻³⁰ to 10³⁰.
    pub step_size: f64,
    /// γ, the weight of the fresh gradient: 10⁻³⁰ to 1.
    pub gamma: f64,
    /// b₀, the expected batch size of the first round: 1 to 10¹⁵.
    pub first_batch: u64,
}

/// A setup and the parameters chosen for it, all within their ranges.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting {
    setup: Setup,
    parameters: Parameters,
}

/// How far the start is from the goal and how much chance there is: what the bounds are made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Levels {
    /// Δ_f⁰ = f(x⁰) − inf f: 0 to 10⁶⁰, as all that follow but the dimension.
    pub initial_gap: f64,
    /// ζ₀² = (1/n)·Σ‖∇f_i(x⁰) − ∇f(x⁰)‖².
    pub heterogeneity: f64,
    /// σ²_sgd: b times the largest variance of a batch's gradient (`cv:oracle-variance`).
    pub sampling_variance: f64,
    /// d, the model's parameters: 1 to 10¹².
    pub dimension: u64,
    /// ν²_dp, the variance of the noise in each coordinate (`pv:main-noise-orders`, [`crate::noise`]).
    pub noise_variance: f64,
}

pub(crate) const SCALE: (f64, f64) = (1e-30, 1e30);
pub(crate) const SCALE_WORDS: &str = "from 1e-30 to 1e30";
const LEVEL: (f64, f64) = (0.0, 1e60);
const LEVEL_WORDS: &str = "from 0 to 1e60";

impl Setup {
    /// The same, if every number lies in its range.
    pub fn checked(self) -> Result<Self, TheoryError> {
        count("nodes", self.nodes, 1_000_000_000, "from 1 to 1e9")?;
        count("rounds", self.rounds, 1_000_000_000_000, "from 1 to 1e12")?;
        count("batch", self.batch, 100_000_000, "from 1 to 1e8")?;
        between("lambda", self.lambda, (0.0, 1.0_f64.next_down()), "at least 0 and below 1")?;
        between("smoothness", self.smoothness, SCALE, SCALE_WORDS)?;
        Ok(self)
    }

    /// 1 − √λ, as (1 − λ)/(1 + √λ): all its digits are right however near to one λ is.
    pub fn root_gap(&self) -> f64 {
        (1.0 - self.lambda) / (1.0 + self.lambda.sqrt())
    }

    pub fn gap(&self) -> f64 {
        1.0 - self.lambda
    }

    pub fn horizon_root(&self) -> f64 {
        (self.rounds as f64 + 1.0).cbrt()
    }
}

impl Setting {
    pub fn new(setup: Setup, parameters: Parameters) -> Result<Self, TheoryError> {
        let setup = setup.checked()?;
        between("step_size", parameters.step_size, SCALE, SCALE_WORDS)?;
        between("gamma", parameters.gamma, (SCALE.0, 1.0), "from 1e-30 to 1")?;
        count("first_batch", parameters.first_batch, 1_000_000_000_000_000, "from 1 to 1e15")?;
        Ok(Self { setup, parameters })
    }

    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    pub fn nodes(&self) -> f64 {
        self.setup.nodes as f64
    }

    pub fn rounds(&self) -> f64 {
        self.setup.rounds as f64
    }

    pub fn batch(&self) -> f64 {
        self.setup.batch as f64
    }

    pub fn first_batch(&self) -> u64 {
        self.parameters.first_batch
    }

    pub fn lambda(&self) -> f64 {
        self.setup.lambda
    }

    pub fn smoothness(&self) -> f64 {
        self.setup.smoothness
    }

    pub fn step_size(&self) -> f64 {
        self.parameters.step_size
    }

    pub fn gamma(&self) -> f64 {
        self.parameters.gamma
    }
}

impl Levels {
    /// The same, if every number lies in its range.
    pub fn checked(self) -> Result<Self, TheoryError> {
        between("initial_gap", self.initial_gap, LEVEL, LEVEL_WORDS)?;
        between("heterogeneity", self.heterogeneity, LEVEL, LEVEL_WORDS)?;
        between("sampling_variance", self.sampling_variance, LEVEL, LEVEL_WORDS)?;
        count("dimension", self.dimension, 1_000_000_000_000, "from 1 to 1e12")?;
        between("noise_variance", self.noise_variance, LEVEL, LEVEL_WORDS)?;
        Ok(self)
    }

    /// d·ν²_dp, the noise's expected squared length.
    pub fn noise_power(&self) -> f64 {
        self.dimension as f64 * self.noise_variance
    }
}
