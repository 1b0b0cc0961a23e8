//! The columns of a CSV file: which may be the label or say who holds a record, which a model can learn from, and the
//! `[features]` section that would read them.

use prdo_data::ColumnSurvey;
use prdo_runfile::Value;
use serde_json::{Value as Json, json};

/// How many values of a column of text are shown.
const EXAMPLES: usize = 4;
/// The longest a value is shown.
const LETTERS: usize = 24;

/// Words in the names of columns that are often to be predicted.
const LABELS: &str = "class classes target outcome outcomes result diagnosis diagnosed response survived survival died death \
    mortality readmitted readmission disease churn";
/// Words in the names of columns that often say who holds a record.
const HOLDERS: &str = "hospital site clinic centre center organisation organization institution bank branch client party \
    facility provider company firm practice school owner holder member partner";
/// A label has at most so many different values, and a column that says who holds a record.
const MOST_CLASSES: usize = 20;
const MOST_HOLDERS: usize = 1000;

/// What a file's columns hold, and what each is for.
pub struct Columns {
    columns: Vec<ColumnSurvey>,
    label: Option<usize>,
    node: Option<usize>,
}

impl Columns {
    /// With label and node as they were named, or as runs would find them.
    pub fn new(columns: Vec<ColumnSurvey>, label: Option<&str>, node: Option<&str>) -> Self {
        let at = |name: &str| columns.iter().position(|column| column.name == name);
        let label = label.map_or_else(|| at("label").or_else(|| at("y")), at);
        let node = at(node.unwrap_or("node")).filter(|node| Some(*node) != label);
        Self { columns, label, node }
    }

    fn features(&self) -> impl Iterator<Item = &ColumnSurvey> {
        let taken = |k: &usize| self.label == Some(*k) || self.node == Some(*k);
        self.columns.iter().enumerate().filter(move |(k, _)| !taken(k)).map(|(_, column)| column)
    }

    /// Columns that may be the label, where nobody said which one is: few different values, and last or of a usual name.
    pub fn maybe_label(&self) -> Vec<&str> {
        let likely = |(k, column): &(usize, &ColumnSurvey)| {
            let few = column.distinct().is_some_and(|found| (2..=MOST_CLASSES).contains(&found));
            few && self.node != Some(*k) && (k + 1 == self.columns.len() || has_word(&column.name, LABELS))
        };
        let all = self.columns.iter().enumerate().filter(|_| self.label.is_none());
        all.filter(likely).map(|(_, column)| column.name.as_str()).collect()
    }

    /// Columns that may say who holds a record, where nobody said which one does: by their names.
    pub fn maybe_node(&self) -> Vec<&str> {
        let likely = |(k, column): &(usize, &ColumnSurvey)| {
            let few = column.distinct().is_some_and(|found| (2..=MOST_HOLDERS).contains(&found));
            // "Days in hospital" is a number of days.
            let named = has_word(&column.name, HOLDERS) && (column.is_text() || is_name_of(&column.name));
            few && self.label != Some(*k) && !column.is_key() && named
        };
        let all = self.columns.iter().enumerate().filter(|_| self.node.is_none());
        all.filter(likely).map(|(_, column)| column.name.as_str()).collect()
    }

    /// What to ask of whoever did not say which column is the label, or who holds a record.
    pub fn questions(&self) -> Vec<String> {
        let ask = |names: Vec<&str>, what: &str, flag: &str| {
            let (first, all) = (names.first()?, names.join(", "));
            let look = if names.len() == 1 { "looks" } else { "look" };
            Some(format!("{all} {look} like {what}: if so, give {flag} {}", shell_word(first)))
        };
        let label = ask(self.maybe_label(), "the label (the column to predict)", "--label");
        let node = ask(self.maybe_node(), "the holder of a record", "--node");
        label.into_iter().chain(node).collect()
    }

    pub fn records(&self) -> usize {
        self.columns.first().map_or(0, |column| column.records)
    }

    pub fn texts(&self) -> Vec<String> {
        self.features().filter(|column| column.is_text()).map(|column| column.name.clone()).collect()
    }

    /// Smallest and largest number of all features.
    pub fn range(&self) -> (f64, f64) {
        let ranges = self.features().filter(|column| !column.is_text()).filter_map(|column| column.range);
        ranges.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), (low, high)| (a.min(low), b.max(high)))
    }

    fn role(&self, k: usize) -> &'static str {
        match k {
            k if self.label == Some(k) => "label",
            k if self.node == Some(k) => "node",
            _ => "feature",
        }
    }

    pub fn lines(&self) -> Vec<String> {
        let widest = self.columns.iter().map(|column| column.name.chars().count()).max().unwrap_or(0);
        let line = |(k, column): (usize, &ColumnSurvey)| {
            let pad = " ".repeat(widest - column.name.chars().count());
            let kind = if column.is_text() { "text  " } else { "number" };
            let role = match self.role(k) {
                "feature" => String::new(),
                role => format!("; the {role}"),
            };
            let missing = match column.missing {
                0 => String::new(),
                missing => format!("; {missing} missing"),
            };
            format!("  {}{pad}  {kind}  {}{missing}{role}", column.name, values(column))
        };
        self.columns.iter().enumerate().map(line).collect()
    }

    pub fn json(&self) -> Vec<Json> {
        let one = |(k, column): (usize, &ColumnSurvey)| {
            let examples: Vec<Json> =
                column.commonest(EXAMPLES).iter().map(|(value, count)| json!([value, count])).collect();
            json!({
                "column": column.name,
                "role": self.role(k),
                "holds": if column.is_text() { "text" } else { "number" },
                "missing": column.missing,
                "distinct": column.distinct(),
                "low": column.range.map(|(low, _)| low),
                "high": column.range.map(|(_, high)| high),
                "examples": if column.is_text() { examples } else { Vec::new() },
            })
        };
        self.columns.iter().enumerate().map(one).collect()
    }

    /// Features, without what may be the label: that would let a model cheat.
    fn clear(&self) -> impl Iterator<Item = &ColumnSurvey> {
        let unclear = [self.maybe_label(), self.maybe_node()].concat();
        self.features().filter(move |column| !unclear.contains(&column.name.as_str()))
    }

    fn usable(&self) -> impl Iterator<Item = &ColumnSurvey> {
        self.clear().filter(|column| unfit(column).is_none())
    }

    /// The features that a model can learn from, by name.
    pub fn used(&self) -> Vec<String> {
        self.usable().map(|column| column.name.clone()).collect()
    }

    /// The others, and why.
    pub fn left_out(&self) -> Vec<(&str, String)> {
        self.clear().filter_map(|column| Some((column.name.as_str(), unfit(column)?))).collect()
    }

    /// What becomes of values that are missing.
    pub fn gaps(&self) -> Vec<String> {
        let words = |column: &ColumnSurvey| {
            let are = if column.missing == 1 { "value is" } else { "values are" };
            let line = column.first_missing.unwrap_or(0);
            let counts = match column.is_text() {
                true => "a category of their own",
                false => "the middle of the column's range",
            };
            format!(
                "{}: {} {are} missing, the first in line {line}: read as {counts}",
                column.name, column.missing
            )
        };
        self.usable().filter(|column| column.missing > 0).map(words).collect()
    }

    /// What in them may be slips: categories that are nearly another, numbers far beyond all others.
    pub fn doubts(&self) -> Vec<String> {
        let slips = self.usable().filter(|column| column.is_text()).flat_map(ColumnSurvey::slips);
        slips.chain(self.usable().filter_map(far_out)).collect()
    }

    /// What a run file says of these columns; `None` where there is nothing to say.
    pub fn section(&self) -> Option<String> {
        let features = self.table()?;
        Some(match self.choice() {
            choice if choice.is_empty() => features,
            choice => format!("[data]\n{choice}\n{features}"),
        })
    }

    pub fn table(&self) -> Option<String> {
        let range = |column: &ColumnSurvey| {
            let (low, high) = outward(column.range?);
            Some(format!("{}: {low} to {high}", column.name))
        };
        let (texts, numbers): (Vec<_>, Vec<_>) = self.usable().partition(|column| column.is_text());
        let ranges: Vec<String> = numbers.iter().filter_map(|column| range(column)).collect();
        let categories: Vec<String> = texts.iter().map(|column| column.name.clone()).collect();
        if ranges.is_empty() && categories.is_empty() {
            return None;
        }
        let mut text = "[features]\nmap = \"table\"\n".to_owned();
        for question in self.questions() {
            text += &format!("# Not in here: {}\n", one_line(&question));
        }
        for (key, list) in [("ranges", ranges), ("categories", categories)] {
            if !list.is_empty() {
                text += &format!("{key} = {}\n", Value::Texts(list));
            }
        }
        if numbers.iter().any(|column| column.missing > 0) {
            text += "missing = \"middle\"           # a missing number counts as the middle of its column's range\n";
        }
        Some(text)
    }

    /// The lines of `[data]` that leave out what a model cannot learn from; empty if that is nothing.
    pub fn choice(&self) -> String {
        let left: Vec<String> = self
            .left_out()
            .iter()
            .map(|(name, why)| format!("# Without {}: {}.\n", one_line(name), one_line(why)))
            .collect();
        match self.used().len() == self.features().count() {
            true => String::new(),
            false => format!("{}features = {}\n", left.concat(), Value::Texts(self.used())),
        }
    }
}

/// Text for a comment: names in CSV files may have lines of their own.
pub fn one_line(text: &str) -> String {
    text.replace(char::is_control, " ")
}

/// Why a column should not be learned from as it is; nothing if it may.
fn unfit(column: &ColumnSurvey) -> Option<String> {
    let mend = "correct it, or remove the record, and try again";
    if column.name.is_empty() {
        return Some("the column has no name".into());
    }
    if column.is_free_text() && !column.is_key() {
        return Some(scattered(column));
    }
    match (column.stray_texts(), &column.first_text) {
        _ if column.missing == column.records => Some("every value is missing".into()),
        // What is different for every record says nothing about new ones.
        (0, _) if column.is_key() && column.is_dates() => {
            Some(format!("every record has a value of its own; {DATES}"))
        }
        (0, _) if column.is_key() => Some("every record has a value of its own".into()),
        (0, _) | (_, None) => None,
        (1, Some((text, line))) => Some(format!("line {line} has {text:?}, the others numbers: {mend}")),
        (texts, Some((text, line))) => Some(format!(
            "{texts} values are not numbers, such as {text:?} in line {line}, but most are: {mend}"
        )),
    }
}

const DATES: &str = "these look like dates: to learn from them, convert each to a number, such as the days since a fixed \
    public date";

/// Why text of which nearly every record has another is not learned from.
fn scattered(column: &ColumnSurvey) -> String {
    let distinct = column.distinct().map_or("very many".into(), |n| n.to_string());
    let tip = match column.is_dates() {
        true => DATES,
        false => {
            "names and free text say nothing about new records; if it contains groups, put those into the table"
        }
    };
    format!("text with {distinct} different values in {} records; {tip}", column.records)
}

/// What to say of a number that is far beyond the others, and sets its column's range alone.
fn far_out(column: &ColumnSurvey) -> Option<String> {
    let found = column.outlier().filter(|_| !column.is_text())?;
    let more = match found.count {
        1 => String::new(),
        2 => " (and another is as far out)".into(),
        n => format!(" (and {} others are as far out)", n - 1),
    };
    Some(format!(
        "line {}, column {:?}: {}{more} is {:.0} times the next largest, {}, and alone sets the column's range: is it a mistake? \
         If it is right, a narrower range in the file cuts it off and keeps the others apart",
        found.line,
        column.name,
        found.value,
        found.value.abs() / found.next,
        found.next
    ))
}

/// Whether a name says nothing but who holds a record, as "Hospital ID" does.
fn is_name_of(name: &str) -> bool {
    const BESIDE: [&str; 9] = ["id", "code", "number", "no", "nr", "name", "key", "the", ""];
    let name = name.to_lowercase();
    let known = |word: &str| has_word(word, HOLDERS) || BESIDE.contains(&word) || word.parse::<u32>().is_ok();
    name.split(|c: char| !c.is_alphanumeric()).all(known)
}

/// Whether one of these words is in a name.
fn has_word(name: &str, words: &str) -> bool {
    let name = name.to_lowercase();
    name.split(|c: char| !c.is_alphanumeric()).any(|word| words.split(' ').any(|known| known == word))
}

/// A name as it is typed after a flag.
fn shell_word(name: &str) -> String {
    let plain = name.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c));
    if plain { name.to_owned() } else { format!("{name:?}") }
}

fn values(column: &ColumnSurvey) -> String {
    if !column.is_text() {
        return column.range.map_or("nothing".into(), |(low, high)| format!("from {low} to {high}"));
    }
    let mut shown: Vec<String> = column
        .commonest(EXAMPLES)
        .iter()
        .map(|(value, count)| format!("{} {count}", value.chars().take(LETTERS).collect::<String>()))
        .collect();
    if column.distinct().is_none_or(|distinct| distinct > EXAMPLES) {
        shown.push("…".into());
    }
    let distinct = column.distinct().map_or("very many".into(), |distinct| distinct.to_string());
    format!("{distinct} different values: {}", shown.join(", "))
}

/// A range with round ends that holds this one.
fn outward((low, high): (f64, f64)) -> (String, String) {
    let span = if high > low { high - low } else { high.abs().max(1.0) };
    let power = span.log10().floor().clamp(-300.0, 300.0) as i32;
    let step = 10_f64.powi(power);
    let (below, above) = ((low / step).floor(), (high / step).ceil());
    let above = if above > below { above } else { below + 1.0 };
    let places = usize::try_from(-power).unwrap_or(0);
    let shown = |steps: f64| format!("{:.places$}", if steps == 0.0 { 0.0 } else { steps * step });
    (shown(below), shown(above))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_rounded_outwards() {
        let range = |low: f64, high: f64| {
            let (low, high) = outward((low, high));
            format!("{low} to {high}")
        };
        assert_eq!(range(18.0, 93.0), "10 to 100");
        assert_eq!(range(-0.94, 0.97), "-1 to 1");
        assert_eq!(range(0.013, 0.0171), "0.013 to 0.018");
        assert_eq!(range(0.0, 99_999.0), "0 to 100000");
        assert_eq!(range(7.0, 7.0), "7 to 8");
        assert_eq!(range(0.0, 0.0), "0 to 1");
        assert_eq!(range(-3.5e8, 1.0), "-400000000 to 100000000");
        for (low, high) in [(1e300, 1.7e308), (-1e-300, 2e-310), (f64::MIN, f64::MAX)] {
            let (low, high) = outward((low, high));
            assert!(low.parse::<f64>().is_ok() && high.parse::<f64>().is_ok());
        }
    }
}
