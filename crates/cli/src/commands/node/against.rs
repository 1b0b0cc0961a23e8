//! Against whom ε holds, in words.

use prdo::budget::words::short;
use prdo::store::{EpsilonAgainst, PairFacts};

/// Who may put together what they know.
pub fn whom(colluders: u32) -> String {
    match colluders {
        0 => "outsiders only: whoever sees every message and is no member".into(),
        1 => "outsiders and any one member".into(),
        many => format!("outsiders and any {many} members together"),
    }
}

/// What an agreement promises with noise in pairs, and what it does not.
pub fn lines(facts: &PairFacts, members: usize) -> Vec<String> {
    let colluders = u32::try_from(facts.colluders).unwrap_or(u32::MAX);
    let secrets = if facts.complete { "all pairs of members" } else { "neighbours" };
    vec![
        format!("against    {}; noise is in pairs: against more members ε is larger", whom(colluders)),
        format!(
            "pairs      own noise multiplier {:.6}, pair {:.6}, secrets between {secrets}: {:.3} times less noise in the mean",
            facts.own_multiplier, facts.pair_multiplier, facts.gain
        ),
        format!("learned    {}", coalitions(facts, members)),
    ]
}

/// How many coalitions are listed.
const MOST_LISTED: usize = 6;

/// ε against some coalitions: those about as large as agreed, and all others together.
fn coalitions(facts: &PairFacts, members: usize) -> String {
    let all = &facts.epsilon_by_colluders;
    let first = facts.colluders.saturating_sub(1);
    let near = all.iter().filter(|c| c.colluders >= first).take(MOST_LISTED - 1);
    let mut listed: Vec<&EpsilonAgainst> = near.collect();
    if let Some(last) = all.last().filter(|last| !listed.contains(last)) {
        listed.push(last);
    }
    let one = |c: &&EpsilonAgainst| {
        // A bound is never shown as less than it is.
        let up = |epsilon: f64| format!("ε ≤ {}", short((epsilon * 1e4).ceil() / 1e4, 4));
        let epsilon = c.epsilon.map_or_else(|| "without bound".to_string(), up);
        match c.colluders {
            0 => format!("{epsilon} by outsiders"),
            many if many + 1 == members => format!("{epsilon} by all {many} others, or if all keys leak"),
            1 => format!("{epsilon} by any 1 member"),
            many => format!("{epsilon} by any {many} members"),
        }
    };
    listed.iter().map(one).collect::<Vec<_>>().join(", ")
}
