//! Small neural networks: which layers, of which shapes, with which parameters where in the flat
//! vector that the methods exchange.
//!
//! A [`Spec`] is plain data that is checked once, when it is made; everything that comes after can rely on it.
//! [`Network`] is the model of a spec, and `engine` what computes its gradients.
//!
//! What never happens here: sampling, clipping or noise.

mod engine;
mod error;
mod layer;
mod model;
mod named;
mod shape;
mod spec;
mod start;
mod tensor;
mod text;

pub use engine::Normalisation;
pub use error::{Fault, Problem, SpecError};
pub use layer::Layer;
pub use model::Network;
pub use named::NAMES;
pub use shape::Shape;
pub use spec::{MOST_PARAMETERS, MOST_VALUES, Spec};
pub use start::Law;
pub use tensor::{Role, Tensor};
pub use text::LayerError;

#[cfg(test)]
mod tests;
