//! What a linear model offers the gate instead of one vector per record: gradients of rank one.

/// A model whose parameters are a matrix W, row after row, and which sees a record only through its scores W·a: the
/// gradient of its loss is s⊗a, where s is the loss's gradient in the scores.
///
/// As of any model, input and slopes must depend on no other record than the one asked for.
pub trait Linear<D>: Send + Sync {
    /// Rows of W: scores of a record.
    fn outputs(&self) -> usize;

    /// Columns of W: values of a.
    fn inputs(&self) -> usize;

    /// Writes the record's a over `out`.
    fn input(&self, data: &D, record: usize, out: &mut [f64]);

    /// Turns the record's scores into s.
    fn slopes(&self, data: &D, record: usize, scores: &mut [f64]);
}
