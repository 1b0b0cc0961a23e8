//! What came out, as it stands in `results.json`.

use super::{Contestant, Curve};
use crate::statistics;
use prdo::algorithm::Method;
use prdo::simulator::Row;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value as Json};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Results {
    pub full_batch: FullBatch,
    pub minibatch: Minibatch,
    pub quick: bool,
    pub seconds: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FullBatch {
    pub final_grad_norm: ByMethod<Option<f64>>,
    pub prdo_vs_ed_max_relative: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Minibatch {
    pub streams: u64,
    /// Means over the streams.
    pub late_grad_norm: ByMethod<f64>,
    pub late_grad_norm_by_stream: ByMethod<Vec<f64>>,
    /// Over the best of the other methods.
    pub prdo_over_best_baseline: f64,
}

impl FullBatch {
    pub(super) fn of(curves: &[Curve], prdo_vs_ed_max_relative: f64) -> Self {
        let last = |curve: &Curve| (curve.of, curve.rows.last().map(|row| row.grad_norm));
        Self { final_grad_norm: ByMethod(curves.iter().map(last).collect()), prdo_vs_ed_max_relative }
    }
}

impl Minibatch {
    pub(super) fn of(contestants: &[Contestant], curves: &[Curve], streams: u64) -> Self {
        let of = |of: &Contestant| {
            let own = curves.iter().filter(|curve| curve.of == *of);
            (*of, own.map(|curve| late(&curve.rows)).collect::<Vec<f64>>())
        };
        let by_stream: Vec<(Contestant, Vec<f64>)> = contestants.iter().map(of).collect();
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let means = ByMethod(by_stream.iter().map(|(of, values)| (*of, mean(values))).collect());
        let baselines = means.0.iter().filter(|(of, _)| of.method != Method::Prdo);
        let best = baselines.map(|(_, norm)| *norm).fold(f64::INFINITY, f64::min);
        Self {
            streams,
            prdo_over_best_baseline: means.get(Contestant::plain(Method::Prdo)).copied().unwrap_or(f64::NAN)
                / best,
            late_grad_norm: means,
            late_grad_norm_by_stream: ByMethod(by_stream),
        }
    }
}

/// Mean of ‖∇f(x̄)‖ over the last sixth of the rounds.
pub(super) fn late(rows: &[Row]) -> f64 {
    statistics::late(rows, |row| Some(row.grad_norm)).unwrap_or(f64::NAN)
}

/// Something of each contestant: in files an object with their names.
#[derive(Clone, Debug, PartialEq)]
pub struct ByMethod<T>(Vec<(Contestant, T)>);

impl<T> ByMethod<T> {
    pub fn get(&self, of: Contestant) -> Option<&T> {
        self.0.iter().find(|(own, _)| *own == of).map(|(_, value)| value)
    }
}

impl<T: Serialize> Serialize for ByMethod<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(of, value)| (of.name(), value)))
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for ByMethod<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let one = |(name, value): (String, Json)| {
            let of = name.parse().map_err(D::Error::custom)?;
            Ok((of, serde_json::from_value(value).map_err(D::Error::custom)?))
        };
        Map::deserialize(deserializer)?.into_iter().map(one).collect::<Result<_, _>>().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_results_are_read_and_written_back_unchanged() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/results/figure-1/results.json");
        let text = std::fs::read_to_string(file).unwrap();
        let results: Results = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_string_pretty(&results).unwrap() + "\n", text);
    }
}
