//! Legends: one column within or beside a plot, or rows beneath it.

use super::area::Area;
use super::canvas::Canvas;
use super::font::{Weight, width};
use super::paint::{Anchor, Ink, Paint, Type};
use super::series::{Look, draw_marker};
use super::text::shorten;

const SIZE: f64 = 11.0;
const ROW: f64 = 16.0;
/// The length of the line shown.
const SAMPLE: f64 = 28.0;
/// Between the line and its name.
const GAP: f64 = 6.0;
/// Between entries of a row.
const BETWEEN: f64 = 18.0;
const PAD: f64 = 6.0;

pub(super) struct Entry {
    pub(super) name: String,
    pub(super) look: Look,
}

/// Adds an entry unless its name is empty or there already.
pub(super) fn add(entries: &mut Vec<Entry>, name: &str, look: Look) {
    if !name.is_empty() && entries.iter().all(|entry| entry.name != name) {
        entries.push(Entry { name: name.to_owned(), look });
    }
}

fn entry_width(entry: &Entry) -> f64 {
    SAMPLE + GAP + width(&entry.name, SIZE, Weight::Regular)
}

/// The size of a column of entries with its box, no wider than `room`.
pub(super) fn column_size(entries: &[Entry], room: f64) -> (f64, f64) {
    let wide = entries.iter().map(entry_width).fold(0.0, f64::max) + 2.0 * PAD;
    (wide.min(room), ROW * entries.len() as f64 + 2.0 * PAD)
}

pub(super) fn draw_column(canvas: &mut Canvas, area: &Area, entries: &[Entry]) {
    canvas.rectangle(area, 3.0, Paint::fill(Ink::Back, 0.88));
    canvas.rectangle(area, 3.0, Paint::line(Ink::Fore, 0.8, 0.2));
    for (k, entry) in entries.iter().enumerate() {
        let y = area.y + PAD + ROW * (k as f64 + 0.5);
        draw_entry(canvas, (area.x + PAD, y), entry, area.w - 2.0 * PAD);
    }
}

fn draw_entry(canvas: &mut Canvas, (x, y): (f64, f64), entry: &Entry, room: f64) {
    let ink = Ink::Of(entry.look.color);
    if entry.look.band {
        canvas.rectangle(&Area::new(x, y - 5.0, SAMPLE, 10.0), 0.0, Paint::fill(ink, 0.17));
    }
    canvas.segment((x, y), (x + SAMPLE, y), Paint::line(ink, 1.7, 1.0).dashed(entry.look.dash));
    draw_marker(canvas, (x + SAMPLE / 2.0, y), entry.look.marker, entry.look.color);
    let name = shorten(&entry.name, SIZE, Weight::Regular, room - SAMPLE - GAP);
    canvas.text((x + SAMPLE + GAP, y + 0.36 * SIZE), &name, Type::new(SIZE, Anchor::Start));
}

/// The entries in aligned columns, as many as fit into `room`: their number and width.
fn columns(entries: &[Entry], room: f64) -> (usize, f64) {
    let wide = entries.iter().map(entry_width).fold(1.0, f64::max);
    let fit = ((room + BETWEEN) / (wide + BETWEEN)).floor().max(1.0) as usize;
    let rows = entries.len().div_ceil(fit).max(1);
    // The same number of rows with columns as full as can be.
    (entries.len().div_ceil(rows).max(1), wide.min(room))
}

pub(super) fn rows_height(entries: &[Entry], room: f64) -> f64 {
    if entries.is_empty() {
        return 0.0;
    }
    ROW * entries.len().div_ceil(columns(entries, room).0) as f64 + 2.0 * PAD
}

pub(super) fn draw_rows(canvas: &mut Canvas, area: &Area, entries: &[Entry]) {
    let (count, wide) = columns(entries, area.w);
    let full = count as f64 * (wide + BETWEEN) - BETWEEN;
    let left = area.x + ((area.w - full) / 2.0).max(0.0);
    for (k, entry) in entries.iter().enumerate() {
        let x = left + (k % count) as f64 * (wide + BETWEEN);
        let y = area.y + PAD + ROW * ((k / count) as f64 + 0.5);
        draw_entry(canvas, (x, y), entry, wide);
    }
}
