//! A network in words: its layers with shapes and parameters, and what a gradient costs.

use crate::style::bytes;
use prdo_models::network::{Shape, Spec, Tensor};

/// The lines that `prdo run` prints before a network is trained with batches of `batch` records; the engine that
/// computes its gradients says that it needs `engine_bytes`.
pub fn describe(spec: &Spec, batch: usize, engine_bytes: usize) -> Vec<String> {
    let mut lines = vec![format!("network: {} in, {} classes out", shown(spec.input()), spec.classes())];
    let texts: Vec<String> = spec.layers().iter().map(ToString::to_string).collect();
    let width = texts.iter().map(String::len).max().unwrap_or(0).max("layer".len());
    lines.push(format!("     {:width$}  {:>12}  {:>10}", "layer", "output", "parameters"));
    for (index, (text, output)) in texts.iter().zip(spec.shapes()).enumerate() {
        let of_layer = |tensor: &&Tensor| tensor.layer == index;
        let parameters: usize = spec.tensors().iter().filter(of_layer).map(Tensor::len).sum();
        let parameters = if parameters == 0 { String::new() } else { parameters.to_string() };
        let line = format!("{:>3}  {text:width$}  {:>12}  {parameters:>10}", index + 1, shown(*output));
        lines.push(line.trim_end().to_string());
    }
    let flops = spec.flops() as f64;
    lines.push(format!(
        "{} parameters; {:.1} MFLOP per record, {:.1} GFLOP per batch of {batch}; about {} of memory for gradients",
        spec.parameters(),
        flops / 1e6,
        flops * batch as f64 / 1e9,
        bytes(engine_bytes as u64)
    ));
    lines
}

/// A flat vector by its length, an image by its sides.
fn shown(shape: Shape) -> String {
    if shape == Shape::flat(shape.channels) { shape.channels.to_string() } else { shape.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_stand_in_a_table_with_their_cost_below() {
        let spec = Spec::named("vgg-small", Shape::new(3, 32, 32), 10).unwrap().unwrap();
        let lines = describe(&spec, 100, 12_345_678);
        assert_eq!(lines.len(), 18 + 3);
        assert_eq!(lines[0], "network: 3x32x32 in, 10 classes out");
        assert_eq!(lines[1], "     layer             output  parameters");
        assert_eq!(lines[2], "  1  conv 32         32x32x32         896");
        assert_eq!(lines[3], "  2  tanh            32x32x32");
        assert_eq!(lines[19], " 18  dense 10              10        1290");
        assert_eq!(
            lines[20],
            "550570 parameters; 231.6 MFLOP per record, 23.2 GFLOP per batch of 100; about 12.3 MB of memory for gradients"
        );
        assert!(describe(&spec, usize::MAX, usize::MAX)[20].contains(" TB of memory"));
    }
}
