//! Several exchanges per round: W becomes a polynomial of W, for the traffic of its degree and no privacy, since what the
//! further exchanges carry is made of the first one's messages.
//!
//! ```text
//! z₀ = what the step sends;   z_{k+1} = a_k·Wz_k + b_k·z_k + c_k·z_{k−1};   p_K(W)z₀ = (z_K + s·z₀)/(1 + s)
//! ```
//!
//! with the numbers of the network's [`Polynomial`]. p_K(W) is symmetric, its rows add up to one, and it is positive
//! semidefinite: Exact Diffusion stays what it is, with nodes that agree faster. W: one, symmetric and doubly stochastic.

use super::gossip::{OMEGA, omega};
use super::polynomial::{Ends, Polynomial};
use crate::graph::Spectrum;
use crate::message::Inbox;
use crate::methods::settings::{Conflict, Network, SettingsError};
use crate::methods::{Choice, Method, Number, Settings, Tuning};
use prdo_privacy::{Protection, Released};

/// K of Muffliato where nothing is said.
pub(super) const MUFFLIATO: f64 = 3.0;

pub const EXCHANGES: Number = Number {
    name: "exchanges",
    symbol: "K",
    doc: "exchanges of messages per round",
    allowed: "that is whole, from 1 to 100",
    is_allowed: |x| x.fract() == 0.0 && (1.0..=100.0).contains(&x),
    default: 1.0,
    tuning: Some(Tuning::Whole(1.0, 8.0)),
    option: true,
    defaults: &[("muffliato", MUFFLIATO)],
    ..Number::PLAIN
};

/// What K exchanges make of W.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolynomialKind {
    Chebyshev,
    Power,
}

pub const POLYNOMIAL: Choice<PolynomialKind> = Choice {
    name: "polynomial",
    doc: "what several exchanges make of W: Chebyshev's polynomial, shifted to be positive semidefinite, or the power W^K",
    names: &["chebyshev", "power"],
    values: &[PolynomialKind::Chebyshev, PolynomialKind::Power],
    option: true,
};

impl Settings {
    /// The same, with what is left to the network: ω, and between what its eigenvalues lie.
    #[must_use]
    pub fn for_network(self, method: Method, spectrum: &Spectrum) -> Self {
        let network = Ends::of(spectrum).map_or(Network::OneWay, Network::Symmetric);
        let settings = self.on(network);
        match method.card().reads(&OMEGA.parameter()) && OMEGA.of(&settings) == 0.0 {
            true => settings.with(OMEGA.is(omega(spectrum.spectral_gap))),
            false => settings,
        }
    }
}

impl Method {
    /// λ of what the exchanges of a round make of W together, λ being W's.
    pub fn mixed(self, settings: &Settings, lambda: f64) -> f64 {
        match self.card().reads(&POLYNOMIAL.parameter()) {
            true => polynomial(settings).at(lambda).max(0.0),
            false => lambda,
        }
    }
}

/// K.
pub(super) fn exchanges(settings: &Settings) -> u32 {
    EXCHANGES.of(settings).max(1.0) as u32
}

/// What W becomes in a round. On a network that nobody told of: its power.
pub fn polynomial(settings: &Settings) -> Polynomial {
    match (POLYNOMIAL.of(settings), settings.network()) {
        (PolynomialKind::Chebyshev, Some(Network::Symmetric(ends))) => {
            Polynomial::shifted(exchanges(settings), ends)
        }
        (PolynomialKind::Chebyshev, Some(Network::OneWay) | None) | (PolynomialKind::Power, _) => {
            Polynomial::power(exchanges(settings))
        }
    }
}

/// Several exchanges need one symmetric W.
pub(super) fn check_network(settings: &Settings) -> Result<(), SettingsError> {
    match settings.network() {
        Some(Network::OneWay) => refuse(settings, Conflict::Network),
        Some(Network::Symmetric(_)) | None => Ok(()),
    }
}

/// Refuses several exchanges, for this reason.
pub(super) fn refuse(settings: &Settings, why: Conflict) -> Result<(), SettingsError> {
    let value = EXCHANGES.of(settings);
    match value > 1.0 {
        true => Err(SettingsError::Conflict { field: EXCHANGES.name, value, why, allowed: 1.0 }),
        false => Ok(()),
    }
}

/// A vector on its way through the exchanges of a polynomial.
pub struct Mixer<P: Protection> {
    polynomial: Polynomial,
    /// Exchanges done.
    exchange: usize,
    /// z₀, z_k and z_{k−1}; nothing where a power is taken.
    first: Released<P>,
    now: Released<P>,
    before: Released<P>,
}

impl<P: Protection> Mixer<P> {
    pub fn new(polynomial: Polynomial, dimension: usize) -> Self {
        let kept = if polynomial.is_power() { 0 } else { dimension };
        let zeros = || Released::zeros(kept);
        Self { polynomial, exchange: 0, first: zeros(), now: zeros(), before: zeros() }
    }

    /// Begins with z₀, which is what is sent first.
    pub fn begin(&mut self, vector: &Released<P>) {
        self.exchange = 0;
        if !self.polynomial.is_power() {
            self.first.assign([(1.0, vector)]);
            self.now.assign([(1.0, vector)]);
        }
    }

    /// Takes vector number `which` of the messages: `target` is what is sent next or, if there is nothing more to send, the
    /// result. Whether it is.
    #[must_use]
    pub fn mix(&mut self, inbox: &Inbox<'_, P>, which: usize, target: &mut Released<P>) -> bool {
        let [a, b, c] = self.polynomial.step(self.exchange);
        self.exchange += 1;
        let done = self.exchange >= self.polynomial.degree();
        inbox.mix(which, target);
        if self.polynomial.is_power() {
            return done;
        }
        target.blend(a, b, &self.now);
        // The first exchange has no z before it.
        if self.exchange > 1 {
            target.add([(c, &self.before)]);
        }
        if done {
            let (last, first) = self.polynomial.shares();
            if first > 0.0 {
                target.blend(last, first, &self.first);
            }
        } else {
            std::mem::swap(&mut self.before, &mut self.now);
            self.now.assign([(1.0, target)]);
        }
        done
    }
}
