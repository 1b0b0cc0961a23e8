//! Whole figures: every one parses, and odd input draws something sound.

use super::super::{Bar, LegendPlace, Scale, Series};
use super::*;

/// Parses both themes' SVG, checks what every figure must have, and returns the first.
fn sound(figure: &Figure) -> String {
    for theme in [Theme::Page, Theme::Paper] {
        let svg = figure.draw(theme);
        let parsed = png::parse(&svg);
        assert!(parsed.is_ok(), "{:?}\n{svg}", parsed.err());
        assert!(svg.contains("role=\"img\"") && svg.contains("<title>") && svg.contains("DejaVu Sans"));
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        assert!(!svg.contains(" id=\""));
    }
    figure.draw(Theme::Paper)
}

fn chart(series: Vec<Series>) -> Chart {
    let mut chart = Chart::new("title", "x", "y");
    chart.series = series;
    chart
}

/// The places of `count` nodes on a circle, the first at the top, then clockwise.
fn circle_positions(count: usize) -> Vec<(f64, f64)> {
    let angle = |k: usize| std::f64::consts::TAU * k as f64 / count.max(1) as f64;
    (0..count).map(|k| (0.5 + 0.5 * angle(k).sin(), 0.5 + 0.5 * angle(k).cos())).collect()
}

/// The places of nodes on a grid, row by row from the top.
fn grid_positions(rows: usize, columns: usize) -> Vec<(f64, f64)> {
    let share = |k: usize, count: usize| if count < 2 { 0.5 } else { k as f64 / (count - 1) as f64 };
    (0..rows).flat_map(|r| (0..columns).map(move |c| (share(c, columns), 1.0 - share(r, rows)))).collect()
}

#[test]
fn empty_figures_say_so() {
    let nothing = Series::new("nothing", vec![(1.0, f64::NAN), (f64::INFINITY, 1.0)]);
    let negative = Series::new("negative", vec![(1.0, -1.0), (2.0, 0.0)]);
    for figure in [
        Figure::new("none"),
        Figure::of(chart(vec![])),
        Figure::of(chart(vec![nothing])),
        Figure::of(chart(vec![negative]).y_scale(Scale::Log)),
        Figure::of(Bars::new("bars", "value")),
        Figure::of(Bars::new("bars", "value").bar(Bar::new("a", f64::NAN)).vertical()),
        Figure::of(Network::new("net", vec![], vec![(0, 1)])),
        Figure::of(Network::new("net", vec![(f64::NAN, 0.0)], vec![])),
        Figure::of(Heat::new("heat", vec![])),
        Figure::of(Heat::new("heat", vec![vec![], vec![]])),
    ] {
        assert!(sound(&figure).contains("no data"));
    }
}

#[test]
fn odd_charts_are_drawn() {
    let odd = [
        vec![(1.0, 5.0)],
        vec![(0.0, 2.0), (1.0, 2.0), (2.0, 2.0)],
        vec![(0.0, -1e300), (1.0, 1e300)],
        vec![(1e15, 1.0), (1e15 + 1.0, 2.0)],
        vec![(3.0, 1.0), (3.0, 2.0), (1.0, 1e-320)],
        vec![(1.0, 1.0), (2.0, f64::NAN), (3.0, 0.0), (4.0, -2.0), (5.0, 3.0)],
    ];
    for points in odd {
        for (x, y) in [(Scale::Linear, Scale::Log), (Scale::Log, Scale::Linear)] {
            let band = points.iter().map(|p| (p.1 - 10.0, p.1 * 2.0)).collect();
            let series = Series::new("s", points.clone()).band(band);
            let drawn = chart(vec![series]).x_scale(x).y_scale(y).reference(2.0, "bound");
            assert!(!sound(&Figure::of(drawn)).contains("no data"));
        }
    }
}

#[test]
fn no_pair_of_values_is_too_odd() {
    let odd =
        [0.0, -0.0, 1.0, -1.0, 1e-320, 1e300, -1e300, f64::MAX, f64::MIN, f64::NAN, f64::INFINITY, 1e16, 0.3];
    for &a in &odd {
        for &b in &odd {
            for scale in [Scale::Linear, Scale::Log] {
                let line = Series::new("s", vec![(a, b), (b, a), (1.0, 2.0)]).band(vec![(b, a), (a, b)]);
                let lines = chart(vec![line]).x_scale(scale).y_scale(scale).reference(b, "b");
                let mut ranged = lines.clone().y_range(a, b);
                ranged.x_range = Some((b, a));
                let bars =
                    Bars::new("", "v").bar(Bar::new("a", a).whisker(b, a)).bar(Bar::new("b", b)).scale(scale);
                let net = Network::new("", vec![(a, b), (b, a)], vec![(0, 1)]).values(vec![a, b], "v");
                let figure =
                    Figure::new("").panel(lines).panel(ranged).panel(bars.clone()).panel(bars.vertical());
                let svg = figure.panel(net).to_svg();
                assert!(!svg.contains("NaN") && !svg.contains("inf"), "{a} {b}\n{svg}");
            }
        }
    }
}

#[test]
fn a_lone_point_is_a_dot_and_a_gap_a_break() {
    let svg = sound(&Figure::of(chart(vec![Series::new("", vec![(1.0, 1.0)])])));
    assert_eq!(svg.matches("<circle").count(), 1);
    let gap = vec![(1.0, 1.0), (2.0, 2.0), (3.0, f64::NAN), (4.0, 1.0), (5.0, 2.0)];
    let svg = sound(&Figure::of(chart(vec![Series::new("", gap)])));
    assert_eq!(svg.matches("<path").count(), 2);
}

#[test]
fn a_huge_series_gives_a_small_svg() {
    let points: Vec<_> = (0..100_000).map(|k| (k as f64, (k as f64 * 0.7).sin())).collect();
    let band = points.iter().map(|p| (p.1 - 1.0, p.1 + 1.0)).collect();
    let svg = sound(&Figure::of(chart(vec![Series::new("huge", points).band(band)])));
    assert!(svg.len() < 60_000, "{}", svg.len());
}

#[test]
fn text_is_escaped_everywhere() {
    let evil = "</svg><script>&\"'\u{0}";
    let mut drawn = Chart::new(evil, evil, evil).reference(1.0, evil);
    drawn.series = vec![Series::new(evil, vec![(0.0, 0.0), (1.0, 2.0)])];
    let heat = Heat::new(evil, vec![vec![1]]).row_labels(vec![evil.into()]).column_labels(vec![evil.into()]);
    let net = Network::new(evil, vec![(0.5, 0.5)], vec![]).labels(vec![evil.into()]).values(vec![0.5], evil);
    let bars = Bars::new(evil, evil).bar(Bar::new(evil, 1.0));
    let figure = Figure::new(evil).panel(drawn).panel(heat).panel(net.caption(evil)).panel(bars);
    assert!(!sound(&figure).contains("<script"));
}

#[test]
fn every_legend_place_and_size_is_sound() {
    let series = |k: usize| {
        let name = format!("a rather long name of method number {k}");
        Series::new(name, (0..9).map(|x| (x as f64, ((x * (k + 1)) % 17) as f64)).collect())
    };
    for place in
        [LegendPlace::Auto, LegendPlace::Inside, LegendPlace::Beside, LegendPlace::Below, LegendPlace::Hidden]
    {
        for (w, h) in [(500.0, 300.0), (f64::NAN, -3.0), (1.0, 1.0), (1e9, 1e9)] {
            let figure = Figure::of(chart((0..14).map(series).collect()).legend(place)).panel_size(w, h);
            sound(&figure);
        }
    }
    let shared =
        Figure::new("both").panel(chart((0..3).map(series).collect())).panel(chart(vec![])).shared_legend();
    let svg = sound(&shared);
    assert!(svg.contains("(a) title") && svg.contains("(b) title"));
    assert_eq!(svg.matches("method number 2<").count(), 1);
}

#[test]
fn odd_bars_are_drawn() {
    let mut bars = Bars::new("bars", "value");
    for (k, value) in [3.0, -2.0, f64::NAN, f64::INFINITY, 1e-9, 0.0, 1e12].into_iter().enumerate() {
        bars = bars.bar(Bar::new(format!("bar {k} of a long name"), value).whisker(value - 1.0, value * 2.0));
    }
    for drawn in [
        bars.clone(),
        bars.clone().vertical(),
        bars.clone().scale(Scale::Log),
        bars.vertical().scale(Scale::Log),
    ] {
        let svg = sound(&Figure::of(drawn));
        assert!(!svg.contains("no data"));
    }
}

#[test]
fn large_graphs_stay_small_and_admit_sampling() {
    let n = 10_000;
    let positions = grid_positions(100, 100);
    let edges: Vec<_> = (0..60_000).map(|k| (k * 7919 % n, (k * 104_729 + k / 7) % n)).collect();
    let values = (0..n).map(|k| k as f64 / n as f64).collect();
    let svg = sound(&Figure::of(Network::new("large", positions, edges).values(values, "loss")));
    assert!(svg.len() < 1_000_000, "{}", svg.len());
    assert!(svg.contains("edges drawn"));
}

#[test]
fn odd_graphs_are_drawn() {
    let edges = vec![(0, 1), (1, 1), (2, 99), (usize::MAX, 0)];
    let net = Network::new("odd", circle_positions(3), edges).values(vec![f64::NAN, 7.0], "v");
    let svg = sound(&Figure::of(net));
    assert_eq!(svg.matches("<circle").count(), 3);
    assert!(circle_positions(0).is_empty() && grid_positions(0, 5).is_empty());
    sound(&Figure::of(Network::new("same place", vec![(0.5, 0.5); 5], vec![(0, 1)])));
    sound(&Figure::of(Network::new("outside", vec![(9.0, -9.0), (f64::INFINITY, 0.0)], vec![(0, 1)])));
}

#[test]
fn long_tables_are_cut() {
    let svg = sound(&Figure::of(Heat::new("long", vec![vec![1, 2, 3]; 57])));
    assert!(svg.contains("… and 17 more"));
    let svg = sound(&Figure::of(Heat::new("wide", vec![(0..300).collect(), vec![u64::MAX]])));
    assert!(svg.contains("180 further columns not shown"));
}

#[test]
fn the_png_has_the_figures_size() -> Result<(), PlotError> {
    let figure = Figure::of(chart(vec![Series::new("s", vec![(0.0, 0.0), (1.0, 1.0)])])).theme(Theme::Page);
    let tree = png::parse(&figure.to_svg())?;
    let bytes = figure.to_png(2.0)?;
    let pixmap =
        resvg::tiny_skia::Pixmap::decode_png(&bytes).map_err(|e| PlotError::Encode(e.to_string()))?;
    let wanted = (2 * tree.size().width() as u32, 2 * tree.size().height() as u32);
    assert_eq!((pixmap.width(), pixmap.height()), wanted);
    // A PNG is on white even when the SVG has no ground of its own.
    assert!(pixmap.pixel(1, 1).is_some_and(|pixel| pixel.red() == 255 && pixel.alpha() == 255));
    Ok(())
}
