//! The command as a person types it, in a folder of its own.
// Some of it is for tests of peers only.
#![allow(dead_code)]

pub mod golden;
pub mod members;
pub mod peers;
pub mod stand_in;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const CHECKED: &str = env!("CARGO_BIN_EXE_prdo");

pub struct Desk {
    folder: tempfile::TempDir,
    /// The user's cache folder, as far as the command knows.
    cache: tempfile::TempDir,
}

impl Desk {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), cache: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Where features and the constants of maps are kept.
    pub fn kept_features(&self) -> PathBuf {
        self.cache.path().join("prdo").join("features")
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    pub fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    pub fn command(&self, arguments: &str) -> Command {
        // Real data sets take long without optimisation: they may be given to a release build instead.
        self.typed(std::env::var_os("PRDO_TEST_BINARY").as_deref().unwrap_or(CHECKED.as_ref()), arguments)
    }

    /// The command as it was built for the tests, in any case: only builds with checks rehearse peers with a seed.
    pub fn checked(&self, arguments: &str) -> Command {
        self.typed(CHECKED.as_ref(), arguments)
    }

    fn typed(&self, binary: &OsStr, arguments: &str) -> Command {
        let mut command = Command::new(binary);
        command.current_dir(self.folder.path()).args(arguments.split_whitespace());
        command.env("XDG_CACHE_HOME", self.cache.path());
        // Tests talk to servers on this machine only.
        for proxy in ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
            command.env_remove(proxy);
        }
        command
    }

    /// Types `prdo` with these arguments.
    pub fn prdo(&self, arguments: &str) -> Answer {
        Answer::of(self.command(arguments).output().unwrap())
    }

    /// Everything in the folder, to see that nothing was written.
    pub fn listing(&self) -> Vec<String> {
        let mut names = Vec::new();
        list(self.folder.path(), &mut names);
        names.sort();
        names
    }
}

fn list(folder: &Path, names: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        names.push(path.display().to_string());
        if path.is_dir() {
            list(&path, names);
        }
    }
}

pub struct Answer {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Answer {
    fn of(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    #[track_caller]
    pub fn done(self) -> Self {
        assert_eq!(self.code, Some(0), "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        self
    }

    #[track_caller]
    pub fn json(self) -> serde_json::Value {
        let answer = self.done();
        serde_json::from_str(&answer.stdout).unwrap_or_else(|e| panic!("{e}: {}", answer.stdout))
    }
}

/// Types the command; expects exit 2, these words, and an untouched folder.
#[track_caller]
pub fn refused(desk: &Desk, arguments: &str, words: &[&str]) {
    let before = desk.listing();
    let answer = desk.prdo(arguments);
    let shown = format!("prdo {arguments}\nstdout: {}\nstderr: {}", answer.stdout, answer.stderr);
    assert_eq!(answer.code, Some(2), "{shown}");
    assert!(!answer.stderr.contains("panicked"), "{shown}");
    for word in words {
        assert!(answer.stderr.contains(word), "{word:?} is missing in\n{shown}");
    }
    assert_eq!(desk.listing(), before, "something was written by\n{shown}");
    assert!(answer.stdout.is_empty(), "{shown}");
}

/// A small private run that takes well under a second.
pub const SMALL: &str = r#"name = "small"
rounds = 40

[graph]
kind = "ring"
nodes = 4

[data]
source = "logistic"
records = 60
dimension = 3
test = 50

[method]
name = "prdo"
step_size = 0.5
gamma = 0.2

[batch]
size = 10

[clip]
gradient = 1.0
difference = 0.05

[privacy]
epsilon = 4.0
delta = 1e-3
"#;
