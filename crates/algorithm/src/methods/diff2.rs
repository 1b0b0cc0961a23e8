//! DIFF2 (`diff2`): gradients and their changes, by gossip.
//!
//! ```text
//! every R rounds:  v = noisy gradient at x
//! else:            v = v₋ + noisy (gradient at x − gradient at x₋, same batch; each record's clipped at κ‖x − x₋‖)
//! x⁺ = Σ_j W_ij (x − αv)_j
//! ```
//!
//! Reference: Murata, Suzuki, "DIFF2: differential private optimization via gradient differences for nonconvex distributed
//! learning", 2023: full batches, and a server, which a complete graph with Metropolis weights is here. On sparse graphs it has
//! the bias of D-SGD. Each node adds its own noise; whether clients or the server do in the original could not be verified.

use super::Cell;
use super::directions::Moved;
use super::steps::Gossip;

pub static METHOD: Cell<Moved, Gossip> = Cell::new(
    "diff2",
    "DIFF2",
    "gradients and their changes, clipped at how far the node moved; for complete graphs",
);
