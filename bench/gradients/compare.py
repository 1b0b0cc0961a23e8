#!/usr/bin/env python3
"""Times prdo's per-record clipped gradients beside Opacus, PyTorch and JAX, on the paper's network.

    bench/gradients/setup
    bench/gradients/venv/bin/python bench/gradients/compare.py --check
    bench/gradients/venv/bin/python bench/gradients/compare.py --prdo target/release/prdo [--json FILE] [--only NAMES]

vgg-small (550,570 parameters), a batch of 100 images 3x32x32, float32, 2 threads. Two queries: the sum of gradients
clipped at 1, and the difference query, 0.05 times that at one point plus 0.95 times the same records' differences to
another point clipped at 1e-3, with Gaussian noise added to the sum. One torch row has no privacy, for scale.

Each peer runs in a process of its own: three calls to warm up (and compile), then calls for five seconds and at least
nine. Records a second are those of its best call; prdo's are the lower of what `prdo bench gradients` says before the
peers and after them. The share of peak is records/s times 231.6 MFLOP a gradient, whatever a program really executes,
over the multiply-add peak that prdo measures (the higher of the two times). RSS is the peak of the whole process, the
libraries included. About three minutes. Compare ratios, on a machine that does nothing else: seconds move.

--check times nothing: it holds every peer's sum, without noise, against a float64 one, and that one against the values
prdo's own tests use (crates/models/tests/fixtures/vgg_gradients.json).
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

import problem
from measure_one import PEERS

PACKAGES = ("torch", "opacus", "jax", "jaxlib", "jax-privacy", "numpy", "safetensors")
# Relative to the norm of the sum. Two peers within half of 1e-4 of the reference are within 1e-4 of each other.
TOLERANCE = 5e-5
FIXTURE_TOLERANCE = 1e-9
# Load average from which on the figures are not to be quoted.
BUSY = 0.5
QUERIES = {
    "plain": ("per-record clipped gradients", 1),
    "difference": ("difference query", 2),
}


class Failed(Exception):
    """A process that did not do its work; the text says what it wrote last."""


# --- processes ---


def run_json(command):
    """What a command prints, as JSON. This process must stay small: a child's peak RSS starts at its parent's."""
    run = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if run.returncode != 0:
        lines = run.stderr.strip().splitlines() or [f"exit code {run.returncode}"]
        # prdo opens with its error and goes on with advice; Python's traceback ends with it.
        raise Failed(next((line for line in lines if line.startswith("error: ")), lines[-1]))
    try:
        return json.loads(run.stdout)
    except json.JSONDecodeError as error:
        raise Failed(f"it printed no JSON object: {error}") from error


def one(name, options, *arguments):
    script = Path(__file__).resolve().parent / "measure_one.py"
    setting = ["--threads", options.threads, "--records", options.records]
    return run_json([sys.executable, script, name, *setting, *arguments])


def measure_prdo(prdo, threads):
    """What prdo says of itself, or None, with the reason said."""
    if prdo is None:
        return None
    try:
        answer = run_json([prdo, "bench", "gradients", "--json"])
        if answer["threads"] != threads:
            note(f"prdo used {answer['threads']} threads, the peers {threads}")
        # The keys used later, so that an answer that lacks one is told now.
        rates = [answer[query]["records_per_second"] for query in QUERIES]
        note(f"prdo: {rates[0]:.0f} and {rates[1]:.0f} records/s, peak {answer['fma_peak_gflops']:.0f} GFLOP/s")
        float(answer["peak_rss_mb"])
        return answer
    except (Failed, OSError) as error:
        note(f"{prdo} bench gradients --json: {error}")
    except (KeyError, TypeError) as error:
        note(f"{prdo} bench gradients --json: its answer has not the expected form: {error!r}")
    return None


def measure_peers(names, options):
    rows = []
    for name in names:
        _, _, query, title = PEERS[name]
        row = {"name": name, "query": query, "title": title}
        try:
            row |= one(name, options, "--seconds", options.seconds, "--repeats", options.repeats)
            row["records_per_second"] = options.records / row["seconds_best"]
            note(f"{name}: {1000 * row['seconds_best']:.0f} ms best, {1000 * row['seconds_median']:.0f} ms median")
        except Failed as error:  # a peer that fails is a result, not the end
            row["failed"] = str(error)
            note(f"{name}: failed: {error}")
        rows.append(row)
    return rows


def note(text):
    print(text, file=sys.stderr, flush=True)


# --- the table ---


def prdo_rows(runs):
    """prdo's own rows: of several runs the lowest rate and the largest memory."""
    rows = []
    for query in QUERIES if runs else ():
        rate = min(run[query]["records_per_second"] for run in runs)
        memory = max(run["peak_rss_mb"] for run in runs)
        rows.append({"name": "prdo", "query": query, "title": "prdo", "records_per_second": rate, "peak_rss_mb": memory})
    return rows


def complete(rows, runs):
    """Adds the share of peak and prdo's ratio to each row."""
    peak = max((run["fma_peak_gflops"] for run in runs), default=None)
    ours = {row["query"]: row["records_per_second"] for row in rows if row["name"] == "prdo"}
    for row in rows:
        rate = row.get("records_per_second")
        shown = shown_query(row)
        gradients = QUERIES[shown][1]
        row["fraction_of_peak"] = rate * gradients * problem.flop_a_record() / 1e9 / peak if rate and peak else None
        row["prdo_ratio"] = ours[shown] / rate if rate and shown in ours and row["name"] != "prdo" else None


def shown_query(row):
    return "plain" if row["query"] == "none" else row["query"]


def cells(row):
    if "failed" in row:
        return [row["title"], "failed", "", "", "", ""]
    median = row.get("seconds_median")
    share, ratio = row["fraction_of_peak"], row["prdo_ratio"]
    return [
        row["title"],
        "" if median is None else f"{1000 * row['seconds_best']:.0f} / {1000 * median:.0f}",
        f"{row['records_per_second']:.0f}",
        "" if share is None else f"{100 * share:.0f} %",
        f"{row['peak_rss_mb']:.0f}",
        "" if ratio is None else f"{ratio:.1f} ×",
    ]


def table(query, rows):
    heading = QUERIES[query][0]
    lines = [[heading, "ms a batch, best / median", "records/s", "of peak", "peak RSS MB", "prdo is faster by"]]
    lines += [cells(row) for row in rows if shown_query(row) == query]
    widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))]
    lines.insert(1, ["-" * width for width in widths])
    for line in lines:
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |")
    print()


# --- the check ---


def check(names, options):
    """Whether everything agrees; prints each deviation."""
    with tempfile.TemporaryDirectory() as folder:

        def sum_of(name, records):
            path = Path(folder) / "sum.npy"
            setting = argparse.Namespace(threads=options.threads, records=records)
            one(name, setting, "--save", path)
            return np.load(path)

        gap = problem.against_fixture(sum_of("reference-difference", problem.fixture_records()))
        good = verdict("float64 reference against prdo's fixture", gap, FIXTURE_TOLERANCE)
        references = {}
        for name in names:
            query = PEERS[name][2]
            if query not in references:
                references[query] = sum_of(f"reference-{query}", options.records)
            try:
                found = sum_of(name, options.records)
            except Failed as error:
                print(f"FAILED  {name}: {error}")
                good = False
                continue
            gap = np.linalg.norm(found - references[query]) / np.linalg.norm(references[query])
            good &= verdict(f"{name} against the float64 reference", gap, TOLERANCE)
    return good


def verdict(what, gap, allowed):
    good = bool(gap <= allowed)
    print(f"{'ok    ' if good else 'FAILED'}  {what}: {gap:.1e} (allowed: {allowed:.0e})", flush=True)
    return good


# --- the command ---


def versions():
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def chosen(text):
    """The peers named in a list with commas."""
    names = text.split(",")
    unknown = [name for name in names if name not in PEERS]
    if unknown:
        raise argparse.ArgumentTypeError(f"unknown: {', '.join(unknown)}; allowed: {', '.join(PEERS)}")
    return names


def at_least_one(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number}: it must be 1 or more")
    return number


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--prdo", help="the prdo command; without it only the peers are measured")
    parser.add_argument("--json", metavar="FILE", help="also write everything measured here")
    parser.add_argument("--only", metavar="NAMES", type=chosen, default=list(PEERS), help="of: " + ",".join(PEERS))
    parser.add_argument("--threads", type=at_least_one, default=2, help="of each peer (default 2)")
    parser.add_argument("--records", type=at_least_one, default=100, help="in a batch (default 100)")
    parser.add_argument("--repeats", type=at_least_one, default=9, help="calls at least (default 9)")
    parser.add_argument("--seconds", type=float, default=5.0, help="time for the calls of a peer (default 5)")
    parser.add_argument("--check", action="store_true", help="compare the peers' sums instead of their times")
    parser.add_argument("--versions", action="store_true", help="print what is installed and end")
    return parser.parse_args()


def main():
    options = arguments()
    print(", ".join(f"{name} {number}" for name, number in versions().items()))
    if options.versions:
        return
    if options.check:
        sys.exit(0 if check(options.only, options) else 1)

    cores = len(os.sched_getaffinity(0))
    if cores < options.threads:
        note(f"{options.threads} threads on {cores} cores: the figures will be too low")
    before = os.getloadavg()
    runs = [measure_prdo(options.prdo, options.threads)]
    peers = measure_peers(options.only, options)
    if runs[0] is not None:
        runs.append(measure_prdo(options.prdo, options.threads))
    runs = [run for run in runs if run is not None]
    rows = prdo_rows(runs) + peers
    complete(rows, runs)

    load = f"load average {before[0]:.1f} before, {os.getloadavg()[0]:.1f} after"
    print(f"vgg-small, batch {options.records}, float32, threads: {options.threads}; {load}\n")
    for query in QUERIES:
        table(query, rows)
    if before[0] > BUSY:
        print(f"The machine was busy (load average {before[0]:.1f}): these figures say nothing. PyTorch on two threads loses most.\n")
    if not runs:
        print("prdo's rows, the shares of peak and the ratios are left out: no figures of prdo (see above).")
    if options.json:
        everything = {"versions": versions(), "records": options.records, "threads": options.threads, "load": load}
        with open(options.json, "w") as file:
            json.dump(everything | {"rows": rows, "prdo_runs": runs}, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
