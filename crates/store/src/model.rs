//! `model.safetensors`: x̄ as `average` and each node's model as one row of `nodes`.

use safetensors::tensor::{Dtype, SafeTensors, TensorView, serialize};

/// The file's bytes.
pub fn write_models(average: &[f64], nodes: &[&[f64]]) -> Result<Vec<u8>, safetensors::SafeTensorError> {
    let bytes = |values: &[f64]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    let (average_bytes, node_bytes) =
        (bytes(average), nodes.iter().flat_map(|x| bytes(x)).collect::<Vec<u8>>());
    let average_view = TensorView::new(Dtype::F64, vec![average.len()], &average_bytes)?;
    let nodes_view = TensorView::new(Dtype::F64, vec![nodes.len(), average.len()], &node_bytes)?;
    let about = [("format".to_string(), "prdo model, version 1".to_string())];
    serialize([("average", average_view), ("nodes", nodes_view)], Some(about.into_iter().collect()))
}

/// The file of one node alone, which knows no average: its model as `model`.
pub fn write_model(model: &[f64]) -> Result<Vec<u8>, safetensors::SafeTensorError> {
    let bytes: Vec<u8> = model.iter().flat_map(|v| v.to_le_bytes()).collect();
    let view = TensorView::new(Dtype::F64, vec![model.len()], &bytes)?;
    let about = [("format".to_string(), "prdo node model, version 1".to_string())];
    serialize([("model", view)], Some(about.into_iter().collect()))
}

pub fn read_node_model(bytes: &[u8]) -> Result<Vec<f64>, safetensors::SafeTensorError> {
    Ok(floats(SafeTensors::deserialize(bytes)?.tensor("model")?.data()))
}

fn floats(bytes: &[u8]) -> Vec<f64> {
    bytes.as_chunks().0.iter().map(|number| f64::from_le_bytes(*number)).collect()
}

/// x̄ and each node's model from the file's bytes.
pub fn read_models(bytes: &[u8]) -> Result<(Vec<f64>, Vec<Vec<f64>>), safetensors::SafeTensorError> {
    let file = SafeTensors::deserialize(bytes)?;
    let average = floats(file.tensor("average")?.data());
    let nodes = floats(file.tensor("nodes")?.data());
    let rows = nodes.chunks(average.len().max(1)).map(<[f64]>::to_vec).collect();
    Ok((average, rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_come_back_to_the_bit() {
        let (average, nodes): (Vec<f64>, [&[f64]; 2]) =
            (vec![0.5, 0.1 + 0.2], [&[1.0, -0.0], &[0.0, 1e-300]]);
        let (a, n) = read_models(&write_models(&average, &nodes).unwrap()).unwrap();
        assert_eq!((a, n), (average, nodes.map(<[f64]>::to_vec).to_vec()));
        assert!(read_models(b"nonsense").is_err() && read_node_model(b"nonsense").is_err());
        assert_eq!(read_node_model(&write_model(&[0.1, -0.0]).unwrap()).unwrap(), [0.1, -0.0]);
    }
}
