//! `prdo node check`: whether this member can take part. Nothing is released, and nothing is written but locks.

use super::against::whom;
use super::{listen, seat};
use crate::cli::node::CheckArgs;
use crate::commands::Failure;
use crate::progress::{say, warn};
use prdo::budget::words::short;
use prdo_member::Membership;
use prdo_member::account::LedgerOptions;
use prdo_member::prepare::{Ready, Request};
use prdo_member::records::Reading;
use prdo_peer::wire::hex;
use serde_json::{Value as Json, json};

/// What became of an attempt to reach a neighbour.
pub struct Attempt {
    pub name: String,
    pub addresses: String,
    /// Why it was not reached; `None` if it was.
    pub why: Option<String>,
}

pub fn run(args: &CheckArgs) -> Result<(), Failure> {
    let own = &args.own;
    let (identity, seat) = seat(own)?;
    let address = listen(own, &seat)?;
    let ledger = LedgerOptions { file: own.ledger.clone(), budget: own.budget, raise: own.raise_budget };
    let reading = Reading { label: own.label.as_deref(), columns: &own.columns, test: false };
    let home = args.home.as_deref().filter(|home| home.exists());
    let request = Request { key: &own.key, data: &own.data, reading, ledger: &ledger, home };
    let ready = Ready::new(seat, &request)?;
    warn(ready.warnings());
    if !own.json {
        lines(&ready).iter().for_each(|line| say(line));
    }
    let attempts = match args.offline {
        true => None,
        false => Some(try_neighbours(ready.membership(), &identity, address, args.wait)?),
    };
    if own.json {
        say(&object(&ready, attempts.as_deref()).to_string());
    } else if let Some(attempts) = &attempts {
        table(attempts).iter().for_each(|line| say(line));
    }
    let missed = attempts.iter().flatten().filter(|a| a.why.is_some());
    let missed: Vec<&str> = missed.map(|a| a.name.as_str()).collect();
    match missed.is_empty() {
        true => Ok(()),
        false => Err(Failure::Input(format!("not reached: {}", missed.join(", ")))),
    }
}

#[cfg(feature = "peers")]
fn try_neighbours(
    seat: &Membership,
    identity: &prdo_peer::identity::Identity,
    address: std::net::SocketAddr,
    seconds: f64,
) -> Result<Vec<Attempt>, Failure> {
    let wait = std::time::Duration::try_from_secs_f64(seconds).unwrap_or_default();
    super::links::attempt(seat, identity, address, wait)
}

#[cfg(not(feature = "peers"))]
fn try_neighbours(
    _: &Membership,
    _: &prdo_peer::identity::Identity,
    _: std::net::SocketAddr,
    _: f64,
) -> Result<Vec<Attempt>, Failure> {
    Err(Failure::Input("this prdo was built without the feature `peers`: add --offline".into()))
}

fn lines(ready: &Ready) -> Vec<String> {
    let (seat, outlook) = (ready.membership(), &ready.forecast);
    let (terms, planned) = (seat.agreement.terms(), &seat.planned);
    let mut lines = vec![
        format!(
            "agreement  {}, hash {}, signed by all {}",
            terms.name,
            hex(&seat.agreement.run_hash()[..6]),
            terms.members.len()
        ),
        format!("member     {}, number {}", seat.member.name, seat.number),
        format!(
            "data       matches: {} records in {} public slots, {} features",
            ready.records(),
            seat.slots(),
            terms.facts.features
        ),
        format!(
            "training   {} of {} with {} parameters, {} rounds left of {}, λ = {:.4}",
            planned.recipe.method.card().title,
            planned.model.kind,
            terms.dimension,
            outlook.rounds_left,
            terms.rounds,
            planned.spectrum.lambda
        ),
        format!(
            "privacy    ε = {} spent, {} after this run, budget {} at δ = {:e} (ledger {})",
            short(outlook.spent, 4),
            short(outlook.after, 4),
            outlook.budget.epsilon(),
            outlook.budget.delta(),
            ready.ledger().display()
        ),
    ];
    lines.extend(outlook.colluders.map(|colluders| format!("against    {}", whom(colluders))));
    lines
}

fn table(attempts: &[Attempt]) -> Vec<String> {
    let width =
        |text: fn(&Attempt) -> &str| attempts.iter().map(|a| text(a).chars().count()).max().unwrap_or(0);
    let (names, places) = (width(|a| &a.name), width(|a| &a.addresses));
    let row = |a: &Attempt| {
        let what = a.why.as_ref().map_or("reached".to_string(), |why| format!("not reached: {why}"));
        format!("neighbour  {:<names$}  {:<places$}  {what}", a.name, a.addresses)
    };
    attempts.iter().map(row).collect()
}

fn object(ready: &Ready, attempts: Option<&[Attempt]>) -> Json {
    let (seat, outlook) = (ready.membership(), &ready.forecast);
    let terms = seat.agreement.terms();
    let attempt = |a: &Attempt| json!({ "name": a.name, "addresses": a.addresses, "reached": a.why.is_none(), "why": a.why });
    json!({
        "agreement": hex(&seat.agreement.run_hash()),
        "run": hex(&terms.run),
        "name": terms.name,
        "member": seat.member.name,
        "number": seat.number,
        "records": ready.records(),
        "slots": seat.slots(),
        "method": seat.planned.recipe.method.to_string(),
        "dimension": terms.dimension,
        "rounds": terms.rounds,
        "rounds_left": outlook.rounds_left,
        "lambda": seat.planned.spectrum.lambda,
        "ledger": ready.ledger().display().to_string(),
        "epsilon_spent": outlook.spent,
        "epsilon_after": outlook.after,
        "budget": outlook.budget.epsilon(),
        "delta": outlook.budget.delta(),
        "colluders": outlook.colluders,
        "neighbours": attempts.map(|list| list.iter().map(attempt).collect::<Vec<_>>()),
    })
}
