"""How far a run is: tqdm where it is installed, otherwise a line that is written over."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

Row = Sequence[Any]
#: Positions in a row of metrics.
LOSS, ACCURACY, EPSILON = 1, 4, 5


def _words(row: Row) -> str:
    words = [f"loss {row[LOSS]:.4g}"]
    if row[ACCURACY] is not None:
        words.append(f"accuracy {100 * row[ACCURACY]:.1f} %")
    if row[EPSILON] is not None:
        words.append(f"ε {row[EPSILON]:.3f}")
    return "  ".join(words)


class Progress:
    """Shows rounds and rows as they are reported; calls back the user's function with every row."""

    def __init__(self, rounds: int, show: bool, each: Callable[[dict[str, Any]], None] | None, columns: Sequence[str]):
        self.rounds = rounds
        self.each = each
        self.columns = columns
        self.done = 0
        self.words = ""
        self.bar: Any = None
        self.line = False
        if show:
            try:
                from tqdm.auto import tqdm

                self.bar = tqdm(total=rounds, unit="round", leave=False)
            except ImportError:
                self.line = sys.stderr.isatty()

    def __call__(self, round_: int, row: Row | None) -> None:
        if row is not None:
            self.words = _words(row)
            if self.each is not None:
                self.each(dict(zip(self.columns, row)))
        if self.bar is not None:
            self.bar.set_postfix_str(self.words, refresh=False)
            self.bar.update(round_ - self.done)
        elif self.line:
            sys.stderr.write(f"\rround {round_} of {self.rounds}  {self.words}   ")
            sys.stderr.flush()
        self.done = round_

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()
        elif self.line:
            sys.stderr.write("\n")
