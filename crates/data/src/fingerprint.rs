//! What a set of records is known by: the same records have the same fingerprint whatever their order, the order of
//! their columns, how their numbers are written, and whatever a model reads of them.

use super::csv::Rows;
use super::slips::is_missing;
use super::{DataError, Dataset, Feature};
use blake3::Hasher;
use std::path::Path;

/// A fingerprint.
pub type Fingerprint = [u8; 32];

/// The fingerprint of all columns of the CSV file at `path`, which has these columns if it has no header.
pub fn of_csv(path: &Path, columns: Option<&[String]>) -> Result<Fingerprint, DataError> {
    let (file, input) = super::open(path)?;
    let mut rows = match columns {
        Some(names) => Rows::without_header(&file, input, names.to_vec())?,
        None => Rows::open(&file, input)?,
    };
    let names = rows.names().to_vec();
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by_key(|column| &names[*column]);
    let mut records = Vec::new();
    while let Some(row) = rows.row()? {
        let mut hasher = Hasher::new();
        for column in &order {
            add(&mut hasher, names[*column].as_bytes());
            cell(&mut hasher, row.text(*column)?);
        }
        records.push(*hasher.finalize().as_bytes());
    }
    Ok(of_all(records))
}

/// The fingerprint of records that have no names: their values in this order, and their labels.
pub fn of_records<F: Feature>(dataset: &Dataset<F>) -> Fingerprint {
    let table = &dataset.table;
    let record = |r: usize| {
        let mut hasher = Hasher::new();
        F::bytes(table.row(r), &mut |bytes| {
            hasher.update(bytes);
        });
        let label = table.label(r);
        match dataset.class_names.as_ref().and_then(|names| names.get(label as usize)) {
            Some(name) => cell(&mut hasher, name),
            None => number(&mut hasher, label),
        }
        *hasher.finalize().as_bytes()
    };
    of_all((0..table.labels().len()).map(record).collect())
}

/// In a domain of its own.
fn of_all(mut records: Vec<Fingerprint>) -> Fingerprint {
    records.sort_unstable();
    let mut hasher = Hasher::new_derive_key("prdo 2026-11 ledger v2: digest of records");
    hasher.update(&(records.len() as u64).to_le_bytes());
    records.iter().for_each(|record| {
        hasher.update(record);
    });
    *hasher.finalize().as_bytes()
}

/// A number counts as its value: `1.0` is `1`; what is missing is missing, whatever stands there for it.
fn cell(hasher: &mut Hasher, text: &str) {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => number(hasher, value),
        _ if is_missing(text) => {
            hasher.update(b"m");
        }
        _ => {
            hasher.update(b"t");
            add(hasher, text.as_bytes());
        }
    }
}

fn number(hasher: &mut Hasher, value: f64) {
    hasher.update(b"n");
    // −0 is 0.
    hasher.update(&(value + 0.0).to_le_bytes());
}

fn add(hasher: &mut Hasher, bytes: &[u8]) {
    hasher.update(&(bytes.len() as u64).to_le_bytes());
    hasher.update(bytes);
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::Table;

    fn of_text(text: &str) -> Fingerprint {
        let name = format!("prdo-fingerprint-{}-{}.csv", std::process::id(), blake3::hash(text.as_bytes()));
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, text).unwrap();
        let found = of_csv(&path, None);
        std::fs::remove_file(&path).unwrap();
        found.unwrap()
    }

    #[test]
    fn tables_are_known_in_any_order_and_spelling_and_by_every_cell() {
        let known = of_text("id,age,label\nA1,40,yes\nA2,41.5,no\nA2,41.5,no\n");
        for same in [
            "id,age,label\nA2,41.5,no\nA1,40,yes\nA2,41.5,no\n",
            "label,id,age\r\nyes,A1,40.0\r\nno, A2 ,4.15e1\r\nno,A2,41.5\r\n",
        ] {
            assert_eq!(of_text(same), known, "{same}");
        }
        for other in [
            "id,age,label\nA1,40,yes\nA2,41.5,no\n",
            "id,age,label\nA1,40,yes\nA2,41.5,no\nA2,41.5,yes\n",
            "id,age,label\nA1,40,yes\nA3,41.5,no\nA2,41.5,no\n",
            "id,age,label\nA1,,yes\nA2,41.5,no\nA2,41.5,no\n",
            "id,weight,label\nA1,40,yes\nA2,41.5,no\nA2,41.5,no\n",
        ] {
            assert_ne!(of_text(other), known, "{other}");
        }
    }

    #[test]
    fn what_is_missing_is_missing_however_it_is_written() {
        let known = of_text("id,age,label\nA1,,yes\n");
        assert_eq!([of_text("id,age,label\nA1,NA,yes\n"), of_text("id,age,label\nA1,?,yes\n")], [known; 2]);
        assert_ne!(of_text("id,age,label\nA1,0,yes\n"), known);
    }

    #[test]
    fn records_without_names_are_known_in_any_order() {
        let of = |features: &[f64], labels: &[f64], names: Option<Vec<String>>| {
            let table = Table::new(2, features.to_vec(), labels.to_vec()).unwrap();
            of_records(&Dataset { class_names: names, ..Dataset::from(table) })
        };
        let known = of(&[1.0, 2.0, 3.0, 4.0], &[0.0, 1.0], None);
        assert_eq!(of(&[3.0, 4.0, 1.0, 2.0], &[1.0, 0.0], None), known);
        assert_ne!(of(&[3.0, 4.0, 1.0, 2.0], &[0.0, 1.0], None), known);
        assert_ne!(of(&[2.0, 1.0, 3.0, 4.0], &[0.0, 1.0], None), known);
        // A class is its name, whatever its number is in this file.
        let names = |a: &str, b: &str| Some(vec![a.to_string(), b.to_string()]);
        let named = of(&[1.0, 2.0, 3.0, 4.0], &[0.0, 1.0], names("no", "yes"));
        assert_eq!(of(&[1.0, 2.0, 3.0, 4.0], &[1.0, 0.0], names("yes", "no")), named);
    }
}
