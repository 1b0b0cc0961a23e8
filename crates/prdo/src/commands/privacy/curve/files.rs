//! A curve as SVG, PNG, PDF or CSV.

use super::{Curve, Point};
use crate::cli::privacy::Against;
use crate::commands::Failure;
use crate::commands::privacy::words::up;
use prdo::output::write_atomically;
use prdo::plot::{Chart, Figure, Format, Scale, Series};
use std::path::Path;

/// What a file's name asks for.
pub enum Kind {
    Picture(Format),
    Csv,
}

impl Kind {
    /// By the name's ending.
    pub fn of(path: &Path) -> Result<Self, Failure> {
        match Format::of(path) {
            Some(format) => Ok(Self::Picture(format)),
            None if path.extension().is_some_and(|e| e == "csv") => Ok(Self::Csv),
            None => {
                let shown = path.display();
                Err(Failure::Input(format!("--out {shown}: it must end in .svg, .png, .pdf or .csv")))
            }
        }
    }
}

pub fn write(curve: &Curve, path: &Path, kind: &Kind) -> Result<(), Failure> {
    let bytes = match kind {
        Kind::Picture(format) => {
            figure(curve).render(*format).map_err(|e| Failure::Work(format!("{}: {e}", path.display())))?
        }
        Kind::Csv => csv(curve).into_bytes(),
    };
    Ok(write_atomically(path, &bytes)?)
}

fn figure(curve: &Curve) -> Figure {
    let x_label = match curve.against {
        Against::Rounds => "rounds (releases)",
        Against::Noise => "noise multiplier (standard deviation over sensitivity)",
        Against::Rate => "sampling rate (expected batch over records)",
        Against::Delta => "δ",
    };
    let line = |value: fn(&Point) -> f64| curve.points.iter().map(|p| (p.x, value(p))).collect::<Vec<_>>();
    let title = format!("Privacy loss against {}: {}", curve.title(), curve.fixed);
    // Against δ the loss changes by a small factor only: equal steps show it better.
    let y_scale = if curve.against == Against::Delta { Scale::Linear } else { Scale::Log };
    let mut chart = Chart::new(title, x_label, "ε of the whole plan")
        .x_scale(Scale::Log)
        .y_scale(y_scale)
        .series(Series::new("the paper's Rényi bound", line(|p| p.paper)).style(1))
        .series(Series::new("Rényi bound, all orders", line(|p| p.renyi)).style(2))
        .series(Series::new("exact (upper bound)", line(|p| p.exact.upper)).style(0));
    if let Some(p) = curve.points.iter().find(|p| Some(p.x) == curve.given && p.exact.upper.is_finite()) {
        let at = format!("ε ≤ {} at {}", up(p.exact.upper), curve.at(p.x));
        chart = chart.reference(p.exact.upper, at);
    }
    Figure::of(chart).panel_size(760.0, 440.0)
}

/// A bound that is not finite is left empty.
fn csv(curve: &Curve) -> String {
    let mut text = format!("{},epsilon_lower,epsilon_upper,epsilon_rdp,epsilon_rdp_paper\n", curve.key());
    let cell = |x: f64| if x.is_finite() { format!("{x:?}") } else { String::new() };
    for p in &curve.points {
        let x = if curve.against == Against::Rounds { format!("{}", p.x) } else { cell(p.x) };
        let rest = [p.exact.lower, p.exact.upper, p.renyi, p.paper].map(cell).join(",");
        text += &format!("{x},{rest}\n");
    }
    text
}
