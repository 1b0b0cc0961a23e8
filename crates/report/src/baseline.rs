//! What always predicting the majority class gets right: the figure that an accuracy has to beat.

use crate::comparison::ComparisonReport;
use crate::groups::Group;
use crate::statistics::says_little;
use crate::style::percent;

pub(crate) fn line_label(share: f64) -> String {
    format!("always predicting the majority class: {}", percent(share))
}

impl Group<'_> {
    /// The mean share of the most common class among the held-out records of these runs.
    pub(crate) fn most_common_class(&self) -> Option<f64> {
        self.spread(|cell| cell.most_common_class).map(|spread| spread.mean)
    }

    /// Whether the mean accuracy hardly exceeds that share.
    pub(crate) fn accuracy_says_little(&self) -> bool {
        let pair = self.accuracy().zip(self.most_common_class());
        pair.is_some_and(|(accuracy, common)| says_little(accuracy.mean, common))
    }

    fn is_no_better(&self) -> bool {
        let pair = self.accuracy().zip(self.most_common_class());
        pair.is_some_and(|(accuracy, common)| accuracy.mean <= common)
    }
}

impl ComparisonReport {
    /// The least and the largest share of the most common class: runs may have other held-out records.
    fn baselines(&self) -> Option<(f64, f64)> {
        let shares = || self.cells.iter().filter_map(|cell| cell.most_common_class);
        shares().reduce(f64::min).zip(shares().reduce(f64::max))
    }

    /// The share of the most common class, if it is the same for all runs as far as a chart can show.
    pub(crate) fn baseline(&self) -> Option<f64> {
        self.baselines().filter(|(least, most)| most - least < 5e-4).map(|(least, _)| least)
    }

    /// The same for people, be it one share or several.
    pub(crate) fn baseline_shown(&self) -> Option<String> {
        let (least, most) = self.baselines()?;
        let (least, most) = (percent(least), percent(most));
        Some(if least == most { least } else { format!("{least} to {most}") })
    }

    /// Which methods are no better than that, in a sentence.
    pub(crate) fn no_better(&self) -> Option<String> {
        let shown = self.baseline_shown()?;
        let groups = self.groups();
        let names: Vec<&str> =
            groups.iter().filter(|group| group.is_no_better()).map(|group| group.name.as_str()).collect();
        let who = match names.as_slice() {
            [] => return None,
            all if all.len() == groups.len() => "No method is better".to_string(),
            [one] => format!("{one} is no better"),
            several => format!("{} are no better", several.join("; ")),
        };
        Some(format!("{who} than always predicting the majority class ({shown})."))
    }
}
