//! The code with one planted bug in it. The example `audits` attacks it too.

use prdo_audit::Subject;
use prdo_peer::session::Session;
use prdo_privacy::planted::Bug;
use prdo_privacy::{Gate, Model, Noised};

/// The code with one bug in it.
pub struct Broken(pub Bug);

impl Subject for Broken {
    fn gate<M: Model>(&self, mut gate: Gate<M, Noised>) -> Gate<M, Noised> {
        gate.plant(self.0);
        gate
    }

    fn session(&self, mut session: Session) -> Session {
        if self.0 == Bug::SecondRelease {
            session.plant_second_release();
        }
        session
    }
}
