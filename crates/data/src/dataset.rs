//! A table and what its file says about it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::{DataError, Feature, Table};

/// The shape of one image: its features are channel after channel, row after row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageShape {
    /// Planes of one colour each: 1 for grey.
    pub channels: usize,
    pub height: usize,
    pub width: usize,
}

impl ImageShape {
    pub fn features(self) -> usize {
        self.channels.saturating_mul(self.height).saturating_mul(self.width)
    }
}

impl fmt::Display for ImageShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} x {} x {}", self.channels, self.height, self.width)
    }
}

/// A table and what its file says about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Dataset<F: Feature = f64> {
    pub table: Table<F>,
    /// Which node holds each record, where the data says so.
    pub node: Option<Vec<u32>>,
    /// The names behind nodes 0, 1, …, where nodes have names.
    pub node_names: Option<Vec<String>>,
    /// The names behind labels 0, 1, …, where labels are names.
    pub class_names: Option<Vec<String>>,
    /// The names of the features, where they have any.
    pub feature_names: Option<Vec<String>>,
    /// The shape of a record, where records are images.
    pub image: Option<ImageShape>,
    /// Whether the data has labels; without, all are 0.
    pub labelled: bool,
    /// Values that may be slips, in words, for the owner of the data.
    pub doubts: Vec<String>,
    /// Columns of categories with cells that stand for nothing, each in words.
    pub blanks: Vec<String>,
}

impl<F: Feature> Dataset<F> {
    /// These records, in this order, with their nodes and all names.
    ///
    /// # Panics
    /// When one of `records` is not in the table.
    pub fn select(&self, records: &[u32]) -> Self {
        Self {
            table: self.table.select(records),
            node: self.node_of(records),
            node_names: self.node_names.clone(),
            class_names: self.class_names.clone(),
            feature_names: self.feature_names.clone(),
            image: self.image,
            labelled: self.labelled,
            doubts: self.doubts.clone(),
            blanks: self.blanks.clone(),
        }
    }

    /// The same as [`select`](Self::select) for ascending records, in the table's own memory.
    ///
    /// # Panics
    /// When one of `records` is not in the table.
    #[must_use]
    pub fn into_selected(self, records: &[u32]) -> Self {
        Self { node: self.node_of(records), table: self.table.into_selected(records), ..self }
    }

    fn node_of(&self, records: &[u32]) -> Option<Vec<u32>> {
        self.node.as_ref().map(|node| records.iter().map(|r| node[*r as usize]).collect())
    }

    /// The same without the records of nodes that hold fewer than `least`, the others numbered anew in their order; and
    /// how many nodes and records were left out. Data that does not say who holds what stays as it is.
    #[must_use]
    pub fn without_small_nodes(self, least: usize) -> (Self, usize, usize) {
        let Some(holders) = &self.node else { return (self, 0, 0) };
        let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
        holders.iter().for_each(|node| *counts.entry(*node).or_default() += 1);
        let kept: Vec<u32> =
            counts.iter().filter(|(_, count)| **count >= least).map(|(node, _)| *node).collect();
        if kept.len() == counts.len() {
            return (self, 0, 0);
        }
        let number = |node: &u32| kept.binary_search(node).ok().map(|n| n as u32);
        let (records, node): (Vec<u32>, Vec<u32>) =
            (0..).zip(holders).filter_map(|(r, node)| Some((r, number(node)?))).unzip();
        // Nodes that were numbers keep them as names.
        let name = |n: &u32| match &self.node_names {
            Some(names) => names.get(*n as usize).cloned().unwrap_or_default(),
            None => n.to_string(),
        };
        let node_names = Some(kept.iter().map(name).collect());
        let left_out = (counts.len() - kept.len(), holders.len() - records.len());
        let selected = self.into_selected(&records);
        (Self { node: Some(node), node_names, ..selected }, left_out.0, left_out.1)
    }

    /// The same with nodes 0, 1, … where their numbers have gaps or begin elsewhere: those are codes, as 101 to 104 for
    /// branches, and stay as the nodes' names. The nodes keep the order of their numbers.
    #[must_use]
    pub fn with_codes_as_names(self) -> Self {
        let Some(holders) = self.node.as_ref().filter(|_| self.node_names.is_none()) else { return self };
        let codes: Vec<u32> = holders.iter().copied().collect::<BTreeSet<u32>>().into_iter().collect();
        if codes.iter().zip(0..).all(|(code, number)| *code == number) {
            return self;
        }
        let number = |code: &u32| codes.binary_search(code).map_or(0, |n| n as u32);
        let node = Some(holders.iter().map(number).collect());
        let node_names = Some(codes.iter().map(u32::to_string).collect());
        Self { node, node_names, ..self }
    }

    pub fn into_numbers(self) -> Dataset {
        let Self { table, node, node_names, class_names, feature_names, image, labelled, doubts, blanks } =
            self;
        let table = table.to_numbers();
        Dataset { table, node, node_names, class_names, feature_names, image, labelled, doubts, blanks }
    }
}

/// A table that nobody has named anything in.
impl<F: Feature> From<Table<F>> for Dataset<F> {
    fn from(table: Table<F>) -> Self {
        let (node, node_names, class_names, feature_names, image) = (None, None, None, None, None);
        let (doubts, blanks) = (Vec::new(), Vec::new());
        Self { table, node, node_names, class_names, feature_names, image, labelled: true, doubts, blanks }
    }
}

/// What a file holds: numbers, or images whose pixels are still bytes.
#[derive(Clone, Debug, PartialEq)]
pub enum Loaded {
    Numbers(Dataset),
    Images(Dataset<u8>),
}

impl Loaded {
    pub fn width(&self) -> usize {
        match self {
            Loaded::Numbers(data) => data.table.width(),
            Loaded::Images(data) => data.table.width(),
        }
    }

    /// The records as numbers, whichever they are.
    ///
    /// # Errors
    /// When they are more than memory is given to; `file` is what the error calls them.
    pub fn into_numbers(self, file: &str) -> Result<Dataset, DataError> {
        match self {
            Loaded::Numbers(data) => Ok(data),
            Loaded::Images(data) => {
                super::dense_len(file, data.table.len(), data.table.width())?;
                Ok(data.into_numbers())
            }
        }
    }

    /// The records as bytes.
    ///
    /// # Errors
    /// When they are not images; `file` is what the error calls them.
    pub fn into_images(self, file: &str) -> Result<Dataset<u8>, DataError> {
        match self {
            Loaded::Images(data) => Ok(data),
            Loaded::Numbers(_) => Err(DataError::NotImages { file: file.to_owned() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_nodes_are_left_out_and_the_others_numbered_anew() {
        let table = Table::new(1, vec![0.0, 1.0, 2.0, 3.0, 4.0], vec![0.0; 5]).unwrap();
        let names = ["a", "b", "c"].map(String::from).to_vec();
        let data =
            Dataset { node: Some(vec![2, 1, 2, 0, 0]), node_names: Some(names), ..Dataset::from(table) };
        assert_eq!(data.clone().without_small_nodes(1), (data.clone(), 0, 0));
        let (some, nodes, records) = data.clone().without_small_nodes(2);
        assert_eq!((nodes, records, some.table.features()), (1, 1, &[0.0, 2.0, 3.0, 4.0][..]));
        assert_eq!(some.node.as_deref(), Some(&[1, 1, 0, 0][..]));
        assert_eq!(some.node_names.unwrap(), ["a", "c"]);
        let (none, nodes, _) = data.without_small_nodes(9);
        assert_eq!((none.table.len(), nodes), (0, 3));
    }

    #[test]
    fn codes_of_nodes_become_names_and_numbers_without_gaps_stand() {
        let with = |node: &[u32]| {
            let table = Table::new(1, vec![0.0; node.len()], vec![0.0; node.len()]).unwrap();
            Dataset { node: Some(node.to_vec()), ..Dataset::from(table) }
        };
        let numbered = with(&[2, 0, 1, 0]);
        assert_eq!(numbered.clone().with_codes_as_names(), numbered);
        let codes = with(&[1001, 102, 101, 1001]).with_codes_as_names();
        assert_eq!(codes.node.as_deref(), Some(&[2, 1, 0, 2][..]));
        assert_eq!(codes.node_names.unwrap(), ["101", "102", "1001"]);
        assert_eq!(with(&[0, 1, 3]).with_codes_as_names().node_names.unwrap(), ["0", "1", "3"]);
    }

    #[test]
    fn selections_keep_nodes_names_and_shape() {
        let shape = ImageShape { channels: 1, height: 1, width: 2 };
        let table = Table::new(2, vec![0u8, 255, 51, 102, 1, 2], vec![7.0, 3.0, 1.0]).unwrap();
        let data = Dataset { node: Some(vec![4, 5, 6]), image: Some(shape), ..Dataset::from(table) };
        let some = data.select(&[0, 2]);
        assert_eq!((some.node.as_deref(), some.image), (Some(&[4, 6][..]), Some(shape)));
        assert_eq!(data.clone().into_selected(&[0, 2]), some);
        assert_eq!(Loaded::Images(data.clone()).into_numbers("x").unwrap().table, data.table.to_numbers());
        assert!(Loaded::Images(data.clone()).into_images("x").is_ok());
        let said = Loaded::Numbers(data.into_numbers()).into_images("a.csv").unwrap_err().to_string();
        assert!(said.contains("a.csv"), "{said}");
        assert_eq!((shape.to_string(), shape.features()), ("1 x 1 x 2".to_owned(), 2));
    }
}
