//! A small real data set that comes with the crate: the UCI handwritten digits.
//!
//! E. Alpaydin and C. Kaynak, *Optical Recognition of Handwritten Digits*, UCI Machine Learning Repository,
//! 1998, <https://doi.org/10.24432/C50P49>, CC BY 4.0. The 1797 records of its test part, as scikit-learn
//! distributes them; see `assets/README.md`.

use super::{Dataset, ImageShape, Table};

/// 1797 records of 64 pixels (each 0 to 16) and a label (0 to 9), a byte each.
static BYTES: &[u8] = include_bytes!("../assets/digits.u8");

const PIXELS: usize = 64;
const BRIGHTEST: f64 = 16.0;

/// 1797 handwritten digits of 8 x 8 pixels, scaled to [0, 1]; ten classes.
pub fn digits() -> Dataset {
    let records = || BYTES.chunks_exact(PIXELS + 1);
    let features = records().flat_map(|r| r[..PIXELS].iter().map(|p| f64::from(*p) / BRIGHTEST)).collect();
    let labels = records().map(|r| f64::from(r[PIXELS])).collect();
    Dataset {
        class_names: Some((0..10).map(|digit| digit.to_string()).collect()),
        feature_names: Some((0..PIXELS).map(|p| format!("pixel_{}_{}", p / 8, p % 8)).collect()),
        image: Some(ImageShape { channels: 1, height: 8, width: 8 }),
        ..Dataset::from(Table::trusted(PIXELS, features, labels))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_the_published_data() {
        let data = digits();
        assert_eq!((data.table.len(), data.table.width()), (1797, 64));
        let mut counts = [0; 10];
        data.table.labels().iter().for_each(|label| counts[*label as usize] += 1);
        assert_eq!(counts, [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]);
        assert!(data.table.features().iter().all(|p| (0.0..=1.0).contains(p)));
        assert_eq!(data.table.features().iter().sum::<f64>() * 16.0, 561_718.0);
        assert_eq!(data.table.row(0)[..6], [0.0, 0.0, 5.0 / 16.0, 13.0 / 16.0, 9.0 / 16.0, 1.0 / 16.0]);
        assert!(Table::new(64, data.table.features().to_vec(), data.table.labels().to_vec()).is_ok());
    }
}
