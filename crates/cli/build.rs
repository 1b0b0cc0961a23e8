//! What `prdo --version` says about how it was built.

use std::process::Command;

fn main() {
    let fact = |name: &str, value: &str| println!("cargo:rustc-env={name}={value}");
    let compiler = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    fact("PRDO_COMPILER", &first_line(Command::new(compiler).arg("--version")).unwrap_or("unknown".into()));
    fact("PRDO_TARGET", &std::env::var("TARGET").unwrap_or("unknown".into()));
    // Only builds for use are worth building anew after each commit.
    let debug = std::env::var("PROFILE").is_ok_and(|profile| profile == "debug");
    let source = if debug { Some("not recorded in debug builds".into()) } else { source() };
    fact("PRDO_SOURCE", &source.unwrap_or("not a git checkout".into()));
    println!("cargo:rerun-if-changed=build.rs");
}

/// The commit, if this is a git checkout. Whether files were changed since is not looked at: it would be wrong after
/// the next edit, and would build anew after each.
fn source() -> Option<String> {
    let git = |arguments: &[&str]| first_line(Command::new("git").args(arguments));
    for name in ["HEAD", "refs", "packed-refs"] {
        let path = git(&["rev-parse", "--git-path", name])?;
        if std::path::Path::new(&path).exists() {
            println!("cargo:rerun-if-changed={path}");
        }
    }
    git(&["rev-parse", "--short=12", "HEAD"]).map(|commit| format!("commit {commit}"))
}

fn first_line(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?;
    text.lines().next().map(|line| line.trim().to_string())
}
