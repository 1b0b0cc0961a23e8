//! The command end to end, as a person types it.

use crate::common::{Desk, SMALL};
use prdo::build::network::{network, normalisation};
use prdo::network::Shape;
use prdo::runfile::Document;
use prdo::store::{parse_rows, read_models};

#[test]
fn a_run_leaves_a_whole_folder_and_its_run_file_repeats_it_to_the_bit() {
    let desk = Desk::new();
    desk.write("small.toml", SMALL);
    let answer = desk.prdo("run small.toml --out out").done();
    assert!(
        answer.stdout.contains("test accuracy") && answer.stdout.contains("privacy: ε = "),
        "{}",
        answer.stdout
    );
    assert!(answer.stdout.contains("report: out/report.html"));
    for file in ["run.toml", "metrics.csv", "summary.json", "model.safetensors", "report.html"] {
        assert!(desk.path(&format!("out/{file}")).is_file(), "{file}");
    }
    assert!(!desk.path("out/checkpoint").exists(), "a finished run needs no checkpoint");

    let rows = parse_rows(&desk.read("out/metrics.csv"));
    assert_eq!(rows.iter().map(|r| r.round).collect::<Vec<_>>(), [0, 10, 20, 30, 40]);
    let last = rows.last().unwrap();
    assert!(last.epsilon_spent.unwrap() <= 4.0 && last.epsilon_spent.unwrap() > 3.9);
    assert_eq!(last.bytes_sent, 4 * 2 * 3 * 8 * 40);
    assert!(last.loss < rows[0].loss);
    assert!(last.clipped_gradient_fraction.is_some() && last.clipped_difference_fraction.is_some());
    assert!(rows.iter().all(|row| row.clip_bias.is_none()), "with privacy nobody says what clipping did");
    let (average, nodes) = read_models(&desk.bytes("out/model.safetensors")).unwrap();
    assert_eq!((average.len(), nodes.len()), (3, 4));

    desk.prdo("run out/run.toml --out again --threads 1").done();
    for file in ["metrics.csv", "model.safetensors", "run.toml"] {
        assert_eq!(desk.bytes(&format!("out/{file}")), desk.bytes(&format!("again/{file}")), "{file}");
    }
    desk.prdo("run small.toml --out other --seed 2").done();
    assert_ne!(desk.bytes("out/model.safetensors"), desk.bytes("other/model.safetensors"));
}

#[test]
fn the_report_is_one_file_with_plots_network_settings_and_privacy_statement() {
    let desk = Desk::new();
    desk.write("small.toml", SMALL);
    desk.prdo("run small.toml --out out").done();
    let html = desk.read("out/report.html");
    for part in [
        "<svg",
        "λ = ",
        "differential privacy",
        "add/remove",
        "Poisson",
        "contour integral with proven error",
        "not private",
        "step_size = 0.5",
    ] {
        assert!(html.contains(part), "{part}");
    }
    for outside in ["http://", "https://", "<script src", "<link"] {
        let found = html.replace("http://www.w3.org/2000/svg", "").contains(outside);
        assert!(!found, "the report reaches outside: {outside}");
    }
    std::fs::remove_file(desk.path("out/report.html")).unwrap();
    desk.prdo("report out").done();
    assert_eq!(desk.read("out/report.html"), html);

    // Without privacy the report says so.
    desk.write("open.toml", SMALL.split("[clip]").next().unwrap());
    desk.prdo("run open.toml --out open").done();
    assert!(desk.read("open/report.html").contains("Not private: ε = ∞"));
    let rows = parse_rows(&desk.read("open/metrics.csv"));
    assert!(rows.iter().all(|r| r.epsilon_spent.is_none() && r.clipped_gradient_fraction.is_none()));
    assert!(rows.iter().all(|r| r.clip_bias.is_none()));

    // Clipped without privacy, it says what clipping does; the page of a private run had no such figure.
    desk.write("clipped.toml", SMALL.split("[privacy]").next().unwrap());
    desk.prdo("run clipped.toml --out clipped").done();
    let rows = parse_rows(&desk.read("clipped/metrics.csv"));
    assert!(rows.iter().all(|r| r.clip_bias.is_some_and(|bias| bias > 0.0)));
    let words = "bias of clipping";
    assert!(desk.read("clipped/report.html").contains(words) && !html.contains(words));
}

#[test]
fn a_damaged_or_half_written_folder_gives_a_partial_report_that_says_so() {
    let desk = Desk::new();
    desk.write("small.toml", SMALL);
    desk.prdo("run small.toml --out out").done();
    std::fs::remove_file(desk.path("out/summary.json")).unwrap();
    desk.write("out/metrics.csv", "torn");
    desk.prdo("report out").done();
    let html = desk.read("out/report.html");
    assert!(html.contains("not finished") && html.contains("metrics.csv: it holds no measurements"));
}

#[test]
fn a_finished_run_is_never_overwritten_silently() {
    let desk = Desk::new();
    desk.write("small.toml", SMALL);
    desk.prdo("run small.toml --out out").done();
    let before = desk.bytes("out/model.safetensors");
    let refused = desk.prdo("run small.toml --out out --seed 9");
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("holds a finished run"), "{}", refused.stderr);
    assert_eq!(desk.bytes("out/model.safetensors"), before);
    desk.prdo("run small.toml --out out --seed 9 --overwrite").done();
    assert_ne!(desk.bytes("out/model.safetensors"), before);
    std::fs::remove_file(desk.path("out/report.html")).unwrap();
    let resumed = desk.prdo("run small.toml --out out --resume --seed 9").done();
    assert!(resumed.stderr.contains("already finished") && resumed.stdout.contains("test accuracy"));
    assert!(desk.path("out/report.html").is_file());
    let other = desk.prdo("run small.toml --out out --resume");
    assert_eq!(other.code, Some(2));
    assert!(other.stderr.contains("other settings"), "{}", other.stderr);
    // Without --out each run gets a folder of its own.
    desk.prdo("run small.toml").done();
    desk.prdo("run small.toml").done();
    assert!(
        desk.path("runs/small/summary.json").is_file() && desk.path("runs/small-2/summary.json").is_file()
    );
    // A folder with someone else's files is not touched.
    desk.write("mine/thesis.tex", "years of work");
    let foreign = desk.prdo("run small.toml --out mine --overwrite");
    assert_eq!(foreign.code, Some(2));
    assert_eq!(desk.read("mine/thesis.tex"), "years of work");
}

#[test]
fn the_demo_is_private_and_ends_with_what_to_try_next() {
    let desk = Desk::new();
    let answer = desk.prdo("demo --out demo").done();
    assert!(answer.stdout.lines().last().unwrap().starts_with("next: "), "{}", answer.stdout);
    for name in ["PRDO", "Exact Diffusion", "D-SGD", "has the best test accuracy"] {
        assert!(answer.stdout.contains(name), "{name}");
    }
    let json: serde_json::Value = serde_json::from_str(&desk.read("demo/comparison.json")).unwrap();
    let private = json["runs"].as_array().unwrap().iter().filter(|run| run["guarantee"].is_object());
    assert!(private.clone().count() >= 6);
    for run in private {
        assert!(run["guarantee"]["epsilon"].as_f64().unwrap() <= 2.0);
        assert!(run["guarantee"]["delta"].as_f64().unwrap() <= 1e-5);
    }
    assert!(desk.bytes("demo/figure.png").starts_with(b"\x89PNG"));
    let html = desk.read("demo/report.html");
    desk.prdo("report demo").done();
    assert_eq!(desk.read("demo/report.html"), html, "the report can be rebuilt from the files");
    let table = desk.read("demo/table.csv");
    let columns: Vec<usize> = table.lines().map(|line| line.split(',').count()).collect();
    assert!(columns.iter().all(|n| *n == columns[0]), "{columns:?}");
}

#[test]
fn compare_sweeps_lists_with_paired_streams() {
    let desk = Desk::new();
    let lists = SMALL
        .replace("name = \"prdo\"", "name = [\"prdo\", \"ed\"]")
        .replace("rounds = 40", "rounds = 20\nseed = [1, 2]");
    desk.write("sweep.toml", &lists);
    let json = desk.prdo("compare sweep.toml --out out --json").json();
    assert_eq!(json["runs"].as_array().unwrap().len(), 4);
    let table = desk.read("out/table.csv");
    assert_eq!(table.lines().count(), 5);
    // The same run alone gives the same figures: runs side by side do not touch each other.
    desk.write("alone.toml", SMALL.replace("rounds = 40", "rounds = 20"));
    desk.prdo("run alone.toml --out alone --seed 2").done();
    let alone = desk.read("alone/metrics.csv");
    let run =
        json["runs"].as_array().unwrap().iter().find(|r| r["method"] == "prdo" && r["seed"] == 2).unwrap();
    let rows: Vec<&str> = run["metrics"].as_array().unwrap().iter().map(|r| r.as_str().unwrap()).collect();
    assert_eq!(alone.lines().skip(1).collect::<Vec<_>>(), rows);
    let refused = desk.prdo("run sweep.toml --out no");
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("prdo compare") && !desk.path("no").exists());
}

#[test]
fn gamma_one_gives_the_bits_of_exact_diffusion_from_the_command_too() {
    let desk = Desk::new();
    desk.write("small.toml", SMALL);
    desk.prdo("run small.toml --out prdo --set method.gamma=1.0").done();
    desk.prdo("run small.toml --out ed --set method.name=ed").done();
    assert_eq!(desk.bytes("prdo/model.safetensors"), desk.bytes("ed/model.safetensors"));
}

/// Records and classes that an example with a network is made for.
fn network_example(name: &str) -> Option<(Shape, usize)> {
    match name {
        "mlp" => Some((Shape::flat(64), 10)),
        "cnn" => Some((Shape::new(1, 28, 28), 10)),
        "cifar10" => Some((Shape::new(3, 32, 32), 10)),
        _ => None,
    }
}

#[test]
fn every_example_is_a_valid_run_file() {
    let desk = Desk::new();
    let list = desk.prdo("example").done().stdout;
    let names: Vec<&str> =
        list.lines().take_while(|l| !l.is_empty()).map(|l| l.split_whitespace().next().unwrap()).collect();
    assert!(names.len() >= 5);
    desk.write(
        "my-data.csv",
        "node,label,a,b\n".to_string() + &"A,1,0.5,0.1\nB,0,0.2,0.9\nC,1,0.3,0.3\n".repeat(100),
    );
    // Made-up records in the form of the official files, which are not in the repository.
    let sectors = ["Private", "State-gov", "?"].map(|sector| {
        let rest = "77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male, 2174, 0";
        format!("39, {sector}, {rest}, 40, United-States, <=50K.\n50, {sector}, {rest}, 13, Cuba, >50K.\n")
            .repeat(600)
    });
    desk.write("data/adult.data", sectors.concat());
    desk.write("data/adult.test", format!("|1x3 Cross validator\n{}", sectors.concat()));
    desk.write("data/a9a", "-1 3:1 11:1\n+1 5:1 123:1\n".repeat(8000));
    desk.write("data/a9a.t", "-1 3:1 11:1\n+1 5:1\n".repeat(20));
    for name in names {
        desk.write("example.toml", desk.prdo(&format!("example {name}")).done().stdout);
        // Two of the networks need images that are not in the repository: they are only read.
        if let Some((input, classes)) = network_example(name).filter(|_| name != "mlp") {
            let document = Document::read(&desk.path("example.toml")).unwrap();
            assert!(network(&document.run_file(), input, classes).unwrap().is_some(), "{name}");
            assert!(normalisation(&document.run_file(), input.channels, None).is_ok(), "{name}");
            continue;
        }
        let verb = if name == "compare" { "compare" } else { "run" };
        let smaller = match name {
            "large" => " --set graph.nodes=50",
            _ => "",
        };
        // Not fewer rounds: what very few cost takes the accountant long to find out.
        desk.prdo(&format!("{verb} example.toml --set rounds=20 --out {name}{smaller}")).done();
    }
    assert!(desk.prdo("example --keys").done().stdout.contains("step_size"));
    assert_eq!(desk.prdo("example nonsense").code, Some(2));
}

#[test]
fn graph_reports_the_spectrum_and_the_assumption() {
    let desk = Desk::new();
    let ring = desk.prdo("graph ring --nodes 32 --json").json();
    let expected = (1.0 + (2.0 * std::f64::consts::PI / 32.0).cos()) / 2.0;
    assert!((ring["lambda"].as_f64().unwrap() - expected).abs() < 1e-12);
    assert_eq!((ring["nodes"].as_u64(), ring["edges"].as_u64()), (Some(32), Some(32)));
    for key in ["positive_semidefinite", "doubly_stochastic", "connected"] {
        assert_eq!(ring[key], true, "{key}");
    }
    assert!((ring["spectral_gap"].as_f64().unwrap() + ring["lambda"].as_f64().unwrap() - 1.0).abs() < 1e-12);
    let plain = desk.prdo("graph ring --nodes 8 --weights metropolis --lazy=false --json").json();
    assert_eq!(plain["positive_semidefinite"], false);
    desk.write("edges.txt", "0 1\n1 2\n2 3\n3 0\n0 2\n");
    assert_eq!(desk.prdo("graph edges.txt --json").json()["edges"], 5);
    desk.prdo("graph torus --nodes 64 --picture net.png").done();
    assert!(desk.bytes("net.png").starts_with(b"\x89PNG"));
    for kind in ["path", "complete", "star", "hypercube", "exponential"] {
        desk.prdo(&format!("graph {kind} --nodes 16 --json")).json();
    }
    desk.prdo("graph erdos-renyi --nodes 40 --probability 0.2 --json").json();
    desk.prdo("graph random-regular --nodes 40 --degree 4 --json").json();
}

#[test]
fn figure_1_quick_shows_what_the_paper_says() {
    let desk = Desk::new();
    let json = desk.prdo("reproduce figure-1 --quick --json --out f").json();
    let full = &json["full_batch"]["final_grad_norm"];
    assert!(json["full_batch"]["prdo_vs_ed_max_relative"].as_f64().unwrap() < 1e-10);
    // 300 rounds instead of 600; the whole experiment is checked by `.ci/run`.
    assert!(full["ed"].as_f64().unwrap() < 1e-6, "{full}");
    assert!(full["dsgd"].as_f64().unwrap() > 1e-3, "{full}");
    assert!(json["minibatch"]["prdo_over_best_baseline"].as_f64().unwrap() < 0.9, "{json}");
    for name in ["figure-1", "figure-1-vectors", "figure-1-evaluations"] {
        assert!(desk.bytes(&format!("f/{name}.png")).starts_with(b"\x89PNG"));
        assert!(desk.read(&format!("f/{name}.svg")).contains("<svg"));
    }
    assert!(desk.read("f/report.html").contains("smaller version"));
}

#[test]
fn the_sensitivity_example_holds() {
    let desk = Desk::new();
    let json = desk.prdo("reproduce sensitivity-example --quick --json --out s").json();
    assert_eq!(json["holds"], true);
    assert_eq!(json["clipped"], 0);
    assert!(json["largest_sensitivity"].as_f64().unwrap() <= json["sensitivity_bound"].as_f64().unwrap());
    assert!(json["s_gamma"].as_f64().unwrap() < json["clip_gradient"].as_f64().unwrap());
}

#[test]
fn every_inequality_of_the_proof_holds_on_a_small_version_of_bounds() {
    let desk = Desk::new();
    let json = desk.prdo("reproduce bounds --quick --json --out b").json();
    assert_eq!((json["violated"].as_u64(), json["clipped_cases"].as_u64()), (Some(0), Some(0)), "{json}");
    assert!(json["checked"].as_u64().unwrap() > 10_000 && json["slope"].is_f64());
    let inequalities = json["inequalities"].as_array().unwrap();
    for label in ["cv:finite-bound", "cv:h-recursion", "cv:H-recursion", "cv:network-energy", "cv:movement"] {
        let own: Vec<_> = inequalities.iter().filter(|one| one["label"] == label).collect();
        assert!(!own.is_empty() && own.iter().all(|one| one["checked"].as_u64() > Some(0)), "{label}");
    }
    // 3 problems, 3 graphs, with noise and without.
    assert_eq!(json["details"].as_array().unwrap().len(), 18);
    for name in ["bounds", "ratios", "slopes"] {
        assert!(desk.bytes(&format!("b/{name}.png")).starts_with(b"\x89PNG"));
    }
    assert!(desk.read("b/report.html").contains("Every inequality"));
}

#[test]
fn clipping_quick_shows_where_clipped_methods_stop() {
    let desk = Desk::new();
    let json = desk.prdo("reproduce clipping --quick --json --out c").json();
    let list = |name: &str| json[name].as_array().unwrap().clone();
    let number = |of: &serde_json::Value, name: &str| of[name].as_f64().unwrap();
    let fixed_points = list("fixed_points");
    assert_eq!(fixed_points.len(), 12);
    for one in &fixed_points {
        assert!((number(one, "reached") - number(one, "predicted")).abs() < 1e-9, "{one}");
    }
    for one in list("floors") {
        assert!((number(&one, "slope_large") + 1.0).abs() < 0.01, "{one}");
        assert!(number(&one, "slope_small").abs() < 0.1, "{one}");
    }
    // Where nothing is clipped there is no bias to measure.
    let points = json["minibatch"]["points"].as_array().unwrap();
    let wide = points.iter().filter(|one| number(one, "clip") == 6.0);
    assert!(points.len() == 12 && wide.clone().count() == 6, "{points:?}");
    assert!(wide.into_iter().all(|one| number(one, "late_clip_bias") < 1e-4), "{points:?}");
    assert!(desk.bytes("c/clipping.png").starts_with(b"\x89PNG"));
    assert!(desk.read("c/clipping.svg").contains("<svg"));
    assert!(desk.read("c/report.html").contains("smaller version"));
    assert!(desk.read("c/floors.csv").starts_with("method,"));
}

#[test]
fn own_files_of_every_kind_are_read_and_relative_paths_start_at_the_run_file() {
    let desk = Desk::new();
    let mut csv = String::from("node,height,weight,label\n");
    let mut svm = String::new();
    for r in 0..120 {
        let (x, y) = ((r * 7 % 13) as f64 / 13.0, (r * 5 % 11) as f64 / 11.0);
        let label = if x + y > 1.0 { "yes" } else { "no" };
        csv += &format!("{},{x},{y},{label}\n", ["Ada", "Bo", "Cy"][r % 3]);
        svm += &format!("{} 1:{x} 2:{y}\n", if x + y > 1.0 { 1 } else { -1 });
    }
    desk.write("deep/data/people.csv", csv);
    desk.write("deep/data/people.svm", svm);
    let run = |path: &str, graph: &str| {
        format!(
            "rounds = 5\n{graph}[data]\nsource = \"file\"\npath = \"{path}\"\n[model]\nkind = \"logistic\"\n\
             [method]\nname = \"ed\"\nstep_size = 1.0\n"
        )
    };
    desk.write("deep/column.toml", run("data/people.csv", "[graph]\nkind = \"complete\"\n"));
    desk.prdo("run deep/column.toml --out column").done();
    assert!(desk.read("column/run.toml").contains("nodes = 3"));
    desk.write("deep/svm.toml", run("data/people.svm", "[graph]\nnodes = 4\n"));
    desk.prdo("run deep/svm.toml --out svm").done();
    // The resolved run file works from anywhere.
    desk.prdo("run column/run.toml --out column-again").done();
    assert_eq!(desk.bytes("column/model.safetensors"), desk.bytes("column-again/model.safetensors"));
}

#[test]
fn a_table_of_named_hospitals_stays_with_its_hospitals_and_a_useless_model_is_called_so() {
    let desk = Desk::new();
    let mut csv = String::from("hospital,age,pressure,outcome\n");
    for r in 0..300 {
        let (age, pressure) = ((r * 7 % 90) as f64, 100.0 + (r * 11 % 60) as f64);
        let outcome = if age + pressure > 175.0 { "yes" } else { "no" };
        csv += &format!("{},{age},{pressure},{outcome}\n", ["St Mary", "Lakeside", "North"][r % 3]);
    }
    desk.write("my-data.csv", csv);
    let example = desk.prdo("example csv").done().stdout.replace("label = \"label\"", "label = \"outcome\"");
    desk.write("first.toml", &example);
    let refused = desk.prdo("run first.toml --out no");
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("node = ") && refused.stderr.contains("St Mary"), "{}", refused.stderr);

    desk.write("raw.toml", example.replace("# node = \"hospital\"", "node = \"hospital\""));
    let raw = desk.prdo("run raw.toml --out raw").done();
    assert!(raw.stderr.contains("held by 3 nodes"), "{}", raw.stderr);
    assert!(raw.stderr.contains("warning: the model did not learn"), "{}", raw.stderr);
    let report = desk.read("raw/report.html");
    assert!(report.contains("the model did not learn") && report.contains(">yes<"));
    assert!(desk.read("raw/run.toml").contains("intercept = true"));

    // Dealing the records out anew is said, a third label is named, and so is a wrong number of nodes.
    let shuffled = desk.prdo("run raw.toml --out shuffled --set partition.kind=iid").done();
    assert!(shuffled.stderr.contains("node column is not used"), "{}", shuffled.stderr);
    let wrong = desk.prdo("run raw.toml --out no --set graph.nodes=4");
    assert!(wrong.code == Some(2) && wrong.stderr.contains("speaks of 3 nodes"), "{}", wrong.stderr);
    let maybe = desk.read("my-data.csv") + "North,50,120,maybe\n";
    desk.write("my-data.csv", maybe);
    let third = desk.prdo("run raw.toml --out no");
    assert!(third.code == Some(2) && third.stderr.contains("maybe, no, yes"), "{}", third.stderr);
}

#[test]
fn help_has_an_example_for_every_command() {
    let desk = Desk::new();
    for command in [
        "demo",
        "run",
        "compare",
        "reproduce",
        "reproduce figure-1",
        "reproduce sensitivity-example",
        "reproduce bounds",
        "reproduce clipping",
        "reproduce table-1",
        "example",
        "graph",
        "privacy",
        "audit",
        "bench",
        "bench accountant",
        "bench gradients",
        "report",
    ] {
        let help = desk.prdo(&format!("{command} --help")).done().stdout;
        assert!(help.contains("Example: prdo "), "{command}");
    }
    assert!(desk.prdo("--version").done().stdout.starts_with("prdo "));
}

#[test]
fn metrics_of_the_first_records_are_those_of_a_run_that_has_no_others() {
    use prdo::prelude::*;
    let data = prdo::data::generate::logistic(4, 60, 3, 0.2, 1).unwrap();
    let first: Vec<Table> = data.iter().map(|table| table.select(&[0, 1, 2, 3, 4, 5, 6])).collect();
    let measured = |records: Vec<Table>, most: usize| {
        let ring = Mixing::new(&Graph::ring(4).unwrap(), Weights::Paper, false).unwrap();
        let run = Run::new(Logistic::new(3, 0.001).unwrap(), records, ring, Method::Ed, Settings::new(0.5))
            .measure_on(most);
        let mut prepared = run.start(Start::normal(3, 1.0, 5)).prepare().unwrap();
        let row = prepared.training.measure();
        (row.loss, row.grad_norm, prepared.facts.measured_records)
    };
    assert_eq!(measured(data.clone(), 7), measured(first, 100));
    assert_ne!(measured(data.clone(), 7).0, measured(data, 1000).0);
}

#[test]
fn a_run_that_measures_some_records_only_trains_the_same_and_says_so() {
    let desk = Desk::new();
    desk.write("small.toml", SMALL);
    desk.prdo("run small.toml --out all").done();
    let some = desk.prdo("run small.toml --out some --set metrics.records=10").done();
    assert!(some.stdout.contains("40 of 240") && some.stdout.contains("estimate"), "{}", some.stdout);
    assert_eq!(desk.bytes("all/model.safetensors"), desk.bytes("some/model.safetensors"));
    let (all, part) = (parse_rows(&desk.read("all/metrics.csv")), parse_rows(&desk.read("some/metrics.csv")));
    for (a, b) in all.iter().zip(&part) {
        assert!(a.grad_norm != b.grad_norm);
        assert_eq!(*a, prdo::simulator::Row { loss: a.loss, grad_norm: a.grad_norm, ..*b });
    }
    assert!(
        desk.read("some/report.html").contains("40 of 240")
            && !desk.read("all/report.html").contains("estimate")
    );
    let summary: serde_json::Value = serde_json::from_str(&desk.read("some/summary.json")).unwrap();
    assert_eq!((summary["measured_records"].as_u64(), summary["records"].as_u64()), (Some(40), Some(240)));
    assert!(desk.read("some/run.toml").contains("records = 10"));
    // More records than there are is all of them.
    let whole = desk.prdo("run small.toml --out whole --set metrics.records=60").done();
    assert!(!whole.stdout.contains("estimate"));
    assert_eq!(desk.bytes("whole/metrics.csv"), desk.bytes("all/metrics.csv"));
}
