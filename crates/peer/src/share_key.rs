//! What two members draw their shares from: an X25519 key pair that a member makes for one agreement alone.
//!
//! The public half is signed with the agreement. The private half waits in a file beside the member's key until the run begins;
//! as soon as the keys of the first round are derived and kept in the run's folder, it is overwritten and removed. Those keys
//! are replaced round by round, so that whoever takes the disk, or the member's identity, learns nothing about earlier shares.
//!
//! # Guarantee
//! Two members derive the same 32 bytes, which nobody learns from the public halves (the computational Diffie-Hellman problem
//! on Curve25519). Halves of small order, with which everybody would know the result, are refused when they are read and
//! again when a result is zero.

use crate::private_file::{self, KeyFileError};
use crate::wire::{Hash, from_hex, hex};
use curve25519_dalek::montgomery::MontgomeryPoint;
use std::fmt;
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

const REMARK: &str = "\
# The private half of a share key, for one agreement. `prdo node run` takes it and removes this file: keep it secret, and make
# no copy of it. Whoever has it knows all that this member's noise shares with others in that run.
";

/// 2²⁵⁵ − 19, above all coordinates. The most significant byte comes first; in keys it comes last.
const PRIME: [u8; 32] = {
    let mut prime = [0xff; 32];
    (prime[0], prime[31]) = (0x7f, 0xed);
    prime
};

/// The public half.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ShareKey([u8; 32]);

/// The private half. Never printed, wiped when dropped.
pub struct ShareSecret(Zeroizing<[u8; 32]>);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShareKeyError {
    #[error(transparent)]
    File(#[from] KeyFileError),
    #[error(
        "the share key {path} of this agreement is not there: it was made where this member signed, stays beside its key, and \
         is removed when the run begins. A run that has begun resumes from its --home; an agreement is good for one run, so \
         create and sign a new one"
    )]
    Absent { path: String },
    #[error(
        "{path} is the share key {found}, but this member signed with {signed}: use the file that was made where it signed"
    )]
    Another { path: String, found: String, signed: String },
    #[error("the share key {key} gives a secret that everybody knows: it must not be used")]
    Trivial { key: String },
}

impl ShareKey {
    /// The key of these bytes, if they are written in the one way and are not of small order.
    pub fn from_bytes(bytes: [u8; 32]) -> Option<Self> {
        let key = Self(bytes);
        let canonical = bytes.iter().rev().lt(PRIME.iter());
        // Any private half tells: all are multiples of the cofactor, which takes every point of small order to zero.
        (canonical && ShareSecret(Zeroizing::new([1; 32])).agree(&key).is_ok()).then_some(key)
    }

    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl std::str::FromStr for ShareKey {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        from_hex(text).and_then(Self::from_bytes).ok_or(())
    }
}

impl fmt::Display for ShareKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for ShareKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ShareKey({self})")
    }
}

impl fmt::Debug for ShareSecret {
    /// The public half only.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ShareSecret({})", self.public())
    }
}

impl ShareSecret {
    /// Drawn by the operating system, kept nowhere.
    pub fn generate() -> Result<Self, ShareKeyError> {
        let mut secret = Zeroizing::new([0; 32]);
        getrandom::fill(&mut *secret).map_err(|e| KeyFileError::System {
            what: "cannot draw a share key for",
            path: "this agreement".into(),
            problem: e.to_string(),
        })?;
        Ok(Self(secret))
    }

    pub fn public(&self) -> ShareKey {
        ShareKey(MontgomeryPoint::mul_base_clamped(*self.0).to_bytes())
    }

    /// What this member and the owner of `other` know, and nobody else.
    ///
    /// # Guarantee
    /// Never the zero that halves of small order give.
    pub fn agree(&self, other: &ShareKey) -> Result<Zeroizing<[u8; 32]>, ShareKeyError> {
        let shared = Zeroizing::new(MontgomeryPoint(other.0).mul_clamped(*self.0).to_bytes());
        match shared.iter().fold(0, |all, byte| all | byte) {
            0 => Err(ShareKeyError::Trivial { key: other.to_string() }),
            _ => Ok(shared),
        }
    }

    /// Where a member that keeps its identity in `key` has the private half for the agreement whose terms have this hash.
    pub fn path(key: &Path, terms: &Hash) -> PathBuf {
        let mut name = key.as_os_str().to_owned();
        name.push(format!(".{}.shares", hex(&terms[..6])));
        PathBuf::from(name)
    }

    /// The private half that is kept for these terms, or a new one, which is kept.
    pub fn of_agreement(key: &Path, terms: &Hash) -> Result<Self, ShareKeyError> {
        match Self::read(key, terms) {
            Err(ShareKeyError::Absent { .. }) => {
                let made = Self::generate()?;
                private_file::create(&Self::path(key, terms), &made.text(terms))?;
                Ok(made)
            }
            found => found,
        }
    }

    /// The private half that is kept for these terms.
    pub fn read(key: &Path, terms: &Hash) -> Result<Self, ShareKeyError> {
        let path = Self::path(key, terms);
        private_file::read(&path, |text| Self::parse(text, terms)).map_err(|error| match error {
            KeyFileError::Absent { path } => ShareKeyError::Absent { path },
            error => error.into(),
        })
    }

    /// The one whose public half this member signed.
    pub fn read_signed(key: &Path, terms: &Hash, signed: &ShareKey) -> Result<Self, ShareKeyError> {
        let read = Self::read(key, terms)?;
        let found = read.public();
        if found == *signed {
            return Ok(read);
        }
        let path = Self::path(key, terms).display().to_string();
        Err(ShareKeyError::Another { path, found: found.to_string(), signed: signed.to_string() })
    }

    /// Overwrites and removes what is kept for these terms, if there is something.
    pub fn forget(key: &Path, terms: &Hash) -> Result<(), ShareKeyError> {
        Ok(private_file::forget(&Self::path(key, terms))?)
    }

    fn parse(text: &str, terms: &Hash) -> Result<Self, &'static str> {
        let private = private_file::value(text, "private").ok_or("it has no line private = \"…\"")?;
        let secret =
            from_hex::<32>(private).ok_or("its private half is not 64 lower-case hexadecimal digits")?;
        let read = Self(Zeroizing::new(secret));
        match *read.text(terms) == text {
            true => Ok(read),
            false => Err("it belongs to another agreement or is damaged"),
        }
    }

    fn text(&self, terms: &Hash) -> Zeroizing<String> {
        let private = Zeroizing::new(hex(&*self.0));
        Zeroizing::new(format!(
            "{REMARK}agreement = \"{}\"\nprivate = \"{}\"\npublic = \"{}\"\n",
            hex(terms),
            *private,
            self.public()
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &str) -> [u8; 32] {
        from_hex(text).unwrap()
    }

    /// RFC 7748, section 6.1.
    #[test]
    fn two_members_agree_on_what_the_standard_says() {
        let private = "5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb";
        let bob = ShareSecret(Zeroizing::new(bytes(private)));
        let of_bob = "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f";
        assert_eq!(bob.public().to_string(), of_bob);
        let of_alice = "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a";
        let shared = bytes("4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742");
        assert_eq!(*bob.agree(&of_alice.parse().unwrap()).unwrap(), shared);
        let alice = ShareSecret::generate().unwrap();
        assert_eq!(*alice.agree(&bob.public()).unwrap(), *bob.agree(&alice.public()).unwrap());
        let other = ShareSecret::generate().unwrap();
        assert_ne!(*alice.agree(&bob.public()).unwrap(), *alice.agree(&other.public()).unwrap());
        assert!(!format!("{bob:?}").contains("5dab087e"));
    }

    #[test]
    fn halves_that_give_everybody_the_secret_are_refused() {
        let good = ShareSecret::generate().unwrap().public();
        assert_eq!(good.to_string().parse(), Ok(good));
        // The points of small order, of the curve and of its twist.
        for small in [
            "0000000000000000000000000000000000000000000000000000000000000000",
            "0100000000000000000000000000000000000000000000000000000000000000",
            "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
            "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
            "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        ] {
            assert_eq!(small.parse::<ShareKey>(), Err(()), "{small}");
            let refused = ShareSecret::generate().unwrap().agree(&ShareKey(bytes(small)));
            assert!(matches!(refused, Err(ShareKeyError::Trivial { .. })), "{small}");
        }
        // Numbers that stand for smaller ones: 2²⁵⁵ − 19 + 9, and a set highest bit.
        let mut high = *good.as_bytes();
        high[31] |= 0x80;
        let beyond = "f6ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f";
        assert!(ShareKey::from_bytes(high).is_none() && ShareKey::from_bytes(bytes(beyond)).is_none());
    }

    #[test]
    fn a_half_is_kept_for_one_agreement_and_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let key = folder.path().join("north.key");
        let made = ShareSecret::of_agreement(&key, &[1; 32]).unwrap().public();
        assert_eq!(ShareSecret::of_agreement(&key, &[1; 32]).unwrap().public(), made);
        assert!(ShareSecret::read_signed(&key, &[1; 32], &made).is_ok());
        let other = ShareSecret::of_agreement(&key, &[2; 32]).unwrap().public();
        assert_ne!(other, made);
        let another = ShareSecret::read_signed(&key, &[1; 32], &other).unwrap_err();
        assert!(matches!(another, ShareKeyError::Another { .. }), "{another}");
        let (first, second) = (ShareSecret::path(&key, &[1; 32]), ShareSecret::path(&key, &[2; 32]));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(std::fs::metadata(&first).unwrap().permissions().mode() & 0o7777, 0o600);
        }
        // A file that was given another's name is not taken for it.
        std::fs::copy(&first, &second).unwrap();
        assert!(matches!(
            ShareSecret::read(&key, &[2; 32]),
            Err(ShareKeyError::File(KeyFileError::Format { .. }))
        ));
        ShareSecret::forget(&key, &[1; 32]).unwrap();
        ShareSecret::forget(&key, &[1; 32]).unwrap();
        assert!(!first.exists());
        assert!(matches!(ShareSecret::read(&key, &[1; 32]), Err(ShareKeyError::Absent { .. })));
        assert_ne!(ShareSecret::of_agreement(&key, &[1; 32]).unwrap().public(), made);
    }
}
