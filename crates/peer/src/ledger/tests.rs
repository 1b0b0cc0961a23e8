use super::*;
use crate::memory::MemoryDisk;
use prdo_accounting::Accountant;
use prdo_privacy::{
    Answerer, Batches, Clip, Gate, GateError, Ledger, LedgerError, Model, Noised, PrivateRules, Query,
    Released, Secret, Shard,
};
use proptest::prelude::*;

const NAME: &str = "ledger";
const DIGEST: Hash = [7; 32];
const RUN: Hash = [1; 32];
const AGREEMENT: Hash = [2; 32];

fn budget(epsilon: f64) -> Target {
    Target::new(epsilon, 1e-5).unwrap()
}

fn event() -> Event {
    Event::sampled_gaussian(0.1, 1.5).unwrap()
}

fn open(disk: &MemoryDisk) -> Result<LedgerFile, LedgerFileError> {
    LedgerFile::open(Box::new(disk.clone()), NAME, &DIGEST, budget(8.0))
}

/// Charges a round and enters that its release went out.
fn round(ledger: &mut LedgerFile, run: &Hash, round: u32) {
    ledger.charge(run, round, &event()).unwrap();
    ledger.sent(run, &Mark { exchange: u64::from(round), hash: [round as u8; 32] }).unwrap();
}

/// A ledger of two runs, with every kind of line.
fn example() -> MemoryDisk {
    let disk = MemoryDisk::new();
    let mut ledger = open(&disk).unwrap();
    ledger.begin_run(&[9; 32], &AGREEMENT, 4, "an \"older\" run\n of ε").unwrap();
    round(&mut ledger, &[9; 32], 0);
    ledger.end_run(&[9; 32], 1).unwrap();
    ledger.raise_budget(budget(9.0)).unwrap();
    ledger.begin_run(&RUN, &AGREEMENT, 3, "run").unwrap();
    round(&mut ledger, &RUN, 0);
    ledger.charge(&RUN, 1, &event()).unwrap();
    disk
}

fn bytes(disk: &MemoryDisk) -> Vec<u8> {
    disk.files().remove(NAME).unwrap()
}

fn charges(ledger: &LedgerFile, run: &Hash) -> u32 {
    ledger.contents().run(run).map_or(0, |run| run.charges.len() as u32)
}

fn lines(disk: &MemoryDisk) -> Vec<Vec<u8>> {
    bytes(disk).split_inclusive(|b| *b == b'\n').map(<[u8]>::to_vec).collect()
}

#[test]
fn what_is_written_is_read_again() {
    let disk = example();
    let ledger = open(&disk).unwrap();
    assert_eq!(ledger.head().0, 10);
    assert_eq!(ledger.contents().history().len(), 3);
    assert_eq!((charges(&ledger, &RUN), charges(&ledger, &[5; 32])), (2, 0));
    let resume = ledger.resume(&RUN).unwrap();
    assert_eq!((resume.rounds, resume.history.len()), (1, 2));
    for (rounds, charges) in [(0, 1), (1, 2), (2, 3), (3, 3), (u32::MAX, 3)] {
        assert_eq!(ledger.contents().history_before(&RUN, rounds).len(), charges, "{rounds}");
    }
    assert_eq!(ledger.contents().runs()[0].name, "an \"older\" run\n of ε");
    assert!(ledger.contents().runs()[0].ended);
    assert_eq!(ledger.contents().budget(), Some(budget(9.0)));
    assert_eq!(Contents::parse(&bytes(&disk)).unwrap(), *ledger.contents());
    assert_eq!(ledger.contents().length(), bytes(&disk).len() as u64);
}

#[test]
fn a_flipped_bit_anywhere_is_refused_or_is_the_torn_tail() {
    let disk = example();
    let good = bytes(&disk);
    let whole = Contents::parse(&good).unwrap();
    for at in 0..good.len() {
        for bit in 0..8 {
            let mut bad = good.clone();
            bad[at] ^= 1 << bit;
            match Contents::parse(&bad) {
                Err(BadLine { line, what }) => {
                    let lines_before = good[..at].iter().filter(|b| **b == b'\n').count() as u64;
                    assert!(
                        (lines_before + 1..=lines_before + 2).contains(&line),
                        "{at}.{bit}: {line} {what}"
                    );
                }
                // The last newline is gone: the last line was not finished.
                Ok(read) => {
                    assert_eq!(at, good.len() - 1, "bit {bit}");
                    assert_eq!((read.lines(), read.torn() > 0), (whole.lines() - 1, true));
                }
            }
        }
    }
}

#[test]
fn a_file_cut_anywhere_is_a_shorter_ledger_and_goes_on_from_its_last_whole_line() {
    let disk = example();
    let good = bytes(&disk);
    let whole = Contents::parse(&good).unwrap();
    for cut in 0..good.len() {
        let part = Contents::parse(&good[..cut]).unwrap();
        let (ends, last) = (part.length() as usize, part.head());
        assert_eq!(part.torn() as usize, cut - ends);
        assert!(whole.had(last), "what is left is what was there");
        assert!(!part.had(whole.head()), "and a folder that has seen more notices");
        disk.put(NAME, good[..cut].to_vec());
        let mut ledger = open(&disk).unwrap();
        if cut > 0 && part.lines() > 0 {
            assert_eq!(bytes(&disk).len(), cut, "nothing is changed before something is written");
        }
        ledger.begin_run(&[77; 32], &AGREEMENT, 0, "later").unwrap();
        let again = open(&disk).unwrap();
        assert_eq!(again.head(), ledger.head());
        assert_eq!(again.contents().torn(), 0);
        assert!(again.contents().run(&[77; 32]).is_some());
    }
}

#[test]
fn moved_repeated_removed_and_foreign_lines_are_refused() {
    let disk = example();
    let good = lines(&disk);
    let refused = |lines: Vec<Vec<u8>>, what: &str| {
        assert!(Contents::parse(&lines.concat()).is_err(), "{what}");
    };
    for i in 0..good.len() {
        for j in 0..good.len() {
            let mut lines = good.clone();
            if i < j {
                lines.swap(i, j);
                refused(lines, "swapped");
            }
            let mut lines = good.clone();
            lines.insert(j, good[i].clone());
            refused(lines, "repeated");
        }
        if i + 1 < good.len() {
            let mut lines = good.clone();
            lines.remove(i);
            refused(lines, "removed");
        }
        for foreign in [&b"\n"[..], b"{}\n", b"\0\0\0\n", b"null\n", b"{\"kind\":\"open\"}\n"] {
            let mut lines = good.clone();
            lines.insert(i, foreign.to_vec());
            refused(lines, "foreign");
        }
    }
}

/// Lines that are chained as they should be and say what cannot be, or say it in another form.
#[test]
fn well_chained_lines_are_still_checked() {
    let disk = example();
    let good = bytes(&disk);
    let head = Contents::parse(&good).unwrap().head().1;
    let [run, older, no] = [hex(&RUN), hex(&[9; 32]), hex(&[5; 32])];
    let chained = |body: &str| {
        let hash = *blake3::Hasher::new().update(&head).update(body.as_bytes()).finalize().as_bytes();
        let line = format!("{},\"hash\":\"{}\"}}\n", body.strip_suffix('}').unwrap(), hex(&hash));
        Contents::parse(&[&good[..], line.as_bytes()].concat())
    };
    let sent = |round: u32, exchange: u64| {
        format!(r#"{{"kind":"sent","run":"{run}","round":{round},"exchange":{exchange},"payload":"{no}"}}"#)
    };
    assert_eq!(chained(&sent(1, 1)).unwrap().lines(), 11);
    let charge = |run: &str, round: &str, rate: &str, noise: &str| {
        format!(r#"{{"kind":"charge","run":"{run}","round":{round},"rate":{rate},"noise":{noise}}}"#)
    };
    let bad = [
        sent(0, 1),
        sent(2, 1),
        sent(1, 0),
        sent(1, 1).replace("\"round\":1,\"exchange\":1", "\"exchange\":1,\"round\":1"),
        sent(1, 1).replace(':', ": "),
        sent(1, 1).replace("05", "0A"),
        sent(1, 1).replace("\"round\":1", "\"round\":1.0"),
        sent(1, 1).replace("\"round\":1", "\"round\":1,\"round\":1"),
        sent(1, 1).replace("\"round\":1", "\"round\":1,\"more\":1"),
        sent(1, 1).replace("\"round\":1", "\"round\":-1"),
        sent(1, 1).replace("\"round\":1", "\"round\":4294967296"),
        charge(&run, "2", "0.1", "1.5"),
        charge(&run, "1", "0.1", "1.5"),
        charge(&older, "1", "0.1", "1.5"),
        charge(&no, "0", "0.1", "1.5"),
        charge(&run, "2", "1e999", "1.5"),
        charge(&run, "2", "0.0", "1.5"),
        charge(&run, "2", "0.1", "0.0"),
        charge(&run, "2", "0.1", "null"),
        format!(r#"{{"kind":"end","run":"{run}","rounds":1}}"#),
        format!(r#"{{"kind":"end","run":"{run}","rounds":2}}"#),
        format!(r#"{{"kind":"end","run":"{older}","rounds":1}}"#),
        format!(r#"{{"kind":"run","run":"{run}","agreement":"{no}","member":0,"name":"twice"}}"#),
        format!(
            r#"{{"kind":"run","run":"{no}","agreement":"{no}","member":0,"name":"{}"}}"#,
            "x".repeat(801)
        ),
        format!(r#"{{"kind":"run","run":"{no}","agreement":"{no}","member":0,"name":"\u0041"}}"#),
        r#"{"kind":"budget","epsilon":9.0,"delta":0.00001}"#.into(),
        r#"{"kind":"budget","epsilon":8.5,"delta":0.00001}"#.into(),
        r#"{"kind":"budget","epsilon":null,"delta":0.00001}"#.into(),
        format!(r#"{{"kind":"open","version":1,"records":"{no}","epsilon":8.0,"delta":0.00001}}"#),
        r#"{"kind":"other"}"#.into(),
        format!("{}1{}", "[".repeat(2000), "]".repeat(1000)) + "}",
    ];
    for body in bad {
        let error = chained(&body).expect_err(&body);
        assert_eq!(error.line, 11, "{body}");
    }
    let future = r#"{"kind":"open","version":2,"records":"RR","epsilon":8.0,"delta":0.1}"#.replace("RR", &no);
    let hash = *blake3::Hasher::new().update(&line::seed()).update(future.as_bytes()).finalize().as_bytes();
    let line = format!("{},\"hash\":\"{}\"}}\n", future.strip_suffix('}').unwrap(), hex(&hash));
    let error = Contents::parse(line.as_bytes()).unwrap_err();
    assert!(error.what.contains("version 2"), "{}", error.what);
}

#[test]
fn a_charge_is_entered_once_and_confirmed_once() {
    let disk = example();
    let other = Event::sampled_gaussian(0.1, 1.4).unwrap();
    let writes = bytes(&disk);
    let mut ledger = open(&disk).unwrap();
    let refused = |result: Result<(), LedgerFileError>, part: &str| {
        let text = result.unwrap_err().to_string();
        assert!(text.contains(part), "{text}");
    };
    refused(ledger.charge(&RUN, 0, &event()), "a charge of round 0 when 2 rounds");
    refused(ledger.charge(&RUN, 2, &event()), "before the release of the round before was kept");
    refused(ledger.charge(&RUN, 3, &event()), "a charge of round 3");
    refused(ledger.charge(&RUN, 1, &other), "noise 1.5; it is now");
    refused(ledger.charge(&[5; 32], 0, &event()), "is not in this ledger");
    refused(ledger.charge(&[9; 32], 1, &event()), "is over");
    refused(ledger.charge(&RUN, 1, &Event::not_private()), "charged at rate 0.1");
    assert_eq!(bytes(&disk), writes);
    ledger.charge(&RUN, 1, &event()).unwrap();
    assert_eq!(
        (bytes(&disk), ledger.contents().history().len()),
        (writes, 3),
        "confirmed, not entered again"
    );
    refused(ledger.charge(&RUN, 1, &event()), "not answered twice");
    ledger.sent(&RUN, &Mark { exchange: 1, hash: [0; 32] }).unwrap();
    refused(ledger.charge(&RUN, 1, &event()), "a charge of round 1");
    refused(ledger.charge(&RUN, 2, &Event::not_private()), "noise_multiplier");
    ledger.charge(&RUN, 2, &other).unwrap();
    refused(ledger.charge(&RUN, 2, &other), "not answered twice");
    assert_eq!(open(&disk).unwrap().contents().history().len(), 4);
}

#[test]
fn runs_records_and_budgets_must_be_the_same() {
    let disk = example();
    let mut ledger = open(&disk).unwrap();
    let writes = disk.writes();
    ledger.begin_run(&RUN, &AGREEMENT, 3, "another name").unwrap();
    ledger.end_run(&[9; 32], 1).unwrap();
    assert_eq!(disk.writes(), writes);
    assert!(ledger.end_run(&[9; 32], 2).is_err());
    for (agreement, member, part) in
        [([3; 32], 3, "started with the agreement 0202"), (AGREEMENT, 4, "as member 3")]
    {
        let text = ledger.begin_run(&RUN, &agreement, member, "run").unwrap_err().to_string();
        assert!(text.contains(part), "{text}");
    }
    let shared = Arc::new(Mutex::new(ledger));
    assert!(LedgerFile::book(&shared, &RUN, &AGREEMENT, 3).is_ok());
    assert!(LedgerFile::book(&shared, &RUN, &AGREEMENT, 2).is_err());
    assert!(LedgerFile::book(&shared, &RUN, &[3; 32], 3).is_err());
    assert!(LedgerFile::book(&shared, &[8; 32], &AGREEMENT, 3).is_err());

    let opened = |digest: &Hash, target: Target| {
        LedgerFile::open(Box::new(disk.clone()), NAME, digest, target).map(|ledger| ledger.budget())
    };
    assert_eq!(opened(&DIGEST, budget(2.0)), Ok(budget(2.0)), "a smaller budget is the run's own");
    assert_eq!(opened(&DIGEST, budget(9.0)), Ok(budget(9.0)));
    assert!(matches!(opened(&DIGEST, budget(9.1)), Err(LedgerFileError::Budget { .. })));
    let other_delta = Target::new(1.0, 1e-6).unwrap();
    assert!(matches!(opened(&DIGEST, other_delta), Err(LedgerFileError::Budget { .. })));
    assert!(matches!(opened(&[8; 32], budget(9.0)), Err(LedgerFileError::Records { .. })));
    let existing = |digest| LedgerFile::existing(Box::new(disk.clone()), NAME, digest);
    assert_eq!(existing(&DIGEST).unwrap().unwrap().budget(), budget(9.0));
    assert!(existing(&[8; 32]).is_err());
    let nothing = LedgerFile::existing(Box::new(MemoryDisk::new()), NAME, &DIGEST);
    assert!(nothing.unwrap().is_none());
}

/// A crash or a full disk at every write and every byte of it: what can be read afterwards is what was there before,
/// or that and the new line; and the ledger that met the failure does no more.
#[test]
fn a_failing_disk_loses_nothing_and_stops_the_ledger() {
    let script = |disk: &MemoryDisk| -> Result<(), LedgerFileError> {
        let mut ledger = open(disk)?;
        let result = (|| {
            ledger.begin_run(&RUN, &AGREEMENT, 3, "run")?;
            for round in 0..3 {
                ledger.charge(&RUN, round, &event())?;
                ledger.sent(&RUN, &Mark { exchange: u64::from(round), hash: [1; 32] })?;
            }
            Ok(())
        })();
        if result.is_err() {
            disk.revive();
            let again = ledger.begin_run(&[5; 32], &AGREEMENT, 3, "another").unwrap_err();
            assert!(matches!(again, LedgerFileError::Broken { .. }), "{again}");
        }
        result
    };
    for full in [false, true] {
        for n in 0..8 {
            for keep in (0..300).step_by(7).chain([usize::MAX]) {
                let disk = MemoryDisk::new();
                if full {
                    disk.fill_at(n, keep)
                } else {
                    disk.crash_at(n, keep)
                }
                assert!(matches!(script(&disk), Err(LedgerFileError::Disk(_))));
                disk.revive();
                let read = LedgerFile::read(&disk, NAME).unwrap();
                assert!((n..=n + 1).contains(&read.lines()), "write {n}, {keep} bytes: {}", read.lines());
                // Going on from there gives the same ledger as if nothing had happened.
                let mut ledger = open(&disk).unwrap();
                ledger.begin_run(&RUN, &AGREEMENT, 3, "run").unwrap();
                let resume = ledger.resume(&RUN).unwrap();
                for round in resume.rounds..3 {
                    ledger.charge(&RUN, round, &event()).unwrap();
                    ledger.sent(&RUN, &Mark { exchange: u64::from(round), hash: [1; 32] }).unwrap();
                }
                let clean = MemoryDisk::new();
                script(&clean).unwrap();
                assert_eq!(bytes(&disk), bytes(&clean));
            }
        }
    }
}

struct Plain;

impl Model for Plain {
    type Data = Vec<f64>;
    fn dimension(&self) -> usize {
        1
    }
    fn loss(&self, _: &[f64], _: &Self::Data, _: usize) -> f64 {
        0.0
    }
    fn gradient(&self, _: &[f64], data: &Self::Data, record: usize, gradient: &mut [f64]) {
        gradient[0] = data[record];
    }
}

/// The gate of a run on this ledger, as a peer builds it.
fn gate(ledger: &Arc<Mutex<LedgerFile>>, run: &Hash) -> Box<dyn Answerer> {
    let (target, Resume { rounds, history }) = {
        let ledger = lock(ledger);
        (ledger.budget(), ledger.resume(run).unwrap())
    };
    let book = LedgerFile::book(ledger, run, &AGREEMENT, 3).unwrap();
    let in_memory =
        Ledger::after(Arc::new(Accountant::default()), target, history.clone()).kept_by(Box::new(book));
    let (batches, clip) = (Batches::new(1, 1), Clip::new(1.0, 1.0).unwrap());
    let rules = PrivateRules { batches, clip, noise_multiplier: 2.0, ledger: in_memory };
    let shard = Shard::seal(vec![0.5; 10]).unwrap();
    let mut gate = Gate::private(3, Arc::new(Plain), shard, Arc::new(Secret::from_seed(1)), rules).unwrap();
    gate.restore(rounds, &history).unwrap();
    Box::new(gate)
}

/// Asks until the budget is spent; gives the rounds answered.
fn exhaust(disk: &MemoryDisk, run: &Hash, epsilon: f64) -> u32 {
    let ledger = LedgerFile::open(Box::new(disk.clone()), NAME, &DIGEST, budget(epsilon)).unwrap();
    let ledger = Arc::new(Mutex::new(ledger));
    lock(&ledger).begin_run(run, &AGREEMENT, 3, "run").unwrap();
    let first = lock(&ledger).resume(run).unwrap().rounds;
    let (mut gate, x) = (gate(&ledger, run), Released::<Noised>::zeros(1));
    for round in first.. {
        match gate.answer(round, &Query::gradient(&x)) {
            Ok(_) => {
                let mark = Mark { exchange: u64::from(round), hash: [3; 32] };
                lock(&ledger).sent(run, &mark).unwrap();
                same_cost(&*gate, &ledger);
            }
            Err(GateError::Ledger(LedgerError::Exhausted { .. })) => {
                assert_eq!(charges(&lock(&ledger), run), round, "what is refused is not entered");
                assert!(gate.spent() <= epsilon);
                return round - first;
            }
            Err(error) => panic!("{error}"),
        }
    }
    0
}

/// What the accountant says of the file and of the gate is the same.
fn same_cost(gate: &dyn Answerer, ledger: &Arc<Mutex<LedgerFile>>) {
    let history = lock(ledger).contents().history();
    let file = Accountant::default().epsilon(&history, 1e-5).unwrap().upper;
    assert_eq!(gate.spent(), file);
}

#[test]
fn the_budget_holds_across_runs_and_restarts_until_its_owner_raises_it() {
    let disk = MemoryDisk::new();
    let first = exhaust(&disk, &RUN, 1.0);
    assert!(first > 5, "{first}");
    assert_eq!(exhaust(&disk, &RUN, 1.0), 0, "a restart gives nothing back");
    assert_eq!(exhaust(&disk, &[5; 32], 1.0), 0, "nor does another run");
    let higher = LedgerFile::open(Box::new(disk.clone()), NAME, &DIGEST, budget(1.5));
    assert!(matches!(higher, Err(LedgerFileError::Budget { .. })));
    let mut ledger = LedgerFile::existing(Box::new(disk.clone()), NAME, &DIGEST).unwrap().unwrap();
    for lower in [budget(0.5), budget(1.0), Target::new(2.0, 1e-6).unwrap()] {
        assert!(ledger.raise_budget(lower).is_err());
    }
    ledger.raise_budget(budget(1.5)).unwrap();
    drop(ledger);
    let more = exhaust(&disk, &[5; 32], 1.5);
    assert!(more > 0);
    let fresh = MemoryDisk::new();
    assert_eq!(exhaust(&fresh, &RUN, 1.5), first + more, "two runs get together what one would");
}

#[test]
fn an_interrupted_charge_is_confirmed_and_counted_once() {
    let disk = MemoryDisk::new();
    let x = Released::<Noised>::zeros(1);
    let open = || {
        let ledger = Arc::new(Mutex::new(open(&disk).unwrap()));
        lock(&ledger).begin_run(&RUN, &AGREEMENT, 3, "run").unwrap();
        ledger
    };
    let ledger = open();
    gate(&ledger, &RUN).answer(0, &Query::gradient(&x)).unwrap();
    drop(ledger);
    // The process ended before the answer was kept.
    let ledger = open();
    assert_eq!(lock(&ledger).resume(&RUN).unwrap(), Resume { rounds: 0, history: History::new() });
    let mut again = gate(&ledger, &RUN);
    again.answer(0, &Query::gradient(&x)).unwrap();
    assert_eq!(lock(&ledger).contents().history().len(), 1);
    same_cost(&*again, &ledger);
    // A second gate on the same charge would draw a second noise.
    let refusal = gate(&ledger, &RUN).answer(0, &Query::gradient(&x)).unwrap_err();
    assert!(matches!(refusal, GateError::Ledger(LedgerError::Book(_))), "{refusal}");
}

fn entry() -> impl Strategy<Value = Entry> {
    let hash = || any::<Hash>().prop_map(Hex);
    let finite = || prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL | prop::num::f64::ZERO;
    prop_oneof![
        (any::<u32>(), hash(), finite(), finite())
            .prop_map(|(version, records, epsilon, delta)| Entry::Open { version, records, epsilon, delta }),
        (finite(), finite()).prop_map(|(epsilon, delta)| Entry::Budget { epsilon, delta }),
        (hash(), hash(), any::<u32>(), ".{0,40}", any::<Option<u32>>()).prop_map(
            |(run, agreement, member, name, colluders)| Entry::Run {
                run,
                agreement,
                member,
                name,
                colluders
            }
        ),
        (hash(), any::<u32>(), finite(), finite()).prop_map(|(run, round, rate, noise)| Entry::Charge {
            run,
            round,
            rate,
            noise
        }),
        (hash(), any::<u32>(), any::<u64>(), hash())
            .prop_map(|(run, round, exchange, payload)| Entry::Sent { run, round, exchange, payload }),
        (hash(), any::<u32>()).prop_map(|(run, rounds)| Entry::End { run, rounds }),
    ]
}

proptest! {
    #[test]
    fn every_entry_is_read_as_it_was_written(entry in entry(), previous in any::<Hash>()) {
        let (line, hash) = line::encode(&previous, &entry).unwrap();
        let (whole, end) = line.split_at(line.len() - 1);
        prop_assert_eq!(end, "\n");
        prop_assert!(!whole.contains('\n'));
        prop_assert_eq!(line::decode(&previous, whole.as_bytes()).unwrap(), (entry, hash));
        let mut other = previous;
        other[0] ^= 1;
        prop_assert!(line::decode(&other, whole.as_bytes()).is_err());
    }

    #[test]
    fn no_bytes_make_the_parser_panic(bytes in prop::collection::vec(any::<u8>(), 0..400), at in any::<usize>()) {
        let _ = Contents::parse(&bytes);
        let mut good = self::bytes(&example());
        let at = at % good.len();
        good.splice(at..(at + bytes.len()).min(good.len()), bytes);
        if let Ok(read) = Contents::parse(&good) {
            prop_assert!(read.lines() <= 10);
        }
    }
}
