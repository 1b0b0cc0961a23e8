//! `prdo bench gradients`: per-record gradients through the real gate, against the processor's peak in the same run.
//!
//! The machine may be busy with other things, so peak and rounds are measured in turns many times, each look at the peak
//! over as long as the round before it: the peak is the best seen, and of rounds both the best and the median are told.

mod gemm;
mod measure;
mod report;
mod subject;

use crate::cli::bench::GradientsArgs;
use crate::commands::Failure;
use crate::progress::say;
use measure::Setting;
use prdo_kernels::Level;

pub fn run(args: &GradientsArgs) -> Result<(), Failure> {
    let threads = args.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let setting = Setting {
        model: args.model.clone(),
        batch: args.batch,
        level: args.level.unwrap_or_else(Level::best),
        threads,
        seconds: args.seconds,
    };
    let measured = measure::measure(&setting)?;
    if args.json {
        say(&report::json(&setting, &measured).to_string());
    } else {
        report::print(&setting, &measured);
    }
    Ok(())
}
