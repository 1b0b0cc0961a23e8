//! What a method asks of its records in a round, and the sensitivity that follows from it.

use crate::clip::{Clip, SINGLE_RANGE};
use crate::protection::Protection;
use crate::released::Released;
use crate::sampling::Batch;

/// The one data-dependent quantity of a round: a sum over the sampled records r of
///
/// ```text
/// gradient_weight · clip_Cg(∇ℓ(at; r)) + difference_weight · clip_CΔ(∇ℓ(at; r) − ∇ℓ(previous; r))
/// ```
///
/// divided by the public batch size. The two norms are the rules', or as [`Clips`] says; in scaled coordinates the gradient is
/// divided by a released vector first. All points and scales are themselves released values, so a query depends on the
/// records only through its answer.
#[derive(Clone, Copy, Debug)]
pub struct Query<'a, P: Protection> {
    pub(crate) at: &'a Released<P>,
    pub(crate) gradient_weight: f64,
    pub(crate) difference: Option<Difference<'a, P>>,
    pub(crate) clips: Clips,
    pub(crate) scaled: Option<Scaled<'a, P>>,
    pub(crate) batch: Batch,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Difference<'a, P: Protection> {
    pub(crate) previous: &'a Released<P>,
    pub(crate) weight: f64,
}

/// How a record's gradient and its difference are clipped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Clips {
    /// At C_g and C_Δ, each by itself.
    Separate,
    /// The same, with κ‖at − previous‖ for C_Δ.
    Movement { kappa: f64 },
    /// Their weighted sum, at the same sensitivity: γC_g + (1−γ)C_Δ.
    Combined,
}

/// Coordinates in which gradients are clipped and noise is drawn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scaled<'a, P: Protection> {
    /// What a gradient is divided by.
    pub(crate) by: &'a Released<P>,
    pub(crate) clip: f64,
}

/// The least of them, in C_g: a node that stands still releases noise all the same.
const LEAST_MOVEMENT_CLIP: f64 = 1e-12;

impl<'a, P: Protection> Query<'a, P> {
    pub fn gradient(at: &'a Released<P>) -> Self {
        Self {
            at,
            gradient_weight: 1.0,
            difference: None,
            clips: Clips::Separate,
            scaled: None,
            batch: Batch::Later,
        }
    }

    /// γ · gradient at `at` + (1 − γ) · difference between `at` and `previous`, on the same batch
    /// (equation `eq:main-query`). With γ = 1 no difference is asked for and nothing is evaluated twice.
    pub fn recursive(at: &'a Released<P>, previous: &'a Released<P>, gamma: f64) -> Self {
        let weight = 1.0 - gamma;
        let difference = (weight != 0.0).then_some(Difference { previous, weight });
        Self { gradient_weight: gamma, difference, ..Self::gradient(at) }
    }

    /// The difference between `at` and `previous` on the same batch, each record's clipped at κ‖at − previous‖: where
    /// gradients are κ-Lipschitz, clipping is inactive (Murata and Suzuki's DIFF2).
    pub fn moved(at: &'a Released<P>, previous: &'a Released<P>, kappa: f64) -> Self {
        Self::recursive(at, previous, 0.0).clipped(Clips::Movement { kappa })
    }

    /// The gradient divided by the positive vector `by`, coordinate by coordinate, and clipped at `clip` then; the answer is
    /// in these coordinates, and so is its noise.
    pub fn scaled(at: &'a Released<P>, by: &'a Released<P>, clip: f64) -> Self {
        Self { scaled: Some(Scaled { by, clip }), ..Self::gradient(at) }
    }

    /// The same, clipped in another way.
    #[must_use]
    pub fn clipped(mut self, clips: Clips) -> Self {
        self.clips = clips;
        self
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

    /// The norms at which this query clips: the rules', but for a difference that is tied to the movement and for a gradient
    /// in scaled coordinates.
    ///
    /// # Guarantee
    /// All points are released, so the bound of a movement is a function of what is known already. κ, as γ and the clip in
    /// scaled coordinates, is whoever asks's to have from public settings.
    pub fn clip(&self, rules: &Clip) -> Clip {
        if let Some(scaled) = self.scaled {
            return rules.with_gradient(scaled.clip);
        }
        match (self.clips, self.difference) {
            (Clips::Movement { kappa }, Some(Difference { previous, .. })) => {
                let moved = distance(self.at.as_slice(), previous.as_slice());
                rules.with_difference(bounded(kappa * moved, rules.gradient()))
            }
            (Clips::Movement { .. }, None) | (Clips::Separate | Clips::Combined, _) => *rules,
        }
    }

    /// What the answer's coordinates are, in the gradient's: a released vector that gradients are divided by.
    pub fn coordinates(&self) -> Option<&'a Released<P>> {
        self.scaled.map(|scaled| scaled.by)
    }

    /// How many gradients of a record this query needs.
    pub fn evaluations(&self) -> u64 {
        if self.difference.is_some() { 2 } else { 1 }
    }

    /// The largest norm of one record's exact contribution: γC_g + (1−γ)C_Δ (equation `eq:sensitivity`).
    ///
    /// # Guarantee
    /// By the triangle inequality over the clipped terms, or because their sum is clipped at just this; derived from the
    /// query, never typed in.
    pub fn scale(&self, clip: &Clip) -> f64 {
        let clip = self.clip(clip);
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

/// The bound of a movement where it is a number that can be clipped at, or the nearest that is.
fn bounded(bound: f64, gradient: f64) -> f64 {
    let (low, high) = (*SINGLE_RANGE.start(), *SINGLE_RANGE.end());
    let least = (LEAST_MOVEMENT_CLIP * gradient).clamp(low, high);
    // Not a number: points that are not. Its own answer says so.
    if bound.is_nan() { least } else { bound.clamp(least, high) }
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protection::Exposed;

    fn at(values: &[f64]) -> Released<Exposed> {
        Released::from_gate(values.to_vec())
    }

    #[test]
    fn a_difference_tied_to_the_movement_is_bounded_by_it() {
        let rules = Clip::new(2.0, 0.5).unwrap();
        let (here, there) = (at(&[3.0, 4.0]), at(&[0.0, 0.0]));
        let moved = Query::moved(&here, &there, 0.9);
        assert_eq!(moved.scale(&rules), 4.5);
        assert_eq!((moved.clip(&rules).gradient(), moved.clip(&rules).difference()), (2.0, 4.5));
        // Again gives the same, and whoever stands still has the least bound.
        assert_eq!(moved.clip(&moved.clip(&rules)), moved.clip(&rules));
        assert_eq!(Query::moved(&here, &here, 0.9).scale(&rules), 1e-10);
        let far = at(&[1e300, f64::INFINITY]);
        assert_eq!(Query::moved(&here, &far, 0.9).scale(&rules), 1e10);
        assert_eq!(Query::moved(&here, &at(&[f64::NAN, 0.0]), 0.9).scale(&rules), 1e-10);
        // Other queries have the rules'.
        let recursive = Query::recursive(&here, &there, 0.25);
        assert_eq!(recursive.scale(&rules), 0.25 * 2.0 + 0.75 * 0.5);
        assert_eq!(recursive.clipped(Clips::Combined).scale(&rules), recursive.scale(&rules));
        let tied = recursive.clipped(Clips::Movement { kappa: 0.9 });
        assert_eq!(tied.scale(&rules), 0.25 * 2.0 + 0.75 * 4.5);
        // One that asks for no difference has no movement to tie it to.
        let plain = Query::recursive(&here, &there, 1.0).clipped(Clips::Movement { kappa: 0.9 });
        assert_eq!(plain.scale(&rules), 2.0);
    }

    #[test]
    fn scaled_coordinates_have_a_bound_of_their_own() {
        let rules = Clip::new(2.0, 0.5).unwrap();
        let (here, by) = (at(&[3.0, 4.0]), at(&[0.1, 10.0]));
        let scaled = Query::scaled(&here, &by, 0.75);
        assert_eq!(scaled.scale(&rules), 0.75);
        assert_eq!(scaled.clip(&scaled.clip(&rules)), scaled.clip(&rules));
        assert_eq!((scaled.evaluations(), scaled.coordinates()), (1, Some(&by)));
    }
}
