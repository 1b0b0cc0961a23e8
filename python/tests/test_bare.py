"""The package where only NumPy is installed."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import sys
for name in ("pandas", "sklearn", "tqdm", "tqdm.auto", "torch"):
    sys.modules[name] = None
import numpy as np
import prdo

result = prdo.Run(data="digits", graph={"kind": "ring", "nodes": 4}, rounds=5, method={"name": "ed", "step_size": 1.0}).train()
assert isinstance(result.metrics, dict) and list(result.metrics["round"]) == [0, 5]
X = np.random.default_rng(0).uniform(-1, 1, (200, 3))
y = np.where(X[:, 0] > 0, "a", "b")
model = prdo.PrivateLogisticRegression(epsilon=8, nodes=2, graph="complete", random_state=1)
assert model.fit(X, y).score(X, y) > 0.8 and model.get_params()["epsilon"] == 8
try:
    model.set_params(epsilom=1)
except prdo.InputError as error:
    assert "epsilon" in str(error)
else:
    raise AssertionError("a setting that there is not")
"""


def test_numpy_is_enough():
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
