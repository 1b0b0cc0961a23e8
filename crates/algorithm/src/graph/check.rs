//! The judge of a mixing matrix: the paper's assumption on the network (`ass:network`), clause by clause.
//!
//! Eigenvalues are taken from the Laplacian L = I − W, in the form (Lx)_i = Σ_j w_ij (x_i − x_j), rather than
//! from W: the gap 1 − λ of a large network is tiny, and as the smallest eigenvalue of L it keeps its digits.
//! L has the all-ones vector in its kernel exactly; a row sum's defect (at most 1e-9) goes to the diagonal.

use super::{Mixing, NetworkError, Parts, circulant, dense, lanczos};

const ROW_SUM_TOLERANCE: f64 = 1e-9;
/// By how much two mirrored weights may differ: room for rounding in a file, and no more.
const SYMMETRY_TOLERANCE: f64 = 1e-12;
/// How far below zero the smallest eigenvalue may come out.
const EIGENVALUE_TOLERANCE: f64 = 1e-9;
/// Up to this size all of the matrix is reduced; above it circulant matrices have a closed form, and Lanczos
/// looks for the ends of the other spectra.
const DENSE_NODES: usize = 600;

/// The eigenvalues of a mixing matrix that the theory speaks of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spectrum {
    /// The second largest eigenvalue λ, the paper's mixing rate; 0 for a single node.
    pub lambda: f64,
    /// λ lies within this of `lambda`, by estimate: far below the gap, unless the network is so large and slow
    /// that the work was capped. If nothing is known then, this is the whole gap: `lambda` is a lower bound
    /// and `lambda + lambda_error` = 1 an upper one.
    pub lambda_error: f64,
    /// max(|λ₂|, |λ_n|), the contraction of a matrix that is not positive semidefinite.
    pub second_magnitude: f64,
    pub smallest: f64,
    /// λ_n lies within this of `smallest`, by estimate; `smallest` is never below λ_n by more than rounding.
    pub smallest_error: f64,
    /// 1 − λ, more exact than the subtraction.
    pub spectral_gap: f64,
}

/// The ends of the Laplacian's spectrum on the space orthogonal to the all-ones vector, and their errors.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extremes {
    pub smallest: f64,
    pub smallest_error: f64,
    pub largest: f64,
    pub largest_error: f64,
}

impl Mixing {
    /// Holds W against the paper's assumption: finite, non-negative, symmetric, rows that sum to one (and so
    /// doubly stochastic), connected (and so eigenvalue one is simple), positive semidefinite.
    ///
    /// `allow_indefinite` waives the last clause, for experiments outside the theory. Takes at most about ten
    /// seconds and memory in proportion to the entries.
    pub fn check(&self, allow_indefinite: bool) -> Result<Spectrum, NetworkError> {
        self.check_entries()?;
        let spectrum = self.spectrum();
        if !allow_indefinite && spectrum.smallest < -EIGENVALUE_TOLERANCE {
            return Err(NetworkError::Indefinite { smallest: spectrum.smallest });
        }
        Ok(spectrum)
    }

    /// All clauses but the last one, without computing an eigenvalue: fast for any size.
    pub fn check_entries(&self) -> Result<(), NetworkError> {
        self.check_numbers()?;
        self.check_symmetric()?;
        self.check_rows()?;
        self.check_connected()
    }

    fn check_numbers(&self) -> Result<(), NetworkError> {
        for row in 0..self.nodes() {
            for (column, value) in self.row_entries(row) {
                if !value.is_finite() {
                    return Err(NetworkError::NotFinite { row, column, value });
                }
                if value < 0.0 {
                    return Err(NetworkError::Negative { row, column, value });
                }
            }
        }
        Ok(())
    }

    pub(super) fn check_rows(&self) -> Result<(), NetworkError> {
        for row in 0..self.nodes() {
            let sum: f64 = self.row(row).1.iter().sum();
            if (sum - 1.0).abs() > ROW_SUM_TOLERANCE {
                return Err(NetworkError::RowSum { row, sum, tolerance: ROW_SUM_TOLERANCE });
            }
        }
        Ok(())
    }

    /// Finite, non-negative, columns that add up to one, and a weight of each node for itself: what is pushed is kept, and
    /// whatever can be reached is reached in every number of rounds from some on.
    pub(super) fn check_pushing(&self) -> Result<(), NetworkError> {
        self.check_numbers()?;
        let mut sums = vec![0.0; self.nodes()];
        for row in 0..self.nodes() {
            self.row_entries(row).for_each(|(column, value)| sums[column] += value);
            if self.weight(row, row) == 0.0 {
                return Err(NetworkError::NoOwnWeight { node: row });
            }
        }
        match sums.iter().position(|sum| (sum - 1.0).abs() > ROW_SUM_TOLERANCE) {
            Some(column) => {
                Err(NetworkError::ColumnSum { column, sum: sums[column], tolerance: ROW_SUM_TOLERANCE })
            }
            None => Ok(()),
        }
    }

    /// Walks all rows at once: when row i asks for its mirror image in row j, all smaller i have asked before,
    /// so a finger in each row only ever moves forward.
    pub(super) fn check_symmetric(&self) -> Result<(), NetworkError> {
        let mut fingers = vec![0usize; self.nodes()];
        for row in 0..self.nodes() {
            for (column, value) in self.row_entries(row) {
                let (columns, weights) = self.row(column);
                let finger = &mut fingers[column];
                *finger += columns[*finger..].iter().take_while(|&&j| (j as usize) < row).count();
                let stored = columns.get(*finger).is_some_and(|&j| j as usize == row);
                let mirrored = if stored { weights[*finger] } else { 0.0 };
                if (value - mirrored).abs() > SYMMETRY_TOLERANCE || (value > 0.0) != (mirrored > 0.0) {
                    return Err(NetworkError::Asymmetric { row, column, value, mirrored });
                }
            }
        }
        Ok(())
    }

    fn check_connected(&self) -> Result<(), NetworkError> {
        let parts = Parts::of(self.nodes(), |i| {
            let (columns, weights) = self.row(i);
            columns.iter().zip(weights).filter(|(_, weight)| **weight > 0.0).map(|(&j, _)| j)
        });
        match parts.stranger() {
            Some(other) => Err(NetworkError::Disconnected { parts: parts.count, first: 0, other }),
            None => Ok(()),
        }
    }

    /// The spectrum of a matrix whose entries and connectedness have been checked.
    fn spectrum(&self) -> Spectrum {
        let nodes = self.nodes();
        if nodes <= 1 {
            return Spectrum {
                lambda: 0.0,
                lambda_error: 0.0,
                second_magnitude: 0.0,
                smallest: 1.0,
                smallest_error: 0.0,
                spectral_gap: 1.0,
            };
        }
        let ends = match nodes <= DENSE_NODES {
            true => dense::extremes(self),
            false => circulant::extremes(self).unwrap_or_else(|| lanczos::extremes(self)),
        };
        let lambda = 1.0 - ends.smallest;
        let smallest = (1.0 - ends.largest).min(lambda);
        Spectrum {
            lambda,
            lambda_error: ends.smallest_error,
            second_magnitude: lambda.abs().max(smallest.abs()),
            smallest,
            smallest_error: ends.largest_error,
            spectral_gap: ends.smallest,
        }
    }

    /// y = (I − W) x, by differences.
    pub(super) fn laplacian(&self, x: &[f64], y: &mut [f64]) {
        for (i, out) in y.iter_mut().enumerate() {
            let (columns, weights) = self.row(i);
            let own = x[i];
            *out = columns.iter().zip(weights).map(|(&j, w)| w * (own - x[j as usize])).sum();
        }
    }
}
