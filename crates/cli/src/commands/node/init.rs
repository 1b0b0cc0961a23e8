//! `prdo node init`: a run agreement from a run file and a list of members.

use super::continues::OldAgreement;
use super::{in_file, read_text, sign, summary};
use crate::cli::node::InitArgs;
use crate::commands::{Failure, read_run_file, target};
use crate::progress::{tell, warn};
use prdo::build::{Planned, Public, Wiring, public_facts, terms, wiring};
use prdo::disk::write_atomically;
use prdo::models::Labels;
use prdo::runfile::{ConfigError, Document, Key};
use prdo::store::RecordFacts;
use prdo_member::agreed::{Proposal, agreed};
use prdo_peer::agreement::{Agreement, new_run, parse_members};
use prdo_peer::identity::Identity;

pub fn run(args: &InitArgs) -> Result<(), Failure> {
    let given = [("the run file", Some(&args.file)), ("the list of members", Some(&args.members))];
    let old = [("a key", args.key.as_ref()), ("the old agreement", args.continues.as_ref())];
    let reads = given.into_iter().chain(old).filter_map(|(what, path)| Some((what, path?.clone())));
    target::check(&args.out, reads, args.overwrite)?;
    let mut document = read_run_file(&args.file, &args.set)?;
    let data = document.file(Key::DataPath).map(|path| ("the file with the records", path));
    target::check(&args.out, data, true)?;
    let identity = args.key.as_deref().map(Identity::read).transpose()?;
    let members =
        parse_members(&read_text(&args.members)?, args.relay.is_some()).map_err(in_file(&args.members))?;
    let old = match (&args.continues, args.rounds_done) {
        (Some(path), Some(rounds)) => Some(OldAgreement::read(path, rounds)?),
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
    let run = new_run().map_err(in_file(&args.out))?;
    let (relay, continues) = (args.relay.clone(), old.as_ref().map(OldAgreement::hash));
    let terms = Proposal { run, continues, relay, facts, members }.terms(&document, &planned)?;
    let mut agreement = Agreement::write(terms).map_err(in_file(&args.out))?;
    // What every member will make of it.
    let (settings, planned_by_all) = agreed(&agreement)?;
    if let Some(old) = &old {
        old.check_model(agreement.terms(), &settings)?;
        old.check_colluders(&planned_by_all)?;
    }
    if let (Some(identity), Some(key)) = (&identity, &args.key) {
        sign(&mut agreement, &args.out, key, identity)?;
    }
    caution(&document, &planned);
    write_atomically(&args.out, agreement.to_file().as_bytes())?;
    summary::show(&args.out, &agreement, &planned_by_all, args.json)
}

/// Graph and weights for as many nodes as there are members.
fn wiring_of(document: &Document, args: &InitArgs, members: usize) -> Result<Wiring, ConfigError> {
    let shown = args.members.display();
    let differ = |nodes: usize| {
        let message =
            format!("graph.nodes = {nodes} is not allowed: it must be {members}, the members in {shown}");
        document.error(Key::GraphNodes, message).help("omit graph.nodes, or list as many members")
    };
    // Before the graph is built: a graph of other nodes may not even exist.
    if let Some(nodes) = document.run_file().graph.nodes.filter(|n| *n != members) {
        return Err(differ(nodes));
    }
    let wiring = wiring(&document.run_file(), Some(members))?;
    let nodes = wiring.graph.nodes();
    if nodes == members { Ok(wiring) } else { Err(differ(nodes)) }
}

/// The shape of everybody's records, and whether they are images as bytes: as the options say, or as the run file's
/// data shows.
fn facts_of(document: &Document, args: &InitArgs) -> Result<(RecordFacts, bool), ConfigError> {
    let run = document.run_file();
    let kind = run.model_kind()?;
    let (features, classes) =
        (named(&args.feature_names, args.features)?, named(&args.class_names, args.classes)?);
    if features.is_none() && classes.is_none() && args.image.is_none() {
        let given = public_facts(&run, kind).map_err(|e| {
            let help = "if the data is not here: --feature-names A,B,… --class-names C,D,… (or --features N --classes K; \
                        images: --image CxHxW) say what is needed";
            let absent = run.data.path().is_some_and(|path| !path.exists());
            match e.help.clone() {
                Some(first) if absent => e.help(format!("{first}; {help}")),
                Some(_) => e,
                None => e.help(help),
            }
        })?;
        if let Some(file) = &run.data.file.path {
            let path = &file.typed;
            tell(&format!("only the shape and the names of the records are taken from {path}, no record"));
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
    let stated = run.data.file.features.clone().unwrap_or_default();
    let given =
        if args.feature_names.is_empty() && args.image.is_none() { &stated } else { &args.feature_names };
    let features = named(given, features)?;
    let missing = || ConfigError::anywhere("--features is missing: how many features does a record have?");
    let features = features.or(pixels).ok_or_else(missing)?;
    let classes = classes.or(run.data.classes.map(|k| k as u64));
    let classes = match (kind.labels(), classes) {
        (Some(Labels::Two), None | Some(2)) => Some(2),
        (Some(Labels::Two), Some(k)) => {
            let message = format!("--classes {k} is not allowed: model.kind = {:?} needs 2", kind.name());
            return Err(ConfigError::anywhere(message));
        }
        (Some(Labels::Classes) | None, None) => {
            return Err(ConfigError::anywhere("--classes is missing: how many classes do labels have?"));
        }
        (Some(Labels::Classes | Labels::Unread) | None, classes) => classes,
    };
    let names = |list: &[String]| (!list.is_empty()).then(|| list.to_vec());
    let (feature_names, class_names) = (names(given), names(&args.class_names));
    let facts = RecordFacts { features, classes, image: args.image, feature_names, class_names };
    Ok((facts, args.image.is_some()))
}

/// How many there are: as many as names, if names are given.
fn named(names: &[String], number: Option<u64>) -> Result<Option<u64>, ConfigError> {
    if names.is_empty() {
        return Ok(number);
    }
    let twice = names.iter().enumerate().find(|(k, name)| names.iter().take(*k).any(|other| other == *name));
    if let Some((_, name)) = twice {
        return Err(ConfigError::anywhere(format!("the name {name:?} is given twice")));
    }
    match number {
        Some(number) if number != names.len() as u64 => Err(ConfigError::anywhere(format!(
            "{number} is not allowed with {} names ({}): omit the number",
            names.len(),
            names.join(",")
        ))),
        _ => Ok(Some(names.len() as u64)),
    }
}

fn caution(document: &Document, planned: &Planned) {
    warn(&planned.recipe.warnings);
    if document.has(Key::PrivacyStatement) {
        tell(
            "warning: privacy.statement is not used here: each member's own ledger counts what its records have cost",
        );
    }
}
