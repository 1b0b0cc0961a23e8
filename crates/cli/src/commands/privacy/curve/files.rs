//! A curve as SVG, PNG, PDF or CSV.

use crate::commands::Failure;
use prdo::budget::{Against, Curve};
use prdo::disk::write_atomically;
use prdo::plot::Format;
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
            curve.figure().render(*format).map_err(|e| Failure::Work(format!("{}: {e}", path.display())))?
        }
        Kind::Csv => csv(curve).into_bytes(),
    };
    Ok(write_atomically(path, &bytes)?)
}

/// A bound that is not finite is left empty.
fn csv(curve: &Curve) -> String {
    let mut text =
        format!("{},epsilon_lower,epsilon_upper,epsilon_rdp,epsilon_rdp_paper\n", curve.against.key());
    let cell = |x: f64| if x.is_finite() { format!("{x:?}") } else { String::new() };
    for p in &curve.points {
        let x = if curve.against == Against::Rounds { format!("{}", p.x) } else { cell(p.x) };
        let rest = [p.exact.lower, p.exact.upper, p.renyi, p.paper].map(cell).join(",");
        text += &format!("{x},{rest}\n");
    }
    text
}
