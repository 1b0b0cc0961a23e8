"""Exact Diffusion of figure 1, full batch, in NumPy (float64).

32 nodes on a ring, 2000 records a node, 20 features, 600 rounds, step 1; the norm of the
full gradient at the average model is recorded every round. Prints the fastest of several
ways to vectorise a round, one after the other on the same data.
"""

import time

PROCESS_START = time.perf_counter()

import argparse
import json

import numpy as np

REGULARIZATION = 0.001


def generate(nodes, records, dimension, heterogeneity, seed):
    """The paper's law: teacher + node perturbation, Bernoulli labels."""
    rng = np.random.default_rng(seed)
    teacher = rng.standard_normal(dimension)
    shift = np.sqrt(heterogeneity) * rng.standard_normal((nodes, dimension))
    features = rng.standard_normal((nodes, records, dimension))
    margin = np.matmul(features, (teacher + shift)[:, :, None])[:, :, 0]
    positive = rng.random((nodes, records)) < 1.0 / (1.0 + np.exp(-margin))
    return features, np.where(positive, 1.0, -1.0)


def regularizer_gradient(x):
    return 2.0 * REGULARIZATION * x / (1.0 + x * x) ** 2


def residuals(margins):
    """-sigmoid(-m) in place; exp may overflow to inf, which gives the right limit 0."""
    np.exp(margins, out=margins)
    margins += 1.0
    np.divide(-1.0, margins, out=margins)
    return margins


class Batched:
    """One matmul over all nodes; records in rows."""

    def __init__(self, signed):
        self.rows = signed
        self.flat = signed.reshape(-1, signed.shape[2])
        self.margins = np.empty(signed.shape[:2] + (1,))
        self.flat_margins = np.empty(len(self.flat))

    def gradients(self, x):
        np.matmul(self.rows, x[:, :, None], out=self.margins)
        weights = residuals(self.margins).transpose(0, 2, 1)
        g = np.matmul(weights, self.rows)[:, 0, :]
        g /= self.rows.shape[1]
        return g + regularizer_gradient(x)

    def gradient_at(self, x):
        np.matmul(self.flat, x, out=self.flat_margins)
        g = residuals(self.flat_margins) @ self.flat
        g /= len(self.flat)
        return g + regularizer_gradient(x)


class BatchedColumns:
    """One matmul over all nodes; features in rows, so that every inner loop is long."""

    def __init__(self, signed):
        self.columns = np.ascontiguousarray(signed.transpose(0, 2, 1))
        self.flat = np.ascontiguousarray(signed.reshape(-1, signed.shape[2]).T)
        self.margins = np.empty((signed.shape[0], 1, signed.shape[1]))
        self.flat_margins = np.empty(self.flat.shape[1])

    def gradients(self, x):
        np.matmul(x[:, None, :], self.columns, out=self.margins)
        weights = residuals(self.margins).transpose(0, 2, 1)
        g = np.matmul(self.columns, weights)[:, :, 0]
        g /= self.columns.shape[2]
        return g + regularizer_gradient(x)

    def gradient_at(self, x):
        np.matmul(x, self.flat, out=self.flat_margins)
        g = self.flat @ residuals(self.flat_margins)
        g /= self.flat.shape[1]
        return g + regularizer_gradient(x)


class Einsum(Batched):
    """As Batched, with einsum."""

    def gradients(self, x):
        margins = self.margins[:, :, 0]
        np.einsum("nrd,nd->nr", self.rows, x, out=margins)
        g = np.einsum("nrd,nr->nd", self.rows, residuals(margins))
        g /= self.rows.shape[1]
        return g + regularizer_gradient(x)


class Loop(Batched):
    """A loop over nodes, two BLAS matrix-vector products each: a node's data stay in cache.

    The gradient at the average is taken node by node for the same reason."""

    def gradients(self, x):
        g = np.empty_like(x)
        margins = self.flat_margins[: self.rows.shape[1]]
        for node, rows in enumerate(self.rows):
            np.matmul(rows, x[node], out=margins)
            np.matmul(residuals(margins), rows, out=g[node])
        g /= self.rows.shape[1]
        return g + regularizer_gradient(x)

    def gradient_at(self, x):
        g = np.zeros_like(x)
        margins = self.flat_margins[: self.rows.shape[1]]
        for rows in self.rows:
            np.matmul(rows, x, out=margins)
            g += residuals(margins) @ rows
        g /= len(self.flat)
        return g + regularizer_gradient(x)


class LoopColumns(BatchedColumns):
    """As Loop, features in rows."""

    def gradients(self, x):
        g = np.empty_like(x)
        margins = self.flat_margins[: self.columns.shape[2]]
        for node, columns in enumerate(self.columns):
            np.matmul(x[node], columns, out=margins)
            np.matmul(columns, residuals(margins), out=g[node])
        g /= self.columns.shape[2]
        return g + regularizer_gradient(x)

    def gradient_at(self, x):
        g = np.zeros_like(x)
        margins = self.flat_margins[: self.columns.shape[2]]
        for columns in self.columns:
            np.matmul(x, columns, out=margins)
            g += columns @ residuals(margins)
        g /= self.flat.shape[1]
        return g + regularizer_gradient(x)


class Plain:
    """As one writes it at first: node by node, no buffers, a sigmoid without overflow."""

    def __init__(self, signed):
        self.nodes = list(signed)

    def node_gradient(self, rows, x):
        m = rows @ x
        small = np.exp(-np.abs(m))
        weights = np.where(m >= 0, small / (1.0 + small), 1.0 / (1.0 + small))
        return -(weights[:, None] * rows).mean(axis=0) + regularizer_gradient(x)

    def gradients(self, x):
        return np.stack([self.node_gradient(rows, x[node]) for node, rows in enumerate(self.nodes)])

    def gradient_at(self, x):
        return np.mean([self.node_gradient(rows, x) for rows in self.nodes], axis=0)


KERNELS = {
    "plain": Plain,
    "batched": Batched,
    "batched-columns": BatchedColumns,
    "einsum": Einsum,
    "loop": Loop,
    "loop-columns": LoopColumns,
}


def mix(x):
    """W x on the ring with the paper's weights."""
    return 0.5 * x + 0.25 * (np.roll(x, 1, axis=0) + np.roll(x, -1, axis=0))


def exact_diffusion(kernel, nodes, dimension, rounds, step):
    x = np.zeros((nodes, dimension))
    previous = x
    norms = np.empty(rounds)
    with np.errstate(over="ignore"):
        for t in range(rounds):
            y = x - step * kernel.gradients(x)
            x = mix(y + x - previous)
            previous = y
            norms[t] = np.linalg.norm(kernel.gradient_at(x.mean(axis=0)))
    return norms


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=32)
    parser.add_argument("--records", type=int, default=2000)
    parser.add_argument("--dimension", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kernel", choices=KERNELS, help="default: try all")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()

    features, labels = generate(args.nodes, args.records, args.dimension, 0.2, args.seed)
    signed = labels[:, :, None] * features
    results = {}
    for name in [args.kernel] if args.kernel else KERNELS:
        kernel = KERNELS[name](signed)
        for _ in range(args.repeats):
            start = time.perf_counter()
            norms = exact_diffusion(kernel, args.nodes, args.dimension, args.rounds, 1.0)
            seconds = time.perf_counter() - start
            best = results.get(name, {"loop_seconds": seconds})
            results[name] = {
                "loop_seconds": min(seconds, best["loop_seconds"]),
                "gradient_norm": float(norms[-1]),
            }
    fastest = min(results, key=lambda name: results[name]["loop_seconds"])
    report = {
        "kernels": results,
        "fastest": fastest,
        "loop_seconds": results[fastest]["loop_seconds"],
        "gradient_norm": results[fastest]["gradient_norm"],
        "process_seconds": time.perf_counter() - PROCESS_START,
    }
    if args.json:
        print(json.dumps(report))
        return
    for name, result in results.items():
        print(f"{name:16} loop {result['loop_seconds']:7.3f} s   gradient norm {result['gradient_norm']:.3e}")
    print(f"fastest: {fastest}; whole process {report['process_seconds']:.3f} s")


if __name__ == "__main__":
    main()
