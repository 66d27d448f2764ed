"""Reading of model files of fwsvm, LIBSVM and LIBLINEAR; an error names file, line and reason."""

import json
from array import array
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from scipy.sparse import csr_array

from fwsvm.errors import ModelError, UsageError, shown
from fwsvm.kernels.kernel import KERNELS, SHARED
from fwsvm.parameters import types_of
from fwsvm.problems.machines import KernelModel, LinearModel
from fwsvm.problems.model_files.writing import LARGEST, MARK, SOLVERS
from fwsvm.problems.precomputed import NAME as PRECOMPUTED
from fwsvm.scaling import Ranges

SVM_TYPES = ("c_svc", "nu_svc")  # both predict by the sign of the decision values
SIGMOIDS = ("probA", "probB")
CRAMMER_SINGER = "MCSVM_CS"  # has an output a class, even of two
LOGISTIC = ("L2R_LR", "L1R_LR", "L2R_LR_DUAL")
SOLVER_TYPES = {*SOLVERS.values(), CRAMMER_SINGER, *LOGISTIC, "L2R_L2LOSS_SVC", "L1R_L2LOSS_SVC"}
KEYWORDS = {"svm_type", "kernel_type", "total_sv", "rho", "nr_sv", *SIGMOIDS, *SHARED}
KEYWORDS |= {"nr_class", "label", "solver_type", "nr_feature", "bias"}


class Labels(msgspec.Struct):
    """The classes in the type that predictions have."""

    dtype: str
    values: list[bool | int | float | str]


class Scaling(msgspec.Struct):
    """The ranges that rows are scaled by."""

    interval: tuple[float, float]
    features: list[int]
    minimum: list[float]
    maximum: list[float]


class Facts(msgspec.Struct):
    """What the lines ``#fwsvm {json}`` say (`fwsvm.problems.model_files.writing`)."""

    features: int | None = None
    classes: tuple[str, ...] | None = None
    labels: Labels | None = None
    kernel: str | None = None
    kernel_parameters: dict[str, Any] = {}
    scaling: Scaling | None = None
    feature_names: tuple[str, ...] = ()
    zero_based: bool | None = None
    facts: dict[str, Any] = {}


def is_model_file(path: str | Path) -> bool:
    """Return whether there is a file that begins as models do."""
    try:
        with Path(path).open("rb") as stream:
            first = stream.read(64).split()[:1]
    except (OSError, ValueError):  # the name of a data set may be no name of a file
        return False
    return bool(first) and first[0].decode("ascii", "replace") in KEYWORDS


def read(path: str | Path) -> KernelModel | LinearModel:
    """Return the model of a file written by fwsvm, LIBSVM or LIBLINEAR.

    Memory grows with what the file holds, never with what its header says.

    Raises
    ------
    ModelError
        The file cannot be read or is not such a model.
    """
    path, number = Path(path), 0
    if not path.is_file():
        raise ModelError(f"{path}: {'not a regular file' if path.exists() else 'no such model file'}")

    def lines() -> Iterator[str]:
        nonlocal number
        with path.open(encoding="utf-8") as stream:
            for number, line in enumerate(stream, 1):  # noqa: B007  (the error names it)
                yield line.strip()

    try:
        file = _File(lines())
        return _linear_model(file) if "solver_type" in file.header else _kernel_model(file)
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror or error}") from None
    except (ValueError, TypeError, OverflowError, AttributeError, UsageError) as error:
        raise ModelError(
            f"{path}:{number}: this is not a model that fwsvm can read: {str(error)[:200]}"
        ) from None


class _File:
    """The lines of a model file, and the words of each keyword of its header."""

    def __init__(self, lines: Iterator[str]) -> None:
        self.lines, self.header = lines, dict[str, list[str]]()
        for line in lines:
            keyword, *words = line.split() or [""]
            if keyword in ("SV", "w"):
                return
            if keyword not in KEYWORDS:
                raise ValueError(f"{shown(keyword)} is not a keyword of a model file")
            self.header[keyword] = words
        raise ValueError("the file ends before its header does")

    def values(self, keyword: str, count: int = 1, parse: Callable[[str], Any] = str) -> list[Any]:
        """Return the values of a keyword, so many."""
        if len(words := self.header.get(keyword, [])) != count:
            raise ValueError(f"{keyword} must have {count} values in the header, not {len(words)}")
        return [parse(word) for word in words]

    def body(self, count: int, what: str) -> Iterator[list[str]]:
        """Yield the words of the next lines, so many."""
        for row in range(count):
            if (line := next(self.lines, None)) is None:
                raise ValueError(f"the file ends after {row} of {count} {what}")
            yield line.split()

    def facts(self) -> Facts:
        """Return all facts after the last vector or weight; other lines must be comments or blank."""
        found: dict[str, Any] = {}
        for line in self.lines:
            if line.startswith(MARK):
                found |= json.loads(line.removeprefix(MARK))
            elif line and not line.startswith("#"):
                raise ValueError(f"the header announces no more lines, but here is {shown(line)}")
        return msgspec.convert(found, Facts)


def _kernel_model(file: _File) -> KernelModel:
    (svm_type,), (kernel_type,) = file.values("svm_type"), file.values("kernel_type")
    if svm_type not in SVM_TYPES:
        raise ValueError(f"svm_type is {shown(svm_type)}; fwsvm reads {' and '.join(SVM_TYPES)}")
    (K,), (count,) = file.values("nr_class", 1, int), file.values("total_sv", 1, int)
    codes = file.values("label", K, int)
    biases = -np.array(file.values("rho", K * (K - 1) // 2, float))
    counts = np.array(file.values("nr_sv", K, int), dtype=np.int64)
    if (counts < 0).any() or counts.sum() != count:
        raise ValueError(f"nr_sv must be {K} counts that add up to total_sv, {count}")
    sigmoids = None
    if all(keyword in file.header for keyword in SIGMOIDS):
        sigmoids = np.array([file.values(keyword, len(biases), float) for keyword in SIGMOIDS])
    coefficients, vectors = _vectors(file, count, K - 1)
    facts = file.facts()
    base, first = facts.zero_based, 0
    if kernel_type == PRECOMPUTED:  # a support vector is 0:i, the number of a row
        used = int(vectors.data.max(initial=0)) + 1
        if vectors.nnz != count or vectors.indices.any():
            raise ValueError("a support vector of a precomputed kernel must be 0:i")
    else:
        base = True if base is None and (vectors.indices == 0).any() else base  # all indices count alike
        first = 0 if base else 1
        used = vectors.shape[1] - first
    used *= bool(vectors.nnz)
    features = used if facts.features is None else facts.features
    if not used <= features < LARGEST:
        raise ValueError(f"'features' must be {used} to {LARGEST - 1}")
    support = csr_array((vectors.data, vectors.indices - first, vectors.indptr), shape=(count, features))
    return KernelModel(
        _classes(facts, codes),
        _kernel(file, kernel_type, facts),
        support,
        counts,
        coefficients,
        biases,
        facts.facts,
        _ranges(facts, features),
        sigmoids,
        _labels(facts),
        facts.feature_names,
        base,
        foreign=facts.features is None,
    )


def _vectors(file: _File, count: int, width: int) -> tuple[np.ndarray, csr_array]:
    """Read lines of ``width`` coefficients and a sparse vector each, with the indices as in the file."""
    coefficients, values, indices, ends = array("d"), array("d"), array("q"), array("q", [0])
    for words in file.body(count, "support vectors"):
        entries = [word.split(":") for word in words[width:]]
        columns = [int(index) for index, _ in entries]
        if len(words) < width or any(
            a >= b for a, b in zip([-1, *columns], [*columns, LARGEST], strict=True)
        ):
            raise ValueError(
                f"a support vector must be {width} coefficients and index:value pairs whose indices increase"
            )
        coefficients.extend(map(float, words[:width]))
        indices.extend(columns)
        values.extend(float(value) for _, value in entries)
        ends.append(len(indices))
    features = np.array(indices, dtype=np.int64)
    shape = count, int(features.max(initial=-1)) + 1
    vectors = csr_array((np.array(values), features, np.array(ends)), shape=shape)
    return np.array(coefficients).reshape(count, width), vectors


def _kernel(file: _File, name: str, facts: Facts) -> Any:
    """Return the kernel of the header; the facts tell one of ours from the one of LIBSVM's that it equals."""
    families = {family.libsvm or family.name: family for family in KERNELS.values() if family.equal is None}
    if name not in families:
        raise ValueError(f"kernel_type is {shown(name)}, a kernel that fwsvm does not have")
    family = families[name]
    kinds, given = types_of(family.make), family.own_values(facts.kernel_parameters)
    for parameter in family.parameters:
        if parameter in SHARED:
            (given[parameter],) = file.values(parameter, 1, int if kinds[parameter] is int else float)
    kernel = family.checked(**given)
    other = family if facts.kernel is None else KERNELS.get(facts.kernel, family)
    if other is family:
        return kernel
    same = other.make(**{parameter: getattr(kernel, parameter) for parameter in other.parameters})
    if other.equal is None or other.equal(same) != kernel:
        raise ValueError(f"the kernel of the header is not the one of the facts, {shown(facts.kernel)}")
    return same


def _linear_model(file: _File) -> LinearModel:
    (solver,) = file.values("solver_type")
    if solver not in SOLVER_TYPES:
        raise ValueError(f"solver_type is {shown(solver)}, not a classifier that fwsvm can predict with")
    (K,), (features,) = file.values("nr_class", 1, int), file.values("nr_feature", 1, int)
    codes, (constant,) = file.values("label", K, int), file.values("bias", 1, float)
    outputs = K if K > 2 or solver == CRAMMER_SINGER else 1
    count, values = features + (constant >= 0), array("d")
    for words in file.body(count, "lines of weights"):
        if len(words) != outputs:
            raise ValueError(f"a line must have {outputs} weights here, not {len(words)}")
        values.extend(map(float, words))
    weights = np.array(values).reshape(count, outputs)
    if K == 2 and outputs == K:  # the larger of two values, which LIBLINEAR makes opposite
        weights = (weights[:, :1] - weights[:, 1:]) / 2.0
    biases = weights[features] if constant >= 0 else np.zeros(weights.shape[1])
    facts = file.facts()
    return LinearModel(
        _classes(facts, codes),
        np.ascontiguousarray(weights[:features].T),
        biases,
        max(constant, 0.0),
        facts.facts,
        _ranges(facts, features),
        _labels(facts),
        facts.feature_names,
        facts.zero_based,
    )


def _classes(facts: Facts, codes: list[int]) -> tuple[str, ...]:
    """Return the classes: those of the facts, else the codes of the header."""
    classes = tuple(map(str, codes)) if facts.classes is None else facts.classes
    if len(codes) < 2 or len(set(classes)) != len(codes):
        raise ValueError("the model has fewer than two labels, or one twice")
    return classes


def _labels(facts: Facts) -> np.ndarray | None:
    """Return the classes in the type that predictions have."""
    return None if facts.labels is None else np.array(facts.labels.values, np.dtype(facts.labels.dtype))


def _ranges(facts: Facts, features: int) -> Ranges | None:
    """Return the ranges that rows are scaled by."""
    if facts.scaling is None:
        return None
    places = np.array(facts.scaling.features, dtype=np.int64) - 1
    minimum, maximum = np.array(facts.scaling.minimum), np.array(facts.scaling.maximum)
    rising = (np.diff(places, prepend=-1, append=features) > 0).all()
    if not len(places) == len(minimum) == len(maximum) or not rising or not (maximum > minimum).all():
        raise ValueError(f"'scaling' needs a range for each of its features, which increase to {features}")
    return Ranges(places, minimum, maximum, *facts.scaling.interval)
