//! Models that hand the gate whatever gradients the adversary likes: in double precision, and in single precision through
//! an engine, as networks do.

use prdo_privacy::{Differentiator, Engine, Model, Piece, Worker};

/// A record is its gradient at the current point, and at any other.
pub type Record = (Vec<f64>, Vec<f64>);

pub struct ChosenGradients {
    pub dimension: usize,
    /// The first coordinate of the current point, as bits.
    pub now: u64,
}

impl Model for ChosenGradients {
    type Data = Vec<Record>;

    fn dimension(&self) -> usize {
        self.dimension
    }

    fn loss(&self, _: &[f64], _: &Vec<Record>, _: usize) -> f64 {
        0.0
    }

    fn gradient(&self, x: &[f64], data: &Vec<Record>, record: usize, gradient: &mut [f64]) {
        let Some((now, before)) = data.get(record) else { return };
        let at_now = x.first().is_some_and(|x| x.to_bits() == self.now);
        gradient.copy_from_slice(if at_now { now } else { before });
    }
}

/// Rows and columns of the outer product that every single-precision gradient ends with.
const OUTER: (usize, usize) = (2, 16);
/// The lengths of pieces are multiples of this.
const LANES: usize = 16;

/// Single precision, in two pieces: the record's values, padded, and an outer product made of them.
pub struct SingleChosenGradients {
    dimension: usize,
    places: Vec<u32>,
}

impl SingleChosenGradients {
    pub fn new(values: usize) -> Self {
        let padded = values.next_multiple_of(LANES);
        let outer = padded..padded + OUTER.0 * OUTER.1;
        let places: Vec<u32> = (0..values).chain(outer).map(|place| place as u32).collect();
        Self { dimension: places.len(), places }
    }
}

impl Model for SingleChosenGradients {
    type Data = Vec<Record>;

    fn dimension(&self) -> usize {
        self.dimension
    }

    fn loss(&self, _: &[f64], _: &Vec<Record>, _: usize) -> f64 {
        0.0
    }

    /// Not asked: the engine is.
    fn gradient(&self, _: &[f64], _: &Vec<Record>, _: usize, gradient: &mut [f64]) {
        gradient.fill(f64::NAN);
    }

    fn engine(&self) -> Option<&dyn Engine<Vec<Record>>> {
        Some(self)
    }
}

impl Engine<Vec<Record>> for SingleChosenGradients {
    fn coordinates(&self) -> usize {
        self.places.last().map_or(0, |last| *last as usize + 1)
    }

    fn places(&self) -> &[u32] {
        &self.places
    }

    fn prepare<'a>(&'a self, _: &[&[f64]]) -> Box<dyn Differentiator<Vec<Record>> + 'a> {
        Box::new(Ready)
    }
}

struct Ready;

impl Differentiator<Vec<Record>> for Ready {
    fn worker<'a>(&'a self) -> Box<dyn Worker<Vec<Record>> + 'a> {
        Box::new(Loaded(Vec::new()))
    }
}

#[derive(Default)]
struct Pieces {
    dense: Vec<f32>,
    rows: Vec<f32>,
    columns: Vec<f32>,
}

impl Pieces {
    fn of(values: &[f64]) -> Self {
        let mut dense: Vec<f32> = values.iter().map(|v| *v as f32).collect();
        dense.resize(values.len().next_multiple_of(LANES), 0.0);
        let cycle = || values.iter().map(|v| *v as f32).cycle();
        // Rows turn with the record's sign and columns do not, so the product does.
        let columns = cycle().take(OUTER.1).map(|v| v.abs().min(1.0)).collect();
        Self { dense, rows: cycle().take(OUTER.0).collect(), columns }
    }
}

struct Loaded(Vec<[Pieces; 2]>);

impl Worker<Vec<Record>> for Loaded {
    fn group(&self) -> usize {
        3
    }

    fn load(&mut self, data: &Vec<Record>, records: &[u32]) {
        let chosen = records.iter().filter_map(|r| data.get(*r as usize));
        self.0 = chosen.map(|(now, before)| [Pieces::of(now), Pieces::of(before)]).collect();
    }

    fn differentiate(&mut self, _: usize, _: usize) {}

    fn pieces(&self) -> usize {
        2
    }

    fn piece(&self, point: usize, which: usize, number: usize) -> Piece<'_> {
        match self.0.get(which).and_then(|points| points.get(point)) {
            None => Piece::Dense(&[]),
            Some(pieces) if number == 0 => Piece::Dense(&pieces.dense),
            Some(pieces) => Piece::Outer { rows: &pieces.rows, columns: &pieces.columns },
        }
    }
}
