//! Methods of a program's own that fail: where, and at what price.

use crate::problem::{Quadratics, bowls, private};
use prdo_algorithm::graph::{Graph, Mixing, Needs, Weights};
use prdo_algorithm::methods::{Card, Definition};
use prdo_algorithm::{Failure, Inbox, Message, Method, Node, Settings};
use prdo_privacy::*;
use prdo_simulator::{Simulation, SimulationError};
use std::sync::OnceLock;

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{self:?} failed")]
enum Call {
    Start,
    Query,
    Adapt,
    Mix,
    /// Sends nothing where the others do.
    Silent,
    Never,
}

/// D-SGD that fails at node 2 in round 3.
struct Failing(Call, Card);

impl Failing {
    const fn at(call: Call) -> Self {
        let card = Card {
            name: "failing",
            title: "Failing",
            idea: "",
            parameters: &[],
            first_batch: false,
            differences: false,
            network: Needs::Symmetric,
            constant_step: false,
        };
        Self(call, card)
    }
}

const NODE: u32 = 2;
const ROUND: u32 = 3;

impl Definition for Failing {
    fn card(&self) -> &Card {
        &self.1
    }

    fn start<P: Protection>(&self, x0: &Start, settings: &Settings) -> Box<dyn Node<P>> {
        let node = settings.neighbourhood().node;
        let x = Released::start(x0);
        let call = (node == NODE).then_some(self.0);
        Box::new(State { call, t: 0, v: x.clone(), x, adapted: false, asked: OnceLock::new() })
    }
}

struct State<P: Protection> {
    call: Option<Call>,
    t: u32,
    x: Released<P>,
    v: Released<P>,
    adapted: bool,
    /// Once it was asked for the query that fails.
    asked: OnceLock<()>,
}

impl<P: Protection> Node<P> for State<P> {
    fn query(&self) -> Query<'_, P> {
        if self.t == ROUND {
            let _ = self.asked.set(());
        }
        Query::gradient(&self.x)
    }

    fn adapt(&mut self, answer: Released<P>) -> Option<Message<P>> {
        self.v = answer;
        self.adapted = true;
        let silent = self.t == ROUND && matches!(self.call, Some(Call::Silent | Call::Adapt));
        (!silent).then(|| Message::one(Released::combine([(1.0, &self.x), (-0.1, &self.v)])))
    }

    fn mix(&mut self, inbox: &Inbox<'_, P>) -> Option<Message<P>> {
        inbox.mix(0, &mut self.x);
        (self.t, self.adapted) = (self.t + 1, false);
        None
    }

    fn model(&self) -> &Released<P> {
        &self.x
    }

    fn direction(&self) -> &Released<P> {
        &self.v
    }

    fn vectors(&self) -> Vec<&Released<P>> {
        vec![&self.x]
    }

    fn restore(&mut self, rounds: u32) -> Vec<&mut Released<P>> {
        self.t = rounds;
        vec![&mut self.x]
    }

    fn failure(&self) -> Option<Failure> {
        let call = self.call?;
        let failed = match call {
            Call::Start => true,
            Call::Query => self.asked.get().is_some(),
            Call::Adapt => self.t == ROUND && self.adapted,
            Call::Mix => self.t > ROUND,
            Call::Silent | Call::Never => false,
        };
        failed.then(|| Failure::new(call))
    }
}

fn failing(definition: &'static Failing) -> Simulation<Quadratics, Noised> {
    let ring = Mixing::new(&Graph::ring(5).unwrap(), Weights::Paper, false).unwrap();
    let (data, settings) = (bowls(5, 6, 3, 1), Settings::new(0.1));
    private(&data, &ring, Method::new(definition), settings, (3, 3), 1)
}

/// The charges of all nodes when the first step fails, and the error.
fn fail(definition: &'static Failing) -> (f64, SimulationError) {
    let mut run = failing(definition);
    for _ in 0..10 {
        if let Err(error) = run.step(false) {
            return (run.epsilon_spent().unwrap(), error);
        }
    }
    panic!("it did not fail");
}

/// ε of so many rounds.
fn price(rounds: u32) -> f64 {
    static SOUND: Failing = Failing::at(Call::Never);
    let mut run = failing(&SOUND);
    (0..rounds).for_each(|_| {
        run.step(false).unwrap();
    });
    run.epsilon_spent().unwrap()
}

#[test]
fn a_query_that_fails_costs_nothing_and_an_answer_stays_charged() {
    static START: Failing = Failing::at(Call::Start);
    static QUERY: Failing = Failing::at(Call::Query);
    static ADAPT: Failing = Failing::at(Call::Adapt);
    static MIX: Failing = Failing::at(Call::Mix);
    for (definition, expected, answered) in [(&START, 0, 0), (&QUERY, 3, 3), (&ADAPT, 3, 4), (&MIX, 3, 4)] {
        let (charged, error) = fail(definition);
        let SimulationError::Method { node, round, failure, spent } = &error else { panic!("{error}") };
        assert_eq!((*node, *round), (NODE as usize, expected), "{error}");
        assert_eq!(failure.downcast_ref::<Call>(), Some(&definition.0));
        assert_eq!(charged, price(answered), "{error}");
        assert_eq!(*spent, Some(charged));
        let said = format!("node 2, round {expected}: {:?} failed; ε = {charged:.4} was spent", definition.0);
        assert_eq!(error.to_string(), said);
    }
}

#[test]
fn messages_of_some_nodes_only_are_refused() {
    static SILENT: Failing = Failing::at(Call::Silent);
    let (_, error) = fail(&SILENT);
    assert_eq!(error, SimulationError::Messages { round: 3, messages: 4, nodes: 5 });
}
