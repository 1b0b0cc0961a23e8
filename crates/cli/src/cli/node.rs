//! `prdo node`, as typed.

use super::values;
use clap::{Args, Subcommand};
use std::net::SocketAddr;
use std::path::PathBuf;

/// `prdo node`.
#[derive(Debug, Subcommand)]
pub enum Node {
    /// Makes a node's key pair: the private key in a new file, the public key on stdout.
    #[command(after_help = "Example: prdo node key clinic.key\n\
        Give the public key to whoever writes the agreement; keep the file to yourself (mode 0600).\n\
        `prdo node key clinic.key --show` prints the public key of a file that is there.")]
    Key(KeyArgs),
    /// Turns a run file and a list of members into a run agreement, for everyone to sign.
    #[command(
        after_help = "Example: prdo node init run.toml --members members.toml --out clinics.agreement\n\
        members.toml has for each member: [[member]] name = \"a\", key = \"…\", addresses = [\"192.0.2.7:4433\"],\n\
        records = 1000 (how many slots it has for records: public). Nobody's records are needed: where data.path is\n\
        not readable here, give --feature-names and --class-names (or --features and --classes, if there are no names).\n\
        When a member has left for good: --continues OLD.agreement --rounds-done R."
    )]
    Init(Box<InitArgs>),
    /// Signs a run agreement, and gathers the signatures in other copies of it.
    #[command(
        after_help = "Example: prdo node sign clinics.agreement --key clinic.key --with from-b.agreement\n\
        Read the file before: it is text. Whoever signs agrees to the members, the graph, the method and the privacy."
    )]
    Sign(SignArgs),
    /// Sees whether this member can take part: agreement, data, budget; then tries its neighbours. Releases nothing.
    #[command(
        after_help = "Example: prdo node check clinics.agreement --key clinic.key --data patients.csv\n\
        Neighbours are reached while they run `prdo node check` or `prdo node run` themselves. --offline asks nobody."
    )]
    Check(CheckArgs),
    /// Trains with the other members. Run it again to go on after whatever stopped it.
    #[command(
        after_help = "Example: prdo node run clinics.agreement --key clinic.key --data patients.csv --home clinic\n\
        Every charge and every message is on disk before it is sent: stop it as you like, even with kill -9, and type the\n\
        same command again. `prdo node status clinic` tells how it stands."
    )]
    Run(Box<RunArgs>),
    /// How a node stands that runs, was stopped or has finished.
    #[command(after_help = "Example: prdo node status clinic --json")]
    Status(StatusArgs),
}

/// What a member has of its own.
#[derive(Debug, Args)]
pub struct OwnArgs {
    /// The agreement, signed by all.
    #[arg(value_name = "FILE.agreement")]
    pub agreement: PathBuf,
    /// This member's private key.
    #[arg(long, value_name = "FILE")]
    pub key: PathBuf,
    /// This member's own records: they stay here.
    #[arg(long, value_name = "FILE")]
    pub data: PathBuf,
    /// The column or array of labels, if it is not `label` or `y`.
    #[arg(long, value_name = "COLUMN")]
    pub label: Option<String>,
    /// The names of all columns of a CSV file that has no header, with commas between.
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    pub columns: Vec<String>,
    /// What these records have been charged for, in all runs; default: next to the data, with .ledger after its name.
    #[arg(long, value_name = "FILE")]
    pub ledger: Option<PathBuf>,
    /// ε for everything ever released about these records; default: the ledger's, and the agreement's for a new one.
    #[arg(long, value_name = "E", value_parser = values::budget)]
    pub budget: Option<f64>,
    /// Raises the ledger's budget to this ε, by the wish of the records' owner; the ledger says so. `check` only shows
    /// what it would give.
    #[arg(long, value_name = "E", value_parser = values::budget, conflicts_with = "budget")]
    pub raise_budget: Option<f64>,
    /// Where to listen; default: this member's first address in the agreement.
    #[arg(long, value_name = "ADDRESS")]
    pub listen: Option<SocketAddr>,
    /// One JSON object on stdout instead of text.
    #[arg(long)]
    pub json: bool,
}

/// `prdo node check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    #[command(flatten)]
    pub own: OwnArgs,
    /// The folder that the run would be in, looked at too.
    #[arg(long, value_name = "DIR")]
    pub home: Option<PathBuf>,
    /// Does not try the neighbours.
    #[arg(long)]
    pub offline: bool,
    /// Seconds to try the neighbours for.
    #[arg(long, value_name = "SECONDS", default_value = "15", value_parser = values::seconds)]
    pub wait: f64,
}

/// `prdo node run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    #[command(flatten)]
    pub own: OwnArgs,
    /// The run's folder: what must not be lost, the log, the status, and at the end the model.
    #[arg(long, value_name = "DIR")]
    pub home: PathBuf,
    /// The folder of the run that this one goes on from, for an agreement that continues another.
    #[arg(long, value_name = "OLD_HOME")]
    pub from: Option<PathBuf>,
    /// For an agreement that continues another: these records were not in that run, and start from the public start.
    #[arg(long, conflicts_with = "from")]
    pub new_member: bool,
    /// Public test data: the model's accuracy on it is shown here and told nobody.
    #[arg(long, value_name = "FILE")]
    pub test: Option<PathBuf>,
    /// A status page and metrics at this loopback address, such as 127.0.0.1:9464.
    #[arg(long, value_name = "ADDRESS")]
    pub status: Option<SocketAddr>,
    /// Seconds without anything from a neighbour before the node stops, with everything saved.
    #[arg(long, value_name = "SECONDS", default_value = "3600", value_parser = values::patience)]
    pub give_up: f64,
    /// Seconds to serve neighbours after the last round, until they have the last message.
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = values::patience)]
    pub linger: f64,
    /// How many threads to use; results do not depend on it.
    #[arg(long, value_name = "K")]
    pub threads: Option<usize>,
    #[command(flatten)]
    pub watch: super::WatchArgs,
}

/// `prdo node status`.
#[derive(Debug, Args)]
pub struct StatusArgs {
    /// The run's folder.
    #[arg(value_name = "HOME")]
    pub home: PathBuf,
    /// One JSON object on stdout instead of text.
    #[arg(long)]
    pub json: bool,
}

/// `prdo node key`.
#[derive(Debug, Args)]
pub struct KeyArgs {
    /// The file of the private key; never overwritten.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Prints the public key of an existing file; makes nothing.
    #[arg(long)]
    pub show: bool,
    /// One JSON object on stdout instead of text.
    #[arg(long)]
    pub json: bool,
}

/// `prdo node init`.
#[derive(Debug, Args)]
pub struct InitArgs {
    /// The run file: it must have a [privacy] section.
    #[arg(value_name = "RUN.toml")]
    pub file: PathBuf,
    /// Who takes part, in the order of the graph's nodes.
    #[arg(long, value_name = "MEMBERS.toml")]
    pub members: PathBuf,
    /// The agreement's file.
    #[arg(long, value_name = "FILE.agreement")]
    pub out: PathBuf,
    /// Signs at once with this private key.
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// Features of a record, instead of looking at data.path.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    pub features: Option<u64>,
    /// Number of classes, instead of looking at data.path.
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u64).range(2..=100_000))]
    pub classes: Option<u64>,
    /// The features' names, with commas between, in their order: members' files must have the same.
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    pub feature_names: Vec<String>,
    /// The classes' names, with commas between: members' labels must be among them. The first is class 0.
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    pub class_names: Vec<String>,
    /// Channels, height and width of images, instead of looking at data.path.
    #[arg(long, value_name = "CxHxW", value_parser = values::image)]
    pub image: Option<[u64; 3]>,
    /// A relay of your own for members that cannot reach each other directly; none unless named.
    #[arg(long, value_name = "URL")]
    pub relay: Option<String>,
    /// The agreement that this one goes on from, when a member has left for good.
    #[arg(long, value_name = "OLD.agreement", requires = "rounds_done")]
    pub continues: Option<PathBuf>,
    /// How many rounds the old agreement's members have released: the most `charge` lines of that
    /// run in anyone's ledger (`prdo node status` counts them).
    #[arg(long, value_name = "R", requires = "continues", value_parser = clap::value_parser!(u32).range(1..))]
    pub rounds_done: Option<u32>,
    /// Overrides a key of the run file; may be given several times.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Replace the file if it is there.
    #[arg(long)]
    pub overwrite: bool,
    /// One JSON object on stdout instead of text.
    #[arg(long)]
    pub json: bool,
}

/// `prdo node sign`.
#[derive(Debug, Args)]
pub struct SignArgs {
    /// The agreement; signatures are added to it.
    #[arg(value_name = "FILE.agreement")]
    pub file: PathBuf,
    /// The private key to sign with.
    #[arg(long, value_name = "FILE")]
    pub key: PathBuf,
    /// Another copy of the same agreement, whose signatures are taken over; may be given several times.
    #[arg(long, value_name = "OTHER", num_args = 1..)]
    pub with: Vec<PathBuf>,
    /// One JSON object on stdout instead of text.
    #[arg(long)]
    pub json: bool,
}
