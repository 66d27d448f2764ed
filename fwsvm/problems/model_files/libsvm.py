"""Kernel machines in LIBSVM's text format, as svm-train writes and svm-predict reads it.

Our bias is LIBSVM's -rho; coefficients and support vectors stand in its order. Numbers are written in the
fewest digits that read as the same double (LIBSVM itself rounds support vectors to eight).
"""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from scipy.sparse import csr_array

from fwsvm.errors import shown
from fwsvm.files.decimal_text import shortest
from fwsvm.kernels.kernel import SHARED
from fwsvm.kernels.precomputed import Precomputed
from fwsvm.problems.machines import KernelModel
from fwsvm.problems.model_files import _facts, _kernels, _scaling
from fwsvm.problems.model_files._header import Header
from fwsvm.problems.model_files._lines import Lines
from fwsvm.problems.model_files._vectors import read_vectors
from fwsvm.problems.precomputed import NAME as PRECOMPUTED

SVM_TYPES = ("c_svc", "nu_svc")  # both predict by the sign of the decision values
PROBABILITIES = ("probA", "probB")  # of Platt's model, which prediction without -b does not use
KEYWORDS = {
    *SHARED,
    *("svm_type", "kernel_type", "nr_class", "total_sv", "rho", "label", "nr_sv", *PROBABILITIES),
}
END = "SV"


def text(model: KernelModel) -> Iterator[str]:
    """Yield the lines of a model file."""
    codes = _facts.codes(model.classes)
    yield "svm_type c_svc\n"
    yield from _kernels.written(model.kernel)
    yield f"nr_class {len(codes)}\ntotal_sv {model.support.shape[0]}\n"
    yield f"rho {' '.join(shortest(-b) for b in model.biases.tolist())}\n"
    if model.sigmoids is not None:
        for keyword, values in zip(PROBABILITIES, model.sigmoids.tolist(), strict=True):
            yield f"{keyword} {' '.join(map(shortest, values))}\n"
    yield f"label {' '.join(map(str, codes))}\nnr_sv {' '.join(map(str, model.counts.tolist()))}\nSV\n"
    first = 0 if isinstance(model.kernel, Precomputed) else 1
    vectors = csr_array(model.support)
    vectors.sort_indices()
    for row, (start, end) in enumerate(pairwise(vectors.indptr.tolist())):
        words = [shortest(c) for c in model.coefficients[row].tolist()]
        entries = zip(vectors.indices[start:end].tolist(), vectors.data[start:end].tolist(), strict=True)
        words += [f"{column + first}:{shortest(value)}" for column, value in entries if value]
        yield f"{' '.join(words)} \n"
    needed = {
        "features": model.features,
        "classes": model.classes,
        **_kernels.facts(model.kernel),
        **_scaling.written(model.ranges),
    }
    yield from _facts.written(needed, model.facts)


def read(header: Header, lines: Lines, rest: Iterator[str]) -> KernelModel:
    """Return the machine of a header and the lines after it; `ModelError` names the line that is wrong."""
    header.only(KEYWORDS)
    if header.word("svm_type") not in SVM_TYPES:
        raise header.refusal(
            "svm_type", f"is {shown(header.word('svm_type'))}; fwsvm reads {' and '.join(SVM_TYPES)}"
        )
    K = header.whole("nr_class", 2)
    count = header.whole("total_sv", 0)
    labels = header.wholes("label", K)
    biases = -np.array(header.numbers("rho", K * (K - 1) // 2))
    counts = np.array(header.wholes("nr_sv", K), dtype=np.int64)
    if (counts < 0).any() or counts.sum() != count:
        raise header.refusal("nr_sv", f"must be {K} counts that add up to total_sv, {count}")
    given = [header.numbers(keyword, len(biases)) for keyword in PROBABILITIES if keyword in header]
    sigmoids = np.array(given) if len(given) == len(PROBABILITIES) else None
    # support vectors are then 0:i, their numbers alone
    numbered = "kernel_type" in header and header.word("kernel_type") == PRECOMPUTED
    coefficients, vectors = read_vectors(lines, rest, count, K - 1, numbers_only=numbered)
    found = _facts.read(lines, rest)
    classes = _facts.classes(lines, found, labels)
    used = int(vectors.data.max(initial=0)) + 1 if numbered else vectors.shape[1]
    vectors.resize(count, _facts.features(lines, found, used))
    kernel = _kernels.read(header, found)
    ranges = _scaling.read(lines, found, vectors.shape[1])
    facts = found.get("facts", {})
    return KernelModel(classes, kernel, vectors, counts, coefficients, biases, facts, ranges, sigmoids)
