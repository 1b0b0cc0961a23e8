//! The gate's promises for gradients that come in single precision, in pieces: sensitivity whatever the gradients
//! are, and the query by its definition.

use prdo_accounting::{Accountant, Target};
use prdo_privacy::*;
use proptest::prelude::*;
use std::sync::Arc;

const DENSE: usize = 32;
const ROWS: usize = 3;
const COLUMNS: usize = 16;
/// Parameters: a dense piece of which two coordinates are padding, and an outer product.
const DIMENSION: usize = DENSE - 2 + ROWS * COLUMNS;

/// A record *is* its gradients: at the first point and at the second.
type Record = [Gradient; 2];

#[derive(Clone, Debug)]
struct Gradient {
    dense: Vec<f32>,
    rows: Vec<f32>,
    columns: Vec<f32>,
}

impl Gradient {
    fn values(&self) -> Vec<f64> {
        let outer =
            self.rows.iter().flat_map(|r| self.columns.iter().map(move |c| f64::from(*r) * f64::from(*c)));
        self.dense[..DENSE - 2].iter().map(|v| f64::from(*v)).chain(outer).collect()
    }
}

struct Puppet {
    places: Vec<u32>,
}

impl Puppet {
    fn new() -> Self {
        // Parameters in reverse, to see that places are kept; the last two dense coordinates are padding.
        let coordinates = (0..(DENSE + ROWS * COLUMNS) as u32).filter(|c| ![30, 31].contains(c));
        Self { places: coordinates.rev().collect() }
    }
}

impl Model for Puppet {
    type Data = Vec<Record>;
    fn dimension(&self) -> usize {
        DIMENSION
    }
    fn loss(&self, _: &[f64], _: &Self::Data, _: usize) -> f64 {
        0.0
    }
    fn gradient(&self, _: &[f64], _: &Self::Data, _: usize, _: &mut [f64]) {
        panic!("the gate asks the engine")
    }
    fn engine(&self) -> Option<&dyn Engine<Self::Data>> {
        Some(self)
    }
}

impl Engine<Vec<Record>> for Puppet {
    fn coordinates(&self) -> usize {
        DENSE + ROWS * COLUMNS
    }
    fn places(&self) -> &[u32] {
        &self.places
    }
    fn prepare<'a>(&'a self, _: &[&[f64]]) -> Box<dyn Differentiator<Vec<Record>> + 'a> {
        Box::new(Ready)
    }
}

struct Ready;

impl Differentiator<Vec<Record>> for Ready {
    fn worker<'a>(&'a self) -> Box<dyn Worker<Vec<Record>> + 'a> {
        Box::new(Loaded(Vec::new()))
    }
}

struct Loaded(Vec<Record>);

impl Worker<Vec<Record>> for Loaded {
    fn group(&self) -> usize {
        3
    }
    fn load(&mut self, data: &Vec<Record>, records: &[u32]) {
        self.0 = records.iter().map(|r| data[*r as usize].clone()).collect();
    }
    fn differentiate(&mut self, _: usize, _: usize) {}
    fn pieces(&self) -> usize {
        2
    }
    fn piece(&self, point: usize, which: usize, number: usize) -> Piece<'_> {
        let gradient = &self.0[which][point];
        match number {
            0 => Piece::Dense(&gradient.dense),
            _ => Piece::Outer { rows: &gradient.rows, columns: &gradient.columns },
        }
    }
}

fn value() -> impl Strategy<Value = f32> {
    prop_oneof![
        12 => -3.0..3.0_f32,
        1 => Just(f32::NAN), 1 => Just(f32::INFINITY), 1 => Just(1e30_f32), 1 => Just(-1e15_f32),
        1 => Just(1e-42_f32), 1 => Just(1e-20_f32), 2 => Just(0.0_f32),
    ]
}

fn ordinary() -> impl Strategy<Value = f32> {
    -3.0..3.0_f32
}

fn gradient<S: Strategy<Value = f32> + Clone + 'static>(value: S) -> impl Strategy<Value = Gradient> {
    let list = move |n: usize| prop::collection::vec(value.clone(), n);
    (list(DENSE - 2), list(ROWS), list(COLUMNS)).prop_map(|(mut dense, rows, columns)| {
        dense.extend([0.0; 2]);
        Gradient { dense, rows, columns }
    })
}

/// Two gradients that have nothing to do with each other, or nearly the same one, or an outer product whose two
/// changes nearly cancel: the cases in which norms of differences go wrong.
fn record() -> impl Strategy<Value = Record> {
    let apart = (gradient(value().boxed()), gradient(value().boxed())).prop_map(|(a, b)| [a, b]);
    let near = (gradient(ordinary().boxed()), 1e-7..1e-2_f32).prop_map(|(a, t)| {
        let scale = |v: &[f32], by: f32| v.iter().map(|x| x * by).collect::<Vec<_>>();
        let b = Gradient {
            dense: scale(&a.dense, 1.0 + t),
            rows: scale(&a.rows, 1.0 - t),
            columns: a.columns.clone(),
        };
        [a, b]
    });
    let cancelling = (gradient(ordinary().boxed()), 1e-3..0.9_f32).prop_map(|(a, t)| {
        let scale = |v: &[f32], by: f32| v.iter().map(|x| x * by).collect::<Vec<_>>();
        let b = Gradient {
            dense: a.dense.clone(),
            rows: scale(&a.rows, 1.0 + t),
            columns: scale(&a.columns, 1.0 / (1.0 + t)),
        };
        [a, b]
    });
    // Rows so large that a factor of theirs overflows, beside columns so small that the product does not; and
    // products so large that the factor has no digits left.
    let extreme = (
        gradient(ordinary().boxed()),
        prop_oneof![Just(1e32_f32), Just(3e30), Just(1e14), Just(1e-30)],
        prop_oneof![Just(0.0_f32), Just(1e-40), Just(1.06e22), Just(1e15), Just(1e-32)],
        any::<bool>(),
    )
        .prop_map(|(a, r, c, second)| {
            let large =
                Gradient { dense: vec![0.0; DENSE], rows: vec![r, 0.0, r], columns: vec![c; COLUMNS] };
            if second { [a, large] } else { [large, a] }
        });
    let one_sided = (gradient(ordinary().boxed()), 1e-3..1.0_f32).prop_map(|(a, t)| {
        let rows: Vec<f32> = a.rows.iter().map(|r| r * 1e13).collect();
        let columns: Vec<f32> = a.columns.iter().map(|c| c * 1e-13).collect();
        let b = Gradient {
            rows: rows.iter().map(|r| r * (1.0 + t)).collect(),
            columns: columns.clone(),
            ..a.clone()
        };
        [Gradient { rows, columns, ..a }, b]
    });
    prop_oneof![2 => apart, 2 => near, 1 => cancelling, 1 => extreme, 1 => one_sided]
}

fn points() -> (Released<Noised>, Released<Noised>) {
    (Released::zeros(DIMENSION), Released::zeros(DIMENSION))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn one_record_moves_the_release_by_at_most_the_sensitivity(
        records in prop::collection::vec(record(), 1..6),
        which in any::<prop::sample::Index>(),
        gamma in 0.0..=1.0_f64, c_g in 1e-3..1e3_f64, c_d in 1e-6..1e2_f64, z in 0.1..10.0_f64,
    ) {
        let clip = Clip::new(c_g, c_d).unwrap();
        let (x, previous) = points();
        let query = Query::recursive(&x, &previous, gamma);
        let (slots, b) = (8, 8);
        let release = |records: Vec<Record>| {
            let ledger = Ledger::new(Arc::new(Accountant::default()), Target::new(1e9, 1e-5).unwrap());
            let rules = PrivateRules { batches: Batches::new(b, b), clip, noise_multiplier: z, ledger };
            let shard = Shard::seal_in_slots(records, slots).unwrap();
            let secret = Arc::new(Secret::from_seed(3));
            let mut gate = Gate::private(0, Arc::new(Puppet::new()), shard, secret, rules).unwrap();
            gate.answer(0, &query).unwrap().released
        };
        let mut without = records.clone();
        let last = without.len() - 1;
        without.swap(which.index(last + 1), last);
        let with = without.clone();
        without.pop();
        let (a, c) = (release(with), release(without));
        let squares: f64 = a.as_slice().iter().zip(c.as_slice()).map(|(u, v)| (u - v) * (u - v)).sum();
        // The bound, and what floating point and the grid of 2^-24 of it may add, which is charged.
        let bound = (gamma * c_g + (1.0 - gamma) * c_d) / b as f64;
        let charged = bound * (1.0 + 1e-5 + (DIMENSION as f64).sqrt() * 2.0_f64.powi(-24));
        prop_assert!(squares.sqrt() <= charged, "{} > {bound}", squares.sqrt());
        prop_assert!(a.is_finite() && c.is_finite());
    }

    #[test]
    fn the_sum_is_that_of_the_clipped_gradients(
        records in prop::collection::vec([gradient(ordinary().boxed()), gradient(ordinary().boxed())], 1..150),
        gamma in 0.0..=1.0_f64,
    ) {
        let clip = Clip::new(1.5, 0.7).unwrap();
        let start = || Released::<Exposed>::zeros(DIMENSION);
        let (x, previous) = (start(), start());
        let count = records.len();
        let rules = OpenRules { batches: Batches::new(count, count), sampling: Sampling::Full, clip: Some(clip) };
        let shard = Shard::seal(records.clone()).unwrap();
        let model = Arc::new(Puppet::new());
        let mut gate = Gate::exposed(0, model, shard, Arc::new(Secret::from_seed(3)), rules).unwrap();
        let answer = gate.answer(0, &Query::recursive(&x, &previous, gamma)).unwrap();
        let clipped = |v: Vec<f64>, bound: f64| -> Vec<f64> {
            let norm = v.iter().map(|v| v * v).sum::<f64>().sqrt();
            v.into_iter().map(|v| v * (bound / norm).min(1.0)).collect()
        };
        let mut sum = vec![0.0; DIMENSION];
        for [first, second] in &records {
            let difference = first.values().iter().zip(second.values()).map(|(a, b)| a - b).collect();
            let (g, d) = (clipped(first.values(), 1.5), clipped(difference, 0.7));
            sum.iter_mut().zip(g.iter().zip(&d)).for_each(|(s, (g, d))| *s += gamma * g + (1.0 - gamma) * d);
        }
        // The puppet's order is the parameters' in reverse.
        for (found, exact) in answer.released.as_slice().iter().rev().zip(&sum) {
            prop_assert!((found - exact / count as f64).abs() < 1e-6, "{found} {}", exact / count as f64);
        }
        prop_assert_eq!(answer.diagnostics.records, count as u64);
        // What clipping does to a mean gradient of zero is the mean clipped gradient.
        let measured = Measurement { loss: 0.0, gradient: start() };
        let bias = gate.clip_bias(count, start().as_slice(), &measured, 1.5).unwrap();
        let mean = |k: usize| records.iter().map(|[g, _]| clipped(g.values(), 1.5)[k]).sum::<f64>() / count as f64;
        if records.iter().any(|[g, _]| g.values().iter().map(|v| v * v).sum::<f64>() > 1.51 * 1.51) {
            let found = bias.as_slice().iter().rev().enumerate();
            found.for_each(|(k, found)| assert!((found - mean(k)).abs() < 1e-6, "{found} {}", mean(k)));
        }
    }
}

#[test]
fn what_is_not_finite_contributes_nothing_and_is_counted() {
    let good = Gradient { dense: vec![0.1; DENSE], rows: vec![0.1; ROWS], columns: vec![0.1; COLUMNS] };
    let bad = Gradient { rows: vec![f32::NAN; ROWS], ..good.clone() };
    let rules = |n| OpenRules {
        batches: Batches::new(n, n),
        sampling: Sampling::Full,
        clip: Some(Clip::new(1.0, 1.0).unwrap()),
    };
    let answer = |records: Vec<Record>, gamma: f64| {
        let n = records.len();
        let shard = Shard::seal(records).unwrap();
        let secret = Arc::new(Secret::from_seed(3));
        let mut gate = Gate::exposed(0, Arc::new(Puppet::new()), shard, secret, rules(n)).unwrap();
        let (x, y) = (Released::zeros(DIMENSION), Released::zeros(DIMENSION));
        gate.answer(0, &Query::recursive(&x, &y, gamma)).unwrap()
    };
    for gamma in [1.0, 0.5] {
        let only = answer(vec![[good.clone(), good.clone()], [bad.clone(), good.clone()]], gamma);
        assert_eq!(only.diagnostics.non_finite, 1);
        assert!(only.released.is_finite());
    }
    // At the second point only: noticed where it is looked at.
    assert_eq!(answer(vec![[good.clone(), bad.clone()]], 0.5).diagnostics.non_finite, 1);
}

#[test]
fn clipping_norms_that_single_precision_cannot_do_are_refused() {
    let rules = |clip| OpenRules { batches: Batches::new(1, 1), sampling: Sampling::Full, clip: Some(clip) };
    let shard = Shard::seal_in_slots(Vec::<Record>::new(), 1).unwrap();
    let clip = Clip::new(1.0, 1e-12).unwrap();
    let error = Gate::exposed(0, Arc::new(Puppet::new()), shard, Arc::new(Secret::from_seed(1)), rules(clip));
    assert!(error.err().unwrap().to_string().contains("clip.difference = 0.000000000001"));
}

#[test]
fn an_engine_whose_coordinates_are_not_the_parameters_is_refused() {
    let rules = OpenRules { batches: Batches::new(1, 1), sampling: Sampling::Full, clip: None };
    let open = |places: Vec<u32>| {
        let shard = Shard::seal_in_slots(Vec::<Record>::new(), 1).unwrap();
        let model = Arc::new(Puppet { places });
        Gate::exposed(0, model, shard, Arc::new(Secret::from_seed(1)), rules.clone()).err()
    };
    assert!(open(Puppet::new().places).is_none());
    let mut twice = Puppet::new().places;
    twice[1] = twice[0];
    let mut outside = Puppet::new().places;
    outside[0] = 10_000;
    for places in [twice, outside, vec![0, 1]] {
        assert!(matches!(open(places), Some(GateError::Places)));
    }
}
