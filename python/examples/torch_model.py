"""The paper's CNN in PyTorch, trained privately on part of CIFAR-10 (or on the folder you name).

    python examples/torch_model.py --data cifar-10-batches-bin [--records 2000] [--rounds 20]

Then the built-in network of the same layers (`model.kind = "vgg-small"`) trains from the same start with the same batches
and noise: the two average models differ by rounding alone.
"""

from __future__ import annotations

import argparse
import json
import struct
import tempfile
import time
from pathlib import Path

import numpy as np
import prdo
import torch
from torch import nn

MEAN = torch.tensor([0.4914, 0.4822, 0.4465]).reshape(3, 1, 1)
DEVIATION = torch.tensor([0.2470, 0.2435, 0.2616]).reshape(3, 1, 1)


def vgg_small() -> nn.Module:
    """The paper's CNN: 550,570 parameters."""

    def block(channels: int, width: int) -> list[nn.Module]:
        return [
            nn.Conv2d(channels, width, 3, padding=1),
            nn.Tanh(),
            nn.Conv2d(width, width, 3, padding=1),
            nn.Tanh(),
            nn.MaxPool2d(2),
        ]

    return nn.Sequential(
        *block(3, 32), *block(32, 64), *block(64, 128), nn.Flatten(), nn.Linear(128 * 4 * 4, 128), nn.Tanh(), nn.Linear(128, 10)
    )


def cifar10(folder: Path, records: int) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """The first records of the binary version, and the first 200 test images."""

    def read(name: str, most: int) -> tuple[np.ndarray, np.ndarray]:
        rows = np.fromfile(folder / name, dtype=np.uint8).reshape(-1, 3073)[:most]
        return rows[:, 1:].reshape(-1, 3, 32, 32), rows[:, 0].astype(int)

    return read("data_batch_1.bin", records), read("test_batch.bin", 200)


def write_start(module: nn.Module, path: Path) -> None:
    """The module's parameters as a safetensors file, named as the built-in network names its layers."""
    layers = [part for part in module if isinstance(part, (nn.Conv2d, nn.Linear))]
    names = [f"conv{i}" for i in range(1, 7)] + ["fc1", "fc2"]
    header: dict[str, object] = {}
    data = b""
    for name, layer in zip(names, layers):
        for kind, tensor in (("weight", layer.weight), ("bias", layer.bias)):
            values = tensor.detach().numpy().astype("<f4").tobytes()
            place = [len(data), len(data) + len(values)]
            header[f"{name}.{kind}"] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": place}
            data += values
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with data_batch_1.bin and test_batch.bin")
    parser.add_argument("--records", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=20)
    args = parser.parse_args()
    torch.manual_seed(0)
    module = vgg_small()
    model = prdo.torch_model(module, transform=lambda images: (images - MEAN) / DEVIATION)
    train, test = cifar10(args.data, args.records)
    print(f"{model}; batch against records one by one: {prdo.check_model(model, *train):.1e}")
    settings = {
        "data": train,
        "test": test,
        "graph": {"kind": "ring", "nodes": 4},
        "rounds": args.rounds,
        "method": {"name": "prdo", "step_size": 0.5, "gamma": 0.5},
        "batch": {"size": 64},
        "clip": {"gradient": 1.0, "difference": 0.5},
        "privacy": {"epsilon": 8, "delta": 1e-4},
        "metrics": {"every": args.rounds, "records": 32},
    }
    constants = {"data.mean": MEAN.flatten().tolist(), "data.deviation": DEVIATION.flatten().tolist()}
    start = Path(tempfile.mkdtemp()) / "start.safetensors"
    write_start(module, start)
    built_in = {"kind": "vgg-small", "file": start}
    averages = []
    for name, kind in (("PyTorch", model), ("built-in", built_in)):
        run = prdo.Run(model=kind, set=constants, **settings)
        times: list[float] = []
        # From the first row of metrics to the last: the rounds, without preparing and without each node's accuracy.
        result = run.train(callback=lambda _: times.append(time.perf_counter()))
        seconds, evaluated = times[-1] - times[0], result.summary["gradient_evaluations"]
        print(f"{name}: {result}; {seconds:.1f} s, {1e3 * seconds / evaluated:.2f} ms a gradient")
        averages.append(result.average)
    moved = np.linalg.norm(averages[0] - model.start)
    print(f"the average models are {np.linalg.norm(averages[0] - averages[1]) / moved:.1e} apart, of what they moved")


if __name__ == "__main__":
    main()
