//! A case with its parameters held against the theorem.

use super::PlanError;
use super::calibrate::{self, Calibrator};
use super::case::{Case, Noise, Strength};
use super::clip::difference_clip;
use prdo_accounting::Method as Accounting;
use prdo_theory::sensitivity::Sensitivity;
use prdo_theory::{Bounds, Conditions, Constants, Setting, noise};

/// What the theorem says of a case with given parameters.
#[derive(Clone, Debug)]
pub struct Judged {
    pub setting: Setting,
    /// `cv:stability`.
    pub conditions: Conditions,
    /// K_H, K_U, Q, A_C, A_U.
    pub constants: Constants,
    pub noise: Option<NoiseFacts>,
    /// The values of the bounds, where every level is known. They are bounds where the conditions hold.
    pub bounds: Option<Bounds>,
    /// With noise in pairs: what of the bound's privacy part comes by the mean of all nodes; the rest by their disagreement.
    pub privacy_by_mean: Option<f64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NoiseFacts {
    /// C_g, C_Δ and γ, where the noise follows from them.
    pub sensitivity: Option<Sensitivity>,
    pub multiplier: Option<f64>,
    /// Whether z is the Rényi accountant's because the exact one would take long: then less is enough.
    pub by_renyi: bool,
    /// ε of the whole run, where it is known.
    pub epsilon: Option<f64>,
    /// ν₀².
    pub first_variance: Option<f64>,
    /// ν²_dp; a later round adds γ times a draw with this variance to the direction.
    pub variance: f64,
    /// The smallest C_Δ at which differences are expected not to be clipped; infinite where there is none.
    pub clip_needed: Option<f64>,
    /// Whether C_Δ was not given and is the needed one.
    pub clip_assumed: bool,
}

impl NoiseFacts {
    fn of_variance(variance: f64) -> Self {
        Self { variance, ..Self::default() }
    }

    /// Whether differences are expected to be clipped, against the theorem's assumption.
    pub fn clips(&self) -> bool {
        let used = self.sensitivity.map(|s| s.difference_clip());
        matches!((used, self.clip_needed), (Some(used), Some(needed)) if used < needed * (1.0 - 1e-9))
    }
}

impl Judged {
    /// c_α that α stands for in the paper's schedule.
    pub fn c_alpha(&self) -> f64 {
        let setup = self.setting.setup();
        self.setting.step_size() * setup.smoothness * setup.horizon_root() / setup.root_gap()
    }

    /// c_γ that γ stands for.
    pub fn c_gamma(&self) -> f64 {
        self.setting.gamma() * self.setting.setup().horizon_root().powi(2)
    }

    /// The bound on the average squared gradient norm, where it holds.
    pub fn stationarity(&self) -> Option<f64> {
        self.bounds.filter(|_| self.conditions.hold()).map(|bounds| bounds.stationarity.total())
    }
}

pub fn judge(case: &Case, setting: &Setting, calibrator: &mut Calibrator) -> Result<Judged, PlanError> {
    let noise = noise_facts(case, setting, calibrator)?;
    // The theorem's ν²_dp also stands for the first round's, which is the larger one where b₀ is small.
    let variance = noise.map(|n| n.first_variance.map_or(n.variance, |first| first.max(n.variance)));
    let bounds = variance.map(|variance| case.bounds(setting, variance)).transpose()?.flatten();
    let by_mean = variance.filter(|_| case.pairs.is_some()).map(|variance| case.by_mean(setting, variance));
    Ok(Judged {
        privacy_by_mean: by_mean.transpose()?.flatten(),
        setting: *setting,
        conditions: Conditions::of(setting),
        constants: Constants::of(setting),
        noise,
        bounds,
    })
}

fn noise_facts(
    case: &Case,
    setting: &Setting,
    calibrator: &mut Calibrator,
) -> Result<Option<NoiseFacts>, PlanError> {
    let (gradient_clip, given, strength) = match &case.noise {
        Noise::Unknown => return Ok(None),
        Noise::Absent => return Ok(Some(NoiseFacts::of_variance(0.0))),
        Noise::Variance(variance) => return Ok(Some(NoiseFacts::of_variance(*variance))),
        Noise::Scaled { gradient_clip, difference_clip, strength } => {
            (*gradient_clip, *difference_clip, strength)
        }
    };
    let (b, first) = (case.batch, setting.first_batch());
    let z = calibrator.multiplier(case, strength, first)?;
    let known = case.problem.dimension.filter(|_| case.problem.smoothness.is_some());
    let in_answers = z * case.answer_noise();
    let needed =
        known.map(|d| difference_clip(setting, gradient_clip, in_answers, d).unwrap_or(f64::INFINITY));
    let assumed = if setting.gamma() >= 1.0 { Some(gradient_clip) } else { needed.filter(|c| c.is_finite()) };
    let Some(clip) = given.or(assumed) else { return Ok(None) };
    let sensitivity = Sensitivity::new(gradient_clip, clip, setting.gamma())?;
    let variances = noise::variances(z, &sensitivity, b, first)?;
    let epsilon = match strength {
        Strength::Budget { epsilon, .. } => Some(*epsilon),
        Strength::Multiplier { account: Some(account), .. } if case.slots.is_some() => {
            Some(calibrator.cost(case, first, z, account)?)
        }
        Strength::Multiplier { .. } => None,
    };
    Ok(Some(NoiseFacts {
        sensitivity: Some(sensitivity),
        multiplier: Some(z),
        by_renyi: case.budget().is_some_and(|(_, account)| {
            account.accounting == Accounting::Numerical && !calibrate::is_exact(case, first)
        }),
        epsilon,
        first_variance: Some(variances.first),
        variance: variances.recursive,
        clip_needed: needed.filter(|_| setting.gamma() < 1.0),
        clip_assumed: given.is_none() && setting.gamma() < 1.0,
    }))
}
