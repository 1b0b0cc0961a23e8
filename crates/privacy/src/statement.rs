//! What has been released about some records, by all runs on them, as a text that can be kept beside the records.
//!
//! Text, one line a fact, exact to the bit (numbers in the shortest form that reads back the same), closed by a BLAKE3
//! hash so that a cut or changed text is noticed:
//!
//! ```text
//! prdo statement 1
//! run 6f0c… ring
//! release sampled-gaussian rate 0.022222222222222223 noise 2.464143 count 9500
//! hash 2b1e…
//! ```

use prdo_accounting::{AccountingError, Event, History};

const FIRST_LINE: &str = "prdo statement 1";

/// The releases of several runs on the same records.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Statement {
    runs: Vec<Entry>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// What tells this run from all others: the fingerprint of its settings.
    pub id: String,
    pub name: String,
    pub history: History,
}

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StatementError {
    #[error("line {line} of the statement: {problem}")]
    Damaged {
        /// From 1.
        line: usize,
        problem: String,
    },
    #[error("the statement was cut short or changed: its hash does not fit")]
    Hash,
    #[error("line {line} of the statement: {error}")]
    Release {
        /// From 1.
        line: usize,
        error: AccountingError,
    },
}

impl Statement {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn runs(&self) -> &[Entry] {
        &self.runs
    }

    /// Everything released by the runs that were entered before `id`, or by all if it was not: what this run has to be
    /// calibrated after. A run that is resumed or repeated so gets the same noise again, whatever came later; the same
    /// seeded run again releases the same bits again, which tells nobody anything new.
    pub fn before(&self, id: &str) -> History {
        let mut history = History::new();
        self.runs.iter().take_while(|entry| entry.id != id).for_each(|entry| history.append(&entry.history));
        history
    }

    pub fn total(&self) -> History {
        let mut history = History::new();
        self.runs.iter().for_each(|entry| history.append(&entry.history));
        history
    }

    /// Enters a run and what it is going to release. The same run again changes nothing; the same settings with other
    /// releases (another version's calibration) count in addition.
    pub fn enter(&mut self, id: &str, name: &str, history: &History) {
        let name: String = name.chars().filter(|c| !c.is_control()).collect();
        let entry = Entry { id: id.to_string(), name, history: history.clone() };
        if !self.runs.iter().any(|known| known.id == entry.id && known.history == entry.history) {
            self.runs.push(entry);
        }
    }

    pub fn to_text(&self) -> String {
        let mut text = format!("{FIRST_LINE}\n");
        for entry in &self.runs {
            text += &format!("run {} {}\n", entry.id, entry.name);
            for (event, count) in entry.history.entries() {
                if event.is_private() {
                    let (rate, noise) = (event.rate(), event.noise_multiplier());
                    text +=
                        &format!("release sampled-gaussian rate {rate:?} noise {noise:?} count {count}\n");
                } else {
                    text += &format!("release not-private count {count}\n");
                }
            }
        }
        let hash = blake3::hash(text.as_bytes()).to_hex();
        format!("{text}hash {hash}\n")
    }

    /// Reads a statement back. Kinds of release that are not known are refused: their cost is not known either.
    pub fn from_text(text: &str) -> Result<Self, StatementError> {
        let body = text.trim_end_matches(['\n', '\r']);
        let (body, last) = body.rsplit_once('\n').ok_or(StatementError::Hash)?;
        let body = format!("{body}\n");
        let expected = format!("hash {}", blake3::hash(body.as_bytes()).to_hex());
        if last != expected {
            return Err(StatementError::Hash);
        }
        let mut statement = Self::new();
        for (at, line) in body.lines().enumerate() {
            statement.read_line(at + 1, line)?;
        }
        Ok(statement)
    }

    fn read_line(&mut self, line: usize, text: &str) -> Result<(), StatementError> {
        let damaged = |problem: &str| StatementError::Damaged { line, problem: problem.to_string() };
        let words: Vec<&str> = text.split(' ').collect();
        match words[..] {
            ["prdo", "statement", "1"] if line == 1 => {}
            _ if line == 1 => return Err(damaged(&format!("it must be {FIRST_LINE:?}"))),
            ["run", id, ref name @ ..] => {
                let (id, name) = (id.to_string(), name.join(" "));
                self.runs.push(Entry { id, name, history: History::new() });
            }
            ["release", ref what @ ..] => {
                let (event, count) = read_release(what, line)?;
                let entry = self.runs.last_mut().ok_or_else(|| damaged("a release before any run"))?;
                entry.history.add(event, count);
            }
            _ => return Err(damaged(&format!("{text:?} is neither a run nor a release"))),
        }
        Ok(())
    }
}

fn read_release(words: &[&str], line: usize) -> Result<(Event, u64), StatementError> {
    let damaged = |problem: String| StatementError::Damaged { line, problem };
    let number = |word: &str| word.parse::<f64>().map_err(|_| damaged(format!("{word:?} is not a number")));
    let count = |word: &str| word.parse::<u64>().map_err(|_| damaged(format!("{word:?} is not a count")));
    match *words {
        ["sampled-gaussian", "rate", rate, "noise", noise, "count", n] => {
            let event = Event::sampled_gaussian(number(rate)?, number(noise)?);
            Ok((event.map_err(|error| StatementError::Release { line, error })?, count(n)?))
        }
        ["not-private", "count", n] => Ok((Event::not_private(), count(n)?)),
        _ => Err(damaged(format!("the release {:?} is not known", words.join(" ")))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn event(rate: f64, noise: f64) -> Event {
        Event::sampled_gaussian(rate, noise).unwrap()
    }

    proptest! {
        #[test]
        fn reads_back_to_the_bit(rate in 1e-12_f64..1.0, noise in 0.01_f64..1e6, n in 1_u64.., name in ".*") {
            let mut statement = Statement::new();
            statement.enter("a1", &name, &History::new().and(event(rate, noise), n).and(Event::not_private(), 2));
            statement.enter("b2", "second", &History::new().and(event(rate, 2.0), 1));
            let again = Statement::from_text(&statement.to_text()).unwrap();
            prop_assert_eq!(&again, &statement);
            prop_assert_eq!(again.total().len(), n.saturating_add(3));
        }

        #[test]
        fn any_change_is_noticed(at in 0_usize..200, flip in 1_u8..128) {
            let mut statement = Statement::new();
            statement.enter("a1", "first", &History::new().and(event(0.1, 1.5), 70));
            let mut bytes = statement.to_text().into_bytes();
            let at = at % (bytes.len() - 1);
            bytes[at] ^= flip;
            if let Ok(text) = String::from_utf8(bytes) {
                prop_assert!(Statement::from_text(&text).is_err(), "{}", text);
            }
        }
    }

    #[test]
    fn cut_or_unknown_statements_are_refused_with_their_line() {
        let mut statement = Statement::new();
        statement.enter("a1", "first", &History::new().and(event(0.1, 1.5), 70));
        let text = statement.to_text();
        for end in 0..text.len() - 1 {
            assert!(Statement::from_text(&text[..end]).is_err(), "{end}");
        }
        let sign = |body: &str| format!("{body}hash {}\n", blake3::hash(body.as_bytes()).to_hex());
        for (body, expected) in [
            ("prdo statement 2\n", "line 1"),
            ("prdo statement 1\nrelease not-private count 1\n", "before any run"),
            ("prdo statement 1\nrun a x\nrelease laplace scale 1 count 1\n", "not known"),
            ("prdo statement 1\nrun a x\nrelease sampled-gaussian rate 2 noise 1 count 1\n", "at most 1"),
            ("prdo statement 1\nrun a x\nrelease sampled-gaussian rate x noise 1 count 1\n", "not a number"),
            ("prdo statement 1\nrun a x\nrelease sampled-gaussian rate 1 noise 1 count -1\n", "not a count"),
            ("prdo statement 1\nhello\n", "line 2"),
        ] {
            let message = Statement::from_text(&sign(body)).unwrap_err().to_string();
            assert!(message.contains(expected), "{message}");
        }
    }

    #[test]
    fn a_run_counts_once_and_what_was_released_stays() {
        let mut statement = Statement::new();
        let (long, short) = (History::new().and(event(0.1, 1.0), 70), History::new().and(event(0.1, 1.0), 3));
        statement.enter("a1", "first", &long);
        statement.enter("b2", "second", &short);
        statement.enter("a1", "first", &long);
        assert_eq!(statement.total().len(), 73);
        assert_eq!(["a1", "b2", "new"].map(|id| statement.before(id).len()), [0, 70, 73]);
        statement.enter("a1", "first, with other noise", &short);
        assert_eq!(statement.total().len(), 76);
    }
}
