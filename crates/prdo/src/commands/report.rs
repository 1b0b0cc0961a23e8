//! `prdo report`: rebuilds report.html from a run's files.

use super::Failure;
use crate::progress::say;
use prdo::output::write_atomically;
use std::path::Path;

pub fn run(folder: &Path) -> Result<(), Failure> {
    let html = prdo::report::from_folder(folder).map_err(Failure::Input)?;
    let path = folder.join("report.html");
    write_atomically(&path, html.as_bytes())?;
    say(&format!("{}", path.display()));
    Ok(())
}
