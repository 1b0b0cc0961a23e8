//! What accuracy a privacy budget buys: softmax regression on fixed features against ε, on three sets of images, beside
//! the paper's network. Filled run by run, in as many pieces as one likes.
//!
//! `experiment` is what was asked for, `setting` what a run is, `settings.csv` the settings that were chosen on validation
//! records, `results` what is remembered of runs, `points` their means over seeds, `page` shows what there is.

mod experiment;
mod page;
mod points;
mod results;
mod setting;

pub use crate::images::Data;
pub use experiment::{Frontier, Request};
pub use page::{CAPTION, tables};
pub use points::{Point, PointRow};
pub use setting::{Map, Noise};
