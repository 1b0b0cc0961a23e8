//! The numerical accountant: proven lower and upper bounds on ε and δ, ten digits apart or less, in about a tenth of a
//! millisecond.
//!
//! # The theorem behind it
//! For add/remove adjacency and Poisson sampling, a release is worst when its query moves by its full sensitivity, and
//! the pair (φ_σ·r, φ_σ) with r(x) = 1 − q + q·e^{(2x−1)/2σ²}, taken in one order for removal and in the other for
//! addition, dominates it; dominating pairs compose adaptively (Zhu, Dong, Wang 2022, Theorems 10 and 11). So
//!
//! ```text
//! δ(ε) = max over both orders of E(1 − e^{ε−L})₊,   L = the sum of the releases' privacy losses
//! ```
//!
//! is exact for the worst case, and everything here is about computing that expectation with proof:
//!
//! | case | how | file |
//! |---|---|---|
//! | rate 1, or one release | closed forms | `closed.rs` |
//! | otherwise | contour integral of the moments at the saddle point | `contour.rs`, `line.rs` |
//! | nearly atomic losses (few releases, tiny rates) | loss on a lattice, from above and from below | `lattice.rs` |
//!
//! Each error is a lemma next to the code that bounds it: where a law is cut (`contour.rs`), the step in x (`line.rs`),
//! the step in t (`table.rs`), the end of the t axis (`line.rs`, `contour.rs`), the lattice (`lattice.rs`), rounding
//! (`rounding.rs`, `law.rs`, `line.rs`, `fft.rs`).
//!
//! # Guarantee
//! The answers of [`epsilon`] and [`delta`] are true bounds for the history under add/remove adjacency if the arithmetic
//! is as `rounding.rs` assumes. The interval is then widened by a relative [`MARGIN`], more than any of the errors it
//! is made of, so that a surprise in a library function cannot turn a bound into a wrong one.

pub(crate) mod closed;
pub(crate) mod contour;
pub(crate) mod fft;
pub(crate) mod lattice;
pub(crate) mod moment_table;
pub(crate) mod parts;
pub(crate) mod saddle;
pub(crate) mod solve;

use crate::error::{AccountingError, require};
use crate::event::{Event, History};
use crate::law::{Direction, Law};
use crate::renyi;
use parts::Parts;
pub use solve::Bounds;

/// How much wider than proven the interval for ε is made, relative.
pub const MARGIN: f64 = 5e-9;

/// Above this relative width the contour's answer is compared with the lattice's.
const WIDE: f64 = 1e-6;

/// Bounds on the ε of a history at δ.
///
/// # Guarantee
/// The releases together are (`upper`, δ)-differentially private, and they are not (ε, δ)-differentially private in the
/// worst case for any ε < `lower`. A history with an event that is not private has ε = ∞; an empty one has ε = 0.
pub fn epsilon(history: &History, delta: f64) -> Result<Bounds, AccountingError> {
    require("delta", delta, "above 0 and below 1", |d| d > 0.0 && d < 1.0)?;
    if let Some(bounds) = trivial(history) {
        return Ok(bounds);
    }
    if total_variation(history) <= delta {
        return Ok(Bounds { lower: 0.0, upper: 0.0 });
    }
    let remove = Parts::of(history, Direction::Remove);
    let bounds = match closed_curve(&remove) {
        Some(curve) => solve::epsilon_on(curve, delta),
        None => integrated_epsilon(&remove, delta),
    };
    let bounds = with_addition(history, bounds.unwrap_or(Bounds { lower: 0.0, upper: f64::INFINITY }), delta);
    // What the integrals could not settle, the simpler bounds may.
    let bounds = if bounds.upper.is_finite() && bounds.width() <= 1e-3 * bounds.upper {
        bounds
    } else {
        bounds.and(&last_resort(history, delta))
    };
    Ok(widen(bounds))
}

/// Bounds on the δ of a history at ε.
///
/// # Guarantee
/// The releases together are (ε, `upper`)-differentially private, and they are not (ε, δ)-differentially private in the
/// worst case for any δ < `lower`.
pub fn delta(history: &History, epsilon: f64) -> Result<Bounds, AccountingError> {
    require("epsilon", epsilon, "at least 0", |e| e >= 0.0)?;
    if let Some(bounds) = trivial(history) {
        return Ok(Bounds { lower: bounds.lower.min(1.0), upper: bounds.upper.min(1.0) });
    }
    let remove = delta_in(&Parts::of(history, Direction::Remove), history, epsilon);
    let parts = Parts::of(history, Direction::Add);
    // Gaussian losses are the same in both directions; elsewhere addition usually costs less.
    let add = if parts.laws.is_empty() || solve::is_at_most(&parts, epsilon, remove.upper) {
        Bounds { lower: 0.0, upper: 0.0 }
    } else {
        delta_in(&parts, history, epsilon)
    };
    let slack = 1e-8;
    Ok(Bounds {
        lower: (remove.lower.max(add.lower) * (1.0 - slack)).max(0.0),
        upper: (remove.upper.max(add.upper) * (1.0 + slack)).min(1.0),
    })
}

pub fn curve(history: &History, deltas: &[f64]) -> Result<Vec<Bounds>, AccountingError> {
    deltas.iter().map(|delta| epsilon(history, *delta)).collect()
}

/// A bound on δ(0): the distance in total variation, q·(2Φ(1/2σ) − 1) for one release, adds up at most.
fn total_variation(history: &History) -> f64 {
    let one = |(event, n): &(Event, u64)| {
        let half = 0.5 / event.noise_multiplier();
        *n as f64 * event.rate() * libm::erf(half * std::f64::consts::FRAC_1_SQRT_2)
    };
    history.entries().iter().map(one).sum::<f64>() * (1.0 + 1e-9)
}

/// ε to about a percent, proving nothing: for choosing where to begin a search.
pub(crate) fn estimate(history: &History, delta: f64) -> f64 {
    if let Some(bounds) = trivial(history) {
        return bounds.upper;
    }
    let parts = Parts::of(history, Direction::Remove);
    let cumulants = saddle::Cumulants::new(&parts, 0.1 * delta / parts.count().max(1.0));
    cumulants.for_delta(libm::log(delta)).epsilon.max(0.0)
}

/// The answers that need no computing.
fn trivial(history: &History) -> Option<Bounds> {
    if !history.is_private() {
        return Some(Bounds { lower: f64::INFINITY, upper: f64::INFINITY });
    }
    history.is_empty().then_some(Bounds { lower: 0.0, upper: 0.0 })
}

/// δ(ε) in closed form, where there is one.
fn closed_curve(parts: &Parts) -> Option<Box<dyn Fn(f64) -> moment_table::Delta>> {
    let (gaussian, laws) = (parts.gaussian, &parts.laws);
    match laws[..] {
        [] => Some(Box::new(move |epsilon| closed::gaussian(gaussian, epsilon))),
        [(law, 1.0)] if gaussian == 0.0 => Some(Box::new(move |epsilon| closed::single(&law, epsilon))),
        _ => None,
    }
}

/// ε of a composition in one direction: by the contour, and by the lattice where that is not tight.
fn integrated_epsilon(parts: &Parts, delta: f64) -> Option<Bounds> {
    let contour = solve::epsilon_at(parts, delta);
    match contour {
        Some(bounds) if bounds.width() <= (WIDE * bounds.upper).max(1e-12) => Some(bounds),
        Some(bounds) => {
            Some(solve::lattice_epsilon_at(parts, delta).map_or(bounds, |lattice| lattice.and(&bounds)))
        }
        None => solve::lattice_epsilon_at(parts, delta),
    }
}

/// The bounds for removal, raised where addition costs more.
fn with_addition(history: &History, bounds: Bounds, delta: f64) -> Bounds {
    let parts = Parts::of(history, Direction::Add);
    // Gaussian losses are the same in both directions.
    if parts.laws.is_empty() || solve::is_at_most(&parts, bounds.upper, delta) {
        return bounds;
    }
    let add = match closed_curve(&parts) {
        Some(curve) => solve::epsilon_on(curve, delta),
        None => integrated_epsilon(&parts, delta),
    };
    match add {
        Some(add) => Bounds { lower: bounds.lower.max(add.lower), upper: bounds.upper.max(add.upper) },
        None => Bounds { upper: f64::INFINITY, ..bounds },
    }
}

fn delta_in(parts: &Parts, history: &History, epsilon: f64) -> Bounds {
    if let Some(curve) = closed_curve(parts) {
        let at = curve(epsilon);
        return Bounds { lower: at.lower, upper: at.upper };
    }
    let contour = solve::delta_at(parts, epsilon);
    match contour {
        Some(bounds) if bounds.width() <= 1e-6 * bounds.upper => bounds,
        _ => {
            let everything = Bounds { lower: 0.0, upper: renyi::delta(history, epsilon) };
            let lattice = solve::lattice_delta_at(parts, epsilon).unwrap_or(everything);
            contour.unwrap_or(everything).and(&lattice)
        }
    }
}

/// Where no integral can be had: from above the Rényi bound and the cost without sampling, from below the costliest
/// single release.
fn last_resort(history: &History, delta: f64) -> Bounds {
    // Sampling only helps: without it the closed form holds.
    let variance: f64 =
        history.entries().iter().map(|(event, n)| *n as f64 / event.noise_multiplier().powi(2)).sum();
    let unsampled = solve::epsilon_on(|epsilon| closed::gaussian(variance * (1.0 + 1e-12), epsilon), delta);
    let upper = renyi::epsilon(history, delta).min(unsampled.map_or(f64::INFINITY, |bounds| bounds.upper));
    let single = |(event, _): &(Event, u64)| {
        let law =
            Law { rate: event.rate(), slope: 1.0 / event.noise_multiplier(), direction: Direction::Remove };
        solve::epsilon_on(|epsilon| closed::single(&law, epsilon), delta).map_or(0.0, |bounds| bounds.lower)
    };
    let sampled = history.entries().iter().filter(|(event, _)| event.rate() < 1.0);
    Bounds { lower: sampled.map(single).fold(0.0, f64::max).min(upper), upper }
}

fn widen(bounds: Bounds) -> Bounds {
    Bounds { lower: bounds.lower * (1.0 - MARGIN), upper: bounds.upper * (1.0 + MARGIN) }
}
