"""Reading of model files of fwsvm, LIBSVM and LIBLINEAR; an error names file, line and reason."""

import math
from array import array
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from fwsvm.errors import ModelError, UsageError, shown
from fwsvm.kernels.kernel import KERNELS, SHARED
from fwsvm.parameters import types_of
from fwsvm.problems.machines import KernelModel, LinearModel
from fwsvm.problems.model_files import facts
from fwsvm.problems.model_files.facts import LARGEST, whole_number
from fwsvm.problems.model_files.writing import SOLVERS
from fwsvm.problems.precomputed import NAME as PRECOMPUTED

SVM_TYPES = ("c_svc", "nu_svc")  # both predict by the sign of the decision values
SIGMOIDS = ("probA", "probB")
LIBSVM = {"svm_type", "kernel_type", "nr_class", "total_sv", "rho", "label", "nr_sv", *SIGMOIDS, *SHARED}
CRAMMER_SINGER = "MCSVM_CS"  # has an output a class, even of two
SOLVER_TYPES = {
    *SOLVERS.values(), CRAMMER_SINGER, "L2R_LR", "L2R_L2LOSS_SVC", "L1R_L2LOSS_SVC", "L1R_LR", "L2R_LR_DUAL",
}  # fmt: skip
LIBLINEAR = {"solver_type", "nr_class", "label", "nr_feature", "bias"}
DAMAGED = (ValueError, TypeError, KeyError, OverflowError, RecursionError, UsageError)


class _Lines:
    """The lines of a model file without surrounding blanks; ``number`` is the line at hand, from 1."""

    def __init__(self, path: str | Path) -> None:
        self.path, self.number = Path(path), 0
        if not self.path.is_file():
            raise ModelError(
                f"{path}: {'not a regular file' if self.path.exists() else 'no such model file'}"
            )
        self._lines = self._read()

    def _read(self) -> Iterator[str]:
        try:
            with self.path.open("rb") as stream:
                for self.number, line in enumerate(stream, 1):
                    yield line.decode("utf-8").strip()
        except UnicodeDecodeError:
            raise self.error("this is not text; is it a model file?") from None
        except OSError as error:
            raise ModelError(f"{self.path} cannot be read: {error.strerror or error}") from None

    def __iter__(self) -> Iterator[str]:
        return self._lines

    def next(self, missing: str) -> str:
        """Return the next line; `ModelError` that says what is ``missing`` where there is none."""
        line = next(self._lines, None)
        if line is None:
            raise self.error(f"the file ends {missing}")
        return line

    def error(self, why: str, number: int | None = None) -> ModelError:
        """Return the error about a line, by default the one at hand; an empty file has none."""
        line = self.number if number is None else number
        return ModelError(f"{self.path}:{line}: {why}" if line else f"{self.path}: {why}")


class _Header:
    """The keywords of a model file with their values, up to the line that opens the body."""

    def __init__(self, lines: _Lines) -> None:
        self.lines = lines
        self.entries: dict[str, tuple[int, list[str]]] = {}
        while True:
            keyword, *values = lines.next("before the header does").split() or [""]
            if keyword in ("SV", "w") and not values:
                self.is_linear = keyword == "w"
                break
            if keyword not in LIBSVM | LIBLINEAR:
                raise lines.error(f"{shown(keyword)} is not a keyword of a model file")
            if keyword in self.entries:
                raise lines.error(f"{keyword} is already in line {self.entries[keyword][0]}")
            self.entries[keyword] = lines.number, values
        for keyword in self.entries.keys() - (LIBLINEAR if self.is_linear else LIBSVM):
            raise self.error(keyword, "does not belong in this kind of model")

    def __contains__(self, keyword: str) -> bool:
        return keyword in self.entries

    def error(self, keyword: str, why: str) -> ModelError:
        """Return the error about a keyword."""
        return self.lines.error(f"{keyword} {why}", self.entries[keyword][0])

    def words(self, keyword: str, count: int = 1) -> list[str]:
        """Return the values of a keyword, so many."""
        if keyword not in self.entries:
            raise self.lines.error(f"the header ends without {keyword}")
        values = self.entries[keyword][1]
        if len(values) != count:
            raise self.error(keyword, f"must have {count} values, not {len(values)}")
        return values

    def numbers(self, keyword: str, count: int = 1, parse: Callable[[str], Any] | None = None) -> list[Any]:
        """Return the values of a keyword as finite numbers, or as ``parse`` reads them."""
        words = self.words(keyword, count)
        values = [(parse or finite_number)(word) for word in words]
        if None in values:
            kind = "whole number of 32 bits" if parse is whole_number else "finite number"
            raise self.error(keyword, f"has {shown(words[values.index(None)])}, which is not a {kind}")
        return values

    def whole(self, keyword: str, least: int) -> int:
        """Return the whole number of a keyword."""
        value: int = self.numbers(keyword, 1, whole_number)[0]
        if value < least:
            raise self.error(keyword, f"must be at least {least}, not {value}")
        return value


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
    lines = _Lines(path)
    header = _Header(lines)
    return _linear_model(header, lines) if header.is_linear else _kernel_model(header, lines)


def finite_number(text: str) -> float | None:
    """Return the finite number that a text writes, or None.

    >>> [finite_number(text) for text in ("-1.5e3", "inf", "1e999", "1_000")]
    [-1500.0, None, None, None]
    """
    try:
        value = math.inf if "_" in text else float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _kernel_model(header: _Header, lines: _Lines) -> KernelModel:
    (svm_type,), (kernel_type,) = header.words("svm_type"), header.words("kernel_type")
    if svm_type not in SVM_TYPES:
        raise header.error("svm_type", f"is {shown(svm_type)}; fwsvm reads {' and '.join(SVM_TYPES)}")
    K, count = header.whole("nr_class", 2), header.whole("total_sv", 0)
    codes = header.numbers("label", K, whole_number)
    biases = -np.array(header.numbers("rho", K * (K - 1) // 2))
    counts = np.array(header.numbers("nr_sv", K, whole_number), dtype=np.int64)
    if (counts < 0).any() or counts.sum() != count:
        raise header.error("nr_sv", f"must be {K} counts that add up to total_sv, {count}")
    sigmoids = None
    if all(keyword in header for keyword in SIGMOIDS):
        sigmoids = np.array([header.numbers(keyword, len(biases)) for keyword in SIGMOIDS])
    start = lines.number + 1
    coefficients, vectors = _vectors(lines, count, K - 1)
    found = _facts(lines)
    is_numbered = kernel_type == PRECOMPUTED  # a support vector is then 0:i, the number of a row
    try:
        kernel = _kernel(header, kernel_type, found)
        base = facts.base_of(found)
        if not is_numbered and base is None and (vectors.indices == 0).any():
            base = True  # all indices of a model count alike
        vectors = _support(lines, start, vectors, is_numbered=is_numbered, first=0 if base else 1)
        used = int(vectors.data.max(initial=0)) + 1 if is_numbered else vectors.shape[1]
        vectors.resize(count, facts.features_of(found, used))
        return KernelModel(
            facts.classes_of(found, codes), kernel, vectors, counts, coefficients, biases, dict(found.get("facts", {})),
            facts.ranges_of(found, vectors.shape[1]), sigmoids, facts.labels_of(found, K), facts.names_of(found), base,
            foreign="features" not in found,
        )  # fmt: skip
    except DAMAGED as error:
        raise lines.error(f"the facts do not fit the model: {error}") from None


def _kernel(header: _Header, name: str, found: dict[str, Any]) -> Any:
    """Return the kernel of a header; the facts tell a kernel of ours from the one of LIBSVM's that it equals."""
    families = {family.libsvm or family.name: family for family in KERNELS.values() if family.equal is None}
    if name not in families:
        raise header.error("kernel_type", f"is {shown(name)}, a kernel that fwsvm does not have")
    family = families[name]
    for parameter in sorted(set(SHARED) - set(family.parameters)):
        if parameter in header:
            raise header.error(parameter, f"does not belong to a {name} kernel")
    kinds, values = types_of(family.make), dict[str, Any]()
    for parameter in family.parameters:
        if parameter in SHARED:
            parse = whole_number if kinds[parameter] is int else finite_number
            values[parameter] = header.numbers(parameter, 1, parse)[0]
    values |= family.own_values(found.get("kernel_parameters", {}))
    for parameter, value in values.items():
        allowed = family.range_of(parameter)
        if not allowed.least <= value <= allowed.most:
            where = parameter if parameter in header else "kernel_type"
            raise header.error(where, f"must be {allowed.words}, not {value}")
    return facts.own_kernel(family.make(**values), family, found.get("kernel", family.name))


def _vectors(lines: _Lines, count: int, width: int) -> tuple[NDArray[np.float64], csr_array]:
    """Read ``count`` lines of ``width`` coefficients and a sparse vector each, with the indices as in the file.

    Returns
    -------
    coefficients : ndarray, shape (count, width)
    vectors : csr_array, shape (count, largest index + 1)
    """
    coefficients, values, indices, ends = array("d"), array("d"), array("q"), array("q", [0])
    for row in range(count):
        words = lines.next(f"after {row} of {count} support vectors").split()
        if len(words) < width or any(":" in word for word in words[:width]):
            raise lines.error(
                f"a support vector is expected here: {width} coefficients, then index:value pairs"
            )
        for place, word in enumerate(words):
            index, colon, number = word.partition(":") if place >= width else ("0", ":", word)
            column, value = whole_number(index), finite_number(number)
            if column is None or value is None or not colon or not 0 <= column < LARGEST:
                kind = "index:value" if place >= width else "a finite number"
                raise lines.error(f"{shown(word)} is not {kind}; a line has {width} coefficients first")
            if place < width:
                coefficients.append(value)
            else:
                indices.append(column)
                values.append(value)
        ends.append(len(indices))
    columns = np.array(indices, dtype=np.int64)
    vectors = csr_array(
        (np.array(values), columns, np.array(ends)), shape=(count, int(columns.max(initial=0)) + 1)
    )
    return np.array(coefficients).reshape(count, width), vectors


def _support(lines: _Lines, start: int, vectors: csr_array, *, is_numbered: bool, first: int) -> csr_array:
    """Return vectors with columns from 0; ``start`` is the line of the first, ``first`` the least index."""
    row_of = np.repeat(np.arange(vectors.shape[0]), np.diff(vectors.indptr))
    if is_numbered:
        number = np.zeros(vectors.shape[0])
        number[row_of] = np.where(vectors.indices == 0, vectors.data, 0.0)
        bad = (
            (np.diff(vectors.indptr) != 1)
            | (number < 1)
            | (number >= LARGEST - 1)
            | (number != np.rint(number))
        )
        why = "a support vector of a precomputed kernel must be 0:i, the number of a training row"
    else:
        wrong = vectors.indices < first
        wrong[1:] |= (np.diff(vectors.indices) <= 0) & (np.diff(row_of) == 0)
        bad = np.bincount(row_of[wrong], minlength=vectors.shape[0]) > 0
        why = f"indices must be at least {first} and increase along the line"
        width = vectors.shape[1] - first if vectors.nnz else 0
        vectors = csr_array(
            (vectors.data, vectors.indices - first, vectors.indptr), shape=(vectors.shape[0], width)
        )
    if bad.any():
        raise lines.error(why, start + int(np.argmax(bad)))
    return vectors


def _linear_model(header: _Header, lines: _Lines) -> LinearModel:
    (solver,) = header.words("solver_type")
    if solver not in SOLVER_TYPES:
        raise header.error("solver_type", f"is {shown(solver)}, not a classifier that fwsvm can predict with")
    K, features = header.whole("nr_class", 2), header.whole("nr_feature", 0)
    codes, (constant,) = header.numbers("label", K, whole_number), header.numbers("bias")
    outputs = K if K > 2 or solver == CRAMMER_SINGER else 1
    count, values = features + (constant >= 0), array("d")
    for row in range(count):
        words = lines.next(f"after {row} of {count} lines of weights").split()
        numbers = [finite_number(word) for word in words]
        if len(words) != outputs or None in numbers:
            raise lines.error(f"a line must have {outputs} finite weights here, not {shown(' '.join(words))}")
        values.extend(numbers)  # type: ignore[arg-type]
    weights = np.array(values).reshape(count, outputs)
    if K == 2 and outputs == K:  # the larger of two values, which LIBLINEAR makes opposite
        weights = (weights[:, :1] - weights[:, 1:]) / 2.0
    biases = weights[features] if constant >= 0 else np.zeros(weights.shape[1])
    found = _facts(lines)
    try:
        return LinearModel(
            facts.classes_of(found, codes), np.ascontiguousarray(weights[:features].T), biases, max(constant, 0.0),
            dict(found.get("facts", {})), facts.ranges_of(found, features), facts.labels_of(found, K),
            facts.names_of(found), facts.base_of(found),
        )  # fmt: skip
    except DAMAGED as error:
        raise lines.error(f"the facts do not fit the model: {error}") from None


def _facts(lines: _Lines) -> dict[str, Any]:
    """Return all facts after the last vector or weight; other lines must be comments or blank."""
    found: dict[str, Any] = {}
    for line in lines:
        if line.startswith(facts.MARK):
            try:
                found |= facts.parse_facts(line.removeprefix(facts.MARK))
            except DAMAGED as error:
                raise lines.error(f"the facts cannot be read: {str(error)[:80]}") from None
        elif line and not line.startswith("#"):
            raise lines.error(f"the header announces no more lines, but here is {shown(line)}")
    return found
