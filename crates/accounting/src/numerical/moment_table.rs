//! The integrand along the contour, summed: upper and lower bounds on δ(ε) for every ε near the one it was made for.

use crate::rounding::U;
use std::f64::consts::PI;

/// One node of the contour: t, the size of the integrand there in units of the scale (twice, for ±t), and its angle
/// without ε.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Term {
    pub t: f64,
    pub size: f64,
    pub angle: f64,
}

/// What the moment is integrated against.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kernel {
    /// 1/(z(z+1)), along the whole contour.
    Contour,
    /// The same for a loss on the points offset + k·step, where the contour ends at π/step.
    Lattice { step: f64, offset: f64 },
}

impl Kernel {
    /// Size and angle at z = λ + it.
    ///
    /// On a lattice, at one of its points, Σ_{j≥0} e^{−zjh}(1 − e^{−jh}) = e^{−zh}(1 − e^{−h})/((1 − e^{−zh})(1 − e^{−(z+1)h})),
    /// times h to make a sum over points an integral over t.
    fn at(&self, lambda: f64, t: f64) -> (f64, f64) {
        match self {
            Self::Contour => {
                let size = 1.0 / (lambda.hypot(t) * (lambda + 1.0).hypot(t));
                (size, -libm::atan2(t, lambda) - libm::atan2(t, lambda + 1.0))
            }
            Self::Lattice { step, .. } => {
                // 1 − e^{−a}(cos b − i sin b), without cancellation.
                let one_minus = |a: f64, b: f64| {
                    let half = libm::sin(0.5 * b);
                    let shrink = libm::exp(-a);
                    (-libm::expm1(-a) + 2.0 * shrink * half * half, shrink * libm::sin(b))
                };
                let b = t * step;
                let (x, y) = (one_minus(lambda * step, b), one_minus((lambda + 1.0) * step, b));
                let size = step * libm::exp(-lambda * step) * -libm::expm1(-step)
                    / (x.0.hypot(x.1) * y.0.hypot(y.1));
                (size, -b - libm::atan2(x.1, x.0) - libm::atan2(y.1, y.0))
            }
        }
    }
}

/// M^T along z = λ + it at t = 0, Δ, 2Δ, …, and every error of it.
#[derive(Clone, Debug)]
pub(crate) struct MomentTable {
    pub lambda: f64,
    /// Δ.
    pub step: f64,
    /// W = 2π/Δ.
    pub window: f64,
    /// ln of the unit in which the terms are given, and what it may be off by.
    pub ln_moment: f64,
    pub ln_moment_error: f64,
    pub terms: Vec<Term>,
    /// Sum of the bounds on the terms' errors, each counted as often as its term.
    pub error: f64,
    /// Bound on the terms that were left out, already with the factor Δ/2π.
    pub rest: f64,
    /// (λ′, upper bound on the logarithm of the moment at λ′).
    pub beyond: Vec<(f64, f64)>,
    /// Mass of the laws that was cut off, summed over the releases.
    pub dropped: f64,
    pub kernel: Kernel,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Delta {
    pub lower: f64,
    pub middle: f64,
    pub upper: f64,
    /// −dδ/dε, about.
    pub slope: f64,
}

impl MomentTable {
    /// Adds the node at t (counted `times` times): moments e^{ln_size + i·angle} up to a factor e^{±ln_error}.
    pub fn push(&mut self, t: f64, ln_size: f64, angle: f64, ln_error: f64, times: f64) {
        let (kernel, kernel_angle) = self.kernel.at(self.lambda, t);
        let size = times * libm::exp(ln_size) * kernel;
        if ln_error > 1.0 {
            // Only a bound on the size is known.
            self.error +=
                size * libm::exp(if ln_error.is_infinite() { 0.0 } else { ln_error }) * (1.0 + 1e-9);
            return;
        }
        // Off by a factor e^{±ln_error}, and by the rounding of size and angle.
        let relative = libm::expm1(ln_error) + U * (40.0 + 4.0 * ln_size.abs() + 4.0 * angle.abs());
        self.error += size * relative;
        if size > self.negligible_size() {
            self.terms.push(Term { t, size, angle: angle + kernel_angle });
        } else {
            self.error += size;
        }
    }

    /// Terms below this are only counted as errors.
    fn negligible_size(&self) -> f64 {
        self.terms.first().map_or(0.0, |first| 1e-22 * first.size)
    }

    /// δ(ε) with its bounds.
    ///
    /// # Lemma (step in t)
    /// By Poisson's summation formula the trapezoid sum with step Δ = 2π/W is exactly Σ_n e^{λnW}·δ(ε + nW), all
    /// terms non-negative, δ continued to all real arguments. So the sum is an upper bound. Of what it has too much,
    /// the terms n < 0 are at most e^{−λ|n|W} (δ ≤ 1), and those with n > 0 at most
    /// e^{K(λ′) − λ′ε}/(1 + λ′)·e^{−(λ′−λ)nW} for any λ′ > λ (Chernoff, with (1−e^{−u})e^{−λ′u} ≤ 1/(1+λ′)).
    ///
    /// # Guarantee
    /// `lower` ≤ δ(ε) ≤ `upper` for the uncut law: the cut law's δ is at most the law's, and smaller by at most the
    /// mass cut off.
    pub fn delta(&self, epsilon: f64) -> Delta {
        let Kernel::Lattice { step, offset } = self.kernel else { return self.sum(epsilon) };
        // Between two points of the lattice δ is linear in e^ε.
        let point = offset + ((epsilon - offset) / step).floor() * step;
        let share = (libm::expm1(epsilon - point) / libm::expm1(step)).clamp(0.0, 1.0);
        let (a, b) = (self.sum(point), self.sum(point + step));
        let between = |a: f64, b: f64| (1.0 - share) * a + share * b;
        // The points themselves are rounded: a shift of 4U in ε.
        let blur = 8.0 * U * (epsilon.abs() + offset.abs()) * a.slope.abs().max(b.slope.abs());
        Delta {
            lower: (between(a.lower, b.lower) - blur).max(0.0),
            middle: between(a.middle, b.middle),
            upper: (between(a.upper, b.upper) + blur).min(1.0),
            slope: between(a.slope, b.slope),
        }
    }

    /// δ(ε), on a lattice only for its points.
    fn sum(&self, epsilon: f64) -> Delta {
        // Kahan's summation, for the terms may cancel: off by 3U of the sum of their sizes.
        let (mut sum, mut lost, mut slope, mut sizes, mut turned) = (0.0_f64, 0.0, 0.0, 0.0, 0.0);
        for term in &self.terms {
            let (sin, cos) = libm::sincos(term.angle - term.t * epsilon);
            let value = term.size * cos - lost;
            let next = sum + value;
            lost = (next - sum) - value;
            sum = next;
            slope += term.size * (self.lambda * cos - term.t * sin);
            sizes += term.size;
            turned += term.size * term.t;
        }
        let ln_scale = self.ln_moment - self.lambda * epsilon;
        let scale = libm::exp(ln_scale) * self.step / (2.0 * PI);
        let rounding = U * (16.0 * sizes + 4.0 * epsilon.abs() * turned);
        let error = scale * (self.error + rounding) + libm::exp(ln_scale) * self.rest;
        let scale_error =
            self.ln_moment_error + U * (32.0 + 4.0 * ln_scale.abs() + 4.0 * (self.lambda * epsilon).abs());
        let middle = scale * sum;
        let upper = (middle + error) * libm::exp(1.01 * scale_error) + self.dropped;
        // Never the product of two negative numbers, whatever the errors are.
        let lower = (middle - error).max(0.0) * libm::exp(-1.01 * scale_error) - self.aliases(epsilon);
        Delta {
            lower: lower.max(0.0),
            middle,
            // Nothing is ever above 1; a sum that is lost in its own errors says nothing more.
            upper: if upper.is_nan() { 1.0 } else { upper.clamp(f64::MIN_POSITIVE, 1.0) },
            slope: scale * slope,
        }
    }

    fn aliases(&self, epsilon: f64) -> f64 {
        let geometric = |ratio: f64| if ratio < 1.0 { ratio / (1.0 - ratio) } else { f64::INFINITY };
        let below = geometric(libm::exp(-self.lambda * self.window));
        let above = self
            .beyond
            .iter()
            .map(|(further, ln)| {
                let ratio = libm::exp(-(further - self.lambda) * self.window);
                libm::exp(ln - further * epsilon - libm::log1p(*further)) * geometric(ratio)
            })
            .fold(f64::INFINITY, f64::min);
        1.001 * (below + above)
    }
}
