//! Fingerprints and resolved run files do not change: checkpoints of earlier versions still fit, and a run's own
//! `run.toml` still names it.

use super::*;
use crate::build::resolved::to_toml;
use prdo_data::{Dataset, ImageShape, npz};
use std::fmt::Write as _;
use std::path::Path;

/// Small files in place of the data that examples name.
fn stand_ins(folder: &Path) {
    let write = |name: &str, text: String| std::fs::write(folder.join(name), text).unwrap();
    let mut table = String::from("a,b,node,label\n");
    for r in 0..300 {
        let _ = writeln!(table, "{},{},{},{}", r % 7, (r * 5) % 11, r % 4, r % 2);
    }
    write("my-data.csv", table);
    let adult = |count: usize| {
        (0..count).fold(String::new(), |mut text, r| {
            let (work, sex) = (["Private", "State-gov", "?"][r % 3], ["Male", "Female"][r % 2]);
            let income = if (r * 7) % 5 < 2 { ">50K" } else { "<=50K" };
            let _ = writeln!(
                text,
                "{},{work},1,HS-grad,9,Divorced,Sales,Husband,White,{sex},{},0,40,Peru,{income}",
                20 + r % 50,
                r * 10
            );
            text
        })
    };
    write("adult.data", adult(1800));
    write("adult.test", adult(60));
    let libsvm = |count: usize| {
        (0..count).fold(String::new(), |mut text, r| {
            let _ =
                writeln!(text, "{} {}:1 {}:0.5", if r % 3 == 0 { 1 } else { -1 }, 1 + r % 60, 61 + r % 60);
            text
        })
    };
    write("a9a", libsvm(15_000));
    write("a9a.t", libsvm(100));
    for (name, shape) in [
        ("grey.npz", ImageShape { channels: 1, height: 28, width: 28 }),
        ("colour.npz", ImageShape { channels: 3, height: 32, width: 32 }),
    ] {
        let pixels = (0..400 * shape.features()).map(|p| (p * 37 % 251) as u8).collect();
        let labels = (0..400).map(|r| f64::from(r % 10)).collect();
        let table = Table::new(shape.features(), pixels, labels).unwrap();
        let data = Dataset { image: Some(shape), ..Dataset::from(table) };
        npz::write(&mut std::fs::File::create(folder.join(name)).unwrap(), &data).unwrap();
    }
}

/// An example, what is changed in it, the fingerprint's first bytes and those of the resolved run file's hash.
type Pin = (&'static str, &'static str, &'static str, &'static str);

#[rustfmt::skip]
const PINS: &[Pin] = &[
    ("a9a", "data.path=a9a data.test_path=a9a.t", "5d46b0b589e013c2", "c97c1e4e743a7b90"),
    ("adult", "data.path=adult.data data.test_path=adult.test", "8a3229c16a774fe2", "e41227250076ad47"),
    ("cifar10", "data.path=colour.npz data.validation=40 batch.size=5 partition.kind=iid rounds=20",
        "ccda56812d441ab2", "5365141c05677a4d"),
    ("cnn", "data.path=grey.npz data.test=40 batch.size=5 partition.kind=shards",
        "ad32a704104e2d51", "12e582a494174804"),
    ("compare", "", "d73912393c8645bf", "3c749bcabe90b192"),
    ("csv", "", "a26c75795d1495c7", "faa97fb6d7417871"),
    ("csv", "data.test=0 model.intercept=false partition.kind=iid graph.nodes=5 model.start=normal",
        "1d96275b697ba511", "11b17618836bdc89"),
    ("demo", "", "7739ddb6e99949c6", "04cc62688cf4a81a"),
    ("digits", "", "d929aecac1316a40", "4cb6e4604e6ad0b5"),
    ("digits", "partition.kind=shards partition.concentration=0.2 model.regularization=0.5 graph.weights=max-degree",
        "6a6c47b0b6f794e0", "ebd2cb534983e540"),
    ("figure-1", "", "4dbad8c33bc3b6ec", "bf58094a5c30adaa"),
    ("large", "graph.nodes=40", "827f3e753f8cabe1", "20590f540b50adf9"),
    ("large", "graph.nodes=40 data.source=quadratic model.kind=quadratic model.curvature=0.3 method.beta=0.5",
        "3b3b3d11c2e9748f", "a725011b615c612c"),
    ("large", "graph.nodes=12 data.source=coefficients graph.kind=erdos-renyi graph.probability=0.5 data.bound=2 data.spread=1",
        "d484d18418e11871", "c9875114181cd375"),
    ("large", "graph.nodes=12 data.source=coefficients model.curvature=0.25 batch.sampling=poisson method.name=mt method.combine=first",
        "6bf6b68ad1d5f19f", "d599c47dcffdf8c3"),
    ("large", "graph.nodes=12 data.source=blobs partition.seed=3 model.condition=3 data.test=0 clip.gradient=1",
        "eeac00be8d384472", "8fa9a658da0937c1"),
    ("mlp", "", "59e9554eea1ba0af", "1601897e397fd62d"),
    ("mlp", "model.start=fan-in privacy.accountant=rdp clip.gradient=2 metrics.records=5",
        "7d4c5cc751ebc768", "69849b6751d96707"),
    ("private", "model.condition=3 data.bound=2 model.intercept=true model.start=normal model.start_deviation=0.2",
        "bba719a4d86edf12", "7bda2c52cfa6eb06"),
    ("private", "method.name=edm graph.lazy=true graph.seed=1 model.start=zeros model.start_seed=4 batch.first=50",
        "2bc2f837f2cc5024", "c2765e5b7d8b0c96"),
];

fn hex(bytes: &[u8; 32]) -> String {
    bytes[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn fingerprints_and_resolved_run_files_are_what_they_were() {
    let folder = tempfile::tempdir().unwrap();
    stand_ins(folder.path());
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/examples");
    for (name, changes, fingerprint, file) in PINS {
        let mut document = Document::read(&examples.join(format!("{name}.toml"))).unwrap();
        document.folder = folder.path().to_path_buf();
        changes.split_whitespace().for_each(|change| document.set(change).unwrap());
        let (_, document) = document.expand().pop().unwrap();
        let built = build(&document).unwrap();
        let toml = to_toml(&document, &built).replace(&folder.path().display().to_string(), "");
        // The version changes on purpose.
        let lines = toml.lines().filter(|line| !line.starts_with("prdo = "));
        let hash = blake3::hash(lines.map(|line| format!("{line}\n")).collect::<String>().as_bytes());
        assert_eq!(hex(&built.fingerprint), *fingerprint, "{name} {changes}");
        assert_eq!(hex(hash.as_bytes()), *file, "{name} {changes}\n{toml}");
    }
}
