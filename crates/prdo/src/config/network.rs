//! The run file's `[graph]` section as a graph and a mixing matrix.

use super::document::Document;
use super::place::ConfigError;
use prdo_algorithm::graph::{Graph, Kind, Mixing, Network, Parameters, Weights, parse_network};

/// Who talks to whom, and with which weights.
#[derive(Clone, Debug)]
pub struct Wiring {
    /// The family, unless the graph came from a file.
    pub kind: Option<Kind>,
    /// The edges.
    pub graph: Graph,
    /// W, not yet checked.
    pub mixing: Mixing,
    /// How W was made, in words.
    pub weights: String,
    /// The rule and whether it is lazy, unless W came from a file.
    pub rule: Option<(Weights, bool)>,
}

/// Builds the network. `nodes` is the number of nodes that the data fixes, if it does.
pub fn wiring(document: &Document, nodes: Option<usize>) -> Result<Wiring, ConfigError> {
    let kind = document.text("graph.kind").unwrap_or_default();
    if kind == "file" {
        return from_file(document);
    }
    if let Some(place) = document.place("graph.file") {
        let message = format!("graph.file is given but graph.kind is {kind:?}: it must be \"file\"");
        return Err(ConfigError::at(place, message));
    }
    let given = document.integer("graph.nodes").map(|n| n as usize);
    let n = given.or(nodes).ok_or_else(|| document.missing("graph.nodes"))?;
    let kind: Kind = kind.parse().map_err(|e| document.error("graph.kind", format!("graph.kind: {e}")))?;
    let parameters = Parameters {
        probability: document.float("graph.probability"),
        degree: document.integer("graph.degree").map(|k| k as usize),
        seed: document.integer("graph.seed").unwrap_or(1),
    };
    let graph = Graph::build(kind, n, &parameters).map_err(|e| {
        let field = ["graph.probability", "graph.degree"].into_iter().find(|f| document.has(f));
        document.error(field.unwrap_or("graph.nodes"), format!("graph: {e}"))
    })?;
    weigh(document, Some(kind), graph)
}

fn weigh(document: &Document, kind: Option<Kind>, graph: Graph) -> Result<Wiring, ConfigError> {
    let default = if kind == Some(Kind::Ring) { "paper" } else { "metropolis" };
    let name = document.text("graph.weights").unwrap_or_else(|| default.to_string());
    let weights: Weights =
        name.parse().map_err(|e| document.error("graph.weights", format!("graph.weights: {e}")))?;
    let lazy = document.flag("graph.lazy").unwrap_or(weights != Weights::Paper);
    let mixing = Mixing::new(&graph, weights, lazy)
        .map_err(|e| document.error("graph.weights", format!("graph.weights: {e}")))?;
    let rule = Some((weights, lazy));
    let weights = format!("{name}{}", if lazy { ", lazy" } else { "" });
    Ok(Wiring { kind, graph, mixing, weights, rule })
}

fn from_file(document: &Document) -> Result<Wiring, ConfigError> {
    let path = document.file("graph.file").ok_or_else(|| document.missing("graph.file"))?;
    let refuse =
        |what: String| document.error("graph.file", format!("graph.file {}: {what}", path.display()));
    let bytes = std::fs::read(&path).map_err(|e| refuse(format!("cannot read it: {e}")))?;
    let text = String::from_utf8(bytes).map_err(|_| refuse("it is not UTF-8 text".into()))?;
    let wiring = match parse_network(&text).map_err(|e| refuse(e.to_string()))? {
        Network::Graph(graph) => weigh(document, None, graph)?,
        Network::Mixing(mixing) => {
            if document.has("graph.weights") || document.has("graph.lazy") {
                let field = if document.has("graph.weights") { "graph.weights" } else { "graph.lazy" };
                return Err(
                    document.error(field, format!("{field} is given but the file has weights of its own"))
                );
            }
            Wiring {
                kind: None,
                graph: mixing.support(),
                mixing,
                weights: "from the file".into(),
                rule: None,
            }
        }
    };
    match document.integer("graph.nodes") {
        Some(n) if n as usize != wiring.graph.nodes() => Err(document.error(
            "graph.nodes",
            format!("graph.nodes = {n} but {} has {} nodes", path.display(), wiring.graph.nodes()),
        )),
        _ => Ok(wiring),
    }
}
