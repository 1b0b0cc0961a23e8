//! What someone meets who has a table of their own and the README: nothing is lost, what looks wrong is said before a run,
//! and `prdo new` writes no file that `prdo run` refuses.

use crate::common::{Desk, refused};

/// 600 customers of four branches, who default where debts exceed income; `row` may change a record's cells.
fn customers(row: impl Fn(usize, &mut Vec<String>)) -> String {
    let mut text = "branch,income,debts,job,defaulted\n".to_string();
    for r in 0..600_usize {
        let (income, debts) = (20_000 + r * 7919 % 50_000, 1_000 + r * 104_729 % 60_000);
        let branch = ["Graz", "Linz", "Wels", "Wien"][r % 4];
        let job = ["clerk", "engineer", "teacher"][r * 31 % 3];
        let defaulted = if debts > income { "yes" } else { "no" };
        let mut cells =
            [branch.into(), format!("{income}.5"), format!("{debts}.5"), job.into(), defaulted.into()]
                .to_vec();
        row(r, &mut cells);
        text += &(cells.join(",") + "\n");
    }
    text
}

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("c.csv", customers(|_, _| ()));
    desk
}

/// A trained run on these customers, in `out`.
fn trained() -> Desk {
    let desk = desk();
    desk.prdo("new c.csv --label defaulted --node branch").done();
    desk.prdo("run c.toml --out out --set rounds=5").done();
    desk
}

#[test]
fn no_output_takes_the_place_of_an_input() {
    let desk = trained();
    let table = desk.read("c.csv");
    std::fs::create_dir(desk.path("sub")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(desk.path("c.csv"), desk.path("link.csv")).unwrap();
    let mut spellings = vec!["c.csv", "./c.csv", "sub/../c.csv"];
    spellings.extend(cfg!(unix).then_some("link.csv"));
    for out in spellings {
        let words = ["would be lost", "choose another --out"];
        refused(&desk, &format!("new c.csv --label defaulted --out {out} --overwrite"), &words);
        refused(&desk, &format!("new c.csv --label defaulted --out {out}"), &words);
        refused(&desk, &format!("predict out c.csv --out {out} --overwrite"), &words);
        assert_eq!(desk.read("c.csv"), table, "{out}");
    }
    // The files of a run that is read are inputs too.
    let model = desk.bytes("out/model.safetensors");
    for command in ["predict out c.csv", "export parquet out", "export onnx out", "export tensorboard out"] {
        let out = if command.contains("tensorboard") { "sub" } else { "out/model.safetensors" };
        if out == "sub" {
            desk.prdo(&format!("{command} --out {out}")).done();
            continue;
        }
        refused(
            &desk,
            &format!("{command} --out {out} --overwrite"),
            &["a file of the run", "would be lost"],
        );
    }
    assert_eq!(desk.bytes("out/model.safetensors"), model);
    refused(&desk, "predict out c.csv --out sub", &["sub is a folder"]);
    // What is no input may be replaced by who says so.
    desk.prdo("predict out c.csv --out p.csv").done();
    refused(&desk, "predict out c.csv --out p.csv", &["already exists"]);
    desk.prdo("predict out c.csv --out p.csv --overwrite").done();
    // An agreement does not take the place of what it is made from.
    desk.write("members.txt", "x\n");
    for out in ["c.toml", "members.txt"] {
        let line = format!("node init c.toml --members members.txt --out {out} --overwrite");
        refused(&desk, &line, &["would be lost"]);
    }
    assert_eq!(desk.read("members.txt"), "x\n");
}

#[test]
fn what_looks_wrong_in_a_table_is_said_before_a_run() {
    let desk = Desk::new();
    let text = customers(|r, cells| {
        if r == 40 {
            cells[3] = "CLERK".into();
        }
        if r == 99 {
            cells[1] = "99999999".into();
        }
    });
    desk.write("c.csv", text);
    let said = desk.prdo("new c.csv --label defaulted --node branch").done().stdout;
    for words in [
        "line 42, column \"job\": is \"CLERK\" (1 record) a slip for \"clerk\"?",
        "line 101, column \"income\": 99999999 is 1430 times the next largest, 69918.5, and alone sets the column's range",
    ] {
        assert!(said.contains(words), "{words:?} is missing in\n{said}");
    }
    desk.write("d.csv", customers(|_, _| ()));
    let said = desk.prdo("new d.csv --label defaulted --node branch").done().stdout;
    assert!(!said.contains("slip") && !said.contains("times the next largest"), "{said}");
}

#[test]
fn text_that_is_another_for_nearly_every_record_is_left_out() {
    let desk = Desk::new();
    let date = |r: usize| format!("20{:02}-{:02}-15", r % 23, 1 + r % 12);
    let text = customers(|r, cells| {
        cells.insert(0, date(r));
        cells.insert(0, format!("customer {}", r % 590));
    });
    desk.write("c.csv", text.replacen("branch,", "who,since,branch,", 1));
    let said = desk.prdo("new c.csv --label defaulted --node branch").done().stdout;
    for words in [
        "columns to learn from: income, debts, job\n",
        "left out: who (text with 590 different values in 600 records; names and free text say nothing",
        "left out: since (text with ",
        " different values in 600 records; these look like dates",
        "convert each to a number, such as the days since",
    ] {
        assert!(said.contains(words), "{words:?} is missing in\n{said}");
    }
    desk.prdo("run c.toml --out out --set rounds=2").done();
}

#[test]
fn new_refuses_what_run_would_refuse() {
    let desk = desk();
    refused(
        &desk,
        "new c.csv --label defaulted --node defaulted",
        &["column \"defaulted\" cannot be both label and node"],
    );
    refused(
        &desk,
        "new c.csv --label defaulted --nodes 481",
        &["481 nodes, 1 parts each, cannot share 480 records", "--nodes 481"],
    );
    desk.prdo("new c.csv --label defaulted --nodes 480 --out many.toml").done();
    desk.write("twice.csv", customers(|_, _| ()).replacen("debts", "income", 1));
    refused(
        &desk,
        "new twice.csv --label defaulted",
        &["column \"income\" occurs more than once in the header"],
    );
    desk.write("h.csv", "a,b,y\n");
    refused(&desk, "new h.csv --label y", &["h.csv: holds no records"]);
    // The label first, whatever is there already.
    desk.write("c.toml", "");
    refused(&desk, "new c.csv", &["--label is missing"]);
    refused(&desk, "new c.csv --label defaulted", &["c.toml already exists"]);
    for (line, words) in [
        ("new c.csv --label defaulted --epsilon -1", "'-1' for '--epsilon <E>'"),
        ("new c.csv --label defaulted --nodes -1", "'-1' for '--nodes <N>'"),
    ] {
        refused(&desk, line, &[words]);
    }
    refused(&desk, "run c.toml --epsilon 1", &["--set privacy.epsilon=1"]);
}

#[test]
fn branches_may_be_known_by_codes() {
    let desk = Desk::new();
    let codes =
        |first: usize| customers(move |r, cells| cells[0] = (first + [0, 2, 1, 3][r % 4]).to_string());
    desk.write("c.csv", codes(101));
    let said = desk.prdo("new c.csv --label defaulted --node branch").done().stdout;
    assert!(said.contains("4 organisations (column branch): 101 150, 102 150, 103 150, 104 150"), "{said}");
    let run = desk.prdo("run c.toml --out out --set rounds=5").done();
    assert!(run.stderr.contains("records to train on: 101 "), "{}", run.stderr);
    assert!(desk.read("out/run.toml").contains("node_names = [\"101\", \"102\", \"103\", \"104\"]"));
    desk.prdo("predict out c.csv --node 103 --out p.csv").done();
    // 0, 1, 2, … are numbers as ever, and train the same models.
    desk.write("c.csv", codes(0));
    desk.prdo("run c.toml --out numbered --set rounds=5").done();
    assert!(!desk.read("numbered/run.toml").contains("node_names"));
    assert_eq!(desk.bytes("numbered/model.safetensors"), desk.bytes("out/model.safetensors"));
}

/// Real tables have gaps. What stands in for a number is the middle of its range, which is no private fact.
#[test]
fn missing_numbers_count_as_the_middle_of_their_range() {
    let desk = Desk::new();
    let gaps = |number: &'static str| {
        customers(move |r, cells| {
            if r % 10 == 3 {
                cells[2] = number.into();
            }
            if r % 50 == 7 {
                cells[3].clear();
            }
        })
    };
    desk.write("c.csv", gaps("NA"));
    let said = desk.prdo("new c.csv --label defaulted --node branch").done().stdout;
    for words in [
        "columns to learn from: income, debts, job",
        "debts: 60 values are missing, the first in line 5: read as the middle of the column's range",
        "job: 12 values are missing, the first in line 9: read as a category of their own",
    ] {
        assert!(said.contains(words), "{words:?} is missing in\n{said}");
    }
    let file = desk.read("c.toml");
    assert!(file.contains("\"debts: 0 to 70000\"") && file.contains("missing = \"middle\""), "{file}");
    desk.prdo("run c.toml --out out").done();
    // The same as if the middle had been written there.
    desk.write("c.csv", gaps("35000"));
    desk.prdo("run c.toml --out written").done();
    assert_eq!(desk.bytes("out/model.safetensors"), desk.bytes("written/model.safetensors"));
    desk.write("new.csv", "income,debts,job\n30000,nan,clerk\n40000,200,clerk\n");
    let warned = desk.prdo("predict out new.csv").done().stderr;
    let words = "debts: 1 of 2 value is missing, the first (\"nan\") in line 2; they count as the middle of the column's range";
    assert!(warned.contains(words), "{warned}");
    // Nobody who did not ask for it gets it.
    desk.write("c.csv", gaps(""));
    desk.write("plain.toml", file.replace("missing = \"middle\"", ""));
    refused(&desk, "run plain.toml", &["line 5", "\"debts\"", "missing = \"middle\" under [features]"]);
    desk.write("other.toml", file.replace("\"middle\"", "\"mean\""));
    refused(&desk, "run other.toml", &["features.missing", "\"mean\"", "\"middle\""]);
}

/// "Days in hospital" does not say which hospital.
#[test]
fn a_number_that_names_a_holder_is_learned_from() {
    let desk = Desk::new();
    let table = customers(|r, cells| cells[1] = (r * 7 % 30).to_string());
    desk.write("c.csv", table.replacen("income", "Years at bank", 1));
    let said = desk.prdo("new c.csv --label defaulted").done().stdout;
    assert!(said.contains("columns to learn from: Years at bank, debts, job"), "{said}");
    assert!(said.contains("branch looks like the holder of a record: if so, give --node branch"), "{said}");
}

#[test]
fn predictions_say_which_categories_are_missing() {
    let desk = trained();
    desk.write("new.csv", "income,debts,job\n30000,100,clerk\n40000,200,\n50000,300,NA\n");
    let said = desk.prdo("predict out new.csv").done();
    assert!(
        said.stderr.contains("warning: job: 2 of 3 values are missing, the first (empty) in line 3"),
        "{}",
        said.stderr
    );
    let known = desk.prdo("predict out c.csv --out p.csv").done().stderr;
    assert!(!known.contains("missing") && known.contains("labels are predicted correctly ("), "{known}");
}

#[test]
fn a_training_that_diverged_gets_one_advice() {
    let desk = trained();
    for step in ["1e300", "1e307"] {
        let run =
            desk.prdo(&format!("run c.toml --out far-{step} --set method.step_size={step} --set seed=1"));
        if run.code != Some(0) {
            continue;
        }
        assert!(
            run.stderr.contains("warning: training diverged at round ")
                && run.stderr.contains("smaller method.step_size")
        );
        assert!(!run.stderr.contains("longer step"), "{}", run.stderr);
        assert!(run.stdout.contains("done: loss ∞") && !run.stdout.contains("NaN"), "{}", run.stdout);
        let html = desk.read(&format!("far-{step}/report.html"));
        assert_eq!(html.matches("Training diverged at round ").count(), 1);
        assert!(!html.contains("longer step"));
        return;
    }
    panic!("no run came to its end");
}

#[test]
fn other_files_are_called_what_they_are() {
    let desk = desk();
    refused(&desk, "run c.csv", &["c.csv is data, not a run file", "prdo new c.csv --label"]);
    refused(&desk, "worth c.csv", &["c.csv is data, not a run file"]);
    let wide: Vec<u8> = "\u{feff}a,b\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    for (name, bytes, words) in [
        ("u16.csv", &wide[..], ["UTF-16", "CSV UTF-8"]),
        ("x.xlsx", b"PK\x03\x04rest", ["spreadsheet", "CSV UTF-8"]),
        ("l1.csv", b"name,y\nJos\xe9,1\n", ["line 2: is not UTF-8", "Latin-1"]),
    ] {
        desk.write(name, bytes);
        refused(&desk, &format!("new {name} --label y"), &words);
    }
    desk.prdo("new c.csv --label defaulted").done();
    refused(&desk, "run c.toml --set data.path=x.xlsx", &["a spreadsheet", "CSV UTF-8"]);
    refused(&desk, "run c.toml --out c.csv", &["c.csv is not a folder", "choose another --out"]);
    refused(&desk, "run c.toml --out c.csv/out --overwrite", &["not a folder"]);
}

#[test]
fn comparisons_are_no_models_and_prdo_says_what_it_needs() {
    let desk = trained();
    let lists = |names: &str| {
        let mut command = desk.command("compare c.toml --out cmp --set rounds=2 --set");
        let answer = command.arg(format!("method.name=[{names}]")).output().unwrap();
        (answer.status.code(), String::from_utf8(answer.stderr).unwrap())
    };
    let (code, said) = lists("\"edm\",\"prdo\"");
    assert!(code == Some(2) && said.contains("clip.difference is missing"), "{said}");
    assert!(said.contains("take away the #"), "{said}");
    assert_eq!(lists("\"edm\",\"ed\"").0, Some(0));
    refused(&desk, "predict cmp c.csv", &["holds a comparison", "no model", "prdo run"]);
    // As the error says.
    let text = desk.read("c.toml").replace("# gamma", "gamma").replace("# difference", "difference");
    desk.write("c.toml", text);
    std::fs::remove_dir_all(desk.path("cmp")).unwrap();
    assert_eq!(lists("\"edm\",\"prdo\"").0, Some(0));
}

#[test]
fn budgets_beyond_all_reason_are_shown_as_they_are() {
    let desk = trained();
    let small = desk.prdo("run c.toml --out small --set rounds=2 --set privacy.epsilon=1e-9").done();
    assert!(small.stdout.contains("privacy: ε = 1.00e-9 at"), "{}", small.stdout);
    assert!(!desk.read("small/report.html").contains("ε = 0.000"));
    let large = desk.prdo("run c.toml --out large --set rounds=2 --set privacy.epsilon=1e9").done();
    assert!(large.stderr.contains("less noise than the least that is accounted for"), "{}", large.stderr);
}

#[test]
fn the_price_of_privacy_is_said_by_auc_and_held_against_runs_that_are_done() {
    let desk = Desk::new();
    // One in fifteen defaults, more of those with many debts: a model is hardly ever sure of it.
    let text = customers(|r, cells| {
        let likely = cells[2].parse::<f64>().unwrap() > 40_000.0;
        let defaults = r % 30 == 7 || (likely && r % 13 == 0);
        cells[4] = if defaults { "yes" } else { "no" }.into();
    });
    desk.write("c.csv", text);
    desk.prdo("new c.csv --label defaulted --node branch").done();
    let short = "worth c.toml --out w --overwrite --set rounds=10 --set method.step_size=1";
    let said = desk.prdo(short).done().stdout;
    assert!(said.contains("Accuracy says little here") && said.contains("By AUC "), "{said}");
    assert!(
        said.contains("had not learned all it can after 10 rounds") && said.contains("--open rounds=100"),
        "{said}"
    );
    let report = desk.read("w/report.html");
    assert!(report.contains("By AUC ") && report.contains("--open rounds=100"));
    let json: serde_json::Value = serde_json::from_str(&desk.read("w/results.json")).unwrap();
    assert!(json["privacy_auc_cost"].is_number() && json["privacy_auc_cost_margin"].as_f64().unwrap() > 0.0);
    assert!(json["loss_still_falling_without_privacy"].as_f64().unwrap() > 0.002, "{json}");
    let done = desk.prdo(&format!("{short} --open rounds=3000 --open method.step_size=20")).done().stdout;
    assert!(!done.contains("had not learned"), "{done}");
}

#[test]
fn a_table_is_dealt_out_as_its_column_says_and_every_cell_stays() {
    let desk = Desk::new();
    let rows = ["A1,North,\"12,5\",yes", "A2,St. Mary,,no", "A3,North,x \"y\",yes", "A4,St. Mary,7,no"];
    desk.write(
        "t.csv",
        format!("id,who,value,label\n{}\n", rows.join("\n").replace("x \"y\"", "\"x \"\"y\"\"\"")),
    );
    let said = desk.prdo("data split t.csv --node who --out shares").done().stdout;
    assert!(said.contains("shares/north.csv: 2 records of North"), "{said}");
    assert_eq!(desk.read("shares/st--mary.csv"), "id,who,value,label\nA2,St. Mary,,no\nA4,St. Mary,7,no\n");
    assert_eq!(
        desk.read("shares/north.csv"),
        "id,who,value,label\nA1,North,\"12,5\",yes\nA3,North,\"x \"\"y\"\"\",yes\n"
    );
    let told = desk.prdo("data split t.csv --node who --validation 1 --out some --json").json();
    assert_eq!((told["validation"].as_u64(), told["names"][1].as_str()), (Some(1), Some("St. Mary")));
    assert_eq!(desk.read("some/validation.csv").lines().count(), 2);
    refused(&desk, "data split t.csv --node whoo --out none", &["no such column", "did you mean \"who\"?"]);
    refused(&desk, "data split t.csv --out none", &["--nodes"]);
    desk.write("nobody.csv", "a,who,label\n1,,yes\n");
    refused(&desk, "data split nobody.csv --node who --out none", &["line 2", "names nobody"]);
    assert!(!desk.path("none").exists());
    // A name that is nearly right.
    refused(&desk, "data split tt.csv --node who --out none", &["did you mean \"t.csv\"?"]);
    refused(&desk, "run t.tom --out none", &["cannot read the run file"]);
}
