//! Networks through the command: they learn, whatever the number of threads, resume, and their files fit elsewhere.

use crate::common::Desk;

/// A small convolutional network on the bundled digits, every kind of layer in it.
const DIGITS: &str = r#"
name = "digits"
rounds = 40
[graph]
nodes = 3
[data]
source = "digits"
[model]
kind = "network"
layers = ["conv 16", "tanh", "conv 16", "tanh", "max-pool 2", "conv 8 1x1", "group-norm 4", "relu", "average-pool 2", "dense 16", "tanh", "dense 10"]
[method]
name = "prdo"
step_size = 0.5
gamma = 0.3
[batch]
size = 60
[clip]
gradient = 1.0
difference = 0.1
[privacy]
epsilon = 8.0
delta = 1e-4
[metrics]
every = 20
"#;

#[test]
fn a_private_network_learns_the_digits() {
    let desk = Desk::new();
    desk.write("mlp.toml", desk.prdo("example mlp").done().stdout);
    let answer = desk.prdo("run mlp.toml --out mlp --json");
    // What it costs is said before it starts.
    assert!(
        answer.stderr.contains("dense 32") && answer.stderr.contains("2410 parameters;"),
        "{}",
        answer.stderr
    );
    assert!(answer.stderr.contains("MFLOP per record") && answer.stderr.contains("of memory for gradients"));
    let accuracy = answer.json()["test_accuracy"].as_f64().unwrap();
    assert!(accuracy > 0.85, "test accuracy {accuracy}");
}

#[test]
fn same_bits_for_any_threads_and_after_an_interruption() {
    let desk = Desk::new();
    desk.write("digits.toml", DIGITS);
    desk.prdo("run digits.toml --out one --threads 1").done();
    desk.prdo("run digits.toml --out three --threads 3 --checkpoint-every 0").done();
    assert_eq!(desk.bytes("one/model.safetensors"), desk.bytes("three/model.safetensors"));
    assert_eq!(desk.read("one/metrics.csv"), desk.read("three/metrics.csv"));

    // Stop it in the middle, by force, and go on.
    let mut child = desk.command("run digits.toml --out cut --checkpoint-every 0").spawn().unwrap();
    while !desk.path("cut/checkpoint/state").exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    desk.prdo("run digits.toml --out cut --resume").done();
    assert_eq!(desk.bytes("one/model.safetensors"), desk.bytes("cut/model.safetensors"));
}

#[test]
fn a_trained_model_is_a_public_start_by_name_and_shape() {
    let desk = Desk::new();
    desk.write("digits.toml", DIGITS);
    desk.prdo("run digits.toml --out first --set rounds=3").done();
    let second = desk
        .prdo("run digits.toml --out second --set rounds=3 --set model.file=\"first/model.safetensors\"")
        .done();
    // What ε rests on is said, and that this file may be no public one.
    let note = "starts from model.safetensors, which model.file declares to be public";
    for said in [&second.stderr, &desk.read("second/summary.json"), &desk.read("second/report.html")] {
        assert!(said.contains(note) && said.contains("a model that prdo trained"), "{said}");
    }
    assert!(!desk.read("first/summary.json").contains("declares to be public"));
    desk.write("other.toml", DIGITS.replace("\"dense 16\"", "\"dense 17\""));
    let refused = desk.prdo("run other.toml --out third --set model.file=\"first/model.safetensors\"");
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("fc1.weight"), "{}", refused.stderr);
    assert!(!desk.path("third").exists());
}

#[test]
fn networks_that_do_not_fit_are_refused_with_their_shapes() {
    let desk = Desk::new();
    for (layers, said) in [
        (r#"["conv 8", "max-pool 16", "dense 10"]"#, "8x8x8"),
        (r#"["conv 8", "batch-norm", "dense 10"]"#, "group-norm"),
        (r#"["conv 8", "dense 9"]"#, "10"),
    ] {
        let start = DIGITS.find("layers = ").unwrap();
        let end = start + DIGITS[start..].find('\n').unwrap();
        desk.write("bad.toml", format!("{}layers = {layers}{}", &DIGITS[..start], &DIGITS[end..]));
        let answer = desk.prdo("run bad.toml --out out");
        assert_eq!(answer.code, Some(2), "{layers}");
        assert!(answer.stderr.contains(said), "{layers}: {}", answer.stderr);
        assert!(!desk.path("out").exists());
    }
}
