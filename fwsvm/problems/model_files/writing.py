"""Writing of model files: LIBSVM's format for kernel models, LIBLINEAR's for linear ones, and our lines of facts.

Facts, lines ``#fwsvm {json}`` after the last vector or weight, are what those formats have no place for:

features          number of features
classes           labels as text, where the header has codes for them
labels            {"dtype": ..., "values": [...]}: the classes in the type that predictions have
kernel, kernel_parameters, svm_predict     the kernel's own name and parameters; whether svm-predict knows it
scaling           {"interval": [0, 1], "features": [1, 3], "minimum": [...], "maximum": [...]}, features from 1
feature_names     names of the training rows' columns
zero_based        whether the training file counted its features from 0
facts             method, settings and certificate, in a line of their own
"""

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from fwsvm._mapped import slices
from fwsvm.errors import ModelError
from fwsvm.files.atomic import is_written_in_place, replacing, shortest
from fwsvm.kernels.kernel import SHARED, KernelFamily, family_of
from fwsvm.problems.machines import KernelModel, LinearModel, takes_kernel_values

MARK = "#fwsvm "
LARGEST = 2**31 - 1  # LIBSVM and LIBLINEAR read counts, labels and indices into an int
SOLVERS = {"hinge": "L2R_L1LOSS_SVC_DUAL", "squared hinge": "L2R_L2LOSS_SVC_DUAL"}


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
        The file cannot be written.
    """
    beside = range_path(path)
    if model.ranges is not None and not is_written_in_place(path):
        with replacing(beside, ModelError) as stream:
            stream.write(model.ranges.text(0 if model.zero_based else 1))
    with replacing(path, ModelError) as stream:
        stream.writelines(_kernel_lines(model) if isinstance(model, KernelModel) else _linear_lines(model))
        stream.writelines(_fact_lines(model))
    if model.ranges is None and beside.is_file():
        return (f"{beside} is not of this model, whose training scaled nothing; do not scale its rows by it",)
    return ()


def label_codes(classes: tuple[str, ...]) -> list[int]:
    """Return the whole numbers that stand for the labels in the header: their own, or 0 to K - 1.

    >>> label_codes(("1", "-1")), label_codes(("M", "B")), label_codes(("01", "1"))
    ([1, -1], [0, 1], [0, 1])
    """
    whole = all(re.fullmatch(r"0|-?[1-9][0-9]{0,8}", name) for name in classes)
    return [int(name) for name in classes] if whole else list(range(len(classes)))


def written_family(kernel: Any) -> tuple[KernelFamily, Any]:
    """Return the family under which a kernel is written, and the kernel as one of it: LIBSVM's, where there is one."""
    family = family_of(kernel)
    if family.equal is None:
        return family, kernel
    return family_of(family.equal(kernel)), family.equal(kernel)


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
    """Yield the lines of weights (features, outputs), of which very many may be zero."""
    zeros = f"{' '.join(['0'] * weights.shape[1])} \n"
    for some in slices(len(weights), weights.size):
        used: list[bool] = np.any(weights[some], axis=1).tolist()
        for line, is_used in zip(weights[some].tolist(), used, strict=True):
            yield f"{' '.join(map(shortest, line))} \n" if is_used else zeros


def _fact_lines(model: KernelModel | LinearModel) -> Iterator[str]:
    """Yield the lines of facts; numbers that are not finite become null."""
    needed: dict[str, Any] = {"classes": model.classes}
    if isinstance(model, KernelModel):
        family = family_of(model.kernel)
        own = {name: getattr(model.kernel, name) for name in family.own}
        needed["features"] = model.features
        needed |= {"kernel": family.name, "svm_predict": bool(written_family(model.kernel)[0].libsvm)}
        needed |= {"kernel_parameters": own} if own else {}
    if (labels := model.labels) is not None:
        values = labels.astype(str) if labels.dtype.kind == "M" else labels
        needed["labels"] = {"dtype": "T" if labels.dtype.kind == "T" else labels.dtype.str, "values": values}
    if model.ranges is not None:
        features, minimum, maximum, *interval = model.ranges
        needed["scaling"] = {
            "interval": interval,
            "features": features + 1,
            "minimum": minimum,
            "maximum": maximum,
        }
    if model.feature_names:
        needed["feature_names"] = model.feature_names
    if model.zero_based is not None:
        needed["zero_based"] = model.zero_based
    not_finite = {
        key for key, value in model.facts.items() if isinstance(value, float) and not np.isfinite(value)
    }
    facts = dict(model.facts) | dict.fromkeys(not_finite)
    for record in (needed, {"facts": facts} if facts else {}):
        if record:
            yield f"{MARK}{json.dumps(record, allow_nan=False, default=lambda value: value.tolist())}\n"
