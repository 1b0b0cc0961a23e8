//! `prdo demo`: ten organisations train privately on generated data, in seconds.

use super::{Failure, compare, use_threads};
use crate::cli::OutArgs;
use crate::progress::{say, tell};
use prdo::algorithm::Method;
use prdo::compare::{Comparison, Named, Planned, expanded};
use prdo::report::ComparisonReport;
use prdo::report::against::{against, at_most};
use prdo::runfile::{Document, Key, Section, Value};
use prdo::store::{Cell, names};

/// The comparison the demo runs: also a run file that anyone can change.
const RUN_FILE: &str = include_str!("../../examples/demo.toml");
/// What the last contestant changes.
const PAIRS: &str = "privacy.noise=\"pairs\"";

pub fn run(args: &OutArgs) -> Result<(), Failure> {
    use_threads(args.threads)?;
    let document = Document::parse(names::DEMO, RUN_FILE)?;
    tell("Ten organisations on a ring train one model without showing their records to anyone.");
    tell("Their data differ; each adds noise so that the messages reveal no single record.");
    let mut planned = expanded(&document);
    // The same runs of one method without privacy: what the noise costs.
    let open = |(labels, document): &Planned| {
        let mut labels = labels.clone();
        labels.push((Section::Privacy.name(), Value::Text("none".into())));
        (labels, document.clone().without(Section::Privacy))
    };
    let reference = |document: &Document| document.run_file().method.name == Some(Method::Ed);
    let without_privacy: Vec<_> = planned.iter().filter(|(_, d)| reference(d)).map(open).collect();
    planned.extend(without_privacy);
    planned.extend(in_pairs(&document)?);
    let named = Named {
        title: "Ten organisations train privately".to_string(),
        command: "prdo demo".to_string(),
        run_files: RUN_FILE.to_string(),
    };
    let (comparison, folder) = compare::compare(Comparison::check(planned)?, named, "demo", args)?;
    folder.write(names::DEMO, RUN_FILE.as_bytes())?;
    compare::print(&comparison, args, &folder);
    if !args.json {
        if let Some(g) = comparison.cells.iter().find_map(|cell| cell.guarantee) {
            say(&format!(
                "privacy spent by every method: ε ≤ {:.3} at δ = {:e} for every record",
                g.epsilon, g.delta
            ));
        }
        pairs_note(&comparison).iter().for_each(|line| say(line));
        let file = folder.path().join(names::DEMO);
        say(&format!(
            "next: open the report, change {0} and run `prdo compare {0}`; `prdo example` has more.",
            file.display()
        ));
    }
    Ok(())
}

/// PRDO with noise that cancels between nodes, at the same ε.
fn in_pairs(document: &Document) -> Result<Vec<Planned>, Failure> {
    let mut all = Vec::new();
    for (mut labels, mut document) in expanded(document) {
        if document.run_file().method.name == Some(Method::Prdo) {
            document.set(PAIRS)?;
            labels.push((Key::PrivacyNoise.path(), Value::Text("pairs".into())));
            all.push((labels, document));
        }
    }
    Ok(all)
}

/// What noise in pairs gains, and what it costs.
fn pairs_note(comparison: &ComparisonReport) -> Option<String> {
    let groups = comparison.groups();
    let of_prdo = |pairs: bool| {
        let is = move |cell: &Cell| cell.guarantee.is_some() && cell.pairs.is_some() == pairs;
        let group = groups.iter().find(|group| group.method == Method::Prdo && is(group.cells[0]))?;
        Some((group.late_gradient()?.mean, group.cells[0].pairs.as_ref()))
    };
    let ((alone, _), (paired, facts)) = (of_prdo(false)?, of_prdo(true)?);
    let facts = facts?;
    Some(format!(
        "noise in pairs: {:.2} times less noise in the average model at the same ε (late gradient norm {paired:.4} instead of \
         {alone:.4}); its price: ε holds against {}, larger coalitions learn more, all others together at most ε = {}.",
        facts.gain,
        against(facts.colluders),
        at_most(facts.epsilon_by_colluders.last()?.epsilon, 3)
    ))
}
