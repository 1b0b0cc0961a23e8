//! The fallback for losses that are nearly atomic (few releases, tiny rates): the law of the loss on a lattice.
//!
//! The loss of one release is replaced by one on the points o + kh, once from above and once from below, and the moment
//! of that lattice law at all λ + it is one Fourier transform. Along the contour t then only runs to π/h, so nothing is
//! cut off there; the rest (step in t, windows, roots) is shared with the contour integral.
//!
//! # Lemma (above: connect the dots)
//! A pair of measures (μ, ν) with losses in a cell [L, L + h] is dominated by the pair with atoms at L and L + h of the
//! same total masses: of a = μ(cell) and x = ∫(1 − e^{L−ℓ})dμ, the part x·e^h/(e^h − 1) of μ goes to L + h, the rest
//! to L. (As a function of e^ε, δ is convex, and this is its chord; Doroshenko, Ghazi, Kamath, Kumar, Manurangsi
//! 2022.) Domination survives composition. Moving μ-mass to larger losses and adding mass only enlarge δ, so masses
//! and parts are rounded up.
//!
//! # Lemma (below: merge)
//! Forgetting which of several outcomes happened is post-processing: the pair with one atom (μ(A), ν(A)) for a set A
//! is dominated, and moving its mass to a smaller loss, or dropping mass, only lessens δ. Around each lattice point
//! the half cells on both sides are merged, and as much of the next half above is taken as brings the atom's loss
//! ln(μ(A)/ν(A)) up to the point; it is then put on the point. Both errors are of order h² a release.

use super::contour::{NEGLIGIBLE, tail};
use super::fft;
use super::moment_table::{Kernel, MomentTable};
use super::parts::Parts;
use super::saddle::{Saddle, end_of};
use crate::law::{Direction, Law};
use crate::line::LnMoment;
use crate::rounding::{INV_SQRT_2PI, U};
use std::f64::consts::PI;

/// No lattice has more points than this before it is folded.
const MOST_POINTS: f64 = 2.5e6;

/// Relative inflation (or deflation) of masses: what the two-point rule leaves out (at most 2e-13, see [`Pieces`])
/// and rounding.
const MASS_SLACK: f64 = 1e-12;
/// The same for the parts x, relative to x plus U·a/h.
const PART_SLACK: f64 = 2e-9;

pub(crate) struct Pair {
    pub above: MomentTable,
    pub below: MomentTable,
}

/// Lattice tables with 2^`bits` points in the window, or nothing if the laws do not fit.
pub(crate) fn tables(parts: &Parts, saddle: &Saddle, delta: f64, bits: u32) -> Option<Pair> {
    let n = 1usize << bits;
    let lambda = saddle.lambda;
    let window = window(parts, saddle, delta);
    let step = window / n as f64;
    let mut moments = vec![(LnMoment::ONE, LnMoment::ONE); n / 2 + 1];
    let mut shape = Shape { ln_moment: (0.0, 0.0), offset: (0.0, 0.0), dropped: 0.0, error: 0.0 };
    let mut laws = Vec::new();
    for (law, count) in &parts.laws {
        let pmf = Pmf::of(law, tail(parts, delta), step, window)?;
        let spectrum = Spectrum::of(&pmf, lambda, n)?;
        spectrum.multiply_into(&mut moments, *count);
        shape.ln_moment.0 += count * spectrum.ln_scale.0;
        shape.ln_moment.1 += count * spectrum.ln_scale.1;
        // For addition there is no lattice from below, and its scale is infinite.
        let below = if spectrum.ln_scale.1.is_finite() { spectrum.ln_scale.1.abs() } else { 0.0 };
        shape.error += 8.0 * U * count * (spectrum.ln_scale.0.abs() + below);
        shape.offset.0 += count * pmf.offset_above;
        shape.offset.1 += count * pmf.offset;
        shape.dropped += count * pmf.dropped;
        laws.push((pmf, *count));
    }
    let above = shape.table(parts, saddle, step, window, &moments, true, &laws);
    let below = shape.table(parts, saddle, step, window, &moments, false, &laws);
    Some(Pair { above, below })
}

/// A window that keeps the aliases negligible if the loss falls off like its saddle says; they are bounded afterwards.
fn window(parts: &Parts, saddle: &Saddle, delta: f64) -> f64 {
    let cumulants = super::saddle::Cumulants::new(parts, tail(parts, delta));
    let ln_wanted = saddle.ln_delta + NEGLIGIBLE.ln();
    let below = (0.7 - ln_wanted) / saddle.lambda;
    let above = FURTHER
        .iter()
        .map(|factor| {
            let further = factor * saddle.lambda;
            let k = cumulants.at(further).k;
            (k - further * saddle.epsilon - libm::log1p(further) + 1.0 - ln_wanted)
                / (further - saddle.lambda)
        })
        .fold(f64::INFINITY, f64::min);
    1.05 * below.max(above)
}

const FURTHER: [f64; 6] = [1.1, 1.25, 1.5, 2.0, 3.0, 5.0];

/// What the tables of all laws together have in common; pairs are (above, below).
struct Shape {
    ln_moment: (f64, f64),
    offset: (f64, f64),
    dropped: f64,
    error: f64,
}

impl Shape {
    #[allow(clippy::too_many_arguments)]
    fn table(
        &self,
        parts: &Parts,
        saddle: &Saddle,
        step: f64,
        window: f64,
        moments: &[(LnMoment, LnMoment)],
        above: bool,
        laws: &[(Pmf, f64)],
    ) -> MomentTable {
        let lambda = saddle.lambda;
        let pick = |pair: (f64, f64)| if above { pair.0 } else { pair.1 };
        let offset = pick(self.offset);
        let s2 = parts.gaussian;
        let gaussian = 0.5 * s2 * lambda * (lambda + 1.0);
        let ln_moment = pick(self.ln_moment) + lambda * offset + gaussian;
        let beyond = FURTHER.iter().map(|factor| {
            let further = factor * lambda;
            let sampled: f64 = laws.iter().map(|(pmf, count)| count * pmf.ln_moment(above, further)).sum();
            let total = sampled + further * offset + 0.5 * s2 * further * (further + 1.0);
            (further, total + 1e-12 * (1.0 + sampled.abs() + (further * offset).abs()))
        });
        let mut table = MomentTable {
            lambda,
            step: 2.0 * PI / window,
            window,
            ln_moment,
            ln_moment_error: self.error + 8.0 * U * (lambda * offset).abs() + 8.0 * U * gaussian,
            terms: Vec::new(),
            error: 0.0,
            rest: 0.0,
            beyond: beyond.filter(|(_, ln)| ln.is_finite()).collect(),
            dropped: if above { self.dropped } else { 0.0 },
            kernel: if s2 == 0.0 { Kernel::Lattice { step, offset } } else { Kernel::Contour },
        };
        let last = moments.len() - 1;
        for (k, pair) in moments.iter().enumerate() {
            let moment = if above { pair.0 } else { pair.1 };
            let t = 2.0 * PI * k as f64 / window;
            let ln_size = moment.ln_size - 0.5 * s2 * t * t;
            let angle = moment.angle + t * offset + 0.5 * s2 * t * (2.0 * lambda + 1.0);
            let error = moment.error + 8.0 * U * t * (offset.abs() + s2 * (t + 2.0 * lambda + 1.0));
            table.push(t, ln_size, angle, error, if k == 0 || k == last { 1.0 } else { 2.0 });
        }
        if s2 > 0.0 {
            // With a Gaussian part the sum has no lattice: the rest beyond π/h is bounded like in the contour integral.
            let from = PI / step;
            table.rest = libm::exp(-0.5 * s2 * from * from) * (1.0 / from + table.step / (from * from)) / PI;
        }
        table
    }
}

/// The masses of one law on its lattice. Point k of `above` is at `offset_above` + kh, of `below` at `offset` + kh.
struct Pmf {
    step: f64,
    offset: f64,
    offset_above: f64,
    above: Vec<f64>,
    below: Vec<f64>,
    dropped: f64,
}

/// μ(half cell) and ∫(1 − e^{L−ℓ})dμ over it, L the lattice point below.
#[derive(Clone, Copy, Debug, Default)]
struct Half {
    mass: f64,
    part: f64,
}

impl Pmf {
    fn of(law: &Law, tail: f64, step: f64, window: f64) -> Option<Self> {
        let high = end_of(|y| law.mass_above(y), tail);
        let low = -end_of(|y| law.mass_below(-y), tail);
        let dropped = (law.mass_above(high) + law.mass_below(low)) * (1.0 + 1e-9);
        let (first, last) = match law.direction {
            Direction::Remove => (law.ln_ratio(low), law.ln_ratio(high)),
            Direction::Add => (-law.ln_ratio(high), -law.ln_ratio(low)),
        };
        // Losses so small that their tilted weight is nothing are collected at the first point.
        let first = first.max(-window);
        if last <= first || (last - first) / step > MOST_POINTS {
            return None;
        }
        let points = ((last - first) / step).ceil() as usize + 2;
        let offset = match law.direction {
            Direction::Remove => Pieces { law: *law, low, high, step, offset: first }.lowest_atom() - step,
            Direction::Add => last - (points - 1) as f64 * step,
        };
        let pieces = Pieces { law: *law, low, high, step, offset };
        let halves = pieces.halves(points);
        let size = first.abs().max(last.abs());
        let shift = 16.0 * U * (size + law.rate);
        // Each weight's exponent is rounded, and a half cell is a sum of up to this many of them.
        let widest = high.max(-low);
        let terms = 2.0 * (high - low) * (widest + law.slope + 3.05) / 0.006 + 4.0 * points as f64;
        let mass_slack = MASS_SLACK
            + U * (terms.min(1e9) + 2.0 * widest * widest + 16.0 * law.slope * (widest + law.slope));
        let mut above = above(&halves, step, size, mass_slack);
        above[0] += pieces.mass_before_the_first_point();
        let below = if law.direction == Direction::Remove {
            below(&halves, step, size, mass_slack)
        } else {
            Vec::new()
        };
        Some(Self { step, offset, offset_above: offset + shift, above, below, dropped })
    }

    /// ln Σ p e^{λkh}.
    fn ln_moment(&self, above: bool, lambda: f64) -> f64 {
        let masses = if above { &self.above } else { &self.below };
        if masses.is_empty() {
            return f64::INFINITY;
        }
        let most = lambda * self.step * (masses.len() - 1) as f64;
        let factor = libm::exp(-lambda * self.step);
        // From the largest loss down, so that the powers fall.
        let (mut sum, mut power) = (0.0, 1.0);
        for mass in masses.iter().rev() {
            sum += mass * power;
            power *= factor;
        }
        // The powers are off by at most 4U a step.
        most + libm::log(sum) + 8.0 * U * masses.len() as f64 * (1.0 + lambda * self.step)
    }
}

fn above(halves: &[Half], step: f64, size: f64, mass_slack: f64) -> Vec<f64> {
    let points = halves.len() / 2;
    let split = libm::exp(step) / libm::expm1(step);
    let mut masses = vec![0.0; points + 1];
    for k in 0..points {
        let (low, high) = (halves[2 * k], halves[2 * k + 1]);
        let mass = (low.mass + high.mass) * (1.0 + mass_slack);
        let part = (low.part + high.part) * (1.0 + PART_SLACK) + 16.0 * U * (1.0 + size) * mass;
        let up = (part * split).clamp(0.0, mass);
        masses[k] += mass - up + U * mass;
        masses[k + 1] += up * (1.0 + 4.0 * U);
    }
    masses
}

fn below(halves: &[Half], step: f64, size: f64, mass_slack: f64) -> Vec<f64> {
    // The losses in the parts are rounded to a few U of their size.
    let blur = 16.0 * U * (1.0 + size);
    let points = halves.len() / 2;
    let (grow, rise) = (libm::exp(step), libm::expm1(step));
    let mut masses = vec![0.0; points + 1];
    // How much of the upper half of the cell below is still there.
    let mut left = 1.0;
    for k in 0..=points {
        let (mut mass, mut part, mut slack) = (0.0, 0.0, 0.0);
        if k > 0 {
            let half = halves[2 * k - 1];
            // Relative to this point: a − e^h(a − x).
            let part_here = half.part * grow - half.mass * rise;
            mass += left * half.mass;
            part += left * part_here;
            slack += PART_SLACK * (half.part + half.mass * rise) + blur * half.mass;
        }
        left = 1.0;
        if k < points {
            let half = halves[2 * k];
            mass += half.mass;
            part += half.part;
            slack += PART_SLACK * half.part + blur * half.mass;
            let next = halves[2 * k + 1];
            if part < slack {
                let usable = next.part * (1.0 - PART_SLACK) - blur * next.mass;
                let taken =
                    if usable > 0.0 { ((slack - part) / usable * (1.0 + 1e-12)).min(1.0) } else { 1.0 };
                mass += taken * next.mass;
                part += taken * usable.max(0.0);
                left = 1.0 - taken;
            }
        }
        let mass = mass * (1.0 - mass_slack - 16.0 * U);
        if part >= slack * (1.0 - 1e-9) {
            masses[k] += mass;
        } else if k > 0 {
            masses[k - 1] += mass;
        }
    }
    masses
}

/// The law cut into pieces at the half-lattice points and wherever they would be too wide.
///
/// # Lemma (two-point rule)
/// The Gauss–Legendre rule with two points on a piece of width d is off by at most d⁵·max|f⁗|/4320. For a mixture of
/// φ(y) and φ(y − s), |f⁗| ≤ (|y| + s + 2)⁴·f, so with d·(|y| + s + 3) ≤ 0.006 the mass of a piece is off by at most
/// 0.006⁴/4320 = 3e-13 of itself. The part's integrand is g = φ·(r − e^L), with
/// |g⁗| ≤ φ·(|y| + s + 2)³·((|y| + s + 2)(r − e^L) + 4s·q·e^w), and it is itself at least φ·s·q·e^w·(y − y_L): off by
/// at most 8·0.006³/4320 = 4e-10 of itself.
struct Pieces {
    law: Law,
    low: f64,
    high: f64,
    step: f64,
    offset: f64,
}

impl Pieces {
    fn halves(&self, points: usize) -> Vec<Half> {
        let mut halves = vec![Half::default(); 2 * points];
        let (mut from, end) = self.ends();
        for (i, half) in halves.iter_mut().enumerate() {
            let cell = self.offset + (i / 2) as f64 * self.step;
            let loss_end = cell + if i % 2 == 0 { 0.5 * self.step } else { self.step };
            let to = self.place(loss_end);
            let to = match self.law.direction {
                Direction::Remove => to.clamp(from, end),
                Direction::Add => to.clamp(end, from),
            };
            if to != from {
                self.integrate(from.min(to), from.max(to), cell, half);
            }
            from = to;
        }
        halves
    }

    /// The loss of the first half cell taken as one outcome. At low rates nearly all of the law is there: a lattice
    /// through this point loses nothing when it is merged.
    fn lowest_atom(&self) -> f64 {
        let mut half = Half::default();
        let (from, end) = self.ends();
        let to = self.place(self.offset + 0.5 * self.step).clamp(from, end);
        self.integrate(from, to, self.offset, &mut half);
        if half.mass > 0.0 { self.offset - libm::log1p(-half.part / half.mass) } else { self.offset }
    }

    /// Ends in y, in the order of growing loss, without what lies before the first point.
    fn ends(&self) -> (f64, f64) {
        let first = self.place(self.offset);
        match self.law.direction {
            Direction::Remove => (first.max(self.low), self.high),
            Direction::Add => (first.min(self.high), self.low),
        }
    }

    /// A bound on the mass with losses before the first point, but not cut off.
    fn mass_before_the_first_point(&self) -> f64 {
        match (self.law.direction, self.ends().0) {
            (Direction::Remove, from) if from > self.low => self.law.mass_below(from) * (1.0 + 1e-9),
            (Direction::Add, from) if from < self.high => self.law.mass_above(from) * (1.0 + 1e-9),
            _ => 0.0,
        }
    }

    /// The y at which the loss is `loss` (±∞ where it never is).
    fn place(&self, loss: f64) -> f64 {
        let (q, s) = (self.law.rate, self.law.slope);
        let ln_ratio = self.law.sign() * loss;
        if ln_ratio > 30.0 {
            // e^ℓ may be beyond double numbers: ln(e^ℓ − (1 − q)) directly.
            let ln_growth = ln_ratio + libm::log1p(-(1.0 - q) * libm::exp(-ln_ratio));
            return (ln_growth - libm::log(q)) / s + 0.5 * s;
        }
        // e^ℓ − (1 − q), for losses near ln(1 − q) relative to 1 − q: the place must be right in terms of the loss.
        let growth = if ln_ratio < -0.5 {
            (1.0 - q) * libm::expm1(ln_ratio - libm::log1p(-q))
        } else {
            libm::expm1(ln_ratio) + q
        };
        if growth <= 0.0 { f64::NEG_INFINITY } else { libm::log(growth / q) / s + 0.5 * s }
    }

    fn integrate(&self, from: f64, to: f64, cell: f64, half: &mut Half) {
        let mut y = from;
        while y < to {
            let width = 0.006 / (y.abs() + self.law.slope + 3.05);
            let mut next = y + width;
            if next > to || to - next < 0.01 * width {
                next = to;
            }
            let (middle, reach) = (0.5 * (y + next), 0.5 * (next - y));
            let apart = reach * 0.577_350_269_189_625_8;
            for node in [middle - apart, middle + apart] {
                let ln_ratio = self.law.ln_ratio(node);
                let exponent = -0.5 * node * node + self.law.kappa(0.0) * ln_ratio;
                let weight = reach * INV_SQRT_2PI * libm::exp(exponent);
                half.mass += weight;
                half.part += weight * -libm::expm1(cell - self.law.sign() * ln_ratio);
            }
            y = next;
        }
    }
}

/// The transform of the tilted masses, above and below.
struct Spectrum {
    re: Vec<f64>,
    im: Vec<f64>,
    ln_scale: (f64, f64),
    error: f64,
}

impl Spectrum {
    fn of(pmf: &Pmf, lambda: f64, n: usize) -> Option<Self> {
        let ln_scale = (pmf.ln_moment(true, lambda), pmf.ln_moment(false, lambda));
        if !ln_scale.0.is_finite() {
            return None;
        }
        let fold = |masses: &[f64], ln_scale: f64| {
            let mut folded = vec![0.0; n];
            for (k, mass) in masses.iter().enumerate() {
                if *mass > 0.0 {
                    folded[k % n] += mass * libm::exp(lambda * pmf.step * k as f64 - ln_scale);
                }
            }
            folded
        };
        let (mut re, mut im) = (fold(&pmf.above, ln_scale.0), fold(&pmf.below, ln_scale.1));
        fft::transform(&mut re, &mut im);
        // The exponents are off by a few U of their size; the totals are 1 up to the error of the scales.
        let most = lambda * pmf.step * pmf.above.len() as f64 + ln_scale.0.abs();
        let error = 2.1 * fft::relative_error(n) + U * (8.0 * most + 64.0);
        Some(Self { re, im, ln_scale, error })
    }

    /// Multiplies the moments at t = 2πk/W, k ≤ N/2, by this law's to the power `count`.
    fn multiply_into(&self, moments: &mut [(LnMoment, LnMoment)], count: f64) {
        let n = self.re.len();
        for (k, pair) in moments.iter_mut().enumerate() {
            let mirror = (n - k) % n;
            let (a, b, c, d) = (self.re[k], self.im[k], self.re[mirror], self.im[mirror]);
            pair.0.multiply(LnMoment::of(0.5 * (a + c), 0.5 * (b - d), self.error), count);
            pair.1.multiply(LnMoment::of(0.5 * (b + d), 0.5 * (c - a), self.error), count);
        }
    }
}
