//! The paper's network against losses, gradients and a whole query that independent code computed in double
//! precision (`fixtures/vgg_gradients.json` says how its inputs are made).

use prdo_data::Table;
use prdo_kernels::Level;
use prdo_models::network::{Network, Normalisation, Role, Shape, Spec};
use prdo_privacy::*;
use serde_json::Value as Json;
use std::sync::Arc;

/// Of a tensor's norm.
const TOLERANCE: f64 = 2e-5;

fn fixture() -> Json {
    serde_json::from_str(include_str!("../fixtures/vgg_gradients.json")).unwrap()
}

fn number(json: &Json) -> f64 {
    json.as_f64().unwrap()
}

/// The fixture's generator.
fn uniform(seed: u64, stream: u64, j: u64) -> f64 {
    let mut z =
        (seed * 1000 + stream).wrapping_mul(1 << 32).wrapping_add(j).wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^= z >> 31;
    (z >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

fn parameters(spec: &Spec, seed: u64, shift: f64) -> Vec<f64> {
    let tensor = |(k, tensor): (usize, &prdo_models::network::Tensor)| {
        let fan_in = (tensor.len() / tensor.shape[0]) as f64;
        let scale = if tensor.role == Role::Bias { 0.1 } else { 2.0 / fan_in.sqrt() };
        (0..tensor.len() as u64)
            .map(|j| scale * uniform(seed, k as u64, j) + shift * uniform(seed, 100 + k as u64, j))
            .map(|v| f64::from(v as f32))
            .collect::<Vec<_>>()
    };
    spec.tensors().iter().enumerate().flat_map(tensor).collect()
}

struct Setting {
    model: Network<f64>,
    data: Table<f64>,
    now: Vec<f64>,
    before: Vec<f64>,
}

fn setting(level: Level) -> Setting {
    let json = fixture();
    let seed = json["seed"].as_u64().unwrap();
    let spec = Spec::named("vgg-small", Shape::new(3, 32, 32), 10).unwrap().unwrap();
    assert_eq!(spec.parameters() as u64, json["parameters_total"].as_u64().unwrap());
    for (tensor, expected) in spec.tensors().iter().zip(json["tensors"].as_array().unwrap()) {
        assert_eq!(tensor.name, expected["name"].as_str().unwrap());
    }
    let records = json["records"].as_array().unwrap().len() as u64;
    let pixel = |r, j| f64::from(uniform(seed, 200 + r, j) as f32);
    let features = (0..records).flat_map(|r| (0..3072).map(move |j| pixel(r, j))).collect();
    let labels = json["records"].as_array().unwrap().iter().map(|r| number(&r["label"])).collect();
    let (now, before) = (parameters(&spec, seed, 0.0), parameters(&spec, seed, 0.0002));
    let model = Network::with_level(spec, Normalisation::none(3), level);
    Setting { model, data: Table::new(3072, features, labels).unwrap(), now, before }
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|v| v * v).sum::<f64>().sqrt()
}

/// Norm and probes of every tensor of `vector`, held against the fixture's.
fn compare(spec: &Spec, vector: &[f64], norms: &Json, probes: &Json, what: &str) {
    for tensor in spec.tensors() {
        let values = &vector[tensor.range()];
        let expected = number(&norms[&tensor.name]);
        let error = (norm(values) - expected).abs();
        assert!(error < TOLERANCE * expected, "{what}, norm of {}: {error:e} of {expected:e}", tensor.name);
        let Some(list) = probes[&tensor.name].as_array() else { continue };
        for (i, probe) in list.iter().enumerate() {
            let error = (values[i * values.len() / 6] - number(probe)).abs();
            assert!(error < TOLERANCE * expected, "{what}, {} probe {i}: {error:e}", tensor.name);
        }
    }
}

#[test]
fn losses_gradients_and_differences_are_the_fixtures() {
    let json = fixture();
    for level in Level::available() {
        let Setting { model, data, now, before } = setting(level);
        for (r, expected) in json["records"].as_array().unwrap().iter().enumerate() {
            let what = format!("{} record {r}", level.name());
            assert!((model.loss(&now, &data, r) - number(&expected["loss"])).abs() < 1e-5, "{what}");
            assert!((model.loss(&before, &data, r) - number(&expected["loss_prev"])).abs() < 1e-5, "{what}");
            let mut gradient = vec![0.0; model.dimension()];
            model.gradient(&now, &data, r, &mut gradient);
            compare(model.spec(), &gradient, &expected["grad_norms"], &expected["grad_probes"], &what);
            let total = number(&expected["grad_norm"]);
            assert!((norm(&gradient) - total).abs() < TOLERANCE * total);
            let mut previous = vec![0.0; model.dimension()];
            model.gradient(&before, &data, r, &mut previous);
            let difference: Vec<f64> = gradient.iter().zip(&previous).map(|(a, b)| a - b).collect();
            // A difference is as right as the gradients it comes from.
            for tensor in model.spec().tensors() {
                let expected_norm = number(&expected["diff_norms"][&tensor.name]);
                let error = (norm(&difference[tensor.range()]) - expected_norm).abs();
                let scale = number(&expected["grad_norms"][&tensor.name]);
                assert!(error < 1e-5 * scale, "{what}, difference of {}: {error:e}", tensor.name);
            }
            let error = (norm(&difference) / number(&expected["diff_norm"]) - 1.0).abs();
            assert!(error < TOLERANCE * 10.0, "{what}: {error:e}");
        }
    }
}

/// A record's gradient as the gate gets it at one point: by larger tiles than `Model::gradient`, whose results may be
/// subtracted from one another.
fn at_one_point(model: &Network<f64>, x: &[f64], data: &Table<f64>, record: usize) -> Vec<f64> {
    let engine = model.engine().unwrap();
    let ready = engine.prepare(&[x]);
    let mut worker = ready.worker();
    worker.load(data, &[record as u32]);
    let mut coordinates = Vec::new();
    for n in 0..worker.pieces() {
        worker.differentiate(0, n);
        match worker.piece(0, 0, n) {
            Piece::Dense(values) => coordinates.extend_from_slice(values),
            Piece::Outer { rows, columns } => {
                coordinates.extend(rows.iter().flat_map(|r| columns.iter().map(move |c| r * c)));
            }
        }
    }
    engine.places().iter().map(|place| f64::from(coordinates[*place as usize])).collect()
}

#[test]
fn gradients_at_one_point_are_the_fixtures() {
    let json = fixture();
    for level in Level::available() {
        let Setting { model, data, now, .. } = setting(level);
        for (r, expected) in json["records"].as_array().unwrap().iter().enumerate() {
            let what = format!("{} record {r} at one point", level.name());
            let gradient = at_one_point(&model, &now, &data, r);
            compare(model.spec(), &gradient, &expected["grad_norms"], &expected["grad_probes"], &what);
            let total = number(&expected["grad_norm"]);
            assert!((norm(&gradient) - total).abs() < TOLERANCE * total, "{what}");
        }
    }
}

#[test]
fn the_gates_query_is_the_fixtures() {
    let json = fixture();
    let query = &json["query"];
    let Setting { model, data, now, before } = setting(Level::best());
    let spec = model.spec().clone();
    let clip = Clip::new(number(&query["clip_gradient"]), number(&query["clip_difference"])).unwrap();
    let batches = Batches::new(data.len(), data.len());
    let rules = OpenRules { batches, sampling: Sampling::Full, clip: Some(clip) };
    let (shard, secret) = (Shard::seal(data).unwrap(), Arc::new(Secret::from_seed(1)));
    let mut gate = Gate::exposed(0, Arc::new(model), shard, secret, rules).unwrap();
    let point = |x: Vec<f64>| Released::<Exposed>::start(&Start::declared_public(x).unwrap());
    let (at, previous) = (point(now), point(before));
    let answer = gate.answer(0, &Query::recursive(&at, &previous, number(&query["gamma"]))).unwrap();
    compare(&spec, answer.released.as_slice(), &query["norms"], &query["probes"], "query");
    assert_eq!(answer.diagnostics.clipped_gradients, 2);
    assert_eq!(answer.diagnostics.clipped_differences, 2);
}
