//! All nodes of a run, and one round of them.

use crate::metrics::{Measured, Moments, Row, mean, squared_distance, squared_norm};
use prdo_accounting::History;
use prdo_algorithm::graph::Mixings;
use prdo_algorithm::{
    Failure, Inbox, Message, Method, Neighbourhood, Node, Settings, SettingsError, Shape, Startable,
};
use prdo_privacy::{Diagnostics, Gate, GateError, Model, Protection, Start};
use rayon::prelude::*;
use std::sync::Arc;

/// The nodes of one run. `P` says whether their releases are noised or exposed.
pub struct Simulation<M: Model, P: Protection> {
    pub(crate) model: Arc<M>,
    pub(crate) gates: Vec<Gate<M, P>>,
    pub(crate) nodes: Vec<Box<dyn Node<P>>>,
    mixing: Mixings,
    /// How messages look.
    shape: Shape,
    method: (Method, Settings),
    held_out: Option<M::Data>,
    /// Loss and gradient norm are measured on at most this many records per node.
    measured_records: usize,
    pub(crate) totals: Totals,
    /// X^{t−1}, kept only while moments are asked for.
    pub(crate) previous: Option<Vec<Vec<f64>>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Totals {
    pub(crate) round: u32,
    pub(crate) bytes_sent: u64,
    pub(crate) gradient_evaluations: u64,
    pub(crate) recent: Diagnostics,
    /// Records that contributed zero because their gradient was not finite.
    pub(crate) non_finite: u64,
}

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SimulationError {
    #[error("the graph has {graph} nodes but {data} nodes have data")]
    Nodes { graph: usize, data: usize },
    #[error("the starting point has {start} values but the model has {model} parameters")]
    Start { start: usize, model: usize },
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// A program's own method failed.
    #[error("node {node}, round {round}: {failure}{}", charged(.spent))]
    Method {
        node: usize,
        round: u32,
        failure: Failure,
        /// ε that is spent, of a private run: the rounds before, and this one if it was answered.
        spent: Option<f64>,
    },
    /// A program's own method sends from some nodes only, where all nodes exchange at once.
    #[error("round {round}: {messages} of {nodes} nodes sent a message; all must, or none")]
    Messages { round: u32, messages: usize, nodes: usize },
    #[error("node {node}, round {round}: {error}")]
    Gate { node: usize, round: u32, error: GateError },
    #[error(
        "training diverged at round {round} (the models are not finite): the step size is too large for this problem \
         and graph"
    )]
    Diverged { round: u32 },
}

fn charged(spent: &Option<f64>) -> String {
    spent.map_or_else(String::new, |epsilon| format!("; ε = {epsilon:.4} was spent"))
}

type Pair<'a, M, P> = (&'a mut Box<dyn Node<P>>, &'a mut Gate<M, P>);

/// Coordinates of work below which a node is not worth a thread of its own.
const WORK_PER_TASK: usize = 40_000;

impl<M: Model, P: Protection> Simulation<M, P> {
    /// Nodes of `method` behind these gates, all at the public starting point.
    pub fn new(
        model: Arc<M>,
        gates: Vec<Gate<M, P>>,
        mixing: impl Into<Mixings>,
        (method, settings): (Method, &Settings),
        start: &Start,
        held_out: Option<M::Data>,
    ) -> Result<Self, SimulationError>
    where
        P: Startable,
    {
        let mixing = mixing.into();
        if mixing.nodes() != gates.len() {
            return Err(SimulationError::Nodes { graph: mixing.nodes(), data: gates.len() });
        }
        if start.dimension() != model.dimension() {
            return Err(SimulationError::Start { start: start.dimension(), model: model.dimension() });
        }
        let begin = |i| method.start(start, &settings.clone().at(Neighbourhood::of(mixing.at(0), i)));
        let nodes = (0..gates.len()).map(begin).collect::<Result<_, _>>()?;
        let shape = method.exchanges(settings).shape;
        let measured_records = usize::MAX;
        let totals = Totals::default();
        let method = (method, settings.clone());
        let previous = None;
        Ok(Self { model, gates, nodes, mixing, shape, method, held_out, measured_records, totals, previous })
    }

    /// The same, but rows hold loss and gradient norm of the first `most` records of each node only: an estimate,
    /// for models whose whole objective takes too long. Nothing else depends on it.
    #[must_use]
    pub fn measure_on(self, most: usize) -> Self {
        Self { measured_records: most, ..self }
    }

    /// One round of every node: query, answer, adapt, exchange, mix. With `moments`, also the paper's
    /// moments at this round's points.
    pub fn step(&mut self, moments: bool) -> Result<Option<Moments>, SimulationError> {
        let round = self.totals.round;
        self.check_queries()?;
        let mut messages = self.adapt()?;
        self.check_messages(&messages)?;
        let measured = if moments { Some(self.moments()) } else { None };
        while !messages.is_empty() {
            self.count_bytes(&messages);
            messages = self.mix(&messages);
            self.check_messages(&messages)?;
        }
        self.totals.round += 1;
        match self.nodes.iter().all(|node| node.model().is_finite()) {
            true => Ok(measured),
            false => Err(SimulationError::Diverged { round }),
        }
    }

    /// Every node knows what it asks, before any gate is asked: nothing is charged in a round that cannot be asked for.
    pub(crate) fn check_queries(&self) -> Result<(), SimulationError> {
        self.nodes.iter().for_each(|node| {
            node.query();
        });
        self.check_nodes()
    }

    fn check_nodes(&self) -> Result<(), SimulationError> {
        let mut nodes = self.nodes.iter().enumerate();
        match nodes.find_map(|(node, state)| Some((node, state.failure()?))) {
            Some((node, failure)) => {
                let (round, spent) = (self.totals.round, self.epsilon_spent());
                Err(SimulationError::Method { node, round, failure, spent })
            }
            None => Ok(()),
        }
    }

    /// All nodes sent something, or none did.
    fn check_messages(&self, messages: &[Message<P>]) -> Result<(), SimulationError> {
        self.check_nodes()?;
        match messages.len() {
            0 => Ok(()),
            all if all == self.nodes.len() => Ok(()),
            some => {
                let (round, nodes) = (self.totals.round, self.nodes.len());
                Err(SimulationError::Messages { round, messages: some, nodes })
            }
        }
    }

    fn adapt(&mut self) -> Result<Vec<Message<P>>, SimulationError> {
        let round = self.totals.round;
        let adapt = |(number, (node, gate)): (usize, Pair<'_, M, P>)| {
            let answer = gate.answer(round, &node.query()).map_err(|error| SimulationError::Gate {
                node: number,
                round,
                error,
            })?;
            Ok((node.adapt(answer.released), answer.diagnostics))
        };
        let slots = self.gates.first().map_or(1, Gate::slots);
        let pairs = self.nodes.par_iter_mut().zip(self.gates.par_iter_mut()).enumerate();
        let results: Vec<Result<_, SimulationError>> =
            pairs.with_min_len(min_len(self.model.dimension() * slots.min(256))).map(adapt).collect();
        let mut messages = Vec::with_capacity(results.len());
        for result in results {
            let (message, diagnostics) = result?;
            self.totals.recent.add(&diagnostics);
            self.totals.gradient_evaluations += diagnostics.evaluations;
            self.totals.non_finite += diagnostics.non_finite;
            messages.extend(message);
        }
        Ok(messages)
    }

    /// Every node mixes its neighbourhood's messages; the messages of a further exchange, if there is one.
    fn mix(&mut self, messages: &[Message<P>]) -> Vec<Message<P>> {
        let mixing = self.mixing.at(self.totals.round);
        let mix = |(i, node): (usize, &mut Box<dyn Node<P>>)| {
            let (columns, weights) = mixing.row(i);
            let inbox = columns.iter().map(|j| &messages[*j as usize]).collect();
            node.mix(&Inbox::new(weights, inbox))
        };
        let work = self.model.dimension() * (mixing.entries() / mixing.nodes().max(1)).max(1);
        let next: Vec<Option<Message<P>>> =
            self.nodes.par_iter_mut().enumerate().with_min_len(min_len(work)).map(mix).collect();
        next.into_iter().flatten().collect()
    }

    fn count_bytes(&mut self, messages: &[Message<P>]) {
        let mixing = self.mixing.at(self.totals.round);
        let links = mixing.entries() - mixing.nodes();
        let bytes = if messages.is_empty() { 0 } else { self.shape.bytes(self.model.dimension()) };
        self.totals.bytes_sent += (links * bytes) as u64;
    }

    pub fn round(&self) -> u32 {
        self.totals.round
    }

    pub fn models(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        self.nodes.iter().map(|node| node.model().as_slice())
    }

    pub fn directions(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        self.nodes.iter().map(|node| node.direction().as_slice())
    }

    pub fn average(&self) -> Vec<f64> {
        mean(self.models(), self.model.dimension())
    }

    pub fn disagreement(&self) -> Vec<f64> {
        let average = self.average();
        self.models().map(|x| squared_distance(x, &average)).collect()
    }

    /// f(x) and ∇f(x) of the global objective (1/n)Σf_i, from the first `most` records of each node; and what clipping
    /// alone does to that gradient.
    fn objective_of_first(&self, most: usize, x: &[f64]) -> ((f64, Vec<f64>), Option<Vec<f64>>) {
        let measure = |gate: &Gate<M, P>| {
            let measured = gate.measure_first(most, x);
            let norm = self.open_threshold(gate);
            let bias = norm.and_then(|norm| gate.clip_bias(most, x, &measured, norm));
            (measured, bias)
        };
        let (measured, biases): (Vec<_>, Vec<_>) = self.gates.par_iter().map(measure).unzip();
        let loss = measured.iter().map(|m| m.loss).sum::<f64>() / measured.len().max(1) as f64;
        let gradient = mean(measured.iter().map(|m| m.gradient.as_slice()), x.len());
        let biases: Option<Vec<_>> = biases.into_iter().collect();
        let bias = biases.map(|biases| mean(biases.iter().map(|bias| bias.as_slice()), x.len()));
        ((loss, gradient), bias)
    }

    /// The norm beyond which this gate shortened gradients in the last round, where it does nothing else to them.
    fn open_threshold(&self, gate: &Gate<M, P>) -> Option<f64> {
        let (method, settings) = &self.method;
        let asks = method.asks(settings, self.totals.round.saturating_sub(1));
        asks.threshold(&P::open_clip(gate.rules())?)
    }

    /// Measures the network as it is, and resets the clipping fractions.
    pub fn measure(&mut self) -> Row {
        let recent = std::mem::take(&mut self.totals.recent);
        let average = self.average();
        let (objective, clip_bias) = self.objective_of_first(self.measured_records, &average);
        Row::of(&Measured {
            round: self.totals.round,
            models: self.models().collect(),
            average: &average,
            objective,
            test_accuracy: self.accuracy(&average),
            epsilon_spent: self.epsilon_spent(),
            bytes_sent: self.totals.bytes_sent,
            gradient_evaluations: self.totals.gradient_evaluations,
            clipped: self.clips().then_some(recent),
            clip_bias,
        })
    }

    fn clips(&self) -> bool {
        self.gates.first().is_some_and(|gate| P::clips(gate.rules()))
    }

    pub fn epsilon_spent(&self) -> Option<f64> {
        let mut worst: Option<(History, f64)> = None;
        for gate in &self.gates {
            let charged = gate.charged()?;
            // A node whose releases cost no more than those of one already seen needs no computing.
            if worst.as_ref().is_some_and(|(history, _)| charged.is_within(history)) {
                continue;
            }
            let epsilon = gate.epsilon_spent()?;
            if worst.as_ref().is_none_or(|(_, largest)| epsilon > *largest) {
                worst = Some((charged, epsilon));
            }
        }
        worst.map(|(_, epsilon)| epsilon)
    }

    pub fn non_finite(&self) -> u64 {
        self.totals.non_finite
    }

    pub fn accuracy(&self, x: &[f64]) -> Option<f64> {
        crate::metrics::accuracy(&*self.model, x, self.held_out.as_ref()?)
    }

    pub fn auc(&self, x: &[f64]) -> Option<f64> {
        crate::auc::auc(&*self.model, x, self.held_out.as_ref()?)
    }

    /// The paper's moments between adaptation and mixing: x^t and v^t are both at hand.
    fn moments(&mut self) -> Moments {
        let d = self.model.dimension();
        let average = self.average();
        let error = |(node, gate): (&dyn Node<P>, &Gate<M, P>)| -> Vec<f64> {
            let gradient = gate.measure(node.model().as_slice()).gradient;
            node.direction().as_slice().iter().zip(gradient.as_slice()).map(|(v, g)| v - g).collect()
        };
        let errors: Vec<Vec<f64>> =
            self.nodes.par_iter().zip(&self.gates).map(|(node, gate)| error((&**node, gate))).collect();
        let direction = mean(self.nodes.iter().map(|node| node.direction().as_slice()), d);
        let models: Vec<Vec<f64>> = self.models().map(<[f64]>::to_vec).collect();
        let movement = self.previous.as_ref().map_or(0.0, |previous| {
            models.iter().zip(previous).map(|(now, before)| squared_distance(now, before)).sum()
        });
        let moments = Moments {
            round: self.totals.round,
            disagreement: models.iter().map(|x| squared_distance(x, &average)).sum(),
            local_error: errors.iter().map(|e| squared_norm(e)).sum(),
            mean_error: squared_norm(&mean(errors.iter().map(Vec::as_slice), d)),
            direction: squared_norm(&direction),
            movement,
        };
        self.previous = Some(models);
        moments
    }
}

/// How many nodes a task takes so that it is worth handing to a thread.
fn min_len(work: usize) -> usize {
    (WORK_PER_TASK / work.max(1)).max(1)
}
