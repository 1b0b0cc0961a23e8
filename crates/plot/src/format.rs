//! The files a figure can be written as.

use std::path::Path;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Shapes, for web pages and for editing.
    Svg,
    /// Pixels, two for each of the figure's.
    Png,
    /// Shapes, for papers.
    Pdf,
}

impl Format {
    pub const ALL: [Self; 3] = [Self::Svg, Self::Png, Self::Pdf];

    /// How a file's name ends.
    pub fn ending(self) -> &'static str {
        match self {
            Self::Svg => "svg",
            Self::Png => "png",
            Self::Pdf => "pdf",
        }
    }

    /// What a file's name asks for; nothing if it ends otherwise.
    pub fn of(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?.to_ascii_lowercase();
        Self::ALL.into_iter().find(|format| format.ending() == ending)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_decides() {
        for format in Format::ALL {
            assert_eq!(Format::of(Path::new(&format!("a.b/c.{}", format.ending()))), Some(format));
        }
        assert_eq!(Format::of(Path::new("c.PDF")), Some(Format::Pdf));
        assert_eq!(Format::of(Path::new("pdf")), None);
        assert_eq!(Format::of(Path::new("c.csv")), None);
    }
}
