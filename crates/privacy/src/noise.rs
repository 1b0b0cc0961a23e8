//! Gaussian noise on the grid. The only way to draw it is to hand in a ledger's receipt.

use crate::grid::Grid;
use crate::ledger::Receipt;
use crate::pairs::{NodeShares, PairKey};
use crate::planted::Planted;
use crate::streams::{Secret, Stream};
use prdo_kernels::normals;
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;
use zeroize::Zeroize;

/// Coordinates that draw from one stream, one after another.
pub(crate) const PART: usize = 1 << 14;

/// Adds N(0, (z·sensitivity)²), rounded to the grid, to every coordinate of an exact sum; with shares, own noise and each share
/// at its sign. `stream` gives the stream of each part of [`PART`] coordinates by its number; parts are drawn on all threads.
///
/// # Guarantee
/// The sum lies on the grid, so adding rounded noise is the same as rounding (sum + noise): a function of the
/// Gaussian mechanism's output, hence no less private. z comes from the receipt, that is, it is the z that
/// the ledger was charged for; the receipt is used up. Parts do not overlap and leave nothing out, so every coordinate
/// gets noise once; each part has a stream with a key of its own, so no two share a bit of it however many words a
/// normal takes, and which thread draws a part changes nothing. Normals are drawn in double precision from ChaCha20;
/// what their finite precision could leak in the low bits is removed by the rounding, not proven away.
///
/// With shares the same holds of the answers of all nodes together: own noise and shares are added in double precision and rounded
/// once, so that what is sent is a function of the ideal answers, whose joint law the theorem is about. Who makes the shares has
/// checked that they are worth the receipt's z ([`NodeShares`]).
pub(crate) fn add_gaussian(
    receipt: Receipt,
    sum: &mut [i64],
    sensitivity: f64,
    grid: Grid,
    (stream, shares): (impl Fn(u64) -> Stream + Sync, Option<(&NodeShares, Planted)>),
) {
    let charged = receipt.into_event().noise_multiplier();
    let (own, pair) = shares.map_or((charged, 0.0), |(shares, planted)| planted.parts(shares));
    let (own_std, pair_std) = (own * sensitivity, pair * sensitivity);
    let draw = |(number, part): (usize, &mut [i64])| {
        let number = number as u64;
        let mut stream = stream(number);
        let Some((shares, planted)) = shares else {
            for steps in part {
                let noise: f64 = StandardNormal.sample(&mut stream);
                *steps = steps.saturating_add(grid.round(own_std * noise));
            }
            return;
        };
        let mut noise: Vec<f64> =
            part.iter().map(|_| planted.addend(own_std * normal(&mut stream), grid)).collect();
        let mut bytes = vec![0; 8 * noise.len().next_multiple_of(normals::BLOCK)];
        let mut share = vec![0.0; noise.len()];
        for (sign, key) in shares.signed() {
            key.part(number).fill_bytes(&mut bytes);
            share.fill(0.0);
            normals::add_normals(&bytes, planted.sign(sign) * pair_std, &mut share);
            for (noise, share) in noise.iter_mut().zip(&share) {
                *noise += planted.addend(*share, grid);
            }
        }
        bytes.zeroize();
        for (steps, noise) in part.iter_mut().zip(noise) {
            *steps = steps.saturating_add(grid.round(noise));
        }
    };
    match sum.len() {
        ..=PART => draw((0, sum)),
        _ => sum.par_chunks_mut(PART).enumerate().for_each(draw),
    }
}

fn normal(stream: &mut Stream) -> f64 {
    StandardNormal.sample(stream)
}

/// What two nodes of a simulation draw for each other, round after round, as standard normals: what a node that colludes knows.
/// The lower number adds it, the higher one subtracts it, times z_pair and the sensitivity.
///
/// # Guarantee
/// Of simulations only, whose seed tells as much: from the keys of members ([`PairKey::agreed`]) nothing leaves a gate but its
/// answers.
pub fn simulated_shares(
    secret: &Secret,
    (a, b): (u32, u32),
    dimension: usize,
) -> impl Iterator<Item = Vec<f64>> + use<> {
    let mut key = PairKey::simulated(secret, a, b);
    std::iter::from_fn(move || {
        let mut share = Vec::with_capacity(dimension);
        for part in 0..dimension.div_ceil(PART) {
            let mut normals = vec![0.0; PART.min(dimension - part * PART)];
            let mut bytes = vec![0; 8 * normals.len().next_multiple_of(normals::BLOCK)];
            key.part(part as u64).fill_bytes(&mut bytes);
            normals::add_normals(&bytes, 1.0, &mut normals);
            share.append(&mut normals);
        }
        key.advance();
        Some(share)
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::ledger::Ledger;
    use crate::streams::Hidden;
    use prdo_accounting::{Accountant, Event, Method, Target};
    use std::sync::Arc;
    use std::sync::Mutex;

    fn receipt(z: f64) -> Receipt {
        let accountant = Arc::new(Accountant::new(Method::Renyi));
        let mut ledger = Ledger::new(accountant, Target::new(1e9, 1e-5).unwrap());
        ledger.charge(0, Event::sampled_gaussian(1.0, z).unwrap()).unwrap()
    }

    fn noise(len: usize, threads: usize) -> Vec<i64> {
        let secret = Secret::from_seed(3);
        let mut sum = vec![0; len];
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let stream = |part| secret.part(Hidden::Noise, 1, 2, part);
        pool.install(|| add_gaussian(receipt(2.0), &mut sum, 0.5, Grid::for_single(1.0), (stream, None)));
        sum
    }

    #[test]
    fn the_same_bits_for_any_number_of_threads() {
        for len in [0, 1, PART - 1, PART, PART + 1, 5 * PART + 77] {
            let one = noise(len, 1);
            assert_eq!(one.len(), len);
            assert_eq!(one, noise(len, 2), "{len}");
            assert_eq!(one, noise(len, 3), "{len}");
        }
    }

    #[test]
    fn every_part_is_drawn_once_from_the_beginning_of_its_own_stream() {
        let (secret, grid) = (Secret::from_seed(3), Grid::for_single(1.0));
        let asked = Mutex::new(Vec::new());
        let mut sum = vec![7; 3 * PART + 5];
        let stream = |part| {
            asked.lock().unwrap().push(part);
            secret.part(Hidden::Noise, 1, 2, part)
        };
        add_gaussian(receipt(2.0), &mut sum, 0.5, grid, (stream, None));
        let mut asked = asked.into_inner().unwrap();
        asked.sort_unstable();
        assert_eq!(asked, [0, 1, 2, 3]);
        for (number, part) in sum.chunks(PART).enumerate() {
            let mut stream = secret.part(Hidden::Noise, 1, 2, number as u64);
            for steps in part {
                let normal: f64 = StandardNormal.sample(&mut stream);
                assert_eq!(*steps, 7 + grid.round(normal));
            }
        }
        // What a sum of one part always drew.
        let mut stream = secret.hidden(Hidden::Noise, 1, 2);
        let normal: f64 = StandardNormal.sample(&mut stream);
        assert_eq!(sum[0], 7 + grid.round(normal));
    }

    #[test]
    fn the_noise_is_normal_and_its_parts_do_not_repeat_one_another() {
        let grid = Grid::for_single(1.0);
        let values: Vec<f64> = noise(8 * PART, 2).into_iter().map(|steps| grid.value(steps)).collect();
        let n = values.len() as f64;
        let moment = |k: i32| values.iter().map(|v| v.powi(k)).sum::<f64>() / n;
        // Six standard errors of the moments of N(0, 1).
        for (k, expected, variance) in [(1, 0.0, 1.0), (2, 1.0, 2.0), (3, 0.0, 15.0), (4, 3.0, 96.0)] {
            assert!((moment(k) - expected).abs() < 6.0 * f64::sqrt(variance / n), "{k}: {}", moment(k));
        }
        let parts: Vec<&[f64]> = values.chunks(PART).collect();
        for (i, a) in parts.iter().enumerate() {
            for b in &parts[i + 1..] {
                let product: f64 = a.iter().zip(*b).map(|(a, b)| a * b).sum();
                assert!(product.abs() < 6.0 * (PART as f64).sqrt());
            }
        }
    }
}
