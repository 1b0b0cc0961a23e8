//! What a machine says, and how it ends.

use crate::transport::Reason;
use crate::wire::hex;
use std::fmt;

/// Something for the log. Names are the members' names in the agreement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// A link is up and the neighbour has said where it is.
    Connected {
        /// The neighbour.
        peer: String,
    },
    /// A link went down or could not be made.
    Lost {
        /// The neighbour.
        peer: String,
        /// Why.
        why: Reason,
        /// Milliseconds until the next attempt; `None` if the neighbour is to dial.
        retry: Option<u64>,
    },
    /// A neighbour's frame was refused and its link taken down.
    Refused {
        /// The neighbour.
        peer: String,
        /// What was wrong.
        why: String,
    },
    /// A neighbour refused this node.
    RefusedBy {
        /// The neighbour.
        peer: String,
        /// Its words.
        why: String,
    },
    /// A payload was sent again.
    Resent {
        /// To whom.
        peer: String,
        /// Which exchange.
        exchange: u64,
    },
    /// A round is done.
    Round {
        /// How many are.
        rounds: u32,
    },
    /// Nothing has gone on for a while.
    Waiting {
        /// For whom.
        peers: Vec<String>,
        /// For how long, in milliseconds.
        since: u64,
    },
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
                write!(f, "no link to {peer} ({why}); it will call again")
            }
            Note::Refused { peer, why } => write!(f, "refused what {peer} sent: {why}"),
            Note::RefusedBy { peer, why } => write!(f, "{peer} refuses this node: {why}"),
            Note::Resent { peer, exchange } => write!(f, "sent exchange {exchange} to {peer} again"),
            Note::Round { rounds } => write!(f, "round {rounds} done"),
            Note::Waiting { peers, since } => {
                write!(f, "waiting for {} since {:.0} s", peers.join(", "), *since as f64 / 1000.0)
            }
            Note::Lingering => {
                f.write_str("all rounds done; waiting for neighbours to have the last message")
            }
        }
    }
}

/// How a run ended well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// All rounds are done.
    Finished {
        /// Neighbours that have not confirmed the last message: they may need this node once more.
        unconfirmed: Vec<String>,
    },
    /// The owner stopped it; everything is saved.
    Stopped {
        /// Rounds done.
        round: u32,
    },
}

/// Why a node stopped before its end. Everything up to there is saved.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PeerError {
    /// Nothing went on for too long.
    #[error(
        "gave up after {seconds} s without a message from {}; everything is saved: start it again when they are back",
        peers.join(", ")
    )]
    GaveUp {
        /// Who was waited for.
        peers: Vec<String>,
        /// How long.
        seconds: u64,
    },
    /// Not every neighbour was there at the beginning.
    #[error(
        "gave up after {seconds} s without meeting {}; nothing was released: start it again when they are there",
        peers.join(", ")
    )]
    NotMet {
        /// Who was waited for.
        peers: Vec<String>,
        /// How long.
        seconds: u64,
    },
    /// A neighbour has something of this node's that this node knows nothing of.
    #[error(
        "{peer} already has exchange {theirs} of this node, but this node's own records end at {ours}: its folder or ledger \
         was put back to an older copy (or {peer} does not speak the truth). Going on would release the same rounds twice. \
         Restore the newest copy"
    )]
    RolledBack {
        /// Who knows it.
        peer: String,
        /// The exchange that the neighbour has.
        theirs: u64,
        /// The last one that this node knows of, in words.
        ours: String,
    },
    /// A neighbour has other bytes of this node's than this node kept.
    #[error(
        "{peer} has other bytes of exchange {exchange} than this node kept (BLAKE3 {} there, {} here): this node's folder \
         was copied and used twice, or was changed. Nothing more is sent",
        short(theirs),
        short(ours)
    )]
    Forked {
        /// Who has them.
        peer: String,
        /// Which exchange.
        exchange: u64,
        /// The hash there.
        theirs: [u8; 32],
        /// The hash here.
        ours: [u8; 32],
    },
    /// What was kept cannot be made again from the saved state.
    #[error(
        "exchange {exchange} was already kept with BLAKE3 {}, but the saved state gives {}: the folder is damaged, or the \
         program is another one. Nothing more is sent",
        short(kept),
        short(made)
    )]
    Conflict {
        /// Which exchange.
        exchange: u64,
        /// The hash of what was kept.
        kept: [u8; 32],
        /// The hash of what was made now.
        made: [u8; 32],
    },
    /// The model is not finite any more.
    #[error(
        "the model of round {round} is not finite any more. The largest value mixed in was {largest:.2e}, of {from}: if \
         that is far beyond the others', its owner should look for a defect there; if all grow, the step size is too \
         large for this problem and graph"
    )]
    Diverged {
        /// The round.
        round: u32,
        /// The largest value mixed in, without its sign.
        largest: f64,
        /// Whose it was.
        from: String,
    },
    /// The driver and the machine disagree. A defect.
    #[error("an answer came that was not asked for (a defect of the program)")]
    Unasked,
}

fn short(hash: &[u8; 32]) -> String {
    hex(&hash[..6])
}
