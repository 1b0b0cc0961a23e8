//! Exports, doctor, completions, manual pages and the version, as a person types them.

use crate::common::{Desk, SMALL, refused};
use prdo::store::parse_rows;

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
    if cfg!(feature = "parquet") {
        desk.prdo("export parquet out").done();
        let parquet = desk.bytes("out/metrics.parquet");
        assert!(parquet.starts_with(b"PAR1") && parquet.ends_with(b"PAR1"));
        assert!(readable(&parquet).contains("clipped_difference_fraction"));
    } else {
        let words = "this prdo was built without Parquet; rebuild it with --features parquet";
        refused(&desk, "export parquet out", &[words]);
    }

    desk.prdo("export tensorboard out --out logs").done();
    let events = desk.bytes("logs/events.out.tfevents.0000000000.prdo");
    let rows = parse_rows(&desk.read("out/metrics.csv"));
    assert_eq!(readable(&events).matches("privacy/epsilon_spent").count(), rows.len());

    desk.prdo("run small.toml --out live --tensorboard").done();
    let live = desk.bytes("live/tensorboard/events.out.tfevents.0000000000.prdo");
    assert_eq!(live.len(), events.len());
    assert_eq!(readable(&live).matches("training/loss").count(), rows.len());

    desk.prdo("export onnx out --out average.onnx").done();
    desk.prdo("export onnx out --out own.onnx --node 3").done();
    let (average, own) = (desk.bytes("average.onnx"), desk.bytes("own.onnx"));
    assert!(readable(&average).contains("Gemm") && readable(&average).contains("scores") && average != own);
    assert!(readable(&average).contains("ε = ") && readable(&own).contains("node 3"));

    refused(&desk, "export onnx out --out average.onnx", &["already exists", "--overwrite"]);
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

const PEOPLE: &str = r#"name = "people"
rounds = 60
[graph]
kind = "complete"
[data]
source = "file"
path = "people.csv"
label = "outcome"
node = "clinic"
[model]
kind = "logistic"
[method]
name = "ed"
step_size = 0.5
"#;

/// Two classes that a line tells apart, at three clinics.
fn people() -> String {
    let mut text = String::from("clinic,age,outcome,weight\n");
    for k in 0..90 {
        let (age, weight) = (f64::from(k % 10) / 5.0 - 0.9, f64::from(k % 7) / 3.0 - 1.0);
        let outcome = if age + 0.5 * weight > 0.05 { "ill" } else { "well, \"really\"" };
        text += &format!(
            "{},{age},\"{}\",{weight}\n",
            ["a", "b", "c"][k as usize % 3],
            outcome.replace('"', "\"\"")
        );
    }
    text
}

#[test]
fn a_model_predicts_new_records_by_the_names_of_their_columns() {
    let desk = Desk::new();
    desk.write("people.csv", people());
    desk.write("run.toml", PEOPLE);
    desk.prdo("run run.toml --out out").done();
    // Other columns, in another order, without labels.
    desk.write("new.csv", "weight,town,age\n0.9,x,0.8\n-0.9,y,-0.8\n");
    let answer = desk.prdo("predict out new.csv").done();
    let lines: Vec<&str> = answer.stdout.lines().collect();
    assert_eq!(lines[0], "prediction,p_ill,\"p_well, \"\"really\"\"\"");
    assert!(
        lines[1].starts_with("ill,0.") && lines[2].starts_with("\"well, \"\"really\"\"\",0."),
        "{lines:?}"
    );
    let sum: f64 = lines[1].split(',').skip(1).map(|p| p.parse::<f64>().unwrap()).sum();
    assert!((sum - 1.0).abs() < 2e-6);
    assert!(!answer.stderr.contains('%'), "{}", answer.stderr);

    let said = desk.prdo("predict out people.csv --out predictions.csv").done();
    assert_eq!(desk.read("predictions.csv").lines().count(), 91);
    assert!(said.stderr.contains("% of these records' labels"), "{}", said.stderr);
    let share: f64 = said.stderr.split(" %").next().unwrap().parse().unwrap();
    assert!(share > 90.0, "{share}");
    for words in [
        "(90 records; always the most common class: ",
        "area under the ROC curve (AUC): ",
        "class",
        "precision",
        "p_well, \"really\" is 0.5 or more (--threshold)",
        "note: these are the records that the run was trained on, so figures about them flatter",
    ] {
        assert!(said.stderr.contains(words), "{words}: {}", said.stderr);
    }
    desk.prdo("predict out new.csv --node 2").done();

    // A copy is what it is a copy of; other records are not.
    desk.write("copy.csv", people());
    let copied = desk.prdo("predict out copy.csv --json").json();
    assert_eq!(copied["trained_on"], true);
    desk.write("other.csv", people().replacen("\na,", "\nb,", 1));
    assert_eq!(desk.prdo("predict out other.csv --json").json()["trained_on"], false);

    // Everyone is ill from 0 on, and nobody above 1.
    let all = desk.prdo("predict out copy.csv --threshold ill=0 --json").json();
    assert_eq!((&all["threshold_class"], &all["threshold"]), (&"ill".into(), &serde_json::json!(0.0)));
    let (ill, well) = (&all["per_class"][0], &all["per_class"][1]);
    assert_eq!((&ill["recall"], &ill["predicted"]), (&serde_json::json!(1.0), &90.into()));
    assert_eq!((&well["recall"], &well["precision"]), (&serde_json::json!(0.0), &serde_json::Value::Null));
    assert_eq!(ill["precision"], all["accuracy"]);
    assert_eq!(all["auc"], copied["auc"]);
    let second = desk.prdo("predict out new.csv --threshold 0").done().stdout;
    assert!(second.lines().skip(1).all(|line| line.starts_with("\"well, ")), "{second}");
    refused(&desk, "predict out new.csv --threshold 1.5", &["threshold 1.5", "from 0 to 1"]);
    refused(&desk, "predict out new.csv --threshold sick=0.5", &["threshold sick=0.5", "\"ill\""]);

    refused(&desk, "predict out people.csv --out predictions.csv", &["already exists"]);
    refused(&desk, "predict out new.csv --node 3", &["node 3", "from 0 to 2"]);
    refused(&desk, "predict nowhere new.csv", &["nowhere", "finished run"]);
    desk.write("short.csv", "age\n1\n");
    refused(&desk, "predict out short.csv", &["short.csv", "\"weight\""]);
    desk.write("small.toml", SMALL);
    desk.prdo("run small.toml --out small").done();
    desk.write("wide.libsvm", "1 1:0.5 2:0.5 3:0.5\n");
    desk.prdo("predict small wide.libsvm").done();
    desk.write("wide.csv", "a,b\n1,2\n");
    refused(&desk, "predict small wide.csv", &["has 2 features", "trained on 3"]);
}

#[test]
fn predictions_are_those_that_the_accuracy_was_measured_by() {
    let desk = Desk::new();
    desk.write("people.csv", people());
    // Every other record, so that intercepts matter.
    let text = people();
    let some: Vec<&str> =
        text.lines().enumerate().filter(|(k, _)| k % 2 == 0).map(|(_, line)| line).collect();
    desk.write("test.csv", some.join("\n") + "\n");
    let file = PEOPLE.replace("path = \"people.csv\"", "path = \"people.csv\"\ntest_path = \"test.csv\"");
    let softmax = file.replace("\"logistic\"", "\"softmax\"").replace("rounds = 60", "rounds = 3");
    let features =
        "\n[features]\nmap = \"table\"\nranges = [\"age: -1 to 1\", \"weight: -1 to 1\"]\nfourier = 20\n";
    for (name, text) in [("logistic", file), ("softmax", softmax.clone()), ("features", softmax + features)] {
        desk.write("run.toml", text);
        desk.prdo(&format!("run run.toml --out {name}")).done();
        let summary: serde_json::Value =
            serde_json::from_str(&desk.read(&format!("{name}/summary.json"))).unwrap();
        let said = desk.prdo(&format!("predict {name} test.csv --out {name}.csv")).done().stderr;
        let share: f64 = said.split(" %").next().unwrap().parse().unwrap();
        let accuracy = 100.0 * summary["test_accuracy"].as_f64().unwrap();
        assert!((share - accuracy).abs() < 0.01, "{name}: {share} {accuracy}");
        let json = desk.prdo(&format!("predict {name} test.csv --json")).json();
        let near = |key: &str, other: &str| {
            (json[key].as_f64().unwrap() - summary[other].as_f64().unwrap()).abs() < 1e-6
        };
        assert!(
            near("auc", "test_auc") && near("most_common_class", "most_common_class"),
            "{name}: {summary}"
        );
        assert!(json["trained_on"] == false && !said.contains("trained on"), "{said}");
    }
}

#[test]
fn a_network_predicts_what_its_accuracy_says() {
    let desk = Desk::new();
    desk.write(
        "net.toml",
        NETWORK.replace("rounds = 2", "rounds = 30").replace("step_size = 0.1", "step_size = 0.5"),
    );
    desk.prdo("run net.toml --out out").done();
    desk.prdo("data split digits --nodes 1 --out shares").done();
    let said = desk.prdo("predict out shares/node-0.npz --out all.csv").done();
    let share: f64 = said.stderr.split(" %").next().unwrap().parse().unwrap();
    let summary: serde_json::Value = serde_json::from_str(&desk.read("out/summary.json")).unwrap();
    let held_out = 100.0 * summary["test_accuracy"].as_f64().unwrap();
    assert!((share - held_out).abs() < 10.0 && share > 20.0, "{share} {held_out}");
    // Ten classes are listed, and have no threshold.
    assert!(said.stderr.lines().count() >= 12 && !said.stderr.contains("AUC"), "{}", said.stderr);
    refused(&desk, "predict out shares/node-0.npz --threshold 0.3", &["threshold 0.3", "10 classes"]);
}
