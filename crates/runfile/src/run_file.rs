//! A run file as types: each section once, with its defaults filled in where they depend on nothing else.

use crate::batch::{BatchSection, ClipSection};
use crate::data::DataSection;
use crate::document::{Document, GivenRecords};
use crate::features::{ColumnRange, FeaturesSection};
use crate::graph::GraphSection;
use crate::method::MethodSection;
use crate::model::{ModelSection, fitting};
use crate::model_kind::ModelKind;
use crate::names::OWN_METHOD;
use crate::partition::PartitionSection;
use crate::place::{ConfigError, Place};
use crate::privacy::PrivacySection;
use crate::schema::Key;
use prdo_accounting::{Event, History};
use prdo_algorithm::methods::{Assigned, Parameter};
use prdo_algorithm::{Method, Settings};

/// What a run file means. Of a list (a sweep) it has the first value. What a run needs and the file does not say is
/// `None`: only who needs it refuses, for agreements, searches and reports read files that are not whole runs.
#[derive(Clone, Debug)]
pub struct RunFile {
    pub name: String,
    pub rounds: Option<u32>,
    pub seed: u64,
    /// Whether batches and noise are drawn from the operating system instead.
    pub unseeded: bool,
    pub graph: GraphSection,
    pub data: DataSection,
    pub features: FeaturesSection,
    pub partition: PartitionSection,
    pub model: ModelSection,
    pub method: MethodSection,
    pub batch: BatchSection,
    pub clip: ClipSection,
    pub privacy: Option<PrivacySection>,
    pub metrics: MetricsSection,
    /// What followed from the settings, in a file that was written back.
    pub resolved: ResolvedSection,
    pub document: Document,
}

#[derive(Clone, Copy, Debug)]
pub struct MetricsSection {
    /// Rounds from one row to the next.
    pub every: u32,
    /// Records of each node on which loss and gradient norm are measured, unless all.
    pub records: Option<usize>,
    /// Whether the paper's moments are written too.
    pub moments: bool,
}

/// The `[resolved]` section, as far as anything is read from it.
#[derive(Clone, Debug)]
pub struct ResolvedSection {
    pub epsilon: Option<f64>,
    /// ε that the noise was calibrated to.
    pub budget: Option<f64>,
    pub features: Option<String>,
}

impl RunFile {
    fn of(document: &Document) -> Self {
        Self {
            name: document.name(),
            rounds: document.integer(Key::Rounds).map(|t| t as u32),
            seed: document.integer(Key::Seed).unwrap_or_default(),
            unseeded: document.unseeded,
            graph: GraphSection::of(document),
            data: DataSection::of(document),
            features: FeaturesSection::of(document),
            partition: PartitionSection::of(document),
            model: ModelSection::of(document),
            method: MethodSection::of(document),
            batch: BatchSection::of(document),
            clip: ClipSection::of(document),
            privacy: PrivacySection::of(document),
            metrics: MetricsSection {
                every: document.integer(Key::MetricsEvery).unwrap_or_default() as u32,
                records: document.count(Key::MetricsRecords),
                moments: document.flag(Key::MetricsMoments).unwrap_or_default(),
            },
            resolved: ResolvedSection {
                epsilon: document.float(Key::ResolvedEpsilon),
                budget: document.float(Key::ResolvedBudget),
                features: document.text(Key::ResolvedFeatures),
            },
            document: document.clone(),
        }
    }

    /// T.
    pub fn rounds(&self) -> Result<u32, ConfigError> {
        self.rounds.ok_or_else(|| self.missing(Key::Rounds))
    }

    /// Refuses a sweep where one run is meant.
    pub fn refuse_lists(&self, advice: &str) -> Result<(), ConfigError> {
        match self.document.sweeps().first() {
            Some((key, values)) => {
                let message =
                    format!("{key} is a list of {} values, which one run cannot have", values.len());
                Err(self.error(*key, message).help(advice))
            }
            None => Ok(()),
        }
    }

    pub fn given(&self) -> Option<&GivenRecords> {
        self.document.given()
    }

    pub fn has(&self, key: Key) -> bool {
        self.document.has(key)
    }

    pub fn place(&self, key: Key) -> Option<&Place> {
        self.document.place(key)
    }

    pub fn error(&self, key: Key, message: impl Into<String>) -> ConfigError {
        self.document.error(key, message)
    }

    pub fn item_error(&self, key: Key, item: usize, message: impl Into<String>) -> ConfigError {
        self.document.item_error(key, item, message)
    }

    pub fn missing(&self, key: Key) -> ConfigError {
        self.document.missing(key)
    }

    /// The kind of model that is asked for, or the one that fits the data.
    pub fn model_kind(&self) -> Result<ModelKind, ConfigError> {
        let source = match (&self.data.source, self.model.kind) {
            // An agreement speaks of nobody's data: there the kind is given. A program's model reads whatever its author
            // says.
            (None, Some(kind)) | (Some(_), Some(kind @ ModelKind::Own)) => return Ok(kind),
            (Some(source), _) => source,
            (None, None) => return Err(self.missing(Key::DataSource)),
        };
        let (default, fits) = fitting(source);
        let kind = self.model.kind.unwrap_or(default);
        if fits.contains(&kind) {
            return Ok(kind);
        }
        let message = format!(
            "model.kind = {:?} does not fit data.source = {:?}: it must be {}",
            kind.name(),
            source.name(),
            fits.iter().map(|f| format!("{:?}", f.name())).collect::<Vec<_>>().join(" or ")
        );
        Err(self.error(Key::ModelKind, message))
    }

    /// Whether records of numbers get a feature that is always 1: those of a model that has no intercept of its own, unless
    /// they are generated.
    pub fn intercept(&self, kind: ModelKind) -> bool {
        kind.has_optional_intercept() && !self.data.is_generated() && self.model.intercept()
    }

    /// The error for a program's model where there is no program.
    pub fn without_own(&self) -> ConfigError {
        let message =
            "model.kind = \"own\" means the model of a program: this run file alone does not have it";
        let help = "in Python: prdo.Run(\"run.toml\", model=prdo.PythonModel(...))";
        self.error(Key::ModelKind, message).help(help)
    }

    /// The error for a program's method where there is no program.
    fn without_own_method(&self) -> ConfigError {
        let message =
            "method.name = \"own\" means the method of a program: this run file alone does not have it";
        let help = "in Python: prdo.Run(\"run.toml\", method={\"name\": YourMethod, ...})";
        self.error(Key::MethodName, message).help(help)
    }

    /// The method and its settings.
    pub fn method(&self) -> Result<(Method, Settings), ConfigError> {
        let method = self.method.name.ok_or_else(|| match self.document.text(Key::MethodName) {
            Some(name) if name == OWN_METHOD => self.without_own_method(),
            _ => self.missing(Key::MethodName),
        })?;
        self.method.step_size.as_ref().ok_or_else(|| self.missing(Key::MethodStepSize))?;
        Ok((method, self.settings_of(method)))
    }

    /// The settings that the file gives for what `method` reads. A missing step size is NaN, which no method takes.
    pub fn settings_of(&self, method: Method) -> Settings {
        let settings = Settings::new(self.method.step_size.clone().unwrap_or(f64::NAN.into()));
        if let Some(own) = self.method.own.as_ref().filter(|own| own.method == method) {
            let settings = own.parameters.iter().cloned().fold(settings, Settings::with);
            return self.rounds.map_or(settings.clone(), |rounds| settings.over(rounds));
        }
        let read = Key::parameters().filter(|(_, parameter)| method.card().reads(parameter));
        let given = read.filter_map(|(key, parameter)| match parameter {
            Parameter::Number(number) => self.document.by_round(key).map(|value| number.is(value)),
            Parameter::Choice { .. } => Assigned::named(parameter, &self.document.text(key)?),
        });
        let settings = given.fold(settings, Settings::with);
        self.rounds.map_or(settings.clone(), |rounds| settings.over(rounds))
    }

    pub fn ranges(&self) -> Result<Vec<ColumnRange>, ConfigError> {
        let read = |(k, text): (usize, &String)| {
            ColumnRange::parse(text).ok_or_else(|| {
                let key = Key::FeaturesRanges;
                self.item_error(key, k, format!("{key}: {text:?} is not \"column: low to high\""))
            })
        };
        self.features.ranges.iter().enumerate().map(read).collect()
    }

    /// What the runs that this one continues have released.
    pub fn earlier(&self) -> Result<History, ConfigError> {
        let key = Key::PrivacyEarlier;
        let mut history = History::new();
        let texts = self.privacy.as_ref().map_or(&[][..], |privacy| &privacy.earlier);
        for (k, text) in texts.iter().enumerate() {
            let refuse =
                |why: String| self.item_error(key, k, format!("{key}, {text:?} is not allowed: {why}"));
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
}

impl Document {
    pub fn run_file(&self) -> RunFile {
        RunFile::of(self)
    }
}
