//! Slips that are easily made in tables and run files: each is named, with what to do about it.

use crate::common::stand_in::files;
use crate::common::{Desk, refused};

const HOSPITALS: [&str; 3] = ["east", "north", "south"];

/// Records of three hospitals with a line more.
fn patients(more: &str) -> String {
    let mut text = "hospital,age,pressure,sex,outcome\n".to_string();
    for r in 0_usize..300 {
        let (age, pressure) = (20 + r * 7 % 61, 90 + r * 11 % 87);
        let sex = if r % 2 == 0 { "female" } else { "male" };
        let outcome = if age + pressure > 180 { "yes" } else { "no" };
        text += &format!("{},{age},{pressure},{sex},{outcome}\n", HOSPITALS[r % 3]);
    }
    text + more
}

const RUN: &str = "rounds = 5\n[graph]\nkind = \"complete\"\n[data]\nsource = \"file\"\npath = \"patients.csv\"\n\
    label = \"outcome\"\nnode = \"hospital\"\n[features]\nmap = \"table\"\n\
    ranges = [\"age: 0 to 120\", \"pressure: 40 to 250\"]\ncategories = [\"sex\"]\nbuckets = 8\n\
    [method]\nname = \"ed\"\nstep_size = 1.0\n[batch]\nsize = 20\n";

fn desk(more: &str) -> Desk {
    let desk = Desk::new();
    desk.write("patients.csv", patients(more));
    desk.write("run.toml", RUN);
    desk
}

#[test]
fn a_mistyped_organisation_is_named_with_everybodys_records() {
    let desk = desk("nort,44,120,male,yes\nnort,45,120,male,yes\nnort,46,120,male,no\n");
    let words = [
        "batch.size = 20",
        "least under [partition]",
        "smallest first: \"nort\" ",
        "Is \"nort\" a slip for \"north\"?",
        "^^",
    ];
    refused(&desk, "run run.toml --out out", &words);
    // Where the batch fits, it is a warning; nobody is warned of hospitals of one size.
    let said = desk.prdo("run run.toml --out out --set batch.size=1").done().stderr;
    assert!(said.contains("warning: \"nort\" has 3 records") && said.contains("a slip for"), "{said}");
    assert!(said.contains("least = 50 under [partition]"), "{said}");
    let said = desk.prdo("run run.toml --out fine --set partition.least=50").done().stderr;
    assert!(!said.contains("slip"), "{said}");
    // One whose only record is held out, and a number of nodes that does not fit.
    desk.write("patients.csv", patients("nort,44,120,male,yes\n"));
    refused(&desk, "run run.toml --out no --set data.test=290", &["set aside", "\"nort\" 1"]);
    refused(&desk, "run run.toml --out no --set graph.nodes=3", &["4 nodes", "Is \"nort\" a slip"]);
}

#[test]
fn slips_among_categories_and_labels_are_pointed_out() {
    let desk = desk("north,44,120,femal,yes\n");
    let said = desk.prdo("run run.toml --out out").done().stderr;
    let words = "warning: line 302, column \"sex\": is \"femal\" (1 record) a slip for \"female\"? The column's values: \
                 \"female\" 150, \"male\" 150, \"femal\" 1";
    assert!(said.contains(words), "{said}");
    desk.write("patients.csv", patients("north,44,120,female,yess\n").replace(",no\n", ",nein\n"));
    refused(
        &desk,
        "run run.toml --out no",
        &["line 302", "\"yess\" may be a slip for \"yes\"", "classes = 3"],
    );
    desk.prdo("run run.toml --out meant --set data.classes=3").done();
    // Values where columns are meant.
    desk.write("run.toml", RUN.replace("[\"sex\"]", "[\"female\", \"male\"]"));
    refused(&desk, "run run.toml --out no", &["\"female\"", "columns"]);
}

#[test]
fn what_stands_in_a_column_of_numbers_is_said() {
    for (cell, words) in [
        ("n/a", ["\"n/a\"", "missing value", "missing = \"middle\" under [features]"]),
        ("", ["nothing", "missing value", "fill it in"]),
        ("\"120,5\"", ["\"120,5\"", "decimal comma", "12.5"]),
        ("\"1,000,000\"", ["\"1,000,000\"", "thousands", "leave them out"]),
        ("high", ["\"high\"", "\"pressure\" has a range", "under categories"]),
    ] {
        let desk = desk(&format!("north,44,{cell},male,yes\n"));
        refused(&desk, "run run.toml --out out", &["patients.csv, line 302, column \"pressure\""]);
        refused(&desk, "run run.toml --out out", &words);
    }
    let desk = desk("north,44,120,5,male,yes\n");
    refused(&desk, "run run.toml --out out", &["line 302", "6 fields", "a decimal comma?"]);
}

#[test]
fn a_label_column_of_numbers_is_not_taken_for_classes() {
    let desk = Desk::new();
    let numbers = patients("").replace(",yes\n", ",1\n").replace(",no\n", ",0\n");
    desk.write("patients.csv", numbers);
    let run = RUN.replace("\"outcome\"", "\"age\"").replace("\"age: 0 to 120\"", "\"outcome: 0 to 1\"");
    for kind in ["softmax", "logistic"] {
        desk.write("run.toml", format!("{run}[model]\nkind = \"{kind}\"\n"));
        let words = [
            "label column \"age\" has 61 different values from 20 to 80",
            "looks like a number",
            "\"sex\" (2), \"outcome\" (2)",
            "run.toml:7",
        ];
        refused(&desk, "run run.toml --out out", &words);
    }
    // Who means it, says so.
    desk.write("run.toml", run);
    desk.prdo("run run.toml --out out --set data.classes=81").done();
}

#[test]
fn settings_are_typed_as_people_type_numbers() {
    let desk = desk("");
    desk.prdo("run run.toml --out out --set method.step_size=.5").done();
    assert!(desk.read("out/run.toml").contains("step_size = 0.5"));
    refused(&desk, "run run.toml --out no --set method.step_size=a.5", &["a number above 0"]);
}

#[test]
fn info_asks_which_column_is_the_label_and_who_holds_a_record() {
    let desk = desk("");
    let said = desk.prdo("data info patients.csv").done().stdout;
    for words in [
        "outcome looks like the label (the column to predict): if so, give --label outcome",
        "hospital looks like the holder of a record: if so, give --node hospital",
        "# Not in here: outcome",
        "categories = [\"sex\"]",
    ] {
        assert!(said.contains(words), "{words:?} is missing in\n{said}");
    }
    let json = desk.prdo("data info patients.csv --json").json();
    assert_eq!(json["maybe_label"], serde_json::json!(["outcome"]));
    assert_eq!(json["maybe_node"], serde_json::json!(["hospital"]));
    let said = desk.prdo("data info patients.csv --label outcome --node hospital").done().stdout;
    assert!(!said.contains("looks like") && said.contains("categories = [\"sex\"]"), "{said}");
}

#[test]
fn predictions_read_files_without_a_header_as_the_run_did() {
    let desk = Desk::new();
    let bare: String = patients("").lines().skip(1).map(|line| format!("{line}\n")).collect();
    desk.write("patients.csv", &bare);
    let columns = "columns = [\"hospital\", \"age\", \"pressure\", \"sex\", \"outcome\"]\nlabel =";
    desk.write("run.toml", RUN.replace("label =", columns));
    desk.prdo("run run.toml --out out").done();
    desk.write("bare.csv", bare);
    desk.write("named.csv", patients(""));
    let told = desk.prdo("predict out bare.csv").done().stdout;
    assert_eq!(told.lines().count(), 301);
    assert_eq!(told, desk.prdo("predict out named.csv").done().stdout);
}

/// An agreement of two members on what the run file says, signed by both.
fn agreement(desk: &Desk, records: usize, given: &str, file: &str) {
    let mut members = String::new();
    for (number, name) in ["east", "west"].iter().enumerate() {
        if !desk.path(&format!("{name}.key")).exists() {
            desk.prdo(&format!("node key {name}.key")).done();
        }
        let key = desk.prdo(&format!("node key {name}.key --show --json")).json();
        members += &format!(
            "[[member]]\nname = \"{name}\"\nkey = {}\naddresses = [\"127.0.0.1:{}\"]\nrecords = {records}\n",
            key["public_key"],
            4000 + number
        );
    }
    desk.write("members.toml", members);
    desk.prdo(&format!("node init run.toml --members members.toml {given} --out {file}")).done();
    for name in ["east", "west"] {
        desk.prdo(&format!("node sign {file} --key {name}.key")).done();
    }
}

const TWO: &str = "[method]\nname = \"ed\"\nstep_size = 0.1\n[batch]\nsize = 5\n[clip]\ngradient = 1.0\n\
    [privacy]\nnoise_multiplier = 4.0\ndelta = 1e-3\naccountant = \"rdp\"\n";

#[test]
fn shares_keep_the_names_of_classes_that_an_agreement_asks_for() {
    let desk = Desk::new();
    files().iter().for_each(|(name, bytes)| drop(desk.write(name, bytes)));
    desk.prdo("data split cifar-10-batches-bin --nodes 2 --out shares").done();
    let info = desk.prdo("data info shares/node-0.npz --json").json();
    let classes = info["classes"].as_array().unwrap();
    assert!(classes.len() == 10 && classes.iter().any(|class| class["class"] == "airplane"), "{info}");
    desk.write(
        "run.toml",
        format!("rounds = 2\n[graph]\nkind = \"complete\"\n[data]\nsource = \"file\"\npath = \"cifar-10-batches-bin\"\n{TWO}"),
    );
    // With the classes' names from the folder, and with nothing but their number.
    for (given, file) in [("", "a.agreement"), ("--image 3x32x32 --classes 10", "b.agreement")] {
        agreement(&desk, 50, given, file);
        let check = format!("node check {file} --key east.key --data shares/node-0.npz --offline");
        let said = desk.prdo(&check).done().stdout;
        assert!(said.contains("matches: 50 records"), "{said}");
    }
}

#[test]
fn members_read_files_without_a_header_and_hear_of_what_was_not_kept_and_of_slips() {
    let desk = Desk::new();
    let mut text = String::new();
    for r in 0..60 {
        text += &format!("{},{},{}\n", r % 7, if r % 2 == 0 { "female" } else { "male" }, r % 2);
    }
    desk.write("own.csv", &(text.repeat(2) + "3,femal,0\n"));
    desk.write(
        "run.toml",
        format!(
            "rounds = 2\n[graph]\nkind = \"complete\"\n[data]\nsource = \"file\"\npath = \"own.csv\"\n\
             columns = [\"age\", \"sex\", \"label\"]\n[features]\nmap = \"table\"\nranges = [\"age: 0 to 9\"]\n\
             categories = [\"sex\"]\n{TWO}"
        ),
    );
    agreement(&desk, 200, "", "a.agreement");
    let check = "node check a.agreement --key east.key --data own.csv --offline";
    refused(&desk, check, &["own.csv"]);
    let said = desk.prdo(&format!("{check} --columns age,sex,label")).done();
    assert!(said.stdout.contains("matches: 121 records"), "{}", said.stdout);
    assert!(said.stderr.contains("line 121, column \"sex\": is \"femal\""), "{}", said.stderr);
    // Features of images that cannot be kept.
    let digits = "rounds = 2\n[graph]\nkind = \"complete\"\n[data]\nsource = \"digits\"\n[features]\n\
        map = \"scattering\"\nscales = 1\nangles = 2\ngrid = 2\n";
    desk.write("run.toml", format!("{digits}{TWO}"));
    desk.prdo("data split digits --nodes 2 --out shares").done();
    agreement(&desk, 900, "", "b.agreement");
    let kept = desk.kept_features();
    std::fs::remove_dir_all(&kept).unwrap();
    std::fs::create_dir_all(kept.parent().unwrap()).unwrap();
    std::fs::write(&kept, "a file where a folder should be").unwrap();
    let said =
        desk.prdo("node check b.agreement --key east.key --data shares/node-0.npz --offline").done().stderr;
    assert!(said.contains("warning: features were not kept"), "{said}");
}

#[test]
fn a_path_that_is_not_read_or_leads_nowhere_is_refused_with_what_to_do() {
    let desk = desk("");
    let digits = "run run.toml --out no --set data.source=\"digits\"";
    refused(&desk, digits, &["data.path names a file", "data.source is \"digits\"", "leave data.path out"]);
    let gone = "run run.toml --out no --set data.path=";
    refused(&desk, &format!("{gone}\"gone.csv\""), &["gone.csv", "relative to the folder of the run file"]);
    let images = format!("{gone}\"images/cifar-10-batches-bin\"");
    refused(&desk, &images, &["prdo data get cifar10 --out", "images`"]);
}

#[test]
fn images_without_test_images_and_settings_without_effect_are_pointed_out() {
    let desk = Desk::new();
    for (name, bytes) in files().iter().filter(|(name, _)| !name.contains("test")) {
        desk.write(name, bytes);
    }
    let run = "rounds = 1\n[graph]\nnodes = 3\n[data]\nsource = \"file\"\npath = \"cifar-10-batches-bin\"\n\
        [model]\nkind = \"network\"\nlayers = [\"dense 10\"]\nstart_deviation = 0.2\n\
        [method]\nname = \"ed\"\nstep_size = 0.1\n[batch]\nsize = 4\n";
    desk.write("run.toml", run);
    let said = desk.prdo("run run.toml --out out").done().stderr;
    assert!(said.contains("cifar-10-batches-bin has no test images"), "{said}");
    assert!(said.contains("model.start_deviation has no effect"), "{said}");
    let said =
        desk.prdo("run run.toml --out told --set data.test=20 --set model.start=\"normal\"").done().stderr;
    assert!(!said.contains("test images") && !said.contains("no effect"), "{said}");
}
