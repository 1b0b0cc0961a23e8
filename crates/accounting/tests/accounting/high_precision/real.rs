//! Real and complex numbers of about 67 decimal digits, on dashu's.

use dashu_float::FBig;
use dashu_float::round::mode::HalfEven;

/// Bits of every number here. A power of T = 1e7 multiplies relative errors by 1e7, which leaves 60 digits.
pub const PRECISION: usize = 224;

pub type Real = FBig<HalfEven, 2>;

/// The number that `value` is, exactly. (dashu gives an `f64` 53 bits for life unless told otherwise.)
pub fn exact(value: f64) -> Real {
    Real::try_from(value).unwrap().with_precision(PRECISION).value()
}

pub fn int(value: u64) -> Real {
    Real::from(value).with_precision(PRECISION).value()
}

pub fn pi() -> Real {
    Real::pi(PRECISION)
}

/// e^x with all its bits: dashu's e^0 is an exact 1 of no precision, which cannot be divided by.
pub fn exp(x: &Real) -> Real {
    x.exp().with_precision(PRECISION).value()
}

pub fn abs(value: &Real) -> Real {
    if *value < Real::ZERO { -value } else { value.clone() }
}

/// For messages and for choosing how to compute, never for checking.
pub fn approximately(value: &Real) -> f64 {
    value.to_f64().value()
}

#[derive(Clone)]
pub struct Complex {
    pub re: Real,
    pub im: Real,
}

impl Complex {
    pub fn one() -> Self {
        Self { re: int(1), im: int(0) }
    }

    pub fn times(&self, other: &Self) -> Self {
        Self {
            re: &self.re * &other.re - &self.im * &other.im,
            im: &self.re * &other.im + &self.im * &other.re,
        }
    }

    pub fn scaled(&self, factor: &Real) -> Self {
        Self { re: &self.re * factor, im: &self.im * factor }
    }

    pub fn over(&self, other: &Self) -> Self {
        let norm = &other.re * &other.re + &other.im * &other.im;
        let conjugate = Self { re: other.re.clone(), im: -&other.im };
        self.times(&conjugate).scaled(&norm.inv())
    }

    /// By squaring: no complex logarithm, so no branch to get wrong.
    pub fn power(&self, mut exponent: u64) -> Self {
        let (mut power, mut square) = (Self::one(), self.clone());
        while exponent > 0 {
            if exponent & 1 == 1 {
                power = power.times(&square);
            }
            square = square.times(&square);
            exponent >>= 1;
        }
        power
    }
}

/// Nodes and weights of Gauss and Legendre's rule on [−1, 1], by Newton's method on the recurrence.
pub struct GaussLegendre {
    pub nodes: Vec<(Real, Real)>,
}

impl GaussLegendre {
    pub fn new(count: u64) -> Self {
        let nodes = (0..count).map(|k| Self::node(count, k)).collect();
        Self { nodes }
    }

    fn node(count: u64, k: u64) -> (Real, Real) {
        let guess = (std::f64::consts::PI * (k as f64 + 0.75) / (count as f64 + 0.5)).cos();
        let mut x = exact(guess);
        let mut slope = int(1);
        // The guess has 3 digits or more; Newton doubles them: seven rounds are enough for 67.
        for _ in 0..7 {
            let (value, derivative) = Self::legendre(count, &x);
            x -= value / &derivative;
            slope = derivative;
        }
        let weight = int(2) / ((int(1) - &x * &x) * &slope * &slope);
        (x, weight)
    }

    /// P_n(x) and P_n'(x).
    fn legendre(count: u64, x: &Real) -> (Real, Real) {
        let (mut before, mut now) = (int(1), x.clone());
        for k in 2..=count {
            let next = (int(2 * k - 1) * x * &now - int(k - 1) * &before) / int(k);
            before = std::mem::replace(&mut now, next);
        }
        let slope = int(count) * (x * &now - before) / (x * x - int(1));
        (now, slope)
    }

    /// Nodes and weights on every panel [a, b], in order.
    pub fn on(&self, panels: &[(f64, f64)]) -> Vec<(Real, Real)> {
        let mut all = Vec::new();
        for (a, b) in panels {
            let half = (exact(*b) - exact(*a)) / int(2);
            let middle = (exact(*a) + exact(*b)) / int(2);
            all.extend(self.nodes.iter().map(|(x, w)| (&middle + &half * x, &half * w)));
        }
        all
    }
}
