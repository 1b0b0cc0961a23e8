//! `prdo compare`: every combination of the lists in run files, side by side.

use super::table::print_table;
use super::watch::{Stop, interrupted, resume_command};
use super::{Failure, read_run_file, shell_word, use_threads};
use crate::cli::{CompareArgs, OutArgs};
use crate::progress::{Counter, say, tell};
use prdo::compare::{CompareError, Compared, Comparison, Named, described, planned, write_comparison};
use prdo::parts::Parts;
use prdo::report::ComparisonReport;
use prdo::report::against::{EACH_COLUMN, PSEUDO_RANDOM_COLUMNS};
use prdo::runfile::Document;
use prdo::store::{Folder, artefact, names};
use std::sync::Arc;

pub fn run(args: &CompareArgs) -> Result<(), Failure> {
    use_threads(args.out.threads)?;
    let (mut documents, mut run_files) = (Vec::<Document>::new(), String::new());
    for file in &args.files {
        let mut document = read_run_file(file, &args.set)?;
        run_files.push_str(&std::fs::read_to_string(file).unwrap_or_default());
        if let Some(first) = documents.first() {
            document.calibrations = Arc::clone(&first.calibrations);
        }
        documents.push(document);
    }
    let title = documents.last().map(Document::name).unwrap_or_default();
    let files: Vec<String> = args.files.iter().map(|f| f.display().to_string()).collect();
    let comparison = Comparison::check(planned(documents, &files))?;
    let sets: String = args.set.iter().map(|set| format!(" --set {}", shell_word(set))).collect();
    let files: Vec<String> = files.iter().map(|file| shell_word(file)).collect();
    let command = format!("prdo compare {}{sets}", files.join(" "));
    let named = Named { title: title.clone(), command, run_files };
    let (comparison, folder) = compare(comparison, named, &title, &args.out)?;
    print(&comparison, &args.out, &folder);
    Ok(())
}

/// Trains every run, in a folder that takes this name if `--out` names none, and writes the results.
pub fn compare(
    comparison: Comparison,
    named: Named,
    name: &str,
    out: &OutArgs,
) -> Result<(ComparisonReport, Folder), Failure> {
    for warning in comparison.warnings() {
        tell(&format!("warning: {warning}"));
    }
    let folder = Folder::create(out.out.as_deref(), name, out.overwrite)?;
    let (stop, all) = (Stop::listen()?, comparison.runs());
    let parts = Parts {
        folder: &folder,
        job: "comparison",
        command: resume_command(out, &folder),
        stop: &|| stop.asked(),
    };
    parts.open(&comparison.settings(), out.overwrite)?;
    let progress = Counter::new(all as u64, "runs");
    let compared = comparison.train(named, &parts, &|cell| progress.step(cell.method.card().title));
    drop(progress);
    let Compared { report, failed } = match compared {
        Err(CompareError::Interrupted) => return Err(interrupted(&parts, all, "runs")),
        compared => compared?,
    };
    for (labels, why) in &failed {
        tell(&format!("warning: the run with {} is left out: {why}", described(labels)));
    }
    write_comparison(&report, &folder)?;
    parts.remove()?;
    Ok((report, folder))
}

pub fn print(comparison: &ComparisonReport, out: &OutArgs, folder: &Folder) {
    if out.json {
        say(&artefact::line(&comparison.to_file()));
        return;
    }
    let (head, rows) = comparison.table();
    print_table(&head, &rows);
    say("");
    say(&comparison.verdict());
    if comparison.groups().iter().any(|group| group.cells.len() > 1) {
        say("±: half the width of the 95 % interval of the mean over seeds (Student's t).");
    }
    say("Late gradient norm: mean over the last fifth of the rounds. Seeded simulation: not private.");
    say_coalitions(comparison);
    say(&format!("report: {}", folder.path().join(names::REPORT).display()));
}

/// Against whom noise in pairs is, and what coalitions of every size learn.
fn say_coalitions(comparison: &ComparisonReport) {
    let Some(((head, rows), note)) = comparison.coalitions().zip(comparison.pairs_note()) else { return };
    say("");
    say(&note);
    print_table(&head, &rows);
    say(EACH_COLUMN);
    say(PSEUDO_RANDOM_COLUMNS);
}
