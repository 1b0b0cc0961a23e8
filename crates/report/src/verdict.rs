//! Who won, by how much, and whether that is more than chance: in sentences.

use crate::comparison::ComparisonReport;
use crate::differences::{Difference, FEWEST, Measure, contest_differences, ranking};
use crate::groups::Group;
use crate::style::percent;
use prdo_runfile::Key;

/// What a contest is judged by: accuracy where there is one and it says something, otherwise the area under the ROC
/// curve, or else the late gradient norm.
fn judged_by(groups: &[Group<'_>], members: &[usize]) -> Measure {
    let members = || members.iter().filter_map(|k| groups.get(*k));
    let measured = members().any(|group| group.accuracy().is_some());
    let ranked = members().all(|group| group.auc().is_some());
    match measured {
        true if ranked && members().all(Group::accuracy_says_little) => Measure::Auc,
        true => Measure::Accuracy,
        false => Measure::LateGradient,
    }
}

/// Who won among these groups, in a sentence or two.
fn contest_verdict(groups: &[Group<'_>], members: &[usize]) -> String {
    let measure = judged_by(groups, members);
    let ranked = ranking(groups, members, measure);
    let what = measure.words();
    let Some((first, top)) = ranked.first() else { return "nothing was measured.".to_string() };
    let Some((second, next)) = ranked.get(1) else {
        return format!("{} has {what} {}.", groups[*first].method.card().title, measure.show(*top));
    };
    let (winner, runner_up) = (short(&groups[*first]), short(&groups[*second]));
    let (top, next) = (measure.show(*top), measure.show(*next));
    let differences = contest_differences(groups, "", members, measure);
    let best = format!("{winner} has the best {what}, {top}");
    let node = node_verdict(groups, members);
    match differences.first() {
        Some(d) if d.pairs >= FEWEST && d.paired.is_some() => {
            let by = how_far(d, &runner_up);
            let alike = differences.iter().filter(|d| !d.is_clear() && !d.is_constant());
            let alike: Vec<String> = alike.map(|d| short(&groups[d.other])).collect();
            match alike.is_empty() {
                true => format!("{best}, before {runner_up} with {next}: {by}.{node}"),
                false => format!(
                    "no clear winner: {best}, but it cannot be told apart from {}: {by}.{node}",
                    listed(&alike)
                ),
            }
        }
        other => {
            let seeds = other.map_or(0, |d| d.pairs);
            let seeds = if seeds == 1 { "one seed".to_string() } else { format!("{seeds} seeds in common") };
            format!(
                "{best}, before {runner_up} with {next} ({seeds}: too few to say whether this is chance).{node}"
            )
        }
    }
}

fn how_far(d: &Difference, runner_up: &str) -> String {
    let Some(paired) = d.paired else { return String::new() };
    let show = |value| d.measure.show_difference(value);
    if paired.constant {
        let (by, unit, pairs) = (show(paired.mean), d.measure.unit(), d.pairs);
        return format!(
            "{by}{unit} against {runner_up}, the same difference for every one of {pairs} paired seeds"
        );
    }
    let compared = d.compared;
    let corrected =
        if compared > 1 { format!(", corrected for {compared} comparisons") } else { String::new() };
    format!(
        "{}{} against {runner_up}, 95 % interval {} to {} ({} over {} paired seeds{corrected})",
        show(paired.mean),
        d.measure.unit(),
        show(paired.low),
        show(paired.high),
        d.show_p(),
        d.pairs
    )
}

fn listed(names: &[String]) -> String {
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    }
}

/// A group's name without its privacy settings, which the contest already has.
fn short(group: &Group<'_>) -> String {
    let privacy = |label: &&(String, String)| label.0 == Key::PrivacyEpsilon.path();
    let suffix = group.cells[0].labels.iter().find(privacy).map(|(_, value)| format!(", ε = {value}"));
    let noises = [", noise in pairs", ", independent noise"].map(String::from);
    suffix.iter().chain(&noises).fold(group.name.clone(), |name, suffix| name.replace(suffix, ""))
}

/// What the organisations' own models are worth, where that differs between methods.
fn node_verdict(groups: &[Group<'_>], members: &[usize]) -> String {
    let worst = members.iter().filter_map(|k| Some((*k, groups[*k].worst_node()?.mean)));
    let order = |a: &(usize, f64), b: &(usize, f64)| a.1.total_cmp(&b.1);
    match (worst.clone().max_by(order), worst.min_by(order)) {
        (Some(high), Some(low)) if high.1 - low.1 >= 0.005 => format!(
            " The worst-off organisation's own model gets {} with {} and {} with {}.",
            percent(high.1),
            short(&groups[high.0]),
            percent(low.1),
            short(&groups[low.0])
        ),
        _ => String::new(),
    }
}

/// The first letter as a capital, if it is a Latin one (ε stays ε).
pub(crate) fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_ascii_uppercase().to_string() + letters.as_str())
}

impl ComparisonReport {
    /// The groups that clearly won their contest: by more than chance against every other, over several seeds.
    pub fn winners(&self) -> Vec<usize> {
        let groups = self.groups();
        let winner = |members: &[usize]| {
            let found = contest_differences(&groups, "", members, judged_by(&groups, members));
            found.first().filter(|_| found.iter().all(Difference::is_clear)).map(|d| d.best)
        };
        self.contests().iter().filter_map(|(_, members)| winner(members)).collect()
    }

    /// Honest sentences: who won each contest, by how much, and whether that is more than chance.
    pub fn verdict(&self) -> String {
        let groups = self.groups();
        let sentences = self.contests().into_iter().map(|(name, members)| {
            let text = contest_verdict(&groups, &members);
            if name.is_empty() { capitalised(&text) } else { format!("{}: {text}", capitalised(&name)) }
        });
        let mut lines: Vec<String> = sentences.collect();
        let contests = self.contests();
        if let Some(shown) = self.baseline_shown()
            && contests.iter().any(|(_, members)| judged_by(&groups, members) == Measure::Auc)
        {
            lines.push(format!(
                "Where no accuracy exceeds what always predicting the majority class gets ({shown}) by a point, methods are \
                 judged by the area under the ROC curve (AUC)."
            ));
        }
        lines.extend(self.no_better());
        lines.join("\n")
    }
}
