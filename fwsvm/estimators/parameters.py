"""The parameters of the classifiers, most of them of the table of settings: defaults, documentation, conversion.

An invalid value is a `ValueError` that says what it may be.
"""

import textwrap
from collections.abc import Callable
from dataclasses import fields
from inspect import Parameter, Signature, cleandoc
from numbers import Integral
from typing import Any, TypeVar

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils import check_random_state

from fwsvm.errors import shown
from fwsvm.settings import Settings

Kind = TypeVar("Kind", bound=type)


def limit(given: Any) -> Any:
    """Return a limit; -1 means none, as in scikit-learn."""
    return None if isinstance(given, Integral) and given == -1 else given


def threads(n_jobs: Any) -> int:
    """Return the number of threads for n_jobs, as in joblib."""
    return 1 if n_jobs == 1 else int(effective_n_jobs(n_jobs))


def seed(random_state: Any) -> int:
    """Return the seed of a random_state: a number, a generator to draw it from, or None."""
    is_number = isinstance(random_state, Integral)
    return int(random_state if is_number else check_random_state(random_state).randint(2**31 - 1))


def gamma(given: Any, X: Any) -> Any:
    """Return the value of gamma "scale" or "auto" for rows X (m, n); other values are returned unchanged."""
    if not isinstance(given, str):
        return given
    if given == "auto":
        return 1.0 / X.shape[1]
    if given != "scale":
        raise ValueError(f"gamma is a positive number, 'scale', 'auto' or None, not {shown(given)}")
    mean = X.mean()
    variance = X.var() if isinstance(X, np.ndarray) else X.multiply(X).mean() - mean**2
    return 1.0 / (X.shape[1] * variance) if variance > 0.0 else 1.0


#: The settings that are parameters, by name.
SETTINGS = {each.metadata["sklearn"][0]: each for each in fields(Settings) if each.metadata["sklearn"]}
#: How some become settings.
CONVERTED: dict[str, Callable[[Any], Any]] = {
    "max_iter": limit,
    "time_limit": limit,
    "n_jobs": threads,
    "random_state": seed,
    "cache_size": lambda given: int(given) if isinstance(given, float) and given.is_integer() else given,
    "parameters": lambda given: given or {},
    "kernel_parameters": lambda given: given or {},
}
#: Defaults of the others.
OTHERS = {
    "loss": "squared_hinge",
    "fit_intercept": True,
    "intercept_scaling": 1.0,
    "decision_function_shape": "ovr",
    "scale": None,
    "probability": False,
}
#: What the help of the command line does not say.
TEXTS = {
    "parameters": "Mapping of the method's own parameters (``fwsvm methods NAME``).",
    "kernel_parameters": "Mapping of the kernel's own parameters (``fwsvm kernels``).",
    "kernel": 'One of `fwsvm kernels`; "precomputed", where X is the kernel matrix (m, m), and (t, m) to predict; or a '
    "function of two sets of rows that returns such a matrix.",
    "gamma": 'Width of the kernel; "scale": 1 / (n times the variance of all values); "auto": 1 / n; None: by '
    "``width_rule`` from the mean squared distance D of the rows: paper 1/(2D), inverse-distance 1/D, libcvm 2/D.",
    "max_iter": "Iterations, of linear methods visits to each row, after which a run ends, with a ConvergenceWarning; "
    "-1: no limit; None: 1,000 visits of linear methods as in `sklearn.svm.LinearSVC`, 100,000 iterations of "
    "stochastic ones, no limit of others.",
    "class_weight": 'None, "balanced", or a mapping of labels to weights.',
    "n_jobs": "Number of threads; None for one, -1 for all there are.",
    "lam": "lambda itself, in place of C: what `partial_fit` needs of portions that are small.",
    "loss": "hinge or squared_hinge.",
    "fit_intercept": "Whether there is a constant feature.",
    "intercept_scaling": "Its value; it is regularised, the less the larger its value.",
    "decision_function_shape": "ovr or ovo, for more than two classes.",
    "scale": 'None, "[0,1]" or "[-1,1]", the interval to which the range of each feature over the training rows is '
    "mapped; rows to predict are scaled by the same ranges.",
    "probability": "Whether there are `predict_proba` and `predict_log_proba`: five more models are trained, each on "
    "four fifths of the rows, whose decision values on the others make the sigmoids.",
}


def with_parameters(names: str, **defaults: Any) -> Callable[[Kind], Kind]:
    """Give a class an ``__init__`` with these parameters, and document them; some have other defaults."""
    known = {name: setting.metadata["sklearn"][1] for name, setting in SETTINGS.items()} | OTHERS | defaults
    texts = {name: setting.metadata["help"] for name, setting in SETTINGS.items()} | TEXTS
    values = {name: known[name] for name in names.split()}
    signature = Signature(
        [
            Parameter("self", Parameter.POSITIONAL_OR_KEYWORD),
            Parameter("C", Parameter.POSITIONAL_OR_KEYWORD, default=values.pop("C")),
            *[Parameter(name, Parameter.KEYWORD_ONLY, default=value) for name, value in values.items()],
        ]
    )

    def __init__(self: Any, *positional: Any, **named: Any) -> None:  # noqa: N807
        bound = signature.bind(self, *positional, **named)
        bound.apply_defaults()
        for name, value in list(bound.arguments.items())[1:]:
            setattr(self, name, value)

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    lines = [
        textwrap.fill(f"{name} : {texts[name]}", 110, subsequent_indent="    ") for name in ("C", *values)
    ]

    def add(kind: Kind) -> Kind:
        kind.__init__ = __init__  # type: ignore[misc]
        text = cleandoc(kind.__doc__ or "")
        kind.__doc__ = "\n".join([text, "", "Parameters", "----------", *lines])
        return kind

    return add
