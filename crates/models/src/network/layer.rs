//! One layer: what it may be, and what it makes of a shape.

use super::{MOST_VALUES, Problem, Shape};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    /// A convolution with a square kernel (1, 3 or 5) and a bias.
    Conv {
        /// Channels that come out.
        out: usize,
        kernel: usize,
        /// Pixels from one window to the next.
        stride: usize,
        /// Rings of zeros around the image.
        padding: usize,
    },
    MaxPool {
        size: usize,
        /// Pixels from one window to the next.
        stride: usize,
    },
    AveragePool {
        size: usize,
        /// Pixels from one window to the next.
        stride: usize,
    },
    /// A fully connected layer with a bias. Flattens its input first, in the order channel, y, x.
    Dense {
        /// Values that come out.
        out: usize,
    },
    Tanh,
    Relu,
    /// Normalises groups of channels of one record, then scales and shifts each channel (epsilon is 1e-5).
    GroupNorm {
        /// How many groups the channels are divided into.
        groups: usize,
    },
}

impl Layer {
    /// What comes out of the layer for this input.
    pub(super) fn output(self, input: Shape) -> Result<Shape, Problem> {
        let output = match self {
            Layer::Conv { out, kernel, stride, padding } => {
                if ![1, 3, 5].contains(&kernel) {
                    return Err(Problem::Kernel { kernel });
                }
                if padding >= kernel {
                    return Err(Problem::Padding { padding, kernel });
                }
                let image = slide(input, kernel, stride, padding)?;
                Shape { channels: positive("the number of channels", out)?, ..image }
            }
            Layer::MaxPool { size, stride } | Layer::AveragePool { size, stride } => {
                slide(input, positive("the window", size)?, stride, 0)?
            }
            Layer::Dense { out } => Shape::flat(positive("the number of values", out)?),
            Layer::Tanh | Layer::Relu => input,
            Layer::GroupNorm { groups } => {
                if !input.channels.is_multiple_of(positive("the number of groups", groups)?) {
                    return Err(Problem::Groups { groups, channels: input.channels });
                }
                input
            }
        };
        match output.checked_size() {
            Some(size) if size <= MOST_VALUES => Ok(output),
            _ => Err(Problem::TooLarge { output }),
        }
    }

    /// The name its tensors start with and the shape of its weight, for a layer with parameters. The bias has
    /// one value for each first index of the weight.
    pub(super) fn weight(self, input: Shape) -> Option<(&'static str, Vec<usize>)> {
        match self {
            Layer::Conv { out, kernel, .. } => Some(("conv", vec![out, input.channels, kernel, kernel])),
            Layer::Dense { out } => Some(("fc", vec![out, input.size()])),
            Layer::GroupNorm { .. } => Some(("norm", vec![input.channels])),
            Layer::MaxPool { .. } | Layer::AveragePool { .. } | Layer::Tanh | Layer::Relu => None,
        }
    }

    /// Whether it can follow a dense layer, which leaves no image.
    pub(super) fn takes_vectors(self) -> bool {
        matches!(self, Layer::Dense { .. } | Layer::Tanh | Layer::Relu)
    }
}

/// The positions of a square window that slides over the image: incomplete ones are left out, as in PyTorch.
fn slide(input: Shape, window: usize, stride: usize, padding: usize) -> Result<Shape, Problem> {
    let stride = positive("the stride", stride)?;
    let along = |side: usize| {
        let room = (side + 2 * padding).checked_sub(window).ok_or(Problem::Window { window, padding })?;
        Ok(room / stride + 1)
    };
    Ok(Shape { height: along(input.height)?, width: along(input.width)?, ..input })
}

fn positive(what: &'static str, value: usize) -> Result<usize, Problem> {
    if value == 0 { Err(Problem::Zero { what }) } else { Ok(value) }
}
