//! The paper's table of private CIFAR-10 (`tab:cifar-private`), filled cell by cell, in as many pieces as one likes.
//!
//! `experiment` is what was asked for, `setting` what a cell is, `run_file` the run that it is, `results` what is remembered
//! of it, `table` and `page` show what there is.

mod experiment;
mod page;
mod results;
mod run_file;
pub(super) mod setting;
mod table;

pub use experiment::{Request, Table1};
pub use page::state;
pub use results::Cell;
pub use setting::Noise;
pub use table::AccuracyTable;
