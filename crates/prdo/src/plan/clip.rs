//! The C_Δ that a run needs.

use prdo_theory::Setting;

/// The smallest C_Δ at which differences are expected not to be clipped: L_sα·√(C_g² + noise), where the noise is the
/// expected squared length of what v carries of it. v forgets noise at the rate γ, so that is at most the larger of
/// dν₀² (the first round's) and dγν²_dp/(2−γ) (in the long run). The latter depends on C_Δ itself through S_γ:
///
/// ```text
/// C² = (L_sα)²·(C_g² + k·(γC_g + (1−γ)C)²),   k = dz²/(γ(2−γ)b²)
/// ```
///
/// which has a solution where L_sα·√k·(1−γ) < 1: otherwise the noise moves the model by more than C_Δ at every C_Δ,
/// and the answer is `None`. Movement by mixing with neighbours is not in it. At γ = 1 there are no differences, and
/// the answer is C_g.
pub fn difference_clip(setting: &Setting, gradient_clip: f64, z: f64, dimension: u64) -> Option<f64> {
    let gamma = setting.gamma();
    if gamma >= 1.0 {
        return Some(gradient_clip);
    }
    let (d, b) = (dimension as f64, setting.batch());
    let moved = setting.smoothness() * setting.step_size();
    let first = moved * (1.0 + d * (z / setting.first_batch() as f64).powi(2)).sqrt();
    let k = d * (z / b).powi(2) / (gamma * (2.0 - gamma));
    // In units of C_g: (1 − p(1−γ)²)·c² − 2pγ(1−γ)·c − (m² + pγ²) = 0 with m = L_sα and p = m²k.
    let p = moved * moved * k;
    let lead = 1.0 - p * (1.0 - gamma).powi(2);
    if lead.is_nan() || lead <= 0.0 {
        return None;
    }
    let half = p * gamma * (1.0 - gamma);
    let rest = moved * moved + p * gamma * gamma;
    let long_run = (half + (half * half + lead * rest).sqrt()) / lead;
    let clip = gradient_clip * long_run.max(first);
    clip.is_finite().then_some(clip)
}
