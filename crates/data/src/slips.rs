//! Names that may be slips for other ones: of columns as typed, of labels, categories and organisations as found.

use std::collections::BTreeMap;
use std::path::Path;

use super::error::quoted;

/// The name that is nearest to what was typed, if it is near enough for a slip, or the only one that begins with it.
pub fn nearest_name<'a>(names: &'a [String], typed: &str) -> Option<&'a str> {
    let plain = typed.trim().to_lowercase();
    let length = plain.chars().count();
    let distance = |name: &&String| strsim::damerau_levenshtein(&name.trim().to_lowercase(), &plain);
    let near = names.iter().min_by_key(distance)?;
    if distance(&near) <= (length / 3).min(3) {
        return Some(near);
    }
    let mut longer = names.iter().filter(|name| length > 2 && name.trim().to_lowercase().starts_with(&plain));
    longer.next().filter(|_| longer.next().is_none()).map(String::as_str)
}

/// `; did you mean "…"?`, where a file that is not there has a namesake in its folder; else nothing.
pub fn near_file(path: &Path, error: &std::io::Error) -> String {
    let nothing = String::new;
    let (std::io::ErrorKind::NotFound, Some(typed)) = (error.kind(), path.file_name()) else {
        return nothing();
    };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.filter_map(|entry| entry.file_name().into_string().ok()).take(MOST_NAMES).collect();
    names.sort_unstable();
    match nearest_name(&names, &typed.to_string_lossy()) {
        Some(near) => format!("; did you mean {}?", quoted(near)),
        None => nothing(),
    }
}

/// Files of a folder that are looked at.
const MOST_NAMES: usize = 10_000;

/// Whether two names are so near that one may be a slip for the other. Those that differ in numbers or single letters,
/// as `ward 1` and `ward 2`, are meant.
pub fn alike(one: &str, other: &str) -> bool {
    // Other signs may be all that tells two names apart: "<50" and ">50".
    let filler = |c: char| c.is_whitespace() || ['.', ',', '_'].contains(&c);
    let plain = |text: &str| text.to_lowercase().replace(filler, "");
    let words = |text: &str| {
        let letters: String = text.to_lowercase().chars().filter(|c| !c.is_numeric()).collect();
        let words = letters.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().count() > 1);
        words.collect::<Vec<_>>().join(" ")
    };
    let (a, b) = (plain(one), plain(other));
    if a == b {
        return true;
    }
    let length = a.chars().count().max(b.chars().count());
    words(one) != words(other) && length > 3 && strsim::damerau_levenshtein(&a, &b) <= (length / 4).min(2)
}

/// Names that are hardly any record's and nearly another's, each with that other one.
pub fn slips<'a>(counted: &[(&'a str, usize)]) -> Vec<(&'a str, &'a str)> {
    /// With more names, being alike says little, and comparing all of them takes long.
    const MOST: usize = 200;
    /// How many times fewer records a slip has.
    const FEWER: usize = 50;
    let other = |rare: &(&str, usize)| {
        let likely =
            |common: &&(&'a str, usize)| rare.1.saturating_mul(FEWER) <= common.1 && alike(rare.0, common.0);
        counted.iter().filter(likely).max_by_key(|common| common.1).map(|common| common.0)
    };
    if counted.len() > MOST {
        return Vec::new();
    }
    counted.iter().filter_map(|rare| Some((rare.0, other(rare)?))).collect()
}

/// Whether a text usually stands for a value that is not there.
pub(super) fn is_missing(text: &str) -> bool {
    const WORDS: [&str; 14] =
        ["", "na", "n/a", "n.a.", "#n/a", "<na>", "nan", "null", "nil", "none", "missing", "?", "-", "--"];
    WORDS.contains(&text.trim().to_lowercase().as_str())
}

/// The texts of a column of categories, as far as they are looked at for slips.
#[derive(Clone, Debug, Default)]
pub(super) struct CategoryColumn {
    values: ValueCounts,
    blanks: Blanks,
}

/// How many records have each value, and the line of the first.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ValueCounts {
    pub(super) known: BTreeMap<String, (usize, u64)>,
    /// Whether there are more values than were counted.
    pub(super) many: bool,
}

impl ValueCounts {
    /// One more record in this line; of values, `most` are counted.
    pub(super) fn push(&mut self, text: &str, line: u64, most: usize) {
        let room = self.known.len() < most;
        match self.known.get_mut(text) {
            Some((count, _)) => *count += 1,
            None if room => drop(self.known.insert(text.to_owned(), (1, line))),
            None => self.many = true,
        }
    }
}

/// How many cells of a column stand for nothing, and the first of them with its line.
#[derive(Clone, Debug, Default)]
pub(super) struct Blanks(Option<(usize, String, u64)>);

impl Blanks {
    pub(super) fn push(&mut self, text: &str, line: u64) {
        self.0.get_or_insert_with(|| (0, text.to_owned(), line)).0 += 1;
    }

    /// How many of so many, in words; nothing if none does.
    pub(super) fn words(&self, column: &str, records: usize) -> Option<String> {
        let (count, text, line) = self.0.as_ref()?;
        let shown = if text.is_empty() { "empty".to_owned() } else { quoted(text) };
        let are = if *count == 1 { "value is" } else { "values are" };
        Some(format!("{column}: {count} of {records} {are} missing, the first ({shown}) in line {line}"))
    }
}

impl CategoryColumn {
    pub(super) fn push(&mut self, text: &str, line: u64) {
        /// With more values nothing is looked for.
        const MOST: usize = 200;
        if is_missing(text) {
            self.blanks.push(text, line);
        }
        self.values.push(text, line, MOST);
    }

    pub(super) fn doubts(&self, column: &str) -> Vec<String> {
        if self.values.many { Vec::new() } else { slip_words(column, &self.values.known) }
    }

    /// How many cells of the column, of so many, stand for nothing, in words; nothing if none does.
    pub(super) fn blanks(&self, column: &str, records: usize) -> Option<String> {
        let words = self.blanks.words(column, records)?;
        Some(format!(
            "{words}; they count as a category of their own, about which only records of training that had it say anything"
        ))
    }
}

/// Which of a column's values, each with its records and the line of the first, may be slips, in words.
pub(super) fn slip_words(column: &str, known: &BTreeMap<String, (usize, u64)>) -> Vec<String> {
    const MOST: usize = 8;
    let mut counted: Vec<(&str, usize)> =
        known.iter().map(|(text, (count, _))| (text.as_str(), *count)).collect();
    counted.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let mut values: Vec<String> =
        counted.iter().take(MOST).map(|(text, count)| format!("{} {count}", quoted(text))).collect();
    if counted.len() > MOST {
        values.push(format!("and {} more", counted.len() - MOST));
    }
    let words = |(rare, common): (&str, &str)| {
        let (count, line) = known.get(rare).copied().unwrap_or_default();
        let records = if count == 1 { "record" } else { "records" };
        format!(
            "line {line}, column {column:?}: is {} ({count} {records}) a slip for {}? The column's values: {}",
            quoted(rare),
            quoted(common),
            values.join(", ")
        )
    };
    slips(&counted).into_iter().map(words).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_single_letters_are_meant_and_letters_are_slips() {
        for (one, other) in
            [("femal", "female"), ("nort", "north"), ("St. Mary", "St Mary"), ("North", "north ")]
        {
            assert!(alike(one, other) && alike(other, one), "{one} {other}");
        }
        for (one, other) in [
            ("ward 1", "ward 2"),
            ("site a", "site b"),
            ("male", "female"),
            ("yes", "no"),
            ("<=50K", ">50K"),
            ("a", "b"),
        ] {
            assert!(!alike(one, other) && !alike(other, one), "{one} {other}");
        }
    }

    #[test]
    fn names_that_begin_alike_and_files_that_are_nearly_there_are_suggested() {
        let names = ["cooperative", "age", "amount"].map(String::from);
        assert_eq!(nearest_name(&names, "coop"), Some("cooperative"));
        assert_eq!((nearest_name(&names, "a"), nearest_name(&names, "branch")), (None, None));
        let folder = std::env::temp_dir().join(format!("prdo-near-file-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("loans.csv"), "").unwrap();
        let gone = std::io::Error::from(std::io::ErrorKind::NotFound);
        assert_eq!(near_file(&folder.join("loan.csv"), &gone), "; did you mean \"loans.csv\"?");
        assert_eq!(near_file(&folder.join("patients.csv"), &gone), "");
        let denied = std::io::Error::from(std::io::ErrorKind::PermissionDenied);
        assert_eq!(near_file(&folder.join("loan.csv"), &denied), "");
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn rare_categories_are_doubted_with_their_line() {
        let mut column = CategoryColumn::default();
        (0..100).for_each(|line| column.push(if line % 2 == 0 { "female" } else { "male" }, line + 2));
        assert!(column.doubts("sex").is_empty());
        assert_eq!(column.blanks("sex", 100), None);
        column.push("", 101);
        column.push("NA", 103);
        assert_eq!(
            column.blanks("sex", 102).unwrap(),
            "sex: 2 of 102 values are missing, the first (empty) in line 101; they count as a category of their own, \
             about which only records of training that had it say anything"
        );
        column.push("femal", 102);
        let said = column.doubts("sex");
        assert!(
            said.len() == 1 && said[0].starts_with("line 102, column \"sex\": is \"femal\" (1 record)"),
            "{said:?}"
        );
    }
}
