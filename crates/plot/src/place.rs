//! Where text and legends go so that they hide as little as possible.

use super::area::Area;
use super::thin::Pixel;

/// The steps, in pixels, at which lines are felt for.
const STEP: f64 = 4.0;

/// The cost of touching something that was placed before; more than any number of samples.
const TAKEN: usize = 1_000_000;

#[derive(Default)]
pub(super) struct Cover {
    samples: Vec<Pixel>,
    taken: Vec<Area>,
}

impl Cover {
    pub(super) fn add_line(&mut self, points: &[Pixel]) {
        self.samples.extend(points.first());
        for pair in points.windows(2) {
            let ((x1, y1), (x2, y2)) = (pair[0], pair[1]);
            let parts = ((x2 - x1).hypot(y2 - y1) / STEP).ceil().clamp(1.0, 1e3);
            let along = |k: usize| (x1 + (x2 - x1) * k as f64 / parts, y1 + (y2 - y1) * k as f64 / parts);
            self.samples.extend((1..=parts as usize).map(along));
        }
    }

    /// Notes a box that nothing else may touch.
    pub(super) fn take(&mut self, area: Area) {
        self.taken.push(area);
    }

    pub(super) fn cost(&self, area: &Area) -> usize {
        let wide = Area::new(area.x - 3.0, area.y - 3.0, area.w + 6.0, area.h + 6.0);
        let hidden = self.samples.iter().filter(|&&point| wide.holds(point)).count();
        hidden + TAKEN * self.taken.iter().filter(|other| other.meets(area)).count()
    }

    /// The box that hides least, the first of equals, with its cost.
    pub(super) fn best(&self, boxes: impl IntoIterator<Item = Area>) -> Option<(Area, usize)> {
        boxes.into_iter().map(|area| (area, self.cost(&area))).min_by_key(|&(_, cost)| cost)
    }
}

/// The places for a box of a size within a plot: corners first, then edges, then a coarse grid.
pub(super) fn spots(plot: &Area, w: f64, h: f64) -> Vec<Area> {
    let gap = 8.0;
    let (free_w, free_h) = (plot.w - w - 2.0 * gap, plot.h - h - 2.0 * gap);
    if free_w < 0.0 || free_h < 0.0 {
        return Vec::new();
    }
    let spot = |(a, b): (f64, f64)| Area::new(plot.x + gap + a * free_w, plot.y + gap + b * free_h, w, h);
    let edges =
        [(1.0, 0.0), (0.0, 1.0), (1.0, 1.0), (0.0, 0.0), (0.5, 0.0), (0.5, 1.0), (1.0, 0.5), (0.0, 0.5)];
    let grid = (0..=6).flat_map(|k| (0..=6).map(move |l| (1.0 - f64::from(k) / 6.0, f64::from(l) / 6.0)));
    edges.into_iter().chain(grid).map(spot).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_free_corner_is_found() {
        let plot = Area::new(0.0, 0.0, 300.0, 200.0);
        let mut cover = Cover::default();
        cover.add_line(&[(0.0, 200.0), (300.0, 0.0)]);
        cover.take(Area::new(0.0, 0.0, 150.0, 60.0));
        let (spot, cost) = cover.best(spots(&plot, 80.0, 40.0)).unwrap_or((plot, 99));
        assert_eq!(cost, 0);
        assert!(spot.x > 150.0 && spot.y > 100.0, "{spot:?}");
    }

    #[test]
    fn too_large_a_box_has_no_place() {
        assert!(spots(&Area::new(0.0, 0.0, 30.0, 20.0), 80.0, 40.0).is_empty());
    }
}
