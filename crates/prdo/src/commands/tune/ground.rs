//! What is tuned on: never protected records, unless that is asked for and charged.

use crate::cli::tune::On;
use crate::commands::Failure;
use prdo::config::{Document, Given, Kept, Outline, outline};
use prdo::data::{Dataset, Feature, Loaded, Table};
use prdo::peer::agreement::Facts;
use prdo::tune::{Budget, Effort, Ground};

/// The ground, and what it is in words.
pub struct Found {
    /// What is tuned on.
    pub ground: Ground,
    /// In a few words.
    pub title: String,
    /// For whoever waits.
    pub words: String,
    /// What to mind about what was found on it.
    pub caution: Option<&'static str>,
    /// Whether trials are releases.
    pub charged: bool,
}

/// Chooses what is tuned on, as it was asked for.
pub fn choose(document: &Document, on: &On, effort: &Effort) -> Result<Found, Failure> {
    refuse_features(document, on)?;
    let meant = outline(document)?;
    let budget = budget(document, &meant)?;
    let least = least(&meant);
    let public = document.text("data.source").is_some_and(|source| source != "file" && source != "memory");
    let found = |document: Document, here: usize, title: String| {
        let trials = effort.methods.len() * effort.trials;
        let words = format!("{trials} trials on {title}");
        Found {
            ground: Ground::new(document, least, here, budget).after(meant.spent.clone()),
            title,
            words,
            caution: None,
            charged: false,
        }
    };
    if let Some(path) = &on.charge {
        let mut found = found(document.clone().without("privacy"), least, "the protected records".into());
        if budget.is_none() {
            return Err(Failure::Input(
                "--charge is for private runs: this run file has no [privacy]".into(),
            ));
        }
        found.ground = found.ground.charged(path.clone())?;
        found.words += &format!("; each is a release and is entered in {} first", path.display());
        found.charged = true;
        return Ok(found);
    }
    if let Some(path) = &on.stand_in {
        let mut other = document.clone().without_key("data.test_path");
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.clone());
        other.set(&format!("data.path={}", absolute.display()))?;
        let here = self::least(&outline(&other)?);
        return Ok(found(other, here, format!("the stand-in {}", path.display())));
    }
    if on.generated {
        let other = generated(document, &meant)?;
        let caution = Some(
            "Records drawn at random are easier than most real ones: rounds, batch and method carry over better than the step. \
             Compare with the run file as it was; a public stand-in is better.",
        );
        return Ok(Found { caution, ..found(other, least, "records drawn at random".into()) });
    }
    if on.unprotected_validation {
        let other = validation(document, &meant)?;
        let here = self::least(&outline(&other)?);
        return Ok(found(other, here, "the records set aside for validation, declared unprotected".into()));
    }
    if public || on.public_data {
        let title = if public {
            "the run file's generated or bundled data"
        } else {
            "the run file's records, declared public"
        };
        return Ok(found(document.clone(), least, title.into()));
    }
    Err(Failure::Input(
        "these records may be protected: trying settings on them is a release for every setting, which nobody would \
         account for. Choose what to tune on: --generated (drawn to the same shape), --stand-in FILE (public records of \
         the same form), --unprotected-validation, --public-data (these records need no protection), or --charge \
         STATEMENT (with noise, every trial entered as a release)"
            .into(),
    ))
}

/// Features are of the records that a map was made for: what is drawn at random, and what has been through the map already,
/// has none. Said before anything is extracted.
fn refuse_features(document: &Document, on: &On) -> Result<(), Failure> {
    let asked = match (on.generated, on.unprotected_validation) {
        (true, _) => {
            "--generated draws classes as clouds of points, and a map of images or of named columns reads none"
        }
        (_, true) => {
            "--unprotected-validation has the records after the map, which would go through it again"
        }
        _ => return Ok(()),
    };
    if !document.has_section("features") {
        return Ok(());
    }
    let error = document.error("features.map", format!("[features] does not go with this: {asked}"));
    Err(error.help("use --stand-in FILE with public records that have the same columns or images").into())
}

fn budget(document: &Document, meant: &Outline) -> Result<Option<Budget>, Failure> {
    if meant.recipe.privacy.is_none() {
        return Ok(None);
    }
    let epsilon = document.float("privacy.epsilon").ok_or_else(|| {
        Failure::Input(
            "tuning is for a budget: give privacy.epsilon instead of privacy.noise_multiplier".into(),
        )
    })?;
    let delta = document.float("privacy.delta").unwrap_or(1e-5);
    Ok(Some(Budget { epsilon, delta, accounting: meant.recipe.accounting }))
}

fn least(outline: &Outline) -> usize {
    match &outline.records {
        Kept::Numbers(holdings) => fewest(&holdings.nodes),
        Kept::Images(holdings) => fewest(&holdings.nodes),
        Kept::Features(holdings) => fewest(&holdings.nodes),
    }
}

fn fewest<F: Feature>(nodes: &[Table<F>]) -> usize {
    nodes.iter().map(Table::len).min().unwrap_or(0)
}

fn facts(outline: &Outline) -> &Facts {
    match &outline.records {
        Kept::Numbers(holdings) => &holdings.facts,
        Kept::Images(holdings) => &holdings.facts,
        Kept::Features(holdings) => &holdings.facts,
    }
}

/// Classes as clouds of points, as many and as wide as the meant records.
fn generated(document: &Document, meant: &Outline) -> Result<Document, Failure> {
    let (facts, nodes) = (facts(meant), meant.wiring.graph.nodes());
    let Some(classes) = facts.classes else {
        return Err(Failure::Input("--generated is for records with classes: this model has none".into()));
    };
    if facts.image.is_some() && matches!(meant.records, Kept::Images(_)) {
        return Err(Failure::Input(
            "--generated draws tables, not images: use a public data set of images with --stand-in".into(),
        ));
    }
    let (least, width) = (least(meant), facts.features as usize);
    let refuse = |e: prdo::data::DataError| Failure::Input(format!("--generated: {e}"));
    let tables =
        prdo::data::generate::blobs(nodes, least, width, classes as usize, 0.4, 1).map_err(refuse)?;
    let test = prdo::data::generate::blobs_held_out(2000, width, classes as usize, 0.4, 1).map_err(refuse)?;
    let node = (0..nodes as u32).flat_map(|i| std::iter::repeat_n(i, least)).collect();
    let records = Dataset { node: Some(node), ..Dataset::from(Table::concat(&tables).map_err(refuse)?) };
    let given = Given {
        records: Loaded::Numbers(records),
        test: Some(Loaded::Numbers(Dataset::from(test))),
        title: "records drawn at random".into(),
    };
    give(document, given)
}

/// The records set aside, as the only ones there are.
fn validation(document: &Document, meant: &Outline) -> Result<Document, Failure> {
    let missing = || {
        Failure::Input(
            "--unprotected-validation needs data.validation: the records that it sets aside are used".into(),
        )
    };
    let facts = facts(meant);
    let given = match &meant.records {
        Kept::Features(_) => {
            let why = "--unprotected-validation does not go with [features]: use --stand-in";
            return Err(Failure::Input(why.into()));
        }
        Kept::Numbers(holdings) => {
            // An intercept's column is added when the run is built.
            let table = holdings.validation.as_ref().ok_or_else(missing)?;
            let width = facts.features as usize;
            let rows =
                (0..table.len()).flat_map(|r| table.row(r)[..width.min(table.width())].iter().copied());
            let table = Table::new(width, rows.collect(), table.labels().to_vec());
            Loaded::Numbers(Dataset::from(table.map_err(|e| Failure::Work(e.to_string()))?))
        }
        Kept::Images(holdings) => {
            let table = holdings.validation.as_ref().ok_or_else(missing)?;
            let sides = facts.image.map(|[channels, height, width]| prdo::data::ImageShape {
                channels: channels as usize,
                height: height as usize,
                width: width as usize,
            });
            Loaded::Images(Dataset { image: sides, ..Dataset::from(table.clone()) })
        }
    };
    give(document, Given { records: given, test: None, title: "validation records".into() })
}

/// The run on these records instead of its own.
fn give(document: &Document, given: Given) -> Result<Document, Failure> {
    let graph = document.integer("graph.nodes");
    let mut other = document.clone().without("data");
    if graph.is_none() {
        let nodes = outline(document)?.wiring.graph.nodes();
        other.set(&format!("graph.nodes={nodes}"))?;
    }
    if document.text("partition.kind").as_deref() == Some("column") {
        other = other.without("partition");
    }
    other.give_records(given)?;
    Ok(other)
}
