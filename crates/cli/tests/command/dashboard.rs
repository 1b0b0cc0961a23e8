//! The dashboard's server as a program meets it: who may ask, what is answered for folders of every kind and state, and
//! that a run with a page is the run without one.

use crate::common::{Desk, SMALL, refused};
use prdo::dashboard::{Dashboard, Port, Source};
use proptest::prelude::*;
use serde_json::{Value as Json, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

fn open(folder: &Path) -> Dashboard {
    Dashboard::open(Port::take(0).unwrap(), Source::new(folder).homes(prdo_member::HOMES)).unwrap()
}

/// Host and port, and the path with the token.
fn parts(url: &str) -> (&str, &str) {
    let rest = url.strip_prefix("http://").unwrap();
    rest.split_at(rest.find('/').unwrap())
}

/// Sends raw bytes; all that comes back.
fn ask(url: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(parts(url).0).unwrap();
    let _ = stream.write_all(request.as_bytes());
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8(answer).unwrap()
}

fn get(url: &str, what: &str) -> String {
    let (host, path) = parts(url);
    ask(url, &format!("GET {path}{what} HTTP/1.1\r\nHost: {host}\r\n\r\n"))
}

#[track_caller]
fn body(answer: &str) -> &str {
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    body
}

#[track_caller]
fn state(url: &str) -> Json {
    serde_json::from_str(body(&get(url, "state.json?epoch=0&from=0"))).unwrap()
}

/// A process that does not outlive its test.
struct Serving(Child);

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A process that serves a page, and where.
fn serving(desk: &Desk, arguments: &str) -> (Serving, String) {
    let mut command = desk.command(arguments);
    let file = std::fs::File::create(desk.path("serving.err")).unwrap();
    let child = Serving(command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(file).spawn().unwrap());
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        let told = desk.read("serving.err");
        if let Some(url) = told.lines().find_map(|line| line.strip_prefix("watch: ")) {
            return (child, url.to_string());
        }
        assert!(Instant::now() < end, "{told}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn only_this_machine_with_the_token_is_answered() {
    let desk = Desk::new();
    let dashboard = open(&desk.path("nothing"));
    let url = dashboard.url();
    let (host, path) = parts(&url);
    assert!(host.starts_with("127.0.0.1:") && path.len() == 34, "{url}");
    let status = |line: &str, hosts: &str| {
        let answer = ask(&url, &format!("{line}\r\n{hosts}\r\n"));
        answer.split(' ').nth(1).unwrap_or("none").to_string()
    };
    let own = format!("Host: {host}\r\n");
    assert_eq!(status(&format!("GET {path} HTTP/1.1"), &own), "200");
    assert_eq!(status(&format!("GET {path}state.json?from=x&epoch=-1&from HTTP/1.1"), &own), "200");
    assert_eq!(status(&format!("GET {path}nothing HTTP/1.1"), &own), "404");
    assert_eq!(status(&format!("GET {path}../../etc/passwd HTTP/1.1"), &own), "404");
    assert_eq!(status(&format!("GET {path}report.html HTTP/1.1"), &own), "404");
    assert_eq!(status(&format!("POST {path} HTTP/1.1"), &own), "405");
    assert_eq!(status(&format!("GET {path} HTTP/1.1"), "Host: evil.example\r\n"), "403");
    assert_eq!(status(&format!("GET {path} HTTP/1.1"), ""), "403");
    for wrong in
        ["/", "/state.json", "//", "/0/", &format!("/{}/", "0".repeat(32)), path.trim_end_matches('/')]
    {
        let answer = ask(&url, &format!("GET {wrong} HTTP/1.1\r\n{own}\r\n"));
        assert!(
            answer.starts_with("HTTP/1.1 403 Forbidden\r\n") && answer.ends_with("\r\n\r\n"),
            "{wrong}: {answer}"
        );
    }
    let long = format!("GET {path}?{} HTTP/1.1\r\n{own}\r\n", "x".repeat(9000));
    assert!(!ask(&url, &long).contains("200 OK"));
}

#[test]
fn the_page_is_whole_and_may_do_next_to_nothing() {
    let desk = Desk::new();
    let dashboard = open(&desk.path("nothing"));
    let (one, two) = (get(&dashboard.url(), ""), get(&dashboard.url(), ""));
    let (head, page) = one.split_once("\r\n\r\n").unwrap();
    for header in
        ["Cache-Control: no-store", "X-Content-Type-Options: nosniff", "Referrer-Policy: no-referrer"]
    {
        assert!(head.contains(header), "{head}");
    }
    let policy = head.split("Content-Security-Policy: ").nth(1).unwrap();
    assert!(
        policy.starts_with("default-src 'none'; script-src 'nonce-")
            && !policy.contains("script-src 'unsafe")
    );
    let nonce = policy.split("'nonce-").nth(1).unwrap().split('\'').next().unwrap();
    assert_eq!(page.matches("<script").count(), 1);
    assert!(page.contains(&format!("<script nonce=\"{nonce}\">")) && page.contains("prdoChart"));
    assert!(!two.contains(nonce), "a nonce is used once");
    let outside: Vec<&str> =
        page.match_indices("http").map(|(at, _)| &page[at..(at + 40).min(page.len())]).collect();
    assert!(outside.iter().all(|text| text.starts_with("http://www.w3.org/2000/svg")), "{outside:?}");
}

#[test]
fn folders_of_every_kind() {
    let desk = Desk::new();
    let url_of = |name: &str| open(&desk.path(name));
    let missing = url_of("missing");
    assert_eq!(state(&missing.url())["state"], "waiting");
    assert!(state(&missing.url())["message"].as_str().unwrap().contains("not there yet"));
    desk.write("foreign/letter.txt", "hello");
    assert_eq!(state(&url_of("foreign").url())["kind"], "other");

    desk.write("small.toml", SMALL);
    desk.prdo("run small.toml --out missing").done();
    std::thread::sleep(Duration::from_millis(250));
    let finished = state(&missing.url());
    assert_eq!(
        (&finished["state"], &finished["round"], &finished["rounds"]),
        (&json!("finished"), &json!(40.0), &json!(40))
    );
    assert_eq!(
        (&finished["private"], &finished["simulation"], &finished["report"]),
        (&json!(true), &json!(true), &json!(true))
    );
    let rows = desk.read("missing/metrics.csv");
    assert_eq!(finished["rows"]["next"], rows.lines().count() as u64 - 1);
    let loss: f64 = rows.lines().last().unwrap().split(',').nth(1).unwrap().parse().unwrap();
    assert_eq!(finished["rows"]["last"]["loss"], loss);
    // An older live.json says less than was spent: the page does not.
    desk.write(
        "missing/live.json",
        desk.read("missing/live.json").replace("\"epsilon_spent\":", "\"epsilon_spent\":0.01,\"old\":"),
    );
    let spent: f64 = rows.lines().last().unwrap().split(',').nth(5).unwrap().parse().unwrap();
    assert_eq!(state(&open(&desk.path("missing")).url())["epsilon_spent"], spent);
    assert_eq!(finished["disagreement"].as_array().unwrap().len(), 4);
    let network: Json = serde_json::from_str(body(&get(&missing.url(), "network.json"))).unwrap();
    assert_eq!((&network["nodes"], network["pairs"].as_array().unwrap().len()), (&json!(4), 8));
    assert!(get(&missing.url(), "report.html").contains("sandbox allow-scripts"));
    let later = format!("state.json?epoch={}&from=2", finished["rows"]["epoch"]);
    let later: Json = serde_json::from_str(body(&get(&missing.url(), &later))).unwrap();
    assert_eq!(later["rows"]["columns"]["round"][0], 20.0);

    desk.write("both.toml", SMALL.replace("name = \"prdo\"", "name = [\"prdo\", \"ed\"]"));
    desk.prdo("compare both.toml --out both").done();
    let both = state(&url_of("both").url());
    assert_eq!((&both["kind"], &both["report"]), (&json!("results"), &json!(true)));
}

#[test]
fn runs_that_stopped_failed_or_were_killed_say_so() {
    let desk = Desk::new();
    let long = SMALL
        .replace("rounds = 40", "rounds = 10000000")
        .replace("epsilon = 4.0", "noise_multiplier = 50.0\naccountant = \"rdp\"");
    desk.write("long.toml", &long);
    let (mut child, url) = serving(&desk, "run long.toml --out out --watch --json");
    let end = Instant::now() + Duration::from_secs(20);
    while state(&url)["disagreement"].as_array().map_or(0, Vec::len) != 4 {
        assert!(Instant::now() < end, "no look at the nodes: {}", state(&url));
        std::thread::sleep(Duration::from_millis(50));
    }
    let live = state(&url);
    assert_eq!((&live["state"], &live["process"]), (&json!("running"), &json!(child.0.id())));
    let watched = open(&desk.path("out"));
    assert_eq!(state(&watched.url())["state"], "running");
    child.0.kill().unwrap();
    child.0.wait().unwrap();
    std::thread::sleep(Duration::from_millis(250));
    let dead = state(&watched.url());
    assert_eq!(dead["state"], "stopped");
    assert!(dead["message"].as_str().unwrap().contains("--resume"), "{dead}");

    let diverging = "name = \"d\"\nrounds = 100000\n[graph]\nkind = \"ring\"\nnodes = 4\n[data]\nsource = \"quadratic\"\n\
        records = 5\ndimension = 3\n[model]\nkind = \"quadratic\"\n[method]\nname = \"dsgd\"\nstep_size = 10.0\n";
    desk.write("diverging.toml", diverging);
    assert_eq!(desk.prdo("run diverging.toml --out failed").code, Some(1));
    let failed = state(&open(&desk.path("failed")).url());
    assert_eq!((&failed["state"], &failed["private"]), (&json!("failed"), &json!(false)));
    assert!(failed["message"].as_str().unwrap().contains("not finite"), "{failed}");
    assert_eq!(failed["log"][1]["level"], "error");
}

/// The name that a page gives itself.
fn page(url: &str) -> String {
    let answer = get(url, "");
    answer.split("<script nonce=\"").nth(1).unwrap().split('"').next().unwrap().to_string()
}

#[test]
fn every_open_page_is_told_how_it_ended_before_the_server_may_go() {
    let desk = Desk::new();
    desk.write("out/live.json", r#"{"state": "stopped", "message": "not yet"}"#);
    let dashboard = open(&desk.path("out"));
    let url = dashboard.url();
    let told = |page: &str| {
        let answer = get(&url, &format!("state.json?page={page}&epoch=0&from=0"));
        serde_json::from_str::<Json>(body(&answer)).unwrap()["state"].clone()
    };
    let (asking, opened) = (page(&url), page(&url));
    assert_eq!(told(&asking), "stopped");
    desk.write("out/live.json", r#"{"state": "failed", "message": "not finite"}"#);
    let gone = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            dashboard.linger(Duration::from_secs(60));
            gone.store(true, std::sync::atomic::Ordering::SeqCst);
        });
        // The answer of a moment ago is not given again. A page that was opened and has asked for nothing yet is
        // waited for too.
        std::thread::sleep(Duration::from_millis(100));
        assert_eq!(told(&asking), "failed");
        std::thread::sleep(Duration::from_millis(100));
        assert!(!gone.load(std::sync::atomic::Ordering::SeqCst));
        assert_eq!(told(&opened), "failed");
    });
    // Pages that do not ask again get no more time than was granted, and without a page none is lost.
    let start = Instant::now();
    dashboard.linger(Duration::from_millis(300));
    assert!(start.elapsed() >= Duration::from_millis(300));
    // Nor are those waited for that say that they are closed.
    for name in [&asking, &opened] {
        get(&url, &format!("closed?page={name}"));
    }
    let start = Instant::now();
    dashboard.linger(Duration::from_secs(60));
    assert!(start.elapsed() < Duration::from_secs(5));
    drop(dashboard);
    let unseen = open(&desk.path("out"));
    let start = Instant::now();
    unseen.linger(Duration::from_secs(60));
    assert!(start.elapsed() < Duration::from_secs(5));
}

#[test]
fn a_page_changes_neither_results_nor_stdout() {
    let desk = Desk::new();
    desk.write("small.toml", SMALL);
    let plain = desk.prdo("run small.toml --out plain --json").json();
    let watched = desk.prdo("run small.toml --out watched --json --watch").done();
    assert!(watched.stderr.contains("watch: http://127.0.0.1:"), "{}", watched.stderr);
    let summary: Json = serde_json::from_str(&watched.stdout).unwrap();
    assert_eq!(summary["loss"], plain["loss"]);
    for file in ["model.safetensors", "metrics.csv", "run.toml"] {
        assert_eq!(desk.bytes(&format!("plain/{file}")), desk.bytes(&format!("watched/{file}")), "{file}");
    }
    assert!(!desk.path("plain/.live.json.tmp").exists());
}

#[test]
fn ports_and_folders_that_cannot_be_are_refused_before_anything_is_written() {
    let desk = Desk::new();
    desk.write("small.toml", SMALL);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    refused(
        &desk,
        &format!("run small.toml --out out --watch --port {port}"),
        &["--port", "another program"],
    );
    refused(&desk, &format!("watch out --port {port}"), &["--port", "another program"]);
    refused(&desk, "watch small.toml", &["is not a folder"]);
    refused(&desk, "run small.toml --out out --port 9000", &["--watch"]);
    refused(&desk, "watch out --port 70000", &["70000"]);
}

#[cfg(unix)]
#[test]
fn watching_ends_with_ctrl_c_and_prints_the_address_for_programs() {
    let desk = Desk::new();
    let (mut child, url) = serving(&desk, "watch nothing --json");
    let mut out = [0; 1024];
    let read = child.0.stdout.as_mut().unwrap().read(&mut out).unwrap();
    let printed: Json = serde_json::from_slice(&out[..read]).unwrap();
    assert_eq!(printed["url"], url.as_str());
    assert_eq!(state(&url)["kind"], "empty");
    std::process::Command::new("kill").args(["-INT", &child.0.id().to_string()]).status().unwrap();
    assert_eq!(child.0.wait().unwrap().code(), Some(0));
}

/// A run's folder, to be damaged.
fn folder() -> &'static Desk {
    static ONCE: std::sync::OnceLock<Desk> = std::sync::OnceLock::new();
    ONCE.get_or_init(|| {
        let desk = Desk::new();
        desk.write("small.toml", SMALL);
        desk.prdo("run small.toml --out out").done();
        desk
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn no_bytes_in_a_folder_make_it_fail(
        file in prop::sample::select(vec!["live.json", "summary.json", "metrics.csv", "run.toml", "status.json", "agreement"]),
        cut in 0.0..1.0_f64,
        flips in prop::collection::vec((0.0..1.0_f64, any::<u8>()), 0..6),
        noise in prop::collection::vec(any::<u8>(), 0..200),
        replace in any::<bool>(),
    ) {
        let target = tempfile::tempdir().unwrap();
        for name in ["live.json", "summary.json", "metrics.csv", "run.toml"] {
            std::fs::copy(folder().path("out").join(name), target.path().join(name)).unwrap();
        }
        let path = target.path().join(file);
        let mut bytes = if replace { noise } else { std::fs::read(&path).unwrap_or(noise) };
        bytes.truncate((cut * bytes.len() as f64) as usize + 1);
        for (place, value) in flips {
            let at = (place * bytes.len() as f64) as usize;
            if let Some(byte) = bytes.get_mut(at) { *byte ^= value }
        }
        std::fs::write(&path, &bytes).unwrap();
        let source = Source::new(target.path()).homes(prdo_member::HOMES);
        let state = source.state(7, 3);
        prop_assert!(state["state"].is_string(), "{state}");
        let network = source.network();
        prop_assert!(network.is_object() || network.is_null());
    }
}
