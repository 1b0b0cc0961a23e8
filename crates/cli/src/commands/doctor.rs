//! `prdo doctor`: is this machine ready? Every finding says what to do about it.

use super::Failure;
use super::data::known_sets;
use crate::cli::doctor::DoctorArgs;
use crate::progress::say;
use crate::version;
use prdo::privacy::Secret;
use prdo_kernels::Level;
use serde_json::json;
use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::path::Path;
use std::time::Instant;

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Good,
    /// Works, but less well than it could, or only some commands need it.
    Note,
    Bad,
}

impl State {
    fn word(self) -> &'static str {
        match self {
            State::Good => "ok",
            State::Note => "note",
            State::Bad => "bad",
        }
    }
}

struct Finding {
    name: &'static str,
    state: State,
    what: String,
    /// What to do, where there is something to do.
    next: Option<String>,
}

fn good(name: &'static str, what: impl Into<String>) -> Finding {
    Finding { name, state: State::Good, what: what.into(), next: None }
}

fn note(name: &'static str, what: impl Into<String>, next: &str) -> Finding {
    Finding { name, state: State::Note, what: what.into(), next: Some(next.into()) }
}

fn bad(name: &'static str, what: impl Into<String>, next: &str) -> Finding {
    Finding { name, state: State::Bad, what: what.into(), next: Some(next.into()) }
}

pub fn run(args: &DoctorArgs) -> Result<(), Failure> {
    let mut findings = vec![
        processor(),
        cores(),
        memory(),
        randomness(),
        tcp(),
        udp(),
        open_files(),
        disk("disk", Path::new(".")),
        temporary(),
    ];
    findings.extend(data(&args.data));
    if args.json {
        print_json(&findings)
    } else {
        print(&findings)
    }
    match findings.iter().filter(|f| f.state == State::Bad).count() {
        0 => Ok(()),
        1 => Err(Failure::Work("one check failed".into())),
        many => Err(Failure::Work(format!("{many} checks failed"))),
    }
}

fn print(findings: &[Finding]) {
    say(&format!("prdo {}", version::long().replace('\n', "\n  ")));
    say("");
    for Finding { name, state, what, next } in findings {
        say(&format!("{:<5} {name:<11} {what}", state.word()));
        if let Some(next) = next {
            say(&format!("{:<18}{next}", ""));
        }
    }
    let count = |state| findings.iter().filter(|f| f.state == state).count();
    say("");
    say(&match (count(State::Bad), count(State::Note)) {
        (0, 0) => "Everything is ready. Start with `prdo demo`.".to_string(),
        (0, notes) => format!("Ready ({notes} to note). Start with `prdo demo`."),
        (bad, _) => format!("{bad} to fix first."),
    });
}

fn print_json(findings: &[Finding]) {
    let one =
        |f: &Finding| json!({ "name": f.name, "state": f.state.word(), "what": f.what, "next": f.next });
    let build: serde_json::Map<String, serde_json::Value> =
        version::facts().into_iter().map(|(name, value)| (name.to_string(), value.into())).collect();
    let ready = findings.iter().all(|f| f.state != State::Bad);
    let checks: Vec<_> = findings.iter().map(one).collect();
    say(&json!({ "ready": ready, "version": env!("CARGO_PKG_VERSION"), "build": build, "checks": checks })
        .to_string());
}

fn processor() -> Finding {
    let level = Level::best();
    if level == Level::PORTABLE {
        let next =
            "networks train several times slower than with AVX2 or AVX-512; linear models hardly differ";
        return note("processor", "no supported vector instructions", next);
    }
    good("processor", format!("{} kernels", level.name()))
}

fn cores() -> Finding {
    match std::thread::available_parallelism() {
        Ok(cores) => good("cores", format!("{cores}; results do not depend on how many are used")),
        Err(error) => note("cores", format!("unknown: {error}"), "give --threads"),
    }
}

/// Available and total memory in GiB, where the system says so.
fn gibibytes() -> Option<(f64, f64)> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse::<f64>().ok().map(|kibibytes| kibibytes / (1 << 20) as f64)
    };
    Some((line("MemAvailable:")?, line("MemTotal:")?))
}

fn memory() -> Finding {
    match gibibytes() {
        Some((free, total)) if free < 1.0 => {
            let next = "close other programs, or keep to small data sets: CIFAR-10 takes 0.4 GiB";
            note("memory", format!("{free:.1} of {total:.1} GiB free"), next)
        }
        Some((free, total)) => good("memory", format!("{free:.1} of {total:.1} GiB free")),
        None => note(
            "memory",
            "unknown on this system",
            "`prdo run` prints what a network needs before it starts",
        ),
    }
}

/// Real peers draw their noise from the operating system: it must be there, and not make them wait.
fn randomness() -> Finding {
    let started = Instant::now();
    match Secret::from_operating_system() {
        Ok(_) if started.elapsed().as_secs_f64() > 1.0 => {
            let next =
                "the system gathers randomness slowly: `prdo node run` will wait for it when it starts";
            note("randomness", format!("slow: {:.1} s", started.elapsed().as_secs_f64()), next)
        }
        Ok(_) => good("randomness", "from the operating system, without delay"),
        Err(error) => {
            bad("randomness", error.to_string(), "without it nothing can be private: no real node will start")
        }
    }
}

fn tcp() -> Finding {
    match TcpListener::bind((Ipv4Addr::LOCALHOST, 0)) {
        Ok(_) => good("loopback", "pages for `--watch` and `prdo watch` can be served"),
        Err(error) => {
            note("loopback", error.to_string(), "`--watch` and `prdo watch` need a port on 127.0.0.1")
        }
    }
}

fn udp() -> Finding {
    match UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)) {
        Ok(_) => good(
            "network",
            "UDP ports can be opened; `prdo node check` tests whether members reach each other",
        ),
        Err(error) => note("network", error.to_string(), "`prdo node` needs a UDP port; simulations do not"),
    }
}

fn open_files() -> Finding {
    let text = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("Max open files"));
    let most = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    match most {
        Some(most) if most < 256 => note("open files", format!("at most {most}"), "raise it: ulimit -n 1024"),
        Some(most) => good("open files", format!("at most {most}")),
        None => good("open files", "no known limit"),
    }
}

fn disk(name: &'static str, folder: &Path) -> Finding {
    let shown = std::path::absolute(folder).unwrap_or_else(|_| folder.to_path_buf());
    let shown = shown.display();
    match tempfile::tempfile_in(folder).and_then(|mut file| std::io::Write::write_all(&mut file, &[0; 4096]))
    {
        Ok(()) => good(name, format!("{shown} is writable")),
        Err(error) => bad(
            name,
            format!("{shown}: {error}"),
            "results go to runs/ in this folder: change it, or give --out",
        ),
    }
}

fn temporary() -> Finding {
    Finding { name: "temporary", ..disk("temporary", &std::env::temp_dir()) }
}

fn data(folder: &Path) -> Vec<Finding> {
    let found = |(name, inner, files): &(&'static str, &'static str, Vec<&'static str>)| {
        let place = folder.join(inner);
        let missing: Vec<&str> = files.iter().copied().filter(|file| !place.join(file).is_file()).collect();
        match missing.len() {
            0 => good("data", format!("{name} in {}", place.display())),
            all if all == files.len() => note(
                "data",
                format!("no {name} in {}", folder.display()),
                &format!("prdo data get {name} (only its examples need it)"),
            ),
            _ => note(
                "data",
                format!("{name} in {} lacks {}", place.display(), missing.join(", ")),
                &format!("prdo data get {name}"),
            ),
        }
    };
    known_sets().iter().map(found).collect()
}
