"""Writing of model files: LIBSVM's format for kernel models, LIBLINEAR's for linear ones."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from fwsvm.errors import ModelError, shown
from fwsvm.files.atomic import is_written_in_place, replacing, shortest
from fwsvm.kernels.kernel import SHARED
from fwsvm.problems.machines import KernelModel, LinearModel, takes_kernel_values
from fwsvm.problems.model_files.facts import fact_lines, label_codes, written_family

SOLVERS = {"hinge": "L2R_L1LOSS_SVC_DUAL", "squared hinge": "L2R_L2LOSS_SVC_DUAL"}
FEATURES = 1 << 16  # of a linear model, written at a time


def range_path(path: str | Path) -> Path:
    """Return the path of the range file beside a model: ``MODEL.range``."""
    return Path(f"{path}.range")


def write(path: str | Path, model: KernelModel | LinearModel) -> tuple[str, ...]:
    """Write a model so that `read` returns the same doubles; the file appears complete or not at all.

    Where training scaled its rows, a range file of svm-scale is written beside it (`range_path`). Returns notices for
    the user: a range file that was there before and belongs to another model.

    Raises
    ------
    ModelError
        A number is not finite, a label is not printable, or the file cannot be written.
    """
    numbers = [model.biases]
    if isinstance(model, KernelModel):
        numbers += [model.coefficients, csr_array(model.support).data]
    else:
        numbers += [model.weights]
    if not all(np.isfinite(part).all() for part in numbers):
        raise ModelError(f"{path}: a number of the model is not finite, so it is not written")
    if unprintable := [name for name in model.classes if not name.isprintable()]:
        raise ModelError(
            f"{path}: the label {shown(unprintable[0])} is not printable, so the model is not written"
        )
    beside = range_path(path)
    if model.ranges is not None and not is_written_in_place(path):
        with replacing(beside, ModelError) as stream:
            stream.write(model.ranges.text(0 if model.zero_based else 1))
    with replacing(path, ModelError) as stream:
        stream.writelines(_kernel_lines(model) if isinstance(model, KernelModel) else _linear_lines(model))
        stream.writelines(fact_lines(model))
    if model.ranges is None and beside.is_file():
        return (f"{beside} is not of this model, whose training scaled nothing; do not scale its rows by it",)
    return ()


def _kernel_lines(model: KernelModel) -> Iterator[str]:
    """Yield the lines of a kernel model; our bias is LIBSVM's -rho."""
    codes = label_codes(model.classes)
    family, kernel = written_family(model.kernel)
    yield f"svm_type c_svc\nkernel_type {family.libsvm or family.name}\n"
    for parameter in family.parameters:
        if parameter in SHARED:
            yield f"{parameter} {shortest(getattr(kernel, parameter))}\n"
    yield f"nr_class {len(codes)}\ntotal_sv {model.support.shape[0]}\n"
    yield f"rho {' '.join(shortest(-b) for b in model.biases.tolist())}\n"
    if model.sigmoids is not None:
        for keyword, values in zip(("probA", "probB"), model.sigmoids.tolist(), strict=True):
            yield f"{keyword} {' '.join(map(shortest, values))}\n"
    yield f"label {' '.join(map(str, codes))}\nnr_sv {' '.join(map(str, model.counts.tolist()))}\nSV\n"
    first = 0 if takes_kernel_values(model) or model.zero_based else 1
    vectors = csr_array(model.support)
    vectors.sort_indices()
    for row, (start, end) in enumerate(pairwise(vectors.indptr.tolist())):
        words = [shortest(c) for c in model.coefficients[row].tolist()]
        entries = zip(vectors.indices[start:end].tolist(), vectors.data[start:end].tolist(), strict=True)
        words += [f"{column + first}:{shortest(value)}" for column, value in entries if value]
        yield f"{' '.join(words)} \n"


def _linear_lines(model: LinearModel) -> Iterator[str]:
    """Yield the lines of a linear model; the fact ``loss`` names the solver, which prediction does not use."""
    codes = label_codes(model.classes)
    yield f"solver_type {SOLVERS.get(str(model.facts.get('loss')), SOLVERS['hinge'])}\n"
    yield f"nr_class {len(codes)}\nlabel {' '.join(map(str, codes))}\nnr_feature {model.features}\n"
    yield f"bias {shortest(model.bias_feature) if model.bias_feature > 0 else -1}\nw\n"
    yield from _weight_lines(model.weights.T)
    if model.bias_feature > 0:
        yield from _weight_lines(model.biases[None])


def _weight_lines(weights: NDArray[np.float64]) -> Iterator[str]:
    """Yield the lines of weights (features, outputs); features that no row has, which may be many, at once."""
    zeros = f"{' '.join(['0'] * weights.shape[1])} \n"
    for first in range(0, len(weights), FEATURES):
        block, done = weights[first : first + FEATURES], 0
        for t in np.flatnonzero(((block != 0.0) | np.signbit(block)).any(axis=1)).tolist():
            yield zeros * (t - done) + f"{' '.join(map(shortest, block[t].tolist()))} \n"
            done = t + 1
        yield zeros * (len(block) - done)


def least_linear_bytes(features: int, classes: int) -> int:
    """Return the least size of a linear model's file: a digit and a blank a weight, and a line a feature."""
    return features * (2 * (1 if classes == 2 else classes) + 1)
