//! From SVG to a PDF of one page: lines stay lines, text stays text (searchable, in the bundled fonts), and the
//! picture is the PNG's, because both are painted from the same tree.
//!
//! ```text
//! SVG → tree of shapes and placed letters → page contents (paint.rs) + faces used (face.rs) → objects, offsets, trailer
//! ```
//!
//! Nothing here depends on a clock or a machine: the same figure gives the same bytes.

mod face;
mod paint;

use std::io::Write;

use flate2::{Compression, write::ZlibEncoder};

use super::PlotError;
use super::png::parse;
use paint::Painter;

/// Points to an SVG pixel: 72 to the inch against 96.
const POINTS: f32 = 0.75;

/// The bytes of a PDF that shows `svg`, under this title.
pub(super) fn render(svg: &str, title: &str) -> Result<Vec<u8>, PlotError> {
    let tree = parse(svg)?;
    let (w, h) = (tree.size().width() * POINTS, tree.size().height() * POINTS);
    let mut painter = Painter::new(tree.fontdb());
    painter.draw(&tree, h);
    let mut file = File::default();
    let (catalog, pages, page) = (file.reserve(), file.reserve(), file.reserve());
    let contents = file.stream("", painter.contents().as_bytes())?;
    let mut fonts = String::new();
    for face in painter.faces() {
        fonts += &format!("/{} {} 0 R ", face.key(), face.embed(&mut file)?);
    }
    let states = painter.states();
    file.fill(catalog, format!("<< /Type /Catalog /Pages {pages} 0 R >>"));
    file.fill(pages, format!("<< /Type /Pages /Kids [{page} 0 R] /Count 1 >>"));
    file.fill(
        page,
        format!(
            "<< /Type /Page /Parent {pages} 0 R /MediaBox [0 0 {} {}] /Contents {contents} 0 R\n\
             /Resources << /Font << {fonts}>> /ExtGState << {states}>> >>\n\
             /Group << /S /Transparency /CS /DeviceRGB >> >>",
            decimal(w),
            decimal(h)
        ),
    );
    let about =
        file.add(format!("<< /Title {} /Producer (prdo {}) >>", unicode(title), env!("CARGO_PKG_VERSION")));
    Ok(file.finish(catalog, about))
}

/// The numbered objects of a file under construction.
#[derive(Default)]
struct File {
    objects: Vec<Vec<u8>>,
}

impl File {
    /// A number for an object that is written later, because others point to it.
    fn reserve(&mut self) -> usize {
        self.objects.push(Vec::new());
        self.objects.len()
    }

    fn fill(&mut self, number: usize, body: impl Into<Vec<u8>>) {
        if let Some(object) = number.checked_sub(1).and_then(|k| self.objects.get_mut(k)) {
            *object = body.into();
        }
    }

    fn add(&mut self, body: impl Into<Vec<u8>>) -> usize {
        let number = self.reserve();
        self.fill(number, body);
        number
    }

    /// A compressed stream; `keys` are further entries of its dictionary.
    fn stream(&mut self, keys: &str, bytes: &[u8]) -> Result<usize, PlotError> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        let packed = encoder.write_all(bytes).and_then(|()| encoder.finish());
        let packed = packed.map_err(|error| PlotError::Encode(error.to_string()))?;
        let mut body =
            format!("<< /Length {} /Filter /FlateDecode {keys}>>\nstream\n", packed.len()).into_bytes();
        body.extend(packed);
        body.extend(b"\nendstream");
        Ok(self.add(body))
    }

    /// The whole file: header, objects, the table of their offsets, trailer.
    fn finish(self, catalog: usize, about: usize) -> Vec<u8> {
        // The second line tells programs that the file is not text.
        let mut out = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n".to_vec();
        let mut offsets = Vec::with_capacity(self.objects.len());
        for (k, object) in self.objects.iter().enumerate() {
            offsets.push(out.len());
            out.extend(format!("{} 0 obj\n", k + 1).bytes());
            out.extend(object);
            out.extend(b"\nendobj\n");
        }
        let (table, count) = (out.len(), offsets.len() + 1);
        out.extend(format!("xref\n0 {count}\n0000000000 65535 f \n").bytes());
        offsets.iter().for_each(|offset| out.extend(format!("{offset:010} 00000 n \n").bytes()));
        let trailer = format!("trailer\n<< /Size {count} /Root {catalog} 0 R /Info {about} 0 R >>\n");
        out.extend(format!("{trailer}startxref\n{table}\n%%EOF\n").bytes());
        out
    }
}

/// A number as PDF writes it: no exponent, nothing that is not finite.
fn decimal(value: f32) -> String {
    let value = if value.is_finite() { value.clamp(-1e6, 1e6) } else { 0.0 };
    let text = super::text::trim(format!("{value:.4}"));
    if text == "-0" { "0".to_owned() } else { text }
}

fn unicode(text: &str) -> String {
    let digits: String = text.encode_utf16().map(|unit| format!("{unit:04X}")).collect();
    format!("<FEFF{digits}>")
}

#[cfg(test)]
mod tests;
