//! The walk-through of docs/peers.md, typed as written.

use crate::common::Desk;
use crate::common::peers::free_ports;
use std::process::{Child, Stdio};

const PAGE: &str = include_str!("../../../../docs/peers.md");

/// Digits, hashes and times differ from run to run: they are not compared.
fn mask(line: &str) -> String {
    let word = |word: &str| {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        let number = bare.chars().any(|c| c.is_ascii_digit());
        let hash = bare.len() >= 12 && bare.chars().all(|c| c.is_ascii_hexdigit());
        if number || hash { "#".to_string() } else { word.to_string() }
    };
    line.split_whitespace().map(word).collect::<Vec<_>>().join(" ")
}

/// Every line that the page shows is among those that were printed.
#[track_caller]
fn compare(typed: &str, shown: &[&str], printed: &str) {
    let printed_lines: Vec<_> = printed.lines().map(mask).collect();
    for line in shown.iter().filter(|line| !line.trim().is_empty()) {
        assert!(printed_lines.contains(&mask(line)), "prdo {typed}: {line:?} is not in\n{printed}");
    }
}

/// A node that was started and not waited for yet.
struct Node<'a> {
    typed: &'a str,
    shown: Vec<&'a str>,
    child: Child,
}

#[test]
fn the_walk_through_works_as_written() {
    let desk = Desk::new();
    let ports = free_ports();
    // What the page has, and what takes its place here: keys and ports.
    let mut instead: Vec<(String, String)> =
        (0..3).map(|i| (format!("127.0.0.1:{}", 4701 + i), format!("127.0.0.1:{}", ports[i]))).collect();
    let (mut typed_in_all, mut nodes) = (0, Vec::new());
    let mut blocks = PAGE.split("\n```");
    blocks.next();
    while let (Some(block), _) = (blocks.next(), blocks.next()) {
        if let Some(text) = block.strip_prefix("toml\n# ") {
            let (name, text) = text.split_once('\n').unwrap();
            let text = instead.iter().fold(text.to_string(), |text, (old, new)| text.replace(old, new));
            desk.write(name, text);
        }
        let Some(text) = block.strip_prefix("console\n") else { continue };
        for entry in text.split("$ prdo ").skip(1) {
            let mut lines = entry.lines();
            let typed = lines.next().unwrap();
            let shown: Vec<_> = lines.collect();
            typed_in_all += 1;
            if typed.starts_with("node run") {
                let mut command = desk.command(typed);
                let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
                nodes.push(Node { typed, shown, child });
                continue;
            }
            finish(&mut nodes);
            let answer = desk.prdo(typed).done();
            if typed.starts_with("node key") {
                instead.push((shown[1].to_string(), answer.stdout.trim().to_string()));
            }
            compare(typed, &shown, &(answer.stdout + &answer.stderr));
        }
    }
    finish(&mut nodes);
    assert_eq!(typed_in_all, 14);
}

#[track_caller]
fn finish(nodes: &mut Vec<Node<'_>>) {
    for node in nodes.drain(..) {
        let output = node.child.wait_with_output().unwrap();
        let printed = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
        assert!(output.status.success(), "prdo {}: {printed}", node.typed);
        compare(node.typed, &node.shown, &printed);
    }
}

/// Builds for use take no seed: their noise is nobody's to know.
#[test]
fn only_builds_for_tests_take_a_seed() {
    let desk = Desk::new();
    let mut command = desk.command("node run none.agreement --key no.key --data no.csv --home home");
    let output = command.env("PRDO_TEST_SEED", "5").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let told = String::from_utf8(output.stderr).unwrap();
    // Without the seed's refusal, the first thing that is missed is the key.
    let expected = if cfg!(debug_assertions) { "no.key" } else { "PRDO_TEST_SEED is set" };
    assert!(told.contains(expected), "{told}");
}
