//! The production machine, session, ledger and folder in a seeded world of faults: every run ends with the simulator's
//! models, bit for bit, with every charge made once and one payload for every exchange.
//!
//! `PRDO_FAULT_SEEDS=1000` runs more seeds; `PRDO_FAULT=Crash PRDO_SEED=17` replays one with its log.

use crate::problem::Problem;
use crate::world::{Dice, Fault, World};

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// What is drawn in a world.
#[derive(Clone, Copy)]
struct Draws {
    /// Every process has a secret of its own, as in life; otherwise all draw as the simulator does.
    fresh: bool,
    /// Noise is in pairs.
    pairs: bool,
}

const SIMULATED: Draws = Draws { fresh: false, pairs: false };

fn one(fault: Fault, seed: u64, draws: Draws) -> Result<(), String> {
    let problem = Problem::numbered(seed);
    let problem = if draws.pairs { problem.in_pairs() } else { problem };
    let mut world = World::new(problem, fault, seed);
    let result = match draws.fresh {
        true => {
            world = world.with_fresh_secrets();
            world.run().and_then(|()| world.check_against_what_was_sent())
        }
        false => world.run().and_then(|()| world.check()),
    };
    if number("PRDO_SEED").is_some() {
        world.log.iter().for_each(|line| println!("{line}"));
    }
    result.map_err(|e| format!("PRDO_FAULT={fault:?} PRDO_SEED={seed}: {e}"))
}

/// Runs worlds of all kinds (or the one asked for) on all cores.
fn all(faults: &[Fault], usual_seeds: u64, draws: Draws, takes: impl Fn(u64) -> bool) {
    let only = std::env::var("PRDO_FAULT").ok();
    let seeds = match number("PRDO_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("PRDO_FAULT_SEEDS").unwrap_or(usual_seeds),
    };
    let cases: Vec<(Fault, u64)> = faults
        .iter()
        .filter(|fault| only.as_ref().is_none_or(|name| *name == format!("{fault:?}")))
        .flat_map(|fault| seeds.clone().filter(|seed| takes(*seed)).map(move |seed| (*fault, seed)))
        .collect();
    let failures = std::sync::Mutex::new(Vec::new());
    let next = std::sync::atomic::AtomicUsize::new(0);
    let work = || {
        while let Some((fault, seed)) = cases.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
            if let Err(error) = one(*fault, *seed, draws) {
                failures.lock().unwrap().push(error);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(work);
        }
    });
    let failures = failures.into_inner().unwrap();
    println!("{} worlds, {} failed", cases.len(), failures.len());
    assert!(failures.is_empty(), "{} of {} failed, first: {}", failures.len(), cases.len(), failures[0]);
}

#[test]
fn every_kind_of_fault_ends_bit_equal() {
    all(&Fault::ALL, 60, SIMULATED, |_| true);
}

/// The same with noise in pairs: the simulator's models, which have each share once at both ends, and no key on a disk whose
/// share has left.
#[test]
fn every_kind_of_fault_ends_bit_equal_with_noise_in_pairs() {
    all(&Fault::ALL, 40, Draws { pairs: true, ..SIMULATED }, |_| true);
}

/// With a secret of its own for every process, a second noise for a round would be seen as a second payload.
#[test]
fn no_crash_gives_a_second_noise() {
    let faults = [Fault::Crash, Fault::TornWrite, Fault::DiskFull, Fault::Everything];
    // Momentum Tracking's model is not a mix of its last exchange alone in one of its forms.
    for pairs in [false, true] {
        all(&faults, 60, Draws { fresh: true, pairs }, |seed| Problem::numbered(seed).model_is_a_mix());
    }
}

#[test]
fn killed_at_every_durable_step() {
    // A round writes a charge, what is sent and the state: the points go through several rounds of every method.
    let points = killed_at(24, Problem::numbered);
    assert!(points >= 20 * 25, "only {points} processes were killed");
}

/// With noise in pairs a round also writes the next keys and overwrites those before.
#[test]
fn killed_at_every_durable_step_with_noise_in_pairs() {
    let points = killed_at(36, |seed| Problem::numbered(seed).in_pairs());
    assert!(points >= 28 * 25, "only {points} processes were killed");
}

/// How many processes died at one of the first so many durable steps.
fn killed_at(most: u64, problem: impl Fn(u64) -> Problem) -> u32 {
    let mut points = 0;
    for point in 0..most {
        for seed in 0..25 {
            let problem = problem(seed);
            let mut world = World::new(problem, Fault::Nothing, seed);
            let mut dice = Dice::new(seed * 100 + point);
            let node = dice.below(world.problem.nodes as u64) as usize;
            let keep = match seed % 3 {
                0 => 0,
                1 => usize::MAX,
                _ => dice.below(300) as usize,
            };
            world.kill_at(node, point, keep);
            let result = world.run().and_then(|()| world.check());
            assert_eq!(result, Ok(()), "point {point}, seed {seed}: {}", world.log.join("\n"));
            points += u32::from(world.has_died(node));
        }
    }
    println!("{points} kills");
    points
}
