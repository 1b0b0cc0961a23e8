"""What several tests use."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]

# Shells start what runs in the background deaf to Ctrl-C, and the tests of Ctrl-C would wait for ever.
signal.signal(signal.SIGINT, signal.default_int_handler)


def _command() -> str | None:
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    found = [os.environ.get("PRDO_COMMAND"), target / "release" / "prdo", target / "debug" / "prdo", shutil.which("prdo")]
    return next((str(path) for path in found if path and Path(path).is_file()), None)


@pytest.fixture(scope="session")
def command() -> Any:
    """Runs the `prdo` command and gives its JSON, or skips where it is not built."""
    path = _command()
    if path is None:
        pytest.skip("the prdo command is not built: cargo build --release, or set PRDO_COMMAND")

    def run(*arguments: object, expect: int = 0) -> Any:
        done = subprocess.run([path, *map(str, arguments)], capture_output=True, text=True, check=False)
        assert done.returncode == expect, done.stderr
        return json.loads(done.stdout) if "--json" in arguments and expect == 0 else done.stderr

    return run


@pytest.fixture()
def blobs() -> tuple[np.ndarray, np.ndarray]:
    """Two clouds that a line parts."""
    random = np.random.default_rng(7)
    y = random.integers(0, 2, 400)
    x = random.normal(size=(400, 3)) + 2.0 * (2 * y[:, None] - 1) / np.sqrt(3)
    return np.clip(x / 4, -1, 1), y


PRIVATE: dict[str, Any] = {
    "graph": {"kind": "ring", "nodes": 4},
    "rounds": 20,
    "method": {"name": "prdo", "step_size": 0.5, "gamma": 0.2},
    "batch": {"size": 20},
    "clip": {"gradient": 1.0, "difference": 0.2},
    "privacy": {"epsilon": 4, "delta": 1e-5},
    "metrics": {"every": 5},
}
