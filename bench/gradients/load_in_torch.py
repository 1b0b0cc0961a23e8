#!/usr/bin/env python3
"""Loads the vgg-small of a prdo run in PyTorch and holds it against the test accuracy that the run states.

    bench/gradients/setup
    bench/gradients/venv/bin/python bench/gradients/load_in_torch.py RUN CIFAR     two folders
    bench/gradients/venv/bin/python bench/gradients/load_in_torch.py --check-docs

RUN is a run's folder: model.safetensors (loaded by the snippet of docs/networks.md, as it stands there), summary.json
and run.toml. CIFAR holds CIFAR-10's test_batch.bin. The names and shapes of the tensors must be vgg-small's, and the
accuracy on the 10,000 test images must be the stated one within 0.1 percentage points (float32 in another order of
operations may turn a few images).

--check-docs needs neither: it writes a model with random values, without and with nodes' own models, runs both
snippets of docs/networks.md on it and compares every tensor, and the logits with those of torch_peers.py's network.
"""

import argparse
import contextlib
import json
import os
import re
import sys
import tempfile
import tomllib
from pathlib import Path

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file
from torch import nn

import problem
import torch_peers

DOCS = Path(__file__).resolve().parents[2] / "docs/networks.md"
MODEL = "model.safetensors"
IMAGE_BYTES = 3 * 32 * 32
TEST_IMAGES = 10_000
# Published constants of CIFAR-10, prdo's default for it.
PUBLISHED = {"mean": [0.4914, 0.4822, 0.4465], "deviation": [0.2470, 0.2435, 0.2616]}


def refuse(text):
    print(f"load_in_torch.py: {text}", file=sys.stderr)
    sys.exit(2)


# --- the snippets ---


def snippets():
    """The Python blocks of docs/networks.md: by names, and for modules without names."""
    blocks = re.findall(r"^```python\n(.*?)^```", DOCS.read_text(), re.MULTILINE | re.DOTALL)
    if len(blocks) != 2:
        refuse(f"{DOCS.name} has {len(blocks)} Python blocks; two were expected")
    return blocks


def load_by_names(folder):
    """What the first snippet leaves behind: `network`, among others."""
    variables = {}
    with contextlib.chdir(folder):
        exec(compile(snippets()[0], f"{DOCS.name}, first snippet", "exec"), variables)
    return variables


def load_without_names(variables):
    """The second snippet's network: the first's modules, with new values and without names."""
    network = nn.Sequential(*variables["network"])
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.zero_()
    variables = variables | {"network": network}
    exec(compile(snippets()[1], f"{DOCS.name}, second snippet", "exec"), variables)
    return variables["network"]


def check_docs():
    """Whether both snippets load what was written."""
    values = problem.current()
    model = dict(zip(problem.names(), values))
    others = {f"nodes.0.{name}": tensor + 1 for name, tensor in model.items()}
    images = torch.from_numpy(problem.batch(10)[0])
    expected = torch_peers.network([torch.from_numpy(tensor) for tensor in values])(images)
    good = True
    for text, tensors in (("the average alone", model), ("with nodes' models", model | others)):
        with tempfile.TemporaryDirectory() as folder:
            save_file(tensors, Path(folder) / MODEL)
            variables = load_by_names(folder)
        for snippet, load in (("first", lambda: variables["network"]), ("second", lambda: load_without_names(variables))):
            network = load()
            same = all(np.array_equal(a.detach(), b) for a, b in zip(network.parameters(), values, strict=True))
            same &= torch.equal(network(images), expected)
            print(f"{'ok    ' if same else 'FAILED'}  {snippet} snippet, {text}")
            good &= same
    return good


# --- a run ---


def check_tensors(path):
    """Whether the file holds vgg-small's tensors; prints them."""
    with safe_open(path, "np") as file:
        found = {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}
        about = json.loads((file.metadata() or {}).get("prdo", "{}"))
    found = {name: shape for name, shape in found.items() if not name.startswith("nodes.")}
    expected = dict(zip(problem.names(), problem.shapes()))
    for name in expected | found:
        good = found.get(name) == expected.get(name)
        shape = list(found[name]) if name in found else "missing"
        print(f"{'ok    ' if good else 'FAILED'}  {name}: {shape}")
    if about:
        print(f"        the file says: input {about.get('input')}, layers {', '.join(about.get('layers', []))}")
    return found == expected


def constants(folder):
    """Mean and deviation a channel that the run scaled its images by."""
    path, data = folder / "run.toml", {}
    if path.exists():
        data = tomllib.loads(path.read_text()).get("data", {})
    if "mean" in data and "deviation" in data:
        return data["mean"], data["deviation"]
    print("        run.toml states no data.mean and data.deviation: the published ones of CIFAR-10 are taken")
    return PUBLISHED["mean"], PUBLISHED["deviation"]


def test_set(folder, mean, deviation):
    """Images as the network takes them, and labels."""
    path = folder / "test_batch.bin"
    rows = np.fromfile(path, dtype=np.uint8)
    if rows.size != TEST_IMAGES * (1 + IMAGE_BYTES):
        refuse(f"{path} has {rows.size} bytes; CIFAR-10's has {TEST_IMAGES * (1 + IMAGE_BYTES)}")
    rows = rows.reshape(TEST_IMAGES, 1 + IMAGE_BYTES)
    images = torch.from_numpy(rows[:, 1:].reshape(-1, 3, 32, 32)).float() / 255
    channel = lambda values: torch.tensor(values, dtype=torch.float32).view(3, 1, 1)
    return (images - channel(mean)) / channel(deviation), torch.from_numpy(rows[:, 0].astype(np.int64))


@torch.no_grad()
def accuracy(network, images, labels):
    right = [(network(x).argmax(1) == y).sum().item() for x, y in zip(images.split(500), labels.split(500))]
    return sum(right) / len(labels)


def check_run(run, cifar, allowed):
    """Whether tensors and accuracy are what the run states."""
    stated = json.loads((run / "summary.json").read_text()).get("test_accuracy")
    if stated is None:
        refuse(f"{run / 'summary.json'} states no test_accuracy")
    if not check_tensors(run / MODEL):
        return False
    found = accuracy(load_by_names(run)["network"].eval(), *test_set(cifar, *constants(run)))
    good = abs(found - stated) * 100 <= allowed
    text = f"test accuracy: PyTorch {100 * found:.2f} %, the run {100 * stated:.2f} %"
    print(f"{'ok    ' if good else 'FAILED'}  {text} (allowed: {allowed} percentage points apart)")
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("run", type=Path, nargs="?", help="a run's folder")
    parser.add_argument("cifar", type=Path, nargs="?", help="the folder with test_batch.bin")
    parser.add_argument("--allowed", type=float, default=0.1, help="percentage points apart (default 0.1)")
    parser.add_argument("--check-docs", action="store_true", help="run the snippets of docs/networks.md instead")
    options = parser.parse_args()
    torch.set_num_threads(min(2, os.cpu_count() or 1))
    if options.check_docs:
        sys.exit(0 if check_docs() else 1)
    if options.run is None or options.cifar is None:
        parser.error("a run's folder and CIFAR-10's folder are needed, or --check-docs")
    try:
        sys.exit(0 if check_run(options.run, options.cifar, options.allowed) else 1)
    except (OSError, SafetensorError, json.JSONDecodeError, tomllib.TOMLDecodeError) as error:
        refuse(str(error))


if __name__ == "__main__":
    main()
