//! An answer in a few figures and plain words.

use super::{Trained, Worth};

/// The figures that matter. Differences are shares, not points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict {
    /// What joining adds to the accuracy of the median organisation, with privacy.
    pub gain: f64,
    /// The same without privacy.
    pub open_gain: f64,
    /// How many organisations have a better model together, with privacy.
    pub gaining: usize,
    /// What privacy takes from the accuracy of the model of all.
    pub privacy_cost: f64,
}

impl Worth {
    /// The figures that matter.
    pub fn verdict(&self) -> Verdict {
        let (joint, open) = (self.together.mean_accuracy(), self.open.mean_accuracy());
        let gains = |joint: f64, own: fn(&super::Organisation) -> &Trained| -> Vec<f64> {
            self.organisations.iter().map(|o| joint - own(o).mean_accuracy()).collect()
        };
        let private = gains(joint, |o| &o.alone);
        Verdict {
            gaining: private.iter().filter(|gain| **gain > 0.0).count(),
            gain: median(private),
            open_gain: median(gains(open, |o| &o.open)),
            privacy_cost: open - joint,
        }
    }

    /// Mean, least and most of the organisations' own models: accuracy and, where there is one, AUC.
    pub fn own(&self, open: bool) -> [(f64, Option<f64>); 3] {
        let models = || self.organisations.iter().map(move |o| if open { &o.open } else { &o.alone });
        let spread = |values: Vec<f64>| {
            let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
            let least = values.iter().copied().fold(f64::INFINITY, f64::min);
            [mean, least, values.iter().copied().fold(f64::NEG_INFINITY, f64::max)]
        };
        let accuracy = spread(models().map(Trained::mean_accuracy).collect());
        let auc = models().map(Trained::mean_auc).collect::<Option<Vec<f64>>>().map(spread);
        let one = |k: usize| (accuracy[k], auc.map(|auc| auc[k]));
        [one(0), one(1), one(2)]
    }

    /// The answer in plain words.
    pub fn words(&self) -> String {
        let Verdict { gain, open_gain, gaining, privacy_cost } = self.verdict();
        let count = self.organisations.len();
        let price = match &self.together.guarantee {
            Some(g) => format!(" at ε = {:.3} (δ = {:e})", g.epsilon, g.delta),
            None => String::new(),
        };
        let joining = match gain {
            gain if gain >= 0.0 => {
                format!("Joining gives the median organisation {} of accuracy", points(gain))
            }
            gain => format!("Joining costs the median organisation {} of accuracy", points(-gain)),
        };
        let cost = match privacy_cost {
            cost if cost >= 0.0 => format!("Privacy costs the model of all {}", points(cost)),
            cost => format!(
                "The model of all is {} better with privacy than without: the settings do not suit training without \
                 privacy (--open KEY=VALUE gives it others)",
                points(-cost)
            ),
        };
        format!(
            "{joining}{price}: {:.2} % right together; {gaining} of {count} organisations have a better model than \
             alone.\n{cost}; without privacy joining would give {}.",
            100.0 * self.together.mean_accuracy(),
            points(open_gain),
        )
    }
}

/// A difference of shares in points of a hundred.
fn points(share: f64) -> String {
    format!("{:.1} points", 100.0 * share)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = |k: usize| values.get(k).copied().unwrap_or(f64::NAN);
    match values.len() {
        0 => 0.0,
        n if n % 2 == 1 => middle(n / 2),
        n => 0.5 * (middle(n / 2 - 1) + middle(n / 2)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Organisation;
    use super::*;

    fn trained(accuracy: &[f64]) -> Trained {
        Trained { accuracy: accuracy.to_vec(), auc: Vec::new(), guarantee: None, batch: 1 }
    }

    #[test]
    fn gains_are_of_the_median_organisation() {
        let organisation = |alone: f64, open: f64| Organisation {
            name: "a".into(),
            records: 1,
            alone: trained(&[alone]),
            open: trained(&[open]),
        };
        let worth = Worth {
            together: trained(&[0.7, 0.9]),
            open: trained(&[0.85]),
            organisations: vec![organisation(0.5, 0.8), organisation(0.7, 0.8), organisation(0.85, 0.9)],
            most_common_class: None,
            test_records: 10,
        };
        let verdict = worth.verdict();
        let near = |a: f64, b: f64| (a - b).abs() < 1e-12;
        assert!(near(verdict.gain, 0.1) && near(verdict.open_gain, 0.05) && near(verdict.privacy_cost, 0.05));
        assert_eq!(verdict.gaining, 2);
        let [mean, least, most] = worth.own(false);
        assert!(near(mean.0, 2.05 / 3.0) && least == (0.5, None) && most == (0.85, None));
        let words = worth.words();
        assert!(words.starts_with("Joining gives the median organisation 10.0 points"), "{words}");
        assert!(
            words.contains("2 of 3") && words.contains("Privacy costs the model of all 5.0 points"),
            "{words}"
        );
        assert!(near(median(vec![3.0, 1.0]), 2.0));
    }
}
