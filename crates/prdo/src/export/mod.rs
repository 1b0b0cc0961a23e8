//! Runs in the formats of other tools, and figures as files.

#[cfg(feature = "raster")]
mod figures;

#[cfg(feature = "raster")]
pub use figures::{FigureError, write_figures};
pub use prdo_export::*;

use std::time::{SystemTime, UNIX_EPOCH};

/// In seconds since 1970, as event files have it.
pub fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}
