//! Which runs are compared, and what tells them apart.

use super::CompareError;
use prdo_runfile::{Document, Key, Section, Value};

/// The keys that set a run apart.
pub type Labels = Vec<(&'static str, Value)>;

/// One run to be, with the keys that set it apart.
pub type Planned = (Labels, Document);

/// Every combination of the documents' lists. Where several files are compared, what they call their runs tells them
/// apart, or if two call theirs the same, the files' own names.
pub fn planned(documents: Vec<Document>, files: &[String]) -> Vec<Planned> {
    let names: Vec<String> = documents.iter().map(Document::name).collect();
    let differ = names.iter().enumerate().all(|(k, name)| !names[..k].contains(name));
    let names = if differ { &names } else { files };
    let mut planned = Vec::new();
    for (document, name) in documents.into_iter().zip(names) {
        for (mut labels, document) in expanded(&document) {
            if files.len() > 1 {
                labels.insert(0, (Key::Name.path(), Value::Text(name.clone())));
            }
            planned.push((labels, document));
        }
    }
    label_privacy(&mut planned);
    planned
}

/// Every combination of a document's lists, with what sets it apart.
pub fn expanded(document: &Document) -> Vec<Planned> {
    let shown = |(key, value): (Key, Value)| (key.path(), value);
    let one = |(labels, document): (Vec<_>, Document)| (labels.into_iter().map(shown).collect(), document);
    document.expand().into_iter().map(one).collect()
}

pub(super) fn refuse_twins(planned: &[Planned]) -> Result<(), CompareError> {
    let same = |(labels, document): &Planned, (others, other): &Planned| {
        let seed = |document: &Document| document.integer(Key::Seed);
        labels == others && seed(document) == seed(other)
    };
    let twin = |k: &usize| planned[..*k].iter().any(|other| same(&planned[*k], other));
    match (0..planned.len()).find(twin) {
        Some(k) => Err(CompareError::Twice { labels: planned[k].0.clone() }),
        None => Ok(()),
    }
}

/// In words.
pub fn described(labels: &Labels) -> String {
    labels.iter().map(|(key, value)| format!("{key} = {value}")).collect::<Vec<_>>().join(", ")
}

/// Runs of several files with other budgets, or with none, are told apart by them: their figures must not be averaged.
fn label_privacy(planned: &mut [Planned]) {
    let budget = |document: &Document| {
        let given = document.get(Key::PrivacyEpsilon).filter(|_| document.has(Key::PrivacyEpsilon));
        document.has_section(Section::Privacy).then(|| given.unwrap_or(Value::Text("by the noise".into())))
    };
    let Some(first) = planned.first().map(|(_, document)| budget(document)) else { return };
    if planned.iter().all(|(_, document)| budget(document) == first) {
        return;
    }
    for (labels, document) in planned.iter_mut() {
        let known =
            labels.iter().any(|(key, _)| [Section::Privacy.name(), Key::PrivacyEpsilon.path()].contains(key));
        match budget(document) {
            _ if known => {}
            None => labels.push((Section::Privacy.name(), Value::Text("none".into()))),
            Some(epsilon) => labels.push((Key::PrivacyEpsilon.path(), epsilon)),
        }
    }
}
