//! Private decentralized learning: organisations (nodes of a graph) train one model together with no server.
//! Each keeps its records and exchanges one noisy model-sized vector with each neighbour per round; the complete
//! transcript is record-level (ε, δ)-differentially private.
//!
//! This crate is the façade over the rooms behind it.
//!
//! # A private run on your own records
//!
//! ```
//! use prdo::prelude::*;
//!
//! // Eight organisations, each with its own (differently distributed) records.
//! let records = prdo::data::generate::logistic(8, 500, 10, 0.2, 1)?;
//! let ring = Mixing::new(&Graph::ring(8)?, Weights::Paper, false)?;
//! let outcome = Run::new(Logistic::new(10, 0.001)?, records, ring, Method::Prdo, Settings::new(0.5))
//!     .batch(50, Sampling::Poisson)
//!     .clip(1.0, 0.05)
//!     .private(Privacy::Budget { epsilon: 2.0, delta: 1e-5 })
//!     .rounds(100)
//!     .train()?;
//! let guarantee = outcome.guarantee.ok_or("the run is private")?;
//! assert!(guarantee.epsilon <= 2.0);
//! assert!(outcome.last().ok_or("a row")?.loss < outcome.rows[0].loss);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # A model of your own
//!
//! Implement [`Model`](prelude::Model): the loss of one record and its gradient. The gate does the rest
//! (sampling, clipping, noise, accounting) and your model never sees any of it.
//!
//! ```
//! use prdo::prelude::*;
//!
//! /// Mean estimation: ℓ(x; r) = ½‖x − r‖², records are points.
//! struct Mean;
//!
//! impl Model for Mean {
//!     type Data = Vec<[f64; 2]>;
//!     fn dimension(&self) -> usize { 2 }
//!     fn loss(&self, x: &[f64], data: &Self::Data, r: usize) -> f64 {
//!         data[r].iter().zip(x).map(|(c, x)| 0.5 * (x - c).powi(2)).sum()
//!     }
//!     fn gradient(&self, x: &[f64], data: &Self::Data, r: usize, gradient: &mut [f64]) {
//!         for j in 0..2 { gradient[j] = x[j] - data[r][j]; }
//!     }
//! }
//!
//! // Four nodes whose points lie around different centres; the network finds the mean of all.
//! let records: Vec<Vec<[f64; 2]>> = (0..4).map(|i| vec![[i as f64, 1.0]; 100]).collect();
//! let graph = Mixing::new(&Graph::ring(4)?, Weights::Paper, false)?;
//! let outcome = Run::new(Mean, records, graph, Method::Ed, Settings::new(0.2)).rounds(200).train()?;
//! assert!((outcome.average[0] - 1.5).abs() < 1e-9 && (outcome.average[1] - 1.0).abs() < 1e-9);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # A method of your own
//!
//! A type that is a [`Definition`](algorithm::Definition) (a card with its parameters, and how a node begins) is run, attacked
//! and accounted for like those that are here: `Run::new(model, records, graph, Method::new(&Mine), settings)`.
//! CONTRIBUTING.md has one in full.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod build;
pub mod columns;
pub mod compare;
pub mod error;
pub mod export;
pub mod pairs;
pub mod parts;
pub mod plan;
pub mod predict;
pub mod run;
pub mod trainer;
pub mod tune;
pub mod worth;

pub use prdo_accounting as accounting;
pub use prdo_algorithm as algorithm;
pub use prdo_budget as budget;
pub use prdo_data as data;
pub use prdo_disk as disk;
pub use prdo_models as models;
pub use prdo_models::network;
pub use prdo_plot as plot;
pub use prdo_privacy as privacy;
pub use prdo_report as report;
pub use prdo_report::{dashboard, statistics};
pub use prdo_runfile as runfile;
pub use prdo_simulator as simulator;
pub use prdo_store as store;
pub use prdo_theory as theory;

/// What a program that builds runs usually needs.
pub mod prelude {
    pub use crate::error::RunError;
    pub use crate::run::{Guarantee, Outcome, Prepared, Privacy, Run};
    pub use prdo_algorithm::graph::{Graph, GraphFamily, Mixing, Weights};
    pub use prdo_algorithm::{Combine, Method, Settings};
    pub use prdo_data::Table;
    pub use prdo_models::{LogCosh, Logistic, Quadratic, Softmax};
    pub use prdo_privacy::{Data, Model, PairSettings, Records, Sampling, SecretsOf, Start};
    pub use prdo_simulator::{Moments, Row};
}

/// The README's example is compiled and run with the documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// So is the method that is added in CONTRIBUTING.
#[cfg(doctest)]
#[doc = include_str!("../../../CONTRIBUTING.md")]
struct Contributing;
