//! Lines over two axes.

use super::scale::Scale;
use super::series::Series;

mod draw;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LegendPlace {
    /// Within the plot where it hides nothing, else beside or below it.
    #[default]
    Auto,
    /// Within the plot where it hides least.
    Inside,
    Beside,
    Below,
    Hidden,
}

/// A horizontal line at a value, such as a target or a bound.
#[derive(Clone, Debug)]
pub struct Reference {
    pub value: f64,
    /// What is written beside it; may be empty.
    pub label: String,
}

#[derive(Clone, Debug)]
pub struct Chart {
    pub title: String,
    pub x_label: String,
    pub y_label: String,
    pub x_scale: Scale,
    pub y_scale: Scale,
    /// The values at the ends of the x axis, if not those of the data.
    pub x_range: Option<(f64, f64)>,
    pub y_range: Option<(f64, f64)>,
    pub series: Vec<Series>,
    pub references: Vec<Reference>,
    pub legend: LegendPlace,
}

impl Chart {
    pub fn new(title: impl Into<String>, x_label: impl Into<String>, y_label: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            x_label: x_label.into(),
            y_label: y_label.into(),
            x_scale: Scale::Linear,
            y_scale: Scale::Linear,
            x_range: None,
            y_range: None,
            series: Vec::new(),
            references: Vec::new(),
            legend: LegendPlace::Auto,
        }
    }

    setters! {
        x_scale(scale: Scale) => x_scale = scale;
        y_scale(scale: Scale) => y_scale = scale;
        x_range(low: f64, high: f64) => x_range = Some((low, high));
        y_range(low: f64, high: f64) => y_range = Some((low, high));
        legend(place: LegendPlace) => legend = place;
    }

    pub fn series(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }

    pub fn reference(mut self, value: f64, label: impl Into<String>) -> Self {
        self.references.push(Reference { value, label: label.into() });
        self
    }
}
