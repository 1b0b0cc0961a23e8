//! Tests of what is drawn at random: laws, reproducibility, every record exactly once.

mod generate;
mod partition;
