//! The numerical accountant against a simulation of the privacy loss itself.
//!
//! Losses of single releases are drawn and added up; δ(ε) is the mean of (1 − e^{ε−L})_+. Small δ are reached by
//! drawing from laws tilted towards large losses, with the exact ratio of the two densities as weight. No moment, no
//! integral over a contour, no grid of losses: nothing in common with the accountant but the model.

use chacha20::ChaCha20Rng;
use prdo_accounting::{Bounds, Event, History, numerical};
use rand::{RngExt, SeedableRng};
use std::f64::consts::PI;

/// 99.99 % of a normal law are within so many deviations.
const DEVIATIONS: f64 = 3.8906;
/// The test has teeth: no estimate may be less certain than this, relatively.
const WIDEST: f64 = 0.02;
/// The noise that the negative control pretends, relatively.
const WRONG_NOISE: [f64; 2] = [0.95, 1.05];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Direction {
    Remove,
    Add,
}
use Direction::{Add, Remove};

/// `count` releases with this rate and noise multiplier.
#[derive(Clone, Copy, Debug)]
struct Kind {
    rate: f64,
    noise: f64,
    count: u64,
}

const fn kind(rate: f64, noise: f64, count: u64) -> Kind {
    Kind { rate, noise, count }
}

struct Case {
    kinds: &'static [Kind],
    direction: Direction,
    epsilon: f64,
}

const fn case(kinds: &'static [Kind], direction: Direction, epsilon: f64) -> Case {
    Case { kinds, direction, epsilon }
}

/// From δ ≈ 0.2 to 1e-12. The accountant bounds the worse direction; where adding is simulated, both are equal
/// (no sampling, or ε = 0) or within a small part of the interval's width (rate near 1).
const CASES: [Case; 10] = [
    case(&[kind(0.01, 0.7, 1)], Remove, 2.0),
    case(&[kind(0.2, 1.0, 2)], Remove, 4.0),
    case(&[kind(0.05, 0.8, 10)], Remove, 6.0),
    case(&[kind(0.1, 2.0, 40)], Remove, 0.8),
    case(&[kind(0.05, 2.0, 150)], Remove, 1.6),
    case(&[kind(0.5, 6.0, 60)], Remove, 4.5),
    case(&[kind(0.4, 1.5, 1), kind(0.05, 1.5, 30)], Remove, 4.0),
    case(&[kind(0.3, 3.0, 5), kind(1.0, 4.0, 5)], Add, 0.0),
    case(&[kind(1.0, 5.0, 20)], Add, 4.0),
    case(&[kind(0.999, 30.0, 50)], Add, 1.0),
];

impl Kind {
    /// ln r(x), r = 1 − q + q·e^{(2x−1)/2σ²}: the loss when a record is removed.
    fn ln_ratio(&self, x: f64) -> f64 {
        let exponent = (2.0 * x - 1.0) / (2.0 * self.noise * self.noise);
        if exponent > 500.0 {
            // e^exponent would overflow; 1 − q is nothing beside it.
            return self.rate.ln() + exponent;
        }
        (self.rate * exponent.exp_m1()).ln_1p()
    }

    fn loss(&self, direction: Direction, x: f64) -> f64 {
        if direction == Remove { self.ln_ratio(x) } else { -self.ln_ratio(x) }
    }

    /// The logarithm of the density that x has: a mixture with the record, a normal law without.
    fn ln_density(&self, direction: Direction, x: f64) -> f64 {
        let scaled = x / self.noise;
        let normal = -0.5 * scaled * scaled - (self.noise * (2.0 * PI).sqrt()).ln();
        if direction == Remove { normal + self.ln_ratio(x) } else { normal }
    }
}

/// A law near the tilted one, density·e^{λ·loss}: intervals of equal probability, uniform inside. Whatever the
/// intervals are, `draw` knows its own density exactly.
struct Proposal {
    kind: Kind,
    direction: Direction,
    edges: Vec<f64>,
    ln_densities: Vec<f64>,
}

const INTERVALS: usize = 1 << 16;
const GRID: usize = 1 << 15;

impl Proposal {
    fn new(kind: Kind, direction: Direction, lambda: f64) -> Self {
        let tilted = Tilted { kind, direction, lambda };
        let (low, high) = tilted.range();
        let edges = quantiles(low, high, |x| tilted.ln_weight(x));
        let density = |pair: &[f64]| -((pair[1] - pair[0]) * INTERVALS as f64).ln();
        let ln_densities = edges.windows(2).map(density).collect();
        Self { kind, direction, edges, ln_densities }
    }

    /// A loss and the logarithm of (its true density)/(the density it was drawn with).
    fn draw(&self, rng: &mut ChaCha20Rng) -> (f64, f64) {
        let place = rng.random::<f64>() * INTERVALS as f64;
        let at = place as usize;
        let x = self.edges[at] + (place - at as f64) * (self.edges[at + 1] - self.edges[at]);
        let ratio = self.kind.ln_ratio(x);
        let scaled = x / self.kind.noise;
        let normal = -0.5 * scaled * scaled - (self.kind.noise * (2.0 * PI).sqrt()).ln();
        let (loss, density) =
            if self.direction == Remove { (ratio, normal + ratio) } else { (-ratio, normal) };
        (loss, density - self.ln_densities[at])
    }
}

struct Tilted {
    kind: Kind,
    direction: Direction,
    lambda: f64,
}

impl Tilted {
    fn ln_weight(&self, x: f64) -> f64 {
        self.kind.ln_density(self.direction, x) + self.lambda * self.kind.loss(self.direction, x)
    }

    /// Where the weight is not below e^−40 of its largest value: what is cut off is far below the estimates' errors.
    fn range(&self) -> (f64, f64) {
        let reach = 12.0 * self.kind.noise;
        // Tilting moves the mean to at most 1 + λ, or to at least −λ.
        let (low, high) = match self.direction {
            Remove => (-reach, 1.0 + self.lambda + reach),
            Add => (-self.lambda - reach, reach),
        };
        let x = |k: usize| low + (high - low) * k as f64 / GRID as f64;
        let weights: Vec<f64> = (0..=GRID).map(|k| self.ln_weight(x(k))).collect();
        let least = weights.iter().copied().fold(f64::NEG_INFINITY, f64::max) - 40.0;
        let first = weights.iter().position(|w| *w > least).unwrap();
        let last = weights.iter().rposition(|w| *w > least).unwrap();
        (x(first), x(last))
    }

    /// The mean loss and the logarithm of the total weight.
    fn moments(&self) -> (f64, f64) {
        let (low, high) = self.range();
        let step = (high - low) / 2000.0;
        let (mut total, mut mean) = (0.0, 0.0);
        for k in 0..=2000 {
            let x = low + step * f64::from(k);
            let weight = self.ln_weight(x).exp();
            total += weight;
            mean += weight * self.kind.loss(self.direction, x);
        }
        (mean / total, (total * step).ln())
    }
}

/// The ends of intervals of equal probability under e^{ln_weight} on [low, high].
fn quantiles(low: f64, high: f64, ln_weight: impl Fn(f64) -> f64) -> Vec<f64> {
    let width = (high - low) / GRID as f64;
    let weights: Vec<f64> = (0..GRID).map(|k| ln_weight(low + (k as f64 + 0.5) * width).exp()).collect();
    let total: f64 = weights.iter().sum();
    let mut edges = vec![low];
    let (mut cell, mut before) = (0, 0.0);
    for k in 1..INTERVALS {
        let wanted = total * k as f64 / INTERVALS as f64;
        while cell + 1 < GRID && before + weights[cell] < wanted {
            before += weights[cell];
            cell += 1;
        }
        edges.push(low + width * (cell as f64 + ((wanted - before) / weights[cell]).clamp(0.0, 1.0)));
    }
    edges.push(high);
    edges
}

impl Case {
    fn releases(&self) -> u64 {
        self.kinds.iter().map(|kind| kind.count).sum()
    }

    /// The λ for which tilted losses have their mean a little above ε, where most of δ(ε) comes from.
    fn lambda(&self) -> f64 {
        let (mut low, mut high) = (1e-3_f64.ln(), 1e3_f64.ln());
        for _ in 0..40 {
            let lambda = f64::exp(0.5 * (low + high));
            let mean = |kind: &Kind| {
                let tilted = Tilted { kind: *kind, direction: self.direction, lambda };
                kind.count as f64 * tilted.moments().0
            };
            let total: f64 = self.kinds.iter().map(mean).sum();
            let wanted = self.epsilon + 1.0 / lambda + 1.0 / (1.0 + lambda);
            if total < wanted { low = lambda.ln() } else { high = lambda.ln() }
        }
        low.exp()
    }

    fn simulate(&self, seed: u64) -> Estimate {
        let lambda = self.lambda();
        let proposals: Vec<(Proposal, u64)> = self
            .kinds
            .iter()
            .map(|kind| (Proposal::new(*kind, self.direction, lambda), kind.count))
            .collect();
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let samples = (20_000_000 / self.releases()).clamp(250_000, 4_000_000);
        let mut estimate = Estimate::default();
        for _ in 0..samples {
            estimate.add(self.sample(&proposals, &mut rng));
        }
        estimate
    }

    /// One draw of all releases: weight·(1 − e^{ε−L})_+.
    fn sample(&self, proposals: &[(Proposal, u64)], rng: &mut ChaCha20Rng) -> f64 {
        let (mut loss, mut ln_weight) = (0.0, 0.0);
        for (proposal, count) in proposals {
            for _ in 0..*count {
                let (one, weight) = proposal.draw(rng);
                loss += one;
                ln_weight += weight;
            }
        }
        if loss > self.epsilon { -(self.epsilon - loss).exp_m1() * ln_weight.exp() } else { 0.0 }
    }

    /// What the accountant says, with all noise multiplied by `noise`.
    fn bounds(&self, noise: f64) -> Bounds {
        let history = self.kinds.iter().fold(History::new(), |history, kind| {
            history.and(Event::sampled_gaussian(kind.rate, kind.noise * noise).unwrap(), kind.count)
        });
        numerical::delta(&history, self.epsilon).unwrap()
    }
}

/// Mean and variance of what was added.
#[derive(Default)]
struct Estimate {
    count: f64,
    sum: f64,
    squares: f64,
}

impl Estimate {
    fn add(&mut self, value: f64) {
        self.count += 1.0;
        self.sum += value;
        self.squares += value * value;
    }

    fn mean(&self) -> f64 {
        self.sum / self.count
    }

    /// Half the width of the confidence interval.
    fn half(&self) -> f64 {
        let variance = (self.squares / self.count - self.mean().powi(2)) * self.count / (self.count - 1.0);
        DEVIATIONS * (variance / self.count).sqrt()
    }

    fn meets(&self, bounds: &Bounds) -> bool {
        bounds.lower <= self.mean() + self.half() && bounds.upper >= self.mean() - self.half()
    }
}

#[test]
#[ignore = "slow: run by .ci/run"]
fn simulated_losses_agree_and_wrong_noise_is_noticed() {
    for (seed, case) in (1..).zip(&CASES) {
        let start = std::time::Instant::now();
        let estimate = case.simulate(seed);
        let (mean, relative) = (estimate.mean(), estimate.half() / estimate.mean());
        let bounds = case.bounds(1.0);
        let text = format!(
            "{:?} {:?} ε {}: simulated {mean:.4e} ± {:.2} %, bounds [{:.4e}, {:.4e}]",
            case.kinds,
            case.direction,
            case.epsilon,
            100.0 * relative,
            bounds.lower,
            bounds.upper
        );
        println!("{text} ({:.2?})", start.elapsed());
        assert!(relative < WIDEST, "too uncertain: {text}");
        assert!(estimate.meets(&bounds), "they do not meet: {text}");
        for noise in WRONG_NOISE {
            assert!(!estimate.meets(&case.bounds(noise)), "blind to noise·{noise}: {text}");
        }
    }
}
