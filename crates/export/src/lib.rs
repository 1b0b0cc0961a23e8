//! Runs in the formats of other tools, as bytes: models as ONNX, metrics as TensorBoard events and as Parquet.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod onnx;
mod protobuf;
mod tensorboard;

pub use onnx::{Linear, OnnxError, linear_to_onnx, network_to_onnx};
pub use tensorboard::{events, first_event, row_event};

use prdo_data::DataError;
use prdo_data::parquet::{self, ColumnValues};
use prdo_simulator::Row;
use prdo_store::{self as metrics, Number, names};

/// The rows of `metrics.csv` as a Parquet file with the same columns.
///
/// # Errors
/// A build without Parquet.
pub fn metrics_to_parquet(rows: &[Row]) -> Result<Vec<u8>, DataError> {
    let column = |column: &metrics::Column| {
        let whole = |row: &Row| match column.number(row) {
            Number::Whole(count) => i64::try_from(count).unwrap_or(i64::MAX),
            Number::Real(value) => value.unwrap_or_default() as i64,
        };
        let values = match column.is_whole() {
            true => ColumnValues::Integers(rows.iter().map(whole).collect()),
            false => ColumnValues::Numbers(rows.iter().map(|row| column.value(row)).collect()),
        };
        (column.name, values)
    };
    let columns: Vec<_> = metrics::COLUMNS.iter().map(column).collect();
    parquet::write(names::PARQUET, &columns, &format!("prdo {}", env!("CARGO_PKG_VERSION")))
}
