//! `prdo reproduce table-1`, as a person types it over many days: in pieces, killed, gone on with.

use crate::common::{Desk, refused};
use serde_json::Value as Json;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// The results in a folder.
fn results(desk: &Desk, out: &str) -> Json {
    serde_json::from_str(&desk.read(&format!("{out}/results.json"))).unwrap()
}

/// A cell without what differs from one machine, and one piece, to another.
fn timeless(cell: &Json) -> Json {
    let mut cell = cell.clone();
    cell.as_object_mut().unwrap().remove("seconds").unwrap();
    cell
}

fn timeless_cells(results: &Json) -> Vec<Json> {
    results["cells"].as_array().unwrap().iter().map(timeless).collect()
}

fn start(desk: &Desk, arguments: &str) -> Child {
    desk.command(arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits until a file is there.
fn wait_for(desk: &Desk, file: &str) {
    let started = Instant::now();
    while !desk.path(file).is_file() {
        assert!(started.elapsed() < Duration::from_secs(60), "{file} does not appear");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn quick_fills_every_cell_and_says_that_it_is_not_the_papers_setting() {
    let desk = Desk::new();
    let json = desk.prdo("reproduce table-1 --quick --json --out t").json();
    let cells = json["cells"].as_array().unwrap();
    let methods: Vec<&str> = cells.iter().map(|cell| cell["method"].as_str().unwrap()).collect();
    assert_eq!(methods, ["prdo", "ed", "edm", "mt", "dsgd"]);
    assert_eq!(json["unfinished"], 0);
    for cell in cells {
        assert_eq!((cell["epsilon"].as_f64(), cell["rounds"].as_u64()), (Some(8.0), Some(60)));
        assert_eq!((cell["rounds_done"].as_u64(), cell["finished"].as_bool()), (Some(60), Some(true)));
        assert_eq!((cell["seed"].as_u64(), cell["setting"].as_str()), (Some(1), Some("quick")));
        assert!(cell["noise_multiplier"].as_f64().unwrap() > 0.1 && cell["seconds"].as_f64().unwrap() > 0.0);
        assert!(cell["epsilon_proven"].as_f64().unwrap() <= 8.0);
        assert!(cell["note"].as_str().unwrap().contains("not the paper's setting"));
        assert_eq!(cell["averaged_rounds"], serde_json::json!([56, 57, 58, 59, 60]));
        // The mean of the last five, and better than chance by far.
        let curve = cell["curve"].as_array().unwrap();
        let late: f64 = curve[curve.len() - 5..].iter().map(|point| point[1].as_f64().unwrap()).sum();
        let accuracy = cell["accuracy"].as_f64().unwrap();
        assert!((accuracy - late / 5.0).abs() < 1e-12 && accuracy > 0.5, "{accuracy}");
    }
    for file in ["table.md", "table.tex", "report.html"] {
        assert!(desk.read(&format!("t/{file}")).contains("not the paper's setting"), "{file}");
    }
    assert_eq!(desk.read("t/table.csv").lines().count(), 6);
    for figure in ["accuracy-quick-T60", "partition-quick"] {
        assert!(desk.bytes(&format!("t/{figure}.png")).starts_with(b"\x89PNG"));
        assert!(desk.read(&format!("t/{figure}.svg")).contains("<svg"));
    }

    // A cell is an ordinary run: its run file gives the same bits.
    let cell = "t/cells/quick-prdo-eps8-T60-seed1";
    desk.prdo(&format!("run {cell}/run.toml --out again")).done();
    for file in ["metrics.csv", "model.safetensors", "run.toml"] {
        assert_eq!(desk.bytes(&format!("{cell}/{file}")), desk.bytes(&format!("again/{file}")), "{file}");
    }
}

#[test]
fn calls_add_up_in_one_results_file_and_finished_cells_are_not_run_again() {
    let desk = Desk::new();
    desk.prdo("reproduce table-1 --quick --methods prdo --out t").done();
    let first = results(&desk, "t");
    assert_eq!(first["cells"].as_array().unwrap().len(), 1);
    let answer = desk.prdo("reproduce table-1 --quick --methods prdo,ed --seeds 1,2 --out t").done();
    assert!(
        !answer.stderr.contains("cell 1 of 4") && answer.stderr.contains("cell 2 of 4"),
        "{}",
        answer.stderr
    );
    assert!(answer.stdout.contains("(2 seeds)"), "{}", answer.stdout);
    let second = results(&desk, "t");
    assert_eq!(second["cells"].as_array().unwrap().len(), 4);
    assert_eq!(first["cells"][0], second["cells"][0]);

    // Another horizon stands beside it, in a table of its own.
    desk.prdo("reproduce table-1 --quick --methods ed --rounds 20 --epsilon 2 --out t").done();
    assert_eq!(results(&desk, "t")["cells"].as_array().unwrap().len(), 5);
    let table = desk.read("t/table.md");
    assert!(table.contains("T = 20") && table.contains("T = 60"), "{table}");

    let before = desk.bytes("t/results.json");
    let again = desk.prdo("reproduce table-1 --quick --methods prdo,ed --seeds 1,2 --out t").done();
    assert!(again.stderr.contains("finished already"), "{}", again.stderr);
    assert_eq!(desk.bytes("t/results.json"), before);

    // The file alone can be gone on with elsewhere.
    desk.write("elsewhere/results.json", &before);
    let moved = desk.prdo("reproduce table-1 --quick --methods prdo,mt --out elsewhere").done();
    assert!(moved.stderr.contains("DP-MT") && !moved.stderr.contains("PRDO"), "{}", moved.stderr);
    assert_eq!(results(&desk, "elsewhere")["cells"].as_array().unwrap().len(), 6);
}

#[test]
#[ignore = "slow: run by .ci/run"]
fn killed_again_and_again_it_reaches_the_same_table() {
    let desk = Desk::new();
    let arguments =
        "reproduce table-1 --quick --methods prdo,dsgd --rounds 1200 --checkpoint-every 0.01 --out";
    desk.prdo(&format!("{arguments} whole")).done();
    let (mut kills, mut state) = (0, 99_u64);
    loop {
        let mut child = start(&desk, &format!("{arguments} cut"));
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let patience = if kills < 12 { 40 + (state >> 33) % 250 } else { 60_000 };
        let started = Instant::now();
        while child.try_wait().unwrap().is_none() && started.elapsed() < Duration::from_millis(patience) {
            std::thread::sleep(Duration::from_millis(3));
        }
        if child.try_wait().unwrap().is_none() {
            child.kill().unwrap();
            kills += 1;
        }
        let output = child.wait_with_output().unwrap();
        if output.status.success() {
            break;
        }
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code().is_none(), "{stderr}");
    }
    assert!(kills > 3, "it was too fast to be killed: {kills}");
    let (whole, cut) = (results(&desk, "whole"), results(&desk, "cut"));
    assert_eq!(timeless_cells(&whole), timeless_cells(&cut));
    for cell in ["quick-prdo-eps8-T1200-seed1", "quick-dsgd-eps8-T1200-seed1"] {
        for file in ["metrics.csv", "model.safetensors"] {
            let (a, b) = (format!("whole/cells/{cell}/{file}"), format!("cut/cells/{cell}/{file}"));
            assert!(desk.bytes(&a) == desk.bytes(&b), "{cell}/{file}");
        }
    }
}

#[test]
fn ctrl_c_keeps_what_is_done_and_says_how_to_go_on() {
    let desk = Desk::new();
    let arguments = "reproduce table-1 --quick --methods prdo,mt --rounds 1000000 --out t";
    let child = start(&desk, arguments);
    wait_for(&desk, "t/cells/quick-prdo-eps8-T1000000-seed1/metrics.csv");
    std::thread::sleep(Duration::from_millis(400));
    // Meanwhile nobody else works on that cell; the other one is free.
    let busy = desk.prdo("reproduce table-1 --quick --methods prdo --rounds 1000000 --out t").done();
    assert!(busy.stderr.contains("another prdo process is at it"), "{}", busy.stderr);
    let kill = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    let command = "prdo reproduce table-1 --quick --methods prdo,mt --rounds 1000000 --out t";
    assert!(stderr.contains(command), "{stderr}");
    let cell = &results(&desk, "t")["cells"][0];
    assert_eq!(cell["finished"], false);
    let done = cell["rounds_done"].as_u64().unwrap();
    assert!(done > 0 && cell["accuracy"].is_f64() && cell["seconds"].as_f64().unwrap() > 0.0, "{cell}");
    for file in ["t/table.md", "t/report.html"] {
        let text = desk.read(file);
        assert!(text.contains("of 1,000,000 rounds: ") && text.contains("so far"), "{file}: {text}");
        assert!(text.contains("not run yet") && text.contains(command), "{file}");
    }

    // Drawn again without training, and to the same.
    let before = (desk.bytes("t/results.json"), desk.read("t/table.md"));
    std::fs::remove_file(desk.path("t/table.md")).unwrap();
    let drawn = desk.prdo(&format!("{arguments} --table-only --json")).json();
    assert_eq!(
        (drawn["unfinished"].as_u64(), drawn["cells"][0]["rounds_done"].as_u64()),
        (Some(2), Some(done))
    );
    assert_eq!((desk.bytes("t/results.json"), desk.read("t/table.md")), before);
}

#[test]
fn the_lock_of_a_dead_process_blocks_nobody_and_a_lost_results_file_is_found_in_the_cells() {
    let desk = Desk::new();
    let arguments = "reproduce table-1 --quick --methods ed --rounds 800 --checkpoint-every 0.01 --out t";
    let mut child = start(&desk, arguments);
    wait_for(&desk, "t/cells/quick-ed-eps8-T800-seed1/checkpoint/state");
    child.kill().unwrap();
    child.wait().unwrap();
    let answer = desk.prdo(arguments).done();
    assert!(answer.stderr.contains("resuming after round"), "{}", answer.stderr);
    let whole = timeless_cells(&results(&desk, "t"));
    std::fs::remove_file(desk.path("t/results.json")).unwrap();
    let found = desk.prdo(arguments).done();
    assert!(!found.stderr.contains("cell 1"), "it was trained again: {}", found.stderr);
    assert_eq!(timeless_cells(&results(&desk, "t")), whole);
}

#[test]
fn a_results_file_that_is_not_understood_is_refused_and_kept() {
    let desk = Desk::new();
    desk.prdo("reproduce table-1 --quick --methods ed --out t").done();
    let good = desk.read("t/results.json");
    let finished = "\"rounds_done\":60";
    for (bad, word) in [
        (good[..good.len() / 2].to_string(), "damaged"),
        (good.replace("version 1", "version 2"), "format"),
        (good.replace(finished, "\"rounds_done\":59"), "finished after 59"),
        (good.replace(finished, "\"rounds_done\":60,\"lucky\":true"), "lucky"),
        ("{}".to_string(), "not a file of table-1 results"),
        (String::new(), "damaged"),
    ] {
        desk.write("t/results.json", &bad);
        for option in ["", " --table-only"] {
            refused(
                &desk,
                &format!("reproduce table-1 --quick --out t{option}"),
                &["results.json", word, "kept"],
            );
        }
        assert_eq!(desk.read("t/results.json"), bad);
    }
}

#[test]
fn wrong_input_is_refused_before_anything_is_trained() {
    let desk = Desk::new();
    let looked = ["data_batch_1.bin", "data/cifar-10-batches-bin", "prdo data get cifar10"];
    refused(&desk, "reproduce table-1 --out t", &looked);
    refused(&desk, "reproduce table-1 --out t --data images", &["images/cifar-10-batches-bin", "--data DIR"]);
    // Images that are whole but too few: the table would not be the paper's.
    desk.write("cut/cifar-10-batches-bin/data_batch_1.bin", vec![1; 3073 * 20]);
    refused(&desk, "reproduce table-1 --out t --data cut", &["data_batch_1.bin", "61460 bytes", "30730000"]);
    let paper = "reproduce table-1 --noise paper";
    refused(&desk, &format!("{paper} --rounds 500"), &["--noise paper", "--rounds 500", "9500"]);
    refused(&desk, &format!("{paper} --epsilon 5"), &["--noise paper", "--epsilon 5"]);
    refused(&desk, &format!("{paper} --quick"), &["--noise paper", "--quick"]);
    let quick = "reproduce table-1 --quick";
    refused(&desk, &format!("{quick} --start fan-in"), &["--start fan-in", "--quick", "starts at 0"]);
    refused(&desk, &format!("{quick} --methods prdo,adam"), &["adam", "prdo, ed, edm, mt, dsgd"]);
    refused(&desk, &format!("{quick} --epsilon 8,0"), &["--epsilon", "above 0"]);
    refused(&desk, &format!("{quick} --epsilon 8,1e-300"), &["privacy"]);
    refused(&desk, &format!("{quick} --rounds 4"), &["--rounds", "5.."]);
    refused(&desk, &format!("{quick} --seeds 1,x"), &["--seeds"]);
    refused(&desk, &format!("{quick} --checkpoint-every -1"), &["--checkpoint-every"]);
    refused(&desk, &format!("{quick} --threads 0"), &["--threads"]);
    refused(&desk, &format!("{quick} --table-only"), &["--table-only", "results.json"]);
    desk.write("mine/thesis.tex", "years of work");
    refused(&desk, &format!("{quick} --out mine"), &["mine", "not empty"]);
}
