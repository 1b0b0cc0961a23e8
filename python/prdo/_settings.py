"""Python values as the values of run-file keys, so that every check of the run file applies to them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from fractions import Fraction
from numbers import Integral, Real
from typing import Any

import numpy as np

from .errors import out_of_range

#: What a section that is given as one text means.
SHORT = {"graph": "kind", "method": "name", "model": "kind", "data": "source", "partition": "kind"}


def toml(key: str, value: Any) -> str:
    """A value as TOML."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, (Real, Fraction)):
        return repr(float(value))
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(toml(key, item) for item in value) + "]"
    raise out_of_range(key, value, "a number, text, True or False, or a list of them")


def flatten(arguments: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Keyword arguments as dotted keys: a section is a dict, or the text that matters most in it."""
    for name, value in arguments.items():
        if value is None:
            continue
        if isinstance(value, Mapping):
            for inner, item in value.items():
                if item is not None:
                    yield f"{name}.{inner}", item
        elif isinstance(value, str) and name in SHORT:
            yield f"{name}.{SHORT[name]}", value
        else:
            yield name, value


def settings(arguments: Mapping[str, Any], overrides: Mapping[str, Any] | None = None) -> list[tuple[str, str]]:
    """(key, TOML) of all arguments, then of the overrides."""
    pairs = [*flatten(arguments), *(overrides or {}).items()]
    return [(str(key), toml(str(key), value)) for key, value in pairs if value is not None]
