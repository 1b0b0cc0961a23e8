//! How fast features are, and how good they are under noise, on CIFAR-10.
//!
//! ```text
//! cargo run --release -p prdo-models --example features -- speed
//! cargo run --release -p prdo-models --example features -- train CIFAR_FOLDER CACHE [name=value …]
//! ```
//!
//! `train` is a stand-in for a run of ten nodes whose models are averaged exactly in every round: ten private gates of 4,500
//! records each, momentum 0.8, and the accuracy on the last 5,000 training images (`test=1`: on the test images).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_types)]

mod reference;

use prdo_accounting::{Accountant, Target};
use prdo_data::features::{Cache, FeatureMap, Found, INTERCEPT, Settings};
use prdo_data::{ImageShape, Options, Table, cifar10};
use prdo_models::Softmax;
use prdo_privacy::*;
use rayon::prelude::*;
use reference::Reference;
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("speed") => speed(),
        Some("train") => train(Path::new(&arguments[1]), Path::new(&arguments[2]), &arguments[3..]),
        _ => panic!("speed or train"),
    }
}

/// Milliseconds an image and core, of the map and of plain code, and how long the map takes to make.
fn speed() {
    let shape = ImageShape { channels: 3, height: 32, width: 32 };
    let apart = reference::apart();
    println!("plain code: scattering within {apart:.1e} of the tests' coefficients");
    assert!(apart < 1e-5);
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::new(folder.path());
    let pixels = |count: usize| (0..count * 3072).map(|i: usize| (i * 7919 % 251) as u8).collect();
    let images = Table::new(3072, pixels(512), vec![0.0; 512]).unwrap();
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    for settings in [Settings::scattering(3), Settings::with_patches(3)] {
        let start = Instant::now();
        let (map, _) = cache.map(shape, settings).unwrap();
        let made = start.elapsed();
        let start = Instant::now();
        let (_, found) = cache.map(shape, settings).unwrap();
        assert_eq!(found, Found::OnDisk);
        println!("{}\n  {} features, hash {}", map.describe(), map.dimension(), map.hash());
        println!("  made in {made:.2?}, the second time in {:.2?}", start.elapsed());
        let ours = best(8, 512, || one.install(|| drop(map.apply(&images, shape, &|_| ()).unwrap())));
        let plain = Reference::new(settings.patches.is_some());
        let some: Vec<&[u8]> = (0..32).map(|r| images.row(r)).collect();
        assert_eq!(plain.features(some[0]).len(), map.dimension());
        let theirs = best(4, 32, || some.iter().for_each(|image| drop(black_box(plain.features(image)))));
        println!(
            "  {ours:.3} ms an image on one core, plain code {theirs:.3} ms: {:.1} times faster",
            theirs / ours
        );
    }
}

/// Milliseconds an image in the fastest of some passes.
fn best(passes: usize, images: usize, pass: impl Fn()) -> f64 {
    let run = || {
        let start = Instant::now();
        pass();
        start.elapsed().as_secs_f64() / images as f64 * 1e3
    };
    (0..passes).map(|_| run()).fold(f64::MAX, f64::min)
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

/// The features of a part of CIFAR-10, from the cache if they are there.
fn features(map: &FeatureMap, folder: &Path, cache: &Path, part: &str) -> Table<f32> {
    let options = Options { prefix: Some(part.to_owned()), ..Options::default() };
    let images = cifar10::read(folder, &options).unwrap().table;
    let start = Instant::now();
    let extract = || map.apply(&images, cifar10::IMAGE, &|_| ());
    let (table, kept) = Cache::new(cache).features(&map.hash(), map.dimension(), &images, extract).unwrap();
    let from = if kept == Found::OnDisk { "from disk" } else { "extracted" };
    println!("{part}: {} x {} {from} in {:.1?}", table.len(), table.width(), start.elapsed());
    table
}

fn train(folder: &Path, cache: &Path, arguments: &[String]) {
    let own = ["z", "step", "rounds", "clip", "test", "seed", "beta", "constant"];
    let is_own = |a: &&String| own.contains(&a.split('=').next().unwrap());
    let get = |name: &str, default: f64| {
        let found = arguments.iter().find_map(|a| a.strip_prefix(name)?.strip_prefix('='));
        found.map_or(default, |v| v.parse().unwrap())
    };
    let changes: Vec<String> = arguments.iter().filter(|a| !is_own(a)).cloned().collect();
    let map = FeatureMap::new(cifar10::IMAGE, changed(&changes)).unwrap();
    println!("{} {}", map.describe(), map.hash());
    let all = features(&map, folder, cache, "train");
    let numbers = |range: std::ops::Range<u32>| range.collect::<Vec<u32>>();
    let held_out = match get("test", 0.0) > 0.0 {
        true => features(&map, folder, cache, "test"),
        false => all.select(&numbers(45_000..50_000)),
    };
    let model = Softmax::<f32>::reading(map.dimension(), 10, 0.0).unwrap();
    let model = Arc::new(model.with_constant(get("constant", INTERCEPT)).unwrap());
    let secret = Arc::new(Secret::from_seed(get("seed", 1.0) as u64));
    let gate = |node: u32| {
        let shard = Shard::seal(all.select(&numbers(node * 4500..(node + 1) * 4500))).unwrap();
        let ledger = Ledger::new(Arc::new(Accountant::default()), Target::new(1e9, 1e-5).unwrap());
        let clip = Clip::new(get("clip", 0.5), 1.0).unwrap();
        let rules = PrivateRules {
            batches: Batches::new(1000, 1000),
            clip,
            noise_multiplier: get("z", 3.547),
            ledger,
        };
        Gate::private(node, Arc::clone(&model), shard, Arc::clone(&secret), rules).unwrap()
    };
    let mut gates: Vec<_> = (0..10).map(gate).collect();
    drop(all);
    let zeros = || Released::<Noised>::zeros(model.dimension());
    let (mut x, mut m) = (zeros(), zeros());
    let (beta, step, start) = (get("beta", 0.8), get("step", 120.0), Instant::now());
    let rounds = get("rounds", 200.0) as u32;
    for round in 0..rounds {
        let answers: Vec<_> = gates
            .par_iter_mut()
            .map(|gate| gate.answer(round, &Query::gradient(&x)).unwrap().released)
            .collect();
        for (node, answer) in answers.iter().enumerate() {
            m.blend(if node == 0 { beta } else { 1.0 }, (1.0 - beta) / 10.0, answer);
        }
        x.blend(1.0, -step, &m);
    }
    let seconds = start.elapsed();
    let accuracy = model.count_correct(x.as_slice(), &held_out, Records::Run(0, held_out.len())).unwrap();
    println!("{:?}: {:.2} % in {:.1?}", arguments, accuracy as f64 / held_out.len() as f64 * 100.0, seconds);
}
