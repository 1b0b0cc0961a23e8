//! The report of a comparison.

use crate::against;
use crate::baseline::line_label;
use crate::comparison::ComparisonReport;
use crate::groups::Group;
use crate::page::{Page, table};
use crate::privacy::{StatedPairs, Statement, Tone, statement};
use crate::run_folder::{Gap, Report, add_gaps, nothing, text};
use crate::{chart, glossary};
use prdo_plot::{Chart, Figure, Scale};
use prdo_simulator::Row;
use prdo_store::names;
use std::path::Path;

/// The page of a comparison's folder; if `comparison.json` cannot be read, what `table.csv` says.
pub(crate) fn from_folder(folder: &Path) -> Result<Report, String> {
    let mut gaps = Vec::new();
    let comparison = ComparisonReport::salvage(folder, &mut gaps);
    match comparison {
        Some(comparison) if !comparison.cells.is_empty() => {
            let figure = Some(comparison.figure());
            Ok(Report { html: comparison.page(&gaps), gaps, figure })
        }
        _ => from_table(folder, gaps),
    }
}

fn from_table(folder: &Path, mut gaps: Vec<Gap>) -> Result<Report, String> {
    let Some(csv) = text(folder, names::TABLE, &mut gaps, "the results of the runs") else {
        return Err(nothing(folder, &gaps));
    };
    let mut lines = csv.lines().map(|line| line.split(',').map(String::from).collect::<Vec<_>>());
    let (head, rows) = (lines.next().unwrap_or_default(), lines.collect::<Vec<_>>());
    if rows.is_empty() {
        return Err(nothing(folder, &gaps));
    }
    let mut page = Page::new("A comparison", "What remains of its files is shown below.");
    add_gaps(&mut page, &gaps);
    page.heading("Runs, from table.csv");
    page.add(&table(&head.iter().map(String::as_str).collect::<Vec<_>>(), &rows, &[]));
    page.paragraph(
        "For the whole report, train the comparison again from its run file: prdo compare RUN.toml.",
    );
    Ok(Report { html: page.finish(), gaps, figure: None })
}

impl ComparisonReport {
    pub fn figure(&self) -> Figure {
        let styles = self.styles();
        type Curve<'a, T> = &'a dyn Fn(&Row) -> T;
        let draw = |chart: Chart, at: Curve<'_, f64>, value: Curve<'_, Option<f64>>| {
            let series =
                self.groups().into_iter().zip(&styles).map(|(g, style)| g.curve(at, value).style(*style));
            series.fold(chart, Chart::series)
        };
        let round = |row: &Row| f64::from(row.round);
        let norm = |row: &Row| Some(row.grad_norm);
        let mut figure = Figure::new("").columns(2).shared_legend();
        if self.cells.iter().any(|cell| cell.rows.iter().any(|row| row.test_accuracy.is_some())) {
            let chart = Chart::new("Test accuracy", "round", "share right");
            let panel = draw(chart, &round, &|row| row.test_accuracy);
            figure = figure.panel(match self.baseline() {
                Some(share) => panel.reference(share, line_label(share)),
                None => panel,
            });
        }
        let log = |title: &str, x: &str, y: &str| Chart::new(title, x, y).y_scale(Scale::Log);
        let disagreement = log("Disagreement of the nodes", "round", "mean ‖x − x̄‖²");
        let traffic = log("Gradient norm for the traffic", "MB sent", "‖∇f(x̄)‖");
        figure
            .panel(draw(log("Gradient norm", "round", "‖∇f(x̄)‖"), &round, &norm))
            .panel(draw(disagreement, &round, &|row| Some(row.consensus_error)))
            .panel(draw(traffic, &|row| row.bytes_sent as f64 / 1e6, &norm))
            .panel_size(460.0, 300.0)
    }

    pub fn to_html(&self) -> String {
        self.page(&[])
    }

    fn page(&self, gaps: &[Gap]) -> String {
        let mut page = Page::new(&self.title, &format!("{}\n{}", self.verdict(), self.price()));
        add_gaps(&mut page, gaps);
        page.paragraph(&self.data);
        let (head, rows) = self.table();
        page.add(&table(&head, &rows, &self.winners()));
        page.add(
            "<p class=\"soft\">±: half the width of the 95 % interval of the mean over seeds (Student’s t); late \
             gradient norm: mean over the last fifth of the rounds; bands in the figures: range over seeds.</p>\n",
        );
        let last: Vec<&Row> = self.cells.iter().filter_map(|cell| cell.rows.last()).collect();
        glossary::add(&mut page, &last, self.cells.iter().any(|cell| cell.test_auc.is_some()));
        page.charts(&chart::of_groups(&self.groups(), &self.styles(), self.baseline()), self.figure());
        self.add_differences(&mut page);
        page.heading("Privacy");
        self.add_privacy(&mut page);
        page.heading("Network");
        // The picture comes from a file that others may have written: anything but a picture stays out.
        if self.network.starts_with("<svg") && !self.network.contains("<script") {
            page.add(&format!("<figure>{}</figure>\n", self.network));
        } else {
            page.note("The network’s picture is missing.", true);
        }
        page.heading("Settings");
        page.paragraph("To repeat it bit for bit:");
        page.code(&self.command);
        page.folded("run files", |page| page.code(&self.run_files));
        page.finish()
    }

    /// What the private runs cost every record, in a sentence.
    fn price(&self) -> String {
        let promises = || self.cells.iter().filter_map(|cell| cell.guarantee);
        let epsilons = || promises().map(|g| g.epsilon);
        let (least, most) = (epsilons().fold(f64::INFINITY, f64::min), epsilons().fold(0.0, f64::max));
        let delta = promises().map(|g| g.delta).fold(0.0, f64::max);
        let which = if promises().count() < self.cells.len() { "the private runs" } else { "they" };
        let epsilon = match most - least < 5e-4 {
            true => format!("ε = {most:.3}"),
            false => format!("ε between {least:.3} and {most:.3}"),
        };
        match promises().next() {
            None => "Nothing is private here: ε = ∞.".to_string(),
            Some(_) => format!(
                "With secret draws {which} protect every single record with {epsilon} at δ = {delta:e}; these are seeded \
                 simulations.{}",
                self.pairs_note().map_or(String::new(), |note| format!(" {note}"))
            ),
        }
    }

    /// What is more than chance, and the files for a paper.
    fn add_differences(&self, page: &mut Page) {
        let (head, rows) = self.difference_table();
        page.heading("Differences");
        if rows.is_empty() {
            page.paragraph("There is only one method for each privacy setting: nothing to compare.");
        } else {
            page.paragraph(
                "The best of each contest against the others, run by run: the same seed is the same records, batches \
                 and noise, so what chance adds to both cancels. p comes from a paired t test, corrected by \
                 Holm’s method for all pairs of the contest, since the best is found by the same runs; below 0.05 a \
                 difference counts as more than chance. Fewer than three seeds are too few to say, and a difference \
                 that is the same for every seed has no spread to be compared with.",
            );
            page.add(&table(&head, &rows, &[]));
        }
        page.folded("The table for a paper (LaTeX, with booktabs)", |page| page.code(&self.to_latex()));
        let link = |name: &str| format!("<a href=\"{name}\">{name}</a>");
        let files = [names::TABLE, names::DIFFERENCES, names::TABLE_LATEX].into_iter().chain(names::FIGURES);
        let files = files.map(link).collect::<Vec<_>>().join(", ");
        page.add(&format!("<p class=\"soft\">Beside this page: {files}.</p>\n"));
    }

    /// Each statement once, with the methods it holds for; the formal ones folded.
    fn add_privacy(&self, page: &mut Page) {
        let mut said: Vec<(String, Tone, Vec<String>)> = Vec::new();
        for group in self.groups() {
            for (text, tone) in statement(&stated(&group)) {
                let text = match group.cells[0].guarantee {
                    None if self.groups().len() > 1 => format!("{}: {text}", group.name),
                    _ => text,
                };
                match said.iter_mut().find(|(known, ..)| *known == text) {
                    Some((.., names)) => names.push(group.name.clone()),
                    None => said.push((text, tone, vec![group.name.clone()])),
                }
            }
        }
        let private = self.groups().iter().filter(|group| group.cells[0].guarantee.is_some()).count();
        for (text, tone, names) in &said {
            // What holds for some only is said of these.
            let of_some = match tone {
                Tone::Plain | Tone::Coalitions => self.mixes_noise() && names.len() < private,
                Tone::Warning => false,
                Tone::Formal => continue,
            };
            let text = if of_some { format!("{}: {text}", names.join("; ")) } else { text.clone() };
            if *tone == Tone::Warning { page.note(&text, true) } else { page.paragraph(&text) }
        }
        self.add_coalitions(page);
        let formal = || said.iter().filter(|(_, tone, _)| *tone == Tone::Formal);
        if formal().next().is_some() {
            page.folded("The formal statement", |page| {
                formal()
                    .for_each(|(text, _, names)| page.paragraph(&format!("{}. {text}", names.join(", "))));
            });
        }
    }

    /// What coalitions of every size learn.
    fn add_coalitions(&self, page: &mut Page) {
        let pairs = self.pairs();
        for (names, facts) in &pairs {
            if pairs.len() > 1 {
                page.paragraph(&format!("{}:", names.join("; ")));
            }
            page.add(&table(&against::HEAD, &against::rows(facts), &[]));
        }
        if !pairs.is_empty() {
            page.add(&format!("<p class=\"soft\">{}</p>\n", against::EACH_ROW));
        }
    }
}

/// What a group's runs promise.
fn stated(group: &Group<'_>) -> Statement {
    let cell = group.cells[0];
    let pairs = cell.pairs.clone();
    Statement {
        guarantee: cell.guarantee,
        rounds: cell.rounds,
        seeds: group.cells.iter().map(|cell| cell.seed).collect(),
        clip: cell.clip,
        gamma: cell.gamma,
        own_clip: cell.own_clip,
        own_method: false,
        pairs: pairs.map(|facts| StatedPairs { colluders: facts.colluders, facts: Some(facts) }),
    }
}
