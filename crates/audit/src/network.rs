//! One run of the network under audit: real nodes, gates and messages on the ring, and what travels between them.

use crate::canary::{CanaryModel, DIMENSION, OTHER};
use crate::error::{AuditError, refused, sound};
use crate::setting::{NODES, Setting};
use crate::subject::Subject;
use prdo_accounting::{Accountant, Target};
use prdo_algorithm::graph::Mixing;
use prdo_algorithm::{Inbox, Message, Neighbourhood, Node, Shape};
use prdo_privacy::{Gate, History, Ledger, Model, Noised, Released, Secret, Shard, Start};
use std::sync::Arc;

pub const VICTIM: usize = 0;

/// What the strongest adversary could have recorded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transcript {
    /// What the gates answered, by round and node, in units of the declared sensitivity. All that is sent is made of it, by
    /// whatever method, so whoever has it knows at least as much as whoever reads the messages.
    pub answers: Vec<Vec<Vec<f64>>>,
    /// The sizes of the encoded messages: by exchange, and within it by node.
    pub sizes: Vec<usize>,
    /// The models that the nodes end with, which are published.
    pub models: Vec<Vec<f64>>,
    /// What each node's ledger says it has released.
    pub charged: Vec<History>,
}

impl Transcript {
    /// The first [`DIMENSION`] values of every answer, by round and node.
    pub fn queries(&self) -> Vec<[[f64; DIMENSION]; NODES]> {
        let rows = |answers: &Vec<Vec<f64>>| {
            let mut rows = [[0.0; DIMENSION]; NODES];
            for (row, answer) in rows.iter_mut().zip(answers) {
                row.iter_mut().zip(answer).for_each(|(r, v)| *r = *v);
            }
            rows
        };
        self.answers.iter().map(rows).collect()
    }
}

pub struct Network<'a, S: Subject> {
    subject: &'a S,
    setting: &'a Setting,
    mixing: Mixing,
    accountant: Arc<Accountant>,
    budget: Target,
    start: Start,
}

impl<'a, S: Subject> Network<'a, S> {
    pub fn new(subject: &'a S, setting: &'a Setting) -> Result<Self, AuditError> {
        let (accountant, budget) = setting.accountant()?;
        let start = Start::zeros(DIMENSION);
        Ok(Self { subject, setting, mixing: setting.mixing()?, accountant, budget, start })
    }

    pub fn setting(&self) -> &Setting {
        self.setting
    }

    pub fn mixing(&self) -> &Mixing {
        &self.mixing
    }

    /// Runs it once. The victim holds `victim`, every other node a full set of other records.
    pub fn run(&self, secret: &Arc<Secret>, victim: &[u8]) -> Result<Transcript, AuditError> {
        let longest = self.setting.clip.gradient().max(self.setting.clip.difference());
        let mut models = Vec::with_capacity(NODES);
        let mut gates = Vec::with_capacity(NODES);
        for node in 0..NODES {
            let records = if node == VICTIM { victim.to_vec() } else { vec![OTHER; self.setting.slots] };
            let model = Arc::new(CanaryModel::new(longest));
            gates.push(self.gate(node, &model, records, secret)?);
            models.push(model);
        }
        let mut at = |node: usize, round: u32, point: &[f64]| {
            if let Some(model) = models.get(node) {
                model.current.set(round, point);
            }
        };
        self.drive(&mut gates, &self.start, &mut at)
    }

    /// Runs nodes over these gates, one per node. `at` gets each node's point before its gate is asked.
    pub fn drive<M: Model>(
        &self,
        gates: &mut [Gate<M, Noised>],
        start: &Start,
        at: &mut dyn FnMut(usize, u32, &[f64]),
    ) -> Result<Transcript, AuditError> {
        let begin = |i| {
            let settings = self.setting.settings.clone().at(Neighbourhood::of(&self.mixing, i));
            self.setting.method.start::<Noised>(start, &settings)
        };
        let mut nodes = (0..NODES).map(begin).collect::<Result<Vec<_>, _>>().map_err(refused("method"))?;
        let mut transcript = Transcript::default();
        let exchanges = self.setting.method.exchanges(&self.setting.settings);
        for round in 0..self.setting.rounds {
            let (mut messages, mut answers) = (Vec::with_capacity(NODES), Vec::with_capacity(NODES));
            for (i, (node, gate)) in nodes.iter_mut().zip(&mut *gates).enumerate() {
                at(i, round, node.model().as_slice());
                let query = node.query();
                sound(&**node, round)?;
                let answer = gate.answer(round, &query);
                let answer = answer.map_err(|why| AuditError::Stopped { round, why: why.to_string() })?;
                let unit = self.setting.unit(round, &query);
                answers.push(answer.released.as_slice().iter().map(|value| value * unit).collect());
                messages.extend(node.adapt(answer.released));
                sound(&**node, round)?;
            }
            transcript.answers.push(answers);
            let mut exchange = exchanges.before(round, self.setting.rounds);
            while !messages.is_empty() {
                let shape = exchanges.shape_of(exchange, self.setting.rounds);
                messages = self.exchange(&messages, &shape, &mut nodes, &mut transcript.sizes)?;
                exchange += 1;
                nodes.iter().try_for_each(|node| sound(&**node, round))?;
            }
        }
        transcript.models = nodes.iter().map(|node| node.model().as_slice().to_vec()).collect();
        transcript.charged = gates.iter().filter_map(Gate::charged).collect();
        Ok(transcript)
    }

    pub fn gate<M: Model>(
        &self,
        node: usize,
        model: &Arc<M>,
        records: M::Data,
        secret: &Arc<Secret>,
    ) -> Result<Gate<M, Noised>, AuditError> {
        let shard = Shard::seal_in_slots(records, self.setting.slots).map_err(refused("slots"))?;
        let rules = self.setting.rules(Ledger::new(Arc::clone(&self.accountant), self.budget));
        let gate = Gate::private(node as u32, Arc::clone(model), shard, Arc::clone(secret), rules);
        let gate = self.setting.with_shares(gate.map_err(refused("batch"))?, node as u32, secret)?;
        Ok(self.subject.gate(gate))
    }

    /// One exchange: every message as bytes, to all neighbours; gives the messages of the next one, if there is one.
    fn exchange(
        &self,
        messages: &[Message<Noised>],
        shape: &Shape,
        nodes: &mut [Box<dyn Node<Noised>>],
        sizes: &mut Vec<usize>,
    ) -> Result<Vec<Message<Noised>>, AuditError> {
        let mut received = Vec::with_capacity(NODES);
        for message in messages {
            let bytes = message.to_wire();
            let dimension = message.vectors().first().map_or(0, Released::dimension);
            received.push(Message::from_wire(&bytes, dimension, shape)?);
            sizes.push(bytes.len());
        }
        let mut next = Vec::new();
        for (i, node) in nodes.iter_mut().enumerate() {
            let (columns, weights) = self.mixing.row(i);
            let inbox = columns.iter().filter_map(|j| received.get(*j as usize)).collect();
            next.extend(node.mix(&Inbox::new(weights, inbox)));
        }
        Ok(next)
    }
}
