//! The numerical accountant against δ(ε) in 50 digits, computed by other quadratures.
//!
//! Every comparison is between numbers of that length; `f64` only draws points and chooses contours and panels.

mod closed;
mod contour;
mod fixed;
mod functions;
mod pair;
mod plan;
pub mod real;

use chacha20::ChaCha20Rng;
use contour::{Integral, Measured, Tools};
use plan::{Direction, Releases, chernoff_lambda, saddle_of_delta, saddle_of_epsilon};
use prdo_accounting::{Bounds, Event, History, numerical};
use rand::{RngExt, SeedableRng};
use real::{Real, abs, approximately, exact, int};

const DRAWS: usize = 50;
/// Relative, of our own values.
const LARGEST_ERROR: f64 = 1e-20;
/// [0, ∞) contains every ε: some share of the intervals must have at most this relative width.
const NARROW: f64 = 1e-6;

fn history(kinds: &[Releases]) -> History {
    kinds.iter().fold(History::new(), |history, kind| {
        history.and(Event::sampled_gaussian(kind.rate, kind.noise).unwrap(), kind.count)
    })
}

/// How δ(ε) of some releases can be had in 50 digits.
enum Oracle<'a> {
    Unsampled(&'a [Releases]),
    Single(&'a Releases),
    Pair(&'a Releases, &'a Releases),
    Contour(&'a Tools, &'a [Releases], Integral<'a>),
}

impl<'a> Oracle<'a> {
    /// Nothing if the integral is too much work: the law is too close to one with atoms.
    fn new(tools: &'a Tools, kinds: &'a [Releases], delta: f64) -> Option<Self> {
        if kinds.iter().all(|kind| kind.rate == 1.0) {
            return Some(Self::Unsampled(kinds));
        }
        match kinds {
            [only] if only.count == 1 => Some(Self::Single(only)),
            [only] if only.count == 2 => Some(Self::Pair(only, only)),
            [one, other] if one.count == 1 && other.count == 1 => Some(Self::Pair(one, other)),
            _ => {
                let (lambda, epsilon) = saddle_of_delta(kinds, delta);
                let integral = tools.integral(kinds, Direction::Remove, lambda, epsilon)?;
                Some(Self::Contour(tools, kinds, integral))
            }
        }
    }

    fn remove(&self, epsilon: &Real) -> Measured {
        match self {
            Self::Unsampled(kinds) => Measured::closed(closed::unsampled(kinds, epsilon)),
            Self::Single(kind) => Measured::closed(closed::single(kind, Direction::Remove, epsilon)),
            Self::Pair(one, other) => pair::pair(one, other, Direction::Remove, epsilon),
            Self::Contour(_, _, integral) => integral.delta(epsilon),
        }
    }

    /// δ(ε) when a record is added; any bound below `enough` will do. Nothing if it is too much work.
    fn add(&self, epsilon: &Real, enough: &Real) -> Option<Measured> {
        match self {
            Self::Unsampled(kinds) => Some(Measured::closed(closed::unsampled(kinds, epsilon))),
            Self::Single(kind) => Some(Measured::closed(closed::single(kind, Direction::Add, epsilon))),
            Self::Pair(one, other) => Some(pair::pair(one, other, Direction::Add, epsilon)),
            Self::Contour(tools, kinds, _) => {
                if *epsilon >= largest_loss(kinds) {
                    return Some(Measured::closed(int(0)));
                }
                let near = approximately(epsilon);
                let lambda = chernoff_lambda(kinds, Direction::Add, near, approximately(enough));
                let bound = lambda.map(|lambda| tools.chernoff(kinds, Direction::Add, lambda, epsilon));
                if let Some(bound) = bound.filter(|bound| bound < enough) {
                    return Some(Measured::closed(bound));
                }
                let lambda = saddle_of_epsilon(kinds, Direction::Add, near);
                Some(tools.integral(kinds, Direction::Add, lambda, near)?.delta(epsilon))
            }
        }
    }
}

/// −Σ T ln(1 − q), which no loss exceeds when a record is added.
fn largest_loss(kinds: &[Releases]) -> Real {
    kinds.iter().fold(int(0), |sum, kind| sum - int(kind.count) * (int(1) - exact(kind.rate)).ln())
}

/// What a checked point was like.
struct Checked {
    relative_width: f64,
    largest_error: f64,
    adding_is_worse: bool,
}

/// lower ≤ ε(δ) ≤ upper, that is δ(lower) ≥ δ ≥ δ(upper), and the accountant's own δ(upper) contains ours.
fn check(tools: &Tools, kinds: &[Releases], delta: f64) -> Option<Checked> {
    let oracle = Oracle::new(tools, kinds, delta)?;
    let history = history(kinds);
    let Bounds { lower, upper } = numerical::epsilon(&history, delta).unwrap();
    assert!(
        0.0 <= lower && lower <= upper && upper.is_finite(),
        "{kinds:?}, δ = {delta:e}: [{lower}, {upper}]"
    );
    let (target, at) = (exact(delta), exact(upper));
    let removed = oracle.remove(&at);
    let added = oracle.add(&at, &removed.value)?;
    let mut largest_error = error_of(kinds, &removed, &target).max(error_of(kinds, &added, &target));
    for (direction, value) in [(Direction::Remove, &removed), (Direction::Add, &added)] {
        let least = &value.value - &value.error;
        let shown = approximately(&least);
        assert!(least <= target, "{kinds:?}, δ = {delta:e}: {direction:?} gives {shown:e} at ε = {upper:?}");
    }
    if lower > 0.0 {
        let value = worst_at_least(&oracle, &exact(lower), &target)?;
        largest_error = largest_error.max(error_of(kinds, &value, &target));
        let most = &value.value + &value.error;
        let shown = approximately(&most);
        assert!(most >= target, "{kinds:?}, δ = {delta:e}: only {shown:e} at ε = {lower:?}");
    }
    check_delta(&history, upper, if added.value > removed.value { &added } else { &removed });
    let relative_width = if upper > 0.0 { (upper - lower) / upper } else { 0.0 };
    // At ε = 0 both are equal, and far above ε(δ) both are nothing but our errors.
    let noticeable = &removed.value + &target * exact(LARGEST_ERROR);
    let adding_is_worse = &added.value - &added.error > noticeable;
    Some(Checked { relative_width, largest_error, adding_is_worse })
}

/// The larger of both directions, or the first that reaches `target`.
fn worst_at_least(oracle: &Oracle, epsilon: &Real, target: &Real) -> Option<Measured> {
    let removed = oracle.remove(epsilon);
    if removed.value >= *target {
        return Some(removed);
    }
    let added = oracle.add(epsilon, &removed.value)?;
    Some(if added.value > removed.value { added } else { removed })
}

/// Our own error relative to the value or to δ, whichever is larger: far above ε(δ) only δ matters.
fn error_of(kinds: &[Releases], value: &Measured, delta: &Real) -> f64 {
    let scale = if value.value > *delta { &value.value } else { delta };
    let error = &value.error / scale;
    let shown = approximately(&error);
    assert!(
        error < exact(LARGEST_ERROR),
        "{kinds:?}: our own value is uncertain by {shown:e}; is ε far off?"
    );
    shown
}

fn check_delta(history: &History, epsilon: f64, ours: &Measured) {
    let Bounds { lower, upper } = numerical::delta(history, epsilon).unwrap();
    let (least, most) = (&ours.value - &ours.error, &ours.value + &ours.error);
    let shown = approximately(&ours.value);
    assert!(exact(lower) <= most, "{history:?}, ε = {epsilon:?}: not δ ≥ {lower:e}, but {shown:e}");
    assert!(exact(upper) >= least, "{history:?}, ε = {epsilon:?}: not δ ≤ {upper:e}, but {shown:e}");
}

struct Draws(ChaCha20Rng);

impl Draws {
    fn new(seed: u64) -> Self {
        Self(ChaCha20Rng::seed_from_u64(seed))
    }

    fn log_uniform(&mut self, low: f64, high: f64) -> f64 {
        let share: f64 = self.0.random();
        (low.ln() + share * (high / low).ln()).exp().clamp(low, high)
    }

    fn kind(&mut self) -> Releases {
        let (rate, noise) = (self.log_uniform(1e-6, 1.0), self.log_uniform(0.3, 100.0));
        Releases { rate, noise, count: self.log_uniform(1.0, 1e7) as u64 }
    }

    fn delta(&mut self) -> f64 {
        self.log_uniform(1e-15, 1e-2)
    }
}

/// Checks `wanted` points; says how many draws were replaced and how narrow the intervals were.
fn check_draws(wanted: usize, share: f64, mut draw: impl FnMut() -> (Vec<Releases>, f64)) {
    let tools = Tools::new();
    let (mut checked, mut replaced) = (Vec::new(), 0);
    while checked.len() < wanted {
        let (kinds, delta) = draw();
        let start = std::time::Instant::now();
        match check(&tools, &kinds, delta) {
            Some(point) => {
                let add = if point.adding_is_worse { ", adding is worse" } else { "" };
                let width = point.relative_width;
                println!("{kinds:?} δ {delta:.1e}: width {width:.1e}{add} ({:.2?})", start.elapsed());
                checked.push(point);
            }
            None => {
                println!("{kinds:?} δ {delta:.1e}: replaced ({:.2?})", start.elapsed());
                replaced += 1;
            }
        }
    }
    let error = checked.iter().map(|point| point.largest_error).fold(0.0, f64::max);
    let narrow = checked.iter().filter(|point| point.relative_width <= NARROW).count();
    println!("{wanted} points, {replaced} draws replaced, own error at most {error:.0e}, {narrow} narrow");
    assert!(narrow as f64 >= share * wanted as f64, "only {narrow} of {wanted} intervals are narrow");
}

#[test]
#[ignore = "slow: run by .ci/run"]
fn random_points() {
    let mut draws = Draws::new(20_260_801);
    check_draws(DRAWS, 0.8, || (vec![draws.kind()], draws.delta()));
}

#[test]
fn random_points_with_two_kinds_of_release() {
    let mut draws = Draws::new(20_260_802);
    check_draws(6, 0.6, || (vec![draws.kind(), draws.kind()], draws.delta()));
}

#[test]
fn one_release_two_releases_and_releases_without_sampling() {
    let mut draws = Draws::new(20_260_803);
    let mut turn = 0;
    check_draws(12, 0.5, || {
        let (kind, other) = (draws.kind(), draws.kind());
        turn += 1;
        let kinds = match turn % 6 {
            0 | 1 => vec![Releases { count: 1, ..kind }],
            2 | 3 => vec![Releases { rate: 1.0, ..kind }],
            4 => vec![Releases { count: 2, ..kind }],
            _ => vec![Releases { count: 1, ..kind }, Releases { count: 1, ..other }],
        };
        (kinds, draws.delta())
    });
}

/// The two integrals have nothing in common but the answer.
#[test]
fn contour_and_convolution_agree() {
    let tools = Tools::new();
    let kind = |rate: f64, noise: f64, count: u64| Releases { rate, noise, count };
    let points = [
        (vec![kind(0.2, 20.0, 2)], 0.02),
        (vec![kind(0.9, 3.0, 2)], 0.7),
        (vec![kind(0.3, 9.0, 1), kind(0.6, 12.0, 1)], 0.2),
    ];
    for (kinds, epsilon) in points {
        for direction in [Direction::Remove, Direction::Add] {
            let lambda = saddle_of_epsilon(&kinds, direction, epsilon);
            let contour = tools.integral(&kinds, direction, lambda, epsilon).unwrap().delta(&exact(epsilon));
            let convolved = pair::pair(&kinds[0], kinds.last().unwrap(), direction, &exact(epsilon));
            let difference = abs(&(&contour.value / &convolved.value - int(1)));
            let (value, shown) = (approximately(&convolved.value), approximately(&difference));
            println!("{kinds:?} {direction:?}: δ = {value:e}, relative difference {shown:.0e}");
            assert!(difference < exact(LARGEST_ERROR));
        }
    }
}

/// The reference file's ε has nine digits: δ at it must be the file's δ to what nine digits allow.
#[test]
fn the_oracle_agrees_with_the_reference_file() {
    let tools = Tools::new();
    let mut agreed = 0;
    for line in include_str!("../../fixtures/accounting.csv").lines().skip(1) {
        let v: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        let kinds = [Releases { rate: v[0], noise: v[1], count: v[2] as u64 }];
        let Some(oracle) = Oracle::new(&tools, &kinds, v[3]).filter(|_| v[7] == 1.0) else { continue };
        let (low, high) = (exact(v[4]), exact(v[5]));
        assert!(
            oracle.remove(&low).value >= exact(v[3]) && oracle.remove(&high).value <= exact(v[3]),
            "{line}"
        );
        agreed += 1;
    }
    assert!(agreed >= 18, "{agreed}");
}
