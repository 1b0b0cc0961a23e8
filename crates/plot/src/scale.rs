//! How values become pixels.

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Equal steps.
    #[default]
    Linear,
    /// Equal factors; shows positive values only.
    Log,
}

/// Values beyond this count as not finite, so that differences never overflow.
const LARGEST: f64 = 1e300;

impl Scale {
    /// Where a value lies on this scale before it is stretched to pixels, or nothing if it cannot be shown.
    pub(super) fn place(self, value: f64) -> Option<f64> {
        if !value.is_finite() || value.abs() > LARGEST {
            return None;
        }
        match self {
            Self::Linear => Some(value),
            Self::Log => (value > 0.0).then(|| value.log10()),
        }
    }

    pub(super) fn value(self, place: f64) -> f64 {
        match self {
            Self::Linear => place,
            Self::Log => 10f64.powf(place),
        }
    }

    /// A range given by hand, if it can be shown.
    pub(super) fn range(self, (low, high): (f64, f64)) -> Option<(f64, f64)> {
        let (low, high) = (self.place(low)?, self.place(high)?);
        (high - low > 1e-9 * low.abs().max(high.abs())).then_some((low, high))
    }

    /// The range of some places with a margin of `share` of its length; a single place gets a range around
    /// it.
    pub(super) fn fit(self, places: impl Iterator<Item = f64>, share: f64) -> Option<(f64, f64)> {
        let (low, high) = places.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), p| (a.min(p), b.max(p)));
        if low > high {
            return None;
        }
        let span = high - low;
        if span <= 1e-9 * low.abs().max(high.abs()) {
            let half = match self {
                Self::Log => 0.5,
                Self::Linear if low == 0.0 => 1.0,
                Self::Linear => (0.1 * low.abs()).max(f64::MIN_POSITIVE * 1e6),
            };
            return Some((low - half, high + half));
        }
        let (mut from, mut to) = (low - share * span, high + share * span);
        if share == 0.0 {
            (from, to) = self.snap(low, high);
        }
        if self == Self::Linear {
            // A margin does not lead below zero what never is.
            if low >= 0.0 {
                from = from.max(0.0);
            }
            if high <= 0.0 {
                to = to.min(0.0);
            }
        }
        Some((from, to))
    }

    /// The range, stretched to the next tick where that is near.
    fn snap(self, low: f64, high: f64) -> (f64, f64) {
        let (Some(step), Self::Linear) = (nice_step(high - low, 6), self) else { return (low, high) };
        let (below, above) = ((low / step).floor() * step, (high / step).ceil() * step);
        let near = 0.025 * (high - low);
        (if low - below < near { below } else { low }, if above - high < near { above } else { high })
    }
}

/// The smallest of 1, 2 and 5 times a power of ten that takes at most `most` steps for `span`.
pub(super) fn nice_step(span: f64, most: usize) -> Option<f64> {
    let raw = span / most.max(1) as f64;
    if !(raw.is_finite() && raw > 0.0) {
        return None;
    }
    let power = 10f64.powi(raw.log10().floor() as i32);
    let step =
        [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * power).find(|&step| step >= raw * (1.0 - 1e-9))?;
    (step.is_finite() && step > 0.0).then_some(step)
}

/// A scale stretched over pixels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    pub(super) scale: Scale,
    /// The range, as places.
    pub(super) low: f64,
    pub(super) high: f64,
    /// The pixels of `low` and `high`.
    pub(super) from: f64,
    pub(super) to: f64,
}

impl Axis {
    /// The pixel of a value, or nothing if it cannot be shown; far outside the axis it is clamped.
    pub(super) fn pixel(&self, value: f64) -> Option<f64> {
        self.scale.place(value).map(|place| self.pixel_of(place))
    }

    pub(super) fn pixel_of(&self, place: f64) -> f64 {
        let share = ((place - self.low) / (self.high - self.low)).clamp(-50.0, 51.0);
        self.from + share * (self.to - self.from)
    }

    pub(super) fn holds(&self, place: f64) -> bool {
        let slack = 1e-9 * (self.high - self.low);
        place >= self.low - slack && place <= self.high + slack
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_shown_has_no_place() {
        for value in [f64::NAN, f64::INFINITY, f64::MAX, -f64::MAX] {
            assert_eq!(Scale::Linear.place(value), None);
        }
        assert_eq!(Scale::Log.place(0.0), None);
        assert_eq!(Scale::Log.place(-1.0), None);
        assert_eq!(Scale::Log.place(0.001), Some(-3.0));
    }

    #[test]
    fn a_constant_gets_a_range_around_it() {
        for value in [0.0, 5.0, -3.0, 1e299, 1e-320] {
            let range = Scale::Linear.fit([value; 3].into_iter(), 0.05);
            assert!(range.is_some_and(|(low, high)| low < value && value < high), "{value}: {range:?}");
        }
        assert_eq!(Scale::Log.fit([-3.0].into_iter(), 0.05), Some((-3.5, -2.5)));
        assert_eq!(Scale::Log.fit([].into_iter(), 0.05), None);
    }

    #[test]
    fn margins_stop_at_zero() {
        assert_eq!(Scale::Linear.fit([0.0, 10.0].into_iter(), 0.1), Some((0.0, 11.0)));
        assert_eq!(Scale::Linear.fit([-10.0, 0.0].into_iter(), 0.1), Some((-11.0, 0.0)));
    }

    #[test]
    fn an_axis_without_margin_ends_at_a_near_tick() {
        assert_eq!(Scale::Linear.fit([0.0, 1995.0].into_iter(), 0.0), Some((0.0, 2000.0)));
        assert_eq!(Scale::Linear.fit([1.0, 1700.0].into_iter(), 0.0), Some((0.0, 1700.0)));
    }

    #[test]
    fn ranges_by_hand_are_checked() {
        assert_eq!(Scale::Log.range((1e-3, 10.0)), Some((-3.0, 1.0)));
        assert_eq!(Scale::Log.range((0.0, 10.0)), None);
        assert_eq!(Scale::Linear.range((1.0, 1.0)), None);
        assert_eq!(Scale::Linear.range((f64::NAN, 1.0)), None);
    }
}
