"""Models that a Python function defines."""

from __future__ import annotations

import os
import signal
import threading
import time
import traceback

import numpy as np
import prdo
import pytest
from conftest import PRIVATE


def logistic(x, X, y):
    """Logistic regression with an intercept, labels 0 and 1, as the built-in model has it with no regulariser."""
    sign = 2 * y - 1
    A = np.column_stack([X, np.ones(len(X))])
    margin = sign * (A @ x)
    losses = np.logaddexp(0, -margin)
    weight = -sign * np.exp(-margin - losses)
    return losses, weight[:, None] * A


def predict(x, X):
    return (np.column_stack([X, np.ones(len(X))]) @ x >= 0).astype(float)


def own(**arguments):
    return prdo.PythonModel(4, logistic, predict=predict, **arguments)


def test_the_gate_does_for_a_python_model_what_it_does_for_its_own(blobs):
    builtin = prdo.Run(data=blobs, model={"kind": "logistic", "regularization": 0}, **PRIVATE).train(progress=False)
    ours = prdo.Run(data=blobs, model=own(), **PRIVATE).train(progress=False)
    # The same noise; gradients rounded to single precision.
    assert np.abs(ours.average - builtin.average).max() < 1e-5
    assert ours.epsilon == builtin.epsilon and ours.test_accuracy == builtin.test_accuracy
    assert np.isclose(ours.summary["loss"], builtin.summary["loss"], rtol=1e-6)
    assert ours.summary["gradient_evaluations"] == builtin.summary["gradient_evaluations"]
    for key in ("clipped_gradient_fraction", "clipped_difference_fraction"):
        assert np.allclose(ours.history[key], builtin.history[key], equal_nan=True, atol=0.01)


@pytest.mark.parametrize("group", [1, 5, 63])
def test_any_group_size_gives_the_same_model(blobs, group):
    whole = prdo.Run(data=blobs, model=own(), **PRIVATE).train(progress=False)
    result = prdo.Run(data=blobs, model=own(group=group), **PRIVATE).train(progress=False, threads=1)
    assert np.abs(result.average - whole.average).max() < 1e-5


def test_without_privacy_it_learns_as_the_built_in_model(blobs):
    open_ = {"graph": {"kind": "ring", "nodes": 4}, "rounds": 40, "method": {"name": "ed", "step_size": 2.0}}
    builtin = prdo.Run(data=blobs, model={"kind": "logistic", "regularization": 0}, **open_).train(progress=False)
    ours = prdo.Run(data=blobs, model=own(), **open_).train(progress=False)
    assert np.abs(ours.average - builtin.average).max() < 1e-4


def test_one_call_at_a_time_unless_asked_for(blobs):
    inside, most = [], []

    def watch(x, X, y):
        inside.append(1)
        most.append(len(inside))
        time.sleep(0.002)
        inside.pop()
        return logistic(x, X, y)

    for parallel in (False, True):
        most.clear()
        model = prdo.PythonModel(4, watch, parallel=parallel)
        prdo.Run(data=blobs, model=model, **{**PRIVATE, "rounds": 5}).train(progress=False, threads=4)
        assert max(most) == 1 or parallel


def test_start_groups_and_what_comes_in(blobs):
    seen = []

    def spy(x, X, y):
        seen.append((x.shape, X.shape, len(y), X.flags.writeable, x.flags.writeable))
        return logistic(x, X, y)

    model = prdo.PythonModel(4, spy, start=[0.5, 0, 0, 0], group=7)
    result = prdo.Run(data=blobs, model=model, **{**PRIVATE, "rounds": 1}).train(progress=False)
    assert max(shape[1][0] for shape in seen) <= 8  # 8 records are tried first
    assert all(x == (4,) and X == (k, 3) and not w and not v for x, X, k, w, v in seen)
    assert result.test_accuracy is None


def test_regression_targets_are_taken_as_they_are():
    random = np.random.default_rng(2)
    X = random.uniform(-1, 1, (400, 2))
    y = X @ [0.5, -0.25]

    def squares(x, X, y):
        error = X @ x - y
        return 0.5 * error**2, error[:, None] * X

    run = prdo.Run(data=(X, y), model=prdo.PythonModel(2, squares), graph={"kind": "ring", "nodes": 4}, rounds=300, method={"name": "ed", "step_size": 1.0})
    assert np.allclose(run.train(progress=False).average, [0.5, -0.25], atol=1e-4)


def test_images_come_in_their_shape():
    shapes = set()

    def spy(x, X, y):
        shapes.add((X.shape[1:], X.dtype))
        return np.zeros(len(X)), np.zeros((len(X), 3))

    random = np.random.default_rng(1)
    bytes_ = random.integers(0, 256, (40, 2, 4, 5), dtype=np.uint8)
    settings = {"graph": {"kind": "ring", "nodes": 4}, "rounds": 1, "method": {"name": "ed", "step_size": 1}}
    for x in (bytes_, bytes_ / 255):
        prdo.Run(data=(x, np.zeros(40)), model=prdo.PythonModel(3, spy), **settings).train(progress=False)
    assert shapes == {((2, 4, 5), np.dtype(np.uint8)), ((2, 4, 5), np.dtype(float))}


def batch_mean(x, X, y):
    losses, gradients = logistic(x, X, y)
    return losses, gradients / len(X)


def batch_norm(x, X, y):
    return logistic(x, (X - X.mean(axis=0)) / (X.std(axis=0) + 1e-3), y)


def dropout(x, X, y):
    return logistic(x, X * np.random.default_rng().integers(0, 2, X.shape), y)


@pytest.mark.parametrize("broken", [batch_mean, batch_norm, dropout])
def test_gradients_that_depend_on_other_records_are_refused(blobs, broken):
    model = prdo.PythonModel(4, broken)
    with pytest.raises(prdo.InputError, match="when other records are in the batch") as raised:
        prdo.Run(data=blobs, model=model, **PRIVATE)
    assert raised.value.field == "model.kind" or raised.value.field is None
    with pytest.raises(prdo.InputError, match="would not be private"):
        prdo.check_model(model, *blobs)
    prdo.Run(data=blobs, model=prdo.PythonModel(4, broken, check=False), **PRIVATE)


def test_a_sound_model_passes(blobs):
    assert prdo.check_model(own(), *blobs) < 1e-6


def test_exceptions_come_back_as_they_were_and_nothing_is_released(blobs, tmp_path):
    calls = []

    def fails(x, X, y):
        calls.append(len(X))
        if np.abs(x).max() > 0 and len(calls) > 60:
            raise ZeroDivisionError("on purpose")
        return logistic(x, X, y)

    run = prdo.Run(data=blobs, model=prdo.PythonModel(4, fails), **{**PRIVATE, "rounds": 5000})
    with pytest.raises(ZeroDivisionError, match="on purpose") as raised:
        run.train(tmp_path / "run", progress=False)
    assert "fails" in "".join(traceback.format_tb(raised.value.__traceback__))
    assert not (tmp_path / "run" / "model.safetensors").exists() and not (tmp_path / "run" / "summary.json").exists()
    done = len(calls)
    time.sleep(0.2)
    assert len(calls) == done


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda k: (np.zeros(k), np.zeros((k, 3))), "gradients.shape"),
        (lambda k: (np.zeros(k), np.zeros(4)), "gradients.shape"),
        (lambda k: (np.zeros((k, 1)), np.zeros((k, 4))), "losses.shape"),
        (lambda k: (0.0, np.zeros((k, 4))), "losses.shape"),
        (lambda k: np.zeros((k, 4)), "(losses, gradients)"),
        (lambda k: None, "(losses, gradients)"),
    ],
)
def test_wrong_shapes_are_named(blobs, answer, words):
    with pytest.raises(prdo.InputError, match="per_record") as raised:
        prdo.Run(data=blobs, model=prdo.PythonModel(4, lambda x, X, y: answer(len(X))), **PRIVATE)
    assert words in str(raised.value)


def test_what_is_not_finite_contributes_nothing_and_is_counted(blobs):
    def sometimes(x, X, y):
        losses, gradients = logistic(x, X, y)
        gradients[X[:, 0] > 0.5] = np.nan
        return losses, gradients

    result = prdo.Run(data=blobs, model=prdo.PythonModel(4, sometimes), **PRIVATE).train(progress=False)
    assert result.summary["non_finite_records"] > 0 and np.isfinite(result.average).all()


def test_control_c_stops_within_a_call(blobs):
    def slow(x, X, y):
        time.sleep(0.02)
        return logistic(x, X, y)

    # One round takes more than five seconds.
    run = prdo.Run(data=blobs, model=prdo.PythonModel(4, slow, group=1, check=False), **{**PRIVATE, "batch": {"size": 80}})
    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        run.train(progress=False)
    assert time.monotonic() - started < 2


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"dimension": 0}, "dimension"),
        ({"dimension": 2.5}, "dimension"),
        ({"group": 64}, "group"),
        ({"per_record": 3}, "per_record"),
        ({"start": [1.0]}, "start.shape"),
        ({"start": [np.inf] * 4}, "start.shape"),
    ],
)
def test_bad_models_are_refused(arguments, field):
    with pytest.raises(prdo.InputError) as raised:
        prdo.PythonModel(**{"dimension": 4, "per_record": logistic, **arguments})
    assert raised.value.field == field
