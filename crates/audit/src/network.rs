//! One run of the network under audit: real nodes, gates and messages on the ring, and what travels between them.

use crate::canary::{DIMENSION, OTHER, Pusher};
use crate::error::{AuditError, refused};
use crate::setting::{NODES, Setting};
use crate::subject::Subject;
use prdo_accounting::{Accountant, Target};
use prdo_algorithm::graph::Mixing;
use prdo_algorithm::{Inbox, Message, Node};
use prdo_privacy::{Gate, History, Ledger, Noised, Secret, Shard, Start};
use std::sync::Arc;

/// The node whose record is in question.
pub const VICTIM: usize = 0;

/// What everybody could have recorded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transcript {
    /// The encoded messages: by exchange, and within it by node.
    pub messages: Vec<Vec<u8>>,
    /// The models that the nodes end with, which are published.
    pub models: Vec<Vec<f64>>,
    /// What each node's ledger says it has released.
    pub charged: Vec<History>,
}

/// A network that can be run many times.
pub struct Network<'a, S: Subject> {
    subject: &'a S,
    setting: &'a Setting,
    mixing: Mixing,
    accountant: Arc<Accountant>,
    budget: Target,
    start: Start,
}

impl<'a, S: Subject> Network<'a, S> {
    /// The network of a setting.
    ///
    /// # Errors
    /// Settings that cannot be accounted for.
    pub fn new(subject: &'a S, setting: &'a Setting) -> Result<Self, AuditError> {
        let (accountant, budget) = setting.accountant()?;
        let start = Start::zeros(DIMENSION);
        Ok(Self { subject, setting, mixing: setting.mixing()?, accountant, budget, start })
    }

    /// The setting.
    pub fn setting(&self) -> &Setting {
        self.setting
    }

    /// W.
    pub fn mixing(&self) -> &Mixing {
        &self.mixing
    }

    /// Runs it once. The victim holds `victim`, every other node a full set of other records.
    ///
    /// # Errors
    /// Whatever stops a node.
    pub fn run(&self, secret: &Arc<Secret>, victim: &[u8]) -> Result<Transcript, AuditError> {
        let mut models = Vec::with_capacity(NODES);
        let mut gates = Vec::with_capacity(NODES);
        let mut nodes = Vec::with_capacity(NODES);
        for node in 0..NODES {
            let records = if node == VICTIM { victim.to_vec() } else { vec![OTHER; self.setting.slots] };
            let model =
                Arc::new(Pusher::new(self.setting.clip.gradient().max(self.setting.clip.difference())));
            gates.push(self.gate(node, &model, records, secret)?);
            models.push(model);
            let settings = &self.setting.settings;
            let node = self.setting.method.start::<Noised>(&self.start, settings);
            nodes.push(node.map_err(refused("method"))?);
        }
        let mut transcript = Transcript::default();
        for round in 0..self.setting.rounds {
            let mut messages = Vec::with_capacity(NODES);
            for ((node, gate), model) in nodes.iter_mut().zip(&mut gates).zip(&models) {
                model.at(round, node.model().as_slice());
                let answer = gate.answer(round, &node.query());
                let answer = answer.map_err(|why| AuditError::Stopped { round, why: why.to_string() })?;
                messages.push(node.adapt(answer.released));
            }
            while !messages.is_empty() {
                messages = self.exchange(&messages, &mut nodes, &mut transcript.messages)?;
            }
        }
        transcript.models = nodes.iter().map(|node| node.model().as_slice().to_vec()).collect();
        transcript.charged = gates.iter().filter_map(Gate::charged).collect();
        Ok(transcript)
    }

    fn gate(
        &self,
        node: usize,
        model: &Arc<Pusher>,
        records: Vec<u8>,
        secret: &Arc<Secret>,
    ) -> Result<Gate<Pusher, Noised>, AuditError> {
        let shard = Shard::seal_in_slots(records, self.setting.slots).map_err(refused("slots"))?;
        let rules = self.setting.rules(Ledger::new(Arc::clone(&self.accountant), self.budget));
        let gate = Gate::private(node as u32, Arc::clone(model), shard, Arc::clone(secret), rules);
        Ok(self.subject.gate(gate.map_err(refused("batch"))?))
    }

    /// One exchange: every message as bytes, to all neighbours; gives the messages of the next one, if there is one.
    fn exchange(
        &self,
        messages: &[Message<Noised>],
        nodes: &mut [Box<dyn Node<Noised>>],
        sent: &mut Vec<Vec<u8>>,
    ) -> Result<Vec<Message<Noised>>, AuditError> {
        let mut received = Vec::with_capacity(NODES);
        for message in messages {
            let bytes = message.to_wire();
            received.push(Message::from_wire(&bytes, DIMENSION, message.vectors().len())?);
            sent.push(bytes);
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
