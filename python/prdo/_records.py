"""Arrays, tables and tensors as records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import InputError, out_of_range


def array(name: str, value: Any) -> NDArray[Any]:
    """A NumPy array of anything that is one: lists, pandas columns, SciPy matrices, torch tensors on any device."""
    if hasattr(value, "detach"):
        value = value.detach().cpu()
    if hasattr(value, "toarray"):
        value = value.toarray()
    try:
        return np.asarray(value)
    except (ValueError, TypeError) as error:
        raise InputError(f"{name} is not an array: {error}", name) from error


def _features(name: str, value: Any) -> NDArray[Any]:
    x = array(name, value)
    if x.ndim not in (2, 3, 4) or 0 in x.shape:
        allowed = "of shape (records, features), or (records, [channels,] height, width) for images, and not empty"
        raise out_of_range(f"{name}.shape", x.shape, allowed)
    if x.dtype == np.uint8 and x.ndim > 2:
        return np.ascontiguousarray(x)
    if x.dtype.kind not in "fiub":
        try:
            if x.dtype.kind != "O":
                raise TypeError(f"{x.dtype} are not real numbers")
            x = x.astype(np.float64)
        except (ValueError, TypeError) as error:
            raise out_of_range(f"{name}.dtype", str(x.dtype), f"numbers ({error})") from error
    return np.ascontiguousarray(x, dtype="<f8")


def _labels(
    name: str, value: Any, records: int, classes: Sequence[str] | None
) -> tuple[NDArray[np.float64], list[str] | None]:
    """Labels as numbers, and the names behind them where they are names."""
    y = array(name, value)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.shape != (records,):
        raise out_of_range(f"{name}.shape", y.shape, f"({records},): one label per record")
    if y.dtype.kind in "fiub":
        return np.ascontiguousarray(y, dtype="<f8"), None
    names = [str(label) for label in y]
    known = list(classes) if classes is not None else sorted(set(names))
    number = {label: float(i) for i, label in enumerate(known)}
    unknown = sorted(set(names) - set(known))
    if unknown:
        raise out_of_range(name, unknown[0], f"one of the labels of the data: {', '.join(known[:20])}")
    return np.array([number[label] for label in names], dtype="<f8"), known


def _nodes(name: str, value: Any, records: int) -> tuple[bytes, list[str] | None]:
    """Who holds each record, and what the holders are called where they have names."""
    node = array(name, value)
    if node.shape != (records,):
        raise out_of_range(f"{name}.shape", node.shape, f"({records},): who holds each record")
    if node.dtype.kind in "iu":
        if node.min() < 0 or node.max() >= 2**31:
            raise out_of_range(name, int(node.min()), "whole numbers from 0, or names")
        return node.astype("<u4").tobytes(), None
    if node.dtype.kind == "f":
        raise out_of_range(f"{name}.dtype", str(node.dtype), "whole numbers from 0, or names")
    names, codes = np.unique([str(one) for one in node], return_inverse=True)
    return codes.astype("<u4").tobytes(), [str(one) for one in names]


def is_table(data: Any) -> bool:
    """Whether it is a pandas table."""
    return hasattr(data, "columns") and hasattr(data, "iloc")


def _from_table(data: Any, label: str | None, node: str | None) -> tuple[Any, Any, Any, list[str]]:
    columns = [str(column) for column in data.columns]
    label = label or next((name for name in ("label", "y") if name in columns), None)
    if label is None or label not in columns:
        raise out_of_range("label", label, f"a column of data: {', '.join(columns[:20])}")
    if node is None and "node" in columns:
        node = "node"
    if node is not None and node not in columns:
        raise out_of_range("node", node, f"a column of data: {', '.join(columns[:20])}")
    names = [name for name in columns if name not in (label, node)]
    table = data.set_axis(columns, axis=1)
    for name in names:
        if table[name].dtype.kind not in "fiub":
            raise out_of_range(
                f"data[{name!r}]", str(table[name].dtype), "a column of numbers: encode it, or leave it out"
            )
    return table[names].to_numpy(), table[label].to_numpy(), None if node is None else table[node].to_numpy(), names


def arrays(
    name: str,
    data: Any,
    label: str | None = None,
    node: str | None = None,
    classes: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Records as the extension takes them."""
    who: Any = None
    names: list[str] | None = None
    if is_table(data):
        x, y, who, names = _from_table(data, label, node)
    elif isinstance(data, (tuple, list)) and len(data) in (2, 3):
        x, y, *rest = data
        who = rest[0] if rest else None
        if is_table(x):
            names = [str(column) for column in x.columns]
    else:
        raise out_of_range(name, type(data).__name__, "(X, y), (X, y, node) or a pandas DataFrame with a label column")
    features = _features(f"{name}: X", x)
    labels, class_names = _labels(f"{name}: y", y, len(features), classes)
    holders, node_names = (None, None) if who is None else _nodes(f"{name}: node", who, len(features))
    return {
        "shape": list(features.shape),
        "image_bytes": features.dtype == np.uint8,
        "x": features.tobytes(),
        "y": labels.tobytes(),
        "node": holders,
        "node_names": node_names,
        "class_names": class_names,
        "feature_names": names if names is not None and len(names) == features.shape[1] else None,
    }
