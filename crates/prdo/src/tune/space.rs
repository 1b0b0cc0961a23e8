//! What is varied: keys of the run file, each within a range around what the run file says.

use prdo_algorithm::Method;
use prdo_algorithm::methods::{Number, Tuning, key};
use prdo_runfile::{Document, Key};
use std::collections::BTreeSet;

/// The numbers of the methods that are tuned, each with its key and range, in the order of the methods.
pub fn numbers() -> impl Iterator<Item = (Key, &'static Number, Tuning)> {
    let mut seen = BTreeSet::new();
    Method::ALL.iter().flat_map(|method| numbers_of(*method)).filter(move |(key, ..)| seen.insert(*key))
}

fn numbers_of(method: Method) -> impl Iterator<Item = (Key, &'static Number, Tuning)> {
    let tuned =
        move |(key, parameter)| method.card().tuned(parameter).map(|(number, law)| (key, number, law));
    Key::parameters().filter_map(tuned)
}

/// Whether `method` reads this number with the choices of the run file.
fn is_chosen(document: &Document, method: Method, number: &Number) -> bool {
    let condition = method.card().condition(&number.parameter());
    condition.is_none_or(|(choice, value)| {
        Key::named(&key(choice)).and_then(|choice| document.text(choice)).as_deref() == Some(value)
    })
}

#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    pub method: Method,
    pub rounds: u32,
    /// The share of a node's records that a round draws.
    pub rate: f64,
    pub step_size: f64,
    /// C_g; `None` in a run that clips nothing.
    pub clip: Option<f64>,
    /// C_Δ over C_g, of a method with differences.
    pub difference: f64,
    /// The method's own numbers, by their keys.
    pub parameters: Vec<(Key, f64)>,
}

#[derive(Clone, Debug)]
pub struct Space {
    laws: Vec<(Axis, Tuning)>,
    fixed: Settings,
}

/// A value near an end of its range, which lies around what the run file says: better ones may lie beyond.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    pub key: Key,
    pub end: f64,
    /// Whether that is the largest value tried; else the smallest.
    pub largest: bool,
}

/// As near as this, as a share of the range, is at its end.
const NEAR: f64 = 0.05;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    StepSize,
    Rounds,
    Rate,
    /// C_g.
    Clip,
    /// C_Δ/C_g.
    Difference,
    /// A method's own number, by its key.
    Parameter(Key),
}

impl Axis {
    /// All, most telling first.
    pub fn all() -> Vec<Axis> {
        let mut all = vec![Axis::StepSize, Axis::Rounds, Axis::Rate, Axis::Clip];
        for (axis, _) in Method::ALL.iter().flat_map(|method| Axis::own(*method)) {
            if !all.contains(&axis) {
                all.push(axis);
            }
        }
        all
    }

    /// What only some methods have, of this one.
    fn own(method: Method) -> Vec<(Axis, Tuning)> {
        let difference = (Axis::Difference, Tuning::Factors(0.002, 0.5));
        let numbers = numbers_of(method).map(|(key, _, tuning)| (Axis::Parameter(key), tuning));
        numbers.chain(method.card().differences.then_some(difference)).collect()
    }

    pub fn key(self) -> Key {
        match self {
            Axis::StepSize => Key::MethodStepSize,
            Axis::Rounds => Key::Rounds,
            Axis::Rate => Key::BatchSize,
            Axis::Clip => Key::ClipGradient,
            Axis::Difference => Key::ClipDifference,
            Axis::Parameter(key) => key,
        }
    }

    pub fn of(key: &str) -> Option<Axis> {
        Axis::all().into_iter().find(|axis| axis.key().path() == key)
    }
}

impl Space {
    /// The ranges for `method` around what the run file says, for nodes with at least `records` records; keys in `keep`
    /// stay as they are.
    pub fn new(document: &Document, method: Method, records: usize, keep: &[Axis]) -> Self {
        let run = document.run_file();
        let rounds = f64::from(run.rounds.unwrap_or(100));
        let least = 1.0 / records.max(1) as f64;
        let rate = run.batch.size.map_or(0.05, |b| b as f64 * least).clamp(least, 1.0);
        let step = run.method.step_size.as_ref().map_or(0.5, |step| step.at(0));
        let clip = run.clip.gradient.unwrap_or(1.0);
        // Without privacy nothing needs to be clipped.
        let clips = run.privacy.is_some() || run.clip.gradient.is_some();
        let given = |key| document.float(key).filter(|_| document.has(key));
        let fixed = Settings {
            method,
            rounds: rounds as u32,
            rate,
            step_size: step,
            clip: clips.then_some(clip),
            difference: (run.clip.difference.unwrap_or(0.02 * clip) / clip).min(1.0),
            parameters: numbers_of(method)
                .filter(|(_, own, _)| is_chosen(document, method, own))
                .map(|(key, own, _)| (key, given(key).unwrap_or(own.default_in(method.card().name))))
                .collect(),
        };
        let tied = method.asks(&run.settings_of(method), 1).kappa().is_some();
        let laws = [
            (Axis::StepSize, Tuning::Factors(step / 20.0, step * 20.0)),
            (Axis::Rounds, Tuning::Whole((rounds / 8.0).max(5.0), (rounds * 2.0).max(5.0))),
            (Axis::Rate, Tuning::Factors((rate / 4.0).max(least), (rate * 8.0).min(1.0).max(least))),
            (Axis::Clip, Tuning::Factors(clip / 10.0, clip * 3.0)),
        ];
        let varied = |(axis, _): &(Axis, Tuning)| {
            let clip = matches!(axis, Axis::Clip | Axis::Difference);
            let read = match axis {
                Axis::Parameter(key) => fixed.parameters.iter().any(|(own, _)| own == key),
                Axis::Difference => !tied,
                _ => true,
            };
            read && !keep.contains(axis) && (clips || !clip)
        };
        Self { laws: laws.into_iter().chain(Axis::own(method)).filter(varied).collect(), fixed }
    }

    pub fn dimensions(&self) -> usize {
        self.laws.len()
    }

    /// Which of these settings are at an end of a range beyond which the search could have gone on: step, rounds and
    /// C_g. Batches end at all records, and what else is varied has its natural limits.
    pub fn edges(&self, settings: &Settings) -> Vec<Edge> {
        let edge = |(axis, law): &(Axis, Tuning)| {
            let value = match axis {
                Axis::StepSize => settings.step_size,
                Axis::Rounds => f64::from(settings.rounds),
                Axis::Clip => settings.clip?,
                Axis::Rate | Axis::Difference | Axis::Parameter(_) => return None,
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
        let mut settings = self.fixed.clone();
        for ((axis, law), share) in self.laws.iter().zip(point) {
            let value = law.at(*share);
            match axis {
                Axis::StepSize => settings.step_size = value,
                Axis::Rounds => settings.rounds = value as u32,
                Axis::Rate => settings.rate = value,
                Axis::Clip => settings.clip = Some(value),
                Axis::Difference => settings.difference = value,
                Axis::Parameter(key) => {
                    let own = settings.parameters.iter_mut().filter(|(own, _)| own == key);
                    own.for_each(|(_, own)| *own = value);
                }
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
        let beta = |share| edm.at(&[share; 5]).parameters[0].1;
        assert!((beta(0.0) - 0.98).abs() < 1e-12 && beta(1.0).abs() < 1e-12);
        assert_eq!(Space::new(&document, Method::Dsgd, 1000, &[]).dimensions(), 4);
    }

    #[test]
    fn what_can_be_kept_is_listed_most_telling_first() {
        let keys: Vec<&str> = Axis::all().into_iter().map(|axis| axis.key().path()).collect();
        let common = ["method.step_size", "rounds", "batch.size", "clip.gradient"];
        assert_eq!(
            keys,
            [
                &common[..],
                &[
                    "method.gamma",
                    "method.kappa",
                    "clip.difference",
                    "method.beta",
                    "method.exchanges",
                    "method.restart",
                    "method.interval",
                    "method.decay",
                    "method.floor",
                    "method.scaled_clip",
                    "method.scaled_step"
                ]
            ]
            .concat()
        );
    }

    #[test]
    fn values_at_an_end_of_their_range_are_told() {
        let text = "rounds = 100\n[method]\nname = \"ed\"\nstep_size = 0.4\n[clip]\ngradient = 1.0\n[batch]\nsize = 50\n";
        let document = Document::parse("test", text).unwrap();
        let space = Space::new(&document, Method::Ed, 1000, &[]);
        assert_eq!(space.edges(&space.at(&[0.5, 0.5, 1.0, 0.5])), [], "a batch of all records is no edge");
        let edges = space.edges(&space.at(&[0.97, 0.5, 0.5, 0.02]));
        let found: Vec<_> = edges.iter().map(|edge| (edge.key, edge.largest)).collect();
        assert_eq!(found, [(Key::MethodStepSize, true), (Key::ClipGradient, false)]);
        assert!((edges[0].end - 8.0).abs() < 1e-12 && (edges[1].end - 0.1).abs() < 1e-12);
        let kept = Space::new(&document, Method::Ed, 1000, &[Axis::StepSize]);
        assert!(
            kept.edges(&Settings { step_size: 8.0, ..kept.at(&[0.5; 3]) }).is_empty(),
            "a kept key has no range"
        );
    }
}
