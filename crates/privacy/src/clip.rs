//! Clipping: clip_C(u) = u / max{1, ‖u‖/C}, and what floating point adds to its bound.

/// The norms at which a record's contribution is clipped: C_g for its gradient, C_Δ for the difference of
/// its gradients at two points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clip {
    gradient: f64,
    difference: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("clip.{field} = {value} is not allowed: it must be from 1e-100 to 1e100")]
pub struct ClipError {
    /// `gradient` or `difference`.
    pub field: &'static str,
    pub value: f64,
}

/// Whether a contribution can be clipped at this norm.
pub fn is_allowed(norm: f64) -> bool {
    (1e-100..=1e100).contains(&norm)
}

impl Clip {
    pub fn new(gradient: f64, difference: f64) -> Result<Self, ClipError> {
        let check =
            |field, value: f64| if is_allowed(value) { Ok(value) } else { Err(ClipError { field, value }) };
        Ok(Self { gradient: check("gradient", gradient)?, difference: check("difference", difference)? })
    }

    /// The same, with another norm for differences, which is one that [`Clip::new`] allows.
    pub(crate) fn with_difference(self, difference: f64) -> Self {
        Self { difference, ..self }
    }

    /// The same, with another norm for gradients, which is one that [`Clip::new`] allows.
    pub(crate) fn with_gradient(self, gradient: f64) -> Self {
        Self { gradient, ..self }
    }

    pub fn gradient(&self) -> f64 {
        self.gradient
    }

    pub fn difference(&self) -> f64 {
        self.difference
    }
}

/// Clipping norms between which no factor overflows or loses digits in single precision: factors are at most 2²⁵/1e-10
/// a unit, and rows and columns of outer products at most 1e15 (see `outer_squares`), so that their products stay
/// below 1e34; and at least 2²⁴/1e31 times the query's weights.
pub(crate) const SINGLE_RANGE: std::ops::RangeInclusive<f64> = 1e-10..=1e10;

/// weight·min(1, C/‖u‖): what a vector of this norm is multiplied by. Factors so small that they lose digits
/// (a huge vector under a tiny bound) become zero: contributing nothing is always allowed, too much is not.
pub(crate) fn factor(weight: f64, norm: f64, bound: f64) -> f64 {
    let factor = if norm > bound { weight * (bound / norm) } else { weight };
    if factor.abs() < 1e-280 { 0.0 } else { factor }
}

/// ‖u‖, or `None` if a value is NaN or infinite. Right for huge and tiny values too.
pub(crate) fn norm(u: &[f64]) -> Option<f64> {
    let squares = sum_of_squares(u, 1.0);
    if squares.is_finite() && squares > 1e-280 {
        return Some(squares.sqrt());
    }
    let largest = u.iter().fold(0.0_f64, |m, v| if v.is_nan() { f64::NAN } else { m.max(v.abs()) });
    let nan = u.iter().any(|v| v.is_nan());
    if nan || largest.is_infinite() {
        return None;
    }
    if largest == 0.0 {
        return Some(0.0);
    }
    // Scaled by a power of two near the largest value, the squares neither overflow nor vanish.
    let scale = 2.0_f64.powi(-(largest.log2().floor() as i32).clamp(-1000, 1000));
    Some(sum_of_squares(u, scale).sqrt() / scale)
}

/// Σ (scale·u)², in eight running sums so that it is quick and its error small.
fn sum_of_squares(u: &[f64], scale: f64) -> f64 {
    let mut sums = [0.0; 8];
    let mut chunks = u.chunks_exact(8);
    for chunk in &mut chunks {
        for (s, v) in sums.iter_mut().zip(chunk) {
            *s += (scale * v) * (scale * v);
        }
    }
    for (s, v) in sums.iter_mut().zip(chunks.remainder()) {
        *s += (scale * v) * (scale * v);
    }
    sums.iter().sum()
}

/// How much a computed clipped vector's norm may exceed its bound, relative: each running sum has at most
/// d/8 + 1 roundings, seven more join them, and the root, the factor, the weight and the products add a few.
pub(crate) fn relative_error(dimension: usize) -> f64 {
    (dimension as f64 / 8.0 + 32.0) * f64::EPSILON
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn norms_at_every_scale_and_none_for_what_is_not_a_number() {
        assert_eq!(norm(&[3.0, 4.0]), Some(5.0));
        assert_eq!(norm(&[0.0; 9]), Some(0.0));
        for scale in [1e300, 1e200, 1e-160, 1e-300, 5e-324] {
            let n = norm(&[3.0 * scale, 4.0 * scale]).unwrap();
            assert!((n / (5.0 * scale) - 1.0).abs() < 1e-12, "{scale:e}: {n:e}");
        }
        assert_eq!(norm(&[1.0, f64::NAN]), None);
        assert_eq!(norm(&[f64::INFINITY, 1.0]), None);
        assert_eq!(norm(&[1.0, f64::NEG_INFINITY]), None);
    }

    #[test]
    fn bad_norms_are_refused() {
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-200] {
            assert!(Clip::new(bad, 1.0).is_err());
            assert_eq!(Clip::new(1.0, bad).unwrap_err().field, "difference");
        }
    }
}
