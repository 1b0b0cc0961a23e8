//! `prdo.plot`: lines over two axes, drawn as the reports draw them.

use prdo::plot::{Chart, Figure, Scale, Series};
use pyo3::prelude::*;

#[pyfunction]
pub fn plot(
    title: &str,
    labels: (String, String),
    logarithmic: (bool, bool),
    lines: Vec<(String, Vec<(f64, f64)>)>,
) -> String {
    let scale = |log: bool| if log { Scale::Log } else { Scale::Linear };
    let chart =
        Chart::new(title, labels.0, labels.1).x_scale(scale(logarithmic.0)).y_scale(scale(logarithmic.1));
    let add = |chart: Chart, (number, (name, points)): (usize, (String, Vec<(f64, f64)>))| {
        chart.series(Series::new(name, points).style(number))
    };
    let chart = lines.into_iter().enumerate().fold(chart, add);
    Figure::of(chart).panel_size(620.0, 380.0).to_svg()
}
