//! What is varied: keys of the run file, each within a range around what the run file says.

use crate::config::Document;
use prdo_algorithm::Method;

/// A value of a key, chosen by a number from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Law {
    /// From low to high, by equal factors.
    Factors(f64, f64),
    /// The same, whole numbers.
    Whole(f64, f64),
    /// 1 − x, x from low to high by equal factors: weights of history.
    Remainder(f64, f64),
}

impl Law {
    fn at(self, share: f64) -> f64 {
        let between = |low: f64, high: f64| low * (high / low).powf(share.clamp(0.0, 1.0));
        match self {
            Law::Factors(low, high) => between(low, high),
            Law::Whole(low, high) => between(low, high).round(),
            Law::Remainder(low, high) => 1.0 - between(low, high),
        }
    }
}

/// The settings of one trial.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// The method.
    pub method: Method,
    /// T.
    pub rounds: u32,
    /// The share of a node's records that a round draws.
    pub rate: f64,
    /// α.
    pub step_size: f64,
    /// C_g; `None` in a run that clips nothing.
    pub clip: Option<f64>,
    /// C_Δ over C_g, of a method with differences.
    pub difference: f64,
    /// γ, of a method with differences.
    pub gamma: f64,
    /// β, of a method with momentum.
    pub beta: f64,
}

/// The ranges for one method.
#[derive(Clone, Debug)]
pub struct Space {
    laws: Vec<(Axis, Law)>,
    fixed: Settings,
}

/// A value near an end of its range, which lies around what the run file says: better ones may lie beyond.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    /// The run file's key.
    pub key: &'static str,
    /// The end.
    pub end: f64,
    /// Whether that is the largest value tried; else the smallest.
    pub largest: bool,
}

/// As near as this, as a share of the range, is at its end.
const NEAR: f64 = 0.05;

/// What can be varied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// α.
    StepSize,
    /// T.
    Rounds,
    /// b/N.
    Rate,
    /// C_g.
    Clip,
    /// γ.
    Gamma,
    /// C_Δ/C_g.
    Difference,
    /// β.
    Beta,
}

impl Axis {
    /// All, most telling first.
    pub const ALL: [Axis; 7] =
        [Axis::StepSize, Axis::Rounds, Axis::Rate, Axis::Clip, Axis::Gamma, Axis::Difference, Axis::Beta];

    /// The run file's key.
    pub fn key(self) -> &'static str {
        match self {
            Axis::StepSize => "method.step_size",
            Axis::Rounds => "rounds",
            Axis::Rate => "batch.size",
            Axis::Clip => "clip.gradient",
            Axis::Gamma => "method.gamma",
            Axis::Difference => "clip.difference",
            Axis::Beta => "method.beta",
        }
    }

    /// The axis of a key.
    pub fn of(key: &str) -> Option<Axis> {
        Axis::ALL.into_iter().find(|axis| axis.key() == key)
    }

    fn is_read_by(self, method: Method) -> bool {
        let card = method.card();
        let reads = |name: &str| card.parameters.iter().any(|p| p.name() == name);
        match self {
            Axis::Gamma => reads("gamma"),
            Axis::Beta => reads("beta"),
            Axis::Difference => card.differences,
            _ => true,
        }
    }
}

impl Space {
    /// The ranges for `method` around what the run file says, for nodes with at least `records` records; keys in `keep`
    /// stay as they are.
    pub fn new(document: &Document, method: Method, records: usize, keep: &[Axis]) -> Self {
        let number = |path, default| document.float(path).unwrap_or(default);
        let rounds = document.integer("rounds").unwrap_or(100) as f64;
        let least = 1.0 / records.max(1) as f64;
        let rate = document.integer("batch.size").map_or(0.05, |b| b as f64 * least).clamp(least, 1.0);
        let (step, clip) = (number("method.step_size", 0.5), number("clip.gradient", 1.0));
        // Without privacy nothing needs to be clipped.
        let clips = document.has_section("privacy") || document.has("clip.gradient");
        let fixed = Settings {
            method,
            rounds: rounds as u32,
            rate,
            step_size: step,
            clip: clips.then_some(clip),
            difference: (number("clip.difference", 0.02 * clip) / clip).min(1.0),
            gamma: number("method.gamma", 0.1),
            beta: number("method.beta", 0.9),
        };
        let laws = [
            (Axis::StepSize, Law::Factors(step / 20.0, step * 20.0)),
            (Axis::Rounds, Law::Whole((rounds / 8.0).max(5.0), (rounds * 2.0).max(5.0))),
            (Axis::Rate, Law::Factors((rate / 4.0).max(least), (rate * 8.0).min(1.0).max(least))),
            (Axis::Clip, Law::Factors(clip / 10.0, clip * 3.0)),
            (Axis::Gamma, Law::Factors(0.03, 1.0)),
            (Axis::Difference, Law::Factors(0.002, 0.5)),
            (Axis::Beta, Law::Remainder(0.02, 1.0)),
        ];
        let varied = |(axis, _): &(Axis, Law)| {
            let clip = matches!(axis, Axis::Clip | Axis::Difference);
            axis.is_read_by(method) && !keep.contains(axis) && (clips || !clip)
        };
        Self { laws: laws.into_iter().filter(varied).collect(), fixed }
    }

    /// How many keys are varied.
    pub fn dimensions(&self) -> usize {
        self.laws.len()
    }

    /// Which of these settings are at an end of a range beyond which the search could have gone on: step, rounds and
    /// C_g. Batches end at all records, and what else is varied has its natural limits.
    pub fn edges(&self, settings: &Settings) -> Vec<Edge> {
        let edge = |(axis, law): &(Axis, Law)| {
            let value = match axis {
                Axis::StepSize => settings.step_size,
                Axis::Rounds => f64::from(settings.rounds),
                Axis::Clip => settings.clip?,
                _ => return None,
            };
            let (low, high) = (law.at(0.0), law.at(1.0));
            let share = (value / low).ln() / (high / low).ln();
            let largest = share > 0.5;
            let near = share.min(1.0 - share) <= NEAR;
            near.then_some(Edge { key: axis.key(), end: if largest { high } else { low }, largest })
        };
        self.laws.iter().filter_map(edge).collect()
    }

    /// The settings of a point of the unit cube.
    pub fn at(&self, point: &[f64]) -> Settings {
        let mut settings = self.fixed;
        for ((axis, law), share) in self.laws.iter().zip(point) {
            let value = law.at(*share);
            match axis {
                Axis::StepSize => settings.step_size = value,
                Axis::Rounds => settings.rounds = value as u32,
                Axis::Rate => settings.rate = value,
                Axis::Clip => settings.clip = Some(value),
                Axis::Gamma => settings.gamma = value,
                Axis::Difference => settings.difference = value,
                Axis::Beta => settings.beta = value,
            }
        }
        settings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_lie_around_the_run_file_and_kept_keys_stay() {
        let text = "rounds = 100\n[method]\nname = \"prdo\"\nstep_size = 0.4\n[batch]\nsize = 50\n[privacy]\nepsilon = 1.0\n";
        let document = Document::parse("test", text).unwrap();
        let space = Space::new(&document, Method::Prdo, 1000, &[Axis::Rounds]);
        assert_eq!(space.dimensions(), 5);
        let (low, high) = (space.at(&[0.0; 5]), space.at(&[1.0; 5]));
        assert_eq!((low.rounds, high.rounds), (100, 100));
        assert!((low.step_size - 0.02).abs() < 1e-12 && (high.step_size - 8.0).abs() < 1e-12);
        assert!((low.rate - 0.0125).abs() < 1e-12 && (high.rate - 0.4).abs() < 1e-12);
        let edm = Space::new(&document, Method::Edm, 1000, &[]);
        assert_eq!(edm.dimensions(), 5);
        assert!((edm.at(&[0.0; 5]).beta - 0.98).abs() < 1e-12 && edm.at(&[1.0; 5]).beta.abs() < 1e-12);
        assert_eq!(Space::new(&document, Method::Dsgd, 1000, &[]).dimensions(), 4);
    }

    #[test]
    fn values_at_an_end_of_their_range_are_told() {
        let text = "rounds = 100\n[method]\nname = \"ed\"\nstep_size = 0.4\n[clip]\ngradient = 1.0\n[batch]\nsize = 50\n";
        let document = Document::parse("test", text).unwrap();
        let space = Space::new(&document, Method::Ed, 1000, &[]);
        assert_eq!(space.edges(&space.at(&[0.5, 0.5, 1.0, 0.5])), [], "a batch of all records is no edge");
        let edges = space.edges(&space.at(&[0.97, 0.5, 0.5, 0.02]));
        let found: Vec<_> = edges.iter().map(|edge| (edge.key, edge.largest)).collect();
        assert_eq!(found, [("method.step_size", true), ("clip.gradient", false)]);
        assert!((edges[0].end - 8.0).abs() < 1e-12 && (edges[1].end - 0.1).abs() < 1e-12);
        let kept = Space::new(&document, Method::Ed, 1000, &[Axis::StepSize]);
        assert!(
            kept.edges(&Settings { step_size: 8.0, ..kept.at(&[0.5; 3]) }).is_empty(),
            "a kept key has no range"
        );
    }
}
