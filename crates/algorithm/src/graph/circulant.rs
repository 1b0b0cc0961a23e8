//! Rings, exponential graphs and all other circulant matrices: every row is the first one, shifted. Their
//! eigenvalues are known in closed form, at any size.

use super::Mixing;
use super::check::Extremes;

/// Beyond this many terms the closed form costs more than it saves (dense circulants are not slow to converge).
const MOST_TERMS: usize = 50_000_000;

/// The ends of the spectrum of I − W on the space orthogonal to the all-ones vector; `None` where W is not
/// circulant. With row weights w_o at offsets o, the eigenvalues are Σ_o w_o(1 − cos(2πko/n)) for k = 1 … n−1,
/// here as 2w_o·sin²(πko/n), which keeps the digits of tiny gaps.
pub(super) fn extremes(w: &Mixing) -> Option<Extremes> {
    let n = w.nodes();
    let offsets = offsets(w, 0);
    if n.saturating_mul(offsets.len()) > MOST_TERMS || (1..n).any(|i| self::offsets(w, i) != offsets) {
        return None;
    }
    let eigenvalue = |k: usize| -> f64 {
        let term = |(offset, weight): &(usize, f64)| {
            // The angle as a share of π, reduced exactly to at most a half.
            let share = (k as u128 * *offset as u128 % n as u128) as usize;
            let share = share.min(n - share) as f64 / n as f64;
            2.0 * weight * (std::f64::consts::PI * share).sin().powi(2)
        };
        offsets.iter().map(term).sum()
    };
    // Symmetric: k and n − k give the same eigenvalue.
    let (smallest, largest) = (1..=n / 2)
        .map(eigenvalue)
        .fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), e| (low.min(e), high.max(e)));
    let rounding = |e: f64| 1e-14 * e * offsets.len() as f64;
    Some(Extremes { smallest, smallest_error: rounding(smallest), largest, largest_error: rounding(largest) })
}

/// Row i as (offset from the diagonal, weight), ascending, the diagonal and zeros left out.
fn offsets(w: &Mixing, i: usize) -> Vec<(usize, f64)> {
    let n = w.nodes();
    let entries = w.row_entries(i).filter(|(j, weight)| *j != i && *weight != 0.0);
    let mut offsets: Vec<(usize, f64)> = entries.map(|(j, weight)| ((j + n - i) % n, weight)).collect();
    offsets.sort_by_key(|(offset, _)| *offset);
    offsets
}

#[cfg(test)]
mod tests {
    use super::super::{Graph, Weights, dense};
    use super::*;

    #[test]
    fn agrees_with_the_dense_solver_and_declines_what_is_not_circulant() {
        let graphs = [
            Graph::ring(31),
            Graph::ring(64),
            Graph::exponential(40),
            Graph::exponential(37),
            Graph::complete(9),
        ];
        for graph in graphs {
            for lazy in [false, true] {
                let w = Mixing::new(&graph.clone().unwrap(), Weights::Metropolis, lazy).unwrap();
                let (closed, solved) = (extremes(&w).unwrap(), dense::extremes(&w));
                assert!((closed.smallest - solved.smallest).abs() < 1e-12);
                assert!((closed.largest - solved.largest).abs() < 1e-12);
            }
        }
        for graph in [Graph::path(10), Graph::star(6), Graph::hypercube(16), Graph::torus(3, 5)] {
            let w = Mixing::new(&graph.unwrap(), Weights::Metropolis, true).unwrap();
            assert!(extremes(&w).is_none());
        }
    }

    #[test]
    fn a_ring_of_a_million_keeps_the_digits_of_its_gap() {
        let w = Mixing::new(&Graph::ring(1_000_000).unwrap(), Weights::Paper, false).unwrap();
        let gap = extremes(&w).unwrap().smallest;
        let expected = (std::f64::consts::PI / 1e6).sin().powi(2);
        assert!((gap / expected - 1.0).abs() < 1e-12, "{gap:e} against {expected:e}");
    }
}
