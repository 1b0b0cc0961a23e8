//! Models as ONNX files: from the records' features (of an image: its pixels, 0 to 1) to one score a class.

use crate::protobuf::Message;
use prdo_models::network::{Layer, Role, Shape, Spec};

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OnnxError {
    #[error("the model has {found} values, but {expected} fit its description")]
    Size { found: usize, expected: usize },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Linear {
    pub features: usize,
    /// Scores: one of logistic regression (the log-odds of the second class), otherwise one a class.
    pub scores: usize,
    /// Whether each score has a constant, which stands behind its weights.
    pub intercept: bool,
}

/// ONNX's own version and that of its operators: old enough for every reader of the last years.
const FORMAT: i64 = 8;
const OPERATORS: i64 = 17;
const FLOAT: i64 = 1;
const INTEGER: i64 = 7;

/// One step: an operator, the names it reads, the name it gives.
struct Step {
    operator: &'static str,
    reads: Vec<String>,
    gives: String,
    attributes: Vec<Message>,
}

/// A graph being written: its steps, and the tensors that they read.
struct Graph {
    steps: Vec<Step>,
    tensors: Vec<Message>,
}

impl Graph {
    fn new() -> Self {
        Self { steps: Vec::new(), tensors: Vec::new() }
    }

    /// Adds a step that reads the last one's result and these tensors.
    fn step(&mut self, operator: &'static str, tensors: &[&str], attributes: Vec<Message>) {
        let last = self.steps.last().map_or("input", |step| step.gives.as_str());
        let reads = std::iter::once(last).chain(tensors.iter().copied()).map(String::from).collect();
        let gives = format!("{}_{}", operator.to_lowercase(), self.steps.len() + 1);
        self.steps.push(Step { operator, reads, gives, attributes });
    }

    fn numbers(&mut self, name: &str, shape: &[usize], values: impl Iterator<Item = f32>) {
        let bytes: Vec<u8> = values.flat_map(f32::to_le_bytes).collect();
        self.tensor(name, shape, FLOAT, &bytes);
    }

    /// Turns the last result into this shape; 0 keeps a side, −1 takes what is left.
    fn reshape(&mut self, sides: &[i64]) {
        let name = format!("shape_{}", self.steps.len() + 1);
        let bytes: Vec<u8> = sides.iter().flat_map(|side| side.to_le_bytes()).collect();
        self.tensor(&name, &[sides.len()], INTEGER, &bytes);
        self.step("Reshape", &[&name], Vec::new());
    }

    fn tensor(&mut self, name: &str, shape: &[usize], kind: i64, bytes: &[u8]) {
        let tensor = shape.iter().fold(Message::new(), |tensor, side| tensor.integer(1, *side as i64));
        self.tensors.push(tensor.integer(2, kind).text(8, name).bytes(9, bytes));
    }

    /// The whole file: from `input` to the last step's result, which is called `scores`.
    fn finish(mut self, input: &[usize], scores: usize, about: &str) -> Vec<u8> {
        if let Some(last) = self.steps.last_mut() {
            last.gives = "scores".into();
        }
        let steps: Vec<Message> = self.steps.iter().map(Step::message).collect();
        let graph = Message::new()
            .messages(1, &steps)
            .text(2, "prdo")
            .messages(5, &self.tensors)
            .message(11, &value("input", input))
            .message(12, &value("scores", &[scores]));
        Message::new()
            .integer(1, FORMAT)
            .text(2, "prdo")
            .text(3, env!("CARGO_PKG_VERSION"))
            .text(6, about)
            .message(7, &graph)
            .message(8, &Message::new().text(1, "").integer(2, OPERATORS))
            .finish()
    }
}

impl Step {
    fn message(&self) -> Message {
        let step = self.reads.iter().fold(Message::new(), |step, name| step.text(1, name));
        step.text(2, &self.gives).text(3, &self.gives).text(4, self.operator).messages(5, &self.attributes)
    }
}

/// What goes in or comes out: any number of records of this shape.
fn value(name: &str, shape: &[usize]) -> Message {
    let side = |side: &usize| Message::new().integer(1, *side as i64);
    let sides: Vec<Message> =
        std::iter::once(Message::new().text(2, "records")).chain(shape.iter().map(side)).collect();
    let tensor = Message::new().integer(1, FLOAT).message(2, &Message::new().messages(1, &sides));
    Message::new().text(1, name).message(2, &Message::new().message(1, &tensor))
}

fn whole(name: &str, value: usize) -> Message {
    Message::new().text(1, name).integer(3, value as i64).integer(20, 2)
}

fn real(name: &str, value: f32) -> Message {
    Message::new().text(1, name).float(2, value).integer(20, 1)
}

fn list(name: &str, values: &[usize]) -> Message {
    let list = values.iter().fold(Message::new().text(1, name), |m, v| m.integer(8, *v as i64));
    list.integer(20, 7)
}

/// A network as ONNX. Its input is `[records, channels, height, width]`: of images the pixels from 0 to 1, which the
/// file's first steps scale by the public constants (mean and deviation of each channel) as training did.
pub fn network_to_onnx(
    spec: &Spec,
    constants: Option<(&[f32], &[f32])>,
    parameters: &[f64],
    about: &str,
) -> Result<Vec<u8>, OnnxError> {
    if parameters.len() != spec.parameters() {
        return Err(OnnxError::Size { found: parameters.len(), expected: spec.parameters() });
    }
    let mut graph = Graph::new();
    if let Some((mean, deviation)) = constants {
        let sides = [1, mean.len(), 1, 1];
        graph.numbers("mean", &sides, mean.iter().copied());
        graph.numbers("deviation", &sides, deviation.iter().copied());
        graph.step("Sub", &["mean"], Vec::new());
        graph.step("Div", &["deviation"], Vec::new());
    }
    for tensor in spec.tensors() {
        let norm = matches!(spec.layers()[tensor.layer], Layer::GroupNorm { .. });
        // One value a channel has to be spread over its image.
        let shape = if norm { vec![1, tensor.len(), 1, 1] } else { tensor.shape.clone() };
        let values = &parameters[tensor.range()];
        graph.numbers(&tensor.name, &shape, values.iter().map(|v| *v as f32));
    }
    for (index, layer) in spec.layers().iter().enumerate() {
        let named = |role| {
            let own = spec.tensors().iter().find(|t| t.layer == index && t.role == role);
            own.map_or("", |tensor| tensor.name.as_str())
        };
        add_layer(&mut graph, *layer, spec.input_of(index), (named(Role::Weight), named(Role::Bias)));
    }
    let Shape { channels, height, width } = spec.input();
    Ok(graph.finish(&[channels, height, width], spec.classes(), about))
}

fn add_layer(graph: &mut Graph, layer: Layer, input: Shape, (weight, bias): (&str, &str)) {
    match layer {
        Layer::Conv { kernel, stride, padding, .. } => {
            let attributes = vec![
                list("kernel_shape", &[kernel; 2]),
                list("strides", &[stride; 2]),
                list("pads", &[padding; 4]),
            ];
            graph.step("Conv", &[weight, bias], attributes);
        }
        Layer::MaxPool { size, stride } => {
            graph.step("MaxPool", &[], vec![list("kernel_shape", &[size; 2]), list("strides", &[stride; 2])]);
        }
        Layer::AveragePool { size, stride } => {
            let attributes = vec![list("kernel_shape", &[size; 2]), list("strides", &[stride; 2])];
            graph.step("AveragePool", &[], attributes);
        }
        Layer::Dense { .. } => {
            graph.step("Flatten", &[], vec![whole("axis", 1)]);
            graph.step("Gemm", &[weight, bias], vec![whole("transB", 1)]);
        }
        Layer::Tanh => graph.step("Tanh", &[], Vec::new()),
        Layer::Relu => graph.step("Relu", &[], Vec::new()),
        Layer::GroupNorm { groups } => {
            // A group's channels laid side by side are one channel of an instance norm.
            let ones = format!("{weight}.ones");
            let zeros = format!("{weight}.zeros");
            graph.numbers(&ones, &[groups], std::iter::repeat_n(1.0, groups));
            graph.numbers(&zeros, &[groups], std::iter::repeat_n(0.0, groups));
            graph.reshape(&[0, groups as i64, -1]);
            graph.step("InstanceNormalization", &[&ones, &zeros], vec![real("epsilon", 1e-5)]);
            graph.reshape(&[0, input.channels as i64, input.height as i64, input.width as i64]);
            graph.step("Mul", &[weight], Vec::new());
            graph.step("Add", &[bias], Vec::new());
        }
    }
}

/// A linear model as ONNX. Its input is `[records, features]`, as the model was trained on them.
pub fn linear_to_onnx(linear: Linear, parameters: &[f64], about: &str) -> Result<Vec<u8>, OnnxError> {
    let Linear { features, scores, intercept } = linear;
    let stride = features + usize::from(intercept);
    if parameters.len() != stride * scores {
        return Err(OnnxError::Size { found: parameters.len(), expected: stride * scores });
    }
    let mut graph = Graph::new();
    let rows = || parameters.chunks(stride.max(1));
    let weights = rows().flat_map(|row| row.iter().take(features)).map(|v| *v as f32);
    graph.numbers("weight", &[scores, features], weights);
    let constant = |row: &[f64]| if intercept { row.last().map_or(0.0, |v| *v as f32) } else { 0.0 };
    graph.numbers("bias", &[scores], rows().map(constant));
    graph.step("Gemm", &["weight", "bias"], vec![whole("transB", 1)]);
    Ok(graph.finish(&[features], scores, about))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_of_another_size_are_refused() {
        let layers = vec![Layer::GroupNorm { groups: 2 }, Layer::Dense { out: 3 }];
        let spec = Spec::new(Shape::new(4, 2, 2), layers, 3).unwrap();
        let whole = vec![0.5; spec.parameters()];
        assert!(network_to_onnx(&spec, None, &whole, "").is_ok());
        assert!(network_to_onnx(&spec, None, &whole[1..], "").is_err());
        let linear = Linear { features: 3, scores: 2, intercept: true };
        assert!(linear_to_onnx(linear, &[0.0; 8], "").is_ok());
        let error = linear_to_onnx(linear, &[0.0; 6], "").unwrap_err().to_string();
        assert_eq!(error, "the model has 6 values, but 8 fit its description");
    }
}
