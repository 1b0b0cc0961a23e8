//! What to say of options that a command does not have, but run files do.

use super::Cli;
use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use prdo::runfile::{Key, Section};

/// The same error with a tip, where the unknown option is a key of run files that `--set` would give.
pub fn explained(mut error: clap::Error, typed: &[String]) -> clap::Error {
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else { return error };
    if error.kind() != ErrorKind::UnknownArgument || !takes_settings(typed) {
        return error;
    }
    if let Some(tip) = tip(option, typed) {
        error.remove(ContextKind::SuggestedArg);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    error
}

/// Whether the command that was typed has `--set`.
fn takes_settings(typed: &[String]) -> bool {
    let mut command = Cli::command();
    for word in typed.iter().skip(1) {
        match command.find_subcommand(word) {
            Some(inner) => command = inner.clone(),
            None => break,
        }
    }
    command.get_arguments().any(|argument| argument.get_long() == Some("set"))
}

/// How the setting that `option` is named after is given.
fn tip(option: &str, typed: &[String]) -> Option<String> {
    /// Of a name that many sections have, no more are listed.
    const MOST: usize = 3;
    let name = option.trim_start_matches('-').replace('-', "_");
    // What a run writes into its own file is no setting.
    let of_name = |key: &&Key| key.name() == name && key.section() != Some(Section::Resolved);
    let value = value(option, typed).unwrap_or("VALUE");
    let keys = Key::all().iter().filter(of_name).take(MOST);
    let all: Vec<String> = keys.map(|key| format!("'--set {key}={value}'")).collect();
    (!all.is_empty()).then(|| format!("settings of the run file are given with --set: {}", all.join(" or ")))
}

/// What was typed for it: after a blank or an equals sign.
fn value<'a>(option: &str, typed: &'a [String]) -> Option<&'a str> {
    let at = typed.iter().position(|word| word == option || word.starts_with(&format!("{option}=")))?;
    match typed.get(at)?.split_once('=') {
        Some((_, value)) => Some(value),
        None => typed.get(at + 1).map(String::as_str).filter(|next| !next.starts_with("--")),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use clap::Parser;

    fn said(line: &str) -> String {
        let typed: Vec<String> = line.split(' ').map(String::from).collect();
        explained(Cli::try_parse_from(&typed).unwrap_err(), &typed).to_string()
    }

    #[test]
    fn settings_typed_as_options_are_pointed_to_set() {
        for (line, words) in [
            ("prdo run a.toml --epsilon 1", "'--set privacy.epsilon=1'"),
            ("prdo run a.toml --rounds=70", "'--set rounds=70'"),
            ("prdo worth a.toml --step-size 3", "'--set method.step_size=3'"),
            ("prdo compare a.toml --gamma", "'--set method.gamma=VALUE'"),
        ] {
            let said = said(line);
            assert!(said.contains(words) && !said.contains("as a value"), "{line}: {said}");
        }
        assert!(!said("prdo run a.toml --nonsense 1").contains("--set"));
        assert!(!said("prdo doctor --epsilon 1").contains("--set"));
    }
}
