//! How fast features are, and how good they are under noise, on CIFAR-10.
//!
//! ```text
//! cargo run --release -p prdo-problem --example features -- speed
//! cargo run --release -p prdo-problem --example features -- dump CIFAR_FOLDER OUT_FOLDER [name=value …]
//! ```
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use prdo_problem::data::{ImageShape, Options, Table, cifar10};
use prdo_problem::features::{FeatureMap, Settings};
use std::io::Write;
use std::path::Path;
use std::time::Instant;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("speed") => speed(),
        Some("dump") => dump(Path::new(&arguments[1]), Path::new(&arguments[2]), &arguments[3..]),
        _ => panic!("speed or dump"),
    }
}

fn speed() {
    let shape = ImageShape { channels: 3, height: 32, width: 32 };
    for settings in [Settings::scattering(3), Settings::with_patches(3)] {
        let start = Instant::now();
        let map = FeatureMap::new(shape, settings).unwrap();
        println!(
            "{}\n  {} features, made in {:.2?}, hash {}",
            map.describe(),
            map.dimension(),
            start.elapsed(),
            map.hash()
        );
        let pixels = (0..512 * 3072).map(|i: usize| (i * 7919 % 251) as u8).collect();
        let images = Table::new(3072, pixels, vec![0.0; 512]).unwrap();
        let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let run = || {
            let start = Instant::now();
            one.install(|| map.apply(&images, shape, &|_| ()).unwrap());
            start.elapsed().as_secs_f64() / 512.0 * 1e3
        };
        let times: Vec<f64> = (0..8).map(|_| run()).collect();
        println!(
            "  {:.3} ms an image on one core (best of 8; all: {times:.3?})",
            times.iter().copied().fold(f64::MAX, f64::min)
        );
    }
}

/// The default map with `name=value` changes.
fn changed(changes: &[String]) -> Settings {
    let mut settings = Settings::with_patches(3);
    for change in changes {
        let (name, value) = change.split_once('=').unwrap();
        let (whole, number) = (|| value.parse::<usize>().unwrap(), || value.parse::<f64>().unwrap());
        let mut patches = settings.patches.unwrap_or_default();
        match name {
            "scales" => settings.scales = whole() as u32,
            "angles" => settings.angles = whole(),
            "grid" => settings.grid = whole(),
            "offset" => settings.offset = number(),
            "ridge" => settings.ridge = number(),
            "leaves" => settings.leaves = whole(),
            "filters" => patches.filters = whole(),
            "size" => patches.size = whole(),
            "stride" => patches.stride = whole(),
            "threshold" => patches.threshold = number(),
            "cells" => patches.grid = whole(),
            "weight" => patches.weight = number(),
            _ => panic!("{name}?"),
        }
        settings.patches = Some(patches);
    }
    settings
}

fn dump(from: &Path, to: &Path, changes: &[String]) {
    let read = |prefix: &str| {
        cifar10::read(from, &Options { prefix: Some(prefix.to_owned()), ..Options::default() }).unwrap()
    };
    let map = FeatureMap::new(cifar10::IMAGE, changed(changes)).unwrap();
    println!("{} {}", map.describe(), map.hash());
    for part in ["train", "test"] {
        let start = Instant::now();
        let table = map.apply(&read(part).table, cifar10::IMAGE, &|_| ()).unwrap();
        println!("{part}: {} x {} in {:.1?}", table.len(), table.width(), start.elapsed());
        let mut file =
            std::io::BufWriter::new(std::fs::File::create(to.join(format!("{part}.f32"))).unwrap());
        table.features().iter().for_each(|v| file.write_all(&v.to_le_bytes()).unwrap());
    }
}
