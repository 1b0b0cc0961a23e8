//! The messages of diffusion in fewer bytes: what is sent is how a node differs from what its neighbours already know of it
//! (LEAD's exchange: Liu, Li, Wang, Tang, Yan 2021).
//!
//! Everybody keeps h, what is known of a node, of itself and of each neighbour. With C as on the wire (see [`Packing`]):
//!
//! ```text
//! τ times:  φ ← φ − αv − s/τ
//! c = C(φ − h), sent;   ŷ = h + c;   h⁺ = h + ηc
//! u = γ (ŷ − Σ_j W_ij ŷ_j);   s⁺ = s + u;   x⁺ = φ − u
//! ```
//!
//! starting from s = 0 and h = x⁰. Where C changes nothing and γ = 1 this is Exact Diffusion. It is exact whatever C does, for the
//! mean moves along v alone and differences to what is known vanish. C comes after the noise: it costs no privacy.

use super::StepState;
use crate::message::{Inbox, Message};
use crate::methods::{Choice, Neighbourhood, Number, Settings};
use prdo_privacy::{ByRound, Dither, Packed, Packing, Protection, PublicDither, Released, Start};

/// How vectors travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    Plain,
    Bits,
    Top,
}

pub const WIRE: Choice<Wire> = Choice {
    name: "wire.kind",
    doc: "how vectors travel: whole, as dithered integers of few bits, or only their largest numbers",
    names: &["plain", "bits", "top"],
    values: &[Wire::Plain, Wire::Bits, Wire::Top],
    option: true,
};

pub const BITS: Number = Number {
    name: "wire.bits",
    symbol: "b",
    doc: "bits of an integer, of kind = \"bits\"",
    allowed: "that is whole, from 1 to 16",
    is_allowed: |x| x.fract() == 0.0 && (1.0..=16.0).contains(&x),
    default: 3.0,
    option: true,
    needs: Some(("wire.kind", "bits")),
    ..Number::PLAIN
};

pub const KEEP: Number = Number {
    name: "wire.keep",
    symbol: "k",
    doc: "numbers that are sent, of kind = \"top\": so many, or below 1 this share of all",
    allowed: "above 0, and whole from 1 on",
    is_allowed: |x| x > 0.0 && x <= 1e9 && (x < 1.0 || x.fract() == 0.0),
    default: 0.25,
    option: true,
    needs: Some(("wire.kind", "top")),
    ..Number::PLAIN
};

pub const MIXED: Number = Number {
    name: "wire.step",
    symbol: "γ",
    doc: "how much of a difference between neighbours is corrected in an exchange; 0 is 1 for 3 bits or more, 0.05 for one, otherwise 0.3",
    allowed: "from 0 to 1",
    is_allowed: |x| (0.0..=1.0).contains(&x),
    default: 0.0,
    option: true,
    ..Number::PLAIN
};

pub const MEMORY: Number = Number {
    name: "wire.memory",
    symbol: "η",
    doc: "how much of what was sent is remembered as known; 0 is 0.5 for 2 bits, otherwise 1",
    allowed: "from 0 to 1",
    is_allowed: |x| (0.0..=1.0).contains(&x),
    default: 0.0,
    option: true,
    ..Number::PLAIN
};

/// How a method of these settings packs its messages.
pub fn packing(settings: &Settings) -> Packing {
    match WIRE.of(settings) {
        Wire::Plain => Packing::Plain,
        Wire::Bits => Packing::Bits((BITS.of(settings) as u32).clamp(1, 16)),
        Wire::Top => Packing::Top(KEEP.of(settings)),
    }
}

/// γ and η: as given, or what this packing bears.
fn steps(settings: &Settings) -> (f64, f64) {
    let (gamma, eta) = match packing(settings) {
        Packing::Bits(2) => (0.3, 0.5),
        Packing::Bits(1) => (0.05, 1.0),
        Packing::Top(_) => (0.3, 1.0),
        Packing::Plain | Packing::Bits(_) => (1.0, 1.0),
    };
    let given = |number: &Number, default: f64| match number.of(settings) {
        0.0 => default,
        given => given,
    };
    (given(&MIXED, gamma), given(&MEMORY, eta))
}

pub struct Compressed<P: Protection> {
    /// φ, which is x between exchanges.
    phi: Released<P>,
    s: Released<P>,
    /// h of this node.
    known: Released<P>,
    /// h of the others in its neighbourhood, in their order.
    known_of: Vec<Released<P>>,
    /// ŷ, and Σ_j W_ij ŷ_j.
    estimate: Released<P>,
    mixed: Released<P>,
    at: Neighbourhood,
    packing: Packing,
    alpha: ByRound,
    gamma: f64,
    eta: f64,
    local_steps: u32,
}

impl<P: Protection> Compressed<P> {
    pub fn start(x0: &Start, settings: &Settings, local_steps: u32) -> Self {
        let (at, (gamma, eta)) = (settings.neighbourhood(), steps(settings));
        let others = at.messages.saturating_sub(1);
        let zeros = || Released::zeros(x0.dimension());
        Self {
            phi: Released::start(x0),
            s: zeros(),
            known: Released::start(x0),
            known_of: (0..others).map(|_| Released::start(x0)).collect(),
            estimate: zeros(),
            mixed: zeros(),
            at,
            packing: packing(settings),
            alpha: settings.step_size.clone(),
            gamma,
            eta,
            local_steps,
        }
    }

    /// Steps along −v, and packs what is sent with this dither.
    fn adapt_with(&mut self, t: u32, v: &Released<P>, dither: &mut impl Dither) -> Option<Message<P>> {
        let share = 1.0 / f64::from(self.local_steps);
        self.phi.add([(-self.alpha.at(t), v), (-share, &self.s)]);
        if !(t + 1).is_multiple_of(self.local_steps) {
            return None;
        }
        self.estimate.assign([(1.0, &self.phi), (-1.0, &self.known)]);
        let c = Packed::of(&self.estimate, self.packing, dither);
        self.estimate.assign([(1.0, &self.known), (1.0, c.decoded())]);
        self.known.add([(self.eta, c.decoded())]);
        Some(Message::packed(c))
    }
}

impl<P: Protection> StepState<P> for Compressed<P> {
    fn x(&self) -> &Released<P> {
        &self.phi
    }

    fn adapt(&mut self, t: u32, v: &Released<P>) -> Option<Message<P>> {
        self.adapt_with(t, v, &mut PublicDither::new(self.at.node, t))
    }

    fn mix(&mut self, _t: u32, _v: &Released<P>, inbox: &Inbox<'_, P>) -> Option<Message<P>> {
        let mut known_of = self.known_of.iter_mut();
        self.mixed.clear();
        for (k, (weight, c)) in inbox.weights().iter().zip(inbox.vectors(0)).enumerate() {
            if self.at.own == k as u32 {
                self.mixed.add([(*weight, &self.estimate)]);
            } else if let Some(known) = known_of.next() {
                // W_ij ŷ_j = W_ij (h_j + c_j).
                self.mixed.add([(*weight, known), (*weight, c)]);
                known.add([(self.eta, c)]);
            }
        }
        self.s.add([(self.gamma, &self.estimate), (-self.gamma, &self.mixed)]);
        self.phi.add([(-self.gamma, &self.estimate), (self.gamma, &self.mixed)]);
        None
    }

    fn vectors(&self) -> Vec<&Released<P>> {
        [&self.phi, &self.s, &self.known].into_iter().chain(&self.known_of).collect()
    }

    fn restore(&mut self) -> Vec<&mut Released<P>> {
        [&mut self.phi, &mut self.s, &mut self.known].into_iter().chain(&mut self.known_of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prdo_privacy::Exposed;
    use serde_json::Value;

    struct Given(std::vec::IntoIter<f64>);

    impl Dither for Given {
        fn next(&mut self) -> f64 {
            self.0.next().unwrap()
        }
    }

    fn numbers(value: &Value) -> Vec<f64> {
        value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
    }

    fn released(values: Vec<f64>) -> Released<Exposed> {
        Released::start(&Start::declared_public(values).unwrap())
    }

    /// The reference run without noise: full batches of bowls h·(x − c), dither as given.
    #[test]
    fn dithered_integers_have_their_reference_trajectory() {
        let all: Value = serde_json::from_str(include_str!("../../../tests/fixtures/family.json")).unwrap();
        let is_it = |run: &&Value| run["method"] == "compressed-dithered" && run["noisy"] == false;
        let run = all["runs"].as_array().unwrap().iter().find(is_it).unwrap();
        let w: Vec<Vec<f64>> = all["W"].as_array().unwrap().iter().map(numbers).collect();
        let x0 = Start::declared_public(numbers(&all["x0"])).unwrap();
        let value = |key: &str| run["settings"][key].as_f64().unwrap();
        let settings =
            Settings::new(value("step_size")).with(WIRE.is(Wire::Bits)).with(BITS.is(value("bits")));
        let settings = settings.with(MIXED.is(value("gamma"))).with(MEMORY.is(value("eta")));
        let members = |i: usize| (0..5).filter(|j| w[i][*j] != 0.0).collect::<Vec<_>>();
        let mut nodes: Vec<Compressed<Exposed>> = Vec::new();
        for i in 0..5 {
            let at = Neighbourhood::new(i as u32, members(i).into_iter().map(|j| j as u32));
            nodes.push(Compressed::start(&x0, &settings.clone().at(at), 1));
        }
        for t in 0..10 {
            let mut messages = Vec::new();
            for (i, node) in nodes.iter_mut().enumerate() {
                let (h, c) = (&all["curvature"][i], &all["centre"][i]);
                let mut v = vec![0.0; 4];
                for record in 0..6 {
                    let (h, c) = (numbers(&h[record]), numbers(&c[record]));
                    for (k, v) in v.iter_mut().enumerate() {
                        *v += h[k] * (node.phi.as_slice()[k] - c[k]) / 6.0;
                    }
                }
                let mut dither = Given(numbers(&all["dither"][t][i]).into_iter());
                messages.extend(node.adapt_with(t as u32, &released(v), &mut dither));
            }
            for (i, node) in nodes.iter_mut().enumerate() {
                let weights: Vec<f64> = members(i).iter().map(|j| w[i][*j]).collect();
                let inbox = Inbox::new(&weights, members(i).iter().map(|j| &messages[*j]).collect());
                assert!(node.mix(t as u32, &released(vec![0.0; 4]), &inbox).is_none());
            }
            for (i, node) in nodes.iter().enumerate() {
                for (a, b) in node.x().as_slice().iter().zip(numbers(&run["x"][t + 1][i])) {
                    assert!((a - b).abs() <= 1e-12 * b.abs().max(1.0), "round {t}, node {i}: {a} for {b}");
                }
            }
        }
    }
}
