//! The numerical accountant against values from independent code.

use prdo_accounting::*;

fn history(kinds: &[(f64, f64, f64)]) -> History {
    kinds.iter().fold(History::new(), |history, (rate, noise, count)| {
        history.and(Event::sampled_gaussian(*rate, *noise).unwrap(), *count as u64)
    })
}

fn rows(text: &str) -> Vec<Vec<f64>> {
    let data = text.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit()));
    data.map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect()).collect()
}

fn assert_tight(kinds: &[(f64, f64, f64)], delta: f64, exact: f64) {
    let bounds = numerical::epsilon(&history(kinds), delta).unwrap();
    assert!(
        bounds.lower <= exact && exact <= bounds.upper,
        "{kinds:?}, δ = {delta}: {exact} is not in {bounds:?}"
    );
    assert!(bounds.width() <= (1e-6 * exact).max(1e-10), "{kinds:?}, δ = {delta}: {bounds:?}");
}

/// Columns: q, sigma, steps, delta, epsilon_lower, epsilon_upper, best, tight, rdp_classical, rdp_improved.
#[test]
fn points_of_other_accountants() {
    let rows = rows(include_str!("../fixtures/accounting.csv"));
    assert_eq!(rows.len(), 22);
    for v in rows {
        let kinds = [(v[0], v[1], v[2])];
        let bounds = numerical::epsilon(&history(&kinds), v[3]).unwrap();
        if v[7] == 1.0 {
            assert_tight(&kinds, v[3], v[6]);
        } else {
            assert!(bounds.lower <= v[5] && v[4] <= bounds.upper, "{v:?}: {bounds:?}");
            assert!(
                bounds.width() <= 1e-6 * bounds.upper,
                "the reference is loose here, we are not: {bounds:?}"
            );
        }
        // The reference tries a list of orders, ours is the best of all real ones; both are valid bounds.
        let renyi = renyi::epsilon(&history(&kinds), v[3]);
        assert!(renyi >= bounds.lower && renyi <= v[9] * 1.0001, "{v:?}: Rényi {renyi}");
    }
}

/// Values in 55-digit arithmetic (bench/accountants/reference_points.py). Columns: q, sigma, steps, delta, epsilon.
#[test]
fn points_in_55_digits() {
    let rows = rows(include_str!("../fixtures/reference_points.csv"));
    assert_eq!(rows.len(), 38);
    for v in rows {
        assert_tight(&[(v[0], v[1], v[2])], v[3], v[4]);
    }
}

/// The same for two kinds of release. Columns: q0, sigma0, steps0, q, sigma, steps, delta, epsilon.
#[test]
fn compositions_of_two_kinds_in_55_digits() {
    let rows = rows(include_str!("../fixtures/reference_heterogeneous.csv"));
    assert_eq!(rows.len(), 8);
    for v in rows {
        assert_tight(&[(v[0], v[1], v[2]), (v[3], v[4], v[5])], v[6], v[7]);
        // The order of the kinds does not matter, and neither does saying one in two parts.
        let (one, two) = (v[2] - (v[2] / 2.0).floor(), (v[2] / 2.0).floor());
        assert_tight(&[(v[3], v[4], v[5]), (v[0], v[1], one), (v[0], v[1], two)], v[6], v[7]);
    }
}

/// One release with hardly any noise, where e^ε is beyond double numbers; values in 60 digits.
#[test]
fn single_releases_with_huge_epsilon() {
    assert_tight(&[(0.5, 0.02, 1.0)], 1e-12, 1_595.229_575_144_662);
    assert_tight(&[(0.5, 0.01, 1.0)], 1e-5, 5_409.074_840_046_309);
    assert_tight(&[(0.01, 0.01, 1.0)], 1e-5, 5_303.433_231_235_496);
}

/// q = 100/4500, T = 9500, δ = 1e-5.
#[test]
fn the_papers_setting() {
    let accountant = Accountant::default();
    let q = 100.0 / 4500.0;
    for (epsilon, exact, paper, cost) in [
        (4.0, 2.458_116_139_615, 2.464_143, 3.987_714_167_124),
        (6.0, 1.804_911_581_152, 1.807_607, 5.987_649_058_988),
        (8.0, 1.478_715_798_018, 1.480_246, 7.987_483_907_887),
    ] {
        let target = Target::new(epsilon, 1e-5).unwrap();
        let z = calibrate::noise_multiplier(&accountant, &target, &[(q, 9500)]).unwrap();
        assert!(z >= exact && z <= exact * (1.0 + 1e-6), "{z} against {exact}");
        assert!(numerical::epsilon(&history(&[(q, z, 9500.0)]), 1e-5).unwrap().upper <= epsilon);
        assert_tight(&[(q, paper, 9500.0)], 1e-5, cost);
    }
}

/// Two points at which dp-accounting 0.6's pessimistic answer (its upper bound) lies below the truth
/// (bench/accountants/below_the_truth.py): (q, its grid, its answer, the truth), σ 1.5, T 1e5, δ 1e-9.
#[test]
fn where_another_accountants_upper_bound_is_below_the_truth() {
    for (q, answer, truth) in
        [(0.01, 16.5814900368, 16.5816274535385), (0.001, 1.3270257480, 1.32702890597077)]
    {
        assert_tight(&[(q, 1.5, 1e5)], 1e-9, truth);
        assert!(numerical::epsilon(&history(&[(q, 1.5, 1e5)]), 1e-9).unwrap().lower > answer);
        assert!(numerical::delta(&history(&[(q, 1.5, 1e5)]), answer).unwrap().lower > 1e-9);
    }
}
