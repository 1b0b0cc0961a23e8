//! Every inequality of the proof: what was measured on its left, what the theory says on its right.

use super::evidence::Evidence;
use super::trace::{NodeRound, Round, Trace};
use prdo::theory::lemmas::{self, Moments};

/// In which sense an inequality is held against the runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sense {
    /// An equation, up to rounding, in every round of every run.
    Identity,
    /// In every round of every run: nothing is left to chance.
    Path,
    /// In every round of every run, for the expectation given the past, computed exactly from all records.
    Conditional,
    /// For means over the seeds, up to their standard error.
    Mean,
}

impl Sense {
    pub fn name(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Path => "every path",
            Self::Conditional => "conditional",
            Self::Mean => "mean of seeds",
        }
    }
}

/// Measured, and its bound.
pub type Pair = (f64, f64);

/// What is compared, and how often.
#[derive(Clone, Copy)]
pub enum Sides {
    EachRun(fn(&Evidence<'_>, &Trace) -> Pair),
    EachRound(fn(&Evidence<'_>, &Trace, usize) -> Pair),
    /// The same without the first round.
    EachLaterRound(fn(&Evidence<'_>, &Trace, usize) -> Pair),
    /// Every node in every round but the first.
    EachNode(fn(&Evidence<'_>, &NodeRound) -> Pair),
    /// All seeds at once.
    Seeds(fn(&Evidence<'_>, &Trace) -> Pair),
    /// All seeds at once, in every round but the first.
    SeedsEachLaterRound(fn(&Evidence<'_>, &Trace, usize) -> Pair),
}

impl Sides {
    /// Hands on every round with its pairs: one pair of a single run, one per seed for a mean.
    pub fn emit(self, evidence: &Evidence<'_>, emit: &mut dyn FnMut(usize, &[Pair])) {
        let traces = &evidence.traces;
        let rounds = evidence.setting().setup().rounds as usize;
        match self {
            Self::EachRun(sides) => traces.iter().for_each(|trace| emit(0, &[sides(evidence, trace)])),
            Self::EachRound(sides) => {
                traces.iter().for_each(|run| (0..rounds).for_each(|t| emit(t, &[sides(evidence, run, t)])));
            }
            Self::EachLaterRound(sides) => {
                traces.iter().for_each(|run| (1..rounds).for_each(|t| emit(t, &[sides(evidence, run, t)])));
            }
            Self::EachNode(sides) => {
                for (t, round) in traces.iter().flat_map(|trace| trace.rounds.iter().enumerate().skip(1)) {
                    round.nodes.iter().for_each(|node| emit(t, &[sides(evidence, node)]));
                }
            }
            Self::Seeds(sides) => {
                emit(0, &traces.iter().map(|trace| sides(evidence, trace)).collect::<Vec<_>>());
            }
            Self::SeedsEachLaterRound(sides) => (1..rounds).for_each(|t| {
                emit(t, &traces.iter().map(|trace| sides(evidence, trace, t)).collect::<Vec<_>>());
            }),
        }
    }
}

#[derive(Clone, Copy)]
pub struct Inequality {
    pub label: &'static str,
    pub says: &'static str,
    pub sense: Sense,
    /// What rounding may add, in units of 1 + ‖X‖²_F.
    pub rounding: f64,
    /// Whether there is something to check only where σ² is proven, rather than the largest value measured.
    pub proven_variance_only: bool,
    pub sides: Sides,
}

/// Rounding of sums of squares.
const SQUARES: f64 = 1e-24;
/// Rounding of values of f.
const VALUES: f64 = 1e-13;
/// How far an equation may fail: by this, relatively.
const EQUATION: f64 = 1e-11;

use Sense::{Conditional, Identity, Mean, Path};
use Sides::{EachLaterRound, EachNode, EachRound, EachRun, Seeds, SeedsEachLaterRound};

const fn of(sense: Sense, label: &'static str, says: &'static str, sides: Sides) -> Inequality {
    Inequality { label, says, sense, rounding: SQUARES, proven_variance_only: false, sides }
}

/// All of them, in the paper's order.
pub const ALL: [Inequality; 31] = [
    of(Path, "pv:gradient-bound", "‖∇ℓ‖ ≤ C_g for every record", EachRun(gradient_bound)),
    of(
        Path,
        "pv:difference-bound",
        "‖∇ℓ(x^t) − ∇ℓ(x^{t−1})‖ ≤ C_Δ for every record",
        EachRun(difference_bound),
    ),
    Inequality {
        proven_variance_only: true,
        ..of(Path, "cv:oracle-variance", "variance of a batch's gradient ≤ σ²/b", EachRound(oracle_variance))
    },
    of(
        Path,
        "cv:oracle-difference",
        "variance of its difference ≤ L_s²‖x − y‖²/b",
        EachNode(oracle_difference),
    ),
    of(Identity, "cv:average-dynamics", "x̄^{t+1} = x̄^t − αv̄^t", EachRound(average_dynamics)),
    Inequality { rounding: VALUES, ..of(Path, "cv:descent", "descent of f(x̄)", EachRound(descent)) },
    of(Conditional, "cv:initial-errors", "H₀ given x⁰", EachRun(first_local_error)),
    of(Conditional, "cv:initial-errors", "h₀ given x⁰", EachRun(first_mean_error)),
    of(Mean, "cv:initial-errors", "H₀", Seeds(measured_first_local_error)),
    of(Mean, "cv:initial-errors", "h₀", Seeds(measured_first_mean_error)),
    of(Mean, "cv:oracle-unbiased", "E‖E^t − (1−γ)E^{t−1}‖² ≤ exact variance", Seeds(not_above_exact)),
    of(Mean, "cv:oracle-unbiased", "E‖E^t − (1−γ)E^{t−1}‖² ≥ exact variance", Seeds(not_below_exact)),
    of(Conditional, "cv:innovation-bound", "one node's fresh error", EachNode(innovation)),
    of(Conditional, "cv:h-recursion", "h_t given the past", EachLaterRound(mean_recursion)),
    of(Conditional, "cv:H-recursion", "H_t given the past", EachLaterRound(local_recursion)),
    of(Mean, "cv:h-recursion", "h_t, each round", SeedsEachLaterRound(measured_mean_recursion)),
    of(Mean, "cv:H-recursion", "H_t, each round", SeedsEachLaterRound(measured_local_recursion)),
    of(Path, "cv:movement", "Σ‖X^t − X^{t−1}‖² ≤ 4ΣC_t + nα²ΣU_t", EachRun(movement)),
    of(Mean, "cv:h-sum", "Σh_t", Seeds(mean_sum)),
    of(Mean, "cv:H-sum", "ΣH_t", Seeds(local_sum)),
    of(Identity, "cv:augmented-D", "recursion of the correction S_t", EachRound(correction)),
    of(Path, "cv:initial-energy", "first energy ≤ nα²λζ₀²/(2(1−λ))", EachRun(first_energy)),
    of(Path, "cv:network-energy", "contraction of the network energy", EachLaterRound(network_energy)),
    of(Path, "cv:energy-coercivity", "‖PX^t‖² ≤ 4 · energy", EachRound(coercivity)),
    of(Path, "cv:R-force", "‖PR^t‖² ≤ 2‖E^t‖² + 2L_s²‖PX^t‖²", EachRound(residual)),
    of(Path, "cv:N-force", "‖P(M^{t+1} − M^t)‖² ≤ nα²L_s²‖v̄^t‖²", EachRound(drift)),
    of(Path, "cv:network-sum", "ΣC_t by ζ₀², ΣH_t, ΣU_t", EachRun(network_sum)),
    of(Mean, "cv:closed-consensus", "ΣC_t ≤ 2B_net + 2A_U ΣU_t", Seeds(closed_consensus)),
    of(Mean, "cv:finite-bound", "(1/T)Σ‖∇f(x̄^t)‖²", Seeds(stationarity)),
    of(Mean, "cv:finite-direction", "(1/T)ΣU_t", Seeds(direction)),
    of(Mean, "cv:finite-consensus", "(1/(nT))ΣC_t", Seeds(consensus)),
];

fn gradient_bound(evidence: &Evidence<'_>, trace: &Trace) -> Pair {
    (trace.longest.0, evidence.case.problem.clip.0)
}

fn difference_bound(evidence: &Evidence<'_>, trace: &Trace) -> Pair {
    (trace.longest.1, evidence.case.problem.clip.1)
}

fn oracle_variance(evidence: &Evidence<'_>, trace: &Trace, t: usize) -> Pair {
    let b = evidence.setting().batch();
    let largest = trace.rounds[t].nodes.iter().map(|node| node.mean_square).fold(0.0, f64::max);
    (evidence.case.left_out() * largest / b, evidence.levels.sampling_variance / b)
}

fn oracle_difference(evidence: &Evidence<'_>, node: &NodeRound) -> Pair {
    let (b, l) = (evidence.setting().batch(), evidence.setting().smoothness());
    (evidence.case.left_out() * node.difference / b, l * l * node.moved / b)
}

fn average_dynamics(_: &Evidence<'_>, trace: &Trace, t: usize) -> Pair {
    (trace.rounds[t].average_defect, EQUATION)
}

fn correction(_: &Evidence<'_>, trace: &Trace, t: usize) -> Pair {
    (trace.rounds[t].correction_defect, EQUATION)
}

/// On the left what f(x̄) rises beyond −(α/2)‖∇f‖² − (α/4)‖v̄‖², on the right α‖ē‖² + (αL_s²/n)‖PX‖².
fn descent(evidence: &Evidence<'_>, trace: &Trace, t: usize) -> Pair {
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
}

fn first_local_error(evidence: &Evidence<'_>, trace: &Trace) -> Pair {
    (evidence.expected_local_error(trace, 0), evidence.bounds.first_local_error.total())
}

fn first_mean_error(evidence: &Evidence<'_>, trace: &Trace) -> Pair {
    (evidence.expected_mean_error(trace, 0), evidence.bounds.first_mean_error.total())
}

fn measured_first_local_error(evidence: &Evidence<'_>, trace: &Trace) -> Pair {
    (trace.rounds[0].local_error, evidence.bounds.first_local_error.total())
}

fn measured_first_mean_error(evidence: &Evidence<'_>, trace: &Trace) -> Pair {
    (trace.rounds[0].mean_error, evidence.bounds.first_mean_error.total())
}

/// What batches and noise added to the errors in a round, squared, over what is expected given the past: its mean over
/// the rounds, and one. The difference is a martingale, so that the means over seeds agree: wrong sampling or wrong
/// noise would show here first.
pub fn not_above_exact(_: &Evidence<'_>, trace: &Trace) -> Pair {
    let expected = |round: &Round| round.nodes.iter().map(|node| node.innovation).sum::<f64>();
    (trace.sum(|round| round.fresh_error / expected(round)) / trace.rounds.len() as f64, 1.0)
}

fn not_below_exact(evidence: &Evidence<'_>, trace: &Trace) -> Pair {
    let (measured, expected) = not_above_exact(evidence, trace);
    (expected, measured)
}

fn innovation(evidence: &Evidence<'_>, node: &NodeRound) -> Pair {
    (node.innovation, lemmas::innovation(evidence.setting(), &evidence.levels, node.moved))
}

fn next_mean_error(evidence: &Evidence<'_>, trace: &Trace, t: usize) -> f64 {
    let (before, movement) = (trace.rounds[t - 1].mean_error, trace.rounds[t].movement);
    lemmas::next_mean_error(evidence.setting(), &evidence.levels, before, movement)
}

fn next_local_error(evidence: &Evidence<'_>, trace: &Trace, t: usize) -> f64 {
    let (before, movement) = (trace.rounds[t - 1].local_error, trace.rounds[t].movement);
    lemmas::next_local_error(evidence.setting(), &evidence.levels, before, movement)
}

fn mean_recursion(evidence: &Evidence<'_>, trace: &Trace, t: usize) -> Pair {
    (evidence.expected_mean_error(trace, t), next_mean_error(evidence, trace, t))
}

fn local_recursion(evidence: &Evidence<'_>, trace: &Trace, t: usize) -> Pair {
    (evidence.expected_local_error(trace, t), next_local_error(evidence, trace, t))
}

fn measured_mean_recursion(evidence: &Evidence<'_>, trace: &Trace, t: usize) -> Pair {
    (trace.rounds[t].mean_error, next_mean_error(evidence, trace, t))
}

fn measured_local_recursion(evidence: &Evidence<'_>, trace: &Trace, t: usize) -> Pair {
    (trace.rounds[t].local_error, next_local_error(evidence, trace, t))
}

fn movement(evidence: &Evidence<'_>, trace: &Trace) -> Pair {
    (trace.sum(|round| round.movement), lemmas::movement(evidence.setting(), &trace.sums()))
}

fn mean_sum(evidence: &Evidence<'_>, trace: &Trace) -> Pair {
    let (first, sums) = (trace.rounds[0].mean_error, trace.sums());
    let bound = lemmas::mean_error_sum(evidence.setting(), &evidence.levels, first, &sums);
    (trace.sum(|round| round.mean_error), bound)
}

fn local_sum(evidence: &Evidence<'_>, trace: &Trace) -> Pair {
    let (first, sums) = (trace.rounds[0].local_error, trace.sums());
    let bound = lemmas::local_error_sum(evidence.setting(), &evidence.levels, first, &sums);
    (trace.sum(|round| round.local_error), bound)
}

fn first_energy(evidence: &Evidence<'_>, trace: &Trace) -> Pair {
    (trace.rounds[0].energy, lemmas::first_energy(evidence.setting(), evidence.levels.heterogeneity))
}

fn network_energy(evidence: &Evidence<'_>, trace: &Trace, t: usize) -> Pair {
    let before = &trace.rounds[t - 1];
    let bound = lemmas::next_energy(evidence.setting(), before.energy, before.residual, before.drift);
    (trace.rounds[t].energy, bound)
}

fn coercivity(_: &Evidence<'_>, trace: &Trace, t: usize) -> Pair {
    (trace.rounds[t].disagreement, lemmas::disagreement_of_energy(trace.rounds[t].energy))
}

fn residual(evidence: &Evidence<'_>, trace: &Trace, t: usize) -> Pair {
    let (round, l) = (&trace.rounds[t], evidence.setting().smoothness());
    (round.residual, 2.0 * round.local_error + 2.0 * l * l * round.disagreement)
}

fn drift(evidence: &Evidence<'_>, trace: &Trace, t: usize) -> Pair {
    let (round, setting) = (&trace.rounds[t], evidence.setting());
    let scaled = setting.step_size() * setting.smoothness();
    (round.drift, setting.nodes() * scaled * scaled * round.direction)
}

fn network_sum(evidence: &Evidence<'_>, trace: &Trace) -> Pair {
    let sums = trace.sums();
    let bound = lemmas::disagreement_sum(evidence.setting(), evidence.levels.heterogeneity, &sums);
    (sums.disagreement, bound)
}

fn closed_consensus(evidence: &Evidence<'_>, trace: &Trace) -> Pair {
    let (budget, sums) = (evidence.bounds.network_budget.total(), trace.sums());
    (sums.disagreement, lemmas::closed_disagreement_sum(evidence.setting(), budget, sums.direction))
}

fn stationarity(evidence: &Evidence<'_>, trace: &Trace) -> Pair {
    let rounds = evidence.setting().rounds();
    (trace.sum(|round| round.gradient) / rounds, evidence.bounds.stationarity.total())
}

fn direction(evidence: &Evidence<'_>, trace: &Trace) -> Pair {
    let rounds = evidence.setting().rounds();
    (trace.sum(|round| round.direction) / rounds, evidence.bounds.direction.total())
}

fn consensus(evidence: &Evidence<'_>, trace: &Trace) -> Pair {
    let (nodes, rounds) = (evidence.setting().nodes(), evidence.setting().rounds());
    (trace.sum(|round| round.disagreement) / (nodes * rounds), evidence.bounds.consensus.total())
}
