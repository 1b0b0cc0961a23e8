//! What is assumed of the arithmetic, and the normal distribution's tail.
//!
//! Assumed: IEEE double arithmetic rounding to nearest, and library functions (the `libm` crate's: the same code and
//! so the same bits on every machine) with a relative error of at most 4·[`U`], that is 4 units of 2⁻⁵³ where 1 is
//! the best possible. Its authors state errors below one unit in the last place; `tests/accounting/high_precision/functions.rs`
//! measures them against 67-digit arithmetic.

/// The unit round-off of double arithmetic, 2⁻⁵³.
pub(crate) const U: f64 = f64::EPSILON / 2.0;

pub(crate) const INV_SQRT_2PI: f64 = 0.398_942_280_401_432_7;

/// P(Z > y) for a standard normal Z; relative error below 1e-13 for |y| < 38 (the argument y/√2 is rounded, which
/// moves the tail by at most y²·U relative).
pub(crate) fn normal_tail(y: f64) -> f64 {
    0.5 * libm::erfc(y * std::f64::consts::FRAC_1_SQRT_2)
}
