//! Filters found among patches of dead leaves: how much of each there is in which part of an image.
//!
//! A patch is brought to mean brightness 0 and deviation 1 and compared with every filter and its mirror; what exceeds a threshold,
//! on either side, is averaged over cells (Coates, Lee and Ng, 2011, with synthetic patches in place of the data's).

use super::dead_leaves::{self, uniform};
use super::statistics::Moments;
use prdo_kernels::rank_one::{self, STEP};
use prdo_kernels::{LANES, Level, direct};
use prdo_privacy::{Purpose, Secret, Stream};
use rayon::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PatchSettings {
    /// How many; each counts with its mirror.
    pub filters: usize,
    /// Pixels per side.
    pub size: usize,
    /// From a patch to the next, in pixels.
    pub stride: usize,
    /// Responses up to this count as none; they have deviation 1 or so.
    pub threshold: f64,
    /// Cells per side, of which each has a mean response.
    pub grid: usize,
    /// What the features are multiplied by, beside those of the scattering.
    pub weight: f64,
}

impl Default for PatchSettings {
    fn default() -> Self {
        Self { filters: 200, size: 6, stride: 2, threshold: 0.5, grid: 3, weight: 0.8 }
    }
}

/// The variance that a patch's own is increased by, so that flat ones stay flat. Pixels are from 0 to 1.
const CONTRAST: f32 = 1e-3;
/// What is added to the correlations of patches before they are undone.
const RIDGE: f64 = 0.1;
/// Patches that filters are made from, and how often they are improved.
const PATCHES_PER_IMAGE: usize = 40;
const IMPROVEMENTS: usize = 10;
const SEED: u64 = 0x7061_7463_6865_7321;

#[derive(Clone, Debug)]
pub(crate) struct Patches {
    settings: PatchSettings,
    size: [usize; 2],
    /// Filters, padded to whole vectors.
    width: usize,
    /// A line for each pixel of a patch, in the order of `steps`.
    pub(crate) taps: Vec<f32>,
    steps: Vec<usize>,
    /// Where patches begin.
    places: Vec<usize>,
    /// For sixteen filters at a time: where their taps are, and where the responses of each place go.
    blocks: Vec<(Vec<usize>, Vec<usize>)>,
    /// For each place, the cells it belongs to and with which share.
    cells: Vec<Vec<(usize, f32)>>,
}

impl Patches {
    /// Filters for images of this size that are still 0.
    pub(crate) fn new(settings: PatchSettings, channels: usize, size: [usize; 2]) -> Self {
        let [height, width] = size;
        let side = 0..settings.size;
        let steps: Vec<usize> = (0..channels)
            .flat_map(|c| side.clone().map(move |y| (c, y)))
            .flat_map(|(c, y)| side.clone().map(move |x| (c * height + y) * width + x))
            .collect();
        let count = |length: usize| (length - settings.size) / settings.stride + 1;
        let starts = |length: usize| {
            // Centred, so that a mirrored image has mirrored patches.
            let first = (length - settings.size - (count(length) - 1) * settings.stride) / 2;
            (0..count(length)).map(move |n| first + n * settings.stride)
        };
        let places: Vec<usize> =
            starts(height).flat_map(|y| starts(width).map(move |x| y * width + x)).collect();
        let [down, across] = size.map(|length| shares(count(length), settings.grid));
        let cells = down.iter().flat_map(|d| across.iter().map(|a| product(d, a, settings.grid))).collect();
        let padded = settings.filters.next_multiple_of(LANES);
        let taps = vec![0.0; steps.len() * padded];
        let lines = |count: usize, block: usize| (0..count).map(|k| k * padded + block).collect();
        let blocks = (0..padded).step_by(LANES).map(|b| (lines(steps.len(), b), lines(places.len(), b)));
        let blocks = blocks.collect();
        Self { settings, size, width: padded, taps, steps, places, blocks, cells }
    }

    /// Finds the filters among the patches of `images` (planes of this size, colours apart).
    pub(crate) fn find(&mut self, images: &[Vec<f32>]) {
        self.taps = filters(&self.settings, &self.steps, self.size, images);
    }

    /// Channels per cell.
    pub(crate) fn channels(&self) -> usize {
        2 * self.settings.filters
    }

    pub(crate) fn cells(&self) -> usize {
        self.settings.grid * self.settings.grid
    }

    /// Adds, cell by cell, the mean responses of `image` to `out`. `apart` gives the same bits on every machine and is
    /// slower.
    pub(crate) fn respond(
        &self,
        level: Level,
        image: &[f32],
        apart: bool,
        scratch: &mut Vec<f32>,
        out: &mut [f32],
    ) {
        let (width, filters) = (self.width, self.settings.filters);
        scratch.resize(self.places.len() * width, 0.0);
        let gather = if apart { direct::gather_apart } else { direct::gather };
        for (lines, outs) in &self.blocks {
            gather(level, image, &self.places, &self.steps, &self.taps, lines, None, scratch, outs);
        }
        let scales = self.scales(image);
        let threshold = self.settings.threshold as f32;
        for ((values, scale), cells) in scratch.chunks_exact(width).zip(scales).zip(&self.cells) {
            for (cell, share) in cells {
                let cell = &mut out[cell * 2 * filters..(cell + 1) * 2 * filters];
                let (above, below) = cell.split_at_mut(filters);
                direct::add_beyond(level, &values[..filters], scale, threshold, *share, above, below);
            }
        }
    }

    /// For each place, one over the deviation of its patch.
    fn scales(&self, image: &[f32]) -> Vec<f32> {
        let ([height, width], side) = (self.size, self.settings.size);
        let plane = height * width;
        let (mut sums, mut squares) = (vec![0.0; plane], vec![0.0; plane]);
        sums.copy_from_slice(&image[..plane]);
        for colour in image.chunks_exact(plane) {
            squares.iter_mut().zip(colour).for_each(|(s, v)| *s += v * v);
        }
        let (sums, squares) = (boxes(&sums, width, side), boxes(&squares, width, side));
        let count = self.steps.len() as f32;
        let scale = |place: &usize| {
            let brightness = sums[*place] * sums[*place] / (side * side) as f32;
            1.0 / (((squares[*place] - brightness) / count).max(0.0) + CONTRAST).sqrt()
        };
        self.places.iter().map(scale).collect()
    }

    /// The image's mirror, into `out`.
    pub(crate) fn mirror(&self, image: &[f32], out: &mut Vec<f32>) {
        out.clear();
        image.chunks_exact(self.size[1]).for_each(|row| out.extend(row.iter().rev()));
    }
}

/// For each place of a plane with room for it, the sum over the square of this side that begins there.
fn boxes(plane: &[f32], width: usize, side: usize) -> Vec<f32> {
    let along = |values: &[f32], step: usize| -> Vec<f32> {
        let reach = (side - 1) * step;
        let mut sums = vec![0.0; values.len()];
        for k in 0..side {
            let shifted = &values[k * step..values.len() - reach + k * step];
            sums.iter_mut().zip(shifted).for_each(|(s, v)| *s += v);
        }
        sums
    };
    along(&along(plane, 1), width)
}

/// For each of `count` places along a side, the cells it belongs to and its share of their mean.
fn shares(count: usize, cells: usize) -> Vec<Vec<(usize, f32)>> {
    let length = count as f64 / cells as f64;
    let share = |place: usize, cell: usize| {
        let (start, end) = (cell as f64 * length, (cell + 1) as f64 * length);
        (end.min((place + 1) as f64) - start.max(place as f64)) / length
    };
    let of = |place: usize| (0..cells).map(move |c| (c, share(place, c) as f32)).filter(|(_, s)| *s > 1e-6);
    (0..count).map(|place| of(place).collect()).collect()
}

fn product(down: &[(usize, f32)], across: &[(usize, f32)], grid: usize) -> Vec<(usize, f32)> {
    down.iter().flat_map(|(i, a)| across.iter().map(move |(j, b)| (i * grid + j, a * b))).collect()
}

/// The filters' taps: a line for each pixel of a patch.
fn filters(settings: &PatchSettings, steps: &[usize], size: [usize; 2], images: &[Vec<f32>]) -> Vec<f32> {
    let mut stream = Secret::from_seed(SEED).stream(Purpose::Data, 0, 0);
    let patches: Vec<Vec<f32>> =
        images.iter().flat_map(|image| some(image, steps, settings.size, size, &mut stream)).collect();
    let pixels = steps.len();
    let mut moments = Moments::new(pixels);
    patches.iter().for_each(|patch| moments.add(patch));
    let white = moments.whitening(RIDGE);
    let padded = pixels.next_multiple_of(STEP);
    let whiten = |patch: &Vec<f32>| {
        let mut line = vec![0.0; padded];
        for (v, weights) in patch.iter().zip(white.weights.chunks_exact(white.width)) {
            line.iter_mut().zip(weights).take(pixels).for_each(|(l, w)| *l += f64::from(*v) * f64::from(*w));
        }
        normalise(&mut line);
        line
    };
    let lines: Vec<Vec<f64>> = patches.par_iter().map(whiten).collect();
    let centres = clusters(&lines.concat(), padded, settings.filters, &mut stream);
    let width = settings.filters.next_multiple_of(LANES);
    let mut taps = vec![0.0; pixels * width];
    for (f, centre) in centres.chunks_exact(padded).enumerate() {
        let back = |weights: &[f32]| weights.iter().zip(centre).map(|(w, c)| f64::from(*w) * c).sum::<f64>();
        let values: Vec<f64> = white.weights.chunks_exact(white.width).map(|w| back(&w[..pixels])).collect();
        // What a patch's mean brightness adds is taken out of the filter instead of the patch.
        let bright = settings.size * settings.size;
        let mean = values[..bright].iter().sum::<f64>() / bright as f64;
        for (k, v) in values.iter().enumerate() {
            taps[k * width + f] = (v - if k < bright { mean } else { 0.0 }) as f32;
        }
    }
    taps
}

/// A few patches of an image, each brought to mean brightness 0 and deviation 1. Flat ones, of which no filter can be made, are
/// left out.
fn some(image: &[f32], steps: &[usize], side: usize, size: [usize; 2], stream: &mut Stream) -> Vec<Vec<f32>> {
    let mut patch = |_| {
        let mut at = |length: usize| (uniform(stream) * (length - side + 1) as f64) as usize;
        let place = at(size[0]) * size[1] + at(size[1]);
        let mut values: Vec<f32> = steps.iter().map(|step| image[place + step]).collect();
        let bright = &mut values[..side * side];
        let mean = bright.iter().sum::<f32>() / bright.len() as f32;
        bright.iter_mut().for_each(|v| *v -= mean);
        let squares = values.iter().map(|v| v * v).sum::<f32>() / values.len() as f32;
        let scale = 1.0 / (squares + CONTRAST).sqrt();
        values.iter_mut().for_each(|v| *v *= scale);
        (squares > CONTRAST).then_some(values)
    };
    (0..PATCHES_PER_IMAGE).filter_map(&mut patch).collect()
}

/// Centres of directions: each line belongs to the centre nearest in angle, which is then the mean of its lines.
fn clusters(lines: &[f64], width: usize, count: usize, stream: &mut Stream) -> Vec<f64> {
    let total = lines.len() / width;
    if total == 0 {
        return vec![0.0; count * width];
    }
    let line = |r: usize| &lines[r * width..(r + 1) * width];
    let mut centres: Vec<f64> = Vec::with_capacity(count * width);
    for _ in 0..count {
        centres.extend_from_slice(line((uniform(stream) * total as f64) as usize));
    }
    for _ in 0..IMPROVEMENTS {
        let nearest: Vec<usize> =
            lines.par_chunks(256 * width).flat_map_iter(|lines| best(&centres, lines, width)).collect();
        let mut sums = vec![0.0; centres.len()];
        for (r, k) in nearest.iter().enumerate() {
            sums[k * width..(k + 1) * width].iter_mut().zip(line(r)).for_each(|(s, v)| *s += v);
        }
        for (sum, centre) in sums.chunks_exact_mut(width).zip(centres.chunks_exact_mut(width)) {
            if normalise(sum) {
                centre.copy_from_slice(sum);
            }
        }
    }
    centres
}

fn best(centres: &[f64], lines: &[f64], width: usize) -> Vec<usize> {
    let count = centres.len() / width;
    let mut scores = vec![0.0; lines.len() / width * count];
    rank_one::scores(Level::best(), centres, lines, width, &mut scores);
    let largest = |scores: &[f64]| {
        let better = |best: usize, k: usize| if scores[k] > scores[best] { k } else { best };
        (0..count).fold(0, better)
    };
    scores.chunks_exact(count).map(largest).collect()
}

/// Makes a line one of norm 1; `false` if it has no direction.
fn normalise(line: &mut [f64]) -> bool {
    let norm = line.iter().map(|v| v * v).sum::<f64>().sqrt();
    if norm > 1e-9 {
        line.iter_mut().for_each(|v| *v /= norm);
    }
    norm > 1e-9
}

/// Dead leaves for filters and statistics: `count` images of these planes.
pub(crate) fn leaves(count: usize, channels: usize, size: [usize; 2]) -> Vec<Vec<f32>> {
    (0..count as u32).into_par_iter().map(|number| dead_leaves::image(number, channels, size)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found() -> (Patches, Vec<Vec<f32>>) {
        let images = leaves(60, 1, [20, 24]);
        let settings = PatchSettings { filters: 24, size: 5, grid: 2, ..PatchSettings::default() };
        let mut patches = Patches::new(settings, 1, [20, 24]);
        patches.find(&images);
        (patches, images)
    }

    fn responses(patches: &Patches, image: &[f32], apart: bool) -> Vec<f32> {
        let mut out = vec![0.0; patches.channels() * patches.cells()];
        patches.respond(Level::best(), image, apart, &mut Vec::new(), &mut out);
        out
    }

    #[test]
    fn flat_images_have_no_response_and_negatives_have_the_opposite_one() {
        let (patches, images) = found();
        assert!(responses(&patches, &[0.7; 480], false).iter().all(|r| *r == 0.0));
        let (mut above, mut below) = (0.0, 0.0);
        for image in &images {
            let negative: Vec<f32> = image.iter().map(|v| 1.0 - v).collect();
            let (one, other) = (responses(&patches, image, false), responses(&patches, &negative, true));
            for (one, other) in one.chunks_exact(48).zip(other.chunks_exact(48)) {
                above += one[..24].iter().sum::<f32>();
                below += one[24..].iter().sum::<f32>();
                for f in 0..24 {
                    assert!((one[f] - other[24 + f]).abs() < 1e-3, "{f}: {} {}", one[f], other[24 + f]);
                }
            }
        }
        // Dark on light is as frequent as light on dark.
        assert!(above > 0.0 && (0.3..3.0).contains(&(above / below)), "{above} {below}");
    }
}
