//! What a record's features may be: numbers, or the bytes of an image.

/// One feature of a record, as a [`Table`](super::Table) keeps it: a number (`f64`), or a byte, where v stands
/// for v/255. Images stay bytes, an eighth of the memory, and become numbers where a model reads them.
pub trait Feature: Copy + Send + Sync + PartialEq + 'static {
    /// The feature whose value is 1.
    const ONE: Self;

    /// NumPy's name for the type, with the bytes in the order that [`bytes`](Feature::bytes) gives them.
    const NUMPY: &'static str;

    fn value(self) -> f64;

    fn single(self) -> f32;

    fn finite(self) -> bool;

    /// Calls `visit` with the bytes of all `features`, in order and cut anywhere: for hashes.
    fn bytes(features: &[Self], visit: &mut dyn FnMut(&[u8]));

    /// The numbers that `features` stand for, written to the beginning of `out`, which has room for them.
    fn numbers(features: &[Self], out: &mut [f64]) {
        out.iter_mut().zip(features).for_each(|(to, feature)| *to = feature.value());
    }
}

impl Feature for f64 {
    const ONE: f64 = 1.0;
    const NUMPY: &'static str = "<f8";

    fn value(self) -> f64 {
        self
    }

    fn single(self) -> f32 {
        self as f32
    }

    fn finite(self) -> bool {
        self.is_finite()
    }

    fn bytes(features: &[f64], visit: &mut dyn FnMut(&[u8])) {
        features.iter().for_each(|feature| visit(&feature.to_le_bytes()));
    }
}

impl Feature for f32 {
    const ONE: f32 = 1.0;
    const NUMPY: &'static str = "<f4";

    fn value(self) -> f64 {
        f64::from(self)
    }

    fn single(self) -> f32 {
        self
    }

    fn finite(self) -> bool {
        self.is_finite()
    }

    fn bytes(features: &[f32], visit: &mut dyn FnMut(&[u8])) {
        features.iter().for_each(|feature| visit(&feature.to_le_bytes()));
    }

    fn numbers(features: &[f32], out: &mut [f64]) {
        prdo_kernels::rank_one::widen(prdo_kernels::Level::best(), features, out);
    }
}

impl Feature for u8 {
    const ONE: u8 = 255;
    const NUMPY: &'static str = "|u1";

    fn value(self) -> f64 {
        f64::from(self) / 255.0
    }

    fn single(self) -> f32 {
        f32::from(self) / 255.0
    }

    fn finite(self) -> bool {
        true
    }

    fn bytes(features: &[u8], visit: &mut dyn FnMut(&[u8])) {
        visit(features);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_shares_of_255() {
        assert_eq!((u8::ONE.value(), 0u8.value(), 51u8.value()), (1.0, 0.0, 0.2));
        assert!((0..=255u8).all(|v| v.single() == v.value() as f32));
        assert!(!f64::NAN.finite() && 1e300.finite() && 7u8.finite());
    }

    #[test]
    fn hashed_bytes_are_all_of_them_in_order() {
        let mut seen = Vec::new();
        <u8 as Feature>::bytes(&[3, 1, 2], &mut |bytes| seen.extend_from_slice(bytes));
        assert_eq!(seen, [3, 1, 2]);
        seen.clear();
        f64::bytes(&[1.5, -2.0], &mut |bytes| seen.extend_from_slice(bytes));
        assert_eq!(seen, [1.5f64.to_le_bytes(), (-2.0f64).to_le_bytes()].concat());
    }
}
