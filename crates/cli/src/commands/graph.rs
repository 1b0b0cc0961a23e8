//! `prdo graph`: a mixing matrix checked against the paper's assumption.

use super::Failure;
use crate::cli::{GraphArgs, GraphShape};
use crate::progress::say;
use prdo::algorithm::Method;
use prdo::algorithm::graph::{GraphFamily, Needs, NetworkError, Spectrum};
use prdo::build::{Wiring, wiring};
use prdo::disk::write_atomically;
use prdo::plot::{Figure, Format};
use prdo::report::network_figure;
use prdo::runfile::Document;
use serde_json::json;
use std::path::Path;

pub fn run(args: &GraphArgs) -> Result<(), Failure> {
    let wiring = wire(&args.graph, &args.shape)?;
    // λ is shown even where W is indefinite; that condition is then reported as failing.
    let spectrum = wiring.mixing.spectrum().map_err(|e| Failure::Input(format!("graph: {e}")))?;
    let meets = |needs| match wiring.mixing.check(needs, false) {
        Ok(_) | Err(NetworkError::Indefinite { .. }) => true,
        Err(_) => false,
    };
    let (symmetric, doubly) = (meets(Needs::Symmetric), meets(Needs::DoublyStochastic));
    let psd = wiring.mixing.check(Needs::Symmetric, false).is_ok();
    let turns = wiring.mixing.turns().len();
    let degrees = (0..wiring.graph.nodes()).map(|i| wiring.graph.degree(i));
    let (least, most) = degrees.fold((usize::MAX, 0), |(a, b), k| (a.min(k), b.max(k)));
    if let Some(path) = &args.picture {
        draw(path, &network_figure(&wiring, &spectrum, None))?;
    }
    if args.json {
        let object = json!({
            "nodes": wiring.graph.nodes(),
            "edges": wiring.graph.edges(),
            "lambda": spectrum.lambda,
            "lambda_error": spectrum.lambda_error,
            "spectral_gap": spectrum.spectral_gap,
            "smallest_eigenvalue": spectrum.smallest,
            "positive_semidefinite": psd,
            "doubly_stochastic": doubly,
            "symmetric": symmetric,
            "turns": turns,
            "connected": true,
            "weights": wiring.weights,
            "degree_min": least,
            "degree_max": most,
        });
        say(&object.to_string());
        return Ok(());
    }
    if !symmetric {
        return one_way(&wiring, &spectrum, doubly);
    }
    let verdict =
        if psd { "meets the paper's assumption" } else { "is indefinite: outside the paper's assumption" };
    say(&format!(
        "{} nodes, {} edges, degrees {least} to {most}, weights {}",
        wiring.graph.nodes(),
        wiring.graph.edges(),
        wiring.weights
    ));
    say(&format!(
        "λ = {:.12} (± {:.0e}), spectral gap {:.6e}",
        spectrum.lambda, spectrum.lambda_error, spectrum.spectral_gap
    ));
    say("symmetric: yes · non-negative: yes · doubly stochastic: yes · connected: yes");
    say(&format!("smallest eigenvalue {:.6e}: W {verdict}", spectrum.smallest));
    if !psd {
        say("add --lazy to use (I+W)/2, which is positive semidefinite");
    }
    Ok(())
}

/// What there is to say of links that go one way, or change.
fn one_way(wiring: &Wiring, spectrum: &Spectrum, doubly: bool) -> Result<(), Failure> {
    let turns = wiring.mixing.turns();
    let arcs: Vec<String> =
        turns.iter().map(|mixing| (mixing.entries() - mixing.nodes()).to_string()).collect();
    let networks = match turns.len() {
        1 => "one network".to_string(),
        several => format!("{several} networks in turns"),
    };
    say(&format!(
        "{} nodes, {networks}, {} one-way links, weights {}",
        wiring.graph.nodes(),
        arcs.join(", "),
        wiring.weights
    ));
    say(&format!(
        "λ = {:.9} (± {:.0e}) per round, spectral gap {:.6e}",
        spectrum.lambda, spectrum.lambda_error, spectrum.spectral_gap
    ));
    let columns = if doubly { "columns and rows add up to 1" } else { "columns add up to 1, rows do not" };
    say(&format!("non-negative: yes · {columns} · every node reaches every other: yes"));
    let runs = |method: &&Method| method.check_network(&wiring.mixing, false).is_ok();
    let names: Vec<_> = Method::ALL.iter().filter(runs).map(|method| method.card().name).collect();
    say(&format!("outside the paper's assumption; methods that run on it: {}", names.join(", ")));
    Ok(())
}

pub fn draw(path: &Path, figure: &Figure) -> Result<(), Failure> {
    let shown = path.display();
    let Some(format) = Format::of(path) else {
        return Err(Failure::Input(format!("--picture {shown}: it must end in .svg, .png or .pdf")));
    };
    let bytes = figure.render(format).map_err(|e| Failure::Work(format!("{shown}: {e}")))?;
    Ok(write_atomically(path, &bytes)?)
}

pub fn wire(graph: &str, shape: &GraphShape) -> Result<Wiring, Failure> {
    Ok(wiring(&document(graph, shape)?.run_file(), None).map_err(|mut e| {
        // There is no run file here: show the message, not a place in one.
        e.place = None;
        e.help = (shape.nodes.is_none()).then(|| "add --nodes N".to_string());
        e
    })?)
}

/// The same keys as a run file's `[graph]`.
fn document(graph: &str, shape: &GraphShape) -> Result<Document, Failure> {
    let mut document = Document::parse("the command line", "")?;
    if GraphFamily::NAMES.contains(&graph) {
        document.set(&format!("graph.kind=\"{}\"", graph))?;
    } else if Path::new(graph).is_file() {
        document.set("graph.kind=\"file\"")?;
        document.set(&format!("graph.file={}", toml::Value::from(graph)))?;
    } else {
        let names = GraphFamily::NAMES.join(", ");
        return Err(Failure::Input(format!("unknown graph {:?}; expected a file or one of {names}", graph)));
    }
    let mut set = |key: &str, value: Option<String>| match value {
        Some(value) => document.set(&format!("graph.{key}={value}")),
        None => Ok(()),
    };
    set("nodes", shape.nodes.map(|n| n.to_string()))?;
    set("weights", shape.weights.as_ref().map(|w| toml::Value::from(w.as_str()).to_string()))?;
    set("lazy", shape.lazy.map(|b| b.to_string()))?;
    set("probability", shape.probability.map(|p| format!("{p:?}")))?;
    set("degree", shape.degree.map(|k| k.to_string()))?;
    set("seed", shape.seed.map(|s| s.to_string()))?;
    Ok(document)
}
