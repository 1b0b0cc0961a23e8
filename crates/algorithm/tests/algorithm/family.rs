//! The family's methods against reference trajectories of independent code (`tests/fixtures/family.json` says how they were
//! made): ten rounds, plain and with clipping, batches and noise.

use prdo_algorithm::methods::directions::{
    BETA, DECAY, FLOOR, GAMMA, INTERVAL, KAPPA, RESTART, SCALED_CLIP, SCALED_STEP,
};
use prdo_algorithm::methods::steps::{EXCHANGES, KEEP, LOCAL_STEPS, MEMORY, MIXED, OMEGA, WIRE, Wire};
use prdo_algorithm::{Combine, Inbox, Message, Method, Neighbourhood, Node, Settings};
use prdo_privacy::{Clip, Exposed, Query, Released, Start};
use serde::Deserialize;
use std::sync::LazyLock;

pub type Vector = Vec<f64>;

#[derive(Deserialize)]
pub struct Reference {
    pub records: usize,
    pub curvature: Vec<Vec<Vector>>,
    pub centre: Vec<Vec<Vector>>,
    pub x0: Vector,
    #[serde(rename = "W")]
    pub w: Vec<Vector>,
    /// Column-stochastic, of the directed graph.
    #[serde(rename = "P")]
    pub p: Vec<Vector>,
    pub batch: usize,
    pub first_batch: usize,
    pub clip: Clips,
    pub batches: Vec<Vec<Vec<usize>>>,
    pub normals: Vec<Vec<Vector>>,
    pub edges: Vec<[usize; 2]>,
    /// Of each round and edge.
    pub pair_normals: Vec<Vec<Vector>>,
    pub runs: Vec<Run>,
}

#[derive(Deserialize)]
pub struct Clips {
    pub gradient: f64,
    pub difference: f64,
}

#[derive(Deserialize)]
pub struct Run {
    pub method: String,
    pub noisy: bool,
    pub first: bool,
    pub settings: serde_json::Value,
    pub noise_multiplier: f64,
    /// The same of what two neighbours add and subtract.
    pub pair: f64,
    pub x: Vec<Vec<Vector>>,
}

pub static REFERENCE: LazyLock<Reference> =
    LazyLock::new(|| serde_json::from_str(include_str!("../fixtures/family.json")).unwrap());

pub fn released(values: Vector) -> Released<Exposed> {
    Released::start(&Start::declared_public(values).unwrap())
}

pub fn clipped(u: Vector, bound: f64) -> Vector {
    let norm = u.iter().map(|v| v * v).sum::<f64>().sqrt();
    u.iter().map(|v| v / (norm / bound).max(1.0)).collect()
}

impl Reference {
    pub fn gradient(&self, node: usize, record: usize, x: &[f64]) -> Vector {
        let (h, c) = (&self.curvature[node][record], &self.centre[node][record]);
        x.iter().zip(h.iter().zip(c)).map(|(x, (h, c))| h * (x - c)).collect()
    }

    /// What one record adds to the sum: as the gate would have it, by the plain definition.
    fn contribution(
        &self,
        query: &Query<'_, Exposed>,
        (node, record): (usize, usize),
        clips: bool,
    ) -> Vector {
        // A bound that is tied to the movement holds where nothing else is clipped, too.
        let norms = query.clip(&self.clip());
        let tied = norms != self.clip();
        let clip = |u: Vector, bound: f64| if clips { clipped(u, bound) } else { u };
        let mut at = self.gradient(node, record, query.at().as_slice());
        let scales = query.coordinates().into_iter().flat_map(|by| by.as_slice());
        at.iter_mut().zip(scales).for_each(|(g, by)| *g /= by);
        let Some((previous, weight)) = query.difference() else {
            return clip(at, norms.gradient());
        };
        let before = self.gradient(node, record, previous.as_slice());
        let change: Vector = at.iter().zip(&before).map(|(a, b)| a - b).collect();
        let change = if tied || clips { clipped(change, norms.difference()) } else { change };
        let at = clip(at, self.clip.gradient);
        at.iter().zip(change).map(|(g, d)| query.gradient_weight() * g + weight * d).collect()
    }

    fn clip(&self) -> Clip {
        Clip::new(self.clip.gradient, self.clip.difference).unwrap()
    }

    pub fn answer(
        &self,
        run: &Run,
        round: usize,
        node: usize,
        query: &Query<'_, Exposed>,
    ) -> Released<Exposed> {
        let all: Vec<usize> = (0..self.records).collect();
        let batch = if run.noisy { &self.batches[round][node] } else { &all };
        let divisor = match run.noisy {
            true if run.first && round == 0 => self.first_batch,
            true => self.batch,
            false => self.records,
        } as f64;
        let scale = query.scale(&self.clip());
        let mut sum = vec![0.0; self.x0.len()];
        for record in batch {
            let contribution = self.contribution(query, (node, *record), run.noisy);
            sum.iter_mut().zip(contribution).for_each(|(s, c)| *s += c);
        }
        let noise = run.noise_multiplier * scale / divisor;
        let normals = &self.normals[round][node];
        let mut answer: Vector = sum.iter().zip(normals).map(|(s, n)| s / divisor + noise * n).collect();
        for (edge, normals) in self.edges.iter().zip(&self.pair_normals[round]) {
            let Some(end) = edge.iter().position(|end| *end == node) else { continue };
            let shared = [1.0, -1.0][end] * run.pair * scale / divisor;
            answer.iter_mut().zip(normals).for_each(|(a, n)| *a += shared * n);
        }
        released(answer)
    }

    /// The models of all nodes after each round.
    fn trajectory(&self, run: &Run, method: Method, settings: &Settings, w: &[Vector]) -> Vec<Vec<Vector>> {
        let answer = |round, node, query: &Query<'_, Exposed>| self.answer(run, round, node, query);
        self.trajectory_of(run, method, settings, (w, answer))
    }

    /// The same with other answers.
    pub fn trajectory_of(
        &self,
        run: &Run,
        method: Method,
        settings: &Settings,
        (w, mut answer): (&[Vector], impl FnMut(usize, usize, &Query<'_, Exposed>) -> Released<Exposed>),
    ) -> Vec<Vec<Vector>> {
        let start = Start::declared_public(self.x0.clone()).unwrap();
        let mut nodes: Vec<Box<dyn Node<Exposed>>> = Vec::new();
        for (i, row) in w.iter().enumerate() {
            let members = (0..w.len()).filter(|j| row[*j] != 0.0).map(|j| j as u32);
            let at = Neighbourhood::new(i as u32, members);
            nodes.push(method.start(&start, &settings.clone().at(at)).unwrap());
        }
        let models = |nodes: &[Box<dyn Node<Exposed>>]| -> Vec<Vector> {
            nodes.iter().map(|node| node.model().as_slice().to_vec()).collect()
        };
        let mut all = vec![models(&nodes)];
        // Models are listed after every exchange, which some methods have several rounds for.
        let mut rounds = 0..;
        while all.len() < run.x.len() {
            let mut messages: Vec<Message<Exposed>> = Vec::new();
            let round = rounds.next().unwrap();
            for (i, node) in nodes.iter_mut().enumerate() {
                let answer = answer(round, i, &node.query());
                messages.extend(node.adapt(answer));
            }
            if messages.is_empty() {
                continue;
            }
            while !messages.is_empty() {
                let mix = |(i, node): (usize, &mut Box<dyn Node<Exposed>>)| {
                    let there: Vec<usize> = (0..w.len()).filter(|j| w[i][*j] != 0.0).collect();
                    let weights: Vec<f64> = there.iter().map(|j| w[i][*j]).collect();
                    node.mix(&Inbox::new(&weights, there.iter().map(|j| &messages[*j]).collect()))
                };
                messages = nodes.iter_mut().enumerate().filter_map(mix).collect();
            }
            all.push(models(&nodes));
        }
        all
    }
}

/// Runs every reference trajectory of this name: plain and noisy, but for those that are noisy alone.
fn agrees(name: &str, method: Method, choose: impl Fn(Settings) -> Settings, w: &[Vector]) {
    let reference = &*REFERENCE;
    let runs: Vec<&Run> = reference.runs.iter().filter(|run| run.method == name).collect();
    assert_eq!(runs.len(), if name.starts_with("decor") || name == "dp2" { 1 } else { 2 }, "{name}");
    for run in runs {
        let value = |key: &str| run.settings[key].as_f64();
        let mut settings = choose(Settings::new(value("step_size").unwrap()));
        for number in [GAMMA, EXCHANGES, OMEGA, KAPPA, RESTART, LOCAL_STEPS] {
            if let Some(value) = value(number.name) {
                settings = settings.with(number.is(value));
            }
        }
        for (name, number) in [
            ("interval", INTERVAL),
            ("decay", DECAY),
            ("epsilon", FLOOR),
            ("clip_2", SCALED_CLIP),
            ("step_size_2", SCALED_STEP),
        ] {
            if let Some(value) = value(name) {
                settings = settings.with(number.is(value));
            }
        }
        for (name, number) in [("keep", KEEP), ("gamma", MIXED), ("eta", MEMORY)] {
            if let Some(value) = value(name).filter(|_| WIRE.of(&settings) != Wire::Plain) {
                settings = settings.with(number.is(value));
            }
        }
        run.agrees(&reference.trajectory(run, method, &settings, w));
    }
}

impl Run {
    /// Holds the models of all nodes after each round against the reference.
    pub fn agrees(&self, found: &[Vec<Vector>]) {
        assert_eq!(found.len(), self.x.len(), "{}", self.method);
        for (round, (found, expected)) in found.iter().zip(&self.x).enumerate() {
            assert_eq!(found.len(), expected.len(), "{}", self.method);
            for (found, expected) in found.iter().flatten().zip(expected.iter().flatten()) {
                let error = (found - expected).abs() / expected.abs().max(1.0);
                let (name, noisy) = (&self.method, self.noisy);
                assert!(error < 1e-12, "{name}, noisy {noisy}, round {round}: {found} for {expected}");
            }
        }
    }
}

#[test]
fn cells_have_their_reference_trajectories() {
    let w = &REFERENCE.w;
    agrees("dsgd", Method::Dsgd, |s| s, w);
    agrees("ed", Method::Ed, |s| s, w);
    agrees("led", Method::Ed, |s| s, w);
    agrees("compressed-top", Method::Ed, |s| s.with(WIRE.is(Wire::Top)), w);
    agrees("prdo", Method::Prdo, |s| s, w);
    agrees("gt", Method::Gt, |s| s, w);
    agrees("diging", Method::Gt, |s| s.combine(Combine::First), w);
    agrees("gt-hsgd", Method::GtHsgd, |s| s, w);
    agrees("deepstorm", Method::Deepstorm, |s| s, w);
    agrees("muffliato", Method::Muffliato, |s| s, w);
    agrees("dp2", Method::Dp2, |s| s, w);
    // Gradient tracking is Momentum Tracking without momentum.
    agrees("gt", Method::Mt, |s| s.with(BETA.is(0.0)), w);
    agrees("diging", Method::Mt, |s| s.with(BETA.is(0.0)).combine(Combine::First), w);
}

#[test]
fn noise_that_neighbours_share_changes_no_method() {
    agrees("decor-dsgd", Method::Dsgd, |s| s, &REFERENCE.w);
    agrees("decor-ed", Method::Ed, |s| s, &REFERENCE.w);
    agrees("decor-prdo", Method::Prdo, |s| s, &REFERENCE.w);
}

#[test]
fn what_is_pushed_has_its_reference_trajectory() {
    agrees("push", Method::Sgp, |s| s, &REFERENCE.p);
    agrees("push-prdo", Method::PushPrdo, |s| s, &REFERENCE.p);
    // Where rows add up to one as well, pushing is gossip.
    agrees("dsgd", Method::Sgp, |s| s, &REFERENCE.w);
}

#[test]
fn a_server_and_a_single_curator_are_prdo_on_other_graphs() {
    let n = REFERENCE.w.len();
    let complete = vec![vec![1.0 / n as f64; n]; n];
    agrees("server-storm", Method::Prdo, |s| s, &complete);
    agrees("diff2", Method::Diff2, |s| s, &complete);
    agrees("dp-srm", Method::Prdo, |s| s, &[vec![1.0]]);
}
