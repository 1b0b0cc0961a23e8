//! The lines of a chart: broken where there is no value, thinned to what a pixel can show, with band and
//! markers.

use super::area::Area;
use super::canvas::{Canvas, number};
use super::frame::Frame;
use super::paint::{Ink, Paint};
use super::series::{Look, Series, draw_marker};
use super::thin::{self, Pixel};

pub(super) struct Curve {
    /// The unbroken pieces of the line.
    runs: Vec<Vec<Pixel>>,
    /// The unbroken pieces of the band: x, lower edge, upper edge.
    bands: Vec<Vec<(f64, f64, f64)>>,
    look: Look,
    /// Whether there are so few points that every one gets a marker.
    few: bool,
}

impl Curve {
    pub(super) fn new(series: &Series, look: Look, frame: &Frame) -> Self {
        let pixels = series.points.iter().map(|&(x, y)| Some((frame.x.pixel(x)?, frame.y.pixel(y)?)));
        let runs: Vec<_> = runs(pixels).iter().map(|run| thin::line(run)).collect();
        let band = series.band.as_deref().unwrap_or_default();
        let edges = series.points.iter().zip(band).map(|(&(x, _), &(low, high))| {
            // A lower edge at or below zero on a logarithmic axis lies below any such axis.
            let floor = (low.is_finite() && low <= 0.0).then_some(frame.plot.bottom() + 50.0);
            Some((frame.x.pixel(x)?, frame.y.pixel(low).or(floor)?, frame.y.pixel(high)?))
        });
        let bands = self::runs(edges).iter().map(|run| thin::band(run)).collect();
        Self { runs, bands, look, few: series.points.len() <= 12 }
    }

    pub(super) fn outline(&self) -> Vec<Vec<Pixel>> {
        let lower = self.bands.iter().map(|run| run.iter().map(|&(x, low, _)| (x, low)).collect());
        let upper = self.bands.iter().map(|run| run.iter().map(|&(x, _, high)| (x, high)).collect());
        self.runs.iter().cloned().chain(lower).chain(upper).collect()
    }

    /// The band, to be drawn behind all lines.
    pub(super) fn draw_band(&self, canvas: &mut Canvas) {
        for run in self.bands.iter().filter(|run| run.len() > 1) {
            let upper = run.iter().map(|&(x, _, high)| (x, high));
            let lower = run.iter().rev().map(|&(x, low, _)| (x, low));
            let data = path(upper.chain(lower)) + "Z";
            canvas.path(&data, Paint::fill(Ink::Of(self.look.color), 0.17));
        }
        for run in self.bands.iter().filter(|run| run.len() == 1) {
            let (x, low, high) = run[0];
            canvas.segment((x, low), (x, high), Paint::line(Ink::Of(self.look.color), 4.0, 0.25));
        }
    }

    /// The line; a single point is left to the markers.
    pub(super) fn draw_line(&self, canvas: &mut Canvas) {
        let paint = Paint::line(Ink::Of(self.look.color), 1.7, 1.0);
        for run in self.runs.iter().filter(|run| run.len() > 1) {
            // Dashes of a line that goes up and down within every pixel column would only blur it.
            let dash = if is_scribble(run) { "" } else { self.look.dash };
            canvas.path(&path(run.iter().copied()), paint.dashed(dash));
        }
    }

    /// Markers, spread over the width so that those of `count` curves fall apart, and a dot for each lone
    /// point.
    pub(super) fn draw_markers(&self, canvas: &mut Canvas, plot: &Area, position: usize, count: usize) {
        let lone = self.runs.iter().filter(|run| run.len() == 1).map(|run| run[0]);
        for point in lone.filter(|&point| plot.holds(point)) {
            draw_marker(canvas, point, self.look.marker, self.look.color);
        }
        let lines = self.runs.iter().filter(|run| run.len() > 1);
        if self.few {
            lines
                .flatten()
                .filter(|p| plot.holds(**p))
                .for_each(|&p| draw_marker(canvas, p, self.look.marker, self.look.color));
            return;
        }
        let points: Vec<Pixel> = lines.flatten().copied().collect();
        let share = (position as f64 + 0.5) / count.max(1) as f64;
        let mut last = None;
        for step in 0..MARKERS {
            let goal = plot.x + plot.w * (step as f64 + share) / MARKERS as f64;
            let reach = plot.w / MARKERS as f64;
            let found = points.iter().find(|p| p.0 >= goal && p.0 < goal + reach && plot.holds(**p)).copied();
            if found.is_some() && found != last {
                found
                    .into_iter()
                    .for_each(|point| draw_marker(canvas, point, self.look.marker, self.look.color));
                last = found;
            }
        }
    }
}

/// Markers to a line.
const MARKERS: usize = 7;

/// Whether a line is much longer than its width.
fn is_scribble(run: &[Pixel]) -> bool {
    let long: f64 = run.windows(2).map(|p| (p[1].0 - p[0].0).hypot(p[1].1 - p[0].1)).sum();
    let wide = run.last().zip(run.first()).map_or(0.0, |(last, first)| (last.0 - first.0).abs());
    run.len() > 500 && long > 10.0 * wide
}

fn runs<T>(points: impl Iterator<Item = Option<T>>) -> Vec<Vec<T>> {
    let mut out = vec![Vec::new()];
    for point in points {
        match (point, out.last_mut()) {
            (Some(point), Some(run)) => run.push(point),
            (None, Some(run)) if !run.is_empty() => out.push(Vec::new()),
            _ => {}
        }
    }
    out.retain(|run| !run.is_empty());
    out
}

/// The path data of a line through points, to a tenth of a pixel.
fn path(points: impl Iterator<Item = Pixel>) -> String {
    let mut data = String::new();
    for (k, (x, y)) in points.enumerate() {
        let tenth = |v: f64| number((v * 10.0).round() / 10.0);
        data.push_str(if k == 0 { "M" } else { "L" });
        data.push_str(&tenth(x));
        data.push(' ');
        data.push_str(&tenth(y));
    }
    data
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_breaks_the_line() {
        let found = runs([None, Some(1), Some(2), None, None, Some(3), None].into_iter());
        assert_eq!(found, [vec![1, 2], vec![3]]);
        assert!(runs([None::<i32>].into_iter()).is_empty());
    }

    #[test]
    fn paths_are_compact() {
        assert_eq!(path([(1.0, 2.04), (3.55, 4.0)].into_iter()), "M1 2L3.6 4");
    }
}
