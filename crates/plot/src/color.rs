//! Colours that stay apart for colour-blind readers, and the dashes that keep series apart in black and
//! white.

use std::fmt;

/// An sRGB colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Color {
    /// Red.
    pub red: u8,
    /// Green.
    pub green: u8,
    /// Blue.
    pub blue: u8,
}

/// Okabe and Ito's colours without black and yellow (lost on dark and on white pages), then two of Tol's
/// and a grey.
const PALETTE: [Color; 9] = [
    Color::rgb(0x00, 0x72, 0xB2),
    Color::rgb(0xD5, 0x5E, 0x00),
    Color::rgb(0x00, 0x9E, 0x73),
    Color::rgb(0xCC, 0x79, 0xA7),
    Color::rgb(0xE6, 0x9F, 0x00),
    Color::rgb(0x56, 0xB4, 0xE9),
    Color::rgb(0x99, 0x99, 0x33),
    Color::rgb(0xAA, 0x33, 0x77),
    Color::rgb(0x80, 0x80, 0x80),
];

/// Dash patterns; eight against nine colours, so that 72 styles differ in the pair.
const DASHES: [&str; 8] = ["", "7 3", "2 2.5", "8 3 2 3", "5 5", "8 3 2 3 2 3", "4 2", "1 4"];

/// Nine points of the `viridis` map, dark to light.
const RAMP: [Color; 9] = [
    Color::rgb(0x44, 0x01, 0x54),
    Color::rgb(0x47, 0x2D, 0x7B),
    Color::rgb(0x3B, 0x52, 0x8B),
    Color::rgb(0x2C, 0x72, 0x8E),
    Color::rgb(0x21, 0x91, 0x8C),
    Color::rgb(0x28, 0xAE, 0x80),
    Color::rgb(0x5E, 0xC9, 0x62),
    Color::rgb(0xAD, 0xDC, 0x30),
    Color::rgb(0xFD, 0xE7, 0x25),
];

impl Color {
    /// A colour from its three bytes.
    pub const fn rgb(red: u8, green: u8, blue: u8) -> Self {
        Self { red, green, blue }
    }

    /// Colour `k` of the palette, starting over after the last.
    pub fn palette(k: usize) -> Self {
        PALETTE[k % PALETTE.len()]
    }

    /// The colour of a value in 0..1, dark (0) to light (1); a value outside is clamped, NaN is grey.
    pub fn ramp(value: f64) -> Self {
        if value.is_nan() {
            return Self::rgb(0x99, 0x99, 0x99);
        }
        let at = value.clamp(0.0, 1.0) * (RAMP.len() - 1) as f64;
        let k = (at as usize).min(RAMP.len() - 2);
        RAMP[k].blend(RAMP[k + 1], at - k as f64)
    }

    /// The mixture with `share` of `other`.
    fn blend(self, other: Self, share: f64) -> Self {
        let mix = |a: u8, b: u8| (f64::from(a) + (f64::from(b) - f64::from(a)) * share).round() as u8;
        Self::rgb(mix(self.red, other.red), mix(self.green, other.green), mix(self.blue, other.blue))
    }

    /// Whether black text reads better than white upon this colour.
    pub(super) fn is_light(self) -> bool {
        let sum = 0.299 * f64::from(self.red) + 0.587 * f64::from(self.green) + 0.114 * f64::from(self.blue);
        sum > 140.0
    }
}

impl fmt::Display for Color {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "#{:02x}{:02x}{:02x}", self.red, self.green, self.blue)
    }
}

/// The dash pattern of series `k`, as SVG's `stroke-dasharray`; empty for a solid line.
pub(super) fn dash(k: usize) -> &'static str {
    DASHES[k % DASHES.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ramp_holds_for_any_value() {
        assert_eq!(Color::ramp(0.0), RAMP[0]);
        assert_eq!(Color::ramp(1.0), RAMP[8]);
        assert_eq!(Color::ramp(f64::INFINITY), RAMP[8]);
        assert_eq!(Color::ramp(-3.0), RAMP[0]);
        assert_eq!(Color::ramp(f64::NAN).to_string(), "#999999");
    }

    #[test]
    fn seventy_two_styles_differ() {
        let styles: std::collections::HashSet<_> =
            (0..72).map(|k| (Color::palette(k).to_string(), dash(k))).collect();
        assert_eq!(styles.len(), 72);
    }
}
