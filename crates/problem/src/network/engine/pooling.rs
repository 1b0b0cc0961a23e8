//! Pooling by itself: any window and stride.

use super::image::{Image, two};
use prdo_kernels::LANES;

/// Each output pixel of one plane with the pixels of its window, as places in a plane of `input` and `output`.
fn windows(input: &Image, output: &Image, size: usize, stride: usize) -> Vec<(usize, Vec<usize>)> {
    let mut windows = Vec::with_capacity(output.height * output.width);
    for y in 0..output.height {
        for x in 0..output.width {
            let window = (0..size * size).map(|k| input.at(y * stride + k / size, x * stride + k % size));
            windows.push((output.at(y, x), window.collect()));
        }
    }
    windows
}

/// The largest value of each window, and (at `places`, as the bits of integers) where in its plane it lies.
pub(super) fn max_forward(
    input: &Image,
    output: &Image,
    (size, stride): (usize, usize),
    places: usize,
    memory: &mut [f32],
) {
    let windows = windows(input, output, size, stride);
    for plane in 0..output.planes() {
        let from = input.offset + plane * input.plane();
        for (number, (to, window)) in windows.iter().enumerate() {
            for lane in 0..LANES {
                let (mut best, mut place) = (f32::NEG_INFINITY, window[0]);
                for at in window {
                    let value = memory[from + at + lane];
                    if value > best {
                        (best, place) = (value, *at);
                    }
                }
                memory[output.offset + plane * output.plane() + to + lane] = memory[from + place + lane];
                let at = (plane * windows.len() + number) * LANES + lane;
                memory[places + at] = f32::from_bits(place as u32);
            }
        }
    }
}

/// Each gradient goes to the largest value of its window. `to` has the input's size, perhaps another halo.
pub(super) fn max_backward(input: &Image, gradient: &Image, to: &Image, places: usize, memory: &mut [f32]) {
    memory[to.range()].fill(0.0);
    let pixels = gradient.height * gradient.width;
    for plane in 0..to.planes() {
        for pixel in 0..pixels {
            let (y, x) = (pixel / gradient.width, pixel % gradient.width);
            for lane in 0..LANES {
                let value = memory[gradient.offset + plane * gradient.plane() + gradient.at(y, x) + lane];
                let place = memory[places + (plane * pixels + pixel) * LANES + lane].to_bits() as usize;
                let (row, column) =
                    (place / input.row() - input.halo, place % input.row() / LANES - input.halo);
                memory[to.offset + plane * to.plane() + to.at(row, column) + lane] += value;
            }
        }
    }
}

/// The mean of each window.
pub(super) fn average_forward(
    input: &Image,
    output: &Image,
    (size, stride): (usize, usize),
    memory: &mut [f32],
) {
    let windows = windows(input, output, size, stride);
    let share = 1.0 / (size * size) as f32;
    let (x, out) = two(memory, input.range(), output.range());
    for plane in 0..output.planes() {
        let (x, out) = (&x[plane * input.plane()..], &mut out[plane * output.plane()..]);
        for (to, window) in &windows {
            let mut sum = [0.0; LANES];
            for at in window {
                sum.iter_mut().zip(&x[*at..]).for_each(|(s, v)| *s += v);
            }
            out[*to..].iter_mut().zip(sum).for_each(|(o, s)| *o = share * s);
        }
    }
}

/// Each gradient is shared by its window.
pub(super) fn average_backward(
    gradient: &Image,
    to: &Image,
    (size, stride): (usize, usize),
    memory: &mut [f32],
) {
    let windows = windows(to, gradient, size, stride);
    let share = 1.0 / (size * size) as f32;
    let (dy, out) = two(memory, gradient.range(), to.range());
    out.fill(0.0);
    for plane in 0..to.planes() {
        let (dy, out) = (&dy[plane * gradient.plane()..], &mut out[plane * to.plane()..]);
        for (from, window) in &windows {
            for at in window {
                out[*at..].iter_mut().zip(&dy[*from..*from + LANES]).for_each(|(o, d)| *o += share * d);
            }
        }
    }
}
