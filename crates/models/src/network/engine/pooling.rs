//! Pooling by itself: any window and stride.

use super::image::{Image, two};
use prdo_kernels::Level;
use prdo_kernels::pooling::{self, Windows};

/// The windows of `pooled`, whose values are the pixels of `out`.
fn windows(pooled: &Image, out: &Image, (size, stride): (usize, usize)) -> Windows {
    let (row, out_row) = (pooled.row(), out.row());
    Windows { height: out.height, width: out.width, size, stride, row, out_row }
}

/// Where a plane's first pixel lies.
fn first(image: &Image, plane: usize) -> usize {
    plane * image.plane() + image.at(0, 0)
}

/// Values of the places of one plane's windows.
fn places_of(w: &Windows) -> usize {
    w.height * w.width * prdo_kernels::LANES
}

/// The largest value of each window and, at `places`, which pixel of the window it is.
pub(super) fn max_forward(
    level: Level,
    (input, output): (&Image, &Image),
    sides: (usize, usize),
    places: usize,
    memory: &mut [f32],
) {
    let w = windows(input, output, sides);
    // Handed out in this order: the input, the output, the places.
    let end = places + output.planes() * places_of(&w);
    let (x, rest) = two(memory, input.range(), output.offset..end);
    let (out, places) = rest.split_at_mut(places - output.offset);
    for (plane, places) in places.chunks_exact_mut(places_of(&w)).enumerate() {
        let (x, out) = (&x[first(input, plane)..], &mut out[first(output, plane)..]);
        pooling::largest(level, &w, x, out, places);
    }
}

/// Each gradient goes to the largest value of its window. `to` has the input's size, perhaps another halo.
pub(super) fn max_backward(
    level: Level,
    (gradient, to): (&Image, &Image),
    sides: (usize, usize),
    places: usize,
    memory: &mut [f32],
) {
    let w = windows(to, gradient, sides);
    let end = places + gradient.planes() * places_of(&w);
    let (from, out) = two(memory, gradient.offset..end, to.range());
    let (dy, places) = from.split_at(places - gradient.offset);
    out.fill(0.0);
    for (plane, places) in places.chunks_exact(places_of(&w)).enumerate() {
        let (dy, out) = (&dy[first(gradient, plane)..], &mut out[first(to, plane)..]);
        pooling::largest_backward(level, &w, dy, places, out);
    }
}

pub(super) fn average_forward(
    level: Level,
    (input, output): (&Image, &Image),
    sides: (usize, usize),
    memory: &mut [f32],
) {
    let w = windows(input, output, sides);
    let (x, out) = two(memory, input.range(), output.range());
    for plane in 0..output.planes() {
        pooling::average(level, &w, &x[first(input, plane)..], &mut out[first(output, plane)..]);
    }
}

/// Each gradient is shared by its window.
pub(super) fn average_backward(
    level: Level,
    (gradient, to): (&Image, &Image),
    sides: (usize, usize),
    memory: &mut [f32],
) {
    let w = windows(to, gradient, sides);
    let (dy, out) = two(memory, gradient.range(), to.range());
    out.fill(0.0);
    for plane in 0..to.planes() {
        pooling::average_backward(level, &w, &dy[first(gradient, plane)..], &mut out[first(to, plane)..]);
    }
}
