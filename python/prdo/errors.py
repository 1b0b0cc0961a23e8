"""The package's exceptions."""

from __future__ import annotations

from typing import Any


class InputError(ValueError):
    """What was given is wrong: nothing was trained, released or overwritten.

    ``field`` is the argument or run-file key, ``value`` what was given (as text) and ``allowed`` what it must be; each
    is ``None`` where the error is not about one value. All of it is in the message too.
    """

    def __init__(
        self,
        message: str,
        field: str | None = None,
        value: str | None = None,
        allowed: str | None = None,
    ) -> None:
        super().__init__(message)
        self.field = field
        self.value = value
        self.allowed = allowed

    def __reduce__(self) -> tuple[type[InputError], tuple[str, str | None, str | None, str | None]]:
        return type(self), (str(self), self.field, self.value, self.allowed)


class RunError(RuntimeError):
    """The work failed: training diverged, the disk is full."""


class MethodError(RunError):
    """A :class:`prdo.Method` failed, or did something else than it declared.

    ``method``, ``node``, ``round`` and ``call`` (``"start"``, ``"query"``, ``"adapt"`` or ``"mix"``) say where, ``expected``
    what was wanted, if that can be said, and ``spent`` which ε was spent by then (``None`` without privacy). An exception of
    the method's own code is the ``__cause__``. What a round asks is looked at before any gate is asked: a query that is
    refused has cost nothing.
    """

    def __init__(
        self, message: str, method: str, node: int, round: int, call: str, expected: str | None = None  # noqa: A002
    ) -> None:
        super().__init__(message)
        self.method = method
        self.node = node
        self.round = round
        self.call = call
        self.expected = expected
        self.spent: float | None = None

    def __str__(self) -> str:
        message = super().__str__()
        if self.spent is None:
            return message
        return f"{message}; {f'ε = {self.spent:.4g} was spent' if self.spent > 0 else 'nothing was spent'}"

    def __reduce__(self) -> tuple[Any, ...]:
        fields = (self.args[0], self.method, self.node, self.round, self.call, self.expected)
        return type(self), fields, {"spent": self.spent}


def out_of_range(field: str, value: object, allowed: str) -> InputError:
    """The error for an argument that is not what it must be."""
    shown = repr(value)
    shown = shown if len(shown) <= 80 else shown[:77] + "..."
    return InputError(f"{field} = {shown} is not allowed: it must be {allowed}", field, shown, allowed)
