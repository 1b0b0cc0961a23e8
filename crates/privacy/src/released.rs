//! Vectors on the public side of the gate, and the only arithmetic allowed on them.
//!
//! # The doors
//! A `Released<P>` comes into being in these ways and no other:
//! 1. the gate's answer to a query (`from_gate`, not visible outside this crate);
//! 2. a public starting point: [`Released::start`], [`Released::zeros`];
//! 3. a decoded neighbour's message: [`Released::from_wire`] and [`Released::unpack`], `Noised` only;
//! 4. a vector saved earlier by [`Released::save`] and read back with the same protection: [`Released::load`];
//! 5. what a program of the user's own computed from released vectors of the same protection that it was shown:
//!    [`Released::computed`].
//!
//! Everything else is post-processing of values of the *same* protection, which costs no privacy for a noised value: linear,
//! coordinate by coordinate, or [packing](crate::packed); there is no conversion from exposed to noised. Doors 2 to 5 trust their
//! caller: declaring a vector public, decoding bytes that were made by hand, or computing from something else than what was
//! shown, is a false statement rather than a slip, and the type system guards against slips.

use crate::protection::{Noised, Protection};
use crate::start::Start;
use prdo_kernels::bytes::extend_little_endian;
use std::marker::PhantomData;

/// A vector that left the gate with protection `P`, or was made from such vectors.
#[derive(Clone, Debug, PartialEq)]
pub struct Released<P: Protection> {
    values: Vec<f64>,
    protection: PhantomData<P>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    #[error("expected {expected} bytes for {dimension} values, found {found}")]
    Length { dimension: usize, expected: usize, found: usize },
    #[error("value {index} is not finite")]
    NotFinite { index: usize },
    #[error("the packed value {index} is not one that a sender packs")]
    Code { index: usize },
    #[error("a vector saved as {expected:?} was expected, found tag {found:?}")]
    Protection { expected: char, found: char },
}

/// Why there is nothing behind door 5.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ComputedError<E> {
    /// The program failed.
    #[error("{0}")]
    Program(E),
    /// What is computed of nothing is a public start, which has a door of its own.
    #[error("no released vector was shown to the program")]
    NothingShown,
    #[error("value {index} of computed vector {vector} is not finite")]
    NotFinite { vector: usize, index: usize },
}

impl<P: Protection> Released<P> {
    /// Door 1: for the gate alone.
    pub(crate) fn from_gate(values: Vec<f64>) -> Self {
        Self { values, protection: PhantomData }
    }

    /// Door 2: a public starting point, the same at every node.
    pub fn start(start: &Start) -> Self {
        Self::from_gate(start.values().to_vec())
    }

    /// Door 2: zeros, as momentum and tracking variables begin.
    pub fn zeros(dimension: usize) -> Self {
        Self::from_gate(vec![0.0; dimension])
    }

    /// Door 5: what `program` computes from the values of `shown`, and from nothing else but public numbers: vectors of any
    /// length.
    ///
    /// # Guarantee
    /// The result has the protection of what was shown: exposed vectors give exposed ones, so this is no way from exposed to
    /// noised. It is post-processing, which costs no privacy, *only if the program saw nothing but* `shown` and public values;
    /// what else it reads cannot be checked here. Whoever calls this answers for it, as for doors 2 to 4: a program that
    /// reads records makes what comes out a false statement.
    pub fn computed<E>(
        shown: &[&Self],
        program: impl FnOnce(&[&[f64]]) -> Result<Vec<Vec<f64>>, E>,
    ) -> Result<Vec<Self>, ComputedError<E>> {
        if shown.is_empty() {
            return Err(ComputedError::NothingShown);
        }
        let values: Vec<&[f64]> = shown.iter().map(|vector| vector.as_slice()).collect();
        let computed = program(&values).map_err(ComputedError::Program)?;
        for (vector, values) in computed.iter().enumerate() {
            if let Some(index) = values.iter().position(|v| !v.is_finite()) {
                return Err(ComputedError::NotFinite { vector, index });
            }
        }
        Ok(computed.into_iter().map(Self::from_gate).collect())
    }

    /// The values. What was released can be read by anyone.
    pub fn as_slice(&self) -> &[f64] {
        &self.values
    }

    pub fn dimension(&self) -> usize {
        self.values.len()
    }

    /// Σ coefficient · vector, added up from left to right in every coordinate.
    pub fn combine<const K: usize>(terms: [(f64, &Self); K]) -> Self {
        let mut result = Self::zeros(terms.first().map_or(0, |(_, v)| v.dimension()));
        result.assign(terms);
        result
    }

    /// Overwrites `self` with Σ coefficient · vector, without allocating. Bit for bit [`Released::combine`].
    pub fn assign<const K: usize>(&mut self, terms: [(f64, &Self); K]) {
        let terms = terms.map(|(c, v)| (c, &v.values[..self.values.len()]));
        for (j, value) in self.values.iter_mut().enumerate() {
            let mut products = terms.iter().map(|(c, v)| c * v[j]);
            let first = products.next().unwrap_or(0.0);
            *value = products.fold(first, |sum, product| sum + product);
        }
    }

    /// `self` ← own · `self` + other · `vector`.
    pub fn blend(&mut self, own: f64, other: f64, vector: &Self) {
        for (value, w) in self.values.iter_mut().zip(&vector.values) {
            *value = own * *value + other * w;
        }
    }

    /// `self` ← `self` + Σ coefficient · vector.
    pub fn add<const K: usize>(&mut self, terms: [(f64, &Self); K]) {
        let terms = terms.map(|(c, v)| (c, &v.values[..self.values.len()]));
        for (j, value) in self.values.iter_mut().enumerate() {
            *value = terms.iter().fold(*value, |sum, (c, v)| sum + c * v[j]);
        }
    }

    /// `f` of every coordinate. A function without surroundings: it knows nothing but the value.
    #[must_use]
    pub fn map(&self, f: fn(f64) -> f64) -> Self {
        Self::from_gate(self.values.iter().map(|v| f(*v)).collect())
    }

    pub fn clear(&mut self) {
        self.values.fill(0.0);
    }

    /// Σ weight · vector over a neighbourhood, in the order given: the mixing step. All vectors must have
    /// the same length.
    pub fn mix<'a>(&mut self, mut terms: impl Iterator<Item = (f64, &'a Self)>) {
        match terms.next() {
            None => self.values.fill(0.0),
            Some((w, v)) => self.values.iter_mut().zip(&v.values).for_each(|(x, y)| *x = w * y),
        }
        for (w, v) in terms {
            self.values.iter_mut().zip(&v.values).for_each(|(x, y)| *x += w * y);
        }
    }

    pub fn is_finite(&self) -> bool {
        self.values.iter().all(|v| v.is_finite())
    }

    /// Appends this vector to a checkpoint on this node's own disk.
    pub fn save(&self, out: &mut Vec<u8>) {
        out.push(P::TAG);
        out.extend((self.values.len() as u64).to_le_bytes());
        extend_little_endian(out, &self.values);
    }

    /// Door 4: reads a vector that [`Released::save`] wrote with this protection, and advances `bytes`.
    pub fn load(bytes: &mut &[u8], dimension: usize) -> Result<Self, DecodeError> {
        let size = 9 + 8 * dimension;
        let wrong = DecodeError::Length { dimension, expected: size, found: bytes.len() };
        let Some((head, rest)) = bytes.split_at_checked(size) else { return Err(wrong) };
        if head[0] != P::TAG {
            return Err(DecodeError::Protection { expected: P::TAG as char, found: head[0] as char });
        }
        if head[1..9] != (dimension as u64).to_le_bytes() {
            return Err(wrong);
        }
        *bytes = rest;
        Ok(Self::from_gate(floats(&head[9..])))
    }
}

impl Released<Noised> {
    /// The bytes that go to a neighbour: little-endian floats. Only `Noised` values have this.
    pub fn to_wire(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        extend_little_endian(&mut bytes, &self.values);
        bytes
    }

    /// Door 3: a neighbour's vector.
    pub fn from_wire(bytes: &[u8], dimension: usize) -> Result<Self, DecodeError> {
        if bytes.len() != 8 * dimension {
            return Err(DecodeError::Length { dimension, expected: 8 * dimension, found: bytes.len() });
        }
        let values = floats(bytes);
        match values.iter().position(|v| !v.is_finite()) {
            Some(index) => Err(DecodeError::NotFinite { index }),
            None => Ok(Self::from_gate(values)),
        }
    }
}

fn floats(bytes: &[u8]) -> Vec<f64> {
    let eight = |c: &[u8]| f64::from_le_bytes([c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7]]);
    bytes.chunks_exact(8).map(eight).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protection::Exposed;

    fn released(values: &[f64]) -> Released<Noised> {
        Released::from_gate(values.to_vec())
    }

    #[test]
    fn combine_adds_from_left_to_right() {
        let (a, b, c) = (released(&[0.1, 1e16]), released(&[0.2, 1.0]), released(&[0.3, -1e16]));
        let sum = Released::combine([(1.0, &a), (1.0, &b), (1.0, &c)]);
        assert_eq!(sum.as_slice(), &[(0.1 + 0.2) + 0.3, (1e16 + 1.0) - 1e16]);
    }

    #[test]
    fn a_program_is_shown_the_values_and_gives_finite_ones() {
        let (a, b) = (released(&[1.0, 2.0]), released(&[3.0]));
        let joined = |shown: &[&[f64]]| Ok::<_, ()>(vec![shown.concat(), vec![shown.len() as f64]]);
        let made = Released::computed(&[&a, &b], joined).unwrap();
        assert_eq!(made, [released(&[1.0, 2.0, 3.0]), released(&[2.0])]);
        let bad = Released::computed(&[&a], |_| Ok::<_, ()>(vec![vec![0.0], vec![0.0, f64::INFINITY]]));
        assert_eq!(bad, Err(ComputedError::NotFinite { vector: 1, index: 1 }));
        assert_eq!(Released::computed(&[&a], |_| Err("no")), Err(ComputedError::Program("no")));
        let of_nothing = Released::<Noised>::computed(&[], |_| Ok::<_, ()>(vec![vec![1.0]]));
        assert_eq!(of_nothing, Err(ComputedError::NothingShown));
    }

    #[test]
    fn wire_and_checkpoint_round_trip_and_refuse_what_is_not_theirs() {
        let v = released(&[1.5, -0.0, 3e-310]);
        assert_eq!(Released::from_wire(&v.to_wire(), 3).unwrap(), v);
        assert!(matches!(Released::from_wire(&v.to_wire(), 2), Err(DecodeError::Length { .. })));
        let bad = Released::<Noised>::from_gate(vec![0.0, f64::NAN]).to_wire();
        assert_eq!(Released::from_wire(&bad, 2), Err(DecodeError::NotFinite { index: 1 }));

        let mut bytes = Vec::new();
        v.save(&mut bytes);
        let mut cursor = &bytes[..];
        assert_eq!(Released::<Noised>::load(&mut cursor, 3).unwrap(), v);
        assert!(cursor.is_empty());
        assert!(matches!(Released::<Exposed>::load(&mut &bytes[..], 3), Err(DecodeError::Protection { .. })));
        for cut in 0..bytes.len() {
            assert!(Released::<Noised>::load(&mut &bytes[..cut], 3).is_err());
        }
        assert!(Released::<Noised>::load(&mut &bytes[..], 2).is_err());
    }
}
