//! Networks whose links go one way, and networks that take turns.

use crate::problem::{Bowl, bowls, distance, go, minimiser, open, private, solve, stack};
use prdo_algorithm::graph::{Arcs, Graph, Mixing, Mixings, Needs, Weights};
use prdo_algorithm::{Combine, Method, Settings};
use prdo_privacy::*;
use proptest::prelude::*;

/// A directed graph in which every node reaches every other: a ring, and arcs at random.
fn directed() -> impl Strategy<Value = Mixings> {
    (3usize..8, prop::collection::vec((0usize..100, 0usize..100), 0..10)).prop_map(|(n, more)| {
        let ring = (0..n).map(|i| (i, (i + 1) % n));
        let more = more.into_iter().map(|(a, b)| (a % n, b % n)).filter(|(a, b)| a != b);
        Mixings::out_degree(&[Arcs::new(n, ring.chain(more)).unwrap()]).unwrap()
    })
}

/// Networks of which every node gives and takes one in all: directed, or in turns.
fn balanced() -> impl Strategy<Value = Mixings> {
    (3usize..9, 0usize..4).prop_map(|(n, kind)| match kind {
        0 => Mixings::out_degree(&[Arcs::ring(n).unwrap()]).unwrap(),
        1 => Mixings::out_degree(&[Arcs::exponential(n).unwrap()]).unwrap(),
        2 => Mixings::out_degree(&Arcs::one_peer_exponential(n).unwrap()).unwrap(),
        _ => matchings(n),
    })
}

/// Edges of a path in two turns, of which neither alone joins all nodes.
fn matchings(n: usize) -> Mixings {
    let turn = |first: usize| {
        let edges = (first..n - 1).step_by(2).map(|i| (i, i + 1));
        Mixing::new(&Graph::from_edges(n, edges).unwrap(), Weights::Metropolis, true).unwrap()
    };
    Mixings::in_turns(vec![turn(0), turn(1)]).unwrap()
}

/// Mean curvature and mean of curvature times centre of a node, in coordinate k.
fn bowl(records: &[Bowl], k: usize) -> (f64, f64) {
    let count = records.len() as f64;
    let h = records.iter().map(|b| b.curvature[k]).sum::<f64>() / count;
    (h, records.iter().map(|b| b.curvature[k] * b.centre[k]).sum::<f64>() / count)
}

/// n times P's right eigenvector of eigenvalue one: what w tends to.
fn perron(w: &Mixing) -> Vec<f64> {
    let n = w.nodes();
    let mut weights = vec![1.0; n];
    for _ in 0..20_000 {
        weights = (0..n).map(|i| w.row_entries(i).map(|(j, p)| p * weights[j]).sum()).collect();
    }
    weights
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Push is biased like D-SGD: z solves (I − P)diag(w)z + αP∇f(z) = 0, and with full batches and no noise the recursive
    /// direction is the gradient for any γ.
    #[test]
    fn push_settles_at_its_computable_bias(network in directed(), seed in 0u64..1000, gamma in 0.05..1.0_f64) {
        let (n, d, alpha) = (network.nodes(), 2, 0.1);
        prop_assert!(network.check(Needs::ColumnStochastic, false).is_ok());
        let (w, data) = (network.at(0).clone(), bowls(network.nodes(), 5, d, seed));
        let settle = |method, gamma| {
            let settings = Settings::new(alpha).gamma(gamma);
            let mut run = open(&data, &network, method, settings, (Sampling::Full, 5, 5), 1);
            go(&mut run, 4000, false);
            stack(&run)
        };
        let limit = settle(Method::Sgp, 1.0);
        let same = settle(Method::PushPrdo, gamma);
        prop_assert!(distance(&limit, &same) < 1e-9, "{:e}", distance(&limit, &same));
        let weights = perron(&w);
        for k in 0..d {
            let mut matrix = vec![vec![0.0; n + 1]; n];
            for i in 0..n {
                for j in 0..n {
                    let (h, hc) = bowl(&data[j], k);
                    let keep = f64::from(u8::from(i == j)) - w.weight(i, j);
                    matrix[i][j] = keep * weights[j] + alpha * w.weight(i, j) * h;
                    matrix[i][n] += alpha * w.weight(i, j) * hc;
                }
            }
            for (i, z) in solve(&mut matrix).into_iter().enumerate() {
                prop_assert!((z - limit[i][k]).abs() < 1e-8, "node {i}: {z} {}", limit[i][k]);
            }
        }
    }

    /// Σ_i x_i⁺ = Σ_i x_i − αΣ_i v_i and Σ_i w_i = n, whatever the directed network: nothing that is pushed is lost.
    #[test]
    fn push_loses_nothing(network in directed(), d in 1usize..4, seed in 0u64..1000) {
        let (n, alpha) = (network.nodes(), 0.15);
        let data = bowls(n, 6, d, seed);
        for method in [Method::Sgp, Method::PushPrdo] {
            let mut run = private(&data, &network, method, Settings::new(alpha).gamma(0.3), (4, 3), seed);
            let (mut sum, mut weights) = (vec![0.0; d], vec![1.0; n]);
            for _ in 0..15 {
                run.step(false).unwrap();
                let w = network.at(0);
                weights = (0..n).map(|i| w.row_entries(i).map(|(j, p)| p * weights[j]).sum()).collect();
                for k in 0..d {
                    sum[k] -= alpha * run.directions().map(|v| v[k]).sum::<f64>();
                    let pushed: f64 = run.models().zip(&weights).map(|(z, w)| z[k] * w).sum();
                    prop_assert!((pushed - sum[k]).abs() < 1e-10, "{method}: {pushed} {}", sum[k]);
                }
            }
        }
    }

    /// Where every node gives and takes one in all, trackers are exact though links go one way or change, and pushing is
    /// gossip.
    #[test]
    fn trackers_are_exact_and_pushing_is_gossip(network in balanced(), seed in 0u64..1000) {
        let (n, d) = (network.nodes(), 2);
        prop_assert!(network.check(Needs::DoublyStochastic, false).is_ok());
        let data = bowls(n, 5, d, seed);
        let best = vec![minimiser(&data, d); n];
        for method in [Method::Gt, Method::GtHsgd, Method::Mt] {
            for combine in [Combine::After, Combine::First] {
                let settings = Settings::new(0.02).beta(0.3).combine(combine);
                let mut run = open(&data, &network, method, settings, (Sampling::Full, 5, 5), 1);
                go(&mut run, 5000, false);
                let error = distance(&stack(&run), &best);
                prop_assert!(error < 1e-8, "{method}, {combine:?}: {error:e}");
            }
        }
        let run = |method| {
            let mut run = private(&data, &network, method, Settings::new(0.1), (3, 3), seed);
            go(&mut run, 30, false);
            (stack(&run), run.epsilon_spent())
        };
        let ((pushed, one), (gossiped, other)) = (run(Method::Sgp), run(Method::Dsgd));
        prop_assert!(distance(&pushed, &gossiped) < 1e-11);
        prop_assert_eq!(one, other);
    }
}

#[test]
fn methods_run_on_the_networks_that_their_cards_admit() {
    let ring = Mixings::from(Mixing::new(&Graph::ring(5).unwrap(), Weights::Paper, false).unwrap());
    let one_way =
        Mixings::out_degree(&[Arcs::new(5, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (0, 2)]).unwrap()]);
    let turns = matchings(5);
    let runs = |network: &Mixings| -> Vec<&str> {
        let fits = |method: &&Method| method.check_network(network, false).is_ok();
        Method::ALL.iter().filter(fits).map(|method| method.card().name).collect()
    };
    assert_eq!(runs(&ring).len(), Method::ALL.len());
    assert_eq!(runs(&one_way.clone().unwrap()), ["sgp", "push-prdo"]);
    assert_eq!(runs(&turns), ["mt", "dsgd", "gt-hsgd", "gt", "diff2", "sgp", "push-prdo"]);
    let refused =
        |method: Method, network: &Mixings| method.check_network(network, false).unwrap_err().to_string();
    assert_eq!(
        refused(Method::Prdo, &one_way.clone().unwrap()),
        "prdo needs one network whose links go both ways, but node 0 takes from node 4 what node 4 does not take from node 0; \
         sgp, push-prdo run on such a network"
    );
    assert_eq!(
        refused(Method::Dsgd, &one_way.unwrap()),
        "dsgd needs weights of which every node gives and takes 1 in all, but row 0 of its weights does not add up to 1; sgp, \
         push-prdo run on such a network"
    );
    assert_eq!(
        refused(Method::Ed, &turns),
        "ed needs one network whose links go both ways, but the network changes from round to round (2 in turns); mt, dsgd, \
         gt-hsgd, gt, diff2, sgp, push-prdo run on such a network"
    );
}
