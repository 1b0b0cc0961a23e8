//! kill -9 at random moments, and Ctrl-C: a resumed run reaches the same final bits as an uninterrupted one.

use crate::common::{Desk, SMALL, refused};
use std::process::Stdio;
use std::time::Duration;

/// Long enough to be killed several times, short enough for a test.
fn long() -> String {
    SMALL.replace("rounds = 40", "rounds = 3000") + "\n[metrics]\nevery = 50\nmoments = true\n"
}

const RESULTS: [&str; 4] = ["model.safetensors", "metrics.csv", "moments.csv", "run.toml"];

/// Equal bytes, or the first line (or byte) that differs.
#[track_caller]
fn same(whole: &[u8], cut: &[u8], file: &str) {
    if whole != cut {
        let (a, b) = (String::from_utf8_lossy(whole), String::from_utf8_lossy(cut));
        let differs = a.lines().zip(b.lines()).enumerate().find(|(_, (a, b))| a != b);
        panic!("{file}: {} against {} bytes, first difference {differs:?}", whole.len(), cut.len());
    }
}

#[test]
fn killed_twenty_times_and_resumed_to_the_same_bits() {
    let desk = Desk::new();
    desk.write("long.toml", long());
    desk.prdo("run long.toml --out whole").done();

    let (mut kills, mut folder_number) = (0, 0);
    let mut state = 12345_u64;
    while kills < 20 {
        folder_number += 1;
        let out = format!("cut-{folder_number}");
        let mut resume = "";
        loop {
            let arguments = format!("run long.toml --out {out} --checkpoint-every 0.002{resume}");
            let mut child =
                desk.command(&arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            std::thread::sleep(Duration::from_millis(5 + (state >> 33) % 120));
            if child.try_wait().unwrap().is_none() {
                child.kill().unwrap();
                kills += 1;
            }
            let output = child.wait_with_output().unwrap();
            if output.status.success() {
                break;
            }
            let killed = output.status.code().is_none();
            assert!(killed, "{}", String::from_utf8_lossy(&output.stderr));
            resume = if desk.path(&out).join(".prdo-lock").is_file() { " --resume" } else { "" };
        }
        for file in RESULTS {
            same(&desk.bytes(&format!("whole/{file}")), &desk.bytes(&format!("{out}/{file}")), file);
        }
    }
}

#[test]
fn ctrl_c_writes_a_checkpoint_and_says_how_to_resume() {
    let desk = Desk::new();
    desk.write("long.toml", long().replace("rounds = 3000", "rounds = 200000"));
    let child = desk
        .command("run long.toml --out out")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while !desk.path("out/metrics.csv").is_file() {
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(300));
    let kill = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("--resume") && stderr.contains("stopped after round"), "{stderr}");
    assert!(desk.path("out/checkpoint/state").is_file());

    // Another run file does not fit the checkpoint, and a damaged checkpoint is refused.
    let other = desk.prdo("run long.toml --out out --resume --set method.gamma=0.3");
    assert_eq!(other.code, Some(2));
    assert!(other.stderr.contains("other settings: method.gamma is 0.3 here and 0."), "{}", other.stderr);
    // Its own run file goes on with it, wherever it is typed.
    let shorter = desk.prdo("run out/run.toml --out out --resume --set rounds=300000");
    assert!(shorter.stderr.contains("rounds is 300000 here and 200000 there"), "{}", shorter.stderr);
    let mut own = desk.command("run run.toml --out . --resume --checkpoint-every 0");
    let mut own = own.current_dir(desk.path("out")).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    own.kill().unwrap();
    let own = String::from_utf8_lossy(&own.wait_with_output().unwrap().stderr).into_owned();
    assert!(own.contains("resuming after round"), "{own}");
    let mut bytes = desk.bytes("out/checkpoint/state");
    bytes[100] ^= 1;
    desk.write("out/checkpoint/state", &bytes);
    let damaged = desk.prdo("run long.toml --out out --resume");
    assert_eq!(damaged.code, Some(2));
    assert!(damaged.stderr.contains("damaged"), "{}", damaged.stderr);
}

#[test]
fn an_interrupted_comparison_resumes_inside_its_runs() {
    let desk = Desk::new();
    let seeds = SMALL.replace("rounds = 40", "rounds = 20000\nseed = [1, 2]");
    desk.write("seeds.toml", seeds + "\n[metrics]\nevery = 50\n");
    let child = desk.command("compare seeds.toml --out cut").stderr(Stdio::piped()).spawn().unwrap();
    let rows = |number: usize| desk.path(&format!("cut/parts/{number}/metrics.csv"));
    while !(0..2).any(|k| std::fs::read_to_string(rows(k)).is_ok_and(|text| text.lines().count() > 3)) {
        std::thread::sleep(Duration::from_millis(5));
    }
    let kill = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let begun = |k: &usize| desk.path(&format!("cut/parts/{k}/checkpoint/state")).is_file();
    let begun: Vec<usize> = (0..2).filter(begun).collect();
    assert!(!begun.is_empty());

    // A checkpoint that does not fit, or is damaged, is not used: its run begins anew.
    if let [_, other] = begun[..] {
        desk.write(&format!("cut/parts/{other}/checkpoint/state"), "damaged");
    }
    let cut = desk.prdo("compare seeds.toml --out cut --json").json();
    let whole = desk.prdo("compare seeds.toml --out whole --json").json();
    for k in 0..2 {
        let of = |json: &serde_json::Value| json["runs"][k]["metrics"].clone();
        assert!(of(&whole).as_array().is_some_and(|rows| rows.len() == 401) && of(&cut) == of(&whole), "{k}");
        assert_eq!(cut["runs"][k]["node_accuracy"], whole["runs"][k]["node_accuracy"]);
    }
    assert!(!desk.path("cut/parts").exists());
}

/// Begins a job of many runs, and ends it by this signal once some of its runs are finished.
fn cut(desk: &Desk, command: &str, out: &str, signal: &str) -> std::process::Output {
    let child = desk.command(&format!("{command} --out {out}")).stderr(Stdio::piped()).spawn().unwrap();
    while finished(desk, out) < 2 {
        std::thread::sleep(Duration::from_millis(2));
    }
    let kill = std::process::Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    child.wait_with_output().unwrap()
}

/// How many of its runs are finished.
fn finished(desk: &Desk, out: &str) -> usize {
    let entries = std::fs::read_dir(desk.path(&format!("{out}/parts"))).into_iter().flatten().flatten();
    entries.filter(|entry| entry.path().extension().is_some_and(|end| end == "json")).count()
}

/// Without what differs from one machine's mood to another's.
fn timeless(mut json: serde_json::Value) -> serde_json::Value {
    for best in json["best"].as_array_mut().into_iter().flatten() {
        best["seconds"].take();
    }
    json
}

#[test]
fn an_interrupted_search_or_question_is_resumed_and_finds_the_same() {
    let desk = Desk::new();
    desk.write("long.toml", SMALL.replace("rounds = 40", "rounds = 4000") + "\n[metrics]\nevery = 400\n");
    let tune = "tune long.toml --methods ed,prdo --trials 5 --seeds 2 --keep rounds";
    let worth = "worth long.toml --seeds 2 --set privacy.epsilon=4.0 --set privacy.delta=1e-3 --set clip.gradient=1.0 \
                 --set clip.difference=1.0 --set data.test=0.2";
    for (job, command) in [("tuned", tune), ("worth", worth)] {
        let output = cut(&desk, command, job, "-INT");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{said}");
        let again = said.lines().find_map(|line| line.split_once("resume with: prdo ")).unwrap().1;
        let kept = finished(&desk, job);
        assert!(said.contains(&format!("stopped: {kept} of ")), "{said}");
        // Another job does not take its place unasked.
        refused(&desk, &format!("{again} --set seed=7"), &["other settings", "--overwrite"]);
        assert_eq!(finished(&desk, job), kept);
        let resumed = timeless(desk.prdo(&format!("{again} --json")).json());
        let whole = timeless(desk.prdo(&format!("{command} --out whole-{job} --json")).json());
        assert_eq!(resumed, whole);
        assert!(!desk.path(&format!("{job}/parts")).exists());
    }
}

#[test]
fn a_charged_trial_that_is_finished_is_not_paid_for_again() {
    let desk = Desk::new();
    desk.write("mine.csv", crate::tune::table());
    desk.write("mine.toml", crate::tune::FILE);
    let command = "tune mine.toml --charge released.txt --methods ed --trials 4 --seeds 1 --keep rounds --set rounds=1000 \
                   --set privacy.statement=released.txt --set privacy.epsilon=200.0";
    cut(&desk, command, "charged", "-KILL");
    let entered = || desk.read("released.txt").matches("method.name=ed").count();
    let (before, kept) = (entered(), finished(&desk, "charged"));
    assert!(before >= kept && kept >= 2, "{before} {kept}");
    desk.prdo(&format!("{command} --out charged")).done();
    // Those that were begun and lost are paid for twice.
    assert_eq!(entered(), before + 7 - kept);
}
