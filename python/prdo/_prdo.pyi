"""The extension module (crates/python): what the package's modules are built on. Not for direct use."""

from os import PathLike
from typing import Any, final

__all__ = [
    "COLUMNS",
    "Session",
    "Trained",
    "__version__",
    "check_model",
    "curve",
    "delta",
    "epsilon",
    "graph",
    "meaning",
    "noise",
    "plot",
    "rate",
    "rounds",
]

#: The columns of ``metrics.csv``.
COLUMNS: tuple[str, ...]
__version__: str

def epsilon(rate: Any, noise: Any, rounds: Any, delta: Any, first_rate: Any = None, first_noise: Any = None, accountant: str = "prv") -> tuple[float | None, float]: ...
def delta(rate: Any, noise: Any, rounds: Any, epsilon: Any, first_rate: Any = None, first_noise: Any = None) -> tuple[float, float]: ...
def noise(rate: Any, epsilon: Any, rounds: Any, delta: Any, first_rate: Any = None, accountant: str = "prv") -> tuple[float, float | None, float]: ...
def rounds(rate: Any, noise: Any, epsilon: Any, delta: Any, first_rate: Any = None, first_noise: Any = None, accountant: str = "prv") -> tuple[int, float | None, float]: ...
def rate(noise: Any, rounds: Any, epsilon: Any, delta: Any, accountant: str = "prv") -> tuple[float, float | None, float]: ...
def curve(
    against: str,
    rate: Any = None,
    noise: Any = None,
    rounds: Any = None,
    delta: Any = None,
    first_rate: Any = None,
    start: Any = None,
    end: Any = None,
    points: Any = None,
) -> tuple[str, list[tuple[float, float, float, float, float]], str]: ...
def meaning(epsilon: float) -> str: ...
def graph(settings: list[tuple[str, str]]) -> dict[str, Any]: ...
def plot(title: str, labels: tuple[str, str], logarithmic: tuple[bool, bool], lines: list[tuple[str, list[tuple[float, float]]]]) -> str: ...
def check_model(model: Any, records: dict[str, Any]) -> float: ...

@final
class Session:
    def __new__(
        cls,
        file: str | PathLike[str] | None,
        settings: list[tuple[str, str]],
        records: dict[str, Any] | None = None,
        test: dict[str, Any] | None = None,
        title: str | None = None,
        model: Any = None,
        unseeded: bool = False,
    ) -> Session: ...
    @property
    def run_file(self) -> str: ...
    @property
    def warnings(self) -> list[str]: ...
    def facts(self) -> dict[str, Any] | None: ...
    def train(self, out: str | PathLike[str] | None = None, overwrite: bool = False, threads: int | None = None, each: Any = None, checkpoint_every: float = 20.0, resume: bool = False) -> Trained: ...

@final
class Trained:
    @property
    def name(self) -> str: ...
    @property
    def run_file(self) -> str: ...
    @property
    def summary(self) -> str: ...
    @property
    def rows(self) -> list[tuple[Any, ...]]: ...
    @property
    def moments(self) -> list[tuple[Any, ...]]: ...
    @property
    def average(self) -> bytes: ...
    @property
    def models(self) -> bytes: ...
    @property
    def node_accuracy(self) -> list[float]: ...
    def figure(self) -> str: ...
    def report(self) -> str: ...
    def save(self, folder: str | PathLike[str], overwrite: bool) -> str: ...
