//! A quantity by what causes it.

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Split {
    /// From the distance to the goal, Δ_f⁰.
    pub optimisation: f64,
    /// From the nodes' different gradients at the start, ζ₀².
    pub heterogeneity: f64,
    /// From sampling batches, σ²_sgd.
    pub sampling: f64,
    /// From the noise, dν²_dp.
    pub privacy: f64,
}

impl Split {
    pub const ZERO: Self = Self { optimisation: 0.0, heterogeneity: 0.0, sampling: 0.0, privacy: 0.0 };

    pub fn total(&self) -> f64 {
        self.parts().iter().map(|(_, part)| part).sum()
    }

    pub fn parts(&self) -> [(&'static str, f64); 4] {
        [
            ("optimisation", self.optimisation),
            ("heterogeneity", self.heterogeneity),
            ("sampling", self.sampling),
            ("privacy", self.privacy),
        ]
    }

    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            optimisation: self.optimisation + other.optimisation,
            heterogeneity: self.heterogeneity + other.heterogeneity,
            sampling: self.sampling + other.sampling,
            privacy: self.privacy + other.privacy,
        }
    }

    /// `factor` times as much of each part. A part that is zero stays so, whatever the factor.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        let scale = |part: f64| if part == 0.0 { 0.0 } else { part * factor };
        Self {
            optimisation: scale(self.optimisation),
            heterogeneity: scale(self.heterogeneity),
            sampling: scale(self.sampling),
            privacy: scale(self.privacy),
        }
    }
}
