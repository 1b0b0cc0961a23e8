//! ε as one setting of a plan changes, by every accountant.

use crate::words::{plain, six_digits, up};
use crate::{Allowed, DELTA, NOISE, RATE, ROUNDS, Releases};
use prdo_accounting::{Accountant, AccountingError, Bounds, Method};
use prdo_plot::{Chart, Figure, Scale, Series};
use std::ops::ControlFlow;

/// What a curve's x axis shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Against {
    Rounds,
    Noise,
    Rate,
    Delta,
}

impl Against {
    pub const ALL: [Self; 4] = [Self::Rate, Self::Noise, Self::Rounds, Self::Delta];

    /// What it is called where it is asked for.
    pub fn argument(self) -> &'static str {
        match self {
            Self::Rounds => "rounds",
            Self::Noise => "noise",
            Self::Rate => "rate",
            Self::Delta => "delta",
        }
    }

    pub fn allowed(self) -> &'static Allowed {
        match self {
            Self::Rounds => &ROUNDS,
            Self::Noise => &NOISE,
            Self::Rate => &RATE,
            Self::Delta => &DELTA,
        }
    }

    /// The axis' name in answers and files.
    pub fn key(self) -> &'static str {
        match self {
            Self::Noise => "noise_multiplier",
            other => other.argument(),
        }
    }

    pub fn title(self) -> &'static str {
        match self {
            Self::Rounds => "rounds",
            Self::Noise => "noise multiplier",
            Self::Rate => "sampling rate",
            Self::Delta => "δ",
        }
    }
}

/// What is asked: the settings, of which the one on the axis may be missing, and where the axis is looked at.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    pub against: Against,
    pub rate: Option<f64>,
    /// Sampling rate of the first release, if it differs.
    pub first_rate: Option<f64>,
    pub noise: Option<f64>,
    pub rounds: Option<u64>,
    pub delta: Option<f64>,
    /// Where the axis begins; default: below the given setting.
    pub from: Option<f64>,
    /// Where the axis ends; default: above the given setting.
    pub to: Option<f64>,
    pub points: usize,
    /// The settings that stay, in words.
    pub fixed: String,
}

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CurveError {
    #[error(
        "{} is missing: against {} every other setting must be given",
        setting.argument(),
        against.argument()
    )]
    Missing { setting: Against, against: Against },
    #[error("{end} is missing: give {}, or both ends of the axis", against.argument())]
    NoEnd {
        /// `from` or `to`.
        end: &'static str,
        against: Against,
    },
    #[error("{end} = {} is not allowed as an end of {}: {why}", plain(*value), against.argument())]
    End {
        /// `from` or `to`.
        end: &'static str,
        value: f64,
        against: Against,
        why: String,
    },
    #[error("from = {} is not below to = {}: the axis needs a range", plain(*from), plain(*to))]
    Empty { from: f64, to: f64 },
    #[error(transparent)]
    Accounting(#[from] AccountingError),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    pub x: f64,
    /// The exact ε: it lies between these.
    pub exact: Bounds,
    pub renyi: f64,
    pub paper: f64,
}

/// A curve and what it was computed for.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    pub against: Against,
    /// The settings that stay, in words.
    pub fixed: String,
    pub given: Option<f64>,
    pub points: Vec<Point>,
}

impl Question {
    pub fn at(&self, setting: Against) -> Option<f64> {
        match setting {
            Against::Rounds => self.rounds.map(|n| n as f64),
            Against::Noise => self.noise,
            Against::Rate => self.rate,
            Against::Delta => self.delta,
        }
    }

    /// Where the curve is computed: equal factors, and the given setting itself where it is one of them.
    pub fn places(&self) -> Result<Vec<f64>, CurveError> {
        let against = self.against;
        for setting in Against::ALL {
            if setting != against && self.at(setting).is_none() {
                return Err(CurveError::Missing { setting, against });
            }
        }
        let given = self.at(against);
        let (from, to) = self.range(given)?;
        let last = self.points.max(2) - 1;
        let place = |k: usize| {
            let x = from * (to / from).powf(k as f64 / last as f64);
            let x = if against == Against::Rounds { x.round() } else { six_digits(x) };
            match given {
                Some(given) if (x / given - 1.0).abs() < 1e-5 => given,
                _ => x.clamp(from, to),
            }
        };
        let mut places: Vec<f64> = (0..=last).map(place).collect();
        places.dedup();
        Ok(places)
    }

    /// The axis' range: as given, or around the given setting.
    fn range(&self, given: Option<f64>) -> Result<(f64, f64), CurveError> {
        let against = self.against;
        let around = |x: f64| match against {
            Against::Rounds => ((x / 100.0).max(1.0), (x * 10.0).min(1e12)),
            Against::Noise => ((x / 4.0).max(0.01), (x * 4.0).min(1e6)),
            Against::Rate => ((x / 10.0).max(1e-12), (x * 10.0).min(1.0)),
            Against::Delta => (x / 1e3, (x * 1e3).min(0.5)),
        };
        let check = |end: &'static str, typed: Option<f64>, default: Option<f64>| {
            let value = typed.or(default).ok_or(CurveError::NoEnd { end, against })?;
            let whole = if against == Against::Rounds { value.round() } else { value };
            let refuse = |why| CurveError::End { end, value, against, why };
            against.allowed().check(Some(whole)).map_err(refuse)
        };
        let from = check("from", self.from, given.map(|x| around(x).0))?;
        let to = check("to", self.to, given.map(|x| around(x).1))?;
        if from < to { Ok((from, to)) } else { Err(CurveError::Empty { from, to }) }
    }

    /// The releases and the δ at a place of the axis.
    fn releases(&self, x: f64) -> (Releases, f64) {
        let at = |setting: Against| if setting == self.against { x } else { self.at(setting).unwrap_or(x) };
        let (rate, noise) = (at(Against::Rate), at(Against::Noise));
        let first_rate = self.first_rate.unwrap_or(rate);
        let releases =
            Releases { rate, first_rate, noise, first_noise: noise, rounds: at(Against::Rounds) as u64 };
        (releases, at(Against::Delta))
    }

    /// Computes the curve at these places. `each` is told of every point and may stop it: then the curve has the
    /// points so far.
    pub fn compute(
        &self,
        places: &[f64],
        mut each: impl FnMut(&Point) -> ControlFlow<()>,
    ) -> Result<Curve, CurveError> {
        let [exact, renyi, paper] = [Method::Numerical, Method::Renyi, Method::Paper].map(Accountant::new);
        let mut points = Vec::with_capacity(places.len());
        for &x in places {
            let (releases, delta) = self.releases(x);
            let point = Point {
                x,
                exact: releases.epsilon(&exact, delta)?,
                renyi: releases.epsilon(&renyi, delta)?.upper,
                paper: releases.epsilon(&paper, delta)?.upper,
            };
            points.push(point);
            if each(&point).is_break() {
                break;
            }
        }
        let (against, fixed, given) = (self.against, self.fixed.clone(), self.at(self.against));
        Ok(Curve { against, fixed, given, points })
    }
}

impl Curve {
    fn at(&self, x: f64) -> String {
        match self.against {
            Against::Rounds => format!("{} rounds", plain(x)),
            Against::Noise => format!("noise multiplier {}", plain(x)),
            Against::Rate => format!("rate {}", plain(six_digits(x))),
            Against::Delta => format!("δ = {}", plain(x)),
        }
    }

    pub fn figure(&self) -> Figure {
        let x_label = match self.against {
            Against::Rounds => "rounds (releases)",
            Against::Noise => "noise multiplier (standard deviation over sensitivity)",
            Against::Rate => "sampling rate (expected batch over records)",
            Against::Delta => "δ",
        };
        let line = |value: fn(&Point) -> f64| self.points.iter().map(|p| (p.x, value(p))).collect::<Vec<_>>();
        let title = format!("Privacy loss against {}: {}", self.against.title(), self.fixed);
        // Against δ the loss changes by a small factor only: equal steps show it better.
        let y_scale = if self.against == Against::Delta { Scale::Linear } else { Scale::Log };
        let mut chart = Chart::new(title, x_label, "ε of the whole plan")
            .x_scale(Scale::Log)
            .y_scale(y_scale)
            .series(Series::new("the paper's Rényi bound", line(|p| p.paper)).style(1))
            .series(Series::new("Rényi bound, all orders", line(|p| p.renyi)).style(2))
            .series(Series::new("exact (upper bound)", line(|p| p.exact.upper)).style(0));
        if let Some(p) = self.points.iter().find(|p| Some(p.x) == self.given && p.exact.upper.is_finite()) {
            let at = format!("ε ≤ {} at {}", up(p.exact.upper), self.at(p.x));
            chart = chart.reference(p.exact.upper, at);
        }
        Figure::of(chart).panel_size(760.0, 440.0)
    }
}
