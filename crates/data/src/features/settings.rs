//! What a map of images is made of, and what is allowed.
//!
//! Agreements of others come here too: whatever takes much work or memory has a limit.

use super::FeatureError;
use super::patches::PatchSettings;
use super::scattering::channels;
use crate::ImageShape;

/// What a map of images is made of. The defaults are those that were found best on CIFAR-10's validation images.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// J: wavelets have scales 1, 2, …, 2^(J−1) and averages are taken every 2^J pixels.
    pub scales: u32,
    /// L: wavelets per half turn.
    pub angles: usize,
    /// Cells per side over which averages are averaged.
    pub grid: usize,
    /// What is added before the logarithm.
    pub offset: f64,
    /// What is added to the correlations of channels before they are undone: 1 is as much as each channel's own.
    pub ridge: f64,
    /// Whether an image and its mirror get the same features (to rounding), which halves their number. Not for letters
    /// and digits.
    pub mirror: bool,
    /// How many dead-leaves images the statistics come from.
    pub leaves: usize,
    /// Filters beside the scattering.
    pub patches: Option<PatchSettings>,
}

/// The most channels of the scattering, and of the filters: whitening is work with the third power of them.
const MOST_CHANNELS: usize = 2048;
/// The most values of all dead leaves and their features together: two gigabytes.
const MOST_VALUES: u128 = 1 << 29;
/// The most responses to filters that a thread holds at a time.
const MOST_RESPONSES: usize = 1 << 26;

impl Settings {
    /// Scattering alone, for images with this many colours.
    pub fn scattering(channels: usize) -> Self {
        let mirror = channels == 3;
        Self { scales: 2, angles: 8, grid: 4, offset: 1e-3, ridge: 0.1, mirror, leaves: 3000, patches: None }
    }

    pub fn with_patches(channels: usize) -> Self {
        Self { patches: Some(PatchSettings::default()), ..Self::scattering(channels) }
    }

    /// How many features a map of these settings gives images of this shape.
    pub fn dimension(&self, shape: ImageShape) -> Result<usize, FeatureError> {
        self.check(shape)?;
        Ok(self.features(shape))
    }

    /// The number of features, of settings that were checked.
    fn features(&self, shape: ImageShape) -> usize {
        let patches = self.patches.map_or(0, |p| 2 * p.filters * p.grid * p.grid);
        shape.channels * channels(self.scales, self.angles) * self.cells() + patches
    }

    /// Cells that are left after folding.
    pub(super) fn cells(&self) -> usize {
        self.grid * if self.mirror { self.grid.div_ceil(2) } else { self.grid }
    }

    pub(super) fn check(&self, shape: ImageShape) -> Result<(), FeatureError> {
        number("scales", f64::from(self.scales), 1.0, 5.0)?;
        number("angles", self.angles as f64, 1.0, 16.0)?;
        number("offset", self.offset, 1e-9, 1e3)?;
        number("ridge", self.ridge, 1e-6, 1e6)?;
        number("leaves", self.leaves as f64, 100.0, 100_000.0)?;
        let side = shape.height.min(shape.width);
        if side >> self.scales == 0
            || shape.height.max(shape.width) > 1024
            || ![1, 3].contains(&shape.channels)
        {
            let allowed = format!("1 or 3 colours and sides from {} to 1024 pixels", 1 << self.scales);
            return Err(FeatureError::setting("image", shape, allowed));
        }
        number("grid", self.grid as f64, 1.0, (side >> self.scales) as f64)?;
        let channels = shape.channels * channels(self.scales, self.angles);
        if channels > MOST_CHANNELS {
            let allowed = format!(
                "so few that {} scales of {} colours have at most {MOST_CHANNELS} channels, not {channels}",
                self.scales, shape.channels
            );
            return Err(FeatureError::setting("angles", self.angles, allowed));
        }
        self.check_patches(shape)?;
        let values = self.leaves as u128 * (shape.features() + self.features(shape)) as u128;
        match values <= MOST_VALUES {
            true => Ok(()),
            false => {
                let leaves = self.leaves;
                let allowed = format!(
                    "so small that {leaves} synthetic images and their features have at most {MOST_VALUES} values, \
                     not {values}"
                );
                Err(FeatureError::setting("image", shape, allowed))
            }
        }
    }

    fn check_patches(&self, shape: ImageShape) -> Result<(), FeatureError> {
        let Some(patches) = self.patches else { return Ok(()) };
        let side = shape.height.min(shape.width);
        number("filters", patches.filters as f64, 1.0, (MOST_CHANNELS / 2) as f64)?;
        number("patch", patches.size as f64, 2.0, side.min(16) as f64)?;
        number("stride", patches.stride as f64, 1.0, 16.0)?;
        number("threshold", patches.threshold, 0.0, 100.0)?;
        number("weight", patches.weight, 1e-3, 1e3)?;
        let places = |length: usize| (length - patches.size) / patches.stride + 1;
        number("cells", patches.grid as f64, 1.0, places(side) as f64)?;
        let responses = places(shape.height) * places(shape.width) * patches.filters;
        match responses <= MOST_RESPONSES {
            true => Ok(()),
            false => {
                let allowed = format!(
                    "so few that an image has at most {MOST_RESPONSES} responses to them, not {responses}"
                );
                Err(FeatureError::setting("filters", patches.filters, allowed))
            }
        }
    }
}

fn number(field: &'static str, value: f64, least: f64, most: f64) -> Result<(), FeatureError> {
    match (least..=most).contains(&value) {
        true => Ok(()),
        false => Err(FeatureError::setting(field, value, format!("from {least} to {most}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_too_much_work_or_memory_is_refused_by_name() {
        let shape = |channels, side| ImageShape { channels, height: side, width: side };
        let patches = |change: fn(&mut PatchSettings)| {
            let mut patches = PatchSettings::default();
            change(&mut patches);
            Settings { patches: Some(patches), ..Settings::scattering(3) }
        };
        let plain = Settings::scattering(3);
        for (shape, settings, words) in [
            (
                shape(3, 32),
                patches(|p| p.filters = 1025),
                "features.filters = 1025 is not allowed: it must be from 1 to 1024",
            ),
            (shape(3, 32), patches(|p| p.filters = 0), "features.filters = 0"),
            (shape(3, 32), patches(|p| p.size = 17), "features.patch = 17"),
            (shape(3, 32), patches(|p| p.stride = 0), "features.stride = 0"),
            (shape(3, 32), patches(|p| p.grid = 15), "features.cells = 15"),
            (shape(3, 32), patches(|p| p.weight = f64::NAN), "features.weight = NaN"),
            (
                shape(1, 400),
                patches(|p| (p.filters, p.stride) = (1024, 1)),
                "features.filters = 1024 is not allowed: it must be so few",
            ),
            (
                shape(3, 256),
                Settings { scales: 5, angles: 16, ..plain },
                "features.angles = 16 is not allowed: it must be so few that 5 scales",
            ),
            (shape(3, 32), Settings { scales: 6, ..plain }, "features.scales = 6"),
            (shape(3, 32), Settings { angles: 17, ..plain }, "features.angles = 17"),
            (
                shape(3, 32),
                Settings { grid: 9, ..plain },
                "features.grid = 9 is not allowed: it must be from 1 to 8",
            ),
            (shape(3, 32), Settings { leaves: 99, ..plain }, "features.leaves = 99"),
            (shape(3, 1000), plain, "3000 synthetic images and their features have at most 536870912 values"),
            (shape(3, 128), Settings { grid: 32, mirror: false, ..plain }, "synthetic images"),
            (shape(2, 32), plain, "1 or 3 colours"),
            (shape(3, 3), plain, "sides from 4 to 1024 pixels"),
            (shape(3, usize::MAX), plain, "sides from 4 to 1024 pixels"),
        ] {
            let said = settings.dimension(shape).unwrap_err().to_string();
            assert!(said.contains(words), "{words:?} is missing in {said}");
        }
        assert_eq!(plain.dimension(shape(3, 32)), Ok(1944));
        assert_eq!(Settings::with_patches(3).dimension(shape(3, 32)), Ok(5544));
        assert_eq!(Settings::scattering(1).dimension(shape(1, 28)), Ok(81 * 16));
        assert!(plain.dimension(shape(3, 224)).is_ok());
    }
}
