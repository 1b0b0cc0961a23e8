"""Privacy budgets: the questions of ``prdo privacy``, answered by the same code.

A *rate* is the probability with which each record is in a round's batch: a number, a ``Fraction``, or text such as
``"100/4500"`` (expected batch over records). *noise* is the noise multiplier: standard deviation over sensitivity.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from . import _prdo
from ._html import figure, picture, table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Apart", "Coalition", "Curve", "Delta", "Epsilon", "Noise", "Pairs", "Rate", "Rounds", "curve", "delta", "epsilon", "noise", "pairs", "rate", "rounds"]

RateLike = float | str | Fraction
Accountant = Literal["prv", "rdp", "rdp-paper"]


def _cost(answer: Epsilon | _Fitted) -> list[tuple[str, object]]:
    return [("ε (upper bound)", figure(answer.epsilon)), ("δ", f"{answer.delta:g}"), ("accountant", answer.accountant)]


@dataclass(frozen=True)
class Epsilon:
    """What a plan costs. ``epsilon`` is what to quote: a proven upper bound (``float(answer)`` is the same)."""

    epsilon: float
    #: A proven lower bound; ``None`` where the accountant knows none.
    lower: float | None
    delta: float
    accountant: str

    @property
    def upper(self) -> float:
        """The same as ``epsilon``."""
        return self.epsilon

    def __float__(self) -> float:
        return self.epsilon

    def _repr_html_(self) -> str:
        rows = _cost(self)
        if self.lower is not None:
            rows.insert(1, ("ε is at least", figure(self.lower)))
        return table(rows, note=_prdo.meaning(self.epsilon))


@dataclass(frozen=True)
class Delta:
    """δ of a plan at an ε; ``delta`` is a proven upper bound."""

    delta: float
    lower: float
    epsilon: float

    def __float__(self) -> float:
        return self.delta

    def _repr_html_(self) -> str:
        return table([("δ (upper bound)", f"{self.delta:.6g}"), ("δ is at least", f"{self.lower:.6g}"), ("ε", figure(self.epsilon))])


@dataclass(frozen=True)
class _Fitted:
    """A setting that was fitted to a budget, and what the plan then costs."""

    #: The plan's ε at δ: a proven upper bound, at most the budget's.
    epsilon: float
    #: A proven lower bound of it; ``None`` where the accountant knows none.
    lower: float | None
    delta: float
    accountant: str
    #: The field that was fitted, and what notebooks call it.
    _field: ClassVar[str]
    _label: ClassVar[str]

    def __float__(self) -> float:
        return float(getattr(self, self._field))

    def _repr_html_(self) -> str:
        fitted = getattr(self, self._field)
        rows = [(self._label, figure(fitted) if isinstance(fitted, float) else fitted), *_cost(self)]
        return table(rows)


@dataclass(frozen=True)
class Noise(_Fitted):
    """The least noise multiplier for a budget; ``float(answer)`` gives it."""

    noise_multiplier: float
    _field = "noise_multiplier"
    _label = "noise multiplier"


@dataclass(frozen=True)
class Rounds(_Fitted):
    """The most rounds for a budget; ``int(answer)`` gives them."""

    rounds: int
    _field = "rounds"
    _label = "rounds"

    def __index__(self) -> int:
        return self.rounds


@dataclass(frozen=True)
class Rate(_Fitted):
    """The largest sampling rate for a budget; ``float(answer)`` gives it."""

    rate: float
    _field = "rate"
    _label = "sampling rate"


@dataclass(frozen=True)
class Curve:
    """ε as one setting changes, by every accountant. Notebooks show the picture; ``frame()`` has the figures."""

    #: The setting on the axis: ``rounds``, ``noise_multiplier``, ``rate`` or ``delta``.
    against: str
    #: Its name and the columns ``epsilon_lower``, ``epsilon``, ``epsilon_rdp``, ``epsilon_rdp_paper``.
    columns: dict[str, NDArray[np.float64]] = field(repr=False)
    svg: str = field(repr=False)

    def frame(self) -> Any:
        """A pandas ``DataFrame``."""
        import pandas

        return pandas.DataFrame(self.columns)

    def plot(self) -> str:
        """The picture as SVG text."""
        return self.svg

    def _repr_html_(self) -> str:
        return picture(self.svg)


@dataclass(frozen=True)
class Coalition:
    """What members' releases cost against outsiders and so many members who put together all they know."""

    colluders: int
    #: A proven upper bound; infinite where there is none.
    epsilon: float
    #: The noise multiplier of independent noise that protects as well.
    noise_multiplier: float
    #: Whether that is the least over all such coalitions, or a proven bound below it.
    exact: bool


@dataclass(frozen=True)
class Apart:
    """A node's deviation from the mean of all models under noise, in step size × the noise that independent noise needs, for
    EDM with β = 0.8 on a lazy ring."""

    #: Exchanges of messages per round.
    exchanges: int
    #: Whether they are combined by a Chebyshev polynomial.
    chebyshev: bool
    independent: float
    paired: float


@dataclass(frozen=True)
class Pairs:
    """Noise that cancels between nodes, for a budget; ``float(answer)`` gives the multiplier of own noise."""

    #: What independent noise needs.
    noise_multiplier: float
    own_multiplier: float
    pair_multiplier: float
    #: How many times less noise the mean of all nodes carries than with independent noise.
    gain: float
    #: By rising size: outsiders alone, one member, …, all others (or all keys lost).
    coalitions: list[Coalition] = field(repr=False)
    #: A node and a coalition of the agreed size that leave the least; ``None`` where all are alike.
    worst: tuple[int, list[int]] | None
    disagreement: list[Apart] = field(repr=False)

    def __float__(self) -> float:
        return self.own_multiplier

    def _repr_html_(self) -> str:
        rows: list[tuple[str, object]] = [
            ("own noise multiplier", figure(self.own_multiplier)),
            ("pair noise multiplier", figure(self.pair_multiplier)),
            ("independent noise would need", figure(self.noise_multiplier)),
            ("gain", f"{self.gain:.3f}"),
        ]
        names = {0: "outsiders only", self.coalitions[-1].colluders: "all others, or all keys lost"}
        rows += [(f"ε against {names.get(c.colluders, f'any {c.colluders}')}", figure(c.epsilon)) for c in self.coalitions]
        return table(rows)


def epsilon(
    rate: RateLike,
    noise: float,
    rounds: int,
    delta: float,
    *,
    first_rate: RateLike | None = None,
    first_noise: float | None = None,
    accountant: Accountant = "prv",
) -> Epsilon:
    """What a plan of ``rounds`` releases costs at ``delta``.

    >>> answer = epsilon(rate="100/4500", noise=1.0, rounds=1000, delta=1e-5)
    >>> answer.lower <= answer.epsilon
    True
    """
    settings = dict(rate=rate, noise=noise, rounds=rounds, delta=delta, first_rate=first_rate, first_noise=first_noise)
    lower, upper = _prdo.epsilon(settings, accountant)
    return Epsilon(epsilon=upper, lower=lower, delta=float(delta), accountant=accountant)


def delta(
    rate: RateLike,
    noise: float,
    rounds: int,
    epsilon: float,
    *,
    first_rate: RateLike | None = None,
    first_noise: float | None = None,
) -> Delta:
    """δ of a plan at ``epsilon``, by the exact accountant."""
    settings = dict(rate=rate, noise=noise, rounds=rounds, epsilon=epsilon, first_rate=first_rate, first_noise=first_noise)
    lower, upper = _prdo.delta(settings)
    return Delta(delta=upper, lower=lower, epsilon=float(epsilon))


def noise(
    rate: RateLike,
    epsilon: float,
    rounds: int,
    delta: float,
    *,
    first_rate: RateLike | None = None,
    accountant: Accountant = "prv",
) -> Noise:
    """The least noise multiplier that keeps ``rounds`` releases within a budget."""
    settings = dict(rate=rate, epsilon=epsilon, rounds=rounds, delta=delta, first_rate=first_rate)
    found, lower, upper = _prdo.noise(settings, accountant)
    return Noise(epsilon=upper, lower=lower, delta=float(delta), accountant=accountant, noise_multiplier=found)


def rounds(
    rate: RateLike,
    noise: float,
    epsilon: float,
    delta: float,
    *,
    first_rate: RateLike | None = None,
    first_noise: float | None = None,
    accountant: Accountant = "prv",
) -> Rounds:
    """The most releases that keep a budget."""
    settings = dict(rate=rate, noise=noise, epsilon=epsilon, delta=delta, first_rate=first_rate, first_noise=first_noise)
    found, lower, upper = _prdo.rounds(settings, accountant)
    return Rounds(epsilon=upper, lower=lower, delta=float(delta), accountant=accountant, rounds=found)


def rate(
    noise: float, rounds: int, epsilon: float, delta: float, *, accountant: Accountant = "prv"
) -> Rate:
    """The largest sampling rate that keeps a budget."""
    settings = dict(noise=noise, rounds=rounds, epsilon=epsilon, delta=delta)
    found, lower, upper = _prdo.rate(settings, accountant)
    return Rate(epsilon=upper, lower=lower, delta=float(delta), accountant=accountant, rate=found)


def pairs(
    nodes: int,
    colluders: int,
    rate: RateLike,
    rounds: int,
    epsilon: float,
    delta: float,
    *,
    ratio: float = 3.0,
    secrets: Iterable[tuple[int, int]] | None = None,
    first_rate: RateLike | None = None,
    accountant: Accountant = "prv",
) -> Pairs:
    """Noise in two parts, of which one cancels between nodes, that keeps a budget against outsiders and any ``colluders``
    members together. ``ratio`` is the variance of a pair's share over that of own noise; ``secrets`` are the pairs of nodes
    (numbered from 0) that share a secret, all by default.

    >>> answer = pairs(nodes=10, colluders=1, rate=1, rounds=50, epsilon=4, delta=1e-5, ratio=10)
    >>> round(answer.gain, 2), answer.coalitions[1].epsilon <= 4
    (2.88, True)
    """
    settings = dict(nodes=nodes, colluders=colluders, rate=rate, rounds=rounds, epsilon=epsilon, delta=delta, ratio=ratio, first_rate=first_rate)
    listed = None if secrets is None else [(int(i), int(j)) for i, j in secrets]
    answer = _prdo.pairs(settings, listed, accountant)
    coalitions = [Coalition(*row) for row in answer.pop("costs")]
    disagreement = [Apart(*row) for row in answer.pop("disagreement")]
    return Pairs(coalitions=coalitions, disagreement=disagreement, **answer)


def curve(
    against: Literal["rounds", "noise", "rate", "delta"],
    *,
    rate: RateLike | None = None,
    noise: float | None = None,
    rounds: int | None = None,
    delta: float | None = None,
    first_rate: RateLike | None = None,
    start: float | None = None,
    end: float | None = None,
    points: int = 25,
) -> Curve:
    """ε as one setting changes. Every setting but the one on the axis must be given; the axis goes from ``start`` to
    ``end``, or around what is given for it."""
    import numpy as np

    settings = dict(rate=rate, noise=noise, rounds=rounds, delta=delta, first_rate=first_rate, start=start, end=end, points=points)
    key, rows, svg = _prdo.curve(against, settings)
    names = [key, "epsilon_lower", "epsilon", "epsilon_rdp", "epsilon_rdp_paper"]
    table_ = np.array(rows, dtype=float).reshape(-1, len(names))
    return Curve(against=key, columns={name: table_[:, i] for i, name in enumerate(names)}, svg=svg)
