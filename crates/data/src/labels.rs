//! Whether labels are what a model can learn from, and the one form each kind of model reads them in.

use super::{DataError, Feature, Table};

/// Labels of two classes as −1 and +1: {0, 1} and {−1, 1} are taken, and so are two class names, which readers
/// number 0 and 1.
///
/// # Errors
/// When a label is another number, or both 0 and −1 occur; the error names the record.
pub fn binary_labels<F: Feature>(table: Table<F>) -> Result<Table<F>, DataError> {
    let negative = table.labels().iter().copied().find(|label| *label != 1.0).unwrap_or(-1.0);
    let allowed = match negative {
        -1.0 => "-1 and 1",
        0.0 => "0 and 1",
        _ => "0 and 1, or -1 and 1",
    };
    let known = negative == -1.0 || negative == 0.0;
    let sign = |(record, value): (usize, &f64)| match *value {
        1.0 => Ok(1.0),
        v if known && v == negative => Ok(-1.0),
        value => Err(DataError::Label { record, value, allowed: allowed.to_owned() }),
    };
    let labels = table.labels().iter().enumerate().map(sign).collect::<Result<Vec<_>, _>>()?;
    Ok(table.relabelled(labels))
}

/// Labels of `classes` classes, 0 to `classes` − 1, and how many classes there are: as many as given, or one more
/// than the largest label.
///
/// # Errors
/// When a label is not a whole number in that range, there are fewer than 2 classes, or (where the number is not
/// given) a label is so large that not every class could have a record.
pub fn class_labels<F: Feature>(
    table: Table<F>,
    classes: Option<usize>,
) -> Result<(Table<F>, usize), DataError> {
    let limit = classes.unwrap_or(table.len().max(2));
    for (record, &value) in table.labels().iter().enumerate() {
        if !(value >= 0.0 && value < limit as f64 && value.fract() == 0.0) {
            let why = match classes {
                Some(classes) => format!("there are {classes} classes"),
                None => "or give the number of classes".to_string(),
            };
            let allowed = format!("whole numbers 0 to {} ({why})", limit.saturating_sub(1));
            return Err(DataError::Label { record, value, allowed });
        }
    }
    let largest = table.labels().iter().fold(-1.0f64, |most, label| most.max(*label));
    let classes = classes.unwrap_or((largest + 1.0) as usize);
    match classes {
        0 | 1 => Err(DataError::argument("classes", classes, "2 or more")),
        _ => Ok((table, classes)),
    }
}

/// Classes by other numbers: label k becomes `numbers[k]`.
pub fn renumbered_labels<F: Feature>(table: Table<F>, numbers: &[usize]) -> Result<Table<F>, DataError> {
    let number = |(record, &value): (usize, &f64)| {
        let whole = value >= 0.0 && value.fract() == 0.0;
        let found = numbers.get(value as usize).filter(|_| whole).map(|n| *n as f64);
        let allowed = || format!("whole numbers below {}", numbers.len());
        found.ok_or_else(|| DataError::Label { record, value, allowed: allowed() })
    };
    let labels = table.labels().iter().enumerate().map(number).collect::<Result<Vec<_>, _>>()?;
    Ok(table.relabelled(labels))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(labels: &[f64]) -> Table {
        Table::new(1, vec![0.0; labels.len()], labels.to_vec()).unwrap()
    }

    #[test]
    fn two_classes_become_signs() {
        let signs = |labels: &[f64]| {
            binary_labels(table(labels)).map(|t| t.labels().to_vec()).map_err(|e| e.to_string())
        };
        assert_eq!(signs(&[0.0, 1.0, 0.0]), Ok(vec![-1.0, 1.0, -1.0]));
        assert_eq!(signs(&[1.0, -1.0]), Ok(vec![1.0, -1.0]));
        assert_eq!(signs(&[1.0, 1.0]), Ok(vec![1.0, 1.0]));
        assert_eq!(signs(&[1.0, 2.0]), Err("record 1: label 2; allowed: 0 and 1, or -1 and 1".to_owned()));
        assert_eq!(signs(&[1.0, 0.0, -1.0]), Err("record 2: label -1; allowed: 0 and 1".to_owned()));
        assert_eq!(signs(&[-1.0, 0.5]), Err("record 1: label 0.5; allowed: -1 and 1".to_owned()));
    }

    #[test]
    fn classes_get_other_numbers() {
        let labels = |numbers: &[usize]| {
            let table = renumbered_labels(table(&[0.0, 2.0, 1.0, 0.0]), numbers);
            table.map(|t| t.labels().to_vec()).map_err(|e| e.to_string())
        };
        assert_eq!(labels(&[4, 0, 7]), Ok(vec![4.0, 7.0, 0.0, 4.0]));
        assert_eq!(labels(&[4, 0]), Err("record 1: label 2; allowed: whole numbers below 2".to_owned()));
    }

    #[test]
    fn classes_are_counted_or_checked() {
        let count = |labels: &[f64], classes| {
            class_labels(table(labels), classes).map(|(_, k)| k).map_err(|e| e.to_string())
        };
        assert_eq!(count(&[0.0, 2.0, 1.0], None), Ok(3));
        assert_eq!(count(&[0.0, 2.0, 1.0], Some(7)), Ok(7));
        assert_eq!(
            count(&[0.0, 2.0], Some(2)),
            Err("record 1: label 2; allowed: whole numbers 0 to 1 (there are 2 classes)".to_owned())
        );
        assert!(count(&[0.0, 1.5, 1.0], None).unwrap_err().starts_with("record 1: label 1.5"));
        assert!(count(&[-1.0, 1.0], None).unwrap_err().starts_with("record 0: label -1"));
        assert!(count(&[4e9, 1.0], None).unwrap_err().contains("give the number of classes"));
        assert!(count(&[0.0, 0.0], None).unwrap_err().contains("classes = 1"));
        assert!(count(&[], Some(0)).is_err());
    }
}
