//! δ(ε) of a composition as a contour integral, with Gauss and Legendre's rule on panels in x and in t.
//!
//! δ(ε) = (1/π) ∫_0^∞ Re [Π_k M_k(z)^{T_k} e^{−zε} / (z(z+1))] dt on z = λ + it, where M_k(z) = ∫ φ_σ r^{1+z} dx
//! when a record is removed and ∫ φ_σ r^{−z} dx when one is added, and r = 1 − q + q·e^{(2x−1)/2σ²}.

use super::fixed::{Circle, Fixed, Turns};
use super::plan::{ContourPlan, Direction, Goal, Releases, plan};
use super::real::{Complex, GaussLegendre, PRECISION, Real, abs, exact, int, pi};

/// Two rules with different panels, ends and nodes: the finer one is the answer, twice their distance its error.
const GOALS: [Goal; 2] =
    [Goal { nats: 54.0, nodes: 32, contour: 1.0 }, Goal { nats: 60.0, nodes: 40, contour: 0.9 }];
/// The most terms of a sum: more is not reasonable.
const MOST_WORK: u64 = 4_000_000;

/// What does not depend on the point: circle and rules.
pub struct Tools {
    circle: Circle,
    rules: [GaussLegendre; 2],
}

impl Tools {
    pub fn new() -> Self {
        Self { circle: Circle::new(), rules: GOALS.map(|goal| GaussLegendre::new(goal.nodes)) }
    }

    /// The integrand at every node of both rules, ready for any ε near `epsilon`; nothing if that is too much work.
    pub fn integral(
        &self,
        kinds: &[Releases],
        direction: Direction,
        lambda: f64,
        epsilon: f64,
    ) -> Option<Integral<'_>> {
        let plans = GOALS.map(|goal| plan(kinds, direction, lambda, epsilon, goal, MOST_WORK));
        let [Some(coarse), Some(fine)] = plans else { return None };
        let evaluate = |plan: &ContourPlan, rule| self.evaluate(kinds, direction, plan, rule);
        Some(Integral {
            circle: &self.circle,
            coarse: evaluate(&coarse, &self.rules[0]),
            fine: evaluate(&fine, &self.rules[1]),
        })
    }

    /// Chernoff's bound on δ(ε) for some λ: max over losses of (1 − e^{ε−L})/e^{λ(L−ε)}, times the moment.
    pub fn chernoff(&self, kinds: &[Releases], direction: Direction, lambda: f64, epsilon: &Real) -> Real {
        let rule = &self.rules[1];
        let moments = kinds.iter().map(|kind| {
            let nodes = rule.on(&kind.panels(direction, lambda, 0.0, GOALS[1]));
            int(kind.count) * Moment::new(kind, direction, lambda, 0.0, &nodes).total.ln()
        });
        let (lambda, above) = (exact(lambda), exact(lambda) + int(1));
        let factor = &lambda * lambda.ln() - &above * above.ln();
        (moments.fold(factor, |sum, moment| sum + moment) - lambda * epsilon).exp()
    }

    fn evaluate(
        &self,
        kinds: &[Releases],
        direction: Direction,
        plan: &ContourPlan,
        rule: &GaussLegendre,
    ) -> Contour {
        let moments: Vec<Moment> = kinds
            .iter()
            .zip(&plan.in_x)
            .map(|(kind, panels)| Moment::new(kind, direction, plan.lambda, plan.end(), &rule.on(panels)))
            .collect();
        let lambda = exact(plan.lambda);
        let products = products(&self.circle, &moments, plan, rule);
        let node = |((t, weight), product): ((Real, Real), Complex)| {
            let z = Complex { re: lambda.clone(), im: t.clone() };
            let above = Complex { re: &lambda + int(1), im: t.clone() };
            Node { value: product.over(&z.times(&above)).scaled(&(weight / pi())), t }
        };
        let nodes = rule.on(&plan.in_t).into_iter().zip(products).map(node).collect();
        Contour { lambda, nodes }
    }
}

/// Π_k M_k^{T_k} at the nodes of the panels in t, in the rule's order.
fn products(circle: &Circle, moments: &[Moment], plan: &ContourPlan, rule: &GaussLegendre) -> Vec<Complex> {
    let end = exact(plan.end());
    let mut all = Vec::new();
    let mut rows = Vec::new();
    let mut last = f64::NAN;
    for (left, right) in &plan.in_t {
        let half = exact(right - left) / (int(2) * &end);
        if right - left != last {
            // Nodes come in pairs ±: the first half of them is enough.
            let positive = rule.nodes.iter().take(rule.nodes.len() / 2);
            let offsets: Vec<Fixed> = positive.map(|(x, _)| Fixed::of(&(x * &half))).collect();
            rows = moments.iter().map(|moment| circle.rows(&moment.terms, &offsets)).collect();
            last = right - left;
        }
        let middle = Fixed::of(&(exact(*left) / &end + half));
        let mut products = vec![Complex::one(); rule.nodes.len()];
        for (moment, rows) in moments.iter().zip(&rows) {
            for (k, (above, below)) in circle.sums(&moment.terms, rows, middle).iter().enumerate() {
                let mirrored = products.len() - 1 - k;
                products[k] = products[k].times(&moment.power(above));
                products[mirrored] = products[mirrored].times(&moment.power(below));
            }
        }
        all.extend(products);
    }
    all
}

/// The line Re z = λ with its nodes.
struct Contour {
    lambda: Real,
    nodes: Vec<Node>,
}

/// One node t of the outer integral: everything but e^{−zε}, with its weight.
struct Node {
    t: Real,
    value: Complex,
}

/// M(λ + it) of one kind of release as a sum over nodes in x.
struct Moment {
    terms: Vec<(Fixed, Turns)>,
    total: Real,
    count: u64,
}

impl Moment {
    fn new(kind: &Releases, direction: Direction, lambda: f64, end: f64, nodes: &[(Real, Real)]) -> Self {
        let lambda = exact(lambda);
        let (power, sign) = match direction {
            Direction::Remove => (lambda + int(1), int(1)),
            Direction::Add => (-lambda, -int(1)),
        };
        let to_turns = sign * exact(end) / (int(2) * pi());
        let (q, sigma) = (exact(kind.rate), exact(kind.noise));
        let double_variance = int(2) * &sigma * &sigma;
        let constant = int(1) / (sigma * (int(2) * pi()).sqrt());
        let weighted = nodes.iter().map(|(x, width)| {
            let ratio = int(1) - &q + &q * ((int(2) * x - int(1)) / &double_variance).exp();
            let loss = ratio.ln();
            let weight = width * &constant * (&power * &loss - x * x / &double_variance).exp();
            (weight, Turns::of(&(loss * &to_turns)))
        });
        let weighted: Vec<(Real, Turns)> = weighted.collect();
        let total = weighted.iter().fold(int(0), |sum, (weight, _)| sum + weight);
        let terms = weighted.iter().map(|(weight, turns)| (Fixed::of(&(weight / &total)), *turns)).collect();
        Self { terms, total, count: kind.count }
    }

    /// M^T, from the sum over the normalised weights.
    fn power(&self, sum: &Complex) -> Complex {
        sum.scaled(&self.total).power(self.count)
    }
}

/// δ as a function of ε, on a contour that was chosen for one ε and is good for its neighbours.
pub struct Integral<'a> {
    circle: &'a Circle,
    coarse: Contour,
    fine: Contour,
}

/// A value and how far it may be from the truth.
#[derive(Clone, Debug)]
pub struct Measured {
    pub value: Real,
    pub error: Real,
}

impl Measured {
    /// For what is exact but for rounding: half the digits are far more than rounding takes.
    pub fn closed(value: Real) -> Self {
        Self { error: abs(&value) >> (PRECISION / 2) as isize, value }
    }
}

impl Integral<'_> {
    pub fn delta(&self, epsilon: &Real) -> Measured {
        let to_turns = epsilon / (int(2) * pi());
        let sum = |contour: &Contour| {
            let terms = contour.nodes.iter().map(|node| {
                let (cosine, sine) = self.circle.cos_sin(&(&node.t * &to_turns));
                &node.value.re * cosine + &node.value.im * sine
            });
            terms.fold(int(0), |sum, term| sum + term) * (-&contour.lambda * epsilon).exp()
        };
        let (value, other) = (sum(&self.fine), sum(&self.coarse));
        Measured { error: int(2) * abs(&(&value - other)), value }
    }
}
