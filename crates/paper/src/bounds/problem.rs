//! Problems whose constants are known: what the theorem asks of the losses, proven for each.

use prdo::error::RunError;
use prdo::prelude::*;
use std::sync::Arc;

pub type AnyModel = Box<dyn Model<Data = Table>>;

/// n; the torus is 3 × 3.
pub const NODES: usize = 9;
/// N, the records of a node.
pub const RECORDS: usize = 160;
const DATA_SEED: u64 = 5;

pub struct Problem {
    pub name: &'static str,
    pub model: Arc<AnyModel>,
    pub data: Vec<Table>,
    pub start: Vec<f64>,
    /// L_s.
    pub smoothness: f64,
    /// f is nowhere below this.
    pub infimum: f64,
    /// C_g and C_Δ: no record's gradient or difference is longer.
    pub clip: (f64, f64),
    /// No node's (1/N)·Σ‖∇ℓ_r(x)‖² is above this at any x. `None` where there is no such number: then the largest
    /// value along all measured trajectories takes its place, and the clips are held against the trajectories too.
    pub mean_square: Option<f64>,
}

/// f and the nodes' gradients at one point.
pub struct Local {
    pub loss: f64,
    /// ∇f_i(x).
    pub gradients: Vec<Vec<f64>>,
}

impl Problem {
    pub fn all() -> Result<Vec<Self>, RunError> {
        Ok(vec![log_cosh()?, quadratic()?, logistic()?])
    }

    pub fn dimension(&self) -> usize {
        self.model.dimension()
    }

    /// f(x) and each ∇f_i(x), from all records.
    pub fn local(&self, x: &[f64]) -> Local {
        let (mut loss, mut gradients) = (0.0, Vec::with_capacity(self.data.len()));
        for table in &self.data {
            let mut gradient = vec![0.0; x.len()];
            loss += self.model.evaluate(x, table, Records::Run(0, table.len()), &mut gradient);
            gradient.iter_mut().for_each(|g| *g /= table.len() as f64);
            gradients.push(gradient);
        }
        Local { loss: loss / (self.data.len() * RECORDS) as f64, gradients }
    }

    /// ∇f(x), from all records.
    pub fn gradient(&self, x: &[f64]) -> Vec<f64> {
        let mut sum = vec![0.0; x.len()];
        for table in &self.data {
            self.model.add_gradients(x, table, Records::Run(0, table.len()), &mut sum);
        }
        sum.iter_mut().for_each(|g| *g /= (self.data.len() * RECORDS) as f64);
        sum
    }
}

/// The paper's example (`prop:sparse-sensitivity`) with curvature κ = 1/2, A = 1: ℓ = ax + κ·log cosh x.
///
/// L_s = κ, for the second derivative is κ·sech²x. The mean square (1/N)·Σ(a_r + κu)² with u = tanh x is a convex
/// function of u: it is largest at an end, u = ±1. f = κ·log cosh x, whose infimum is zero.
fn log_cosh() -> Result<Problem, RunError> {
    const CURVATURE: f64 = 0.5;
    let data = prdo::data::generate::coefficients(NODES, RECORDS, 1.0, DATA_SEED)?;
    let mean_square = |table: &Table, u: f64| {
        table.features().iter().map(|a| (a + CURVATURE * u).powi(2)).sum::<f64>() / table.len() as f64
    };
    let largest = data.iter().flat_map(|t| [mean_square(t, 1.0), mean_square(t, -1.0)]).fold(0.0, f64::max);
    Ok(Problem {
        name: "log-cosh",
        model: Arc::new(Box::new(LogCosh::new(CURVATURE)?)),
        data,
        start: vec![2.0],
        smoothness: CURVATURE,
        infimum: 0.0,
        clip: (1.0 + CURVATURE, 2.0 * CURVATURE),
        mean_square: Some(largest),
    })
}

/// Quadratics ½Σh_j(x_j − c_j)² with curvatures from 1 to 4 and different means at the nodes. L_s = 4; the minimiser
/// is the mean of the targets. Gradients grow with x, so that no bound holds everywhere.
fn quadratic() -> Result<Problem, RunError> {
    const CONDITION: f64 = 4.0;
    const DIMENSION: usize = 3;
    let data = prdo::data::generate::quadratic(NODES, RECORDS, DIMENSION, 1.0, DATA_SEED)?;
    let mut problem = Problem {
        name: "quadratic",
        model: Arc::new(Box::new(Quadratic::new(DIMENSION, CONDITION)?)),
        start: vec![2.0; DIMENSION],
        smoothness: CONDITION,
        infimum: 0.0,
        clip: (60.0, 12.0),
        mean_square: None,
        data,
    };
    let rows = problem.data.iter().flat_map(|table| table.features().chunks(DIMENSION));
    let mut mean = vec![0.0; DIMENSION];
    rows.for_each(|row| mean.iter_mut().zip(row).for_each(|(m, c)| *m += c));
    mean.iter_mut().for_each(|m| *m /= (NODES * RECORDS) as f64);
    problem.infimum = problem.local(&mean).loss;
    Ok(problem)
}

/// The paper's heterogeneous logistic regression with the regulariser ρΣx²/(1+x²).
///
/// L_s = max‖a_r‖²/4 + 2ρ: the logistic loss curves by at most 1/4 along a_r, the regulariser by at most 2ρ. A
/// gradient is at most ‖a_r‖ + ρ·r√d long, with r = 9/(8√3) the largest slope of x²/(1+x²), and a difference at most
/// ‖a_r‖ + 2ρ·r√d, for both slopes of the logistic loss lie between 0 and 1. The regulariser is not negative: f is
/// nowhere below the minimum of the convex part.
fn logistic() -> Result<Problem, RunError> {
    const DIMENSION: usize = 5;
    const REGULARIZATION: f64 = 0.01;
    let data = prdo::data::generate::logistic(NODES, RECORDS, DIMENSION, 1.0, DATA_SEED)?;
    let squares = |table: &Table| -> Vec<f64> {
        table.features().chunks(DIMENSION).map(|a| a.iter().map(|v| v * v).sum()).collect()
    };
    let longest = data.iter().flat_map(squares).fold(0.0_f64, f64::max);
    let slope = REGULARIZATION * 9.0 / (8.0 * 3.0_f64.sqrt()) * (DIMENSION as f64).sqrt();
    let mean_square = |table: &Table| {
        squares(table).iter().map(|s| (s.sqrt() + slope).powi(2)).sum::<f64>() / table.len() as f64
    };
    let mut problem = Problem {
        name: "logistic",
        model: Arc::new(Box::new(Logistic::new(DIMENSION, 0.0)?)),
        start: vec![0.0; DIMENSION],
        smoothness: 0.25 * longest + 2.0 * REGULARIZATION,
        infimum: 0.0,
        clip: (longest.sqrt() + slope, longest.sqrt() + 2.0 * slope),
        mean_square: Some(data.iter().map(mean_square).fold(0.0, f64::max)),
        data,
    };
    problem.infimum = convex_minimum(&problem);
    problem.model = Arc::new(Box::new(Logistic::new(DIMENSION, REGULARIZATION)?));
    Ok(problem)
}

/// A little less than the minimum of a convex f, by gradient descent: with a gradient shorter than 1e-9 a minimiser
/// would have to be 1000 away for f to be lower than what is returned.
fn convex_minimum(problem: &Problem) -> f64 {
    let mut x = problem.start.clone();
    for _ in 0..20_000 {
        let gradient = problem.gradient(&x);
        if norm2(&gradient) < 1e-18 {
            return problem.local(&x).loss - 1e-6;
        }
        x.iter_mut().zip(&gradient).for_each(|(x, g)| *x -= g / problem.smoothness);
    }
    0.0
}

pub fn mean(rows: &[Vec<f64>]) -> Vec<f64> {
    let mut sum = vec![0.0; rows.first().map_or(0, Vec::len)];
    rows.iter().for_each(|row| sum.iter_mut().zip(row).for_each(|(s, v)| *s += v));
    sum.iter_mut().for_each(|s| *s /= rows.len().max(1) as f64);
    sum
}

pub fn norm2(v: &[f64]) -> f64 {
    v.iter().map(|v| v * v).sum()
}

/// ‖PA‖²_F: the squared distance of the rows from their mean.
pub fn spread2(rows: &[Vec<f64>]) -> f64 {
    let centre = mean(rows);
    rows.iter().map(|row| distance2(row, &centre)).sum()
}

pub fn distance2(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The constants are bounds: no point found by looking about breaks them.
    #[test]
    fn the_constants_hold_at_random_points() {
        for problem in Problem::all().unwrap() {
            let d = problem.dimension();
            let point = |k: usize| -> Vec<f64> {
                let wave = |j: usize| ((k * 31 + j * 17) as f64 * 0.7).sin();
                (0..d).map(|j| 3.0 * wave(j) * (1.0 + (k % 7) as f64)).collect()
            };
            let gradient = |x: &[f64], table: &Table, r: usize| {
                let mut g = vec![0.0; d];
                problem.model.gradient(x, table, r, &mut g);
                g
            };
            for k in 0..60 {
                let (x, y) = (point(k), point(k + 1));
                assert!(problem.local(&x).loss >= problem.infimum, "{}", problem.name);
                for table in &problem.data {
                    let mut squares = 0.0;
                    for r in 0..table.len() {
                        let (at_x, at_y) = (gradient(&x, table, r), gradient(&y, table, r));
                        let far = problem.smoothness.powi(2) * distance2(&x, &y);
                        assert!(distance2(&at_x, &at_y) <= far * (1.0 + 1e-12), "{}", problem.name);
                        squares += norm2(&at_x);
                        if problem.mean_square.is_some() {
                            assert!(norm2(&at_x).sqrt() <= problem.clip.0 * (1.0 + 1e-12));
                            assert!(distance2(&at_x, &at_y).sqrt() <= problem.clip.1 * (1.0 + 1e-12));
                        }
                    }
                    let mean_square = squares / table.len() as f64;
                    assert!(problem.mean_square.is_none_or(|most| mean_square <= most * (1.0 + 1e-12)));
                }
            }
        }
    }
}
