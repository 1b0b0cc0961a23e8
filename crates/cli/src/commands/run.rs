//! `prdo run`: trains what a run file describes, into a folder, with checkpoints.

use super::dashboard::{self, Window};
use super::table::print_table;
use super::watch::{Bar, Stop, checkpoint_interval};
use super::{Failure, read_run_file, shell_word, use_threads};
use crate::cli::RunArgs;
use crate::progress::{Patience, Progress, say, tell, warn};
use prdo::budget::words::short;
use prdo::build::{Built, NetworkFacts, build_showing};
use prdo::report::against::{self, against};
use prdo::report::{describe, measured_note};
use prdo::runfile::{ConfigError, Document};
use prdo::store::{Folder, PairFacts, Summary, artefact, names};
use prdo::trainer::{Opened, Options, Trainer};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

pub fn run(args: &RunArgs) -> Result<(), Failure> {
    use_threads(args.out.threads)?;
    let checkpoint_every = checkpoint_interval(args.checkpoint_every)?;
    let mut document = read_run_file(&args.file, &args.set)?;
    if let Some(seed) = args.seed {
        document.set(&format!("seed={seed}"))?;
    }
    let mut built = built_with_bar(&document)?;
    let port = dashboard::port(&args.watch)?;
    let name = document.name();
    let folder = match args.resume {
        false => Folder::create(args.out.out.as_deref(), &name, args.out.overwrite)?,
        true => Folder::resume(args.out.out.as_deref().unwrap_or(Path::new(".")))?,
    };
    let trainer = match Trainer::open(&folder, &document, &mut built)? {
        Opened::Finished(summary) => {
            tell("this run is already finished");
            show(&summary, folder.path(), args.out.json);
            return Ok(());
        }
        Opened::Unfinished(trainer) => trainer,
    };
    match (args.resume, trainer.stage()) {
        (true, stage) if stage.rows.is_empty() => {
            tell("no checkpoint yet: starting from the beginning");
        }
        (true, stage) => tell(&format!("resuming after round {}", stage.round)),
        (false, _) => {}
    }
    trainer.built().into_iter().for_each(announce);
    let window = Window::open(port, folder.path())?;
    let stop = Stop::listen()?;
    let result = train_and_show(args, &folder, trainer, checkpoint_every, &stop);
    window.close(result, &stop, args.out.json)
}

fn train_and_show(
    args: &RunArgs,
    folder: &Folder,
    trainer: Trainer<'_>,
    checkpoint_every: Duration,
    stop: &Stop,
) -> Result<(), Failure> {
    let options = Options {
        stop: &|| stop.asked(),
        checkpoint_every: Some(checkpoint_every),
        again: again(args, folder.path()),
        tensorboard: args.tensorboard,
        results: true,
    };
    let rounds = trainer.prepared().schedule.rounds;
    let mut bar = Bar::new(String::new(), rounds, trainer.stage().round);
    let trained = trainer.train(&options, &mut bar)?;
    match trained.results {
        Some(results) => {
            show(&results.summary, folder.path(), args.out.json);
            Ok(())
        }
        None => {
            let (done, again) = (trained.round, options.again);
            tell(&format!("stopped after round {done} of {rounds}; resume with: {again}"));
            Err(Failure::Work("interrupted".into()))
        }
    }
}

/// What to type to resume a run that was stopped.
fn again(args: &RunArgs, folder: &Path) -> String {
    let mut typed = vec!["prdo".to_string(), "run".into(), args.file.display().to_string()];
    typed.extend(["--out".into(), folder.display().to_string()]);
    typed.extend(args.seed.into_iter().flat_map(|seed| ["--seed".into(), seed.to_string()]));
    typed.extend(args.set.iter().flat_map(|change| ["--set".into(), change.clone()]));
    typed.push("--resume".into());
    typed.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ")
}

/// Builds the run, with a bar while features are extracted.
pub fn built_with_bar(document: &Document) -> Result<Built, ConfigError> {
    let slow = Mutex::new(Some(Patience::new("reading the records and calibrating the noise …")));
    let bar: Mutex<Option<Progress>> = Mutex::new(None);
    build_showing(document, &|done, total| {
        // The bar says it from here on.
        slow.lock().unwrap_or_else(PoisonError::into_inner).take();
        let mut bar = bar.lock().unwrap_or_else(PoisonError::into_inner);
        bar.get_or_insert_with(|| Progress::new(total as u64, "images"))
            .at(done as u64, || "features".into());
        if done == total {
            bar.take();
        }
    })
}

fn announce(built: &Built) {
    warn(&built.warnings);
    let facts = &built.prepared.facts;
    let privacy = match built.prepared.guarantee {
        Some(g) => {
            let epsilon = short(g.epsilon, 4);
            let noise = noise(g.noise_multiplier, built.prepared.pairs.as_ref());
            format!("ε = {epsilon} at δ = {:e}, {noise}", g.delta)
        }
        None => "not private (ε = ∞)".to_string(),
    };
    tell(&format!("{} on {}", built.method.card().title, built.data));
    tell(&format!(
        "{} nodes, {} links, λ = {:.6}; {} parameters; {} rounds; {privacy}",
        facts.nodes, facts.links, facts.spectrum.lambda, facts.parameters, built.prepared.schedule.rounds
    ));
    if let Some(features) = &built.features {
        tell(&prdo::report::features_note(features.map, &features.description.to_string(), &features.hash));
    }
    if let Some(NetworkFacts { spec, bytes, .. }) = &built.network {
        describe(spec, built.batch.1, *bytes).iter().for_each(|line| tell(line));
    }
    if let Some(note) = measured_note(facts.measured_records as u64, facts.records as u64) {
        tell(&note);
    }
    if let Some(g) = built.prepared.guarantee {
        let least = facts.least_records;
        tell(&format!("smallest node: {least} records, each drawn with probability {:.3} per round", g.rate));
    }
    if let Some(names) = &built.node_names {
        tell(&holders(names, &built.prepared.node_records));
    }
    tell("seeded simulation: not private against anyone who knows the seed");
}

/// The noise, and against whom it is where that is not everybody.
fn noise(multiplier: f64, pairs: Option<&PairFacts>) -> String {
    let Some(pairs) = pairs else { return format!("noise multiplier {multiplier:.4}") };
    format!(
        "against {}; noise in pairs: multipliers {:.4} (own) and {:.4} (shares), worth {multiplier:.4}",
        against(pairs.colluders),
        pairs.own_multiplier,
        pairs.pair_multiplier
    )
}

/// What coalitions of every size learn.
fn say_coalitions(pairs: &PairFacts) {
    print_table(&against::HEAD, &against::rows(pairs));
    say(against::EACH_ROW);
    say(against::PSEUDO_RANDOM);
}

fn holders(names: &[String], records: &[usize]) -> String {
    /// More are counted.
    const MOST: usize = 20;
    let each = names.iter().zip(records).take(MOST).map(|(name, count)| format!("{name} {count}"));
    let more = names.len().saturating_sub(MOST);
    let more = if more > 0 { format!(", and {more} more nodes") } else { String::new() };
    format!("records to train on: {}{more}", each.collect::<Vec<_>>().join(", "))
}

fn show(summary: &Summary, folder: &Path, json: bool) {
    if json { say(&artefact::line(summary)) } else { print_summary(summary, folder) }
}

fn print_summary(summary: &Summary, folder: &Path) {
    // A summary has no number where there was NaN or ∞: training diverged, whichever it was.
    let size = |value: Option<f64>, shown: fn(f64) -> String| value.map_or("∞".to_string(), shown);
    say(&format!(
        "done: loss {}, gradient norm {} after {} rounds in {:.2} s",
        size(summary.loss, |loss| format!("{loss:.6}")),
        size(summary.grad_norm, |norm| format!("{norm:.3e}")),
        summary.rounds.unwrap_or(0),
        summary.seconds.unwrap_or(0.0)
    ));
    let records = (summary.measured_records, summary.records);
    if let Some(note) = records.0.zip(records.1).and_then(|(part, all)| measured_note(part, all)) {
        say(&note);
    }
    if let Some(accuracy) = summary.test_accuracy {
        let own = summary.lowest_node_accuracy.unwrap_or(accuracy);
        let name = summary.lowest_node.and_then(|node| summary.node_names.as_ref()?.get(node));
        say(&format!(
            "test accuracy {:.2} % (average model); worst node's own {:.2} %{}",
            100.0 * accuracy,
            100.0 * own,
            name.map_or(String::new(), |name| format!(" ({name})"))
        ));
        let common = summary
            .most_common_class
            .map(|share| format!("always the most common class: {:.2} %", 100.0 * share));
        let auc = summary.test_auc.map(|auc| format!("area under the ROC curve (AUC): {auc:.4}"));
        let beside: Vec<String> = common.into_iter().chain(auc).collect();
        if !beside.is_empty() {
            say(&beside.join("; "));
        }
        let common = summary.most_common_class.zip(summary.test_records);
        let chance = common.and_then(|(common, records)| maybe_chance(accuracy, common, records as f64));
        chance.iter().for_each(|line| say(line));
    }
    match (summary.epsilon_spent, summary.delta) {
        (Some(epsilon), Some(delta)) => say(&format!(
            "privacy: ε = {} at δ = {delta:e} for every record{} (seeded simulation: not private)",
            short(epsilon, 4),
            summary
                .pairs
                .as_ref()
                .map_or(String::new(), |pairs| format!(", against {}", against(pairs.colluders)))
        )),
        _ => say("privacy: none (ε = ∞)"),
    }
    summary.pairs.iter().for_each(say_coalitions);
    if let Some(count) = summary.non_finite_records.filter(|c| *c > 0) {
        say(&format!("{count} record contributions were not finite and counted as zero"));
    }
    say(&format!("report: {}", folder.join(names::REPORT).display()));
}

/// What to say of an accuracy that is above that of the most common class by no more than chance may give: 95 % of
/// accuracies on so many records lie so near to the true one.
fn maybe_chance(accuracy: f64, common: f64, records: f64) -> Option<String> {
    let margin = 1.96 * (accuracy * (1.0 - accuracy) / records).sqrt();
    let above = accuracy - common;
    (above > 0.0 && above < margin).then(|| {
        format!(
            "{:.2} points above it may be chance: on {records} test records an accuracy is known to ± {:.2} points",
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
