//! The paper's theory as functions, each with the label of its equation.
//!
//! Pure functions of numbers. No data, no random draws, no vectors of a model.
//!
//! ```
//! use prdo_theory::{Bounds, Conditions, Constants, Levels, Schedule, Setup};
//!
//! // A lazy ring of 32 nodes, 1000 rounds, batches of 16.
//! let lambda = 0.5 * (1.0 + (2.0 * std::f64::consts::PI / 32.0).cos());
//! let setup = Setup { nodes: 32, rounds: 1000, batch: 16, lambda, smoothness: 1.0 };
//! let schedule = Schedule::largest(&setup, 1.0)?;
//! assert_eq!(schedule.setting().first_batch(), 161);
//! assert!(Conditions::of(schedule.setting()).hold());
//!
//! let levels = Levels {
//!     initial_gap: 1.0, heterogeneity: 0.5, sampling_variance: 2.0, dimension: 10, noise_variance: 0.0,
//! };
//! let bounds = Bounds::of(schedule.setting(), &levels)?;
//! assert!(bounds.stationarity.total() < 17.0 && bounds.stationarity.privacy == 0.0);
//! # Ok::<(), prdo_theory::TheoryError>(())
//! ```
//!
//! * [`Setup`] is what a run finds (n, T, b, λ, L_s), [`Parameters`] what it chooses (α, γ, b₀), [`Setting`] both,
//!   checked; [`Levels`] are the sizes of what the bounds speak of (Δ_f, ζ₀², σ²_sgd, d, ν²_dp);
//! * [`Schedule`] chooses the parameters as the paper does; [`Conditions`] says whether the theorem holds for them;
//! * [`Constants`] are K_H, K_U, Q, A_C, A_U; [`Bounds`] the theorem's bounds, split by what causes them;
//! * [`lemmas`] are the right sides of the lemmas' inequalities, [`energy`] the network energy mode by mode;
//! * [`disagreement`] is how far noise keeps the nodes apart, whether or not it cancels between them;
//! * [`sensitivity`], [`noise`] and [`cost`] are the sensitivity scale, the noise's variances, gradients and bytes.
//!
//! Values are computed in doubles, without outward rounding: they are right to about fourteen digits. A value that is
//! too large for a double is infinity; none is ever NaN.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod bounds;
pub mod conditions;
pub mod constants;
pub mod cost;
pub mod disagreement;
pub mod energy;
pub mod error;
pub mod lemmas;
pub mod noise;
pub mod schedule;
pub mod sensitivity;
pub mod setting;
mod split;

pub use bounds::Bounds;
pub use conditions::{Condition, Conditions};
pub use constants::Constants;
pub use error::TheoryError;
pub use schedule::Schedule;
pub use setting::{Levels, Parameters, Setting, Setup};
pub use split::Split;
