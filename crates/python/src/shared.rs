//! What a run's threads share with the thread that waits for them: whether to stop, and which exception was raised.

use pyo3::PyErr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Whether a run is to stop, and why.
#[derive(Default)]
pub struct Shared {
    stop: AtomicBool,
    spoiled: AtomicBool,
    error: Mutex<Option<PyErr>>,
    turn: Mutex<()>,
}

impl Shared {
    /// Ends the run; of several exceptions the first is kept.
    pub fn fail(&self, error: PyErr) {
        let mut kept = self.error.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get_or_insert(error);
        self.stop.store(true, Ordering::SeqCst);
    }

    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    /// A model did not answer: what is computed from here on means nothing and must not be kept.
    pub fn spoil(&self) {
        self.spoiled.store(true, Ordering::SeqCst);
    }

    pub fn spoiled(&self) -> bool {
        self.spoiled.load(Ordering::SeqCst)
    }

    /// Waits for one's turn: no two threads have it. To be asked without the interpreter's lock.
    pub fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn take(&self) -> Option<PyErr> {
        self.error.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
