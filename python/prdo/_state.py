"""The state of one node of a :class:`prdo.Method`: the attributes of its object, as bytes and back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

#: Makes the error of the call that is under way: what is wrong, and what was expected.
Error = Callable[[str, str], Exception]
#: Whole numbers that a double holds exactly.
WHOLE = 2**53


@dataclass(frozen=True)
class Layout:
    """Which attributes there are: arrays of ``size`` values, and numbers with their types."""

    size: int
    arrays: tuple[str, ...]
    numbers: tuple[tuple[str, type], ...]


def layout_of(this: Any, size: int, taken: tuple[str, ...], error: Error) -> Layout:
    """The attributes that ``start`` made."""
    arrays, numbers = [], []
    for name, value in _attributes(this).items():
        if name in taken:
            raise error(f"self.{name} hides what the class declares", f"another name than {', '.join(taken)}")
        if isinstance(value, np.ndarray):
            arrays.append(name)
        else:
            numbers.append((name, _type(name, value, error)))
    return Layout(size, tuple(arrays), tuple(numbers))


def save(this: Any, layout: Layout, error: Error) -> list[bytes]:
    """The arrays, and behind them the numbers if there are any: checked."""
    found = _attributes(this)
    names = [*layout.arrays, *(name for name, _ in layout.numbers)]
    for name in found:
        if name not in names:
            raise error(f"made self.{name}", "that start makes every attribute: no other is kept from call to call")
    for name in names:
        if name not in found:
            raise error(f"deleted self.{name}", "every attribute that start made")
    saved = [_array(name, found[name], layout.size, error) for name in layout.arrays]
    if layout.numbers:
        numbers = [_number(name, found[name], kind, error) for name, kind in layout.numbers]
        saved.append(np.array(numbers, "<f8").tobytes())
    return saved


def load(this: Any, layout: Layout, saved: list[bytes]) -> None:
    """Gives an object its attributes; the arrays are its own."""
    for name, raw in zip(layout.arrays, saved):
        this.__dict__[name] = np.frombuffer(raw, "<f8").copy()
    if layout.numbers:
        for (name, kind), value in zip(layout.numbers, np.frombuffer(saved[-1], "<f8")):
            this.__dict__[name] = kind(value)


def _attributes(this: Any) -> dict[str, Any]:
    return {name: value for name, value in vars(this).items() if name != "_given"}


def _type(name: str, value: Any, error: Error) -> type:
    for kind, types in ((bool, (bool, np.bool_)), (int, Integral), (float, Real)):
        if isinstance(value, types):
            return kind
    raise error(
        f"self.{name} is a {type(value).__name__}",
        "a float64 array of the model's size or a plain number: state is nothing else",
    )


def _array(name: str, value: Any, size: int, error: Error) -> bytes:
    expected = f"a float64 array of shape ({size},), every value finite"
    if not isinstance(value, np.ndarray):
        raise error(f"self.{name} is a {type(value).__name__}", expected)
    if value.dtype != np.float64 or value.shape != (size,):
        raise error(f"self.{name} is a {value.dtype} array of shape {value.shape}", expected)
    if not np.isfinite(value).all():
        worst = int(np.flatnonzero(~np.isfinite(value))[0])
        raise error(f"value {worst} of self.{name} is {value[worst]} (is the step size too large?)", expected)
    return np.ascontiguousarray(value, "<f8").tobytes()


def _number(name: str, value: Any, kind: type, error: Error) -> float:
    found = _type(name, value, error)
    if kind is not found and not (kind is float and found is int):
        raise error(f"self.{name} is {value!r}", f"a {kind.__name__}, as start made it")
    if not np.isfinite(value) or (kind is int and abs(value) > WHOLE):
        raise error(f"self.{name} is {value!r}", "a finite number that a double holds")
    return float(value)
