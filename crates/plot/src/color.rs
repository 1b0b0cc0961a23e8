//! Colours that stay apart for colour-blind readers, and the dashes that keep series apart in black and
//! white.

use std::fmt;

/// An sRGB colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Color {
    pub red: u8,
    pub green: u8,
    pub blue: u8,
}

/// Okabe and Ito's colours without black and yellow (lost on dark and on white pages), then two of Tol's
/// and a grey.
const PALETTE: [u32; 9] =
    [0x0072B2, 0xD55E00, 0x009E73, 0xCC79A7, 0xE69F00, 0x56B4E9, 0x999933, 0xAA3377, 0x808080];

/// Dash patterns; eight against nine colours, so that 72 styles differ in the pair.
const DASHES: [&str; 8] = ["", "7 3", "2 2.5", "8 3 2 3", "5 5", "8 3 2 3 2 3", "4 2", "1 4"];

/// Nine points of the `viridis` map, dark to light.
const RAMP: [u32; 9] =
    [0x440154, 0x472D7B, 0x3B528B, 0x2C728E, 0x21918C, 0x28AE80, 0x5EC962, 0xADDC30, 0xFDE725];

impl Color {
    pub const fn rgb(red: u8, green: u8, blue: u8) -> Self {
        Self { red, green, blue }
    }

    const fn hex(code: u32) -> Self {
        let [_, red, green, blue] = code.to_be_bytes();
        Self { red, green, blue }
    }

    /// Colour `k` of the palette, starting over after the last.
    pub fn palette(k: usize) -> Self {
        Self::hex(PALETTE[k % PALETTE.len()])
    }

    /// The colour of a value in 0..1, dark (0) to light (1); a value outside is clamped, NaN is grey.
    pub fn ramp(value: f64) -> Self {
        if value.is_nan() {
            return Self::rgb(0x99, 0x99, 0x99);
        }
        let at = value.clamp(0.0, 1.0) * (RAMP.len() - 1) as f64;
        let k = (at as usize).min(RAMP.len() - 2);
        Self::hex(RAMP[k]).blend(Self::hex(RAMP[k + 1]), at - k as f64)
    }

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
        assert_eq!(Color::ramp(0.0), Color::hex(RAMP[0]));
        assert_eq!(Color::ramp(1.0), Color::hex(RAMP[8]));
        assert_eq!(Color::ramp(f64::INFINITY), Color::hex(RAMP[8]));
        assert_eq!(Color::ramp(-3.0), Color::hex(RAMP[0]));
        assert_eq!(Color::ramp(f64::NAN).to_string(), "#999999");
    }

    #[test]
    fn seventy_two_styles_differ() {
        let styles: std::collections::HashSet<_> =
            (0..72).map(|k| (Color::palette(k).to_string(), dash(k))).collect();
        assert_eq!(styles.len(), 72);
    }
}
