//! What the words of a report mean, a plain sentence each.

use crate::page::Page;
use prdo_simulator::Row;
use prdo_store::column;

/// A figure's name in files, what it is called, and what it means.
const TERMS: [(&str, &str, &str); 10] = [
    (
        "test_accuracy",
        "Test accuracy",
        "the share of the held-out records, on which nothing was trained, whose class the model gets right; it is worth \
         something only beyond what always predicting the majority class gets.",
    ),
    (
        "test_auc",
        "AUC",
        "the area under the ROC curve: of two records, one of each class, how often the model puts them in the right \
         order; 0.5 is guessing, 1 is perfect, however rare one class is.",
    ),
    (
        "loss",
        "Loss",
        "how far the model’s probabilities are from the training records’ classes; training makes it smaller, \
         and for two classes a coin toss has 0.69.",
    ),
    (
        "grad_norm",
        "Gradient norm",
        "how steep the loss still is where the model stands; at 0 there is nothing left to gain nearby.",
    ),
    (
        "consensus_error",
        "Disagreement",
        "how far the organisations’ own models are from their average (mean squared distance); at 0 all have the \
         same model.",
    ),
    (
        "epsilon_spent",
        "ε",
        "how much all messages together may reveal about any one record: the smaller, the better it is protected.",
    ),
    (
        "factor",
        "e^ε",
        "any one record changes the probability of anything an observer sees by at most this factor; 1 would mean that \
         nobody can tell whether it is there.",
    ),
    (
        "clipped_gradient_fraction",
        "Clipped gradients",
        "the share of sampled records whose gradient was longer than the clip and was shortened to it; this bounds the \
         influence of each.",
    ),
    (
        "clipped_difference_fraction",
        "Clipped differences",
        "the same for the change of a record’s gradient between two rounds.",
    ),
    (
        "clip_bias",
        "Bias of clipping",
        "how far the mean of the clipped gradients is from the gradient of the loss; training stops where the clipped ones \
         add up to nothing, not where the loss is least.",
    ),
];

/// What a figure means, by its name in files.
pub(crate) fn meaning(key: &str) -> Option<&'static str> {
    TERMS.iter().find(|(known, ..)| *known == key).map(|(.., meaning)| *meaning)
}

fn is_shown(key: &str, rows: &[&Row], auc: bool) -> bool {
    let key = match key {
        "test_auc" => return auc,
        "factor" => "epsilon_spent",
        metric => metric,
    };
    column(key).is_some_and(|column| rows.iter().any(|row| column.value(row).is_some()))
}

/// The words that these measurements use, folded; `auc` is whether an area under the ROC curve is among them.
pub(crate) fn add(page: &mut Page, rows: &[&Row], auc: bool) {
    let shown = TERMS.iter().filter(|(key, ..)| is_shown(key, rows, auc));
    let terms: Vec<(&str, String)> =
        shown.map(|(_, name, meaning)| (*name, (*meaning).to_string())).collect();
    if !terms.is_empty() {
        page.folded("What the words mean", |page| page.terms(&terms));
    }
}
