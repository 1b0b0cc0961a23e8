//! The frame of a plot: margins that hold the text, grid, axes and ticks.

use super::area::Area;
use super::canvas::Canvas;
use super::font::Weight;
use super::paint::{Anchor, Ink, Paint, Type};
use super::scale::{Axis, Scale};
use super::text::{Label, wrap};
use super::ticks::{Tick, fitting};

/// Text sizes, in pixels.
pub(super) const TICK_SIZE: f64 = 11.0;
pub(super) const LABEL_SIZE: f64 = 12.0;
const LABEL_LINE: f64 = 15.0;
/// The length of a major tick.
const TICK: f64 = 4.0;
/// The room for tick labels below a plot.
pub(super) const TICKS_BELOW: f64 = TICK + 4.0 + TICK_SIZE + 2.0;

#[derive(Clone, Copy)]
pub(super) struct Side<'a> {
    pub(super) label: &'a str,
    pub(super) scale: Scale,
    /// As places of the scale; `None` for an axis without ticks.
    pub(super) range: Option<(f64, f64)>,
}

pub(super) struct Frame {
    pub(super) plot: Area,
    pub(super) x: Axis,
    pub(super) y: Axis,
    x_ticks: Vec<Tick>,
    y_ticks: Vec<Tick>,
    x_lines: Vec<String>,
    y_lines: Vec<String>,
    y_label_x: f64,
}

impl Frame {
    /// Finds margins and ticks so that no text meets another.
    pub(super) fn new(area: &Area, x: Side<'_>, y: Side<'_>) -> Self {
        let x_lines = wrap(x.label, LABEL_SIZE, Weight::Regular, area.w - 60.0, 2);
        let below = TICKS_BELOW + label_room(&x_lines);
        let tall = area.without(0.0, 8.0, 0.0, below);
        let y_lines = wrap(y.label, LABEL_SIZE, Weight::Regular, tall.h, 2);
        let (y_axis, y_ticks) = upright(&tall, y);
        let left = widest(&y_ticks) + TICK + 5.0 + label_room(&y_lines);
        let lay = |right: f64| {
            let plot = tall.without(left, 0.0, right, 0.0);
            let (axis, ticks) = level(&plot, x);
            (plot, axis, ticks)
        };
        let (mut plot, mut x_axis, mut x_ticks) = lay(12.0);
        let end = x_ticks
            .iter()
            .filter_map(|t| Some(x_axis.pixel_of(t.place) + t.label.as_ref()?.width(TICK_SIZE) / 2.0));
        let over = end.fold(0.0, f64::max) - area.right() + 1.0;
        if over > 0.0 {
            (plot, x_axis, x_ticks) = lay(12.0 + over);
        }
        Self { plot, x: x_axis, y: y_axis, x_ticks, y_ticks, x_lines, y_lines, y_label_x: area.x }
    }

    pub(super) fn draw_grid(&self, canvas: &mut Canvas) {
        draw_grid(canvas, &self.plot, &self.x, &self.x_ticks, true);
        draw_grid(canvas, &self.plot, &self.y, &self.y_ticks, false);
    }

    pub(super) fn draw_axes(&self, canvas: &mut Canvas) {
        draw_axis(canvas, &self.plot, &self.x, &self.x_ticks, true);
        draw_axis(canvas, &self.plot, &self.y, &self.y_ticks, false);
        draw_x_label(canvas, &self.plot, &self.x_lines);
        draw_y_label(canvas, &self.plot, self.y_label_x, &self.y_lines);
    }
}

pub(super) fn label_room(lines: &[String]) -> f64 {
    if lines.is_empty() { 0.0 } else { LABEL_LINE * lines.len() as f64 + 5.0 }
}

pub(super) fn widest(ticks: &[Tick]) -> f64 {
    ticks.iter().filter_map(|tick| tick.label.as_ref()).map(|l| l.width(TICK_SIZE)).fold(0.0, f64::max)
}

pub(super) fn level(plot: &Area, side: Side<'_>) -> (Axis, Vec<Tick>) {
    let (low, high) = side.range.unwrap_or((0.0, 1.0));
    let axis = Axis { scale: side.scale, low, high, from: plot.x, to: plot.right() };
    let fits = |ticks: &[Tick]| {
        let half = |tick: &Tick| tick.label.as_ref().map_or(0.0, |label| label.width(TICK_SIZE) / 2.0);
        ticks.windows(2).all(|pair| {
            let apart = axis.pixel_of(pair[1].place) - axis.pixel_of(pair[0].place);
            apart >= half(&pair[0]) + half(&pair[1]) + 9.0
        })
    };
    (axis, ticks_of(&axis, side, plot.w / 45.0, fits))
}

pub(super) fn upright(plot: &Area, side: Side<'_>) -> (Axis, Vec<Tick>) {
    let (low, high) = side.range.unwrap_or((0.0, 1.0));
    let axis = Axis { scale: side.scale, low, high, from: plot.bottom(), to: plot.y };
    let fits = |ticks: &[Tick]| {
        ticks.windows(2).all(|pair| axis.pixel_of(pair[0].place) - axis.pixel_of(pair[1].place) >= 18.0)
    };
    (axis, ticks_of(&axis, side, plot.h / 28.0, fits))
}

fn ticks_of(axis: &Axis, side: Side<'_>, most: f64, fits: impl Fn(&[Tick]) -> bool) -> Vec<Tick> {
    let Some(range) = side.range else { return Vec::new() };
    let mut ticks = fitting(side.scale, range, most.clamp(2.0, 10.0) as usize, fits);
    let decade = (axis.to - axis.from).abs() / (range.1 - range.0);
    if side.scale == Scale::Log && decade < 24.0 {
        ticks.retain(|tick| tick.label.is_some() || tick.place.fract() == 0.0);
    }
    ticks
}

pub(super) fn draw_grid(canvas: &mut Canvas, plot: &Area, axis: &Axis, ticks: &[Tick], level: bool) {
    for tick in ticks.iter().filter(|tick| tick.label.is_some() && axis.holds(tick.place)) {
        let at = axis.pixel_of(tick.place);
        let (from, to) = ends(plot, at, level);
        canvas.segment(from, to, Paint::line(Ink::Fore, 0.7, 0.13));
    }
}

fn ends(plot: &Area, at: f64, level: bool) -> ((f64, f64), (f64, f64)) {
    if level { ((at, plot.y), (at, plot.bottom())) } else { ((plot.x, at), (plot.right(), at)) }
}

pub(super) fn draw_axis(canvas: &mut Canvas, plot: &Area, axis: &Axis, ticks: &[Tick], level: bool) {
    let ink = Paint::line(Ink::Fore, 1.0, 0.85);
    let corner = (plot.x, plot.bottom());
    canvas.segment(corner, if level { (plot.right(), plot.bottom()) } else { (plot.x, plot.y) }, ink);
    for tick in ticks.iter().filter(|tick| axis.holds(tick.place)) {
        let at = axis.pixel_of(tick.place);
        let long = if tick.label.is_some() { TICK } else { 2.2 };
        let (from, to) = match level {
            true => ((at, plot.bottom()), (at, plot.bottom() + long)),
            false => ((plot.x, at), (plot.x - long, at)),
        };
        canvas.segment(from, to, ink);
        if let Some(label) = &tick.label {
            draw_tick_label(canvas, plot, at, label, level);
        }
    }
}

fn draw_tick_label(canvas: &mut Canvas, plot: &Area, at: f64, label: &Label, level: bool) {
    let drop = if label.power.is_empty() { 0.36 } else { 0.42 } * TICK_SIZE;
    let (point, anchor) = match level {
        true => ((at, plot.bottom() + TICK + 4.0 + 0.8 * TICK_SIZE), Anchor::Middle),
        false => ((plot.x - TICK - 3.0, at + drop), Anchor::End),
    };
    canvas.label(point, label, Type::new(TICK_SIZE, anchor));
}

pub(super) fn draw_x_label(canvas: &mut Canvas, plot: &Area, lines: &[String]) {
    for (k, line) in lines.iter().enumerate() {
        let y = plot.bottom() + TICKS_BELOW + 5.0 + LABEL_LINE * (k as f64 + 0.72);
        canvas.text((plot.center().0, y), line, Type::new(LABEL_SIZE, Anchor::Middle));
    }
}

/// The upright label, its first line at `x`.
pub(super) fn draw_y_label(canvas: &mut Canvas, plot: &Area, x: f64, lines: &[String]) {
    for (k, line) in lines.iter().enumerate() {
        let at = (x + LABEL_LINE * (k as f64 + 0.72), plot.center().1);
        canvas.text(at, line, Type { turn: -90.0, ..Type::new(LABEL_SIZE, Anchor::Middle) });
    }
}

/// Says in the middle of a plot that there is nothing to see.
pub(super) fn draw_no_data(canvas: &mut Canvas, plot: &Area) {
    let (x, y) = plot.center();
    canvas.rectangle(plot, 0.0, Paint::line(Ink::Fore, 1.0, 0.25));
    canvas.text((x, y + 5.0), "no data", Type { opacity: 0.6, ..Type::new(14.0, Anchor::Middle) });
}
