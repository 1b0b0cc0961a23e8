"""Private decentralized learning: organisations (nodes of a graph) train one model together with no server.

    >>> import prdo
    >>> round(float(prdo.privacy.noise(rate="100/4500", epsilon=4, rounds=1000, delta=1e-5)), 3)
    1.048
    >>> run = prdo.Run(data="digits", graph={"kind": "ring", "nodes": 8}, rounds=50, batch={"size": 50},
    ...                method={"name": "ed", "step_size": 1.0}, clip={"gradient": 1.0},
    ...                privacy={"epsilon": 4, "delta": 1e-5})
    >>> result = run.train(progress=False)
    >>> result.metrics.columns[0], result.average.shape
    ('round', (650,))
"""

from . import privacy
from ._prdo import __version__
from .audits import AuditReport, audit
from .errors import InputError, MethodError, RunError
from .estimator import PrivateLogisticRegression
from .graphs import Graph, graph
from .method import Inbox, Method, Parameter, Query, gradient, moved, recursive, scaled
from .model import PythonModel, check_model
from .plots import Picture, plot
from .run import Result, Run, compare
from .torch import torch_model

__all__ = [
    "AuditReport",
    "Graph",
    "Inbox",
    "InputError",
    "Method",
    "MethodError",
    "Parameter",
    "Picture",
    "PrivateLogisticRegression",
    "PythonModel",
    "Query",
    "Result",
    "Run",
    "RunError",
    "__version__",
    "audit",
    "check_model",
    "compare",
    "gradient",
    "graph",
    "moved",
    "plot",
    "privacy",
    "recursive",
    "scaled",
    "torch_model",
]
