//! `prdo run`: trains what a run file describes, into a folder, with checkpoints.

use super::{Failure, use_threads, work};
use crate::cli::RunArgs;
use crate::progress::{Progress, say, tell};
use prdo::config::{Built, Document, build, resolved};
use prdo::output::{
    Folder, MetricsFile, format_moments, format_row, header, moments_header, parse_rows, write_models,
};
use prdo::simulator::{End, Moments, Observer, Row, Training, train};
use serde_json::{Value as Json, json};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

pub fn run(args: &RunArgs) -> Result<(), Failure> {
    use_threads(&args.out)?;
    if !(args.checkpoint_every.is_finite() && args.checkpoint_every >= 0.0) {
        return Err(Failure::Input("--checkpoint-every must be a number of seconds of at least 0".into()));
    }
    let mut document = Document::read(&args.file)?;
    for assignment in &args.set {
        document.set(assignment)?;
    }
    if let Some(seed) = args.seed {
        document.set(&format!("seed={seed}"))?;
    }
    let mut built = build(&document)?;
    let name = document.text("name").unwrap_or_else(|| "run".into());
    if args.resume && already_finished(args, &resolved::to_toml(&document, &built))? {
        return Ok(());
    }
    let (folder, kept) = open_folder(args, &name, &mut built)?;
    folder.write("run.toml", resolved::to_toml(&document, &built).as_bytes())?;
    announce(&built);
    built.enter_statement(&name).map_err(Failure::Work)?;

    let started = Instant::now();
    let mut watcher = Watcher::new(&folder, &built, kept, args.checkpoint_every)?;
    let schedule = built.prepared.schedule;
    let end = train(&mut *built.prepared.training, &schedule, &mut watcher);
    watcher.progress.finish();
    let end = end.map_err(|e| Failure::from(prdo::error::RunError::from(e)))?;
    if let Some(failure) = watcher.failure.take() {
        return Err(failure);
    }
    if end == End::Stopped {
        watcher.checkpoint(&*built.prepared.training)?;
        tell(&format!(
            "stopped after round {} of {}; go on with: prdo run {} --out {} --resume",
            built.prepared.training.round(),
            schedule.rounds,
            args.file.display(),
            folder.path().display()
        ));
        return Err(Failure::Work("interrupted".into()));
    }
    let summary = finish(&folder, &document, &built, &watcher.rows, started.elapsed())?;
    if args.out.json {
        say(&summary.to_string());
    } else {
        print_summary(&summary, folder.path());
    }
    Ok(())
}

/// Whether --resume finds this very run finished: then its summary is shown again (and its report made, should
/// the process have been stopped just before it was).
fn already_finished(args: &RunArgs, run_file: &str) -> Result<bool, Failure> {
    let path = args.out.out.as_deref().unwrap_or(Path::new("."));
    let folder = Folder::resume(path)?;
    if !folder.is_finished() {
        return Ok(false);
    }
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
    let summary: Json =
        serde_json::from_str(&text).map_err(|e| Failure::Input(format!("summary.json is damaged: {e}")))?;
    tell("this run is finished already");
    if args.out.json {
        say(&summary.to_string())
    } else {
        print_summary(&summary, path)
    }
    Ok(true)
}

/// The folder, new or resumed, and the rows already measured.
fn open_folder(args: &RunArgs, name: &str, built: &mut Built) -> Result<(Folder, Vec<Row>), Failure> {
    if !args.resume {
        return Ok((Folder::create(args.out.out.as_deref(), name, args.out.overwrite)?, Vec::new()));
    }
    let path = args.out.out.as_deref().unwrap_or(Path::new("."));
    let folder = Folder::resume(path)?;
    let Some(bytes) = folder.checkpoint()? else {
        tell("no checkpoint was written yet: starting from the beginning");
        return Ok((folder, Vec::new()));
    };
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
    tell(&format!("resuming after round {round}"));
    Ok((folder, rows))
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

/// Writes metrics and checkpoints while training goes on, and stops it on Ctrl-C.
struct Watcher<'a> {
    folder: &'a Folder,
    fingerprint: [u8; 32],
    metrics: MetricsFile,
    moments: Option<MetricsFile>,
    rows: Vec<Row>,
    progress: Progress,
    stop: Arc<AtomicBool>,
    checkpoint_every: Duration,
    last_checkpoint: Instant,
    failure: Option<Failure>,
}

impl<'a> Watcher<'a> {
    fn new(folder: &'a Folder, built: &Built, kept: Vec<Row>, seconds: f64) -> Result<Self, Failure> {
        let lines: Vec<String> = std::iter::once(header()).chain(kept.iter().map(format_row)).collect();
        let metrics = MetricsFile::create(&folder.path().join("metrics.csv"), &lines)?;
        let schedule = built.prepared.schedule;
        let moments = match schedule.moments {
            true => Some(reopen_moments(folder, built.prepared.training.round())?),
            false => None,
        };
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        // A second Ctrl-C ends the process at once; the last checkpoint is still whole.
        let handler = move || {
            if flag.swap(true, Ordering::SeqCst) {
                std::process::exit(130);
            }
        };
        ctrlc::set_handler(handler).map_err(|e| Failure::Work(format!("cannot listen for Ctrl-C: {e}")))?;
        Ok(Self {
            folder,
            fingerprint: built.fingerprint,
            metrics,
            moments,
            rows: kept,
            progress: Progress::new(u64::from(schedule.rounds), "rounds"),
            stop,
            checkpoint_every: Duration::from_secs_f64(seconds),
            last_checkpoint: Instant::now(),
            failure: None,
        })
    }

    fn checkpoint(&mut self, training: &dyn Training) -> Result<(), Failure> {
        self.metrics.sync().map_err(work("metrics.csv"))?;
        if let Some(moments) = &self.moments {
            moments.sync().map_err(work("moments.csv"))?;
        }
        self.folder.write("checkpoint/state", &training.save(&self.fingerprint))?;
        self.last_checkpoint = Instant::now();
        Ok(())
    }

    fn keep(&mut self, result: Result<(), Failure>) -> ControlFlow<()> {
        match result {
            Ok(()) => ControlFlow::Continue(()),
            Err(failure) => {
                self.failure = Some(failure);
                ControlFlow::Break(())
            }
        }
    }
}

/// `moments.csv` with its lines before `round`, ready for more.
fn reopen_moments(folder: &Folder, round: u32) -> Result<MetricsFile, Failure> {
    let path = folder.path().join("moments.csv");
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    let mut lines = vec![moments_header().to_string()];
    let before =
        |line: &&str| line.split(',').next().and_then(|r| r.parse().ok()).is_some_and(|r: u32| r < round);
    lines.extend(text.lines().skip(1).filter(before).map(String::from));
    Ok(MetricsFile::create(&path, &lines)?)
}

impl Observer for Watcher<'_> {
    fn row(&mut self, row: &Row) -> ControlFlow<()> {
        self.rows.push(*row);
        let result = self.metrics.append(&format_row(row)).map_err(work("metrics.csv"));
        self.keep(result)
    }

    fn moments(&mut self, moments: &Moments) {
        if let Some(Err(error)) = self.moments.as_mut().map(|file| file.append(&format_moments(moments))) {
            self.failure = Some(work("moments.csv")(error));
        }
    }

    fn round(&mut self, training: &dyn Training) -> ControlFlow<()> {
        let rows = &self.rows;
        self.progress.at(u64::from(training.round()), || {
            let last = rows.last();
            let accuracy =
                last.and_then(|r| r.test_accuracy).map(|a| format!("accuracy {:.1} %  ", 100.0 * a));
            let epsilon = training.epsilon_spent().map(|e| format!("ε {e:.3}"));
            let norm = last.map_or(f64::NAN, |r| r.grad_norm);
            format!("‖∇f‖ {norm:.2e}  {}{}", accuracy.unwrap_or_default(), epsilon.unwrap_or_default())
        });
        if self.failure.is_some() || self.stop.load(Ordering::SeqCst) {
            return ControlFlow::Break(());
        }
        if self.last_checkpoint.elapsed() >= self.checkpoint_every {
            let result = self.checkpoint(training);
            return self.keep(result);
        }
        ControlFlow::Continue(())
    }
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
    let models = write_models(&training.average(), &training.models())
        .map_err(|e| Failure::Work(format!("model.safetensors: {e}")))?;
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
        "parameters": facts.parameters,
        "lambda": facts.spectrum.lambda,
        "data": built.data,
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

fn print_summary(summary: &Json, folder: &Path) {
    let number = |key: &str| summary[key].as_f64();
    say(&format!(
        "done: loss {:.6}, gradient norm {:.3e} after {} rounds in {:.2} s",
        number("loss").unwrap_or(f64::NAN),
        number("grad_norm").unwrap_or(f64::NAN),
        summary["rounds"],
        number("seconds").unwrap_or(0.0)
    ));
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
