//! Whether a bound says anything, and what would make it.

use super::best::{Candidate, Search, roughly};
use super::calibrate::Calibrator;
use super::case::Case;
use super::judge::Judged;

#[derive(Clone, Debug)]
pub struct Verdict {
    /// What is known without training: the squared gradient norm at the start is at most this.
    pub start: f64,
    /// Whether `start` is ‖∇f(x⁰)‖² itself, not its bound 2L_sΔ_f.
    pub measured: bool,
    /// Whether the bound is above `start`: then it does not show that training does better than not to train.
    pub vacuous: bool,
    /// The parts that are above `start` on their own, or the largest one where none is.
    pub because: Vec<&'static str>,
    pub help: Help,
}

/// What would make a bound say something, all else as it is and T, γ, α, C_Δ the best.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Help {
    /// Other T, γ, α and C_Δ are enough.
    pub settings: bool,
    /// N, the first of ten, a hundred … times as many that is enough.
    pub records: Option<u64>,
    /// ε, the first of ten, a hundred … times as large that is enough.
    pub epsilon: Option<f64>,
    /// Without a budget: T, the first of ten, a hundred … times as many that is enough.
    pub rounds: Option<u64>,
}

/// How many factors of ten of N, ε and T are tried.
const DECADES: [u32; 3] = [6, 3, 9];
/// At how many T z is calculated for each.
const KNOTS: usize = 5;

/// The T among which the best is looked for: up to a thousand times the given one, within reason.
pub fn horizons(case: &Case) -> (u64, u64) {
    (1, case.rounds.saturating_mul(1000).clamp(1, 1_000_000_000.max(case.rounds)))
}

/// The least that is known of ‖∇f(x⁰)‖² without training, and whether it was measured: every smooth f has
/// ‖∇f(x)‖² ≤ 2L_s(f(x) − inf f).
pub fn start(case: &Case) -> Option<(f64, bool)> {
    let problem = &case.problem;
    let smooth = problem.smoothness.as_ref().zip(problem.initial_gap.as_ref());
    let smooth = smooth.map(|(l, gap)| 2.0 * l.value * gap.value);
    match (problem.start_gradient, smooth) {
        (Some(measured), Some(smooth)) if measured > smooth => Some((smooth, false)),
        (Some(measured), _) => Some((measured, true)),
        (None, smooth) => smooth.map(|smooth| (smooth, false)),
    }
}

/// What the bound of a judged run is worth; `None` where there is none.
pub fn verdict(
    case: &Case,
    judged: &Judged,
    suggestion: Option<&Candidate>,
    calibrator: &mut Calibrator,
) -> Option<Verdict> {
    let (bounds, (start, measured)) = (judged.bounds?, start(case)?);
    let bound = bounds.stationarity;
    // An infinite bound is vacuous, whatever the start.
    let vacuous = bound.total().is_nan() || bound.total() > start;
    let alone = bound.parts().into_iter().filter(|(_, part)| *part > start);
    let mut because: Vec<&'static str> = alone.map(|(name, _)| name).collect();
    if because.is_empty() {
        because.extend(bound.parts().into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).map(|(name, _)| name));
    }
    let help = match vacuous {
        true => help(case, start, suggestion, calibrator),
        false => Help::default(),
    };
    Some(Verdict { start, measured, vacuous, because, help })
}

fn help(case: &Case, start: f64, suggestion: Option<&Candidate>, calibrator: &mut Calibrator) -> Help {
    let Some(suggestion) = suggestion else { return Help::default() };
    let mut help = Help { settings: suggestion.bound.total() <= start, ..Help::default() };
    if help.settings {
        return help;
    }
    let [of_records, of_epsilon, of_rounds] = DECADES;
    let mut enough = |case: &Case| -> bool {
        let search = Search { rounds: horizons(case), knots: KNOTS, gamma: None };
        // A case that leaves the ranges is no help; the case itself was in range.
        let found = roughly(case, &search, calibrator).unwrap_or(None);
        found.is_some_and(|candidate| candidate.bound.total() <= start)
    };
    let tens = |count: u32| (1..=count).map(|k| 10_u64.pow(k));
    if case.budget().is_none() {
        for more in tens(of_rounds) {
            let rounds = case.rounds.saturating_mul(more);
            if enough(&Case { rounds, ..case.clone() }) {
                help.rounds = Some(rounds);
                break;
            }
        }
        return help;
    }
    for more in tens(of_records) {
        let slots = case.slots.map(|slots| slots.saturating_mul(more));
        if enough(&Case { slots, ..case.clone() }) {
            help.records = slots;
            break;
        }
    }
    let Some((epsilon, _)) = case.budget() else { return help };
    for more in tens(of_epsilon) {
        let epsilon = epsilon * more as f64;
        if enough(&case.clone().with_epsilon(epsilon)) {
            help.epsilon = Some(epsilon);
            break;
        }
    }
    help
}
