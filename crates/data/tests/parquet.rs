//! The Parquet reader, on files written by the `parquet` crate, and the writer.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::io::Write;
use std::sync::Arc;

use parquet::data_type::*;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use proptest::prelude::*;

use prdo_data::parquet::parse;
use prdo_data::{DataError, Dataset, Options};

type Group<'a> = SerializedRowGroupWriter<'a, Vec<u8>>;

/// A file of the columns that `schema` names, written by one call of `write` a row group.
fn file(schema: &str, groups: &[&dyn Fn(&mut Group<'_>)]) -> Vec<u8> {
    let schema = Arc::new(parse_message_type(&format!("message m {{ {schema} }}")).unwrap());
    let properties = Arc::new(WriterProperties::builder().build());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, properties).unwrap();
    for write in groups {
        let mut group = writer.next_row_group().unwrap();
        write(&mut group);
        group.close().unwrap();
    }
    writer.into_inner().unwrap()
}

fn put<T: DataType>(group: &mut Group<'_>, values: &[T::T], levels: Option<&[i16]>) {
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<T>().write_batch(values, levels, None).unwrap();
    column.close().unwrap();
}

fn read(bytes: &[u8]) -> Result<Dataset, DataError> {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    parse("f.parquet", file, &Options::default())
}

fn refuses(bytes: &[u8], words: &[&str]) {
    let said = read(bytes).expect_err(&format!("refused: {words:?}")).to_string();
    words.iter().for_each(|word| assert!(said.contains(word), "{said:?} lacks {word:?}"));
}

fn texts(list: &[&str]) -> Vec<ByteArray> {
    list.iter().map(|text| ByteArray::from(*text)).collect()
}

const SCHEMA: &str = "required double a; optional int32 b; required binary label (UTF8); \
                      required int64 node; required boolean c; required int32 d (UINT_8); required float e;";

fn good() -> Vec<u8> {
    let group = |group: &mut Group<'_>| {
        put::<DoubleType>(group, &[0.5, 1.5], None);
        put::<Int32Type>(group, &[-7, 8], Some(&[1, 1]));
        put::<ByteArrayType>(group, &texts(&["dog", "cat"]), None);
        put::<Int64Type>(group, &[1, 0], None);
        put::<BoolType>(group, &[true, false], None);
        put::<Int32Type>(group, &[3, 200], None);
        put::<FloatType>(group, &[2.5, -2.5], None);
    };
    file(SCHEMA, &[&group, &group])
}

#[test]
fn columns_of_all_types_become_rows() {
    let data = read(&good()).unwrap();
    let once = [0.5, -7.0, 1.0, 3.0, 2.5, 1.5, 8.0, 0.0, 200.0, -2.5];
    assert_eq!((data.table.width(), data.table.features()), (5, &[once, once].concat()[..]));
    assert_eq!(data.table.labels(), [1.0, 0.0, 1.0, 0.0]);
    assert_eq!(data.node, Some(vec![1, 0, 1, 0]));
    assert_eq!(data.class_names.unwrap(), ["cat", "dog"]);
    assert_eq!(data.feature_names.unwrap(), ["a", "b", "c", "d", "e"]);
}

#[test]
fn our_own_files_come_back() {
    use prdo_data::parquet::{ColumnValues, write};
    let write = |columns: &[(&str, ColumnValues)]| write("f.parquet", columns, "prdo test");
    let long: Vec<Option<f64>> = (0..20_000).map(|k| Some(f64::from(k) / 3.0)).collect();
    let labels = ColumnValues::Integers((0..20_000).map(|k| k % 3).collect());
    let bytes = write(&[("a", ColumnValues::Numbers(long.clone())), ("y", labels)]).unwrap();
    assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
    assert!(String::from_utf8_lossy(&bytes).contains("prdo test"));
    let data = read(&bytes).unwrap();
    assert_eq!(data.table.features(), long.into_iter().flatten().collect::<Vec<f64>>());
    assert_eq!((data.table.label(1), data.table.label(19_999)), (1.0, 1.0));
    let holes = ColumnValues::Numbers(vec![Some(1.0), None, Some(2.0)]);
    let columns = [("a", holes), ("y", ColumnValues::Integers(vec![0, 1, 2]))];
    refuses(&write(&columns).unwrap(), &["record 1", "column \"a\"", "null"]);
    assert!(write(&[]).unwrap().ends_with(b"PAR1"));
    let uneven = [("a", ColumnValues::Integers(vec![1])), ("y", ColumnValues::Integers(vec![0, 1]))];
    assert!(write(&uneven).unwrap_err().to_string().contains("f.parquet"));
}

#[test]
fn refusals_say_where() {
    refuses(b"", &["f.parquet", "Parquet"]);
    refuses(b"PAR1 not really PAR1", &["Parquet"]);
    refuses(&file("required double a; required double y;", &[]), &["no records"]);
    refuses(&file("required double a;", &[]), &["\"label\" or \"y\"", "\"a\""]);
    refuses(&file("required double y;", &[]), &["no feature columns"]);
    let null = file(
        "required double y; optional double a;",
        &[&|group| {
            put::<DoubleType>(group, &[1.0, 2.0], None);
            put::<DoubleType>(group, &[1.0], Some(&[1, 0]));
        }],
    );
    refuses(&null, &["record 1", "column \"a\"", "null"]);
    let nan = file(
        "required double y; required double a;",
        &[&|group| {
            put::<DoubleType>(group, &[1.0, 2.0], None);
            put::<DoubleType>(group, &[1.0, f64::NAN], None);
        }],
    );
    refuses(&nan, &["record 1", "column \"a\"", "NaN"]);
    let text = file(
        "required double y; required binary a (UTF8);",
        &[&|group| {
            put::<DoubleType>(group, &[1.0], None);
            put::<ByteArrayType>(group, &texts(&["x"]), None);
        }],
    );
    refuses(&text, &["record 0", "column \"a\"", "\"x\"", "numbers"]);
    let date = file(
        "required double y; required int32 a (DATE);",
        &[&|group| {
            put::<DoubleType>(group, &[1.0], None);
            put::<Int32Type>(group, &[1], None);
        }],
    );
    refuses(&date, &["column \"a\"", "DATE"]);
    let nested = file(
        "required double y; repeated int32 a;",
        &[&|group| {
            put::<DoubleType>(group, &[1.0], None);
            let mut column = group.next_column().unwrap().unwrap();
            column.typed::<Int32Type>().write_batch(&[1, 2], Some(&[1, 1]), Some(&[0, 1])).unwrap();
            column.close().unwrap();
        }],
    );
    refuses(&nested, &["column \"a\"", "nested"]);
}

proptest! {
    #[test]
    fn damaged_files_never_panic(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        end in any::<prop::sample::Index>(),
        cut: bool,
    ) {
        let mut bytes = good();
        let length = bytes.len();
        changes.iter().for_each(|(at, byte)| bytes[at.index(length)] = *byte);
        bytes.truncate(if cut { end.index(length) } else { length });
        let _ = read(&bytes);
    }

    #[test]
    fn noise_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = read(&bytes);
        let _ = read(&[&bytes[..], &[20, 0, 0, 0], b"PAR1"].concat());
    }
}
