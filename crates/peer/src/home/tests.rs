use super::*;
use crate::memory::MemoryDisk;
use prdo_accounting::{Event, Target};
use prdo_privacy::{Book, PairKey, ShareKeys};
use proptest::prelude::*;
use std::collections::BTreeMap;

const RUN: Hash = [1; 32];
const AGREEMENT: Hash = [2; 32];
const MEMBER: u32 = 3;

/// The disks of one node: its ledger and its run's folder.
#[derive(Clone)]
struct Disks {
    ledger: MemoryDisk,
    home: MemoryDisk,
}

/// A node that goes through rounds of `k` exchanges, as the driver does, and remembers all that left it.
struct Node {
    home: Home,
    ledger: Arc<Mutex<LedgerFile>>,
    book: Box<dyn Book>,
    saved: Saved,
    k: u64,
}

type Sent = BTreeMap<u64, Arc<[u8]>>;

impl Disks {
    fn new() -> Self {
        Self { ledger: MemoryDisk::new(), home: MemoryDisk::new() }
    }

    fn revive(&self) {
        self.ledger.revive();
        self.home.revive();
    }

    fn snapshot(&self) -> (BTreeMap<String, Vec<u8>>, BTreeMap<String, Vec<u8>>) {
        (self.ledger.files(), self.home.files())
    }

    fn start(&self, k: u64) -> Result<Node, HomeError> {
        self.start_as(k, RUN, AGREEMENT, MEMBER)
    }

    fn start_as(&self, k: u64, run: Hash, agreement: Hash, member: u32) -> Result<Node, HomeError> {
        let budget = Target::new(1e6, 1e-5).unwrap();
        let mut ledger = LedgerFile::open(Box::new(self.ledger.clone()), "ledger", &[7; 32], budget)?;
        ledger.begin_run(&run, &agreement, member, "run")?;
        let ledger = Arc::new(Mutex::new(ledger));
        let (home, saved) = Home::open(
            Box::new(self.home.clone()),
            run,
            agreement,
            member,
            Arc::clone(&ledger),
            k as usize + 1,
        )?;
        let book = Box::new(LedgerFile::book(&ledger, &run, &agreement, member)?);
        Ok(Node { home, ledger, book, saved, k })
    }
}

fn share_keys() -> ShareKeys {
    let key = |partner| (partner, PairKey::agreed(&[4; 32], &AGREEMENT, MEMBER, partner));
    ShareKeys::new(0, [0, 1, 2].map(key))
}

/// The files in which a key of this round is.
fn files_with_keys_of(round: u64, disks: &Disks) -> Vec<String> {
    let mut keys = share_keys();
    keys.advance_to(round).unwrap();
    let saved = keys.save();
    let has = |bytes: &[u8]| saved.chunks(36).any(|key| bytes.windows(32).any(|window| *window == key[4..]));
    let files = disks.home.files().into_iter().chain(disks.ledger.files());
    files.filter(|(_, bytes)| has(bytes)).map(|(name, _)| name).collect()
}

#[test]
fn share_keys_move_on_with_what_is_kept_and_leave_nothing_behind() {
    let disks = Disks::new();
    let (mut draw, mut sent) = (0, Sent::new());
    let mut node = disks.start(2).unwrap();
    assert_eq!(node.home.share_keys(), None);
    node.home.begin_shares(share_keys()).unwrap();
    assert!(matches!(node.home.begin_shares(share_keys()), Err(HomeError::Order(_))));
    for rounds in 1..6 {
        node.run(rounds, &mut draw, &mut sent).unwrap();
        node = disks.start(2).unwrap();
        let kept = node.home.share_keys().unwrap();
        assert_eq!(kept.round(), u64::from(rounds));
        for gone in 0..u64::from(rounds) {
            assert_eq!(files_with_keys_of(gone, &disks), Vec::<String>::new(), "round {gone} after {rounds}");
        }
        assert_eq!(files_with_keys_of(u64::from(rounds), &disks).len(), 1);
    }
    assert!(matches!(node.home.begin_shares(share_keys()), Err(HomeError::Order(_))));
}

#[test]
fn share_keys_of_another_time_are_refused() {
    let disks = Disks::new();
    let (mut draw, mut sent) = (0, Sent::new());
    let mut node = disks.start(1).unwrap();
    node.home.begin_shares(share_keys()).unwrap();
    let mut snapshots = vec![disks.snapshot()];
    for rounds in 1..5 {
        node.run(rounds, &mut draw, &mut sent).unwrap();
        node = disks.start(1).unwrap();
        snapshots.push(disks.snapshot());
    }
    let keys_of =
        |at: usize| snapshots[at].1.clone().into_iter().filter(|(name, _)| SHARES.contains(&name.as_str()));
    let with_keys_of = |at: usize, (ledger, mut home): (BTreeMap<_, _>, BTreeMap<String, Vec<u8>>)| {
        let disks = Disks::new();
        home.retain(|name, _| !SHARES.contains(&name.as_str()));
        home.extend(keys_of(at));
        disks.ledger.replace(ledger);
        disks.home.replace(home);
        disks.start(1).map(|node| node.home.share_keys().map(ShareKeys::round))
    };
    for (now, snapshot) in snapshots.iter().enumerate() {
        for at in 0..5 {
            let found = with_keys_of(at, snapshot.clone());
            match at {
                // Those of the round before are what a crash between message and keys leaves: they are moved on.
                _ if at == now || at + 1 == now => assert_eq!(found, Ok(Some(now as u64)), "{at} at {now}"),
                _ => assert!(matches!(found, Err(HomeError::HomeBack { .. })), "{at} at {now}: {found:?}"),
            }
        }
    }
}

/// What a round's noise would be, if it were drawn for the `draw`-th time.
fn noise(draw: u64) -> Vec<u8> {
    blake3::hash(&draw.to_le_bytes()).as_bytes().to_vec()
}

impl Node {
    /// From the saved state to the state before round `rounds`. `draw` counts noises, so that no two are the same.
    fn run(&mut self, rounds: u32, draw: &mut u64, sent: &mut Sent) -> Result<(), HomeError> {
        let mut state = self.saved.state.clone().map_or((0, vec![]), |state| (state.round, state.vectors));
        while state.0 < rounds {
            let round = state.0;
            for i in 0..self.k {
                let exchange = u64::from(round) * self.k + i;
                let kept = self.saved.outgoing.iter().find(|kept| kept.exchange == exchange).cloned();
                let outgoing = match kept {
                    Some(kept) => kept,
                    None => self.make(round, exchange, i == 0, &state.1, draw)?,
                };
                self.home.keep_outgoing(&outgoing)?;
                // From here on it may be at the neighbours.
                if let Some(before) = sent.insert(exchange, Arc::clone(&outgoing.payload)) {
                    assert_eq!(before, outgoing.payload, "exchange {exchange} was sent with other bytes");
                }
                state.1 = noise_of(&outgoing.payload);
            }
            state.0 += 1;
            let received = vec![(5, Mark { exchange: u64::from(round), hash: [round as u8; 32] })];
            self.home.keep_state(&StateRecord { round: state.0, vectors: state.1.clone(), received })?;
        }
        Ok(())
    }

    fn make(
        &mut self,
        round: u32,
        exchange: u64,
        first: bool,
        state: &[u8],
        draw: &mut u64,
    ) -> Result<Outgoing, HomeError> {
        let answer = if first {
            let event = Event::sampled_gaussian(0.1, 1.0).unwrap();
            let entered = self.book.enter(round, &event);
            entered.map_err(|error| HomeError::Order(error.to_string()))?;
            *draw += 1;
            Some(noise(*draw))
        } else {
            None
        };
        let payload = [answer.as_deref().unwrap_or_default(), state, &exchange.to_le_bytes()].concat();
        Ok(Outgoing { exchange, answer, payload: payload.into() })
    }

    fn charges(&self) -> u32 {
        lock(&self.ledger).contents().run(&RUN).map_or(0, |run| run.charges.len() as u32)
    }
}

/// The next state follows from what was sent.
fn noise_of(payload: &[u8]) -> Vec<u8> {
    blake3::hash(payload).as_bytes().to_vec()
}

fn went(disks: &Disks, k: u64, rounds: u32) -> Sent {
    let mut sent = Sent::new();
    disks.start(k).unwrap().run(rounds, &mut 0, &mut sent).unwrap();
    sent
}

#[test]
fn what_is_kept_is_found_again() {
    for k in [1, 2] {
        let disks = Disks::new();
        let sent = went(&disks, k, 5);
        let node = disks.start(k).unwrap();
        let state = node.saved.state.as_ref().unwrap();
        assert_eq!(state.round, 5);
        assert_eq!(state.received, [(5, Mark { exchange: 4, hash: [4; 32] })]);
        let last: Vec<u64> = node.saved.outgoing.iter().map(|kept| kept.exchange).collect();
        assert_eq!(last, (5 * k - 4..5 * k).collect::<Vec<_>>());
        for kept in &node.saved.outgoing {
            assert_eq!(sent[&kept.exchange], kept.payload);
            assert_eq!(kept.answer.is_some(), kept.exchange % k == 0);
        }
        assert!(node.saved.damaged.is_empty());
        assert_eq!(node.charges(), 5);
        let resume = lock(&node.ledger).resume(&RUN).unwrap();
        assert_eq!((resume.rounds, resume.history.len()), (5, 5));
    }
}

/// A crash at every write, after every byte of it: the node goes on, never sends an exchange with other bytes, and
/// every round is charged once.
#[test]
fn a_crash_at_any_byte_of_any_write_repeats_nothing_and_loses_nothing() {
    for k in [1, 2] {
        for on_ledger in [true, false] {
            let clean = Disks::new();
            went(&clean, k, 6);
            let writes = if on_ledger { clean.ledger.writes() } else { clean.home.writes() };
            for n in 0..writes {
                for keep in (0..420).step_by(13).chain([1, 247, 248, usize::MAX]) {
                    let disks = Disks::new();
                    let (mut draw, mut sent) = (0, Sent::new());
                    let disk = if on_ledger { &disks.ledger } else { &disks.home };
                    disk.crash_at(n, keep);
                    let crashed = disks.start(k).and_then(|mut node| node.run(6, &mut draw, &mut sent));
                    assert!(crashed.is_err(), "write {n}");
                    disks.revive();
                    let mut node = disks.start(k).unwrap_or_else(|error| panic!("{n}, {keep}: {error}"));
                    node.run(6, &mut draw, &mut sent).unwrap_or_else(|error| panic!("{n}, {keep}: {error}"));
                    assert_eq!((node.charges(), sent.len() as u64), (6, 6 * k));
                    assert!(draw <= 7, "at most the noise that was lost in the crash is drawn again");
                    assert!(disks.start(k).is_ok());
                }
            }
        }
    }
}

#[test]
fn a_full_disk_stops_the_node_and_it_goes_on_when_there_is_space() {
    for n in 0..24 {
        for keep in [0, 1, 100, 300] {
            for on_ledger in [true, false] {
                let disks = Disks::new();
                let disk = if on_ledger { &disks.ledger } else { &disks.home };
                disk.fill_at(n, keep);
                let (mut draw, mut sent) = (0, Sent::new());
                if let Ok(mut node) = disks.start(1)
                    && let Err(error) = node.run(12, &mut draw, &mut sent)
                {
                    assert!(error.to_string().contains("no space left"), "{error}");
                    disks.revive();
                    let state = StateRecord { round: 0, vectors: vec![], received: vec![] };
                    let later = node.home.keep_state(&state);
                    assert!(on_ledger || later.is_err(), "a folder whose write failed is not written again");
                }
                disks.revive();
                let mut node = disks.start(1).unwrap();
                node.run(12, &mut draw, &mut sent).unwrap();
                assert_eq!((node.charges(), sent.len()), (12, 12));
            }
        }
    }
}

/// The folder, or the ledger, of every moment with the other one of every later moment.
#[test]
fn a_folder_or_ledger_from_an_old_copy_is_refused_or_harmless() {
    for k in [1, 2] {
        let disks = Disks::new();
        let (mut draw, mut sent) = (0, Sent::new());
        let mut copies = vec![(disks.snapshot(), sent.clone())];
        let mut refused = [0, 0];
        // A copy after every write or two: the node is stopped after each.
        loop {
            disks.revive();
            disks.ledger.crash_at(1, 0);
            disks.home.crash_at(1, 0);
            let done = disks.start(k).and_then(|mut node| node.run(5, &mut draw, &mut sent)).is_ok();
            copies.push((disks.snapshot(), sent.clone()));
            if done {
                break;
            }
        }
        disks.revive();
        for (i, (old, _)) in copies.iter().enumerate() {
            for (new, sent) in &copies[i..] {
                for (kind, (ledger, home)) in [(&old.0, &new.1), (&new.0, &old.1)].into_iter().enumerate() {
                    disks.ledger.replace(ledger.clone());
                    disks.home.replace(home.clone());
                    match disks.start(k) {
                        Err(
                            HomeError::LedgerBack { .. }
                            | HomeError::HomeBack { .. }
                            | HomeError::Empty { .. },
                        ) => refused[kind] += 1,
                        Err(error) => panic!("{error}"),
                        // Nothing that was sent is lost, so going on sends nothing else: `run` asserts it.
                        Ok(mut node) => match node.run(5, &mut draw, &mut sent.clone()) {
                            Ok(()) => assert_eq!(node.charges(), 5),
                            // The second payload of a round is lost with the state after it.
                            Err(HomeError::HomeBack { .. } | HomeError::Empty { .. }) if k == 2 => {
                                refused[kind] += 1
                            }
                            Err(error) => panic!("{error}"),
                        },
                    }
                }
            }
        }
        assert!(refused.iter().all(|count| *count > 50), "{refused:?}");
    }
}

#[test]
fn a_rolled_back_ledger_or_folder_is_explained() {
    let disks = Disks::new();
    went(&disks, 1, 3);
    let old = disks.snapshot();
    let mut node = disks.start(1).unwrap();
    node.run(6, &mut 100, &mut Sent::new()).unwrap();
    let new = disks.snapshot();

    disks.ledger.replace(old.0.clone());
    let error = disks.start(1).err().unwrap();
    assert!(matches!(error, HomeError::LedgerBack { .. }), "{error}");
    assert!(error.to_string().contains("it has 8 lines now"), "{error}");

    disks.ledger.replace(new.0.clone());
    disks.home.replace(old.1);
    let error = disks.start(1).err().unwrap();
    assert!(
        error.to_string().contains("state is before round 3, and the ledger has charges of 6"),
        "{error}"
    );

    // A ledger that went on in another way from the same beginning.
    disks.ledger.replace(old.0);
    disks.home.replace(BTreeMap::new());
    let error = disks.start(1).err().unwrap();
    assert!(matches!(error, HomeError::Empty { .. }), "an empty folder: {error}");
    let other = Disks { ledger: disks.ledger.clone(), home: MemoryDisk::new() };
    let other_run = other.start_as(1, [8; 32], AGREEMENT, MEMBER).unwrap();
    for i in 0..9 {
        lock(&other_run.ledger).begin_run(&[100 + i; 32], &AGREEMENT, 0, "x").unwrap();
    }
    disks.home.replace(new.1);
    let error = disks.start(1).err().unwrap();
    assert!(error.to_string().contains("another hash"), "{error}");
}

#[test]
fn another_run_agreement_or_member_is_refused() {
    let disks = Disks::new();
    went(&disks, 1, 2);
    let fails = |ledger: &MemoryDisk, run: Hash, agreement: Hash, member: u32| {
        let disks = Disks { ledger: ledger.clone(), home: disks.home.clone() };
        disks.start_as(1, run, agreement, member).err().unwrap().to_string()
    };
    let fresh = MemoryDisk::new;
    assert!(fails(&fresh(), [8; 32], AGREEMENT, MEMBER).contains("another run"));
    assert!(fails(&fresh(), RUN, [8; 32], MEMBER).contains("another agreement"));
    assert!(fails(&fresh(), RUN, AGREEMENT, 9).contains("another member (found 3, this is 9)"));
    assert!(fails(&disks.ledger, RUN, [8; 32], MEMBER).contains("started with the agreement"));
    assert!(fails(&disks.ledger, RUN, AGREEMENT, 9).contains("started as member 3"));
    // A run that did not begin in the ledger.
    let budget = Target::new(1e6, 1e-5).unwrap();
    let ledger = LedgerFile::open(Box::new(fresh()), "ledger", &[7; 32], budget).unwrap();
    let ledger = Arc::new(Mutex::new(ledger));
    let opened = Home::open(Box::new(fresh()), RUN, AGREEMENT, MEMBER, ledger, 2);
    assert!(opened.err().unwrap().to_string().contains("is not in this ledger"));
}

/// A bit flipped anywhere in any file: the node refuses, or goes on without sending other bytes.
#[test]
fn a_flipped_bit_or_cut_in_any_file_is_noticed() {
    for (k, rounds) in [(1, 3), (1, 4), (2, 3)] {
        let disks = Disks::new();
        let sent = went(&disks, k, rounds);
        let good = disks.home.files();
        let (mut refused, mut went_on) = (0, 0);
        for (name, bytes) in &good {
            for at in 0..bytes.len() {
                for cut in [false, true] {
                    let mut bad = bytes.clone();
                    if cut {
                        bad.truncate(at)
                    } else {
                        bad[at] ^= 1 << (at % 8)
                    }
                    disks.home.replace(good.clone());
                    disks.home.put(name, bad);
                    match disks.start(k) {
                        Ok(mut node) => {
                            assert_eq!(node.saved.damaged, std::slice::from_ref(name));
                            node.run(rounds, &mut 1000, &mut sent.clone()).unwrap();
                            assert_eq!(node.charges(), rounds);
                            went_on += 1;
                        }
                        Err(HomeError::HomeBack { .. } | HomeError::Empty { .. }) => refused += 1,
                        Err(error) => panic!("{error}"),
                    }
                }
            }
        }
        assert!(refused > 0 && went_on > 0);
        disks.home.replace(good.clone());
        for (from, to) in [("state.0", "state.1"), ("outgoing.0", "outgoing.1"), ("state.0", "outgoing.0")] {
            disks.home.replace(good.clone());
            disks.home.put(to, good[from].clone());
            assert!(matches!(disks.start(k).err(), Some(HomeError::Misplaced { .. })));
        }
    }
}

#[test]
fn nothing_is_kept_out_of_turn() {
    let disks = Disks::new();
    let mut node = disks.start(1).unwrap();
    let event = Event::sampled_gaussian(0.1, 1.0).unwrap();
    let outgoing = |exchange: u64, answer: bool, byte: u8| Outgoing {
        exchange,
        answer: answer.then(|| vec![1]),
        payload: vec![byte; 8].into(),
    };
    let state = |round| StateRecord { round, vectors: vec![1, 2], received: vec![] };
    let order =
        |result: Result<(), HomeError>| assert!(matches!(result, Err(HomeError::Order(_))), "{result:?}");
    order(node.home.keep_outgoing(&outgoing(0, true, 0)));
    order(node.home.keep_outgoing(&outgoing(0, false, 0)));
    order(node.home.keep_state(&state(1)));
    node.home.keep_state(&state(0)).unwrap();
    node.book.enter(0, &event).unwrap();
    order(node.home.keep_outgoing(&outgoing(0, false, 0)));
    order(node.home.keep_outgoing(&outgoing(1, true, 0)));
    order(node.home.keep_state(&state(1)));
    assert!(node.book.enter(0, &event).is_err() && node.book.enter(1, &event).is_err());
    node.home.keep_outgoing(&outgoing(0, true, 0)).unwrap();
    let writes = disks.home.writes();
    node.home.keep_outgoing(&outgoing(0, true, 0)).unwrap();
    assert_eq!(disks.home.writes(), writes, "kept already");
    let conflict = node.home.keep_outgoing(&outgoing(0, true, 1));
    assert_eq!(conflict, Err(HomeError::Conflict { exchange: 0 }));
    order(node.home.keep_outgoing(&outgoing(1, true, 1)));
    assert!(node.book.enter(0, &event).is_err());
    node.home.keep_state(&state(1)).unwrap();
    order(node.home.keep_state(&state(0)));
    drop(node);
    let mut node = disks.start(1).unwrap();
    assert_eq!(node.saved.state, Some(state(1)));
    assert!(node.book.enter(0, &event).is_err(), "its release was kept");
    assert!(matches!(node.home.keep_outgoing(&outgoing(0, true, 1)), Err(HomeError::Conflict { .. })));
}

proptest! {
    #[test]
    fn any_record_is_found_as_it_was_kept(
        vectors in prop::collection::vec(any::<u8>(), 0..200),
        received in prop::collection::vec((any::<u32>(), any::<u64>(), any::<Hash>()), 0..5),
        answer in prop::collection::vec(any::<u8>(), 0..100),
        payload in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let disks = Disks::new();
        let mut node = disks.start(1).unwrap();
        node.book.enter(0, &Event::sampled_gaussian(0.1, 1.0).unwrap()).unwrap();
        let outgoing = Outgoing { exchange: 0, answer: Some(answer), payload: payload.into() };
        node.home.keep_outgoing(&outgoing).unwrap();
        let received = received.into_iter().map(|(peer, exchange, hash)| (peer, Mark { exchange, hash })).collect();
        let state = StateRecord { round: 1, vectors, received };
        node.home.keep_state(&state).unwrap();
        let saved = disks.start(1).unwrap().saved;
        prop_assert_eq!(saved, Saved { state: Some(state), outgoing: vec![outgoing], damaged: vec![] });
    }

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..600), magic in any::<bool>()) {
        let disks = Disks::new();
        let bytes = if magic { [&b"PRDOHOM1"[..], &bytes].concat() } else { bytes };
        prop_assert!(record::parse(&bytes).is_none());
        disks.home.put("outgoing.2", bytes);
        prop_assert!(disks.start(1).is_ok());
    }
}

/// Writes a record as this module would, with a number that no run reaches.
fn forge(disks: &Disks, kind: RecordKind, slot: u64, sequence: u64) {
    let name = file(kind, slot);
    let bytes = disks.home.files().remove(&name).unwrap();
    let (header, parts) = record::parse(&bytes).unwrap();
    let header = Header { sequence, ..header };
    let bytes = [&header.encode()[..], parts[0], parts[1], &header.seal()].concat();
    disks.home.put(&name, bytes);
}

#[test]
fn the_highest_numbers_are_not_counted_on_from() {
    let disks = Disks::new();
    went(&disks, 1, 2);
    forge(&disks, RecordKind::State, 1, u64::MAX);
    let mut node = disks.start(1).unwrap();
    let state = node.saved.state.clone().unwrap();
    assert!(matches!(node.home.keep_state(&state), Err(HomeError::Order(_))));

    // The fourth payload of a method with two exchanges a round has no answer: the ledger does not know it.
    let disks = Disks::new();
    went(&disks, 2, 2);
    forge(&disks, RecordKind::Outgoing, 3, u64::MAX);
    let mut node = disks.start(2).unwrap();
    let outgoing = Outgoing { exchange: 4, answer: None, payload: vec![0; 4].into() };
    assert!(matches!(node.home.keep_outgoing(&outgoing), Err(HomeError::Order(_))));
}
