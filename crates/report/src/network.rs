//! The network's picture.

use prdo_algorithm::graph::{Spectrum, positions};
use prdo_plot::{Figure, Network};
use prdo_runfile::Wiring;

const LETTERS: usize = 24;

/// The graph drawn, with λ and the spectral gap; `names` are those of its nodes, where they have any.
pub fn network_figure(wiring: &Wiring, spectrum: &Spectrum, names: Option<&[String]>) -> Figure {
    let graph = &wiring.graph;
    let name = wiring.kind.map_or("graph from a file".to_string(), |kind| kind.to_string());
    let caption = format!(
        "{} nodes, {} edges, λ = {:.6}, spectral gap {:.2e}",
        graph.nodes(),
        graph.edges(),
        spectrum.lambda,
        spectrum.spectral_gap
    );
    let edges = graph.pairs().collect();
    let mut picture = Network::new(name, positions(wiring.kind, graph), edges).caption(caption);
    if graph.nodes() <= 40 {
        picture = picture.labels(match names.filter(|names| names.len() == graph.nodes()) {
            Some(names) => names.iter().map(|name| shortened(name)).collect(),
            None => (0..graph.nodes()).map(|i| i.to_string()).collect(),
        });
    }
    Figure::of(picture)
}

/// A name that leaves room for the picture.
fn shortened(name: &str) -> String {
    match name.chars().count() > LETTERS {
        true => name.chars().take(LETTERS - 1).chain(['…']).collect(),
        false => name.to_string(),
    }
}
