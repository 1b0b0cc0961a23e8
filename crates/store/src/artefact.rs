//! Reading a JSON artefact: strictly, or as far as it goes.
//!
//! Every field of an artefact has a default, so that files of earlier versions can be read. What has the wrong type is an
//! error that names the field, or is left out and listed.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

#[derive(Debug, thiserror::Error)]
pub enum Damage {
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    #[error("not an object")]
    NotObject,
    #[error("{0}")]
    Field(FieldDamage),
}

/// A field of the wrong type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {problem}")]
pub struct FieldDamage {
    pub field: String,
    pub problem: String,
}

pub fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Damage> {
    let (artefact, damaged) = salvage(bytes)?;
    match damaged.into_iter().next() {
        Some(field) => Err(Damage::Field(field)),
        None => Ok(artefact),
    }
}

/// As much of the artefact as can be read, and the fields that cannot.
pub fn salvage<T: DeserializeOwned>(bytes: &[u8]) -> Result<(T, Vec<FieldDamage>), Damage> {
    let value: Value = serde_json::from_slice(bytes)?;
    if let (true, Ok(artefact)) = (value.is_object(), T::deserialize(&value)) {
        return Ok((artefact, Vec::new()));
    }
    let Value::Object(mut fields) = value else { return Err(Damage::NotObject) };
    let mut damaged = Vec::new();
    // All other fields have defaults: alone with one field, only that one can be wrong.
    let problem = |key: &String, value: &Value| {
        let alone = Map::from_iter([(key.clone(), value.clone())]);
        serde_json::from_value::<T>(alone.into()).err().map(|error| error.to_string())
    };
    fields.retain(|key, value| match problem(key, value) {
        Some(problem) => {
            damaged.push(FieldDamage { field: key.clone(), problem });
            false
        }
        None => true,
    });
    Ok((serde_json::from_value(fields.into())?, damaged))
}

pub fn line<T: Serialize>(artefact: &T) -> String {
    json!(artefact).to_string()
}

pub fn text<T: Serialize>(artefact: &T) -> String {
    format!("{:#}\n", json!(artefact))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Summary;

    #[test]
    fn a_wrong_type_is_named_and_the_rest_is_read() {
        let text = br#"{"finished": true, "records": "many", "seconds": 2.5, "of_a_later_version": []}"#;
        let (summary, damaged) = salvage::<Summary>(text).unwrap();
        assert!(summary.finished && summary.seconds == Some(2.5) && summary.records.is_none());
        assert_eq!(damaged.len(), 1);
        let said = parse::<Summary>(text).unwrap_err().to_string();
        assert!(said.starts_with("records: invalid type: string \"many\""), "{said}");
        assert_eq!(parse::<Summary>(b"[1]").unwrap_err().to_string(), "not an object");
        assert!(parse::<Summary>(b"{").is_err());
    }
}
