"""Small pieces of HTML for notebooks."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape


def table(rows: Iterable[tuple[str, object]], title: str = "", note: str = "") -> str:
    """Two columns, a line above and a line below."""
    cells = "".join(
        f"<tr><td style='text-align:left'>{escape(name)}</td>"
        f"<td style='text-align:left'>{escape(str(value))}</td></tr>"
        for name, value in rows
    )
    head = f"<p><b>{escape(title)}</b></p>" if title else ""
    foot = f"<p>{escape(note)}</p>" if note else ""
    return f"<div>{head}<table>{cells}</table>{foot}</div>"


def figure(value: float | None) -> str:
    """A number as people read it; ∞ for none."""
    return "∞" if value is None else f"{value:.6g}"


def picture(svg: str) -> str:
    """A picture on white: its text is black, and notebooks may be dark."""
    return f"<div style='background:#fff;display:inline-block'>{svg}</div>"
