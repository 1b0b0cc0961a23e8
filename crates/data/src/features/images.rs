//! The feature map of images: scattering, patches, logarithm, pooling, mirror folding, whitening, unit norm.

use super::patches::{self, Patches};
use super::scattering::{Scattering, Workspace};
use super::settings::Settings;
use super::statistics::{Moments, Whitening};
use super::wavelets;
use super::{Description, FeatureError, INTERCEPT, MapKind};
use crate::{DENSE_LIMIT, Feature, ImageShape, Table};
use prdo_kernels::fourier::{self, Sums};
use prdo_kernels::{LANES, Level, Memory, Records, dense};
use rayon::prelude::*;

/// A map from images of one size to features of unit norm.
#[derive(Clone, Debug)]
pub struct FeatureMap {
    shape: ImageShape,
    settings: Settings,
    level: Level,
    scattering: Scattering,
    pooling: [Sums; 2],
    mirrored: Vec<usize>,
    whitening: Whitening,
    patches: Option<(Patches, Whitening)>,
    hash: [u8; 32],
}

/// What channels of colour images are multiplied by after whitening: brightness and colours, orders 0, 1 and 2. Whitening
/// makes all channels equally loud; those of the second order of colours say least about what an image shows.
const LOUDNESS: [[f32; 3]; 2] = [[1.0, 1.5, 1.3], [1.0, 1.0, 0.3]];

struct Worker {
    planes: Vec<f32>,
    work: Workspace,
    scattered: Memory,
    pooled: Memory,
    scratch: Memory,
    responses: Vec<f32>,
    mirror: Vec<f32>,
    rows: Vec<f32>,
}

impl FeatureMap {
    /// The map for images of this shape. Takes some seconds: it looks at thousands of synthetic images.
    pub fn new(shape: ImageShape, settings: Settings) -> Result<Self, FeatureError> {
        let mut map = Self::blank(shape, settings)?;
        map.learn();
        Ok(map)
    }

    /// The map before its constants are computed: all of them are 0.
    pub(super) fn blank(shape: ImageShape, settings: Settings) -> Result<Self, FeatureError> {
        settings.check(shape)?;
        let size = [shape.height, shape.width];
        let level = Level::best();
        let scattering = Scattering::new(size, settings.scales, settings.angles, level);
        let of_one = scattering.mirrored();
        let of_plane = |p: usize| of_one.iter().map(|c| p * of_one.len() + c).collect::<Vec<_>>();
        let mirrored = (0..shape.channels).flat_map(of_plane).collect();
        let pooling = scattering.places().map(|places| wavelets::pooling(places, settings.grid));
        let whitening = Whitening::blank(shape.channels * scattering.channels());
        let patches = settings.patches.map(|patches| {
            let patches = Patches::new(patches, shape.channels, size);
            let whitening = Whitening::blank(patches.channels());
            (patches, whitening)
        });
        let hash = [0; 32];
        Ok(Self { shape, settings, level, scattering, pooling, mirrored, whitening, patches, hash })
    }

    /// Computes the constants from synthetic images.
    fn learn(&mut self) {
        let shape = self.shape;
        let leaves = patches::leaves(self.settings.leaves, shape.channels, [shape.height, shape.width]);
        let leaves: Vec<Vec<f32>> = leaves.into_iter().map(|image| opponent(&image, shape)).collect();
        if let Some((patches, _)) = &mut self.patches {
            patches.find(&leaves);
        }
        self.even_out(&leaves);
        self.hash = self.digest();
    }

    /// Every constant, in the order in which they are hashed.
    pub(super) fn constants(&self) -> Vec<&[f32]> {
        let of_patches = self.patches.iter().flat_map(|(p, w)| [&p.taps[..], &w.mean[..], &w.weights[..]]);
        [&self.whitening.mean[..], &self.whitening.weights[..]].into_iter().chain(of_patches).collect()
    }

    /// The map with constants that were computed before, in the same order.
    pub(super) fn with_constants(mut self, values: &[f32]) -> Self {
        let of_patches =
            self.patches.iter_mut().flat_map(|(p, w)| [&mut p.taps[..], &mut w.mean[..], &mut w.weights[..]]);
        let own = [&mut self.whitening.mean[..], &mut self.whitening.weights[..]];
        let all = own.into_iter().chain(of_patches).flatten();
        all.zip(values).for_each(|(to, value)| *to = *value);
        self.hash = self.digest();
        self
    }

    /// What names the constants of this map before they are computed: its description, and what becomes of one
    /// synthetic image, so that those of other wavelets or dead leaves are not taken for its own.
    pub(super) fn recipe(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key("prdo 2026-11 constants of feature maps v1");
        hasher.update(self.describe().text.as_bytes());
        let size = [self.shape.height, self.shape.width];
        let leaves = patches::leaves(1, self.shape.channels, size);
        let image = leaves.first().map_or(Vec::new(), |image| opponent(image, self.shape));
        for value in self.scattered_rows(&mut self.worker(), &[&image]) {
            hasher.update(&value.to_bits().to_le_bytes());
        }
        *hasher.finalize().as_bytes()
    }

    /// Takes statistics of the rows of synthetic images, in the order of the images.
    fn even_out(&mut self, leaves: &[Vec<f32>]) {
        let mut moments = Moments::new(self.channels());
        let mut of_patches = self.patches.as_ref().map(|(patches, _)| Moments::new(patches.channels()));
        let rows = |worker: &mut Worker, images: &[Vec<f32>]| {
            let images: Vec<&[f32]> = images.iter().map(Vec::as_slice).collect();
            (self.scattered_rows(worker, &images), self.patch_rows(worker, &images, true))
        };
        let found: Vec<(Vec<f32>, Vec<f32>)> = leaves
            .par_chunks(LANES)
            .map_init(|| self.worker(), |worker, images| rows(worker, images))
            .collect();
        for (scattered, patches) in &found {
            moments.add(scattered);
            if let Some(moments) = &mut of_patches {
                moments.add(patches);
            }
        }
        self.whitening = moments.whitening(self.settings.ridge);
        if self.shape.channels > 1 {
            self.whitening.weigh(&self.loudness());
        }
        if let (Some((_, whitening)), Some(moments)) = (&mut self.patches, of_patches) {
            *whitening = moments.whitening(self.settings.ridge);
        }
    }

    fn loudness(&self) -> Vec<f32> {
        let (one, first) = (self.scattering.channels(), self.settings.scales as usize * self.settings.angles);
        let order = |channel: usize| match channel {
            0 => 0,
            c if c <= first => 1,
            _ => 2,
        };
        (0..self.channels()).map(|c| LOUDNESS[usize::from(c >= one)][order(c % one)]).collect()
    }

    pub fn dimension(&self) -> usize {
        let patches = self.patches.as_ref().map_or(0, |(p, _)| p.channels() * p.cells());
        self.channels() * self.cells() + patches
    }

    pub fn shape(&self) -> ImageShape {
        self.shape
    }

    /// BLAKE3 of the map's description and of all its computed constants, in hexadecimal digits.
    pub fn hash(&self) -> String {
        blake3::Hash::from_bytes(self.hash).to_hex().to_string()
    }

    pub fn describe(&self) -> Description {
        let s = &self.settings;
        let mut text = format!(
            "features v3: images {}; scattering of {} scales, {} angles; log offset {:?}; grid {}; ridge {:?}; mirror {}; \
             {} dead leaves; intercept {INTERCEPT:?}",
            self.shape, s.scales, s.angles, s.offset, s.grid, s.ridge, s.mirror, s.leaves,
        );
        if self.shape.channels > 1 {
            text += &format!("; orders of brightness and colours {LOUDNESS:?}");
        }
        if let Some(p) = s.patches {
            text += &format!(
                "; {} patches of {}, stride {}, threshold {:?}, grid {}, weight {:?}",
                p.filters, p.size, p.stride, p.threshold, p.grid, p.weight
            );
        }
        Description { kind: MapKind::Images, text }
    }

    fn digest(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key("prdo 2026-11 feature map v1");
        hasher.update(self.describe().text.as_bytes());
        for values in self.constants() {
            hasher.update(&(values.len() as u64).to_le_bytes());
            for value in values {
                hasher.update(&value.to_bits().to_le_bytes());
            }
        }
        *hasher.finalize().as_bytes()
    }

    /// The features of every record. `progress` is told how many more records are done, from any thread.
    pub fn apply<F: Feature>(
        &self,
        images: &Table<F>,
        shape: ImageShape,
        progress: &(dyn Fn(usize) + Sync),
    ) -> Result<Table<f32>, FeatureError> {
        if shape != self.shape || images.width() != shape.features() {
            return Err(FeatureError::Shape { expected: self.shape, found: shape });
        }
        let (records, features) = (images.len(), self.dimension());
        if (records as u128) * (features as u128) * 4 > u128::from(DENSE_LIMIT) {
            return Err(FeatureError::TooLarge { records, features, limit: DENSE_LIMIT });
        }
        let mut out = vec![0.0_f32; records * features];
        let group = |worker: &mut Worker, number: usize, out: &mut [f32]| {
            let first = number * LANES;
            let count = out.len() / features;
            let planes = |r: usize| -> Vec<f32> {
                let numbers: Vec<f32> = images.row(r).iter().map(|v| v.single()).collect();
                opponent(&numbers, shape)
            };
            let images: Vec<Vec<f32>> = (first..first + count).map(planes).collect();
            self.features(worker, &images, out);
            progress(count);
        };
        out.par_chunks_mut(LANES * features)
            .enumerate()
            .for_each_init(|| self.worker(), |worker, (number, out)| group(worker, number, out));
        Ok(Table::trusted(features, out, images.labels().to_vec()))
    }

    /// Features of at most sixteen images, given as planes.
    fn features(&self, worker: &mut Worker, images: &[Vec<f32>], out: &mut [f32]) {
        let images: Vec<&[f32]> = images.iter().map(Vec::as_slice).collect();
        let (channels, cells) = (self.channels(), self.cells());
        let rows = self.scattered_rows(worker, &images);
        let features = self.dimension();
        let white = whitened(self.level, &self.whitening, &rows, channels, &mut worker.rows);
        for (image, out) in white.chunks_exact(channels * cells).zip(out.chunks_exact_mut(features)) {
            out[..channels * cells].copy_from_slice(image);
            unit(&mut out[..channels * cells]);
        }
        if let Some((patches, whitening)) = &self.patches {
            let rows = self.patch_rows(worker, &images, false);
            let weight = self.settings.patches.map_or(1.0, |p| p.weight) as f32;
            let (channels, count) = (patches.channels(), patches.channels() * patches.cells());
            let white = whitened(self.level, whitening, &rows, channels, &mut worker.rows);
            for (image, out) in white.chunks_exact(count).zip(out.chunks_exact_mut(features)) {
                let out = &mut out[features - count..];
                out.copy_from_slice(image);
                unit(out);
                out.iter_mut().for_each(|v| *v *= weight);
            }
        }
        out.chunks_exact_mut(features).for_each(unit);
    }

    fn channels(&self) -> usize {
        self.shape.channels * self.scattering.channels()
    }

    fn cells(&self) -> usize {
        self.settings.cells()
    }

    fn worker(&self) -> Worker {
        let [down, across] = self.scattering.places();
        let grid = self.settings.grid;
        Worker {
            planes: vec![0.0; self.shape.height * self.shape.width * LANES],
            work: self.scattering.workspace(),
            scattered: Memory::zeros(self.scattering.channels() * down * across * LANES),
            pooled: Memory::zeros(self.channels() * grid * grid * LANES),
            scratch: Memory::zeros(grid * across * LANES),
            responses: Vec::new(),
            mirror: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// For each image and each cell a row of channels: logarithms of the scattering, pooled and folded.
    fn scattered_rows(&self, worker: &mut Worker, images: &[&[f32]]) -> Vec<f32> {
        let plane = self.shape.height * self.shape.width;
        let [down, across] = self.scattering.places();
        let (one, grid) = (self.scattering.channels(), self.settings.grid);
        for colour in 0..self.shape.channels {
            for (lane, image) in images.iter().enumerate() {
                let image = &image[colour * plane..(colour + 1) * plane];
                worker.planes.iter_mut().skip(lane).step_by(LANES).zip(image).for_each(|(to, v)| *to = *v);
            }
            let scattered = &mut worker.scattered;
            self.scattering.scatter(&worker.planes, &mut worker.work, scattered);
            // The mean can be negative; the rest are means of moduli.
            fourier::logarithm(
                self.level,
                &mut scattered[down * across * LANES..],
                self.settings.offset as f32,
            );
            let pooled = &mut worker.pooled[colour * one * grid * grid * LANES..];
            let channels = scattered.chunks_exact(down * across * LANES);
            for (from, to) in channels.zip(pooled.chunks_exact_mut(grid * grid * LANES)) {
                fourier::resample(
                    self.level,
                    &self.pooling[0],
                    &self.pooling[1],
                    from,
                    &mut worker.scratch,
                    to,
                );
            }
        }
        self.folded(&worker.pooled, images.len())
    }

    /// Rows of `count` images out of `[channel][cell][lane]`; with mirrors, a cell and its mirror are one.
    fn folded(&self, pooled: &[f32], count: usize) -> Vec<f32> {
        let (grid, channels) = (self.settings.grid, self.channels());
        let at = |channel: usize, i: usize, j: usize| ((channel * grid + i) * grid + j) * LANES;
        let columns = self.cells() / grid;
        let mut rows = Vec::with_capacity(count * self.cells() * channels);
        for lane in 0..count {
            for i in 0..grid {
                for j in 0..columns {
                    let other = grid - 1 - j;
                    // A middle column is its own mirror and has each pair twice: half of it, so that it counts once.
                    let share = if other == j { 0.5 } else { std::f32::consts::FRAC_1_SQRT_2 };
                    rows.extend(self.mirrored.iter().enumerate().map(|(c, mirror)| {
                        let own = pooled[at(c, i, j) + lane];
                        if self.settings.mirror {
                            (own + pooled[at(*mirror, i, other) + lane]) * share
                        } else {
                            own
                        }
                    }));
                }
            }
        }
        rows
    }

    /// For each image and each cell a row of responses to filters, of the image and its mirror.
    fn patch_rows(&self, worker: &mut Worker, images: &[&[f32]], apart: bool) -> Vec<f32> {
        let Some((patches, _)) = &self.patches else { return Vec::new() };
        let count = patches.channels() * patches.cells();
        let mut rows = vec![0.0; images.len() * count];
        for (image, row) in images.iter().zip(rows.chunks_exact_mut(count)) {
            patches.respond(self.level, image, apart, &mut worker.responses, row);
            if self.settings.mirror {
                patches.mirror(image, &mut worker.mirror);
                patches.respond(self.level, &worker.mirror, apart, &mut worker.responses, row);
            }
        }
        rows
    }
}

/// (r + g + b)/√3, (r − g)/√2, (r + g − 2b)/√6: brightness, and two colours apart from it. Grey stays grey.
fn opponent(image: &[f32], shape: ImageShape) -> Vec<f32> {
    if shape.channels != 3 {
        return image.to_vec();
    }
    const AXES: [[f32; 3]; 3] = [
        [0.577_350_26, 0.577_350_26, 0.577_350_26],
        [std::f32::consts::FRAC_1_SQRT_2, -std::f32::consts::FRAC_1_SQRT_2, 0.0],
        [0.408_248_3, 0.408_248_3, -0.816_496_6],
    ];
    let plane = shape.height * shape.width;
    let (red, rest) = image.split_at(plane);
    let (green, blue) = rest.split_at(plane);
    let mut out = Vec::with_capacity(image.len());
    for [a, b, c] in AXES {
        out.extend(red.iter().zip(green).zip(blue).map(|((r, g), blue)| a * r + b * g + c * blue));
    }
    out
}

/// Rows of `channels` values, centred and multiplied by the weights.
fn whitened(level: Level, map: &Whitening, rows: &[f32], channels: usize, memory: &mut Vec<f32>) -> Vec<f32> {
    let stride = channels + map.width;
    let count = rows.len() / channels;
    memory.resize(count * stride, 0.0);
    for (row, record) in rows.chunks_exact(channels).zip(memory.chunks_exact_mut(stride)) {
        record.iter_mut().zip(row.iter().zip(&map.mean)).for_each(|(to, (v, mean))| *to = v - mean);
    }
    dense::backward(level, &map.weights, map.width, memory, Records { stride, count }, 0, channels);
    memory
        .chunks_exact(stride)
        .take(count)
        .flat_map(|record| &record[channels..2 * channels])
        .copied()
        .collect()
}

/// Makes a vector one of norm 1; zeros stay zeros.
fn unit(features: &mut [f32]) {
    let norm = features.iter().map(|v| f64::from(*v) * f64::from(*v)).sum::<f64>().sqrt();
    if norm > 0.0 {
        let scale = (1.0 / norm) as f32;
        features.iter_mut().for_each(|v| *v *= scale);
    }
}

#[cfg(test)]
mod tests {
    use super::super::PatchSettings;
    use super::*;

    fn map(shape: ImageShape) -> FeatureMap {
        let patches = PatchSettings { filters: 24, size: 5, grid: 2, ..PatchSettings::default() };
        let settings = Settings {
            leaves: 100,
            angles: 4,
            grid: 3,
            patches: Some(patches),
            mirror: true,
            ..Settings::scattering(3)
        };
        FeatureMap::new(shape, settings).unwrap()
    }

    #[test]
    fn an_image_and_its_mirror_have_the_same_features() {
        for (channels, height, width) in [(3, 16, 16), (1, 17, 12), (1, 12, 15)] {
            let shape = ImageShape { channels, height, width };
            let map = map(shape);
            let images = patches::leaves(3, channels, [height, width]).concat();
            let mirrors = images.chunks_exact(width).flat_map(|row| row.iter().rev().copied()).collect();
            let [own, other] = [images, mirrors].map(|values| {
                let table = Table::new(shape.features(), values, vec![0.0; 3]).unwrap();
                map.apply(&table, shape, &|_| ()).unwrap()
            });
            for r in 0..3 {
                let square: f32 = own.row(r).iter().zip(other.row(r)).map(|(a, b)| (a - b) * (a - b)).sum();
                assert!(square.sqrt() < 1e-4, "{shape}: {} of norm 1", square.sqrt());
                let norm: f32 = own.row(r).iter().map(|v| v * v).sum();
                assert!((norm - 1.0).abs() < 1e-4);
            }
            let apart: f32 = own.row(0).iter().zip(own.row(1)).map(|(a, b)| (a - b) * (a - b)).sum();
            assert!(apart > 0.1, "other images have other features: {apart}");
        }
    }

    #[test]
    fn images_of_another_size_are_refused_and_everything_is_in_the_description() {
        let shape = ImageShape { channels: 1, height: 12, width: 13 };
        let map = map(shape);
        let turned = ImageShape { height: 13, width: 12, ..shape };
        let images = Table::new(156, vec![0_u8; 156], vec![0.0]).unwrap();
        let said = map.apply(&images, turned, &|_| ()).unwrap_err().to_string();
        assert_eq!(said, "the feature map reads images of 1 x 12 x 13, but these are 1 x 13 x 12");
        let wide = Table::new(157, vec![0_u8; 157], vec![0.0]).unwrap();
        assert!(map.apply(&wide, shape, &|_| ()).is_err());
        // A black image has features too.
        let black = map.apply(&images, shape, &|_| ()).unwrap();
        assert!(black.features().iter().all(|v| v.is_finite()) && black.width() == map.dimension());
        let words = ["images 1 x 12 x 13", "4 angles", "24 patches of 5", "mirror true", "intercept 0.1"];
        assert!(words.iter().all(|word| map.describe().text.contains(word)), "{}", map.describe());
    }
}
