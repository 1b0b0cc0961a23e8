//! How far the nodes' models stay apart when noise drives them: Exact Diffusion (`alg:storm-ed`), mode by mode.
//!
//! With ψ = x − αv and x⁺ = W(ψ⁺ + x − ψ), a disagreement eigenvector of W with eigenvalue λ sees
//! x_{t+1} = λ(2x_t − x_{t−1} − α(v_t − v_{t−1})). Where gradients react little (flat losses), v is noise that passed the method's
//! direction, and the mode's variance settles at α² times [`Direction::response`] times the noise's variance in that mode.
//! Curvature, which pulls the modes together, is left out: figures are for the first order in α.
//!
//! ```
//! use prdo_theory::disagreement::{Direction, deviation, lazy_ring, repeated};
//!
//! // Ten nodes on a lazy ring, independent noise of deviation 1, EDM with β = 0.8: a node is 0.53·α from the mean,
//! // and 0.18·α with three exchanges per round.
//! let modes = lazy_ring(10, [], 1.0, 0.0)?;
//! let direction = Direction::Momentum { beta: 0.8 };
//! assert!((deviation(&modes, direction)? - 0.534).abs() < 1e-3);
//! let three: Vec<_> = modes.iter().map(|mode| mode.mixed(|z| repeated(z, 3))).collect();
//! assert!((deviation(&three, direction)? - 0.181).abs() < 1e-3);
//! # Ok::<(), prdo_theory::TheoryError>(())
//! ```

use crate::error::{TheoryError, between};
use std::f64::consts::PI;

/// A disagreement mode: an eigenvector of W other than the constant one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoisyMode {
    /// Its eigenvalue of the mixing matrix (of the polynomial in W, with several exchanges): at least 0, below 1.
    pub eigenvalue: f64,
    /// uᵀΣu, the variance of a round's noise in its direction u.
    pub noise_variance: f64,
}

impl NoisyMode {
    /// The same mode when messages are mixed by a polynomial in W.
    #[must_use]
    pub fn mixed(self, polynomial: impl FnOnce(f64) -> f64) -> Self {
        Self { eigenvalue: polynomial(self.eigenvalue), ..self }
    }
}

/// What a method makes of its noisy answers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Direction {
    /// ED: v = q.
    Gradient,
    /// EDM: v⁺ = βv + (1−β)q, 0 ≤ β < 1.
    Momentum { beta: f64 },
    /// PRDO: v⁺ = (1−γ)v + q, 0 < γ ≤ 1; q's noise is that of the recursive query.
    Recursive { gamma: f64 },
}

impl Direction {
    /// The settled variance of a mode over α² and over the variance of the answers' noise:
    /// 2λ²(1−β)²(1+λβ) / ((1+β)(1−λ)(1+3λ)(1−2λβ+λβ²)), and for PRDO that of β = 1 − γ over γ².
    ///
    /// It is the sum of the squares of the impulse response of λ(1−s)·s/(1−2λs+λs²)·(1−β)/(1−βs), s the delay by a round.
    pub fn response(&self, eigenvalue: f64) -> Result<f64, TheoryError> {
        let z = between("eigenvalue", eigenvalue, (0.0, 1.0_f64.next_down()), "at least 0 and below 1")?;
        let (beta, gain) = match *self {
            Self::Gradient => (0.0, 1.0),
            Self::Momentum { beta } => {
                let beta = between("beta", beta, (0.0, 1.0_f64.next_down()), "at least 0 and below 1")?;
                (beta, (1.0 - beta) * (1.0 - beta))
            }
            Self::Recursive { gamma } => {
                (1.0 - between("gamma", gamma, (1e-30, 1.0), "from 1e-30 to 1")?, 1.0)
            }
        };
        // 1 − 2λβ + λβ² as a sum of positive terms.
        let filtered = (1.0 - z) + z * (1.0 - beta) * (1.0 - beta);
        let settled = (1.0 - z) * (1.0 + 3.0 * z) * filtered;
        Ok(2.0 * gain * z * z * (1.0 + z * beta) / ((1.0 + beta) * settled))
    }
}

/// The deviation of a coordinate of x_i − x̄ over α, as the root of its mean square over the nodes: √((1/n)·Σ response·uᵀΣu) over
/// all n − 1 disagreement modes.
pub fn deviation(modes: &[NoisyMode], direction: Direction) -> Result<f64, TheoryError> {
    let mut sum = 0.0;
    for mode in modes {
        between("noise_variance", mode.noise_variance, (0.0, 1e60), "from 0 to 1e60")?;
        sum += direction.response(mode.eigenvalue)? * mode.noise_variance;
    }
    Ok((sum / (modes.len() as f64 + 1.0)).sqrt())
}

/// λ^K: the same W, K times in a round.
pub fn repeated(eigenvalue: f64, exchanges: u32) -> f64 {
    eigenvalue.powf(f64::from(exchanges))
}

/// The Chebyshev polynomial of degree K for eigenvalues from 0 to `second`, shifted to be positive semidefinite:
/// (T_K(y(λ)) + 1)/(T_K(y(1)) + 1) with y(λ) = 2λ/λ₂ − 1. Its largest value on the disagreement modes is 2/(T_K(y(1)) + 1), the least
/// that K exchanges can have.
pub fn chebyshev(eigenvalue: f64, second: f64, exchanges: u32) -> f64 {
    if second <= 0.0 {
        // One exchange averages already.
        return if eigenvalue >= 1.0 { 1.0 } else { 0.0 };
    }
    let y = |z: f64| 2.0 * z / second - 1.0;
    // Between −1 and 1 rounding must not make it negative.
    (polynomial(y(eigenvalue), exchanges) + 1.0).max(0.0) / (polynomial(y(1.0), exchanges) + 1.0)
}

/// T_K(y) by T_{k+1} = 2yT_k − T_{k−1}.
fn polynomial(y: f64, degree: u32) -> f64 {
    let (mut before, mut now) = (y, 1.0);
    for _ in 0..degree {
        (before, now) = (now, 2.0 * y * now - before);
    }
    now
}

/// The modes of n ≥ 3 nodes on a lazy ring (each keeps half, and takes a quarter from either side) whose noise is `own` for each
/// node plus shares of deviation `pair` that cancel between the ends of `secrets`: eigenvalues (1 + cos θ_k)/2, θ_k = 2πk/n, and
/// variances own² + pair²·(1/n)·Σ_{ij}(2 − 2cos θ_k(i−j)), for k = 1, …, n − 1.
pub fn lazy_ring(
    nodes: u64,
    secrets: impl IntoIterator<Item = (usize, usize)>,
    own: f64,
    pair: f64,
) -> Result<Vec<NoisyMode>, TheoryError> {
    between("nodes", nodes as f64, (3.0, 1e4), "from 3 to 10000")?;
    between("own_noise_std", own, (0.0, 1e30), "from 0 to 1e30")?;
    between("pair_noise_std", pair, (0.0, 1e30), "from 0 to 1e30")?;
    let n = nodes as usize;
    // How many secrets go how far round the ring.
    let mut distances = vec![0.0; n];
    for (i, j) in secrets {
        between("secret", i.max(j) as f64, (0.0, nodes as f64 - 1.0), "between two nodes")?;
        distances[i.abs_diff(j)] += 1.0;
    }
    let cosine = |k: usize| (2.0 * PI * (k % n) as f64 / n as f64).cos();
    let mode = |k: usize| {
        let terms = distances.iter().enumerate().map(|(d, many)| many * (2.0 - 2.0 * cosine(k * d)));
        let laplacian = terms.sum::<f64>() / n as f64;
        NoisyMode { eigenvalue: 0.5 * (1.0 + cosine(k)), noise_variance: own * own + pair * pair * laplacian }
    };
    Ok((1..n).map(mode).collect())
}

/// β of EDM in [`apart`].
pub const BETA: f64 = 0.8;

/// How a round's messages are mixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exchanges {
    /// W so many times.
    Repeated(u32),
    /// The [`chebyshev`] polynomial of this degree in W.
    Chebyshev(u32),
}

/// A node's deviation from the mean under independent noise of deviation 1, and under the noise that replaces it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Apart {
    pub exchanges: Exchanges,
    pub independent: f64,
    pub paired: f64,
}

/// What shares do to single nodes' models, at a reference: EDM with β = 0.8 on a lazy ring, in units of step size × the
/// deviation that independent noise needs. `own` and `pair` are in that unit too.
pub fn apart(
    nodes: u64,
    secrets: impl IntoIterator<Item = (usize, usize)>,
    own: f64,
    pair: f64,
) -> Result<Vec<Apart>, TheoryError> {
    let (independent, paired) = (lazy_ring(nodes, [], 1.0, 0.0)?, lazy_ring(nodes, secrets, own, pair)?);
    let second = independent.iter().map(|mode| mode.eigenvalue).fold(0.0, f64::max);
    let of = |exchanges: Exchanges| {
        let mixed = |z| match exchanges {
            Exchanges::Repeated(times) => repeated(z, times),
            Exchanges::Chebyshev(degree) => chebyshev(z, second, degree),
        };
        let deviation = |modes: &[NoisyMode]| {
            let modes: Vec<_> = modes.iter().map(|mode| mode.mixed(mixed)).collect();
            deviation(&modes, Direction::Momentum { beta: BETA })
        };
        Ok(Apart { exchanges, independent: deviation(&independent)?, paired: deviation(&paired)? })
    };
    [Exchanges::Repeated(1), Exchanges::Repeated(3), Exchanges::Chebyshev(3)].into_iter().map(of).collect()
}

/// The same as [`deviation`], of any symmetric W and after so many rounds of a run: `mix` multiplies by W (as often as a round
/// does), and a round's noise is a sum of the `sources`, each times a standard normal of its own. Responses to each source are
/// followed round by round, until they have died out.
pub fn after(
    mix: &dyn Fn(&[f64]) -> Vec<f64>,
    sources: &[Vec<f64>],
    direction: Direction,
    rounds: u64,
) -> Result<f64, TheoryError> {
    /// What is left of a response that nobody would see.
    const SILENT: f64 = 1e-12;
    // Checks the direction's own numbers.
    direction.response(0.0)?;
    let (keep, take) = match direction {
        Direction::Gradient => (0.0, 1.0),
        Direction::Momentum { beta } => (beta, 1.0 - beta),
        Direction::Recursive { gamma } => (1.0 - gamma, 1.0),
    };
    let mut sum = 0.0;
    for source in sources {
        let n = source.len() as f64;
        let mean = source.iter().sum::<f64>() / n;
        let force: Vec<f64> = source.iter().map(|value| take * (value - mean)).collect();
        let (mut before, mut now) = (vec![0.0; source.len()], vec![0.0; source.len()]);
        // v_t − v_{t−1} of an answer of one round, in units of `force`.
        let (mut v, mut change) = (1.0, 1.0);
        let mut total = 0.0;
        for _ in 0..rounds {
            let terms = now.iter().zip(&before).zip(&force);
            let next = mix(&terms
                .map(|((now, before), force)| 2.0 * now - before - change * force)
                .collect::<Vec<_>>());
            (before, now) = (now, next);
            (change, v) = (keep * v - v, keep * v);
            let square = now.iter().map(|x| x * x).sum::<f64>();
            total += square;
            let last = before.iter().map(|x| x * x).sum::<f64>() + change * change;
            if square + last <= SILENT * total {
                break;
            }
        }
        sum += total / n;
    }
    Ok(sum.sqrt())
}
