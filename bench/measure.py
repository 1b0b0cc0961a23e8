"""Runs what bench/run has set up and prints the table. Standard library only.

Every time is the best of several runs of a whole process; the sides compared take turns, and each run
waits a while for the machine to be quiet.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent


def processor():
    try:
        return re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text()).group(1)
    except (OSError, AttributeError):
        return "unknown processor"


def wait_for_quiet(patience=20.0):
    """Waits until the processors are all but idle, or for `patience` seconds."""

    def ticks():
        values = [int(word) for word in Path("/proc/stat").read_text().split("\n")[0].split()[1:]]
        return sum(values), values[3] + values[4]

    end = time.perf_counter() + patience
    while os.path.exists("/proc/stat") and time.perf_counter() < end:
        before = ticks()
        time.sleep(0.2)
        total, idle = (new - old for new, old in zip(ticks(), before))
        if idle >= 0.85 * total:
            return


class Run:
    """A process that has ended: seconds, processor seconds, peak resident MB, what it printed."""

    def __init__(self, command):
        wait_for_quiet()
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
            start = time.perf_counter()
            process = subprocess.Popen([str(part) for part in command], stdout=out, stderr=errors)
            _, status, usage = os.wait4(process.pid, 0)
            self.seconds = time.perf_counter() - start
            process.returncode = os.waitstatus_to_exitcode(status)
            out.seek(0)
            self.text = out.read()
            if process.returncode != 0:
                errors.seek(0)
                sys.exit(f"{' '.join(map(str, command))}\nfailed:\n{self.text}{errors.read()}")
        self.cpu = usage.ru_utime + usage.ru_stime
        self.megabytes = usage.ru_maxrss * 1024 / 1e6

    def json(self):
        return json.loads(self.text.splitlines()[-1])


def best(runs):
    return min(runs, key=lambda run: run.seconds)


class Table:
    def __init__(self):
        self.rows = []

    def add(self, what, run, peer=None, limit="", reached=None):
        """`peer`: name, seconds of its work, seconds of its process."""
        row = [what, f"{run.seconds:.3f}", f"{run.cpu:.2f}", f"{run.megabytes:.0f}"]
        if peer:
            name, work, process = peer
            row += [name, f"{work:.2f}", f"{process:.2f}"]
            row += [f"{work / run.seconds:.1f}", f"{process / run.seconds:.1f}"]
        else:
            row += [""] * 5
        row += [limit, {True: "yes", False: "no", None: ""}[reached]]
        self.rows.append(row)
        print(f"  {what}: {run.seconds:.3f} s", file=sys.stderr)

    def print(self):
        head = ["setting", "prdo s", "prdo CPU s", "prdo peak MB", "peer", "peer's work s", "peer's process s"]
        head += ["ratio to work", "ratio to process", "target", "reached"]
        print("| " + " | ".join(head) + " |")
        print("|" + "---|" * len(head))
        for row in self.rows:
            print("| " + " | ".join(row) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--prdo", required=True, type=Path)
    parser.add_argument("--numpy", type=Path, help="a Python with NumPy")
    parser.add_argument("--decent-bench", type=Path, help="a Python with decent-bench")
    parser.add_argument("--scratch", required=True, type=Path)
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()
    scratch = args.scratch
    table = Table()
    load = os.getloadavg()[0]

    def prdo(name, *options):
        shutil.rmtree(scratch, ignore_errors=True)
        return Run([args.prdo, "run", HERE / f"{name}.toml", "--out", scratch, "--json", *options])

    def against(what, name, options, peer_name, peer_command, work, repeats, target):
        """Alternates prdo and its peer; three runs of prdo to one of the peer, which takes longer."""
        ours, theirs = [], []
        for _ in range(repeats):
            ours += [prdo(name, *options) for _ in range(3)]
            if peer_command:
                theirs.append(Run(peer_command))
        run = best(ours)
        norm = run.json()["grad_norm"]
        if not theirs:
            table.add(what, run)
            return
        seconds = best(theirs).seconds
        done = min((peer.json() for peer in theirs), key=lambda result: result[work])
        print(f"  gradient norm: prdo {norm:.1e}, {peer_name} {done['gradient_norm']:.1e}", file=sys.stderr)
        ratio = seconds / run.seconds
        table.add(what, run, (peer_name, done[work], seconds), f"{target} × process", ratio >= target)

    # One full-batch method of figure 1, the gradient norm of every round.
    if args.numpy:
        tried = Run([args.numpy, HERE / "numpy_full_batch.py", "--json"]).json()
        kernels = {name: result["loop_seconds"] for name, result in tried["kernels"].items()}
        print("  NumPy, s: " + ", ".join(f"{k} {s:.2f}" for k, s in kernels.items()), file=sys.stderr)
        numpy_command = [args.numpy, HERE / "numpy_full_batch.py", "--json", "--kernel"]
        command, plain = numpy_command + [tried["fastest"]], numpy_command + ["plain"]
        what = "figure 1, full batch, ED, norm every round"
        against(what, "ed-full", [], f"NumPy, tuned ({tried['fastest']})", command, "loop_seconds", args.repeats, 10)
        against(what, "ed-full", [], "NumPy, plain", plain, "loop_seconds", max(1, args.repeats // 2), 10)
    else:
        against("figure 1, full batch, ED, norm every round", "ed-full", [], "", None, "", args.repeats, 10)

    # decent-bench: no metrics on either side.
    for name, what, options, repeats in [
        ("ed-full", "32 nodes × 2000, 600 rounds, full batch", ["--set", "metrics.every=600"], args.repeats),
        ("ed-batch16", "32 nodes × 2000, 600 rounds, batch 16", [], args.repeats),
        ("ed-1000-nodes", "1,000 nodes × 100, 100 rounds, batch 16", [], max(1, args.repeats // 2)),
    ]:
        command = None
        if args.decent_bench:
            command = [args.decent_bench, HERE / "decent_bench_compare.py", name, "--json"]
        against(what, name, options, "decent-bench", command, "call_seconds", repeats, 20)

    # Large rings, alternating.
    small, large = [], []
    for _ in range(max(1, args.repeats // 2 + 1)):
        small.append(prdo("ring-10000"))
        large.append(prdo("ring-20000"))
    small, large = best(small), best(large)
    ratio = large.seconds / small.seconds
    table.add(
        "10,000 nodes × 200, 100 rounds, batch 16",
        small,
        limit="< 10 s, < 1000 MB",
        reached=small.seconds < 10 and small.megabytes < 1000,
    )
    table.add(
        f"20,000 nodes: {ratio:.2f} × the 10,000",
        large,
        limit="≤ 2.2 ×",
        reached=ratio <= 2.2,
    )

    figure = []
    for _ in range(2):
        shutil.rmtree(scratch, ignore_errors=True)
        figure.append(Run([args.prdo, "reproduce", "figure-1", "--out", scratch]))
    table.add("prdo reproduce figure-1", best(figure))
    shutil.rmtree(scratch, ignore_errors=True)

    loads = f"load average {load:.1f} before, {os.getloadavg()[0]:.1f} after"
    print(f"{time.strftime('%Y-%m-%d')}, {os.cpu_count()} cores ({processor()}); {loads}\n")
    table.print()


if __name__ == "__main__":
    main()
