//! The bundled fonts, and how wide a text is in them.
//!
//! The widths come from the font files themselves (tables `cmap` and `hmtx`), so what the layout reserves is
//! what the renderer draws. Kerning is ignored: it only makes text narrower.

use std::collections::HashMap;
use std::sync::OnceLock;

/// DejaVu Sans, cut to what figures need; see `assets/README.md`.
pub(super) const REGULAR: &[u8] = include_bytes!("../assets/DejaVuSans-subset.ttf");
pub(super) const BOLD: &[u8] = include_bytes!("../assets/DejaVuSans-Bold-subset.ttf");
/// The family's name inside both files.
pub(super) const FAMILY: &str = "DejaVu Sans";

/// The width taken for a character the font lacks, in ems.
const UNKNOWN: f64 = 0.65;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weight {
    Regular,
    Bold,
}

/// The width of `text` at `size` pixels.
pub(super) fn width(text: &str, size: f64, weight: Weight) -> f64 {
    static FACES: OnceLock<[HashMap<u32, f64>; 2]> = OnceLock::new();
    let faces = FACES.get_or_init(|| [REGULAR, BOLD].map(|font| advances(font).unwrap_or_default()));
    let face = &faces[usize::from(weight == Weight::Bold)];
    text.chars().map(|c| advance(face, c)).sum::<f64>() * size
}

/// The advance of one character in ems; combining marks take no room.
fn advance(face: &HashMap<u32, f64>, c: char) -> f64 {
    if ('\u{300}'..='\u{36f}').contains(&c) {
        return 0.0;
    }
    face.get(&u32::from(c)).copied().unwrap_or(UNKNOWN)
}

/// What a font file says of its letters.
pub(super) struct Metrics {
    /// Units to an em.
    pub(super) em: f64,
    /// Each glyph's advance in units.
    pub(super) advances: Vec<u16>,
    /// Every character with its glyph.
    pub(super) characters: Vec<(u32, u16)>,
    /// The box that holds every glyph, in units: left, bottom, right, top.
    #[cfg_attr(not(feature = "raster"), expect(dead_code, reason = "a PDF's alone"))]
    pub(super) bounds: [i16; 4],
}

/// The measures of a font, or nothing if the file is not a TrueType font.
pub(super) fn metrics(font: &[u8]) -> Option<Metrics> {
    let head = table(font, b"head")?;
    let wide = usize::from(u16_at(table(font, b"hhea")?, 34)?).checked_sub(1)?;
    let hmtx = table(font, b"hmtx")?;
    // Glyphs beyond the last width have that one too.
    let glyphs = usize::from(u16_at(table(font, b"maxp")?, 4)?);
    let advances = (0..glyphs).map(|glyph| u16_at(hmtx, 4 * glyph.min(wide))).collect::<Option<_>>()?;
    let bound = |at: usize| u16_at(head, at).map(u16::cast_signed);
    Some(Metrics {
        em: f64::from(u16_at(head, 18).filter(|em| *em > 0)?),
        advances,
        characters: characters(table(font, b"cmap")?)?,
        bounds: [bound(36)?, bound(38)?, bound(40)?, bound(42)?],
    })
}

/// Every character's advance in ems, or nothing if the file is not a TrueType font.
fn advances(font: &[u8]) -> Option<HashMap<u32, f64>> {
    let Metrics { em, advances, characters, .. } = metrics(font)?;
    let advance = |glyph: u16| advances.get(usize::from(glyph)).map(|units| f64::from(*units) / em);
    Some(characters.into_iter().filter_map(|(c, glyph)| Some((c, advance(glyph)?))).collect())
}

/// The bytes of one table, from where it starts.
fn table<'a>(font: &'a [u8], name: &[u8; 4]) -> Option<&'a [u8]> {
    let count = usize::from(u16_at(font, 4)?);
    let record = (0..count).map(|k| 12 + 16 * k).find(|&at| font.get(at..at + 4) == Some(name))?;
    font.get(u32_at(font, record + 8)? as usize..)
}

/// The pairs of character and glyph of the `cmap` table's subtable of format 4 (the basic plane).
fn characters(cmap: &[u8]) -> Option<Vec<(u32, u16)>> {
    let count = usize::from(u16_at(cmap, 2)?);
    let mut subtables = (0..count).filter_map(|k| cmap.get(u32_at(cmap, 4 + 8 * k + 4)? as usize..));
    let sub = subtables.find(|sub| u16_at(sub, 0) == Some(4))?;
    let twice = usize::from(u16_at(sub, 6)?);
    let mut pairs = Vec::new();
    for k in (0..twice).step_by(2) {
        let (end, start) = (u16_at(sub, 14 + k)?, u16_at(sub, 16 + twice + k)?);
        let delta = u16_at(sub, 16 + 2 * twice + k)?;
        let offset_at = 16 + 3 * twice + k;
        let offset = usize::from(u16_at(sub, offset_at)?);
        for c in start..=end {
            let raw =
                if offset == 0 { c } else { u16_at(sub, offset_at + offset + 2 * usize::from(c - start))? };
            if offset == 0 || raw != 0 {
                pairs.push((u32::from(c), raw.wrapping_add(delta)));
            }
            if c == u16::MAX {
                break;
            }
        }
    }
    Some(pairs)
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_those_of_dejavu() {
        // 1303 of 2048 units for a digit, 651 for a space.
        assert!((width("00", 2048.0, Weight::Regular) - 2606.0).abs() < 1.0);
        assert!((width(" ", 2048.0, Weight::Regular) - 651.0).abs() < 1.0);
        assert!(width("m", 10.0, Weight::Bold) > width("m", 10.0, Weight::Regular));
        assert_eq!(width("x\u{304}", 10.0, Weight::Regular), width("x", 10.0, Weight::Regular));
    }

    #[test]
    fn the_subset_has_what_figures_write() {
        let wanted = "azAZ09é±×·−…‖∇∑√≤≥∞∈ℓεδγαβλσζψφΣΔ⁰¹²³⁴⁵⁶⁷⁸⁹⁻₀₁₂₉→←↑↓∂≈≠∝ℝ";
        for font in [REGULAR, BOLD] {
            assert!(font.len() < 150_000);
            let known = advances(font).unwrap_or_default();
            for c in wanted.chars() {
                assert!(known.contains_key(&u32::from(c)), "the font lacks {c}");
            }
        }
    }

    #[test]
    fn a_broken_font_gives_nothing() {
        assert!(advances(b"").is_none());
        assert!(advances(&REGULAR[..100]).is_none());
        assert!(advances(&REGULAR[..3000]).is_none());
    }
}
