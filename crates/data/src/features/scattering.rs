//! Two-dimensional wavelet scattering of small images, sixteen at a time.
//!
//! S₀ = x∗φ, S₁ = |x∗ψ_λ|∗φ, S₂ = ||x∗ψ_λ|∗ψ_μ|∗φ with Morlet wavelets of J scales and L angles and μ of a larger scale
//! than λ (Bruna and Mallat, 2013), on an image continued by reflection. Images of the larger scales are thinned out,
//! to values that lie symmetrically about the image's middle, between pixels if need be, and so do the places where
//! averages are taken: the scattering of a mirrored image is the mirror of its scattering, to rounding.
//!
//! Sums are never fused: the same image gives the same bits on every machine.

use super::wavelets::{self, Size};
use prdo_kernels::fourier::{self, Filter, Sums, Transform};
use prdo_kernels::{LANES, Level, Memory};

/// How images of one size are scattered.
#[derive(Clone, Debug)]
pub(crate) struct Scattering {
    size: Size,
    padded: Size,
    scales: u32,
    angles: usize,
    /// By level: how often the image has been halved.
    transforms: Vec<[Transform; 2]>,
    averages: Vec<[Sums; 2]>,
    /// `turns[j1][j2 - j1 - 1]` moves a spectrum of level j1 to where the values of level j2 begin.
    turns: Vec<Vec<Vec<[f32; 2]>>>,
    /// Of scale j and angle t, for images at level 0: `first[j][t]`.
    first: Vec<Vec<Filter>>,
    /// `second[j1][j2 - j1 - 1][t]`.
    second: Vec<Vec<Vec<Filter>>>,
    level: Level,
}

pub(crate) struct Workspace {
    spectrum: [Memory; 2],
    turned: [Memory; 2],
    first: [Memory; 2],
    first_spectrum: [Memory; 2],
    first_turned: [Memory; 2],
    second: [Memory; 2],
    scratch: Memory,
}

impl Scattering {
    /// For images of this size; it must have at least one place to average at.
    pub(crate) fn new(size: Size, scales: u32, angles: usize, level: Level) -> Self {
        let step = 1usize << scales;
        let padded = size.map(|side| wavelets::padded(side + 2 * step, step));
        let angle = |t: usize| std::f64::consts::PI * t as f64 / angles as f64;
        let bank = |from: u32, to: u32| -> Vec<Filter> {
            (0..angles).map(|t| wavelets::wavelet(padded, from, to, angle(t), angles)).collect()
        };
        let average = |j: u32| [0, 1].map(|side| wavelets::averages(size[side], padded[side], scales, j));
        let turn = |from: u32, to: u32| {
            let start = |side: usize, level| wavelets::offset(size[side], padded[side], level);
            let by = [0, 1].map(|side| (start(side, to) - start(side, from)) / f64::from(1u32 << from));
            wavelets::phases(padded.map(|side| side >> from), by)
        };
        Self {
            size,
            padded,
            scales,
            angles,
            transforms: (0..scales).map(|j| padded.map(|side| wavelets::transform(side >> j))).collect(),
            averages: (0..scales).map(average).collect(),
            turns: (0..scales).map(|from| (from + 1..scales).map(|to| turn(from, to)).collect()).collect(),
            first: (0..scales).map(|j| bank(0, j)).collect(),
            second: (0..scales).map(|from| (from + 1..scales).map(|to| bank(from, to)).collect()).collect(),
            level,
        }
    }

    /// How many channels one plane of an image has.
    pub(crate) fn channels(&self) -> usize {
        channels(self.scales, self.angles)
    }

    /// How many places there are, down and across.
    pub(crate) fn places(&self) -> Size {
        self.size.map(|side| side >> self.scales)
    }

    /// For each channel, the one that has its values when the image is mirrored.
    pub(crate) fn mirrored(&self) -> Vec<usize> {
        let (j, l) = (self.scales as usize, self.angles);
        let turn = |t: usize| (l - t) % l;
        let mut mirrored = vec![0];
        mirrored.extend((0..j * l).map(|at| 1 + at / l * l + turn(at % l)));
        let start = 1 + j * l;
        let pairs = j * (j - 1) / 2;
        for pair in 0..pairs {
            for t in 0..l * l {
                mirrored.push(start + pair * l * l + turn(t / l) * l + turn(t % l));
            }
        }
        mirrored
    }

    pub(crate) fn workspace(&self) -> Workspace {
        let whole = self.padded[0] * self.padded[1] * LANES;
        let two = || [Memory::zeros(whole), Memory::zeros(whole)];
        let longest = self.padded[0].max(self.padded[1]);
        let scratch = Memory::zeros((4 * longest).max(self.places()[0] * self.padded[1]) * LANES);
        Workspace {
            spectrum: two(),
            turned: two(),
            first: two(),
            first_spectrum: two(),
            first_turned: two(),
            second: two(),
            scratch,
        }
    }

    /// Scatters sixteen planes, `[row][column][lane]`, into `out`, `[channel][place][lane]`.
    pub(crate) fn scatter(&self, planes: &[f32], work: &mut Workspace, out: &mut [f32]) {
        let places = self.places()[0] * self.places()[1] * LANES;
        let Workspace { spectrum: [re, im], turned, first, first_spectrum, first_turned, second, scratch } =
            work;
        let [fre, fim] = first_spectrum;
        self.pad(planes, re);
        im.fill(0.0);
        let (order_0, rest) = out.split_at_mut(places);
        let (order_1, order_2) = rest.split_at_mut(self.scales as usize * self.angles * places);
        self.average(0, re, scratch, order_0);
        self.transform(0, re, im, scratch);
        for (from, bank) in self.first.iter().enumerate() {
            let spectrum = self.turned(0, from, [re, im], turned);
            for (t, wavelet) in bank.iter().enumerate() {
                let [ure, uim] = self.filtered(wavelet, spectrum, first, from, scratch);
                let at = (from * self.angles + t) * places;
                self.average(from, ure, scratch, &mut order_1[at..at + places]);
                let targets = &self.second[from];
                if targets.is_empty() {
                    continue;
                }
                let len = ure.len();
                fre[..len].copy_from_slice(ure);
                fim[..len].copy_from_slice(uim);
                self.transform(from, &mut fre[..len], &mut fim[..len], scratch);
                for (to, bank) in (from + 1..).zip(targets) {
                    let pair = pair(self.scales as usize, from, to);
                    let spectrum = self.turned(from, to, [&fre[..len], &fim[..len]], first_turned);
                    for (s, wavelet) in bank.iter().enumerate() {
                        let [vre, _] = self.filtered(wavelet, spectrum, second, to, scratch);
                        let at = ((pair * self.angles + t) * self.angles + s) * places;
                        self.average(to, vre, scratch, &mut order_2[at..at + places]);
                    }
                }
            }
        }
    }

    /// A spectrum of level `from`, moved to where the values of level `to` begin.
    fn turned<'a>(
        &self,
        from: usize,
        to: usize,
        [re, im]: [&'a [f32]; 2],
        out: &'a mut [Memory; 2],
    ) -> [&'a [f32]; 2] {
        if from == to {
            return [re, im];
        }
        let [out_re, out_im] = out;
        let (out_re, out_im) = (&mut out_re[..re.len()], &mut out_im[..re.len()]);
        fourier::turn(self.level, &self.turns[from][to - from - 1], re, im, out_re, out_im);
        [out_re, out_im]
    }

    /// The modulus of a filtered image, at the level to which the filter thins it out.
    fn filtered<'a>(
        &self,
        wavelet: &Filter,
        [re, im]: [&[f32]; 2],
        to: &'a mut [Memory; 2],
        level: usize,
        scratch: &mut [f32],
    ) -> [&'a mut [f32]; 2] {
        let len = wavelet.results() * LANES;
        let [out_re, out_im] = to;
        let (out_re, out_im) = (&mut out_re[..len], &mut out_im[..len]);
        fourier::filter(self.level, wavelet, re, im, out_re, out_im);
        // The inverse transform is the transform of the parts swapped.
        self.transform(level, out_im, out_re, scratch);
        fourier::modulus(self.level, out_re, out_im);
        [out_re, out_im]
    }

    fn transform(&self, level: usize, re: &mut [f32], im: &mut [f32], scratch: &mut [f32]) {
        let [down, across] = &self.transforms[level];
        fourier::transform(self.level, down, across, re, im, scratch);
    }

    fn average(&self, level: usize, image: &[f32], scratch: &mut [f32], out: &mut [f32]) {
        let [down, across] = &self.averages[level];
        fourier::resample(self.level, down, across, image, scratch, out);
    }

    /// Continues the planes by reflection at their border pixels.
    fn pad(&self, planes: &[f32], out: &mut [f32]) {
        let [height, width] = self.size;
        let [above, left] = [0, 1].map(|side| ((self.padded[side] - self.size[side]) / 2) as isize);
        // Of an odd side, what is continued to the right and to the left meets in the last column.
        let meets = !(self.padded[1] - width).is_multiple_of(2);
        let last = self.padded[1] - 1;
        for (row, line) in out.chunks_exact_mut(self.padded[1] * LANES).enumerate() {
            let from = reflected(row as isize - above, height) * width;
            let pixel = |column: isize| (from + reflected(column - left, width)) * LANES;
            for (column, to) in line.chunks_exact_mut(LANES).enumerate() {
                let at = pixel(column as isize);
                to.copy_from_slice(&planes[at..at + LANES]);
                if meets && column == last {
                    let other = &planes[pixel(-1)..][..LANES];
                    to.iter_mut().zip(other).for_each(|(to, v)| *to = (*to + v) / 2.0);
                }
            }
        }
    }
}

/// 1 + JL + L²J(J−1)/2.
pub(crate) fn channels(scales: u32, angles: usize) -> usize {
    let j = scales as usize;
    1 + j * angles + angles * angles * j * (j - 1) / 2
}

/// The number of the pair (from, to) of scales, in the order of `from` and then `to`.
fn pair(scales: usize, from: usize, to: usize) -> usize {
    (0..from).map(|j| scales - 1 - j).sum::<usize>() + to - from - 1
}

/// Where a place outside 0..`length` is found by reflection.
fn reflected(at: isize, length: usize) -> usize {
    let period = (2 * length).saturating_sub(2).max(1) as isize;
    let at = at.rem_euclid(period) as usize;
    if at < length { at } else { period as usize - at }
}

#[cfg(test)]
mod tests {
    use super::super::dead_leaves;
    use super::*;

    #[test]
    fn reflection_repeats_no_border_pixel() {
        let found: Vec<usize> = (-3..7).map(|at| reflected(at, 4)).collect();
        assert_eq!(found, [3, 2, 1, 0, 1, 2, 3, 2, 1, 0]);
        assert_eq!(reflected(-5, 1), 0);
    }

    #[test]
    fn pairs_of_scales_are_numbered_in_order() {
        let all = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];
        assert!(all.iter().enumerate().all(|(n, (a, b))| pair(4, *a, *b) == n));
        assert_eq!((channels(2, 8), channels(3, 4), channels(1, 8)), (81, 61, 9));
    }

    #[test]
    fn mirrored_images_have_mirrored_scatterings_on_every_instruction_set() {
        for (size, scales, angles) in [([32, 32], 2, 8), ([14, 9], 2, 3), ([16, 12], 3, 2), ([17, 23], 4, 3)]
        {
            let scatter = |planes: &[f32], level| {
                let plan = Scattering::new(size, scales, angles, level);
                let [down, across] = plan.places();
                let mut out = vec![0.0; plan.channels() * down * across * LANES];
                plan.scatter(planes, &mut plan.workspace(), &mut out);
                (plan, out)
            };
            let images: Vec<Vec<f32>> = (0..LANES as u32).map(|n| dead_leaves::image(n, 1, size)).collect();
            let pixels = 0..size[0] * size[1];
            let planes: Vec<f32> = pixels.flat_map(|at| images.iter().map(move |i| i[at])).collect();
            let mut mirror = planes.clone();
            for (row, line) in mirror.chunks_exact_mut(size[1] * LANES).enumerate() {
                for (column, pixel) in line.chunks_exact_mut(LANES).enumerate() {
                    let at = (row * size[1] + size[1] - 1 - column) * LANES;
                    pixel.copy_from_slice(&planes[at..at + LANES]);
                }
            }
            let (plan, found) = scatter(&planes, Level::best());
            let (_, other) = scatter(&mirror, Level::best());
            let [down, across] = plan.places();
            let mirrored = plan.mirrored();
            assert_eq!(mirrored.len(), plan.channels());
            for c in 0..plan.channels() {
                for i in 0..down {
                    for j in 0..across {
                        let at = |c: usize, j: usize| ((c * down + i) * across + j) * LANES + 3;
                        let (a, b) = (found[at(c, j)], other[at(mirrored[c], across - 1 - j)]);
                        assert!((a - b).abs() < 2e-6, "{size:?} {scales} {c} {i} {j}: {a} {b}");
                    }
                }
            }
            let bits = |v: &[f32]| v.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
            assert!(
                Level::available().into_iter().all(|level| bits(&scatter(&planes, level).1) == bits(&found))
            );
        }
    }

    /// The images of the fixture, in every lane.
    fn pattern(size: Size) -> Vec<f32> {
        let pixel = |i: usize, j: usize| (((i * 31 + j * 17 + 5) * (i + 2 * j + 1)) % 97) as f32 / 96.0;
        let all = (0..size[0]).flat_map(|i| (0..size[1]).map(move |j| pixel(i, j)));
        all.flat_map(|v| [v; LANES]).collect()
    }

    #[test]
    fn coefficients_are_those_of_an_independent_implementation() {
        let text = include_str!("../../tests/fixtures/scattering.txt");
        let mut lines = text.lines().filter(|line| !line.starts_with('#')).peekable();
        let mut cases = 0;
        while let Some(case) = lines.next() {
            let numbers: Vec<usize> = case.split(' ').skip(1).map(|n| n.parse().unwrap()).collect();
            let size = [numbers[0], numbers[1]];
            let plan = Scattering::new(size, numbers[2] as u32, numbers[3], Level::best());
            let places = plan.places()[0] * plan.places()[1];
            let mut out = vec![f32::NAN; plan.channels() * places * LANES];
            plan.scatter(&pattern(size), &mut plan.workspace(), &mut out);
            for (channel, found) in out.chunks_exact(places * LANES).enumerate() {
                let expected = lines.next().unwrap().split(' ').map(|v| v.parse::<f32>().unwrap());
                for (place, expected) in expected.enumerate() {
                    for v in &found[place * LANES..(place + 1) * LANES] {
                        assert!((v - expected).abs() < 1e-5, "{case}: {channel} {place}: {v} {expected}");
                    }
                }
            }
            cases += 1;
        }
        assert_eq!(cases, 4);
    }
}
