//! A thousand nodes in one process, each with its own thread, disk, ledger and links.

use crate::problem::Problem;
use crate::world;
use prdo_algorithm::graph::{Graph, Mixing, Weights};
use prdo_algorithm::{Method, Settings};
use prdo_peer::driver::{Watch, run_session};
use prdo_peer::local::Hub;
use prdo_peer::machine::{Ended, Note};
use prdo_peer::memory::MemoryDisk;
use prdo_peer::session::Session;
use prdo_peer::transport::Reason;
use std::sync::atomic::AtomicBool;

struct Silent;

impl Watch for Silent {
    fn note(&mut self, _: &Note) {}
    fn refused(&mut self, who: &str, why: &Reason) {
        panic!("{who}: {why}");
    }
    fn look(&mut self, _: &Session) {}
}

fn in_one_process(nodes: usize, method: Method, rounds: u32) {
    let mixing = Mixing::new(&Graph::ring(nodes).unwrap(), Weights::Metropolis, true).unwrap();
    let problem = Problem::new(mixing, method, Settings::new(0.3).gamma(0.4).beta(0.8), rounds, 5);
    let hub = Hub::default();
    let stop = AtomicBool::new(false);
    let run = |node: usize| {
        let mut links = hub.join(node, &problem.place(node).neighbours);
        let session = world::open(&problem, node, &MemoryDisk::new(), true).unwrap();
        let (ended, session) = run_session(session, &mut links, &mut Silent, &stop);
        assert_eq!(ended.unwrap(), Ended::Finished { unconfirmed: Vec::new() });
        session.machine().model().to_vec()
    };
    let models: Vec<Vec<f64>> = std::thread::scope(|scope| {
        let run = &run;
        let small = || std::thread::Builder::new().stack_size(512 << 10);
        let threads: Vec<_> =
            (0..nodes).map(|node| small().spawn_scoped(scope, move || run(node)).unwrap()).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(models, problem.reference());
}

#[test]
fn a_thousand_nodes_of_one_process_agree_with_the_simulator() {
    in_one_process(1000, Method::Prdo, 3);
}

#[test]
fn two_exchanges_a_round_work_too() {
    in_one_process(9, Method::Mt, 8);
}
