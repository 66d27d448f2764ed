"""Parameters of the classifiers, made from settings.csv, and the settings that words for gamma and seed become."""

import functools
import inspect
import json
import textwrap
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, TypeVar

import numpy as np
from sklearn.utils import check_random_state

from fwsvm.errors import shown
from fwsvm.settings import Settings, table

Classifier = TypeVar("Classifier", bound=Any)
WIDTH = 100  # columns of a docstring


@functools.cache
def rows_of(family: str) -> dict[str, dict[str, str]]:
    """Return the rows of settings.csv by the parameters that they are in the classifier of a family."""
    some = [row for row in table() if family in row["families"].split()]
    return {row["parameter"] or row["setting"]: row for row in some}


def with_parameters(kind: type[Classifier]) -> type[Classifier]:
    """Give a classifier the parameters of its ``family``: those of ``__init__``, which its docstring then explains."""
    rows, usual, said = rows_of(kind.family), vars(Settings()), [inspect.cleandoc(kind.__doc__ or "")]
    said.append("\nParameters\n----------")
    for name, row in rows.items():
        value = json.loads(row["default"]) if row["default"] else usual[row["setting"]]
        setattr(kind, name, field(default=value, kw_only=name != "C"))
        said.append(
            textwrap.fill(f"{name} : {row['meaning'] or row['help']}", WIDTH, subsequent_indent="    ")
        )
    kind.__doc__, kind.__annotations__ = "\n".join(said), dict.fromkeys(rows, Any)
    made = dataclass(eq=False, repr=False)(kind)
    made.__init__.__annotations__ = {}  # Any says nothing
    return made


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
