//! Golden files: texts that the command writes, kept whole in `tests/golden` and changed on purpose only.

use super::Desk;
use std::path::{Path, PathBuf};

const HINT: &str =
    "if the change is meant: the same `cargo test` with PRDO_GOLDEN=write writes it; read the diff";

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

/// Holds a text against its golden file, both masked; with `PRDO_GOLDEN=write` writes the file instead.
#[track_caller]
pub fn same(name: &str, text: &str) {
    let (path, text) = (path(name), mask(text));
    if std::env::var_os("PRDO_GOLDEN").is_some_and(|how| how == "write") {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &text).unwrap();
        return;
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("tests/golden/{name}: {e}; {HINT}"));
    let kept = mask(&kept);
    if let Some((number, old, new)) = first_difference(&kept, &text) {
        panic!("tests/golden/{name}, line {number}\nwas: {old}\nnow: {new}\n{HINT}");
    }
}

/// The first line that differs, with its number.
fn first_difference<'a>(old: &'a str, new: &'a str) -> Option<(usize, &'a str, &'a str)> {
    let (mut a, mut b) = (old.lines(), new.lines());
    let mut number = 0;
    loop {
        number += 1;
        match (a.next(), b.next()) {
            (None, None) => return None,
            (x, y) if x == y => {}
            (x, y) => return Some((number, x.unwrap_or("(the end)"), y.unwrap_or("(the end)"))),
        }
    }
}

/// Columns of tables that hold seconds, in CSV, Markdown and reports.
const TIMED_COLUMNS: [&str; 2] = ["seconds", "s"];
/// Fields of JSON that hold seconds.
const TIMED_FIELDS: [&str; 1] = ["\"seconds\":"];
/// Units of durations in prose.
const UNITS: [&str; 4] = ["s", "ms", "min", "h"];
/// What stands before prdo's version.
const BEFORE_VERSION: [&str; 2] = ["prdo ", "prdo = \""];

/// What may differ from one run to the next, or from one release to the next, becomes `#`: seconds, and the version.
/// Masking twice changes nothing.
pub fn mask(text: &str) -> String {
    let mut text = text.to_string();
    for before in BEFORE_VERSION {
        text = text.replace(&format!("{before}{}", env!("CARGO_PKG_VERSION")), &format!("{before}#"));
    }
    let mut masked = String::new();
    let mut timed = Timed::default();
    for line in text.lines() {
        let line = timed.mask(line);
        let line = TIMED_FIELDS.iter().fold(line, |line, field| mask_field(&line, field));
        masked += &mask_durations(&line);
        masked.push('\n');
    }
    masked
}

/// The column of seconds in the table that is being read, if it has one.
#[derive(Default)]
struct Timed {
    /// What stands between its cells, how many there are, and which one holds seconds.
    table: Option<(&'static str, usize, usize)>,
}

impl Timed {
    fn mask(&mut self, line: &str) -> String {
        for between in [",", " | "] {
            let cells: Vec<&str> = line.split(between).collect();
            let header = cells.iter().position(|cell| TIMED_COLUMNS.contains(cell));
            if let Some(column) = header.filter(|_| cells.len() > 2) {
                self.table = Some((between, cells.len(), column));
                return line.to_string();
            }
        }
        let Some((between, width, column)) = self.table else { return line.to_string() };
        let mut cells: Vec<&str> = line.split(between).collect();
        if cells.len() != width {
            self.table = None;
            return line.to_string();
        }
        if cells[column].parse::<f64>().is_ok() {
            cells[column] = "#";
        }
        cells.join(between)
    }
}

fn mask_field(line: &str, field: &str) -> String {
    let mut parts = line.split(field);
    let mut masked = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let number = part.trim_start_matches(' ');
        let blank = &part[..part.len() - number.len()];
        let rest = number.trim_start_matches(|c: char| c.is_ascii_digit() || "#.e-".contains(c));
        masked += &format!("{field}{blank}#{rest}");
    }
    masked
}

/// A number before a unit of time.
fn mask_durations(line: &str) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    let number = |word: &str| word.parse::<f64>().is_ok();
    let unit = |word: Option<&&str>| {
        word.is_some_and(|word| UNITS.contains(&word.trim_end_matches(|c: char| c.is_ascii_punctuation())))
    };
    let masked = words.iter().enumerate().map(|(at, word)| match number(word) && unit(words.get(at + 1)) {
        true => "#",
        false => word,
    });
    masked.collect::<Vec<_>>().join(" ")
}

/// `DESK/` in place of where the desk is.
pub fn placeless(desk: &Desk, text: &str) -> String {
    text.replace(&desk.path("").display().to_string(), "DESK/")
}

/// What was told on stderr, without what is told only if work takes long.
pub fn told(stderr: &str) -> String {
    let progress = |line: &str| line.split('/').next().is_some_and(|word| word.parse::<u64>().is_ok());
    let lines = stderr.lines().filter(|line| !line.ends_with('…') && !progress(line));
    lines.map(|line| format!("{line}\n")).collect()
}

/// Every number as `#`, lines without a word left out: of texts whose numbers depend on the processor. Networks are
/// computed in single precision, which rounds differently with other instructions.
pub fn without_numbers(text: &str) -> String {
    let mut masked = String::new();
    for line in text.lines().filter(|line| line.chars().any(char::is_alphabetic)) {
        let mut digits = false;
        for c in line.chars() {
            let part = c.is_ascii_digit() || (digits && c == '.');
            if part && !digits {
                masked.push('#');
            } else if !part {
                masked.push(c);
            }
            digits = part;
        }
        masked.push('\n');
    }
    masked
}

/// Tags that do not end a line.
const INLINE: [&str; 10] = ["a", "abbr", "code", "em", "i", "small", "strong", "sub", "sup", "tspan"];

/// The visible text of a page: a line for each block and each row of a table.
pub fn visible_text(page: &str) -> String {
    let mut text = String::new();
    let (mut rest, mut in_code) = (page, false);
    while let Some(at) = rest.find('<') {
        text += &rest[..at].replace('\n', if in_code { "\n" } else { " " });
        rest = &rest[at..];
        if let Some(comment) = rest.strip_prefix("<!--") {
            rest = comment.split_once("-->").map_or("", |(_, after)| after);
            continue;
        }
        let (tag, after) = rest[1..].split_once('>').unwrap_or((rest, ""));
        rest = after;
        let name = tag.split(|c: char| c.is_whitespace() || c == '/').find(|part| !part.is_empty());
        match name.unwrap_or_default() {
            hidden @ ("script" | "style") if !tag.starts_with('/') => {
                rest = rest.split_once(&format!("</{hidden}>")).map_or("", |(_, after)| after);
            }
            "td" | "th" if tag.starts_with('/') => text += " | ",
            "td" | "th" => {}
            "pre" => {
                in_code = !tag.starts_with('/');
                text.push('\n');
            }
            name if INLINE.contains(&name) => {}
            "b" | "span" => text.push(' '),
            _ => text.push('\n'),
        }
    }
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&#39;", "'");
    let lines = text.replace("&nbsp;", " ").replace("&amp;", "&");
    let lines = lines.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    lines.filter(|line| !line.is_empty()).map(|line| line + "\n").collect()
}
