//! What shapes and text are drawn with.

use super::color::Color;
use super::font::Weight;

/// What something is drawn with; the theme decides the first two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Ink {
    Fore,
    /// The paper behind.
    Back,
    Of(Color),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Paint {
    pub(super) fill: Option<(Ink, f64)>,
    pub(super) stroke: Option<(Ink, f64)>,
    pub(super) opacity: f64,
    pub(super) dash: &'static str,
    pub(super) whole: bool,
}

impl Paint {
    pub(super) fn fill(ink: Ink, opacity: f64) -> Self {
        Self { fill: Some((ink, opacity)), stroke: None, opacity: 1.0, dash: "", whole: false }
    }

    pub(super) fn line(ink: Ink, width: f64, opacity: f64) -> Self {
        Self { fill: None, stroke: Some((ink, width)), opacity, dash: "", whole: false }
    }

    pub(super) fn outlined(self, ink: Ink, width: f64, opacity: f64) -> Self {
        Self { stroke: Some((ink, width)), opacity, ..self }
    }

    /// The same with its opacity applied to the drawn shape, so that parts that cross are no darker.
    /// (Renderers differ in whether the parts of one path add up; this way they agree.)
    pub(super) fn as_one(self) -> Self {
        Self { whole: true, ..self }
    }

    pub(super) fn dashed(self, dash: &'static str) -> Self {
        Self { dash, ..self }
    }
}

/// Where a text's given point lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Type {
    pub(super) size: f64,
    pub(super) weight: Weight,
    pub(super) anchor: Anchor,
    pub(super) ink: Ink,
    pub(super) opacity: f64,
    /// Degrees, clockwise, about the given point.
    pub(super) turn: f64,
    /// Whether the paper's colour surrounds the letters, so that they read upon lines.
    pub(super) halo: bool,
}

impl Type {
    pub(super) fn new(size: f64, anchor: Anchor) -> Self {
        Self { size, weight: Weight::Regular, anchor, ink: Ink::Fore, opacity: 1.0, turn: 0.0, halo: false }
    }
}
