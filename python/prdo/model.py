"""Models of your own: a function that returns one gradient per record."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _prdo
from ._records import array, arrays
from .errors import InputError, out_of_range

__all__ = ["PythonModel", "check_model"]

PerRecord = Callable[[NDArray[np.float64], NDArray[Any], NDArray[np.float64]], tuple[Any, Any]]
Predict = Callable[[NDArray[np.float64], NDArray[Any]], Any]


class PythonModel:
    """A model that a Python function defines.

    Parameters
    ----------
    dimension
        The number of parameters.
    per_record
        ``per_record(x, X, y) -> (losses, gradients)`` with ``x`` the ``dimension`` parameters (float64), ``X`` a few
        records (``(k, features)`` float64, or ``(k, channels, height, width)`` for images: bytes from 0 to 255 if they
        came as bytes), ``y`` their k labels. ``losses`` has k numbers and ``gradients`` shape ``(k, dimension)``:
        row i is the gradient of record i's own loss. NumPy arrays or torch tensors. The arrays that come in are
        read-only.
    predict
        ``predict(x, X) -> labels``, for accuracy on held-out records.
    start
        The public starting point; default zeros. Nothing of the private records may have gone into it.
    group
        How many records ``per_record`` is given at most at a time, up to 63. Fewer need less memory; 1 makes each
        gradient independent of its company to the last bit (larger groups may round differently, by about 1e-7).
    check
        Whether the function is tried on a few records first, so that a batch normalisation, a loss averaged over the
        batch or dropout is refused (see :func:`check_model`). Leave it on.
    parallel
        Whether several threads may call the function at once. Only for functions that change nothing that they share:
        pure NumPy is fine, ``torch.func.functional_call`` on one module is not.

    Gradients are clipped, added and noised by the gate as for every model, in single precision; a record whose gradient
    is not finite contributes nothing and is counted (``summary["non_finite_records"]``).
    """

    def __init__(
        self,
        dimension: int,
        per_record: PerRecord,
        *,
        predict: Predict | None = None,
        start: ArrayLike | None = None,
        group: int = 32,
        check: bool = True,
        parallel: bool = False,
    ) -> None:
        if not isinstance(dimension, (int, np.integer)) or not 1 <= dimension <= 2**30:
            raise out_of_range("dimension", dimension, "a whole number from 1 to 2**30")
        if not isinstance(group, (int, np.integer)) or not 1 <= group <= 63:
            raise out_of_range("group", group, "a whole number from 1 to 63")
        for name, function in (("per_record", per_record), ("predict", predict)):
            if function is not None and not callable(function):
                raise out_of_range(name, function, "a function")
        self.dimension = int(dimension)
        self.per_record = per_record
        self.predict = predict
        self.group = int(group)
        self.check = bool(check)
        self.parallel = bool(parallel)
        self.start = _start(self.dimension, start)

    def __repr__(self) -> str:
        name = getattr(self.per_record, "__name__", repr(self.per_record))
        return f"PythonModel({self.dimension} parameters, {name})"

    def _handle(self) -> SimpleNamespace:
        """What the extension reads."""
        return SimpleNamespace(
            dimension=self.dimension,
            start=self.start.astype("<f8").tobytes(),
            group=self.group,
            check=self.check,
            parallel=self.parallel,
            bridge=self._bridge,
        )

    def _bridge(self, shape: tuple[int, ...], image_bytes: bool) -> tuple[Any, Any]:
        """Functions of bytes, for records of this shape."""
        dtype = np.uint8 if image_bytes else np.dtype("<f8")

        def unpack(x: bytes, features: bytes) -> tuple[NDArray[np.float64], NDArray[Any]]:
            return np.frombuffer(x, "<f8"), np.frombuffer(features, dtype).reshape(-1, *shape)

        def evaluate(x: bytes, features: bytes, labels: bytes) -> tuple[bytes, bytes]:
            point, batch = unpack(x, features)
            answer = self.per_record(point, batch, np.frombuffer(labels, "<f8"))
            return _answer(answer, len(batch), self.dimension)

        def predict(x: bytes, features: bytes) -> bytes:
            point, batch = unpack(x, features)
            assert self.predict is not None
            predicted = array("predict", self.predict(point, batch))
            if predicted.shape != (len(batch),):
                raise out_of_range("predict(...).shape", predicted.shape, f"({len(batch)},): one label per record")
            return predicted.astype("<f8").tobytes()

        return evaluate, None if self.predict is None else predict


def _start(dimension: int, start: ArrayLike | None) -> NDArray[np.float64]:
    values = np.zeros(dimension) if start is None else array("start", start).astype(np.float64).ravel()
    if len(values) != dimension or not np.isfinite(values).all():
        raise out_of_range("start.shape", values.shape, f"({dimension},), every value finite")
    return values


def _answer(answer: Any, records: int, dimension: int) -> tuple[bytes, bytes]:
    """What ``per_record`` returned, checked, as bytes."""
    if not isinstance(answer, (tuple, list)) or len(answer) != 2:
        raise InputError(f"per_record must return (losses, gradients), not {type(answer).__name__}", "per_record")
    losses, gradients = array("per_record: losses", answer[0]), array("per_record: gradients", answer[1])
    if losses.shape != (records,):
        raise out_of_range("per_record: losses.shape", losses.shape, f"({records},): one loss per record")
    if gradients.shape != (records, dimension):
        allowed = f"({records}, {dimension}): one gradient per record"
        raise out_of_range("per_record: gradients.shape", gradients.shape, allowed)
    with np.errstate(over="ignore"):
        return losses.astype("<f8").tobytes(), gradients.astype("<f4", copy=False).tobytes()


def check_model(model: PythonModel, X: Any, y: Any) -> float:
    """Tries a model on the first records of ``X`` and ``y``: the gradients of a batch must be those of the records one
    by one. Returns by how much they differ at most, relative to the largest gradient; raises :class:`InputError` where
    that is more than 0.002 %.

    Privacy rests on it: clipping bounds what one record contributes only if no record changes another's gradient.
    """
    return _prdo.check_model(model._handle(), arrays("data", (array("X", X)[:8], array("y", y)[:8])))
