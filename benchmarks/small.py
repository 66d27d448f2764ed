"""Small problems and many classes: `FrankWolfeSVC().fit` beside `sklearn.svm.SVC().fit`, called from Python.

    python benchmarks/small.py [--repeat 15] [--csv FILE]

rbf with SVC's gamma = "scale", C = 1, all other settings the defaults; both in one process, by turns after one fit each
that does not count, the median of --repeat counts. blobs-K-N are normal rows around K normal centres, N a class. The
ratio is SVC's time / ours; SVC has one thread. Warnings are not shown: a fit of SVC has Python forget which were,
and that wine is not scaled would be printed at each fit.
"""

import statistics
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import side_by_side as bench
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.svm import SVC

from fwsvm.estimators import FrankWolfeSVC


def blobs(classes: int, each: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of ten features around centres, and their classes."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(classes), each)
    return 1.5 * rng.normal(size=(classes, 10))[y] + rng.normal(size=(len(y), 10)), y


SETS: dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]] = {
    "iris": lambda: load_iris(return_X_y=True),
    "wine": lambda: load_wine(return_X_y=True),
    "digits": lambda: load_digits(return_X_y=True),
    "blobs-11-48": lambda: blobs(11, 48),
    "blobs-100-20": lambda: blobs(100, 20),
}


def compare(name: str, threads: int, repeat: int) -> dict[str, Any]:
    """Return the row of a data set."""
    X, y = SETS[name]()
    machines = {"fwsvm": FrankWolfeSVC(gamma="scale", n_jobs=threads), "svc": SVC()}
    seconds: dict[str, list[float]] = {who: [] for who in machines}
    for machine in machines.values():
        machine.fit(X, y)
    for _ in range(repeat):
        for who, machine in machines.items():
            started = time.perf_counter()
            machine.fit(X, y)
            seconds[who].append(time.perf_counter() - started)
    row: dict[str, Any] = {"set": name, "rows": len(y), "classes": len(np.unique(y)), "threads": threads}
    row |= {f"{who}_ms": 1e3 * statistics.median(taken) for who, taken in seconds.items()}
    row |= {"ratio": row["svc_ms"] / row["fwsvm_ms"]}
    return row | {f"{who}_accuracy": machine.score(X, y) for who, machine in machines.items()}


def main() -> None:
    """Measure, print a line a set and number of threads, and write them as CSV if asked to."""
    warnings.simplefilter("ignore")
    given = bench.parse(bench.parser(__doc__, 15))
    rows = []
    for name in SETS:
        for threads in (1, 2):
            rows.append(compare(name, threads, given.repeat))
            bench.show(rows[-1])
            bench.write(given.csv, rows)


if __name__ == "__main__":
    main()
