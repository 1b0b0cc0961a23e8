//! Feature maps in run files: images and tables become public features, and what does not fit is refused.

use crate::common::{Desk, refused};

const DIGITS: &str = "rounds = 30\nseed = 3\n[graph]\nkind = \"ring\"\nnodes = 4\n[data]\nsource = \"digits\"\n\
    [features]\nmap = \"scattering\"\nscales = 1\nangles = 4\ngrid = 4\ncache = \"kept\"\n\
    [method]\nname = \"edm\"\nstep_size = 20.0\n[batch]\nsize = 100\n[clip]\ngradient = 0.5\n[privacy]\nepsilon = 8.0\n";

#[test]
fn digits_are_learned_from_their_scattering_and_the_run_file_repeats_it() {
    let desk = Desk::new();
    desk.write("digits.toml", DIGITS);
    let answer = desk.prdo("run digits.toml --out out").done();
    assert!(answer.stderr.contains("it costs no privacy"), "{}", answer.stderr);
    let summary: serde_json::Value = serde_json::from_str(&desk.read("out/summary.json")).unwrap();
    assert!(summary["test_accuracy"].as_f64().unwrap() > 0.7, "{summary}");
    // Five channels in sixteen cells, and the intercept, for ten classes.
    assert_eq!(summary["parameters"], (5 * 16 + 1) * 10);
    let hash = summary["features"]["hash"].as_str().unwrap().to_owned();
    assert_eq!(hash.len(), 64);
    let resolved = desk.read("out/run.toml");
    assert!(
        resolved.contains(&format!("features = \"{hash}\"")) && resolved.contains("scales = 1"),
        "{resolved}"
    );
    assert!(desk.read("out/report.html").contains(&hash));
    // The features, and the constants of the map.
    let kept = || std::fs::read_dir(desk.path("kept")).unwrap().map(|file| file.unwrap().path());
    assert_eq!(kept().count(), 2);
    // Damaged ones are made again.
    for file in kept() {
        let mut bytes = std::fs::read(&file).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        std::fs::write(&file, &bytes).unwrap();
    }
    desk.prdo("run out/run.toml --out again --threads 1").done();
    assert_eq!(desk.bytes("out/model.safetensors"), desk.bytes("again/model.safetensors"));
    desk.write("other.toml", resolved.replace(&hash[..8], "00000000"));
    refused(&desk, "run other.toml --out other", &["the feature maps differ", &hash]);
    // A model is not used with a map of which nobody knows whether it is the one it was trained with.
    let unnamed: String =
        resolved.lines().filter(|line| !line.contains(&hash)).map(|l| format!("{l}\n")).collect();
    desk.write("out/run.toml", unnamed);
    refused(&desk, "predict out any.csv", &["no hash of the feature map", &hash]);
}

const TABLE: &str = "rounds = 20\n[graph]\nnodes = 3\n[data]\nsource = \"file\"\npath = \"people.csv\"\n\
    [features]\nmap = \"table\"\nranges = [\"age: 0 to 100\", \"hours: 0 to 80\"]\ncategories = [\"job\"]\n\
    buckets = 8\n[method]\nname = \"ed\"\nstep_size = 1.0\n";

fn people() -> String {
    let mut text = "age,job,hours,label\n".to_owned();
    for r in 0..90 {
        let (job, label) = if r % 2 == 0 { ("nurse", "yes") } else { ("smith", "no") };
        text += &format!("{},{job},{},{label}\n", 20 + r % 50, r % 60);
    }
    text
}

#[test]
fn tables_have_ranges_and_categories() {
    let desk = Desk::new();
    desk.write("people.csv", people());
    desk.write("run.toml", TABLE);
    desk.prdo("run run.toml --out out").done();
    let summary: serde_json::Value = serde_json::from_str(&desk.read("out/summary.json")).unwrap();
    assert_eq!((&summary["parameters"], &summary["test_accuracy"]), (&22.into(), &1.0.into()));
    for (from, to, words) in [
        (", \"hours: 0 to 80\"", "", "no range for column \"hours\""),
        ("0 to 80", "80 to 80", "\"hours\" is 80 to 80"),
        ("age: 0 to 100", "age 0-100", "column: low to high"),
        ("\"job\"", "\"job\", \"trade\"", "unknown column \"trade\""),
        ("\"table\"", "\"scattering\"", "reads images"),
        ("map = \"table\"\n", "", "features.map"),
    ] {
        desk.write("bad.toml", TABLE.replace(from, to));
        refused(&desk, "run bad.toml --out bad", &[words]);
    }
}

#[test]
fn constant_columns_and_unseen_categories_are_harmless() {
    let desk = Desk::new();
    let mut text = String::new();
    for (number, line) in people().lines().enumerate() {
        text += &format!("{},{line}\n", if number == 0 { "same" } else { "7" });
    }
    desk.write("people.csv", text);
    desk.write("run.toml", TABLE.replace("ranges = [", "ranges = [\"same: 0 to 10\", "));
    desk.prdo("run run.toml --out out").done();
    let summary: serde_json::Value = serde_json::from_str(&desk.read("out/summary.json")).unwrap();
    assert_eq!((&summary["parameters"], &summary["test_accuracy"]), (&24.into(), &1.0.into()));
    desk.write("new.csv", "same,age,job,hours,label\n7,30,baker,20,yes\n7,40,nurse,20,yes\n");
    let told = desk.prdo("predict out new.csv").done();
    assert_eq!(told.stdout.lines().count(), 3, "{}", told.stdout);
    // A column that the map knows nothing about, or one that is missing.
    desk.write("new.csv", "same,age,job,label\n7,30,baker,yes\n");
    refused(&desk, "predict out new.csv", &["new.csv", "hours"]);
}

/// Bytes of an IDX file of images.
fn pictures(count: u8, [rows, columns]: [u8; 2]) -> Vec<u8> {
    let mut bytes = vec![0, 0, 8, 3, 0, 0, 0, count, 0, 0, 0, rows, 0, 0, 0, columns];
    bytes.extend(
        (0..usize::from(count) * usize::from(rows) * usize::from(columns)).map(|i| (i * 37 % 251) as u8),
    );
    bytes
}

#[test]
fn images_of_other_sizes_and_settings_out_of_range_are_refused() {
    let desk = Desk::new();
    let labels = |count: u8| {
        [&[0, 0, 8, 1, 0, 0, 0, count][..], &(0..count).map(|i| i % 3).collect::<Vec<_>>()].concat()
    };
    desk.write("pictures/train-images-idx3-ubyte", pictures(60, [8, 8]));
    desk.write("pictures/train-labels-idx1-ubyte", labels(60));
    desk.write("pictures/t10k-images-idx3-ubyte", pictures(9, [4, 16]));
    desk.write("pictures/t10k-labels-idx1-ubyte", labels(9));
    let run = DIGITS.replace("source = \"digits\"", "source = \"file\"\npath = \"pictures\"");
    let run = run.replace("cache = \"kept\"\n", "").replace("size = 100", "size = 5");
    desk.write("run.toml", &run);
    let words = ["the feature map reads images of 1 x 8 x 8, but these are 1 x 4 x 16"];
    refused(&desk, "run run.toml --out out", &words);
    for (from, to, words) in [
        ("map = \"scattering\"", "map = \"scattering+patches\"\nfilters = 1025", "features.filters = 1025"),
        (
            "map = \"scattering\"",
            "map = \"scattering+patches\"\npatch = 9",
            "features.patch = 9 is not allowed: it must be from 2 to 8",
        ),
        (
            "map = \"scattering\"",
            "map = \"scattering+patches\"\nweight = 1e9",
            "features.weight = 1000000000",
        ),
        ("grid = 4", "grid = 5", "features.grid = 5 is not allowed: it must be from 1 to 4"),
        ("grid = 4", "grid = 4\nridge = 1e9", "features.ridge = 1000000000"),
        ("scales = 1", "scales = 4", "sides from 16 to 1024 pixels"),
    ] {
        desk.write("bad.toml", run.replace(from, to));
        refused(&desk, "run bad.toml --out out", &[words, "bad.toml:"]);
    }
    desk.write("pictures/t10k-images-idx3-ubyte", pictures(9, [8, 8]));
    desk.prdo("run run.toml --out out").done();
}
