"""Trained machines as text files that LIBSVM's and LIBLINEAR's programs read as well.

`libsvm` holds kernel machines, `liblinear` linear ones. What these formats have no place for (labels that are
not whole numbers, features that no support vector uses, ranges that rows are scaled by, the facts of the training)
follows in lines ``#fwsvm {json}``, which those programs skip. For their users the ranges stand in a file of svm-scale
beside the model, too.
"""

from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

from fwsvm.errors import ModelError, shown
from fwsvm.files.atomic import is_written_in_place, replacing
from fwsvm.problems.machines import KernelModel, LinearModel
from fwsvm.problems.model_files import liblinear, libsvm
from fwsvm.problems.model_files._header import read_header
from fwsvm.problems.model_files._lines import Lines


def range_path(path: str | Path) -> Path:
    """Return where the range file of a model file stands: ``MODEL.range``."""
    return Path(f"{path}.range")


def write(path: str | Path, model: KernelModel | LinearModel) -> tuple[str, ...]:
    """Write a model so that `read` returns the same doubles; the file appears complete or not at all.

    Where training scaled its rows a range file is written beside it (`range_path`). Returns what the user should know
    of a range file that stood there before and belongs to another machine.

    Raises
    ------
    ModelError
        A number is not finite, a label is not printable, or the file cannot be written.
    """
    numbers = [model.biases]
    if isinstance(model, KernelModel):
        text = libsvm.text(model)
        numbers += [model.coefficients, csr_array(model.support).data]
    else:
        text = liblinear.text(model)
        numbers += [model.weights]
    if not all(np.isfinite(part).all() for part in numbers):
        raise ModelError(f"{path}: a number of the model is not finite, so it is not written")
    if unprintable := [name for name in model.classes if not name.isprintable()]:
        raise ModelError(
            f"{path}: the label {shown(unprintable[0])} is not printable, so the model is not written"
        )
    if len(set(model.classes)) < len(model.classes):
        raise ModelError(
            f"{path}: two labels are the same number, so the model is not written; give labels as numbers"
        )
    beside = range_path(path)
    if model.ranges is not None and not is_written_in_place(path):
        with replacing(beside, ModelError) as stream:
            stream.write(model.ranges.text())
    with replacing(path, ModelError) as stream:
        stream.writelines(text)
    if model.ranges is None and beside.is_file():
        return (f"{beside} is not of this model, whose training scaled nothing; do not scale its rows by it",)
    return ()


def seems_one(path: str | Path) -> bool:
    """Return whether there is a file that begins as models do."""
    try:
        with Path(path).open("rb") as stream:
            first = stream.read(64).split()[:1]
    except (OSError, ValueError):  # a name of a data set may be no name of a file
        return False
    return bool(first) and first[0].decode("ascii", "replace") in libsvm.KEYWORDS | liblinear.KEYWORDS


def read(path: str | Path) -> KernelModel | LinearModel:
    """Return the model of a file written by fwsvm, LIBSVM or LIBLINEAR.

    Raises
    ------
    ModelError
        The file cannot be read or is no such model: file, line and reason are named.
    """
    lines = Lines(path)
    rest = iter(lines)
    formats = {libsvm.END: libsvm, liblinear.END: liblinear}
    header = read_header(lines, rest, libsvm.KEYWORDS | liblinear.KEYWORDS, formats.keys())
    return formats[header.end].read(header, lines, rest)
