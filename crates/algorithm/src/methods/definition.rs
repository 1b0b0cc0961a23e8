//! What a method says of itself, and the handle by which everybody else knows it.

use super::parameter::Parameter;
use super::settings::{Settings, SettingsError};
use crate::graph::{Found, Mixings, Needs, NetworkError, Spectrum};
use crate::message::Shape;
use crate::node::Node;
use prdo_privacy::{Clip, Clips, Exposed, Noised, Protection, Start};

/// What a method is, for lists, reports, run files and tuning.
#[derive(Clone, Copy, Debug)]
pub struct Card {
    /// The name in run files.
    pub name: &'static str,
    /// The name in figures.
    pub title: &'static str,
    pub idea: &'static str,
    /// What it reads besides the step size. A name means the same in all methods of this crate.
    pub parameters: &'static [Parameter],
    /// Whether its first round uses the special batch b₀.
    pub first_batch: bool,
    /// Whether it needs C_Δ, a clip for same-record differences.
    pub differences: bool,
    /// What it needs of the network.
    pub network: Needs,
    /// Whether it is exact for steps of one size only.
    pub constant_step: bool,
}

impl Card {
    pub fn reads(&self, parameter: &Parameter) -> bool {
        self.parameters.iter().any(|own| own.name() == parameter.name())
    }

    /// The choice of this method without which it does not read this parameter, and what must be chosen.
    pub fn condition(&self, parameter: &Parameter) -> Option<(&'static str, &'static str)> {
        parameter.needs().filter(|(choice, _)| self.parameters.iter().any(|own| own.name() == *choice))
    }
}

/// What a round asks of each sampled record. The sensitivity that is declared for the round follows from it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Asks {
    Gradient,
    /// γ · its gradient + (1 − γ) · its gradient's change since the round before, clipped so.
    Recursive {
        gamma: f64,
        clips: Clips,
    },
    /// Its gradient, divided by a released vector and clipped at this norm then.
    Scaled {
        clip: f64,
    },
}

impl Asks {
    /// The weight of the gradient; the rest is the difference's.
    pub fn gamma(self) -> f64 {
        match self {
            Asks::Gradient | Asks::Scaled { .. } => 1.0,
            Asks::Recursive { gamma, .. } => gamma,
        }
    }

    /// κ, where differences are asked for that are clipped at κ times the movement.
    pub fn kappa(self) -> Option<f64> {
        match self {
            Asks::Recursive { gamma, clips: Clips::Movement { kappa } } if gamma < 1.0 => Some(kappa),
            Asks::Gradient | Asks::Scaled { .. } | Asks::Recursive { .. } => None,
        }
    }

    /// The norm beyond which a node that stands still has a record's gradient shortened: C_g, or S_γ/γ where γ·gradient and a
    /// difference of 0 are clipped as one. `None` where gradients are clipped in other coordinates.
    pub fn threshold(self, clip: &Clip) -> Option<f64> {
        match self {
            Asks::Recursive { gamma, clips: Clips::Combined } => {
                Some(clip.gradient() + (1.0 - gamma) / gamma * clip.difference())
            }
            Asks::Gradient | Asks::Recursive { .. } => Some(clip.gradient()),
            Asks::Scaled { .. } => None,
        }
    }

    /// Whether C_Δ plays a part.
    pub fn reads_difference_clip(self) -> bool {
        matches!(self, Asks::Recursive { gamma, clips: Clips::Separate | Clips::Combined } if gamma < 1.0)
    }
}

/// How many messages a method sends, and how they look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exchanges {
    /// Exchanges of messages in a round that has any.
    pub per_round: u32,
    /// Every how many rounds there are exchanges: in the last of so many.
    pub every: u32,
    pub shape: Shape,
}

impl Exchanges {
    /// One vector per round.
    pub const ONE: Self = Self::each_round(1, 1);

    /// So many exchanges of so many vectors in each round.
    pub const fn each_round(per_round: u32, vectors: u32) -> Self {
        Self { per_round, every: 1, shape: Shape::vectors(vectors) }
    }

    /// Whether nothing is sent in this round.
    pub fn is_silent(&self, round: u32) -> bool {
        !(round + 1).is_multiple_of(self.every.max(1))
    }

    /// Bytes that a node of a model of d parameters sends to a neighbour in so many rounds.
    pub fn bytes(&self, d: usize, rounds: u32) -> u64 {
        u64::from(rounds / self.every.max(1)) * u64::from(self.per_round) * self.shape.bytes(d) as u64
    }
}

/// A method, here or in a program of one's own: `Method::new(&Mine)` runs it wherever methods are run.
pub trait Definition: Send + Sync + 'static {
    fn card(&self) -> &Card;

    /// A node at the public starting point. The settings were checked against the card.
    fn start<P: Protection>(&self, x0: &Start, settings: &Settings) -> Box<dyn Node<P>>;

    /// How many messages it sends, and how they look.
    fn exchanges(&self, _settings: &Settings) -> Exchanges {
        Exchanges::ONE
    }

    /// What round number `round` asks, counted from 0: what [`Node::query`] will be.
    fn asks(&self, _settings: &Settings, _round: u32) -> Asks {
        Asks::Gradient
    }
}

/// [`Definition`] without a type parameter: there are only two protections.
trait Erased: Send + Sync {
    fn card(&self) -> &Card;
    fn start_noised(&self, x0: &Start, settings: &Settings) -> Box<dyn Node<Noised>>;
    fn start_exposed(&self, x0: &Start, settings: &Settings) -> Box<dyn Node<Exposed>>;
    fn exchanges(&self, settings: &Settings) -> Exchanges;
    fn asks(&self, settings: &Settings, round: u32) -> Asks;
}

impl<D: Definition> Erased for D {
    fn card(&self) -> &Card {
        Definition::card(self)
    }

    fn start_noised(&self, x0: &Start, settings: &Settings) -> Box<dyn Node<Noised>> {
        self.start(x0, settings)
    }

    fn start_exposed(&self, x0: &Start, settings: &Settings) -> Box<dyn Node<Exposed>> {
        self.start(x0, settings)
    }

    fn exchanges(&self, settings: &Settings) -> Exchanges {
        Definition::exchanges(self, settings)
    }

    fn asks(&self, settings: &Settings, round: u32) -> Asks {
        Definition::asks(self, settings, round)
    }
}

/// A protection under which methods can be started: [`Noised`] and [`Exposed`] are.
pub trait Startable: Protection {
    #[doc(hidden)]
    fn start(method: Method, x0: &Start, settings: &Settings) -> Box<dyn Node<Self>>;
}

impl Startable for Noised {
    fn start(method: Method, x0: &Start, settings: &Settings) -> Box<dyn Node<Self>> {
        method.0.start_noised(x0, settings)
    }
}

impl Startable for Exposed {
    fn start(method: Method, x0: &Start, settings: &Settings) -> Box<dyn Node<Self>> {
        method.0.start_exposed(x0, settings)
    }
}

#[derive(Clone, Copy)]
pub struct Method(&'static dyn Erased);

impl Method {
    /// The method of a definition: a constant or a static, or one that was made while the program runs and leaked.
    pub const fn new<D: Definition>(definition: &'static D) -> Self {
        Self(definition)
    }

    pub fn card(self) -> &'static Card {
        self.0.card()
    }

    pub fn start<P: Startable>(
        self,
        x0: &Start,
        settings: &Settings,
    ) -> Result<Box<dyn Node<P>>, SettingsError> {
        settings.check(self.card())?;
        Ok(P::start(self, x0, settings))
    }

    /// How many messages it sends, and how they look: peers agree on it before they begin.
    pub fn exchanges(self, settings: &Settings) -> Exchanges {
        self.0.exchanges(settings)
    }

    pub fn asks(self, settings: &Settings, round: u32) -> Asks {
        self.0.asks(settings, round)
    }

    /// Holds a network against what this method needs of it, and against the paper's assumption where it is one symmetric W.
    pub fn check_network(self, network: &Mixings, allow_indefinite: bool) -> Result<Spectrum, NetworkError> {
        let needs = self.card().network;
        let judged = network.check(needs, allow_indefinite);
        let found = match judged {
            Err(NetworkError::Asymmetric { row, column, value, mirrored })
                if value == 0.0 || mirrored == 0.0 =>
            {
                let (from, to) = if mirrored == 0.0 { (column, row) } else { (row, column) };
                Found::OneWay { from, to }
            }
            Err(NetworkError::Changes { turns }) => Found::Changes { turns },
            Err(NetworkError::RowSum { row, .. }) if needs == Needs::DoublyStochastic => {
                Found::Unbalanced { row }
            }
            judged => return judged,
        };
        let fits = |other: &&Method| network.check(other.card().network, allow_indefinite).is_ok();
        let fit: Vec<_> = Method::ALL.iter().filter(fits).map(|other| other.card().name).collect();
        match fit.is_empty() {
            true => judged,
            false => {
                Err(NetworkError::Unsuitable { method: self.card().name, needs, found, fit: fit.join(", ") })
            }
        }
    }

    /// Whether rounds after the first ask for same-record differences that are clipped at C_Δ.
    pub fn asks_differences(self, settings: &Settings) -> bool {
        self.asks(settings, 1).reads_difference_clip()
    }
}

impl PartialEq for Method {
    fn eq(&self, other: &Self) -> bool {
        self.card().name == other.card().name
    }
}

impl Eq for Method {}

impl std::hash::Hash for Method {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.card().name.hash(state);
    }
}

impl std::fmt::Display for Method {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.card().name)
    }
}

impl std::fmt::Debug for Method {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Method({})", self.card().name)
    }
}
