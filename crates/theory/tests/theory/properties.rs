//! What must be true of every setting.

use prdo_accounting::{Event, Target, paper};
use prdo_theory::energy::{Mode, Products};
use prdo_theory::lemmas::{self, Sums};
use prdo_theory::noise::{self, Budget};
use prdo_theory::sensitivity::Sensitivity;
use prdo_theory::{
    Bounds, Conditions, Constants, Levels, Parameters, Schedule, Setting, Setup, cost, schedule,
};
use proptest::prelude::*;

fn log(from: f64, to: f64) -> impl Strategy<Value = f64> {
    (from..to).prop_map(|power| 10.0_f64.powf(power))
}

fn lambdas() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), Just(1.0_f64.next_down()), 0.0..1.0, log(-16.0, 0.0).prop_map(|gap| 1.0 - gap)]
}

fn setups() -> impl Strategy<Value = Setup> {
    (1_u64..2000, log(0.0, 9.0), 1_u64..1000, lambdas(), log(-4.0, 4.0)).prop_map(
        |(nodes, rounds, batch, lambda, smoothness)| Setup {
            nodes,
            rounds: rounds as u64,
            batch,
            lambda,
            smoothness,
        },
    )
}

fn settings() -> impl Strategy<Value = Setting> {
    (setups(), log(-8.0, 3.0), log(-6.0, 0.0), 1_u64..100_000).prop_map(|(setup, step_size, gamma, first)| {
        Setting::new(setup, Parameters { step_size, gamma, first_batch: first }).unwrap()
    })
}

fn level() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), log(-6.0, 6.0)]
}

fn levels() -> impl Strategy<Value = Levels> {
    (level(), level(), level(), 1_u64..100_000, level()).prop_map(
        |(initial_gap, heterogeneity, sampling_variance, dimension, noise_variance)| Levels {
            initial_gap,
            heterogeneity,
            sampling_variance,
            dimension,
            noise_variance,
        },
    )
}

/// Any double at all, the odd ones often.
fn any_double() -> impl Strategy<Value = f64> {
    let odd = [0.0, -0.0, 1.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN_POSITIVE];
    prop_oneof![prop::sample::select(odd.to_vec()), any::<u64>().prop_map(f64::from_bits), log(-30.0, 30.0)]
}

fn any_count() -> impl Strategy<Value = u64> {
    prop_oneof![prop::sample::select(vec![0, 1, 2, u64::MAX, 1_000_000_000, 1_000_000_000_000]), any::<u64>()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn the_largest_schedule_is_feasible_and_no_larger_one_is(setup in setups(), c_gamma in log(-4.0, 0.0)) {
        let largest = Schedule::largest(&setup, c_gamma).unwrap();
        let conditions = Conditions::of(largest.setting());
        prop_assert!(conditions.hold(), "{:?}", conditions);
        let more = Schedule::new(&setup, largest.c_alpha() * (1.0 + 1e-9), c_gamma).unwrap();
        prop_assert!(!Conditions::of(more.setting()).hold());
        prop_assert!(conditions.binding().used() > 1.0 - 1e-9);
        let sufficient = Schedule::sufficient(&setup, c_gamma).unwrap();
        prop_assert!(Conditions::of(sufficient.setting()).hold());
        prop_assert!(sufficient.c_alpha() <= largest.c_alpha() * (1.0 + 1e-12));
        prop_assert!(sufficient.c_alpha() <= 0.25);
    }

    #[test]
    fn the_first_batch_is_the_least_whose_cube_suffices(batch in 1_u64..100_000_000, rounds in 1_u64..1_000_000_000_000) {
        let first = u128::from(schedule::first_batch(batch, rounds).unwrap());
        let goal = u128::from(batch).pow(3) * (u128::from(rounds) + 1);
        prop_assert!(first.pow(3) >= goal && (first - 1).pow(3) < goal);
    }

    #[test]
    fn the_largest_horizon_is_where_the_first_batch_fits(batch in 1_u64..100, slots in 1_u64..10_000) {
        let fits = |rounds| schedule::first_batch(batch, rounds).unwrap() <= slots;
        match schedule::largest_rounds(batch, slots).unwrap() {
            Some(rounds) => prop_assert!(fits(rounds) && !fits(rounds + 1)),
            None => prop_assert!(!fits(1)),
        }
    }

    #[test]
    fn no_network_term_without_a_network(setting in settings(), levels in levels(), sums in (level(), level())) {
        let setup = Setup { lambda: 0.0, ..*setting.setup() };
        let setting = Setting::new(setup, *setting.parameters()).unwrap();
        let constants = Constants::of(&setting);
        prop_assert_eq!([constants.k_h, constants.k_u, constants.a_c, constants.a_u], [0.0; 4]);
        let bounds = Bounds::of(&setting, &levels).unwrap();
        prop_assert_eq!(bounds.network_budget.total(), 0.0);
        prop_assert_eq!(bounds.consensus.total(), 0.0);
        prop_assert_eq!(bounds.stationarity.heterogeneity, 0.0);
        let sums = Sums { disagreement: 0.0, local_error: sums.0, direction: sums.1 };
        prop_assert_eq!(lemmas::disagreement_sum(&setting, levels.heterogeneity, &sums), 0.0);
        prop_assert_eq!(lemmas::next_energy(&setting, 0.0, 1.0, 1.0), 0.0);
    }

    #[test]
    fn a_part_of_a_bound_is_the_bound_without_the_other_causes(setting in settings(), levels in levels()) {
        let none = Levels { initial_gap: 0.0, heterogeneity: 0.0, sampling_variance: 0.0, noise_variance: 0.0, ..levels };
        let alone = [
            Levels { initial_gap: levels.initial_gap, ..none },
            Levels { heterogeneity: levels.heterogeneity, ..none },
            Levels { sampling_variance: levels.sampling_variance, ..none },
            Levels { noise_variance: levels.noise_variance, ..none },
        ].map(|levels| Bounds::of(&setting, &levels).unwrap());
        let whole = Bounds::of(&setting, &levels).unwrap();
        for pick in [|b: &Bounds| b.stationarity, |b: &Bounds| b.direction, |b: &Bounds| b.consensus] {
            let parts = pick(&whole).parts();
            for (one, (name, part)) in alone.iter().zip(parts) {
                let total = pick(one).total();
                prop_assert!(total == part || (total / part - 1.0).abs() < 1e-12, "{}: {} {}", name, total, part);
            }
            let sum: f64 = alone.iter().map(|one| pick(one).total()).sum();
            let total = pick(&whole).total();
            prop_assert!(sum == total || (sum / total - 1.0).abs() < 1e-12);
        }
        prop_assert_eq!(whole.direction.total(), 4.0 * whole.stationarity.total());
    }

    /// Noise that is not independent between nodes: of the mean's and the network's every bound has a share of its own.
    #[test]
    fn noise_of_the_mean_and_of_the_network_add_up(setting in settings(), levels in levels(), more in 1.0_f64..10.0) {
        let at = |mean: f64, network: f64| {
            Bounds::apart(&setting, &Levels { noise_variance: mean, ..levels }, network).unwrap()
        };
        let v = levels.noise_variance;
        let (same, of) = (at(v, v), Bounds::of(&setting, &levels).unwrap());
        prop_assert_eq!(same, of);
        for pick in [|b: &Bounds| b.stationarity.privacy, |b: &Bounds| b.consensus.privacy] {
            let (apart, sum) = (pick(&at(v, more * v)), pick(&at(v, 0.0)) + more * pick(&at(0.0, v)));
            prop_assert!(apart == sum || (apart / sum - 1.0).abs() < 1e-9, "{} {}", apart, sum);
        }
        prop_assert_eq!(at(v, more * v).first_mean_error, of.first_mean_error);
        prop_assert_eq!(at(more * v, v).network_budget, of.network_budget);
    }

    #[test]
    fn worse_levels_networks_and_steps_are_never_better(setting in settings(), levels in levels(), more in 1.0_f64..10.0) {
        let bounds = Bounds::of(&setting, &levels).unwrap();
        for worse in [
            Levels { initial_gap: levels.initial_gap * more, ..levels },
            Levels { heterogeneity: levels.heterogeneity * more, ..levels },
            Levels { sampling_variance: levels.sampling_variance * more, ..levels },
            Levels { noise_variance: levels.noise_variance * more, ..levels },
        ] {
            let larger = Bounds::of(&setting, &worse).unwrap();
            prop_assert!(larger.stationarity.total() >= bounds.stationarity.total());
            prop_assert!(larger.consensus.total() >= bounds.consensus.total());
        }
        // A slower network: every network constant and every condition's share grows.
        let setup = Setup { lambda: 1.0 - (1.0 - setting.lambda()) / more, ..*setting.setup() };
        let Ok(slower) = Setting::new(setup, *setting.parameters()) else { return Ok(()) };
        let (fast, slow) = (Constants::of(&setting), Constants::of(&slower));
        let room = 1.0 + 1e-12;
        prop_assert!(slow.k_h * room >= fast.k_h && slow.k_u * room >= fast.k_u);
        prop_assert!(slow.a_c * room >= fast.a_c && slow.a_u * room >= fast.a_u);
        // A longer step: every condition's share grows.
        let step_size = setting.step_size() * more;
        let longer = Setting::new(*setting.setup(), Parameters { step_size, ..*setting.parameters() }).unwrap();
        let (short, long) = (Conditions::of(&setting).all(), Conditions::of(&longer).all());
        prop_assert!(short.iter().zip(&long).all(|(a, b)| b.used() * room >= a.used()));
    }

    /// After `cv:H-sum`: the fresh terms of Σh grow with γ, those of the start and of movement fall.
    #[test]
    fn gamma_trades_fresh_terms_against_old_ones(setting in settings(), levels in levels(), less in 0.1_f64..1.0) {
        let gamma = setting.gamma() * less;
        let smaller = Setting::new(*setting.setup(), Parameters { gamma, ..*setting.parameters() }).unwrap();
        let still = Sums::default();
        let fresh = |s: &Setting| lemmas::mean_error_sum(s, &levels, 0.0, &still);
        prop_assert!(fresh(&smaller) <= fresh(&setting) * (1.0 + 1e-12));
        let none = Levels { sampling_variance: 0.0, noise_variance: 0.0, ..levels };
        let moved = Sums { disagreement: 1.0, local_error: 0.0, direction: 1.0 };
        let old = |s: &Setting| lemmas::mean_error_sum(s, &none, 1.0, &moved);
        prop_assert!(old(&smaller) * (1.0 + 1e-12) >= old(&setting));
    }

    /// The closed forms of the sums are what summing the recursions gives (Step 4 of the proof).
    #[test]
    fn sums_follow_from_recursions(setting in settings(), levels in levels(), moves in prop::collection::vec(level(), 1..30)) {
        let setup = Setup { rounds: moves.len() as u64, ..*setting.setup() };
        let setting = Setting::new(setup, *setting.parameters()).unwrap();
        // All the movement is disagreement here: `cv:movement` with equality at ΣC = Σ moves/4.
        let mut h = lemmas::first_mean_error(&setting, &levels).total();
        let mut local = lemmas::first_local_error(&setting, &levels).total();
        let (first_h, first_local) = (h, local);
        let (mut sum_h, mut sum_local) = (h, local);
        for movement in &moves[1..] {
            h = lemmas::next_mean_error(&setting, &levels, h, *movement);
            local = lemmas::next_local_error(&setting, &levels, local, *movement);
            sum_h += h;
            sum_local += local;
        }
        let disagreement = moves[1..].iter().sum::<f64>() / 4.0;
        let sums = Sums { disagreement, ..Sums::default() };
        let room = 1.0 + 1e-9;
        prop_assert!(sum_h <= lemmas::mean_error_sum(&setting, &levels, first_h, &sums) * room);
        prop_assert!(sum_local <= lemmas::local_error_sum(&setting, &levels, first_local, &sums) * room);
    }

    #[test]
    fn the_energy_contracts_by_the_eigenvalue_and_bounds_disagreement(
        z in prop_oneof![1e-6_f64..1.0, log(-9.0, -0.01).prop_map(|gap| 1.0 - gap)],
        p in -1.0_f64..1.0,
        q in -1.0_f64..1.0,
    ) {
        let mode = Mode::new(z).unwrap();
        let products = Products { pp: p * p, pq: p * q, qq: q * q };
        let energy = mode.energy(&products);
        // A_z as a matrix, then its products: not the crate's own way.
        let [[a, b], [c, d]] = mode.transition();
        let (p1, q1) = (a * p + b * q, c * p + d * q);
        let next = Products { pp: p1 * p1, pq: p1 * q1, qq: q1 * q1 };
        // The sum cancels where z is small: its error is that of its largest term.
        let room = 1e-12 * (p * p + q * q) / z;
        prop_assert!((mode.energy(&next) - z * energy).abs() <= room);
        prop_assert!((mode.energy(&mode.advanced(&products)) - z * energy).abs() <= room);
        prop_assert!(p * p <= lemmas::disagreement_of_energy(energy) + room);
        let [[h00, h01], [h10, h11]] = mode.weight();
        let plain = h00 * p * p + (h01 + h10) * p * q + h11 * q * q;
        prop_assert!((plain - energy).abs() <= room);
        // The least eigenvalue by the trace and the difference.
        let least = 0.5 * (h00 + h11) - (0.25 * (h00 - h11).powi(2) + h01 * h10).sqrt();
        prop_assert!((least - mode.coercivity()).abs() < 1e-9 / z && mode.coercivity() >= 0.25);
    }

    #[test]
    fn the_forcings_energy_is_that_of_its_vector(z in 0.01_f64..0.99, r in -1.0_f64..1.0, d in -1.0_f64..1.0, alpha in 0.01_f64..1.0) {
        let mode = Mode::new(z).unwrap();
        let (p, q) = (-alpha * z * r, alpha * z * d / mode.correction_scale());
        let energy = mode.energy(&Products { pp: p * p, pq: p * q, qq: q * q });
        prop_assert!((mode.forcing(alpha, r * r, r * d, d * d) - energy).abs() < 1e-12);
        prop_assert!(energy <= alpha * alpha * (z * r * r + z / (1.0 - z) * d * d) + 1e-12);
    }

    #[test]
    fn the_sensitivity_is_below_the_clip_exactly_where_the_remark_says(c_g in log(-3.0, 3.0), c_delta in log(-3.0, 3.0), gamma in 1e-6_f64..1.0) {
        prop_assert_eq!(Sensitivity::new(c_g, c_delta, 1.0).unwrap().scale(), c_g);
        let sensitivity = Sensitivity::new(c_g, c_delta, gamma).unwrap();
        // Away from equality, where rounding decides.
        if (c_delta / c_g - 1.0).abs() * (1.0 - gamma) > 1e-12 {
            prop_assert_eq!(sensitivity.is_reduced(), sensitivity.scale() < c_g);
        }
        let smaller = Sensitivity::new(c_g, c_delta, gamma * 0.5).unwrap();
        prop_assert_eq!(smaller.scale() <= sensitivity.scale(), c_delta <= c_g);
        // The example's closed form.
        let example = Sensitivity::log_cosh(c_g, c_delta, gamma).unwrap();
        let printed = gamma * c_g + (2.0 - gamma) * c_delta;
        prop_assert!((example.scale() / printed - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_first_rounds_noise_is_never_the_larger(c_g in log(-3.0, 3.0), c_delta in level(), gamma in log(-6.0, 0.0), z in log(-2.0, 3.0), b in 1_u64..1000, more in 0_u64..1000) {
        let sensitivity = Sensitivity::new(c_g, c_delta, gamma).unwrap();
        let variances = noise::variances(z, &sensitivity, b, b + more).unwrap();
        prop_assert!(variances.first <= variances.recursive * (1.0 + 1e-12));
        // Deviation over sensitivity is z in both kinds of rounds.
        prop_assert!((variances.first.sqrt() * (b + more) as f64 / c_g / z - 1.0).abs() < 1e-12);
        prop_assert!((gamma * variances.recursive.sqrt() / sensitivity.query(b) / z - 1.0).abs() < 1e-12);
    }

    #[test]
    fn no_question_panics_and_no_answer_is_nan(
        counts in prop::array::uniform5(any_count()),
        numbers in prop::array::uniform10(any_double()),
    ) {
        let setup = Setup { nodes: counts[0], rounds: counts[1], batch: counts[2], lambda: numbers[0], smoothness: numbers[1] };
        let _ = (Schedule::largest(&setup, numbers[2]), Schedule::sufficient(&setup, numbers[2]));
        let _ = (Schedule::new(&setup, numbers[3], numbers[2]), schedule::largest_rounds(counts[2], counts[3]));
        let _ = (cost::gradients(counts[3], counts[2], counts[1]), cost::bytes(counts[0], counts[2], counts[1]));
        let budget = Budget { epsilon: numbers[2], delta: numbers[3], slots: counts[0], first_batch: counts[3], batch: counts[2], rounds: counts[1] };
        if let Ok(z) = noise::explicit_multiplier(&budget) { prop_assert!(!z.is_nan()); }
        if let Ok(mode) = Mode::new(numbers[0]) { prop_assert!(mode.coercivity() >= 0.25); }
        if let Ok(sensitivity) = Sensitivity::new(numbers[4], numbers[5], numbers[3]) {
            prop_assert!(!sensitivity.ratio().is_nan());
            if let Ok(v) = noise::variances(numbers[2], &sensitivity, counts[2], counts[3]) {
                prop_assert!(!v.first.is_nan() && !v.recursive.is_nan());
            }
        }
        let parameters = Parameters { step_size: numbers[2], gamma: numbers[3], first_batch: counts[3] };
        let levels = Levels { initial_gap: numbers[4], heterogeneity: numbers[5], sampling_variance: numbers[6], dimension: counts[4], noise_variance: numbers[7] };
        never_nan(&setup, &parameters, &levels)?;
        // The corners of the ranges, where products are largest and smallest.
        let corner = |value: f64, ends: (f64, f64)| if value.is_sign_positive() { ends.1 } else { ends.0 };
        let setup = Setup {
            nodes: counts[0].clamp(1, 1_000_000_000),
            rounds: counts[1].clamp(1, 1_000_000_000_000),
            batch: counts[2].clamp(1, 100_000_000),
            lambda: corner(numbers[0], (0.0, 1.0_f64.next_down())),
            smoothness: corner(numbers[1], (1e-30, 1e30)),
        };
        let parameters = Parameters {
            step_size: corner(numbers[2], (1e-30, 1e30)),
            gamma: corner(numbers[3], (1e-30, 1.0)),
            first_batch: counts[3].clamp(1, 1_000_000_000_000_000),
        };
        let level = |at: usize| corner(numbers[at], (0.0, 1e60));
        let levels = Levels { initial_gap: level(4), heterogeneity: level(5), sampling_variance: level(6), dimension: counts[4].clamp(1, 1_000_000_000_000), noise_variance: level(7) };
        never_nan(&setup, &parameters, &levels)?;
    }
}

fn never_nan(setup: &Setup, parameters: &Parameters, levels: &Levels) -> Result<(), TestCaseError> {
    let Ok(setting) = Setting::new(*setup, *parameters) else { return Ok(()) };
    let c = Constants::of(&setting);
    let conditions = Conditions::of(&setting);
    let mut values = vec![c.k_h, c.k_u, c.q, c.a_c, c.a_u];
    values.extend(conditions.all().iter().flat_map(|c| [c.left, c.limit, c.slack()]));
    if let Ok(bounds) = Bounds::of(&setting, levels) {
        for split in [bounds.stationarity, bounds.direction, bounds.consensus, bounds.network_budget] {
            values.extend(split.parts().iter().map(|(_, part)| *part));
        }
    }
    prop_assert!(
        values.iter().all(|v| !v.is_nan()),
        "{:?} {:?} {:?}: {:?}",
        setup,
        parameters,
        levels,
        values
    );
    Ok(())
}

#[test]
fn errors_name_the_field_the_value_and_what_is_allowed() {
    let setup = Setup { nodes: 4, rounds: 10, batch: 2, lambda: 1.0, smoothness: 1.0 };
    let error = Schedule::largest(&setup, 1.0).unwrap_err();
    assert_eq!(error.to_string(), "lambda = 1 is not allowed: it must be at least 0 and below 1");
    let error = Schedule::largest(&Setup { lambda: 0.5, ..setup }, 1.5).unwrap_err();
    assert_eq!((error.field, error.value), ("c_gamma", 1.5));
    for nodes in [0, u64::MAX] {
        assert_eq!(Setup { nodes, lambda: 0.5, ..setup }.checked().unwrap_err().field, "nodes");
    }
}

#[test]
fn the_explicit_multiplier_is_the_accountants_and_meets_the_papers_test() {
    for (epsilon, delta, slots, first_batch, batch, rounds) in
        [(1.0, 1e-5, 10_000, 1000, 100, 1000), (0.3, 1e-6, 400, 20, 20, 10), (0.9, 0.4, 100, 100, 1, 1)]
    {
        let budget = Budget { epsilon, delta, slots, first_batch, batch, rounds };
        let z = noise::explicit_multiplier(&budget).unwrap();
        let rate = |batch: u64| batch as f64 / slots as f64;
        let rates = [(rate(first_batch), 1), (rate(batch), rounds - 1)];
        let accountants = paper::explicit_multiplier(&Target::new(epsilon, delta).unwrap(), &rates);
        assert!((z / accountants - 1.0).abs() < 1e-12);
        // pv:accountant-test
        let order = (2.0 * -f64::ln(delta) / epsilon).ceil() as u32 + 1;
        let cost = |q: f64| paper::sampled_gaussian(order, &Event::sampled_gaussian(q, z).unwrap());
        let spent: f64 = rates.iter().map(|(q, count)| cost(*q) * *count as f64).sum();
        assert!(spent + -f64::ln(delta) / f64::from(order - 1) <= epsilon, "{spent}");
    }
}

#[test]
fn costs_are_the_papers() {
    assert_eq!(cost::gradients(161, 16, 1000).unwrap(), 161 + 2 * 16 * 999);
    assert_eq!(cost::bytes(10, 2, 1000).unwrap(), 160_000);
    assert_eq!(cost::bytes(10, 0, 1000).unwrap(), 0);
    assert!(cost::gradients(1, 1, 0).is_err() && cost::bytes(0, 1, 1).is_err());
}
