//! What came out, as it stands in `results.json`.

use super::evidence::Evidence;
use super::inequality::{ALL, Sense};
use super::results::{Results, SLOPE_OF, Summary};
use super::slope::{Slope, THEOREM};
use super::verdict::Finding;
use prdo::theory::{Conditions, Constants};
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    checked: u64,
    violated: u64,
    slope: Option<f64>,
    slope_error: Option<f64>,
    slope_of: SlopeOf,
    slope_of_theorem: f64,
    cases: usize,
    seeds: u64,
    standard_errors_allowed: f64,
    clipped_cases: usize,
    inequalities: Vec<Inequality>,
    slopes: Vec<Slope>,
    details: Vec<Summary>,
    quick: bool,
    seconds: f64,
}

#[derive(Debug, Serialize, Deserialize)]
struct SlopeOf {
    problem: String,
    graph: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Inequality {
    label: String,
    says: String,
    kind: String,
    checked: u64,
    violated: u64,
    least_bound_over_measured: Option<f64>,
    largest_defect: Option<f64>,
    r#where: Option<String>,
    most_standard_errors_above: f64,
}

/// The schedule, the constants and the levels of a case.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Details {
    lambda: f64,
    smoothness: f64,
    c_alpha: f64,
    alpha: f64,
    gamma: f64,
    first_batch: u64,
    feasible: bool,
    binding: String,
    constants: Named,
    initial_gap: f64,
    heterogeneity: f64,
    sampling_variance: f64,
    sampling_variance_proven: bool,
    dimension: u64,
    noise_variance: f64,
    sensitivity_scale: Option<f64>,
    epsilon: Option<f64>,
}

/// The paper's constants by their names.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    #[serde(rename = "K_H")]
    k_h: f64,
    #[serde(rename = "K_U")]
    k_u: f64,
    #[serde(rename = "Q")]
    q: f64,
    #[serde(rename = "A_C")]
    a_c: f64,
    #[serde(rename = "A_U")]
    a_u: f64,
    #[serde(rename = "B_net")]
    b_net: f64,
}

impl Details {
    pub fn of(evidence: &Evidence<'_>) -> Self {
        let (case, setting, levels) = (evidence.case, evidence.setting(), &evidence.levels);
        let (constants, conditions) = (Constants::of(setting), Conditions::of(setting));
        Self {
            lambda: setting.lambda(),
            smoothness: setting.smoothness(),
            c_alpha: case.schedule.c_alpha(),
            alpha: setting.step_size(),
            gamma: setting.gamma(),
            first_batch: setting.first_batch(),
            feasible: conditions.hold(),
            binding: conditions.binding().name.to_string(),
            constants: Named {
                k_h: constants.k_h,
                k_u: constants.k_u,
                q: constants.q,
                a_c: constants.a_c,
                a_u: constants.a_u,
                b_net: evidence.bounds.network_budget.total(),
            },
            initial_gap: levels.initial_gap,
            heterogeneity: levels.heterogeneity,
            sampling_variance: levels.sampling_variance,
            sampling_variance_proven: case.problem.mean_square.is_some(),
            dimension: levels.dimension,
            noise_variance: levels.noise_variance,
            sensitivity_scale: case.protection.as_ref().map(|p| p.sensitivity.scale()),
            epsilon: case.protection.as_ref().map(|p| p.epsilon),
        }
    }
}

impl Results {
    pub fn file(&self) -> File {
        let inequalities = ALL.iter().zip(&self.findings);
        File {
            checked: self.checked(),
            violated: self.violated(),
            slope: self.slope().map(|one| one.slope),
            slope_error: self.slope().map(|one| one.slope_error),
            slope_of: SlopeOf { problem: SLOPE_OF.0.to_string(), graph: SLOPE_OF.1.to_string() },
            slope_of_theorem: THEOREM,
            cases: self.summaries.len(),
            seeds: self.seeds,
            standard_errors_allowed: self.allowance,
            clipped_cases: self.clipped(),
            inequalities: inequalities.map(|(one, found)| inequality(one, found, self.allowance)).collect(),
            slopes: self.slopes.clone(),
            details: self.summaries.clone(),
            quick: self.quick,
            seconds: self.seconds,
        }
    }
}

fn inequality(one: &super::inequality::Inequality, found: &Finding, allowance: f64) -> Inequality {
    let worst = found.worst.as_ref().map(|(value, _)| *value);
    let (ratio, defect) = match one.sense {
        Sense::Identity => (None, worst),
        Sense::Path | Sense::Conditional | Sense::Mean => (worst, None),
    };
    Inequality {
        label: one.label.to_string(),
        says: one.says.to_string(),
        kind: one.sense.name().to_string(),
        checked: found.checked,
        violated: found.violated(allowance),
        least_bound_over_measured: ratio,
        largest_defect: defect,
        r#where: found.worst.as_ref().map(|(_, place)| place.clone()),
        most_standard_errors_above: found.most_above(),
    }
}
