//! `prdo reproduce frontier`, as a person types it: in pieces, killed, gone on with.

use crate::common::{Desk, refused};
use serde_json::Value as Json;
use std::process::Stdio;
use std::time::Duration;

/// The runs of a results file without what differs from one machine to another.
fn timeless(desk: &Desk, out: &str) -> Vec<Json> {
    let results: Json = serde_json::from_str(&desk.read(&format!("{out}/results.json"))).unwrap();
    let mut runs = results["runs"].as_array().unwrap().clone();
    for run in &mut runs {
        run.as_object_mut().unwrap().remove("seconds").unwrap();
    }
    runs
}

#[test]
fn quick_gives_every_point_and_a_run_file_repeats_one() {
    let desk = Desk::new();
    let json = desk.prdo("reproduce frontier --quick --seeds 2 --json --out f").json();
    let points = json["points"].as_array().unwrap();
    assert_eq!((points.len(), json["unfinished"].as_u64()), (10, Some(0)));
    for point in points {
        let number = |key: &str| point[key].as_f64().unwrap_or_else(|| panic!("{key} of {point}"));
        assert_eq!(
            (point["data"].as_str(), point["features"].as_str()),
            (Some("digits"), Some("scattering"))
        );
        assert!(
            number("accuracy_mean") > 0.3 && number("accuracy_std") >= 0.0 && number("seeds") == 2.0,
            "{point}"
        );
        assert!(number("epsilon_proven") <= number("epsilon") && number("noise_multiplier") > 0.1, "{point}");
        assert!(number("seconds") > 0.0 && number("bytes_sent") > 0.0 && number("rate") > 0.0, "{point}");
    }
    let accuracy = |method: &str, epsilon: f64| {
        let here = |p: &&Json| p["method"] == method && p["epsilon"] == epsilon;
        points.iter().find(here).unwrap()["accuracy_mean"].as_f64().unwrap()
    };
    assert!(accuracy("edm", 8.0) > accuracy("edm", 1.0), "more budget, more accuracy");
    assert!(
        desk.bytes("f/frontier.png").starts_with(b"\x89PNG") && desk.read("f/frontier.svg").contains("<svg")
    );
    assert_eq!(desk.read("f/table.csv").lines().count(), 11);
    for file in ["f/table.md", "f/report.html"] {
        assert!(desk.read(file).contains("prdo reproduce frontier --quick --seeds 2 --out f"), "{file}");
    }

    let run = timeless(&desk, "f")[0]["folder"].as_str().unwrap().to_owned();
    desk.prdo(&format!("run f/runs/{run}/run.toml --out again")).done();
    for file in ["metrics.csv", "model.safetensors", "run.toml"] {
        assert_eq!(
            desk.bytes(&format!("f/runs/{run}/{file}")),
            desk.bytes(&format!("again/{file}")),
            "{file}"
        );
    }
}

#[test]
fn killed_it_goes_on_and_reaches_the_same_results() {
    let desk = Desk::new();
    let arguments = "reproduce frontier --quick --methods prdo,dsgd --epsilon 8 --seeds 3 --out";
    desk.prdo(&format!("{arguments} whole")).done();
    let mut kills = 0;
    for patience in [300, 500, 700, 60_000] {
        let mut child = desk.command(&format!("{arguments} cut")).stderr(Stdio::null()).spawn().unwrap();
        for _ in 0..patience / 5 {
            if child.try_wait().unwrap().is_some() {
                break;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        if child.try_wait().unwrap().is_none() {
            child.kill().unwrap();
            kills += 1;
        }
        child.wait().unwrap();
    }
    assert!(kills > 0, "it was too fast to be killed");
    assert_eq!(timeless(&desk, "whole"), timeless(&desk, "cut"));

    // Finished runs stay; the file alone can be gone on with elsewhere.
    let before = desk.bytes("cut/results.json");
    assert!(desk.prdo(&format!("{arguments} cut")).done().stderr.contains("finished already"));
    assert_eq!(desk.bytes("cut/results.json"), before);
    desk.write("elsewhere/results.json", &before);
    desk.prdo("reproduce frontier --quick --methods prdo,ed --epsilon 8 --seeds 1 --out elsewhere").done();
    assert_eq!(timeless(&desk, "elsewhere").len(), 7);
    let drawn = desk.prdo("reproduce frontier --quick --table-only --json --out elsewhere").json();
    assert_eq!(drawn["points"].as_array().unwrap().len(), 3);
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_trained() {
    let desk = Desk::new();
    refused(
        &desk,
        "reproduce frontier --folder nowhere",
        &["data_batch_1.bin", "prdo data get cifar10", "--quick"],
    );
    refused(&desk, "reproduce frontier --data dogs", &["dogs", "fashion-mnist"]);
    refused(&desk, "reproduce frontier --quick --features wavelets", &["wavelets", "scattering+patches"]);
    refused(&desk, "reproduce frontier --quick --epsilon 0", &["--epsilon", "0"]);
    refused(&desk, "reproduce frontier --quick --seeds 0", &["--seeds", "1..=1000"]);
    refused(&desk, "reproduce frontier --quick --table-only", &["holds no results"]);
    desk.write("f/results.json", "{\"format\": 1}");
    refused(
        &desk,
        "reproduce frontier --quick --out f",
        &["cannot resume from f/results.json", "move it away"],
    );
    assert_eq!(desk.read("f/results.json"), "{\"format\": 1}");
}
