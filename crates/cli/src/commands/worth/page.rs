//! The table, figure and report of an answer.

use super::{Answer, MOST_LISTED};
use crate::commands::Failure;
use prdo::export::write_figures;
use prdo::plot::{Bar, Bars, Color, Figure};
use prdo::report::{Page, table};
use prdo::store::{Folder, names};
use prdo::worth::Trained;
use std::fmt::Write;

pub fn write(answer: &Answer<'_>, folder: &Folder) -> Result<(), Failure> {
    let figure = figure(answer);
    folder.write(names::TABLE, csv(answer).as_bytes())?;
    write_figures(folder.path(), "figure", &figure)?;
    folder.write(names::REPORT, html(answer, figure).as_bytes())?;
    Ok(())
}

/// One line per model: everyone's, then each organisation's.
fn csv(answer: &Answer<'_>) -> String {
    let worth = answer.worth;
    let mut text = String::from(
        "who,records,privacy,accuracy,auc,epsilon,delta,noise_multiplier,rate,batch,accuracy_of_each_seed\n",
    );
    let mut line = |who: &str, records: usize, trained: &Trained| {
        let g = trained.guarantee;
        let number = |value: Option<f64>| value.map_or(String::new(), |v| format!("{v:?}"));
        let each: Vec<String> = trained.accuracy.iter().map(|a| format!("{a:?}")).collect();
        let who = format!("\"{}\"", who.replace('"', "\"\""));
        let _ = writeln!(
            text,
            "{who},{records},{},{:?},{},{},{},{},{},{},{}",
            if g.is_some() { "yes" } else { "no" },
            trained.mean_accuracy(),
            number(trained.mean_auc()),
            number(g.map(|g| g.epsilon)),
            number(g.map(|g| g.delta)),
            number(g.map(|g| g.noise_multiplier)),
            number(g.map(|g| g.rate)),
            trained.batch,
            each.join(" ")
        );
    };
    let all = worth.organisations.iter().map(|o| o.records).sum();
    line("together", all, &worth.together);
    line("together", all, &worth.open);
    for o in &worth.organisations {
        line(&o.name, o.records, &o.alone);
        line(&o.name, o.records, &o.open);
    }
    text
}

/// Accuracy of everyone's model and of the organisations' own, with privacy and without.
fn figure(answer: &Answer<'_>) -> Figure {
    let worth = answer.worth;
    let panel = |title: &str, open: bool| {
        let percent = |trained: &Trained| 100.0 * trained.mean_accuracy();
        let bar = |name: String, trained: &Trained| {
            let bar = Bar::new(name, percent(trained));
            let least = trained.accuracy.iter().copied().fold(f64::INFINITY, f64::min);
            let most = trained.accuracy.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            if most > least { bar.whisker(100.0 * least, 100.0 * most) } else { bar }
        };
        let joint = if open { &worth.open } else { &worth.together };
        let mut bars = Bars::new(title, "held-out records right (%)")
            .bar(bar("together".into(), joint).color(Color::palette(2)));
        if worth.organisations.len() <= MOST_LISTED {
            for o in &worth.organisations {
                bars = bars.bar(bar(o.name.clone(), if open { &o.open } else { &o.alone }));
            }
        } else {
            for (name, (accuracy, _)) in
                ["alone, mean", "alone, worst", "alone, best"].iter().zip(worth.own(open))
            {
                bars = bars.bar(Bar::new(*name, 100.0 * accuracy));
            }
        }
        match worth.most_common_class {
            Some(share) => bars.bar(Bar::new("most common class", 100.0 * share).color(Color::palette(8))),
            None => bars,
        }
    };
    Figure::new("")
        .columns(2)
        .panel(panel("With privacy: together, and each alone", false))
        .panel(panel("Without privacy: together, and each alone", true))
}

fn html(answer: &Answer<'_>, figure: Figure) -> String {
    let mut page = Page::new(&format!("{}: what joining is worth", answer.name), &answer.worth.words());
    let (head, rows) = answer.table();
    // The first row is that of all together: marked where it is better by more than chance.
    let best: &[usize] = if answer.worth.verdict().gain.is_better() { &[0] } else { &[] };
    page.add(&table(&head, &rows, best));
    page.figure(figure);
    page.heading("How it was measured");
    page.paragraph(answer.question.data());
    answer.settings().iter().for_each(|line| page.paragraph(line));
    page.note(
        "Seeded simulations: not private against anyone who knows the seed. ε is what the same runs with secret draws \
         would promise for every record (add/remove, complete transcript). Running this on protected records shows \
         accuracies without noise: do it on public or stand-in records.",
        true,
    );
    page.heading("Repeat it");
    page.code(answer.command);
    page.finish()
}
