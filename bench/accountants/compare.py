#!/usr/bin/env python3
"""Times prdo's accountant beside Opacus, prv-accountant and dp-accounting, at the paper's point.

    bench/accountants/setup
    target/peers/bin/python bench/accountants/compare.py [--prdo target/release/prdo] [--json FILE]

q = 100/4500, T = 9500, δ = 1e-5. Two tables: ε at the paper's three noise multipliers, and the multiplier for
ε = 4, 6, 8 by each package's own calibration. A peer's time is that of the call in this process, imports not counted,
on one thread, the median of five calls (of fewer, down to one, when they take long), and then over the three columns.
prdo's is the median it reports of itself (`prdo bench accountant --json`), also in process. All this takes about eight
minutes. Compare ratios: seconds move from machine to machine.

What a number claims differs: Opacus and PLD return an upper bound, prv-accountant two bounds, RDP an upper bound from
Rényi divergences, prdo two certified bounds.
"""

import os

# Before NumPy is loaded: one thread for everybody.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import argparse
import importlib.util
import json
import platform
import statistics
import subprocess
import sys
import time
import types
import warnings
from importlib.metadata import version

RATE, ROUNDS, DELTA = 100 / 4500, 9500, 1e-5
MULTIPLIERS = (2.464143, 1.807607, 1.480246)
BUDGETS = (4.0, 6.0, 8.0)
PACKAGES = ("opacus", "prv-accountant", "dp-accounting", "numpy", "scipy", "mpmath")
EPS_ERROR = 1e-3


def opacus_accountants():
    """`opacus.accountants` as installed, without torch.

    Importing it runs opacus/__init__.py, which imports torch, and its accountant.py imports opacus.optimizers for one
    name, DPOptimizer, which it uses in two type annotations only. So: an empty package in the place of opacus/__init__,
    with the path of the installed one, and a stand-in for that name. No line that computes is replaced.
    """
    if importlib.util.find_spec("torch") is None and "opacus" not in sys.modules:
        package = types.ModuleType("opacus")
        package.__path__ = list(importlib.util.find_spec("opacus").submodule_search_locations)
        optimizers = types.ModuleType("opacus.optimizers")
        optimizers.DPOptimizer = type("DPOptimizer", (), {})
        sys.modules.update({"opacus": package, "opacus.optimizers": optimizers})
    import opacus.accountants.utils

    return opacus.accountants


def import_peers():
    """Imports everything that is timed, so that no first call pays for it."""
    opacus_accountants()
    import dp_accounting.pld
    import dp_accounting.rdp
    import prv_accountant.dpsgd


# --- ε at a noise multiplier: each returns (lower or None, upper) ---


def opacus_prv(noise):
    accountant = opacus_accountants().PRVAccountant()
    accountant.history = [(noise, RATE, ROUNDS)]
    # Its delta_error is delta / 1000 unless told; it returns the upper bound.
    return None, accountant.get_epsilon(DELTA, eps_error=EPS_ERROR)


def prv_accountant(noise):
    from prv_accountant import PoissonSubsampledGaussianMechanism, PRVAccountant

    release = PoissonSubsampledGaussianMechanism(sampling_probability=RATE, noise_multiplier=noise)
    accountant = PRVAccountant(release, eps_error=EPS_ERROR, delta_error=DELTA / 1000, max_self_compositions=ROUNDS)
    lower, _, upper = accountant.compute_epsilon(DELTA, [ROUNDS])
    return lower, upper


def training(noise):
    import dp_accounting

    release = dp_accounting.PoissonSampledDpEvent(RATE, dp_accounting.GaussianDpEvent(noise))
    return dp_accounting.SelfComposedDpEvent(release, ROUNDS)


def pld_accountant(interval):
    from dp_accounting.pld import PLDAccountant

    return PLDAccountant(value_discretization_interval=interval)


def rdp_accountant():
    from dp_accounting.rdp import RdpAccountant

    return RdpAccountant()


def dp_accounting_epsilon(make):
    return lambda noise: (None, make().compose(training(noise)).get_epsilon(DELTA))


# --- the noise multiplier for an ε ---


def opacus_calibration(**options):
    return lambda epsilon: opacus_accountants().utils.get_noise_multiplier(
        target_epsilon=epsilon,
        target_delta=DELTA,
        sample_rate=RATE,
        steps=ROUNDS,
        accountant="prv",
        **options,
    )


def prv_accountant_calibration(epsilon):
    from prv_accountant.dpsgd import find_noise_multiplier

    return find_noise_multiplier(RATE, ROUNDS, epsilon, DELTA)


def dp_accounting_calibration(make):
    import dp_accounting

    return lambda epsilon: dp_accounting.calibrate_dp_mechanism(make, training, epsilon, DELTA)


def epsilon_peers():
    return [
        (f"Opacus PRV, eps_error {EPS_ERROR:g}", opacus_prv),
        (f"prv-accountant, eps_error {EPS_ERROR:g}", prv_accountant),
        ("dp-accounting PLD, interval 1e-4", dp_accounting_epsilon(lambda: pld_accountant(1e-4))),
        ("dp-accounting PLD, interval 1e-5", dp_accounting_epsilon(lambda: pld_accountant(1e-5))),
        ("dp-accounting RDP", dp_accounting_epsilon(rdp_accountant)),
    ]


def calibration_peers():
    return [
        ("Opacus PRV, as it comes", opacus_calibration()),
        ("Opacus PRV, tolerance 1e-5", opacus_calibration(epsilon_tolerance=1e-5)),
        ("prv-accountant, as it comes", prv_accountant_calibration),
        ("dp-accounting PLD, interval 1e-4", dp_accounting_calibration(lambda: pld_accountant(1e-4))),
        ("dp-accounting PLD, interval 1e-5", dp_accounting_calibration(lambda: pld_accountant(1e-5))),
        ("dp-accounting RDP", dp_accounting_calibration(rdp_accountant)),
    ]


# --- measuring ---


def timed(function, argument, repeats, patience):
    """(result, median seconds, calls): `repeats` calls, fewer when they would take longer than `patience` seconds."""
    seconds = []
    while len(seconds) < repeats and sum(seconds) + (seconds[-1] if seconds else 0) <= patience:
        start = time.perf_counter()
        result = function(argument)
        seconds.append(time.perf_counter() - start)
    return result, statistics.median(seconds), len(seconds)


def measure(peers, arguments, repeats, patience):
    rows = []
    for name, function in peers:
        cells = []
        for argument in arguments:
            try:
                result, seconds, calls = timed(function, argument, repeats, patience)
            except Exception as error:  # a peer that refuses is a result, not the end
                cells.append({"at": argument, "failed": f"{type(error).__name__}: {error}"})
                continue
            cells.append({"at": argument, "result": result, "seconds": seconds, "calls": calls})
            print(f"  {name}, {argument:g}: {seconds:.3g} s (calls: {calls})", file=sys.stderr)
        rows.append({"name": name, "cells": cells})
    return rows


def ask(command):
    """What prdo prints, as JSON."""
    run = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\nfailed: {run.stderr}")
    return json.loads(run.stdout)


def measure_prdo(prdo):
    """prdo's rows, and what it says of its own times."""
    setting = ["--rate", repr(RATE), "--rounds", ROUNDS, "--delta", repr(DELTA), "--json"]
    own = ask([prdo, "bench", "accountant", "--json"])
    epsilons, multipliers = [], []
    for noise in MULTIPLIERS:
        answer = ask([prdo, "privacy", "epsilon", "--noise", noise, *setting])
        result = (answer["epsilon_lower"], answer["epsilon_upper"])
        epsilons.append({"at": noise, "result": result, "seconds": own["epsilon_seconds"]})
    for epsilon in BUDGETS:
        answer = ask([prdo, "privacy", "noise", "--epsilon", epsilon, *setting])
        seconds = own["calibration_seconds"]
        multipliers.append({"at": epsilon, "result": answer["noise_multiplier"], "seconds": seconds})
    return {"name": "prdo", "cells": epsilons}, {"name": "prdo", "cells": multipliers}, own


# --- printing ---


def shown(result):
    if not isinstance(result, tuple):
        return f"{result:.6f}"
    lower, upper = result
    if lower is None:
        return f"≤ {upper:.6f}"
    # Six decimals show most intervals; a narrow one needs more.
    digits = 6 if upper - lower > 1e-5 else 12
    return f"{lower:.{digits}f} … {upper:.{digits}f}"


def median_seconds(row):
    seconds = [cell["seconds"] for cell in row["cells"] if "seconds" in cell]
    return statistics.median(seconds) if seconds else None


def table(heading, columns, rows):
    ours = next((median_seconds(row) for row in rows if row["name"] == "prdo"), None)
    lines = [[heading, *columns, "seconds", "times prdo's"]]
    for row in rows:
        seconds = median_seconds(row)
        row["seconds"] = seconds
        row["ratio"] = seconds / ours if ours and seconds else None
        cells = [shown(cell["result"]) if "result" in cell else cell["failed"][:40] for cell in row["cells"]]
        ratio = f"{row['ratio']:,.0f}" if row["ratio"] and row["name"] != "prdo" else ""
        lines.append([row["name"], *cells, "" if seconds is None else f"{seconds:.3g}", ratio])
    widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))]
    lines.insert(1, ["-" * width for width in widths])
    for line in lines:
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |")
    print()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--prdo", help="the prdo command; without it only the peers are measured")
    parser.add_argument("--json", metavar="FILE", help="also write everything measured here")
    parser.add_argument("--repeats", type=int, default=5, help="calls a time is the median of (default 5)")
    parser.add_argument("--patience", type=float, default=20.0, help="seconds for the calls of one number (default 20)")
    parser.add_argument("--versions", action="store_true", help="print what is installed and end")
    options = parser.parse_args()
    warnings.simplefilter("ignore")

    versions = {name: version(name) for name in PACKAGES} | {"python": platform.python_version()}
    print(", ".join(f"{name} {number}" for name, number in versions.items()))
    import_peers()
    if options.versions:
        return

    epsilons = measure(epsilon_peers(), MULTIPLIERS, options.repeats, options.patience)
    multipliers = measure(calibration_peers(), BUDGETS, options.repeats, options.patience)
    own = None
    if options.prdo:
        first, second, own = measure_prdo(options.prdo)
        epsilons.append(first)
        multipliers.append(second)

    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    print(f"q = 100/4500, T = {ROUNDS}, δ = {DELTA:g}; one thread; load average {load}\n")
    table("ε at noise multiplier", [f"{noise}" for noise in MULTIPLIERS], epsilons)
    table("noise multiplier for ε =", [f"{epsilon:g}" for epsilon in BUDGETS], multipliers)
    if own is None:
        print("prdo's rows and the ratios are left out: no --prdo was given.")
    else:
        print(f"prdo, ε after every one of the {ROUNDS} rounds: {own['all_rounds_seconds']:.3g} s")

    if options.json:
        everything = {"versions": versions, "rate": RATE, "rounds": ROUNDS, "delta": DELTA}
        everything |= {"epsilon": epsilons, "calibration": multipliers, "prdo_bench": own}
        with open(options.json, "w") as file:
            json.dump(everything, file, indent=1, default=float)
            file.write("\n")


if __name__ == "__main__":
    main()
