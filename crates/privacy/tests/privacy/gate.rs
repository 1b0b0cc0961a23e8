//! The gate's promises: sensitivity, noise, sampling, ledger, and indifference to bad numbers.

use prdo_accounting::{Accountant, Event, Target};
use prdo_privacy::*;
use proptest::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// A record *is* its gradient at the first point; at any other point it is the second vector. So a test can
/// hand the gate any gradients it likes.
struct Puppet {
    dimension: usize,
}

impl Model for Puppet {
    type Data = Vec<(Vec<f64>, Vec<f64>)>;
    fn dimension(&self) -> usize {
        self.dimension
    }
    fn loss(&self, _: &[f64], _: &Self::Data, _: usize) -> f64 {
        0.0
    }
    fn gradient(&self, x: &[f64], data: &Self::Data, record: usize, gradient: &mut [f64]) {
        let (first, second) = &data[record];
        gradient.copy_from_slice(if x[0] == 0.0 { first } else { second });
    }
}

type Record = (Vec<f64>, Vec<f64>);

fn rules(b: usize, clip: Clip, z: f64) -> PrivateRules {
    let ledger = Ledger::new(Arc::new(Accountant::default()), Target::new(1e9, 1e-5).unwrap());
    PrivateRules { batches: Batches::new(b, b), clip, noise_multiplier: z, ledger }
}

/// A private gate over puppets of dimension `d`.
fn private_gate(
    d: usize,
    records: Vec<Record>,
    (slots, b): (usize, usize),
    clip: Clip,
    z: f64,
) -> Gate<Puppet, Noised> {
    let (model, secret) = (Arc::new(Puppet { dimension: d }), Arc::new(Secret::from_seed(11)));
    Gate::private(0, model, Shard::seal_in_slots(records, slots).unwrap(), secret, rules(b, clip, z)).unwrap()
}

fn points(d: usize) -> (Released<Noised>, Released<Noised>) {
    (Released::zeros(d), Released::start(&Start::declared_public(vec![1.0; d]).unwrap()))
}

/// Values that real gradients should never have, among ordinary ones.
fn nasty() -> impl Strategy<Value = f64> {
    prop_oneof![
        6 => -3.0..3.0_f64,
        1 => Just(f64::NAN),
        1 => Just(f64::INFINITY),
        1 => Just(f64::NEG_INFINITY),
        1 => Just(1e300),
        1 => Just(-1e200),
        1 => Just(5e-324),
        1 => Just(0.0),
    ]
}

fn record(d: usize) -> impl Strategy<Value = Record> {
    (prop::collection::vec(nasty(), d), prop::collection::vec(nasty(), d))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// The same random tape on two data sets that differ in one record: the releases differ by at most
    /// S_γ/b (and the rounding that is charged), whatever the gradients are.
    #[test]
    fn one_record_moves_the_release_by_at_most_the_sensitivity(
        (d, records) in (1usize..12).prop_flat_map(|d| (Just(d), prop::collection::vec(record(d), 1..6))),
        which in any::<prop::sample::Index>(),
        gamma in 0.0..=1.0_f64, c_g in 1e-3..1e3_f64, c_d in 1e-4..1e2_f64, z in 0.1..10.0_f64,
        rate_one in any::<bool>(),
        way in 0..4, kappa in 1e-3..10.0_f64, spread in 0.0..6.0_f64,
    ) {
        let clip = Clip::new(c_g, c_d).unwrap();
        let slots = 8;
        let b = if rate_one { slots } else { 3 };
        let (x, previous) = points(d);
        let scales = (0..d).map(|j| 10.0_f64.powf(spread * (j as f64 / d as f64 - 0.5))).collect();
        let by = Released::start(&Start::declared_public(scales).unwrap());
        let recursive = Query::recursive(&x, &previous, gamma);
        let (query, bound) = match way {
            0 => (recursive, gamma * c_g + (1.0 - gamma) * c_d),
            1 => (recursive.clipped(Clips::Combined), gamma * c_g + (1.0 - gamma) * c_d),
            2 if gamma < 1.0 => (
                recursive.clipped(Clips::Movement { kappa }),
                gamma * c_g + (1.0 - gamma) * kappa * (d as f64).sqrt(),
            ),
            _ => (Query::scaled(&x, &by, c_d), c_d),
        };
        let release = |records: Vec<Record>| {
            private_gate(d, records, (slots, b), clip, z).answer(4, &query).unwrap().released
        };
        let mut without = records.clone();
        // Removing the last record keeps every other record in its slot; bring `which` there first.
        let last = without.len() - 1;
        without.swap(which.index(last + 1), last);
        let with = without.clone();
        without.pop();
        let (a, c) = (release(with), release(without));
        let squares: f64 = a.as_slice().iter().zip(c.as_slice()).map(|(u, v)| (u - v) * (u - v)).sum();
        let bound = bound / b as f64;
        prop_assert!(squares.sqrt() <= bound * (1.0 + 1e-6), "{} > {bound}", squares.sqrt());
        prop_assert!(a.is_finite() && c.is_finite());
    }

    /// γ = 1 asks for the plain gradient: same bits as the query without a difference.
    #[test]
    fn gamma_one_is_the_gradient_query_bit_for_bit(
        (d, records) in (1usize..8).prop_flat_map(|d| (Just(d), prop::collection::vec(record(d), 1..8))),
    ) {
        let clip = Clip::new(1.0, 0.1).unwrap();
        let (x, previous) = points(d);
            let mut a = private_gate(d, records.clone(), (10, 5), clip, 1.0);
        let mut b = private_gate(d, records, (10, 5), clip, 1.0);
        for round in 0..4 {
            let one = a.answer(round, &Query::recursive(&x, &previous, 1.0)).unwrap();
            let two = b.answer(round, &Query::gradient(&x)).unwrap();
            prop_assert_eq!(one.released, two.released);
            prop_assert_eq!(one.diagnostics, two.diagnostics);
        }
    }
}

#[test]
fn a_non_finite_gradient_contributes_zero_and_is_counted() {
    let clip = Clip::new(1.0, 1.0).unwrap();
    let (x, _) = points(2);
    let bad = vec![
        (vec![f64::NAN, 1.0], vec![0.0; 2]),
        (vec![f64::INFINITY, 0.0], vec![0.0; 2]),
        (vec![0.0, f64::NEG_INFINITY], vec![0.0; 2]),
    ];
    let empty = private_gate(2, vec![], (4, 4), clip, 1.0).answer(0, &Query::gradient(&x)).unwrap();
    let answer = private_gate(2, bad, (4, 4), clip, 1.0).answer(0, &Query::gradient(&x)).unwrap();
    assert_eq!(answer.released, empty.released, "only noise may be left");
    assert_eq!((answer.diagnostics.non_finite, answer.diagnostics.records), (3, 3));
}

#[test]
fn a_non_finite_difference_contributes_zero_too() {
    let (x, previous) = points(1);
    let clip = Clip::new(1.0, 1.0).unwrap();
    let query = Query::recursive(&x, &previous, 0.5);
    let empty = private_gate(1, vec![], (1, 1), clip, 1.0).answer(0, &query).unwrap();
    let answer =
        private_gate(1, vec![(vec![1.0], vec![f64::NAN])], (1, 1), clip, 1.0).answer(0, &query).unwrap();
    assert_eq!(answer.released, empty.released);
    assert_eq!(answer.diagnostics.non_finite, 1);
}

#[test]
fn an_empty_batch_still_releases_noise_and_is_charged() {
    let (x, _) = points(3);
    let mut gate = private_gate(3, vec![], (1000, 1), Clip::new(1.0, 1.0).unwrap(), 1.0);
    let answer = gate.answer(0, &Query::gradient(&x)).unwrap();
    assert!(answer.released.as_slice().iter().all(|v| *v != 0.0));
    assert_eq!(gate.ledger().releases(), 1);
}

/// The noise has the claimed deviation z·S/b on both kinds of query, is on the grid, and is fresh each round.
#[test]
fn noise_has_the_claimed_variance_and_lies_on_the_grid() {
    let d = 20_000;
    let (x, previous) = points(d);
    let (c_g, c_d, z, b, gamma) = (2.0, 0.01, 1.7, 4, 0.05);
    let mut gate = private_gate(d, vec![], (16, b), Clip::new(c_g, c_d).unwrap(), z);
    let cases = [
        (Query::gradient(&x), c_g),
        (Query::recursive(&x, &previous, gamma), gamma * c_g + (1.0 - gamma) * c_d),
    ];
    let mut last: Option<Vec<f64>> = None;
    for (round, (query, scale)) in cases.iter().enumerate() {
        let released = gate.answer(round as u32, query).unwrap().released;
        let values = released.as_slice();
        let claimed = z * scale / b as f64;
        let variance: f64 = values.iter().map(|v| v * v).sum::<f64>() / d as f64;
        let ratio = variance / (claimed * claimed);
        assert!((ratio - 1.0).abs() < 6.0 * (2.0 / d as f64).sqrt(), "variance ratio {ratio}");
        let spacing = 2.0_f64.powi((scale * z).log2().ceil() as i32 - 32) / b as f64;
        assert!(values.iter().all(|v| (v / spacing).fract() == 0.0), "a value is off the grid");
        if let Some(before) = last.replace(values.to_vec()) {
            let dot: f64 = before.iter().zip(values).map(|(a, b)| a * b).sum();
            let norms: f64 =
                before.iter().map(|v| v * v).sum::<f64>() * values.iter().map(|v| v * v).sum::<f64>();
            assert!((dot / norms.sqrt()).abs() < 6.0 / (d as f64).sqrt(), "rounds are correlated");
        }
    }
}

#[test]
fn the_sum_is_the_same_for_any_number_of_threads() {
    let d = 64;
    let records: Vec<Record> = (0..9000)
        .map(|r| ((0..d).map(|j| ((r * 31 + j * 7) as f64).sin()).collect(), vec![0.0; d]))
        .collect();
    let (x, previous) = points(d);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut gate = private_gate(d, records.clone(), (9000, 9000), Clip::new(1.0, 0.3).unwrap(), 0.5);
            gate.answer(0, &Query::recursive(&x, &previous, 0.3)).unwrap().released
        })
    };
    let one = run(1);
    assert!([2, 3, 7].into_iter().all(|k| run(k) == one));
}

#[test]
fn the_ledger_is_charged_first_and_an_exhausted_one_releases_nothing() {
    let (x, _) = points(1);
    let budget = Target::new(8.0, 1e-5).unwrap();
    let rules = PrivateRules {
        ledger: Ledger::new(Arc::new(Accountant::default()), budget),
        ..rules(1, Clip::new(1.0, 1.0).unwrap(), 1.0)
    };
    let (model, secret) = (Arc::new(Puppet { dimension: 1 }), Arc::new(Secret::from_seed(1)));
    let shard = Shard::seal(vec![(vec![0.1], vec![0.0])]).unwrap();
    let mut gate = Gate::private(0, model, shard, secret, rules).unwrap();
    let mut round = 0;
    let refusal = loop {
        let before = gate.ledger().releases();
        match gate.answer(round, &Query::gradient(&x)) {
            Ok(_) => assert_eq!(gate.ledger().releases(), before + 1),
            Err(error) => break error,
        }
        round += 1;
    };
    assert!(matches!(refusal, GateError::Ledger(LedgerError::Exhausted { .. })), "{refusal}");
    assert!(round > 0 && gate.ledger().spent() <= 8.0);
}

/// Keeps every charge, or none, and counts what it was asked.
struct Page {
    entered: Arc<AtomicU32>,
    refuses: bool,
}

impl Book for Page {
    fn enter(&mut self, round: u32, _: &Event) -> Result<(), BookError> {
        if self.refuses {
            return Err(BookError("no space left".into()));
        }
        assert_eq!(self.entered.fetch_add(1, Ordering::SeqCst), round, "rounds are entered in order");
        Ok(())
    }
}

/// Its gradients are the count of charges that the book held when they were evaluated.
struct Witness(Arc<AtomicU32>);

impl Model for Witness {
    type Data = Vec<f64>;
    fn dimension(&self) -> usize {
        1
    }
    fn loss(&self, _: &[f64], _: &Self::Data, _: usize) -> f64 {
        0.0
    }
    fn gradient(&self, _: &[f64], _: &Self::Data, _: usize, gradient: &mut [f64]) {
        gradient[0] = f64::from(self.0.load(Ordering::SeqCst));
    }
}

#[test]
fn the_book_has_the_charge_before_a_record_is_read_and_a_refusing_book_means_no_release() {
    let (x, _) = points(1);
    let gate = |refuses: bool| {
        let entered = Arc::new(AtomicU32::new(0));
        let rules = rules(1, Clip::new(4.0, 1.0).unwrap(), 0.01);
        let ledger = rules.ledger.kept_by(Box::new(Page { entered: Arc::clone(&entered), refuses }));
        let (model, secret) = (Arc::new(Witness(entered)), Arc::new(Secret::from_seed(1)));
        let shard = Shard::seal(vec![0.0]).unwrap();
        Gate::private(0, model, shard, secret, PrivateRules { ledger, ..rules }).unwrap()
    };
    let mut kept = gate(false);
    for round in 0..4 {
        // The witness answers the charges that were kept when it was asked; the noise has deviation 0.04.
        let released = Answerer::answer(&mut kept, round, &Query::gradient(&x)).unwrap().released;
        assert!((released.as_slice()[0] - f64::from(round + 1)).abs() < 0.5);
        assert_eq!(kept.ledger().releases(), u64::from(round) + 1);
    }
    let mut refusing: Box<dyn Answerer> = Box::new(gate(true));
    let refusal = refusing.answer(0, &Query::gradient(&x)).unwrap_err();
    assert!(matches!(&refusal, GateError::Ledger(LedgerError::Book(_))), "{refusal}");
    assert_eq!(refusing.spent(), gate(true).ledger().spent());
}

#[test]
fn zero_tiny_negative_or_nan_noise_is_refused_before_anything_is_released() {
    let (x, _) = points(1);
    for z in [0.0, -1.0, f64::NAN, 1e-9, f64::INFINITY] {
        let mut gate = private_gate(1, vec![(vec![1.0], vec![1.0])], (1, 1), Clip::new(1.0, 1.0).unwrap(), z);
        assert!(gate.answer(0, &Query::gradient(&x)).is_err(), "z = {z}");
        assert_eq!(gate.ledger().releases(), 0);
    }
}

#[test]
fn a_round_is_answered_once_and_sizes_must_match() {
    let (x, _) = points(1);
    let mut gate = private_gate(1, vec![], (4, 2), Clip::new(1.0, 1.0).unwrap(), 1.0);
    gate.answer(3, &Query::gradient(&x)).unwrap();
    for round in [3, 1] {
        let again = gate.answer(round, &Query::gradient(&x));
        assert!(matches!(again, Err(GateError::RoundGoneBy { next: 4, .. })));
    }
    let (large, _) = points(2);
    let wrong = gate.answer(9, &Query::gradient(&large));
    assert!(matches!(wrong, Err(GateError::Dimension { query: 2, model: 1 })));
    assert_eq!(gate.ledger().releases(), 1);
}

#[test]
fn clipping_without_noise_is_the_definition() {
    let d = 3;
    let records =
        vec![(vec![3.0, 0.0, 4.0], vec![3.0, 0.1, 4.0]), (vec![0.1, 0.2, 0.2], vec![0.1, 0.2, 0.1])];
    let (c_g, c_d, gamma) = (1.0, 0.05, 0.25);
    let rules = OpenRules {
        batches: Batches::new(2, 2),
        sampling: Sampling::Full,
        clip: Some(Clip::new(c_g, c_d).unwrap()),
    };
    let (model, secret) = (Arc::new(Puppet { dimension: d }), Arc::new(Secret::from_seed(1)));
    let mut gate = Gate::exposed(0, model, Shard::seal(records.clone()).unwrap(), secret, rules).unwrap();
    let x = Released::zeros(d);
    let previous = Released::start(&Start::declared_public(vec![1.0; d]).unwrap());
    let answer = gate.answer(0, &Query::recursive(&x, &previous, gamma)).unwrap();
    let clip = |u: &[f64], c: f64| {
        let norm = u.iter().map(|v| v * v).sum::<f64>().sqrt();
        u.iter().map(|v| v / f64::max(1.0, norm / c)).collect::<Vec<_>>()
    };
    for j in 0..d {
        let expected: f64 = records
            .iter()
            .map(|(now, before)| {
                let difference: Vec<f64> = now.iter().zip(before).map(|(a, b)| a - b).collect();
                gamma * clip(now, c_g)[j] + (1.0 - gamma) * clip(&difference, c_d)[j]
            })
            .sum::<f64>()
            / 2.0;
        assert!((answer.released.as_slice()[j] - expected).abs() < 1e-9);
    }
    assert_eq!((answer.diagnostics.clipped_gradients, answer.diagnostics.clipped_differences), (1, 2));

    // As one: the weighted sum at S_γ.
    let combined = Query::recursive(&x, &previous, gamma).clipped(Clips::Combined);
    let answer = gate.answer(1, &combined).unwrap();
    let s = gamma * c_g + (1.0 - gamma) * c_d;
    let weighted = |(now, before): &Record| -> Vec<f64> {
        now.iter().zip(before).map(|(a, b)| gamma * a + (1.0 - gamma) * (a - b)).collect()
    };
    for j in 0..d {
        let expected = records.iter().map(|record| clip(&weighted(record), s)[j]).sum::<f64>() / 2.0;
        assert!((answer.released.as_slice()[j] - expected).abs() < 1e-9);
    }
    assert_eq!((answer.diagnostics.clipped_gradients, answer.diagnostics.differences), (1, 0));

    // In scaled coordinates: divided first, clipped then.
    let scales = [0.5, 2.0, 10.0];
    let by = Released::start(&Start::declared_public(scales.to_vec()).unwrap());
    let answer = gate.answer(2, &Query::scaled(&x, &by, 0.7)).unwrap();
    let divided = |(now, _): &Record| -> Vec<f64> { now.iter().zip(scales).map(|(g, by)| g / by).collect() };
    for j in 0..d {
        let expected = records.iter().map(|record| clip(&divided(record), 0.7)[j]).sum::<f64>() / 2.0;
        assert!((answer.released.as_slice()[j] - expected).abs() < 1e-9);
    }
    assert_eq!(answer.diagnostics.clipped_gradients, 1);
}

/// The rate that is charged is the rate that is used: sizes are held against the sealed slots.
#[test]
fn batches_larger_than_the_node_are_refused_and_the_rate_comes_from_the_slots() {
    let clip = Clip::new(1.0, 1.0).unwrap();
    let (model, secret) = (Arc::new(Puppet { dimension: 1 }), Arc::new(Secret::from_seed(1)));
    for b in [0, 5] {
        let shard = Shard::seal(vec![(vec![0.1], vec![0.0]); 4]).unwrap();
        let refused = Gate::private(0, Arc::clone(&model), shard, Arc::clone(&secret), rules(b, clip, 1.0));
        assert!(matches!(refused, Err(GateError::Sampling(_))));
    }
    let mut gate = private_gate(1, vec![], (8, 2), clip, 1.0);
    gate.answer(0, &Query::gradient(&points(1).0)).unwrap();
    let rate = gate.charged().unwrap().entries()[0].0.rate();
    assert!((0.25..0.25 + 1e-12).contains(&rate));
}

#[test]
fn a_checkpoint_cannot_take_back_rounds_or_charges() {
    let (x, _) = points(1);
    let mut gate = private_gate(1, vec![], (4, 2), Clip::new(1.0, 1.0).unwrap(), 1.0);
    (0..3).for_each(|round| drop(gate.answer(round, &Query::gradient(&x)).unwrap()));
    let charged = gate.charged().unwrap();
    for (rounds, history) in
        [(0, History::new()), (2, charged.clone()), (3, History::new()), (9, charged.clone())]
    {
        assert!(matches!(gate.restore(rounds, &history), Err(GateError::Rewind { .. })), "{rounds}");
    }
    gate.restore(3, &charged).unwrap();
    assert_eq!(gate.ledger().releases(), 3);
    let mut fresh = private_gate(1, vec![], (4, 2), Clip::new(1.0, 1.0).unwrap(), 1.0);
    fresh.restore(3, &charged).unwrap();
    assert!(matches!(fresh.answer(2, &Query::gradient(&x)), Err(GateError::RoundGoneBy { .. })));
}

#[test]
fn the_last_round_number_is_answered_once() {
    let (x, _) = points(1);
    let mut gate = private_gate(1, vec![], (4, 2), Clip::new(1.0, 1.0).unwrap(), 1.0);
    gate.answer(u32::MAX, &Query::gradient(&x)).unwrap();
    assert!(
        gate.answer(u32::MAX, &Query::gradient(&x)).is_err() && gate.answer(0, &Query::gradient(&x)).is_err()
    );
}

/// Huge gradients under tiny bounds make the clipping factor subnormal, where it has few digits.
#[test]
fn the_bound_holds_where_clipping_factors_are_subnormal() {
    let (x, _) = points(2);
    for c in [1e-16, 1e-40, 1e-100, 1e-3] {
        for huge in [3.97e307, 1e300, 4e223, 1.7e308] {
            let clip = Clip::new(c, c).unwrap();
            let release = |records: Vec<Record>| {
                private_gate(2, records, (1, 1), clip, 0.5).answer(0, &Query::gradient(&x)).unwrap().released
            };
            let (with, without) = (release(vec![(vec![huge, huge], vec![0.0; 2])]), release(vec![]));
            let change: f64 =
                with.as_slice().iter().zip(without.as_slice()).map(|(a, b)| (a / c - b / c).powi(2)).sum();
            assert!(change.sqrt() <= 1.0 + 1e-6, "C = {c:e}, gradient {huge:e}: {} C", change.sqrt());
        }
    }
}

/// A model that forgets to write a coordinate does not pass one record's values on to the next.
#[test]
fn no_record_leaks_into_the_next_through_the_buffer() {
    struct Forgetful;
    impl Model for Forgetful {
        type Data = Vec<Option<f64>>;
        fn dimension(&self) -> usize {
            1
        }
        fn loss(&self, _: &[f64], _: &Self::Data, _: usize) -> f64 {
            0.0
        }
        fn gradient(&self, _: &[f64], data: &Self::Data, record: usize, gradient: &mut [f64]) {
            if let Some(value) = data[record] {
                gradient[0] = value;
            }
        }
    }
    let release = |records: Vec<Option<f64>>| {
        let (n, secret) = (records.len(), Arc::new(Secret::from_seed(1)));
        let rules = rules(n, Clip::new(1.0, 1.0).unwrap(), 1.0);
        let mut gate =
            Gate::private(0, Arc::new(Forgetful), Shard::seal(records).unwrap(), secret, rules).unwrap();
        gate.answer(0, &Query::gradient(&Released::zeros(1))).unwrap().released.as_slice()[0] * n as f64
    };
    let with = release(std::iter::once(Some(1.0)).chain([None; 50]).collect());
    let without = release([None; 51].to_vec());
    assert!((with - without).abs() <= 1.0 + 1e-6, "one record moved the sum by {}", with - without);
}

#[test]
fn queries_with_other_sizes_or_weights_are_refused_before_a_record_is_read() {
    let (x, _) = points(2);
    let (_, short) = points(1);
    let mut gate =
        private_gate(2, vec![(vec![1.0; 2], vec![1.0; 2])], (4, 2), Clip::new(1.0, 1.0).unwrap(), 1.0);
    assert!(matches!(gate.answer(0, &Query::recursive(&x, &short, 0.5)), Err(GateError::Dimension { .. })));
    for gamma in [f64::NAN, f64::INFINITY, -0.5, 3.0, 1e308] {
        let refused = gate.answer(0, &Query::recursive(&x, &x, gamma));
        assert!(matches!(refused, Err(GateError::Weights { .. })), "γ = {gamma}");
    }
    for kappa in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let refused = gate.answer(0, &Query::moved(&x, &x, kappa));
        assert!(matches!(refused, Err(GateError::Movement { .. })), "κ = {kappa}");
    }
    assert!(matches!(gate.answer(0, &Query::scaled(&x, &short, 1.0)), Err(GateError::Dimension { .. })));
    let one = Released::start(&Start::ones(2));
    for clip in [0.0, -1.0, f64::NAN, 1e200] {
        let refused = gate.answer(0, &Query::scaled(&x, &one, clip));
        assert!(matches!(refused, Err(GateError::ScaledClip { .. })), "C₂ = {clip}");
    }
    for value in [0.0, -1.0] {
        let by = Released::start(&Start::declared_public(vec![1.0, value]).unwrap());
        let refused = gate.answer(0, &Query::scaled(&x, &by, 1.0));
        assert!(matches!(refused, Err(GateError::Scale { index: 1, .. })), "{value}");
    }
    assert_eq!(gate.ledger().releases(), 0);
}

/// Gradients of zero until it is told to fail.
struct Failing(std::sync::atomic::AtomicBool);

impl Model for Failing {
    type Data = Vec<f64>;
    fn dimension(&self) -> usize {
        1
    }
    fn failure(&self) -> Option<String> {
        self.0.load(Ordering::SeqCst).then(|| "on purpose".to_string())
    }
    fn loss(&self, _: &[f64], _: &Vec<f64>, _: usize) -> f64 {
        0.0
    }
    fn gradient(&self, _: &[f64], _: &Vec<f64>, _: usize, gradient: &mut [f64]) {
        gradient.fill(0.0);
    }
}

#[test]
fn nothing_is_released_of_a_sum_that_the_model_could_not_compute() {
    let model = Arc::new(Failing(false.into()));
    let clip = Clip::new(1.0, 1.0).unwrap();
    let shard = |records| Shard::seal(records).unwrap();
    let secret = Arc::new(Secret::from_seed(1));
    let private =
        Gate::private(0, Arc::clone(&model), shard(vec![0.0; 9]), Arc::clone(&secret), rules(3, clip, 1.0));
    let mut private = private.unwrap();
    let (at, _) = points(1);
    assert!(private.answer(0, &Query::gradient(&at)).is_ok());
    model.0.store(true, Ordering::SeqCst);
    let refused = private.answer(1, &Query::gradient(&at)).unwrap_err();
    assert_eq!(refused, GateError::Model("on purpose".into()));
    // Charged all the same: the safe side.
    assert_eq!(private.charged().unwrap().len(), 2);
    for clip in [None, Some(clip)] {
        let rules = OpenRules { batches: Batches::new(3, 3), sampling: Sampling::Full, clip };
        let mut open =
            Gate::exposed(0, Arc::clone(&model), shard(vec![0.0; 9]), Arc::clone(&secret), rules).unwrap();
        let refused = open.answer(0, &Query::gradient(&Released::zeros(1))).unwrap_err();
        assert_eq!(refused, GateError::Model("on purpose".into()));
    }
}

#[test]
fn the_bias_of_clipping_is_what_clipping_takes_from_the_mean() {
    let records: Vec<Record> = vec![(vec![3.0, 4.0], vec![]), (vec![0.3, 0.4], vec![])];
    let gate = private_gate(2, records, (2, 1), Clip::new(1.0, 1.0).unwrap(), 1.0);
    let x = [0.0, 0.0];
    let bias = |norm: f64| gate.clip_bias(usize::MAX, &x, &gate.measure(&x), norm);
    // The first record, of norm 5, loses 4; its half of the mean is the bias.
    let found = bias(1.0).unwrap();
    found.as_slice().iter().zip([-1.2, -1.6]).for_each(|(a, b)| assert!((a - b).abs() < 1e-9, "{a} {b}"));
    // Nothing clipped: exactly nothing.
    assert_eq!(bias(5.0).unwrap().as_slice(), [0.0, 0.0]);
    assert!(bias(0.0).is_none() && bias(f64::NAN).is_none());
}
