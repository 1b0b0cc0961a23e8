//! Every bad input of a node has its own message and exit 2, before anything is charged or sent.

use crate::common::peers::{NAMES, Trio};
use prdo_peer::dir::Directory;
use std::fs::{Permissions, set_permissions};
use std::net::UdpSocket;
use std::os::unix::fs::PermissionsExt;

/// Types the command as a member; expects exit 2, these words, and no charge.
#[track_caller]
fn refused(trio: &Trio, arguments: &str, words: &[&str]) {
    let answer = trio.desk.prdo(arguments);
    let shown = format!("prdo {arguments}\nstdout: {}\nstderr: {}", answer.stdout, answer.stderr);
    assert_eq!(answer.code, Some(2), "{shown}");
    for word in words {
        assert!(answer.stderr.contains(word), "{word:?} is missing in\n{shown}");
    }
    assert!(!answer.stderr.contains("panicked"), "{shown}");
    for name in NAMES {
        assert_eq!(trio.charged(name), 0, "{shown}");
    }
}

const CHECK: &str = "node check all.agreement --key north.key --data north.csv --offline";

#[test]
fn keys_agreements_and_data_that_are_not_as_they_must_be() {
    let trio = Trio::new("prdo", 5);
    let desk = &trio.desk;
    let run = trio.typed("north", "all.agreement", "home");
    let shown = desk.prdo(CHECK).done().stdout;
    for words in ["signed by all 3", "40 records in 40 public slots", "ε = 0.0000 spent", "budget 6"] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    assert!(!desk.path("north.csv.ledger").exists());

    // Keys.
    set_permissions(desk.path("north.key"), Permissions::from_mode(0o644)).unwrap();
    refused(&trio, &run, &["north.key", "chmod 600"]);
    set_permissions(desk.path("north.key"), Permissions::from_mode(0o600)).unwrap();
    refused(&trio, &run.replace("north.key", "nobody.key"), &["nobody.key"]);
    desk.prdo("node key stranger.key").done();
    refused(&trio, &run.replace("north.key", "stranger.key"), &["does not belong to a member", "north"]);

    // Agreements.
    desk.prdo("node init run.toml --members members.toml --out half.agreement --key north.key").done();
    refused(
        &trio,
        &run.replace("all.agreement", "half.agreement"),
        &["half.agreement", "not signed by east, south"],
    );
    refused(&trio, &run.replace("all.agreement", "none.agreement"), &["none.agreement"]);
    let text = desk.read("all.agreement");
    desk.write("changed.agreement", text.replace("rounds = 5\nex", "rounds = 6\nex"));
    refused(&trio, &run.replace("all.agreement", "changed.agreement"), &["changed.agreement", "signature"]);

    // Data.
    let good = desk.read("north.csv");
    let with = |name: &str, text: String| {
        desk.write(name, text);
        run.replace("north.csv", name)
    };
    let first = good.lines().nth(1).unwrap();
    let many = format!("{good}{first}\n");
    refused(&trio, &with("many.csv", many), &["many.csv", "41 records", "40 public slots"]);
    let narrow: String =
        good.lines().map(|line| line.split_once(',').unwrap().1.to_string() + "\n").collect();
    refused(
        &trio,
        &with("narrow.csv", narrow),
        &["narrow.csv", "number of features is 2 (width, depth), agreed is 3 (height, width, depth)"],
    );
    let renamed = good.replacen("height,width", "width,length", 1);
    refused(&trio, &with("renamed.csv", renamed), &["the column \"height\" is missing", "length"]);
    refused(&trio, &with("class.csv", good.replacen(",red", ",mauve", 1)), &["\"mauve\"", "one of", "red"]);
    let coded: String = good.replace(",red", ",0").replace(",green", ",1").replace(",blue", ",2");
    refused(
        &trio,
        &with("coded.csv", coded),
        &["coded.csv", "a label is a number", "one of the names", "red"],
    );
    refused(&trio, &run.replace("north.csv", "nothing.csv"), &["nothing.csv"]);
    refused(&trio, &format!("{run} --label colour"), &["\"colour\"", "--label COLUMN"]);
    refused(&trio, &run.replace("--key north.key", "--key narrow.csv"), &["narrow.csv", "private"]);

    // Folders and addresses.
    desk.write("foreign/letter.txt", "dear");
    refused(&trio, &run.replace("--home home", "--home foreign"), &["foreign", "not empty"]);
    let taken = UdpSocket::bind(("127.0.0.1", trio.ports[0])).unwrap();
    refused(&trio, &run, &["is taken", &trio.ports[0].to_string()]);
    drop(taken);
    refused(
        &trio,
        &format!("{run} --listen 192.0.2.1:1"),
        &["192.0.2.1:1", "not an address of this machine"],
    );
    refused(&trio, &format!("{run} --status 192.0.2.1:80"), &["--status", "loopback"]);
    refused(&trio, &format!("{run} --from elsewhere"), &["--from elsewhere", "does not continue another"]);
}

#[test]
fn folders_ledgers_and_budgets() {
    let trio = Trio::new("prdo", 5);
    let desk = &trio.desk;
    let run = trio.typed("north", "all.agreement", "home").replace("--give-up 60", "--give-up 0.5");
    // Begins, meets nobody, and stops: nothing was charged.
    refused(&trio, &run, &["without meeting east, south", "nothing was released"]);
    assert_eq!(trio.ledger("north").runs().len(), 1);

    {
        let _held = Directory::of_file(&desk.path("north.csv.ledger")).unwrap();
        let process = format!("number {}", std::process::id());
        refused(&trio, &run, &["north.csv.ledger.lock", "in use by another process", &process]);
        let _held = Directory::open(&desk.path("home")).unwrap();
        refused(&trio, &run, &["home/.prdo-lock", "in use by another process", &process]);
        let status = desk.prdo("node status home --json").json();
        assert_eq!((&status["state"], &status["process"]), (&"running".into(), &std::process::id().into()));
    }
    assert_eq!(desk.prdo("node status home --json").json()["state"], "stopped");
    refused(
        &trio,
        &run.replace("--data north.csv", "--data east.csv --ledger north.csv.ledger"),
        &["44 records"],
    );
    let other = desk.read("north.csv").replacen(",red", ",green", 1);
    desk.write("other.csv", other);
    refused(
        &trio,
        &run.replace("--data north.csv", "--data other.csv --ledger north.csv.ledger"),
        &["belongs to records", "digest"],
    );
    // A file under another name does not have another budget.
    desk.write("renamed.csv", desk.read("north.csv"));
    refused(
        &trio,
        &run.replace("--data north.csv", "--data renamed.csv"),
        &["--ledger ", "north.csv.ledger"],
    );
    refused(&trio, &format!("{run} --ledger fresh.ledger"), &["--ledger ", "north.csv.ledger"]);
    refused(&trio, &run.replace("--data north.csv", "--data other.csv --raise-budget 9"), &["no ledger"]);
    refused(&trio, &format!("{run} --budget 7"), &["--budget 7", "--raise-budget 7"]);
    // The same command goes on, also one that raised the budget; it is not lowered by the way.
    for _ in 0..2 {
        refused(&trio, &format!("{run} --raise-budget 7"), &["without meeting"]);
    }
    refused(&trio, &format!("{run} --raise-budget 6.5"), &["--raise-budget 6.5 would lower it", "ε = 7"]);
    refused(&trio, &format!("{run} --budget 2"), &["budget is ε = 2"]);
    trio.agree("second.agreement");
    let hash = |file: &str| {
        desk.prdo(&format!("node sign {file} --key north.key --json")).json()["hash"]
            .as_str()
            .unwrap()
            .to_string()
    };
    let (first, second) = (hash("all.agreement"), hash("second.agreement"));
    refused(
        &trio,
        &run.replace("all.agreement", "second.agreement"),
        &[&first, &second, "choose another folder"],
    );
    let damaged = desk.read("north.csv.ledger").replacen("6", "7", 1);
    desk.write("bad.ledger", damaged);
    refused(&trio, &format!("{run} --ledger bad.ledger"), &["bad.ledger", "line 1"]);
    refused(&trio, "node status nowhere", &["nowhere"]);
}

#[test]
fn two_agreements_are_found_out_before_anything_is_released() {
    let trio = Trio::new("prdo", 5);
    trio.agree("second.agreement");
    let hash = |file: &str| {
        let told = trio.desk.prdo(&format!("node sign {file} --key north.key --json")).json();
        told["hash"].as_str().unwrap().to_string()
    };
    let (first, second) = (hash("all.agreement"), hash("second.agreement"));
    let short = |typed: String| typed.replace("--give-up 60", "--give-up 8");
    let mut one = trio.spawn(&short(trio.typed("north", "all.agreement", "north")), "north");
    let mut two = trio.spawn(&short(trio.typed("east", "second.agreement", "east")), "east");
    assert_eq!((trio.wait(&mut one, "north"), trio.wait(&mut two, "east")), (Some(2), Some(2)));
    let told = trio.told("north") + &trio.told("east");
    assert!(
        told.contains(&first) && told.contains(&second) && told.contains("Nothing was released"),
        "{told}"
    );
    assert_eq!((trio.charged("north"), trio.charged("east")), (0, 0));
    // Each side says in its own words whose hash is whose.
    assert!(trio.told("north").contains(&format!("its agreement has the hash {second}, ours has {first}")));
    assert!(trio.told("east").contains(&format!("its agreement has the hash {first}, ours has {second}")));
}

/// Two that only look find it out too; and whoever looks with another agreement stops nobody that waits.
#[test]
fn two_agreements_are_found_out_by_looking() {
    let trio = Trio::new("prdo", 5);
    trio.agree("second.agreement");
    let typed = |name: &str, agreement: &str| {
        format!(
            "node check {agreement} --key {name}.key --data {name}.csv --ledger {name}-look.ledger --wait 3"
        )
    };
    let mut one = trio.spawn(&typed("north", "all.agreement"), "north");
    let mut two = trio.spawn(&typed("east", "second.agreement"), "east");
    assert_eq!((trio.wait(&mut one, "north"), trio.wait(&mut two, "east")), (Some(2), Some(2)));
    for name in ["north", "east"] {
        let shown = trio.desk.read(&format!("{name}.out"));
        assert!(shown.contains("another agreement") || shown.contains("signed different texts"), "{shown}");
    }
    let waits = trio.typed("east", "second.agreement", "east").replace("--give-up 60", "--give-up 4");
    let mut waiting = trio.spawn(&waits, "east");
    let answer = trio.desk.prdo(&typed("north", "all.agreement"));
    assert_eq!(answer.code, Some(2), "{}", answer.stderr);
    assert_eq!(trio.wait(&mut waiting, "east"), Some(2));
    assert!(trio.told("east").contains("without meeting"), "{}", trio.told("east"));
}

#[test]
fn check_reaches_neighbours_that_look_too() {
    let trio = Trio::new("prdo", 5);
    let typed =
        |name: &str| format!("node check all.agreement --key {name}.key --data {name}.csv --wait 20 --json");
    let mut children: Vec<_> = NAMES.iter().map(|name| trio.spawn(&typed(name), name)).collect();
    for (child, name) in children.iter_mut().zip(NAMES) {
        trio.done(child, name);
        let told: serde_json::Value = serde_json::from_str(&trio.desk.read(&format!("{name}.out"))).unwrap();
        assert_eq!(told["neighbours"].as_array().unwrap().len(), 2);
        assert_eq!(told["epsilon_spent"], 0.0);
    }
    let alone = typed("east").replace("--wait 20 --json", "--wait 1");
    let answer = trio.desk.prdo(&alone);
    assert_eq!(answer.code, Some(2));
    assert!(answer.stdout.contains("south") && answer.stdout.contains("not reached"), "{}", answer.stdout);
    assert!(answer.stderr.contains("not reached: north, south"), "{}", answer.stderr);
    assert!(trio.desk.listing().iter().all(|name| !name.ends_with(".ledger")));
}
