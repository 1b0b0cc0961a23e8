//! One node at work: the machine, the gate it asks and the folder it keeps things in. What is left to whoever holds a
//! session is the network and the clock, so that a real driver and a seeded simulator run this same code.

use crate::home::{Home, HomeError, Saved, StateRecord};
use crate::machine::{
    Action, Effect, Ended, Event, LinkState, Machine, Millis, Patience, PeerError, Place, ResumeError,
};
use prdo_accounting::Target;
use prdo_algorithm::Node;
use prdo_privacy::{Answerer, Diagnostics, GateError, Noised};
use std::collections::VecDeque;
use std::thread::JoinHandle;

pub struct Setup {
    pub place: Place,
    pub patience: Patience,
    /// The method's state, at the public start (or at the model it continues from).
    pub node: Box<dyn Node<Noised>>,
    /// The gate, with the charges of the rounds done.
    pub gate: Box<dyn Answerer>,
    pub home: Home,
    pub saved: Saved,
    /// Whether states are written while the gate works on the next round. They are durable before the next message is
    /// sent in either case.
    pub background: bool,
}

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SessionError {
    #[error(transparent)]
    Resume(#[from] ResumeError),
    /// The gate refused: nothing was released.
    #[error("round {round}: {error}")]
    Gate { round: u32, error: GateError },
    /// Something could not be kept: nothing was sent.
    #[error(transparent)]
    Home(#[from] HomeError),
    #[error(transparent)]
    Peer(#[from] PeerError),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Status {
    pub neighbours: Vec<(usize, LinkState)>,
    /// ε that these records have spent.
    pub spent: f64,
    pub budget: Target,
    /// Unprotected counts of the last answer: for the owner's eyes alone.
    pub diagnostics: Diagnostics,
}

/// The run's folder, or the thread that writes into it.
enum Storage {
    Idle(Box<Home>),
    Writing(JoinHandle<(Box<Home>, Result<(), HomeError>)>),
    Lost,
}

pub struct Session {
    machine: Machine,
    gate: Box<dyn Answerer>,
    storage: Storage,
    background: bool,
    /// Counts of the last answer: for the owner's eyes alone.
    diagnostics: Diagnostics,
    /// A planted bug, for the audit's own tests.
    #[cfg(all(feature = "planted-bugs", debug_assertions))]
    forgetful: bool,
}

impl Session {
    /// A session at its start, or where it was left.
    pub fn new(setup: Setup) -> Result<Self, SessionError> {
        let Setup { place, patience, node, gate, home, saved, background } = setup;
        let machine = Machine::new(place, node, &saved, patience)?;
        let (storage, diagnostics) = (Storage::Idle(Box::new(home)), Diagnostics::default());
        Ok(Self {
            machine,
            gate,
            storage,
            background,
            diagnostics,
            #[cfg(all(feature = "planted-bugs", debug_assertions))]
            forgetful: false,
        })
    }

    /// Plants the bug that what is sent is not kept before: after a restart the round is released again.
    #[cfg(all(feature = "planted-bugs", debug_assertions))]
    pub fn plant_second_release(&mut self) {
        self.forgetful = true;
    }

    #[cfg(all(feature = "planted-bugs", debug_assertions))]
    fn is_forgetful(&self) -> bool {
        self.forgetful
    }

    /// Never, except in the audit's own tests.
    #[cfg(not(all(feature = "planted-bugs", debug_assertions)))]
    fn is_forgetful(&self) -> bool {
        false
    }

    /// Takes an event; `outside` does what is left, at once and in order. `Some` when the run is over.
    ///
    /// # Errors
    /// A gate that refuses, a disk that fails, a run that cannot continue. The session is of no use afterwards.
    pub fn handle(
        &mut self,
        now: Millis,
        event: Event,
        outside: &mut dyn FnMut(Action),
    ) -> Result<Option<Ended>, SessionError> {
        let mut effects = VecDeque::from(self.machine.handle(now, event));
        while let Some(effect) = effects.pop_front() {
            match effect {
                Effect::Ask { round } => {
                    let answer = self.gate.answer(round, &self.machine.query());
                    let answer = answer.map_err(|error| SessionError::Gate { round, error })?;
                    self.diagnostics = answer.diagnostics;
                    effects.extend(self.machine.handle(now, Event::Answered(answer.released)));
                }
                Effect::KeepState(state) => self.keep_state(state)?,
                Effect::KeepOutgoing(_) if self.is_forgetful() => {}
                Effect::KeepOutgoing(outgoing) => self.home()?.keep_outgoing(&outgoing)?,
                Effect::Outside(action) => {
                    if matches!(action, Action::Send { .. }) {
                        self.home()?;
                    }
                    outside(action);
                }
                Effect::End(how) => {
                    self.home()?;
                    return how.map(Some).map_err(SessionError::from);
                }
            }
        }
        Ok(None)
    }

    fn keep_state(&mut self, state: StateRecord) -> Result<(), SessionError> {
        if !self.background {
            return Ok(self.home()?.keep_state(&state)?);
        }
        self.home()?;
        let Storage::Idle(mut home) = std::mem::replace(&mut self.storage, Storage::Lost) else {
            return Ok(());
        };
        self.storage = Storage::Writing(std::thread::spawn(move || {
            let kept = home.keep_state(&state);
            (home, kept)
        }));
        Ok(())
    }

    /// The folder, when everything that was to be kept is durable.
    fn home(&mut self) -> Result<&mut Home, SessionError> {
        if let Storage::Writing(_) = self.storage
            && let Storage::Writing(thread) = std::mem::replace(&mut self.storage, Storage::Lost)
            && let Ok((home, kept)) = thread.join()
        {
            self.storage = Storage::Idle(home);
            kept?;
        }
        match &mut self.storage {
            Storage::Idle(home) => Ok(home),
            _ => Err(HomeError::Lost.into()),
        }
    }

    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// How the node stands. What it has spent is asked of the accountant, which may take a moment.
    pub fn status(&self) -> Status {
        Status {
            neighbours: self.machine.neighbours(),
            spent: self.gate.spent(),
            budget: self.gate.budget(),
            diagnostics: self.diagnostics,
        }
    }
}
