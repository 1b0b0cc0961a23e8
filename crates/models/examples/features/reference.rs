//! The same features by the book, to compare speed with: one image at a time, plain loops, a recursive transform.
//!
//! The scattering is held against the coefficients of the crate's tests. Filters and whitening are as large as the
//! map's, with other numbers in them, which takes the same time.

use std::f64::consts::PI;

type Complex = [f32; 2];

const SIDE: usize = 32;
const PADDED: usize = 40;
const SCALES: usize = 2;
const ANGLES: usize = 8;
const CHANNELS: usize = 81;
/// Places at which averages are taken, a side, and cells they are averaged in.
const PLACES: usize = 8;
const CELLS: usize = 4;
const FILTERS: usize = 200;
const PATCH: usize = 6;
const PIXELS: usize = 3 * PATCH * PATCH;
const PATCH_CELLS: usize = 3;
const STARTS: usize = 14;

fn times([a, b]: Complex, [c, d]: Complex) -> Complex {
    [a * c - b * d, a * d + b * c]
}

/// The transform of lines of one length.
struct Fourier {
    roots: Vec<Complex>,
}

impl Fourier {
    fn new(length: usize) -> Self {
        let root = |k: usize| {
            let angle = -2.0 * PI * k as f64 / length as f64;
            [angle.cos() as f32, angle.sin() as f32]
        };
        Self { roots: (0..length).map(root).collect() }
    }

    /// Every `stride`-th value of `from`, transformed.
    fn line(&self, from: &[Complex], stride: usize, to: &mut [Complex]) {
        let (n, whole) = (to.len(), self.roots.len());
        if n == 1 {
            to[0] = from[0];
            return;
        }
        let p = [2, 3, 5].into_iter().find(|p| n.is_multiple_of(*p)).unwrap();
        let m = n / p;
        for (k, part) in to.chunks_exact_mut(m).enumerate() {
            self.line(&from[k * stride..], stride * p, part);
        }
        for i in 0..m {
            let mut parts = [[0.0; 2]; 5];
            (0..p).for_each(|k| parts[k] = times(to[k * m + i], self.roots[k * i * (whole / n)]));
            for j in 0..p {
                let mut sum = [0.0; 2];
                for (k, part) in parts[..p].iter().enumerate() {
                    let [x, y] = times(*part, self.roots[k * j * m % n * (whole / n)]);
                    sum = [sum[0] + x, sum[1] + y];
                }
                to[j * m + i] = sum;
            }
        }
    }

    /// Rows, then columns; the inverse (without its division) is the transform of the conjugate, conjugated.
    fn image(&self, image: &mut [Complex], inverse: bool) {
        let n = self.roots.len();
        let mut line = vec![[0.0; 2]; n];
        let turn = |image: &mut [Complex]| image.iter_mut().for_each(|v| v[1] = -v[1]);
        if inverse {
            turn(image);
        }
        for row in image.chunks_exact_mut(n) {
            self.line(row, 1, &mut line);
            row.copy_from_slice(&line);
        }
        for column in 0..n {
            self.line(&image[column..], n, &mut line);
            line.iter().enumerate().for_each(|(row, v)| image[row * n + column] = *v);
        }
        if inverse {
            turn(image);
        }
    }
}

/// A wavelet of scale `scale` on images of 40 pixels a side, moved by half a pixel where it thins them out.
fn wavelet(scale: usize, t: usize) -> Vec<Complex> {
    let (angle, dilation) = (PI * t as f64 / ANGLES as f64, (1 << scale) as f64);
    let (c, s) = (angle.cos(), angle.sin());
    let [along, across] = [0.8 * dilation, 0.8 * dilation * ANGLES as f64 / 4.0].map(|w| w * w);
    let a = [c * c * along + s * s * across, c * s * (along - across), s * s * along + c * c * across];
    let centre = [0.75 * PI / dilation * c, 0.75 * PI / dilation * s];
    let bell = |u: f64, v: f64, centre: [f64; 2]| {
        let mut sum = 0.0;
        for m in -2..=2 {
            for n in -2..=2 {
                let (x, y) =
                    (u - centre[0] + 2.0 * PI * f64::from(m), v - centre[1] + 2.0 * PI * f64::from(n));
                sum += (-0.5 * (a[0] * x * x + 2.0 * a[1] * x * y + a[2] * y * y)).exp();
            }
        }
        sum
    };
    let excess = bell(0.0, 0.0, centre) / bell(0.0, 0.0, [0.0; 2]);
    let by = (dilation - 1.0) / 2.0;
    let phase = |k: usize| {
        let turns = if 2 * k > PADDED { k as f64 - PADDED as f64 } else { k as f64 };
        let angle = 2.0 * PI * turns * by / PADDED as f64;
        [angle.cos() as f32, if 2 * k == PADDED { 0.0 } else { angle.sin() as f32 }]
    };
    let mut values = Vec::new();
    for i in 0..PADDED {
        for j in 0..PADDED {
            let [u, v] = [i, j].map(|k| 2.0 * PI * k as f64 / PADDED as f64);
            let value = bell(u, v, centre) - excess * bell(u, v, [0.0; 2]);
            values.push(times([value as f32, 0.0], times(phase(i), phase(j))));
        }
    }
    values
}

/// Gaussian averages of lines that were thinned out by 2^`level`.
fn averages(level: usize) -> Vec<Vec<f32>> {
    let (step, width) = ((1 << level) as f64, 0.8 * 2.0);
    let weight = |place: usize, n: usize| {
        let place = 19.5 + (place as f64 - 3.5) * 4.0;
        let apart = place - (step - 1.0) / 2.0 - n as f64 * step;
        let bell = |turn: f64| (-(apart + turn * PADDED as f64).powi(2) / (2.0 * width * width)).exp();
        ((bell(-1.0) + bell(0.0) + bell(1.0)) * step / ((2.0 * PI).sqrt() * width)) as f32
    };
    let line = |place| (0..PADDED >> level).map(|n| weight(place, n)).collect();
    (0..PLACES).map(line).collect()
}

pub struct Reference {
    patches: bool,
    transforms: [Fourier; 2],
    wavelets: Vec<Vec<Vec<Complex>>>,
    averages: [Vec<Vec<f32>>; 2],
    filters: Vec<f32>,
    /// For the scattering, and for the filters.
    whitening: [Vec<f32>; 2],
}

impl Reference {
    pub fn new(patches: bool) -> Self {
        let bank = |scale| (0..ANGLES).map(|t| wavelet(scale, t)).collect();
        Self {
            patches,
            transforms: [Fourier::new(PADDED), Fourier::new(PADDED / 2)],
            wavelets: (0..SCALES).map(bank).collect(),
            averages: [averages(0), averages(1)],
            filters: numbers(FILTERS * PIXELS),
            whitening: [3 * CHANNELS, 2 * FILTERS].map(|n| numbers(n * n)),
        }
    }

    /// |image * wavelet| of scale `scale`, given the image's transform.
    fn filtered(&self, spectrum: &[Complex], scale: usize, t: usize) -> Vec<Complex> {
        let side = PADDED >> scale;
        let mut out = vec![[0.0; 2]; side * side];
        for (at, (v, w)) in spectrum.iter().zip(&self.wavelets[scale][t]).enumerate() {
            let [x, y] = times(*v, *w);
            let sum = &mut out[at / PADDED % side * side + at % PADDED % side];
            *sum = [sum[0] + x, sum[1] + y];
        }
        self.transforms[scale].image(&mut out, true);
        let scale = 1.0 / (PADDED * PADDED) as f32;
        out.iter_mut().for_each(|v| *v = [scale * (v[0] * v[0] + v[1] * v[1]).sqrt(), 0.0]);
        out
    }

    fn average(&self, image: &[Complex], level: usize) -> Vec<f32> {
        let (sums, side) = (&self.averages[level], PADDED >> level);
        let mut out = Vec::with_capacity(PLACES * PLACES);
        for down in sums {
            let mut row = vec![0.0; side];
            for (weight, line) in down.iter().zip(image.chunks_exact(side)) {
                row.iter_mut().zip(line).for_each(|(sum, v)| *sum += weight * v[0]);
            }
            out.extend(sums.iter().map(|across| across.iter().zip(&row).map(|(w, v)| w * v).sum::<f32>()));
        }
        out
    }

    /// The scattering of a plane: 64 places for each of 81 channels.
    pub fn scattering(&self, plane: &[f32]) -> Vec<Vec<f32>> {
        let reflected = |at: usize| {
            let at = (at as isize - 4).rem_euclid(62) as usize;
            if at < SIDE { at } else { 62 - at }
        };
        let pixel = |at: usize| [plane[reflected(at / PADDED) * SIDE + reflected(at % PADDED)], 0.0];
        let mut image: Vec<Complex> = (0..PADDED * PADDED).map(pixel).collect();
        let mut out = vec![self.average(&image, 0)];
        self.transforms[0].image(&mut image, false);
        let mut second = Vec::new();
        for scale in 0..SCALES {
            for t in 0..ANGLES {
                let mut first = self.filtered(&image, scale, t);
                out.push(self.average(&first, scale));
                if scale == 0 {
                    self.transforms[0].image(&mut first, false);
                    second.extend((0..ANGLES).map(|s| self.average(&self.filtered(&first, 1, s), 1)));
                }
            }
        }
        out.append(&mut second);
        out
    }

    /// All features of an image.
    pub fn features(&self, image: &[u8]) -> Vec<f32> {
        let planes = opponent(image);
        let mut out = self.scattered(&planes);
        unit(&mut out);
        if self.patches {
            let mut rows = vec![0.0; 2 * FILTERS * PATCH_CELLS * PATCH_CELLS];
            self.respond(&planes, &mut rows);
            let mirror: Vec<f32> =
                planes.chunks_exact(SIDE).flat_map(|row| row.iter().rev().copied()).collect();
            self.respond(&mirror, &mut rows);
            let white = |row| whitened(row, &self.whitening[1]);
            let mut rows: Vec<f32> = rows.chunks_exact(2 * FILTERS).flat_map(white).collect();
            unit(&mut rows);
            out.extend(rows);
            unit(&mut out);
        }
        out
    }

    fn scattered(&self, planes: &[f32]) -> Vec<f32> {
        let planes: Vec<Vec<Vec<f32>>> =
            planes.chunks_exact(SIDE * SIDE).map(|plane| self.scattering(plane)).collect();
        let mut out = Vec::new();
        for cell in 0..CELLS * CELLS / 2 {
            let (i, j) = (cell / (CELLS / 2), cell % (CELLS / 2));
            let pooled = |channel: &[f32], j: usize| {
                let places = [0, 1, PLACES, PLACES + 1].map(|p| channel[2 * i * PLACES + 2 * j + p]);
                places.iter().map(|v| (v.max(0.0) + 1e-3).ln()).sum::<f32>() / 4.0
            };
            let turn = |c: usize| match c {
                0 => 0,
                1..17 => 1 + (c - 1) / 8 * 8 + (8 - (c - 1) % 8) % 8,
                _ => 17 + (8 - (c - 17) / 8) % 8 * 8 + (8 - (c - 17) % 8) % 8,
            };
            let mut row = Vec::new();
            for plane in &planes {
                let both = |c: usize| pooled(&plane[c], j) + pooled(&plane[turn(c)], CELLS - 1 - j);
                row.extend((0..CHANNELS).map(both));
            }
            out.extend(whitened(&row, &self.whitening[0]));
        }
        out
    }

    fn respond(&self, planes: &[f32], rows: &mut [f32]) {
        for place in 0..STARTS * STARTS {
            let (y, x) = (2 * (place / STARTS), 2 * (place % STARTS));
            let mut patch = Vec::with_capacity(PIXELS);
            for c in 0..3 {
                (0..PATCH).for_each(|r| patch.extend(&planes[(c * SIDE + y + r) * SIDE + x..][..PATCH]));
            }
            let mean = patch[..36].iter().sum::<f32>() / 36.0;
            patch[..36].iter_mut().for_each(|v| *v -= mean);
            let scale = 1.0 / (patch.iter().map(|v| v * v).sum::<f32>() / PIXELS as f32 + 1e-3).sqrt();
            let cell = place / STARTS * 3 / STARTS * 3 + place % STARTS * 3 / STARTS;
            let cell = &mut rows[cell * 2 * FILTERS..(cell + 1) * 2 * FILTERS];
            for (f, filter) in self.filters.chunks_exact(PIXELS).enumerate() {
                let response = scale * filter.iter().zip(&patch).map(|(w, v)| w * v).sum::<f32>();
                cell[f] += (response - 0.5).max(0.0);
                cell[FILTERS + f] += (-response - 0.5).max(0.0);
            }
        }
    }
}

/// Brightness and two colours.
fn opponent(image: &[u8]) -> Vec<f32> {
    let plane = SIDE * SIDE;
    let axes = [[0.577, 0.577, 0.577], [0.707, -0.707, 0.0], [0.408, 0.408, -0.816]];
    let value = |axis: &[f32; 3], at: usize| {
        (0..3).map(|c| axis[c] * f32::from(image[c * plane + at]) / 255.0).sum::<f32>()
    };
    axes.iter().flat_map(|axis| (0..plane).map(|at| value(axis, at)).collect::<Vec<_>>()).collect()
}

fn numbers(count: usize) -> Vec<f32> {
    (0..count).map(|i| (i * 31 % 101) as f32 / 101.0 - 0.5).collect()
}

/// A row times a matrix.
fn whitened(row: &[f32], matrix: &[f32]) -> Vec<f32> {
    let mut out = vec![0.0; row.len()];
    for (v, line) in row.iter().zip(matrix.chunks_exact(row.len())) {
        out.iter_mut().zip(line).for_each(|(sum, w)| *sum += v * w);
    }
    out
}

fn unit(features: &mut [f32]) {
    let norm = features.iter().map(|v| v * v).sum::<f32>().sqrt();
    features.iter_mut().for_each(|v| *v /= norm);
}

/// How far the scattering is from the coefficients of the crate's tests, at most.
pub fn apart() -> f32 {
    let text = include_str!("../../../data/tests/fixtures/scattering.txt");
    let mut lines = text.lines().skip_while(|line| *line != "case 32 32 2 8").skip(1);
    let pixel = |at: usize| {
        let (i, j) = (at / SIDE, at % SIDE);
        (((i * 31 + j * 17 + 5) * (i + 2 * j + 1)) % 97) as f32 / 96.0
    };
    let plane: Vec<f32> = (0..SIDE * SIDE).map(pixel).collect();
    let mut most = 0.0_f32;
    for channel in Reference::new(false).scattering(&plane) {
        let expected = lines.next().unwrap().split(' ').map(|v| v.parse::<f32>().unwrap());
        channel.iter().zip(expected).for_each(|(v, e)| most = most.max((v - e).abs()));
    }
    most
}
