//! Folders and files that earlier releases wrote stay readable, and what they left unfinished can be finished: see
//! `tests/kept/README.md`.

use crate::common::Desk;
use crate::common::golden::{mask, placeless, same, told, visible_text};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

fn kept(part: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kept/0.1.0").join(part)
}

/// A desk with a copy of a part of what is kept.
fn desk(part: &str) -> Desk {
    let desk = Desk::new();
    copy(&desk, &kept(part), "");
    desk
}

/// Copies a folder to the desk. `DESK` in a status is the folder in which it was written; keys and homes are for their
/// owner alone, which git does not keep.
fn copy(desk: &Desk, from: &Path, to: &str) {
    for entry in fs::read_dir(from).unwrap().map(|entry| entry.unwrap().path()) {
        let name = entry.file_name().unwrap().to_str().unwrap();
        let name = if to.is_empty() { name.to_string() } else { format!("{to}/{name}") };
        if entry.is_dir() {
            copy(desk, &entry, &name);
            continue;
        }
        let bytes = fs::read(&entry).unwrap();
        let here = desk.path("").display().to_string();
        match name.ends_with("status.json") {
            true => desk.write(&name, String::from_utf8(bytes).unwrap().replace("DESK/", &here)),
            false => desk.write(&name, bytes),
        };
        #[cfg(unix)]
        if name.ends_with(".key") || name.contains("/kept/") || name.ends_with(".ledger") {
            use std::os::unix::fs::PermissionsExt;
            fs::set_permissions(desk.path(&name), fs::Permissions::from_mode(0o600)).unwrap();
        }
    }
}

/// A process that does not outlive its test.
struct Serving(Child);

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What `prdo watch` tells the page about a folder, line by line and without the time of day.
fn watched(desk: &Desk, folder: &str) -> String {
    let mut command = desk.command(&format!("watch {folder} --json"));
    let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut serving = Serving(command.spawn().unwrap());
    let mut line = String::new();
    BufReader::new(serving.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let told: serde_json::Value = serde_json::from_str(&line).unwrap();
    let (host, path) = told["url"].as_str().unwrap()["http://".len()..].split_once('/').unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    write!(stream, "GET /{path}state.json?epoch=0&from=0 HTTP/1.1\r\nHost: {host}\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let mut state: serde_json::Value =
        serde_json::from_str(answer.split("\r\n\r\n").nth(1).unwrap()).unwrap();
    state.as_object_mut().unwrap().remove("now").unwrap();
    serde_json::to_string_pretty(&state).unwrap()
}

/// A folder's report as today's prdo makes it.
fn report(desk: &Desk, folder: &str, golden: &str) {
    desk.prdo(&format!("report {folder}")).done();
    same(golden, &placeless(desk, &visible_text(&desk.read(&format!("{folder}/report.html")))));
}

#[test]
fn a_finished_run_is_read_and_repeated() {
    let desk = desk("runs");
    same("kept/finished/watch.json", &watched(&desk, "finished"));
    report(&desk, "finished", "kept/finished/report.txt");
    let predicted = desk.prdo("predict finished new.csv").done();
    same("kept/finished/predicted.txt", &format!("{}\n{}", predicted.stdout, told(&predicted.stderr)));
    desk.prdo("export onnx finished --out finished.onnx").done();
    desk.prdo("run finished/run.toml --out again").done();
    assert_eq!(desk.bytes("again/model.safetensors"), desk.bytes("finished/model.safetensors"));
    let before = desk.read("finished/metrics.csv");
    assert_eq!(columns_of(&before, &desk.read("again/metrics.csv")), before);
    for file in ["run.toml", "summary.json"] {
        let (again, before) = (desk.read(&format!("again/{file}")), desk.read(&format!("finished/{file}")));
        let before = before.replace("prdo = \"0.1.0\"", &format!("prdo = \"{}\"", env!("CARGO_PKG_VERSION")));
        assert_eq!(mask(&again), mask(&before), "{file}");
    }
}

#[test]
fn an_interrupted_run_is_read_and_finished_to_the_same_bits() {
    let desk = desk("runs");
    same("kept/interrupted/watch.json", &watched(&desk, "interrupted"));
    report(&desk, "interrupted", "kept/interrupted/report.txt");
    let answer = desk.prdo("run long.toml --out interrupted --resume").done();
    assert!(answer.stderr.contains("resuming after round 114"), "{}", answer.stderr);
    desk.prdo("run long.toml --out uninterrupted").done();
    let moments = desk.bytes("uninterrupted/moments.csv");
    assert!(desk.bytes("interrupted/moments.csv") == moments);
    // The kept release did not stop there.
    let (model, metrics) = (desk.bytes("whole/model.safetensors"), desk.read("whole/metrics.csv"));
    for folder in ["interrupted", "uninterrupted"] {
        assert!(desk.bytes(&format!("{folder}/model.safetensors")) == model, "{folder}");
        assert_eq!(columns_of(&metrics, &desk.read(&format!("{folder}/metrics.csv"))), metrics, "{folder}");
    }
    assert!(!desk.path("interrupted/checkpoint").exists());
}

#[test]
fn comparisons_are_read_and_finished() {
    let desk = desk("runs");
    report(&desk, "comparison", "kept/comparison/report.txt");
    let parsed = |json: &str| serde_json::from_str::<serde_json::Value>(json).unwrap();
    let done = parsed(&desk.read("comparison-cut/parts/0.json"))["run"]["seconds"].clone();
    desk.prdo("compare compare.toml --out comparison-cut").done();
    // What took its time before is not trained again.
    assert!(done.is_number());
    assert_eq!(parsed(&desk.read("comparison-cut/comparison.json"))["runs"][0]["seconds"], done);
    let both = |file: &str| {
        let [cut, whole] =
            ["comparison-cut", "comparison"].map(|folder| desk.read(&format!("{folder}/{file}")));
        (mask(&cut), mask(&whole))
    };
    let (cut, whole) = both("table.csv");
    assert_eq!(columns_of(&whole, &cut), whole);
    // The words of a caption and a verdict are today's; the last digits of a p value are those of today's functions.
    let without_caption = |text: &str| text.lines().filter(|l| !l.contains("\\caption{")).collect::<String>();
    let (cut, whole) = both("table.tex");
    assert_eq!(without_caption(&cut), without_caption(&whole));
    let [(mut cut, cut_tests), (mut whole, whole_tests)] = ["comparison-cut", "comparison"].map(|folder| {
        let mut found = parsed(&desk.read(&format!("{folder}/comparison.json")));
        let fields = found.as_object_mut().unwrap();
        fields.remove("verdict").unwrap();
        let tests = fields.remove("differences").unwrap();
        (found, tests)
    });
    for run in [&mut cut, &mut whole].into_iter().flat_map(|found| found["runs"].as_array_mut().unwrap()) {
        run.as_object_mut().unwrap().remove("seconds").unwrap();
    }
    keep_columns(&whole, &mut cut);
    assert_eq!(cut, whole);
    assert_nearly_same(&cut_tests.to_string(), &whole_tests.to_string());
    let (cut, whole) = both("differences.csv");
    assert_nearly_same(&cut, &whole);
}

/// Leaves a comparison of today the columns of metrics that a kept one has.
fn keep_columns(kept: &serde_json::Value, today: &mut serde_json::Value) {
    let (head, all) = (kept["columns"].as_str().unwrap(), today["columns"].as_str().unwrap().to_string());
    for run in today["runs"].as_array_mut().unwrap() {
        let rows = run["metrics"].as_array_mut().unwrap();
        for row in rows {
            let cut = columns_of(head, &format!("{all}\n{}", row.as_str().unwrap()));
            *row = cut.lines().nth(1).unwrap().into();
        }
    }
    today["columns"] = head.into();
}

/// The columns of a table of today that a kept one has too, in its order: metrics may have joined since. No cell of these
/// has a comma.
fn columns_of(kept: &str, today: &str) -> String {
    let names = |text: &str| -> Vec<String> {
        text.lines().next().unwrap_or_default().split(',').map(String::from).collect()
    };
    let there = names(today);
    let find = |name: &String| there.iter().position(|other| other == name).expect(name);
    let places: Vec<usize> = names(kept).iter().map(find).collect();
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        places.iter().map(|&place| cells[place]).collect::<Vec<_>>().join(",") + "\n"
    };
    today.lines().map(row).collect()
}

/// The same text, but for the last digits of its numbers.
fn assert_nearly_same(a: &str, b: &str) {
    let parts = |text: &str| -> Vec<String> {
        let is_number = |c: char| c.is_ascii_digit() || ".-+e".contains(c);
        text.split_inclusive(|c| !is_number(c)).map(String::from).collect()
    };
    let (a, b) = (parts(a), parts(b));
    assert_eq!(a.len(), b.len());
    for (a, b) in a.iter().zip(&b) {
        let number = |text: &str| text.trim_end_matches([',', '}', ']', '\n']).parse::<f64>();
        match (number(a), number(b)) {
            (Ok(x), Ok(y)) => assert!((x - y).abs() <= 1e-9 * x.abs().max(y.abs()), "{x} and {y}"),
            _ => assert_eq!(a, b),
        }
    }
}

#[test]
fn a_statement_is_read_and_entered_into() {
    let desk = desk("runs");
    let ask = "privacy statement records.statement --delta 1e-3";
    let before = desk.prdo(ask).done().stdout;
    desk.prdo("run stated.toml --seed 3 --set privacy.epsilon=12 --out third").done();
    same("kept/statement.txt", &format!("{before}\n{}", desk.prdo(ask).done().stdout));
}

#[test]
fn results_of_experiments_are_drawn_without_training() {
    for name in ["table-1", "frontier"] {
        let desk = Desk::new();
        copy(&desk, &kept(name), name);
        let before = desk.bytes(&format!("{name}/results.json"));
        let answer = desk.prdo(&format!("reproduce {name} --table-only --out {name}")).done();
        assert_eq!(desk.bytes(&format!("{name}/results.json")), before, "{name}");
        for file in ["table.csv", "table.md"] {
            same(&format!("kept/{name}/{file}"), &desk.read(&format!("{name}/{file}")));
        }
        let report = visible_text(&desk.read(&format!("{name}/report.html")));
        same(&format!("kept/{name}/report.txt"), &report);
        same(&format!("kept/{name}/printed.txt"), &answer.stdout);
    }
}

const MEMBERS: [&str; 3] = ["north", "east", "south"];

#[test]
fn homes_of_nodes_are_read() {
    let desk = desk("node");
    for name in MEMBERS {
        let status = desk.prdo(&format!("node status {name}")).done().stdout;
        same(&format!("kept/node/{name}.status.txt"), &status);
    }
    same("kept/node/watch.json", &watched(&desk, "north"));
    report(&desk, "north", "kept/node/report.txt");
    let checked = "node check all.agreement --key east.key --data east.csv --offline";
    same("kept/node/check.txt", &desk.prdo(checked).done().stdout);

    let finished = self::desk("node-finished");
    finished.write("east.csv", desk.bytes("east.csv"));
    same("kept/node/finished.status.txt", &finished.prdo("node status north").done().stdout);
    same("kept/node/finished.watch.json", &watched(&finished, "north"));
    report(&finished, "north", "kept/node/finished.report.txt");
    same("kept/node/predicted.csv", &finished.prdo("predict north east.csv").done().stdout);
}

/// Only builds with checks rehearse with a seed: without one every start draws secrets of its own.
#[cfg(all(feature = "peers", debug_assertions))]
#[test]
fn nodes_go_on_to_the_bits_of_the_release_that_began_and_of_the_simulator() {
    use prdo_peer::ledger::contents::Contents;
    use std::net::UdpSocket;

    let desk = desk("node");
    copy(&desk, &kept("node-finished"), "finished");
    // The agreement has several addresses for each: somebody else on this machine may be at the first.
    let free =
        |host: &&u8| (4701..4704).all(|port| UdpSocket::bind(format!("127.22.0.{host}:{port}")).is_ok());
    let host = [1, 2, 3, 4].iter().find(free).expect("an address that is free");
    let start = |(number, name): (usize, &&str)| {
        let listen = format!("127.22.0.{host}:{}", 4701 + number);
        let typed = format!(
            "node run all.agreement --key {name}.key --data {name}.csv --home {name} --listen {listen} --linger 30 \
             --give-up 60"
        );
        let mut command = desk.checked(&typed);
        command.env("PRDO_TEST_SEED", "5").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    let children: Vec<Child> = MEMBERS.iter().enumerate().map(start).collect();
    for (child, name) in children.into_iter().zip(MEMBERS) {
        let output = child.wait_with_output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success() && told.contains("resuming after round"), "{name}: {told}");
    }
    desk.prdo("run run.toml --out simulated --seed 5").done();
    let (_, models) = prdo::store::read_models(&desk.bytes("simulated/model.safetensors")).unwrap();
    for (name, simulated) in MEMBERS.iter().zip(&models) {
        let model = desk.bytes(&format!("{name}/model.safetensors"));
        assert_eq!(model, desk.bytes(&format!("finished/{name}/model.safetensors")), "{name}");
        let bits: Vec<u8> = simulated.iter().flat_map(|value| value.to_le_bytes()).collect();
        assert!(model.ends_with(&bits), "{name}: not the simulator's");
        let ledger = Contents::parse(&desk.bytes(&format!("{name}.csv.ledger"))).unwrap();
        let [run] = ledger.runs() else { panic!("{name} has {} runs", ledger.runs().len()) };
        assert_eq!((run.charges.len(), run.ended), (40, true), "{name}");
    }
}
