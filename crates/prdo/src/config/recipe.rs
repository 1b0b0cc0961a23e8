//! The run file's `[method]`, `[batch]`, `[clip]` and `[privacy]` sections: how the model is trained, from what is public.

use super::document::{Document, NO_PRIVACY};
use super::model::located;
use super::place::ConfigError;
use crate::run::{Guarantee, Plan, Privacy};
use prdo_accounting::{Event, History, Method as Accounting};
use prdo_algorithm::{Combine, Method, Settings};
use prdo_privacy::Sampling;

/// How a run trains.
#[derive(Clone, Debug)]
pub struct Recipe {
    /// The method.
    pub method: Method,
    /// Its settings.
    pub settings: Settings,
    /// T.
    pub rounds: u32,
    /// b₀ and b as they will be used, and how batches are drawn.
    pub batch: (usize, usize, Sampling),
    /// (C_g, C_Δ), if anything is clipped.
    pub clip: Option<(f64, f64)>,
    /// What is promised, if anything is.
    pub privacy: Option<Privacy>,
    /// How privacy losses are added up.
    pub accounting: Accounting,
    /// What the runs that this one goes on from have released.
    pub earlier: History,
    /// Records (slots) of the smallest node.
    pub least: usize,
    /// What is allowed but should be thought about.
    pub warnings: Vec<String>,
}

impl Recipe {
    /// What a private run promises, after `spent` was released about the same records.
    ///
    /// # Errors
    /// A budget that cannot be kept, at its place in the run file.
    pub fn guarantee(&self, document: &Document, spent: &History) -> Result<Option<Guarantee>, ConfigError> {
        let Some(privacy) = self.privacy else { return Ok(None) };
        let plan = Plan {
            privacy,
            accounting: self.accounting,
            first_batch: self.method.card().first_batch,
            batch: (self.batch.0, self.batch.1),
            least: self.least,
            rounds: self.rounds,
        };
        plan.guarantee(spent).map(Some).map_err(|e| located(document, &e))
    }
}

/// How the run file trains when the smallest node has `least` records.
///
/// # Errors
/// Whatever does not fit, at its place in the run file.
pub fn recipe(document: &Document, least: usize) -> Result<Recipe, ConfigError> {
    let mut warnings = Vec::new();
    let (method, settings) = method(document, &mut warnings)?;
    let rounds = document.integer("rounds").ok_or_else(|| document.missing("rounds"))?;
    let privacy = privacy(document, least, &mut warnings)?;
    let batch = batch(document, least, privacy.is_some())?;
    let clip = clip(document, method, &settings, privacy.is_some())?;
    if let Some((gradient, difference)) = clip
        && method.card().differences
        && settings.gamma < 1.0
        && difference >= gradient
    {
        warnings.push(format!(
            "clip.difference = {difference} is not below clip.gradient = {gradient}: prdo then needs at least as \
             much noise as Exact Diffusion; try a much smaller one"
        ));
    }
    let accounting = document.text("privacy.accountant").and_then(|name| Accounting::named(&name));
    Ok(Recipe {
        method,
        settings,
        rounds: rounds as u32,
        batch,
        clip,
        privacy,
        accounting: accounting.unwrap_or_default(),
        earlier: earlier(document)?,
        least,
        warnings,
    })
}

/// What `privacy.earlier` lists.
fn earlier(document: &Document) -> Result<History, ConfigError> {
    let path = "privacy.earlier";
    let mut history = History::new();
    for (k, text) in document.texts(path).unwrap_or_default().iter().enumerate() {
        let refuse =
            |why: String| document.item_error(path, k, format!("{path}, {text:?} is not allowed: {why}"));
        let words: Vec<&str> = text.split(' ').collect();
        let [rate, noise, count] = words[..] else {
            return Err(refuse("it must be three numbers: rate, noise multiplier and count".into()));
        };
        let (Ok(rate), Ok(noise), Ok(count)) = (rate.parse(), noise.parse(), count.parse()) else {
            return Err(refuse("it must be three numbers: rate, noise multiplier and count".into()));
        };
        history.add(Event::sampled_gaussian(rate, noise).map_err(|e| refuse(e.to_string()))?, count);
    }
    Ok(history)
}

/// A history as `privacy.earlier` lists it, exact to the bit.
pub fn earlier_texts(history: &History) -> Vec<String> {
    let text =
        |(event, count): &(Event, u64)| format!("{:?} {:?} {count}", event.rate(), event.noise_multiplier());
    history.entries().iter().map(text).collect()
}

fn method(document: &Document, warnings: &mut Vec<String>) -> Result<(Method, Settings), ConfigError> {
    let name = document.text("method.name").ok_or_else(|| document.missing("method.name"))?;
    let method: Method = name.parse().map_err(|e: String| document.error("method.name", e))?;
    let step_size = document.float("method.step_size").ok_or_else(|| document.missing("method.step_size"))?;
    for (parameter, path) in
        [("gamma", "method.gamma"), ("beta", "method.beta"), ("combine", "method.combine")]
    {
        let read = method.card().parameters.iter().any(|p| p.name() == parameter);
        if document.has(path) && !read && !document.is_swept("method.name") {
            warnings.push(format!("{path} has no effect: {name} does not read it"));
        }
    }
    let combine = match document.text("method.combine").as_deref() {
        Some("first") => Combine::First,
        _ => Combine::After,
    };
    let settings = Settings::new(step_size)
        .gamma(document.float("method.gamma").unwrap_or(0.1))
        .beta(document.float("method.beta").unwrap_or(0.9))
        .combine(combine);
    Ok((method, settings))
}

/// An ε above this is warned of.
const MUCH: f64 = 10.0;
/// Whoever asks for this much wants none.
const NONE: f64 = 1000.0;

fn privacy(
    document: &Document,
    least: usize,
    warnings: &mut Vec<String>,
) -> Result<Option<Privacy>, ConfigError> {
    if !document.has_section("privacy") {
        return Ok(None);
    }
    let delta = document.float("privacy.delta").unwrap_or(1e-5);
    if delta >= 1.0 / least as f64 {
        warnings.push(format!(
            "privacy.delta = {delta:e} is not below 1/N = {:.1e}: releasing one record in the clear could \
             satisfy it; choose it well below",
            1.0 / least as f64
        ));
    }
    if let Some(epsilon) = document.float("privacy.epsilon").filter(|epsilon| *epsilon > MUCH) {
        warnings.push(format!(
            "privacy.epsilon = {epsilon}: whoever sees the messages may be e^{epsilon} times surer of a record than before; \
             that is hardly any protection, and most people stay below {MUCH}{}",
            if epsilon >= NONE { format!("; {NO_PRIVACY}") } else { String::new() }
        ));
    }
    match (document.float("privacy.epsilon"), document.float("privacy.noise_multiplier")) {
        (Some(epsilon), None) => Ok(Some(Privacy::Budget { epsilon, delta })),
        (None, Some(multiplier)) => Ok(Some(Privacy::Noise { multiplier, delta })),
        (None, None) => Err(document.missing("privacy.epsilon")),
        (Some(_), Some(_)) => Err(document.error(
            "privacy.noise_multiplier",
            "privacy.epsilon and privacy.noise_multiplier are both given: each follows from the other",
        )),
    }
}

/// (b₀, b, sampling), in range for the smallest node.
fn batch(document: &Document, least: usize, private: bool) -> Result<(usize, usize, Sampling), ConfigError> {
    let size = document.integer("batch.size").map(|b| b as usize);
    let sampling = match document.text("batch.sampling").as_deref() {
        Some(other) if private && other != "poisson" => {
            let message =
                format!("batch.sampling = {other:?} is not allowed with [privacy]: it must be \"poisson\"");
            return Err(document
                .error("batch.sampling", message)
                .help("the accounting rests on Poisson sampling"));
        }
        Some("poisson") => Sampling::Poisson,
        Some("full") => Sampling::Full,
        Some(_) => Sampling::WithoutReplacement,
        None if private => Sampling::Poisson,
        None if size.is_some() => Sampling::WithoutReplacement,
        None => Sampling::Full,
    };
    if sampling == Sampling::Full && size.is_some_and(|b| b != least) {
        let message =
            "batch.size is given but batch.sampling is \"full\": every record is used in every round";
        return Err(document.error("batch.size", message));
    }
    let size = size.unwrap_or(least);
    let first = document.integer("batch.first").map_or(size, |b| b as usize);
    for (field, value) in [("batch.size", size), ("batch.first", first)] {
        if value > least {
            let message = format!(
                "{field} = {value} is not allowed: it must be at most {least}, the records of the smallest node"
            );
            return Err(document.error(field, message));
        }
    }
    Ok((first, size, sampling))
}

fn clip(
    document: &Document,
    method: Method,
    settings: &Settings,
    private: bool,
) -> Result<Option<(f64, f64)>, ConfigError> {
    let (gradient, difference) = (document.float("clip.gradient"), document.float("clip.difference"));
    let Some(gradient) = gradient else {
        return match (private, difference) {
            (false, None) => Ok(None),
            _ => Err(document.missing("clip.gradient")),
        };
    };
    let needs_difference = method.card().differences && settings.gamma < 1.0;
    match difference {
        Some(difference) => Ok(Some((gradient, difference))),
        None if !needs_difference => Ok(Some((gradient, gradient))),
        None => Err(document.missing("clip.difference").help(
            "prdo needs difference under [clip], and gamma under [method] unless 0.1 is meant (a file of `prdo new` has both \
             lines: take away the # in front of them); start near step_size · clip.gradient · (smoothness of the loss) and try smaller ones: noise is \
             added for γ·gradient + (1−γ)·difference, so a loose clip.difference makes prdo worse than ed",
        )),
    }
}
