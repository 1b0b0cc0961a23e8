//! What takes part: a method, and how its queries are clipped.

use prdo::algorithm::methods::directions::{CLIPS, Clipping, KAPPA};
use prdo::prelude::*;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contestant {
    pub method: Method,
    pub clipping: Clipping,
}

/// C_g, C_Δ and κ: what is clipped at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clips {
    pub gradient: f64,
    pub difference: f64,
    pub kappa: f64,
}

pub const GAMMA: f64 = 0.1;
pub const BETA: f64 = 0.9;

const KINDS: [(Clipping, &str, &str); 3] = [
    (Clipping::Separate, "", "PRDO, two clips"),
    (Clipping::Movement, "+movement", "PRDO, C_Δ = κ‖x − x₋‖"),
    (Clipping::Combined, "+combined", "PRDO, one clip"),
];

impl Contestant {
    pub const PRDO: [Self; 3] = [
        Self { method: Method::Prdo, clipping: Clipping::Separate },
        Self { method: Method::Prdo, clipping: Clipping::Movement },
        Self { method: Method::Prdo, clipping: Clipping::Combined },
    ];

    pub const ALL: [Self; 6] = [
        Self::plain(Method::Dsgd),
        Self::plain(Method::Ed),
        Self::plain(Method::Edm),
        Self::PRDO[0],
        Self::PRDO[1],
        Self::PRDO[2],
    ];

    pub const fn plain(method: Method) -> Self {
        Self { method, clipping: Clipping::Separate }
    }

    fn words(self) -> (&'static str, &'static str) {
        let known = KINDS.iter().find(|(kind, ..)| *kind == self.clipping);
        known.map_or(("", ""), |(_, name, title)| (name, title))
    }

    fn is_recursive(self) -> bool {
        self.method == Method::Prdo
    }

    /// What it is called in files.
    pub fn name(self) -> String {
        format!("{}{}", self.method, self.words().0)
    }

    pub fn title(self) -> &'static str {
        if self.is_recursive() { self.words().1 } else { self.method.card().title }
    }

    /// Its number among all, for looks.
    pub fn place(self) -> usize {
        Self::ALL.iter().position(|one| *one == self).unwrap_or(0)
    }

    pub fn settings(self, step: f64, kappa: f64) -> Settings {
        let settings = Settings::new(step).gamma(GAMMA).beta(BETA);
        settings.with(CLIPS.is(self.clipping)).with(KAPPA.is(kappa))
    }

    /// The largest norm of a record's contribution while a node moves by `movement`: what noise is proportional to.
    pub fn sensitivity(self, clips: &Clips, movement: f64) -> f64 {
        let difference = match self.clipping {
            _ if !self.is_recursive() => return clips.gradient,
            Clipping::Separate | Clipping::Combined => clips.difference,
            Clipping::Movement => clips.kappa * movement,
        };
        GAMMA * clips.gradient + (1.0 - GAMMA) * difference
    }

    /// The norm beyond which a record's gradient is shortened where nothing moves: C_g, or S_γ/γ of one clip for
    /// γ·gradient + (1−γ)·difference, whose difference is then 0.
    pub fn threshold(self, clips: &Clips) -> f64 {
        match self.clipping {
            Clipping::Combined => self.sensitivity(clips, 0.0) / GAMMA,
            Clipping::Separate | Clipping::Movement => clips.gradient,
        }
    }
}

impl std::str::FromStr for Contestant {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|one| one.name() == name).ok_or_else(|| {
            let names: Vec<String> = Self::ALL.iter().map(|one| one.name()).collect();
            format!("unknown method {name:?}; expected one of {}", names.join(", "))
        })
    }
}

impl Serialize for Contestant {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.name())
    }
}

impl<'de> Deserialize<'de> for Contestant {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}
