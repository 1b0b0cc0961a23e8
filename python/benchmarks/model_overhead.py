"""What it costs to call a Python function for gradients: logistic regression built in and as a NumPy function, and a
function that returns gradients made before, which is the cost of the calls themselves.

    python benchmarks/model_overhead.py
"""

from __future__ import annotations

import time

import numpy as np
import prdo

NODES, RECORDS, FEATURES, ROUNDS = 4, 4096, 100, 4


def logistic(x: np.ndarray, X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    sign = 2 * y - 1
    A = np.column_stack([X, np.ones(len(X))])
    margin = sign * (A @ x)
    losses = np.logaddexp(0, -margin)
    return losses, (-sign * np.exp(-margin - losses))[:, None] * A


class Counted:
    """A function and how often it was called, for how long."""

    def __init__(self, function) -> None:
        self.function, self.calls, self.records, self.seconds = function, 0, 0, 0.0

    def __call__(self, x, X, y):
        started = time.perf_counter()
        answer = self.function(x, X, y)
        self.seconds += time.perf_counter() - started
        self.calls += 1
        self.records += len(X)
        return answer


def train(data, model, dimension: int) -> tuple[float, int]:
    run = prdo.Run(
        data=data,
        model=model,
        set={"data.test": 0},
        graph={"kind": "ring", "nodes": NODES},
        rounds=ROUNDS,
        method={"name": "ed", "step_size": 0.1},
        clip={"gradient": 1.0},
        privacy={"noise_multiplier": 1.0, "delta": 1e-5},
        metrics={"every": ROUNDS, "records": 1},
    )
    started = time.perf_counter()
    result = run.train(progress=False, threads=1)
    return time.perf_counter() - started, result.summary["gradient_evaluations"]


def main() -> None:
    random = np.random.default_rng(1)
    X = random.uniform(-1, 1, (NODES * RECORDS, FEATURES))
    data = X, (X[:, 0] > 0).astype(int)
    built_in = min(train(data, {"kind": "logistic", "regularization": 0}, FEATURES + 1)[0] for _ in range(3))
    records = NODES * RECORDS * ROUNDS
    print(f"one thread, {records} gradients of {FEATURES + 1} parameters; microseconds a gradient")
    print(f"built in:                        {1e6 * built_in / records:8.2f}")
    for group in (1, 8, 32, 63):
        ready = np.zeros((63, FEATURES + 1), np.float32), np.zeros(63)
        for name, function in (("NumPy", logistic), ("empty", lambda x, X, y: (ready[1][: len(X)], ready[0][: len(X)]))):
            best = None
            for _ in range(3):
                counted = Counted(function)
                model = prdo.PythonModel(FEATURES + 1, counted, group=group, check=False)
                seconds, _ = train(data, model, FEATURES + 1)
                outside = seconds - counted.seconds
                if best is None or seconds < best[0]:
                    best = seconds, outside, counted.calls, counted.records
            seconds, outside, calls, seen = best
            print(
                f"{name} function, {group:2d} records a call: {1e6 * seconds / seen:8.2f} "
                f"of which outside the function {1e6 * outside / seen:6.2f} ({1e6 * outside / calls:6.1f} a call)"
            )


if __name__ == "__main__":
    main()
