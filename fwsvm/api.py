"""fwsvm from Python: `train`, `train_blocks`, `predict`, `save` and `load`, also as ``fwsvm.train`` and so on.

What the command line does with files is done here with arrays: the same data sets by name, settings, classes
(conventions: with two classes the larger label is +1), machines and results.
"""

import os
from collections.abc import Iterable, Iterator
from dataclasses import fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from fwsvm import data as data_sets
from fwsvm.data import synthetic
from fwsvm.data.dataset import Dataset, Table
from fwsvm.data.labels import classes as classes_of
from fwsvm.data.labels import encode, number
from fwsvm.errors import DataError, UsageError
from fwsvm.problems import model_files
from fwsvm.problems.features import canonical, fitted
from fwsvm.problems.machines import KernelModel, LinearModel
from fwsvm.solvers import Result, Settings, fit
from fwsvm.solvers.blocks import fit_blocks, survey
from fwsvm.solvers.loop import Watch
from fwsvm.solvers.meaning import refuse_what_does_nothing

Model: TypeAlias = KernelModel | LinearModel
Rows: TypeAlias = np.ndarray | sparse.csr_array


def train(
    data: str | Path | Dataset | ArrayLike,
    y: ArrayLike | None = None,
    *,
    weights: ArrayLike | None = None,
    watch: Watch | None = None,
    **settings: Any,
) -> Result:
    """Train a machine and return it with its certificate and what it cost.

    Parameters
    ----------
    data : str, Path, Dataset, or array or sparse array of shape (m, n)
        A file, a name of ``fwsvm data list`` or ``synthetic:KIND``, of which the training rows are used; a data set
        loaded before (`fwsvm.data.load`); or the rows themselves.
    y : array of numbers or text, shape (m,)
        The rows' labels, with rows only.
    weights : array, shape (m,), optional
        Multiplies each row's penalty C; methods of the stochastic family know no weights.
    watch : callable, optional
        Told of the progress (`fwsvm.solvers.loop.Progress`) a few times a second.
    **settings
        Fields of `fwsvm.solvers.Settings`: ``method="swap"``, ``C=10``, ``kernel="linear"``, ``tolerance=1e-6``,
        ``parameters={...}`` for the method's own, and so on.

    Raises
    ------
    UsageError
        A setting that does not exist or makes no sense, or labels that do not fit the rows.
    DataError
        Data that is not to be had or cannot be used.
    """
    chosen = _settings(settings)
    if isinstance(data, str | Path | Dataset):
        if y is not None:
            raise UsageError("a data set has labels of its own; give y with an array of rows only")
        loaded = data if isinstance(data, Dataset) else data_sets.load(data)
        table, classes = loaded.train, loaded.classes
    else:
        if y is None:
            raise UsageError("rows need labels: train(X, y)")
        table = Table(_rows(data), _labels(y))
        classes = classes_of(table.labels)
    codes = encode(table.labels, classes)
    given = None if weights is None else _array("weights", weights)
    if given is not None and given.shape != codes.shape:
        raise UsageError(f"there are weights of shape {given.shape} for {len(codes)} rows")
    return fit(table.X, codes, classes, chosen, weights=given, watch=watch)


def train_blocks(
    blocks: str | Iterable[tuple[ArrayLike, ArrayLike]], *, watch: Watch | None = None, **settings: Any
) -> Result:
    """Train a machine from blocks of rows that never lie in memory together.

    For methods that draw the rows they use: ``scs``, and ``pegasos`` with a limit of iterations. Memory is that of the
    rows drawn and of one block. The result is that of `train` with the same rows in one array, but for rounding in the
    default width of the kernel.

    Parameters
    ----------
    blocks : iterable of (rows, labels), or text
        Rows of shape (any number, n), dense or sparse, and their labels. It is gone through twice, so it must start
        anew each time: a list, or an object with ``__iter__``, but no generator. Text is ``synthetic:KIND?...``, whose
        training rows are drawn block by block.
    watch, **settings
        As of `train`.

    Raises
    ------
    UsageError
        A method that looks at all rows, blocks that do not fit together, or more than two classes.
    """
    chosen = _settings({"method": "scs", **settings})
    stream = synthetic.Stream(synthetic.recipe(blocks)) if isinstance(blocks, str) else blocks
    if iter(stream) is stream:
        raise UsageError("a generator can be gone through once only; give a list or an object with __iter__")
    checked = _Blocks(stream)
    found = survey(checked)
    classes = classes_of(found.labels)
    return fit_blocks(checked, found, lambda labels: encode(labels, classes), classes, chosen, watch=watch)


class _Blocks:
    """Blocks as the solvers take them: rows of float64, labels of one kind."""

    def __init__(self, blocks: Iterable[tuple[ArrayLike, ArrayLike]]) -> None:
        self.blocks = blocks

    def __iter__(self) -> Iterator[tuple[Rows, np.ndarray]]:
        for X, y in self.blocks:
            yield _rows(X), _labels(y)


def predict(model: Model | Result, X: ArrayLike, *, threads: int = 1) -> np.ndarray:
    """Return the predicted labels of the rows of X (t, n), shape (t,).

    The labels are ints where all classes of the machine are whole numbers, floats where they are numbers, else text.
    Features that no row of a sparse X has count as zeros, and those the machine was not trained on are left out, as
    in LIBSVM's format; a dense X must have the machine's n columns.
    """
    machine = model.model if isinstance(model, Result) else model
    rows = _rows(X)
    if not sparse.issparse(rows) and rows.shape[1] != machine.features:
        raise UsageError(f"rows of {rows.shape[1]} features for a machine trained on {machine.features}")
    codes = machine.predict(fitted(rows, machine.features)[0], threads)
    labels: np.ndarray = _as_labels(machine.classes)[codes]
    return labels


def save(path: str | Path, model: Model | Result) -> None:
    """Write a machine as ``fwsvm train --model`` does: a file that LIBSVM's or LIBLINEAR's programs read too.

    Of a `Result` the settings and the certificate are kept with it, as the machine's ``facts``.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise UsageError("save(path, model): the file's name comes first")
    if not isinstance(model, Result):
        model_files.write(path, model)
        return
    named = ("objective", "gap", "relative_gap", "gap_kind", "certified", "train_seconds")
    facts = {**model.settings, "status": str(model.status), **{name: getattr(model, name) for name in named}}
    model_files.write(path, replace(model.model, facts={**model.model.facts, **facts}))


def load(path: str | Path) -> Model:
    """Return the machine of a file written by fwsvm, LIBSVM or LIBLINEAR; `ModelError` if it is none."""
    return model_files.read(path)


def _settings(given: dict[str, Any]) -> Settings:
    names = [field.name for field in fields(Settings)]
    for name in given:
        if name not in names:
            near = get_close_matches(name, names, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"the settings are {', '.join(names)}"
            raise UsageError(f"there is no setting {name!r}; {hint}")
    settings = Settings(**given)
    refuse_what_does_nothing(settings)
    return settings


def _rows(X: Any) -> Rows:
    """Return rows as float64, C-contiguous or CSR with sorted indices."""
    if sparse.issparse(X):
        return canonical(sparse.csr_array(X, dtype=np.float64))
    array = np.ascontiguousarray(_array("rows", X))
    if array.ndim != 2:
        raise UsageError(f"rows are an array of two dimensions, not of shape {np.shape(X)}")
    return array


def _array(what: str, values: Any) -> np.ndarray:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise UsageError(f"{what} must be numbers: {error}") from None


def _labels(y: ArrayLike) -> np.ndarray:
    """Return labels as a `Table` has them: float64, or text where they are not numbers."""
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise UsageError(f"labels are an array of one dimension, not of shape {labels.shape}")
    if labels.dtype.kind not in "biuf":
        return labels.astype(str)
    numbers = labels.astype(np.float64)
    if labels.dtype.kind in "iu" and (numbers.astype(labels.dtype) != labels).any():
        raise DataError("labels are whole numbers beyond 2^53, which would be rounded; give them as text")
    return numbers


def _as_labels(classes: tuple[str, ...]) -> np.ndarray:
    values = [number(name) for name in classes]
    if any(value is None for value in values):
        return np.array(classes)
    array = np.array(values, dtype=np.float64)
    whole = (array == np.rint(array)).all() and (np.abs(array) <= 2**53).all()
    return array.astype(np.int64) if whole else array
