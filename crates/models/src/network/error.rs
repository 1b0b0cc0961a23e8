//! What can be wrong with a network, said with the shapes that show why.

use super::{Layer, MOST_PARAMETERS, MOST_VALUES, Shape};

/// A network that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{network}, {fault}")]
pub struct SpecError {
    /// `model.layers`, or the name of a known network.
    pub network: &'static str,
    /// What is wrong with it.
    pub fault: Fault,
}

/// What is wrong with a network.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// A record has no values, or too many.
    #[error("its input is {input}: it must have at least 1 value and at most {MOST_VALUES}")]
    Input {
        /// The shape of a record.
        input: Shape,
    },
    /// Fewer than two classes.
    #[error("the data has {classes} classes: there must be at least 2")]
    Classes {
        /// How many there are.
        classes: usize,
    },
    /// A layer that does not fit its input.
    #[error("layer {number} (\"{layer}\"): {problem}: its input is {input}")]
    Layer {
        /// Which one, from 1.
        number: usize,
        /// The layer.
        layer: Layer,
        /// What comes in.
        input: Shape,
        /// What is wrong.
        problem: Problem,
    },
    /// The last layer does not give a score for each class.
    #[error(
        "the last layer is {}: the data has {classes} classes, so it must be \"dense {classes}\", a score a class",
        .last.map_or("missing".to_string(), |layer| format!("\"{layer}\""))
    )]
    Last {
        /// The last layer, if there is one.
        last: Option<Layer>,
        /// How many classes the data has.
        classes: usize,
    },
}

/// Why a layer does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// A kernel that is not known.
    #[error("the kernel is {kernel}x{kernel}, it must be 1x1, 3x3 or 5x5")]
    Kernel {
        /// Its side.
        kernel: usize,
    },
    /// So much padding that a window could see zeros only.
    #[error("the padding is {padding}, it must be below the kernel's {kernel}")]
    Padding {
        /// Rings of zeros.
        padding: usize,
        /// Side of the kernel.
        kernel: usize,
    },
    /// A number that must be positive is 0.
    #[error("{what} is 0, it must be at least 1")]
    Zero {
        /// Which one.
        what: &'static str,
    },
    /// A window larger than the image.
    #[error("a window of {window}x{window} does not fit into the image (padding {padding})")]
    Window {
        /// Side of the window.
        window: usize,
        /// Rings of zeros around the image.
        padding: usize,
    },
    /// Groups of different sizes.
    #[error("{groups} groups do not divide {channels} channels evenly")]
    Groups {
        /// How many groups.
        groups: usize,
        /// How many channels.
        channels: usize,
    },
    /// A layer that needs an image, where there is none.
    #[error("only dense, tanh and relu can follow a dense layer, which leaves no image")]
    AfterDense,
    /// An output that no memory holds.
    #[error("its output {output} has more than {MOST_VALUES} values")]
    TooLarge {
        /// What would come out.
        output: Shape,
    },
    /// Too many parameters.
    #[error("with it the network has more than {MOST_PARAMETERS} parameters")]
    Parameters,
}
