//! The area under the ROC curve: how well a model of two classes puts records in order.

use prdo_privacy::{Data, Model, Records};
use rayon::prelude::*;

/// The share of pairs, one record of each class, in which the record of the second class has the higher score; ties
/// count half. `None` where a class has no record or a score is not a number.
pub fn area_under_roc(mut ranked: Vec<(f64, bool)>) -> Option<f64> {
    if ranked.iter().any(|(score, _)| score.is_nan()) {
        return None;
    }
    // −0 is 0: they tie.
    ranked.iter_mut().for_each(|(score, _)| *score += 0.0);
    ranked.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    // Pairs are counted in halves, exactly.
    let (mut halves, mut below) = (0_u128, 0_u128);
    for tied in ranked.chunk_by(|a, b| a.0 == b.0) {
        let second = tied.iter().filter(|(_, second)| *second).count() as u128;
        let first = tied.len() as u128 - second;
        halves += second * (2 * below + first);
        below += first;
    }
    let pairs = below * (ranked.len() as u128 - below);
    (pairs > 0).then(|| halves as f64 / (2 * pairs) as f64)
}

/// A value for each record, in the order given: their mean is the area under the ROC curve, and their deviation over the
/// root of their number is its standard error. The differences of two models' values on the same records are such values
/// of the difference of their areas (DeLong, DeLong and Clarke-Pearson, Biometrics 44, 1988). `None` where
/// [`area_under_roc`] is.
pub fn auc_values(ranked: &[(f64, bool)]) -> Option<Vec<f64>> {
    let area = area_under_roc(ranked.to_vec())?;
    let records = ranked.len() as f64;
    let seconds = ranked.iter().filter(|(_, second)| *second).count() as f64;
    let firsts = records - seconds;
    let mut order: Vec<(f64, usize)> = ranked.iter().enumerate().map(|(k, r)| (r.0 + 0.0, k)).collect();
    order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let is_second = |k: usize| ranked.get(k).is_some_and(|r| r.1);
    let mut values = vec![area; ranked.len()];
    // Of each class: how many records have a lower score.
    let (mut firsts_below, mut seconds_below) = (0.0, 0.0);
    for tied in order.chunk_by(|a, b| a.0 == b.0) {
        let tied_seconds = tied.iter().filter(|(_, k)| is_second(*k)).count() as f64;
        let tied_firsts = tied.len() as f64 - tied_seconds;
        // The share of the other class that a record of this score is on the right side of.
        let placed_second = (firsts_below + 0.5 * tied_firsts) / firsts;
        let placed_first = 1.0 - (seconds_below + 0.5 * tied_seconds) / seconds;
        for (_, k) in tied {
            let (placed, class) =
                if is_second(*k) { (placed_second, seconds) } else { (placed_first, firsts) };
            if let Some(value) = values.get_mut(*k) {
                *value += records / class * (placed - area);
            }
        }
        firsts_below += tied_firsts;
        seconds_below += tied_seconds;
    }
    Some(values)
}

/// The area under the ROC curve of the model with parameters `x` on `records`; `None` where that has no meaning.
pub fn auc<M: Model>(model: &M, x: &[f64], records: &M::Data) -> Option<f64> {
    const CHUNK: usize = 512;
    let part = |k: usize| {
        let chunk = Records::Run(k * CHUNK, ((k + 1) * CHUNK).min(records.len()));
        model.ranked(x, records, chunk)
    };
    let parts: Option<Vec<Vec<(f64, bool)>>> =
        (0..records.len().div_ceil(CHUNK)).into_par_iter().map(part).collect();
    area_under_roc(parts?.concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ties_count_half() {
        // Of the 3·2 pairs 0.4 beats 0.1 and ties with 0.4, 0.4 again, and 0.9 beats both: 1 + ½ + 1 + ½ + 2 = 5.
        let ranked = vec![(0.1, false), (0.4, true), (0.4, false), (0.4, true), (0.9, true)];
        assert_eq!(area_under_roc(ranked), Some(5.0 / 6.0));
        assert_eq!(area_under_roc(vec![(-0.0, true), (0.0, false)]), Some(0.5));
        assert_eq!(area_under_roc(vec![(1.0, true), (2.0, false)]), Some(0.0));
        assert_eq!(area_under_roc(vec![(1.0, true), (2.0, true)]), None);
        assert_eq!(area_under_roc(vec![(f64::NAN, true), (2.0, false)]), None);
        assert_eq!(area_under_roc(Vec::new()), None);
    }

    /// By DeLong's formulas written out: the seconds' shares ¾, ¾ and 1 have the variance 1/72, the firsts' 1 and 2/3 have
    /// 1/36, both over counts; the error's square is 1/72/3 + 1/36/2.
    #[test]
    fn values_have_delongs_error() {
        let ranked = [(0.1, false), (0.4, true), (0.4, true), (0.4, false), (0.9, true)];
        let values = auc_values(&ranked).unwrap();
        let mean = values.iter().sum::<f64>() / 5.0;
        let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / 25.0;
        assert!((variance - 1.0 / 54.0).abs() < 1e-12, "{variance}");
        assert_eq!(auc_values(&[(1.0, true)]), None);
    }

    proptest! {
        #[test]
        fn it_is_the_share_of_pairs_in_order(scores in prop::collection::vec((-6_i8..6, any::<bool>()), 2..80)) {
            let ranked: Vec<(f64, bool)> = scores.iter().map(|(s, second)| (f64::from(*s) / 4.0, *second)).collect();
            let (mut won, mut pairs) = (0.0, 0.0);
            for (a, _) in ranked.iter().filter(|(_, second)| *second) {
                for (b, _) in ranked.iter().filter(|(_, second)| !*second) {
                    pairs += 1.0;
                    won += if a > b { 1.0 } else if a == b { 0.5 } else { 0.0 };
                }
            }
            let expected = (pairs > 0.0).then_some(won / pairs);
            prop_assert_eq!(area_under_roc(ranked.clone()), expected);
            // The other way round, the rest.
            let turned = ranked.iter().map(|(s, second)| (-s, *second)).collect();
            let sum = area_under_roc(ranked).zip(area_under_roc(turned)).map(|(a, b)| a + b);
            prop_assert!(sum.is_none_or(|s| (s - 1.0).abs() < 1e-12));
        }

        #[test]
        fn values_have_the_area_as_their_mean(scores in prop::collection::vec((-6_i8..6, any::<bool>()), 2..80)) {
            let ranked: Vec<(f64, bool)> = scores.iter().map(|(s, second)| (f64::from(*s) / 4.0, *second)).collect();
            let mean = auc_values(&ranked).map(|v| v.iter().sum::<f64>() / v.len() as f64);
            let close = match (mean, area_under_roc(ranked)) {
                (Some(a), Some(b)) => (a - b).abs() < 1e-12,
                (a, b) => a == b,
            };
            prop_assert!(close);
        }
    }
}
