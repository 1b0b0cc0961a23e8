//! Convolutions of any kernel, stride and padding, as products with gathered rows.

use super::image::{Image, two};
use super::program::Step;
use prdo_kernels::direct::gather;
use prdo_kernels::{LANES, Level, Memory};

/// Where the values lie that a convolution multiplies.
#[derive(Clone, Debug)]
pub(super) struct Tables {
    /// Where each output pixel's patch begins in the input.
    patches: Vec<usize>,
    /// Where each (channel, tap) of a patch lies from there.
    taps: Vec<usize>,
    /// Where each output pixel lies in a block of the output.
    pixels: Vec<usize>,
    /// Where each output pixel lies in a block without halo: their gradients.
    gradients: Vec<usize>,
    /// The outputs' gradient, as far apart as the stride, with room for the kernel on every side.
    wide: Image,
    /// Where each output pixel's gradient lies in a block of `wide`.
    spread: Vec<usize>,
    /// Where each input pixel's patch begins in `wide`, and each (channel, tap) from there.
    back_patches: Vec<usize>,
    back_taps: Vec<usize>,
}

impl Tables {
    pub fn new(input: &Image, output: &Image, conv: (usize, usize, usize), wide: Image) -> Self {
        let (kernel, stride, padding) = conv;
        debug_assert_eq!(input.halo, padding);
        let pixels = |image: &Image| -> Vec<(usize, usize)> {
            (0..image.height).flat_map(|y| (0..image.width).map(move |x| (y, x))).collect()
        };
        let taps = |image: &Image| -> Vec<usize> {
            let tap = |t: usize| t / kernel * image.row() + t % kernel * image.pixel();
            (0..image.channels)
                .flat_map(|c| (0..kernel * kernel).map(move |t| image.channel(c) + tap(t)))
                .collect()
        };
        let outputs = pixels(output);
        let bare = Image { halo: 0, ..*output };
        let edge = kernel - 1 - padding;
        Self {
            patches: outputs
                .iter()
                .map(|(y, x)| y * stride * input.row() + x * stride * input.pixel())
                .collect(),
            taps: taps(input),
            pixels: outputs.iter().map(|(y, x)| output.at(*y, *x)).collect(),
            gradients: outputs.iter().map(|(y, x)| bare.at(*y, *x)).collect(),
            spread: outputs.iter().map(|(y, x)| wide.at(edge + y * stride, edge + x * stride)).collect(),
            back_patches: pixels(input).iter().map(|(y, x)| wide.at(*y, *x)).collect(),
            back_taps: taps(&wide),
            wide,
        }
    }

    /// Values of one block of a weight gradient.
    fn block(&self) -> usize {
        self.taps.len() * LANES
    }
}

/// The outputs of one record, before the activation.
pub(super) fn forward(
    level: Level,
    step: &Step,
    tables: &Tables,
    weights: &Memory,
    bias: &Memory,
    memory: &mut [f32],
) {
    let places: Vec<usize> = (0..tables.taps.len()).map(|k| k * LANES).collect();
    let (x, out) = two(memory, step.input.range(), step.output.range());
    for block in 0..step.output.planes() {
        let weights = &weights[block * tables.block()..(block + 1) * tables.block()];
        let bias = &bias[block * LANES..(block + 1) * LANES];
        let out = &mut out[block * step.output.plane()..(block + 1) * step.output.plane()];
        gather(level, x, &tables.patches, &tables.taps, weights, &places, Some(bias), out, &tables.pixels);
    }
}

/// The gradient with respect to the inputs, written to `to`.
pub(super) fn backward(
    level: Level,
    step: &Step,
    tables: &Tables,
    weights: &Memory,
    to: &Image,
    memory: &mut [f32],
) {
    let wide = &tables.wide;
    let (dy, spread) = two(memory, step.gradient.range(), wide.range());
    for block in 0..wide.planes() {
        let from = &dy[block * step.gradient.plane()..];
        let plane = &mut spread[block * wide.plane()..];
        for (from_pixel, to_pixel) in tables.gradients.iter().zip(&tables.spread) {
            plane[*to_pixel..to_pixel + LANES].copy_from_slice(&from[*from_pixel..from_pixel + LANES]);
        }
    }
    let places: Vec<usize> = (0..tables.back_taps.len()).map(|k| k * LANES).collect();
    let outs: Vec<usize> =
        (0..to.height).flat_map(|y| (0..to.width).map(move |x| (y, x))).map(|(y, x)| to.at(y, x)).collect();
    let per_block = tables.back_taps.len() * LANES;
    let (dy, out) = two(memory, wide.range(), to.range());
    for block in 0..to.planes() {
        let weights = &weights[block * per_block..(block + 1) * per_block];
        let out = &mut out[block * to.plane()..(block + 1) * to.plane()];
        gather(level, dy, &tables.back_patches, &tables.back_taps, weights, &places, None, out, &outs);
    }
}

/// The gradient with respect to the weights: the same products, summed over pixels.
pub(super) fn weight_gradient(
    level: Level,
    step: &Step,
    tables: &Tables,
    memory: &[f32],
    gradient: &mut [f32],
) {
    let x = &memory[step.input.range()];
    let outs: Vec<usize> = (0..tables.taps.len()).map(|k| k * LANES).collect();
    for (block, out) in gradient.chunks_exact_mut(tables.block()).enumerate() {
        let dy = &memory[step.gradient.range()]
            [block * step.gradient.plane()..(block + 1) * step.gradient.plane()];
        gather(level, x, &tables.taps, &tables.patches, dy, &tables.gradients, None, out, &outs);
    }
}
