//! Sums Σ_j w_j e^{2πi·τ·Λ_j}, the one thing that is done millions of times, in fixed point: 188 fraction bits
//! (56 digits), a hundred times faster than floating point of that length.

use super::real::{Complex, Real, abs, int, pi};

const FRACTION: usize = 188;
/// Λ (turns at τ = 1) keeps fewer fraction bits so that many turns fit.
const TURN_FRACTION: usize = 164;
const TABLE_BITS: u32 = 10;
/// With |y| ≤ π/1024 the first omitted term y^18/18! is below 1e-60.
const TERMS: u64 = 9;

/// A number below 8 in absolute value, in two's complement, in units of 2^−188.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fixed([u64; 3]);

/// Turns at τ = 1, below 2^27 in absolute value, in units of 2^−164.
#[derive(Clone, Copy, Debug)]
pub struct Turns(Fixed);

/// a + b + carry as (low, high).
#[inline(always)]
fn add(a: u64, b: u64, carry: u64) -> (u64, u64) {
    let sum = (a as u128).wrapping_add(b as u128).wrapping_add(carry as u128);
    (sum as u64, (sum >> 64) as u64)
}

/// a·b + c + carry as (low, high): it always fits.
#[inline(always)]
fn multiply_add(a: u64, b: u64, c: u64, carry: u64) -> (u64, u64) {
    let sum = (a as u128).wrapping_mul(b as u128).wrapping_add(c as u128).wrapping_add(carry as u128);
    (sum as u64, (sum >> 64) as u64)
}

impl Fixed {
    const ZERO: Self = Self([0; 3]);
    const ONE: Self = Self([0, 0, 1 << (FRACTION - 128)]);

    pub fn of(value: &Real) -> Self {
        Self::scaled(value, FRACTION)
    }

    fn scaled(value: &Real, fraction: usize) -> Self {
        let (_, magnitude) = (value.clone() << fraction as isize).to_int().value().into_parts();
        let bytes = magnitude.to_le_bytes();
        let mut limbs = [0; 3];
        for (at, byte) in bytes.iter().enumerate() {
            limbs[at / 8] |= u64::from(*byte) << (8 * (at % 8));
        }
        assert!(limbs[2] >> 63 == 0, "does not fit: {value}");
        if *value < Real::ZERO { Self(limbs).negated() } else { Self(limbs) }
    }

    pub fn to_real(self) -> Real {
        let (negative, limbs) = self.parts();
        let mut value = int(0);
        for limb in limbs.iter().rev() {
            value = (value << 64) + int(*limb);
        }
        let value = value >> FRACTION as isize;
        if negative { -value } else { value }
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        let (a, b) = (self.0, other.0);
        let (low, carry) = add(a[0], b[0], 0);
        let (middle, carry) = add(a[1], b[1], carry);
        let (high, _) = add(a[2], b[2], carry);
        Self([low, middle, high])
    }

    #[inline(always)]
    fn negated(self) -> Self {
        let [low, middle, high] = self.0;
        Self([!low, !middle, !high]).plus(Self([1, 0, 0]))
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        self.plus(other.negated())
    }

    #[inline(always)]
    fn is_negative(self) -> bool {
        self.0[2] >> 63 == 1
    }

    #[inline(always)]
    fn parts(self) -> (bool, [u64; 3]) {
        if self.is_negative() { (true, self.negated().0) } else { (false, self.0) }
    }

    /// The product's 384 bits shifted right by 128 + SHIFT, of which 192 are kept.
    #[inline(always)]
    fn product<const SHIFT: u32>(self, other: Self) -> Self {
        let ((sign_a, [a0, a1, a2]), (sign_b, [b0, b1, b2])) = (self.parts(), other.parts());
        // Schoolbook, written out: a loop is three times slower in the test profile.
        let (_, carry) = multiply_add(a0, b0, 0, 0);
        let (p1, carry) = multiply_add(a0, b1, 0, carry);
        let (p2, p3) = multiply_add(a0, b2, 0, carry);
        let (_, carry) = multiply_add(a1, b0, p1, 0);
        let (p2, carry) = multiply_add(a1, b1, p2, carry);
        let (p3, p4) = multiply_add(a1, b2, p3, carry);
        let (p2, carry) = multiply_add(a2, b0, p2, 0);
        let (p3, carry) = multiply_add(a2, b1, p3, carry);
        let (p4, p5) = multiply_add(a2, b2, p4, carry);
        let left = 64 - SHIFT;
        let kept =
            Self([(p2 >> SHIFT) | (p3 << left), (p3 >> SHIFT) | (p4 << left), (p4 >> SHIFT) | (p5 << left)]);
        if sign_a != sign_b { kept.negated() } else { kept }
    }

    #[inline(always)]
    fn times(self, other: Self) -> Self {
        self.product::<60>(other)
    }
}

impl Turns {
    pub fn of(value: &Real) -> Self {
        Self(Fixed::scaled(value, TURN_FRACTION))
    }

    /// The fraction of a turn that is left of τ·Λ, in units of 2^−192: whole turns fall off the top.
    fn at(self, tau: Fixed) -> Fixed {
        self.0.product::<32>(tau)
    }
}

/// e^{2πi·u}: a table of 1024 directions, and Taylor's series for what is between them.
pub struct Circle {
    table: Vec<(Fixed, Fixed)>,
    sine: Vec<Fixed>,
    cosine: Vec<Fixed>,
    two_pi: Fixed,
}

impl Circle {
    pub fn new() -> Self {
        let count = 1_u64 << TABLE_BITS;
        let direction = |k: u64| {
            let (sine, cosine) = (int(2 * k) * pi() / int(count)).sin_cos();
            (Fixed::of(&cosine), Fixed::of(&sine))
        };
        let inverse_factorial = |n: u64| (1..=n).fold(int(1), |product, k| product / int(k));
        let coefficient = |n: u64, k: u64| {
            let size = inverse_factorial(n);
            Fixed::of(&if k.is_multiple_of(2) { size } else { -size })
        };
        Self {
            table: (0..count).map(direction).collect(),
            sine: (0..TERMS).map(|k| coefficient(2 * k + 1, k)).collect(),
            cosine: (0..TERMS).map(|k| coefficient(2 * k, k)).collect(),
            two_pi: Fixed::of(&(int(2) * pi())),
        }
    }

    /// (cos, sin) of `turn`, a fraction of a turn in units of 2^−192.
    fn direction(&self, turn: Fixed) -> (Fixed, Fixed) {
        let low = 64 - TABLE_BITS;
        let nearest = (turn.0[2] >> (low - 1)).wrapping_add(1) >> 1;
        let rest = turn.minus(Fixed([0, 0, nearest << low]));
        // From units of 2^−192 to units of 2^−188, sign kept.
        let small = Fixed([
            (rest.0[0] >> 4) | (rest.0[1] << 60),
            (rest.0[1] >> 4) | (rest.0[2] << 60),
            ((rest.0[2] as i64) >> 4) as u64,
        ]);
        let y = small.times(self.two_pi);
        let square = y.times(y);
        let horner =
            |terms: &[Fixed]| terms.iter().rev().fold(Fixed::ZERO, |sum, term| sum.times(square).plus(*term));
        let (c, s) = (horner(&self.cosine), horner(&self.sine).times(y));
        let (a, b) = self.table[nearest as usize & ((1 << TABLE_BITS) - 1)];
        (a.times(c).minus(b.times(s)), a.times(s).plus(b.times(c)))
    }

    /// e^{2πi·τ·Λ}.
    fn turned(&self, turns: Turns, tau: Fixed) -> (Fixed, Fixed) {
        self.direction(turns.at(tau))
    }

    /// (cos, sin) of 2π·turns.
    pub fn cos_sin(&self, turns: &Real) -> (Real, Real) {
        let (cosine, sine) = self.turned(Turns::of(turns), Fixed::ONE);
        (cosine.to_real(), sine.to_real())
    }

    /// e^{2πi·τ·Λ} for every Λ (row) and every offset τ (column).
    pub fn rows(&self, terms: &[(Fixed, Turns)], offsets: &[Fixed]) -> Vec<(Fixed, Fixed)> {
        let row = |turns: Turns| offsets.iter().map(move |tau| self.turned(turns, *tau));
        terms.iter().flat_map(|(_, turns)| row(*turns)).collect()
    }

    /// Σ w e^{2πi·τ·Λ} over (w, Λ), whose weights sum to at most 1, at τ = middle + offset and at middle − offset
    /// for every offset: two products a term, because the rows are there and the two are conjugate.
    pub fn sums(
        &self,
        terms: &[(Fixed, Turns)],
        rows: &[(Fixed, Fixed)],
        middle: Fixed,
    ) -> Vec<(Complex, Complex)> {
        let columns = rows.len() / terms.len();
        let mut sums = vec![[Fixed::ZERO; 4]; columns];
        for ((weight, turns), row) in terms.iter().zip(rows.chunks(columns)) {
            let (cosine, sine) = self.turned(*turns, middle);
            let (re, im) = (weight.times(cosine), weight.times(sine));
            for ([above_re, above_im, below_re, below_im], (c, s)) in sums.iter_mut().zip(row) {
                let (rc, is, rs, ic) = (re.times(*c), im.times(*s), re.times(*s), im.times(*c));
                *above_re = above_re.plus(rc).minus(is);
                *above_im = above_im.plus(ic).plus(rs);
                *below_re = below_re.plus(rc).plus(is);
                *below_im = below_im.plus(ic).minus(rs);
            }
        }
        let complex = |re: Fixed, im: Fixed| Complex { re: re.to_real(), im: im.to_real() };
        sums.iter().map(|s| (complex(s[0], s[1]), complex(s[2], s[3]))).collect()
    }
}

#[test]
fn directions_agree_with_floating_point() {
    let circle = Circle::new();
    let mut largest = int(0);
    for k in 0..400_u64 {
        let (middle, offset) = (int(k * k + 1) / int(160_003), int(k) / int(7919));
        let turns = (int(k) - int(200)) * int(1_234_567) / int(1009);
        let terms = [(Fixed::ONE, Turns::of(&turns))];
        let rows = circle.rows(&terms, &[Fixed::of(&offset)]);
        let sums = circle.sums(&terms, &rows, Fixed::of(&middle));
        for (sum, tau) in [(&sums[0].0, &middle + &offset), (&sums[0].1, &middle - &offset)] {
            let (sine, cosine) = (int(2) * pi() * tau * &turns).sin_cos();
            largest = largest.max(abs(&(&sum.re - cosine))).max(abs(&(&sum.im - sine)));
        }
    }
    assert!(largest < (int(1) >> 140), "{largest}");
}
