//! `prdo reproduce`: the paper's experiments.

mod bounds;
mod fields;
mod figure_1;
mod frontier;
mod numbers;
mod sensitivity_example;
mod table_1;
mod typed;

use super::{Failure, use_threads};
use crate::cli::Experiment;

pub fn run(experiment: &Experiment) -> Result<(), Failure> {
    match experiment {
        Experiment::Figure1(args) => {
            use_threads(&args.out)?;
            figure_1::run(args)
        }
        Experiment::SensitivityExample(args) => {
            use_threads(&args.out)?;
            sensitivity_example::run(args)
        }
        Experiment::Bounds(args) => {
            use_threads(&args.out)?;
            bounds::run(args)
        }
        Experiment::Table1(args) => table_1::run(args),
        Experiment::Frontier(args) => frontier::run(args),
    }
}
