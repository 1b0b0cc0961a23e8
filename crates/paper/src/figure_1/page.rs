//! Files of the experiment: figures, tables, report.

use super::contestant::{Contestant, Form};
use super::{BETA, Curve, Figure1, GAMMA, HETEROGENEITY, STEP, Setting};
use crate::error::Error;
use prdo::data::csv::text_of;
use prdo::export::write_figures;
use prdo::plot::{Chart, Figure, Scale, Series};
use prdo::prelude::*;
use prdo::report::{Page, method_style, table};
use prdo::store::{Folder, names};

/// A panel: every method's mean over its streams, with the range as a band, against a column.
fn panel(
    title: &str,
    x_label: &str,
    (contestants, curves): (&[Contestant], &[Curve]),
    x: &dyn Fn(&Row) -> f64,
) -> Chart {
    let mut chart = Chart::new(title, x_label, "‖∇f(x̄)‖").y_scale(Scale::Log);
    for of in contestants {
        let own: Vec<&Curve> = curves.iter().filter(|c| c.of == *of).collect();
        let Some(first) = own.first() else { continue };
        let values = |k: usize| own.iter().filter_map(|c| Some(c.rows.get(k)?.grad_norm)).collect();
        let values = first.rows.iter().enumerate().map(|(k, row)| (x(row), values(k)));
        chart = chart.series(Series::mean_of(of.title(), values).style(style(*of)));
    }
    chart
}

/// A figure's file, its x axis, and what that shows of a row.
type Axis = (&'static str, &'static str, fn(&Setting, &Row) -> f64);

const AXES: [Axis; 3] = [
    ("figure-1", "round", |_, row| f64::from(row.round)),
    ("figure-1-vectors", "vectors sent to each neighbour", |setting, row| {
        row.bytes_sent as f64 / (8.0 * setting.dimension as f64) / (2.0 * setting.nodes as f64)
    }),
    ("figure-1-evaluations", "gradient evaluations per node", |setting, row| {
        row.gradient_evaluations as f64 / setting.nodes as f64
    }),
];

/// The style number: a method's own, and one of its own for every other form.
fn style(of: Contestant) -> usize {
    match of.form {
        Form::Plain => method_style(of.method),
        Form::ThreeBits => Method::ALL.len() + 1,
        Form::FourSteps => Method::ALL.len() + 2,
    }
}

impl Figure1 {
    fn figure(&self, (_, label, value): Axis) -> Figure {
        let setting = &self.setting;
        let x = |row: &Row| value(setting, row);
        let title = format!("Minibatch {}, {} streams", setting.batch, setting.streams);
        Figure::new("")
            .panel(panel("Full batch", label, (&self.contestants, &self.full), &x))
            .panel(panel(&title, label, (&self.contestants, &self.minibatch), &x))
            .columns(2)
            .shared_legend()
    }

    pub fn write(&self, folder: &Folder) -> Result<(), Error> {
        for axis in AXES {
            write_figures(folder.path(), axis.0, &self.figure(axis))?;
        }
        let (head, rows) = self.table();
        folder.write(names::TABLE, csv(&head, &rows).as_bytes())?;
        let (cost_head, costs) = self.costs();
        folder.write("costs.csv", csv(&cost_head, &costs).as_bytes())?;
        folder.write("curves.csv", curves_csv(&self.full, &self.minibatch).as_bytes())?;

        let mut page = Page::new("Figure 1: heterogeneous logistic regression", &self.verdict());
        page.paragraph(&self.about());
        page.add(&table(&head, &rows, &[]));
        page.paragraph(&self.about_costs());
        page.add(&table(&cost_head, &costs, &[]));
        for axis in AXES {
            page.figure(self.figure(axis));
        }
        page.note("Not private: this experiment uses no noise and no clipping (ε = ∞).", true);
        page.heading("Repeat it");
        page.code(&self.command());
        folder.write(names::REPORT, page.finish().as_bytes())?;
        folder.write(names::RESULTS, (serde_json::to_string_pretty(&self.results)? + "\n").as_bytes())?;
        Ok(())
    }

    fn command(&self) -> String {
        let mut command = String::from("prdo reproduce figure-1");
        if self.quick {
            command += " --quick";
        }
        if self.contestants != Contestant::paper() {
            let names: Vec<String> = self.contestants.iter().map(|of| of.name()).collect();
            command += &format!(" --methods {}", names.join(","));
        }
        command
    }

    pub fn table(&self) -> (Vec<&'static str>, Vec<Vec<String>>) {
        let head = vec![
            "method",
            "full batch: final gradient norm",
            "minibatch: late gradient norm",
            "lowest stream",
            "highest stream",
        ];
        let cell = |x: Option<f64>| format!("{:.3e}", x.unwrap_or(f64::NAN));
        let (full, minibatch) = (&self.results.full_batch, &self.results.minibatch);
        let row = |of: &Contestant| {
            let streams = minibatch.late_grad_norm_by_stream.get(*of).into_iter().flatten().copied();
            vec![
                of.title(),
                cell(full.final_grad_norm.get(*of).copied().flatten()),
                cell(minibatch.late_grad_norm.get(*of).copied()),
                cell(Some(streams.clone().fold(f64::INFINITY, f64::min))),
                cell(Some(streams.fold(0.0, f64::max))),
            ]
        };
        (head, self.contestants.iter().map(row).collect())
    }

    /// About the methods that are there.
    pub fn verdict(&self) -> String {
        let there = |method: Method| self.contestants.contains(&Contestant::plain(method));
        let mut said = Vec::new();
        if [Method::Prdo, Method::Ed, Method::Dsgd].into_iter().all(there) {
            said.push(format!(
                "With full gradients PRDO and Exact Diffusion share one trajectory (largest relative difference {:.1e}) while \
                 D-SGD keeps its bias",
                self.results.full_batch.prdo_vs_ed_max_relative
            ));
        }
        if there(Method::Prdo) && self.contestants.len() > 1 {
            let with = if said.is_empty() { "With" } else { "with" };
            said.push(format!(
                "{with} minibatches PRDO's late gradient norm is {:.2} of the best baseline's",
                self.results.minibatch.prdo_over_best_baseline
            ));
        }
        if said.is_empty() { "The methods are in the table.".into() } else { said.join("; ") + "." }
    }

    pub fn about(&self) -> String {
        let Setting { nodes, records, dimension, rounds, batch, streams, .. } = self.setting;
        let which =
            if self.quick { "A smaller version of the paper's setting" } else { "The paper's setting" };
        format!(
            "{which}: {nodes} nodes on a ring (weights 1/2, 1/4), {records} records each in dimension {dimension}, \
             heterogeneity {HETEROGENEITY}, step size {STEP}, γ = {GAMMA}, β = {BETA}, {rounds} rounds; minibatches of \
             {batch} without replacement, {streams} paired streams shared by all methods, PRDO started from the full \
             gradient. Late: mean over the last sixth of the rounds."
        )
    }
}

fn csv(head: &[&str], rows: &[Vec<String>]) -> String {
    let head = head.iter().map(|cell| cell.to_string()).collect();
    text_of(std::iter::once(head).chain(rows.iter().cloned()))
}

fn curves_csv(full: &[Curve], minibatch: &[Curve]) -> String {
    let mut text = format!("panel,method,stream,{}\n", prdo::store::header());
    let mut add = |panel: &str, curves: &[Curve]| {
        let mut stream = std::collections::HashMap::new();
        for curve in curves {
            let number = stream.entry(curve.of).and_modify(|n| *n += 1).or_insert(1);
            for row in &curve.rows {
                let row = prdo::store::format_row(row);
                text.push_str(&format!("{panel},{},{number},{row}\n", curve.of));
            }
        }
    };
    add("full", full);
    add("minibatch", minibatch);
    text
}
