//! `prdo node run`: trains with the other members, through whatever happens.

use super::against::whom;
use super::watch::Terminal;
use super::{listen, seat};
use crate::cli::node::RunArgs;
use crate::commands::dashboard::{self, Window};
use crate::commands::watch::Stop;
use crate::commands::{Failure, use_threads, work};
use crate::progress::{say, tell, warn};
use prdo::budget::words::short;
use prdo::build::Form;
use prdo::disk::{write_atomically, write_privately};
use prdo::privacy::Secret;
use prdo::store::{MemberSummary, State, Status, artefact, names, write_model, write_network};
use prdo_member::Membership;
use prdo_member::account::LedgerOptions;
use prdo_member::page::{Page, PageError, Sheet};
use prdo_member::prepare::{Beginning, Draws, Ready, Request, Started, measure};
use prdo_member::records::Reading;
use prdo_member::watcher::Watcher;
use prdo_peer::identity::Identity;
use prdo_peer::ledger::{LedgerFile, lock};
use prdo_peer::machine::{Ended, Patience, PeerError};
use prdo_peer::session::SessionError;
use prdo_peer::transport::Transport;
use prdo_peer::wire::hex;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// What seeded draws are worth.
const TEST_SEED: &str = "TEST SEED: not private";

pub fn run(args: &RunArgs) -> Result<(), Failure> {
    use_threads(args.threads)?;
    let draws = draws()?;
    let seeded = matches!(draws, Draws::Seeded(_));
    let own = &args.own;
    let (identity, seat) = seat(own)?;
    let port = dashboard::port(&args.watch)?;
    let address = listen(own, &seat)?;
    let reading = Reading { label: own.label.as_deref(), columns: &own.columns, test: false };
    let measure = args.test.as_deref().map(|test| measure(&seat, test, reading)).transpose()?;
    let ledger = LedgerOptions { file: own.ledger.clone(), budget: own.budget, raise: own.raise_budget };
    let request =
        Request { key: &own.key, data: &own.data, reading, ledger: &ledger, home: Some(&args.home) };
    let ready = Ready::new(seat, &request)?;
    if let Some(summary) = finished(&args.home) {
        tell("this run is already finished");
        show(&summary, &args.home, own.json);
        return Ok(());
    }
    warn(ready.warnings());
    announce(&ready, seeded);
    // Before anything is written: a port that is taken is found now.
    let (links, listening) = open_links(ready.membership(), &identity, address)?;
    let mut links = super::capture::wrap(links)?;
    let sheet = Arc::new(Mutex::new(Sheet::default()));
    let _page = open_page(args.status, &sheet)?;
    let stop = Stop::listen()?;
    let (ledger, colluders) = (ready.ledger().to_path_buf(), ready.forecast.colluders);
    let beginning = Beginning {
        identity: &identity,
        key: &own.key,
        draws,
        patience: patience(args),
        from: args.from.as_deref(),
        newcomer: args.new_member,
    };
    let (begun, seat) = ready.begin(beginning)?;
    if begun.rounds_done > 0 {
        tell(&format!("resuming after round {}", begun.rounds_done));
    }
    let terms = seat.agreement.terms();
    let status = Status {
        name: Some(terms.name.clone()),
        run: Some(hex(&terms.run)),
        agreement: Some(hex(&seat.agreement.run_hash())),
        member: Some(seat.member.name.clone()),
        round: Some(begun.rounds_done),
        rounds: Some(terms.rounds),
        noise_multiplier: Some(seat.planned.guarantee.noise_multiplier),
        colluders,
        listening: Some(listening),
        // From wherever somebody asks for the status.
        ledger: Some(std::path::absolute(&ledger).unwrap_or(ledger)),
        test_seed: seeded.then(|| TEST_SEED.to_string()),
        ..Status::default()
    };
    let names = terms.members.iter().map(|member| member.name.clone()).collect();
    let screen = Box::new(Terminal::new(terms.rounds, begun.rounds_done));
    let watcher = Watcher::new(status, names, &args.home, (measure, sheet), screen, Arc::clone(stop.flag()))
        .map_err(work("log.jsonl"))?;
    let window = Window::open(port, &args.home)?;
    let node = Node { seat, watcher, home: &args.home, began: Instant::now() };
    let result = node.train(begun, &mut *links, &stop);
    let result = result.map(|summary| show(&summary, &args.home, own.json));
    window.close(result, &stop, own.json)
}

fn patience(args: &RunArgs) -> Patience {
    let millis = |seconds: f64| (seconds * 1000.0) as u64;
    Patience {
        give_up: millis(args.give_up),
        linger: millis(args.linger),
        meet_first: true,
        ..Patience::default()
    }
}

/// Fresh draws from the operating system. A seed makes them the simulator's, for tests: builds for use refuse it.
fn draws() -> Result<Draws, Failure> {
    const SWITCH: &str = "PRDO_TEST_SEED";
    let Some(seed) = std::env::var_os(SWITCH) else {
        let drawn = Secret::from_operating_system();
        let drawn =
            drawn.map_err(|e| Failure::Work(format!("the operating system has no randomness: {e}")))?;
        return Ok(Draws::Secret(drawn));
    };
    if !cfg!(debug_assertions) {
        return Err(Failure::Input(format!(
            "{SWITCH} is set: it makes all noise known and is for tests of prdo itself; this build refuses it. Unset it"
        )));
    }
    let number = seed.to_str().and_then(|text| text.parse().ok());
    let number = number.ok_or_else(|| Failure::Input(format!("{SWITCH} must be a whole number")))?;
    Ok(Draws::Seeded(Secret::from_seed(number)))
}

#[cfg(feature = "peers")]
fn open_links(
    seat: &Membership,
    identity: &Identity,
    address: SocketAddr,
) -> Result<(Box<dyn Transport>, String), Failure> {
    let links = super::links::open(seat, identity, address, false)?;
    let listening = prdo_peer::transport::Open::local_address(&links).to_string();
    Ok((Box::new(links), listening))
}

#[cfg(not(feature = "peers"))]
fn open_links(_: &Membership, _: &Identity, _: SocketAddr) -> Result<(Box<dyn Transport>, String), Failure> {
    Err(Failure::Input("this prdo was built without the feature `peers`, which `node run` needs".into()))
}

fn open_page(address: Option<SocketAddr>, sheet: &Arc<Mutex<Sheet>>) -> Result<Option<Page>, Failure> {
    let Some(address) = address else { return Ok(None) };
    let failed = |error: PageError| Failure::Input(format!("--status: {error}"));
    let page = Page::open(address, Arc::clone(sheet)).map_err(failed)?;
    tell(&format!("status page: http://{}/", page.address()));
    Ok(Some(page))
}

fn announce(ready: &Ready, seeded: bool) {
    let (seat, outlook) = (ready.membership(), &ready.forecast);
    let (terms, planned) = (seat.agreement.terms(), &seat.planned);
    tell(&format!(
        "{} in {} ({}): {} of {} with {} parameters, {} rounds, {}",
        seat.member.name,
        terms.name,
        hex(&seat.agreement.run_hash()[..6]),
        planned.recipe.method.card().title,
        planned.model.kind,
        terms.dimension,
        terms.rounds,
        match seat.neighbours().len() {
            1 => "1 neighbour".to_string(),
            many => format!("{many} neighbours"),
        }
    ));
    tell(&format!(
        "privacy: ε = {} spent, {} after this run, budget {} at δ = {:e}; noise multiplier {:.4}",
        short(outlook.spent, 4),
        short(outlook.after, 4),
        outlook.budget.epsilon(),
        outlook.budget.delta(),
        planned.guarantee.noise_multiplier
    ));
    if let Some(colluders) = outlook.colluders {
        tell(&format!("against: {}", whom(colluders)));
    }
    if seeded {
        tell(TEST_SEED);
    }
}

/// A node at work in its folder.
struct Node<'a> {
    seat: Membership,
    watcher: Watcher,
    home: &'a Path,
    began: Instant,
}

impl Node<'_> {
    fn train(
        mut self,
        begun: Started,
        links: &mut dyn Transport,
        stop: &Stop,
    ) -> Result<MemberSummary, Failure> {
        let Started { setup, ledger, .. } = begun;
        let rounds = self.seat.agreement.terms().rounds;
        match prdo_peer::driver::run(setup, links, &mut self.watcher, stop.flag()) {
            Ok(Ended::Finished { unconfirmed }) => self.finish(&ledger, &unconfirmed),
            Ok(Ended::Stopped { round }) => {
                if let Some(conflict) = self.watcher.conflict.take() {
                    self.watcher.ended(State::Stopped, &conflict);
                    return Err(Failure::Input(format!("{conflict}. Nothing was released")));
                }
                let message = format!(
                    "stopped after round {round} of {rounds}; everything is saved: rerun the command to resume"
                );
                self.watcher.ended(State::Stopped, &message);
                tell(&message);
                Err(Failure::Work("interrupted".into()))
            }
            Err(error) => {
                let reasons = self.watcher.reasons();
                let because = if reasons.is_empty() { String::new() } else { format!(" ({reasons})") };
                let input =
                    matches!(error, SessionError::Peer(PeerError::NotMet { .. }) | SessionError::Resume(_));
                let waited =
                    matches!(error, SessionError::Peer(PeerError::NotMet { .. } | PeerError::GaveUp { .. }));
                let message = format!("{error}{}", if waited { because } else { String::new() });
                self.watcher.ended(if waited { State::Stopped } else { State::Failed }, &message);
                Err(Failure::new(input, message))
            }
        }
    }

    /// Writes the model, ends the run in the ledger, and writes the summary last: it marks the run as finished.
    fn finish(
        mut self,
        ledger: &Mutex<LedgerFile>,
        unconfirmed: &[String],
    ) -> Result<MemberSummary, Failure> {
        let terms = self.seat.agreement.terms();
        let model = self.watcher.model.take().unwrap_or_default();
        let bytes = match &self.seat.planned.model.form {
            Form::Network { spec, .. } => write_network(spec, &model, &[], false).map_err(|e| e.to_string()),
            _ => write_model(&model).map_err(|e| e.to_string()),
        };
        let bytes = bytes.map_err(|e| Failure::Work(format!("model.safetensors: {e}")))?;
        write_atomically(&self.home.join(names::MODEL), &bytes)?;
        let ended = lock(ledger).end_run(&terms.run, terms.rounds);
        ended.map_err(|e| Failure::Work(e.to_string()))?;
        let message = match unconfirmed {
            [] => "finished".to_string(),
            names => format!(
                "finished; {} may still need this node: rerun the command to serve them",
                names.join(", ")
            ),
        };
        self.watcher.ended(State::Finished, &message);
        let summary = self.watcher.summary(unconfirmed, self.began.elapsed());
        write_privately(&self.home.join(names::SUMMARY), artefact::text(&summary).as_bytes())?;
        Ok(summary)
    }
}

fn finished(home: &Path) -> Option<MemberSummary> {
    let bytes = std::fs::read(home.join(names::SUMMARY)).ok()?;
    artefact::parse(&bytes).ok().filter(MemberSummary::is_over)
}

fn show(summary: &MemberSummary, home: &Path, as_json: bool) {
    if as_json {
        say(&artefact::line(summary));
        return;
    }
    let number = |value: Option<f64>| value.unwrap_or(f64::NAN);
    let before = summary.rounds_before.filter(|before| *before > 0);
    let before = before.map_or(String::new(), |before| format!(", those after {before}"));
    let rounds = summary.rounds.unwrap_or(0);
    say(&format!("done: {rounds} rounds{before} in {:.1} s", number(summary.seconds)));
    if let Some(accuracy) = summary.test_accuracy {
        say(&format!("test accuracy {:.2} % (this member's own model)", 100.0 * accuracy));
    }
    let seeded = if summary.test_seed.is_some() { format!(" ({TEST_SEED})") } else { String::new() };
    let against =
        summary.colluders.map_or(String::new(), |colluders| format!(", against {}", whom(colluders)));
    say(&format!(
        "privacy: ε = {} spent of {} at δ = {:e} for every record{against}{seeded}",
        short(number(summary.epsilon_spent), 4),
        number(summary.budget),
        number(summary.delta)
    ));
    for name in summary.unconfirmed.iter().flatten() {
        say(&format!("{name} has not confirmed the last message: rerun the command to serve it once more"));
    }
    say(&format!("model: {}", home.join(names::MODEL).display()));
}
