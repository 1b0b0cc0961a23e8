//! Systems that are no methods of this crate, written here as a program of one's own would: DEEPSTORM's first form, with two
//! releases per round; STORM, whose steps depend on the data; push with a table of gradients (PrivSGP-VR). Each against its
//! reference trajectory.

use crate::family::{REFERENCE, Run, Vector, clipped, released};
use prdo_algorithm::graph::Needs;
use prdo_algorithm::methods::directions::{Direction, DirectionState, GAMMA};
use prdo_algorithm::methods::steps::Push;
use prdo_algorithm::methods::{Card, Cell, Definition, Number, Parameter};
use prdo_algorithm::{Inbox, Message, Method, Node, Settings};
use prdo_privacy::{Protection, Query, Released, Start};

fn runs(name: &str, count: usize) -> Vec<&'static Run> {
    let runs: Vec<&Run> = REFERENCE.runs.iter().filter(|run| run.method == name).collect();
    assert_eq!(runs.len(), count, "{name}");
    runs
}

fn value(run: &Run, key: &str) -> f64 {
    run.settings[key].as_f64().unwrap()
}

/// What is the same on all cards here.
const PLAIN: Card = Card {
    name: "",
    title: "",
    idea: "",
    parameters: &[],
    first_batch: false,
    differences: false,
    network: Needs::Symmetric,
    constant_step: false,
};

/// d = (1−β)(d₋ + g(x; B) − g(x₋; B)) + βg(x; B̃): the difference is released in a round without messages.
/// y = W(y₋ + d − d₋);   x⁺ = Wx − αy
struct FirstDeepstorm;

struct FirstDeepstormNode<P: Protection> {
    release: u32,
    gamma: f64,
    alpha: f64,
    x: Released<P>,
    x_previous: Released<P>,
    y: Released<P>,
    d: Released<P>,
    d_previous: Released<P>,
}

static DEEPSTORM_V1: Card = Card { name: "deepstorm-v1", parameters: &[GAMMA.parameter()], ..PLAIN };

impl Definition for FirstDeepstorm {
    fn card(&self) -> &Card {
        &DEEPSTORM_V1
    }

    fn start<P: Protection>(&self, x0: &Start, settings: &Settings) -> Box<dyn Node<P>> {
        let zeros = || Released::zeros(x0.dimension());
        Box::new(FirstDeepstormNode {
            release: 0,
            gamma: GAMMA.of(settings),
            alpha: settings.step_size.at(0),
            x: Released::start(x0),
            x_previous: Released::start(x0),
            y: zeros(),
            d: zeros(),
            d_previous: zeros(),
        })
    }
}

impl<P: Protection> FirstDeepstormNode<P> {
    fn is_difference(&self) -> bool {
        self.release % 2 == 1
    }
}

impl<P: Protection> Node<P> for FirstDeepstormNode<P> {
    fn query(&self) -> Query<'_, P> {
        match self.is_difference() {
            true => Query::recursive(&self.x, &self.x_previous, 0.0),
            false if self.release == 0 => Query::gradient(&self.x).on_first_batch(),
            false => Query::gradient(&self.x),
        }
    }

    fn adapt(&mut self, answer: Released<P>) -> Option<Message<P>> {
        if self.is_difference() {
            self.release += 1;
            self.d_previous = self.d.clone();
            self.d.blend(1.0 - self.gamma, 1.0 - self.gamma, &answer);
            return None;
        }
        self.d.blend(1.0, if self.release == 0 { 1.0 } else { self.gamma }, &answer);
        self.release += 1;
        let moved = Released::combine([(1.0, &self.y), (1.0, &self.d), (-1.0, &self.d_previous)]);
        Some(Message::two(self.x.clone(), moved))
    }

    fn mix(&mut self, inbox: &Inbox<'_, P>) -> Option<Message<P>> {
        self.x_previous = self.x.clone();
        inbox.mix(0, &mut self.x);
        inbox.mix(1, &mut self.y);
        self.x.blend(1.0, -self.alpha, &self.y);
        None
    }

    fn model(&self) -> &Released<P> {
        &self.x
    }

    fn direction(&self) -> &Released<P> {
        &self.d
    }

    fn vectors(&self) -> Vec<&Released<P>> {
        vec![&self.x, &self.x_previous, &self.y, &self.d]
    }

    fn restore(&mut self, rounds: u32) -> Vec<&mut Released<P>> {
        self.release = rounds;
        vec![&mut self.x, &mut self.x_previous, &mut self.y, &mut self.d]
    }
}

#[test]
fn deepstorm_in_its_first_form_has_two_releases_per_round() {
    for run in runs("deepstorm-v1", 2) {
        let settings = Settings::new(value(run, "step_size")).with(GAMMA.is(value(run, "gamma")));
        let answer = |release, node, query: &Query<'_, _>| REFERENCE.answer(run, release, node, query);
        let method = Method::new(&FirstDeepstorm);
        run.agrees(&REFERENCE.trajectory_of(run, method, &settings, (&REFERENCE.w, answer)));
    }
}

/// d = g(x; B) + (1−a)(d₋ − g(x₋; B));   x⁺ = x − ηd;   η = k/(w + Σ‖g‖²)^⅓;   a⁺ = cη²: one node, which asks for the gradients at
/// x and at x₋ on the same batch, one after the other.
struct Storm;

const K: Number = Number { name: "k", is_allowed: |_| true, ..Number::PLAIN };
const W: Number = Number { name: "w", ..K };
const C: Number = Number { name: "c", ..K };

static STORM: Card =
    Card { name: "storm", parameters: &[K.parameter(), W.parameter(), C.parameter()], ..PLAIN };

struct StormNode<P: Protection> {
    release: u32,
    numbers: [f64; 3],
    squares: f64,
    a: f64,
    x: Released<P>,
    x_previous: Released<P>,
    /// g(x; B), within a round.
    g: Released<P>,
    d: Released<P>,
}

impl Definition for Storm {
    fn card(&self) -> &Card {
        &STORM
    }

    fn start<P: Protection>(&self, x0: &Start, settings: &Settings) -> Box<dyn Node<P>> {
        let zeros = || Released::zeros(x0.dimension());
        let numbers = [K, W, C].map(|number| number.of(settings));
        let x = Released::start(x0);
        let (g, d, x_previous) = (zeros(), zeros(), x.clone());
        Box::new(StormNode { release: 0, numbers, squares: 0.0, a: 1.0, x, x_previous, g, d })
    }
}

impl<P: Protection> Node<P> for StormNode<P> {
    fn query(&self) -> Query<'_, P> {
        match self.release {
            release if release == 0 || release % 2 == 1 => Query::gradient(&self.x),
            _ => Query::gradient(&self.x_previous),
        }
    }

    fn adapt(&mut self, answer: Released<P>) -> Option<Message<P>> {
        let release = self.release;
        self.release += 1;
        if release % 2 == 1 {
            self.squares += answer.as_slice().iter().map(|g| g * g).sum::<f64>();
            self.g = answer;
            return None;
        }
        if release == 0 {
            self.squares += answer.as_slice().iter().map(|g| g * g).sum::<f64>();
            self.d = answer;
        } else {
            let kept = 1.0 - self.a;
            self.d = Released::combine([(1.0, &self.g), (kept, &self.d), (-kept, &answer)]);
        }
        let [k, w, c] = self.numbers;
        let eta = k / (w + self.squares).cbrt();
        self.a = c * eta * eta;
        self.x_previous = self.x.clone();
        self.x.blend(1.0, -eta, &self.d);
        Some(Message::one(self.x.clone()))
    }

    fn mix(&mut self, inbox: &Inbox<'_, P>) -> Option<Message<P>> {
        inbox.mix(0, &mut self.x);
        None
    }

    fn model(&self) -> &Released<P> {
        &self.x
    }

    fn direction(&self) -> &Released<P> {
        &self.d
    }

    fn vectors(&self) -> Vec<&Released<P>> {
        vec![&self.x, &self.x_previous, &self.d]
    }

    fn restore(&mut self, _rounds: u32) -> Vec<&mut Released<P>> {
        vec![&mut self.x, &mut self.x_previous, &mut self.d]
    }
}

#[test]
fn storm_adapts_its_steps_to_the_gradients_that_it_saw() {
    for run in runs("storm", 1) {
        let numbers = [("k", K), ("w", W), ("c", C)];
        let with = |s: Settings, (key, number): (&str, Number)| s.with(number.is(value(run, key)));
        let settings = numbers.into_iter().fold(Settings::new(1.0), with);
        let answer = |release: usize, _, query: &Query<'_, _>| {
            let batch = &REFERENCE.batches[release.div_ceil(2)][0];
            let size = REFERENCE.batch as f64;
            let mut sum = vec![0.0; REFERENCE.x0.len()];
            for record in batch {
                let gradient = REFERENCE.gradient(0, *record, query.at().as_slice());
                sum.iter_mut().zip(gradient).for_each(|(s, g)| *s += g / size);
            }
            released(sum)
        };
        let alone = [vec![1.0]];
        run.agrees(&REFERENCE.trajectory_of(run, Method::new(&Storm), &settings, (&alone, answer)));
    }
}

/// v = a + m;   m⁺ = m + (b/N)a, with a the answer to what a table remembers of each record.
struct Table;

const SHARE: Number = Number { name: "share", symbol: "b/N", is_allowed: |_| true, ..Number::PLAIN };

struct TableState<P: Protection> {
    share: f64,
    v: Released<P>,
    m: Released<P>,
}

impl Direction for Table {
    const PARAMETERS: &'static [Parameter] = &[SHARE.parameter()];
    type State<P: Protection> = TableState<P>;

    fn start<P: Protection>(x0: &Start, settings: &Settings) -> TableState<P> {
        let zeros = || Released::zeros(x0.dimension());
        TableState { share: SHARE.of(settings), v: zeros(), m: zeros() }
    }
}

impl<P: Protection> DirectionState<P> for TableState<P> {
    const REMEMBERS: bool = false;

    fn query<'a>(&'a self, _t: u32, x: &'a Released<P>) -> Query<'a, P> {
        Query::gradient(x)
    }

    fn take(&mut self, _t: u32, _x: &Released<P>, answer: Released<P>) {
        self.v = Released::combine([(1.0, &answer), (1.0, &self.m)]);
        self.m.add([(self.share, &answer)]);
    }

    fn v(&self) -> &Released<P> {
        &self.v
    }

    fn v_mut(&mut self) -> &mut Released<P> {
        &mut self.v
    }

    fn vectors(&self) -> Vec<&Released<P>> {
        vec![&self.m]
    }

    fn restore(&mut self) -> Vec<&mut Released<P>> {
        vec![&mut self.m, &mut self.v]
    }
}

static PUSH_SAGA: Cell<Table, Push> = Cell::new("push-saga", "", "");

/// What the gate would remember: a gradient of each record, moved by what was clipped of its change.
fn remembered(
    run: &Run,
) -> impl FnMut(usize, usize, &Query<'_, prdo_privacy::Exposed>) -> Released<prdo_privacy::Exposed> {
    let reference = &*REFERENCE;
    let d = reference.x0.len();
    let mut table: Vec<Vec<Vector>> = vec![vec![vec![0.0; d]; reference.records]; reference.w.len()];
    let all: Vec<usize> = (0..reference.records).collect();
    move |round, node, query| {
        let batch = if run.noisy { &reference.batches[round][node] } else { &all };
        let size = if run.noisy { reference.batch } else { reference.records } as f64;
        let deviation = run.noise_multiplier * reference.clip.difference / size;
        let mut answer: Vector = reference.normals[round][node].iter().map(|n| deviation * n).collect();
        for record in batch {
            let row = &mut table[node][*record];
            let gradient = reference.gradient(node, *record, query.at().as_slice());
            let change: Vector = gradient.iter().zip(row.iter()).map(|(g, row)| g - row).collect();
            let change = if run.noisy { clipped(change, reference.clip.difference) } else { change };
            for ((row, answer), change) in row.iter_mut().zip(&mut answer).zip(change) {
                *row += change;
                *answer += change / size;
            }
        }
        released(answer)
    }
}

#[test]
fn push_with_a_table_of_gradients() {
    for run in runs("push-saga", 2) {
        let batch = if run.noisy { REFERENCE.batch } else { REFERENCE.records } as f64;
        let share = batch / REFERENCE.records as f64;
        let settings = Settings::new(value(run, "step_size")).with(SHARE.is(share));
        let (method, network) = (Method::new(&PUSH_SAGA), (&REFERENCE.p[..], remembered(run)));
        run.agrees(&REFERENCE.trajectory_of(run, method, &settings, network));
    }
}
