//! What no noise can hide: values off the public grid, messages whose number or size depends on records, noise that
//! depends on records, secrets that are not secret.

use crate::canary::{BROKEN, CANARY, OTHER, SILENT};
use crate::error::{AuditError, refused, sound};
use crate::likelihood::mixed;
use crate::network::{Network, Transcript, VICTIM};
use crate::setting::Setting;
use crate::subject::Subject;
use prdo_accounting::{Accountant, Method as Accounting, Target};
use prdo_algorithm::{Inbox, Node};
use prdo_privacy::{Gate, Ledger, Model, Noised, Released, Secret, Shard, Start};
use std::sync::Arc;

/// The spacing of the public grid for a sensitivity and a noise multiplier: 2³² steps, to the next power of two, in
/// sensitivity times max(z, 1).
pub fn grid(scale: f64, noise_multiplier: f64) -> f64 {
    f64::powi(2.0, (scale * noise_multiplier.max(1.0)).log2().ceil() as i32 - 32)
}

/// Whether a released value is a multiple of the spacing, divided by the public batch size: to the bit.
pub fn is_on_grid(value: f64, size: f64, spacing: f64) -> bool {
    (value * size / spacing).round() * spacing / size == value
}

/// A wide model: a record's gradient is a wave of its own.
struct Wave {
    dimension: usize,
}

impl Model for Wave {
    type Data = Vec<f64>;

    fn dimension(&self) -> usize {
        self.dimension
    }

    fn loss(&self, _: &[f64], _: &Vec<f64>, _: usize) -> f64 {
        0.0
    }

    fn gradient(&self, x: &[f64], data: &Vec<f64>, record: usize, gradient: &mut [f64]) {
        let frequency = data.get(record).copied().unwrap_or(0.0);
        for (j, (g, x)) in gradient.iter_mut().zip(x).enumerate() {
            *g = (x + frequency * (1 + j % 977) as f64).fract() - 0.5;
        }
    }
}

/// Draws at least `values` released values and counts those that are not on the public grid. Gives (checked, off the
/// grid).
pub fn off_grid<S: Subject>(
    subject: &S,
    setting: &Setting,
    values: usize,
    seed: u64,
) -> Result<(usize, usize), AuditError> {
    let dimension = values.clamp(1, 100_000);
    let model = Arc::new(Wave { dimension });
    let records: Vec<f64> = (0..setting.slots).map(|r| 0.37 + 0.013 * r as f64).collect();
    let shard = Shard::seal(records).map_err(refused("slots"))?;
    let ledger = generous_ledger(setting)?;
    let secret = Arc::new(Secret::from_seed(mixed(seed, 77)));
    let gate = Gate::private(0, model, shard, Arc::clone(&secret), setting.rules(ledger));
    let mut gate = subject.gate(setting.with_shares(gate.map_err(refused("batch"))?, 0, &secret)?);
    let (mut looked, mut off) = (0, 0);
    let node = setting.method.start::<Noised>(&Start::zeros(dimension), &setting.settings);
    let mut node = node.map_err(refused("method"))?;
    let mut round = 0;
    while looked < values {
        let query = node.query();
        sound(&*node, round)?;
        let scale = setting.scale(round, &query);
        let answer = gate.answer(round, &query);
        let answer = answer.map_err(|why| AuditError::Stopped { round, why: why.to_string() })?.released;
        let (size, spacing) = (setting.batch_size(round) as f64, grid(scale, setting.noise_multiplier));
        looked += dimension;
        off += answer.as_slice().iter().filter(|v| !is_on_grid(**v, size, spacing)).count();
        alone(&mut *node, answer, round)?;
        round += 1;
    }
    Ok((looked, off))
}

/// The rest of a round of a node that has no neighbours.
pub(crate) fn alone(
    node: &mut dyn Node<Noised>,
    answer: Released<Noised>,
    round: u32,
) -> Result<(), AuditError> {
    let mut message = node.adapt(answer);
    while let Some(sent) = message {
        message = node.mix(&Inbox::new(&[1.0], vec![&sent]));
    }
    sound(node, round)
}

fn generous_ledger(setting: &Setting) -> Result<Ledger, AuditError> {
    let accountant = Arc::new(Accountant::new(Accounting::Renyi));
    Ok(Ledger::new(accountant, Target::new(1e12, setting.delta)?))
}

/// Runs the network with data sets that a careless implementation would treat differently, on the same secret, and
/// counts the differences that anyone could see: in the number of messages, their sizes, the releases that were charged,
/// and the noise itself. Gives (data sets, differences).
pub fn differences<S: Subject>(network: &Network<'_, S>, seed: u64) -> Result<(usize, usize), AuditError> {
    let setting = network.setting();
    let full = setting.slots;
    let sets: [Vec<u8>; 6] = [
        vec![OTHER; full],
        // No record at all: every batch is empty.
        Vec::new(),
        vec![BROKEN; full],
        // One class is missing, or is the only one.
        vec![CANARY; full],
        [vec![OTHER; full / 2], vec![CANARY; full - full / 2]].concat(),
        [vec![BROKEN; full / 2], vec![OTHER; full - full / 2]].concat(),
    ];
    let secret = Arc::new(Secret::from_seed(mixed(seed, 78)));
    let mut different = 0;
    let mut first: Option<(Shape, Vec<f64>)> = None;
    for set in &sets {
        let transcript = network.run(&secret, set)?;
        let (shape, noise) = (Shape::of(&transcript), silent_noise(&transcript));
        let Some((expected, expected_noise)) = &first else {
            first = Some((shape, noise));
            continue;
        };
        let near = |a: &f64, b: &f64| (a - b).abs() <= 1e-6 * setting.answer_multiplier(VICTIM as u32);
        let same_noise =
            noise.len() == expected_noise.len() && noise.iter().zip(expected_noise).all(|(a, b)| near(a, b));
        different += usize::from(shape != *expected) + usize::from(!same_noise);
    }
    Ok((sets.len(), different))
}

/// How many nodes' ledgers hold something else than what the run releases by its settings: every round once, at its rate
/// and with its noise. Gives (nodes, wrong).
pub fn wrong_ledgers<S: Subject>(network: &Network<'_, S>, seed: u64) -> Result<(usize, usize), AuditError> {
    let setting = network.setting();
    let secret = Arc::new(Secret::from_seed(mixed(seed, 79)));
    let charged = network.run(&secret, &vec![OTHER; setting.slots])?.charged;
    let expected = setting.history(setting.noise_multiplier)?;
    Ok((charged.len(), charged.iter().filter(|history| **history != expected).count()))
}

/// What is seen of a run without reading it.
#[derive(Debug, PartialEq)]
struct Shape {
    sizes: Vec<usize>,
    charged: Vec<prdo_privacy::History>,
    models: Vec<usize>,
}

impl Shape {
    fn of(transcript: &Transcript) -> Self {
        Self {
            sizes: transcript.sizes.clone(),
            charged: transcript.charged.clone(),
            models: transcript.models.iter().map(Vec::len).collect(),
        }
    }
}

/// The victim's noise along the axes that no record pushes along, in units of the declared sensitivity.
fn silent_noise(transcript: &Transcript) -> Vec<f64> {
    transcript.queries().iter().flat_map(|rows| SILENT.map(|axis| rows[VICTIM][axis])).collect()
}

/// How many values two networks with secrets of their own from the operating system have in common. None should be.
pub fn in_common<S: Subject>(network: &Network<'_, S>) -> Result<(usize, usize), AuditError> {
    let mut noises = Vec::new();
    for _ in 0..2 {
        let secret = Secret::from_operating_system().map_err(|e| AuditError::Entropy(e.to_string()))?;
        let transcript = network.run(&Arc::new(secret), &vec![OTHER; network.setting().slots])?;
        noises.push(silent_noise(&transcript));
    }
    let common = noises[0].iter().zip(&noises[1]).filter(|(a, b)| (*a - *b).abs() < 1e-9).count();
    Ok((noises[0].len(), common))
}

/// How many runs [`between_runs`] makes.
const FRESH_RUNS: usize = 64;

/// The correlation of the victim's noise from run to run, each with a secret of its own from the operating system, in standard
/// errors: far from 0 where runs have a part of their noise in common.
pub fn between_runs<S: Subject>(network: &Network<'_, S>) -> Result<f64, AuditError> {
    let (slots, deviation) = (network.setting().slots, network.setting().answer_multiplier(VICTIM as u32));
    let (mut sum, mut count, mut before) = (0.0, 0.0, Vec::new());
    for _ in 0..FRESH_RUNS {
        let secret = Secret::from_operating_system().map_err(|e| AuditError::Entropy(e.to_string()))?;
        let noise = silent_noise(&network.run(&Arc::new(secret), &vec![OTHER; slots])?);
        for (a, b) in noise.iter().zip(&before) {
            sum += a * b / (deviation * deviation);
            count += 1.0;
        }
        before = noise;
    }
    Ok(sum / f64::max(count, 1.0).sqrt())
}
