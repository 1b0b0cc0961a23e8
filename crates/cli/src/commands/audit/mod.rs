//! `prdo audit`: attacks on the privacy of the code itself, with a plain verdict.

mod images;
mod page;
mod words;

use super::{Failure, read_run_file, use_threads};
use crate::cli::audit::AuditArgs;
use crate::progress::{say, tell};
use images::Images;
use prdo::build::{Built, build};
use prdo::privacy::PairMechanism;
use prdo::store::{Folder, names};
use prdo_audit::one_run::{OneRun, Proof};
use prdo_audit::{Audit, AuditError, Check, Report, RunPairs, RunSetting, Setting, Shipped};
use serde_json::{Value as Json, json};
use std::time::Instant;

/// The most rounds of a run file's that are run, tens of thousands of times.
const MOST_ROUNDS: (u32, u32) = (40, 20);
/// Rounds of a run file's in a run of real size.
const ONE_RUN_ROUNDS: u32 = 10;
/// Values of the paper's network for CIFAR-10.
const REAL_SIZE: usize = 550_570;
/// Canaries in a run of real size, and the fewest that say anything.
const CANARIES: (usize, usize) = (1000, 100);

struct Audited {
    report: Report,
    one_run: Option<Proof>,
    images: Images,
    /// What was made smaller than in the run file, in words.
    scaled: Option<String>,
    seed: u64,
    quick: bool,
    seconds: f64,
    command: String,
}

pub fn run(args: &AuditArgs) -> Result<(), Failure> {
    use_threads(args.out.threads)?;
    let subject = Subject::of(args)?;
    let folder = Folder::create(args.out.out.as_deref(), "audit", args.out.overwrite)?;
    let started = Instant::now();
    let mut progress = |what: &str| tell(what);
    let report = Audit { seed: args.seed, ..subject.plan }.run(&Shipped, &mut progress).map_err(failure)?;
    let one_run = args.one_run.then(|| {
        progress("one run of real size");
        let (setting, dimension) = subject.real_size;
        let canaries = CANARIES.0.min(dimension);
        OneRun { setting, dimension, canaries, seed: args.seed }.run(&Shipped).map_err(failure)
    });
    progress("rebuilding records from messages");
    let noise_multiplier = report.findings.first().map_or(1.0, |f| f.setting.noise_multiplier);
    let images = Images::attack(noise_multiplier, args.seed, args.quick)?;
    let mut audited = Audited {
        report,
        one_run: one_run.transpose()?,
        images,
        scaled: subject.scaled,
        seed: args.seed,
        quick: args.quick,
        seconds: started.elapsed().as_secs_f64(),
        command: command(args),
    };
    audited.complete();
    page::write(&folder, &audited)?;
    let results = audited.json(&folder);
    folder.write(names::RESULTS, format!("{results:#}\n").as_bytes())?;
    if args.out.json {
        say(&results.to_string());
    } else {
        words::show(&audited, &folder);
    }
    match audited.report.passed() {
        true => Ok(()),
        false => Err(Failure::Work(format!("the audit failed: {}", audited.report.failed().join(", ")))),
    }
}

struct Subject {
    plan: Audit,
    /// The setting and the model's size for `--one-run`.
    real_size: (Setting, usize),
    scaled: Option<String>,
}

impl Subject {
    fn of(args: &AuditArgs) -> Result<Self, Failure> {
        let plan = |method| if args.quick { Audit::quick(method) } else { Audit::full(method) };
        let Some(file) = &args.file else {
            let setting = Setting::every_record(args.method).map_err(failure)?;
            let plan = plan(args.method).and_then(Audit::with_pairs).map_err(failure)?;
            return Ok(Self { plan, real_size: (setting, REAL_SIZE), scaled: None });
        };
        let document = read_run_file(file, &args.set)?;
        let built = build(&document)?;
        let name = document.name();
        let real = real(&built, name)?;
        let most = if args.quick { MOST_ROUNDS.1 } else { MOST_ROUNDS.0 };
        let setting = Setting::scaled(&real, most).map_err(failure)?;
        let dimension = built.prepared.training.models().first().map_or(REAL_SIZE, |model| model.len());
        if args.one_run && dimension < CANARIES.1 {
            let message = format!(
                "--one-run needs a model of at least {} values for its canaries; this run's has {dimension}: omit it",
                CANARIES.1
            );
            return Err(Failure::Input(message));
        }
        let scaled = words::scaled(&real, &setting, dimension);
        let large = Setting::scaled(&real, ONE_RUN_ROUNDS).map_err(failure)?;
        let plan = plan(real.method).map_err(failure)?.of(vec![setting]);
        Ok(Self { plan, real_size: (large, dimension), scaled: Some(scaled) })
    }
}

/// What an audit takes from a run file; a run that is not private has nothing to audit.
fn real(built: &Built, name: String) -> Result<RunSetting, Failure> {
    let Some(guarantee) = built.prepared.guarantee else {
        let message = "this run is not private (ε = ∞), so there is no claim to audit: add [privacy] with epsilon and delta";
        return Err(Failure::Input(message.into()));
    };
    let clip = built.clip.ok_or_else(|| Failure::Input("this run clips nothing".into()))?;
    Ok(RunSetting {
        name,
        method: built.method,
        settings: built.settings.clone(),
        clip,
        noise_multiplier: guarantee.noise_multiplier,
        rates: (guarantee.first_rate, guarantee.rate),
        rounds: built.prepared.schedule.rounds,
        delta: guarantee.delta,
        pairs: built.prepared.pairs.as_ref().map(|pairs| RunPairs {
            colluders: pairs.colluders,
            ratio: (pairs.pair_multiplier / pairs.own_multiplier).powi(2),
            complete: pairs.complete,
        }),
    })
}

/// Settings are the input's fault.
fn failure(error: AuditError) -> Failure {
    let input = matches!(error, AuditError::Setting { .. } | AuditError::Accounting(_));
    Failure::new(input, error.to_string())
}

fn command(args: &AuditArgs) -> String {
    let mut words = vec!["prdo audit".to_string()];
    match &args.file {
        Some(file) => words.push(file.display().to_string()),
        None => words.push(format!("--method {}", args.method)),
    }
    words.extend(args.set.iter().map(|assignment| format!("--set {assignment}")));
    words.extend(args.quick.then(|| "--quick".into()));
    words.extend(args.one_run.then(|| "--one-run".into()));
    words.push(format!("--seed {}", args.seed));
    words.join(" ")
}

impl Audited {
    /// Adds the checks that are not the battery's own.
    fn complete(&mut self) {
        if let Some(proof) = &self.one_run {
            let claimed = proof.claimed.upper;
            self.report.checks.push(Check {
                name: "one-run",
                setting: format!("{} values", proof.dimension),
                passed: proof.epsilon <= claimed,
                figure: proof.epsilon,
                allowed: format!("at most {claimed:.4}"),
                what: format!("ε that {} right guesses of {} prove", proof.guesses.1, proof.guesses.0),
            });
        }
        self.report.checks.extend(self.images.checks());
    }

    fn json(&self, folder: &Folder) -> Json {
        let check = |c: &Check| {
            json!({
                "name": c.name, "passed": c.passed, "figure": c.figure,
                "setting": c.setting, "allowed": c.allowed, "what": c.what,
            })
        };
        let pairs = |m: &PairMechanism| {
            json!({ "own_multiplier": m.pairs().own(), "pair_multiplier": m.pairs().pair(), "colluders": m.colluders(),
                "complete": m.secrets().is_complete() })
        };
        let setting = |f: &prdo_audit::Finding| {
            let s = &f.setting;
            let point = |p: &prdo_audit::likelihood::Point| {
                json!({ "false_alarms": p.false_alarms, "misses": p.misses, "misses_upper": p.bounds.1,
                    "false_alarms_upper": p.bounds.0, "claimed_misses_least": p.claimed })
            };
            json!({
                "name": s.name, "method": s.method.card().name, "rounds": s.rounds, "rate": s.rate(1),
                "first_rate": s.rate(0), "noise_multiplier": s.noise_multiplier, "runs": f.runs, "pairs": s.pairs.as_deref().map(pairs),
                "claimed_epsilon": f.claimed.upper, "empirical_epsilon": f.outcome.epsilon,
                "empirical_epsilon_clopper_pearson": f.outcome.epsilon_plain, "delta": s.delta,
                "curve": f.outcome.points.iter().map(point).collect::<Vec<_>>(),
            })
        };
        let first = self.report.findings.first();
        json!({
            "passed": self.report.passed(),
            "claimed_epsilon": first.map(|f| f.claimed.upper),
            "empirical_epsilon": first.map(|f| f.outcome.epsilon),
            "delta": first.map(|f| f.setting.delta),
            "checks": self.report.checks.iter().map(check).collect::<Vec<_>>(),
            "settings": self.report.findings.iter().map(setting).collect::<Vec<_>>(),
            "scaled": self.scaled,
            "one_run": self.one_run.as_ref().map(|p| json!({
                "dimension": p.dimension, "canaries": p.canaries, "rounds": p.rounds, "guesses": p.guesses.0,
                "right": p.guesses.1, "empirical_epsilon": p.epsilon, "claimed_epsilon": p.claimed.upper,
            })),
            "reconstruction": self.images.json(),
            "seed": self.seed,
            "quick": self.quick,
            "seconds": self.seconds,
            "report": folder.path().join(names::REPORT).display().to_string(),
        })
    }
}
