//! What a node asks of its records, and the direction v that it makes of the answers. To add one: its file here.

mod gradient;
mod momentum;
mod moved;
mod recursive;
mod scaled;

pub use gradient::Gradient;
pub use momentum::{BETA, Momentum};
pub use moved::{KAPPA, Moved, RESTART};
pub use recursive::{CLIPS, Clipping, GAMMA, Recursive};
pub use scaled::{DECAY, FLOOR, INTERVAL, SCALED_CLIP, SCALED_STEP, ScaledGradient};

use super::{Asks, Parameter, Settings};
use prdo_privacy::{Protection, Query, Released, Start};

/// A direction, one half of a method; the other is a [`NetworkStep`](super::NetworkStep).
pub trait Direction: Send + Sync + 'static {
    /// What it reads of the settings.
    const PARAMETERS: &'static [Parameter];
    /// Whether its first round uses the special batch b₀.
    const FIRST_BATCH: bool = false;
    /// Whether it asks for same-record differences that are clipped at C_Δ.
    const DIFFERENCES: bool = false;

    type State<P: Protection>: DirectionState<P>;

    fn start<P: Protection>(x0: &Start, settings: &Settings) -> Self::State<P>;

    /// What round t asks, counted from 0: what [`DirectionState::query`] will be.
    fn asks(_settings: &Settings, _t: u32) -> Asks {
        Asks::Gradient
    }
}

/// A node's direction between two rounds. Rounds t count from 0.
pub trait DirectionState<P: Protection>: Send + Sync {
    /// Whether v depends on the v before it, so that it belongs in checkpoints.
    const REMEMBERS: bool;

    /// The query of round t, at the model x.
    fn query<'a>(&'a self, t: u32, x: &'a Released<P>) -> Query<'a, P>;

    /// Takes the answer to that query: makes v.
    fn take(&mut self, t: u32, x: &Released<P>, answer: Released<P>);

    fn v(&self) -> &Released<P>;

    fn v_mut(&mut self) -> &mut Released<P>;

    /// The vectors of the state besides v, for checkpoints.
    fn vectors(&self) -> Vec<&Released<P>> {
        Vec::new()
    }

    /// The same vectors, and v as the last, to be overwritten.
    fn restore(&mut self) -> Vec<&mut Released<P>> {
        vec![self.v_mut()]
    }
}
