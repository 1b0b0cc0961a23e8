//! `prdo worth`: what joining is worth to each organisation, with privacy and without.

mod page;

use super::table::print_table;
use super::watch::{Stop, interrupted, resume_command};
use super::{Failure, read_run_file, use_threads};
use crate::cli::worth::WorthArgs;
use crate::progress::{Counter, say, tell, warn};
use prdo::algorithm::methods::Parameter;
use prdo::budget::words::short;
use prdo::build::Recipe;
use prdo::parts::Parts;
use prdo::report::Spread;
use prdo::store::{Folder, names};
use prdo::worth::{Organisation, Question, Trained, Worth, WorthError};
use serde_json::{Value as Json, json};

impl From<WorthError> for Failure {
    fn from(error: WorthError) -> Self {
        let text = error.to_string();
        match error {
            WorthError::Config(error) => error.into(),
            WorthError::Parts(error) => error.into(),
            WorthError::Run { error, .. } if error.is_input() => Failure::Input(text),
            _ => Failure::Work(text),
        }
    }
}

pub fn run(args: &WorthArgs) -> Result<(), Failure> {
    use_threads(args.out.threads)?;
    let document = read_run_file(&args.file, &args.set)?;
    let question = Question::new(&document, &args.open)?;
    warn(question.warnings());
    let name = document.name();
    let folder = Folder::create(args.out.out.as_deref(), &format!("{name}-worth"), args.out.overwrite)?;
    let first = document.run_file().seed;
    let seeds: Vec<u64> = (0..u64::from(args.seeds)).map(|k| first.saturating_add(k)).collect();
    tell(&format!(
        "{} runs on {}; seeded simulation: not private",
        question.runs(seeds.len()),
        question.data()
    ));
    let command = typed(args);
    let stop = Stop::listen()?;
    let parts = Parts {
        folder: &folder,
        job: "answer",
        command: resume_command(&args.out, &folder),
        stop: &|| stop.asked(),
    };
    parts.open(&format!("{}{seeds:?}\n", question.settings().concat()), args.out.overwrite)?;
    let progress = Counter::new(question.runs(seeds.len()) as u64, "runs");
    let worth = question.answer(&seeds, &parts, &|who: &str| progress.step(who));
    drop(progress);
    let worth = match worth {
        Err(WorthError::Interrupted) => return Err(interrupted(&parts, question.runs(seeds.len()), "runs")),
        worth => worth?,
    };
    let answer = Answer { name: &name, question: &question, worth: &worth, seeds: &seeds, command: &command };
    page::write(&answer, &folder)?;
    // Last, for it marks the folder as finished.
    folder.write(names::RESULTS, format!("{:#}\n", answer.json()).as_bytes())?;
    parts.remove()?;
    match args.out.json {
        true => say(&answer.json().to_string()),
        false => answer.print(&folder),
    }
    Ok(())
}

fn typed(args: &WorthArgs) -> String {
    let sets = args.set.iter().map(|s| format!(" --set '{s}'"));
    let opens = args.open.iter().map(|s| format!(" --open '{s}'"));
    let file = args.file.file_name().unwrap_or_default().to_string_lossy();
    format!("prdo worth {file} --seeds {}{}", args.seeds, sets.chain(opens).collect::<String>())
}

struct Answer<'a> {
    name: &'a str,
    question: &'a Question,
    worth: &'a Worth,
    seeds: &'a [u64],
    command: &'a str,
}

/// More organisations than this are not listed one by one where people read.
const MOST_LISTED: usize = 40;

impl Answer<'_> {
    fn table(&self) -> (Vec<&'static str>, Vec<Vec<String>>) {
        let worth = self.worth;
        let has_auc = !worth.together.auc.is_empty();
        let mut head = vec!["", "records", "accuracy"];
        head.extend(has_auc.then_some("AUC"));
        head.push("without privacy");
        head.extend(has_auc.then_some("AUC"));
        let row = |name: String, records: String, cells: [(String, Option<String>); 2]| {
            let mut row = vec![name, records];
            for (accuracy, auc) in cells {
                row.push(accuracy);
                row.extend(has_auc.then(|| auc.unwrap_or_else(|| "n/a".into())));
            }
            row
        };
        let all: usize = worth.organisations.iter().map(|o| o.records).sum();
        let joint = [shown(&worth.together), shown(&worth.open)];
        let mut rows = vec![row("together".into(), all.to_string(), joint)];
        let own = worth.own(false).into_iter().zip(worth.own(true));
        for (name, (private, open)) in ["alone, mean", "alone, worst", "alone, best"].iter().zip(own) {
            let cell = |(accuracy, auc): (f64, Option<f64>)| {
                (format!("{:.2} %", 100.0 * accuracy), auc.map(|auc| format!("{auc:.4}")))
            };
            rows.push(row((*name).into(), String::new(), [cell(private), cell(open)]));
        }
        if worth.organisations.len() <= MOST_LISTED {
            for o in &worth.organisations {
                let cells = [shown(&o.alone), shown(&o.open)];
                rows.push(row(format!("  {} alone", o.name), o.records.to_string(), cells));
            }
        }
        if let Some(share) = worth.most_common_class {
            let always = || (format!("{:.2} %", 100.0 * share), Some("0.5000".to_string()));
            rows.push(row("always the most common class".into(), String::new(), [always(), always()]));
        }
        (head, rows)
    }

    fn settings(&self) -> Vec<String> {
        let (own, open) = (self.question.recipe(), self.question.open_recipe());
        let mut lines =
            vec![format!("With privacy: {}{}.", recipe_words(own), noise_words(&self.worth.together))];
        let rate = "each organisation alone has the same method, step, rounds, clips and budget, its records are drawn with \
                    the same probability, and its noise is calibrated to its own records";
        lines.push(format!("Alone: {rate}."));
        lines.push(format!("Without privacy: no noise; {}.", recipe_words(open)));
        lines.push(format!(
            "{} held-out records, the same for all; {}. Seeded simulation: not private.",
            self.worth.test_records,
            match self.seeds {
                [seed] => format!("one run of each, seed {seed}"),
                [first, .., last] => format!("means of seeds {first} to {last}"),
                [] => "no runs".into(),
            }
        ));
        lines.push(
            "±: half the width of a 95 % interval. After a difference it covers the held-out records being few (only \
             those on which two models disagree count) and, with several seeds, what differs between seeds; in the table \
             the mean over seeds (Student's t)."
                .into(),
        );
        lines
    }

    fn print(&self, folder: &Folder) {
        let (head, rows) = self.table();
        print_table(&head, &rows);
        say("");
        say(&self.worth.words());
        self.settings().iter().for_each(|line| say(line));
        say(&format!("report: {}", folder.path().join(names::REPORT).display()));
    }

    fn json(&self) -> Json {
        let (worth, recipe) = (self.worth, self.question.recipe());
        let verdict = worth.verdict();
        let of = |own: fn(&Organisation) -> &Trained| -> Vec<Json> {
            let one = |(node, o): (usize, &Organisation)| {
                let mut json = trained_json(own(o));
                json["node"] = node.into();
                json["name"] = o.name.clone().into();
                json["records"] = o.records.into();
                json
            };
            worth.organisations.iter().enumerate().map(one).collect()
        };
        json!({
            "together": trained_json(&worth.together),
            "alone": of(|o| &o.alone),
            "together_without_privacy": trained_json(&worth.open),
            "alone_without_privacy": of(|o| &o.open),
            "median_gain": verdict.gain.value,
            "median_gain_margin": verdict.gain.margin,
            "median_gain_without_privacy": verdict.open_gain.value,
            "median_gain_without_privacy_margin": verdict.open_gain.margin,
            "median_auc_gain": verdict.auc_gain.map(|gain| gain.value),
            "median_auc_gain_margin": verdict.auc_gain.map(|gain| gain.margin),
            "organisations_gaining": verdict.gaining,
            "organisations_clearly_gaining": verdict.clearly_gaining,
            "privacy_cost": verdict.privacy_cost.value,
            "privacy_cost_margin": verdict.privacy_cost.margin,
            "privacy_auc_cost": verdict.privacy_auc_cost.map(|cost| cost.value),
            "privacy_auc_cost_margin": verdict.privacy_auc_cost.map(|cost| cost.margin),
            "loss_still_falling_without_privacy": worth.open.falling,
            "most_common_class": worth.most_common_class,
            "test_records": worth.test_records,
            "method": recipe.method.card().name,
            "step_size": recipe.settings.step_size.at(0),
            "rounds": recipe.rounds,
            "rounds_without_privacy": self.question.open_recipe().rounds,
            "clip_gradient": recipe.clip.map(|clip| clip.0),
            "clip_difference": recipe.clip.map(|clip| clip.1).filter(|_| recipe.method.card().differences),
            "data": self.question.data(),
            "seeds": self.seeds,
            "simulation": true,
            "command": self.command,
        })
    }
}

/// Accuracy and AUC, with the 95 % intervals of their means where there are several seeds.
fn shown(trained: &Trained) -> (String, Option<String>) {
    let half = |values: &[f64]| Spread::of(values).and_then(Spread::half);
    let accuracy = 100.0 * trained.mean_accuracy();
    let accuracy = match half(&trained.accuracy) {
        Some(half) => format!("{accuracy:.2} ± {:.2} %", 100.0 * half),
        None => format!("{accuracy:.2} %"),
    };
    let auc = trained.mean_auc().map(|auc| match half(&trained.auc) {
        Some(half) => format!("{auc:.4} ± {half:.4}"),
        None => format!("{auc:.4}"),
    });
    (accuracy, auc)
}

fn trained_json(trained: &Trained) -> Json {
    let deviation = |values: &[f64]| Spread::of(values).map(|s| s.deviation);
    let half = |values: &[f64]| Spread::of(values).and_then(Spread::half);
    let g = trained.guarantee;
    json!({
        "accuracy": trained.mean_accuracy(),
        "accuracy_std": deviation(&trained.accuracy),
        "accuracy_half_95": half(&trained.accuracy),
        "accuracies": trained.accuracy,
        "auc": trained.mean_auc(),
        "auc_std": deviation(&trained.auc),
        "auc_half_95": half(&trained.auc),
        "batch": trained.batch,
        "epsilon": g.map(|g| g.epsilon),
        "delta": g.map(|g| g.delta),
        "noise_multiplier": g.map(|g| g.noise_multiplier),
        "rate": g.map(|g| g.rate),
        "accountant": g.map(|g| g.accounting.name()),
    })
}

fn recipe_words(recipe: &Recipe) -> String {
    let card = recipe.method.card();
    let mut text = format!("{}, step {}", card.title, recipe.settings.step_size);
    for parameter in card.parameters {
        if let Parameter::Number(number) = parameter {
            text += &format!(", {} = {}", number.symbol, number.of(&recipe.settings));
        }
    }
    text += &format!(", T = {} rounds", recipe.rounds);
    match recipe.clip {
        Some((gradient, difference)) if card.differences => {
            text += &format!(", C_g = {gradient}, C_Δ = {difference}");
        }
        Some((gradient, _)) => text += &format!(", C = {gradient}"),
        None => text += ", nothing clipped",
    }
    text
}

fn noise_words(trained: &Trained) -> String {
    trained.guarantee.map_or(String::new(), |g| {
        format!(
            ", rate {:.4}, z = {:.4}: ε = {} at δ = {:e} ({})",
            g.rate,
            g.noise_multiplier,
            short(g.epsilon, 4),
            g.delta,
            g.accounting.name()
        )
    })
}
