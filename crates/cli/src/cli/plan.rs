//! `prdo plan`, as typed.

use super::GraphShape;
use super::values::{ANY, BUDGET, COUNT, DELTA, NOISE, ROUNDS, number, whole};
use clap::Args;
use std::path::PathBuf;

pub const EXAMPLES: &str = "Example: prdo plan --graph ring --nodes 32 --rounds 1000 --batch 16
With the problem's constants the bound is shown too, by cause:
  prdo plan --graph ring --nodes 32 --rounds 1000 --batch 16 --smoothness 1 --initial-gap 0.7 \\
    --heterogeneity 0.1 --sampling-variance 1 --dimension 20 --records 100000 --epsilon 2 --delta 1e-6 \\
    --clip-gradient 1
For a run file, with constants from its generated data: prdo example private > run.toml && prdo plan run.toml
Nothing is trained. Constants are never taken from a data file unless --public-data says that it is public: from
private records they would reveal something that no budget accounts for.";

#[derive(Debug, Args)]
pub struct PlanArgs {
    /// A run file: its graph, method, batch, clips and budget.
    #[arg(value_name = "RUN.toml", conflicts_with_all = ["graph", "nodes", "weights", "lazy",
        "probability", "degree", "seed", "rounds", "batch"])]
    pub file: Option<PathBuf>,
    /// Overrides a key of the run file; may be given several times.
    #[arg(long, value_name = "KEY=VALUE", requires = "file")]
    pub set: Vec<String>,
    /// The run file's records are public: constants may be computed from them.
    #[arg(long, requires = "file")]
    pub public_data: bool,

    /// A kind of graph (ring, path, torus, complete, star, hypercube, …) or a file, as in `prdo graph`.
    #[arg(
        long,
        value_name = "KIND|FILE",
        required_unless_present = "file",
        help_heading = "Without a run file"
    )]
    pub graph: Option<String>,
    #[command(flatten, next_help_heading = "Without a run file")]
    pub shape: GraphShape,
    /// The number of rounds T.
    #[arg(long, value_name = "T", value_parser = whole::<u64>(&ROUNDS), required_unless_present = "file")]
    pub rounds: Option<u64>,
    /// b, the expected batch size per node and round.
    #[arg(long, value_name = "B", value_parser = whole::<u64>(&COUNT), required_unless_present = "file")]
    pub batch: Option<u64>,
    /// α, instead of the schedule's.
    #[arg(long, value_name = "A", value_parser = number(&ANY), conflicts_with = "file", requires = "smoothness")]
    pub step: Option<f64>,
    /// γ, instead of the schedule's; without --step α is then the largest that the conditions allow.
    #[arg(long, value_name = "G", value_parser = number(&ANY), conflicts_with = "file")]
    pub momentum: Option<f64>,
    /// b₀, instead of the schedule's.
    #[arg(long, value_name = "B0", value_parser = whole::<u64>(&COUNT), conflicts_with = "file")]
    pub first_batch: Option<u64>,
    /// d, the number of the model's parameters.
    #[arg(long, value_name = "D", value_parser = whole::<u64>(&COUNT), conflicts_with = "file")]
    pub dimension: Option<u64>,
    #[command(flatten, next_help_heading = "Noise, without a run file")]
    pub noise: NoiseArgs,

    #[command(flatten, next_help_heading = "The schedule")]
    pub schedule: ScheduleArgs,
    #[command(flatten, next_help_heading = "Constants of the problem")]
    pub levels: LevelArgs,
    /// Also draw the bound by cause: an SVG, PNG or PDF file.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub picture: Option<PathBuf>,
    /// One JSON object on stdout instead of text.
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct NoiseArgs {
    /// ν², the variance of the noise in each coordinate; 0 for none.
    #[arg(long, value_name = "V", value_parser = number(&ANY),
        conflicts_with_all = ["epsilon", "noise", "file"])]
    pub noise_variance: Option<f64>,
    /// N, the number of records of the smallest node.
    #[arg(long, value_name = "N", value_parser = whole::<u64>(&COUNT), conflicts_with = "file")]
    pub records: Option<u64>,
    /// ε of the whole run, for which z is calibrated.
    #[arg(long, value_name = "E", value_parser = number(&BUDGET), conflicts_with_all = ["noise", "file"],
        requires_all = ["delta", "records", "clip_gradient"])]
    pub epsilon: Option<f64>,
    /// δ.
    #[arg(long, value_name = "D", value_parser = number(&DELTA), conflicts_with = "file")]
    pub delta: Option<f64>,
    /// z, the noise multiplier.
    #[arg(long, value_name = "Z", value_parser = number(&NOISE), conflicts_with = "file", requires = "clip_gradient")]
    pub noise: Option<f64>,
    /// C_g, the clipping norm of gradients.
    #[arg(long, value_name = "C", value_parser = number(&ANY), conflicts_with = "file")]
    pub clip_gradient: Option<f64>,
    /// C_Δ, the clipping norm of differences; default: the smallest expected not to clip any.
    #[arg(long, value_name = "C", value_parser = number(&ANY), conflicts_with = "file", requires = "clip_gradient")]
    pub clip_difference: Option<f64>,
}

#[derive(Debug, Args)]
pub struct ScheduleArgs {
    /// c_γ: γ = c_γ/(T+1)^(2/3).
    #[arg(long, value_name = "C", value_parser = number(&ANY), default_value_t = 1.0, conflicts_with = "momentum")]
    pub c_gamma: f64,
    /// c_α: α = c_α(1−√λ)/(L_s(T+1)^(1/3)); default: the largest that the conditions allow.
    #[arg(long, value_name = "C", value_parser = number(&ANY), conflicts_with = "step")]
    pub c_alpha: Option<f64>,
    /// c_α of the paper's proof, which is feasible for every T and λ.
    #[arg(long, conflicts_with_all = ["c_alpha", "step", "momentum"])]
    pub sufficient: bool,
}

#[derive(Debug, Args)]
pub struct LevelArgs {
    /// L_s, the Lipschitz constant of every record's gradient; without it α is in units of 1/L_s.
    #[arg(long, value_name = "L", value_parser = number(&ANY))]
    pub smoothness: Option<f64>,
    /// Δ_f = f(x⁰) − inf f.
    #[arg(long, value_name = "X", value_parser = number(&ANY))]
    pub initial_gap: Option<f64>,
    /// ζ₀², how far the nodes' gradients are apart at the start.
    #[arg(long, value_name = "X", value_parser = number(&ANY))]
    pub heterogeneity: Option<f64>,
    /// σ²_sgd, b times the largest variance of a batch's gradient.
    #[arg(long, value_name = "X", value_parser = number(&ANY))]
    pub sampling_variance: Option<f64>,
}
