//! What files, exports and charts need to know of a metric.

use super::Row;

/// A metric's column.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    pub name: &'static str,
    /// Under what TensorBoard shows it; nothing for what its records are numbered by.
    pub section: Option<Section>,
    pub panel: Panel,
    pub(crate) get: fn(&Row) -> Number,
    pub(crate) set: fn(&mut Row, Number) -> Option<()>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Section {
    Training,
    Privacy,
    Cost,
}

impl Section {
    pub const ALL: [Self; 3] = [Self::Training, Self::Privacy, Self::Cost];

    /// The word that TensorBoard shows.
    pub fn name(self) -> &'static str {
        match self {
            Self::Training => "training",
            Self::Privacy => "privacy",
            Self::Cost => "cost",
        }
    }
}

/// How a metric is drawn in interactive charts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Panel {
    /// Others are drawn against it.
    Axis { label: &'static str },
    /// A panel of its own; the `first` one comes before all others.
    Curve { title: &'static str, label: &'static str, scale: PanelScale, first: bool },
}

impl Panel {
    pub(crate) const fn axis(label: &'static str) -> Self {
        Self::Axis { label }
    }

    pub(crate) const fn curve(title: &'static str, label: &'static str, scale: PanelScale) -> Self {
        Self::Curve { title, label, scale, first: false }
    }

    /// The one that people look for before all others.
    pub(crate) const fn headline(title: &'static str, label: &'static str, scale: PanelScale) -> Self {
        Self::Curve { title, label, scale, first: true }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PanelScale {
    Linear,
    Log,
    /// A share, in percent.
    Share,
    /// A share, and all of 0 to 1 is shown.
    WholeShare,
}

/// A metric's value in a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    Whole(u64),
    /// A measurement; nothing where it does not apply.
    Real(Option<f64>),
}

impl Column {
    pub fn number(&self, row: &Row) -> Number {
        (self.get)(row)
    }

    /// The same for whoever draws it.
    pub fn value(&self, row: &Row) -> Option<f64> {
        match self.number(row) {
            Number::Whole(count) => Some(count as f64),
            Number::Real(value) => value,
        }
    }

    /// Whether its values are counts.
    pub fn is_whole(&self) -> bool {
        matches!(self.number(&Row::default()), Number::Whole(_))
    }

    /// Puts a number into a row; nothing if the metric cannot have it.
    pub fn set(&self, row: &mut Row, number: Number) -> Option<()> {
        (self.set)(row, number)
    }
}

/// What a field of a row can be.
pub(crate) trait Field: Sized {
    fn number(self) -> Number;
    fn of(number: Number) -> Option<Self>;
}

macro_rules! field {
    ($type:ty, $number:expr, $pattern:pat => $value:expr) => {
        impl Field for $type {
            fn number(self) -> Number {
                $number(self.into())
            }

            fn of(number: Number) -> Option<Self> {
                if let $pattern = number { $value } else { None }
            }
        }
    };
}

field!(u32, Number::Whole, Number::Whole(count) => count.try_into().ok());
field!(u64, Number::Whole, Number::Whole(count) => Some(count));
field!(f64, Number::Real, Number::Real(value) => value);
field!(Option<f64>, Number::Real, Number::Real(value) => Some(value));
