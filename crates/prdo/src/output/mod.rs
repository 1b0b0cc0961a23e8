//! A run's folder: what is written where, atomically, and read back.
//!
//! `run.toml` (everything resolved), `metrics.csv`, `moments.csv` on request, `summary.json` (present only when
//! the run is finished), `model.safetensors`, `report.html`, `checkpoint/state`, `live.json` (how it stands, for whoever
//! watches).

mod folder;
mod live;
mod metrics;
mod model;
mod network;

pub use folder::{Folder, FolderError, write_atomically, write_privately};
pub use live::{Course, LIVE, Live, time_before};
pub use metrics::{
    MetricsFile, format_moments, format_row, header, moments_header, parse_rows, salvage_rows,
};
pub use model::{read_models, read_node_model, write_model, write_models};
pub use network::{NetworkFile, NetworkFileError, is_trained_by_prdo, read_network, write_network};
