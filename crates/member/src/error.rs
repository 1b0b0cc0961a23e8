//! Why a node does not begin.

use crate::records::RecordsError;
use prdo_accounting::AccountingError;
use prdo_algorithm::SettingsError;
use prdo_peer::agreement::AgreementError;
use prdo_peer::dir::DirectoryError;
use prdo_peer::disk::DiskError;
use prdo_peer::home::HomeError;
use prdo_peer::ledger::LedgerFileError;
use prdo_privacy::{GateError, ShardError, StartError};
use prdo_runfile::ConfigError;

/// A node that cannot begin or go on. Nothing was released.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NodeError {
    /// The agreement: not signed by all, or another member's key.
    #[error("{file}: {error}")]
    Agreement {
        /// The agreement's file.
        file: String,
        /// What is wrong.
        error: Box<AgreementError>,
    },
    /// The agreement's settings.
    #[error(transparent)]
    Settings(#[from] ConfigError),
    /// The method's settings.
    #[error(transparent)]
    Method(#[from] SettingsError),
    /// The member's own data.
    #[error(transparent)]
    Records(Box<RecordsError>),
    /// More records than were agreed on.
    #[error(
        "{file} holds {records} records, but the agreement gives {member} {slots} public slots: leave records out, or \
         agree on more slots"
    )]
    TooMany {
        /// The data.
        file: String,
        /// How many there are.
        records: usize,
        /// Who this is.
        member: String,
        /// How many there may be.
        slots: usize,
    },
    /// The run does not fit the budget.
    #[error(
        "the privacy budget of these records does not allow this run: ε = {spent:.4} is spent, ε = {after:.4} would be after \
         {rounds} more rounds, the budget is ε = {budget} at δ = {delta:e} (ledger {ledger}). Nothing was released. \
         If the owner of the records agrees to more, --raise-budget EPS says so in the ledger"
    )]
    Budget {
        /// The ledger's file.
        ledger: String,
        /// ε so far.
        spent: f64,
        /// ε after the run.
        after: f64,
        /// Rounds that are left.
        rounds: u32,
        /// The budget's ε.
        budget: f64,
        /// The budget's δ.
        delta: f64,
    },
    /// An agreement that goes on from another and knows of fewer releases than there were.
    #[error(
        "the agreement takes it that {assumed} rounds were released before; this ledger has {found}: make the agreement again \
         with a larger --rounds-done. Nothing was released"
    )]
    AssumedLess {
        /// Rounds that the agreement counts.
        assumed: u64,
        /// Rounds in the ledger.
        found: u64,
    },
    /// A budget that is raised must be there.
    #[error(
        "--raise-budget: there is no ledger at {ledger} whose budget could be raised; --ledger FILE names it"
    )]
    NothingToRaise {
        /// Where it was looked for.
        ledger: String,
    },
    /// Records that have a ledger under another name.
    #[error(
        "{data} holds the records of {ledger}: --ledger {ledger} goes on with it. Their budget is one, whatever the file is \
         called"
    )]
    OtherLedger {
        /// The data.
        data: String,
        /// The ledger.
        ledger: String,
    },
    /// A budget larger than the ledger's.
    #[error(
        "--budget {asked} is more than ledger {ledger} allows for everything ever released about these records, ε = {allowed}: \
         --raise-budget {asked} raises it, and says so in the ledger"
    )]
    Raise {
        /// The ledger's file.
        ledger: String,
        /// ε asked for.
        asked: f64,
        /// ε allowed.
        allowed: f64,
    },
    /// A budget that would not be raised.
    #[error("--raise-budget {asked} would lower it: {ledger} already allows ε = {allowed}")]
    NotRaised {
        /// The ledger's file.
        ledger: String,
        /// ε asked for.
        asked: f64,
        /// ε allowed.
        allowed: f64,
    },
    /// A folder in use with another ledger.
    #[error(
        "--home {home} holds rounds of this run that the ledger {ledger} knows nothing of: --ledger FILE names the one that \
         was used. Nothing was written"
    )]
    LedgerOfHome {
        /// The ledger's file.
        ledger: String,
        /// The run's folder.
        home: String,
    },
    /// A run that goes on, with a ledger that does not know what it goes on from.
    #[error(
        "the agreement goes on from {agreement}, of which the ledger {ledger} knows nothing: --ledger FILE names the one that \
         was used then; a member whose records were not in that run says --new-member. Nothing was written"
    )]
    LedgerOfOld {
        /// The ledger's file.
        ledger: String,
        /// The hash of the agreement before.
        agreement: String,
    },
    /// The ledger.
    #[error(transparent)]
    Ledger(#[from] LedgerFileError),
    /// The run's folder.
    #[error("--home {folder}: {error}")]
    Home {
        /// The folder.
        folder: String,
        /// What is wrong.
        error: Box<HomeError>,
    },
    /// A folder with something else in it.
    #[error("--home {folder} is not empty and not a node's folder: choose another")]
    Foreign {
        /// The folder.
        folder: String,
    },
    /// The folder of another agreement.
    #[error(
        "--home {folder} belongs to the agreement with the hash {theirs}; the one given has {ours}: choose another folder, \
         or give the agreement that this run began with"
    )]
    OtherAgreement {
        /// The folder.
        folder: String,
        /// The folder's.
        theirs: String,
        /// The one given.
        ours: String,
    },
    /// A run that goes on from another needs that one's folder.
    #[error("{0}")]
    From(String),
    /// A folder or ledger in use, or that cannot be had.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    /// A file.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// The gate.
    #[error(transparent)]
    Gate(#[from] GateError),
    /// The records' slots.
    #[error(transparent)]
    Shard(#[from] ShardError),
    /// The starting point.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The accountant.
    #[error("privacy: {0}")]
    Accounting(#[from] AccountingError),
}

impl NodeError {
    /// Whether the input was wrong (exit 2), rather than the disk failing (exit 1).
    pub fn is_input(&self) -> bool {
        match self {
            Self::Disk(_)
            | Self::Directory(DirectoryError::Disk(_))
            | Self::Ledger(LedgerFileError::Disk(_) | LedgerFileError::Broken { .. }) => false,
            Self::Home { error, .. } => {
                !matches!(**error, HomeError::Disk(_) | HomeError::Broken(_) | HomeError::Lost)
            }
            _ => true,
        }
    }
}

impl From<RecordsError> for NodeError {
    fn from(error: RecordsError) -> Self {
        Self::Records(Box::new(error))
    }
}
