//! Numbers as little-endian bytes and back.

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
    values.into_iter().flat_map(|v| v.to_le_bytes()).collect()
}
