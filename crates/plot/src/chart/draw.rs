//! How a chart is laid out and drawn.

use super::{Chart, LegendPlace};
use crate::area::{Area, text_area};
use crate::canvas::Canvas;
use crate::curves::Curve;
use crate::font::{Weight, width};
use crate::frame::{Frame, Side, draw_no_data};
use crate::legend::{self, Entry};
use crate::paint::{Anchor, Ink, Paint, Type};
use crate::place::{Cover, spots};
use crate::scale::Scale;
use crate::series::{Looks, Series};

impl Chart {
    pub(in super::super) fn entries(&self, looks: &Looks, into: &mut Vec<Entry>) {
        for (k, one) in self.series.iter().enumerate() {
            legend::add(into, &one.name, looks.look(one, k));
        }
    }

    pub(in super::super) fn draw(&self, canvas: &mut Canvas, area: &Area, looks: &Looks, own_legend: bool) {
        let (x, y) = (self.x_side(), self.y_side());
        if x.range.is_none() || y.range.is_none() {
            let frame = Frame::new(area, Side { range: None, ..x }, Side { range: None, ..y });
            frame.draw_axes(canvas);
            return draw_no_data(canvas, &frame.plot);
        }
        let mut entries = Vec::new();
        if own_legend && self.legend != LegendPlace::Hidden {
            self.entries(looks, &mut entries);
        }
        let mut frame = Frame::new(area, x, y);
        let mut curves = self.curves(&frame, looks);
        let mut cover = self.cover(&frame, &curves);
        let spot = self.legend_within(&frame, &cover, &entries);
        if spot.is_none() && !entries.is_empty() {
            let (rest, draw_at) = self.legend_without(area, &entries);
            frame = Frame::new(&rest, x, y);
            curves = self.curves(&frame, looks);
            cover = self.cover(&frame, &curves);
            match draw_at {
                Outside::Beside(w, h) => {
                    let at = Area::new(area.right() - w, frame.plot.y, w, h);
                    legend::draw_column(canvas, &at, &entries);
                }
                Outside::Below(at) => legend::draw_rows(canvas, &at, &entries),
            }
        }
        self.draw_plot(canvas, &frame, &curves);
        if let Some(spot) = spot {
            cover.take(spot);
            legend::draw_column(canvas, &spot, &entries);
        }
        self.draw_references(canvas, &frame, &mut cover);
    }

    fn x_side(&self) -> Side<'_> {
        let scale = self.x_scale;
        let places = self.shown().map(|(x, _, _)| x);
        let range = self.x_range.and_then(|range| scale.range(range)).or_else(|| scale.fit(places, 0.0));
        Side { label: &self.x_label, scale, range }
    }

    fn y_side(&self) -> Side<'_> {
        let scale = self.y_scale;
        let Some(lowest) = self.shown().map(|(_, y, _)| y).reduce(f64::min) else {
            return Side { label: &self.y_label, scale, range: None };
        };
        let references = self.references.iter().filter_map(|line| scale.place(line.value));
        let edges = self.shown().filter_map(|(_, _, band)| band).flat_map(|(low, high)| {
            // A spread that nearly touches zero must not squeeze the lines of a logarithmic axis.
            let low =
                scale.place(low).map(|low| if scale == Scale::Log { low.max(lowest - 1.0) } else { low });
            [low, scale.place(high)].into_iter().flatten()
        });
        let places = self.shown().map(|(_, y, _)| y).chain(references).chain(edges);
        let range = self.y_range.and_then(|range| scale.range(range)).or_else(|| scale.fit(places, 0.04));
        Side { label: &self.y_label, scale, range }
    }

    /// The places of all points that both axes can show, with their band.
    fn shown(&self) -> impl Iterator<Item = (f64, f64, Option<(f64, f64)>)> {
        self.series.iter().flat_map(move |one| {
            let band = |k: usize| one.band.as_ref().and_then(|band| band.get(k)).copied();
            let point = move |(k, &(x, y)): (usize, &(f64, f64))| {
                Some((self.x_scale.place(x)?, self.y_scale.place(y)?, band(k)))
            };
            one.points.iter().enumerate().filter_map(point)
        })
    }

    fn curves(&self, frame: &Frame, looks: &Looks) -> Vec<Curve> {
        let curve = |(k, one): (usize, &Series)| Curve::new(one, looks.look(one, k), frame);
        self.series.iter().enumerate().map(curve).collect()
    }

    fn cover(&self, frame: &Frame, curves: &[Curve]) -> Cover {
        let mut cover = Cover::default();
        curves.iter().flat_map(Curve::outline).for_each(|run| cover.add_line(&run));
        for y in self.references.iter().filter_map(|line| frame.y.pixel(line.value)) {
            cover.add_line(&[(frame.plot.x, y), (frame.plot.right(), y)]);
        }
        cover
    }

    /// The legend's box within the plot, if it goes there.
    fn legend_within(&self, frame: &Frame, cover: &Cover, entries: &[Entry]) -> Option<Area> {
        let wanted = matches!(self.legend, LegendPlace::Auto | LegendPlace::Inside);
        if entries.is_empty() || !wanted {
            return None;
        }
        let (w, h) = legend::column_size(entries, f64::INFINITY);
        let small = w * h <= 0.4 * frame.plot.w * frame.plot.h;
        let (spot, cost) = cover.best(spots(&frame.plot, w, h))?;
        (self.legend == LegendPlace::Inside || (cost == 0 && small)).then_some(spot)
    }

    /// What is left of the area with the legend outside the plot, and where that goes.
    fn legend_without(&self, area: &Area, entries: &[Entry]) -> (Area, Outside) {
        let (w, h) = legend::column_size(entries, 0.4 * area.w);
        let roomy = w <= 0.34 * area.w && h <= area.h;
        if self.legend == LegendPlace::Beside || (self.legend != LegendPlace::Below && roomy) {
            return (area.without(0.0, 0.0, w + 6.0, 0.0), Outside::Beside(w, h));
        }
        let h = legend::rows_height(entries, area.w);
        let at = Area::new(area.x, area.bottom() - h + 4.0, area.w, h);
        (area.without(0.0, 0.0, 0.0, h), Outside::Below(at))
    }

    fn draw_plot(&self, canvas: &mut Canvas, frame: &Frame, curves: &[Curve]) {
        frame.draw_grid(canvas);
        canvas.clipped(&frame.plot, |canvas| {
            curves.iter().for_each(|curve| curve.draw_band(canvas));
            for y in self.references.iter().filter_map(|line| frame.y.pixel(line.value)) {
                let paint = Paint::line(Ink::Fore, 1.1, 0.65).dashed("5 4");
                canvas.segment((frame.plot.x, y), (frame.plot.right(), y), paint);
            }
            // The first series is drawn last, on top.
            curves.iter().rev().for_each(|curve| curve.draw_line(canvas));
        });
        frame.draw_axes(canvas);
        for (k, curve) in curves.iter().enumerate().rev() {
            curve.draw_markers(canvas, &frame.plot, k, curves.len());
        }
    }

    fn draw_references(&self, canvas: &mut Canvas, frame: &Frame, cover: &mut Cover) {
        let plot = &frame.plot;
        for line in self.references.iter().filter(|line| !line.label.is_empty()) {
            let Some(y) = frame.y.pixel(line.value).filter(|&y| y >= plot.y && y <= plot.bottom()) else {
                continue;
            };
            let style = Type { halo: true, opacity: 0.85, ..Type::new(10.5, Anchor::Start) };
            let w = width(&line.label, style.size, Weight::Regular);
            let lefts = [1.0, 0.0, 0.75, 0.5, 0.25].map(|share| plot.x + 6.0 + share * (plot.w - w - 12.0));
            // Above the line, or else below it; the cover counts three pixels around a box.
            let boxes = lefts
                .into_iter()
                .flat_map(|x| [y - 7.0, y + 14.5].map(|base| text_area((x, base), &line.label, &style)));
            let inside = boxes.filter(|area| area.y >= plot.y - 8.0 && area.bottom() <= plot.bottom() - 1.0);
            if let Some((spot, _)) = cover.best(inside) {
                canvas.text((spot.x, spot.y + 0.95 * style.size), &line.label, style);
                cover.take(spot);
            }
        }
    }
}

enum Outside {
    /// To the right, so large.
    Beside(f64, f64),
    /// Beneath, there.
    Below(Area),
}
