//! Bad input: exit 2, a message that names the place, nothing written, no panic.

use crate::common::{Desk, SMALL, refused};

/// The small run file with these lines replaced or added in a section ("" is the top).
fn with(section: &str, lines: &str) -> String {
    let key = |line: &str| line.split('=').next().unwrap().trim().to_string();
    let mut new: Vec<&str> = lines.lines().collect();
    let mut text: Vec<String> = Vec::new();
    let mut current = String::new();
    let mut found = section.is_empty();
    for line in SMALL.lines() {
        if let Some(name) = line.strip_prefix('[').and_then(|t| t.strip_suffix(']')) {
            if current == section {
                text.extend(new.drain(..).map(String::from));
            }
            current = name.to_string();
            found |= current == section;
        }
        let replacement = new.iter().position(|l| current == section && key(l) == key(line));
        text.push(replacement.map_or(line, |at| new.remove(at)).to_string());
    }
    if !found {
        text.push(format!("[{section}]"));
    }
    text.extend(new.drain(..).map(String::from));
    text.join("\n") + "\n"
}

fn without(key: &str) -> String {
    SMALL.lines().filter(|l| l.split('=').next().unwrap().trim() != key).collect::<Vec<_>>().join("\n")
}

#[track_caller]
fn refused_run(text: impl AsRef<[u8]>, words: &[&str]) {
    let desk = Desk::new();
    desk.write("run.toml", text);
    refused(&desk, "run run.toml --out out", words);
}

#[test]
fn values_out_of_range_show_file_line_column_and_what_is_allowed() {
    let cases: &[(&str, &str, &[&str])] = &[
        ("", "rounds = 0", &["rounds = 0", "run.toml:2:10", "from 1 to", "^"]),
        ("", "rounds = -5", &["rounds = -5", "whole number"]),
        ("", "rounds = 1.5", &["rounds = 1.5", "whole number"]),
        ("", "rounds = \"many\"", &["rounds", "whole number", "^^^^^^"]),
        ("", "seed = -1", &["seed = -1", "whole number"]),
        ("", "name = 7", &["name = 7", "text in quotes"]),
        ("graph", "nodes = 0", &["graph.nodes = 0", "from 1 to"]),
        ("graph", "nodes = 2", &["graph", "ring", "2", "3"]),
        ("graph", "kind = \"rign\"", &["graph.kind", "did you mean \"ring\"?"]),
        ("graph", "kind = \"hypercube\"\nnodes = 6", &["power of two"]),
        ("graph", "kind = \"torus\"\nnodes = 7", &["torus", "7"]),
        ("graph", "kind = \"erdos-renyi\"", &["probability"]),
        ("graph", "kind = \"random-regular\"", &["degree"]),
        ("graph", "probability = 1.5", &["graph.probability = 1.5", "at most 1"]),
        ("graph", "probability = 0.5", &["probability", "ring"]),
        ("graph", "weights = \"best\"", &["graph.weights", "metropolis"]),
        ("graph", "kind = \"star\"\nweights = \"paper\"", &["graph.weights", "metropolis"]),
        (
            "graph",
            "weights = \"metropolis\"\nlazy = false\nkind = \"complete\"\nnodes = 2\nfile = \"x\"",
            &["graph.file"],
        ),
        ("graph", "lazy = 1", &["graph.lazy = 1", "true or false"]),
        ("graph", "kind = \"file\"", &["graph.file is missing"]),
        ("graph", "kind = \"file\"\nfile = \"absent.txt\"", &["graph.file", "absent.txt", "cannot read"]),
        ("data", "records = 0", &["data.records = 0"]),
        ("data", "dimension = 0", &["data.dimension = 0"]),
        ("data", "heterogeneity = -0.1", &["data.heterogeneity = -0.1", "at least 0"]),
        ("data", "heterogeneity = nan", &["data.heterogeneity = nan"]),
        ("data", "heterogeneity = inf", &["data.heterogeneity = inf"]),
        ("data", "source = \"logistics\"", &["data.source", "did you mean \"logistic\"?"]),
        ("data", "source = \"file\"", &["data.path is missing"]),
        ("model", "kind = \"softmax\"", &["model.kind", "does not fit", "\"logistic\""]),
        ("model", "kind = \"vgg-smal\"", &["model.kind", "did you mean \"vgg-small\"?"]),
        ("model", "layers = \"dense 10\"", &["model.layers", "a list of texts", "^^^^^^^^^^"]),
        ("model", "layers = []", &["model.layers", "a list of texts"]),
        ("data", "mean = 0.5", &["data.mean = 0.5", "a list of numbers"]),
        ("data", "deviation = [0.5, 0]", &["data.deviation", "from 1e-6 to 1e6"]),
        ("model", "regularization = -1.0", &["model.regularization = -1.0", "at least 0"]),
        ("model", "start_deviation = 0.0", &["model.start_deviation"]),
        ("method", "name = \"sgd\"", &["method.name", "did you mean \"dsgd\"?"]),
        ("method", "step_size = 0.0", &["method.step_size = 0.0", "above 0"]),
        ("method", "step_size = -1", &["method.step_size = -1", "above 0"]),
        ("method", "step_size = nan", &["method.step_size = nan"]),
        ("method", "gamma = 0.0", &["method.gamma = 0.0", "above 0 and at most 1"]),
        ("method", "gamma = 1.01", &["method.gamma = 1.01", "at most 1"]),
        ("method", "beta = 1.0", &["method.beta = 1.0", "below 1"]),
        ("method", "combine = \"never\"", &["method.combine", "\"after\", \"first\""]),
        ("method", "exchanges = 0", &["method.exchanges = 0", "whole, from 1 to 100", "^"]),
        ("method", "exchanges = 2.5", &["method.exchanges = 2.5", "whole, from 1 to 100"]),
        ("method", "exchanges = 101", &["method.exchanges = 101", "whole, from 1 to 100"]),
        ("method", "polynomial = \"square\"", &["method.polynomial", "\"chebyshev\", \"power\""]),
        ("method", "final_mixings = -1", &["method.final_mixings = -1", "whole, from 0 to 100"]),
        ("method", "final_mixings = 0.5", &["method.final_mixings = 0.5", "whole, from 0 to 100"]),
        ("method", "final_mixings = 101", &["method.final_mixings = 101", "whole, from 0 to 100"]),
        (
            "method",
            "exchanges = 2\nlocal_steps = 2",
            &["method.exchanges = 2 is not allowed with method.local_steps above 1: it must be 1", "^"],
        ),
        (
            "method",
            "exchanges = 2\n[wire]\nkind = \"top\"",
            &["method.exchanges = 2 is not allowed with wire.kind"],
        ),
        (
            "method",
            "final_mixings = 4\nlocal_steps = 7",
            &["method.final_mixings = 4 is not allowed where rounds is not a multiple of method.local_steps"],
        ),
        ("batch", "size = 0", &["batch.size = 0"]),
        ("batch", "size = 61", &["batch.size = 61", "at most 60", "run.toml:20:8"]),
        ("batch", "first = 100", &["batch.first = 100", "at most 60"]),
        ("batch", "sampling = \"full\"", &["batch.sampling", "poisson"]),
        ("batch", "sampling = \"without-replacement\"", &["batch.sampling", "poisson"]),
        ("clip", "gradient = 0.0", &["clip.gradient = 0.0", "above 0"]),
        ("clip", "gradient = -2.0", &["clip.gradient = -2.0", "above 0"]),
        ("clip", "difference = 0", &["clip.difference = 0", "above 0"]),
        ("clip", "gradient = 1e300", &["clip.gradient"]),
        ("privacy", "epsilon = 0.0", &["privacy.epsilon = 0.0", "above 0"]),
        ("privacy", "epsilon = -1", &["privacy.epsilon = -1", "above 0"]),
        ("privacy", "epsilon = inf", &["privacy.epsilon = inf"]),
        ("privacy", "delta = 0.0", &["privacy.delta = 0.0", "above 0 and below 1"]),
        ("privacy", "delta = 1.0", &["privacy.delta = 1.0", "below 1"]),
        ("privacy", "noise_multiplier = 1.0", &["both given"]),
        ("privacy", "noise_multiplier = 0.0", &["privacy.noise_multiplier = 0.0", "from 0.01"]),
        ("privacy", "accountant = \"magic\"", &["privacy.accountant", "\"rdp\""]),
        ("metrics", "every = 0", &["metrics.every = 0"]),
        ("metrics", "records = 0", &["metrics.records = 0", "whole number from 1"]),
        ("metrics", "moments = \"yes\"", &["metrics.moments", "true or false"]),
        ("partition", "kind = \"iid\"", &["partition"]),
    ];
    for (section, line, words) in cases {
        refused_run(with(section, line), words);
    }
    // Tiny ε alone can be had, with a δ that covers everything; not so with a tiny δ as well.
    let tiny = SMALL.replace("epsilon = 4.0", "epsilon = 1e-9").replace("delta = 1e-3", "delta = 1e-15");
    refused_run(tiny, &["no noise multiplier", "ε ≤ 1e-9", "run.toml:27:11"]);
}

/// Polynomials of W need one symmetric W: for runs, plans and agreements alike.
#[test]
fn further_exchanges_need_links_that_go_both_ways() {
    let text = SMALL.replacen("[graph]", "[graph]\nkind = \"directed-ring\"", 1);
    for (line, words) in [
        (
            "exchanges = 3",
            "method.exchanges = 3 is not allowed on a network with links that go one way or take turns: it must be 1",
        ),
        (
            "final_mixings = 8",
            "method.final_mixings = 8 is not allowed on a network with links that go one way or take turns: it must be 0",
        ),
    ] {
        let desk = Desk::new();
        let method = format!("[method]\n{line}\nname = \"gt\"");
        let named =
            text.lines().filter(|line| !line.starts_with("name = ") && !line.starts_with("kind = \"ring"));
        desk.write("run.toml", named.collect::<Vec<_>>().join("\n").replacen("[method]", &method, 1));
        refused(&desk, "run run.toml --out out", &[words, "run.toml:", "^"]);
        refused(&desk, "plan run.toml --public-data", &[words, "run.toml:", "^"]);
    }
}

#[test]
fn unknown_and_missing_keys_and_broken_toml() {
    refused_run(
        with("method", "stepsize = 1.0"),
        &["unknown key \"method.stepsize\"", "did you mean \"method.step_size\"?", "^^^^^^^^"],
    );
    refused_run(
        with("privcy", "epsilon = 1.0"),
        &["unknown key \"privcy.epsilon\"", "did you mean \"privacy.epsilon\"?"],
    );
    refused_run(with("", "round = 5"), &["unknown key \"round\"", "did you mean \"rounds\"?"]);
    refused_run(with("zoo", "quux = 5"), &["unknown key \"zoo.quux\"", "--keys"]);
    refused_run("rounds = = 3", &["not TOML", "run.toml:1:10"]);
    refused_run("rounds = 3\nrounds = 4\n", &["not TOML", "run.toml:2:1"]);
    refused_run("[graph\nnodes = 3", &["not TOML", "run.toml:1"]);
    refused_run([0x72, 0x6f, 0xff, 0xfe], &["not UTF-8", "byte 2"]);
    refused_run("", &["missing"]);
    for key in ["rounds", "nodes", "source", "step_size", "epsilon"] {
        refused_run(without(key), &["is missing", key]);
    }
    refused_run(SMALL.replace("gradient = 1.0\n", ""), &["clip.gradient is missing"]);
    refused_run(SMALL.replace("difference = 0.05\n", ""), &["clip.difference is missing", "help"]);
    refused_run(with("", "seed = [1, 2]"), &["seed is a list", "prdo compare"]);
    refused_run(with("", "seed = []"), &["empty list"]);
    refused_run("rounds = [[1]]", &["rounds"]);
    refused_run("graph = 3", &["graph"]);
}

#[test]
fn bad_files_and_arguments() {
    let desk = Desk::new();
    desk.write("run.toml", SMALL);
    desk.write("empty-folder/x", "");
    refused(&desk, "run absent.toml --out out", &["absent.toml", "cannot read"]);
    refused(&desk, "run empty-folder --out out", &["empty-folder", "cannot read"]);
    refused(&desk, "run run.toml --out out --set nonsense", &["key=value"]);
    refused(&desk, "run run.toml --out out --set method.gama=0.1", &["--set:1:8", "method.gamma"]);
    refused(&desk, "run run.toml --out out --set method.gamma=9", &["--set", "method.gamma = 9"]);
    refused(&desk, "run run.toml --out out --resume", &["no run to resume"]);
    refused(&desk, "run run.toml --out out --threads 0", &["--threads 0"]);
    refused(
        &desk,
        "run run.toml --out out --set rounds=2 --set privacy.delta=0.5",
        &["delta = 0.5", "even ε = 0 holds"],
    );
    refused(&desk, "run run.toml --out out --set privacy.epsilon=1e-300", &["epsilon", "told from 0"]);
    refused(&desk, "run run.toml --out out --checkpoint-every -1", &["--checkpoint-every"]);
    refused(&desk, "run run.toml --out empty-folder", &["not empty"]);
    refused(&desk, "compare absent.toml", &["absent.toml"]);
    refused(&desk, "report absent", &["absent", "not a folder"]);
    refused(&desk, "report empty-folder", &["empty-folder"]);
    refused(&desk, "graph blob --nodes 4", &["blob", "ring"]);
    refused(&desk, "graph ring", &["graph.nodes is missing", "add --nodes"]);
    refused(&desk, "graph ring --nodes 3 --picture x.gif", &["x.gif", ".svg, .png or .pdf"]);
    refused(&desk, "reproduce figure-9", &["figure-9"]);
    // A negative number is a value out of range, not an option that does not exist.
    refused(&desk, "reproduce table-1 --epsilon -1", &["invalid value '-1' for '--epsilon"]);
    refused(&desk, "reproduce table-1 --rounds -5", &["invalid value '-5' for '--rounds"]);
    refused(&desk, "bench gradients --seconds -0.5", &["invalid value '-0.5' for '--seconds"]);
    refused(&desk, "graph ring --nodes -3", &["-3"]);
    refused(&desk, "run -3 --out out", &["-3", "cannot read"]);
    refused(&desk, "dance", &["dance"]);
}

#[test]
fn a_comparison_with_one_bad_run_starts_none() {
    let desk = Desk::new();
    desk.write("run.toml", with("batch", "size = [10, 70]"));
    refused(&desk, "compare run.toml --out out", &["batch.size = 70", "in the run with batch.size = 70"]);
}

#[test]
fn bad_graph_files_name_the_failing_condition() {
    let cases: &[(&str, &[&str])] = &[
        ("# matrix\n0.5 0.5\n0.4 0.6\n", &["(0, 1)", "0.5", "0.4"]),
        ("# matrix\n0.5 0.4\n0.4 0.5\n", &["row 0", "0.9"]),
        ("# matrix\n1.5 -0.5\n-0.5 1.5\n", &["-0.5"]),
        ("# matrix\n0.1 0.9\n0.9 0.1\n", &["smallest eigenvalue", "-0.8"]),
        ("# matrix\n1 0\n0 1\n", &["2 parts"]),
        ("# matrix\n0.5 nan\nnan 0.5\n", &["NaN"]),
        ("# matrix\n0.5 0.5\n0.5\n", &["line 3"]),
        ("# edges\n0 1\n2 3\n", &["2 parts", "node 0"]),
        ("# edges\n0 1\n1 1\n", &["line 3", "1"]),
        ("# edges\n0 one\n", &["line 2", "one"]),
        ("", &["graph.file"]),
    ];
    for (text, words) in cases {
        let desk = Desk::new();
        desk.write("net.txt", text);
        let run = SMALL.replace("kind = \"ring\"\nnodes = 4\n", "kind = \"file\"\nfile = \"net.txt\"\n");
        desk.write("run.toml", run);
        refused(&desk, "run run.toml --out out", words);
    }
    let desk = Desk::new();
    desk.write("net.txt", [0x30, 0x20, 0xff]);
    desk.write(
        "run.toml",
        SMALL.replace("kind = \"ring\"\nnodes = 4\n", "kind = \"file\"\nfile = \"net.txt\"\n"),
    );
    refused(&desk, "run run.toml --out out", &["net.txt", "not UTF-8"]);
    desk.write("net.txt", "# edges\n0 1\n1 2\n2 0\n");
    desk.write(
        "run.toml",
        SMALL.replace("kind = \"ring\"\nnodes = 4\n", "kind = \"file\"\nfile = \"net.txt\"\nnodes = 9\n"),
    );
    refused(&desk, "run run.toml --out out", &["graph.nodes = 9", "3 nodes"]);
}

#[test]
fn bad_data_files_name_file_and_place() {
    let csv: &[(&[u8], &[&str])] = &[
        (b"", &["data.csv"]),
        (b"label,a\n", &["data.csv", "no records"]),
        (b"label,a\n1,2\n0,3,4\n", &["data.csv", "3"]),
        (b"label,a\n1,x\n", &["data.csv", "\"a\"", "x"]),
        (b"label,a\n1,nan\n0,1\n", &["data.csv"]),
        (b"label,a\n1,inf\n0,1\n", &["data.csv"]),
        (b"target,a\n1,2\n", &["data.csv", "target"]),
        (b"label\n1\n0\n", &["data.csv", "feature"]),
        (b"label,a,a\n1,2,3\n", &["data.csv", "a"]),
        (b"label,a\n1,\xff\n", &["data.csv"]),
        (b"label,a\n1,1\n2,2\n3,3\n1,1\n2,2\n3,3\n1,1\n", &["3 different values (1, 2, 3)", "needs two"]),
        (b"label,a\n1,1\n0,2\n", &["4", "nodes"]),
        (b"node,label,a\n0,1,1\n0,0,2\n1,1,3\n3,0,4\n1,1,1\n0,1,1\n3,1,1\n", &["node 2"]),
        (b"node,label,a\n-1,1,1\n0,0,2\n1,1,3\n", &["node"]),
    ];
    for (bytes, words) in csv {
        let desk = Desk::new();
        desk.write("data.csv", bytes);
        desk.write("run.toml", file_run("data.csv", "logistic"));
        refused(&desk, "run run.toml --out out", words);
    }
    let others: &[(&str, &[u8], &[&str])] = &[
        ("data.svm", b"1 0:1\n", &["data.svm", "1"]),
        ("data.svm", b"1 2:1 1:1\n", &["data.svm", "1"]),
        ("data.svm", b"one 1:1\n", &["data.svm", "one"]),
        ("data.npz", b"PK\x03\x04 not really", &["data.npz"]),
        ("data.parquet", b"PAR1", &["data.parquet"]),
        ("data.xyz", b"?", &["data.xyz", "format"]),
        ("data.csv.gz", b"?", &["unpack"]),
        ("train-images-idx3-ubyte", b"\0\0\x08\x03\0\0\0\x05", &["train-images-idx3-ubyte"]),
    ];
    for (name, bytes, words) in others {
        let desk = Desk::new();
        desk.write(name, bytes);
        desk.write("run.toml", file_run(name, "logistic"));
        refused(&desk, "run run.toml --out out", words);
    }
    let desk = Desk::new();
    desk.write("run.toml", file_run("absent.csv", "logistic"));
    refused(&desk, "run run.toml --out out", &["absent.csv", "run.toml:6:8"]);
    desk.write("data.csv", "label,a\n".to_string() + &"0,1\n12,2\n".repeat(20));
    desk.write("run.toml", file_run("data.csv", "softmax").replace("path =", "classes = 10\npath ="));
    refused(&desk, "run run.toml --out out", &["12"]);
    desk.write("run.toml", file_run("data.csv", "logistic"));
    refused(&desk, "run run.toml --out out", &["12"]);
    desk.write("run.toml", file_run("data.csv", "softmax").replace("path =", "test = 40\npath ="));
    refused(&desk, "run run.toml --out out", &["data.test", "40"]);
}

fn file_run(path: &str, model: &str) -> String {
    format!(
        "rounds = 3\n[graph]\nnodes = 4\n[data]\nsource = \"file\"\npath = \"{path}\"\n[model]\nkind = \"{model}\"\n\
         [method]\nname = \"ed\"\nstep_size = 0.1\n"
    )
}

#[test]
fn a_delta_of_one_over_n_or_more_is_allowed_with_a_warning() {
    let desk = Desk::new();
    desk.write("run.toml", with("privacy", "delta = 0.05"));
    let answer = desk.prdo("run run.toml --out out").done();
    assert!(answer.stderr.contains("warning: privacy.delta = 5e-2 is not below 1/N"), "{}", answer.stderr);
    assert!(desk.read("out/report.html").contains("not below 1/N"));
}

#[test]
fn a_run_that_diverges_fails_with_exit_1_and_says_what_to_do() {
    let desk = Desk::new();
    desk.write(
        "run.toml",
        "rounds = 5000\n[graph]\nnodes = 3\n[data]\nsource = \"quadratic\"\nrecords = 5\ndimension = 2\n\
         [method]\nname = \"dsgd\"\nstep_size = 50.0\n",
    );
    let answer = desk.prdo("run run.toml --out out");
    assert_eq!(answer.code, Some(1), "{}", answer.stderr);
    assert!(answer.stderr.contains("step size is too large"), "{}", answer.stderr);
    assert!(!desk.path("out/summary.json").exists());
}
