//! The public grid on which clipped records are added up exactly.
//!
//! Each record's clipped contribution is rounded to multiples of a power of two and the multiples are added
//! as integers. Integer addition has no rounding and no order: the sum is the same for any number of threads,
//! and its sensitivity is a theorem rather than a hope about floating point.

/// Steps of the grid in the sensitivity scale: between 2³¹ and 2³².
const STEPS_LOG2: i32 = 32;
/// The same where contributions are computed in single precision and added in 32 bits: between 2²⁴ and 2²⁵.
const SINGLE_STEPS_LOG2: i32 = 25;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grid {
    spacing: f64,
    inverse: f64,
}

impl Grid {
    /// The grid for contributions of norm at most `scale` (positive, from 1e-100 to 1e100).
    pub(crate) fn for_scale(scale: f64) -> Self {
        Self::with_steps(scale, STEPS_LOG2)
    }

    /// The grid for such contributions in single precision.
    pub(crate) fn for_single(scale: f64) -> Self {
        Self::with_steps(scale, SINGLE_STEPS_LOG2)
    }

    fn with_steps(scale: f64, steps_log2: i32) -> Self {
        let exponent = scale.log2().ceil() as i32 - steps_log2;
        Self { spacing: 2.0_f64.powi(exponent), inverse: 2.0_f64.powi(-exponent) }
    }

    pub fn spacing(&self) -> f64 {
        self.spacing
    }

    /// The nearest multiple of the spacing, ties to even. Values of 2⁵⁰ steps or more, which no clipped record
    /// and no noise reaches, are cut there.
    #[inline]
    pub(crate) fn round(&self, value: f64) -> i64 {
        // Adding 1.5·2⁵² leaves the rounded number in the low bits of the mantissa: no branch, no call.
        const MAGIC: f64 = 6_755_399_441_055_744.0;
        const LIMIT: f64 = (1_u64 << 50) as f64;
        let steps = (value * self.inverse).clamp(-LIMIT, LIMIT);
        (steps + MAGIC).to_bits() as i64 - MAGIC.to_bits() as i64
    }

    /// The real number behind a multiple, for those who look at single ones.
    #[cfg(any(test, all(feature = "planted-bugs", debug_assertions)))]
    pub(crate) fn value(&self, steps: i64) -> f64 {
        steps as f64 * self.spacing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spacing_is_a_power_of_two_and_resolves_the_scale() {
        for scale in [1e-100, 1e-3, 0.0509, 0.5, 1.0, 1.5, 2.0, 1e6, 1e100] {
            let grid = Grid::for_scale(scale);
            let steps = scale / grid.spacing();
            assert!((2.0_f64.powi(30)..=2.0_f64.powi(32)).contains(&steps), "{scale:e}: {steps:e}");
            assert_eq!(grid.spacing().log2().fract(), 0.0);
            assert_eq!(grid.value(grid.round(grid.value(12345))), grid.value(12345));
        }
    }

    #[test]
    fn rounds_as_the_library_does() {
        let grid = Grid { spacing: 1.0, inverse: 1.0 };
        let cases =
            [0.0, -0.0, 0.5, 1.5, -0.5, -1.5, 2.5, 0.49999999999999994, 4e9 + 0.5, -7e14, 1e-300, -3.7];
        for value in cases {
            assert_eq!(grid.round(value), value.round_ties_even() as i64, "{value}");
        }
        for huge in [1e300, f64::INFINITY] {
            assert_eq!((grid.round(huge), grid.round(-huge)), (1 << 50, -(1 << 50)));
        }
    }
}
