//! What named columns are for, and how label and node columns are read: shared by CSV and Parquet.

use std::collections::BTreeMap;

use super::error::{listed, quoted};
use super::slips::{is_missing, nearest_name, slips};
use super::{BadCell, ClassNames, DataError, Doubt, Options, Place};

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Roles {
    /// None where labels may be missing, and are.
    pub(super) label: Option<usize>,
    pub(super) node: Option<usize>,
    pub(super) features: Vec<usize>,
}

impl Roles {
    /// Gives each of the columns `names` of `file` its role.
    pub(super) fn of(file: &str, names: &[String], options: &Options) -> Result<Self, DataError> {
        refuse_duplicates(file, names, "occurs more than once in the header")?;
        let label = match &options.label {
            Some(name) if options.unlabelled => position(names, name),
            Some(name) => Some(find(file, names, name)?),
            None => position(names, "label").or_else(|| position(names, "y")),
        };
        if label.is_none() && !options.unlabelled {
            let wanted = "\"label\" or \"y\" (or name the label column)".to_owned();
            let (file, near, found) = (file.to_owned(), String::new(), listed(names));
            return Err(DataError::MissingColumn { file, wanted, near, found });
        }
        let node = match &options.node {
            Some(name) => Some(find(file, names, name)?),
            None => position(names, "node").filter(|node| Some(*node) != label),
        };
        if let (Some(label), true) = (label, node.is_some() && node == label) {
            return Err(column(file, &names[label], "cannot be both label and node"));
        }
        let taken = |c: usize| label == Some(c) || node == Some(c);
        let features = match &options.features {
            None => (0..names.len()).filter(|c| !taken(*c)).collect(),
            Some(chosen) => {
                refuse_duplicates(file, chosen, "is chosen as a feature more than once")?;
                chosen.iter().map(|name| find(file, names, name)).collect::<Result<Vec<_>, _>>()?
            }
        };
        Self { label, node, features }.checked(file, names)
    }

    /// Refuses features that are labels (which would let a model cheat), nodes, nothing, or nameless, such as
    /// the row numbers that pandas writes in front.
    fn checked(self, file: &str, names: &[String]) -> Result<Self, DataError> {
        if self.features.is_empty() {
            return Err(DataError::NoFeatures { file: file.to_owned(), found: listed(names) });
        }
        for &c in &self.features {
            if self.label == Some(c) || self.node == Some(c) {
                return Err(column(file, &names[c], "cannot be a feature: it is the label or node column"));
            }
            if names[c].is_empty() {
                let problem = format!("(column {}) has no name: name it, or choose the features", c + 1);
                return Err(column(file, "", &problem));
            }
        }
        Ok(self)
    }
}

fn column(file: &str, column: &str, problem: &str) -> DataError {
    DataError::Column { file: file.to_owned(), column: column.to_owned(), problem: problem.to_owned() }
}

fn position(names: &[String], name: &str) -> Option<usize> {
    names.iter().position(|n| n == name)
}

pub(super) fn find(file: &str, names: &[String], name: &str) -> Result<usize, DataError> {
    position(names, name).ok_or_else(|| missing(file, names, name))
}

pub(super) fn missing(file: &str, names: &[String], name: &str) -> DataError {
    let near = nearest_name(names, name);
    DataError::MissingColumn {
        file: file.to_owned(),
        wanted: quoted(name),
        near: near.map_or(String::new(), |near| format!("; did you mean {}?", quoted(near))),
        found: listed(names),
    }
}

fn refuse_duplicates(file: &str, names: &[String], problem: &str) -> Result<(), DataError> {
    let mut sorted: Vec<&String> = names.iter().collect();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(column(file, pair[0], problem)),
        None => Ok(()),
    }
}

/// A cell's place and column, for the error it may cause.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell<'a> {
    pub(super) file: &'a str,
    pub(super) place: Place,
    pub(super) column: &'a str,
}

impl Cell<'_> {
    fn bad(self, value: impl Into<String>, bad: BadCell) -> DataError {
        let (file, column) = (self.file.to_owned(), self.column.to_owned());
        DataError::Cell { file, place: self.place, column, value: value.into(), bad }
    }

    /// The error of a cell that breaks this rule.
    pub(super) fn refuse(self, value: impl Into<String>, allowed: &'static str) -> DataError {
        self.bad(value, BadCell::Rule(allowed))
    }

    pub(super) fn number(self, text: &str) -> Result<f64, DataError> {
        let refused = |_| self.bad(shown(text), not_a_number(text));
        self.finite(text.parse().unwrap_or(f64::NAN)).map_err(refused)
    }

    pub(super) fn finite(self, value: f64) -> Result<f64, DataError> {
        match value.is_finite() {
            true => Ok(value),
            false => Err(self.bad(value.to_string(), BadCell::NotNumber)),
        }
    }
}

/// What is wrong with this text where a number should stand.
fn not_a_number(text: &str) -> BadCell {
    let is_number = |text: String| text.parse::<f64>().is_ok();
    match () {
        () if is_missing(text) => BadCell::MissingNumber,
        () if text.contains(',') && is_number(text.replace(',', ".")) => BadCell::DecimalComma,
        () if text.contains(',') && is_number(text.replace(',', "")) => BadCell::Thousands,
        () => BadCell::NotNumber,
    }
}

fn shown(text: &str) -> String {
    if text.is_empty() { "nothing".to_owned() } else { quoted(text) }
}

/// Distinct names, numbered as they come and in sorted order at the end.
#[derive(Debug, Default)]
struct Names {
    codes: Vec<u32>,
    known: BTreeMap<String, (u32, Option<Place>)>,
}

impl Names {
    fn push(&mut self, name: &str, place: Place) {
        let code = match self.known.get(name) {
            Some((code, _)) => *code,
            None => {
                // More than 2³² distinct names do not fit in memory either.
                let code = u32::try_from(self.known.len()).unwrap_or(u32::MAX);
                self.known.insert(name.to_owned(), (code, Some(place)));
                code
            }
        };
        self.codes.push(code);
    }

    fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.known.len()];
        self.codes.iter().for_each(|code| counts[*code as usize] += 1);
        counts
    }

    fn check(&self, file: &str, column: &str, allowed: ClassNames) -> Result<(), DataError> {
        const MOST: usize = 20;
        let (counts, count) = (self.counts(), self.known.len());
        let classes = || {
            let one = |(name, (code, _)): (&String, &(u32, Option<Place>))| {
                format!("{} ({} records)", quoted(name), counts[*code as usize])
            };
            let mut list: Vec<String> = self.known.iter().take(MOST).map(one).collect();
            if count > MOST {
                list.push(format!("and {} more", count - MOST));
            }
            list.join(", ")
        };
        let doubt = match allowed {
            ClassNames::Any => return Ok(()),
            ClassNames::Number(number) if number == count => return Ok(()),
            ClassNames::Number(number) => {
                let allowed = format!("{count}: the labels of {file} are {}", classes());
                return Err(DataError::argument("classes", number, allowed));
            }
            ClassNames::Plausible => self.doubtful(&counts),
        };
        let Some((name, why)) = doubt else { return Ok(()) };
        let place = self.known.get(name).and_then(|(_, place)| *place).unwrap_or(Place::Record(0));
        let doubt = Box::new(Doubt { value: quoted(name), why, classes: classes(), count });
        let (file, column) = (file.to_owned(), column.to_owned());
        Err(DataError::DoubtfulLabel { file, place, column, doubt })
    }

    /// The first name that is likely a slip, and why: of two that are alike the rarer one.
    fn doubtful(&self, counts: &[usize]) -> Option<(&str, String)> {
        if let Some(name) = self.known.keys().find(|name| is_missing(name)) {
            return Some((name, "usually stands for a missing value".to_owned()));
        }
        let mut alike: BTreeMap<String, (&str, usize)> = BTreeMap::new();
        for (name, (code, _)) in &self.known {
            let plain: String = name.to_lowercase().split_whitespace().collect();
            let this = (name.as_str(), counts[*code as usize]);
            if let Some(other) = alike.insert(plain, this) {
                let (rare, common) = if this.1 <= other.1 { (this.0, other.0) } else { (other.0, this.0) };
                return Some((rare, format!("differs from {} only in case or blanks", quoted(common))));
            }
        }
        let counted: Vec<(&str, usize)> =
            self.known.iter().map(|(name, (code, _))| (name.as_str(), counts[*code as usize])).collect();
        let (rare, common) = slips(&counted).into_iter().next()?;
        Some((rare, format!("may be a slip for {}", quoted(common))))
    }

    /// For each entry what `value` says of its name's rank in sorted order.
    fn ranked<T: Copy + Default>(&self, value: impl Fn(usize, &str) -> T) -> Vec<T> {
        let mut of_code = vec![T::default(); self.known.len()];
        for (rank, (name, (code, _))) in self.known.iter().enumerate() {
            of_code[*code as usize] = value(rank, name);
        }
        self.codes.iter().map(|code| of_code[*code as usize]).collect()
    }
}

/// A label column being read. Its first cell says whether labels are numbers or names; the other kind is then
/// refused, because one mistyped number must not turn a column of numbers into thousands of classes.
#[derive(Debug, Default)]
pub(super) struct LabelColumn {
    numbers: Vec<f64>,
    names: Names,
}

impl LabelColumn {
    pub(super) fn push_text(&mut self, text: &str, cell: Cell<'_>) -> Result<(), DataError> {
        if text.is_empty() {
            return Err(cell.refuse("nothing", "a number or a class name"));
        }
        match text.parse::<f64>() {
            Ok(number) => self.push_number(number, cell),
            Err(_) if self.numbers.is_empty() => {
                self.names.push(text, cell.place);
                Ok(())
            }
            Err(_) => Err(cell.refuse(quoted(text), "finite numbers, as in the records before")),
        }
    }

    pub(super) fn push_number(&mut self, number: f64, cell: Cell<'_>) -> Result<(), DataError> {
        let (names, known) = (&self.names.codes, &self.names.known);
        // Where all names so far stand for nothing, it is they that are wrong.
        if let Some((name, (_, place))) = known.iter().next().filter(|_| known.keys().all(|n| is_missing(n)))
        {
            let cell = Cell { place: place.unwrap_or(cell.place), ..cell };
            return Err(cell.refuse(quoted(name), "finite numbers, as in other records"));
        }
        if !names.is_empty() {
            return Err(
                cell.refuse(number.to_string(), "class names that are not numbers, as in the records before")
            );
        }
        self.numbers.push(cell.finite(number)?);
        Ok(())
    }

    pub(super) fn push_none(&mut self) {
        self.numbers.push(0.0);
    }

    /// The labels, and the class names where labels are names, if these are `allowed`.
    pub(super) fn finish(
        self,
        file: &str,
        column: &str,
        allowed: ClassNames,
    ) -> Result<(Vec<f64>, Option<Vec<String>>), DataError> {
        if self.names.codes.is_empty() {
            return Ok((self.numbers, None));
        }
        self.names.check(file, column, allowed)?;
        let labels = self.names.ranked(|rank, _| rank as f64);
        Ok((labels, Some(self.names.known.into_keys().collect())))
    }

    pub(super) fn len(&self) -> usize {
        self.numbers.len() + self.names.codes.len()
    }
}

/// A node column being read: whole numbers are node numbers as they stand; anything else is a name, and names
/// are numbered in sorted order.
#[derive(Debug, Default)]
pub(super) struct NodeColumn {
    names: Names,
}

impl NodeColumn {
    pub(super) fn push(&mut self, text: &str, cell: Cell<'_>) -> Result<(), DataError> {
        if text.is_empty() {
            return Err(cell.refuse("nothing", "a node number or name"));
        }
        self.names.push(text, cell.place);
        Ok(())
    }

    pub(super) fn finish(self, file: &str, column: &str) -> Result<Nodes, DataError> {
        if !self.names.known.keys().all(|name| is_integer(name)) {
            let holders = self.names.ranked(|rank, _| rank as u32);
            return Ok(Nodes { holders, names: Some(self.names.known.into_keys().collect()) });
        }
        for (name, (_, place)) in &self.names.known {
            if name.parse::<u32>().is_err() {
                let cell = Cell { file, place: place.unwrap_or(Place::Record(0)), column };
                return Err(cell.refuse(quoted(name), "node numbers 0 to 4294967295, or names"));
            }
        }
        Ok(Nodes { holders: self.names.ranked(|_, name| name.parse().unwrap_or(0)), names: None })
    }
}

/// Who holds each record, and the nodes' names where they have any.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Nodes {
    holders: Vec<u32>,
    names: Option<Vec<String>>,
}

impl From<Nodes> for (Option<Vec<u32>>, Option<Vec<String>>) {
    fn from(nodes: Nodes) -> Self {
        (Some(nodes.holders), nodes.names)
    }
}

/// Whether `text` is a whole number as computers write it: `7`, `-7`, but not `007` or `+7`, which are names.
fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = digits == "0" || !digits.starts_with('0');
    !digits.is_empty() && plain && digits.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn roles_by_default_and_by_choice() {
        let columns = names(&["a", "y", "node", "label"]);
        let roles = Roles::of("f", &columns, &Options::default()).unwrap();
        assert_eq!(roles, Roles { label: Some(3), node: Some(2), features: vec![0, 1] });
        let unlabelled = Options { unlabelled: true, ..Options::default() };
        let bare = Roles::of("f", &names(&["a", "b"]), &unlabelled).unwrap();
        assert_eq!(bare, Roles { label: None, node: None, features: vec![0, 1] });
        assert_eq!(Roles::of("f", &columns, &unlabelled).unwrap(), roles);
        let options = Options {
            label: Some("a".to_owned()),
            node: Some("y".to_owned()),
            features: Some(names(&["label", "node"])),
            ..Options::default()
        };
        assert_eq!(
            Roles::of("f", &columns, &options).unwrap(),
            Roles { label: Some(0), node: Some(1), features: vec![3, 2] }
        );
    }

    #[test]
    fn slips_in_columns_names_are_recognised() {
        let columns = names(&["Outcome", "age", "blood pressure"]);
        for (typed, near) in [
            ("outcome", Some("Outcome")),
            ("Outcom", Some("Outcome")),
            ("aeg", Some("age")),
            ("blood_pressure", Some("blood pressure")),
            ("label", None),
            ("", None),
        ] {
            assert_eq!(nearest_name(&columns, typed), near, "{typed}");
        }
        assert_eq!(nearest_name(&[], "x"), None);
        let said = find("f", &columns, "outcome").unwrap_err().to_string();
        assert!(said.contains("no column \"outcome\"; did you mean \"Outcome\"? (columns found:"), "{said}");
    }

    #[test]
    fn names_are_numbered_in_sorted_order_and_numbers_stand() {
        let cell = Cell { file: "f", place: Place::Line(2), column: "c" };
        let nodes = |list: &[&str]| {
            let mut column = NodeColumn::default();
            list.iter().for_each(|text| column.push(text, cell).unwrap());
            column.finish("f", "c").map(|nodes| nodes.holders).map_err(|e| e.to_string())
        };
        let mut named = NodeColumn::default();
        ["zurich", "bern"].iter().for_each(|text| named.push(text, cell).unwrap());
        assert_eq!(named.finish("f", "c").unwrap().names, Some(names(&["bern", "zurich"])));
        let mut numbered = NodeColumn::default();
        numbered.push("3", cell).unwrap();
        assert_eq!(numbered.finish("f", "c").unwrap().names, None);
        assert_eq!(nodes(&["zurich", "bern", "zurich"]), Ok(vec![1, 0, 1]));
        assert_eq!(nodes(&["10", "2", "0"]), Ok(vec![10, 2, 0]));
        assert_eq!(nodes(&["07", "7"]), Ok(vec![0, 1]));
        assert_eq!(nodes(&["1.5", "7"]), Ok(vec![0, 1]));
        assert!(nodes(&["3", "-1"]).unwrap_err().contains("line 2, column \"c\": found \"-1\""));
        assert!(nodes(&["4294967296"]).is_err());
        let mut labels = LabelColumn::default();
        ["dog", "cat", "dog"].iter().for_each(|text| labels.push_text(text, cell).unwrap());
        let found = labels.finish("f", "c", ClassNames::Plausible).unwrap();
        assert_eq!(found, (vec![1.0, 0.0, 1.0], Some(names(&["cat", "dog"]))));
    }

    #[test]
    fn labels_that_are_slips_are_refused_unless_they_are_meant() {
        let read = |list: &[&str], allowed| {
            let mut labels = LabelColumn::default();
            for (k, text) in list.iter().enumerate() {
                let cell = Cell { file: "f", place: Place::Line(k as u64 + 2), column: "c" };
                labels.push_text(text, cell).map_err(|e| e.to_string())?;
            }
            let found = labels.finish("f", "c", allowed).map_err(|e| e.to_string())?;
            Ok::<_, String>(found.1.map_or(0, |names| names.len()))
        };
        let error = |list: &[&str], allowed| read(list, allowed).unwrap_err();
        let missing = error(&["yes", "no", "NA", "no"], ClassNames::Plausible);
        assert_eq!(
            missing,
            "f, line 4, column \"c\": the label \"NA\" usually stands for a missing value; the labels are \
             \"NA\" (1 records), \"no\" (2 records), \"yes\" (1 records)"
        );
        let twins = error(&["yes", "No", "no", "no"], ClassNames::Plausible);
        assert!(twins.contains("line 3") && twins.contains("\"No\" differs from \"no\" only"), "{twins}");
        assert!(
            error(&["non smoker", "Nonsmoker"], ClassNames::Plausible).contains("only in case or blanks")
        );
        assert_eq!(read(&["yes", "No", "no"], ClassNames::Any), Ok(3));
        assert_eq!(read(&["mild", "none"], ClassNames::Number(2)), Ok(2));
        let other = error(&["yes", "no", "NA"], ClassNames::Number(2));
        assert!(other.starts_with("classes = 2; allowed: 3: the labels of f are"), "{other}");
        // Numbers with a word for nothing among them, whichever comes first.
        assert!(error(&["NA", "1", "0"], ClassNames::Any).contains("line 2, column \"c\": found \"NA\""));
        assert!(error(&["1", "NA", "0"], ClassNames::Any).contains("line 3, column \"c\": found \"NA\""));
    }
}
