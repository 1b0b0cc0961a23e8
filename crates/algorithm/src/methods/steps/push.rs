//! Push: each node splits what it has among those it sends to, and the network may be directed (SGP: Assran, Loizou, Ballas,
//! Rabbat 2019, on push-sum: Kempe, Dobra, Gehrke 2003).
//!
//! ```text
//! x⁺ = Σ_j P_ij (x − αv)_j;   w⁺ = Σ_j P_ij w_j;   z⁺ = x⁺/w⁺
//! ```
//!
//! starting from w = 1 and z = x. The model is z, and queries are at z. One vector and one number per neighbour and round. P:
//! column-stochastic. Where rows add up to one as well, w stays 1 and this is gossip. On heterogeneous data it is biased, as
//! gossip is.

use super::{NetworkStep, StepState};
use crate::graph::Needs;
use crate::message::{Inbox, Message, Shape};
use crate::methods::{Exchanges, Parameter, Settings};
use prdo_privacy::{ByRound, Protection, Released, Start};

pub struct Push;

impl NetworkStep for Push {
    const NEEDS: Needs = Needs::ColumnStochastic;
    const PARAMETERS: &'static [Parameter] = &[];
    type State<P: Protection> = State<P>;

    fn start<P: Protection>(x0: &Start, settings: &Settings) -> State<P> {
        State {
            z: Released::start(x0),
            x: Released::start(x0),
            w: Released::start(&Start::ones(1)),
            alpha: settings.step_size.clone(),
        }
    }

    fn exchanges(_settings: &Settings) -> Exchanges {
        Exchanges { shape: Shape { numbers: 1, ..Shape::vectors(1) }, ..Exchanges::ONE }
    }
}

pub struct State<P: Protection> {
    z: Released<P>,
    x: Released<P>,
    /// One number.
    w: Released<P>,
    alpha: ByRound,
}

impl<P: Protection> StepState<P> for State<P> {
    // Gradients are asked for at z.
    #[allow(clippy::misnamed_getters)]
    fn x(&self) -> &Released<P> {
        &self.z
    }

    fn adapt(&mut self, t: u32, v: &Released<P>) -> Option<Message<P>> {
        self.x.add([(-self.alpha.at(t), v)]);
        Some(Message::two(self.x.clone(), self.w.clone()))
    }

    fn mix(&mut self, _t: u32, _v: &Released<P>, inbox: &Inbox<'_, P>) -> Option<Message<P>> {
        inbox.mix(0, &mut self.x);
        inbox.mix(1, &mut self.w);
        let share = self.w.as_slice().first().map_or(f64::NAN, |w| 1.0 / w);
        self.z.assign([(share, &self.x)]);
        None
    }

    fn vectors(&self) -> Vec<&Released<P>> {
        vec![&self.z, &self.x, &self.w]
    }

    fn restore(&mut self) -> Vec<&mut Released<P>> {
        vec![&mut self.z, &mut self.x, &mut self.w]
    }
}
