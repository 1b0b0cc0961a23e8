//! Three real processes on this machine: the same bits as the simulator, whatever happens to them on the way.

use crate::common::peers::{NAMES, SEED, Trio};
use safetensors::SafeTensors;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::time::Duration;

const SAME: (&str, &str) = ("", "");

#[test]
fn three_processes_give_the_simulators_bits() {
    for (method, rounds, (usual, other)) in [
        ("prdo", 30, SAME),
        ("mt", 12, SAME),
        ("gt-hsgd", 8, SAME),
        ("gt", 8, SAME),
        ("deepstorm", 8, SAME),
        ("muffliato", 8, SAME),
        ("diff2", 14, SAME),
        // Links that go one way, and change.
        ("sgp", 9, ("\"ring\"", "\"directed-ring\"")),
        ("push-prdo", 9, ("\"ring\"", "\"one-peer-exponential\"")),
        ("gt", 9, ("\"ring\"", "\"one-peer-exponential\"")),
        // Fewer bytes, and fewer messages.
        ("prdo", 9, ("[batch]", "local_steps = 2\n\n[wire]\nkind = \"bits\"\n\n[batch]")),
        // More messages, in rounds and after them.
        ("prdo", 6, ("[batch]", "exchanges = 3\nfinal_mixings = 5\n\n[batch]")),
        ("muffliato", 5, ("[batch]", "exchanges = 6\nfinal_mixings = 2\n\n[batch]")),
        ("ed", 9, ("0.4\n", "\"0.4, 0.2 from 5\"\n\n[wire]\nkind = \"top\"\n")),
        // Noise that cancels between them.
        ("prdo", 12, ("delta = 1e-3", "delta = 1e-3\nnoise = \"pairs\"")),
        ("edm", 8, ("delta = 1e-3", "delta = 1e-3\nnoise = \"pairs\"\ncolluders = 0\nsecrets = \"graph\"")),
    ] {
        let trio = Trio::changed(method, rounds, |settings| settings.replacen(usual, other, 1));
        let mut children: Vec<_> = NAMES.iter().map(|name| (trio.start(name), *name)).collect();
        for (child, name) in &mut children {
            trio.done(child, name);
        }
        trio.same_as_simulated();
        let summary: serde_json::Value = serde_json::from_str(&trio.desk.read("east/summary.json")).unwrap();
        assert_eq!(summary["rounds"], rounds);
        assert_eq!(summary["test_seed"], "TEST SEED: not private");
        assert!(summary["epsilon_spent"].as_f64().unwrap() <= 6.0);
        assert_eq!(trio.desk.read("east.out").trim(), summary.to_string());
        assert!(trio.told("east").contains("TEST SEED: not private"));
        let status = trio.desk.prdo("node status east --json").json();
        assert_eq!((&status["state"], &status["round"]), (&"finished".into(), &rounds.into()));
        // The same command again: nothing is left to do.
        let again = trio.desk.prdo(&trio.typed("east", "all.agreement", "east")).done();
        assert!(again.stderr.contains("already finished"), "{}", again.stderr);
        let log = trio.desk.read("east/log.jsonl");
        for line in log.lines() {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            assert!(line["time"].is_string() && line["level"].is_string() && line["event"].is_string());
        }
        assert!(log.contains("\"peer\":\"north\"") && log.contains("test_seed"), "{log}");
    }
}

/// Gradients of networks are computed in single precision, and their models are written tensor by tensor.
#[test]
fn a_network_gives_the_simulators_bits_too() {
    let trio = Trio::with("prdo", 8, "kind = \"network\"\nlayers = [\"dense 6\", \"tanh\", \"dense 3\"]");
    let mut children: Vec<_> = NAMES.iter().map(|name| (trio.start(name), *name)).collect();
    for (child, name) in &mut children {
        trio.done(child, name);
    }
    trio.desk.prdo(&format!("run run.toml --out simulated --seed {SEED}")).done();
    let simulated = trio.desk.bytes("simulated/model.safetensors");
    let simulated = SafeTensors::deserialize(&simulated).unwrap();
    for (number, name) in NAMES.iter().enumerate() {
        let own = trio.desk.bytes(&format!("{name}/model.safetensors"));
        let own = SafeTensors::deserialize(&own).unwrap();
        assert_eq!(own.len(), 4);
        for (tensor, view) in own.tensors() {
            let theirs = simulated.tensor(&format!("nodes.{number}.{tensor}")).unwrap();
            assert_eq!((view.shape(), view.data()), (theirs.shape(), theirs.data()), "{name} {tensor}");
        }
    }
}

#[test]
fn killed_again_and_again_they_reach_the_same_bits() {
    let trio = Trio::new("prdo", 500);
    let mut children: Vec<_> = NAMES.iter().map(|name| trio.start(name)).collect();
    let (mut state, mut kills) = (7_u64, 0);
    while kills < 9 && children.iter_mut().all(|child| child.try_wait().unwrap().is_none()) {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(Duration::from_millis(20 + (state >> 40) % 300));
        let victim = (state >> 20) as usize % 3;
        children[victim].kill().unwrap();
        children[victim].wait().unwrap();
        children[victim] = trio.start(NAMES[victim]);
        kills += 1;
    }
    for (child, name) in children.iter_mut().zip(NAMES) {
        trio.done(child, name);
    }
    assert!(kills >= 3, "only {kills} kills");
    trio.same_as_simulated();
}

#[test]
fn a_late_member_is_waited_for_and_nothing_is_charged_before() {
    let trio = Trio::new("prdo", 6);
    let page = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let watched = format!("{} --status {page}", trio.typed("north", "all.agreement", "north"));
    let mut early = [trio.spawn(&watched, "north"), trio.start("east")];
    std::thread::sleep(Duration::from_millis(2500));
    assert_eq!((trio.charged("north"), trio.charged("east")), (0, 0));
    let status = trio.desk.prdo("node status north --json").json();
    assert_eq!((&status["state"], &status["round"]), (&"running".into(), &0.into()));
    assert_eq!(status["process"], early[0].id());
    let shown = trio.desk.prdo("node status north").done().stdout;
    assert!(shown.contains("south") && shown.contains("not reached") && shown.contains("running"), "{shown}");
    let metrics = get(page, "/metrics");
    assert!(
        metrics.contains("prdo_round 0") && metrics.contains("prdo_neighbour_up{neighbour=\"south\"} 0"),
        "{metrics}"
    );
    assert!(get(page, "/").contains("TEST SEED: not private"));
    let mut late = trio.start("south");
    for (child, name) in early.iter_mut().zip(NAMES) {
        trio.done(child, name);
    }
    trio.done(&mut late, "south");
    trio.same_as_simulated();
}

fn get(page: SocketAddr, path: &str) -> String {
    let mut stream = TcpStream::connect(page).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {page}\r\nConnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

/// Nodes that do not stay after their last round: whoever still lacks something gets it when they are started again.
#[test]
fn a_node_that_left_early_serves_its_neighbours_once_more() {
    let trio = Trio::new("mt", 10);
    let start = |name: &str| {
        let typed = trio.typed(name, "all.agreement", name).replace("--linger 30", "--linger 0.2");
        trio.spawn(&typed, name)
    };
    let mut children = NAMES.map(start);
    let finished = |name: &str| trio.desk.path(name).join("summary.json").is_file();
    for _ in 0..50 {
        for (child, name) in children.iter_mut().zip(NAMES) {
            if let Some(status) = child.try_wait().unwrap() {
                assert!(status.success(), "{name}: {}", trio.told(name));
                *child = start(name);
            }
        }
        if NAMES.iter().all(|name| finished(name)) {
            break;
        }
        std::thread::sleep(Duration::from_millis(200));
    }
    for (child, name) in children.iter_mut().zip(NAMES) {
        trio.done(child, name);
    }
    trio.same_as_simulated();
}

#[test]
fn a_member_that_is_told_to_stop_goes_on_later() {
    let trio = Trio::new("prdo", 80);
    let mut children: Vec<_> = NAMES.iter().map(|name| trio.start(name)).collect();
    trio.reach("east", 5);
    let id = children[1].id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    assert_eq!(trio.wait(&mut children[1], "east"), Some(1));
    let told = trio.told("east");
    assert!(told.contains("everything is saved: rerun the command to resume"), "{told}");
    let status = trio.desk.prdo("node status east --json").json();
    assert_eq!(status["state"], "stopped");
    let done = status["round"].as_u64().unwrap();
    assert!((4..80).contains(&done), "{done}");
    // ε and rounds are the ledger's, however old the last status is.
    assert_eq!(status["rounds_charged"], trio.charged("east") as u64);
    let old = trio.desk.read("east/status.json").replacen(&format!("\"round\": {done}"), "\"round\": 1", 1);
    trio.desk.write("east/status.json", old.replace("\"epsilon_spent\"", "\"epsilon_spent_\""));
    let by_ledger = trio.desk.prdo("node status east --json").json();
    assert_eq!(by_ledger["rounds_charged"], status["rounds_charged"]);
    let (spent, shown) =
        (by_ledger["epsilon_spent"].as_f64().unwrap(), status["epsilon_spent"].as_f64().unwrap());
    assert!((spent - shown).abs() < 1e-9, "{spent} {shown}");
    children[1] = trio.start("east");
    for (child, name) in children.iter_mut().zip(NAMES) {
        trio.done(child, name);
    }
    assert!(trio.told("east").contains(&format!("resuming after round {done}")));
    trio.same_as_simulated();

    // A second run on the same records does not fit the budget: refused before anything is sent.
    let before = trio.desk.bytes("north.csv.ledger");
    trio.agree("second.agreement");
    let typed = trio.typed("north", "second.agreement", "second");
    let answer = trio.desk.prdo(&typed);
    assert_eq!(answer.code, Some(2), "{}", answer.stderr);
    for words in ["privacy budget", "is spent", "north.csv.ledger", "--raise-budget"] {
        assert!(answer.stderr.contains(words), "{words}: {}", answer.stderr);
    }
    assert_eq!(trio.desk.bytes("north.csv.ledger"), before);
    // Its owner may raise it, and the ledger says so. Nobody else is there: nothing is charged.
    let raised = typed.replace("--give-up 60", "--give-up 1") + " --raise-budget 20";
    let answer = trio.desk.prdo(&raised);
    assert_eq!(answer.code, Some(2), "{}", answer.stderr);
    assert!(
        answer.stderr.contains("without meeting") && answer.stderr.contains("nothing was released"),
        "{}",
        answer.stderr
    );
    assert_eq!(trio.ledger("north").budget().unwrap().epsilon(), 20.0);
    assert_eq!(trio.charged("north"), 80);
}

/// A member leaves for good: the others sign a new agreement and go on from their models, with the ledgers they have.
#[test]
fn the_others_go_on_without_a_member_that_left() {
    let trio = Trio::new("prdo", 80);
    let mut children: Vec<_> = NAMES.iter().map(|name| trio.start(name)).collect();
    trio.reach("north", 4);
    for child in &mut children {
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let done = NAMES.map(|name| trio.charged(name)).into_iter().max().unwrap();
    let members = trio.desk.read("members.toml");
    let two: String = members.split_inclusive("\n\n").take(2).collect();
    trio.desk.write("two.toml", two);
    let rest =
        trio.desk.read("run.toml").replace("rounds = 80", "rounds = 5").replace("\"ring\"", "\"path\"");
    trio.desk.write("rest.toml", rest);
    let init = format!(
        "node init rest.toml --members two.toml --out two.agreement --continues all.agreement --rounds-done {done}"
    );
    trio.desk.prdo(&init).done();
    for name in &NAMES[..2] {
        trio.desk.prdo(&format!("node sign two.agreement --key {name}.key")).done();
    }
    let refused = trio.desk.prdo(&trio.typed("north", "two.agreement", "north-2"));
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("--from OLD_HOME"), "{}", refused.stderr);
    let start = |name: &str| {
        let typed = trio.typed(name, "two.agreement", &format!("{name}-2"));
        trio.spawn(&format!("{typed} --from {name}"), &format!("{name}-2"))
    };
    let mut children: Vec<_> = NAMES[..2].iter().map(|name| start(name)).collect();
    for (child, name) in children.iter_mut().zip(NAMES) {
        trio.done(child, &format!("{name}-2"));
    }
    let ledger = trio.ledger("north");
    assert_eq!(ledger.runs().len(), 2);
    assert_eq!((ledger.runs()[1].charges.len(), ledger.runs()[1].ended), (5, true));
    assert!(trio.model("north-2").iter().all(|v| v.is_finite()));
}
