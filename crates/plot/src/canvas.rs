//! A sheet of SVG that is written from back to front.
//!
//! No element has an `id`, so any number of figures can stand in one HTML page.

use std::fmt::Write;

use super::Theme;
use super::area::Area;
use super::font::{FAMILY, Weight, width};
use super::paint::{Anchor, Ink, Paint, Type};
use super::text::{Label, POWER_SIZE, escape};

pub(super) struct Canvas {
    out: String,
    theme: Theme,
}

impl Canvas {
    pub(super) fn new(theme: Theme) -> Self {
        Self { out: String::new(), theme }
    }

    pub(super) fn finish(self, w: f64, h: f64, title: &str) -> String {
        let (w, h, title) = (number(w.ceil()), number(h.ceil()), escape(title));
        let (style, ground) = match self.theme {
            Theme::Paper => {
                (String::new(), format!("<rect width=\"{w}\" height=\"{h}\" fill=\"#ffffff\"/>\n"))
            }
            Theme::Page => (" style=\"max-width:100%;height:auto\"".to_owned(), String::new()),
        };
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" \
             role=\"img\" aria-label=\"{title}\" class=\"plot\" \
             font-family=\"&quot;{FAMILY}&quot;, Arial, sans-serif\"{style}>\n<title>{title}</title>\n\
             {ground}{}</svg>\n",
            self.out
        )
    }

    /// Draws within `area` only what `draw` draws.
    pub(super) fn clipped(&mut self, area: &Area, draw: impl FnOnce(&mut Self)) {
        let [x, y, w, h] = [area.x, area.y, area.w, area.h].map(number);
        let _ = writeln!(
            self.out,
            "<svg x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" viewBox=\"{x} {y} {w} {h}\" \
             overflow=\"hidden\">"
        );
        draw(self);
        self.out.push_str("</svg>\n");
    }

    pub(super) fn segment(&mut self, (x1, y1): (f64, f64), (x2, y2): (f64, f64), paint: Paint) {
        let [x1, y1, x2, y2] = [x1, y1, x2, y2].map(number);
        let paint = self.paint(paint);
        let _ = writeln!(self.out, "<line x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"{paint}/>");
    }

    pub(super) fn rectangle(&mut self, area: &Area, radius: f64, paint: Paint) {
        let [x, y, w, h] = [area.x, area.y, area.w, area.h].map(number);
        let round = if radius > 0.0 { format!(" rx=\"{}\"", number(radius)) } else { String::new() };
        let paint = self.paint(paint);
        let _ = writeln!(self.out, "<rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\"{round}{paint}/>");
    }

    pub(super) fn circle(&mut self, (x, y): (f64, f64), radius: f64, paint: Paint) {
        let [x, y, r] = [x, y, radius].map(number);
        let paint = self.paint(paint);
        let _ = writeln!(self.out, "<circle cx=\"{x}\" cy=\"{y}\" r=\"{r}\"{paint}/>");
    }

    pub(super) fn path(&mut self, data: &str, paint: Paint) {
        let join =
            if paint.stroke.is_some() { " stroke-linejoin=\"round\" stroke-linecap=\"round\"" } else { "" };
        let join = if paint.dash.is_empty() { join } else { " stroke-linejoin=\"round\"" };
        let paint = self.paint(paint);
        let _ = writeln!(self.out, "<path d=\"{data}\"{join}{paint}/>");
    }

    /// A line of text whose baseline passes through the point.
    pub(super) fn text(&mut self, (x, y): (f64, f64), text: &str, style: Type) {
        if text.is_empty() {
            return;
        }
        let body = escape(text);
        let [x, y, size] = [x, y, style.size].map(number);
        let anchor = match style.anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let weight = if style.weight == Weight::Bold { " font-weight=\"bold\"" } else { "" };
        let turn = match style.turn {
            0.0 => String::new(),
            turn => format!(" transform=\"rotate({} {x} {y})\"", number(turn)),
        };
        let halo = match (style.halo, self.theme) {
            (true, Theme::Paper) => {
                " stroke=\"#ffffff\" stroke-width=\"3\" stroke-linejoin=\"round\" paint-order=\"stroke\""
            }
            _ => "",
        };
        let fill = self.paint(Paint::fill(style.ink, style.opacity));
        let _ = writeln!(
            self.out,
            "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\"{anchor}{weight}{turn}{fill}{halo}>{body}</text>"
        );
    }

    /// A label, its raised part smaller. The two parts are texts of their own that meet at a point, since
    /// renderers disagree about anchored text that changes its size.
    pub(super) fn label(&mut self, (x, y): (f64, f64), label: &Label, style: Type) {
        if label.power.is_empty() {
            return self.text((x, y), &label.base, style);
        }
        let small = style.size * POWER_SIZE;
        let base = width(&label.base, style.size, style.weight);
        let power = width(&label.power, small, style.weight);
        let joint = match style.anchor {
            Anchor::Start => x + base,
            Anchor::Middle => x + (base - power) / 2.0,
            Anchor::End => x - power,
        };
        self.text((joint, y), &label.base, Type { anchor: Anchor::End, ..style });
        let raised = Type { anchor: Anchor::Start, size: small, ..style };
        self.text((joint + 0.4, y - 0.38 * style.size), &label.power, raised);
    }

    fn paint(&self, paint: Paint) -> String {
        let mut out = String::new();
        match paint.fill {
            None => out.push_str(" fill=\"none\""),
            Some((ink, opacity)) => {
                let _ = write!(out, " fill=\"{}\"", self.ink(ink));
                push_unless_one(&mut out, "fill-opacity", opacity);
                if ink == Ink::Back && self.theme == Theme::Page {
                    out.push_str(" class=\"plot-back\"");
                }
            }
        }
        if let Some((ink, width)) = paint.stroke {
            let _ = write!(out, " stroke=\"{}\" stroke-width=\"{}\"", self.ink(ink), number(width));
            push_unless_one(&mut out, if paint.whole { "opacity" } else { "stroke-opacity" }, paint.opacity);
            if !paint.dash.is_empty() {
                let _ = write!(out, " stroke-dasharray=\"{}\"", paint.dash);
            }
        }
        out
    }

    fn ink(&self, ink: Ink) -> String {
        match (ink, self.theme) {
            (Ink::Of(color), _) => color.to_string(),
            (Ink::Fore, Theme::Paper) => "#1f1f1f".to_owned(),
            (Ink::Back, Theme::Paper) => "#ffffff".to_owned(),
            (Ink::Fore, Theme::Page) => "currentColor".to_owned(),
            (Ink::Back, Theme::Page) => "none".to_owned(),
        }
    }
}

fn push_unless_one(out: &mut String, name: &str, share: f64) {
    if share < 1.0 {
        let _ = write!(out, " {name}=\"{}\"", number(share));
    }
}

/// A number with at most two decimals; what is not finite becomes 0, what is huge is clamped.
pub(super) fn number(value: f64) -> String {
    let value = if value.is_finite() { value.clamp(-1e6, 1e6) } else { 0.0 };
    let text = super::text::trim(format!("{value:.2}"));
    if text == "-0" { "0".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_finite() {
        assert_eq!(number(1.0), "1");
        assert_eq!(number(-0.001), "0");
        assert_eq!(number(2.506), "2.51");
        assert_eq!(number(f64::NAN), "0");
        assert_eq!(number(f64::INFINITY), "0");
        assert_eq!(number(1e300), "1000000");
        assert_eq!(number(100.0), "100");
    }

    #[test]
    fn the_page_theme_fixes_no_text_colour() {
        let mut canvas = Canvas::new(Theme::Page);
        canvas.text((1.0, 2.0), "a & b", Type::new(12.0, Anchor::Start));
        let svg = canvas.finish(10.0, 10.0, "<t>");
        assert!(
            svg.contains("fill=\"currentColor\"") && svg.contains("a &amp; b") && svg.contains("&lt;t&gt;")
        );
        assert!(!svg.contains("#1f1f1f") && !svg.contains("#ffffff"));
    }
}
