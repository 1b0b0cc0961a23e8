//! Released vectors in fewer bytes. What is packed was released before, so packing costs no privacy, and a packed vector has
//! the protection of the one it was made from. There is no way to pack anything else: rounding before the noise, or instead of
//! it, would need a mechanism of its own.

use crate::protection::{Noised, Protection};
use crate::released::{DecodeError, Released};
use crate::streams::{Purpose, Secret};
use rand::Rng;
use std::fmt;
use std::str::FromStr;

/// How a vector of d numbers becomes bytes. The bytes are always equally many.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Packing {
    /// Eight bytes per number.
    Plain,
    /// Dithered integers of so many bits (1 to 16), with one step size for every [`BLOCK`] numbers.
    Bits(u32),
    /// The largest numbers with their places: so many, or below 1 this share of all.
    Top(f64),
}

/// Numbers that share a step size.
pub const BLOCK: usize = 64;

/// A released vector as it arrives, with the bytes it arrives in.
#[derive(Clone, Debug, PartialEq)]
pub struct Packed<P: Protection> {
    decoded: Released<P>,
    bytes: Vec<u8>,
}

/// Where the dither of integers comes from: uniform numbers from 0 to 1, which may be known to all.
pub trait Dither {
    fn next(&mut self) -> f64;
}

/// The public dither of a node in a round: the same in a simulation and between peers.
pub struct PublicDither(crate::streams::Stream);

impl PublicDither {
    pub fn new(node: u32, round: u32) -> Self {
        Self(Secret::from_seed(0).stream(Purpose::Dither, node, round))
    }
}

impl Dither for PublicDither {
    fn next(&mut self) -> f64 {
        f64::from(self.0.next_u32()) / (1u64 << 32) as f64
    }
}

impl Packing {
    /// How many bytes d numbers take.
    pub fn bytes(self, d: usize) -> usize {
        match self {
            Packing::Plain => 8 * d,
            Packing::Bits(bits) => {
                let codes = |numbers: usize| (numbers * bits as usize).div_ceil(8);
                d.div_ceil(BLOCK) * 8 + d / BLOCK * codes(BLOCK) + codes(d % BLOCK)
            }
            Packing::Top(_) => 12 * self.kept(d),
        }
    }

    /// How many of d numbers are kept.
    fn kept(self, d: usize) -> usize {
        match self {
            Packing::Top(share) if share < 1.0 => ((share * d as f64).ceil() as usize).clamp(1, d.max(1)),
            Packing::Top(number) => (number as usize).clamp(1, d.max(1)),
            Packing::Plain | Packing::Bits(_) => d,
        }
    }
}

impl fmt::Display for Packing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Packing::Plain => f.write_str("plain"),
            Packing::Bits(bits) => write!(f, "bits {bits}"),
            Packing::Top(keep) => write!(f, "top {keep}"),
        }
    }
}

impl FromStr for Packing {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = match text.split_whitespace().collect::<Vec<_>>()[..] {
            ["plain"] => Some(Packing::Plain),
            ["bits", bits] => bits.parse().ok().filter(|bits| (1..=16).contains(bits)).map(Packing::Bits),
            ["top", keep] => {
                keep.parse().ok().filter(|keep: &f64| keep.is_finite() && *keep > 0.0).map(Packing::Top)
            }
            _ => None,
        };
        known.ok_or_else(|| {
            format!("{text:?} is not \"plain\", \"bits B\" with B from 1 to 16, or \"top K\" with K above 0")
        })
    }
}

impl<P: Protection> Packed<P> {
    /// Packs a vector.
    ///
    /// # Guarantee
    /// A function of a released vector and of public numbers: post-processing, at no cost.
    pub fn of(vector: &Released<P>, packing: Packing, dither: &mut impl Dither) -> Self {
        let values = vector.as_slice();
        let mut bytes = Vec::with_capacity(packing.bytes(values.len()));
        let mut decoded = vec![0.0; values.len()];
        match packing {
            Packing::Plain => {
                prdo_kernels::bytes::extend_little_endian(&mut bytes, values);
                decoded.copy_from_slice(values);
            }
            Packing::Bits(bits) => {
                for (block, out) in values.chunks(BLOCK).zip(decoded.chunks_mut(BLOCK)) {
                    pack_block(block, bits, dither, out, &mut bytes);
                }
            }
            Packing::Top(_) => {
                for place in largest(values, packing.kept(values.len())) {
                    bytes.extend((place as u32).to_le_bytes());
                    decoded[place] = values[place];
                }
                let kept: Vec<f64> = bytes.chunks_exact(4).map(|place| values[index(place)]).collect();
                prdo_kernels::bytes::extend_little_endian(&mut bytes, &kept);
            }
        }
        Self { decoded: Released::from_gate(decoded), bytes }
    }

    /// The vector as whoever receives the bytes has it.
    pub fn decoded(&self) -> &Released<P> {
        &self.decoded
    }

    pub fn into_parts(self) -> (Released<P>, Vec<u8>) {
        (self.decoded, self.bytes)
    }
}

impl Released<Noised> {
    /// Door 3: a neighbour's packed vector.
    pub fn unpack(bytes: &[u8], dimension: usize, packing: Packing) -> Result<Self, DecodeError> {
        let expected = packing.bytes(dimension);
        if bytes.len() != expected {
            return Err(DecodeError::Length { dimension, expected, found: bytes.len() });
        }
        let values = match packing {
            Packing::Plain => return Released::from_wire(bytes, dimension),
            Packing::Bits(bits) => unpack_blocks(bytes, dimension, bits)?,
            Packing::Top(_) => unpack_largest(bytes, dimension, packing.kept(dimension))?,
        };
        match values.iter().position(|v| !v.is_finite()) {
            Some(index) => Err(DecodeError::NotFinite { index }),
            None => Ok(Self::from_gate(values)),
        }
    }
}

/// The largest size of an integer of so many bits, one of which is its sign.
fn most(bits: u32) -> f64 {
    f64::from((1u32 << (bits - 1)) - 1)
}

/// With L = 2^(bits−1) − 1 and m the largest size: v becomes sign(v)·⌊|v|/m·L + u⌋·m/L, which is v on average. A single bit is a
/// sign, of the mean size of all: not v on average, but nearer to it than any two values that are.
fn pack_block(values: &[f64], bits: u32, dither: &mut impl Dither, decoded: &mut [f64], bytes: &mut Vec<u8>) {
    let sizes = values.iter().map(|v| v.abs());
    let largest =
        sizes.fold(0.0, |most: f64, v| if most.is_nan() || v.is_nan() { f64::NAN } else { most.max(v) });
    let levels = most(bits);
    let step = match bits {
        1 if largest > 0.0 => {
            largest * (values.iter().map(|v| v.abs() / largest).sum::<f64>() / values.len() as f64)
        }
        1 => largest,
        _ => largest / levels,
    };
    bytes.extend(step.to_le_bytes());
    let mut codes = Codes::default();
    for (value, out) in values.iter().zip(decoded) {
        let code = match bits {
            1 => u32::from(*value >= 0.0),
            _ => {
                let size = (value.abs() / largest * levels + dither.next()).floor().clamp(0.0, levels) as u32;
                size | u32::from(*value < 0.0 && size > 0) << (bits - 1)
            }
        };
        codes.push(code, bits, bytes);
        *out = meaning(code, bits, step);
    }
    codes.finish(bytes);
}

/// The number that a code stands for.
fn meaning(code: u32, bits: u32, step: f64) -> f64 {
    let sign = code >> (bits - 1) == 1;
    match bits {
        1 => {
            if sign {
                step
            } else {
                -step
            }
        }
        _ => {
            let size = step * f64::from(code & !(1 << (bits - 1)));
            if sign { -size } else { size }
        }
    }
}

fn unpack_blocks(bytes: &[u8], dimension: usize, bits: u32) -> Result<Vec<f64>, DecodeError> {
    let mut values = Vec::with_capacity(dimension);
    let mut rest = bytes;
    while values.len() < dimension {
        let numbers = BLOCK.min(dimension - values.len());
        let step = rest.first_chunk::<8>().map_or(f64::NAN, |step| f64::from_le_bytes(*step));
        let end = 8 + (numbers * bits as usize).div_ceil(8);
        let codes = rest.get(8..end).unwrap_or_default();
        let index = values.len();
        if !(step.is_finite() && step.is_sign_positive()) {
            return Err(DecodeError::NotFinite { index });
        }
        let (mut held, mut count, mut next) = (0u32, 0, codes.iter());
        for _ in 0..numbers {
            while count < bits {
                held |= u32::from(next.next().copied().unwrap_or_default()) << count;
                count += 8;
            }
            let code = held & ((1 << bits) - 1);
            (held, count) = (held >> bits, count - bits);
            // One vector has one encoding: there is no negative zero.
            if bits > 1 && code == 1 << (bits - 1) {
                return Err(DecodeError::Code { index });
            }
            values.push(meaning(code, bits, step));
        }
        if held != 0 {
            return Err(DecodeError::Code { index });
        }
        rest = rest.get(end..).unwrap_or_default();
    }
    Ok(values)
}

fn unpack_largest(bytes: &[u8], dimension: usize, kept: usize) -> Result<Vec<f64>, DecodeError> {
    let (places, numbers) = bytes.split_at(4 * kept);
    let mut values = vec![0.0; dimension];
    let mut before = None;
    for (place, number) in places.chunks_exact(4).map(index).zip(numbers.as_chunks::<8>().0) {
        if place >= dimension || before.is_some_and(|before| place <= before) {
            return Err(DecodeError::Code { index: place });
        }
        values[place] = f64::from_le_bytes(*number);
        before = Some(place);
    }
    Ok(values)
}

/// The places of the `kept` largest numbers, ascending; of equals the first.
fn largest(values: &[f64], kept: usize) -> Vec<usize> {
    let mut places: Vec<usize> = (0..values.len()).collect();
    let order = |a: &usize, b: &usize| values[*b].abs().total_cmp(&values[*a].abs()).then(a.cmp(b));
    if kept < places.len() {
        places.select_nth_unstable_by(kept, order);
        places.truncate(kept);
    }
    places.sort_unstable();
    places
}

fn index(place: &[u8]) -> usize {
    u32::from_le_bytes([place[0], place[1], place[2], place[3]]) as usize
}

/// Codes on their way into bytes, from the lowest bit.
#[derive(Default)]
struct Codes {
    held: u32,
    count: u32,
}

impl Codes {
    fn push(&mut self, code: u32, bits: u32, bytes: &mut Vec<u8>) {
        self.held |= code << self.count;
        self.count += bits;
        while self.count >= 8 {
            bytes.push(self.held as u8);
            (self.held, self.count) = (self.held >> 8, self.count - 8);
        }
    }

    fn finish(self, bytes: &mut Vec<u8>) {
        if self.count > 0 {
            bytes.push(self.held as u8);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn released(values: &[f64]) -> Released<Noised> {
        Released::from_gate(values.to_vec())
    }

    fn packed(values: &[f64], packing: Packing) -> Packed<Noised> {
        Packed::of(&released(values), packing, &mut PublicDither::new(3, 7))
    }

    #[test]
    fn the_largest_keep_their_places_and_the_first_of_equals_wins() {
        let top = packed(&[1.0, -5.0, 0.0, 5.0, 2.0], Packing::Top(2.0));
        assert_eq!(top.decoded().as_slice(), &[0.0, -5.0, 0.0, 5.0, 0.0]);
        assert_eq!(packed(&[3.0, -3.0, 3.0], Packing::Top(0.5)).decoded().as_slice(), &[3.0, -3.0, 0.0]);
        assert_eq!(Packing::Top(0.1).bytes(100), 120);
        assert_eq!(Packing::Top(500.0).bytes(3), 36);
    }

    #[test]
    fn three_bits_take_a_sixteenth() {
        assert_eq!(Packing::Bits(3).bytes(64), 32);
        assert_eq!(Packing::Bits(3).bytes(65), 32 + 9);
        assert!(Packing::Bits(3).bytes(550_570) * 15 < Packing::Plain.bytes(550_570));
    }

    #[test]
    fn signs_have_the_mean_size() {
        let signs = packed(&[1.0, -2.0, 0.0, 0.5], Packing::Bits(1));
        assert_eq!(signs.decoded().as_slice(), &[0.875, -0.875, 0.875, 0.875]);
        assert_eq!(packed(&[0.0, -0.0], Packing::Bits(1)).decoded().as_slice(), &[0.0, 0.0]);
    }

    #[test]
    fn integers_are_right_on_average() {
        let values = [0.3, -0.71, 1.0, 0.0, -0.05];
        for bits in [2, 3, 8, 16] {
            let mut sums = [0.0; 5];
            for round in 0..4000 {
                let vector = released(&values);
                let packed = Packed::of(&vector, Packing::Bits(bits), &mut PublicDither::new(0, round));
                sums.iter_mut().zip(packed.decoded().as_slice()).for_each(|(sum, v)| *sum += v / 4000.0);
            }
            // A step of the grid is at most 1, so four deviations of the mean are at most 4/√4000.
            assert!(sums.iter().zip(values).all(|(a, b)| (a - b).abs() < 0.064), "{bits}: {sums:?}");
        }
    }

    #[test]
    fn what_no_sender_packs_is_refused() {
        let d = 70;
        let good = packed(&vec![1.0; d], Packing::Bits(3)).into_parts().1;
        let refused = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut bytes = good.clone();
            change(&mut bytes);
            Released::unpack(&bytes, d, Packing::Bits(3)).unwrap_err()
        };
        assert!(Released::unpack(&good, d, Packing::Bits(3)).is_ok());
        assert!(matches!(refused(&|b| b.push(0)), DecodeError::Length { .. }));
        assert_eq!(
            refused(&|b| b[..8].copy_from_slice(&f64::NAN.to_le_bytes())),
            DecodeError::NotFinite { index: 0 }
        );
        assert_eq!(
            refused(&|b| b[..8].copy_from_slice(&(-1.0f64).to_le_bytes())),
            DecodeError::NotFinite { index: 0 }
        );
        assert_eq!(
            refused(&|b| b[..8].copy_from_slice(&f64::MAX.to_le_bytes())),
            DecodeError::NotFinite { index: 0 }
        );
        assert_eq!(refused(&|b| b[8] = 4), DecodeError::Code { index: 0 });
        assert_eq!(refused(&|b| *b.last_mut().unwrap() |= 0x80), DecodeError::Code { index: 64 });
        let top = packed(&[1.0, 2.0, 3.0], Packing::Top(2.0)).into_parts().1;
        for places in [[1u32, 1], [2, 1], [1, 3]] {
            let mut bytes = top.clone();
            bytes[..4].copy_from_slice(&places[0].to_le_bytes());
            bytes[4..8].copy_from_slice(&places[1].to_le_bytes());
            assert!(matches!(Released::unpack(&bytes, 3, Packing::Top(2.0)), Err(DecodeError::Code { .. })));
        }
    }

    #[test]
    fn what_is_not_finite_stays_so_and_is_not_received() {
        for bad in [f64::NAN, f64::INFINITY] {
            let packed = packed(&[1.0, bad, 2.0], Packing::Bits(4));
            assert!(!packed.decoded().is_finite());
            assert!(Released::unpack(&packed.into_parts().1, 3, Packing::Bits(4)).is_err());
        }
    }

    fn packings() -> impl Strategy<Value = Packing> {
        prop_oneof![
            Just(Packing::Plain),
            (1..=16_u32).prop_map(Packing::Bits),
            (0.01..200.0_f64).prop_map(Packing::Top),
        ]
    }

    proptest! {
        #[test]
        fn both_ends_have_the_same(
            values in prop::collection::vec(prop_oneof![Just(0.0), Just(-0.0), -1e3..1e3_f64, Just(5e-324)], 1..200),
            packing in packings(),
        ) {
            let packed = packed(&values, packing);
            let (decoded, bytes) = packed.into_parts();
            prop_assert_eq!(bytes.len(), packing.bytes(values.len()));
            prop_assert_eq!(Released::unpack(&bytes, values.len(), packing).unwrap(), decoded);
        }

        #[test]
        fn integers_are_off_by_less_than_a_step(
            values in prop::collection::vec(-1e3..1e3_f64, 1..64), bits in 2..=16_u32,
        ) {
            let most = values.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
            let step = most / super::most(bits);
            for (a, b) in packed(&values, Packing::Bits(bits)).decoded().as_slice().iter().zip(&values) {
                prop_assert!((a - b).abs() <= step * (1.0 + 1e-9), "{} for {}", a, b);
            }
        }

        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), d in 0..100_usize, packing in packings()) {
            let _ = Released::unpack(&bytes, d, packing);
        }

        #[test]
        fn names_go_there_and_back(packing in packings()) {
            prop_assert_eq!(packing.to_string().parse::<Packing>(), Ok(packing));
        }
    }
}
