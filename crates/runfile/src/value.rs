//! What a key may be: its type, its range, and a value that was checked against them.

use prdo_privacy::ByRound;

/// A checked value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Text or the name of a choice.
    Text(String),
    Integer(u64),
    Float(f64),
    /// A number that changes from round to round.
    Law(ByRound),
    Flag(bool),
    Texts(Vec<String>),
    Floats(Vec<f64>),
}

impl std::fmt::Display for Value {
    /// As TOML.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Text(text) => write!(f, "{}", quoted(text)),
            Value::Integer(n) => write!(f, "{n}"),
            Value::Float(x) => write!(f, "{x:?}"),
            Value::Law(law) => write!(f, "{}", quoted(&law.to_string())),
            Value::Flag(b) => write!(f, "{b}"),
            Value::Texts(list) => {
                write!(f, "[{}]", list.iter().map(|t| quoted(t)).collect::<Vec<_>>().join(", "))
            }
            Value::Floats(list) => write!(f, "{list:?}"),
        }
    }
}

impl From<f64> for Value {
    fn from(x: f64) -> Self {
        Value::Float(x)
    }
}

impl From<ByRound> for Value {
    fn from(law: ByRound) -> Self {
        law.constant().map_or(Value::Law(law), Value::Float)
    }
}

impl From<u64> for Value {
    fn from(n: u64) -> Self {
        Value::Integer(n)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::Text(text.to_string())
    }
}

impl From<Vec<String>> for Value {
    fn from(texts: Vec<String>) -> Self {
        Value::Texts(texts)
    }
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_string()).to_string()
}

/// The type and range of a key.
#[derive(Clone, Copy, Debug)]
pub enum ValueType {
    Text,
    /// One of these names.
    Choice(&'static [&'static str]),
    /// A whole number in a range.
    Integer(u64, u64),
    /// A number for which the test holds; the text says which.
    Float(&'static str, fn(f64) -> bool),
    /// The same, or a law by round whose numbers pass the test.
    FloatByRound(&'static str, fn(f64) -> bool),
    Flag,
    /// A list of texts: one value, not a sweep.
    Texts,
    /// A list of numbers for each of which the test holds; the text says which. One value, not a sweep.
    Floats(&'static str, fn(f64) -> bool),
}

impl ValueType {
    /// Whether one value is a list.
    pub fn is_list(self) -> bool {
        matches!(self, ValueType::Texts | ValueType::Floats(..))
    }

    pub fn allowed(self) -> String {
        match self {
            ValueType::Text => "text in quotes".into(),
            ValueType::Choice(names) => {
                format!("one of {}", names.iter().map(|n| format!("{n:?}")).collect::<Vec<_>>().join(", "))
            }
            ValueType::Integer(least, most) if most == u64::MAX => {
                format!("a whole number of at least {least}")
            }
            ValueType::Integer(least, most) => format!("a whole number from {least} to {most}"),
            ValueType::Float(allowed, _) => format!("a number {allowed}"),
            ValueType::FloatByRound(allowed, _) => {
                format!(
                    "a number {allowed}, or by round such as \"0.1, 0.05 from 100\" or \"cosine 0.1 0.01\""
                )
            }
            ValueType::Flag => "true or false".into(),
            ValueType::Texts => "a list of texts, one or more, such as [\"a\", \"b\"]".into(),
            ValueType::Floats(allowed, _) => format!("a list of numbers {allowed}, such as [0.5, 0.25]"),
        }
    }
}

/// What is known of one key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Definition {
    pub(crate) path: &'static str,
    pub(crate) value_type: ValueType,
    pub(crate) default: Option<&'static str>,
    pub(crate) doc: &'static str,
}
