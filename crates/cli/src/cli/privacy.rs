//! `prdo privacy`, as typed.

use super::values::{
    self, ANY, BUDGET, COLLUDERS, DELTA, EPSILON, NODES, NOISE, POINTS, ROUNDS, Rate, number, whole,
};
use clap::{Args, Subcommand};
use prdo::accounting::Method;
use prdo::accounting::pairs::default_ratio;
use prdo::budget::Against;
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub enum Privacy {
    /// What releases cost: ε at a δ, or δ at an ε.
    #[command(
        after_help = "Example: prdo privacy epsilon --rate 100/4500 --noise 2.464143 --rounds 9500 --delta 1e-5\n\
        With --epsilon instead of --delta the answer is δ. `epsilon` in the JSON is what to quote: a proven upper bound\n\
        (null if there is no finite one); the Rényi accountants give no lower bound (null)."
    )]
    Epsilon(EpsilonArgs),
    /// The least noise that keeps releases within a budget.
    #[command(
        after_help = "Example: prdo privacy noise --rate 100/4500 --epsilon 4 --rounds 9500 --delta 1e-5"
    )]
    Noise(NoiseArgs),
    /// The most rounds that fit a budget.
    #[command(
        after_help = "Example: prdo privacy rounds --rate 100/4500 --noise 2.5 --epsilon 4 --delta 1e-5"
    )]
    Rounds(RoundsArgs),
    /// The largest sampling rate that keeps releases within a budget.
    #[command(after_help = "Example: prdo privacy rate --noise 2.5 --epsilon 4 --rounds 9500 --delta 1e-5")]
    Rate(RateArgs),
    /// ε as one setting changes, by all accountants: a table, a plot, a CSV file.
    #[command(after_help = "Example: prdo privacy curve --against rounds --rate 100/4500 --noise 2.464143 \
        --rounds 9500 --delta 1e-5 --out curve.svg\n\
        The setting on the axis may be omitted if --from and --to are given.")]
    Curve(CurveArgs),
    /// Noise that cancels between nodes: its two parts for a budget, and ε against coalitions of every size.
    #[command(
        after_help = "Example: prdo privacy pairs --nodes 10 --colluders 1 --ratio 10 --rate 1 --rounds 50 --epsilon 4 --delta 1e-5\n\
        Against outsiders and any C members together the budget holds; more members together learn more, as the table\n\
        says. Ratio: 3 with one exchange per round, 10 with three; secrets of a few neighbours only need far more.\n\
        A file of secrets has lines \"i j\", one for each pair, nodes numbered from 0. docs/pairs.md has the rest."
    )]
    Pairs(PairsArgs),
    /// What several runs on the same records cost together, from the file that lists them.
    #[command(after_help = "Example: prdo privacy statement patients.statement --delta 1e-5\n\
        Runs add themselves if their run file has privacy.statement = \"patients.statement\".")]
    Statement(StatementArgs),
}

#[derive(Debug, Args)]
pub struct StatementArgs {
    /// The statement.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The δ at which to compute ε.
    #[arg(long, value_name = "D", value_parser = number(&DELTA))]
    pub delta: f64,
    #[command(flatten)]
    pub answer: AnswerArgs,
}

#[derive(Debug, Args)]
pub struct AnswerArgs {
    /// prv: proven bounds on the exact ε; rdp: Rényi at all orders; rdp-paper: the paper's Rényi sum.
    #[arg(long, value_name = "NAME", default_value = "prv", value_parser = values::accountant)]
    pub accountant: Method,
    /// One JSON object on stdout instead of text.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct EpsilonArgs {
    /// The probability with which each record is in a batch: a number, or batch/records.
    #[arg(long, value_name = "Q", value_parser = values::rate)]
    pub rate: Rate,
    /// Noise multiplier: standard deviation over sensitivity.
    #[arg(long, value_name = "Z", value_parser = number(&NOISE))]
    pub noise: f64,
    /// The number of releases.
    #[arg(long, value_name = "T", value_parser = whole::<u64>(&ROUNDS))]
    pub rounds: u64,
    /// Give δ to get ε.
    #[arg(long, value_name = "D", value_parser = number(&DELTA))]
    pub delta: Option<f64>,
    /// Give ε to get δ.
    #[arg(long, value_name = "E", value_parser = number(&EPSILON))]
    pub epsilon: Option<f64>,
    /// The rate of the first of the T releases, if it differs.
    #[arg(long, value_name = "Q0", value_parser = values::rate)]
    pub first_rate: Option<Rate>,
    /// The noise multiplier of the first of the T releases, if it differs.
    #[arg(long, value_name = "Z0", value_parser = number(&NOISE))]
    pub first_noise: Option<f64>,
    #[command(flatten)]
    pub answer: AnswerArgs,
}

#[derive(Debug, Args)]
pub struct BudgetArgs {
    /// The budget's ε.
    #[arg(long, value_name = "E", value_parser = number(&BUDGET))]
    pub epsilon: f64,
    /// The budget's δ.
    #[arg(long, value_name = "D", value_parser = number(&DELTA))]
    pub delta: f64,
}

#[derive(Debug, Args)]
pub struct NoiseArgs {
    /// The probability with which each record is in a batch: a number, or batch/records.
    #[arg(long, value_name = "Q", value_parser = values::rate)]
    pub rate: Rate,
    /// The number of releases.
    #[arg(long, value_name = "T", value_parser = whole::<u64>(&ROUNDS))]
    pub rounds: u64,
    #[command(flatten)]
    pub budget: BudgetArgs,
    /// The rate of the first of the T releases, if it differs.
    #[arg(long, value_name = "Q0", value_parser = values::rate)]
    pub first_rate: Option<Rate>,
    #[command(flatten)]
    pub answer: AnswerArgs,
}

#[derive(Debug, Args)]
pub struct RoundsArgs {
    /// The probability with which each record is in a batch: a number, or batch/records.
    #[arg(long, value_name = "Q", value_parser = values::rate)]
    pub rate: Rate,
    /// Noise multiplier: standard deviation over sensitivity.
    #[arg(long, value_name = "Z", value_parser = number(&NOISE))]
    pub noise: f64,
    #[command(flatten)]
    pub budget: BudgetArgs,
    /// The rate of the first release, if it differs.
    #[arg(long, value_name = "Q0", value_parser = values::rate)]
    pub first_rate: Option<Rate>,
    /// The noise multiplier of the first release, if it differs.
    #[arg(long, value_name = "Z0", value_parser = number(&NOISE))]
    pub first_noise: Option<f64>,
    #[command(flatten)]
    pub answer: AnswerArgs,
}

#[derive(Debug, Args)]
pub struct RateArgs {
    /// Noise multiplier: standard deviation over sensitivity.
    #[arg(long, value_name = "Z", value_parser = number(&NOISE))]
    pub noise: f64,
    /// The number of releases.
    #[arg(long, value_name = "T", value_parser = whole::<u64>(&ROUNDS))]
    pub rounds: u64,
    #[command(flatten)]
    pub budget: BudgetArgs,
    #[command(flatten)]
    pub answer: AnswerArgs,
}

#[derive(Debug, Args)]
pub struct PairsArgs {
    /// The number of nodes (members).
    #[arg(long, value_name = "N", value_parser = whole::<usize>(&NODES))]
    pub nodes: usize,
    /// How many members may put together all they know.
    #[arg(long, value_name = "C", value_parser = whole::<usize>(&COLLUDERS))]
    pub colluders: usize,
    /// Variance of one pair's share over that of a node's own noise.
    #[arg(long, value_name = "R", value_parser = number(&ANY), default_value_t = default_ratio(1))]
    pub ratio: f64,
    /// Who shares secrets: all pairs, or those of a file.
    #[arg(long, value_name = "complete|graph FILE", num_args = 1..=2, default_value = "complete")]
    pub secrets: Vec<String>,
    /// The probability with which each record is in a batch: a number, or batch/records.
    #[arg(long, value_name = "Q", value_parser = values::rate)]
    pub rate: Rate,
    /// The number of releases.
    #[arg(long, value_name = "T", value_parser = whole::<u64>(&ROUNDS))]
    pub rounds: u64,
    #[command(flatten)]
    pub budget: BudgetArgs,
    /// The rate of the first of the T releases, if it differs.
    #[arg(long, value_name = "Q0", value_parser = values::rate)]
    pub first_rate: Option<Rate>,
    #[command(flatten)]
    pub answer: AnswerArgs,
}

#[derive(Debug, Args)]
pub struct CurveArgs {
    /// The setting that changes.
    #[arg(long, value_parser = values::against())]
    pub against: Against,
    /// The probability with which each record is in a batch: a number, or batch/records.
    #[arg(long, value_name = "Q", value_parser = values::rate)]
    pub rate: Option<Rate>,
    /// Noise multiplier: standard deviation over sensitivity.
    #[arg(long, value_name = "Z", value_parser = number(&NOISE))]
    pub noise: Option<f64>,
    /// The number of releases.
    #[arg(long, value_name = "T", value_parser = whole::<u64>(&ROUNDS))]
    pub rounds: Option<u64>,
    /// δ.
    #[arg(long, value_name = "D", value_parser = number(&DELTA))]
    pub delta: Option<f64>,
    /// The rate of the first release, if it differs.
    #[arg(long, value_name = "Q0", value_parser = values::rate)]
    pub first_rate: Option<Rate>,
    /// Where the axis begins; default: below the given setting.
    #[arg(long, value_name = "A", value_parser = values::end)]
    pub from: Option<f64>,
    /// Where the axis ends; default: above the given setting.
    #[arg(long, value_name = "B", value_parser = values::end)]
    pub to: Option<f64>,
    /// The number of points, at equal factors (fewer where rounds would repeat).
    #[arg(long, value_name = "N", value_parser = whole::<usize>(&POINTS), default_value = "25")]
    pub points: usize,
    /// Where to write: FILE.svg, FILE.png, FILE.pdf or FILE.csv; may be given several times.
    #[arg(long, value_name = "FILE")]
    pub out: Vec<PathBuf>,
    /// One JSON object on stdout instead of text.
    #[arg(long)]
    pub json: bool,
}
