//! A node's home as the dashboard asks for it.

use crate::prepare::read_agreement;
use crate::status;
use prdo::dashboard::{Homes, Members};
use prdo_algorithm::graph::Graph;
use std::path::Path;

/// Reads any node's home.
pub const HOMES: Homes =
    Homes { status: |home| status::read(home).map_err(|error| error.to_string()), members };

fn members(home: &Path) -> Result<Members, String> {
    let agreement = read_agreement(home).map_err(|error| error.to_string())?;
    let names: Vec<String> = agreement.terms().members.iter().map(|member| member.name.clone()).collect();
    let edges = (0..names.len()).flat_map(|i| agreement.neighbours(i).into_iter().map(move |j| (i, j)));
    let graph = Graph::from_edges(names.len(), edges.filter(|(i, j)| i < j)).map_err(|e| e.to_string())?;
    Ok(Members { names, graph })
}
