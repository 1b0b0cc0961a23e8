//! An answer in a few figures and plain words.

use super::chance::{self, Gain};
use super::{Organisation, Trained, Worth, mean};
use crate::budget::words::short;
use crate::statistics::says_little;

/// The figures that matter, each with what chance may add to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict {
    /// What joining adds to the accuracy of the median organisation, with privacy.
    pub gain: Gain,
    /// The same without privacy.
    pub open_gain: Gain,
    /// What joining adds to the area under the ROC curve of the median organisation, with privacy.
    pub auc_gain: Option<Gain>,
    /// How many organisations have a better model together, with privacy.
    pub gaining: usize,
    /// How many of them by more than chance.
    pub clearly_gaining: usize,
    /// What privacy takes from the accuracy of the model of all.
    pub privacy_cost: Gain,
    /// What it takes from its area under the ROC curve.
    pub privacy_auc_cost: Option<Gain>,
}

/// A loss that falls by this share of its fall in the last fifth of the rounds would go on falling with more of them: one
/// that falls as 1/t, by four times as much.
const STILL_FALLING: f64 = 0.002;

impl Worth {
    pub fn verdict(&self) -> Verdict {
        let records = self.test_records;
        let gains = |joint: &Trained, own: fn(&Organisation) -> &Trained| -> Vec<Gain> {
            self.organisations.iter().map(|o| chance::of_accuracy(joint, own(o), records)).collect()
        };
        let private = gains(&self.together, |o| &o.alone);
        let of_auc = |o: &Organisation| chance::of_auc(&self.together, &o.alone, records);
        let ranking = self.organisations.iter().map(of_auc).collect::<Option<Vec<Gain>>>();
        Verdict {
            gaining: private.iter().filter(|gain| gain.value > 0.0).count(),
            clearly_gaining: private.iter().filter(|gain| gain.is_better()).count(),
            gain: chance::median(private),
            open_gain: chance::median(gains(&self.open, |o| &o.open)),
            auc_gain: ranking.filter(|gains| !gains.is_empty()).map(chance::median),
            privacy_cost: chance::of_accuracy(&self.open, &self.together, records),
            privacy_auc_cost: chance::of_auc(&self.open, &self.together, records),
        }
    }

    /// Mean, least and most of the organisations' own models: accuracy and, where there is one, AUC.
    pub fn own(&self, open: bool) -> [(f64, Option<f64>); 3] {
        let models = || self.organisations.iter().map(move |o| if open { &o.open } else { &o.alone });
        let spread = |values: Vec<f64>| {
            let least = values.iter().copied().fold(f64::INFINITY, f64::min);
            [mean(&values), least, values.iter().copied().fold(f64::NEG_INFINITY, f64::max)]
        };
        let accuracy = spread(models().map(Trained::mean_accuracy).collect());
        let auc = models().map(Trained::mean_auc).collect::<Option<Vec<f64>>>().map(spread);
        let one = |k: usize| (accuracy[k], auc.map(|auc| auc[k]));
        [one(0), one(1), one(2)]
    }

    /// The answer in plain words: no more than chance allows.
    pub fn words(&self) -> String {
        let verdict = self.verdict();
        let lines = [
            Some(self.joining(&verdict)),
            self.baseline(&verdict),
            Some(privacy(&verdict)),
            self.by_auc().then(|| privacy_by_auc(&verdict)).flatten(),
            self.unfinished(),
            (self.together.accuracy.len() < 2).then(|| {
                "One seed: another draw of batches and noise may give another answer, and no ± here knows of it; repeat \
                 with --seeds 3."
                    .to_string()
            }),
        ];
        lines.into_iter().flatten().collect::<Vec<_>>().join("\n")
    }

    fn joining(&self, verdict: &Verdict) -> String {
        let Verdict { gain, gaining, clearly_gaining, .. } = *verdict;
        let price = match &self.together.guarantee {
            Some(g) => format!(" at ε = {} (δ = {:e})", short(g.epsilon, 3), g.delta),
            None => String::new(),
        };
        let joining = match gain {
            gain if !gain.is_clear() => format!(
                "Whether joining helps{price} cannot be told from these runs: it changes the median organisation's \
                 accuracy by {}, which chance alone may do",
                signed_points(gain)
            ),
            gain if gain.value >= 0.0 => {
                format!("Joining gives the median organisation {} of accuracy{price}", points(gain))
            }
            gain => {
                let cost = Gain { value: -gain.value, ..gain };
                format!("Joining costs the median organisation {} of accuracy{price}", points(cost))
            }
        };
        format!(
            "{joining}: {:.2} % right together; {gaining} of {} organisations have a better model than alone, \
             {clearly_gaining} by more than chance.",
            100.0 * self.together.mean_accuracy(),
            self.organisations.len()
        )
    }

    /// Whether accuracy hardly exceeds what always saying the most common class gets, so that AUC is to be looked at.
    fn by_auc(&self) -> bool {
        let best = self.organisations.iter().map(|o| o.alone.mean_accuracy());
        let best = best.fold(self.together.mean_accuracy(), f64::max);
        self.most_common_class.is_some_and(|common| says_little(best, common))
    }

    /// That the runs without privacy, which the price of privacy is measured by, were not at their end.
    fn unfinished(&self) -> Option<String> {
        let share = self.open.falling.filter(|share| *share > STILL_FALLING)?;
        let rounds = self.open_rounds;
        Some(format!(
            "Without privacy the model of all had not learned all it can after {rounds} rounds: {:.1} % of the fall of its loss \
             was in the last fifth of them. With more rounds it may be better, and privacy dearer than is said here: --open \
             rounds={} gives them to the runs without privacy.",
            100.0 * share,
            10 * u64::from(rounds)
        ))
    }

    /// Where accuracy hardly exceeds what always saying the most common class gets: that it does, and what AUC says.
    fn baseline(&self, verdict: &Verdict) -> Option<String> {
        let common = self.most_common_class.filter(|_| self.by_auc())?;
        let little = format!(
            "Accuracy says little here: always predicting the majority class is right for {:.2} %.",
            100.0 * common
        );
        let (Some(gain), Some(auc)) = (verdict.auc_gain, self.together.mean_auc()) else {
            return Some(little);
        };
        let value = signed(gain.value, 4);
        let shown = format!("{value} ± {:.4} (together {auc:.4}; 0.5 is chance)", gain.margin);
        let said = match gain.is_clear() {
            true if gain.value > 0.0 => "joining helps the median organisation",
            true => "joining costs the median organisation",
            false => "the median organisation's change is within chance",
        };
        Some(format!("{little} By the area under the ROC curve (AUC) {said}: {shown}."))
    }
}

/// What privacy costs, and what joining would give without it.
fn privacy(verdict: &Verdict) -> String {
    let Verdict { open_gain, privacy_cost, .. } = *verdict;
    let cost = match privacy_cost {
        cost if !cost.is_clear() => {
            format!("What privacy costs the model of all is within chance, {}", signed_points(cost))
        }
        cost if cost.value >= 0.0 => format!("Privacy costs the model of all {}", points(cost)),
        cost => format!(
            "The model of all is {} better with privacy than without: the settings do not suit training without \
             privacy (--open KEY=VALUE gives it others)",
            points(Gain { value: -cost.value, ..cost })
        ),
    };
    let chance = if open_gain.is_clear() { "" } else { ", which is within chance" };
    format!("{cost}; without privacy joining would give {}{chance}.", signed_points(open_gain))
}

/// What privacy costs by the area under the ROC curve, where there is one.
fn privacy_by_auc(verdict: &Verdict) -> Option<String> {
    let cost = verdict.privacy_auc_cost?;
    let size = format!("{:.4} ± {:.4}", cost.value.abs(), cost.margin);
    Some(match cost.is_clear() {
        true if cost.value > 0.0 => format!("By AUC privacy takes {size} from the model of all."),
        true => format!(
            "By AUC the model of all is {size} better with privacy than without: the settings do not suit training without \
             privacy."
        ),
        false => format!(
            "By AUC what privacy costs the model of all is within chance, {} ± {:.4}.",
            signed(cost.value, 4),
            cost.margin
        ),
    })
}

/// A difference of shares in points of a hundred, with what chance may add.
fn points(gain: Gain) -> String {
    format!("{:.1} ± {:.1} points", 100.0 * gain.value, 100.0 * gain.margin)
}

fn signed_points(gain: Gain) -> String {
    format!("{} ± {:.1} points", signed(100.0 * gain.value, 1), 100.0 * gain.margin)
}

fn signed(value: f64, places: usize) -> String {
    format!("{}{:.places$}", if value < 0.0 { '−' } else { '+' }, value.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trained(accuracy: &[f64]) -> Trained {
        Trained { accuracy: accuracy.to_vec(), ..Trained::default() }
    }

    fn worth(together: &[f64], alone: [f64; 3], test_records: usize) -> Worth {
        let organisation = |alone: f64, open: f64| Organisation {
            name: "a".into(),
            records: 1,
            alone: trained(&[alone]),
            open: trained(&[open]),
        };
        Worth {
            together: trained(together),
            open: trained(&[0.85]),
            organisations: vec![
                organisation(alone[0], 0.8),
                organisation(alone[1], 0.8),
                organisation(alone[2], 0.9),
            ],
            most_common_class: Some(0.5),
            test_records,
            open_rounds: 60,
        }
    }

    #[test]
    fn gains_are_of_the_median_organisation() {
        let worth = worth(&[0.8], [0.5, 0.7, 0.85], 10_000);
        let verdict = worth.verdict();
        let near = |a: f64, b: f64| (a - b).abs() < 1e-12;
        assert!(near(verdict.gain.value, 0.1) && near(verdict.open_gain.value, 0.05));
        assert!(near(verdict.privacy_cost.value, 0.05) && verdict.auc_gain.is_none());
        assert_eq!((verdict.gaining, verdict.clearly_gaining), (2, 2));
        let [mean, least, most] = worth.own(false);
        assert!(near(mean.0, 2.05 / 3.0) && least == (0.5, None) && most == (0.85, None));
        let words = worth.words();
        assert!(words.starts_with("Joining gives the median organisation 10.0 ± 1."), "{words}");
        for part in ["2 of 3", "Privacy costs the model of all 5.0 ± ", "One seed: ", "repeat with --seeds 3"]
        {
            assert!(words.contains(part), "{part}: {words}");
        }
        assert!(!words.contains("says little"), "{words}");
    }

    #[test]
    fn few_records_and_one_seed_conclude_nothing() {
        let words = worth(&[0.803], [0.80, 0.80, 0.81], 400).words();
        assert!(
            words.starts_with("Whether joining helps cannot be told") && words.contains("+0.3 ± "),
            "{words}"
        );
        assert!(!words.contains("Joining gives") && words.contains("0 by more than chance"), "{words}");
        // Three seeds that agree have nothing to say of another draw of noise.
        let several = worth(&[0.803, 0.804, 0.803], [0.80, 0.80, 0.81], 400).words();
        assert!(!several.contains("One seed"), "{several}");
    }

    #[test]
    fn a_run_without_privacy_that_still_learns_is_said_to_do_so() {
        let mut worth = worth(&[0.8], [0.5, 0.7, 0.85], 10_000);
        for (falling, said) in [(None, false), (Some(0.001), false), (Some(-0.2), false), (Some(0.07), true)]
        {
            worth.open.falling = falling;
            let words = worth.words();
            assert_eq!(
                words.contains("7.0 % of the fall of its loss was in the last fifth"),
                said,
                "{words}"
            );
            assert_eq!(words.contains("--open rounds=600"), said, "{words}");
        }
    }

    #[test]
    fn beside_a_common_class_the_order_of_records_counts() {
        let mut rare = worth(&[0.970], [0.968, 0.969, 0.967], 1000);
        rare.most_common_class = Some(0.969);
        assert!(rare.words().contains(
            "Accuracy says little here: always predicting the majority class is right for 96.90 %."
        ));
        // Fifty of a thousand are of the second class. Alone they are in no order, together they come last.
        let ranks = |good: bool| -> Vec<f32> {
            let score = |r: usize| if good { f64::from(r >= 950) } else { (r * 37 % 100) as f64 };
            let ranked: Vec<(f64, bool)> = (0..1000).map(|r| (score(r), r >= 950)).collect();
            prdo_simulator::auc_values(&ranked).unwrap().into_iter().map(|v| v as f32).collect()
        };
        let give = |trained: &mut Trained, good: bool| {
            trained.ranks = ranks(good);
            trained.auc = vec![f64::from(trained.ranks.iter().sum::<f32>()) / 1000.0];
        };
        give(&mut rare.together, true);
        rare.organisations.iter_mut().for_each(|o| give(&mut o.alone, false));
        let words = rare.words();
        assert!(
            words
                .contains("By the area under the ROC curve (AUC) joining helps the median organisation: +0.")
        );
        // The price of privacy too.
        assert!(!words.contains("By AUC"), "{words}");
        give(&mut rare.open, true);
        assert!(
            rare.words().contains("By AUC what privacy costs the model of all is within chance, +0.0000 ± ")
        );
        give(&mut rare.together, false);
        let dear = rare.words();
        assert!(dear.contains("By AUC privacy takes 0.4895 ± 0.0"), "{dear}");
        give(&mut rare.together, true);
        rare.organisations.iter_mut().for_each(|o| give(&mut o.alone, true));
        assert!(
            rare.words().contains("(AUC) the median organisation's change is within chance"),
            "{}",
            rare.words()
        );
    }
}
