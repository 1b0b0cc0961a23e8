//! Follows a CSV file of numbers that grows: what is new is read once, whatever its length.

use super::reading::open;
use serde_json::{Map, Value as Json, json};
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// So many rows are kept; of more, every second one, and so on.
const ROWS: usize = 8192;
const PIECE: u64 = 8 << 20;
/// Bytes before the place of reading by which a file is known again.
const ANCHOR: usize = 96;

/// The rows of a file so far: a number, or nothing, for each column.
#[derive(Debug, Default)]
pub struct Tail {
    columns: Vec<String>,
    rows: Vec<Vec<Option<f64>>>,
    last: Vec<Option<f64>>,
    /// Rows that were read, and of how many one is kept.
    count: usize,
    stride: usize,
    offset: u64,
    anchor: Vec<u8>,
    damaged: bool,
    /// Another number whenever earlier rows have changed.
    pub epoch: u64,
}

impl Tail {
    /// Reads what is new. A file that was replaced (a resumed run writes its rows anew) is read from its start.
    pub fn follow(&mut self, path: &Path) {
        if self.read(path).is_none() && self.offset > 0 {
            self.restart();
        }
    }

    fn read(&mut self, path: &Path) -> Option<()> {
        let mut file = open(path)?;
        if self.offset > 0 && !self.is_same(&mut file) {
            self.restart();
        }
        loop {
            let mut bytes = Vec::new();
            file.seek(SeekFrom::Start(self.offset)).ok()?;
            Read::by_ref(&mut file).take(PIECE).read_to_end(&mut bytes).ok()?;
            // A line that is being written has no end yet.
            let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
            bytes.truncate(whole);
            if whole == 0 || self.damaged {
                return Some(());
            }
            self.take(&String::from_utf8_lossy(&bytes));
            self.offset += whole as u64;
            self.anchor = bytes.split_off(whole.saturating_sub(ANCHOR));
        }
    }

    fn is_same(&self, file: &mut std::fs::File) -> bool {
        let mut before = vec![0; self.anchor.len()];
        let start = self.offset.saturating_sub(self.anchor.len() as u64);
        file.seek(SeekFrom::Start(start)).is_ok()
            && file.read_exact(&mut before).is_ok()
            && before == self.anchor
    }

    fn restart(&mut self) {
        *self = Self { epoch: self.epoch + 1, ..Self::default() };
    }

    fn take(&mut self, text: &str) {
        let mut lines = text.lines();
        if self.columns.is_empty() {
            let names = lines.next().unwrap_or_default().split(',');
            self.columns = names.map(|name| name.trim().to_string()).take(64).collect();
            self.stride = 1;
        }
        for line in lines {
            let cell = |cell: &str| match cell.trim() {
                "" => Some(None),
                number => number.parse::<f64>().ok().map(Some),
            };
            let row: Option<Vec<Option<f64>>> = line.split(',').map(cell).collect();
            let Some(row) = row.filter(|row| row.len() == self.columns.len()) else {
                self.damaged = true;
                return;
            };
            if self.count.is_multiple_of(self.stride) {
                self.rows.push(row.clone());
            }
            self.count += 1;
            self.last = row;
            if self.rows.len() > ROWS {
                let mut number = 0;
                self.rows.retain(|_| {
                    number += 1;
                    number % 2 == 1
                });
                self.stride *= 2;
                self.epoch += 1;
            }
        }
    }

    pub fn problem(&self, name: &str) -> Option<String> {
        self.damaged
            .then(|| format!("{name} is damaged after its row {}: what comes later is not shown", self.count))
    }

    pub fn last(&self, column: &str) -> Option<f64> {
        let at = self.columns.iter().position(|name| name == column)?;
        self.last.get(at).copied().flatten()
    }

    /// Columns of the rows from `from` on, or of all of them for a reader of another epoch; and the last row, which may
    /// not be among those kept.
    pub fn since(&self, epoch: u64, from: usize) -> Json {
        let from = if epoch == self.epoch { from.min(self.rows.len()) } else { 0 };
        let mut columns = Map::new();
        let mut last = Map::new();
        for (at, name) in self.columns.iter().enumerate() {
            let values = self.rows.iter().skip(from).map(|row| json!(row.get(at).copied().flatten()));
            columns.insert(name.clone(), values.collect());
            last.insert(name.clone(), json!(self.last.get(at).copied().flatten()));
        }
        json!({ "epoch": self.epoch, "from": from, "next": self.rows.len(), "columns": columns, "last": last })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::Write;

    #[test]
    fn what_is_new_is_read_once_and_a_replaced_file_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("metrics.csv");
        let mut tail = Tail::default();
        tail.follow(&path);
        assert_eq!(tail.since(0, 0)["next"], 0);
        fs::write(&path, "round,loss\n0,1.5\n1,NaN\n2,").unwrap();
        tail.follow(&path);
        assert_eq!(tail.since(0, 0)["columns"], json!({ "round": [0.0, 1.0], "loss": [1.5, null] }));
        fs::File::options().append(true).open(&path).unwrap().write_all(b"\n3,0.25\n").unwrap();
        tail.follow(&path);
        let new = tail.since(0, 2);
        assert_eq!(new["columns"], json!({ "round": [2.0, 3.0], "loss": [null, 0.25] }));
        assert_eq!((tail.last("loss"), tail.last("nothing")), (Some(0.25), None));
        // The same length, other rows: as after a resumed run.
        fs::write(&path, "round,loss\n0,1.5\n1,0.75\n9,\n3,0.5\n").unwrap();
        tail.follow(&path);
        let anew = tail.since(0, 4);
        assert_eq!((&anew["epoch"], &anew["from"], &anew["next"]), (&json!(1), &json!(0), &json!(4)));
        fs::remove_file(&path).unwrap();
        tail.follow(&path);
        assert_eq!((tail.since(1, 0)["next"].as_u64(), tail.epoch), (Some(0), 2));
    }

    #[test]
    fn very_many_rows_are_thinned_and_the_last_one_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("metrics.csv");
        let mut text = String::from("round\n");
        (0..5 * ROWS + 3).for_each(|round| text += &format!("{round}\n"));
        fs::write(&path, text).unwrap();
        let mut tail = Tail::default();
        tail.follow(&path);
        let all = tail.since(tail.epoch, 0);
        let rounds = all["columns"]["round"].as_array().unwrap();
        assert!(rounds.len() <= ROWS && rounds.len() > ROWS / 2, "{}", rounds.len());
        assert_eq!((&rounds[1], &all["last"]["round"]), (&json!(8.0), &json!((5 * ROWS + 2) as f64)));
    }

    #[test]
    fn damage_is_named_and_what_was_before_it_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("metrics.csv");
        fs::write(&path, "round,loss\n0,1\n1,x\n2,3\n").unwrap();
        let mut tail = Tail::default();
        tail.follow(&path);
        tail.follow(&path);
        assert_eq!(tail.since(0, 0)["next"], 1);
        assert!(tail.problem("metrics.csv").unwrap().contains("after its row 1"));
        fs::write(&path, [0xff, 0xfe, b'\n', 0, b',', b'\n', b'\n']).unwrap();
        tail.follow(&path);
        assert_eq!(tail.since(tail.epoch, 0)["next"], 0);
    }
}
