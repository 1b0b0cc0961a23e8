//! Bugs that are planted on purpose, one at a time, to see that the audit (`crates/audit`) catches them.
//!
//! There are none in anything that is shipped: the bugs are compiled only with the feature `planted-bugs`, which nothing
//! but the audit's own tests asks for, **and** with debug assertions, which no release build has. Everywhere else
//! `Planted` has no size and its functions give back what they are given.

use crate::clip::Clip;
use crate::grid::Grid;
use crate::ledger::{Ledger, LedgerError, Receipt};
use crate::pairs::NodeShares;
use crate::protection::Protection;
use crate::query::Query;
use crate::sampling::Sampling;
use prdo_accounting::Event;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Planted {
    #[cfg(all(feature = "planted-bugs", debug_assertions))]
    pub(crate) bug: Option<Bug>,
}

/// Whether this build can have planted bugs at all.
pub const POSSIBLE: bool = cfg!(all(feature = "planted-bugs", debug_assertions));

#[cfg(not(all(feature = "planted-bugs", debug_assertions)))]
impl Planted {
    #[inline]
    pub(crate) fn sensitivity<P: Protection>(
        self,
        sensitivity: f64,
        _: &Query<'_, P>,
        _: &Clip,
        _: u32,
        _: f64,
    ) -> f64 {
        sensitivity
    }

    #[inline]
    pub(crate) fn sampling(self, sampling: Sampling, size: usize, _: usize) -> (Sampling, usize) {
        (sampling, size)
    }

    /// `drawn`: how many records were drawn, over the public size.
    #[inline]
    pub(crate) fn clip<P: Protection>(self, clip: Clip, _: &Query<'_, P>, _: f64) -> Clip {
        clip
    }

    /// The sum before its noise, and after it.
    #[inline]
    pub(crate) fn sum<P: Protection>(self, _: &mut [i64], _: Grid, _: &Query<'_, P>, _: (&Clip, usize)) {}

    #[inline]
    pub(crate) fn noised<P: Protection>(self, _: &mut [i64], _: &Query<'_, P>) {}

    /// Whose noise it is: node and round.
    #[inline]
    pub(crate) fn stream(self, node: u32, round: u32) -> (u32, u32) {
        (node, round)
    }

    /// What the sum is divided by, given the public size, how many were drawn, and the rate times the records there are.
    #[inline]
    pub(crate) fn divisor(self, size: usize, _: usize, _: f64) -> f64 {
        size as f64
    }

    #[inline]
    pub(crate) fn charge(
        self,
        ledger: &mut Ledger,
        round: u32,
        event: Event,
    ) -> Result<Receipt, LedgerError> {
        ledger.charge(round, event)
    }

    /// Of which round the keys of shares are.
    #[inline]
    pub(crate) fn keys_of(self, round: u64) -> u64 {
        round
    }

    /// With which sign a node has a share.
    #[inline]
    pub(crate) fn sign(self, sign: f64) -> f64 {
        sign
    }

    /// The multipliers of own noise and of a share.
    #[inline]
    pub(crate) fn parts(self, shares: &NodeShares) -> (f64, f64) {
        (shares.mechanism().pairs().own(), shares.mechanism().pairs().pair())
    }

    /// Own noise, and then each share, before they are added.
    #[inline]
    pub(crate) fn addend(self, noise: f64, _: Grid) -> f64 {
        noise
    }
}

#[cfg(all(feature = "planted-bugs", debug_assertions))]
pub use bugs::{Bug, Need};

#[cfg(all(feature = "planted-bugs", debug_assertions))]
mod bugs {
    use super::*;
    use crate::clip;
    use crate::query::Clips;

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Bug {
        /// The noise of later rounds is multiplied by γ once more.
        ExtraGamma,
        /// Round 0 has the noise of later rounds, z·S_γ (with the paper's γ = 0.1).
        LaterScaleAtStart,
        /// The difference term is missing from the sensitivity.
        NoDifferenceInScale,
        DifferenceUnclipped,
        /// The bound of a movement is computed from how many records were drawn, and so is its noise.
        MovementFromRecords,
        /// The noise of scaled coordinates is drawn in the gradient's, and scaled with it.
        NoiseInOtherCoordinates,
        /// Gradients are clipped before they are scaled.
        ClippedInOtherCoordinates,
        /// What is sent in few bits is rounded before the noise, which is not enlarged for it.
        CompressedBeforeNoise,
        /// The average is clipped instead of each record.
        ClipAfterAveraging,
        /// Records are sampled twice as often as is charged.
        RateDoubled,
        FixedSizeBatch,
        NoNoiseAtStart,
        /// Every round has the noise of round 0.
        NoiseReused,
        /// Every node has the noise of node 0.
        NoiseShared,
        /// The sum is divided by how many records were drawn.
        RealisedSize,
        /// The sum is divided by the rate times the number of records the node holds.
        OwnSize,
        /// After a restart a round is released again with fresh noise (planted in the peer's session).
        SecondRelease,
        /// Noise and batches come from a fixed seed.
        FixedSeed,
        NoiseOverRootTwo,
        NoiseMinusTenPercent,
        NoiseMinusFivePercent,
        /// Every round has the shares of round 0.
        SharesReused,
        /// Both ends of a pair add their share.
        SharesOfOneSign,
        /// Every run has the same shares.
        SharesOfAnotherRun,
        /// Noise is chosen against outsiders alone, whatever coalition is charged for.
        CoalitionForgotten,
        NoOwnNoise,
        /// Own noise and every share are rounded by themselves, and then added.
        SharesRounded,
        /// Every second round is taken for an exchange of the one before it, and not charged.
        RoundsAsExchanges,
    }

    impl Bug {
        pub const ALL: [Bug; 28] = [
            Bug::ExtraGamma,
            Bug::LaterScaleAtStart,
            Bug::NoDifferenceInScale,
            Bug::DifferenceUnclipped,
            Bug::MovementFromRecords,
            Bug::NoiseInOtherCoordinates,
            Bug::ClippedInOtherCoordinates,
            Bug::CompressedBeforeNoise,
            Bug::ClipAfterAveraging,
            Bug::RateDoubled,
            Bug::FixedSizeBatch,
            Bug::NoNoiseAtStart,
            Bug::NoiseReused,
            Bug::NoiseShared,
            Bug::RealisedSize,
            Bug::OwnSize,
            Bug::SecondRelease,
            Bug::FixedSeed,
            Bug::NoiseOverRootTwo,
            Bug::NoiseMinusTenPercent,
            Bug::NoiseMinusFivePercent,
            Bug::SharesReused,
            Bug::SharesOfOneSign,
            Bug::SharesOfAnotherRun,
            Bug::CoalitionForgotten,
            Bug::NoOwnNoise,
            Bug::SharesRounded,
            Bug::RoundsAsExchanges,
        ];

        /// What a method must ask for to have it; `None`: anything.
        pub fn needs(self) -> Option<Need> {
            use Bug::*;
            match self {
                ExtraGamma | LaterScaleAtStart | NoDifferenceInScale | DifferenceUnclipped => {
                    Some(Need::Differences)
                }
                MovementFromRecords => Some(Need::Movement),
                NoiseInOtherCoordinates | ClippedInOtherCoordinates => Some(Need::Scaled),
                SharesReused | SharesOfOneSign | SharesOfAnotherRun | CoalitionForgotten | NoOwnNoise
                | SharesRounded => Some(Need::Pairs),
                _ => None,
            }
        }
    }

    /// What only some methods ask for.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Need {
        Differences,
        /// Differences that are clipped at a multiple of the movement.
        Movement,
        /// Gradients in scaled coordinates.
        Scaled,
        /// Noise in pairs.
        Pairs,
    }

    fn is_moved<P: Protection>(query: &Query<'_, P>) -> bool {
        query.difference.is_some() && matches!(query.clips, Clips::Movement { .. })
    }

    /// Multiplies steps by the scale of their coordinates, or divides them by it.
    fn rescale<P: Protection>(sum: &mut [i64], query: &Query<'_, P>, divide: bool) {
        let scales = query.scaled.iter().flat_map(|scaled| scaled.by.as_slice());
        for (steps, by) in sum.iter_mut().zip(scales) {
            *steps = (*steps as f64 * if divide { 1.0 / by } else { *by }).round() as i64;
        }
    }

    impl Planted {
        pub(crate) fn sensitivity<P: Protection>(
            self,
            sensitivity: f64,
            query: &Query<'_, P>,
            clip: &Clip,
            round: u32,
            drawn: f64,
        ) -> f64 {
            let (gamma, later) = (query.gradient_weight, query.difference.is_some());
            match self.bug {
                Some(Bug::ExtraGamma) if later => sensitivity * gamma,
                Some(Bug::LaterScaleAtStart) if round == 0 => 0.1 * clip.gradient() + 0.9 * clip.difference(),
                Some(Bug::NoDifferenceInScale) if later => gamma * clip.gradient(),
                Some(Bug::MovementFromRecords) if is_moved(query) => sensitivity * (0.5 + drawn),
                Some(Bug::NoNoiseAtStart) if round == 0 => 0.0,
                Some(Bug::NoiseOverRootTwo) => sensitivity / 2.0_f64.sqrt(),
                Some(Bug::NoiseMinusTenPercent) => 0.9 * sensitivity,
                Some(Bug::NoiseMinusFivePercent) => 0.95 * sensitivity,
                _ => sensitivity,
            }
        }

        pub(crate) fn sampling(self, sampling: Sampling, size: usize, slots: usize) -> (Sampling, usize) {
            match self.bug {
                Some(Bug::RateDoubled) => (sampling, (2 * size).min(slots)),
                Some(Bug::FixedSizeBatch) => (Sampling::WithoutReplacement, size),
                _ => (sampling, size),
            }
        }

        pub(crate) fn clip<P: Protection>(self, clip: Clip, query: &Query<'_, P>, drawn: f64) -> Clip {
            let changed = match self.bug {
                Some(Bug::MovementFromRecords) if is_moved(query) => {
                    Clip::new(clip.gradient(), clip.difference() * (0.5 + drawn))
                }
                Some(Bug::ClippedInOtherCoordinates) => match query.scaled {
                    Some(scaled) => {
                        let least = scaled.by.as_slice().iter().fold(f64::INFINITY, |a, b| a.min(*b));
                        Clip::new(clip.gradient() / least, clip.difference())
                    }
                    None => return clip,
                },
                Some(Bug::DifferenceUnclipped) => Clip::new(clip.gradient(), 1e100),
                Some(Bug::ClipAfterAveraging) => Clip::new(1e100, 1e100),
                _ => return clip,
            };
            changed.unwrap_or(clip)
        }

        pub(crate) fn sum<P: Protection>(
            self,
            sum: &mut [i64],
            grid: Grid,
            query: &Query<'_, P>,
            (clip, size): (&Clip, usize),
        ) {
            let scale = query.scale(clip);
            match self.bug {
                Some(Bug::ClipAfterAveraging) => {
                    let values: Vec<f64> = sum.iter().map(|steps| grid.value(*steps)).collect();
                    let norm = clip::norm(&values).unwrap_or(0.0);
                    let factor = clip::factor(1.0, norm, size as f64 * scale);
                    sum.iter_mut().zip(values).for_each(|(steps, value)| *steps = grid.round(factor * value));
                }
                Some(Bug::CompressedBeforeNoise) => {
                    for steps in sum {
                        *steps = grid.round((grid.value(*steps) / scale).round() * scale);
                    }
                }
                Some(Bug::NoiseInOtherCoordinates) => rescale(sum, query, false),
                _ => {}
            }
        }

        pub(crate) fn noised<P: Protection>(self, sum: &mut [i64], query: &Query<'_, P>) {
            if self.bug == Some(Bug::NoiseInOtherCoordinates) {
                rescale(sum, query, true);
            }
        }

        pub(crate) fn stream(self, node: u32, round: u32) -> (u32, u32) {
            match self.bug {
                Some(Bug::NoiseReused) => (node, 0),
                Some(Bug::NoiseShared) => (0, round),
                _ => (node, round),
            }
        }

        pub(crate) fn divisor(self, size: usize, drawn: usize, own: f64) -> f64 {
            match self.bug {
                Some(Bug::RealisedSize) => drawn.max(1) as f64,
                Some(Bug::OwnSize) if own > 0.0 => own,
                _ => size as f64,
            }
        }

        pub(crate) fn charge(
            self,
            ledger: &mut Ledger,
            round: u32,
            event: Event,
        ) -> Result<Receipt, LedgerError> {
            let before = ledger.history().clone();
            let receipt = ledger.charge(round, event)?;
            if self.bug == Some(Bug::RoundsAsExchanges) && round % 2 == 1 {
                ledger.restore(&before);
            }
            Ok(receipt)
        }

        pub(crate) fn keys_of(self, round: u64) -> u64 {
            if self.bug == Some(Bug::SharesReused) { 0 } else { round }
        }

        pub(crate) fn sign(self, sign: f64) -> f64 {
            if self.bug == Some(Bug::SharesOfOneSign) { 1.0 } else { sign }
        }

        pub(crate) fn parts(self, shares: &NodeShares) -> (f64, f64) {
            let mechanism = shares.mechanism();
            let (own, pair) = (mechanism.pairs().own(), mechanism.pairs().pair());
            match self.bug {
                Some(Bug::NoOwnNoise) => (0.0, pair),
                Some(Bug::CoalitionForgotten) => {
                    let outsiders = mechanism.pairs().worst(mechanism.secrets(), 0);
                    let less = outsiders.map_or(1.0, |worst| mechanism.multiplier() / worst.multiplier);
                    (less * own, less * pair)
                }
                _ => (own, pair),
            }
        }

        pub(crate) fn addend(self, noise: f64, grid: Grid) -> f64 {
            if self.bug == Some(Bug::SharesRounded) { grid.value(grid.round(noise)) } else { noise }
        }
    }
}
