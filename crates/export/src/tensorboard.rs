//! TensorBoard's event files: a record for each round that was measured, with every figure of its row.

use crate::protobuf::Message;
use prdo_simulator::Row;
use prdo_store::{COLUMNS, Column, Section};

/// The first record of every file. `time` is in seconds since 1970.
pub fn first_event(time: f64) -> Vec<u8> {
    record(&Message::new().double(1, time).text(3, "brain.Event:2").finish())
}

pub fn row_event(row: &Row, time: f64) -> Vec<u8> {
    let value = |(tag, value): (String, f64)| Message::new().text(1, &tag).float(2, value as f32);
    let values: Vec<Message> = figures(row).into_iter().map(value).collect();
    let summary = Message::new().messages(1, &values);
    let event = Message::new().double(1, time).integer(2, row.round.into()).message(5, &summary);
    record(&event.finish())
}

pub fn events(rows: &[Row], time: f64) -> Vec<u8> {
    let mut file = first_event(time);
    rows.iter().for_each(|row| file.extend(row_event(row, time)));
    file
}

fn figures(row: &Row) -> Vec<(String, f64)> {
    let of = |section: Section| COLUMNS.iter().filter(move |column| column.section == Some(section));
    let figure = |section: Section, column: &Column| {
        Some((format!("{}/{}", section.name(), column.name), column.value(row)?))
    };
    Section::ALL
        .into_iter()
        .flat_map(|section| of(section).filter_map(move |column| figure(section, column)))
        .collect()
}

/// Length, its checksum, the bytes, their checksum.
fn record(bytes: &[u8]) -> Vec<u8> {
    let length = (bytes.len() as u64).to_le_bytes();
    let mut record = length.to_vec();
    record.extend(masked(&length).to_le_bytes());
    record.extend(bytes);
    record.extend(masked(bytes).to_le_bytes());
    record
}

/// The format's checksum: CRC-32C, rotated and shifted so that a checksum of checksums is none.
fn masked(bytes: &[u8]) -> u32 {
    crc32c(bytes).rotate_right(15).wrapping_add(0xa282_ead8)
}

/// CRC-32C (Castagnoli), bit by bit: a row has a few hundred bytes.
fn crc32c(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| if crc & 1 == 1 { crc >> 1 ^ 0x82f6_3b78 } else { crc >> 1 };
    !bytes.iter().fold(!0, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), step))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_castagnoli() {
        // The check value of the catalogue of parametrised CRC algorithms.
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
        assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa);
    }

    #[test]
    fn records_are_framed_and_only_hold_what_was_measured() {
        let row = Row {
            round: 7,
            loss: 0.5,
            grad_norm: 0.25,
            epsilon_spent: Some(1.5),
            bytes_sent: 10,
            gradient_evaluations: 20,
            ..Row::default()
        };
        let file = events(&[row], 1.0);
        let (mut at, mut records) = (0, Vec::new());
        while at < file.len() {
            let length = u64::from_le_bytes(file[at..at + 8].try_into().unwrap()) as usize;
            records.push(&file[at + 12..at + 12 + length]);
            at += length + 16;
        }
        assert_eq!((at, records.len()), (file.len(), 2));
        let text = String::from_utf8_lossy(records[1]).into_owned();
        assert!(text.contains("privacy/epsilon_spent") && !text.contains("test_accuracy"));
    }
}
