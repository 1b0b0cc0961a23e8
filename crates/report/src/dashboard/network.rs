//! The picture of a network for the page: where each node is drawn, and its edges.

use super::member::{Homes, Members};
use super::reading::stamp;
use prdo_algorithm::graph::{Graph, GraphFamily, positions};
use prdo_runfile::{Document, Key, wiring};
use prdo_store::names;
use serde_json::{Value as Json, json};
use std::path::Path;

/// Of more edges a sample is drawn.
const EDGES: usize = 20_000;
/// Up to so many nodes, a picture is worth its while.
const NODES: usize = 20_000;

/// Up to so many members have their names beside them.
const NAMED: usize = 60;

pub(super) fn of_run(document: &Document) -> Json {
    match wiring(&document.run_file(), None) {
        Ok(wiring) => {
            let mut picture = picture(wiring.kind, &wiring.graph);
            picture["kind"] = wiring.kind.map(|kind| kind.to_string()).into();
            picture["lambda"] = document.float(Key::ResolvedLambda).into();
            let names = document.texts(Key::ResolvedNodeNames);
            if let Some(names) = names.filter(|names| names.len() == wiring.graph.nodes()) {
                picture["names"] = names.into();
            }
            picture
        }
        Err(error) => json!({ "problem": format!("the network cannot be drawn: {error}") }),
    }
}

/// The members of the agreement in a node's home.
pub(super) fn of_members(home: &Path, homes: Option<Homes>) -> Json {
    let Some(homes) = homes.filter(|_| stamp(&home.join(names::AGREEMENT)).is_some()) else {
        return Json::Null;
    };
    match (homes.members)(home) {
        Ok(Members { names, graph }) => {
            // Names are best read around a circle.
            let mut picture = picture(Some(GraphFamily::Ring).filter(|_| names.len() <= NAMED), &graph);
            picture["names"] = names.into();
            picture["members"] = true.into();
            picture
        }
        Err(error) => json!({ "problem": format!("the network cannot be drawn: {error}") }),
    }
}

fn picture(kind: Option<GraphFamily>, graph: &Graph) -> Json {
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
