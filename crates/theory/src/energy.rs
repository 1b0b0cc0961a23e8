//! The network energy of Exact Diffusion, one eigenmode of the mixing matrix at a time (Step 2 of the proof of
//! `cv:lemma-network`).
//!
//! In the mode of a disagreement eigenvector u with eigenvalue z, p = uᵀX and q = uᵀS/√(1−z) evolve by A_z and the
//! forcing, and 𝓔 = Σ_z ‖(p, q)‖²_{H_z}. The rows p and q have d coordinates: what is needed of them here are their
//! inner products.

use crate::error::{TheoryError, between};

/// A disagreement mode with eigenvalue 0 < z < 1. Modes with z = 0 have no energy and no disagreement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mode {
    z: f64,
    s: f64,
}

/// The inner products ⟨p, p⟩, ⟨p, q⟩ and ⟨q, q⟩ of a mode's two rows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Products {
    pub pp: f64,
    pub pq: f64,
    pub qq: f64,
}

impl Mode {
    pub fn new(z: f64) -> Result<Self, TheoryError> {
        between("eigenvalue", z, (1e-30, 1.0_f64.next_down()), "from 1e-30 to below 1")?;
        Ok(Self { z, s: (1.0 - z).sqrt() })
    }

    pub fn eigenvalue(&self) -> f64 {
        self.z
    }

    /// √(1−z): what the correction's row is divided by.
    pub fn correction_scale(&self) -> f64 {
        self.s
    }

    /// A_z = [[2z−1, −√(1−z)], [√(1−z), 1]].
    pub fn transition(&self) -> [[f64; 2]; 2] {
        [[2.0 * self.z - 1.0, -self.s], [self.s, 1.0]]
    }

    /// H_z = [[1, √(1−z)], [√(1−z), 1]]/(2z). A_zᵀH_zA_z = zH_z.
    pub fn weight(&self) -> [[f64; 2]; 2] {
        let h = 0.5 / self.z;
        [[h, h * self.s], [h * self.s, h]]
    }

    /// ‖(p, q)‖²_{H_z}, never negative.
    pub fn energy(&self, products: &Products) -> f64 {
        // With m = √(‖p‖²+‖q‖²) the sum is at least (1−s)m² > 0; rounding must not say otherwise.
        (0.5 / self.z * (products.pp + 2.0 * self.s * products.pq + products.qq)).max(0.0)
    }

    /// The inner products of A_z(p, q).
    pub fn advanced(&self, products: &Products) -> Products {
        let (a, s) = (2.0 * self.z - 1.0, self.s);
        let Products { pp, pq, qq } = *products;
        Products {
            pp: a * a * pp - 2.0 * a * s * pq + s * s * qq,
            pq: a * s * pp + (a - s * s) * pq - s * qq,
            qq: s * s * pp + 2.0 * s * pq + qq,
        }
    }

    /// The smaller eigenvalue of H_z, 1/(2(1+√(1−z))) ≥ 1/4: disagreement is at most four times the energy.
    pub fn coercivity(&self) -> f64 {
        0.5 / (1.0 + self.s)
    }

    /// α²(zr²/2 − zrd + zd²/(2(1−z))), the forcing's energy, from the inner products of r = uᵀR and
    /// d = uᵀ(M^{t+1} − M^t).
    pub fn forcing(&self, step_size: f64, rr: f64, rd: f64, dd: f64) -> f64 {
        let z = self.z;
        step_size * step_size * z * (0.5 * rr - rd + 0.5 * dd / (1.0 - z))
    }
}
