//! Organisations and how many records each has, in words: for whoever mistyped a name, or took a tiny one along.

use prdo_data::{Dataset, Feature, alike};
use prdo_runfile::{ConfigError, Key, Section};
use std::collections::BTreeMap;

/// So many are listed, and looked at for slips.
const MOST: usize = 12;
/// Of two that are alike, one with so many times fewer records is likely a slip.
const FEWER: usize = 10;
/// An organisation with so many times fewer records than the median one is worth a warning.
const TINY: usize = 20;

/// Organisations by name or number with their records, smallest first.
pub(super) struct Organisations {
    all: Vec<(String, usize)>,
}

impl Organisations {
    /// Those that a dataset speaks of; none where it does not say who holds what.
    pub(super) fn of<F: Feature>(dataset: &Dataset<F>) -> Self {
        let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
        dataset.node.iter().flatten().for_each(|node| *counts.entry(*node).or_default() += 1);
        let name =
            |node: u32| dataset.node_names.as_ref().and_then(|names| names.get(node as usize)).cloned();
        Self::new(counts.into_iter().map(|(node, count)| (name(node), node as usize, count)))
    }

    pub(super) fn of_sizes(names: Option<&[String]>, sizes: impl Iterator<Item = usize>) -> Self {
        let name = |node: usize| names.and_then(|names| names.get(node)).cloned();
        Self::new(sizes.enumerate().map(|(node, count)| (name(node), node, count)))
    }

    fn new(found: impl Iterator<Item = (Option<String>, usize, usize)>) -> Self {
        let shown = |(name, node, count): (Option<String>, usize, usize)| {
            (name.map_or(format!("node {node}"), |name| format!("{name:?}")), count)
        };
        let mut all: Vec<(String, usize)> = found.map(shown).collect();
        all.sort_by(|a, b| a.1.cmp(&b.1).then(a.0.cmp(&b.0)));
        Self { all }
    }

    /// All of them, and which may be slips.
    fn words(&self) -> String {
        let mut list: Vec<String> =
            self.all.iter().take(MOST).map(|(name, count)| format!("{name} {count}")).collect();
        if self.all.len() > MOST {
            list.push(format!("and {} larger ones", self.all.len() - MOST));
        }
        let slips: String =
            self.slips().iter().map(|(rare, common)| format!(". Is {rare} a slip for {common}?")).collect();
        format!("the organisations and their records, smallest first: {}{slips}", list.join(", "))
    }

    /// Names that are hardly anybody's and nearly another's.
    fn slips(&self) -> Vec<(&str, &str)> {
        let pair = |(name, count): &'_ (String, usize)| {
            let likely = |(other, more): &&(String, usize)| {
                count.saturating_mul(FEWER) <= *more && alike(name.trim_matches('"'), other.trim_matches('"'))
            };
            self.all.iter().rev().find(likely).map(|(other, _)| other.as_str())
        };
        let named = self.all.iter().take(MOST).filter(|(name, _)| name.starts_with('"'));
        named.filter_map(|found| Some((found.0.as_str(), pair(found)?))).collect()
    }

    /// What should be thought about before anybody trains.
    pub(super) fn warning(&self) -> Option<String> {
        let (smallest, count) = self.all.first()?;
        let median = self.all.get(self.all.len() / 2).map_or(0, |(_, count)| *count);
        let tiny = count.saturating_mul(TINY) < median;
        if !tiny && self.slips().is_empty() {
            return None;
        }
        let records = if *count == 1 { "record" } else { "records" };
        Some(format!(
            "{smallest} has {count} {records}, and half of the organisations have {median} or more: everybody's batches and \
             noise go by the smallest one (least = {} under [partition] leaves out who has fewer); {}",
            (median / 2).max(2),
            self.words()
        ))
    }

    /// The same error, with everybody's records: where they differ, it may be about one of them.
    pub(super) fn explain(&self, mut error: ConfigError) -> ConfigError {
        if self.all.len() > 1 {
            let words = self.words();
            error.help = Some(error.help.map_or(words.clone(), |help| format!("{help}; {words}")));
        }
        error
    }

    /// The same for an error about a batch that is larger than the smallest node.
    pub(super) fn explain_batch(&self, error: ConfigError) -> ConfigError {
        let key = error.subject.as_ref().and_then(|subject| Key::named(&subject.field));
        let about_batch = key.is_some_and(|key| key.section() == Some(Section::Batch));
        let differ = self.all.first().map(|(_, count)| count) != self.all.last().map(|(_, count)| count);
        if !about_batch || !differ || error.help.is_some() {
            return error;
        }
        // Only who is named in a column can be left out.
        let named = self.all.iter().any(|(name, _)| name.starts_with('"'));
        let least =
            "a smaller batch fits, and least under [partition] leaves out who has fewer records than it says";
        self.explain(if named { error.help(least) } else { error })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn organisations(all: &[(&str, usize)]) -> Organisations {
        let names: Vec<String> = all.iter().map(|(name, _)| (*name).to_owned()).collect();
        Organisations::of_sizes(Some(&names), all.iter().map(|(_, count)| *count))
    }

    #[test]
    fn slips_are_rare_and_nearly_another() {
        let found = organisations(&[("north", 400), ("nort", 1), ("south", 390), ("east", 410)]);
        assert_eq!(found.slips(), [("\"nort\"", "\"north\"")]);
        let said = found.warning().unwrap();
        assert!(said.contains("smallest first: \"nort\" 1, \"south\" 390"), "{said}");
        assert!(said.contains("Is \"nort\" a slip for \"north\"?"), "{said}");
        for fine in [
            &[("ward 1", 400), ("ward 2", 3)][..],
            &[("site a", 400), ("site b", 3)],
            &[("north", 400), ("nort", 390)],
            &[("east", 400), ("west", 3)],
        ] {
            assert!(organisations(fine).slips().is_empty(), "{fine:?}");
        }
        assert!(organisations(&[("north", 40), ("south", 50), ("east", 60)]).warning().is_none());
        assert!(organisations(&[("north", 400), ("south", 410), ("x", 3)]).warning().is_some());
    }
}
