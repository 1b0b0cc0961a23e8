//! The moment M(λ + it) = ∫ φ r^{κ(λ + it)} of one law, by the midpoint rule on a line y + iα, with its error.
//!
//! The law is cut to an interval [low, high] (what is cut off is accounted for elsewhere), the same for every line of
//! that law. A line has nodes low + (j + ½)h up to the first multiple of h beyond `high`, all moved by iα: up for
//! removal, down for addition, which is the side on which |r^{±it}| falls for t > 0. For addition everything is
//! mirrored, so that one formula serves both: with κ as in [`Law::kappa`] and r taken at y + iα,
//!
//! ```text
//! |f(y + iα)| = φ(y)·e^{α²/2}·|r|^κ·e^{−t·arg r}
//! ```
//!
//! # Lemma (midpoint rule on a moved, cut line)
//! Let f be analytic on [low, high] × [α − β, α + β] (r has no zero while s(α + β) < π), N_v = ∫|f(y + iv)|dy. Then
//!
//! ```text
//! |∫ f(y)dy − h Σ f(y_j + iα)| ≤ (N_{α+β} + N_{α−β})/(e^{2πβ/h} − 1) + edges
//! ```
//!
//! *Proof.* Residues of f(y)/(e^{∓2πi(y − low − iα)/h} + 1) in the upper and lower half of the rectangle (the nodes
//! are at half-integers, hence the plus sign). On the long sides the kernel is at most 1/(e^{2πβ/h} − 1); on the short
//! sides, at whole multiples of h, it is 1/(e^{2πu/h} + 1) at distance u from the line. With c = 2π/h − α − β/2, |f|
//! times the kernel is at most f(end)·e^{α²/2 − cu} there, except below the real axis (u > α). There |arg r| is at most
//! u − α times [`Cut::turn_slope`], which makes the exponent at most a convex function of u: negative at u = α, and if
//! it is not positive at u = β either, the product is at most f(end)·e^{α²/2}. So a short side costs at most
//! f(end)·e^{α²/2}·(2/c + 2(β − α)₊), moving the path from the real axis f(end)·e^{α²/2}·α, and going on to the next
//! multiple of h at most h times the larger of f at both points (ln f has no maximum between them). ∎
//!
//! # Lemma (sizes)
//! |φ(y + iv)| = φ(y)e^{v²/2}; arg r(y + iv) has the sign of v, and |arg r| grows with y ([`Cut::most_turn`]);
//! |r(y + iv)| ≤ r(y), and |r(y + iv)|² = r(y)²·(1 − 2p(1−p)(1 − cos sv)) with p = [`Law::share`]. So for removal
//! N_v ≤ e^{v²/2}·M(λ), times e^{t·|arg r(high + iv)|} if v < 0. For addition there is the further factor of
//! [`Cut::ln_growth`].

use crate::law::{Direction, Law};
use crate::rounding::{INV_SQRT_2PI, U, normal_tail};
use std::f64::consts::{LN_2, PI};

/// Where a law is cut, and the scale of its moment.
#[derive(Clone, Debug)]
pub(crate) struct Cut {
    pub law: Law,
    pub lambda: f64,
    pub low: f64,
    pub high: f64,
    /// ln of a number near M(λ), the unit of the moments.
    ln_scale: f64,
    /// The largest p(1−p) on the line.
    most_share: f64,
    /// p(1−p) and the logarithm of the tilted density at `high`.
    high_end: (f64, f64),
    /// For addition: (p(1−p), ln of the law's mass above, ln r) at a few points with p ≤ ½.
    splits: Vec<(f64, f64, f64)>,
}

impl Cut {
    pub fn new(law: Law, lambda: f64, low: f64, high: f64, ln_scale: f64) -> Self {
        let mut splits = Vec::new();
        let mut c = low + 1.0;
        while law.direction == Direction::Add && c < high {
            let p = law.share(c);
            if p > 0.5 {
                break;
            }
            splits.push((p * (1.0 - p), libm::log(normal_tail(c)) + 1e-9, law.ln_ratio(c)));
            c += 1.0;
        }
        // A line goes on to the first multiple of its step (at most 1) beyond `high`.
        let (p, last_p, least_p) = (law.share(high), law.share(high + 1.0), law.share(low));
        let most_share = if last_p < 0.5 {
            last_p * (1.0 - last_p)
        } else if least_p > 0.5 {
            least_p * (1.0 - least_p)
        } else {
            0.25
        };
        let high_end = (p * (1.0 - p), law.ln_tilted(high, law.kappa(lambda)) + INV_SQRT_2PI.ln());
        Self { law, lambda, low, high, ln_scale, most_share, high_end, splits }
    }

    pub fn ln_scale(&self) -> f64 {
        self.ln_scale
    }

    pub fn with_scale(&self, ln_scale: f64) -> Self {
        Self { ln_scale, ..self.clone() }
    }

    fn at(&self, lambda: f64, ln_scale: f64) -> Self {
        Self::new(self.law, lambda, self.low, self.high, ln_scale)
    }

    /// ln of the tilted density's largest value on the short side of height v at `high`.
    fn ln_edge(&self, v: f64) -> f64 {
        let (share, ln_density) = self.high_end;
        let kappa = self.law.kappa(self.lambda);
        let turn = 1.0 - libm::cos(self.law.slope * v);
        let growth = if kappa < 0.0 { 0.5 * kappa * libm::log1p(-2.0 * share * turn) } else { 0.0 };
        ln_density + growth - self.ln_scale
    }

    /// ln of the tilted density at y in units of the scale.
    fn ln_density(&self, y: f64) -> f64 {
        self.law.ln_tilted(y, self.law.kappa(self.lambda)) + INV_SQRT_2PI.ln() - self.ln_scale
    }

    /// ln G_v, where ∫ φ|r(y + iv)|^κ ≤ G_v·(M + scale): 0 for removal.
    ///
    /// # Lemma (growth for addition)
    /// With R_v = 1 − 2p(1−p)(1 − cos sv) ≥ cos²(sv/2) and any c with p(c) ≤ ½: below c, R_v is at least its value at
    /// c; above c the law has at most P(Z > c)·r(c)^{−λ}. Hence ∫ φ|r(y + iv)|^{−λ} is at most
    /// R_v(c)^{−λ/2}·M + cos(sv/2)^{−λ}·P(Z > c)·r(c)^{−λ}. The best c of a few is taken.
    pub fn ln_growth(&self, v: f64) -> f64 {
        if self.law.direction == Direction::Remove {
            return 0.0;
        }
        let theta = self.law.slope * v;
        let turn = 1.0 - libm::cos(theta);
        let worst = -self.lambda * libm::log(libm::cos(0.5 * theta));
        let at = |(share, ln_mass, ln_ratio): &(f64, f64, f64)| {
            let below = -0.5 * self.lambda * libm::log1p(-2.0 * share * turn);
            let above = worst + ln_mass - self.lambda * ln_ratio - self.ln_scale;
            below.max(above)
        };
        // Without a split: p(1−p) on the whole line.
        let whole = -0.5 * self.lambda * libm::log1p(-2.0 * self.most_share * turn);
        self.splits.iter().map(at).fold(worst.min(whole), f64::min) + 1e-9
    }

    /// The largest |arg r(y ± iv)| on the line: r = 1 − q + q·e^w·e^{±isv} turns the more, the larger y is.
    fn most_turn(&self, v: f64) -> f64 {
        if v > 0.0 { self.law.excess(self.high + 1.0, v).arg * (1.0 + 1e-12) } else { 0.0 }
    }

    /// |arg r(y ± iv)| ≤ v times this on the line: arg(A + Be^{iθ}) is concave in θ for B ≤ A, with the slope B/(A + B) at
    /// 0, and at most θ always.
    fn turn_slope(&self) -> f64 {
        let p = self.law.share(self.high + 1.0);
        self.law.slope * if p < 0.5 { p } else { 1.0 }
    }

    /// The tilted density at the ends times what the short sides of the rectangle may multiply it by.
    fn edges(&self, alpha: f64, beta: f64, step: f64, t: f64) -> f64 {
        let below = (beta - alpha).max(0.0);
        let c = 2.0 * PI / step - alpha - 0.5 * beta;
        let at_the_far_side = below * (t * self.turn_slope() + 0.5 * below) - 2.0 * PI * beta / step;
        if c <= 0.0 || at_the_far_side > 0.0 {
            return f64::INFINITY;
        }
        let turn = 1.0 - libm::cos(self.law.slope * (alpha + beta));
        let kappa = self.law.kappa(self.lambda);
        let one_end = |y: f64| {
            let p = self.law.share(y);
            let growth =
                if kappa < 0.0 { 0.5 * kappa * libm::log1p(-2.0 * p * (1.0 - p) * turn) } else { 0.0 };
            libm::exp(self.ln_density(y) + growth + 0.5 * alpha * alpha)
        };
        let ends = one_end(self.low) + one_end(self.high) + one_end(self.high + step);
        ends * (2.0 / c + 2.0 * below + alpha + step) * 1.001
    }
}

/// The logarithm of a moment over its scale, and how far off it may be: a factor between e^{−error} and e^{error}.
/// If `error` is infinite, `ln_size` is only an upper bound.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LnMoment {
    pub ln_size: f64,
    pub angle: f64,
    pub error: f64,
}

/// A line with its nodes: weights h·φ r^{κ(λ)} in units of the scale, and losses, both complex.
pub(crate) struct Line<'a> {
    cut: &'a Cut,
    alpha: f64,
    beta: f64,
    step: f64,
    ln_growth: f64,
    /// The most that r turns on the lower side of the strip.
    turn: f64,
    weight: (Vec<f64>, Vec<f64>),
    loss: (Vec<f64>, Vec<f64>),
    sums: Sums,
}

const MOST_NODES: f64 = 100_000.0;

/// Sums over the nodes that the error bounds are made of.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    total: f64,
    /// Σ|w|·(relative error of w).
    weight_error: f64,
    /// Σ|w|·(error of the loss).
    loss_error: f64,
    /// The largest relative error of a weight and the largest error of a loss.
    worst: (f64, f64),
}

impl<'a> Line<'a> {
    /// A line (if it is not too long) for values with 0 ≤ t ≤ `most_t`, fine enough for errors of about e^{−`digits`} (they are bounded
    /// afterwards, whatever they came out as).
    pub fn for_values(cut: &'a Cut, alpha: f64, most_t: f64, digits: f64) -> Option<Self> {
        let (step, beta) = best_step(cut, alpha, most_t, digits);
        Self::new(cut, alpha, step, beta)
    }

    /// A line for the bound on the rest of the t axis, which needs less accuracy but has a narrower strip.
    pub fn for_rest(cut: &'a Cut, alpha: f64, digits: f64) -> Option<Self> {
        let beta = (0.5 * PI / cut.law.slope - alpha).min(libm::sqrt(2.0 * digits));
        let need = digits + 0.5 * (alpha * alpha + beta * beta) + cut.ln_growth(alpha + beta);
        Self::new(cut, alpha, 2.0 * PI * beta / need, beta)
    }

    fn new(cut: &'a Cut, alpha: f64, step: f64, beta: f64) -> Option<Self> {
        // A step with few digits makes every node exact.
        let step = few_digits(step.min(1.0));
        let nodes = ((cut.high - cut.low) / step).ceil();
        if nodes.is_nan() || nodes > MOST_NODES {
            return None;
        }
        let n = nodes as usize;
        let mut line = Self {
            cut,
            alpha,
            beta,
            step,
            ln_growth: cut.ln_growth(alpha + beta),
            turn: cut.most_turn(beta - alpha),
            weight: (Vec::with_capacity(n), Vec::with_capacity(n)),
            loss: (Vec::with_capacity(n), Vec::with_capacity(n)),
            sums: Sums::default(),
        };
        for j in 0..n {
            line.push(cut.low + (j as f64 + 0.5) * step);
        }
        // Errors are taken to first order everywhere: at a λ so large that they are not small, nothing is known.
        (line.sums.worst.0 < 1e-4).then_some(line)
    }

    fn push(&mut self, y: f64) {
        let (law, alpha, ln_scale) = (self.cut.law, self.alpha, self.cut.ln_scale);
        let kappa = law.kappa(self.cut.lambda);
        let ratio = law.ratio(y, alpha);
        let size =
            self.step * INV_SQRT_2PI * libm::exp(0.5 * (alpha * alpha - y * y) + kappa * ratio.ln - ln_scale);
        let loss_error = ratio.error + 4.0 * U * (ratio.ln.abs() + ratio.arg);
        // Relative: of the exponent and of the angle.
        let error = U * (16.0 + y * y + alpha * alpha + 4.0 * alpha * y.abs() + 2.0 * ln_scale.abs())
            + kappa.abs() * loss_error;
        let sums = &mut self.sums;
        sums.total += size;
        sums.weight_error += size * error;
        sums.loss_error += size * loss_error;
        sums.worst = (sums.worst.0.max(error), sums.worst.1.max(loss_error));
        if alpha == 0.0 {
            self.weight.0.push(size);
            self.weight.1.push(0.0);
        } else {
            let angle = law.sign() * (kappa * ratio.arg - alpha * y);
            self.weight.0.push(size * libm::cos(angle));
            self.weight.1.push(size * libm::sin(angle));
        }
        self.loss.0.push(law.sign() * ratio.ln);
        self.loss.1.push(ratio.arg);
    }

    pub fn nodes(&self) -> usize {
        self.loss.0.len()
    }

    /// Σ|w|: on the real line M(λ) in units of the scale, about.
    pub fn total(&self) -> f64 {
        self.sums.total
    }

    /// |Cov(y, ℓ)|/Var(y) under the weights, on the real axis.
    pub fn lean(&self) -> f64 {
        let y = |j: usize| self.cut.low + (j as f64 + 0.5) * self.step;
        let (mut sums, total) = ([0.0; 4], self.sums.total);
        for (j, (w, loss)) in self.weight.0.iter().zip(&self.loss.0).enumerate() {
            let y = y(j);
            [w * y, w * loss, w * y * y, w * y * loss]
                .iter()
                .zip(&mut sums)
                .for_each(|(term, sum)| *sum += term / total);
        }
        ((sums[3] - sums[0] * sums[1]) / (sums[2] - sums[0] * sums[0])).abs()
    }

    /// Error of the midpoint rule at t, in units of the scale, if M(λ) ≤ 2·scale.
    fn quadrature_error(&self, t: f64) -> f64 {
        let (alpha, beta) = (self.alpha, self.beta);
        let below = beta - alpha;
        let up = 0.5 * (alpha + beta) * (alpha + beta);
        let down = 0.5 * below * below + t * self.turn;
        let reach = 2.0 * PI * beta / self.step;
        let long =
            3.0 * (libm::exp(up + self.ln_growth - reach) + libm::exp(down + self.ln_growth - reach)) * 1.001;
        long / (1.0 - libm::exp(-reach)) + self.cut.edges(alpha, beta, self.step, t)
    }

    /// An upper bound on ln M(λ′) of the cut law, from the nodes of this line on the real axis.
    pub fn ln_moment_at(&self, lambda: f64) -> f64 {
        let extra = lambda - self.cut.lambda;
        let largest = self.loss.0.iter().fold(f64::NEG_INFINITY, |m, loss| m.max(extra * loss));
        let sum: f64 =
            self.weight.0.iter().zip(&self.loss.0).map(|(w, l)| w * libm::exp(extra * l - largest)).sum();
        let ln_sum = self.cut.ln_scale + largest + libm::log(sum);
        let there = self.cut.at(lambda, ln_sum);
        let reach = 2.0 * PI * self.beta / self.step;
        let strip = libm::exp(LN_2 + 0.5 * self.beta * self.beta + there.ln_growth(self.beta) - reach)
            / (1.0 - libm::exp(-reach));
        let edges = there.edges(0.0, self.beta, self.step, 0.0);
        let (weight, loss) = self.sums.worst;
        let size = largest.abs() + self.cut.ln_scale.abs();
        let rounding = weight + extra.abs() * loss + (8.0 * size + self.nodes() as f64 + 32.0) * U;
        // M ≤ sum·(1 + rounding) + strip·(M + sum) + edges, in units of the sum.
        if strip < 0.5 && rounding < 1e-3 {
            ln_sum + libm::log1p(edges + rounding + strip) - libm::log1p(-strip)
        } else {
            f64::INFINITY
        }
    }

    /// A bound on |M(λ + it)|/scale for every t ≥ `from`.
    ///
    /// # Lemma (rest of the t axis)
    /// |M(λ + it)| ≤ B(t) = ∫|f(y + iα)|dy + ends, and B falls in t because arg r ≥ 0 on the line. B's integrand is
    /// analytic itself: |r|² = r(y + iα)r(y − iα). At y + iβ its size is at most e^{(α² + β²)/2} times the tilted
    /// density (times the growth at α + β), because arg r(y + iv) grows in v while sv ≤ π/2, so that the factor in t
    /// stays below 1 as long as s(α + β) ≤ π/2. The midpoint lemma applies. ∎
    pub fn rest(&self, from: f64) -> f64 {
        let (alpha, step) = (self.alpha, self.step);
        let beta = (0.5 * PI / self.cut.law.slope - alpha).min(2.0 * PI / step);
        if beta <= 0.0 || alpha <= 0.0 {
            return f64::INFINITY;
        }
        let reach = 2.0 * PI * beta / step;
        let growth = self.cut.ln_growth(alpha + beta);
        let strip =
            6.0 * libm::exp(0.5 * (alpha * alpha + beta * beta) + growth - reach) / (1.0 - libm::exp(-reach));
        let edges = self.cut.edges(alpha, beta, step, 0.0);
        let size = |j: usize| self.weight.0[j].hypot(self.weight.1[j]) * libm::exp(-from * self.loss.1[j]);
        let sum: f64 = (0..self.nodes()).map(size).sum();
        let sums = &self.sums;
        let rounding =
            sums.weight_error + from * sums.loss_error + (self.nodes() as f64 + 32.0) * U * sums.total;
        sum + 1.001 * rounding + strip + edges
    }

    /// ln M(λ + it)/scale for t = first, first + Δ, …
    ///
    /// The phases are multiplied on from node to node, and computed afresh every 64 steps. Errors: the weights', t times
    /// the losses', 7U a multiplication (a complex product is good to √5·U, the factor to 4U and Δ times the error of
    /// the loss), the sum's, and the midpoint rule's.
    pub fn walk(&self, first: f64, step: f64, count: usize, mut each: impl FnMut(usize, LnMoment)) {
        let n = self.nodes();
        let factor = self.phases(step);
        let (mut re, mut im) = (vec![0.0; n], vec![0.0; n]);
        for k in 0..count {
            let t = first + step * k as f64;
            let since = k % 64;
            if since == 0 {
                let start = self.phases(t);
                for j in 0..n {
                    re[j] = self.weight.0[j] * start.0[j] - self.weight.1[j] * start.1[j];
                    im[j] = self.weight.0[j] * start.1[j] + self.weight.1[j] * start.0[j];
                }
            } else {
                turn(&mut re, &mut im, &factor.0, &factor.1);
            }
            let sums = &self.sums;
            let rounding = (7.0 * since as f64 + 32.0 + n as f64 / 4.0) * U * sums.total;
            let error =
                1.001 * (sums.weight_error + t * sums.loss_error + rounding) + self.quadrature_error(t);
            each(k, LnMoment::of(sum_in_lanes(&re), sum_in_lanes(&im), error));
        }
    }

    fn phases(&self, t: f64) -> (Vec<f64>, Vec<f64>) {
        let parts = self.loss.0.iter().zip(&self.loss.1).map(|(re, im)| {
            let size = if *im == 0.0 { 1.0 } else { libm::exp(-t * im) };
            let (sin, cos) = libm::sincos(t * re);
            (size * cos, size * sin)
        });
        parts.unzip()
    }
}

/// The same for moments near 1: with ℓ = ℓ₀ + ℓ′, M = e^{zℓ₀}·(1 + X) and X = ∫ b·(e^{zℓ′} − 1), b the law itself. Rounding
/// errors are then relative to X, not to 1, which matters where M is raised to a high power, or where terms cancel. If
/// λℓ₀ is small for ℓ₀ = ±ln(1−q), the loss of nearly all releases at a low rate, that is ℓ₀; else 0.
pub(crate) struct NearOne<'a> {
    cut: &'a Cut,
    line: Line<'a>,
    base: f64,
    /// Relative error of each b, error of each ℓ′.
    errors: Vec<(f64, f64)>,
    /// Error of the midpoint rule for ∫b.
    mass_error: f64,
}

impl<'a> NearOne<'a> {
    /// As [`Line::for_values`]; `cut` has the scale 1 and M(λ) ≤ 2.
    pub fn new(cut: &'a Cut, alpha: f64, most_t: f64, digits: f64) -> Option<Self> {
        let (step, beta) = best_step(cut, alpha, most_t, digits);
        let step = few_digits(step.min(1.0));
        let nodes = ((cut.high - cut.low) / step).ceil();
        if nodes.is_nan() || nodes > MOST_NODES {
            return None;
        }
        let empty = || (Vec::new(), Vec::new());
        let ln_growth = cut.ln_growth(alpha + beta);
        let turn = cut.most_turn(beta - alpha);
        let line = Line {
            cut,
            alpha,
            beta,
            step,
            ln_growth,
            turn,
            weight: empty(),
            loss: empty(),
            sums: Sums::default(),
        };
        let least = cut.law.least_loss();
        let base = if (cut.lambda * least).abs() < 0.5 { least } else { 0.0 };
        // X is the difference of e^{−zℓ₀}·M and ∫b, and the law itself has other values at the ends than the tilted one.
        let plain = cut.at(0.0, 0.0);
        let reach = 2.0 * PI * beta / step;
        let up = 0.5 * (alpha + beta) * (alpha + beta);
        let mass_error = 3.0 * 1.001 * 2.0 * libm::exp(up - reach) / (1.0 - libm::exp(-reach))
            + plain.edges(alpha, beta, step, 0.0);
        let mut near = Self { cut, line, base, errors: Vec::new(), mass_error };
        for j in 0..nodes as usize {
            near.push(cut.low + (j as f64 + 0.5) * step);
        }
        Some(near)
    }

    pub fn nodes(&self) -> usize {
        self.line.nodes()
    }

    fn push(&mut self, y: f64) {
        let (law, alpha) = (self.cut.law, self.line.alpha);
        let (kappa, sign) = (law.kappa(0.0), law.sign());
        // r = (1 − q)·e^{excess}.
        let loss = if self.base == 0.0 { law.ratio(y, alpha) } else { law.excess(y, alpha) };
        let ln_ratio = loss.ln + if self.base == 0.0 { 0.0 } else { libm::log1p(-law.rate) };
        // The law itself: φ·r for removal, φ for addition.
        let size =
            self.line.step * INV_SQRT_2PI * libm::exp(0.5 * (alpha * alpha - y * y) + kappa * ln_ratio);
        let angle = sign * (kappa * loss.arg - alpha * y);
        self.line.weight.0.push(size * libm::cos(angle));
        self.line.weight.1.push(size * libm::sin(angle));
        self.line.loss.0.push(sign * loss.ln);
        self.line.loss.1.push(loss.arg);
        let loss_error = loss.error + 4.0 * U * (loss.ln.abs() + loss.arg);
        let error = U
            * (24.0 + y * y + alpha * alpha + 4.0 * alpha * y.abs() + 4.0 * kappa.abs() * ln_ratio.abs())
            + kappa.abs() * loss_error;
        self.errors.push((error, loss_error));
    }

    /// ln M(λ + it)/scale for t = first, first + Δ, …; the law's mass is 1 up to `dropped`.
    ///
    /// D = b(e^{zℓ′} − 1) goes from node to node by D += (D + b)(e^{iΔℓ′} − 1), with a relative error of 8U of |b| times the
    /// largest |e^{zℓ′} − 1| so far a step, and is computed afresh every 8 steps. The sum's rounding and the midpoint rule's
    /// error (of both parts) come on top.
    pub fn walk(
        &self,
        (first, step, count): (f64, f64, usize),
        dropped: f64,
        ln_scale: f64,
        mut each: impl FnMut(usize, LnMoment),
    ) {
        let (n, lambda) = (self.nodes(), self.cut.lambda);
        let base = self.base;
        let (b_re, b_im) = (&self.line.weight.0, &self.line.weight.1);
        let turn: Vec<(f64, f64)> = (0..n).map(|j| self.exp_minus_one(j, 0.0, step)).collect();
        let (mut re, mut im) = (vec![0.0; n], vec![0.0; n]);
        let (mut fixed, mut sizes) = (0.0, 0.0);
        for k in 0..count {
            let t = first + step * k as f64;
            let since = k % 8;
            if since == 0 {
                for j in 0..n {
                    let (x, y) = self.exp_minus_one(j, lambda, t);
                    (re[j], im[j]) = (b_re[j] * x - b_im[j] * y, b_re[j] * y + b_im[j] * x);
                }
                (fixed, sizes) = self.errors_up_to(t + 8.0 * step);
            } else {
                for j in 0..n {
                    let (a, b) = (re[j] + b_re[j], im[j] + b_im[j]);
                    re[j] += a * turn[j].0 - b * turn[j].1;
                    im[j] += a * turn[j].1 + b * turn[j].0;
                }
            }
            let rounding = sizes * (8.0 * since as f64 + 32.0 + n as f64 / 4.0) * U;
            let quadrature = libm::exp((-lambda * base).max(0.0)) * self.line.quadrature_error(t);
            let error = 1.001 * (fixed + rounding + quadrature) + self.mass_error + dropped;
            let x = (sum_in_lanes(&re), sum_in_lanes(&im));
            let ln_size = 0.5 * libm::log1p(2.0 * x.0 + x.0 * x.0 + x.1 * x.1);
            let near_one = LnMoment::new(ln_size, libm::atan2(x.1, 1.0 + x.0), libm::exp(ln_size), error);
            each(k, near_one.turned(lambda * base - ln_scale, t * base));
        }
    }

    /// e^{(λ+it)ℓ′} − 1 at node j, to a relative accuracy.
    fn exp_minus_one(&self, j: usize, lambda: f64, t: f64) -> (f64, f64) {
        let (re, im) = (self.line.loss.0[j], self.line.loss.1[j]);
        let (x, y) = (lambda * re - t * im, t * re + lambda * im);
        let half = libm::sin(0.5 * y);
        (libm::expm1(x) * libm::cos(y) - 2.0 * half * half, libm::exp(x) * libm::sin(y))
    }

    /// For every t up to `most`: Σ|b|·(|e^{zℓ′} − 1|·relative error of b + |z|·e^{λℓ′}·error of ℓ′), and Σ|b||e^{zℓ′} − 1|.
    fn errors_up_to(&self, most: f64) -> (f64, f64) {
        let lambda = self.cut.lambda;
        let z = lambda.hypot(most);
        let (mut fixed, mut sizes) = (0.0, 0.0);
        for j in 0..self.nodes() {
            let (re, im) = (self.line.loss.0[j], self.line.loss.1[j]);
            let grown = libm::exp(lambda * re);
            let size = self.line.weight.0[j].hypot(self.line.weight.1[j]);
            let moved = (z * (re.abs() + im) * grown.max(1.0)).min(1.0 + grown);
            let (weight, loss) = self.errors[j];
            fixed += size * (moved * weight + z * grown * loss);
            sizes += size * moved;
        }
        (fixed, sizes)
    }
}

impl LnMoment {
    pub const ONE: Self = Self { ln_size: 0.0, angle: 0.0, error: 0.0 };

    /// The logarithm of re + i·im, off by at most `error`.
    pub fn of(re: f64, im: f64, error: f64) -> Self {
        let size = re.hypot(im);
        Self::new(libm::log(size), libm::atan2(im, re), size, error)
    }

    /// Multiplies by the `count`-th power of another moment.
    pub fn multiply(&mut self, other: Self, count: f64) {
        if self.error.is_infinite() || other.error.is_infinite() {
            // Of the product, too, only a bound is known: what is known better enters with its error.
            let bound =
                |moment: &Self| moment.ln_size + if moment.error.is_finite() { moment.error } else { 0.0 };
            let ln_size = bound(self) + count * bound(&other);
            *self = Self { ln_size, angle: 0.0, error: f64::INFINITY };
            return;
        }
        self.ln_size += count * other.ln_size;
        self.angle += count * other.angle;
        self.error += count * other.error;
    }

    /// The logarithm of a number of size e^`ln_size` that is off by at most `error`.
    fn new(ln_size: f64, angle: f64, size: f64, error: f64) -> Self {
        if size > 4.0 * error {
            // |ln(1 + e)| ≤ −ln(1 − |e|), and the rounding of the logarithm and the angle themselves.
            let error = -libm::log1p(-error / size) + 8.0 * U * (ln_size.abs() + angle.abs());
            Self { ln_size, angle, error }
        } else {
            // Too small to have an angle: only a bound.
            Self { ln_size: libm::log(size + error) + 1e-15, angle: 0.0, error: f64::INFINITY }
        }
    }

    /// Times e^{ln_size + i·angle}, a number known to a few U of its logarithm.
    fn turned(self, ln_size: f64, angle: f64) -> Self {
        let error = self.error + 8.0 * U * (ln_size.abs() + angle.abs());
        Self { ln_size: self.ln_size + ln_size, angle: self.angle + angle, error }
    }
}

/// Multiplies (re + i·im) by the factors, node by node.
fn turn(re: &mut [f64], im: &mut [f64], factor_re: &[f64], factor_im: &[f64]) {
    for (((re, im), a), b) in re.iter_mut().zip(im.iter_mut()).zip(factor_re).zip(factor_im) {
        let new = *re * a - *im * b;
        *im = *re * b + *im * a;
        *re = new;
    }
}

/// A sum in eight lanes: fast, and the rounding grows eight times slower than in a plain one.
fn sum_in_lanes(values: &[f64]) -> f64 {
    let mut lanes = [0.0; 8];
    let chunks = values.chunks_exact(8);
    let rest: f64 = chunks.remainder().iter().sum();
    for chunk in chunks {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            *lane += value;
        }
    }
    lanes.iter().sum::<f64>() + rest
}

/// The number rounded down to 20 binary digits.
fn few_digits(value: f64) -> f64 {
    f64::from_bits(value.to_bits() & !((1u64 << 33) - 1))
}

/// The widest step (and its β) for which the midpoint rule's long sides come out below e^{−digits} up to `most_t`.
fn best_step(cut: &Cut, alpha: f64, most_t: f64, digits: f64) -> (f64, f64) {
    let slope = cut.law.slope;
    let widest = (0.96 * PI / slope - alpha).min(14.0);
    let turn_slope = cut.turn_slope();
    let step_for = |i: i32| {
        let beta = widest * libm::pow(0.72, f64::from(i));
        let below = (beta - alpha).max(0.0);
        let up = 0.5 * (alpha + beta) * (alpha + beta);
        let down = 0.5 * below * below + most_t * cut.most_turn(below);
        let need = digits + up.max(down) + cut.ln_growth(alpha + beta);
        // A strip so high that the short sides matter is no good, nor a step at which they grow.
        let short = below * (most_t * turn_slope + 0.5 * below);
        let step =
            if cut.ln_edge(alpha + beta) > -digits { 0.0 } else { 2.0 * PI * beta / need.max(1.02 * short) };
        (step, beta)
    };
    // The step rises and then falls as β gets smaller; of nearly equal steps the smallest β, for the sake of the edges.
    let mut best = step_for(0);
    for i in 1..=24 {
        let next = step_for(i);
        if next.0 < 0.7 * best.0 {
            break;
        }
        if next.0 > 0.9 * best.0 {
            best = (next.0, next.1);
        }
    }
    best
}
