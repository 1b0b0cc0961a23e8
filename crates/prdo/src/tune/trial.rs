//! One trial: a run with other settings, on the records that are tuned on, with the noise that the meant ones need.

use super::space::Settings;
use super::{assigned, assignments, batch};
use crate::build::build;
use crate::error::RunError;
use crate::parts::{Fate, FileRun, Parts, PartsError, shown};
use crate::run::{Outcome, Privacy, PrivacySettings};
use crate::trainer::TrainError;
use prdo_accounting::{Event, History, Method as Accounting};
use prdo_privacy::Statement;
use prdo_runfile::{ConfigError, Document, Section};
use prdo_store::{StatementFileError, change_statement, load_statement, names};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Instant;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TuneError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Run(#[from] RunError),
    #[error(transparent)]
    Train(#[from] TrainError),
    #[error(transparent)]
    Parts(#[from] PartsError),
    /// Asked to stop: what is finished is kept.
    #[error("interrupted")]
    Interrupted,
    #[error(
        "{key} = {law:?} changes from round to round, and the search is for constants: give it one number"
    )]
    ByRound { key: &'static str, law: String },
    #[error("--charge is for private runs: these trials would have no noise")]
    Uncharged,
    #[error("the operating system has no randomness")]
    NoRandomness,
    #[error(
        "there are no public held-out records (data.test, data.test_path) to score by: a score on the protected ones would be \
         a release without noise"
    )]
    NoPublicScore,
    #[error("{path}: {error}")]
    Statement { path: String, error: StatementFileError },
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    pub epsilon: f64,
    pub delta: f64,
    pub accounting: Accounting,
}

/// Scores settings by training with them, on the records that are tuned on.
pub struct Scorer {
    /// The run, on the records that are tuned on.
    document: Document,
    /// Records of the smallest node that is meant, and of the smallest that is tuned on.
    records: (usize, usize),
    budget: Option<Budget>,
    /// Where every trial is entered before it begins, if these records are protected.
    statement: Option<PathBuf>,
    /// What was released about the meant records before.
    spent: History,
    /// Noise multipliers that were computed already, by batch, rounds, whether there is a first batch, and exactly or not.
    noises: HashMap<(usize, u32, bool, bool), f64>,
}

impl Scorer {
    /// Tuning on the records of `document`, of which the smallest node has `here`, for a final run in which it has
    /// `meant`.
    pub fn new(document: Document, meant: usize, here: usize, budget: Option<Budget>) -> Self {
        let spent = History::new();
        Self { document, records: (meant, here), budget, statement: None, spent, noises: HashMap::new() }
    }

    /// The same after this was released about the meant records: the budget is for all of it.
    #[must_use]
    pub fn after(self, spent: History) -> Self {
        Self { spent, ..self }
    }

    /// Enters every trial in a statement before it begins: for records that are protected.
    pub fn charged(mut self, path: PathBuf) -> Result<Self, TuneError> {
        load_statement(&path).map_err(|error| failed(&path, error))?;
        self.statement = Some(path);
        Ok(self)
    }

    pub fn document(&self) -> &Document {
        &self.document
    }

    /// Records of the smallest node of the final run.
    pub fn records(&self) -> usize {
        self.records.0
    }

    pub fn budget(&self) -> Option<Budget> {
        self.budget
    }

    /// The noise multiplier with which these settings keep the budget: by the budget's own accountant, or quickly by
    /// Rényi's, which asks for a few percent more.
    pub(super) fn noise(&mut self, settings: &Settings, exact: bool) -> Result<Option<f64>, TuneError> {
        let Some(budget) = self.budget else { return Ok(None) };
        let (size, first_batch) = (batch(settings.rate, self.records.0), settings.method.card().first_batch);
        let key = (size, settings.rounds, first_batch, exact);
        if let Some(noise) = self.noises.get(&key) {
            return Ok(Some(*noise));
        }
        let settings = PrivacySettings {
            privacy: Privacy::Budget { epsilon: budget.epsilon, delta: budget.delta },
            accounting: if exact { budget.accounting } else { Accounting::Renyi },
            first_batch,
            batch: (size, size),
            least: self.records.0,
            rounds: settings.rounds,
        };
        let noise = settings.guarantee(&self.spent)?.noise_multiplier;
        self.noises.insert(key, noise);
        Ok(Some(noise))
    }

    /// What a run with these settings releases about a protected record.
    pub(super) fn release(
        &self,
        settings: &Settings,
        noise: Option<f64>,
    ) -> Result<Option<History>, TuneError> {
        let Some(noise) = noise else { return Ok(None) };
        let rate = batch(settings.rate, self.records.0) as f64 / self.records.0.max(1) as f64;
        let event = Event::sampled_gaussian(rate, noise).map_err(RunError::from)?;
        Ok(Some(History::new().and(event, settings.rounds.into())))
    }

    /// Trains with these settings, unless the trial of this name was finished before.
    pub(super) fn score(&self, trial: &Named<'_>, seed: u64, parts: &Parts<'_>) -> Result<Scored, TuneError> {
        if (parts.stop)() {
            return Err(TuneError::Interrupted);
        }
        let document = self.trial(trial, seed)?;
        let name = format!("{}-{seed}", trial.name);
        if self.statement.is_some() {
            return self.charged_score(trial, seed, parts, (&name, document));
        }
        let again = || Ok(FileRun { document: &document, built: build(&document)? });
        let first = again()?;
        let fate = parts.part(&name, first, again, |run, trained| {
            let outcome = run.built.prepared.outcome(trained.rows, trained.moments);
            let accuracy = run.built.validation.as_ref().and_then(|accuracy| accuracy(&outcome.average));
            Scored::new(accuracy.or_else(|| held_out(&outcome)), &outcome, trained.seconds)
        })?;
        match fate {
            Fate::Finished(scored) => Ok(scored),
            // A step that was too long is an answer, not an error.
            Fate::Failed(error) if !error.is_input() => Ok(Scored::default()),
            Fate::Failed(error) => Err(error.into()),
            Fate::Stopped => Err(TuneError::Interrupted),
        }
    }

    /// The same on protected records: a release, entered first, with draws that nobody can repeat. So it has no checkpoints
    /// and is not stopped half-way; what it found is kept, for it was paid for.
    fn charged_score(
        &self,
        trial: &Named<'_>,
        seed: u64,
        parts: &Parts<'_>,
        (name, mut document): (&str, Document),
    ) -> Result<Scored, TuneError> {
        // Not of the noise: where the run file names this statement too, less of the budget is left with every trial that
        // was entered.
        let mut known = document.clone();
        known.set("privacy.noise_multiplier=1")?;
        let fingerprint = shown(&build(&known)?.fingerprint);
        if let Some(scored) = parts.kept(name, &fingerprint) {
            return Ok(scored);
        }
        document.unseeded = true;
        let built = build(&document)?;
        self.charge(trial.settings, seed, trial.release)?;
        let began = Instant::now();
        let scored = match built.prepared.train() {
            // Of protected records nothing but the held-out ones, which are public, may be looked at without noise.
            Ok(outcome) => {
                let accuracy = held_out(&outcome).ok_or(TuneError::NoPublicScore)?;
                Scored::new(Some(accuracy), &outcome, began.elapsed().as_secs_f64())
            }
            Err(error) if !error.is_input() => Scored::default(),
            Err(error) => return Err(error.into()),
        };
        parts.keep(name, &fingerprint, &scored)?;
        Ok(scored)
    }

    /// What was released before this search began: its own trials may stand in the statement that the run file names by
    /// now, and are not to be taken off the budget that they are tried with.
    pub(super) fn spent_before(&mut self, parts: &Parts<'_>) -> Result<(), TuneError> {
        let Some(path) = &self.statement else { return Ok(()) };
        match std::fs::read_to_string(parts.folder.file(names::PARTS_BEFORE)) {
            Ok(text) => {
                let before = Statement::from_text(&text).map_err(|error| failed(path, error.into()))?;
                self.spent = before.total();
            }
            Err(_) => {
                let mut before = Statement::new();
                before.enter("before", "before the search", &self.spent);
                parts
                    .folder
                    .write(names::PARTS_BEFORE, before.to_text().as_bytes())
                    .map_err(PartsError::from)?;
            }
        }
        Ok(())
    }

    /// Enters a trial in the statement, on disk before it begins.
    fn charge(&self, settings: &Settings, seed: u64, release: Option<&History>) -> Result<(), TuneError> {
        let Some(path) = &self.statement else { return Ok(()) };
        let Some(release) = release else { return Err(TuneError::Uncharged) };
        // Every trial is a release of its own, however alike its settings are to another's.
        let mut nonce = [0_u8; 16];
        getrandom::fill(&mut nonce).map_err(|_| TuneError::NoRandomness)?;
        let text: Vec<String> = assignments(settings, self.records.0)
            .iter()
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        let id: String = nonce.iter().map(|byte| format!("{byte:02x}")).collect();
        let entered = change_statement(path, |statement| {
            statement.enter(&id, &format!("tuning, trial {seed}: {}", text.join(" ")), release);
            Ok(())
        });
        entered.map_err(|error| failed(path, error))
    }

    /// The run file of a trial, on the records that are tuned on.
    fn trial(&self, Named { settings, noise, .. }: &Named<'_>, seed: u64) -> Result<Document, TuneError> {
        let (meant, here) = self.records;
        let mut document = assigned(&self.document, &assignments(settings, here))?;
        document.set(&format!("seed={seed}"))?;
        // Only the end counts: measuring takes as long as training.
        document.set(&format!("metrics.every={}", (settings.rounds / 10).max(1)))?;
        if let (Some(noise), Some(budget)) = (noise, self.budget) {
            // The noise of the average, relative to the clip, that the meant records would have.
            let ratio = batch(settings.rate, here) as f64 / batch(settings.rate, meant) as f64;
            document = document.without(Section::Privacy);
            document.set(&format!("privacy.noise_multiplier={:?}", (noise * ratio).max(0.01)))?;
            document.set(&format!("privacy.delta={:?}", budget.delta))?;
            document.set("privacy.accountant=rdp")?;
        }
        Ok(document)
    }
}

/// Settings to be tried.
pub(super) struct Named<'a> {
    /// What its files are called, before the seed.
    pub name: String,
    pub settings: &'a Settings,
    pub noise: Option<f64>,
    /// What it releases about a protected record.
    pub release: Option<&'a History>,
}

/// What training with some settings and one seed found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Scored {
    /// Accuracy, or minus the late gradient norm; `None` where training diverged.
    score: Option<f64>,
    pub seconds: f64,
}

impl Scored {
    fn new(accuracy: Option<f64>, outcome: &Outcome, seconds: f64) -> Self {
        let late = outcome.rows.iter().rev().take(3).map(|row| row.grad_norm);
        let worst = |a: f64, b: f64| if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) };
        let score = accuracy.unwrap_or_else(|| -late.fold(0.0, worst));
        Self { score: score.is_finite().then_some(score), seconds }
    }

    pub fn score(self) -> f64 {
        self.score.unwrap_or(f64::NEG_INFINITY)
    }
}

/// Accuracy on the held-out records.
fn held_out(outcome: &Outcome) -> Option<f64> {
    outcome.last().and_then(|row| row.test_accuracy)
}

fn failed(path: &std::path::Path, error: StatementFileError) -> TuneError {
    TuneError::Statement { path: path.display().to_string(), error }
}
