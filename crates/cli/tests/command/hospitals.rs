//! What an organisation meets that brings a table of its own: names, dirty labels, text columns, other tools' CSV.

use crate::common::{Desk, refused};

const HOSPITALS: [&str; 3] = ["Lakeside", "North", "St Mary"];

/// Records of three hospitals, whose outcome the two measurements tell.
fn patients() -> String {
    let mut text = "hospital,age,pressure,outcome\n".to_string();
    for r in 0..240 {
        let (age, pressure) = (f64::from(r * 7 % 41) / 20.0 - 1.0, f64::from(r * 11 % 37) / 18.0 - 1.0);
        let outcome = if age + pressure > 0.0 { "yes" } else { "no" };
        text += &format!("{},{age},{pressure},{outcome}\n", HOSPITALS[r as usize % 3]);
    }
    text
}

const RUN: &str = "rounds = 20\n[graph]\nkind = \"complete\"\n[data]\nsource = \"file\"\npath = \"patients.csv\"\n\
    label = \"outcome\"\nnode = \"hospital\"\n[method]\nname = \"ed\"\nstep_size = 1.0\n";

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("patients.csv", patients());
    desk.write("run.toml", RUN);
    desk
}

#[test]
fn hospitals_are_called_by_their_names() {
    let desk = desk();
    let answer = desk.prdo("run run.toml --out out").done();
    assert!(answer.stderr.contains("records to train on: Lakeside "), "{}", answer.stderr);
    assert!(HOSPITALS.iter().any(|name| answer.stdout.contains(&format!("({name})"))), "{}", answer.stdout);
    let resolved = desk.read("out/run.toml");
    assert!(resolved.contains("node_names = [\"Lakeside\", \"North\", \"St Mary\"]"), "{resolved}");
    let summary: serde_json::Value = serde_json::from_str(&desk.read("out/summary.json")).unwrap();
    assert_eq!(summary["node_names"], serde_json::json!(HOSPITALS));
    let html = desk.read("out/report.html");
    // In the network's picture, in the class table and in the table of nodes.
    assert!(html.matches("St Mary").count() >= 3 && html.contains("<td>Lakeside</td>"), "{html}");
    // They stay what they are when the run is repeated from its own file.
    desk.prdo("run out/run.toml --out again").done();
    assert_eq!(desk.read("again/run.toml"), resolved);

    desk.write("new.csv", "age,pressure\n0.9,0.8\n-0.9,-0.8\n");
    let by_name = desk.prdo("predict out new.csv --node North").done();
    assert_eq!(by_name.stdout, desk.prdo("predict out new.csv --node 1").done().stdout);
    refused(&desk, "predict out new.csv --node South", &["node South", "from 0 to 2", "\"St Mary\""]);
    // Dealt out anew, nobody's name is on a node.
    desk.prdo("run run.toml --out iid --set partition.kind=iid --set graph.nodes=3").done();
    assert!(!desk.read("iid/run.toml").contains("node_names"));
}

#[test]
fn labels_that_are_slips_do_not_become_classes() {
    let desk = desk();
    let with = |line: &str| drop(desk.write("patients.csv", patients() + line));
    with("North,0.5,0.5,NA\n");
    refused(
        &desk,
        "run run.toml --out out",
        &[
            "patients.csv, line 242, column \"outcome\"",
            "\"NA\"",
            "missing value",
            "\"no\" (",
            "classes = 3",
            "^^^",
        ],
    );
    with("North,0.5,0.5,\n");
    refused(&desk, "run run.toml --out out", &["line 242, column \"outcome\"", "nothing"]);
    with("North,0.5,0.5,No\n");
    refused(&desk, "run run.toml --out out", &["line 242", "\"No\" differs from \"no\" only in case"]);
    refused(&desk, "run run.toml --out out --set data.classes=2", &["classes = 2", "\"No\" (1 records)"]);
    // Blanks around a label never count.
    with("North,0.5,0.5, yes \n");
    desk.prdo("run run.toml --out blanks").done();
    // A rare class is allowed, and named; who means it, says so.
    with("North,0.5,0.5,maybe\n");
    let rare = desk.prdo("run run.toml --out rare").done();
    assert!(rare.stderr.contains("warning: class \"maybe\" has 1 of 241 records"), "{}", rare.stderr);
    let meant = desk.prdo("run run.toml --out meant --set data.classes=3").done();
    assert!(!meant.stderr.contains("\"maybe\" has 1"), "{}", meant.stderr);
    // New records may have no outcome yet.
    desk.write("new.csv", "age,pressure,outcome\n0.9,0.8,NA\n-0.9,-0.8,no\n");
    desk.prdo("predict blanks new.csv").done();
}

#[test]
fn a_test_file_has_the_classes_of_the_records_by_name() {
    let desk = desk();
    // Only the second class: numbered on its own it would be the first. Columns in another order, one of them new.
    desk.write("test.csv", "ward,pressure,age,outcome\nx,0.9,-0.1,yes\ny,0.9,-0.2,yes\n");
    desk.write("with.toml", RUN.replace("label =", "test_path = \"test.csv\"\nlabel ="));
    assert_eq!(desk.prdo("run with.toml --out out --json").json()["test_accuracy"], 1.0);
    desk.write("test.csv", "age,pressure,outcome\n0.9,0.9,yes\n0.8,0.7,perhaps\n");
    refused(&desk, "run with.toml --out no", &["data.test_path", "\"perhaps\"", "\"no\", \"yes\"", "^^^"]);
}

#[test]
fn tables_of_other_tools_are_understood_or_refused_with_what_to_do() {
    let desk = desk();
    let windows = (patients() + "North,0.5,high,yes\n").replace('\n', "\r\n");
    desk.write("patients.csv", &windows);
    refused(&desk, "run run.toml --out out", &["line 242, column \"pressure\"", "\"high\""]);
    desk.write("patients.csv", patients().replace(',', ";"));
    refused(&desk, "run run.toml --out out", &["separated by semicolons", "save it with commas"]);
    desk.write("patients.csv", patients());
    refused(
        &desk,
        "run run.toml --out out --set data.label=Outcome",
        &["no column \"Outcome\"; did you mean \"outcome\"?", "--set:1:"],
    );
    desk.write(
        "run.toml",
        RUN.replace(
            "[method]",
            "[features]\nmap = \"table\"\nranges = [\"age: -1 to 1\"]\ncategories = [\"presure\"]\n[method]",
        ),
    );
    refused(
        &desk,
        "run run.toml --out out",
        &["unknown column \"presure\"", "did you mean \"pressure\"?", "run.toml:12:15"],
    );
}

#[test]
fn info_shows_every_column_and_a_section_that_reads_them() {
    let desk = Desk::new();
    let mut text = "id,age,job,hours,outcome\n".to_string();
    for r in 0..90 {
        let (job, outcome) = if r % 2 == 0 { ("nurse", "yes") } else { ("black, smith", "no") };
        text += &format!("p{r},{},\"{job}\",{},{outcome}\n", 18 + r % 70, r % 60);
    }
    desk.write("people.csv", &text);
    let said = desk.prdo("data info people.csv --label outcome").done().stdout;
    for words in [
        "90 records",
        "age      number  from 18 to 87",
        "job      text    2 different values: black, smith 45, nurse 45",
        "2 different values: no 45, yes 45; the label",
        "features = [\"age\", \"job\", \"hours\"]",
        "map = \"table\"",
        "ranges = [\"age: 10 to 90\", \"hours: 0 to 60\"]",
        "categories = [\"job\"]",
        "private",
    ] {
        assert!(said.contains(words), "{words:?} is missing in\n{said}");
    }
    // What it says can be pasted.
    let json = desk.prdo("data info people.csv --label outcome --json").json();
    let section = json["features_section"].as_str().unwrap();
    let (data, features) = section.split_once("[features]").unwrap();
    let data =
        data.replace("[data]", "[data]\nsource = \"file\"\npath = \"people.csv\"\nlabel = \"outcome\"");
    desk.write(
        "run.toml",
        format!("rounds = 5\n[graph]\nnodes = 3\n{data}[features]{features}[method]\nname = \"ed\"\nstep_size = 1.0\n"),
    );
    desk.prdo("run run.toml --out out").done();
    assert_eq!((&json["columns"][1]["low"], &json["columns"][2]["holds"]), (&18.0.into(), &"text".into()));
    // A file with gaps is shown, and what a run would say of it.
    desk.write("gaps.csv", "age,job,outcome\n,nurse,yes\n30,NA,no\n");
    let said = desk.prdo("data info gaps.csv --label outcome").done().stdout;
    assert!(
        said.contains("from 30 to 30; 1 missing") && said.contains("refuse") && said.contains("line 2"),
        "{said}"
    );
    let unlabelled = desk.prdo("data info people.csv").done().stdout;
    assert!(unlabelled.contains("\"label\" or \"y\"") && unlabelled.contains("nurse 45"), "{unlabelled}");
    // Columns of text beside a node column with names.
    desk.write("patients.csv", patients());
    let said = desk.prdo("data info patients.csv --label outcome --node hospital").done().stdout;
    assert!(said.contains("Lakeside: 80, North: 80, St Mary: 80"), "{said}");
}

/// Four hospitals, one of them tiny; a number for each patient, a column with a gap, text beside numbers, three of four well.
fn admissions() -> String {
    let mut text = "patient,hospital,age,ward,lactate,weight,readmitted\n".to_string();
    for r in 0..1207_u32 {
        let hospital = if r < 1200 { ["St. Anna", "Lakeview", "County"][r as usize % 3] } else { "Hill" };
        let (age, ward) = (18 + r * 37 % 70, ["surgical", "ICU"][(r / 7 % 2) as usize]);
        let lactate = f64::from(r * 53 % 40) / 10.0;
        let risk = f64::from(age) / 88.0 + lactate / 4.0 + if ward == "ICU" { 0.5 } else { 0.0 };
        let weight = if r == 5 { String::new() } else { (50 + r % 60).to_string() };
        let readmitted = if risk > 1.5 { "yes" } else { "no" };
        text += &format!("{},{hospital},{age},{ward},{lactate},{weight},{readmitted}\n", 1000 + r);
    }
    text
}

#[test]
fn a_table_becomes_a_run_that_learns_in_two_commands() {
    let desk = Desk::new();
    desk.write("patients.csv", admissions());
    let said = desk.prdo("new patients.csv --label readmitted --node hospital").done().stdout;
    for words in [
        "patients.toml: 1207 records",
        "4 organisations (column hospital): County 400, Lakeview 400, St. Anna 400, Hill 7",
        "take no part: Hill (7)",
        "columns to learn from: age, ward, lactate",
        "left out: patient (every record has a value of its own)",
        "weight: 1 value is missing, the first in line 7: read as the middle of the column's range",
        "next: prdo run patients.toml",
    ] {
        assert!(said.contains(words), "{words:?} is missing in\n{said}");
    }
    let run = desk.prdo("run patients.toml --out results").done();
    assert!(
        !run.stderr.contains("no effect") && run.stderr.contains("ranges read from the records"),
        "{}",
        run.stderr
    );
    let summary: serde_json::Value = serde_json::from_str(&desk.read("results/summary.json")).unwrap();
    let accuracy = summary["test_accuracy"].as_f64().unwrap();
    assert!(accuracy > 0.85 && summary["epsilon"].as_f64().unwrap() <= 4.0, "{summary}");
    assert!(desk.read("results/report.html").contains("Lakeview"));

    // Without a column that says who holds what; more than two classes; into another folder; a file is not replaced.
    std::fs::create_dir(desk.path("other")).unwrap();
    let dealt = desk
        .prdo("new patients.csv --label hospital --nodes 8 --epsilon 1 --out other/run.toml")
        .done()
        .stdout;
    assert!(dealt.contains("distributed at random to 8 organisations"), "{dealt}");
    desk.prdo("run other/run.toml --out dealt --set rounds=2").done();
    for (args, words) in [
        ("--label readmitted", "patients.toml already exists"),
        (
            "--out a.toml",
            "--label is missing: which column is to be predicted? Columns with 2 to 20 different values: hospital, ward, readmitted",
        ),
        ("--out a.toml --label readmited", "no such column; did you mean \"readmitted\"?"),
        ("--out a.toml --label age", "it has 70 different values"),
        ("--out a.toml --label weight", "1 records have no label"),
        ("--out a.toml --label readmitted --node patient", "numbers that are not 0, 1, 2, … without gaps"),
        ("--out a.toml --label readmitted --node ward --nodes 3", "cannot be used with"),
        ("--out a.toml --label readmitted --epsilon 0", "epsilon"),
    ] {
        refused(&desk, &format!("new patients.csv {args}"), &[words]);
    }
    assert!(!desk.path("a.toml").exists());
    // Slips, before anything is written.
    let with = |line: &str| drop(desk.write("slip.csv", admissions() + line));
    let node = "new slip.csv --label readmitted --node hospital --out s.toml";
    with("1,Lakeview,30,ICU,1.0,60,yess\n");
    refused(&desk, node, &["\"yess\" may be a slip for \"yes\""]);
    with("1,Lakeveiw,unknown,ICU,1.0,60,yes\n");
    let said = desk.prdo(node).done().stdout;
    for words in [
        "\"Lakeveiw\" may be a slip for \"Lakeview\"",
        "left out: age (line 1209 has \"unknown\", the others numbers",
    ] {
        assert!(said.contains(words), "{words:?} is missing in\n{said}");
    }
    refused(
        &desk,
        "new slip.csv --label readmitted --node lactate --out t.toml",
        &["organisations' names, or such numbers, are needed"],
    );
}

#[test]
fn predictions_carry_a_key_and_say_what_was_cut_off() {
    let desk = desk();
    let table = "[features]\nmap = \"table\"\nranges = [\"age: -1 to 1\", \"pressure: -1 to 1\"]\n[method]";
    desk.write("run.toml", RUN.replace("[method]", table));
    desk.prdo("run run.toml --out out").done();
    desk.write("new.csv", "patient,age,pressure\n\"Doe, J.\",0.9,0.8\nRoe,-90,-0.8\nPoe,44,0.1\n");
    let said = desk.prdo("predict out new.csv --key patient").done();
    let lines: Vec<&str> = said.stdout.lines().collect();
    assert!(
        lines[0].starts_with("patient,prediction,p_no") && lines[1].starts_with("\"Doe, J.\",yes,"),
        "{lines:?}"
    );
    assert!(lines[2].starts_with("Roe,no,"), "{lines:?}");
    assert!(said.stderr.contains("warning: age (-1 to 1): 2 of 3 values lie outside"), "{}", said.stderr);
    assert!(!said.stderr.contains("pressure"), "{}", said.stderr);
    let json = desk.prdo("predict out new.csv --key patient --json").json();
    assert_eq!(
        (&json["predictions"][0]["key"], &json["predictions"][1]["prediction"]),
        (&"Doe, J.".into(), &"no".into())
    );
    assert_eq!(
        (json["warnings"].as_array().unwrap().len(), &json["accuracy"]),
        (1, &serde_json::Value::Null)
    );
    let json = desk.prdo("predict out patients.csv --json --out p.csv").json();
    assert!(
        json["accuracy"].as_f64().unwrap() > 0.9
            && json["predictions"].is_null()
            && desk.path("p.csv").is_file()
    );
    refused(&desk, "predict out new.csv --key Patient", &["--key", "did you mean \"patient\"?"]);
}

#[test]
fn a_hospital_whose_records_are_all_set_aside_is_named() {
    let desk = desk();
    desk.write("patients.csv", patients() + "Zoo,0.5,0.5,yes\n");
    // Which records are set aside depends on the seed: the only one of the zoo is among 200 of 241 for most of them.
    let answer = |seed: u32| {
        desk.prdo(&format!("run run.toml --out out-{seed} --set data.test=200 --set partition.seed={seed}"))
    };
    let refused = (1..9).map(answer).find(|answer| answer.code == Some(2)).expect("eight seeds");
    for words in ["every record of node \"Zoo\" was set aside", "data.test = 200", "test_path"] {
        assert!(refused.stderr.contains(words), "{words:?} is missing in {}", refused.stderr);
    }
    assert!(!refused.stderr.contains("speaks of"), "{}", refused.stderr);
}

#[test]
fn errors_point_at_the_key_they_are_about() {
    let desk = desk();
    let table = "[features]\nmap = \"table\"\nranges = [\"age: -1 to 1\", \"pressure: 1 to 1\"]\n[method]";
    desk.write("run.toml", RUN.replace("[method]", table));
    refused(&desk, "run run.toml --out out", &["pressure", "run.toml:11:27"]);
    let drawn = "tune run.toml --generated --nodes 3 --records 80 --out t";
    refused(&desk, drawn, &["pressure", "run.toml:11:27"]);
    let aside = "tune run.toml --unprotected-validation --out t";
    refused(&desk, aside, &["[features]", "--stand-in", "run.toml:10:7"]);
    // The file that is wrong, not the other one.
    desk.write("test.csv", "age,pressure,outcome\n0.9,x,yes\n");
    desk.write("run.toml", RUN.replace("label =", "test_path = \"test.csv\"\nlabel ="));
    refused(&desk, "run run.toml --out out", &["test.csv, line 2", "run.toml:7:13"]);
    // "a" is part of "age", and is not what is missing.
    desk.write(
        "run.toml",
        RUN.replace("label = \"outcome\"", "label = \"outcome\"\nfeatures = [\"outcome time\"]"),
    );
    refused(&desk, "run run.toml --out out", &["no column \"outcome time\"", "run.toml:8:13"]);
    desk.write("run.toml", RUN.to_string() + "[clip]\ngradient = 1.0\n[privacy]\nepsilon = inf\n");
    refused(&desk, "run run.toml --out out", &["privacy.epsilon = inf", "leave the [privacy] section out"]);
}

#[test]
fn what_was_set_apart_and_what_was_not_learned_is_said() {
    let desk = desk();
    let summary = desk.prdo("run run.toml --out out --json --set data.validation=10").json();
    assert_eq!((&summary["test_records"], &summary["validation_records"]), (&48.into(), &10.into()));
    let html = desk.read("out/report.html");
    assert!(html.contains(
        "Training uses these 182 records; held out, and not counted here: 48 for testing, 10 for validation."
    ));
    let bad = desk.prdo("run run.toml --out bad --set privacy.epsilon=0.01 --set clip.gradient=1.0").done();
    assert!(bad.stderr.contains("did not learn"), "{}", bad.stderr);
    let state = prdo::dashboard::Source::new(&desk.path("bad")).state(0, 0);
    let problems = state["problems"].as_array().unwrap();
    assert!(problems.iter().any(|p| p.as_str().unwrap().contains("did not learn")), "{state}");
    let picture = prdo::dashboard::Source::new(&desk.path("bad")).network();
    assert_eq!(picture["names"], serde_json::json!(HOSPITALS));
}

#[test]
fn a_comparison_that_is_interrupted_goes_on() {
    use std::process::Stdio;
    use std::time::Duration;
    let desk = desk();
    let lists = RUN.replace("rounds = 20", "rounds = 4000\nseed = [1, 2, 3, 4, 5, 6, 7, 8]");
    desk.write("sweep.toml", lists.replace("\"ed\"", "[\"ed\", \"dsgd\"]"));
    let child = desk.command("compare sweep.toml --out out").stderr(Stdio::piped()).spawn().unwrap();
    // Runs go side by side: others may be finished before the first one is.
    while !desk.path("out/parts/0.json").exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let kill = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("of 16 runs are finished") && said.contains("compare sweep.toml --out out"),
        "{said}"
    );
    let kept = desk.read("out/parts/0.json");
    let json = desk.prdo("compare sweep.toml --out out --json").json();
    // Runs that were finished are taken as they were, down to the time that they took.
    let first: serde_json::Value = serde_json::from_str(&kept).unwrap();
    assert_eq!(json["runs"][0], first["run"]);
    assert_eq!(json["runs"].as_array().unwrap().len(), 16);
    assert!(!desk.path("out/parts").exists());
    // Two files: the column of their names is not the one of the runs' names.
    desk.write("other.toml", desk.read("run.toml"));
    desk.prdo("compare run.toml other.toml --out two --set rounds=2").done();
    let head = desk.read("two/table.csv").lines().next().unwrap().to_string();
    assert_eq!(head.split(',').filter(|column| *column == "name").count(), 1, "{head}");
}
