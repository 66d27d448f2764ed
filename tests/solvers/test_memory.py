"""What training is estimated to take: against the memory of a process, and refused where it is not there."""

import json
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from scipy import sparse

import fwsvm
from fwsvm import _memory
from fwsvm.errors import UsageError

pytestmark = pytest.mark.slow

#: An estimate is of arrays that are surely taken; beside them there are passing ones, and what malloc keeps.
FACTOR = 2.5

SCRIPT = """
    import gc, json, sys
    import numpy as np
    from pathlib import Path
    from scipy import sparse
    from fwsvm._memory import peak_memory_mib, reset_peak_memory
    from fwsvm.solvers import Settings, fit, memory
    from fwsvm.solvers.resolve import resolve

    random = np.random.default_rng(0)

    def rows(m, n, stored):
        if stored == n:
            return random.normal(size=(m, n))
        columns = np.sort(random.integers(0, n // stored, (m, stored)) + np.arange(stored) * (n // stored), axis=1)
        starts = np.arange(m + 1) * stored
        return sparse.csr_array((random.random(columns.size), columns.ravel().astype(np.int32), starts), shape=(m, n))

    def resident():
        words = Path("/proc/self/statm").read_text().split()
        return int(words[1]) * 4096

    for method, classes, shape in json.load(sys.stdin):
        X = rows(*shape)
        codes = np.arange(X.shape[0]) % classes
        names = tuple(map(str, range(classes)))
        width = None if method == "liblinear" else 1.0
        cache = 64 if method == "wolfe" else 1  # which keeps all kernel values, and counts them
        steps = 40 if method == "scs" else 3  # until all of few rows are support vectors, whose table is the largest
        given = {"more": 500, "largest": 20_000} if method == "scs" else {}  # it is there after so many
        settings = Settings(
            method=method, gamma=width, max_iterations=steps, cache_mib=cache, threads=1, parameters=given
        )
        fit(X[:200], codes[:200], names, settings)
        needed = memory.training(X, codes, classes, resolve(settings, X))
        gc.collect()
        before = resident()
        reset_peak_memory()
        fit(X, codes, names, settings)
        print(json.dumps([method, needed, peak_memory_mib() * 2**20 - before]))
"""
DENSE, SPARSE = (60_000, 40, 40), (60_000, 60_000, 40)


def measured(*forms):
    said = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(SCRIPT)], input=json.dumps(forms), capture_output=True, text=True,
        check=False, env=os.environ | {"MALLOC_MMAP_THRESHOLD_": "65536"},  # what is freed goes back to the system
    )  # fmt: skip
    assert said.returncode == 0, said.stderr
    return [json.loads(line) for line in said.stdout.splitlines()]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not forget a peak of memory")
def test_estimates_are_what_a_process_takes():
    forms = [
        *(
            (method, 2, shape)
            for method in ("swap", "chunking", "decomposition", "liblinear")
            for shape in (DENSE, SPARSE)
        ),
        ("newton", 2, DENSE),
        ("scs", 2, SPARSE),
        ("scs", 2, (20, 1_000_000, 40_000)),
        ("pegasos", 2, DENSE),
        ("wolfe", 2, (3_000, 20, 20)),
        ("swap", 4, DENSE),
        ("liblinear", 4, (2_000, 400_000, 60)),
    ]
    told = measured(*forms)
    assert [method for method, _, _ in told] == [method for method, _, _ in forms]
    wrong = [(form, needed >> 20, taken / 2**20) for form, (_, needed, taken) in zip(forms, told, strict=True)
             if not needed / FACTOR < taken < FACTOR * needed]  # fmt: skip
    assert not wrong


@pytest.mark.parametrize("method", ["swap", "newton", "liblinear", "scs"])
def test_rows_numbered_with_gaps_train_to_the_same_bits(method):
    """Where most features do not occur, solvers read the others as if there were no more."""
    random = np.random.default_rng(1)
    X = random.normal(size=(60, 5))
    X[random.random(X.shape) < 0.3] = 0.0
    y = np.sign(X[:, 0] + 0.1)
    numbers = np.array([3, 70, 5_000, 99_000, 199_999])
    narrow = sparse.csr_array(X)
    wide = sparse.csr_array((narrow.data, numbers[narrow.indices], narrow.indptr), shape=(60, 200_000))
    settings = {"method": method, "threads": 1}
    one, other = (fwsvm.train(rows, y, **settings) for rows in (narrow, wide))
    assert (one.objective, one.gap, one.iterations) == (other.objective, other.gap, other.iterations)
    assert other.model.features == 200_000
    assert np.array_equal(one.model.decision(narrow), other.model.decision(wide))
    if method == "liblinear":
        assert np.array_equal(other.model.weights[:, numbers], one.model.weights)
        assert np.count_nonzero(other.model.weights) == np.count_nonzero(one.model.weights)
    else:
        assert np.array_equal(other.model.support.toarray()[:, numbers], one.model.support.toarray())


@pytest.mark.parametrize(
    ("settings", "rows", "classes", "remedy"),
    [
        ({"method": "swap", "kernel": "linear"}, (60_000, 40, 40), 2, "take fewer rows"),
        (
            {"method": "wolfe", "kernel": "linear", "cache_mib": 10**6},
            (8_000, 2, 2),
            2,
            "or use scs, which samples",
        ),
        (
            {"method": "liblinear"},
            (6, 60_000_000, 3),
            3,
            "use a kernel method, such as swap-2o with --kernel linear",
        ),
        ({"method": "swap"}, (2_000, 2, 2), 1_000, "take fewer classes"),
    ],
)
def test_a_training_that_does_not_fit_is_refused_before_it_begins(
    monkeypatch, settings, rows, classes, remedy
):
    monkeypatch.setattr(_memory, "available_bytes", lambda: 20 << 20)
    m, n, stored = rows
    X = sparse.csr_array(
        (np.ones(m * stored), np.tile(np.arange(stored), m), np.arange(m + 1) * stored), shape=(m, n)
    )
    with pytest.raises(UsageError, match=f"of memory; 20 MiB are available.*{remedy}"):
        fwsvm.train(X, np.arange(m) % classes, **settings)


def test_features_beyond_what_is_counted_are_refused():
    X = sparse.csr_array(([1.0, 2.0], [0, 2**40], [0, 1, 2]), shape=(2, 2**40 + 1))
    with pytest.raises(UsageError, match="rows of 1,099,511,627,777 features"):
        fwsvm.train(X, [1, -1], method="swap")


def test_predicting_more_than_fits_is_refused(monkeypatch):
    X = np.random.default_rng(0).normal(size=(40, 2))
    model = fwsvm.train(X, np.arange(40) % 10, method="swap").model
    monkeypatch.setattr(_memory, "available_bytes", lambda: 30 << 20)
    with pytest.raises(
        UsageError,
        match=r"predicting rows .100,000, with 45 decision values each. would take .* predict fewer rows",
    ):
        model.decision(sparse.csr_array((100_000, 2)))


def test_predicting_by_few_long_support_vectors_is_refused_where_their_table_does_not_fit(monkeypatch):
    """A table of 64 numbers for each of their 200,000 features takes 98 MiB, the rows two."""
    random = np.random.default_rng(0)
    X = sparse.csr_array(
        (random.random(200_000), random.permutation(200_000), np.arange(11) * 20_000), (10, 200_000)
    )
    model = fwsvm.train(X, np.arange(10) % 2, method="swap", gamma=1e-3).model
    monkeypatch.setattr(_memory, "available_bytes", lambda: 60 << 20)
    with pytest.raises(UsageError, match=r"predicting rows .* would take .* more memory"):
        model.decision(X[:1])
