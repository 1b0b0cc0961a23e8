"""Runs: settings and data in, models and figures out."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _prdo
from . import _method
from ._html import figure, picture, table
from ._progress import Progress
from ._records import arrays, is_table
from ._settings import settings
from .errors import InputError, out_of_range
from .method import Method
from .model import PythonModel

__all__ = ["Result", "Run", "compare"]


class Run:
    """A run of many nodes in this process, checked and ready to train.

    ``Run("run.toml")`` reads a run file; ``Run(method="prdo", ...)`` takes the same settings as keyword arguments; both
    together override the file. A section is a dict, such as ``method={"name": "prdo", "step_size": 0.5}``, or the one
    text that matters most in it: ``graph="ring"``, ``method="ed"``, ``model="softmax"``, ``data="digits"``. ``set`` has
    dotted keys: ``set={"method.gamma": 0.2}``. ``prdo example --keys`` lists every key, its range and its default; bad
    values raise :class:`InputError` with the same words.

    Parameters
    ----------
    data
        A section as above, or records: ``(X, y)``, ``(X, y, node)`` or a pandas DataFrame. Arrays are NumPy's, or
        anything that becomes one (torch tensors, lists). ``X`` is ``(records, features)``, or
        ``(records, [channels,] height, width)`` for images, of which bytes stay bytes. Labels are numbers or names;
        ``node`` says who holds each record (otherwise the ``partition`` section deals them out).
    test
        ``(X, y)`` on which accuracy is measured. Otherwise ``set={"data.test": 0.2}`` sets some records aside.
    label, node
        The columns of a DataFrame; default ``"label"`` (or ``"y"``) and ``"node"`` if there is one.
    model
        A section as above, or a :class:`PythonModel`.
    method
        A section as above. Its ``name`` may be a subclass of :class:`Method`, and its other keys are then ``step_size`` and
        the parameters that the class declares.

    Everything is checked here; nothing is trained yet. A run is a *seeded simulation*: whoever knows the seed can
    recompute the noise, and the metrics are computed from the records without noise. ``docs/python.md`` says what is and
    what is not private.
    """

    def __init__(
        self,
        file: str | os.PathLike[str] | None = None,
        *,
        set: Mapping[str, Any] | None = None,  # noqa: A002: the word of `prdo run --set`
        data: Any = None,
        test: Any = None,
        label: str | None = None,
        node: str | None = None,
        model: Any = None,
        method: str | type[Method] | Mapping[str, Any] | None = None,
        _unseeded: bool = False,
        **sections: Any,
    ) -> None:
        arguments = dict(sections)
        self._model: PythonModel | None = None
        self._records: dict[str, Any] | None = None
        self._test: dict[str, Any] | None = None
        if isinstance(model, PythonModel):
            self._model = model
            arguments["model"] = "own"
        elif model is None or isinstance(model, (str, Mapping)):
            arguments["model"] = model
        else:
            raise out_of_range("model", model, "a name, a dict or a prdo.PythonModel")
        if data is None or isinstance(data, (str, Mapping)):
            arguments["data"] = data
            if test is not None or label is not None or node is not None:
                raise InputError("test, label and node go with records in memory: give data=(X, y) or a DataFrame", "data")
        else:
            self._records = arrays("data", data, label, node)
            if test is not None:
                self._test = arrays("test", test, label, node, self._records["class_names"])
        section: Any = {"name": method} if isinstance(method, type) else method
        self._own_method: Any = None
        if isinstance(section, Mapping) and isinstance(section.get("name"), type):
            if not _method.is_method(section["name"]):
                raise out_of_range("method", section["name"], "a built-in method's name or a subclass of prdo.Method")
            self._own_method, section, set = _method.split(section, set)  # noqa: A001
        arguments["method"] = section
        self._file = None if file is None else os.fspath(file)
        self._settings = settings(arguments, set)
        self._title = "a DataFrame" if is_table(data) else "arrays"
        self._unseeded = _unseeded
        self._session: _prdo.Session | None = self._build()
        facts = self._session.facts()
        assert facts is not None
        #: What is public about the run: nodes, records, parameters, rounds, epsilon, …
        self.facts: dict[str, Any] = facts
        #: Every setting with its default filled in, as a run file.
        self.run_file: str = self._session.run_file
        #: What is allowed but worth a second thought.
        self.warnings: list[str] = self._session.warnings

    def _build(self) -> _prdo.Session:
        handle = None if self._model is None else self._model._handle()
        return _prdo.Session(
            self._file,
            self._settings,
            self._records,
            self._test,
            self._title,
            handle,
            self._own_method,
            self._unseeded,
        )

    @property
    def epsilon(self) -> float | None:
        """ε of the whole run; ``None`` where it is not private (ε = ∞)."""
        return self.facts["epsilon"]  # type: ignore[no-any-return]

    def train(
        self,
        out: str | os.PathLike[str] | None = None,
        *,
        progress: bool = True,
        threads: int | None = None,
        overwrite: bool = False,
        callback: Callable[[dict[str, Any]], None] | None = None,
        checkpoint_every: float = 20.0,
        resume: bool = False,
    ) -> Result:
        """Trains to the end.

        ``out`` is a folder that gets everything that ``prdo run`` writes, while it trains: a checkpoint every
        ``checkpoint_every`` seconds and one when the run is stopped. ``resume=True`` resumes the run in that folder from
        its checkpoint, to the same bits (an unseeded run has no checkpoints: its secret is not kept; a Python model that is
        stopped in the middle of a round resumes from the last one). ``callback`` is given every row of metrics as a dict.
        Ctrl-C stops the run within a round (within one call of a Python model) and raises ``KeyboardInterrupt``; an
        exception that ``callback`` or a Python model raises stops it too. The interpreter's lock is released.

        The same settings, data and seed give the same bits, here and from the command. (Of a :class:`PythonModel` they
        are as reproducible as its function: many are not when ``threads`` changes.)
        """
        if threads is not None and not isinstance(threads, (int, np.integer)):
            raise out_of_range("threads", threads, "a whole number from 1 to 1024")
        session, self._session = self._session or self._build(), None
        for warning in self.warnings:
            warnings.warn(warning, stacklevel=2)
        reporter = Progress(self.facts["rounds"], progress, callback, _prdo.COLUMNS)
        try:
            trained = session.train(
                None if out is None else os.fspath(out), overwrite, threads, reporter, checkpoint_every, resume
            )
        finally:
            reporter.close()
        return Result(trained)

    def __repr__(self) -> str:
        facts = self.facts
        privacy = "not private" if facts["epsilon"] is None else f"ε = {facts['epsilon']:.4g} at δ = {facts['delta']:g}"
        privacy += whom(facts["colluders"])
        return f"Run({facts['method']} on {facts['data']}; {facts['rounds']} rounds, {privacy})"

    def _repr_html_(self) -> str:
        facts = self.facts
        rows: list[tuple[str, object]] = [
            ("method", facts["method_title"]),
            ("data", facts["data"]),
            ("model", f"{facts['model']}, {facts['parameters']} parameters"),
            ("network", f"{facts['nodes']} nodes, {facts['links']} links, λ = {facts['eigenvalue']:.6g}"),
            ("rounds", facts["rounds"]),
            ("ε", figure(facts["epsilon"])),
        ]
        if facts["epsilon"] is not None:
            rows += [("δ", f"{facts['delta']:g}"), ("noise multiplier", figure(facts["noise_multiplier"]))]
        if facts["colluders"] is not None:
            rows.append(("noise in pairs: ε holds", whom(facts["colluders"]).strip()))
            rows += coalitions(facts["epsilon_by_colluders"])
        return table(rows, "A run, not trained yet", " ".join(self.warnings))


class Result:
    """What came out of a run. Notebooks show its figures; ``report()`` is the whole page."""

    def __init__(self, trained: _prdo.Trained) -> None:
        self._trained = trained
        #: What ``summary.json`` says.
        self.summary: dict[str, Any] = json.loads(trained.summary)
        #: Every setting with its default filled in, as a run file.
        self.run_file: str = trained.run_file

    @cached_property
    def history(self) -> dict[str, NDArray[np.float64]]:
        """The columns of ``metrics.csv`` as arrays; NaN where a column does not apply."""
        rows = np.array(self._trained.rows, dtype=float)
        return {name: rows[:, i] for i, name in enumerate(_prdo.COLUMNS)}

    @cached_property
    def metrics(self) -> Any:
        """The same as a pandas ``DataFrame`` (without pandas: the dict of arrays)."""
        try:
            import pandas
        except ImportError:
            return self.history
        frame = pandas.DataFrame(self.history)
        whole = ["round", "bytes_sent", "gradient_evaluations"]
        return frame.astype({name: "int64" for name in whole})

    @cached_property
    def moments(self) -> dict[str, NDArray[np.float64]]:
        """The paper's moments of every round, where ``metrics.moments`` asked for them."""
        names = ("round", "disagreement", "local_error", "mean_error", "direction", "movement")
        rows = np.array(self._trained.moments, dtype=float).reshape(-1, len(names))
        return {name: rows[:, i] for i, name in enumerate(names)}

    @cached_property
    def average(self) -> NDArray[np.float64]:
        """The average of all nodes' models."""
        return np.frombuffer(self._trained.average, "<f8")

    @cached_property
    def models(self) -> NDArray[np.float64]:
        """The nodes' own models, one row per node."""
        return np.frombuffer(self._trained.models, "<f8").reshape(-1, len(self.average))

    @property
    def epsilon(self) -> float | None:
        """ε that was spent; ``None`` where nothing was protected (ε = ∞)."""
        return self.summary["epsilon_spent"]  # type: ignore[no-any-return]

    @property
    def delta(self) -> float | None:
        return self.summary["delta"]  # type: ignore[no-any-return]

    @property
    def test_accuracy(self) -> float | None:
        """The share of held-out records that the average model gets right."""
        return self.summary["test_accuracy"]  # type: ignore[no-any-return]

    @property
    def test_auc(self) -> float | None:
        """The area under the ROC curve of the average model on held-out records; ``None`` unless there are two classes."""
        return self.summary["test_auc"]  # type: ignore[no-any-return]

    @property
    def node_accuracy(self) -> list[float]:
        """The share of held-out records that each node's own model gets right."""
        return self._trained.node_accuracy

    def report(self) -> str:
        """The run's report: one HTML page without references to anything outside."""
        return self._trained.report()

    def save(self, folder: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
        """Writes the folder that ``prdo run`` writes: run.toml, metrics.csv, summary.json, model.safetensors and
        report.html."""
        return Path(self._trained.save(os.fspath(folder), overwrite))

    def __repr__(self) -> str:
        summary = self.summary
        accuracy = summary["test_accuracy"]
        shown = "" if accuracy is None else f", test accuracy {100 * accuracy:.2f} %"
        privacy = "not private" if self.epsilon is None else f"ε = {self.epsilon:.4g} at δ = {self.delta:g}"
        privacy += whom(summary.get("pairs", {}).get("colluders"))
        return f"Result({summary['method']}, {summary['rounds']} rounds, loss {summary['loss']:.6g}{shown}, {privacy})"

    def _repr_html_(self) -> str:
        summary = self.summary
        rows: list[tuple[str, object]] = [
            ("method", summary["method"]),
            ("data", summary["data"]),
            ("loss", figure(summary["loss"])),
        ]
        if summary["test_accuracy"] is not None:
            rows.append(("test accuracy", f"{100 * summary['test_accuracy']:.2f} %"))
        pairs = summary.get("pairs", {})
        if pairs:
            rows += coalitions([(row["colluders"], row["epsilon"]) for row in pairs["epsilon_by_colluders"]])
        if self.epsilon is None:
            note = "Not private: ε = ∞."
        else:
            against = whom(pairs.get("colluders"))
            note = (
                f"Every record: ε = {self.epsilon:.4g} at δ = {self.delta:g} for the whole transcript{against}. Seeded simulation: "
                "not private against anyone who knows the seed; the figures here were computed without noise."
            )
        return table(rows, note=note) + picture(self._trained.figure())


def whom(colluders: int | None) -> str:
    """Against whom an ε is, where that is not everybody."""
    return "" if colluders is None else f" against {_prdo.against(colluders)}"


def coalitions(costs: list[tuple[int, float | None]]) -> list[tuple[str, object]]:
    """What coalitions of every size learn, as rows of a table."""
    rows: list[tuple[str, object]] = [(f"ε at most, {who}", epsilon) for who, epsilon in _prdo.coalitions(costs)]
    return [*rows, ("shares are pseudo-random", "only the row of all others holds against everybody")]


def compare(runs: Mapping[str, Run] | Iterable[Run], *, progress: bool = True) -> Any:
    """Trains several runs and puts their figures side by side: a DataFrame with one row per run."""
    import pandas

    named = runs.items() if isinstance(runs, Mapping) else ((run.facts["method"], run) for run in runs)
    keys = ["method", "rounds", "epsilon", "test_accuracy", "loss", "grad_norm", "consensus_error", "bytes_sent", "seconds"]
    rows = []
    for name, run in named:
        summary = run.train(progress=progress).summary
        rows.append({"run": name, **{key: summary[key] for key in keys}})
    return pandas.DataFrame(rows).set_index("run")
