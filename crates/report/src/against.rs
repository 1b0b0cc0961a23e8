//! Noise in pairs, in words: against whom an ε is, and what coalitions of every size learn.

use crate::comparison::ComparisonReport;
use prdo_runfile::Key;
use prdo_store::{Cell, EpsilonAgainst, PairFacts};

/// Beneath a table of coalitions.
pub const EACH_ROW: &str = "Each row is about the records of the members outside; outsiders, who see every message, belong to every coalition.";
pub const EACH_COLUMN: &str = "Each column is about the records of the members outside; outsiders, who see every message, belong to every coalition.";
pub const PSEUDO_RANDOM: &str = "Shares are pseudo-random: all rows but the last assume bounded computing power, the last holds against everybody.";
/// The same where coalitions are columns.
pub const PSEUDO_RANDOM_COLUMNS: &str = "Shares are pseudo-random: all columns but the last assume bounded computing power, the last holds against everybody.";
/// Above a table of coalitions.
pub const HEAD: [&str; 2] = ["who puts together what they know", "ε at most"];

/// Coalitions of every size are shown up to so many; beyond, small ones, those about as large as the agreed ones, and some.
const MOST_SHOWN: usize = 12;

/// Against whom: whoever sees every message, and so many members.
pub fn against(colluders: usize) -> String {
    match colluders {
        0 => "outsiders only".into(),
        1 => "outsiders and any one member together".into(),
        c => format!("outsiders and any {c} members together"),
    }
}

/// A coalition of this size among so many nodes.
pub fn coalition(colluders: usize, nodes: usize) -> String {
    match colluders {
        all if all + 1 == nodes => "all others, or all keys lost".into(),
        0 => "none: outsiders only".into(),
        1 => "any 1 member".into(),
        c => format!("any {c} members"),
    }
}

/// A bound on ε to so many places, rounded up.
pub fn at_most(epsilon: Option<f64>, places: u32) -> String {
    let unit = 10_f64.powi(places as i32);
    match epsilon.filter(|epsilon| epsilon.is_finite()) {
        // What is a bound is not made longer by the rounding of its decimal fraction.
        Some(epsilon) => format!("{:.*}", places as usize, ((epsilon * unit - 1e-6).ceil() / unit).max(0.0)),
        None => "∞".into(),
    }
}

/// The coalitions that are shown, the largest last.
fn shown(pairs: &PairFacts) -> impl Iterator<Item = &EpsilonAgainst> {
    let (all, agreed) = (&pairs.epsilon_by_colluders, pairs.colluders);
    let last = all.last().map_or(0, |row| row.colluders);
    all.iter().filter(move |row| {
        let size = row.colluders;
        all.len() <= MOST_SHOWN
            || size < 3
            || size.abs_diff(agreed) < 2
            || size == last
            || size.is_power_of_two()
    })
}

fn nodes(pairs: &PairFacts) -> usize {
    pairs.epsilon_by_colluders.last().map_or(0, |row| row.colluders + 1)
}

/// What coalitions learn, a row each; under [`HEAD`].
pub fn rows(pairs: &PairFacts) -> Vec<Vec<String>> {
    let row = |row: &EpsilonAgainst| {
        let agreed = if row.colluders == pairs.colluders { " (as agreed)" } else { "" };
        let who = coalition(row.colluders, nodes(pairs));
        vec![format!("{who}{agreed}"), at_most(row.epsilon, 4)]
    };
    shown(pairs).map(row).collect()
}

/// What noise in pairs is, its worth and its price, in sentences.
pub(crate) fn price(colluders: usize, facts: Option<&PairFacts>) -> String {
    let (less, larger) = match facts {
        Some(facts) => (
            format!(", which carries {:.2} times less of it than with independent noise", facts.gain),
            "larger coalitions learn more, as much as the table says, and if all keys are lost the last row is what holds. Shares \
             are pseudo-random: all rows but the last assume bounded computing power, the last holds against everybody",
        ),
        None => (
            String::new(),
            "larger coalitions learn more; how much is known when the run is finished. Shares are pseudo-random, so this assumes \
             bounded computing power",
        ),
    };
    format!(
        "Noise is in pairs: two members with a secret in common draw the same noise, which one adds and the other subtracts, so that \
         it is gone from the mean of all models{less}. Its price: ε holds against {}; {larger}.",
        against(colluders)
    )
}

impl ComparisonReport {
    /// Whether some runs have independent noise and others noise in pairs.
    pub(crate) fn mixes_noise(&self) -> bool {
        let private = || self.cells.iter().filter(|cell| cell.guarantee.is_some());
        private().any(|cell| cell.pairs.is_some()) && private().any(|cell| cell.pairs.is_none())
    }

    /// What tells a run from those with another kind of noise, where no label does.
    pub(crate) fn noise_suffix(&self, cell: &Cell) -> Option<&'static str> {
        let labelled = cell.labels.iter().any(|(key, _)| Key::named(key) == Some(Key::PrivacyNoise));
        (cell.pairs.is_some() && !labelled && self.mixes_noise()).then_some("noise in pairs")
    }

    /// Runs with noise in pairs: their names (of all that promise the same), and what they promise.
    pub fn pairs(&self) -> Vec<(Vec<String>, &PairFacts)> {
        let mut found: Vec<(Vec<String>, &PairFacts)> = Vec::new();
        for group in self.groups() {
            let Some(pairs) = &group.cells[0].pairs else { continue };
            let same = |known: &PairFacts| {
                let key = |facts: &PairFacts| (facts.colluders, rows(facts));
                key(known) == key(pairs)
            };
            match found.iter_mut().find(|(_, known)| same(known)) {
                Some((names, _)) => names.push(group.name.clone()),
                None => found.push((vec![group.name.clone()], pairs)),
            }
        }
        found
    }

    /// Against whom ε is where noise is in pairs, in a sentence.
    pub fn pairs_note(&self) -> Option<String> {
        let mut against: Vec<String> =
            self.pairs().iter().map(|(_, facts)| self::against(facts.colluders)).collect();
        against.dedup();
        let which = if self.mixes_noise() { "Where noise is in pairs" } else { "Noise is in pairs:" };
        (!against.is_empty()).then(|| format!("{which} ε is against {}.", against.join(", or ")))
    }

    /// What coalitions learn, a column for each size: titles and rows. Nothing where no noise is in pairs.
    pub fn coalitions(&self) -> Option<(Vec<String>, Vec<Vec<String>>)> {
        let pairs = self.pairs();
        let (_, widest) = pairs.iter().max_by_key(|(_, facts)| facts.epsilon_by_colluders.len())?;
        let sizes: Vec<usize> = shown(widest).map(|row| row.colluders).collect();
        let last = sizes.len().saturating_sub(1);
        let title = |(k, size): (usize, &usize)| match k {
            _ if k == last => "all others".to_string(),
            _ => size.to_string(),
        };
        let head = ["ε at most, by colluders".to_string()].into_iter();
        let head = head.chain(sizes.iter().enumerate().map(title)).collect();
        let row = |(names, facts): &(Vec<String>, &PairFacts)| {
            let at = |(k, size): (usize, &usize)| {
                let of = &facts.epsilon_by_colluders;
                let found = if k == last { of.last() } else { of.iter().find(|row| row.colluders == *size) };
                found.map_or(String::new(), |row| at_most(row.epsilon, 3))
            };
            // Of one kind all are meant.
            let name = if pairs.len() > 1 { names.join("; ") } else { "noise in pairs".to_string() };
            [name].into_iter().chain(sizes.iter().enumerate().map(at)).collect()
        };
        Some((head, pairs.iter().map(row).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(nodes: usize, colluders: usize) -> PairFacts {
        let epsilon = |c: usize| if c + 1 == nodes { None } else { Some(1.0 + c as f64 / 3.0) };
        let row = |colluders| EpsilonAgainst { colluders, epsilon: epsilon(colluders) };
        PairFacts {
            own_multiplier: 1.0,
            pair_multiplier: 2.0,
            gain: 2.5,
            colluders,
            complete: true,
            epsilon_by_colluders: (0..nodes).map(row).collect(),
        }
    }

    #[test]
    fn every_size_is_shown_up_to_all_others_and_bounds_are_rounded_up() {
        let shown = rows(&facts(4, 1));
        assert_eq!(shown[0], ["none: outsiders only", "1.0000"]);
        assert_eq!(shown[1], ["any 1 member (as agreed)", "1.3334"]);
        assert_eq!(shown[2], ["any 2 members", "1.6667"]);
        assert_eq!(shown[3], ["all others, or all keys lost", "∞"]);
        assert_eq!((at_most(Some(4.0), 4), at_most(Some(2e-5), 4)), ("4.0000".into(), "0.0001".into()));
    }

    #[test]
    fn of_many_the_agreed_ones_and_the_largest_are_among_those_that_are_shown() {
        let pairs = facts(100, 11);
        let sizes: Vec<usize> = shown(&pairs).map(|row| row.colluders).collect();
        assert_eq!(sizes, [0, 1, 2, 4, 8, 10, 11, 12, 16, 32, 64, 99]);
    }

    #[test]
    fn it_is_said_against_whom() {
        assert_eq!(against(0), "outsiders only");
        assert_eq!(against(3), "outsiders and any 3 members together");
        let price = price(1, Some(&facts(5, 1)));
        assert!(price.contains("2.50 times less") && price.contains("against outsiders and any one member"));
    }
}
