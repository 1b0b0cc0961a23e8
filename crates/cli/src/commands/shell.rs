//! `prdo completions` and `prdo man`: made from the commands themselves, so that they cannot go stale.

use super::Failure;
use crate::cli::Cli;
use crate::progress::say;
use clap::{Command, CommandFactory};
use prdo::disk::write_atomically;
use std::io::Write;
use std::path::Path;

pub fn completions(shell: clap_complete::Shell) -> Result<(), Failure> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "prdo", &mut text);
    // A closed pipe is nobody's error.
    let _ = std::io::stdout().write_all(&text);
    Ok(())
}

pub fn man(folder: Option<&Path>) -> Result<(), Failure> {
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    let Some(folder) = folder else {
        let _ = std::io::stdout().write_all(&page(&command)?);
        return Ok(());
    };
    std::fs::create_dir_all(folder)
        .map_err(|e| Failure::Input(format!("cannot make {}: {e}", folder.display())))?;
    let written = pages(&command, folder)?;
    say(&format!("{written} pages in {}", folder.display()));
    Ok(())
}

/// A page for a command and for each of those within it: `prdo.1`, `prdo-run.1`, …
fn pages(command: &Command, folder: &Path) -> Result<usize, Failure> {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_string();
    write_atomically(&folder.join(format!("{name}.1")), &page(command)?)?;
    let within = command.get_subcommands().filter(|inner| !inner.is_hide_set());
    within.map(|inner| pages(inner, folder)).try_fold(1, |sum, pages| Ok(sum + pages?))
}

fn page(command: &Command) -> Result<Vec<u8>, Failure> {
    let mut text = Vec::new();
    clap_mangen::Man::new(command.clone())
        .render(&mut text)
        .map_err(|e| Failure::Work(format!("the manual page of {}: {e}", command.get_name())))?;
    Ok(text)
}
