//! The family's methods against reference trajectories of independent code (`tests/fixtures/family.json` says how they were
//! made): ten rounds, plain and with clipping, batches and noise.

use prdo_algorithm::methods::directions::{BETA, GAMMA, KAPPA, RESTART};
use prdo_algorithm::methods::steps::{EXCHANGES, KEEP, LOCAL_STEPS, MEMORY, MIXED, OMEGA, WIRE, Wire};
use prdo_algorithm::{Combine, Inbox, Message, Method, Neighbourhood, Node, Settings};
use prdo_privacy::{Clip, Exposed, Query, Released, Start};
use serde::Deserialize;
use std::sync::LazyLock;

type Vector = Vec<f64>;

#[derive(Deserialize)]
struct Reference {
    records: usize,
    curvature: Vec<Vec<Vector>>,
    centre: Vec<Vec<Vector>>,
    x0: Vector,
    #[serde(rename = "W")]
    w: Vec<Vector>,
    /// Column-stochastic, of the directed graph.
    #[serde(rename = "P")]
    p: Vec<Vector>,
    batch: usize,
    first_batch: usize,
    clip: Clips,
    batches: Vec<Vec<Vec<usize>>>,
    normals: Vec<Vec<Vector>>,
    runs: Vec<Run>,
}

#[derive(Deserialize)]
struct Clips {
    gradient: f64,
    difference: f64,
}

#[derive(Deserialize)]
struct Run {
    method: String,
    noisy: bool,
    first: bool,
    settings: serde_json::Value,
    noise_multiplier: f64,
    x: Vec<Vec<Vector>>,
}

static REFERENCE: LazyLock<Reference> =
    LazyLock::new(|| serde_json::from_str(include_str!("../fixtures/family.json")).unwrap());

fn released(values: Vector) -> Released<Exposed> {
    Released::start(&Start::declared_public(values).unwrap())
}

fn clipped(u: Vector, bound: f64) -> Vector {
    let norm = u.iter().map(|v| v * v).sum::<f64>().sqrt();
    u.iter().map(|v| v / (norm / bound).max(1.0)).collect()
}

impl Reference {
    fn gradient(&self, node: usize, record: usize, x: &[f64]) -> Vector {
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
        let at = self.gradient(node, record, query.at().as_slice());
        let Some((previous, weight)) = query.difference() else {
            return clip(at, self.clip.gradient);
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

    fn answer(&self, run: &Run, round: usize, node: usize, query: &Query<'_, Exposed>) -> Released<Exposed> {
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
        released(sum.iter().zip(normals).map(|(s, n)| s / divisor + noise * n).collect())
    }

    /// The models of all nodes after each round.
    fn trajectory(&self, run: &Run, method: Method, settings: &Settings, w: &[Vector]) -> Vec<Vec<Vector>> {
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
                let answer = self.answer(run, round, i, &node.query());
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

/// Runs every reference trajectory of this name, plain and noisy.
fn agrees(name: &str, method: Method, choose: impl Fn(Settings) -> Settings, w: &[Vector]) {
    let reference = &*REFERENCE;
    let runs: Vec<&Run> = reference.runs.iter().filter(|run| run.method == name).collect();
    assert_eq!(runs.len(), 2, "{name}");
    for run in runs {
        let value = |key: &str| run.settings[key].as_f64();
        let mut settings = choose(Settings::new(value("step_size").unwrap()));
        for number in [GAMMA, EXCHANGES, OMEGA, KAPPA, RESTART, LOCAL_STEPS] {
            if let Some(value) = value(number.name) {
                settings = settings.with(number.is(value));
            }
        }
        for (name, number) in [("keep", KEEP), ("gamma", MIXED), ("eta", MEMORY)] {
            if let Some(value) = value(name).filter(|_| WIRE.of(&settings) != Wire::Plain) {
                settings = settings.with(number.is(value));
            }
        }
        let found = reference.trajectory(run, method, &settings, w);
        for (round, (found, expected)) in found.iter().zip(&run.x).enumerate() {
            for (found, expected) in found.iter().flatten().zip(expected.iter().flatten()) {
                let error = (found - expected).abs() / expected.abs().max(1.0);
                assert!(error < 1e-12, "{name}, noisy {}, round {round}: {found} {expected}", run.noisy);
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
    // Gradient tracking is Momentum Tracking without momentum.
    agrees("gt", Method::Mt, |s| s.with(BETA.is(0.0)), w);
    agrees("diging", Method::Mt, |s| s.with(BETA.is(0.0)).combine(Combine::First), w);
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
