//! What is known of z_i(A) for all coalitions of a size at once.

use super::Pairs;
use super::secrets::Secrets;
use crate::rounding::U;

/// A node with shares towards `members − 1` honest others: z_own·√((1 + m·r)/(1 + r)), r = (z_pair/z_own)².
///
/// Exact for secrets between all pairs, where the other honest nodes are alike and exchange no current
/// (the module's doc of `network`). A lower bound for all others: leaving secrets out lowers z_i, by Rayleigh's law.
///
/// # Guarantee
/// Never above that value as a real number, and at least z_own: rounding is at most 5 units of 2⁻⁵³, of which 8 are taken off.
pub(super) fn star(pairs: &Pairs, members: usize) -> f64 {
    let (own, shared) = (pairs.own * pairs.own, pairs.pair * pairs.pair);
    let ratio = (own + members as f64 * shared) / (own + shared);
    (pairs.own * ratio.sqrt() * (1.0 - 8.0 * U)).max(pairs.own)
}

/// A lower bound on z_i for every node and every coalition of so many, without listing them: the better of
///
/// * the star of the honest neighbours, at least the least degree − c of them;
/// * 1/z² ≤ (1/m)/z_own² + (1 − 1/m)/(z_own² + (λ₂ − c)·z_pair²), m = n − c, λ₂ of the Laplacian of all secrets, if λ₂ > c.
///   The constant vector has weight 1/m at every node, and removing a node lowers λ₂ by at most one (Fiedler).
///
/// # Guarantee
/// Never above the least z_i(A) over all |A| = c and i ∉ A.
pub(super) fn without_listing(pairs: &Pairs, secrets: &Secrets, colluders: usize, second: f64) -> f64 {
    let members = 1 + secrets.weakest().1.saturating_sub(colluders);
    star(pairs, members).max(spectral(pairs, secrets.nodes() - colluders, second - colluders as f64))
}

/// The second bound; 0 where it does not hold.
fn spectral(pairs: &Pairs, members: usize, least: f64) -> f64 {
    if least.is_nan() || least <= 0.0 {
        return 0.0;
    }
    let (own, shared, m) = (pairs.own * pairs.own, pairs.pair * pairs.pair, members as f64);
    // own/(1/m + (1 − 1/m)·own/(own + least·shared)), with 1 − 1/m as (m − 1)/m: positive terms only.
    let share = own / (own + least * shared);
    let inverse = (1.0 + (m - 1.0) * share) / m;
    pairs.own * inverse.sqrt().recip() * (1.0 - 16.0 * U)
}

/// A lower bound on λ₂, the second smallest eigenvalue of the Laplacian of the secrets (how well they connect): what no c
/// below it can cut. 0 where there is none above rounding.
///
/// # Guarantee
/// Never above λ₂. L + 11ᵀ has the eigenvalues λ₂, …, λ_n and n, and all its entries are small whole numbers. Where Cholesky's
/// factorisation of L + 11ᵀ − s·I runs to its end, no eigenvalue of the matrix as rounded is below
/// −γ/(1−γ)·trace with γ = (n+1)u/(1−(n+1)u) (Demmel; Higham, *Accuracy and Stability*, theorem 10.3); rounding
/// the diagonal moves eigenvalues by at most u times its largest entry. Four times that much is taken off.
pub(super) fn least_second_eigenvalue(secrets: &Secrets) -> f64 {
    let n = secrets.nodes();
    if secrets.is_complete() {
        return n as f64;
    }
    let mut matrix = vec![1.0; n * n];
    for i in 0..n {
        matrix[i * n + i] += secrets.degree(i) as f64;
    }
    for (i, j) in secrets.pairs() {
        matrix[i * n + j] -= 1.0;
        matrix[j * n + i] -= 1.0;
    }
    let trace: f64 = (0..n).map(|i| matrix[i * n + i]).sum();
    let margin = 4.0 * (n as f64 + 2.0) * U * trace;
    let (mut holds, mut fails) = (0.0, n as f64);
    // λ₂ of sparse secrets is small: equal factors would be no better, as only λ₂ above 1 is ever of use.
    for _ in 0..24 {
        let middle = 0.5 * (holds + fails);
        if is_positive_definite(&matrix, n, middle) {
            holds = middle;
        } else {
            fails = middle;
        }
    }
    (holds - margin).max(0.0)
}

/// Whether Cholesky's factorisation of the matrix minus `shift` times the identity runs to its end.
fn is_positive_definite(matrix: &[f64], n: usize, shift: f64) -> bool {
    let mut factor = matrix.to_vec();
    for i in 0..n {
        factor[i * n + i] -= shift;
    }
    for k in 0..n {
        let (above, rest) = factor.split_at_mut(k * n);
        let row = &mut rest[..n];
        for earlier in above.chunks_exact(n) {
            let scale = earlier[k];
            row[k..].iter_mut().zip(&earlier[k..]).for_each(|(x, r)| *x -= scale * r);
        }
        if row[k].is_nan() || row[k] <= 0.0 {
            return false;
        }
        let root = row[k].sqrt();
        row[k..].iter_mut().for_each(|x| *x /= root);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn circulant(nodes: usize, reach: usize) -> Secrets {
        let near = (0..nodes).flat_map(|i| (1..=reach).map(move |k| (i, (i + k) % nodes)));
        Secrets::between(nodes, near).unwrap()
    }

    #[test]
    fn the_second_eigenvalue_is_found_from_below() {
        for (nodes, reach) in [(5, 1), (10, 1), (30, 3), (64, 20)] {
            let angle = 2.0 * std::f64::consts::PI / nodes as f64;
            let exact: f64 = (1..=reach).map(|k| 2.0 - 2.0 * (angle * k as f64).cos()).sum();
            let found = least_second_eigenvalue(&circulant(nodes, reach));
            assert!(found <= exact && found > exact - 1e-5, "{nodes} {reach}: {found} {exact}");
        }
        assert_eq!(least_second_eigenvalue(&Secrets::complete(7).unwrap()), 7.0);
        let apart = Secrets::between(6, [(0, 1), (1, 2), (3, 4), (4, 5)]).unwrap();
        assert_eq!(least_second_eigenvalue(&apart), 0.0);
    }

    #[test]
    fn each_bound_is_the_better_one_somewhere() {
        let (few, many) = (Pairs::new(1.0, 1.0).unwrap(), Pairs::new(1.0, 100.0).unwrap());
        let (far, near) = (circulant(16, 6), circulant(16, 3));
        let of = |pairs, secrets: &Secrets, c: usize| {
            let second = least_second_eigenvalue(secrets) - c as f64;
            (star(pairs, 1 + secrets.weakest().1 - c), spectral(pairs, secrets.nodes() - c, second))
        };
        let (by_star, by_spectrum) = of(&many, &far, 2);
        assert!(by_star < by_spectrum, "{by_star} {by_spectrum}");
        assert!(of(&few, &near, 2).1 < of(&few, &near, 2).0 && of(&few, &near, 5).1 == 0.0);
    }

    proptest! {
        #[test]
        fn bounds_hold_for_every_coalition(
            kept in prop::collection::vec(prop::bool::weighted(0.8), 28), ln_ratio in -3.0_f64..10.0, colluders in 0_usize..6,
        ) {
            let all = (0..8).flat_map(|i| (i + 1..8).map(move |j| (i, j)));
            let edges: Vec<_> = all.zip(kept).filter(|(_, kept)| *kept).map(|(edge, _)| edge).collect();
            let secrets = Secrets::between(8, edges).unwrap();
            let pairs = Pairs::new(1.0, f64::exp(0.5 * ln_ratio)).unwrap();
            let exact = pairs.worst(&secrets, colluders).unwrap().multiplier;
            let bound = without_listing(&pairs, &secrets, colluders, least_second_eigenvalue(&secrets));
            prop_assert!(bound <= exact * (1.0 + 1e-13) && bound >= pairs.own(), "{} {}", bound, exact);
        }
    }
}
