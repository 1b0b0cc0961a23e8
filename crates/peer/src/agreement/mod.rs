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
use crate::share_key::ShareKey;
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
    /// Whether each member signs a share key of its own too, for noise in pairs.
    pub share_keys: bool,
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
    /// By member: there with the signature where the terms want share keys, and only there.
    share_keys: Vec<Option<ShareKey>>,
}

/// What the hash of a run is derived for, where members have share keys.
const WITH_SHARE_KEYS: &str = "prdo 2026-11 agreement v1: terms and share keys";

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
        let members = terms.members.len();
        let (hash, signatures) = (*blake3::hash(text.as_bytes()).as_bytes(), vec![None; members]);
        Self { terms, text, hash, signatures, share_keys: vec![None; members] }
    }

    /// Reads and verifies the lines below the marker. Members sign in any order but stand in theirs.
    fn read_signatures(&mut self, below: &str) -> Result<(), AgreementError> {
        let first_line = self.text.lines().count() + 2;
        let mut least = 0;
        for (k, line) in below.split_inclusive('\n').enumerate() {
            let refuse = || AgreementError::SignatureLine { line: first_line + k };
            let read = text::signature(line).ok_or_else(refuse)?;
            let text::SignatureLine { name, key, share_key, signature } = read;
            let member = self.member_of(&key).filter(|m| *m >= least).ok_or_else(refuse)?;
            if self.terms.members.get(member).is_none_or(|m| m.name != name) {
                return Err(refuse());
            }
            if share_key.is_some() != self.terms.share_keys {
                return Err(AgreementError::ShareKey { name: name.into(), wanted: self.terms.share_keys });
            }
            if !key.signed(&self.hash, share_key.as_ref().map(ShareKey::as_bytes), &signature) {
                return Err(AgreementError::Forged { name: name.into(), hash: hex(&self.hash) });
            }
            self.enter(member, share_key, signature)?;
            least = member + 1;
        }
        Ok(())
    }

    /// Takes in a member's valid signature. Nobody's share key is another's.
    fn enter(
        &mut self,
        member: usize,
        share_key: Option<ShareKey>,
        signature: Signature,
    ) -> Result<(), AgreementError> {
        let twin = share_key.and_then(|key| self.share_keys.iter().position(|other| *other == Some(key)));
        if let Some(twin) = twin.filter(|twin| *twin != member) {
            let name = |i: usize| self.terms.members.get(i).map_or_else(String::new, |m| m.name.clone());
            return Err(AgreementError::SameShareKey { names: [name(twin), name(member)] });
        }
        if let (Some(slot), Some(key)) = (self.signatures.get_mut(member), self.share_keys.get_mut(member)) {
            (*slot, *key) = (Some(signature), share_key);
        }
        Ok(())
    }

    /// The file: terms, marker, signatures.
    pub fn to_file(&self) -> String {
        let mut file = format!("{}{MARKER}\n", self.text);
        let signed = self.share_keys.iter().zip(&self.signatures);
        for (member, (share_key, signature)) in self.terms.members.iter().zip(signed) {
            if let Some(signature) = signature {
                file.push_str(&text::signature_line(member, share_key.as_ref(), signature));
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

    /// BLAKE3 of [`Agreement::text`]: what is signed.
    pub fn hash(&self) -> &Hash {
        &self.hash
    }

    /// What ledgers, folders and frames carry: the hash of the terms, and of all share keys where members have them.
    ///
    /// # Guarantee
    /// Members with the same one have the same terms and the same share keys: whoever signs with one key for some and with
    /// another for others is refused by them, as somebody with another agreement.
    pub fn run_hash(&self) -> Hash {
        if !self.terms.share_keys {
            return self.hash;
        }
        let mut hasher = blake3::Hasher::new_derive_key(WITH_SHARE_KEYS);
        hasher.update(&self.hash);
        for key in &self.share_keys {
            // One that is missing is written as what no key is.
            hasher.update(key.as_ref().map_or(&[0; 32], ShareKey::as_bytes).as_slice());
        }
        *hasher.finalize().as_bytes()
    }

    /// By member; `None` for those who have not signed, and where the terms want none.
    pub fn share_keys(&self) -> &[Option<ShareKey>] {
        &self.share_keys
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

    /// Adds a member's signature; its number. Where the terms want one, with its share key.
    pub fn sign(
        &mut self,
        identity: &Identity,
        share_key: Option<ShareKey>,
    ) -> Result<usize, AgreementError> {
        let (member, found) = self.member_with(&identity.public())?;
        if share_key.is_some() != self.terms.share_keys {
            let (name, wanted) = (found.name.clone(), self.terms.share_keys);
            return Err(AgreementError::ShareKey { name, wanted });
        }
        self.enter(member, share_key, identity.sign(&self.hash, share_key.as_ref().map(ShareKey::as_bytes)))?;
        Ok(member)
    }

    /// Adds the signatures of another copy; the numbers of the members whose signatures are new here.
    pub fn merge(&mut self, other: &Self) -> Result<Vec<usize>, AgreementError> {
        if self.hash != other.hash {
            let (ours, theirs) = (hex(&self.hash), hex(&other.hash));
            return Err(AgreementError::Different { ours, theirs });
        }
        let mut new = Vec::new();
        for (member, (signature, share_key)) in other.signatures.iter().zip(&other.share_keys).enumerate() {
            let (Some(signature), Some(mine)) = (signature, self.signatures.get(member)) else { continue };
            let same = self.share_keys.get(member).is_none_or(|mine| mine == share_key);
            match mine {
                None => {
                    self.enter(member, *share_key, *signature)?;
                    new.push(member);
                }
                Some(_) if !same => {
                    let name = self.terms.members.get(member).map_or_else(String::new, |m| m.name.clone());
                    return Err(AgreementError::TwoShareKeys { name });
                }
                Some(_) => {}
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
            agreement: self.run_hash(),
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
