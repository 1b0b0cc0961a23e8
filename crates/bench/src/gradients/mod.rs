//! Per-record gradients through the real gate, against the processor's peak in the same run.
//!
//! The machine may be busy with other things, so peak and rounds are measured in turns many times, each look at the peak
//! over as long as the round before it: the peak is the best seen, and of rounds both the best and the median are told.

mod gemm;
mod measure;
mod report;
mod subject;

pub use measure::{Setting, measure};
pub use report::{blocks, json};
