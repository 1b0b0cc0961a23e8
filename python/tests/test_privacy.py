"""Privacy budgets: the command's figures, bad input by name."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import prdo
import pytest

PLANS = [
    {"rate": "100/4500", "epsilon": 4, "rounds": 9500, "delta": 1e-5},
    {"rate": 0.02, "epsilon": 1, "rounds": 500, "delta": 1e-6},
    {"rate": 1, "epsilon": 8, "rounds": 3, "delta": 1e-5, "first_rate": 0.5},
    {"rate": 0.01, "epsilon": 2, "rounds": 100, "delta": 1e-5, "accountant": "rdp"},
]


def options(plan: dict[str, object]) -> list[object]:
    return [word for key, value in plan.items() for word in ("--" + key.replace("_", "-"), value)]


@pytest.mark.parametrize("plan", PLANS)
def test_noise_and_its_cost_are_the_commands_to_the_bit(command, plan):
    said = command("privacy", "noise", *options(plan), "--json")
    noise = prdo.privacy.noise(**plan)
    assert float(noise) == said["noise_multiplier"] == noise.noise_multiplier
    assert (noise.epsilon, noise.lower) == (said["epsilon"], said["epsilon_lower"])
    rest = {key: value for key, value in plan.items() if key != "epsilon"}
    epsilon = prdo.privacy.epsilon(noise=float(noise), **rest)
    assert float(epsilon) == said["epsilon_upper"] <= plan["epsilon"]


def test_rounds_rate_and_delta_are_the_commands(command):
    budget = {"epsilon": 4, "delta": 1e-5}
    said = command("privacy", "rounds", "--rate", "0.02", "--noise", 1, *options(budget), "--json")
    assert int(prdo.privacy.rounds(rate=0.02, noise=1, **budget)) == said["rounds"]
    said = command("privacy", "rate", "--rounds", 100, "--noise", 1, *options(budget), "--json")
    assert float(prdo.privacy.rate(rounds=100, noise=1, **budget)) == said["rate"]
    said = command("privacy", "epsilon", "--rate", 0.1, "--noise", 2, "--rounds", 50, "--epsilon", 1, "--json")
    assert float(prdo.privacy.delta(rate=0.1, noise=2, rounds=50, epsilon=1)) == said["delta"]


def test_pairs_are_the_commands_to_the_bit(command):
    plan = {"nodes": 6, "colluders": 1, "rate": 0.1, "rounds": 40, "epsilon": 3, "delta": 1e-5}
    said = command("privacy", "pairs", *options(plan), "--ratio", 10, "--json")
    answer = prdo.privacy.pairs(**plan, ratio=10)
    keys = ("noise_multiplier", "own_multiplier", "pair_multiplier", "gain")
    assert [getattr(answer, key) for key in keys] == [said[key] for key in keys]
    assert [vars(row) for row in answer.coalitions] == said["epsilon_by_colluders"]
    assert [vars(row) for row in answer.disagreement] == said["disagreement"]
    assert float(answer) == answer.own_multiplier and answer.worst is None
    assert "all keys lost" in answer._repr_html_()
    ring = prdo.privacy.pairs(**plan, ratio=100, secrets=[(i, (i + 1) % 6) for i in range(6)])
    assert ring.worst == (1, [0]) and ring.coalitions[2].epsilon == ring.coalitions[5].epsilon


def test_pairs_that_gain_nothing_are_refused_by_name():
    plan = {"nodes": 4, "colluders": 1, "rate": 1, "rounds": 5, "epsilon": 3, "delta": 1e-5}
    ring = [(0, 1), (1, 2), (2, 3), (3, 0)]
    for wrong, named in [
        ({"colluders": 3}, "colluders"),
        ({"colluders": 4}, "colluders"),
        ({"colluders": -1}, "colluders"),
        ({"nodes": 1}, "nodes"),
        ({"ratio": 0}, "ratio"),
        ({"ratio": float("nan")}, "ratio"),
        ({"colluders": 2, "secrets": ring}, "secrets"),
        ({"secrets": [(0, 4)]}, "secrets"),
    ]:
        with pytest.raises(prdo.InputError) as raised:
            prdo.privacy.pairs(**{**plan, **wrong})
        assert raised.value.field == named, wrong


def test_rates_are_numbers_fractions_or_text():
    answers = {
        float(prdo.privacy.epsilon(rate, 1.0, 100, 1e-5))
        for rate in ("100/4500", 100 / 4500, Fraction(100, 4500), np.float64(100 / 4500))
    }
    assert len(answers) == 1


def test_curves_are_arrays_frames_and_pictures(command):
    plan = {"rate": 0.02, "noise": 1.0, "delta": 1e-5}
    curve = prdo.privacy.curve("rounds", start=10, end=1000, points=5, **plan)
    said = command("privacy", "curve", "--against", "rounds", "--from", 10, "--to", 1000, "--points", 5, *options(plan), "--json")
    assert list(curve.columns["epsilon"]) == [point["epsilon"] for point in said["points"]]
    assert list(curve.frame().columns)[:3] == ["rounds", "epsilon_lower", "epsilon"]
    assert (np.diff(curve.columns["epsilon"]) > 0).all()
    assert curve.plot().startswith("<svg") and curve.svg in curve._repr_html_()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("rate", 1.5),
        ("rate", "5/4"),
        ("rate", float("nan")),
        ("rate", None),
        ("noise", 0),
        ("noise", "1.0"),
        ("rounds", 1.5),
        ("rounds", 0),
        ("rounds", []),
        ("delta", 1),
        ("delta", 0.0),
        ("accountant", "best"),
    ],
)
def test_bad_input_names_the_argument_and_what_is_allowed(field, value):
    plan = {"rate": 0.1, "noise": 1.0, "rounds": 10, "delta": 1e-5, field: value}
    with pytest.raises(prdo.InputError) as raised:
        prdo.privacy.epsilon(**plan)
    error = raised.value
    assert isinstance(error, ValueError) and error.field == field and error.allowed
    assert str(error).startswith(f"{field} = ") and error.allowed in str(error)


def test_bad_axes_and_budgets_are_refused():
    plan = {"rate": 0.1, "noise": 1.0, "rounds": 10, "delta": 1e-5}
    for wrong, field in [
        ({"against": "rate", "start": 2}, "start"),
        ({"against": "rounds", "start": 9, "end": 3}, "end"),
        ({"against": "time"}, "against"),
        ({"against": "rate", "noise": None}, "noise"),
        ({"against": "rate", "points": 1}, "points"),
        ({"against": "rate", "rate": None}, "start"),
    ]:
        with pytest.raises(prdo.InputError) as raised:
            prdo.privacy.curve(**{**plan, **wrong})
        assert raised.value.field == field, wrong
    with pytest.raises(prdo.InputError, match="keeps ε ≤ 1e-9"):
        prdo.privacy.noise(rate=1, epsilon=1e-9, rounds=10**12, delta=1e-300)


def test_answers_show_themselves():
    noise = prdo.privacy.noise(rate=0.1, epsilon=1, rounds=10, delta=1e-5)
    assert "noise multiplier" in noise._repr_html_()
    assert "e^ε" in prdo.privacy.epsilon(rate=0.1, noise=1, rounds=10, delta=1e-5)._repr_html_()
    assert "<table>" in prdo.privacy.rate(noise=1, rounds=9, epsilon=1, delta=1e-5)._repr_html_()
