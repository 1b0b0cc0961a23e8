//! `[batch]` and `[clip]`: how many records a round, and what one of them can contribute.

use crate::document::Document;
use crate::names::SAMPLINGS;
use crate::schema::Key;
use prdo_privacy::Sampling;

#[derive(Clone, Copy, Debug)]
pub struct BatchSection {
    /// b.
    pub size: Option<usize>,
    /// b₀.
    pub first: Option<usize>,
    pub sampling: Option<Sampling>,
}

impl BatchSection {
    pub(crate) fn of(document: &Document) -> Self {
        let sampling = document.text(Key::BatchSampling);
        Self {
            size: document.count(Key::BatchSize),
            first: document.count(Key::BatchFirst),
            sampling: sampling.and_then(|name| Some(SAMPLINGS.iter().find(|(known, _)| *known == name)?.1)),
        }
    }

    /// How batches are drawn: as given, by Poisson where privacy is promised, otherwise so many or all.
    pub fn sampling(&self, private: bool) -> Sampling {
        self.sampling.unwrap_or(match (private, self.size) {
            (true, _) => Sampling::Poisson,
            (false, Some(_)) => Sampling::WithoutReplacement,
            (false, None) => Sampling::Full,
        })
    }
}

#[derive(Clone, Copy, Debug)]
pub struct ClipSection {
    /// C_g.
    pub gradient: Option<f64>,
    /// C_Δ.
    pub difference: Option<f64>,
}

impl ClipSection {
    pub(crate) fn of(document: &Document) -> Self {
        Self { gradient: document.float(Key::ClipGradient), difference: document.float(Key::ClipDifference) }
    }
}
