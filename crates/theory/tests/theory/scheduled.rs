//! The general functions against the closed forms that the paper prints for its schedule.

use prdo_theory::{Bounds, Conditions, Constants, Levels, Schedule, Setup};

fn close(name: &str, ours: f64, printed: f64) {
    assert!(ours == printed || (ours / printed - 1.0).abs() < 1e-12, "{name}: {ours:e} against {printed:e}");
}

fn setups() -> Vec<(Setup, f64, f64)> {
    let mut all = Vec::new();
    for lambda in [0.0, 1e-6, 0.3, 0.9903926402016152, 0.999_999] {
        for rounds in [1, 26, 1000, 1_000_000_000] {
            for (nodes, batch, smoothness, c_gamma) in [(32, 16, 1.0, 1.0), (3, 1, 40.0, 0.2)] {
                for c_alpha in [0.01, 0.2] {
                    let setup = Setup { nodes, rounds, batch, lambda, smoothness };
                    all.push((setup, c_alpha, c_gamma));
                }
            }
        }
    }
    all
}

#[test]
fn constants_under_the_schedule() {
    for (setup, c, g) in setups() {
        let schedule = Schedule::new(&setup, c, g).unwrap();
        let setting = schedule.setting();
        let constants = Constants::of(setting);
        let (n, b, l) = (setup.nodes as f64, setup.batch as f64, setup.smoothness);
        let (lam, t1) = (setup.lambda, setup.rounds as f64 + 1.0);
        let (s, o) = (setup.root_gap(), 1.0 + setup.lambda.sqrt());
        // cv:scheduled-K
        close("K_H", constants.k_h, 16.0 * c * c * lam / (l * l * t1.powf(2.0 / 3.0)));
        let k_u = 8.0 * n * c.powi(4) * lam * s / (l * l * o * t1.powf(4.0 / 3.0));
        close("K_U", constants.k_u, k_u);
        // cv:scheduled-small-gains
        close("A_C", constants.a_c, 128.0 * lam * c * c / (b * g));
        let small = 2.0 * c * c * s * s / (b * n * g);
        // cv:scheduled-feedback
        let c4 = lam * c.powi(4);
        let two_thirds = t1.powf(2.0 / 3.0);
        let feedback = 32.0 * c4 * s * s / (b * g * two_thirds)
            + 8.0 * c4 * s / (o * t1.powf(4.0 / 3.0))
            + 256.0 * c4 * s * s / (b * b * n * g * g)
            + 64.0 * c4 * s / (b * n * g * o * two_thirds);
        close("Q A_U", constants.q * constants.a_u, feedback);
        close("last condition", constants.direction_feedback(setting), small + 2.0 * feedback);
        // cv:scheduled-AU
        let a_u = 32.0 * c4 * s * s / (b * g * l * l * two_thirds)
            + 8.0 * c4 * s / (l * l * o * t1.powf(4.0 / 3.0));
        close("A_U/n", constants.a_u / n, a_u);
    }
}

#[test]
fn the_stationarity_bound_under_the_schedule() {
    let levels = Levels {
        initial_gap: 0.7,
        heterogeneity: 3.0,
        sampling_variance: 11.0,
        dimension: 9,
        noise_variance: 0.2,
    };
    for (setup, c, g) in setups() {
        let schedule = Schedule::new(&setup, c, g).unwrap();
        let bounds = Bounds::of(schedule.setting(), &levels).unwrap();
        let (n, b, l, t) = (setup.nodes as f64, setup.batch as f64, setup.smoothness, setup.rounds as f64);
        let (lam, t1, s) = (setup.lambda, t + 1.0, setup.root_gap());
        let b0 = schedule.setting().first_batch() as f64;
        let sigma = 11.0 / b + 9.0 * 0.2;
        let (h0, local0) = (11.0 / (n * b0) + 1.8 / n, n * 11.0 / b0 + n * 1.8);
        let two_thirds = t1.powf(2.0 / 3.0);
        // cv:scheduled-network-budget
        let budget = 4.0 * n * c * c * lam * 3.0 / (l * l * (1.0 + lam.sqrt()) * t * two_thirds)
            + 16.0 * c * c * lam * local0 / (l * l * g * t)
            + 32.0 * c * c * g * n * lam * sigma / (l * l * t1.powf(4.0 / 3.0));
        close("B_net/T", bounds.network_budget.total() / t, budget);
        // cv:scheduled-exact-bound
        let exact = 2.0 * l * 0.7 * t1.cbrt() / (c * s * t)
            + 2.0 * h0 * two_thirds / (g * t)
            + 4.0 * g * sigma / (n * two_thirds)
            + 4.0 * (l * l / n + 8.0 * l * l * two_thirds / (b * n * n * g)) * budget;
        close("stationarity", bounds.stationarity.total(), exact);
    }
}

/// The example: a lazy ring of 32 nodes, T = 1000, b = 16, c_γ = 1.
#[test]
fn the_lazy_ring_of_32_has_a_feasible_schedule() {
    let lambda = 0.5 * (1.0 + (2.0 * std::f64::consts::PI / 32.0).cos());
    let setup = Setup { nodes: 32, rounds: 1000, batch: 16, lambda, smoothness: 1.0 };
    let (largest, sufficient) =
        (Schedule::largest(&setup, 1.0).unwrap(), Schedule::sufficient(&setup, 1.0).unwrap());
    for schedule in [&largest, &sufficient] {
        let setting = schedule.setting();
        assert_eq!(setting.first_batch(), 161); // 16·1001^{1/3} = 160.05…
        close("gamma", setting.gamma(), 1001.0_f64.powf(-2.0 / 3.0));
        let conditions = Conditions::of(setting);
        assert!(conditions.hold() && conditions.all().iter().all(|c| c.slack() >= 0.0), "{conditions:?}");
    }
    assert!(sufficient.c_alpha() <= largest.c_alpha() && sufficient.c_alpha() <= 0.25);
    // What binds is A_C ≤ 1/2: c_α² = bc_γ/(256λ).
    assert_eq!(Conditions::of(largest.setting()).binding().name, "disagreement_feedback");
    close("c_alpha", largest.c_alpha(), (16.0 / (256.0 * lambda)).sqrt());
}
