//! Images go through as bytes, dealt out as their numbers would be.

use super::*;
use prdo_privacy::Model;
use prdo_problem::data::{Dataset, ImageShape, npz};

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
    match kept_holdings(document, 4).unwrap() {
        Kept::Images(holdings) => holdings,
        Kept::Numbers(_) | Kept::Features(_) => panic!("images became numbers"),
    }
}

#[test]
fn bytes_are_dealt_out_as_numbers_are() {
    let (_folder, document) = document();
    let (kept, numbers) = (images(&document), holdings(&document, 4, false).unwrap());
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
        let wiring = wiring(document, None).unwrap();
        let models: [BoxedModel<u8>; 2] = [Box::new(Brightness), Box::new(Brightness)];
        finish(document, "brightness", wiring, images(document), models, Start::zeros(1)).unwrap()
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
    let path = document.file("data.path").unwrap();
    let table = Table::new(4, vec![9u8; 240], (0..60).map(|r| f64::from(r % 2)).collect()).unwrap();
    let mut file = std::fs::File::create(&path).unwrap();
    npz::write(&mut file, &Dataset { image: Some(SHAPE), ..Dataset::from(table) }).unwrap();
    assert_ne!(built(&document).fingerprint, two.fingerprint);
}
