//! The privacy loss of one Poisson-sampled Gaussian release, seen from one direction of adjacency.
//!
//! In units of the noise's deviation (y = x/σ, s = 1/σ) the release without the record is φ, the standard normal
//! density, and the likelihood ratio of "with" to "without" is
//!
//! ```text
//! r(y) = 1 − q + q·e^{w},   w = s·y − s²/2
//! ```
//!
//! Removing the record compares φ·r with φ: the loss is ln r under φ·r. Adding it compares φ with φ·r: the loss is
//! −ln r under φ. With κ = 1 + λ (remove) or κ = −λ (add) both moments are ∫ φ r^κ.

use crate::rounding::{U, normal_tail};

/// Whether the record is taken away or put in. Both count under add/remove adjacency.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Direction {
    Remove,
    Add,
}

/// One kind of release (rate below 1) in one direction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Law {
    pub rate: f64,
    pub slope: f64,
    pub direction: Direction,
}

/// ln r at y + iα (α ≥ 0): its parts, and a bound on the rounding error of either.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ratio {
    pub ln: f64,
    pub arg: f64,
    pub error: f64,
}

impl Law {
    /// The exponent κ of r in the moment of order λ.
    pub fn kappa(&self, lambda: f64) -> f64 {
        match self.direction {
            Direction::Remove => 1.0 + lambda,
            Direction::Add => -lambda,
        }
    }

    /// +1 where the loss is ln r, −1 where it is −ln r.
    pub fn sign(&self) -> f64 {
        match self.direction {
            Direction::Remove => 1.0,
            Direction::Add => -1.0,
        }
    }

    fn exponent(&self, y: f64) -> f64 {
        self.slope * (y - 0.5 * self.slope)
    }

    /// ln r(y), to a few units in the last place.
    pub fn ln_ratio(&self, y: f64) -> f64 {
        let (q, w) = (self.rate, self.exponent(y));
        let v = if w < 700.0 { q * libm::expm1(w) } else { f64::INFINITY };
        if v > 1.0 {
            w + libm::log(q) + libm::log1p((1.0 - q) / q * libm::exp(-w))
        } else if v > -0.5 {
            libm::log1p(v)
        } else {
            libm::log((1.0 - q) + q * libm::exp(w))
        }
    }

    /// p(y) = q·e^w/r(y): the probability that the record was sampled, given the release.
    pub fn share(&self, y: f64) -> f64 {
        1.0 / (1.0 + (1.0 - self.rate) / self.rate * libm::exp(-self.exponent(y)))
    }

    /// ln r(y + iα) for 0 ≤ s·α < π; y is exact.
    ///
    /// # Lemma (rounding of ln r)
    /// w = s(y − s/2) is computed from s (one rounding), a difference and a product, so it is off by at most
    /// dw = 4·U·s·(|y| + s). If v = q(e^{w+iθ} − 1) is moderate, v is off by at most q·e^w·(dw + 8U) + 8U·q|e^w − 1|
    /// and ln(1 + v) by that over |r|, plus 8U times its own size (each library function is taken to be good to
    /// 4U); if q·e^w > 1, ln r = ln q + w + iθ + ln(1 + ρe^{−iθ}) with ρ < 1 has four terms, each off by at most 4U
    /// of its size, and dw.
    pub fn ratio(&self, y: f64, alpha: f64) -> Ratio {
        let (q, w) = (self.rate, self.exponent(y));
        let dw = 4.0 * U * self.slope * (y.abs() + self.slope);
        let theta = self.slope * alpha;
        let growth = if w < 700.0 { q * libm::exp(w) } else { f64::INFINITY };
        let (sin, cos) = if theta == 0.0 { (0.0, 1.0) } else { (libm::sin(theta), libm::cos(theta)) };
        if growth > 1.0 {
            let rho = (1.0 - q) / q * libm::exp(-w);
            let ln_q = libm::log(q);
            let ln = ln_q + w + 0.5 * libm::log1p(2.0 * rho * cos + rho * rho);
            let arg = theta - libm::atan2(rho * sin, 1.0 + rho * cos);
            // 1 + ρe^{−iθ} is small only near θ = π; lines stay away from it, and its size enters here.
            let size = libm::sqrt((1.0 + rho * cos) * (1.0 + rho * cos) + rho * rho * sin * sin);
            let error = dw + 4.0 * U * (w.abs() + ln_q.abs() + theta) + (16.0 * U + dw) / size;
            return Ratio { ln, arg, error };
        }
        let half = if theta == 0.0 { 0.0 } else { libm::sin(0.5 * theta) };
        let minus_one = q * libm::expm1(w);
        let v = (minus_one - 2.0 * growth * half * half, growth * sin);
        let square = 2.0 * v.0 + v.0 * v.0 + v.1 * v.1;
        let (ln, extra) = if square > -0.5 {
            (0.5 * libm::log1p(square), 0.0)
        } else {
            let (re, im) = ((1.0 - q) + growth * cos, growth * sin);
            (0.5 * libm::log(re * re + im * im), 8.0 * U)
        };
        let arg = if theta == 0.0 { 0.0 } else { libm::atan2(v.1, 1.0 + v.0) };
        let size = libm::exp(ln);
        let error =
            (growth * (dw + 8.0 * U) + 8.0 * U * minus_one.abs()) / size + 8.0 * U * (ln.abs() + arg) + extra;
        Ratio { ln, arg, error }
    }

    /// ln(1 + ρ·e^{w + iθ}) with ρ = q/(1−q): ln r(y + iα) without its smallest value ln(1−q), and to a relative accuracy
    /// however small it is. Same error terms as [`Law::ratio`].
    pub fn excess(&self, y: f64, alpha: f64) -> Ratio {
        let w = self.exponent(y);
        let dw = 4.0 * U * self.slope * (y.abs() + self.slope);
        let theta = self.slope * alpha;
        let (sin, cos) = if theta == 0.0 { (0.0, 1.0) } else { (libm::sin(theta), libm::cos(theta)) };
        let odds = self.rate / (1.0 - self.rate);
        let growth = if w < 700.0 { odds * libm::exp(w) } else { f64::INFINITY };
        if growth > 1.0 {
            let rho = libm::exp(-w) / odds;
            let ln_odds = libm::log(odds);
            let ln = ln_odds + w + 0.5 * libm::log1p(2.0 * rho * cos + rho * rho);
            let arg = theta - libm::atan2(rho * sin, 1.0 + rho * cos);
            let size = (1.0 + rho * cos).hypot(rho * sin);
            let error = dw + 8.0 * U * (w.abs() + ln_odds.abs() + theta) + (16.0 * U + dw) / size;
            return Ratio { ln, arg, error };
        }
        let v = (growth * cos, growth * sin);
        let ln = 0.5 * libm::log1p(2.0 * v.0 + v.0 * v.0 + v.1 * v.1);
        let arg = if theta == 0.0 { 0.0 } else { libm::atan2(v.1, 1.0 + v.0) };
        let size = (1.0 + v.0).hypot(v.1);
        Ratio { ln, arg, error: growth * (dw + 16.0 * U) / size + 8.0 * U * (ln.abs() + arg) }
    }

    /// The loss that [`Law::excess`] leaves out: ±ln(1−q).
    pub fn least_loss(&self) -> f64 {
        self.sign() * libm::log1p(-self.rate)
    }

    /// How much of the law lies above y (a bound from above).
    pub fn mass_above(&self, y: f64) -> f64 {
        match self.direction {
            Direction::Remove => {
                (1.0 - self.rate) * normal_tail(y) + self.rate * normal_tail(y - self.slope) * (1.0 + 1e-12)
            }
            Direction::Add => normal_tail(y),
        }
    }

    /// How much of the law lies below y (a bound from above).
    pub fn mass_below(&self, y: f64) -> f64 {
        normal_tail(-y)
    }

    /// ln(φ r^κ·√2π): the tilted density, not normalised.
    pub fn ln_tilted(&self, y: f64, kappa: f64) -> f64 {
        -0.5 * y * y + kappa * self.ln_ratio(y)
    }
}
