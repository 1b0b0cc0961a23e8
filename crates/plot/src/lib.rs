//! Figures for papers and reports, drawn as SVG by our own code and rendered to PNG and PDF (feature `raster`) with a
//! bundled font, so that all look alike on any machine.
//!
//! A [`Figure`] is a grid of panels; a panel is a [`Chart`] of lines with their spread, [`Bars`], the picture
//! of a [`Network`], a [`Heat`] table of classes by nodes or a row of small pictures ([`Pixels`]). No input panics: what cannot be drawn (a NaN,
//! zero on a logarithmic axis, an edge to no node) is left out, and a picture of nothing says "no data".
//!
//! ```text
//! values → scale, ticks → frame → thinned curves → legend and labels where they hide least → SVG → PNG, PDF
//! ```
//!
//! In here nothing reads a file, a clock or a system font, and no SVG element has an `id`, so that figures
//! can share an HTML page. There a figure of [`Theme::Page`] takes its text colour from the page
//! (`currentColor`); a page may set `.plot-back { fill: … }` to its own background to give legends a ground.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

/// Methods that give the same with one field changed.
macro_rules! setters {
    ($($name:ident($($value:ident: $type:ty),*) => $field:ident = $new:expr;)*) => {$(
        pub fn $name(mut self, $($value: $type),*) -> Self {
            self.$field = $new;
            self
        }
    )*};
}

mod area;
mod bars;
mod canvas;
mod chart;
mod color;
mod curves;
mod figure;
mod font;
#[cfg(feature = "raster")]
mod format;
mod frame;
mod heat;
mod legend;
mod network;
mod paint;
#[cfg(feature = "raster")]
mod pdf;
mod pixels;
mod place;
#[cfg(feature = "raster")]
mod png;
mod scale;
mod series;
mod text;
mod thin;
mod ticks;

pub use bars::{Bar, Bars, Direction};
pub use chart::{Chart, LegendPlace, Reference};
pub use color::Color;
pub use figure::{Figure, Panel};
#[cfg(feature = "raster")]
pub use format::Format;
pub use heat::Heat;
pub use network::Network;
pub use pixels::Pixels;
pub use scale::Scale;
pub use series::Series;

/// What a figure is drawn for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// Dark text on white.
    #[default]
    Paper,
    /// An HTML page: no background, text and axes in the page's text colour, light or dark.
    Page,
}

/// Why a figure could not be rendered.
#[cfg(feature = "raster")]
#[derive(Debug, thiserror::Error)]
pub enum PlotError {
    #[error("scale {scale}: want a finite number above 0")]
    Scale { scale: f32 },
    #[error("a picture of {width} × {height} pixels is too large: want at most 20000 per side")]
    TooLarge { width: f32, height: f32 },
    #[error("the figure's SVG could not be read back: {0}")]
    Svg(String),
    #[error("the figure could not be encoded: {0}")]
    Encode(String),
}

/// The README's example is compiled and run with the documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
