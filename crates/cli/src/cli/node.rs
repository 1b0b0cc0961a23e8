//! `prdo node`, as typed.

use super::values;
use clap::{Args, Subcommand};
use std::net::SocketAddr;
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub enum Node {
    /// Makes a node's key pair: the private key in a new file, the public key on stdout.
    #[command(after_help = "Example: prdo node key clinic.key\n\
        Give the public key to whoever writes the agreement; keep the file to yourself (mode 0600).\n\
        `prdo node key clinic.key --show` prints the public key of an existing file.")]
    Key(KeyArgs),
    /// Turns a run file and a list of members into a run agreement, for everyone to sign.
    #[command(
        after_help = "Example: prdo node init run.toml --members members.toml --out clinics.agreement\n\
        members.toml has for each member: [[member]] name = \"a\", key = \"…\", addresses = [\"192.0.2.7:4433\"],\n\
        records = 1000 (how many slots it has for records: public). Nobody's records are needed: if data.path is\n\
        not readable here, give --feature-names and --class-names (or --features and --classes, if there are no names).\n\
        When a member has left for good: --continues OLD.agreement --rounds-done R."
    )]
    Init(Box<InitArgs>),
    /// Signs a run agreement, and gathers the signatures in other copies of it.
    #[command(
        after_help = "Example: prdo node sign clinics.agreement --key clinic.key --with from-b.agreement\n\
        Read the file first: it is text. Whoever signs agrees to the members, the graph, the method and the privacy.\n\
        With noise in pairs a share key for this agreement is made beside the key; `prdo node run` uses it once and removes it."
    )]
    Sign(SignArgs),
    /// Checks whether this member can take part: agreement, data, budget, neighbours. Releases nothing.
    #[command(
        after_help = "Example: prdo node check clinics.agreement --key clinic.key --data patients.csv\n\
        Neighbours can be reached while they run `prdo node check` or `prdo node run` themselves; --offline contacts nobody."
    )]
    Check(CheckArgs),
    /// Trains with the other members. Rerun it to resume after any interruption.
    #[command(
        after_help = "Example: prdo node run clinics.agreement --key clinic.key --data patients.csv --home clinic\n\
        Every charge and every message is on disk before it is sent: stop it at any time, even with kill -9, and rerun the\n\
        command to resume. `prdo node status clinic` shows its progress."
    )]
    Run(Box<RunArgs>),
    /// Shows the status of a node that is running, stopped or finished.
    #[command(after_help = "Example: prdo node status clinic --json")]
    Status(StatusArgs),
}

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
    /// The names of all columns of a CSV file without a header, separated by commas.
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    pub columns: Vec<String>,
    /// The ledger of what these records have been charged, in all runs; default: the data's path with .ledger appended.
    #[arg(long, value_name = "FILE")]
    pub ledger: Option<PathBuf>,
    /// ε for everything ever released about these records; default: the ledger's, or the agreement's for a new ledger.
    #[arg(long, value_name = "E", value_parser = values::number(&values::BUDGET))]
    pub budget: Option<f64>,
    /// Raises the ledger's budget to this ε, by decision of the records' owner; the ledger notes it. `check` only shows the
    /// effect.
    #[arg(long, value_name = "E", value_parser = values::number(&values::BUDGET), conflicts_with = "budget")]
    pub raise_budget: Option<f64>,
    /// Where to listen; default: this member's first address in the agreement.
    #[arg(long, value_name = "ADDRESS")]
    pub listen: Option<SocketAddr>,
    /// One JSON object on stdout instead of text.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct CheckArgs {
    #[command(flatten)]
    pub own: OwnArgs,
    /// The folder that the run would be in, checked too.
    #[arg(long, value_name = "DIR")]
    pub home: Option<PathBuf>,
    /// Do not contact the neighbours.
    #[arg(long)]
    pub offline: bool,
    /// How many seconds to try to reach the neighbours.
    #[arg(long, value_name = "SECONDS", default_value = "15", value_parser = values::number(&values::SECONDS))]
    pub wait: f64,
}

#[derive(Debug, Args)]
pub struct RunArgs {
    #[command(flatten)]
    pub own: OwnArgs,
    /// The run's folder: what must not be lost, the log, the status, and at the end the model.
    #[arg(long, value_name = "DIR")]
    pub home: PathBuf,
    /// The folder of the run that this one continues, for an agreement that continues another.
    #[arg(long, value_name = "OLD_HOME")]
    pub from: Option<PathBuf>,
    /// For an agreement that continues another: these records were not in that run, and start from the public starting point.
    #[arg(long, conflicts_with = "from")]
    pub new_member: bool,
    /// Public test data: the model's accuracy on it is shown here and sent to nobody.
    #[arg(long, value_name = "FILE")]
    pub test: Option<PathBuf>,
    /// Serve a status page and metrics at this loopback address, such as 127.0.0.1:9464.
    #[arg(long, value_name = "ADDRESS")]
    pub status: Option<SocketAddr>,
    /// Seconds of silence from a neighbour before the node stops, with everything saved.
    #[arg(long, value_name = "SECONDS", default_value = "3600", value_parser = values::number(&values::PATIENCE))]
    pub give_up: f64,
    /// Seconds to keep serving neighbours after the last round, until they have the last message.
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = values::number(&values::PATIENCE))]
    pub linger: f64,
    /// How many threads to use; results do not depend on it.
    #[arg(long, value_name = "K")]
    pub threads: Option<usize>,
    #[command(flatten)]
    pub watch: super::WatchArgs,
}

#[derive(Debug, Args)]
pub struct StatusArgs {
    /// The run's folder.
    #[arg(value_name = "HOME")]
    pub home: PathBuf,
    /// One JSON object on stdout instead of text.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct KeyArgs {
    /// The private key's file; never overwritten.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Prints the public key of an existing file; creates nothing.
    #[arg(long)]
    pub show: bool,
    /// One JSON object on stdout instead of text.
    #[arg(long)]
    pub json: bool,
}

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
    /// Sign immediately with this private key.
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// Features per record, instead of reading data.path.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    pub features: Option<u64>,
    /// Number of classes, instead of reading data.path.
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u64).range(2..=100_000))]
    pub classes: Option<u64>,
    /// The features' names in order, separated by commas: members' files must have the same.
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    pub feature_names: Vec<String>,
    /// The classes' names, separated by commas: members' labels must be among them. The first is class 0.
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    pub class_names: Vec<String>,
    /// Channels, height and width of images, instead of reading data.path.
    #[arg(long, value_name = "CxHxW", value_parser = values::image)]
    pub image: Option<[u64; 3]>,
    /// A relay of your own for members that cannot reach each other directly; none unless named.
    #[arg(long, value_name = "URL")]
    pub relay: Option<String>,
    /// The agreement that this one continues, when a member has left for good.
    #[arg(long, value_name = "OLD.agreement", requires = "rounds_done")]
    pub continues: Option<PathBuf>,
    /// How many rounds the old agreement's members have released: the most `charge` lines of that
    /// run in anyone's ledger (`prdo node status` counts them).
    #[arg(long, value_name = "R", requires = "continues", value_parser = clap::value_parser!(u32).range(1..))]
    pub rounds_done: Option<u32>,
    /// Overrides a key of the run file; may be given several times.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Replace an existing file.
    #[arg(long)]
    pub overwrite: bool,
    /// One JSON object on stdout instead of text.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct SignArgs {
    /// The agreement; signatures are added to it.
    #[arg(value_name = "FILE.agreement")]
    pub file: PathBuf,
    /// The private key to sign with.
    #[arg(long, value_name = "FILE")]
    pub key: PathBuf,
    /// Another copy of the same agreement, whose signatures are added; may be given several times.
    #[arg(long, value_name = "OTHER", num_args = 1..)]
    pub with: Vec<PathBuf>,
    /// One JSON object on stdout instead of text.
    #[arg(long)]
    pub json: bool,
}
