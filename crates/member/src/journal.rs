//! What a node's machine says, as lines of its log.

use prdo_peer::machine::Note;
use prdo_store::Level;
use serde_json::{Value as Json, json};

/// A note of the machine as a line of the log.
pub fn line_of(note: &Note) -> (Level, &'static str, Json) {
    match note {
        Note::Connected { peer } => (Level::Info, "connected", json!({ "peer": peer })),
        Note::Lost { peer, why, retry } => {
            let seconds = retry.map(|ms| ms as f64 / 1000.0);
            (
                Level::Warning,
                "lost",
                json!({ "peer": peer, "why": why.to_string(), "retry_seconds": seconds }),
            )
        }
        Note::Refused { peer, why } => (Level::Warning, "refused", json!({ "peer": peer, "why": why })),
        Note::RefusedBy { peer, why } => (Level::Warning, "refused_by", json!({ "peer": peer, "why": why })),
        Note::Resent { peer, exchange } => {
            (Level::Info, "sent_again", json!({ "peer": peer, "exchange": exchange }))
        }
        Note::Round { rounds } => (Level::Info, "round", json!({ "rounds": rounds })),
        Note::Waiting { peers, since } => {
            (Level::Warning, "waiting", json!({ "peers": peers, "seconds": *since as f64 / 1000.0 }))
        }
        Note::Lingering => (Level::Info, "all_rounds_done", json!({})),
    }
}
