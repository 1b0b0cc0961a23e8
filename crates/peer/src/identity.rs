//! Who a node is: an ed25519 key pair. The public key is its name on the network and in the agreement; the private
//! one lies in a file that nobody else may read.
//!
//! The private key's 32 bytes are what iroh calls a secret key, so the key that signs the agreement is the key that
//! the links prove.

pub use crate::private_file::KeyFileError as IdentityError;

use crate::private_file;
use crate::wire::{Hash, from_hex, hex};
use ed25519_dalek::{Signer, SigningKey, VerifyingKey};
use std::fmt;
use std::path::Path;
use zeroize::Zeroizing;

/// What a signature is of, so that it can never be taken for one of something else.
const SIGNED: &[u8] = b"prdo run agreement, signature version 1\0";
/// The same of an agreement together with the signer's share key.
const SIGNED_WITH: &[u8] = b"prdo run agreement and share key, signature version 1\0";

const REMARK: &str =
    "# A prdo node's private key. Whoever has it can speak in its name: keep it, show it to nobody.";

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PublicKey([u8; 32]);

/// A signature of an agreement's hash.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Signature([u8; 64]);

/// A node's key pair. Wiped from memory when dropped.
pub struct Identity {
    key: SigningKey,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{value:?} is not a public key: it must be the 64 lower-case hexadecimal digits that `prdo node key` prints"
)]
pub struct PublicKeyError {
    pub value: String,
}

impl PublicKey {
    /// The key of these bytes, if they are one that can sign.
    pub fn from_bytes(bytes: [u8; 32]) -> Option<Self> {
        let key = VerifyingKey::from_bytes(&bytes).ok()?;
        // The second clause: bytes that mean the same point as others would be a second name of one key.
        (!key.is_weak() && key.to_edwards().compress().to_bytes() == bytes).then_some(Self(bytes))
    }

    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Its first digits, for tables.
    pub fn short(&self) -> String {
        hex(&self.0[..6])
    }

    /// Whether `signature` is this key's of the agreement with this hash, and of the signer's share key where there is one.
    pub fn signed(&self, agreement: &Hash, share_key: Option<&[u8; 32]>, signature: &Signature) -> bool {
        let Ok(key) = VerifyingKey::from_bytes(&self.0) else { return false };
        let signature = ed25519_dalek::Signature::from_bytes(&signature.0);
        key.verify_strict(&statement(agreement, share_key), &signature).is_ok()
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({self})")
    }
}

impl std::str::FromStr for PublicKey {
    type Err = PublicKeyError;

    fn from_str(text: &str) -> Result<Self, PublicKeyError> {
        let refuse = || PublicKeyError { value: text.chars().take(80).collect() };
        from_hex(text).and_then(Self::from_bytes).ok_or_else(refuse)
    }
}

impl Signature {
    /// The signature of these bytes; whether it is one of anything is for [`PublicKey::signed`].
    pub fn from_bytes(bytes: [u8; 64]) -> Self {
        Self(bytes)
    }

    pub fn as_bytes(&self) -> &[u8; 64] {
        &self.0
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Signature({self})")
    }
}

impl fmt::Debug for Identity {
    /// The public half only.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Identity({})", self.public())
    }
}

impl Identity {
    /// A new key pair from the operating system's randomness, kept nowhere.
    pub fn generate() -> Result<Self, IdentityError> {
        let mut seed = Zeroizing::new([0; 32]);
        getrandom::fill(&mut *seed).map_err(|e| IdentityError::System {
            what: "cannot draw a key for",
            path: "a new node".into(),
            problem: e.to_string(),
        })?;
        Ok(Self::from_secret(&seed))
    }

    pub fn from_secret(secret: &[u8; 32]) -> Self {
        Self { key: SigningKey::from_bytes(secret) }
    }

    /// A new key pair in a new file that only its owner may read.
    pub fn create(path: &Path) -> Result<Self, IdentityError> {
        let identity = Self::generate()?;
        private_file::create(path, &identity.text())?;
        Ok(identity)
    }

    /// The key pair in a file.
    pub fn read(path: &Path) -> Result<Self, IdentityError> {
        private_file::read(path, Self::parse)
    }

    /// The key pair of a key file's text.
    ///
    /// # Errors
    /// What is wrong with it, without showing a part of it.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let value = |name| private_file::value(text, name);
        let private = value("private").ok_or("it has no line private = \"…\"")?;
        let secret =
            from_hex::<32>(private).ok_or("its private key is not 64 lower-case hexadecimal digits")?;
        let identity = Self::from_secret(&Zeroizing::new(secret));
        let public = value("public").ok_or("it has no line public = \"…\"")?;
        if public != identity.public().to_string() {
            return Err("its public key is not the one of its private key: the file is damaged");
        }
        match *identity.text() == text {
            true => Ok(identity),
            false => Err("it holds something else besides the two keys"),
        }
    }

    fn text(&self) -> Zeroizing<String> {
        let private = Zeroizing::new(hex(self.key.as_bytes()));
        Zeroizing::new(format!("{REMARK}\nprivate = \"{}\"\npublic = \"{}\"\n", *private, self.public()))
    }

    pub fn public(&self) -> PublicKey {
        PublicKey(self.key.verifying_key().to_bytes())
    }

    /// The private half, for the links.
    pub fn secret_bytes(&self) -> &[u8; 32] {
        self.key.as_bytes()
    }

    /// Signs an agreement, and the share key that goes with it where there is one.
    pub fn sign(&self, agreement: &Hash, share_key: Option<&[u8; 32]>) -> Signature {
        Signature(self.key.sign(&statement(agreement, share_key)).to_bytes())
    }
}

/// The bytes that are signed.
fn statement(agreement: &Hash, share_key: Option<&[u8; 32]>) -> Vec<u8> {
    match share_key {
        None => [SIGNED, agreement].concat(),
        Some(share_key) => [SIGNED_WITH, agreement, share_key].concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn made_once_read_often_and_never_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("node.key");
        let made = Identity::create(&path).unwrap();
        let read = Identity::read(&path).unwrap();
        assert_eq!((read.public(), read.secret_bytes()), (made.public(), made.secret_bytes()));
        assert_eq!(made.public().to_string().parse(), Ok(made.public()));
        let before = std::fs::read(&path).unwrap();
        assert!(matches!(Identity::create(&path), Err(IdentityError::Exists { .. })));
        assert_eq!(std::fs::read(&path).unwrap(), before);
        assert_ne!(Identity::generate().unwrap().public(), made.public());
        let shown = format!("{made:?}");
        assert!(!shown.contains(&hex(made.secret_bytes())) && shown.contains(&made.public().to_string()));
    }

    #[test]
    #[cfg(unix)]
    fn a_key_that_others_may_read_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("node.key");
        Identity::create(&path).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o600);
        for mode in [0o644, 0o640, 0o604, 0o610, 0o620, 0o601, 0o660, 0o777] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            let error = Identity::read(&path).unwrap_err();
            assert!(error.to_string().contains(&format!("{mode:04o}")), "{error}");
            assert!(error.to_string().contains("chmod 600"), "{error}");
        }
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o400)).unwrap();
        assert!(Identity::read(&path).is_ok());
        assert!(matches!(Identity::read(folder.path()), Err(IdentityError::Format { .. })));
        assert!(matches!(Identity::read(&folder.path().join("no")), Err(IdentityError::Absent { .. })));
    }

    #[test]
    fn signatures_are_of_one_key_and_one_agreement() {
        let (a, b) = (Identity::from_secret(&[1; 32]), Identity::from_secret(&[2; 32]));
        let signature = a.sign(&[7; 32], None);
        assert!(a.public().signed(&[7; 32], None, &signature));
        assert!(
            !a.public().signed(&[8; 32], None, &signature) && !b.public().signed(&[7; 32], None, &signature)
        );
        for bit in 0..512 {
            let mut bytes = *signature.as_bytes();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(!a.public().signed(&[7; 32], None, &Signature::from_bytes(bytes)), "{bit}");
        }
        // One share key more, or another, is another statement.
        let with = a.sign(&[7; 32], Some(&[5; 32]));
        assert!(a.public().signed(&[7; 32], Some(&[5; 32]), &with));
        for share_key in [None, Some(&[6; 32])] {
            assert!(!a.public().signed(&[7; 32], share_key, &with));
        }
        assert!(!a.public().signed(&[7; 32], Some(&[5; 32]), &signature));
        // Of the bare hash, without what says what it is: not ours.
        let bare = Signature(a.key.sign(&[7; 32]).to_bytes());
        assert!(!a.public().signed(&[7; 32], None, &bare));
    }

    #[test]
    fn text_that_is_no_public_key_is_refused() {
        let good = Identity::from_secret(&[1; 32]).public().to_string();
        // The neutral point, a point of small order, and a field element written in two ways.
        let neutral = format!("01{}", "0".repeat(62));
        let zero = "0".repeat(64);
        let twice = format!("ee{}7f", "f".repeat(60));
        for bad in ["", &good[1..], &good.to_uppercase(), &format!("{good}0"), &neutral, &zero, &twice, "ü"]
        {
            let error = bad.parse::<PublicKey>().unwrap_err();
            assert!(error.to_string().contains("64 lower-case"), "{bad}");
        }
    }

    #[test]
    fn damaged_key_files_are_refused_without_showing_the_key() {
        let identity = Identity::from_secret(&[0xab; 32]);
        let text = identity.text();
        let digits = hex(identity.secret_bytes());
        assert_eq!(Identity::parse(&text).unwrap().public(), identity.public());
        let other = Identity::from_secret(&[8; 32]).public().to_string();
        for bad in [
            String::new(),
            text.replace("private", "secret"),
            text.replace("public", "open"),
            text.replace(&digits, &digits.to_uppercase()),
            text.replace(&digits, &digits[2..]),
            text.replace(&identity.public().to_string(), &other),
            text.replace('#', "##"),
            format!("{}x", *text),
            text.trim_end().to_string(),
            text.replace('\n', "\r\n"),
        ] {
            let problem = Identity::parse(&bad).unwrap_err();
            assert!(!problem.contains(&digits), "{problem}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics_and_none_but_ours_is_a_key(text in ".{0,300}", at in 0usize..400, byte in any::<u8>()) {
            prop_assert!(Identity::parse(&text).is_err());
            let _ = text.parse::<PublicKey>();
            let good = Identity::from_secret(&[0xab; 32]).text();
            let mut bytes = good.as_bytes().to_vec();
            let at = at % bytes.len();
            bytes[at] = byte;
            if let Ok(text) = String::from_utf8(bytes) {
                prop_assert_eq!(Identity::parse(&text).is_ok(), *good == text);
            }
        }
    }
}
