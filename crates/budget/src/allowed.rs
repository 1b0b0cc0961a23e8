//! What the settings of a plan may be, whoever asks.

use prdo_accounting::{Event, calibrate};

#[derive(Debug)]
pub struct Allowed {
    /// In words, after "it must be".
    pub words: &'static str,
    /// Whether a finite number is.
    pub holds: fn(f64) -> bool,
}

pub const RATE: Allowed = Allowed {
    words: "from 1e-12 to 1, a number such as 0.02 or a fraction such as 100/4500",
    holds: |q| (Event::LEAST_RATE..=1.0).contains(&q),
};

pub const NOISE: Allowed = Allowed {
    words: "a number from 0.01 to 1e6",
    holds: |z| (Event::NOISE_MULTIPLIER_RANGE.0..=Event::NOISE_MULTIPLIER_RANGE.1).contains(&z),
};

pub const ROUNDS: Allowed = Allowed {
    words: "a whole number from 1 to 1e12",
    holds: |t| t.fract() == 0.0 && (1.0..=calibrate::MOST_ROUNDS as f64).contains(&t),
};

pub const DELTA: Allowed =
    Allowed { words: "a number above 0 and below 1, such as 1e-5", holds: |d| d > 0.0 && d < 1.0 };

pub const BUDGET: Allowed = Allowed { words: "a number above 0", holds: |e| e > 0.0 };

/// An ε to ask δ at.
pub const EPSILON: Allowed = Allowed { words: "a number of at least 0", holds: |e| e >= 0.0 };

pub const POINTS: Allowed = Allowed {
    words: "a whole number from 2 to 10000",
    holds: |n| n.fract() == 0.0 && (2.0..=1e4).contains(&n),
};

impl Allowed {
    pub fn check(&self, number: Option<f64>) -> Result<f64, String> {
        number
            .filter(|x| x.is_finite() && (self.holds)(*x))
            .ok_or_else(|| format!("it must be {}", self.words))
    }
}

/// A number or a fraction, as people type sampling rates.
pub fn ratio(text: &str) -> Option<f64> {
    match text.split_once('/') {
        Some((part, whole)) => Some(part.trim().parse::<f64>().ok()? / whole.trim().parse::<f64>().ok()?),
        None => text.trim().parse().ok(),
    }
}
