//! Heterogeneous quadratics with an exact minimiser, and runs on them.

use prdo_accounting::{Accountant, Target};
use prdo_algorithm::graph::{Graph, Mixing, Mixings, Weights};
use prdo_algorithm::{Method, Settings};
use prdo_privacy::*;
use prdo_simulator::Simulation;
use proptest::prelude::*;
use std::sync::Arc;

/// ½ Σ_j h_j (x_j − c_j)²: each record has its own curvatures and centre.
pub struct Quadratics(pub usize);

#[derive(Clone)]
pub struct Bowl {
    pub curvature: Vec<f64>,
    pub centre: Vec<f64>,
}

impl Model for Quadratics {
    type Data = Vec<Bowl>;
    fn dimension(&self) -> usize {
        self.0
    }
    fn loss(&self, x: &[f64], data: &Vec<Bowl>, r: usize) -> f64 {
        let b = &data[r];
        (0..self.0).map(|j| 0.5 * b.curvature[j] * (x[j] - b.centre[j]).powi(2)).sum()
    }
    fn gradient(&self, x: &[f64], data: &Vec<Bowl>, r: usize, gradient: &mut [f64]) {
        let b = &data[r];
        (0..self.0).for_each(|j| gradient[j] = b.curvature[j] * (x[j] - b.centre[j]));
    }
}

/// A small reproducible sequence in (0, 1).
pub fn noise(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed.wrapping_mul(2).wrapping_add(1);
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    }
}

pub fn bowls(nodes: usize, records: usize, d: usize, seed: u64) -> Vec<Vec<Bowl>> {
    let mut u = noise(seed);
    let mut node = || {
        let shift = 4.0 * u();
        (0..records)
            .map(|_| Bowl {
                curvature: (0..d).map(|_| 0.3 + 0.7 * u()).collect(),
                centre: (0..d).map(|_| shift + u()).collect(),
            })
            .collect()
    };
    (0..nodes).map(|_| node()).collect()
}

/// The exact minimiser of (1/n)Σf_i: coordinate-wise weighted mean of the centres.
pub fn minimiser(data: &[Vec<Bowl>], d: usize) -> Vec<f64> {
    (0..d)
        .map(|j| {
            let (mut top, mut bottom) = (0.0, 0.0);
            for b in data.iter().flatten() {
                top += b.curvature[j] * b.centre[j];
                bottom += b.curvature[j];
            }
            top / bottom
        })
        .collect()
}

pub fn open(
    data: &[Vec<Bowl>],
    mixing: &(impl Clone + Into<Mixings>),
    method: Method,
    settings: Settings,
    sampling: (Sampling, usize, usize),
    seed: u64,
) -> Simulation<Quadratics, Exposed> {
    let d = data[0][0].centre.len();
    let (secret, model) = (Arc::new(Secret::from_seed(seed)), Arc::new(Quadratics(d)));
    let gate = |(i, records): (usize, &Vec<Bowl>)| {
        let batches = Batches::new(sampling.1, sampling.2);
        let rules = OpenRules { batches, sampling: sampling.0, clip: None };
        let shard = Shard::seal(records.clone()).unwrap();
        Gate::exposed(i as u32, Arc::clone(&model), shard, Arc::clone(&secret), rules).unwrap()
    };
    let gates = data.iter().enumerate().map(gate).collect();
    let start = Start::zeros(d);
    Simulation::new(model, gates, mixing.clone(), (method, &settings), &start, None).unwrap()
}

pub fn private(
    data: &[Vec<Bowl>],
    mixing: &(impl Clone + Into<Mixings>),
    method: Method,
    settings: Settings,
    (first, size): (usize, usize),
    seed: u64,
) -> Simulation<Quadratics, Noised> {
    let d = data[0][0].centre.len();
    let (secret, model) = (Arc::new(Secret::from_seed(seed)), Arc::new(Quadratics(d)));
    let accountant = Arc::new(Accountant::default());
    let gate = |(i, records): (usize, &Vec<Bowl>)| {
        let rules = PrivateRules {
            batches: Batches::new(first, size),
            clip: Clip::new(1.0, 0.1).unwrap(),
            noise_multiplier: 1.3,
            ledger: Ledger::new(Arc::clone(&accountant), Target::new(1e6, 1e-5).unwrap()),
        };
        let shard = Shard::seal(records.clone()).unwrap();
        Gate::private(i as u32, Arc::clone(&model), shard, Arc::clone(&secret), rules).unwrap()
    };
    let gates = data.iter().enumerate().map(gate).collect();
    let start = Start::zeros(d);
    Simulation::new(model, gates, mixing.clone(), (method, &settings), &start, None).unwrap()
}

pub fn go<P: Protection>(run: &mut Simulation<Quadratics, P>, rounds: u32, moments: bool) {
    for _ in 0..rounds {
        run.step(moments).unwrap();
    }
}

pub fn stack<P: Protection>(run: &Simulation<Quadratics, P>) -> Vec<Vec<f64>> {
    run.models().map(<[f64]>::to_vec).collect()
}

pub fn distance(a: &[Vec<f64>], b: &[Vec<f64>]) -> f64 {
    let squares = a.iter().flatten().zip(b.iter().flatten()).map(|(x, y)| (x - y).powi(2));
    squares.sum::<f64>().sqrt()
}

/// A connected random graph with lazy Metropolis weights.
pub fn mixing() -> impl Strategy<Value = Mixing> {
    (3usize..9, 0u64..1000, 0usize..4).prop_map(|(n, seed, family)| {
        let graph = match family {
            0 => Graph::ring(n),
            1 => Graph::star(n),
            2 => Graph::complete(n),
            _ => Graph::erdos_renyi(n, 0.7, seed),
        };
        Mixing::new(&graph.unwrap(), Weights::Metropolis, true).unwrap()
    })
}

/// Gaussian elimination with pivoting on an augmented matrix.
pub fn solve(m: &mut [Vec<f64>]) -> Vec<f64> {
    let n = m.len();
    for c in 0..n {
        let pivot = (c..n).max_by(|a, b| m[*a][c].abs().total_cmp(&m[*b][c].abs())).unwrap();
        m.swap(c, pivot);
        for r in 0..n {
            if r != c {
                let f = m[r][c] / m[c][c];
                for k in c..=n {
                    m[r][k] -= f * m[c][k];
                }
            }
        }
    }
    (0..n).map(|i| m[i][n] / m[i][i]).collect()
}
