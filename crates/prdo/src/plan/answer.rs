//! A whole question and its answer.

use super::PlanError;
use super::best::{Candidate, Search, best};
use super::calibrate::Calibrator;
use super::case::Case;
use super::choice::{Choice, choose};
use super::judge::{Judged, judge};
use super::other::{Change, Family, changes};
use super::vacuous::{Verdict, horizons, verdict};

#[derive(Clone, Debug)]
pub struct Question {
    pub case: Case,
    /// The parameters of a run that somebody means to train, to be judged beside the schedule's.
    pub own: Option<Choice>,
    /// The schedule, or what was asked for instead.
    pub schedule: Choice,
    /// The graph's family, if it is of one.
    pub family: Option<Family>,
}

#[derive(Clone, Debug)]
pub struct Answer {
    pub own: Option<Judged>,
    pub schedule: Judged,
    /// Whether verdict and changes are about the run as it is meant: only if the theorem covers it.
    pub about_own: bool,
    /// What the bound is worth, where there is one and the conditions hold.
    pub verdict: Option<Verdict>,
    /// The best parameters found, where every level is known.
    pub suggestion: Option<Candidate>,
    /// The best with the same T, where another could be chosen.
    pub same_rounds: Option<Candidate>,
    /// The best with γ = 1, Exact Diffusion.
    pub exact_diffusion: Option<Candidate>,
    /// What other budgets, sizes and topologies would change; the first row is the run as it is.
    pub changes: Vec<Change>,
}

/// At how many T z is calculated for suggestions.
const KNOTS: usize = 9;

pub fn answer(question: &Question) -> Result<Answer, PlanError> {
    let case = &question.case;
    let mut calibrator = Calibrator::default();
    let mut judged = |choice: &Choice| -> Result<Judged, PlanError> {
        judge(case, &choose(case, choice)?, &mut calibrator)
    };
    let schedule = judged(&question.schedule)?;
    let own = question.own.as_ref().map(&mut judged).transpose()?;
    let about_own = own.as_ref().is_some_and(|own| own.conditions.hold());
    let (basis, choice) = match (&own, &question.own) {
        (Some(own), Some(choice)) if about_own => (own, choice),
        _ => (&schedule, &question.schedule),
    };
    let search = Search { rounds: horizons(case), knots: KNOTS, gamma: None };
    let suggestion = best(case, &search, &mut calibrator)?;
    let same_rounds = Search { rounds: (case.rounds, case.rounds), ..search };
    let same_rounds = best(case, &same_rounds, &mut calibrator)?.filter(|_| case.budget().is_some());
    let exact_diffusion = best(case, &Search { gamma: Some(1.0), ..search }, &mut calibrator)?;
    let verdict = match basis.conditions.hold() {
        true => verdict(case, basis, suggestion.as_ref(), &mut calibrator),
        false => None,
    };
    let changes = changes(case, choice, question.family.as_ref(), &mut calibrator)?;
    Ok(Answer { verdict, about_own, suggestion, same_rounds, exact_diffusion, changes, own, schedule })
}
