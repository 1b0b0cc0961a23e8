//! Comparisons that are easily asked for wrongly, or of which a run goes wrong.

use crate::common::{Desk, SMALL, refused};

/// A run without noise; steps of 50 make it diverge.
const OPEN: &str = "name = \"open\"\nrounds = 400\n[graph]\nnodes = 3\n[data]\nsource = \"quadratic\"\nrecords = 5\n\
    dimension = 2\n[method]\nname = \"dsgd\"\nstep_size = 0.05\n";

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("small.toml", SMALL);
    desk.write("open.toml", OPEN);
    desk
}

#[test]
fn two_files_that_call_their_runs_the_same_are_two_rows() {
    let desk = desk();
    desk.write("wide.toml", SMALL.replace("dimension = 3", "dimension = 5"));
    desk.prdo("compare small.toml wide.toml --set rounds=5 --out out").done();
    let table = desk.read("out/table.csv");
    let names: Vec<&str> = table.lines().skip(1).map(|line| line.split(',').nth(1).unwrap()).collect();
    assert_eq!(names, ["small.toml", "wide.toml"], "{table}");
    assert!(!desk.read("out/table.tex").contains("over 2 seeds"));
}

#[test]
fn the_same_run_twice_is_refused() {
    let desk = desk();
    refused(&desk, "compare small.toml --set seed=[1,1] --out out", &["twice", "seed = 1"]);
    refused(&desk, "compare small.toml small.toml --out out", &["twice", "small.toml"]);
}

#[test]
fn finished_runs_of_other_settings_are_kept() {
    let desk = desk();
    desk.write("out/.prdo-lock", "");
    desk.write("out/parts/0.json", "{}");
    desk.write("out/parts/settings.txt", "rounds = 7\n");
    let compare = "compare small.toml --set seed=[1,2] --set rounds=5 --out out";
    refused(&desk, compare, &["out holds finished runs", "other settings", "--overwrite"]);
    desk.prdo(&format!("{compare} --overwrite")).done();
    assert!(!desk.path("out/parts").exists());
}

#[test]
fn a_run_that_diverges_is_named_and_left_out() {
    let desk = desk();
    let answer = desk.prdo("compare open.toml --set method.step_size=[0.05,50.0] --out out").done();
    for word in ["method.step_size = 50.0", "left out", "step size is too large"] {
        assert!(answer.stderr.contains(word), "{word:?} is missing in {}", answer.stderr);
    }
    assert_eq!(desk.read("out/table.csv").lines().count(), 2);
    assert!(desk.read("out/report.html").contains("method.step_size = 50.0"));
    // None is left: nothing to show.
    let answer = desk.prdo("compare open.toml --set method.step_size=[50.0,60.0] --out none");
    assert_eq!(answer.code, Some(1));
    assert!(answer.stderr.contains("method.step_size = 50.0") && !desk.path("none/table.csv").exists());
}

#[test]
fn gradients_are_the_mean_over_seeds() {
    let desk = desk();
    let shown = desk.prdo("compare small.toml --set seed=[1,2,3] --set rounds=5 --out out").done().stdout;
    let table = desk.read("out/table.csv");
    let at = table.lines().next().unwrap().split(',').position(|c| c == "gradient_evaluations").unwrap();
    let counts: Vec<f64> =
        table.lines().skip(1).map(|line| line.split(',').nth(at).unwrap().parse().unwrap()).collect();
    let mean = (counts.iter().sum::<f64>() / 3.0).round();
    assert!(counts.iter().any(|count| *count != mean), "batches of one size show nothing: {counts:?}");
    let row = shown.lines().nth(1).unwrap();
    assert_eq!(row.split_whitespace().last().unwrap().parse::<f64>().unwrap(), mean, "{shown}");
}

#[test]
fn tables_are_not_put_into_the_folder_of_a_run() {
    let desk = desk();
    desk.prdo("run small.toml --set rounds=5 --out run").done();
    desk.prdo("compare small.toml --set seed=[1,2] --set rounds=5 --out both").done();
    for folder in ["run", "both"] {
        let words = [folder, "holds a run or a comparison", "--out"];
        refused(&desk, &format!("reproduce table-1 --quick --methods ed --out {folder}"), &words);
        let frontier = "reproduce frontier --quick --methods ed --epsilon 8 --seeds 1";
        refused(&desk, &format!("{frontier} --out {folder}"), &words);
    }
}

#[test]
fn settings_that_a_run_does_not_read_are_named() {
    let desk = desk();
    let of =
        |set: &str| desk.prdo(&format!("run small.toml --set rounds=3 {set} --overwrite --out out")).done();
    for set in ["model.condition=3", "model.intercept=false", "model.curvature=0.5"] {
        let (told, key) = (of(&format!("--set {set}")).stderr, set.split('=').next().unwrap());
        assert!(told.contains(&format!("{key} has no effect")), "{told}");
    }
    desk.write("digits.toml", IMAGES.replace("source = \"file\"\npath = \"images\"", "source = \"digits\""));
    for set in ["data.records=100", "data.heterogeneity=3", "partition.shards=3", "model.intercept=false"] {
        let told = desk.prdo(&format!("run digits.toml --set {set} --overwrite --out digits")).done().stderr;
        let key = set.split('=').next().unwrap();
        assert!(told.contains(&format!("{key} has no effect")), "{told}");
    }
    assert!(!of("--set model.regularization=0.1").stderr.contains("no effect"));
    // It may be meant for the other kind.
    let swept =
        "compare small.toml --set model.kind=[\"logistic\",\"quadratic\"] --set model.condition=3 --out out2";
    assert!(!desk.prdo(swept).stderr.contains("no effect"));
}

/// IDX files of `side`×`side` images with these labels.
fn images(desk: &Desk, folder: &str, name: &str, labels: &[u8]) {
    let side = 4_u32;
    let mut pixels = vec![0, 0, 8, 3];
    for size in [labels.len() as u32, side, side] {
        pixels.extend(size.to_be_bytes());
    }
    pixels.extend((0..labels.len() * 16).map(|i| (i * 37 % 251) as u8));
    let mut numbers = vec![0, 0, 8, 1];
    numbers.extend((labels.len() as u32).to_be_bytes());
    numbers.extend(labels);
    desk.write(&format!("{folder}/{name}-images-idx3-ubyte"), pixels);
    desk.write(&format!("{folder}/{name}-labels-idx1-ubyte"), numbers);
}

const IMAGES: &str = "rounds = 3\n[graph]\nkind = \"ring\"\nnodes = 3\n[data]\nsource = \"file\"\npath = \"images\"\n\
    [model]\nkind = \"softmax\"\n[method]\nname = \"ed\"\nstep_size = 0.1\n";

#[test]
fn labels_of_images_that_are_no_classes_are_refused() {
    let desk = Desk::new();
    let ten: Vec<u8> = (0..250).map(|i| i % 10).collect();
    desk.write("run.toml", IMAGES);
    images(&desk, "images", "train", &ten);
    images(&desk, "images", "t10k", &ten);
    desk.prdo("run run.toml --out good").done();
    // Among the test images.
    images(&desk, "images", "t10k", &[0, 1, 2, 11, 4]);
    refused(&desk, "run run.toml --out out", &["label 11", "10 classes"]);
    // Among the training images.
    let mut one_off = ten.clone();
    one_off[7] = 200;
    images(&desk, "images", "train", &one_off);
    images(&desk, "images", "t10k", &ten);
    refused(
        &desk,
        "run run.toml --out out",
        &["record 7", "label 200", "only 11 of the 201", "classes = 201"],
    );
}

#[test]
fn a_test_share_instead_of_the_folders_test_images_is_told_and_kept() {
    let desk = Desk::new();
    let ten: Vec<u8> = (0..60).map(|i| i % 10).collect();
    desk.write("run.toml", IMAGES);
    images(&desk, "images", "train", &ten);
    images(&desk, "images", "t10k", &ten);
    let answer = desk.prdo("run run.toml --set data.test=0.5 --out out").done();
    assert!(answer.stderr.contains("test images of the folder are not used"), "{}", answer.stderr);
    desk.prdo("run out/run.toml --out again").done();
    assert_eq!(desk.read("out/metrics.csv"), desk.read("again/metrics.csv"));
}
