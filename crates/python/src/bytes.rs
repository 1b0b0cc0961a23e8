//! Numbers as little-endian bytes and back.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// The numbers that `bytes` hold; what is left at the end is not looked at.
pub fn f64s(bytes: &[u8]) -> Vec<f64> {
    bytes.as_chunks::<8>().0.iter().map(|c| f64::from_le_bytes(*c)).collect()
}

/// The same in single precision.
pub fn f32s(bytes: &[u8]) -> impl ExactSizeIterator<Item = f32> {
    bytes.as_chunks::<4>().0.iter().map(|c| f32::from_le_bytes(*c))
}

/// The same for numbers of nodes.
pub fn u32s(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks::<4>().0.iter().map(|c| u32::from_le_bytes(*c)).collect()
}

/// Numbers as bytes.
pub fn of<'a>(values: impl IntoIterator<Item = &'a f64>) -> Vec<u8> {
    let values = values.into_iter();
    let mut bytes = Vec::with_capacity(8 * values.size_hint().0);
    values.for_each(|v| bytes.extend_from_slice(&v.to_le_bytes()));
    bytes
}

/// Numbers as Python's bytes.
pub fn python<'py>(py: Python<'py>, values: &[f64]) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, 8 * values.len(), |bytes| {
        for (eight, value) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(values) {
            *eight = value.to_le_bytes();
        }
        Ok(())
    })
}
