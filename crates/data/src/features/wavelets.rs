//! Morlet wavelets and the Gaussian that averages them, as transforms and sums of small images.
//!
//! Everything here is computed in doubles with operations that give the same bits on every machine (the `libm` crate's
//! exponential and cosine, not the system's): the filters are part of what peers must agree on.

use prdo_kernels::fourier::{Filter, Sums, Transform};
use std::f64::consts::PI;

/// The width of a wavelet of scale 0, in pixels; scale j has 2^j times that.
const WIDTH: f64 = 0.8;
/// The frequency of a wavelet of scale 0, in radians a pixel.
const FREQUENCY: f64 = 0.75 * PI;
/// Values below this are nothing beside the largest, which is about 1.
const NEGLIGIBLE: f64 = 1e-6;

/// Two sides of an image.
pub(crate) type Size = [usize; 2];

/// The transform of lines of `length` values.
pub(crate) fn transform(length: usize) -> Transform {
    let root = |k: usize| {
        let angle = -2.0 * PI * k as f64 / length as f64;
        [libm::cos(angle) as f32, libm::sin(angle) as f32]
    };
    Transform::new((0..length).map(root).collect())
}

/// The smallest length that is at least `least`, a multiple of `step`, and whose transforms at every scale exist.
pub(crate) fn padded(least: usize, step: usize) -> usize {
    let mut length = least.next_multiple_of(step);
    while !Transform::allowed(length) || !Transform::allowed(length / step) {
        length += step;
    }
    length
}

/// Σ over aliases of exp(−½(ω − ξ)ᵀA(ω − ξ)): the transform, at one frequency, of a sampled Gaussian of unit sum with
/// covariance A that is modulated by ξ.
fn gaussian(frequency: [f64; 2], centre: [f64; 2], a: [f64; 3]) -> f64 {
    let mut sum = 0.0;
    for m in -2..=2 {
        for n in -2..=2 {
            let x = frequency[0] - centre[0] + 2.0 * PI * f64::from(m);
            let y = frequency[1] - centre[1] + 2.0 * PI * f64::from(n);
            sum += libm::exp(-0.5 * (a[0] * x * x + 2.0 * a[1] * x * y + a[2] * y * y));
        }
    }
    sum
}

/// The transform of the Morlet wavelet of scale 2^`scale` that oscillates at `angle` from the downward direction, on
/// images of `size`: a Gaussian, longer across than along by `angles`/4, times a wave, less what its mean is. Real.
fn morlet(size: Size, scale: u32, angle: f64, angles: usize) -> Vec<f64> {
    let dilation = f64::from(1u32 << scale);
    let (along, across) = (WIDTH * dilation, WIDTH * dilation * angles as f64 / 4.0);
    let (c, s) = (libm::cos(angle), libm::sin(angle));
    let (along2, across2) = (along * along, across * across);
    let a = [c * c * along2 + s * s * across2, c * s * (along2 - across2), s * s * along2 + c * c * across2];
    let centre = [FREQUENCY / dilation * c, FREQUENCY / dilation * s];
    let excess = gaussian([0.0; 2], centre, a) / gaussian([0.0; 2], [0.0; 2], a);
    let mut values = Vec::with_capacity(size[0] * size[1]);
    for u in 0..size[0] {
        for v in 0..size[1] {
            let frequency = [2.0 * PI * u as f64 / size[0] as f64, 2.0 * PI * v as f64 / size[1] as f64];
            values.push(gaussian(frequency, centre, a) - excess * gaussian(frequency, [0.0; 2], a));
        }
    }
    values
}

/// The wavelet of scale 2^`to` as a filter of images that were thinned out by 2^`from`, which thins them out to 2^`to`.
/// What the inverse transform divides by is in it.
pub(crate) fn wavelet(full: Size, from: u32, to: u32, angle: f64, angles: usize) -> Filter {
    let whole = morlet(full, to, angle, angles);
    let input = full.map(|side| side >> from);
    // A thinned-out image's spectrum is folded, and so is the filter's.
    let mut folded = vec![0.0; input[0] * input[1]];
    for (at, value) in whole.iter().enumerate() {
        let (u, v) = (at / full[1] % input[0], at % full[1] % input[1]);
        folded[u * input[1] + v] += value;
    }
    let output = full.map(|side| side >> to);
    let mut results = vec![Vec::new(); output[0] * output[1]];
    let scale = 1.0 / (input[0] * input[1]) as f64;
    for (at, value) in folded.iter().enumerate() {
        let (u, v) = (at / input[1] % output[0], at % input[1] % output[1]);
        if value.abs() > NEGLIGIBLE {
            results[u * output[1] + v].push((at as u32, (value * scale) as f32));
        }
    }
    Filter::new(input[0] * input[1], &results)
}

/// Where the first value of a line lies that was padded from `length` to `padded` values and thinned out by 2^`level`, in
/// pixels. With every 2^level-th value from there on, the mirror of a thinned-out image is the mirror thinned out: of an
/// image with an even side, the values of the larger scales lie between pixels.
pub(crate) fn offset(length: usize, padded: usize, level: u32) -> f64 {
    // The pixels p and `ends` − p are mirrors of each other.
    let ends = 2 * ((padded - length) / 2) + length - 1;
    (ends % (1 << level)) as f64 / 2.0
}

/// What a spectrum is multiplied by so that its image of `size` begins `by` pixels later.
pub(crate) fn phases(size: Size, by: [f64; 2]) -> Vec<[f32; 2]> {
    let line = |side: usize| -> Vec<[f64; 2]> {
        let (length, by) = (size[side], by[side]);
        let phase = |k: usize| {
            let turns = if 2 * k > length { k as f64 - length as f64 } else { k as f64 };
            let angle = 2.0 * PI * turns * by / length as f64;
            // The highest frequency stands for both of its directions: what they have in common.
            [libm::cos(angle), if 2 * k == length { 0.0 } else { libm::sin(angle) }]
        };
        (0..length).map(phase).collect()
    };
    let across = line(1);
    let product = |[a, b]: [f64; 2], [c, d]: [f64; 2]| [(a * c - b * d) as f32, (a * d + b * c) as f32];
    line(0).into_iter().flat_map(|down| across.iter().map(move |other| product(down, *other))).collect()
}

/// Gaussian averages of lines that were padded from `length` to `padded` values and thinned out by 2^`level`, at
/// `length`/2^`scales` places, symmetric under a mirror.
pub(crate) fn averages(length: usize, padded: usize, scales: u32, level: u32) -> Sums {
    let (step, places) = (1usize << scales, length >> scales);
    let width = WIDTH * f64::from(1u32 << (scales - 1));
    let middle = ((padded - length) / 2) as f64 + (length as f64 - 1.0) / 2.0;
    let (count, first) = (padded >> level, offset(length, padded, level));
    let sums = (0..places).map(|k| {
        let place = middle + (k as f64 - (places as f64 - 1.0) / 2.0) * step as f64;
        let weight = |n: usize| {
            let apart = |turn: i32| place - first - (n << level) as f64 + f64::from(turn) * padded as f64;
            let bell = |t: f64| libm::exp(-t * t / (2.0 * width * width));
            let sum: f64 = (-2..=2).map(|turn| bell(apart(turn))).sum();
            f64::from(1u32 << level) * sum / (libm::sqrt(2.0 * PI) * width)
        };
        let weights = (0..count).map(|n| (n as u32, weight(n) as f32));
        weights.filter(|(_, weight)| f64::from(*weight) > NEGLIGIBLE).collect()
    });
    Sums::new(count, sums.collect())
}

/// Means of `length` values over `cells` stretches of the same length, of which values at a border belong to both
/// sides in part.
pub(crate) fn pooling(length: usize, cells: usize) -> Sums {
    let stretch = length as f64 / cells as f64;
    let sums = (0..cells).map(|cell| {
        let (start, end) = (cell as f64 * stretch, (cell + 1) as f64 * stretch);
        let inside = |n: usize| (end.min((n + 1) as f64) - start.max(n as f64)) / stretch;
        (0..length).map(|n| (n as u32, inside(n) as f32)).filter(|(_, w)| *w > 1e-6).collect()
    });
    Sums::new(length, sums.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_have_transforms() {
        assert_eq!([padded(40, 4), padded(36, 4), padded(41, 4), padded(16, 4)], [40, 36, 48, 16]);
        assert!((8..200).all(|n| padded(n, 8) >= n && padded(n, 8).is_multiple_of(8)));
    }

    #[test]
    fn wavelets_have_no_mean_and_are_mirrors_of_each_other() {
        let size = [40, 40];
        for t in 0..8 {
            let wavelet = morlet(size, 1, PI * f64::from(t) / 8.0, 8);
            assert!(wavelet[0].abs() < 1e-12);
            let mirrored = morlet(size, 1, -PI * f64::from(t) / 8.0, 8);
            for u in 0..40 {
                for v in 0..40 {
                    assert!((wavelet[u * 40 + v] - mirrored[u * 40 + (40 - v) % 40]).abs() < 1e-12);
                }
            }
        }
    }

    #[test]
    fn averages_keep_constants_and_pooling_is_a_mean() {
        let ones = |sums: &Sums, image: usize| {
            let lanes = prdo_kernels::LANES;
            let one = Sums::new(1, vec![vec![(0, 1.0)]]);
            let (mut scratch, mut out) =
                (vec![0.0; sums.results() * lanes], vec![0.0; sums.results() * lanes]);
            let image = vec![1.0; image * lanes];
            prdo_kernels::fourier::resample(
                prdo_kernels::Level::best(),
                sums,
                &one,
                &image,
                &mut scratch,
                &mut out,
            );
            out
        };
        for sums in
            [averages(32, 40, 2, 0), averages(28, 36, 2, 1), pooling(7, 4), pooling(8, 4), pooling(5, 5)]
        {
            // One Gaussian sampled at a few places has a sum near 1, not 1.
            assert!(ones(&sums, sums.length()).iter().all(|v| (v - 1.0).abs() < 0.02));
        }
        assert_eq!(pooling(7, 4).results(), 4);
    }
}
