//! How far apart methods are, over the seeds that they share.

use super::comparison::{Cell, Comparison};
use super::groups::{Group, Spread, late_gradient};
use super::style::figure;
use crate::statistics::{Paired, holm};

/// Differences with a corrected p below this are taken for more than chance.
pub(super) const LEVEL: f64 = 0.05;

/// With fewer pairs nothing is said about chance.
pub(super) const FEWEST: usize = 3;

/// What methods are compared by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Final test accuracy of the average model.
    Accuracy,
    /// Mean gradient norm of the last fifth of the rounds.
    LateGradient,
    /// Final loss.
    Loss,
}

impl Measure {
    /// All of them, the one that matters most first.
    pub const ALL: [Self; 3] = [Self::Accuracy, Self::LateGradient, Self::Loss];

    /// The name in files.
    pub fn key(self) -> &'static str {
        match self {
            Self::Accuracy => "test_accuracy",
            Self::LateGradient => "late_grad_norm",
            Self::Loss => "loss",
        }
    }

    /// The name for people.
    pub fn words(self) -> &'static str {
        match self {
            Self::Accuracy => "test accuracy",
            Self::LateGradient => "late gradient norm",
            Self::Loss => "loss",
        }
    }

    pub(super) fn of(self, cell: &Cell) -> Option<f64> {
        match self {
            Self::Accuracy => cell.rows.last()?.test_accuracy,
            Self::LateGradient => late_gradient(cell),
            Self::Loss => cell.rows.last().map(|row| row.loss),
        }
        .filter(|value| value.is_finite())
    }

    pub(super) fn spread(self, group: &Group<'_>) -> Option<Spread> {
        group.spread(|cell| self.of(cell))
    }

    /// The better the larger.
    fn score(self, mean: f64) -> f64 {
        if self == Self::Accuracy { mean } else { -mean }
    }

    /// Mean and interval for people.
    pub(super) fn show(self, spread: Spread) -> String {
        if self == Self::Accuracy { spread.show_percent() } else { spread.show() }
    }

    /// A difference for people.
    pub(super) fn show_difference(self, value: f64) -> String {
        let sign = if value < 0.0 { "−" } else { "+" };
        match self {
            Self::Accuracy => format!("{sign}{:.2}", 100.0 * value.abs()),
            _ => format!("{sign}{}", figure(value.abs())),
        }
    }

    /// What differences are counted in, after a space.
    pub(super) fn unit(self) -> &'static str {
        if self == Self::Accuracy { " points" } else { "" }
    }
}

/// The difference between the best method of a contest and another one.
#[derive(Clone, Debug)]
pub struct Difference {
    /// The contest: the privacy settings that both have.
    pub contest: String,
    /// What is compared.
    pub measure: Measure,
    /// The group with the best mean, by its number.
    pub best: usize,
    /// The other one.
    pub other: usize,
    /// How many seeds both have.
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
    pub(super) fn is_constant(&self) -> bool {
        self.pairs >= FEWEST && self.paired.is_some_and(|d| d.constant) && self.favours_best()
    }

    /// What can be said of chance.
    pub(super) fn show_p(&self) -> String {
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
    pub(super) fn show(&self) -> String {
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
pub(super) fn ranking(groups: &[Group<'_>], members: &[usize], measure: Measure) -> Vec<(usize, Spread)> {
    let spread = |k: &usize| Some((*k, measure.spread(groups.get(*k)?)?));
    let mut ranked: Vec<(usize, Spread)> = members.iter().filter_map(spread).collect();
    ranked.sort_by(|a, b| measure.score(b.1.mean).total_cmp(&measure.score(a.1.mean)));
    ranked
}

impl Comparison {
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
pub(super) fn contest_differences(
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
