//! Noise in pairs between three real processes: the simulator's bits whatever happens, shares that no second run has, and
//! words that say against whom.

use crate::common::peers::{NAMES, SEED, Trio};
use crate::common::refused;
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Child;
use std::time::{Duration, Instant};

fn trio(rounds: u32) -> Trio {
    let pairs = "delta = 1e-3\nnoise = \"pairs\"";
    Trio::changed("prdo", rounds, |settings| settings.replace("delta = 1e-3", pairs))
}

/// The files beside a member's key that hold the private halves of its share keys.
fn private_halves(trio: &Trio, name: &str) -> Vec<PathBuf> {
    let files = std::fs::read_dir(trio.desk.path(".")).unwrap().map(|entry| entry.unwrap().path());
    let is_one = |path: &PathBuf| {
        let file = path.file_name().unwrap().to_string_lossy().into_owned();
        file.starts_with(&format!("{name}.key.")) && file.ends_with(".shares")
    };
    files.filter(is_one).collect()
}

/// The round of the share keys in a home, and the key with each partner; `None` before they are there.
fn kept_keys(trio: &Trio, home: &str) -> Option<(u32, BTreeMap<u32, Vec<u8>>)> {
    let mut found = None;
    for file in ["shares.0", "shares.1"] {
        let path = trio.desk.path(home).join("kept").join(file);
        let Ok(bytes) = std::fs::read(&path) else { continue };
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        if bytes.iter().all(|byte| *byte == 0) {
            continue;
        }
        assert!(found.is_none(), "{home} has keys of two rounds");
        let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        let keys = bytes[216..bytes.len() - 32].chunks(36);
        let keys = keys.map(|kept| (u32::from_le_bytes(kept[..4].try_into().unwrap()), kept[4..].to_vec()));
        found = Some((number(128), keys.collect()));
    }
    found
}

#[track_caller]
fn first_keys(trio: &Trio, home: &str) -> BTreeMap<u32, Vec<u8>> {
    let end = Instant::now() + Duration::from_secs(60);
    let half = private_halves(trio, home.split('-').next().unwrap());
    loop {
        if half.iter().all(|path| !path.exists())
            && let Some((0, keys)) = kept_keys(trio, home)
        {
            return keys;
        }
        assert!(Instant::now() < end, "{home} does not begin: {}", trio.told(home));
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn stop(children: &mut [Child]) {
    for child in children {
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

/// One payload for every exchange, whoever it went to and however often a process was started again.
#[track_caller]
fn one_payload_each(trio: &Trio, name: &str) {
    let sent = trio.desk.read(&format!("{name}.sent"));
    let mut payloads = BTreeMap::new();
    for line in sent.lines().map(|line| line.split(' ').collect::<Vec<_>>()) {
        // A process that was killed may have left half a line.
        let [_, exchange, hash] = line[..] else { continue };
        if hash.len() == 64 {
            let first = payloads.entry(exchange.to_string()).or_insert_with(|| hash.to_string());
            assert_eq!(first, hash, "{name} sent two payloads for exchange {exchange}");
        }
    }
    assert_eq!(payloads.len(), trio.rounds as usize, "{name}");
}

#[test]
fn killed_again_and_again_with_noise_in_pairs_they_reach_the_same_bits() {
    let trio = trio(400);
    let start = |name: &str| {
        let capture = trio.desk.path(&format!("{name}.sent")).display().to_string();
        let environment = [("PRDO_TEST_SEED", SEED), ("PRDO_TEST_CAPTURE", capture.as_str())];
        trio.spawn_with(&trio.typed(name, "all.agreement", name), name, &environment)
    };
    let mut children: Vec<Child> = NAMES.iter().map(|name| start(name)).collect();
    let (mut state, mut kills) = (11_u64, 0);
    while kills < 9 && children.iter_mut().all(|child| child.try_wait().unwrap().is_none()) {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(Duration::from_millis(20 + (state >> 40) % 300));
        let victim = (state >> 20) as usize % 3;
        stop(&mut children[victim..=victim]);
        // Killed as it is, it holds keys of the next answer or of the one before it, of one round or of two in a row.
        children[victim] = start(NAMES[victim]);
        kills += 1;
    }
    for (child, name) in children.iter_mut().zip(NAMES) {
        trio.done(child, name);
        one_payload_each(&trio, name);
        assert_eq!(kept_keys(&trio, name).unwrap().0, trio.rounds, "{name}");
    }
    assert!(kills >= 3, "only {kills} kills");
    trio.same_as_simulated();
    for name in NAMES {
        assert_eq!(trio.ledger(name).runs()[0].colluders, Some(1));
    }
}

/// Ledger and folder from an older copy would draw shares again that neighbours have seen.
#[test]
fn a_node_that_was_set_back_releases_nothing() {
    let trio = trio(400);
    let start = |name: &str| {
        let capture = trio.desk.path(&format!("{name}.sent")).display().to_string();
        trio.spawn_with(&trio.typed(name, "all.agreement", name), name, &[("PRDO_TEST_CAPTURE", &capture)])
    };
    let mut children: Vec<Child> = NAMES.iter().map(|name| start(name)).collect();
    trio.reach("north", 10);
    stop(&mut children[..1]);
    let kept = trio.desk.path("north/kept");
    let files = || std::fs::read_dir(&kept).unwrap().map(|entry| entry.unwrap().path());
    let copies: Vec<_> = files().map(|path| (std::fs::read(&path).unwrap(), path)).collect();
    let (ledger, charged) = (trio.desk.bytes("north.csv.ledger"), trio.charged("north"));
    children[0] = start("north");
    trio.reach("north", charged + 20);
    stop(&mut children[..1]);
    let sent = trio.desk.read("north.sent");
    for (bytes, path) in copies {
        std::fs::write(path, bytes).unwrap();
    }
    std::fs::write(trio.desk.path("north.csv.ledger"), ledger).unwrap();
    children[0] = start("north");
    assert_ne!(trio.wait(&mut children[0], "north"), Some(0));
    stop(&mut children[1..]);
    // What it may have sent before it knew is what it sent then.
    let again = trio.desk.read("north.sent");
    let before: std::collections::BTreeSet<&str> = sent.lines().collect();
    assert!(again[sent.len()..].lines().all(|line| before.contains(line)), "{again}");
    assert!(trio.charged("north") <= charged + 1);
    assert!(
        trio.told("north").contains("older copy") || trio.told("north").contains("rolled back"),
        "{}",
        trio.told("north")
    );
}

/// Secrets are the operating system's here. A member comes late, and is away for a while later on.
#[test]
fn no_second_run_has_the_same_shares() {
    let trio = trio(150);
    for name in NAMES {
        let [half] = private_halves(&trio, name).try_into().unwrap();
        assert_eq!(std::fs::metadata(half).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let start = |name: &str, agreement: &str, home: &str, more: &str| {
        trio.spawn_with(&format!("{}{more}", trio.typed(name, agreement, home)), home, &[])
    };
    let begin = |name: &str| start(name, "all.agreement", name, "");
    let mut children = vec![begin("north"), begin("east")];
    let (north, east) = (first_keys(&trio, "north"), first_keys(&trio, "east"));
    assert_eq!((north.len(), east.len()), (2, 2));
    assert_eq!(north[&1], east[&0]);
    assert!(north[&2] != north[&1] && east[&2] != east[&0] && north[&2] != east[&2]);
    children.push(begin("south"));
    trio.reach("south", 10);
    stop(&mut children[2..]);
    std::thread::sleep(Duration::from_secs(2));
    let waiting = (kept_keys(&trio, "north").unwrap().0, trio.charged("north"));
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!((kept_keys(&trio, "north").unwrap().0, trio.charged("north")), waiting);
    children[2] = begin("south");
    for (child, name) in children.iter_mut().zip(NAMES) {
        trio.done(child, name);
        assert_eq!(private_halves(&trio, name), Vec::<PathBuf>::new());
        assert_eq!(trio.charged(name), 150);
    }
    let south = kept_keys(&trio, "south").unwrap().1;
    assert_eq!(kept_keys(&trio, "north").unwrap().1[&2], south[&0]);

    // The same agreement in another folder: there is nothing left to draw its shares from.
    let again = format!("{} --raise-budget 40", trio.typed("north", "all.agreement", "again"));
    refused(&trio.desk, &again, &["share key", "good for one run", "sign a new one"]);

    // Another agreement of the same members has other shares.
    trio.agree("second.agreement");
    let again = |name: &str| start(name, "second.agreement", &format!("{name}-2"), " --raise-budget 40");
    let mut children = vec![again("north"), again("east")];
    let (other_north, other_east) = (first_keys(&trio, "north-2"), first_keys(&trio, "east-2"));
    assert_eq!(other_north[&1], other_east[&0]);
    let all: Vec<&Vec<u8>> =
        [&north, &east, &south, &other_north, &other_east].iter().flat_map(|keys| keys.values()).collect();
    let different: std::collections::BTreeSet<_> = all.iter().collect();
    // Each of the first run's and of the second's is there once, or twice as both ends have it.
    assert_eq!(different.len(), 3 + 2 + 3);
    stop(&mut children);
}

/// The rest of three are two: against each other they have their own noise alone, and are told what holds of the old one.
#[test]
fn the_others_go_on_from_noise_in_pairs() {
    let trio = trio(80);
    let mut children: Vec<_> = NAMES.iter().map(|name| trio.start(name)).collect();
    trio.reach("north", 4);
    stop(&mut children);
    let done = NAMES.map(|name| trio.charged(name)).into_iter().max().unwrap();
    let desk = &trio.desk;
    let more = desk.read("run.toml").replace("rounds = 80", "rounds = 5");
    let init = format!("--members {{}} --out two.agreement --continues all.agreement --rounds-done {done}");
    let typed = |file: &str, members: &str| format!("node init {file} {}", init.replace("{}", members));
    // All three, as before: but not against more than before.
    desk.write("outsiders.toml", desk.read("run.toml").replace("\"pairs\"", "\"pairs\"\ncolluders = 0"));
    desk.prdo("node init outsiders.toml --members members.toml --out outsiders.agreement").done();
    for name in NAMES {
        desk.prdo(&format!("node sign outsiders.agreement --key {name}.key")).done();
    }
    desk.write("more.toml", &more);
    let larger = typed("more.toml", "members.toml").replace("all.agreement", "outsiders.agreement");
    refused(desk, &larger, &["colluders = 1", "at most 0", "outsiders.agreement"]);
    let two: String = desk.read("members.toml").split_inclusive("\n\n").take(2).collect();
    desk.write("two.toml", two);
    let rest = more.replace("\"ring\"", "\"path\"").replace("\"pairs\"", "\"independent\"");
    desk.write("rest.toml", rest);
    let told = desk.prdo(&typed("rest.toml", "two.toml")).done().stderr;
    assert!(told.contains("holds against outsiders and any one member only"), "{told}");
    for name in &NAMES[..2] {
        desk.prdo(&format!("node sign two.agreement --key {name}.key")).done();
    }
    let start = |name: &&str| {
        let home = format!("{name}-2");
        trio.spawn(&format!("{} --from {name}", trio.typed(name, "two.agreement", &home)), &home)
    };
    let mut children: Vec<_> = NAMES[..2].iter().map(start).collect();
    for (child, name) in children.iter_mut().zip(NAMES) {
        trio.done(child, &format!("{name}-2"));
    }
    let ledger = trio.ledger("north");
    assert_eq!(
        (ledger.runs()[0].colluders, ledger.runs()[1].colluders, ledger.colluders()),
        (Some(1), None, Some(1))
    );
    let summary: serde_json::Value = serde_json::from_str(&desk.read("north-2/summary.json")).unwrap();
    assert_eq!(summary["colluders"], 1);
}

#[test]
fn people_are_told_against_whom_and_what_is_missing() {
    let trio = trio(4);
    let desk = &trio.desk;
    desk.prdo("node init run.toml --members members.toml --out words.agreement --key north.key").done();
    let half = private_halves(&trio, "north").len();
    assert_eq!(half, 2, "one for each agreement");
    let copy = desk.read("words.agreement");
    desk.write(
        "copy.agreement",
        copy.lines().filter(|l| !l.starts_with("signature ")).map(|l| format!("{l}\n")).collect::<String>(),
    );
    // Whoever signs again, in this copy or another, signs with the same key.
    for file in ["words.agreement", "copy.agreement"] {
        desk.prdo(&format!("node sign {file} --key north.key")).done();
        assert_eq!(desk.read(file), copy);
    }
    let said = desk.prdo("node sign words.agreement --key east.key").done().stdout;
    for words in
        ["against    outsiders and any one member", "pairs      own noise multiplier", "by all 2 others"]
    {
        assert!(said.contains(words), "{words}: {said}");
    }
    let said = desk.prdo("node sign words.agreement --key south.key --json").json();
    assert_eq!((&said["pairs"]["colluders"], said["run_hash"].as_str().unwrap().len()), (&1.into(), 64));
    // Another share key of the same member, as if it had signed on another machine.
    for half in private_halves(&trio, "north") {
        std::fs::rename(&half, half.with_extension("aside")).unwrap();
    }
    desk.write(
        "copy.agreement",
        copy.lines().filter(|l| !l.starts_with("signature ")).map(|l| format!("{l}\n")).collect::<String>(),
    );
    desk.prdo("node sign copy.agreement --key north.key").done();
    refused(
        desk,
        "node sign copy.agreement --key north.key --with words.agreement",
        &["different share keys", "north"],
    );
    let own = "--key north.key --data north.csv";
    refused(desk, &format!("node check words.agreement {own} --offline"), &["but this member signed with"]);
    refused(desk, &format!("node check all.agreement {own} --offline"), &["share key", "is not there"]);
    let checked =
        desk.prdo("node check words.agreement --key east.key --data east.csv --offline").done().stdout;
    assert!(checked.contains("against    outsiders and any one member"), "{checked}");

    for half in std::fs::read_dir(desk.path(".")).unwrap().map(|entry| entry.unwrap().path()) {
        if half.extension().is_some_and(|ending| ending == "aside") {
            std::fs::rename(&half, half.with_extension("shares")).unwrap();
        }
    }
    let mut children: Vec<_> = NAMES.iter().map(|name| (trio.start(name), *name)).collect();
    for (child, name) in &mut children {
        trio.done(child, name);
    }
    assert!(trio.told("east").contains("against: outsiders and any one member"), "{}", trio.told("east"));
    let shown = desk.prdo("node status east").done().stdout;
    assert!(shown.contains("against    outsiders and any one member"), "{shown}");
    for file in ["east/summary.json", "east/status.json"] {
        let said: serde_json::Value = serde_json::from_str(&desk.read(file)).unwrap();
        assert_eq!(said["colluders"], 1, "{file}");
    }
    // Keys that were removed from a folder are not made again.
    for file in ["shares.0", "shares.1"] {
        std::fs::remove_file(desk.path("south").join("kept").join(file)).unwrap();
    }
    std::fs::remove_file(desk.path("south/summary.json")).unwrap();
    let lost = desk.prdo(&trio.typed("south", "all.agreement", "south"));
    assert_eq!(lost.code, Some(2), "{}", lost.stderr);
    assert!(lost.stderr.contains("share key"), "{}", lost.stderr);
}
