//! `prdo tune`, as a person types it.

use crate::common::{Desk, SMALL, refused};

#[test]
fn settings_are_found_on_generated_data_and_beat_bad_ones() {
    let desk = Desk::new();
    let bad = SMALL.replace("step_size = 0.5", "step_size = 20.0").replace("records = 60", "records = 300");
    let bad = bad.replace("test = 50", "test = 2000").replace("epsilon = 4.0", "epsilon = 0.2");
    desk.write("bad.toml", &bad);
    let answer = desk.prdo("tune bad.toml --methods prdo,ed --trials 12 --seeds 2 --out tuned --json").json();
    assert_eq!(answer["trials"], 24);
    let best = answer["best"].as_array().unwrap();
    assert_eq!(best.len(), 2);
    assert!(best[0]["score"].as_f64() >= best[1]["score"].as_f64());
    assert!(answer["cost_on_protected_epsilon"].as_f64().unwrap() > 0.2);
    assert_eq!(answer["charged"], false);
    for file in ["tuned.toml", "trials.csv", "trials.svg", "report.html", "results.json"] {
        assert!(desk.path(&format!("tuned/{file}")).is_file(), "{file}");
    }
    assert_eq!(desk.read("tuned/trials.csv").lines().count(), 25);
    let accuracy = |arguments: &str| desk.prdo(arguments).json()["test_accuracy"].as_f64().unwrap();
    let before = accuracy("run bad.toml --out before --json");
    let after = accuracy("run tuned/tuned.toml --out after --json");
    assert!(after > before, "{before} {after}");
    // The budget stays what it was.
    assert!(desk.read("after/run.toml").contains("epsilon = 0.2"));
    // The same search, the same answer.
    let again = desk
        .prdo("tune bad.toml --methods prdo,ed --trials 12 --seeds 2 --out again --threads 1 --json")
        .json();
    assert_eq!(again["best"][0]["settings"], answer["best"][0]["settings"]);
}

pub fn table() -> String {
    let mut text = String::from("a,b,label,node\n");
    for k in 0..240 {
        let (a, b) = (f64::from(k % 12) / 6.0 - 0.9, f64::from(k % 7) / 3.0 - 1.0);
        text += &format!("{a},{b},{},{}\n", u8::from(a - b > 0.1), k % 3);
    }
    text
}

pub const FILE: &str = r#"rounds = 20
[graph]
kind = "complete"
[data]
source = "file"
path = "mine.csv"
validation = 0.3
[model]
kind = "logistic"
[method]
name = "ed"
step_size = 0.5
[batch]
size = 10
[clip]
gradient = 1.0
difference = 0.1
[privacy]
epsilon = 4.0
delta = 1e-3
"#;

#[test]
fn protected_records_are_not_touched_unless_it_is_asked_for_and_charged() {
    let desk = Desk::new();
    desk.write("mine.csv", table());
    desk.write("mine.toml", FILE);
    refused(&desk, "tune mine.toml", &["may be protected", "--generated", "--charge"]);
    refused(&desk, "tune mine.toml --generated --public-data", &["cannot be used with"]);
    refused(&desk, "tune mine.toml --generated --keep seed", &["--keep seed", "method.step_size"]);
    desk.write("other.csv", table());
    let quick = "--methods ed --trials 4 --seeds 1 --json --out";
    for (on, out) in [
        ("--generated", "drawn"),
        ("--stand-in other.csv", "other"),
        ("--unprotected-validation", "aside"),
        ("--public-data", "public"),
    ] {
        let answer = desk.prdo(&format!("tune mine.toml {on} {quick} {out}")).json();
        assert_eq!((&answer["trials"], &answer["charged"]), (&4.into(), &false.into()), "{on}");
        let z = answer["best"][0]["noise_multiplier"].as_f64().unwrap();
        assert!(z > 0.3, "{on}: {z}");
    }
    let answer = desk.prdo(&format!("tune mine.toml --charge released.txt {quick} charged")).json();
    assert_eq!(answer["charged"], true);
    let statement = desk.read("released.txt");
    assert_eq!(statement.matches("method.name=ed").count(), 7, "{statement}");
    // A run that names the statement is accounted for together with the trials.
    desk.write("final.toml", FILE.replace("delta = 1e-3", "delta = 1e-3\nstatement = \"released.txt\""));
    refused(&desk, "run final.toml --out final", &["privacy"]);
    desk.prdo("run final.toml --out final --set privacy.epsilon=40").done();
    let quadratic = SMALL.replace("logistic", "quadratic");
    desk.write("quadratic.toml", quadratic);
    refused(&desk, "tune quadratic.toml --generated", &["--generated is for records with classes"]);
    refused(&desk, "tune mine.toml --public-data --set privacy.noise_multiplier=1.0", &["privacy"]);
}

/// A table of three hospitals, in which age, pressure and ward tell the outcome for about nine of ten patients.
fn patients() -> String {
    let mut text = String::from("hospital,age,pressure,ward,outcome\n");
    for k in 0_u32..1500 {
        let draw = |salt: u32, most: u32| (k.wrapping_mul(2_654_435_761) ^ salt).rotate_left(13) % most;
        let (age, pressure, ward) =
            (20 + draw(1, 70), 90 + draw(77, 90), ["surgery", "heart", "eyes"][draw(5, 3) as usize]);
        let risk =
            f64::from(age) / 35.0 + f64::from(pressure) / 45.0 + if ward == "heart" { 0.7 } else { 0.0 };
        let ill = (risk > 5.0) != (draw(999, 10) == 0);
        let hospital = ["Lakeside", "North", "St Mary"][k as usize % 3];
        text += &format!("{hospital},{age},{pressure},{ward},{}\n", if ill { "ill" } else { "well" });
    }
    text
}

const TABLE: &str = "rounds = 60\n[graph]\nkind = \"complete\"\n[data]\nsource = \"file\"\npath = \"patients.csv\"\n\
    label = \"outcome\"\nnode = \"hospital\"\n[features]\nmap = \"table\"\n\
    ranges = [\"age: 0 to 120\", \"pressure: 40 to 250\"]\ncategories = [\"ward\"]\nbuckets = 16\n\
    [model]\nkind = \"logistic\"\n[method]\nname = \"ed\"\nstep_size = 40.0\n[batch]\nsize = 10\n[clip]\ngradient = 1.0\n\
    [privacy]\nepsilon = 0.5\ndelta = 1e-4\n";

#[test]
fn a_table_is_drawn_from_its_ranges_and_categories_and_no_file_is_opened() {
    let desk = Desk::new();
    desk.write("table.toml", TABLE);
    refused(
        &desk,
        "tune table.toml --generated",
        &["--nodes N", "--records N", "does not open the data file"],
    );
    refused(&desk, "tune table.toml --generated --nodes 3", &["--records N"]);
    refused(
        &desk,
        "tune table.toml --generated --nodes 3 --records 500 --set graph.nodes=4",
        &["--nodes 3", "4 nodes"],
    );
    refused(&desk, "tune table.toml --public-data --records 500", &["--generated"]);
    refused(
        &desk,
        "tune table.toml --generated --nodes 3 --records 500 --set batch.size=501",
        &["batch.size = 501"],
    );
    // There is no patients.csv yet.
    let tune = "tune table.toml --generated --nodes 3 --records 500 --methods ed,edm --trials 16 --seeds 1";
    let answer = desk.prdo(&format!("{tune} --out tuned --json")).json();
    let on = answer["tuned_on"].as_str().unwrap();
    assert!(on.contains("3 nodes with") && on.contains("3 columns, 2 classes"), "{on}");
    let score = answer["best"][0]["score"].as_f64().unwrap();
    assert!((0.7..0.95).contains(&score), "{score}");
    let tuned = desk.read("tuned/tuned.toml");
    assert!(tuned.contains("patients.csv") && !tuned.contains("nodes ="), "{tuned}");
    // What was found is good for records that nobody had looked at.
    desk.write("patients.csv", patients());
    let run = |file: &str, out: &str| -> (f64, f64) {
        let summary = desk.prdo(&format!("run {file} --out {out} --json")).json();
        (summary["test_accuracy"].as_f64().unwrap(), summary["most_common_class"].as_f64().unwrap())
    };
    let (before, _) = run("table.toml", "before");
    let (after, common) = run("tuned/tuned.toml", "after");
    assert!(after > common + 0.1 && after > before + 0.03, "{before} {after} {common}");
    let said = desk.prdo(&format!("{tune} --out again")).done();
    assert!(said.stdout.contains("drawn from [features] alone"), "{}", said.stdout);
    assert!(said.stderr.contains("32 trials on a table drawn from"), "{}", said.stderr);
}

/// A folder of images and labels as MNIST's.
fn pictures(desk: &Desk, folder: &str, side: u8) {
    let bytes = |count: u8| {
        (0..usize::from(count) * usize::from(side) * usize::from(side)).map(|i| (i * 37 % 251) as u8)
    };
    for (part, count) in [("train", 60_u8), ("t10k", 9)] {
        let images: Vec<u8> = [0, 0, 8, 3, 0, 0, 0, count, 0, 0, 0, side, 0, 0, 0, side]
            .into_iter()
            .chain(bytes(count))
            .collect();
        let labels: Vec<u8> =
            [0, 0, 8, 1, 0, 0, 0, count].into_iter().chain((0..count).map(|i| i % 3)).collect();
        desk.write(&format!("{folder}/{part}-images-idx3-ubyte"), images);
        desk.write(&format!("{folder}/{part}-labels-idx1-ubyte"), labels);
    }
}

#[test]
fn images_are_tuned_on_other_images() {
    let desk = Desk::new();
    pictures(&desk, "mine", 8);
    pictures(&desk, "data/fashion-mnist", 12);
    desk.write(
        "images.toml",
        "rounds = 5\n[graph]\nnodes = 3\n[data]\nsource = \"file\"\npath = \"mine\"\n[features]\nmap = \"scattering\"\n\
         scales = 1\nangles = 4\ngrid = 2\n[method]\nname = \"ed\"\nstep_size = 1.0\n[batch]\nsize = 5\n[clip]\ngradient = 1.0\n\
         [privacy]\nepsilon = 8.0\ndelta = 1e-3\n",
    );
    refused(
        &desk,
        "tune images.toml --generated",
        &["this map reads images", "--stand-in data/fashion-mnist", "images.toml:8"],
    );
    let quick = "--methods ed --trials 2 --seeds 1 --out tuned --json";
    let answer = desk.prdo(&format!("tune images.toml --stand-in data/fashion-mnist {quick}")).json();
    assert_eq!(answer["tuned_on"], "the stand-in data/fashion-mnist");
}

#[test]
fn a_best_at_the_end_of_its_range_is_told() {
    let desk = Desk::new();
    // Scored by the gradient norm: accuracies hardly depend on the step.
    let good = SMALL.replace("source = \"logistic\"", "source = \"quadratic\"").replace("test = 50\n", "");
    desk.write("slow.toml", good.replace("step_size = 0.5", "step_size = 0.0005"));
    let arguments =
        "tune slow.toml --methods ed --trials 16 --seeds 1 --keep rounds,batch.size,clip.gradient --out";
    let answer = desk.prdo(&format!("{arguments} t")).done();
    let told = "at the end of its range in method.step_size (the largest tried: 0.01)";
    assert!(answer.stdout.contains(told) && desk.read("t/report.html").contains(told), "{}", answer.stdout);
    let ends = |arguments: &str| desk.prdo(arguments).json()["at_an_end"].clone();
    assert_eq!(ends(&format!("{arguments} again --json")), serde_json::json!(["method.step_size"]));
    // Around a good one the search ends within.
    desk.write("good.toml", &good);
    assert_eq!(ends(&format!("{} good --json", arguments.replace("slow", "good"))), serde_json::json!([]));
}
