//! Networks of every kind of layer against plain loops in double precision, written from the definitions.

use prdo_data::Table;
use prdo_kernels::Level;
use prdo_models::network::{Layer, Network, Normalisation, Role, Shape, Spec};
use prdo_privacy::*;
use std::sync::Arc;

/// An image as nested loops like it: [channel][y][x].
#[derive(Clone)]
struct Field {
    shape: Shape,
    values: Vec<f64>,
}

impl Field {
    fn zeros(shape: Shape) -> Self {
        Self { shape, values: vec![0.0; shape.size()] }
    }
    fn index(&self, c: usize, y: usize, x: usize) -> usize {
        (c * self.shape.height + y) * self.shape.width + x
    }
    /// The value there, 0 outside.
    fn get(&self, c: usize, y: isize, x: isize) -> f64 {
        let inside =
            (0..self.shape.height as isize).contains(&y) && (0..self.shape.width as isize).contains(&x);
        if inside { self.values[self.index(c, y as usize, x as usize)] } else { 0.0 }
    }
}

/// The loss of one record, from the definitions of the layers.
fn reference_loss(spec: &Spec, x: &[f64], record: &[f64], label: usize) -> f64 {
    let mut field = Field { shape: spec.input(), values: record.to_vec() };
    for (number, layer) in spec.layers().iter().enumerate() {
        let tensor = |role| spec.tensors().iter().find(|t| t.layer == number && t.role == role);
        let slice = |role| tensor(role).map_or(&[][..], |t| &x[t.range()]);
        field = apply(layer, &field, spec.shapes()[number], slice(Role::Weight), slice(Role::Bias));
    }
    let largest = field.values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let total: f64 = field.values.iter().map(|v| (v - largest).exp()).sum();
    total.ln() + largest - field.values[label]
}

fn apply(layer: &Layer, field: &Field, shape: Shape, weight: &[f64], bias: &[f64]) -> Field {
    let mut out = Field::zeros(shape);
    match *layer {
        Layer::Tanh => out.values = field.values.iter().map(|v| v.tanh()).collect(),
        Layer::Relu => out.values = field.values.iter().map(|v| v.max(0.0)).collect(),
        Layer::Dense { out: outputs } => {
            let width = field.values.len();
            for o in 0..outputs {
                let row = &weight[o * width..(o + 1) * width];
                out.values[o] = bias[o] + row.iter().zip(&field.values).map(|(w, v)| w * v).sum::<f64>();
            }
        }
        Layer::GroupNorm { groups } => {
            let per_group = field.values.len() / groups;
            let pixels = field.shape.height * field.shape.width;
            for (g, values) in field.values.chunks(per_group).enumerate() {
                let mean = values.iter().sum::<f64>() / per_group as f64;
                let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / per_group as f64;
                for (k, v) in values.iter().enumerate() {
                    let at = g * per_group + k;
                    let c = at / pixels;
                    out.values[at] = weight[c] * (v - mean) / (variance + 1e-5).sqrt() + bias[c];
                }
            }
        }
        Layer::Conv { kernel, stride, padding, .. } => each(shape, |c, y, x| {
            let mut sum = bias[c];
            for i in 0..field.shape.channels {
                for ky in 0..kernel {
                    for kx in 0..kernel {
                        let (sy, sx) = (y * stride + ky, x * stride + kx);
                        let value =
                            field.get(i, sy as isize - padding as isize, sx as isize - padding as isize);
                        sum += weight[((c * field.shape.channels + i) * kernel + ky) * kernel + kx] * value;
                    }
                }
            }
            let at = out.index(c, y, x);
            out.values[at] = sum;
        }),
        Layer::MaxPool { size, stride } | Layer::AveragePool { size, stride } => each(shape, |c, y, x| {
            let values: Vec<f64> = (0..size * size)
                .map(|k| field.get(c, (y * stride + k / size) as isize, (x * stride + k % size) as isize))
                .collect();
            let at = out.index(c, y, x);
            out.values[at] = match layer {
                Layer::MaxPool { .. } => values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
                _ => values.iter().sum::<f64>() / values.len() as f64,
            };
        }),
    }
    out
}

fn each(shape: Shape, mut visit: impl FnMut(usize, usize, usize)) {
    for c in 0..shape.channels {
        for y in 0..shape.height {
            for x in 0..shape.width {
                visit(c, y, x);
            }
        }
    }
}

/// Uniform numbers in ±1, rounded to single precision.
fn noise(i: usize) -> f64 {
    let z = (i as u64 + 7).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 31)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    f64::from(((z >> 11) as f64 / (1_u64 << 52) as f64 - 1.0) as f32)
}

/// Every kind of layer, with sizes that are and are not multiples of sixteen, even and odd.
fn networks() -> Vec<(&'static str, Shape, &'static [&'static str])> {
    vec![
        ("dense", Shape::flat(5), &["dense 7", "tanh", "dense 3"]),
        ("dense on an image", Shape::new(2, 3, 3), &["dense 20", "relu", "dense 3"]),
        ("first layer only", Shape::new(3, 6, 6), &["conv 5 5x5 padding 2", "tanh", "dense 3"]),
        ("winograd", Shape::new(3, 8, 8), &["conv 20", "tanh", "conv 33", "tanh", "dense 3"]),
        (
            "winograd, 12 by 4",
            Shape::new(1, 12, 4),
            &["conv 16", "tanh", "conv 20", "tanh", "conv 33", "max-pool 2", "tanh", "dense 3"],
        ),
        (
            "winograd pooled",
            Shape::new(3, 8, 8),
            &["conv 16", "tanh", "conv 17", "tanh", "max-pool 2", "dense 3"],
        ),
        (
            "pool then activate",
            Shape::new(1, 8, 8),
            &["conv 16", "relu", "conv 16", "max-pool 2", "tanh", "conv 8", "tanh", "dense 3"],
        ),
        ("one by one", Shape::new(2, 5, 7), &["conv 6 1x1", "tanh", "conv 18 1x1", "tanh", "dense 3"]),
        (
            "strides",
            Shape::new(3, 9, 9),
            &["conv 4 3x3 stride 2 padding 0", "tanh", "conv 6 3x3 stride 2 padding 1", "tanh", "dense 3"],
        ),
        (
            "five by five",
            Shape::new(2, 7, 7),
            &["conv 4", "tanh", "conv 6 5x5 stride 2 padding 1", "tanh", "dense 3"],
        ),
        ("odd size", Shape::new(2, 7, 5), &["conv 4", "tanh", "conv 18", "tanh", "max-pool 2", "dense 3"]),
        (
            "overlapping pools",
            Shape::new(2, 9, 9),
            &[
                "conv 4",
                "tanh",
                "max-pool 3 stride 2",
                "conv 4",
                "tanh",
                "average-pool 2 stride 1",
                "dense 3",
            ],
        ),
        ("pool first", Shape::new(2, 8, 8), &["average-pool 2", "max-pool 2", "tanh", "dense 3"]),
        (
            "group norm",
            Shape::new(2, 6, 6),
            &["conv 12", "group-norm 3", "tanh", "conv 8", "group-norm 4", "relu", "dense 3"],
        ),
        ("norm first", Shape::new(4, 4, 4), &["group-norm 2", "conv 16", "tanh", "dense 3"]),
    ]
}

struct Case {
    model: Network<f64>,
    data: Table<f64>,
    x: Vec<f64>,
}

fn case(level: Level, input: Shape, layers: &[&str]) -> Case {
    let layers: Vec<Layer> = layers.iter().map(|l| l.parse().unwrap()).collect();
    let spec = Spec::new(input, layers, 3).unwrap();
    let x: Vec<f64> = (0..spec.parameters()).map(|i| 0.4 * noise(i)).collect();
    let records = 7;
    let features = (0..records * input.size()).map(|i| noise(100_000 + i)).collect();
    let labels = (0..records).map(|r| (r % 3) as f64).collect();
    let data = Table::new(input.size(), features, labels).unwrap();
    Case { model: Network::with_level(spec, Normalisation::none(input.channels), level), data, x }
}

/// The coordinates of a record's gradient among `records` as the gate gets them.
fn at_one_point(
    model: &Network<f64>,
    data: &Table<f64>,
    x: &[f64],
    records: &[u32],
    which: usize,
) -> Vec<f32> {
    let ready = model.engine().unwrap().prepare(&[x]);
    let mut worker = ready.worker();
    worker.load(data, records);
    let pieces = (0..worker.pieces()).flat_map(|n| {
        worker.differentiate(which, n);
        match worker.piece(0, which, n) {
            Piece::Dense(values) => values.to_vec(),
            Piece::Outer { rows, columns } => {
                rows.iter().flat_map(|r| columns.iter().map(move |c| r * c)).collect()
            }
        }
    });
    pieces.collect()
}

/// The loss of record `r`, and its slope along some of the parameters, at least the first of each tensor.
fn slopes(Case { model, data, x }: &Case, r: usize) -> (f64, Vec<(usize, f64)>) {
    let spec = model.spec();
    let loss = |x: &[f64]| reference_loss(spec, x, data.row(r), data.label(r) as usize);
    let slope = |j: usize| {
        let h = 1e-6;
        let at = |shift: f64| {
            let mut y = x.clone();
            y[j] += shift;
            loss(&y)
        };
        (j, (at(h) - at(-h)) / (2.0 * h))
    };
    let some = (0..x.len()).step_by((x.len() / 60).max(1));
    (loss(x), some.chain(spec.tensors().iter().map(|t| t.offset)).map(slope).collect())
}

#[test]
fn gradients_are_differences_of_the_reference_loss() {
    for (name, input, layers) in networks() {
        for r in [0, 4] {
            let (loss, slopes) = slopes(&case(Level::best(), input, layers), r);
            for level in Level::available() {
                let Case { model, data, x } = case(level, input, layers);
                let mut gradient = vec![0.0; x.len()];
                let found = model.evaluate(&x, &data, Records::List(&[r as u32]), &mut gradient);
                assert!((found - loss).abs() < 1e-5, "{name}: loss");
                assert!((model.loss(&x, &data, r) - loss).abs() < 1e-5, "{name}: looking at the loss");
                let size = gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
                // What the gate asks for at one point is computed in another way.
                let coordinates = at_one_point(&model, &data, &x, &[r as u32], 0);
                let places = model.engine().unwrap().places();
                for (j, slope) in &slopes {
                    for found in [gradient[*j], f64::from(coordinates[places[*j] as usize])] {
                        let error = (slope - found).abs();
                        assert!(
                            error < 3e-5 * (1.0 + size),
                            "{name} ({}), parameter {j}: {slope} {found}",
                            level.name(),
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn a_records_gradient_is_the_same_alone_and_among_others() {
    for (name, input, layers) in networks() {
        let Case { model, data, x } = case(Level::best(), input, layers);
        let engine = model.engine().unwrap();
        let gradient = |records: &[u32], which: usize| at_one_point(&model, &data, &x, records, which);
        let alone = gradient(&[3], 0);
        assert_eq!(alone.len(), engine.coordinates());
        for (records, which) in [(&[3, 1, 2, 0][..], 0), (&[5, 3], 1), (&[0, 6, 4, 3], 3), (&[1, 2, 3], 2)] {
            assert_eq!(gradient(records, which), alone, "{name}");
        }
        // Coordinates that are no parameter are exactly zero: they are counted in norms and must not take part.
        let mut parameters = vec![false; alone.len()];
        for place in engine.places() {
            assert!(
                !std::mem::replace(&mut parameters[*place as usize], true),
                "{name}: a place is used twice"
            );
        }
        assert!(alone.iter().zip(&parameters).all(|(value, real)| *real || *value == 0.0), "{name}");
    }
}

/// The gate's answer by its definition, from gradients one at a time in double precision.
fn expected_query(case: &Case, previous: &[f64], gamma: f64, clip: (f64, f64)) -> Vec<f64> {
    let Case { model, data, x } = case;
    let mut sum = vec![0.0; x.len()];
    let clipped = |v: &[f64], bound: f64| -> Vec<f64> {
        let norm = v.iter().map(|v| v * v).sum::<f64>().sqrt();
        v.iter().map(|v| v * (bound / norm).min(1.0)).collect()
    };
    for r in 0..data.len() {
        let (mut now, mut before) = (vec![0.0; x.len()], vec![0.0; x.len()]);
        model.gradient(x, data, r, &mut now);
        model.gradient(previous, data, r, &mut before);
        let difference: Vec<f64> = now.iter().zip(&before).map(|(a, b)| a - b).collect();
        let (g, d) = (clipped(&now, clip.0), clipped(&difference, clip.1));
        for ((s, g), d) in sum.iter_mut().zip(g).zip(d) {
            *s += (gamma * g + (1.0 - gamma) * d) / data.len() as f64;
        }
    }
    sum
}

#[test]
fn the_query_is_its_definition_also_at_tiny_differences_and_for_any_threads() {
    for (name, input, layers) in networks() {
        for (shift, clip) in [(1e-2, (0.5, 0.01)), (1e-4, (1.0, 1e-3)), (1e-4, (100.0, 100.0))] {
            let case = case(Level::best(), input, layers);
            let previous: Vec<f64> = case
                .x
                .iter()
                .enumerate()
                .map(|(i, x)| f64::from((x + shift * noise(5000 + i)) as f32))
                .collect();
            let expected = expected_query(&case, &previous, 0.05, clip);
            let answer = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let rules = OpenRules {
                    batches: Batches::new(7, 7),
                    sampling: Sampling::Full,
                    clip: Some(Clip::new(clip.0, clip.1).unwrap()),
                };
                let shard = Shard::seal(case.data.clone()).unwrap();
                let secret = Arc::new(Secret::from_seed(1));
                let mut gate = Gate::exposed(0, Arc::new(case.model.clone()), shard, secret, rules).unwrap();
                let point =
                    |x: &[f64]| Released::<Exposed>::start(&Start::declared_public(x.to_vec()).unwrap());
                let (at, before) = (point(&case.x), point(&previous));
                pool.install(|| {
                    let plain = gate.answer(0, &Query::gradient(&at)).unwrap().released;
                    (plain, gate.answer(1, &Query::recursive(&at, &before, 0.05)).unwrap().released)
                })
            };
            let (plain, found) = answer(1);
            assert_eq!((plain, found.clone()), answer(3), "{name}: threads");
            let norm = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>().sqrt();
            let error: Vec<f64> = found.as_slice().iter().zip(&expected).map(|(a, b)| a - b).collect();
            let scale = norm(&expected).max(1e-3 * clip.1);
            assert!(norm(&error) < 5e-4 * scale, "{name}: {:e} of {:e}", norm(&error), norm(&expected));
        }
    }
}

#[test]
fn networks_refuse_records_that_do_not_fit() {
    let Case { model, .. } = case(Level::best(), Shape::new(2, 3, 3), &["dense 3"]);
    let narrow = Table::new(5, vec![0.0; 5], vec![0.0]).unwrap();
    assert!(model.check(&narrow).unwrap_err().contains("2x3x3 = 18 values but these have 5"));
    let label = Table::new(18, vec![0.0; 18], vec![3.0]).unwrap();
    assert!(model.check(&label).unwrap_err().contains("label 3 is not one of the classes 0 to 2"));
}
