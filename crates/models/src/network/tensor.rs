//! Where each layer's parameters stand in the flat vector.

use super::{Layer, Shape};
use std::collections::BTreeMap;

/// What a tensor is to its layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Weight,
    Bias,
}

/// One tensor of parameters: a stretch of the flat vector, row-major.
///
/// Weights are `[out, in, ky, kx]` of a convolution, `[out, in]` of a dense layer, `[channels]` of a group norm;
/// each is followed by its bias, and layers follow one another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    /// Its name in files: `conv1.weight`, `conv1.bias`, `norm1.weight`, `fc1.weight`, …
    pub name: String,
    pub shape: Vec<usize>,
    /// Where it begins in the flat vector.
    pub offset: usize,
    /// Which layer it belongs to, from 0.
    pub layer: usize,
    pub role: Role,
}

impl Tensor {
    #[allow(clippy::len_without_is_empty)] // never empty: a checked network has no dimension of 0
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// The stretch of the flat vector.
    pub fn range(&self) -> std::ops::Range<usize> {
        self.offset..self.offset + self.len()
    }
}

/// The tensors of checked layers.
pub(super) fn tensors(input: Shape, layers: &[Layer], shapes: &[Shape]) -> Vec<Tensor> {
    let inputs = std::iter::once(&input).chain(shapes);
    let (mut tensors, mut offset) = (Vec::new(), 0);
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for (layer, (kind, input)) in layers.iter().zip(inputs).enumerate() {
        let Some((prefix, shape)) = kind.weight(*input) else { continue };
        let number = seen.entry(prefix).and_modify(|count| *count += 1).or_insert(1);
        let bias = vec![shape[0]];
        for (role, suffix, shape) in [(Role::Weight, "weight", shape), (Role::Bias, "bias", bias)] {
            let tensor = Tensor { name: format!("{prefix}{number}.{suffix}"), shape, offset, layer, role };
            offset += tensor.len();
            tensors.push(tensor);
        }
    }
    tensors
}
