//! The names of all files that are written, each once.

pub use prdo_disk::LOCK;

/// Everything a run used, resolved.
pub const RUN_FILE: &str = "run.toml";
/// A row of measurements every few rounds.
pub const METRICS: &str = "metrics.csv";
/// The paper's moments, on request.
pub const MOMENTS: &str = "moments.csv";
/// The figures of a finished run or of a member's; written last.
pub const SUMMARY: &str = "summary.json";
/// The trained models.
pub const MODEL: &str = "model.safetensors";
/// The page for people.
pub const REPORT: &str = "report.html";
/// How a run stands, for whoever watches.
pub const LIVE: &str = "live.json";
/// What a run goes on from.
pub const CHECKPOINT: &str = "checkpoint/state";
/// The folder of the above.
pub const CHECKPOINTS: &str = "checkpoint";
/// TensorBoard's event files.
pub const TENSORBOARD: &str = "tensorboard";
/// An event file: TensorBoard finds them by `tfevents` in their names.
pub const EVENTS: &str = "events.out.tfevents.0000000000.prdo";
/// The model for other tools.
pub const ONNX: &str = "model.onnx";
/// The measurements for other tools.
pub const PARQUET: &str = "metrics.parquet";

/// Everything a comparison's report is built from; written last.
pub const COMPARISON: &str = "comparison.json";
/// Runs of a comparison that are finished before all are.
pub const PARTS: &str = "parts";
/// The settings of all runs of the above.
pub const PARTS_SETTINGS: &str = "parts/settings.txt";
/// What had been released before a search whose trials are charged, as a statement.
pub const PARTS_BEFORE: &str = "parts/before.txt";
/// A table of results.
pub const TABLE: &str = "table.csv";
/// The same for a paper.
pub const TABLE_LATEX: &str = "table.tex";
/// The differences between the groups of a comparison.
pub const DIFFERENCES: &str = "differences.csv";
/// The main figure, without its ending.
pub const FIGURE: &str = "figure";
/// The main figure in every format.
pub const FIGURES: [&str; 3] = ["figure.svg", "figure.pdf", "figure.png"];

/// What an experiment, a search or an audit found; written last.
pub const RESULTS: &str = "results.json";
/// The settings that a search chose.
pub const TUNED: &str = "tuned.toml";
/// Every trial of a search.
pub const TRIALS: &str = "trials.csv";
/// The picture of the trials.
pub const TRIALS_FIGURE: &str = "trials.svg";
/// The demo's run file.
pub const DEMO: &str = "demo.toml";

/// What all members signed, in a member's home.
pub const AGREEMENT: &str = "agreement";
/// The folder of what must not be lost, in a member's home.
pub const KEPT: &str = "kept";
/// What a node last said of itself.
pub const STATUS: &str = "status.json";
/// How round, ε and accuracy of a node went, a row now and then.
pub const PROGRESS: &str = "progress.csv";
/// What a node did, a JSON object a line.
pub const LOG: &str = "log.jsonl";
/// The log before it.
pub const OLDER_LOG: &str = "log.1.jsonl";

/// Who holds how many records of which class, beside dealt-out records.
pub const CLASSES: &str = "classes.csv";
/// The same as a picture.
pub const CLASSES_FIGURE: &str = "classes.svg";
/// Dealt-out records that are set apart.
pub const VALIDATION: &str = "validation.csv";

/// What a run's or a member's folder holds that other commands read.
pub const OF_A_RUN: [&str; 5] = [RUN_FILE, SUMMARY, MODEL, METRICS, AGREEMENT];
