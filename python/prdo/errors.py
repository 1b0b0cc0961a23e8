"""The package's exceptions."""

from __future__ import annotations


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


def out_of_range(field: str, value: object, allowed: str) -> InputError:
    """The error for an argument that is not what it must be."""
    shown = repr(value)
    shown = shown if len(shown) <= 80 else shown[:77] + "..."
    return InputError(f"{field} = {shown} is not allowed: it must be {allowed}", field, shown, allowed)
