//! Why a node does not start.

use crate::records::RecordsError;
use prdo_accounting::AccountingError;
use prdo_algorithm::SettingsError;
use prdo_peer::agreement::AgreementError;
use prdo_peer::dir::DirectoryError;
use prdo_peer::disk::DiskError;
use prdo_peer::home::HomeError;
use prdo_peer::identity::IdentityError as KeyFileError;
use prdo_peer::ledger::LedgerFileError;
use prdo_peer::share_key::ShareKeyError;
use prdo_privacy::{GateError, ShardError, SharesError, StartError};
use prdo_runfile::ConfigError;

/// A node that cannot start or resume. Nothing was released.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NodeError {
    #[error("{file}: {error}")]
    Agreement { file: String, error: Box<AgreementError> },
    #[error(transparent)]
    Settings(#[from] ConfigError),
    #[error(transparent)]
    Method(#[from] SettingsError),
    #[error(transparent)]
    Records(Box<RecordsError>),
    #[error(
        "{file} holds {records} records, but the agreement gives {member} {slots} public slots: leave records out, or \
         agree on more slots"
    )]
    TooMany { file: String, records: usize, member: String, slots: usize },
    #[error(
        "the privacy budget of these records does not allow this run: ε = {spent:.4} is spent, {rounds} more rounds would \
         make it ε = {after:.4}, and the budget is ε = {budget} at δ = {delta:e} (ledger {ledger}). Nothing was released. \
         If the owner of the records agrees to more, --raise-budget EPS records that in the ledger"
    )]
    Budget { ledger: String, spent: f64, after: f64, rounds: u32, budget: f64, delta: f64 },
    #[error(
        "the agreement assumes that {assumed} rounds were released before; this ledger has {found}: create the agreement \
         again with a larger --rounds-done. Nothing was released"
    )]
    AssumedLess { assumed: u64, found: u64 },
    #[error("--raise-budget: no ledger at {ledger} whose budget could be raised; name it with --ledger FILE")]
    NothingToRaise { ledger: String },
    #[error(
        "{data} holds the records of {ledger}: use --ledger {ledger}. Records have one budget, whatever their file is called"
    )]
    OtherLedger { data: String, ledger: String },
    #[error(
        "--budget {asked} is more than ledger {ledger} allows for everything ever released about these records, ε = {allowed}: \
         --raise-budget {asked} raises it, and records that in the ledger"
    )]
    Raise { ledger: String, asked: f64, allowed: f64 },
    #[error("--raise-budget {asked} would lower it: {ledger} already allows ε = {allowed}")]
    NotRaised { ledger: String, asked: f64, allowed: f64 },
    #[error(
        "--home {home} holds rounds of this run that are not in the ledger {ledger}: name the one that was used with \
         --ledger FILE. Nothing was written"
    )]
    LedgerOfHome { ledger: String, home: String },
    #[error(
        "the agreement continues {agreement}, which is not in the ledger {ledger}: name the ledger that was used then with \
         --ledger FILE; a member whose records were not in that run passes --new-member. Nothing was written"
    )]
    LedgerOfOld { ledger: String, agreement: String },
    #[error(transparent)]
    Ledger(#[from] LedgerFileError),
    #[error("--home {folder}: {error}")]
    Home { folder: String, error: Box<HomeError> },
    #[error("--home {folder} is not empty and not a node's folder: choose another")]
    Foreign { folder: String },
    #[error(
        "--home {folder} belongs to the agreement with the hash {theirs}; the one given has {ours}: choose another folder, \
         or give the agreement that this run started with"
    )]
    OtherAgreement { folder: String, theirs: String, ours: String },
    #[error(transparent)]
    ShareKey(#[from] ShareKeyError),
    #[error(transparent)]
    Shares(#[from] SharesError),
    /// What is wrong with the folder of the run that this one continues.
    #[error("{0}")]
    From(String),
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    #[error(transparent)]
    Disk(#[from] DiskError),
    #[error(transparent)]
    Gate(#[from] GateError),
    #[error(transparent)]
    Shard(#[from] ShardError),
    #[error(transparent)]
    Start(#[from] StartError),
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
            Self::ShareKey(ShareKeyError::File(KeyFileError::System { .. })) => false,
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
