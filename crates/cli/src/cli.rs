//! The command line, as typed.

pub mod audit;
pub mod bench;
pub mod data;
pub mod doctor;
pub mod export;
pub mod figure_1;
pub mod frontier;
pub mod hints;
pub mod new;
pub mod node;
pub mod plan;
pub mod privacy;
pub mod table_1;
pub mod tune;
pub mod values;
pub mod worth;

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use std::any::TypeId;
use std::path::PathBuf;

/// Private decentralized learning: organisations train one model together with no server.
#[derive(Debug, Parser)]
#[command(name = "prdo", version, long_version = crate::version::long(), arg_required_else_help = true)]
#[command(
    after_help = "Start with `prdo demo`, then `prdo new` for your own table, or `prdo example` for run files to change.\n\
    Exit codes: 0 done, 1 the work failed, 2 the input was wrong (nothing was trained or released)."
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

/// What was typed. A negative number is a value out of its option's range, not an unknown option.
pub fn typed() -> Result<Cli, clap::Error> {
    let mut command = with_negative_numbers(Cli::command());
    let matches = command.try_get_matches_from_mut(std::env::args_os())?;
    Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
}

fn with_negative_numbers(command: clap::Command) -> clap::Command {
    let allow = |arg: clap::Arg| {
        let takes_values = arg.get_action().takes_values();
        // clap takes -1e-5, -inf and -1/3 for no numbers.
        let value = arg.get_value_parser().type_id();
        let is_number = value == TypeId::of::<f64>() || value == TypeId::of::<values::Rate>();
        arg.allow_negative_numbers(takes_values).allow_hyphen_values(takes_values && is_number)
    };
    command.mut_args(allow).mut_subcommands(with_negative_numbers)
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// A few organisations train privately on generated data, in seconds.
    #[command(after_help = "Example: prdo demo --out my-demo")]
    Demo(OutArgs),
    /// Writes a run file for your own table, ready to run.
    #[command(after_help = new::EXAMPLES)]
    New(new::NewArgs),
    /// Trains the run that a run file describes.
    #[command(after_help = "Example: prdo run ring.toml --out results --set method.gamma=0.2\n\
        Ctrl-C writes a checkpoint; `prdo run ring.toml --out results --resume` resumes, to the same bits.")]
    Run(RunArgs),
    /// Runs every combination of the lists in run files: one table, one plot, paired random streams.
    #[command(after_help = "Example: prdo compare compare.toml --out comparison\n\
        Write a list where a run file has a value: name = [\"prdo\", \"ed\"], seed = [1, 2, 3].\n\
        Ctrl-C keeps the finished runs; rerun the command with that folder as --out to resume.")]
    Compare(CompareArgs),
    /// The paper's experiments.
    #[command(
        subcommand,
        arg_required_else_help = true,
        after_help = "Example: prdo reproduce figure-1 --out figure-1"
    )]
    Reproduce(Experiment),
    /// Prints a commented run file to start from; without a name, lists them.
    #[command(after_help = "Example: prdo example private > mine.toml && prdo run mine.toml")]
    Example(ExampleArgs),
    /// Checks a graph's weights against the paper's assumption: λ, spectral gap, what fails.
    #[command(after_help = "Example: prdo graph ring --nodes 32 --json\n\
        A file of edges (one `i j` per line) or a matrix works too: prdo graph mine.txt")]
    Graph(GraphArgs),
    /// How private is it? ε, δ, the noise, rounds or rate for a budget, and curves, with proof.
    #[command(subcommand, arg_required_else_help = true)]
    #[command(
        after_help = "Example: prdo privacy epsilon --rate 100/4500 --noise 2.464143 --rounds 9500 --delta 1e-5\n\
        Adjacency is add/remove of one record; batches are Poisson samples; noise is Gaussian."
    )]
    Privacy(privacy::Privacy),
    /// What to expect before training: the paper's schedule, its conditions, the bound by cause, better settings.
    #[command(after_help = plan::EXAMPLES)]
    Plan(Box<plan::PlanArgs>),
    /// Finds settings for a budget (method, rounds, rate, step, momentum, clips) on records that need no protection.
    #[command(after_help = tune::EXAMPLES)]
    Tune(tune::TuneArgs),
    /// What joining is worth: the run file's organisations together and each alone, with privacy and without.
    #[command(after_help = worth::EXAMPLES)]
    Worth(worth::WorthArgs),
    /// Attacks the privacy of the code itself: are releases as private as claimed?
    #[command(after_help = "Example: prdo audit --quick\n\
        With a run file its own settings are audited: prdo audit mine.toml. Exit code 1 if anything is found.")]
    Audit(audit::AuditArgs),
    /// Data sets: fetch and verify, inspect, split.
    #[command(subcommand, arg_required_else_help = true)]
    #[command(after_help = "Example: prdo data get cifar10 && prdo data info data/cifar-10-batches-bin")]
    Data(data::Data),
    /// Real peers: keys, the agreement that all members sign, and training over the network.
    #[command(subcommand, arg_required_else_help = true)]
    #[command(after_help = "Example: prdo node key clinic.key\n\
        Then one member turns a run file into an agreement (`prdo node init`), everyone signs it (`prdo node sign`),\n\
        checks that all is well (`prdo node check`) and trains (`prdo node run`).")]
    Node(node::Node),
    /// Measures how fast prdo is on this machine.
    #[command(subcommand, arg_required_else_help = true, after_help = "Example: prdo bench gradients --json")]
    Bench(bench::Bench),
    /// Shows a run's folder or a node's home in the browser: live, or after it has ended.
    #[command(after_help = "Example: prdo watch runs/demo\n\
        The address it prints contains a secret and works on this machine only. Ctrl-C closes the page, not the run.")]
    Watch(WatchFolderArgs),
    /// (Re)builds report.html from a run's files.
    #[command(after_help = "Example: prdo report runs/demo\n\
        A damaged or unfinished folder gives a partial report that says what is missing.")]
    Report {
        /// The folder of a run, a comparison or a member.
        folder: PathBuf,
        /// Also write the main figure for papers: figure.svg, figure.png and figure.pdf.
        #[arg(long)]
        figures: bool,
    },
    /// Predicts the labels of new records with a trained model.
    #[command(
        after_help = "Example: prdo predict results new-patients.csv --key patient --out predictions.csv\n\
        The folder is that of a finished run, or of a member's node. Labels are optional; with them, stderr shows the\n\
        accuracy, and for each class the precision (the share of its predictions that are right) and the recall (the\n\
        share of its records that are found).\n\
        Warnings count numbers outside the training ranges and missing categories. Categories never seen in training\n\
        cannot be detected: a model keeps no list of them."
    )]
    Predict(PredictArgs),
    /// Exports a run to the formats of other tools: ONNX, TensorBoard, Parquet.
    #[command(subcommand, arg_required_else_help = true, after_help = "Example: prdo export onnx runs/cnn")]
    Export(export::Export),
    /// Checks whether this machine is ready: processor, memory, randomness, network, disk, data.
    #[command(after_help = "Example: prdo doctor --data data")]
    Doctor(doctor::DoctorArgs),
    /// Prints a shell's completion script for prdo's commands and options.
    #[command(
        after_help = "Example: prdo completions bash > ~/.local/share/bash-completion/completions/prdo"
    )]
    Completions {
        /// The shell.
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// Prints the manual page, or writes one page per command into a folder.
    #[command(after_help = "Example: prdo man --out ~/.local/share/man/man1 && man prdo-run")]
    Man {
        /// The folder; without it the main page is printed.
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
}

/// Where results go.
#[derive(Debug, Clone, Args)]
pub struct OutArgs {
    /// The folder for the results; default: a new one under runs/.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Replace a run that is already in the folder.
    #[arg(long)]
    pub overwrite: bool,
    /// One JSON object on stdout instead of text.
    #[arg(long)]
    pub json: bool,
    /// How many threads to use; results do not depend on it.
    #[arg(long, value_name = "K")]
    pub threads: Option<usize>,
}

#[derive(Debug, Args)]
pub struct RunArgs {
    /// The run file.
    #[arg(value_name = "RUN.toml")]
    pub file: PathBuf,
    #[command(flatten)]
    pub out: OutArgs,
    /// Overrides the run file's seed.
    #[arg(long, value_name = "S")]
    pub seed: Option<u64>,
    /// Resumes an interrupted run in --out, to the same bits.
    #[arg(long, requires = "out")]
    pub resume: bool,
    /// Overrides a key of the run file; may be given several times.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Seconds between checkpoints.
    #[arg(long, value_name = "SECONDS", default_value_t = 20.0)]
    pub checkpoint_every: f64,
    /// Also write TensorBoard events into the folder tensorboard/ of the results, row by row.
    #[arg(long)]
    pub tensorboard: bool,
    #[command(flatten)]
    pub watch: WatchArgs,
}

/// A page on which a run can be followed.
#[derive(Debug, Clone, Args)]
pub struct WatchArgs {
    /// Serves a page on this machine that shows the run live; its address is printed on stderr.
    #[arg(long)]
    pub watch: bool,
    /// The page's port; default: a free one.
    #[arg(long, value_name = "P", requires = "watch")]
    pub port: Option<u16>,
}

#[derive(Debug, Args)]
pub struct WatchFolderArgs {
    /// A run's folder or a node's home; it need not exist yet.
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// The page's port; default: a free one.
    #[arg(long, value_name = "P", default_value_t = 0)]
    pub port: u16,
    /// One JSON object with the address on stdout.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct CompareArgs {
    /// Run files; lists in them are swept.
    #[arg(value_name = "RUN.toml", required = true)]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub out: OutArgs,
    /// Overrides a key of every run file; may be given several times.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

#[derive(Debug, Subcommand)]
pub enum Experiment {
    /// Non-private logistic regression on a 32-node ring: full batch and minibatch.
    #[command(name = "figure-1", after_help = "Example: prdo reproduce figure-1 --methods all --out family")]
    Figure1(figure_1::Figure1Args),
    /// The log-cosh proposition, checked on every round and batch of a private run.
    #[command(
        name = "sensitivity-example",
        after_help = "Example: prdo reproduce sensitivity-example --out sensitivity"
    )]
    SensitivityExample(ExperimentArgs),
    /// The theorem's bounds and every inequality of its proof, checked against runs on problems with known constants.
    #[command(name = "bounds", after_help = "Example: prdo reproduce bounds --out bounds")]
    Bounds(ExperimentArgs),
    /// What active clipping does to where methods stop: fixed points, floors against C, three ways to clip PRDO's query.
    #[command(name = "clipping", after_help = "Example: prdo reproduce clipping --out clipping")]
    Clipping(ExperimentArgs),
    /// Private CIFAR-10: test accuracy of five methods at three budgets, cell by cell; rerun it to resume.
    #[command(
        name = "table-1",
        after_help = "Example: prdo reproduce table-1 --methods prdo,ed --epsilon 8 --out table-1\n\
            A cell is one run. Stop it at any time: rerun the command to resume from the last checkpoint; finished\n\
            cells are kept. `prdo data get cifar10` fetches the images."
    )]
    Table1(Box<table_1::Table1Args>),
    /// Accuracy against ε on fixed features: CIFAR-10, Fashion-MNIST, MNIST, five methods; rerun it to resume.
    #[command(
        name = "frontier",
        after_help = "Example: prdo reproduce frontier --data cifar10 --methods edm,prdo --epsilon 4,8 --out frontier\n\
            A point is the mean of one run for each seed, with settings chosen on validation records. Stop it at any\n\
            time: rerun the command to resume; finished runs are kept."
    )]
    Frontier(Box<frontier::FrontierArgs>),
}

/// An experiment without settings of its own.
#[derive(Debug, Args)]
pub struct ExperimentArgs {
    #[command(flatten)]
    pub out: OutArgs,
    /// A smaller version that takes a second or two, to see that it works; says so in its results.
    #[arg(long)]
    pub quick: bool,
}

#[derive(Debug, Args)]
pub struct PredictArgs {
    /// The folder of a finished run, or of a member's node.
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// The records: any format that runs read.
    #[arg(value_name = "DATA")]
    pub data: PathBuf,
    /// The label column, if it differs from training's.
    #[arg(long, value_name = "COLUMN")]
    pub label: Option<String>,
    /// A node's own model instead of the average: the node's name, or its number, counted from 0.
    #[arg(long, value_name = "NODE")]
    pub node: Option<String>,
    /// With two classes: predicts the second one (the last column of the predictions) where its probability is at least P;
    /// default: 0.5. CLASS=P names the class instead. For a rare class a lower P finds more of its records, with more
    /// false alarms.
    #[arg(long, value_name = "P|CLASS=P")]
    pub threshold: Option<String>,
    /// A column to copy beside the predictions, to identify the records (CSV files only).
    #[arg(long, value_name = "COLUMN")]
    pub key: Option<String>,
    /// A CSV file for the predictions; default: stdout.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Replace an existing file.
    #[arg(long)]
    pub overwrite: bool,
    /// One JSON object on stdout instead of text: the predictions, unless they go to --out.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ExampleArgs {
    /// The example's name.
    pub name: Option<String>,
    /// Lists every key of run files with its range, default and meaning.
    #[arg(long)]
    pub keys: bool,
}

#[derive(Debug, Args)]
pub struct GraphArgs {
    /// A kind (ring, path, torus, complete, star, hypercube, erdos-renyi, random-regular, exponential) or a file.
    #[arg(value_name = "KIND|FILE")]
    pub graph: String,
    #[command(flatten)]
    pub shape: GraphShape,
    /// Also draw it: an SVG, PNG or PDF file.
    #[arg(long, value_name = "FILE")]
    pub picture: Option<PathBuf>,
    /// One JSON object on stdout instead of text.
    #[arg(long)]
    pub json: bool,
}

/// What a graph needs besides its kind, as in a run file's `[graph]`.
#[derive(Debug, Clone, Default, Args)]
pub struct GraphShape {
    /// The number of nodes.
    #[arg(long, value_name = "N")]
    pub nodes: Option<u64>,
    /// The weights: paper, metropolis or max-degree.
    #[arg(long, value_name = "W")]
    pub weights: Option<String>,
    /// Replace W by (I+W)/2, or not; default: true unless the weights are the paper's.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub lazy: Option<bool>,
    /// Edge probability of erdos-renyi.
    #[arg(long, value_name = "P")]
    pub probability: Option<f64>,
    /// Degree of random-regular.
    #[arg(long, value_name = "K")]
    pub degree: Option<u64>,
    /// Seed of random graphs.
    #[arg(long, value_name = "S")]
    pub seed: Option<u64>,
}
