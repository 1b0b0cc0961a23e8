//! Shares, value by value, where noise is in pairs.
//!
//! Two gates with the same secret and no record have the same own noise. With shares of two other runs the difference of what they
//! release *is* the difference of these shares, which is computed here as both ends of each pair should: with the keys of this run
//! and round, at the right sign, times z_pair and the declared sensitivity. The sum is rounded once on either side, so the two
//! differ by less than a step of the grid; if each share were rounded by itself, by several.

use crate::chosen_gradients::ChosenGradients;
use crate::control;
use crate::error::{AuditError, refused};
use crate::likelihood::mixed;
use crate::record_play::{Precision, walk};
use crate::setting::{NODES, Setting};
use crate::subject::Subject;
use crate::view::Viewer;
use prdo_accounting::{Accountant, Method as Accounting, Target};
use prdo_algorithm::Node;
use prdo_privacy::{Gate, Ledger, Noised, PairMechanism, Purpose, Secret, Shard};
use rayon::prelude::*;
use std::sync::Arc;

/// The most by which two releases may differ from the difference of their shares, in steps of the grid: half a step on either
/// side, and what the arithmetic here adds.
pub const STEPS: f64 = 1.01;
const MOST_DIMENSIONS: usize = 64;

/// The largest deviation, in steps of the grid, over so many pairs of releases; `None` where noise is not in pairs.
pub fn share_play<S: Subject>(
    subject: &S,
    setting: &Setting,
    pairs: usize,
    seed: u64,
) -> Result<Option<f64>, AuditError> {
    let Some(mechanism) = setting.pairs.as_deref() else { return Ok(None) };
    let viewer = Viewer::new(setting)?;
    let accountant = Arc::new(Accountant::new(Accounting::Renyi));
    let budget = Target::new(1e12, setting.delta)?;
    accountant.prove(&setting.history(setting.noise_multiplier)?, &budget)?;
    let one = |number: usize| {
        let seed = mixed(seed ^ 2, number as u64);
        let mut stream = Secret::from_seed(seed).stream(Purpose::Data, 0, 0);
        let dimension = 1 + number % MOST_DIMENSIONS;
        let round = (number as u32 % 3).min(setting.rounds.saturating_sub(1));
        let query = walk(setting, dimension, round, &mut stream)?;
        let ledger = || Ledger::new(Arc::clone(&accountant), budget);
        let play = Play { subject, setting, node: number % NODES, round, query, dimension };
        play.deviation(mechanism, &viewer, seed, &ledger)
    };
    let found = (0..pairs).into_par_iter().map(one).collect::<Result<Vec<f64>, AuditError>>()?;
    // Not `max`, which would lose a NaN.
    Ok(Some(found.into_iter().fold(0.0, |most, x| if x.is_nan() || x > most { x } else { most })))
}

struct Play<'a, S: Subject> {
    subject: &'a S,
    setting: &'a Setting,
    node: usize,
    round: u32,
    query: Box<dyn Node<Noised>>,
    dimension: usize,
}

impl<S: Subject> Play<'_, S> {
    fn deviation(
        &self,
        mechanism: &PairMechanism,
        viewer: &Viewer,
        seed: u64,
        ledger: &dyn Fn() -> Ledger,
    ) -> Result<f64, AuditError> {
        let own = Arc::new(Secret::from_seed(mixed(seed, 0)));
        let runs = [1, 2].map(|run| Secret::from_seed(mixed(seed, run)));
        let (scale, z) = (self.setting.scale(self.round, &self.query.query()), self.setting.noise_multiplier);
        let declared = Precision::Double.declared(scale, z, self.dimension);
        let steps_of_share = mechanism.pairs().pair() * declared / control::grid(scale, z);
        let steps_of_value = self.setting.batch_size(self.round) as f64 / control::grid(scale, z);
        let mut difference = vec![0.0; self.dimension];
        for (run, sign) in runs.iter().zip([1.0, -1.0]) {
            let released = self.release(&own, run, ledger())?;
            let shares = viewer.shares(run, self.dimension).nth(self.round as usize).unwrap_or_default();
            for (j, (difference, value)) in difference.iter_mut().zip(released).enumerate() {
                let ends = mechanism.secrets().pairs().zip(&shares);
                let at =
                    |(a, b): (usize, usize)| f64::from(i8::from(a == self.node) - i8::from(b == self.node));
                let share: f64 = ends.map(|(secret, share)| at(secret) * share[j]).sum();
                *difference += sign * (value * steps_of_value - share * steps_of_share);
            }
        }
        Ok(difference
            .into_iter()
            .fold(0.0, |most, d| if d.is_nan() || d.abs() > most { d.abs() } else { most }))
    }

    /// What a fresh gate over no record releases, with own noise from one secret and shares from another.
    fn release(&self, own: &Arc<Secret>, shares: &Secret, ledger: Ledger) -> Result<Vec<f64>, AuditError> {
        let (node, round) = (self.node, self.round);
        let now = self.query.model().as_slice().first().map_or(0, |x| x.to_bits());
        let model = Arc::new(ChosenGradients { dimension: self.dimension, now });
        let shard = Shard::seal_in_slots(Vec::new(), self.setting.slots).map_err(refused("slots"))?;
        let rules = self.setting.rules(ledger);
        let gate =
            Gate::private(node as u32, model, shard, Arc::clone(own), rules).map_err(refused("batch"))?;
        let mut gate = self.subject.gate(self.setting.with_shares(gate, node as u32, shares)?);
        let answer = gate.answer(round, &self.query.query());
        let answer = answer.map_err(|why| AuditError::Stopped { round, why: why.to_string() })?;
        Ok(answer.released.as_slice().to_vec())
    }
}
