//! One run of a case, watched from outside: in every round everything that the lemmas speak of, from all records.

use super::case::Case;
use super::problem::{AnyModel, Local, distance2, mean, norm2, spread2};
use prdo::prelude::*;
use prdo::privacy::Protection;
use prdo::simulator::Simulation;
use prdo::theory::lemmas::Sums;

/// What a round was like, t from 0.
pub struct Round {
    /// f(x̄^t).
    pub loss: f64,
    /// ‖∇f(x̄^t)‖².
    pub gradient: f64,
    /// ‖PX^t‖²_F, whose mean is C_t.
    pub disagreement: f64,
    /// ‖E^t‖²_F, whose mean is H_t.
    pub local_error: f64,
    /// ‖ē^t‖², whose mean is h_t.
    pub mean_error: f64,
    /// ‖E^t − (1−γ)E^{t−1}‖²_F, what batch and noise of this round added; ‖E⁰‖²_F at t = 0.
    pub fresh_error: f64,
    /// ‖v̄^t‖², whose mean is U_t.
    pub direction: f64,
    /// ‖X^t − X^{t−1}‖²_F; 0 at t = 0.
    pub movement: f64,
    /// 𝓔_t.
    pub energy: f64,
    /// ‖PR^t‖²_F.
    pub residual: f64,
    /// ‖P(M^{t+1} − M^t)‖²_F.
    pub drift: f64,
    /// By how much `cv:average-dynamics` fails, over the size of its terms.
    pub average_defect: f64,
    /// The same of `cv:augmented-D`, the correction's recursion.
    pub correction_defect: f64,
    /// ‖X^t‖²_F.
    pub size: f64,
    pub nodes: Vec<NodeRound>,
}

pub struct NodeRound {
    /// (1/N)·Σ‖∇ℓ_r(x_i^t)‖².
    pub mean_square: f64,
    /// (1/N)·Σ‖∇ℓ_r(x_i^t) − ∇ℓ_r(x_i^{t−1})‖².
    pub difference: f64,
    /// E_t‖e_i^t − (1−γ)e_i^{t−1}‖², exactly: the variance of the Poisson sum plus the noise.
    pub innovation: f64,
    /// ‖x_i^t − x_i^{t−1}‖².
    pub moved: f64,
}

pub struct Trace {
    pub rounds: Vec<Round>,
    /// f(x̄^T).
    pub last_loss: f64,
    /// The longest gradient and the longest difference of any record in any round.
    pub longest: (f64, f64),
    /// Shares of sampled gradients and differences that the gates clipped.
    pub clipped: (f64, f64),
}

impl Trace {
    pub fn of(case: &Case<'_>, seed: u64) -> Result<Self, RunError> {
        match &case.protection {
            Some(protection) => follow(case, case.private(seed, protection)?),
            None => follow(case, case.open(seed)?),
        }
    }

    /// Σ_t of something.
    pub fn sum(&self, what: impl Fn(&Round) -> f64) -> f64 {
        self.rounds.iter().map(what).sum()
    }

    pub fn sums(&self) -> Sums {
        Sums {
            disagreement: self.sum(|round| round.disagreement),
            local_error: self.sum(|round| round.local_error),
            direction: self.sum(|round| round.direction),
        }
    }
}

/// (1/T)·Σ‖∇f(x̄^t)‖² of a run without noise, and nothing else: fast.
pub fn stationarity(case: &Case<'_>, seed: u64) -> Result<f64, RunError> {
    let mut nodes = case.open(seed)?;
    let rounds = case.setting().setup().rounds;
    let mut sum = 0.0;
    for _ in 0..rounds {
        sum += norm2(&case.problem.gradient(&nodes.average()));
        nodes.step(false)?;
    }
    Ok(sum / rounds as f64)
}

fn follow<P: Protection>(case: &Case<'_>, mut nodes: Simulation<AnyModel, P>) -> Result<Trace, RunError> {
    let rounds = case.setting().setup().rounds as usize;
    let mut records = AllRecords::new(case);
    let mut network = Correction::new(case);
    let mut done: Vec<Round> = Vec::with_capacity(rounds);
    let mut x = rows(nodes.models());
    let mut common = case.problem.local(&mean(&x));
    let mut old_errors: Vec<Vec<f64>> = x.iter().map(|x| vec![0.0; x.len()]).collect();
    for t in 0..rounds {
        let own = records.look(&x, t == 0);
        nodes.step(false)?;
        let v = rows(nodes.directions());
        let next = rows(nodes.models());
        let next_common = case.problem.local(&mean(&next));
        let residual = minus(&v, &common.gradients);
        let errors = minus(&v, &own.gradients);
        let (energy, correction_defect) = network.look(&x, &next, &residual, &common.gradients);
        done.push(Round {
            loss: common.loss,
            gradient: norm2(&mean(&common.gradients)),
            disagreement: spread2(&x),
            local_error: errors.iter().map(|e| norm2(e)).sum(),
            mean_error: norm2(&mean(&errors)),
            fresh_error: minus(&errors, &old_errors).iter().map(|e| norm2(e)).sum(),
            direction: norm2(&mean(&v)),
            movement: own.nodes.iter().map(|node| node.moved).sum(),
            energy,
            residual: spread2(&residual),
            drift: spread2(&minus(&next_common.gradients, &common.gradients)),
            average_defect: average_defect(case, &x, &v, &next),
            correction_defect,
            size: x.iter().map(|x| norm2(x)).sum(),
            nodes: own.nodes,
        });
        let kept = 1.0 - case.setting().gamma();
        old_errors = errors.into_iter().map(|e| e.into_iter().map(|e| kept * e).collect()).collect();
        (x, common) = (next, next_common);
    }
    let row = nodes.measure();
    let clipped = (row.clipped_gradient_fraction, row.clipped_difference_fraction);
    Ok(Trace {
        rounds: done,
        last_loss: common.loss,
        longest: records.longest,
        clipped: (clipped.0.unwrap_or(f64::NAN), clipped.1.unwrap_or(0.0)),
    })
}

fn rows<'a>(vectors: impl Iterator<Item = &'a [f64]>) -> Vec<Vec<f64>> {
    vectors.map(<[f64]>::to_vec).collect()
}

fn minus(a: &[Vec<f64>], b: &[Vec<f64>]) -> Vec<Vec<f64>> {
    a.iter().zip(b).map(|(a, b)| a.iter().zip(b).map(|(a, b)| a - b).collect()).collect()
}

/// ‖x̄^{t+1} − x̄^t + αv̄^t‖ over the size of its terms (`cv:average-dynamics`).
fn average_defect(case: &Case<'_>, x: &[Vec<f64>], v: &[Vec<f64>], next: &[Vec<f64>]) -> f64 {
    let alpha = case.setting().step_size();
    let (x, v, next) = (mean(x), mean(v), mean(next));
    let defect: f64 = x.iter().zip(&v).zip(&next).map(|((x, v), y)| (y - x + alpha * v).powi(2)).sum();
    (defect / (1.0 + norm2(&x) + norm2(&next))).sqrt()
}

/// Every record's gradient, now and a round ago.
struct AllRecords<'a> {
    case: &'a Case<'a>,
    /// Node by node, record after record.
    before: Vec<Vec<f64>>,
    models: Vec<Vec<f64>>,
    longest: (f64, f64),
}

/// What the records of all nodes say at the nodes' own models.
struct Own {
    /// ∇f_i(x_i).
    gradients: Vec<Vec<f64>>,
    nodes: Vec<NodeRound>,
}

impl<'a> AllRecords<'a> {
    fn new(case: &'a Case<'a>) -> Self {
        let Local { gradients, .. } = case.problem.local(&case.problem.start);
        let sizes = gradients.iter().zip(&case.problem.data).map(|(g, table)| g.len() * table.len());
        Self {
            case,
            before: sizes.map(|size| vec![0.0; size]).collect(),
            models: vec![],
            longest: (0.0, 0.0),
        }
    }

    fn look(&mut self, x: &[Vec<f64>], first: bool) -> Own {
        let mut own = Own { gradients: Vec::new(), nodes: Vec::new() };
        for (node, x) in x.iter().enumerate() {
            let (gradient, mut round) = self.look_at(node, x, first);
            round.moved = self.models.get(node).map_or(0.0, |before| distance2(x, before));
            own.gradients.push(gradient);
            own.nodes.push(round);
        }
        self.models = x.to_vec();
        own
    }

    /// One node: its gradient, and the sums over records.
    fn look_at(&mut self, node: usize, x: &[f64], first: bool) -> (Vec<f64>, NodeRound) {
        let (problem, gamma) = (self.case.problem, self.case.setting().gamma());
        let (table, d) = (&problem.data[node], x.len());
        let (mut now, mut sum) = (vec![0.0; d], vec![0.0; d]);
        let (mut squares, mut differences, mut contributions) = (0.0, 0.0, 0.0);
        for (r, before) in self.before[node].chunks_exact_mut(d).enumerate() {
            problem.model.gradient(x, table, r, &mut now);
            let (mut square, mut difference) = (0.0, 0.0);
            for ((s, g), b) in sum.iter_mut().zip(&now).zip(before) {
                let change = if first { 0.0 } else { g - *b };
                let weight = if first { 1.0 } else { gamma };
                let part = weight * g + (1.0 - gamma) * change;
                *s += g;
                square += g * g;
                difference += change * change;
                contributions += part * part;
                *b = *g;
            }
            squares += square;
            differences += difference;
            self.longest.0 = self.longest.0.max(square.sqrt());
            self.longest.1 = self.longest.1.max(difference.sqrt());
        }
        let count = table.len() as f64;
        sum.iter_mut().for_each(|s| *s /= count);
        let innovation = self.innovation(contributions / count, first);
        let (mean_square, difference) = (squares / count, differences / count);
        (sum, NodeRound { mean_square, difference, innovation, moved: 0.0 })
    }

    /// The variance of a Poisson sum whose contributions have this mean square, and the noise's.
    fn innovation(&self, mean_square: f64, first: bool) -> f64 {
        let (case, setting) = (self.case, self.case.setting());
        let (recursive, initial) = case.noise_powers();
        if first {
            case.first_left_out() * mean_square / setting.first_batch() as f64 + initial
        } else {
            case.left_out() * mean_square / setting.batch() + setting.gamma().powi(2) * recursive
        }
    }
}

/// The correction state S_t in the coordinates of W's eigenvectors.
struct Correction<'a> {
    case: &'a Case<'a>,
    /// uᵀS_t as the recursion `cv:augmented-D` foretells it, but for its last term.
    expected: Vec<Vec<f64>>,
    /// uᵀM^{t−1}, in the first round nothing.
    before: Vec<Vec<f64>>,
}

impl<'a> Correction<'a> {
    fn new(case: &'a Case<'a>) -> Self {
        let zeros = vec![vec![0.0; case.problem.dimension()]; case.network.modes.len()];
        Self { case, expected: zeros.clone(), before: zeros }
    }

    /// 𝓔_t, and by how much S_t differs from what its recursion says. S_t is what the models themselves say
    /// (`cv:augmented-X`): (2W − I)X^t − αWR^t − X^{t+1}.
    fn look(
        &mut self,
        x: &[Vec<f64>],
        next: &[Vec<f64>],
        residual: &[Vec<f64>],
        common: &[Vec<f64>],
    ) -> (f64, f64) {
        let alpha = self.case.setting().step_size();
        let (mut energy, mut defect, mut size) = (0.0, 0.0, 1.0);
        for (k, mode) in self.case.network.modes.iter().enumerate() {
            let z = mode.eigenvalue;
            let (p, p_next) = (mode.project(x), mode.project(next));
            let (r, m) = (mode.project(residual), mode.project(common));
            let mut s = vec![0.0; p.len()];
            for j in 0..p.len() {
                s[j] = (2.0 * z - 1.0) * p[j] - alpha * z * r[j] - p_next[j];
                // S₀ = αWM⁰; S_{t+1} = S_t + (I − W)X^t + αW(M^{t+1} − M^t).
                let expected = self.expected[k][j] + alpha * z * (m[j] - self.before[k][j]);
                defect += (s[j] - expected).powi(2);
                size += p[j] * p[j];
                self.expected[k][j] = s[j] + (1.0 - z) * p[j];
            }
            energy += mode.energy(&p, &s);
            self.before[k] = m;
        }
        let scale: f64 = x.iter().chain(next).map(|x| norm2(x)).sum();
        (energy, (defect / (size + scale)).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::super::case::{Case, Network};
    use super::super::problem::Problem;
    use super::*;

    /// The simulator computes the paper's moments too, in its own way.
    #[test]
    fn the_trace_agrees_with_the_simulators_moments() {
        let (problems, networks) = (Problem::all().unwrap(), Network::all().unwrap());
        for (problem, private) in [(&problems[2], false), (&problems[0], true)] {
            let case = Case::new(problem, &networks[0], 30, private).unwrap();
            let trace = Trace::of(&case, 3).unwrap();
            let check = |moments: Moments| {
                let round = &trace.rounds[moments.round as usize];
                for (ours, theirs) in [
                    (round.disagreement, moments.disagreement),
                    (round.local_error, moments.local_error),
                    (round.mean_error, moments.mean_error),
                    (round.direction, moments.direction),
                    (round.movement, moments.movement),
                ] {
                    assert!((ours - theirs).abs() <= 1e-9 * (ours + theirs) + 1e-25, "{ours} {theirs}");
                }
            };
            match &case.protection {
                Some(protection) => {
                    let mut nodes = case.private(3, protection).unwrap();
                    (0..30).for_each(|_| check(nodes.step(true).unwrap().unwrap()));
                }
                None => {
                    let mut nodes = case.open(3).unwrap();
                    (0..30).for_each(|_| check(nodes.step(true).unwrap().unwrap()));
                }
            }
            assert_eq!(trace.clipped, (0.0, 0.0));
        }
    }
}
