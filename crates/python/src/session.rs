//! One run: settings and records from Python, checked and sealed, then trained once.

use crate::errors;
use crate::method::MethodHandle;
use crate::records::Arrays;
use crate::shared::Shared;
use crate::trained::{self, Trained};
use crate::user_model::{ModelHandle, UserModel};
use prdo::build::{Built, build, build_own, resolved};
use prdo::runfile::{Document, GivenRecords, Key};
use prdo::simulator::Row;
use prdo::store::{Folder, FolderError, PairFacts, Worry};
use prdo::trainer::{ObserverError, Opened, Options, Stage, TrainError, TrainObserver, Trainer};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What errors call the place of settings that came as arguments.
pub const ORIGIN: &str = "the arguments";
/// How often Ctrl-C is looked for, and how often at most progress is reported.
const TICK: Duration = Duration::from_millis(50);

/// A run that is ready to train.
#[pyclass(frozen, module = "prdo._prdo")]
pub struct Session {
    ready: Mutex<Option<Ready>>,
    /// Every setting of the run, as a run file.
    #[pyo3(get)]
    run_file: String,
    /// What is allowed but worth a second thought.
    #[pyo3(get)]
    warnings: Vec<String>,
}

struct Ready {
    document: Document,
    built: Built,
    shared: Arc<Shared>,
}

/// What the training thread tells the waiting one: the round, and its row where there is one.
type Event = (u32, Option<Row>);

#[pymethods]
impl Session {
    /// Reads a run file, sets keys (TOML values), takes records and a model, and checks everything.
    #[new]
    #[pyo3(signature = (file, settings, records=None, test=None, title=None, model=None, method=None, unseeded=false))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        file: Option<PathBuf>,
        settings: Vec<(String, String)>,
        records: Option<Arrays<'_>>,
        test: Option<Arrays<'_>>,
        title: Option<String>,
        model: Option<ModelHandle>,
        method: Option<MethodHandle>,
        unseeded: bool,
    ) -> PyResult<Self> {
        let refuse = |e| errors::config(&e, ORIGIN);
        let mut document = match file {
            Some(file) => Document::read(&file),
            None => Document::parse(ORIGIN, ""),
        }
        .map_err(refuse)?;
        for (key, value) in &settings {
            document.give(ORIGIN, key, value).map_err(refuse)?;
        }
        document.unseeded = unseeded;
        if let Some(records) = records {
            let (records, test) = (records.load()?, test.map(Arrays::load).transpose()?);
            let title = title.unwrap_or_else(|| "data from Python".into());
            document.give_records(GivenRecords { records, test, title }).map_err(refuse)?;
        }
        if let Some(method) = method {
            let rounds = document.run_file().rounds.unwrap_or(1);
            document.give_method(method.given(rounds)?).map_err(refuse)?;
        }
        let shared = Arc::new(Shared::default());
        let own = model.map(|model| UserModel::new(py, model, Arc::clone(&shared))).transpose()?;
        let built = py.detach(|| {
            let built = match &own {
                Some(own) => build_own(&document, own),
                None => build(&document),
            };
            // A program's own method is started, and asked for its first query, before anything is trained.
            built.map(|built| (built.prepared.training.check(), built))
        });
        if let Some(error) = shared.take() {
            return Err(error);
        }
        let (ready, built) = built.map_err(refuse)?;
        ready.map_err(|e| errors::run(&e.into()))?;
        let run_file = resolved::to_toml(&document, &built);
        let warnings = built.warnings.clone();
        let ready = Mutex::new(Some(Ready { document, built, shared }));
        Ok(Self { ready, run_file, warnings })
    }

    /// Public facts of the run; `None` once it was trained.
    fn facts<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(Ready { document, built, .. }) = &*ready else { return Ok(None) };
        let (facts, guarantee) = (&built.prepared.facts, built.prepared.guarantee);
        let answer = PyDict::new(py);
        answer.set_item("name", document.text(Key::Name))?;
        answer.set_item("method", built.method.card().name)?;
        answer.set_item("method_title", built.method.card().title)?;
        answer.set_item("model", built.model.name())?;
        answer.set_item("data", &built.data)?;
        answer.set_item("nodes", facts.nodes)?;
        answer.set_item("links", facts.links)?;
        answer.set_item("eigenvalue", facts.spectrum.lambda)?;
        answer.set_item("records", facts.records)?;
        answer.set_item("least_records", facts.least_records)?;
        answer.set_item("test_records", built.test_records)?;
        answer.set_item("parameters", facts.parameters)?;
        answer.set_item("rounds", built.prepared.schedule.rounds)?;
        answer.set_item("batch_size", built.batch.1)?;
        answer.set_item("epsilon", guarantee.map(|g| g.epsilon))?;
        answer.set_item("delta", guarantee.map(|g| g.delta))?;
        answer.set_item("noise_multiplier", guarantee.map(|g| g.noise_multiplier))?;
        let pairs = built.prepared.pairs.as_ref();
        answer.set_item("colluders", pairs.map(|pairs| pairs.colluders))?;
        let costs = |pairs: &PairFacts| -> Vec<(usize, Option<f64>)> {
            pairs.epsilon_by_colluders.iter().map(|row| (row.colluders, row.epsilon)).collect()
        };
        answer.set_item("epsilon_by_colluders", pairs.map(costs))?;
        Ok(Some(answer))
    }

    /// Trains to the end. `each(round, row or None)` is called in the calling thread.
    #[pyo3(signature = (out=None, overwrite=false, threads=None, each=None, checkpoint_every=20.0, resume=false))]
    #[allow(clippy::too_many_arguments)]
    fn train(
        &self,
        py: Python<'_>,
        out: Option<PathBuf>,
        overwrite: bool,
        threads: Option<usize>,
        each: Option<Py<PyAny>>,
        checkpoint_every: f64,
        resume: bool,
    ) -> PyResult<Trained> {
        let checkpoint_every = interval(checkpoint_every)?;
        if resume && out.is_none() {
            let allowed = "False without a folder (out) to resume from";
            return Err(errors::out_of_range("resume", "True", allowed));
        }
        let taken = self.ready.lock().unwrap_or_else(PoisonError::into_inner).take();
        let ready = taken.ok_or_else(|| errors::work("this session was trained already"))?;
        if resume && ready.document.unseeded {
            let allowed = "False for an unseeded run, whose secret is kept nowhere";
            return Err(errors::out_of_range("resume", "True", allowed));
        }
        let shared = Arc::clone(&ready.shared);
        let pool = threads.map(pool).transpose()?;
        let name = ready.document.name();
        let open = |path: PathBuf| match resume {
            true => Folder::resume(&path),
            false => Folder::create(Some(&path), &name, overwrite),
        };
        let folder = out.map(open).transpose();
        let folder = folder.map_err(|e| errors::folder(&e))?;
        let (sender, receiver) = channel();
        let run_file = self.run_file.clone();
        let work = move || {
            let work = || ready.train(run_file, folder, checkpoint_every, sender);
            match &pool {
                Some(pool) => pool.install(work),
                None => work(),
            }
        };
        let thread = std::thread::Builder::new().name("prdo".into()).spawn(work);
        let thread = thread.map_err(|e| errors::work(&format!("cannot start a thread: {e}")))?;
        wait(py, receiver, &shared, each.as_ref());
        let result = py.detach(|| thread.join());
        match (shared.take(), result) {
            (Some(error), _) => Err(error),
            (None, Ok(Ok(trained))) => trained.ok_or_else(|| errors::work("interrupted")),
            (None, Ok(Err(error))) => Err(errors::train(&error)),
            (None, Err(_)) => Err(errors::work("the training thread ended unexpectedly")),
        }
    }
}

fn interval(seconds: f64) -> PyResult<Duration> {
    if !(seconds.is_finite() && seconds >= 0.0) {
        let allowed = "a number of seconds of at least 0";
        return Err(errors::out_of_range("checkpoint_every", &seconds.to_string(), allowed));
    }
    Ok(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
}

fn pool(threads: usize) -> PyResult<rayon::ThreadPool> {
    if !(1..=1024).contains(&threads) {
        return Err(errors::out_of_range("threads", &threads.to_string(), "a whole number from 1 to 1024"));
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|e| errors::work(&format!("cannot start {threads} threads: {e}")))
}

/// Waits for the training thread without the interpreter's lock; passes on what it tells and stops it on Ctrl-C, or
/// when `each` raises.
fn wait(py: Python<'_>, receiver: Receiver<Event>, shared: &Shared, each: Option<&Py<PyAny>>) {
    each_event(py, receiver, |event| {
        let reported = match (event, each) {
            (Some((round, row)), Some(each)) => {
                let cells = row.map(|row| trained::cells(py, &row)).transpose();
                cells.and_then(|cells| each.call1(py, (round, cells))).map(|_| ())
            }
            _ => Ok(()),
        };
        if let Err(error) = reported.and_then(|()| py.check_signals()) {
            shared.fail(error);
        }
    });
}

/// Calls `hear` with what another thread tells, and with nothing from time to time, until it tells no more. The
/// interpreter's lock is not held meanwhile.
pub fn each_event<T: Send>(py: Python<'_>, receiver: Receiver<T>, mut hear: impl FnMut(Option<T>)) {
    let receiver = Mutex::new(receiver);
    loop {
        let event = py.detach(|| receiver.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(TICK));
        match event {
            Err(RecvTimeoutError::Disconnected) => return,
            event => hear(event.ok()),
        }
    }
}

impl Ready {
    /// Trains, in a folder if there is one, as `prdo run` does; `None` if it was interrupted.
    fn train(
        self,
        run_file: String,
        folder: Option<Folder>,
        checkpoint_every: Duration,
        sender: Sender<Event>,
    ) -> Result<Option<Trained>, TrainError> {
        let Self { document, mut built, shared } = self;
        let trainer = match &folder {
            None => Trainer::new(&document, &mut built),
            Some(folder) => match Trainer::open(folder, &document, &mut built)? {
                Opened::Unfinished(trainer) => trainer,
                Opened::Finished(_) => {
                    return Err(FolderError::Finished { path: folder.path().display().to_string() }.into());
                }
            },
        };
        let again = folder.as_ref().map(|folder| format!("run.train({:?}, resume=True)", folder.path()));
        let options = Options {
            stop: &|| shared.stopped(),
            // The secret of an unseeded run is kept nowhere: another process cannot resume it.
            checkpoint_every: (!document.unseeded).then_some(checkpoint_every),
            again: again.unwrap_or_default(),
            tensorboard: false,
            results: true,
        };
        let mut reporter = Reporter { sender, shared: &shared, at: Instant::now() };
        let trained = trainer.train(&options, &mut reporter)?;
        let Some(results) = trained.results else { return Ok(None) };
        Ok(Some(Trained::new(document.name(), run_file, trained.rows, trained.moments, &built, results)))
    }
}

/// Tells the waiting thread what is measured.
struct Reporter<'a> {
    sender: Sender<Event>,
    shared: &'a Shared,
    at: Instant,
}

impl Reporter<'_> {
    /// What a model left unanswered is not kept, neither as a row nor in a checkpoint.
    fn check_answered(&self) -> Result<(), ObserverError> {
        if self.shared.spoiled() { Err("the model did not answer".into()) } else { Ok(()) }
    }
}

impl TrainObserver for Reporter<'_> {
    fn row(&mut self, row: &Row) -> Result<(), ObserverError> {
        self.check_answered()?;
        // Nobody listens any more only when the waiting thread is gone, and the process with it.
        let _ = self.sender.send((row.round, Some(*row)));
        self.at = Instant::now();
        Ok(())
    }

    fn round(&mut self, stage: &Stage<'_>) -> Result<(), ObserverError> {
        self.check_answered()?;
        if self.at.elapsed() >= TICK {
            let _ = self.sender.send((stage.round, None));
            self.at = Instant::now();
        }
        Ok(())
    }

    fn measured(&mut self, _: Option<&Worry>) -> Result<(), ObserverError> {
        self.check_answered()
    }
}
