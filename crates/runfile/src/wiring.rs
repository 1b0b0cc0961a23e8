//! The run file's `[graph]` section as a graph and its mixing matrices.

use crate::graph::GraphKind;
use crate::place::ConfigError;
use crate::run_file::RunFile;
use crate::schema::Key;
use prdo_algorithm::graph::{Arcs, Graph, GraphFamily, Mixing, Mixings, Network, Weights, parse_network};
use std::path::Path;

/// Who talks to whom, and with which weights.
#[derive(Clone, Debug)]
pub struct Wiring {
    /// The family, unless the graph came from a file.
    pub kind: Option<GraphFamily>,
    /// Who ever hears whom, in either direction.
    pub graph: Graph,
    /// W, or the matrices that take turns; not yet checked.
    pub mixing: Mixings,
    /// How W was made, in words.
    pub weights: String,
    /// The rule and whether it is lazy, unless W came from a file.
    pub rule: Option<(Weights, bool)>,
}

/// Builds the network. `nodes` is the number of nodes that the data fixes, if it does.
pub fn wiring(run: &RunFile, nodes: Option<usize>) -> Result<Wiring, ConfigError> {
    let GraphKind::Family(kind) = run.graph.kind else { return from_files(run) };
    if let Some(key) = [Key::GraphFile, Key::GraphFiles].into_iter().find(|key| run.has(*key)) {
        let message = format!("{key} is given but graph.kind is {:?}: it must be \"file\"", kind.name());
        return Err(run.error(key, message));
    }
    let n = run.graph.nodes.or(nodes).ok_or_else(|| run.missing(Key::GraphNodes))?;
    let graph = Graph::build(kind, n, &run.graph.parameters).map_err(|e| {
        let field = [Key::GraphProbability, Key::GraphDegree].into_iter().find(|key| run.has(*key));
        run.error(field.unwrap_or(Key::GraphNodes), format!("graph: {e}"))
    })?;
    let arcs = kind.arcs(n).transpose().map_err(|e| run.error(Key::GraphNodes, format!("graph: {e}")))?;
    let (mixing, weights, rule) = match arcs {
        Some(turns) => pushed(run, &turns)?,
        None => weighed(run, Some(kind), &graph)?,
    };
    Ok(Wiring { kind: Some(kind), graph, mixing, weights, rule })
}

type Weighed = (Mixings, String, Option<(Weights, bool)>);

/// The matrix of a graph whose links go both ways, by the rule that is given or usual.
fn weighed(run: &RunFile, kind: Option<GraphFamily>, graph: &Graph) -> Result<Weighed, ConfigError> {
    let (weights, lazy) = run.graph.rule(kind);
    let mixing = Mixing::new(graph, weights, lazy)
        .map_err(|e| run.error(Key::GraphWeights, format!("{}: {e}", Key::GraphWeights)))?;
    let words = format!("{weights}{}", if lazy { ", lazy" } else { "" });
    Ok((mixing.into(), words, Some((weights, lazy))))
}

/// The matrices of graphs whose links go one way: there is one rule for them.
fn pushed(run: &RunFile, turns: &[Arcs]) -> Result<Weighed, ConfigError> {
    let rule = Weights::OutDegree;
    let other = run.graph.weights.is_some_and(|weights| weights != rule);
    let lazy = run.graph.lazy == Some(true);
    if let Some(key) = [(other, Key::GraphWeights), (lazy, Key::GraphLazy)].iter().find(|(given, _)| *given) {
        let allowed = if key.1 == Key::GraphLazy { "false" } else { "\"out-degree\"" };
        return Err(run.error(key.1, format!("{}: links that go one way need {allowed}", key.1)));
    }
    let mixing = Mixings::out_degree(turns).map_err(|e| run.error(Key::GraphKind, format!("graph: {e}")))?;
    Ok((mixing, rule.to_string(), Some((rule, false))))
}

/// The network of `graph.file`, or those of `graph.files` in turns.
fn from_files(run: &RunFile) -> Result<Wiring, ConfigError> {
    let (key, paths) = match (&run.graph.file, run.graph.files.as_slice()) {
        (Some(_), [_, ..]) => {
            return Err(
                run.error(Key::GraphFiles, "graph.file and graph.files are both given: give one of them")
            );
        }
        (Some(path), []) => (Key::GraphFile, std::slice::from_ref(path)),
        (None, paths @ [_, ..]) => (Key::GraphFiles, paths),
        (None, []) => return Err(run.missing(Key::GraphFile)),
    };
    let networks = paths.iter().map(|path| read(run, key, path)).collect::<Result<Vec<_>, _>>()?;
    let Some((_, words, rule)) = networks.first() else { return Err(run.missing(Key::GraphFile)) };
    let (words, rule) = (words.clone(), *rule);
    let same_rule = networks.iter().all(|(_, _, other)| *other == rule);
    let turns = networks.iter().flat_map(|(mixing, _, _)| mixing.turns()).cloned().collect();
    let mixing = Mixings::in_turns(turns).map_err(|e| run.error(key, format!("{key}: {e}")))?;
    if let Some(n) = run.graph.nodes.filter(|n| *n != mixing.nodes()) {
        let shown = paths.first().map_or(String::new(), |path| path.display().to_string());
        return Err(
            run.error(Key::GraphNodes, format!("graph.nodes = {n} but {shown} has {} nodes", mixing.nodes()))
        );
    }
    Ok(Wiring {
        kind: None,
        graph: mixing.support(),
        mixing,
        weights: words,
        rule: rule.filter(|_| same_rule),
    })
}

fn read(run: &RunFile, key: Key, path: &Path) -> Result<Weighed, ConfigError> {
    let refuse = |what: String| run.error(key, format!("{key} {}: {what}", path.display()));
    let bytes = std::fs::read(path).map_err(|e| refuse(format!("cannot read it: {e}")))?;
    let text = String::from_utf8(bytes).map_err(|_| refuse("it is not UTF-8 text".into()))?;
    match parse_network(&text).map_err(|e| refuse(e.to_string()))? {
        Network::Graph(graph) => weighed(run, None, &graph),
        Network::Arcs(arcs) => pushed(run, &[arcs]),
        Network::Mixing(mixing) => {
            if let Some(key) = [Key::GraphWeights, Key::GraphLazy].into_iter().find(|key| run.has(*key)) {
                return Err(run.error(key, format!("{key} is given but the file has weights of its own")));
            }
            Ok((mixing.into(), "from the file".into(), None))
        }
    }
}
