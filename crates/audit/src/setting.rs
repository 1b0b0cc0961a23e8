//! What is run under audit: a method with its privacy settings, on a small ring.

use crate::error::{AuditError, refused};
use prdo_accounting::pairs::{Secrets, choose};
use prdo_accounting::{Accountant, Bounds, Event, History, Target};
use prdo_algorithm::graph::{Graph, Mixing, Weights};
use prdo_algorithm::methods::FINAL_MIXINGS;
use prdo_algorithm::methods::directions::{INTERVAL, RESTART};
use prdo_algorithm::{Asks, Method, Settings};
use prdo_privacy::{
    Batch, Batches, Clip, Clips, Gate, Ledger, Model, NodeShares, Noised, PairMechanism, PrivateRules, Query,
    Secret,
};
use std::sync::Arc;

pub const NODES: usize = 4;
/// Public slots of each node, the canary's among them.
pub const SLOTS: usize = 8;

#[derive(Clone, Debug)]
pub struct Setting {
    pub name: String,
    pub method: Method,
    pub settings: Settings,
    pub clip: Clip,
    pub noise_multiplier: f64,
    /// b₀ and b, out of `slots`.
    pub batches: (usize, usize),
    pub slots: usize,
    pub rounds: u32,
    /// δ at which ε is compared.
    pub delta: f64,
    /// Noise that cancels between the nodes, worth the noise multiplier against as many colluders as it names.
    pub pairs: Option<Arc<PairMechanism>>,
}

/// What an audit takes from a run.
#[derive(Clone, Debug)]
pub struct RunSetting {
    pub name: String,
    pub method: Method,
    pub settings: Settings,
    pub clip: (f64, f64),
    pub noise_multiplier: f64,
    /// The rates of the first release and of the others.
    pub rates: (f64, f64),
    pub rounds: u32,
    pub delta: f64,
    pub pairs: Option<RunPairs>,
}

/// What an audit takes from a run with noise in pairs.
#[derive(Clone, Copy, Debug)]
pub struct RunPairs {
    pub colluders: usize,
    /// (z_pair/z_own)².
    pub ratio: f64,
    /// Whether all pairs of nodes have a secret.
    pub complete: bool,
}

impl RunPairs {
    /// The most colluders that a ring of four can have, with secrets between all of them.
    const MOST_COLLUDERS: usize = NODES - 2;

    /// The same on the small ring, as far as it goes.
    fn small(self) -> Self {
        let colluders = self.colluders.min(Self::MOST_COLLUDERS);
        Self { colluders, complete: self.complete || colluders > 1, ..self }
    }
}

const MOST_SLOTS: usize = 64;

/// A method's settings for a run of so many rounds, without exchanges after the last one if that has no message.
fn over(method: Method, settings: &Settings, rounds: u32) -> Settings {
    let settings = settings.clone().over(rounds);
    match method.exchanges(&settings).is_silent(rounds.saturating_sub(1)) {
        true => settings.with(FINAL_MIXINGS.is(0.0)),
        false => settings,
    }
}

/// Slots and batch sizes whose rates are nearest to these.
fn small_rates((first, later): (f64, f64)) -> (usize, (usize, usize)) {
    let batch = |rate: f64, slots: usize| ((rate * slots as f64).round() as usize).clamp(1, slots);
    let off = |rate: f64, slots: usize| (batch(rate, slots) as f64 / (rate * slots as f64)).ln().abs();
    let error = |slots: &usize| ((off(first, *slots) + off(later, *slots)) * 1e9).round();
    // Of equally good ones the smallest.
    let best = (SLOTS..=MOST_SLOTS).min_by(|a, b| error(a).total_cmp(&error(b)));
    let slots = best.unwrap_or(SLOTS);
    (slots, (batch(first, slots), batch(later, slots)))
}

impl Setting {
    /// Every record in every round: exactly Gaussian differential privacy. ε = 4.38 at δ = 1e-5.
    pub fn every_record(method: Method) -> Result<Self, AuditError> {
        Self::small(method, "every record", (SLOTS, 4, 2.0))
    }

    /// Poisson batches at rate 1/4. ε = 8.08 at δ = 1e-5.
    pub fn sampled(method: Method) -> Result<Self, AuditError> {
        Self::small(method, "rate 1/4", (SLOTS / 4, 20, 1.0))
    }

    fn small(method: Method, name: &str, (batch, rounds, z): (usize, u32, f64)) -> Result<Self, AuditError> {
        Ok(Self {
            name: name.into(),
            method,
            settings: Settings::new(0.1).gamma(0.2).beta(0.8).with(RESTART.is(2.0)).with(INTERVAL.is(1.0)),
            clip: Clip::new(1.0, 0.5).map_err(refused("clip"))?,
            noise_multiplier: z,
            batches: (batch, batch),
            slots: SLOTS,
            rounds,
            delta: 1e-5,
            pairs: None,
        })
    }

    /// The same charges, with noise in pairs: own noise and shares that are worth as much against so many colluders, with secrets
    /// between all nodes or between neighbours.
    pub fn in_pairs(self, colluders: usize, ratio: f64, complete: bool) -> Result<Self, AuditError> {
        let ring = || Secrets::between(NODES, (0..NODES).map(|i| (i, (i + 1) % NODES)));
        let secrets = if complete { Secrets::complete(NODES) } else { ring() };
        let secrets = secrets.map_err(refused("pairs"))?;
        let choice = choose(self.noise_multiplier, &secrets, colluders, ratio).map_err(refused("pairs"))?;
        let mechanism = PairMechanism::new(choice.pairs, secrets, colluders).map_err(refused("pairs"))?;
        Ok(Self { name: format!("{}, pairs", self.name), pairs: Some(Arc::new(mechanism)), ..self })
    }

    /// Whether all nodes' releases have the same sensitivity, whatever their points: otherwise shares would not cancel.
    pub fn admits_pairs(&self) -> bool {
        (0..3).all(|round| self.method.asks(&self.settings, round).kappa().is_none())
    }

    /// The gate with its shares of a run, where noise is in pairs.
    pub fn with_shares<M: Model>(
        &self,
        gate: Gate<M, Noised>,
        node: u32,
        secret: &Secret,
    ) -> Result<Gate<M, Noised>, AuditError> {
        let Some(mechanism) = &self.pairs else { return Ok(gate) };
        let shares = NodeShares::simulated(Arc::clone(mechanism), node, secret).map_err(refused("pairs"))?;
        gate.with_shares(shares).map_err(refused("pairs"))
    }

    /// The deviation of a node's own noise, over the declared sensitivity.
    pub fn own_multiplier(&self) -> f64 {
        self.pairs.as_ref().map_or(self.noise_multiplier, |mechanism| mechanism.pairs().own())
    }

    /// The same of all noise in an answer of `node`, shares included.
    pub fn answer_multiplier(&self, node: u32) -> f64 {
        let Some(mechanism) = &self.pairs else { return self.noise_multiplier };
        let shares = mechanism.partners(node).len() as f64;
        mechanism.pairs().own().hypot(shares.sqrt() * mechanism.pairs().pair())
    }

    /// The settings of a real run on the small ring: the same method, clipping norms, noise and δ, rates as near to its
    /// own as few slots allow, and at most `most_rounds` of its rounds. Its claim is computed again.
    pub fn scaled(real: &RunSetting, most_rounds: u32) -> Result<Self, AuditError> {
        let (c_g, c_d) = real.clip;
        let (slots, batches) = small_rates(real.rates);
        let rounds = real.rounds.clamp(1, most_rounds.max(1));
        let setting = Self {
            name: real.name.clone(),
            method: real.method,
            settings: over(real.method, &real.settings, rounds),
            clip: Clip::new(c_g, c_d).map_err(refused("clip"))?,
            noise_multiplier: real.noise_multiplier,
            batches,
            slots,
            rounds,
            delta: real.delta,
            pairs: None,
        };
        match real.pairs.map(RunPairs::small) {
            None => Ok(setting),
            Some(RunPairs { colluders, ratio, complete }) => setting.in_pairs(colluders, ratio, complete),
        }
    }

    /// The same over so many rounds.
    pub fn lasting(&self, rounds: u32) -> Self {
        Self { rounds, settings: over(self.method, &self.settings, rounds), ..self.clone() }
    }

    fn batch(&self, round: u32) -> Batch {
        if round == 0 && self.method.card().first_batch { Batch::First } else { Batch::Later }
    }

    pub fn batch_size(&self, round: u32) -> usize {
        self.sizes().size(self.batch(round))
    }

    /// The probability with which a record is in the batch of a round.
    pub fn rate(&self, round: u32) -> f64 {
        self.batch_size(round) as f64 / self.slots as f64
    }

    /// The declared sensitivity of a query's sum, by the formula of what the method announces for the round: C_g,
    /// γC_g + (1−γ)C_Δ, with κ times how far the query's points are apart for C_Δ where it is tied to that, or C₂.
    pub fn scale(&self, round: u32, query: &Query<'_, Noised>) -> f64 {
        let (c_g, c_d) = (self.clip.gradient(), self.clip.difference());
        match self.method.asks(&self.settings, round) {
            Asks::Gradient => c_g,
            Asks::Recursive { gamma, clips: Clips::Movement { kappa } } if gamma < 1.0 => {
                let previous = query.difference().map_or(&[][..], |(previous, _)| previous.as_slice());
                let squares = query.at().as_slice().iter().zip(previous).map(|(a, b)| (a - b) * (a - b));
                let least = (1e-12 * c_g).clamp(1e-10, 1e10);
                gamma * c_g + (1.0 - gamma) * (kappa * squares.sum::<f64>().sqrt()).clamp(least, 1e10)
            }
            Asks::Recursive { gamma, .. } => gamma * c_g + (1.0 - gamma) * c_d,
            Asks::Scaled { clip } => clip,
        }
    }

    /// What an answer of a round is multiplied by to be in units of its declared sensitivity.
    pub fn unit(&self, round: u32, query: &Query<'_, Noised>) -> f64 {
        self.batch_size(round) as f64 / self.scale(round, query)
    }

    fn sizes(&self) -> Batches {
        Batches::new(self.batches.0, self.batches.1)
    }

    /// Everything that one node releases, as the gate charges it, with another noise multiplier.
    pub fn history(&self, noise_multiplier: f64) -> Result<History, AuditError> {
        let event = |round| {
            let rate = self.sizes().rate(self.batch(round), self.slots);
            Event::sampled_gaussian(rate, noise_multiplier)
        };
        let later = u64::from(self.rounds.saturating_sub(1));
        Ok(History::new().and(event(0)?, 1).and(event(1)?, later))
    }

    pub fn claimed(&self) -> Result<Bounds, AuditError> {
        Ok(Accountant::default().epsilon(&self.history(self.noise_multiplier)?, self.delta)?)
    }

    pub fn mixing(&self) -> Result<Mixing, AuditError> {
        let ring = Graph::ring(NODES).map_err(refused("graph"))?;
        Mixing::new(&ring, Weights::Metropolis, true).map_err(refused("weights"))
    }

    /// An accountant that knows that the whole run is within the returned budget.
    pub fn accountant(&self) -> Result<(Arc<Accountant>, Target), AuditError> {
        let budget = Target::new(self.claimed()?.upper * (1.0 + 1e-6) + 1e-9, self.delta)?;
        let accountant = Arc::new(Accountant::default());
        accountant.prove(&self.history(self.noise_multiplier)?, &budget)?;
        Ok((accountant, budget))
    }

    pub fn rules(&self, ledger: Ledger) -> PrivateRules {
        PrivateRules {
            batches: self.sizes(),
            clip: self.clip,
            noise_multiplier: self.noise_multiplier,
            ledger,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_rates_are_near_the_real_ones() {
        assert_eq!(small_rates((1.0, 1.0)), (8, (8, 8)));
        assert_eq!(small_rates((100.0 / 4500.0, 100.0 / 4500.0)), (45, (1, 1)));
        assert_eq!(small_rates((0.5, 0.1)), (10, (5, 1)));
        assert_eq!(small_rates((0.05_f64.next_up(), 0.05_f64.next_up())), (20, (1, 1)));
        assert_eq!(small_rates((1e-6, 1e-6)), (64, (1, 1)));
    }

    #[test]
    fn the_two_configurations_have_the_published_epsilon() {
        let claimed = |setting: Setting| setting.claimed().unwrap().upper;
        assert!((claimed(Setting::every_record(Method::Prdo).unwrap()) - 4.38).abs() < 0.005);
        assert!((claimed(Setting::sampled(Method::Prdo).unwrap()) - 8.08).abs() < 0.005);
    }
}
