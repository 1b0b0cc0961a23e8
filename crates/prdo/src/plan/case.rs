//! What a network, a problem and a budget fix: everything but α, γ and b₀.

use super::PlanError;
use super::levels::Level;
use super::pairs::PlannedPairs;
use prdo_accounting::{History, Method as Accounting};
use prdo_theory::{Bounds, Levels, Setting, Setup, TheoryError};

/// A run to be, without its parameters.
#[derive(Clone, Debug)]
pub struct Case {
    pub nodes: u64,
    pub rounds: u64,
    pub batch: u64,
    /// N, the records (public slots) of the smallest node, where known.
    pub slots: Option<u64>,
    /// λ of the mixing matrix.
    pub lambda: f64,
    pub problem: Problem,
    pub noise: Noise,
    /// Where noise cancels between nodes.
    pub pairs: Option<PlannedPairs>,
}

/// The constants of the losses, as far as they are known.
#[derive(Clone, Debug, Default)]
pub struct Problem {
    /// L_s.
    pub smoothness: Option<Level>,
    /// Δ_f.
    pub initial_gap: Option<Level>,
    /// ζ₀².
    pub heterogeneity: Option<Level>,
    /// σ²_sgd.
    pub sampling_variance: Option<Level>,
    pub dimension: Option<u64>,
    /// ‖∇f(x⁰)‖².
    pub start_gradient: Option<f64>,
}

impl Problem {
    /// Whether every constant of the theorem is known.
    pub fn is_known(&self) -> bool {
        let levels = [&self.smoothness, &self.initial_gap, &self.heterogeneity, &self.sampling_variance];
        levels.iter().all(|level| level.is_some()) && self.dimension.is_some()
    }
}

#[derive(Clone, Debug)]
pub enum Noise {
    Unknown,
    Absent,
    /// ν²_dp itself.
    Variance(f64),
    Scaled {
        /// C_g.
        gradient_clip: f64,
        /// C_Δ; where it is not given, the one of [`super::difference_clip`] is used.
        difference_clip: Option<f64>,
        /// z, or what z follows from.
        strength: Strength,
    },
}

#[derive(Clone, Debug)]
pub enum Strength {
    Multiplier {
        z: f64,
        /// How to say what it costs, if that is wanted.
        account: Option<Account>,
    },
    /// The least z that keeps a budget.
    Budget { epsilon: f64, account: Account },
}

#[derive(Clone, Debug)]
pub struct Account {
    pub delta: f64,
    pub accounting: Accounting,
    /// What was released about the same records before.
    pub spent: History,
}

impl Case {
    /// What the theory takes. Without L_s it is in units of it: α then stands for αL_s.
    pub fn setup(&self) -> Setup {
        Setup {
            nodes: self.nodes,
            rounds: self.rounds,
            batch: self.batch,
            lambda: self.lambda,
            smoothness: self.smoothness(),
        }
    }

    /// L_s, or one where it is not known.
    pub fn smoothness(&self) -> f64 {
        self.problem.smoothness.as_ref().map_or(1.0, |level| level.value)
    }

    /// The levels at this noise; `None` where one is not known.
    pub fn levels(&self, noise_variance: f64) -> Option<Levels> {
        let problem = &self.problem;
        problem.smoothness.as_ref()?;
        Some(Levels {
            initial_gap: problem.initial_gap.as_ref()?.value,
            heterogeneity: problem.heterogeneity.as_ref()?.value,
            sampling_variance: problem.sampling_variance.as_ref()?.value,
            dimension: problem.dimension?,
            noise_variance,
        })
    }

    /// What the mean and a single node get of noise of variance 1; `None` where that is not known.
    fn noise_factors(&self) -> Option<(f64, f64)> {
        self.pairs.as_ref().map_or(Some((1.0, 1.0)), |pairs| pairs.factors(self.nodes))
    }

    /// How many times the deviation of independent noise is in a node's answer.
    pub fn answer_noise(&self) -> f64 {
        self.noise_factors().map_or(f64::NAN, |(_, network)| network.sqrt())
    }

    /// The bounds at independent noise of this variance, or noise in pairs in its place; `None` where a level is not known.
    pub fn bounds(&self, setting: &Setting, noise_variance: f64) -> Result<Option<Bounds>, TheoryError> {
        let Some((mean, network)) = self.noise_factors() else { return Ok(None) };
        let Some(levels) = self.levels(mean * noise_variance) else { return Ok(None) };
        Bounds::apart(setting, &levels, network * noise_variance).map(Some)
    }

    /// What of the bound's privacy part comes by the mean of all nodes' noise.
    pub fn by_mean(&self, setting: &Setting, noise_variance: f64) -> Result<Option<f64>, TheoryError> {
        let levels = self.noise_factors().and_then(|(mean, _)| self.levels(mean * noise_variance));
        let bounds = levels.map(|levels| Bounds::apart(setting, &levels, 0.0)).transpose()?;
        Ok(bounds.map(|bounds| bounds.stationarity.privacy))
    }

    /// Refuses what no choice of parameters could mend.
    pub fn check(&self) -> Result<(), PlanError> {
        self.setup().checked()?;
        let problem = &self.problem;
        let or_zero = |level: &Option<Level>| level.as_ref().map_or(0.0, |level| level.value);
        let known = Levels {
            initial_gap: or_zero(&problem.initial_gap),
            heterogeneity: or_zero(&problem.heterogeneity),
            sampling_variance: or_zero(&problem.sampling_variance),
            dimension: problem.dimension.unwrap_or(1),
            noise_variance: if let Noise::Variance(variance) = self.noise { variance } else { 0.0 },
        };
        known.checked()?;
        match self.slots {
            Some(slots) if self.batch > slots => {
                Err(PlanError::TooLarge { field: "batch", value: self.batch, slots })
            }
            None if self.budget().is_some() => Err(PlanError::SlotsMissing),
            _ => Ok(()),
        }
    }

    pub fn budget(&self) -> Option<(f64, &Account)> {
        match &self.noise {
            Noise::Scaled { strength: Strength::Budget { epsilon, account }, .. } => {
                Some((*epsilon, account))
            }
            _ => None,
        }
    }

    /// The same with another ε; unchanged where there is no budget.
    #[must_use]
    pub fn with_epsilon(mut self, new: f64) -> Self {
        if let Noise::Scaled { strength: Strength::Budget { epsilon, .. }, .. } = &mut self.noise {
            *epsilon = new;
        }
        self
    }
}
