//! A made-up CIFAR-10 of 120 images, packed as the official one is.

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};
use std::io::Write;

const BATCHES: [&str; 6] = [
    "data_batch_1.bin",
    "data_batch_2.bin",
    "data_batch_3.bin",
    "data_batch_4.bin",
    "data_batch_5.bin",
    "test_batch.bin",
];

/// A made-up CIFAR-10 file of `records` records: the classes in turn, each with a brightness of its own.
pub fn batch(file: usize, records: usize) -> Vec<u8> {
    let record = |r: usize| {
        let class = ((r + file) % 10) as u8;
        let pixel = move |p: usize| class * 20 + ((p * 7 + r * 13 + file) % 23) as u8;
        [class].into_iter().chain((0..3072).map(pixel))
    };
    (0..records).flat_map(record).collect()
}

/// Files by name.
pub type Files = Vec<(String, Vec<u8>)>;

pub fn files() -> Files {
    let name = |name: &str| format!("cifar-10-batches-bin/{name}");
    BATCHES.iter().enumerate().map(|(at, file)| (name(file), batch(at, 20))).collect()
}

pub fn tar(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut tar = tar::Builder::new(Vec::new());
    for (name, bytes) in files {
        let mut header = tar::Header::new_ustar();
        // Written straight into the header: the crate itself refuses to write paths that lead outside.
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        tar.append(&header, &bytes[..]).unwrap();
    }
    tar.into_inner().unwrap()
}

pub fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

pub fn sums(files: &[(String, Vec<u8>)]) -> String {
    let sum = |bytes: &[u8]| HEXLOWER.encode(&Sha256::digest(bytes));
    files.iter().map(|(name, bytes)| format!("{}  {name}\n", sum(bytes))).collect()
}
