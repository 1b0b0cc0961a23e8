//! Which inequalities hold, and how near they come to failing.

use super::evidence::Evidence;
use super::inequality::{Inequality, Sense};
use prdo::statistics::quantile;

#[derive(Clone, Default)]
pub struct Finding {
    pub checked: u64,
    /// How often a path or a conditional expectation broke it.
    pub broken: u64,
    /// The least bound over measured value, and where; of an equation, its largest failure.
    pub worst: Option<(f64, String)>,
    /// For means: by how many standard errors the measured mean lies above its bound, where it does by more than one.
    pub above: Vec<(f64, String)>,
}

/// Relative rounding of both sides.
const RELATIVE: f64 = 1e-9;

impl Finding {
    pub fn of(inequality: &Inequality, evidence: &Evidence<'_>) -> Self {
        let floor = inequality.rounding * evidence.scale;
        let mut finding = Self::default();
        if inequality.proven_variance_only && evidence.case.problem.mean_square.is_none() {
            return finding;
        }
        inequality.sides.emit(evidence, &mut |round, pairs| {
            finding.checked += 1;
            let place = || match round {
                0 => evidence.case.to_string(),
                _ => format!("{}, round {round}", evidence.case),
            };
            match inequality.sense {
                Sense::Mean => finding.mean(pairs, floor, place),
                Sense::Identity => finding.equation(pairs, place),
                Sense::Path | Sense::Conditional => finding.pair(pairs, floor, place),
            }
        });
        finding
    }

    /// An equation's failure against what rounding allows.
    fn equation(&mut self, pairs: &[(f64, f64)], place: impl Fn() -> String) {
        for (defect, allowed) in pairs {
            self.broken += u64::from(exceeds(*defect, *allowed));
            if self.worst.as_ref().is_none_or(|(worst, _)| *defect > *worst) {
                self.worst = Some((*defect, place()));
            }
        }
    }

    fn pair(&mut self, pairs: &[(f64, f64)], floor: f64, place: impl Fn() -> String) {
        for (measured, bound) in pairs {
            self.broken += u64::from(exceeds(*measured, bound * (1.0 + RELATIVE) + floor));
            self.ratio(*measured, *bound, floor, &place);
        }
    }

    /// The mean over seeds of measured − bound, against its standard error.
    fn mean(&mut self, pairs: &[(f64, f64)], floor: f64, place: impl Fn() -> String) {
        let n = pairs.len() as f64;
        let mean = |of: &dyn Fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>() / n;
        let (measured, bound) = (mean(&|pair| pair.0), mean(&|pair| pair.1));
        self.ratio(measured, bound, floor, &place);
        let excess = measured - bound - RELATIVE * bound.abs() - floor;
        if excess <= 0.0 {
            return;
        }
        let gap = measured - bound;
        let squares: f64 = pairs.iter().map(|(m, b)| (m - b - gap).powi(2)).sum();
        let error = (squares / (n - 1.0) / n).sqrt();
        let errors = if error > 0.0 { excess / error } else { f64::INFINITY };
        if exceeds(errors, 1.0) {
            self.above.push((errors, place()));
        }
    }

    fn ratio(&mut self, measured: f64, bound: f64, floor: f64, place: &impl Fn() -> String) {
        let ratio = if measured > floor { bound / measured } else { return };
        if self.worst.as_ref().is_none_or(|(worst, _)| ratio < *worst) {
            self.worst = Some((ratio, place()));
        }
    }

    pub fn add(&mut self, sense: Sense, other: Self) {
        self.checked += other.checked;
        self.broken += other.broken;
        self.above.extend(other.above);
        let worse = |new: f64, old: f64| if sense == Sense::Identity { new > old } else { new < old };
        if let Some((new, place)) = other.worst
            && self.worst.as_ref().is_none_or(|(old, _)| worse(new, *old))
        {
            self.worst = Some((new, place));
        }
    }

    /// How often it was broken, where a mean must be more than `k` standard errors above its bound to count.
    pub fn violated(&self, k: f64) -> u64 {
        self.broken + self.above.iter().filter(|(errors, _)| exceeds(*errors, k)).count() as u64
    }

    /// The largest distance above a bound, in standard errors; 0 where no mean is above its bound by one.
    pub fn most_above(&self) -> f64 {
        self.above.iter().map(|(errors, _)| *errors).fold(0.0, f64::max)
    }
}

/// Whether a number is above its limit; one that is none counts as above.
fn exceeds(value: f64, limit: f64) -> bool {
    value > limit || value.is_nan() || limit.is_nan()
}

/// The chance that one of all means, each exactly at its bound, would be called a violation.
pub const FAMILY_ERROR: f64 = 0.001;

/// By how many standard errors a mean of `seeds` runs must lie above its bound, if so many means are compared: Student's
/// quantile at [`FAMILY_ERROR`] over their number (Bonferroni).
pub fn allowance(means: u64, seeds: u64) -> f64 {
    quantile(FAMILY_ERROR / means.max(1) as f64, seeds.saturating_sub(1).max(1) as u32)
}
