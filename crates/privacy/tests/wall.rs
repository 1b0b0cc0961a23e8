//! The privacy wall holds at compile time: each file in `wall/` tries to get round it and must not compile,
//! with the error codes that its first line names. `wall/allowed.rs` must compile: it shows that the others
//! fail for the right reason. Codes, not messages, are compared, so that any compiler version will do.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::{Path, PathBuf};
use std::process::Command;

/// The newest build of this crate beside the running test.
fn library() -> PathBuf {
    let folder = std::env::current_exe().unwrap().parent().unwrap().to_path_buf();
    let ours = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        name.starts_with("libprdo_privacy-") && name.ends_with(".rlib")
    };
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(ours);
    files.max_by_key(|path| path.metadata().unwrap().modified().unwrap()).expect("the crate is built")
}

/// The error codes the compiler gives for `file`, sorted, each once; `None` if it compiles.
fn error_codes(file: &Path, library: &Path) -> Option<Vec<String>> {
    let output = Command::new(std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into()))
        .args(["--edition=2024", "--emit=metadata", "--crate-type=bin", "--error-format=json"])
        .arg("--extern")
        .arg(format!("prdo_privacy={}", library.display()))
        .arg("-L")
        .arg(format!("dependency={}", library.parent().unwrap().display()))
        .arg("--out-dir")
        .arg(env!("CARGO_TARGET_TMPDIR"))
        .arg(file)
        .output()
        .unwrap();
    if output.status.success() {
        return None;
    }
    let text = String::from_utf8_lossy(&output.stderr);
    let code = |line: &str| {
        let at = line.find(r#""code":"E0"#)? + 8;
        line.contains(r#""level":"error""#).then(|| line[at..at + 5].to_string())
    };
    let mut codes: Vec<String> = text.lines().filter_map(code).collect();
    codes.sort();
    codes.dedup();
    assert!(!codes.is_empty(), "{}: failed without an error code:\n{text}", file.display());
    Some(codes)
}

#[test]
fn what_would_break_privacy_does_not_compile() {
    let library = library();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wall");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 9);
    for file in files {
        let source = std::fs::read_to_string(&file).unwrap();
        let first = source.lines().next().unwrap();
        let expected: Vec<String> = first
            .strip_prefix("// expect:")
            .expect("first line")
            .split_whitespace()
            .map(String::from)
            .collect();
        let expected = (!expected.is_empty()).then_some(expected);
        assert_eq!(error_codes(&file, &library), expected, "{}", file.display());
    }
}
