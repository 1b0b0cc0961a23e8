//! How a training ends that reaches its last round and is not what was hoped for, and what helps.

use prdo_simulator::Row;
use serde::{Deserialize, Serialize};

/// What can go wrong with a training that reaches its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BadOutcome {
    /// Loss or gradient norm became infinite or no number.
    Diverged,
    /// The loss is no smaller than at the start.
    NotLearned,
    /// No better than always predicting the majority class.
    NoBetterThanMajority,
}

/// What should worry whoever looks at a run, and what to say about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Worry {
    pub outcome: BadOutcome,
    /// In words, with what helps.
    pub words: String,
}

/// What to say where loss or gradient norm is not finite any more: one thing helps, and nothing else does.
pub fn divergence(rows: &[Row]) -> Option<Worry> {
    let row = rows.iter().find(|row| !row.loss.is_finite() || !row.grad_norm.is_finite())?;
    let words = format!(
        "training diverged at round {} (loss or gradient norm is not finite). The step size is too large for this problem: \
         train again with a smaller method.step_size (a third of it, and a third of that if need be)",
        row.round
    );
    Some(Worry { outcome: BadOutcome::Diverged, words })
}

/// What should worry whoever looks at these figures; `common` is the share of the held-out records' most common class.
pub fn worries(rows: &[Row], common: Option<f64>) -> Option<Worry> {
    let (first, last) = (rows.first()?, rows.last()?);
    if last.round == 0 {
        return None;
    }
    if let Some(divergence) = divergence(rows) {
        return Some(divergence);
    }
    if last.loss >= first.loss {
        let words = format!(
            "the model did not learn: its loss is {:.3} after {} rounds and was {:.3} at the start; the noise or the \
             features' scale dominates. Centre and scale the features by limits you know (to about -1 … 1; [features] map = \"table\" does it, docs/features.md), or use \
             fewer rounds, a smaller step size, more records or a larger ε",
            last.loss, last.round, first.loss
        );
        return Some(Worry { outcome: BadOutcome::NotLearned, words });
    }
    let (accuracy, common) = (last.test_accuracy?, common?);
    (accuracy <= common).then(|| {
        let words = format!(
            "the model is no better than always predicting the majority class ({:.1} %), though it may rank records \
             better than chance (where there is an AUC, it says how well). A shorter or a longer step, more rounds, more \
             to learn from or a larger ε may help",
            100.0 * common
        );
        Worry { outcome: BadOutcome::NoBetterThanMajority, words }
    })
}
