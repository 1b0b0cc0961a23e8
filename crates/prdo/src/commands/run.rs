//! `prdo run`: trains what a run file describes, into a folder, with checkpoints.

use super::watch::{Stop, Watch, Watcher, checkpoint_interval};
use super::{Failure, use_threads, work};
use crate::cli::RunArgs;
use crate::progress::{Progress, say, tell};
use prdo::config::{Built, ConfigError, Document, NetworkFacts, build_showing, resolved};
use prdo::output::{Folder, parse_rows, write_models, write_network};
use prdo::report::{describe, measured_note};
use prdo::simulator::{End, Row, train};
use serde_json::{Value as Json, json};
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

pub fn run(args: &RunArgs) -> Result<(), Failure> {
    use_threads(&args.out)?;
    let checkpoint_every = checkpoint_interval(args.checkpoint_every)?;
    let mut document = Document::read(&args.file)?;
    for assignment in &args.set {
        document.set(assignment)?;
    }
    if let Some(seed) = args.seed {
        document.set(&format!("seed={seed}"))?;
    }
    let mut built = built_with_bar(&document)?;
    let name = document.text("name").unwrap_or_else(|| "run".into());
    let folder = match args.resume {
        false => Folder::create(args.out.out.as_deref(), &name, args.out.overwrite)?,
        true => Folder::resume(args.out.out.as_deref().unwrap_or(Path::new(".")))?,
    };
    if let Some(summary) = finished(&folder, &resolved::to_toml(&document, &built))? {
        tell("this run is finished already");
        show(&summary, folder.path(), args.out.json);
        return Ok(());
    }
    let kept = restore(&folder, &mut built)?;
    match (args.resume, kept.last()) {
        (true, Some(_)) => tell(&format!("resuming after round {}", built.prepared.training.round())),
        (true, None) => tell("no checkpoint was written yet: starting from the beginning"),
        (false, _) => {}
    }
    announce(&built);
    let watch = Watch {
        stop: Stop::listen()?,
        checkpoint_every,
        label: String::new(),
        before: Duration::ZERO,
        checkpointed: Box::new(|_, _| Ok(())),
    };
    match train_in(&folder, &document, &mut built, kept, watch)?.summary {
        Some(summary) => show(&summary, folder.path(), args.out.json),
        None => {
            tell(&format!(
                "stopped after round {} of {}; go on with: prdo run {} --out {} --resume",
                built.prepared.training.round(),
                built.prepared.schedule.rounds,
                args.file.display(),
                folder.path().display()
            ));
            return Err(Failure::Work("interrupted".into()));
        }
    }
    Ok(())
}

/// The summary of the run in a folder, if it is finished (its report is made, should the process have been stopped
/// just before it was). A finished run with another run file than this one is refused.
pub fn finished(folder: &Folder, run_file: &str) -> Result<Option<Json>, Failure> {
    if !folder.is_finished() {
        return Ok(None);
    }
    let path = folder.path();
    if std::fs::read_to_string(path.join("run.toml")).unwrap_or_default() != run_file {
        let shown = path.display();
        return Err(Failure::Input(format!(
            "{shown} holds a finished run with other settings: choose another --out"
        )));
    }
    if !path.join("report.html").is_file() {
        let html = prdo::report::from_folder(path).map_err(Failure::Work)?;
        folder.write("report.html", html.as_bytes())?;
    }
    let text = std::fs::read_to_string(path.join("summary.json")).map_err(work("summary.json"))?;
    let summary =
        serde_json::from_str(&text).map_err(|e| Failure::Input(format!("summary.json is damaged: {e}")))?;
    Ok(Some(summary))
}

/// Goes to where the folder's checkpoint is, if it has one: the rows measured up to there.
pub fn restore(folder: &Folder, built: &mut Built) -> Result<Vec<Row>, Failure> {
    let Some(bytes) = folder.checkpoint()? else { return Ok(Vec::new()) };
    let path = folder.path();
    built
        .prepared
        .training
        .restore(&built.fingerprint, &bytes)
        .map_err(|e| Failure::Input(format!("{}: {e}", path.join("checkpoint/state").display())))?;
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
    let schedule = built.prepared.schedule;
    let end = train(&mut *built.prepared.training, &schedule, &mut watcher);
    watcher.progress.finish();
    let end = end.map_err(|e| Failure::from(prdo::error::RunError::from(e)))?;
    if let Some(failure) = watcher.failure.take() {
        return Err(failure);
    }
    let elapsed = || before + started.elapsed();
    let summary = match end {
        End::Finished => Some(finish(folder, document, built, &watcher.rows, elapsed())?),
        End::Stopped => {
            watcher.checkpoint(&*built.prepared.training)?;
            None
        }
    };
    Ok(Trained { rows: watcher.rows, seconds: elapsed().as_secs_f64(), summary })
}

/// Builds the run, with a bar while features are extracted.
fn built_with_bar(document: &Document) -> Result<Built, ConfigError> {
    let bar: Mutex<Option<Progress>> = Mutex::new(None);
    build_showing(document, &|done, total| {
        let mut bar = bar.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        bar.get_or_insert_with(|| Progress::new(total as u64, "images"))
            .at(done as u64, || "features".into());
        if done == total
            && let Some(bar) = bar.take()
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
            format!("ε = {:.4} at δ = {:e}, noise multiplier {:.4}", g.epsilon, g.delta, g.noise_multiplier)
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
    tell("seeded simulation: not private against anyone who knows the seed");
}

/// What should worry whoever looks at these figures.
fn worries(rows: &[Row]) -> Option<String> {
    let (first, last) = (rows.first()?, rows.last()?);
    (last.round > 0 && last.loss >= first.loss).then(|| {
        format!(
            "the model did not learn: its loss is {:.3} after {} rounds and was {:.3} at the start; the noise or the \
             features' scale dominates. Centre and scale the features by limits you know (to about -1 … 1), or use \
             fewer rounds, a smaller step size, more records or a larger ε",
            last.loss, last.round, first.loss
        )
    })
}

/// Writes the model, the summary and the report; the summary last, because it marks the run as finished.
fn finish(
    folder: &Folder,
    document: &Document,
    built: &Built,
    rows: &[Row],
    elapsed: Duration,
) -> Result<Json, Failure> {
    let training = &*built.prepared.training;
    let (average, nodes) = (training.average(), training.models());
    let models = match &built.network {
        Some(network) => write_network(&network.spec, &average, &nodes, true).map_err(|e| e.to_string()),
        None => write_models(&average, &nodes).map_err(|e| e.to_string()),
    };
    let models = models.map_err(|e| Failure::Work(format!("model.safetensors: {e}")))?;
    folder.write("model.safetensors", &models)?;
    let summary = summary(document, built, rows, elapsed);
    if let Some(worry) = worries(rows) {
        tell(&format!("warning: {worry}"));
    }
    folder.write("summary.json", format!("{summary:#}\n").as_bytes())?;
    let html = prdo::report::from_folder(folder.path()).map_err(Failure::Work)?;
    folder.write("report.html", html.as_bytes())?;
    let checkpoint = folder.path().join("checkpoint");
    if checkpoint.is_dir() {
        std::fs::remove_dir_all(&checkpoint).map_err(work("cannot remove the checkpoint"))?;
    }
    Ok(summary)
}

fn summary(document: &Document, built: &Built, rows: &[Row], elapsed: Duration) -> Json {
    let (training, facts) = (&*built.prepared.training, &built.prepared.facts);
    let last = rows.last();
    let guarantee = built.prepared.guarantee;
    let validation = built.validation.as_ref().and_then(|accuracy| accuracy(&training.average()));
    let lowest_own = built.prepared.node_accuracy().into_iter().reduce(f64::min);
    json!({
        "finished": true,
        "name": document.text("name"),
        "method": built.method.card().name,
        "rounds": training.round(),
        "nodes": facts.nodes,
        "records": facts.records,
        "measured_records": facts.measured_records,
        "parameters": facts.parameters,
        "lambda": facts.spectrum.lambda,
        "data": built.data,
        "features": built.features.as_ref().map(|f| json!({"description": f.description, "hash": f.hash})),
        "private": guarantee.is_some(),
        "simulation": true,
        "epsilon": guarantee.map(|g| g.epsilon),
        "epsilon_spent": last.and_then(|r| r.epsilon_spent),
        "delta": guarantee.map(|g| g.delta),
        "noise_multiplier": guarantee.map(|g| g.noise_multiplier),
        "accountant": guarantee.map(|g| g.accounting.name()),
        "loss": last.map(|r| r.loss),
        "grad_norm": last.map(|r| r.grad_norm),
        "consensus_error": last.map(|r| r.consensus_error),
        "test_accuracy": last.and_then(|r| r.test_accuracy),
        "lowest_node_accuracy": lowest_own,
        "validation_accuracy": validation,
        "bytes_sent": last.map(|r| r.bytes_sent),
        "gradient_evaluations": last.map(|r| r.gradient_evaluations),
        "non_finite_records": training.non_finite(),
        "class_counts": built.class_counts.as_ref().filter(|counts| counts.len() <= 1000),
        "class_names": built.class_names,
        "warnings": built.warnings.iter().cloned().chain(worries(rows)).collect::<Vec<_>>(),
        "seconds": elapsed.as_secs_f64(),
    })
}

/// Prints a summary, for people or for programs.
fn show(summary: &Json, folder: &Path, json: bool) {
    if json { say(&summary.to_string()) } else { print_summary(summary, folder) }
}

fn print_summary(summary: &Json, folder: &Path) {
    let number = |key: &str| summary[key].as_f64();
    say(&format!(
        "done: loss {:.6}, gradient norm {:.3e} after {} rounds in {:.2} s",
        number("loss").unwrap_or(f64::NAN),
        number("grad_norm").unwrap_or(f64::NAN),
        summary["rounds"],
        number("seconds").unwrap_or(0.0)
    ));
    let records = (summary["measured_records"].as_u64(), summary["records"].as_u64());
    if let Some(note) = records.0.zip(records.1).and_then(|(part, all)| measured_note(part, all)) {
        say(&note);
    }
    if let Some(accuracy) = number("test_accuracy") {
        let own = number("lowest_node_accuracy").unwrap_or(accuracy);
        say(&format!(
            "test accuracy {:.2} % (average model); worst node's own {:.2} %",
            100.0 * accuracy,
            100.0 * own
        ));
    }
    match (number("epsilon_spent"), number("delta")) {
        (Some(epsilon), Some(delta)) => say(&format!(
            "privacy: ε = {epsilon:.4} at δ = {delta:e} for every record (seeded simulation: not private)"
        )),
        _ => say("privacy: none (ε = ∞)"),
    }
    if let Some(count) = summary["non_finite_records"].as_u64().filter(|c| *c > 0) {
        say(&format!("{count} record contributions were not finite and counted as zero"));
    }
    say(&format!("report: {}", folder.join("report.html").display()));
}
