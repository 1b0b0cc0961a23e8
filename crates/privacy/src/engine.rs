//! Gradients in single precision, streamed: what a large model offers the gate instead of one `f64` vector per record.
//!
//! A record's gradient is computed, clipped, added and forgotten; it is never stored for a batch. The gate reads it
//! in pieces, so that the gradient of a fully connected layer, an outer product, is never written out at all. As
//! everywhere, the engine differentiates and the gate clips: norms and factors are the gate's own arithmetic on the
//! values it adds.

/// A stretch of one record's gradient.
#[derive(Clone, Copy, Debug)]
pub enum Piece<'a> {
    Dense(&'a [f32]),
    /// `rows[i]·columns[j]`, row-major.
    Outer {
        rows: &'a [f32],
        columns: &'a [f32],
    },
}

impl Piece<'_> {
    pub fn len(&self) -> usize {
        match self {
            Piece::Dense(values) => values.len(),
            Piece::Outer { rows, columns } => rows.len() * columns.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Differentiates a model in single precision. An engine may number coordinates in an order of its own, with some
/// that are no parameter and always zero; [`Engine::places`] says where each parameter is.
pub trait Engine<D>: Send + Sync {
    fn coordinates(&self) -> usize;

    /// For each parameter the coordinate it has; no two have the same.
    fn places(&self) -> &[u32];

    /// Gets ready to differentiate at these points (one, or two for differences).
    fn prepare<'a>(&'a self, points: &[&[f64]]) -> Box<dyn Differentiator<D> + 'a>;
}

/// An engine at one or two points.
pub trait Differentiator<D>: Sync {
    /// The memory of one thread.
    fn worker<'a>(&'a self) -> Box<dyn Worker<D> + 'a>;
}

/// Differentiates a few records at a time, at every point.
///
/// The pieces of a gradient, in order of their number, make up the coordinates from the first to the last; their
/// lengths, and the columns of outer products, are multiples of 16. They must depend on no other record than the
/// one asked for, and be the same whichever records were loaded with it.
pub trait Worker<D> {
    /// How many records [`Worker::load`] takes at most.
    fn group(&self) -> usize;

    /// Takes records in. What was loaded before is forgotten.
    fn load(&mut self, data: &D, records: &[u32]);

    /// Computes piece `number` of loaded record number `which`, at every point, if it is dense. Pieces are asked
    /// for in order, so that each can be read while it is in cache.
    fn differentiate(&mut self, which: usize, number: usize);

    fn pieces(&self) -> usize;

    /// One piece of a gradient at one point: dense ones as differentiated last (of that record), outer products of
    /// any loaded record.
    fn piece(&self, point: usize, which: usize, number: usize) -> Piece<'_>;
}
