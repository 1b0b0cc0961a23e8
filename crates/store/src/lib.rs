//! What runs, comparisons and members' nodes leave on disk: file names, types, and the folder itself.
//!
//! What never happens here: training, drawing, printing, reading a run file or an agreement.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod artefact;
mod comparison;
mod folder;
mod live;
mod log;
mod model;
pub mod names;
mod network;
mod outcome;
mod own_clip;
mod pairs;
mod row;
mod statement;
mod status;
mod summary;
mod version_0_1_0;

pub use comparison::{Cell, Comparison, DifferenceRecord, Guarantee, Part};
pub use folder::{Contents, Folder, FolderError};
pub use live::{Live, LiveFile, LogLine, Outlook, State, time_before};
pub use log::{Entry, Level, Log, last_entries, utc};
pub use model::{read_models, read_node_model, write_model, write_models};
pub use network::{NetworkFile, NetworkFileError, is_trained_by_prdo, read_network, write_network};
pub use outcome::{BadOutcome, Worry, divergence, worries};
pub use own_clip::OwnClip;
pub use pairs::{EpsilonAgainst, PairFacts};
pub use prdo_simulator::{COLUMNS, Column, Number, Panel, PanelScale, Section};
pub use row::{
    LinesFile, column, format_moments, format_row, header, moments_header, parse_moments, parse_rows,
    salvage_rows,
};
pub use statement::{StatementFileError, change_statement, load_statement, save_statement};
pub use status::{MemberSummary, Neighbour, Status};
pub use summary::{Features, MapOf, RecordFacts, RecordSpread, Summary};
