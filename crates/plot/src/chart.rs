//! Lines over two axes.

use super::scale::Scale;
use super::series::Series;

mod draw;

/// Where a chart's legend goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LegendPlace {
    /// Within the plot where it hides nothing, else beside or below it.
    #[default]
    Auto,
    /// Within the plot where it hides least.
    Inside,
    /// To the right of the plot.
    Beside,
    /// Beneath the plot.
    Below,
    /// Nowhere.
    Hidden,
}

/// A horizontal line at a value, such as a target or a bound.
#[derive(Clone, Debug)]
pub struct Reference {
    /// Its place on the y axis.
    pub value: f64,
    /// What is written beside it; may be empty.
    pub label: String,
}

/// A chart of lines: the figure of a method against another.
#[derive(Clone, Debug)]
pub struct Chart {
    /// The title above.
    pub title: String,
    /// What the x axis shows.
    pub x_label: String,
    /// What the y axis shows.
    pub y_label: String,
    /// How the x axis is divided.
    pub x_scale: Scale,
    /// How the y axis is divided.
    pub y_scale: Scale,
    /// The values at the ends of the x axis, if not those of the data.
    pub x_range: Option<(f64, f64)>,
    /// The values at the ends of the y axis, if not those of the data.
    pub y_range: Option<(f64, f64)>,
    /// The lines.
    pub series: Vec<Series>,
    /// Horizontal reference lines.
    pub references: Vec<Reference>,
    /// A remark within the plot, where it hides least; may be empty.
    pub note: String,
    /// Where the legend goes.
    pub legend: LegendPlace,
    /// Whether lines carry sparse markers, to be told apart in black and white.
    pub markers: bool,
}

impl Chart {
    /// An empty chart with linear axes.
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
            note: String::new(),
            legend: LegendPlace::Auto,
            markers: true,
        }
    }

    /// The same with its x axis divided so.
    pub fn x_scale(mut self, scale: Scale) -> Self {
        self.x_scale = scale;
        self
    }

    /// The same with its y axis divided so.
    pub fn y_scale(mut self, scale: Scale) -> Self {
        self.y_scale = scale;
        self
    }

    /// The same with the x axis from one value to another.
    pub fn x_range(mut self, low: f64, high: f64) -> Self {
        self.x_range = Some((low, high));
        self
    }

    /// The same with the y axis from one value to another.
    pub fn y_range(mut self, low: f64, high: f64) -> Self {
        self.y_range = Some((low, high));
        self
    }

    /// The same with a further line.
    pub fn series(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }

    /// The same with a horizontal reference line.
    pub fn reference(mut self, value: f64, label: impl Into<String>) -> Self {
        self.references.push(Reference { value, label: label.into() });
        self
    }

    /// The same with a remark within the plot.
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }

    /// The same with its legend there.
    pub fn legend(mut self, place: LegendPlace) -> Self {
        self.legend = place;
        self
    }

    /// The same without markers.
    pub fn without_markers(mut self) -> Self {
        self.markers = false;
        self
    }
}
