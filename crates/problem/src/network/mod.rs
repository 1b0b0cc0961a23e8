//! Small neural networks, described: which layers, of which shapes, with which parameters where in the flat
//! vector that the methods exchange.
//!
//! What never happens here: reading a record or computing a gradient. A [`Spec`] is plain data that is checked
//! once, when it is made; everything that comes after can rely on it.

mod error;
mod layer;
mod named;
mod shape;
mod spec;
mod start;
mod tensor;
mod text;

pub use error::{Fault, Problem, SpecError};
pub use layer::Layer;
pub use named::NAMES;
pub use shape::Shape;
pub use spec::{MOST_PARAMETERS, MOST_VALUES, Spec};
pub use tensor::{Role, Tensor};
pub use text::LayerError;

#[cfg(test)]
mod tests;
