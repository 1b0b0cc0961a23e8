//! What the dashboard costs a run: the same run with and without `live.json`, a server and a page that asks ten times a
//! second, in turns. `cargo run --release -p prdo --example dashboard_cost -- [TURNS]`

use prdo::build::{build, resolved};
use prdo::dashboard::{Dashboard, Port, Source};
use prdo::runfile::Document;
use prdo::simulator::{Observer, Row, Training, train};
use prdo::store::{Folder, LinesFile, LiveFile, Outlook, State, format_row, header, write_models};
use std::error::Error;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

const RUN: &str = "[data]\nsource = \"logistic\"\nheterogeneity = 0.3\ntest = 200\n[method]\nname = \"prdo\"\nstep_size = 0.3\n\
    gamma = 0.2\n[clip]\ngradient = 1.0\ndifference = 0.05\n[privacy]\nnoise_multiplier = 8.0\ndelta = 1e-4\n\
    accountant = \"rdp\"\n[graph]\nkind = \"ring\"\n";

/// What a run does with its rows; with a dashboard also its rounds.
struct Watcher {
    metrics: LinesFile,
    live: Option<LiveFile>,
}

impl Observer for Watcher {
    fn row(&mut self, row: &Row) -> ControlFlow<()> {
        let _ = self.metrics.append(&format_row(row));
        self.live.iter_mut().for_each(|live| live.row(row));
        ControlFlow::Continue(())
    }

    fn round(&mut self, training: &dyn Training) -> ControlFlow<()> {
        self.live.iter_mut().for_each(|live| live.round(training));
        ControlFlow::Continue(())
    }
}

/// A run as `prdo run` does it, in a folder; the time it takes from the first file to the last.
fn run(text: &str, folder: &Path, watched: bool) -> Result<Duration, Box<dyn Error>> {
    let document = Document::parse("cost.toml", text)?;
    let mut built = build(&document)?;
    let started = Instant::now();
    let place = Folder::create(Some(folder), "cost", true)?;
    place.write("run.toml", resolved::to_toml(&document, &built).as_bytes())?;
    let metrics = LinesFile::create(&folder.join("metrics.csv"), &[header()])?;
    let facts = built.prepared.facts;
    let live = watched.then(|| {
        let budget = built.prepared.guarantee.map(|g| (g.epsilon, g.delta));
        let numbers = (facts.nodes * facts.parameters) as u64;
        let rounds = built.prepared.schedule.rounds;
        LiveFile::begin(
            folder,
            Outlook { rounds, from: 0, budget, numbers, before: Duration::ZERO, again: String::new() },
        )
    });
    let mut watcher = Watcher { metrics, live };
    let schedule = built.prepared.schedule;
    train(&mut *built.prepared.training, &schedule, &mut watcher)?;
    if let Some(live) = &mut watcher.live {
        live.last_look(&*built.prepared.training);
        live.end(State::Finished, "finished");
    }
    let training = &built.prepared.training;
    place.write("model.safetensors", &write_models(&training.average(), &training.models())?)?;
    place.write("report.html", prdo::report::from_folder(folder)?.html.as_bytes())?;
    Ok(started.elapsed())
}

/// A page that is open: asks ten times as often as the real one does.
fn page(url: &str, stop: &AtomicBool, answers: &AtomicU32) {
    let rest = url.trim_start_matches("http://");
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    while !stop.load(Ordering::SeqCst) {
        let mut answer = Vec::new();
        let asked = TcpStream::connect(host).and_then(|mut stream| {
            write!(stream, "GET /{path}state.json HTTP/1.1\r\nHost: {host}\r\n\r\n")?;
            stream.read_to_end(&mut answer)
        });
        if asked.is_ok() {
            answers.fetch_add(1, Ordering::SeqCst);
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn measure(name: &str, text: &str, turns: u32, each: u32) -> Result<(), Box<dyn Error>> {
    let home = tempfile::tempdir()?;
    let (mut plain, mut watched, mut ratios) = (Duration::ZERO, Duration::ZERO, Vec::new());
    let answers = Arc::new(AtomicU32::new(0));
    run(text, &home.path().join("warm"), false)?;
    for _ in 0..turns {
        let (mut without, mut with) = (Duration::ZERO, Duration::ZERO);
        for _ in 0..each {
            without += run(text, &home.path().join("plain"), false)?;
            let folder = home.path().join("watched");
            let dashboard = Dashboard::open(Port::take(0)?, Source::new(&folder))?;
            let (stop, url, count) =
                (Arc::new(AtomicBool::new(false)), dashboard.url(), Arc::clone(&answers));
            let halt = Arc::clone(&stop);
            let reader = std::thread::spawn(move || page(&url, &halt, &count));
            with += run(text, &folder, true)?;
            stop.store(true, Ordering::SeqCst);
            reader.join().map_err(|_| "the page failed")?;
        }
        ratios.push(with.as_secs_f64() / without.as_secs_f64());
        (plain, watched) = (plain + without, watched + with);
    }
    ratios.sort_by(f64::total_cmp);
    let runs = f64::from(turns * each);
    let middle = ratios.get(ratios.len() / 2).copied().unwrap_or(f64::NAN);
    println!(
        "{name}: {:.1} ms without, {:.1} ms with; {:+.2} % in all, {:+.2} % in the median turn of {turns}; {} answers",
        1e3 * plain.as_secs_f64() / runs,
        1e3 * watched.as_secs_f64() / runs,
        100.0 * (watched.as_secs_f64() / plain.as_secs_f64() - 1.0),
        100.0 * (middle - 1.0),
        answers.load(Ordering::SeqCst)
    );
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let turns = std::env::args().nth(1).map_or(Ok(5), |text| text.parse())?;
    let large = format!("rounds = 400\n{RUN}nodes = 400\n[batch]\nsize = 16\n[metrics]\nevery = 20\n");
    let large = large.replace("test = 200", "test = 200\nrecords = 100\ndimension = 50");
    measure("400 nodes, 400 rounds", &large, turns, 1)?;
    let small = format!("rounds = 300\n{RUN}nodes = 8\n[batch]\nsize = 16\n");
    let small = small.replace("test = 200", "test = 200\nrecords = 100\ndimension = 20");
    measure("8 nodes, 300 rounds", &small, turns, 8)
}
