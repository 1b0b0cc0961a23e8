//! The `prdo` command: what was typed, what was meant, and the exit code.
#![forbid(unsafe_code)]

mod cli;
mod commands;
mod progress;
mod version;

use commands::Failure;
use std::process::ExitCode;

fn main() -> ExitCode {
    prdo_kernels::keep_freed_memory();
    let cli = cli::typed().unwrap_or_else(|error| {
        let typed: Vec<String> =
            std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
        cli::hints::explained(error, &typed).exit()
    });
    match commands::dispatch(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            progress::tell(&format!("error: {failure}"));
            match failure {
                Failure::Input(_) => ExitCode::from(2),
                Failure::Work(_) => ExitCode::from(1),
            }
        }
    }
}
