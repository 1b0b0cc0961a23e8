//! The picture of a network for the page: where each node is drawn, and its edges.

use super::reading::stamp;
use crate::config::{Document, wiring};
use crate::node::prepare::{AGREEMENT, read_agreement};
use prdo_algorithm::graph::{Graph, Kind, positions};
use serde_json::{Value as Json, json};
use std::path::Path;

/// Of more edges a sample is drawn.
const EDGES: usize = 20_000;
/// Up to so many nodes, a picture is worth its while.
const NODES: usize = 20_000;

/// Up to so many members have their names beside them.
const NAMED: usize = 60;

/// The network of a run file.
pub(super) fn of_run(document: &Document) -> Json {
    match wiring(document, None) {
        Ok(wiring) => {
            let mut picture = picture(wiring.kind, &wiring.graph);
            picture["kind"] = wiring.kind.map(|kind| kind.to_string()).into();
            picture["lambda"] = document.float("resolved.lambda").into();
            let names = document.texts("resolved.node_names");
            if let Some(names) = names.filter(|names| names.len() == wiring.graph.nodes()) {
                picture["names"] = names.into();
            }
            picture
        }
        Err(error) => json!({ "problem": format!("the network cannot be drawn: {error}") }),
    }
}

/// The members of the agreement in a node's home.
pub(super) fn of_members(home: &Path) -> Json {
    if stamp(&home.join(AGREEMENT)).is_none() {
        return Json::Null;
    }
    let agreement = match read_agreement(home) {
        Ok(agreement) => agreement,
        Err(error) => return json!({ "problem": format!("the network cannot be drawn: {error}") }),
    };
    let terms = agreement.terms();
    let names: Vec<&str> = terms.members.iter().map(|member| member.name.as_str()).collect();
    let count = terms.members.len();
    let edges = (0..count).flat_map(|i| agreement.neighbours(i).into_iter().map(move |j| (i, j)));
    match Graph::from_edges(count, edges.filter(|(i, j)| i < j)) {
        Ok(graph) => {
            // Names are best read around a circle.
            let mut picture = picture(Some(Kind::Ring).filter(|_| count <= NAMED), &graph);
            picture["names"] = names.into();
            picture["members"] = true.into();
            picture
        }
        Err(error) => json!({ "problem": format!("the network cannot be drawn: {error}") }),
    }
}

fn picture(kind: Option<Kind>, graph: &Graph) -> Json {
    let (nodes, edges) = (graph.nodes(), graph.edges());
    if nodes > NODES {
        return json!({ "nodes": nodes, "edges": edges, "problem": format!("{nodes} nodes are too many for a picture") });
    }
    let every = edges.div_ceil(EDGES).max(1);
    let drawn: Vec<usize> = graph.pairs().step_by(every).flat_map(|(i, j)| [i, j]).collect();
    let short = |x: f64| (x * 1e4).round() / 1e4;
    let places = positions(kind, graph);
    json!({
        "nodes": nodes,
        "edges": edges,
        "every": every,
        "x": places.iter().map(|p| short(p.0)).collect::<Vec<_>>(),
        "y": places.iter().map(|p| short(p.1)).collect::<Vec<_>>(),
        "pairs": drawn,
    })
}
