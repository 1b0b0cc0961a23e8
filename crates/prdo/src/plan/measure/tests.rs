use super::*;
use crate::build::Form;
use prdo_data::generate;
use prdo_models::network::{Layer, Network, Normalisation, Shape, Spec};
use prdo_models::{LinearModel, LogCosh, Logistic, Quadratic, Softmax};
use prdo_privacy::Start;

/// Four nodes with differing records.
fn tables(width: usize, classes: f64) -> Vec<Table> {
    let one = |node: usize| {
        let features = (0..width * 12).map(|i| ((i * 53 + node * 17) % 101) as f64 / 40.0 - 1.0).collect();
        let labels =
            (0..12).map(|r| if classes > 2.0 { ((r + node) % 3) as f64 } else { (r % 2) as f64 * 2.0 - 1.0 });
        Table::new(width, features, labels.collect()).unwrap()
    };
    (0..4).map(one).collect()
}

/// A model, as it is described and as it is used, with records for it.
type Example = (Form, Box<dyn Model<Data = Table>>, Vec<Table>);

fn example(model: impl LinearModel + Clone + 'static, nodes: Vec<Table>) -> Example {
    (Form::Linear(Box::new(model.clone())), Box::new(model), nodes)
}

fn linear() -> Vec<Example> {
    vec![
        example(Logistic::new(5, 0.3).unwrap(), tables(5, 2.0)),
        example(Softmax::new(4, 3, 0.0).unwrap(), tables(4, 3.0)),
        example(Softmax::new(4, 3, 0.2).unwrap(), tables(4, 3.0)),
        example(Quadratic::new(3, 20.0).unwrap(), tables(3, 2.0)),
        example(LogCosh::new(0.4).unwrap(), generate::coefficients(4, 12, 0.3, 1).unwrap()),
    ]
}

fn constants(form: &Form, model: &dyn Model<Data = Table>, nodes: &[Table], sampled: Sampled) -> Problem {
    let start = Start::normal(model.dimension(), 0.5, 3);
    PublicRecords { form, model, nodes, start: start.values() }.constants(sampled)
}

const HALF: Sampled = Sampled { rate: 0.5, gradient_clip: None };

#[test]
fn proven_smoothness_bounds_every_ratio_of_random_pairs() {
    for (form, model, nodes) in linear() {
        let level = constants(&form, &*model, &nodes, HALF).smoothness.unwrap();
        assert_eq!(level.source, super::super::Source::Proven);
        let d = model.dimension();
        let (mut a, mut b, mut closest) = (vec![0.0; d], vec![0.0; d], 0.0_f64);
        for pair in 0..200 {
            let x = Start::normal(d, 2.0_f64.powi(pair as i32 % 8 - 5), 2 * pair).values().to_vec();
            let step = Start::normal(d, 2.0_f64.powi(pair as i32 % 6 - 5), 2 * pair + 1).values().to_vec();
            let y: Vec<f64> = x.iter().zip(&step).map(|(x, s)| x + s).collect();
            for (table, r) in nodes.iter().flat_map(|table| (0..table.len()).map(move |r| (table, r))) {
                model.gradient(&x, table, r, &mut a);
                model.gradient(&y, table, r, &mut b);
                closest = closest.max(distance(&a, &b) / distance(&x, &y) / level.value);
            }
        }
        assert!(closest <= 1.0 + 1e-9, "{form:?}: {closest}");
        assert!(closest > 0.2, "{form:?}: a bound that is never near is no use: {closest}");
    }
}

#[test]
fn proven_variance_bounds_the_exact_one_of_every_batch() {
    for (form, model, nodes) in linear() {
        let level = constants(&form, &*model, &nodes, HALF).sampling_variance.unwrap();
        let d = model.dimension();
        let mut largest = 0.0_f64;
        for seed in 0..5 {
            let x = Start::normal(d, 1.0, seed);
            largest = nodes
                .iter()
                .map(|table| exact_variance(&*model, table, x.values(), 6))
                .fold(largest, f64::max);
        }
        // b times the variance of a batch of b = 6 of 12.
        let largest = 6.0 * largest;
        match level.source {
            super::super::Source::Proven => assert!(largest <= level.value * (1.0 + 1e-9), "{form:?}"),
            _ => assert!(largest > 0.0 && level.value > 0.0),
        }
    }
}

/// The variance of the Poisson estimator (1/b)Σ_{r∈B}∇ℓ_r, over all 2^12 batches.
fn exact_variance(model: &dyn Model<Data = Table>, table: &Table, x: &[f64], b: usize) -> f64 {
    let count = table.len();
    let rate = b as f64 / count as f64;
    let gradients: Vec<Vec<f64>> = (0..count)
        .map(|r| {
            let mut gradient = vec![0.0; x.len()];
            model.gradient(x, table, r, &mut gradient);
            gradient
        })
        .collect();
    let mean: Vec<f64> =
        (0..x.len()).map(|j| gradients.iter().map(|g| g[j]).sum::<f64>() / count as f64).collect();
    let mut total = 0.0;
    for batch in 0..1_u32 << count {
        let taken = batch.count_ones() as i32;
        let chance = rate.powi(taken) * (1.0 - rate).powi(count as i32 - taken);
        let estimate: Vec<f64> = (0..x.len())
            .map(|j| {
                (0..count).filter(|r| batch >> r & 1 == 1).map(|r| gradients[r][j]).sum::<f64>() / b as f64
            })
            .collect();
        total += chance * distance(&estimate, &mean).powi(2);
    }
    total
}

#[test]
fn the_variance_seen_is_the_exact_one() {
    // Ridge softmax at its start only: one step of zero length is no descent, so compare the second moment itself.
    let (form, model, nodes) = linear().swap_remove(2);
    let start = Start::normal(model.dimension(), 0.5, 3);
    let records = PublicRecords { form: &form, model: &*model, nodes: &nodes, start: start.values() };
    let part = Part { of: &records, list: records.looked_at() };
    let (moment, _) = part.records(start.values(), None);
    let exact =
        nodes.iter().map(|table| 6.0 * exact_variance(&*model, table, start.values(), 6)).fold(0.0, f64::max);
    assert!((0.5 * moment / exact - 1.0).abs() < 1e-9, "{} against {exact}", 0.5 * moment);
}

#[test]
fn gaps_are_what_a_long_descent_finds_or_more() {
    for (k, (form, model, nodes)) in linear().into_iter().enumerate() {
        let problem = constants(&form, &*model, &nodes, HALF);
        let gap = problem.initial_gap.unwrap();
        let step = 1.0 / problem.smoothness.unwrap().value;
        let start = Start::normal(model.dimension(), 0.5, 3);
        let records = PublicRecords { form: &form, model: &*model, nodes: &nodes, start: start.values() };
        let part = Part { of: &records, list: records.looked_at() };
        let mut x = start.values().to_vec();
        let first = part.look(&x);
        assert!((problem.start_gradient.unwrap() / square(&first.gradient) - 1.0).abs() < 1e-12);
        for _ in 0..3000 {
            let gradient = part.look(&x).gradient;
            x.iter_mut().zip(&gradient).for_each(|(x, g)| *x -= step * g);
        }
        let found = first.loss - part.look(&x).loss;
        assert!(found <= gap.value + 1e-9, "{form:?}: {found} > {}", gap.value);
        // Quadratics and log-cosh have theirs in closed form.
        if k >= 3 {
            assert!((found - gap.value).abs() < 1e-6 * gap.value, "{form:?}: {found}, {}", gap.value);
        }
    }
    // A mean slope above κ has no minimum.
    let steep = LogCosh::new(0.1).unwrap();
    let nodes = vec![Table::new(1, vec![0.9, 0.8], vec![0.0; 2]).unwrap()];
    assert!(constants(&Form::Linear(Box::new(steep)), &steep, &nodes, HALF).initial_gap.is_none());
}

#[test]
fn clips_and_full_batches_bound_the_variance() {
    let (form, model, nodes) = linear().swap_remove(3);
    let clipped = Sampled { rate: 0.25, gradient_clip: Some(0.5) };
    let level = constants(&form, &*model, &nodes, clipped).sampling_variance.unwrap();
    assert_eq!((level.value, level.source), (0.75 * 0.25, super::super::Source::Proven));
    let full = Sampled { rate: 1.0, gradient_clip: None };
    assert_eq!(constants(&form, &*model, &nodes, full).sampling_variance.unwrap().value, 0.0);
}

#[test]
fn heterogeneity_is_the_spread_of_the_nodes_gradients() {
    let (form, model, nodes) = linear().swap_remove(3);
    let problem = constants(&form, &*model, &nodes, HALF);
    let start = Start::normal(3, 0.5, 3);
    let mean_gradient = |table: &Table| -> Vec<f64> {
        let mut sum = vec![0.0; 3];
        model.add_gradients(start.values(), table, Records::Run(0, table.len()), &mut sum);
        sum.iter().map(|s| s / table.len() as f64).collect()
    };
    let own: Vec<Vec<f64>> = nodes.iter().map(mean_gradient).collect();
    // (1/n²)·Σ_{i<j}‖g_i − g_j‖² is the same.
    let mut pairs = 0.0;
    for i in 0..4 {
        for j in 0..i {
            pairs += distance(&own[i], &own[j]).powi(2) / 16.0;
        }
    }
    assert!((problem.heterogeneity.unwrap().value / pairs - 1.0).abs() < 1e-9);
}

#[test]
fn a_networks_constants_are_estimates() {
    let spec =
        Spec::new(Shape::flat(4), vec![Layer::Dense { out: 5 }, Layer::Tanh, Layer::Dense { out: 3 }], 3);
    let spec = spec.unwrap();
    let network: Network<f64> = Network::new(spec.clone(), Normalisation::none(1));
    let nodes = tables(4, 3.0);
    let form = Form::Network { spec, constants: None };
    let problem = constants(&form, &network, &nodes, HALF);
    let (smoothness, variance) = (problem.smoothness.unwrap(), problem.sampling_variance.unwrap());
    assert_eq!(smoothness.source, super::super::Source::Estimated);
    assert_eq!(variance.source, super::super::Source::Estimated);
    assert!(smoothness.value > 0.01 && smoothness.value < 100.0, "{smoothness:?}");
    assert!(variance.value > 0.001 && variance.value < 100.0, "{variance:?}");
    assert!(smoothness.how.contains("from below"));
}
