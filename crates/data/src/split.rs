//! Setting records aside before training: a validation and a test part, drawn at random.

use prdo_privacy::{Purpose, Secret};
use rand::seq::SliceRandom;

use super::DataError;

/// The stream that splits draw from, apart from that of partitions so that one seed can serve both.
const SPLIT_STREAM: u32 = 1;

/// The record numbers of a training, a validation and a test part, each ascending, drawn at random; a part
/// asked for with 0 records is empty. [`Dataset::select`](super::Dataset::select) keeps a node column.
pub fn split_records(
    records: usize,
    validation: usize,
    test: usize,
    seed: u64,
) -> Result<[Vec<u32>; 3], DataError> {
    if validation.saturating_add(test) >= records {
        return Err(DataError::EmptyPart { part: "training", records });
    }
    let mut order = shuffled(records, seed)?;
    let test = order.split_off(records - test);
    let validation = order.split_off(order.len() - validation);
    Ok([order, validation, test].map(|mut part| {
        part.sort_unstable();
        part
    }))
}

fn shuffled(records: usize, seed: u64) -> Result<Vec<u32>, DataError> {
    let mut order = super::partition::all_records(records)?;
    order.shuffle(&mut Secret::from_seed(seed).stream(Purpose::Partition, SPLIT_STREAM, 0));
    Ok(order)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_record_is_in_one_part() {
        let [train, validation, test] = split_records(101, 10, 20, 3).unwrap();
        assert_eq!((train.len(), validation.len(), test.len()), (71, 10, 20));
        let mut all = [train, validation, test.clone()].concat();
        all.sort_unstable();
        assert_eq!(all, (0..101).collect::<Vec<u32>>());
        assert_eq!(split_records(101, 0, 20, 3).unwrap()[2], test);
        assert_ne!(split_records(101, 0, 20, 4).unwrap()[2], test);
        assert!(split_records(5, 0, 0, 1).unwrap()[1].is_empty());
    }

    #[test]
    fn nothing_left_to_train_on_is_refused() {
        for (validation, test) in [(5, 5), (0, 10), (11, 0), (usize::MAX, 1)] {
            let said = split_records(10, validation, test, 0).unwrap_err().to_string();
            assert_eq!(said, "the training part of 10 records would be empty");
        }
    }
}
