"""What is wrong with a method of one's own: where it is seen, and in which words."""

from __future__ import annotations

import re
import time

import numpy as np
import prdo
import pytest
from own_methods import OPEN, SETTINGS, Plain, Recursive, train, unpack, wrong

kept: list[float] = []
random = np.random.default_rng(1)


WRONG = [
    ("query", lambda self: self.x, "asks|returned a float64 array", "prdo.gradient"),
    ("query", lambda self: prdo.gradient(self.x[:2]), r"shape \(2,\)", r"shape \(8,\)"),
    ("query", lambda self: prdo.gradient(self.x.astype(np.float32)), "float32", "float64"),
    ("query", lambda self: prdo.gradient([0.0] * 8), "list", "float64"),
    ("query", lambda self: prdo.gradient(self.x / 0.0 * 0.0), "nan", "finite"),
    ("query", lambda self: prdo.recursive(self.x, self.x, 0.5), "asks recursive 0.5", "gradient, which asks"),
    ("query", lambda self: prdo.recursive(self.x, self.x, self.x), "returned Query", "prdo.gradient"),
    ("query", lambda self: self.x.fill(0.0) or prdo.gradient(self.x), "changed the state", "adapt and mix"),
    ("query", unpack, "raised ZeroDivisionError: on purpose", ""),
    ("adapt", lambda self, answer: answer[:, None], r"shape \(8, 1\)", r"shape \(8,\)"),
    ("adapt", lambda self, answer: answer.astype(np.float32), "float32", "float64"),
    ("adapt", lambda self, answer: answer * np.inf, "inf", "finite"),
    ("adapt", lambda self, answer: (answer, answer), "2 of tuple", "1 array"),
    ("adapt", lambda self, answer: None, "None", "1 array"),
    (
        "adapt",
        lambda self, answer: setattr(self, "x", answer[:1]) or answer,
        r"self.x is a float64 array of shape \(1,\)",
        "8",
    ),
    ("adapt", lambda self, answer: setattr(self, "more", 3) or answer, "made self.more", "start makes every attribute"),
    ("adapt", lambda self, answer: delattr(self, "v") or answer, "deleted self.v", "start made"),
    ("adapt", lambda self, answer: setattr(self, "round", 3) or answer, "raised AttributeError", ""),
    ("adapt", lambda self, answer: answer * self.settings.beta, "declares no parameter 'beta'; it has step_size", ""),
    ("adapt", unpack, "raised ZeroDivisionError: on purpose", ""),
    ("mix", lambda self, inbox: inbox.mix(), "after exchange 0", "None: exchanges = 1"),
    ("mix", lambda self, inbox: inbox.mix(1), "raised IndexError", ""),
    ("mix", unpack, "raised ZeroDivisionError: on purpose", ""),
]


@pytest.mark.parametrize(("call", "body", "found", "expected"), WRONG)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_a_call_does_wrong_is_named_with_its_place_and_price(blobs, call, body, found, expected):
    run = prdo.Run(data=blobs, method={"name": wrong(call, body), "step_size": 0.3}, **SETTINGS)
    with pytest.raises(prdo.MethodError, match=found) as raised:
        run.train(progress=False)
    error = raised.value
    assert (error.method, error.node, error.round, error.call) == ("wrong", 0, 3, call)
    assert str(error).startswith(f"method wrong, node 0, round 3, {call}: ")
    assert re.search(expected, error.expected or "")
    assert (body is unpack) == isinstance(error.__cause__, ZeroDivisionError)
    # A query is looked at before any gate is asked; an answer was charged for.
    released = 3 if call == "query" else 4
    facts = {"rate": "20/80", "noise": run.facts["noise_multiplier"], "delta": 1e-5}
    assert error.spent == pytest.approx(prdo.privacy.epsilon(rounds=released, **facts).upper, rel=1e-6)
    assert f"ε = {error.spent:.4g} was spent" in str(error)


def test_without_privacy_no_price_is_named(blobs):
    with pytest.raises(prdo.MethodError) as raised:
        train(blobs, {"name": wrong("mix", unpack), "step_size": 0.3}, OPEN)
    assert raised.value.spent is None and "spent" not in str(raised.value)


STARTS = [
    (lambda self, x0: setattr(self, "history", []), "self.history is a list", "float64 array"),
    (lambda self, x0: setattr(self, "v", np.zeros(3)), r"shape \(3,\)", r"shape \(8,\)"),
    (lambda self, x0: setattr(self, "v", np.zeros(8, np.float32)), "float32", "float64"),
    (lambda self, x0: setattr(self, "name", 3), "self.name hides", "another name"),
    (lambda self, x0: setattr(self, "s", self.settings), "self.s is a Settings", "plain number"),
    (lambda self, x0: delattr(self, "v"), "made no array self.v", "among x"),
    (lambda self, x0: setattr(self, "count", np.nan), "self.count is nan", "finite"),
    (unpack, "raised ZeroDivisionError", ""),
]


@pytest.mark.parametrize(("body", "found", "expected"), STARTS)
def test_a_wrong_start_is_refused_before_anything_is_trained(blobs, body, found, expected):
    def start(self, x0):
        Plain.start(self, x0)
        body(self, x0)

    with pytest.raises(prdo.MethodError, match=found) as raised:
        prdo.Run(data=blobs, method={"name": wrong("start", start), "step_size": 0.3}, **SETTINGS)
    assert (raised.value.node, raised.value.round, raised.value.call) == (0, 0, "start")
    assert re.search(expected, raised.value.expected or "") and raised.value.spent in (None, 0)


def in_a_global(self, answer):
    kept.append(float(answer[0]))
    return answer + kept[0]


def on_the_class(self, answer):
    type(self).total = getattr(type(self), "total", 0.0) + float(answer[0])
    return answer


def by_chance(self, answer):
    return answer + np.random.normal(size=8)  # noqa: NPY002


def by_a_generator(self, answer):
    return answer + random.normal(size=8)


def by_the_clock(self, answer):
    return answer * time.perf_counter()


def in_a_default(self, answer, store={}):  # noqa: B006
    store[self.round] = answer
    return answer


def in_a_closure():
    last = np.zeros(8)

    def adapt(self, answer):
        nonlocal last
        last = answer + last
        return last

    return adapt


@pytest.mark.parametrize(
    ("adapt", "found"),
    [
        (in_a_global, "changed the global kept"),
        (on_the_class, "changed Wrong.total"),
        (by_chance, "another result when it was repeated"),
        (by_a_generator, "changed the global random"),
        (by_the_clock, "another result when it was repeated"),
        (in_a_default, "changed default 0 of in_a_default"),
        (in_a_closure(), "changed the closure's last"),
    ],
)
def test_state_that_a_checkpoint_would_miss_is_found_in_the_first_rounds(blobs, adapt, found):
    kept.clear()
    broken = type("Wrong", (Plain,), {"name": "wrong", "adapt": adapt})
    with pytest.raises(prdo.MethodError, match=found) as raised:
        train(blobs, {"name": broken, "step_size": 0.3})
    assert raised.value.call == "adapt" and raised.value.round < 3
    # On one's own responsibility.
    train(blobs, {"name": type("Left", (broken,), {"check": False}), "step_size": 0.3}, rounds=4)


@pytest.mark.parametrize(
    ("declared", "field"),
    [
        ({"name": ""}, "Wrong.name"),
        ({"name": "gt"}, "Wrong.name"),
        ({"name": "own"}, "Wrong.name"),
        ({"exchanges": 0}, "Wrong.exchanges"),
        ({"vectors": 1.5}, "Wrong.vectors"),
        ({"network": "any"}, "Wrong.network"),
        ({"asks": "everything"}, "Wrong.asks"),
        ({"asks": ("recursive",)}, "Wrong.asks"),
        ({"asks": ("recursive", "gamma")}, "Wrong.asks"),
        ({"parameters": {"beta": 0.5}}, "Wrong.parameters['beta']"),
        ({"parameters": {"beta": prdo.Parameter(2, 0, 1)}}, "Wrong.parameters['beta'].default"),
        ({"parameters": {"step_size": prdo.Parameter(2)}}, "Wrong.parameters"),
        ({"mix": prdo.Method.mix}, "method"),
        ({"__init__": lambda self: None}, "method"),
    ],
)
def test_wrong_declarations_are_refused(blobs, declared, field):
    with pytest.raises(prdo.InputError) as raised:
        prdo.Run(
            data=blobs,
            method={"name": type("Wrong", (Plain,), {"name": "wrong", **declared}), "step_size": 1},
            **SETTINGS,
        )
    assert raised.value.field == field


@pytest.mark.parametrize(
    ("parameters", "field", "allowed"),
    [
        ({"gamma": 1.5}, "method.gamma", "a number from 0.01 to 1"),
        ({"gamma": "0.5, 2 from 3"}, "method.gamma", "a number from 0.01 to 1"),
        ({"gamma": [0.1, 0.2]}, "method.gamma", "a number"),
        ({"beta": 0.5}, "method.beta", "gamma"),
        ({"step_size": -1}, "method.step_size", "above 0"),
        ({"step_size": None}, None, None),
    ],
)
def test_wrong_values_are_refused(blobs, parameters, field, allowed):
    with pytest.raises(prdo.InputError) as raised:
        prdo.Run(data=blobs, method={"name": Recursive, "step_size": 0.3, **parameters}, **SETTINGS)
    assert field is None or raised.value.field == field
    assert allowed is None or allowed in str(raised.value.allowed)


def test_an_object_or_another_class_is_no_method(blobs):
    with pytest.raises(prdo.InputError, match="run as a class"):
        Plain()
    with pytest.raises(prdo.InputError, match="subclass of prdo.Method"):
        prdo.Run(data=blobs, method={"name": dict, "step_size": 1}, **SETTINGS)
