//! What is tuned on: never protected records, unless that is asked for and charged.

use super::drawn_table;
use crate::cli::tune::{RecordsArgs, TuneArgs};
use crate::commands::Failure;
use prdo::build::{AnyHoldings, Outline, outline};
use prdo::data::{Dataset, Loaded, Table};
use prdo::runfile::{Document, GivenRecords, GraphKind, Key, MapSettings, PartitionKind, RunFile, Section};
use prdo::tune::{Budget, Effort, Scorer};

pub struct TuningData {
    pub ground: Scorer,
    /// In a few words.
    pub title: String,
    /// For whoever waits.
    pub words: String,
    /// What to mind about what was found on it.
    pub caution: Option<&'static str>,
    /// Whether trials are releases.
    pub charged: bool,
}

impl TuningData {
    pub fn new(ground: Scorer, title: String, effort: &Effort) -> Self {
        let words = format!("{} trials on {title}", effort.methods.len() * effort.trials);
        Self { ground, title, words, caution: None, charged: false }
    }
}

pub fn choose(document: &Document, args: &TuneArgs, effort: &Effort) -> Result<TuningData, Failure> {
    let on = &args.on;
    let run = document.run_file();
    if on.generated && matches!(run.features.map, Some(MapSettings::Table(_))) {
        return drawn_table::choose(document, &args.size, effort);
    }
    refuse_features(document, on)?;
    if args.size.nodes.is_some() || args.size.records.is_some() {
        let why = "--nodes and --records go with --generated for run files with map = \"table\" under [features], whose data file \
                   is not opened; this one's data file says both";
        return Err(Failure::Input(why.into()));
    }
    let meant = outline(document)?;
    let budget = budget(&run, &meant)?;
    let least = meant.records.least();
    let public = run.data.source.is_some_and(|source| !source.is_owned());
    let found = |document: Document, here: usize, title: String| {
        TuningData::new(Scorer::new(document, least, here, budget).after(meant.spent.clone()), title, effort)
    };
    if let Some(path) = &on.charge {
        let mut found =
            found(document.clone().without(Section::Privacy), least, "the protected records".into());
        if budget.is_none() {
            return Err(Failure::Input(
                "--charge is for private runs: this run file has no [privacy]".into(),
            ));
        }
        found.ground = found.ground.charged(path.clone())?;
        found.words += &format!("; each is a release, entered in {} first", path.display());
        found.charged = true;
        return Ok(found);
    }
    if let Some(path) = &on.stand_in {
        // Of images of another size the features are others.
        let mut other = document.clone().without_key(Key::DataTestPath).without(Section::Resolved);
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.clone());
        other.set(&format!("{}={}", Key::DataPath, absolute.display()))?;
        let here = outline(&other)?.records.least();
        return Ok(found(other, here, format!("the stand-in {}", path.display())));
    }
    if on.generated {
        let other = generated(document, &meant)?;
        let caution = Some(
            "Records drawn at random are easier than most real ones: rounds, batch and method carry over better than the step. \
             Compare with the run file as it was; a public stand-in is better.",
        );
        return Ok(TuningData { caution, ..found(other, least, "records drawn at random".into()) });
    }
    if on.unprotected_validation {
        let other = validation(document, &meant)?;
        let here = outline(&other)?.records.least();
        return Ok(found(other, here, "the records set aside for validation, declared unprotected".into()));
    }
    if public || on.public_data {
        let title = match public {
            true => "the run file's generated or bundled data",
            false => "the run file's records, declared public",
        };
        return Ok(found(document.clone(), least, title.into()));
    }
    Err(Failure::Input(
        "these records may be protected: every setting tried on them would be a release that nobody accounts for. \
         Choose what to tune on: --generated (drawn to the same shape), --stand-in FILE (public records of \
         the same form), --unprotected-validation, --public-data (these records need no protection), or --charge \
         STATEMENT (with noise, every trial entered as a release)"
            .into(),
    ))
}

/// Features are of the records that a map was made for: what is drawn at random, and what has been through the map already,
/// has none. Said before anything is extracted.
fn refuse_features(document: &Document, on: &RecordsArgs) -> Result<(), Failure> {
    if !document.has_section(Section::Features) {
        return Ok(());
    }
    let (why, help) = match (on.generated, on.unprotected_validation) {
        (true, _) => (
            "--generated draws tables, and this map reads images",
            "tune on public images instead, of any size: `prdo data get fashion-mnist` fetches some, then \
             `prdo tune RUN.toml --stand-in data/fashion-mnist`",
        ),
        (_, true) => (
            "--unprotected-validation has the records after the map, which would go through it again",
            "use --stand-in FILE with public records that have the same columns or images; of map = \"table\" \
             --generated draws some",
        ),
        _ => return Ok(()),
    };
    let error = document.error(Key::FeaturesMap, format!("[features] does not go with this: {why}"));
    Err(error.help(help).into())
}

pub(super) fn budget(run: &RunFile, meant: &Outline) -> Result<Option<Budget>, Failure> {
    let Some(privacy) = &run.privacy else { return Ok(None) };
    let epsilon = privacy.epsilon.ok_or_else(|| {
        let why = "tuning is for a budget: give privacy.epsilon instead of privacy.noise_multiplier";
        Failure::Input(why.into())
    })?;
    Ok(Some(Budget { epsilon, delta: privacy.delta, accounting: meant.recipe.accounting }))
}

/// Classes as clouds of points, as many and as wide as the meant records.
fn generated(document: &Document, meant: &Outline) -> Result<Document, Failure> {
    let (facts, nodes) = (meant.records.facts(), meant.wiring.graph.nodes());
    let Some(classes) = facts.classes else {
        return Err(Failure::Input("--generated is for records with classes: this model has none".into()));
    };
    if facts.image.is_some() && matches!(meant.records, AnyHoldings::Images(_)) {
        return Err(Failure::Input(
            "--generated draws tables, not images: use a public data set of images with --stand-in".into(),
        ));
    }
    let (least, width) = (meant.records.least(), facts.features as usize);
    let refuse = |e: prdo::data::DataError| Failure::Input(format!("--generated: {e}"));
    let tables =
        prdo::data::generate::blobs(nodes, least, width, classes as usize, 0.4, 1).map_err(refuse)?;
    let test = prdo::data::generate::blobs_held_out(2000, width, classes as usize, 0.4, 1).map_err(refuse)?;
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
fn validation(document: &Document, meant: &Outline) -> Result<Document, Failure> {
    let missing = || {
        Failure::Input(
            "--unprotected-validation needs data.validation: the records that it sets aside are used".into(),
        )
    };
    let facts = meant.records.facts();
    let given = match &meant.records {
        AnyHoldings::Features(_) => {
            let why = "--unprotected-validation does not go with [features]: use --stand-in";
            return Err(Failure::Input(why.into()));
        }
        AnyHoldings::Numbers(holdings) => {
            // An intercept's column is added when the run is built.
            let table = holdings.validation.as_ref().ok_or_else(missing)?;
            let width = facts.features as usize;
            let rows =
                (0..table.len()).flat_map(|r| table.row(r)[..width.min(table.width())].iter().copied());
            let table = Table::new(width, rows.collect(), table.labels().to_vec());
            Loaded::Numbers(Dataset::from(table.map_err(|e| Failure::Work(e.to_string()))?))
        }
        AnyHoldings::Images(holdings) => {
            let table = holdings.validation.as_ref().ok_or_else(missing)?;
            let sides = facts.image.map(|[channels, height, width]| prdo::data::ImageShape {
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
pub(super) fn give(document: &Document, given: GivenRecords, nodes: usize) -> Result<Document, Failure> {
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
