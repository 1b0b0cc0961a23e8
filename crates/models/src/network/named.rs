//! Networks known by name.

use super::{Layer, Shape, Spec, SpecError};

pub const NAMES: &[&str] = &["vgg-small", "lenet"];

impl Spec {
    /// The network of this name; `None` when there is none.
    ///
    /// - `vgg-small`: three pairs of 3x3 convolutions (32, 64 and 128 channels) with tanh, each pair followed by
    ///   max pooling; then 128 values, and the classes. The paper's network: 550,570 parameters on 3x32x32.
    /// - `lenet`: two 5x5 convolutions (6 and 16 channels) with tanh and average pooling; then 120 and 84 values,
    ///   and the classes. Images below 32x32 are padded as LeNet-5 does: 61,706 parameters on 1x28x28.
    pub fn named(name: &str, input: Shape, classes: usize) -> Option<Result<Self, SpecError>> {
        let (network, layers) = match name {
            "vgg-small" => ("vgg-small", vgg_small(classes)),
            "lenet" => ("lenet", lenet(input, classes)),
            _ => return None,
        };
        Some(Self::checked(Some(network), input, layers, classes))
    }
}

fn vgg_small(classes: usize) -> Vec<Layer> {
    let conv = |out| Layer::Conv { out, kernel: 3, stride: 1, padding: 1 };
    let pool = Layer::MaxPool { size: 2, stride: 2 };
    let block = |out| [conv(out), Layer::Tanh, conv(out), Layer::Tanh, pool];
    let head = [Layer::Dense { out: 128 }, Layer::Tanh, Layer::Dense { out: classes }];
    [32, 64, 128].into_iter().flat_map(block).chain(head).collect()
}

fn lenet(input: Shape, classes: usize) -> Vec<Layer> {
    let conv = |out, padding| Layer::Conv { out, kernel: 5, stride: 1, padding };
    let pool = Layer::AveragePool { size: 2, stride: 2 };
    let padding = if input.height.min(input.width) < 32 { 2 } else { 0 };
    let features = [conv(6, padding), Layer::Tanh, pool, conv(16, 0), Layer::Tanh, pool];
    let head = [120, 84].into_iter().flat_map(|out| [Layer::Dense { out }, Layer::Tanh]);
    features.into_iter().chain(head).chain([Layer::Dense { out: classes }]).collect()
}
