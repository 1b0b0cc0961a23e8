//! Dead leaves: discs of random size, place and colour that hide each other, like things in a photograph.
//!
//! A public stand-in for natural images: their edges, scales and contrasts have much the same statistics (Ruderman,
//! 1997; Lee, Mumford and Huang, 2001), and nothing about them is anybody's. Image number i comes from a stream of its
//! own, and only additions, multiplications, divisions and roots are used: the same bits on every machine.

use prdo_privacy::{Purpose, Secret, Stream};
use rand::Rng;

/// The seed of all dead leaves. Another one would be as good; every map must use the same.
const SEED: u64 = 0x6465_6164_6c65_6166;
/// Points a pixel and side at which an image is looked at: edges are as soft as a lens makes them.
const POINTS: usize = 2;
/// Discs after which what is still uncovered gets one colour.
const MOST_DISCS: usize = 2000;
/// Radii, in pixels: their density falls with the third power, which makes every scale look alike.
const RADII: [f64; 2] = [1.0, 16.0];
/// How far a disc's colours differ from its grey, at most.
const COLOUR: f64 = 0.25;

/// Image number `number`: `channels` planes of `height`×`width` values from 0 to 1.
pub(crate) fn image(number: u32, channels: usize, [height, width]: [usize; 2]) -> Vec<f32> {
    let mut stream = Secret::from_seed(SEED).stream(Purpose::Data, 0, number);
    let (rows, columns) = (height * POINTS, width * POINTS);
    let mut colours = vec![vec![0.0_f64; channels]];
    let mut owner = vec![0_u32; rows * columns];
    let mut free = owner.len();
    let margin = RADII[1] * POINTS as f64 / 2.0;
    for _ in 0..MOST_DISCS {
        let radius = POINTS as f64 * radius(uniform(&mut stream));
        let mut centre = |side: usize| uniform(&mut stream) * (side as f64 + 2.0 * margin) - margin;
        let place = [centre(rows), centre(columns)];
        let taken = cover(&mut owner, [rows, columns], place, radius, colours.len() as u32);
        if taken > 0 {
            colours.push(colour(&mut stream, channels));
            free -= taken;
        }
        if free == 0 {
            break;
        }
    }
    colours[0] = colour(&mut stream, channels);
    downscaled(&owner, &colours, [height, width])
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
fn downscaled(owner: &[u32], colours: &[Vec<f64>], [height, width]: [usize; 2]) -> Vec<f32> {
    let channels = colours[0].len();
    let mut image = Vec::with_capacity(channels * height * width);
    for channel in 0..channels {
        for row in 0..height {
            for column in 0..width {
                let mut sum = 0.0;
                for point in 0..POINTS * POINTS {
                    let (y, x) = (row * POINTS + point / POINTS, column * POINTS + point % POINTS);
                    sum += colours[owner[y * width * POINTS + x] as usize][channel];
                }
                image.push((sum / (POINTS * POINTS) as f64) as f32);
            }
        }
    }
    image
}

/// The radius whose share of smaller ones is 1 − `share`.
fn radius(share: f64) -> f64 {
    let [least, most] = RADII.map(|r| 1.0 / (r * r));
    1.0 / (share * (least - most) + most).sqrt()
}

/// A grey, and a little of each colour on top.
fn colour(stream: &mut Stream, channels: usize) -> Vec<f64> {
    let grey = uniform(stream);
    let mut one = |_| (grey + COLOUR * (2.0 * uniform(stream) - 1.0)).clamp(0.0, 1.0);
    (0..channels).map(&mut one).collect()
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
        assert_eq!(hash.finalize().to_hex().as_str()[..16], *"24317493e4c14035");
        assert_ne!(image(8, 3, [32, 32]), found);
        assert_eq!(image(7, 1, [5, 9]).len(), 45);
    }

    #[test]
    fn they_have_edges_and_flat_parts() {
        let grey = image(3, 1, [32, 32]);
        let steps: Vec<f32> = grey.windows(2).map(|w| (w[1] - w[0]).abs()).collect();
        let flat = steps.iter().filter(|s| **s == 0.0).count();
        assert!(flat > 200 && flat < 950, "{flat}");
    }
}
