//! The fast path of linear models: the same answers as record by record, exact sums, sensitivity whatever the records.

use prdo_accounting::{Accountant, Target};
use prdo_privacy::*;
use proptest::prelude::*;
use std::sync::Arc;

const INPUTS: usize = 11;
const OUTPUTS: usize = 3;
const DIMENSION: usize = INPUTS * OUTPUTS;

/// A record is its input, and what it adds to its scores to get its slopes.
#[derive(Clone, Debug)]
struct Record {
    input: Vec<f64>,
    shift: Vec<f64>,
}

/// ∇ = (tanh(Wa) + shift)⊗a; with `fast`, offered as such.
struct Puppet {
    fast: bool,
}

impl Puppet {
    fn slopes_of(record: &Record, scores: &mut [f64]) {
        scores.iter_mut().zip(&record.shift).for_each(|(s, shift)| *s = s.tanh() + shift);
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
    fn gradient(&self, x: &[f64], data: &Self::Data, record: usize, gradient: &mut [f64]) {
        assert!(!self.fast, "the gate asks for slopes");
        let record = &data[record];
        let score = |row: &[f64]| row.iter().zip(&record.input).map(|(w, a)| w * a).sum();
        let mut scores: Vec<f64> = x.chunks_exact(INPUTS).map(score).collect();
        Self::slopes_of(record, &mut scores);
        let outer = scores.iter().flat_map(|s| record.input.iter().map(move |a| s * a));
        gradient.iter_mut().zip(outer).for_each(|(g, o)| *g = o);
    }
    fn linear(&self) -> Option<&dyn Linear<Self::Data>> {
        self.fast.then_some(self as &dyn Linear<Self::Data>)
    }
}

impl Linear<Vec<Record>> for Puppet {
    fn outputs(&self) -> usize {
        OUTPUTS
    }
    fn inputs(&self) -> usize {
        INPUTS
    }
    fn input(&self, data: &Vec<Record>, record: usize, out: &mut [f64]) {
        out.copy_from_slice(&data[record].input);
    }
    fn slopes(&self, data: &Vec<Record>, record: usize, scores: &mut [f64]) {
        Self::slopes_of(&data[record], scores);
    }
}

fn record(value: BoxedStrategy<f64>) -> impl Strategy<Value = Record> {
    (prop::collection::vec(value.clone(), INPUTS), prop::collection::vec(value, OUTPUTS))
        .prop_map(|(input, shift)| Record { input, shift })
}

fn ordinary() -> BoxedStrategy<f64> {
    (-3.0..3.0_f64).boxed()
}

fn any_value() -> BoxedStrategy<f64> {
    prop_oneof![
        14 => -3.0..3.0_f64,
        1 => Just(f64::NAN), 1 => Just(f64::INFINITY), 1 => Just(1e200), 1 => Just(-1e150), 1 => Just(1e-200),
        1 => Just(1e-320), 2 => Just(0.0),
    ]
    .boxed()
}

fn zero<P: Protection>() -> Released<P> {
    Released::zeros(DIMENSION)
}

fn open(records: &[Record], fast: bool, clip: Clip, gamma: f64, way: Way) -> Answer<Exposed> {
    let n = records.len();
    let rules = OpenRules { batches: Batches::new(n, n), sampling: Sampling::Full, clip: Some(clip) };
    let shard = Shard::seal(records.to_vec()).unwrap();
    let mut gate =
        Gate::exposed(0, Arc::new(Puppet { fast }), shard, Arc::new(Secret::from_seed(3)), rules).unwrap();
    // Two points that differ: the first answer's, and the start.
    let (x, y) = (moved(), zero::<Exposed>());
    gate.answer(0, &asked(&x, &y, gamma, way)).unwrap()
}

/// The recursive query in one of its ways of clipping, or the difference tied to the movement alone.
#[derive(Clone, Copy, Debug)]
enum Way {
    Recursive(Clips),
    Moved { kappa: f64 },
}

fn way() -> impl Strategy<Value = Way> {
    prop_oneof![
        Just(Way::Recursive(Clips::Separate)),
        Just(Way::Recursive(Clips::Combined)),
        (1e-3..10.0_f64).prop_map(|kappa| Way::Recursive(Clips::Movement { kappa })),
        (1e-3..10.0_f64).prop_map(|kappa| Way::Moved { kappa }),
    ]
}

fn asked<'a, P: Protection>(x: &'a Released<P>, y: &'a Released<P>, gamma: f64, way: Way) -> Query<'a, P> {
    match way {
        Way::Recursive(clips) => Query::recursive(x, y, gamma).clipped(clips),
        Way::Moved { kappa } => Query::moved(x, y, kappa),
    }
}

/// A point away from zero: an open gate's answer for one fixed record.
fn moved() -> Released<Exposed> {
    let records = vec![Record { input: vec![0.3; INPUTS], shift: vec![0.5, -0.2, 0.1] }];
    let rules = OpenRules { batches: Batches::new(1, 1), sampling: Sampling::Full, clip: None };
    let shard = Shard::seal(records).unwrap();
    let mut gate =
        Gate::exposed(0, Arc::new(Puppet { fast: false }), shard, Arc::new(Secret::from_seed(3)), rules)
            .unwrap();
    gate.answer(0, &Query::gradient(&zero::<Exposed>())).unwrap().released
}

/// What clipping alone does to the mean gradient of the first records.
fn bias(records: &[Record], fast: bool, clip: Clip, most: usize) -> Released<Exposed> {
    let n = records.len();
    let rules = OpenRules { batches: Batches::new(n, n), sampling: Sampling::Full, clip: Some(clip) };
    let gate = |fast: bool| {
        let shard = Shard::seal(records.to_vec()).unwrap();
        let secret = Arc::new(Secret::from_seed(3));
        Gate::exposed(0, Arc::new(Puppet { fast }), shard, secret, rules.clone()).unwrap()
    };
    let x = moved();
    let measured = gate(false).measure_first(most, x.as_slice());
    gate(fast).clip_bias(most, x.as_slice(), &measured, clip.gradient()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn the_bias_of_clipping_is_that_of_gradients_record_by_record(
        records in prop::collection::vec(record(ordinary()), 1..90), c in 1e-2..1e2_f64, most in 1usize..100,
    ) {
        let clip = Clip::new(c, 1.0).unwrap();
        let (fast, slow) = (bias(&records, true, clip, most), bias(&records, false, clip, most));
        let (x, first) = (moved(), records.len().min(most));
        let model = Puppet { fast: false };
        let mut exact = vec![0.0; DIMENSION];
        for r in 0..first {
            let mut gradient = vec![0.0; DIMENSION];
            model.gradient(x.as_slice(), &records, r, &mut gradient);
            let norm = gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
            let kept = (c / norm).min(1.0);
            exact.iter_mut().zip(&gradient).for_each(|(e, g)| *e += (kept - 1.0) * g / first as f64);
        }
        for ((a, b), exact) in fast.as_slice().iter().zip(slow.as_slice()).zip(&exact) {
            prop_assert!((a - exact).abs() < 1e-9 * c + 1e-12 && (b - exact).abs() < 1e-9 * c + 1e-12, "{} {} {}", a, b, exact);
        }
    }

    #[test]
    fn answers_are_those_of_gradients_record_by_record(
        records in prop::collection::vec(record(ordinary()), 1..90),
        gamma in 0.0..=1.0_f64, c_g in 1e-2..1e2_f64, c_d in 1e-4..1e1_f64,
        way in way(),
    ) {
        let clip = Clip::new(c_g, c_d).unwrap();
        let (fast, slow) = (open(&records, true, clip, gamma, way), open(&records, false, clip, gamma, way));
        prop_assert_eq!(fast.diagnostics, slow.diagnostics);
        // A step of the grid now and then, where the two round a number that lies between two steps.
        let step = asked(&moved(), &zero(), gamma, way).scale(&clip) * 2.0_f64.powi(-31);
        for (a, b) in fast.released.as_slice().iter().zip(slow.released.as_slice()) {
            prop_assert!((a - b).abs() <= step, "{} {}: {} steps", a, b, (a - b) / step);
        }
    }

    #[test]
    fn the_sum_is_exact_whatever_records_go_together(
        records in prop::collection::vec(record(any_value()), 1..70), gamma in 0.0..=1.0_f64,
        way in way(),
    ) {
        let clip = Clip::new(1.5, 0.2).unwrap();
        let all = open(&records, true, clip, gamma, way);
        let mut sums = vec![0.0; DIMENSION];
        let mut counts = Diagnostics::default();
        for record in &records {
            let one = open(std::slice::from_ref(record), true, clip, gamma, way);
            counts.add(&one.diagnostics);
            // Multiples of one power of two: adding them is exact.
            sums.iter_mut().zip(one.released.as_slice()).for_each(|(s, v)| *s += v);
        }
        prop_assert_eq!(all.diagnostics, counts);
        for (a, s) in all.released.as_slice().iter().zip(&sums) {
            prop_assert_eq!(*a, s / records.len() as f64);
        }
    }

    #[test]
    fn one_record_moves_the_release_by_at_most_the_sensitivity(
        records in prop::collection::vec(record(any_value()), 1..6),
        gamma in 0.0..=1.0_f64, c_g in 1e-3..1e3_f64, c_d in 1e-6..1e2_f64, z in 0.1..10.0_f64,
        way in way(),
    ) {
        let clip = Clip::new(c_g, c_d).unwrap();
        let away = Start::declared_public((0..DIMENSION).map(|j| 0.1 * j as f64).collect()).unwrap();
        let (x, previous) = (Released::<Noised>::start(&away), zero::<Noised>());
        let query = asked(&x, &previous, gamma, way);
        let release = |records: &[Record]| {
            let ledger = Ledger::new(Arc::new(Accountant::default()), Target::new(1e9, 1e-5).unwrap());
            let rules = PrivateRules { batches: Batches::new(8, 8), clip, noise_multiplier: z, ledger };
            let shard = Shard::seal_in_slots(records.to_vec(), 8).unwrap();
            let model = Arc::new(Puppet { fast: true });
            let mut gate = Gate::private(0, model, shard, Arc::new(Secret::from_seed(3)), rules).unwrap();
            gate.answer(0, &query).unwrap().released
        };
        let (a, b) = (release(&records), release(&records[..records.len() - 1]));
        let squares: f64 = a.as_slice().iter().zip(b.as_slice()).map(|(u, v)| (u - v) * (u - v)).sum();
        let bound = query.scale(&clip) / 8.0;
        prop_assert!(squares.sqrt() <= bound * (1.0 + 1e-7 * z.max(1.0)), "{} > {bound}", squares.sqrt());
        prop_assert!(a.is_finite() && b.is_finite());
    }
}

#[test]
fn a_matrix_that_is_not_the_parameters_is_refused() {
    struct Short;
    impl Model for Short {
        type Data = Vec<Record>;
        fn dimension(&self) -> usize {
            DIMENSION + 1
        }
        fn loss(&self, _: &[f64], _: &Self::Data, _: usize) -> f64 {
            0.0
        }
        fn gradient(&self, _: &[f64], _: &Self::Data, _: usize, _: &mut [f64]) {}
        fn linear(&self) -> Option<&dyn Linear<Self::Data>> {
            Some(&Puppet { fast: true })
        }
    }
    let rules = OpenRules { batches: Batches::new(1, 1), sampling: Sampling::Full, clip: None };
    let shard = Shard::seal_in_slots(Vec::new(), 1).unwrap();
    let error = Gate::exposed(0, Arc::new(Short), shard, Arc::new(Secret::from_seed(1)), rules).err();
    assert!(matches!(error, Some(GateError::Places)));
}
