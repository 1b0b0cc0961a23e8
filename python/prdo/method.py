"""Methods of your own: one node's ``start``, ``query``, ``adapt`` and ``mix`` on NumPy arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .errors import InputError

__all__ = ["Inbox", "Method", "Parameter", "Query", "Settings", "gradient", "moved", "recursive", "scaled"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Parameter:
    """A parameter of a method: its default and its range, ends included."""

    default: float
    low: float = -np.inf
    high: float = np.inf
    doc: str = ""


@dataclass(frozen=True)
class Query:
    """What a round asks of a node's records: :func:`gradient`, :func:`recursive`, :func:`moved` and :func:`scaled` make it."""

    kind: str
    points: tuple[Any, ...]
    number: float | None = None


def gradient(x: Array) -> Query:
    """The records' mean gradient at ``x``, each clipped at C_g."""
    return Query("gradient", (x,))


def recursive(x: Array, before: Array, gamma: float) -> Query:
    """γ · gradient at ``x`` + (1 − γ) · how it changed since ``before``, on the same records, clipped at C_Δ."""
    return Query("recursive", (x, before), gamma)


def moved(x: Array, before: Array, kappa: float) -> Query:
    """How the gradient changed between ``before`` and ``x``, each record's clipped at κ‖x − before‖."""
    return Query("moved", (x, before), kappa)


def scaled(x: Array, by: Array, clip: float) -> Query:
    """The gradient at ``x`` divided by the positive array ``by``, each record's clipped at ``clip`` then; so is the answer."""
    return Query("scaled", (x, by), clip)


class Settings:
    """The step size and the parameters, as numbers of the current round: ``settings.step_size``, ``settings.beta``."""

    def __init__(self, numbers: Mapping[str, float]) -> None:
        self.__dict__.update(numbers)

    def __getattr__(self, name: str) -> float:
        raise AttributeError(f"the method declares no parameter {name!r}; it has {', '.join(vars(self))}")

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("settings cannot be changed")

    def __repr__(self) -> str:
        return f"Settings({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"


class Inbox:
    """The messages of a node's neighbourhood, its own among them, with its row of W: both in order of node number."""

    def __init__(self, weights: Array, vectors: list[list[Array]], own: int, exchange: int) -> None:
        #: This node's row of W.
        self.weights = weights
        #: The place of the node's own message.
        self.own = own
        #: Which exchange of the round it is, from 0.
        self.exchange = exchange
        self._vectors = vectors

    def __len__(self) -> int:
        return len(self.weights)

    def pairs(self, which: int = 0) -> list[tuple[float, Array]]:
        """Each message's weight and its array number ``which``; the arrays are read-only."""
        return [(float(weight), vector) for weight, vector in zip(self.weights, self._vectors[which])]

    def mix(self, which: int = 0) -> Array:
        """The weighted sum of array number ``which`` of each message, in the built-in methods' order of additions."""
        (weight, vector), *others = self.pairs(which)
        total = weight * vector
        for weight, vector in others:
            total += weight * vector
        return total


class Method:
    """A method of your own, seen from one node. Subclass it and run it as ``prdo.Run(method={"name": YourClass, ...})``.

    ``start(x0)`` makes the state, ``query()`` says what the round asks, ``adapt(answer)`` takes the gate's answer and
    returns the message to all neighbours, and ``mix(inbox)`` takes their messages. With ``exchanges = 2``, ``mix`` returns
    one more message after the first exchange, and so on; after the last one it returns nothing.

    The state is every attribute that ``start`` makes: float64 arrays of the model's size, and plain numbers. There is no
    other: the object is made anew from it for every call, so that a checkpoint holds all of it, and ``__init__`` is never
    run. ``self.round`` (from 0) and ``self.settings`` are there in every call.

    A method never sees a record: it sees the public start, answers of the gate (which were charged for) and messages.
    """

    #: What it is called in results; no built-in method's name.
    name: ClassVar[str] = ""
    #: What it is called in reports; default: its name.
    title: ClassVar[str] = ""
    #: Exchanges of messages per round.
    exchanges: ClassVar[int] = 1
    #: Arrays of a message. With several, ``adapt`` and ``mix`` return a tuple.
    vectors: ClassVar[int] = 1
    #: Its parameters beside the step size.
    parameters: ClassVar[Mapping[str, Parameter]] = {}
    #: What rounds ask: ``"gradient"``; ``("recursive", gamma)``, ``("moved", kappa)`` or ``("scaled", clip)``, each a number or
    #: a parameter's name, with a gradient in round 0, or with a third item every so many rounds. ``query`` keeps to it.
    asks: ClassVar[Any] = "gradient"
    #: Whether round 0 uses the special batch b₀.
    first_batch: ClassVar[bool] = False
    #: What it needs of W: ``"symmetric"``, ``"doubly-stochastic"`` or ``"column-stochastic"``.
    network: ClassVar[str] = "symmetric"
    #: The array that is the model, and the one that is the direction.
    model: ClassVar[str] = "x"
    direction: ClassVar[str] = "v"
    #: Whether the first calls are repeated, and everything that they could change is looked at, to find state that a
    #: checkpoint would miss. Leave it on.
    check: ClassVar[bool] = True

    def __init__(self, *_: Any) -> None:
        raise InputError(
            f"{type(self).__name__} is run as a class: prdo.Run(method={{'name': {type(self).__name__}, ...}})",
            "method",
        )

    @property
    def round(self) -> int:
        """The round that is worked on, from 0."""
        return self.__dict__["_given"][0]  # type: ignore[no-any-return]

    @property
    def settings(self) -> Settings:
        """The step size and the parameters in this round."""
        return self.__dict__["_given"][1]  # type: ignore[no-any-return]

    def start(self, x0: Array) -> None:
        """Makes the state: at least the arrays that ``model`` and ``direction`` name."""
        raise NotImplementedError

    def query(self) -> Query:
        """What this round asks. It must not change the state."""
        raise NotImplementedError

    def adapt(self, answer: Array) -> Any:
        """Takes the answer and returns what is sent: an array, or a tuple of ``vectors`` arrays."""
        raise NotImplementedError

    def mix(self, inbox: Inbox) -> Any:
        """Takes an exchange's messages; returns the next exchange's, or ``None`` after the last one."""
        raise NotImplementedError
