//! Panels in a grid on one sheet.

use super::area::Area;
use super::canvas::Canvas;
use super::font::Weight;
use super::frame::draw_no_data;
use super::legend;
use super::paint::{Anchor, Type};
use super::series::Looks;
use super::text::wrap;
use super::{Bars, Chart, Heat, Network, Pixels, Theme};
#[cfg(feature = "raster")]
use super::{Format, PlotError, pdf, png};

const MARGIN: f64 = 12.0;
/// Between panels.
const GAP: f64 = 22.0;
/// The size of a panel's title and the height of a line of it.
const TITLE: (f64, f64) = (13.0, 17.0);
/// The same of the figure's title.
const HEADING: (f64, f64) = (15.0, 21.0);

#[derive(Clone, Debug)]
pub enum Panel {
    Chart(Chart),
    Bars(Bars),
    Network(Network),
    Heat(Heat),
    Pixels(Pixels),
}

macro_rules! panels {
    ($($kind:ident),*) => {$(
        impl From<$kind> for Panel {
            fn from(one: $kind) -> Self {
                Self::$kind(one)
            }
        }
    )*};
}
panels!(Chart, Bars, Network, Heat, Pixels);

impl Panel {
    fn title(&self) -> &str {
        match self {
            Self::Chart(Chart { title, .. })
            | Self::Bars(Bars { title, .. })
            | Self::Network(Network { title, .. })
            | Self::Heat(Heat { title, .. })
            | Self::Pixels(Pixels { title, .. }) => title,
        }
    }

    /// The height that suits a width, without the title.
    fn height(&self, width: f64) -> f64 {
        match self {
            Self::Chart(_) => 0.66 * width,
            Self::Bars(one) => one.height(width),
            Self::Network(one) => one.height(width),
            Self::Heat(one) => one.height(width),
            Self::Pixels(one) => one.height(width),
        }
    }

    fn draw(&self, canvas: &mut Canvas, area: &Area, looks: &Looks, own_legend: bool) {
        match self {
            Self::Chart(one) => one.draw(canvas, area, looks, own_legend),
            Self::Bars(one) => one.draw(canvas, area),
            Self::Network(one) => one.draw(canvas, area),
            Self::Heat(one) => one.draw(canvas, area),
            Self::Pixels(one) => one.draw(canvas, area),
        }
    }
}

/// A sheet of panels, drawn as SVG, PNG or PDF.
#[derive(Clone, Debug)]
pub struct Figure {
    /// The heading, and the picture's name for those who cannot see it.
    pub title: String,
    /// The pictures, row by row; several are captioned (a), (b) and so on.
    pub panels: Vec<Panel>,
    /// How many panels stand side by side; by default up to three.
    pub columns: Option<usize>,
    pub panel_width: f64,
    /// In pixels, if not what suits it.
    pub panel_height: Option<f64>,
    pub shared_legend: bool,
    pub theme: Theme,
}

impl Figure {
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            panels: Vec::new(),
            columns: None,
            panel_width: 500.0,
            panel_height: None,
            shared_legend: false,
            theme: Theme::Paper,
        }
    }

    pub fn of(panel: impl Into<Panel>) -> Self {
        Self::new("").panel(panel)
    }

    pub fn panel(mut self, panel: impl Into<Panel>) -> Self {
        self.panels.push(panel.into());
        self
    }

    pub fn panel_size(mut self, width: f64, height: f64) -> Self {
        self.panel_width = width;
        self.panel_height = Some(height);
        self
    }

    setters! {
        columns(columns: usize) => columns = Some(columns);
        shared_legend() => shared_legend = true;
        theme(theme: Theme) => theme = theme;
    }

    pub fn to_svg(&self) -> String {
        self.draw(self.theme)
    }

    /// The figure as a PNG on white, whatever its theme; `scale` 2 or 3 is fit for print.
    #[cfg(feature = "raster")]
    pub fn to_png(&self, scale: f32) -> Result<Vec<u8>, PlotError> {
        png::render(&self.draw(Theme::Paper), scale)
    }

    /// The figure as a PDF of one page, fit for a paper: lines and text, no pixels.
    #[cfg(feature = "raster")]
    pub fn to_pdf(&self) -> Result<Vec<u8>, PlotError> {
        pdf::render(&self.draw(Theme::Paper), &self.name())
    }

    #[cfg(feature = "raster")]
    pub fn render(&self, format: Format) -> Result<Vec<u8>, PlotError> {
        match format {
            Format::Svg => Ok(self.to_svg().into_bytes()),
            Format::Png => self.to_png(2.0),
            Format::Pdf => self.to_pdf(),
        }
    }

    fn draw(&self, theme: Theme) -> String {
        let mut canvas = Canvas::new(theme);
        let looks = self.looks();
        let (columns, width) = (self.column_count(), self.width());
        let total = columns as f64 * (width + GAP) - GAP;
        let mut y = MARGIN + self.draw_heading(&mut canvas, total);
        for (k, row) in self.panels.chunks(columns).enumerate() {
            if k > 0 {
                y += GAP;
            }
            y += self.draw_row(&mut canvas, row, k * columns, y, &looks);
        }
        if self.panels.is_empty() {
            let area = Area::new(MARGIN, y, total, 0.4 * total);
            draw_no_data(&mut canvas, &area);
            y += area.h;
        }
        if self.shared_legend {
            y += self.draw_shared_legend(&mut canvas, Area::new(MARGIN, y, total, 1.0), &looks);
        }
        canvas.finish(total + 2.0 * MARGIN, y + MARGIN, &self.name())
    }

    /// The heading of several panels (one has its own title) and the height it takes.
    fn draw_heading(&self, canvas: &mut Canvas, total: f64) -> f64 {
        if self.panels.len() == 1 && self.panels.iter().any(|panel| !panel.title().is_empty()) {
            return 0.0;
        }
        let (size, line) = HEADING;
        let lines = wrap(&self.title, size, Weight::Bold, total, 3);
        let style = Type { weight: Weight::Bold, ..Type::new(size, Anchor::Middle) };
        for (k, text) in lines.iter().enumerate() {
            canvas.text((MARGIN + total / 2.0, MARGIN + line * (k as f64 + 0.7)), text, style);
        }
        if lines.is_empty() { 0.0 } else { line * lines.len() as f64 + 6.0 }
    }

    /// A row of panels, the first of them number `first`, and the height it takes.
    fn draw_row(&self, canvas: &mut Canvas, row: &[Panel], first: usize, y: f64, looks: &Looks) -> f64 {
        let (size, line) = TITLE;
        let width = self.width();
        let titles: Vec<Vec<String>> = (first..)
            .zip(row)
            .map(|(k, panel)| wrap(&self.caption(k, panel), size, Weight::Bold, width, 2))
            .collect();
        let most = titles.iter().map(Vec::len).max().unwrap_or(0);
        let above = if most == 0 { 0.0 } else { line * most as f64 + 5.0 };
        let height = row.iter().map(|panel| self.height_of(panel)).fold(0.0, f64::max);
        let style = Type { weight: Weight::Bold, ..Type::new(size, Anchor::Middle) };
        for (k, (panel, lines)) in row.iter().zip(&titles).enumerate() {
            let x = MARGIN + k as f64 * (width + GAP);
            // Titles of one line stand as near to their plot as titles of two.
            for (l, text) in lines.iter().enumerate() {
                let down = (most - lines.len() + l) as f64;
                canvas.text((x + width / 2.0, y + line * (down + 0.72)), text, style);
            }
            panel.draw(canvas, &Area::new(x, y + above, width, height), looks, !self.shared_legend);
        }
        above + height
    }

    fn draw_shared_legend(&self, canvas: &mut Canvas, area: Area, looks: &Looks) -> f64 {
        let mut entries = Vec::new();
        self.charts().for_each(|chart| chart.entries(looks, &mut entries));
        legend::draw_rows(canvas, &Area { y: area.y + 6.0, ..area }, &entries);
        legend::rows_height(&entries, area.w)
    }

    /// Looks that differ within each chart, or within the whole figure if it has one legend.
    fn looks(&self) -> Looks {
        if self.shared_legend {
            return Looks::new(&[self.charts().flat_map(|chart| &chart.series).collect()]);
        }
        Looks::new(&self.charts().map(|chart| chart.series.iter().collect()).collect::<Vec<_>>())
    }

    fn charts(&self) -> impl Iterator<Item = &Chart> {
        self.panels.iter().filter_map(|panel| match panel {
            Panel::Chart(chart) => Some(chart),
            _ => None,
        })
    }

    fn column_count(&self) -> usize {
        let by_default = match self.panels.len() {
            0 | 1 => 1,
            2 | 4 => 2,
            _ => 3,
        };
        self.columns.unwrap_or(by_default).clamp(1, self.panels.len().max(1))
    }

    fn width(&self) -> f64 {
        if self.panel_width.is_finite() { self.panel_width.clamp(180.0, 4000.0) } else { 500.0 }
    }

    fn height_of(&self, panel: &Panel) -> f64 {
        let wanted = self.panel_height.filter(|height| height.is_finite());
        wanted.unwrap_or_else(|| panel.height(self.width())).clamp(100.0, 12_000.0)
    }

    /// A panel's title after its letter, if there are several.
    fn caption(&self, k: usize, panel: &Panel) -> String {
        if self.panels.len() < 2 {
            return panel.title().to_owned();
        }
        let letter = match u8::try_from(k) {
            Ok(k) if k < 26 => char::from(b'a' + k).to_string(),
            _ => (k + 1).to_string(),
        };
        format!("({letter}) {}", panel.title())
    }

    fn name(&self) -> String {
        if !self.title.is_empty() {
            return self.title.clone();
        }
        let titles: Vec<&str> =
            self.panels.iter().map(Panel::title).filter(|title| !title.is_empty()).collect();
        if titles.is_empty() { "figure".to_owned() } else { titles.join("; ") }
    }
}

#[cfg(all(test, feature = "raster"))]
mod tests;
