#!/usr/bin/env python3
"""Writes reference_points.csv and reference_heterogeneous.csv: values of ε for prdo's tests.

How it works. δ(ε) is a contour integral (its formula is in contour.py), evaluated by the trapezoid rule with mpmath in
55-digit arithmetic, for removing a record and for adding one; Newton's iteration on log δ gives ε in each direction,
and the larger of the two is written, rounded to 15 significant digits. Each is evaluated twice, the second time on
another line (λ' = 0.8 λ: the integral does not depend on λ, its errors do) with half the steps and twice the ranges,
and the point is kept only if both agree to 17 digits at least (most agree to 25 and more). Where the integrand falls
too slowly for this (few compositions with little noise or a small rate: the privacy loss is then nearly an atom) the
point is left out and said so.

q, sigma and delta are the doubles nearest to what the files say; epsilon was computed for these doubles.
Before anything is written, the code is held against the closed form at rate 1.

    python3 reference_points.py [--out FOLDER]        needs mpmath; about five minutes
"""

import argparse
import csv
import sys
import time
from pathlib import Path

from mpmath import mp, mpf

import contour

# q, sigma, steps, delta. Tried and given up: (1e-4, 1.5, 1e5, 1e-5), (1e-3, 2.5, 1e4, 1e-9), (0.01, 2.5, 100, 1e-5),
# (0.01, 5, 30, 1e-5), (0.9, 0.5, 10, 1e-5).
POINTS = [
    (1e-4, 0.5, 10_000_000, 1e-5),
    (1e-4, 0.8, 10_000_000, 1e-9),
    (1e-4, 1.0, 10_000_000, 1e-15),
    (1e-4, 2.5, 10_000_000, 1e-3),
    (1e-4, 5.0, 10_000_000, 1e-9),
    (1e-4, 10.0, 10_000_000, 1e-5),
    (1e-3, 0.5, 100_000, 1e-5),
    (1e-3, 0.8, 10_000, 1e-5),
    (1e-3, 1.0, 10_000_000, 1e-9),
    (1e-3, 1.5, 100_000, 1e-15),
    (1e-3, 5.0, 100_000, 1e-5),
    (1e-3, 10.0, 1_000, 1e-5),
    (0.01, 0.5, 10_000, 1e-5),
    (0.01, 0.8, 1_000, 1e-5),
    (0.01, 1.0, 10_000, 1e-15),
    (0.01, 1.5, 100_000, 1e-9),
    (0.01, 10.0, 10, 1e-5),
    (0.1, 0.5, 1_000, 1e-9),
    (0.1, 0.8, 100, 1e-5),
    (0.1, 1.0, 100_000, 1e-5),
    (0.1, 1.5, 30, 1e-3),
    (0.1, 2.5, 5, 1e-5),
    (0.1, 5.0, 2, 1e-9),
    (0.1, 10.0, 10_000, 1e-15),
    (0.5, 0.5, 30, 1e-5),
    (0.5, 0.8, 10, 1e-9),
    (0.5, 1.0, 5, 1e-5),
    (0.5, 1.5, 1_000, 1e-15),
    (0.5, 2.5, 2, 1e-3),
    (0.5, 5.0, 10, 1e-5),
    (0.9, 0.8, 5, 1e-15),
    (0.9, 1.0, 100, 1e-9),
    (0.9, 2.5, 2, 1e-5),
    (0.9, 5.0, 100_000, 1e-9),
    (0.9, 10.0, 30, 1e-3),
    # The paper's training, at its three noise multipliers.
    (100 / 4500, 2.464143, 9500, 1e-5),
    (100 / 4500, 1.807607, 9500, 1e-5),
    (100 / 4500, 1.480246, 9500, 1e-5),
]

# q0, sigma0, steps0, q, sigma, steps, delta
HETEROGENEOUS = [
    (1.0, 5.0, 1, 100 / 4500, 2.464143, 9499, 1e-5),
    (0.1, 2.5, 1, 0.01, 1.5, 1_000, 1e-5),
    (0.5, 5.0, 10, 0.01, 0.8, 1_000, 1e-9),
    (0.9, 10.0, 100, 1e-4, 1.0, 10_000_000, 1e-15),
    (0.01, 1.0, 1_000, 0.1, 5.0, 1_000, 1e-3),
    (1.0, 10.0, 5, 0.1, 5.0, 30, 1e-5),
    (0.5, 1.5, 100, 0.9, 2.5, 30, 1e-15),
    (0.01, 0.5, 10_000, 1e-3, 10.0, 10_000_000, 1e-5),
]


def check_closed_form():
    """At rate 1 the loss is normal: δ(ε) = Φ(m/2 - ε/m) - e^ε Φ(-m/2 - ε/m) with m = √T/σ."""
    for sigma, steps, delta in ((2.0, 1, 1e-5), (5.0, 30, 1e-9), (10.0, 10_000, 1e-15)):
        epsilon, _, both = contour.epsilon([(1.0, sigma, steps)], delta)
        m = mp.sqrt(steps) / sigma
        truth = mp.ncdf(m / 2 - epsilon / m) - mp.exp(epsilon) * mp.ncdf(-m / 2 - epsilon / m)
        gap = max(abs(truth / mpf(delta) - 1), abs(both["remove"] - both["add"]))
        if gap > mpf(10) ** -25:
            sys.exit(f"closed form at sigma {sigma}, {steps} steps: off by {mp.nstr(gap, 3)}")


def write(path, header, points, as_releases):
    digits, kept = [], 0
    with open(path, "w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(header)
        for point in points:
            start = time.perf_counter()
            try:
                epsilon, agreed, both = contour.epsilon(as_releases(point), point[-1])
            except contour.Unconvincing as reason:
                print(f"{point} left out: {reason} ({time.perf_counter() - start:.0f} s)", flush=True)
                continue
            add = mp.nstr(both["add"] / both["remove"], 6)
            text = mp.nstr(epsilon, 15, strip_zeros=False)
            print(f"{point} {text}, {agreed:.1f} digits agree, add/remove {add}, {time.perf_counter() - start:.0f} s", flush=True)
            rows.writerow([*map(repr, point), text])
            file.flush()
            digits.append(agreed)
            kept += 1
    print(f"{path.name}: {kept} of {len(points)} points, at least {min(digits):.1f} digits agree", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, default=Path(__file__).resolve().parent, help="folder of the two files")
    out = parser.parse_args().out
    check_closed_form()
    write(out / "reference_points.csv", "q sigma steps delta epsilon".split(), POINTS, lambda p: [p[:3]])
    header = "q0 sigma0 steps0 q sigma steps delta epsilon".split()
    write(out / "reference_heterogeneous.csv", header, HETEROGENEOUS, lambda p: [p[:3], p[3:6]])


if __name__ == "__main__":
    main()
