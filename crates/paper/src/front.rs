//! All that the experiments ask of the program around them, and how far a run of theirs is.

use prdo::build::Built;
use prdo::runfile::{ConfigError, Document};
use prdo::simulator::Row;
use prdo::store::Summary;
use prdo::trainer::{ObserverError, Stage as TrainStage, TrainObserver};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The program around the experiments: what it shows while they run, and how it is told to stop.
pub trait Front {
    fn tell(&self, line: &str);

    /// Builds a run, and shows how that goes.
    fn build(&self, document: &Document) -> Result<Built, ConfigError>;

    /// Listens for an interrupt from now on: the flag that it sets.
    fn listen(&self) -> Result<Arc<AtomicBool>, ObserverError>;

    /// Whoever shows the training of a run of so many rounds, of which some are done.
    fn observer(&self, label: String, rounds: u32, done: u32) -> Box<dyn TrainObserver + '_>;
}

pub struct Stage {
    pub round: u32,
    pub rows: Vec<Row>,
    /// How long it trained, all its pieces together.
    pub seconds: f64,
    pub summary: Option<Summary>,
}

impl From<&TrainStage<'_>> for Stage {
    fn from(stage: &TrainStage<'_>) -> Self {
        Self { round: stage.round, rows: stage.rows.to_vec(), seconds: stage.seconds, summary: None }
    }
}

/// What is known of a run before it is trained.
pub struct Facts {
    pub data: String,
    pub warnings: Vec<String>,
    /// z and the ε that is proven for it, of a private run.
    pub guarantee: Option<(f64, f64)>,
    /// Records of each class at each node, where there are classes.
    pub class_counts: Vec<Vec<u64>>,
    pub class_names: Vec<String>,
}

impl Facts {
    pub fn of(built: &Built) -> Self {
        Self {
            data: built.data.clone(),
            warnings: built.warnings.clone(),
            guarantee: built.prepared.guarantee.map(|g| (g.noise_multiplier, g.epsilon)),
            class_counts: built.class_counts.clone().unwrap_or_default(),
            class_names: built.facts.class_names.clone().unwrap_or_default(),
        }
    }
}
