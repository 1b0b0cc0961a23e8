//! A comparison's table: for people, as CSV and for a paper.

use crate::comparison::ComparisonReport;
use crate::differences::{Difference, Measure, ranking};
use crate::groups::{Group, Spread};
use crate::latex;
use crate::statistics::Paired;
use crate::style::{bytes, figure};
use prdo_data::csv::text_of;
use prdo_runfile::Key;
use prdo_simulator::Row;
use prdo_store::{Cell, format_row, header};

/// All digits of a number, nothing where there is none.
fn exact(x: Option<f64>) -> String {
    x.map_or(String::new(), |x| format!("{x:?}"))
}

type Column = (&'static str, fn(&Cell) -> String);

/// What the CSV says of a run between its labels and its last row.
const CSV_COLUMNS: [Column; 9] = [
    ("seed", |cell| cell.seed.to_string()),
    ("late_grad_norm", |cell| exact(cell.late_grad_norm())),
    ("worst_node_accuracy", |cell| exact(cell.node_accuracy.iter().copied().reduce(f64::min))),
    ("test_auc", |cell| exact(cell.test_auc)),
    ("most_common_class", |cell| exact(cell.most_common_class)),
    ("noise_multiplier", |cell| exact(cell.guarantee.map(|g| g.noise_multiplier))),
    ("epsilon", |cell| cell.guarantee.map_or("inf".to_string(), |g| format!("{:?}", g.epsilon))),
    ("delta", |cell| exact(cell.guarantee.map(|g| g.delta))),
    ("seconds", |cell| format!("{:?}", cell.seconds)),
];

impl ComparisonReport {
    pub fn table(&self) -> (Vec<&'static str>, Vec<Vec<String>>) {
        let groups = self.groups();
        let accuracy = groups.iter().any(|group| group.accuracy().is_some());
        let mut head = vec!["method"];
        let auc = groups.iter().any(|group| group.auc().is_some());
        if accuracy {
            head.push("test accuracy");
            head.extend(auc.then_some("AUC"));
            head.push("worst node's own");
        }
        head.extend(["late gradient norm", "loss", "disagreement", "ε", "sent", "gradients"]);
        let rows = groups.iter().map(|group| {
            let spread = |s: Option<Spread>| s.map_or(String::new(), Spread::show);
            let share = |s: Option<Spread>| s.map_or(String::new(), Spread::show_percent);
            let last = |value: &dyn Fn(&Row) -> f64| group.spread(|cell| cell.rows.last().map(value));
            let mut row = vec![group.name.clone()];
            if accuracy {
                row.push(share(group.accuracy()));
                row.extend(auc.then(|| spread(group.auc())));
                row.push(share(group.worst_node()));
            }
            row.push(spread(group.late_gradient()));
            row.push(spread(last(&|row| row.loss)));
            row.push(spread(last(&|row| row.consensus_error)));
            row.push(group.cells[0].guarantee.map_or("∞".into(), |g| format!("{:.3}", g.epsilon)));
            row.push(group.cells[0].rows.last().map_or(String::new(), |row| bytes(row.bytes_sent)));
            let gradients = last(&|row| row.gradient_evaluations as f64);
            row.push(gradients.map_or(String::new(), |gradients| figure(gradients.mean.round())));
            row
        });
        let mut rows: Vec<Vec<String>> = rows.collect();
        if let Some(shown) = self.baseline_shown().filter(|_| accuracy) {
            let mut row = vec!["majority class".to_string(), shown];
            row.extend(auc.then(|| "0.5".to_string()));
            row.resize(head.len(), String::new());
            rows.push(row);
        }
        (head, rows)
    }

    /// The table as CSV, a line for each run, figures with all their digits.
    pub fn to_csv(&self) -> String {
        let mut keys: Vec<&str> = Vec::new();
        for (key, _) in self.cells.iter().flat_map(|cell| &cell.labels) {
            if key != Key::MethodName.path() && !keys.contains(&key.as_str()) {
                keys.push(key);
            }
        }
        let mut head = vec!["method"];
        // The last column is the run's whole name; what its file calls it is another one.
        head.extend(keys.iter().map(|key| if *key == Key::Name.path() { "run_name" } else { key }));
        head.extend(CSV_COLUMNS.map(|(name, _)| name));
        let columns = header();
        head.extend(columns.split(','));
        head.push("name");
        let head = head.into_iter().map(String::from).collect();
        let line = |cell: &Cell| -> Vec<String> {
            let mut line = vec![cell.method.card().name.to_string()];
            for key in &keys {
                let value = cell.labels.iter().find(|(known, _)| known == key);
                line.push(value.map_or(String::new(), |(_, value)| value.clone()));
            }
            line.extend(CSV_COLUMNS.map(|(_, value)| value(cell)));
            // A run without rows still has a cell for each of their columns.
            let empty = || ",".repeat(columns.matches(',').count());
            line.extend(cell.rows.last().map_or_else(empty, format_row).split(',').map(String::from));
            // Programs that split at every comma should find as many cells in each line.
            line.push(self.name(cell).replace(',', ";"));
            line
        };
        text_of(std::iter::once(head).chain(self.cells.iter().map(line)))
    }

    /// `differences.csv`: every difference from the best of its contest, figures with all their digits.
    pub fn differences_to_csv(&self) -> String {
        let groups = self.groups();
        let name = |k: usize| groups.get(k).map_or(String::new(), |group| group.name.clone());
        let head = "contest,measure,best,other,pairs,mean_difference,low_95,high_95,t,p,p_holm,clear";
        let line = |d: &Difference| -> Vec<String> {
            let value = |f: fn(&Paired) -> f64| exact(d.paired.as_ref().map(f).filter(|v| v.is_finite()));
            vec![
                d.contest.clone(),
                d.measure.key().to_string(),
                name(d.best),
                name(d.other),
                d.pairs.to_string(),
                value(|p| p.mean),
                value(|p| p.low),
                value(|p| p.high),
                value(|p| if p.constant { f64::NAN } else { p.t }),
                value(|p| if p.constant { f64::NAN } else { p.p }),
                exact(d.corrected),
                d.is_clear().to_string(),
            ]
        };
        let head = head.split(',').map(String::from).collect();
        text_of(std::iter::once(head).chain(self.differences().iter().map(line)))
    }

    /// The differences by the measure that decides, for people: titles and rows.
    pub(crate) fn difference_table(&self) -> (Vec<&'static str>, Vec<Vec<String>>) {
        let groups = self.groups();
        let name = |k: usize| groups.get(k).map_or(String::new(), |group| group.name.clone());
        let row = |d: &Difference| {
            vec![name(d.other), name(d.best), d.measure.words().to_string(), d.show(), d.show_p()]
        };
        let head = vec!["method", "best", "by", "best − method (95 % interval)", "chance"];
        (head, self.differences().iter().map(row).collect())
    }

    /// `table.tex`: the table for a paper (packages: booktabs), the best of each contest in bold.
    pub fn to_latex(&self) -> String {
        let groups = self.groups();
        let measures: Vec<Measure> = Measure::ALL
            .into_iter()
            .filter(|measure| groups.iter().any(|group| measure.spread(group).is_some()))
            .collect();
        let contests = self.contests();
        let is_best = |k: usize, measure: Measure| {
            let mine = contests.iter().find(|(_, members)| members.contains(&k));
            let best = mine.and_then(|(_, members)| ranking(&groups, members, measure).first().map(|r| r.0));
            best == Some(k) && groups.len() > 1
        };
        let head: String =
            measures.iter().map(|measure| format!(" & {}", latex::text(measure.words()))).collect();
        let mut text = format!(
            "\\begin{{table}}\n\\centering\n\\caption{{{}}}\n\\begin{{tabular}}{{l{}r}}\n\\toprule\n\
             method{head} & $\\varepsilon$\\\\\n\\midrule\n",
            self.latex_caption(&groups),
            "r".repeat(measures.len())
        );
        for (k, group) in groups.iter().enumerate() {
            text += &latex::text(&group.name);
            for measure in &measures {
                let shown = measure.spread(group).map_or(String::new(), |spread| measure.show(spread));
                text += &format!(" & {}", latex::number(&shown, is_best(k, *measure)));
            }
            let epsilon = group.cells[0].guarantee.map_or("∞".into(), |g| format!("{:.3}", g.epsilon));
            text += &format!(" & {}\\\\\n", latex::number(&epsilon, false));
        }
        text + "\\bottomrule\n\\end{tabular}\n\\end{table}\n"
    }

    /// What the table shows: δ, seeds, what ± means, what is bold.
    fn latex_caption(&self, groups: &[Group<'_>]) -> String {
        let mut deltas: Vec<String> =
            self.cells.iter().filter_map(|cell| Some(format!("{:e}", cell.guarantee?.delta))).collect();
        deltas.sort();
        deltas.dedup();
        let delta = match deltas.is_empty() {
            true => String::new(),
            false => {
                let values: Vec<String> = deltas.iter().map(|d| latex::number(d, false)).collect();
                format!(" $\\delta$ = {}.", values.join(", "))
            }
        };
        let seeds = groups.iter().map(|group| group.cells.len()).max().unwrap_or(0);
        let spread = match seeds {
            0 | 1 => " One seed.".to_string(),
            n => format!(" Means over {n} seeds, $\\pm$ half the width of their 95\\,\\% interval."),
        };
        let bold = if groups.len() > 1 { " Best mean in bold." } else { "" };
        let common = self.baseline_shown().map_or(String::new(), |shown| {
            format!(" Always predicting the majority class gets {} right.", latex::text(&shown))
        });
        let pairs = self.pairs_note().map_or(String::new(), |note| format!(" {}", latex::text(&note)));
        format!("{}.{delta}{spread}{bold}{common}{pairs}", latex::text(&self.title))
    }
}
