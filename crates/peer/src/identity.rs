//! Who a node is: an ed25519 key pair. The public key is its name on the network and in the agreement; the private
//! one lies in a file that nobody else may read.
//!
//! The private key's 32 bytes are what iroh calls a secret key, so the key that signs the agreement is the key that
//! the links prove.

use crate::wire::{Hash, from_hex, hex};
use ed25519_dalek::{Signer, SigningKey, VerifyingKey};
use prdo_disk::{folder_of, sync_folder};
use std::fmt;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{Read, Write};
use std::path::Path;
use zeroize::Zeroizing;

/// What a signature is of, so that it can never be taken for one of something else.
const SIGNED: &[u8] = b"prdo run agreement, signature version 1\0";

const REMARK: &str =
    "# A prdo node's private key. Whoever has it can speak in its name: keep it, show it to nobody.";

/// The most bytes of a key file that are read.
const LONGEST: u64 = 4096;

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
pub enum IdentityError {
    #[error("{path} already exists, and a key is never overwritten: choose another name")]
    Exists { path: String },
    #[error("no key file {path}: create one with `prdo node key {path}`")]
    Absent { path: String },
    #[error(
        "{path} has the permissions {mode:04o}: others can use the private key in it; run `chmod 600 {path}`"
    )]
    Open { path: String, mode: u32 },
    #[error(
        "{path} belongs to user {owner}, this is user {me}: whoever owns it can change it; run `chown {me} {path}`"
    )]
    Owner { path: String, owner: u32, me: u32 },
    /// The problem never shows a part of the key.
    #[error("{path} is not a prdo key file: {problem}")]
    Format { path: String, problem: &'static str },
    #[error("{what} {path}: {problem}")]
    System { what: &'static str, path: String, problem: String },
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

    /// Whether `signature` is this key's of the agreement with this hash.
    pub fn signed(&self, agreement: &Hash, signature: &Signature) -> bool {
        let Ok(key) = VerifyingKey::from_bytes(&self.0) else { return false };
        key.verify_strict(&statement(agreement), &ed25519_dalek::Signature::from_bytes(&signature.0)).is_ok()
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
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path).map_err(|e| match e.kind() {
            std::io::ErrorKind::AlreadyExists => IdentityError::Exists { path: path.display().to_string() },
            _ => system("cannot create the key file", path)(e),
        })?;
        let written = file.write_all(identity.text().as_bytes()).and_then(|()| file.sync_all());
        written.map_err(|e| {
            let _ = std::fs::remove_file(path);
            system("cannot write the key file", path)(e)
        })?;
        sync_folder(folder_of(path));
        Ok(identity)
    }

    /// The key pair in a file.
    pub fn read(path: &Path) -> Result<Self, IdentityError> {
        let mut file = File::open(path).map_err(|e| match e.kind() {
            std::io::ErrorKind::NotFound => IdentityError::Absent { path: path.display().to_string() },
            _ => system("cannot read the key file", path)(e),
        })?;
        let found = file.metadata().map_err(system("cannot examine the key file", path))?;
        let format = |problem| IdentityError::Format { path: path.display().to_string(), problem };
        if !found.is_file() {
            return Err(format("it is not a file"));
        }
        let mut text = Zeroizing::new(String::new());
        let read = Read::by_ref(&mut file).take(LONGEST).read_to_string(&mut text);
        read.map_err(|e| match e.kind() {
            std::io::ErrorKind::InvalidData => format("it is not text"),
            _ => system("cannot read the key file", path)(e),
        })?;
        // What is no key file at all is called so, before anybody is told to change its mode.
        let identity = Self::parse(&text).map_err(format);
        match check_owner(path, &found) {
            Err(IdentityError::Open { .. }) if identity.is_err() => identity,
            Err(error) => Err(error),
            Ok(()) => identity,
        }
    }

    /// The key pair of a key file's text.
    ///
    /// # Errors
    /// What is wrong with it, without showing a part of it.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let value = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name));
            line.and_then(|rest| rest.strip_prefix(" = \"")).and_then(|rest| rest.strip_suffix('"'))
        };
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

    pub fn sign(&self, agreement: &Hash) -> Signature {
        Signature(self.key.sign(&statement(agreement)).to_bytes())
    }
}

/// The bytes that are signed.
fn statement(agreement: &Hash) -> Vec<u8> {
    [SIGNED, agreement].concat()
}

#[cfg(unix)]
fn check_owner(path: &Path, found: &Metadata) -> Result<(), IdentityError> {
    use std::os::unix::fs::MetadataExt;
    let (mode, owner, me) = (found.mode() & 0o7777, found.uid(), rustix::process::geteuid().as_raw());
    let path = path.display().to_string();
    match owner == me {
        false => Err(IdentityError::Owner { path, owner, me }),
        true if mode & 0o077 != 0 => Err(IdentityError::Open { path, mode }),
        true => Ok(()),
    }
}

#[cfg(not(unix))]
fn check_owner(_: &Path, _: &Metadata) -> Result<(), IdentityError> {
    Ok(())
}

fn system<'a>(what: &'static str, path: &'a Path) -> impl FnOnce(std::io::Error) -> IdentityError + 'a {
    move |error| IdentityError::System { what, path: path.display().to_string(), problem: error.to_string() }
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
        let signature = a.sign(&[7; 32]);
        assert!(a.public().signed(&[7; 32], &signature));
        assert!(!a.public().signed(&[8; 32], &signature) && !b.public().signed(&[7; 32], &signature));
        for bit in 0..512 {
            let mut bytes = *signature.as_bytes();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(!a.public().signed(&[7; 32], &Signature::from_bytes(bytes)), "{bit}");
        }
        // Of the bare hash, without what says what it is: not ours.
        let bare = Signature(a.key.sign(&[7; 32]).to_bytes());
        assert!(!a.public().signed(&[7; 32], &bare));
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
