//! The answer for people, on lines of at most a hundred characters.

use super::advice::{changes, suggestions, worth};
use super::figures::{bar, bytes, figure, folded, item, section, sentence, share};
use super::json::gradients;
use super::parts;
use super::read::Asked;
use crate::commands::table::print_table;
use crate::progress::say;
use prdo::plan::{Answer, Judged, Level, Noise, NoiseFacts, Source};
use prdo::report::against::against;
use prdo::theory::{Bounds, Condition};

pub fn show(asked: &Asked, answer: &Answer) {
    network(asked);
    constants(asked);
    if let Some(own) = &answer.own {
        let named = asked.method.map_or("", |method| method.card().title);
        section(&format!("As written ({named})"));
        plan(asked, own, true);
    }
    if let Some(why) = &asked.uncovered {
        sentence(&format!("The theorem does not cover this run: {why}. No conditions or bound are shown."));
    } else {
        schedule(asked, answer);
        worth(asked, answer);
        suggestions(asked, answer);
        changes(answer);
    }
    if !asked.notes.is_empty() {
        section("Notes");
        asked.notes.iter().for_each(|note| item(note));
    }
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
            None => ("?".into(), "unknown".into()),
        };
        let head = format!("  {symbol:<4}{value:>10}  {meaning:<37} ");
        folded(&from, &head, &" ".repeat(head.chars().count()));
    }
    if let Some(why) = &asked.unestimated {
        sentence(&format!("Not estimated: {why}."));
    } else if levels.iter().any(|(.., l)| l.as_ref().is_some_and(|l| !l.how.is_empty())) {
        sentence(
            "From generated or public records. From private ones the same figures would cost privacy that no budget \
             accounts for.",
        );
    }
    let guessed = levels.iter().any(|(.., l)| l.as_ref().is_some_and(|l| l.source == Source::Estimated));
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

fn plan(asked: &Asked, judged: &Judged, own: bool) {
    let setting = &judged.setting;
    let unit = if asked.in_units() && !own { "/L_s" } else { "" };
    let gamma = match asked.uncovered {
        Some(_) => String::new(),
        None => format!(", γ = {}", figure(setting.gamma())),
    };
    let gradients = gradients(judged).map_or(String::new(), |n| format!("; {n} gradients per node"));
    let sent = asked.bytes(setting.setup().rounds);
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
            sentence("Noise: unknown, because C_Δ is not given and none is large enough at this step.");
        }
        return;
    };
    let gamma = judged.setting.gamma();
    if let Some(s) = noise.sensitivity {
        let needed = match noise.clip_needed.filter(|needed| needed.is_finite()) {
            _ if noise.clip_assumed => ", as needed".into(),
            Some(needed) => format!(", needed: {}", figure(needed)),
            None => String::new(),
        };
        let clips = match gamma < 1.0 {
            true => format!(" (C_Δ = {}{needed})", figure(s.difference_clip())),
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
                "Noise z = {}{price}: deviation {} per coordinate in the first round, {} in later ones (γ·{})",
                figure(z),
                figure(first),
                figure(gamma * noise.variance.sqrt()),
                figure(noise.variance.sqrt())
            ));
        }
        None if noise.variance == 0.0 => sentence("No noise."),
        None => sentence(&format!("Noise of variance {} per coordinate", figure(noise.variance))),
    }
    if noise.by_renyi {
        sentence(
            "(z by the Rényi accountant, which asks for somewhat more: at such a low rate the exact one takes \
             long.)",
        );
    }
    pairs(asked, noise, judged);
    clipping(noise);
}

/// What noise in pairs makes of it.
fn pairs(asked: &Asked, noise: &NoiseFacts, judged: &Judged) {
    let case = &asked.question.case;
    let Some((pairs, z)) = case.pairs.as_ref().zip(noise.multiplier) else { return };
    let (parts, colluders) = (pairs.mechanism.pairs(), pairs.mechanism.colluders());
    sentence(&format!(
        "It is in pairs, against {}: own noise {}, shares {}. The mean of all nodes carries {} times less noise than with \
         independent noise, an answer {} times more.",
        against(colluders),
        figure(z * parts.own()),
        figure(z * parts.pair()),
        figure(1.0 / parts.own()),
        figure(case.answer_noise())
    ));
    let setting = &judged.setting;
    let Some((drift, unit)) = asked.drift.zip(drift_unit(asked, judged)) else { return };
    sentence(&format!(
        "Nodes drift: in the end each coordinate of a node's model is about {} from the mean, {} with independent noise (of this \
         network and these {} rounds, by noise alone; curvature, which pulls them together, is left out).",
        figure(unit * drift.pairs),
        figure(unit * drift.independent),
        setting.setup().rounds
    ));
}

/// What a drift is in units of: step size times the deviation of independent noise in an answer. Known of the run as it is meant.
pub fn drift_unit(asked: &Asked, judged: &Judged) -> Option<f64> {
    let own = asked.question.own.as_ref()?;
    let same = own.step_size == Some(judged.setting.step_size()) && own.gamma == Some(judged.setting.gamma());
    let noise = judged.noise.as_ref().filter(|_| same)?;
    Some(judged.setting.step_size() * judged.setting.gamma() * noise.variance.sqrt())
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
    let row = |c: Condition| {
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
    if let Some(by_mean) = judged.privacy_by_mean {
        let rest = bounds.stationarity.privacy - by_mean;
        sentence(&format!(
            "Of the privacy part {} comes by the mean of all nodes, where shares are gone, and {} by the nodes' disagreement, where \
             they count and the theorem is generous.",
            figure(by_mean),
            figure(rest.max(0.0))
        ));
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
