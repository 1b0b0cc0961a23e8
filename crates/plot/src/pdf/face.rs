//! A bundled font within a PDF: the file itself, its widths, and which character each glyph stands for.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::super::PlotError;
use super::super::font::{BOLD, Metrics, REGULAR, Weight, metrics};
use super::File;

/// One of the two faces and the glyphs a page uses of it.
pub(super) struct Face {
    weight: Weight,
    metrics: Metrics,
    /// The glyphs used, with the text they stand for.
    used: BTreeMap<u16, String>,
}

impl Face {
    pub(super) fn new(weight: Weight) -> Option<Self> {
        Some(Self { weight, metrics: metrics(Self::file(weight))?, used: BTreeMap::new() })
    }

    fn file(weight: Weight) -> &'static [u8] {
        if weight == Weight::Bold { BOLD } else { REGULAR }
    }

    pub(super) fn weight(&self) -> Weight {
        self.weight
    }

    /// Its name in the page's resources.
    pub(super) fn key(&self) -> &'static str {
        if self.weight == Weight::Bold { "FB" } else { "FR" }
    }

    /// Units to an em.
    pub(super) fn units(&self) -> f32 {
        self.metrics.em as f32
    }

    /// Notes that a glyph is used for this text; its advance in ems.
    pub(super) fn take(&mut self, glyph: u16, text: &str) -> f32 {
        // The font knows a letter's own character, which matters where a text is a letter with a mark. A ligature
        // stands for several letters.
        let own = self.metrics.characters.iter().find(|(_, known)| *known == glyph);
        let own = own
            .and_then(|(c, _)| char::from_u32(*c))
            .filter(|c| text.chars().count() < 2 || text.contains(*c));
        self.used.entry(glyph).or_insert_with(|| own.map_or(text.to_owned(), String::from));
        (self.advance(glyph) / 1000.0) as f32
    }

    /// A glyph's advance in thousandths of an em, as PDF counts.
    fn advance(&self, glyph: u16) -> f64 {
        let units = self.metrics.advances.get(usize::from(glyph)).copied().unwrap_or(0);
        (1000.0 * f64::from(units) / self.metrics.em).round()
    }

    /// Writes the face's objects; the number of the one that a page names.
    pub(super) fn embed(&self, file: &mut File) -> Result<usize, PlotError> {
        let bytes = Self::file(self.weight);
        let data = file.stream(&format!("/Length1 {} ", bytes.len()), bytes)?;
        // A name with six letters before it says that the file holds a part of the font.
        let name = if self.weight == Weight::Bold { "PRDOFB+DejaVuSans-Bold" } else { "PRDOFR+DejaVuSans" };
        let [x0, y0, x1, y1] = self.metrics.bounds.map(|v| (1000.0 * f64::from(v) / self.metrics.em).round());
        let descriptor = file.add(format!(
            "<< /Type /FontDescriptor /FontName /{name} /Flags 4 /FontBBox [{x0} {y0} {x1} {y1}] /ItalicAngle 0\n\
             /Ascent {y1} /Descent {y0} /CapHeight 729 /StemV 80 /FontFile2 {data} 0 R >>"
        ));
        let widths: String =
            self.used.keys().map(|glyph| format!("{glyph} [{}] ", self.advance(*glyph))).collect();
        let letters = file.add(format!(
            "<< /Type /Font /Subtype /CIDFontType2 /BaseFont /{name} /CIDToGIDMap /Identity /DW 600\n\
             /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >>\n\
             /FontDescriptor {descriptor} 0 R /W [{widths}] >>"
        ));
        let characters = file.stream("", self.to_unicode().as_bytes())?;
        Ok(file.add(format!(
            "<< /Type /Font /Subtype /Type0 /BaseFont /{name} /Encoding /Identity-H\n\
             /DescendantFonts [{letters} 0 R] /ToUnicode {characters} 0 R >>"
        )))
    }

    /// What a reader needs to search and copy text: the characters of each glyph.
    fn to_unicode(&self) -> String {
        let digits = |text: &str| text.encode_utf16().map(|unit| format!("{unit:04X}")).collect::<String>();
        let lines: Vec<String> =
            self.used.iter().map(|(glyph, text)| format!("<{glyph:04X}> <{}>\n", digits(text))).collect();
        let mut text = "/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n\
             /CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) /Supplement 0 >> def\n\
             /CMapName /Adobe-Identity-UCS def\n/CMapType 2 def\n\
             1 begincodespacerange\n<0000> <FFFF>\nendcodespacerange\n"
            .to_owned();
        // The format takes a hundred at a time.
        for part in lines.chunks(100) {
            let _ = write!(text, "{} beginbfchar\n{}endbfchar\n", part.len(), part.concat());
        }
        text + "endcmap\nCMapName currentdict /CMap defineresource pop\nend\nend\n"
    }
}
