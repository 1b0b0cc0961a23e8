//! From a membership and own data to a session: everything is checked, then the folders are taken, then the records sealed.

pub use crate::shares::Draws;

use crate::account::{Account, BudgetForecast, LedgerOptions};
use crate::agreed::agreed;
use crate::records::{self, OwnRecords, Reading, RecordTable};
use crate::{Membership, NodeError, shares};
use prdo::build::BoxedModel;
use prdo_accounting::Accountant;
use prdo_algorithm::Neighbourhood;
use prdo_data::{Feature, Table};
use prdo_peer::agreement::Agreement;
use prdo_peer::dir::{Directory, read_unlocked};
use prdo_peer::disk::DiskError;
use prdo_peer::home::Home;
use prdo_peer::identity::Identity;
use prdo_peer::ledger::{LedgerFile, Resume, lock};
use prdo_peer::machine::{Patience, kept_payloads};
use prdo_peer::session::Setup;
use prdo_peer::wire::hex;
use prdo_privacy::{
    Answerer, Clip, Gate, Ledger, NodeShares, Noised, PrivateRules, Released, Secret, Shard, Start,
};
use prdo_runfile::Key;
use prdo_store::names::{AGREEMENT, KEPT};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// What a member has of its own.
pub struct Request<'a> {
    /// The file of its identity, beside which its share keys are.
    pub key: &'a Path,
    pub data: &'a Path,
    pub reading: Reading<'a>,
    pub ledger: &'a LedgerOptions,
    /// The run's folder; `None` for somebody who only looks.
    pub home: Option<&'a Path>,
}

/// A node that could begin: everything was checked, nothing was written but locks.
pub struct Ready {
    membership: Membership,
    own: OwnRecords,
    account: Account,
    accountant: Arc<Accountant>,
    home: Option<Directory>,
    pub forecast: BudgetForecast,
}

/// How a node begins.
pub struct Beginning<'a> {
    pub identity: &'a Identity,
    /// The identity's file, beside which its share keys are.
    pub key: &'a Path,
    pub draws: Draws,
    pub patience: Patience,
    /// The folder of the run that this one continues.
    pub from: Option<&'a Path>,
    /// Whether the records were not in that run.
    pub newcomer: bool,
}

/// A node about to begin.
pub struct Started {
    pub setup: Setup,
    pub ledger: Arc<Mutex<LedgerFile>>,
    pub rounds_done: u32,
}

impl Ready {
    /// Checks the data, the budget and the folder.
    ///
    /// # Errors
    /// Whatever does not fit. Nothing was written.
    pub fn new(membership: Membership, request: &Request<'_>) -> Result<Self, NodeError> {
        let facts = &membership.agreement.terms().facts;
        let mut own =
            records::read(request.data, request.reading, facts, &membership.document, &membership.planned)?;
        let (records, slots) = (own.table.len(), membership.slots());
        if records > slots {
            let (file, member) = (request.data.display().to_string(), membership.member.name.clone());
            return Err(NodeError::TooMany { file, records, member, slots });
        }
        if let Some(home) = request.home {
            check_home(home, &membership)?;
        }
        shares::check(&membership, request.key, request.home)?;
        let home = request.home.map(Directory::open).transpose()?;
        let account = Account::look(&membership, request.ledger, request.data, &own.digest)?;
        if !account.others.is_empty() {
            own.warnings.push(format!(
                "this starts a new ledger for these records, beside {}: records that are in both files have cost what both \
                 ledgers say together",
                account.others.join(", ")
            ));
        }
        let accountant = Arc::new(Accountant::new(membership.planned.recipe.accounting));
        let forecast = account.forecast(&membership, &accountant)?;
        Ok(Self { membership, own, account, accountant, home, forecast })
    }

    pub fn membership(&self) -> &Membership {
        &self.membership
    }

    pub fn ledger(&self) -> &Path {
        &self.account.path
    }

    /// How many records there are: for the owner's eyes.
    pub fn records(&self) -> usize {
        self.own.table.len()
    }

    /// What the owner should think about before anything is released.
    pub fn warnings(&self) -> &[String] {
        &self.own.warnings
    }

    /// Opens the ledger and the folder, seals the records and gives what a session needs.
    ///
    /// # Errors
    /// A folder or a ledger that does not fit; nothing was released.
    pub fn begin(self, beginning: Beginning<'_>) -> Result<(Started, Membership), NodeError> {
        let Beginning { identity, key, draws, patience, from, newcomer } = beginning;
        let Self { membership, own, account, accountant, home, .. } = self;
        let home = home.ok_or_else(|| NodeError::Foreign { folder: "(none)".into() })?;
        let terms = membership.agreement.terms();
        let (run, hash, number) = (terms.run, membership.agreement.run_hash(), membership.number as u32);
        let budget = account.budget;
        check_ledger(&membership, &account, &home, newcomer)?;
        let ledger = Arc::new(Mutex::new(account.open(&own.digest)?));
        lock(&ledger).begin_run_against(membership.colluders(), &run, &hash, number, &terms.name)?;
        keep_agreement(&home, &membership.agreement)?;
        let wrong =
            |error| NodeError::Home { folder: home.path().display().to_string(), error: Box::new(error) };
        let kept = Box::new(home.inside(KEPT)?);
        let payloads = kept_payloads(&terms.exchanges);
        let (mut folder, saved) =
            Home::open(kept, run, hash, number, Arc::clone(&ledger), payloads).map_err(wrong)?;
        let start = match &saved.state {
            Some(_) => membership.planned.model.start.clone(),
            None => start(&membership, identity, &ledger, from)?,
        };
        let recipe = &membership.planned.recipe;
        let place = membership.place();
        let settings = recipe.settings.clone().at(place.neighbourhood());
        let node = recipe.method.start::<Noised>(&start, &settings)?;
        let resume = lock(&ledger).resume(&run)?;
        let book = LedgerFile::book(&ledger, &run, &hash, number)?;
        let charged = Ledger::after(accountant, budget, resume.history.clone()).kept_by(Box::new(book));
        let shares = shares::take(&membership, (key, &draws), (&mut folder, &saved), wrong)?;
        let secret = Arc::new(draws.into_secret());
        let sealing = Sealing { membership: &membership, secret, ledger: charged, shares };
        let model = &membership.planned.model;
        let gate = match own.table {
            RecordTable::Numbers(table) => sealing.gate(model.numbers(), table, &resume)?,
            RecordTable::Features(table) => match model.mapped() {
                Some(model) => sealing.gate(model, table, &resume)?,
                None => sealing.gate(model.numbers(), table.to_numbers(), &resume)?,
            },
            RecordTable::Images(table) => match model.images() {
                Some(model) => sealing.gate(model, table, &resume)?,
                None => sealing.gate(model.numbers(), table.to_numbers(), &resume)?,
            },
        };
        let rounds_done = saved.state.as_ref().map_or(0, |state| state.round);
        let setup = Setup { place, patience, node, gate, home: folder, saved, background: true };
        Ok((Started { setup, ledger, rounds_done }, membership))
    }
}

struct Sealing<'a> {
    membership: &'a Membership,
    secret: Arc<Secret>,
    ledger: Ledger,
    shares: Option<NodeShares>,
}

impl Sealing<'_> {
    fn gate<F: Feature>(
        self,
        model: BoxedModel<F>,
        table: Table<F>,
        resume: &Resume,
    ) -> Result<Box<dyn Answerer>, NodeError>
    where
        Table<F>: prdo_privacy::Data,
    {
        let membership = self.membership;
        let (gradient, difference) =
            membership.planned.recipe.clip.ok_or_else(|| membership.document.missing(Key::ClipGradient))?;
        let clip = Clip::new(gradient, difference)
            .map_err(|error| membership.document.error(Key::ClipGradient, error.to_string()))?;
        let rules = PrivateRules {
            batches: membership.batches(),
            clip,
            noise_multiplier: membership.planned.guarantee.noise_multiplier,
            ledger: self.ledger,
        };
        let shard = Shard::seal_in_slots(table, membership.slots())?;
        let mut gate = Gate::private(membership.number as u32, Arc::new(model), shard, self.secret, rules)?;
        if let Some(shares) = self.shares {
            gate = gate.with_shares(shares)?;
        }
        gate.restore(resume.rounds, &resume.history)?;
        Ok(Box::new(gate))
    }
}

/// Refuses a folder with something else in it, or of another agreement.
fn check_home(folder: &Path, membership: &Membership) -> Result<(), NodeError> {
    let shown = || folder.display().to_string();
    if folder.join(AGREEMENT).is_file() {
        let (found, ours) = (read_agreement(folder)?.run_hash(), membership.agreement.run_hash());
        if found != ours {
            let (theirs, ours) = (hex(&found), hex(&ours));
            return Err(NodeError::OtherAgreement { folder: shown(), theirs, ours });
        }
        return Ok(());
    }
    // A lock alone: somebody began and was stopped at once.
    let other = |entry: std::io::Result<std::fs::DirEntry>| {
        entry.is_ok_and(|entry| !entry.file_name().to_string_lossy().starts_with(".prdo"))
    };
    let foreign = std::fs::read_dir(folder).is_ok_and(|mut entries| entries.any(other));
    if foreign { Err(NodeError::Foreign { folder: shown() }) } else { Ok(()) }
}

/// Keeps a copy of the agreement with its signatures, for `prdo node status` and for runs that continue this one.
fn keep_agreement(home: &Directory, agreement: &Agreement) -> Result<(), NodeError> {
    let path = home.path().join(AGREEMENT);
    let text = agreement.to_file();
    if std::fs::read(&path).is_ok_and(|old| old == text.as_bytes()) {
        return Ok(());
    }
    prdo_disk::write_atomically(&path, text.as_bytes())
        .map_err(|error| DiskError { file: path.display().to_string(), problem: error.to_string() }.into())
}

/// Refuses a ledger that does not know what it should, before anything is written to it: it is not the one of these
/// records, or was lost.
fn check_ledger(
    membership: &Membership,
    account: &Account,
    home: &Directory,
    newcomer: bool,
) -> Result<(), NodeError> {
    let (ledger, home) = (account.path.display().to_string(), home.path());
    let kept = std::fs::read_dir(home.join(KEPT)).is_ok_and(|mut files| files.next().is_some());
    if kept && !account.knows(&membership.agreement.run_hash()) {
        return Err(NodeError::LedgerOfHome { ledger, home: home.display().to_string() });
    }
    match membership.agreement.terms().continues {
        Some(old) if !newcomer && !account.knows(&old) => {
            Err(NodeError::LedgerOfOld { ledger, agreement: hex(&old) })
        }
        _ => Ok(()),
    }
}

/// Where the node starts: at the public start, or at its own model of the run that this one continues.
fn start(
    membership: &Membership,
    identity: &Identity,
    ledger: &Arc<Mutex<LedgerFile>>,
    from: Option<&Path>,
) -> Result<Start, NodeError> {
    let public = || Ok(membership.planned.model.start.clone());
    match (&membership.agreement.terms().continues, from) {
        (None, None) => public(),
        (None, Some(folder)) => Err(NodeError::From(format!(
            "--from {} is not used: the agreement does not continue another one",
            folder.display()
        ))),
        (Some(old), None) => match lock(ledger).contents().runs().iter().any(|run| run.agreement == *old) {
            false => public(),
            true => Err(NodeError::From(format!(
                "the agreement continues {}, in which these records took part: name the folder of that run with \
                     --from OLD_HOME",
                hex(old)
            ))),
        },
        (Some(old), Some(folder)) => {
            let agreement = read_agreement(folder)?;
            if agreement.run_hash() != *old {
                return Err(NodeError::From(format!(
                    "--from {} belongs to the agreement with the hash {}; the new one continues {}",
                    folder.display(),
                    hex(&agreement.run_hash()),
                    hex(old)
                )));
            }
            let values = saved_model(&agreement, folder, identity, ledger)?;
            let (found, expected) = (values.len(), membership.planned.model.dimension);
            if found != expected {
                let folder = folder.display();
                let what =
                    format!("--from {folder}: its model has {found} parameters, the new one has {expected}");
                return Err(NodeError::From(what));
            }
            Ok(Start::declared_public(values)?)
        }
    }
}

/// The agreement whose run is in a folder.
pub fn read_agreement(folder: &Path) -> Result<Agreement, NodeError> {
    let path = folder.join(AGREEMENT);
    let file = path.display().to_string();
    let missing =
        || NodeError::From(format!("{} is not a node's folder: it has no agreement", folder.display()));
    if folder.is_file() {
        return Err(missing());
    }
    let text = read_unlocked(&path)?.ok_or_else(missing)?;
    let text = String::from_utf8_lossy(&text);
    Agreement::parse(&text).map_err(|error| NodeError::Agreement { file, error: Box::new(error) })
}

/// This member's model after the last round that was done in an older run's folder.
fn saved_model(
    agreement: &Agreement,
    folder: &Path,
    identity: &Identity,
    ledger: &Arc<Mutex<LedgerFile>>,
) -> Result<Vec<f64>, NodeError> {
    let shown = folder.display();
    let stranger = || NodeError::From(format!("--from {shown}: this key is not that of a member there"));
    let number = agreement.member_of(&identity.public()).ok_or_else(stranger)?;
    let wrong = |error| NodeError::Home { folder: shown.to_string(), error: Box::new(error) };
    let disk = Directory::open(folder)?.inside(KEPT)?;
    let (run, hash) = (agreement.terms().run, agreement.run_hash());
    let payloads = kept_payloads(&agreement.terms().exchanges);
    let opened = Home::open(Box::new(disk), run, hash, number as u32, Arc::clone(ledger), payloads);
    let (_, saved) = opened.map_err(wrong)?;
    let Some(state) = saved.state else {
        return Err(NodeError::From(format!("--from {shown}: no round was completed there")));
    };
    let (_, planned) = agreed(agreement)?;
    let row = agreement.terms().weights.get(number).into_iter().flatten();
    let at = Neighbourhood::new(number as u32, row.map(|(member, _)| *member));
    let settings = planned.recipe.settings.clone().at(at);
    let mut node = planned.recipe.method.start::<Noised>(&planned.model.start, &settings)?;
    let mut rest = state.vectors.as_slice();
    for vector in node.restore(state.round) {
        let damaged =
            |error| NodeError::From(format!("--from {shown}: cannot resume from the saved state: {error}"));
        *vector = Released::load(&mut rest, vector.dimension()).map_err(damaged)?;
    }
    Ok(node.model().as_slice().to_vec())
}

/// Accuracy on public records of the owner's, of any model of this run; `None` where that has no meaning.
pub type Measure = Box<dyn Fn(&[f64]) -> Option<f64> + Send>;

/// Reads public test data and gives what measures a model on it.
pub fn measure(membership: &Membership, path: &Path, reading: Reading<'_>) -> Result<Measure, NodeError> {
    let reading = Reading { test: true, ..reading };
    let facts = &membership.agreement.terms().facts;
    let own = records::read(path, reading, facts, &membership.document, &membership.planned)?;
    let model = &membership.planned.model;
    Ok(match own.table {
        RecordTable::Numbers(table) => {
            let model = model.numbers();
            Box::new(move |x| prdo_simulator::accuracy(&model, x, &table))
        }
        RecordTable::Features(table) => match model.mapped() {
            Some(model) => Box::new(move |x| prdo_simulator::accuracy(&model, x, &table)),
            None => Box::new(|_| None),
        },
        RecordTable::Images(table) => match model.images() {
            Some(model) => Box::new(move |x| prdo_simulator::accuracy(&model, x, &table)),
            None => Box::new(|_| None),
        },
    })
}
