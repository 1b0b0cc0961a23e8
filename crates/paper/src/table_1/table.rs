//! The table: measured beside the paper's, as text, Markdown, CSV and LaTeX. What is not done is shown as such.

use super::experiment::Table1;
use super::results::{Cell, Results};
use super::setting::{BUDGETS, Group, paper_accuracy};
use crate::grid::show::{self, ascending, paper_name, thousands};
use crate::grid::{Cell as _, State};
use prdo::algorithm::Method;
use prdo::report::Spread;

/// One group of cells as rows and columns.
pub struct AccuracyTable<'a> {
    pub group: Group,
    methods: Vec<Method>,
    epsilons: Vec<f64>,
    cells: Vec<&'a Cell>,
}

impl<'a> AccuracyTable<'a> {
    /// The tables there are: the one asked for first.
    pub fn all(results: &'a Results, asked: &Table1) -> Vec<Self> {
        results.groups(asked.group).into_iter().map(|group| Self::of(group, results, asked)).collect()
    }

    /// Rows and columns of what is there and of what was asked for; the paper's own table is always whole.
    fn of(group: Group, results: &'a Results, asked: &Table1) -> Self {
        let cells: Vec<&Cell> = results.cells.iter().filter(|cell| cell.key.group == group).collect();
        let wanted = asked.group == group;
        let mut epsilons: Vec<f64> = cells.iter().map(|cell| cell.key.epsilon).collect();
        epsilons.extend(asked.epsilons.iter().filter(|_| wanted));
        epsilons.extend(BUDGETS.iter().filter(|_| group.is_the_papers()));
        let there = |method: &Method| {
            group.is_the_papers()
                || (wanted && asked.methods.contains(method))
                || cells.iter().any(|cell| cell.key.method == *method)
        };
        let methods = Method::PAPER.iter().copied().filter(there).collect();
        Self { group, methods, epsilons: ascending(epsilons), cells }
    }

    pub fn epsilons(&self) -> &[f64] {
        &self.epsilons
    }

    pub fn methods(&self) -> &[Method] {
        &self.methods
    }

    /// The cells of one place, one for each seed.
    pub fn at(&self, method: Method, epsilon: f64) -> Vec<&'a Cell> {
        let here = |cell: &&&Cell| cell.key.method == method && cell.key.epsilon == epsilon;
        self.cells.iter().filter(here).copied().collect()
    }

    fn finished(&self, method: Method, epsilon: f64) -> impl Iterator<Item = &'a Cell> {
        self.at(method, epsilon).into_iter().filter(|cell| cell.finished)
    }

    /// Accuracy over finished seeds, in percent.
    fn spread(&self, method: Method, epsilon: f64) -> Option<Spread> {
        let accuracies = self.finished(method, epsilon).filter_map(Cell::accuracy);
        Spread::of(&accuracies.map(|a| 100.0 * a).collect::<Vec<_>>())
    }

    /// What one place says: the accuracy, how far it is, or that it was not begun.
    fn place(&self, method: Method, epsilon: f64) -> String {
        let cells = self.at(method, epsilon);
        let finished = self.finished(method, epsilon).count();
        let mut parts = Vec::new();
        match self.spread(method, epsilon) {
            Some(s) if finished > 1 => {
                parts.push(format!("{:.3} ± {:.3} ({finished} seeds)", s.mean, s.deviation));
            }
            Some(s) => parts.push(format!("{:.3}", s.mean)),
            None => {}
        }
        for cell in &cells {
            let State::Interrupted { rounds } = cell.state() else { continue };
            let so_far = cell.accuracy().filter(|_| rounds > 0);
            let so_far = so_far.map_or(String::new(), |a| format!(": {:.1} so far", 100.0 * a));
            let (done, all) = (thousands(rounds), thousands(self.group.rounds));
            let seed = if cells.len() > 1 { format!("seed {}: ", cell.key.seed) } else { String::new() };
            parts.push(format!("{seed}{done} of {all} rounds{so_far}"));
        }
        if parts.is_empty() { "not run yet".to_string() } else { parts.join("; ") }
    }

    pub fn rows(&self) -> (Vec<String>, Vec<Vec<String>>) {
        // With other rounds or other data there is nothing to hold against.
        let beside = self.group.is_the_papers();
        let mut head = vec!["method".to_string()];
        for epsilon in &self.epsilons {
            head.push(format!("ε = {epsilon}"));
            if beside {
                head.push(format!("paper, ε = {epsilon}"));
            }
        }
        let row = |method: &Method| {
            let mut row = vec![paper_name(*method)];
            for epsilon in &self.epsilons {
                row.push(self.place(*method, *epsilon));
                if beside {
                    row.push(paper_accuracy(*method, *epsilon).map_or("–".into(), |a| format!("{a:.3}")));
                }
            }
            row
        };
        (head, self.methods.iter().map(row).collect())
    }

    /// Who is ahead at each budget where every method of the table is finished, on the same seeds.
    pub fn verdict(&self) -> Vec<String> {
        self.epsilons.iter().filter_map(|epsilon| self.leader(*epsilon)).collect()
    }

    fn leader(&self, epsilon: f64) -> Option<String> {
        let seeds = |method: &Method| {
            let mut seeds: Vec<u64> = self.finished(*method, epsilon).map(|cell| cell.key.seed).collect();
            seeds.sort_unstable();
            seeds
        };
        let all = seeds(self.methods.first()?);
        if self.methods.iter().any(|method| seeds(method) != all) {
            return None;
        }
        let found = self.methods.iter().map(|method| Some((*method, self.spread(*method, epsilon)?)));
        let mut found = found.collect::<Option<Vec<_>>>()?;
        found.sort_by(|a, b| b.1.mean.total_cmp(&a.1.mean));
        Some(format!("At ε = {epsilon} {}", show::leader(&found)?))
    }

    fn to_markdown(&self) -> String {
        let (head, rows) = self.rows();
        format!("## {}\n\n{}\n{}\n", self.group.title(), show::markdown(&head, &rows), self.group.caption())
    }

    /// As a LaTeX table: measured, and the paper's in brackets.
    fn to_latex(&self) -> String {
        let beside = if self.group.is_the_papers() { " In brackets: the paper's." } else { "" };
        let columns = "c".repeat(self.epsilons.len());
        let head: String = self.epsilons.iter().map(|e| format!(" & $\\varepsilon={e}$")).collect();
        let mut text = format!(
            "\\begin{{table}}[h]\n\\centering\n\\caption{{{}{beside}}}\n\\begin{{tabular}}{{l{columns}}}\n\
             \\toprule\nMethod{head}\\\\\n\\midrule\n",
            latex(&self.group.caption())
        );
        for method in &self.methods {
            text += &paper_name(*method);
            for epsilon in &self.epsilons {
                let paper = paper_accuracy(*method, *epsilon).filter(|_| self.group.is_the_papers());
                let paper = paper.map_or(String::new(), |a| format!(" ({a:.3})"));
                text += &format!(" & {}{paper}", latex(&self.place(*method, *epsilon)));
            }
            text += "\\\\\n";
        }
        text + "\\bottomrule\n\\end{tabular}\n\\end{table}\n"
    }
}

fn latex(text: &str) -> String {
    let pairs = [
        ("%", "\\%"),
        ("δ = 1e-5", "$\\delta=10^{-5}$"),
        ("ε", "$\\varepsilon$"),
        ("±", "$\\pm$"),
        ("–", "--"),
    ];
    pairs.iter().fold(text.to_string(), |text, (from, to)| text.replace(from, to))
}

/// `table.md`; `left` is the command that resumes, if anything is left to do.
pub fn markdown(tables: &[AccuracyTable<'_>], left: Option<&str>) -> String {
    let parts: Vec<String> = tables.iter().map(AccuracyTable::to_markdown).collect();
    let left = left.map_or(String::new(), |command| format!("\nTo resume: `{command}`\n"));
    format!("# Table 1\n\n{}{left}", parts.join("\n"))
}

pub fn latex_tables(tables: &[AccuracyTable<'_>]) -> String {
    tables.iter().map(AccuracyTable::to_latex).collect::<Vec<_>>().join("\n")
}

/// `table.csv`: a line for each cell that was begun, figures with all their digits.
pub fn csv(results: &Results) -> String {
    let mut text = String::from(
        "setting,method,epsilon,rounds,noise,start,seed,noise_multiplier,epsilon_proven,rounds_done,finished,accuracy,\
         paper_accuracy,seconds\n",
    );
    let optional = |x: Option<f64>| x.map_or(String::new(), |x| format!("{x:?}"));
    for cell in &results.cells {
        let group = cell.key.group;
        let paper = paper_accuracy(cell.key.method, cell.key.epsilon).filter(|_| group.is_the_papers());
        text += &format!(
            "{},{},{},{},{},{},{},{:?},{:?},{},{},{},{},{:?}\n",
            group.setting.name(),
            cell.key.method,
            cell.key.epsilon,
            group.rounds,
            group.noise.name(),
            group.start_name().unwrap_or(""),
            cell.key.seed,
            cell.noise_multiplier,
            cell.epsilon_proven,
            cell.rounds_done,
            cell.finished,
            optional(cell.accuracy()),
            optional(paper.map(|a| a / 100.0)),
            cell.seconds
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::experiment::Request;
    use super::super::setting::{Key, Noise};
    use super::*;
    use crate::grid::{Grid as _, Results as _};
    use prdo::network::Law;
    use std::path::PathBuf;
    use std::time::Duration;

    /// At ε = 8.
    fn asked(methods: &[Method], seeds: &[u64], rounds: Option<u32>) -> Table1 {
        Table1::new(Request {
            data: PathBuf::from("data"),
            methods: methods.to_vec(),
            epsilons: vec![8.0],
            rounds,
            seeds: seeds.to_vec(),
            noise: Noise::Accountant,
            start: Law::default(),
            out: None,
            quick: false,
            checkpoint_every: Duration::ZERO,
        })
        .unwrap()
    }

    /// A cell whose accuracy is 0.481 from the first round to `done`.
    fn cell(key: Key, done: u32) -> Cell {
        Cell {
            key,
            noise_multiplier: 1.5,
            epsilon_proven: 8.0,
            rounds_done: done,
            finished: done == key.group.rounds,
            seconds: 1.0,
            curve: (0..=done / 250).map(|k| (250 * k, 0.481)).collect(),
        }
    }

    #[test]
    fn the_papers_table_is_whole_and_what_is_missing_is_shown() {
        let asked = asked(&[Method::Prdo], &[1], None);
        let mut results = Results::default();
        let mut key = asked.cells()[0];
        results.put(cell(key, 3250));
        key.method = Method::Ed;
        results.put(cell(key, 9500));
        let tables = AccuracyTable::all(&results, &asked);
        let (head, rows) = tables[0].rows();
        assert_eq!(head[1..3], ["ε = 4", "paper, ε = 4"]);
        assert_eq!(rows[0][5..], ["3,250 of 9,500 rounds: 48.1 so far", "54.424"]);
        assert_eq!(rows[1][3..], ["not run yet", "54.084", "48.100", "54.186"]);
        assert_eq!(rows[4][..3], ["DP-DSGD", "not run yet", "47.834"]);
        assert!(tables[0].verdict().is_empty(), "nobody is ahead of those who have not run");
        let latex = latex_tables(&tables);
        assert!(
            latex.contains("DP-ED & not run yet (52.964) & not run yet (54.084) & 48.100 (54.186)"),
            "{latex}"
        );
        assert!(
            markdown(&tables, Some(&asked.command()))
                .contains("`prdo reproduce table-1 --methods prdo --epsilon 8`")
        );
        assert!(!markdown(&tables, None).contains("resume"));
    }

    #[test]
    fn the_verdict_compares_the_same_seeds_only() {
        let asked = asked(&[Method::Prdo, Method::Ed], &[1, 2], Some(1000));
        let mut results = Results::default();
        for (k, key) in asked.cells().iter().enumerate().take(3) {
            let curve = (0..=50).map(|n| (20 * n, 0.5 + 0.01 * k as f64)).collect();
            results.put(Cell { curve, ..cell(*key, 1000) });
        }
        assert!(AccuracyTable::all(&results, &asked)[0].verdict().is_empty());
        results.cells.truncate(2);
        let (head, _) = AccuracyTable::all(&results, &asked)[0].rows();
        assert_eq!(head, ["method", "ε = 8"], "the paper has nothing for T = 1000");
        let verdict = AccuracyTable::all(&results, &asked)[0].verdict();
        assert_eq!(
            verdict,
            [
                "At ε = 8 DP-ED has the highest accuracy, 51.00 %, before PRDO with 50.00 % (one seed: this may be chance)."
            ]
        );
    }
}
