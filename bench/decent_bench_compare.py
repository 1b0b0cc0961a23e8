"""Exact Diffusion on a ring in decent-bench 0.3: logistic regression, 20 features.

Three times are printed for each setting: `rounds` is the algorithm's own run, `call` the whole
`benchmark()` call (which copies the network first), `process` everything from the start of Python.
No metric is computed and agents keep only their last state.
"""

import time

PROCESS_START = time.perf_counter()

import argparse
import json
import logging

import networkx as nx
import numpy as np
from decent_array import interoperability as iop
from decent_array.types import Devices, Frameworks
from decent_bench import benchmark as db
from decent_bench.agents import Agent
from decent_bench.algorithms.p2p import ED
from decent_bench.costs import FractionalQuadraticRegularizerCost, LogisticRegressionCost
from decent_bench.networks import P2PNetwork

SETTINGS = {
    # name: nodes, records, batch, rounds
    "ed-full": (32, 2000, "all", 600),
    "ed-batch16": (32, 2000, 16, 600),
    "ed-1000-nodes": (1000, 100, 16, 100),
}
DIMENSION = 20
HETEROGENEITY = 0.2


class TimedED(ED):
    """Notes when the rounds begin: what comes before them in the call is the copy of the network."""

    began = None

    def initialize(self, network):
        TimedED.began = time.perf_counter()
        super().initialize(network)


def problem(nodes, records, batch, rounds, regularizer, seed):
    rng = np.random.default_rng(seed)
    teacher = rng.standard_normal(DIMENSION)
    agents, data = [], []
    for _ in range(nodes):
        shift = np.sqrt(HETEROGENEITY) * rng.standard_normal(DIMENSION)
        features = rng.standard_normal((records, DIMENSION))
        chance = 1.0 / (1.0 + np.exp(-features @ (teacher + shift)))
        labels = (rng.random(records) < chance).astype(float)
        data.append((features, labels))
        dataset = [(iop.from_numpy(a), iop.from_numpy(y)) for a, y in zip(features, labels[:, None])]
        cost = LogisticRegressionCost(dataset=dataset, batch_size=batch)
        if regularizer:
            cost = cost + 0.001 * FractionalQuadraticRegularizerCost((DIMENSION,))
        agents.append(Agent(cost, state_snapshot_period=rounds))
    network = P2PNetwork(nx.cycle_graph(nodes), agents)
    # ED mixes with (I + W) / 2: this W makes it the paper's weights, 1/2 and 1/4.
    network.W = iop.from_numpy(nx.to_numpy_array(nx.cycle_graph(nodes)) / 2.0)
    return network, data


def gradient_norm(network, data, regularizer):
    x = np.mean([iop.to_numpy(agent.x) for agent in network.agents()], axis=0)
    g = np.mean(
        [a.T @ (1.0 / (1.0 + np.exp(-a @ x)) - y) / len(y) for a, y in data], axis=0
    )
    if regularizer:
        g += 0.002 * x / (1.0 + x * x) ** 2
    return float(np.linalg.norm(g))


def run(name, regularizer, seed):
    nodes, records, batch, rounds = SETTINGS[name]
    network, data = problem(nodes, records, batch, rounds, regularizer, seed)
    algorithm = TimedED(step_size=1.0)
    start = time.perf_counter()
    result = db.benchmark(
        [algorithm], db.BenchmarkProblem(network=network), rounds, n_trials=1, max_processes=1
    )
    end = time.perf_counter()
    return {
        "setting": name,
        "rounds_seconds": end - TimedED.began,
        "call_seconds": end - start,
        "process_seconds": time.perf_counter() - PROCESS_START,
        "gradient_norm": gradient_norm(result.states[algorithm][0], data, regularizer),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("setting", choices=SETTINGS, help="one setting a process")
    parser.add_argument("--regularizer", action="store_true", help="with the paper's regulariser")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    db.configure(Frameworks.NUMPY, Devices.CPU, seed=args.seed, log_level=logging.ERROR)
    report = run(args.setting, args.regularizer, args.seed)
    if args.json:
        print(json.dumps(report))
    else:
        print(
            f"{report['setting']}: rounds {report['rounds_seconds']:.2f} s, "
            f"call {report['call_seconds']:.2f} s, process {report['process_seconds']:.2f} s, "
            f"gradient norm {report['gradient_norm']:.3e}"
        )


if __name__ == "__main__":
    main()
