//! Exports, doctor, completions, manual pages and the version, as a person types them.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{Desk, SMALL, refused};
use prdo::output::parse_rows;

const NETWORK: &str = r#"name = "net"
rounds = 2
[graph]
kind = "ring"
nodes = 3
[data]
source = "digits"
[model]
kind = "network"
layers = ["dense 8", "tanh", "dense 10"]
[method]
name = "ed"
step_size = 0.1
"#;

/// The texts in a protocol-buffer file, roughly: names and operators are readable as they stand.
fn readable(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_run_is_written_for_other_tools() {
    let desk = Desk::new();
    desk.write("small.toml", SMALL);
    desk.prdo("run small.toml --out out").done();
    desk.prdo("export parquet out").done();
    let parquet = desk.bytes("out/metrics.parquet");
    assert!(parquet.starts_with(b"PAR1") && parquet.ends_with(b"PAR1"));
    assert!(readable(&parquet).contains("clipped_difference_fraction"));

    desk.prdo("export tensorboard out --out logs").done();
    let events = desk.bytes("logs/events.out.tfevents.0000000000.prdo");
    let rows = parse_rows(&desk.read("out/metrics.csv"));
    assert_eq!(readable(&events).matches("privacy/epsilon_spent").count(), rows.len());

    desk.prdo("export onnx out --out average.onnx").done();
    desk.prdo("export onnx out --out own.onnx --node 3").done();
    let (average, own) = (desk.bytes("average.onnx"), desk.bytes("own.onnx"));
    assert!(readable(&average).contains("Gemm") && readable(&average).contains("scores") && average != own);
    assert!(readable(&average).contains("ε = ") && readable(&own).contains("node 3"));

    refused(&desk, "export onnx out --out average.onnx", &["is there already", "--overwrite"]);
    desk.prdo("export onnx out --out average.onnx --overwrite").done();
    refused(&desk, "export onnx out --out x.onnx --node 4", &["--node 4", "from 0 to 3"]);
    refused(&desk, "export onnx out --out logs", &["is a folder"]);
    refused(&desk, "export parquet nowhere", &["nowhere/metrics.csv", "folder of a run"]);
    desk.write("out/metrics.csv", "nonsense");
    refused(&desk, "export tensorboard out --out elsewhere", &["has no rows"]);
    desk.write("out/model.safetensors", "nonsense");
    refused(&desk, "export onnx out --out x.onnx", &["model.safetensors"]);
}

#[test]
fn networks_are_exported_with_the_names_of_their_tensors() {
    let desk = Desk::new();
    desk.write("net.toml", NETWORK);
    desk.prdo("run net.toml --out out").done();
    desk.prdo("export onnx out").done();
    let text = readable(&desk.bytes("out/model.onnx"));
    for name in ["fc1.weight", "fc2.bias", "Tanh", "not private"] {
        assert!(text.contains(name), "{name}");
    }
    refused(&desk, "export onnx out --out x.onnx --node 3", &["missing nodes.3.fc1.weight"]);
    desk.write(
        "quadratic.toml",
        NETWORK
            .replace("digits", "quadratic")
            .replace("network", "quadratic")
            .replace("layers = [\"dense 8\", \"tanh\", \"dense 10\"]\n", ""),
    );
    desk.prdo("run quadratic.toml --out flat").done();
    refused(&desk, "export onnx flat --out x.onnx", &["\"quadratic\"", "no predictions"]);
}

#[test]
fn the_doctor_names_what_is_there_and_what_to_do() {
    let desk = Desk::new();
    let answer = desk.prdo("doctor").done();
    for part in ["instructions: ", "randomness", "loopback", "prdo data get cifar10", "prdo demo"] {
        assert!(answer.stdout.contains(part), "{part}: {}", answer.stdout);
    }
    let json = desk.prdo("doctor --json").json();
    assert_eq!(json["ready"], true);
    let names: Vec<&str> =
        json["checks"].as_array().unwrap().iter().filter_map(|c| c["name"].as_str()).collect();
    for name in ["processor", "cores", "memory", "randomness", "loopback", "network", "disk", "data"] {
        assert!(names.contains(&name), "{name}");
    }
    assert!(json["build"]["compiler"].as_str().unwrap().contains("rustc"));
    desk.write("data/mnist/train-images-idx3-ubyte", "");
    let partly = desk.prdo("doctor").done().stdout;
    assert!(partly.contains("lacks train-labels-idx1-ubyte"), "{partly}");
}

#[test]
fn shells_and_manuals_know_every_command() {
    let desk = Desk::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let text = desk.prdo(&format!("completions {shell}")).done().stdout;
        assert!(text.contains("reproduce") && text.contains("doctor"), "{shell}");
    }
    assert!(desk.prdo("man").done().stdout.contains(".TH prdo"));
    desk.prdo("man --out pages").done();
    for page in ["prdo.1", "prdo-run.1", "prdo-privacy-noise.1", "prdo-node-init.1"] {
        assert!(desk.read(&format!("pages/{page}")).contains(".SH"), "{page}");
    }
    desk.write("file", "");
    let answer = desk.prdo("man --out file");
    assert_eq!(answer.code, Some(2), "{}", answer.stderr);
    refused(&desk, "completions tcsh", &["tcsh", "possible values"]);
}

#[test]
fn the_version_is_short_or_says_how_it_was_built() {
    let desk = Desk::new();
    let short = desk.prdo("-V").done().stdout;
    assert_eq!(short.trim(), format!("prdo {}", env!("CARGO_PKG_VERSION")));
    let long = desk.prdo("--version").done().stdout;
    for fact in ["source: ", "compiler: rustc", "target: ", "features: ", "instructions: "] {
        assert!(long.contains(fact), "{fact}: {long}");
    }
}
