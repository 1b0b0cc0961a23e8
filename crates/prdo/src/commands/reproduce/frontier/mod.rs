//! What accuracy a privacy budget buys: softmax regression on fixed features against ε, on three sets of images, beside
//! the paper's network. Filled run by run, in as many pieces as one likes.
//!
//! `plan` is what was asked for, `setting` what a run is, `settings.csv` the settings that were chosen on validation
//! records, `results` the file that remembers runs, `points` their means over seeds, `page` shows what there is.

mod page;
mod plan;
mod points;
mod results;
mod setting;

use crate::cli::frontier::FrontierArgs;
use crate::commands::run::{built_with_bar, finished, restore, train_in};
use crate::commands::watch::{Stop, Watch};
use crate::commands::{Failure, compare, set_threads};
use crate::progress::{say, tell};
use plan::Plan;
use points::Point;
use prdo::config::{Document, resolved};
use prdo::output::{Folder, FolderError, time_before};
use results::{Cell, FILE, Results};
use serde_json::{Value as Json, json};
use setting::Key;
use std::time::Duration;

/// A run takes seconds: this is for those on slow machines.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(60);

pub fn run(args: &FrontierArgs) -> Result<(), Failure> {
    set_threads(args.threads)?;
    let plan = Plan::new(args)?;
    plan.skipped.iter().for_each(|line| tell(line));
    let results = Results::read(&plan.out)?;
    if args.table_only && results.cells.is_empty() {
        return Err(Failure::Input(format!("--table-only: {} holds no results", plan.out.display())));
    }
    let stopped = !args.table_only && fill(&plan, &results)?;
    let results = Results::read(&plan.out)?;
    page::write(&plan, &results)?;
    if stopped {
        tell(&format!("stopped; go on with: {}", plan.command()));
        return Err(Failure::Work("interrupted".into()));
    }
    show(&plan, &results, args.json);
    Ok(())
}

/// What became of a run.
enum Fate {
    Finished(Json),
    /// Another process is at it.
    Elsewhere,
    Stopped,
}

/// Trains what is not there yet, one run after the other; whether it was stopped.
fn fill(plan: &Plan, results: &Results) -> Result<bool, Failure> {
    let all = plan.keys();
    let left: Vec<Key> = all.iter().filter(|key| results.find(key).is_none()).copied().collect();
    if left.is_empty() {
        tell("every run is finished already");
        return Ok(false);
    }
    // Someone else's folder is refused before a run is put into it.
    drop(Folder::wait(&plan.out, FILE)?);
    tell("seeded simulation: not private against anyone who knows the seed");
    let stop = Stop::listen()?;
    for (k, key) in left.iter().enumerate() {
        let label = format!("run {} of {}: {}  ", all.len() - left.len() + k + 1, all.len(), key.title());
        match train(plan, key, label, &stop)? {
            Fate::Finished(summary) => record(plan, Cell::of(key, &summary)?)?,
            Fate::Elsewhere => tell(&format!("{}: another prdo process is at it", key.title())),
            Fate::Stopped => return Ok(true),
        }
    }
    Ok(false)
}

/// One ordinary run in a folder of its own, gone on with where it was left.
fn train(plan: &Plan, key: &Key, label: String, stop: &Stop) -> Result<Fate, Failure> {
    let folder = match Folder::open(&plan.out.join("runs").join(key.folder())) {
        Err(FolderError::InUse { .. }) => return Ok(Fate::Elsewhere),
        opened => opened?,
    };
    let document = Document::parse(&key.folder(), &key.run_file(&plan.data(key.data)?))?;
    let mut built = built_with_bar(&document)?;
    let run_file = resolved::to_toml(&document, &built);
    if let Some(summary) = finished(&folder, &run_file)? {
        return Ok(Fate::Finished(summary));
    }
    let kept = restore(&folder, &mut built, &run_file)?;
    let watch = Watch {
        stop: stop.clone(),
        checkpoint_every: CHECKPOINT_EVERY,
        label,
        before: if kept.is_empty() { Duration::ZERO } else { time_before(folder.path()) },
        again: plan.command(),
        checkpointed: Box::new(|_, _| Ok(())),
        tensorboard: false,
    };
    let trained = train_in(&folder, &document, &mut built, kept, watch)?;
    Ok(trained.summary.map_or(Fate::Stopped, Fate::Finished))
}

/// Changes the results file: read, changed and written while no other process does.
fn record(plan: &Plan, cell: Cell) -> Result<(), Failure> {
    let folder = Folder::wait(&plan.out, FILE)?;
    let mut results = Results::read(&plan.out)?;
    results.put(cell);
    folder.write(FILE, results.to_text().as_bytes())?;
    Ok(())
}

/// The tables, or the JSON object.
fn show(plan: &Plan, results: &Results, json: bool) {
    let points = Point::all(results);
    let left = plan.keys().iter().filter(|key| results.find(key).is_none()).count();
    if json {
        let points: Vec<Json> = points.iter().map(Point::to_json).collect();
        say(&json!({"points": points, "unfinished": left}).to_string());
        return;
    }
    for table in page::tables(&points) {
        say(&table.title);
        say("");
        compare::print_table(&table.head.iter().map(String::as_str).collect::<Vec<_>>(), &table.rows);
        say("");
        table.verdict.iter().for_each(|line| say(line));
        say("");
    }
    say(page::CAPTION);
    say(&format!("report: {}", plan.out.join("report.html").display()));
    if left > 0 {
        say(&format!("to go on: {}", plan.command()));
    }
}
