//! A curve as SVG, PNG or CSV.

use crate::commands::Failure;
use prdo::budget::{Against, Curve};
use prdo::output::write_atomically;
use std::path::Path;

/// What a file's name asks for.
pub enum Kind {
    Svg,
    Png,
    Csv,
}

impl Kind {
    /// By the name's ending.
    pub fn of(path: &Path) -> Result<Self, Failure> {
        match path.extension().and_then(|e| e.to_str()) {
            Some("svg") => Ok(Self::Svg),
            Some("png") => Ok(Self::Png),
            Some("csv") => Ok(Self::Csv),
            _ => Err(Failure::Input(format!("--out {}: it must end in .svg, .png or .csv", path.display()))),
        }
    }
}

pub fn write(curve: &Curve, path: &Path, kind: &Kind) -> Result<(), Failure> {
    let bytes = match kind {
        Kind::Svg => curve.figure().to_svg().into_bytes(),
        Kind::Png => {
            curve.figure().to_png(2.0).map_err(|e| Failure::Work(format!("{}: {e}", path.display())))?
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
