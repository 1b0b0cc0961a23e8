//! Several runs side by side: the table, the figure, the report.

use super::groups::{Group, Spread, late_gradient};
use super::page::{Page, table};
use super::privacy::{Kind, Statement, statement};
use super::style::{bytes, figure, method_style, percent};
use crate::output::{format_row, header};
use crate::plot::{Chart, Figure, Scale};
use crate::run::Guarantee;
use prdo_algorithm::Method;
use prdo_simulator::Row;

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
    /// The run files, as they were.
    pub run_files: String,
    /// The network's picture, as SVG.
    pub network: String,
    /// The runs.
    pub cells: Vec<Cell>,
}

/// What a group is judged by, larger is better.
fn score(group: &Group<'_>) -> Option<f64> {
    match group.accuracy() {
        Some(spread) => Some(spread.mean),
        None => group.late_gradient().map(|spread| -spread.mean),
    }
}

fn best(groups: &[Group<'_>], members: &[usize]) -> Option<usize> {
    let scores = members.iter().filter_map(|k| Some((*k, score(&groups[*k])?)));
    scores.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(k, _)| k)
}

/// The first two of a contest, and whether the difference is more than chance.
struct Podium {
    first: usize,
    top: Spread,
    second: usize,
    next: Spread,
    clear: bool,
}

impl Podium {
    fn of(groups: &[Group<'_>], members: &[usize]) -> Option<Self> {
        let first = best(groups, members)?;
        let rest: Vec<usize> = members.iter().copied().filter(|k| *k != first).collect();
        let second = best(groups, &rest)?;
        let (top, next) = (measure(&groups[first])?, measure(&groups[second])?);
        let seeds = groups[first].cells.len();
        let noise = ((top.deviation.powi(2) + next.deviation.powi(2)) / seeds as f64).sqrt();
        let clear = seeds > 1 && (top.mean - next.mean).abs() >= 2.0 * noise;
        Some(Self { first, top, second, next, clear })
    }
}

/// What a group is measured by: accuracy where there is one, otherwise the late gradient norm.
fn measure(group: &Group<'_>) -> Option<Spread> {
    group.accuracy().or_else(|| group.late_gradient())
}

/// Who won among these groups, in a sentence or two.
fn contest_verdict(groups: &[Group<'_>], members: &[usize]) -> String {
    let Some(only) = best(groups, members) else { return "nothing was measured.".to_string() };
    let by_accuracy = groups[only].accuracy().is_some();
    let what = if by_accuracy { "test accuracy" } else { "late gradient norm" };
    let show = |s: Spread| if by_accuracy { percent(s.mean) } else { figure(s.mean) };
    let Some(p) = Podium::of(groups, members) else {
        let spread = measure(&groups[only]).map(show).unwrap_or_default();
        return format!("{} has {what} {spread}.", groups[only].method.card().title);
    };
    let (winner, runner_up) = (short(&groups[p.first]), short(&groups[p.second]));
    let node = node_verdict(groups, members);
    let (top, next) = (show(p.top), show(p.next));
    match (p.clear, groups[p.first].cells.len()) {
        (true, _) => format!("{winner} has the best {what}, {top}, before {runner_up} with {next}.{node}"),
        (false, 1) => {
            format!(
                "{winner} has the best {what}, {top}, before {runner_up} with {next} (one seed: this may be chance).{node}"
            )
        }
        (false, _) => format!(
            "no clear winner: {winner} has the best {what}, {top}, and {runner_up} {next}, within the spread over \
             seeds.{node}"
        ),
    }
}

/// A group's name without its privacy settings, which the contest already has.
fn short(group: &Group<'_>) -> String {
    let privacy = |label: &&(String, String)| label.0 == "privacy.epsilon";
    let suffix = group.cells[0].labels.iter().find(privacy).map(|(_, value)| format!(", ε = {value}"));
    suffix.map_or(group.name.clone(), |suffix| group.name.replace(&suffix, ""))
}

/// What the organisations' own models are worth, where that differs between methods.
fn node_verdict(groups: &[Group<'_>], members: &[usize]) -> String {
    let worst = members.iter().filter_map(|k| Some((*k, groups[*k].worst_node()?.mean)));
    let order = |a: &(usize, f64), b: &(usize, f64)| a.1.total_cmp(&b.1);
    match (worst.clone().max_by(order), worst.min_by(order)) {
        (Some(high), Some(low)) if high.1 - low.1 >= 0.005 => format!(
            " The organisation worst off with its own model gets {} from {} and {} from {}.",
            percent(high.1),
            short(&groups[high.0]),
            percent(low.1),
            short(&groups[low.0])
        ),
        _ => String::new(),
    }
}

/// The first letter as a capital, if it is a Latin one (ε stays ε).
fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_ascii_uppercase().to_string() + letters.as_str())
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
            match key.as_str() {
                "method.name" => {}
                "privacy" => name.push_str(", not private"),
                "privacy.epsilon" => name.push_str(&format!(", ε = {value}")),
                _ => name.push_str(&format!(", {} {value}", key.rsplit('.').next().unwrap_or(key))),
            }
        }
        name
    }

    /// The groups that may fairly be compared: those with the same privacy settings, under their name.
    fn contests(&self) -> Vec<(String, Vec<usize>)> {
        let mut contests: Vec<(String, Vec<usize>)> = Vec::new();
        for (k, group) in self.groups().iter().enumerate() {
            let privacy = group.cells[0].labels.iter().filter(|(key, _)| key.starts_with("privacy"));
            let name = privacy.map(|(key, value)| match key.as_str() {
                "privacy" => "without privacy".to_string(),
                "privacy.epsilon" => format!("ε = {value}"),
                _ => format!("{} {value}", key.trim_start_matches("privacy.")),
            });
            let name = name.collect::<Vec<_>>().join(", ");
            match contests.iter_mut().find(|(known, _)| *known == name) {
                Some((_, members)) => members.push(k),
                None => contests.push((name, vec![k])),
            }
        }
        contests
    }

    /// The groups that clearly won their contest: by more than chance, over several seeds.
    pub fn winners(&self) -> Vec<usize> {
        let groups = self.groups();
        let contests = self.contests().into_iter();
        contests
            .filter_map(|(_, members)| Podium::of(&groups, &members))
            .filter(|p| p.clear)
            .map(|p| p.first)
            .collect()
    }

    /// Honest sentences: who won each contest, by how much, and whether that is more than chance.
    pub fn verdict(&self) -> String {
        let groups = self.groups();
        let sentences = self.contests().into_iter().map(|(name, members)| {
            let text = contest_verdict(&groups, &members);
            if name.is_empty() { capitalised(&text) } else { format!("{}: {text}", capitalised(&name)) }
        });
        sentences.collect::<Vec<_>>().join("\n")
    }

    /// Column titles and rows for people.
    pub fn table(&self) -> (Vec<&'static str>, Vec<Vec<String>>) {
        let groups = self.groups();
        let accuracy = groups.iter().any(|group| group.accuracy().is_some());
        let mut head = vec!["method"];
        if accuracy {
            head.extend(["test accuracy", "worst node's own"]);
        }
        head.extend(["late gradient norm", "loss", "disagreement", "ε", "sent", "gradients"]);
        let rows = groups.iter().map(|group| {
            let spread = |s: Option<Spread>| s.map_or(String::new(), Spread::show);
            let share = |s: Option<Spread>| match s {
                Some(s) if group.cells.len() > 1 => {
                    format!("{:.1} ± {:.1} %", 100.0 * s.mean, 100.0 * s.deviation)
                }
                Some(s) => percent(s.mean),
                None => String::new(),
            };
            let last = |value: &dyn Fn(&Row) -> f64| group.spread(|cell| cell.rows.last().map(value));
            let mut row = vec![group.name.clone()];
            if accuracy {
                row.push(share(group.accuracy()));
                row.push(share(group.worst_node()));
            }
            row.push(spread(group.late_gradient()));
            row.push(spread(last(&|row| row.loss)));
            row.push(spread(last(&|row| row.consensus_error)));
            row.push(group.cells[0].guarantee.map_or("∞".into(), |g| format!("{:.3}", g.epsilon)));
            row.push(group.cells[0].rows.last().map_or(String::new(), |row| bytes(row.bytes_sent)));
            row.push(
                group.cells[0]
                    .rows
                    .last()
                    .map_or(String::new(), |row| figure(row.gradient_evaluations as f64)),
            );
            row
        });
        (head, rows.collect())
    }

    /// The table as CSV, a line for each run, figures with all their digits.
    pub fn to_csv(&self) -> String {
        let mut keys: Vec<&str> = Vec::new();
        for (key, _) in self.cells.iter().flat_map(|cell| &cell.labels) {
            if key != "method.name" && !keys.contains(&key.as_str()) {
                keys.push(key);
            }
        }
        let mut head = vec!["method"];
        head.extend(&keys);
        head.extend([
            "seed",
            "late_grad_norm",
            "worst_node_accuracy",
            "noise_multiplier",
            "epsilon",
            "delta",
        ]);
        let mut text = format!("{},seconds,{}\n", head.join(","), header());
        for cell in &self.cells {
            let optional = |x: Option<f64>| x.map_or(String::new(), |x| format!("{x:?}"));
            let mut line = vec![cell.method.card().name.to_string()];
            for key in &keys {
                let value =
                    cell.labels.iter().find(|(known, _)| known == key).map(|(_, value)| value.clone());
                line.push(value.unwrap_or_default());
            }
            line.push(cell.seed.to_string());
            line.push(optional(late_gradient(cell)));
            line.push(optional(cell.node_accuracy.iter().copied().reduce(f64::min)));
            line.push(optional(cell.guarantee.map(|g| g.noise_multiplier)));
            line.push(cell.guarantee.map_or("inf".to_string(), |g| format!("{:?}", g.epsilon)));
            line.push(optional(cell.guarantee.map(|g| g.delta)));
            line.push(format!("{:?}", cell.seconds));
            line.push(cell.rows.last().map(format_row).unwrap_or_default());
            text.push_str(&(line.join(",") + "\n"));
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
        page.add(&table(&head, &rows, &self.winners()));
        page.add(
            "<p class=\"soft\">Late gradient norm: mean over the last fifth of the rounds; ±: standard \
                  deviation over seeds; bands in the figures: range over seeds.</p>\n",
        );
        page.figure(self.figure());
        page.heading("Privacy");
        self.add_privacy(&mut page);
        page.heading("Network");
        page.add(&format!("<figure>{}</figure>\n", self.network));
        page.heading("Settings");
        page.paragraph("To repeat it to the bit:");
        page.code(&self.command);
        page.add("<details><summary>run files</summary>\n");
        page.code(&self.run_files);
        page.add("</details>\n");
        page.finish()
    }

    /// Each statement once, with the methods it holds for; the formal ones folded.
    fn add_privacy(&self, page: &mut Page) {
        let mut plain: Vec<(String, bool)> = Vec::new();
        let mut formal: Vec<(String, Vec<String>)> = Vec::new();
        for group in self.groups() {
            let cell = group.cells[0];
            let statement = statement(&Statement {
                guarantee: cell.guarantee,
                rounds: cell.rounds,
                seeds: group.cells.iter().map(|cell| cell.seed).collect(),
                clip: cell.clip,
                gamma: cell.gamma,
            });
            for (text, kind) in statement {
                match kind {
                    Kind::Formal => match formal.iter_mut().find(|(known, _)| *known == text) {
                        Some((_, names)) => names.push(group.name.clone()),
                        None => formal.push((text, vec![group.name.clone()])),
                    },
                    Kind::Warning | Kind::Plain => {
                        let text = match cell.guarantee {
                            None if self.groups().len() > 1 => format!("{}: {text}", group.name),
                            _ => text,
                        };
                        if !plain.iter().any(|(known, _)| *known == text) {
                            plain.push((text, kind == Kind::Warning));
                        }
                    }
                }
            }
        }
        for (text, warning) in plain {
            if warning { page.note(&text, true) } else { page.paragraph(&text) }
        }
        if !formal.is_empty() {
            page.add("<details><summary>The formal statement</summary>\n");
            formal.iter().for_each(|(text, names)| page.paragraph(&format!("{}. {text}", names.join(", "))));
            page.add("</details>\n");
        }
    }
}
