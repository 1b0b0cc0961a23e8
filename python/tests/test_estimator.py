"""The scikit-learn-style classifier."""

from __future__ import annotations

import numpy as np
import prdo
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.model_selection import cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks


# A small network, a large budget and a seed: the checks are about the interface, on a handful of records. None is expected
# to fail; those about sample weights do not apply (one record is one unit of privacy).
@pytest.mark.filterwarnings("ignore:privacy")
@parametrize_with_checks(
    [prdo.PrivateLogisticRegression(epsilon=200.0, nodes=2, graph="complete", rounds=60, random_state=1)]
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return train_test_split(X, y, test_size=0.3, random_state=0), (np.zeros(30), X.max(axis=0) * 1.1)


def test_it_learns_within_its_budget(cancer):
    (X, X_test, y, y_test), limits = cancer
    model = prdo.PrivateLogisticRegression(epsilon=4.0, nodes=4, feature_range=limits, random_state=0).fit(X, y)
    assert model.score(X_test, y_test) > 0.85
    assert model.epsilon_ <= 4.0 and model.delta_ == 1e-5 and model.noise_multiplier_ > 0
    assert model.coef_.shape == (1, 30) and model.n_iter_ == 100
    chance = model.predict_proba(X_test)
    assert np.allclose(chance.sum(axis=1), 1) and (chance.argmax(axis=1) == model.predict(X_test)).all()
    again = clone(model).fit(X, y)
    assert (again.coef_ == model.coef_).all()


def test_without_a_seed_no_two_fits_are_alike(cancer):
    (X, _, y, _), limits = cancer
    fits = [prdo.PrivateLogisticRegression(nodes=4, rounds=5, feature_range=limits).fit(X, y) for _ in range(2)]
    assert (fits[0].coef_ != fits[1].coef_).all()
    # Nothing is kept by which the noise could be drawn again, nor any figure that was measured without noise.
    kept = {name for name in vars(fits[0]) if name.endswith("_")}
    assert kept == {"classes_", "coef_", "intercept_", "n_features_in_", "n_iter_", "epsilon_", "delta_", "noise_multiplier_"}


def test_many_classes_names_and_groups():
    X, y = load_digits(return_X_y=True)
    names = np.array([f"digit {k}" for k in range(10)])[y]
    groups = np.array(["north", "south", "west"])[np.arange(len(y)) % 3]
    model = prdo.PrivateLogisticRegression(epsilon=8.0, feature_range=(0, 16), graph="complete", random_state=3)
    model.fit(X, names, groups=groups)
    assert model.coef_.shape == (10, 64) and model.score(X, names) > 0.6
    assert model.predict(X[:3]).dtype == names.dtype


def test_it_works_in_pipelines_and_cross_validation(cancer):
    (X, _, y, _), limits = cancer
    model = prdo.PrivateLogisticRegression(epsilon=8.0, nodes=2, graph="complete", rounds=30, random_state=0)
    scale = FunctionTransformer(lambda X: np.clip(2 * X / limits[1] - 1, -1, 1))
    assert cross_val_score(make_pipeline(scale, model), X, y, cv=3).mean() > 0.8


def test_features_beyond_the_range_are_clipped(cancer):
    (X, X_test, y, _), limits = cancer
    model = prdo.PrivateLogisticRegression(epsilon=4.0, nodes=4, feature_range=limits, random_state=0).fit(X, y)
    far = X_test.copy()
    far[:, 0] = 1e9
    near = X_test.copy()
    near[:, 0] = limits[1][0]
    assert (model.decision_function(far) == model.decision_function(near)).all()


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"epsilon": -1}, "privacy.epsilon"),
        ({"delta": 2}, "privacy.delta"),
        ({"rounds": 0}, "rounds"),
        ({"method": "adam"}, "method.name"),
        ({"clip": 0}, "clip.gradient"),
        ({"feature_range": (1, 0)}, "feature_range"),
        ({"feature_range": 3}, "feature_range"),
        ({"random_state": "x"}, "random_state"),
        ({"nodes": 10**5}, None),
    ],
)
def test_bad_input_names_the_argument(cancer, arguments, field):
    (X, _, y, _), _ = cancer
    with pytest.raises(prdo.InputError) as raised:
        prdo.PrivateLogisticRegression(**arguments).fit(X, y)
    assert field is None or raised.value.field == field
