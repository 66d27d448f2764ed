"""Reading of model files of fwsvm, LIBSVM and LIBLINEAR; an error names file, line and reason."""

import json
import math
from array import array
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

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
    *SOLVERS.values(), CRAMMER_SINGER, "L2R_LR", "L2R_L2LOSS_SVC", "L1R_L2LOSS_SVC", "L1R_LR", "L2R_LR_DUAL",
}  # fmt: skip
LIBLINEAR = {"solver_type", "nr_class", "label", "nr_feature", "bias"}
LABEL_KINDS = "biufUTMO"
DAMAGED = (ValueError, TypeError, KeyError, OverflowError, RecursionError, UsageError)


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
    return _linear_model(file) if file.read_header() else _kernel_model(file)


class _File:
    """The lines of a model file without surrounding blanks, and its header.

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

    def next(self, missing: str) -> list[str]:
        """Return the words of the next line; `ModelError` that says what is ``missing`` where there is none."""
        line = next(self.lines, None)
        if line is None:
            raise self.error(f"the file ends {missing}")
        return line.split()

    def error(self, why: str, number: int | None = None) -> ModelError:
        """Return the error about a line, by default the one at hand; an empty file has none."""
        line = self.number if number is None else number
        return ModelError(f"{self.path}:{line}: {why}" if line else f"{self.path}: {why}")

    def read_header(self) -> bool:
        """Read up to the line that opens the body; return whether the model is linear."""
        while True:
            keyword, *values = self.next("before the header does") or [""]
            if keyword in ("SV", "w") and not values:
                break
            if keyword not in LIBSVM | LIBLINEAR:
                raise self.error(f"{shown(keyword)} is not a keyword of a model file")
            if keyword in self.header:
                raise self.error(f"{keyword} is already in line {self.header[keyword][0]}")
            self.header[keyword] = self.number, values
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
            return [parse(word) for word in words]
        except ValueError as error:
            raise self.wrong(keyword, f"has {error}") from None

    def count(self, keyword: str, least: int) -> int:
        """Return the whole number of a keyword, at least so large."""
        (value,) = self.values(keyword, 1, whole_number)
        if value < least:
            raise self.wrong(keyword, f"must be at least {least}, not {value}")
        return int(value)


def finite_number(text: str) -> float:
    """Return the finite number that a text writes, else raise `ValueError`."""
    value = float(text) if "_" not in text else math.inf
    if not math.isfinite(value):
        raise ValueError(f"{shown(text)}, which is not a finite number")
    return value


def whole_number(text: str) -> int:
    """Return the whole number that a text writes if it fits an int of C, else raise `ValueError`."""
    digits = text[1:] if text[:1] in ("-", "+") else text
    value = int(text) if digits.isdecimal() and digits.isascii() and len(digits) <= 10 else LARGEST + 1
    if not -LARGEST - 1 <= value <= LARGEST:
        raise ValueError(f"{shown(text)}, which is not a whole number of 32 bits")
    return value


def _kernel_model(file: _File) -> KernelModel:
    (svm_type,), (kernel_type,) = file.values("svm_type"), file.values("kernel_type")
    if svm_type not in SVM_TYPES:
        raise file.wrong("svm_type", f"is {shown(svm_type)}; fwsvm reads {' and '.join(SVM_TYPES)}")
    K, count = file.count("nr_class", 2), file.count("total_sv", 0)
    codes = file.values("label", K, whole_number)
    biases = -np.array(file.values("rho", K * (K - 1) // 2, finite_number))
    counts = np.array(file.values("nr_sv", K, whole_number), dtype=np.int64)
    if (counts < 0).any() or counts.sum() != count:
        raise file.wrong("nr_sv", f"must be {K} counts that add up to total_sv, {count}")
    sigmoids = None
    if all(keyword in file.header for keyword in SIGMOIDS):
        sigmoids = np.array([file.values(keyword, len(biases), finite_number) for keyword in SIGMOIDS])
    is_numbered = kernel_type == PRECOMPUTED  # a support vector is then 0:i, the number of a row
    coefficients, vectors = _vectors(file, count, K - 1, is_numbered=is_numbered)
    found = _facts(file)
    kernel_of = _kernel(file, kernel_type)
    try:
        base = _base(found)
        if base is None and not is_numbered and (vectors.indices == 0).any():
            base = True  # all indices of a model count alike
        first = 0 if base or is_numbered else 1
        used = int(vectors.data.max(initial=0)) + 1 if is_numbered else vectors.shape[1] - first
        features = found.get("features", used if vectors.nnz else 0)
        if type(features) is not int or not used * bool(vectors.nnz) <= features < LARGEST:
            raise ValueError(f"'features' must be {used} to {LARGEST - 1}")
        support = csr_array((vectors.data, vectors.indices - first, vectors.indptr), shape=(count, features))
        return KernelModel(
            _classes(found, codes), kernel_of(found), support, counts, coefficients, biases,
            dict(found.get("facts", {})), _ranges(found, features), sigmoids, _labels(found, K), _names(found), base,
            foreign="features" not in found,
        )  # fmt: skip
    except DAMAGED as error:
        raise file.error(f"the facts do not fit the model: {error}") from None


def _vectors(file: _File, count: int, width: int, *, is_numbered: bool) -> tuple[np.ndarray, csr_array]:
    """Read lines of ``width`` coefficients and a sparse vector each, with the indices as in the file."""
    coefficients, values, indices, ends = array("d"), array("d"), array("q"), array("q", [0])
    for row in range(count):
        words = file.next(f"after {row} of {count} support vectors")
        if len(words) < width or any(":" in word for word in words[:width]):
            raise file.error(
                f"a support vector is expected here: {width} coefficients, then index:value pairs"
            )
        before = -1
        for place, word in enumerate(words):
            try:
                if place < width:
                    coefficients.append(finite_number(word))
                    continue
                index, _, number = word.partition(":")
                column, value = whole_number(index), finite_number(number)
            except ValueError:
                kind = "index:value" if place >= width else "a finite number"
                raise file.error(
                    f"{shown(word)} is not {kind}; a line has {width} coefficients first"
                ) from None
            if not before < column < LARGEST:
                raise file.error(
                    f"{shown(word)} is not index:value with an index that increases along the line"
                )
            before = column
            indices.append(column)
            values.append(value)
        ends.append(len(indices))
        if is_numbered and not (
            ends[-1] - ends[-2] == 1
            and indices[-1] == 0
            and 0 < values[-1] < LARGEST - 1
            and values[-1] % 1 == 0
        ):
            raise file.error(
                "a support vector of a precomputed kernel must be 0:i, the number of a training row"
            )
    columns = np.array(indices, dtype=np.int64)
    shape = count, int(columns.max(initial=-1)) + 1
    return np.array(coefficients).reshape(count, width), csr_array(
        (np.array(values), columns, np.array(ends)), shape=shape
    )


def _kernel(file: _File, name: str) -> Callable[[Mapping[str, Any]], Any]:
    """Return what makes the kernel of a header; the facts tell one of ours from the one of LIBSVM's that it equals."""
    families = {family.libsvm or family.name: family for family in KERNELS.values() if family.equal is None}
    if name not in families:
        raise file.wrong("kernel_type", f"is {shown(name)}, a kernel that fwsvm does not have")
    family, values = families[name], dict[str, Any]()
    for parameter in SHARED:
        if parameter in file.header and parameter not in family.parameters:
            raise file.wrong(parameter, f"does not belong to a {name} kernel")
        if parameter in family.parameters:
            parse = whole_number if types_of(family.make)[parameter] is int else finite_number
            (values[parameter],) = file.values(parameter, 1, parse)
            allowed = family.range_of(parameter)
            if not allowed.least <= values[parameter] <= allowed.most:
                raise file.wrong(parameter, f"must be {allowed.words}, not {values[parameter]}")
    return lambda found: _own_kernel(family, values, found)


def _own_kernel(family: KernelFamily, values: Mapping[str, Any], found: Mapping[str, Any]) -> Any:
    """Return a kernel of the header as one of the family that the facts name, which must be equal."""
    own = family.own_values(found.get("kernel_parameters", {}))
    for parameter, value in own.items():
        if not family.range_of(parameter).least <= value <= family.range_of(parameter).most:
            raise ValueError(f"{parameter} must be {family.range_of(parameter).words}, not {value}")
    kernel, name = family.make(**values, **own), found.get("kernel", family.name)
    other = KERNELS.get(name) if isinstance(name, str) else None
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
    K, features = file.count("nr_class", 2), file.count("nr_feature", 0)
    codes, (constant,) = file.values("label", K, whole_number), file.values("bias", 1, finite_number)
    outputs = K if K > 2 or solver == CRAMMER_SINGER else 1
    count, values = features + (constant >= 0), array("d")
    for row in range(count):
        words = file.next(f"after {row} of {count} lines of weights")
        try:
            numbers = [finite_number(word) for word in words]
        except ValueError:
            numbers = []
        if len(numbers) != outputs:
            raise file.error(f"a line must have {outputs} finite weights here, not {shown(' '.join(words))}")
        values.extend(numbers)
    weights = np.array(values).reshape(count, outputs)
    if K == 2 and outputs == K:  # the larger of two values, which LIBLINEAR makes opposite
        weights = (weights[:, :1] - weights[:, 1:]) / 2.0
    biases = weights[features] if constant >= 0 else np.zeros(weights.shape[1])
    found = _facts(file)
    try:
        return LinearModel(
            _classes(found, codes), np.ascontiguousarray(weights[:features].T), biases, max(constant, 0.0),
            dict(found.get("facts", {})), _ranges(found, features), _labels(found, K), _names(found), _base(found),
        )  # fmt: skip
    except DAMAGED as error:
        raise file.error(f"the facts do not fit the model: {error}") from None


# ---------------------------------------------------------------- facts, which a person may have edited


def _facts(file: _File) -> dict[str, Any]:
    """Return all facts after the last vector or weight; other lines must be comments or blank."""
    found: dict[str, Any] = {}
    for line in file.lines:
        if line.startswith(MARK):
            try:
                found |= dict(json.loads(line.removeprefix(MARK), parse_constant=float.fromhex))
            except DAMAGED as error:
                raise file.error(f"the facts cannot be read: {str(error)[:80]}") from None
        elif line and not line.startswith("#"):
            raise file.error(f"the header announces no more lines, but here is {shown(line)}")
    return found


def _classes(found: Mapping[str, Any], codes: list[int]) -> tuple[str, ...]:
    """Return the classes: those of the facts, which must fit the header's codes, else the codes."""
    if len(set(codes)) < len(codes):
        raise ValueError("the header has a label twice")
    classes = tuple(found.get("classes", map(str, codes)))
    if not all(isinstance(name, str) and name.isprintable() for name in classes):
        raise ValueError("'classes' must be printable texts")
    if len(set(classes)) < len(classes) or label_codes(classes) != codes:
        raise ValueError("'classes' does not fit the labels in the header")
    return classes


def _labels(found: Mapping[str, Any], K: int) -> np.ndarray | None:
    """Return the classes in the type that predictions have."""
    if "labels" not in found:
        return None
    values, dtype = found["labels"]["values"], np.dtype(found["labels"]["dtype"])
    if len(values) != K or not all(isinstance(value, str | int | float) for value in values):
        raise ValueError(f"'labels' must have {K} values")
    if dtype.kind not in LABEL_KINDS:
        raise ValueError(f"'labels' cannot have the type {dtype}")
    return np.array(values, dtype=dtype)


def _names(found: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of the training rows' columns."""
    names = tuple(found.get("feature_names", ()))
    if not all(isinstance(name, str) for name in names):
        raise ValueError("'feature_names' must be texts")
    return names


def _base(found: Mapping[str, Any]) -> bool | None:
    """Return whether the training file counted its features from 0."""
    base = found.get("zero_based")
    if base not in (True, False, None):
        raise ValueError("'zero_based' must be true or false")
    return base


def _ranges(found: Mapping[str, Any], features: int) -> Ranges | None:
    """Return the ranges that rows are scaled by."""
    if "scaling" not in found:
        return None
    told = found["scaling"]
    places = np.array(told["features"], dtype=np.int64) - 1
    minimum, maximum, interval = (
        np.array(told[name], dtype=float) for name in ("minimum", "maximum", "interval")
    )
    if not (places.shape == minimum.shape == maximum.shape == (len(places),) and interval.shape == (2,)):
        raise ValueError("'scaling' has lists of unequal lengths")
    if (np.diff(places) <= 0).any() or (places < 0).any() or (places >= features).any():
        raise ValueError(f"the features of 'scaling' must increase from 1 to {features}")
    with np.errstate(over="ignore", invalid="ignore"):
        widths = np.append(maximum - minimum, interval[1] - interval[0])
    if not ((widths > 0) & np.isfinite(widths)).all():
        raise ValueError("a range of 'scaling' is empty or not finite")
    return Ranges(places, minimum, maximum, float(interval[0]), float(interval[1]))
