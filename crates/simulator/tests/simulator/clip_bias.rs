//! What clipping alone does to the gradient is measured where it is all that is done.

use crate::problem::{Quadratics, bowls, go, open, private};
use prdo_algorithm::graph::{Graph, Mixing, Weights};
use prdo_algorithm::methods::directions::{CLIPS, Clipping};
use prdo_algorithm::{Method, Settings};
use prdo_privacy::*;
use prdo_simulator::Simulation;
use std::sync::Arc;

const NODES: usize = 5;

fn ring() -> Mixing {
    Mixing::new(&Graph::ring(NODES).unwrap(), Weights::Paper, false).unwrap()
}

fn clipped(settings: Settings, clip: Clip) -> Simulation<Quadratics, Exposed> {
    let (model, secret) = (Arc::new(Quadratics(2)), Arc::new(Secret::from_seed(1)));
    let rules = OpenRules { batches: Batches::new(6, 6), sampling: Sampling::Full, clip: Some(clip) };
    let gate = |(i, records)| {
        let shard = Shard::seal(records).unwrap();
        Gate::exposed(i as u32, Arc::clone(&model), shard, Arc::clone(&secret), rules.clone()).unwrap()
    };
    let gates = bowls(NODES, 6, 2, 4).into_iter().enumerate().map(gate).collect();
    Simulation::new(model.clone(), gates, ring(), (Method::Prdo, &settings), &Start::zeros(2), None).unwrap()
}

/// ‖mean clip(∇ℓ(x)) − ∇f(x)‖ from the records themselves.
fn bias(x: &[f64], norm: f64) -> f64 {
    let (model, data) = (Quadratics(2), bowls(NODES, 6, 2, 4));
    let mut sum = [0.0; 2];
    for records in &data {
        for r in 0..records.len() {
            let mut g = [0.0; 2];
            model.gradient(x, records, r, &mut g);
            let lost = 1.0 - (norm / (g[0] * g[0] + g[1] * g[1]).sqrt()).min(1.0);
            sum.iter_mut().zip(g).for_each(|(s, g)| *s += lost * g / (NODES * 6) as f64);
        }
    }
    (sum[0] * sum[0] + sum[1] * sum[1]).sqrt()
}

#[test]
fn it_is_measured_at_the_norm_that_a_node_at_rest_is_clipped_at() {
    let (gamma, clip) = (0.25, Clip::new(0.5, 0.1).unwrap());
    // One clip at S_γ = 0.2 of γ·gradient shortens gradients beyond 0.8.
    for (clipping, norm) in [(Clipping::Separate, 0.5), (Clipping::Movement, 0.5), (Clipping::Combined, 0.8)]
    {
        let mut run = clipped(Settings::new(0.3).gamma(gamma).with(CLIPS.is(clipping)), clip);
        // The first round asks for a gradient alone, which is clipped at C_g.
        assert!((run.measure().clip_bias.unwrap() - bias(&[0.0, 0.0], 0.5)).abs() < 1e-8);
        go(&mut run, 7, false);
        let (found, exact) = (run.measure().clip_bias.unwrap(), bias(&run.average(), norm));
        assert!(exact > 0.1 && (found - exact).abs() < 1e-8, "{clipping:?}: {found} {exact}");
    }
    let mut wide = clipped(Settings::new(0.3), Clip::new(100.0, 100.0).unwrap());
    go(&mut wide, 7, false);
    assert_eq!(wide.measure().clip_bias, Some(0.0));
}

#[test]
fn neither_private_runs_nor_those_that_clip_nothing_have_it() {
    let (data, settings) = (bowls(NODES, 6, 2, 4), Settings::new(0.3));
    let full = (Sampling::Full, 6, 6);
    assert_eq!(open(&data, &ring(), Method::Prdo, settings.clone(), full, 1).measure().clip_bias, None);
    assert_eq!(private(&data, &ring(), Method::Prdo, settings, (6, 3), 1).measure().clip_bias, None);
}
