//! What a machine says, and how it ends.

use crate::transport::Reason;
use crate::wire::hex;
use prdo_algorithm::Failure;
use std::fmt;

/// Something for the log. Names are the members' names in the agreement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// A link is up and the neighbour has said where it is.
    Connected { peer: String },
    /// A link went down or could not be made; milliseconds until the next attempt, `None` if the neighbour is to dial.
    Lost { peer: String, why: Reason, retry: Option<u64> },
    /// A neighbour's frame was refused and its link taken down.
    Refused { peer: String, why: String },
    /// A neighbour refused this node.
    RefusedBy { peer: String, why: String },
    /// A payload was sent again.
    Resent { peer: String, exchange: u64 },
    /// So many rounds are done.
    Round { rounds: u32 },
    /// Nothing has happened for so many milliseconds.
    Waiting { peers: Vec<String>, since: u64 },
    /// The last round is done; neighbours are still served.
    Lingering,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Note::Connected { peer } => write!(f, "connected to {peer}"),
            Note::Lost { peer, why, retry: Some(ms) } => {
                write!(f, "no link to {peer} ({why}); next attempt in {:.1} s", *ms as f64 / 1000.0)
            }
            Note::Lost { peer, why, retry: None } => {
                write!(f, "no link to {peer} ({why}); waiting for it to dial again")
            }
            Note::Refused { peer, why } => write!(f, "refused what {peer} sent: {why}"),
            Note::RefusedBy { peer, why } => write!(f, "{peer} refuses this node: {why}"),
            Note::Resent { peer, exchange } => write!(f, "sent exchange {exchange} to {peer} again"),
            Note::Round { rounds } => write!(f, "round {rounds} done"),
            Note::Waiting { peers, since } => {
                write!(f, "waiting for {} ({:.0} s so far)", peers.join(", "), *since as f64 / 1000.0)
            }
            Note::Lingering => {
                f.write_str("all rounds done; waiting for neighbours to confirm the last message")
            }
        }
    }
}

/// How a run ended well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// All rounds are done. Neighbours that have not confirmed the last message may need this node once more.
    Finished { unconfirmed: Vec<String> },
    /// The owner stopped it; everything is saved.
    Stopped { round: u32 },
}

/// Why a node stopped before its end. Everything up to there is saved.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PeerError {
    #[error(
        "gave up after {seconds} s without a message from {}; everything is saved: rerun the command to resume when they are back",
        peers.join(", ")
    )]
    GaveUp { peers: Vec<String>, seconds: u64 },
    #[error(
        "gave up after {seconds} s without meeting {}; nothing was released: rerun the command when they are up",
        peers.join(", ")
    )]
    NotMet { peers: Vec<String>, seconds: u64 },
    #[error(
        "{peer} already has exchange {theirs} of this node, but this node's own records end at {ours}: its folder or ledger \
         was restored from an older copy (or {peer} is lying). Resuming would release the same rounds twice. Restore the \
         newest copy"
    )]
    RolledBack { peer: String, theirs: u64, ours: String },
    #[error(
        "{peer} has different bytes for exchange {exchange} than this node kept (BLAKE3 {} there, {} here): this node's folder \
         was copied and used twice, or was changed. Nothing more is sent",
        short(theirs),
        short(ours)
    )]
    Forked { peer: String, exchange: u64, theirs: [u8; 32], ours: [u8; 32] },
    #[error(
        "exchange {exchange} was already kept with BLAKE3 {}, but the saved state gives {}: the folder is damaged, or the \
         program is a different one. Nothing more is sent",
        short(kept),
        short(made)
    )]
    Conflict { exchange: u64, kept: [u8; 32], made: [u8; 32] },
    #[error(
        "training diverged at round {round} (the model is not finite). The largest value mixed in was {largest:.2e}, from \
         {from}: if that is far larger than the others', its owner should look for a defect there; if all grow, the step \
         size is too large for this problem and graph"
    )]
    Diverged { round: u32, largest: f64, from: String },
    /// A program's own method failed.
    #[error("round {round}: {failure}")]
    Method { round: u32, failure: Failure },
    /// The driver and the machine disagree. A defect.
    #[error("an answer arrived that was not asked for (a bug in prdo)")]
    Unasked,
}

fn short(hash: &[u8; 32]) -> String {
    hex(&hash[..6])
}
