//! Inner loops, compiled for several instruction sets and chosen at run time. The only crate with `unsafe` in it.
//!
//! [`Level`] says which instructions this processor has. The single-precision kernels of networks are written
//! once, over sixteen lanes (`simd`), and compiled for AVX-512, AVX2 and plain code; they give the same results
//! to rounding, and on one machine always the same bits. The double-precision kernels of linear models
//! ([`linear`], [`rank_one`]) and the transforms of [`fourier`] give the same bits everywhere.
//!
//! What never happens here: a decision. Kernels do not know what a record, a gradient or a privacy budget is.
//!
//! # Safety
//! Every public function is safe: it checks the lengths of the slices it is given before it touches memory
//! through pointers, and a [`Level`] exists only if the processor has its instructions.
// Kernels take pointers apart from lengths and index small arrays of registers by place.
#![allow(clippy::too_many_arguments, clippy::needless_range_loop)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod activation;
pub mod bytes;
pub mod clip;
pub mod dense;
pub mod direct;
pub mod fourier;
pub mod linear;
pub mod peak;
pub mod pooling;
pub mod rank_one;
pub mod winograd;

mod gemm;
mod level;
mod memory;
pub mod normals;
mod records;
mod simd;

pub use level::Level;
pub use memory::{Memory, Number, keep_freed_memory};
pub use records::Records;
pub use simd::LANES;
