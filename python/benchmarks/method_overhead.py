"""What a method in Python costs per node and round, beside the built-in one that it describes.

python benchmarks/method_overhead.py
"""

from __future__ import annotations

import time

import numpy as np

import prdo

ROUNDS, NODES = 400, 8


class GradientTracking(prdo.Method):
    """The guide's."""

    name, exchanges, network = "my-gt", 2, "doubly-stochastic"

    def start(self, x0):
        self.x, self.y, self.v = x0, np.zeros_like(x0), np.zeros_like(x0)

    def query(self):
        return prdo.gradient(self.x)

    def adapt(self, answer):
        change, self.v = answer - self.v, answer
        return self.y + change

    def mix(self, inbox):
        if inbox.exchange == 0:
            self.y = inbox.mix()
            return self.x - self.settings.step_size * self.y
        self.x = inbox.mix()


def microseconds(method: object, threads: int) -> float:
    run = prdo.Run(
        data="digits",
        graph={"kind": "ring", "nodes": NODES},
        rounds=ROUNDS,
        method={"name": method, "step_size": 0.3},
        batch={"size": 60},
        clip={"gradient": 1.0},
        privacy={"epsilon": 4, "delta": 1e-5},
    )
    started = time.perf_counter()
    run.train(progress=False, threads=threads)
    return 1e6 * (time.perf_counter() - started) / ROUNDS / NODES


if __name__ == "__main__":
    for threads in (1, 2):
        for method in ("gt", GradientTracking):
            best = min(microseconds(method, threads) for _ in range(3))
            print(f"{threads} threads, {method}: {best:.0f} µs per node and round")
