//! What a few runs can tell: Student's t, differences between runs of the same seeds, several comparisons at once.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// P(t > k) for Student's t; accurate in its far tail too.
pub fn tail(k: f64, freedom: u32) -> f64 {
    StudentsT::new(0.0, 1.0, f64::from(freedom)).map_or(f64::NAN, |t| t.sf(k))
}

/// The k from 0 to 1e9 with P(t > k) = `level`. By bisection: statrs's own inverse is off by a thousandth in the far tail
/// of one degree of freedom.
pub fn quantile(level: f64, freedom: u32) -> f64 {
    let (mut low, mut high) = (0.0, 1e9);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if tail(middle, freedom) > level { low = middle } else { high = middle }
    }
    high
}

/// Differences between two methods over the seeds that both have: the same seed is the same random streams, so what
/// chance adds to both falls out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Paired {
    pub pairs: usize,
    /// Of first minus second.
    pub mean: f64,
    /// The ends of its 95 % interval.
    pub low: f64,
    pub high: f64,
    pub t: f64,
    /// The probability of a |t| this large or larger if the true difference is zero; 1 where nothing can be tested.
    pub p: f64,
    /// Whether the difference is the same for every pair and not zero: then there is no spread to hold it against. Runs
    /// without randomness are like that, and so are few pairs on a coarse measure, by chance.
    pub constant: bool,
}

/// Differences smaller than this share of the values are rounding.
const ROUNDING: f64 = 1e-9;

impl Paired {
    /// Of these pairs; nothing for fewer than two, or for values that are not finite.
    pub fn of(pairs: &[(f64, f64)]) -> Option<Self> {
        let count = pairs.len();
        let freedom = u32::try_from(count).ok()?.checked_sub(1).filter(|f| *f > 0)?;
        if !pairs.iter().all(|(a, b)| a.is_finite() && b.is_finite()) {
            return None;
        }
        let differences = || pairs.iter().map(|(a, b)| a - b);
        let n = count as f64;
        let mean = differences().sum::<f64>() / n;
        let variance = differences().map(|d| (d - mean) * (d - mean)).sum::<f64>() / (n - 1.0);
        let error = (variance / n).sqrt();
        let half = quantile(0.025, freedom) * error;
        let size = pairs.iter().fold(0.0_f64, |size, (a, b)| size.max(a.abs()).max(b.abs()));
        let none = mean.abs() <= ROUNDING * size;
        let constant = !none && differences().all(|d| (d - mean).abs() <= ROUNDING * size);
        let (t, p) = match none || constant {
            true => (0.0, 1.0),
            false => (mean / error, (2.0 * tail((mean / error).abs(), freedom)).clamp(0.0, 1.0)),
        };
        Some(Self { pairs: count, mean, low: mean - half, high: mean + half, t, p, constant })
    }
}

/// The half width of the 95 % interval of a mean, by Student's t; nothing for a single value.
pub fn half_width(deviation: f64, count: usize) -> Option<f64> {
    let freedom = u32::try_from(count).ok()?.checked_sub(1).filter(|f| *f > 0)?;
    Some(quantile(0.025, freedom) * deviation / (count as f64).sqrt())
}

/// Accuracies that exceed the share of the most common class by less than this say little about a model.
const HAIR: f64 = 0.01;

/// Whether an accuracy hardly exceeds the share of the most common class, so that it says little about a model.
pub fn says_little(accuracy: f64, most_common_class: f64) -> bool {
    accuracy < most_common_class + HAIR
}

/// Holm's correction: each of several p values raised so that, taken together, they mislead no more often than one
/// would alone.
pub fn holm(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut corrected = vec![1.0; values.len()];
    let mut least = 0.0_f64;
    for (rank, k) in order.into_iter().enumerate() {
        least = least.max((values.len() - rank) as f64 * values[k]).min(1.0);
        corrected[k] = least;
    }
    corrected
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From tables of Student's t.
    #[test]
    fn quantiles_of_the_tables() {
        for (level, freedom, k) in [
            (0.05, 1, 6.313_752),
            (0.025, 2, 4.302_653),
            (0.01, 5, 3.364_930),
            (0.025, 19, 2.093_024),
            (0.0005, 19, 3.883_406),
            (0.025, 30, 2.042_272),
        ] {
            assert!((quantile(level, freedom) - k).abs() < 1e-5, "{level} {freedom}");
        }
        assert!((tail(8.0, 19) / 8.2e-8 - 1.0).abs() < 0.1, "{}", tail(8.0, 19));
    }

    /// scipy 1.17: `stats.t.sf`.
    #[test]
    fn tails_of_scipy() {
        for (t, freedom, p) in [
            (0.5, 1, 0.352_416_382_349_566_74),
            (2.3, 4, 0.041_469_518_556_191_18),
            (4.1, 7, 0.002_286_520_088_569_973),
            (1.0, 30, 0.162_654_307_713_015_1),
        ] {
            assert!((tail(t, freedom) - p).abs() < 1e-12, "{t} {freedom}");
        }
    }

    /// scipy 1.17: `stats.ttest_rel` and its interval.
    #[test]
    fn paired_differences_of_scipy() {
        let pairs = [(0.912, 0.901), (0.905, 0.899), (0.921, 0.915), (0.917, 0.902), (0.909, 0.905)];
        let found = Paired::of(&pairs).unwrap();
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}");
        close(found.mean, 0.0084);
        close(found.t, 4.168_850_002_677_908);
        close(found.p, 0.014_044_241_520_699_104);
        close(found.low, 0.002_805_618_127_617_876_5);
        close(found.high, 0.013_994_381_872_382_139);
        let found = Paired::of(&[(1.5, 1.0), (2.5, 3.5), (0.3, 0.9), (9.0, 2.0)]).unwrap();
        close(found.t, 0.789_290_301_687_312_2);
        close(found.p, 0.487_571_824_911_829_43);
        close(found.low, -4.472_251_968_329_774);
        close(found.high, 7.422_251_968_329_775);
    }

    #[test]
    fn odd_pairs_have_an_answer() {
        assert_eq!(Paired::of(&[]), None);
        assert_eq!(Paired::of(&[(1.0, 2.0)]), None);
        assert_eq!(Paired::of(&[(1.0, 2.0), (f64::NAN, 1.0)]), None);
        assert_eq!(Paired::of(&[(1.0, 1.0), (2.0, 2.0), (3.0, 3.0)]).unwrap().p, 1.0);
        let rounding = Paired::of(&[(1.0, 1.0 + 1e-15), (2.0, 2.0 + 2e-15), (3.0, 3.0)]).unwrap();
        assert_eq!((rounding.t, rounding.p), (0.0, 1.0));
        // The same difference at every seed has no spread to be held against: nothing is claimed.
        let same = Paired::of(&[(2.0, 1.0), (4.0, 3.0), (8.0, 7.0)]).unwrap();
        assert!(same.constant && same.p == 1.0 && same.low == 1.0 && same.high == 1.0);
        assert!(!Paired::of(&[(1.0, 1.0), (2.0, 2.0)]).unwrap().constant);
        assert!(!rounding.constant);
        assert_eq!(half_width(1.0, 1), None);
        assert!((half_width(1.0, 2).unwrap() - 12.706_204_736 / 2f64.sqrt()).abs() < 1e-6);
    }

    #[test]
    fn holm_raises_and_keeps_the_order() {
        assert_eq!(holm(&[0.01, 0.04, 0.03]), [0.03, 0.06, 0.06]);
        assert_eq!(holm(&[0.5, 0.9]), [1.0, 1.0]);
        assert!(holm(&[]).is_empty());
        assert_eq!(holm(&[0.02]), [0.02]);
    }
}
