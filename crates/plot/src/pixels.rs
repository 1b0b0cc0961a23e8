//! Small grey pictures in rows: records, and what somebody made of them.

use super::area::Area;
use super::canvas::Canvas;
use super::color::Color;
use super::font::Weight;
use super::frame::draw_no_data;
use super::paint::{Anchor, Ink, Paint, Type};
use super::text::shorten;

/// The room to the left for the names of rows.
const LEFT: f64 = 150.0;
const GAP: f64 = 8.0;
/// The room above the pictures for the names of columns.
const ABOVE: f64 = 18.0;
const SIZE: f64 = 11.0;
const MOST: f64 = 120.0;

/// Rows of pictures of the same width in pixels. Values go from 0, black, to 1, white.
#[derive(Clone, Debug, Default)]
pub struct Pixels {
    pub title: String,
    /// Pixels in a line of a picture.
    pub width: usize,
    /// By row: its name and its pictures, line by line.
    pub rows: Vec<(String, Vec<Vec<f64>>)>,
    /// The names of columns; may be fewer.
    pub columns: Vec<String>,
}

impl Pixels {
    /// No pictures yet, of this many pixels a line.
    pub fn new(title: impl Into<String>, width: usize) -> Self {
        Self { title: title.into(), width, ..Self::default() }
    }

    pub fn row(mut self, name: impl Into<String>, pictures: Vec<Vec<f64>>) -> Self {
        self.rows.push((name.into(), pictures));
        self
    }

    setters! {
        columns(names: Vec<String>) => columns = names;
    }

    fn count(&self) -> usize {
        self.rows.iter().map(|(_, pictures)| pictures.len()).max().unwrap_or(0)
    }

    fn side(&self, width: f64) -> f64 {
        ((width - LEFT) / self.count().max(1) as f64 - GAP).clamp(4.0, MOST)
    }

    pub(super) fn height(&self, width: f64) -> f64 {
        ABOVE + self.rows.len().max(1) as f64 * (self.side(width) + GAP)
    }

    pub(super) fn draw(&self, canvas: &mut Canvas, area: &Area) {
        if self.count() == 0 || self.width == 0 {
            return draw_no_data(canvas, &area.without(8.0, 8.0, 8.0, 8.0));
        }
        let side = self.side(area.w);
        for (c, name) in self.columns.iter().take(self.count()).enumerate() {
            let x = area.x + LEFT + c as f64 * (side + GAP) + side / 2.0;
            let text = shorten(name, SIZE, Weight::Regular, side + GAP);
            canvas.text((x, area.y + ABOVE - 6.0), &text, Type::new(SIZE, Anchor::Middle));
        }
        for (r, (name, pictures)) in self.rows.iter().enumerate() {
            let y = area.y + ABOVE + r as f64 * (side + GAP);
            let text = shorten(name, SIZE, Weight::Regular, LEFT - 12.0);
            canvas.text(
                (area.x + LEFT - 10.0, y + side / 2.0 + 0.36 * SIZE),
                &text,
                Type::new(SIZE, Anchor::End),
            );
            for (c, picture) in pictures.iter().enumerate() {
                let x = area.x + LEFT + c as f64 * (side + GAP);
                self.draw_one(canvas, &Area::new(x, y, side, side), picture);
            }
        }
    }

    fn draw_one(&self, canvas: &mut Canvas, area: &Area, picture: &[f64]) {
        let lines = picture.len().div_ceil(self.width).max(1);
        let pixel = area.w / self.width.max(lines) as f64;
        canvas.rectangle(area, 0.0, Paint::fill(Ink::Of(Color::rgb(0, 0, 0)), 1.0));
        for (k, value) in picture.iter().enumerate() {
            // What is no number is black.
            let grey = (255.0 * value.clamp(0.0, 1.0)).round() as u8;
            let (row, column) = ((k / self.width) as f64, (k % self.width) as f64);
            // A little larger, so that no seams show between pixels; the next one covers it.
            let at = Area::new(area.x + column * pixel, area.y + row * pixel, pixel + 0.4, pixel + 0.4);
            canvas.rectangle(&at, 0.0, Paint::fill(Ink::Of(Color::rgb(grey, grey, grey)), 1.0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Figure;

    #[test]
    fn pictures_of_anything_are_drawn_without_a_panic() {
        let odd = vec![0.5, f64::NAN, -3.0, 7.0, f64::INFINITY];
        let pixels =
            Pixels::new("two", 2).row("odd", vec![odd, vec![], vec![0.2; 9]]).columns(vec!["one".into()]);
        let svg = Figure::of(pixels).to_svg();
        assert!(svg.contains("odd") && svg.contains("one") && !svg.contains("NaN"));
        for empty in [Pixels::new("none", 8), Pixels::new("none", 0).row("a", vec![vec![1.0]])] {
            assert!(Figure::of(empty).to_svg().contains("no data"));
        }
    }
}
