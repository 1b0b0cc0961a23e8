//! `prdo node init`: a run agreement from a run file and a list of members.

use super::continues::Old;
use super::{in_file, read_text, summary};
use crate::cli::node::InitArgs;
use crate::commands::{Failure, target};
use crate::progress::tell;
use prdo::config::{
    ConfigError, Document, Planned, Public, Wiring, agreed, model_kind, public_facts, resolved, terms, wiring,
};
use prdo::output::write_atomically;
use prdo::peer::agreement::{Agreement, Facts, Member, Terms, new_run, parse_members};
use prdo::peer::identity::Identity;

pub fn run(args: &InitArgs) -> Result<(), Failure> {
    let given = [("the run file", Some(&args.file)), ("the list of members", Some(&args.members))];
    let old = [("a key", args.key.as_ref()), ("the old agreement", args.continues.as_ref())];
    let reads = given.into_iter().chain(old).filter_map(|(what, path)| Some((what, path?.clone())));
    target::check(&args.out, reads, args.overwrite)?;
    let mut document = Document::read(&args.file)?;
    for assignment in &args.set {
        document.set(assignment)?;
    }
    let data = document.file("data.path").map(|path| ("the file with the records", path));
    target::check(&args.out, data, true)?;
    let identity = args.key.as_deref().map(Identity::read).transpose()?;
    let members =
        parse_members(&read_text(&args.members)?, args.relay.is_some()).map_err(in_file(&args.members))?;
    let old = match (&args.continues, args.rounds_done) {
        (Some(path), Some(rounds)) => Some(Old::read(path, rounds)?),
        _ => None,
    };
    if let Some(old) = &old {
        old.charge(&mut document)?;
        old.check_members(&members)?;
    }
    let wiring = wiring_of(&document, args, members.len())?;
    let (facts, bytes) = facts_of(&document, args)?;
    let records: Vec<usize> = members.iter().map(|m| m.records as usize).collect();
    let planned = terms(&document, wiring, &Public { facts: &facts, bytes, records: &records })?;
    let continues = old.as_ref().map(Old::hash);
    let terms = agreement_terms(&document, args, &planned, members, facts, continues)?;
    let mut agreement = Agreement::write(terms).map_err(in_file(&args.out))?;
    // What every member will make of it.
    let (settings, planned_by_all) = agreed(&agreement)?;
    if let Some(old) = &old {
        old.check_model(agreement.terms(), &settings)?;
    }
    if let Some(identity) = &identity {
        agreement.sign(identity).map_err(in_file(&args.out))?;
    }
    warn(&document, &planned);
    write_atomically(&args.out, agreement.to_file().as_bytes())?;
    summary::show(&args.out, &agreement, &planned_by_all, args.json);
    Ok(())
}

/// Graph and weights for as many nodes as there are members.
fn wiring_of(document: &Document, args: &InitArgs, members: usize) -> Result<Wiring, ConfigError> {
    let shown = args.members.display();
    let differ = |nodes: usize| {
        let message =
            format!("graph.nodes = {nodes} is not allowed: it must be {members}, the members in {shown}");
        document.error("graph.nodes", message).help("leave graph.nodes out, or list as many members")
    };
    // Before the graph is built: a graph of other nodes may not even exist.
    if let Some(nodes) = document.integer("graph.nodes").filter(|n| *n != members as u64) {
        return Err(differ(nodes as usize));
    }
    let wiring = wiring(document, Some(members))?;
    let nodes = wiring.graph.nodes();
    if nodes == members { Ok(wiring) } else { Err(differ(nodes)) }
}

/// The shape of everybody's records, and whether they are images as bytes: as the options say, or as the run file's
/// data shows.
fn facts_of(document: &Document, args: &InitArgs) -> Result<(Facts, bool), ConfigError> {
    let kind = model_kind(document)?;
    let (features, classes) =
        (named(&args.feature_names, args.features)?, named(&args.class_names, args.classes)?);
    if features.is_none() && classes.is_none() && args.image.is_none() {
        let given = public_facts(document, &kind).map_err(|e| {
            let help = "if the data is not here: --feature-names A,B,… --class-names C,D,… (or --features N --classes K; \
                        images: --image CxHxW) say what is needed";
            let absent = document.file("data.path").is_some_and(|path| !path.exists());
            match e.help.clone() {
                Some(first) if absent => e.help(format!("{first}; {help}")),
                Some(_) => e,
                None => e.help(help),
            }
        })?;
        if let Some(path) = document.text("data.path") {
            tell(&format!("from {path} only the shape and the names of the records are taken, no record"));
        }
        return Ok(given);
    }
    let pixels = args.image.map(|sides| sides.iter().fold(1u64, |all, side| all.saturating_mul(*side)));
    if let (Some(features), Some(pixels)) = (features, pixels)
        && features != pixels
    {
        return Err(ConfigError::anywhere(format!(
            "--features {features} does not fit --image: it must be {pixels}"
        )));
    }
    // Names that the run file has are not forgotten because a number was typed.
    let stated = document.texts("data.features").unwrap_or_default();
    let given =
        if args.feature_names.is_empty() && args.image.is_none() { &stated } else { &args.feature_names };
    let features = named(given, features)?;
    let missing = || ConfigError::anywhere("--features is missing: how many features does a record have?");
    let features = features.or(pixels).ok_or_else(missing)?;
    let classes = classes.or(document.integer("data.classes"));
    let classes = match (kind.as_str(), classes) {
        ("logistic", None) => Some(2),
        ("logistic", Some(k)) if k != 2 => {
            let message = format!("--classes {k} is not allowed: model.kind = \"logistic\" needs 2");
            return Err(ConfigError::anywhere(message));
        }
        ("quadratic" | "log-cosh", classes) => classes,
        (_, None) => {
            return Err(ConfigError::anywhere("--classes is missing: how many classes do labels have?"));
        }
        (_, classes) => classes,
    };
    let names = |list: &[String]| (!list.is_empty()).then(|| list.to_vec());
    let (feature_names, class_names) = (names(given), names(&args.class_names));
    let facts = Facts { features, classes, image: args.image, feature_names, class_names };
    Ok((facts, args.image.is_some()))
}

/// How many there are: as many as names, if names are given.
fn named(names: &[String], number: Option<u64>) -> Result<Option<u64>, ConfigError> {
    if names.is_empty() {
        return Ok(number);
    }
    let twice = names.iter().enumerate().find(|(k, name)| names.iter().take(*k).any(|other| other == *name));
    if let Some((_, name)) = twice {
        return Err(ConfigError::anywhere(format!(
            "the name {name:?} is given twice: each may be there once"
        )));
    }
    match number {
        Some(number) if number != names.len() as u64 => Err(ConfigError::anywhere(format!(
            "{number} is not allowed with {} names ({}): leave the number out",
            names.len(),
            names.join(",")
        ))),
        _ => Ok(Some(names.len() as u64)),
    }
}

fn agreement_terms(
    document: &Document,
    args: &InitArgs,
    planned: &Planned,
    members: Vec<Member>,
    facts: Facts,
    continues: Option<[u8; 32]>,
) -> Result<Terms, Failure> {
    let recipe = &planned.recipe;
    let (exchanges_per_round, vectors) = recipe.method.exchanges(&recipe.settings);
    let row = |i: usize| {
        let entries = planned.wiring.mixing.row_entries(i);
        entries.filter(|(j, w)| *j == i || *w != 0.0).map(|(j, w)| (j as u32, w)).collect()
    };
    Ok(Terms {
        run: new_run().map_err(in_file(&args.out))?,
        name: document.text("name").unwrap_or_else(|| "run".into()),
        continues,
        rounds: recipe.rounds,
        exchanges_per_round,
        vectors,
        dimension: planned.model.dimension as u64,
        relay: args.relay.clone(),
        facts,
        weights: (0..members.len()).map(row).collect(),
        members,
        settings: resolved::to_agreed_toml(document, planned)?,
    })
}

/// What should be thought about before anyone signs.
fn warn(document: &Document, planned: &Planned) {
    for warning in &planned.recipe.warnings {
        tell(&format!("warning: {warning}"));
    }
    if document.has("privacy.statement") {
        tell(
            "warning: privacy.statement is not used here: each member's own ledger counts what its records have cost",
        );
    }
}
