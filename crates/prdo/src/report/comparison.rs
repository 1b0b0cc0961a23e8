//! Several runs side by side: the table, the figure, the report.

use super::page::{Page, table};
use super::privacy::{Statement, statement};
use super::style::{bytes, figure, method_style, percent};
use crate::output::{format_row, header, parse_rows};
use crate::plot::{Chart, Figure, Scale, Series};
use crate::run::Guarantee;
use prdo_algorithm::Method;
use prdo_simulator::Row;
use serde_json::{Value as Json, json};
use std::path::Path;

/// One run of a comparison.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The method.
    pub method: Method,
    /// What sets this run apart from the others, the seed left out: `("privacy.epsilon", "2.0")`.
    pub labels: Vec<(String, String)>,
    /// Its seed.
    pub seed: u64,
    /// Its metrics.
    pub rows: Vec<Row>,
    /// Held-out accuracy of each node's own model.
    pub node_accuracy: Vec<f64>,
    /// What it promised; `None` is ε = ∞.
    pub guarantee: Option<Guarantee>,
    /// How long it trained.
    pub seconds: f64,
    /// (C_g, C_Δ).
    pub clip: Option<(f64, f64)>,
    /// γ, for methods with differences.
    pub gamma: Option<f64>,
    /// T.
    pub rounds: u64,
}

/// Runs side by side.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// What is compared.
    pub title: String,
    /// What the data is, in words.
    pub data: String,
    /// The command that repeats it.
    pub command: String,
    /// The runs.
    pub cells: Vec<Cell>,
}

/// The runs that differ in their seed only.
#[derive(Clone, Debug)]
pub struct Group<'a> {
    /// The name in tables and legends.
    pub name: String,
    /// The method.
    pub method: Method,
    /// The runs.
    pub cells: Vec<&'a Cell>,
}

/// Mean and sample deviation over seeds.
#[derive(Clone, Copy, Debug)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// The sample standard deviation; 0 for one run.
    pub deviation: f64,
}

impl Spread {
    fn of(values: &[f64]) -> Option<Self> {
        let n = values.len() as f64;
        if values.is_empty() {
            return None;
        }
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
        Some(Self { mean, deviation: if n > 1.0 { (squares / (n - 1.0)).sqrt() } else { 0.0 } })
    }
}

impl Group<'_> {
    fn spread(&self, value: impl Fn(&Cell) -> Option<f64>) -> Option<Spread> {
        Spread::of(&self.cells.iter().filter_map(|cell| value(cell)).collect::<Vec<_>>())
    }

    /// Final test accuracy.
    pub fn accuracy(&self) -> Option<Spread> {
        self.spread(|cell| cell.rows.last()?.test_accuracy)
    }

    /// Final test accuracy of the worst node's own model.
    pub fn worst_node(&self) -> Option<Spread> {
        self.spread(|cell| cell.node_accuracy.iter().copied().reduce(f64::min))
    }

    /// Mean gradient norm of the last fifth of the rounds: steadier than the last row.
    pub fn late_gradient(&self) -> Option<Spread> {
        self.spread(late_gradient)
    }

    /// The mean and the range over seeds of a column, against another.
    fn curve(&self, x: &dyn Fn(&Row) -> f64, y: &dyn Fn(&Row) -> Option<f64>) -> Series {
        let length = self.cells.iter().map(|cell| cell.rows.len()).min().unwrap_or(0);
        let (mut points, mut band) = (Vec::new(), Vec::new());
        for k in 0..length {
            let values: Vec<f64> = self.cells.iter().filter_map(|cell| y(&cell.rows[k])).collect();
            let Some(spread) = Spread::of(&values) else { continue };
            points.push((x(&self.cells[0].rows[k]), spread.mean));
            let low = values.iter().copied().fold(f64::INFINITY, f64::min);
            band.push((low, values.iter().copied().fold(f64::NEG_INFINITY, f64::max)));
        }
        let series = Series::new(&self.name, points);
        if self.cells.len() > 1 { series.band(band) } else { series }
    }
}

fn late_gradient(cell: &Cell) -> Option<f64> {
    let from = cell.rows.last()?.round as f64 * 0.8;
    let late: Vec<f64> =
        cell.rows.iter().filter(|row| f64::from(row.round) >= from).map(|row| row.grad_norm).collect();
    Spread::of(&late).map(|s| s.mean)
}

impl Comparison {
    /// The runs grouped by everything but the seed, in the order they came.
    pub fn groups(&self) -> Vec<Group<'_>> {
        let mut groups: Vec<Group<'_>> = Vec::new();
        for cell in &self.cells {
            let name = self.name(cell);
            match groups.iter_mut().find(|group| group.name == name) {
                Some(group) => group.cells.push(cell),
                None => groups.push(Group { name, method: cell.method, cells: vec![cell] }),
            }
        }
        groups
    }

    fn name(&self, cell: &Cell) -> String {
        let mut name = cell.method.card().title.to_string();
        for (key, value) in &cell.labels {
            if key != "method.name" {
                let key = key.rsplit('.').next().unwrap_or(key);
                name.push_str(&format!(", {key} {value}"));
            }
        }
        name
    }

    /// Whether a group takes part in the contest: a run without privacy does not compete with private ones.
    fn competes(&self, group: &Group<'_>) -> bool {
        let private = |cell: &Cell| cell.guarantee.is_some();
        !self.cells.iter().any(private) || group.cells.iter().all(|cell| private(cell))
    }

    /// The best group: by accuracy where there is one, otherwise by late gradient norm.
    pub fn winner(&self) -> Option<usize> {
        let score = |group: &Group<'_>| match group.accuracy() {
            Some(spread) => Some(spread.mean),
            None => group.late_gradient().map(|spread| -spread.mean),
        };
        let groups = self.groups();
        let contest = groups.iter().enumerate().filter(|(_, group)| self.competes(group));
        let scores = contest.filter_map(|(k, group)| Some((k, score(group)?)));
        scores.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(k, _)| k)
    }

    /// One honest sentence: who won, by how much, and whether that is more than chance.
    pub fn verdict(&self) -> String {
        let groups = self.groups();
        let Some(best) = self.winner().and_then(|k| groups.get(k)) else {
            return "Nothing was measured.".to_string();
        };
        let by_accuracy = best.accuracy().is_some();
        let measure = |group: &Group<'_>| if by_accuracy { group.accuracy() } else { group.late_gradient() };
        let Some(top) = measure(best) else { return "Nothing was measured.".to_string() };
        let show = |s: Spread| if by_accuracy { percent(s.mean) } else { figure(s.mean) };
        let what = if by_accuracy { "test accuracy" } else { "late gradient norm" };
        let others: Vec<(&Group<'_>, Spread)> =
            groups.iter().filter(|g| g.name != best.name).filter_map(|g| Some((g, measure(g)?))).collect();
        let rivals = others.iter().filter(|(group, _)| self.competes(group));
        let second =
            rivals.min_by(|a, b| (a.1.mean - top.mean).abs().total_cmp(&(b.1.mean - top.mean).abs()));
        let Some((runner_up, spread)) = second else {
            return format!("{}: {what} {}.", best.name, show(top));
        };
        let gap = (top.mean - spread.mean).abs();
        let seeds = best.cells.len();
        let noise = (top.deviation.powi(2) + spread.deviation.powi(2)).sqrt() / (seeds as f64).sqrt();
        let doubt = match seeds {
            1 => " (one seed: this may be chance)",
            _ if gap < 2.0 * noise => " (within the spread over seeds: no clear winner)",
            _ => "",
        };
        let open: String = others
            .iter()
            .filter(|(group, _)| !self.competes(group))
            .map(|(group, spread)| {
                format!(" Without privacy, {} has {}.", group.method.card().title, show(*spread))
            })
            .collect();
        format!(
            "{} has the best {what}, {}, before {} with {}{doubt}.{open}{}",
            best.name,
            show(top),
            runner_up.name,
            show(*spread),
            self.node_verdict()
        )
    }

    /// What the organisations' own models are worth, where that differs from the average model.
    fn node_verdict(&self) -> String {
        let groups = self.groups();
        let contest = groups.iter().filter(|group| self.competes(group));
        let worst = contest.filter_map(|group| Some((group, group.worst_node()?.mean)));
        let by_worst = |a: &(&Group<'_>, f64), b: &(&Group<'_>, f64)| a.1.total_cmp(&b.1);
        let (Some(low), Some(high)) = (worst.clone().min_by(by_worst), worst.max_by(by_worst)) else {
            return String::new();
        };
        if high.1 - low.1 < 0.005 {
            return String::new();
        }
        format!(
            " The organisation worst off with its own model gets {} from {} and {} from {}.",
            percent(high.1),
            high.0.name,
            percent(low.1),
            low.0.name
        )
    }

    /// Column titles and rows for people.
    pub fn table(&self) -> (Vec<&'static str>, Vec<Vec<String>>) {
        let groups = self.groups();
        let accuracy = groups.iter().any(|group| group.accuracy().is_some());
        let mut head = vec!["method"];
        if accuracy {
            head.extend(["test accuracy", "worst node's own"]);
        }
        head.extend([
            "gradient norm, last fifth",
            "loss",
            "disagreement",
            "ε",
            "sent",
            "gradients",
            "seconds",
        ]);
        let rows = groups.iter().map(|group| {
            let spread = |s: Option<Spread>, show: &dyn Fn(f64) -> String| match s {
                Some(s) if group.cells.len() > 1 => format!("{} ± {}", show(s.mean), show(s.deviation)),
                Some(s) => show(s.mean),
                None => String::new(),
            };
            let last = |value: &dyn Fn(&Row) -> f64| group.spread(|cell| cell.rows.last().map(value));
            let mut row = vec![group.name.clone()];
            if accuracy {
                row.push(spread(group.accuracy(), &percent));
                row.push(spread(group.worst_node(), &percent));
            }
            row.push(spread(group.late_gradient(), &figure));
            row.push(spread(last(&|row| row.loss), &figure));
            row.push(spread(last(&|row| row.consensus_error), &figure));
            row.push(group.cells[0].guarantee.map_or("∞".into(), |g| format!("{:.3}", g.epsilon)));
            row.push(group.cells[0].rows.last().map_or(String::new(), |row| bytes(row.bytes_sent)));
            row.push(
                group.cells[0]
                    .rows
                    .last()
                    .map_or(String::new(), |row| figure(row.gradient_evaluations as f64)),
            );
            row.push(spread(group.spread(|cell| Some(cell.seconds)), &|s| format!("{s:.2}")));
            row
        });
        (head, rows.collect())
    }

    /// The table as CSV, a line for each run, figures with all their digits.
    pub fn to_csv(&self) -> String {
        let keys: Vec<&String> =
            self.cells.first().map(|c| c.labels.iter().map(|(k, _)| k).collect()).unwrap_or_default();
        let mut text = String::from("method");
        keys.iter().filter(|k| **k != "method.name").for_each(|k| text.push_str(&format!(",{k}")));
        text.push_str(&format!(",seed,late_grad_norm,noise_multiplier,epsilon,delta,seconds,{}\n", header()));
        for cell in &self.cells {
            text.push_str(cell.method.card().name);
            cell.labels
                .iter()
                .filter(|(k, _)| k != "method.name")
                .for_each(|(_, v)| text.push_str(&format!(",{v}")));
            let (z, epsilon, delta) = cell.guarantee.map_or_else(
                || (String::new(), "inf".to_string(), String::new()),
                |g| {
                    (
                        format!("{:?}", g.noise_multiplier),
                        format!("{:?}", g.epsilon),
                        format!("{:?}", g.delta),
                    )
                },
            );
            let late = late_gradient(cell).map_or(String::new(), |x| format!("{x:?}"));
            let last = cell.rows.last().map(format_row).unwrap_or_default();
            text.push_str(&format!(
                ",{},{late},{z},{epsilon},{delta},{:?},{last}\n",
                cell.seed, cell.seconds
            ));
        }
        text
    }

    /// Gradient norm and accuracy against rounds.
    pub fn figure(&self) -> Figure {
        let styles = self.styles();
        let chart = |title: &str,
                     x: &str,
                     y: &str,
                     scale,
                     at: &dyn Fn(&Row) -> f64,
                     value: &dyn Fn(&Row) -> Option<f64>| {
            let mut chart = Chart::new(title, x, y).y_scale(scale);
            for (group, style) in self.groups().iter().zip(&styles) {
                chart = chart.series(group.curve(at, value).style(*style));
            }
            chart
        };
        let round = |row: &Row| f64::from(row.round);
        let mut figure = Figure::new("").columns(2).shared_legend();
        if self.cells.iter().any(|cell| cell.rows.iter().any(|row| row.test_accuracy.is_some())) {
            figure =
                figure.panel(chart("Test accuracy", "round", "share right", Scale::Linear, &round, &|row| {
                    row.test_accuracy
                }));
        }
        figure =
            figure.panel(chart("Gradient norm", "round", "‖∇f(x̄)‖", Scale::Log, &round, &|row| {
                Some(row.grad_norm)
            }));
        figure = figure.panel(chart(
            "Disagreement of the nodes",
            "round",
            "mean ‖x − x̄‖²",
            Scale::Log,
            &round,
            &|row| Some(row.consensus_error),
        ));
        figure
            .panel(chart(
                "Gradient norm for the traffic",
                "MB sent",
                "‖∇f(x̄)‖",
                Scale::Log,
                &|row| row.bytes_sent as f64 / 1e6,
                &|row| Some(row.grad_norm),
            ))
            .panel_size(460.0, 300.0)
    }

    /// A style for each group: the method's own where methods differ, otherwise one after the other.
    fn styles(&self) -> Vec<usize> {
        let groups = self.groups();
        let own: Vec<usize> = groups.iter().map(|group| method_style(group.method)).collect();
        let mut distinct = own.clone();
        distinct.sort_unstable();
        distinct.dedup();
        if distinct.len() == own.len() { own } else { (0..groups.len()).collect() }
    }

    /// The whole report.
    pub fn to_html(&self) -> String {
        let mut page = Page::new(&self.title, &self.verdict());
        page.paragraph(&self.data);
        let (head, rows) = self.table();
        page.add(&table(&head, &rows, &self.winner().into_iter().collect::<Vec<_>>()));
        page.figure(self.figure());
        page.heading("Privacy");
        self.add_privacy(&mut page);
        page.heading("Repeat it");
        page.code(&self.command);
        page.finish()
    }

    fn add_privacy(&self, page: &mut Page) {
        let mut said: Vec<String> = Vec::new();
        for group in self.groups() {
            let cell = group.cells[0];
            let s = Statement {
                guarantee: cell.guarantee,
                rounds: cell.rounds,
                seed: cell.seed,
                clip: cell.clip,
                gamma: cell.gamma,
            };
            for (k, (paragraph, warning)) in statement(&s).into_iter().enumerate() {
                let own = cell.guarantee.is_some() && k == 1;
                let text = if own { format!("{}: {paragraph}", group.name) } else { paragraph };
                if !said.contains(&text) {
                    if warning {
                        page.note(&text, true)
                    } else {
                        page.paragraph(&text)
                    }
                    said.push(text);
                }
            }
        }
    }

    /// Everything, for `comparison.json`: what the report is built from.
    pub fn to_json(&self) -> Json {
        let cell = |cell: &Cell| {
            let guarantee = cell.guarantee.map(|g| {
                json!({"epsilon": g.epsilon, "delta": g.delta, "noise_multiplier": g.noise_multiplier,
                       "first_rate": g.first_rate, "rate": g.rate})
            });
            let labels: Vec<Json> = cell.labels.iter().map(|(k, v)| json!([k, v])).collect();
            let rows: Vec<String> = cell.rows.iter().map(format_row).collect();
            json!({"method": cell.method.card().name, "labels": labels, "seed": cell.seed, "guarantee": guarantee,
                   "seconds": cell.seconds, "node_accuracy": cell.node_accuracy, "clip": cell.clip.map(|(g, d)| [g, d]), "gamma": cell.gamma,
                   "rounds": cell.rounds, "late_grad_norm": late_gradient(cell), "metrics": rows})
        };
        json!({"title": self.title, "data": self.data, "command": self.command, "verdict": self.verdict(),
               "columns": header(), "runs": self.cells.iter().map(cell).collect::<Vec<_>>()})
    }

    /// Reads `comparison.json` back.
    ///
    /// # Errors
    /// What is missing or damaged, in words.
    pub fn read(folder: &Path) -> Result<Self, String> {
        let path = folder.join("comparison.json");
        let bytes = std::fs::read(&path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
        let json: Json =
            serde_json::from_slice(&bytes).map_err(|e| format!("{} is damaged: {e}", path.display()))?;
        Self::from_json(&json).ok_or_else(|| format!("{} is damaged: it is not a comparison", path.display()))
    }

    fn from_json(json: &Json) -> Option<Self> {
        let text = |value: &Json| value.as_str().map(String::from);
        let cell = |c: &Json| -> Option<Cell> {
            let labels = c["labels"].as_array()?.iter().map(|l| Some((text(&l[0])?, text(&l[1])?)));
            let lines: Vec<String> = c["metrics"].as_array()?.iter().filter_map(text).collect();
            let g = &c["guarantee"];
            let guarantee = g.is_object().then(|| {
                Some(Guarantee {
                    epsilon: g["epsilon"].as_f64()?,
                    delta: g["delta"].as_f64()?,
                    noise_multiplier: g["noise_multiplier"].as_f64()?,
                    first_rate: g["first_rate"].as_f64()?,
                    rate: g["rate"].as_f64()?,
                })
            });
            Some(Cell {
                method: c["method"].as_str()?.parse().ok()?,
                labels: labels.collect::<Option<_>>()?,
                seed: c["seed"].as_u64()?,
                rows: parse_rows(&format!("{}\n{}\n", header(), lines.join("\n"))),
                node_accuracy: c["node_accuracy"].as_array()?.iter().filter_map(Json::as_f64).collect(),
                guarantee: guarantee.flatten(),
                seconds: c["seconds"].as_f64()?,
                clip: c["clip"][0].as_f64().zip(c["clip"][1].as_f64()),
                gamma: c["gamma"].as_f64(),
                rounds: c["rounds"].as_u64()?,
            })
        };
        Some(Self {
            title: text(&json["title"])?,
            data: text(&json["data"])?,
            command: text(&json["command"])?,
            cells: json["runs"].as_array()?.iter().map(cell).collect::<Option<_>>()?,
        })
    }
}
