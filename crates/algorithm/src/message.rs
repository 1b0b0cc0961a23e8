//! What neighbours exchange.

use prdo_privacy::{DecodeError, Noised, Packed, Packing, Protection, Released};

/// What a node sends to each neighbour in one exchange: one model-sized vector, or several; then numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Message<P: Protection> {
    vectors: Vec<Released<P>>,
    /// What the one vector arrives in, if it is packed.
    packed: Option<Vec<u8>>,
}

/// How a method's messages look, which both ends know.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape {
    /// Model-sized vectors.
    pub vectors: u32,
    /// Numbers after them: vectors of one number each.
    pub numbers: u32,
    pub packing: Packing,
}

impl Shape {
    /// So many plain vectors.
    pub const fn vectors(vectors: u32) -> Self {
        Self { vectors, numbers: 0, packing: Packing::Plain }
    }

    /// Bytes of a message between models of d parameters.
    pub fn bytes(&self, d: usize) -> usize {
        self.vectors as usize * self.packing.bytes(d) + 8 * self.numbers as usize
    }
}

impl<P: Protection> Message<P> {
    pub fn one(vector: Released<P>) -> Self {
        Self { vectors: vec![vector], packed: None }
    }

    pub fn two(first: Released<P>, second: Released<P>) -> Self {
        Self { vectors: vec![first, second], packed: None }
    }

    /// So many plain vectors.
    pub fn of(vectors: Vec<Released<P>>) -> Self {
        Self { vectors, packed: None }
    }

    /// Nothing: what a silent round has between peers, who answer one another in every round.
    pub fn nothing() -> Self {
        Self { vectors: Vec::new(), packed: None }
    }

    /// A vector as it was packed: the sender, too, mixes what the others have.
    pub fn packed(vector: Packed<P>) -> Self {
        let (decoded, bytes) = vector.into_parts();
        Self { vectors: vec![decoded], packed: Some(bytes) }
    }

    pub fn vectors(&self) -> &[Released<P>] {
        &self.vectors
    }
}

impl Message<Noised> {
    /// The payload for a neighbour. Exists for `Noised` messages only.
    pub fn to_wire(&self) -> Vec<u8> {
        if let Some(packed) = &self.packed {
            return packed.clone();
        }
        let mut parts = self.vectors.iter().map(Released::to_wire);
        let mut bytes = parts.next().unwrap_or_default();
        parts.for_each(|part| bytes.extend_from_slice(&part));
        bytes
    }

    pub fn from_wire(bytes: &[u8], dimension: usize, shape: &Shape) -> Result<Self, DecodeError> {
        let expected = shape.bytes(dimension);
        if bytes.len() != expected || expected == 0 {
            return Err(DecodeError::Length { dimension, expected, found: bytes.len() });
        }
        let (vectors, numbers) = bytes.split_at(expected - 8 * shape.numbers as usize);
        let packed = (shape.packing != Packing::Plain).then(|| vectors.to_vec());
        let decode = |part: &[u8]| Released::unpack(part, dimension, shape.packing);
        let vectors = vectors.chunks_exact(shape.packing.bytes(dimension).max(1)).map(decode);
        let numbers = numbers.chunks_exact(8).map(|number| Released::from_wire(number, 1));
        Ok(Self { vectors: vectors.chain(numbers).collect::<Result<_, _>>()?, packed })
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

    /// Vector number `which` of each message, in the same order.
    pub fn vectors(&self, which: usize) -> impl Iterator<Item = &'a Released<P>> + '_ {
        self.messages.iter().filter_map(move |message| message.vectors.get(which))
    }

    /// This node's row of W, in the same order.
    pub fn weights(&self) -> &'a [f64] {
        self.weights
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
    use prdo_privacy::{PublicDither, Start};

    #[test]
    fn payloads_round_trip_and_bad_ones_are_refused() {
        let start = |v: &[f64]| Released::<Noised>::start(&Start::declared_public(v.to_vec()).unwrap());
        let message = Message::two(start(&[1.0, 2.0]), start(&[3.0, 4.5]));
        let bytes = message.to_wire();
        let from_wire = |bytes: &[u8], d, vectors| Message::from_wire(bytes, d, &Shape::vectors(vectors));
        assert_eq!(from_wire(&bytes, 2, 2).unwrap(), message);
        assert!(from_wire(&bytes, 2, 1).is_err());
        assert!(from_wire(&bytes[1..], 2, 2).is_err());
        assert!(from_wire(&[], 0, 0).is_err());
    }

    #[test]
    fn packed_vectors_and_numbers_arrive_as_they_were_sent() {
        let start = |v: &[f64]| Released::<Noised>::start(&Start::declared_public(v.to_vec()).unwrap());
        let vector = start(&[1.0, -2.0, 0.25]);
        let packing = Packing::Bits(3);
        let message = Message::packed(Packed::of(&vector, packing, &mut PublicDither::new(0, 0)));
        let shape = Shape { packing, ..Shape::vectors(1) };
        let bytes = message.to_wire();
        assert_eq!(bytes.len(), shape.bytes(3));
        assert_eq!(Message::from_wire(&bytes, 3, &shape).unwrap(), message);
        assert!(Message::from_wire(&bytes, 3, &Shape::vectors(1)).is_err());

        let message = Message::two(vector, start(&[0.5]));
        let shape = Shape { numbers: 1, ..Shape::vectors(1) };
        assert_eq!(Message::from_wire(&message.to_wire(), 3, &shape).unwrap(), message);
        assert!(Message::from_wire(&message.to_wire()[8..], 3, &shape).is_err());
    }
}
