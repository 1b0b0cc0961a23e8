//! The bundled fonts, and how wide a text is in them.
//!
//! The widths come from the font files themselves (tables `cmap` and `hmtx`), so what the layout reserves is
//! what the renderer draws. Kerning is ignored: it only makes text narrower.

use std::collections::HashMap;
use std::sync::OnceLock;

/// DejaVu Sans, cut to what figures need; see `assets/README.md`.
pub(super) const REGULAR: &[u8] = include_bytes!("../../assets/DejaVuSans-subset.ttf");
/// DejaVu Sans Bold, cut likewise.
pub(super) const BOLD: &[u8] = include_bytes!("../../assets/DejaVuSans-Bold-subset.ttf");
/// The family's name inside both files.
pub(super) const FAMILY: &str = "DejaVu Sans";

/// The width taken for a character the font lacks, in ems.
const UNKNOWN: f64 = 0.65;

/// Which of the two faces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weight {
    /// Running text.
    Regular,
    /// Titles.
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

/// Every character's advance in ems, or nothing if the file is not a TrueType font.
fn advances(font: &[u8]) -> Option<HashMap<u32, f64>> {
    let em = f64::from(u16_at(table(font, b"head")?, 18)?);
    let wide = usize::from(u16_at(table(font, b"hhea")?, 34)?);
    let hmtx = table(font, b"hmtx")?;
    let advance = |glyph: usize| u16_at(hmtx, 4 * glyph.min(wide.checked_sub(1)?));
    let mut all = HashMap::new();
    for (character, glyph) in characters(table(font, b"cmap")?)? {
        if let Some(units) = advance(usize::from(glyph)) {
            all.insert(character, f64::from(units) / em);
        }
    }
    Some(all)
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
