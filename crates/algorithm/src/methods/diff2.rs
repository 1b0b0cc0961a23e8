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

use super::directions::{KAPPA, Moved, RESTART};
use super::steps::Gossip;
use super::{COMBINE, Card, Cell};

pub static METHOD: Cell<Moved, Gossip> = Cell::new(Card {
    name: "diff2",
    title: "DIFF2",
    idea: "gradients and their changes, clipped at how far the node moved; for complete graphs",
    parameters: &[KAPPA.parameter(), RESTART.parameter(), COMBINE.parameter()],
    first_batch: false,
    differences: false,
});
