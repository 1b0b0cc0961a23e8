//! What is measured: a network and random images behind gates, asked at two points that are near each other.

use super::super::error::Error;
use prdo::accounting::{Accountant, Method, Target};
use prdo::data::Table;
use prdo::error::RunError;
use prdo::network::{Law, Network, Normalisation, Shape, Spec};
use prdo::privacy::{
    Batches, Clip, Exposed, Gate, GateError, Ledger, NodeShares, Noised, OpenRules, PairSettings,
    PrivateRules, Protection, Query, Released, Sampling, Secret, SecretsOf, Shard, Start,
};
use prdo_kernels::Level;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

/// The paper's clipping norms and γ.
const CLIP: (f64, f64) = (1.0, 1e-3);
const GAMMA: f64 = 0.05;
/// Noise like the paper's; drawing it takes as long whatever it is.
const NOISE: f64 = 2.464143;
/// How far apart the two points are in each coordinate: about a step of training.
const STEP: f64 = 1e-5;
const CLASSES: usize = 10;

/// The model, and the records that its gate reads.
type Sealed = (Arc<Network<u8>>, Shard<Table<u8>>);

pub struct Subject {
    pub spec: Spec,
    images: Table<u8>,
    batch: usize,
}

impl Subject {
    /// The network of this name and `batch` random images.
    pub fn new(model: &str, batch: usize) -> Result<Self, Error> {
        let input = if model == "lenet" { Shape::new(1, 28, 28) } else { Shape::new(3, 32, 32) };
        let spec =
            Spec::named(model, input, CLASSES).ok_or_else(|| Error::UnknownNetwork(model.to_string()))??;
        let mut pixels = vec![0_u8; batch * input.size()];
        blake3::Hasher::new().finalize_xof().fill(&mut pixels);
        let labels = (0..batch).map(|r| (r % CLASSES) as f64).collect();
        let images = Table::new(input.size(), pixels, labels).map_err(RunError::from)?;
        Ok(Self { spec, images, batch })
    }

    /// Bytes of the records.
    pub fn bytes(&self) -> usize {
        self.images.features().len() + std::mem::size_of_val(self.images.labels())
    }

    /// Clipped rounds without noise over the first `records` of the batch; 0: every slot is empty.
    pub fn open(&self, level: Level, records: usize) -> Result<Rounds<Exposed>, Error> {
        let (model, shard) = self.sealed(level, records)?;
        let rules = OpenRules {
            batches: Batches::new(shard.slots(), shard.slots()),
            sampling: Sampling::Full,
            clip: Some(clip()?),
        };
        let gate = Gate::exposed(0, model, shard, secret(), rules).map_err(RunError::from)?;
        Ok(Rounds::new(gate, &self.spec))
    }

    /// The same with noise: every slot is sampled with probability 1.
    pub fn private(&self, level: Level, records: usize) -> Result<Rounds<Noised>, Error> {
        let (model, shard) = self.sealed(level, records)?;
        // A budget that no measurement exhausts.
        let budget = Target::new(1e12, 1e-5).map_err(RunError::from)?;
        let rules = PrivateRules {
            batches: Batches::new(shard.slots(), shard.slots()),
            clip: clip()?,
            noise_multiplier: NOISE,
            ledger: Ledger::new(Arc::new(Accountant::new(Method::Renyi)), budget),
        };
        let gate = Gate::private(0, model, shard, secret(), rules).map_err(RunError::from)?;
        Ok(Rounds::new(gate, &self.spec))
    }

    /// The same with noise in pairs: nine shares beside the own noise, as one of ten nodes draws them.
    pub fn paired(&self, level: Level) -> Result<Rounds<Noised>, Error> {
        let pairs = PairSettings { colluders: 1, ratio: None, secrets: SecretsOf::Complete };
        let mechanism = pairs.mechanism(NOISE, (10, []), 1).map_err(RunError::from)?;
        let shares = NodeShares::simulated(Arc::new(mechanism), 0, &secret());
        let shares = shares.map_err(|e| RunError::from(GateError::from(e)))?;
        let Rounds { gate, at, previous, round } = self.private(level, 0)?;
        let gate = gate.with_shares(shares).map_err(RunError::from)?;
        Ok(Rounds { gate, at, previous, round })
    }

    fn sealed(&self, level: Level, records: usize) -> Result<Sealed, Error> {
        let first: Vec<u32> = (0..self.batch.min(records) as u32).collect();
        let slots = if records == 0 { self.batch } else { first.len() };
        let shard = Shard::seal_in_slots(self.images.select(&first), slots).map_err(RunError::from)?;
        let channels = self.spec.input().channels;
        let normalisation = Normalisation::new(&vec![0.5; channels], &vec![0.25; channels]);
        Ok((Arc::new(Network::with_level(self.spec.clone(), normalisation, level)), shard))
    }
}

fn clip() -> Result<Clip, Error> {
    Ok(Clip::new(CLIP.0, CLIP.1).map_err(RunError::from)?)
}

fn secret() -> Arc<Secret> {
    Arc::new(Secret::from_seed(1))
}

/// A gate that is asked round after round.
pub struct Rounds<P: Protection> {
    gate: Gate<Network<u8>, P>,
    at: Released<P>,
    previous: Released<P>,
    round: u32,
}

impl<P: Protection> Rounds<P> {
    fn new(gate: Gate<Network<u8>, P>, spec: &Spec) -> Self {
        let at = Released::start(&spec.start(Law::default(), 1));
        let step = Released::start(&Start::normal(spec.parameters(), STEP, 2));
        let previous = Released::combine([(1.0, &at), (1.0, &step)]);
        Self { gate, at, previous, round: 0 }
    }

    /// Seconds of a round of clipped gradients.
    pub fn plain(&mut self) -> Result<f64, GateError> {
        time(&mut self.gate, &mut self.round, &Query::gradient(&self.at))
    }

    /// Seconds of a round of the difference query: two gradients per record.
    pub fn difference(&mut self) -> Result<f64, GateError> {
        time(&mut self.gate, &mut self.round, &Query::recursive(&self.at, &self.previous, GAMMA))
    }
}

fn time<P: Protection>(
    gate: &mut Gate<Network<u8>, P>,
    round: &mut u32,
    query: &Query<'_, P>,
) -> Result<f64, GateError> {
    let started = Instant::now();
    black_box(gate.answer(*round, query)?);
    let seconds = started.elapsed().as_secs_f64();
    *round += 1;
    Ok(seconds)
}
