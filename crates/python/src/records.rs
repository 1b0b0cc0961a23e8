//! Arrays from Python as records.

use crate::bytes;
use crate::errors;
use prdo::data::{DataError, Dataset, Feature, ImageShape, Loaded, Table};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// What Python hands over: `prdo/_records.py` makes it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Arrays<'py> {
    /// Of X: records, then the sides of one.
    shape: Vec<usize>,
    /// Whether X is bytes, an image's; otherwise it is doubles.
    image_bytes: bool,
    x: Bound<'py, PyBytes>,
    y: Bound<'py, PyBytes>,
    node: Option<Bound<'py, PyBytes>>,
    node_names: Option<Vec<String>>,
    class_names: Option<Vec<String>>,
    feature_names: Option<Vec<String>>,
}

impl Arrays<'_> {
    pub fn load(self) -> PyResult<Loaded> {
        let width = self.shape.iter().skip(1).product();
        let image = match self.shape[..] {
            [_, height, width] => Some(ImageShape { channels: 1, height, width }),
            [_, channels, height, width] => Some(ImageShape { channels, height, width }),
            _ => None,
        };
        let refuse = |e: DataError| errors::input(&format!("data: {e}"), Some("data"), None, None);
        let labels = bytes::f64s(self.y.as_bytes());
        if self.image_bytes {
            let table = Table::new(width, self.x.as_bytes().to_vec(), labels).map_err(refuse)?;
            return Ok(Loaded::Images(self.dataset(table, image)));
        }
        let table = Table::new(width, bytes::f64s(self.x.as_bytes()), labels).map_err(refuse)?;
        Ok(Loaded::Numbers(self.dataset(table, image)))
    }

    fn dataset<F: Feature>(self, table: Table<F>, image: Option<ImageShape>) -> Dataset<F> {
        let node = self.node.map(|node| bytes::u32s(node.as_bytes()));
        let Self { node_names, class_names, feature_names, .. } = self;
        Dataset { node, node_names, class_names, feature_names, image, ..Dataset::from(table) }
    }
}
