use super::*;
use crate::activation::Activation;
use crate::{Level, Records};

/// A plane with a halo, from a function of channel, row and column.
fn plane(blocks: usize, h: usize, w: usize, halo: usize, f: impl Fn(usize, usize, usize) -> f32) -> Vec<f32> {
    let mut out = vec![0.0; blocks * (h + 2 * halo) * (w + 2 * halo) * LANES];
    for c in 0..blocks * LANES {
        for y in 0..h {
            for x in 0..w {
                out[at(c, y, x, h, w, halo)] = f(c, y, x);
            }
        }
    }
    out
}

fn at(c: usize, y: usize, x: usize, h: usize, w: usize, halo: usize) -> usize {
    (((c / LANES) * (h + 2 * halo) + y + halo) * (w + 2 * halo) + x + halo) * LANES + c % LANES
}

fn noise(i: usize) -> f32 {
    let z = (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((z ^ (z >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 40) as f32 / (1 << 23) as f32 - 1.0
}

struct Case {
    g: Geometry,
    x: Vec<f32>,
    weights: Vec<f32>,
    dy: Vec<f32>,
}

impl Case {
    fn new(g: Geometry) -> Self {
        let (h, w) = (g.height, g.width);
        let x = plane(g.inputs, h, w, 1, |c, y, x| noise((c * h + y) * w + x));
        let dy = plane(g.outputs, h, w, 1, |c, y, x| noise(77_777 + (c * h + y) * w + x));
        let weights = (0..g.inputs * g.outputs * LANES * LANES * 9).map(|i| noise(999 + i)).collect();
        Self { g, x, weights, dy }
    }

    fn weight(&self, o: usize, i: usize, t: usize) -> f32 {
        self.weights[(o * self.g.inputs * LANES + i) * 9 + t]
    }

    fn exact(&self, o: usize, y: usize, x: usize) -> f64 {
        let (h, w) = (self.g.height, self.g.width);
        let mut sum = 0.0;
        for i in 0..self.g.inputs * LANES {
            for t in 0..9 {
                let base = at(i, y, x, h, w, 1) as isize;
                let row = ((w + 2) * LANES) as isize;
                let place = base + (t as isize / 3 - 1) * row + (t as isize % 3 - 1) * LANES as isize;
                sum += f64::from(self.weight(o, i, t)) * f64::from(self.x[place as usize]);
            }
        }
        sum
    }
}

const CASES: [Geometry; 7] = [
    Geometry { inputs: 1, outputs: 1, height: 2, width: 2 },
    Geometry { inputs: 2, outputs: 2, height: 4, width: 6 },
    Geometry { inputs: 1, outputs: 3, height: 8, width: 4 },
    Geometry { inputs: 3, outputs: 2, height: 6, width: 6 },
    Geometry { inputs: 1, outputs: 1, height: 4, width: 4 },
    Geometry { inputs: 3, outputs: 1, height: 8, width: 12 },
    Geometry { inputs: 2, outputs: 1, height: 6, width: 8 },
];

/// Every case with every tile that can do it.
fn cases() -> impl Iterator<Item = (Tile, Geometry)> {
    let of = |tile: Tile| CASES.into_iter().filter(move |g| g.fits(tile)).map(move |g| (tile, g));
    [Tile::F2, Tile::F2x4, Tile::F4].into_iter().flat_map(of)
}

fn transformed(level: Level, tile: Tile, case: &Case) -> Vec<f32> {
    let mut u = vec![0.0; case.g.weights(tile)];
    let lanes = |block: usize, i: usize| {
        std::array::from_fn(|t| std::array::from_fn(|k| case.weight(block * LANES + k, i, t)))
    };
    transform_weights(level, tile, &case.g, lanes, &mut u);
    u
}

#[test]
fn convolutions_are_their_definition_for_several_records() {
    for level in Level::available() {
        for (tile, g) in cases() {
            let case = Case::new(g);
            let u = transformed(level, tile, &case);
            let bias: Vec<f32> = (0..g.outputs * LANES).map(|o| o as f32 / 10.0).collect();
            let stride = case.x.len() + g.outputs * g.height * g.width * LANES;
            let count = 3;
            let mut memory = vec![0.0; stride * count];
            for r in 0..count {
                let scaled: Vec<f32> = case.x.iter().map(|v| v * (r + 1) as f32).collect();
                memory[r * stride..r * stride + scaled.len()].copy_from_slice(&scaled);
            }
            let mut scratch = vec![0.0; g.scratch(tile, count)];
            let finish = Finish {
                bias: Some(&bias),
                pool: None,
                activation: Activation::None,
                halo: 0,
                derivative: None,
            };
            let records = Records { stride, count };
            convolve(level, tile, &g, &mut memory, records, 0, case.x.len(), &u, finish, &mut scratch);
            for r in 0..count {
                for o in 0..g.outputs * LANES {
                    for y in 0..g.height {
                        for x in 0..g.width {
                            let exact = (r + 1) as f64 * case.exact(o, y, x) + f64::from(bias[o]);
                            let place = r * stride + case.x.len() + at(o, y, x, g.height, g.width, 0);
                            let error = (f64::from(memory[place]) - exact).abs();
                            let most = 1e-4 * if tile == Tile::F4 { (r + 1) as f64 } else { 1.0 };
                            assert!(error < most, "{tile:?} {}: {error:e} of {exact:e}", level.name());
                        }
                    }
                }
            }
        }
    }
}

/// Pooled outputs and their places, and outputs times a derivative: what the smallest tile gives, to rounding.
#[test]
fn all_tiles_finish_alike() {
    for level in Level::available() {
        for (tile, g) in cases().filter(|(tile, _)| *tile != Tile::F2) {
            let case = Case::new(g);
            let (input, windows) = (case.x.len(), g.outputs * g.height * g.width * LANES / 4);
            let plane = g.outputs * (g.height + 2) * (g.width + 2) * LANES;
            let run = |tile: Tile, pooled: bool| {
                let mut memory = case.x.clone();
                memory.resize(input + plane, 0.0);
                memory.extend(Case::new(Geometry { inputs: g.outputs, ..g }).x);
                let finish = Finish {
                    bias: None,
                    pool: pooled.then_some(input + plane),
                    activation: if pooled { Activation::Tanh } else { Activation::None },
                    halo: 1,
                    derivative: (!pooled).then_some((Activation::Tanh, input + plane)),
                };
                let records = Records { stride: memory.len(), count: 1 };
                let (u, mut scratch) = (transformed(level, tile, &case), vec![7.0; g.scratch(tile, 1)]);
                convolve(level, tile, &g, &mut memory, records, 0, input, &u, finish, &mut scratch);
                memory[input..].to_vec()
            };
            for pooled in [false, true] {
                let (two, four) = (run(Tile::F2, pooled), run(tile, pooled));
                for (a, b) in two[..plane].iter().zip(&four) {
                    assert!((a - b).abs() < 1e-4, "{tile:?} {}: {a} {b}", level.name());
                }
                // Largest values are far apart in these cases, so they are found at the same places.
                let places = |found: &[f32]| -> Vec<u32> {
                    found[plane..plane + windows].iter().map(|place| place.to_bits()).collect()
                };
                assert_eq!(places(&two), places(&four), "{tile:?} {}", level.name());
            }
        }
    }
}

#[test]
fn weight_gradients_are_their_definition_dense_and_pooled() {
    for level in Level::available() {
        for (tile, g) in cases() {
            let case = Case::new(g);
            let (h, w) = (g.height, g.width);
            let mut gradient = vec![0.0; g.gradient()];
            let mut scratch = vec![0.0; g.scratch(tile, 1)];
            weight_gradient(level, tile, &g, &case.x, &case.dy, &mut gradient, &mut scratch);
            check(&case, &case.dy, &gradient);

            // Pooled: gradients at one place of each window, found back by its patch's place.
            let (ph, pw) = (h / 2, w / 2);
            let place = |c: usize, y: usize, x: usize| {
                let k = (c * 7 + y * 3 + x) % 4;
                ((2 * y + k / 2) * (w + 2) + 2 * x + k % 2) * LANES
            };
            let dy = plane(g.outputs, ph, pw, 0, |c, y, x| noise(55 + (c * ph + y) * pw + x));
            let places = plane(g.outputs, ph, pw, 0, |c, y, x| f32::from_bits(place(c, y, x) as u32));
            let spread = plane(g.outputs, h, w, 1, |c, y, x| {
                let k = (c * 7 + (y / 2) * 3 + x / 2) % 4;
                if (y % 2, x % 2) == (k / 2, k % 2) { dy[at(c, y / 2, x / 2, ph, pw, 0)] } else { 0.0 }
            });
            pooled_weight_gradient(level, &g, &case.x, &dy, &places, &mut gradient);
            check(&case, &spread, &gradient);
            check_inputs(level, &case, &dy, &places, &spread);
        }
    }
}

/// The gradient with respect to the inputs, through tanh, against its definition.
fn check_inputs(level: Level, case: &Case, dy: &[f32], places: &[f32], spread: &[f32]) {
    let g = &case.g;
    let (h, w) = (g.height, g.width);
    let mut weights = vec![0.0; g.gradient()];
    for (n, slot) in weights.iter_mut().enumerate() {
        let (lane, t, o) = (n % LANES, n / LANES % 9, n / LANES / 9 % (g.outputs * LANES));
        let block = n / LANES / 9 / (g.outputs * LANES);
        *slot = case.weight(o, block * LANES + lane, t);
    }
    for halo in [0, 1] {
        let mut out = plane(g.inputs, h, w, halo, |_, _, _| 5.0);
        let mut scratch = vec![3.0; g.sparse_scratch()];
        let tanh = Activation::Tanh;
        pooled_input_gradient(level, g, dy, places, &weights, &case.x, tanh, &mut out, halo, &mut scratch);
        for i in 0..g.inputs * LANES {
            for y in 0..h {
                for x in 0..w {
                    let mut exact = 0.0;
                    for o in 0..g.outputs * LANES {
                        for t in 0..9 {
                            let (oy, ox) = (y + 1, x + 1);
                            let inside = oy >= t / 3 && ox >= t % 3 && oy - t / 3 < h && ox - t % 3 < w;
                            if inside {
                                let d = spread[at(o, oy - t / 3, ox - t % 3, h, w, 1)];
                                exact += f64::from(d) * f64::from(case.weight(o, i, t));
                            }
                        }
                    }
                    let a = f64::from(case.x[at(i, y, x, h, w, 1)]);
                    let found = f64::from(out[at(i, y, x, h, w, halo)]);
                    assert!((found - exact * (1.0 - a * a)).abs() < 1e-4, "{i} {y} {x}: {found} {exact}");
                }
            }
        }
    }
}

fn check(case: &Case, dy: &[f32], gradient: &[f32]) {
    let g = &case.g;
    let (h, w) = (g.height, g.width);
    for o in 0..g.outputs * LANES {
        for i in 0..g.inputs * LANES {
            for t in 0..9 {
                let mut exact = 0.0;
                for y in 0..h {
                    for x in 0..w {
                        // Tap (ky, kx) of the pixel's patch, which begins one up and one left of it.
                        let patch = at(i, y, x, h, w, 1) - (w + 3) * LANES;
                        let place = patch + t / 3 * (w + 2) * LANES + t % 3 * LANES;
                        exact += f64::from(dy[at(o, y, x, h, w, 1)]) * f64::from(case.x[place]);
                    }
                }
                let found = gradient[((o * g.inputs + i / LANES) * 9 + t) * LANES + i % LANES];
                assert!((f64::from(found) - exact).abs() < 1e-4, "{o} {i} {t}: {found} {exact}");
            }
        }
    }
}

#[test]
#[should_panic(expected = "beyond its plane")]
fn a_place_beyond_the_plane_is_refused() {
    let g = Geometry { inputs: 1, outputs: 1, height: 2, width: 2 };
    let (x, dy, mut gradient) = (vec![0.0; g.input_len()], [0.0; LANES], vec![0.0; g.gradient()]);
    let places = [f32::from_bits(5 * 16 + 1); LANES];
    pooled_weight_gradient(Level::best(), &g, &x, &dy, &places, &mut gradient);
}

#[test]
#[should_panic(expected = "fits")]
fn a_size_that_is_not_whole_tiles_is_refused() {
    let g = Geometry { inputs: 1, outputs: 1, height: 4, width: 6 };
    let (x, mut gradient) = (vec![0.0; g.input_len()], vec![0.0; g.gradient()]);
    let mut scratch = vec![0.0; g.scratch(Tile::F4, 1)];
    weight_gradient(Level::best(), Tile::F4, &g, &x, &x, &mut gradient, &mut scratch);
}
