//! The run file's `[method]`, `[batch]`, `[clip]` and `[privacy]` sections: how the model is trained, from what is public.

use super::model::located;
use crate::run::{Guarantee, Privacy, PrivacySettings};
use prdo_accounting::{History, Method as Accounting};
use prdo_algorithm::graph::Spectrum;
use prdo_algorithm::{Method, Settings};
use prdo_privacy::{PairSettings, Sampling};
use prdo_runfile::{ConfigError, Key, ModelKind, NO_PRIVACY, RunFile, sampling_name};

#[derive(Clone, Debug)]
pub struct Recipe {
    pub method: Method,
    pub settings: Settings,
    pub rounds: u32,
    /// b₀ and b as they will be used, and how batches are drawn.
    pub batch: (usize, usize, Sampling),
    /// (C_g, C_Δ), if anything is clipped.
    pub clip: Option<(f64, f64)>,
    /// What is promised, if anything is.
    pub privacy: Option<Privacy>,
    /// Noise that cancels between nodes, if it is asked for.
    pub pairs: Option<PairSettings>,
    pub accounting: Accounting,
    /// What the runs that this one goes on from have released.
    pub earlier: History,
    /// Records (slots) of the smallest node.
    pub least: usize,
    pub warnings: Vec<String>,
}

impl Recipe {
    /// The same, with what a method's settings take from the network where nothing was given.
    #[must_use]
    pub fn for_network(self, spectrum: &Spectrum) -> Self {
        Self { settings: self.settings.for_network(self.method, spectrum), ..self }
    }

    /// What a private run promises, after `spent` was released about the same records.
    pub fn guarantee(&self, run: &RunFile, spent: &History) -> Result<Option<Guarantee>, ConfigError> {
        let Some(privacy) = self.privacy else { return Ok(None) };
        let settings = PrivacySettings {
            privacy,
            accounting: self.accounting,
            first_batch: self.method.card().first_batch,
            batch: (self.batch.0, self.batch.1),
            least: self.least,
            rounds: self.rounds,
        };
        settings.guarantee_among(&run.document.calibrations, spent).map(Some).map_err(|e| located(run, &e))
    }
}

/// How the run file trains this kind of model when the smallest node has `least` records.
pub fn recipe(run: &RunFile, model: ModelKind, least: usize) -> Result<Recipe, ConfigError> {
    let (method, settings) = run.method()?;
    let mut warnings = run.without_effect(model);
    let rounds = run.rounds()?;
    let privacy = privacy(run, least, &mut warnings)?;
    let batch = batch(run, least, privacy.is_some())?;
    let clip = clip(run, method, &settings, privacy.is_some())?;
    if let Some((gradient, difference)) = clip
        && method.asks_differences(&settings)
        && difference >= gradient
    {
        warnings.push(format!(
            "clip.difference = {difference} is not below clip.gradient = {gradient}: {method} then needs at least as \
             much noise as Exact Diffusion; try a much smaller one"
        ));
    }
    warnings.extend(by_round(method, &settings, rounds));
    let accounting = run.privacy.as_ref().map(|privacy| privacy.accountant);
    Ok(Recipe {
        method,
        settings,
        rounds,
        batch,
        clip,
        privacy,
        pairs: run.privacy.as_ref().and_then(|privacy| privacy.pairs),
        accounting: accounting.unwrap_or_default(),
        earlier: run.earlier()?,
        least,
        warnings,
    })
}

/// What changes from round to round where theory wants it not to.
fn by_round(method: Method, settings: &Settings, rounds: u32) -> Vec<String> {
    let mut warnings = Vec::new();
    if method.card().constant_step && settings.step_size.falls(rounds) {
        warnings.push(format!(
            "method.step_size = {:?} falls, but {method} corrects by its last step and is exact for steps of one size only: nodes \
             drift apart where it falls; use a constant step, or gt-hsgd or gt, which bear it",
            settings.step_size.to_string()
        ));
    }
    let every = method.exchanges(settings).every;
    if !rounds.is_multiple_of(every) {
        warnings.push(format!(
            "rounds = {rounds} is not a multiple of method.local_steps = {every}: the last {} rounds have no exchange",
            rounds % every
        ));
    }
    warnings
}

const MUCH: f64 = 10.0;
/// Whoever asks for this much wants none.
const NONE: f64 = 1000.0;

fn privacy(run: &RunFile, least: usize, warnings: &mut Vec<String>) -> Result<Option<Privacy>, ConfigError> {
    let Some(asked) = &run.privacy else { return Ok(None) };
    let delta = asked.delta;
    if delta >= 1.0 / least as f64 {
        warnings.push(format!(
            "privacy.delta = {delta:e} is not below 1/N = {:.1e}: releasing one record in the clear could \
             satisfy it; choose it well below",
            1.0 / least as f64
        ));
    }
    if let Some(epsilon) = asked.epsilon.filter(|epsilon| *epsilon > MUCH) {
        warnings.push(format!(
            "privacy.epsilon = {epsilon}: whoever sees the messages may be e^{epsilon} times surer of a record than before; \
             that is hardly any protection, and most people stay below {MUCH}{}",
            if epsilon >= NONE { format!("; {NO_PRIVACY}") } else { String::new() }
        ));
    }
    match (asked.epsilon, asked.noise_multiplier) {
        (Some(epsilon), None) => Ok(Some(Privacy::Budget { epsilon, delta })),
        (None, Some(multiplier)) => Ok(Some(Privacy::Noise { multiplier, delta })),
        (None, None) => Err(run.missing(Key::PrivacyEpsilon)),
        (Some(_), Some(_)) => Err(run.error(
            Key::PrivacyNoiseMultiplier,
            "privacy.epsilon and privacy.noise_multiplier are both given: each follows from the other",
        )),
    }
}

fn batch(run: &RunFile, least: usize, private: bool) -> Result<(usize, usize, Sampling), ConfigError> {
    let (size, sampling) = (run.batch.size, run.batch.sampling(private));
    if private && sampling != Sampling::Poisson {
        let other = sampling_name(sampling);
        let message =
            format!("batch.sampling = {other:?} is not allowed with [privacy]: it must be \"poisson\"");
        return Err(run.error(Key::BatchSampling, message).help("the accounting rests on Poisson sampling"));
    }
    if sampling == Sampling::Full && size.is_some_and(|b| b != least) {
        let message =
            "batch.size is given but batch.sampling is \"full\": every record is used in every round";
        return Err(run.error(Key::BatchSize, message));
    }
    let size = size.unwrap_or(least);
    let first = run.batch.first.unwrap_or(size);
    for (field, value) in [(Key::BatchSize, size), (Key::BatchFirst, first)] {
        if value > least {
            let message = format!(
                "{field} = {value} is not allowed: it must be at most {least}, the records of the smallest node"
            );
            return Err(run.error(field, message));
        }
    }
    Ok((first, size, sampling))
}

fn clip(
    run: &RunFile,
    method: Method,
    settings: &Settings,
    private: bool,
) -> Result<Option<(f64, f64)>, ConfigError> {
    let difference = run.clip.difference;
    let Some(gradient) = run.clip.gradient else {
        return match (private, difference) {
            (false, None) => Ok(None),
            _ => Err(run.missing(Key::ClipGradient)),
        };
    };
    match difference {
        Some(difference) => Ok(Some((gradient, difference))),
        None if !method.asks_differences(settings) => Ok(Some((gradient, gradient))),
        None => Err(run.missing(Key::ClipDifference).help(format!(
            "{method} needs difference under [clip], and gamma under [method] unless 0.1 is meant (a file of `prdo new` has both \
             lines: take away the # in front of them); start near step_size · clip.gradient · (smoothness of the loss) and try smaller ones: noise is \
             added for γ·gradient + (1−γ)·difference, so a loose clip.difference makes {method} worse than ed",
        ))),
    }
}
