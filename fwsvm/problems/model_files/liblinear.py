"""Linear machines in LIBLINEAR's text format: a line a feature, a weight an output.

With two classes one output, positive for the first label. A constant feature (``bias`` at least 0, else -1)
is the last line. What LIBLINEAR trains besides (logistic regression, Crammer and Singer's) predicts alike.
"""

from array import array
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from fwsvm.errors import shown
from fwsvm.files.decimal_text import shortest
from fwsvm.problems.machines import LinearModel
from fwsvm.problems.model_files import _facts, _scaling
from fwsvm.problems.model_files._header import Header
from fwsvm.problems.model_files._lines import Lines
from fwsvm.problems.model_files._numbers import LARGEST, finite_number

SOLVERS = {"hinge": "L2R_L1LOSS_SVC_DUAL", "squared hinge": "L2R_L2LOSS_SVC_DUAL"}
CRAMMER_SINGER = "MCSVM_CS"  # has an output a class, even of two
READ = frozenset(
    {*SOLVERS.values(), CRAMMER_SINGER, "L2R_LR", "L2R_L2LOSS_SVC", "L1R_L2LOSS_SVC", "L1R_LR", "L2R_LR_DUAL"}
)
KEYWORDS = frozenset({"solver_type", "nr_class", "label", "nr_feature", "bias"})
END = "w"
AT_ONCE = 1 << 16  # features


def text(model: LinearModel) -> Iterator[str]:
    """Yield the lines of a model file; the fact ``loss`` names the solver, which prediction does not use."""
    codes = _facts.codes(model.classes)
    yield f"solver_type {SOLVERS.get(str(model.facts.get('loss')), SOLVERS['hinge'])}\n"
    yield f"nr_class {len(codes)}\nlabel {' '.join(map(str, codes))}\nnr_feature {model.features}\n"
    yield f"bias {shortest(model.bias_feature) if model.bias_feature > 0 else -1}\nw\n"
    yield from _weights(model.weights.T)
    if model.bias_feature > 0:
        yield from _weights(model.biases[None])
    yield from _facts.written({"classes": model.classes, **_scaling.written(model.ranges)}, model.facts)


def least_bytes(features: int, outputs: int) -> int:
    """Return what the file of a linear machine takes at least: a digit and a blank a weight, and a line a feature."""
    return features * (2 * outputs + 1)


def _weights(weights: NDArray[np.float64]) -> Iterator[str]:
    """Yield the lines of weights (features, outputs); features that no row has, which may be many, at once."""
    nothing = f"{' '.join(['0'] * weights.shape[1])} \n"
    for first in range(0, len(weights), AT_ONCE):
        block, done = weights[first : first + AT_ONCE], 0
        for t in np.flatnonzero(((block != 0.0) | np.signbit(block)).any(axis=1)).tolist():
            yield nothing * (t - done) + f"{' '.join(map(shortest, block[t].tolist()))} \n"
            done = t + 1
        yield nothing * (len(block) - done)


def read(header: Header, lines: Lines, rest: Iterator[str]) -> LinearModel:
    """Return the machine of a header and the lines after it; `ModelError` names the line that is wrong."""
    header.only(KEYWORDS)
    solver = header.word("solver_type")
    if solver not in READ:
        raise header.refusal(
            "solver_type", f"is {shown(solver)}, not a classifier that fwsvm can predict with"
        )
    K = header.whole("nr_class", 2)
    labels = header.wholes("label", K)
    features = header.whole("nr_feature", 0, LARGEST - 1)
    constant = header.number("bias")
    outputs = K if K > 2 or solver == CRAMMER_SINGER else 1
    weights = _matrix(lines, rest, features + (constant >= 0), outputs)
    found = _facts.read(lines, rest)
    classes = _facts.classes(lines, found, labels)
    if K == 2 and outputs == K:  # the larger of two values, which LIBLINEAR makes opposite
        weights = (weights[:, :1] - weights[:, 1:]) / 2.0
    biases = weights[features] if constant >= 0 else np.zeros(weights.shape[1])
    by_output = np.ascontiguousarray(weights[:features].T)
    ranges = _scaling.read(lines, found, features)
    return LinearModel(classes, by_output, biases, max(constant, 0.0), found.get("facts", {}), ranges)


def _matrix(lines: Lines, rest: Iterator[str], count: int, width: int) -> NDArray[np.float64]:
    """Read ``count`` lines of ``width`` numbers, shape (count, width).

    Memory grows with what the file holds, never with what its header promises.
    """
    values = array("d")
    for row in range(count):
        line = next(rest, None)
        if line is None:
            raise lines.refusal(f"the file ends after {row} of {count} lines of weights")
        words = line.split()
        if len(words) != width:
            raise lines.refusal(f"a line of weights must have {width} here, not {len(words)}")
        for word in words:
            weight = finite_number(word)
            if weight is None:
                raise lines.refusal(f"the weight {shown(word)} is not a finite number")
            values.append(weight)
    return np.array(values, dtype=np.float64).reshape(count, width)
