//! How far apart methods are, over the seeds that they share.

use crate::comparison::ComparisonReport;
use crate::groups::{Group, Spread};
use crate::statistics::{Paired, holm};
use crate::style::figure;
use prdo_store::Cell;

/// Differences with a corrected p below this are taken for more than chance.
pub(crate) const LEVEL: f64 = 0.05;

/// With fewer pairs nothing is said about chance.
pub(crate) const FEWEST: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    Accuracy,
    Auc,
    /// Mean gradient norm of the last fifth of the rounds.
    LateGradient,
    Loss,
}

impl Measure {
    pub const ALL: [Self; 4] = [Self::Accuracy, Self::Auc, Self::LateGradient, Self::Loss];

    /// The name in files.
    pub fn key(self) -> &'static str {
        match self {
            Self::Accuracy => "test_accuracy",
            Self::Auc => "test_auc",
            Self::LateGradient => "late_grad_norm",
            Self::Loss => "loss",
        }
    }

    pub fn words(self) -> &'static str {
        match self {
            Self::Accuracy => "test accuracy",
            Self::Auc => "AUC",
            Self::LateGradient => "late gradient norm",
            Self::Loss => "loss",
        }
    }

    pub(crate) fn of(self, cell: &Cell) -> Option<f64> {
        match self {
            Self::Accuracy => cell.rows.last()?.test_accuracy,
            Self::Auc => cell.test_auc,
            Self::LateGradient => cell.late_grad_norm(),
            Self::Loss => cell.rows.last().map(|row| row.loss),
        }
        .filter(|value| value.is_finite())
    }

    pub(crate) fn spread(self, group: &Group<'_>) -> Option<Spread> {
        group.spread(|cell| self.of(cell))
    }

    /// The better the larger.
    fn score(self, mean: f64) -> f64 {
        if matches!(self, Self::Accuracy | Self::Auc) { mean } else { -mean }
    }

    pub(crate) fn show(self, spread: Spread) -> String {
        if self == Self::Accuracy { spread.show_percent() } else { spread.show() }
    }

    pub(crate) fn show_difference(self, value: f64) -> String {
        let sign = if value < 0.0 { "−" } else { "+" };
        match self {
            Self::Accuracy => format!("{sign}{:.2}", 100.0 * value.abs()),
            _ => format!("{sign}{}", figure(value.abs())),
        }
    }

    /// What differences are counted in, after a space.
    pub(crate) fn unit(self) -> &'static str {
        if self == Self::Accuracy { " points" } else { "" }
    }
}

/// The difference between the best method of a contest and another one.
#[derive(Clone, Debug)]
pub struct Difference {
    /// The contest: the privacy settings that both have.
    pub contest: String,
    pub measure: Measure,
    /// The group with the best mean, by its number.
    pub best: usize,
    pub other: usize,
    pub pairs: usize,
    /// Best minus other over these seeds; nothing for fewer than two.
    pub paired: Option<Paired>,
    /// The p value, corrected by Holm's method for all pairs of the contest (the best was chosen by the same runs);
    /// nothing for too few seeds, or for a difference that is the same for all.
    pub corrected: Option<f64>,
    /// How many pairs it was corrected for.
    pub compared: usize,
}

impl Difference {
    /// Whether the best is better by more than chance: over the seeds that both have, which need not be all.
    pub fn is_clear(&self) -> bool {
        self.corrected.is_some_and(|p| p < LEVEL) && self.favours_best()
    }

    /// Whether the seeds that both have put the best before the other, too.
    fn favours_best(&self) -> bool {
        self.paired.is_some_and(|d| self.measure.score(d.mean) > 0.0)
    }

    /// Whether the difference is the same for every seed, and for the best.
    pub(crate) fn is_constant(&self) -> bool {
        self.pairs >= FEWEST && self.paired.is_some_and(|d| d.constant) && self.favours_best()
    }

    pub(crate) fn show_p(&self) -> String {
        match self.corrected {
            None if self.pairs >= FEWEST && self.paired.is_some_and(|d| d.constant) => {
                "the same difference for every seed".to_string()
            }
            None => format!("too few seeds ({})", self.pairs),
            Some(p) if p < 0.001 => "p < 0.001".to_string(),
            Some(p) => format!("p = {p:.3}"),
        }
    }

    /// The mean difference with its interval.
    pub(crate) fn show(&self) -> String {
        let show = |value| self.measure.show_difference(value);
        match self.paired {
            Some(d) => {
                format!("{} ({} to {}){}", show(d.mean), show(d.low), show(d.high), self.measure.unit())
            }
            None => String::new(),
        }
    }
}

/// The groups of a contest that were measured, the best first.
pub(crate) fn ranking(groups: &[Group<'_>], members: &[usize], measure: Measure) -> Vec<(usize, Spread)> {
    let spread = |k: &usize| Some((*k, measure.spread(groups.get(*k)?)?));
    let mut ranked: Vec<(usize, Spread)> = members.iter().filter_map(spread).collect();
    ranked.sort_by(|a, b| measure.score(b.1.mean).total_cmp(&measure.score(a.1.mean)));
    ranked
}

impl ComparisonReport {
    /// Every difference from the best of its contest, by every measure.
    pub fn differences(&self) -> Vec<Difference> {
        let groups = self.groups();
        let contests = self.contests();
        let each = contests.iter().flat_map(|contest| Measure::ALL.map(|measure| (contest, measure)));
        each.flat_map(|((name, members), measure)| contest_differences(&groups, name, members, measure))
            .collect()
    }
}

/// The differences from the best in one contest, by one measure, the runner-up first.
pub(crate) fn contest_differences(
    groups: &[Group<'_>],
    contest: &str,
    members: &[usize],
    measure: Measure,
) -> Vec<Difference> {
    let ranked = ranking(groups, members, measure);
    // The runs that say who is best are those that are tested: whichever pair it became counts among all that it could
    // have become. The best against the others come first.
    let order: Vec<usize> = ranked.iter().map(|(k, _)| *k).collect();
    let each = order.iter().enumerate().flat_map(|(k, a)| order[k + 1..].iter().map(move |b| (*a, *b)));
    let mut found: Vec<Difference> = each
        .map(|(best, other)| {
            let pairs = pairs(&groups[best], &groups[other], measure);
            let contest = contest.to_string();
            let (paired, corrected, compared) = (Paired::of(&pairs), None, 0);
            Difference { contest, measure, best, other, pairs: pairs.len(), paired, corrected, compared }
        })
        .collect();
    let testable = |d: &Difference| d.pairs >= FEWEST && d.paired.is_some_and(|p| !p.constant);
    let tested: Vec<usize> = (0..found.len()).filter(|k| testable(&found[*k])).collect();
    let values: Vec<f64> = tested.iter().filter_map(|k| found[*k].paired.map(|d| d.p)).collect();
    for (k, p) in tested.into_iter().zip(holm(&values)) {
        (found[k].corrected, found[k].compared) = (Some(p), values.len());
    }
    found.truncate(order.len().saturating_sub(1));
    found
}

/// The values of both groups for every seed that both have.
fn pairs(a: &Group<'_>, b: &Group<'_>, measure: Measure) -> Vec<(f64, f64)> {
    let partner = |cell: &Cell| b.cells.iter().find(|other| other.seed == cell.seed).copied();
    a.cells.iter().filter_map(|cell| Some((measure.of(cell)?, measure.of(partner(cell)?)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use prdo_algorithm::Method;
    use prdo_simulator::Row;

    fn cell(method: Method, seed: u64, accuracy: f64) -> Cell {
        let row =
            Row { round: 10, loss: 1.0, grad_norm: 1.0, test_accuracy: Some(accuracy), ..Row::default() };
        Cell {
            method,
            labels: Vec::new(),
            seed,
            rows: vec![row],
            node_accuracy: Vec::new(),
            test_auc: None,
            most_common_class: None,
            guarantee: None,
            seconds: 0.0,
            clip: None,
            gamma: None,
            own_clip: None,
            pairs: None,
            rounds: 10,
        }
    }

    fn comparison(runs: &[(Method, &[f64])]) -> ComparisonReport {
        let of = |(method, values): &(Method, &[f64])| {
            let (method, values) = (*method, values.to_vec());
            values.into_iter().enumerate().map(move |(k, accuracy)| cell(method, k as u64, accuracy))
        };
        let text = String::new;
        let cells = runs.iter().flat_map(of).collect();
        ComparisonReport {
            title: text(),
            data: text(),
            command: text(),
            run_files: text(),
            network: text(),
            cells,
        }
    }

    fn by_accuracy(runs: &[(Method, &[f64])]) -> Vec<Difference> {
        let found = comparison(runs).differences();
        found.into_iter().filter(|d| d.measure == Measure::Accuracy).collect()
    }

    #[test]
    fn every_pair_counts_since_the_best_is_found_by_the_same_runs() {
        let (a, b, c) = ([0.92, 0.93, 0.91, 0.92], [0.90, 0.92, 0.89, 0.91], [0.70, 0.72, 0.69, 0.73]);
        let found = by_accuracy(&[(Method::Ed, &b), (Method::Prdo, &a), (Method::Dsgd, &c)]);
        assert_eq!(found.iter().map(|d| (d.best, d.other)).collect::<Vec<_>>(), [(1, 0), (1, 2)]);
        // The least clear of three pairs keeps its p; the others are raised.
        assert!(found.iter().all(|d| d.compared == 3));
        let (near, far) = (&found[0], &found[1]);
        assert_eq!(near.corrected, Some(near.paired.unwrap().p));
        assert!(far.corrected.unwrap() >= 2.0 * far.paired.unwrap().p && far.is_clear());
    }

    #[test]
    fn the_best_of_other_seeds_is_not_clearly_better() {
        // Its last seeds are far better than anyone's, but on those that both have it is behind.
        let (a, b) = ([0.50, 0.51, 0.50, 0.99, 0.99, 0.99], [0.60, 0.62, 0.60]);
        let found = by_accuracy(&[(Method::Ed, &a), (Method::Dsgd, &b)]);
        assert_eq!((found[0].best, found[0].pairs), (0, 3));
        assert!(found[0].corrected.unwrap() < LEVEL && !found[0].is_clear());
    }

    #[test]
    fn beside_a_common_class_methods_are_judged_by_the_order_of_records() {
        let runs = [(Method::Ed, &[0.905, 0.906, 0.907][..]), (Method::Dsgd, &[0.885, 0.8855, 0.888][..])];
        let mut rare = comparison(&runs);
        for cell in &mut rare.cells {
            cell.most_common_class = Some(0.9);
        }
        let verdict = rare.verdict();
        assert!(verdict.starts_with("Exact Diffusion has the best test accuracy"), "{verdict}");
        let (_, words) = verdict.split_once('\n').unwrap();
        assert_eq!(words, "D-SGD is no better than always predicting the majority class (90.0 %).");
        // The one with the worse accuracies has the better order.
        for cell in &mut rare.cells {
            let (base, step) = if cell.method == Method::Dsgd { (0.8, 0.003) } else { (0.6, 0.001) };
            cell.test_auc = Some(base + step * cell.seed as f64);
        }
        let verdict = rare.verdict();
        assert!(verdict.starts_with("D-SGD has the best AUC, 0.80"), "{verdict}");
        assert!(verdict.contains("by a point, methods are judged by"), "{verdict}");
        let (head, rows) = rare.table();
        assert_eq!(head[..3], ["method", "test accuracy", "AUC"]);
        assert_eq!(rows[2][..3], ["majority class", "90.0 %", "0.5"]);
        let csv = rare.to_csv();
        assert!(csv.contains(",test_auc,most_common_class,") && csv.contains(",0.9,"), "{csv}");
    }

    #[test]
    fn the_same_difference_for_every_seed_has_no_p() {
        let runs = [(Method::Ed, &[0.5, 0.75, 0.5][..]), (Method::Dsgd, &[0.25, 0.5, 0.25][..])];
        let found = by_accuracy(&runs);
        assert_eq!((found[0].corrected, found[0].is_clear(), found[0].is_constant()), (None, false, true));
        assert_eq!(found[0].show_p(), "the same difference for every seed");
        let verdict = comparison(&runs).verdict();
        assert!(verdict.contains("+25.00 points") && verdict.contains("same difference"), "{verdict}");
        assert!(comparison(&runs).winners().is_empty());
        assert!(!comparison(&runs).differences_to_csv().contains("NaN"));
        // No difference at all is one that cannot be told apart.
        let equal =
            comparison(&[(Method::Ed, &[0.5, 0.75, 0.5]), (Method::Dsgd, &[0.5, 0.75, 0.5])]).verdict();
        assert!(equal.starts_with("No clear winner"), "{equal}");
    }
}
