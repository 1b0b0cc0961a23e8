//! One payload per round, whatever dies: real peers' sessions on disks in memory, with an eavesdropper on the wire.
//!
//! A node is killed at every one of its durable writes, torn or whole, and after every message it sends, whether the
//! message arrives or not; it is started again from its disk with a *new* secret, as a real process would be. Whoever
//! released a round a second time would then release it with other noise, and the eavesdropper would hold two payloads
//! of one exchange: the average of the two has less noise than was charged for.

use crate::canary::{CanaryModel, DIMENSION, OTHER};
use crate::error::{AuditError, refused};
use crate::likelihood::mixed;
use crate::setting::Setting;
use crate::subject::Subject;
use prdo_accounting::{Accountant, Target};
use prdo_algorithm::Exchanges;
use prdo_algorithm::graph::{Graph, Mixing, Weights};
use prdo_peer::home::Home;
use prdo_peer::ledger::LedgerFile;
use prdo_peer::machine::{Action, Event, Patience, Place, kept_payloads};
use prdo_peer::memory::MemoryDisk;
use prdo_peer::session::{Session, Setup};
use prdo_peer::wire::{Expected, Frame, FrameKind, Ways};
use prdo_privacy::{Gate, Ledger, Secret, Shard, Start};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

const PEERS: usize = 2;
const ROUNDS: u32 = 3;
const MORTAL: usize = 0;
/// A scenario that takes more steps than this hangs.
const MOST_STEPS: u32 = 2_000;
const RUN: [u8; 32] = [1; 32];
const AGREEMENT: [u8; 32] = [2; 32];

#[derive(Clone, Copy, Debug, Default)]
pub struct Restarts {
    pub scenarios: usize,
    /// Scenarios in which the node really died.
    pub deaths: usize,
    /// Exchanges of which an eavesdropper holds more than one payload.
    pub second_payloads: usize,
    /// Scenarios in which the run did not get to its end.
    pub unfinished: usize,
}

#[derive(Clone, Copy, Debug)]
enum Death {
    /// At this durable write, of which so many bytes stay.
    Write(u64, usize),
    /// After this many vectors were sent; the last one arrives or not.
    Sent(u32, bool),
}

/// Plays every death there is in a short run.
pub fn restarts<S: Subject>(subject: &S, setting: &Setting, seed: u64) -> Result<Restarts, AuditError> {
    let setting = setting.lasting(ROUNDS);
    let exchanges = setting.method.exchanges(&setting.settings);
    let all = exchanges.before(ROUNDS, ROUNDS) as u32;
    let mut deaths: Vec<Death> = Vec::new();
    for write in 0..6 + 4 * u64::from(all) {
        deaths.extend([0, 100, usize::MAX].map(|keep| Death::Write(write, keep)));
    }
    for sent in 1..=all {
        deaths.extend([false, true].map(|arrives| Death::Sent(sent, arrives)));
    }
    let (accountant, budget) = setting.accountant()?;
    let pair = Graph::path(PEERS).map_err(refused("graph"))?;
    let mixing = Mixing::new(&pair, Weights::Metropolis, true).map_err(refused("weights"))?;
    let mut found = Restarts::default();
    for (number, death) in deaths.into_iter().enumerate() {
        let seed = mixed(seed, number as u64);
        let (setting, mixing) = (&setting, &mixing);
        let scene = Scene { subject, setting, mixing, exchanges, accountant: &accountant, budget, seed };
        let mut wire = Wire::new(&scene, death);
        wire.play();
        found.scenarios += 1;
        found.deaths += usize::from(wire.boots[MORTAL] > 1);
        found.second_payloads += wire.heard.values().filter(|payloads| payloads.len() > 1).count();
        found.unfinished += usize::from(!wire.ended.iter().all(|ended| *ended));
    }
    Ok(found)
}

/// What all processes of a scenario share.
struct Scene<'a, S: Subject> {
    subject: &'a S,
    setting: &'a Setting,
    mixing: &'a Mixing,
    exchanges: Exchanges,
    accountant: &'a Arc<Accountant>,
    budget: Target,
    seed: u64,
}

impl<S: Subject> Scene<'_, S> {
    fn place(&self, me: usize) -> Place {
        let (columns, weights) = self.mixing.row(me);
        let exchanges = self.exchanges;
        let expected = |peer: u32| Expected {
            run: RUN,
            agreement: AGREEMENT,
            peer,
            me: me as u32,
            payload_bytes: exchanges.shape.bytes(DIMENSION) as u64,
            final_bytes: Exchanges::FINAL.bytes(DIMENSION) as u64,
            exchanges,
            rounds: ROUNDS,
            ways: Ways::both(),
        };
        Place {
            me: me as u32,
            rows: vec![columns.iter().copied().zip(weights.iter().copied()).collect()],
            neighbours: columns.iter().filter(|j| **j as usize != me).map(|j| expected(*j)).collect(),
            names: (0..PEERS).map(|i| format!("peer-{i}")).collect(),
            dimension: DIMENSION,
            rounds: ROUNDS,
            exchanges,
        }
    }

    /// A session from its disk, as a new process makes it: with a secret of its own.
    fn open(&self, me: usize, disk: &MemoryDisk, boot: u32) -> Result<Session, String> {
        let text = |e: &dyn std::fmt::Display| e.to_string();
        let mut ledger = LedgerFile::open(Box::new(disk.clone()), "ledger", &[7; 32], self.budget)
            .map_err(|e| text(&e))?;
        ledger.begin_run(&RUN, &AGREEMENT, me as u32, "audit").map_err(|e| text(&e))?;
        let ledger = Arc::new(Mutex::new(ledger));
        let (home, saved) = Home::open(
            Box::new(disk.clone()),
            RUN,
            AGREEMENT,
            me as u32,
            Arc::clone(&ledger),
            kept_payloads(&self.exchanges),
        )
        .map_err(|e| text(&e))?;
        let resume =
            ledger.lock().unwrap_or_else(PoisonError::into_inner).resume(&RUN).map_err(|e| text(&e))?;
        let book = LedgerFile::book(&ledger, &RUN, &AGREEMENT, me as u32).map_err(|e| text(&e))?;
        let kept = Ledger::new(Arc::clone(self.accountant), self.budget).kept_by(Box::new(book));
        let model = Arc::new(CanaryModel::new(self.setting.clip.gradient()));
        let shard = Shard::seal(vec![OTHER; self.setting.slots]).map_err(|e| text(&e))?;
        let secret = Arc::new(Secret::from_seed(mixed(self.seed, u64::from(boot))));
        let gate = Gate::private(me as u32, model, shard, secret, self.setting.rules(kept));
        let mut gate = self.subject.gate(gate.map_err(|e| text(&e))?);
        gate.restore(resume.rounds, &resume.history).map_err(|e| text(&e))?;
        let place = self.place(me);
        let settings = self.setting.settings.clone().at(place.neighbourhood());
        let node = self.setting.method.start(&Start::zeros(DIMENSION), &settings);
        let setup = Setup {
            place,
            patience: Patience { meet_first: true, ..Patience::default() },
            node: node.map_err(|e| text(&e))?,
            gate: Box::new(gate),
            home,
            saved,
            background: false,
        };
        Ok(self.subject.session(Session::new(setup).map_err(|e| text(&e))?))
    }
}

/// Two processes, a wire between them and somebody who listens.
struct Wire<'a, S: Subject> {
    scene: &'a Scene<'a, S>,
    death: Option<Death>,
    disks: [MemoryDisk; PEERS],
    sessions: [Option<Session>; PEERS],
    boots: [u32; PEERS],
    ended: [bool; PEERS],
    /// A session stopped for no good reason.
    stuck: bool,
    up: bool,
    happenings: VecDeque<(usize, Event)>,
    now: u64,
    vectors_sent: u32,
    /// (sender, exchange) → hashes of everything that was ever sent.
    heard: BTreeMap<(usize, u64), BTreeSet<[u8; 32]>>,
}

impl<'a, S: Subject> Wire<'a, S> {
    fn new(scene: &'a Scene<'a, S>, death: Death) -> Self {
        let disks: [MemoryDisk; PEERS] = Default::default();
        if let Death::Write(write, keep) = death {
            disks[MORTAL].crash_at(write, keep);
        }
        Self {
            scene,
            death: Some(death),
            disks,
            sessions: [None, None],
            boots: [0; PEERS],
            ended: [false; PEERS],
            stuck: false,
            up: false,
            happenings: VecDeque::new(),
            now: 0,
            vectors_sent: 0,
            heard: BTreeMap::new(),
        }
    }

    /// Until both are at their end, or nothing goes on any more.
    fn play(&mut self) {
        for _ in 0..MOST_STEPS {
            if self.stuck || self.ended.iter().all(|ended| *ended) {
                return;
            }
            for node in 0..PEERS {
                if self.sessions[node].is_none() && !self.ended[node] && !self.boot(node) {
                    return;
                }
            }
            match self.happenings.pop_front() {
                Some((node, event)) => self.tell(node, event),
                None => self.wait(),
            }
        }
    }

    /// A new process; false if it refuses to start though its disk is good.
    fn boot(&mut self, node: usize) -> bool {
        self.boots[node] += 1;
        let boot = self.boots[node] * PEERS as u32 + node as u32;
        match self.scene.open(node, &self.disks[node], boot) {
            Ok(session) => {
                self.sessions[node] = Some(session);
                self.tell(node, Event::Start);
                true
            }
            Err(_) => {
                let died = self.disks[node].has_failed();
                self.disks[node].revive();
                died
            }
        }
    }

    fn wait(&mut self) {
        let alarms = self.sessions.iter().flatten().map(|session| session.machine().wake_at());
        self.now = alarms.min().unwrap_or(self.now + 1).max(self.now + 1);
        (0..PEERS).for_each(|node| self.tell(node, Event::Tick));
    }

    fn tell(&mut self, node: usize, event: Event) {
        let Some(session) = self.sessions[node].as_mut() else { return };
        let mut actions = Vec::new();
        let result = session.handle(self.now, event, &mut |action| actions.push(action));
        for action in actions {
            if !self.perform(node, action) {
                return self.die(node);
            }
        }
        match result {
            Ok(None) => {}
            Ok(Some(_)) => {
                self.ended[node] = true;
                self.sessions[node] = None;
            }
            Err(_) if self.disks[node].has_failed() => {
                self.disks[node].revive();
                self.die(node);
            }
            // An error that no death explains: the run does not get to its end.
            Err(_) => self.stuck = true,
        }
    }

    fn die(&mut self, node: usize) {
        self.sessions[node] = None;
        self.hang_up(node);
    }

    fn hang_up(&mut self, node: usize) {
        if std::mem::take(&mut self.up) {
            // What is under way is lost.
            self.happenings.clear();
            self.happenings.push_back((PEERS - 1 - node, Event::Down(node, "the line is dead".into())));
        }
    }

    /// Carries out an action; false if the process dies with it.
    fn perform(&mut self, node: usize, action: Action) -> bool {
        match action {
            Action::Note(_) => {}
            Action::HangUp(..) => self.hang_up(node),
            Action::Dial(peer) if self.sessions[peer].is_none() => {
                self.happenings.push_back((node, Event::Down(peer, "nobody is there".into())));
            }
            Action::Dial(peer) => {
                self.up = true;
                self.happenings.push_back((peer, Event::Up(node)));
                self.happenings.push_back((node, Event::Up(peer)));
            }
            Action::Send { to, frame } => return self.send(node, to, &frame),
        }
        true
    }

    fn send(&mut self, node: usize, to: usize, frame: &Frame) -> bool {
        let vector = frame.header.kind == FrameKind::Vector;
        if vector {
            let hash = *blake3::hash(&frame.payload).as_bytes();
            self.heard.entry((node, frame.header.exchange)).or_default().insert(hash);
        }
        let mut arrives = self.up;
        let mut lives = true;
        if vector && node == MORTAL {
            self.vectors_sent += 1;
            if let Some(Death::Sent(last, delivered)) = self.death
                && last == self.vectors_sent
            {
                self.death = None;
                (lives, arrives) = (false, arrives && delivered);
            }
        }
        let place = self.scene.place(to);
        let expected = place.neighbours.iter().find(|e| e.peer as usize == node);
        if let Some(Ok(frame)) = expected.map(|expected| Frame::decode(&frame.encode(), expected))
            && arrives
        {
            // What arrives is there before the news that the line is dead.
            if !lives {
                self.tell(to, Event::Frame(node, frame));
            } else {
                self.happenings.push_back((to, Event::Frame(node, frame)));
            }
        }
        lives
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subject::Shipped;
    use prdo_algorithm::Method;

    #[test]
    fn every_method_releases_a_round_once_whatever_dies() {
        for method in Method::ALL.iter().copied() {
            let found = restarts(&Shipped, &Setting::sampled(method).unwrap(), 5).unwrap();
            assert!(found.deaths > 20, "{method}: {found:?}");
            assert_eq!((found.second_payloads, found.unfinished), (0, 0), "{method}: {found:?}");
        }
    }
}
