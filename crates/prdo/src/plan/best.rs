//! The T, γ, α and C_Δ with the smallest bound for a budget.

use super::PlanError;
use super::calibrate::Calibrator;
use super::case::{Case, Noise, Problem, Strength};
use super::choice::{first_batch, largest_step};
use super::clip::difference_clip;
use prdo_theory::sensitivity::Sensitivity;
use prdo_theory::{Parameters, Setting, Split, TheoryError, noise};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    pub setting: Setting,
    /// C_Δ and S_γ, where there is noise.
    pub sensitivity: Option<Sensitivity>,
    /// z, where there is noise.
    pub multiplier: Option<f64>,
    /// The stationarity bound, by cause.
    pub bound: Split,
}

#[derive(Clone, Copy, Debug)]
pub struct Search {
    /// The least and the most rounds. Without a budget T stays as it is.
    pub rounds: (u64, u64),
    /// At how many T z is calculated; between them it is interpolated.
    pub knots: usize,
    /// A γ to keep: one is Exact Diffusion.
    pub gamma: Option<f64>,
}

const HORIZONS: usize = 41;
/// How many γ, and α for each, are tried before the best is looked at more closely.
const GRID: usize = 17;
/// The least share of the largest α that is tried.
const LEAST_SHARE: f64 = 1e-4;

/// The smallest bound; `None` where a level is not known, or nothing tried has a C_Δ. Between T's z is the Rényi
/// accountant's; that of the result is calculated.
pub fn best(
    case: &Case,
    search: &Search,
    calibrator: &mut Calibrator,
) -> Result<Option<Candidate>, PlanError> {
    let found = roughly(case, search, calibrator)?;
    let (Some(found), Noise::Scaled { strength, .. }) = (found, &case.noise) else { return Ok(found) };
    let setting = &found.setting;
    let case = Case { rounds: setting.setup().rounds, ..case.clone() };
    let z = calibrator.multiplier(&case, strength, setting.first_batch())?;
    Ok(candidate(&case, setting.parameters(), Some(z))?.or(Some(found)))
}

/// The same with a z that is only about right.
pub(super) fn roughly(
    case: &Case,
    search: &Search,
    calibrator: &mut Calibrator,
) -> Result<Option<Candidate>, PlanError> {
    if case.levels(0.0).is_none() {
        return Ok(None);
    }
    let strength = match &case.noise {
        Noise::Unknown | Noise::Variance(_) => return Ok(None),
        Noise::Scaled { strength: strength @ Strength::Budget { .. }, .. } => strength,
        Noise::Scaled { strength: Strength::Multiplier { z, .. }, .. } => {
            return at_rounds(case, search.gamma, Some(*z));
        }
        Noise::Absent => return at_rounds(case, search.gamma, None),
    };
    let (least, most) = (search.rounds.0.max(1) as f64, search.rounds.1.max(1) as f64);
    let mut curve = Vec::new();
    for t in spread(least, most, search.knots) {
        let case = with_rounds(case, t);
        let z = calibrator.rough(&case, strength, first_batch(&case, None)?)?;
        curve.push(((case.rounds as f64).ln(), z.ln()));
    }
    let mut found: Option<Candidate> = None;
    for t in spread(least, most, HORIZONS) {
        let case = with_rounds(case, t);
        let z = interpolated(&curve, (case.rounds as f64).ln()).exp();
        let next = at_rounds(&case, search.gamma, Some(z))?;
        found = match (found, next) {
            (Some(a), Some(b)) => Some(if b.bound.total() < a.bound.total() { b } else { a }),
            (a, b) => a.or(b),
        };
    }
    Ok(found)
}

fn with_rounds(case: &Case, rounds: f64) -> Case {
    Case { rounds: rounds.round().max(1.0) as u64, ..case.clone() }
}

/// `count` numbers from `low` to `high`, both among them, in equal ratios; one if they are the same.
fn spread(low: f64, high: f64, count: usize) -> Vec<f64> {
    if high <= low {
        return vec![low];
    }
    let last = count.max(2) - 1;
    let at = |k: usize| low * (high / low).powf(k as f64 / last as f64);
    (0..=last).map(|k| if k == last { high } else { at(k) }).collect()
}

/// The value at x of the line through points of ascending x.
fn interpolated(points: &[(f64, f64)], x: f64) -> f64 {
    let after = points.iter().position(|(at, _)| *at >= x).unwrap_or(points.len().saturating_sub(1));
    match (points.get(after.wrapping_sub(1)), points.get(after)) {
        (Some(a), Some(b)) if b.0 > a.0 => a.1 + (b.1 - a.1) * (x - a.0) / (b.0 - a.0),
        (_, Some(b)) => b.1,
        _ => f64::NAN,
    }
}

/// The best γ and α at the case's T.
fn at_rounds(case: &Case, gamma: Option<f64>, z: Option<f64>) -> Result<Option<Candidate>, PlanError> {
    let first = first_batch(case, None)?;
    let least_gamma = 1e-3 / case.setup().horizon_root().powi(2);
    let gammas = gamma.map_or_else(|| spread(least_gamma, 1.0, GRID), |gamma| vec![gamma]);
    let mut found: Option<Candidate> = None;
    let mut keep = |next: Option<Candidate>| {
        if let Some(next) = next
            && found.is_none_or(|best| next.bound.total() < best.bound.total())
        {
            found = Some(next);
        }
        found
    };
    for gamma in gammas {
        let most = largest_step(&case.setup(), gamma)?;
        for share in spread(LEAST_SHARE, 1.0, GRID) {
            let step_size = share * most;
            keep(candidate(case, &Parameters { step_size, gamma, first_batch: first }, z)?);
        }
    }
    let mut by = 0.5_f64;
    for _ in 0..16 {
        let Some(Candidate { setting: here, .. }) = keep(None) else { return Ok(None) };
        let (up, fixed) = (by.exp(), gamma.is_some());
        let around = [(up, 1.0), (1.0 / up, 1.0), (1.0, up), (1.0, 1.0 / up), (up, up), (1.0 / up, 1.0 / up)];
        for (of_gamma, of_step) in around {
            let gamma = (here.gamma() * if fixed { 1.0 } else { of_gamma }).min(1.0);
            let step_size = (here.step_size() * of_step).min(largest_step(&case.setup(), gamma)?);
            keep(candidate(case, &Parameters { step_size, gamma, first_batch: first }, z)?);
        }
        let moved = keep(None).is_some_and(|best| best.setting != here);
        by *= if moved { 1.0 } else { 0.5 };
    }
    Ok(keep(None))
}

/// Parameters with the C_Δ that they need.
fn candidate(case: &Case, parameters: &Parameters, z: Option<f64>) -> Result<Option<Candidate>, TheoryError> {
    let Ok(setting) = Setting::new(case.setup(), *parameters) else { return Ok(None) };
    let (sensitivity, variance) = match (&case.noise, z, &case.problem) {
        (Noise::Scaled { gradient_clip, .. }, Some(z), Problem { dimension: Some(d), .. }) => {
            let in_answers = z * case.answer_noise();
            let Some(clip) = difference_clip(&setting, *gradient_clip, in_answers, *d) else {
                return Ok(None);
            };
            let Ok(sensitivity) = Sensitivity::new(*gradient_clip, clip, setting.gamma()) else {
                return Ok(None);
            };
            let variances = noise::variances(z, &sensitivity, case.batch, setting.first_batch())?;
            (Some(sensitivity), variances.recursive.max(variances.first))
        }
        _ => (None, 0.0),
    };
    // A variance beyond every range is no candidate.
    let Ok(Some(bounds)) = case.bounds(&setting, variance) else { return Ok(None) };
    let bound = bounds.stationarity;
    Ok(bound.total().is_finite().then_some(Candidate { setting, sensitivity, multiplier: z, bound }))
}
