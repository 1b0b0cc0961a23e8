use super::*;
use crate::build::build;
use std::cell::Cell;

fn document(gamma: f64) -> Document {
    let text = format!(
        "name = \"small\"\nrounds = 40\n[graph]\nkind = \"ring\"\nnodes = 4\n[data]\nsource = \"logistic\"\nrecords = 60\n\
         dimension = 3\n[method]\nname = \"prdo\"\nstep_size = 0.5\ngamma = {gamma}\n[batch]\nsize = 10\n[clip]\n\
         gradient = 1.0\ndifference = 0.05\n[metrics]\nevery = 7\nmoments = true\n"
    );
    Document::parse("small.toml", &text).unwrap()
}

/// Counts what it is told, and may refuse a round.
#[derive(Default)]
struct Counting {
    rounds: u32,
    checkpoints: u32,
    refused: Option<u32>,
}

impl TrainObserver for Counting {
    fn round(&mut self, stage: &Stage<'_>) -> Result<(), ObserverError> {
        self.rounds += 1;
        if self.refused == Some(stage.round) { Err("refused".into()) } else { Ok(()) }
    }

    fn checkpoint(&mut self, _: &Stage<'_>) -> Result<(), ObserverError> {
        self.checkpoints += 1;
        Ok(())
    }
}

fn options(stop: &dyn Fn() -> bool) -> Options<'_> {
    let checkpoint_every = Some(Duration::from_secs(3600));
    Options { stop, checkpoint_every, again: String::new(), tensorboard: false, results: true }
}

fn unfinished<'a>(folder: &'a Folder, document: &'a Document, built: &'a mut Built) -> Trainer<'a> {
    match Trainer::open(folder, document, built).unwrap() {
        Opened::Unfinished(trainer) => trainer,
        Opened::Finished(_) => panic!("finished"),
    }
}

#[test]
fn a_run_that_is_stopped_goes_on_to_the_same_bits() {
    let (place, document) = (tempfile::tempdir().unwrap(), document(0.2));
    let mut built = build(&document).unwrap();
    let whole = Trainer::new(&document, &mut built).train(&options(&|| false), &mut ()).unwrap();
    let folder = Folder::create(Some(&place.path().join("run")), "run", false).unwrap();

    // Each time for a few rounds only.
    for _ in 0..4 {
        let (mut built, looks) = (build(&document).unwrap(), Cell::new(0));
        let stop = || looks.replace(looks.get() + 1) == 8;
        let mut counting = Counting::default();
        let trainer = unfinished(&folder, &document, &mut built);
        let cut = trainer.train(&options(&stop), &mut counting).unwrap();
        assert_eq!((cut.end, counting.rounds, counting.checkpoints), (End::Stopped, 9, 1));
        assert!(cut.results.is_none());
    }
    let mut built = build(&document).unwrap();
    let trainer = unfinished(&folder, &document, &mut built);
    assert_eq!(trainer.stage().round, 36);
    let cut = trainer.train(&options(&|| false), &mut ()).unwrap();
    assert_eq!((cut.rows, cut.moments), (whole.rows, whole.moments));
    assert_eq!(cut.results.unwrap().model, whole.results.unwrap().model);
    assert!(!folder.file(names::CHECKPOINTS).exists());
    assert!(matches!(Trainer::open(&folder, &document, &mut built).unwrap(), Opened::Finished(_)));
}

#[test]
fn a_folder_of_other_settings_is_refused_by_their_names() {
    let (place, one, other) = (tempfile::tempdir().unwrap(), document(0.2), document(0.3));
    let folder = Folder::create(Some(&place.path().join("run")), "run", false).unwrap();
    let refusal = || {
        let error = Trainer::open(&folder, &other, &mut build(&other).unwrap()).err().unwrap();
        assert!(error.is_input());
        error
    };
    let mut built = build(&one).unwrap();
    unfinished(&folder, &one, &mut built).train(&options(&|| true), &mut ()).unwrap();
    let error = refusal();
    assert!(matches!(&error, TrainError::Checkpoint { differences: Some(list), .. } if list.len() == 1));
    assert!(error.to_string().contains("other settings: method.gamma is 0.3 here and 0.2 there"), "{error}");
    unfinished(&folder, &one, &mut build(&one).unwrap()).train(&options(&|| false), &mut ()).unwrap();
    assert!(matches!(refusal(), TrainError::OtherRun { differences, .. } if differences.len() == 1));
}

#[test]
fn an_observers_error_ends_the_run_without_a_checkpoint() {
    let (place, document) = (tempfile::tempdir().unwrap(), document(0.2));
    let folder = Folder::create(Some(&place.path().join("run")), "run", false).unwrap();
    let mut counting = Counting { refused: Some(5), ..Counting::default() };
    let mut built = build(&document).unwrap();
    let ended = unfinished(&folder, &document, &mut built).train(&options(&|| false), &mut counting);
    assert_eq!(ended.err().unwrap().to_string(), "refused");
    assert_eq!((counting.rounds, counting.checkpoints), (5, 0));
    assert!(folder.checkpoint().unwrap().is_none());
}

#[test]
fn a_run_that_a_program_made_goes_on_in_its_folder_and_refuses_another_ones_checkpoint() {
    let (place, document) = (tempfile::tempdir().unwrap(), document(0.2));
    let whole = build(&document).unwrap().prepared.train().unwrap();
    let folder = Folder::open(&place.path().join("made")).unwrap();
    let identity = |byte| Identity { fingerprint: [byte; 32], settings: "seed = 1\n".into() };

    let (mut cut, looks) = (build(&document).unwrap().prepared, Cell::new(0));
    let stop = || looks.replace(looks.get() + 1) == 8;
    let trainer = Trainer::open_made(&folder, &mut cut, identity(1)).unwrap();
    assert!(trainer.built().is_none());
    assert_eq!(trainer.train(&options(&stop), &mut ()).unwrap().end, End::Stopped);

    let mut resumed = build(&document).unwrap().prepared;
    let error = Trainer::open_made(&folder, &mut resumed, identity(2)).err().unwrap();
    assert!(matches!(error, TrainError::Checkpoint { .. }));
    let trainer = Trainer::open_made(&folder, &mut resumed, identity(1)).unwrap();
    assert_eq!(trainer.stage().round, 9);
    let trained = trainer.train(&options(&|| false), &mut ()).unwrap();
    assert!(trained.results.is_none(), "whoever made it takes what it wants");
    let outcome = resumed.outcome(trained.rows, trained.moments);
    assert_eq!((outcome.rows, outcome.moments), (whole.rows, whole.moments));
    assert_eq!(outcome.models, whole.models);
}
