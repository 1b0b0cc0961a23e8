"""The calls of a :class:`prdo.Method`, as functions of bytes: what they return is checked, and that they keep nothing."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from types import SimpleNamespace
from typing import Any, TypeVar

import numpy as np

from ._state import Layout, layout_of, load, save
from ._unseen import changed, outside, reached
from .errors import MethodError
from .method import Inbox, Method, Query, Settings

T = TypeVar("T")
Numbers = list[float]
#: What a call gives: the state and, behind it, what is sent (of ``query``: its points).
Given = list[bytes]

#: What a class declares; the state can have none of these names.
DECLARED = (
    "name",
    "title",
    "exchanges",
    "vectors",
    "parameters",
    "asks",
    "first_batch",
    "network",
    "model",
    "direction",
    "check",
)
#: So many rounds are looked at closely, and then those whose number is a power of two.
CLOSELY = 3


class Call:
    """Where a call stands, for its errors."""

    def __init__(self, cls: type[Method], what: str, node: int, round_: int) -> None:
        self.cls, self.what, self.node, self.round = cls, what, node, round_

    def error(self, message: str, expected: str | None = None) -> MethodError:
        where = f"method {self.cls.name}, node {self.node}, round {self.round}, {self.what}"
        wanted = "" if expected is None else f"; expected {expected}"
        return MethodError(f"{where}: {message}{wanted}", self.cls.name, self.node, self.round, self.what, expected)

    def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """The user's code, whose exceptions get a place."""
        try:
            return function(*arguments)
        except Exception as error:
            raise self.error(f"raised {type(error).__name__}: {error}") from error


class Bridge:
    """A class's calls. Each is a function of what it is given: the object is made anew from the state."""

    def __init__(self, cls: type[Method], declared: SimpleNamespace) -> None:
        self.cls = cls
        self.names = ["step_size", *(name for name, *_ in declared.parameters)]
        self.exchanges, self.vectors = declared.exchanges, declared.vectors
        self.reached = reached(cls)
        #: How many more calls are looked at closely; ``None``: as many as their rounds say.
        self.close_calls: int | None = None

    def start(self, node: int, numbers: Numbers, x0: bytes) -> tuple[Layout, tuple[int, int], Given]:
        call = Call(self.cls, "start", node, 0)
        d = len(x0) // 8

        def work() -> tuple[Layout, Given]:
            this = self._node(0, numbers)
            call.run(this.start, np.frombuffer(x0, "<f8").copy())
            layout = layout_of(this, d, DECLARED, call.error)
            return layout, save(this, layout, call.error)

        layout, state = self._closely(call, work)
        for role in ("model", "direction"):
            name = getattr(self.cls, role)
            if name not in layout.arrays:
                raise call.error(
                    f"made no array self.{name}, which {role} = {name!r} names", f"it among {', '.join(layout.arrays)}"
                )
        return layout, (layout.arrays.index(self.cls.model), layout.arrays.index(self.cls.direction)), state

    def query(
        self,
        node: int,
        round_: int,
        numbers: Numbers,
        layout: Layout,
        state: Given,
        _: Given,
        kind: str,
        number: float | None,
    ) -> Given:
        call = Call(self.cls, "query", node, round_)

        def work() -> Given:
            this = self._node(round_, numbers, layout, state)
            asked = call.run(this.query)
            if save(this, layout, call.error) != state:
                raise call.error("changed the state", "that only adapt and mix do")
            return self._points(call, asked, layout.size, kind, number)

        return self._closely(call, work)

    def _points(self, call: Call, asked: Any, d: int, kind: str, number: float | None) -> Given:
        if not isinstance(asked, Query) or not isinstance(asked.number, (Real, type(None))):
            raise call.error(f"returned {_shown(asked)}", "prdo.gradient(…), recursive(…), moved(…) or scaled(…)")
        if (asked.kind, asked.number) != (kind, number):
            declared = f"{kind} {'' if number is None else number}".strip()
            found = f"{asked.kind} {'' if asked.number is None else asked.number}".strip()
            raise call.error(f"asks {found}", f"{declared}, which asks = {self.cls.asks!r} declares for this round")
        return [_bytes(call, point, d, f"point {k} of the query") for k, point in enumerate(asked.points)]

    def adapt(self, node: int, round_: int, numbers: Numbers, layout: Layout, state: Given, arrived: Given) -> Given:
        call = Call(self.cls, "adapt", node, round_)

        def work() -> Given:
            this = self._node(round_, numbers, layout, state)
            sent = call.run(this.adapt, np.frombuffer(arrived[0], "<f8").copy())
            return save(this, layout, call.error) + self._message(call, sent, layout.size)

        return self._closely(call, work)

    def mix(
        self,
        node: int,
        round_: int,
        numbers: Numbers,
        layout: Layout,
        state: Given,
        arrived: Given,
        weights: bytes,
        own: int,
        exchange: int,
    ) -> Given:
        call = Call(self.cls, "mix", node, round_)
        row = np.frombuffer(weights, "<f8")
        arrays = [np.frombuffer(vector, "<f8") for vector in arrived]
        vectors = [arrays[k * len(row) : (k + 1) * len(row)] for k in range(self.vectors)]

        def work() -> Given:
            this = self._node(round_, numbers, layout, state)
            sent = call.run(this.mix, Inbox(row, vectors, own, exchange))
            kept = save(this, layout, call.error)
            if exchange + 1 < self.exchanges:
                return kept + self._message(call, sent, layout.size)
            if sent is not None:
                raise call.error(
                    f"returned {_shown(sent)} after exchange {exchange}", f"None: exchanges = {self.exchanges}"
                )
            return kept

        return self._closely(call, work)

    def _node(self, round_: int, numbers: Numbers, layout: Layout | None = None, state: Given | None = None) -> Method:
        this: Method = object.__new__(self.cls)
        this.__dict__["_given"] = (round_, Settings(dict(zip(self.names, numbers))))
        if layout is not None and state is not None:
            load(this, layout, state)
        return this

    def _message(self, call: Call, sent: Any, d: int) -> Given:
        wanted = (
            f"{self.vectors} array{'s' * (self.vectors > 1)} (vectors = {self.vectors}, exchanges = {self.exchanges})"
        )
        arrays = list(sent) if isinstance(sent, (tuple, list)) else [sent]
        if sent is None or len(arrays) != self.vectors:
            raise call.error(f"returned {_shown(sent)}", wanted)
        return [_bytes(call, array, d, f"array {k} of the message") for k, array in enumerate(arrays)]

    def _closely(self, call: Call, work: Callable[[], T]) -> T:
        """The call; in some rounds it is made twice, and what it could change beside the state is looked at."""
        if not self.cls.check or self.close_calls == 0 or (call.round >= CLOSELY and call.round & (call.round - 1)):
            return work()
        if self.close_calls is not None:
            self.close_calls -= 1
        before = outside(self.cls, self.reached)
        first = work()
        beside = changed(before, outside(self.cls, self.reached))
        if beside:
            raise call.error(
                f"changed {', '.join(beside)}",
                "all state in the arrays and numbers that start makes: no checkpoint has any other",
            )
        if work() != first:
            raise call.error(
                "gave another result when it was repeated from the saved state",
                "the same bits: state that a checkpoint lacks, chance and clocks are not allowed",
            )
        return first


def _bytes(call: Call, array: Any, d: int, what: str) -> bytes:
    """An array of the model's size, or the error that says what it is instead."""
    expected = f"a float64 array of shape ({d},), every value finite"
    if not isinstance(array, np.ndarray) or array.dtype != np.float64 or array.shape != (d,):
        raise call.error(f"{what} is {_shown(array)}", expected)
    if not np.isfinite(array).all():
        worst = int(np.flatnonzero(~np.isfinite(array))[0])
        raise call.error(f"value {worst} of {what} is {array[worst]} (is the step size too large?)", expected)
    return np.ascontiguousarray(array, "<f8").tobytes()


def _shown(value: Any) -> str:
    """What a value is, in words."""
    if isinstance(value, np.ndarray):
        return f"a {value.dtype} array of shape {value.shape}"
    if isinstance(value, (tuple, list)):
        return f"{len(value)} of {type(value).__name__}"
    return "None" if value is None else type(value).__name__
