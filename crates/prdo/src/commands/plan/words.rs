//! The answer for people, on lines of at most a hundred characters.

use super::json::gradients;
use super::read::Asked;
use super::{parts, shown};
use crate::commands::compare::print_table;
use crate::progress::say;
use prdo::plan::vacuous::horizons;
use prdo::plan::{Answer, Candidate, Judged, Level, Noise, NoiseFacts, Verdict};
use prdo::theory::{Bounds, cost};

/// The width of a full bar.
const BAR: usize = 40;
/// The longest line of a sentence.
const LINE: usize = 98;

pub fn show(asked: &Asked, answer: &Answer) {
    network(asked);
    constants(asked);
    if let Some(own) = &answer.own {
        let named = asked.method.map_or("", |method| method.card().title);
        section(&format!("As written ({named})"));
        plan(asked, own, true);
    }
    if let Some(why) = &asked.uncovered {
        sentence(&format!("The theorem does not cover this run: {why}. No condition and no bound is shown."));
    } else {
        schedule(asked, answer);
        worth(asked, answer);
        suggestions(asked, answer);
        changes(answer);
    }
    if !asked.notes.is_empty() {
        section("To think about");
        asked.notes.iter().for_each(|note| item(note));
    }
}

fn section(title: &str) {
    say("");
    say(title);
}

/// A sentence in lines, indented.
fn sentence(text: &str) {
    folded(text, "  ", "  ");
}

fn item(text: &str) {
    folded(text, "  - ", "    ");
}

fn folded(text: &str, first: &str, then: &str) {
    let mut line = first.to_string();
    let mut empty = true;
    for word in text.split_whitespace() {
        if !empty && line.chars().count() + 1 + word.chars().count() > LINE {
            say(&line);
            (line, empty) = (then.to_string(), true);
        }
        if !empty {
            line.push(' ');
        }
        line += word;
        empty = false;
    }
    say(&line);
}

/// Four digits.
fn figure(x: f64) -> String {
    digits(x, 4)
}

/// So many digits, without zeros at the end.
fn digits(x: f64, count: usize) -> String {
    match x.abs() {
        _ if x == 0.0 => "0".into(),
        _ if x.is_infinite() => "∞".into(),
        size if (1e-3..1e6).contains(&size) => {
            let decimals = (count as i32 - 1 - size.log10().floor() as i32).max(0) as usize;
            let text = format!("{x:.decimals$}");
            if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
        }
        _ => format!("{x:.*e}", count - 1),
    }
}

/// A number of bytes.
fn bytes(count: u128) -> String {
    let units = ["bytes", "kB", "MB", "GB", "TB", "PB"];
    let mut size = count as f64;
    let mut unit = 0;
    while size >= 1000.0 && unit + 1 < units.len() {
        size /= 1000.0;
        unit += 1;
    }
    format!("{} {}", figure(size), units[unit])
}

fn network(asked: &Asked) {
    let (case, spectrum) = (&asked.question.case, &asked.spectrum);
    let root_gap = case.setup().root_gap();
    say(&format!(
        "{}: λ = {:.6}, gap 1−λ = {}, 1−√λ = {}",
        asked.graph,
        case.lambda,
        figure(spectrum.spectral_gap),
        figure(root_gap)
    ));
    let of = case.slots.map_or(String::new(), |slots| format!(" of N = {slots} records"));
    let d = case.problem.dimension.map_or(String::new(), |d| format!(", d = {d} parameters"));
    say(&format!("T = {} rounds, batches b = {}{of}{d}", case.rounds, case.batch));
}

fn constants(asked: &Asked) {
    let problem = &asked.question.case.problem;
    let levels = [
        ("L_s", "smoothness of a record's loss", &problem.smoothness),
        ("Δ_f", "f(x⁰) less its infimum", &problem.initial_gap),
        ("ζ₀²", "spread of the nodes' gradients at x⁰", &problem.heterogeneity),
        ("σ²", "b times a batch gradient's variance", &problem.sampling_variance),
    ];
    if levels.iter().all(|(.., level)| level.is_none()) && asked.unestimated.is_none() {
        return;
    }
    section("Constants");
    for (symbol, meaning, level) in levels {
        let (value, from) = match level {
            Some(level) => (figure(level.value), origin(level)),
            None => ("?".into(), "not known".into()),
        };
        let head = format!("  {symbol:<4}{value:>10}  {meaning:<37} ");
        folded(&from, &head, &" ".repeat(head.chars().count()));
    }
    if let Some(why) = &asked.unestimated {
        sentence(&format!("Not estimated: {why}."));
    } else if levels.iter().any(|(.., l)| l.as_ref().is_some_and(|l| !l.how.is_empty())) {
        sentence(
            "From generated or public records. From private ones the same figures would cost privacy that is in no \
             budget.",
        );
    }
    let guessed =
        levels.iter().any(|(.., l)| l.as_ref().is_some_and(|l| l.source == prdo::plan::Source::Estimated));
    if guessed {
        sentence("Estimates may be too low: with them the theorem is a guide, not a guarantee.");
    }
}

fn origin(level: &Level) -> String {
    if level.how.is_empty() {
        level.source.name().into()
    } else {
        format!("{}: {}", level.source.name(), level.how)
    }
}

fn schedule(asked: &Asked, answer: &Answer) {
    let choice = &asked.question.schedule;
    let judged = &answer.schedule;
    let how = format!("c_α = {}, c_γ = {}", figure(judged.c_alpha()), figure(judged.c_gamma()));
    section(&match (answer.own.is_some(), choice.is_given()) {
        (true, _) => format!("The paper's schedule for the same T ({how})"),
        (false, false) => format!("The paper's schedule ({how})"),
        (false, true) => format!("As given, the rest by the paper's schedule ({how})"),
    });
    plan(asked, judged, false);
}

/// One set of parameters and what the theorem says of it.
fn plan(asked: &Asked, judged: &Judged, own: bool) {
    let setting = &judged.setting;
    let unit = if asked.in_units() && !own { "/L_s" } else { "" };
    let gamma = match asked.uncovered {
        Some(_) => String::new(),
        None => format!(", γ = {}", figure(setting.gamma())),
    };
    let gradients = gradients(judged).map_or(String::new(), |n| format!("; {n} gradients a node"));
    let sent = asked.question.case.problem.dimension;
    let sent = sent.and_then(|d| cost::bytes(d, asked.degree, setting.setup().rounds).ok());
    let sent = sent.map_or(String::new(), |n| format!(", at most {} sent", bytes(n)));
    sentence(&format!(
        "α = {}{unit}{gamma}, b₀ = {}{gradients}{sent}",
        figure(setting.step_size()),
        setting.first_batch()
    ));
    noise(asked, judged);
    if asked.uncovered.is_some() {
        return;
    }
    if own && asked.in_units() {
        sentence("Conditions and bound: not known without L_s (--smoothness).");
        return;
    }
    conditions(judged);
    match &judged.bounds {
        Some(bounds) => bound(bounds, judged),
        None if !own && !asked.missing.is_empty() => {
            sentence(&format!("The bound needs {}.", asked.missing.join(", ")));
        }
        None => {}
    }
}

fn noise(asked: &Asked, judged: &Judged) {
    let Some(noise) = &judged.noise else {
        if matches!(asked.question.case.noise, Noise::Scaled { .. }) {
            sentence("Noise: not known, for C_Δ is not given and none is large enough at this step.");
        }
        return;
    };
    let gamma = judged.setting.gamma();
    if let Some(s) = noise.sensitivity {
        let clips = match gamma < 1.0 {
            true => format!(
                " (C_Δ = {}{})",
                figure(s.difference_clip()),
                if noise.clip_assumed { ", as needed" } else { "" }
            ),
            false => String::new(),
        };
        let less = match s.is_reduced() {
            true => format!("{:.1} % of it", 100.0 * s.ratio()),
            false if gamma < 1.0 => "no less: recursion does not pay here".into(),
            false => "the same, for γ = 1".into(),
        };
        sentence(&format!(
            "Sensitivity S_γ = {} against C_g = {}: {less}{clips}",
            figure(s.scale()),
            figure(s.gradient_clip())
        ));
    }
    match noise.multiplier {
        Some(z) => {
            let price = noise.epsilon.zip(asked.delta);
            let price = price.map_or(String::new(), |(e, d)| format!(" for ε = {}, δ = {d:e}", figure(e)));
            let first = noise.first_variance.map_or(0.0, f64::sqrt);
            sentence(&format!(
                "Noise z = {}{price}: deviation {} a coordinate in the first round, {} in later ones (γ·{})",
                figure(z),
                figure(first),
                figure(gamma * noise.variance.sqrt()),
                figure(noise.variance.sqrt())
            ));
        }
        None if noise.variance == 0.0 => sentence("No noise."),
        None => sentence(&format!("Noise of variance {} a coordinate", figure(noise.variance))),
    }
    if noise.by_renyi {
        sentence(
            "(z by the Rényi accountant, which asks for somewhat more: records are used so rarely that the exact \
             one takes long.)",
        );
    }
    clipping(noise);
}

fn clipping(noise: &NoiseFacts) {
    let Some(needed) = noise.clip_needed.filter(|_| noise.clips()) else { return };
    sentence(&match needed.is_finite() {
        true => format!(
            "Differences may reach {}: some may be clipped at this C_Δ, and the theorem assumes that none is.",
            figure(needed)
        ),
        false => "At this step the noise alone moves the model further than any C_Δ allows for: differences will be \
                  clipped, and the theorem assumes that none is."
            .into(),
    });
}

fn conditions(judged: &Judged) {
    let binding = judged.conditions.binding();
    let row = |c: prdo::theory::Condition| {
        let verdict = match (c.holds(), c.name == binding.name) {
            (true, true) => "holds, binds",
            (true, false) => "holds",
            (false, _) => "FAILS",
        };
        vec![
            format!("  {}", c.formula),
            figure(c.left),
            figure(c.limit),
            // What is left of a limit that was solved for is rounding.
            figure(if c.slack().abs() < 1e-12 * c.limit { 0.0 } else { c.slack() }),
            share(c.used()),
            verdict.into(),
        ]
    };
    let rows: Vec<Vec<String>> = judged.conditions.all().into_iter().map(row).collect();
    print_table(&["  condition", "left", "limit", "slack", "used", ""], &rows);
}

/// A share of a limit: in per cent, or how many times.
fn share(used: f64) -> String {
    if used < 10.0 { format!("{:.1} %", 100.0 * used) } else { format!("{} times", figure(used)) }
}

fn bound(bounds: &Bounds, judged: &Judged) {
    let total = bounds.stationarity.total();
    match judged.conditions.hold() {
        true => sentence(&format!("The mean of E‖∇f(x̄)‖² over the rounds is at most {}:", figure(total))),
        false => sentence(&format!(
            "A condition fails, so the theorem promises nothing. Its formula would give {}:",
            figure(total)
        )),
    }
    let most = bounds.stationarity.parts().iter().map(|(_, part)| *part).fold(0.0, f64::max);
    for (name, part) in parts(bounds) {
        let share = if total > 0.0 && part.is_finite() { 100.0 * part / total } else { 100.0 };
        say(&format!("    {name:<14}{:>10} {share:>5.1} %  {}", figure(part), bar(part, most)));
    }
    if !judged.conditions.hold() {
        return;
    }
    sentence(&format!(
        "Direction (mean of E‖v̄‖²) at most {}, disagreement (mean of E‖x_i − x̄‖²) at most {}",
        figure(bounds.direction.total()),
        figure(bounds.consensus.total())
    ));
}

/// A bar in eighths.
fn bar(part: f64, most: f64) -> String {
    let share = if part.is_infinite() { 1.0 } else { part / most };
    if share.is_nan() || share <= 0.0 {
        return String::new();
    }
    let eighths = ((share * 8.0 * BAR as f64).round() as usize).max(1);
    let rest = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8];
    format!("{}{rest}", "█".repeat(eighths / 8))
}

/// Whether the bound says anything.
fn worth(asked: &Asked, answer: &Answer) {
    let Some(verdict) = &answer.verdict else { return };
    section("What the bound is worth");
    let basis = answer.own.as_ref().filter(|_| answer.about_own).unwrap_or(&answer.schedule);
    let bound = basis.bounds.map_or(f64::NAN, |b| b.stationarity.total());
    if answer.own.is_some() && !answer.about_own {
        sentence(
            "This and what follows is about the paper's schedule: the theorem does not hold for the run as written.",
        );
    }
    let start = match verdict.measured {
        true => format!("‖∇f(x⁰)‖² = {}", figure(verdict.start)),
        false => format!("‖∇f(x⁰)‖² ≤ 2L_sΔ_f = {}", figure(verdict.start)),
    };
    if !verdict.vacuous {
        sentence(&format!(
            "It says something: without training {start}, and the bound is {} of that.",
            figure(bound / verdict.start)
        ));
        return;
    }
    let names: Vec<&str> = verdict.because.iter().map(|name| shown(name)).collect();
    sentence(&format!(
        "It says nothing: without any training {start}, and the bound is {} times that, by its {} part{}. The run may \
         do well all the same; the theorem does not show it.",
        figure(bound / verdict.start),
        names.join(" and "),
        if names.len() > 1 { "s" } else { "" }
    ));
    help(asked, answer, verdict);
}

fn help(asked: &Asked, answer: &Answer, verdict: &Verdict) {
    if answer.suggestion.is_none() {
        return;
    }
    let help = &verdict.help;
    if help.settings {
        sentence("With the settings suggested below it would say something.");
        return;
    }
    let case = &asked.question.case;
    let Some((epsilon, _)) = case.budget() else {
        sentence(&match help.rounds {
            Some(rounds) => format!("T = {rounds} rounds would be enough, with the best γ and α."),
            None => "No T up to 1e9 times as many rounds is enough, with the best γ and α.".into(),
        });
        return;
    };
    sentence(&format!(
        "No T up to {} helps at this budget, with the best γ, α and C_Δ for it.",
        horizons(case).1
    ));
    sentence(&match help.records {
        Some(records) => format!("N = {records} records a node would be enough, with the best T."),
        None => "Not even a million times as many records a node are enough.".into(),
    });
    sentence(&match help.epsilon {
        Some(epsilon) => format!("ε = {} would be enough, with the best T.", figure(epsilon)),
        None => format!("Nor is ε = {}.", figure(epsilon * 1000.0)),
    });
}

fn suggestions(asked: &Asked, answer: &Answer) {
    let Some(best) = &answer.suggestion else { return };
    section("Suggestions");
    let private = best.sensitivity.is_some();
    let now = answer.own.as_ref().filter(|_| answer.about_own).unwrap_or(&answer.schedule);
    let mut rows = vec![candidate("  best", best)];
    if let Some(same) = &answer.same_rounds {
        rows.push(candidate("  best with this T", same));
    }
    if let Some(ed) = &answer.exact_diffusion {
        rows.push(candidate("  best with γ = 1", ed));
    }
    if let Some(bounds) = now.bounds.filter(|_| now.conditions.hold()) {
        let name = if answer.own.is_some() && answer.about_own { "  as written" } else { "  by schedule" };
        let sensitivity = now.noise.and_then(|n| n.sensitivity);
        let multiplier = now.noise.and_then(|n| n.multiplier);
        let now = Candidate { setting: now.setting, sensitivity, multiplier, bound: bounds.stationarity };
        rows.push(candidate(name, &now));
    }
    print_table(&["", "T", "γ", "α", "b₀", "C_Δ", "S_γ", "z", "bound"], &rows);
    if !private {
        return;
    }
    let (s, ed) = (best.sensitivity, answer.exact_diffusion.as_ref());
    if let Some(s) = s.filter(|s| s.is_reduced()) {
        sentence(&format!(
            "γ = {}: one record then moves a release by {:.1} % of what it moves Exact Diffusion's.",
            figure(best.setting.gamma()),
            100.0 * s.ratio()
        ));
    } else if best.setting.gamma() >= 1.0 {
        sentence("γ = 1 is the best: recursion does not pay at this budget.");
    }
    if let Some(ed) = ed.filter(|ed| ed.bound.total() > 1.0001 * best.bound.total()) {
        sentence(&format!(
            "PRDO's bound is {} of Exact Diffusion's (γ = 1) with the same budget.",
            figure(best.bound.total() / ed.bound.total())
        ));
    }
    if best.setting.gamma() < 1.0 {
        sentence(
            "C_Δ is the smallest at which differences are expected not to be clipped; more would only add noise.",
        );
    }
    if best.setting.setup().rounds >= horizons(&asked.question.case).1 {
        sentence("The best T is at the end of what was tried: more may be better.");
    }
}

fn candidate(name: &str, candidate: &Candidate) -> Vec<String> {
    let setting = &candidate.setting;
    let sensitivity = candidate.sensitivity;
    let or_dash = |value: Option<f64>| value.map_or("–".to_string(), figure);
    let differences = sensitivity.filter(|_| setting.gamma() < 1.0);
    vec![
        name.into(),
        setting.setup().rounds.to_string(),
        figure(setting.gamma()),
        figure(setting.step_size()),
        setting.first_batch().to_string(),
        or_dash(differences.map(|s| s.difference_clip())),
        or_dash(sensitivity.map(|s| s.scale())),
        or_dash(candidate.multiplier),
        figure(candidate.bound.total()),
    ]
}

fn changes(answer: &Answer) {
    if answer.changes.len() < 2 {
        return;
    }
    section("What would change, all else as it is");
    let short = |x: f64| digits(x, 3);
    let noisy = answer.changes.iter().any(|c| c.judged.noise.is_some_and(|n| n.multiplier.is_some()));
    let bounded = answer.changes.iter().any(|c| c.judged.bounds.is_some());
    let mut head = vec!["", "λ", "α"];
    if noisy {
        head.extend(["z", "ν_dp"]);
    }
    if bounded {
        head.extend(["bound", "optimiz.", "heterog.", "sampling", "privacy"]);
    }
    let mut failing = false;
    let mut rows = Vec::new();
    for change in &answer.changes {
        let judged = &change.judged;
        let mut row = vec![
            format!("  {}", change.what),
            format!("{:.4}", change.lambda),
            short(judged.setting.step_size()),
        ];
        if noisy {
            let noise = judged.noise.as_ref();
            row.push(noise.and_then(|n| n.multiplier).map_or("–".into(), short));
            row.push(noise.map_or("–".into(), |n| short(n.variance.sqrt())));
        }
        if bounded {
            let mark = if judged.conditions.hold() { "" } else { "*" };
            failing |= !judged.conditions.hold();
            match &judged.bounds {
                Some(bounds) => {
                    row.push(format!("{}{mark}", short(bounds.stationarity.total())));
                    row.extend(bounds.stationarity.parts().iter().map(|(_, part)| short(*part)));
                }
                None => row.extend(vec!["–".to_string(); 5]),
            }
        }
        rows.push(row);
    }
    print_table(&head, &rows);
    let shown = |judged: &Judged| judged.noise.and_then(|n| n.multiplier);
    let first = answer.changes.first().and_then(|c| shown(&c.judged));
    let basis = answer.own.as_ref().filter(|_| answer.about_own).unwrap_or(&answer.schedule);
    if first != shown(basis) {
        sentence("All z in this table are the Rényi accountant's, somewhat more than needed.");
    }
    if failing {
        sentence("* a condition fails there: the figure is no bound.");
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_four_digits() {
        let cases = [
            (0.0, "0"),
            (1.0, "1"),
            (0.990_392_64, "0.9904"),
            (161.0, "161"),
            (12345.6, "12346"),
            (1.5e-7, "1.500e-7"),
            (0.001, "0.001"),
            (9_999_999.0, "1.000e7"),
            (f64::INFINITY, "∞"),
            (-0.25, "-0.25"),
        ];
        for (x, text) in cases {
            assert_eq!(figure(x), text);
        }
        assert_eq!((bytes(999), bytes(160_000)), ("999 bytes".into(), "160 kB".into()));
    }

    #[test]
    fn bars_are_never_longer_than_the_longest() {
        assert_eq!(bar(2.0, 2.0).chars().count(), BAR);
        assert_eq!(bar(1.0, 2.0).chars().count(), BAR / 2);
        assert_eq!((bar(0.0, 2.0), bar(1e-9, 2.0)), (String::new(), "▏".into()));
        assert_eq!(bar(f64::INFINITY, f64::INFINITY).chars().count(), BAR);
    }
}
