//! The kernels one by one, at the sizes of the `vgg-small` network, for every instruction set of this processor.
//!
//! `cargo bench -p prdo-kernels --features criterion`, with `-- convolve/.*/avx512` for a part of it.
//! Elements a second of a network's kernels are floating-point operations of their definition, whatever is really done;
//! those of the gate's kernels are bytes read and written.

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use prdo_kernels::activation::{self, Activation};
use prdo_kernels::clip::{self, Outer};
use prdo_kernels::winograd::{self, Finish, Geometry, TAPS, Tile};
use prdo_kernels::{LANES, Level, Memory, Records, dense};
use std::hint::black_box;
use std::time::Duration;

/// Records that the engine takes through the network together.
const GROUP: usize = 4;
/// Values of the largest convolution's weights.
const VALUES: usize = 128 * 128 * TAPS;

/// A convolution of `vgg-small`: its name, channels in and out, side of the image, whether its outputs are pooled.
struct Layer(&'static str, usize, usize, usize, bool);

/// Those that are done by Winograd's tiles; the first, of three channels, is not.
const LAYERS: [Layer; 5] = [
    Layer("conv2", 32, 32, 32, true),
    Layer("conv3", 32, 64, 16, false),
    Layer("conv4", 64, 64, 16, true),
    Layer("conv5", 64, 128, 8, false),
    Layer("conv6", 128, 128, 8, true),
];

impl Layer {
    fn geometry(&self) -> Geometry {
        Geometry { inputs: self.1 / LANES, outputs: self.2 / LANES, height: self.3, width: self.3 }
    }

    /// Floating-point operations of one product: the output, or either gradient.
    fn flops(&self) -> u64 {
        (2 * self.1 * self.2 * self.3 * self.3 * TAPS) as u64
    }

    /// Values of a plane of `channels` channels with a halo of 1.
    fn plane(&self, channels: usize) -> usize {
        channels * (self.3 + 2) * (self.3 + 2)
    }
}

/// Values that are neither zero nor large.
fn values(len: usize) -> Memory {
    let mut memory = Memory::zeros(len);
    memory.iter_mut().enumerate().for_each(|(i, v)| *v = (i as f32 * 0.37).sin());
    memory
}

/// A plane of values within a halo of zeros.
fn plane(layer: &Layer, channels: usize) -> Memory {
    let (side, mut memory) = (layer.3 + 2, values(layer.plane(channels)));
    for (n, pixel) in memory.chunks_exact_mut(LANES).enumerate() {
        let (y, x) = (n / side % side, n % side);
        if y == 0 || x == 0 || y + 1 == side || x + 1 == side {
            pixel.fill(0.0);
        }
    }
    memory
}

/// The ways of doing a convolution, and what is added to its name.
const TILES: [(Tile, &str); 3] = [(Tile::F2, ""), (Tile::F2x4, " by 2x4"), (Tile::F4, " by 4x4")];

/// Times `work` for every instruction set.
fn each_level(
    group: &mut BenchmarkGroup<'_, WallTime>,
    name: &str,
    amount: Throughput,
    mut work: impl FnMut(Level),
) {
    group.throughput(amount);
    for level in Level::available() {
        group.bench_function(BenchmarkId::new(name, level.name()), |b| b.iter(|| work(black_box(level))));
    }
}

fn convolve(c: &mut Criterion) {
    let mut group = c.benchmark_group("convolve");
    for (layer, (tile, suffix)) in LAYERS.iter().flat_map(|layer| TILES.map(|tile| (layer, tile))) {
        let g = layer.geometry();
        let (input, output) = (layer.plane(layer.1), layer.plane(layer.2));
        // A record: its input, its output (or what is left of it), and where the largest values were.
        let stride = input + 2 * output;
        let records = Records { stride, count: GROUP };
        let mut memory = Memory::zeros(GROUP * stride);
        for record in memory.chunks_exact_mut(stride) {
            record[..input].copy_from_slice(&plane(layer, layer.1));
        }
        let (weights, bias) = (values(g.weights(tile)), values(layer.2));
        let mut scratch = Memory::zeros(g.scratch(tile, GROUP));
        let pool = layer.4.then_some(input + output);
        let finish =
            Finish { bias: Some(&bias), pool, activation: Activation::Tanh, halo: 1, derivative: None };
        let name = format!("{}{suffix}", layer.0);
        each_level(&mut group, &name, Throughput::Elements(GROUP as u64 * layer.flops()), |level| {
            winograd::convolve(
                level,
                tile,
                &g,
                &mut memory,
                records,
                0,
                input,
                &weights,
                finish,
                &mut scratch,
            );
        });
    }
}

fn weight_gradient(c: &mut Criterion) {
    let mut group = c.benchmark_group("weight_gradient");
    let dense = LAYERS.iter().filter(|layer| !layer.4);
    for (layer, (tile, suffix)) in dense.flat_map(|layer| TILES.map(|tile| (layer, tile))) {
        let g = layer.geometry();
        let (x, dy) = (plane(layer, layer.1), plane(layer, layer.2));
        let (mut gradient, mut scratch) = (Memory::zeros(g.gradient()), Memory::zeros(g.scratch(tile, 1)));
        let name = format!("{}{suffix}", layer.0);
        each_level(&mut group, &name, Throughput::Elements(layer.flops()), |level| {
            winograd::weight_gradient(level, tile, &g, &x, &dy, &mut gradient, &mut scratch);
        });
    }
}

fn pooled_weight_gradient(c: &mut Criterion) {
    let mut group = c.benchmark_group("pooled_weight_gradient");
    for layer in LAYERS.iter().filter(|layer| layer.4) {
        let (g, half, row) = (layer.geometry(), layer.3 / 2, (layer.3 + 2) * LANES);
        let (x, dy) = (plane(layer, layer.1), values(layer.2 * half * half));
        // Any of a window's four values, as they come.
        let mut places = Memory::zeros(dy.len());
        for (i, place) in places.iter_mut().enumerate() {
            let (window, which) = (i / LANES % (half * half), i * 7 / 3 % 4);
            let (y, x) = (2 * (window / half) + which / 2, 2 * (window % half) + which % 2);
            *place = f32::from_bits((y * row + x * LANES) as u32);
        }
        let mut gradient = Memory::zeros(g.gradient());
        each_level(&mut group, layer.0, Throughput::Elements(layer.flops()), |level| {
            winograd::pooled_weight_gradient(level, &g, &x, &dy, &places, &mut gradient);
        });
    }
}

/// The first fully connected layer: 2048 values to 128.
fn fully_connected(c: &mut Criterion) {
    let mut group = c.benchmark_group("dense");
    let (width, outputs) = (2048, 128);
    let (weights, bias) = (values(width * outputs), values(outputs));
    let records = Records { stride: 2 * width + outputs, count: GROUP };
    let mut memory = values(GROUP * records.stride);
    let amount = Throughput::Elements((GROUP * 2 * width * outputs) as u64);
    each_level(&mut group, "forward", amount.clone(), |level| {
        dense::forward(level, &weights, &bias, width, &mut memory, records, 0, width);
    });
    each_level(&mut group, "backward", amount, |level| {
        dense::backward(level, &weights, width, &mut memory, records, width, width + outputs);
    });
}

/// Values of a first-level cache, an element each.
fn tanh(c: &mut Criterion) {
    let mut group = c.benchmark_group("tanh");
    let mut memory = values(4096);
    let amount = Throughput::Elements(memory.len() as u64);
    each_level(&mut group, "apply", amount.clone(), |level| {
        activation::apply(level, Activation::Tanh, &mut memory);
    });
    // Outputs so small that the derivative is 1: gradients stay what they are, however often this is done.
    let (mut output, mut gradient) = (values(4096), values(4096));
    output.iter_mut().for_each(|v| *v *= 1e-5);
    each_level(&mut group, "differentiate", amount, |level| {
        activation::differentiate(level, Activation::Tanh, &output, &mut gradient);
    });
}

fn gate(c: &mut Criterion) {
    let mut group = c.benchmark_group("clip");
    let (a, b, mut sum) = (values(VALUES), values(VALUES), vec![0_i32; VALUES]);
    let bytes = |each: usize| Throughput::Bytes((each * VALUES) as u64);
    each_level(&mut group, "sum_of_squares", bytes(4), |level| {
        black_box(clip::sum_of_squares(level, &a));
    });
    each_level(&mut group, "sums_of_squares", bytes(8), |level| {
        black_box(clip::sums_of_squares(level, &a, &b));
    });
    // Factors below one half round every contribution to zero: the sum stays in range however often this is done.
    each_level(&mut group, "add", bytes(12), |level| clip::add(level, &mut sum, 0.4, &a));
    each_level(&mut group, "add_difference", bytes(16), |level| {
        clip::add_difference(level, &mut sum, 0.1, 0.1, &a, &b);
    });
    let (rows, columns) = (128, 2048);
    let (along, wide, other) = (values(rows), values(columns), values(columns));
    let scaled: Vec<f32> = along.iter().map(|v| 0.1 * v).collect();
    let term = Outer { along: &scaled, columns: &wide, across: Some((&scaled, &other)) };
    let terms = [term; GROUP];
    let mut sums = vec![0_i32; rows * columns];
    let amount = Throughput::Bytes((8 * rows * columns) as u64);
    each_level(&mut group, "add_outers", amount, |level| clip::add_outers(level, &mut sums, &terms));
}

fn quick() -> Criterion {
    Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(800))
}

criterion_group! {
    name = kernels;
    config = quick();
    targets = convolve, weight_gradient, pooled_weight_gradient, fully_connected, tanh, gate
}
criterion_main!(kernels);
