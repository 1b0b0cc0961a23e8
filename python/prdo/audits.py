"""The audit of a method: whether the ε that the accountant claims holds of what runs."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from . import _method, _prdo
from ._html import table
from .errors import out_of_range
from .method import Method

__all__ = ["AuditReport", "audit"]


@dataclass(frozen=True)
class AuditReport:
    """What the attacks found. It is true if they found nothing."""

    #: One dict per check: ``name``, ``setting``, ``passed``, ``figure``, ``allowed`` and ``what``.
    checks: list[dict[str, Any]]
    #: One dict per setting: ``setting``, the ε that the best attack ``proves``, the ε that is ``claimed``, and ``delta``.
    findings: list[dict[str, Any]]

    @property
    def passed(self) -> bool:
        return all(check["passed"] for check in self.checks)

    @property
    def failed(self) -> list[str]:
        """The names of the checks that failed, each once."""
        return list(dict.fromkeys(check["name"] for check in self.checks if not check["passed"]))

    def __bool__(self) -> bool:
        return self.passed

    def _verdict(self) -> str:
        found = "nothing was found" if self.passed else f"FAILED: {', '.join(self.failed)}"
        proven = "; ".join(
            f"{f['setting']}: ε ≥ {f['proves']:.3f} of {f['claimed']:.3f} claimed" for f in self.findings
        )
        return f"{len(self.checks)} checks, {found} ({proven})"

    def __repr__(self) -> str:
        return f"AuditReport({self._verdict()})"

    def _repr_html_(self) -> str:
        rows = ((f"{c['name']}, {c['setting']}", f"{c['figure']:.6g} ({c['allowed']})") for c in self.checks)
        return table(rows, "Audit", self._verdict())


def audit(
    method: str | type[Method] | Mapping[str, Any],
    *,
    full: bool = False,
    runs: int | None = None,
    pairs: int | None = None,
    seed: int = 1,
    progress: bool = True,
) -> AuditReport:
    """Attacks a method as ``prdo audit`` does: a built-in one by its name, a subclass of :class:`Method`, or a dict of its
    ``name`` and its parameters.

    Real nodes, gates and messages run on a ring of four under an adversary that chooses every record but one:
    record-play at the gate, statistics of noise and batches, restarts, and the optimal test against the claimed ε.
    ``full=True`` makes ten times as many runs. ``runs`` and ``pairs`` set their numbers: fewer prove less, and the check
    ``strength`` says so. What is audited is that the gate charges and noises what this method asks, in the rounds and at the
    points at which it asks.
    """
    section: Mapping[str, Any] = method if isinstance(method, Mapping) else {"name": method}
    name = section.get("name")
    handle: Any = name
    if _method.is_method(name):
        handle, _, _ = _method.split(section, None)
        handle = SimpleNamespace(**{"class": _method.audited(section["name"]), "values": handle.values})
    elif not isinstance(name, str) or len(section) > 1:
        raise out_of_range("method", method, "a built-in method's name, a subclass of prdo.Method, or a dict of one")

    def tell(what: str) -> None:
        if progress and sys.stderr.isatty():
            sys.stderr.write(f"\r{what:70}")
            sys.stderr.flush()

    found = _prdo.audit(handle, full, runs, pairs, seed, tell)
    tell("")
    keys = ("name", "setting", "passed", "figure", "allowed", "what")
    checks = [dict(zip(keys, check)) for check in found["checks"]]
    findings = [dict(zip(("setting", "proves", "claimed", "delta"), finding)) for finding in found["findings"]]
    return AuditReport(checks, findings)
