//! `prdo run`: trains what a run file describes, into a folder, with checkpoints.

use super::dashboard::{self, Window};
use super::watch::{Stop, Watch, Watcher, checkpoint_interval};
use super::{Failure, use_threads, work};
use crate::cli::RunArgs;
use crate::progress::{Patience, Progress, say, tell};
use prdo::budget::words::short;
use prdo::config::{Built, ConfigError, Document, NetworkFacts, build_showing, resolved};
use prdo::output::{Folder, parse_rows, time_before};
use prdo::report::{describe, measured_note};
use prdo::session::{Results, worries};
use prdo::simulator::{CheckpointError, End, Row, train};
use serde_json::Value as Json;
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

pub fn run(args: &RunArgs) -> Result<(), Failure> {
    use_threads(&args.out)?;
    checkpoint_interval(args.checkpoint_every)?;
    let mut document = Document::read(&args.file)?;
    for assignment in &args.set {
        document.set(assignment)?;
    }
    if let Some(seed) = args.seed {
        document.set(&format!("seed={seed}"))?;
    }
    let mut built = built_with_bar(&document)?;
    let port = dashboard::port(&args.watch)?;
    let name = document.text("name").unwrap_or_else(|| "run".into());
    let folder = match args.resume {
        false => Folder::create(args.out.out.as_deref(), &name, args.out.overwrite)?,
        true => Folder::resume(args.out.out.as_deref().unwrap_or(Path::new(".")))?,
    };
    let run_file = resolved::to_toml(&document, &built);
    if let Some(summary) = finished(&folder, &run_file)? {
        tell("this run is finished already");
        show(&summary, folder.path(), args.out.json);
        return Ok(());
    }
    let kept = restore(&folder, &mut built, &run_file)?;
    match (args.resume, kept.last()) {
        (true, Some(_)) => tell(&format!("resuming after round {}", built.prepared.training.round())),
        (true, None) => tell("no checkpoint was written yet: starting from the beginning"),
        (false, _) => {}
    }
    announce(&built);
    let window = Window::open(port, folder.path())?;
    let stop = Stop::listen()?;
    let result = train_and_show(args, &folder, &document, built, kept, stop.clone());
    window.close(result, &stop, args.out.json)
}

fn train_and_show(
    args: &RunArgs,
    folder: &Folder,
    document: &Document,
    mut built: Built,
    kept: Vec<Row>,
    stop: Stop,
) -> Result<(), Failure> {
    let watch = Watch {
        stop,
        checkpoint_every: checkpoint_interval(args.checkpoint_every)?,
        label: String::new(),
        before: if kept.is_empty() { Duration::ZERO } else { time_before(folder.path()) },
        again: again(args, folder.path()),
        checkpointed: Box::new(|_, _| Ok(())),
        tensorboard: args.tensorboard,
    };
    match train_in(folder, document, &mut built, kept, watch)?.summary {
        Some(summary) => show(&summary, folder.path(), args.out.json),
        None => {
            tell(&format!(
                "stopped after round {} of {}; go on with: {}",
                built.prepared.training.round(),
                built.prepared.schedule.rounds,
                again(args, folder.path())
            ));
            return Err(Failure::Work("interrupted".into()));
        }
    }
    Ok(())
}

/// What to type to go on with a run that was stopped.
fn again(args: &RunArgs, folder: &Path) -> String {
    let mut typed = vec!["prdo".to_string(), "run".into(), args.file.display().to_string()];
    typed.extend(["--out".into(), folder.display().to_string()]);
    typed.extend(args.seed.into_iter().flat_map(|seed| ["--seed".into(), seed.to_string()]));
    typed.extend(args.set.iter().flat_map(|change| ["--set".into(), change.clone()]));
    typed.push("--resume".into());
    // As a shell takes it.
    let plain = |c: char| c.is_alphanumeric() || "-_=./,:+".contains(c);
    let word = |word: String| match word.chars().all(plain) && !word.is_empty() {
        true => word,
        false => format!("'{}'", word.replace('\'', "'\\''")),
    };
    typed.into_iter().map(word).collect::<Vec<_>>().join(" ")
}

/// The summary of the run in a folder, if it is finished (its report is made, should the process have been stopped
/// just before it was). A finished run with another run file than this one is refused.
pub fn finished(folder: &Folder, run_file: &str) -> Result<Option<Json>, Failure> {
    if !folder.is_finished() {
        return Ok(None);
    }
    let path = folder.path();
    let there = std::fs::read_to_string(path.join("run.toml")).unwrap_or_default();
    let differences = resolved::differences(run_file, &there);
    if !differences.is_empty() {
        let (shown, differ) = (path.display(), some(&differences));
        return Err(Failure::Input(format!(
            "{shown} holds a finished run with other settings ({differ}): choose another --out"
        )));
    }
    if !path.join("report.html").is_file() {
        let report = prdo::report::from_folder(path).map_err(Failure::Work)?;
        folder.write("report.html", report.html.as_bytes())?;
    }
    let text = std::fs::read_to_string(path.join("summary.json")).map_err(work("summary.json"))?;
    let summary =
        serde_json::from_str(&text).map_err(|e| Failure::Input(format!("summary.json is damaged: {e}")))?;
    Ok(Some(summary))
}

/// The first few differences.
fn some(differences: &[String]) -> String {
    const MOST: usize = 3;
    let mut shown = differences.iter().take(MOST).cloned().collect::<Vec<_>>().join("; ");
    if differences.len() > MOST {
        shown += &format!("; and {} more", differences.len() - MOST);
    }
    shown
}

/// Goes to where the folder's checkpoint is, if it has one: the rows measured up to there. `run_file` is what this run
/// would write as its `run.toml`.
pub fn restore(folder: &Folder, built: &mut Built, run_file: &str) -> Result<Vec<Row>, Failure> {
    let Some(bytes) = folder.checkpoint()? else { return Ok(Vec::new()) };
    let path = folder.path();
    built.prepared.training.restore(&built.fingerprint, &bytes).map_err(|error| {
        let state = path.join("checkpoint/state");
        let there = std::fs::read_to_string(path.join("run.toml"));
        let why = match (&error, there.map(|there| resolved::differences(run_file, &there))) {
            (CheckpointError::OtherRun, Ok(differences)) if differences.is_empty() => {
                ": the settings are the same, but the records, the graph's file or the version of prdo are not".into()
            }
            (CheckpointError::OtherRun, Ok(differences)) => format!(": {}", some(&differences)),
            _ => String::new(),
        };
        // Cells of tables come here too, which know no --overwrite.
        let first = if error == CheckpointError::OtherRun { "put that back to go on with it, " } else { "" };
        Failure::Input(format!(
            "{}: {error}{why}\n  = help: {first}train into another folder, or remove {} to begin again",
            state.display(),
            path.display()
        ))
    })?;
    let round = built.prepared.training.round();
    let text = std::fs::read_to_string(path.join("metrics.csv")).unwrap_or_default();
    let rows: Vec<Row> = parse_rows(&text).into_iter().take_while(|row| row.round <= round).collect();
    let due = round - round % built.prepared.schedule.every;
    if rows.last().is_none_or(|row| row.round < due) {
        return Err(Failure::Input(format!(
            "{} does not reach the checkpoint's round {round}: the folder is damaged",
            path.join("metrics.csv").display()
        )));
    }
    Ok(rows)
}

/// What became of a training.
pub struct Trained {
    /// Every row.
    pub rows: Vec<Row>,
    /// How long it took, all its pieces together.
    pub seconds: f64,
    /// Its summary; `None` when it was stopped before its end.
    pub summary: Option<Json>,
}

/// Trains a run in its folder, from where it is, to its end or until it is stopped (then there is a checkpoint).
pub fn train_in(
    folder: &Folder,
    document: &Document,
    built: &mut Built,
    kept: Vec<Row>,
    watch: Watch<'_>,
) -> Result<Trained, Failure> {
    folder.write("run.toml", resolved::to_toml(document, built).as_bytes())?;
    built.enter_statement(&document.text("name").unwrap_or_else(|| "run".into())).map_err(Failure::Work)?;
    let (started, before) = (Instant::now(), watch.before);
    let mut watcher = Watcher::new(folder, built, kept, watch)?;
    let elapsed = || before + started.elapsed();
    let summary = train_to_end(&mut watcher, folder, document, built, &elapsed);
    let round = built.prepared.training.round();
    match &summary {
        Ok(Some(_)) => watcher.live.end("finished", &format!("finished after round {round}")),
        Ok(None) => watcher.live.end("stopped", &format!("stopped after round {round}, with a checkpoint")),
        Err(failure) => watcher.live.end("failed", &failure.to_string()),
    }
    Ok(Trained { rows: watcher.rows, seconds: elapsed().as_secs_f64(), summary: summary? })
}

/// The summary, or nothing when it was stopped.
fn train_to_end(
    watcher: &mut Watcher<'_>,
    folder: &Folder,
    document: &Document,
    built: &mut Built,
    elapsed: &dyn Fn() -> Duration,
) -> Result<Option<Json>, Failure> {
    let schedule = built.prepared.schedule;
    let end = train(&mut *built.prepared.training, &schedule, watcher);
    watcher.progress.finish();
    watcher.live.last_look(&*built.prepared.training);
    let end = end.map_err(|e| Failure::from(prdo::error::RunError::from(e)))?;
    if let Some(failure) = watcher.failure.take() {
        return Err(failure);
    }
    match end {
        End::Finished => finish(folder, document, built, &watcher.rows, elapsed()).map(Some),
        End::Stopped => watcher.checkpoint(&*built.prepared.training).map(|()| None),
    }
}

/// Builds the run, with a bar while features are extracted.
pub fn built_with_bar(document: &Document) -> Result<Built, ConfigError> {
    let slow = Mutex::new(Some(Patience::new("reading the records and calibrating the noise …")));
    let bar: Mutex<Option<Progress>> = Mutex::new(None);
    build_showing(document, &|done, total| {
        // The bar says it from here on.
        slow.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        let mut bar = bar.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        bar.get_or_insert_with(|| Progress::new(total as u64, "images"))
            .at(done as u64, || "features".into());
        if done == total
            && let Some(mut bar) = bar.take()
        {
            bar.finish();
        }
    })
}

fn announce(built: &Built) {
    for warning in &built.warnings {
        tell(&format!("warning: {warning}"));
    }
    let facts = &built.prepared.facts;
    let privacy = match built.prepared.guarantee {
        Some(g) => {
            let epsilon = short(g.epsilon, 4);
            format!("ε = {epsilon} at δ = {:e}, noise multiplier {:.4}", g.delta, g.noise_multiplier)
        }
        None => "not private (ε = ∞)".to_string(),
    };
    tell(&format!("{} on {}", built.method.card().title, built.data));
    tell(&format!(
        "{} nodes, {} links, λ = {:.6}; {} parameters; {} rounds; {privacy}",
        facts.nodes, facts.links, facts.spectrum.lambda, facts.parameters, built.prepared.schedule.rounds
    ));
    if let Some(features) = &built.features {
        tell(&prdo::report::features_note(&features.description, &features.hash));
    }
    if let Some(NetworkFacts { spec, bytes, .. }) = &built.network {
        describe(spec, built.batch.1, *bytes).iter().for_each(|line| tell(line));
    }
    if let Some(note) = measured_note(facts.measured_records as u64, facts.records as u64) {
        tell(&note);
    }
    if let Some(g) = built.prepared.guarantee {
        let least = facts.least_records;
        tell(&format!("smallest node: {least} records, each drawn with probability {:.3} a round", g.rate));
    }
    if let Some(names) = &built.node_names {
        tell(&holders(names, &built.prepared.node_records));
    }
    tell("seeded simulation: not private against anyone who knows the seed");
}

/// The nodes by name, each with its records.
fn holders(names: &[String], records: &[usize]) -> String {
    /// More are counted.
    const MOST: usize = 20;
    let each = names.iter().zip(records).take(MOST).map(|(name, count)| format!("{name} {count}"));
    let more = names.len().saturating_sub(MOST);
    let more = if more > 0 { format!(", and {more} more nodes") } else { String::new() };
    format!("records to train on: {}{more}", each.collect::<Vec<_>>().join(", "))
}

/// Writes the model, the summary and the report.
fn finish(
    folder: &Folder,
    document: &Document,
    built: &Built,
    rows: &[Row],
    elapsed: Duration,
) -> Result<Json, Failure> {
    let slow = Patience::new("measuring every node's own model …");
    let results = Results::of(document, built, rows, elapsed)?;
    drop(slow);
    if let Some(worry) = worries(rows, built.common_class) {
        tell(&format!("warning: {worry}"));
    }
    results.write(folder)?;
    Ok(results.summary)
}

/// Prints a summary, for people or for programs.
fn show(summary: &Json, folder: &Path, json: bool) {
    if json { say(&summary.to_string()) } else { print_summary(summary, folder) }
}

fn print_summary(summary: &Json, folder: &Path) {
    let number = |key: &str| summary[key].as_f64();
    // A summary has no number where there was NaN or ∞: the model ran away, whichever it was.
    let size = |key: &str, shown: fn(f64) -> String| number(key).map_or("∞".to_string(), shown);
    say(&format!(
        "done: loss {}, gradient norm {} after {} rounds in {:.2} s",
        size("loss", |loss| format!("{loss:.6}")),
        size("grad_norm", |norm| format!("{norm:.3e}")),
        summary["rounds"],
        number("seconds").unwrap_or(0.0)
    ));
    let records = (summary["measured_records"].as_u64(), summary["records"].as_u64());
    if let Some(note) = records.0.zip(records.1).and_then(|(part, all)| measured_note(part, all)) {
        say(&note);
    }
    if let Some(accuracy) = number("test_accuracy") {
        let own = number("lowest_node_accuracy").unwrap_or(accuracy);
        let lowest = summary["lowest_node"].as_u64().and_then(|node| usize::try_from(node).ok());
        let name = lowest.and_then(|node| summary["node_names"].get(node)?.as_str());
        say(&format!(
            "test accuracy {:.2} % (average model); worst node's own {:.2} %{}",
            100.0 * accuracy,
            100.0 * own,
            name.map_or(String::new(), |name| format!(" ({name})"))
        ));
        let common = number("most_common_class")
            .map(|share| format!("always the most common class: {:.2} %", 100.0 * share));
        let auc = number("test_auc").map(|auc| format!("area under the ROC curve (AUC): {auc:.4}"));
        let beside: Vec<String> = common.into_iter().chain(auc).collect();
        if !beside.is_empty() {
            say(&beside.join("; "));
        }
        let of_chance = number("most_common_class").zip(number("test_records"));
        if let Some(line) = of_chance.and_then(|(common, records)| maybe_chance(accuracy, common, records)) {
            say(&line);
        }
    }
    match (number("epsilon_spent"), number("delta")) {
        (Some(epsilon), Some(delta)) => say(&format!(
            "privacy: ε = {} at δ = {delta:e} for every record (seeded simulation: not private)",
            short(epsilon, 4)
        )),
        _ => say("privacy: none (ε = ∞)"),
    }
    if let Some(count) = summary["non_finite_records"].as_u64().filter(|c| *c > 0) {
        say(&format!("{count} record contributions were not finite and counted as zero"));
    }
    say(&format!("report: {}", folder.join("report.html").display()));
}

/// What to say of an accuracy that is above that of the most common class by no more than chance may give: 95 % of
/// accuracies on so many records lie so near to the true one.
fn maybe_chance(accuracy: f64, common: f64, records: f64) -> Option<String> {
    let margin = 1.96 * (accuracy * (1.0 - accuracy) / records).sqrt();
    let above = accuracy - common;
    (above > 0.0 && above < margin).then(|| {
        format!(
            "{:.2} points above it may be chance: on {records} test records accuracies are sure to ± {:.2} points",
            100.0 * above,
            100.0 * margin
        )
    })
}

#[cfg(test)]
mod tests {
    use super::maybe_chance;

    #[test]
    fn a_small_lead_on_few_records_is_called_chance() {
        let said = maybe_chance(0.79, 0.77625, 800.0).unwrap_or_default();
        assert!(
            said.starts_with("1.38 points above it may be chance") && said.ends_with("± 2.82 points"),
            "{said}"
        );
        for (accuracy, common, records) in [(0.79, 0.77625, 80_000.0), (0.77, 0.78, 800.0), (1.0, 0.5, 10.0)]
        {
            assert_eq!(maybe_chance(accuracy, common, records), None);
        }
    }
}
