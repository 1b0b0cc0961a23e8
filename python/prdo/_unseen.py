"""What the code of a :class:`prdo.Method` can reach beside its node's state: it must not keep anything there."""

from __future__ import annotations

import dis
import inspect
import pickle
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from .method import Method

#: Arrays of more bytes than this are not looked at.
MOST_BYTES = 1 << 22


def _own_classes(cls: type[Method]) -> list[type]:
    return [base for base in cls.__mro__ if base not in (Method, object)]


def _functions(value: Any) -> Iterator[FunctionType]:
    if isinstance(value, (staticmethod, classmethod)):
        value = value.__func__
    if isinstance(value, property):
        for part in (value.fget, value.fset):
            yield from _functions(part)
    value = inspect.unwrap(value) if callable(value) else value
    if isinstance(value, FunctionType):
        yield value


@lru_cache(maxsize=1024)
def _names(code: CodeType) -> frozenset[str]:
    """The globals that code and the functions within it read or write."""
    own = (i.argval for i in dis.get_instructions(code) if i.opname in ("LOAD_GLOBAL", "STORE_GLOBAL", "LOAD_NAME"))
    inner = (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return frozenset(own).union(*map(_names, inner))


def reached(cls: type[Method]) -> list[FunctionType]:
    """The functions of a class, and those of its module that they call."""
    todo = [f for base in _own_classes(cls) for value in vars(base).values() for f in _functions(value)]
    found: list[FunctionType] = []
    while todo:
        function = todo.pop()
        if function in found:
            continue
        found.append(function)
        for value in _variables(function).values():
            todo += [f for f in _functions(value) if f.__module__ == cls.__module__]
    return found


def _variables(function: FunctionType) -> dict[str, Any]:
    """What a function reads that is not its own: globals, closures, defaults."""
    found = {
        f"the global {name}": function.__globals__[name]
        for name in _names(function.__code__)
        if name in function.__globals__
    }
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            found[f"the closure's {name}"] = cell.cell_contents
        except ValueError:  # Not filled yet.
            continue
    for k, value in enumerate((*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())):
        found[f"default {k} of {function.__name__}"] = value
    if vars(function):
        found[f"an attribute of {function.__name__}"] = vars(function)
    return found


def outside(cls: type[Method], functions: list[FunctionType]) -> dict[str, bytes]:
    """Everything that the class's code could keep something in, as it is now."""
    found: dict[str, Any] = {}
    for base in _own_classes(cls):
        plain = ((name, value) for name, value in vars(base).items() if not name.startswith("__"))
        found.update({f"{base.__name__}.{name}": value for name, value in plain if not any(_functions(value))})
    for function in functions:
        found.update(_variables(function))
    shots = ((name, _picture(value)) for name, value in found.items())
    return {name: shot for name, shot in shots if shot is not None}


def _picture(value: Any) -> bytes | None:
    if isinstance(value, (ModuleType, FunctionType, type)) or (
        isinstance(value, np.ndarray) and value.nbytes > MOST_BYTES
    ):
        return None
    try:
        return pickle.dumps(value, 5)
    except Exception:  # What cannot be pictured is not looked at.
        return None


def changed(before: dict[str, bytes], after: dict[str, bytes]) -> list[str]:
    return sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))


def source(cls: type[Method]) -> str:
    """The text of a class and of what it calls in its module; its code where there is no text."""
    parts: list[str] = []
    things: list[Any] = [*_own_classes(cls), *reached(cls)]
    for thing in things:
        try:
            parts.append(inspect.getsource(thing))
        except (OSError, TypeError):
            if isinstance(thing, FunctionType):
                parts.append(_written(thing.__code__))
    return "\n".join(sorted(parts))


def _written(code: CodeType) -> str:
    constants = [_written(c) if isinstance(c, CodeType) else repr(c) for c in code.co_consts]
    return f"{code.co_name} {code.co_code.hex()} {code.co_names} {constants}"
