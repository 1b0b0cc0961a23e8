//! What a method asks of its records in a round, and the sensitivity that follows from it.

use crate::clip::Clip;
use crate::protection::Protection;
use crate::released::Released;
use crate::sampling::Batch;

/// The one data-dependent quantity of a round: a sum over the sampled records r of
///
/// ```text
/// gradient_weight · clip_Cg(∇ℓ(at; r)) + difference_weight · clip_CΔ(∇ℓ(at; r) − ∇ℓ(previous; r))
/// ```
///
/// divided by the public batch size. Both points are themselves released values, so a query depends on the
/// records only through its answer.
#[derive(Clone, Copy, Debug)]
pub struct Query<'a, P: Protection> {
    pub(crate) at: &'a Released<P>,
    pub(crate) gradient_weight: f64,
    pub(crate) difference: Option<Difference<'a, P>>,
    pub(crate) batch: Batch,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Difference<'a, P: Protection> {
    pub(crate) previous: &'a Released<P>,
    pub(crate) weight: f64,
}

impl<'a, P: Protection> Query<'a, P> {
    pub fn gradient(at: &'a Released<P>) -> Self {
        Self { at, gradient_weight: 1.0, difference: None, batch: Batch::Later }
    }

    /// γ · gradient at `at` + (1 − γ) · difference between `at` and `previous`, on the same batch
    /// (equation `eq:main-query`). With γ = 1 no difference is asked for and nothing is evaluated twice.
    pub fn recursive(at: &'a Released<P>, previous: &'a Released<P>, gamma: f64) -> Self {
        let weight = 1.0 - gamma;
        let difference = (weight != 0.0).then_some(Difference { previous, weight });
        Self { at, gradient_weight: gamma, difference, batch: Batch::Later }
    }

    #[must_use]
    pub fn on_first_batch(mut self) -> Self {
        self.batch = Batch::First;
        self
    }

    /// The point at which gradients are taken.
    pub fn at(&self) -> &'a Released<P> {
        self.at
    }

    /// The weight of a record's gradient.
    pub fn gradient_weight(&self) -> f64 {
        self.gradient_weight
    }

    /// The point that differences are taken from, and their weight, if they are asked for.
    pub fn difference(&self) -> Option<(&'a Released<P>, f64)> {
        self.difference.map(|d| (d.previous, d.weight))
    }

    /// How many gradients of a record this query needs.
    pub fn evaluations(&self) -> u64 {
        if self.difference.is_some() { 2 } else { 1 }
    }

    /// The largest norm of one record's exact contribution: γC_g + (1−γ)C_Δ (equation `eq:sensitivity`).
    ///
    /// # Guarantee
    /// By the triangle inequality over the clipped terms; derived from the query, never typed in.
    pub fn scale(&self, clip: &Clip) -> f64 {
        let difference = self.difference.map_or(0.0, |d| d.weight.abs() * clip.difference());
        self.gradient_weight.abs() * clip.gradient() + difference
    }

    /// The sensitivity of the computed sum on a grid of spacing `grid`: [`Query::scale`], enlarged by what
    /// floating point adds while clipping and by rounding each of d coordinates by at most half a step.
    ///
    /// # Guarantee
    /// Adding or removing one record moves the integer sum, times `grid`, by at most this in norm, where computed
    /// contributions exceed their bound by at most `relative_error`.
    pub(crate) fn sensitivity(&self, clip: &Clip, grid: f64, relative_error: f64) -> f64 {
        let d = self.at.dimension();
        self.scale(clip) * (1.0 + relative_error) + grid * (d as f64).sqrt() / 2.0
    }
}
