//! Linear models, a few records at a time: their scores are matrix products.

use prdo_data::{Feature, Table};
use prdo_kernels::Level;
use prdo_kernels::rank_one::{self, STEP};
use prdo_privacy::Records;

/// Records that are done together.
const BLOCK: usize = 16;

/// A few records with their inputs, each a line of `width` values.
pub(super) struct Block<'a> {
    pub(super) records: &'a [u32],
    pub(super) lines: &'a [f64],
    pub(super) width: usize,
}

/// Writes a record's features, and the constant behind them, over `line`.
pub(super) fn input<F: Feature>(data: &Table<F>, record: usize, constant: f64, line: &mut [f64]) {
    let row = data.row(record);
    F::numbers(row, line);
    if let Some(last) = line.get_mut(row.len()) {
        *last = constant;
    }
}

/// Calls `visit` with a few records at a time and their scores: `inputs` values a record, the last of them the constant,
/// and as many scores as `x` has rows of that many.
pub(super) fn each<F: Feature>(
    x: &[f64],
    (inputs, constant): (usize, f64),
    data: &Table<F>,
    records: Records<'_>,
    mut visit: impl FnMut(&Block<'_>, &mut [f64]),
) {
    let width = inputs.next_multiple_of(STEP);
    let mut weights = vec![0.0; x.len() / inputs * width];
    for (row, to) in x.chunks_exact(inputs).zip(weights.chunks_exact_mut(width)) {
        to[..inputs].copy_from_slice(row);
    }
    let outputs = x.len() / inputs;
    let (mut lines, mut scores) = (vec![0.0; BLOCK * width], vec![0.0; BLOCK * outputs]);
    let work = |group: &[u32]| {
        let (lines, scores) = (&mut lines[..group.len() * width], &mut scores[..group.len() * outputs]);
        for (record, line) in group.iter().zip(lines.chunks_exact_mut(width)) {
            input(data, *record as usize, constant, &mut line[..inputs]);
        }
        rank_one::scores(Level::best(), &weights, lines, width, scores);
        visit(&Block { records: group, lines, width }, scores);
    };
    each_group(records, BLOCK, work);
}

/// Calls `visit` with up to `most` records at a time.
pub(super) fn each_group(records: Records<'_>, most: usize, mut visit: impl FnMut(&[u32])) {
    let mut group = Vec::with_capacity(most);
    records.each(|r| {
        group.push(r as u32);
        if group.len() == most {
            visit(&group);
            group.clear();
        }
    });
    if !group.is_empty() {
        visit(&group);
    }
}

/// A sum of gradients, with rows as wide as a block's lines.
pub(super) struct Gradients {
    inputs: usize,
    width: usize,
    sum: Vec<f64>,
}

impl Gradients {
    pub(super) fn new(outputs: usize, inputs: usize) -> Self {
        let width = inputs.next_multiple_of(STEP);
        Self { inputs, width, sum: vec![0.0; outputs * width] }
    }

    /// Adds the outer products of the block's slopes and inputs.
    pub(super) fn add(&mut self, block: &Block<'_>, slopes: &[f64]) {
        rank_one::add(Level::best(), slopes, block.lines, block.width, &mut self.sum);
    }

    /// Adds all of them to `out`.
    pub(super) fn add_to(&self, out: &mut [f64]) {
        for (row, out) in self.sum.chunks_exact(self.width).zip(out.chunks_exact_mut(self.inputs)) {
            out.iter_mut().zip(row).for_each(|(o, s)| *o += s);
        }
    }
}
