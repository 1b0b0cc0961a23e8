//! Numbers as bytes, without a detour.

/// Appends the values as little-endian bytes: a plain copy where that is how they lie in memory.
pub fn extend_little_endian(out: &mut Vec<u8>, values: &[f64]) {
    if cfg!(target_endian = "little") {
        // SAFETY: every byte of a slice of `f64` is initialised, bytes need no alignment, and the length is that of the
        // same memory, which is borrowed for as long as the bytes are.
        let bytes = unsafe { std::slice::from_raw_parts(values.as_ptr().cast::<u8>(), size_of_val(values)) };
        out.extend_from_slice(bytes);
    } else {
        out.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_those_of_each_value() {
        let values = [0.0, -0.0, 1.5, f64::MAX, f64::MIN_POSITIVE, f64::NAN, f64::NEG_INFINITY];
        let mut bytes = vec![7];
        extend_little_endian(&mut bytes, &values);
        let expected: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        assert_eq!((bytes[0], &bytes[1..]), (7, &expected[..]));
        extend_little_endian(&mut bytes, &[]);
        assert_eq!(bytes.len(), 57);
    }
}
