"""PyTorch modules as models. torch itself is imported only when it is used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import InputError
from .model import PythonModel

__all__ = ["torch_model"]


def torch_model(
    module: Any,
    loss: Callable[[Any, Any], Any] | None = None,
    *,
    transform: Callable[[Any], Any] | None = None,
    classes: bool = True,
    group: int = 32,
    check: bool = True,
) -> PythonModel:
    """A ``torch.nn.Module`` as a model: its parameters, flattened in the module's order, start where they are now, and
    per-record gradients come from ``torch.func.vmap`` of ``grad``.

    ``loss(output, label)`` is the loss of *one* record; default: cross-entropy. ``transform`` is applied to a batch of
    inputs (float tensors; bytes become v/255) before the module; anything learned from private records is not allowed
    in it. ``classes=False`` keeps labels as floats and gives no accuracy. Modules with batch normalisation are refused:
    use group normalisation. Put the module in evaluation mode if it has dropout.
    """
    import torch
    from torch.func import functional_call, grad_and_value, vmap

    for name, part in module.named_modules():
        if isinstance(part, torch.nn.modules.batchnorm._BatchNorm):
            raise InputError(
                f"model: {name} is a batch normalisation: it makes a record's gradient depend on the others, and the run "
                "would not be private; use torch.nn.GroupNorm",
                "model",
            )
    parameters = {name: value.detach() for name, value in module.named_parameters()}
    buffers = {name: value.detach() for name, value in module.named_buffers()}
    shapes = [(name, value.shape, value.numel()) for name, value in parameters.items()]
    start = torch.cat([value.reshape(-1) for value in parameters.values()]).double().numpy()

    def of_one(output: Any, label: Any) -> Any:
        return torch.nn.functional.cross_entropy(output[None], label[None]) if loss is None else loss(output, label)

    def record_loss(flat: Any, one: Any, label: Any) -> Any:
        return of_one(functional_call(module, (unflatten(flat), buffers), (one[None],))[0], label)

    def unflatten(flat: Any) -> dict[str, Any]:
        parts = torch.split(flat, [count for _, _, count in shapes])
        return {name: part.reshape(shape) for (name, shape, _), part in zip(shapes, parts)}

    def inputs(batch: NDArray[Any]) -> Any:
        tensor = torch.from_numpy(batch.astype(np.float32))
        tensor = tensor / 255 if batch.dtype == np.uint8 else tensor
        return tensor if transform is None else transform(tensor)

    def flat(x: NDArray[np.float64]) -> Any:
        return torch.from_numpy(x.astype(np.float32))

    gradients = vmap(grad_and_value(record_loss), in_dims=(None, 0, 0))

    def per_record(x: NDArray[np.float64], batch: NDArray[Any], labels: NDArray[np.float64]) -> tuple[Any, Any]:
        wanted = torch.from_numpy(labels.astype(np.int64 if classes else np.float32))
        gradient, losses = gradients(flat(x), inputs(batch), wanted)
        return losses, gradient

    def predict(x: NDArray[np.float64], batch: NDArray[Any]) -> Any:
        with torch.no_grad():
            return functional_call(module, (unflatten(flat(x)), buffers), (inputs(batch),)).argmax(dim=1)

    return PythonModel(
        len(start), per_record, predict=predict if classes else None, start=start, group=group, check=check
    )
