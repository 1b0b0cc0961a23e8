//! `prdo compare`: every combination of the lists in run files, side by side.

mod parts;

use super::table::print_table;
use super::watch::Stop;
use super::{Failure, read_run_file, use_threads};
use crate::cli::{CompareArgs, OutArgs};
use crate::progress::{Counter, say, tell};
use prdo::build::{Built, build};
use prdo::export::write_figures;
use prdo::parts::{Fate, Parts};
use prdo::plot::Theme;
use prdo::report::{ComparisonReport, measured_note, network_figure};
use prdo::runfile::{Document, Key, Section, Value};
use prdo::store::{Folder, artefact, names};
use rayon::prelude::*;
use std::sync::{Arc, Mutex, PoisonError};

/// Runs that were checked are kept for training as long as their records take no more bytes than this.
const KEPT_BYTES: u64 = 1 << 28;

/// The keys that set a run apart.
type Labels = [(&'static str, Value)];
/// One run to be, with the keys that set it apart.
pub type Planned = (Vec<(&'static str, Value)>, Document);

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
    let mut planned = label(documents, &files);
    label_privacy(&mut planned);
    refuse_twins(&planned)?;
    let sets: String = args.set.iter().map(|s| format!(" --set '{s}'")).collect();
    let command = format!("prdo compare {}{sets}", files.join(" "));
    let comparison = Comparison { title: &title, name: &title, planned, command, run_files };
    let (comparison, folder) = compare(comparison, &args.out)?;
    print(&comparison, &args.out, &folder);
    Ok(())
}

/// Every combination of the documents' lists. Where several files are compared, what they call their runs tells them
/// apart, or if two call theirs the same, the files' own names.
fn label(documents: Vec<Document>, files: &[String]) -> Vec<Planned> {
    let names: Vec<String> = documents.iter().map(Document::name).collect();
    let differ = names.iter().enumerate().all(|(k, name)| !names[..k].contains(name));
    let names = if differ { &names } else { files };
    let mut planned = Vec::new();
    for (document, name) in documents.into_iter().zip(names) {
        for (mut labels, document) in expanded(&document) {
            if files.len() > 1 {
                labels.insert(0, (Key::Name.path(), Value::Text(name.clone())));
            }
            planned.push((labels, document));
        }
    }
    planned
}

/// Every combination of a document's lists, with what sets it apart.
pub fn expanded(document: &Document) -> Vec<Planned> {
    let shown = |(key, value): (Key, Value)| (key.path(), value);
    let one = |(labels, document): (Vec<_>, Document)| (labels.into_iter().map(shown).collect(), document);
    document.expand().into_iter().map(one).collect()
}

/// Refuses the same run twice: it would count as two seeds.
fn refuse_twins(planned: &[Planned]) -> Result<(), Failure> {
    let same = |(labels, document): &Planned, (others, other): &Planned| {
        let seed = |document: &Document| document.integer(Key::Seed);
        labels == others && seed(document) == seed(other)
    };
    for (k, run) in planned.iter().enumerate() {
        if planned[..k].iter().any(|other| same(run, other)) {
            let which = described(&run.0);
            return Err(Failure::Input(format!(
                "the same run is asked for twice{}\n  = help: give each value of a list, and each file, once",
                if which.is_empty() { String::new() } else { format!(": {which}") }
            )));
        }
    }
    Ok(())
}

fn described(labels: &Labels) -> String {
    labels.iter().map(|(key, value)| format!("{key} = {value}")).collect::<Vec<_>>().join(", ")
}

/// Runs of several files with other budgets, or with none, are told apart by them: their figures must not be averaged.
fn label_privacy(planned: &mut [Planned]) {
    let budget = |document: &Document| {
        let given = document.get(Key::PrivacyEpsilon).filter(|_| document.has(Key::PrivacyEpsilon));
        document.has_section(Section::Privacy).then(|| given.unwrap_or(Value::Text("by the noise".into())))
    };
    let Some(first) = planned.first().map(|(_, document)| budget(document)) else { return };
    if planned.iter().all(|(_, document)| budget(document) == first) {
        return;
    }
    for (labels, document) in planned.iter_mut() {
        let known =
            labels.iter().any(|(key, _)| [Section::Privacy.name(), Key::PrivacyEpsilon.path()].contains(key));
        match budget(document) {
            _ if known => {}
            None => labels.push((Section::Privacy.name(), Value::Text("none".into()))),
            Some(epsilon) => labels.push((Key::PrivacyEpsilon.path(), epsilon)),
        }
    }
}

pub struct Comparison<'a> {
    /// The report's headline.
    pub title: &'a str,
    pub name: &'a str,
    pub planned: Vec<Planned>,
    /// The command that repeats it.
    pub command: String,
    pub run_files: String,
}

/// Checks every run, then opens the folder, then trains them all, several at a time, and writes the results. Runs that were
/// finished before it was interrupted are taken from the folder.
pub fn compare(comparison: Comparison<'_>, out: &OutArgs) -> Result<(ComparisonReport, Folder), Failure> {
    let Comparison { title, name, planned, command, run_files } = comparison;
    let Checked { data, network, built } = check(&planned)?;
    let folder = Folder::create(out.out.as_deref(), name, out.overwrite)?;
    let stop = Stop::listen()?;
    let parts = Parts {
        folder: &folder,
        job: "comparison",
        command: format!("{command} --out {}", folder.path().display()),
        stop: &|| stop.asked(),
    };
    let settings: String = planned.iter().map(|(_, document)| document.settings() + "\n").collect();
    parts.open(&settings, out.overwrite)?;
    let progress = Counter::new(planned.len() as u64, "runs");
    let cells = planned.par_iter().enumerate().map(|(k, planned)| {
        let built = built[k].lock().unwrap_or_else(PoisonError::into_inner).take();
        let fate = parts::part(&parts, k, planned, built)?;
        if let Fate::Finished(cell) = &fate {
            progress.step(cell.method.card().title);
        }
        Ok(fate)
    });
    let fates = cells.collect::<Result<Vec<_>, Failure>>()?;
    drop(progress);
    let all = fates.len();
    let (mut cells, mut failed, mut stopped) = (Vec::new(), Vec::new(), 0);
    for (fate, (labels, _)) in fates.into_iter().zip(&planned) {
        match fate {
            Fate::Finished(cell) => cells.push(cell),
            Fate::Failed(why) => failed.push((described(labels), why)),
            Fate::Stopped => stopped += 1,
        }
    }
    if stopped > 0 {
        let shown = folder.path().display();
        tell(&format!("stopped: {} of {all} runs are finished and kept in {shown}", cells.len()));
        tell(&format!("resume with: {}", parts.command));
        return Err(Failure::Work("interrupted".into()));
    }
    let data = left_out(data, &failed, all)?;
    let comparison = ComparisonReport { title: title.to_string(), data, command, run_files, network, cells };
    write(&comparison, &folder)?;
    parts.remove()?;
    Ok((comparison, folder))
}

struct Checked {
    data: String,
    /// The network's picture.
    network: String,
    /// The runs that were built and kept.
    built: Vec<Mutex<Option<Built>>>,
}

/// Builds every run without training it, so that nothing starts when one of them is wrong. Those that take little memory
/// are kept, and not built again.
fn check(planned: &[Planned]) -> Result<Checked, Failure> {
    let (mut data, mut network) = (String::new(), String::new());
    let kept: Vec<Mutex<Option<Built>>> = planned.iter().map(|_| Mutex::default()).collect();
    let mut bytes = 0;
    let mut warned: Vec<String> = Vec::new();
    // Runs that differ in their seed only need one check.
    let apart = |labels: &Labels| -> Vec<(&'static str, Value)> {
        labels.iter().filter(|(key, _)| *key != Key::Seed.path()).cloned().collect()
    };
    for (k, (labels, document)) in planned.iter().enumerate() {
        if k > 0 && !labels.is_empty() && apart(&planned[k - 1].0) == apart(labels) {
            continue;
        }
        if document.has(Key::PrivacyStatement) {
            let message =
                "privacy.statement is for single runs: every run of a comparison would be another release";
            return Err(document.error(Key::PrivacyStatement, message).help("train with `prdo run`").into());
        }
        let built = build(document).map_err(|e| {
            let which = described(labels);
            let context = if which.is_empty() { which } else { format!("\n  in the run with {which}") };
            Failure::Input(format!("{e}{context}"))
        })?;
        for warning in &built.warnings {
            if !warned.contains(warning) {
                tell(&format!("warning: {warning}"));
                warned.push(warning.clone());
            }
        }
        let facts = &built.prepared.facts;
        data = built.data.clone();
        if let Some(note) = measured_note(facts.measured_records as u64, facts.records as u64) {
            data = format!("{data}; {note}");
        }
        if network.is_empty() {
            let names = built.node_names.as_deref();
            let figure = network_figure(&built.wiring, &built.prepared.facts.spectrum, names);
            network = figure.theme(Theme::Page).to_svg();
        }
        bytes += 8
            * (facts.records as u64 * built.facts.features
                + 4 * facts.nodes as u64 * facts.parameters as u64);
        if bytes <= KEPT_BYTES {
            *kept[k].lock().unwrap_or_else(PoisonError::into_inner) = Some(built);
        }
    }
    Ok(Checked { data, network, built: kept })
}

/// Says which runs failed, and adds them to what the data is: tables and report have the others. An error if none is left.
fn left_out(data: String, failed: &[(String, String)], all: usize) -> Result<String, Failure> {
    let Some((which, why)) = failed.first() else { return Ok(data) };
    if failed.len() == all {
        let which = if which.is_empty() { which.clone() } else { format!("the run with {which}: ") };
        return Err(Failure::Work(format!("{which}{why}")));
    }
    for (which, why) in failed {
        tell(&format!("warning: the run with {which} is left out: {why}"));
    }
    let which: Vec<&str> = failed.iter().map(|(which, _)| which.as_str()).collect();
    Ok(format!("{data}; left out because they failed: the runs with {}", which.join("; ")))
}

fn write(comparison: &ComparisonReport, folder: &Folder) -> Result<(), Failure> {
    let figure = comparison.figure();
    folder.write(names::TABLE, comparison.to_csv().as_bytes())?;
    folder.write(names::TABLE_LATEX, comparison.to_latex().as_bytes())?;
    folder.write(names::DIFFERENCES, comparison.differences_to_csv().as_bytes())?;
    write_figures(folder.path(), names::FIGURE, &figure)?;
    folder.write(names::REPORT, comparison.to_html().as_bytes())?;
    folder.write(names::COMPARISON, artefact::text(&comparison.to_file()).as_bytes())?;
    Ok(())
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
    say(&format!("report: {}", folder.path().join(names::REPORT).display()));
}
