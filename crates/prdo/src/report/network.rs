//! The network's picture.

use crate::config::Wiring;
use crate::plot::{Figure, Network};
use prdo_algorithm::graph::{Spectrum, positions};

/// The graph drawn, with λ and the spectral gap.
pub fn network_figure(wiring: &Wiring, spectrum: &Spectrum) -> Figure {
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
        picture = picture.labels((0..graph.nodes()).map(|i| i.to_string()).collect());
    }
    Figure::of(picture)
}
