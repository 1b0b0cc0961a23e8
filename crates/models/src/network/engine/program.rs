//! What is done with a record, step by step, and where everything lies: worked out once from a [`Spec`].

use super::direct::Tables;
use super::image::{Image, Layout};
use crate::network::{Layer, Role, Shape, Spec};
use prdo_kernels::LANES;
use prdo_kernels::activation::Activation;
use prdo_kernels::winograd::{Geometry, TAPS, Tile};

/// One or several layers done at once.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub op: Op,
    pub input: Image,
    pub output: Image,
    /// The gradient with respect to the output.
    pub gradient: Image,
    /// Applied to what the operation gives.
    pub activation: Activation,
    /// Where the layer's weight and bias begin in the flat vector of parameters, if it has any.
    pub tensors: Option<[usize; 2]>,
    /// Where its gradient's coordinates begin, those of the weight and those of the bias.
    pub coordinates: [std::ops::Range<usize>; 2],
    /// Where its dense coordinates begin in a worker's gradient memory.
    pub dense: [usize; 2],
}

#[derive(Clone, Debug)]
pub(super) enum Op {
    /// A 3×3 convolution by Winograd's tiles; if its outputs are pooled 2×2 at once, `places` holds which value of
    /// each window was largest.
    Winograd {
        geometry: Geometry,
        places: Option<usize>,
    },
    /// Any convolution.
    Direct {
        kernel: usize,
        tables: Tables,
    },
    /// A fully connected layer of so many inputs (padding included) and outputs.
    Dense {
        width: usize,
        outputs: usize,
    },
    /// Pooling by itself; `places` of the largest values.
    MaxPool {
        size: usize,
        stride: usize,
        places: usize,
    },
    AveragePool {
        size: usize,
        stride: usize,
    },
    Activate,
    /// Group normalisation; `statistics` holds (mean, 1/deviation) of each group.
    GroupNorm {
        groups: usize,
        statistics: usize,
    },
}

/// The steps of a network and the memory that one record takes.
#[derive(Clone, Debug)]
pub(super) struct Program {
    pub steps: Vec<Step>,
    /// How many of the first steps are done record by record: their images are large and their weights are small, so
    /// that it is the images that are worth keeping in cache.
    pub early: usize,
    pub input: Image,
    /// Values of one record's memory.
    pub memory: usize,
    /// Values of the dense pieces of one gradient.
    pub dense: usize,
    /// How many coordinates a gradient has, padding included.
    pub coordinates: usize,
    /// For each parameter the coordinate it has.
    pub places: Vec<u32>,
}

/// A fraction of a second-level cache once they are transformed.
const FEW_WEIGHTS: usize = 1 << 15;

/// Hands out memory, whole cache lines at a time.
struct Allocator(usize);

impl Allocator {
    fn take(&mut self, len: usize) -> usize {
        let at = self.0;
        self.0 += len.next_multiple_of(LANES);
        at
    }

    fn image(&mut self, shape: Shape, halo: usize, layout: Layout) -> Image {
        let Shape { channels, height, width } = shape;
        let image = Image { offset: 0, channels, height, width, halo, layout };
        Image { offset: self.take(image.len()), ..image }
    }
}

impl Step {
    /// Whether its gradient is written out: that of a fully connected layer is an outer product.
    pub fn is_dense(&self) -> bool {
        !matches!(self.op, Op::Dense { .. })
    }

    /// Whether its weights stay in cache while one record is done.
    fn is_light(&self) -> bool {
        self.is_dense() && self.coordinates[0].len() <= FEW_WEIGHTS
    }
}

impl Program {
    pub fn new(spec: &Spec) -> Self {
        let mut allocator = Allocator(0);
        let layers = spec.layers();
        let planar = matches!(layers.first(), Some(Layer::Conv { .. }));
        let layout = if planar { Layout::Planar } else { Layout::Blocks };
        // A fully connected first layer reads the record as it comes: a vector.
        let flat = matches!(layers.first(), Some(Layer::Dense { .. }));
        let shape = if flat { Shape::flat(spec.input().size()) } else { spec.input() };
        let input = allocator.image(shape, halo_for(spec, 0), layout);
        let places = vec![0; spec.parameters()];
        let mut program =
            Self { steps: Vec::new(), early: 0, input, memory: 0, dense: 0, coordinates: 0, places };
        let (mut at, mut current) = (0, input);
        while at < layers.len() {
            let (step, next) = program.step(spec, at, current, &mut allocator);
            current = step.output;
            program.steps.push(step);
            at = next;
        }
        program.memory = allocator.0;
        program.early = program.steps.iter().take_while(|step| step.is_light()).count();
        program
    }

    /// The step that begins at layer `at`, and the layer after it.
    fn step(&mut self, spec: &Spec, at: usize, input: Image, allocator: &mut Allocator) -> (Step, usize) {
        let (fused, next) = fuse(spec, at, input);
        let shape = spec.shapes()[next - 1];
        let halo = halo_for(spec, next);
        let output = allocator.image(shape, halo, Layout::Blocks);
        let own_halo = usize::from(matches!(fused.kind, FusedOp::Winograd { pooled: false, .. }));
        let gradient = allocator.image(shape, own_halo, Layout::Blocks);
        let op = operation(spec, at, input, output, fused.kind, allocator);
        let tensor = |role| spec.tensors().iter().find(|t| t.layer == at && t.role == role).map(|t| t.offset);
        let tensors = tensor(Role::Weight).zip(tensor(Role::Bias)).map(|(w, b)| [w, b]);
        let mut step = Step {
            op,
            input,
            output,
            gradient,
            activation: fused.activation,
            tensors,
            coordinates: [0..0, 0..0],
            dense: [0, 0],
        };
        self.number(&mut step);
        (step, next)
    }

    /// Numbers the coordinates of a step's gradient: the weight's, then the bias's.
    fn number(&mut self, step: &mut Step) {
        let Some(tensors) = step.tensors else { return };
        for (role, start) in tensors.into_iter().enumerate() {
            let numbers = if role == 0 { weight_order(step) } else { bias_order(step) };
            let first = self.coordinates;
            for (k, number) in numbers.iter().enumerate() {
                if let Some(number) = number {
                    self.places[start + number] = (first + k) as u32;
                }
            }
            self.coordinates += numbers.len();
            step.coordinates[role] = first..self.coordinates;
            step.dense[role] = self.dense;
            self.dense += if step.is_dense() { numbers.len() } else { 0 };
        }
    }
}

/// What a step is before its memory is known.
struct Fused {
    kind: FusedOp,
    activation: Activation,
}

#[derive(Clone, Copy)]
enum FusedOp {
    Winograd { geometry: Geometry, pooled: bool },
    Other,
}

fn activation(layer: Option<&Layer>) -> Option<Activation> {
    match layer {
        Some(Layer::Tanh) => Some(Activation::Tanh),
        Some(Layer::Relu) => Some(Activation::Relu),
        _ => None,
    }
}

/// The layers from `at` on that are done at once: a convolution or a fully connected layer takes the activation
/// that follows it, a Winograd convolution also the 2×2 max-pooling before or after that (both activations are
/// monotone: the largest value stays the largest).
fn fuse(spec: &Spec, at: usize, input: Image) -> (Fused, usize) {
    let layers = spec.layers();
    let halves = |layer: Option<&Layer>| matches!(layer, Some(Layer::MaxPool { size: 2, stride: 2 }));
    let mut next = at + 1;
    let mut kind = winograd(spec, at, input)
        .map_or(FusedOp::Other, |geometry| FusedOp::Winograd { geometry, pooled: false });
    let mut found = Activation::None;
    match layers[at] {
        Layer::Tanh => found = Activation::Tanh,
        Layer::Relu => found = Activation::Relu,
        Layer::Conv { .. } | Layer::Dense { .. } => {
            for _ in 0..2 {
                let here = layers.get(next);
                if let Some(activation) = activation(here).filter(|_| found == Activation::None) {
                    found = activation;
                    next += 1;
                } else if let (FusedOp::Winograd { geometry, pooled: false }, true) = (kind, halves(here)) {
                    kind = FusedOp::Winograd { geometry, pooled: true };
                    next += 1;
                }
            }
        }
        _ => {}
    }
    (Fused { kind, activation: found }, next)
}

/// The geometry of a convolution that Winograd's tiles can do: 3×3, padded to keep an even size, not the first.
fn winograd(spec: &Spec, at: usize, input: Image) -> Option<Geometry> {
    let Layer::Conv { out, kernel: 3, stride: 1, padding: 1 } = spec.layers()[at] else { return None };
    let shape = spec.input_of(at);
    let geometry = Geometry {
        inputs: shape.channels.div_ceil(LANES),
        outputs: out.div_ceil(LANES),
        height: shape.height,
        width: shape.width,
    };
    (input.layout == Layout::Blocks && geometry.fits(Tile::F2)).then_some(geometry)
}

/// The halo that the layer at `at` wants around its input.
fn halo_for(spec: &Spec, at: usize) -> usize {
    match spec.layers().get(at) {
        Some(Layer::Conv { padding, .. }) => *padding,
        _ => 0,
    }
}

fn operation(
    spec: &Spec,
    at: usize,
    input: Image,
    output: Image,
    kind: FusedOp,
    allocator: &mut Allocator,
) -> Op {
    if let FusedOp::Winograd { geometry, pooled } = kind {
        let places = pooled.then(|| allocator.take(Image { halo: 0, ..output }.len()));
        return Op::Winograd { geometry, places };
    }
    match spec.layers()[at] {
        Layer::Conv { kernel, stride, padding, .. } => {
            let Image { height, width, .. } = input;
            let channels = if at == 0 { 0 } else { output.channels };
            let wide = Shape { channels, height: height + kernel - 1, width: width + kernel - 1 };
            let wide = allocator.image(wide, 0, Layout::Blocks);
            Op::Direct { kernel, tables: Tables::new(&input, &output, (kernel, stride, padding), wide) }
        }
        Layer::Dense { out } => Op::Dense { width: input.len(), outputs: out },
        Layer::MaxPool { size, stride } => {
            Op::MaxPool { size, stride, places: allocator.take(Image { halo: 0, ..output }.len()) }
        }
        Layer::AveragePool { size, stride } => Op::AveragePool { size, stride },
        Layer::Tanh | Layer::Relu => Op::Activate,
        Layer::GroupNorm { groups } => Op::GroupNorm { groups, statistics: allocator.take(2 * groups) },
    }
}

/// For each coordinate of a step's weight gradient, its place in the weight tensor.
fn weight_order(step: &Step) -> Vec<Option<usize>> {
    let (inputs, outputs) = (step.input.channels, step.output.channels);
    let lanes = |blocks: usize| (0..blocks).flat_map(|b| (0..LANES).map(move |k| b * LANES + k));
    match &step.op {
        // [output][input block][tap][16]
        Op::Winograd { geometry, .. } => {
            let mut order = Vec::with_capacity(geometry.gradient());
            for o in 0..geometry.outputs * LANES {
                for block in 0..geometry.inputs {
                    for t in 0..TAPS {
                        let inputs_of = lanes(1).map(|k| block * LANES + k);
                        order.extend(
                            inputs_of
                                .map(|i| (o < outputs && i < inputs).then(|| (o * inputs + i) * TAPS + t)),
                        );
                    }
                }
            }
            order
        }
        // [output block][input][tap][16]
        Op::Direct { kernel, .. } => {
            let taps = kernel * kernel;
            let mut order = Vec::new();
            for block in 0..outputs.div_ceil(LANES) {
                for i in 0..inputs {
                    for t in 0..taps {
                        let outputs_of = lanes(1).map(|k| block * LANES + k);
                        order.extend(outputs_of.map(|o| (o < outputs).then(|| (o * inputs + i) * taps + t)));
                    }
                }
            }
            order
        }
        // [output][input as it lies in memory]
        Op::Dense { outputs, .. } => {
            let columns = columns(&step.input);
            let width = step.input.channels * step.input.height * step.input.width;
            (0..*outputs).flat_map(|o| columns.iter().map(move |c| c.map(|c| o * width + c))).collect()
        }
        _ => lanes(inputs.div_ceil(LANES)).map(|c| (c < inputs).then_some(c)).collect(),
    }
}

/// For each coordinate of a step's bias gradient, its place in the bias tensor.
fn bias_order(step: &Step) -> Vec<Option<usize>> {
    let outputs = step.output.channels;
    (0..outputs.next_multiple_of(LANES)).map(|o| (o < outputs).then_some(o)).collect()
}

/// For each value of an image as it lies in memory (no halo), its place in the flattened image (channel, y, x).
pub(super) fn columns(image: &Image) -> Vec<Option<usize>> {
    let Image { channels, height, width, .. } = *image;
    let mut columns = Vec::with_capacity(image.len());
    for block in 0..image.planes() {
        for pixel in 0..height * width {
            for lane in 0..LANES {
                let c = block * LANES + lane;
                columns.push((c < channels).then(|| c * height * width + pixel));
            }
        }
    }
    columns
}
