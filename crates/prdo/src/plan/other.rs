//! What another budget, size or topology would change, all else as it is.

use super::PlanError;
use super::calibrate::{Calibrator, is_exact};
use super::case::Case;
use super::choice::{Choice, choose, first_batch};
use super::judge::{Judged, judge};
use prdo_algorithm::graph::{Graph, GraphFamily, Mixing, Parameters, Spectrum, Weights};

#[derive(Clone, Copy, Debug)]
pub struct Family {
    pub kind: GraphFamily,
    pub parameters: Parameters,
    pub weights: Weights,
    /// Whether W is (I+W)/2.
    pub lazy: bool,
}

#[derive(Clone, Debug)]
pub struct Change {
    pub what: String,
    pub lambda: f64,
    pub judged: Judged,
}

/// Larger graphs than this are not built to see what they would be like.
const MOST_NODES: u64 = 2048;

impl Family {
    /// λ with this many nodes; `None` where there is no such graph, or W is indefinite.
    fn lambda(&self, nodes: u64) -> Option<f64> {
        if nodes > MOST_NODES {
            return None;
        }
        let graph = Graph::build(self.kind, nodes as usize, &self.parameters).ok()?;
        let mixing = Mixing::new(&graph, self.weights, self.lazy).ok()?;
        Some(lambda(&mixing.check(false).ok()?))
    }

    fn plain(kind: GraphFamily) -> Self {
        let (weights, lazy) = match kind {
            GraphFamily::Ring => (Weights::Paper, false),
            // Metropolis weights 1/n are the average itself: λ = 0 without being lazy.
            GraphFamily::Complete => (Weights::Metropolis, false),
            _ => (Weights::Metropolis, true),
        };
        Self { kind, parameters: Parameters::default(), weights, lazy }
    }
}

/// λ as the theory takes it: what rounding made of the zero of a complete graph is zero.
pub fn lambda(spectrum: &Spectrum) -> f64 {
    if spectrum.lambda < 1e-14 { 0.0 } else { spectrum.lambda }
}

/// The changes that apply. One that has no answer is left out. If the exact accountant would take long for one of
/// them, all have the Rényi accountant's z, so that they can be compared.
pub fn changes(
    case: &Case,
    choice: &Choice,
    family: Option<&Family>,
    calibrator: &mut Calibrator,
) -> Result<Vec<Change>, PlanError> {
    let variants = variants(case, family);
    let quick = |case: &Case| first_batch(case, choice.first_batch).is_ok_and(|first| is_exact(case, first));
    let mut by_renyi = Calibrator::by_renyi();
    let calibrator = match variants.iter().all(|(_, case)| quick(case)) && quick(case) {
        true => calibrator,
        false => &mut by_renyi,
    };
    let mut all = vec![row("as it is".into(), case, choice, calibrator)?];
    for (what, changed) in variants {
        all.extend(row(what, &changed, choice, calibrator).ok());
    }
    Ok(all)
}

fn row(what: String, case: &Case, choice: &Choice, calibrator: &mut Calibrator) -> Result<Change, PlanError> {
    let setting = choose(case, choice)?;
    Ok(Change { what, lambda: case.lambda, judged: judge(case, &setting, calibrator)? })
}

fn variants(case: &Case, family: Option<&Family>) -> Vec<(String, Case)> {
    let mut all = Vec::new();
    if let Some((epsilon, _)) = case.budget() {
        for (what, factor) in [("½", 0.5), ("2", 2.0)] {
            let epsilon = epsilon * factor;
            all.push((format!("{what}ε = {epsilon}"), case.clone().with_epsilon(epsilon)));
        }
    }
    if let Some(slots) = case.slots.filter(|_| case.budget().is_some()) {
        for (what, factor) in [("2", 2), ("10", 10)] {
            let slots = slots.saturating_mul(factor);
            all.push((format!("{what}N = {slots}"), Case { slots: Some(slots), ..case.clone() }));
        }
    }
    let nodes = case.nodes.saturating_mul(2);
    if let Some(lambda) = family.and_then(|family| family.lambda(nodes)) {
        all.push((format!("2n = {nodes}"), Case { nodes, lambda, ..case.clone() }));
    }
    for kind in [GraphFamily::Complete, GraphFamily::Ring, GraphFamily::Torus, GraphFamily::Hypercube] {
        let same = family.is_some_and(|family| family.kind == kind && kind != GraphFamily::Complete);
        let other = Family::plain(kind).lambda(case.nodes).filter(|_| !same);
        if let Some(lambda) = other.filter(|lambda| (lambda - case.lambda).abs() > 1e-12) {
            all.push((kind.to_string(), Case { lambda, ..case.clone() }));
        }
    }
    all
}
