//! The readers: what they read back, what they refuse and in which words, and that no bytes make them panic.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::io::{Cursor, Write};
use std::path::Path;

use prdo_data::{
    DataError, Dataset, Format, ImageShape, Loaded, Options, Place, Table, cifar10, csv, idx, libsvm, npz,
    read, test_part,
};
use proptest::prelude::*;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

type Outcome = Result<Dataset, DataError>;

fn strings(list: &[&str]) -> Vec<String> {
    list.iter().map(|s| (*s).to_owned()).collect()
}

fn with(change: impl FnOnce(&mut Options)) -> Options {
    let mut options = Options::default();
    change(&mut options);
    options
}

fn csv_of(text: impl AsRef<[u8]>) -> Outcome {
    csv::parse("f.csv", text.as_ref(), &Options::default())
}

fn svm_of(text: impl AsRef<[u8]>) -> Outcome {
    libsvm::parse("f.svm", text.as_ref(), &Options::default())
}

fn npz_of(bytes: impl AsRef<[u8]>) -> Outcome {
    npz::parse("f.npz", Cursor::new(bytes), &Options::default())?.into_numbers("f.npz")
}

fn idx_of(images: &[u8], labels: &[u8]) -> Outcome {
    Ok(idx::parse(("images", images), ("labels", labels))?.into_numbers())
}

/// Refused, and the words of the refusal hold each of `words`.
fn refuses(outcome: Outcome, words: &[&str]) {
    let said = outcome.expect_err(&format!("refused: {words:?}")).to_string();
    words.iter().for_each(|word| assert!(said.contains(word), "{said:?} lacks {word:?}"));
}

// ---- CSV -------------------------------------------------------------------------------------------------

#[test]
fn csv_without_a_header_is_read_as_the_uci_repository_writes_it() {
    let options = with(|o| {
        o.columns = Some(strings(&["age", "job", "label"]));
        o.node = Some("job".to_owned());
    });
    let of = |text: &str| csv::parse("f.data", text.as_bytes(), &options);
    let data = of("|1x3 Cross validator\n39, ?, <=50K.\n50, State-gov, >50K\n\n").unwrap();
    assert_eq!((data.table.features(), data.table.labels()), (&[39.0, 50.0][..], &[0.0, 1.0][..]));
    assert_eq!(data.class_names, Some(strings(&["<=50K", ">50K"])));
    assert_eq!((data.node, data.node_names), (Some(vec![0, 1]), Some(strings(&["?", "State-gov"]))));
    refuses(of("39, a\n"), &["f.data", "2 fields", "3 columns"]);
    refuses(of("39, a, b, c\n"), &["4 fields", "3 columns"]);
    refuses(of("39, a, b\n1, a\n"), &["line 2"]);
    refuses(of("|nothing\n"), &["f.data"]);
    let twice = with(|o| o.columns = Some(strings(&["a", "a", "label"])));
    refuses(csv::parse("f.data", &b"1,2,3\n"[..], &twice), &["more than once"]);
    let named = with(|o| o.columns = Some(strings(&["a", "label"])));
    refuses(libsvm::parse("f.svm", &b"1 1:2\n"[..], &named), &["columns", "LibSVM"]);
}

#[test]
fn csv_reads_roles_names_and_numbers() {
    let data =
        csv_of("\u{feff}a, label ,b,node\n1,cat,-2.5,north\n\n3e1,ant,4, south\n 5 ,cat,6,north\n").unwrap();
    assert_eq!(data.table.features(), [1.0, -2.5, 30.0, 4.0, 5.0, 6.0]);
    assert_eq!(data.table.labels(), [1.0, 0.0, 1.0]);
    assert_eq!(data.class_names, Some(strings(&["ant", "cat"])));
    assert_eq!(data.feature_names, Some(strings(&["a", "b"])));
    assert_eq!(data.node, Some(vec![0, 1, 0]));

    let options = with(|o| {
        o.label = Some("b".to_owned());
        o.features = Some(strings(&["c", "a"]));
        o.width = Some(2);
    });
    let data = csv::parse("f", &b"a,b,c,d\r\n1,2,3,x\r\n4,5.5,6,y\r\n"[..], &options).unwrap();
    assert_eq!((data.table.features(), data.table.labels()), (&[3.0, 1.0, 6.0, 4.0][..], &[2.0, 5.5][..]));
    assert_eq!((data.class_names, data.node), (None, None));
}

#[test]
fn csv_refuses_and_says_where() {
    refuses(csv_of(""), &["f.csv", "no records"]);
    refuses(csv_of("a,label\n"), &["no records"]);
    refuses(csv_of("1,2\n3,4\n"), &["first line holds numbers"]);
    refuses(csv_of("a,b\n1,2\n"), &["\"label\" or \"y\"", "\"a\", \"b\""]);
    refuses(csv_of("label\n1\n"), &["no feature columns"]);
    refuses(csv_of("a,a,label\n1,2,3\n"), &["column \"a\"", "more than once"]);
    refuses(csv_of("a,label\n1,2\n3\n"), &["line 3", "1 fields", "2 columns"]);
    // Lines are counted as editors do, however they end.
    refuses(csv_of("a,label\r\n1,2\r\n3\r\n"), &["line 3", "1 fields", "2 columns"]);
    refuses(csv_of("a,label\r\n1,2\r\nx1,4\r\n"), &["line 3", "column \"a\""]);
    refuses(csv_of(b"a,label\r\n1,2\r\n1,\xff\r\n"), &["line 3", "UTF-8"]);
    refuses(csv_of("a;b;label\n1,5;2;3\n"), &["separated by semicolons", "commas"]);
    refuses(csv_of("a\tb\tlabel\n1\t2\t3\n"), &["separated by tabs"]);
    refuses(csv_of("a,label\n1,2\n3,4,5\n"), &["line 3", "3 fields", "2 columns"]);
    refuses(csv_of("a,label\n1,2\nx1,4\n"), &["line 3", "column \"a\"", "\"x1\"", "finite numbers"]);
    refuses(csv_of("a,label\n,2\n"), &["line 2", "column \"a\"", "nothing"]);
    refuses(csv_of("a,label\nNaN,2\n"), &["line 2", "column \"a\"", "NaN"]);
    refuses(csv_of("a,label\n1e999,2\n"), &["line 2", "column \"a\"", "1e999"]);
    refuses(csv_of("a,label\n1,inf\n"), &["line 2", "column \"label\"", "inf"]);
    refuses(csv_of("a,label\n1,\n"), &["line 2", "column \"label\"", "nothing"]);
    refuses(csv_of("a,label\n1,2\n1,2o\n"), &["line 3", "\"2o\"", "as in the records before"]);
    refuses(csv_of("a,label\n1,cat\n1,2\n"), &["line 3", "found 2", "class names"]);
    refuses(csv_of("a,label,node\n1,1,-4\n"), &["line 2", "column \"node\"", "-4", "4294967295"]);
    refuses(csv_of("a,label,node\n1,1,\n"), &["line 2", "column \"node\"", "nothing"]);
    refuses(csv_of(",a,label\n0,1,1\n"), &["column 1", "no name"]);
    refuses(csv_of(b"a,label\n1,\xff\n"), &["line 2", "UTF-8"]);
    refuses(csv_of(b"a\xff,label\n1,1\n"), &["line 1", "UTF-8"]);
    refuses(csv_of("a,label\n\"1,2\n3,4\n"), &["line 2"]);
    let long = format!("a,label\n{},1\n", "z".repeat(100_000));
    assert!(csv_of(long).unwrap_err().to_string().len() < 300);

    let text = "a,b,label\n1,2,3\n";
    let choose = |change: fn(&mut Options)| csv::parse("f.csv", text.as_bytes(), &with(change));
    refuses(choose(|o| o.label = Some("z".to_owned())), &["\"z\"", "\"a\", \"b\", \"label\""]);
    refuses(choose(|o| o.node = Some("z".to_owned())), &["\"z\""]);
    refuses(choose(|o| o.node = Some("label".to_owned())), &["both label and node"]);
    refuses(choose(|o| o.features = Some(strings(&["z"]))), &["\"z\""]);
    refuses(choose(|o| o.features = Some(strings(&["a", "a"]))), &["more than once"]);
    refuses(choose(|o| o.features = Some(strings(&["label"]))), &["cannot be a feature"]);
    refuses(choose(|o| o.features = Some(Vec::new())), &["no feature columns"]);
    refuses(choose(|o| o.width = Some(3)), &["width = 3", "allowed: 2"]);
    refuses(choose(|o| o.prefix = Some("t10k".to_owned())), &["prefix = t10k", "CSV"]);
}

// ---- LibSVM ----------------------------------------------------------------------------------------------

#[test]
fn libsvm_reads_dense_rows() {
    let text = "# a comment\n+1 1:0.5 3:-2\n\n-1 2:1e2 # trailing\n1\n";
    let data = svm_of(text).unwrap();
    assert_eq!(data.table.features(), [0.5, 0.0, -2.0, 0.0, 100.0, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(data.table.labels(), [1.0, -1.0, 1.0]);
    let wide = libsvm::parse("f", text.as_bytes(), &with(|o| o.width = Some(5))).unwrap();
    assert_eq!((wide.table.width(), wide.table.row(1)), (5, &[0.0, 100.0, 0.0, 0.0, 0.0][..]));
}

#[test]
fn libsvm_refuses_and_says_where() {
    refuses(svm_of(""), &["f.svm", "no records"]);
    refuses(svm_of("# nothing\n\n"), &["no records"]);
    refuses(svm_of("1\n-1\n"), &["no feature columns"]);
    refuses(svm_of("1 1:1\ncat 1:1\n"), &["line 2", "\"label\"", "\"cat\""]);
    refuses(svm_of("1,2 1:1\n"), &["line 1", "\"1,2\""]);
    refuses(svm_of("nan 1:1\n"), &["line 1", "\"nan\""]);
    refuses(svm_of("1 0:1\n"), &["line 1", "index \"0\"", "from 1"]);
    refuses(svm_of("1 -1:1\n"), &["line 1", "index \"-1\""]);
    refuses(svm_of("1 qid:1\n"), &["line 1", "index \"qid\""]);
    refuses(svm_of("1 2:1 2:3\n"), &["line 1", "index 2 after 2", "ascending"]);
    refuses(svm_of("1 3:1 2:3\n"), &["index 2 after 3"]);
    refuses(svm_of("1 1:x\n"), &["line 1", "column \"1\"", "\"x\""]);
    refuses(svm_of("1 1:\n"), &["column \"1\"", "nothing"]);
    refuses(svm_of("1 1:inf\n"), &["\"inf\""]);
    refuses(svm_of("1 7\n"), &["\"7\"", "index:value"]);
    refuses(svm_of(b"1 1:1\n\xff\n"), &["line 2", "UTF-8"]);
    refuses(svm_of("1 99999999999999999999:1\n"), &["line 1"]);
    refuses(svm_of("1 4000000000:1\n"), &["index 4000000000", "500000000"]);
    refuses(svm_of("1 400000000:1\n1 1:1\n"), &["2 records of 400000000", "4000000000 bytes"]);
    let narrow = |text: &str, width| libsvm::parse("f", text.as_bytes(), &with(|o| o.width = Some(width)));
    refuses(narrow("1 3:1\n", 2), &["index 3", "declared width"]);
    refuses(narrow("1 3:1\n", 0), &["width = 0"]);
    refuses(narrow("1 3:1\n", usize::MAX), &["bytes"]);
    refuses(libsvm::parse("f", &b"1 1:1"[..], &with(|o| o.label = Some("y".to_owned()))), &["label = y"]);
}

// ---- IDX -------------------------------------------------------------------------------------------------

fn idx_bytes(sizes: &[u32], values: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0, 0, 8, sizes.len() as u8];
    sizes.iter().for_each(|size| bytes.extend(size.to_be_bytes()));
    bytes.extend(values);
    bytes
}

#[test]
fn idx_reads_pairs_from_folders() {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, bytes: Vec<u8>| std::fs::write(folder.path().join(name), bytes).unwrap();
    refuses(read(folder.path(), &Options::default()), &["folder without *-ubyte"]);
    put("train-images-idx3-ubyte", idx_bytes(&[2, 1, 2], &[0, 255, 51, 102]));
    refuses(read(folder.path(), &Options::default()), &["no file train-labels", "train-images-idx3-ubyte"]);
    put("train-labels-idx1-ubyte", idx_bytes(&[2], &[7, 3]));
    put("t10k-images.idx3-ubyte", idx_bytes(&[1, 2, 1], &[255, 0]));
    put("t10k-labels.idx1-ubyte", idx_bytes(&[1], &[9]));

    let train = read(folder.path(), &Options::default()).unwrap();
    assert_eq!((train.table.features(), train.table.labels()), (&[0.0, 1.0, 0.2, 0.4][..], &[7.0, 3.0][..]));
    let test = read(folder.path(), &with(|o| o.prefix = Some("t10k".to_owned()))).unwrap();
    assert_eq!(test.table.labels(), [9.0]);
    assert_eq!(read(&folder.path().join("t10k-labels.idx1-ubyte"), &Options::default()).unwrap(), test);
    refuses(read(folder.path(), &with(|o| o.prefix = Some("val".to_owned()))), &["val-images"]);
    refuses(read(folder.path(), &with(|o| o.width = Some(3))), &["width = 3"]);
    refuses(read(folder.path(), &with(|o| o.label = Some("y".to_owned()))), &["label = y"]);
    refuses(read(&folder.path().join("other-ubyte"), &Options::default()), &["-images or -labels"]);
}

#[test]
fn idx_refuses_what_does_not_fit() {
    let (images, labels) = (idx_bytes(&[2, 2], &[1, 2, 3, 4]), idx_bytes(&[2], &[0, 1]));
    assert_eq!(idx_of(&images, &labels).unwrap().table.width(), 2);
    refuses(idx_of(&[], &labels), &["images", "two zero bytes"]);
    refuses(idx_of(&[0x1f, 0x8b, 8, 0], &labels), &["gzip"]);
    refuses(idx_of(&[0, 0, 13, 1, 0, 0, 0, 0], &labels), &["0x0d", "unsigned bytes"]);
    refuses(idx_of(&[0, 0, 8, 0], &labels), &["0 dimensions"]);
    refuses(idx_of(&[0, 0, 8, 3, 0, 0, 0, 2], &labels), &["ends within the sizes", "3 dimensions"]);
    refuses(idx_of(&images[..images.len() - 1], &labels), &["promises [2, 2]", "found 3"]);
    refuses(idx_of(&images, &idx_bytes(&[2], &[0, 1, 2])), &["labels", "promises [2]", "found 3"]);
    refuses(idx_of(&idx_bytes(&[u32::MAX; 9], &[1]), &labels), &["promises", "found 1"]);
    refuses(idx_of(&images, &idx_bytes(&[3], &[0, 1, 2])), &["labels", "[3]", "[2]"]);
    refuses(idx_of(&images, &idx_bytes(&[2, 1], &[0, 1])), &["[2, 1]", "[2]"]);
    refuses(idx_of(&idx_bytes(&[0, 2], &[]), &idx_bytes(&[0], &[])), &["no records"]);
    refuses(idx_of(&idx_bytes(&[2, 0], &[]), &labels), &["[2, 0]", "1 or more"]);
}

#[test]
fn idx_images_keep_bytes_and_shape() {
    let images = idx_bytes(&[2, 2, 1], &[1, 2, 3, 4]);
    let data = idx::parse(("i", &images), ("l", &idx_bytes(&[2], &[0, 1]))).unwrap();
    assert_eq!(data.table.features(), [1, 2, 3, 4]);
    assert_eq!(data.image, Some(ImageShape { channels: 1, height: 2, width: 1 }));
    let flat = idx_bytes(&[2, 2], &[1, 2, 3, 4]);
    assert_eq!(idx::parse(("i", &flat), ("l", &idx_bytes(&[2], &[0, 1]))).unwrap().image, None);
}

// ---- CIFAR-10 --------------------------------------------------------------------------------------------

/// A record of CIFAR-10: a label, and pixels that count up from `first`.
fn cifar_record(label: u8, first: u8) -> Vec<u8> {
    [label].into_iter().chain((0..3072).map(|p| first.wrapping_add(p as u8))).collect()
}

/// A folder of six batches, record b of class b.
fn cifar_folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for batch in 1..=5u8 {
        let bytes = [cifar_record(batch, batch), cifar_record(0, 100 + batch)].concat();
        std::fs::write(folder.path().join(format!("data_batch_{batch}.bin")), bytes).unwrap();
    }
    std::fs::write(folder.path().join("test_batch.bin"), cifar_record(9, 7)).unwrap();
    folder
}

#[test]
fn cifar10_reads_folders_files_and_names() {
    let folder = cifar_folder();
    assert_eq!(Format::of(folder.path()).unwrap(), Format::Cifar10);
    let data = cifar10::read(folder.path(), &Options::default()).unwrap();
    assert_eq!((data.table.len(), data.table.width()), (10, 3072));
    assert_eq!(data.table.labels(), [1.0, 0.0, 2.0, 0.0, 3.0, 0.0, 4.0, 0.0, 5.0, 0.0]);
    assert_eq!((data.table.row(4)[..2].to_vec(), data.table.row(9)[0]), (vec![3, 4], 105));
    assert_eq!(data.image, Some(ImageShape { channels: 3, height: 32, width: 32 }));
    assert_eq!(data.class_names, Some(strings(&cifar10::CLASSES)));

    assert_eq!(test_part(folder.path()), Some("test"));
    let test = cifar10::read(folder.path(), &with(|o| o.prefix = Some("test".to_owned()))).unwrap();
    assert_eq!((test.table.labels(), test.table.row(0)[0]), (&[9.0][..], 7));
    let one = cifar10::read(&folder.path().join("data_batch_3.bin"), &Options::default()).unwrap();
    assert_eq!(one.table.labels(), [3.0, 0.0]);
    let numbers = read(folder.path(), &Options::default()).unwrap();
    assert_eq!(numbers.table.row(0)[0], 1.0 / 255.0);

    let names = strings(&["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"]);
    std::fs::write(folder.path().join("batches.meta.txt"), names.join("\n") + "\n\n").unwrap();
    assert_eq!(cifar10::read(folder.path(), &Options::default()).unwrap().class_names, Some(names));
}

#[test]
fn cifar10_refuses_and_says_where() {
    let folder = cifar_folder();
    let path = |name: &str| folder.path().join(name);
    let said = |words: &[&str]| refuses(read(folder.path(), &Options::default()), words);
    std::fs::write(path("batches.meta.txt"), "one\ntwo\n").unwrap();
    said(&["batches.meta.txt", "10", "found 2"]);
    std::fs::remove_file(path("batches.meta.txt")).unwrap();
    let bad = [cifar_record(1, 1), cifar_record(10, 1)].concat();
    std::fs::write(path("data_batch_4.bin"), &bad).unwrap();
    said(&["data_batch_4.bin", "record 1", "label", "found 10", "0 to 9"]);
    std::fs::write(path("data_batch_4.bin"), &bad[..5000]).unwrap();
    said(&["data_batch_4.bin", "5000 bytes", "record 1", "1927 of 3073"]);
    std::fs::write(path("data_batch_4.bin"), []).unwrap();
    said(&["data_batch_4.bin", "no records"]);
    std::fs::remove_file(path("data_batch_4.bin")).unwrap();
    said(&["data_batch_4.bin", "missing"]);
    let file = path("data_batch_1.bin");
    refuses(read(&file, &with(|o| o.width = Some(784))), &["width = 784", "3072"]);
    refuses(read(&file, &with(|o| o.label = Some("y".to_owned()))), &["label", "CIFAR-10"]);
    refuses(read(&file, &with(|o| o.prefix = Some("test".to_owned()))), &["prefix"]);
    refuses(read(folder.path(), &with(|o| o.prefix = Some("t10k".to_owned()))), &["t10k", "train or test"]);
    refuses(read(&path("absent.bin"), &Options::default()), &["absent.bin"]);
}

// ---- NPZ -------------------------------------------------------------------------------------------------

/// Values as NumPy names and stores them.
trait Element: Copy {
    const DESCR: &'static str;
    fn bytes(self) -> Vec<u8>;
}

macro_rules! elements {
    ($($type:ty => $descr:literal, $bytes:expr;)*) => {
        $(impl Element for $type {
            const DESCR: &'static str = $descr;
            fn bytes(self) -> Vec<u8> {
                let bytes: fn(Self) -> Vec<u8> = $bytes;
                bytes(self)
            }
        })*
    };
}

elements! {
    f64 => "<f8", |v| v.to_le_bytes().to_vec();
    f32 => "<f4", |v| v.to_le_bytes().to_vec();
    i64 => "<i8", |v| v.to_le_bytes().to_vec();
    i32 => "<i4", |v| v.to_le_bytes().to_vec();
    u8 => "|u1", |v| vec![v];
    bool => "|b1", |v| vec![u8::from(v)];
}

struct Npz(ZipWriter<Cursor<Vec<u8>>>);

impl Npz {
    fn new() -> Self {
        Self(ZipWriter::new(Cursor::new(Vec::new())))
    }

    fn array<T: Element>(self, name: &str, shape: &[u64], values: &[T]) -> Self {
        let sizes: String = shape.iter().map(|size| format!("{size},")).collect();
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.bytes()).collect();
        self.raw(name, &header(T::DESCR, "False", &format!("({sizes})")), &bytes)
    }

    fn raw(mut self, name: &str, header: &str, values: &[u8]) -> Self {
        self.0.start_file(format!("{name}.npy"), SimpleFileOptions::default()).unwrap();
        let length = (header.len() as u16).to_le_bytes();
        let parts = [&b"\x93NUMPY\x01\x00"[..], &length, header.as_bytes(), values];
        parts.iter().for_each(|bytes| self.0.write_all(bytes).unwrap());
        self
    }

    fn bytes(self) -> Vec<u8> {
        self.0.finish().unwrap().into_inner()
    }
}

fn header(descr: &str, fortran: &str, shape: &str) -> String {
    format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n")
}

fn good_npz() -> Vec<u8> {
    let x = [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0];
    Npz::new()
        .array("x", &[3, 2], &x)
        .array("y", &[3], &[0i64, 1, 1])
        .array("node", &[3], &[2u8, 0, 1])
        .bytes()
}

/// Written by NumPy itself: `savez` and `savez_compressed` of the arrays in tests/fixtures/make_npz.py.
#[test]
fn npz_reads_what_numpy_wrote() {
    for bytes in [&include_bytes!("fixtures/plain.npz")[..], include_bytes!("fixtures/compressed.npz")] {
        let data = npz_of(bytes).unwrap();
        let x: Vec<f64> = (0..200).map(|k| f64::from(k) / 4.0).collect();
        let y: Vec<f64> = (0..50).map(|r| f64::from(r % 3)).collect();
        let node: Vec<u32> = (0..50).map(|r| r / 25).collect();
        assert_eq!((data.table.width(), data.table.features()), (4, &x[..]));
        assert_eq!((data.table.labels(), data.node), (&y[..], Some(node)));
    }
}

#[test]
fn npz_reads_both_orders_and_all_types() {
    let data = npz_of(good_npz()).unwrap();
    assert_eq!((data.table.width(), data.table.features()), (2, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0][..]));
    assert_eq!((data.table.labels(), data.node), (&[0.0, 1.0, 1.0][..], Some(vec![2, 0, 1])));
    // The same, column after column, and the labels under their other name.
    let fortran = Npz::new()
        .raw("x", &header("|u1", "True", "(3, 2)"), &[1, 3, 5, 2, 4, 6])
        .raw("label", &header(">i2", "False", "(3,)"), &[0, 0, 0, 1, 0, 1])
        .bytes();
    assert_eq!(npz_of(fortran).unwrap().table, data.table);
    let named =
        Npz::new().array("x", &[1, 1], &[1.5f64]).array("t", &[1], &[true]).array("h", &[1], &[3.0f64]);
    let options = with(|o| (o.label, o.node) = (Some("t".to_owned()), Some("h".to_owned())));
    let data = npz::parse("f", Cursor::new(named.bytes()), &options).unwrap().into_numbers("f").unwrap();
    assert_eq!((data.table.labels(), data.node), (&[1.0][..], Some(vec![3])));
}

#[test]
fn npz_reads_images_as_bytes() {
    let of = |shape: &[u64], y: u64| {
        let x: Vec<u8> = (0..shape.iter().product::<u64>()).map(|v| v as u8).collect();
        let archive = Npz::new().array("x", shape, &x).array("y", &[y], &vec![1u8; y as usize]);
        npz::parse("f.npz", Cursor::new(archive.bytes()), &Options::default())
    };
    let data = of(&[2, 3, 4, 5], 2).unwrap().into_images("f.npz").unwrap();
    assert_eq!(data.image, Some(ImageShape { channels: 3, height: 4, width: 5 }));
    assert_eq!((data.table.width(), data.table.row(1)[0]), (60, 60));
    let data = of(&[2, 4, 5], 2).unwrap().into_images("f.npz").unwrap();
    assert_eq!(data.image, Some(ImageShape { channels: 1, height: 4, width: 5 }));
    // Two dimensions are plain numbers, as ever: bytes of a table are not pixels.
    assert_eq!(of(&[1, 3], 1).unwrap().into_numbers("f").unwrap().table.features(), [0.0, 1.0, 2.0]);
    refuses(of(&[2, 3, 4, 5], 3).map(|_| panic!("read")), &["array \"y\"", "[2]"]);
    refuses(of(&[0, 3, 4, 5], 0).map(|_| panic!("read")), &["no records"]);
    refuses(of(&[1, 3, 0, 5], 1).map(|_| panic!("read")), &["[1, 3, 0, 5]"]);
    refuses(of(&[1, 3, 1, 1, 1], 1).map(|_| panic!("read")), &["[1, 3, 1, 1, 1]", "dimensions"]);
}

#[test]
fn npz_writes_what_it_reads() {
    let written = |data: &dyn Fn(&mut Cursor<Vec<u8>>)| {
        let mut bytes = Cursor::new(Vec::new());
        data(&mut bytes);
        npz::parse("f.npz", Cursor::new(bytes.into_inner()), &Options::default()).unwrap()
    };
    let numbers = npz_of(good_npz()).unwrap();
    let read = written(&|out| npz::write(out, &numbers).unwrap());
    assert_eq!(read, Loaded::Numbers(numbers.clone()));
    let image = ImageShape { channels: 3, height: 1, width: 2 };
    let table = Table::new(6, vec![7u8, 0, 255, 1, 2, 3], vec![4.0]).unwrap();
    let images = Dataset { image: Some(image), ..Dataset::from(table) };
    assert_eq!(written(&|out| npz::write(out, &images).unwrap()), Loaded::Images(images.clone()));
    let flat = Dataset { image: None, ..images };
    let read = written(&|out| npz::write(out, &flat).unwrap());
    assert_eq!(read, Loaded::Numbers(flat.into_numbers()));
}

#[test]
fn npz_keeps_the_names_of_classes_and_features() {
    let names = |list: &[&str]| Some(list.iter().map(|name| (*name).to_owned()).collect());
    let table = Table::new(2, vec![1.0, 2.0, 3.0, 4.0], vec![0.0, 2.0]).unwrap();
    let data = Dataset {
        class_names: names(&["ill", "", "wohlauf, größtenteils"]),
        feature_names: names(&["age", "pressure"]),
        ..Dataset::from(table)
    };
    let read = |data: &Dataset| {
        let mut bytes = Cursor::new(Vec::new());
        npz::write(&mut bytes, data).unwrap();
        npz::parse("f.npz", Cursor::new(bytes.into_inner()), &Options::default())
    };
    assert_eq!(read(&data).unwrap(), Loaded::Numbers(data.clone()));
    // Names that do not fit what they name.
    let few = Dataset { class_names: names(&["ill", "well"]), ..data.clone() };
    refuses(read(&few).map(|_| panic!("read")), &["f.npz", "record 1", "\"y\"", "class_names"]);
    let many = Dataset { feature_names: names(&["a", "b", "c"]), ..data };
    refuses(read(&many).map(|_| panic!("read")), &["feature_names", "[3]", "[2], as many as x has columns"]);
}

#[test]
fn npz_refuses_wrong_arrays() {
    let x = || Npz::new().array("x", &[2, 2], &[1.0f64, 2.0, 3.0, 4.0]);
    let xy = |shape: &[u64], y: &[f64]| npz_of(x().array("y", shape, y).bytes());
    let of = |shape: &[u64], values: &[f64], records: u64| {
        let y = vec![0u8; records as usize];
        npz_of(Npz::new().array("x", shape, values).array("y", &[records], &y).bytes())
    };
    refuses(npz_of([]), &["f.npz", "NPZ"]);
    refuses(npz_of(b"PK\x03\x04 not a zip"), &["NPZ"]);
    refuses(npz_of(x().bytes()), &["\"y\"", "columns found: \"x\""]);
    refuses(npz_of(Npz::new().array("y", &[1], &[1.0f64]).bytes()), &["\"x\""]);
    refuses(xy(&[3], &[0.0; 3]), &["array \"y\"", "[3]", "[2]"]);
    refuses(xy(&[2, 1], &[0.0; 2]), &["array \"y\"", "[2, 1]"]);
    refuses(xy(&[2], &[0.0, f64::NAN]), &["record 1", "\"y\"", "NaN"]);
    refuses(of(&[2], &[1.0; 2], 2), &["\"x\"", "[2]"]);
    refuses(of(&[1, 1, 1], &[1.0], 1), &["[1, 1, 1]"]);
    refuses(of(&[0, 2], &[], 0), &["no records"]);
    refuses(of(&[2, 0], &[], 2), &["[2, 0]"]);
    refuses(of(&[2, 2], &[1.0, f64::INFINITY, 2.0, 3.0], 2), &["record 0", "x[:, 1]", "inf"]);
    let node = |values: &[f64]| npz_of(x().array("y", &[2], &[0u8; 2]).array("node", &[2], values).bytes());
    refuses(node(&[0.0, -1.0]), &["record 1", "\"node\"", "-1"]);
    refuses(node(&[0.5, 1.0]), &["record 0", "0.5", "whole numbers"]);
    let chosen = npz::parse("f", Cursor::new(good_npz()), &with(|o| o.features = Some(strings(&["x"]))));
    refuses(chosen.map(|_| panic!("read")), &["features", "NPZ"]);
}

#[test]
fn npz_refuses_hostile_headers() {
    let raw = |header: &str, values: &[u8]| {
        npz_of(Npz::new().raw("x", header, values).array("y", &[1], &[1u8]).bytes())
    };
    refuses(raw(&header("<c16", "False", "(1, 1)"), &[0; 16]), &["\"x\"", "<c16", "f4, f8"]);
    refuses(raw(&header("<f8", "False", "(1, 2)"), &[0; 15]), &["\"x\"", "promises 2 values", "fewer"]);
    refuses(raw(&header("<f8", "False", "(1, 2)"), &[0; 17]), &["promises 2 values", "more"]);
    refuses(
        raw(&header("<f8", "False", "(99999999999, 99999999999)"), &[0; 8]),
        &["99999999999 records", "bytes"],
    );
    refuses(raw(&header("<f8", "False", "(4294967296, 4294967296, 4)"), &[0; 8]), &["dimensions"]);
    // A product that is 0 modulo 2^128.
    refuses(raw(&header("<f8", "False", "(9223372036854775808, 4611686018427387904)"), &[0; 8]), &["bytes"]);
    let images = "(9223372036854775808, 4294967296, 4294967296, 4294967296)";
    refuses(raw(&header("|u1", "False", images), &[0; 8]), &["bytes"]);
    // 4 GB promised, 8 bytes there.
    refuses(raw(&header("<f8", "False", "(1, 499999999)"), &[0; 8]), &["promises 499999999 values", "fewer"]);
    refuses(raw(&"(".repeat(60_000), &[]), &["header is not NumPy's"]);
    refuses(raw("{", &[]), &["header is not NumPy's"]);
    let mut damaged = good_npz();
    damaged[60] ^= 0x55;
    refuses(npz_of(damaged), &["f.npz", "\"x\""]);
}

// ---- dispatch ---------------------------------------------------------------------------------------------

#[test]
fn formats_follow_from_names() {
    let of = |name: &str| Format::of(Path::new(name)).map_err(|e| e.to_string());
    assert_eq!(of("a/b.csv"), Ok(Format::Csv));
    assert_eq!(of("b.CSV"), Ok(Format::Csv));
    assert_eq!(of("b.npz"), Ok(Format::Npz));
    assert_eq!(of("b.parquet"), Ok(Format::Parquet));
    assert_eq!(of("test_batch.bin"), Ok(Format::Cifar10));
    for name in ["b.libsvm", "b.svm", "b.txt", "a9a", "a9a.t"] {
        assert_eq!(of(name), Ok(Format::LibSvm));
    }
    assert_eq!(of("train-images-idx3-ubyte"), Ok(Format::Idx));
    assert!(of("b.xlsx").unwrap_err().contains("\"xlsx\"; known are .csv"));
    assert!(of("b.csv.gz").unwrap_err().contains("unpack it first"));
    assert_eq!(
        of("b.dat").unwrap_err(),
        "b.dat: cannot tell the format: extension \"dat\"; known are .csv, .npz, .libsvm or .svm or .t or .txt or no \
         extension (LibSVM text), a folder of *-ubyte files (IDX), .bin or a folder of data_batch_*.bin files (CIFAR-10), \
         and .parquet"
    );
    let empty = tempfile::tempdir().unwrap();
    assert!(
        Format::of(empty.path())
            .unwrap_err()
            .to_string()
            .contains("without *-ubyte or data_batch_*.bin files;")
    );
    assert!(Format::KEYS.iter().zip(Format::ALL).all(|(key, format)| Format::keyed(key) == Some(*format)));
}

#[test]
fn files_are_read_by_their_names_or_as_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.txt");
    refuses(read(&path, &Options::default()), &["data.txt", "cannot be read"]);
    std::fs::write(&path, "a,y\n1,2\n").unwrap();
    assert!(read(&path, &Options::default()).is_err());
    let data = read(&path, &with(|o| o.format = Some(Format::Csv))).unwrap();
    assert_eq!(data.table.labels(), [2.0]);
    let error = csv_of("a,y\nz,1\n").unwrap_err();
    assert!(matches!(error, DataError::Cell { place: Place::Line(2), .. }));
}

#[cfg(not(feature = "parquet"))]
#[test]
fn a_build_without_parquet_says_how_to_get_it() {
    refuses(read(Path::new("x.parquet"), &Options::default()), &["--features parquet"]);
}

// ---- any bytes at all -------------------------------------------------------------------------------------

/// `good` with some bytes changed and perhaps its end cut off: gets past the first checks more often than noise.
fn damaged(good: Vec<u8>) -> impl Strategy<Value = Vec<u8>> {
    let changes = proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6);
    (changes, any::<prop::sample::Index>(), any::<bool>()).prop_map(move |(changes, end, cut)| {
        let mut bytes = good.clone();
        changes.iter().for_each(|(at, byte)| bytes[at.index(good.len())] = *byte);
        bytes.truncate(if cut { end.index(good.len()) } else { good.len() });
        bytes
    })
}

/// Text made of the pieces that mean something to a reader of text.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let text = "a|label|y|node|,|,|,|\n|\n|\r|\"| |:|:|1|2|-1|0.5|1e400|nan|#|\0|é";
    let piece = prop::sample::select(text.split('|').collect::<Vec<_>>());
    proptest::collection::vec(piece, 0..60).prop_map(|list| list.concat().into_bytes())
}

fn every_reader(bytes: &[u8]) {
    let _ = (csv_of(bytes), svm_of(bytes), npz_of(bytes), idx_of(bytes, bytes));
    let half = bytes.split_at(bytes.len() / 2);
    let _ = idx_of(half.0, half.1);
}

proptest! {
    #[test]
    fn noise_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        every_reader(&bytes);
    }

    #[test]
    fn text_like_noise_never_panics(bytes in pieces()) {
        every_reader(&bytes);
    }

    #[test]
    fn damaged_csv_never_panics(bytes in damaged(b"a,b,label,node\n1,2,x,n1\n3,4,y,n2\n".to_vec())) {
        every_reader(&bytes);
    }

    #[test]
    fn damaged_libsvm_never_panics(bytes in damaged(b"+1 1:0.5 3:2\n-1 2:1 # x\n".to_vec())) {
        every_reader(&bytes);
    }

    #[test]
    fn damaged_npz_never_panics(bytes in damaged(good_npz())) {
        every_reader(&bytes);
    }

    #[test]
    fn damaged_images_in_npz_never_panic(bytes in damaged(
        Npz::new().array("x", &[2, 1, 2, 2], &[7u8; 8]).array("y", &[2], &[0u8, 1]).bytes()
    )) {
        every_reader(&bytes);
    }

    #[test]
    fn damaged_cifar10_never_panics(bytes in damaged([cifar_record(1, 1), cifar_record(2, 2)].concat())) {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), &bytes).unwrap();
        let whole = !bytes.is_empty() && bytes.len() % 3073 == 0 && bytes.iter().step_by(3073).all(|l| *l < 10);
        prop_assert_eq!(cifar10::read(file.path(), &Options::default()).is_ok(), whole);
    }

    #[test]
    fn damaged_idx_never_panics(
        images in damaged(idx_bytes(&[2, 2], &[1, 2, 3, 4])),
        labels in damaged(idx_bytes(&[2], &[0, 1])),
    ) {
        let _ = idx_of(&images, &labels);
    }

    #[test]
    fn what_is_written_is_read_back(
        rows in proptest::collection::vec((proptest::array::uniform3(-1e9f64..1e9), -9i32..9), 1..20),
    ) {
        let mut text = "p,q,r,y\n".to_owned();
        let mut sparse = String::new();
        for ([p, q, r], y) in &rows {
            text += &format!("{p},{q},{r},{y}\n");
            sparse += &format!("{y} 1:{p} 2:{q} 3:{r}\n");
        }
        let flat: Vec<f64> = rows.iter().flat_map(|(x, _)| *x).collect();
        let labels: Vec<i32> = rows.iter().map(|(_, y)| *y).collect();
        let n = rows.len() as u64;
        let npz = Npz::new().array("x", &[n, 3], &flat).array("y", &[n], &labels).bytes();
        let table = csv_of(&text).unwrap().table;
        prop_assert_eq!(table.features(), &flat[..]);
        prop_assert!(table.labels().iter().zip(&labels).all(|(a, b)| *a == f64::from(*b)));
        prop_assert_eq!(&svm_of(&sparse).unwrap().table, &table);
        prop_assert_eq!(&npz_of(npz).unwrap().table, &table);
    }
}
