//! What a network costs by plain matrix products: the measure for the engine's portable code.
//!
//! A convolution is a product with the matrix of its input's patches, and so are its two gradients. Only the products
//! are timed, with operands already laid out as they are read best: no patches are gathered, nothing is activated,
//! pooled, clipped or added. A real program that works this way is slower.

use prdo::network::{Layer, Spec};
use std::hint::black_box;
use std::time::Instant;

/// Rows and columns of the block of C that stays in registers.
const ROWS: usize = 4;
const COLUMNS: usize = 8;
/// How much of the inner dimension is done at a time, so that a panel of B stays in the first-level cache.
const DEPTH: usize = 256;

/// A product of matrices: C = A·B.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Size {
    rows: usize,
    inner: usize,
    columns: usize,
}

/// A, B in panels, and C.
struct Operands {
    size: Size,
    a: Vec<f32>,
    b: Vec<f32>,
    c: Vec<f32>,
}

/// The products of one record's gradient, for its convolutions.
pub struct Products {
    operands: Vec<Operands>,
}

impl Products {
    pub fn new(spec: &Spec) -> Self {
        let value = |i: usize| (i % 1000) as f32 * 1e-3 - 0.5;
        let operand = |size: Size| {
            let a = (0..size.rows * size.inner).map(value).collect();
            let b = (0..size.columns.div_ceil(COLUMNS) * COLUMNS * size.inner).map(value).collect();
            Operands { size, a, b, c: vec![0.0; size.rows * size.columns] }
        };
        Self { operands: sizes(spec).into_iter().map(operand).collect() }
    }

    /// Floating-point operations of all of them.
    pub fn flops(&self) -> u64 {
        self.operands.iter().map(|o| 2 * (o.size.rows * o.size.inner * o.size.columns) as u64).sum()
    }

    /// Seconds to do all of them once.
    pub fn time(&mut self) -> f64 {
        let started = Instant::now();
        for Operands { size, a, b, c } in &mut self.operands {
            c.fill(0.0);
            multiply(*size, black_box(a), black_box(b), c);
            black_box(c);
        }
        started.elapsed().as_secs_f64()
    }
}

/// Forward, gradient of the weights, gradient of the input (which the first layer does not need).
fn sizes(spec: &Spec) -> Vec<Size> {
    let mut sizes = Vec::new();
    for (number, layer) in spec.layers().iter().enumerate() {
        let Layer::Conv { out, kernel, .. } = *layer else { continue };
        let patch = spec.input_of(number).channels * kernel * kernel;
        let pixels = spec.shapes()[number].height * spec.shapes()[number].width;
        let first = sizes.is_empty();
        sizes.push(Size { rows: out, inner: patch, columns: pixels });
        sizes.push(Size { rows: out, inner: pixels, columns: patch });
        if !first {
            sizes.push(Size { rows: patch, inner: out, columns: pixels });
        }
    }
    sizes
}

/// C += A·B, with A and C row by row and B in panels of [`COLUMNS`] columns, each `[inner][COLUMNS]`.
fn multiply(size: Size, a: &[f32], b: &[f32], c: &mut [f32]) {
    let Size { inner, columns, .. } = size;
    for from in (0..inner).step_by(DEPTH) {
        let depth = DEPTH.min(inner - from);
        for (number, panel) in b.chunks_exact(inner * COLUMNS).enumerate() {
            let panel = &panel[from * COLUMNS..(from + depth) * COLUMNS];
            let first = number * COLUMNS;
            let width = COLUMNS.min(columns - first);
            for (a, c) in a.chunks(ROWS * inner).zip(c.chunks_mut(ROWS * columns)) {
                // A short last block reads its first row again and stores only what there is.
                let row = |r: usize| {
                    let start = if r * inner < a.len() { r * inner } else { 0 };
                    &a[start + from..start + from + depth]
                };
                let sums = block([row(0), row(1), row(2), row(3)], panel);
                for (sums, c) in sums.iter().zip(c.chunks_exact_mut(columns)) {
                    c[first..first + width].iter_mut().zip(sums).for_each(|(c, s)| *c += s);
                }
            }
        }
    }
}

/// Four rows of A with one panel of B. Written so that its sums stay in registers however the crate is built: a plain
/// product that the compiler makes nothing of would flatter the engine.
#[inline(always)]
fn block(a: [&[f32]; ROWS], panel: &[f32]) -> [[f32; COLUMNS]; ROWS] {
    let [mut s0, mut s1, mut s2, mut s3] = [[0.0; COLUMNS]; ROWS];
    let (panel, _) = panel.as_chunks::<COLUMNS>();
    let rows = a[0].iter().zip(a[1]).zip(a[2]).zip(a[3]);
    for (b, (((a0, a1), a2), a3)) in panel.iter().zip(rows) {
        add(&mut s0, *a0, b);
        add(&mut s1, *a1, b);
        add(&mut s2, *a2, b);
        add(&mut s3, *a3, b);
    }
    [s0, s1, s2, s3]
}

#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "iterators here are not made vectors of in every build")]
fn add(sums: &mut [f32; COLUMNS], a: f32, b: &[f32; COLUMNS]) {
    for n in 0..COLUMNS {
        sums[n] += a * b[n];
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use prdo::network::Shape;

    #[test]
    fn products_are_their_definition_at_any_size() {
        for (rows, inner, columns) in [(1_usize, 1_usize, 1_usize), (5, 300, 11), (8, 27, 16), (7, 600, 3)] {
            let a: Vec<f32> = (0..rows * inner).map(|i| (i * 7 % 11) as f32 - 5.0).collect();
            let panels = columns.div_ceil(COLUMNS);
            let b: Vec<f32> = (0..panels * inner * COLUMNS).map(|i| (i * 5 % 13) as f32 - 6.0).collect();
            let mut c = vec![1.0; rows * columns];
            multiply(Size { rows, inner, columns }, &a, &b, &mut c);
            for (i, found) in c.iter().enumerate() {
                let (r, n) = (i / columns, i % columns);
                let at = |k: usize| b[(n / COLUMNS * inner + k) * COLUMNS + n % COLUMNS];
                let exact = 1.0 + (0..inner).map(|k| a[r * inner + k] * at(k)).sum::<f32>();
                assert_eq!(*found, exact, "{rows}x{inner}x{columns}: ({r}, {n})");
            }
        }
    }

    #[test]
    fn the_products_are_nearly_all_of_a_network() {
        let spec = Spec::named("vgg-small", Shape::new(3, 32, 32), 10).unwrap().unwrap();
        let share = Products::new(&spec).flops() as f64 / spec.flops() as f64;
        assert!((0.98..1.0).contains(&share), "{share}");
    }
}
