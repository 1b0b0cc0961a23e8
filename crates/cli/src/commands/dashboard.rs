//! `prdo watch`, and the same page from within a run (`--watch`).

use super::Failure;
use super::watch::Stop;
use crate::cli::{WatchArgs, WatchFolderArgs};
use crate::progress::{say, tell};
use prdo::dashboard::{Dashboard, DashboardError, Port, Source};
use serde_json::json;
use std::io::IsTerminal;
use std::path::Path;
use std::time::Duration;

/// How long an open page has to ask for the last state: a hidden one asks every five seconds, a starved one less often.
const LAST_LOOK: Duration = Duration::from_secs(15);
/// How often Ctrl-C is looked for.
const TICK: Duration = Duration::from_millis(50);

pub fn run(args: &WatchFolderArgs) -> Result<(), Failure> {
    if args.folder.exists() && !args.folder.is_dir() {
        let shown = args.folder.display();
        return Err(Failure::Input(format!("{shown} is not a folder: give a run's folder or a node's home")));
    }
    let stop = Stop::listen()?;
    let dashboard = Port::take(args.port).and_then(|port| Dashboard::open(port, source(&args.folder)));
    let dashboard = dashboard.map_err(refused)?;
    tell(&format!("watch: {}", dashboard.url()));
    if !args.folder.exists() {
        tell(&format!(
            "{} does not exist yet: the page shows a run as soon as one begins",
            args.folder.display()
        ));
    }
    match args.json {
        true => say(&json!({ "url": dashboard.url(), "folder": args.folder }).to_string()),
        false => tell("Ctrl-C closes the page, not the run"),
    }
    serve_until(&stop);
    Ok(())
}

fn source(folder: &Path) -> Source {
    Source::new(folder).homes(prdo_member::HOMES)
}

fn refused(error: DashboardError) -> Failure {
    match error {
        DashboardError::Server(_) => Failure::Input(format!("--port: {error}")),
        DashboardError::Random(_) => Failure::Work(error.to_string()),
    }
}

fn serve_until(stop: &Stop) {
    while !stop.asked() {
        std::thread::sleep(TICK);
    }
}

/// A port for the page that `--watch` asks for, taken before anything is written; `None` without it.
pub fn port(args: &WatchArgs) -> Result<Option<Port>, Failure> {
    args.watch.then(|| Port::take(args.port.unwrap_or(0)).map_err(refused)).transpose()
}

/// The page of a run that this process does itself.
pub struct Window(Option<Dashboard>);

impl Window {
    pub fn open(port: Option<Port>, folder: &Path) -> Result<Self, Failure> {
        let Some(port) = port else { return Ok(Self(None)) };
        let dashboard = Dashboard::open(port, source(folder)).map_err(refused)?;
        tell(&format!("watch: {}", dashboard.url()));
        Ok(Self(Some(dashboard)))
    }

    /// The work is over. Somebody at a terminal may keep looking until Ctrl-C; for a program, an open page gets a
    /// moment to see how it ended.
    pub fn close<T>(self, result: Result<T, Failure>, stop: &Stop, json: bool) -> Result<T, Failure> {
        let Some(dashboard) = self.0 else { return result };
        let attended = std::io::stderr().is_terminal() && std::io::stdin().is_terminal();
        if attended && !json && !stop.asked() {
            if let Err(failure) = &result {
                tell(&format!("error: {failure}"));
            }
            tell(&format!("the page stays until Ctrl-C: {}", dashboard.url()));
            serve_until(stop);
        } else {
            dashboard.linger(LAST_LOOK);
        }
        result
    }
}
