"""Measures or checks one peer in this process, and prints one JSON object. compare.py starts it, afresh for each peer.

    measure_one.py NAME --threads K --records B --seconds S --repeats R       times it
    measure_one.py NAME --threads K --records B --save FILE.npy               writes its noiseless sum instead
"""

import argparse
import importlib
import json
import os
import resource
import statistics
import sys
import time

# name: (module, function, the query it answers, title)
PEERS = {
    "torch": ("torch_peers", "no_privacy", "none", "torch, no privacy"),
    "opacus-hooks": ("torch_peers", "opacus_hooks", "plain", "Opacus, hooks"),
    "opacus-ghost": ("torch_peers", "opacus_ghost", "plain", "Opacus, ghost clipping"),
    "torch-vmap": ("torch_peers", "vmap_plain", "plain", "torch vmap(grad), by 10"),
    "torch-hand": ("torch_peers", "by_hand_plain", "plain", "torch by hand, by 10"),
    "jax-vmap": ("jax_peers", "vmap_plain", "plain", "JAX vmap"),
    "jax-privacy": ("jax_peers", "privacy_plain", "plain", "jax-privacy"),
    "opacus-difference": ("torch_peers", "opacus_difference", "difference", "Opacus, two modules"),
    "torch-vmap-difference": ("torch_peers", "vmap_difference", "difference", "torch vmap(grad), by 10"),
    "torch-hand-difference": ("torch_peers", "by_hand_difference", "difference", "torch by hand, by 10"),
    "jax-vmap-difference": ("jax_peers", "vmap_difference", "difference", "JAX vmap"),
}
# The same sums in float64, for checks only.
REFERENCES = {"reference-none": "none", "reference-plain": "plain", "reference-difference": "difference"}
WARM_UP = 3


def limit_threads(threads):
    """Before any library is loaded, since they look when they start. The affinity is for XLA, which has no option."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = str(threads)
    os.environ["JAX_PLATFORMS"] = "cpu"
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])


def build(name, records, noise):
    """The function to call."""
    module, function, *_ = PEERS[name]
    peers = importlib.import_module(module)
    return getattr(peers, function)(peers.Problem(records, noise))


def save(name, records, path):
    import numpy as np

    import problem

    if name in REFERENCES:
        import torch

        import torch_peers

        sums = torch_peers.reference(torch_peers.Problem(records, False, torch.float64), REFERENCES[name])
    elif PEERS[name][0] == "jax_peers":
        import jax_peers

        sums = jax_peers.in_prdos_order(build(name, records, noise=False)())
    else:
        sums = [tensor.detach().contiguous() for tensor in build(name, records, noise=False)()]
    np.save(path, problem.flat(sums))
    return {}


def measure(name, records, seconds, repeats):
    """Calls until there were `repeats` and `seconds` have passed."""
    run = build(name, records, noise=True)
    for _ in range(WARM_UP):
        run()
    times, end = [], time.perf_counter() + seconds
    while len(times) < repeats or time.perf_counter() < end:
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "seconds_best": min(times),
        "seconds_median": statistics.median(times),
        "calls": len(times),
        "peak_rss_mb": peak,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("name", choices=[*PEERS, *REFERENCES])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--records", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--save", metavar="FILE")
    options = parser.parse_args()
    limit_threads(options.threads)
    if options.save:
        answer = save(options.name, options.records, options.save)
    else:
        answer = measure(options.name, options.records, options.seconds, options.repeats)
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
