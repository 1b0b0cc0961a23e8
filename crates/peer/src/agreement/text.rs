//! Terms as text and back. What is read is written again and compared, so there is one text for the same terms.

use super::check::check_members;
use super::{AgreementError, Facts, Member, Terms};
use crate::identity::{PublicKey, Signature};
use crate::machine::Row;
use crate::share_key::ShareKey;
use crate::wire::{Hash, from_hex, hex};
use prdo_algorithm::{Exchanges, Shape};
use prdo_privacy::Packing;
use std::fmt::Write;
use toml::{Table, Value};

/// The line between the terms and the signatures.
pub const MARKER: &str = "# Signatures of everything above this line:";

/// The most bytes of an agreement.
pub const LONGEST: usize = 32 << 20;

const REMARK: &str = "\
# A prdo run agreement. Read it, then sign it with `prdo node sign`: whoever signs agrees to these members, this graph,
# this method and this privacy. Nothing may be edited: the hash would be another one.
";

const FORMAT: u64 = 1;

/// What stands above the marker, and below it.
pub(super) fn split(file: &str) -> Option<(&str, &str)> {
    let mut start = 0;
    for line in file.split_inclusive('\n') {
        let end = start + line.len();
        if line.strip_suffix('\n') == Some(MARKER) {
            return Some((file.get(..start)?, file.get(end..)?));
        }
        start = end;
    }
    None
}

pub(super) fn write(terms: &Terms) -> String {
    let mut text = String::from(REMARK);
    // Writing to a string does not fail.
    let _ = write_head(&mut text, terms);
    let _ = write_facts(&mut text, &terms.facts);
    for (i, (member, row)) in terms.members.iter().zip(&terms.weights).enumerate() {
        let _ = write_member(&mut text, i, member, row);
        let _ = write_later(&mut text, terms.later_weights.iter().filter_map(|turn| turn.get(i)));
    }
    let _ = write!(text, "\n[settings]\nrun_file = \"\"\"\n{}\"\"\"\n", many_lines(&terms.settings));
    text
}

fn write_head(text: &mut String, terms: &Terms) -> std::fmt::Result {
    writeln!(text, "format = {FORMAT}")?;
    writeln!(text, "run = \"{}\"", hex(&terms.run))?;
    writeln!(text, "name = {}", one_line(&terms.name))?;
    if let Some(hash) = &terms.continues {
        writeln!(text, "continues = \"{}\"", hex(hash))?;
    }
    writeln!(text, "rounds = {}", terms.rounds)?;
    write_exchanges(text, &terms.exchanges)?;
    writeln!(text, "dimension = {}", terms.dimension)?;
    if let Some(relay) = &terms.relay {
        writeln!(text, "relay = {}", one_line(relay))?;
    }
    if terms.share_keys { writeln!(text, "share_keys = true") } else { Ok(()) }
}

/// What is as in the first agreements has no line: their texts stay what they were.
fn write_exchanges(text: &mut String, exchanges: &Exchanges) -> std::fmt::Result {
    let Exchanges { per_round, every, shape, final_mixings } = exchanges;
    writeln!(text, "exchanges_per_round = {per_round}")?;
    if *every != 1 {
        writeln!(text, "exchanges_every = {every}")?;
    }
    writeln!(text, "vectors = {}", shape.vectors)?;
    if shape.numbers != 0 {
        writeln!(text, "numbers = {}", shape.numbers)?;
    }
    if *final_mixings != 0 {
        writeln!(text, "final_mixings = {final_mixings}")?;
    }
    match shape.packing {
        Packing::Plain => Ok(()),
        packing => writeln!(text, "packing = {}", one_line(&packing.to_string())),
    }
}

fn write_facts(text: &mut String, facts: &Facts) -> std::fmt::Result {
    let list = |names: &[String]| names.iter().map(|n| one_line(n)).collect::<Vec<_>>().join(", ");
    writeln!(text, "\n[facts]\nfeatures = {}", facts.features)?;
    if let Some(classes) = facts.classes {
        writeln!(text, "classes = {classes}")?;
    }
    if let Some(names) = &facts.class_names {
        writeln!(text, "class_names = [{}]", list(names))?;
    }
    if let Some(names) = &facts.feature_names {
        writeln!(text, "feature_names = [{}]", list(names))?;
    }
    match facts.image {
        Some([channels, height, width]) => writeln!(text, "image = [{channels}, {height}, {width}]"),
        None => Ok(()),
    }
}

fn write_member(text: &mut String, i: usize, member: &Member, row: &[(u32, f64)]) -> std::fmt::Result {
    let addresses = member.addresses.iter().map(|a| format!("\"{a}\"")).collect::<Vec<_>>().join(", ");
    writeln!(text, "\n# member {i}\n[[member]]\nname = \"{}\"\nkey = \"{}\"", member.name, member.key)?;
    writeln!(text, "addresses = [{addresses}]\nrecords = {}\nweights = {}", member.records, listed(row))
}

/// A member's rows of further turns, where there are any.
fn write_later<'a>(text: &mut String, rows: impl Iterator<Item = &'a Row>) -> std::fmt::Result {
    let rows: Vec<String> = rows.map(|row| listed(row)).collect();
    if rows.is_empty() { Ok(()) } else { writeln!(text, "later_weights = [{}]", rows.join(", ")) }
}

fn listed(row: &[(u32, f64)]) -> String {
    let pairs: Vec<String> = row.iter().map(|(j, w)| format!("[{j}, {w:?}]")).collect();
    format!("[{}]", pairs.join(", "))
}

fn one_line(text: &str) -> String {
    let mut quoted = String::from("\"");
    text.chars().for_each(|c| escape(&mut quoted, c));
    quoted.push('"');
    quoted
}

fn many_lines(text: &str) -> String {
    let mut inside = String::new();
    for c in text.chars() {
        match c {
            '\n' => inside.push(c),
            _ => escape(&mut inside, c),
        }
    }
    inside
}

fn escape(out: &mut String, c: char) {
    match c {
        '\\' | '"' => out.extend(['\\', c]),
        '\t' => out.push(c),
        c if c.is_control() => {
            let _ = write!(out, "\\u{:04X}", c as u32);
        }
        c => out.push(c),
    }
}

pub(super) fn signature_line(member: &Member, share_key: Option<&ShareKey>, signature: &Signature) -> String {
    let share_key = share_key.map_or_else(String::new, |key| format!("{key} "));
    format!("signature {} {} {share_key}{signature}\n", member.name, member.key)
}

/// What a signature's line says.
pub(super) struct SignatureLine<'a> {
    pub name: &'a str,
    pub key: PublicKey,
    pub share_key: Option<ShareKey>,
    pub signature: Signature,
}

pub(super) fn signature(line: &str) -> Option<SignatureLine<'_>> {
    let words: Vec<&str> = line.strip_suffix('\n')?.split(' ').collect();
    let (name, key, share_key, signature) = match words[..] {
        ["signature", name, key, signature] => (name, key, None, signature),
        ["signature", name, key, share_key, signature] => (name, key, Some(share_key), signature),
        _ => return None,
    };
    let share_key = share_key.map(str::parse).transpose().ok()?;
    let signature = Signature::from_bytes(from_hex(signature)?);
    Some(SignatureLine { name, key: key.parse().ok()?, share_key, signature })
}

/// The terms of a text; that they are allowed is for [`Terms::check`].
pub(super) fn parse(text: &str) -> Result<Terms, AgreementError> {
    let mut top = Fields::read(text)?;
    let format = top.number("format")?;
    if format != FORMAT {
        return Err(AgreementError::value(
            "format",
            format,
            format!("{FORMAT}: another version of prdo wrote this"),
        ));
    }
    let mut facts = top.section("facts")?;
    let mut settings = top.section("settings")?;
    let (members, weights, later_weights) = members(&mut top)?;
    let terms = Terms {
        run: top.hash("run")?,
        name: top.text("name")?,
        continues: top.optional("continues", Fields::hash)?,
        rounds: top.small("rounds")?,
        exchanges: top.exchanges()?,
        dimension: top.number("dimension")?,
        relay: top.optional("relay", Fields::text)?,
        share_keys: top.optional("share_keys", Fields::truth)?.unwrap_or(false),
        facts: Facts {
            features: facts.number("features")?,
            classes: facts.optional("classes", Fields::number)?,
            class_names: facts.optional("class_names", Fields::texts)?,
            feature_names: facts.optional("feature_names", Fields::texts)?,
            image: facts.optional("image", Fields::image)?,
        },
        members,
        weights,
        later_weights,
        settings: settings.text("run_file")?,
    };
    for fields in [top, facts, settings] {
        fields.finish()?;
    }
    Ok(terms)
}

/// The members, their rows, and their rows of each further turn.
type Listed = (Vec<Member>, Vec<Row>, Vec<Vec<Row>>);

fn members(top: &mut Fields) -> Result<Listed, AgreementError> {
    let (mut members, mut weights, mut later) = (Vec::new(), Vec::new(), Vec::<Vec<Row>>::new());
    for (i, mut fields) in top.tables("member")?.into_iter().enumerate() {
        members.push(fields.member()?);
        weights.push(fields.weights()?);
        let rows = fields.optional("later_weights", Fields::later_weights)?.unwrap_or_default();
        if i > 0 && rows.len() != later.len() {
            let allowed = format!("{}, one row per further turn, for every member", later.len());
            return Err(AgreementError::value(
                fields.path("later_weights"),
                format!("{} rows", rows.len()),
                allowed,
            ));
        }
        later.resize(rows.len(), Vec::new());
        later.iter_mut().zip(rows).for_each(|(turn, row)| turn.push(row));
        fields.finish()?;
    }
    Ok((members, weights, later))
}

/// The members that a file lists, a table `[[member]]` with `name`, `key`, `addresses` and `records` each; `relayed`
/// says that a relay will be named, so that addresses may be left out.
pub fn parse_members(text: &str, relayed: bool) -> Result<Vec<Member>, AgreementError> {
    let mut top = Fields::read(text)?;
    let mut members = Vec::new();
    for mut fields in top.tables("member")? {
        members.push(fields.member()?);
        fields.finish()?;
    }
    top.finish()?;
    check_members(&members, relayed)?;
    Ok(members)
}

/// A table whose keys are taken out one by one; what is left over does not belong there.
struct Fields {
    place: String,
    table: Table,
}

impl Fields {
    fn read(text: &str) -> Result<Self, AgreementError> {
        let table: Table = text.parse().map_err(|e: toml::de::Error| {
            let before = e.span().and_then(|span| text.get(..span.start)).unwrap_or("");
            let line = before.matches('\n').count() + 1;
            AgreementError::NotToml { line, problem: e.message().to_string() }
        })?;
        Ok(Self { place: String::new(), table })
    }

    fn tables(&mut self, key: &str) -> Result<Vec<Fields>, AgreementError> {
        let each = |(i, value)| match value {
            Value::Table(table) => Ok(Fields { place: format!("{key} {i}, "), table }),
            other => Err(AgreementError::value(format!("{key} {i}"), other, format!("a table [[{key}]]"))),
        };
        self.list(key)?.into_iter().enumerate().map(each).collect()
    }

    fn member(&mut self) -> Result<Member, AgreementError> {
        let (name, key) = (self.text("name")?, self.text("key")?);
        let key = key.parse().map_err(|_| {
            let allowed =
                "the 64 lower-case hexadecimal digits of a public key, as `prdo node key` prints them";
            AgreementError::value(self.path("key"), format!("{key:?}"), allowed)
        })?;
        Ok(Member { name, key, addresses: self.addresses()?, records: self.number("records")? })
    }

    fn path(&self, key: &str) -> String {
        format!("{}{key}", self.place)
    }

    fn optional<T>(
        &mut self,
        key: &str,
        read: fn(&mut Self, &str) -> Result<T, AgreementError>,
    ) -> Result<Option<T>, AgreementError> {
        if self.table.contains_key(key) { read(self, key).map(Some) } else { Ok(None) }
    }

    fn take(&mut self, key: &str) -> Result<Value, AgreementError> {
        let field = self.path(key);
        self.table.remove(key).ok_or(AgreementError::Missing { field })
    }

    fn refuse<T>(&self, key: &str, value: &Value, allowed: &str) -> Result<T, AgreementError> {
        Err(AgreementError::value(self.path(key), value, allowed))
    }

    fn section(&mut self, key: &str) -> Result<Fields, AgreementError> {
        match self.take(key)? {
            Value::Table(table) => Ok(Fields { place: format!("{key}."), table }),
            other => self.refuse(key, &other, "a section"),
        }
    }

    fn list(&mut self, key: &str) -> Result<Vec<Value>, AgreementError> {
        match self.take(key)? {
            Value::Array(list) => Ok(list),
            other => self.refuse(key, &other, "a list"),
        }
    }

    fn text(&mut self, key: &str) -> Result<String, AgreementError> {
        match self.take(key)? {
            Value::String(text) => Ok(text),
            other => self.refuse(key, &other, "text in quotes"),
        }
    }

    fn texts(&mut self, key: &str) -> Result<Vec<String>, AgreementError> {
        let list = self.list(key)?;
        let each = |value: Value| match value {
            Value::String(text) => Ok(text),
            other => self.refuse(key, &other, "text in quotes"),
        };
        list.into_iter().map(each).collect()
    }

    fn number(&mut self, key: &str) -> Result<u64, AgreementError> {
        let value = self.take(key)?;
        match value.as_integer().and_then(|n| u64::try_from(n).ok()) {
            Some(number) => Ok(number),
            None => self.refuse(key, &value, "a whole number of at least 0"),
        }
    }

    fn truth(&mut self, key: &str) -> Result<bool, AgreementError> {
        match self.take(key)? {
            Value::Boolean(truth) => Ok(truth),
            other => self.refuse(key, &other, "true or false"),
        }
    }

    fn small(&mut self, key: &str) -> Result<u32, AgreementError> {
        let number = self.number(key)?;
        u32::try_from(number).map_err(|_| {
            AgreementError::value(self.path(key), number, format!("a whole number up to {}", u32::MAX))
        })
    }

    fn exchanges(&mut self) -> Result<Exchanges, AgreementError> {
        let per_round = self.small("exchanges_per_round")?;
        let every = self.optional("exchanges_every", Fields::small)?.unwrap_or(1);
        let (vectors, numbers) = (self.small("vectors")?, self.optional("numbers", Fields::small)?);
        let packing = self.optional("packing", Fields::packing)?.unwrap_or(Packing::Plain);
        let final_mixings = self.optional("final_mixings", Fields::small)?.unwrap_or(0);
        let shape = Shape { vectors, numbers: numbers.unwrap_or(0), packing };
        Ok(Exchanges { per_round, every, shape, final_mixings })
    }

    fn packing(&mut self, key: &str) -> Result<Packing, AgreementError> {
        let text = self.text(key)?;
        text.parse().map_err(|_| {
            let allowed = "\"plain\", \"bits 1\" to \"bits 16\", or \"top K\"";
            AgreementError::value(self.path(key), format!("{text:?}"), allowed)
        })
    }

    fn hash(&mut self, key: &str) -> Result<Hash, AgreementError> {
        let text = self.text(key)?;
        let allowed = "64 lower-case hexadecimal digits";
        from_hex(&text).ok_or_else(|| AgreementError::value(self.path(key), format!("{text:?}"), allowed))
    }

    fn image(&mut self, key: &str) -> Result<[u64; 3], AgreementError> {
        let value = self.take(key)?;
        let side = |v: &Value| v.as_integer().and_then(|n| u64::try_from(n).ok());
        let sides = value.as_array().and_then(|list| list.iter().map(side).collect::<Option<Vec<_>>>());
        match sides.and_then(|sides| <[u64; 3]>::try_from(sides).ok()) {
            Some(sides) => Ok(sides),
            None => self.refuse(key, &value, "[channels, height, width]"),
        }
    }

    fn addresses(&mut self) -> Result<Vec<std::net::SocketAddr>, AgreementError> {
        let allowed = "an IP address and a port, such as \"192.0.2.7:4433\" or \"[2001:db8::7]:4433\"";
        let place = self.path("addresses");
        let refuse = |text: &String| AgreementError::value(&place, format!("{text:?}"), allowed);
        self.texts("addresses")?.iter().map(|text| text.parse().map_err(|_| refuse(text))).collect()
    }

    fn weights(&mut self) -> Result<Row, AgreementError> {
        let list = self.list("weights")?;
        self.row("weights", &list)
    }

    fn later_weights(&mut self, key: &str) -> Result<Vec<Row>, AgreementError> {
        let list = self.list(key)?;
        let each = |value: &Value| match value {
            Value::Array(row) => self.row(key, row),
            other => self.refuse(key, other, "a list of rows, one per further turn"),
        };
        list.iter().map(each).collect()
    }

    fn row(&self, key: &str, list: &[Value]) -> Result<Row, AgreementError> {
        let entry = |value: &Value| match value.as_array().map(Vec::as_slice) {
            Some([Value::Integer(j), Value::Float(w)]) => Some((u32::try_from(*j).ok()?, *w)),
            _ => None,
        };
        let each = |value: &Value| match entry(value) {
            Some(entry) => Ok(entry),
            None => self.refuse(key, value, "pairs such as [0, 0.5]: a member's number and its weight"),
        };
        list.iter().map(each).collect()
    }

    fn finish(self) -> Result<(), AgreementError> {
        match self.table.keys().next() {
            Some(key) => Err(AgreementError::Unknown { field: self.path(key) }),
            None => Ok(()),
        }
    }
}
