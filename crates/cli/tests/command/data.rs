//! `prdo data info` and `split` as typed, and CIFAR-10 in run files.

use crate::common::stand_in::files;
use crate::common::{Desk, refused};

/// A desk with an unpacked stand-in of CIFAR-10.
fn unpacked() -> Desk {
    let desk = Desk::new();
    files().iter().for_each(|(name, bytes)| drop(desk.write(name, bytes)));
    desk
}

#[test]
fn info_of_images_and_of_tables() {
    let desk = unpacked();
    let info = desk.prdo("data info cifar-10-batches-bin --json").json();
    assert_eq!(
        (&info["format"], &info["records"], &info["test_records"]),
        (&"CIFAR-10".into(), &100.into(), &20.into())
    );
    assert_eq!(info["image"]["channels"], 3);
    assert_eq!((info["features"].as_u64(), info["bytes"].as_bool()), (Some(3072), Some(true)));
    assert_eq!((&info["classes"][9]["class"], &info["classes"][9]["records"]), (&"truck".into(), &10.into()));
    assert_eq!(info["nodes"], serde_json::Value::Null);
    let said = desk.prdo("data info cifar-10-batches-bin").done().stdout;
    for words in ["100 records, and 20 to test on", "3 x 32 x 32", "airplane 10", "no node column"] {
        assert!(said.contains(words), "{words:?} is missing in {said}");
    }
    desk.write("t.csv", "a,b,label,node\n1,2,x,0\n3,-4.5,y,1\n5,6,x,1\n");
    let info = desk.prdo("data info t.csv --json").json();
    assert_eq!((info["records"].as_u64(), info["features"].as_u64()), (Some(3), Some(2)));
    assert_eq!((info["feature_min"].as_f64(), info["feature_max"].as_f64()), (Some(-4.5), Some(6.0)));
    assert_eq!(info["node_records"], serde_json::json!([1, 2]));
    assert_eq!(info["classes"][0], serde_json::json!({"class": "x", "records": 2}));
    desk.write("r.csv", "a,y\n1,0.5\n2,1.5\n");
    let said = desk.prdo("data info r.csv").done().stdout;
    assert!(said.contains("labels from 0.5 to 1.5"), "{said}");
    refused(&desk, "data info absent.csv", &["absent.csv"]);
    refused(&desk, "data info .", &["folder without"]);
    refused(&desk, "data info t.csv --format idx", &["t.csv", "IDX"]);
    refused(&desk, "data info t.csv --label z", &["t.csv", "\"z\""]);
    desk.write("cifar-10-batches-bin/data_batch_3.bin", [11; 3073]);
    refused(&desk, "data info cifar-10-batches-bin", &["data_batch_3.bin", "record 0", "11", "0 to 9"]);
    desk.write("cifar-10-batches-bin/data_batch_3.bin", [1; 3000]);
    refused(&desk, "data info cifar-10-batches-bin", &["data_batch_3.bin", "3000 bytes", "3073"]);
    std::fs::remove_file(desk.path("cifar-10-batches-bin/data_batch_3.bin")).unwrap();
    refused(&desk, "data info cifar-10-batches-bin", &["data_batch_3.bin", "missing"]);
}

const SPLIT: &str = "data split cifar-10-batches-bin --partition dirichlet --concentration 0.1 --out shares";

#[test]
fn split_deals_images_out() {
    let desk = unpacked();
    let said = desk.prdo(&format!("{SPLIT} --nodes 8 --validation 20 --json")).json();
    assert_eq!(said["records"], serde_json::json!(vec![10; 8]));
    let mut names: Vec<_> = std::fs::read_dir(desk.path("shares"))
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let nodes = (0..8).map(|node| format!("node-{node}.npz"));
    let expected: Vec<String> = ["classes.csv", "classes.svg"]
        .map(str::to_owned)
        .into_iter()
        .chain(nodes)
        .chain(["validation.npz".into()])
        .collect();
    assert_eq!(names, expected);
    let mut records = 0;
    let table = desk.read("shares/classes.csv");
    assert!(table.starts_with("node,airplane,automobile,"), "{table}");
    for (node, line) in table.lines().skip(1).enumerate() {
        let counts: Vec<u64> = line.split(',').skip(1).map(|c| c.parse().unwrap()).collect();
        let info = desk.prdo(&format!("data info shares/node-{node}.npz --json")).json();
        assert_eq!(
            (info["records"].as_u64(), info["bytes"].as_bool()),
            (Some(counts.iter().sum()), Some(true))
        );
        assert_eq!(info["image"], serde_json::json!({"channels": 3, "height": 32, "width": 32}));
        records += counts.iter().sum::<u64>();
    }
    assert_eq!(records, 80);
    // The same seed deals the same bytes.
    let first = desk.bytes("shares/node-3.npz");
    std::fs::remove_dir_all(desk.path("shares")).unwrap();
    desk.prdo(&format!("{SPLIT} --nodes 8 --validation 20")).done();
    assert_eq!(desk.bytes("shares/node-3.npz"), first);
    refused(&desk, &format!("{SPLIT} --nodes 8"), &["shares", "not an empty folder"]);
}

#[test]
fn split_refuses_what_cannot_be_dealt_out() {
    let desk = unpacked();
    refused(&desk, &format!("{SPLIT} --nodes 101"), &["101 nodes", "100 records"]);
    refused(&desk, &format!("{SPLIT} --nodes 0"), &["nodes = 0", "1 or more"]);
    refused(&desk, &format!("{SPLIT} --nodes 4 --validation 100"), &["training part", "100 records"]);
    refused(&desk, &format!("{SPLIT} --nodes 90 --validation 20"), &["90 nodes", "80 records"]);
    let split = "data split cifar-10-batches-bin --nodes 4 --out shares";
    refused(
        &desk,
        &format!("{split} --partition dirichlet --concentration 0"),
        &["concentration = 0", "positive"],
    );
    refused(&desk, &format!("{split} --partition dirichlet --concentration nan"), &["concentration = NaN"]);
    refused(&desk, &format!("{split} --partition shards --shards 26"), &["26", "100 records"]);
    refused(&desk, &format!("{split} --partition circles"), &["circles", "dirichlet"]);
    refused(&desk, &format!("{split} --concentration 0.1"), &["--concentration", "--partition dirichlet"]);
    refused(&desk, &format!("{split} --partition iid --shards 2"), &["--shards", "--partition shards"]);
    desk.write("cut.bin", [0; 3072]);
    refused(&desk, "data split cut.bin --nodes 2 --out shares", &["cut.bin", "3072"]);
    desk.write("taken", "");
    refused(
        &desk,
        "data split cifar-10-batches-bin --nodes 4 --out taken",
        &["taken", "not an empty folder"],
    );
}

const RUN: &str = "rounds = 5\n[graph]\nnodes = 4\n[data]\nsource = \"file\"\npath = \"cifar-10-batches-bin\"\n\
    validation = 20\n[partition]\nkind = \"dirichlet\"\nconcentration = 0.1\n[method]\nname = \"ed\"\n\
    step_size = 0.001\n[metrics]\nevery = 5\n";

#[test]
fn a_linear_model_learns_from_cifar10() {
    let desk = unpacked();
    desk.write("run.toml", RUN);
    let summary = desk.prdo("run run.toml --out out --json").json();
    assert_eq!((summary["records"].as_u64(), summary["parameters"].as_u64()), (Some(80), Some(30_730)));
    assert_eq!(
        (&summary["class_names"][0], summary["class_names"].as_array().unwrap().len()),
        (&"airplane".into(), 10)
    );
    assert!(summary["test_accuracy"].as_f64().unwrap() > 0.0);
    assert!(summary["validation_accuracy"].as_f64().unwrap() >= 0.0);
    // The same records as numbers that were divided by 255 elsewhere give the same bits.
    desk.write("named.toml", RUN.replace("[data]", "[data]\nformat = \"cifar10\""));
    assert_eq!(desk.prdo("run named.toml --out named --json").json()["loss"], summary["loss"]);
    desk.write("split.toml", RUN.replace("cifar-10-batches-bin", "cifar-10-batches-bin/data_batch_1.bin"));
    refused(&desk, "run split.toml --out other", &["data.test", "20"]);
}

#[test]
fn bad_images_in_run_files() {
    let desk = unpacked();
    let bad = |from: &str, to: &str, words: &[&str]| {
        desk.write("run.toml", RUN.replace(from, to));
        refused(&desk, "run run.toml --out out", words);
    };
    bad("nodes = 4", "nodes = 90", &["90 nodes", "80 records"]);
    bad("validation = 20", "validation = 100", &["data.validation", "100"]);
    bad("[data]", "[data]\nclasses = 5", &["label 5", "0 to 4"]);
    bad("[data]", "[data]\nformat = \"cifar\"", &["data.format", "cifar10"]);
    bad("[data]", "[data]\nwidth = 784", &["width", "784", "3072"]);
    bad("[data]", "[data]\nlabel = \"y\"", &["label", "CIFAR-10"]);
    bad("concentration = 0.1", "concentration = 0.0", &["partition.concentration = 0.0"]);
    bad("[method]", "[model]\nkind = \"logistic\"\n[method]", &["airplane", "needs two", "softmax"]);
    desk.write("t.csv", "a,label\n1,0\n2,1\n");
    bad("[data]", "[data]\ntest_path = \"t.csv\"", &["data.test_path", "1 features", "3072"]);
    desk.write("cifar-10-batches-bin/data_batch_5.bin", [9; 5000]);
    bad("", "", &["data_batch_5.bin", "record 1"]);
}
