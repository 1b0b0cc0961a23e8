//! Fewer points that draw the same picture.
//!
//! Points that follow each other within one column of pixels are replaced by the first, the lowest, the
//! highest and the last of them, so no extreme is lost and the line joins the next column where it did
//! before. (A line that jumps to another column at every point cannot be thinned without changing it, and is
//! left alone.)

pub(super) type Pixel = (f64, f64);

/// Fewer points than this are left alone.
const FEW: usize = 1_000;

/// The column of pixels.
fn column(x: f64) -> i64 {
    x.floor() as i64
}

pub(super) fn line(points: &[Pixel]) -> Vec<Pixel> {
    if points.len() < FEW {
        return points.to_vec();
    }
    points.chunk_by(|a, b| column(a.0) == column(b.0)).flat_map(extremes).collect()
}

/// First, lowest, highest and last point of a column, in their order and each once.
fn extremes(points: &[Pixel]) -> Vec<Pixel> {
    let (mut low, mut high) = (0, 0);
    for (k, point) in points.iter().enumerate() {
        if point.1 < points[low].1 {
            low = k;
        }
        if point.1 > points[high].1 {
            high = k;
        }
    }
    let mut kept = vec![0, low, high, points.len().saturating_sub(1)];
    kept.sort_unstable();
    kept.dedup();
    kept.into_iter().filter_map(|k| points.get(k).copied()).collect()
}

/// The band `(x, one edge, other edge)` through fewer points: in every column its full extent.
pub(super) fn band(points: &[(f64, f64, f64)]) -> Vec<(f64, f64, f64)> {
    if points.len() < FEW {
        return points.to_vec();
    }
    points.chunk_by(|a, b| column(a.0) == column(b.0)).flat_map(extent).collect()
}

fn extent(points: &[(f64, f64, f64)]) -> Vec<(f64, f64, f64)> {
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return Vec::new() };
    let most = points.iter().fold(first.1, |most, p| most.max(p.1));
    let least = points.iter().fold(first.2, |least, p| least.min(p.2));
    if points.len() == 1 { vec![*first] } else { vec![(first.0, most, least), (last.0, most, least)] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_keeps_extremes_and_ends() {
        let mut points: Vec<Pixel> =
            (0..100_000).map(|k| (k as f64 / 250.0, (k as f64 / 300.0).sin())).collect();
        points[31_415].1 = 77.0;
        points[62_001].1 = -88.0;
        let thin = line(&points);
        assert!(thin.len() <= 4 * 401, "{}", thin.len());
        assert!(thin.contains(&points[31_415]) && thin.contains(&points[62_001]));
        assert_eq!(thin.first(), points.first());
        assert_eq!(thin.last(), points.last());
        assert!(thin.is_sorted_by(|a, b| a.0 <= b.0));
    }

    #[test]
    fn few_points_stay() {
        assert_eq!(line(&[(1.0, 2.0), (1.1, 3.0)]).len(), 2);
        assert!(line(&[]).is_empty() && band(&[]).is_empty());
    }

    #[test]
    fn a_thin_band_keeps_its_extent() {
        let points: Vec<_> =
            (0..10_000).map(|k| (k as f64 / 100.0, 5.0 + (k % 7) as f64, -((k % 5) as f64))).collect();
        let thin = band(&points);
        assert!(thin.len() <= 202);
        assert!(thin.iter().all(|p| p.1 == 11.0 && p.2 == -4.0));
    }
}
