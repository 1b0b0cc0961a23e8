//! Noise that cancels between nodes: from what a run asks to the gates' mechanism, and what it promises against whom.

use crate::error::RunError;
use prdo_accounting::pairs::{Pairs, PairsError, Secrets};
use prdo_accounting::{Accountant, AccountingError, Event, History};
use prdo_algorithm::graph::Mixings;
use prdo_algorithm::{Method, Settings};
use prdo_privacy::{PairMechanism, PairSettings};
use prdo_runfile::Key;
use prdo_store::{EpsilonAgainst, Guarantee, OwnClip, PairFacts};

/// Coalitions of every size are listed for up to so many nodes; beyond, those about as large as the agreed ones.
const MOST_LISTED: usize = 100;

/// The two parts of the noise of a run that is charged with multiplier `z`.
pub fn mechanism(
    asked: &PairSettings,
    z: f64,
    (method, settings, rounds): (Method, &Settings, u32),
    mixing: &Mixings,
) -> Result<PairMechanism, RunError> {
    if let Some(OwnClip::Movement { .. }) = OwnClip::of(method, settings, rounds) {
        let allowed = "\"independent\" where differences are clipped at a multiple of the movement: their sensitivity differs \
                       between nodes, so that shares would not cancel";
        return Err(RunError::range(Key::PrivacyNoise, "\"pairs\"", allowed));
    }
    let support = mixing.support();
    let nodes = mixing.nodes();
    let links = (0..nodes)
        .flat_map(|i| support.neighbours(i).iter().map(move |j| (i, *j as usize)).collect::<Vec<_>>());
    Ok(asked.mechanism(z, (nodes, links), method.exchanges(settings).per_round)?)
}

/// What the mechanism is worth to coalitions of every size, in a run of these releases after `spent`.
pub fn facts(
    mechanism: &PairMechanism,
    guarantee: &Guarantee,
    rounds: u32,
    spent: &History,
) -> Result<PairFacts, RunError> {
    let (pairs, secrets) = (mechanism.pairs(), mechanism.secrets());
    let accountant = Accountant::new(guarantee.accounting);
    let mut epsilon_by_colluders = Vec::new();
    for (colluders, multiplier) in by_size(pairs, secrets, mechanism.colluders())? {
        // Against the agreed ones the run is charged with no more than they have.
        let epsilon = match colluders == mechanism.colluders() {
            true => Some(guarantee.epsilon),
            false => epsilon(&accountant, guarantee, multiplier, (rounds, spent))?,
        };
        epsilon_by_colluders.push(EpsilonAgainst { colluders, epsilon });
    }
    Ok(PairFacts {
        own_multiplier: pairs.own(),
        pair_multiplier: pairs.pair(),
        gain: guarantee.noise_multiplier / pairs.own(),
        colluders: mechanism.colluders(),
        complete: secrets.is_complete(),
        epsilon_by_colluders,
    })
}

/// The least multipliers by size of the coalition.
fn by_size(pairs: Pairs, secrets: &Secrets, colluders: usize) -> Result<Vec<(usize, f64)>, PairsError> {
    let nodes = secrets.nodes();
    if nodes <= MOST_LISTED {
        let all = pairs.by_colluders(secrets)?;
        return Ok(all.into_iter().map(|worst| (worst.colluders, worst.multiplier)).collect());
    }
    let near = (0..nodes - 1).filter(|size| *size < 4 || size.abs_diff(colluders) < 3);
    let size = |size| Ok((size, pairs.worst(secrets, size)?.multiplier));
    near.chain([nodes - 1]).map(size).collect()
}

/// `None` where there is no bound.
fn epsilon(
    accountant: &Accountant,
    guarantee: &Guarantee,
    multiplier: f64,
    (rounds, spent): (u32, &History),
) -> Result<Option<f64>, AccountingError> {
    let (least, most) = Event::NOISE_MULTIPLIER_RANGE;
    if multiplier < least {
        return Ok(None);
    }
    let other = Guarantee { noise_multiplier: multiplier.min(most), ..*guarantee };
    let mut history = spent.clone();
    history.append(&other.releases(rounds)?);
    let bound = accountant.epsilon(&history, guarantee.delta)?.upper;
    Ok(Some(bound).filter(|bound| bound.is_finite()))
}
