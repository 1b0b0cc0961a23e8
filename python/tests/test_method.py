"""Methods that a Python class defines."""

from __future__ import annotations

import os
import re
import signal
import threading
import time

import numpy as np
import pandas
import prdo
import pytest
from conftest import ROOT
from own_methods import OPEN, SETTINGS, First, Moved, Plain, Recursive, Scaled, guide, train, unpack, wrong

TWINS = [
    (lambda: guide()["GradientTracking"], {}, {"name": "gt"}, 0),
    (lambda: First, {}, {"name": "gt", "combine": "first"}, 0),
    (lambda: Plain, {}, {"name": "dsgd"}, 0),
    (lambda: Scaled, {}, {"name": "dsgd"}, 1e-12),
    (lambda: Recursive, {"gamma": 0.2}, {"name": "prdo", "gamma": 0.2}, 1e-12),
    (lambda: Moved, {"restart": 4}, {"name": "diff2", "kappa": 0.8, "restart": 4}, 0),
]


@pytest.mark.parametrize("settings", [SETTINGS, OPEN], ids=["private", "open"])
@pytest.mark.parametrize(("make", "parameters", "builtin", "tolerance"), TWINS)
def test_a_class_is_the_built_in_method_that_it_describes(blobs, make, parameters, builtin, tolerance, settings):
    watched = {"metrics": {"every": 5, "moments": True}, "batch": {"size": 20, "first": 40}}
    theirs = train(blobs, {**builtin, "step_size": 0.3}, settings, **watched)
    ours = train(blobs, {"name": make(), "step_size": 0.3, **parameters}, settings, **watched)
    assert np.abs(ours.models - theirs.models).max() <= tolerance
    assert np.abs(theirs.average).max() > 0.1
    assert ours.epsilon == theirs.epsilon and (ours.epsilon is None) == (settings is OPEN)
    for key in ("gradient_evaluations", "bytes_sent"):
        assert ours.summary[key] == theirs.summary[key], key
    for key in ("direction", "movement", "local_error"):
        assert np.allclose(ours.moments[key], theirs.moments[key], rtol=1e-9, atol=1e-12), key


def test_with_a_model_of_ones_own(blobs):
    def mean(x, X, y):
        error = x - X
        return 0.5 * (error**2).sum(axis=1), error

    settings = {**SETTINGS, "graph": {"kind": "ring", "nodes": 4}, "model": prdo.PythonModel(3, mean)}
    ours = train(blobs, {"name": Plain, "step_size": 0.3}, settings)
    assert ours.average.shape == (3,)
    assert (ours.models == train(blobs, {"name": "dsgd", "step_size": 0.3}, settings).models).all()


@pytest.mark.filterwarnings("ignore:method.step_size")
def test_laws_by_round_are_numbers_of_the_round(blobs):
    laws = {"step_size": "0.3, 0.1 from 7", "gamma": "0.4, 0.2 from 5"}
    ours = train(blobs, {"name": Recursive, **laws})
    theirs = train(blobs, {"name": "prdo", **laws})
    assert np.abs(ours.models - theirs.models).max() < 1e-12


def test_settings_by_dotted_keys_and_a_class_alone(blobs):
    by_key = prdo.Run(data=blobs, method=Recursive, set={"method.step_size": 0.3, "method.gamma": 0.5}, **SETTINGS)
    by_section = prdo.Run(data=blobs, method={"name": Recursive, "step_size": 0.3, "gamma": 0.5}, **SETTINGS)
    assert (by_key.train(progress=False).models == by_section.train(progress=False).models).all()
    assert 'name = "own"' in by_key.run_file and by_key.facts["method"] == "recursive"


def test_threads_and_a_network_of_its_own_make_no_difference(blobs):
    method = {"name": First, "step_size": 0.2}
    one, two = (prdo.Run(data=blobs, method=method, **SETTINGS).train(progress=False, threads=k) for k in (1, 3))
    assert (one.models == two.models).all()
    torus = {"graph": {"kind": "directed-ring", "nodes": 4}}
    assert np.isfinite(train(blobs, method, **torus).average).all()
    with pytest.raises(prdo.InputError, match="recursive"):
        train(blobs, {"name": Recursive, "step_size": 0.2}, **torus)


def test_it_is_compared_with_built_in_methods(blobs):
    runs = {
        str(name): prdo.Run(data=blobs, method={"name": name, "step_size": 0.3}, **SETTINGS) for name in ("dsgd", Plain)
    }
    table = prdo.compare(runs, progress=False)
    assert isinstance(table, pandas.DataFrame) and list(table["method"]) == ["dsgd", "plain"]
    same = ["epsilon", "test_accuracy", "loss", "grad_norm", "bytes_sent"]
    assert table[same].iloc[0].equals(table[same].iloc[1])


@pytest.mark.parametrize("cls", [Moved, Recursive])
def test_a_stopped_run_resumes_to_the_same_bits(blobs, tmp_path, cls):
    def run():
        method = {"name": cls, "step_size": 0.3}
        return prdo.Run(data=blobs, method=method, **{**SETTINGS, "rounds": 120})

    def stop(row):
        if row["round"] >= 25:
            raise RuntimeError("enough")

    whole = run().train(tmp_path / "whole", progress=False)
    with pytest.raises(RuntimeError, match="enough"):
        run().train(tmp_path / "parts", progress=False, callback=stop)
    assert not (tmp_path / "parts" / "summary.json").exists()
    result = run().train(tmp_path / "parts", progress=False, resume=True)
    assert (result.models == whole.models).all() and result.epsilon == whole.epsilon
    for name in ("metrics.csv", "model.safetensors"):
        assert (tmp_path / "parts" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name


def test_a_checkpoint_of_another_class_or_parameter_is_refused(blobs, tmp_path):
    def stop(row):
        raise RuntimeError("enough")

    class Other(Recursive):
        __doc__ = Recursive.__doc__

        def mix(self, inbox):
            self.x = inbox.mix() + 0.0

    first = {"name": Recursive, "step_size": 0.3, "gamma": 0.2}
    with pytest.raises(RuntimeError, match="enough"):
        prdo.Run(data=blobs, method=first, **SETTINGS).train(tmp_path / "run", progress=False, callback=stop)
    for other in ({**first, "name": Other}, {**first, "gamma": 0.3}):
        with pytest.raises(prdo.InputError, match="other settings"):
            prdo.Run(data=blobs, method=other, **SETTINGS).train(tmp_path / "run", progress=False, resume=True)
    prdo.Run(data=blobs, method=first, **SETTINGS).train(tmp_path / "run", progress=False, resume=True)


def test_its_folder_has_a_report_with_its_name_and_promise(tmp_path, command):
    train("digits", {"name": First, "step_size": 0.3}, rounds=5).save(tmp_path / "run")
    report = (tmp_path / "run" / "report.html").read_text()
    assert "first" in report and "Each single record is protected" in report and "no privacy statement" not in report
    assert "method of a program" in command("run", tmp_path / "run" / "run.toml", "--out", tmp_path / "again", expect=2)


def test_nothing_but_the_start_answers_and_messages_is_handed_over(blobs):
    seen: list[tuple[str, list]] = []

    class Spy(Plain):
        name, check = "spy", False

        def start(self, x0):
            seen.append(("start", [x0]))
            super().start(x0)

        def query(self):
            seen.append(("query", [*vars(self).values()]))
            return super().query()

        def adapt(self, answer):
            seen.append(("adapt", [answer]))
            return super().adapt(answer)

        def mix(self, inbox):
            seen.append(("mix", [vector for _, vector in inbox.pairs()]))
            assert abs(sum(weight for weight, _ in inbox.pairs()) - 1) < 1e-15 and len(inbox) == 3
            assert (inbox.pairs()[inbox.own][1] == self.x - self.settings.step_size * self.v).all()
            assert not inbox.pairs()[0][1].flags.writeable
            super().mix(inbox)

    train(blobs, {"name": Spy, "step_size": 0.3})
    assert {what for what, _ in seen} == {"start", "query", "adapt", "mix"}
    arrays = [value for _, values in seen for value in values if isinstance(value, np.ndarray)]
    assert len(arrays) > 100 and all(array.shape == (8,) and array.dtype == np.float64 for array in arrays)
    others = [value for _, values in seen for value in values if not isinstance(value, np.ndarray)]
    assert all(isinstance(value, tuple) and value[0] in range(20) for value in others)


def test_every_release_is_charged_by_what_was_asked(blobs):
    """γ of the query, not of the class's author, decides the noise: the same budget buys less noise where less is asked."""
    noise = {}
    for gamma in (0.1, 1.0):
        result = train(
            blobs,
            {"name": Recursive, "step_size": 1e-9, "gamma": gamma},
            privacy={"noise_multiplier": 5.0},
            moments=None,
        )
        noise[gamma] = result.epsilon
    # ε depends on z alone; the deviation is z times the sensitivity, which is γC_g + (1 − γ)C_Δ.
    assert noise[0.1] == noise[1.0]

    drawn: dict[float, list] = {0.1: [], 1.0: []}

    class Listening(Recursive):
        name, check = "listening", False

        def adapt(self, answer):
            if self.round > 0:
                drawn[self.settings.gamma].append(answer)
            return super().adapt(answer)

    for gamma in drawn:
        train(
            blobs,
            {"name": Listening, "step_size": 1e-9, "gamma": gamma},
            privacy={"noise_multiplier": 50.0},
            rounds=300,
        )
    spread = {gamma: np.std(answers) for gamma, answers in drawn.items()}
    assert abs(spread[0.1] / spread[1.0] / (0.1 * 1.0 + 0.9 * 0.2) - 1) < 0.1


@pytest.mark.parametrize(
    "method", [lambda: guide()["GradientTracking"], lambda: {"name": Recursive, "gamma": 0.3}, lambda: Moved]
)
def test_the_audit_finds_nothing(method):
    report = prdo.audit(method(), runs=60, pairs=200, progress=False)
    # So few runs prove little.
    assert set(report.failed) <= {"strength"}, report
    ratio = [check["figure"] for check in report.checks if check["name"] == "record-play"]
    assert len(ratio) == 2 and all(0.999 < r <= 1 + 1e-6 for r in ratio)
    assert {f["setting"] for f in report.findings} == {"every record", "rate 1/4"}
    assert all(0 <= f["proves"] <= f["claimed"] for f in report.findings)
    assert bool(report) == report.passed and "checks" in report._repr_html_() or report.checks


def test_the_audit_proves_nearly_what_is_claimed_with_more_runs():
    report = prdo.audit(Plain, runs=400, pairs=50, progress=False)
    assert report.findings[0]["proves"] > 0.4 * report.findings[0]["claimed"]


def test_an_audit_of_a_failing_class_says_where_and_can_be_stopped():
    with pytest.raises(prdo.MethodError, match="on purpose") as raised:
        prdo.audit(wrong("mix", unpack), runs=10, pairs=10, progress=False)
    assert raised.value.call == "mix"
    with pytest.raises(prdo.InputError, match="unknown method"):
        prdo.audit("nothing")
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        prdo.audit(Plain, full=True, progress=False)
    assert time.monotonic() - started < 20


def test_the_guide_s_example_is_short():
    text = (ROOT / "docs" / "python.md").read_text().split("\n## Methods of your own\n")[1]
    block = next(block for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "class " in block)
    assert len(block.split("\nprdo.Run(")[0].strip().splitlines()) <= 25
    assert (ROOT / "docs" / "methods.md").read_text().count("prdo.Method") >= 1
