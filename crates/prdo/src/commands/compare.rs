//! `prdo compare`: every combination of the lists in run files, side by side.

use super::report::write_figures;
use super::watch::Stop;
use super::{Failure, use_threads, work};
use crate::cli::{CompareArgs, OutArgs};
use crate::progress::{Progress, say, tell};
use prdo::config::{Built, Document, Value, build};
use prdo::output::Folder;
use prdo::plot::Theme;
use prdo::report::{Cell, Comparison, measured_note, network_figure};
use prdo::simulator::{End, Observer, Row, Training};
use rayon::prelude::*;
use serde_json::{Value as Json, json};
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::time::Instant;

/// One run to be, with the keys that set it apart.
pub type Planned = (Vec<(&'static str, Value)>, Document);

pub fn run(args: &CompareArgs) -> Result<(), Failure> {
    use_threads(&args.out)?;
    let (mut documents, mut run_files) = (Vec::new(), String::new());
    for file in &args.files {
        let mut document = Document::read(file)?;
        run_files.push_str(&std::fs::read_to_string(file).unwrap_or_default());
        for assignment in &args.set {
            document.set(assignment)?;
        }
        documents.push(document);
    }
    let name = |document: &Document| document.text("name").unwrap_or_else(|| "comparison".into());
    let title = documents.last().map(name).unwrap_or_default();
    let files: Vec<String> = args.files.iter().map(|f| f.display().to_string()).collect();
    let mut planned = label(documents, &files);
    label_privacy(&mut planned);
    refuse_twins(&planned)?;
    let sets: String = args.set.iter().map(|s| format!(" --set '{s}'")).collect();
    let command = format!("prdo compare {}{sets}", files.join(" "));
    let contest = Contest { title: &title, name: &title, planned, command, run_files };
    let (comparison, folder) = compare(contest, &args.out)?;
    print(&comparison, &args.out, &folder);
    Ok(())
}

/// Every combination of the documents' lists. Where several files are compared, what they call their runs tells them
/// apart, or if two call theirs the same, the files' own names.
fn label(documents: Vec<Document>, files: &[String]) -> Vec<Planned> {
    let names: Vec<String> =
        documents.iter().map(|document| document.text("name").unwrap_or_default()).collect();
    let differ = names.iter().enumerate().all(|(k, name)| !names[..k].contains(name));
    let names = if differ { &names } else { files };
    let mut planned = Vec::new();
    for (document, name) in documents.into_iter().zip(names) {
        for (mut labels, document) in document.expand() {
            if files.len() > 1 {
                labels.insert(0, ("name", Value::Text(name.clone())));
            }
            planned.push((labels, document));
        }
    }
    planned
}

/// Refuses the same run twice: it would count as two seeds.
fn refuse_twins(planned: &[Planned]) -> Result<(), Failure> {
    let same = |(labels, document): &Planned, (others, other): &Planned| {
        let seed = |document: &Document| document.integer("seed");
        labels == others && seed(document) == seed(other)
    };
    for (k, run) in planned.iter().enumerate() {
        if planned[..k].iter().any(|other| same(run, other)) {
            let which = described(&run.0);
            return Err(Failure::Input(format!(
                "the same run is asked for twice{}\n  = help: write each value of a list, and each file, once",
                if which.is_empty() { String::new() } else { format!(": {which}") }
            )));
        }
    }
    Ok(())
}

/// What sets a run apart, in words.
fn described(labels: &[(&'static str, Value)]) -> String {
    labels.iter().map(|(key, value)| format!("{key} = {value}")).collect::<Vec<_>>().join(", ")
}

/// Runs of several files with other budgets, or with none, are told apart by them: their figures must not be averaged.
fn label_privacy(planned: &mut [Planned]) {
    let budget = |document: &Document| {
        let given = document.get("privacy.epsilon").filter(|_| document.has("privacy.epsilon"));
        document.has_section("privacy").then(|| given.unwrap_or(Value::Text("by the noise".into())))
    };
    let Some(first) = planned.first().map(|(_, document)| budget(document)) else { return };
    if planned.iter().all(|(_, document)| budget(document) == first) {
        return;
    }
    for (labels, document) in planned.iter_mut() {
        let known = labels.iter().any(|(key, _)| *key == "privacy" || *key == "privacy.epsilon");
        match budget(document) {
            _ if known => {}
            None => labels.push(("privacy", Value::Text("none".into()))),
            Some(epsilon) => labels.push(("privacy.epsilon", epsilon)),
        }
    }
}

/// What is to be compared.
pub struct Contest<'a> {
    /// The report's headline.
    pub title: &'a str,
    /// The folder's name.
    pub name: &'a str,
    /// The runs.
    pub planned: Vec<Planned>,
    /// The command that repeats it.
    pub command: String,
    /// The run files' text.
    pub run_files: String,
}

/// Checks every run, then opens the folder, then trains them all, several at a time, and writes the results. Runs that were
/// finished before it was interrupted are taken from the folder.
pub fn compare(contest: Contest<'_>, out: &OutArgs) -> Result<(Comparison, Folder), Failure> {
    let Contest { title, name, planned, command, run_files } = contest;
    let (data, network) = check(&planned)?;
    let folder = Folder::create(out.out.as_deref(), name, out.overwrite)?;
    let parts = Parts::open(&folder, &planned, out.overwrite)?;
    let stop = Stop::listen()?;
    let progress = Mutex::new((Progress::new(planned.len() as u64, "runs"), 0_u64));
    let cells = planned.par_iter().enumerate().map(|(k, (labels, document))| {
        let fate = parts.cell(k, labels, document, &stop)?;
        if let (Fate::Finished(cell), Ok(mut guard)) = (&fate, progress.lock()) {
            guard.1 += 1;
            let done = guard.1;
            guard.0.at(done, || cell.method.card().title.to_string());
        }
        Ok(fate)
    });
    let fates = cells.collect::<Result<Vec<_>, Failure>>()?;
    if let Ok(mut guard) = progress.lock() {
        guard.0.finish();
    }
    let all = fates.len();
    let (mut cells, mut failed, mut stopped) = (Vec::new(), Vec::new(), 0);
    for (fate, (labels, _)) in fates.into_iter().zip(&planned) {
        match fate {
            Fate::Finished(cell) => cells.push(*cell),
            Fate::Failed(why) => failed.push((described(labels), why)),
            Fate::Stopped => stopped += 1,
        }
    }
    if stopped > 0 {
        let shown = folder.path().display();
        tell(&format!("stopped: {} of {all} runs are finished and stay in {shown}", cells.len()));
        tell(&format!("go on with: {command} --out {shown}"));
        return Err(Failure::Work("interrupted".into()));
    }
    let data = left_out(data, &failed, all)?;
    let comparison = Comparison { title: title.to_string(), data, command, run_files, network, cells };
    write(&comparison, &folder)?;
    parts.remove()?;
    Ok((comparison, folder))
}

/// Builds every run without training it, so that nothing starts when one of them is wrong; what the data is, and
/// the network's picture.
fn check(planned: &[Planned]) -> Result<(String, String), Failure> {
    let (mut data, mut network) = (String::new(), String::new());
    let mut warned: Vec<String> = Vec::new();
    // Runs that differ in their seed only need one check.
    let apart = |labels: &[(&'static str, Value)]| -> Vec<(&'static str, Value)> {
        labels.iter().filter(|(key, _)| *key != "seed").cloned().collect()
    };
    for (k, (labels, document)) in planned.iter().enumerate() {
        if k > 0 && !labels.is_empty() && apart(&planned[k - 1].0) == apart(labels) {
            continue;
        }
        if document.has("privacy.statement") {
            let message =
                "privacy.statement is for single runs: every run of a comparison would be another release";
            return Err(document.error("privacy.statement", message).help("train with `prdo run`").into());
        }
        let built = build(document).map_err(|e| {
            let which = described(labels);
            let context = if which.is_empty() { which } else { format!("\n  in the run with {which}") };
            Failure::Input(format!("{e}{context}"))
        })?;
        for warning in built.warnings {
            if !warned.contains(&warning) {
                tell(&format!("warning: {warning}"));
                warned.push(warning);
            }
        }
        let facts = &built.prepared.facts;
        data = built.data;
        if let Some(note) = measured_note(facts.measured_records as u64, facts.records as u64) {
            data = format!("{data}; {note}");
        }
        if network.is_empty() {
            let names = built.node_names.as_deref();
            let figure = network_figure(&built.wiring, &built.prepared.facts.spectrum, names);
            network = figure.theme(Theme::Page).to_svg();
        }
    }
    Ok((data, network))
}

/// What became of a run.
enum Fate {
    Finished(Box<Cell>),
    /// It could not go on: why.
    Failed(String),
    Stopped,
}

/// Says which runs failed, and adds them to what the data is: tables and report have the others.
///
/// # Errors
/// When none is left.
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

/// A run that was built, trained to its end.
fn train(labels: &[(&'static str, Value)], document: &Document, mut built: Built, stop: &Stop) -> Fate {
    let (method, gamma, clip) = (built.method, built.settings.gamma, built.clip);
    let started = Instant::now();
    let rounds = u64::from(built.prepared.schedule.rounds);
    let common_class = built.common_class;
    let (mut rows, schedule) = (Rows { rows: Vec::new(), stop }, built.prepared.schedule);
    let end = prdo::simulator::train(&mut *built.prepared.training, &schedule, &mut rows);
    match end {
        Ok(End::Stopped) => return Fate::Stopped,
        Ok(_) => {}
        Err(error) => return Fate::Failed(prdo::error::RunError::from(error).to_string()),
    }
    let outcome = built.prepared.outcome(rows.rows, Vec::new());
    let measured = outcome.last().is_some_and(|row| row.test_accuracy.is_some());
    let shown = |value: &Value| value.to_string().trim_matches('"').to_string();
    Fate::Finished(Box::new(Cell {
        method,
        labels: labels.iter().filter(|(k, _)| *k != "seed").map(|(k, v)| (k.to_string(), shown(v))).collect(),
        seed: document.integer("seed").unwrap_or(1),
        rows: outcome.rows,
        node_accuracy: outcome.node_accuracy,
        test_auc: outcome.test_auc,
        most_common_class: common_class.filter(|_| measured),
        guarantee: outcome.guarantee,
        seconds: started.elapsed().as_secs_f64(),
        clip,
        gamma: method.card().differences.then_some(gamma),
        rounds,
    }))
}

/// Keeps the rows of a run, and stops it on Ctrl-C.
struct Rows<'a> {
    rows: Vec<Row>,
    stop: &'a Stop,
}

impl Observer for Rows<'_> {
    fn row(&mut self, row: &Row) -> ControlFlow<()> {
        self.rows.push(*row);
        ControlFlow::Continue(())
    }

    fn round(&mut self, _: &dyn Training) -> ControlFlow<()> {
        if self.stop.asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// The runs of a comparison that are finished before all are: a file each, until the comparison is written.
struct Parts<'a> {
    folder: &'a Folder,
}

impl<'a> Parts<'a> {
    const NAME: &'static str = "parts";
    /// The settings of all runs.
    const SETTINGS: &'static str = "parts/settings.txt";

    /// Those in a folder, which stay unless they are to be replaced.
    ///
    /// # Errors
    /// Finished runs of a comparison with other settings, which would be lost.
    fn open(folder: &'a Folder, planned: &[Planned], overwrite: bool) -> Result<Self, Failure> {
        let parts = Self { folder };
        if overwrite {
            parts.remove()?;
        }
        let settings: String = planned.iter().map(|(_, document)| document.settings() + "\n").collect();
        let there = std::fs::read_to_string(folder.path().join(Self::SETTINGS));
        if there.is_ok_and(|there| there != settings) && parts.any() {
            return Err(Failure::Input(format!(
                "{} holds finished runs of an interrupted comparison with other settings, which are kept: choose another \
                 --out, or add --overwrite",
                folder.path().display()
            )));
        }
        folder.write(Self::SETTINGS, settings.as_bytes())?;
        Ok(parts)
    }

    /// Whether a run is finished.
    fn any(&self) -> bool {
        let entries = std::fs::read_dir(self.folder.path().join(Self::NAME)).into_iter().flatten().flatten();
        entries.into_iter().any(|entry| entry.path().extension().is_some_and(|end| end == "json"))
    }

    fn remove(&self) -> Result<(), Failure> {
        let path = self.folder.path().join(Self::NAME);
        if path.is_dir() { std::fs::remove_dir_all(path).map_err(work(Self::NAME)) } else { Ok(()) }
    }

    /// One run: as it was finished before, if its settings and records are still the same, or trained now.
    fn cell(
        &self,
        number: usize,
        labels: &[(&'static str, Value)],
        document: &Document,
        stop: &Stop,
    ) -> Result<Fate, Failure> {
        if stop.asked() {
            return Ok(Fate::Stopped);
        }
        let built = build(document)?;
        let fingerprint: String = built.fingerprint.iter().map(|byte| format!("{byte:02x}")).collect();
        let name = format!("{}/{number}.json", Self::NAME);
        let read = std::fs::read(self.folder.path().join(&name)).ok();
        let kept = read.and_then(|bytes| serde_json::from_slice::<Json>(&bytes).ok());
        let kept = kept.filter(|json| json["fingerprint"] == fingerprint.as_str());
        if let Some(cell) = kept.and_then(|json| Cell::from_json(&json["run"])) {
            return Ok(Fate::Finished(Box::new(cell)));
        }
        let fate = train(labels, document, built, stop);
        if let Fate::Finished(cell) = &fate {
            let json = json!({ "fingerprint": fingerprint, "run": cell.to_json() });
            self.folder.write(&name, json.to_string().as_bytes())?;
        }
        Ok(fate)
    }
}

/// Writes tables, figure and report.
fn write(comparison: &Comparison, folder: &Folder) -> Result<(), Failure> {
    let figure = comparison.figure();
    folder.write("table.csv", comparison.to_csv().as_bytes())?;
    folder.write("table.tex", comparison.to_latex().as_bytes())?;
    folder.write("differences.csv", comparison.differences_to_csv().as_bytes())?;
    write_figures(folder.path(), "figure", &figure)?;
    folder.write("report.html", comparison.to_html().as_bytes())?;
    folder.write("comparison.json", format!("{:#}\n", comparison.to_json()).as_bytes())?;
    Ok(())
}

/// The table and the verdict, or the JSON object.
pub fn print(comparison: &Comparison, out: &OutArgs, folder: &Folder) {
    if out.json {
        say(&comparison.to_json().to_string());
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
    say(&format!("report: {}", folder.path().join("report.html").display()));
}

/// A table in plain text, numbers to the right.
pub fn print_table(head: &[&str], rows: &[Vec<String>]) {
    table_lines(head, rows).iter().for_each(|line| say(line));
}

/// Its lines.
pub fn table_lines(head: &[&str], rows: &[Vec<String>]) -> Vec<String> {
    let width = |k: usize| {
        let cells = rows.iter().filter_map(|row| Some(row.get(k)?.chars().count()));
        cells.chain([head[k].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let line = |cells: Vec<&str>| {
        let mut text = String::new();
        for (k, cell) in cells.iter().enumerate() {
            let pad = " ".repeat(widths[k].saturating_sub(cell.chars().count()));
            if k == 0 { text += &format!("{cell}{pad}") } else { text += &format!("  {pad}{cell}") }
        }
        text.trim_end().to_string()
    };
    let cells = rows.iter().map(|row| row.iter().map(String::as_str).collect());
    std::iter::once(head.to_vec()).chain(cells).map(line).collect()
}
