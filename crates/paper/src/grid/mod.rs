//! An experiment made of cells: each is an ordinary run in a folder of its own, begun, stopped and resumed as one likes. A
//! cell writes in its own folder only; what is remembered of all of them (`file`) is entered by whoever fills them
//! (`fill`), and tables and pages are drawn from that (`show`).

mod file;
mod fill;
pub(crate) mod show;

pub use file::{Cell, Entry, Results, as_text, in_range, numbered};
pub use fill::{End, fill};

use super::error::Error;
use super::front::{Facts, Stage};
use std::path::Path;
use std::time::Duration;

pub trait Key: Copy + PartialEq {
    /// The name of its folder.
    fn folder(&self) -> String;

    fn title(&self) -> String;
}

/// How far a cell is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Done,
    /// Begun, and left with a checkpoint after so many rounds.
    Interrupted {
        rounds: u32,
    },
    ToDo,
}

/// What was asked for of an experiment made of cells.
pub trait Grid {
    type Key: Key;
    type Results: Results<Cell: Cell<Key = Self::Key>>;
    /// Whether tables are drawn after every cell; otherwise only when all is done or stopped.
    const DRAWN_AFTER_EACH: bool;

    fn out(&self) -> &Path;

    /// The cells, in the order in which they are run.
    fn cells(&self) -> Vec<Self::Key>;

    fn run_file(&self, key: &Self::Key) -> Result<String, Error>;

    /// The command that resumes this.
    fn command(&self) -> String;

    fn checkpoint_every(&self) -> Duration;

    /// Those of the cells that are built before any is trained, so that nothing starts when one of them is wrong.
    fn tried_first(&self, _left: &[Self::Key]) -> Vec<Self::Key> {
        Vec::new()
    }

    /// What is said of a cell before it is trained on from `round`, if anything.
    fn announcement(&self, _key: &Self::Key, _facts: &Facts, _round: u32) -> Option<String> {
        None
    }

    fn enter(
        &self,
        results: &mut Self::Results,
        key: &Self::Key,
        facts: &Facts,
        stage: &Stage,
    ) -> Result<(), Error>;

    /// Writes tables, figures and report of what there is.
    fn draw(&self, results: &Self::Results) -> Result<(), Error>;

    /// How many of its cells are not done.
    fn unfinished(&self, results: &Self::Results) -> usize {
        self.cells().iter().filter(|key| results.state(key) != State::Done).count()
    }
}
