//! Every function against 60-digit arithmetic: fixtures/reference.csv, made by fixtures/make_reference.py.

use prdo_theory::noise::{self, Budget};
use prdo_theory::sensitivity::Sensitivity;
use prdo_theory::{Bounds, Conditions, Constants, Levels, Parameters, Schedule, Setting, Setup, schedule};
use std::collections::HashMap;

const FIXTURE: &str = include_str!("../fixtures/reference.csv");

/// One line, by column.
struct Case(HashMap<&'static str, &'static str>);

impl Case {
    fn number(&self, name: &str) -> f64 {
        self.0.get(name).unwrap_or_else(|| panic!("no column {name}")).parse().unwrap()
    }
    fn count(&self, name: &str) -> u64 {
        self.0[name].parse().unwrap()
    }
    /// Whether ours agrees with the column to `within`, relatively.
    #[track_caller]
    fn agrees(&self, name: &str, ours: f64, within: f64) {
        let theirs = self.number(name);
        let close = ours == theirs || (ours / theirs - 1.0).abs() < within;
        assert!(close, "{name}: {ours:e} against {theirs:e} in {:?}", self.0);
    }
    fn setup(&self) -> Setup {
        Setup {
            nodes: self.count("nodes"),
            rounds: self.count("rounds"),
            batch: self.count("batch"),
            lambda: self.number("lambda"),
            smoothness: self.number("smoothness"),
        }
    }
    fn setting(&self) -> Setting {
        let parameters = Parameters {
            step_size: self.number("step_size"),
            gamma: self.number("gamma"),
            first_batch: self.count("first_batch"),
        };
        Setting::new(self.setup(), parameters).unwrap()
    }
    fn levels(&self) -> Levels {
        Levels {
            initial_gap: self.number("initial_gap"),
            heterogeneity: self.number("heterogeneity"),
            sampling_variance: self.number("sampling_variance"),
            dimension: self.count("dimension"),
            noise_variance: self.number("noise_variance"),
        }
    }
}

fn cases() -> Vec<Case> {
    let mut lines = FIXTURE.lines();
    let names: Vec<&'static str> = lines.next().unwrap().split(',').collect();
    let cases: Vec<Case> =
        lines.map(|line| Case(names.iter().copied().zip(line.split(',')).collect())).collect();
    assert!(cases.len() > 150);
    cases
}

#[test]
fn constants_and_bounds_to_twelve_digits() {
    for case in cases() {
        let setting = case.setting();
        let constants = Constants::of(&setting);
        for (name, ours) in [
            ("k_h", constants.k_h),
            ("k_u", constants.k_u),
            ("q", constants.q),
            ("a_c", constants.a_c),
            ("a_u", constants.a_u),
            ("feedback", constants.direction_feedback(&setting)),
        ] {
            case.agrees(name, ours, 1e-12);
        }
        let bounds = Bounds::of(&setting, &case.levels()).unwrap();
        for (name, ours) in [
            ("b_net", bounds.network_budget.total()),
            ("h0", bounds.first_mean_error.total()),
            ("H0", bounds.first_local_error.total()),
            ("sigma2", bounds.unified_variance.total()),
            ("stationarity", bounds.stationarity.total()),
            ("direction", bounds.direction.total()),
            ("consensus", bounds.consensus.total()),
            ("privacy_part", bounds.stationarity.privacy),
        ] {
            case.agrees(name, ours, 1e-12);
        }
    }
}

#[test]
fn the_schedule_to_twelve_digits_and_its_first_batch_exactly() {
    for case in cases() {
        let schedule = Schedule::largest(&case.setup(), case.number("c_gamma")).unwrap();
        case.agrees("c_alpha", schedule.c_alpha(), 1e-12);
        case.agrees("alpha", schedule.setting().step_size(), 1e-12);
        case.agrees("gamma_scheduled", schedule.setting().gamma(), 1e-12);
        let first = schedule::first_batch(case.count("batch"), case.count("rounds")).unwrap();
        assert_eq!(first, case.count("scheduled_first_batch"));
        assert!(Conditions::of(schedule.setting()).hold());
    }
}

#[test]
fn sensitivity_and_noise_to_twelve_digits() {
    for case in cases() {
        let clips = (case.number("gradient_clip"), case.number("difference_clip"));
        let sensitivity = Sensitivity::new(clips.0, clips.1, case.number("gamma")).unwrap();
        case.agrees("scale", sensitivity.scale(), 1e-12);
        let batches = (case.count("batch"), case.count("first_batch"));
        let variances = noise::variances(case.number("noise"), &sensitivity, batches.0, batches.1).unwrap();
        case.agrees("nu0", variances.first, 1e-12);
        case.agrees("nu_dp", variances.recursive, 1e-12);
        let slots = case.count("slots");
        let budget = Budget {
            epsilon: case.number("epsilon"),
            delta: case.number("delta"),
            slots,
            first_batch: batches.1.min(slots),
            batch: batches.0,
            rounds: case.count("rounds"),
        };
        case.agrees("multiplier", noise::explicit_multiplier(&budget).unwrap(), 1e-12);
    }
}
