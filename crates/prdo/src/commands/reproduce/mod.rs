//! `prdo reproduce`: the paper's experiments.

mod figure_1;
mod sensitivity_example;

use super::{Failure, use_threads};
use crate::cli::{Experiment, ReproduceArgs};

pub fn run(args: &ReproduceArgs) -> Result<(), Failure> {
    use_threads(&args.out)?;
    match args.what {
        Experiment::Figure1 => figure_1::run(args),
        Experiment::SensitivityExample => sensitivity_example::run(args),
    }
}
