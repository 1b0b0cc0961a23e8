"""ε and δ of compositions of Poisson-sampled Gaussian releases, to many digits, with mpmath.

Independent of prdo's Rust code and of its bounds: nothing is certified here. A value is trusted because a second
evaluation on another contour, with half the steps and twice the ranges, agrees with it (see `twice`).

    δ(ε) = 1/(2πi) ∫_{Re z = λ} Π_i M_i(z)^T_i e^{-zε} / (z(z+1)) dz,      any λ > 0,

    M(z) = ∫ φ_σ(x) r(x)^{1+z} dx   (remove: the record is in the first data set, not in the second)
    M(z) = ∫ φ_σ(x) r(x)^{-z} dx    (add: the other way round),      r(x) = 1 - q + q e^{(2x-1)/2σ²}.

Both integrals by the trapezoid rule, whose error falls exponentially here. The nodes in t = Im z are equally
spaced, so r(x)^{it} at the next node is r(x)^{it} at this one times r(x)^{ih}: one product per pair of nodes.

A composition is a list of (q, σ, T). Its numbers are taken as the doubles they are.
"""

import math

from mpmath import mp, mpc, mpf

mp.dps = 55  # forty digits are left after M^T at T = 10⁷ and δ = 1e-15

BITS = 190  # of the fixed-point numbers: 57 digits

REMOVE, ADD = "remove", "add"
SMALL = mpf(10) ** -28  # what is left out of a sum, relative to it
WANTED = mpf(10) ** -17  # the relative difference of two evaluations that is accepted; most are far below
LARGEST_WORK = 6_000_000  # pairs of nodes of a first evaluation; more, and the point is given up


class Unconvincing(Exception):
    """The sums did not settle within the work allowed."""


class TooCoarse(Unconvincing):
    """The step in x is too wide for this t."""


def exponent(direction, z):
    """The power of r in M(z)."""
    return 1 + z if direction == REMOVE else -z


def log_ratio(q, sigma, x):
    """log r(x) in double precision."""
    far = (2 * x - 1) / (2 * sigma * sigma)
    if q == 1:
        return far
    if far > 30:
        return far + math.log(q) + math.log1p((1 - q) / q * math.exp(-far))
    return math.log1p(q * math.expm1(far))


def log_height(q, sigma, power, x):
    """log of r(x)^power e^{-x²/2σ²} in double precision."""
    return power * log_ratio(q, sigma, x) - x * x / (2 * sigma * sigma)


def support(q, sigma, power, digits):
    """Where r^power φ is more than 10^-digits of its largest value. It may have two peaks: so a scan."""
    low, high = -40 * sigma - abs(power), 40 * sigma + abs(power)
    count = 20_000
    xs = [low + (high - low) * k / count for k in range(count + 1)]
    heights = [log_height(q, sigma, power, x) for x in xs]
    least = max(heights) - digits * math.log(10)
    inside = [x for x, height in zip(xs, heights) if height > least]
    return inside[0], inside[-1]


# --- Where to put the contour, in double precision ---


def cumulants(releases, direction, order):
    """Σ T log M(λ) and its first two derivatives in λ."""
    value = slope = curvature = 0.0
    sign = 1 if direction == REMOVE else -1
    for q, sigma, steps in releases:
        power = exponent(direction, order)
        low, high = support(q, sigma, power, 17)
        count = 400
        xs = [low + (high - low) * k / count for k in range(count + 1)]
        logs = [log_ratio(q, sigma, x) for x in xs]
        heights = [power * log - x * x / (2 * sigma * sigma) for x, log in zip(xs, logs)]
        top = max(heights)
        masses = [math.exp(height - top) for height in heights]
        total = math.fsum(masses)
        first = math.fsum(m * log for m, log in zip(masses, logs)) / total
        second = math.fsum(m * (log - first) ** 2 for m, log in zip(masses, logs)) / total
        value += steps * (math.log(total * (high - low) / count / (sigma * math.sqrt(2 * math.pi))) + top)
        slope += steps * sign * first
        curvature += steps * second
    return value, slope, curvature


def saddle(releases, direction, delta):
    """(λ, ε) with λ the saddle of the integrand at ε, and δ(ε) the one asked for, nearly."""

    def at(log_order):
        order = math.exp(log_order)
        value, slope, curvature = cumulants(releases, direction, order)
        epsilon = slope - 1 / order - 1 / (order + 1)
        width = curvature + order**-2 + (order + 1) ** -2
        height = value - order * epsilon - math.log(order * (order + 1)) - 0.5 * math.log(2 * math.pi * width)
        return height - math.log(delta), epsilon

    low, high = math.log(1e-4), math.log(1e5)
    for _ in range(40):
        middle = (low + high) / 2
        if at(middle)[0] > 0:
            low = middle
        else:
            high = middle
    return math.exp(low), at(low)[1]


# --- The integral, in many digits ---


def fixed(number):
    """A number of size at most 1 as an integer: products of these are ten times faster than mpmath's."""
    return int(mp.nint(mp.ldexp(number, BITS)))


def complex_sum(values):
    return mpc(sum(a for a, _ in values), sum(b for _, b in values)) / 2**BITS


class Integrand:
    """Π M_i(λ + ijh)^T_i for j = 0, 1, 2, …, one after the other."""

    def __init__(self, releases, direction, order, step, finer, digits):
        self.parts = []
        self.nodes = 0
        for q, sigma, steps in releases:
            low, high = support(q, sigma, float(exponent(direction, order)), digits)
            q, sigma = mpf(q), mpf(sigma)
            h = sigma * mpf("0.4") / mpf(2) ** finer
            logs, heights = [], []
            for k in range(int(mp.floor(low / h)), int(mp.ceil(high / h)) + 1):
                x = k * h
                logs.append(mp.log(1 - q + q * mp.exp((2 * x - 1) / (2 * sigma**2))))
                heights.append(mp.exp(exponent(direction, order) * logs[-1] - x * x / (2 * sigma**2)))
            total = mp.fsum(heights)
            sign = 1 if direction == REMOVE else -1
            values = [(fixed(height / total), 0) for height in heights]
            turns = [(fixed(turn.real), fixed(turn.imag)) for turn in (mp.expj(sign * step * log) for log in logs)]
            self.parts.append((values, turns, steps, total * h / (sigma * mp.sqrt(2 * mp.pi))))
            self.nodes += len(values)

    def next(self):
        product = mpc(1)
        for values, turns, steps, height in self.parts:
            product *= (height * complex_sum(values)) ** steps
            values[:] = [
                ((a * c - b * s) >> BITS, (a * s + b * c) >> BITS) for (a, b), (c, s) in zip(values, turns)
            ]
        return product

    def check(self):
        """The sum over every second node has about the square root of the error: 1e-12 promises 1e-24."""
        for values, _, _, _ in self.parts:
            if abs(complex_sum(values) - 2 * complex_sum(values[::2])) > mpf(10) ** -12:
                raise TooCoarse


class Contour:
    """The nodes of one vertical line, good for any ε near the one it was made for."""

    def __init__(self, releases, direction, order, period, finer, digits=48, stretch=1, work=LARGEST_WORK):
        self.step = 2 * mp.pi / period
        integrand = Integrand(releases, direction, order, self.step, finer, digits)
        self.nodes = []
        last = None
        for j in range(work // integrand.nodes):
            z = mpc(order, j * self.step)
            self.nodes.append((z, integrand.next() / (z * (z + 1)) / (2 if j == 0 else 1)))
            size = abs(self.nodes[-1][1]) / self.nodes[0][1].real
            if j & (j + 1) == 0 or j == last:
                integrand.check()
            # Once the terms are negligible, go `stretch` times as far.
            if last is None and size < SMALL:
                last = j * stretch
                integrand.check()
            if last is not None and j >= last:
                return
        raise Unconvincing(f"after {len(self.nodes)} nodes in t the integrand is still {mp.nstr(size, 2)} of its height")

    def delta(self, epsilon):
        """(δ, dδ/dε) at ε."""
        value = slope = mpf(0)
        for z, weight in self.nodes:
            term = weight * mp.exp(-z * epsilon)
            value += term.real
            slope -= (z * term).real
        return value * self.step / mp.pi, slope * self.step / mp.pi

    def solve(self, delta, epsilon):
        """ε with δ(ε) = delta: Newton's iteration on log δ."""
        epsilon = mpf(epsilon)
        for _ in range(60):
            value, slope = self.delta(epsilon)
            if not value > 0 or not slope < 0:
                raise Unconvincing("Newton's iteration left the region where the sum means something")
            move = mp.log(value / delta) * value / slope
            epsilon -= move
            if abs(move) < mpf(10) ** -34 * abs(epsilon):
                return epsilon
        raise Unconvincing("Newton's iteration does not settle")


def twice(releases, direction, delta, question):
    """(answer, digits agreed): `question(contour, ε nearly)` asked on two contours near the saddle for δ.

    The second is the line λ' = 0.8 λ, with half the steps in t and in x and twice the range in t; in x the range is
    where the integrand exceeds 1e-70 of its peak, not 1e-48. If they disagree, the second's steps become the first's.
    """
    order, guess = saddle(releases, direction, delta)
    _, _, curvature = cumulants(releases, direction, order)
    order = mpf(order)
    # The rule's error in t is Σ_n e^{λnW} δ(ε + nW), n ≠ 0: W must exceed both log(1/δ)/λ and the loss's spread.
    period = (70 - math.log(delta)) / order + 6 * math.sqrt(curvature)
    finer = 0
    while finer < 10:
        try:
            first = question(Contour(releases, direction, order, period, finer), guess)
            finest = dict(digits=70, stretch=2, work=20 * LARGEST_WORK)
            second = question(Contour(releases, direction, order * 4 / 5, 2 * period, finer + 1, **finest), guess)
            difference = abs(second - first) / abs(second)
            if difference < WANTED:
                return second, float(-mp.log10(difference + mpf(10) ** -mp.dps))
            period *= 2
        except TooCoarse:
            pass
        finer += 1
    raise Unconvincing("ten times half the step in x is not enough")


def epsilon(releases, delta):
    """(ε, digits agreed, ε by direction): the larger of both directions."""
    by_direction = {}
    digits = []
    for direction in (REMOVE, ADD):
        by_direction[direction], agreed = twice(releases, direction, delta, lambda line, guess: line.solve(delta, guess))
        digits.append(agreed)
    return max(by_direction.values()), min(digits), by_direction


def delta_at(releases, direction, epsilon, near):
    """(δ(ε), digits agreed) in one direction; `near` is about what it will be."""
    return twice(releases, direction, near, lambda line, _: line.delta(mpf(epsilon))[0])
