"""fwsvm from Python: `train`, `train_blocks`, `predict`, `save` and `load`, also as ``fwsvm.train`` and so on.

They take arrays as well as the files and names of the command line, with the same settings, machines and results; of
two classes the larger label is +1.
"""

import os
import warnings
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from fwsvm._given import ConvertedBlocks, data_set_of, label_values, numbers_of, rows_of, settings_of
from fwsvm._mapped import blocks, in_memory, is_mapped
from fwsvm._stretches import all_finite
from fwsvm.data import synthetic, unseen
from fwsvm.data.catalogue import scaled
from fwsvm.data.dataset import Dataset, LabelledRows
from fwsvm.data.labels import classes as classes_of
from fwsvm.data.labels import encode
from fwsvm.errors import UsageError, callers_level
from fwsvm.experiments.prediction import scaled_rows, sigmoids_of
from fwsvm.experiments.probability import refuse_probability, with_probabilities
from fwsvm.kernels.kernel import family
from fwsvm.numerics.threads import MOST_THREADS
from fwsvm.problems import model_files
from fwsvm.problems.machines import (
    NOT_FINITE,
    KernelModel,
    LinearModel,
    refuse_undecided,
    takes_kernel_values,
)
from fwsvm.problems.precomputed import is_given, refuse_scaling, without_numbers
from fwsvm.problems.probability import probabilities
from fwsvm.problems.unscaled import scaling_warning
from fwsvm.solvers import Result, fit
from fwsvm.solvers.blocks import fit_blocks, survey
from fwsvm.solvers.loop import Watch
from fwsvm.solvers.registry import FAMILIES, method
from fwsvm.solvers.resolve import check_whole
from fwsvm.status import Status

Model: TypeAlias = KernelModel | LinearModel


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

    Warns
    -----
    UserWarning
        The rows are far from scaled: features have ranges of other orders of magnitude (`fwsvm.scaling.UNEVEN`).
    """
    chosen = settings_of(settings)
    refuse_scaling(chosen.kernel, scale)
    loaded = data_set_of(data, y, scale, given=is_given(chosen.kernel))
    given = None if weights is None else numbers_of("weights", weights)
    if given is not None and given.shape != (loaded.train.rows,):
        raise UsageError(f"there are weights of shape {given.shape} for {loaded.train.rows} rows")
    table = scaled(loaded, None if given is None else given != 0).train
    codes = encode(table.labels, loaded.classes)
    counted = np.ones(len(codes), dtype=bool) if given is None else given != 0
    used = chosen.kernel or FAMILIES[method(chosen.method).family].default_kernel
    if warning := scaling_warning(table.X, family(used), 'scale="[0,1]"'):
        warnings.warn(warning, stacklevel=callers_level())
    if probability:
        refuse_probability(loaded.name, codes[counted], loaded.classes, chosen)
    result = fit(table.X, codes, loaded.classes, chosen, weights=given, watch=watch)
    if probability and result.status is not Status.INTERRUPTED:
        some = None if given is None else given[counted]
        rows = table.X[counted], codes[counted]
        more = with_probabilities(*rows, result, chosen, weights=some, watch=watch)
        said = f"{result.message} Interrupted in a fold; the model is complete, without probabilities."
        result = more or replace(result, status=Status.INTERRUPTED, message=said)
    return result.with_ranges(table.ranges)


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
    chosen = settings_of({"method": "scs", **settings})
    stream = synthetic.Stream(synthetic.parse_spec(blocks)) if isinstance(blocks, str) else blocks
    if iter(stream) is stream:
        raise UsageError(
            "a generator can be gone through once only; give a list or an object whose __iter__ starts anew each time"
        )
    checked = ConvertedBlocks(stream)
    found = survey(checked)
    classes = classes_of(found.labels)
    return fit_blocks(checked, found, lambda labels: encode(labels, classes), classes, chosen, watch=watch)


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
    data : str, Path, Dataset, LabelledRows, or array or sparse array of shape (t, n)
        A file, with or without labels, a name of ``fwsvm data list`` or a data set, of which the test rows are used if
        there are any, else the training rows; or the rows. Features that no row of sparse rows has count as zeros, and
        those the machine was not trained on are left out, as in LIBSVM's format; a dense array must have its n columns.
        Of a precomputed kernel an array has the kernel values with all training rows, (t, m).
    threads : int
        Of the kernel values, 1 to `fwsvm.numerics.threads.MOST_THREADS`.
    probability : bool
        Return probabilities in place of labels, shape (t, K): a column for each of the machine's ``classes``.

    Warns
    -----
    UserWarning
        Rows lie far outside the training ranges (`fwsvm.scaling.FAR`), or seem to be scaled already.

    Raises
    ------
    UsageError
        Rows that do not match the machine's features, hold values that are not finite, or were scaled by other ranges
        than its own; a number of threads that makes no sense; or probabilities of a machine that was trained without.
    DataError
        Data that cannot be found or scaled.
    RangeError
        A row has no decision value in double precision.
    """
    check_whole("threads", threads, 1, MOST_THREADS)
    machine = model.model if isinstance(model, Result) else model
    sigmoids = sigmoids_of(machine) if probability else None
    given = takes_kernel_values(machine)
    if isinstance(data, Dataset):
        data = unseen.rows_of(data)
    elif isinstance(data, str | Path):
        if (
            not given
            and (pieces := unseen.pieces(data, zero_based=machine.facts.get("zero_based"))) is not None
        ):
            parts = [predict(model, piece, threads=threads, probability=probability) for piece, _ in pieces]
            return np.concatenate(parts)
        data = unseen.load(data, zero_based=given or machine.facts.get("zero_based")).table
    elif not isinstance(data, LabelledRows):
        rows = without_numbers(rows_of(data)) if given else rows_of(data)
        if given and isinstance(model, Result) and rows.shape[1] > machine.features:
            raise UsageError(
                f"kernel values with {rows.shape[1] - 1} rows, but the model was trained on {machine.features - 1}: "
                "give those with its training rows alone"
            )
        if not given and not sparse.issparse(rows) and rows.shape[1] != machine.features:
            raise UsageError(
                f"the rows have {rows.shape[1]} features, but the model was trained on {machine.features}"
            )
        data = LabelledRows(rows, np.empty(0))
    if machine.ranges is not None and is_mapped(data.X):
        some = (replace(data, X=in_memory(data.X, part), labels=data.labels[part]) for part in blocks(data.X))
        return np.concatenate(
            [predict(machine, rows, threads=threads, probability=probability) for rows in some]
        )
    # mapped rows are checked as they are decided on: a pass here would read their file twice
    if not is_mapped(data.X) and not all_finite(data.X):
        raise UsageError(NOT_FINITE)
    ready = scaled_rows(machine, data)
    for notice in ready.notices:
        warnings.warn(notice, stacklevel=callers_level())
    decision = machine.decision(ready.X, threads)
    refuse_undecided(decision)
    if sigmoids is not None:
        return probabilities(decision, sigmoids, len(machine.classes))
    labels: np.ndarray = label_values(machine.classes)[machine.choose(decision)]
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
        warnings.warn(notice, stacklevel=callers_level())


def load(path: str | Path) -> Model:
    """Return the machine of a file written by fwsvm, LIBSVM or LIBLINEAR; `ModelError` for other files."""
    return model_files.read(path)
