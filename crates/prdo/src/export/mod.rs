//! Runs in the formats of other tools: models as ONNX, metrics as TensorBoard events and as Parquet.

mod onnx;
mod protobuf;
mod tensorboard;

pub use onnx::{Linear, OnnxError, linear_to_onnx, network_to_onnx};
pub use tensorboard::{FILE_NAME as EVENTS_FILE, FOLDER as EVENTS_FOLDER, events, first_event, row_event};

use prdo_problem::data::columnar::{self, Column};
use prdo_simulator::Row;

/// The rows of `metrics.csv` as a Parquet file with the same columns.
pub fn metrics_to_parquet(rows: &[Row]) -> Vec<u8> {
    let whole = |name: &'static str, value: &dyn Fn(&Row) -> u64| {
        let number = |row: &Row| i64::try_from(value(row)).unwrap_or(i64::MAX);
        (name, Column::Integers(rows.iter().map(number).collect()))
    };
    let real = |name: &'static str, value: &dyn Fn(&Row) -> Option<f64>| {
        (name, Column::Numbers(rows.iter().map(value).collect()))
    };
    columnar::to_parquet(
        &[
            whole("round", &|row| row.round.into()),
            real("loss", &|row| Some(row.loss)),
            real("grad_norm", &|row| Some(row.grad_norm)),
            real("consensus_error", &|row| Some(row.consensus_error)),
            real("test_accuracy", &|row| row.test_accuracy),
            real("epsilon_spent", &|row| row.epsilon_spent),
            whole("bytes_sent", &|row| row.bytes_sent),
            whole("gradient_evaluations", &|row| row.gradient_evaluations),
            real("clipped_gradient_fraction", &|row| row.clipped_gradient_fraction),
            real("clipped_difference_fraction", &|row| row.clipped_difference_fraction),
        ],
        &format!("prdo {}", env!("CARGO_PKG_VERSION")),
    )
}
