//! Every inequality of the proof: what was measured on its left, what the theory says on its right.

use super::evidence::Evidence;
use super::trace::{Round, Trace};
use prdo::theory::lemmas::{self, Moments};

/// In which sense an inequality is held against the runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An equation, up to rounding, in every round of every run.
    Identity,
    /// In every round of every run: nothing is left to chance.
    Path,
    /// In every round of every run, for the expectation given the past, computed exactly from all records.
    Conditional,
    /// For means over the seeds, up to their standard error.
    Mean,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Path => "every path",
            Self::Conditional => "conditional",
            Self::Mean => "mean of seeds",
        }
    }
}

/// Takes a round and the pairs (measured, bound): one pair for a single run, one a seed for a mean.
pub type Emit<'e> = &'e mut dyn FnMut(usize, &[(f64, f64)]);

/// An inequality of the paper.
pub struct Inequality {
    /// The paper's label.
    pub label: &'static str,
    /// What it says.
    pub says: &'static str,
    pub kind: Kind,
    /// What rounding may add, in units of 1 + ‖X‖²_F.
    pub rounding: f64,
    pub sides: fn(&Evidence<'_>, Emit<'_>),
}

/// Rounding of sums of squares.
const SQUARES: f64 = 1e-24;
/// Rounding of values of f.
const VALUES: f64 = 1e-13;
/// How far an equation may fail: by this, relatively.
const EQUATION: f64 = 1e-11;

const fn path(label: &'static str, says: &'static str, sides: fn(&Evidence<'_>, Emit<'_>)) -> Inequality {
    Inequality { label, says, kind: Kind::Path, rounding: SQUARES, sides }
}

const fn of(kind: Kind, inequality: Inequality) -> Inequality {
    Inequality { kind, ..inequality }
}

/// All of them, in the paper's order.
pub const ALL: [Inequality; 31] = [
    path("pv:gradient-bound", "‖∇ℓ‖ ≤ C_g for every record", gradient_bound),
    path("pv:difference-bound", "‖∇ℓ(x^t) − ∇ℓ(x^{t−1})‖ ≤ C_Δ for every record", difference_bound),
    path("cv:oracle-variance", "variance of a batch's gradient ≤ σ²/b", oracle_variance),
    path("cv:oracle-difference", "variance of its difference ≤ L_s²‖x − y‖²/b", oracle_difference),
    of(Kind::Identity, path("cv:average-dynamics", "x̄^{t+1} = x̄^t − αv̄^t", average_dynamics)),
    Inequality { rounding: VALUES, ..path("cv:descent", "descent of f(x̄)", descent) },
    of(Kind::Conditional, path("cv:initial-errors", "H₀ given x⁰", first_local_error)),
    of(Kind::Conditional, path("cv:initial-errors", "h₀ given x⁰", first_mean_error)),
    of(Kind::Mean, path("cv:initial-errors", "H₀", measured_first_local_error)),
    of(Kind::Mean, path("cv:initial-errors", "h₀", measured_first_mean_error)),
    of(Kind::Mean, path("cv:oracle-unbiased", "E‖E^t − (1−γ)E^{t−1}‖² ≤ exact variance", not_above_exact)),
    of(Kind::Mean, path("cv:oracle-unbiased", "E‖E^t − (1−γ)E^{t−1}‖² ≥ exact variance", not_below_exact)),
    of(Kind::Conditional, path("cv:innovation-bound", "one node's fresh error", innovation)),
    of(Kind::Conditional, path("cv:h-recursion", "h_t given the past", h_recursion)),
    of(Kind::Conditional, path("cv:H-recursion", "H_t given the past", local_recursion)),
    of(Kind::Mean, path("cv:h-recursion", "h_t, each round", measured_h_recursion)),
    of(Kind::Mean, path("cv:H-recursion", "H_t, each round", measured_local_recursion)),
    path("cv:movement", "Σ‖X^t − X^{t−1}‖² ≤ 4ΣC_t + nα²ΣU_t", movement),
    of(Kind::Mean, path("cv:h-sum", "Σh_t", h_sum)),
    of(Kind::Mean, path("cv:H-sum", "ΣH_t", local_sum)),
    of(Kind::Identity, path("cv:augmented-D", "recursion of the correction S_t", correction)),
    path("cv:initial-energy", "first energy ≤ nα²λζ₀²/(2(1−λ))", first_energy),
    path("cv:network-energy", "contraction of the network energy", network_energy),
    path("cv:energy-coercivity", "‖PX^t‖² ≤ 4 · energy", coercivity),
    path("cv:R-force", "‖PR^t‖² ≤ 2‖E^t‖² + 2L_s²‖PX^t‖²", residual),
    path("cv:N-force", "‖P(M^{t+1} − M^t)‖² ≤ nα²L_s²‖v̄^t‖²", drift),
    path("cv:network-sum", "ΣC_t by ζ₀², ΣH_t, ΣU_t", network_sum),
    of(Kind::Mean, path("cv:closed-consensus", "ΣC_t ≤ 2B_net + 2A_U ΣU_t", closed_consensus)),
    of(Kind::Mean, path("cv:finite-bound", "(1/T)Σ‖∇f(x̄^t)‖²", stationarity)),
    of(Kind::Mean, path("cv:finite-direction", "(1/T)ΣU_t", direction)),
    of(Kind::Mean, path("cv:finite-consensus", "(1/(nT))ΣC_t", consensus)),
];

/// One pair a run.
fn each_run(evidence: &Evidence<'_>, emit: Emit<'_>, sides: impl Fn(&Trace) -> (f64, f64)) {
    evidence.traces.iter().for_each(|trace| emit(0, &[sides(trace)]));
}

/// One pair a round of every run, from `first` to before `end`.
fn each_round(
    evidence: &Evidence<'_>,
    (first, end): (usize, usize),
    emit: Emit<'_>,
    sides: impl Fn(&Trace, usize) -> (f64, f64),
) {
    for trace in &evidence.traces {
        (first..end.min(trace.rounds.len())).for_each(|t| emit(t, &[sides(trace, t)]));
    }
}

/// One list of pairs, one a seed.
fn over_seeds(evidence: &Evidence<'_>, t: usize, emit: Emit<'_>, sides: impl Fn(&Trace) -> (f64, f64)) {
    let pairs: Vec<(f64, f64)> = evidence.traces.iter().map(sides).collect();
    emit(t, &pairs);
}

const ALL_ROUNDS: (usize, usize) = (0, usize::MAX);
const LATER_ROUNDS: (usize, usize) = (1, usize::MAX);

fn rounds(evidence: &Evidence<'_>) -> usize {
    evidence.setting().setup().rounds as usize
}

fn gradient_bound(evidence: &Evidence<'_>, emit: Emit<'_>) {
    each_run(evidence, emit, |trace| (trace.longest.0, evidence.case.problem.clip.0));
}

fn difference_bound(evidence: &Evidence<'_>, emit: Emit<'_>) {
    each_run(evidence, emit, |trace| (trace.longest.1, evidence.case.problem.clip.1));
}

/// Where σ² is the largest value measured there is nothing to check.
fn oracle_variance(evidence: &Evidence<'_>, emit: Emit<'_>) {
    if evidence.case.problem.mean_square.is_none() {
        return;
    }
    let b = evidence.setting().batch();
    let variance = |trace: &Trace, t: usize| {
        let squares = trace.rounds[t].nodes.iter().map(|node| node.mean_square);
        evidence.case.left_out() * squares.fold(0.0, f64::max) / b
    };
    each_round(evidence, ALL_ROUNDS, emit, |trace, t| {
        (variance(trace, t), evidence.levels.sampling_variance / b)
    });
}

fn oracle_difference(evidence: &Evidence<'_>, emit: Emit<'_>) {
    let (b, l) = (evidence.setting().batch(), evidence.setting().smoothness());
    for trace in &evidence.traces {
        for (t, round) in trace.rounds.iter().enumerate().skip(1) {
            for node in &round.nodes {
                emit(t, &[(evidence.case.left_out() * node.difference / b, l * l * node.moved / b)]);
            }
        }
    }
}

fn average_dynamics(evidence: &Evidence<'_>, emit: Emit<'_>) {
    each_round(evidence, ALL_ROUNDS, emit, |trace, t| (trace.rounds[t].average_defect, EQUATION));
}

fn correction(evidence: &Evidence<'_>, emit: Emit<'_>) {
    each_round(evidence, ALL_ROUNDS, emit, |trace, t| (trace.rounds[t].correction_defect, EQUATION));
}

/// On the left what f(x̄) rises beyond −(α/2)‖∇f‖² − (α/4)‖v̄‖², on the right α‖ē‖² + (αL_s²/n)‖PX‖².
fn descent(evidence: &Evidence<'_>, emit: Emit<'_>) {
    each_round(evidence, ALL_ROUNDS, emit, |trace, t| {
        let now = &trace.rounds[t];
        let next = trace.rounds.get(t + 1).map_or(trace.last_loss, |round| round.loss);
        let moments = Moments {
            loss: now.loss,
            gradient: now.gradient,
            direction: now.direction,
            mean_error: now.mean_error,
            disagreement: now.disagreement,
        };
        let still = Moments { mean_error: 0.0, disagreement: 0.0, ..moments };
        let start = lemmas::descent(evidence.setting(), &still);
        (next - start, lemmas::descent(evidence.setting(), &moments) - start)
    });
}

fn first_local_error(evidence: &Evidence<'_>, emit: Emit<'_>) {
    let bound = evidence.bounds.first_local_error.total();
    each_run(evidence, emit, |trace| (evidence.expected_local_error(trace, 0), bound));
}

fn first_mean_error(evidence: &Evidence<'_>, emit: Emit<'_>) {
    let bound = evidence.bounds.first_mean_error.total();
    each_run(evidence, emit, |trace| (evidence.expected_mean_error(trace, 0), bound));
}

fn measured_first_local_error(evidence: &Evidence<'_>, emit: Emit<'_>) {
    let bound = evidence.bounds.first_local_error.total();
    over_seeds(evidence, 0, emit, |trace| (trace.rounds[0].local_error, bound));
}

fn measured_first_mean_error(evidence: &Evidence<'_>, emit: Emit<'_>) {
    let bound = evidence.bounds.first_mean_error.total();
    over_seeds(evidence, 0, emit, |trace| (trace.rounds[0].mean_error, bound));
}

/// What batches and noise added to the errors in a round, squared, over what is expected given the past: its mean over
/// the rounds, and one. The difference is a martingale, so that the means over seeds agree: wrong sampling or wrong
/// noise would show here first.
pub fn exact(trace: &Trace) -> (f64, f64) {
    let expected = |round: &Round| round.nodes.iter().map(|node| node.innovation).sum::<f64>();
    (trace.sum(|round| round.fresh_error / expected(round)) / trace.rounds.len() as f64, 1.0)
}

fn not_above_exact(evidence: &Evidence<'_>, emit: Emit<'_>) {
    over_seeds(evidence, 0, emit, exact);
}

fn not_below_exact(evidence: &Evidence<'_>, emit: Emit<'_>) {
    over_seeds(evidence, 0, emit, |trace| {
        let (measured, expected) = exact(trace);
        (expected, measured)
    });
}

fn innovation(evidence: &Evidence<'_>, emit: Emit<'_>) {
    for trace in &evidence.traces {
        for (t, round) in trace.rounds.iter().enumerate().skip(1) {
            for node in &round.nodes {
                let bound = lemmas::innovation(evidence.setting(), &evidence.levels, node.moved);
                emit(t, &[(node.innovation, bound)]);
            }
        }
    }
}

fn h_recursion(evidence: &Evidence<'_>, emit: Emit<'_>) {
    each_round(evidence, LATER_ROUNDS, emit, |trace, t| {
        let (before, movement) = (trace.rounds[t - 1].mean_error, trace.rounds[t].movement);
        let bound = lemmas::next_mean_error(evidence.setting(), &evidence.levels, before, movement);
        (evidence.expected_mean_error(trace, t), bound)
    });
}

fn local_recursion(evidence: &Evidence<'_>, emit: Emit<'_>) {
    each_round(evidence, LATER_ROUNDS, emit, |trace, t| {
        let (before, movement) = (trace.rounds[t - 1].local_error, trace.rounds[t].movement);
        let bound = lemmas::next_local_error(evidence.setting(), &evidence.levels, before, movement);
        (evidence.expected_local_error(trace, t), bound)
    });
}

fn measured_h_recursion(evidence: &Evidence<'_>, emit: Emit<'_>) {
    for t in 1..rounds(evidence) {
        over_seeds(evidence, t, emit, |trace| {
            let (before, movement) = (trace.rounds[t - 1].mean_error, trace.rounds[t].movement);
            let bound = lemmas::next_mean_error(evidence.setting(), &evidence.levels, before, movement);
            (trace.rounds[t].mean_error, bound)
        });
    }
}

fn measured_local_recursion(evidence: &Evidence<'_>, emit: Emit<'_>) {
    for t in 1..rounds(evidence) {
        over_seeds(evidence, t, emit, |trace| {
            let (before, movement) = (trace.rounds[t - 1].local_error, trace.rounds[t].movement);
            let bound = lemmas::next_local_error(evidence.setting(), &evidence.levels, before, movement);
            (trace.rounds[t].local_error, bound)
        });
    }
}

fn movement(evidence: &Evidence<'_>, emit: Emit<'_>) {
    each_run(evidence, emit, |trace| {
        let bound = lemmas::movement(evidence.setting(), &Evidence::sums(trace));
        (trace.sum(|round| round.movement), bound)
    });
}

fn h_sum(evidence: &Evidence<'_>, emit: Emit<'_>) {
    over_seeds(evidence, 0, emit, |trace| {
        let (first, sums) = (trace.rounds[0].mean_error, Evidence::sums(trace));
        let bound = lemmas::mean_error_sum(evidence.setting(), &evidence.levels, first, &sums);
        (trace.sum(|round| round.mean_error), bound)
    });
}

fn local_sum(evidence: &Evidence<'_>, emit: Emit<'_>) {
    over_seeds(evidence, 0, emit, |trace| {
        let (first, sums) = (trace.rounds[0].local_error, Evidence::sums(trace));
        let bound = lemmas::local_error_sum(evidence.setting(), &evidence.levels, first, &sums);
        (trace.sum(|round| round.local_error), bound)
    });
}

fn first_energy(evidence: &Evidence<'_>, emit: Emit<'_>) {
    let bound = lemmas::first_energy(evidence.setting(), evidence.levels.heterogeneity);
    each_run(evidence, emit, |trace| (trace.rounds[0].energy, bound));
}

fn network_energy(evidence: &Evidence<'_>, emit: Emit<'_>) {
    each_round(evidence, LATER_ROUNDS, emit, |trace, t| {
        let before = &trace.rounds[t - 1];
        let bound = lemmas::next_energy(evidence.setting(), before.energy, before.residual, before.drift);
        (trace.rounds[t].energy, bound)
    });
}

fn coercivity(evidence: &Evidence<'_>, emit: Emit<'_>) {
    each_round(evidence, ALL_ROUNDS, emit, |trace, t| {
        let round = &trace.rounds[t];
        (round.disagreement, lemmas::disagreement_of_energy(round.energy))
    });
}

fn residual(evidence: &Evidence<'_>, emit: Emit<'_>) {
    let l = evidence.setting().smoothness();
    each_round(evidence, ALL_ROUNDS, emit, |trace, t| {
        let round = &trace.rounds[t];
        (round.residual, 2.0 * round.local_error + 2.0 * l * l * round.disagreement)
    });
}

fn drift(evidence: &Evidence<'_>, emit: Emit<'_>) {
    let scaled = evidence.setting().step_size() * evidence.setting().smoothness();
    each_round(evidence, ALL_ROUNDS, emit, |trace, t| {
        let round = &trace.rounds[t];
        (round.drift, evidence.setting().nodes() * scaled * scaled * round.direction)
    });
}

fn network_sum(evidence: &Evidence<'_>, emit: Emit<'_>) {
    each_run(evidence, emit, |trace| {
        let sums = Evidence::sums(trace);
        let bound = lemmas::disagreement_sum(evidence.setting(), evidence.levels.heterogeneity, &sums);
        (sums.disagreement, bound)
    });
}

fn closed_consensus(evidence: &Evidence<'_>, emit: Emit<'_>) {
    let budget = evidence.bounds.network_budget.total();
    over_seeds(evidence, 0, emit, |trace| {
        let sums = Evidence::sums(trace);
        (sums.disagreement, lemmas::closed_disagreement_sum(evidence.setting(), budget, sums.direction))
    });
}

fn stationarity(evidence: &Evidence<'_>, emit: Emit<'_>) {
    let (t, bound) = (evidence.setting().rounds(), evidence.bounds.stationarity.total());
    over_seeds(evidence, 0, emit, |trace| (trace.sum(|round| round.gradient) / t, bound));
}

fn direction(evidence: &Evidence<'_>, emit: Emit<'_>) {
    let (t, bound) = (evidence.setting().rounds(), evidence.bounds.direction.total());
    over_seeds(evidence, 0, emit, |trace| (trace.sum(|round| round.direction) / t, bound));
}

fn consensus(evidence: &Evidence<'_>, emit: Emit<'_>) {
    let (n, t) = (evidence.setting().nodes(), evidence.setting().rounds());
    let bound = evidence.bounds.consensus.total();
    over_seeds(evidence, 0, emit, |trace| (trace.sum(|round| round.disagreement) / (n * t), bound));
}
