//! Parameters in the forms that kernels read, made once for each point.

use super::program::{Op, Program, Step, columns};
use prdo_kernels::winograd::{Geometry, TAPS, Tile, transform_weights};
use prdo_kernels::{LANES, Level, Memory};
use rayon::prelude::*;

pub(super) enum Weights {
    /// Of a convolution, for its outputs and for the gradient of its inputs (transformed, or as
    /// `[input block][output][tap][16]` where pooled gradients are taken back sparsely). Transformed ones have room
    /// for the largest tile and begin with those of the tile in use.
    Conv {
        forward: Memory,
        backward: Memory,
        bias: Memory,
    },
    Dense {
        weights: Memory,
        bias: Memory,
    },
    Norm {
        scale: Memory,
        shift: Memory,
    },
    None,
}

impl Weights {
    pub fn len(&self) -> usize {
        match self {
            Weights::Conv { forward, backward, bias } => forward.len() + backward.len() + bias.len(),
            Weights::Dense { weights, bias } => weights.len() + bias.len(),
            Weights::Norm { scale, shift } => scale.len() + shift.len(),
            Weights::None => 0,
        }
    }
}

/// The parameters of every step at the point `x`, in the memory of `old` ones, if there are as many: clearing and
/// faulting in new memory takes as long as filling it.
pub(super) fn weights(
    program: &Program,
    level: Level,
    tile: Tile,
    x: &[f64],
    mut old: Vec<Weights>,
) -> Vec<Weights> {
    old.resize_with(program.steps.len(), || Weights::None);
    let steps = program.steps.par_iter().enumerate().zip(old);
    steps.map(|((number, step), old)| of_step(step, (level, tile), number == 0, x, old)).collect()
}

/// Memory of this length, zero where it was never written: an old one of the same step, or a new one.
fn reuse(old: Memory, len: usize) -> Memory {
    if old.len() == len { old } else { Memory::zeros(len) }
}

fn of_step(step: &Step, by: (Level, Tile), first: bool, x: &[f64], old: Weights) -> Weights {
    let Some([weight, bias]) = step.tensors else { return Weights::None };
    // The two large ones of a step; its bias is small.
    let [old, old_backward] = match old {
        Weights::Conv { forward, backward, .. } => [forward, backward],
        Weights::Dense { weights, .. } => [weights, Memory::zeros(0)],
        Weights::Norm { .. } | Weights::None => [Memory::zeros(0), Memory::zeros(0)],
    };
    let (weight, bias) = (&x[weight..], padded(&x[bias..bias + step.output.channels]));
    let (inputs, outputs) = (step.input.channels, step.output.channels);
    match &step.op {
        Op::Winograd { geometry, places } => {
            let forward = winograd_forward(by, geometry, weight, (inputs, outputs), old);
            let backward = match places.is_some() {
                true => sparse(geometry, weight, inputs, outputs, old_backward),
                false => winograd_backward(by, geometry, weight, (inputs, outputs), old_backward),
            };
            Weights::Conv { forward, backward, bias }
        }
        Op::Direct { kernel, .. } => {
            let taps = kernel * kernel;
            let at = |o: usize, i: usize, t: usize| weight[(o * inputs + i) * taps + t] as f32;
            // [output block][input][tap][16], and [input block][output][tap, turned round][16].
            let forward = lanes(outputs, inputs, taps, at);
            let backward = if first {
                Memory::zeros(0)
            } else {
                lanes(inputs, outputs, taps, |i, o, t| at(o, i, taps - 1 - t))
            };
            Weights::Conv { forward, backward, bias }
        }
        Op::Dense { width, outputs } => {
            let mut weights = reuse(old, width * outputs);
            let inputs = step.input.channels * step.input.height * step.input.width;
            // A padding reads the zero after a row.
            let columns: Vec<usize> = columns(&step.input).into_iter().map(|c| c.unwrap_or(inputs)).collect();
            let mut line = vec![0.0; inputs + 1];
            for (row, from) in weights.chunks_exact_mut(*width).zip(weight.chunks_exact(inputs)) {
                line.iter_mut().zip(from).for_each(|(l, v)| *l = *v as f32);
                row.iter_mut().zip(&columns).for_each(|(w, c)| *w = line[*c]);
            }
            // One bias an output: the kernel counts outputs by them.
            let mut exact = Memory::zeros(*outputs);
            exact.copy_from_slice(&bias[..*outputs]);
            Weights::Dense { weights, bias: exact }
        }
        _ => Weights::Norm { scale: padded(&weight[..inputs]), shift: bias },
    }
}

fn padded(values: &[f64]) -> Memory {
    let mut memory = Memory::zeros(values.len().next_multiple_of(LANES));
    memory.iter_mut().zip(values).for_each(|(m, v)| *m = *v as f32);
    memory
}

/// value(a, b, t) as `[block of a][b][t][16]`.
fn lanes(a: usize, b: usize, taps: usize, value: impl Fn(usize, usize, usize) -> f32) -> Memory {
    let mut memory = Memory::zeros(a.div_ceil(LANES) * b * taps * LANES);
    for (n, line) in memory.chunks_exact_mut(LANES).enumerate() {
        let (block, b, t) = (n / taps / b, n / taps % b, n % taps);
        for (lane, slot) in line.iter_mut().enumerate().take(a - block * LANES) {
            *slot = value(block * LANES + lane, b, t);
        }
    }
    memory
}

/// The numbers of a block's lanes that are channels.
fn channels(block: usize, count: usize) -> impl Iterator<Item = usize> {
    (0..LANES).take(count.saturating_sub(block * LANES))
}

/// Values of weights, transformed for the larger tiles, that leave room in a second-level cache: 1 MB. More would come
/// from the third level for every group of records, which takes what is saved in multiplications.
const NEAR: usize = 1 << 18;

/// The wanted tile where the size allows it and its weights stay near, or the next smaller one.
pub(super) fn possible(tile: Tile, g: &Geometry) -> Tile {
    let near = |tile: Tile| g.fits(tile) && g.weights(tile) <= NEAR;
    match tile {
        Tile::F4 if near(Tile::F4) => Tile::F4,
        Tile::F4 | Tile::F2x4 if near(Tile::F2x4) => Tile::F2x4,
        _ => Tile::F2,
    }
}

/// The tiles that a convolution of this size is done with.
pub(super) fn tiles(g: &Geometry) -> [Tile; 3] {
    [Tile::F2, possible(Tile::F2x4, g), possible(Tile::F4, g)]
}

/// Transformed weights, in memory that has room for the largest tile: queries at one point and at two take turns.
fn transformed(
    (level, tile): (Level, Tile),
    g: &Geometry,
    lanes: impl Fn(usize, usize) -> [[f32; LANES]; TAPS],
    old: Memory,
) -> Memory {
    let tile = possible(tile, g);
    let room = tiles(g).map(|tile| g.weights(tile)).into_iter().max().unwrap_or(0);
    let mut memory = reuse(old, room);
    transform_weights(level, tile, g, lanes, &mut memory[..g.weights(tile)]);
    memory
}

fn winograd_forward(
    by: (Level, Tile),
    g: &Geometry,
    weight: &[f64],
    (inputs, outputs): (usize, usize),
    old: Memory,
) -> Memory {
    let lanes = |block: usize, i: usize| {
        let mut lanes = [[0.0; LANES]; TAPS];
        for k in channels(block, outputs).filter(|_| i < inputs) {
            let from = &weight[((block * LANES + k) * inputs + i) * TAPS..][..TAPS];
            (0..TAPS).for_each(|t| lanes[t][k] = from[t] as f32);
        }
        lanes
    };
    transformed(by, g, lanes, old)
}

/// Transformed weights of the convolution that takes the outputs' gradient to the inputs'.
fn winograd_backward(
    by: (Level, Tile),
    g: &Geometry,
    weight: &[f64],
    (inputs, outputs): (usize, usize),
    old: Memory,
) -> Memory {
    let turned = Geometry { inputs: g.outputs, outputs: g.inputs, ..*g };
    let lanes = |block: usize, o: usize| {
        let mut lanes = [[0.0; LANES]; TAPS];
        for k in channels(block, inputs).filter(|_| o < outputs) {
            let from = &weight[(o * inputs + block * LANES + k) * TAPS..][..TAPS];
            (0..TAPS).for_each(|t| lanes[t][k] = from[TAPS - 1 - t] as f32);
        }
        lanes
    };
    transformed(by, &turned, lanes, old)
}

/// Weights as `[input block][output][tap][16]`.
fn sparse(g: &Geometry, weight: &[f64], inputs: usize, outputs: usize, old: Memory) -> Memory {
    let mut memory = reuse(old, g.gradient());
    for (n, taps) in memory.chunks_exact_mut(TAPS * LANES).enumerate() {
        let (block, o) = (n / (g.outputs * LANES), n % (g.outputs * LANES));
        for k in channels(block, inputs).filter(|_| o < outputs) {
            let from = &weight[(o * inputs + block * LANES + k) * TAPS..][..TAPS];
            (0..TAPS).for_each(|t| taps[t * LANES + k] = from[t] as f32);
        }
    }
    memory
}
