"""Accuracy against time on a set too large for an exact machine: `auto` within time limits, and peers on samples.

    python benchmarks/large.py [--mirror FOLDER] [--limits 10 30 100 300] [--set covtype] [--memory 4] [--csv FILE]
                               [--only fwsvm nystroem svc cells]

A fifth of the rows, drawn with seed 0, is for testing alone. fwsvm gets the rest, C = 8 and a time limit, and chooses
the width in the run. Peers get the width that fwsvm chose in its longest run, which costs them nothing: LinearSVC on
1,000 Nystroem features, and SVC, on samples of 2,000 rows and twice as many from one to the next, as long as the next
is forecast to stay within the longest limit and within memory. liquidSVM (`cells`, installed as `folds.py` says) gets
the same samples, parts them into cells, and chooses width and penalty for each on five folds, as it does by itself.
Seconds are of fitting alone, features included. Each fit is in a process of its own with two threads and at most
--memory GiB of addresses, which the system enforces; peak is what it held.
"""

import json
from typing import Any

import side_by_side as bench

COMMON = """
import json, resource, sys, time
given = json.loads(sys.argv[1])
most = int(given["memory"] * 2**30)
resource.setrlimit(resource.RLIMIT_AS, (most, most))
import numpy as np
from fwsvm import data
found = data.load(given["set"])
X, y = found.train.X, found.train.labels
order = np.random.default_rng(0).permutation(len(y))
test, rest = order[: len(y) // 5], order[len(y) // 5 :]

def tell(seconds, predict, **more):
    right = sum(int(np.sum(predict(X[some]) == y[some])) for some in np.array_split(test, 20))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "accuracy": right / len(test), "peak_mib": peak, **more}))
"""

FWSVM = (
    COMMON
    + """
import fwsvm
from functools import partial
done = fwsvm.train(X[rest], y[rest], C=given["C"], time_limit=given["limit"], threads=2)
sample = done.sample
tell(
    done.train_seconds + done.check_seconds, partial(fwsvm.predict, done, threads=2),
    rows=len(rest) if sample is None else sample.rows, gamma=done.settings["gamma"], certified=done.certified,
    relative_gap=done.relative_gap, support_vectors=done.support_vectors, how=done.chosen,
)
"""
)

PEER = (
    COMMON
    + """
from scipy import sparse
X = sparse.csr_matrix(X)
X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
few = rest[: given["rows"]]
if given["peer"] == "svc":
    from sklearn.svm import SVC
    machine = SVC(C=given["C"], gamma=given["gamma"], cache_size=1024)
else:
    from sklearn.kernel_approximation import Nystroem
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC
    features = Nystroem(gamma=given["gamma"], n_components=1000, random_state=0)
    machine = make_pipeline(features, LinearSVC(C=given["C"], dual=False))
begun = time.perf_counter()
machine.fit(X[few], y[few])
tell(time.perf_counter() - begun, machine.predict, rows=len(few), gamma=given["gamma"])
"""
)

CELLS = (
    COMMON
    + bench.LIQUIDSVM
    + """
X = np.asarray(X.toarray() if hasattr(X, "toarray") else X)
few = rest[: given["rows"]]
begun = time.perf_counter()
machine = liquidSVM.mcSVM(X[few], y[few], useCells=True, threads=2)
seconds = time.perf_counter() - begun
labels = np.unique(y)  # it refuses test rows of other labels than these, and does not look at them otherwise
tell(seconds, lambda some: machine.test(some, np.resize(labels, len(some)))[0][:, 0], rows=len(few))
"""
)

FIRST, GROWTH = 2_000, 2
POWERS = {"svc": 2.0, "nystroem": 1.2, "cells": 1.0}  # of the rows, as which seconds grow
BYTES = {"svc": 0, "nystroem": 30_000, "cells": 0}  # a row: features, their copy in LIBLINEAR, and room


def measured(script: str, name: str, **given: Any) -> dict[str, Any]:
    """Return the row of one fit."""
    row = {
        "set": given["set"],
        "name": name,
        "C": given["C"],
        **bench.run(bench.python(script, json.dumps(given))),
    }
    bench.show(row)
    return row


def main() -> None:
    """Measure, print a line a fit, and write them as CSV if asked to."""
    asked = bench.parser(__doc__, 1)
    asked.add_argument("--set", default="covtype")
    asked.add_argument("--limits", nargs="+", type=float, default=[10.0, 30.0, 100.0, 300.0])
    asked.add_argument("-C", type=float, default=8.0)
    asked.add_argument("--memory", type=float, default=4.0, help="GiB of addresses that a process may have")
    asked.add_argument("--only", nargs="+", default=["fwsvm", "nystroem", "svc", "cells"])
    asked.add_argument("--gamma", type=float, help="of peers, where fwsvm is not run")
    given = bench.parse(asked)
    rows: list[dict[str, Any]] = []
    common = {"set": given.set, "C": given.C, "memory": given.memory}
    if "fwsvm" in given.only:
        for limit in sorted(given.limits):
            rows.append(measured(FWSVM, "fwsvm auto", limit=limit, **common) | {"limit": limit})
            bench.write(given.csv, rows)
    gamma = given.gamma or rows[-1]["gamma"]
    for peer in (name for name in given.only if name != "fwsvm"):
        size, seconds = FIRST, 0.0
        while seconds <= max(given.limits) and size * BYTES[peer] <= given.memory * 2**30:
            script = CELLS if peer == "cells" else PEER
            rows.append(measured(script, peer, peer=peer, rows=size, gamma=gamma, **common))
            bench.write(given.csv, rows)
            if rows[-1]["rows"] < size:  # there are no more
                break
            seconds, size = rows[-1]["seconds"] * GROWTH ** POWERS[peer], size * GROWTH


if __name__ == "__main__":
    main()
