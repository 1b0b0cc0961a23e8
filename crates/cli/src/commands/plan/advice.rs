//! What the bound is worth, what would make it better, and what would change it.

use super::figures::{digits, figure, section, sentence};
use super::read::Asked;
use super::shown;
use crate::commands::table::print_table;
use prdo::plan::vacuous::horizons;
use prdo::plan::{Answer, Candidate, Judged, Verdict, largest_step};

pub fn worth(asked: &Asked, answer: &Answer) {
    let Some(verdict) = &answer.verdict else { return };
    section("What the bound is worth");
    let basis = answer.own.as_ref().filter(|_| answer.about_own).unwrap_or(&answer.schedule);
    let bound = basis.bounds.map_or(f64::NAN, |b| b.stationarity.total());
    if answer.own.is_some() && !answer.about_own {
        sentence(
            "From here on this is about the paper's schedule: the theorem does not hold for the run as written.",
        );
    }
    let start = match verdict.measured {
        true => format!("‖∇f(x⁰)‖² = {}", figure(verdict.start)),
        false => format!("‖∇f(x⁰)‖² ≤ 2L_sΔ_f = {}", figure(verdict.start)),
    };
    if !verdict.vacuous {
        sentence(&format!(
            "The bound is informative: without training {start}, and it is {} of that.",
            figure(bound / verdict.start)
        ));
        return;
    }
    let names: Vec<&str> = verdict.because.iter().map(|name| shown(name)).collect();
    sentence(&format!(
        "The bound is vacuous: without any training {start}, and it is {} times that, because of its {} part{}. The run \
         may still do well; the theorem does not show it.",
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
        sentence("With the settings suggested below it would be informative.");
        return;
    }
    let case = &asked.question.case;
    let Some((epsilon, _)) = case.budget() else {
        sentence(&match help.rounds {
            Some(rounds) => format!("T = {rounds} rounds would be enough, with the best γ and α."),
            None => "Not even 1e9 times as many rounds are enough, with the best γ and α.".into(),
        });
        return;
    };
    sentence(&format!(
        "No T up to {} helps at this budget, even with the best γ, α and C_Δ.",
        horizons(case).1
    ));
    sentence(&match help.records {
        Some(records) => format!("N = {records} records per node would be enough, with the best T."),
        None => "Not even a million times as many records per node are enough.".into(),
    });
    sentence(&match help.epsilon {
        Some(epsilon) => format!("ε = {} would be enough, with the best T.", figure(epsilon)),
        None => format!("Nor is ε = {}.", figure(epsilon * 1000.0)),
    });
}

pub fn suggestions(asked: &Asked, answer: &Answer) {
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
    step(best);
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
        sentence("γ = 1 is best: recursion does not pay at this budget.");
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
    if asked.question.case.budget().is_none() {
        return;
    }
    if best.setting.setup().rounds >= horizons(&asked.question.case).1 {
        sentence("T is the largest that was tried: more may be better.");
    } else {
        sentence("More rounds than T would need noise that costs more than they gain.");
    }
}

fn step(best: &Candidate) {
    let setting = &best.setting;
    let Ok(most) = largest_step(setting.setup(), setting.gamma()) else { return };
    let share = setting.step_size() / most;
    let why = match best.sensitivity.is_some() && setting.gamma() < 1.0 {
        true => "smaller steps need a smaller C_Δ, and so less noise",
        false => "larger ones would spread more noise through the network",
    };
    sentence(&match share > 0.999 {
        true => "α is the largest that the conditions allow at this γ.".into(),
        false => format!("α is {:.1} % of the largest that the conditions allow: {why}.", 100.0 * share),
    });
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

pub fn changes(answer: &Answer) {
    if answer.changes.len() < 2 {
        return;
    }
    section("What would change, all else equal");
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
        sentence("All z in this table are the Rényi accountant's: somewhat larger than needed.");
    }
    if failing {
        sentence("* a condition fails there: the figure is not a bound.");
    }
}
