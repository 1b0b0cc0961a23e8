//! What a run promises, in plain words and formally.

use crate::against::{against, price};
use crate::wording::short;
use prdo_accounting::Method as Accounting;
use prdo_store::{Guarantee, MapOf, OwnClip, PairFacts};

#[derive(Clone, Debug)]
pub struct Statement {
    /// `None` is ε = ∞.
    pub guarantee: Option<Guarantee>,
    pub rounds: u64,
    /// With any, the runs are simulations.
    pub seeds: Vec<u64>,
    pub clip: Option<(f64, f64)>,
    /// γ, for methods that use same-record differences.
    pub gamma: Option<f64>,
    /// What is clipped in another way.
    pub own_clip: Option<OwnClip>,
    /// Whether a program's own method asked: the gates knew what, this statement does not.
    pub own_method: bool,
    /// Of noise in pairs.
    pub pairs: Option<StatedPairs>,
}

/// Against whom noise in pairs is, and what is known of it.
#[derive(Clone, Debug)]
pub struct StatedPairs {
    pub colluders: usize,
    /// Nothing before the run is finished.
    pub facts: Option<PairFacts>,
}

/// How a paragraph of a statement is to be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Plain,
    /// The same, with the table of what coalitions learn beneath it.
    Coalitions,
    /// For those who check.
    Formal,
    /// Must not be overlooked.
    Warning,
}

/// What is said about a feature map: what it costs, and which one it is. A table's ranges come from whoever wrote them.
pub fn features_note(map: MapOf, description: &str, hash: &str) -> String {
    let cost = match map {
        MapOf::Table => {
            "The feature map is what the run file says of each column. It costs no privacy if its ranges are publicly known \
             limits; ranges read from the records, as `prdo new` writes them, are not covered by ε"
        }
        MapOf::Images => {
            "The feature map is made of public constants: nothing in it was computed from records, so it costs no privacy"
        }
    };
    format!("{cost} ({description}; hash {hash}).")
}

fn accountant(accounting: Accounting) -> &'static str {
    match accounting {
        Accounting::Numerical => {
            "the exact privacy loss of the composition, by a contour integral with proven error; ε is its upper bound"
        }
        Accounting::Renyi => "Rényi differential privacy at the best real order with the improved conversion",
        Accounting::Paper => {
            "Rényi differential privacy at integer orders with the conversion ε_a + log(1/δ)/(a−1)"
        }
    }
}

/// How contributions are clipped, and the sensitivity that follows.
fn clipping((c_g, c_d): (f64, f64), gamma: Option<f64>, own_clip: Option<OwnClip>) -> String {
    let sensitivity = |gamma: f64| gamma * c_g + (1.0 - gamma) * c_d;
    match (own_clip, gamma) {
        (Some(OwnClip::Movement { kappa }), Some(gamma)) => format!(
            "clipped at C_g = {c_g} (gradients) and at {kappa}·‖x − x₋‖ (same-record differences; how far the node moved since \
             the round before, which is public), giving the sensitivity γC_g + (1−γ)·{kappa}·‖x − x₋‖ with γ = {gamma}"
        ),
        (Some(OwnClip::Movement { .. }), None) => format!(
            "clipped at C_g = {c_g} (gradients) and at κ‖x − x₋‖ (same-record differences; how far the node moved since the \
             round before, which is public), which are the sensitivities of these releases"
        ),
        (Some(OwnClip::Scaled { clip }), _) => format!(
            "clipped at C_g = {c_g} (gradients) and at C₂ = {clip} (gradients divided by what earlier releases say of each \
             coordinate's size), which are the sensitivities of these releases, each in its own coordinates"
        ),
        (Some(OwnClip::Combined), Some(gamma)) => format!(
            "clipped as one sum of gradient and same-record difference, at the sensitivity S_γ = γC_g + (1−γ)C_Δ = {:.4} per \
             record against C_g = {c_g} for Exact Diffusion",
            sensitivity(gamma)
        ),
        (None, Some(gamma)) if gamma < 1.0 => format!(
            "clipped at C_g = {c_g} (gradients) and C_Δ = {c_d} (same-record differences), giving the sensitivity \
             S_γ = γC_g + (1−γ)C_Δ = {:.4} per record against C_g = {c_g} for Exact Diffusion",
            sensitivity(gamma)
        ),
        (Some(OwnClip::Combined), None) | (None, _) => format!("clipped at C_g = {c_g}"),
    }
}

pub fn statement(s: &Statement) -> Vec<(String, Tone)> {
    let Some(g) = s.guarantee else {
        return vec![(
            "Not private: ε = ∞. Messages were computed from the records without noise, so anyone who sees them \
             may learn about single records. Add a [privacy] section to the run file to protect them."
                .to_string(),
            Tone::Warning,
        )];
    };
    let (c_g, c_d) = s.clip.unwrap_or((f64::NAN, f64::NAN));
    let clipping = match s.own_method {
        true => format!(
            "clipped at C_g = {c_g} (gradients) and, where its program's method asks for them, at C_Δ = {c_d} (same-record \
             differences) or by what it asks; the gates derived each release's sensitivity from what was asked"
        ),
        false => clipping((c_g, c_d), s.gamma, s.own_clip),
    };
    let mut paragraphs = vec![
        (
            format!(
                "Seeded simulation: not private. All draws come from the seed{} {}; whoever knows it can recompute \
                 the noise and subtract it. What follows is what the same run with secret draws would promise.",
                if s.seeds.len() > 1 { "s" } else { "" },
                s.seeds.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
            ),
            Tone::Warning,
        ),
        (protection(g, s.pairs.as_ref()), Tone::Plain),
    ];
    let price = s.pairs.as_ref().map(|pairs| price(pairs.colluders, pairs.facts.as_ref()));
    paragraphs.extend(price.map(|price| (price, Tone::Coalitions)));
    paragraphs.extend([
        (
            format!(
                "Formally: {} Mechanism: Poisson sampling at rate {:.6} (first release {:.6}), per-record \
                 contributions {clipping}, exact integer sum, {} Accountant: {}.",
                observer(s),
                g.rate,
                g.first_rate,
                noise(g, s.pairs.as_ref()),
                accountant(g.accounting)
            ),
            Tone::Formal,
        ),
        (
            "Not protected: that a node takes part, how many records it may hold, the graph, the settings and when \
             messages are sent. The losses, gradient norms and clipping fractions in this report were computed \
             from the records without noise: with real records, do not publish them."
                .to_string(),
            Tone::Plain,
        ),
    ]);
    paragraphs
}

/// What ε means, and for whom.
fn protection(g: Guarantee, pairs: Option<&StatedPairs>) -> String {
    let (factor, epsilon, delta) = (g.epsilon.exp(), short(g.epsilon, 4), g.delta);
    let Some(pairs) = pairs else {
        return format!(
            "Each single record is protected: whether it is in or out of its node's data changes the \
             probability of anything that can be seen in the messages by at most a factor e^ε = {factor:.2} \
             (ε = {epsilon}), except with probability δ = {delta:e}. A factor of 1 would mean that nobody can tell; the \
             larger it is, the more an observer may learn."
        );
    };
    let together = match pairs.colluders {
        0 => "in the messages, all of them,".to_string(),
        1 => "in all messages together with what any one other member knows".to_string(),
        c => format!("in all messages together with what any {c} other members know"),
    };
    format!(
        "Each single record is protected against {}: whether it is in or out of its node's data changes the probability of \
         anything that can be seen {together} by at most a factor e^ε = {factor:.2} (ε = {epsilon}), except with probability \
         δ = {delta:e}. A factor of 1 would mean that nobody can tell; the larger it is, the more they may learn.",
        against(pairs.colluders)
    )
}

/// What is private, and who looks.
fn observer(s: &Statement) -> String {
    let rounds = s.rounds;
    match s.pairs.as_ref().map(|pairs| pairs.colluders) {
        None => format!(
            "(ε, δ)-differential privacy of the complete transcript for add/remove adjacency of one record at one node. \
             Observer: everyone who reads every message on every edge in all {rounds} rounds, and any curious node."
        ),
        Some(colluders) => {
            let view = match colluders {
                0 => "No member is among the observers; what a member learns is in the table's later rows."
                    .to_string(),
                1 => "They may know all records, noise and secrets of any one node but the record's own."
                    .to_string(),
                c => format!(
                    "They may know all records, noise and secrets of any {c} nodes but the record's own."
                ),
            };
            format!(
                "(ε, δ)-differential privacy of the complete transcript for add/remove adjacency of one record at one node, \
                 computational in the shares, which a pseudo-random generator draws. Observer: everyone who reads every \
                 message on every edge in all {rounds} rounds. {view}"
            )
        }
    }
}

/// What is added to the sum.
fn noise(g: Guarantee, pairs: Option<&StatedPairs>) -> String {
    let z = g.noise_multiplier;
    match pairs {
        None => format!("Gaussian noise of multiplier z = {z:.6}."),
        Some(StatedPairs { facts: None, .. }) => {
            format!("Gaussian noise in pairs that is worth the multiplier z = {z:.6} against them.")
        }
        Some(StatedPairs { facts: Some(facts), .. }) => format!(
            "Gaussian noise of multiplier {:.6} of each node's own and shares of multiplier {:.6} between {}, added and rounded \
             once: against these observers worth z = {z:.6}, the least over all coalitions and all nodes outside.",
            facts.own_multiplier,
            facts.pair_multiplier,
            if facts.complete { "all pairs of nodes" } else { "nodes that are linked" }
        ),
    }
}
