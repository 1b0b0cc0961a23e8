//! Where to draw the nodes of a network. Looks only: nothing depends on these numbers.

use std::f64::consts::TAU;

use super::{Graph, GraphFamily};

/// Random graphs up to this size are drawn on a circle.
const CIRCLE_NODES: usize = 60;
/// Graphs without a natural shape are drawn by springs up to this size.
const SPRING_NODES: usize = 300;
const SPRING_ROUNDS: usize = 200;

type Point = (f64, f64);

/// A place in the unit square for every node. `family` is the family, if the graph is of one.
pub fn positions(family: Option<GraphFamily>, graph: &Graph) -> Vec<Point> {
    let n = graph.nodes();
    match family {
        _ if n == 1 => vec![(0.5, 0.5)],
        Some(
            GraphFamily::Ring
            | GraphFamily::Complete
            | GraphFamily::Exponential
            | GraphFamily::DirectedRing
            | GraphFamily::DirectedExponential
            | GraphFamily::OnePeerExponential,
        ) => circle(n),
        Some(GraphFamily::ErdosRenyi | GraphFamily::RandomRegular) if n <= CIRCLE_NODES => circle(n),
        Some(GraphFamily::Path) => (0..n).map(|i| (i as f64 / (n - 1) as f64, 0.5)).collect(),
        Some(GraphFamily::Torus) => torus_columns(graph).map_or_else(|| circle(n), |cols| grid(n, cols)),
        Some(GraphFamily::Star) => std::iter::once((0.5, 0.5)).chain(circle(n - 1)).collect(),
        Some(GraphFamily::Hypercube) => projection(n),
        _ if n <= SPRING_NODES => springs(graph),
        _ => disc(n),
    }
}

/// Evenly around a circle, clockwise from the top (with y pointing down, as on a screen).
fn circle(n: usize) -> Vec<Point> {
    let place = |i: usize| {
        let (sin, cos) = (TAU * i as f64 / n as f64).sin_cos();
        (0.5 + 0.5 * sin, 0.5 - 0.5 * cos)
    };
    (0..n).map(place).collect()
}

/// Evenly over a disc, as the seeds of a sunflower: many nodes without a shape stay apart, which on a circle they do
/// not.
fn disc(n: usize) -> Vec<Point> {
    let golden = TAU * (1.0 - 0.5 * (5.0_f64.sqrt() - 1.0));
    let place = |i: usize| {
        let radius = 0.5 * ((i as f64 + 0.5) / n as f64).sqrt();
        let (sin, cos) = (golden * i as f64).sin_cos();
        (0.5 + radius * sin, 0.5 - radius * cos)
    };
    (0..n).map(place).collect()
}

/// The number of columns of a torus: node 0 is next to 1, cols − 1, cols and n − cols, in rising order.
fn torus_columns(graph: &Graph) -> Option<usize> {
    let cols = graph.neighbours(0).get(2).map(|&cols| cols as usize)?;
    (cols >= 2 && graph.nodes().is_multiple_of(cols) && graph.nodes() > cols).then_some(cols)
}

fn grid(n: usize, cols: usize) -> Vec<Point> {
    let rows = n / cols;
    let step = 1.0 / (rows.max(cols) - 1) as f64;
    let (left, top) = ((1.0 - step * (cols - 1) as f64) / 2.0, (1.0 - step * (rows - 1) as f64) / 2.0);
    (0..n).map(|i| (left + step * (i % cols) as f64, top + step * (i / cols) as f64)).collect()
}

/// A hypercube seen from the side: each binary digit moves a node along its own direction. The lengths differ
/// so that no two nodes fall on one spot.
fn projection(n: usize) -> Vec<Point> {
    let digits = n.trailing_zeros().max(1);
    let place = |i: usize| {
        (0..digits).filter(|digit| i >> digit & 1 == 1).fold((0.0, 0.0), |(x, y), digit| {
            let (sin, cos) = (TAU / 2.0 * f64::from(digit) / f64::from(digits)).sin_cos();
            let length = 0.8f64.powi(digit as i32);
            (x + length * cos, y + length * sin)
        })
    };
    fit((0..n).map(place).collect())
}

/// Neighbours pull, all pairs push, the steps grow smaller: Fruchterman and Reingold, *Graph drawing by
/// force-directed placement*, 1991. Started from a circle, so the same graph always looks the same.
fn springs(graph: &Graph) -> Vec<Point> {
    let n = graph.nodes();
    let ideal = 1.0 / (n as f64).sqrt();
    let mut places = circle(n);
    for round in 0..SPRING_ROUNDS {
        let longest = 0.1 * (1.0 - round as f64 / SPRING_ROUNDS as f64);
        let forces: Vec<Point> = (0..n).map(|i| force(graph, &places, ideal, i)).collect();
        for (place, (fx, fy)) in places.iter_mut().zip(forces) {
            let length = fx.hypot(fy).max(1e-12);
            let step = length.min(longest) / length;
            place.0 += fx * step;
            place.1 += fy * step;
        }
    }
    fit(places)
}

/// The push of all other nodes, the pull of the neighbours, and a slight pull to the middle that keeps
/// unconnected parts in the picture.
fn force(graph: &Graph, places: &[Point], ideal: f64, i: usize) -> Point {
    let (x, y) = places[i];
    let mut sum = (0.1 * (0.5 - x), 0.1 * (0.5 - y));
    for &(other_x, other_y) in places.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, place)| place) {
        let (dx, dy) = (x - other_x, y - other_y);
        let push = ideal * ideal / (dx * dx + dy * dy).max(1e-9);
        sum = (sum.0 + dx * push, sum.1 + dy * push);
    }
    for &j in graph.neighbours(i) {
        let (dx, dy) = (places[j as usize].0 - x, places[j as usize].1 - y);
        let pull = dx.hypot(dy) / ideal;
        sum = (sum.0 + dx * pull, sum.1 + dy * pull);
    }
    sum
}

/// Moves and scales, the same in both directions, to fill the unit square.
fn fit(mut places: Vec<Point>) -> Vec<Point> {
    let bounds = |axis: fn(&Point) -> f64| {
        let values = places.iter().map(axis);
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), x| (lo.min(x), hi.max(x)))
    };
    let ((left, right), (top, bottom)) = (bounds(|p| p.0), bounds(|p| p.1));
    let size = (right - left).max(bottom - top).max(1e-12);
    for (x, y) in &mut places {
        *x = (0.5 + (*x - (left + right) / 2.0) / size).clamp(0.0, 1.0);
        *y = (0.5 + (*y - (top + bottom) / 2.0) / size).clamp(0.0, 1.0);
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Parameters;

    /// All in the unit square, and no two nodes on one spot.
    fn check(family: Option<GraphFamily>, graph: &Graph) -> Vec<Point> {
        let places = positions(family, graph);
        assert_eq!(places.len(), graph.nodes());
        let square = 0.0..=1.0;
        assert!(
            places.iter().all(|(x, y)| square.contains(x) && square.contains(y)),
            "{family:?} {places:?}"
        );
        for (i, a) in places.iter().enumerate() {
            for b in &places[..i] {
                assert!((a.0 - b.0).hypot(a.1 - b.1) > 1e-4, "{family:?} {} {i}", graph.nodes());
            }
        }
        places
    }

    #[test]
    fn every_family_has_its_places() {
        for family in GraphFamily::ALL {
            for nodes in [16, 64, 256, 512] {
                let parameters = Parameters {
                    probability: (family == GraphFamily::ErdosRenyi).then_some(0.5),
                    degree: (family == GraphFamily::RandomRegular).then_some(4),
                    seed: 2,
                };
                check(Some(family), &Graph::build(family, nodes, &parameters).unwrap());
            }
        }
    }

    #[test]
    fn shapes() {
        let places = check(Some(GraphFamily::Torus), &Graph::torus(3, 5).unwrap());
        assert!((places[7].0 - 0.5).abs() < 1e-12 && (places[7].1 - 0.5).abs() < 1e-12);
        assert_eq!(check(Some(GraphFamily::Star), &Graph::star(9).unwrap())[0], (0.5, 0.5));
        assert_eq!(
            check(Some(GraphFamily::Path), &Graph::path(3).unwrap()),
            [(0.0, 0.5), (0.5, 0.5), (1.0, 0.5)]
        );
        assert_eq!(check(Some(GraphFamily::Star), &Graph::star(2).unwrap()).len(), 2);
        assert_eq!(check(Some(GraphFamily::Hypercube), &Graph::hypercube(2).unwrap()).len(), 2);
    }

    #[test]
    fn any_graph_under_any_name() {
        let graphs = [
            Graph::path(1).unwrap(),
            Graph::path(2).unwrap(),
            Graph::ring(7).unwrap(),
            Graph::from_edges(40, [(0, 1), (4, 5), (5, 6)]).unwrap(),
            Graph::from_edges(400, (1..400).map(|i| (i / 2, i))).unwrap(),
            Graph::from_edges(120, (1..120).map(|i| (i / 2, i)).filter(|(a, b)| a != b)).unwrap(),
        ];
        for graph in &graphs {
            for family in GraphFamily::ALL.map(Some).into_iter().chain([None]) {
                let places = positions(family, graph);
                assert_eq!(places.len(), graph.nodes());
                assert!(places.iter().all(|(x, y)| x.is_finite() && y.is_finite()), "{family:?}");
                assert_eq!(places, positions(family, graph));
            }
            check(None, graph);
        }
        let tree = &graphs[5];
        let places = check(None, tree);
        let long = |(i, j): (usize, usize)| (places[i].0 - places[j].0).hypot(places[i].1 - places[j].1);
        let mean = tree.pairs().map(long).sum::<f64>() / tree.edges() as f64;
        assert!(mean < 0.2, "the springs draw neighbours together: {mean}");
    }
}
