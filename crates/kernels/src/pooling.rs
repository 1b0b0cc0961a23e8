//! Pooling of a plane of pixels of sixteen channels: any window and stride.

use crate::level::leveled;
use crate::simd::{LANES, Simd};

/// The windows of a plane, and where their pixels lie. Planes are given from their first pixel on.
#[derive(Clone, Copy, Debug)]
pub struct Windows {
    pub height: usize,
    pub width: usize,
    /// Pixels of a window's side.
    pub size: usize,
    /// Pixels from one window to the next.
    pub stride: usize,
    /// Values from a row of the pooled plane to the next.
    pub row: usize,
    /// Values from a row of windows' values to the next.
    pub out_row: usize,
}

impl Windows {
    /// # Panics
    /// When a window, or its value, does not lie within so many values.
    fn check(&self, pooled: usize, out: usize) {
        let Self { height, width, size, stride, row, out_row } = *self;
        if height == 0 || width == 0 {
            return;
        }
        let last = |count: usize| (count - 1).saturating_mul(stride).saturating_add(size - 1);
        let end = |rows: usize, row: usize, pixels: usize| {
            rows.saturating_mul(row).saturating_add(pixels.saturating_mul(LANES))
        };
        assert!(size > 0 && end(last(height), row, last(width).saturating_add(1)) <= pooled, "{self:?}");
        assert!(end(height - 1, out_row, width) <= out, "{self:?}");
    }

    /// The number of each window, where its corner lies in the pooled plane, and where its value does.
    #[inline(always)]
    fn all(self) -> impl Iterator<Item = (usize, usize, usize)> {
        (0..self.height).flat_map(move |y| {
            let (corner, value) = (y * self.stride * self.row, y * self.out_row);
            (0..self.width)
                .map(move |x| (y * self.width + x, corner + x * self.stride * LANES, value + x * LANES))
        })
    }

    /// Where pixel `k` of a window lies from its corner.
    #[inline(always)]
    fn pixel(&self, k: usize) -> usize {
        k / self.size * self.row + k % self.size * LANES
    }

    fn pixels(&self) -> usize {
        self.size * self.size
    }
}

leveled!(
    average = average_body (windows: &Windows, x: &[f32], out: &mut [f32])
);

leveled!(
    /// Adds to the pixels of each window their shares of the gradient of its mean.
    average_backward = average_backward_body (windows: &Windows, dy: &[f32], dx: &mut [f32])
);

leveled!(
    /// The largest value of each window, the first of equal ones, and at `places` which pixel of the window it is.
    largest = largest_body (windows: &Windows, x: &[f32], out: &mut [f32], places: &mut [f32])
);

leveled!(
    /// Adds the gradient of each window's largest value to the pixel that it was.
    largest_backward = largest_backward_body (windows: &Windows, dy: &[f32], places: &[f32], dx: &mut [f32])
);

#[inline(always)]
fn average_body<S: Simd>(windows: &Windows, x: &[f32], out: &mut [f32]) {
    windows.check(x.len(), out.len());
    let share = 1.0 / windows.pixels() as f32;
    for (_, corner, to) in windows.all() {
        // SAFETY: every window was checked; called with S's instructions.
        unsafe {
            let mut sum = S::zero();
            for k in 0..windows.pixels() {
                sum = S::add(sum, S::load(x.as_ptr().add(corner + windows.pixel(k))));
            }
            S::store(out.as_mut_ptr().add(to), S::mul(S::splat(share), sum));
        }
    }
}

#[inline(always)]
fn average_backward_body<S: Simd>(windows: &Windows, dy: &[f32], dx: &mut [f32]) {
    windows.check(dx.len(), dy.len());
    let share = 1.0 / windows.pixels() as f32;
    for (_, corner, from) in windows.all() {
        // SAFETY: every window was checked; called with S's instructions.
        unsafe {
            let value = S::mul(S::splat(share), S::load(dy.as_ptr().add(from)));
            for k in 0..windows.pixels() {
                let pixel = dx.as_mut_ptr().add(corner + windows.pixel(k));
                S::store(pixel, S::add(S::load(pixel), value));
            }
        }
    }
}

#[inline(always)]
fn largest_body<S: Simd>(windows: &Windows, x: &[f32], out: &mut [f32], places: &mut [f32]) {
    windows.check(x.len(), out.len());
    assert!(places.len() >= windows.height * windows.width * LANES);
    for (number, corner, to) in windows.all() {
        // SAFETY: every window was checked; called with S's instructions.
        unsafe {
            let (mut best, mut place) = (S::load(x.as_ptr().add(corner)), S::zero());
            for k in 1..windows.pixels() {
                let value = S::load(x.as_ptr().add(corner + windows.pixel(k)));
                place = S::where_greater(value, best, S::splat(k as f32), place);
                best = S::where_greater(value, best, value, best);
            }
            S::store(out.as_mut_ptr().add(to), best);
            S::store(places.as_mut_ptr().add(number * LANES), place);
        }
    }
}

#[inline(always)]
fn largest_backward_body<S: Simd>(windows: &Windows, dy: &[f32], places: &[f32], dx: &mut [f32]) {
    windows.check(dx.len(), dy.len());
    assert!(places.len() >= windows.height * windows.width * LANES);
    for (number, corner, from) in windows.all() {
        // SAFETY: every window was checked; called with S's instructions.
        unsafe {
            let value = S::load(dy.as_ptr().add(from));
            let place = S::load(places.as_ptr().add(number * LANES));
            for k in 0..windows.pixels() {
                let (here, zero) = (S::splat(k as f32), S::zero());
                let not_less = S::where_greater(here, place, zero, value);
                let own = S::where_greater(place, here, zero, not_less);
                let pixel = dx.as_mut_ptr().add(corner + windows.pixel(k));
                S::store(pixel, S::add(S::load(pixel), own));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Level;

    /// Planes with a few values around them, and windows that are apart, touch or overlap.
    const CASES: [(usize, usize); 4] = [(2, 2), (3, 3), (3, 2), (2, 3)];
    const SIDE: usize = 9;

    fn windows(size: usize, stride: usize) -> Windows {
        let count = (SIDE - size) / stride + 1;
        let (row, out_row) = ((SIDE + 2) * LANES, (count + 1) * LANES);
        Windows { height: count, width: count, size, stride, row, out_row }
    }

    /// Values that are all different, in no order.
    fn values(len: usize) -> Vec<f32> {
        (0..len).map(|i| (i * 7919 % 10_007) as f32 - 5000.0).collect()
    }

    /// What `at` gives for each window and channel: where its value lies, and where its pixels do.
    fn each(w: &Windows, mut at: impl FnMut(usize, usize, &[usize])) {
        for n in 0..w.height * w.width * LANES {
            let (window, lane) = (n / LANES, n % LANES);
            let (y, x) = (window / w.width, window % w.width);
            let pixel =
                |k: usize| (y * w.stride + k / w.size) * w.row + (x * w.stride + k % w.size) * LANES + lane;
            let pixels: Vec<usize> = (0..w.size * w.size).map(pixel).collect();
            at(n, y * w.out_row + x * LANES + lane, &pixels);
        }
    }

    #[test]
    fn means_and_their_gradients_are_their_definitions() {
        for (level, (size, stride)) in Level::available().into_iter().flat_map(|l| CASES.map(|c| (l, c))) {
            let w = windows(size, stride);
            let (x, dy) = (values(SIDE * w.row), values(w.height * w.out_row));
            let (mut out, mut dx, mut exact) = (vec![0.0; dy.len()], vec![0.0; x.len()], vec![0.0; x.len()]);
            average(level, &w, &x, &mut out);
            average_backward(level, &w, &dy, &mut dx);
            each(&w, |_, to, pixels| {
                let mean = pixels.iter().map(|p| x[*p]).sum::<f32>() / pixels.len() as f32;
                assert!((out[to] - mean).abs() < 1e-2, "{} {w:?}", level.name());
                pixels.iter().for_each(|p| exact[*p] += dy[to] / pixels.len() as f32);
            });
            assert!(dx.iter().zip(&exact).all(|(a, b)| (a - b).abs() < 1e-2), "{} {w:?}", level.name());
        }
    }

    #[test]
    fn largest_values_their_places_and_gradients_are_their_definitions() {
        for (level, (size, stride)) in Level::available().into_iter().flat_map(|l| CASES.map(|c| (l, c))) {
            let w = windows(size, stride);
            let (x, dy) = (values(SIDE * w.row), values(w.height * w.out_row));
            let (mut out, mut dx, mut exact) = (vec![0.0; dy.len()], vec![0.0; x.len()], vec![0.0; x.len()]);
            let mut places = vec![0.0; w.height * w.width * LANES];
            largest(level, &w, &x, &mut out, &mut places);
            largest_backward(level, &w, &dy, &places, &mut dx);
            each(&w, |n, to, pixels| {
                let best = (0..pixels.len()).max_by(|a, b| x[pixels[*a]].total_cmp(&x[pixels[*b]])).unwrap();
                assert_eq!((out[to], places[n]), (x[pixels[best]], best as f32), "{} {w:?}", level.name());
                exact[pixels[best]] += dy[to];
            });
            assert_eq!(dx, exact, "{} {w:?}", level.name());
        }
    }

    #[test]
    fn of_equal_values_the_first_is_the_largest() {
        let w = Windows { height: 1, width: 1, size: 2, stride: 2, row: 2 * LANES, out_row: LANES };
        for level in Level::available() {
            let (mut out, mut places) = (vec![0.0; LANES], vec![9.0; LANES]);
            largest(level, &w, &vec![1.0; 4 * LANES], &mut out, &mut places);
            assert_eq!((out, places), (vec![1.0; LANES], vec![0.0; LANES]));
        }
    }

    #[test]
    #[should_panic(expected = "Windows")]
    fn a_window_beyond_the_plane_is_refused() {
        let w = windows(2, 2);
        average(Level::best(), &w, &values(8 * w.row), &mut vec![0.0; 100 * LANES][..3 * LANES]);
    }
}
