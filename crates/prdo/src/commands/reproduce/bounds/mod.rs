//! The paper's theorem and every inequality of its proof, held against runs of the paper's setting: the same gates,
//! noise and method as any other run, on problems with known constants.

mod case;
mod evidence;
mod inequality;
mod modes;
mod page;
mod problem;
mod results;
mod slope;
mod trace;
mod verdict;

use crate::cli::ExperimentArgs;
use crate::commands::{Failure, compare};
use crate::progress::{Progress, say};
use case::{Case, Network};
use evidence::Evidence;
use prdo::output::Folder;
use problem::Problem;
use rayon::prelude::*;
use results::{Results, Summary};
use slope::Fall;
use std::sync::Mutex;
use std::time::Instant;
use verdict::Finding;

/// How much is run.
pub struct Extent {
    horizons: &'static [u32],
    seeds: u64,
    slope_horizons: &'static [u32],
    slope_seeds: u64,
}

const FULL: Extent = Extent {
    horizons: &[100, 316, 1000],
    seeds: 20,
    slope_horizons: &[100, 178, 316, 562, 1000, 1778, 3162, 5623],
    slope_seeds: 6,
};
const QUICK: Extent = Extent { horizons: &[30], seeds: 4, slope_horizons: &[20, 60, 200], slope_seeds: 2 };

pub fn run(args: &ExperimentArgs) -> Result<(), Failure> {
    let extent = if args.quick { QUICK } else { FULL };
    let folder = Folder::create(args.out.out.as_deref(), "bounds", args.out.overwrite)?;
    let results = measure(&extent, args.quick)?;
    page::write(&folder, &results)?;
    if args.out.json {
        say(&results.to_json().to_string());
    } else {
        say(&results.about());
        say("");
        let (head, rows) = results.table();
        compare::print_table(&head, &rows);
        say("");
        let (head, rows) = results.slopes();
        compare::print_table(&head, &rows);
        say("");
        say(&results.verdict());
        let report = folder.path().join("report.html");
        say(&format!("{:.1} s; report: {}", results.seconds, report.display()));
    }
    match results.violated() {
        0 => Ok(()),
        n => Err(Failure::Work(format!("{n} inequalities do not hold on these runs"))),
    }
}

/// Runs everything.
fn measure(extent: &Extent, quick: bool) -> Result<Results, Failure> {
    let started = Instant::now();
    let (problems, networks) = (Problem::all()?, Network::all()?);
    let cases = cases(&problems, &networks, extent.horizons)?;
    let falls: Vec<(&Problem, &Network)> =
        problems.iter().flat_map(|p| networks.iter().map(move |n| (p, n))).collect();
    let runs = cases.len() as u64 * extent.seeds
        + (falls.len() * extent.slope_horizons.len()) as u64 * extent.slope_seeds;
    let progress = Mutex::new((Progress::new(runs, "runs"), 0));
    let tick = || {
        if let Ok(mut guard) = progress.lock() {
            guard.1 += 1;
            let done = guard.1;
            guard.0.at(done, String::new);
        }
    };
    let judge = |case: &Case<'_>| -> Result<(Summary, Vec<Finding>), Failure> {
        let evidence = Evidence::gather(case, extent.seeds, &tick)?;
        let findings = inequality::ALL.iter().map(|one| Finding::of(one, &evidence)).collect();
        Ok((Summary::of(&evidence), findings))
    };
    let judged = cases.par_iter().map(judge).collect::<Result<Vec<_>, Failure>>()?;
    let plan = (extent.slope_horizons, extent.slope_seeds);
    let fall = |(problem, network): &(&Problem, &Network)| Fall::measure(problem, network, plan, &tick);
    let falls = falls.par_iter().map(fall).collect::<Result<Vec<_>, Failure>>()?;
    if let Ok(mut guard) = progress.lock() {
        guard.0.finish();
    }
    let seconds = started.elapsed().as_secs_f64();
    Ok(Results::new(judged, falls, extent.seeds, extent.slope_seeds, quick, seconds))
}

/// Every problem on every network over every horizon, without noise and with it.
fn cases<'a>(
    problems: &'a [Problem],
    networks: &'a [Network],
    horizons: &[u32],
) -> Result<Vec<Case<'a>>, Failure> {
    let mut cases = Vec::new();
    for problem in problems {
        for network in networks {
            for rounds in horizons {
                for private in [false, true] {
                    cases.push(Case::new(problem, network, *rounds, private)?);
                }
            }
        }
    }
    Ok(cases)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
