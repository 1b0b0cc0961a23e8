//! δ(ε) as a contour integral, and the table of its integrand.
//!
//! # Theorem (contour)
//! For a loss L with moments M(z) = E e^{zL} and any λ > 0
//!
//! ```text
//! δ(ε) = E(1 − e^{ε−L})₊ = 1/(2π) ∫ M(λ+it) e^{−(λ+it)ε} / ((λ+it)(λ+it+1)) dt
//! ```
//!
//! because (1 − e^{−u})₊ has the Laplace transform 1/(z(z+1)); losses of independent releases add, so M is a product.
//! The trapezoid rule in t with step Δ = 2π/W is summed by [`super::table`], which also bounds what the step and the
//! end of the sum cost. Here the values of M are computed, block after block of t, until the rest is negligible:
//! the first block on the real line, later ones on lines moved into the half plane where the integrand falls.

use super::moment_table::{Kernel, MomentTable};
use super::parts::Parts;
use super::saddle::{Saddle, end_of};
use crate::law::Law;
use crate::line::{Cut, Line, LnMoment, NearOne};
use crate::rounding::U;
use crate::search::golden_section;
use std::f64::consts::PI;

/// How small each neglected thing is to be, relative to δ.
pub(crate) const NEGLIGIBLE: f64 = 1e-10;

const MOST_WORK: f64 = 1e8;
/// The most nodes of the contour that one block may have.
const MOST_TERMS: f64 = 6e5;

/// The table of the contour at `saddle`, or nothing if it would cost too much (near-atomic losses, whose moments hardly
/// fall along the contour).
pub(crate) fn table(parts: &Parts, saddle: &Saddle, delta: f64) -> Option<MomentTable> {
    let mut builder = Builder::new(parts, saddle, delta)?;
    let first_t = 1.15 * (2.0 * (1.0 / NEGLIGIBLE).ln() / saddle.curvature).sqrt();
    let mut block = (0usize, (first_t / builder.step).ceil().max(8.0) as usize);
    let mut heights: Vec<f64> = vec![0.0; parts.laws.len()];
    loop {
        builder.fill(block.0, block.1, &heights)?;
        let from = builder.step * block.1 as f64;
        let enough = saddle.ln_delta - builder.ln_scale(saddle.epsilon) + NEGLIGIBLE.ln();
        // A guess of the heights will mostly do; if not, the best are searched for.
        let mut lines = builder.guessed_lines(from);
        let mut ln_rest = builder.ln_rest(from, &lines);
        if ln_rest >= enough {
            lines = builder.best_lines(from);
            ln_rest = builder.ln_rest(from, &lines);
        }
        if ln_rest < enough {
            builder.table.rest = libm::exp(ln_rest) * 1.001;
            return Some(builder.table);
        }
        heights = lines.iter().map(|(height, _)| *height).collect();
        block = (block.1, 2 * block.1);
    }
}

/// How much of each law may be cut off at either end.
pub(crate) fn tail(parts: &Parts, delta: f64) -> f64 {
    NEGLIGIBLE * delta / parts.count().max(1.0) / 4.0
}

/// −ln of the error that a moment may have, relative: it is multiplied by the number of releases, and if λ had to be
/// smaller than the saddle, the terms are larger than their sum.
fn digits(parts: &Parts, saddle: &Saddle) -> f64 {
    (8.0 * parts.count().max(1.0) / NEGLIGIBLE).ln() + (saddle.ln_peak - saddle.ln_delta).max(0.0)
}

/// Whether every law can be cut, with the contour at this saddle, where its tilted density is negligible.
pub(crate) fn fits(parts: &Parts, saddle: &Saddle, delta: f64) -> bool {
    let (tail, digits) = (tail(parts, delta), digits(parts, saddle));
    parts.laws.iter().all(|(law, _)| place_ends(law, saddle.lambda, tail, digits).is_some())
}

/// An upper bound on δ(ε) that needs no integral along the contour: e^{K(λ) − λε}·λ^λ/(1 + λ)^{1+λ}.
///
/// # Theorem (Chernoff)
/// (1 − e^{−u})₊ ≤ e^{λu}·λ^λ/(1 + λ)^{1+λ} for every u, and taking the mean at u = L − ε.
pub(crate) fn chernoff(parts: &Parts, saddle: &Saddle, delta: f64) -> Option<f64> {
    let builder = Builder::new(parts, saddle, delta)?;
    let lambda = saddle.lambda;
    let mut ln_moment = 0.5 * parts.gaussian * lambda * (lambda + 1.0);
    for (cut, (_, n)) in builder.cuts.iter().zip(&parts.laws) {
        ln_moment += n * Line::for_values(cut, 0.0, 0.0, builder.digits)?.ln_moment_at(lambda);
    }
    let ln_factor = lambda * libm::log(lambda) - (1.0 + lambda) * libm::log1p(lambda);
    let size = ln_moment.abs() + (lambda * saddle.epsilon).abs() + (lambda * libm::log(lambda)).abs();
    let rounding = 32.0 * U * (1.0 + size);
    Some(
        libm::exp(ln_moment - lambda * saddle.epsilon + ln_factor + rounding) * 1.001 + builder.table.dropped,
    )
}

struct Builder<'a> {
    parts: &'a Parts,
    cuts: Vec<Cut>,
    dropped: Vec<f64>,
    /// How the loss of each law leans on y: |Cov(y, ℓ)|/Var(y) under the tilted law.
    leans: Vec<f64>,
    digits: f64,
    step: f64,
    work: f64,
    table: MomentTable,
}

impl<'a> Builder<'a> {
    fn new(parts: &'a Parts, saddle: &Saddle, delta: f64) -> Option<Self> {
        let lambda = saddle.lambda;
        let (tail, digits) = (tail(parts, delta), digits(parts, saddle));
        let mut cuts = Vec::new();
        let mut dropped = Vec::new();
        let mut ln_moment = 0.5 * parts.gaussian * lambda * (lambda + 1.0);
        let mut ln_moment_error = 8.0 * U * ln_moment;
        for (law, n) in &parts.laws {
            let (low, high, largest) = place_ends(law, lambda, tail, digits)?;
            let mut cut = Cut::new(*law, lambda, low, high, largest);
            let moment = Line::for_values(&cut, 0.0, 0.0, digits)?.total();
            // The scale is a number we choose: only its product with the count is rounded.
            cut = cut.with_scale(cut.ln_scale() + libm::log(moment));
            if !cut.ln_scale().is_finite() {
                return None;
            }
            ln_moment += n * cut.ln_scale();
            ln_moment_error += 8.0 * U * n * cut.ln_scale().abs();
            dropped.push((law.mass_above(high) + law.mass_below(low)) * (1.0 + 1e-9));
            cuts.push(cut);
        }
        let real_lines: Option<Vec<Line>> =
            cuts.iter().map(|cut| Line::for_values(cut, 0.0, 0.0, digits)).collect();
        let real_lines = real_lines?;
        let ln_wanted = saddle.ln_delta + NEGLIGIBLE.ln();
        let beyond = beyond(parts, &real_lines, lambda);
        let window = window(lambda, saddle.epsilon, ln_wanted, &beyond);
        let step = 2.0 * PI / window;
        let table = MomentTable {
            lambda,
            step,
            window,
            ln_moment,
            ln_moment_error: 1.01 * ln_moment_error,
            terms: Vec::new(),
            error: 0.0,
            rest: 0.0,
            beyond,
            kernel: Kernel::Contour,
            dropped: dropped.iter().zip(&parts.laws).map(|(mass, (_, n))| n * mass).sum(),
        };
        let leans = real_lines.iter().map(Line::lean).collect();
        drop(real_lines);
        Some(Self { parts, cuts, dropped, leans, digits, step, work: 0.0, table })
    }

    fn ln_scale(&self, epsilon: f64) -> f64 {
        self.table.ln_moment - self.table.lambda * epsilon
    }

    /// Values of the moment for t = from·Δ … (to − 1)·Δ, on lines at the given heights.
    fn fill(&mut self, from: usize, to: usize, heights: &[f64]) -> Option<()> {
        let (first, step) = (from as f64 * self.step, self.step);
        let count = to - from;
        let most_t = to as f64 * step;
        if count as f64 > MOST_TERMS {
            return None;
        }
        let mut product = vec![LnMoment::ONE; count];
        for (at, (_, n)) in self.parts.laws.iter().enumerate() {
            let cut = self.cuts[at].clone();
            let mut take = |k: usize, moment: LnMoment| product[k].multiply(moment, *n);
            if cut.ln_scale().abs() < 0.5 {
                let unscaled = cut.with_scale(0.0);
                let line = NearOne::new(&unscaled, heights[at], most_t, self.digits)?;
                self.spend(line.nodes(), count)?;
                line.walk((first, step, count), self.dropped[at], cut.ln_scale(), &mut take);
                continue;
            }
            let line = Line::for_values(&cut, heights[at], most_t, self.digits)?;
            self.spend(line.nodes(), count)?;
            line.walk(first, step, count, &mut take);
        }
        let lambda = self.table.lambda;
        for (k, moment) in product.into_iter().enumerate() {
            let t = first + step * k as f64;
            let s2 = self.parts.gaussian;
            let ln_size = moment.ln_size - 0.5 * s2 * t * t;
            let angle = moment.angle + 0.5 * s2 * t * (2.0 * lambda + 1.0);
            let error = moment.error + 8.0 * U * s2 * t * (t + 2.0 * lambda + 1.0);
            self.table.push(t, ln_size, angle, error, if t == 0.0 { 1.0 } else { 2.0 });
        }
        Some(())
    }

    fn spend(&mut self, nodes: usize, count: usize) -> Option<()> {
        self.work += nodes as f64 * count as f64;
        (self.work <= MOST_WORK).then_some(())
    }

    /// For each law the height at which the phase of φ(y + iα) turns against that of e^{itℓ} (nearly normal losses have
    /// their least bound there), and the bound on the rest of the t axis.
    fn guessed_lines(&self, from: f64) -> Vec<(f64, f64)> {
        let line = |(cut, lean): (&Cut, &f64)| {
            let height = (from * lean).clamp(1e-4 * most_height(cut), most_height(cut));
            (height, rest_at(cut, height, from, self.digits))
        };
        self.cuts.iter().zip(&self.leans).map(line).collect()
    }

    /// For each law the height that bounds the rest of the t axis best, and that bound.
    fn best_lines(&self, from: f64) -> Vec<(f64, f64)> {
        self.cuts.iter().map(|cut| best_height(cut, from, self.digits)).collect()
    }

    /// ln of a bound on the sum of all further terms, in units of the scale.
    ///
    /// # Lemma (end of the sum)
    /// For t ≥ `from` each |M(λ+it)| is at most its bound at `from`, and |z(z+1)| ≥ t², so the terms after `from` add up
    /// to at most Δ/π·Σ 1/t_k² ≤ (1/π)(1/from + Δ/from²) times the product of those bounds.
    fn ln_rest(&self, from: f64, lines: &[(f64, f64)]) -> f64 {
        let moments: f64 =
            lines.iter().zip(&self.parts.laws).map(|((_, bound), (_, n))| n * libm::log(*bound)).sum();
        let gaussian = -0.5 * self.parts.gaussian * from * from;
        moments + gaussian + libm::log((1.0 / from + self.step / (from * from)) / PI)
    }
}

/// Where the law is cut, and the logarithm of its largest tilted density: beyond the ends there is at most `tail` of it,
/// and the tilted density there is e^{−digits} of the largest. Nothing if that cannot be had: at this λ the density
/// rises again, towards losses too rare to matter.
fn place_ends(law: &Law, lambda: f64, tail: f64, digits: f64) -> Option<(f64, f64, f64)> {
    let kappa = law.kappa(lambda);
    let mut high = end_of(|y| law.mass_above(y), tail);
    let mut low = -end_of(|y| law.mass_below(-y), tail);
    let nodes = ((high - low) / 0.25) as usize;
    let largest =
        (0..=nodes).map(|j| law.ln_tilted(low + 0.25 * j as f64, kappa)).fold(f64::NEG_INFINITY, f64::max);
    let wanted = largest - digits - 3.0;
    if !wanted.is_finite() {
        return None;
    }
    let mut here = law.ln_tilted(high, kappa);
    while here > wanted {
        let next = law.ln_tilted(high + 0.25, kappa);
        if next >= here {
            return None;
        }
        (high, here) = (high + 0.25, next);
    }
    let mut here = law.ln_tilted(low, kappa);
    while here > wanted {
        let next = law.ln_tilted(low - 0.25, kappa);
        if next >= here {
            return None;
        }
        (low, here) = (low - 0.25, next);
    }
    Some((low, high, largest))
}

/// The height in (0, π/4s] with the least bound on the rest of the t axis, and that bound.
fn best_height(cut: &Cut, from: f64, digits: f64) -> (f64, f64) {
    let most = most_height(cut);
    let rest = |ln_height: f64| rest_at(cut, libm::exp(ln_height), from, digits);
    let best = golden_section(rest, (most * 1e-4).ln(), most.ln(), 8);
    let top = rest(most.ln());
    if top < best.1 { (most, top) } else { (best.0.exp(), best.1) }
}

fn most_height(cut: &Cut) -> f64 {
    (0.25 * PI / cut.law.slope).min(3.0)
}

fn rest_at(cut: &Cut, height: f64, from: f64, digits: f64) -> f64 {
    Line::for_rest(cut, height, digits - 10.0).map_or(f64::INFINITY, |line| line.rest(from))
}

/// Upper bounds on ln M(λ′) for a few λ′ > λ, for the step's error.
fn beyond(parts: &Parts, lines: &[Line], lambda: f64) -> Vec<(f64, f64)> {
    let at = |factor: f64| {
        let further = lambda * factor;
        let gaussian = 0.5 * parts.gaussian * further * (further + 1.0);
        let sampled: f64 =
            lines.iter().zip(&parts.laws).map(|(line, (_, n))| n * line.ln_moment_at(further)).sum();
        (further, gaussian * (1.0 + 8.0 * U) + sampled + 4.0 * U * sampled.abs())
    };
    [1.02, 1.06, 1.15, 1.3, 1.6, 2.0, 3.0]
        .iter()
        .map(|factor| at(*factor))
        .filter(|(_, ln)| ln.is_finite())
        .collect()
}

/// The window W = 2π/Δ that makes the step's error e^`ln_wanted`.
fn window(lambda: f64, epsilon: f64, ln_wanted: f64, beyond: &[(f64, f64)]) -> f64 {
    let below = (0.7 - ln_wanted) / lambda;
    let above = beyond
        .iter()
        .map(|(further, ln)| {
            (ln - further * epsilon - libm::log1p(*further) + 0.7 - ln_wanted) / (further - lambda)
        })
        .fold(f64::INFINITY, f64::min);
    below.max(above)
}
