//! Columns of numbers as a Parquet file of one row group.

use super::ColumnValues;
use ::parquet::basic::{Repetition, Type as Physical};
use ::parquet::data_type::{DoubleType, Int64Type};
use ::parquet::errors::ParquetError;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::SerializedFileWriter;
use ::parquet::schema::types::Type;
use std::sync::Arc;

pub(super) fn bytes(columns: &[(&str, ColumnValues)], author: &str) -> Result<Vec<u8>, ParquetError> {
    let field = |(name, values): &(&str, ColumnValues)| {
        let (physical, repetition) = match values {
            ColumnValues::Integers(_) => (Physical::INT64, Repetition::REQUIRED),
            ColumnValues::Numbers(_) => (Physical::DOUBLE, Repetition::OPTIONAL),
        };
        Type::primitive_type_builder(name, physical).with_repetition(repetition).build().map(Arc::new)
    };
    let fields = columns.iter().map(field).collect::<Result<_, _>>()?;
    let schema = Type::group_type_builder("metrics").with_fields(fields).build()?;
    let properties = WriterProperties::builder().set_created_by(author.to_owned()).build();
    let mut writer = SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties))?;
    let mut group = writer.next_row_group()?;
    for (_, values) in columns {
        let Some(mut column) = group.next_column()? else { break };
        match values {
            ColumnValues::Integers(values) => column.typed::<Int64Type>().write_batch(values, None, None)?,
            ColumnValues::Numbers(values) => {
                let present: Vec<f64> = values.iter().flatten().copied().collect();
                let levels: Vec<i16> = values.iter().map(|value| value.is_some().into()).collect();
                column.typed::<DoubleType>().write_batch(&present, Some(&levels), None)?
            }
        };
        column.close()?;
    }
    group.close()?;
    writer.into_inner()
}
