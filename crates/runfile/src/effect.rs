//! Which settings a run does not read: for warnings, and for run files that are written back.

use crate::data::{DataSource, Generated, GeneratedLaw};
use crate::model::{is_parameter, reads_parameter};
use crate::model_kind::{ModelKind, StartLaw};
use crate::parameters;
use crate::partition::PartitionKind;
use crate::run_file::RunFile;
use crate::schema::Key;

/// Why a run does not read a setting.
pub(crate) struct Unread {
    /// The key that decides it: where that is swept, the setting may be meant for another of its values.
    decided_by: Key,
    /// In words; `None` where it is not worth a warning.
    why: Option<String>,
}

impl RunFile {
    /// Why a run of this kind of model does not read `key`; `None` if it does.
    pub(crate) fn unread(&self, key: Key, model: ModelKind) -> Option<Unread> {
        let source = self.data.source.as_ref();
        let generated = self.data.is_generated();
        let law = source.and_then(|source| match source {
            DataSource::Generated(Generated { law, .. }) => Some(law),
            DataSource::Digits | DataSource::File | DataSource::Memory => None,
        });
        let source = source.map_or("", DataSource::name);
        let of_model = || {
            let why =
                format!("model.kind = {:?} with data.source = {source:?} does not read it", model.name());
            (Key::ModelKind, Some(why))
        };
        let of_generated = || {
            let why = format!("it is about generated records, and data.source = {source:?}");
            (Key::DataSource, Some(why))
        };
        let of_partition = || {
            let kind = self.partition.kind.map_or("", |kind| kind.name());
            (Key::PartitionKind, Some(format!("partition.kind = {kind:?} does not read it")))
        };
        let start = self.model.start_law(model);
        let (unread, reason): (bool, &dyn Fn() -> (Key, Option<String>)) = match key {
            key if is_parameter(key) => (!reads_parameter(model, key), &of_model),
            Key::ModelIntercept => (!model.has_optional_intercept() || generated, &of_model),
            Key::ModelStartDeviation => (start != StartLaw::Normal, &|| {
                (Key::ModelStart, Some("model.start is not \"normal\"".to_string()))
            }),
            Key::ModelStartSeed => (start == StartLaw::Zeros, &|| (Key::ModelStart, None)),
            Key::DataRecords | Key::DataDimension | Key::DataHeterogeneity => (!generated, &of_generated),
            Key::DataSeed => (!generated, &|| (Key::DataSource, None)),
            Key::DataBound => {
                (!matches!(law, Some(GeneratedLaw::Coefficients { .. })), &|| (Key::DataSource, None))
            }
            Key::DataSpread => {
                (!matches!(law, Some(GeneratedLaw::Blobs { .. })), &|| (Key::DataSource, None))
            }
            Key::PartitionConcentration => {
                (!matches!(self.partition.kind, Some(PartitionKind::Dirichlet { .. })), &of_partition)
            }
            Key::PartitionShards => {
                (!matches!(self.partition.kind, Some(PartitionKind::Shards { .. })), &of_partition)
            }
            Key::PrivacyColluders | Key::PrivacyRatio | Key::PrivacySecrets => {
                let pairs = self.privacy.as_ref().is_some_and(|privacy| privacy.pairs.is_some());
                (!pairs, &|| (Key::PrivacyNoise, Some("privacy.noise is not \"pairs\"".to_string())))
            }
            Key::MethodParameter(place) => {
                let method = self.method.name?;
                let why = Some(format!("{method} does not read it"));
                if !parameters::is_read(method, place) {
                    return Some(Unread { decided_by: Key::MethodName, why });
                }
                let (decided_by, needed) = parameters::condition(method, place)?;
                let decided_by = Key::named(&decided_by)?;
                let given = self.document.text(decided_by).unwrap_or_default();
                let why = Some(format!("{decided_by} = {given:?}"));
                return (given != needed).then_some(Unread { decided_by, why });
            }
            _ => return None,
        };
        unread.then(|| {
            let (decided_by, why) = reason();
            Unread { decided_by, why }
        })
    }

    /// Which keys were typed without effect on a run of this kind of model, and why. One that is meant for some values of
    /// a sweep is not named.
    pub fn without_effect(&self, model: ModelKind) -> Vec<String> {
        let said = |key: &Key| {
            let Unread { decided_by, why } = self.unread(*key, model)?;
            let meant = !self.has(*key) || self.document.is_swept(decided_by);
            why.filter(|_| !meant).map(|why| format!("{key} has no effect: {why}"))
        };
        Key::all().iter().filter_map(said).collect()
    }
}
