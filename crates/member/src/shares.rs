//! Noise in pairs: from the share keys that all members signed to what this one draws its shares from.

use crate::{Membership, NodeError};
use prdo_peer::home::{Home, HomeError, SHARES, Saved};
use prdo_peer::share_key::{ShareKey, ShareKeyError, ShareSecret};
use prdo_privacy::{NodeShares, PairKey, PairMechanism, Secret, ShareKeys};
use prdo_store::names::KEPT;
use std::path::Path;
use std::sync::Arc;

/// Where a node's random draws come from.
pub enum Draws {
    /// A secret of the operating system, and share keys that nobody else has.
    Secret(Secret),
    /// A seed, for tests: all draws, shares too, are the simulator's.
    Seeded(Secret),
}

impl Draws {
    pub fn into_secret(self) -> Secret {
        match self {
            Self::Secret(secret) | Self::Seeded(secret) => secret,
        }
    }
}

/// Refuses a member whose share key is not there, unless its folder has taken it over already. Nothing is written.
pub fn check(membership: &Membership, key: &Path, home: Option<&Path>) -> Result<(), NodeError> {
    let has_begun = |home: &Path| SHARES.iter().any(|name| home.join(KEPT).join(name).is_file());
    if membership.planned.pairs.is_none() || home.is_some_and(has_begun) {
        return Ok(());
    }
    let (terms, signed) = (membership.agreement.hash(), own_key(membership)?);
    ShareSecret::read_signed(key, terms, &signed)?;
    Ok(())
}

/// What the gate draws shares from: the keys that the folder has, or those of the first round, which it then has. The
/// private half of the share key is removed as soon as they are kept.
///
/// # Guarantee
/// A share key serves one run in one folder: it is not there for another. The keys of a round depend on the secret of the two
/// members, on the hash of the terms and of all share keys, and on who the two are; keys from which earlier shares could be
/// drawn are neither in the folder nor beside the member's key.
pub fn take(
    membership: &Membership,
    (key, draws): (&Path, &Draws),
    (home, saved): (&mut Home, &Saved),
    wrong: impl Fn(HomeError) -> NodeError,
) -> Result<Option<NodeShares>, NodeError> {
    let Some(mechanism) = &membership.planned.pairs else { return Ok(None) };
    let keys = match home.share_keys() {
        Some(keys) => keys.clone(),
        None if saved.state.is_some() || !saved.outgoing.is_empty() => {
            let what = "they are gone or damaged".into();
            return Err(wrong(HomeError::ShareKeys { what }));
        }
        None => {
            let keys = first(membership, mechanism, key, draws)?;
            home.begin_shares(keys.clone()).map_err(wrong)?;
            keys
        }
    };
    ShareSecret::forget(key, membership.agreement.hash())?;
    Ok(Some(NodeShares::new(Arc::clone(mechanism), membership.number as u32, keys)?))
}

/// The keys of the first round.
fn first(
    membership: &Membership,
    mechanism: &PairMechanism,
    key: &Path,
    draws: &Draws,
) -> Result<ShareKeys, NodeError> {
    let (agreement, me) = (&membership.agreement, membership.number as u32);
    let own = ShareSecret::read_signed(key, agreement.hash(), &own_key(membership)?)?;
    if let Draws::Seeded(secret) = draws {
        return Ok(ShareKeys::simulated(mechanism, me, secret));
    }
    let run = agreement.run_hash();
    let with = |partner: u32| {
        let shared = own.agree(&share_key(membership, partner as usize)?)?;
        Ok((partner, PairKey::agreed(&shared, &run, me, partner)))
    };
    let keys: Result<Vec<_>, NodeError> = mechanism.partners(me).into_iter().map(with).collect();
    Ok(ShareKeys::new(0, keys?))
}

fn own_key(membership: &Membership) -> Result<ShareKey, NodeError> {
    share_key(membership, membership.number)
}

/// The share key that a member signed. All are there when all have signed.
fn share_key(membership: &Membership, number: usize) -> Result<ShareKey, NodeError> {
    let signed = membership.agreement.share_keys().get(number).copied().flatten();
    let missing = || ShareKeyError::Absent { path: format!("of member {number}") };
    Ok(signed.ok_or_else(missing)?)
}
