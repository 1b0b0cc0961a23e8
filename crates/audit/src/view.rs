//! What adversaries make of a run's answers.
//!
//! With independent noise the victim's answer says all there is. With noise in pairs the answers of all nodes go together: whoever
//! sees them weighs them by Σ⁻¹, Σ being their noise's covariance, after taking away the shares that the coalition knows. No
//! test does better (Neyman, Pearson), and what is left along the canary's axis is 1{canary drawn} + z·normal again, z being what
//! own noise and shares are worth against that coalition. Σ is inverted here as it stands, not by the accountant's formulas.

use crate::canary::{DIMENSION, SIGNAL, SILENT};
use crate::error::{AuditError, refused};
use crate::network::VICTIM;
use crate::setting::{NODES, Setting};
use prdo_accounting::pairs::Secrets;
use prdo_privacy::{PairMechanism, Secret, simulated_shares};

/// One run's queries, by round and node.
pub type Queries = [[[f64; DIMENSION]; NODES]];

/// Against whom noise in pairs is tested.
pub const ADVERSARIES: [(&str, &str); 3] = [
    ("pairs-outsiders", "noise multiplier against the best joint test of whoever sees every message"),
    ("pairs-coalition", "the same against a coalition of the agreed size, with all its secrets"),
    ("pairs-all-others", "the same against all others together"),
];
/// The one of them that ε is claimed against.
const AGREED: usize = 1;

/// What can be seen of one run.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// By round: along the canary's axis, as those see it against whom ε is claimed.
    pub signal: Vec<f64>,
    /// By round and node, along the silent axes: independent and of variance 1 under the claim.
    pub noise: Vec<[[f64; 2]; NODES]>,
    /// By round and node: answers with own noise alone, for whoever knows all shares.
    pub own: Vec<[[f64; DIMENSION]; NODES]>,
    /// By round and adversary, along the silent axes: the noise of the best test, of variance 1 under the claim. Nothing
    /// without pairs.
    pub tests: Vec<[[f64; 2]; ADVERSARIES.len()]>,
}

/// A weighted sum of the nodes' answers, less known shares.
#[derive(Clone, Debug, Default)]
pub struct Test {
    weights: [f64; NODES],
    /// By secret: what is taken away of its share.
    known: Vec<f64>,
    /// z_i(A).
    pub multiplier: f64,
}

impl Test {
    /// What it sees of one value of all nodes' answers.
    fn sees(&self, answer: impl Fn(usize) -> f64, share: impl Fn(usize) -> f64) -> f64 {
        let answers: f64 = self.weights.iter().enumerate().map(|(node, weight)| weight * answer(node)).sum();
        let shares: f64 = self.known.iter().enumerate().map(|(pair, known)| known * share(pair)).sum();
        answers - shares
    }

    /// Of whole answers, one per node, and the shares of the same round, one per secret.
    pub fn of(&self, answers: &[Vec<f64>], shares: &[Vec<f64>]) -> Vec<f64> {
        let length = answers.first().map_or(0, Vec::len);
        let at =
            |of: &[Vec<f64>], k: usize, j: usize| of.get(k).and_then(|v| v.get(j)).copied().unwrap_or(0.0);
        (0..length).map(|j| self.sees(|node| at(answers, node, j), |pair| at(shares, pair, j))).collect()
    }
}

/// What is known beforehand of all views of a setting.
#[derive(Clone, Debug)]
pub struct Viewer {
    pairs: Option<Pairs>,
    multiplier: f64,
}

#[derive(Clone, Debug)]
struct Pairs {
    secrets: Vec<(u32, u32)>,
    /// Σ = LLᵀ.
    root: Vec<Vec<f64>>,
    own: [Test; NODES],
    tests: [Test; ADVERSARIES.len()],
}

impl Viewer {
    pub fn new(setting: &Setting) -> Result<Self, AuditError> {
        let pairs = setting.pairs.as_deref().map(Pairs::new).transpose()?;
        Ok(Self { pairs, multiplier: setting.noise_multiplier })
    }

    /// The best test of those against whom ε is claimed, where noise is in pairs.
    pub fn agreed(&self) -> Option<&Test> {
        self.pairs.as_ref().map(|pairs| &pairs.tests[AGREED])
    }

    /// What each of [`ADVERSARIES`] faces; nothing without pairs.
    pub fn multipliers(&self) -> Option<[f64; ADVERSARIES.len()]> {
        self.pairs.as_ref().map(|pairs| pairs.tests.each_ref().map(|test| test.multiplier))
    }

    /// The shares of a run, round after round: one per secret.
    pub fn shares(&self, secret: &Secret, dimension: usize) -> impl Iterator<Item = Vec<Vec<f64>>> + use<> {
        let secrets = self.pairs.as_ref().map_or(&[][..], |pairs| &pairs.secrets);
        let mut streams: Vec<_> =
            secrets.iter().map(|pair| simulated_shares(secret, *pair, dimension)).collect();
        std::iter::from_fn(move || Some(streams.iter_mut().filter_map(Iterator::next).collect()))
    }

    pub fn view(&self, secret: &Secret, queries: &Queries) -> View {
        let Some(pairs) = &self.pairs else { return self.independent(queries) };
        let mut view = View::default();
        for (rows, shares) in queries.iter().zip(self.shares(secret, DIMENSION)) {
            let sees =
                |test: &Test, axis: usize| test.sees(|node| rows[node][axis], |pair| shares[pair][axis]);
            view.signal.push(sees(&pairs.tests[AGREED], SIGNAL));
            view.own.push(std::array::from_fn(|i| std::array::from_fn(|axis| sees(&pairs.own[i], axis))));
            let scaled = |test: &Test| SILENT.map(|axis| sees(test, axis) / test.multiplier);
            view.tests.push(pairs.tests.each_ref().map(scaled));
            view.noise.push(pairs.white(rows));
        }
        view
    }

    fn independent(&self, queries: &Queries) -> View {
        let noise =
            |rows: &[[f64; DIMENSION]; NODES]| rows.map(|row| SILENT.map(|axis| row[axis] / self.multiplier));
        View {
            signal: queries.iter().map(|rows| rows[VICTIM][SIGNAL]).collect(),
            noise: queries.iter().map(noise).collect(),
            own: queries.to_vec(),
            tests: Vec::new(),
        }
    }
}

impl Pairs {
    fn new(mechanism: &PairMechanism) -> Result<Self, AuditError> {
        let secrets = mechanism.secrets().pairs().map(|(a, b)| (a as u32, b as u32)).collect();
        let victims = coalitions(mechanism.colluders()).filter(|coalition| !coalition.contains(&VICTIM));
        let tests =
            victims.map(|coalition| best(mechanism, VICTIM, &coalition)).collect::<Result<Vec<_>, _>>()?;
        let weakest = tests.into_iter().min_by(|a, b| a.multiplier.total_cmp(&b.multiplier));
        let agreed = weakest.ok_or("no coalition of that size").map_err(refused("colluders"))?;
        let others: Vec<usize> = (0..NODES).filter(|node| *node != VICTIM).collect();
        let own = std::array::from_fn(|node| own(mechanism, node));
        let tests = [best(mechanism, VICTIM, &[])?, agreed, best(mechanism, VICTIM, &others)?];
        let all: Vec<usize> = (0..NODES).collect();
        Ok(Self { secrets, root: root(&covariance(mechanism, &all))?, own, tests })
    }

    /// L⁻¹ times the answers, along the silent axes.
    fn white(&self, rows: &[[f64; DIMENSION]; NODES]) -> [[f64; 2]; NODES] {
        let mut white = [[0.0; 2]; NODES];
        for (i, root) in self.root.iter().enumerate() {
            for (k, axis) in SILENT.into_iter().enumerate() {
                let before: f64 = root.iter().zip(&white).take(i).map(|(l, w)| l * w[k]).sum();
                white[i][k] = (rows[i][axis] - before) / root[i];
            }
        }
        white
    }
}

/// By how much more a setting is charged than own noise and shares are worth, against the worst coalition of the agreed size and
/// at the weakest node: at most 1, to rounding.
pub fn charged_over_worth(setting: &Setting) -> Result<Option<f64>, AuditError> {
    let Some(mechanism) = setting.pairs.as_deref() else { return Ok(None) };
    let mut least = f64::INFINITY;
    for coalition in coalitions(mechanism.colluders()) {
        for node in (0..NODES).filter(|node| !coalition.contains(node)) {
            least = least.min(best(mechanism, node, &coalition)?.multiplier);
        }
    }
    Ok(Some(setting.noise_multiplier / least))
}

fn coalitions(size: usize) -> impl Iterator<Item = Vec<usize>> {
    let members = |set: usize| (0..NODES).filter(|node| set >> node & 1 == 1).collect::<Vec<_>>();
    (0..1_usize << NODES).map(members).filter(move |coalition| coalition.len() == size)
}

/// With which sign a node has the share of a secret.
fn sign(node: usize, (a, b): (usize, usize)) -> f64 {
    f64::from(u8::from(node == a)) - f64::from(u8::from(node == b))
}

/// Σ of these nodes' noise, for whoever knows all shares with the others: z_own²·I + z_pair²·L.
fn covariance(mechanism: &PairMechanism, nodes: &[usize]) -> Vec<Vec<f64>> {
    let (own, pair) = (mechanism.pairs().own(), mechanism.pairs().pair());
    let inside = |secrets: &Secrets| -> Vec<(usize, usize)> {
        secrets.pairs().filter(|(a, b)| nodes.contains(a) && nodes.contains(b)).collect()
    };
    let between = inside(mechanism.secrets());
    let entry = |i: usize, j: usize| {
        let shared: f64 = between.iter().map(|secret| sign(i, *secret) * sign(j, *secret)).sum();
        pair * pair * shared + if i == j { own * own } else { 0.0 }
    };
    nodes.iter().map(|i| nodes.iter().map(|j| entry(*i, *j)).collect()).collect()
}

/// The best test of a coalition about a record of `node`.
fn best(mechanism: &PairMechanism, node: usize, coalition: &[usize]) -> Result<Test, AuditError> {
    let outside: Vec<usize> = (0..NODES).filter(|i| !coalition.contains(i)).collect();
    let place = outside.iter().position(|i| *i == node).unwrap_or(0);
    let column = solved(&root(&covariance(mechanism, &outside))?, place);
    let precision = column[place];
    let mut test = Test { multiplier: 1.0 / precision.sqrt(), ..Test::default() };
    for (i, value) in outside.iter().zip(&column) {
        test.weights[*i] = value / precision;
    }
    test.known = known(mechanism, &test.weights, |(a, b)| outside.contains(&a) != outside.contains(&b));
    Ok(test)
}

/// A node's answer without any share.
fn own(mechanism: &PairMechanism, node: usize) -> Test {
    let mut test = Test { multiplier: mechanism.pairs().own(), ..Test::default() };
    test.weights[node] = 1.0;
    test.known = known(mechanism, &test.weights, |_| true);
    test
}

/// How much of each known share is in a weighted sum of answers.
fn known(
    mechanism: &PairMechanism,
    weights: &[f64; NODES],
    is_known: impl Fn((usize, usize)) -> bool,
) -> Vec<f64> {
    let of = |secret: (usize, usize)| {
        let inside =
            weights.iter().enumerate().map(|(node, weight)| weight * sign(node, secret)).sum::<f64>();
        if is_known(secret) { mechanism.pairs().pair() * inside } else { 0.0 }
    };
    mechanism.secrets().pairs().map(of).collect()
}

/// Cholesky: L with LLᵀ = Σ.
fn root(covariance: &[Vec<f64>]) -> Result<Vec<Vec<f64>>, AuditError> {
    let n = covariance.len();
    let mut root = vec![vec![0.0; n]; n];
    for i in 0..n {
        for j in 0..=i {
            let before: f64 = (0..j).map(|k| root[i][k] * root[j][k]).sum();
            let rest = covariance[i][j] - before;
            root[i][j] = if i == j { rest.sqrt() } else { rest / root[j][j] };
        }
        if root[i][i].is_nan() || root[i][i] <= 0.0 {
            return Err(refused("pairs")("their noise has no inverse covariance"));
        }
    }
    Ok(root)
}

/// The column of Σ⁻¹ at `place`.
fn solved(root: &[Vec<f64>], place: usize) -> Vec<f64> {
    let n = root.len();
    let mut x = vec![0.0; n];
    for i in 0..n {
        let before: f64 = (0..i).map(|k| root[i][k] * x[k]).sum();
        x[i] = (f64::from(u8::from(i == place)) - before) / root[i][i];
    }
    for i in (0..n).rev() {
        let after: f64 = (i + 1..n).map(|k| root[k][i] * x[k]).sum();
        x[i] = (x[i] - after) / root[i][i];
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;
    use prdo_algorithm::Method;

    #[test]
    fn the_best_tests_face_what_the_theorem_says() {
        for (colluders, complete) in [(0, true), (1, true), (2, true), (0, false), (1, false)] {
            let setting =
                Setting::every_record(Method::Ed).unwrap().in_pairs(colluders, 3.0, complete).unwrap();
            let mechanism = setting.pairs.clone().unwrap();
            let found = Viewer::new(&setting).unwrap().multipliers().unwrap();
            let worst =
                |colluders| mechanism.pairs().worst(mechanism.secrets(), colluders).unwrap().multiplier;
            let expected = [worst(0), worst(colluders), mechanism.pairs().own()];
            for (found, expected) in found.iter().zip(expected) {
                assert!((found / expected - 1.0).abs() < 1e-12, "{colluders} {complete}: {found} {expected}");
            }
            let over = charged_over_worth(&setting).unwrap().unwrap();
            assert!((over - 1.0).abs() < 1e-12, "{over}");
        }
    }

    #[test]
    fn more_than_the_noise_is_worth_is_seen() {
        let mut setting = Setting::every_record(Method::Ed).unwrap().in_pairs(1, 3.0, true).unwrap();
        setting.noise_multiplier *= 1.01;
        assert!(charged_over_worth(&setting).unwrap().unwrap() > 1.009);
    }
}
