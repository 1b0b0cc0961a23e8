#!/usr/bin/env python3
"""Shows points where accountants in use are wrong or of no use, against values computed here to many digits.

    bench/accountants/setup
    target/peers/bin/python bench/accountants/below_the_truth.py [--prdo target/release/prdo]

1. dp-accounting's pessimistic PLD answer, meant as an upper bound, lies below the true ε at two points. The true δ at
   its answer exceeds the δ asked for. The truth is the contour integral of contour.py (mpmath, 55 digits), which
   shares nothing with prdo's code.
   The cause, by exchanging one step: its own distribution of the privacy loss of one release, composed by a Fourier
   transform after an exponential tilt, gives a δ above the true one, as it should. Its composition does not tilt, and
   rounding errors relative to the peak of the distribution are then large beside a tail of 1e-9.
2. Where ε is small, the absolute error of prv-accountant makes its lower bound negative.
3. The grid prv-accountant would allocate for 100,000 releases at rate 1 and noise multiplier 0.5. (It is not allocated.)
4. A Rényi bound 460 times the truth, for one release with little noise at a small rate.
"""

import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import argparse
import json
import math
import subprocess
import sys
import warnings
from importlib.metadata import version

import dp_accounting
import numpy as np
from dp_accounting.pld import privacy_loss_distribution
from dp_accounting.rdp import RdpAccountant
from mpmath import mp, mpf
from prv_accountant import PoissonSubsampledGaussianMechanism, PRVAccountant
from prv_accountant.accountant import compute_safe_domain_size
from prv_accountant.domain import Domain
from scipy import fft

import contour

# q, sigma, steps, delta, value_discretization_interval
BELOW = [
    (0.01, 1.5, 100_000, 1e-9, 1e-4),
    (0.001, 1.5, 100_000, 1e-9, 1e-5),
]


def prdo_interval(prdo, q, sigma, steps, delta):
    if prdo is None:
        return
    setting = ["--rate", repr(q), "--noise", repr(sigma), "--rounds", str(steps), "--delta", repr(delta)]
    run = subprocess.run([prdo, "privacy", "epsilon", *setting, "--json"], capture_output=True, text=True)
    if run.returncode != 0:
        print(f"   prdo                      failed: {run.stderr.strip()}")
        return
    answer = json.loads(run.stdout)
    print(f"   prdo                      {answer['epsilon_lower']!r} … {answer['epsilon_upper']!r}")


def tilted_delta(release, steps, epsilon, order):
    """δ(ε) of `steps` releases from dp-accounting's distribution of one (removing a record), composed with a tilt:
    each mass times e^{λ·loss}, so that the transform is exact relative to what matters near ε."""
    masses, lowest = release._pmf_remove.to_dense_pmf()._probs, release._pmf_remove.to_dense_pmf()._lower_loss
    width = release._pmf_remove._discretization
    losses = (np.arange(len(masses)) + lowest) * width
    tilted = masses * np.exp(order * losses)
    total = math.fsum(tilted)
    tilted /= total
    mean = math.fsum(tilted * losses)
    spread = math.sqrt(steps * math.fsum(tilted * (losses - mean) ** 2))
    count = fft.next_fast_len(max(int(60 * spread / width), len(masses)), real=True)
    composed = fft.irfft(fft.rfft(tilted, count) ** steps, count)
    first = round(steps * mean / width) - count // 2
    composed = np.roll(composed, -((first - lowest * steps) % count))
    over = (np.arange(count) + first) * width - epsilon
    composed, over = composed[over > 0], over[over > 0]
    tail = math.fsum(composed * np.exp(-order * over) * -np.expm1(-over))
    return math.exp(steps * math.log(total) - order * epsilon) * tail


def below(point, prdo):
    q, sigma, steps, delta, interval = point
    print(f"\n1. q {q}, σ {sigma}, T {steps:,}, δ {delta:g}: dp-accounting PLD, pessimistic, interval {interval:g}")
    release = privacy_loss_distribution.from_gaussian_mechanism(
        sigma, value_discretization_interval=interval, sampling_prob=q
    )
    answer = float(release.self_compose(steps).get_epsilon_for_delta(delta))
    releases = [(q, sigma, steps)]
    truth, digits, both = contour.epsilon(releases, delta)
    true_delta, delta_digits = contour.delta_at(releases, contour.REMOVE, answer, delta)
    order, _ = contour.saddle(releases, contour.REMOVE, delta)
    print(f"   its answer                {answer:.10f}")
    print(f"   the true ε                {mp.nstr(truth, 15)}  ({digits:.0f} digits agree; add: {mp.nstr(both['add'], 10)})")
    print(f"   too low by                {mp.nstr(truth - answer, 4)}")
    print(f"   the true δ at its answer  {mp.nstr(true_delta, 12)}  ({delta_digits:.0f} digits agree), asked: {delta:g}")
    print(f"   its δ, composed tilted    {tilted_delta(release, steps, answer, order):.10e}")
    prdo_interval(prdo, q, sigma, steps, delta)
    not_a_bound = true_delta > delta and answer < truth
    print(f"   {'so its answer is no upper bound' if not_a_bound else 'here its answer IS an upper bound: not reproduced'}")
    return not_a_bound


def negative(prdo):
    q, sigma, steps, delta, error = 0.001, 10.0, 1_000, 1e-5, 0.01
    release = PoissonSubsampledGaussianMechanism(sampling_probability=q, noise_multiplier=sigma)
    accountant = PRVAccountant(release, eps_error=error, delta_error=delta / 1000, max_self_compositions=steps)
    lower, _, upper = accountant.compute_epsilon(delta, [steps])
    truth, digits, _ = contour.epsilon([(q, sigma, steps)], delta)
    print(f"\n2. q {q}, σ {sigma:g}, T {steps:,}, δ {delta:g}: prv-accountant, eps_error {error}")
    print(f"   its bounds                {lower:.6f} … {upper:.6f}")
    print(f"   the true ε                {mp.nstr(truth, 15)}  ({digits:.0f} digits agree)")
    prdo_interval(prdo, q, sigma, steps, delta)
    return lower < 0 < truth


def memory(prdo):
    q, sigma, steps, delta, error = 1.0, 0.5, 100_000, 1e-5, 0.01
    release = PoissonSubsampledGaussianMechanism(sampling_probability=q, noise_multiplier=sigma)
    # What PRVAccountant does before it fills the grid.
    reach = float(compute_safe_domain_size([release], [steps], error, delta / 1000))
    mesh = error / np.sqrt(steps / 2 * np.log(12 / (delta / 1000)))
    points = len(Domain.create_aligned(-reach, reach, mesh))
    size = points * np.dtype(np.longdouble).itemsize / 2**30
    print(f"\n3. q {q:g}, σ {sigma}, T {steps:,}, δ {delta:g}: prv-accountant, eps_error {error}")
    print(f"   its grid                  {points:,} points, {size:,.0f} GiB an array of long doubles")
    truth = gaussian_epsilon(mp.sqrt(steps) / sigma, delta)
    print(f"   the true ε                {mp.nstr(truth, 15)}  (closed form)")
    prdo_interval(prdo, q, sigma, steps, delta)
    return size > 100


def renyi(prdo):
    q, sigma, delta = 1e-4, 0.5, 1e-5
    event = dp_accounting.PoissonSampledDpEvent(q, dp_accounting.GaussianDpEvent(sigma))
    answer = RdpAccountant().compose(event).get_epsilon(delta)
    truth = one_release_epsilon(q, sigma, delta)
    print(f"\n4. q {q:g}, σ {sigma}, T 1, δ {delta:g}: dp-accounting RDP")
    print(f"   its answer                {answer:.6f}")
    print(f"   the true ε                {mp.nstr(truth, 15)}  (closed form)")
    prdo_interval(prdo, q, sigma, 1, delta)
    return answer > 100 * truth


def zero(function, low, high):
    """Where a decreasing function crosses zero, by bisection."""
    low, high = mpf(low), mpf(high)
    while high - low > mpf(10) ** -30 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) > 0 else (low, middle)
    return high


def gaussian_epsilon(m, delta):
    """ε of one normal release whose sensitivity is m deviations."""

    def excess(epsilon):
        return mp.ncdf(m / 2 - epsilon / m) - mp.exp(epsilon) * mp.ncdf(-m / 2 - epsilon / m) - delta

    return zero(excess, 0, m * m + 100 * m)


def one_release_epsilon(q, sigma, delta):
    """ε of one release: both directions are a difference of normal tails beyond the point where the loss is ±ε."""
    q, sigma = mpf(q), mpf(sigma)

    def where(ratio):
        return sigma**2 * mp.log((ratio - 1 + q) / q) + mpf(1) / 2

    def remove(epsilon):
        x = where(mp.exp(epsilon))
        without = mp.ncdf(-x / sigma)
        return (1 - q) * without + q * mp.ncdf((1 - x) / sigma) - mp.exp(epsilon) * without - delta

    def add(epsilon):
        if mp.exp(-epsilon) <= 1 - q:
            return -mpf(delta)
        x = where(mp.exp(-epsilon))
        without = mp.ncdf(x / sigma)
        return without - mp.exp(epsilon) * ((1 - q) * without + q * mp.ncdf((x - 1) / sigma)) - delta

    return max(zero(remove, 0, 100), zero(add, 0, 100))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--prdo", help="the prdo command: also show its interval")
    prdo = parser.parse_args().prdo
    warnings.simplefilter("ignore")
    print(", ".join(f"{name} {version(name)}" for name in ("dp-accounting", "prv-accountant", "numpy", "scipy", "mpmath")))
    shown = [below(point, prdo) for point in BELOW]
    shown += [negative(prdo), memory(prdo), renyi(prdo)]
    print(f"\n{sum(shown)} of {len(shown)} reproduced")
    sys.exit(0 if all(shown) else 1)


if __name__ == "__main__":
    main()
