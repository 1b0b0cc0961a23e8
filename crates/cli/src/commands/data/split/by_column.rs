//! A table split by one of its columns: a CSV file for each organisation, every cell as it was.

use super::super::{column_named, format, wrong};
use super::whole;
use crate::cli::data::{PartitionKind, SplitArgs};
use crate::commands::Failure;
use crate::progress::say;
use prdo::data::csv::{self, Cells};
use prdo::data::{Format, split_records};
use prdo::disk::write_atomically;
use prdo::store::names;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

/// An organisation's file and the records in it.
struct Share<'a> {
    name: &'a str,
    file: String,
    records: Vec<u32>,
}

pub fn split(args: &SplitArgs, column: &str) -> Result<(), Failure> {
    if format(&args.read)? != Format::Csv {
        return Err(Failure::Input("--node alone splits CSV files only: give --nodes N for others".into()));
    }
    if args.partition != PartitionKind::Iid {
        return Err(Failure::Input("--partition cannot be used where --node says who gets a record".into()));
    }
    let table = csv::cells(&args.read.path).map_err(wrong)?;
    let [kept, validation, _] =
        split_records(table.rows.len(), args.validation, 0, args.seed).map_err(wrong)?;
    let shares = shares(&table, column, &kept)?;
    let text = |records: &[u32]| {
        let rows = records.iter().filter_map(|r| Some(&table.rows.get(*r as usize)?.1));
        csv::text_of(std::iter::once(&table.names).chain(rows))
    };
    whole(&args.out, |folder| {
        for share in &shares {
            write_atomically(&folder.join(&share.file), text(&share.records).as_bytes())?;
        }
        match validation.is_empty() {
            true => Ok(()),
            false => Ok(write_atomically(&folder.join(names::VALIDATION), text(&validation).as_bytes())?),
        }
    })?;
    tell(args, &shares, validation.len());
    Ok(())
}

fn shares<'a>(table: &'a Cells, column: &str, kept: &[u32]) -> Result<Vec<Share<'a>>, Failure> {
    let at = column_named(&table.names, "--node", column)?;
    let mut records: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for r in kept {
        let Some((line, row)) = table.rows.get(*r as usize) else { continue };
        match row.get(at).map(String::as_str) {
            None | Some("") => {
                let message = format!("--node {column:?}: the record in line {line} names nobody");
                return Err(Failure::Input(message));
            }
            Some(name) => records.entry(name).or_default().push(*r),
        }
    }
    // More files than this are a mistake in the column.
    const MOST: usize = 1000;
    if records.len() > MOST {
        let message = format!(
            "--node {column:?}: it has {} different values; at most {MOST} files are written",
            records.len()
        );
        return Err(Failure::Input(message));
    }
    let mut taken: BTreeSet<String> = [names::VALIDATION.to_string()].into();
    let share = |(name, records): (&'a str, Vec<u32>)| Share { name, file: file(name, &mut taken), records };
    Ok(records.into_iter().map(share).collect())
}

/// A name for an organisation's file that every system takes and no other file has.
fn file(name: &str, taken: &mut BTreeSet<String>) -> String {
    let plain: String =
        name.chars().take(60).map(|c| if c.is_alphanumeric() || c == '_' { c } else { '-' }).collect();
    let plain = plain.to_lowercase();
    let names = (1..).map(|k| if k == 1 { format!("{plain}.csv") } else { format!("{plain}-{k}.csv") });
    let mut free = names.filter(|name| taken.insert(name.clone()));
    free.next().unwrap_or(plain)
}

fn tell(args: &SplitArgs, shares: &[Share<'_>], validation: usize) {
    if args.json {
        let files: Vec<&str> = shares.iter().map(|share| share.file.as_str()).collect();
        let names: Vec<&str> = shares.iter().map(|share| share.name).collect();
        let records: Vec<usize> = shares.iter().map(|share| share.records.len()).collect();
        let object = json!({
            "out": args.out, "nodes": shares.len(), "names": names, "files": files, "records": records,
            "validation": validation, "seed": args.seed,
        });
        return say(&object.to_string());
    }
    let out = args.out.display();
    for share in shares {
        say(&format!("{out}/{}: {} records of {}", share.file, share.records.len(), share.name));
    }
    if validation > 0 {
        say(&format!("{out}/{}: {validation} records set aside", names::VALIDATION));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_names_of_their_own_that_every_system_takes() {
        let mut taken = BTreeSet::from([names::VALIDATION.to_string()]);
        let mut named = |name: &str| file(name, &mut taken);
        assert_eq!((named("St. Mary"), named("ST/mary")), ("st--mary.csv".into(), "st-mary.csv".into()));
        assert_eq!((named("st-mary"), named("../x")), ("st-mary-2.csv".into(), "---x.csv".into()));
        assert_eq!((named("validation"), named("Zürich")), ("validation-2.csv".into(), "zürich.csv".into()));
    }
}
