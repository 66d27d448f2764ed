"""Reading of model files of fwsvm, LIBSVM and LIBLINEAR; an error names file, line and reason."""

import json
import math
from array import array
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from scipy.sparse import csr_array

from fwsvm.errors import ModelError, UsageError, shown
from fwsvm.kernels.kernel import KERNELS, SHARED, KernelFamily
from fwsvm.parameters import types_of
from fwsvm.problems.machines import KernelModel, LinearModel
from fwsvm.problems.model_files.writing import LARGEST, MARK, SOLVERS, label_codes
from fwsvm.problems.precomputed import NAME as PRECOMPUTED
from fwsvm.scaling import Ranges

SVM_TYPES = ("c_svc", "nu_svc")  # both predict by the sign of the decision values
SIGMOIDS = ("probA", "probB")
LIBSVM = {"svm_type", "kernel_type", "nr_class", "total_sv", "rho", "label", "nr_sv", *SIGMOIDS, *SHARED}
CRAMMER_SINGER = "MCSVM_CS"  # has an output a class, even of two
SOLVER_TYPES = {
    *SOLVERS.values(),
    CRAMMER_SINGER,
    "L2R_LR",
    "L2R_L2LOSS_SVC",
    "L1R_L2LOSS_SVC",
    "L1R_LR",
    "L2R_LR_DUAL",
}
LIBLINEAR = {"solver_type", "nr_class", "label", "nr_feature", "bias"}


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
    return bool(first) and first[0].decode("ascii", "replace") in LIBSVM | LIBLINEAR


def read(path: str | Path) -> KernelModel | LinearModel:
    """Return the model of a file written by fwsvm, LIBSVM or LIBLINEAR.

    Memory grows with what the file holds, never with what its header says.

    Raises
    ------
    ModelError
        The file cannot be read or is not such a model.
    """
    file = _File(path)
    make = _linear_model if file.read_header() else _kernel_model
    try:
        return make(file)
    except (ValueError, TypeError, OverflowError, UsageError) as error:
        raise file.error(f"this is not a model that fwsvm can read: {error}") from None


class _File:
    """The lines of a model file, and its header.

    ``number`` is the line at hand, from 1; ``header`` has the line and the words of each keyword.
    """

    def __init__(self, path: str | Path) -> None:
        self.path, self.number, self.header = Path(path), 0, dict[str, tuple[int, list[str]]]()
        if not self.path.is_file():
            raise ModelError(
                f"{path}: {'not a regular file' if self.path.exists() else 'no such model file'}"
            )
        self.lines = self._read()

    def _read(self) -> Iterator[str]:
        try:
            with self.path.open("rb") as stream:
                for self.number, line in enumerate(stream, 1):
                    yield line.decode("utf-8").strip()
        except UnicodeDecodeError:
            raise self.error("this is not text; is it a model file?") from None
        except OSError as error:
            raise ModelError(f"{self.path} cannot be read: {error.strerror or error}") from None

    def next(self, missing: str) -> str:
        """Return the next line; `ModelError` that says what is ``missing`` where there is none."""
        line = next(self.lines, None)
        if line is None:
            raise self.error(f"the file ends {missing}")
        return line

    def error(self, why: str, number: int | None = None) -> ModelError:
        """Return the error about a line, by default the one at hand; an empty file has none."""
        line = self.number if number is None else number
        return ModelError(f"{self.path}:{line}: {why}" if line else f"{self.path}: {why}")

    def read_header(self) -> bool:
        """Read up to the line that opens the body; return whether the model is linear."""
        while True:
            keyword, *words = self.next("before the header does").split() or [""]
            if keyword in ("SV", "w") and not words:
                break
            if keyword not in LIBSVM | LIBLINEAR:
                raise self.error(f"{shown(keyword)} is not a keyword of a model file")
            self.header[keyword] = self.number, words
        for other in self.header.keys() - (LIBLINEAR if keyword == "w" else LIBSVM):
            raise self.wrong(other, "does not belong in this kind of model")
        return keyword == "w"

    def wrong(self, keyword: str, why: str) -> ModelError:
        """Return the error about a keyword."""
        return self.error(f"{keyword} {why}", self.header[keyword][0])

    def values(self, keyword: str, count: int = 1, parse: Callable[[str], Any] = str) -> list[Any]:
        """Return the values of a keyword, so many."""
        if keyword not in self.header:
            raise self.error(f"the header ends without {keyword}")
        words = self.header[keyword][1]
        if len(words) != count:
            raise self.wrong(keyword, f"must have {count} values, not {len(words)}")
        try:
            found = [parse(word) for word in words]
        except ValueError as error:
            raise self.wrong(keyword, f"has a wrong value: {error}") from None
        limit = {int: LARGEST, float: math.inf}
        if parse in limit and not all(math.isfinite(value) and abs(value) <= limit[parse] for value in found):
            raise self.wrong(keyword, "has a number out of range")
        return found

    def facts(self) -> Facts:
        """Return all facts after the last vector or weight; other lines must be comments or blank."""
        found: dict[str, Any] = {}
        for line in self.lines:
            if line.startswith(MARK):
                try:
                    found |= dict(json.loads(line.removeprefix(MARK)))
                    msgspec.convert(found, Facts)
                except (ValueError, TypeError, RecursionError) as error:
                    raise self.error(f"the facts cannot be read: {str(error)[:80]}") from None
            elif line and not line.startswith("#"):
                raise self.error(f"the header announces no more lines, but here is {shown(line)}")
        return msgspec.convert(found, Facts)


def _kernel_model(file: _File) -> KernelModel:
    (svm_type,), (kernel_type,) = file.values("svm_type"), file.values("kernel_type")
    if svm_type not in SVM_TYPES:
        raise file.wrong("svm_type", f"is {shown(svm_type)}; fwsvm reads {' and '.join(SVM_TYPES)}")
    (K,), (count,) = file.values("nr_class", 1, int), file.values("total_sv", 1, int)
    codes = file.values("label", K, int)
    biases = -np.array(file.values("rho", K * (K - 1) // 2, float))
    counts = np.array(file.values("nr_sv", K, int), dtype=np.int64)
    if (counts < 0).any() or counts.sum() != count:
        raise file.wrong("nr_sv", f"must be {K} counts that add up to total_sv, {count}")
    sigmoids = None
    if all(keyword in file.header for keyword in SIGMOIDS):
        sigmoids = np.array([file.values(keyword, len(biases), float) for keyword in SIGMOIDS])
    coefficients, vectors = _vectors(file, count, K - 1)
    is_numbered = kernel_type == PRECOMPUTED  # a support vector is then 0:i, the number of a row
    numbers = vectors.data
    if is_numbered and not (
        len(numbers) == count
        and not vectors.indices.any()
        and (numbers > 0).all()
        and not (numbers % 1).any()
    ):
        raise ValueError("a support vector of a precomputed kernel must be 0:i, the number of a training row")
    facts = file.facts()
    base = facts.zero_based
    if base is None and not is_numbered and (vectors.indices == 0).any():
        base = True  # all indices of a model count alike
    first = 0 if base or is_numbered else 1
    used = int(numbers.max(initial=0)) + 1 if is_numbered else vectors.shape[1] - first
    used *= bool(vectors.nnz)
    features = used if facts.features is None else facts.features
    if not used <= features < LARGEST:
        raise ValueError(f"'features' must be {used} to {LARGEST - 1}")
    support = csr_array((numbers, vectors.indices - first, vectors.indptr), shape=(count, features))
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
        _labels(facts, K),
        facts.feature_names,
        base,
        foreign=facts.features is None,
    )


def _vectors(file: _File, count: int, width: int) -> tuple[np.ndarray, csr_array]:
    """Read lines of ``width`` coefficients and a sparse vector each, with the indices as in the file."""
    coefficients, values, indices, ends = array("d"), array("d"), array("q"), array("q", [0])
    for row in range(count):
        line = file.next(f"after {row} of {count} support vectors")
        words = line.split()
        try:
            weights = [float(word) for word in words[:width]]
            entries = [word.split(":") for word in words[width:]]
            columns, numbers = [int(index) for index, _ in entries], [float(value) for _, value in entries]
        except ValueError:
            weights, columns, numbers = [], [], []
        rising = all(a < b for a, b in zip([-1, *columns], [*columns, LARGEST], strict=True))
        if len(weights) != width or not rising or not all(map(math.isfinite, [*weights, *numbers])):
            raise file.error(
                f"a support vector must be {width} finite coefficients and index:value pairs whose indices increase, "
                f"not {shown(line)}"
            )
        coefficients.extend(weights)
        indices.extend(columns)
        values.extend(numbers)
        ends.append(len(indices))
    features = np.array(indices, dtype=np.int64)
    vectors = csr_array(
        (np.array(values), features, np.array(ends)), shape=(count, int(features.max(initial=-1)) + 1)
    )
    return np.array(coefficients).reshape(count, width), vectors


def _kernel(file: _File, name: str, facts: Facts) -> Any:
    """Return the kernel of the header; the facts tell one of ours from the one of LIBSVM's that it equals."""
    families = {family.libsvm or family.name: family for family in KERNELS.values() if family.equal is None}
    if name not in families:
        raise file.wrong("kernel_type", f"is {shown(name)}, a kernel that fwsvm does not have")
    family = families[name]
    given = family.own_values(facts.kernel_parameters)
    for parameter in SHARED:
        if parameter in file.header and parameter not in family.parameters:
            raise file.wrong(parameter, f"does not belong to a {name} kernel")
        if parameter in family.parameters:
            parse = int if types_of(family.make)[parameter] is int else float
            (given[parameter],) = file.values(parameter, 1, parse)
    for parameter, value in given.items():
        allowed = family.range_of(parameter)
        if not allowed.least <= value <= allowed.most:
            line = file.header.get(parameter, (file.number,))[0]
            raise file.error(f"{parameter} must be {allowed.words}, not {value}", line)
    return _own_kernel(family, family.make(**given), facts.kernel or family.name)


def _own_kernel(family: KernelFamily, kernel: Any, name: str) -> Any:
    """Return a kernel as one of the family of that name, which must be equal."""
    other = KERNELS.get(name)
    if other is family:
        return kernel
    if other is not None and other.equal is not None and set(other.parameters) <= set(kernel._fields):
        same = other.make(**{parameter: getattr(kernel, parameter) for parameter in other.parameters})
        if other.equal(same) == kernel and type(other.equal(same)) is type(kernel):
            return same
    raise ValueError(f"the kernel of the header is not the one of the facts, {shown(name)}")


def _linear_model(file: _File) -> LinearModel:
    (solver,) = file.values("solver_type")
    if solver not in SOLVER_TYPES:
        raise file.wrong("solver_type", f"is {shown(solver)}, not a classifier that fwsvm can predict with")
    (K,), (features,) = file.values("nr_class", 1, int), file.values("nr_feature", 1, int)
    codes, (constant,) = file.values("label", K, int), file.values("bias", 1, float)
    outputs = K if K > 2 or solver == CRAMMER_SINGER else 1
    count, values = features + (constant >= 0), array("d")
    for row in range(count):
        line = file.next(f"after {row} of {count} lines of weights")
        try:
            numbers = [float(word) for word in line.split()]
        except ValueError:
            numbers = []
        if len(numbers) != outputs or not all(map(math.isfinite, numbers)):
            raise file.error(f"a line must have {outputs} finite weights here, not {shown(line)}")
        values.extend(numbers)
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
        _labels(facts, K),
        facts.feature_names,
        facts.zero_based,
    )


def _classes(facts: Facts, codes: list[int]) -> tuple[str, ...]:
    """Return the classes: those of the facts, which must fit the header's codes, else the codes."""
    classes = tuple(map(str, codes)) if facts.classes is None else facts.classes
    if len(codes) < 2 or len(set(codes)) < len(codes):
        raise ValueError("the header has fewer than two labels, or one twice")
    if len(set(classes)) < len(classes) or label_codes(classes) != codes:
        raise ValueError("'classes' does not fit the labels in the header")
    return classes


def _labels(facts: Facts, K: int) -> np.ndarray | None:
    """Return the classes in the type that predictions have."""
    if facts.labels is None:
        return None
    if len(facts.labels.values) != K:
        raise ValueError(f"'labels' must have {K} values")
    return np.array(facts.labels.values, dtype=np.dtype(facts.labels.dtype))


def _ranges(facts: Facts, features: int) -> Ranges | None:
    """Return the ranges that rows are scaled by."""
    if facts.scaling is None:
        return None
    places = np.array(facts.scaling.features, dtype=np.int64) - 1
    minimum, maximum = np.array(facts.scaling.minimum), np.array(facts.scaling.maximum)
    if (
        not len(places) == len(minimum) == len(maximum)
        or (np.diff(places, prepend=-1, append=features) <= 0).any()
    ):
        raise ValueError(
            f"'scaling' needs a range for each of its features, which increase from 1 to {features}"
        )
    if not (maximum > minimum).all():
        raise ValueError("a range of 'scaling' is empty")
    return Ranges(places, minimum, maximum, *facts.scaling.interval)
