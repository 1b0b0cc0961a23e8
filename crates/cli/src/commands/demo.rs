//! `prdo demo`: ten organisations train privately on generated data, in seconds.

use super::{Failure, compare, use_threads};
use crate::cli::OutArgs;
use crate::progress::{say, tell};
use prdo::algorithm::Method;
use prdo::compare::{Comparison, Named, Planned, expanded};
use prdo::runfile::{Document, Section, Value};
use prdo::store::names;

/// The comparison the demo runs: also a run file that anyone can change.
const RUN_FILE: &str = include_str!("../../examples/demo.toml");

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
        let file = folder.path().join(names::DEMO);
        say(&format!(
            "next: open the report, change {0} and run `prdo compare {0}`; `prdo example` has more.",
            file.display()
        ));
    }
    Ok(())
}
