//! Dead leaves: discs of random size, place and colour that hide each other, like things in a photograph.
//!
//! A public stand-in for natural images: their edges, scales and contrasts have much the same statistics (Ruderman,
//! 1997; Lee, Mumford and Huang, 2001), and nothing about them is anybody's. A little texture, a lens that is not quite
//! sharp, and a contrast and a tint of each image's own make them more alike still. Image number i comes from a stream
//! of its own, and only operations with the same bits on every machine are used.

use prdo_privacy::{Purpose, Secret, Stream};
use rand::Rng;

/// The seed of all dead leaves. Another one would be as good; every map must use the same.
const SEED: u64 = 0x6465_6164_6c65_6166;
/// Points per pixel and side at which an image is looked at.
const POINTS: usize = 2;
/// Discs after which what is still uncovered gets one colour.
const MOST_DISCS: usize = 2000;
/// Radii, in pixels: their density falls with the third power, which makes every scale look alike.
const RADII: [f64; 2] = [1.0, 16.0];
/// How far a disc's colours differ from its grey, and an image's from no tint, at most.
const COLOUR: f64 = 0.1;
const TINT: f64 = 0.1;
/// The largest deviation of an image's texture, and the shares of it that all colours have in common or each for itself.
const TEXTURE: f64 = 0.1;
const TEXTURE_SHARES: [f64; 2] = [0.94, 0.35];
const BLUR: [f64; 2] = [0.3, 0.8];
const CONTRAST: f64 = 0.4;

/// Image number `number`: `channels` planes of `height`×`width` values from 0 to 1.
pub(crate) fn image(number: u32, channels: usize, [height, width]: [usize; 2]) -> Vec<f32> {
    let mut stream = Secret::from_seed(SEED).stream(Purpose::Data, 0, number);
    let size = [height * POINTS, width * POINTS];
    let mut planes = painted(&mut stream, channels, size);
    let amount = TEXTURE * uniform(&mut stream);
    let common = texture(&mut stream, size);
    for plane in &mut planes {
        let own = texture(&mut stream, size);
        for ((v, c), o) in plane.iter_mut().zip(&common).zip(&own) {
            *v += amount * (TEXTURE_SHARES[0] * c + TEXTURE_SHARES[1] * o);
        }
    }
    let blur = POINTS as f64 * (BLUR[0] + (BLUR[1] - BLUR[0]) * uniform(&mut stream));
    planes = planes.iter().map(|plane| blurred(plane, size, blur)).collect();
    let contrast = libm::exp(libm::log(CONTRAST) * uniform(&mut stream));
    let count = (channels * size[0] * size[1]) as f64;
    let mean = planes.iter().flatten().sum::<f64>() / count;
    let pixel = |v: f64| (((v - mean) * contrast + mean).clamp(0.0, 1.0)) as f32;
    planes.iter().flat_map(|plane| downscaled(plane, [height, width])).map(pixel).collect()
}

/// Discs in front of each other.
fn painted(stream: &mut Stream, channels: usize, size: [usize; 2]) -> Vec<Vec<f64>> {
    let tint: Vec<f64> = (0..channels).map(|_| TINT * (2.0 * uniform(stream) - 1.0)).collect();
    let mut colours = vec![Vec::new()];
    let mut owner = vec![0_u32; size[0] * size[1]];
    let mut free = owner.len();
    let margin = RADII[1] * POINTS as f64 / 2.0;
    for _ in 0..MOST_DISCS {
        let radius = POINTS as f64 * radius(uniform(stream));
        let mut centre = |side: usize| uniform(stream) * (side as f64 + 2.0 * margin) - margin;
        let place = [centre(size[0]), centre(size[1])];
        let taken = cover(&mut owner, size, place, radius, colours.len() as u32);
        if taken > 0 {
            colours.push(colour(stream, &tint));
            free -= taken;
        }
        if free == 0 {
            break;
        }
    }
    colours[0] = colour(stream, &tint);
    let plane = |c: usize| owner.iter().map(|o| colours[*o as usize][c]).collect();
    (0..channels).map(plane).collect()
}

/// Noise that looks alike at every scale, of deviation about 1: octave after octave, each as strong as the others.
fn texture(stream: &mut Stream, [rows, columns]: [usize; 2]) -> Vec<f64> {
    let mut out = vec![0.0; rows * columns];
    let mut octaves = 0.0_f64;
    let mut cell = rows.max(columns) / 2;
    while cell >= 1 {
        let across = columns / cell + 2;
        let knots: Vec<f64> = (0..(rows / cell + 2) * across).map(|_| 2.0 * uniform(stream) - 1.0).collect();
        for row in 0..rows {
            let (y, v) = (row / cell, (row % cell) as f64 / cell as f64);
            for column in 0..columns {
                let (x, u) = (column / cell, (column % cell) as f64 / cell as f64);
                let knot = |i: usize, j: usize| knots[(y + i) * across + x + j];
                let upper = knot(0, 0) + u * (knot(0, 1) - knot(0, 0));
                let lower = knot(1, 0) + u * (knot(1, 1) - knot(1, 0));
                out[row * columns + column] += upper + v * (lower - upper);
            }
        }
        octaves += 1.0;
        cell /= 2;
    }
    // A uniform number has variance 1/3; between knots about half of it is left.
    let scale = (6.0 / octaves.max(1.0)).sqrt();
    out.iter_mut().for_each(|v| *v *= scale);
    out
}

/// A Gaussian blur of this deviation, in points; borders are reflected.
fn blurred(plane: &[f64], [rows, columns]: [usize; 2], deviation: f64) -> Vec<f64> {
    let reach = (3.0 * deviation) as isize + 1;
    let mut weights: Vec<f64> =
        (-reach..=reach).map(|t| libm::exp(-((t * t) as f64) / (2.0 * deviation * deviation))).collect();
    let total: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|w| *w /= total);
    let reflected = |at: isize, side: usize| {
        let at = at.rem_euclid(2 * side as isize) as usize;
        if at < side { at } else { 2 * side - 1 - at }
    };
    let pass = |from: &[f64], lines: usize, length: usize, line_step: usize, step: usize| {
        let mut out = vec![0.0; from.len()];
        for line in 0..lines {
            for place in 0..length {
                let at = |t: usize| reflected(place as isize + t as isize - reach, length);
                let sum: f64 =
                    weights.iter().enumerate().map(|(t, w)| w * from[line * line_step + at(t) * step]).sum();
                out[line * line_step + place * step] = sum;
            }
        }
        out
    };
    let along = pass(plane, rows, columns, columns, 1);
    pass(&along, columns, rows, 1, columns)
}

/// Gives the uncovered points within a disc to `number`, and says how many they are.
fn cover(
    owner: &mut [u32],
    [rows, columns]: [usize; 2],
    centre: [f64; 2],
    radius: f64,
    number: u32,
) -> usize {
    let within = |centre: f64, side: usize| {
        let (first, last) = (centre - radius - 1.0, centre + radius + 1.0);
        (first.max(0.0) as usize).min(side)..(last.max(0.0) as usize).min(side)
    };
    let mut taken = 0;
    for row in within(centre[0], rows) {
        let y = row as f64 + 0.5 - centre[0];
        for column in within(centre[1], columns) {
            let x = column as f64 + 0.5 - centre[1];
            let point = &mut owner[row * columns + column];
            if *point == 0 && y * y + x * x < radius * radius {
                *point = number;
                taken += 1;
            }
        }
    }
    taken
}

/// Each pixel the mean of its points.
fn downscaled(plane: &[f64], [height, width]: [usize; 2]) -> Vec<f64> {
    let mut pixels = Vec::with_capacity(height * width);
    for row in 0..height {
        for column in 0..width {
            let mut sum = 0.0;
            for point in 0..POINTS * POINTS {
                let (y, x) = (row * POINTS + point / POINTS, column * POINTS + point % POINTS);
                sum += plane[y * width * POINTS + x];
            }
            pixels.push(sum / (POINTS * POINTS) as f64);
        }
    }
    pixels
}

/// The radius whose share of smaller ones is 1 − `share`.
fn radius(share: f64) -> f64 {
    let [least, most] = RADII.map(|r| 1.0 / (r * r));
    1.0 / (share * (least - most) + most).sqrt()
}

/// A grey, the image's tint, and a little of each colour on top.
fn colour(stream: &mut Stream, tint: &[f64]) -> Vec<f64> {
    let grey = uniform(stream);
    tint.iter().map(|tint| grey + tint + COLOUR * (2.0 * uniform(stream) - 1.0)).collect()
}

/// From 0 to 1, by 53 bits of the stream.
pub(crate) fn uniform(stream: &mut Stream) -> f64 {
    (stream.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_the_same_for_ever() {
        let found = image(7, 3, [32, 32]);
        assert_eq!(found.len(), 3072);
        assert!(found.iter().all(|v| (0.0..=1.0).contains(v)));
        let mut hash = blake3::Hasher::new();
        found.iter().for_each(|v| {
            hash.update(&v.to_bits().to_le_bytes());
        });
        assert_eq!(hash.finalize().to_hex().as_str()[..16], *"0e566d3fe13368e8");
        assert_ne!(image(8, 3, [32, 32]), found);
        assert_eq!(image(7, 1, [5, 9]).len(), 45);
    }

    #[test]
    fn textures_have_about_unit_deviation() {
        let mut stream = Secret::from_seed(1).stream(Purpose::Data, 0, 0);
        let squares: f64 = (0..20).flat_map(|_| texture(&mut stream, [64, 64])).map(|v| v * v).sum();
        assert!((0.8..1.25).contains(&(squares / (20.0 * 4096.0)).sqrt()), "{squares}");
        assert_eq!(texture(&mut stream, [1, 1]).len(), 1);
    }

    #[test]
    fn a_blur_keeps_constants_and_the_mean() {
        let plane: Vec<f64> = (0..12).map(|i| f64::from(i * 5 % 7)).collect();
        let soft = blurred(&plane, [3, 4], 1.1);
        assert!((soft.iter().sum::<f64>() - plane.iter().sum::<f64>()).abs() < 1e-9);
        assert!(blurred(&[2.0; 12], [4, 3], 0.6).iter().all(|v| (v - 2.0).abs() < 1e-12));
    }
}
