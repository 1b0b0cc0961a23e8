//! `prdo privacy pairs`: noise that cancels between nodes, and what coalitions learn.

use super::{Failure, failure, first_words, unmet};
use crate::cli::privacy::PairsArgs;
use crate::commands::table::print_table;
use crate::progress::say;
use prdo::accounting::pairs::{Cost, PairsError, Plan, Proof, Secrets};
use prdo::accounting::{Accountant, AccountingError, Target};
use prdo::algorithm::graph::{Network, parse_network};
use prdo::budget::words::{plain, short, up};
use prdo::report::against::{EACH_ROW, HEAD, PSEUDO_RANDOM, at_most, coalition};
use prdo::theory::disagreement::{Apart, BETA, Exchanges, apart};
use serde_json::{Value as Json, json};
use std::path::Path;
use std::time::Instant;

pub fn run(args: &PairsArgs) -> Result<(), Failure> {
    let secrets = secrets(args)?;
    let target = Target::new(args.budget.epsilon, args.budget.delta).map_err(failure)?;
    let started = Instant::now();
    let accountant = Accountant::new(args.answer.accountant);
    let (rate, first_rate) = (args.rate.value, args.first_rate.as_ref().unwrap_or(&args.rate).value);
    let rates = [(first_rate, 1), (rate, args.rounds - 1)];
    let plan = Plan::new(&accountant, &target, &rates, &secrets, args.colluders, args.ratio);
    let plan = plan.map_err(|error| refuse(error, &target))?;
    let seconds = started.elapsed().as_secs_f64();
    let apart = disagreement(&plan, &secrets);
    if args.answer.json {
        say(&answer(args, &plan, &secrets, &apart, seconds).to_string());
        return Ok(());
    }
    summary(args, &plan, &secrets, &target);
    table(args, &plan, &secrets);
    say("");
    members(&apart);
    Ok(())
}

/// Who shares secrets, as typed: `complete`, or `graph FILE`.
fn secrets(args: &PairsArgs) -> Result<Secrets, Failure> {
    let words: Vec<&str> = args.secrets.iter().map(String::as_str).collect();
    match words[..] {
        ["complete"] => Secrets::complete(args.nodes).map_err(input),
        ["graph", file] => listed(Path::new(file), args.nodes),
        ["graph"] => Err(Failure::Input("--secrets graph needs a file: --secrets graph FILE".into())),
        _ => Err(Failure::Input(format!(
            "--secrets {} is not allowed: it must be complete, or graph FILE",
            words.join(" ")
        ))),
    }
}

fn listed(path: &Path, nodes: usize) -> Result<Secrets, Failure> {
    let shown = path.display();
    let wrong = |why: String| Failure::Input(format!("--secrets graph {shown}: {why}"));
    let text = std::fs::read_to_string(path).map_err(|e| wrong(e.to_string()))?;
    match parse_network(&text).map_err(|e| wrong(e.to_string()))? {
        Network::Graph(graph) if graph.nodes() <= nodes => {
            Secrets::between(nodes, graph.pairs()).map_err(|e| wrong(e.to_string()))
        }
        Network::Graph(graph) => Err(wrong(format!("{} nodes, but --nodes is {nodes}", graph.nodes()))),
        Network::Arcs(_) | Network::Mixing(_) => {
            Err(wrong("expected lines \"i j\", one for each pair that shares a secret".into()))
        }
    }
}

fn input(error: PairsError) -> Failure {
    Failure::Input(error.to_string())
}

/// A question that has no answer, by the names of its options.
fn refuse(error: PairsError, target: &Target) -> Failure {
    match error {
        PairsError::Accounting(error @ AccountingError::OutOfRange { .. }) => failure(error),
        PairsError::Accounting(error) => {
            let advice = "raise --epsilon or --delta, or lower --rounds or --rate";
            unmet("no noise multiplier up to 1e6", target, advice)(error)
        }
        PairsError::TooFewHonest { nodes, colluders } => Failure::Input(format!(
            "--colluders {colluders} is not allowed with --nodes {nodes}: it must be at most {}, because shared noise \
             gains nothing unless at least two members stay honest",
            nodes.saturating_sub(2)
        )),
        PairsError::TooManyColluders { nodes, colluders } => Failure::Input(format!(
            "--colluders {colluders} is not allowed with --nodes {nodes}: it must be at most {}",
            nodes.saturating_sub(2)
        )),
        other => input(other),
    }
}

/// In units of what independent noise needs; nothing for two nodes, which are no ring.
fn disagreement(plan: &Plan, secrets: &Secrets) -> Vec<Apart> {
    let unit = |multiplier: f64| multiplier / plan.choice.independent;
    let (own, pair) = (unit(plan.choice.pairs.own()), unit(plan.choice.pairs.pair()));
    apart(secrets.nodes() as u64, secrets.pairs(), own, pair).unwrap_or_default()
}

fn answer(args: &PairsArgs, plan: &Plan, secrets: &Secrets, apart: &[Apart], seconds: f64) -> Json {
    let cost = |cost: &Cost| {
        json!({
            "colluders": cost.colluders,
            "epsilon": cost.epsilon,
            "noise_multiplier": cost.multiplier,
            "exact": cost.proof == Proof::Exact,
        })
    };
    let row = |row: &Apart| {
        let (exchanges, chebyshev) = exchanges(row.exchanges);
        json!({
            "exchanges": exchanges,
            "chebyshev": chebyshev,
            "independent": row.independent,
            "paired": row.paired,
        })
    };
    let at = plan.choice.worst.at.as_ref();
    json!({
        "noise_multiplier": plan.choice.independent,
        "own_multiplier": plan.choice.pairs.own(),
        "pair_multiplier": plan.choice.pairs.pair(),
        "gain": plan.choice.gain(),
        "epsilon_by_colluders": plan.costs.iter().map(cost).collect::<Vec<_>>(),
        "nodes": args.nodes,
        "colluders": args.colluders,
        "ratio": args.ratio,
        "secrets": if secrets.is_complete() { "complete" } else { "graph" },
        "worst_node": at.map(|(node, _)| node),
        "worst_coalition": at.map(|(_, coalition)| coalition),
        "disagreement": apart.iter().map(row).collect::<Vec<_>>(),
        "rate": args.rate.value,
        "first_rate": args.first_rate.as_ref().unwrap_or(&args.rate).value,
        "rounds": args.rounds,
        "target_epsilon": args.budget.epsilon,
        "delta": args.budget.delta,
        "accountant": args.answer.accountant.name(),
        "seconds": seconds,
    })
}

fn exchanges(exchanges: Exchanges) -> (u32, bool) {
    match exchanges {
        Exchanges::Repeated(times) => (times, false),
        Exchanges::Chebyshev(degree) => (degree, true),
    }
}

fn summary(args: &PairsArgs, plan: &Plan, secrets: &Secrets, target: &Target) {
    let choice = &plan.choice;
    say(&format!(
        "own noise multiplier {} and pair noise multiplier {} keep ε ≤ {} at δ = {} against {}",
        up(choice.pairs.own()),
        up(choice.pairs.pair()),
        plain(target.epsilon()),
        plain(target.delta()),
        match args.colluders {
            0 => "outsiders (no member may collude)".to_string(),
            1 => "outsiders and any one member".to_string(),
            c => format!("outsiders and any {c} members together"),
        }
    ));
    let pairs = match secrets.is_complete() {
        true => "secrets between all pairs".to_string(),
        false => format!("secrets between {} pairs", secrets.pairs().count()),
    };
    say(&format!(
        "Plan: {} nodes, {pairs}, ratio {}; {} rounds, sampling rate {}{}.",
        args.nodes,
        plain(args.ratio),
        args.rounds,
        args.rate,
        first_words(args.first_rate.as_ref(), None)
    ));
    say(&format!(
        "Gain: independent noise would need a multiplier of {} and leave {} times as much noise in the mean of all nodes.",
        up(choice.independent),
        short(choice.gain(), 3)
    ));
    if let Some((node, coalition)) = &choice.worst.at {
        let others: Vec<String> = coalition.iter().map(usize::to_string).collect();
        say(&match others.is_empty() {
            true => format!("Weakest: node {node}."),
            false => format!("Weakest: node {node}, against {} together with outsiders.", others.join(", ")),
        });
    }
}

fn table(args: &PairsArgs, plan: &Plan, secrets: &Secrets) {
    say("");
    let row = |cost: &Cost| {
        let who = coalition(cost.colluders, secrets.nodes());
        let agreed = if cost.colluders == args.colluders { " (as agreed)" } else { "" };
        let bound = if cost.proof == Proof::Bound { "≥ " } else { "" };
        let multiplier = format!("{bound}{:.4}", (cost.multiplier * 1e4).floor() / 1e4);
        vec![format!("{who}{agreed}"), multiplier, at_most(Some(cost.epsilon), 4)]
    };
    let rows: Vec<_> = plan.costs.iter().map(row).collect();
    print_table(&[HEAD[0], "noise as good as", HEAD[1]], &rows);
    say("");
    say(EACH_ROW);
    say(PSEUDO_RANDOM);
}

fn members(apart: &[Apart]) {
    if apart.is_empty() {
        return;
    }
    say(&format!(
        "Single nodes' models spread more (deviation from their mean, in step size × the noise that independent noise needs; EDM, \
         β = {BETA}, lazy ring):"
    ));
    let row = |row: &Apart| {
        let how = match exchanges(row.exchanges) {
            (1, _) => "1".to_string(),
            (times, false) => times.to_string(),
            (degree, true) => format!("{degree}, Chebyshev"),
        };
        vec![how, format!("{:.2}", row.independent), format!("{:.2}", row.paired)]
    };
    print_table(&["exchanges per round", "independent", "pairs"], &apart.iter().map(row).collect::<Vec<_>>());
}
