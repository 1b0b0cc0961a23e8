//! Columns of Parquet files as records.

use std::panic::{AssertUnwindSafe, catch_unwind};

use ::parquet::basic::{ConvertedType, LogicalType, Type as Physical};
use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use ::parquet::data_type::DataType;
use ::parquet::errors::ParquetError;
use ::parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use ::parquet::schema::types::ColumnDescriptor;

use crate::columns::{Cell, LabelColumn, NodeColumn, Nodes, Roles};
use crate::error::quoted;
use crate::{DataError, Dataset, Options, Place, Setting, Table, dense_len};

/// How many records are decoded at a time.
const BATCH: usize = 1 << 13;

/// Reads a Parquet file from `input`, which errors call `file`.
///
/// The `parquet` crate panics on some malformed files (an integer of 7 bits, for one); here that is one more way
/// for a file to be malformed.
///
/// # Errors
/// What cannot be read or is malformed, a column that is needed and is neither number nor text, or a missing value.
pub fn parse<R: ChunkReader + 'static>(
    file: &str,
    input: R,
    options: &Options,
) -> Result<Dataset, DataError> {
    options.refuse("Parquet", &[Setting::Prefix, Setting::Columns])?;
    catch_unwind(AssertUnwindSafe(|| OpenFile::open(file, input)?.dataset(options)))
        .unwrap_or_else(|_| Err(malformed(file, "the decoder gave up on it")))
}

fn malformed(file: &str, problem: impl std::fmt::Display) -> DataError {
    DataError::malformed(file, "Parquet", problem.to_string())
}

/// One value of a column.
enum Value {
    Number(f64),
    /// A whole number keeps all its digits as text, for node names.
    Integer(i128),
    Text(String),
}

struct OpenFile<'a, R: ChunkReader> {
    name: &'a str,
    reader: SerializedFileReader<R>,
    records: usize,
}

impl<'a, R: ChunkReader + 'static> OpenFile<'a, R> {
    /// Opens the file and checks what its metadata promises against its length, before anything is allocated.
    fn open(name: &'a str, input: R) -> Result<Self, DataError> {
        let length = input.len();
        let reader = SerializedFileReader::new(input).map_err(|e| malformed(name, e))?;
        let metadata = reader.metadata();
        let inside = |offset: i64| u64::try_from(offset).is_ok_and(|offset| offset <= length);
        for column in metadata.row_groups().iter().flat_map(|group| group.columns()) {
            let start = column.dictionary_page_offset().unwrap_or(column.data_page_offset());
            let end = start.checked_add(column.compressed_size());
            if !inside(start) || !inside(column.compressed_size()) || !end.is_some_and(inside) {
                return Err(malformed(name, "a column chunk lies outside the file"));
            }
        }
        let mut records = 0usize;
        for group in metadata.row_groups() {
            let rows = usize::try_from(group.num_rows()).ok().and_then(|rows| records.checked_add(rows));
            records = rows.ok_or_else(|| malformed(name, "a number of rows is out of range"))?;
        }
        Ok(Self { name, reader, records })
    }

    fn dataset(&self, options: &Options) -> Result<Dataset, DataError> {
        let columns = self.reader.metadata().file_metadata().schema_descr().columns();
        let names: Vec<String> = columns.iter().map(|c| c.path().string()).collect();
        let roles = Roles::of(self.name, &names, options)?;
        let width = roles.features.len();
        options.check_width(self.name, width)?;
        if self.records == 0 {
            return Err(DataError::NoRecords { file: self.name.to_owned() });
        }
        let len = dense_len(self.name, self.records, width)?;

        // Labels first: only when as many records are there as promised is there memory for all features.
        let mut labels = LabelColumn::default();
        match roles.label {
            Some(column) => self.each(column, |value, cell| match value {
                Value::Text(text) => labels.push_text(text.trim(), cell),
                Value::Number(number) => labels.push_number(number, cell),
                Value::Integer(integer) => labels.push_number(integer as f64, cell),
            })?,
            None => (0..self.records).for_each(|_| labels.push_none()),
        }
        let (node, node_names) = match roles.node {
            Some(column) => self.nodes(column, &names[column])?.into(),
            None => (None, None),
        };
        let mut features = vec![0.0; len];
        for (at, column) in roles.features.iter().enumerate() {
            let mut slots = features[at..].iter_mut().step_by(width);
            self.each(*column, |value, cell| {
                let number = match value {
                    Value::Number(number) => cell.finite(number)?,
                    Value::Integer(integer) => integer as f64,
                    Value::Text(text) => return Err(cell.refuse(quoted(&text), "numbers")),
                };
                slots.next().into_iter().for_each(|slot| *slot = number);
                Ok(())
            })?;
        }
        let column = roles.label.map_or("", |label| &names[label]);
        let (labels, class_names) = labels.finish(self.name, column, options.class_names)?;
        let feature_names = roles.features.iter().map(|c| names[*c].clone()).collect();
        let table = Table::new(width, features, labels)?;
        let (feature_names, labelled) = (Some(feature_names), roles.label.is_some());
        Ok(Dataset { node, node_names, class_names, feature_names, labelled, ..Dataset::from(table) })
    }

    fn nodes(&self, column: usize, name: &str) -> Result<Nodes, DataError> {
        let mut nodes = NodeColumn::default();
        self.each(column, |value, cell| match value {
            Value::Text(text) => nodes.push(text.trim(), cell),
            Value::Number(number) => nodes.push(&number.to_string(), cell),
            Value::Integer(integer) => nodes.push(&integer.to_string(), cell),
        })?;
        nodes.finish(self.name, name)
    }

    /// Calls `visit` on each value of `column`, in order; refuses a missing value and a column that is shorter
    /// or longer than promised.
    fn each(
        &self,
        column: usize,
        mut visit: impl FnMut(Value, Cell<'_>) -> Result<(), DataError>,
    ) -> Result<(), DataError> {
        let descriptor = self.reader.metadata().file_metadata().schema_descr().column(column);
        let name = descriptor.path().string();
        let signedness = Signedness::of(&descriptor).map_err(|problem| DataError::Column {
            file: self.name.to_owned(),
            column: name.clone(),
            problem,
        })?;
        let mut record = 0;
        let mut visit = |value: Option<Value>| {
            let cell = Cell { file: self.name, place: Place::Record(record), column: &name };
            record += 1;
            match value {
                Some(_) if record > self.records => Err(malformed(self.name, "more values than rows")),
                Some(value) => visit(value, cell),
                None => Err(cell.refuse("nothing (null)", "a value in every record")),
            }
        };
        for group in 0..self.reader.num_row_groups() {
            let reader = self.reader.get_row_group(group).and_then(|g| g.get_column_reader(column));
            match reader.map_err(|e| malformed(self.name, e))? {
                ColumnReader::BoolColumnReader(r) => {
                    self.values(r, |v| Ok(Value::Integer(i128::from(v))), &mut visit)
                }
                ColumnReader::Int32ColumnReader(r) => self.values(
                    r,
                    |v| Ok(Value::Integer(signedness.integer(i64::from(v), v as u32 as u64))),
                    &mut visit,
                ),
                ColumnReader::Int64ColumnReader(r) => {
                    self.values(r, |v| Ok(Value::Integer(signedness.integer(v, v as u64))), &mut visit)
                }
                ColumnReader::FloatColumnReader(r) => {
                    self.values(r, |v| Ok(Value::Number(f64::from(v))), &mut visit)
                }
                ColumnReader::DoubleColumnReader(r) => self.values(r, |v| Ok(Value::Number(v)), &mut visit),
                ColumnReader::ByteArrayColumnReader(r) => {
                    self.values(r, |v| Ok(Value::Text(v.as_utf8()?.to_owned())), &mut visit)
                }
                _ => Err(malformed(self.name, "a column's pages have another type than its schema")),
            }?;
        }
        match record {
            found if found == self.records => Ok(()),
            found => Err(DataError::Length {
                file: self.name.to_owned(),
                unit: "rows",
                promised: self.records.to_string(),
                found: format!("{found} in column \"{name}\""),
            }),
        }
    }

    /// Calls `visit` on each value of one column chunk, `None` for a null.
    fn values<T: DataType>(
        &self,
        mut reader: ColumnReaderImpl<T>,
        convert: impl Fn(T::T) -> Result<Value, ParquetError>,
        visit: &mut impl FnMut(Option<Value>) -> Result<(), DataError>,
    ) -> Result<(), DataError> {
        let (mut values, mut levels) = (Vec::new(), Vec::new());
        loop {
            values.clear();
            levels.clear();
            let read = reader.read_records(BATCH, Some(&mut levels), None, &mut values);
            let (records, _, _) = read.map_err(|e| malformed(self.name, e))?;
            if records == 0 {
                return Ok(());
            }
            let mut values = values.drain(..);
            for at in 0..records {
                let present = levels.get(at).is_none_or(|level| *level > 0);
                let value = if present { values.next() } else { None };
                let value = value.map(&convert).transpose().map_err(|e| malformed(self.name, e))?;
                visit(value)?;
            }
        }
    }
}

/// How a column's stored integers are meant.
#[derive(Clone, Copy)]
enum Signedness {
    Signed,
    Unsigned,
}

impl Signedness {
    fn of(column: &ColumnDescriptor) -> Result<Self, String> {
        if column.max_rep_level() > 0 || column.path().parts().len() > 1 {
            return Err("is nested; allowed: flat columns".to_owned());
        }
        let (physical, meaning) = (column.physical_type(), column.converted_type());
        let refused = || {
            Err(format!("has type {physical} ({meaning}); allowed: numbers, and text for labels and nodes"))
        };
        if matches!(column.logical_type_ref(), Some(LogicalType::Timestamp(_) | LogicalType::Time(_))) {
            return refused();
        }
        use ConvertedType as C;
        match (physical, meaning) {
            (Physical::BOOLEAN | Physical::FLOAT | Physical::DOUBLE, _) => Ok(Self::Signed),
            (Physical::INT32 | Physical::INT64, C::NONE | C::INT_8 | C::INT_16 | C::INT_32 | C::INT_64) => {
                Ok(Self::Signed)
            }
            (Physical::INT32 | Physical::INT64, C::UINT_8 | C::UINT_16 | C::UINT_32 | C::UINT_64) => {
                Ok(Self::Unsigned)
            }
            (Physical::BYTE_ARRAY, C::UTF8 | C::ENUM | C::NONE) => Ok(Self::Signed),
            _ => refused(),
        }
    }

    fn integer(self, signed: i64, unsigned: u64) -> i128 {
        match self {
            Self::Signed => i128::from(signed),
            Self::Unsigned => i128::from(unsigned),
        }
    }
}
