"""fwsvm from Python: `train`, `train_blocks`, `predict`, `save` and `load`, also as ``fwsvm.train`` and so on.

They take arrays as well as the files and names of the command line, with the same settings, machines and results; of
two classes the larger label is +1 (conventions 6).
"""

import os
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from fwsvm import data as data_sets
from fwsvm._mapped import is_mapped
from fwsvm.data import synthetic, unseen
from fwsvm.data.catalogue import scaled
from fwsvm.data.class_weight import by_class
from fwsvm.data.dataset import Dataset, LabelledRows
from fwsvm.data.labels import classes as classes_of
from fwsvm.data.labels import encode, number
from fwsvm.errors import DataError, UsageError
from fwsvm.experiments.prediction import scaled_rows, sigmoids_of
from fwsvm.experiments.probability import refuse_for, with_probabilities
from fwsvm.problems import model_files
from fwsvm.problems.features import canonical
from fwsvm.problems.machines import KernelModel, LinearModel, takes_kernel_values
from fwsvm.problems.precomputed import is_given, refuse_scaling, with_numbers, without_numbers
from fwsvm.problems.probability import probabilities
from fwsvm.scaling import SCALINGS
from fwsvm.solvers import Result, Settings, fit
from fwsvm.solvers.blocks import fit_blocks, survey
from fwsvm.solvers.loop import Watch
from fwsvm.solvers.unused_options import refuse_what_does_nothing
from fwsvm.status import Status

Model: TypeAlias = KernelModel | LinearModel
Rows: TypeAlias = np.ndarray | sparse.csr_array


def train(
    data: str | Path | Dataset | ArrayLike,
    y: ArrayLike | None = None,
    *,
    weights: ArrayLike | None = None,
    watch: Watch | None = None,
    scale: str | None = None,
    probability: bool = False,
    **settings: Any,
) -> Result:
    """Train a machine and return it with its certificate, counters and times.

    Parameters
    ----------
    data : str, Path, Dataset, or array or sparse array of shape (m, n)
        A file, a name of ``fwsvm data list`` or ``synthetic:KIND``, of which the training rows are used; a data set
        loaded before (`fwsvm.data.load`); or the rows themselves. With ``kernel="precomputed"`` an array is the kernel
        matrix (m, m), and a file has LIBSVM's ``0:i 1:K(x,x_1) ...``.
    y : array of numbers or text, shape (m,)
        The rows' labels, with rows only.
    weights : array, shape (m,), optional
        Multiplies each row's penalty C; methods of the stochastic family know no weights.
    watch : callable, optional
        Told of the progress (`fwsvm.solvers.loop.Progress`) a few times a second.
    scale : {"[0,1]", "[-1,1]", "none"}, optional
        Map every feature's range over the training rows (those whose weight is not 0) to an interval. The default is
        what the data set's entry says, and "none" for files and arrays. The machine keeps the ranges: `predict` scales
        rows by them, `save` writes them.
    probability : bool
        Whether the machine gets probabilities: five more machines, each for the fifth of the rows that it was not
        trained on, decide how decision values become probabilities (`fwsvm.problems.probability`).
    **settings
        Fields of `fwsvm.solvers.Settings`: ``method="swap"``, ``C=10``, ``kernel="linear"``, ``tolerance=1e-6``,
        ``class_weight={1: 5}`` or ``"balanced"``, ``parameters={...}`` for the method's own, and so on.

    Raises
    ------
    UsageError
        An unknown or invalid setting, labels that do not match the rows, or probabilities of a linear machine.
    DataError
        Data that cannot be found or used, or a class of one row where probabilities are wanted.
    """
    chosen = _settings(settings)
    refuse_scaling(chosen.kernel, scale)
    loaded = _loaded(data, y, scale, given=is_given(chosen.kernel))
    given = None if weights is None else _array("weights", weights)
    if given is not None and given.shape != (loaded.train.rows,):
        raise UsageError(f"there are weights of shape {given.shape} for {loaded.train.rows} rows")
    table = scaled(loaded, None if given is None else given != 0).train
    codes = encode(table.labels, loaded.classes)
    counted = np.ones(len(codes), dtype=bool) if given is None else given != 0
    if probability:
        refuse_for(loaded.name, codes[counted], loaded.classes, chosen)
    result = fit(table.X, codes, loaded.classes, chosen, weights=given, watch=watch)
    if probability and result.status is not Status.INTERRUPTED:
        some = None if given is None else given[counted]
        rows = table.X[counted], codes[counted]
        more = with_probabilities(*rows, result, chosen, weights=some, watch=watch)
        said = f"{result.message} Interrupted in a fold; the machine is complete, without probabilities."
        result = more or replace(result, status=Status.INTERRUPTED, certified=False, message=said)
    return result.with_ranges(table.ranges)


def _loaded(data: Any, y: ArrayLike | None, scale: str | None, *, given: bool) -> Dataset:
    """Return the data set to train on, without test rows, and not scaled unless it was scaled before.

    Where kernel values are ``given``, files have the number of a row at index 0, and arrays get it.
    """
    if isinstance(data, str | Path | Dataset):
        if y is not None:
            raise UsageError("a data set has labels of its own; give y with an array of rows only")
        found = (
            data
            if isinstance(data, Dataset)
            else data_sets.load(data, scale=scale, raw=True, zero_based=given)
        )
    elif y is None:
        raise UsageError("rows need labels: train(X, y)")
    else:
        rows, labels = _rows(data), _labels(y)
        if rows.shape[0] != len(labels):
            raise UsageError(f"there are {len(labels)} labels for rows of shape {rows.shape}")
        rows = with_numbers(rows) if given else rows
        found = Dataset("", LabelledRows(rows, labels), None, classes_of(labels), "")
    how = found.scaling if scale is None else scale
    if how not in SCALINGS:
        raise UsageError(f"scale must be one of {', '.join(SCALINGS)}, not {how!r}")
    if how != found.scaling and found.train.ranges is not None:
        raise UsageError(
            f"{found.name} was scaled to {found.scaling} when it was loaded; load it with raw=True"
        )
    return replace(found, test=None, scaling=how)


def train_blocks(
    blocks: str | Iterable[tuple[ArrayLike, ArrayLike]], *, watch: Watch | None = None, **settings: Any
) -> Result:
    """Train a machine from blocks of rows, of which one is in memory at a time.

    For methods that draw the rows they use: ``scs``, and ``pegasos`` with a limit of iterations. Memory is that of the
    rows drawn and one block. The result is that of `train` with the same rows in one array, except for rounding in the
    default width of the kernel.

    Parameters
    ----------
    blocks : iterable of (rows, labels), or text
        Rows of shape (any number, n), dense or sparse, and their labels. It is iterated over twice, so it must be a
        list or an object with ``__iter__``, not a generator. Text is ``synthetic:KIND?...``, whose training rows are
        drawn block by block.
    watch, **settings
        As of `train`.

    Raises
    ------
    UsageError
        A method that needs all rows, blocks of different widths, or more than two classes.
    """
    chosen = _settings({"method": "scs", **settings})
    stream = synthetic.Stream(synthetic.parse_spec(blocks)) if isinstance(blocks, str) else blocks
    if iter(stream) is stream:
        raise UsageError("a generator can be gone through once only; give a list or an object with __iter__")
    checked = _Blocks(stream)
    found = survey(checked)
    classes = classes_of(found.labels)
    return fit_blocks(checked, found, lambda labels: encode(labels, classes), classes, chosen, watch=watch)


class _Blocks:
    """Blocks converted to rows of float64 and labels of one type."""

    def __init__(self, blocks: Iterable[tuple[ArrayLike, ArrayLike]]) -> None:
        self.blocks = blocks

    def __iter__(self) -> Iterator[tuple[Rows, np.ndarray]]:
        for X, y in self.blocks:
            yield _rows(X), _labels(y)


def predict(
    model: Model | Result,
    data: str | Path | Dataset | LabelledRows | ArrayLike,
    *,
    threads: int = 1,
    probability: bool = False,
) -> np.ndarray:
    """Return the predicted labels of rows, shape (t,), or the probabilities of their classes.

    The labels are ints where all classes of the machine are whole numbers, floats where they are numbers, else text.

    A machine whose training scaled its rows scales those to be predicted by the same ranges, once: arrays and files are
    taken as they were before any scaling. A data set or table that `fwsvm.data.load` has scaled says so, and is not
    scaled again; its array ``X`` alone does not, so give the table, or load with ``raw=True``. A machine without ranges
    takes rows as they are, those of a name too.

    Parameters
    ----------
    model : KernelModel, LinearModel or Result
    data : str, Path, Dataset, Table, or array or sparse array of shape (t, n)
        A file, with or without labels, a name of ``fwsvm data list`` or a data set, of which the test rows are used if
        there are any, else the training rows; or the rows. Features that no row of sparse rows has count as zeros, and
        those the machine was not trained on are left out, as in LIBSVM's format; a dense array must have its n columns.
        Of a precomputed kernel an array has the kernel values with all training rows, (t, m).
    threads : int
    probability : bool
        Return probabilities in place of labels, shape (t, K): a column for each of the machine's ``classes``.

    Warns
    -----
    UserWarning
        Rows lie far outside the training ranges (`fwsvm.scaling.FAR`), or seem to be scaled already.

    Raises
    ------
    UsageError
        Rows that do not match the machine's features, or were scaled by other ranges than its own; or probabilities
        of a machine that was trained without.
    DataError
        Data that cannot be found or scaled.
    """
    machine = model.model if isinstance(model, Result) else model
    sigmoids = sigmoids_of(machine) if probability else None
    given = takes_kernel_values(machine)
    if isinstance(data, Dataset):
        data = unseen.rows_of(data)
    elif isinstance(data, str | Path):
        if not given and (pieces := unseen.pieces(data)) is not None:
            parts = [predict(model, piece, threads=threads, probability=probability) for piece in pieces]
            return np.concatenate(parts)
        data = unseen.load(data, zero_based=given).table
    elif not isinstance(data, LabelledRows):
        rows = without_numbers(_rows(data)) if given else _rows(data)
        if not given and not sparse.issparse(rows) and rows.shape[1] != machine.features:
            raise UsageError(f"rows of {rows.shape[1]} features for a machine trained on {machine.features}")
        data = LabelledRows(rows, np.empty(0))
    ready = scaled_rows(machine, data)
    for notice in ready.notices:
        warnings.warn(notice, stacklevel=2)
    if sigmoids is not None:
        return probabilities(machine.decision(ready.X, threads), sigmoids, len(machine.classes))
    labels: np.ndarray = _as_labels(machine.classes)[machine.predict(ready.X, threads)]
    return labels


def save(path: str | Path, model: Model | Result) -> None:
    """Write a machine as ``fwsvm train --model`` does, in the format of LIBSVM or LIBLINEAR.

    Of a `Result`, settings and certificate are stored as the machine's ``facts``. If training scaled the rows, the
    ranges are stored in the model and in ``PATH.range``, a range file of svm-scale.

    Warns
    -----
    UserWarning
        ``PATH.range`` exists, of another machine, but this one's training did not scale.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise UsageError("save(path, model): the file's name comes first")
    machine = model.model if isinstance(model, Result) else model
    if isinstance(model, Result):
        named = ("objective", "gap", "relative_gap", "gap_kind", "certified", "train_seconds")
        facts = {
            **model.settings,
            "status": str(model.status),
            **{name: getattr(model, name) for name in named},
        }
        machine = replace(machine, facts={**machine.facts, **facts})
    for notice in model_files.write(path, machine):
        warnings.warn(notice, stacklevel=2)


def load(path: str | Path) -> Model:
    """Return the machine of a file written by fwsvm, LIBSVM or LIBLINEAR; `ModelError` for other files."""
    return model_files.read(path)


def _settings(given: dict[str, Any]) -> Settings:
    names = [field.name for field in fields(Settings)]
    for name in given:
        if name not in names:
            near = get_close_matches(name, names, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"the settings are {', '.join(names)}"
            raise UsageError(f"there is no setting {name!r}; {hint}")
    if isinstance(weights := given.get("class_weight"), Mapping):
        given = {**given, "class_weight": by_class(weights)}
    settings = Settings(**given)
    refuse_what_does_nothing(settings)
    return settings


def _rows(X: Any) -> Rows:
    """Return rows as float64, C-contiguous or CSR with sorted indices; mapped ones may stay float32."""
    if sparse.issparse(X):
        return canonical(sparse.csr_array(X, dtype=np.float64))
    if is_mapped(X) and X.dtype in (np.float32, np.float64) and X.flags.c_contiguous:
        array = np.asarray(X)  # as they lie in the file, which may be larger than memory
    else:
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
    """Return labels as `LabelledRows` has them: float64, or text if they are not numbers."""
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
