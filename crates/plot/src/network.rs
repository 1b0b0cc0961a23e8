//! The picture of a graph.
//!
//! Few edges are drawn clearly, many faintly, and of very many a sample, which the caption admits. An edge
//! that would pass through a node that is not its own is bent around it, so that a torus shows its
//! wrap-around.

use std::fmt::Write;

use super::area::Area;
use super::canvas::Canvas;
use super::color::Color;
use super::font::{Weight, width};
use super::frame::draw_no_data;
use super::paint::{Anchor, Ink, Paint, Type};
use super::text::{decimal, wrap};
use super::thin::Pixel;

mod geometry;

use geometry::{distance, near, pixel, push_edge, tenth};

/// Beyond so many edges they are faint.
const MANY_EDGES: usize = 1_500;
/// Beyond so many edges a sample is drawn.
const MAX_EDGES: usize = 20_000;
/// Up to so many nodes are circles of their own, and edges are bent around nodes.
const FEW_NODES: usize = 400;
/// Up to so many nodes are labelled beside the node when the label does not fit within.
const LABELLED: usize = 40;
const BESIDE: f64 = 10.5;
const MAX_RADIUS: f64 = 13.0;
/// The steps of colour of the nodes of large graphs.
const SHADES: usize = 48;

#[derive(Clone, Debug, Default)]
pub struct Network {
    pub title: String,
    /// The place of each node in the unit square, y upwards; a place that is not finite hides the node.
    pub positions: Vec<(f64, f64)>,
    /// Pairs of nodes; loops and pairs of unknown nodes are left out.
    pub edges: Vec<(usize, usize)>,
    /// A value in 0..1 for each node, shown as its colour.
    pub values: Option<Vec<f64>>,
    pub value_caption: String,
    /// The names of nodes, drawn where there is room.
    pub labels: Vec<String>,
    /// A remark beneath; may be empty.
    pub caption: String,
}

impl Network {
    pub fn new(title: impl Into<String>, positions: Vec<(f64, f64)>, edges: Vec<(usize, usize)>) -> Self {
        Self { title: title.into(), positions, edges, ..Self::default() }
    }

    /// The same with a colour for each node from its value in 0..1, and what that means.
    pub fn values(mut self, values: Vec<f64>, caption: impl Into<String>) -> Self {
        self.values = Some(values);
        self.value_caption = caption.into();
        self
    }

    setters! {
        labels(labels: Vec<String>) => labels = labels;
        caption(caption: impl Into<String>) => caption = caption.into();
    }

    pub(super) fn height(&self, width: f64) -> f64 {
        let captions = self.captions(self.sound_edges().count(), width);
        width.min(440.0) + self.below(captions.len())
    }

    pub(super) fn draw(&self, canvas: &mut Canvas, area: &Area) {
        if !self.positions.iter().any(|at| at.0.is_finite() && at.1.is_finite()) {
            return draw_no_data(canvas, &area.without(8.0, 8.0, 8.0, 8.0));
        }
        let edges: Vec<(usize, usize)> = self.sound_edges().collect();
        let captions = self.captions(edges.len(), area.w);
        let room = area.without(0.0, 0.0, 0.0, self.below(captions.len()));
        let square = self.square(&room);
        let places: Vec<Pixel> = self.positions.iter().map(|&at| pixel(&square, at)).collect();
        let radius = self.radius(&places, square.w);
        self.draw_edges(canvas, &edges, &places, radius);
        if places.len() <= FEW_NODES {
            self.draw_nodes(canvas, &places, radius);
        } else {
            self.draw_dots(canvas, &places, radius);
        }
        self.draw_labels(canvas, &places, radius, square.center());
        self.draw_captions(canvas, &Area { y: room.bottom(), ..*area }, &captions);
    }

    /// The square of the nodes' places, with margins for nodes, bent edges and names beside nodes.
    fn square(&self, room: &Area) -> Area {
        let margin = 0.085 * room.w.min(room.h);
        let widest =
            self.labels.iter().map(|label| width(label, BESIDE, Weight::Regular)).fold(0.0, f64::max);
        let beside = self.positions.len() <= LABELLED && widest > 1.75 * MAX_RADIUS;
        let aside = if beside { (widest + MAX_RADIUS + 6.0).min(0.3 * room.w) } else { margin };
        let side = (room.w - 2.0 * aside).min(room.h - 2.0 * margin);
        let (x, y) = room.center();
        Area::new(x - side / 2.0, y - side / 2.0, side, side)
    }

    /// The edges between two different nodes that have a place.
    fn sound_edges(&self) -> impl Iterator<Item = (usize, usize)> {
        let placed = |k: usize| self.positions.get(k).is_some_and(|at| at.0.is_finite() && at.1.is_finite());
        self.edges.iter().copied().filter(move |&(a, b)| a != b && placed(a) && placed(b))
    }

    /// A radius that suits the number of nodes and keeps most of them apart.
    fn radius(&self, places: &[Pixel], side: f64) -> f64 {
        let wanted = (0.3 * side / (places.len().max(1) as f64).sqrt()).clamp(1.3, MAX_RADIUS);
        if places.len() > 2_000 {
            return wanted;
        }
        let nearest = |k: usize| {
            let others = places.iter().enumerate().filter(|&(l, _)| l != k);
            others.map(|(_, at)| distance(*at, places[k])).filter(|d| d.is_finite()).fold(side, f64::min)
        };
        let mut gaps: Vec<f64> = (0..places.len()).map(nearest).collect();
        gaps.sort_by(f64::total_cmp);
        let gap = gaps.get(gaps.len() / 4).copied().unwrap_or(side);
        wanted.min(0.42 * gap).max(1.6)
    }

    fn draw_edges(&self, canvas: &mut Canvas, edges: &[(usize, usize)], places: &[Pixel], radius: f64) {
        let bent = places.len() <= FEW_NODES && edges.len() <= MANY_EDGES;
        let drawn = edges.len().min(MAX_EDGES);
        let mut data = String::new();
        for k in 0..drawn {
            let (a, b) = edges[k * edges.len() / drawn];
            let (from, to) = (places[a], places[b]);
            let blocked = bent
                && places.iter().enumerate().any(|(k, &at)| k != a && k != b && near(at, from, to, radius));
            push_edge(&mut data, from, to, blocked.then_some(1.7 * radius + 0.03 * distance(from, to)));
        }
        let (wide, opacity) = match drawn {
            0..=200 => (1.3, 0.5),
            201..=MANY_EDGES => (0.8, 0.45),
            1_501..=6_000 => (0.5, 0.3),
            _ => (0.4, 0.2),
        };
        if !data.is_empty() {
            canvas.path(&data, Paint::line(Ink::Fore, wide, opacity).as_one());
        }
    }

    fn color(&self, k: usize) -> Color {
        match &self.values {
            None => Color::palette(0),
            Some(values) => Color::ramp(values.get(k).copied().unwrap_or(f64::NAN)),
        }
    }

    fn draw_nodes(&self, canvas: &mut Canvas, places: &[Pixel], radius: f64) {
        for (k, &at) in places.iter().enumerate().filter(|(_, at)| at.0.is_finite()) {
            let paint = Paint::fill(Ink::Of(self.color(k)), 1.0).outlined(Ink::Fore, 0.8, 0.7);
            canvas.circle(at, radius, paint);
        }
    }

    /// The nodes of a large graph: one path of round dots to a shade, a dozen bytes to a node.
    fn draw_dots(&self, canvas: &mut Canvas, places: &[Pixel], radius: f64) {
        let mut shades: Vec<(Color, String)> = Vec::new();
        for (k, &(x, y)) in places.iter().enumerate().filter(|(_, at)| at.0.is_finite()) {
            let color = match self.values.as_ref().and_then(|values| values.get(k)) {
                Some(value) if !value.is_nan() => {
                    Color::ramp((value.clamp(0.0, 1.0) * SHADES as f64).round() / SHADES as f64)
                }
                _ => self.color(k),
            };
            let data = match shades.iter().position(|(other, _)| *other == color) {
                Some(found) => &mut shades[found].1,
                None => {
                    shades.push((color, String::new()));
                    let last = shades.len() - 1;
                    &mut shades[last].1
                }
            };
            let _ = write!(data, "M{} {}h0", tenth(x), tenth(y));
        }
        for (color, data) in &shades {
            canvas.path(data, Paint::line(Ink::Of(*color), 2.0 * radius, 1.0));
        }
    }

    /// Names: within the node if they fit, else outward of few nodes, else none.
    fn draw_labels(&self, canvas: &mut Canvas, places: &[Pixel], radius: f64, middle: Pixel) {
        let size = (1.05 * radius).clamp(7.0, 11.0);
        let widest = self.labels.iter().map(|l| width(l, size, Weight::Regular)).fold(0.0, f64::max);
        let within = radius >= 7.0 && widest <= 1.75 * radius;
        if !within && places.len() > LABELLED {
            return;
        }
        for (k, (label, &(x, y))) in
            self.labels.iter().zip(places).enumerate().filter(|(_, (_, at))| at.0.is_finite())
        {
            if within {
                let ink =
                    if self.color(k).is_light() { Color::rgb(0, 0, 0) } else { Color::rgb(255, 255, 255) };
                let style = Type { ink: Ink::Of(ink), ..Type::new(size, Anchor::Middle) };
                canvas.text((x, y + 0.36 * size), label, style);
                continue;
            }
            let (dx, dy) = (x - middle.0, y - middle.1);
            let far = dx.hypot(dy).max(1e-9);
            let (ux, uy) = if far < 1.0 { (0.0, -1.0) } else { (dx / far, dy / far) };
            let anchor = if ux > 0.35 {
                Anchor::Start
            } else if ux < -0.35 {
                Anchor::End
            } else {
                Anchor::Middle
            };
            let at = (x + ux * (radius + 4.0), y + uy * (radius + 8.0) + 3.8);
            canvas.text(at, label, Type { halo: true, ..Type::new(BESIDE, anchor) });
        }
    }

    fn captions(&self, edges: usize, room: f64) -> Vec<String> {
        let mut lines = wrap(&self.caption, 11.0, Weight::Regular, room, 2);
        if edges > MAX_EDGES {
            let (all, few) = (decimal(edges as f64, 0), decimal(MAX_EDGES as f64, 0));
            lines.extend(wrap(&format!("{few} of {all} edges drawn"), 11.0, Weight::Regular, room, 1));
        }
        lines
    }

    fn below(&self, captions: usize) -> f64 {
        let bar = if self.values.is_some() { 34.0 } else { 0.0 };
        15.0 * captions as f64 + bar + if captions > 0 { 4.0 } else { 0.0 }
    }

    fn draw_captions(&self, canvas: &mut Canvas, area: &Area, captions: &[String]) {
        let middle = area.center().0;
        let mut y = area.y;
        if self.values.is_some() {
            let bar = Area::new(middle - 80.0, y + 4.0, 160.0, 9.0);
            for k in 0..40 {
                let part = Area::new(bar.x + 4.0 * f64::from(k), bar.y, 4.2, bar.h);
                canvas.rectangle(&part, 0.0, Paint::fill(Ink::Of(Color::ramp(f64::from(k) / 39.0)), 1.0));
            }
            canvas.text((bar.x - 5.0, bar.bottom()), "0", Type::new(10.5, Anchor::End));
            canvas.text((bar.right() + 5.0, bar.bottom()), "1", Type::new(10.5, Anchor::Start));
            let caption = super::text::shorten(&self.value_caption, 11.0, Weight::Regular, area.w);
            canvas.text((middle, bar.bottom() + 14.0), &caption, Type::new(11.0, Anchor::Middle));
            y += 34.0;
        }
        for (k, line) in captions.iter().enumerate() {
            let style = Type { opacity: 0.8, ..Type::new(11.0, Anchor::Middle) };
            canvas.text((middle, y + 15.0 * k as f64 + 12.0), line, style);
        }
    }
}
