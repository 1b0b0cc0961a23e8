//! The run file's `[graph]` section as a graph and a mixing matrix.

use crate::graph::GraphKind;
use crate::place::ConfigError;
use crate::run_file::RunFile;
use crate::schema::Key;
use prdo_algorithm::graph::{Graph, GraphFamily, Mixing, Network, Weights, parse_network};

/// Who talks to whom, and with which weights.
#[derive(Clone, Debug)]
pub struct Wiring {
    /// The family, unless the graph came from a file.
    pub kind: Option<GraphFamily>,
    pub graph: Graph,
    /// W, not yet checked.
    pub mixing: Mixing,
    /// How W was made, in words.
    pub weights: String,
    /// The rule and whether it is lazy, unless W came from a file.
    pub rule: Option<(Weights, bool)>,
}

/// Builds the network. `nodes` is the number of nodes that the data fixes, if it does.
pub fn wiring(run: &RunFile, nodes: Option<usize>) -> Result<Wiring, ConfigError> {
    let GraphKind::Family(kind) = run.graph.kind else { return from_file(run) };
    if let Some(place) = run.place(Key::GraphFile) {
        let message = format!("graph.file is given but graph.kind is {:?}: it must be \"file\"", kind.name());
        return Err(ConfigError::at(place, message));
    }
    let n = run.graph.nodes.or(nodes).ok_or_else(|| run.missing(Key::GraphNodes))?;
    let graph = Graph::build(kind, n, &run.graph.parameters).map_err(|e| {
        let field = [Key::GraphProbability, Key::GraphDegree].into_iter().find(|key| run.has(*key));
        run.error(field.unwrap_or(Key::GraphNodes), format!("graph: {e}"))
    })?;
    weigh(run, Some(kind), graph)
}

fn weigh(run: &RunFile, kind: Option<GraphFamily>, graph: Graph) -> Result<Wiring, ConfigError> {
    let (weights, lazy) = run.graph.rule(kind);
    let mixing = Mixing::new(&graph, weights, lazy)
        .map_err(|e| run.error(Key::GraphWeights, format!("{}: {e}", Key::GraphWeights)))?;
    let rule = Some((weights, lazy));
    let weights = format!("{weights}{}", if lazy { ", lazy" } else { "" });
    Ok(Wiring { kind, graph, mixing, weights, rule })
}

fn from_file(run: &RunFile) -> Result<Wiring, ConfigError> {
    let path = run.graph.file.as_ref().ok_or_else(|| run.missing(Key::GraphFile))?;
    let refuse =
        |what: String| run.error(Key::GraphFile, format!("{} {}: {what}", Key::GraphFile, path.display()));
    let bytes = std::fs::read(path).map_err(|e| refuse(format!("cannot read it: {e}")))?;
    let text = String::from_utf8(bytes).map_err(|_| refuse("it is not UTF-8 text".into()))?;
    let wiring = match parse_network(&text).map_err(|e| refuse(e.to_string()))? {
        Network::Graph(graph) => weigh(run, None, graph)?,
        Network::Mixing(mixing) => {
            if let Some(key) = [Key::GraphWeights, Key::GraphLazy].into_iter().find(|key| run.has(*key)) {
                return Err(run.error(key, format!("{key} is given but the file has weights of its own")));
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
    match run.graph.nodes {
        Some(n) if n != wiring.graph.nodes() => Err(run.error(
            Key::GraphNodes,
            format!("graph.nodes = {n} but {} has {} nodes", path.display(), wiring.graph.nodes()),
        )),
        _ => Ok(wiring),
    }
}
