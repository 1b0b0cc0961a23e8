//! A run file's text as checked values, each with its place.

use crate::names::{MEMORY, OWN_METHOD};
use crate::place::{ConfigError, Place};
use crate::schema::{Key, Section, nearest};
use crate::value::{Value, ValueType};
use prdo_accounting::Calibrations;
use prdo_algorithm::Method;
use prdo_algorithm::methods::Assigned;
use prdo_data::{Format, Loaded, near_file};
use prdo_privacy::ByRound;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The values of one key: one, or a list of them (a sweep).
#[derive(Clone, Debug)]
struct Entry {
    values: Vec<Value>,
    place: Place,
    /// Where each item of a list stands.
    items: Vec<Place>,
    /// Whether the value is one of a list that is being swept.
    swept: bool,
}

/// A run file whose keys, types and ranges are right.
#[derive(Clone, Debug, Default)]
pub struct Document {
    entries: BTreeMap<Key, Entry>,
    /// The folder that relative paths start from.
    pub folder: PathBuf,
    /// Whether batches and noise are drawn from the operating system instead of `seed`: for programs that keep nothing
    /// by which the noise could be drawn again.
    pub unseeded: bool,
    /// What the runs of this document and its copies have calibrated.
    pub calibrations: Arc<Calibrations>,
    /// The records of `data.source = "memory"`.
    given: Option<Arc<GivenRecords>>,
    /// The method of `method.name = "own"`.
    given_method: Option<Arc<GivenMethod>>,
}

/// Records that a program gives, instead of a file.
#[derive(Clone, Debug)]
pub struct GivenRecords {
    pub records: Loaded,
    /// Public records on which accuracy is measured.
    pub test: Option<Loaded>,
    /// What they are called in reports.
    pub title: String,
}

/// A method that a program brings, with the values of its own parameters: run files have no keys for those.
#[derive(Clone, Debug, PartialEq)]
pub struct GivenMethod {
    pub method: Method,
    pub parameters: Vec<Assigned>,
    /// Tells it from others, its parameters' values included: checkpoints of another method do not fit.
    pub identity: [u8; 32],
}

impl Document {
    /// Reads and checks a run file.
    ///
    /// # Errors
    /// An unreadable file, text that is not TOML, an unknown key, a value of the wrong type or out of range.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let name = path.display().to_string();
        let bytes = std::fs::read(path).map_err(|e| {
            let near = near_file(path, &e);
            ConfigError::anywhere(format!("cannot read the run file {name}: {e}{near}"))
        })?;
        let mut document =
            Self::parse_bytes(&name, bytes).map_err(|error| table_instead(path).unwrap_or(error))?;
        document.folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        Ok(document)
    }

    fn parse_bytes(name: &str, bytes: Vec<u8>) -> Result<Self, ConfigError> {
        let text = String::from_utf8(bytes).map_err(|e| {
            let at = e.utf8_error().valid_up_to();
            ConfigError::anywhere(format!("the run file {name} is not UTF-8 text: byte {at} is not valid"))
        })?;
        Self::parse(name, &text)
    }

    /// Checks a run file's text.
    pub fn parse(file: &str, text: &str) -> Result<Self, ConfigError> {
        let mut document = Self::default();
        document.add(file, text)?;
        Ok(document)
    }

    /// Overrides one key, as `--set key=value` does. The value is TOML; bare words are taken as text.
    pub fn set(&mut self, assignment: &str) -> Result<(), ConfigError> {
        let Some((key, value)) = assignment.split_once('=') else {
            return Err(ConfigError::anywhere(format!("--set {assignment}: it must be key=value")));
        };
        let (key, value) = (key.trim(), value.trim());
        let is_toml = |value: &str| toml::from_str::<toml::Table>(&format!("v = {value}")).is_ok();
        let numbers = Key::named(key).is_some_and(|key| {
            matches!(
                key.value_type(),
                ValueType::Float(..) | ValueType::FloatByRound(..) | ValueType::Floats(..)
            )
        });
        let value = match value {
            value if is_toml(value) => value.to_string(),
            value if numbers && is_toml(&whole_numbers(value)) => whole_numbers(value),
            value => toml::Value::from(value).to_string(),
        };
        self.add("--set", &format!("{key} = {value}"))
    }

    /// Sets one key as a program does. The value is TOML; errors call the place `origin`.
    pub fn give(&mut self, origin: &str, path: &str, value: &str) -> Result<(), ConfigError> {
        if Key::named(path).is_none() {
            return Err(unknown(path, ConfigError::anywhere));
        }
        // A second line would be another key.
        if value.contains('\n') {
            let message = format!("{path} is not allowed: it must be one value");
            return Err(ConfigError::anywhere(message).about(path));
        }
        self.add(origin, &format!("{path} = {value}"))
    }

    /// Sets one key in code, as `--set` would.
    pub fn set_value(&mut self, key: Key, value: impl Into<Value>) -> Result<(), ConfigError> {
        self.add("--set", &format!("{key} = {}", value.into()))
    }

    pub fn name(&self) -> String {
        self.text(Key::Name).unwrap_or_default()
    }

    /// Trains on these records: `data.source` is then "memory".
    pub fn give_records(&mut self, given: GivenRecords) -> Result<(), ConfigError> {
        self.given = Some(Arc::new(given));
        self.add("the program", &format!("{} = {MEMORY:?}", Key::DataSource))
    }

    /// The records that a program gave.
    pub fn given(&self) -> Option<&GivenRecords> {
        self.given.as_deref().filter(|_| self.text(Key::DataSource).as_deref() == Some(MEMORY))
    }

    /// Trains by this method: `method.name` is then "own".
    pub fn give_method(&mut self, given: GivenMethod) -> Result<(), ConfigError> {
        self.given_method = Some(Arc::new(given));
        self.add("the program", &format!("{} = {OWN_METHOD:?}", Key::MethodName))
    }

    /// The method that a program gave.
    pub fn given_method(&self) -> Option<Arc<GivenMethod>> {
        let own = self.text(Key::MethodName).as_deref() == Some(OWN_METHOD);
        self.given_method.clone().filter(|_| own)
    }

    fn add(&mut self, file: &str, text: &str) -> Result<(), ConfigError> {
        let (file, source): (Arc<str>, Arc<str>) = (file.into(), text.into());
        let place = |span: Range<usize>| Place { file: file.clone(), source: source.clone(), span };
        let table = DeTable::parse(text).map_err(|e| {
            let message = format!("this is not TOML: {}", e.message());
            ConfigError::at(&place(e.span().unwrap_or(0..0)), message)
        })?;
        for (name, value) in table.get_ref() {
            match value.get_ref() {
                DeValue::Table(section) => {
                    for (inner, value) in section {
                        let path = format!("{}.{}", name.get_ref(), inner.get_ref());
                        self.insert(&path, inner.span(), value, &place)?;
                    }
                }
                _ => self.insert(name.get_ref(), name.span(), value, &place)?,
            }
        }
        Ok(())
    }

    fn insert(
        &mut self,
        path: &str,
        key_span: Range<usize>,
        value: &Spanned<DeValue<'_>>,
        place: &dyn Fn(Range<usize>) -> Place,
    ) -> Result<(), ConfigError> {
        let Some(key) = Key::named(path) else {
            return Err(unknown(path, |message| ConfigError::at(&place(key_span), message)));
        };
        let values = match (value.get_ref(), key.value_type()) {
            (DeValue::Array(list), value_type) if !value_type.is_list() => {
                if list.is_empty() {
                    return Err(ConfigError::at(&place(value.span()), format!("{path} is an empty list")));
                }
                list.iter().map(|v| check(key, v, place)).collect::<Result<_, _>>()?
            }
            _ => vec![check(key, value, place)?],
        };
        let items = match value.get_ref() {
            DeValue::Array(list) => list.iter().map(|item| place(item.span())).collect(),
            _ => Vec::new(),
        };
        self.entries.insert(key, Entry { values, place: place(value.span()), items, swept: false });
        Ok(())
    }

    /// Every setting that was given, a line each.
    pub fn settings(&self) -> String {
        let line = |(key, entry): (&Key, &Entry)| {
            let values: Vec<String> = entry.values.iter().map(Value::to_string).collect();
            format!("{key} = {}\n", values.join(", "))
        };
        self.entries.iter().map(line).collect()
    }

    /// The keys that hold lists, with their values: what a sweep varies.
    pub fn sweeps(&self) -> Vec<(Key, &[Value])> {
        let lists = self.entries.iter().filter(|(_, entry)| entry.values.len() > 1);
        lists.map(|(key, entry)| (*key, &entry.values[..])).collect()
    }

    /// One document for each combination of the lists' values, the last key varying fastest.
    pub fn expand(&self) -> Vec<(Vec<(Key, Value)>, Document)> {
        let mut all = vec![(Vec::new(), self.clone())];
        for (key, values) in self.sweeps() {
            let each = |(labels, document): (Vec<(Key, Value)>, Document)| {
                values.iter().map(move |value| {
                    let (mut labels, mut document) = (labels.clone(), document.clone());
                    labels.push((key, value.clone()));
                    if let Some(entry) = document.entries.get_mut(&key) {
                        (entry.values, entry.swept) = (vec![value.clone()], true);
                    }
                    (labels, document)
                })
            };
            all = all.into_iter().flat_map(each).collect();
        }
        all
    }

    #[must_use]
    pub fn without(mut self, section: Section) -> Self {
        self.entries.retain(|key, _| key.section() != Some(section));
        self
    }

    #[must_use]
    pub fn without_key(mut self, key: Key) -> Self {
        self.entries.remove(&key);
        self
    }

    /// Whether `key` is being swept: then other keys may be meant for some of its values only.
    pub fn is_swept(&self, key: Key) -> bool {
        self.entries.get(&key).is_some_and(|entry| entry.swept)
    }

    /// Where `key` was given; `None` if it was not.
    pub fn place(&self, key: Key) -> Option<&Place> {
        self.entries.get(&key).map(|entry| &entry.place)
    }

    /// An error about one item of the list `key`, from 0, at its place.
    pub fn item_error(&self, key: Key, item: usize, message: impl Into<String>) -> ConfigError {
        let place = self.entries.get(&key).and_then(|entry| entry.items.get(item).or(Some(&entry.place)));
        ConfigError { message: message.into(), place: place.cloned(), help: None, subject: None }
            .about(key.path())
    }

    /// An error about `key`, at its place if it was given.
    pub fn error(&self, key: Key, message: impl Into<String>) -> ConfigError {
        let place = self.place(key).cloned();
        ConfigError { message: message.into(), place, help: None, subject: None }.about(key.path())
    }

    pub fn has(&self, key: Key) -> bool {
        self.entries.contains_key(&key)
    }

    pub fn has_section(&self, section: Section) -> bool {
        self.entries.keys().any(|key| key.section() == Some(section))
    }

    /// The value of `key` or its default.
    pub fn get(&self, key: Key) -> Option<Value> {
        match self.entries.get(&key) {
            Some(entry) => entry.values.first().cloned(),
            None => default(key),
        }
    }

    /// Whether the value is the default, given or not.
    pub(crate) fn is_default(&self, key: Key) -> bool {
        self.get(key) == default(key)
    }

    /// A number of things, or the default.
    pub(crate) fn count(&self, key: Key) -> Option<usize> {
        self.integer(key).map(|n| n as usize)
    }

    /// A number that may change from round to round, or the default.
    pub fn by_round(&self, key: Key) -> Option<ByRound> {
        match self.get(key)? {
            Value::Float(value) => Some(value.into()),
            Value::Law(law) => Some(law),
            _ => None,
        }
    }

    /// A path, relative to the run file's folder.
    pub fn file(&self, key: Key) -> Option<PathBuf> {
        self.text(key).map(|text| self.folder.join(text))
    }

    /// Paths, relative to the run file's folder.
    pub fn files(&self, key: Key) -> Option<Vec<PathBuf>> {
        match self.get(key)? {
            Value::Texts(texts) => Some(texts.iter().map(|text| self.folder.join(text)).collect()),
            _ => None,
        }
    }

    pub fn missing(&self, key: Key) -> ConfigError {
        ConfigError::anywhere(format!("{key} is missing: {}", key.doc()))
            .about(key.path())
            .help("`prdo example` prints complete run files to start from")
    }
}

macro_rules! typed_values {
    ($($name:ident: $variant:ident($type:ty),)*) => {
        /// The value of a key of this type, or its default.
        impl Document {
            $(pub fn $name(&self, key: Key) -> Option<$type> {
                match self.get(key)? {
                    Value::$variant(value) => Some(value),
                    _ => None,
                }
            })*
        }
    };
}

typed_values! {
    text: Text(String),
    integer: Integer(u64),
    float: Float(f64),
    flag: Flag(bool),
    texts: Texts(Vec<String>),
    floats: Floats(Vec<f64>),
}

/// The error for a table where a run file should be, as its name shows.
fn table_instead(path: &Path) -> Option<ConfigError> {
    let ending = path.extension()?.to_string_lossy().to_ascii_lowercase();
    let name = path.display();
    let message = format!("{name} is data, not a run file: a run file says what to do with data");
    match ending.as_str() {
        "csv" => Some(ConfigError::anywhere(message).help(format!(
            "`prdo new {name} --label COLUMN` writes one for it (COLUMN is what to predict), then run that"
        ))),
        "tsv" | "xlsx" | "xls" | "ods" => Some(ConfigError::anywhere(message).help(
            "save the table as \"CSV UTF-8\"; `prdo new TABLE.csv --label COLUMN` writes a run file for it",
        )),
        ending if Format::keyed(ending).is_some() || ending == "svm" => Some(
            ConfigError::anywhere(message)
                .help("`prdo example` prints run files to start from; data.path names the data"),
        ),
        _ => None,
    }
}

/// Numbers with a digit on both sides of the point, as TOML wants them: `.5` and `5.` are often typed.
fn whole_numbers(text: &str) -> String {
    let one = |part: &str| match part.trim().parse::<f64>() {
        Ok(number) if number.is_finite() => format!("{number:?}"),
        _ => part.to_string(),
    };
    match text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
        Some(list) => format!("[{}]", list.split(',').map(one).collect::<Vec<_>>().join(", ")),
        None => one(text),
    }
}

fn unknown(path: &str, error: impl FnOnce(String) -> ConfigError) -> ConfigError {
    let suggestion = nearest(path).map(|near| format!("did you mean {:?}?", near.path()));
    let list = || "`prdo example --keys` lists every key and what it means".to_string();
    error(format!("unknown key {path:?}")).help(suggestion.unwrap_or_else(list)).about(path)
}

fn default(key: Key) -> Option<Value> {
    let text = format!("v = {}", key.default()?);
    let table = DeTable::parse(&text).ok()?;
    let (_, value) = table.get_ref().iter().next()?;
    let nowhere = |span| Place { file: "".into(), source: "".into(), span };
    check(key, value, &nowhere).ok()
}

/// A value of the right type and in range, or the error that says what is allowed.
fn check(
    key: Key,
    value: &Spanned<DeValue<'_>>,
    place: &dyn Fn(Range<usize>) -> Place,
) -> Result<Value, ConfigError> {
    let checked = match (key.value_type(), value.get_ref()) {
        (ValueType::Text, DeValue::String(text)) => Some(Value::Text(text.to_string())),
        (ValueType::Choice(names), DeValue::String(text)) => {
            names.contains(&text.as_ref()).then(|| Value::Text(text.to_string()))
        }
        (ValueType::Integer(least, most), DeValue::Integer(digits)) => {
            let number = u64::from_str_radix(&digits.as_str().replace('_', ""), digits.radix()).ok();
            number.filter(|n| (least..=most).contains(n)).map(Value::Integer)
        }
        (ValueType::FloatByRound(_, ok), DeValue::String(text)) => {
            return law(key, text, ok, &|| place(value.span()));
        }
        (ValueType::Float(_, ok) | ValueType::FloatByRound(_, ok), number) => {
            float(number, ok).map(Value::Float)
        }
        (ValueType::Floats(_, ok), DeValue::Array(list)) => {
            let numbers = list.iter().map(|item| float(item.get_ref(), ok)).collect::<Option<Vec<_>>>();
            numbers.filter(|l| !l.is_empty()).map(Value::Floats)
        }
        (ValueType::Flag, DeValue::Boolean(flag)) => Some(Value::Flag(*flag)),
        (ValueType::Texts, DeValue::Array(list)) => {
            let text = |v: &Spanned<DeValue<'_>>| match v.get_ref() {
                DeValue::String(text) => Some(text.to_string()),
                _ => None,
            };
            list.iter().map(text).collect::<Option<Vec<_>>>().filter(|l| !l.is_empty()).map(Value::Texts)
        }
        _ => None,
    };
    checked.ok_or_else(|| {
        let span = value.span();
        let shown = place(span.clone()).source.get(span.clone()).unwrap_or("this").to_string();
        let allowed = key.value_type().allowed();
        let message = format!("{key} = {shown} is not allowed: it must be {allowed}");
        let error = ConfigError::at(&place(span), message).about_value(key.path(), &shown, &allowed);
        match suggestion(key, value) {
            Some(near) => error.help(format!("did you mean {near:?}?")),
            None if key == Key::PrivacyEpsilon && shown.contains("inf") => error.help(NO_PRIVACY),
            None => error,
        }
    })
}

/// A number by round from its text. That all rounds' numbers are in range is known when the number of rounds is.
fn law(key: Key, text: &str, ok: fn(f64) -> bool, place: &dyn Fn() -> Place) -> Result<Value, ConfigError> {
    let refuse = |why: String| {
        let allowed = key.value_type().allowed();
        let message = format!("{key} = {text:?} is not allowed: {why}; it must be {allowed}");
        Err(ConfigError::at(&place(), message).about_value(key.path(), text, &allowed))
    };
    match text.parse::<ByRound>() {
        Err(error) => refuse(error.to_string()),
        Ok(law) => match law.refused(1, ok) {
            Some(value) => refuse(format!("{value} is out of range")),
            None => Ok(law.into()),
        },
    }
}

fn float(value: &DeValue<'_>, ok: fn(f64) -> bool) -> Option<f64> {
    let digits = match value {
        DeValue::Float(digits) => digits.as_str(),
        DeValue::Integer(digits) if digits.radix() == 10 => digits.as_str(),
        _ => return None,
    };
    let x: f64 = digits.replace('_', "").parse().ok()?;
    (x.is_finite() && ok(x)).then_some(x)
}

/// What to do for ε = ∞.
pub const NO_PRIVACY: &str = "for no privacy at all (ε = ∞), leave the [privacy] section out";

fn suggestion(key: Key, value: &Spanned<DeValue<'_>>) -> Option<&'static str> {
    let (ValueType::Choice(names), DeValue::String(typed)) = (key.value_type(), value.get_ref()) else {
        return None;
    };
    let near = names.iter().map(|name| (strsim::damerau_levenshtein(name, typed), name)).min()?;
    (near.0 <= 3).then_some(near.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_is_a_valid_value_of_its_key() {
        for key in Key::all() {
            assert_eq!(key.default().is_some(), default(*key).is_some(), "{key}");
        }
    }

    #[test]
    fn errors_show_the_line_and_the_caret() {
        let text = "rounds = 10\n[method]\nname = \"prdo\"\n  gamma = 1.5\n";
        let error = Document::parse("a.toml", text).unwrap_err().to_string();
        let expected = "method.gamma = 1.5 is not allowed: it must be a number above 0 and at most 1, or by round such as \"0.1, 0.05 from 100\" or \"cosine 0.1 0.01\"\n \
                        --> a.toml:4:11\n  |\n4 |   gamma = 1.5\n  |           ^^^";
        assert_eq!(error, expected);
        let unknown = Document::parse("a.toml", "[method]\nstepsize = 1").unwrap_err().to_string();
        assert!(
            unknown.contains("a.toml:2:1") && unknown.contains("did you mean \"method.step_size\"?"),
            "{unknown}"
        );
    }

    #[test]
    fn lists_expand_to_every_combination() {
        let text = "seed = [1, 2]\n[method]\nname = [\"prdo\", \"ed\", \"mt\"]";
        let document = Document::parse("a", text).unwrap();
        let all = document.expand();
        assert_eq!(all.len(), 6);
        assert_eq!(all[1].1.text(Key::MethodName), Some("prdo".into()));
        assert_eq!(all[1].1.integer(Key::Seed), Some(2));
    }

    #[test]
    fn lists_of_numbers_and_of_texts_are_one_value() {
        let text = "[data]\nmean = [0.5, 1, 0.25]\n[model]\nlayers = [\"tanh\",\n  \"dense 10\"]";
        let document = Document::parse("a", text).unwrap();
        assert_eq!(document.floats(Key::DataMean), Some(vec![0.5, 1.0, 0.25]));
        assert_eq!(document.get(Key::DataMean).unwrap().to_string(), "[0.5, 1.0, 0.25]");
        assert!(document.sweeps().is_empty() && document.expand().len() == 1);
        assert!(document.item_error(Key::ModelLayers, 1, "x").to_string().contains("a:5:3"));
        for bad in ["0.5", "[]", "[0.5, \"a\"]", "[nan]", "[[0.5]]", "[inf]", "[1e7]"] {
            let error = Document::parse("a", &format!("[data]\nmean = {bad}")).unwrap_err().to_string();
            assert!(
                error.contains("a list of numbers from -1e6 to 1e6") && error.contains("a:2:8"),
                "{error}"
            );
        }
    }

    #[test]
    fn set_overrides_and_takes_bare_words() {
        let mut document = Document::parse("a", "seed = 1").unwrap();
        document.set("method.name=ed").unwrap();
        document.set("seed = 7").unwrap();
        assert_eq!(
            (document.integer(Key::Seed), document.text(Key::MethodName)),
            (Some(7), Some("ed".into()))
        );
        for (typed, meant) in [(".5", 0.5), ("5.", 5.0), ("+.5", 0.5), ("2.e-1", 0.2)] {
            document.set(&format!("method.step_size={typed}")).unwrap();
            assert_eq!(document.float(Key::MethodStepSize), Some(meant), "{typed}");
        }
        document.set("data.mean=[.5, 1]").unwrap();
        assert_eq!(document.floats(Key::DataMean), Some(vec![0.5, 1.0]));
        document.set("name=.5").unwrap();
        assert_eq!(document.text(Key::Name), Some(".5".into()));
        for bad in ["seed", "seed=-1", "sed=1", "method.gamma=high", "=", "a b=1"] {
            assert!(document.set(bad).is_err(), "{bad}");
        }
    }
}
