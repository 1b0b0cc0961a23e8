//! `prdo tune`: settings for a budget, found on records that need no protection.

mod page;

use super::table::print_table;
use super::watch::{Stop, interrupted, resume_command};
use super::{Failure, read_run_file, use_threads};
use crate::cli::tune::{RecordsArgs, TuneArgs};
use crate::progress::{Progress, say, tell};
use prdo::algorithm::Method;
use prdo::parts::Parts;
use prdo::report::Spread;
use prdo::runfile::resolved::as_given;
use prdo::runfile::{Document, Key};
use prdo::store::{Folder, names};
use prdo::tune::{
    Answer, Axis, Edge, Effort, Trial, TuneError, TuneOn, TuningData, assignments, number, numbers, tune,
};
use serde_json::{Value as Json, json};

impl From<TuneError> for Failure {
    fn from(error: TuneError) -> Self {
        match error {
            TuneError::Config(error) => error.into(),
            TuneError::Run(error) => error.into(),
            TuneError::Train(error) => error.into(),
            TuneError::Parts(error) => error.into(),
            TuneError::NoPublicScore => Failure::Input(TuneError::NoPublicScore.to_string()),
            other => Failure::Work(other.to_string()),
        }
    }
}

pub fn run(args: &TuneArgs) -> Result<(), Failure> {
    use_threads(args.out.threads)?;
    let document = read_run_file(&args.file, &args.set)?;
    let effort = effort(args)?;
    let on = tune_on(args)?;
    let mut found = TuningData::of(&document, &on)?;
    let name = format!("{}-tuned", document.name());
    let folder = Folder::create(args.out.out.as_deref(), &name, args.out.overwrite)?;
    let stop = Stop::listen()?;
    let command = resume_command(&args.out, &folder);
    let parts = Parts { folder: &folder, job: "search", command, stop: &|| stop.asked() };
    let settings = format!("{}{effort:?}\n{on:?}\n", found.scorer.document().settings());
    parts.open(&settings, args.out.overwrite)?;
    tell(&words(&found, &effort, &args.on));
    let total = effort.methods.len() * effort.trials;
    let mut progress = Progress::new(total as u64, "trials");
    let mut done = 0;
    let answer = tune(&mut found.scorer, &effort, &parts, |trial| {
        done += 1;
        progress.at(done, || format!("{} {}", trial.settings.method.card().title, score(trial.mean())));
    });
    progress.finish();
    let answer = match answer {
        Err(TuneError::Interrupted) => return Err(interrupted(&parts, effort.runs(), "runs")),
        answer => answer?,
    };
    let report = Tuned { document: &document, found: &found, answer: &answer, effort: &effort };
    report.write(&folder, &args.file.display().to_string())?;
    parts.remove()?;
    match args.out.json {
        true => say(&report.json().to_string()),
        false => report.print(&folder),
    }
    Ok(())
}

fn tune_on(TuneArgs { on, size, .. }: &TuneArgs) -> Result<TuneOn, Failure> {
    let (nodes, records) = (size.nodes.map(|n| n as usize), size.records.map(|n| n as usize));
    if !on.generated && (nodes.is_some() || records.is_some()) {
        return Err(Failure::Input("--nodes and --records go with --generated".into()));
    }
    Ok(match on {
        RecordsArgs { public_data: true, .. } => TuneOn::Public,
        RecordsArgs { unprotected_validation: true, .. } => TuneOn::Validation,
        RecordsArgs { generated: true, .. } => TuneOn::Generated { nodes, records },
        RecordsArgs { stand_in: Some(path), .. } => TuneOn::StandIn(path.clone()),
        RecordsArgs { charge: Some(path), .. } => TuneOn::Charged(path.clone()),
        _ => TuneOn::RunFile,
    })
}

/// For whoever waits.
fn words(found: &TuningData, effort: &Effort, on: &RecordsArgs) -> String {
    let charged = on
        .charge
        .as_ref()
        .map_or(String::new(), |path| format!("; each is a release, entered in {} first", path.display()));
    format!("{} trials on {}{charged}", effort.methods.len() * effort.trials, found.title)
}

fn effort(args: &TuneArgs) -> Result<Effort, Failure> {
    let axis = |key: &String| {
        Axis::of(key).ok_or_else(|| {
            let known: Vec<&str> = Axis::all().into_iter().map(|axis| axis.key().path()).collect();
            Failure::Input(format!("--keep {key} is not allowed: it must be one of {}", known.join(", ")))
        })
    };
    let keep = args.keep.iter().map(axis).collect::<Result<Vec<_>, _>>()?;
    let methods = if args.methods.is_empty() { Method::PAPER.to_vec() } else { args.methods.clone() };
    Ok(Effort { methods, trials: args.trials as usize, seeds: args.seeds as usize, keep })
}

/// A score in words: accuracies are positive, gradient norms were turned round.
fn score(value: f64) -> String {
    match value {
        v if v == f64::NEG_INFINITY => "diverged".into(),
        v if v > 0.0 => format!("{:.2} %", 100.0 * v),
        v => format!("‖∇f‖ {:.3e}", -v),
    }
}

struct Tuned<'a> {
    document: &'a Document,
    found: &'a TuningData,
    answer: &'a Answer,
    effort: &'a Effort,
}

/// The heads of the table of settings; `own` is that of the methods' own numbers.
fn head(own: &str) -> [&str; 9] {
    ["method", "score", "rounds", "batch", "step", "C_g", "C_Δ", own, "noise z"]
}

/// The methods' own numbers: each has one or another.
fn symbols() -> String {
    numbers().map(|(_, number, _)| number.symbol).collect::<Vec<_>>().join(" or ")
}

impl Tuned<'_> {
    fn settings(&self, trial: &Trial) -> Vec<(Key, String)> {
        assignments(&trial.settings, self.found.scorer.records())
    }

    fn row(&self, trial: &Trial) -> Vec<String> {
        let all = self.settings(trial);
        let value = |key: Key| all.iter().find(|(k, _)| *k == key).map_or(String::new(), |(_, v)| v.clone());
        let own =
            numbers().map(|(key, number, _)| (number.symbol, value(key))).filter(|(_, v)| !v.is_empty());
        let own: Vec<String> = own.map(|(symbol, v)| format!("{symbol} {v}")).collect();
        vec![
            trial.settings.method.card().title.to_string(),
            format!("{}{}", score(trial.mean()), spread(&trial.scores)),
            value(Key::Rounds),
            value(Key::BatchSize),
            value(Key::MethodStepSize),
            value(Key::ClipGradient),
            value(Key::ClipDifference),
            own.join(", "),
            trial.noise_multiplier.map_or("none".into(), |z| format!("{z:.4}")),
        ]
    }

    /// What as many trials on protected records would have cost, or did.
    fn cost(&self) -> Option<String> {
        let (cost, budget) = (self.answer.cost?, self.found.scorer.budget()?);
        let (epsilon, delta) = (budget.epsilon, budget.delta);
        Some(match self.found.charged {
            true => format!(
                "These trials were releases about protected records: ε ≤ {cost:.3} at δ = {delta:e} for all of them \
                 together, entered in the statement. A final run must name it (privacy.statement), and is then \
                 accounted for together with them."
            ),
            false => format!(
                "On protected records these trials would have cost ε ≤ {cost:.3} at δ = {delta:e} together, \
                 beside the ε = {epsilon} of the run itself. Here they cost nothing: no protected record was used."
            ),
        })
    }

    /// What was best at an end of what was tried: better values may lie beyond.
    fn edges(&self) -> Option<String> {
        let one = |edge: &Edge| {
            let end = if edge.largest { "largest" } else { "smallest" };
            format!("{} (the {end} tried: {})", edge.key, number(edge.end))
        };
        let found: Vec<String> = self.answer.edges.iter().map(one).collect();
        (!found.is_empty()).then(|| {
            format!(
                "The best is at the end of its range in {}: better ones may lie beyond. Tune tuned.toml again: the search \
                 is around the run file's values.",
                found.join(" and ")
            )
        })
    }

    fn tuned(&self) -> Result<String, Failure> {
        let mut document = self.document.clone();
        if let Some(best) = self.answer.best.first() {
            for (key, value) in self.settings(best) {
                document.set(&format!("{key}={value}"))?;
            }
        }
        let header = format!("# Settings found by `prdo tune` on {}.\n", self.found.title);
        Ok(as_given(&document, &header))
    }

    fn write(&self, folder: &Folder, file: &str) -> Result<(), Failure> {
        folder.write(names::TUNED, self.tuned()?.as_bytes())?;
        folder.write(names::TRIALS, page::trials_csv(self).as_bytes())?;
        let figure = page::figure(self);
        folder.write(names::TRIALS_FIGURE, figure.to_svg().as_bytes())?;
        folder.write(names::REPORT, page::html(self, file, figure).as_bytes())?;
        folder.write(names::RESULTS, format!("{:#}\n", self.json()).as_bytes())?;
        Ok(())
    }

    fn json(&self) -> Json {
        let one = |trial: &Trial| {
            let settings: serde_json::Map<String, Json> = self
                .settings(trial)
                .into_iter()
                .map(|(key, value)| (key.to_string(), value.into()))
                .collect();
            let finite = |x: f64| if x.is_finite() { json!(x) } else { Json::Null };
            json!({
                "method": trial.settings.method.card().name,
                "score": finite(trial.mean()),
                "scores": trial.scores.iter().map(|s| finite(*s)).collect::<Vec<_>>(),
                "settings": settings,
                "noise_multiplier": trial.noise_multiplier,
                "seconds": trial.seconds,
            })
        };
        json!({
            "tuned_on": self.found.title,
            "charged": self.found.charged,
            "trials": self.answer.trials.len(),
            "cost_on_protected_epsilon": self.answer.cost,
            "at_an_end": self.answer.edges.iter().map(|edge| edge.key.path()).collect::<Vec<_>>(),
            "best": self.answer.best.iter().map(one).collect::<Vec<_>>(),
        })
    }

    fn print(&self, folder: &Folder) {
        let rows: Vec<Vec<String>> = self.answer.best.iter().map(|trial| self.row(trial)).collect();
        print_table(&head(&symbols()), &rows);
        say("");
        self.cost().iter().for_each(|cost| say(cost));
        self.found.caution.iter().for_each(|caution| say(caution));
        self.edges().iter().for_each(|edges| say(edges));
        let path = folder.path();
        say(&format!("run it: prdo run {}", path.join(names::TUNED).display()));
        say(&format!("report: {}", path.join(names::REPORT).display()));
    }
}

fn spread(scores: &[f64]) -> String {
    match Spread::of(scores).filter(|s| s.count > 1 && s.mean.is_finite()) {
        Some(Spread { mean, deviation, .. }) if mean > 0.0 => format!(" ± {:.2}", 100.0 * deviation),
        Some(Spread { deviation, .. }) => format!(" ± {deviation:.1e}"),
        None => String::new(),
    }
}
