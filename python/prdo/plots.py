"""Pictures for notebooks, drawn as the reports draw them: no other package is needed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import _prdo
from ._html import picture
from ._records import array
from .errors import out_of_range

__all__ = ["Picture", "plot"]


@dataclass(frozen=True)
class Picture:
    """A picture. Notebooks show it."""

    svg: str = field(repr=False)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes it as an SVG file."""
        Path(path).write_text(self.svg, encoding="utf-8")

    def _repr_html_(self) -> str:
        return picture(self.svg)


def plot(
    lines: Mapping[str, tuple[Any, Any]],
    *,
    title: str = "",
    x: str = "round",
    y: str = "",
    log_x: bool = False,
    log_y: bool = False,
) -> Picture:
    """Lines ``{name: (xs, ys)}`` over two axes, which are called ``x`` and ``y``."""
    drawn = []
    for name, (xs, ys) in lines.items():
        a, b = array(f"{name}: xs", xs).astype(float), array(f"{name}: ys", ys).astype(float)
        if a.ndim != 1 or a.shape != b.shape:
            raise out_of_range(f"lines[{name!r}]", (a.shape, b.shape), "two lists of equal length")
        drawn.append((str(name), list(zip(a.tolist(), b.tolist()))))
    return Picture(_prdo.plot(title, (x, y), (log_x, log_y), drawn))
