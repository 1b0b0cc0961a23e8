//! What an agreement says, for people and as JSON.

use super::against;
use crate::commands::Failure;
use crate::progress::say;
use prdo::budget::words::short;
use prdo::build::Planned;
use prdo::store::PairFacts;
use prdo_peer::agreement::{Agreement, Member};
use prdo_peer::wire::hex;
use serde_json::{Value as Json, json};
use std::path::Path;

/// How many members are listed in words.
const MOST_LISTED: usize = 40;

/// Prints the agreement in `file`, and what is to be done with it next.
pub fn show(file: &Path, agreement: &Agreement, planned: &Planned, as_json: bool) -> Result<(), Failure> {
    let pairs = planned.pair_facts()?;
    if as_json {
        say(&object(file, agreement, planned, pairs.as_ref()).to_string());
        return Ok(());
    }
    for line in lines(agreement, planned, pairs.as_ref()) {
        say(&line);
    }
    say(&next(file, agreement));
    Ok(())
}

fn lines(agreement: &Agreement, planned: &Planned, pairs: Option<&PairFacts>) -> Vec<String> {
    let (terms, promise, recipe) = (agreement.terms(), &planned.guarantee, &planned.recipe);
    let together = match &terms.continues {
        Some(old) => format!(", together with what the agreement {} released", hex(&old[..6])),
        None => String::new(),
    };
    let last = terms.exchanges.final_bytes(terms.dimension as usize);
    let each = terms.exchanges.bytes(terms.dimension as usize, terms.exchanges.every) - last;
    let mut lines = vec![
        format!("agreement  {}, hash {}", terms.name, hex(&agreement.hash()[..6])),
        format!("full hash  {}", hex(agreement.hash())),
        format!(
            "training   {} of {} with {} parameters, {} rounds, {} sent to each neighbour per {}{}",
            recipe.method.card().title,
            planned.model.kind,
            terms.dimension,
            terms.rounds,
            bytes(each),
            match terms.exchanges.every {
                1 => "round".to_string(),
                every => format!("{every} rounds"),
            },
            match last {
                0 => String::new(),
                last => format!(", and {} after the last", bytes(last)),
            },
        ),
        format!(
            "privacy    ε = {} at δ = {:e} for every record{together}; noise multiplier z = {:.6}, rate {:.6} of the \
             smallest member",
            short(promise.epsilon, 4),
            promise.delta,
            promise.noise_multiplier,
            promise.rate
        ),
    ];
    if let Some(pairs) = pairs {
        if agreement.signed_by_all().is_ok() {
            lines.insert(2, format!("run        {}, with everybody's share key", hex(&agreement.run_hash())));
        }
        lines.extend(against::lines(pairs, terms.members.len()));
    }
    lines.push(String::new());
    lines.extend(table(agreement));
    lines
}

fn table(agreement: &Agreement) -> Vec<String> {
    let members = &agreement.terms().members;
    let name = |i: usize| members.get(i).map_or("", |m| &m.name);
    let row = |(i, m): (usize, &Member)| {
        let neighbours: Vec<_> = agreement.neighbours(i).into_iter().map(name).collect();
        let places: Vec<_> = m.addresses.iter().map(ToString::to_string).collect();
        [
            i.to_string(),
            m.name.clone(),
            m.key.short(),
            m.records.to_string(),
            places.join(" "),
            neighbours.join(" "),
        ]
    };
    let mut rows = vec![["#", "name", "key", "records", "addresses", "neighbours"].map(String::from)];
    rows.extend(members.iter().enumerate().take(MOST_LISTED).map(row));
    let width = |k: usize| rows.iter().filter_map(|r| r.get(k)).map(|c| c.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..6).map(width).collect();
    let line = |row: &[String; 6]| {
        let cells: Vec<_> = row.iter().zip(&widths).map(|(cell, w)| format!("{cell:<w$}")).collect();
        cells.join("  ").trim_end().to_string()
    };
    let mut lines: Vec<String> = rows.iter().map(line).collect();
    if members.len() > MOST_LISTED {
        lines.push(format!("… and {} more, in the file", members.len() - MOST_LISTED));
    }
    lines
}

fn next(file: &Path, agreement: &Agreement) -> String {
    let (signed, missing) = signatures(agreement);
    let shown = file.display();
    match missing.len() {
        0 => format!("\nsigned by all {}: every member needs this copy of {shown}", signed.len()),
        left => format!(
            "\nsigned by {} of {}, missing: {}{}\nnext: send {shown} to them; each reads it, types `prdo node sign {shown} \
             --key ITS.key` and sends its copy back; add `--with COPY` to gather signatures",
            signed.len(),
            signed.len() + left,
            missing.iter().take(MOST_LISTED).copied().collect::<Vec<_>>().join(", "),
            if left > MOST_LISTED { ", …" } else { "" },
        ),
    }
}

/// The names of those who have signed, and of those who have not.
fn signatures(agreement: &Agreement) -> (Vec<&str>, Vec<&str>) {
    let pairs = || agreement.terms().members.iter().zip(agreement.signatures());
    let names =
        |signed| pairs().filter(|(_, s)| s.is_some() == signed).map(|(m, _)| m.name.as_str()).collect();
    (names(true), names(false))
}

fn object(file: &Path, agreement: &Agreement, planned: &Planned, pairs: Option<&PairFacts>) -> Json {
    let (terms, promise) = (agreement.terms(), &planned.guarantee);
    let (signed, missing) = signatures(agreement);
    let member = |(i, m): (usize, &Member)| {
        json!({
            "number": i,
            "name": m.name,
            "key": m.key.to_string(),
            "addresses": m.addresses.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "records": m.records,
            "neighbours": agreement.neighbours(i),
        })
    };
    json!({
        "file": file.display().to_string(),
        "hash": hex(agreement.hash()),
        "run": hex(&terms.run),
        "name": terms.name,
        "continues": terms.continues.as_ref().map(|hash| hex(hash)),
        "members": terms.members.iter().enumerate().map(member).collect::<Vec<_>>(),
        "method": planned.recipe.method.to_string(),
        "model": planned.model.kind.name(),
        "dimension": terms.dimension,
        "rounds": terms.rounds,
        "exchanges_per_round": terms.exchanges.per_round,
        "exchanges_every": terms.exchanges.every,
        "final_mixings": terms.exchanges.final_mixings,
        "vectors": terms.exchanges.shape.vectors,
        "packing": terms.exchanges.shape.packing.to_string(),
        "bytes_per_exchange": terms.exchanges.shape.bytes(terms.dimension as usize),
        "epsilon": promise.epsilon,
        "delta": promise.delta,
        "noise_multiplier": promise.noise_multiplier,
        "pairs": pairs,
        "run_hash": agreement.signed_by_all().is_ok().then(|| hex(&agreement.run_hash())),
        "signed": signed,
        "missing": missing,
    })
}

fn bytes(count: u64) -> String {
    match count {
        0..10_000 => format!("{count} bytes"),
        10_000..10_000_000 => format!("{:.1} kB", count as f64 / 1e3),
        _ => format!("{:.1} MB", count as f64 / 1e6),
    }
}
