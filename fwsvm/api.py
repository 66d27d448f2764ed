"""fwsvm from Python: `train`, `predict`, `save` and `load`, also as ``fwsvm.train`` and so on.

They take arrays as well as the files and names of the command line, with the same settings, models and results. With
two classes the larger label is +1.
"""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fwsvm.data.dataset import Dataset, LabelledRows
from fwsvm.errors import UsageError, warn_user
from fwsvm.experiments.prediction import PROBABILITY, read_unseen
from fwsvm.experiments.prediction import predict as predict_rows
from fwsvm.experiments.record import kernel_of, row, with_facts
from fwsvm.experiments.run import LocalRows
from fwsvm.problems import model_files
from fwsvm.problems.machines import (
    Model,
    refuse_other_width,
    scaling_warning,
    takes_kernel_values,
)
from fwsvm.problems.precomputed import beside_numbers, is_given, refuse_scaling
from fwsvm.settings import ALLOWED
from fwsvm.solvers import Result
from fwsvm.solvers.loop import Watch
from fwsvm.solvers.resolve import check
from fwsvm.validation import (
    as_numbers,
    as_rows,
    column_names,
    label_values,
    make_dataset,
    make_settings,
)


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
    chosen = make_settings(settings)
    refuse_scaling(chosen.kernel, scale)
    loaded, values = make_dataset(data, y, scale, precomputed=is_given(chosen.kernel))
    if weights is not None:
        weights = as_numbers("weights", weights)
        if weights.shape != (rows := loaded.train.rows,):
            raise UsageError(f"there are weights of shape {weights.shape} for {rows} rows")
    ready = LocalRows(loaded, probability=probability, weights=weights, labels=values)
    if warning := scaling_warning(ready.data.train.X, kernel_of(chosen), 'scale="[0,1]"'):
        warn_user(warning)
    return ready.train(chosen, watch)


def predict(
    model: Model | Result | str | Path,
    data: str | Path | Dataset | LabelledRows | ArrayLike,
    *,
    threads: int = 1,
    probability: bool = False,
) -> np.ndarray:
    """Return the predicted labels of rows, shape (t,), or the probabilities of their classes.

    Labels have the values and the type that they had in training: those of an array come back in its dtype, those of a
    file as ints where all are whole numbers, as floats where all are numbers, else as text.

    A machine whose training scaled its rows scales those to be predicted by the same ranges, once: arrays and files are
    taken as they were before any scaling. A data set or table that `fwsvm.data.load` has scaled says so, and is not
    scaled again; its array ``X`` alone does not, so give the table, or load with ``raw=True``. A machine without ranges
    takes rows as they are, those of a name too.

    Parameters
    ----------
    model : KernelModel, LinearModel, Result, or str or Path of a model file
    data : str, Path, Dataset, LabelledRows, or array or sparse array of shape (t, n)
        A file, with or without labels, a name of ``fwsvm data list`` or a data set, of which the test rows are used if
        there are any, else the training rows; or the rows. Features that no row of sparse rows has count as zeros, and
        those the machine was not trained on are left out, as in LIBSVM's format; a dense array must have its n columns.
        Of a precomputed kernel an array has the kernel values with all training rows, (t, m).
    threads : int
        Of the kernel values, 1 to 1,024.
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
    check("threads", threads, ALLOWED["threads"])
    if isinstance(model, str | Path):
        model = load(model)
    if isinstance(model, Result):  # its facts tell that kernel values of all training rows are wanted
        model = with_facts(model, row(model))
    found = predict_rows(model, _unseen(model, data), threads, wanted=PROBABILITY if probability else "")
    for notice in found.notices:
        warn_user(notice)
    if found.values is not None:
        return found.values
    labels: np.ndarray = (label_values(model.classes) if model.labels is None else model.labels)[found.codes]
    return labels


def _unseen(model: Model, data: Any) -> LabelledRows:
    """Return the rows to predict."""
    if isinstance(data, str | Path):
        return read_unseen(model, data)
    if isinstance(data, Dataset):
        return data.test or data.train
    if isinstance(data, LabelledRows):
        return data
    rows = as_rows(data)
    if takes_kernel_values(model):
        rows = beside_numbers(rows)
    elif isinstance(rows, np.ndarray):
        refuse_other_width(rows, model.features)
    return LabelledRows(rows, np.full(rows.shape[0], np.nan), feature_names=column_names(data))


def save(path: str | Path, model: Model | Result) -> None:
    """Write a machine as ``fwsvm train --model`` does, in the format of LIBSVM or LIBLINEAR.

    Of a `Result`, settings and certificate are stored as the machine's ``facts``. If training scaled the rows, the
    ranges are stored in the model and in ``PATH.range``, a range file of svm-scale.

    Warns
    -----
    UserWarning
        ``PATH.range`` exists, of another machine, but this one's training did not scale.
    """
    if not isinstance(model, Model | Result):
        raise UsageError("give the path first, then the result or model: save(path, result)")
    model_files.write(path, with_facts(model, row(model)) if isinstance(model, Result) else model)


def load(path: str | Path) -> Model:
    """Return the machine of a file written by fwsvm, LIBSVM or LIBLINEAR; `ModelError` for other files."""
    return model_files.read(path)
