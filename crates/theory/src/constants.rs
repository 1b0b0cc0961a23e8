//! The constants of the network lemma and of the theorem's closure.

use crate::setting::Setting;

/// K_H, K_U (`cv:network-constants`) and Q, A_C, A_U (`cv:closure-coefficients`); all but Q are zero at λ = 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constants {
    /// K_H = 16α²λ/(1−√λ)²: how local estimation errors become disagreement.
    pub k_h: f64,
    /// K_U = 8nα⁴L_s²λ/((1−√λ)²(1−λ)): how the average's movement becomes disagreement.
    pub k_u: f64,
    /// Q = L_s²/n + 8L_s²/(bn²γ): what disagreement costs the average's descent.
    pub q: f64,
    /// A_C = 8K_H L_s²/(bγ): feedback of disagreement on itself.
    pub a_c: f64,
    /// A_U = 2K_H nL_s²α²/(bγ) + K_U: feedback of the average's movement on disagreement.
    pub a_u: f64,
}

impl Constants {
    pub fn of(setting: &Setting) -> Self {
        let (n, b, lambda) = (setting.nodes(), setting.batch(), setting.lambda());
        let (alpha, gamma) = (setting.step_size(), setting.gamma());
        // α over 1 − √λ, and αL_s, come first: their sizes are moderate where α's and L_s's are not.
        let slow_step = alpha / setting.setup().root_gap();
        let scaled = alpha * setting.smoothness();
        let square = setting.smoothness() * setting.smoothness();
        let k_h = 16.0 * lambda * slow_step * slow_step;
        let k_u = 8.0 * n * lambda * slow_step * slow_step * scaled * scaled / setting.setup().gap();
        Self {
            k_h,
            k_u,
            q: square / n + 8.0 * square / (b * n * n * gamma),
            a_c: 8.0 * k_h * square / (b * gamma),
            a_u: 2.0 * k_h * n * scaled * scaled / (b * gamma) + k_u,
        }
    }

    /// 2L_s²α²/(bnγ) + 2QA_U, the last left side of `cv:stability`.
    pub fn direction_feedback(&self, setting: &Setting) -> f64 {
        let scaled = setting.step_size() * setting.smoothness();
        2.0 * scaled * scaled / (setting.batch() * setting.nodes() * setting.gamma())
            + 2.0 * self.q * self.a_u
    }
}
