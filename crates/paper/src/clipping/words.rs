//! What was done and what came out, in words.

use super::contestant::{BETA, Contestant, GAMMA};
use super::results::Results;
use super::tables::Table;
use super::{differences, fixed_points, floor, minibatch};

/// How the three ways of clipping PRDO's query are told apart.
pub fn ways() -> String {
    format!(
        "PRDO's query γ·gradient + (1−γ)·difference (γ = {GAMMA}) is clipped in three ways: two clips, C_g and C_Δ, as the \
         paper has it; the same with C_Δ = κ‖x − x₋‖, which is public; one clip of the sum at the same \
         S = γC_g + (1−γ)C_Δ. EDM has β = {BETA}. S is the largest norm of one record's contribution: what the noise of a \
         private run is proportional to."
    )
}

fn about_fixed_points() -> String {
    let (clips, (count, far)) = (fixed_points::CLIPS, fixed_points::FAR);
    format!(
        "{} nodes on a ring, ℓ(x; c) = ½(x − c)², {count} of 320 records at c = {far}, the rest at 0; C_g = {}, C_Δ = {}, \
         κ = {}, step {}, full batches, {} rounds. The minimiser is 1. Clipped gradients add up to nothing at pC/(1−p), p being \
         the share of records far away and C the length beyond which a node that stands still has gradients shortened: C_g, or \
         S/γ of one clip, because the difference is 0 then. D-SGD's average is that of the solution of \
         (I − W)x + αW(Dx − Cp) = 0. Rounds to settle: until ‖∇f(x̄)‖ keeps within a hundredth of its whole way.",
        fixed_points::NODES,
        clips.gradient,
        clips.difference,
        clips.kappa,
        fixed_points::STEP,
        fixed_points::ROUNDS,
    )
}

fn about_floors(results: &Results) -> String {
    let extent = if results.quick { floor::QUICK } else { floor::FULL };
    format!(
        "{} nodes with {} records each, full batches, step {}, {} rounds. At every C the records at two points with σ = 1 \
         that are worst for it: at most two fifths of them far away, C_Δ = {}·C_g, κ the curvature. With u = √(p/(1−p)) the \
         distance is σu − Cu², at most σ²/(4C): of order min(σ, σ²/C). Slopes are of log ‖∇f(x̄)‖ against log C_g. In the figure \
         what coincides lies on one line: in (a) all but one clip, in (b) D-SGD, Exact Diffusion and EDM, and the two ways of \
         PRDO whose differences vanish from S.",
        floor::NODES,
        extent.records,
        floor::STEP,
        floor::ROUNDS,
        floor::RATIO,
    )
}

fn about_differences(results: &Results) -> String {
    let extent = if results.quick { differences::QUICK } else { differences::FULL };
    format!(
        "{} nodes, one record in {:.0} far away (σ = 1), minibatches of {}, step {}, C_g = {}, which no gradient reaches, \
         {} rounds, {} seeds. Bias: the mean of x̄ over the second half of the rounds against the same run without clipping, \
         on the same batches. In the mean v̄ stands still, so that the mean clipped gradient is −(1−γ)/γ times the mean clipped \
         difference: at most (1−γ)C_Δ/γ. S of C_Δ = κ‖x − x₋‖ (κ = {}) is its mean over the rounds.",
        differences::NODES,
        1.0 / differences::SHARE,
        differences::BATCH,
        differences::STEP,
        differences::CLIP,
        extent.rounds,
        extent.seeds,
        differences::KAPPA,
    )
}

fn about_minibatch(results: &Results) -> String {
    let extent = if results.quick { minibatch::QUICK } else { minibatch::FULL };
    format!(
        "Heterogeneous logistic regression: {} nodes on a ring, {} records each in dimension {}, heterogeneity {}, ρ = {}, \
         step {}, minibatches of {} without replacement, PRDO started from the full gradient, {} rounds, {} streams shared by \
         all methods; C_Δ = {}·C_g, κ = {:.2}, the largest curvature of a record's loss. Late: mean over the last sixth of the \
         rounds.",
        minibatch::NODES,
        minibatch::RECORDS,
        minibatch::DIMENSION,
        minibatch::HETEROGENEITY,
        minibatch::REGULARIZATION,
        minibatch::STEP,
        minibatch::BATCH,
        extent.rounds,
        extent.streams,
        minibatch::RATIO,
        results.minibatch.kappa,
    )
}

impl Results {
    /// What each part is about, and its table.
    pub fn sections(&self) -> [(String, Table); 4] {
        [
            (about_fixed_points(), self.fixed_point_table()),
            (about_floors(self), self.floor_table()),
            (about_differences(self), self.difference_table()),
            (about_minibatch(self), self.minibatch_table()),
        ]
    }

    pub fn verdict(&self) -> String {
        let slopes = |of: fn(&floor::Floor) -> f64| {
            let all: Vec<f64> = self.floors.iter().map(of).collect();
            let least = all.iter().copied().fold(f64::INFINITY, f64::min);
            (least, all.iter().copied().fold(f64::NEG_INFINITY, f64::max))
        };
        let (small, large) = (slopes(|one| one.slope_small), slopes(|one| one.slope_large));
        format!(
            "Clipped methods stop where clipped gradients add up to nothing (at most {:.0e} from the closed form), at a \
             distance that does not depend on C below σ/10 (slopes {:.2} to {:.2}) and falls as 1/C from σ on ({:.3} to \
             {:.3}). {}",
            self.largest_error(),
            small.0,
            small.1,
            large.0,
            large.1,
            self.about_prdo(),
        )
    }

    /// What each way of clipping PRDO's query does to the bias.
    fn about_prdo(&self) -> String {
        let largest = |two: bool| {
            let own = self.differences.iter().filter(|one| (one.method == Contestant::PRDO[0]) == two);
            own.max_by(|a, b| a.bias.abs().total_cmp(&b.bias.abs()))
        };
        let (Some(two), Some(other)) = (largest(true), largest(false)) else { return String::new() };
        format!(
            "Clipping PRDO's differences moves no fixed point of full batches; with minibatches it adds a bias of up to {:.1e} \
             (± {:.0e}, at C_Δ = {}), while C_Δ = κ‖x − x₋‖ with κ above the curvature and one clip add at most {:.0e} \
             (± {:.0e}).",
            two.bias.abs(),
            two.bias_error,
            two.clip.unwrap_or(f64::NAN),
            other.bias.abs(),
            other.bias_error,
        )
    }
}
