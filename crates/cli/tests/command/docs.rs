//! The documentation: every page is in the book, links lead somewhere, reference pages are what the code says, and
//! what the tutorial types gives what it shows.

use crate::common::Desk;
use prdo::runfile::Key;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::{Component, Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Every Markdown page under docs, and those at the top.
fn pages() -> Vec<PathBuf> {
    let mut pages = Vec::new();
    let mut folders = vec![root().join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                folders.push(entry);
            } else if entry.extension().is_some_and(|e| e == "md") {
                pages.push(entry);
            }
        }
    }
    pages.sort();
    pages
}

/// The targets of a page's links and images, code left out.
fn links(text: &str) -> Vec<String> {
    let mut links = Vec::new();
    let mut code = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            code = !code;
        }
        if code || line.starts_with("    ") {
            continue;
        }
        let bare: String = line.split('`').step_by(2).collect::<Vec<_>>().join("``");
        for rest in bare.split("](").skip(1) {
            links.extend(rest.split(')').next().map(String::from));
        }
    }
    links
}

/// A heading's anchor, as GitHub and mdBook make it.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    let kept = kept.chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[test]
fn every_page_is_in_the_book_and_every_link_leads_somewhere() {
    let top = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "bench/README.md"];
    let mut wrong = Vec::new();
    for page in pages().into_iter().chain(top.iter().map(|name| root().join(name))) {
        let text = fs::read_to_string(&page).unwrap();
        for link in links(&text).into_iter().filter(|link| !link.contains("://")) {
            let (path, mark) = link.split_once('#').unwrap_or((&link, ""));
            let target = if path.is_empty() { page.clone() } else { page.parent().unwrap().join(path) };
            let there = target.exists();
            let marked = mark.is_empty() || {
                let text = fs::read_to_string(&target).unwrap_or_default();
                text.lines().filter(|l| l.starts_with('#')).any(|l| anchor(l.trim_start_matches('#')) == mark)
            };
            if !(there && marked) {
                wrong.push(format!("{}: {link}", page.strip_prefix(root()).unwrap().display()));
            }
        }
    }
    let summary = fs::read_to_string(root().join("docs/SUMMARY.md")).unwrap();
    let listed: BTreeSet<PathBuf> =
        links(&summary).iter().map(|link| root().join("docs").join(link)).collect();
    for page in pages().iter().filter(|page| !page.ends_with("SUMMARY.md") && !listed.contains(*page)) {
        wrong.push(format!("docs/SUMMARY.md does not list {}", page.strip_prefix(root()).unwrap().display()));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Holds a page against what it should be; with `PRDO_BLESS=1` writes it.
#[track_caller]
fn generated(name: &str, text: &str) {
    let path = root().join("docs/reference").join(name);
    if std::env::var_os("PRDO_BLESS").is_some() {
        fs::write(&path, text).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == text,
        "docs/reference/{name} is not what the code says: PRDO_BLESS=1 cargo test --test command docs::"
    );
}

#[test]
fn the_reference_of_run_files_is_what_the_code_checks() {
    let mut text = String::from(
        "# Every key of run files\n\nMade from the list that files are checked against (`prdo example --keys` prints the \
         same). A list where one value is meant is a sweep, for `prdo compare`.\n",
    );
    let mut section = "none yet";
    for key in Key::all() {
        let (in_section, name) = key.path().split_once('.').unwrap_or(("", key.path()));
        if in_section != section {
            section = in_section;
            let title = if section.is_empty() { "At the top".into() } else { format!("[{section}]") };
            let note =
                if section == "resolved" { "Written by prdo into a run's `run.toml`.\n\n" } else { "" };
            let _ = write!(
                text,
                "\n## {title}\n\n{note}| key | meaning | allowed | default |\n|---|---|---|---|\n"
            );
        }
        let cell = |text: &str| text.replace('|', "\\|").replace('<', "&lt;");
        let default = key.default().map_or(String::new(), |default| format!("`{default}`"));
        let _ = writeln!(
            text,
            "| `{name}` | {} | {} | {default} |",
            cell(key.doc()),
            cell(&key.value_type().allowed())
        );
    }
    generated("run-file.md", &text);
}

/// The commands within one, by the list in its help.
fn within(help: &str) -> Vec<String> {
    let list =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let name =
        |line: &str| line.strip_prefix("  ")?.split(' ').next().filter(|n| !n.is_empty()).map(String::from);
    list.filter_map(name).filter(|name| name != "help").collect()
}

fn describe(desk: &Desk, command: &str, text: &mut String) {
    let help = desk.prdo(&format!("{command} --help")).done().stdout;
    let _ = write!(
        text,
        "\n## prdo{}{command}\n\n```text\n{}\n```\n",
        if command.is_empty() { "" } else { " " },
        help.trim_end()
    );
    for inner in within(&help) {
        describe(desk, format!("{command} {inner}").trim_start(), text);
    }
}

#[test]
fn the_reference_of_commands_is_their_own_help() {
    let mut text = String::from("# Every command\n\nWhat `--help` says.\n");
    describe(&Desk::new(), "", &mut text);
    assert!(text.matches("\n## ").count() > 30);
    generated("commands.md", &text);
}

/// What a page types and what it shows: each `$ ` with its `> ` lines, and the lines until the next.
fn typed(page: &str) -> Vec<(String, Vec<String>)> {
    let mut steps: Vec<(String, Vec<String>)> = Vec::new();
    for block in page.split("```console\n").skip(1) {
        for line in block.split("```").next().unwrap_or("").lines() {
            match (line.strip_prefix("$ "), line.strip_prefix("> ")) {
                (Some(command), _) => steps.push((command.to_string(), Vec::new())),
                (None, Some(more)) => {
                    let last = steps.last_mut().unwrap();
                    let _ = write!(last.0, "\n{more}");
                }
                (None, None) => steps.last_mut().unwrap().1.push(line.to_string()),
            }
        }
    }
    steps
}

/// Whether the lines are as shown: `…` within a line stands for anything in it, on a line of its own for any lines.
fn matches(shown: &[String], lines: &[&str]) -> bool {
    let Some((first, rest)) = shown.split_first() else { return lines.is_empty() };
    if first == "…" {
        return (0..=lines.len()).any(|skipped| matches(rest, &lines[skipped..]));
    }
    let Some((line, others)) = lines.split_first() else { return false };
    let parts: Vec<&str> = first.split('…').collect();
    let mut at = 0;
    let found = parts.iter().enumerate().all(|(k, part)| match line[at..].find(part) {
        Some(place) if k > 0 || place == 0 => {
            at += place + part.len();
            true
        }
        _ => false,
    });
    found && (first.ends_with('…') || at == line.len()) && matches(rest, others)
}

#[test]
fn the_tutorial_shows_what_happens() {
    let binary = Path::new(env!("CARGO_BIN_EXE_prdo")).parent().unwrap().to_path_buf();
    let path = std::env::join_paths(
        [binary].into_iter().chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    let path = path.unwrap();
    let mut count = 0;
    for page in
        pages().iter().filter(|page| page.components().any(|c| c == Component::Normal("tutorial".as_ref())))
    {
        let desk = Desk::new();
        for (command, shown) in typed(&fs::read_to_string(page).unwrap()) {
            let mut shell = std::process::Command::new("sh");
            shell.args(["-c", &format!("exec 2>&1\n{command}")]).current_dir(desk.path(""));
            let output = shell.env("PATH", &path).output().unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            let lines: Vec<&str> = text.lines().collect();
            assert!(matches(&shown, &lines), "{}\n$ {command}\n{text}", page.display());
            count += 1;
        }
    }
    assert!(count >= 15, "{count} commands");
}

#[test]
fn shown_lines_are_compared_and_dots_stand_for_anything() {
    let shown = |text: &str| text.lines().map(String::from).collect::<Vec<_>>();
    assert!(matches(&shown("a … c\n…\nz"), &["a bb c", "x", "y", "z"]));
    assert!(matches(&shown("…"), &[]) && matches(&shown("in … s"), &["in 0.1 s"]));
    for wrong in ["a … d", "b … c", "a … c\nz"] {
        assert!(!matches(&shown(wrong), &["a bb c"]), "{wrong}");
    }
}
