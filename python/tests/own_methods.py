"""Methods that several tests run."""

from __future__ import annotations

import re

import numpy as np
import prdo
from conftest import PRIVATE, ROOT

#: Everything but the method.
SETTINGS = {key: value for key, value in PRIVATE.items() if key != "method"}
OPEN = {key: value for key, value in SETTINGS.items() if key not in ("privacy", "clip")}


def guide() -> dict[str, type[prdo.Method]]:
    """The methods of docs/python.md, as they stand there."""
    text = (ROOT / "docs" / "python.md").read_text()
    section = text.split("\n## Methods of your own\n")[1].split("\n## ")[0]
    block = next(block for block in re.findall(r"```python\n(.*?)```", section, re.S) if "class " in block)
    names: dict = {"prdo": prdo}
    exec(block.split("\nprdo.Run(")[0], names)  # noqa: S102
    return {name: value for name, value in names.items() if isinstance(value, type)}


class Plain(prdo.Method):
    """Gradient descent with mixing: v = answer, x⁺ = Σ W (x − αv)."""

    name = "plain"
    network = "doubly-stochastic"

    def start(self, x0):
        self.x, self.v = x0, np.zeros_like(x0)

    def query(self):
        return prdo.gradient(self.x)

    def adapt(self, answer):
        self.v = answer
        return self.x - self.settings.step_size * self.v

    def mix(self, inbox):
        self.x = inbox.mix()


class First(prdo.Method):
    """DIGing: gradient tracking that mixes before it steps."""

    name, vectors, network = "first", 2, "doubly-stochastic"

    def start(self, x0):
        self.x, self.y, self.v, self.change = x0, np.zeros_like(x0), np.zeros_like(x0), np.zeros_like(x0)

    def query(self):
        return prdo.gradient(self.x)

    def adapt(self, answer):
        self.change, self.v = answer - self.v, answer
        return self.x, self.y

    def mix(self, inbox):
        self.y = inbox.mix(1) + self.change
        self.x = inbox.mix(0) - self.settings.step_size * self.y


class Recursive(prdo.Method):
    """PRDO: exact diffusion along the recursive estimate. psi is sent corrected."""

    name, first_batch = "recursive", True
    asks = ("recursive", "gamma")
    parameters = {"gamma": prdo.Parameter(0.1, 0.01, 1, "weight of the fresh gradient")}

    def start(self, x0):
        self.x, self.before, self.psi, self.v = x0, x0.copy(), x0.copy(), np.zeros_like(x0)

    def query(self):
        if self.round == 0:
            return prdo.gradient(self.x)
        return prdo.recursive(self.x, self.before, self.settings.gamma)

    def adapt(self, answer):
        self.v = (1 - self.settings.gamma) * self.v + answer
        self.before = self.x
        psi, self.psi = self.psi, self.x - self.settings.step_size * self.v
        return self.psi + self.x - psi

    def mix(self, inbox):
        self.x = inbox.mix()


class Moved(Plain):
    """DIFF2: differences clipped at the movement, a gradient every few rounds; ``count`` is a number of its state."""

    name, asks = "moved-own", ("moved", 0.8, "restart")
    parameters = {"restart": prdo.Parameter(10, 1, 1000)}

    def start(self, x0):
        self.x, self.v, self.before, self.count = x0, np.zeros_like(x0), x0.copy(), 0

    def query(self):
        return prdo.gradient(self.x) if self.count == 0 else prdo.moved(self.x, self.before, 0.8)

    def adapt(self, answer):
        self.v = answer + (self.v if self.count else 0)
        self.before[:] = self.x
        self.count = (self.count + 1) % int(self.settings.restart)
        return self.x - self.settings.step_size * self.v


def train(data, method, settings=SETTINGS, **arguments):
    return prdo.Run(data=data, method=method, **{**settings, **arguments}).train(progress=False)


class Scaled(Plain):
    """Plain in coordinates that are twice as long in every second round, and clipped half as long there."""

    name, asks = "scaled-own", ("scaled", 0.5, 2)

    def query(self):
        return prdo.scaled(self.x, np.full_like(self.x, 2.0), 0.5) if self.round % 2 else prdo.gradient(self.x)

    def adapt(self, answer):
        self.v = answer * (2.0 if self.round % 2 else 1.0)
        return self.x - self.settings.step_size * self.v


def wrong(call, body, **declared):
    """Plain with another method, wrong from round 3 on (``start`` and ``state`` at once)."""

    def replaced(self, *arguments):
        if call != "start" and self.round < 3:
            return getattr(Plain, call)(self, *arguments)
        return body(self, *arguments)

    return type("Wrong", (Plain,), {"name": "wrong", call: replaced, "check": False, **declared})


def unpack(self, *arguments):
    raise ZeroDivisionError("on purpose")
