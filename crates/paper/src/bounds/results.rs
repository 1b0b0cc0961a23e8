//! What came out, as tables and as text.

use super::case::{BATCH, C_GAMMA, DELTA, NOISE};
use super::evidence::Evidence;
use super::file;
use super::inequality::{ALL, Kind};
use super::problem::{NODES, RECORDS};
use super::slope::{Fall, THEOREM, mean_and_error};
use super::trace::Trace;
use super::verdict::{FAMILY_ERROR, Finding, allowance};
use prdo::theory::Split;

/// One of the theorem's three averages: measured, with its standard error, beside its bound.
#[derive(Clone, Copy)]
pub struct Average {
    pub measured: f64,
    pub error: f64,
    pub bound: Split,
}

/// A case after its runs.
pub struct Summary {
    pub name: String,
    pub problem: &'static str,
    pub network: &'static str,
    pub rounds: u64,
    pub private: bool,
    pub stationarity: Average,
    pub direction: Average,
    pub consensus: Average,
    /// Whether a gate clipped anything, in any run.
    pub clipped: bool,
    pub details: file::Details,
}

impl Summary {
    pub fn of(evidence: &Evidence<'_>) -> Self {
        let (case, setting) = (evidence.case, evidence.setting());
        let (n, t) = (setting.nodes(), setting.rounds());
        let average = |of: &dyn Fn(&Trace) -> f64, bound: Split| {
            let (measured, error) = mean_and_error(&evidence.traces.iter().map(of).collect::<Vec<_>>());
            Average { measured, error, bound }
        };
        let bounds = &evidence.bounds;
        Self {
            name: case.to_string(),
            problem: case.problem.name,
            network: case.network.name,
            rounds: setting.setup().rounds,
            private: case.protection.is_some(),
            stationarity: average(&|trace| trace.sum(|r| r.gradient) / t, bounds.stationarity),
            direction: average(&|trace| trace.sum(|r| r.direction) / t, bounds.direction),
            consensus: average(&|trace| trace.sum(|r| r.disagreement) / (n * t), bounds.consensus),
            clipped: evidence.traces.iter().any(|trace| trace.clipped != (0.0, 0.0)),
            details: file::Details::of(evidence),
        }
    }
}

/// Everything.
pub struct Results {
    pub summaries: Vec<Summary>,
    /// In the order of `ALL`.
    pub findings: Vec<Finding>,
    pub falls: Vec<Fall>,
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
        falls: Vec<Fall>,
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
                sum.add(inequality.kind, one);
            }
        }
        let means = ALL.iter().zip(&findings).filter(|(one, _)| one.kind == Kind::Mean);
        let allowance = allowance(means.map(|(_, found)| found.checked).sum(), seeds);
        Self { summaries, findings, falls, seeds, slope_seeds, allowance, quick, seconds }
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
    pub fn slope(&self) -> Option<&Fall> {
        self.falls.iter().find(|fall| (fall.problem, fall.network) == SLOPE_OF)
    }

    /// How many cases have a run in which a gate clipped.
    pub fn clipped(&self) -> usize {
        self.summaries.iter().filter(|case| case.clipped).count()
    }

    /// The inequalities, one a row.
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
        let row = |(one, found): (&super::inequality::Inequality, &Finding)| {
            let (worst, place) = match &found.worst {
                Some((defect, place)) if one.kind == Kind::Identity => {
                    (format!("± {defect:.0e}"), place.as_str())
                }
                Some((ratio, place)) => (figure(*ratio), place.as_str()),
                None => ("0 on the left".to_string(), ""),
            };
            vec![
                one.label.to_string(),
                one.says.to_string(),
                one.kind.name().to_string(),
                found.checked.to_string(),
                found.violated(self.allowance).to_string(),
                worst,
                if one.kind == Kind::Mean { format!("{:.1}", found.most_above()) } else { String::new() },
                place.to_string(),
            ]
        };
        (head, ALL.iter().zip(&self.findings).map(row).collect())
    }

    /// The slopes, one a row.
    pub fn slopes(&self) -> (Vec<&'static str>, Vec<Vec<String>>) {
        let head = vec!["problem", "graph", "c_α", "T", "slope", "over the last decade of T"];
        let row = |fall: &Fall| {
            let ends = (fall.points.first(), fall.points.last());
            let end = |point: Option<&(f64, f64, f64)>| point.map_or(0.0, |(t, _, _)| *t);
            vec![
                fall.problem.to_string(),
                fall.network.to_string(),
                format!("{:.3}", fall.c_alpha),
                format!("{}–{}", end(ends.0), end(ends.1)),
                format!("{:.3} ± {:.3}", fall.whole.0, fall.whole.1),
                format!("{:.3} ± {:.3}", fall.slope.0, fall.slope.1),
            ]
        };
        (head, self.falls.iter().map(row).collect())
    }

    /// The theorem's three averages of every case.
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
                cells.push(format!("{:.3e} ± {:.0e}", one.measured, one.error));
                cells.push(format!("{:.3e}", one.bound.total()));
            }
            let parts = case.stationarity.bound.parts();
            let largest =
                parts.iter().fold(parts[0], |most, part| if part.1 > most.1 { *part } else { most });
            cells.push(format!("{} {:.0} %", largest.0, 100.0 * largest.1 / case.stationarity.bound.total()));
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
        let slope = self.slope().map_or(String::new(), |fall| {
            format!(
                " Without noise the average squared gradient falls as T to the power of {:.3} ± {:.3} over the last \
                 decade of T ({} on the {} graph); the theorem's bound falls with the power {THEOREM:.3}.",
                fall.slope.0, fall.slope.1, fall.problem, fall.network
            )
        });
        let clipped = match self.clipped() {
            0 => "No record was clipped in any run.".to_string(),
            n => format!("In {n} cases a gate CLIPPED a record: the theorem does not speak of them."),
        };
        format!(
            "{checked} comparisons, {violated} violated (a mean counts as above its bound beyond {:.1} standard errors: \
             one false alarm in {:.0} such experiments). {clipped}{slope}",
            self.allowance,
            1.0 / FAMILY_ERROR
        )
    }
}

/// A ratio for people.
pub fn figure(ratio: f64) -> String {
    match ratio {
        r if r < 100.0 => format!("{r:.3}"),
        r if r < 1e5 => format!("{r:.0}"),
        r => format!("{r:.1e}"),
    }
}
