//! Forward and backward through all steps for a few records at once, and one record's gradient.

use super::image::Image;
use super::program::{Op, Program, Step};
use super::weights::{Weights, possible, tiles};
use super::{direct, norm, pooling};
use prdo_kernels::activation::{self, Activation};
use prdo_kernels::direct::add_pixels;
use prdo_kernels::winograd::{self, Finish, Geometry, Tile};
use prdo_kernels::{LANES, Level, Memory, Records, dense};
use std::ops::Range;

/// The memory of a few records at one point, used again and again: clearing it would take longer than a record.
pub(super) struct Buffers {
    /// Each record's images. Halos are zero and stay so; everything else is written before it is read.
    memory: Memory,
    scratch: Memory,
    /// The dense pieces of one record's gradient.
    pub gradient: Memory,
}

impl Buffers {
    pub fn new(program: &Program, group: usize) -> Self {
        let scratch = program.steps.iter().map(|step| match &step.op {
            Op::Winograd { geometry, .. } => {
                let both = [*geometry, turned(geometry)];
                let dense = both.iter().flat_map(|g| tiles(g).map(|tile| g.scratch(tile, group)));
                dense.chain([geometry.sparse_scratch()]).max().unwrap_or(0)
            }
            _ => 0,
        });
        Self {
            memory: Memory::zeros(program.memory * group),
            scratch: Memory::zeros(scratch.max().unwrap_or(0)),
            gradient: Memory::zeros(program.dense),
        }
    }

    pub fn len(&self) -> usize {
        self.memory.len() + self.scratch.len() + self.gradient.len()
    }
}

/// A few records at one point, and what is done with them.
pub(super) struct Pass<'a> {
    program: &'a Program,
    level: Level,
    /// What the weights were transformed for, where it fits.
    tile: Tile,
    weights: &'a [Weights],
    buffers: Buffers,
}

impl<'a> Pass<'a> {
    pub fn new(
        program: &'a Program,
        (level, tile): (Level, Tile),
        weights: &'a [Weights],
        buffers: Buffers,
    ) -> Self {
        Self { program, level, tile, weights, buffers }
    }

    pub fn into_buffers(self) -> Buffers {
        self.buffers
    }

    /// The dense pieces of the record differentiated last.
    pub fn dense(&self) -> &[f32] {
        &self.buffers.gradient
    }

    pub fn record(&self, which: usize) -> &[f32] {
        &self.buffers.memory[which * self.program.memory..(which + 1) * self.program.memory]
    }

    pub fn record_mut(&mut self, which: usize) -> &mut [f32] {
        &mut self.buffers.memory[which * self.program.memory..(which + 1) * self.program.memory]
    }

    /// Outputs of every step for the first `count` records, whose inputs are in place.
    pub fn forward(&mut self, count: usize) {
        let (program, weights) = (self.program, self.weights);
        let (early, late) = program.steps.split_at(program.early);
        for r in 0..count {
            early.iter().zip(weights).for_each(|(step, weights)| self.forward_step(step, weights, r..r + 1));
        }
        for (step, weights) in late.iter().zip(&weights[program.early..]) {
            self.forward_step(step, weights, 0..count);
        }
    }

    fn forward_step(&mut self, step: &Step, weights: &Weights, which: Range<usize>) {
        let records = Records { stride: self.program.memory, count: which.len() };
        let (level, input, output) = (self.level, &step.input, &step.output);
        let start = which.start * self.program.memory;
        match (&step.op, weights) {
            (Op::Winograd { geometry, places }, Weights::Conv { forward, bias, .. }) => {
                let finish = Finish {
                    bias: Some(bias),
                    pool: *places,
                    activation: step.activation,
                    halo: output.halo,
                    derivative: None,
                };
                let Buffers { memory, scratch, .. } = &mut self.buffers;
                let (memory, from, to) = (&mut memory[start..], input.offset, output.offset);
                let tile = possible(self.tile, geometry);
                let weights = &forward[..geometry.weights(tile)];
                winograd::convolve(
                    level, tile, geometry, memory, records, from, to, weights, finish, scratch,
                );
                return;
            }
            (Op::Dense { width, .. }, Weights::Dense { weights, bias }) => {
                let (from, to) = (input.offset, output.offset);
                let memory = &mut self.buffers.memory[start..];
                dense::forward(level, weights, bias, *width, memory, records, from, to);
            }
            _ => which.clone().for_each(|r| one_forward(level, step, weights, self.record_mut(r))),
        }
        if step.activation != Activation::None {
            for r in which {
                activation::apply(level, step.activation, &mut self.record_mut(r)[output.range()]);
            }
        }
    }

    /// Gradients with respect to every late step's output before its activation, and the last early one's, where the
    /// last one's (after it) is in place.
    pub fn backward(&mut self, count: usize) {
        let program = self.program;
        let Some(last) = program.steps.last() else { return };
        (0..count).for_each(|r| differentiate(self.level, last, self.record_mut(r)));
        self.backward_steps(program.early.max(1)..program.steps.len(), 0..count);
    }

    /// The same with respect to the early steps' outputs, for one record.
    pub fn backward_early(&mut self, which: usize) {
        self.backward_steps(1..self.program.early, which..which + 1);
    }

    fn backward_steps(&mut self, numbers: Range<usize>, which: Range<usize>) {
        let (steps, weights) = (&self.program.steps, self.weights);
        for number in numbers.rev() {
            self.backward_step(&steps[number], &weights[number], &steps[number - 1], which.clone());
        }
    }

    /// Takes a step's gradient to that of the step before it, through that one's activation.
    fn backward_step(&mut self, step: &Step, weights: &Weights, previous: &Step, which: Range<usize>) {
        let records = Records { stride: self.program.memory, count: which.len() };
        let start = which.start * self.program.memory;
        let (level, to) = (self.level, &previous.gradient);
        match (&step.op, weights) {
            (Op::Winograd { geometry, places: Some(places) }, Weights::Conv { backward, .. }) => {
                let (program, Buffers { memory, scratch, .. }) = (self.program, &mut self.buffers);
                for record in memory[start..].chunks_exact_mut(program.memory).take(records.count) {
                    pooled_backward(level, geometry, (step, *places), backward, previous, record, scratch);
                }
                return;
            }
            (Op::Winograd { geometry, places: None }, Weights::Conv { backward, .. }) => {
                let from = step.gradient.offset;
                let finish = Finish {
                    bias: None,
                    pool: None,
                    activation: Activation::None,
                    halo: to.halo,
                    derivative: Some((previous.activation, step.input.offset)),
                };
                let (g, Buffers { memory, scratch, .. }) = (turned(geometry), &mut self.buffers);
                let (memory, tile) = (&mut memory[start..], possible(self.tile, &g));
                let weights = &backward[..g.weights(tile)];
                winograd::convolve(
                    level, tile, &g, memory, records, from, to.offset, weights, finish, scratch,
                );
                return;
            }
            (Op::Dense { width, .. }, Weights::Dense { weights, .. }) => {
                self.dense_backward(step, weights, *width, to, which.clone());
            }
            _ => which.clone().for_each(|r| one_backward(level, step, weights, to, self.record_mut(r))),
        }
        which.for_each(|r| differentiate(level, previous, self.record_mut(r)));
    }

    /// A fully connected layer gives a vector; the image before it may have a halo, which a vector has not.
    fn dense_backward(
        &mut self,
        step: &Step,
        weights: &Memory,
        width: usize,
        to: &Image,
        which: Range<usize>,
    ) {
        let from = step.gradient.offset;
        if to.halo == 0 {
            let records = Records { stride: self.program.memory, count: which.len() };
            let memory = &mut self.buffers.memory[which.start * self.program.memory..];
            dense::backward(self.level, weights, width, memory, records, from, to.offset);
            return;
        }
        // Rare (no pooling before the first fully connected layer), so it may allocate.
        let mut flat = Memory::zeros(step.gradient.len() + width);
        for r in which {
            let record = self.record_mut(r);
            flat[..step.gradient.len()].copy_from_slice(&record[step.gradient.range()]);
            let one = Records { stride: flat.len(), count: 1 };
            let at = step.gradient.len();
            dense::backward(self.level, weights, width, &mut flat, one, 0, at);
            let record = self.record_mut(r);
            for (row, values) in to.rows().zip(flat[at..].chunks_exact(to.width * LANES)) {
                record[row].copy_from_slice(values);
            }
        }
    }

    /// Computes the weight's part of one record's gradient, or the bias's, of one step; nothing if it is an outer
    /// product.
    pub fn differentiate(&mut self, which: usize, step: &Step, role: usize) {
        let Self { program, level, tile, buffers: Buffers { memory, scratch, gradient }, .. } = self;
        let record = &memory[which * program.memory..(which + 1) * program.memory];
        let out = &mut gradient[step.dense[role]
            ..step.dense[role] + step.coordinates[role].len() * usize::from(step.is_dense())];
        match (&step.op, role) {
            (Op::Winograd { geometry, places }, 0) => {
                let (x, dy) = (&record[step.input.range()], &record[step.gradient.range()]);
                match places {
                    Some(places) => {
                        let places = &record[*places..places + step.gradient.len()];
                        winograd::pooled_weight_gradient(*level, geometry, x, dy, places, out);
                    }
                    None => {
                        let tile = possible(*tile, geometry);
                        winograd::weight_gradient(*level, tile, geometry, x, dy, out, scratch);
                    }
                }
            }
            (Op::Direct { tables, .. }, 0) => direct::weight_gradient(*level, step, tables, record, out),
            (Op::Winograd { .. } | Op::Direct { .. }, _) => sum_pixels(*level, &step.gradient, record, out),
            (Op::GroupNorm { groups, statistics }, _) => {
                let images = (&step.input, &step.gradient);
                norm::parameter_gradient(images, (*groups, *statistics), record, role == 0, out);
            }
            _ => {}
        }
    }
}

/// The convolution that takes a gradient back.
fn turned(g: &Geometry) -> Geometry {
    Geometry { inputs: g.outputs, outputs: g.inputs, ..*g }
}

/// The gradient of a pooled convolution's inputs, through the activation before it.
fn pooled_backward(
    level: Level,
    g: &Geometry,
    (step, places): (&Step, usize),
    weights: &Memory,
    previous: &Step,
    record: &mut [f32],
    scratch: &mut [f32],
) {
    let (to, activation) = (&previous.gradient, previous.activation);
    // Handed out in this order: the step before with its gradient, then this one's gradient and places.
    let (before, from) = record.split_at_mut(to.range().end);
    let base = to.range().end;
    let (before, out) = before.split_at_mut(to.offset);
    let dy = &from[step.gradient.offset - base..step.gradient.range().end - base];
    let places = &from[places - base..places - base + dy.len()];
    let x = &before[step.input.range()];
    winograd::pooled_input_gradient(level, g, dy, places, weights, x, activation, out, to.halo, scratch);
}

fn one_forward(level: Level, step: &Step, weights: &Weights, memory: &mut [f32]) {
    let (input, output) = (&step.input, &step.output);
    match (&step.op, weights) {
        (Op::Direct { tables, .. }, Weights::Conv { forward, bias, .. }) => {
            direct::forward(level, step, tables, forward, bias, memory);
        }
        (Op::MaxPool { size, stride, places }, _) => {
            pooling::max_forward(level, (input, output), (*size, *stride), *places, memory);
        }
        (Op::AveragePool { size, stride }, _) => {
            pooling::average_forward(level, (input, output), (*size, *stride), memory)
        }
        (Op::GroupNorm { groups, statistics }, Weights::Norm { scale, shift }) => {
            norm::forward((input, output), (*groups, *statistics), (scale, shift), memory);
        }
        _ => copy(input, output, memory),
    }
}

fn one_backward(level: Level, step: &Step, weights: &Weights, to: &Image, memory: &mut [f32]) {
    match (&step.op, weights) {
        (Op::Direct { tables, .. }, Weights::Conv { backward, .. }) => {
            direct::backward(level, step, tables, backward, to, memory);
        }
        (Op::MaxPool { size, stride, places }, _) => {
            pooling::max_backward(level, (&step.gradient, to), (*size, *stride), *places, memory);
        }
        (Op::AveragePool { size, stride }, _) => {
            pooling::average_backward(level, (&step.gradient, to), (*size, *stride), memory);
        }
        (Op::GroupNorm { groups, statistics }, Weights::Norm { scale, .. }) => {
            let images = (&step.input, &step.gradient, to);
            norm::backward(images, (*groups, *statistics), scale, memory);
        }
        _ => copy(&step.gradient, to, memory),
    }
}

/// Multiplies a step's gradient by the derivative of its activation.
fn differentiate(level: Level, step: &Step, memory: &mut [f32]) {
    if step.activation == Activation::None {
        return;
    }
    let (output, gradient) = (&step.output, &step.gradient);
    if output.halo == gradient.halo {
        let (values, gradient) = super::image::two(memory, output.range(), gradient.range());
        activation::differentiate(level, step.activation, values, gradient);
        return;
    }
    for (from, to) in output.rows().zip(gradient.rows()) {
        let (values, gradient) = super::image::two(memory, from, to);
        activation::differentiate(level, step.activation, values, gradient);
    }
}

fn copy(from: &Image, to: &Image, memory: &mut [f32]) {
    for (from, to) in from.rows().zip(to.rows()) {
        memory.copy_within(from, to.start);
    }
}

/// Σ over pixels of each channel: the gradient of a bias.
fn sum_pixels(level: Level, image: &Image, memory: &[f32], out: &mut [f32]) {
    let (sums, _) = out.as_chunks_mut::<LANES>();
    for (plane, sums) in sums.iter_mut().enumerate() {
        *sums = [0.0; LANES];
        for row in image.rows().skip(plane * image.height).take(image.height) {
            add_pixels(level, &memory[row], sums);
        }
    }
}
