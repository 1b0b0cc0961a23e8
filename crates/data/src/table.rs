//! The one shape data has here: dense records of features with one label each.

use std::fmt;

use super::{DataError, Feature};

/// Dense records, row after row, with a label each. Every number in it is finite, which is checked once, here,
/// so that models need not. Features are numbers unless said otherwise; `Table<u8>` holds images.
#[derive(Clone, PartialEq)]
pub struct Table<F: Feature = f64> {
    width: usize,
    features: Vec<F>,
    labels: Vec<f64>,
}

impl<F: Feature> Table<F> {
    /// A table of `labels.len()` records of `width` features.
    pub fn new(width: usize, features: Vec<F>, mut labels: Vec<f64>) -> Result<Self, DataError> {
        if width == 0 {
            return Err(DataError::argument("width", 0, "1 or more"));
        }
        if labels.len().checked_mul(width) != Some(features.len()) {
            return Err(DataError::TableLength { width, labels: labels.len(), features: features.len() });
        }
        if let Some(at) = features.iter().position(|v| !v.finite()) {
            let column = format!("feature {}", at % width);
            return Err(DataError::NotFinite { record: at / width, column, value: features[at].value() });
        }
        if let Some(record) = labels.iter().position(|v| !v.is_finite()) {
            return Err(DataError::NotFinite { record, column: "label".to_owned(), value: labels[record] });
        }
        // −0 is 0: labels are compared bit by bit where they name classes.
        labels.iter_mut().for_each(|label| *label += 0.0);
        Ok(Self { width, features, labels })
    }

    /// A table whose numbers are known to be finite and whose lengths are known to fit.
    pub(crate) fn trusted(width: usize, features: Vec<F>, labels: Vec<f64>) -> Self {
        debug_assert_eq!(features.len(), width * labels.len());
        Self { width, features, labels }
    }

    pub fn width(&self) -> usize {
        self.width
    }

    pub fn len(&self) -> usize {
        self.labels.len()
    }

    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// The features of record `r`.
    ///
    /// # Panics
    /// When there is no record `r`.
    pub fn row(&self, r: usize) -> &[F] {
        &self.features[r * self.width..(r + 1) * self.width]
    }

    /// All features, record after record.
    pub fn features(&self) -> &[F] {
        &self.features
    }

    /// The label of record `r`.
    ///
    /// # Panics
    /// When there is no record `r`.
    pub fn label(&self, r: usize) -> f64 {
        self.labels[r]
    }

    pub fn labels(&self) -> &[f64] {
        &self.labels
    }

    /// The same records with one more feature, always 1: an intercept.
    #[must_use]
    pub fn with_ones(&self) -> Self {
        let rows = self.features.chunks_exact(self.width);
        let features = rows.flat_map(|row| row.iter().copied().chain([F::ONE])).collect();
        Self { width: self.width + 1, features, labels: self.labels.clone() }
    }

    /// These records, in this order.
    ///
    /// # Panics
    /// When one of `records` is not in the table.
    pub fn select(&self, records: &[u32]) -> Self {
        let mut features = Vec::with_capacity(records.len() * self.width);
        records.iter().for_each(|r| features.extend_from_slice(self.row(*r as usize)));
        let labels = records.iter().map(|r| self.labels[*r as usize]).collect();
        Self { width: self.width, features, labels }
    }

    /// The same as [`select`](Self::select) for ascending records, in the table's own memory: nothing is copied
    /// beside it.
    ///
    /// # Panics
    /// When one of `records` is not in the table.
    #[must_use]
    pub fn into_selected(mut self, records: &[u32]) -> Self {
        debug_assert!(records.is_sorted_by(|a, b| a < b));
        for (to, from) in records.iter().enumerate() {
            let from = *from as usize;
            self.features.copy_within(from * self.width..(from + 1) * self.width, to * self.width);
            self.labels[to] = self.labels[from];
        }
        self.features.truncate(records.len() * self.width);
        self.labels.truncate(records.len());
        self.features.shrink_to_fit();
        self
    }

    /// The records of all `tables`, one table after another.
    pub fn concat(tables: &[Self]) -> Result<Self, DataError> {
        let Some(first) = tables.first() else {
            return Err(DataError::argument("tables", 0, "1 or more"));
        };
        if let Some(table) = tables.iter().position(|t| t.width != first.width) {
            let found = tables[table].width;
            return Err(DataError::TableWidth { table, found, expected: first.width });
        }
        let mut features = Vec::with_capacity(tables.iter().map(|t| t.features.len()).sum());
        let mut labels = Vec::with_capacity(tables.iter().map(Self::len).sum());
        for table in tables {
            features.extend_from_slice(&table.features);
            labels.extend_from_slice(&table.labels);
        }
        Ok(Self { width: first.width, features, labels })
    }

    /// The same features with other labels, one for each record.
    pub(super) fn relabelled(self, labels: Vec<f64>) -> Self {
        Self::trusted(self.width, self.features, labels)
    }

    /// The same records as numbers, as linear models read them.
    pub fn to_numbers(&self) -> Table {
        let features = self.features.iter().map(|feature| feature.value()).collect();
        Table { width: self.width, features, labels: self.labels.clone() }
    }

    /// Calls `visit` with the bytes of all features and then of all labels, cut anywhere: for hashes.
    pub fn bytes(&self, visit: &mut dyn FnMut(&[u8])) {
        F::bytes(&self.features, visit);
        f64::bytes(&self.labels, visit);
    }
}

impl<F: Feature> prdo_privacy::Data for Table<F> {
    fn len(&self) -> usize {
        self.labels.len()
    }
}

/// Says how large the table is and nothing of what is in it: records are private, logs are not.
impl<F: Feature> fmt::Debug for Table<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Table({} records of {} features)", self.len(), self.width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        Table::new(2, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0], vec![0.0, 1.0, 2.0]).unwrap()
    }

    #[test]
    fn rows_labels_selection_and_concatenation() {
        let table = table();
        assert_eq!((table.width(), table.len(), table.row(1), table.label(2)), (2, 3, &[3.0, 4.0][..], 2.0));
        let some = table.select(&[2, 0]);
        assert_eq!((some.features(), some.labels()), (&[5.0, 6.0, 1.0, 2.0][..], &[2.0, 0.0][..]));
        let all = Table::concat(&[some, table.select(&[1])]).unwrap();
        assert_eq!(all.labels(), &[2.0, 0.0, 1.0]);
        assert_eq!(all.select(&[1, 2, 0]), table);
        assert_eq!(prdo_privacy::Data::len(&table), 3);
    }

    #[test]
    fn bytes_stand_for_shares_of_255() {
        let images = Table::new(2, vec![0u8, 255, 51, 102], vec![7.0, 3.0]).unwrap();
        assert_eq!(images.row(1), [51, 102]);
        let numbers = images.to_numbers();
        assert_eq!((numbers.features(), numbers.labels()), (&[0.0, 1.0, 0.2, 0.4][..], &[7.0, 3.0][..]));
        assert_eq!(images.with_ones().to_numbers(), numbers.with_ones());
        let mut seen = Vec::new();
        images.bytes(&mut |bytes| seen.extend_from_slice(bytes));
        assert_eq!(seen, [&[0, 255, 51, 102][..], &7f64.to_le_bytes(), &3f64.to_le_bytes()].concat());
    }

    #[test]
    fn selecting_in_place_is_selecting() {
        for records in [&[][..], &[0], &[2], &[0, 2], &[1, 2], &[0, 1, 2]] {
            assert_eq!(table().into_selected(records), table().select(records));
        }
    }

    #[test]
    fn refuses_what_does_not_fit_and_names_the_place() {
        let said = |width, features: &[f64], labels: &[f64]| {
            Table::new(width, features.to_vec(), labels.to_vec()).unwrap_err().to_string()
        };
        assert_eq!(said(0, &[], &[]), "width = 0; allowed: 1 or more");
        assert!(said(2, &[1.0], &[0.0]).contains("found 1"));
        assert!(said(usize::MAX, &[1.0], &[0.0, 0.0]).contains("found 1"));
        assert_eq!(
            said(2, &[1.0, 2.0, 3.0, f64::NAN], &[0.0, 0.0]),
            "record 1, feature 1: found NaN; allowed: finite numbers"
        );
        assert_eq!(said(1, &[1.0], &[f64::INFINITY]), "record 0, label: found inf; allowed: finite numbers");
        assert!(Table::<f64>::concat(&[]).is_err());
        let narrow = Table::new(1, vec![0.0], vec![0.0]).unwrap();
        let error = Table::concat(&[table(), narrow]).unwrap_err();
        assert_eq!(error.to_string(), "table 1 has width 1; the first has width 2");
    }

    #[test]
    fn debug_output_holds_no_record() {
        assert_eq!(format!("{:?}", table()), "Table(3 records of 2 features)");
    }
}
