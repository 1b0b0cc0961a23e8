//! What all members agree on before a run begins: who they are, who talks to whom with which weight, for how long, and
//! every setting that the bits of the public computation depend on.
//!
//! An agreement is a text file for people: the terms as TOML, a marker line, then a line for each signature. Its hash
//! is BLAKE3 of the exact bytes above the marker; every frame on the network carries it. The same terms can be written
//! in one way only, and anything else is refused, so that two members with the same terms have the same hash.

mod check;
mod error;
mod text;

pub use error::AgreementError;
pub use text::{LONGEST, MARKER, parse_members};

use crate::identity::{Identity, PublicKey, Signature};
use crate::machine::Row;
use crate::wire::{Expected, Hash, Ways, hex};
use prdo_algorithm::Exchanges;
use std::collections::BTreeSet;
use std::net::SocketAddr;

pub const MOST_MEMBERS: usize = 10_000;

/// One organisation. Its place in the list is its number, in the graph too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// What it is called: letters, digits, `-`, `_` and `.`.
    pub name: String,
    /// The key that its links prove and that signs for it.
    pub key: PublicKey,
    /// Where it can be reached; may be empty only where a relay is named.
    pub addresses: Vec<SocketAddr>,
    /// How many slots it has for records. Public: the sampling rate follows from it.
    pub records: u64,
}

/// What is public about everybody's records: their shape and what things are called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Features of a record, without an intercept.
    pub features: u64,
    pub classes: Option<u64>,
    /// The classes' names in order, where labels are names.
    pub class_names: Option<Vec<String>>,
    /// The features' names in order, where they have some.
    pub feature_names: Option<Vec<String>>,
    /// Channels, height and width, where records are images.
    pub image: Option<[u64; 3]>,
}

/// What is signed.
#[derive(Clone, Debug, PartialEq)]
pub struct Terms {
    /// The run's id, drawn at random.
    pub run: Hash,
    pub name: String,
    /// The hash of the agreement that this one continues, when somebody has left.
    pub continues: Option<Hash>,
    pub rounds: u32,
    /// How many messages a method sends, and how they look.
    pub exchanges: Exchanges,
    pub dimension: u64,
    /// An own relay for members that cannot reach each other directly; none unless named.
    pub relay: Option<String>,
    pub facts: Facts,
    pub members: Vec<Member>,
    /// Each member's row of W: (member, weight) ascending, its own entry included.
    pub weights: Vec<Row>,
    /// The rows of further turns, where the network changes from round to round: by turn, then by member.
    pub later_weights: Vec<Vec<Row>>,
    /// A resolved run file with what is public: method, model, start, clips, batches, noise, budget. Not read here.
    pub settings: String,
}

/// A new run's id, drawn at random.
pub fn new_run() -> Result<Hash, AgreementError> {
    let mut id = [0; 32];
    getrandom::fill(&mut id).map_err(|e| AgreementError::Random { problem: e.to_string() })?;
    Ok(id)
}

/// Terms, their exact text, its hash, and the signatures so far: every one is valid.
#[derive(Clone, Debug, PartialEq)]
pub struct Agreement {
    terms: Terms,
    text: String,
    hash: Hash,
    /// By member.
    signatures: Vec<Option<Signature>>,
}

impl Agreement {
    /// The agreement on these terms, not signed yet.
    pub fn write(terms: Terms) -> Result<Self, AgreementError> {
        terms.check()?;
        let text = text::write(&terms);
        if text.len() > LONGEST {
            return Err(AgreementError::TooLong { found: text.len(), most: LONGEST });
        }
        Ok(Self::unsigned(terms, text))
    }

    /// The agreement of a file's text.
    ///
    /// # Errors
    /// Anything that `write` and `sign` would not have written; a signature that is not valid.
    pub fn parse(file: &str) -> Result<Self, AgreementError> {
        if file.len() > LONGEST {
            return Err(AgreementError::TooLong { found: file.len(), most: LONGEST });
        }
        let (above, below) = text::split(file).ok_or(AgreementError::NoMarker { marker: MARKER })?;
        let terms = text::parse(above)?;
        terms.check()?;
        let written = text::write(&terms);
        if written != above {
            let same = written.lines().zip(above.lines()).take_while(|(a, b)| a == b).count();
            return Err(AgreementError::NotCanonical { line: same + 1 });
        }
        let mut agreement = Self::unsigned(terms, written);
        agreement.read_signatures(below)?;
        Ok(agreement)
    }

    fn unsigned(terms: Terms, text: String) -> Self {
        let (hash, signatures) = (*blake3::hash(text.as_bytes()).as_bytes(), vec![None; terms.members.len()]);
        Self { terms, text, hash, signatures }
    }

    /// Reads and verifies the lines below the marker. Members sign in any order but stand in theirs.
    fn read_signatures(&mut self, below: &str) -> Result<(), AgreementError> {
        let first_line = self.text.lines().count() + 2;
        let mut least = 0;
        for (k, line) in below.split_inclusive('\n').enumerate() {
            let refuse = || AgreementError::SignatureLine { line: first_line + k };
            let (name, key, signature) = text::signature(line).ok_or_else(refuse)?;
            let member = self.member_of(&key).filter(|m| *m >= least).ok_or_else(refuse)?;
            if self.terms.members.get(member).is_none_or(|m| m.name != name) {
                return Err(refuse());
            }
            if !key.signed(&self.hash, &signature) {
                return Err(AgreementError::Forged { name: name.into(), hash: hex(&self.hash) });
            }
            if let Some(slot) = self.signatures.get_mut(member) {
                *slot = Some(signature);
            }
            least = member + 1;
        }
        Ok(())
    }

    /// The file: terms, marker, signatures.
    pub fn to_file(&self) -> String {
        let mut file = format!("{}{MARKER}\n", self.text);
        for (member, signature) in self.terms.members.iter().zip(&self.signatures) {
            if let Some(signature) = signature {
                file.push_str(&text::signature_line(member, signature));
            }
        }
        file
    }

    pub fn terms(&self) -> &Terms {
        &self.terms
    }

    /// The exact text that the hash is of.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// BLAKE3 of [`Agreement::text`].
    pub fn hash(&self) -> &Hash {
        &self.hash
    }

    pub fn signatures(&self) -> &[Option<Signature>] {
        &self.signatures
    }

    pub fn member_of(&self, key: &PublicKey) -> Option<usize> {
        self.terms.members.iter().position(|member| member.key == *key)
    }

    /// The member with this key, and its number; the error names all members.
    pub fn member_with(&self, key: &PublicKey) -> Result<(usize, &Member), AgreementError> {
        let members = &self.terms.members;
        let found = members.iter().enumerate().find(|(_, member)| member.key == *key);
        found.ok_or_else(|| {
            let names: Vec<_> = members.iter().map(|m| format!("{} ({})", m.name, m.key.short())).collect();
            AgreementError::NotAMember { key: key.to_string(), members: names.join(", ") }
        })
    }

    /// Adds a member's signature; its number.
    pub fn sign(&mut self, identity: &Identity) -> Result<usize, AgreementError> {
        let (member, _) = self.member_with(&identity.public())?;
        if let Some(slot) = self.signatures.get_mut(member) {
            *slot = Some(identity.sign(&self.hash));
        }
        Ok(member)
    }

    /// Adds the signatures of another copy; the numbers of the members whose signatures are new here.
    pub fn merge(&mut self, other: &Self) -> Result<Vec<usize>, AgreementError> {
        if self.hash != other.hash {
            let (ours, theirs) = (hex(&self.hash), hex(&other.hash));
            return Err(AgreementError::Different { ours, theirs });
        }
        let mut new = Vec::new();
        for (member, (mine, theirs)) in self.signatures.iter_mut().zip(&other.signatures).enumerate() {
            if mine.is_none() && theirs.is_some() {
                *mine = *theirs;
                new.push(member);
            }
        }
        Ok(new)
    }

    /// Whether every member has signed.
    pub fn signed_by_all(&self) -> Result<(), AgreementError> {
        let pairs = self.terms.members.iter().zip(&self.signatures);
        let missing: Vec<_> = pairs.filter(|(_, s)| s.is_none()).map(|(m, _)| m.name.clone()).collect();
        if missing.is_empty() { Ok(()) } else { Err(AgreementError::NotSigned { missing }) }
    }

    /// The members that this one exchanges messages with, ascending; none for a number that is no member's.
    pub fn neighbours(&self, member: usize) -> Vec<usize> {
        let mut all = BTreeSet::new();
        for turn in self.terms.turns() {
            for (i, row) in turn.iter().enumerate() {
                let hears = |other: usize| row.iter().any(|(j, _)| *j as usize == other);
                if i == member {
                    all.extend(row.iter().map(|(j, _)| *j as usize));
                } else if hears(member) {
                    all.insert(i);
                }
            }
        }
        all.remove(&member);
        all.into_iter().collect()
    }

    /// Its row of W in each turn; none for a number that is no member's.
    pub fn rows(&self, member: usize) -> Vec<Row> {
        self.terms.turns().filter_map(|turn| turn.get(member).cloned()).collect()
    }

    /// What `me` expects of every frame that `peer` sends.
    pub fn expected(&self, me: usize, peer: usize) -> Expected {
        let terms = &self.terms;
        Expected {
            run: terms.run,
            agreement: self.hash,
            peer: peer as u32,
            me: me as u32,
            payload_bytes: terms.exchanges.shape.bytes(terms.dimension as usize) as u64,
            final_bytes: Exchanges::FINAL.bytes(terms.dimension as usize) as u64,
            exchanges: terms.exchanges,
            rounds: terms.rounds,
            ways: terms
                .turns()
                .map(|turn| Ways { here: is_heard(turn, me, peer), there: is_heard(turn, peer, me) })
                .collect(),
        }
    }
}

/// Whether one member mixes what the other sends.
fn is_heard(turn: &[Row], hearer: usize, speaker: usize) -> bool {
    turn.get(hearer).is_some_and(|row| row.iter().any(|(j, _)| *j as usize == speaker))
}

#[cfg(test)]
mod tests;
