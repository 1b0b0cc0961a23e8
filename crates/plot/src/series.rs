//! A line of a chart and the look that tells it apart.

use std::collections::{HashMap, HashSet};

use super::canvas::{Canvas, number};
use super::color::{Color, dash};
use super::paint::{Ink, Paint};
use super::thin::Pixel;

#[derive(Clone, Debug, Default)]
pub struct Series {
    /// The name in the legend; a line without one is left out of it.
    pub name: String,
    /// Which colour, dash and marker of the palette; by default the order of names in the figure decides.
    pub style: Option<usize>,
    /// The points, in the order they are joined. What an axis cannot show breaks the line.
    pub points: Vec<(f64, f64)>,
    /// Lower and upper value at each point, as the spread over seeds.
    pub band: Option<Vec<(f64, f64)>>,
}

impl Series {
    pub fn new(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.into(), points, ..Self::default() }
    }

    /// The mean of the values at each x, and their range as a band where there are several.
    pub fn mean_of(name: impl Into<String>, values: impl IntoIterator<Item = (f64, Vec<f64>)>) -> Self {
        let (mut points, mut band, mut several) = (Vec::new(), Vec::new(), false);
        for (x, values) in values.into_iter().filter(|(_, values)| !values.is_empty()) {
            several |= values.len() > 1;
            points.push((x, values.iter().sum::<f64>() / values.len() as f64));
            let low = values.iter().copied().fold(f64::INFINITY, f64::min);
            band.push((low, values.iter().copied().fold(f64::NEG_INFINITY, f64::max)));
        }
        Self { band: several.then_some(band), ..Self::new(name, points) }
    }

    setters! {
        band(band: Vec<(f64, f64)>) => band = Some(band);
        style(k: usize) => style = Some(k);
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    pub(super) color: Color,
    pub(super) dash: &'static str,
    pub(super) marker: usize,
    pub(super) band: bool,
}

/// The looks of all series of a figure: one name, one look, in every panel.
pub(super) struct Looks {
    names: Vec<(String, usize)>,
}

impl Looks {
    /// Gives every name of these groups (charts, or all charts that share a legend) the first look that no
    /// other name of its groups has, in order of appearance.
    pub(super) fn new(groups: &[Vec<&Series>]) -> Self {
        let mut homes: HashMap<&str, HashSet<usize>> = HashMap::new();
        for (k, group) in groups.iter().enumerate() {
            group.iter().for_each(|one| {
                homes.entry(&one.name).or_default().insert(k);
            });
        }
        let apart = |a: &str, b: &str| match (homes.get(a), homes.get(b)) {
            (Some(a), Some(b)) => a.is_disjoint(b),
            _ => true,
        };
        let mut names: Vec<(String, usize)> = Vec::new();
        for one in groups.iter().flatten() {
            if one.name.is_empty() || names.iter().any(|(name, _)| *name == one.name) {
                continue;
            }
            let beside = names.iter().filter(|(name, _)| !apart(name, &one.name));
            let taken: HashSet<usize> = beside.map(|&(_, k)| k).collect();
            let free = (0..=taken.len()).find(|k| !taken.contains(k)).unwrap_or(0);
            names.push((one.name.clone(), one.style.unwrap_or(free)));
        }
        Self { names }
    }

    pub(super) fn look(&self, series: &Series, position: usize) -> Look {
        let named = self.names.iter().find(|(name, _)| *name == series.name).map(|&(_, k)| k);
        let k = series.style.or(named).unwrap_or(position);
        Look { color: Color::palette(k), dash: dash(k), marker: k, band: series.band.is_some() }
    }
}

pub(super) fn draw_marker(canvas: &mut Canvas, (x, y): Pixel, k: usize, color: Color) {
    let solid = Paint::fill(Ink::Of(color), 1.0).outlined(Ink::Back, 0.7, 1.0);
    let r = 3.2;
    // Corners in units of the radius, relative to the point.
    let corners: &[(f64, f64)] = match k % 8 {
        0 => return canvas.circle((x, y), r, solid),
        1 => &[(-0.85, -0.85), (0.85, -0.85), (0.85, 0.85), (-0.85, 0.85)],
        2 => &[(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)],
        3 => &[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)],
        4 => &[(0.0, 1.2), (1.1, -0.8), (-1.1, -0.8)],
        5 => &CROSS,
        6 => &[(-1.2, 0.0), (0.8, -1.1), (0.8, 1.1)],
        _ => return canvas.circle((x, y), r, Paint::line(Ink::Of(color), 1.6, 1.0)),
    };
    let mut data = String::new();
    for (step, (a, b)) in corners.iter().enumerate() {
        data.push(if step == 0 { 'M' } else { 'L' });
        data.push_str(&format!("{} {}", number(x + a * r), number(y + b * r)));
    }
    data.push('Z');
    canvas.path(&data, solid);
}

const CROSS: [(f64, f64); 12] = [
    (-0.35, -1.2),
    (0.35, -1.2),
    (0.35, -0.35),
    (1.2, -0.35),
    (1.2, 0.35),
    (0.35, 0.35),
    (0.35, 1.2),
    (-0.35, 1.2),
    (-0.35, 0.35),
    (-1.2, 0.35),
    (-1.2, -0.35),
    (-0.35, -0.35),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_name_has_one_look_in_every_panel() {
        let a = [Series::new("x", vec![]), Series::new("y", vec![])];
        let b = [Series::new("y", vec![]), Series::new("", vec![])];
        let looks = Looks::new(&[a.iter().collect(), b.iter().collect()]);
        assert_eq!(looks.look(&a[1], 1).color, looks.look(&b[0], 0).color);
        assert_eq!(looks.look(&b[1], 5).color, Color::palette(5));
        let c = [Series::new("z", vec![])];
        let apart = Looks::new(&[a.iter().collect(), c.iter().collect()]);
        assert_eq!(apart.look(&c[0], 0).color, Color::palette(0));
        let shared = Looks::new(&[a.iter().chain(&c).collect()]);
        assert_eq!(shared.look(&c[0], 0).color, Color::palette(2));
        assert_eq!(looks.look(&a[0].clone().style(3), 0).color, Color::palette(3));
    }
}
