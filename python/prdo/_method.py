"""What a :class:`prdo.Method` declares, on its way to the extension."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from numbers import Real
from types import SimpleNamespace
from typing import Any

import numpy as np

from . import _prdo
from ._bridge import Bridge
from ._unseen import source
from .errors import InputError, out_of_range
from .method import Method, Parameter

CALLS = ("start", "query", "adapt", "mix")
NETWORKS = ("symmetric", "doubly-stochastic", "column-stochastic")
BUILT_IN = ("name", "step_size")
#: An audit makes thousands of short runs: so many of their calls are looked at closely.
CLOSELY_AUDITED = 4000

_classes: dict[type[Method], tuple[bytes, _prdo.MethodClass]] = {}


def is_method(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, Method)


def split(method: Mapping[str, Any], overrides: Mapping[str, Any] | None) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """A ``method`` section whose name is a class: what the extension takes, what the run file takes, and the other
    overrides."""
    own, rest = dict(method), dict(overrides or {})
    own.update({key.removeprefix("method."): rest.pop(key) for key in [*rest] if key.startswith("method.")})
    cls = method["name"]
    step_size = own.get("step_size")
    values = [
        (key, _value(f"method.{key}", value)) for key, value in own.items() if key not in BUILT_IN and value is not None
    ]
    section = {} if step_size is None else {"step_size": step_size}
    return SimpleNamespace(**{"class": handle(cls), "values": values}), section, rest


def _value(key: str, value: Any) -> float | str:
    if isinstance(value, str):
        return value
    if isinstance(value, Real) and not isinstance(value, (bool, np.bool_)):
        return float(value)
    raise out_of_range(key, value, "a number, or text such as '0.1, 0.05 from 100'")


def handle(cls: type[Method]) -> _prdo.MethodClass:
    """What the extension knows a class by; made once, unless the class was changed."""
    declared = _declaration(cls)
    known = _classes.get(cls)
    if known is None or known[0] != declared.identity:
        known = _classes[cls] = (declared.identity, _prdo.MethodClass(declared))
    return known[1]


def audited(cls: type[Method]) -> _prdo.MethodClass:
    """One of its own for an audit, which Ctrl-C can stop."""
    declared = _declaration(cls)
    declared.bridge.close_calls = CLOSELY_AUDITED
    return _prdo.MethodClass(declared)


def _declaration(cls: type[Method]) -> SimpleNamespace:
    """What a class declares, checked."""
    missing = [call for call in CALLS if getattr(cls, call) is getattr(Method, call)]
    if missing:
        raise InputError(f"method {cls.__name__} does not define {', '.join(missing)}", "method")
    if cls.__init__ is not Method.__init__:
        raise InputError(
            f"method {cls.__name__} defines __init__, which is never run: make the state in start(self, x0)", "method"
        )
    name = _text(cls, "name")
    if not name:
        raise _wrong(cls, "name", cls.name, "a text that is not empty")
    if name in _prdo.METHODS or name == "own":
        raise _wrong(cls, "name", name, f"another name than the built-in methods': {', '.join(_prdo.METHODS)}")
    if cls.network not in NETWORKS:
        raise _wrong(cls, "network", cls.network, f"one of {', '.join(NETWORKS)}")
    for key, most in (("exchanges", 1000), ("vectors", 100)):
        value = getattr(cls, key)
        if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or not 1 <= value <= most:
            raise _wrong(cls, key, value, f"a whole number from 1 to {most}")
    parameters = [_parameter(cls, key, value) for key, value in dict(cls.parameters).items()]
    declared = SimpleNamespace(
        name=name,
        title=_text(cls, "title") or name,
        idea=((cls.__doc__ or "").strip().splitlines() or [""])[0],
        exchanges=int(cls.exchanges),
        vectors=int(cls.vectors),
        network=_text(cls, "network"),
        first_batch=bool(cls.first_batch),
        asks=_asks(cls),
        parameters=parameters,
    )
    text = f"{sorted(vars(declared).items())!r} {_text(cls, 'model')} {_text(cls, 'direction')}\n{source(cls)}"
    declared.identity = hashlib.sha256(text.encode()).digest()
    declared.bridge = Bridge(cls, declared)
    return declared


def _wrong(cls: type[Method], key: str, value: object, allowed: str) -> InputError:
    return out_of_range(f"{cls.__name__}.{key}", value, allowed)


def _text(cls: type[Method], key: str) -> str:
    value = getattr(cls, key)
    if not isinstance(value, str):
        raise _wrong(cls, key, value, "a text")
    return value


def _parameter(cls: type[Method], key: str, value: Any) -> tuple[str, float, float, float, str]:
    if not isinstance(key, str) or not key.isidentifier() or key in BUILT_IN:
        raise _wrong(cls, "parameters", key, "names that attributes can have, and not name or step_size")
    if not isinstance(value, Parameter):
        raise _wrong(cls, f"parameters[{key!r}]", value, "a prdo.Parameter(default, low, high)")
    default, low, high = float(value.default), float(value.low), float(value.high)
    if not (np.isfinite(default) and low <= default <= high):
        raise _wrong(cls, f"parameters[{key!r}].default", default, f"a number from {low:g} to {high:g}")
    return key, default, low, high, value.doc


def _asks(cls: type[Method]) -> tuple[str, Any, Any]:
    asks = (cls.asks,) if isinstance(cls.asks, str) else tuple(cls.asks)
    allowed = "'gradient', ('recursive', gamma), ('moved', kappa) or ('scaled', clip), with a third item: a gradient every so many rounds"
    if not asks or len(asks) > 3 or any(isinstance(item, str) and item not in cls.parameters for item in asks[1:]):
        raise _wrong(cls, "asks", cls.asks, f"{allowed}; texts behind the first one are names of parameters")
    if (asks[0] == "gradient") != (len(asks) == 1) or asks[0] not in ("gradient", "recursive", "moved", "scaled"):
        raise _wrong(cls, "asks", cls.asks, allowed)
    numbers = [item if isinstance(item, str) else float(item) for item in asks[1:]]
    return (asks[0], *numbers, *([None] * (3 - len(asks))))
