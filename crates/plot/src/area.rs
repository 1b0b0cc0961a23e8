//! Rectangles.

use super::font::width;
use super::paint::{Anchor, Type};

/// A rectangle in pixels; y grows downwards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Area {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) w: f64,
    pub(super) h: f64,
}

impl Area {
    pub(super) fn new(x: f64, y: f64, w: f64, h: f64) -> Self {
        Self { x, y, w: w.max(1.0), h: h.max(1.0) }
    }

    pub(super) fn right(&self) -> f64 {
        self.x + self.w
    }

    pub(super) fn bottom(&self) -> f64 {
        self.y + self.h
    }

    pub(super) fn center(&self) -> (f64, f64) {
        (self.x + self.w / 2.0, self.y + self.h / 2.0)
    }

    /// The area without so much at the left, top, right and bottom.
    pub(super) fn without(&self, left: f64, top: f64, right: f64, bottom: f64) -> Self {
        Self::new(self.x + left, self.y + top, self.w - left - right, self.h - top - bottom)
    }

    pub(super) fn meets(&self, other: &Self) -> bool {
        self.x < other.right() && other.x < self.right() && self.y < other.bottom() && other.y < self.bottom()
    }

    pub(super) fn holds(&self, (x, y): (f64, f64)) -> bool {
        x >= self.x && x <= self.right() && y >= self.y && y <= self.bottom()
    }
}

/// The box a text at a baseline point fills.
pub(super) fn text_area((x, y): (f64, f64), text: &str, style: &Type) -> Area {
    let w = width(text, style.size, style.weight);
    let left = match style.anchor {
        Anchor::Start => x,
        Anchor::Middle => x - w / 2.0,
        Anchor::End => x - w,
    };
    Area::new(left, y - 0.95 * style.size, w, 1.25 * style.size)
}
