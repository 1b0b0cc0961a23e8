//! Where to put the contour, the panels and their ends, in `f64`.
//!
//! Nothing here enters a result: any λ > 0 and any fine enough panels give the same integral, and what a plan
//! costs in accuracy is measured afterwards. The plan does not see the accountant under test either: it starts
//! from δ.

use std::f64::consts::PI;

/// Adding a record or removing one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Direction {
    Remove,
    Add,
}

/// `count` releases with this rate and noise multiplier.
#[derive(Clone, Copy, Debug)]
pub struct Releases {
    pub rate: f64,
    pub noise: f64,
    pub count: u64,
}

/// How fine: errors of about e^−nats with this many nodes per panel.
#[derive(Clone, Copy)]
pub struct Goal {
    pub nats: f64,
    pub nodes: u64,
    /// λ over the saddle's, so that two goals have two contours.
    pub contour: f64,
}

pub struct ContourPlan {
    pub lambda: f64,
    pub in_t: Vec<(f64, f64)>,
    /// For every kind of release.
    pub in_x: Vec<Vec<(f64, f64)>>,
}

impl ContourPlan {
    /// The last panel's end in t.
    pub fn end(&self) -> f64 {
        self.in_t.last().unwrap().1
    }

    /// How many terms the sums have.
    pub fn work(&self, goal: Goal) -> u64 {
        let panels: usize = self.in_x.iter().map(Vec::len).sum();
        panels as u64 * self.in_t.len() as u64 * goal.nodes * goal.nodes
    }
}

impl Releases {
    /// ln r(x + iy) on the branch that is real for y = 0, which the cuts up and down from the zeros of r bound.
    fn ln_ratio(&self, x: f64, y: f64) -> (f64, f64) {
        let scale = self.noise * self.noise;
        let (a, angle) = ((2.0 * x - 1.0) / (2.0 * scale) + (self.rate / (1.0 - self.rate)).ln(), y / scale);
        let base = (-self.rate).ln_1p();
        let (small, sign) = if a < 0.0 { (a.exp(), 1.0) } else { ((-a).exp(), -1.0) };
        let (re, im) = (small * angle.cos(), sign * small * angle.sin());
        let modulus = 0.5 * (2.0 * re + small * small).ln_1p();
        let (more_re, more_im) = if a < 0.0 { (0.0, 0.0) } else { (a, angle) };
        (base + modulus + more_re, im.atan2(1.0 + re) + more_im)
    }

    /// The zero of r next to the real line.
    fn zero(&self) -> (f64, f64) {
        let scale = self.noise * self.noise;
        (0.5 + scale * ((1.0 - self.rate) / self.rate).ln(), PI * scale)
    }

    /// The power of r in the moment at λ, and the sign of its phase.
    fn powers(direction: Direction, lambda: f64) -> (f64, f64) {
        match direction {
            Direction::Remove => (1.0 + lambda, 1.0),
            Direction::Add => (-lambda, -1.0),
        }
    }

    /// ln |φ r^power| without φ's constant, at a real x.
    fn ln_weight(&self, power: f64, x: f64) -> f64 {
        power * self.ln_ratio(x, 0.0).0 - x * x / (2.0 * self.noise * self.noise)
    }

    /// An interval outside of which the weight is below e^−nats of its largest value, and that value.
    fn range(&self, power: f64, nats: f64) -> (f64, f64, f64) {
        // The weight's slope is zero where x = power·p(x), p = q·e^{…}/r increasing from 0 to 1: iterating from
        // either end finds the outermost such points.
        let p = |x: f64| {
            let scale = self.noise * self.noise;
            1.0 / (1.0 + ((1.0 - 2.0 * x) / (2.0 * scale)).exp() * (1.0 - self.rate) / self.rate)
        };
        let outermost = |mut x: f64| {
            for _ in 0..400 {
                let next = power * p(x);
                if (next - x).abs() < 1e-3 * self.noise {
                    break;
                }
                x = next;
            }
            x
        };
        let (mut low, mut high) = if power > 0.0 {
            (outermost(0.0), outermost(power))
        } else {
            let top = concave_top(power, p);
            (top, top)
        };
        let (left, right) = (self.ln_weight(power, low), self.ln_weight(power, high));
        let peak = left.max(right);
        // A hump that does not matter is left out.
        if left < peak - nats {
            low = high;
        } else if right < peak - nats {
            high = low;
        }
        let step = self.noise / 8.0;
        while self.ln_weight(power, low) > peak - nats {
            low -= step;
        }
        while self.ln_weight(power, high) > peak - nats {
            high += step;
        }
        (low, high, peak)
    }

    /// ln |M(λ + it)|, by a plain sum.
    fn ln_moment(&self, direction: Direction, lambda: f64, t: f64) -> f64 {
        let (power, sign) = Self::powers(direction, lambda);
        let (low, high, peak) = self.range(power, 34.0);
        let step = (self.noise / 6.0).min(self.noise * self.noise / 4.0);
        let count = ((high - low) / step).ceil().min(4e5);
        let (mut re, mut im) = (0.0, 0.0);
        for k in 0..=count as u64 {
            let x = low + (high - low) * k as f64 / count;
            let (l, _) = self.ln_ratio(x, 0.0);
            let ln_weight = power * l - x * x / (2.0 * self.noise * self.noise) - peak;
            if ln_weight < -40.0 {
                continue;
            }
            let weight = ln_weight.exp();
            re += weight * (sign * t * l).cos();
            im += weight * (sign * t * l).sin();
        }
        let constant = ((high - low) / count / (self.noise * (2.0 * PI).sqrt())).ln();
        0.5 * (re * re + im * im).ln() + peak + constant
    }

    /// Panels in x: each as wide as keeps Gauss's error below e^−nats/T of the moment for all t up to `most`.
    pub fn panels(&self, direction: Direction, lambda: f64, most: f64, goal: Goal) -> Vec<(f64, f64)> {
        let (power, sign) = Self::powers(direction, lambda);
        let nats = goal.nats + (self.count as f64).ln() + 6.0;
        let (low, high, peak) = self.range(power, nats);
        let small = |x: f64, y: f64, gain: f64| {
            let (l, angle) = self.ln_ratio(x, y);
            let gauss = (y * y - x * x) / (2.0 * self.noise * self.noise);
            // Both signs of y are on the ellipse; the worse one counts.
            let growth = (sign * most * angle).abs();
            gauss + power * l + growth - gain < peak - nats
        };
        let fits = |a: f64, b: f64| {
            let largest = 0.95 * ellipse_through(a, b, self.zero());
            let allowed = ellipses(goal.nodes).filter(|(rho, _)| *rho < largest);
            allowed.into_iter().any(|(rho, gain)| ellipse(a, b, rho).all(|(x, y)| small(x, y, gain)))
        };
        let mut panels = Vec::new();
        let mut left = low;
        while left < high {
            let width = widest(|w| fits(left, left + w), high - left);
            panels.push((left, left + width));
            left += width;
            if panels.len() > 4000 {
                break;
            }
        }
        panels
    }
}

/// The x with x = power·p(x) for a negative power, by halving.
fn concave_top(power: f64, p: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (power, 0.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if middle < power * p(middle) { low = middle } else { high = middle }
    }
    low
}

/// The sums ρ of the semi-axes of ellipses to try, and ln ρ^{2n}: Gauss's rule with n nodes errs by that factor
/// less than the largest value on the ellipse.
fn ellipses(nodes: u64) -> impl Iterator<Item = (f64, f64)> {
    (0..16).map(move |k| {
        let rho = 1.5 * 1.2_f64.powi(k);
        (rho, 2.0 * nodes as f64 * rho.ln())
    })
}

/// Points on the upper half of the ellipse with foci a and b.
fn ellipse(a: f64, b: f64, rho: f64) -> impl Iterator<Item = (f64, f64)> {
    let (middle, half) = (0.5 * (a + b), 0.5 * (b - a));
    let (wide, tall) = (0.5 * half * (rho + 1.0 / rho), 0.5 * half * (rho - 1.0 / rho));
    (0..=32).map(move |k| {
        let angle = PI * f64::from(k) / 32.0;
        (middle + wide * angle.cos(), tall * angle.sin())
    })
}

/// The ρ of the ellipse with foci a and b through a point.
fn ellipse_through(a: f64, b: f64, (x, y): (f64, f64)) -> f64 {
    let sum = ((x - a).hypot(y) + (x - b).hypot(y)) / (b - a);
    sum + (sum * sum - 1.0).max(0.0).sqrt()
}

/// The largest width up to `most` that fits (to a few percent), where smaller ones fit too.
fn widest(fits: impl Fn(f64) -> bool, most: f64) -> f64 {
    if fits(most) {
        return most;
    }
    let mut width = most;
    while !fits(width) && width > most * 1e-9 {
        width *= 0.5;
    }
    let (mut low, mut high) = (width, 2.0 * width);
    for _ in 0..5 {
        let middle = 0.5 * (low + high);
        if fits(middle) { low = middle } else { high = middle }
    }
    low
}

fn ln_moments(kinds: &[Releases], direction: Direction, lambda: f64, t: f64) -> f64 {
    kinds.iter().map(|kind| kind.count as f64 * kind.ln_moment(direction, lambda, t)).sum()
}

/// The slope and curvature of ln M at λ, by differences over a step that suits T releases.
fn slopes(kinds: &[Releases], direction: Direction, lambda: f64) -> (f64, f64, f64) {
    let value = ln_moments(kinds, direction, lambda, 0.0);
    let step = 0.02 * lambda;
    let (below, above) =
        (ln_moments(kinds, direction, lambda - step, 0.0), ln_moments(kinds, direction, lambda + step, 0.0));
    (value, (above - below) / (2.0 * step), ((above - value) - (value - below)) / (step * step))
}

/// The saddle's λ at the ε where δ(ε) is about `delta` (by the saddle point's own approximation), and that ε;
/// the λ of ε = 0 when δ(0) is smaller.
pub fn saddle_of_delta(kinds: &[Releases], delta: f64) -> (f64, f64) {
    let at = |ln_lambda: f64| {
        let lambda = f64::exp(ln_lambda);
        let (value, slope, curvature) = slopes(kinds, Direction::Remove, lambda);
        let epsilon = slope - 1.0 / lambda - 1.0 / (1.0 + lambda);
        let width = curvature.max(0.0) + 1.0 / (lambda * lambda) + 1.0 / ((1.0 + lambda) * (1.0 + lambda));
        let ln_delta =
            value - lambda * epsilon - (lambda * (1.0 + lambda)).ln() - 0.5 * (2.0 * PI * width).ln();
        (epsilon, ln_delta)
    };
    // ε grows with λ, and δ falls with it.
    let (mut low, mut high) = (-16.0, 26.0);
    for _ in 0..36 {
        let middle = 0.5 * (low + high);
        let (epsilon, ln_delta) = at(middle);
        if epsilon < 0.0 || ln_delta > delta.ln() { low = middle } else { high = middle }
    }
    (low.exp(), at(low).0.max(0.0))
}

/// The saddle's λ at ε.
pub fn saddle_of_epsilon(kinds: &[Releases], direction: Direction, epsilon: f64) -> f64 {
    let (mut low, mut high) = (-16.0_f64, 26.0_f64);
    for _ in 0..36 {
        let middle = 0.5 * (low + high);
        let lambda = middle.exp();
        let slope = slopes(kinds, direction, lambda).1;
        if slope - 1.0 / lambda - 1.0 / (1.0 + lambda) < epsilon { low = middle } else { high = middle }
    }
    low.exp()
}

/// The least λ of a few for which Chernoff's bound on δ(ε) seems to be below `delta`.
pub fn chernoff_lambda(kinds: &[Releases], direction: Direction, epsilon: f64, delta: f64) -> Option<f64> {
    let lambdas = (0..36).map(|k| 1e-3 * 2.0_f64.powi(k));
    let ln_bound = |lambda: f64| {
        let factor = -lambda * (1.0 / lambda).ln_1p() - lambda.ln_1p();
        ln_moments(kinds, direction, lambda, 0.0) - lambda * epsilon + factor
    };
    lambdas.into_iter().find(|lambda| ln_bound(*lambda) < delta.ln() - 0.1)
}

/// Far more than `most` terms; also, sums in `f64` do not resolve the moment at such t.
const MOST_PANELS: f64 = 3000.0;

/// A contour through λ, up to t = `end`, with panels of width 2·`half` where the poles allow it.
struct Sketch {
    lambda: f64,
    nats: f64,
    end: f64,
    half: f64,
}

/// Panels for a contour at or left of the saddle for ε, or nothing when they would be more than `most` terms.
///
/// Left of the saddle the integrand cancels a little, but often a second hump of the tilted law (λ ≈ 2σ² ln 1/q) is
/// just right of the saddle, and panels have to be small against the distance to it.
pub fn plan(
    kinds: &[Releases],
    direction: Direction,
    saddle: f64,
    epsilon: f64,
    goal: Goal,
    most: u64,
) -> Option<ContourPlan> {
    let law = Law { kinds, direction, epsilon };
    let best = law.ln_integrand(saddle);
    let sketches = [1.0, 0.8, 0.6, 0.45, 0.3, 0.2, 0.1].iter().filter_map(|share| {
        let lambda = share * saddle * goal.contour;
        let cancelled = (law.ln_integrand(lambda) - best).max(0.0);
        law.sketch(lambda, Goal { nats: goal.nats + cancelled, ..goal })
    });
    let sketch = sketches.min_by(|a, b| (a.end / a.half).total_cmp(&(b.end / b.half)))?;
    let goal = Goal { nats: sketch.nats, ..goal };
    let in_t = panels_in_t(sketch.lambda, sketch.half, sketch.end);
    let in_x = kinds.iter().map(|kind| kind.panels(direction, sketch.lambda, sketch.end, goal)).collect();
    let plan = ContourPlan { lambda: sketch.lambda, in_t, in_x };
    (plan.work(goal) <= most).then_some(plan)
}

struct Law<'a> {
    kinds: &'a [Releases],
    direction: Direction,
    epsilon: f64,
}

impl Law<'_> {
    fn ln_moment(&self, lambda: f64, t: f64) -> f64 {
        ln_moments(self.kinds, self.direction, lambda, t)
    }

    fn ln_integrand(&self, lambda: f64) -> f64 {
        self.ln_moment(lambda, 0.0) - lambda * self.epsilon - (lambda * (1.0 + lambda)).ln()
    }

    fn sketch(&self, lambda: f64, goal: Goal) -> Option<Sketch> {
        let at_zero = self.ln_moment(lambda, 0.0);
        let half = self.half_width(lambda, at_zero, goal);
        let end = self.end(lambda, at_zero, goal.nats, MOST_PANELS * half)?;
        Some(Sketch { lambda, nats: goal.nats, end, half })
    }

    /// The t beyond which the integrand is below e^−nats of its value at 0, if that is at most `limit`.
    fn end(&self, lambda: f64, at_zero: f64, nats: f64, limit: f64) -> Option<f64> {
        let size = |t: f64| {
            let poles = (1.0 + (t / lambda).powi(2)).ln() + (1.0 + (t / (1.0 + lambda)).powi(2)).ln();
            // The last term is the length of what is left out.
            self.ln_moment(lambda, t) - at_zero - 0.5 * poles + (1.0 + t / lambda).ln()
        };
        let mut t = 0.5 * lambda;
        while size(t) > -nats {
            t *= 1.25;
            if t > limit {
                return None;
            }
        }
        Some(t)
    }

    /// Half the width of panels in t that keeps Gauss's error small, the poles apart: off the contour by b the
    /// integrand is at most what it is at λ ± b.
    fn half_width(&self, lambda: f64, at_zero: f64, goal: Goal) -> f64 {
        let growth = |b: f64| {
            let at = |shift: f64| self.ln_moment(lambda + shift, 0.0) - at_zero - shift * self.epsilon;
            at(b).max(at(-b))
        };
        let widths = ellipses(goal.nodes).step_by(2).map(|(rho, gain)| {
            let (mut low, mut high) = ((1e-4 * lambda).ln(), (1e4 * lambda + 1e4).ln());
            for _ in 0..12 {
                let middle = 0.5 * (low + high);
                if growth(middle.exp()) < gain - goal.nats - 6.0 { low = middle } else { high = middle }
            }
            low.exp() * 2.0 / (rho - 1.0 / rho)
        });
        widths.fold(0.0, f64::max)
    }
}

/// Panels from 0 to `end`, narrower near the pole at z = 0. Widths are multiples of a power of two, so that equal
/// ones are equal and ends are exact.
fn panels_in_t(lambda: f64, half: f64, end: f64) -> Vec<(f64, f64)> {
    let unit = f64::powi(2.0, half.min(lambda).log2().floor() as i32 - 6);
    let mut panels = Vec::new();
    let mut left = 0.0_f64;
    while left < end {
        let width = (2.0 * half).min(0.9 * left.hypot(lambda));
        let width = (width / unit).floor() * unit;
        panels.push((left, left + width));
        left += width;
    }
    panels
}
