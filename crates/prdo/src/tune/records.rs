//! What is tuned on: never protected records, unless that is asked for and charged.

use super::{Budget, Scorer, TuneError, drawn_table};
use crate::build::{AnyHoldings, Outline, outline};
use prdo_data::{DataError, Dataset, ImageShape, Loaded, Table, generate};
use prdo_runfile::{
    ConfigError, Document, GivenRecords, GraphKind, Key, MapSettings, PartitionKind, RunFile, Section,
};
use std::path::{Path, PathBuf};

/// What to tune on.
#[derive(Clone, Debug, PartialEq)]
pub enum TuneOn {
    /// The run file's records, if they are generated or bundled.
    RunFile,
    /// The run file's records, declared public.
    Public,
    /// Public records of the same form.
    StandIn(PathBuf),
    /// Records drawn at random: so many nodes, the smallest with so many records, where the data file is not opened.
    Generated { nodes: Option<usize>, records: Option<usize> },
    /// The records set aside for validation, declared unprotected.
    Validation,
    /// The protected records, every trial entered in this statement first.
    Charged(PathBuf),
}

pub struct TuningData {
    pub scorer: Scorer,
    /// In a few words.
    pub title: String,
    /// What to mind about what was found on it.
    pub caution: Option<&'static str>,
    /// Whether trials are releases.
    pub charged: bool,
}

impl TuningData {
    pub(super) fn new(scorer: Scorer, title: String) -> Self {
        Self { scorer, title, caution: None, charged: false }
    }

    pub fn of(document: &Document, on: &TuneOn) -> Result<Self, TuneError> {
        let run = document.run_file();
        if let TuneOn::Generated { nodes, records } = on {
            if matches!(run.features.map, Some(MapSettings::Table(_))) {
                return drawn_table::drawn(document, *nodes, *records);
            }
            if nodes.is_some() || records.is_some() {
                return Err(refused(
                    "--nodes and --records go with --generated for run files with map = \"table\" under [features], \
                     whose data file is not opened; this one's data file says both",
                ));
            }
        }
        refuse_features(document, on)?;
        let meant = outline(document)?;
        let budget = budget(&run, &meant)?;
        let least = meant.records.least();
        let found = |document: Document, here: usize, title: String| {
            Self::new(Scorer::new(document, least, here, budget).after(meant.spent.clone()), title)
        };
        match on {
            TuneOn::Charged(path) => {
                let found =
                    found(document.clone().without(Section::Privacy), least, "the protected records".into());
                charged(found, budget, &meant, path)
            }
            TuneOn::StandIn(path) => {
                let other = stand_in(document, path)?;
                let here = outline(&other)?.records.least();
                Ok(found(other, here, format!("the stand-in {}", path.display())))
            }
            TuneOn::Generated { .. } => {
                let caution = Some(EASIER);
                let other = generated(document, &meant)?;
                Ok(Self { caution, ..found(other, least, "records drawn at random".into()) })
            }
            TuneOn::Validation => {
                let other = validation(document, &meant)?;
                let here = outline(&other)?.records.least();
                let title = "the records set aside for validation, declared unprotected";
                Ok(found(other, here, title.into()))
            }
            _ if run.data.source.is_some_and(|source| !source.is_owned()) => {
                Ok(found(document.clone(), least, "the run file's generated or bundled data".into()))
            }
            TuneOn::Public => {
                Ok(found(document.clone(), least, "the run file's records, declared public".into()))
            }
            TuneOn::RunFile => Err(refused(PROTECTED)),
        }
    }
}

const EASIER: &str = "Records drawn at random are easier than most real ones: rounds, batch and method carry over better than \
    the step. Compare with the run file as it was; a public stand-in is better.";

const PROTECTED: &str = "these records may be protected: every setting tried on them would be a release that nobody accounts \
    for. Choose what to tune on: --generated (drawn to the same shape), --stand-in FILE (public records of the same form), \
    --unprotected-validation, --public-data (these records need no protection), or --charge STATEMENT (with noise, every trial \
    entered as a release)";

pub(super) fn refused(why: impl Into<String>) -> TuneError {
    ConfigError::anywhere(why).into()
}

fn charged(
    found: TuningData,
    budget: Option<Budget>,
    meant: &Outline,
    path: &Path,
) -> Result<TuningData, TuneError> {
    if budget.is_none() {
        return Err(refused("--charge is for private runs: this run file has no [privacy]"));
    }
    // Said before anything is paid for.
    if meant.records.test_records() == 0 {
        return Err(TuneError::NoPublicScore);
    }
    Ok(TuningData { scorer: found.scorer.charged(path.to_path_buf())?, charged: true, ..found })
}

/// The run on other records of the same form.
fn stand_in(document: &Document, path: &Path) -> Result<Document, TuneError> {
    // Of images of another size the features are others.
    let mut other = document.clone().without_key(Key::DataTestPath).without(Section::Resolved);
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    other.set(&format!("{}={}", Key::DataPath, absolute.display()))?;
    Ok(other)
}

/// Features are of the records that a map was made for: what is drawn at random, and what has been through the map already,
/// has none. Said before anything is extracted.
fn refuse_features(document: &Document, on: &TuneOn) -> Result<(), TuneError> {
    if !document.has_section(Section::Features) {
        return Ok(());
    }
    let (why, help) = match on {
        TuneOn::Generated { .. } => (
            "--generated draws tables, and this map reads images",
            "tune on public images instead, of any size: `prdo data get fashion-mnist` fetches some, then \
             `prdo tune RUN.toml --stand-in data/fashion-mnist`",
        ),
        TuneOn::Validation => (
            "--unprotected-validation has the records after the map, which would go through it again",
            "use --stand-in FILE with public records that have the same columns or images; of map = \"table\" \
             --generated draws some",
        ),
        _ => return Ok(()),
    };
    let error = document.error(Key::FeaturesMap, format!("[features] does not go with this: {why}"));
    Err(error.help(help).into())
}

pub(super) fn budget(run: &RunFile, meant: &Outline) -> Result<Option<Budget>, TuneError> {
    let Some(privacy) = &run.privacy else { return Ok(None) };
    let epsilon = privacy.epsilon.ok_or_else(|| {
        let why = "tuning is for a budget: give privacy.epsilon instead of privacy.noise_multiplier";
        refused(why)
    })?;
    Ok(Some(Budget { epsilon, delta: privacy.delta, accounting: meant.recipe.accounting }))
}

/// Classes as clouds of points, as many and as wide as the meant records.
fn generated(document: &Document, meant: &Outline) -> Result<Document, TuneError> {
    let (facts, nodes) = (meant.records.facts(), meant.wiring.graph.nodes());
    let Some(classes) = facts.classes else {
        return Err(refused("--generated is for records with classes: this model has none"));
    };
    if facts.image.is_some() && matches!(meant.records, AnyHoldings::Images(_)) {
        return Err(refused(
            "--generated draws tables, not images: use a public data set of images with --stand-in",
        ));
    }
    let (least, width) = (meant.records.least(), facts.features as usize);
    let refuse = |e: DataError| refused(format!("--generated: {e}"));
    let tables = generate::blobs(nodes, least, width, classes as usize, 0.4, 1).map_err(refuse)?;
    let test = generate::blobs_held_out(2000, width, classes as usize, 0.4, 1).map_err(refuse)?;
    let node = (0..nodes as u32).flat_map(|i| std::iter::repeat_n(i, least)).collect();
    let records = Dataset { node: Some(node), ..Dataset::from(Table::concat(&tables).map_err(refuse)?) };
    let given = GivenRecords {
        records: Loaded::Numbers(records),
        test: Some(Loaded::Numbers(Dataset::from(test))),
        title: "records drawn at random".into(),
    };
    give(document, given, nodes)
}

/// The records set aside, as the only ones there are.
fn validation(document: &Document, meant: &Outline) -> Result<Document, TuneError> {
    let missing =
        || refused("--unprotected-validation needs data.validation: the records that it sets aside are used");
    let facts = meant.records.facts();
    let given = match &meant.records {
        AnyHoldings::Features(_) => {
            let why = "--unprotected-validation does not go with [features]: use --stand-in";
            return Err(refused(why));
        }
        AnyHoldings::Numbers(holdings) => {
            // An intercept's column is added when the run is built.
            let table = holdings.validation.as_ref().ok_or_else(missing)?;
            let width = facts.features as usize;
            let rows =
                (0..table.len()).flat_map(|r| table.row(r)[..width.min(table.width())].iter().copied());
            let table = Table::new(width, rows.collect(), table.labels().to_vec());
            Loaded::Numbers(Dataset::from(table.map_err(|e| refused(e.to_string()))?))
        }
        AnyHoldings::Images(holdings) => {
            let table = holdings.validation.as_ref().ok_or_else(missing)?;
            let sides = facts.image.map(|[channels, height, width]| ImageShape {
                channels: channels as usize,
                height: height as usize,
                width: width as usize,
            });
            Loaded::Images(Dataset { image: sides, ..Dataset::from(table.clone()) })
        }
    };
    let given = GivenRecords { records: given, test: None, title: "validation records".into() };
    give(document, given, meant.wiring.graph.nodes())
}

/// The run of so many nodes on these records instead of its own.
pub(super) fn give(document: &Document, given: GivenRecords, nodes: usize) -> Result<Document, TuneError> {
    let mut other = document.clone().without(Section::Data);
    // A graph that comes from a file has its own number.
    let run = document.run_file();
    if run.graph.nodes.is_none() && run.graph.kind != GraphKind::File {
        other.set_value(Key::GraphNodes, nodes as u64)?;
    }
    if run.partition.kind == Some(PartitionKind::Column) {
        other = other.without(Section::Partition);
    }
    other.give_records(given)?;
    Ok(other)
}
