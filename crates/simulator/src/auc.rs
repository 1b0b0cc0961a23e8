//! The area under the ROC curve: how well a model of two classes puts records in order.

use prdo_privacy::{Data, Model, Records};
use rayon::prelude::*;

/// The share of pairs, one record of each class, in which the record of the second class has the higher score; ties
/// count half. `None` where a class has no record or a score is no number.
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
    }
}
