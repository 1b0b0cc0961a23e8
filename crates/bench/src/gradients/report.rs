//! What was measured, for programs and for people.

use super::super::{Block, line, table};
use super::measure::{Measured, OfLevel, Series, Setting};
use prdo_kernels::Level;
use serde_json::{Value as Json, json};

/// Records per second and what they amount to.
struct Speed {
    best: f64,
    median: f64,
    gflops: f64,
    fraction: f64,
}

/// Of rounds of `batch` records with `gradients` gradients each.
fn speed(found: &Measured, series: &Series, batch: usize, gradients: u64, peak: f64) -> Speed {
    let best = batch as f64 / series.best();
    let gflops = best * (gradients * found.flops) as f64 / 1e9;
    Speed { best, median: batch as f64 / series.median(), gflops, fraction: gflops / peak }
}

/// On one thread and on all, against the peak of as many.
fn speeds(setting: &Setting, found: &Measured, series: &[Series; 2], gradients: u64) -> [Speed; 2] {
    [0, 1].map(|k| speed(found, &series[k], setting.batch, gradients, found.peak[k]))
}

/// What nine shares, of noise in pairs between ten nodes, add to a difference round with noise, on one thread and on all.
fn shares_of_a_round(found: &Measured) -> [f64; 2] {
    [0, 1].map(|k| found.shares[k] / (found.noise[k] + found.difference[k].best()))
}

/// The noise's share of a difference round with it, on one thread and on all.
fn noise_shares(found: &Measured) -> [f64; 2] {
    [0, 1].map(|k| found.noise[k] / (found.noise[k] + found.difference[k].best()))
}

fn products_per_second(found: &Measured) -> f64 {
    1.0 / found.products.0.best()
}

/// The engine's portable code beside plain matrix products.
fn portable_ratio(found: &Measured) -> Option<f64> {
    let portable = found.levels.iter().find(|of| of.level == Level::PORTABLE)?;
    Some(found.level_batch as f64 / portable.plain.best() / products_per_second(found))
}

pub fn json(setting: &Setting, found: &Measured) -> Json {
    let one = |s: &Speed| {
        json!({
            "records_per_second": s.best,
            "gflops": s.gflops,
            "fraction_of_peak": s.fraction,
            "median": s.median,
        })
    };
    let both = |series: &[Series; 2], gradients| {
        let [single, all] = speeds(setting, found, series, gradients);
        let mut answer = one(&all);
        answer["one_thread"] = one(&single);
        answer["scaling"] = json!(all.best / single.best);
        answer
    };
    let private = speed(found, &found.private, setting.batch, 2, found.peak[1]);
    let shares = noise_shares(found);
    let level = |of: &OfLevel| {
        json!({
            "level": of.level.name(),
            "fma_peak_gflops": of.peak,
            "plain": one(&speed(found, &of.plain, found.level_batch, 1, of.peak)),
            "difference": one(&speed(found, &of.difference, found.level_batch, 2, of.peak)),
        })
    };
    let (products, operations) = &found.products;
    json!({
        "fma_peak_gflops": found.peak[1],
        "threads": setting.threads,
        "plain": both(&found.plain, 1),
        "difference": both(&found.difference, 2),
        "peak_rss_mb": found.memory,
        "data_mb": found.data,
        "fma_peak_gflops_one_thread": found.peak[0],
        "difference_with_noise": one(&private),
        "noise": {
            "seconds": found.noise[0],
            "seconds_all_threads": found.noise[1],
            "nine_shares_seconds": found.shares[0],
            "nine_shares_seconds_all_threads": found.shares[1],
            "nine_shares_of_a_difference_round": shares_of_a_round(found),
            "share_one_thread": shares[0],
            "share": shares[1],
        },
        "model": setting.model,
        "parameters": found.parameters,
        "flops": found.flops,
        "batch": setting.batch,
        "level": setting.level.name(),
        "gate_level": Level::best().name(),
        "rounds": found.plain[1].len(),
        "levels": found.levels.iter().map(level).collect::<Vec<_>>(),
        "levels_batch": found.level_batch,
        "plain_gemm": {
            "records_per_second": products_per_second(found),
            "gflops": *operations as f64 / products.best() / 1e9,
        },
        "portable_over_plain_gemm": portable_ratio(found),
    })
}

pub fn blocks(setting: &Setting, found: &Measured) -> Vec<Block> {
    let Setting { model, batch, threads, level, .. } = setting;
    let (megaflops, mark) = (found.flops as f64 / 1e6, level.name());
    let [single, all] = noise_shares(found).map(|share| 100.0 * share);
    let [ms, ms_all] = found.noise.map(|seconds| 1e3 * seconds);
    let memory = found
        .memory
        .map(|memory| line(format!("memory: {memory:.0} MB at most, {:.1} MB of them records", found.data)));
    let mut blocks = vec![
        line(format!("{model}: {} parameters, {megaflops:.1} MFLOP per gradient; {mark}", found.parameters)),
        line(format!("batch {batch}, {threads} threads, {} rounds of each kind", found.plain[1].len())),
        line(format!("multiply-add peak: {:.1} GFLOP/s, one thread {:.1}", found.peak[1], found.peak[0])),
        line(""),
        rounds(setting, found),
        line(""),
        line(format!(
            "noise: {ms:.2} ms, {single:.1} % of a difference round, on one thread; {ms_all:.2} ms, {all:.1} % on all"
        )),
        line({
            let [ms, ms_all] = found.shares.map(|seconds| 1e3 * seconds);
            let [single, all] = shares_of_a_round(found).map(|share| 100.0 * share);
            format!(
                "nine shares of noise in pairs: {ms:.2} ms, {single:.1} % of a difference round, on one thread; {ms_all:.2} ms, {all:.1} % on all"
            )
        }),
    ];
    blocks.extend(memory);
    blocks.extend([
        line(""),
        levels(found),
        line(""),
        line("Records/s of the best and of the median round. GFLOP/s and the peak's share count the definition's"),
        line("operations. Plain products: only the matrix products of the convolutions, in portable code."),
    ]);
    blocks
}

fn rounds(setting: &Setting, found: &Measured) -> Block {
    let row = |what: &str, Speed { best, median, gflops, fraction }: &Speed| {
        let share = format!("{:.0} %", 100.0 * fraction);
        vec![what.to_string(), format!("{best:.0}"), format!("{median:.0}"), format!("{gflops:.1}"), share]
    };
    let mut rows = Vec::new();
    for (what, series, gradients) in
        [("clipped gradients", &found.plain, 1), ("difference query", &found.difference, 2)]
    {
        let [single, all] = speeds(setting, found, series, gradients);
        let mut cells = row(what, &all);
        // One thread beside itself says nothing.
        if setting.threads > 1 {
            cells.push(format!("{:.2}", all.best / single.best));
            rows.extend([cells, row("  one thread", &single)]);
        } else {
            rows.push(cells);
        }
    }
    let private = speed(found, &found.private, setting.batch, 2, found.peak[1]);
    rows.push(row("  with noise", &private));
    let head = ["", "records/s", "median", "GFLOP/s", "of the peak", "scaling"];
    table(if setting.threads > 1 { &head } else { &head[..5] }, rows)
}

fn levels(found: &Measured) -> Block {
    let rate = |series: &Series| format!("{:.0}", found.level_batch as f64 / series.best());
    let row = |of: &OfLevel| {
        vec![of.level.name().to_string(), format!("{:.1}", of.peak), rate(&of.plain), rate(&of.difference)]
    };
    let mut rows: Vec<Vec<String>> = found.levels.iter().map(row).collect();
    let ratio = portable_ratio(found).map_or_else(String::new, |r| format!("portable is {r:.2} of it"));
    let products = format!("{:.0}", products_per_second(found));
    rows.push(vec!["plain products".to_string(), String::new(), products, ratio]);
    let head = format!("one thread, batch {}", found.level_batch);
    table(&[&head, "peak GFLOP/s", "gradients/s", "difference query/s"], rows)
}
