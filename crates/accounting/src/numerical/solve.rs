//! From a table of the contour to bounds on δ at an ε, and on ε at a δ, for one direction of adjacency.

use super::closed;
use super::contour;
use super::lattice;
use super::moment_table::Delta;
use super::parts::Parts;
use super::saddle::{Cumulants, LARGEST, Saddle, end_of};
use crate::law::{Direction, Law};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    pub lower: f64,
    /// It is at most this: the value to quote.
    pub upper: f64,
}

impl Bounds {
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        Self { lower: self.lower.max(other.lower), upper: self.upper.min(other.upper) }
    }

    pub fn width(&self) -> f64 {
        self.upper - self.lower
    }
}

/// Where the contour for ε goes if δ(ε) is about `delta`: the saddle, or as near to it as the laws allow.
fn place(parts: &Parts, epsilon: f64, delta: f64) -> Option<Saddle> {
    let cumulants = Cumulants::new(parts, contour::tail(parts, delta));
    let best = cumulants.for_epsilon(epsilon);
    let mut lambda = best.lambda;
    if lambda >= LARGEST {
        // Beyond every loss: there is no saddle.
        return None;
    }
    for _ in 0..60 {
        let saddle = Saddle { ln_delta: libm::log(delta), ..cumulants.moved(epsilon, lambda) };
        if contour::fits(parts, &saddle, delta) {
            return Some(saddle);
        }
        if saddle.ln_peak - saddle.ln_delta > MOST_CANCELLED {
            return None;
        }
        lambda *= 0.9;
    }
    None
}

/// ln of how much larger than their sum the terms may be: beyond it nothing would be left of 53 binary digits.
const MOST_CANCELLED: f64 = 28.0;

/// Bounds on δ(ε) in this direction, if the contour can give them.
pub(crate) fn delta_at(parts: &Parts, epsilon: f64) -> Option<Bounds> {
    let mut delta = libm::exp(Cumulants::new(parts, 1e-30).for_epsilon(epsilon).ln_delta).clamp(1e-200, 1.0);
    for _ in 0..4 {
        let saddle = place(parts, epsilon, delta)?;
        let at = contour::table(parts, &saddle, delta)?.delta(epsilon);
        if at.middle > 0.2 * delta || at.upper < 1e-200 {
            return Some(Bounds { lower: at.lower, upper: at.upper });
        }
        delta = at.upper.min(delta) * 0.5;
    }
    None
}

/// Bounds on ε at δ in this direction, if the contour can give them.
pub(crate) fn epsilon_at(parts: &Parts, delta: f64) -> Option<Bounds> {
    let guess = Cumulants::new(parts, 0.1 * delta / parts.count().max(1.0)).for_delta(libm::log(delta));
    let mut saddle = place(parts, guess.epsilon.max(0.0), delta)?;
    for _ in 0..6 {
        let table = contour::table(parts, &saddle, delta)?;
        let at = newton(|e| table.delta(e), saddle.epsilon, delta)?;
        // The table is meant for ε near its saddle's; far from it, make another.
        if (at - saddle.epsilon).abs() * saddle.lambda < 1.0 {
            let lower = lower_end(|e| table.delta(e), at, delta);
            return Some(Bounds { lower, upper: upper_end(|e| table.delta(e), at, delta)? });
        }
        saddle = place(parts, at, delta)?;
    }
    None
}

/// The ε at which δ(ε) is `delta`, about: Newton on ln δ, which is nearly straight.
fn newton(curve: impl Fn(f64) -> Delta, start: f64, delta: f64) -> Option<f64> {
    let mut epsilon = start;
    for _ in 0..60 {
        let at = curve(epsilon);
        if !(at.middle > 0.0 && at.slope > 0.0) {
            return None;
        }
        let steepness = at.slope / at.middle;
        let ln_miss = (at.middle / delta).ln();
        epsilon = (epsilon + ln_miss.clamp(-20.0, 20.0) / steepness).max(0.0);
        if ln_miss.abs() < 1e-13 || (epsilon == 0.0 && ln_miss < 0.0) {
            break;
        }
    }
    epsilon.is_finite().then_some(epsilon)
}

/// The least ε of a walk from `start` at which δ(ε) ≤ `delta` is proven.
fn upper_end(curve: impl Fn(f64) -> Delta, start: f64, delta: f64) -> Option<f64> {
    let mut least = 4.0 * f64::EPSILON * start.abs();
    let mut epsilon = start;
    for _ in 0..100 {
        let at = curve(epsilon);
        if at.upper <= delta {
            return Some(epsilon);
        }
        epsilon += (1.05 * (at.upper - delta) / at.slope.max(1e-3 * delta)).max(least);
        least *= 2.0;
        if !epsilon.is_finite() {
            break;
        }
    }
    None
}

/// The largest ε of a walk down from `start` at which δ(ε) ≥ `delta` is proven; 0 if there is none.
fn lower_end(curve: impl Fn(f64) -> Delta, start: f64, delta: f64) -> f64 {
    let mut least = 4.0 * f64::EPSILON * start.abs();
    let mut epsilon = start;
    for _ in 0..100 {
        if epsilon <= 0.0 {
            break;
        }
        let at = curve(epsilon);
        if at.lower >= delta {
            return epsilon;
        }
        epsilon -= (1.05 * (delta - at.lower) / at.slope.max(1e-3 * delta)).max(least);
        least *= 2.0;
    }
    0.0
}

/// Whether δ(ε) ≤ `delta` can be proven in this direction.
pub(crate) fn is_at_most(parts: &Parts, epsilon: f64, delta: f64) -> bool {
    // Addition: the losses are bounded, and a loss beyond ε needs one of them in the far end of its law.
    let bounded = parts.gaussian == 0.0 && parts.laws.iter().all(|(law, _)| law.direction == Direction::Add);
    if bounded && epsilon >= most_loss_but_for_tails(parts, contour::tail(parts, delta)) {
        return true;
    }
    if let [(law, 1.0)] = parts.laws[..]
        && parts.gaussian == 0.0
    {
        return closed::single(&law, epsilon).upper <= delta;
    }
    let Some(saddle) = place(parts, epsilon, delta) else { return lattice_is_at_most(parts, epsilon, delta) };
    if contour::chernoff(parts, &saddle, delta).is_some_and(|bound| bound <= delta) {
        return true;
    }
    match contour::table(parts, &saddle, delta) {
        Some(table) => table.delta(epsilon).upper <= delta,
        None => lattice_is_at_most(parts, epsilon, delta),
    }
}

/// For addition: what the losses together exceed only if one of them lies in the end of its law with mass `tail`. (The
/// tails together have less than δ·1e-10.)
fn most_loss_but_for_tails(parts: &Parts, tail: f64) -> f64 {
    let one = |(law, count): &(Law, f64)| {
        let low = -end_of(|y| law.mass_below(-y), tail);
        -count * law.ln_ratio(low)
    };
    parts.laws.iter().map(one).sum::<f64>() * (1.0 + 1e-12)
}

fn lattice_is_at_most(parts: &Parts, epsilon: f64, delta: f64) -> bool {
    let cumulants = Cumulants::new(parts, contour::tail(parts, delta));
    let saddle = Saddle { epsilon, ln_delta: libm::log(delta), ..cumulants.for_epsilon(epsilon) };
    [14, 18].iter().any(|bits| {
        lattice::tables(parts, &saddle, delta, *bits)
            .is_some_and(|pair| pair.above.delta(epsilon).upper <= delta)
    })
}

pub(crate) fn lattice_delta_at(parts: &Parts, epsilon: f64) -> Option<Bounds> {
    let mut delta = libm::exp(Cumulants::new(parts, 1e-30).for_epsilon(epsilon).ln_delta).clamp(1e-200, 1.0);
    let mut best: Option<Bounds> = None;
    for bits in sizes(parts) {
        let cumulants = Cumulants::new(parts, contour::tail(parts, delta));
        let saddle = Saddle { epsilon, ln_delta: libm::log(delta), ..cumulants.for_epsilon(epsilon) };
        let Some(pair) = lattice::tables(parts, &saddle, delta, bits) else { continue };
        let upper = pair.above.delta(epsilon).upper;
        let found = Bounds { lower: pair.below.delta(epsilon).lower, upper };
        let bounds = best.map_or(found, |old: Bounds| old.and(&found));
        best = Some(bounds);
        delta = delta.min(upper.max(1e-200));
        if bounds.width() <= 1e-7 * bounds.upper {
            break;
        }
    }
    best
}

pub(crate) fn epsilon_on(curve: impl Fn(f64) -> Delta, delta: f64) -> Option<Bounds> {
    let at_zero = curve(0.0);
    if at_zero.upper <= delta {
        return Some(Bounds { lower: 0.0, upper: 0.0 });
    }
    // Between an ε that is too small and one that is not: doubling, then halving in ln ε until Newton can take over.
    let mut high = 1e-12;
    while curve(high).upper > delta {
        high *= 2.0;
        if high > 1e300 {
            return None;
        }
    }
    let mut low = if high > 1e-12 { 0.5 * high } else { 0.0 };
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if curve(middle).middle > delta {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(Bounds { lower: lower_end(&curve, low, delta), upper: upper_end(&curve, high, delta)? })
}

/// How fine the lattices are, one after the other. With next to no noise the laws are long, and fine ones would take too
/// much time.
fn sizes(parts: &Parts) -> impl Iterator<Item = u32> {
    let long = parts.laws.iter().any(|(law, _)| law.slope > 10.0);
    [14, 17, 20].into_iter().filter(move |bits| !long || *bits < 20)
}

/// Bounds on ε at δ in this direction from lattices, finer and finer until they are near enough.
pub(crate) fn lattice_epsilon_at(parts: &Parts, delta: f64) -> Option<Bounds> {
    let cumulants = Cumulants::new(parts, contour::tail(parts, delta));
    let guess = Cumulants::new(parts, 0.1 * delta / parts.count().max(1.0)).for_delta(libm::log(delta));
    let mut epsilon = guess.epsilon.max(0.0);
    let mut best: Option<Bounds> = None;
    for bits in sizes(parts) {
        let saddle = Saddle { epsilon, ln_delta: libm::log(delta), ..cumulants.for_epsilon(epsilon) };
        let Some(pair) = lattice::tables(parts, &saddle, delta, bits) else { continue };
        let start = newton(|e| pair.above.delta(e), epsilon, delta).unwrap_or(epsilon);
        let Some(upper) = upper_end(|e| pair.above.delta(e), start, delta) else { continue };
        let lower = lower_end(|e| pair.below.delta(e), upper, delta);
        epsilon = start;
        let bounds = best.map_or(Bounds { lower, upper }, |old: Bounds| old.and(&Bounds { lower, upper }));
        best = Some(bounds);
        if bounds.upper - bounds.lower <= 1e-8 * bounds.upper {
            break;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Event, History};

    /// Two proofs of the same number by different means must not contradict each other.
    #[test]
    fn contour_and_lattice_overlap() {
        let mut compared = 0;
        for (rate, noise, count, delta) in [
            (0.00028136189080513787, 3.7671116762181382, 5, 6.322762384565906e-13),
            (0.1, 1.0, 10, 1e-5),
            (0.5, 0.8, 10, 1e-5),
            (0.01, 0.8, 50, 1e-6),
            (0.02, 2.5, 20, 1e-9),
            (1e-3, 1.5, 5, 1e-9),
            (1e-4, 2.5, 2, 1e-5),
            (1e-4, 10.0, 8, 1e-9),
            (0.9, 3.0, 4, 1e-12),
            (0.3, 30.0, 3, 1e-4),
        ] {
            let history = History::new().and(Event::sampled_gaussian(rate, noise).unwrap(), count);
            let parts = Parts::of(&history, Direction::Remove);
            let (contour, lattice) = (epsilon_at(&parts, delta), lattice_epsilon_at(&parts, delta));
            let (Some(contour), Some(lattice)) = (contour, lattice) else { continue };
            assert!(
                contour.lower <= lattice.upper && lattice.lower <= contour.upper,
                "rate {rate}, noise {noise}, {count} releases, δ = {delta}: {contour:?} and {lattice:?}"
            );
            assert!(lattice.width() <= 1e-4 * lattice.upper && contour.width() <= 1e-6 * contour.upper);
            compared += 1;
        }
        assert!(compared >= 8, "only {compared} points were compared");
    }
}
