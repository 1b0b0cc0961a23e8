//! The answer as one JSON object. What is not known, or infinite, is null.

use super::read::Asked;
use super::words::drift_unit;
use super::{parts, shown};
use prdo::plan::{Answer, Candidate, Change, Judged, Level, NoiseFacts, Verdict};
use prdo::theory::{Conditions, Split, cost};
use serde_json::{Map, Value as Json, json};

/// The whole answer. The top keys are about the run as it is meant, if there is one, otherwise about the
/// schedule.
pub fn object(asked: &Asked, answer: &Answer) -> Json {
    let case = &asked.question.case;
    let mut all = plan(asked, answer.own.as_ref().unwrap_or(&answer.schedule), answer.own.is_some());
    let mut set = |key: &str, value: Json| all[key] = value;
    set("spectral_gap", json!(asked.spectrum.spectral_gap));
    set("nodes", json!(case.nodes));
    set("rounds", json!(case.rounds));
    set("batch", json!(case.batch));
    set("records", json!(case.slots));
    set("dimension", json!(case.problem.dimension));
    set("method", json!(asked.method.map(|method| method.card().name)));
    set("covered", json!(asked.uncovered.is_none()));
    set("uncovered_because", json!(asked.uncovered.map(|why| why.to_string())));
    set("missing", json!(asked.missing));
    set("estimated", estimated(asked));
    if asked.uncovered.is_none() {
        set("vacuous", json!(answer.verdict.as_ref().map(|v| v.vacuous)));
        set("verdict", json!(answer.verdict.as_ref().map(verdict)));
        let best = json!({
            "best": answer.suggestion.as_ref().map(candidate),
            "same_rounds": answer.same_rounds.as_ref().map(candidate),
            "exact_diffusion": answer.exact_diffusion.as_ref().map(candidate),
        });
        set("suggestions", best);
        set("changes", answer.changes.iter().map(change).collect());
        if answer.own.is_some() {
            set("about", json!(if answer.about_own { "own" } else { "schedule" }));
            set("schedule", plan(asked, &answer.schedule, false));
        }
    }
    if let Some(pairs) = pairs(asked, answer) {
        set("pairs", pairs);
    }
    set("notes", json!(asked.notes));
    all
}

/// One set of parameters and what the theorem says of it. `own` parameters cannot be judged without L_s.
fn plan(asked: &Asked, judged: &Judged, own: bool) -> Json {
    let setting = &judged.setting;
    let covered = asked.uncovered.is_none();
    let judges = covered && !(own && asked.in_units());
    let only = |known: bool, value: Json| if known { value } else { Json::Null };
    let (constants, bounds) = (&judged.constants, judged.bounds.filter(|_| judges));
    let total = |part: fn(&prdo::theory::Bounds) -> &Split| bounds.as_ref().map(|b| part(b).total());
    json!({
        "lambda": setting.lambda(),
        "c_alpha": only(judges, json!(judged.c_alpha())),
        "c_gamma": only(covered, json!(judged.c_gamma())),
        "alpha": setting.step_size(),
        "alpha_unit": if asked.in_units() && !own { "1/L_s" } else { "1" },
        "gamma": only(covered, json!(setting.gamma())),
        "first_batch": setting.first_batch(),
        "feasible": only(judges, json!(judged.conditions.hold())),
        "conditions": only(judges, conditions(&judged.conditions)),
        "constants": {
            "K_H": only(judges, json!(constants.k_h)),
            "K_U": only(judges, json!(constants.k_u)),
            "Q": only(judges, json!(constants.q)),
            "A_C": only(judges, json!(constants.a_c)),
            "A_U": only(judges, json!(constants.a_u)),
            "B_net": total(|b| &b.network_budget),
        },
        "bounds": {
            "stationarity": total(|b| &b.stationarity),
            "direction": total(|b| &b.direction),
            "consensus": total(|b| &b.consensus),
        },
        "split": bounds.as_ref().map(|b| parts(b).into_iter().map(|(k, v)| (k.to_string(), json!(v))).collect::<Map<_, _>>()),
        "noise": judged.noise.as_ref().map(|n| noise(n, setting.gamma(), asked.delta)),
        "sensitivity": judged.noise.as_ref().and_then(sensitivity),
        "cost": costs(asked, judged),
    })
}

fn conditions(conditions: &Conditions) -> Json {
    let mut all = Map::new();
    for c in conditions.all() {
        let facts = json!({
            "formula": c.formula, "left": c.left, "limit": c.limit, "slack": c.slack(), "holds": c.holds(),
        });
        all.insert(c.name.into(), facts);
    }
    all.insert("binding".into(), json!(conditions.binding().name));
    Json::Object(all)
}

fn noise(noise: &NoiseFacts, gamma: f64, delta: Option<f64>) -> Json {
    json!({
        "noise_multiplier": noise.multiplier,
        "by_renyi": noise.by_renyi,
        "epsilon": noise.epsilon,
        "delta": delta,
        "first_std": noise.first_variance.map(f64::sqrt),
        "added_std": gamma * noise.variance.sqrt(),
        "noise_std": noise.variance.sqrt(),
        "noise_variance": noise.variance,
    })
}

/// Noise in pairs, of the run as it is meant.
fn pairs(asked: &Asked, answer: &Answer) -> Option<Json> {
    let (case, own) = (&asked.question.case, answer.own.as_ref()?);
    let (pairs, z) = case.pairs.as_ref().zip(own.noise.as_ref()?.multiplier)?;
    let parts = pairs.mechanism.pairs();
    let drift = asked.drift.zip(drift_unit(asked, own));
    Some(json!({
        "own_multiplier": z * parts.own(),
        "pair_multiplier": z * parts.pair(),
        "colluders": pairs.mechanism.colluders(),
        "gain": 1.0 / parts.own(),
        "answer_noise": case.answer_noise(),
        "privacy_by_mean": own.privacy_by_mean,
        "drift": drift.map(|(drift, unit)| unit * drift.pairs),
        "drift_independent": drift.map(|(drift, unit)| unit * drift.independent),
    }))
}

fn sensitivity(noise: &NoiseFacts) -> Option<Json> {
    let s = noise.sensitivity?;
    Some(json!({
        "s_gamma": s.scale(),
        "clip_gradient": s.gradient_clip(),
        "clip_difference": s.difference_clip(),
        "clip_difference_needed": noise.clip_needed,
        "clip_difference_assumed": noise.clip_assumed,
        "ratio": s.ratio(),
        "reduced": s.is_reduced(),
        "clipping_expected": noise.clips(),
    }))
}

pub fn costs(asked: &Asked, judged: &Judged) -> Json {
    let setting = &judged.setting;
    // Beyond a u64 they are written as the nearest double.
    let number = |n: u128| u64::try_from(n).map_or(json!(n as f64), |n| json!(n));
    json!({
        "gradients": gradients(judged).map(number),
        "bytes": asked.bytes(setting.setup().rounds).map(number),
    })
}

/// The gradients that a node evaluates: at γ = 1 one per record, otherwise two after the first round.
pub fn gradients(judged: &Judged) -> Option<u128> {
    let (setting, setup) = (&judged.setting, judged.setting.setup());
    let (first, all) = (
        u128::from(setting.first_batch()),
        cost::gradients(setting.first_batch(), setup.batch, setup.rounds),
    );
    let all = all.ok()?;
    Some(if setting.gamma() < 1.0 { all } else { first + (all - first) / 2 })
}

fn estimated(asked: &Asked) -> Json {
    let problem = &asked.question.case.problem;
    let level = |level: &Option<Level>| {
        level.as_ref().map(|l| json!({"value": l.value, "from": l.source.name(), "how": l.how}))
    };
    json!({
        "smoothness": level(&problem.smoothness),
        "initial_gap": level(&problem.initial_gap),
        "heterogeneity": level(&problem.heterogeneity),
        "sampling_variance": level(&problem.sampling_variance),
        "start_gradient_norm_squared": problem.start_gradient,
        "not_estimated_because": asked.unestimated.map(|why| why.to_string()),
    })
}

fn verdict(verdict: &Verdict) -> Json {
    json!({
        "start": verdict.start,
        "start_is_measured": verdict.measured,
        "vacuous": verdict.vacuous,
        "because": verdict.because.iter().map(|name| shown(name)).collect::<Vec<_>>(),
        "other_settings_help": verdict.help.settings,
        "records_needed": verdict.help.records,
        "epsilon_needed": verdict.help.epsilon,
        "rounds_needed": verdict.help.rounds,
    })
}

fn candidate(candidate: &Candidate) -> Json {
    let setting = &candidate.setting;
    let sensitivity = candidate.sensitivity;
    json!({
        "rounds": setting.setup().rounds,
        "alpha": setting.step_size(),
        "gamma": setting.gamma(),
        "first_batch": setting.first_batch(),
        "clip_difference": sensitivity.map(|s| s.difference_clip()),
        "s_gamma": sensitivity.map(|s| s.scale()),
        "noise_multiplier": candidate.multiplier,
        "stationarity": candidate.bound.total(),
        "split": split(&candidate.bound),
    })
}

fn split(split: &Split) -> Json {
    Json::Object(
        split.parts().into_iter().map(|(name, part)| (shown(name).to_string(), json!(part))).collect(),
    )
}

fn change(change: &Change) -> Json {
    let judged = &change.judged;
    json!({
        "what": change.what,
        "lambda": change.lambda,
        "alpha": judged.setting.step_size(),
        "feasible": judged.conditions.hold(),
        "noise_multiplier": judged.noise.and_then(|n| n.multiplier),
        "noise_std": judged.noise.map(|n| n.variance.sqrt()),
        "stationarity": judged.bounds.map(|b| b.stationarity.total()),
        "split": judged.bounds.map(|b| split(&b.stationarity)),
    })
}
