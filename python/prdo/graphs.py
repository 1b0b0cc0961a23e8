"""Who talks to whom, and how fast a network mixes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _prdo
from ._html import picture, table
from ._settings import settings

__all__ = ["Graph", "graph"]


@dataclass(frozen=True)
class Graph:
    """A graph with its mixing matrix."""

    nodes: int
    edges: int
    #: λ: the second largest eigenvalue of W.
    eigenvalue: float
    #: 1 − λ: how fast differences between nodes die out.
    spectral_gap: float
    smallest_eigenvalue: float
    #: Whether W has no negative eigenvalue, as the paper assumes.
    positive_semidefinite: bool
    #: How W was made.
    weights: str
    degrees: list[int] = field(repr=False)
    #: W; ``None`` above 4096 nodes.
    matrix: NDArray[np.float64] | None = field(repr=False)
    svg: str = field(repr=False)

    def _repr_html_(self) -> str:
        rows: list[tuple[str, object]] = [
            ("nodes", self.nodes),
            ("links", self.edges),
            ("λ", f"{self.eigenvalue:.6g}"),
            ("spectral gap", f"{self.spectral_gap:.6g}"),
            ("weights", self.weights),
        ]
        return table(rows) + picture(self.svg)


def graph(kind: str, nodes: int | None = None, **options: Any) -> Graph:
    """A graph of a family, such as ``graph("ring", nodes=32)``; ``options`` are the other keys of a run file's
    ``[graph]`` section (``weights``, ``lazy``, ``degree``, ``probability``, ``seed``, ``file``)."""
    answer = _prdo.graph(settings({"graph": {"kind": kind, "nodes": nodes, **options}}))
    matrix = answer.pop("matrix", None)
    if matrix is not None:
        matrix = np.frombuffer(matrix, "<f8").reshape(answer["nodes"], answer["nodes"])
    return Graph(matrix=matrix, **answer)
