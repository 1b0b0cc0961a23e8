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
/// divided by the public batch size. C_Δ is the rules', or κ‖at − previous‖ where it is tied to the movement. Both points are themselves released values, so a query depends on the
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
    /// κ, where the difference is clipped at κ times the movement instead of C_Δ.
    pub(crate) per_movement: Option<f64>,
}

/// The least of them, in C_g: a node that stands still releases noise all the same.
const LEAST_MOVEMENT_CLIP: f64 = 1e-12;

impl<'a, P: Protection> Query<'a, P> {
    pub fn gradient(at: &'a Released<P>) -> Self {
        Self { at, gradient_weight: 1.0, difference: None, batch: Batch::Later }
    }

    /// γ · gradient at `at` + (1 − γ) · difference between `at` and `previous`, on the same batch
    /// (equation `eq:main-query`). With γ = 1 no difference is asked for and nothing is evaluated twice.
    pub fn recursive(at: &'a Released<P>, previous: &'a Released<P>, gamma: f64) -> Self {
        let weight = 1.0 - gamma;
        let difference = (weight != 0.0).then_some(Difference { previous, weight, per_movement: None });
        Self { at, gradient_weight: gamma, difference, batch: Batch::Later }
    }

    /// The difference between `at` and `previous` on the same batch, each record's clipped at κ‖at − previous‖: where
    /// gradients are κ-Lipschitz, clipping is inactive (Murata and Suzuki's DIFF2).
    pub fn moved(at: &'a Released<P>, previous: &'a Released<P>, kappa: f64) -> Self {
        let difference = Some(Difference { previous, weight: 1.0, per_movement: Some(kappa) });
        Self { at, gradient_weight: 0.0, difference, batch: Batch::Later }
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

    /// The norms at which this query clips: the rules', but for a difference that is tied to the movement.
    ///
    /// # Guarantee
    /// Both points are released, so the bound of a movement is a function of what is known already. κ, as γ, is whoever
    /// asks's to have from public settings.
    pub fn clip(&self, rules: &Clip) -> Clip {
        let Some(Difference { previous, per_movement: Some(kappa), .. }) = self.difference else {
            return *rules;
        };
        let moved = distance(self.at.as_slice(), previous.as_slice());
        rules.with_difference(bounded(kappa * moved, rules.gradient()))
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
        let difference = self.difference.map_or(0.0, |d| d.weight.abs() * self.clip(clip).difference());
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
        assert_eq!(Query::recursive(&here, &there, 0.25).scale(&rules), 0.25 * 2.0 + 0.75 * 0.5);
    }
}
