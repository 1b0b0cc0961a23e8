"""A scikit-learn-style classifier."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ._records import array
from .errors import InputError, out_of_range
from .run import Run

if TYPE_CHECKING:

    class _Base:
        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **params: Any) -> Any: ...
        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float: ...
        n_features_in_: int

    SKLEARN = True
else:
    try:
        from sklearn.base import BaseEstimator, ClassifierMixin

        class _Base(ClassifierMixin, BaseEstimator):
            """scikit-learn's classifiers."""

        SKLEARN = True
    except ImportError:
        import inspect

        SKLEARN = False

        class _Base:
            """What stands in for them where scikit-learn is not installed."""

            def get_params(self, deep=True):
                return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

            def set_params(self, **params):
                known = self.get_params()
                for name, value in params.items():
                    if name not in known:
                        raise out_of_range("set_params", name, f"one of {', '.join(known)}")
                    setattr(self, name, value)
                return self

            def score(self, X, y, sample_weight=None):
                right = self.predict(X) == np.asarray(y)
                return float(np.average(right, weights=sample_weight))


__all__ = ["PrivateLogisticRegression"]


class PrivateLogisticRegression(_Base):
    """Logistic regression that several organisations train together, each record protected.

    ``fit`` deals the records out to ``nodes`` nodes of a graph (or takes ``groups``: who holds what) and simulates the
    decentralized training in this process; ``coef_`` and ``intercept_`` are those of the nodes' average model. Two
    classes make a logistic regression, more a multinomial one.

    Parameters
    ----------
    epsilon, delta
        The budget of the whole fit, for every single record. ``delta`` should be well below one over the number of
        records.
    nodes, graph, method
        How many organisations there are, how they are linked, and the method ("prdo", "ed", "edm", "mt", "dsgd").
    rounds, step_size, gamma, batch_size
        How they train. ``gamma`` is PRDO's; ``batch_size`` is the expected batch size per node and round,
        default all of the smallest node.
    clip, clip_difference
        Norms at which a record's gradient, and (for PRDO) its change from one round to the next, are clipped; default of
        the second: a twentieth of the first.
    regularization
        Weight of the regulariser.
    feature_range
        ``(low, high)``, numbers or one for each feature, that you know *without looking at the records*: features are
        clipped to it and scaled to −1 … 1. Default: features are used as they are. Means and deviations of private
        records are private, so nothing is standardised by them.
    random_state
        A whole number (or a NumPy ``RandomState``) makes the fit repeatable and **not private**: whoever knows it knows
        the noise. ``None`` draws the secret of batches and noise from the operating system (256 bits) and keeps it
        nowhere.
    threads
        How many threads train; default all.

    What ``random_state=None`` gives: what ``fit`` lets out (``coef_``, ``intercept_`` and what is computed from them) is
    (ε, δ)-differentially private for add or remove of one record, towards everyone who does not see into this process.
    What it does not give: this one process reads all records, so whoever runs it must be trusted with them (between
    organisations that do not trust each other, ``prdo node`` runs one process each); the set of classes, the number of
    records and of features, and the settings count as public; and choosing settings by looking at scores on the same
    records is a release of its own that no budget covers.

    Attributes
    ----------
    classes_, coef_, intercept_, n_features_in_, n_iter_
        As in scikit-learn.
    epsilon_, delta_, noise_multiplier_
        What was spent, and the noise that was added.
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-5,
        *,
        nodes: int = 8,
        graph: str = "ring",
        method: str = "prdo",
        rounds: int = 100,
        step_size: float = 1.0,
        gamma: float = 0.3,
        batch_size: int | None = None,
        clip: float = 1.0,
        clip_difference: float | None = None,
        regularization: float = 0.0,
        feature_range: tuple[Any, Any] | None = None,
        random_state: Any = None,
        threads: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.nodes = nodes
        self.graph = graph
        self.method = method
        self.rounds = rounds
        self.step_size = step_size
        self.gamma = gamma
        self.batch_size = batch_size
        self.clip = clip
        self.clip_difference = clip_difference
        self.regularization = regularization
        self.feature_range = feature_range
        self.random_state = random_state
        self.threads = threads

    def fit(self, X: Any, y: Any, groups: Any = None) -> PrivateLogisticRegression:
        """Trains on ``X`` (records × features) and ``y`` (labels of any kind). ``groups`` says who holds each record."""
        X, y = self._validate(X, y)
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise InputError(f"y has one class only ({classes[0]!r}): at least two classes are needed", "y")
        centre, scale = self._scaling(X.shape[1])
        records: tuple[Any, ...] = (self._scaled(X, centre, scale), codes.astype(float))
        if groups is not None:
            _, holders = np.unique(array("groups", groups), return_inverse=True)
            records = (*records, holders.astype(np.uint32))
        result = self._run(records, len(classes), None if groups is None else len(set(holders))).train(
            progress=False, threads=self.threads
        )
        weights = result.average.reshape(1 if len(classes) == 2 else len(classes), X.shape[1] + 1)
        self.classes_ = classes
        self.coef_ = weights[:, :-1] / scale
        self.intercept_ = weights[:, -1] - self.coef_ @ centre
        self.n_features_in_ = X.shape[1]
        self.n_iter_ = int(self.rounds)
        self.epsilon_ = result.epsilon
        self.delta_ = result.delta
        self.noise_multiplier_ = result.summary["noise_multiplier"]
        return self

    def _run(self, records: tuple[Any, ...], classes: int, holders: int | None) -> Run:
        method: dict[str, Any] = {"name": self.method, "step_size": self.step_size}
        clip: dict[str, Any] = {"gradient": self.clip}
        if self.method == "prdo":
            method["gamma"] = self.gamma
            clip["difference"] = 0.05 * self.clip if self.clip_difference is None else self.clip_difference
        seed, unseeded = self._seed()
        return Run(
            _unseeded=unseeded,
            data=records,
            set={"data.test": 0, "data.classes": None if classes == 2 else classes},
            name="fit",
            seed=seed,
            rounds=self.rounds,
            graph={"kind": self.graph, "nodes": self.nodes if holders is None else holders},
            model={"kind": "logistic" if classes == 2 else "softmax", "regularization": self.regularization},
            method=method,
            clip=clip,
            batch={"size": self.batch_size},
            privacy={"epsilon": self.epsilon, "delta": self.delta},
            # The start and the end only: nothing measured on the way is kept.
            metrics={"every": self.rounds, "records": 1},
        )

    def _seed(self) -> tuple[int | None, bool]:
        """The seed, or that there is none."""
        state = self.random_state
        if state is None:
            return None, True
        if hasattr(state, "randint"):
            return int(state.randint(2**31 - 1)), False
        if isinstance(state, (int, np.integer)) and state >= 0:
            return int(state), False
        raise out_of_range("random_state", state, "None, a whole number of at least 0, or a NumPy RandomState")

    def _validate(self, X: Any, y: Any) -> tuple[NDArray[np.float64], NDArray[Any]]:
        if y is None:
            raise InputError("y is missing: fit requires y to be passed, but the target y is None", "y")
        if SKLEARN:
            from sklearn.utils.multiclass import check_classification_targets
            from sklearn.utils.validation import validate_data

            X, y = validate_data(self, X, y, dtype=np.float64)
            check_classification_targets(y)
            return X, y
        return self._features(X), array("y", y)

    def _features(self, X: Any) -> NDArray[np.float64]:
        if SKLEARN:
            from sklearn.utils.validation import validate_data

            return validate_data(self, X, dtype=np.float64, reset=False)  # type: ignore[no-any-return]
        return array("X", X).astype(np.float64)

    def _scaling(self, features: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Centre and half width of each feature."""
        if self.feature_range is None:
            return np.zeros(features), np.ones(features)
        try:
            low, high = (np.broadcast_to(np.asarray(end, float), (features,)) for end in self.feature_range)
            ok = bool((low < high).all() and np.isfinite(low).all() and np.isfinite(high).all())
        except (TypeError, ValueError):
            ok = False
        if not ok:
            allowed = f"(low, high) with low < high, finite numbers or {features} of them each"
            raise out_of_range("feature_range", self.feature_range, allowed)
        return (low + high) / 2, (high - low) / 2

    def _scaled(
        self, X: NDArray[np.float64], centre: NDArray[np.float64], scale: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        if self.feature_range is None:
            return X
        return np.clip((X - centre) / scale, -1.0, 1.0)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The score of each class; for two classes that of the second."""
        if not hasattr(self, "coef_"):
            if SKLEARN:
                from sklearn.exceptions import NotFittedError

                raise NotFittedError("this PrivateLogisticRegression is not fitted: call fit first")
            raise InputError("this PrivateLogisticRegression is not fitted: call fit first")
        X = self._features(X)
        if self.feature_range is not None:
            low, high = self.feature_range
            X = np.clip(X, low, high)
        scores = X @ self.coef_.T + self.intercept_
        return scores[:, 0] if len(self.classes_) == 2 else scores  # type: ignore[no-any-return]

    def predict(self, X: Any) -> NDArray[Any]:
        """The likeliest class of each record."""
        scores = self.decision_function(X)
        number = (scores >= 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[number]  # type: ignore[no-any-return]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of each class."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            scores = np.column_stack([np.zeros_like(scores), scores])
        scores = np.exp(scores - scores.max(axis=1, keepdims=True))
        return scores / scores.sum(axis=1, keepdims=True)  # type: ignore[no-any-return]

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """The logarithm of each class's probability."""
        return np.log(self.predict_proba(X))
