//! A whole network, checked.

use super::tensor::{Tensor, tensors};
use super::{Fault, Layer, Problem, Role, Shape, SpecError};
use std::fmt;

pub const MOST_PARAMETERS: usize = 50_000_000;

/// The most values a record, or what one layer makes of it, may have.
pub const MOST_VALUES: usize = 50_000_000;

/// A network whose layers fit one another, its input and its classes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spec {
    input: Shape,
    layers: Vec<Layer>,
    classes: usize,
    shapes: Vec<Shape>,
    tensors: Vec<Tensor>,
}

impl Spec {
    /// A network for records of shape `input` and labels 0 to `classes`−1.
    ///
    /// # Errors
    /// The first layer that does not fit its input, with the shapes; or a last layer that is not
    /// `Dense { out: classes }`.
    pub fn new(input: Shape, layers: Vec<Layer>, classes: usize) -> Result<Self, SpecError> {
        Self::checked(None, input, layers, classes)
    }

    /// As [`Spec::new`], for the known network of this name.
    pub(super) fn checked(
        network: Option<&'static str>,
        input: Shape,
        layers: Vec<Layer>,
        classes: usize,
    ) -> Result<Self, SpecError> {
        let refuse = |fault| SpecError { network, fault };
        let values = input.checked_size().unwrap_or(usize::MAX);
        if values == 0 || values > super::MOST_VALUES {
            return Err(refuse(Fault::Input { input }));
        }
        if classes < 2 {
            return Err(refuse(Fault::Classes { classes }));
        }
        let shapes = shapes(input, &layers).map_err(refuse)?;
        match layers.last() {
            Some(Layer::Dense { out }) if *out == classes => {}
            last => return Err(refuse(Fault::Last { last: last.copied(), classes })),
        }
        let tensors = tensors(input, &layers, &shapes);
        Ok(Self { input, layers, classes, shapes, tensors })
    }

    pub fn input(&self) -> Shape {
        self.input
    }

    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// How many classes there are: the values that come out of the last layer.
    pub fn classes(&self) -> usize {
        self.classes
    }

    pub fn shapes(&self) -> &[Shape] {
        &self.shapes
    }

    pub fn input_of(&self, layer: usize) -> Shape {
        layer.checked_sub(1).and_then(|before| self.shapes.get(before)).copied().unwrap_or(self.input)
    }

    /// The parameters' tensors, in the order of the flat vector.
    pub fn tensors(&self) -> &[Tensor] {
        &self.tensors
    }

    /// How many parameters there are: the length of the flat vector.
    pub fn parameters(&self) -> usize {
        self.tensors.last().map_or(0, |last| last.offset + last.len())
    }

    /// Floating-point operations of one record's gradient: two for each multiply-add of convolutions and dense
    /// layers, forward, for the gradient of the weights and for the gradient of the input. The first layer with
    /// parameters needs no gradient of its input.
    pub fn flops(&self) -> u64 {
        let mut total = 0_u64;
        for (k, tensor) in self.tensors.iter().filter(|t| t.role == Role::Weight).enumerate() {
            if matches!(self.layers[tensor.layer], Layer::GroupNorm { .. }) {
                continue;
            }
            let Shape { height, width, .. } = self.shapes[tensor.layer];
            let multiply_adds = (tensor.len() as u64).saturating_mul((height * width) as u64);
            let passes = if k == 0 { 2 } else { 3 };
            total = total.saturating_add(multiply_adds.saturating_mul(2 * passes));
        }
        total
    }
}

impl fmt::Display for Spec {
    /// The layers as a run file lists them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let layers: Vec<_> = self.layers.iter().map(|layer| format!("{:?}", layer.to_string())).collect();
        write!(f, "[{}]", layers.join(", "))
    }
}

/// The output shape of each layer, or the first layer that does not fit.
fn shapes(input: Shape, layers: &[Layer]) -> Result<Vec<Shape>, Fault> {
    let (mut shapes, mut at, mut parameters, mut dense) = (Vec::with_capacity(layers.len()), input, 0, false);
    for (index, layer) in layers.iter().enumerate() {
        let refuse = |problem| Fault::Layer { number: index + 1, layer: *layer, input: at, problem };
        if dense && !layer.takes_vectors() {
            return Err(refuse(Problem::AfterDense));
        }
        let output = layer.output(at).map_err(refuse)?;
        parameters = with_parameters(parameters, *layer, at).ok_or(refuse(Problem::Parameters))?;
        dense |= matches!(layer, Layer::Dense { .. });
        shapes.push(output);
        at = output;
    }
    Ok(shapes)
}

/// The count of parameters once `layer` is added; `None` when it is more than is allowed.
fn with_parameters(before: usize, layer: Layer, input: Shape) -> Option<usize> {
    let Some((_, shape)) = layer.weight(input) else { return Some(before) };
    let weight = shape.iter().try_fold(1_usize, |product, n| product.checked_mul(*n))?;
    let total = before.checked_add(weight)?.checked_add(shape[0])?;
    (total <= MOST_PARAMETERS).then_some(total)
}
