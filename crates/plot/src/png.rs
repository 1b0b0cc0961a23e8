//! From SVG to PNG with the bundled fonts and no others.

use std::sync::{Arc, OnceLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb::Database};

use super::PlotError;
use super::font::{BOLD, FAMILY, REGULAR};

/// The longest side of a PNG, in pixels.
const MAX_SIDE: f32 = 20_000.0;

/// The bytes of a PNG that shows `svg`, every SVG pixel `scale` pixels wide.
pub(super) fn render(svg: &str, scale: f32) -> Result<Vec<u8>, PlotError> {
    if !(scale.is_finite() && scale > 0.0) {
        return Err(PlotError::Scale { scale });
    }
    let tree = parse(svg)?;
    let (w, h) = ((tree.size().width() * scale).ceil(), (tree.size().height() * scale).ceil());
    let too_large = PlotError::TooLarge { width: w, height: h };
    if w.max(h) > MAX_SIDE {
        return Err(too_large);
    }
    let mut pixmap = Pixmap::new(w as u32, h as u32).ok_or(too_large)?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixmap.as_mut());
    pixmap.encode_png().map_err(|error| PlotError::Encode(error.to_string()))
}

/// The SVG as a tree of shapes, its text set in the bundled fonts.
pub(super) fn parse(svg: &str) -> Result<Tree, PlotError> {
    let options = Options { font_family: FAMILY.to_owned(), fontdb: fonts(), ..Options::default() };
    Tree::from_str(svg, &options).map_err(|error| PlotError::Svg(error.to_string()))
}

fn fonts() -> Arc<Database> {
    static FONTS: OnceLock<Arc<Database>> = OnceLock::new();
    let load = || {
        let mut fonts = Database::new();
        fonts.load_font_data(REGULAR.to_vec());
        fonts.load_font_data(BOLD.to_vec());
        fonts.set_sans_serif_family(FAMILY);
        Arc::new(fonts)
    };
    FONTS.get_or_init(load).clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SVG: &str = r#"<svg xmlns="http://www.w3.org/2000/svg" width="30" height="20"><text x="2" y="15"
        font-family="&quot;DejaVu Sans&quot;" font-size="14">Aβ</text></svg>"#;

    #[test]
    fn the_png_has_the_scaled_size_and_shows_text() -> Result<(), PlotError> {
        let bytes = render(SVG, 2.0)?;
        let pixmap = Pixmap::decode_png(&bytes).map_err(|error| PlotError::Encode(error.to_string()))?;
        assert_eq!((pixmap.width(), pixmap.height()), (60, 40));
        assert!(pixmap.pixels().iter().any(|pixel| pixel.alpha() > 200));
        Ok(())
    }

    #[test]
    fn bad_input_is_an_error() {
        assert!(matches!(render(SVG, 0.0), Err(PlotError::Scale { .. })));
        assert!(matches!(render(SVG, f32::NAN), Err(PlotError::Scale { .. })));
        assert!(matches!(render(SVG, 1e6), Err(PlotError::TooLarge { .. })));
        assert!(matches!(render("<svg", 1.0), Err(PlotError::Svg(_))));
    }
}
