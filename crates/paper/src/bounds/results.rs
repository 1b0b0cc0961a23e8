//! What came out, as tables and as text.

use super::case::{BATCH, C_GAMMA, DELTA, NOISE};
use super::evidence::Evidence;
use super::file::Details;
use super::inequality::{ALL, Inequality, Sense};
use super::problem::{NODES, RECORDS};
use super::slope::{Point, Slope, THEOREM};
use super::trace::Trace;
use super::verdict::{FAMILY_ERROR, Finding, allowance};
use crate::statistics::mean_and_error;
use prdo::theory::Split;
use serde::{Deserialize, Serialize};

/// One of the theorem's three averages: measured, with its standard error, beside its bound.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Average {
    pub measured: f64,
    pub standard_error: f64,
    pub bound: f64,
    #[serde(with = "Causes")]
    pub bound_by_cause: Split,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Split", deny_unknown_fields)]
struct Causes {
    optimisation: f64,
    heterogeneity: f64,
    sampling: f64,
    privacy: f64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Summary {
    #[serde(skip)]
    pub name: String,
    pub problem: String,
    #[serde(rename = "graph")]
    pub network: String,
    pub rounds: u64,
    pub private: bool,
    pub stationarity: Average,
    pub direction: Average,
    pub consensus: Average,
    /// Whether a gate clipped anything, in any run.
    pub clipped: bool,
    #[serde(flatten)]
    details: Details,
}

impl Summary {
    pub fn of(evidence: &Evidence<'_>) -> Self {
        let (case, setting) = (evidence.case, evidence.setting());
        let (n, t) = (setting.nodes(), setting.rounds());
        let average = |of: &dyn Fn(&Trace) -> f64, bound: Split| {
            let values: Vec<f64> = evidence.traces.iter().map(of).collect();
            let (measured, standard_error) = mean_and_error(&values);
            Average { measured, standard_error, bound: bound.total(), bound_by_cause: bound }
        };
        let bounds = &evidence.bounds;
        Self {
            name: case.to_string(),
            problem: case.problem.name.to_string(),
            network: case.network.name.to_string(),
            rounds: setting.setup().rounds,
            private: case.protection.is_some(),
            stationarity: average(&|trace| trace.sum(|r| r.gradient) / t, bounds.stationarity),
            direction: average(&|trace| trace.sum(|r| r.direction) / t, bounds.direction),
            consensus: average(&|trace| trace.sum(|r| r.disagreement) / (n * t), bounds.consensus),
            clipped: evidence.traces.iter().any(|trace| trace.clipped != (0.0, 0.0)),
            details: Details::of(evidence),
        }
    }
}

pub struct Results {
    pub summaries: Vec<Summary>,
    /// In the order of `ALL`.
    pub findings: Vec<Finding>,
    pub slopes: Vec<Slope>,
    pub seeds: u64,
    pub slope_seeds: u64,
    /// By how many standard errors a mean must lie above its bound to be called a violation.
    pub allowance: f64,
    pub quick: bool,
    pub seconds: f64,
}

/// The runs whose slope is given first: there the step is long enough for the average to settle at every horizon.
pub const SLOPE_OF: (&str, &str) = ("logistic", "complete");

impl Results {
    pub fn new(
        judged: Vec<(Summary, Vec<Finding>)>,
        slopes: Vec<Slope>,
        seeds: u64,
        slope_seeds: u64,
        quick: bool,
        seconds: f64,
    ) -> Self {
        let mut findings = vec![Finding::default(); ALL.len()];
        let mut summaries = Vec::new();
        for (summary, found) in judged {
            summaries.push(summary);
            for ((sum, one), inequality) in findings.iter_mut().zip(found).zip(&ALL) {
                sum.add(inequality.sense, one);
            }
        }
        let means = ALL.iter().zip(&findings).filter(|(one, _)| one.sense == Sense::Mean);
        let allowance = allowance(means.map(|(_, found)| found.checked).sum(), seeds);
        Self { summaries, findings, slopes, seeds, slope_seeds, allowance, quick, seconds }
    }

    pub fn checked(&self) -> u64 {
        self.findings.iter().map(|found| found.checked).sum()
    }

    /// Inequalities that do not hold; a run in which a gate clipped counts as one.
    pub fn violated(&self) -> u64 {
        let broken: u64 = self.findings.iter().map(|found| found.violated(self.allowance)).sum();
        broken + self.clipped() as u64
    }

    /// The slope that stands for all.
    pub fn slope(&self) -> Option<&Slope> {
        self.slopes.iter().find(|slope| (slope.problem.as_str(), slope.network.as_str()) == SLOPE_OF)
    }

    /// How many cases have a run in which a gate clipped.
    pub fn clipped(&self) -> usize {
        self.summaries.iter().filter(|case| case.clipped).count()
    }

    pub fn table(&self) -> (Vec<&'static str>, Vec<Vec<String>>) {
        let head = vec![
            "inequality",
            "what",
            "sense",
            "checked",
            "violated",
            "bound/measured",
            "most s.e. above",
            "where",
        ];
        let row = |(one, found): (&Inequality, &Finding)| {
            let (worst, place) = match &found.worst {
                Some((defect, place)) if one.sense == Sense::Identity => {
                    (format!("± {defect:.0e}"), place.as_str())
                }
                Some((ratio, place)) => (figure(*ratio), place.as_str()),
                None => ("0 on the left".to_string(), ""),
            };
            vec![
                one.label.to_string(),
                one.says.to_string(),
                one.sense.name().to_string(),
                found.checked.to_string(),
                found.violated(self.allowance).to_string(),
                worst,
                if one.sense == Sense::Mean { format!("{:.1}", found.most_above()) } else { String::new() },
                place.to_string(),
            ]
        };
        (head, ALL.iter().zip(&self.findings).map(row).collect())
    }

    pub fn slope_table(&self) -> (Vec<&'static str>, Vec<Vec<String>>) {
        let head = vec!["problem", "graph", "c_α", "T", "slope", "over the last decade of T"];
        let row = |one: &Slope| {
            let end = |point: Option<&Point>| point.map_or(0.0, |point| point.rounds);
            vec![
                one.problem.clone(),
                one.network.clone(),
                format!("{:.3}", one.c_alpha),
                format!("{}–{}", end(one.points.first()), end(one.points.last())),
                format!("{:.3} ± {:.3}", one.slope_over_all_horizons, one.slope_over_all_horizons_error),
                format!("{:.3} ± {:.3}", one.slope, one.slope_error),
            ]
        };
        (head, self.slopes.iter().map(row).collect())
    }

    pub fn averages(&self) -> (Vec<&'static str>, Vec<Vec<String>>) {
        let head = vec![
            "case",
            "(1/T)Σ‖∇f‖²",
            "bound",
            "(1/T)ΣU_t",
            "bound",
            "(1/(nT))ΣC_t",
            "bound",
            "largest part of the first bound",
        ];
        let row = |case: &Summary| {
            let mut cells = vec![case.name.clone()];
            for one in [&case.stationarity, &case.direction, &case.consensus] {
                cells.push(format!("{:.3e} ± {:.0e}", one.measured, one.standard_error));
                cells.push(format!("{:.3e}", one.bound));
            }
            let parts = case.stationarity.bound_by_cause.parts();
            let largest =
                parts.iter().fold(parts[0], |most, part| if part.1 > most.1 { *part } else { most });
            cells.push(format!("{} {:.0} %", largest.0, 100.0 * largest.1 / case.stationarity.bound));
            cells
        };
        (head, self.summaries.iter().map(row).collect())
    }

    pub fn about(&self) -> String {
        let which = if self.quick { "A smaller version in seconds. " } else { "" };
        format!(
            "{which}{} cases of {} seeds: log-cosh, quadratics and logistic regression on a ring, a torus and a \
             complete graph of {NODES} nodes with {RECORDS} records each, Poisson batches of {BATCH}, c_γ = {C_GAMMA}, \
             the largest feasible c_α, without noise and with noise of multiplier {NOISE} (δ = {DELTA:e}).",
            self.summaries.len(),
            self.seeds
        )
    }

    pub fn verdict(&self) -> String {
        let (checked, violated) = (self.checked(), self.violated());
        let slope = self.slope().map_or(String::new(), |one| {
            format!(
                " Without noise the average squared gradient falls as T to the power of {:.3} ± {:.3} over the last \
                 decade of T ({} on the {} graph); the theorem's bound falls with the power {THEOREM:.3}.",
                one.slope, one.slope_error, one.problem, one.network
            )
        });
        let clipped = match self.clipped() {
            0 => "No record was clipped in any run.".to_string(),
            n => format!("In {n} cases a gate CLIPPED a record: the theorem does not apply to them."),
        };
        format!(
            "{checked} comparisons, {violated} violated (a mean counts as above its bound beyond {:.1} standard errors: \
             one false alarm in {:.0} such experiments). {clipped}{slope}",
            self.allowance,
            1.0 / FAMILY_ERROR
        )
    }
}

pub fn figure(ratio: f64) -> String {
    match ratio {
        r if r < 100.0 => format!("{r:.3}"),
        r if r < 1e5 => format!("{r:.0}"),
        r => format!("{r:.1e}"),
    }
}
