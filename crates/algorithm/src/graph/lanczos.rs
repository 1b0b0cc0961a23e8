//! The spectrum of a large network: Lanczos on I − W, orthogonal to the all-ones vector.
//!
//! Without reorthogonalisation, so memory is a few vectors. Lost orthogonality only brings copies of
//! eigenvalues already found, never false ones (Paige, 1976), and copies do not matter to the ends of the
//! spectrum. The ends are looked at each time the number of steps has grown by a third; the error of an end
//! is estimated by the residual of its approximate eigenvector and by how far it moved since the last look.
//!
//! The start is random but fixed: it has a part in every eigenspace, up to bad luck that no network is
//! built for. The number of steps is capped by arithmetic, not by a clock: the same everywhere.

use prdo_privacy::{Purpose, Secret};

use super::{Mixing, chance::unit, check::Extremes, tridiagonal::Tridiagonal};

/// Memory accesses (roughly) that may be spent: about ten seconds.
const WORK: usize = 10_000_000_000;
const LEAST_STEPS: usize = 48;
/// The gap has converged when its error is this small in proportion.
const GAP_TOLERANCE: f64 = 1e-6;
/// The far end has converged when its error is this small.
const FAR_TOLERANCE: f64 = 1e-8;
/// The same where W is known to be positive semidefinite, so that nothing depends on the far end.
const FAR_TOLERANCE_LOOSE: f64 = 1e-5;
/// What rounding leaves of a vector that should be zero.
const ROUNDING: f64 = 1e-14;

/// The ends of the spectrum of I − W on the space orthogonal to the all-ones vector, for two nodes or more.
pub(super) fn extremes(w: &Mixing) -> Extremes {
    let mut run = Lanczos::start(w);
    // Vectors that do not fit into a processor's cache make a step several times slower.
    let slow = if w.nodes() > 100_000 { 4 } else { 1 };
    let most_steps = (WORK / (slow * (w.entries() + 4 * w.nodes()))).max(LEAST_STEPS);
    // Gershgorin's discs: no eigenvalue of I − W is above this.
    let bound = (0..w.nodes()).map(|i| 2.0 * (1.0 - w.weight(i, i))).fold(0.0, f64::max);
    let far_tolerance = if bound <= 1.0 { FAR_TOLERANCE_LOOSE } else { FAR_TOLERANCE };
    let (mut look, mut before) = (32, (f64::INFINITY, 0.0));
    loop {
        let residual = run.step();
        let invariant = residual <= 10.0 * ROUNDING;
        if run.a.len() < look && !invariant {
            continue;
        }
        let mut ends = run.ends(residual);
        if invariant {
            return ends;
        }
        ends.smallest_error += 2.0 * (ends.smallest - before.0).abs();
        ends.largest_error += 2.0 * (ends.largest - before.1).abs();
        let near = ends.smallest_error <= GAP_TOLERANCE * ends.smallest + ROUNDING;
        let far = ends.largest_error <= far_tolerance;
        before = (ends.smallest, ends.largest);
        look += look / 3;
        if (near && far) || look > most_steps {
            return admit(ends, bound);
        }
    }
}

/// Takes back an estimate of an error that is too large to be believed. What is certain then: an approximate
/// eigenvalue lies inside the spectrum, so the gap is between zero and the value found, and the far end is
/// between the value found and Gershgorin's bound.
fn admit(ends: Extremes, bound: f64) -> Extremes {
    let believed = |error: f64, value: f64| error <= 0.1 * value;
    let (near, far) = (ends.smallest_error, ends.largest_error);
    Extremes {
        smallest_error: if believed(near, ends.smallest) { near } else { ends.smallest },
        largest_error: if believed(far, ends.largest) { far } else { (bound - ends.largest).max(0.0) },
        ..ends
    }
}

struct Lanczos<'a> {
    w: &'a Mixing,
    /// The newest unit vector, the one before it, and room for the next.
    v: Vec<f64>,
    before: Vec<f64>,
    next: Vec<f64>,
    /// Diagonal and off-diagonal of the tridiagonal matrix so far; `b` is as long as `a` after a step.
    a: Vec<f64>,
    b: Vec<f64>,
}

impl<'a> Lanczos<'a> {
    fn start(w: &'a Mixing) -> Self {
        let n = w.nodes();
        let mut stream = Secret::from_seed(0).stream(Purpose::Graph, u32::MAX, 0);
        let mut v: Vec<f64> = (0..n).map(|_| 2.0 * unit(&mut stream) - 1.0).collect();
        centre(&mut v);
        let norm = dot(&v, &v).sqrt();
        v.iter_mut().for_each(|x| *x /= norm);
        Self { w, v, before: vec![0.0; n], next: vec![0.0; n], a: Vec::new(), b: Vec::new() }
    }

    /// One more row of the tridiagonal matrix; gives the length of what is left of the next vector.
    fn step(&mut self) -> f64 {
        self.w.laplacian(&self.v, &mut self.next);
        let b = self.b.last().copied().unwrap_or(0.0);
        self.next.iter_mut().zip(&self.before).for_each(|(x, y)| *x -= b * y);
        let a = dot(&self.v, &self.next);
        self.next.iter_mut().zip(&self.v).for_each(|(x, y)| *x -= a * y);
        centre(&mut self.next);
        let left = dot(&self.next, &self.next).sqrt();
        let scale = if left > 0.0 { 1.0 / left } else { 0.0 };
        self.next.iter_mut().for_each(|x| *x *= scale);
        self.a.push(a);
        self.b.push(left);
        std::mem::swap(&mut self.before, &mut self.v);
        std::mem::swap(&mut self.v, &mut self.next);
        left
    }

    /// Both ends of the spectrum so far, with the residual norms of their approximate eigenvectors: an
    /// eigenvalue of I − W lies within that of each.
    fn ends(&self, residual: f64) -> Extremes {
        let k = self.a.len();
        let t = Tridiagonal { a: &self.a, b: &self.b[..k - 1] };
        let (low, smallest) = t.eigenvalue(0);
        let (largest, high) = t.eigenvalue(k - 1);
        let negated: Vec<f64> = self.a.iter().map(|a| -a).collect();
        let mirrored = Tridiagonal { a: &negated, b: t.b };
        Extremes {
            smallest: smallest.max(0.0),
            smallest_error: residual * t.last_component_of_smallest(low) + ROUNDING / 10.0,
            largest,
            largest_error: residual * mirrored.last_component_of_smallest(-high) + ROUNDING / 10.0,
        }
    }
}

/// Takes away the part along the all-ones vector.
fn centre(x: &mut [f64]) {
    let chunks = x.chunks_exact(4);
    let rest: f64 = chunks.remainder().iter().sum();
    let lanes = chunks.fold([0.0; 4], |sum, x| std::array::from_fn(|lane| sum[lane] + x[lane]));
    let mean = (lanes.iter().sum::<f64>() + rest) / x.len() as f64;
    x.iter_mut().for_each(|value| *value -= mean);
}

/// In four running sums: several times faster than one, and more exact.
fn dot(x: &[f64], y: &[f64]) -> f64 {
    let (xs, ys) = (x.chunks_exact(4), y.chunks_exact(4));
    let rest: f64 = xs.remainder().iter().zip(ys.remainder()).map(|(x, y)| x * y).sum();
    let lanes = xs
        .zip(ys)
        .fold([0.0; 4], |sum: [f64; 4], (x, y)| std::array::from_fn(|lane| sum[lane] + x[lane] * y[lane]));
    lanes.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::super::{Graph, Weights, dense};
    use super::*;

    fn assert_same(w: &Mixing, what: &str) {
        let (exact, found) = (dense::extremes(w), extremes(w));
        let (near, far) = (found.smallest - exact.smallest, found.largest - exact.largest);
        assert!(
            near.abs() < 1e-11 && near.abs() <= found.smallest_error + 1e-13,
            "{what} {exact:?} {found:?}"
        );
        assert!(far.abs() < 1e-9 && far.abs() <= found.largest_error + 1e-13, "{what} {exact:?} {found:?}");
    }

    #[test]
    fn agrees_with_the_dense_solver() {
        for (seed, nodes) in [(1, 599), (2, 640), (3, 700)] {
            let graph = Graph::erdos_renyi(nodes, 0.015, seed).unwrap();
            assert_same(&Mixing::new(&graph, Weights::Metropolis, false).unwrap(), "erdos-renyi");
            let graph = Graph::random_regular(nodes, 4, seed).unwrap();
            assert_same(&Mixing::new(&graph, Weights::MaxDegree, true).unwrap(), "random-regular");
        }
    }

    /// Few distinct eigenvalues, or fewer nodes than steps: the recurrence comes to its end early.
    #[test]
    fn survives_an_invariant_space() {
        for graph in
            [Graph::path(2), Graph::path(3), Graph::complete(50), Graph::star(40), Graph::hypercube(64)]
        {
            assert_same(&Mixing::new(&graph.unwrap(), Weights::Metropolis, false).unwrap(), "invariant");
        }
    }

    /// Two dense halves and one thin edge: an eigenvalue far from all others, next to the kernel.
    #[test]
    fn finds_a_bottleneck() {
        let clique = |from: usize| (from..from + 60).flat_map(move |i| (from..i).map(move |j| (i, j)));
        let graph = Graph::from_edges(120, clique(0).chain(clique(60)).chain([(0, 60)])).unwrap();
        assert_same(&Mixing::new(&graph, Weights::Metropolis, true).unwrap(), "bottleneck");
    }

    #[test]
    fn used_up_work_is_admitted() {
        let w = Mixing::new(&Graph::ring(2000).unwrap(), Weights::Paper, false).unwrap();
        let mut run = Lanczos::start(&w);
        let residual = (0..40).fold(0.0, |_, _| run.step());
        let ends = admit(run.ends(residual), 1.0);
        let gap = (std::f64::consts::PI / 2000.0).sin().powi(2);
        assert_eq!(ends.smallest, ends.smallest_error);
        assert!(0.0 < gap && gap < ends.smallest, "{ends:?}");
        assert!((ends.largest - 1.0).abs() <= ends.largest_error, "{ends:?}");
    }
}
