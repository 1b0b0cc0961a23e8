//! The model of a member's home, for predictions.

use crate::agreed::{agreed, record_facts};
use prdo::predict::{PredictError, Predictor};
use prdo_peer::agreement::Agreement;
use prdo_store::names::AGREEMENT;
use std::path::Path;

/// The model in a folder, a member's home or a run's; of a run the average, or the own one of a node, by its name or number.
pub fn predictor(folder: &Path, node: Option<&str>) -> Result<Predictor, PredictError> {
    match (folder.join(AGREEMENT).is_file(), node) {
        (false, node) => Predictor::open(folder, node),
        (true, None) => of_home(folder),
        (true, Some(node)) => {
            let allowed = "left out: a member's folder has the member's own model only".to_string();
            Err(PredictError::Node { node: node.to_string(), allowed })
        }
    }
}

fn of_home(home: &Path) -> Result<Predictor, PredictError> {
    let broken = |problem: String| PredictError::Folder { folder: home.display().to_string(), problem };
    let text = std::fs::read(home.join(AGREEMENT)).map_err(|e| broken(format!("{AGREEMENT}: {e}")))?;
    let text = String::from_utf8(text).map_err(|e| broken(format!("{AGREEMENT}: {e}")))?;
    let agreement = Agreement::parse(&text).map_err(|e| broken(format!("{AGREEMENT}: {e}")))?;
    let (document, planned) = agreed(&agreement)?;
    let facts = record_facts(&agreement.terms().facts);
    Predictor::of_member(home, facts, planned.model, &document.run_file())
}
