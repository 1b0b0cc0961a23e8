//! The inner loops of linear models, in double precision.
//!
//! Every version executes the same additions and fused multiply-adds in the same order, so all give the same
//! bits: a run is reproducible from one machine to the next. (Where there is no fused multiply-add instruction,
//! which no processor of the last ten years lacks, the library's exact one is slow and gives the same bits too.)

/// Rows handled together: their margins stay in the first-level cache.
const BLOCK: usize = 64;

/// Defines `$name` with the body of `$body`, compiled for AVX-512, AVX2 and the baseline.
macro_rules! dispatched {
    ($(#[$doc:meta])* $name:ident, $body:ident, ($($arg:ident : $ty:ty),*) $(-> $ret:ty)?) => {
        $(#[$doc])*
        pub fn $name($($arg: $ty),*) $(-> $ret)? {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512dq,avx512vl,fma")]
                fn wide($($arg: $ty),*) $(-> $ret)? { $body($($arg),*) }
                #[target_feature(enable = "avx2,fma")]
                fn medium($($arg: $ty),*) $(-> $ret)? { $body($($arg),*) }
                if is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("fma")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
                {
                    // SAFETY: the instruction set was just detected.
                    return unsafe { wide($($arg),*) };
                }
                if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                    // SAFETY: the instruction set was just detected.
                    return unsafe { medium($($arg),*) };
                }
            }
            $body($($arg),*)
        }
    };
}

pub(crate) use dispatched;

dispatched!(
    /// Adds Σ_r s_r·a_r to `sum`, where s_r = −y_r/(1 + exp(y_r·a_rᵀx)): the logistic gradient of rows `a`.
    add_logistic_gradients,
    add_logistic_gradients_body,
    (x: &[f64], rows: &[f64], labels: &[f64], sum: &mut [f64])
);

dispatched!(
    /// [`add_logistic_gradients`], and Σ_r log(1 + exp(−y_r·a_rᵀx)), in one pass over the rows.
    evaluate_logistic,
    evaluate_logistic_body,
    (x: &[f64], rows: &[f64], labels: &[f64], sum: &mut [f64]) -> f64
);

dispatched!(
    margin,
    dot,
    (a: &[f64], x: &[f64]) -> f64
);

dispatched!(
    logistic_loss,
    logistic_loss_body,
    (x: &[f64], a: &[f64], y: f64) -> f64
);

dispatched!(
    /// Writes −y/(1 + exp(y·aᵀx))·a over `gradient`.
    logistic_gradient,
    logistic_gradient_body,
    (x: &[f64], a: &[f64], y: f64, gradient: &mut [f64])
);

dispatched!(
    /// Turns scores, one per class, into p_k − [k = y] for their softmax p.
    softmax_slopes,
    softmax_slopes_body,
    (y: usize, scores: &mut [f64])
);

#[inline(always)]
fn logistic_loss_body(x: &[f64], a: &[f64], y: f64) -> f64 {
    softplus(-y * dot(a, x))
}

#[inline(always)]
fn logistic_gradient_body(x: &[f64], a: &[f64], y: f64, gradient: &mut [f64]) {
    let slope = logistic_slope(y * dot(a, x), y);
    for (g, a) in gradient.iter_mut().zip(a) {
        *g = slope * a;
    }
}

#[inline(always)]
fn softmax_slopes_body(y: usize, scores: &mut [f64]) {
    // Exponentials of scores less their largest cannot overflow.
    let mut largest = f64::NEG_INFINITY;
    for score in scores.iter() {
        largest = largest.max(*score);
    }
    let mut total = 0.0;
    for score in scores.iter_mut() {
        *score = exp(*score - largest);
        total += *score;
    }
    for (k, score) in scores.iter_mut().enumerate() {
        *score = *score / total - if k == y { 1.0 } else { 0.0 };
    }
}

/// Calls `$body` with a width that the compiler knows, where there is a version for it: loops are then unrolled
/// and `sum` stays in registers. The operations and their order are the same.
macro_rules! at_known_width {
    ($body:ident($x:ident, $rows:ident, $labels:ident, $sum:ident), $($width:literal)*) => {
        match $x.len() {
            $($width => {
                let (mut x, mut sum) = ([0.0; $width], [0.0; $width]);
                x.copy_from_slice($x);
                sum.copy_from_slice($sum);
                let result = $body(&x, $rows, $labels, &mut sum);
                $sum.copy_from_slice(&sum);
                result
            })*
            _ => $body($x, $rows, $labels, $sum),
        }
    };
}

#[inline(always)]
fn add_logistic_gradients_body(x: &[f64], rows: &[f64], labels: &[f64], sum: &mut [f64]) {
    at_known_width!(gradients(x, rows, labels, sum), 4 8 12 16 20 24 28 32)
}

#[inline(always)]
fn evaluate_logistic_body(x: &[f64], rows: &[f64], labels: &[f64], sum: &mut [f64]) -> f64 {
    at_known_width!(gradients_and_losses(x, rows, labels, sum), 4 8 12 16 20 24 28 32)
}

#[inline(always)]
fn gradients(x: &[f64], rows: &[f64], labels: &[f64], sum: &mut [f64]) {
    let mut slopes = [0.0; BLOCK];
    for (rows, labels) in rows.chunks(BLOCK * x.len()).zip(labels.chunks(BLOCK)) {
        let slopes = &mut slopes[..labels.len()];
        margins(x, rows, labels, slopes);
        for (slope, y) in slopes.iter_mut().zip(labels) {
            *slope = logistic_slope(*slope, *y);
        }
        add_weighted_rows(rows, slopes, sum);
    }
}

#[inline(always)]
fn gradients_and_losses(x: &[f64], rows: &[f64], labels: &[f64], sum: &mut [f64]) -> f64 {
    let (mut slopes, mut losses) = ([0.0; BLOCK], [0.0; BLOCK]);
    // Eight running sums, joined at the end, so that adding losses does not wait for itself.
    let mut totals = [0.0; 8];
    for (rows, labels) in rows.chunks(BLOCK * x.len()).zip(labels.chunks(BLOCK)) {
        let (slopes, losses) = (&mut slopes[..labels.len()], &mut losses[..labels.len()]);
        margins(x, rows, labels, slopes);
        for ((slope, loss), y) in slopes.iter_mut().zip(losses.iter_mut()).zip(labels) {
            let margin = *slope;
            let u = exp(-margin.abs());
            // 1/(1 + e^m) for either sign of m, and log(1 + e^{−m}), from the one exponential.
            *slope = -y * (if margin > 0.0 { u } else { 1.0 } / (1.0 + u));
            *loss = (-margin).max(0.0) + ln_1p_of_unit(u);
        }
        add_weighted_rows(rows, slopes, sum);
        for eight in losses.chunks(8) {
            for (total, loss) in totals.iter_mut().zip(eight) {
                *total += loss;
            }
        }
    }
    totals.iter().sum()
}

/// y_r·a_rᵀx for each row.
#[inline(always)]
fn margins(x: &[f64], rows: &[f64], labels: &[f64], out: &mut [f64]) {
    for ((row, y), m) in rows.chunks_exact(x.len()).zip(labels).zip(out) {
        *m = y * dot(row, x);
    }
}

/// aᵀb in four running sums.
#[inline(always)]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (mut a, mut b) = (a.chunks_exact(4), b.chunks_exact(4));
    for (a, b) in (&mut a).zip(&mut b) {
        for lane in 0..4 {
            sums[lane] = a[lane].mul_add(b[lane], sums[lane]);
        }
    }
    let mut tail = 0.0;
    for (a, b) in a.remainder().iter().zip(b.remainder()) {
        tail = a.mul_add(*b, tail);
    }
    ((sums[0] + sums[1]) + (sums[2] + sums[3])) + tail
}

/// `sum` += Σ_r weight_r · row_r, four rows at a time.
#[inline(always)]
fn add_weighted_rows(rows: &[f64], weights: &[f64], sum: &mut [f64]) {
    let d = sum.len();
    let mut fours = rows.chunks_exact(4 * d);
    for (four, w) in (&mut fours).zip(weights.chunks_exact(4)) {
        let (a, rest) = four.split_at(d);
        let (b, rest) = rest.split_at(d);
        let (c, e) = rest.split_at(d);
        for ((((s, a), b), c), e) in sum.iter_mut().zip(a).zip(b).zip(c).zip(e) {
            *s += w[0].mul_add(*a, w[1] * b) + w[2].mul_add(*c, w[3] * e);
        }
    }
    let done = weights.len() / 4 * 4;
    for (row, w) in fours.remainder().chunks_exact(d).zip(&weights[done..]) {
        for (s, a) in sum.iter_mut().zip(row) {
            *s = w.mul_add(*a, *s);
        }
    }
}

/// −y/(1 + e^m) for a margin m: the logistic loss's derivative in aᵀx.
#[inline(always)]
fn logistic_slope(margin: f64, y: f64) -> f64 {
    -y / (1.0 + exp(margin))
}

/// log(1 + e^t) = max(t, 0) + log(1 + e^{−|t|}).
#[inline(always)]
fn softplus(t: f64) -> f64 {
    t.max(0.0) + ln_1p_of_unit(exp(-t.abs()))
}

/// log(1 + u) for u in [0, 1], as 2·artanh(s) with s = u/(2 + u): a series in s² ≤ 1/9.
#[inline(always)]
fn ln_1p_of_unit(u: f64) -> f64 {
    let s = u / (2.0 + u);
    let s2 = s * s;
    let mut series = 0.0_f64;
    let mut k = 35.0;
    while k >= 1.0 {
        series = series.mul_add(s2, 1.0 / k);
        k -= 2.0;
    }
    2.0 * s * series
}

/// e^t to about two units in the last place, without branches or calls, so that loops over it vectorise.
/// Saturates at e^±708; NaN stays NaN.
#[inline(always)]
fn exp(t: f64) -> f64 {
    // 1.5·2⁵²: adding it puts round(t·log2 e) into the low bits of the mantissa.
    const MAGIC: f64 = 6_755_399_441_055_744.0;
    const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
    const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    let t = t.clamp(-708.0, 708.0);
    let shifted = t.mul_add(std::f64::consts::LOG2_E, MAGIC);
    let k = shifted - MAGIC;
    let r = k.mul_add(-LN2_LOW, k.mul_add(-LN2_HIGH, t));
    // Taylor's series of e^r on |r| ≤ ln2/2; the remainder after r¹³ is below 5e-18.
    let mut p = 1.0_f64 / 6_227_020_800.0;
    for c in [
        1.0 / 479_001_600.0,
        1.0 / 39_916_800.0,
        1.0 / 3_628_800.0,
        1.0 / 362_880.0,
        1.0 / 40_320.0,
        1.0 / 5_040.0,
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        0.5,
        1.0,
        1.0,
    ] {
        p = p.mul_add(r, c);
    }
    p * f64::from_bits((shifted.to_bits().wrapping_add(1023)) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_and_softplus_match_the_library_to_a_few_ulps() {
        for i in -70_000..=70_000 {
            let t = f64::from(i) * 0.01;
            assert!((exp(t) / t.exp() - 1.0).abs() < 6e-16, "exp({t})");
            let reference = t.max(0.0) + (-t.abs()).exp().ln_1p();
            assert!((softplus(t) / reference - 1.0).abs() < 2e-15, "softplus({t})");
        }
        assert!(exp(f64::NAN).is_nan() && exp(-1e9) >= 0.0 && exp(1e9).is_finite());
    }

    #[test]
    fn every_instruction_set_gives_the_same_bits() {
        for (d, n) in [(1, 1), (3, 5), (20, 64), (20, 200), (33, 131), (7, 67)] {
            let value = |i: usize| ((i * 7919 % 1000) as f64 - 500.0) / 300.0;
            let x: Vec<f64> = (0..d).map(|j| value(j + 3)).collect();
            let rows: Vec<f64> = (0..d * n).map(value).collect();
            let labels: Vec<f64> = (0..n).map(|r| if r % 3 == 0 { 1.0 } else { -1.0 }).collect();
            let (mut fast, mut plain) = (vec![0.1; d], vec![0.1; d]);
            add_logistic_gradients(&x, &rows, &labels, &mut fast);
            add_logistic_gradients_body(&x, &rows, &labels, &mut plain);
            assert_eq!(fast, plain);
            let (mut wide, mut narrow) = (vec![0.1; d], vec![0.1; d]);
            let both = evaluate_logistic(&x, &rows, &labels, &mut wide);
            assert_eq!(both, evaluate_logistic_body(&x, &rows, &labels, &mut narrow));
            assert_eq!(wide, narrow);
            let losses: f64 = (0..n).map(|r| softplus(-labels[r] * dot(&rows[r * d..(r + 1) * d], &x))).sum();
            assert!((both / losses - 1.0).abs() < 1e-13);
            // A known width changes no bit.
            let mut any = vec![0.1; d];
            gradients(&x, &rows, &labels, &mut any);
            assert_eq!(any, plain);
            assert!(wide.iter().zip(&fast).all(|(a, b)| (a - b).abs() < 1e-12 * (1.0 + b.abs())));
        }
    }
}
