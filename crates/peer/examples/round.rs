//! What being separate organisations adds to a round: three whole nodes in a ring on this machine, each with its ledger
//! and folder on the disk and linked over QUIC, against the same three nodes (same gates, same threads) that hand each
//! other their messages in memory and write nothing.
//!
//!     cargo run --release -p prdo-peer --features iroh --example round -- [ROUNDS [PARAMETERS]]
//!
//! Printed: the median time of a round at one node in both cases, and the difference: durable writes, hashing, sending
//! to and receiving from two neighbours, beside a plain write and fdatasync of the same bytes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use prdo_accounting::{Accountant, Target};
use prdo_algorithm::graph::{Graph, Mixing, Weights};
use prdo_algorithm::{Exchanges, Inbox, Method, Settings};
use prdo_peer::dir::Directory;
use prdo_peer::driver::{self, Watch};
use prdo_peer::home::Home;
use prdo_peer::iroh::{Links, Neighbour};
use prdo_peer::ledger::LedgerFile;
use prdo_peer::machine::{Note, Patience, Place};
use prdo_peer::session::{Session, Setup};
use prdo_peer::transport::{Open, Reason};
use prdo_peer::wire::{Expected, HEADER, Ways};
use prdo_privacy::{
    Answer, Answerer, Batches, Clip, Gate, GateError, Ledger, Model, Noised, PrivateRules, Query, Secret,
    Shard, Start,
};
use std::io::Write;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Barrier, Mutex};
use std::time::{Duration, Instant};

const NODES: usize = 3;
const WARM_UP: usize = 5;
const IDS: ([u8; 32], [u8; 32]) = ([1; 32], [2; 32]);

/// ℓ(x; r) = ½‖x − r‖² with constant records: next to no work.
struct Mean(usize);

impl Model for Mean {
    type Data = Vec<f64>;
    fn dimension(&self) -> usize {
        self.0
    }
    fn loss(&self, x: &[f64], data: &Self::Data, r: usize) -> f64 {
        x.iter().map(|x| 0.5 * (x - data[r]).powi(2)).sum()
    }
    fn gradient(&self, x: &[f64], data: &Self::Data, r: usize, gradient: &mut [f64]) {
        gradient.iter_mut().zip(x).for_each(|(g, x)| *g = x - data[r]);
    }
}

/// A gate that counts its time.
struct Timed(Gate<Mean, Noised>, Arc<Mutex<Vec<Duration>>>);

impl Answerer for Timed {
    fn answer(&mut self, round: u32, query: &Query<'_, Noised>) -> Result<Answer<Noised>, GateError> {
        let began = Instant::now();
        let answer = Answerer::answer(&mut self.0, round, query);
        self.1.lock().unwrap().push(began.elapsed());
        answer
    }
    fn spent(&self) -> f64 {
        0.0
    }
    fn budget(&self) -> Target {
        Answerer::budget(&self.0)
    }
}

struct Clock(Vec<Instant>);

impl Watch for Clock {
    fn note(&mut self, note: &Note) {
        if let Note::Round { .. } = note {
            self.0.push(Instant::now());
        }
    }
    fn refused(&mut self, who: &str, why: &Reason) {
        panic!("{who}: {why}");
    }
    fn look(&mut self, _: &Session) {}
}

fn main() {
    // As `prdo node run` does.
    prdo_kernels::keep_freed_memory();
    let mut arguments = std::env::args().skip(1).map(|word| word.parse::<usize>().expect("a number"));
    let rounds = arguments.next().unwrap_or(60) + WARM_UP;
    let dimension = arguments.next().unwrap_or(275_000);
    let folder = tempfile::tempdir().unwrap();
    println!("{NODES} nodes in a ring, {dimension} parameters, messages of {} bytes", 8 * dimension);
    println!("header of a message: {HEADER} bytes, {:.4} %", 100.0 * HEADER as f64 / (8 * dimension) as f64);
    println!(
        "write and fdatasync of one message: {:.2} ms (median)",
        plain_write(folder.path(), 8 * dimension)
    );
    for method in [Method::Ed, Method::Prdo] {
        let together = in_memory(method, rounds, dimension, &folder.path().join(format!("{method}-memory")));
        let (round, gate) = measure(method, rounds, dimension, &folder.path().join(method.to_string()));
        println!(
            "{method}: {round:.2} ms a round ({gate:.2} in the gate), {together:.2} in one process without links and \
             writes: these add {:.2} ms",
            round - together
        );
    }
}

fn plain_write(folder: &Path, bytes: usize) -> f64 {
    let data = vec![7u8; bytes];
    let mut file = std::fs::File::create(folder.join("plain")).unwrap();
    let once = |file: &mut std::fs::File| {
        let began = Instant::now();
        std::io::Seek::rewind(file).unwrap();
        file.write_all(&data).unwrap();
        file.sync_data().unwrap();
        began.elapsed()
    };
    median((0..20).map(|_| once(&mut file)).collect())
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1e3
}

/// The median round of node 1 and, of it, the gate's part.
fn measure(method: Method, rounds: usize, dimension: usize, folder: &Path) -> (f64, f64) {
    let mixing = Mixing::new(&Graph::ring(NODES).unwrap(), Weights::Metropolis, true).unwrap();
    let mut at: Vec<Option<SocketAddr>> = vec![None; NODES];
    let mut nodes = Vec::new();
    for me in (0..NODES).rev() {
        let place = place(&mixing, me, dimension, rounds as u32);
        let neighbours = place.neighbours.iter().map(|e| neighbour(e, &at)).collect();
        let links = Links::open(prdo_peer::iroh::Setup {
            member: me,
            secret: secret(me).into(),
            listen: "127.0.0.1:0".parse().unwrap(),
            neighbours,
            relay: None,
            looks: false,
        });
        let links = links.unwrap();
        at[me] = Some(links.local_address());
        let times = Arc::new(Mutex::new(Vec::new()));
        let setup = setup(method, place, &folder.join(me.to_string()), Arc::clone(&times), true);
        nodes.push((setup, links, times));
    }
    let run = |(setup, mut links, times): (Setup, Links, Arc<Mutex<Vec<Duration>>>)| {
        std::thread::spawn(move || {
            let mut clock = Clock(Vec::new());
            driver::run(setup, &mut links, &mut clock, &AtomicBool::new(false)).unwrap();
            let rounds = clock.0.windows(2).map(|pair| pair[1] - pair[0]).skip(WARM_UP).collect();
            let gate = times.lock().unwrap().split_off(WARM_UP);
            (median(rounds), median(gate))
        })
    };
    let threads: Vec<_> = nodes.into_iter().map(run).collect();
    threads.into_iter().map(|thread| thread.join().unwrap()).nth(1).unwrap()
}

/// The median round of node 1 when the same nodes exchange in memory and keep nothing.
fn in_memory(method: Method, rounds: usize, dimension: usize, folder: &Path) -> f64 {
    let mixing = Mixing::new(&Graph::ring(NODES).unwrap(), Weights::Metropolis, true).unwrap();
    let (table, barrier) = (Arc::new(Mutex::new(vec![None; NODES])), Arc::new(Barrier::new(NODES)));
    let run = |me: usize| {
        let place = place(&mixing, me, dimension, rounds as u32);
        let weights: Vec<f64> = place.row(0).iter().map(|(_, weight)| *weight).collect();
        let setup = setup(method, place, &folder.join(me.to_string()), Arc::default(), false);
        let (mut node, mut gate) = (setup.node, setup.gate);
        let (table, barrier) = (Arc::clone(&table), Arc::clone(&barrier));
        std::thread::spawn(move || {
            let mut ends = Vec::new();
            // Twice at the barrier: nobody's next message replaces one that is not mixed yet.
            for round in 0..rounds as u32 {
                let answer = gate.answer(round, &node.query()).unwrap();
                let message = node.adapt(answer.released).unwrap();
                table.lock().unwrap()[me] = Some(Arc::new(message));
                barrier.wait();
                let all: Vec<_> = table.lock().unwrap().iter().cloned().map(Option::unwrap).collect();
                assert!(
                    node.mix(&Inbox::new(&weights, all.iter().map(|message| &**message).collect())).is_none()
                );
                barrier.wait();
                ends.push(Instant::now());
            }
            median(ends.windows(2).map(|pair| pair[1] - pair[0]).skip(WARM_UP).collect())
        })
    };
    let threads: Vec<_> = (0..NODES).map(run).collect();
    threads.into_iter().map(|thread| thread.join().unwrap()).nth(1).unwrap()
}

fn secret(member: usize) -> [u8; 32] {
    [member as u8 + 1; 32]
}

fn neighbour(expected: &Expected, at: &[Option<SocketAddr>]) -> Neighbour {
    let member = expected.peer as usize;
    let key = *iroh::SecretKey::from_bytes(&secret(member)).public().as_bytes();
    let addresses = at[member].into_iter().collect();
    Neighbour { member, name: format!("org-{member}"), key, addresses, expected: expected.clone() }
}

fn place(mixing: &Mixing, me: usize, dimension: usize, rounds: u32) -> Place {
    let (columns, weights) = mixing.row(me);
    let expected = |peer: u32| Expected {
        run: IDS.0,
        agreement: IDS.1,
        peer,
        me: me as u32,
        payload_bytes: 8 * dimension as u64,
        final_bytes: 8 * dimension as u64,
        exchanges: Exchanges::ONE,
        rounds,
        ways: Ways::both(),
    };
    Place {
        me: me as u32,
        rows: vec![columns.iter().copied().zip(weights.iter().copied()).collect()],
        neighbours: columns.iter().filter(|j| **j as usize != me).map(|j| expected(*j)).collect(),
        names: (0..NODES).map(|i| format!("org-{i}")).collect(),
        dimension,
        rounds,
        exchanges: Exchanges::ONE,
    }
}

fn setup(
    method: Method,
    place: Place,
    folder: &Path,
    times: Arc<Mutex<Vec<Duration>>>,
    durable: bool,
) -> Setup {
    let (dimension, me) = (place.dimension, place.me);
    let budget = Target::new(1e4, 1e-5).unwrap();
    std::fs::create_dir_all(folder).unwrap();
    let directory = Directory::open(folder).unwrap();
    let mut ledger =
        LedgerFile::open(Box::new(directory.inside("ledger").unwrap()), "ledger", &[7; 32], budget).unwrap();
    ledger.begin_run(&IDS.0, &IDS.1, me, "benchmark").unwrap();
    let ledger = Arc::new(Mutex::new(ledger));
    let (home, saved) = Home::open(Box::new(directory), IDS.0, IDS.1, me, Arc::clone(&ledger), 2).unwrap();
    let book = LedgerFile::book(&ledger, &IDS.0, &IDS.1, me).unwrap();
    let accountant = Accountant::new(prdo_accounting::Method::Renyi);
    let ledger_of_run = Ledger::new(Arc::new(accountant), budget);
    let rules = PrivateRules {
        batches: Batches::new(4, 4),
        clip: Clip::new(1.0, 0.5).unwrap(),
        noise_multiplier: 2.0,
        ledger: if durable { ledger_of_run.kept_by(Box::new(book)) } else { ledger_of_run },
    };
    let shard = Shard::seal(vec![0.5; 40]).unwrap();
    let secret = Arc::new(Secret::from_operating_system().unwrap());
    let gate = Gate::private(me, Arc::new(Mean(dimension)), shard, secret, rules).unwrap();
    let node = method.start(&Start::zeros(dimension), &Settings::new(0.1).gamma(0.5)).unwrap();
    let patience = Patience { linger: 2_000, ..Patience::default() };
    Setup { place, patience, node, gate: Box::new(Timed(gate, times)), home, saved, background: true }
}
