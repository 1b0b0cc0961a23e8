//! What is audited: the code that ships, or (in this crate's tests) the same with a bug planted in it.

use prdo_peer::session::Session;
use prdo_privacy::{Gate, Model, Noised};

/// Gets every gate and every session before the audit uses it.
pub trait Subject: Sync {
    fn gate<M: Model>(&self, gate: Gate<M, Noised>) -> Gate<M, Noised> {
        gate
    }

    fn session(&self, session: Session) -> Session {
        session
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Shipped;

impl Subject for Shipped {}
