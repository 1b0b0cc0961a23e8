//! The clipped sum of a batch whose gradients come from a single-precision [`Engine`].

use crate::answer::Diagnostics;
use crate::clip::{self, Clip};
use crate::engine::{Engine, Piece, Worker};
use crate::grid::Grid;
use crate::protection::Protection;
use crate::query::Query;
use prdo_kernels::clip as kernel;
use prdo_kernels::{LANES, Level, Memory};
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How much the norm of a computed contribution may exceed its bound, relative: the sum of squares, a difference
/// and two products rounded once each, and the factor rounded to single precision. Generously.
pub(super) const RELATIVE_ERROR: f64 = kernel::SQUARES_ERROR + 16.0 * f32::EPSILON as f64;

/// The largest squared norm of an outer product's rows or columns. Records beyond it are left out as those are whose
/// values are not finite: a vector scaled by a factor of its own could overflow although the product is small.
const LARGEST_SQUARES: f64 = 1e30;

/// Records whose contributions of at most 2²⁵ steps per coordinate still fit in 32 bits.
const RECORDS_PER_FLUSH: usize = 63;

/// Exact sum, on the grid, of the batch's clipped contributions, in the order of the model's parameters.
pub(super) fn clipped_sum<D: Sync, P: Protection>(
    engine: &dyn Engine<D>,
    data: &D,
    query: &Query<'_, P>,
    rules: (&Clip, Grid),
    batch: &[u32],
) -> (Vec<i64>, Diagnostics) {
    let mut points = vec![query.at.as_slice()];
    points.extend(query.difference.map(|d| d.previous.as_slice()));
    let ready = engine.prepare(&points);
    let coordinates = engine.coordinates();
    let threads = rayon::current_num_threads();
    let groups = groups(batch, ready.worker().group().clamp(1, RECORDS_PER_FLUSH), threads);
    let next = AtomicUsize::new(0);
    // A thread that is held up takes fewer groups; one that comes when all is done makes no sum at all.
    let part = |_| {
        let mut records = *groups.get(next.fetch_add(1, Ordering::Relaxed))?;
        let mut sum = Sum::new(query, rules, coordinates);
        let mut worker = ready.worker();
        loop {
            sum.make_room(records.len());
            worker.load(data, records);
            sum.add(&mut *worker, records.len());
            records = match groups.get(next.fetch_add(1, Ordering::Relaxed)) {
                Some(more) => more,
                None => return Some(sum),
            };
        }
    };
    let parts = (0..threads.min(groups.len())).into_par_iter().with_max_len(1).filter_map(part);
    // The sum is cleared by whoever has time for it: no thread waits.
    let (parts, mut sum) =
        rayon::join(|| parts.collect::<Vec<Sum<'_, P>>>(), || vec![0; engine.places().len()]);
    let mut counts = Diagnostics::default();
    parts.iter().for_each(|part| counts.add(&part.counts));
    let join = |(sum, places): (&mut [i64], &[u32])| parts.iter().for_each(|part| part.add_to(sum, places));
    sum.par_chunks_mut(JOINED).zip(engine.places().par_chunks(JOINED)).for_each(join);
    (sum, counts)
}

/// Parameters whose sums a thread puts together at a time.
const JOINED: usize = 1 << 14;

/// A batch in groups of at most `most`, as many for each thread, and the last ones half as large: if a thread falls
/// behind, the others do not wait long for it.
fn groups(batch: &[u32], most: usize, threads: usize) -> Vec<&[u32]> {
    let count = batch.len().div_ceil(most * threads) * threads;
    let mut groups = Vec::with_capacity(count + threads);
    for number in 0..count {
        let at = |number: usize| number * batch.len() / count;
        let group = batch.get(at(number)..at(number + 1)).unwrap_or_default();
        let last = threads > 1 && number + threads >= count;
        let (first, second) = group.split_at(if last { group.len().div_ceil(2) } else { group.len() });
        groups.extend([first, second].into_iter().filter(|group| !group.is_empty()));
    }
    groups
}

/// What a record's gradient, and its difference, are multiplied by, in steps of the grid; `None`: it is left out.
type Factors = Option<(f32, Option<f32>)>;

struct Sum<'a, P: Protection> {
    query: &'a Query<'a, P>,
    clip: &'a Clip,
    grid: Grid,
    level: Level,
    /// The last few records, in 32 bits: half the memory traffic of 64.
    recent: Memory<i32>,
    records: usize,
    /// All records before those; empty as long as there are none.
    total: Vec<i64>,
    counts: Diagnostics,
}

impl<'a, P: Protection> Sum<'a, P> {
    fn new(query: &'a Query<'a, P>, (clip, grid): (&'a Clip, Grid), coordinates: usize) -> Self {
        Self {
            query,
            clip,
            grid,
            level: Level::best(),
            recent: Memory::zeros(coordinates),
            records: 0,
            total: Vec::new(),
            counts: Diagnostics::default(),
        }
    }

    /// Flushes the 32-bit sum if `records` more might overflow it.
    fn make_room(&mut self, records: usize) {
        if self.records + records > RECORDS_PER_FLUSH {
            self.flush();
        }
        self.records += records;
    }

    fn flush(&mut self) {
        self.total.resize(self.recent.len(), 0);
        for (t, r) in self.total.iter_mut().zip(self.recent.iter_mut()) {
            *t += i64::from(std::mem::take(r));
        }
        self.records = 0;
    }

    fn add_to(&self, sums: &mut [i64], places: &[u32]) {
        kernel::add_from_places(sums, &self.recent, places);
        if !self.total.is_empty() {
            kernel::add_from_places(sums, &self.total, places);
        }
    }

    /// Adds the `count` records that `worker` has loaded.
    fn add<D>(&mut self, worker: &mut dyn Worker<D>, count: usize) {
        let mut factors = Vec::with_capacity(count);
        for which in 0..count {
            let found = self.factors(worker, which);
            if let Some(found) = found {
                self.add_dense(&*worker, which, found);
            }
            factors.push(found);
        }
        self.add_outer(&*worker, &factors);
    }

    /// Clips: the norms of the gradient and of the difference, and what follows from them.
    fn factors<D>(&mut self, worker: &mut dyn Worker<D>, which: usize) -> Factors {
        self.counts.records += 1;
        self.counts.evaluations += self.query.evaluations();
        let (norm, difference_norm) = self.norms(worker, which);
        if !(norm.is_finite() && difference_norm.is_none_or(f64::is_finite)) {
            self.counts.non_finite += 1;
            return None;
        }
        let factor = |weight, norm, bound| single(clip::factor(weight, norm, bound) / self.grid.spacing());
        let bound = self.clip.gradient();
        self.counts.clipped_gradients += u64::from(norm > bound && self.query.gradient_weight > 0.0);
        let gradient = factor(self.query.gradient_weight, norm, bound);
        let Some((term, norm)) = self.query.difference.zip(difference_norm) else {
            return Some((gradient, None));
        };
        let bound = self.clip.difference();
        self.counts.differences += 1;
        self.counts.clipped_differences += u64::from(norm > bound);
        Some((gradient, Some(factor(term.weight, norm, bound))))
    }

    /// At least the norms of the gradient and, if it is asked for, of the difference that will be added.
    fn norms<D>(&self, worker: &mut dyn Worker<D>, which: usize) -> (f64, Option<f64>) {
        let (mut squares, mut of_difference, mut slack) = (0.0, 0.0, 0.0);
        for n in 0..worker.pieces() {
            worker.differentiate(which, n);
            let first = worker.piece(0, which, n);
            if self.query.difference.is_none() {
                squares += self.squares(first);
                continue;
            }
            let [of_first, of_both, error] = self.both_squares(first, worker.piece(1, which, n));
            squares += of_first;
            of_difference += of_both;
            slack += error;
        }
        let difference = self.query.difference.map(|_| norm_from(of_difference) + slack);
        (norm_from(squares), difference)
    }

    fn squares(&self, piece: Piece<'_>) -> f64 {
        match piece {
            Piece::Dense(values) => kernel::sum_of_squares(self.level, values),
            Piece::Outer { rows, columns } => outer_squares(dot(rows, rows), dot(columns, columns)),
        }
    }

    /// ‖first‖², ‖first − second‖², and what the norm of the computed difference may exceed its root by.
    ///
    /// For outer products r₁⊗c₁ − r₂⊗c₂ = Δr⊗c₁ + r₂⊗Δc: small numbers from small numbers. Where the two terms
    /// cancel, rounding counts relative to the terms and not to what is left, and is added on top.
    fn both_squares(&self, first: Piece<'_>, second: Piece<'_>) -> [f64; 3] {
        match (first, second) {
            (Piece::Outer { rows: r1, columns: c1 }, Piece::Outer { rows: r2, columns: c2 }) => {
                let (dr, dc) = (difference(r1, r2), difference(c1, c2));
                let (rows, columns) = (dot(r2, r2), dot(c1, c1));
                let along = outer_squares(dot(&dr, &dr), columns);
                let across = outer_squares(rows, dot(&dc, &dc));
                let both = along + 2.0 * dot(&dr, r2) * dot(c1, &dc) + across;
                // Single precision in what is added, and double precision in the sums behind `both`.
                let terms = (r1.len() + c1.len()) as f64 / LANES as f64 + 40.0;
                let rounding = 4.0 * f64::from(f32::EPSILON) + 1.1e-8 * terms.sqrt();
                let error = (along.sqrt() + across.sqrt()) * rounding;
                // `max` would turn what is not a number into 0.
                [outer_squares(dot(r1, r1), columns), if both < 0.0 { 0.0 } else { both }, error]
            }
            (Piece::Dense(a), Piece::Dense(b)) => {
                let [squares, differences] = kernel::sums_of_squares(self.level, a, b);
                [squares, differences, 0.0]
            }
            // An engine whose pieces differ from point to point: nothing of it may be added.
            _ => [f64::NAN; 3],
        }
    }

    fn add_dense<D>(
        &mut self,
        worker: &dyn Worker<D>,
        which: usize,
        (gradient, difference): (f32, Option<f32>),
    ) {
        let mut at = 0;
        for n in 0..worker.pieces() {
            let piece = worker.piece(0, which, n);
            let len = piece.len();
            if let Piece::Dense(first) = piece {
                let sum = &mut self.recent[at..at + len];
                match difference.map(|factor| (factor, worker.piece(1, which, n))) {
                    Some((factor, Piece::Dense(second))) => {
                        kernel::add_difference(self.level, sum, gradient, factor, first, second);
                    }
                    _ => kernel::add(self.level, sum, gradient, first),
                }
            }
            at += len;
        }
    }

    /// The outer products of all loaded records at once: the sum is read and written once for all of them.
    fn add_outer<D>(&mut self, worker: &dyn Worker<D>, factors: &[Factors]) {
        let mut at = 0;
        for n in 0..worker.pieces() {
            let len = worker.piece(0, 0, n).len();
            let terms = factors.iter().enumerate().filter_map(|(which, factors)| {
                let (gradient, difference) = (*factors)?;
                let second = difference.map(|factor| (factor, worker.piece(1, which, n)));
                Term::new(gradient, worker.piece(0, which, n), second)
            });
            let terms: Vec<Term<'_>> = terms.collect();
            let outers: Vec<kernel::Outer<'_>> = terms.iter().map(Term::outer).collect();
            kernel::add_outers(self.level, &mut self.recent[at..at + len], &outers);
            at += len;
        }
    }
}

/// One record's outer product, scaled: along⊗columns + across⊗Δcolumns.
struct Term<'a> {
    along: Vec<f32>,
    columns: &'a [f32],
    across: Option<(Vec<f32>, Vec<f32>)>,
}

impl<'a> Term<'a> {
    /// `gradient`·first + factor·(first − second); `None` for dense pieces.
    fn new(gradient: f32, first: Piece<'a>, second: Option<(f32, Piece<'a>)>) -> Option<Self> {
        let Piece::Outer { rows: r1, columns: c1 } = first else { return None };
        let Some((factor, Piece::Outer { rows: r2, columns: c2 })) = second else {
            return Some(Self {
                along: r1.iter().map(|r| gradient * r).collect(),
                columns: c1,
                across: None,
            });
        };
        let along = r1.iter().zip(r2).map(|(r1, r2)| gradient * r1 + factor * (r1 - r2)).collect();
        let across = (r2.iter().map(|r| factor * r).collect(), difference(c1, c2));
        Some(Self { along, columns: c1, across: Some(across) })
    }

    fn outer(&self) -> kernel::Outer<'_> {
        let across = self.across.as_ref().map(|(rows, columns)| (rows.as_slice(), columns.as_slice()));
        kernel::Outer { along: &self.along, columns: self.columns, across }
    }
}

/// ‖rows⊗columns‖² from ‖rows‖² and ‖columns‖²; not a number if one of them is too large.
fn outer_squares(rows: f64, columns: f64) -> f64 {
    let fits = rows <= LARGEST_SQUARES && columns <= LARGEST_SQUARES;
    if fits { rows * columns } else { f64::NAN }
}

/// A factor in single precision; 0 where that would lose its digits, because contributing nothing is always allowed.
fn single(factor: f64) -> f32 {
    let factor = factor as f32;
    if factor.abs() < f32::MIN_POSITIVE { 0.0 } else { factor }
}

/// The norm behind a sum of squares, a little more than it: squares below 1e-38 vanish in single precision.
fn norm_from(squares: f64) -> f64 {
    squares.sqrt() + 1e-15
}

/// aᵀb in double precision, in sixteen running sums.
fn dot(a: &[f32], b: &[f32]) -> f64 {
    let mut sums = [0.0; LANES];
    for (a, b) in a.chunks(LANES).zip(b.chunks(LANES)) {
        for ((s, a), b) in sums.iter_mut().zip(a).zip(b) {
            *s += f64::from(*a) * f64::from(*b);
        }
    }
    sums.iter().sum()
}

fn difference(a: &[f32], b: &[f32]) -> Vec<f32> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_hold_every_record_once_and_are_shared_out_evenly() {
        for len in [0, 1, 2, 7, 8, 9, 16, 50, 99, 100, 101, 1000] {
            let batch: Vec<u32> = (0..len).collect();
            for (most, threads) in [(1, 1), (8, 1), (8, 2), (8, 3), (63, 2), (4, 16)] {
                let groups = groups(&batch, most, threads);
                assert_eq!(groups.concat(), batch);
                assert!(groups.iter().all(|group| (1..=most).contains(&group.len())));
                // No more groups than a batch in order would have, but for one round and the halves of the last.
                assert!(groups.len() <= batch.len().div_ceil(most) + 2 * threads);
            }
        }
    }
}
