//! Writes networks of every kind of layer as ONNX, with records and the scores that prdo gives them, for
//! `bench/check_onnx.py` to hold against onnxruntime: `cargo run --example onnx -- FOLDER`.

use prdo::data::Table;
use prdo::export::{Linear, linear_to_onnx, network_to_onnx};
use prdo::network::{Law, Network, Normalisation, Shape, Spec};
use prdo::prelude::{Model, Softmax};
use std::error::Error;
use std::path::{Path, PathBuf};

const RECORDS: usize = 20;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args_os().nth(1).map(PathBuf::from).ok_or("usage: onnx FOLDER")?;
    std::fs::create_dir_all(&folder)?;
    let every = [
        "conv 6 5x5 stride 2 padding 2",
        "group-norm 3",
        "relu",
        "conv 8 1x1",
        "tanh",
        "max-pool 3 stride 2",
        "conv 4",
        "average-pool 2",
        "dense 7",
        "tanh",
        "dense 5",
    ];
    let every = every.iter().map(|text| text.parse()).collect::<Result<Vec<_>, _>>()?;
    network(&folder, "every-layer", &Spec::new(Shape::new(2, 19, 17), every, 5)?)?;
    for (name, shape) in [("vgg-small", Shape::new(3, 32, 32)), ("lenet", Shape::new(1, 28, 28))] {
        network(&folder, name, &Spec::named(name, shape, 10).ok_or("a known name")??)?;
    }
    linear(&folder)
}

/// Numbers from −1 to 1 that look like chance.
fn numbers(count: usize, seed: u64) -> Vec<f64> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / (1u64 << 30) as f64 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

fn network(folder: &Path, name: &str, spec: &Spec) -> Result<(), Box<dyn Error>> {
    let shape = spec.input();
    let (mean, deviation) = (vec![0.4_f32; shape.channels], vec![0.3_f32; shape.channels]);
    let mut parameters = spec.start(Law::default(), 3).values().to_vec();
    // Norms start at 1 and 0, which would hide a mistake.
    parameters.iter_mut().zip(numbers(spec.parameters(), 5)).for_each(|(p, n)| *p += 0.1 * n);
    let pixels: Vec<u8> =
        numbers(RECORDS * shape.size(), 7).iter().map(|n| (127.5 * (n + 1.0)) as u8).collect();
    let input: Vec<f32> = pixels.iter().map(|p| f32::from(*p) / 255.0).collect();
    let table = Table::new(shape.size(), pixels, vec![0.0; RECORDS])?;
    let model = Network::<u8>::new(spec.clone(), Normalisation::new(&mean, &deviation));
    let scores = model.scores(&parameters, &table).concat();
    let file = network_to_onnx(spec, Some((&mean, &deviation)), &parameters, name)?;
    write(folder, name, &file, &input, &scores)
}

fn linear(folder: &Path) -> Result<(), Box<dyn Error>> {
    let (features, classes) = (6, 4);
    let model = Softmax::new(features, classes, 0.0)?;
    let (parameters, input) = (numbers(model.dimension(), 1), numbers(RECORDS * features, 2));
    let score = |row: &[f64]| -> Vec<f32> {
        let class =
            |w: &[f64]| w.iter().zip(row.iter().chain([&1.0])).map(|(w, a)| w * a).sum::<f64>() as f32;
        parameters.chunks(features + 1).map(class).collect()
    };
    let scores: Vec<f32> = input.chunks(features).flat_map(score).collect();
    let file = linear_to_onnx(Linear { features, scores: classes, intercept: true }, &parameters, "softmax")?;
    let input: Vec<f32> = input.iter().map(|v| *v as f32).collect();
    write(folder, "softmax", &file, &input, &scores)
}

fn write(
    folder: &Path,
    name: &str,
    file: &[u8],
    input: &[f32],
    scores: &[f32],
) -> Result<(), Box<dyn Error>> {
    let bytes = |values: &[f32]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    std::fs::write(folder.join(format!("{name}.onnx")), file)?;
    std::fs::write(folder.join(format!("{name}.input")), bytes(input))?;
    std::fs::write(folder.join(format!("{name}.scores")), bytes(scores))?;
    Ok(())
}
