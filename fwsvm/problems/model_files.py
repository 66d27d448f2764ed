"""Model files: LIBSVM's format for kernel models, LIBLINEAR's for linear ones, and our lines of facts.

Facts, lines ``#fwsvm {json}`` after the last vector or weight, are what those formats have no place for; other programs
ignore them:

features          number of features
classes           labels as text, where the header has codes for them
labels            {"dtype": ..., "values": [...]}: the classes in the type that predictions have
kernel, kernel_parameters, svm_predict     the kernel's own name and parameters; whether svm-predict knows it
cells             {"directions": [[...]], "thresholds": [...]}: the tree of a model for each cell, see below
scaling           {"interval": [0, 1], "features": [1, 3], "minimum": [...], "maximum": [...]}, features from 1
feature_names     names of the training rows' columns
zero_based        whether the training file counted its features from 0
facts             method, settings and certificate, in a line of their own

A model for each cell (`fwsvm.problems.cells`) has the svm_type ``c_svc_cells``, which LIBSVM refuses. Its rho, nr_sv
and support vectors are those of the cells one after the other.
"""

import json
import re
from array import array
from collections.abc import Iterator
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import scipy

from fwsvm.errors import ModelError, UsageError, shown
from fwsvm.files.atomic import is_written_in_place, replacing, shortest
from fwsvm.kernels.kernel import KERNELS, SHARED, family_of
from fwsvm.kernels.precomputed import Precomputed
from fwsvm.parameters import types_of
from fwsvm.problems.cells import CellModel, Cells
from fwsvm.problems.machines import KernelModel, LinearModel, Model
from fwsvm.scaling import Ranges

Header: TypeAlias = dict[str, list[str]]  # the words of each keyword
MARK = "#fwsvm "
SVM_TYPES = ("c_svc", "nu_svc")  # both predict by the sign of the decision values
CELLS = "c_svc_cells"
SIGMOIDS = ("probA", "probB")
SOLVERS = {"hinge": "L2R_L1LOSS_SVC_DUAL", "squared hinge": "L2R_L2LOSS_SVC_DUAL"}
CRAMMER_SINGER = "MCSVM_CS"  # has an output a class, even of two
SCALING = "interval", "features", "minimum", "maximum"


def range_path(path: str | Path) -> Path:
    """Return the path of the range file beside a model: ``MODEL.range``."""
    return Path(f"{path}.range")


# ---------------------------------------------------------------- writing


def write(path: str | Path, model: Model) -> None:
    """Write a model so that `read` returns the same doubles; the file appears complete or not at all.

    Where training scaled its rows, a range file of svm-scale is written beside it (`range_path`).

    Raises
    ------
    ModelError
        The file cannot be written.
    """
    with replacing(path, ModelError) as stream:
        if isinstance(model, LinearModel):
            stream.writelines(_linear_lines(model))
        elif isinstance(model, CellModel):
            stream.writelines(_kernel_lines(model.union, CELLS))
        elif isinstance(model, KernelModel):
            stream.writelines(_kernel_lines(model))
        stream.writelines(_fact_lines(model))
    if model.ranges is not None and not is_written_in_place(path):
        with replacing(range_path(path), ModelError) as stream:
            stream.write(model.ranges.text(0 if model.zero_based else 1))


def label_codes(classes: tuple[str, ...]) -> list[int]:
    """Return the whole numbers that stand for the labels in the header: their own, or 0 to K - 1.

    >>> label_codes(("1", "-1")), label_codes(("M", "B")), label_codes(("01", "1"))
    ([1, -1], [0, 1], [0, 1])
    """
    whole = all(re.fullmatch(r"0|-?[1-9][0-9]{0,8}", name) for name in classes)
    return [int(name) for name in classes] if whole else list(range(len(classes)))


def _line(*words: Any) -> str:
    """Return a line of words and numbers; floats read back as the same doubles."""
    return f"{' '.join(shortest(word) if isinstance(word, float) else str(word) for word in words)}\n"


def _libsvm_kernel(kernel: Any) -> Any:
    """Return the equal kernel that LIBSVM has, if there is one, else the kernel itself."""
    equal = family_of(kernel).equal
    return kernel if equal is None else equal(kernel)


def _kernel_lines(model: KernelModel, svm_type: str = SVM_TYPES[0]) -> Iterator[str]:
    """Yield the lines of a kernel model; our bias is LIBSVM's -rho."""
    kernel = _libsvm_kernel(model.kernel)
    family = family_of(kernel)
    codes = label_codes(model.classes)
    header: dict[str, list[Any]] = {"svm_type": [svm_type], "kernel_type": [family.libsvm or family.name]}
    header |= {name: [getattr(kernel, name)] for name in family.parameters if name in SHARED}
    header |= {
        "nr_class": [len(codes)],
        "total_sv": [len(model.coefficients)],
        "rho": (-model.biases).tolist(),
    }
    if model.sigmoids is not None:
        header |= zip(SIGMOIDS, model.sigmoids.tolist(), strict=True)
    header |= {"label": codes, "nr_sv": model.counts.tolist(), "SV": []}
    yield from (_line(keyword, *words) for keyword, words in header.items())
    first = 0 if isinstance(kernel, Precomputed) or model.zero_based else 1
    vectors = scipy.sparse.csr_array(model.support)
    vectors.sort_indices()
    for coefficients, (start, end) in zip(model.coefficients, pairwise(vectors.indptr), strict=True):
        entries = zip(vectors.indices[start:end].tolist(), vectors.data[start:end].tolist(), strict=True)
        words = [f"{column + first}:{shortest(value)}" for column, value in entries if value]
        yield _line(*coefficients.tolist(), *words, "")


def _linear_lines(model: LinearModel) -> Iterator[str]:
    """Yield the lines of a linear model; the fact ``loss`` names the solver, which prediction does not use."""
    codes = label_codes(model.classes)
    constant = model.bias_feature
    solver = SOLVERS.get(model.facts.get("loss", ""), SOLVERS["hinge"])
    yield _line("solver_type", solver) + _line("nr_class", len(codes)) + _line("label", *codes)
    yield _line("nr_feature", model.features) + _line("bias", constant or -1) + _line("w")
    for weights in [*model.weights.T, *([model.biases] if constant else [])]:
        yield _line(*weights.tolist(), "")


def _fact_lines(model: Model) -> Iterator[str]:
    """Yield the lines of facts; numbers that are not finite become null."""
    needed: dict[str, Any] = {"classes": model.classes}
    union = model.union if isinstance(model, CellModel) else model
    if isinstance(union, KernelModel):
        family = family_of(union.kernel)
        needed |= {"features": model.features, "kernel": family.name}
        needed["svm_predict"] = union is model and bool(family_of(_libsvm_kernel(union.kernel)).libsvm)
        if family.own:
            needed["kernel_parameters"] = {name: getattr(union.kernel, name) for name in family.own}
    if isinstance(model, CellModel):
        needed["cells"] = model.cells._asdict()
    if (labels := model.labels) is not None:
        values = labels.astype(str) if labels.dtype.kind == "M" else labels
        needed["labels"] = {"dtype": "T" if labels.dtype.kind == "T" else labels.dtype.str, "values": values}
    if model.ranges is not None:
        features, minimum, maximum, *interval = model.ranges
        needed["scaling"] = dict(zip(SCALING, (interval, features + 1, minimum, maximum), strict=True))
    if model.feature_names:
        needed["feature_names"] = model.feature_names
    if model.zero_based is not None:
        needed["zero_based"] = model.zero_based
    facts = {
        key: None if isinstance(value, float) and not np.isfinite(value) else value
        for key, value in model.facts.items()
    }
    for record in (needed, {"facts": facts}) if facts else (needed,):
        yield f"{MARK}{json.dumps(record, allow_nan=False, default=lambda value: value.tolist())}\n"


# ---------------------------------------------------------------- reading


def is_model_file(path: str | Path) -> bool:
    """Return whether there is a file that begins as models do."""
    try:
        with Path(path).open("rb") as stream:
            return stream.read(8) in (b"svm_type", b"solver_t")
    except (OSError, ValueError):  # the name of a data set may be no name of a file
        return False


def read(path: str | Path) -> Model:
    """Return the model of a file written by fwsvm, LIBSVM or LIBLINEAR.

    Memory grows with what the file holds, never with what its header says.

    Raises
    ------
    ModelError
        The file cannot be read or is not such a model.
    """
    path = Path(path)
    if not path.is_file():
        raise ModelError(f"{path}: no such model file")
    try:
        with path.open(encoding="utf-8") as lines:
            header = _header(lines)
            return _linear_model(header, lines) if "solver_type" in header else _kernel_model(header, lines)
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror or error}") from None
    except (ValueError, TypeError, LookupError, OverflowError, AttributeError, UsageError) as error:
        raise ModelError(f"{path}: this is not a model that fwsvm can read: {str(error)[:200]}") from None


def _header(lines: Iterator[str]) -> Header:
    """Return the words of each keyword of a header; the lines of the vectors or weights come next."""
    header: Header = {}
    for line in lines:
        keyword, *words = line.split() or [""]
        if keyword in ("SV", "w"):
            return header
        header[keyword] = words
    raise ValueError("the file ends before its header does")


def _facts(lines: Iterator[str]) -> dict[str, Any]:
    """Return all facts after the last vector or weight."""
    found: dict[str, Any] = {}
    for line in lines:
        if line.startswith(MARK):
            found |= json.loads(line.removeprefix(MARK))
    return found


def _kernel_model(header: Header, lines: Iterator[str]) -> Model:
    if (svm_type := header["svm_type"][0]) not in (*SVM_TYPES, CELLS):
        raise ValueError(f"svm_type is {shown(svm_type)}; fwsvm reads {' and '.join(SVM_TYPES)}")
    K = len(header["label"])
    width = K - 1
    pairs = K * (K - 1) // 2
    counts = np.array(header["nr_sv"], np.int64)
    biases = -np.array(header["rho"], float)
    count = len(counts) // K if svm_type == CELLS else 1
    if (len(counts), len(biases)) != (count * K, count * pairs):
        raise ValueError(f"{K} labels need {K} values of nr_sv and {pairs} of rho")
    numbers, values, indices, ends = array("d"), array("d"), array("q"), array("q", [0])
    for line in islice(lines, counts.sum()):
        words = line.replace(":", " ").split()
        numbers.extend(map(float, words[:width]))
        indices.extend(map(int, words[width::2]))
        values.extend(map(float, words[width + 1 :: 2]))
        ends.append(len(indices))
    coefficients = np.array(numbers).reshape(counts.sum(), width)
    facts = _facts(lines)
    columns = np.array(indices)
    kernel = _kernel(header, facts)
    known = _known(facts, header)
    last = np.array(values)  # a support vector of a precomputed kernel is 0:i, the number of a row
    if not isinstance(kernel, Precomputed):
        if known["zero_based"] is None and (columns == 0).any():  # all indices count alike
            known["zero_based"] = True
        columns -= not known["zero_based"]
        last = columns
    features = facts.get("features", int(last.max(initial=-1)) + 1)
    support = scipy.sparse.csr_array(
        (np.array(values), columns, np.array(ends)), shape=(len(coefficients), features)
    )
    support.check_format()
    support.sum_duplicates()
    sigmoids = [header[keyword] for keyword in SIGMOIDS if keyword in header]
    union = KernelModel(
        kernel=kernel,
        support=support,
        counts=counts,
        coefficients=coefficients,
        biases=biases,
        sigmoids=np.array(sigmoids, np.float64) if sigmoids else None,
        **known,
    )
    if svm_type != CELLS:
        return union
    cells = Cells(*(np.array(facts["cells"][name]) for name in Cells._fields))
    return CellModel(cells=cells, union=union, **known)


def _kernel(header: Header, facts: dict[str, Any]) -> Any:
    """Return the kernel of the facts, else the one that LIBSVM calls so, with the parameters of the header."""
    kernel_type = header["kernel_type"][0]
    named = {family.libsvm: family for family in KERNELS.values()}
    family = KERNELS.get(facts.get("kernel", ""), named.get(kernel_type))
    if family is None:
        raise ValueError(f"kernel_type is {shown(kernel_type)}, a kernel that fwsvm does not have")
    kinds = types_of(family.make)
    given = family.own_values(facts.get("kernel_parameters", {}))
    for parameter in family.parameters:
        if parameter in SHARED:
            given[parameter] = (int if kinds[parameter] is int else float)(header[parameter][0])
    return family.checked(**given)


def _linear_model(header: Header, lines: Iterator[str]) -> LinearModel:
    if "SVR" in (solver := header["solver_type"][0]) or solver == "ONECLASS_SVM":
        raise ValueError(f"solver_type is {shown(solver)}, not a classifier that fwsvm can predict with")
    K, features, constant = len(header["label"]), int(header["nr_feature"][0]), float(header["bias"][0])
    outputs = K if K > 2 or solver == CRAMMER_SINGER else 1
    count = features + (constant >= 0)
    weights = np.loadtxt(islice(lines, count), ndmin=2).reshape(count, outputs)
    if K == 2 and outputs == K:  # the larger of two values, which LIBLINEAR makes opposite
        weights = (weights[:, :1] - weights[:, 1:]) / 2.0
    return LinearModel(
        weights=np.ascontiguousarray(weights[:features].T),
        biases=weights[features] if constant >= 0 else np.zeros(weights.shape[1]),
        bias_feature=max(constant, 0.0),
        **_known(_facts(lines), header),
    )


def _known(facts: dict[str, Any], header: Header) -> dict[str, Any]:
    """Return what models of both kinds have of the facts; classes are by default the labels of the header."""
    classes = tuple(map(str, facts.get("classes", header["label"])))
    if not 2 <= len(set(classes)) == len(header["label"]):
        raise ValueError("the model has fewer than two labels, or one twice")
    found = {"classes": classes, "facts": facts.get("facts", {}), "zero_based": facts.get("zero_based")}
    found["feature_names"] = tuple(facts.get("feature_names", ()))
    if labels := facts.get("labels"):
        found["labels"] = np.array(labels["values"], np.dtype(labels["dtype"]))
    if scaling := facts.get("scaling"):
        interval, features, minimum, maximum = (np.array(scaling[name]) for name in SCALING)
        found["ranges"] = Ranges(features.astype(np.int64) - 1, minimum, maximum, *interval.tolist())
    return found
