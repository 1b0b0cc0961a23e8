//! What terms may say, checked when they are written and again when they are read.

use super::text::MARKER;
use super::{AgreementError, Facts, MOST_MEMBERS, Member, Terms};
use crate::machine::Row;
use prdo_algorithm::Exchanges;
use prdo_algorithm::graph::{Mixing, Mixings};
use std::collections::BTreeSet;

/// The most rounds, as in a run file.
const MOST_ROUNDS: u32 = 100_000_000;
/// The most exchanges in a round: 100 for each of two vectors; and after the last one.
const MOST_EXCHANGES: u32 = 200;
const MOST_FINAL_MIXINGS: u32 = 100;
/// The most vectors in a message.
const MOST_VECTORS: u32 = 8;
/// The most networks that take turns.
const MOST_TURNS: usize = 1000;
/// The most parameters: a message of 8 GiB.
const MOST_PARAMETERS: u64 = 1 << 30;
/// The most slots for records, as a shard has.
const MOST_RECORDS: u64 = 1 << 28;
const MOST_FEATURES: u64 = 100_000_000;
const MOST_CLASSES: u64 = 100_000;
const MOST_ADDRESSES: usize = 16;
/// The most characters of a name, and of other texts in one line.
const LONGEST_NAME: usize = 64;
const LONGEST_LINE: usize = 200;

impl Terms {
    /// Whether everything is in range and fits together.
    pub fn check(&self) -> Result<(), AgreementError> {
        line("name", &self.name)?;
        number("rounds", self.rounds.into(), MOST_ROUNDS.into())?;
        let Exchanges { per_round, every, shape, final_mixings } = self.exchanges;
        number("exchanges_per_round", per_round.into(), MOST_EXCHANGES.into())?;
        if final_mixings > 0 {
            number("final_mixings", final_mixings.into(), MOST_FINAL_MIXINGS.into())?;
        }
        number("exchanges_every", every.into(), MOST_ROUNDS.into())?;
        number("vectors", shape.vectors.into(), MOST_VECTORS.into())?;
        number("dimension", self.dimension, MOST_PARAMETERS)?;
        if let Some(relay) = &self.relay {
            let plain = relay.chars().all(|c| c.is_ascii_graphic() && !"\"\\".contains(c));
            if !(plain && relay.len() <= LONGEST_LINE && relay.len() > 8 && relay.starts_with("https://")) {
                return Err(AgreementError::value(
                    "relay",
                    format!("{relay:?}"),
                    "an address that begins with https://",
                ));
            }
        }
        self.facts.check()?;
        check_members(&self.members, self.relay.is_some())?;
        self.check_weights()?;
        match self.settings.lines().any(|line| line.trim() == MARKER) {
            true => Err(AgreementError::value("settings.run_file", "…", "text without the marker line")),
            false => Ok(()),
        }
    }

    fn check_weights(&self) -> Result<(), AgreementError> {
        if self.later_weights.len() >= MOST_TURNS {
            let (found, allowed) =
                (self.later_weights.len(), format!("at most {} further turns", MOST_TURNS - 1));
            return Err(AgreementError::value("later_weights", format!("{found} turns"), allowed));
        }
        self.turns().try_for_each(|turn| self.check_rows(turn))?;
        self.mixing()?.check_entries()?;
        Ok(())
    }

    fn check_rows(&self, turn: &[Row]) -> Result<(), AgreementError> {
        let count = self.members.len();
        if turn.len() != count {
            let allowed = format!("one row per member, {count}");
            return Err(AgreementError::value("weights", format!("{} rows", turn.len()), allowed));
        }
        for (i, row) in turn.iter().enumerate() {
            let field = || format!("member {i}, weights");
            let ascending = row.windows(2).all(|pair| matches!(pair, [(a, _), (b, _)] if a < b));
            if !ascending || !row.iter().any(|(j, _)| *j as usize == i) {
                let allowed = "pairs [member, weight] in ascending order, the member's own among them";
                return Err(AgreementError::value(field(), format!("{row:?}"), allowed));
            }
            if let Some((j, w)) =
                row.iter().find(|(j, w)| *j as usize != i && *w == 0.0 || w.is_sign_negative())
            {
                let allowed =
                    "above 0 (or 0 for the member itself); leave out members that it does not talk to";
                return Err(AgreementError::value(field(), format!("[{j}, {w:?}]"), allowed));
            }
        }
        Ok(())
    }

    /// Everybody's rows, turn by turn.
    pub fn turns(&self) -> impl Iterator<Item = &[Row]> {
        std::iter::once(&self.weights).chain(&self.later_weights).map(Vec::as_slice)
    }

    /// The network.
    pub fn mixing(&self) -> Result<Mixings, AgreementError> {
        let turn = |turn: &[Row]| {
            let rows = turn.iter().enumerate();
            let entries = rows.flat_map(|(i, row)| row.iter().map(move |(j, w)| (i, *j as usize, *w)));
            Mixing::from_entries(self.members.len(), entries.collect())
        };
        Ok(Mixings::in_turns(self.turns().map(turn).collect::<Result<_, _>>()?)?)
    }
}

pub(super) fn check_members(members: &[Member], relayed: bool) -> Result<(), AgreementError> {
    let count = members.len();
    if !(2..=MOST_MEMBERS).contains(&count) {
        let allowed = format!("from 2 to {MOST_MEMBERS} members");
        return Err(AgreementError::value("member", format!("{count} times"), allowed));
    }
    let (mut names, mut keys, mut places) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for (i, member) in members.iter().enumerate() {
        member.check(i, relayed)?;
        let at = |field: &str| format!("member {i}, {field}");
        // Two names that differ in capitals only are one name to people, and to some file systems.
        if !names.insert(member.name.to_lowercase()) {
            return Err(AgreementError::value(at("name"), &member.name, "a name that no other member has"));
        }
        if !keys.insert(member.key) {
            return Err(AgreementError::value(at("key"), member.key, "a key that no other member has"));
        }
        for address in &member.addresses {
            if !places.insert(*address) {
                return Err(AgreementError::value(at("addresses"), address, "an address that is given once"));
            }
        }
    }
    Ok(())
}

impl Member {
    fn check(&self, number_of: usize, relayed: bool) -> Result<(), AgreementError> {
        let at = |field: &str| format!("member {number_of}, {field}");
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        let name = &self.name;
        if name.is_empty() || name.len() > LONGEST_NAME || !name.chars().all(plain) {
            let allowed = format!("1 to {LONGEST_NAME} letters, digits, - _ or .");
            return Err(AgreementError::value(at("name"), format!("{name:?}"), allowed));
        }
        let count = self.addresses.len();
        if count > MOST_ADDRESSES || count == 0 && !relayed {
            let allowed =
                format!("1 to {MOST_ADDRESSES} addresses such as 192.0.2.7:4433 (none only with a relay)");
            return Err(AgreementError::value(at("addresses"), format!("{count} addresses"), allowed));
        }
        if let Some(address) = self.addresses.iter().find(|a| a.port() == 0 || a.ip().is_unspecified()) {
            return Err(AgreementError::value(
                at("addresses"),
                address,
                "an address and port that others can dial",
            ));
        }
        number(&at("records"), self.records, MOST_RECORDS)
    }
}

impl Facts {
    fn check(&self) -> Result<(), AgreementError> {
        number("facts.features", self.features, MOST_FEATURES)?;
        if let Some(classes) = self.classes.filter(|k| !(2..=MOST_CLASSES).contains(k)) {
            return Err(AgreementError::value("facts.classes", classes, format!("from 2 to {MOST_CLASSES}")));
        }
        names("facts.class_names", self.class_names.as_deref(), self.classes.unwrap_or(0))?;
        names("facts.feature_names", self.feature_names.as_deref(), self.features)?;
        let Some(image) = self.image else { return Ok(()) };
        let product = image.iter().try_fold(1u64, |all, side| all.checked_mul(*side));
        match product == Some(self.features) {
            true => Ok(()),
            false => {
                let allowed = format!("channels, height and width with the product {}", self.features);
                Err(AgreementError::value("facts.image", format!("{image:?}"), allowed))
            }
        }
    }
}

/// As many different names as there should be, each in one line.
fn names(field: &str, list: Option<&[String]>, count: u64) -> Result<(), AgreementError> {
    let Some(list) = list else { return Ok(()) };
    if list.len() as u64 != count {
        return Err(AgreementError::value(field, format!("{} names", list.len()), format!("{count} names")));
    }
    list.iter().try_for_each(|name| line(field, name))?;
    let mut seen = BTreeSet::new();
    match list.iter().find(|name| !seen.insert(*name)) {
        Some(name) => Err(AgreementError::value(field, format!("{name:?} twice"), "different names")),
        None => Ok(()),
    }
}

fn number(field: &str, value: u64, most: u64) -> Result<(), AgreementError> {
    match (1..=most).contains(&value) {
        true => Ok(()),
        false => Err(AgreementError::value(field, value, format!("a whole number from 1 to {most}"))),
    }
}

/// Text that fits in a line and does nothing to a terminal.
fn line(field: &str, text: &str) -> Result<(), AgreementError> {
    let fits =
        !text.is_empty() && text.chars().count() <= LONGEST_LINE && !text.chars().any(char::is_control);
    match fits {
        true => Ok(()),
        false => {
            let allowed = format!("1 to {LONGEST_LINE} characters in one line");
            Err(AgreementError::value(field, format!("{text:?}"), allowed))
        }
    }
}
