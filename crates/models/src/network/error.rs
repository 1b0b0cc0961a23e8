//! What can be wrong with a network, said with the shapes that show why.

use super::{Layer, MOST_PARAMETERS, MOST_VALUES, Shape};

/// A network that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{fault}", .network.map_or(String::new(), |name| format!("{name}, ")))]
pub struct SpecError {
    /// The name of a known network; `None` of layers that somebody listed.
    pub network: Option<&'static str>,
    pub fault: Fault,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    #[error("its input is {input}: it must have at least 1 value and at most {MOST_VALUES}")]
    Input { input: Shape },
    #[error("the data has {classes} classes: there must be at least 2")]
    Classes { classes: usize },
    #[error("layer {number} (\"{layer}\"): {problem}: its input is {input}")]
    Layer {
        /// Which one, from 1.
        number: usize,
        layer: Layer,
        input: Shape,
        problem: Problem,
    },
    #[error(
        "the last layer is {}: the data has {classes} classes, so it must be \"dense {classes}\", a score per class",
        .last.map_or("missing".to_string(), |layer| format!("\"{layer}\""))
    )]
    Last { last: Option<Layer>, classes: usize },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    #[error("the kernel is {kernel}x{kernel}, it must be 1x1, 3x3 or 5x5")]
    Kernel { kernel: usize },
    /// So much padding that a window could see zeros only.
    #[error("the padding is {padding}, it must be below the kernel's {kernel}")]
    Padding { padding: usize, kernel: usize },
    #[error("{what} is 0, it must be at least 1")]
    Zero { what: &'static str },
    #[error("a window of {window}x{window} does not fit into the image (padding {padding})")]
    Window {
        window: usize,
        /// Rings of zeros around the image.
        padding: usize,
    },
    #[error("{groups} groups do not divide {channels} channels evenly")]
    Groups { groups: usize, channels: usize },
    /// A layer that needs an image, where there is none.
    #[error("only dense, tanh and relu can follow a dense layer, which leaves no image")]
    AfterDense,
    #[error("its output {output} has more than {MOST_VALUES} values")]
    TooLarge { output: Shape },
    #[error("with it the network has more than {MOST_PARAMETERS} parameters")]
    Parameters,
}
