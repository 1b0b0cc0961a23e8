//! Group normalisation: y = scale·(x − mean)/√(variance + ε) + shift, mean and variance over the channels of a group
//! and all pixels of one record. It mixes no two records, which is why it is allowed where batch norm is not.

use super::image::Image;

const EPSILON: f64 = 1e-5;

/// Calls `visit(place in input, place in other, channel)` for every value of two images of one size.
fn each(input: &Image, other: &Image, mut visit: impl FnMut(usize, usize, usize)) {
    for c in 0..input.channels {
        let (a, b) = (input.offset + input.channel(c), other.offset + other.channel(c));
        for y in 0..input.height {
            for x in 0..input.width {
                visit(a + input.at(y, x), b + other.at(y, x), c);
            }
        }
    }
}

pub(super) fn forward(
    (input, output): (&Image, &Image),
    (groups, statistics): (usize, usize),
    (scale, shift): (&[f32], &[f32]),
    memory: &mut [f32],
) {
    let per_group = input.channels / groups;
    let count = (per_group * input.height * input.width) as f64;
    let mut sums = vec![0.0; groups];
    each(input, output, |at, _, c| sums[c / per_group] += f64::from(memory[at]));
    let means: Vec<f64> = sums.iter().map(|s| s / count).collect();
    let mut squares = vec![0.0; groups];
    each(input, output, |at, _, c| {
        squares[c / per_group] += (f64::from(memory[at]) - means[c / per_group]).powi(2)
    });
    for g in 0..groups {
        memory[statistics + 2 * g] = means[g] as f32;
        memory[statistics + 2 * g + 1] = (1.0 / (squares[g] / count + EPSILON).sqrt()) as f32;
    }
    each(input, output, |from, to, c| {
        let at = statistics + 2 * (c / per_group);
        memory[to] = scale[c] * (memory[from] - memory[at]) * memory[at + 1] + shift[c];
    });
}

/// The gradient with respect to the inputs.
pub(super) fn backward(
    (input, gradient, to): (&Image, &Image, &Image),
    (groups, statistics): (usize, usize),
    scale: &[f32],
    memory: &mut [f32],
) {
    let per_group = input.channels / groups;
    let count = (per_group * input.height * input.width) as f64;
    let normal = |memory: &[f32], at: usize, c: usize| {
        let of_group = statistics + 2 * (c / per_group);
        (memory[at] - memory[of_group]) * memory[of_group + 1]
    };
    let (mut sums, mut products) = (vec![0.0; groups], vec![0.0; groups]);
    each(input, gradient, |at, dy, c| {
        let d = f64::from(scale[c] * memory[dy]);
        sums[c / per_group] += d;
        products[c / per_group] += d * f64::from(normal(memory, at, c));
    });
    // The destination may have another halo than the gradient: visited by its own places.
    let mut values = Vec::with_capacity(input.channels * input.height * input.width);
    each(input, gradient, |at, dy, c| {
        let g = c / per_group;
        let centred = f64::from(scale[c] * memory[dy])
            - (sums[g] + products[g] * f64::from(normal(memory, at, c))) / count;
        values.push((centred * f64::from(memory[statistics + 2 * g + 1])) as f32);
    });
    let mut values = values.into_iter();
    each(input, to, |_, at, _| memory[at] = values.next().unwrap_or(0.0));
}

/// The gradient with respect to the scale, or to the shift.
pub(super) fn parameter_gradient(
    (input, gradient): (&Image, &Image),
    (groups, statistics): (usize, usize),
    memory: &[f32],
    of_scale: bool,
    out: &mut [f32],
) {
    let per_group = input.channels / groups;
    let mut sums = vec![0.0; out.len()];
    each(input, gradient, |at, dy, c| {
        let of_group = statistics + 2 * (c / per_group);
        let normal = (memory[at] - memory[of_group]) * memory[of_group + 1];
        let factor = if of_scale { f64::from(normal) } else { 1.0 };
        sums[c] += f64::from(memory[dy]) * factor;
    });
    out.iter_mut().zip(sums).for_each(|(o, s)| *o = s as f32);
}
