//! A seeded world: virtual time, a network that misbehaves, disks that tear, processes that die. It drives the sessions
//! that ship. The same seed gives the same world, event by event.

use crate::problem::{DIMENSION, Problem};
use prdo_peer::home::Home;
use prdo_peer::ledger::LedgerFile;
use prdo_peer::machine::{Action, Ended, Event, Patience, PeerError};
use prdo_peer::memory::MemoryDisk;
use prdo_peer::session::{Session, SessionError, Setup};
use prdo_peer::wire::{Frame, FrameKind};
use prdo_privacy::Ledger;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::{Arc, Mutex};

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    Nothing,
    Loss,
    Delay,
    Reordering,
    Duplication,
    OneWay,
    Partition,
    Crash,
    TornWrite,
    DiskFull,
    SlowPeer,
    ClockJumps,
    Storm,
    Everything,
}

impl Fault {
    pub const ALL: [Fault; 13] = [
        Fault::Loss,
        Fault::Delay,
        Fault::Reordering,
        Fault::Duplication,
        Fault::OneWay,
        Fault::Partition,
        Fault::Crash,
        Fault::TornWrite,
        Fault::DiskFull,
        Fault::SlowPeer,
        Fault::ClockJumps,
        Fault::Storm,
        Fault::Everything,
    ];

    fn has(self, other: Fault) -> bool {
        self == other || self == Fault::Everything
    }
}

/// Chance from a seed.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed ^ 0x5851_f42d_4c95_7f2d)
    }
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n.max(1)
    }
    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

#[derive(Debug)]
enum What {
    Deliver {
        from: usize,
        to: usize,
        generation: u64,
        bytes: Arc<[u8]>,
    },
    Up {
        node: usize,
        peer: usize,
        generation: u64,
    },
    Down {
        node: usize,
        peer: usize,
        generation: u64,
    },
    Wake {
        node: usize,
    },
    Boot {
        node: usize,
    },
    /// The end of a link whose one side has closed it after sending everything.
    Closed {
        node: usize,
        peer: usize,
        generation: u64,
    },
    Trouble,
}

#[derive(Clone, Copy, Default)]
struct Link {
    generation: u64,
    up: bool,
    /// Until then it carries nothing (full partition).
    cut_until: u64,
    /// Until then it carries nothing from the lower to the higher number, silently.
    deaf_until: [u64; 2],
    last_delivery: [u64; 2],
}

struct Process {
    session: Option<Session>,
    disk: MemoryDisk,
    ended: Option<Ended>,
    clock: i64,
    slow: u64,
    busy_until: u64,
    wake: u64,
    boots: u32,
    /// All its rounds are done, whether or not others know.
    done: bool,
    /// At which write its first process dies, and how much of it stays.
    kill: Option<(u64, usize)>,
}

pub struct World {
    pub problem: Problem,
    fault: Fault,
    dice: Dice,
    now: u64,
    queue: BinaryHeap<Reverse<(u64, u64)>>,
    happenings: BTreeMap<u64, What>,
    counter: u64,
    links: BTreeMap<(usize, usize), Link>,
    processes: Vec<Process>,
    /// (sender, exchange) → payload of everything ever sent.
    sent: BTreeMap<(usize, u64), Vec<u8>>,
    /// Whether every process draws from a secret of its own, as real ones do: what is drawn twice then differs.
    fresh: bool,
    troubles: u32,
    pub log: Vec<String>,
}

const LATENCY: u64 = 5;

impl World {
    pub fn new(problem: Problem, fault: Fault, seed: u64) -> Self {
        let process = |_| Process {
            session: None,
            disk: MemoryDisk::new(),
            ended: None,
            clock: 0,
            slow: 0,
            busy_until: 0,
            wake: u64::MAX,
            boots: 0,
            done: false,
            kill: None,
        };
        let processes = (0..problem.nodes).map(process).collect();
        let mut world = Self {
            dice: Dice::new(seed),
            fault,
            now: 0,
            queue: BinaryHeap::new(),
            happenings: BTreeMap::new(),
            counter: 0,
            links: BTreeMap::new(),
            processes,
            sent: BTreeMap::new(),
            fresh: false,
            troubles: 0,
            log: Vec::new(),
            problem,
        };
        for node in 0..world.problem.nodes {
            let at = world.dice.below(200);
            world.later(at, What::Boot { node });
        }
        if fault.has(Fault::SlowPeer) {
            let slow = world.dice.below(world.problem.nodes as u64) as usize;
            world.processes[slow].slow = 20_000 + world.dice.below(100_000);
        }
        world.later(10, What::Trouble);
        world
    }

    /// Every process draws from a secret of its own.
    pub fn with_fresh_secrets(mut self) -> Self {
        self.fresh = true;
        self
    }

    /// The node dies at its `point`-th durable write, of which `keep` bytes stay.
    pub fn kill_at(&mut self, node: usize, point: u64, keep: usize) {
        self.processes[node].kill = Some((point, keep));
    }

    /// Whether the node had to be started more than once.
    pub fn has_died(&self, node: usize) -> bool {
        self.processes[node].boots > 1
    }

    fn later(&mut self, wait: u64, what: What) {
        self.counter += 1;
        self.queue.push(Reverse((self.now + wait, self.counter)));
        self.happenings.insert(self.counter, what);
    }

    /// Runs until every node has finished.
    ///
    /// # Errors
    /// A hang, or an error that nobody should get here.
    pub fn run(&mut self) -> Result<(), String> {
        let mut steps = 0;
        while !self.processes.iter().all(|p| p.ended.is_some()) {
            steps += 1;
            let Some(Reverse((at, number))) = self.queue.pop() else {
                return Err("nothing happens any more".into());
            };
            if steps > 300_000 || at > 1_000 * 3_600_000 {
                return Err(format!("a hang: {steps} steps, {} virtual s", at / 1000));
            }
            self.now = at;
            if let Some(what) = self.happenings.remove(&number) {
                self.happen(what)?;
            }
        }
        Ok(())
    }

    fn happen(&mut self, what: What) -> Result<(), String> {
        match what {
            What::Boot { node } => self.boot(node),
            What::Trouble => {
                self.trouble();
                Ok(())
            }
            What::Wake { node } => {
                if self.processes[node].wake > self.now {
                    return Ok(());
                }
                self.processes[node].wake = u64::MAX;
                self.tell(node, Event::Tick)
            }
            What::Closed { node, peer, generation } if self.current(node, peer, generation) => {
                self.take_down(node, peer);
                Ok(())
            }
            What::Up { node, peer, generation } if self.current(node, peer, generation) => {
                self.tell(node, Event::Up(peer))
            }
            What::Down { node, peer, generation } if self.link(node, peer).generation == generation => {
                self.tell(node, Event::Down(peer, "the line is dead".into()))
            }
            What::Deliver { from, to, generation, bytes } if self.current(from, to, generation) => {
                let expected = self.problem.place(to).neighbours;
                let Some(expected) = expected.iter().find(|e| e.peer as usize == from) else { return Ok(()) };
                let frame =
                    Frame::decode(&bytes, expected).map_err(|e| format!("a frame that is none: {e}"))?;
                self.tell(to, Event::Frame(from, frame))
            }
            _ => Ok(()),
        }
    }

    fn link(&mut self, a: usize, b: usize) -> &mut Link {
        self.links.entry((a.min(b), a.max(b))).or_default()
    }

    fn current(&mut self, a: usize, b: usize, generation: u64) -> bool {
        let link = self.link(a, b);
        link.up && link.generation == generation
    }

    fn boot(&mut self, node: usize) -> Result<(), String> {
        let process = &mut self.processes[node];
        if process.session.is_some() || process.ended.is_some() {
            return Ok(());
        }
        process.disk.revive();
        process.boots += 1;
        process.busy_until = 0;
        if let Some((point, keep)) = process.kill.take() {
            process.disk.crash_at(point, keep);
        }
        if self.fault.has(Fault::TornWrite) && process.boots < 6 {
            let (n, keep) = (1 + self.dice.below(12), self.dice.below(400) as usize);
            self.processes[node].disk.crash_at(n, keep);
        }
        if self.fault.has(Fault::DiskFull) && self.processes[node].boots.is_multiple_of(2) {
            let n = 1 + self.dice.below(12);
            self.processes[node].disk.fill_at(n, n as usize);
        }
        match self.open(node) {
            Ok(session) => {
                self.processes[node].session = Some(session);
                self.tell(node, Event::Start)
            }
            // A disk that dies while the folder is opened is one more crash.
            Err(why) if self.processes[node].disk.has_failed() => {
                self.log.push(format!("{}: {node} died at its start: {why}", self.now));
                self.processes[node].disk.revive();
                self.later(1000, What::Boot { node });
                Ok(())
            }
            Err(why) => Err(format!("node {node} does not start again: {why}")),
        }
    }

    fn open(&self, node: usize) -> Result<Session, String> {
        let (process, mut problem) = (&self.processes[node], self.problem.clone());
        if self.fresh {
            problem.seed = problem.seed * 10_000 + u64::from(process.boots);
        }
        open(&problem, node, &process.disk, false)
    }

    /// Hands an event to a node and does what it wants done.
    fn tell(&mut self, node: usize, event: Event) -> Result<(), String> {
        let (now, process) = (self.now, &mut self.processes[node]);
        if process.busy_until > now && process.slow > 0 {
            // A slow process looks at what happened only when it is done with what it does.
            let wait = process.busy_until - now;
            return self.postpone(wait, node, event);
        }
        let Some(session) = process.session.as_mut() else { return Ok(()) };
        let clock = now.saturating_add_signed(process.clock);
        let mut actions = Vec::new();
        let round = session.machine().round();
        let result = session.handle(clock, event, &mut |action| actions.push(action));
        if session.machine().round() != round {
            process.busy_until = now + process.slow;
        }
        for action in actions {
            self.perform(node, action)?;
        }
        match result {
            Ok(None) => {
                self.plan_wake(node);
                Ok(())
            }
            Ok(Some(ended)) => {
                self.finish(node, ended);
                Ok(())
            }
            Err(error) => self.fall(node, error),
        }
    }

    fn postpone(&mut self, wait: u64, node: usize, event: Event) -> Result<(), String> {
        match event {
            Event::Frame(from, frame) => {
                let generation = self.link(node, from).generation;
                self.later(wait, What::Deliver { from, to: node, generation, bytes: frame.encode() });
            }
            Event::Up(peer) => {
                let generation = self.link(node, peer).generation;
                self.later(wait, What::Up { node, peer, generation });
            }
            Event::Down(peer, _) => {
                let generation = self.link(node, peer).generation;
                self.later(wait, What::Down { node, peer, generation });
            }
            _ => {}
        }
        self.processes[node].wake = self.processes[node].wake.min(self.now + wait);
        self.later(wait, What::Wake { node });
        Ok(())
    }

    fn plan_wake(&mut self, node: usize) {
        let process = &mut self.processes[node];
        let Some(session) = &process.session else { return };
        let clock = self.now.saturating_add_signed(process.clock);
        let wait = session.machine().wake_at().saturating_sub(clock).max(1);
        if process.wake > self.now + wait {
            process.wake = self.now + wait;
            self.later(wait, What::Wake { node });
        }
    }

    /// A session ended well; it is started again if somebody may still need it, as a person would.
    fn finish(&mut self, node: usize, ended: Ended) {
        for peer in 0..self.problem.nodes {
            let generation = self.link(node, peer).generation;
            self.later(100, What::Closed { node, peer, generation });
        }
        let session = self.processes[node].session.take();
        self.log.push(format!("{}: {node} ended: {ended:?}", self.now));
        let Ended::Finished { unconfirmed } = &ended else { panic!("nobody stopped it") };
        self.processes[node].done = true;
        let waits = |(i, p): (usize, &Process)| !p.done && unconfirmed.contains(&format!("org-{i}"));
        if self.processes.iter().enumerate().any(waits) {
            return self.later(60_000, What::Boot { node });
        }
        assert_eq!(
            session.map_or(0, |s| s.machine().round()),
            self.problem.rounds,
            "node {node} ended early"
        );
        self.processes[node].ended = Some(ended);
    }

    /// A session stopped with an error: those that faults explain are followed by a new start.
    fn fall(&mut self, node: usize, error: SessionError) -> Result<(), String> {
        self.log.push(format!("{}: {node} stopped: {error}", self.now));
        self.hang_up_all(node);
        let process = &mut self.processes[node];
        process.session = None;
        let explained = match &error {
            SessionError::Peer(PeerError::GaveUp { .. } | PeerError::NotMet { .. }) => true,
            SessionError::Home(_) | SessionError::Gate { .. } => process.disk.has_failed(),
            _ => false,
        };
        if !explained {
            return Err(format!("node {node}: {error}"));
        }
        self.later(2_000, What::Boot { node });
        Ok(())
    }

    fn hang_up_all(&mut self, node: usize) {
        for peer in 0..self.problem.nodes {
            if peer != node && self.link(node, peer).up {
                self.take_down(node, peer);
            }
        }
    }

    /// The link goes down and the other side hears of it after a while.
    fn take_down(&mut self, node: usize, peer: usize) {
        let link = self.link(node, peer);
        link.up = false;
        let generation = link.generation;
        let wait = LATENCY + self.dice.below(2_000);
        self.later(wait, What::Down { node: peer, peer: node, generation });
    }

    fn perform(&mut self, node: usize, action: Action) -> Result<(), String> {
        match action {
            Action::Note(note) => self.log.push(format!("{}: {node} says: {note}", self.now)),
            Action::Dial(peer) => self.dial(node, peer),
            Action::HangUp(peer, _) => {
                if self.link(node, peer).up {
                    self.take_down(node, peer);
                }
            }
            Action::Send { to, frame } => {
                self.capture(node, &frame)?;
                self.send(node, to, frame.encode());
            }
        }
        Ok(())
    }

    fn dial(&mut self, node: usize, peer: usize) {
        let now = self.now;
        let reachable = self.processes[peer].session.is_some() && self.link(node, peer).cut_until <= now;
        if !reachable {
            let wait = LATENCY + self.dice.below(1_000);
            let generation = self.link(node, peer).generation;
            return self.later(wait, What::Down { node, peer, generation });
        }
        let link = self.link(node, peer);
        // Both sides hear of it before the first frame comes.
        *link = Link { generation: link.generation + 1, up: true, last_delivery: [now + 30; 2], ..*link };
        let generation = link.generation;
        self.later(LATENCY, What::Up { node, peer, generation });
        let wait = LATENCY + self.dice.below(20);
        self.later(wait, What::Up { node: peer, peer: node, generation });
    }

    /// Everything ever sent: one payload for an exchange, whoever asks and however often. Who mixes none of it is sent nothing.
    fn capture(&mut self, node: usize, Frame { header, payload }: &Frame) -> Result<(), String> {
        if header.kind != FrameKind::Vector {
            return Ok(());
        }
        let heard = self.problem.mixing.at(header.round).weight(header.receiver as usize, node) != 0.0;
        if !heard {
            return match payload.is_empty() {
                true => Ok(()),
                false => {
                    Err(format!("node {node} sent exchange {} to one that mixes none of it", header.exchange))
                }
            };
        }
        self.check_keys(node, header.round)?;
        let first = self.sent.entry((node, header.exchange)).or_insert_with(|| payload.to_vec());
        match first[..] == payload[..] {
            true => Ok(()),
            false => Err(format!("node {node} sent two different payloads for exchange {}", header.exchange)),
        }
    }

    /// When a message of a round leaves, nothing on the sender's disk is a key of that round's shares or of earlier ones.
    fn check_keys(&self, node: usize, round: u32) -> Result<(), String> {
        let Some(mut keys) = self.problem.share_keys(node) else { return Ok(()) };
        let files = self.processes[node].disk.files();
        for gone in 0..=u64::from(round) {
            keys.advance_to(gone).unwrap();
            for key in keys.save().chunks(36).map(|kept| &kept[4..]) {
                let has = |bytes: &[u8]| bytes.windows(key.len()).any(|window| window == key);
                if let Some((name, _)) = files.iter().find(|(name, bytes)| *name != "ledger" && has(bytes)) {
                    return Err(format!(
                        "node {node} sends round {round} with a key of round {gone} in {name}"
                    ));
                }
            }
        }
        Ok(())
    }

    fn send(&mut self, from: usize, to: usize, bytes: Arc<[u8]>) {
        let (fault, now) = (self.fault, self.now);
        let direction = usize::from(from > to);
        let link = *self.link(from, to);
        if !link.up || link.cut_until > now || link.deaf_until[direction] > now {
            return;
        }
        if fault.has(Fault::Loss) && self.dice.chance(15) {
            return;
        }
        let copies = if fault.has(Fault::Duplication) { 1 + self.dice.below(3) } else { 1 };
        for _ in 0..copies {
            let spread = match () {
                () if fault.has(Fault::Delay) && self.dice.chance(30) => 8_000,
                () if fault.has(Fault::Reordering) => 500,
                () => 3,
            };
            let mut at = now + 25 + self.dice.below(spread);
            if !fault.has(Fault::Reordering) {
                at = at.max(link.last_delivery[direction] + 1);
            }
            self.link(from, to).last_delivery[direction] = at;
            self.later(
                at - now,
                What::Deliver { from, to, generation: link.generation, bytes: bytes.clone() },
            );
        }
    }

    /// The world itself does something now and then.
    fn trouble(&mut self) {
        self.troubles += 1;
        if self.troubles > 40 {
            return;
        }
        let (n, now) = (self.problem.nodes as u64, self.now);
        let (a, b) = (self.dice.below(n) as usize, self.dice.below(n) as usize);
        if self.fault.has(Fault::Crash) && self.dice.chance(40) && self.processes[a].session.is_some() {
            self.log.push(format!("{now}: {a} is killed"));
            self.processes[a].session = None;
            self.hang_up_all(a);
            let wait = self.dice.below(20_000);
            self.later(wait, What::Boot { node: a });
        }
        if a != b && self.fault.has(Fault::Partition) {
            self.link(a, b).cut_until = now + 1 + self.now % 30_000;
            if self.link(a, b).up {
                self.take_down(a, b);
                self.take_down(b, a);
            }
        }
        if a != b && self.fault.has(Fault::OneWay) {
            let until = now + self.dice.below(200_000);
            self.link(a, b).deaf_until[usize::from(a > b)] = until;
        }
        if a != b && self.fault.has(Fault::Storm) && self.link(a, b).up {
            self.take_down(a, b);
            self.take_down(b, a);
        }
        if self.fault.has(Fault::ClockJumps) {
            let jump = self.dice.below(8_000_000) as i64 - 3_000_000;
            self.processes[a].clock = self.processes[a].clock.saturating_add(jump).max(-(now as i64));
        }
        let wait = match self.fault.has(Fault::Storm) {
            true => 5 + self.dice.below(60),
            false => 5 + self.dice.below(400),
        };
        self.later(wait, What::Trouble);
    }

    /// Every node's model is what the payloads of the last exchange give, as everybody saw them, and every ledger holds
    /// every charge once.
    pub fn check_against_what_was_sent(&self) -> Result<(), String> {
        let last = self.problem.place(0).all_exchanges() - 1;
        for node in 0..self.problem.nodes {
            let mut model = vec![0.0; DIMENSION];
            for (term, (member, weight)) in
                self.problem.place(node).row(self.problem.rounds - 1).iter().enumerate()
            {
                let payload =
                    self.sent.get(&(*member as usize, last)).ok_or("a last message was never sent")?;
                for (x, value) in model.iter_mut().zip(payload.chunks_exact(8)) {
                    let value = weight * f64::from_le_bytes(value.try_into().unwrap());
                    *x = if term == 0 { value } else { *x + value };
                }
            }
            self.check_node(node, &model)?;
        }
        Ok(())
    }

    /// Every node's model is the simulator's, and every ledger holds every charge once.
    pub fn check(&self) -> Result<(), String> {
        let reference = self.problem.reference();
        reference.iter().enumerate().try_for_each(|(node, model)| self.check_node(node, model))
    }

    fn check_node(&self, node: usize, reference: &[f64]) -> Result<(), String> {
        let disk = &self.processes[node].disk;
        disk.revive();
        let session = open(&self.problem, node, disk, false)?;
        if session.machine().model() != reference {
            return Err(format!("node {node}: {:?} is not {reference:?}", session.machine().model()));
        }
        let ledger = LedgerFile::open(Box::new(disk.clone()), "ledger", &[7; 32], self.problem.budget);
        let charged = ledger.map_err(|e| e.to_string())?.contents().history().len();
        match charged == u64::from(self.problem.rounds) {
            true => Ok(()),
            false => Err(format!("node {node}: {charged} charges for {} rounds", self.problem.rounds)),
        }
    }
}

/// A node's session from its disk, as a process would make it.
pub fn open(problem: &Problem, node: usize, disk: &MemoryDisk, background: bool) -> Result<Session, String> {
    let text = |e: &dyn std::fmt::Display| e.to_string();
    let (run, agreement) = ([1; 32], [2; 32]);
    let mut ledger =
        LedgerFile::open(Box::new(disk.clone()), "ledger", &[7; 32], problem.budget).map_err(|e| text(&e))?;
    ledger.begin_run(&run, &agreement, node as u32, "test").map_err(|e| text(&e))?;
    let ledger = Arc::new(Mutex::new(ledger));
    let payloads = problem.place(node).kept_payloads();
    let disk_of_run = Box::new(disk.clone());
    let opened = Home::open(disk_of_run, run, agreement, node as u32, Arc::clone(&ledger), payloads);
    let (mut home, saved) = opened.map_err(|e| text(&e))?;
    let resume = ledger.lock().unwrap().resume(&run).map_err(|e| text(&e))?;
    let book = LedgerFile::book(&ledger, &run, &agreement, node as u32).map_err(|e| text(&e))?;
    let kept = Ledger::new(Arc::clone(&problem.accountant), problem.budget).kept_by(Box::new(book));
    if home.share_keys().is_none()
        && let Some(keys) = problem.share_keys(node)
    {
        home.begin_shares(keys).map_err(|e| text(&e))?;
    }
    let mut gate = problem.gate(node, kept, home.share_keys().cloned());
    gate.restore(resume.rounds, &resume.history).map_err(|e| text(&e))?;
    let setup = Setup {
        place: problem.place(node),
        patience: Patience { meet_first: true, ..Patience::default() },
        node: problem.node(node).map_err(|e| text(&e))?,
        gate: Box::new(gate),
        home,
        saved,
        background,
    };
    Session::new(setup).map_err(|e| text(&e))
}
