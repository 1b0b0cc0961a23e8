//! One node of a path of three, with its disks: what a driver does, without network and clock.

use blake3::Hasher;
use prdo_accounting::{Event as Charge, Target};
use prdo_algorithm::{Exchanges, Message, Method, Settings};
use prdo_peer::home::{Home, Saved};
use prdo_peer::ledger::LedgerFile;
use prdo_peer::ledger::line::seed;
use prdo_peer::machine::{Effect, Event, Machine, Patience, Place, ResumeError};
use prdo_peer::memory::MemoryDisk;
use prdo_peer::wire::{Expected, Frame, Hello, Mark, Ways, hex};
use prdo_privacy::{Book, Noised, Released, Start};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// Values of a vector.
pub const D: usize = 2;
/// This node; its neighbours are 0 and 2.
pub const ME: u32 = 1;
/// Rounds of the run.
pub const ROUNDS: u32 = 3;
/// The ledger's file.
pub const LEDGER: &str = "ledger";
/// The files of a run's folder.
pub const FILES: [&str; 6] = ["state.0", "state.1", "outgoing.0", "outgoing.1", "outgoing.2", "outgoing.3"];

const RUN: [u8; 32] = [7; 32];
const AGREEMENT: [u8; 32] = [9; 32];
const RECORDS: [u8; 32] = [5; 32];

/// What `me` expects of `peer`, with so many exchanges a round.
pub fn expected(me: u32, peer: u32, exchanges: u32) -> Expected {
    Expected {
        run: RUN,
        agreement: AGREEMENT,
        peer,
        me,
        payload_bytes: 8 * D as u64,
        exchanges: Exchanges::each_round(exchanges, 1),
        rounds: ROUNDS,
        ways: Ways::both(),
    }
}

/// Values that went through the wall.
pub fn released(values: [f64; D]) -> Released<Noised> {
    Released::start(&Start::declared_public(values.to_vec()).expect("finite"))
}

/// The machine of a method with one exchange a round, or of one with two.
pub fn machine(exchanges: u32, saved: &Saved, meet_first: bool) -> Result<Machine, ResumeError> {
    let method = if exchanges == 1 { Method::Ed } else { Method::Mt };
    let node = method.start(&Start::zeros(D), &Settings::new(0.5)).expect("allowed settings");
    let place = Place {
        me: ME,
        rows: vec![vec![(0, 0.25), (1, 0.5), (2, 0.25)]],
        neighbours: vec![expected(ME, 0, exchanges), expected(ME, 2, exchanges)],
        names: ["north", "mid", "south"].map(String::from).to_vec(),
        dimension: D,
        rounds: ROUNDS,
        exchanges: Exchanges::each_round(exchanges, 1),
    };
    Machine::new(place, node, saved, Patience { meet_first, ..Patience::default() })
}

/// A neighbour's vector.
pub fn vector(from: u32, exchanges: u32, exchange: u64, values: [f64; D]) -> Frame {
    Frame::vector(&expected(from, ME, exchanges), exchange, &Message::one(released(values)))
}

/// The disks of a node: its run's folder and its ledger.
pub struct Disks {
    pub home: MemoryDisk,
    pub ledger: MemoryDisk,
}

impl Disks {
    /// Disks with these files.
    pub fn of(home: BTreeMap<String, Vec<u8>>, ledger: BTreeMap<String, Vec<u8>>) -> Self {
        let disks = Self { home: MemoryDisk::new(), ledger: MemoryDisk::new() };
        disks.home.replace(home);
        disks.ledger.replace(ledger);
        disks
    }

    /// Opens ledger and folder as a node does when it starts.
    pub fn open(&self) -> Option<(Home, Saved, Arc<Mutex<LedgerFile>>)> {
        let budget = Target::new(1e6, 1e-5).expect("a budget");
        let mut ledger = LedgerFile::open(Box::new(self.ledger.clone()), LEDGER, &RECORDS, budget).ok()?;
        ledger.begin_run(&RUN, &AGREEMENT, ME, "run").ok()?;
        let ledger = Arc::new(Mutex::new(ledger));
        let home = Home::open(Box::new(self.home.clone()), RUN, AGREEMENT, ME, Arc::clone(&ledger));
        home.ok().map(|(home, saved)| (home, saved, ledger))
    }

    /// A node that has done `rounds` rounds and has released the next one.
    pub fn after(exchanges: u32, rounds: u32) -> Self {
        let disks = Self::of(BTreeMap::new(), BTreeMap::new());
        let (mut home, saved, ledger) = disks.open().expect("empty disks");
        let mut machine = machine(exchanges, &saved, false).expect("nothing saved");
        let mut effects = machine.handle(0, Event::Start);
        for peer in [0, 2] {
            effects.extend(machine.handle(0, Event::Up(peer)));
            let hello = Frame::hello(&expected(peer as u32, ME, exchanges), 0, &Hello::default());
            effects.extend(machine.handle(0, Event::Frame(peer, hello)));
        }
        carry_out(&mut home, &ledger, &mut machine, effects);
        for exchange in 0..u64::from(rounds * exchanges) {
            for peer in [0, 2] {
                let frame = vector(peer, exchanges, exchange, [1.0, -2.0]);
                let effects = machine.handle(0, Event::Frame(peer as usize, frame));
                carry_out(&mut home, &ledger, &mut machine, effects);
            }
        }
        assert_eq!(machine.round(), rounds);
        disks
    }
}

/// What a driver does about effects, until there are none. Nothing that was refused is continued.
pub fn carry_out(
    home: &mut Home,
    ledger: &Arc<Mutex<LedgerFile>>,
    machine: &mut Machine,
    effects: Vec<Effect>,
) {
    let Ok(mut book) = LedgerFile::book(ledger, &RUN, &AGREEMENT, ME) else { return };
    let mut todo = std::collections::VecDeque::from(effects);
    while let Some(effect) = todo.pop_front() {
        let done = match effect {
            Effect::KeepState(state) => home.keep_state(&state).is_ok(),
            Effect::KeepOutgoing(outgoing) => home.keep_outgoing(&outgoing).is_ok(),
            Effect::Ask { round } => {
                let charge = Charge::sampled_gaussian(0.1, 1.0).expect("a charge");
                let entered = book.enter(round, &charge).is_ok();
                if entered {
                    todo.extend(machine.handle(0, Event::Answered(released([f64::from(round), 0.5]))));
                }
                entered
            }
            _ => true,
        };
        if !done {
            return;
        }
    }
}

/// Lines without their hashes become a ledger whose chain is right.
pub fn chained(bodies: &[u8]) -> Vec<u8> {
    let (mut out, mut last) = (Vec::new(), seed());
    for line in bodies.split_inclusive(|byte| *byte == b'\n') {
        match line.strip_suffix(b"}\n") {
            Some(body) => {
                last = *Hasher::new().update(&last).update(body).update(b"}").finalize().as_bytes();
                out.extend(body);
                out.extend(format!(",\"hash\":\"{}\"}}\n", hex(&last)).as_bytes());
            }
            None => out.extend(line),
        }
    }
    out
}

/// The lines of a ledger without their hashes.
pub fn bodies(ledger: &[u8]) -> Vec<u8> {
    let hash = ",\"hash\":\"\"}\n".len() + 64;
    let cut = |line: &[u8]| [&line[..line.len() - hash], b"}\n"].concat();
    ledger.split_inclusive(|byte| *byte == b'\n').flat_map(cut).collect()
}

/// Bytes of a kept record's header, and of the hash at its end.
const RECORD: (usize, usize) = (216, 32);

/// A record whose lengths and hashes fit what is in it; others are left as they are.
pub fn fitting(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let Some(parts) = bytes.len().checked_sub(RECORD.0 + RECORD.1) else { return bytes };
    let (head, rest) = bytes.split_at_mut(RECORD.0);
    let (rest, end) = rest.split_at_mut(parts);
    let wanted = u64::from_le_bytes(head[136..144].try_into().expect("eight bytes"));
    let first = usize::try_from(wanted).unwrap_or(parts).min(parts);
    head[136..144].copy_from_slice(&(first as u64).to_le_bytes());
    head[144..152].copy_from_slice(&((parts - first) as u64).to_le_bytes());
    head[152..184].copy_from_slice(blake3::hash(&rest[..first]).as_bytes());
    head[184..216].copy_from_slice(blake3::hash(&rest[first..]).as_bytes());
    end.copy_from_slice(blake3::hash(head).as_bytes());
    bytes
}

/// The exchange and hash of an encoded vector's frame.
pub fn mark_of(frame: &Frame) -> Mark {
    Mark { exchange: frame.header.exchange, hash: frame.header.hash }
}
