//! Fourier transforms of sixteen small images at once, one a lane, and what wavelets need beside them.
//!
//! Only additions, multiplications, divisions and roots, in one order and never fused: every instruction set gives
//! the same bits, so that what is derived from the results is the same on every machine.
//!
//! A plane is `[row][column][lane]`; complex ones are two planes. The inverse transform (without its division) is
//! the transform of the two parts swapped.

use crate::level::leveled;
use crate::simd::{LANES, Simd};

/// How signals of one length are transformed.
#[derive(Clone, Debug, PartialEq)]
pub struct Transform {
    length: usize,
    radices: Vec<usize>,
    /// e^{−2πik/length}, cosine and sine.
    roots: Vec<[f32; 2]>,
}

impl Transform {
    /// Whether there is a transform of this length: a product of 2, 3 and 5, at least 2.
    pub fn allowed(length: usize) -> bool {
        length >= 2 && Self::factors(length).is_some()
    }

    /// The transform of signals of `roots.len()` values, where `roots[k]` = e^{−2πik/length}.
    ///
    /// # Panics
    /// When the length is not [`allowed`](Self::allowed).
    pub fn new(roots: Vec<[f32; 2]>) -> Self {
        let length = roots.len();
        let radices = Self::factors(length).filter(|_| length >= 2);
        let Some(radices) = radices else { unreachable!("no transform of length {length}") };
        Self { length, radices, roots }
    }

    pub fn length(&self) -> usize {
        self.length
    }

    /// Values of scratch memory that a transform needs.
    pub fn scratch(&self) -> usize {
        4 * self.length * LANES
    }

    fn factors(mut length: usize) -> Option<Vec<usize>> {
        let mut factors = Vec::new();
        for radix in [5, 4, 3, 2] {
            while length > 1 && length.is_multiple_of(radix) {
                factors.push(radix);
                length /= radix;
            }
        }
        (length == 1).then_some(factors)
    }
}

leveled!(
    /// Transforms a complex image of `across.length()` columns in place, rows first. `scratch` is for the longer of the
    /// two transforms.
    transform = transform_body (
        down: &Transform, across: &Transform, real: &mut [f32], imaginary: &mut [f32], scratch: &mut [f32],
    )
);

#[inline(always)]
fn transform_body<S: Simd>(
    down: &Transform,
    across: &Transform,
    real: &mut [f32],
    imaginary: &mut [f32],
    scratch: &mut [f32],
) {
    let (height, width) = (down.length, across.length);
    assert!(real.len() == height * width * LANES && imaginary.len() == real.len());
    assert!(scratch.len() >= down.scratch().max(across.scratch()));
    let (re, im) = (real.as_mut_ptr(), imaginary.as_mut_ptr());
    // SAFETY: rows and columns lie within the planes, whose lengths were checked; called with S's instructions.
    unsafe {
        for row in 0..height {
            let at = row * width * LANES;
            line::<S>(across, re.add(at), im.add(at), LANES, scratch.as_mut_ptr());
        }
        for column in 0..width {
            let at = column * LANES;
            line::<S>(down, re.add(at), im.add(at), width * LANES, scratch.as_mut_ptr());
        }
    }
}

/// One pass over a signal: where its values are, real and imaginary parts, and how far apart.
#[derive(Clone, Copy)]
struct Line {
    re: *mut f32,
    im: *mut f32,
    step: usize,
}

/// Transforms one line in place (Stockham's passes: in order, no bit reversal).
///
/// # Safety
/// The line is valid for its length; scratch for four vectors a value; the instructions of S are there.
#[inline(always)]
unsafe fn line<S: Simd>(t: &Transform, re: *mut f32, im: *mut f32, step: usize, scratch: *mut f32) {
    // SAFETY: the caller's; each half of scratch holds a line.
    unsafe {
        let part = t.length * LANES;
        let place = Line { re, im, step };
        let halves =
            [0, 2].map(|h| Line { re: scratch.add(h * part), im: scratch.add((h + 1) * part), step: LANES });
        let (mut from, mut stride) = (place, 1);
        for (number, radix) in t.radices.iter().enumerate() {
            let last = number + 1 == t.radices.len();
            // A single pass must not write over what it has yet to read.
            let to = if last && number > 0 { place } else { halves[number % 2] };
            match radix {
                5 => pass::<S, 5>(t, from, to, stride),
                4 => pass::<S, 4>(t, from, to, stride),
                3 => pass::<S, 3>(t, from, to, stride),
                _ => pass::<S, 2>(t, from, to, stride),
            }
            stride *= radix;
            from = to;
        }
        if t.radices.len() == 1 {
            for k in 0..t.length {
                S::store(re.add(k * step), S::load(from.re.add(k * LANES)));
                S::store(im.add(k * step), S::load(from.im.add(k * LANES)));
            }
        }
    }
}

/// to[q + s(Rp + j)] = root^{pj}·Σ_k from[q + s(p + mk)]·e^{−2πijk/R}.
#[inline(always)]
unsafe fn pass<S: Simd, const R: usize>(t: &Transform, from: Line, to: Line, stride: usize) {
    let m = t.length / (stride * R);
    // SAFETY: the caller's.
    unsafe {
        for p in 0..m {
            for q in 0..stride {
                let mut re = [S::zero(); R];
                let mut im = [S::zero(); R];
                for k in 0..R {
                    let at = (q + stride * (p + m * k)) * from.step;
                    re[k] = S::load(from.re.add(at));
                    im[k] = S::load(from.im.add(at));
                }
                butterfly::<S, R>(&mut re, &mut im);
                for j in 0..R {
                    let at = (q + stride * (R * p + j)) * to.step;
                    let (mut x, mut y) = (re[j], im[j]);
                    if p > 0 && j > 0 {
                        let [c, s] = *t.roots.get_unchecked(p * j * stride);
                        (x, y) = rotate::<S>(x, y, c, s);
                    }
                    S::store(to.re.add(at), x);
                    S::store(to.im.add(at), y);
                }
            }
        }
    }
}

/// (x + iy)(c + is).
#[inline(always)]
unsafe fn rotate<S: Simd>(x: S::V, y: S::V, c: f32, s: f32) -> (S::V, S::V) {
    // SAFETY: the caller's.
    unsafe {
        let (c, s) = (S::splat(c), S::splat(s));
        (S::sub(S::mul(x, c), S::mul(y, s)), S::add(S::mul(x, s), S::mul(y, c)))
    }
}

/// The transform of R values in registers.
#[inline(always)]
unsafe fn butterfly<S: Simd, const R: usize>(re: &mut [S::V; R], im: &mut [S::V; R]) {
    // SAFETY: the caller's.
    unsafe {
        match R {
            2 => {
                (re[0], re[1]) = (S::add(re[0], re[1]), S::sub(re[0], re[1]));
                (im[0], im[1]) = (S::add(im[0], im[1]), S::sub(im[0], im[1]));
            }
            3 => three::<S, R>(re, im),
            4 => four::<S, R>(re, im),
            _ => five::<S, R>(re, im),
        }
    }
}

#[inline(always)]
unsafe fn three<S: Simd, const R: usize>(re: &mut [S::V; R], im: &mut [S::V; R]) {
    // SAFETY: the caller's.
    unsafe {
        let (half, root) = (S::splat(0.5), S::splat(0.866_025_4));
        let (sum_re, sum_im) = (S::add(re[1], re[2]), S::add(im[1], im[2]));
        let (d_re, d_im) = (S::mul(root, S::sub(re[1], re[2])), S::mul(root, S::sub(im[1], im[2])));
        let (m_re, m_im) = (S::sub(re[0], S::mul(half, sum_re)), S::sub(im[0], S::mul(half, sum_im)));
        (re[0], im[0]) = (S::add(re[0], sum_re), S::add(im[0], sum_im));
        (re[1], im[1]) = (S::add(m_re, d_im), S::sub(m_im, d_re));
        (re[2], im[2]) = (S::sub(m_re, d_im), S::add(m_im, d_re));
    }
}

#[inline(always)]
unsafe fn four<S: Simd, const R: usize>(re: &mut [S::V; R], im: &mut [S::V; R]) {
    // SAFETY: the caller's.
    unsafe {
        let (a_re, a_im) = (S::add(re[0], re[2]), S::add(im[0], im[2]));
        let (b_re, b_im) = (S::sub(re[0], re[2]), S::sub(im[0], im[2]));
        let (c_re, c_im) = (S::add(re[1], re[3]), S::add(im[1], im[3]));
        let (d_re, d_im) = (S::sub(re[1], re[3]), S::sub(im[1], im[3]));
        (re[0], im[0]) = (S::add(a_re, c_re), S::add(a_im, c_im));
        (re[2], im[2]) = (S::sub(a_re, c_re), S::sub(a_im, c_im));
        (re[1], im[1]) = (S::add(b_re, d_im), S::sub(b_im, d_re));
        (re[3], im[3]) = (S::sub(b_re, d_im), S::add(b_im, d_re));
    }
}

#[inline(always)]
unsafe fn five<S: Simd, const R: usize>(re: &mut [S::V; R], im: &mut [S::V; R]) {
    // SAFETY: the caller's.
    unsafe {
        let [c1, c2] = [0.309_017, -0.809_017].map(|c: f32| S::splat(c));
        let [s1, s2] = [0.951_056_5, 0.587_785_25].map(|s: f32| S::splat(s));
        let (a_re, a_im) = (S::add(re[1], re[4]), S::add(im[1], im[4]));
        let (b_re, b_im) = (S::add(re[2], re[3]), S::add(im[2], im[3]));
        let (d_re, d_im) = (S::sub(re[1], re[4]), S::sub(im[1], im[4]));
        let (e_re, e_im) = (S::sub(re[2], re[3]), S::sub(im[2], im[3]));
        let two = |x: S::V, y: S::V, p: S::V, q: S::V| S::add(S::mul(x, p), S::mul(y, q));
        let less = |x: S::V, y: S::V, p: S::V, q: S::V| S::sub(S::mul(x, p), S::mul(y, q));
        let (m_re, m_im) = (S::add(re[0], two(a_re, b_re, c1, c2)), S::add(im[0], two(a_im, b_im, c1, c2)));
        let (n_re, n_im) = (S::add(re[0], two(a_re, b_re, c2, c1)), S::add(im[0], two(a_im, b_im, c2, c1)));
        let (u_re, u_im) = (two(d_re, e_re, s1, s2), two(d_im, e_im, s1, s2));
        let (v_re, v_im) = (less(d_re, e_re, s2, s1), less(d_im, e_im, s2, s1));
        (re[0], im[0]) = (S::add(re[0], S::add(a_re, b_re)), S::add(im[0], S::add(a_im, b_im)));
        (re[1], im[1]) = (S::add(m_re, u_im), S::sub(m_im, u_re));
        (re[4], im[4]) = (S::sub(m_re, u_im), S::add(m_im, u_re));
        (re[2], im[2]) = (S::add(n_re, v_im), S::sub(n_im, v_re));
        (re[3], im[3]) = (S::sub(n_re, v_im), S::add(n_im, v_re));
    }
}

/// A filter given by its transform, which is real, and which thins the image out: only frequencies at which it is not
/// zero are kept, grouped by the frequency they become.
#[derive(Clone, Debug, PartialEq)]
pub struct Filter {
    /// Where the terms of each frequency of the result begin, and where the last one's end.
    starts: Vec<u32>,
    /// Frequency of the spectrum and the filter's value there.
    terms: Vec<(u32, f32)>,
    spectrum: usize,
}

impl Filter {
    /// For spectra of `spectrum` frequencies: for each frequency of the result, which ones are added up and with which
    /// weights.
    ///
    /// # Panics
    /// When a frequency is outside the spectrum.
    pub fn new(spectrum: usize, results: &[Vec<(u32, f32)>]) -> Self {
        let (mut starts, mut terms) = (vec![0], Vec::new());
        for result in results {
            assert!(
                result.iter().all(|(at, _)| (*at as usize) < spectrum),
                "a frequency outside the spectrum"
            );
            terms.extend_from_slice(result);
            starts.push(terms.len() as u32);
        }
        Self { starts, terms, spectrum }
    }

    pub fn results(&self) -> usize {
        self.starts.len() - 1
    }
}

leveled!(
    filter = filter_body (
        filter: &Filter, real: &[f32], imaginary: &[f32], out_real: &mut [f32], out_imaginary: &mut [f32],
    )
);

#[inline(always)]
fn filter_body<S: Simd>(
    filter: &Filter,
    real: &[f32],
    imaginary: &[f32],
    out_real: &mut [f32],
    out_imaginary: &mut [f32],
) {
    let spectrum = filter.spectrum * LANES;
    let results = filter.results();
    assert!(real.len() == spectrum && imaginary.len() == spectrum);
    assert!(out_real.len() == results * LANES && out_imaginary.len() == out_real.len());
    // SAFETY: terms lie within the spectrum, by construction; called with S's instructions.
    unsafe {
        for (result, ends) in filter.starts.windows(2).enumerate() {
            let (mut re, mut im) = (S::zero(), S::zero());
            for (at, weight) in filter.terms.get_unchecked(ends[0] as usize..ends[1] as usize) {
                let (at, weight) = (*at as usize * LANES, S::splat(*weight));
                re = S::add(re, S::mul(weight, S::load(real.as_ptr().add(at))));
                im = S::add(im, S::mul(weight, S::load(imaginary.as_ptr().add(at))));
            }
            S::store(out_real.as_mut_ptr().add(result * LANES), re);
            S::store(out_imaginary.as_mut_ptr().add(result * LANES), im);
        }
    }
}

leveled!(
    /// Multiplies each frequency of a spectrum by its phase, cosine and sine: the image is moved, also by parts of a pixel.
    turn = turn_body (
        phases: &[[f32; 2]], real: &[f32], imaginary: &[f32], out_real: &mut [f32], out_imaginary: &mut [f32],
    )
);

#[inline(always)]
fn turn_body<S: Simd>(
    phases: &[[f32; 2]],
    real: &[f32],
    imaginary: &[f32],
    out_real: &mut [f32],
    out_imaginary: &mut [f32],
) {
    let values = phases.len() * LANES;
    assert!(real.len() == values && imaginary.len() == values);
    assert!(out_real.len() == values && out_imaginary.len() == values);
    // SAFETY: a vector for each phase, in each of the planes; called with S's instructions.
    unsafe {
        for (number, [c, s]) in phases.iter().enumerate() {
            let at = number * LANES;
            let (x, y) = (S::load(real.as_ptr().add(at)), S::load(imaginary.as_ptr().add(at)));
            let (x, y) = rotate::<S>(x, y, *c, *s);
            S::store(out_real.as_mut_ptr().add(at), x);
            S::store(out_imaginary.as_mut_ptr().add(at), y);
        }
    }
}

leveled!(
    /// real = √(real² + imaginary²), imaginary = 0.
    modulus = modulus_body (real: &mut [f32], imaginary: &mut [f32])
);

#[inline(always)]
fn modulus_body<S: Simd>(real: &mut [f32], imaginary: &mut [f32]) {
    assert!(real.len() == imaginary.len() && real.len().is_multiple_of(LANES));
    // SAFETY: equal lengths, multiples of sixteen; called with S's instructions.
    unsafe {
        for at in (0..real.len()).step_by(LANES) {
            let (re, im) = (real.as_mut_ptr().add(at), imaginary.as_mut_ptr().add(at));
            let (x, y) = (S::load(re), S::load(im));
            S::store(re, S::sqrt(S::add(S::mul(x, x), S::mul(y, y))));
            S::store(im, S::zero());
        }
    }
}

/// Weighted sums along one side of an image: for each result, where it begins and the weights of the values from there.
#[derive(Clone, Debug, PartialEq)]
pub struct Sums {
    length: usize,
    results: Vec<Vec<(u32, f32)>>,
}

impl Sums {
    /// Sums of lines of `length` values: for each result, which values with which weights.
    ///
    /// # Panics
    /// When a value is outside the line.
    pub fn new(length: usize, results: Vec<Vec<(u32, f32)>>) -> Self {
        assert!(results.iter().flatten().all(|(at, _)| (*at as usize) < length), "a value outside the line");
        Self { length, results }
    }

    pub fn length(&self) -> usize {
        self.length
    }

    pub fn results(&self) -> usize {
        self.results.len()
    }
}

leveled!(
    /// out = down·image·acrossᵀ. `scratch` has `down.results()`·`across.length()` vectors.
    resample = resample_body (down: &Sums, across: &Sums, image: &[f32], scratch: &mut [f32], out: &mut [f32])
);

#[inline(always)]
fn resample_body<S: Simd>(down: &Sums, across: &Sums, image: &[f32], scratch: &mut [f32], out: &mut [f32]) {
    let (height, width) = (down.length, across.length);
    assert!(image.len() == height * width * LANES && out.len() == down.results() * across.results() * LANES);
    assert!(scratch.len() >= down.results() * width * LANES);
    // SAFETY: every value lies within its line, by construction; called with S's instructions.
    unsafe {
        let line = |terms: &[(u32, f32)], from: *const f32, step: usize| {
            let mut sum = S::zero();
            for (at, weight) in terms {
                sum = S::add(sum, S::mul(S::splat(*weight), S::load(from.add(*at as usize * step))));
            }
            sum
        };
        for (i, terms) in down.results.iter().enumerate() {
            let row = scratch.as_mut_ptr().add(i * width * LANES);
            for x in 0..width {
                S::store(row.add(x * LANES), line(terms, image.as_ptr().add(x * LANES), width * LANES));
            }
            for (j, terms) in across.results.iter().enumerate() {
                let at = (i * across.results() + j) * LANES;
                S::store(out.as_mut_ptr().add(at), line(terms, row, LANES));
            }
        }
    }
}

leveled!(
    /// v = ln(max(v, 0) + offset), to about two units in the last place, for each value; `offset` is a normal number.
    logarithm = logarithm_body (values: &mut [f32], offset: f32)
);

#[inline(always)]
fn logarithm_body<S: Simd>(values: &mut [f32], offset: f32) {
    for value in values {
        *value = ln(value.max(0.0) + offset);
    }
}

/// ln(x) for positive normal x, without branches, so that loops over it become vectors.
#[inline(always)]
fn ln(x: f32) -> f32 {
    // x = 2^k·m with m between √½ and √2; ln m = 2·artanh(s), s = (m − 1)/(m + 1), |s| ≤ 0.1716.
    const ROOT_HALF: u32 = 0x3f35_04f3;
    let shifted = x.to_bits().wrapping_sub(ROOT_HALF);
    let k = (shifted as i32) >> 23;
    let m = f32::from_bits(x.to_bits().wrapping_sub((k as u32) << 23));
    let s = (m - 1.0) / (m + 1.0);
    let s2 = s * s;
    let series = ((s2 * (1.0 / 9.0) + 1.0 / 7.0) * s2 + 0.2) * s2 + 1.0 / 3.0;
    // ln 2 in two parts, so that k·ln 2 keeps its digits.
    let k = k as f32;
    k * 0.693_359_4 + (2.0 * s + (2.0 * s * s2 * series + k * -2.121_944_4e-4))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Level;

    fn roots(n: usize) -> Vec<[f32; 2]> {
        let angle = |k: usize| -2.0 * std::f64::consts::PI * k as f64 / n as f64;
        (0..n).map(|k| [angle(k).cos() as f32, angle(k).sin() as f32]).collect()
    }

    fn noise(n: usize, seed: usize) -> Vec<f32> {
        (0..n).map(|i| ((i * 7919 + seed * 104_729) % 2003) as f32 / 1001.5 - 1.0).collect()
    }

    #[test]
    fn transforms_are_their_definition_and_the_same_for_every_instruction_set() {
        for (height, width) in [(4, 5), (2, 3), (6, 40), (20, 20), (36, 18), (8, 25), (9, 2)] {
            let (down, across) = (Transform::new(roots(height)), Transform::new(roots(width)));
            let mut scratch = vec![0.0; down.scratch().max(across.scratch())];
            let (re, im) = (noise(height * width * LANES, 1), noise(height * width * LANES, 2));
            let mut first = None;
            for level in Level::available() {
                let (mut x, mut y) = (re.clone(), im.clone());
                transform(level, &down, &across, &mut x, &mut y, &mut scratch);
                for (u, v, lane) in [(0, 0, 0), (1, 1, 7), (height - 1, width / 2, 15), (height / 2, 1, 3)] {
                    let (mut a, mut b) = (0.0, 0.0);
                    for r in 0..height {
                        for c in 0..width {
                            let turns = (r * u) as f64 / height as f64 + (c * v) as f64 / width as f64;
                            let (sin, cos) = (-2.0 * std::f64::consts::PI * turns).sin_cos();
                            let at = (r * width + c) * LANES + lane;
                            let (p, q) = (f64::from(re[at]), f64::from(im[at]));
                            a += p * cos - q * sin;
                            b += p * sin + q * cos;
                        }
                    }
                    let at = (u * width + v) * LANES + lane;
                    assert!((f64::from(x[at]) - a).abs() < 1e-4, "{height} {width} {u} {v}: {} {a}", x[at]);
                    assert!((f64::from(y[at]) - b).abs() < 1e-4);
                }
                let bits = |v: &[f32]| v.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
                let all = (bits(&x), bits(&y));
                assert_eq!(*first.get_or_insert_with(|| all.clone()), all, "{}", level.name());
            }
        }
        assert!(!Transform::allowed(7) && !Transform::allowed(1) && Transform::allowed(48));
    }

    #[test]
    fn filters_sums_moduli_and_logarithms_are_their_definitions() {
        let (re, im) = (noise(12 * LANES, 3), noise(12 * LANES, 4));
        let by_two: Vec<Vec<(u32, f32)>> = (0..6).map(|k| vec![(k, 0.5), (k + 6, -2.0)]).collect();
        let thin = Filter::new(12, &by_two);
        let sums = Sums::new(4, vec![vec![(0, 0.25), (3, 1.0)], vec![(2, -1.0)], vec![]]);
        let other = Sums::new(3, vec![vec![(1, 2.0)]]);
        let mut first = None;
        for level in Level::available() {
            let (mut x, mut y) = (vec![0.0; 6 * LANES], vec![0.0; 6 * LANES]);
            filter(level, &thin, &re, &im, &mut x, &mut y);
            let at = 4 * LANES + 5;
            assert_eq!(x[at], 0.5 * re[at] - 2.0 * re[at + 6 * LANES]);
            let (mut turned, mut other_part) = (vec![0.0; 6 * LANES], vec![0.0; 6 * LANES]);
            turn(level, &[[0.5, -2.0]; 6], &x, &y, &mut turned, &mut other_part);
            assert_eq!(
                (turned[at], other_part[at]),
                (x[at] * 0.5 - y[at] * -2.0, x[at] * -2.0 + y[at] * 0.5)
            );
            modulus(level, &mut x, &mut y);
            assert!(x.iter().all(|v| *v >= 0.0) && y.iter().all(|v| *v == 0.0));
            let (mut scratch, mut out) = (vec![0.0; 9 * LANES], vec![9.0; 3 * LANES]);
            resample(level, &sums, &other, &re, &mut scratch, &mut out);
            assert_eq!(out[3], 2.0 * (0.25 * re[LANES + 3] + re[10 * LANES + 3]));
            assert_eq!((out[LANES + 2], out[2 * LANES]), (-2.0 * re[7 * LANES + 2], 0.0));
            let mut logs = [&re[..], &[0.0, 1.0, 3e4, 1e-9][..]].concat();
            logarithm(level, &mut logs, 1e-3);
            for (log, v) in logs.iter().zip(re.iter().chain(&[0.0, 1.0, 3e4, 1e-9])) {
                let exact = f64::from(v.max(0.0) + 1e-3).ln();
                assert!((f64::from(*log) - exact).abs() < 3e-7 * (1.0 + exact.abs()), "{v}: {log} {exact}");
            }
            let all =
                [x, turned, other_part, out, logs].concat().iter().map(|v| v.to_bits()).collect::<Vec<_>>();
            assert_eq!(*first.get_or_insert_with(|| all.clone()), all, "{}", level.name());
        }
    }
}
