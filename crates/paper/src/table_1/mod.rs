//! The paper's table of private CIFAR-10 (`tab:cifar-private`), filled cell by cell, in as many pieces as one likes.
//!
//! `plan` is what was asked for, `setting` what a cell is, `run_file` the run that it is, `results` what is remembered
//! of it, `table` and `page` show what there is.

mod page;
mod plan;
mod results;
mod run_file;
pub(super) mod setting;
mod table;

pub use page::state;
pub use plan::{Plan, Request};
pub use results::Cell;
pub use setting::Noise;
pub use table::Table;
