//! The operators that draw a tree of shapes and letters.

use std::fmt::Write;

use resvg::usvg::fontdb::Database;
use resvg::usvg::layout::{PositionedGlyph, Span};
use resvg::usvg::tiny_skia_path::PathSegment;
use resvg::usvg::{
    Fill, FillRule, Group, LineCap, LineJoin, Node, Paint, PaintOrder, Path, Stroke, Transform, Tree,
};

use super::super::font::Weight;
use super::face::Face;
use super::{POINTS, decimal};

/// Writes a page's contents and remembers what they need.
pub(super) struct Painter<'a> {
    out: String,
    fonts: &'a Database,
    faces: Vec<Face>,
    /// The pairs of opacities (of areas, of lines) that the page uses, in thousandths.
    states: Vec<(u32, u32)>,
}

impl<'a> Painter<'a> {
    pub(super) fn new(fonts: &'a Database) -> Self {
        Self { out: String::new(), fonts, faces: Vec::new(), states: Vec::new() }
    }

    /// Draws everything; PDF's y axis points upwards from the foot of the page.
    pub(super) fn draw(&mut self, tree: &Tree, height: f32) {
        self.operator(&[POINTS, 0.0, 0.0, -POINTS, 0.0, height], "cm");
        self.group(tree.root(), 1.0);
    }

    pub(super) fn contents(&self) -> &str {
        &self.out
    }

    pub(super) fn faces(&self) -> &[Face] {
        &self.faces
    }

    /// The entries of the page's dictionary of opacities.
    pub(super) fn states(&self) -> String {
        let share = |k: u32| decimal(k as f32 / 1000.0);
        let entry = |(k, (area, line)): (usize, &(u32, u32))| {
            format!("/G{k} << /ca {} /CA {} >> ", share(*area), share(*line))
        };
        self.states.iter().enumerate().map(entry).collect()
    }

    /// Draws a group. Its opacity goes to what is in it: figures only ever give one to a single line, and one line
    /// covers each place once.
    fn group(&mut self, group: &Group, opacity: f32) {
        self.out.push_str("q\n");
        self.transform(group.transform());
        if let Some(clip) = group.clip_path() {
            let paths = clip.root().children().iter().filter_map(|node| match node {
                Node::Path(path) => Some(path),
                _ => None,
            });
            for path in paths {
                self.path(path, clip.transform());
                self.out.push_str("W n\n");
            }
        }
        let opacity = opacity * group.opacity().get();
        for node in group.children() {
            match node {
                Node::Group(inner) => self.group(inner, opacity),
                Node::Path(path) if path.is_visible() => self.shape(path, opacity),
                Node::Text(text) => text.layouted().iter().for_each(|span| self.span(span, opacity)),
                Node::Path(_) | Node::Image(_) => {}
            }
        }
        self.out.push_str("Q\n");
    }

    fn shape(&mut self, path: &Path, opacity: f32) {
        let fill = path.fill().and_then(|fill| Some((fill, color(fill.paint())?)));
        let stroke = path.stroke().and_then(|stroke| Some((stroke, color(stroke.paint())?)));
        self.state(path.fill(), path.stroke(), opacity);
        if let Some((_, rgb)) = fill {
            self.operator(&rgb, "rg");
        }
        if let Some((stroke, rgb)) = stroke {
            self.operator(&rgb, "RG");
            self.pen(stroke);
        }
        self.path(path, Transform::identity());
        let holes = fill.is_some_and(|(fill, _)| fill.rule() == FillRule::EvenOdd);
        self.out.push_str(match (fill.is_some(), stroke.is_some(), holes) {
            (true, true, false) => "B\n",
            (true, true, true) => "B*\n",
            (true, false, false) => "f\n",
            (true, false, true) => "f*\n",
            (false, true, _) => "S\n",
            (false, false, _) => "n\n",
        });
    }

    fn path(&mut self, path: &Path, transform: Transform) {
        let Some(data) = path.data().clone().transform(transform) else { return };
        let mut at = (0.0, 0.0);
        for segment in data.segments() {
            match segment {
                PathSegment::MoveTo(p) => {
                    self.operator(&[p.x, p.y], "m");
                    at = (p.x, p.y);
                }
                PathSegment::LineTo(p) => {
                    self.operator(&[p.x, p.y], "l");
                    at = (p.x, p.y);
                }
                PathSegment::QuadTo(c, p) => {
                    // PDF has cubic curves only: their inner points lie at two thirds of the way to this one's.
                    let third = |from: f32, control: f32| from + 2.0 / 3.0 * (control - from);
                    let first = [third(at.0, c.x), third(at.1, c.y)];
                    let second = [third(p.x, c.x), third(p.y, c.y)];
                    self.operator(&[first[0], first[1], second[0], second[1], p.x, p.y], "c");
                    at = (p.x, p.y);
                }
                PathSegment::CubicTo(a, b, p) => {
                    self.operator(&[a.x, a.y, b.x, b.y, p.x, p.y], "c");
                    at = (p.x, p.y);
                }
                PathSegment::Close => self.out.push_str("h\n"),
            }
        }
    }

    fn pen(&mut self, stroke: &Stroke) {
        self.operator(&[stroke.width().get()], "w");
        let cap = match stroke.linecap() {
            LineCap::Butt => 0,
            LineCap::Round => 1,
            LineCap::Square => 2,
        };
        let join = match stroke.linejoin() {
            LineJoin::Miter | LineJoin::MiterClip => 0,
            LineJoin::Round => 1,
            LineJoin::Bevel => 2,
        };
        let dashes: Vec<String> = stroke.dasharray().unwrap_or(&[]).iter().copied().map(decimal).collect();
        let offset = decimal(stroke.dashoffset());
        let _ = writeln!(self.out, "{cap} J {join} j [{}] {offset} d", dashes.join(" "));
    }

    /// Letters that share a look; the halo around them, if any, lies behind them.
    fn span(&mut self, span: &Span, opacity: f32) {
        if !span.visible {
            return;
        }
        self.state(span.fill.as_ref(), span.stroke.as_ref(), opacity);
        let mut layers = Vec::new();
        if let Some(rgb) = span.fill.as_ref().and_then(|fill| color(fill.paint())) {
            self.operator(&rgb, "rg");
            layers.push(0);
        }
        if let Some((stroke, rgb)) = span.stroke.as_ref().and_then(|s| Some((s, color(s.paint())?))) {
            self.operator(&rgb, "RG");
            self.pen(stroke);
            layers.push(1);
        }
        if span.paint_order == PaintOrder::StrokeAndFill {
            layers.reverse();
        }
        for mode in layers {
            let _ = writeln!(self.out, "BT {mode} Tr");
            self.glyphs(&span.positioned_glyphs);
            self.out.push_str("ET\n");
        }
    }

    /// Letters one after the other: those that follow each other on a line become one string.
    fn glyphs(&mut self, glyphs: &[PositionedGlyph]) {
        // The face and the place, in ems of the line, where the next letter of the open string would stand.
        let mut open: Option<(usize, Transform, f32)> = None;
        for glyph in glyphs {
            let Some(face) = self.face(glyph) else { continue };
            let Ok(id) = u16::try_from(glyph.id.0) else { continue };
            let em = self.faces.get(face).map_or(1000.0, Face::units);
            let at = glyph.outline_transform().pre_scale(em, em);
            let advance = self.faces.get_mut(face).map_or(0.0, |face| face.take(id, &glyph.text));
            match open
                .and_then(|(f, line, next)| Some((line, next, shift(&line, &at).filter(|_| f == face)?)))
            {
                Some((line, next, along)) => {
                    let back = (next - along) * 1000.0;
                    if back.abs() > 0.5 {
                        let _ = write!(self.out, "{} ", decimal(back));
                    }
                    let _ = write!(self.out, "<{id:04X}> ");
                    open = Some((face, line, along + advance));
                }
                None => {
                    if open.is_some() {
                        self.out.push_str("] TJ\n");
                    }
                    let key = self.faces.get(face).map(Face::key).unwrap_or_default();
                    let _ = writeln!(self.out, "/{key} 1 Tf");
                    self.operator(&[at.sx, at.ky, at.kx, at.sy, at.tx, at.ty], "Tm");
                    let _ = write!(self.out, "[<{id:04X}> ");
                    open = Some((face, at, advance));
                }
            }
        }
        if open.is_some() {
            self.out.push_str("] TJ\n");
        }
    }

    fn face(&mut self, glyph: &PositionedGlyph) -> Option<usize> {
        let bold = self.fonts.face(glyph.font)?.weight.0 >= 600;
        let weight = if bold { Weight::Bold } else { Weight::Regular };
        if let Some(known) = self.faces.iter().position(|face| face.weight() == weight) {
            return Some(known);
        }
        self.faces.push(Face::new(weight)?);
        Some(self.faces.len() - 1)
    }

    fn state(&mut self, fill: Option<&Fill>, stroke: Option<&Stroke>, opacity: f32) {
        let share = |own: Option<f32>| (1000.0 * opacity * own.unwrap_or(1.0)).round() as u32;
        let pair = (share(fill.map(|f| f.opacity().get())), share(stroke.map(|s| s.opacity().get())));
        let k = self.states.iter().position(|known| *known == pair).unwrap_or_else(|| {
            self.states.push(pair);
            self.states.len() - 1
        });
        let _ = writeln!(self.out, "/G{k} gs");
    }

    fn transform(&mut self, t: Transform) {
        if !t.is_identity() {
            self.operator(&[t.sx, t.ky, t.kx, t.sy, t.tx, t.ty], "cm");
        }
    }

    fn operator(&mut self, operands: &[f32], name: &str) {
        for value in operands {
            self.out.push_str(&decimal(*value));
            self.out.push(' ');
        }
        self.out.push_str(name);
        self.out.push('\n');
    }
}

/// How far along a line of text a letter stands, in ems; nothing if it is not on that line.
fn shift(line: &Transform, letter: &Transform) -> Option<f32> {
    let same = |a: f32, b: f32| (a - b).abs() < 1e-3;
    let parallel = same(line.sx, letter.sx)
        && same(line.ky, letter.ky)
        && same(line.kx, letter.kx)
        && same(line.sy, letter.sy);
    let (dx, dy) = (letter.tx - line.tx, letter.ty - line.ty);
    let squares = line.sx * line.sx + line.ky * line.ky;
    let along = (dx * line.sx + dy * line.ky) / squares;
    let across = (dy * line.sx - dx * line.ky) / squares;
    (parallel && along.is_finite() && across.abs() < 1e-3).then_some(along)
}

fn color(paint: &Paint) -> Option<[f32; 3]> {
    match paint {
        Paint::Color(c) => Some([c.red, c.green, c.blue].map(|part| f32::from(part) / 255.0)),
        _ => None,
    }
}
