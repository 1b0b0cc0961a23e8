//! The figures of a run in a few lines of text: curves as rows of blocks, the budget as a bar.

use console::measure_text_width;
use prdo::budget::words::short;

const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Cells of a curve, and of the budget's bar.
const CELLS: usize = 24;
/// Cells of the names before them.
const NAME: usize = 9;

/// The course of one measurement.
#[derive(Debug, Default)]
pub struct Curve {
    pub name: &'static str,
    pub values: Vec<f64>,
    /// Whether heights are those of the logarithm.
    pub log: bool,
    /// Where it stands, in words.
    pub now: String,
}

#[derive(Debug, Clone, Copy)]
pub struct Spent {
    pub epsilon: f64,
    pub budget: f64,
    pub delta: f64,
}

#[derive(Debug, Default)]
pub struct Figures {
    /// All of it in one line, for pipes and narrow terminals.
    pub text: String,
    /// Which work this is; may be empty.
    pub label: String,
    /// Curves, the most telling first.
    pub curves: Vec<Curve>,
    pub spent: Option<Spent>,
    /// A remark in a line of its own; may be empty.
    pub note: String,
}

impl Figures {
    /// The most telling of it, for terminals of a few columns or rows; `None` where there is nothing.
    pub(super) fn short(&self) -> Option<String> {
        let curve = self.curves.first().map(|curve| format!("{} {}  ", curve.name, curve.now));
        let spent = self
            .spent
            .map(|Spent { epsilon, budget, .. }| format!("ε {} of {}", short(epsilon, 2), short(budget, 2)));
        let note = Some(self.note.clone()).filter(|note| !note.is_empty());
        if curve.is_none() && spent.is_none() && note.is_none() {
            return Some(self.text.clone()).filter(|text| !text.is_empty());
        }
        Some(format!("{}{}", curve.unwrap_or_default(), spent.or(note).unwrap_or_default()))
    }

    pub(super) fn lines(&self, width: usize, color: bool) -> Vec<String> {
        let mut lines = Vec::new();
        if !self.label.is_empty() {
            lines.push(self.label.clone());
        }
        let mut line = String::new();
        for curve in &self.curves {
            let cells = paint(color, "36", &sparkline(&curve.values, curve.log, CELLS));
            let pad = " ".repeat(NAME.saturating_sub(measure_text_width(curve.name)));
            let piece = format!("{}{pad}{cells} {}", curve.name, curve.now);
            let gap = if line.is_empty() { "" } else { "    " };
            if measure_text_width(&line) + gap.len() + measure_text_width(&piece) > width {
                break;
            }
            line = format!("{line}{gap}{piece}");
        }
        lines.extend(Some(line).filter(|line| !line.is_empty()));
        if let Some(Spent { epsilon, budget, delta }) = self.spent {
            let code = if epsilon > 0.9 * budget { "33" } else { "34" };
            let full = paint(color, code, &bar(epsilon / budget, CELLS, "█", "▌", "░"));
            let pad = " ".repeat(NAME - 1);
            let (epsilon, budget) = (short(epsilon, 3), short(budget, 3));
            lines.push(format!("ε{pad}{full} {epsilon} of {budget} at δ = {delta:e}"));
        }
        if !self.note.is_empty() {
            lines.push(self.note.clone());
        }
        lines
    }
}

pub(super) fn paint(color: bool, code: &str, text: &str) -> String {
    if color { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_string() }
}

/// A bar of so many cells, with half a cell at its end where that is nearer.
pub(super) fn bar(share: f64, cells: usize, whole: &str, half: &str, empty: &str) -> String {
    let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
    let halves = (share * 2.0 * cells as f64) as usize;
    let (full, rest) = (halves / 2, halves % 2);
    format!("{}{}{}", whole.repeat(full), half.repeat(rest), empty.repeat(cells - full - rest))
}

/// A curve as a row of blocks: the last value of each cell's part, between the least and the largest of all.
fn sparkline(values: &[f64], log: bool, cells: usize) -> String {
    let scale = |v: f64| if log { v.max(f64::MIN_POSITIVE).ln() } else { v };
    let values: Vec<f64> = values.iter().filter(|v| v.is_finite()).map(|v| scale(*v)).collect();
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let count = values.len().min(cells);
    let height = |k: usize| {
        let value = values.get((k + 1) * values.len() / count.max(1) - 1).copied().unwrap_or(low);
        let part = if high > low { (value - low) / (high - low) } else { 0.0 };
        HEIGHTS.get((part * 7.0).round() as usize).copied().unwrap_or('▁')
    };
    let drawn: String = (0..count).map(height).collect();
    // The figures after it stay where they are while the curve grows.
    format!("{drawn}{}", " ".repeat(cells - count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_and_bars_have_their_width_whatever_the_values() {
        assert_eq!(sparkline(&[0.0, 0.5, 1.0], false, 5), "▁▅█  ");
        assert_eq!(sparkline(&[100.0, 3.0, 0.01], true, 3), "█▅▁");
        for values in [vec![], vec![1.0], vec![f64::NAN; 9], vec![2.0; 40], vec![0.0, -1.0, f64::INFINITY]] {
            for log in [false, true] {
                assert_eq!(sparkline(&values, log, 7).chars().count(), 7, "{values:?}");
            }
        }
        assert_eq!(bar(0.5, 4, "#", "+", "."), "##..");
        assert_eq!(bar(0.63, 4, "#", "+", "."), "##+.");
        for share in [-1.0, 0.0, 1.0, 7.0, f64::NAN, f64::INFINITY] {
            assert_eq!(bar(share, 6, "#", "+", ".").len(), 6, "{share}");
        }
    }

    #[test]
    fn lines_fit_and_have_no_colour_unless_wanted() {
        let curve = |name| Curve { name, values: vec![0.1, 0.9], log: false, now: "90.0 %".into() };
        let figures = Figures {
            curves: vec![curve("accuracy"), curve("‖∇f‖")],
            spent: Some(Spent { epsilon: 1.0, budget: 2.0, delta: 1e-5 }),
            ..Figures::default()
        };
        for width in [60, 79, 100] {
            for line in figures.lines(width, true) {
                assert!(measure_text_width(&line) <= width, "{width}: {line}");
            }
        }
        let plain = figures.lines(100, false);
        assert!(plain.iter().all(|line| !line.contains('\x1b')));
        assert!(plain.iter().any(|line| line.ends_with("1.000 of 2.000 at δ = 1e-5")), "{plain:?}");
        assert_eq!(figures.lines(60, false).len(), 2);
        assert_eq!(figures.short().as_deref(), Some("accuracy 90.0 %  ε 1.00 of 2.00"));
        assert_eq!(Figures::default().short(), None);
    }
}
