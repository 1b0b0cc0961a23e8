//! Where nodes lie and how edges run.

use std::fmt::Write;

use super::super::area::Area;
use super::super::canvas::number;
use super::super::thin::Pixel;

/// Where a place of the unit square is drawn; NaN stays NaN.
pub(super) fn pixel(square: &Area, (x, y): (f64, f64)) -> Pixel {
    if !(x.is_finite() && y.is_finite()) {
        return (f64::NAN, f64::NAN);
    }
    (square.x + x.clamp(0.0, 1.0) * square.w, square.bottom() - y.clamp(0.0, 1.0) * square.h)
}

pub(super) fn distance(a: Pixel, b: Pixel) -> f64 {
    (a.0 - b.0).hypot(a.1 - b.1)
}

/// Whether a point lies within `radius` of the inner part of a segment.
pub(super) fn near(at: Pixel, from: Pixel, to: Pixel, radius: f64) -> bool {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let share = ((at.0 - from.0) * dx + (at.1 - from.1) * dy) / (dx * dx + dy * dy).max(1e-12);
    (0.02..0.98).contains(&share) && distance(at, (from.0 + share * dx, from.1 + share * dy)) < radius
}

/// An edge, straight or bowed by so many pixels at its middle.
pub(super) fn push_edge(data: &mut String, from: Pixel, to: Pixel, bow: Option<f64>) {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let _ = write!(data, "M{} {}", tenth(from.0), tenth(from.1));
    let Some(bow) = bow else {
        let _ = write!(data, "l{} {}", tenth(dx), tenth(dy));
        return;
    };
    // A quadratic curve passes half as far from the chord as its control point lies.
    let long = dx.hypot(dy).max(1e-9);
    let (cx, cy) = (dx / 2.0 + 2.0 * bow * dy / long, dy / 2.0 - 2.0 * bow * dx / long);
    let _ = write!(data, "q{} {} {} {}", tenth(cx), tenth(cy), tenth(dx), tenth(dy));
}

pub(super) fn tenth(value: f64) -> String {
    number((value * 10.0).round() / 10.0)
}
