"""Holds exported ONNX files against prdo's own scores: `check_onnx.py FOLDER`, the folder that
`cargo run --example onnx -- FOLDER` wrote. Needs numpy, onnxruntime and onnx."""
import pathlib
import sys

import numpy as np
import onnx
import onnxruntime

folder = pathlib.Path(sys.argv[1])
files = sorted(folder.glob("*.onnx"))
assert len(files) >= 4, f"{folder} holds {len(files)} models"
for path in files:
    onnx.checker.check_model(str(path), full_check=True)
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    (given,), (wanted,) = session.get_inputs(), session.get_outputs()
    assert (given.name, wanted.name) == ("input", "scores"), (given.name, wanted.name)
    records = np.fromfile(path.with_suffix(".input"), np.float32).reshape(-1, *given.shape[1:])
    expected = np.fromfile(path.with_suffix(".scores"), np.float32).reshape(len(records), -1)
    found = session.run(None, {"input": records})[0]
    assert found.shape == expected.shape, (found.shape, expected.shape)
    error = np.abs(found - expected).max() / np.abs(expected).max()
    print(f"{path.name}: {len(records)} records, largest difference {error:.1e} of the largest score")
    assert error < 2e-5, path
    one = session.run(None, {"input": records[:1]})[0]
    assert np.allclose(one[0], found[0], atol=1e-5), "a record's scores depend on the others"
