//! All attacks together, and the verdict.

use crate::control;
use crate::error::AuditError;
use crate::likelihood::{self, Outcome};
use crate::moments::{self, LIMIT, Moments};
use crate::network::Network;
use crate::record_play::{self, Precision, SLACK};
use crate::restart;
use crate::setting::Setting;
use crate::share_play::{self, share_play};
use crate::subject::Subject;
use crate::view::{self, ADVERSARIES, Viewer};
use prdo_accounting::Bounds;
use prdo_algorithm::Method;

#[derive(Clone, Debug)]
pub struct Audit {
    /// What is audited; the first is the one whose ε is quoted.
    pub settings: Vec<Setting>,
    /// Runs of each world, of each setting; twice as many where every record is in every batch.
    pub runs: usize,
    pub pairs: usize,
    pub grid_values: usize,
    /// The share of the claimed ε that the attack must reach in the first setting, if that is asked: an attack that finds
    /// nothing proves nothing.
    pub least_share: Option<f64>,
    /// Everything that is drawn follows from it, except for the secrets of the operating system.
    pub seed: u64,
}

#[derive(Clone, Debug)]
pub struct Check {
    pub name: &'static str,
    pub setting: String,
    pub passed: bool,
    pub figure: f64,
    pub allowed: String,
    pub what: String,
}

#[derive(Clone, Debug)]
pub struct Finding {
    pub setting: Setting,
    pub claimed: Bounds,
    pub outcome: Outcome,
    pub runs: usize,
}

#[derive(Clone, Debug, Default)]
pub struct Report {
    pub checks: Vec<Check>,
    pub findings: Vec<Finding>,
}

impl Report {
    pub fn passed(&self) -> bool {
        self.checks.iter().all(|check| check.passed)
    }

    pub fn failed(&self) -> Vec<&'static str> {
        let mut names: Vec<_> = Vec::new();
        for check in self.checks.iter().filter(|check| !check.passed) {
            if !names.contains(&check.name) {
                names.push(check.name);
            }
        }
        names
    }
}

impl Audit {
    /// The whole battery on a method, in the two configurations.
    pub fn full(method: Method) -> Result<Self, AuditError> {
        Ok(Self {
            settings: vec![Setting::every_record(method)?, Setting::sampled(method)?],
            runs: 20_000,
            pairs: 10_000,
            grid_values: 10_000_000,
            least_share: Some(0.85),
            seed: 1,
        })
    }

    /// The same in a few seconds: fewer runs, so weaker bounds.
    pub fn quick(method: Method) -> Result<Self, AuditError> {
        Ok(Self {
            runs: 2_000,
            pairs: 2_000,
            grid_values: 500_000,
            least_share: Some(0.5),
            ..Self::full(method)?
        })
    }

    /// The first setting once more with noise in pairs, one colluder and secrets between all nodes; unchanged for methods whose
    /// sensitivity differs between nodes, so that shares would not cancel.
    pub fn with_pairs(mut self) -> Result<Self, AuditError> {
        let Some(first) = self.settings.first().filter(|first| first.admits_pairs()) else { return Ok(self) };
        self.settings.push(first.clone().in_pairs(1, 3.0, true)?);
        Ok(self)
    }

    /// The same battery on other settings. How much of their ε an attack can prove is not known beforehand, so that is not
    /// asked.
    #[must_use]
    pub fn of(self, settings: Vec<Setting>) -> Self {
        Self { settings, least_share: None, ..self }
    }

    /// Runs the attacks; `progress` hears what comes next.
    pub fn run<S: Subject>(&self, subject: &S, progress: &mut dyn FnMut(&str)) -> Result<Report, AuditError> {
        let mut report = Report::default();
        for (number, setting) in self.settings.iter().enumerate() {
            // Another method's audit draws other noise.
            let seed = likelihood::mixed(self.seed, number as u64 * 256 + setting.method.place() as u64);
            let mut one = SettingAudit { audit: self, subject, setting, seed, checks: &mut report.checks };
            progress(&format!("{}: record-play", setting.name));
            one.record_play()?;
            progress(&format!("{}: restarts, control flow, grid", setting.name));
            one.certainties(number == 0)?;
            progress(&format!("{}: runs with and without the record", setting.name));
            let finding = one.statistics(self.least_share.filter(|_| number == 0), progress)?;
            report.findings.push(finding);
        }
        Ok(report)
    }
}

struct SettingAudit<'a, S: Subject> {
    audit: &'a Audit,
    subject: &'a S,
    setting: &'a Setting,
    seed: u64,
    checks: &'a mut Vec<Check>,
}

impl<S: Subject> SettingAudit<'_, S> {
    fn check(&mut self, name: &'static str, passed: bool, figure: f64, allowed: String, what: String) {
        let setting = self.setting.name.clone();
        self.checks.push(Check { name, setting, passed, figure, allowed, what });
    }

    /// Layer 1: gradients in double precision, then in single, as networks have them.
    fn record_play(&mut self) -> Result<(), AuditError> {
        let names = ["record-play", "record-play-single"]
            .into_iter()
            .zip(["declared-noise", "declared-noise-single"]);
        for (precision, (play_name, noise_name)) in
            [Precision::Double, Precision::Single].into_iter().zip(names)
        {
            let play = record_play::play(self.subject, self.setting, precision, self.audit.pairs, self.seed)?;
            let what =
                format!("largest change of a query over the declared sensitivity, {} pairs", play.pairs);
            let ok = play.ratio <= 1.0 + SLACK && play.not_finite == 0;
            self.check(play_name, ok, play.ratio, "at most 1 + 1e-6".into(), what);
            let score = play.noise_score();
            let what = "deviation of the noise against z × declared sensitivity, in standard errors".into();
            self.check(noise_name, score.abs() <= LIMIT, score, format!("within ±{LIMIT}"), what);
        }
        // Every pair is two releases of all nodes' shares.
        let pairs = self.audit.pairs.div_ceil(4);
        if let Some(steps) = share_play(self.subject, self.setting, pairs, self.seed)? {
            let what = format!("steps by which two releases differ from what their shares do, {pairs} pairs");
            let most = share_play::STEPS;
            self.check("shares", steps <= most, steps, format!("at most {most}: rounded once"), what);
        }
        Ok(())
    }

    /// What must hold without exception.
    fn certainties(&mut self, with_grid: bool) -> Result<(), AuditError> {
        let network = Network::new(self.subject, self.setting)?;
        if with_grid {
            let (looked, off) =
                control::off_grid(self.subject, self.setting, self.audit.grid_values, self.seed)?;
            let what = format!("values off the public grid, of {looked}");
            self.check("grid", off == 0, off as f64, "none".into(), what);
        }
        let (sets, different) = control::differences(&network, self.seed)?;
        let what = format!(
            "differences in messages, sizes, charges and noise between {sets} data sets: full, empty, NaN, one class"
        );
        self.check("control-flow", different == 0, different as f64, "none".into(), what);
        let (nodes, wrong) = control::wrong_ledgers(&network, self.seed)?;
        let what = format!("ledgers with other charges than one per round at its rate and noise, of {nodes}");
        self.check("ledger", wrong == 0 && nodes > 0, wrong as f64, "none".into(), what);
        let (looked, common) = control::in_common(&network)?;
        let what =
            format!("noise values that two runs with secrets of their own have in common, of {looked}");
        self.check("fresh-secrets", common == 0, common as f64, "none".into(), what);
        if let Some(over) = view::charged_over_worth(self.setting)? {
            let what =
                "multiplier that is charged over what own noise and shares are worth to the worst coalition";
            self.check("pairs-worth", over <= 1.0 + 1e-9, over, "at most 1 + 1e-9".into(), what.into());
            let score = control::between_runs(&network)?;
            let what =
                "correlation of noise between runs with secrets of their own, in standard errors".into();
            self.check("fresh-shares", score.abs() <= LIMIT, score, format!("within ±{LIMIT}"), what);
        }
        let found = restart::restarts(self.subject, self.setting, self.seed)?;
        let what = format!(
            "second payloads or unfinished runs in {} peers killed and started again ({} died)",
            found.scenarios, found.deaths
        );
        let wrong = found.second_payloads + found.unfinished;
        self.check("one-payload", wrong == 0 && found.deaths > 0, wrong as f64, "none".into(), what);
        Ok(())
    }

    /// What noise in pairs is worth, as the best joint tests find it: against outsiders, the agreed coalition, all others.
    fn adversaries(&mut self, without: &Moments, with: &Moments) -> Result<(), AuditError> {
        let Some(claimed) = Viewer::new(self.setting)?.multipliers() else { return Ok(()) };
        let found = moments::faced(without, with);
        for (((name, what), claimed), (ratio, score)) in ADVERSARIES.into_iter().zip(claimed).zip(found) {
            let allowed = format!("{claimed:.4} within {LIMIT} errors");
            self.check(name, score.abs() <= LIMIT, ratio * claimed, allowed, what.into());
        }
        Ok(())
    }

    /// Layers 2 and 3.
    fn statistics(
        &mut self,
        least_share: Option<f64>,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Finding, AuditError> {
        let network = Network::new(self.subject, self.setting)?;
        let whole = self.setting.rate(0) >= 1.0 && self.setting.rate(1) >= 1.0;
        let runs = if whole { 2 * self.audit.runs } else { self.audit.runs };
        let without = likelihood::sample(&network, runs, self.seed, false)?;
        let with = likelihood::sample(&network, runs, self.seed, true)?;
        for (name, what, score) in moments::scores(self.setting, &without.moments, &with.moments).list {
            let what = format!("{what}, in standard errors");
            self.check(name, score.abs() <= LIMIT, score, format!("within ±{LIMIT}"), what);
        }
        self.adversaries(&without.moments, &with.moments)?;
        progress(&format!("{}: the test against the claim", self.setting.name));
        let claimed = self.setting.claimed()?;
        let outcome = likelihood::judge(self.setting, &without.scores, &with.scores)?;
        let what = format!(
            "room between the attack's curve and the claimed one, {} thresholds",
            outcome.points.len()
        );
        let margin = outcome.margin();
        self.check("trade-off", margin >= 0.0, margin, "not negative".into(), what);
        let epsilon = outcome.epsilon;
        let what = format!("ε that the attack proves; the accountant claims {:.4}", claimed.upper);
        let allowed = format!("at most {:.4}", claimed.upper);
        self.check("epsilon", epsilon <= claimed.upper, epsilon, allowed, what);
        if let Some(least) = least_share {
            let share = epsilon / claimed.upper;
            let what = "proven ε over claimed ε: whether the attack is any good".into();
            self.check("strength", share >= least, share, format!("at least {least}"), what);
        }
        let (a, b) = without.scores.split_at(without.scores.len() / 2);
        let null = likelihood::judge(self.setting, a, b)?.epsilon;
        let what = "ε that the attack proves where there is nothing to find".into();
        self.check("null", null <= 0.01, null, "at most 0.01".into(), what);
        Ok(Finding { setting: self.setting.clone(), claimed, outcome, runs })
    }
}
