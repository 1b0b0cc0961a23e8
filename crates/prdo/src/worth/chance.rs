//! How far a difference between two models can be trusted: what the held-out records and the seeds leave to chance.

use super::{Trained, mean};
use crate::report::Spread;

/// A standard normal variable is within ± this with a probability of 95 %.
const NORMAL: f64 = 1.96;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gain {
    /// First minus second; of accuracies it is a share, not points.
    pub value: f64,
    /// Half the width of its 95 % interval.
    pub margin: f64,
}

impl Gain {
    pub fn is_clear(self) -> bool {
        self.value.abs() > self.margin
    }

    pub fn is_better(self) -> bool {
        self.value > 0.0 && self.is_clear()
    }
}

/// A figure of a model: with each seed, and a value for each held-out record, whose mean it is.
#[derive(Clone, Copy)]
struct Figure<'a> {
    seeds: &'a [f64],
    records: &'a [f32],
}

impl<'a> Figure<'a> {
    fn accuracy(trained: &'a Trained) -> Self {
        Self { seeds: &trained.accuracy, records: &trained.right }
    }

    fn auc(trained: &'a Trained) -> Self {
        Self { seeds: &trained.auc, records: &trained.ranks }
    }
}

/// The first model's accuracy minus the second's, on so many held-out records.
pub(super) fn of_accuracy(first: &Trained, second: &Trained, test_records: usize) -> Gain {
    gain(Figure::accuracy(first), Figure::accuracy(second), test_records)
}

/// The same of the area under the ROC curve; nothing where there is none.
pub(super) fn of_auc(first: &Trained, second: &Trained, test_records: usize) -> Option<Gain> {
    let measured = !first.auc.is_empty() && !second.auc.is_empty();
    measured.then(|| gain(Figure::auc(first), Figure::auc(second), test_records))
}

fn gain(first: Figure<'_>, second: Figure<'_>, test_records: usize) -> Gain {
    let records = test_records.max(1) as f64;
    // A record more or less is the least that can be seen (the correction for continuity of McNemar's test).
    let sampling = NORMAL * sampling_error(first, second, records) + 1.0 / records;
    let seeds: Vec<f64> = first.seeds.iter().zip(second.seeds).map(|(a, b)| a - b).collect();
    let training = Spread::of(&seeds).and_then(Spread::half).unwrap_or(0.0);
    Gain { value: mean(first.seeds) - mean(second.seeds), margin: sampling.hypot(training) }
}

/// The standard error that other held-out records of the same kind would show. Where it is known which records a model
/// gets right, only those on which the two disagree count.
fn sampling_error(first: Figure<'_>, second: Figure<'_>, records: f64) -> f64 {
    if first.records.len() > 1 && first.records.len() == second.records.len() {
        let pairs = first.records.iter().zip(second.records);
        let differences: Vec<f64> = pairs.map(|(a, b)| f64::from(*a) - f64::from(*b)).collect();
        return Spread::of(&differences).map_or(0.0, |spread| spread.deviation / records.sqrt());
    }
    let variance = |figure: Figure<'_>| {
        let share = mean(figure.seeds).clamp(0.0, 1.0);
        share * (1.0 - share)
    };
    ((variance(first) + variance(second)) / records).sqrt()
}

/// The median; its margin is that of the difference in the middle, the larger one of two.
pub(super) fn median(mut gains: Vec<Gain>) -> Gain {
    gains.sort_by(|a, b| a.value.total_cmp(&b.value));
    let at = |k: usize| gains.get(k).copied().unwrap_or(Gain { value: 0.0, margin: 0.0 });
    let (low, high) = (at(gains.len().saturating_sub(1) / 2), at(gains.len() / 2));
    Gain { value: 0.5 * (low.value + high.value), margin: low.margin.max(high.margin) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Right on the first `right` of `records` records, and besides on the last `late`.
    fn model(records: usize, right: usize, late: usize) -> Trained {
        let is_right = |r: usize| r < right || r >= records - late;
        let right: Vec<f32> = (0..records).map(|r| f32::from(is_right(r))).collect();
        let accuracy = right.iter().sum::<f32>() / records as f32;
        Trained { accuracy: vec![f64::from(accuracy)], right, ..Trained::default() }
    }

    /// The exact two-sided McNemar test: 5 against 0 has p = 0.063, 6 against 0 has 0.031; 10 against 2 has 0.039, 9
    /// against 2 has 0.065.
    #[test]
    fn one_seed_tells_what_mcnemars_test_tells() {
        let n = 1000;
        for (more, less, clear) in [(5, 0, false), (6, 0, true), (9, 2, false), (10, 2, true), (0, 0, false)]
        {
            let (a, b) = (model(n, 700 + more, 0), model(n, 700, less));
            let found = of_accuracy(&a, &b, n);
            assert_eq!(found.is_clear(), clear, "{more} {less} {found:?}");
            let back = of_accuracy(&b, &a, n);
            assert_eq!((back.is_clear(), back.is_better()), (clear, false));
        }
    }

    #[test]
    fn without_single_records_the_error_is_that_of_two_shares() {
        let bare = |accuracy: f64| Trained { accuracy: vec![accuracy], ..Trained::default() };
        let found = of_accuracy(&bare(0.8), &bare(0.5), 100);
        assert!((found.margin - (1.96 * (0.41_f64 / 100.0).sqrt() + 0.01)).abs() < 1e-12, "{found:?}");
        assert!(found.is_clear() && (found.value - 0.3).abs() < 1e-12);
        assert_eq!(of_auc(&bare(0.8), &bare(0.5), 100), None);
    }

    #[test]
    fn seeds_that_differ_widen_the_margin() {
        let with = |accuracy: &[f64]| Trained { accuracy: accuracy.to_vec(), ..model(1000, 800, 0) };
        let steady = of_accuracy(&with(&[0.80, 0.81, 0.82]), &with(&[0.70, 0.71, 0.72]), 1000);
        let shaky = of_accuracy(&with(&[0.70, 0.81, 0.92]), &with(&[0.80, 0.71, 0.62]), 1000);
        assert!(steady.is_better() && !shaky.is_clear() && shaky.margin > 10.0 * steady.margin, "{shaky:?}");
    }

    #[test]
    fn the_median_has_the_margin_of_the_middle() {
        let gain = |value: f64, margin: f64| Gain { value, margin };
        assert_eq!(median(vec![gain(3.0, 9.0), gain(1.0, 8.0), gain(2.0, 0.5)]), gain(2.0, 0.5));
        assert_eq!(median(vec![gain(3.0, 0.25), gain(1.0, 0.5)]), gain(2.0, 0.5));
        assert_eq!(median(Vec::new()), gain(0.0, 0.0));
    }
}
