//! A small real problem: nodes with points of their own, the gate as it ships, and the simulator's answer.

use prdo_accounting::{Accountant, Target};
use prdo_algorithm::graph::{Arcs, Graph, Mixing, Mixings, Weights};
use prdo_algorithm::methods::steps::{EXCHANGES, LOCAL_STEPS, POLYNOMIAL, PolynomialKind, WIRE, Wire};
use prdo_algorithm::methods::{COMBINE, FINAL_MIXINGS};
use prdo_algorithm::{Combine, Exchanges, Method, Neighbourhood, Node, Settings, SettingsError};
use prdo_peer::machine::Place;
use prdo_peer::wire::{Expected, Ways};
use prdo_privacy::{
    Batches, Clip, Gate, Ledger, Model, NodeShares, Noised, Packing, PairMechanism, PairSettings,
    PrivateRules, Secret, SecretsOf, Shard, ShareKeys, Start,
};
use prdo_simulator::Simulation;
use std::sync::Arc;

pub const DIMENSION: usize = 3;
pub const RECORDS: usize = 12;
pub const BATCH: usize = 4;
pub const NOISE: f64 = 1.5;
pub const DELTA: f64 = 1e-5;

/// ℓ(x; r) = ½‖x − r‖².
pub struct Mean;

impl Model for Mean {
    type Data = Vec<[f64; DIMENSION]>;
    fn dimension(&self) -> usize {
        DIMENSION
    }
    fn loss(&self, x: &[f64], data: &Self::Data, r: usize) -> f64 {
        data[r].iter().zip(x).map(|(c, x)| 0.5 * (x - c).powi(2)).sum()
    }
    fn gradient(&self, x: &[f64], data: &Self::Data, r: usize, gradient: &mut [f64]) {
        for ((g, x), c) in gradient.iter_mut().zip(x).zip(data[r]) {
            *g = x - c;
        }
    }
}

/// A run: who is linked with whom, which method, how long.
#[derive(Clone)]
pub struct Problem {
    pub nodes: usize,
    pub method: Method,
    pub settings: Settings,
    pub rounds: u32,
    pub mixing: Mixings,
    pub seed: u64,
    /// The seed of the simulation, and of the keys that two nodes have: the same in every process.
    pub simulated: u64,
    pub accountant: Arc<Accountant>,
    pub budget: Target,
    /// Noise in two parts.
    pub pairs: Option<Arc<PairMechanism>>,
}

impl Problem {
    /// The same with noise in pairs: against outsiders and any one other where at least four take part, otherwise against
    /// outsiders.
    pub fn in_pairs(mut self) -> Self {
        let secrets = if self.seed.is_multiple_of(2) { SecretsOf::Complete } else { SecretsOf::Graph };
        let colluders = usize::from(self.nodes > 3 && secrets == SecretsOf::Complete);
        let asked = PairSettings { colluders, ratio: None, secrets };
        let support = self.mixing.support();
        let links = (0..self.nodes).flat_map(|i| support.neighbours(i).iter().map(move |j| (i, *j as usize)));
        let links: Vec<_> = links.filter(|(i, j)| i < j).collect();
        let exchanges = self.method.exchanges(&self.settings).per_round;
        let mechanism = asked.mechanism(NOISE, (self.nodes, links), exchanges).unwrap();
        self.pairs = Some(Arc::new(mechanism));
        self
    }

    /// The keys that a node begins with: those of the simulation.
    pub fn share_keys(&self, node: usize) -> Option<ShareKeys> {
        let mechanism = self.pairs.as_ref()?;
        Some(ShareKeys::simulated(mechanism, node as u32, &Secret::from_seed(self.simulated)))
    }

    /// One of many, by a number.
    pub fn numbered(number: u64) -> Self {
        match number % 4 {
            2 => return Self::with_more_exchanges(number / 4),
            3 => return Self::beyond_the_paper(number / 4),
            _ => {}
        }
        let number = number - number / 4;
        let methods = [Method::Prdo, Method::Ed, Method::Mt, Method::Dsgd, Method::Edm];
        let method = methods[(number % 5) as usize];
        let combine = if number.is_multiple_of(2) { Combine::After } else { Combine::First };
        let settings = Settings::new(0.3).gamma(0.4).beta(0.8).combine(combine);
        let nodes = 3 + (number / 5 % 3) as usize;
        let graph = match number / 15 % 3 {
            0 => Graph::ring(nodes),
            1 => Graph::path(nodes),
            _ => Graph::complete(nodes),
        };
        let mixing = Mixing::new(&graph.unwrap(), Weights::Metropolis, true).unwrap();
        Self::new(mixing, method, settings, 4 + (number % 3) as u32, number)
    }

    /// Links that go one way, networks that take turns, packed vectors, rounds without a message.
    fn beyond_the_paper(number: u64) -> Self {
        let nodes = 3 + (number / 5 % 3) as usize;
        let plain = Settings::new(0.3).gamma(0.4).beta(0.8);
        let ring = || Mixing::new(&Graph::ring(nodes).unwrap(), Weights::Metropolis, true).unwrap().into();
        let pushed = |turns: &[Arcs]| Mixings::out_degree(turns).unwrap();
        let one_way = (0..nodes).map(|i| (i, (i + 1) % nodes)).chain([(0, 2)]);
        let (mixing, method, settings): (Mixings, Method, Settings) = match number % 5 {
            0 => (pushed(&[Arcs::new(nodes, one_way).unwrap()]), Method::PushPrdo, plain),
            1 => (pushed(&Arcs::one_peer_exponential(nodes).unwrap()), Method::GtHsgd, plain),
            2 => (ring(), Method::Prdo, plain.with(WIRE.is(Wire::Bits)).with(LOCAL_STEPS.is(2.0))),
            3 => (pushed(&Arcs::one_peer_exponential(nodes).unwrap()), Method::Sgp, plain),
            _ => (ring(), Method::Edm, plain.with(WIRE.is(Wire::Top))),
        };
        Self::new(mixing, method, settings, 4 + (number % 3) as u32, number)
    }

    /// Several exchanges per round, and some after the last one.
    fn with_more_exchanges(number: u64) -> Self {
        let nodes = 3 + (number / 5 % 3) as usize;
        let path = Mixing::new(&Graph::path(nodes).unwrap(), Weights::Metropolis, true).unwrap();
        let plain = Settings::new(0.3).gamma(0.4).beta(0.8);
        let more = |k: f64, f: f64| plain.clone().with(EXCHANGES.is(k)).with(FINAL_MIXINGS.is(f));
        let (method, settings) = match number % 5 {
            0 => (Method::Prdo, more(3.0, 4.0)),
            1 => (Method::Mt, more(2.0, 1.0)),
            2 => (Method::Edm, more(1.0, 6.0).with(WIRE.is(Wire::Bits))),
            3 => (
                Method::Gt,
                more(6.0, 3.0).combine(Combine::First).with(POLYNOMIAL.is(PolynomialKind::Power)),
            ),
            _ => (Method::Muffliato, more(7.0, 2.0)),
        };
        Self::new(path, method, settings, 3 + (number % 3) as u32, number)
    }

    pub fn new(
        mixing: impl Into<Mixings>,
        method: Method,
        settings: Settings,
        rounds: u32,
        seed: u64,
    ) -> Self {
        let (accountant, mixing) = (Arc::new(Accountant::default()), mixing.into());
        let spectrum = method.check_network(&mixing, true).unwrap();
        let settings = settings.for_network(method, &spectrum).over(rounds);
        // Room for what is asked, not for twice as much.
        let budget = Target::new(50.0, DELTA).unwrap();
        let (nodes, simulated, pairs) = (mixing.nodes(), seed, None);
        Self { nodes, method, settings, rounds, mixing, seed, simulated, accountant, budget, pairs }
    }

    /// Whether a node's model after a round is its neighbourhood's last messages, mixed.
    pub fn model_is_a_mix(&self) -> bool {
        let exchanges = self.method.exchanges(&self.settings);
        let shape = exchanges.shape;
        if exchanges.final_mixings > 0 || EXCHANGES.of(&self.settings) > 1.0 {
            return false;
        }
        if shape.packing != Packing::Plain || shape.numbers > 0 {
            return false;
        }
        COMBINE.of(&self.settings) == Combine::After || ![Method::Mt, Method::Dsgd].contains(&self.method)
    }

    fn points(&self, node: usize) -> Vec<[f64; DIMENSION]> {
        (0..RECORDS)
            .map(|r| std::array::from_fn(|j| ((node * 7 + r * 3 + j * 5) % 11) as f64 / 11.0 - 0.4))
            .collect()
    }

    /// A node's gate over this ledger, which draws its shares from these keys.
    pub fn gate(&self, node: usize, ledger: Ledger, keys: Option<ShareKeys>) -> Gate<Mean, Noised> {
        let clip = Clip::new(1.0, 0.5).unwrap();
        let rules =
            PrivateRules { batches: Batches::new(BATCH, BATCH), clip, noise_multiplier: NOISE, ledger };
        let secret = Arc::new(Secret::from_seed(self.seed));
        let shard = Shard::seal(self.points(node)).unwrap();
        let gate = Gate::private(node as u32, Arc::new(Mean), shard, secret, rules).unwrap();
        match (&self.pairs, keys) {
            (Some(mechanism), Some(keys)) => {
                gate.with_shares(NodeShares::new(Arc::clone(mechanism), node as u32, keys).unwrap()).unwrap()
            }
            _ => gate,
        }
    }

    /// Where a node stands.
    pub fn place(&self, me: usize) -> Place {
        let exchanges = self.method.exchanges(&self.settings);
        let expected = |peer: u32| Expected {
            run: [1; 32],
            agreement: [2; 32],
            peer,
            me: me as u32,
            payload_bytes: exchanges.shape.bytes(DIMENSION) as u64,
            final_bytes: Exchanges::FINAL.bytes(DIMENSION) as u64,
            exchanges,
            rounds: self.rounds,
            ways: Ways::between(&self.mixing, me, peer as usize),
        };
        Place {
            me: me as u32,
            rows: Place::rows(&self.mixing, me),
            neighbours: self.mixing.support().neighbours(me).iter().map(|j| expected(*j)).collect(),
            names: (0..self.nodes).map(|i| format!("org-{i}")).collect(),
            dimension: DIMENSION,
            rounds: self.rounds,
            exchanges,
        }
    }

    /// A node's state at the start.
    pub fn node(&self, node: usize) -> Result<Box<dyn Node<Noised>>, SettingsError> {
        let settings = self.settings.clone().at(Neighbourhood::of(self.mixing.at(0), node));
        self.method.start(&self.start(), &settings)
    }

    pub fn start(&self) -> Start {
        Start::zeros(DIMENSION)
    }

    /// The models that the simulator of one process gives.
    pub fn reference(&self) -> Vec<Vec<f64>> {
        let gates = (0..self.nodes)
            .map(|node| {
                let ledger = Ledger::new(Arc::clone(&self.accountant), self.budget);
                self.gate(node, ledger, self.share_keys(node))
            })
            .collect();
        let method = (self.method, &self.settings);
        let mut simulation =
            Simulation::new(Arc::new(Mean), gates, self.mixing.clone(), method, &self.start(), None).unwrap();
        for _ in 0..self.rounds {
            simulation.step(false).unwrap();
        }
        simulation.models().map(<[f64]>::to_vec).collect()
    }
}
