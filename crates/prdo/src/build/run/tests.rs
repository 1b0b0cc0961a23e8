//! Images go through as bytes, dealt out as their numbers would be.

use super::*;
use crate::build::wiring;
use prdo_data::{Dataset, ImageShape, Loaded, npz};
use prdo_privacy::Model;
use prdo_runfile::{GivenRecords, NetworkKind};

/// Estimates the mean brightness: one parameter, read from bytes.
struct Brightness;

impl Model for Brightness {
    type Data = Table<u8>;
    fn dimension(&self) -> usize {
        1
    }
    fn loss(&self, x: &[f64], data: &Table<u8>, record: usize) -> f64 {
        let row = data.row(record);
        0.5 * (x[0] - row.iter().map(|v| v.value()).sum::<f64>() / row.len() as f64).powi(2)
    }
    fn gradient(&self, x: &[f64], data: &Table<u8>, record: usize, gradient: &mut [f64]) {
        let row = data.row(record);
        gradient[0] = x[0] - row.iter().map(|v| v.value()).sum::<f64>() / row.len() as f64;
    }
    fn correct(&self, x: &[f64], data: &Table<u8>, record: usize) -> Option<bool> {
        Some((data.row(record)[0].value() > x[0]) == (data.label(record) > 0.0))
    }
}

const SHAPE: ImageShape = ImageShape { channels: 1, height: 2, width: 2 };

/// A run file beside sixty images of two classes, and its folder.
fn document() -> (tempfile::TempDir, Document) {
    let folder = tempfile::tempdir().unwrap();
    let pixels = (0..240u32).map(|p| (p * 37 % 256) as u8).collect();
    let table = Table::new(4, pixels, (0..60).map(|r| f64::from(r % 2)).collect()).unwrap();
    let data = Dataset { image: Some(SHAPE), ..Dataset::from(table) };
    let mut file = std::fs::File::create(folder.path().join("images.npz")).unwrap();
    npz::write(&mut file, &data).unwrap();
    let text = "rounds = 50\n[graph]\nnodes = 4\n[data]\nsource = \"file\"\npath = \"images.npz\"\nvalidation = 8\n\
        test = 12\n[partition]\nkind = \"dirichlet\"\n[method]\nname = \"ed\"\nstep_size = 0.5\n";
    let path = folder.path().join("run.toml");
    std::fs::write(&path, text).unwrap();
    let document = Document::read(&path).unwrap();
    (folder, document)
}

fn images(document: &Document) -> Holdings<u8> {
    let run = document.run_file();
    match any_holdings(&run, Source::read(&run).unwrap(), 4).unwrap() {
        AnyHoldings::Images(holdings) => holdings,
        AnyHoldings::Numbers(_) | AnyHoldings::Features(_) => panic!("images became numbers"),
    }
}

#[test]
fn bytes_are_dealt_out_as_numbers_are() {
    let (_folder, document) = document();
    let run = document.run_file();
    let (kept, numbers) = (images(&document), holdings(&run, Source::read(&run).unwrap(), 4, false).unwrap());
    assert_eq!(kept.nodes.iter().map(Table::to_numbers).collect::<Vec<_>>(), numbers.nodes);
    assert_eq!(kept.held_out.unwrap().to_numbers(), numbers.held_out.unwrap());
    assert_eq!(kept.validation.unwrap().to_numbers(), numbers.validation.unwrap());
    let facts = kept.facts;
    assert_eq!((facts.image, facts.classes, facts.features), (Some([1, 2, 2]), Some(2), 4));
}

#[test]
fn a_model_of_bytes_trains() {
    let (_folder, document) = document();
    let built = |document: &Document| {
        let run = document.run_file();
        let wiring = wiring(&run, None).unwrap();
        let models: [BoxedModel<u8>; 2] = [Box::new(Brightness), Box::new(Brightness)];
        let kind = ModelKind::Network(NetworkKind::Named("brightness"));
        finish(&run, kind, wiring, images(document), models, (Start::zeros(1), None)).unwrap()
    };
    let (one, two) = (built(&document), built(&document));
    assert_eq!((one.fingerprint, one.test_records), (two.fingerprint, 12));
    assert_eq!(one.class_counts.unwrap().iter().flatten().sum::<u64>(), 40);
    let outcome = one.prepared.train().unwrap();
    let share = one.validation.unwrap()(&outcome.average).unwrap();
    assert!((0.0..=1.0).contains(&share));
    assert!(outcome.last().unwrap().grad_norm < 1e-6);
    assert!((outcome.average[0] - 0.5).abs() < 0.1);

    // The fingerprint sees every byte.
    let path = document.file(Key::DataPath).unwrap();
    let table = Table::new(4, vec![9u8; 240], (0..60).map(|r| f64::from(r % 2)).collect()).unwrap();
    let mut file = std::fs::File::create(&path).unwrap();
    npz::write(&mut file, &Dataset { image: Some(SHAPE), ..Dataset::from(table) }).unwrap();
    assert_ne!(built(&document).fingerprint, two.fingerprint);
}

/// The same as a program brings it.
struct OwnBrightness;

impl OwnModel for OwnBrightness {
    fn start(&self) -> Start {
        Start::zeros(1)
    }
    fn numbers(&self, _: &prdo_store::RecordFacts) -> Result<BoxedModel, String> {
        Err("it reads bytes".into())
    }
    fn images(&self, facts: &prdo_store::RecordFacts) -> Result<BoxedModel<u8>, String> {
        assert_eq!(facts.image, Some([1, 2, 2]));
        Ok(Box::new(Brightness))
    }
}

#[test]
fn a_programs_records_and_model_are_a_files_and_a_built_in_ones() {
    let (_folder, mut document) = document();
    let Ok(Loaded::Images(data)) =
        prdo_data::load(&document.file(Key::DataPath).unwrap(), &Default::default())
    else {
        panic!("no images")
    };
    let network = "[\"dense 2\"]";
    for (key, value) in [("model.kind", "\"network\""), ("model.layers", network), ("data.mean", "[0.5]")] {
        document.give("a test", key, value).unwrap();
    }
    document.give("a test", "data.deviation", "[0.5]").unwrap();
    let from_file = build(&document).unwrap();
    let records = Loaded::Images(data.clone());
    document.give_records(GivenRecords { records, test: None, title: "images".into() }).unwrap();
    let given = build(&document).unwrap();
    assert_eq!(given.data, from_file.data.replace("images.npz", "images"));
    assert_eq!(given.prepared.train().unwrap().average, from_file.prepared.train().unwrap().average);

    document.give("a test", "model.kind", "\"own\"").unwrap();
    let error = build(&document).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("the model of a program"), "{error}");
    let own = build_own(&document, &OwnBrightness).unwrap();
    assert_eq!((own.model, own.test_records), (ModelKind::Own, 12));
    assert!((own.prepared.train().unwrap().average[0] - 0.5).abs() < 0.1);

    // A run file with these words alone has neither.
    let text = "rounds = 5\n[graph]\nnodes = 4\n[data]\nsource = \"memory\"\n[method]\nname = \"ed\"\nstep_size = 1\n";
    let error = build(&Document::parse("a.toml", text).unwrap()).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("this run file alone does not have them"), "{error}");
    assert_eq!(error.subject.unwrap().field, "data.source");
}

#[test]
fn errors_say_what_they_are_about() {
    let mut document = Document::parse("a.toml", "").unwrap();
    let error = document.give("the arguments", "method.gamma", "7").unwrap_err();
    let subject = *error.subject.unwrap();
    assert_eq!((subject.field.as_str(), subject.value.as_deref()), ("method.gamma", Some("7")));
    assert_eq!(
        subject.allowed.as_deref(),
        Some(
            "a number above 0 and at most 1, or by round such as \"0.1, 0.05 from 100\" or \"cosine 0.1 0.01\""
        )
    );
    for (key, value) in
        [("sed", "1"), ("seed = 1\nname", "2"), ("", "1"), ("seed", "1\nname = 2"), ("seed", "")]
    {
        assert!(document.give("the arguments", key, value).is_err(), "{key} = {value}");
    }
    assert!(!document.has(Key::Seed) && !document.has(Key::Name));
}
