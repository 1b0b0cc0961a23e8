//! The parameters of methods, as keys: everything about them follows from the methods' own cards.

use crate::value::{Definition, ValueType};
use prdo_algorithm::Method;
use prdo_algorithm::methods::{Parameter, key};
use std::sync::LazyLock;

/// Every parameter of the methods, in the order of the methods and of their cards; once, however many read it. Those with a
/// section of their own come last.
static PARAMETERS: LazyLock<Vec<(&'static Parameter, Definition)>> = LazyLock::new(|| {
    let mut all: Vec<(&'static Parameter, Definition)> = Vec::new();
    for parameter in Method::ALL.iter().flat_map(|method| method.card().parameters) {
        if all.iter().all(|(known, _)| known.name() != parameter.name()) {
            all.push((parameter, describe(parameter)));
        }
    }
    all.sort_by_key(|(parameter, _)| parameter.name().contains('.'));
    all
});

/// The key of a parameter, made of its card. It lives as long as the program.
fn describe(parameter: &'static Parameter) -> Definition {
    let readers = Method::ALL.iter().map(|method| method.card()).filter(|card| card.reads(parameter));
    let mut readers: Vec<&str> = readers.map(|card| card.name).collect();
    readers.sort_unstable();
    let (value_type, default, doc) = match parameter {
        Parameter::Number(number) => (
            match number.by_round {
                true => ValueType::FloatByRound(number.allowed, number.is_allowed),
                false => ValueType::Float(number.allowed, number.is_allowed),
            },
            format!("{:?}", number.default),
            format!("{} of {}: {}", number.symbol, listed(&readers, "and"), number.doc),
        ),
        Parameter::Choice { doc, names, .. } => {
            (ValueType::Choice(names), format!("{:?}", names[0]), format!("{doc} ({})", readers.join(", ")))
        }
    };
    let path = key(parameter.name()).leak();
    Definition { path, value_type, default: Some(default.leak()), doc: doc.leak() }
}

/// "a", "a or b", "a, b or c".
fn listed(words: &[&str], last: &str) -> String {
    match words {
        [] => String::new(),
        [one] => (*one).to_string(),
        [all @ .., end] => format!("{} {last} {end}", all.join(", ")),
    }
}

/// What methods are called outside run files, in a row.
pub(crate) fn method_titles() -> &'static str {
    let titles: Vec<&str> = Method::ALL.iter().map(|method| method.card().title).collect();
    format!("{}; own: of a program's method (Python)", listed(&titles, "or")).leak()
}

pub(crate) fn definition(place: u8) -> &'static Definition {
    &PARAMETERS[usize::from(place)].1
}

pub(crate) fn all() -> impl Iterator<Item = &'static Parameter> {
    PARAMETERS.iter().map(|(parameter, _)| *parameter)
}

pub(crate) fn count() -> u8 {
    PARAMETERS.len() as u8
}

/// Whether this method reads the parameter at this place. A program's own method reads none: it has its own.
pub(crate) fn is_read(method: Method, place: u8) -> bool {
    Method::ALL.contains(&method) && method.card().reads(PARAMETERS[usize::from(place)].0)
}

/// The choice without which this method does not read the parameter at this place: its path and what must be chosen.
pub(crate) fn condition(method: Method, place: u8) -> Option<(String, &'static str)> {
    let (name, value) = method.card().condition(PARAMETERS[usize::from(place)].0)?;
    Some((key(name), value))
}

/// Whether the parameter at this place means, at its default, the method without it.
pub(crate) fn is_option(place: u8) -> bool {
    PARAMETERS[usize::from(place)].0.is_option()
}
