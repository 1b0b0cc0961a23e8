//! How good predictions are, where the records have labels.

use prdo_data::{Dataset, Feature};
use prdo_simulator::area_under_roc;
use serde_json::{Value as Json, json};

#[derive(Clone, Debug, PartialEq)]
pub struct Scores {
    pub accuracy: f64,
    /// The area under the ROC curve; `None` where there are not two classes, or records of one only.
    pub auc: Option<f64>,
    /// The share of the most common label: what whoever always says it gets right.
    pub most_common_class: f64,
    pub classes: Vec<ClassScores>,
}

/// How good the predictions of one class are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassScores {
    pub name: String,
    pub records: usize,
    pub predicted: usize,
    pub right: usize,
}

impl ClassScores {
    /// The share that is right of those taken for the class; `None` where there are none.
    pub fn precision(&self) -> Option<f64> {
        share(self.right, self.predicted)
    }

    /// The share that is found of those of the class; `None` where there are none.
    pub fn recall(&self) -> Option<f64> {
        share(self.right, self.records)
    }
}

fn share(part: usize, all: usize) -> Option<f64> {
    (all > 0).then(|| part as f64 / all as f64)
}

impl Scores {
    /// Of records of these classes, taken for those, with these scores before the softmax; `None` without records.
    pub(super) fn of(
        names: &[String],
        labels: &[usize],
        predicted: &[usize],
        scores: &[Vec<f64>],
    ) -> Option<Self> {
        let count = |list: &[usize], class: usize| list.iter().filter(|k| **k == class).count();
        let both =
            |class: usize| labels.iter().zip(predicted).filter(|(a, b)| **a == class && **b == class).count();
        let one = |(class, name): (usize, &String)| ClassScores {
            name: name.clone(),
            records: count(labels, class),
            predicted: count(predicted, class),
            right: both(class),
        };
        let classes: Vec<ClassScores> = names.iter().enumerate().map(one).collect();
        let most = classes.iter().map(|class| class.records).max()?;
        let rank = |(label, scores): (&usize, &Vec<f64>)| match scores[..] {
            [first, second] => Some((second - first, *label == 1)),
            _ => None,
        };
        let ranked = labels.iter().zip(scores).map(rank).collect::<Option<Vec<_>>>();
        Some(Self {
            accuracy: share(classes.iter().map(|class| class.right).sum(), labels.len())?,
            auc: ranked.and_then(area_under_roc),
            most_common_class: share(most, labels.len())?,
            classes,
        })
    }

    pub fn classes_to_json(&self) -> Vec<Json> {
        let one = |class: &ClassScores| {
            json!({"class": class.name, "records": class.records, "predicted": class.predicted,
                   "right": class.right, "precision": class.precision(), "recall": class.recall()})
        };
        self.classes.iter().map(one).collect()
    }
}

/// The classes of records by number, by name where labels have names; `None` when a label is none of the classes.
pub(super) fn labels_of<F: Feature>(dataset: &Dataset<F>, classes: &[String]) -> Option<Vec<usize>> {
    let class = |label: f64| match &dataset.class_names {
        Some(names) => classes.iter().position(|class| Some(class) == names.get(label as usize)),
        // Labels of two classes may be −1 and 1.
        None if classes.len() == 2 && label == -1.0 => Some(0),
        None => {
            (label >= 0.0 && label.fract() == 0.0 && label < classes.len() as f64).then_some(label as usize)
        }
    };
    dataset.table.labels().iter().map(|label| class(*label)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_classes_are_counted() {
        let names = ["no".to_string(), "yes".to_string()];
        let (labels, predicted) = ([0, 0, 0, 1, 1], [0, 0, 1, 1, 0]);
        let scores: Vec<Vec<f64>> = [-2.0, -1.0, 1.0, 2.0, -1.0].map(|s| vec![0.0, s]).to_vec();
        let found = Scores::of(&names, &labels, &predicted, &scores).unwrap();
        assert_eq!((found.accuracy, found.most_common_class), (0.6, 0.6));
        // Of the 6 pairs 2 beats all three, −1 beats −2 and ties with −1.
        assert_eq!(found.auc, Some(4.5 / 6.0));
        let yes = &found.classes[1];
        assert_eq!((yes.records, yes.predicted, yes.right), (2, 2, 1));
        assert_eq!((yes.precision(), yes.recall()), (Some(0.5), Some(0.5)));
        assert_eq!(found.classes[0].recall(), Some(2.0 / 3.0));
        let never = Scores::of(&names, &[0, 0], &[0, 0], &scores).unwrap();
        assert_eq!((never.auc, never.classes[1].precision(), never.classes[1].recall()), (None, None, None));
        assert_eq!(Scores::of(&names, &[], &[], &[]), None);
    }
}
