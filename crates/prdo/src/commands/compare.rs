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
    let mut planned: Vec<Planned> = Vec::new();
    let (mut title, mut run_files) = (String::new(), String::new());
    for file in &args.files {
        let mut document = Document::read(file)?;
        run_files.push_str(&std::fs::read_to_string(file).unwrap_or_default());
        for assignment in &args.set {
            document.set(assignment)?;
        }
        title = document.text("name").unwrap_or_else(|| "comparison".into());
        planned.extend(label(document, args.files.len() > 1));
    }
    label_privacy(&mut planned);
    let files: Vec<String> = args.files.iter().map(|f| f.display().to_string()).collect();
    let sets: String = args.set.iter().map(|s| format!(" --set '{s}'")).collect();
    let command = format!("prdo compare {}{sets}", files.join(" "));
    let contest = Contest { title: &title, name: &title, planned, command, run_files };
    let (comparison, folder) = compare(contest, &args.out)?;
    print(&comparison, &args.out, &folder);
    Ok(())
}

/// Every combination of a document's lists. Where several files are compared, their names tell them apart.
fn label(document: Document, several: bool) -> Vec<Planned> {
    let mut all = document.expand();
    for (labels, document) in &mut all {
        if several {
            labels.insert(0, ("name", Value::Text(document.text("name").unwrap_or_default())));
        }
    }
    all
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
    let parts = Parts::open(&folder, out.overwrite)?;
    let stop = Stop::listen()?;
    let progress = Mutex::new((Progress::new(planned.len() as u64, "runs"), 0_u64));
    let cells = planned.par_iter().enumerate().map(|(k, (labels, document))| {
        let Some(cell) = parts.cell(k, labels, document, &stop)? else { return Ok(None) };
        if let Ok(mut guard) = progress.lock() {
            guard.1 += 1;
            let done = guard.1;
            guard.0.at(done, || cell.method.card().title.to_string());
        }
        Ok(Some(cell))
    });
    let cells = cells.collect::<Result<Vec<_>, Failure>>()?;
    if let Ok(mut guard) = progress.lock() {
        guard.0.finish();
    }
    let done = cells.iter().flatten().count();
    if done < cells.len() {
        let shown = folder.path().display();
        tell(&format!("stopped: {done} of {} runs are finished and stay in {shown}", cells.len()));
        tell(&format!("go on with: {command} --out {shown}"));
        return Err(Failure::Work("interrupted".into()));
    }
    let cells = cells.into_iter().flatten().collect();
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
            let which: Vec<String> = labels.iter().map(|(k, v)| format!("{k} = {v}")).collect();
            let context = if which.is_empty() {
                String::new()
            } else {
                format!("\n  in the run with {}", which.join(", "))
            };
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

/// A run that was built, trained to its end; nothing when it was stopped before.
fn train(
    labels: &[(&'static str, Value)],
    document: &Document,
    mut built: Built,
    stop: &Stop,
) -> Result<Option<Cell>, Failure> {
    let (method, gamma, clip) = (built.method, built.settings.gamma, built.clip);
    let started = Instant::now();
    let rounds = u64::from(built.prepared.schedule.rounds);
    let common_class = built.common_class;
    let (mut rows, schedule) = (Rows { rows: Vec::new(), stop }, built.prepared.schedule);
    let end = prdo::simulator::train(&mut *built.prepared.training, &schedule, &mut rows);
    if end.map_err(prdo::error::RunError::from)? == End::Stopped {
        return Ok(None);
    }
    let outcome = built.prepared.outcome(rows.rows, Vec::new());
    let measured = outcome.last().is_some_and(|row| row.test_accuracy.is_some());
    let shown = |value: &Value| value.to_string().trim_matches('"').to_string();
    Ok(Some(Cell {
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

    /// Those in a folder, which stay unless they are to be replaced.
    fn open(folder: &'a Folder, overwrite: bool) -> Result<Self, Failure> {
        let parts = Self { folder };
        if overwrite {
            parts.remove()?;
        }
        Ok(parts)
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
    ) -> Result<Option<Cell>, Failure> {
        if stop.asked() {
            return Ok(None);
        }
        let built = build(document)?;
        let fingerprint: String = built.fingerprint.iter().map(|byte| format!("{byte:02x}")).collect();
        let name = format!("{}/{number}.json", Self::NAME);
        let read = std::fs::read(self.folder.path().join(&name)).ok();
        let kept = read.and_then(|bytes| serde_json::from_slice::<Json>(&bytes).ok());
        let kept = kept.filter(|json| json["fingerprint"] == fingerprint.as_str());
        if let Some(cell) = kept.and_then(|json| Cell::from_json(&json["run"])) {
            return Ok(Some(cell));
        }
        let Some(cell) = train(labels, document, built, stop)? else { return Ok(None) };
        let json = json!({ "fingerprint": fingerprint, "run": cell.to_json() });
        self.folder.write(&name, json.to_string().as_bytes())?;
        Ok(Some(cell))
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
