//! `prdo privacy statement`: what several runs on the same records cost together.

use super::{Failure, epsilon_keys, failure};
use crate::cli::privacy::StatementArgs;
use crate::progress::say;
use prdo::accounting::Accountant;
use prdo::budget::words::{meaning, plain, proof, up};
use prdo::store::load_statement;
use serde_json::json;

pub fn run(args: &StatementArgs) -> Result<(), Failure> {
    let shown = args.file.display();
    if !args.file.is_file() {
        return Err(Failure::Input(format!("{shown} is not a file")));
    }
    let statement = load_statement(&args.file).map_err(|e| Failure::Input(format!("{shown}: {e}")))?;
    let (method, delta) = (args.answer.accountant, args.delta);
    let accountant = Accountant::new(method);
    let mut alone = Vec::new();
    for entry in statement.runs() {
        let bounds = accountant.epsilon(&entry.history, delta).map_err(failure)?;
        alone.push((entry, bounds.upper));
    }
    let total = accountant.epsilon(&statement.total(), delta).map_err(failure)?;
    if args.answer.json {
        let mut answer = epsilon_keys(method, &total, delta);
        let runs = alone.iter().map(|(entry, epsilon)| {
            json!({"id": entry.id, "name": entry.name, "releases": entry.history.len(), "epsilon": epsilon})
        });
        answer["runs"] = runs.collect();
        say(&answer.to_string());
        return Ok(());
    }
    for (entry, epsilon) in &alone {
        let (releases, name) = (entry.history.len(), &entry.name);
        say(&format!(
            "{name}: {releases} releases, ε ≤ {} on their own ({})",
            up(*epsilon),
            &entry.id[..8.min(entry.id.len())]
        ));
    }
    let (runs, delta) = (alone.len(), plain(delta));
    say(&format!(
        "all {runs} runs together: ε ≤ {} at δ = {delta} ({})",
        up(total.upper),
        proof(method, "ε", &total)
    ));
    say(&meaning(total.upper));
    Ok(())
}
