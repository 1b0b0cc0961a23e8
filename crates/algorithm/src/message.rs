//! What neighbours exchange.

use prdo_privacy::{DecodeError, Noised, Protection, Released};

/// What a node sends to each neighbour in one exchange: one model-sized vector, or several.
#[derive(Clone, Debug, PartialEq)]
pub struct Message<P: Protection> {
    vectors: Vec<Released<P>>,
}

impl<P: Protection> Message<P> {
    pub fn one(vector: Released<P>) -> Self {
        Self { vectors: vec![vector] }
    }

    pub fn two(first: Released<P>, second: Released<P>) -> Self {
        Self { vectors: vec![first, second] }
    }

    pub fn vectors(&self) -> &[Released<P>] {
        &self.vectors
    }
}

impl Message<Noised> {
    /// The payload for a neighbour. Exists for `Noised` messages only.
    pub fn to_wire(&self) -> Vec<u8> {
        let mut parts = self.vectors.iter().map(Released::to_wire);
        let mut bytes = parts.next().unwrap_or_default();
        parts.for_each(|part| bytes.extend_from_slice(&part));
        bytes
    }

    pub fn from_wire(bytes: &[u8], dimension: usize, count: usize) -> Result<Self, DecodeError> {
        let expected = 8 * dimension * count;
        if bytes.len() != expected || expected == 0 {
            return Err(DecodeError::Length { dimension: dimension * count, expected, found: bytes.len() });
        }
        let decode = |part: &[u8]| Released::from_wire(part, dimension);
        Ok(Self { vectors: bytes.chunks_exact(8 * dimension).map(decode).collect::<Result<_, _>>()? })
    }
}

/// The messages of a node's neighbourhood, its own among them, with its row of W. Both are in ascending
/// order of node number, so that every driver adds them up in the same order.
#[derive(Debug)]
pub struct Inbox<'a, P: Protection> {
    weights: &'a [f64],
    messages: Vec<&'a Message<P>>,
}

impl<'a, P: Protection> Inbox<'a, P> {
    pub fn new(weights: &'a [f64], messages: Vec<&'a Message<P>>) -> Self {
        debug_assert_eq!(weights.len(), messages.len());
        Self { weights, messages }
    }

    /// `target` ← Σ_j W_ij · (vector number `which` of j's message).
    pub fn mix(&self, which: usize, target: &mut Released<P>) {
        let terms = self.weights.iter().zip(&self.messages);
        target.mix(terms.filter_map(|(w, message)| Some((*w, message.vectors.get(which)?))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prdo_privacy::Start;

    #[test]
    fn payloads_round_trip_and_bad_ones_are_refused() {
        let start = |v: &[f64]| Released::<Noised>::start(&Start::declared_public(v.to_vec()).unwrap());
        let message = Message::two(start(&[1.0, 2.0]), start(&[3.0, 4.5]));
        let bytes = message.to_wire();
        assert_eq!(Message::from_wire(&bytes, 2, 2).unwrap(), message);
        assert!(Message::from_wire(&bytes, 2, 1).is_err());
        assert!(Message::from_wire(&bytes[1..], 2, 2).is_err());
        assert!(Message::from_wire(&[], 0, 0).is_err());
    }
}
