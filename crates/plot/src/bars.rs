//! Bars with whiskers and values.

use super::area::Area;
use super::canvas::Canvas;
use super::color::Color;
use super::font::{Weight, width};
use super::frame::{
    LABEL_SIZE, Side, TICK_SIZE, TICKS_BELOW, draw_axis, draw_grid, draw_no_data, draw_x_label, draw_y_label,
    label_room, level, upright, widest,
};
use super::paint::{Anchor, Ink, Paint, Type};
use super::scale::{Axis, Scale};
use super::text::{shorten, value, wrap};

const VALUE_SIZE: f64 = 10.5;
const ROW: f64 = 26.0;
/// The slant of names that do not fit side by side, in degrees.
const SLANT: f64 = 35.0;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// To the right, names at the left.
    #[default]
    Horizontal,
    /// Upwards, names beneath.
    Vertical,
}

#[derive(Clone, Debug, Default)]
pub struct Bar {
    pub label: String,
    /// Its length; what the scale cannot show is written "n/a" or "∞" without a bar.
    pub value: f64,
    /// The ends of its whisker, as lower and upper value.
    pub whisker: Option<(f64, f64)>,
    pub color: Option<Color>,
}

impl Bar {
    pub fn new(label: impl Into<String>, value: f64) -> Self {
        Self { label: label.into(), value, ..Self::default() }
    }

    setters! {
        whisker(low: f64, high: f64) => whisker = Some((low, high));
        color(color: Color) => color = Some(color);
    }
}

#[derive(Clone, Debug, Default)]
pub struct Bars {
    pub title: String,
    pub value_label: String,
    /// How the axis of lengths is divided; logarithmic bars begin at its lower end.
    pub scale: Scale,
    pub direction: Direction,
    /// The bars, from the top or from the left.
    pub bars: Vec<Bar>,
}

impl Bars {
    pub fn new(title: impl Into<String>, value_label: impl Into<String>) -> Self {
        Self { title: title.into(), value_label: value_label.into(), ..Self::default() }
    }

    pub fn bar(mut self, bar: Bar) -> Self {
        self.bars.push(bar);
        self
    }

    setters! {
        vertical() => direction = Direction::Vertical;
        scale(scale: Scale) => scale = scale;
    }

    pub(super) fn height(&self, width: f64) -> f64 {
        match self.direction {
            Direction::Horizontal => ROW * self.bars.len().max(3) as f64 + TICKS_BELOW + 36.0,
            Direction::Vertical => 0.66 * width,
        }
    }

    pub(super) fn draw(&self, canvas: &mut Canvas, area: &Area) {
        let side = Side { label: &self.value_label, scale: self.scale, range: self.range() };
        match (side.range, self.direction) {
            (None, _) => draw_no_data(canvas, &area.without(8.0, 8.0, 8.0, 8.0)),
            (_, Direction::Horizontal) => self.draw_horizontal(canvas, area, side),
            (_, Direction::Vertical) => self.draw_vertical(canvas, area, side),
        }
    }

    fn range(&self) -> Option<(f64, f64)> {
        let values = || self.bars.iter().filter_map(|bar| self.scale.place(bar.value));
        values().next()?;
        let ends = self.bars.iter().filter(|bar| self.scale.place(bar.value).is_some());
        let ends = ends.filter_map(|bar| bar.whisker).flat_map(|(low, high)| [low, high]);
        let ends = ends.filter_map(|end| self.scale.place(end));
        match self.scale {
            Scale::Linear => self.scale.fit(values().chain(ends).chain([0.0]), 0.03),
            Scale::Log => self.scale.fit(values().chain(ends), 0.12),
        }
    }

    fn draw_horizontal(&self, canvas: &mut Canvas, area: &Area, side: Side<'_>) {
        let names = self.widest_name().min(0.42 * area.w);
        let lines = wrap(side.label, LABEL_SIZE, Weight::Regular, area.w - names, 2);
        let plot =
            area.without(names + 8.0, 4.0, self.widest_value() + 14.0, TICKS_BELOW + label_room(&lines));
        let (axis, ticks) = level(&plot, side);
        draw_grid(canvas, &plot, &axis, &ticks, true);
        let slot = plot.h / self.bars.len().max(1) as f64;
        let thick = (0.62 * slot).min(22.0);
        for (k, bar) in self.bars.iter().enumerate() {
            let y = plot.y + slot * (k as f64 + 0.5);
            let end = self.draw_bar(canvas, &axis, bar, y, thick);
            let name = shorten(&bar.label, TICK_SIZE, Weight::Regular, names);
            if slot >= 10.0 {
                canvas.text((plot.x - 7.0, y + 4.0), &name, Type::new(TICK_SIZE, Anchor::End));
                canvas.label((end + 5.0, y + 3.8), &value(bar.value), Type::new(VALUE_SIZE, Anchor::Start));
            }
        }
        draw_axis(canvas, &plot, &axis, &ticks, true);
        draw_base(canvas, &plot, &axis);
        draw_x_label(canvas, &plot, &lines);
    }

    fn draw_vertical(&self, canvas: &mut Canvas, area: &Area, side: Side<'_>) {
        let count = self.bars.len().max(1) as f64;
        // The slots are known only after the margins: a guess decides whether names stand level.
        let guess = (area.w - 60.0) / count;
        let slanted = self.bars.iter().any(|bar| name_lines(&bar.label, guess).is_none());
        let below = self.names_height(area, guess, slanted);
        let tall = area.without(0.0, 20.0, 0.0, below);
        let lines = wrap(side.label, LABEL_SIZE, Weight::Regular, tall.h, 2);
        let (axis, ticks) = upright(&tall, side);
        let left = widest(&ticks) + 9.0 + label_room(&lines);
        let first = self.bars.first().map_or(0.0, |bar| width(&bar.label, TICK_SIZE, Weight::Regular));
        let reach = (first * SLANT.to_radians().cos() + 8.0).min(0.25 * area.w) - 0.4 * guess;
        let plot = tall.without(if slanted { left.max(reach) } else { left }, 0.0, 10.0, 0.0);
        draw_grid(canvas, &plot, &axis, &ticks, false);
        let slot = plot.w / count;
        let valued = self.widest_value() <= slot - 2.0;
        for (k, bar) in self.bars.iter().enumerate() {
            let x = plot.x + slot * (k as f64 + 0.5);
            let end = self.draw_bar(canvas, &axis, bar, x, (0.62 * slot).min(48.0));
            if valued {
                canvas.label((x, end - 5.0), &value(bar.value), Type::new(VALUE_SIZE, Anchor::Middle));
            }
            match name_lines(&bar.label, guess).filter(|_| !slanted) {
                Some(lines) => draw_name(canvas, (x, plot.bottom() + 15.0), &lines),
                None if slot >= 10.0 => {
                    let room = ((below - 22.0) / SLANT.to_radians().sin() + 2.0)
                        .min((x - area.x) / SLANT.to_radians().cos());
                    draw_slanted_name(canvas, (x + 4.0, plot.bottom() + 14.0), &bar.label, room);
                }
                None => {}
            }
        }
        draw_axis(canvas, &plot, &axis, &ticks, false);
        draw_base(canvas, &plot, &axis);
        draw_y_label(canvas, &plot, area.x, &lines);
    }

    fn names_height(&self, area: &Area, slot: f64, slanted: bool) -> f64 {
        if slanted {
            return (self.widest_name() * SLANT.to_radians().sin()).min(0.4 * area.h) + 22.0;
        }
        let lines = self.bars.iter().filter_map(|bar| name_lines(&bar.label, slot)).map(|lines| lines.len());
        10.0 + 14.0 * lines.max().unwrap_or(1) as f64
    }

    /// Draws a bar and its whisker about a line across the axis; answers where its value may be written.
    fn draw_bar(&self, canvas: &mut Canvas, axis: &Axis, bar: &Bar, middle: f64, thick: f64) -> f64 {
        let base = base(axis);
        let Some(end) = axis.pixel(bar.value) else { return base };
        let level = axis.to > axis.from;
        let point =
            |along: f64, across: f64| if level { (along, middle + across) } else { (middle + across, along) };
        let (near, far) = (base.min(end), base.max(end));
        let (x, y) = point(near, -thick / 2.0);
        let (w, h) = if level { (far - near, thick) } else { (thick, far - near) };
        let color = bar.color.unwrap_or_else(|| Color::palette(0));
        canvas.rectangle(
            &Area { x, y, w: w.max(0.5), h: h.max(0.5) },
            0.0,
            Paint::fill(Ink::Of(color), 0.85),
        );
        let outer = |a: f64, b: f64| if level { a.max(b) } else { a.min(b) };
        let Some((low, high)) = bar.whisker.and_then(|(low, high)| self.whisker_pixels(axis, low, high))
        else {
            return outer(base, end);
        };
        let ink = Paint::line(Ink::Fore, 1.2, 0.9);
        let cap = (0.28 * thick).min(5.0);
        canvas.segment(point(low, 0.0), point(high, 0.0), ink);
        for at in [low, high] {
            canvas.segment(point(at, -cap), point(at, cap), ink);
        }
        outer(outer(base, end), outer(low, high))
    }

    /// The pixels of a whisker; an end below a logarithmic axis stops at it.
    fn whisker_pixels(&self, axis: &Axis, low: f64, high: f64) -> Option<(f64, f64)> {
        let floor = (self.scale == Scale::Log && low <= 0.0).then_some(axis.from);
        Some((axis.pixel(low).or(floor)?, axis.pixel(high)?))
    }

    fn widest_name(&self) -> f64 {
        self.bars.iter().map(|bar| width(&bar.label, TICK_SIZE, Weight::Regular)).fold(0.0, f64::max)
    }

    fn widest_value(&self) -> f64 {
        self.bars.iter().map(|bar| value(bar.value).width(VALUE_SIZE)).fold(0.0, f64::max)
    }
}

/// A name in lines that fit a slot, unless it takes more than three or a word is too long.
fn name_lines(name: &str, slot: f64) -> Option<Vec<String>> {
    let lines = wrap(name, TICK_SIZE, Weight::Regular, slot - 6.0, 3);
    let whole = lines.join(" ") == name.split_whitespace().collect::<Vec<_>>().join(" ");
    whole.then_some(lines)
}

fn draw_name(canvas: &mut Canvas, (x, y): (f64, f64), lines: &[String]) {
    for (k, line) in lines.iter().enumerate() {
        canvas.text((x, y + 14.0 * k as f64), line, Type::new(TICK_SIZE, Anchor::Middle));
    }
}

fn draw_slanted_name(canvas: &mut Canvas, at: (f64, f64), name: &str, room: f64) {
    let name = shorten(name, TICK_SIZE, Weight::Regular, room);
    canvas.text(at, &name, Type { turn: -SLANT, ..Type::new(TICK_SIZE, Anchor::End) });
}

/// Where bars begin: at zero, or at the end of an axis without it.
fn base(axis: &Axis) -> f64 {
    match axis.scale {
        Scale::Linear => axis.pixel_of(0.0f64.clamp(axis.low, axis.high)),
        Scale::Log => axis.from,
    }
}

fn draw_base(canvas: &mut Canvas, plot: &Area, axis: &Axis) {
    let at = base(axis);
    let (from, to) = match axis.to > axis.from {
        true => ((at, plot.y), (at, plot.bottom())),
        false => ((plot.x, at), (plot.right(), at)),
    };
    canvas.segment(from, to, Paint::line(Ink::Fore, 1.0, 0.85));
}
